//! What is known of a mode without running it: names, sizes, costs, limits.

use crate::error::{Allowed, Error, Field};
use crate::modes::Mode;
use core::fmt;
use core::str::FromStr;
use subtle::ConstantTimeEq;

/// What a mode is for, and so which operations it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// Encrypts and decrypts, and does not authenticate.
    Cipher,
    /// Authenticates, and does not encrypt.
    Mac,
    /// Authenticated encryption with associated data: seals and opens.
    Aead,
}

/// How message lengths and result lengths go together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Lengths {
    /// Whole blocks of 16 bytes only; the result is as long as the message.
    WholeBlocks,
    /// Any number of bytes; the result is as long as the message.
    AnyLength,
    /// A block of 16 bytes or more; the result is as long as the message.
    FromOneBlock,
    /// Any number of bytes, made whole blocks by PKCS#7 padding: 1 to 16 bytes
    /// longer when encrypted.
    Padded,
    /// Any number of bytes, made whole blocks, at least one; what was added is found
    /// when the message is opened.
    Filled,
    /// Any number of bytes, made whole blocks; nothing says how many bytes there were,
    /// so whoever opens it must ([`Message::opened_len`](crate::Message::opened_len)).
    Untold,
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
    /// Lengths of key that it takes, in bytes.
    pub key_bytes: &'static [usize],
    /// Whether a key is two AES keys, one after the other.
    pub two_keys: bool,
    /// Bytes of nonce (initialisation vector, initial counter block, tweak):
    /// fewest and most. Both 0 where there is none.
    pub nonce_bytes: (usize, usize),
    /// Bytes of tag that it takes, in ascending order; empty where there is none.
    pub tag_bytes: &'static [usize],
    /// The most components of associated data: 0, 1 or more. A nonce that may be left
    /// out (of fewest 0 bytes) is one of them.
    pub data_components: usize,
    /// Message and result lengths.
    pub lengths: Lengths,
    /// What a message costs.
    pub costs: Costs,
    /// Whether blocks of one message can be encrypted (or authenticated) at the
    /// same time.
    pub parallel_encrypt: bool,
    /// Whether blocks of one message can be decrypted at the same time.
    pub parallel_decrypt: bool,
    /// Whether decryption needs the inverse of the block cipher.
    pub inverse: bool,
    /// Whether a tag that is attached to the text stands before it, as in RFC 5297. In other
    /// modes it stands after it.
    pub tag_first: bool,
    /// What happens when a nonce repeats under one key.
    pub nonce_reuse: &'static str,
    /// `None` for modes of a standard. For the others, what became of the mode: they
    /// are here for research and comparison, and not for new protocols.
    pub research: Option<&'static str>,
}

/// What a message costs: calls of AES, and GF(2^128) multiplications by secrets,
/// doublings not counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Costs {
    /// AES calls per block of message.
    pub aes_per_block: usize,
    /// AES calls per block of associated data.
    pub aes_per_data_block: usize,
    /// AES calls per message beside these: nonce, tag, lengths, derived keys.
    pub aes_per_message: usize,
    /// Bytes of a block, of message and of associated data: 16, or fewer where a call of
    /// AES does fewer.
    pub block_bytes: usize,
    /// Bytes that the mode puts before associated data if there is any.
    pub data_prefix: usize,
    /// Multiplications per block of message, and of associated data.
    pub mul_per_block: usize,
    /// Multiplications per message beside these.
    pub mul_per_message: usize,
}

impl Costs {
    pub(crate) const NONE: Costs = Costs {
        aes_per_block: 0,
        aes_per_data_block: 0,
        aes_per_message: 0,
        block_bytes: 16,
        data_prefix: 0,
        mul_per_block: 0,
        mul_per_message: 0,
    };
}

impl Info {
    /// AES calls of one message of `len` bytes with `data` bytes of associated
    /// data, all of them counted.
    pub fn aes_calls(&self, len: usize, data: usize) -> usize {
        let c = &self.costs;
        c.aes_per_block * self.blocks(len)
            + c.aes_per_data_block * self.data_blocks(data)
            + c.aes_per_message
    }

