//! Names and sizes: modes, backends, the version.
//!
//! `unsafe` here rests on what the header says: names are NULL or end in NUL, and other
//! pointers are NULL or writable.
#![allow(unsafe_code, non_camel_case_types)]

use crate::error::{Fault, aescomb_code, aescomb_error, guarded};
use aescomb::{Backend, Info, Kind, Lengths, Mode};
use std::ffi::{CStr, CString, c_char};
use std::fmt::Display;
use std::str::FromStr;
use std::sync::OnceLock;

/// What a mode is for, and so which operations it has.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum aescomb_kind {
    /// Encrypts and decrypts, and does not authenticate.
    AESCOMB_CIPHER = 0,
    /// Computes and verifies tags, and does not encrypt.
    AESCOMB_MAC = 1,
    /// Authenticated encryption with associated data: seals and opens.
    AESCOMB_AEAD = 2,
}

/// How the lengths of messages and results go together.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum aescomb_lengths {
    /// Whole blocks of 16 bytes only; the result is as long.
    AESCOMB_WHOLE_BLOCKS = 0,
    /// Any number of bytes; the result is as long.
    AESCOMB_ANY_LENGTH = 1,
    /// 16 bytes or more; the result is as long.
    AESCOMB_FROM_ONE_BLOCK = 2,
    /// Any number of bytes; encrypting adds padding of 1 to 16 bytes, which decrypting
    /// takes off.
    AESCOMB_PADDED = 3,
    /// Any number of bytes, made whole blocks, at least one; opening finds what was added.
    AESCOMB_FILLED = 4,
    /// Any number of bytes, made whole blocks; who opens it must say how many there were,
    /// in `opened_len`.
    AESCOMB_UNTOLD = 5,
    /// Any number of bytes, and no result but the tag.
    AESCOMB_TAG_ONLY = 6,
}

/// What is known of a mode. All pointers are to static memory; all lengths are in bytes.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct aescomb_info {
    /// Short name, such as "cbc".
    pub name: *const c_char,
    /// One line of description.
    pub title: *const c_char,
    /// Standard and section.
    pub source: *const c_char,
    /// What happens when a nonce repeats under one key.
    pub nonce_reuse: *const c_char,
    /// NULL for modes of a standard. For the others, which are for research and comparison
    /// and not for new protocols, what became of them.
    pub research: *const c_char,
    /// Operations.
    pub kind: aescomb_kind,
    /// Message and result lengths.
    pub lengths: aescomb_lengths,
    /// Lengths of key that it takes, in ascending order.
    pub key_lens: *const usize,
    /// How many they are.
    pub key_len_count: usize,
    /// The shortest nonce (initialisation vector, initial counter block, tweak).
    pub nonce_len_min: usize,
    /// The longest; 0 where there is none.
    pub nonce_len_max: usize,
    /// The length that is used most.
    pub nonce_len_usual: usize,
    /// Lengths of tag that it takes, in ascending order; NULL where there is none.
    pub tag_lens: *const usize,
    /// How many they are.
    pub tag_len_count: usize,
    /// Not 0: a tag that is attached to a ciphertext stands before it ("siv").
    pub tag_first: u32,
    /// The most components of associated data: 0, 1 or more. Where the nonce may be left
    /// out (`nonce_len_min` is 0 and `nonce_len_max` is not), it is one of them.
    pub component_max: usize,
}

/// The strings of a mode, as C has them.
struct Names {
    name: CString,
    title: CString,
    source: CString,
    nonce_reuse: CString,
    research: Option<CString>,
}

fn c_string(text: &str) -> CString {
    // No text of the library has a NUL in it.
    CString::new(text).unwrap_or_default()
}

/// The strings of all modes, in the order of [`Mode::ALL`].
fn names() -> &'static [Names] {
    static NAMES: OnceLock<Vec<Names>> = OnceLock::new();
    NAMES.get_or_init(|| {
        let of = |mode: &Mode| {
            let info = mode.info();
            Names {
                name: c_string(info.name),
                title: c_string(info.title),
                source: c_string(info.source),
                nonce_reuse: c_string(info.nonce_reuse),
                research: info.research.map(c_string),
            }
        };
        Mode::ALL.iter().map(of).collect()
    })
}

/// What goes by the name at `name`.
///
/// # Safety
/// `name` must be NULL or end in NUL.
pub(crate) unsafe fn name_of<T: FromStr<Err: Display>>(
    name: *const c_char,
    field: &'static CStr,
    unknown: aescomb_code,
) -> Result<T, Fault> {
    if name.is_null() {
        return Err(Fault::pointer(field));
    }
    // SAFETY: the caller says so.
    let name = unsafe { CStr::from_ptr(name) };
    let found = name.to_str().unwrap_or_default().parse();
    found.map_err(|e: T::Err| Fault::new(unknown, field, e.to_string()))
}

/// How many modes there are.
#[unsafe(no_mangle)]
pub extern "C" fn aescomb_mode_count() -> usize {
    Mode::ALL.len()
}

/// The name of mode number `place`, from 0; NULL beyond the last. Static.
#[unsafe(no_mangle)]
pub extern "C" fn aescomb_mode_name(place: usize) -> *const c_char {
    match names().get(place) {
        Some(names) => names.name.as_ptr(),
        None => std::ptr::null(),
    }
}

