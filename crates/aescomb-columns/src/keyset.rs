//! Keysets: keys with identifiers, of which one is the primary.

use crate::algorithm::KeyType;
use crate::error::Error;
use crate::tink::{self, EncryptedKeyset, KeyData, OutputPrefix, Status as ProtoStatus};
use crate::values::{self, with_comb};
use aescomb::{AnyKey, Message, Mode, OpenError, Text};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use zeroize::Zeroizing;

/// Whether a key may be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// It may.
    Enabled,
    /// It may not, until it is enabled again.
    Disabled,
}

/// What the values of a key begin with, in the format `tink`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prefix {
    /// 0x01 and the identifier, 4 bytes, the highest first.
    Tink,
    /// 0x00 and the identifier, 4 bytes, the highest first.
    Crunchy,
    /// Nothing.
    Raw,
}

impl Prefix {
    /// The bytes for the key of this identifier.
    pub(crate) fn bytes(self, id: u32) -> Vec<u8> {
        let first = match self {
            Prefix::Tink => 1,
            Prefix::Crunchy => 0,
            Prefix::Raw => return Vec::new(),
        };
        let mut bytes = vec![first];
        bytes.extend(id.to_be_bytes());
        bytes
    }
}

/// A key of a keyset.
#[derive(Clone)]
pub struct Entry {
    id: u32,
    status: Status,
    prefix: Prefix,
    of: KeyType,
    secret: Arc<Zeroizing<Vec<u8>>>,
    /// Values that it has encrypted under random nonces.
    used: Arc<AtomicU64>,
}

/// Without the key itself.
impl fmt::Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entry")
            .field("id", &self.id)
            .field("status", &self.status)
            .field("type", &self.of.name())
            .finish_non_exhaustive()
    }
}

impl Entry {
    /// Its identifier.
    pub fn id(&self) -> u32 {
        self.id
    }

    /// Whether it may be used.
    pub fn status(&self) -> Status {
        self.status
    }

    /// What its values begin with.
    pub fn prefix(&self) -> Prefix {
        self.prefix
    }

    /// What it is for.
    pub fn key_type(&self) -> KeyType {
        self.of
    }

    pub(crate) fn secret(&self) -> &[u8] {
        &self.secret
    }

    pub(crate) fn used(&self) -> &Arc<AtomicU64> {
        &self.used
    }

    pub(crate) fn expand(&self, mode: Mode) -> Result<AnyKey, Error> {
        AnyKey::for_mode(mode, &self.secret).map_err(|error| Error::key(self.id, error))
    }
}

/// Keys with identifiers, of which one is the primary: new values are encrypted under that one,
/// and old ones decrypted under the one that they name.
///
/// In files it is JSON that Tink reads and writes, plain or wrapped by a [`KeyService`]. Clones
/// share the counts of values.
///
/// ```
/// use aescomb_columns::Keyset;
///
/// let mut keys = Keyset::new();
/// let old = keys.generate("aes-256-siv".parse()?)?; // the first is the primary
/// let new = keys.generate("aes-256-siv".parse()?)?;
/// keys.set_primary(new)?;
///
/// let service = {
///     let mut wrapping = Keyset::new();
///     wrapping.generate("aes-256-gcm".parse()?)?;
///     wrapping
/// };
/// let json = keys.to_wrapped_json(&service, b"")?;
/// let again = Keyset::from_wrapped_json(&json, &service, b"")?;
/// assert_eq!(again.primary()?.id(), new);
/// assert!(again.get(old).is_some());
/// # Ok::<(), aescomb_columns::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Keyset {
    keys: Vec<Entry>,
    primary: Option<u32>,
}

/// What wraps keysets: a key management service, or a [`Keyset`] with a key for AES-GCM.
pub trait KeyService {
    /// Encrypts and authenticates `plaintext`, and authenticates `associated_data`.
    ///
    /// # Errors
    ///
    /// What keeps it from that.
    fn wrap(&self, plaintext: &[u8], associated_data: &[u8]) -> Result<Vec<u8>, Error>;

