//! TLS records as messages of a batch: for who takes the keys out of rustls and seals or opens
//! the records of many connections, or many of one, in a call of [`aescomb::Comb`].
//!
//! ```
//! use aescomb::{AnyKey, Comb};
//! use aescomb_rustls::record::{Frame, RecordKey};
//! use rustls::ConnectionTrafficSecrets::Aes128Gcm;
//! use rustls::{ContentType, crypto::cipher::AeadKey};
//!
//! # let suite = aescomb_rustls::kernel::TLS13_AES_128_CCM_SHA256;
//! # let secrets = |byte| Aes128Gcm { key: AeadKey::from([byte; 32]), iv: [byte; 12].into() };
//! // As `dangerous_into_kernel_connection` gives them, for each of two connections.
//! let keys = [
//!     RecordKey::extracted(suite, secrets(1))?,
//!     RecordKey::extracted(suite, secrets(2))?,
//! ];
//! let data = b"to both";
//!
//! // A record of each connection: framed, then sealed in one call.
//! let mut records = Vec::new();
//! let mut frames: Vec<Frame> = Vec::new();
//! for key in &keys {
//!     let mut record = vec![0; key.record_len(data.len())];
//!     record[key.prefix()..][..data.len()].copy_from_slice(data);
//!     frames.push(key.frame(0, ContentType::ApplicationData, &mut record));
//!     records.push(record);
//! }
//! let keys: Vec<&AnyKey> = keys.iter().map(RecordKey::key).collect();
//! let mut batch: Vec<_> = frames
//!     .iter()
//!     .zip(&mut records)
//!     .zip(0..)
//!     .map(|((frame, record), i)| frame.to_seal(record).key_index(i))
//!     .collect();
//! Comb::new().seal(&keys, &mut batch)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use crate::Aead;
use aescomb::{AnyKey, Message, Mode, OpenError, Text};
use core::fmt;
use core::ops::Range;
use rustls::crypto::cipher::NONCE_LEN;
use rustls::{
    AlertDescription, ConnectionTrafficSecrets, ContentType, ProtocolVersion, SupportedCipherSuite,
};

/// Bytes of a record's header: its type, a version and the length of what follows.
pub const HEADER: usize = 5;

/// The most data of a record in bytes (RFC 8446, section 5.1; RFC 5246, section 6.2.1).
pub const MAX_DATA: usize = 1 << 14;

/// Bytes of the nonce that a record of TLS 1.2 carries.
pub(crate) const EXPLICIT_NONCE: usize = 8;

/// What the header of each record says that has a version from TLS 1.2 on.
const VERSION: [u8; 2] = [3, 3];

/// The key of one direction of a connection, with what makes nonces.
#[derive(Debug)]
pub struct RecordKey {
    key: AnyKey,
    iv: Secret,
    tag_bytes: u8,
    /// TLS 1.3, or else 1.2.
    newer: bool,
    limit: u64,
}

/// Bytes that `Debug` does not show, first byte lowest, and zeros.
struct Secret(u128);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("..")
    }
}

/// Why there is no [`RecordKey`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum KeyError {
    /// A suite whose records this crate does not do.
    Suite(rustls::CipherSuite),
    /// Secrets of another kind than the suite's.
    Secrets(rustls::CipherSuite),
}

impl fmt::Display for KeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            KeyError::Suite(suite) => write!(
                f,
                "suite {suite:?}; allowed: those of AES-GCM and AES-CCM with ECDHE"
            ),
            KeyError::Secrets(suite) => {
                write!(
                    f,
                    "secrets that are not of suite {suite:?}; allowed: a key of its length"
                )
            }
        }
    }
}

impl std::error::Error for KeyError {}

