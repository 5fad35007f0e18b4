//! Calls with packed batches: messages in one buffer, their parts in columns.
//!
//! `unsafe` here rests on what the header says: pointers are NULL or have as many entries
//! as the struct says, which nobody else uses during the call.
#![allow(unsafe_code, non_camel_case_types)]

use crate::comb::{Parts, Scratch, aescomb_comb, with};
use crate::error::{Fault, aescomb_code, aescomb_error, guarded};
use crate::key::aescomb_key;
use crate::message::{aescomb_status, bytes, check_count, checked, judged, no_key};
use aescomb::{Allowed, AnyKey, Keys, Layout, MessageResult, Offset, Op, Packed, Text};
use std::ffi::{CStr, c_void};

/// How messages lie in a buffer.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum aescomb_layout_kind {
    /// There is none.
    AESCOMB_LAYOUT_NONE = 0,
    /// One after the other: message `i` is from `starts[i]` to `starts[i + 1]`, as in an Arrow
    /// binary column. There are `count + 1` starts.
    AESCOMB_LAYOUT_OFFSETS = 1,
    /// Message `i` begins at `starts[i]` and has `lengths[i]` bytes; they are in ascending
    /// order and do not overlap.
    AESCOMB_LAYOUT_SLOTS = 2,
    /// Message `i` begins at `i * stride` and has `lengths[i]` bytes, `stride` at most, as
    /// in a ring of packets.
    AESCOMB_LAYOUT_RING = 3,
}

/// Where messages lie in a buffer. Offsets and lengths are in bytes; they are unsigned
/// integers of `offset_bytes` bytes each, aligned.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct aescomb_layout {
    /// An `aescomb_layout_kind`.
    pub kind: u32,
    /// First byte of every message; for `AESCOMB_LAYOUT_OFFSETS` and `_SLOTS`.
    pub starts: *const c_void,
    /// Bytes of every message; for `AESCOMB_LAYOUT_SLOTS` and `_RING`.
    pub lengths: *const c_void,
    /// Bytes from one message's beginning to the next one's; for `AESCOMB_LAYOUT_RING`.
    pub stride: usize,
}

/// What became of a message of a packed batch.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct aescomb_result {
    /// Bytes of result, an attached tag included. 0 if the message failed, and for tags
    /// only.
    pub written: usize,
    /// What became of the message.
    pub status: aescomb_status,
}

/// A batch of messages that lie in one buffer, with their nonces, tags and keys in
/// columns. Nothing is copied. All lengths are in bytes. Set all of it to zero, then what
/// the batch has.
#[repr(C)]
pub struct aescomb_packed {
    /// Messages.
    pub count: usize,
    /// Bytes of an offset or length in the columns: 4 or 8.
    pub offset_bytes: u32,
    /// Not 0: each ciphertext is in one piece with a tag of so many bytes, as `tag_attached` of
    /// `aescomb_message` says, and `tags` is not looked at. Texts that are sealed become so much
    /// longer and want a `dst_layout`, or a ring with room.
    pub tag_attached: u32,
    /// Where the texts are read.
    pub src: *const u8,
    /// Bytes at `src`.
    pub src_len: usize,
    /// How they lie there.
    pub src_layout: aescomb_layout,
    /// Where the results go: the same place as `src`, or one that has no byte in common
    /// with it. NULL for tags only.
    pub dst: *mut u8,
    /// Bytes at `dst`.
    pub dst_len: usize,
    /// How results lie there, if not as the texts in `src`; not in place. The places may be
    /// larger than the results.
    pub dst_layout: aescomb_layout,
    /// Nonce `i` is the `nonce_len` bytes from `i * nonce_stride` on.
    pub nonces: *const u8,
    /// Bytes of a nonce.
    pub nonce_len: usize,
    /// Bytes from one nonce to the next.
    pub nonce_stride: usize,
    /// Tag `i` is the `tag_len` bytes from `i * tag_stride` on. They are only read if they
    /// are to be checked.
    pub tags: *mut u8,
    /// Bytes of a tag.
    pub tag_len: usize,
    /// Bytes from one tag to the next.
    pub tag_stride: usize,
    /// Associated data of all messages, one component each.
    pub data: *const u8,
    /// Bytes at `data`.
    pub data_len: usize,
    /// How they lie there; `AESCOMB_LAYOUT_NONE`: there are none.
    pub data_layout: aescomb_layout,
    /// The key of every message; NULL, or an entry that is NULL: the one of the call.
    pub keys: *const *const aescomb_key,
    /// For modes of which `aescomb_info` says `AESCOMB_UNTOLD`: how many bytes each message
    /// has when it is opened. NULL for others.
    pub opened_lens: *const c_void,
    /// Where it is written what became of each message. NULL: nowhere; not for
    /// `aescomb_verify_packed` and `aescomb_open_packed`, nor to take off padding.
    pub results: *mut aescomb_result,
}