    /// What [`KeyService::wrap`] was given.
    ///
    /// # Errors
    ///
    /// If `wrapped` does not come from there, or another `associated_data` was given.
    fn unwrap(&self, wrapped: &[u8], associated_data: &[u8]) -> Result<Zeroizing<Vec<u8>>, Error>;
}

impl Keyset {
    /// No keys.
    pub fn new() -> Keyset {
        Keyset::default()
    }

    /// All keys.
    pub fn keys(&self) -> &[Entry] {
        &self.keys
    }

    /// The key of this identifier.
    pub fn get(&self, id: u32) -> Option<&Entry> {
        self.keys.iter().find(|key| key.id == id)
    }

    fn get_mut(&mut self, id: u32) -> Result<&mut Entry, Error> {
        let found = self.keys.iter_mut().find(|key| key.id == id);
        found.ok_or_else(|| Error::key(id, "no such key in the keyset"))
    }

    /// The key that new values are encrypted under.
    ///
    /// # Errors
    ///
    /// If there is none.
    pub fn primary(&self) -> Result<&Entry, Error> {
        let key = self.primary.and_then(|id| self.get(id));
        key.ok_or_else(|| Error::key(None, "no primary key"))
    }

    /// Adds a new random key: its identifier. The first is the primary.
    ///
    /// # Errors
    ///
    /// Where the operating system gives no random numbers.
    pub fn generate(&mut self, of: KeyType) -> Result<u32, Error> {
        self.put(of, None, None)
    }

    /// Adds a key that is given: its new identifier. The first is the primary.
    ///
    /// # Errors
    ///
    /// A key of another length, or, for two AES keys, of two equal halves.
    pub fn import(&mut self, of: KeyType, secret: &[u8], prefix: Prefix) -> Result<u32, Error> {
        self.put(of, Some(secret), Some(prefix))
    }

    /// Adds a key that is given, or a new random one, with a prefix that is given, or the one that
    /// Tink's templates have: its new identifier. The first is the primary.
    ///
    /// # Errors
    ///
    /// As [`Keyset::generate`] and [`Keyset::import`].
    pub fn put(
        &mut self,
        of: KeyType,
        secret: Option<&[u8]>,
        prefix: Option<Prefix>,
    ) -> Result<u32, Error> {
        let secret = match secret {
            Some(secret) => secret.to_vec().into(),
            None => values::nonces(1, of.key_bytes())?.into(),
        };
        self.add(of, secret, prefix.unwrap_or(of.usual_prefix()))
    }

    fn add(
        &mut self,
        of: KeyType,
        secret: Zeroizing<Vec<u8>>,
        prefix: Prefix,
    ) -> Result<u32, Error> {
        of.check(&secret).map_err(|what| Error::key(None, what))?;
        let id = loop {
            let bytes = values::nonces(1, 4)?;
            let id = bytes.iter().fold(0, |id, byte| id << 8 | u32::from(*byte));
            // Tink takes no identifier of 0.
            if id != 0 && self.get(id).is_none() {
                break id;
            }
        };
        self.keys.push(Entry {
            id,
            status: Status::Enabled,
            prefix,
            of,
            secret: Arc::new(secret),
            used: Arc::default(),
        });
        self.primary.get_or_insert(id);
        Ok(id)
    }

    /// Makes a key the primary.
    ///
    /// # Errors
    ///
    /// For a key that is not there or not enabled.
    pub fn set_primary(&mut self, id: u32) -> Result<(), Error> {
        if self.get_mut(id)?.status != Status::Enabled {
            return Err(Error::key(
                id,
                "a key that is not enabled cannot be the primary",
            ));
        }
        self.primary = Some(id);
        Ok(())
    }

    /// Enables or disables a key.
    ///
    /// # Errors
    ///
    /// For a key that is not there, and if the primary would be disabled.
    pub fn set_status(&mut self, id: u32, status: Status) -> Result<(), Error> {
        if status != Status::Enabled && self.primary == Some(id) {
            return Err(Error::key(id, "the primary key cannot be disabled"));
        }
        self.get_mut(id)?.status = status;
        Ok(())
    }

