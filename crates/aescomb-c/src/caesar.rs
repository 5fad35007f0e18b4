//! The interface of the CAESAR competition, one message a call.
//!
//! `unsafe` here rests on what the interface says: `m`, `ad` and `c` have memory of the
//! lengths beside them, results have room for what they can be, and `npub` and `k` have as
//! many bytes as the mode wants.
#![allow(unsafe_code, non_camel_case_types)]

use crate::message::bytes;
use aescomb::{AnyKey, Comb, Lengths, Message, Mode, Text};
use std::cell::RefCell;
use std::ffi::c_int;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// One function of a mode, for the list that the header is made of.
pub struct Caesar {
    /// Mode and key size as in the functions' names, such as `gcm_128`.
    pub name: &'static str,
    /// The mode.
    pub mode: Mode,
    /// Bits of an AES key.
    pub bits: usize,
}

/// Lengths that the interface fixes for a mode, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// Key.
    pub key: usize,
    /// Nonce.
    pub nonce: usize,
    /// Tag.
    pub tag: usize,
    /// The most by which a ciphertext is longer than its message.
    pub longer: usize,
}

impl Sizes {
    /// Those of a mode with a key size.
    pub fn of(mode: Mode, bits: usize) -> Sizes {
        let info = mode.info();
        let tag = info.longest_tag();
        Sizes {
            key: (bits / 8) << u32::from(info.two_keys),
            nonce: info.usual_nonce(),
            tag,
            longer: tag
                + if info.lengths == Lengths::Filled {
                    16
                } else {
                    0
                },
        }
    }
}

thread_local! {
    /// The scheduler of a thread: its memory is made once.
    static COMB: RefCell<Comb> = RefCell::new(Comb::new());
}

fn length(len: u64) -> Option<usize> {
    usize::try_from(len)
        .ok()
        .filter(|len| *len <= isize::MAX as usize)
}

/// Seals; `None` if what is given is wrong.
///
/// # Safety
/// As the interface says.
unsafe fn encrypt(
    (mode, bits): (Mode, usize),
    (c, clen): (*mut u8, *mut u64),
    (m, mlen): (*const u8, u64),
    (ad, adlen): (*const u8, u64),
    (npub, k): (*const u8, *const u8),
) -> Option<()> {
    let (mlen, adlen) = (length(mlen)?, length(adlen)?);
    let sizes = Sizes::of(mode, bits);
    let absent = |p: *const u8, len: usize| p.is_null() && len > 0;
    if clen.is_null() || c.is_null() || absent(npub, sizes.nonce) || k.is_null() {
        return None;
    }
    if absent(m, mlen) || absent(ad, adlen) {
        return None;
    }
    let room = mode.info().encrypted_len(mlen).checked_add(sizes.tag)?;
    // SAFETY: the caller says so.
    let (key, nonce, data, text) = unsafe {
        let text = Text::from_raw(m, mlen, c, room);
        (
            bytes(k, sizes.key),
            bytes(npub, sizes.nonce),
            bytes(ad, adlen),
            text,
        )
    };
    let key = AnyKey::for_mode(mode, key).ok()?;
    let mut batch = [Message::new(text)
        .nonce(nonce)
        .associated_data(data)
        .tag_attached(sizes.tag)];
    COMB.with(|comb| comb.try_borrow_mut().ok()?.seal(&key, &mut batch).ok())?;
    // SAFETY: it is not NULL.
    unsafe { clen.write(room as u64) };
    Some(())
}