/// Writes what is known of the mode of this name to `info`.
///
/// Errors: `AESCOMB_UNKNOWN_MODE`; `AESCOMB_POINTER` if `mode` or `info` is NULL.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aescomb_mode_info(
    mode: *const c_char,
    info: *mut aescomb_info,
    error: *mut aescomb_error,
) -> aescomb_code {
    let body = || {
        // SAFETY: the caller says that it ends in NUL, if it is not NULL.
        let mode: Mode = unsafe { name_of(mode, c"mode", aescomb_code::AESCOMB_UNKNOWN_MODE)? };
        if info.is_null() {
            return Err(Fault::pointer(c"info"));
        }
        let place = Mode::ALL.iter().position(|m| *m == mode).unwrap_or(0);
        // SAFETY: the caller says that it can be written.
        unsafe { info.write(c_info(mode.info(), &names()[place])) };
        Ok(())
    };
    // SAFETY: the caller says so of `error`.
    unsafe { guarded(error, body) }
}

fn c_info(info: &'static Info, names: &'static Names) -> aescomb_info {
    aescomb_info {
        name: names.name.as_ptr(),
        title: names.title.as_ptr(),
        source: names.source.as_ptr(),
        nonce_reuse: names.nonce_reuse.as_ptr(),
        research: match &names.research {
            Some(text) => text.as_ptr(),
            None => std::ptr::null(),
        },
        kind: match info.kind {
            Kind::Mac => aescomb_kind::AESCOMB_MAC,
            Kind::Aead => aescomb_kind::AESCOMB_AEAD,
            _ => aescomb_kind::AESCOMB_CIPHER,
        },
        lengths: match info.lengths {
            Lengths::WholeBlocks => aescomb_lengths::AESCOMB_WHOLE_BLOCKS,
            Lengths::FromOneBlock => aescomb_lengths::AESCOMB_FROM_ONE_BLOCK,
            Lengths::Padded => aescomb_lengths::AESCOMB_PADDED,
            Lengths::Filled => aescomb_lengths::AESCOMB_FILLED,
            Lengths::Untold => aescomb_lengths::AESCOMB_UNTOLD,
            Lengths::TagOnly => aescomb_lengths::AESCOMB_TAG_ONLY,
            _ => aescomb_lengths::AESCOMB_ANY_LENGTH,
        },
        key_lens: info.key_bytes.as_ptr(),
        key_len_count: info.key_bytes.len(),
        nonce_len_min: info.nonce_bytes.0,
        nonce_len_max: info.nonce_bytes.1,
        nonce_len_usual: info.usual_nonce(),
        tag_lens: match info.tag_bytes {
            [] => std::ptr::null(),
            list => list.as_ptr(),
        },
        tag_len_count: info.tag_bytes.len(),
        tag_first: info.tag_first.into(),
        component_max: info.data_components,
    }
}

/// Writes to `encrypted_len` how many bytes encrypting or sealing makes of `len` bytes, tag
/// not counted: the length that a destination must have. 0 for modes with a tag only.
///
/// Errors: `AESCOMB_UNKNOWN_MODE`; `AESCOMB_TEXT_LENGTH` if the result would not fit in
/// memory; `AESCOMB_POINTER` if `mode` or `encrypted_len` is NULL.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aescomb_mode_encrypted_len(
    mode: *const c_char,
    len: usize,
    encrypted_len: *mut usize,
    error: *mut aescomb_error,
) -> aescomb_code {
    let body = || {
        // SAFETY: the caller says that it ends in NUL, if it is not NULL.
        let mode: Mode = unsafe { name_of(mode, c"mode", aescomb_code::AESCOMB_UNKNOWN_MODE)? };
        if encrypted_len.is_null() {
            return Err(Fault::pointer(c"encrypted_len"));
        }
        let most = isize::MAX as usize - 16;
        if len > most {
            return Err(Fault::number(
                aescomb_code::AESCOMB_TEXT_LENGTH,
                c"len",
                len,
                "bytes of text",
                aescomb::Allowed::AtMost(most),
            ));
        }
        // SAFETY: the caller says that it can be written.
        unsafe { encrypted_len.write(mode.info().encrypted_len(len)) };
        Ok(())
    };
    // SAFETY: the caller says so of `error`.
    unsafe { guarded(error, body) }
}

/// The name of backend number `place`, from 0, the widest first; NULL beyond the last.
/// Static. Whether this CPU has it, `aescomb_comb_new` says.
#[unsafe(no_mangle)]
pub extern "C" fn aescomb_backend_name(place: usize) -> *const c_char {
    static NAMES: OnceLock<Vec<CString>> = OnceLock::new();
    let names = NAMES.get_or_init(|| Backend::ALL.iter().map(|b| c_string(b.name())).collect());
    names
        .get(place)
        .map_or(std::ptr::null(), |name| name.as_ptr())
}

/// The version of the library, such as "0.1.0". Static.
#[unsafe(no_mangle)]
pub extern "C" fn aescomb_version() -> *const c_char {
    const VERSION: &CStr =
        match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
            Ok(version) => version,
            Err(_) => panic!("a version without NUL"),
        };
    VERSION.as_ptr()
}