/// The `count` entries at `p`, which is called `name`.
///
/// # Safety
/// `p` must be NULL or have them.
pub(crate) unsafe fn column<'a, T>(
    p: *const c_void,
    count: usize,
    name: &'static CStr,
) -> Result<&'a [T], Fault> {
    let p = p.cast::<T>();
    if p.is_null() || !p.is_aligned() {
        return Err(Fault::pointer(name));
    }
    let most = isize::MAX as usize / size_of::<T>();
    if count > most {
        let allowed = Allowed::AtMost(most);
        let code = aescomb_code::AESCOMB_COUNT;
        return Err(Fault::number(code, c"count", count, "messages", allowed));
    }
    // SAFETY: the caller says so.
    Ok(unsafe { std::slice::from_raw_parts(p, count) })
}

/// A member that is a layout, and that one's columns.
pub(crate) type LayoutNames = [&'static CStr; 3];

const SRC: LayoutNames = [c"src_layout", c"src_layout.starts", c"src_layout.lengths"];
const DST: LayoutNames = [c"dst_layout", c"dst_layout.starts", c"dst_layout.lengths"];
const DATA: LayoutNames = [
    c"data_layout",
    c"data_layout.starts",
    c"data_layout.lengths",
];

/// # Safety
/// The columns must be NULL or have `count` entries, of offsets one more.
pub(crate) unsafe fn layout<'a, O>(
    layout: &aescomb_layout,
    count: usize,
    [name, of_starts, of_lengths]: LayoutNames,
) -> Result<Option<Layout<'a, O>>, Fault> {
    // SAFETY: the caller says so.
    let starts = |n| unsafe { column(layout.starts, n, of_starts) };
    // SAFETY: as above.
    let lengths = || unsafe { column(layout.lengths, count, of_lengths) };
    use aescomb_layout_kind::*;
    Ok(Some(match layout.kind {
        k if k == AESCOMB_LAYOUT_NONE as u32 => return Ok(None),
        k if k == AESCOMB_LAYOUT_OFFSETS as u32 => Layout::Offsets(starts(count + 1)?),
        k if k == AESCOMB_LAYOUT_SLOTS as u32 => Layout::Slots {
            starts: starts(count)?,
            lengths: lengths()?,
        },
        k if k == AESCOMB_LAYOUT_RING as u32 => Layout::Ring {
            stride: layout.stride,
            lengths: lengths()?,
        },
        kind => return Err(wrong_kind(kind, name, Allowed::Between(0, 3))),
    }))
}

pub(crate) fn wrong_kind(kind: u32, name: &'static CStr, allowed: Allowed) -> Fault {
    let code = aescomb_code::AESCOMB_LAYOUT;
    Fault::number(
        code,
        name,
        kind as usize,
        "as the kind of a layout",
        allowed,
    )
}

/// The length of a column of entries of `len` bytes that are `stride` apart.
fn column_len(count: usize, len: usize, stride: usize) -> usize {
    (count - 1).saturating_mul(stride).saturating_add(len)
}

