//! Textbook AES and its modes of operation: the oracle that the tests of `aescomb` compare with.
//!
//! Everything here is written to be read beside the standards. One message at a time, one byte at
//! a time, no SIMD, no tables but the S-box (which is computed from its definition), and no code
//! shared with any other AES implementation.
//!
//! **Not for protecting data**: it is slow, and its table look-ups and branches depend on secrets.
//!
//! The functions take the mode by name, so that a test can loop over modes. The key has 16, 24 or
//! 32 bytes if nothing else is said. These modes only encrypt, by [`encrypt()`] and [`decrypt()`]:
//!
//! | mode          | nonce (bytes) | text (bytes)                        |
//! | ------------- | ------------- | ----------------------------------- |
//! | `"ecb"`       | 0             | a multiple of 16                    |
//! | `"ecb-pkcs7"` | 0             | any; padded when encrypted          |
//! | `"cbc"`       | 16            | a multiple of 16                    |
//! | `"cbc-pkcs7"` | 16            | any; padded when encrypted          |
//! | `"cfb128"`    | 16            | any                                 |
//! | `"ofb"`       | 16            | any                                 |
//! | `"ctr"`       | 16            | any                                 |
//! | `"ctr32"`     | 16            | any                                 |
//! | `"xts"`       | 16, the tweak | 16 to 2^24; a key of 32 or 64 bytes |
//!
//! These also authenticate, by [`seal()`] and [`open()`]; any text will do, up to the limits of
//! the standards:
//!
//! | mode        | key (bytes)  | nonce (bytes)   | tag (bytes)             |
//! | ----------- | ------------ | --------------- | ----------------------- |
//! | `"ccm"`     | 16, 24 or 32 | 7 to 13         | 4, 6, 8, 10, 12, 14, 16 |
//! | `"gcm"`     | 16, 24 or 32 | 1 or more       | 4, 8, 12 to 16          |
//! | `"ocb"`     | 16, 24 or 32 | 1 to 15         | 8, 12, 16               |
//! | `"eax"`     | 16, 24 or 32 | any             | 1 to 16                 |
//! | `"siv"`     | 32, 48 or 64 | any, 0 for none | 16                      |
//! | `"gcm-siv"` | 16, 24 or 32 | 12              | 16                      |
//!
//! So do these, which come from research and not from standards:
//!
//! | mode         | key (bytes)  | nonce (bytes) | tag (bytes)                              |
//! | ------------ | ------------ | ------------- | ---------------------------------------- |
//! | `"cloc"`     | 16           | 12            | 8                                        |
//! | `"silc"`     | 16           | 12            | 8                                        |
//! | `"jambu"`    | 16           | 8             | 8                                        |
//! | `"otr"`      | 16, 24 or 32 | 1 to 15       | 4 to 16                                  |
//! | `"copa"`     | 16           | 16            | 17: T and P, see [`modes::copa_encrypt`] |
//! | `"poet"`     | 16           | 16            | 16                                       |
//! | `"julius"`   | 16           | 16            | 16: the output's first block             |
//! | `"mcoe-g"`   | 16           | 12            | 16                                       |
//! | `"cobra"`    | 16           | 16            | 16                                       |
//! | `"cpfb"`     | 16 or 32     | 12            | 1 to 16                                  |
//! | `"silver"`   | 16           | 16            | 1 to 16                                  |
//! | `"pmac-ctr"` | 16           | 16            | 16                                       |
//!
//! What `"julius"` seals is opened by [`modes::julius_decrypt`], which is told the text's length.
//!
//! And these only authenticate, by [`mac()`]:
//!
//! | mode     | nonce (bytes) |
//! | -------- | ------------- |
//! | `"cmac"` | 0             |
//! | `"pmac"` | 0             |
//! | `"gmac"` | 1 or more     |
//!
//! Format-preserving encryption, FF1, is [`ff1_encrypt()`] and [`ff1_decrypt()`].
//!
//! ```
//! let text = b"any text at all";
//! let sealed = aescomb_ref::encrypt("cbc-pkcs7", &[7; 16], &[9; 16], text).unwrap();
//! let opened = aescomb_ref::decrypt("cbc-pkcs7", &[7; 16], &[9; 16], &sealed).unwrap();
//! assert_eq!(opened, text);
//!
//! let (key, nonce, ad): (_, _, &[&[u8]]) = ([7; 16], [9; 12], &[b"in clear"]);
//! let sealed = aescomb_ref::seal("gcm", &key, &nonce, ad, text, 16).unwrap();
//! let opened = aescomb_ref::open("gcm", &key, &nonce, ad, &sealed.text, &sealed.tag).unwrap();
//! assert_eq!(opened, text);
//! ```

#![forbid(unsafe_code)]
#![deny(missing_docs)]

pub mod aes;
pub mod ff1;
pub mod modes;

pub use aes::Aes;
pub use ff1::{ff1_decrypt, ff1_encrypt};