impl RecordKey {
    pub(crate) fn new(
        aead: Aead,
        version: ProtocolVersion,
        raw: &[u8],
        iv: [u8; NONCE_LEN],
    ) -> Result<RecordKey, aescomb::Error> {
        let mut bytes = [0; 16];
        bytes[..NONCE_LEN].copy_from_slice(&iv);
        Ok(RecordKey {
            key: AnyKey::for_mode(aead.mode, raw)?,
            iv: Secret(u128::from_le_bytes(bytes)),
            tag_bytes: aead.tag_bytes as u8,
            newer: version == ProtocolVersion::TLSv1_3,
            limit: aead.confidentiality_limit(),
        })
    }

    /// Of secrets that were taken out of a connection with this suite: one of
    /// [`kernel::ALL_CIPHER_SUITES`](crate::kernel::ALL_CIPHER_SUITES), or one of AES-GCM of
    /// another provider.
    ///
    /// # Errors
    /// For other suites, and for secrets with a key of another length than the suite's.
    pub fn extracted(
        suite: SupportedCipherSuite,
        secrets: ConnectionTrafficSecrets,
    ) -> Result<RecordKey, KeyError> {
        let aead = Aead::of(suite.suite()).ok_or(KeyError::Suite(suite.suite()))?;
        let (raw, iv) = match &secrets {
            ConnectionTrafficSecrets::Aes128Gcm { key, iv } => (&key.as_ref()[..16], iv),
            ConnectionTrafficSecrets::Aes256Gcm { key, iv } => (key.as_ref(), iv),
            _ => return Err(KeyError::Secrets(suite.suite())),
        };
        let iv = iv.as_ref().try_into().ok();
        match iv.filter(|_| raw.len() == aead.key_bytes) {
            Some(iv) => RecordKey::new(aead, suite.version().version, raw, iv)
                .map_err(|_| KeyError::Secrets(suite.suite())),
            None => Err(KeyError::Secrets(suite.suite())),
        }
    }

    /// The key for calls of [`aescomb::Comb`].
    #[inline]
    pub fn key(&self) -> &AnyKey {
        &self.key
    }

    /// Its mode: one call is for keys of one mode.
    #[inline]
    pub fn mode(&self) -> Mode {
        self.key.mode()
    }

    /// Bytes of a tag.
    #[inline]
    pub fn tag_bytes(&self) -> usize {
        usize::from(self.tag_bytes)
    }

    /// Whether it is a key of TLS 1.3, or else of 1.2.
    #[inline]
    pub fn is_tls13(&self) -> bool {
        self.newer
    }

    /// How many records may be sealed under this key: after so many, another one is wanted,
    /// or the connection's end.
    #[inline]
    pub fn confidentiality_limit(&self) -> u64 {
        self.limit
    }

    /// The nonce of record `seq`, and zeros.
    #[inline]
    fn nonce_block(&self, seq: u64) -> u128 {
        self.iv.0 ^ u128::from(seq.swap_bytes()) << 32
    }

    /// The nonce of a record of TLS 1.2 that carries this part of it, and zeros.
    #[inline]
    fn explicit_block(&self, explicit: [u8; EXPLICIT_NONCE]) -> u128 {
        self.iv.0 & 0xffff_ffff | u128::from(u64::from_le_bytes(explicit)) << 32
    }

    /// The nonce of record `seq`.
    #[inline]
    pub(crate) fn nonce(&self, seq: u64) -> [u8; NONCE_LEN] {
        first(self.nonce_block(seq))
    }

    /// The nonce of a record of TLS 1.2 that carries this part of it.
    #[inline]
    pub(crate) fn explicit(&self, explicit: [u8; EXPLICIT_NONCE]) -> [u8; NONCE_LEN] {
        first(self.explicit_block(explicit))
    }

    /// Bytes of a record in front of its data: the header, in TLS 1.2 with a part of the nonce.
    #[inline]
    pub fn prefix(&self) -> usize {
        match self.newer {
            true => HEADER,
            false => HEADER + EXPLICIT_NONCE,
        }
    }

    /// Bytes of a record with `data` bytes of data, header and tag included.
    #[inline]
    pub fn record_len(&self, data: usize) -> usize {
        self.prefix() + data + usize::from(self.newer) + self.tag_bytes()
    }