/// Opens; `None` if the tag is wrong, and then the output is wiped, or if what is given is
/// wrong.
///
/// # Safety
/// As the interface says.
unsafe fn decrypt(
    (mode, bits): (Mode, usize),
    (m, mlen): (*mut u8, *mut u64),
    (c, clen): (*const u8, u64),
    (ad, adlen): (*const u8, u64),
    (npub, k): (*const u8, *const u8),
) -> Option<()> {
    let (clen, adlen) = (length(clen)?, length(adlen)?);
    let sizes = Sizes::of(mode, bits);
    let absent = |p: *const u8, len: usize| p.is_null() && len > 0;
    if mlen.is_null() || c.is_null() || absent(npub, sizes.nonce) || k.is_null() {
        return None;
    }
    let sealed = clen.checked_sub(sizes.tag)?;
    if absent(m, sealed) || absent(ad, adlen) {
        return None;
    }
    // What fills up a last block is opened as well, and the caller need not have room for
    // it.
    let mut beside = match mode.info().lengths {
        Lengths::Filled => vec![0; sealed],
        _ => Vec::new(),
    };
    let dst = match beside.is_empty() {
        true => m,
        false => beside.as_mut_ptr(),
    };
    // SAFETY: the caller says so.
    let (key, nonce, data, text) = unsafe {
        let text = Text::from_raw(c, clen, dst, sealed);
        (
            bytes(k, sizes.key),
            bytes(npub, sizes.nonce),
            bytes(ad, adlen),
            text,
        )
    };
    let key = AnyKey::for_mode(mode, key).ok()?;
    let mut batch = [Message::new(text)
        .nonce(nonce)
        .associated_data(data)
        .tag_attached(sizes.tag)];
    let opened = COMB.with(|comb| Some(comb.try_borrow_mut().ok()?.open(&key, &mut batch)))?;
    let [message] = batch;
    let len = message.output().len();
    if !beside.is_empty() {
        // SAFETY: a message has no more bytes than its ciphertext without padding; one
        // that failed has none.
        unsafe { m.copy_from(beside.as_ptr(), len) };
        zeroize::Zeroize::zeroize(&mut beside[..]);
    }
    opened.ok()?;
    // SAFETY: it is not NULL.
    unsafe { mlen.write(len as u64) };
    Some(())
}

/// 0, or -1 for what went wrong and for panics.
fn code(body: impl FnOnce() -> Option<()>) -> c_int {
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Some(())) => 0,
        _ => -1,
    }
}

macro_rules! caesar {
    ($($mode:ident $bits:literal $name:literal $encrypt:ident $decrypt:ident;)*) => {
        /// The modes that the interface has.
        pub const CAESAR: &[Caesar] = &[$(Caesar {
            name: $name,
            mode: Mode::$mode,
            bits: $bits,
        }),*];

        $(
            /// Seals.
            ///
            /// # Safety
            /// As the interface says.
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $encrypt(
                c: *mut u8,
                clen: *mut u64,
                m: *const u8,
                mlen: u64,
                ad: *const u8,
                adlen: u64,
                _nsec: *const u8,
                npub: *const u8,
                k: *const u8,
            ) -> c_int {
                let mode = (Mode::$mode, $bits);
                // SAFETY: the caller says so.
                code(|| unsafe { encrypt(mode, (c, clen), (m, mlen), (ad, adlen), (npub, k)) })
            }

            /// Opens.
            ///
            /// # Safety
            /// As the interface says.
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $decrypt(
                m: *mut u8,
                mlen: *mut u64,
                _nsec: *mut u8,
                c: *const u8,
                clen: u64,
                ad: *const u8,
                adlen: u64,
                npub: *const u8,
                k: *const u8,
            ) -> c_int {
                let mode = (Mode::$mode, $bits);
                // SAFETY: the caller says so.
                code(|| unsafe { decrypt(mode, (m, mlen), (c, clen), (ad, adlen), (npub, k)) })
            }
        )*
    };
}

