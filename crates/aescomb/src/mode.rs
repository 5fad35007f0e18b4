//! What is known of a mode without running it: names, sizes, costs, limits.

use crate::error::{Allowed, Error, Field};
use crate::modes::Mode;
use core::fmt;
use core::str::FromStr;

/// What a mode is for, and so which operations it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// Encrypts and decrypts, and does not authenticate.
    Cipher,
    /// Authenticates, and does not encrypt.
    Mac,
}

/// How message lengths and result lengths go together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Lengths {
    /// Whole blocks of 16 bytes only; the result is as long as the message.
    WholeBlocks,
    /// Any number of bytes; the result is as long as the message.
    AnyLength,
    /// Any number of bytes, made whole blocks by PKCS#7 padding: 1 to 16 bytes
    /// longer when encrypted.
    Padded,
    /// Any number of bytes, and no result but the tag.
    TagOnly,
}

/// One line of the registry: the facts about a mode that users choose by.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Info {
    /// Short name, for example `cbc`.
    pub name: &'static str,
    /// One line of description.
    pub title: &'static str,
    /// Standard and section.
    pub source: &'static str,
    /// Operations it has.
    pub kind: Kind,
    /// Bytes of nonce (initialisation vector, initial counter block), exactly.
    pub nonce_bytes: usize,
    /// Bytes of tag: shortest and longest. Both 0 where there is none.
    pub tag_bytes: (usize, usize),
    /// Message and result lengths.
    pub lengths: Lengths,
    /// AES calls per block of message.
    pub aes_per_block: usize,
    /// GF(2^128) multiplications per block of message.
    pub mul_per_block: usize,
    /// Whether blocks of one message can be encrypted (or authenticated) at the
    /// same time.
    pub parallel_encrypt: bool,
    /// Whether blocks of one message can be decrypted at the same time.
    pub parallel_decrypt: bool,
    /// Whether decryption needs the inverse of the block cipher.
    pub inverse: bool,
    /// What happens when a nonce repeats under one key.
    pub nonce_reuse: &'static str,
}

impl Info {
    /// AES calls of one message of `len` bytes, all of them counted.
    pub fn aes_calls(&self, len: usize) -> usize {
        self.aes_per_block
            * match self.lengths {
                Lengths::WholeBlocks | Lengths::AnyLength => len.div_ceil(16),
                Lengths::Padded => len / 16 + 1,
                Lengths::TagOnly => len.div_ceil(16).max(1),
            }
    }

    /// Bytes that encryption makes of `len` bytes; 0 for modes with a tag only.
    pub fn encrypted_len(&self, len: usize) -> usize {
        match self.lengths {
            Lengths::WholeBlocks | Lengths::AnyLength => len,
            Lengths::Padded => (len / 16 + 1) * 16,
            Lengths::TagOnly => 0,
        }
    }
}

/// What to do with a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// Plaintext to ciphertext.
    Encrypt,
    /// Ciphertext to plaintext.
    Decrypt,
    /// Text to tag.
    Mac,
    /// Text and tag to a verdict.
    Verify,
}

impl Op {
    /// All operations.
    pub const ALL: [Op; 4] = [Op::Encrypt, Op::Decrypt, Op::Mac, Op::Verify];

    /// `encrypt`, `decrypt`, `mac` or `verify`.
    pub fn name(self) -> &'static str {
        match self {
            Op::Encrypt => "encrypt",
            Op::Decrypt => "decrypt",
            Op::Mac => "mac",
            Op::Verify => "verify",
        }
    }
}

impl Kind {
    pub(crate) fn has(self, op: Op) -> bool {
        match self {
            Kind::Cipher => matches!(op, Op::Encrypt | Op::Decrypt),
            Kind::Mac => matches!(op, Op::Mac | Op::Verify),
        }
    }
}

/// Key lengths of AES in bytes (FIPS 197).
pub const KEY_BYTES: &[usize] = &[16, 24, 32];

/// A mode with a key length: `aes-128-cbc`.
///
/// ```
/// use aescomb::{Algorithm, Mode};
/// let a: Algorithm = "aes-256-ctr".parse()?;
/// assert_eq!((a.mode, a.key_bits), (Mode::Ctr, 256));
/// assert_eq!(a.to_string(), "aes-256-ctr");
/// # Ok::<(), aescomb::UnknownName>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Algorithm {
    /// The mode.
    pub mode: Mode,
    /// 128, 192 or 256.
    pub key_bits: usize,
}

impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "aes-{}-{}", self.key_bits, self.mode)
    }
}

/// A name that is in no list of this library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownName {
    what: &'static str,
}

impl UnknownName {
    pub(crate) fn of(what: &'static str) -> Self {
        UnknownName { what }
    }
}

impl fmt::Display for UnknownName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unknown {}; known: ", self.what)?;
        let mut sep = "";
        let mut item = |f: &mut fmt::Formatter<'_>, name: &str| {
            let r = write!(f, "{sep}{name}");
            sep = ", ";
            r
        };
        match self.what {
            "backend" => crate::Backend::ALL
                .iter()
                .try_for_each(|b| item(f, b.name())),
            "algorithm" => {
                item(f, "aes-BITS-MODE with BITS 128, 192 or 256 and MODE ")?;
                sep = "";
                let mut item = |f: &mut fmt::Formatter<'_>, name: &str| {
                    let r = write!(f, "{sep}{name}");
                    sep = ", ";
                    r
                };
                Mode::ALL.iter().try_for_each(|m| item(f, m.name()))
            }
            _ => Mode::ALL.iter().try_for_each(|m| item(f, m.name())),
        }
    }
}

impl core::error::Error for UnknownName {}

impl FromStr for Algorithm {
    type Err = UnknownName;

    fn from_str(s: &str) -> Result<Self, UnknownName> {
        let unknown = UnknownName::of("algorithm");
        let (bits, mode) = s
            .strip_prefix("aes-")
            .and_then(|s| s.split_once('-'))
            .ok_or(unknown)?;
        let key_bits = match bits {
            "128" => 128,
            "192" => 192,
            "256" => 256,
            _ => return Err(unknown),
        };
        let mode = mode.parse().map_err(|_| unknown)?;
        Ok(Algorithm { mode, key_bits })
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Mode {
    type Err = UnknownName;

    fn from_str(s: &str) -> Result<Self, UnknownName> {
        Mode::ALL
            .iter()
            .copied()
            .find(|m| m.name() == s)
            .ok_or(UnknownName::of("mode"))
    }
}

impl Mode {
    /// Short name, for example `cbc`.
    pub fn name(self) -> &'static str {
        self.info().name
    }

    pub(crate) fn check_key(self, bytes: usize) -> Result<(), Error> {
        if KEY_BYTES.contains(&bytes) {
            Ok(())
        } else {
            Err(Error::new(
                Field::KeyLength,
                bytes,
                Allowed::OneOf(KEY_BYTES),
            ))
        }
    }
}
