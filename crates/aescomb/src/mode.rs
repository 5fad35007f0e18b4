//! The modes, by name, and what is known of one without running it: sizes, costs, limits.

use core::fmt;

/// Calls a macro with the modes: a line for each, with what it is called and what it is for.
macro_rules! modes {
    ($then:ident) => {
        $then! {
            /// Electronic codebook.
            Ecb "ecb": Cipher;
            /// Electronic codebook with PKCS#7 padding.
            EcbPkcs7 "ecb-pkcs7": Cipher;
            /// Cipher block chaining.
            Cbc "cbc": Cipher;
            /// Cipher block chaining with PKCS#7 padding.
            CbcPkcs7 "cbc-pkcs7": Cipher;
            /// Cipher feedback with 128-bit segments.
            Cfb128 "cfb128": Cipher;
            /// Output feedback.
            Ofb "ofb": Cipher;
            /// Counter mode with a 128-bit big-endian counter.
            Ctr "ctr": Cipher;
            /// Counter mode with the 32-bit big-endian counter of GCM.
            Ctr32 "ctr32": Cipher;
            /// XEX-based tweaked codebook with ciphertext stealing.
            Xts "xts": Cipher;
            /// Cipher-based message authentication code.
            Cmac "cmac": Mac;
            /// Parallelizable message authentication code (PMAC1).
            Pmac "pmac": Mac;
            /// Galois message authentication code.
            Gmac "gmac": Mac;
            /// Counter with CBC-MAC.
            Ccm "ccm": Aead;
            /// Galois/counter mode.
            Gcm "gcm": Aead;
            /// Offset codebook (OCB3).
            Ocb "ocb": Aead;
            /// Counter mode with three OMACs.
            Eax "eax": Aead;
            /// Synthetic initialisation vector, deterministic.
            Siv "siv": Aead;
            /// Nonce misuse-resistant GCM.
            GcmSiv "gcm-siv": Aead;
            /// CLOC v3 with a nonce of 12 bytes and a tag of 8, for research.
            #[cfg(feature = "research")]
            Cloc "cloc": Aead;
            /// SILC v3 with a nonce of 12 bytes and a tag of 8, for research.
            #[cfg(feature = "research")]
            Silc "silc": Aead;
            /// AES-JAMBU v2, for research.
            #[cfg(feature = "research")]
            Jambu "jambu": Aead;
            /// POET v2 with AES-128 as its hash function, for research.
            #[cfg(feature = "research")]
            Poet "poet": Aead;
            /// McOE-G, completed where its paper could not be had, for research.
            #[cfg(feature = "research")]
            McoeG "mcoe-g": Aead;
            /// AES-OTR v3 with parallel associated data. For research.
            #[cfg(feature = "research")]
            Otr "otr": Aead;
            /// AES-COPA v2. For research.
            #[cfg(feature = "research")]
            Copa "copa": Aead;
            /// PMAC+CTR, completed by us. For research.
            #[cfg(feature = "research")]
            PmacCtr "pmac-ctr": Aead;
            /// COBRA, completed by us. For research.
            #[cfg(feature = "research")]
            Cobra "cobra": Aead;
            /// Regular Julius-ECB. For research.
            #[cfg(feature = "research")]
            Julius "julius": Aead;
            /// AES-CPFB v1: counter and plaintext feedback, for research.
            #[cfg(feature = "research")]
            Cpfb "cpfb": Aead;
            /// Silver v1, for research.
            #[cfg(feature = "research")]
            Silver "silver": Aead;
        }
    };
}
pub(crate) use modes;

macro_rules! enumerate {
    ($($(#[doc = $doc:literal])* $(#[cfg($cfg:meta)])? $mode:ident $name:literal: $kind:ident;)*) => {
        /// The modes of operation.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Mode {
            $($(#[doc = $doc])* $(#[cfg($cfg)])? $mode,)*
        }

        impl Mode {
            /// All modes.
            pub const ALL: &'static [Mode] = &[$($(#[cfg($cfg)])? Mode::$mode),*];

            /// Short name, for example `cbc`.
            pub const fn name(self) -> &'static str {
                match self {
                    $($(#[cfg($cfg)])? Mode::$mode => $name,)*
                }
            }

            pub(crate) const fn kind(self) -> Kind {
                match self {
                    $($(#[cfg($cfg)])? Mode::$mode => Kind::$kind,)*
                }
            }
        }
    };
}
modes!(enumerate);

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
    /// Whether results are chained: see [`Backend::preferred`](crate::Backend::preferred). When
    /// encrypting and when decrypting.
    pub(crate) chained: [bool; 2],
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

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
