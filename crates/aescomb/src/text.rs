//! A message's bytes: where they are read and where the result goes.
//!
//! `unsafe` here rests on one fact: every [`Text`] was made from slices that are
//! borrowed for `'a`, so its pointers and lengths stay valid for that long.
#![allow(unsafe_code)]

use core::marker::PhantomData;
use core::mem::MaybeUninit;

/// The bytes of one message: a source and a destination, which are the same
/// place or have no byte in common.
///
/// ```
/// use aescomb::Text;
/// use core::mem::MaybeUninit;
///
/// let mut packet = *b"sixteen byte msg";
/// let _ = Text::in_place(&mut packet);
///
/// let source = [0u8; 40];
/// let mut destination = [MaybeUninit::uninit(); 40]; // need not be zeroed first
/// let _ = Text::copy_uninit(&source, &mut destination);
/// ```
#[derive(Debug)]
pub struct Text<'a> {
    pub(crate) src: *const u8,
    pub(crate) src_len: usize,
    pub(crate) dst: *mut u8,
    pub(crate) dst_len: usize,
    /// Bytes of the destination that a call has written.
    pub(crate) written: usize,
    pub(crate) borrow: PhantomData<(&'a [u8], &'a mut [u8])>,
}

// SAFETY: a `Text` is a shared borrow of its source and an exclusive one of its
// destination; both are `Send` and `Sync` for bytes.
unsafe impl Send for Text<'_> {}
// SAFETY: as above; no method writes through `&Text`.
unsafe impl Sync for Text<'_> {}

impl<'a> Text<'a> {
    /// Reads and writes the same bytes.
    #[inline]
    pub fn in_place(buf: &'a mut [u8]) -> Self {
        let len = buf.len();
        Self::in_place_with_room(buf, len)
    }

    /// Reads the first `len` bytes of `buf` and may write all of it: the form
    /// for padding and attached tags, which make a message longer. A `len` beyond the end of
    /// `buf` means all of it.
    #[inline]
    pub fn in_place_with_room(buf: &'a mut [u8], len: usize) -> Self {
        let dst = buf.as_mut_ptr();
        Text {
            src: dst,
            src_len: len.min(buf.len()),
            dst,
            dst_len: buf.len(),
            written: 0,
            borrow: PhantomData,
        }
    }

    /// Reads `src`, writes `dst`. The destination may be longer than needed; what
    /// lies beyond the result is left alone.
    #[inline]
    pub fn copy(src: &'a [u8], dst: &'a mut [u8]) -> Self {
        Text {
            src: src.as_ptr(),
            src_len: src.len(),
            dst: dst.as_mut_ptr(),
            dst_len: dst.len(),
            written: 0,
            borrow: PhantomData,
        }
    }

    /// As [`Text::copy`] to memory that was never written: zeroing it first
    /// would cost a fifth of the speed. Read the result through
    /// [`Message::into_output`](crate::Message::into_output).
    #[inline]
    pub fn copy_uninit(src: &'a [u8], dst: &'a mut [MaybeUninit<u8>]) -> Self {
        Text {
            src: src.as_ptr(),
            src_len: src.len(),
            dst: dst.as_mut_ptr().cast(),
            dst_len: dst.len(),
            written: 0,
            borrow: PhantomData,
        }
    }

    /// Reads `src` and writes nothing: for message authentication codes.
    #[inline]
    pub fn read_only(src: &'a [u8]) -> Self {
        Text {
            src: src.as_ptr(),
            src_len: src.len(),
            dst: core::ptr::null_mut(),
            dst_len: 0,
            written: 0,
            borrow: PhantomData,
        }
    }

    /// From pointers, for foreign callers. Ranges that overlap without being the
    /// same are refused by the call that uses the text.
    ///
    /// # Safety
    /// For `'a`, `src` must be readable for `src_len` bytes, `dst` writable for
    /// `dst_len` bytes, and nothing else may write the source or touch the
    /// destination.
    #[inline]
    pub unsafe fn from_raw(src: *const u8, src_len: usize, dst: *mut u8, dst_len: usize) -> Self {
        Text {
            src,
            src_len,
            dst,
            dst_len,
            written: 0,
            borrow: PhantomData,
        }
    }

    /// The same without its first bytes, `read` of the source and `written` of the destination,
    /// for a call that does some of the messages in it. Other calls do the others.
    pub(crate) fn after(&self, read: usize, written: usize) -> Text<'a> {
        let (read, written) = (read.min(self.src_len), written.min(self.dst_len));
        Text {
            src: self.src.wrapping_add(read),
            src_len: self.src_len - read,
            dst: self.dst.wrapping_add(written),
            dst_len: self.dst_len - written,
            written: 0,
            borrow: PhantomData,
        }
    }

    pub(crate) fn output(self) -> &'a [u8] {
        if self.written == 0 {
            return &[];
        }
        // SAFETY: the destination is borrowed for `'a`, and a call has written that
        // many bytes of it.
        unsafe { core::slice::from_raw_parts(self.dst, self.written) }
    }

    pub(crate) fn into_output(self) -> &'a mut [u8] {
        if self.written == 0 {
            return &mut [];
        }
        // SAFETY: as in `output`; `self` is consumed, so the borrow is unique.
        unsafe { core::slice::from_raw_parts_mut(self.dst, self.written) }
    }
}