    /// Removes a key: what it has encrypted cannot be decrypted any more.
    ///
    /// # Errors
    ///
    /// For a key that is not there, and for the primary.
    pub fn remove(&mut self, id: u32) -> Result<(), Error> {
        self.get_mut(id)?;
        if self.primary == Some(id) {
            return Err(Error::key(id, "the primary key cannot be removed"));
        }
        self.keys.retain(|key| key.id != id);
        Ok(())
    }

    /// Tink's JSON of a keyset that is not wrapped: whoever reads it has the keys.
    ///
    /// # Errors
    ///
    /// Without a primary key.
    pub fn to_json(&self) -> Result<Zeroizing<String>, Error> {
        tink::to_json(&self.to_proto()?)
    }

    /// From Tink's JSON of a keyset that is not wrapped.
    ///
    /// # Errors
    ///
    /// What is no such JSON, and keys that this library has no use for.
    pub fn from_json(json: &str) -> Result<Keyset, Error> {
        Keyset::from_proto(tink::from_json(json)?)
    }

    /// Tink's JSON of a keyset that a service has wrapped.
    ///
    /// # Errors
    ///
    /// Without a primary key, and what the service refuses.
    pub fn to_wrapped_json(
        &self,
        service: &(impl KeyService + ?Sized),
        associated_data: &[u8],
    ) -> Result<String, Error> {
        let keyset = self.to_proto()?;
        let plain = Zeroizing::new(prost::Message::encode_to_vec(&keyset));
        let wrapped = service.wrap(&plain, associated_data)?;
        EncryptedKeyset::new(wrapped, &keyset).to_json()
    }

    /// From Tink's JSON of a keyset that a service has wrapped.
    ///
    /// # Errors
    ///
    /// What is no such JSON, what the service refuses, and keys that this library has no use
    /// for.
    pub fn from_wrapped_json(
        json: &str,
        service: &(impl KeyService + ?Sized),
        associated_data: &[u8],
    ) -> Result<Keyset, Error> {
        let wrapped = EncryptedKeyset::wrapped(json)?;
        let plain = service.unwrap(&wrapped, associated_data)?;
        Keyset::from_proto(tink::decode(&plain)?)
    }

    /// Whether this is JSON that says of itself to be a keyset that a service has wrapped.
    pub fn is_wrapped(json: &str) -> bool {
        EncryptedKeyset::is_there(json)
    }

    fn to_proto(&self) -> Result<tink::Keyset, Error> {
        let key = |key: &Entry| tink::Key {
            key_data: Some(KeyData::new(key.of, key.secret())),
            status: match key.status {
                Status::Enabled => ProtoStatus::Enabled,
                Status::Disabled => ProtoStatus::Disabled,
            }
            .into(),
            key_id: key.id,
            output_prefix_type: match key.prefix {
                Prefix::Tink => OutputPrefix::Tink,
                Prefix::Crunchy => OutputPrefix::Crunchy,
                Prefix::Raw => OutputPrefix::Raw,
            }
            .into(),
        };
        Ok(tink::Keyset {
            primary_key_id: self.primary()?.id,
            key: self.keys.iter().map(key).collect(),
        })
    }

