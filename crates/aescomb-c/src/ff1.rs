//! FF1, format-preserving encryption.
//!
//! `unsafe` here rests on what the header says: a handle is NULL or from `aescomb_ff1_new` and
//! not freed yet, strings are NULL or end in NUL, and other pointers are NULL or have as many
//! entries as is said with them, which nobody else uses during the call.
#![allow(unsafe_code, non_camel_case_types)]

use crate::error::{Fault, aescomb_code, aescomb_error, guarded};
use crate::message::{bytes, check_count, checked};
use crate::mode::name_of;
use crate::packed::{LayoutNames, aescomb_layout, column, layout, wrong_kind};
use aescomb::ff1::{Ff1, Numeral, Values};
use aescomb::{Allowed, Backend, Offset, Op};
use std::ffi::{CStr, c_char, c_void};
use std::mem::MaybeUninit;

const VALUES: LayoutNames = [c"layout", c"layout.starts", c"layout.lengths"];
const TWEAKS: LayoutNames = [
    c"tweak_layout",
    c"tweak_layout.starts",
    c"tweak_layout.lengths",
];

/// FF1 of SP 800-38G revision 1 with one radix, under one key or several. It never changes: any
/// number of threads and calls may use it at the same time.
pub struct aescomb_ff1(Ff1);

/// Values in one buffer, with their tweaks and the numbers of their keys. Set all of it to zero,
/// then what there is.
#[repr(C)]
pub struct aescomb_ff1_values {
    /// Values.
    pub count: usize,
    /// Bytes of an offset or length in the columns: 4 or 8.
    pub offset_bytes: u32,
    /// 1: values are text over the alphabet. 2: they are numerals, each a `uint16_t`.
    pub numeral_bytes: u32,
    /// Where the values are read.
    pub src: *const c_void,
    /// Characters or numerals at `src`.
    pub src_len: usize,
    /// Where the results go, each to the place that its value has in `src`: the same memory as
    /// `src`, or some that has no byte in common with it, with as much room. What is between
    /// places is left alone.
    pub dst: *mut c_void,
    /// Characters or numerals at `dst`.
    pub dst_len: usize,
    /// How values lie in `src`. Offsets, lengths and strides count characters or numerals.
    pub layout: aescomb_layout,
    /// Tweaks of all values, or, with a `tweak_layout` of kind `AESCOMB_LAYOUT_NONE`, one that
    /// all have.
    pub tweaks: *const u8,
    /// Bytes at `tweaks`.
    pub tweaks_len: usize,
    /// How they lie there, in bytes.
    pub tweak_layout: aescomb_layout,
    /// The number of each value's key, from 0 on. NULL: all have the first.
    pub keys: *const u32,
}

/// Makes FF1 for a radix from 2 to 65,536, or for text over an alphabet: characters of ASCII,
/// each once, which stand for the numerals 0, 1, 2 and so on, and whose number is the radix.
/// `alphabet` is NULL for numerals alone; with one, `radix` is 0. `bytes` are `keys` keys of
/// `len` bytes each (16, 24 or 32), one after the other. `backend` is as for `aescomb_comb_new`.
/// The library keeps no pointer to any of them. The handle at `ff1` is the caller's, who gives it
/// to `aescomb_ff1_free`; it is NULL if there is an error.
///
/// Errors: `AESCOMB_RADIX`; `AESCOMB_ALPHABET`; `AESCOMB_KEY_LENGTH`; `AESCOMB_COUNT` for no key
/// and more than 65,536; `AESCOMB_UNKNOWN_BACKEND`, `AESCOMB_BACKEND`; `AESCOMB_POINTER` if
/// `bytes` or `ff1` is NULL.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aescomb_ff1_new(
    radix: u32,
    alphabet: *const c_char,
    bytes: *const u8,
    len: usize,
    keys: usize,
    backend: *const c_char,
    ff1: *mut *mut aescomb_ff1,
    error: *mut aescomb_error,
) -> aescomb_code {
    /// As a mistake it would be all of memory.
    const MOST: usize = 1 << 16;
    let body = || {
        if ff1.is_null() {
            return Err(Fault::pointer(c"ff1"));
        }
        // SAFETY: the caller says that it can be written.
        unsafe { ff1.write(std::ptr::null_mut()) };
        if bytes.is_null() {
            return Err(Fault::pointer(c"bytes"));
        }
        let numbers = 1..=MOST;
        if !numbers.contains(&keys) {
            let (code, allowed) = (aescomb_code::AESCOMB_COUNT, Allowed::Between(1, MOST));
            return Err(Fault::number(code, c"keys", keys, "keys", allowed));
        }
        // Of a length that no key has, one is as wrong as all.
        let len = len.min(1 << 16);
        let all = if len > 32 { len } else { len * keys };
        // SAFETY: the caller says that there are so many bytes, and more.
        let raw = unsafe { std::slice::from_raw_parts(bytes, all) };
        let (first, others) = raw.split_at(len);
        let mut made = if alphabet.is_null() {
            Ff1::new(radix, first)?
        } else {
            if radix != 0 {
                let (code, given) = (aescomb_code::AESCOMB_RADIX, radix as usize);
                let what = "as the radix beside an alphabet";
                let allowed = Allowed::Exactly(0);
                return Err(Fault::number(code, c"radix", given, what, allowed));
            }
            // SAFETY: the caller says that it ends in NUL.
            let alphabet = unsafe { CStr::from_ptr(alphabet) };
            // Of what is no UTF-8, the first character that is wrong is not of ASCII.
            Ff1::with_alphabet(&alphabet.to_string_lossy(), first)?
        };
        if len > 0 {
            for key in others.chunks(len) {
                made.add_key(key)?;
            }
        }
        if !backend.is_null() {
            let unknown = aescomb_code::AESCOMB_UNKNOWN_BACKEND;
            // SAFETY: the caller says that it ends in NUL.
            let backend: Backend = unsafe { name_of(backend, c"backend", unknown)? };
            made = made.with_backend(backend)?;
        }
        let made = Box::new(aescomb_ff1(made));
        // SAFETY: as above.
        unsafe { ff1.write(Box::into_raw(made)) };
        Ok(())
    };
    // SAFETY: the caller says so of `error`.
    unsafe { guarded(error, body) }
}

