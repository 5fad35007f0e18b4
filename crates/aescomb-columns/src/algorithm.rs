//! What keys are for.

use crate::error::Error;
use crate::keyset::Prefix;
use aescomb::{Algorithm, AnyKey, Mode};
use std::fmt;
use std::str::FromStr;

/// What a key is for: an AES mode and a length, or the derivation of keys.
///
/// | name | key | Tink's type |
/// |---|---|---|
/// | `aes-128-gcm`, `aes-256-gcm` | 16, 32 bytes | `AesGcmKey` |
/// | `aes-128-gcm-siv`, `aes-256-gcm-siv` | 16, 32 bytes | `AesGcmSivKey` |
/// | `aes-256-siv` | 64 bytes | `AesSivKey` |
/// | `aes-256-cmac-prf` | 32 bytes | `AesCmacPrfKey` |
/// | `aes-192-gcm`; `aes-BITS-` and `cbc-pkcs7`, `ctr`, `ofb`, `ecb-pkcs7`, `ff1` | 16, 24, 32 bytes | none: `aescomb/AesKey` |
///
/// Tink keeps keys of a type that is not its own, and cannot use them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyType(pub(crate) Of);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Of {
    /// Values.
    Values(Algorithm),
    /// Tokens, by FF1, with so many bits.
    Tokens(usize),
    /// The keys of files, by SP 800-108 in counter mode with CMAC.
    Derivation,
}

/// FF1's name, where others have that of a mode.
pub(crate) const FF1: &str = "ff1";

const NAMES: &str = "aes-128-gcm, aes-256-gcm, aes-128-gcm-siv, aes-256-gcm-siv, aes-256-siv, \
     aes-256-cmac-prf, aes-192-gcm, or aes-BITS- and cbc-pkcs7, ctr, ofb, ecb-pkcs7 or ff1, \
     with BITS 128, 192 or 256";

impl KeyType {
    /// For the keys of files.
    pub(crate) const DERIVATION: KeyType = KeyType(Of::Derivation);

    /// The type of keys of a mode with so many bytes, if there is one.
    pub(crate) fn of(mode: Mode, bytes: usize) -> Option<KeyType> {
        let halves = if mode.info().two_keys { 2 } else { 1 };
        let key_bits = 8 * bytes / halves;
        let taken = match mode {
            Mode::Gcm | Mode::CbcPkcs7 | Mode::EcbPkcs7 | Mode::Ctr | Mode::Ofb => {
                mode.info().key_bytes.contains(&bytes)
            }
            Mode::GcmSiv => [16, 32].contains(&bytes),
            Mode::Siv => bytes == 64,
            _ => false,
        };
        taken.then_some(KeyType(Of::Values(Algorithm { mode, key_bits })))
    }

    /// The type of keys of FF1 with so many bytes, if there is one.
    pub(crate) fn of_tokens(bytes: usize) -> Option<KeyType> {
        let taken = [16, 24, 32].contains(&bytes);
        taken.then_some(KeyType(Of::Tokens(8 * bytes)))
    }

    /// Its name.
    pub fn name(self) -> String {
        match self.0 {
            Of::Values(algorithm) => algorithm.to_string(),
            Of::Tokens(key_bits) => format!("aes-{key_bits}-{FF1}"),
            Of::Derivation => "aes-256-cmac-prf".to_owned(),
        }
    }

    /// Bytes of such a key.
    pub fn key_bytes(self) -> usize {
        match self.0 {
            Of::Values(Algorithm { mode, key_bits }) if mode.info().two_keys => key_bits / 4,
            Of::Values(Algorithm { key_bits, .. }) | Of::Tokens(key_bits) => key_bits / 8,
            Of::Derivation => 32,
        }
    }

    /// The mode that the key itself is used in.
    pub(crate) fn mode(self) -> Mode {
        match self.0 {
            Of::Values(algorithm) => algorithm.mode,
            Of::Tokens(_) => Mode::Ecb,
            Of::Derivation => Mode::Cmac,
        }
    }

    /// Whether Tink has it as an AEAD.
    pub(crate) fn is_aead(self) -> bool {
        self.mode() == Mode::Gcm
    }

    /// What Tink's templates have.
    pub(crate) fn usual_prefix(self) -> Prefix {
        match self.0 {
            Of::Values(Algorithm { mode, key_bits })
                if matches!(mode, Mode::Gcm | Mode::GcmSiv | Mode::Siv) && key_bits != 192 =>
            {
                Prefix::Tink
            }
            _ => Prefix::Raw,
        }
    }

    /// What is wrong with a key of this type, if anything.
    pub(crate) fn check(self, secret: &[u8]) -> Result<(), String> {
        let (given, allowed) = (secret.len(), self.key_bytes());
        if given != allowed {
            let name = self.name();
            return Err(format!("{name} with {given} bytes; allowed: {allowed}"));
        }
        match AnyKey::for_mode(self.mode(), secret) {
            Ok(_) => Ok(()),
            Err(error) => Err(error.to_string()),
        }
    }
}

impl fmt::Display for KeyType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name())
    }
}

impl FromStr for KeyType {
    type Err = Error;

    fn from_str(name: &str) -> Result<KeyType, Error> {
        if name == KeyType::DERIVATION.name() {
            return Ok(KeyType::DERIVATION);
        }
        let mut token_keys = [16, 24, 32].into_iter().filter_map(KeyType::of_tokens);
        if let Some(found) = token_keys.find(|of| of.name() == name) {
            return Ok(found);
        }
        let found = name.parse().ok().and_then(|Algorithm { mode, key_bits }| {
            let halves = if mode.info().two_keys { 2 } else { 1 };
            KeyType::of(mode, key_bits / 8 * halves)
        });
        found.ok_or_else(|| Error::spec("key type", format!("{name:?}"), NAMES))
    }
}

/// The key of so many bits that MySQL and ClickHouse's `aes_encrypt_mysql` make of any other:
/// its bytes are folded into as many by exclusive or.
///
/// # Errors
///
/// Other bits than 128, 192 and 256.
///
/// ```
/// let key = aescomb_columns::mysql_key(128, b"a password of some length")?;
/// assert_eq!(key.len(), 16);
/// assert_eq!(key[0], b'a' ^ b'm');
/// assert!(aescomb_columns::mysql_key(0, b"x").is_err());
/// # Ok::<(), aescomb_columns::Error>(())
/// ```
pub fn mysql_key(bits: usize, given: &[u8]) -> Result<zeroize::Zeroizing<Vec<u8>>, Error> {
    if ![128, 192, 256].contains(&bits) {
        return Err(Error::spec("bits", bits, "128, 192 or 256"));
    }
    let mut key = zeroize::Zeroizing::new(vec![0; bits / 8]);
    for (i, byte) in given.iter().enumerate() {
        key[i % (bits / 8)] ^= byte;
    }
    Ok(key)
}