    fn from_proto(given: tink::Keyset) -> Result<Keyset, Error> {
        let mut keyset = Keyset::new();
        for key in &given.key {
            let (id, wrong) = (key.key_id, |what: &str| Error::key(key.key_id, what));
            let status = match key.status() {
                ProtoStatus::Enabled => Status::Enabled,
                ProtoStatus::Disabled => Status::Disabled,
                // Nothing is left of it.
                ProtoStatus::Destroyed => continue,
                ProtoStatus::Unknown => return Err(wrong("unknown status")),
            };
            let prefix = match key.output_prefix_type() {
                OutputPrefix::Tink => Prefix::Tink,
                // The same for these types of keys.
                OutputPrefix::Crunchy | OutputPrefix::Legacy => Prefix::Crunchy,
                OutputPrefix::Raw => Prefix::Raw,
                OutputPrefix::Unknown => return Err(wrong("unknown output prefix type")),
            };
            let Some(data) = &key.key_data else {
                return Err(wrong("no key data"));
            };
            let (of, secret) = data.open().map_err(|what| Error::key(id, what))?;
            if keyset.get(id).is_some() {
                return Err(wrong("the identifier of two keys"));
            }
            of.check(&secret).map_err(|what| Error::key(id, what))?;
            keyset.keys.push(Entry {
                id,
                status,
                prefix,
                of,
                secret: Arc::new(secret),
                used: Arc::default(),
            });
        }
        keyset.set_primary(given.primary_key_id)?;
        Ok(keyset)
    }
}

/// Bytes of the nonces and tags of AES-GCM here.
const NONCE: usize = 12;
const TAG: usize = 16;

/// As Tink's AEAD with this keyset: the primary key must be for AES-GCM.
impl KeyService for Keyset {
    fn wrap(&self, plaintext: &[u8], associated_data: &[u8]) -> Result<Vec<u8>, Error> {
        let key = self.primary()?;
        if !key.of.is_aead() {
            let what = format!("a key for {} wraps no keyset", key.of.name());
            return Err(Error::key(key.id, what));
        }
        let nonce = values::nonces(1, NONCE)?;
        let mut sealed = key.prefix.bytes(key.id);
        sealed.extend(&nonce);
        let start = sealed.len();
        sealed.resize(start + plaintext.len() + TAG, 0);
        let text = Text::copy(plaintext, &mut sealed[start..]);
        let mut batch = [Message::new(text)
            .nonce(&nonce)
            .associated_data(associated_data)
            .tag_attached(TAG)];
        let sealing = key.expand(key.of.mode())?;
        with_comb(|comb| comb.seal(&sealing, &mut batch))
            .map_err(|error| Error::key(key.id, error))?;
        Ok(sealed)
    }

    fn unwrap(&self, wrapped: &[u8], associated_data: &[u8]) -> Result<Zeroizing<Vec<u8>>, Error> {
        for key in &self.keys {
            let able = key.status == Status::Enabled && key.of.is_aead();
            let rest = wrapped.strip_prefix(&key.prefix.bytes(key.id)[..]);
            let Some((nonce, sealed)) = rest.and_then(|rest| rest.split_at_checked(NONCE)) else {
                continue;
            };
            if !able || sealed.len() < TAG {
                continue;
            }
            let mut opened = Zeroizing::new(vec![0; sealed.len() - TAG]);
            let mut batch = [Message::new(Text::copy(sealed, &mut opened))
                .nonce(nonce)
                .associated_data(associated_data)
                .tag_attached(TAG)];
            let opening = key.expand(key.of.mode())?;
            match with_comb(|comb| comb.open(&opening, &mut batch)) {
                Ok(()) => return Ok(opened),
                Err(OpenError::Failed(_)) => {}
                Err(OpenError::Refused(error)) => return Err(Error::key(key.id, error)),
            }
        }
        let what = "no key of the wrapping keyset opens it, or it was changed";
        Err(Error::key(None, what))
    }
}

/// Counts values that are encrypted under random nonces, up to a limit.
#[derive(Clone, Debug)]
pub(crate) struct Count {
    pub(crate) used: Arc<AtomicU64>,
    pub(crate) limit: u64,
}

impl Count {
    /// Whether so many more may be; then they are counted.
    pub(crate) fn take(&self, values: usize) -> bool {
        let more = |used: u64| {
            used.checked_add(values as u64)
                .filter(|sum| *sum <= self.limit)
        };
        let (set, get) = (Ordering::Relaxed, Ordering::Relaxed);
        self.used.fetch_update(set, get, more).is_ok()
    }
}
