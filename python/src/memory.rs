//! The memory that calls read and write while the interpreter may go on.
//!
//! `unsafe` rests on these facts:
//! - A [`Source`] and a [`Place`] borrow what keeps their memory where it is: a Rust
//!   slice, a `bytes` object, or the buffer that an array has exported, which cannot
//!   be freed or moved until it is released.
//! - `bytes` and Arrow columns do not change. Of other objects copies are taken, but for
//!   arrays of messages and results: another thread that writes to one during a call
//!   changes what is computed of it, as with any function of NumPy. Contents decide
//!   neither addresses nor lengths here, so it changes nothing else.
//! - A `bytes` object that was made here and not handed out is seen by nobody.
#![allow(unsafe_code)]

use crate::errors;
use aescomb::Text;
use pyo3::buffer::PyBuffer;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ops::Range;

/// A message.
#[derive(Clone, Copy)]
pub(crate) struct Source<'a> {
    start: *const u8,
    len: usize,
    borrow: PhantomData<&'a [u8]>,
}

/// Where the result of a message goes.
pub(crate) struct Place<'a> {
    start: *mut u8,
    len: usize,
    borrow: PhantomData<&'a mut [MaybeUninit<u8>]>,
}

// SAFETY: they are borrows of bytes, a shared one and an exclusive one.
unsafe impl Send for Source<'_> {}
// SAFETY: as above; nothing is written through it.
unsafe impl Sync for Source<'_> {}
// SAFETY: as above.
unsafe impl Send for Place<'_> {}
// SAFETY: nothing is reached through a shared one.
unsafe impl Sync for Place<'_> {}

impl<'a> From<&'a [u8]> for Source<'a> {
    fn from(bytes: &'a [u8]) -> Self {
        Source {
            start: bytes.as_ptr(),
            len: bytes.len(),
            borrow: PhantomData,
        }
    }
}

impl<'a> Source<'a> {
    pub(crate) fn len(self) -> usize {
        self.len
    }

    /// Appends the first `len` bytes, which there are, to `front`: the rest.
    pub(crate) fn behind(self, len: usize, front: &mut Vec<u8>) -> Source<'a> {
        assert!(len <= self.len);
        front.reserve(len);
        let end = front.len();
        // SAFETY: the source is borrowed and has so many bytes; there is room for them, and
        // they are written before they are counted.
        let start = unsafe {
            front.as_mut_ptr().add(end).copy_from(self.start, len);
            front.set_len(end + len);
            self.start.add(len)
        };
        Source {
            start,
            len: self.len - len,
            borrow: PhantomData,
        }
    }

    /// The text of a message that makes a tag only.
    pub(crate) fn read_only(self) -> Text<'a> {
        // SAFETY: the source is borrowed for `'a`; there is no destination.
        unsafe { Text::from_raw(self.start, self.len, std::ptr::null_mut(), 0) }
    }

    /// The text of a message whose result goes to `place`: the same place, or one that
    /// has no byte in common with the source of any message.
    pub(crate) fn to(self, place: Place<'a>) -> Text<'a> {
        // SAFETY: both are borrowed for `'a`. Slices do not overlap places; rows were
        // compared with the other rows when they were given as the place for results.
        unsafe { Text::from_raw(self.start, self.len, place.start, place.len) }
    }
}

impl<'a> Place<'a> {
    /// Places of these lengths, one after the other.
    pub(crate) fn split(mut memory: &'a mut [MaybeUninit<u8>], lens: &[usize]) -> Vec<Place<'a>> {
        let next = |&len: &usize| {
            let (place, rest) = std::mem::take(&mut memory).split_at_mut(len);
            memory = rest;
            Place {
                start: place.as_mut_ptr().cast(),
                len,
                borrow: PhantomData,
            }
        };
        lens.iter().map(next).collect()
    }

    /// Writes these bytes to the beginning; what is behind them remains.
    pub(crate) fn put(&mut self, bytes: &[u8]) {
        assert!(bytes.len() <= self.len);
        // SAFETY: it is borrowed exclusively, and has so many bytes.
        self.start = unsafe {
            self.start
                .copy_from_nonoverlapping(bytes.as_ptr(), bytes.len());
            self.start.add(bytes.len())
        };
        self.len -= bytes.len();
    }

    /// The place as bytes, which are zero.
    pub(crate) fn zeroed(self) -> &'a mut [u8] {
        // SAFETY: it is borrowed exclusively for `'a`, and was written just now.
        unsafe {
            self.start.write_bytes(0, self.len);
            std::slice::from_raw_parts_mut(self.start, self.len)
        }
    }
}