    /// The most bytes that a record of the peer may have, header included.
    #[inline]
    pub fn max_record_len(&self) -> usize {
        HEADER
            + MAX_DATA
            + match self.newer {
                true => 256,
                false => 2048,
            }
    }

    /// Writes all of record `seq` but its data, which has been put after the [prefix], and its
    /// tag. A sequence number must not be given twice under a key.
    ///
    /// # Panics
    /// If `record` has not the [length](RecordKey::record_len) of a record with 0 to
    /// [`MAX_DATA`] bytes of data.
    ///
    /// [prefix]: RecordKey::prefix
    #[inline]
    pub fn frame(&self, seq: u64, content: ContentType, record: &mut [u8]) -> Frame {
        let around = self.record_len(0);
        let data = record.len().checked_sub(around);
        let data = data.filter(|data| *data <= MAX_DATA);
        let data = data.expect("a record with 0 to 16384 bytes of data");
        let nonce = self.nonce_block(seq);
        let [high, low] = ((record.len() - HEADER) as u16).to_be_bytes();
        let outer = match self.newer {
            true => ContentType::ApplicationData,
            false => content,
        };
        let header = [outer.into(), VERSION[0], VERSION[1], high, low];
        record[..HEADER].copy_from_slice(&header);
        if self.newer {
            record[HEADER + data] = content.into();
        } else {
            let explicit = (nonce >> 32) as u64;
            record[HEADER..HEADER + EXPLICIT_NONCE].copy_from_slice(&explicit.to_le_bytes());
        }
        self.framed(seq, nonce, header, data)
    }

    /// A whole record of the peer, with its header, as number `seq`.
    ///
    /// # Errors
    /// The alert that is due if the record is too long or too short, or has a type that
    /// protected records do not have.
    #[inline]
    pub fn inbound(&self, seq: u64, record: &[u8]) -> Result<Frame, AlertDescription> {
        if record.len() > self.max_record_len() {
            return Err(AlertDescription::RecordOverflow);
        }
        let content = ContentType::from(record.first().copied().unwrap_or(0));
        let expected = match self.newer {
            true => content == ContentType::ApplicationData,
            false => matches!(
                content,
                ContentType::ApplicationData | ContentType::Alert | ContentType::Handshake
            ),
        };
        if !expected {
            return Err(AlertDescription::UnexpectedMessage);
        }
        if record.len() < self.prefix() + self.tag_bytes() {
            return Err(AlertDescription::BadRecordMac);
        }
        let [content, a, b, high, low, ref rest @ ..] = *record else {
            unreachable!("it has a prefix");
        };
        let nonce = match rest.first_chunk() {
            Some(explicit) if !self.newer => self.explicit_block(*explicit),
            _ => self.nonce_block(seq),
        };
        let data = record.len().saturating_sub(self.record_len(0));
        Ok(self.framed(seq, nonce, [content, a, b, high, low], data))
    }

    /// A record with this header. Nothing is read that was written just now in other pieces, from
    /// the record or from an array: that would wait for all stores before it, and those to
    /// connections and buffers come from far away. So all of it is made as numbers.
    #[inline(always)]
    fn framed(&self, seq: u64, nonce: u128, header: [u8; HEADER], data: usize) -> Frame {
        let [content, a, b, high, low] = header;
        let (data, data_len) = match self.newer {
            // RFC 8446, section 5.2: the header.
            true => (
                u128::from(u64::from_le_bytes([content, a, b, high, low, 0, 0, 0])),
                HEADER,
            ),
            // RFC 5246, section 6.2.3.3: the number, type and version, the data's length.
            false => {
                let [high, low] = (data as u16).to_be_bytes();
                let after = u64::from_le_bytes([content, a, b, high, low, 0, 0, 0]);
                (
                    u128::from(seq.swap_bytes()) | u128::from(after) << 64,
                    8 + HEADER,
                )
            }
        };
        Frame {
            nonce: nonce.to_le_bytes(),
            data: data.to_le_bytes(),
            data_len: data_len as u8,
            prefix: self.prefix() as u8,
            tag_bytes: self.tag_bytes,
        }
    }
}