caesar! {
    Ccm 128 "ccm_128" aescomb_caesar_ccm_128_encrypt aescomb_caesar_ccm_128_decrypt;
    Ccm 192 "ccm_192" aescomb_caesar_ccm_192_encrypt aescomb_caesar_ccm_192_decrypt;
    Ccm 256 "ccm_256" aescomb_caesar_ccm_256_encrypt aescomb_caesar_ccm_256_decrypt;
    Gcm 128 "gcm_128" aescomb_caesar_gcm_128_encrypt aescomb_caesar_gcm_128_decrypt;
    Gcm 192 "gcm_192" aescomb_caesar_gcm_192_encrypt aescomb_caesar_gcm_192_decrypt;
    Gcm 256 "gcm_256" aescomb_caesar_gcm_256_encrypt aescomb_caesar_gcm_256_decrypt;
    Ocb 128 "ocb_128" aescomb_caesar_ocb_128_encrypt aescomb_caesar_ocb_128_decrypt;
    Ocb 192 "ocb_192" aescomb_caesar_ocb_192_encrypt aescomb_caesar_ocb_192_decrypt;
    Ocb 256 "ocb_256" aescomb_caesar_ocb_256_encrypt aescomb_caesar_ocb_256_decrypt;
    Eax 128 "eax_128" aescomb_caesar_eax_128_encrypt aescomb_caesar_eax_128_decrypt;
    Eax 192 "eax_192" aescomb_caesar_eax_192_encrypt aescomb_caesar_eax_192_decrypt;
    Eax 256 "eax_256" aescomb_caesar_eax_256_encrypt aescomb_caesar_eax_256_decrypt;
    Siv 128 "siv_128" aescomb_caesar_siv_128_encrypt aescomb_caesar_siv_128_decrypt;
    Siv 192 "siv_192" aescomb_caesar_siv_192_encrypt aescomb_caesar_siv_192_decrypt;
    Siv 256 "siv_256" aescomb_caesar_siv_256_encrypt aescomb_caesar_siv_256_decrypt;
    GcmSiv 128 "gcm_siv_128" aescomb_caesar_gcm_siv_128_encrypt aescomb_caesar_gcm_siv_128_decrypt;
    GcmSiv 192 "gcm_siv_192" aescomb_caesar_gcm_siv_192_encrypt aescomb_caesar_gcm_siv_192_decrypt;
    GcmSiv 256 "gcm_siv_256" aescomb_caesar_gcm_siv_256_encrypt aescomb_caesar_gcm_siv_256_decrypt;
    Cloc 128 "cloc_128" aescomb_caesar_cloc_128_encrypt aescomb_caesar_cloc_128_decrypt;
    Silc 128 "silc_128" aescomb_caesar_silc_128_encrypt aescomb_caesar_silc_128_decrypt;
    Jambu 128 "jambu_128" aescomb_caesar_jambu_128_encrypt aescomb_caesar_jambu_128_decrypt;
    Poet 128 "poet_128" aescomb_caesar_poet_128_encrypt aescomb_caesar_poet_128_decrypt;
    McoeG 128 "mcoe_g_128" aescomb_caesar_mcoe_g_128_encrypt aescomb_caesar_mcoe_g_128_decrypt;
    Otr 128 "otr_128" aescomb_caesar_otr_128_encrypt aescomb_caesar_otr_128_decrypt;
    Otr 192 "otr_192" aescomb_caesar_otr_192_encrypt aescomb_caesar_otr_192_decrypt;
    Otr 256 "otr_256" aescomb_caesar_otr_256_encrypt aescomb_caesar_otr_256_decrypt;
    Copa 128 "copa_128" aescomb_caesar_copa_128_encrypt aescomb_caesar_copa_128_decrypt;
    PmacCtr 128 "pmac_ctr_128" aescomb_caesar_pmac_ctr_128_encrypt aescomb_caesar_pmac_ctr_128_decrypt;
    Cobra 128 "cobra_128" aescomb_caesar_cobra_128_encrypt aescomb_caesar_cobra_128_decrypt;
    Cpfb 128 "cpfb_128" aescomb_caesar_cpfb_128_encrypt aescomb_caesar_cpfb_128_decrypt;
    Cpfb 256 "cpfb_256" aescomb_caesar_cpfb_256_encrypt aescomb_caesar_cpfb_256_decrypt;
    Silver 128 "silver_128" aescomb_caesar_silver_128_encrypt aescomb_caesar_silver_128_decrypt;
}