/// A `bytes` object that is still to be written.
pub(crate) struct Blank<'py> {
    object: Bound<'py, PyBytes>,
    len: usize,
}

impl<'py> Blank<'py> {
    pub(crate) fn new(py: Python<'py>, len: usize) -> PyResult<Blank<'py>> {
        let size = ffi::Py_ssize_t::try_from(len)?;
        // SAFETY: the call returns a new reference to a `bytes` object, or null with an
        // exception set.
        let object = unsafe {
            let object = ffi::PyBytes_FromStringAndSize(std::ptr::null(), size);
            Bound::from_owned_ptr_or_err(py, object)?
        };
        let object = object.cast_into()?;
        Ok(Blank { object, len })
    }

    pub(crate) fn place(&mut self) -> Place<'_> {
        // SAFETY: it is a `bytes` object. Nobody has seen it, so it may be written; one
        // of no bytes, which all share, is not.
        let start = unsafe { ffi::PyBytes_AsString(self.object.as_ptr()) };
        Place {
            start: start.cast(),
            len: self.len,
            borrow: PhantomData,
        }
    }

    /// The object, which was written; cut to `len` bytes.
    pub(crate) fn finish(self, len: usize) -> Bound<'py, PyBytes> {
        if len == self.len {
            return self.object;
        }
        PyBytes::new(self.object.py(), &self.object.as_bytes()[..len])
    }
}

/// The first `len` bytes of a vector's spare memory, which were written.
pub(crate) fn written(mut values: Vec<u8>, len: usize) -> Vec<u8> {
    assert!(len <= values.capacity());
    // SAFETY: callers give the lengths that the library reports to have written, one
    // after the other, each behind the nonce that was written if there is one.
    unsafe { values.set_len(len) };
    values
}

/// An array of two dimensions whose rows are bytes one after the other.
pub(crate) struct Rows {
    buffer: PyBuffer<u8>,
    pub(crate) count: usize,
    pub(crate) width: usize,
    /// Bytes from one row's beginning to the next one's.
    stride: usize,
}

impl Rows {
    /// `None` for an array of another layout.
    pub(crate) fn new(buffer: PyBuffer<u8>) -> Option<Rows> {
        let (&[count, width], &[stride, step]) = (buffer.shape(), buffer.strides()) else {
            return None;
        };
        let stride = match count {
            // No other row, so as far away as any.
            0 | 1 => usize::MAX,
            _ => usize::try_from(stride).ok()?,
        };
        let good = buffer.suboffsets().is_none() && (step == 1 || width <= 1) && stride >= width;
        good.then_some(Rows {
            buffer,
            count,
            width,
            stride,
        })
    }

    pub(crate) fn readonly(&self) -> bool {
        self.buffer.readonly()
    }

    /// Addresses of all rows.
    fn span(&self) -> Range<usize> {
        let start = self.buffer.buf_ptr().addr();
        match self.count * self.width {
            0 => start..start,
            _ => start..start + (self.count - 1) * self.stride + self.width,
        }
    }

    /// Whether results may go to rows of `other` while these are read: they are the same
    /// places, or have no byte in common.
    pub(crate) fn may_go_to(&self, other: &Rows) -> bool {
        let (a, b) = (self.span(), other.span());
        a.is_empty()
            || b.is_empty()
            || a.end <= b.start
            || b.end <= a.start
            || (a.start == b.start && self.stride == other.stride)
    }

    fn start(&self, i: usize) -> *mut u8 {
        let start = self.buffer.buf_ptr().cast::<u8>();
        start.wrapping_add(i * self.stride)
    }

    pub(crate) fn sources(&self) -> PyResult<Vec<Source<'_>>> {
        let source = |i| Source {
            start: self.start(i),
            len: self.width,
            borrow: PhantomData,
        };
        let mut sources = errors::room(self.count)?;
        sources.extend((0..self.count).map(source));
        Ok(sources)
    }

    pub(crate) fn places(&mut self) -> Vec<Place<'_>> {
        assert!(!self.readonly());
        let place = |i| Place {
            start: self.start(i),
            len: self.width,
            borrow: PhantomData,
        };
        (0..self.count).map(place).collect()
    }
}
