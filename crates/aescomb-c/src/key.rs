//! Keys.
//!
//! `unsafe` here rests on what the header says: a handle is NULL or from
//! `aescomb_key_new` and not freed yet, `mode` is NULL or ends in NUL, `bytes` is NULL or
//! readable for `len` bytes, and other pointers are NULL or writable.
#![allow(unsafe_code, non_camel_case_types)]

use crate::error::{Fault, aescomb_code, aescomb_error, guarded};
use crate::mode::name_of;
use aescomb::{AnyKey, Mode};
use std::ffi::c_char;

/// A key for one mode, expanded. It never changes: any number of threads and calls may
/// use it at the same time.
pub struct aescomb_key(pub(crate) AnyKey);

// References to it are references to a key.
const _: () = assert!(
    std::mem::size_of::<aescomb_key>() == std::mem::size_of::<AnyKey>()
        && std::mem::offset_of!(aescomb_key, 0) == 0
);

/// Expands a key of `len` bytes for the mode of this name (see `aescomb_mode_name`). The
/// lengths are 16, 24 or 32 bytes, or twice as many for modes with two keys, one after the
/// other; `aescomb_mode_info` says which a mode takes. The library keeps no pointer to
/// `bytes`. The handle at `key` is the caller's, who gives it to `aescomb_key_free`; it is
/// NULL if there is an error.
///
/// Errors: `AESCOMB_UNKNOWN_MODE`; `AESCOMB_KEY_LENGTH`; `AESCOMB_POINTER` if `mode`,
/// `bytes` or `key` is NULL.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aescomb_key_new(
    mode: *const c_char,
    bytes: *const u8,
    len: usize,
    key: *mut *mut aescomb_key,
    error: *mut aescomb_error,
) -> aescomb_code {
    let body = || {
        if key.is_null() {
            return Err(Fault::pointer(c"key"));
        }
        // SAFETY: the caller says that it can be written.
        unsafe { key.write(std::ptr::null_mut()) };
        // SAFETY: the caller says that it ends in NUL, if it is not NULL.
        let mode: Mode = unsafe { name_of(mode, c"mode", aescomb_code::AESCOMB_UNKNOWN_MODE)? };
        if bytes.is_null() {
            return Err(Fault::pointer(c"bytes"));
        }
        // Of a length that no slice has, too little is as wrong.
        let len = len.min(isize::MAX as usize);
        // SAFETY: the caller says that there are so many bytes.
        let raw = unsafe { std::slice::from_raw_parts(bytes, len) };
        let made = Box::new(aescomb_key(AnyKey::for_mode(mode, raw)?));
        // SAFETY: as above.
        unsafe { key.write(Box::into_raw(made)) };
        Ok(())
    };
    // SAFETY: the caller says so of `error`.
    unsafe { guarded(error, body) }
}

/// Frees a key, having wiped it. NULL is allowed. No call may be at work with it.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aescomb_key_free(key: *mut aescomb_key) {
    if !key.is_null() {
        // SAFETY: `aescomb_key_new` made it, and the caller gives it back.
        let key = unsafe { Box::from_raw(key) };
        // SAFETY: NULL is allowed.
        unsafe {
            guarded(std::ptr::null_mut(), || {
                drop(key);
                Ok(())
            })
        };
    }
}
