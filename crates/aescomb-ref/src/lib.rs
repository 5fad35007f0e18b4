//! Textbook AES and its modes of operation: the oracle that the tests of `aescomb` compare with.
//!
//! Everything here is written to be read beside the standards. One message at a time, one byte at
//! a time, no SIMD, no tables but the S-box (which is computed from its definition), and no code
//! shared with any other AES implementation.
//!
//! **Not for protecting data**: it is slow, and its table look-ups and branches depend on secrets.
//!
//! The three functions take the mode by name, so that a test can loop over modes:
//!
//! | mode          | nonce (bytes) | text (bytes)               | functions                    |
//! | ------------- | ------------- | -------------------------- | ---------------------------- |
//! | `"ecb"`       | 0             | a multiple of 16           | [`encrypt()`], [`decrypt()`] |
//! | `"ecb-pkcs7"` | 0             | any; padded when encrypted | [`encrypt()`], [`decrypt()`] |
//! | `"cbc"`       | 16            | a multiple of 16           | [`encrypt()`], [`decrypt()`] |
//! | `"cbc-pkcs7"` | 16            | any; padded when encrypted | [`encrypt()`], [`decrypt()`] |
//! | `"cfb128"`    | 16            | any                        | [`encrypt()`], [`decrypt()`] |
//! | `"ofb"`       | 16            | any                        | [`encrypt()`], [`decrypt()`] |
//! | `"ctr"`       | 16            | any                        | [`encrypt()`], [`decrypt()`] |
//! | `"ctr32"`     | 16            | any                        | [`encrypt()`], [`decrypt()`] |
//! | `"cmac"`      | none          | any                        | [`mac()`]                    |
//!
//! ```
//! let text = b"any text at all";
//! let sealed = aescomb_ref::encrypt("cbc-pkcs7", &[7; 16], &[9; 16], text).unwrap();
//! let opened = aescomb_ref::decrypt("cbc-pkcs7", &[7; 16], &[9; 16], &sealed).unwrap();
//! assert_eq!(opened, text);
//! ```

#![forbid(unsafe_code)]
#![deny(missing_docs)]

pub mod aes;
pub mod modes;

pub use aes::Aes;

/// Encrypts `text` in the mode called `mode`.
///
/// `None` for a name that is not an encryption mode, a key that is not 16, 24 or 32 bytes, or a
/// nonce or text of a length that the mode does not take.
pub fn encrypt(mode: &str, key: &[u8], nonce: &[u8], text: &[u8]) -> Option<Vec<u8>> {
    let aes = Aes::new(key)?;
    match mode {
        "ecb" if nonce.is_empty() => modes::ecb_encrypt(&aes, text),
        "ecb-pkcs7" if nonce.is_empty() => Some(modes::ecb_pkcs7_encrypt(&aes, text)),
        "cbc" => modes::cbc_encrypt(&aes, nonce.try_into().ok()?, text),
        "cbc-pkcs7" => {
            let iv = nonce.try_into().ok()?;
            Some(modes::cbc_pkcs7_encrypt(&aes, iv, text))
        }
        "cfb128" => Some(modes::cfb128_encrypt(&aes, nonce.try_into().ok()?, text)),
        "ofb" => Some(modes::ofb_encrypt(&aes, nonce.try_into().ok()?, text)),
        "ctr" => Some(modes::ctr_encrypt(&aes, nonce.try_into().ok()?, text)),
        "ctr32" => Some(modes::ctr32_encrypt(&aes, nonce.try_into().ok()?, text)),
        _ => None,
    }
}

/// Decrypts `text` in the mode called `mode`.
///
/// `None` where [`encrypt()`] gives it, and for bad padding in the modes that pad.
pub fn decrypt(mode: &str, key: &[u8], nonce: &[u8], text: &[u8]) -> Option<Vec<u8>> {
    let aes = Aes::new(key)?;
    match mode {
        "ecb" if nonce.is_empty() => modes::ecb_decrypt(&aes, text),
        "ecb-pkcs7" if nonce.is_empty() => modes::ecb_pkcs7_decrypt(&aes, text),
        "cbc" => modes::cbc_decrypt(&aes, nonce.try_into().ok()?, text),
        "cbc-pkcs7" => modes::cbc_pkcs7_decrypt(&aes, nonce.try_into().ok()?, text),
        "cfb128" => Some(modes::cfb128_decrypt(&aes, nonce.try_into().ok()?, text)),
        "ofb" => Some(modes::ofb_decrypt(&aes, nonce.try_into().ok()?, text)),
        "ctr" => Some(modes::ctr_decrypt(&aes, nonce.try_into().ok()?, text)),
        "ctr32" => Some(modes::ctr32_decrypt(&aes, nonce.try_into().ok()?, text)),
        _ => None,
    }
}

/// The full 16-byte tag of `text` under the MAC called `mode`; a shorter tag is its first bytes.
///
/// `None` for a name that is not a MAC, or a key that is not 16, 24 or 32 bytes.
pub fn mac(mode: &str, key: &[u8], text: &[u8]) -> Option<Vec<u8>> {
    let aes = Aes::new(key)?;
    match mode {
        "cmac" => Some(modes::cmac(&aes, text).to_vec()),
        _ => None,
    }
}