/// Frees it, having wiped its keys. NULL is allowed. No call may be at work with it.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aescomb_ff1_free(ff1: *mut aescomb_ff1) {
    if !ff1.is_null() {
        // SAFETY: `aescomb_ff1_new` made it, and the caller gives it back.
        let ff1 = unsafe { Box::from_raw(ff1) };
        // SAFETY: NULL is allowed.
        unsafe {
            guarded(std::ptr::null_mut(), || {
                drop(ff1);
                Ok(())
            })
        };
    }
}

/// The least number of characters or numerals that a value may have; the most is 65,536. 0 for
/// NULL.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aescomb_ff1_min_len(ff1: *const aescomb_ff1) -> usize {
    // SAFETY: the caller says so.
    unsafe { ff1.as_ref() }.map_or(0, |ff1| ff1.0.min_len())
}

/// # Safety
/// As the header says of `values`, with numerals of the type `T` and offsets of the type `O`.
unsafe fn run<T: Numeral, O: Offset>(
    ff1: &Ff1,
    op: Op,
    values: &aescomb_ff1_values,
) -> Result<(), Fault> {
    use aescomb_code::*;
    let (n, src, dst) = (values.count, values.src, values.dst);
    let size = size_of::<T>();
    let sized = |is_null, len: usize, names| checked(is_null, len.saturating_mul(size), names);
    let names = (c"src", c"src_len", AESCOMB_TEXT_LENGTH);
    sized(src.is_null(), values.src_len, names)?;
    let names = (c"dst", c"dst_len", AESCOMB_OUTPUT_LENGTH);
    sized(dst.is_null(), values.dst_len, names)?;
    // SAFETY: the caller says so.
    let Some(places) = (unsafe { layout::<O>(&values.layout, n, VALUES)? }) else {
        return Err(wrong_kind(0, VALUES[0], Allowed::Between(1, 3)));
    };
    let (from, to) = (src.addr(), dst.addr());
    let room = values.dst_len * size;
    let given = if from == to && values.src_len > 0 {
        if values.dst_len < values.src_len {
            let (code, least) = (AESCOMB_OUTPUT_LENGTH, Allowed::AtLeast(values.src_len));
            let what = "characters or numerals of room";
            return Err(Fault::number(code, c"dst_len", values.dst_len, what, least));
        }
        let buffer = dst.cast::<T>();
        if !buffer.is_aligned() {
            return Err(Fault::pointer(c"dst"));
        }
        // SAFETY: the caller says that they are there; nobody else uses them.
        let buffer = unsafe { std::slice::from_raw_parts_mut(buffer, values.src_len) };
        Values::in_place(buffer, places)
    } else {
        let overlap = room > 0 && from < to + room && to < from + values.src_len * size;
        if overlap {
            let text = format!(
                "source and destination overlap, {} bytes apart; allowed: the same place or \
                 none in common",
                from.abs_diff(to)
            );
            return Err(Fault {
                given: from.abs_diff(to),
                ..Fault::new(AESCOMB_OVERLAP, c"dst", text)
            });
        }
        let parts = |len, p: *const c_void, name| match len {
            0 => Ok(&[][..]),
            // SAFETY: as above.
            len => unsafe { column::<T>(p, len, name) },
        };
        let from = parts(values.src_len, src, c"src")?;
        let to = dst.cast::<MaybeUninit<T>>();
        let to = match values.dst_len {
            0 => &mut [][..],
            _ if !to.is_aligned() => return Err(Fault::pointer(c"dst")),
            // SAFETY: as above; it has no byte in common with the source.
            len => unsafe { std::slice::from_raw_parts_mut(to, len) },
        };
        Values::copy_uninit(from, to, places)
    };
    let names = (c"tweaks", c"tweaks_len", AESCOMB_TWEAK_LENGTH);
    checked(values.tweaks.is_null(), values.tweaks_len, names)?;
    // SAFETY: as above.
    let tweaks = unsafe { bytes(values.tweaks, values.tweaks_len) };
    // SAFETY: as above.
    let given = match unsafe { layout(&values.tweak_layout, n, TWEAKS)? } {
        Some(layout) => given.tweaks(tweaks, layout),
        None => given.tweak(tweaks),
    };
    let given = match values.keys.is_null() {
        true => given,
        // SAFETY: as above.
        false => given.keys(unsafe { column(values.keys.cast(), n, c"keys")? }),
    };
    let done = match op {
        Op::Decrypt => ff1.decrypt(given),
        _ => ff1.encrypt(given),
    };
    Ok(done?)
}