/// # Safety
/// As the header says of `batch`.
unsafe fn packed<O: Offset>(
    parts: &mut Parts,
    op: Op,
    shared: Option<&AnyKey>,
    batch: &aescomb_packed,
) -> Result<(), Fault> {
    use aescomb_code::*;
    let n = batch.count;
    let Parts { comb, scratch } = parts;
    let Scratch {
        keys,
        places,
        results,
        ..
    } = scratch;
    checked(
        batch.src.is_null(),
        batch.src_len,
        (c"src", c"src_len", AESCOMB_TEXT_LENGTH),
    )?;
    checked(
        batch.dst.is_null(),
        batch.dst_len,
        (c"dst", c"dst_len", AESCOMB_OUTPUT_LENGTH),
    )?;
    // SAFETY: the caller says so.
    let text = unsafe { Text::from_raw(batch.src, batch.src_len, batch.dst, batch.dst_len) };
    // SAFETY: as above.
    let Some(src_layout) = (unsafe { layout::<O>(&batch.src_layout, n, SRC)? }) else {
        return Err(wrong_kind(0, SRC[0], Allowed::Between(1, 3)));
    };
    let mut given = Packed::new(text, src_layout);
    // SAFETY: as above.
    if let Some(layout) = unsafe { layout(&batch.dst_layout, n, DST)? } {
        given = given.output(layout);
    }
    if batch.nonce_len > 0 {
        let len = column_len(n, batch.nonce_len, batch.nonce_stride);
        let names = (c"nonces", c"nonce_stride", AESCOMB_NONCE_LENGTH);
        checked(batch.nonces.is_null(), len, names)?;
        // SAFETY: as above.
        let nonces = unsafe { bytes(batch.nonces, len) };
        given = given.nonces(nonces, batch.nonce_len, batch.nonce_stride);
    }
    if batch.tag_attached > 0 {
        given = given.tags_attached(batch.tag_attached as usize);
    } else if batch.tag_len > 0 {
        let len = column_len(n, batch.tag_len, batch.tag_stride);
        checked(
            batch.tags.is_null(),
            len,
            (c"tags", c"tag_stride", AESCOMB_TAG_LENGTH),
        )?;
        let (width, stride) = (batch.tag_len, batch.tag_stride);
        // SAFETY: as above.
        given = match op {
            Op::Verify | Op::Open => {
                given.received_tags(unsafe { bytes(batch.tags, len) }, width, stride)
            }
            _ => given.tags(
                // SAFETY: as above.
                unsafe { std::slice::from_raw_parts_mut(batch.tags, len) },
                width,
                stride,
            ),
        };
    }
    // SAFETY: as above.
    if let Some(layout) = unsafe { layout(&batch.data_layout, n, DATA)? } {
        checked(
            batch.data.is_null(),
            batch.data_len,
            (c"data", c"data_len", AESCOMB_DATA_LENGTH),
        )?;
        // SAFETY: as above.
        given = given.associated_data(unsafe { bytes(batch.data, batch.data_len) }, layout);
    }
    if !batch.opened_lens.is_null() {
        // SAFETY: as above.
        given = given.opened_lens(unsafe { column(batch.opened_lens, n, c"opened_lens")? });
    }
    let keys = match (batch.keys.is_null(), shared) {
        (true, Some(key)) => Keys::from(key),
        (true, None) => return Err(no_key(0)),
        (false, _) => {
            // SAFETY: as above.
            let own = unsafe { column::<*const aescomb_key>(batch.keys.cast(), n, c"keys")? };
            // SAFETY: they are cleared before the call ends, for which the caller has them.
            let shared = shared.map(|key| unsafe { &*std::ptr::from_ref(key) });
            keys.reserve(n);
            for (i, own) in own.iter().enumerate() {
                // SAFETY: as above.
                let own = unsafe { own.as_ref() };
                keys.push(own.map(|key| &key.0).or(shared).ok_or_else(|| no_key(i))?);
            }
            places.extend(places.len() as u32..n as u32);
            given = given.key_indices(&places[..n]);
            Keys::from(&*keys)
        }
    };
    if !batch.results.is_null() {
        results.clear();
        results.resize(n, MessageResult::default());
        given = given.results(results);
    }
    judged(comb.run(op, keys, &mut given), n)
}