    /// GF(2^128) multiplications of such a message.
    pub fn multiplications(&self, len: usize, data: usize) -> usize {
        let c = &self.costs;
        match c.mul_per_block {
            0 => c.mul_per_message,
            n => n * (self.blocks(len) + self.data_blocks(data)) + c.mul_per_message,
        }
    }

    fn blocks(&self, len: usize) -> usize {
        match self.lengths {
            Lengths::Padded => len / 16 + 1,
            Lengths::Filled | Lengths::TagOnly => len.div_ceil(16).max(1),
            _ => len.div_ceil(self.costs.block_bytes),
        }
    }

    fn data_blocks(&self, data: usize) -> usize {
        match data {
            0 => 0,
            _ => (data + self.costs.data_prefix).div_ceil(self.costs.block_bytes),
        }
    }

    /// The longest tag in bytes; 0 where there is none.
    pub fn longest_tag(&self) -> usize {
        self.tag_bytes.last().copied().unwrap_or(0)
    }

    /// The nonce length that is used most, in bytes: 12 where the mode has a
    /// choice and takes it, otherwise the longest.
    pub fn usual_nonce(&self) -> usize {
        let (least, most) = self.nonce_bytes;
        if least <= 12 && 12 < most { 12 } else { most }
    }

    /// Bytes that encryption makes of `len` bytes; 0 for modes with a tag only.
    #[inline]
    pub fn encrypted_len(&self, len: usize) -> usize {
        match self.lengths {
            Lengths::WholeBlocks | Lengths::AnyLength | Lengths::FromOneBlock => len,
            Lengths::Padded => (len / 16 + 1) * 16,
            Lengths::Filled => len.div_ceil(16).max(1) * 16,
            Lengths::Untold => len.div_ceil(16) * 16,
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
    /// Plaintext to ciphertext and tag.
    Seal,
    /// Ciphertext and tag to plaintext or a verdict.
    Open,
}

impl Op {
    /// All operations.
    pub const ALL: [Op; 6] = [
        Op::Encrypt,
        Op::Decrypt,
        Op::Mac,
        Op::Verify,
        Op::Seal,
        Op::Open,
    ];

    /// `encrypt`, `decrypt`, `mac`, `verify`, `seal` or `open`.
    pub fn name(self) -> &'static str {
        match self {
            Op::Encrypt => "encrypt",
            Op::Decrypt => "decrypt",
            Op::Mac => "mac",
            Op::Verify => "verify",
            Op::Seal => "seal",
            Op::Open => "open",
        }
    }
}

impl Kind {
    /// The operations of a mode of this kind: the one that makes a result, and the
    /// one that takes it back or checks it.
    pub const fn ops(self) -> [Op; 2] {
        match self {
            Kind::Cipher => [Op::Encrypt, Op::Decrypt],
            Kind::Mac => [Op::Mac, Op::Verify],
            Kind::Aead => [Op::Seal, Op::Open],
        }
    }

    pub(crate) const fn has(self, op: Op) -> bool {
        let [a, b] = self.ops();
        a as u8 == op as u8 || b as u8 == op as u8
    }
}

/// Key lengths of AES in bytes (FIPS 197).
pub const KEY_BYTES: &[usize] = &[16, 24, 32];
/// Those of modes with two keys.
pub(crate) const TWO_KEYS: &[usize] = &[32, 48, 64];
/// Tags of 4 to 16 bytes.
pub(crate) const TAGS_FROM_4: &[usize] = &[4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16];

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
    /// Bits of an AES key: 128, 192 or 256. A mode with two keys takes twice as
    /// many.
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

    pub(crate) fn check_key(self, raw: &[u8]) -> Result<(), Error> {
        let (bytes, allowed) = (raw.len(), self.info().key_bytes);
        if !allowed.contains(&bytes) {
            return Err(Error::new(Field::KeyLength, bytes, Allowed::OneOf(allowed)));
        }
        let (first, second) = raw.split_at(bytes / 2);
        if self.keys_differ() && bool::from(first.ct_eq(second)) {
            return Err(Error::new(Field::KeyHalves, bytes / 2, Allowed::Nothing));
        }
        Ok(())
    }
}