/// # Safety
/// As the header says of `aescomb_ff1_encrypt`.
unsafe fn call(
    op: Op,
    ff1: *const aescomb_ff1,
    values: *const aescomb_ff1_values,
    error: *mut aescomb_error,
) -> aescomb_code {
    let body = || {
        // SAFETY: the caller says so.
        let Some(ff1) = (unsafe { ff1.as_ref() }) else {
            return Err(Fault::pointer(c"ff1"));
        };
        // SAFETY: as above.
        let Some(values) = (unsafe { values.as_ref() }) else {
            return Err(Fault::pointer(c"values"));
        };
        if values.count == 0 {
            return Ok(());
        }
        check_count(values.count)?;
        let wrong = |code, field, given: u32, what, allowed| {
            let allowed = Allowed::OneOf(allowed);
            Err(Fault::number(code, field, given as usize, what, allowed))
        };
        // SAFETY: as above.
        unsafe {
            match (values.numeral_bytes, values.offset_bytes) {
                (1, 4) => run::<u8, u32>(&ff1.0, op, values),
                (1, 8) => run::<u8, u64>(&ff1.0, op, values),
                (2, 4) => run::<u16, u32>(&ff1.0, op, values),
                (2, 8) => run::<u16, u64>(&ff1.0, op, values),
                (1 | 2, given) => wrong(
                    aescomb_code::AESCOMB_OFFSET_BYTES,
                    c"offset_bytes",
                    given,
                    "bytes of an offset",
                    &[4, 8],
                ),
                (given, _) => wrong(
                    aescomb_code::AESCOMB_NUMERAL_BYTES,
                    c"numeral_bytes",
                    given,
                    "bytes of a numeral",
                    &[1, 2],
                ),
            }
        }
    };
    // SAFETY: the caller says so of `error`.
    unsafe { guarded(error, body) }
}

/// Encrypts every value. `values` is only read, but for what its `dst` points to. Nothing is
/// written if there is an error.
///
/// Errors: `AESCOMB_VALUE_LENGTH`, `AESCOMB_CHARACTER`, `AESCOMB_NUMERAL`, `AESCOMB_OFFSET`,
/// `AESCOMB_TWEAK_LENGTH`, `AESCOMB_KEY_INDEX` with the place of the value in `message`;
/// `AESCOMB_ALPHABET` for text without one; `AESCOMB_COUNT`, `AESCOMB_LAYOUT`,
/// `AESCOMB_OFFSET_BYTES`, `AESCOMB_NUMERAL_BYTES`, `AESCOMB_OUTPUT_LENGTH`, `AESCOMB_OVERLAP`,
/// `AESCOMB_POINTER`.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aescomb_ff1_encrypt(
    ff1: *const aescomb_ff1,
    values: *const aescomb_ff1_values,
    error: *mut aescomb_error,
) -> aescomb_code {
    // SAFETY: the caller says so.
    unsafe { call(Op::Encrypt, ff1, values, error) }
}

/// Decrypts every value; as `aescomb_ff1_encrypt`.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aescomb_ff1_decrypt(
    ff1: *const aescomb_ff1,
    values: *const aescomb_ff1_values,
    error: *mut aescomb_error,
) -> aescomb_code {
    // SAFETY: the caller says so.
    unsafe { call(Op::Decrypt, ff1, values, error) }
}