/// The nonce without the zeros.
#[inline]
fn first(block: u128) -> [u8; NONCE_LEN] {
    let mut nonce = [0; NONCE_LEN];
    nonce.copy_from_slice(&block.to_le_bytes()[..NONCE_LEN]);
    nonce
}

/// What a record's [`Message`] is made of beside the record.
#[derive(Clone, Copy)]
pub struct Frame {
    /// The nonce, and zeros.
    nonce: [u8; 16],
    /// Associated data, and zeros.
    data: [u8; 16],
    data_len: u8,
    prefix: u8,
    tag_bytes: u8,
}

impl fmt::Debug for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Frame").finish_non_exhaustive()
    }
}

impl Frame {
    /// The same record as [`RecordKey::frame`] was given, to be sealed in place.
    #[inline]
    pub fn to_seal<'a>(&'a self, record: &'a mut [u8]) -> Message<'a> {
        let text = &mut record[usize::from(self.prefix)..];
        let len = text.len() - usize::from(self.tag_bytes);
        self.message(Text::in_place_with_room(text, len))
    }

    /// The same record as [`RecordKey::inbound`] was given, to be opened in place.
    #[inline]
    pub fn to_open<'a>(&'a self, record: &'a mut [u8]) -> Message<'a> {
        self.message(Text::in_place(&mut record[usize::from(self.prefix)..]))
    }

    #[inline]
    fn message<'a>(&'a self, text: Text<'a>) -> Message<'a> {
        Message::new(text)
            .nonce(self.nonce())
            .associated_data(self.data())
            .tag_attached(usize::from(self.tag_bytes))
    }

    #[inline]
    fn nonce(&self) -> &[u8] {
        &self.nonce[..NONCE_LEN]
    }

    #[inline]
    fn data(&self) -> &[u8] {
        &self.data[..usize::from(self.data_len)]
    }

    /// Seals the record by itself.
    ///
    /// # Errors
    /// Those of [`AnyKey::seal_in_place`].
    pub fn seal(&self, key: &AnyKey, record: &mut [u8]) -> Result<(), aescomb::Error> {
        let (text, tag) = self.parts(record);
        key.seal_in_place(self.nonce(), self.data(), text, tag)
    }

    /// Opens the record by itself.
    ///
    /// # Errors
    /// Those of [`AnyKey::open_in_place`].
    pub fn open(&self, key: &AnyKey, record: &mut [u8]) -> Result<(), OpenError> {
        let (text, tag) = self.parts(record);
        key.open_in_place(self.nonce(), self.data(), text, tag)
            .map(|_| ())
    }

    fn parts<'a>(&self, record: &'a mut [u8]) -> (&'a mut [u8], &'a mut [u8]) {
        let text = &mut record[usize::from(self.prefix)..];
        text.split_at_mut(text.len() - usize::from(self.tag_bytes))
    }

    /// What a record that was opened contains, and where.
    ///
    /// # Errors
    /// The alert that is due if there is too much of it, or none and no type.
    #[inline]
    pub fn contents(&self, record: &[u8]) -> Result<(ContentType, Range<usize>), AlertDescription> {
        let start = usize::from(self.prefix);
        let end = record.len() - usize::from(self.tag_bytes);
        if start > HEADER {
            return match end - start > MAX_DATA {
                true => Err(AlertDescription::RecordOverflow),
                false => Ok((record[0].into(), start..end)),
            };
        }
        if end - start > MAX_DATA + 1 {
            return Err(AlertDescription::RecordOverflow);
        }
        // The type is before the padding, which is zeros.
        match record[start..end].iter().rposition(|byte| *byte != 0) {
            Some(at) => Ok((record[start + at].into(), start..start + at)),
            None => Err(AlertDescription::UnexpectedMessage),
        }
    }
}