/// What [`seal()`] makes of a text.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Sealed {
    /// The ciphertext. It is as long as the text, but in two modes longer: in `"julius"` it fills
    /// its last block of 16 bytes, and in `"copa"` it does so and has a block at least.
    pub text: Vec<u8>,
    /// The tag.
    pub tag: Vec<u8>,
}

/// Encrypts `text` in the mode called `mode`.
///
/// `None` for a name that is not a mode which only encrypts, or a key, nonce or text of a length
/// that the mode does not take.
pub fn encrypt(mode: &str, key: &[u8], nonce: &[u8], text: &[u8]) -> Option<Vec<u8>> {
    if mode == "xts" {
        return modes::xts_encrypt(key, nonce.try_into().ok()?, text);
    }
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
    if mode == "xts" {
        return modes::xts_decrypt(key, nonce.try_into().ok()?, text);
    }
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

/// Encrypts `text` in the mode called `mode` and authenticates it together with `ad` and the nonce,
/// by a tag of `tag_bytes` bytes.
///
/// `ad` is one string, and no string is the same as an empty one. In SIV it is a vector of strings:
/// there, no string and an empty one differ, and a nonce that is not empty is one more string at
/// the end.
///
/// The ciphertext may be longer than `text`, see [`Sealed::text`].
///
/// `None` for a name that is not an authenticating encryption mode, more strings in `ad` than the
/// mode takes, or a key, nonce, text or tag of a length that it does not take.
pub fn seal(
    mode: &str,
    key: &[u8],
    nonce: &[u8],
    ad: &[&[u8]],
    text: &[u8],
    tag_bytes: usize,
) -> Option<Sealed> {
    match mode {
        "ccm" => modes::ccm_encrypt(&Aes::new(key)?, nonce, single(ad)?, text, tag_bytes),
        "gcm" => modes::gcm_encrypt(&Aes::new(key)?, nonce, single(ad)?, text, tag_bytes),
        "ocb" => modes::ocb_encrypt(&Aes::new(key)?, nonce, single(ad)?, text, tag_bytes),
        "eax" => modes::eax_encrypt(&Aes::new(key)?, nonce, single(ad)?, text, tag_bytes),
        "siv" if tag_bytes == 16 => modes::siv_encrypt(key, &with_nonce(ad, nonce), text),
        "gcm-siv" if tag_bytes == 16 => {
            modes::gcm_siv_encrypt(key, nonce.try_into().ok()?, single(ad)?, text)
        }
        "cloc" if tag_bytes == 8 => {
            let (aes, nonce) = (aes_128(key)?, nonce.try_into().ok()?);
            Some(modes::cloc_encrypt(&aes, nonce, single(ad)?, text))
        }
        "silc" if tag_bytes == 8 => {
            let (aes, nonce) = (aes_128(key)?, nonce.try_into().ok()?);
            Some(modes::silc_encrypt(&aes, nonce, single(ad)?, text))
        }
        "jambu" if tag_bytes == 8 => {
            let (aes, nonce) = (aes_128(key)?, nonce.try_into().ok()?);
            Some(modes::jambu_encrypt(&aes, nonce, single(ad)?, text))
        }
        "otr" => modes::otr_encrypt(&Aes::new(key)?, nonce, single(ad)?, text, tag_bytes),
        "copa" if tag_bytes == 17 => {
            let (aes, nonce) = (aes_128(key)?, nonce.try_into().ok()?);
            Some(modes::copa_encrypt(&aes, nonce, single(ad)?, text))
        }
        "poet" if tag_bytes == 16 => {
            modes::poet_encrypt(key, nonce.try_into().ok()?, single(ad)?, text)
        }
        "julius" if tag_bytes == 16 => {
            let (aes, nonce) = (aes_128(key)?, nonce.try_into().ok()?);
            let delta = modes::julius_delta(&aes);
            Some(modes::julius_encrypt(
                &aes,
                &delta,
                nonce,
                single(ad)?,
                text,
            ))
        }
        "mcoe-g" if tag_bytes == 16 => {
            modes::mcoe_g_encrypt(key, nonce.try_into().ok()?, single(ad)?, text)
        }
        "cobra" if tag_bytes == 16 => {
            let (aes, nonce) = (aes_128(key)?, nonce.try_into().ok()?);
            Some(modes::cobra_encrypt(&aes, nonce, single(ad)?, text))
        }
        "cpfb" => modes::cpfb_encrypt(key, nonce.try_into().ok()?, single(ad)?, text, tag_bytes),
        "silver" => {
            modes::silver_encrypt(key, nonce.try_into().ok()?, single(ad)?, text, tag_bytes)
        }
        "pmac-ctr" if tag_bytes == 16 => {
            let (aes, nonce) = (aes_128(key)?, nonce.try_into().ok()?);
            Some(modes::pmac_ctr_encrypt(&aes, nonce, single(ad)?, text))
        }
        _ => None,
    }
}

/// Undoes [`seal()`].
///
/// `None` where that gives it, and if `tag` is not the tag of the rest. Always `None` for
/// `"julius"`: what it seals does not tell how long the text was, so [`modes::julius_decrypt`] has
/// to be told.
pub fn open(
    mode: &str,
    key: &[u8],
    nonce: &[u8],
    ad: &[&[u8]],
    text: &[u8],
    tag: &[u8],
) -> Option<Vec<u8>> {
    match mode {
        "ccm" => modes::ccm_decrypt(&Aes::new(key)?, nonce, single(ad)?, text, tag),
        "gcm" => modes::gcm_decrypt(&Aes::new(key)?, nonce, single(ad)?, text, tag),
        "ocb" => modes::ocb_decrypt(&Aes::new(key)?, nonce, single(ad)?, text, tag),
        "eax" => modes::eax_decrypt(&Aes::new(key)?, nonce, single(ad)?, text, tag),
        "siv" => modes::siv_decrypt(key, &with_nonce(ad, nonce), text, tag.try_into().ok()?),
        "gcm-siv" => {
            let (nonce, tag) = (nonce.try_into().ok()?, tag.try_into().ok()?);
            modes::gcm_siv_decrypt(key, nonce, single(ad)?, text, tag)
        }
        "cloc" => {
            let (nonce, tag) = (nonce.try_into().ok()?, tag.try_into().ok()?);
            modes::cloc_decrypt(&aes_128(key)?, nonce, single(ad)?, text, tag)
        }
        "silc" => {
            let (nonce, tag) = (nonce.try_into().ok()?, tag.try_into().ok()?);
            modes::silc_decrypt(&aes_128(key)?, nonce, single(ad)?, text, tag)
        }
        "jambu" => {
            let (nonce, tag) = (nonce.try_into().ok()?, tag.try_into().ok()?);
            modes::jambu_decrypt(&aes_128(key)?, nonce, single(ad)?, text, tag)
        }
        "otr" => modes::otr_decrypt(&Aes::new(key)?, nonce, single(ad)?, text, tag),
        "copa" => {
            let (nonce, tag) = (nonce.try_into().ok()?, tag.try_into().ok()?);
            modes::copa_decrypt(&aes_128(key)?, nonce, single(ad)?, text, tag)
        }
        "poet" => {
            let (nonce, tag) = (nonce.try_into().ok()?, tag.try_into().ok()?);
            modes::poet_decrypt(key, nonce, single(ad)?, text, tag)
        }
        "mcoe-g" => {
            let (nonce, tag) = (nonce.try_into().ok()?, tag.try_into().ok()?);
            modes::mcoe_g_decrypt(key, nonce, single(ad)?, text, tag)
        }
        "cobra" => {
            let (nonce, tag) = (nonce.try_into().ok()?, tag.try_into().ok()?);
            modes::cobra_decrypt(&aes_128(key)?, nonce, single(ad)?, text, tag)
        }
        "cpfb" => modes::cpfb_decrypt(key, nonce.try_into().ok()?, single(ad)?, text, tag),
        "silver" => modes::silver_decrypt(key, nonce.try_into().ok()?, single(ad)?, text, tag),
        "pmac-ctr" => {
            let (nonce, tag) = (nonce.try_into().ok()?, tag.try_into().ok()?);
            modes::pmac_ctr_decrypt(&aes_128(key)?, nonce, single(ad)?, text, tag)
        }
        _ => None,
    }
}

/// The full 16-byte tag of `text` under the MAC called `mode`; a shorter tag is its first bytes.
///
/// `None` for a name that is not a MAC, or a key or nonce of a length that the MAC does not take.
pub fn mac(mode: &str, key: &[u8], nonce: &[u8], text: &[u8]) -> Option<Vec<u8>> {
    let aes = Aes::new(key)?;
    match mode {
        "cmac" if nonce.is_empty() => Some(modes::cmac(&aes, text).to_vec()),
        "pmac" if nonce.is_empty() => Some(modes::pmac(&aes, text).to_vec()),
        "gmac" => modes::gmac(&aes, nonce, text).map(Vec::from),
        _ => None,
    }
}

/// AES of a mode that takes keys of 16 bytes; `None` for others.
fn aes_128(key: &[u8]) -> Option<Aes> {
    Aes::new(key).filter(|_| key.len() == 16)
}

/// The associated data of a mode that takes one string; `None` for more.
fn single<'a>(ad: &[&'a [u8]]) -> Option<&'a [u8]> {
    match ad {
        [] => Some(&[]),
        [a] => Some(a),
        _ => None,
    }
}

/// RFC 5297, 3: a nonce is the last component of the associated data.
fn with_nonce<'a>(ad: &[&'a [u8]], nonce: &'a [u8]) -> Vec<&'a [u8]> {
    let mut components = ad.to_vec();
    if !nonce.is_empty() {
        components.push(nonce);
    }
    components
}