/// # Safety
/// As the header says of `aescomb_encrypt_packed`.
unsafe fn call(
    op: Op,
    comb: *mut aescomb_comb,
    key: *const aescomb_key,
    batch: *const aescomb_packed,
    error: *mut aescomb_error,
) -> aescomb_code {
    let body = |parts: &mut Parts| {
        // SAFETY: the caller says so.
        let shared = unsafe { key.as_ref().map(|key| &key.0) };
        // SAFETY: as above.
        let Some(batch) = (unsafe { batch.as_ref() }) else {
            return Err(Fault::pointer(c"batch"));
        };
        if batch.count == 0 {
            return Ok(());
        }
        check_count(batch.count)?;
        if !batch.results.is_null() && !batch.results.is_aligned() {
            return Err(Fault::pointer(c"results"));
        }
        // Of a call that is refused before it begins.
        parts.scratch.results.clear();
        // SAFETY: as above.
        let result = unsafe {
            match batch.offset_bytes {
                4 => packed::<u32>(parts, op, shared, batch),
                8 => packed::<u64>(parts, op, shared, batch),
                other => Err(Fault::number(
                    aescomb_code::AESCOMB_OFFSET_BYTES,
                    c"offset_bytes",
                    other as usize,
                    "bytes of an offset",
                    Allowed::OneOf(&[4, 8]),
                )),
            }
        };
        if !batch.results.is_null() {
            for i in 0..batch.count {
                let made = parts.scratch.results.get(i).copied().unwrap_or_default();
                let written = aescomb_result {
                    written: made.len,
                    status: aescomb_status::of(made.status),
                };
                // SAFETY: there are `count` of them.
                unsafe { batch.results.add(i).write(written) };
            }
        }
        result
    };
    // SAFETY: the caller says so of both.
    unsafe { guarded(error, || with(comb, body)) }
}

/// As `aescomb_encrypt` with a packed batch. `batch` is only read, but for what its
/// `dst`, `tags` and `results` point to. Errors of one message say which; `field` is then the
/// name of a member of `aescomb_message`, or "layout" for an offset.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aescomb_encrypt_packed(
    comb: *mut aescomb_comb,
    key: *const aescomb_key,
    batch: *const aescomb_packed,
    error: *mut aescomb_error,
) -> aescomb_code {
    // SAFETY: the caller says so.
    unsafe { call(Op::Encrypt, comb, key, batch, error) }
}

/// As `aescomb_decrypt` with a packed batch.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aescomb_decrypt_packed(
    comb: *mut aescomb_comb,
    key: *const aescomb_key,
    batch: *const aescomb_packed,
    error: *mut aescomb_error,
) -> aescomb_code {
    // SAFETY: the caller says so.
    unsafe { call(Op::Decrypt, comb, key, batch, error) }
}

/// As `aescomb_mac` with a packed batch.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aescomb_mac_packed(
    comb: *mut aescomb_comb,
    key: *const aescomb_key,
    batch: *const aescomb_packed,
    error: *mut aescomb_error,
) -> aescomb_code {
    // SAFETY: the caller says so.
    unsafe { call(Op::Mac, comb, key, batch, error) }
}

/// As `aescomb_verify` with a packed batch.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aescomb_verify_packed(
    comb: *mut aescomb_comb,
    key: *const aescomb_key,
    batch: *const aescomb_packed,
    error: *mut aescomb_error,
) -> aescomb_code {
    // SAFETY: the caller says so.
    unsafe { call(Op::Verify, comb, key, batch, error) }
}

/// As `aescomb_seal` with a packed batch.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aescomb_seal_packed(
    comb: *mut aescomb_comb,
    key: *const aescomb_key,
    batch: *const aescomb_packed,
    error: *mut aescomb_error,
) -> aescomb_code {
    // SAFETY: the caller says so.
    unsafe { call(Op::Seal, comb, key, batch, error) }
}

/// As `aescomb_open` with a packed batch.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aescomb_open_packed(
    comb: *mut aescomb_comb,
    key: *const aescomb_key,
    batch: *const aescomb_packed,
    error: *mut aescomb_error,
) -> aescomb_code {
    // SAFETY: the caller says so.
    unsafe { call(Op::Open, comb, key, batch, error) }
}
