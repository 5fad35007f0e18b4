//! Keysets in the formats of Tink: protocol buffers, and their JSON.

use crate::algorithm::{FF1, KeyType, Of};
use crate::error::Error;
use aescomb::Mode;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use prost::Message;
use serde_json::{Value, json};
use std::mem::take;
use zeroize::{Zeroize, Zeroizing};

const TINK: &str = "type.googleapis.com/google.crypto.tink.";
/// Keys of modes that Tink does not have, and of FF1.
const OWN: &str = "aescomb/AesKey";

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Keyset {
    #[prost(uint32, tag = "1")]
    pub(crate) primary_key_id: u32,
    #[prost(message, repeated, tag = "2")]
    pub(crate) key: Vec<Key>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Key {
    #[prost(message, optional, tag = "1")]
    pub(crate) key_data: Option<KeyData>,
    #[prost(enumeration = "Status", tag = "2")]
    pub(crate) status: i32,
    #[prost(uint32, tag = "3")]
    pub(crate) key_id: u32,
    #[prost(enumeration = "OutputPrefix", tag = "4")]
    pub(crate) output_prefix_type: i32,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct KeyData {
    #[prost(string, tag = "1")]
    type_url: String,
    /// A message of that type.
    #[prost(bytes = "vec", tag = "2")]
    value: Vec<u8>,
    #[prost(enumeration = "Material", tag = "3")]
    key_material_type: i32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, prost::Enumeration)]
pub(crate) enum Status {
    Unknown = 0,
    Enabled = 1,
    Disabled = 2,
    Destroyed = 3,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, prost::Enumeration)]
pub(crate) enum OutputPrefix {
    Unknown = 0,
    Tink = 1,
    Legacy = 2,
    Raw = 3,
    Crunchy = 4,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, prost::Enumeration)]
enum Material {
    Unknown = 0,
    Symmetric = 1,
    AsymmetricPrivate = 2,
    AsymmetricPublic = 3,
    Remote = 4,
}

/// `AesGcmKey` and `AesGcmSivKey`.
#[derive(Clone, PartialEq, Message)]
struct AesGcmKey {
    #[prost(uint32, tag = "1")]
    version: u32,
    #[prost(bytes = "vec", tag = "3")]
    key_value: Vec<u8>,
}

/// `AesSivKey`.
#[derive(Clone, PartialEq, Message)]
struct AesSivKey {
    #[prost(uint32, tag = "1")]
    version: u32,
    #[prost(bytes = "vec", tag = "2")]
    key_value: Vec<u8>,
}

#[derive(Clone, PartialEq, Message)]
struct AesCmacPrfKey {
    #[prost(uint32, tag = "1")]
    version: u32,
    #[prost(bytes = "vec", tag = "2")]
    key_value: Vec<u8>,
}

/// Of [`OWN`] type.
#[derive(Clone, PartialEq, Message)]
struct AesKey {
    #[prost(uint32, tag = "1")]
    version: u32,
    #[prost(string, tag = "2")]
    mode: String,
    #[prost(bytes = "vec", tag = "3")]
    key_value: Vec<u8>,
}

impl Drop for KeyData {
    fn drop(&mut self) {
        self.value.zeroize();
    }
}

/// Also what was decoded of a message that turns out to be wrong.
macro_rules! wiped {
    ($($message:ty),*) => {
        $(impl Drop for $message {
            fn drop(&mut self) {
                self.key_value.zeroize();
            }
        })*
    };
}
wiped!(AesGcmKey, AesSivKey, AesCmacPrfKey, AesKey);

impl KeyData {
    /// That of a key.
    pub(crate) fn new(of: KeyType, secret: &[u8]) -> KeyData {
        let (version, key_value) = (0, secret.to_vec());
        let own = |mode: &str, key_value| {
            let mode = mode.to_owned();
            let key = AesKey {
                version,
                mode,
                key_value,
            };
            (OWN.to_owned(), key.encode_to_vec())
        };
        let tink = |name: &str, value| (format!("{TINK}{name}"), value);
        let (type_url, value) = match of.0 {
            Of::Derivation => {
                let key = AesCmacPrfKey { version, key_value };
                tink("AesCmacPrfKey", key.encode_to_vec())
            }
            Of::Values(algorithm) => match algorithm.mode {
                Mode::Siv => {
                    let key = AesSivKey { version, key_value };
                    tink("AesSivKey", key.encode_to_vec())
                }
                // Tink refuses others.
                mode @ (Mode::Gcm | Mode::GcmSiv) if algorithm.key_bits != 192 => {
                    let name = match mode {
                        Mode::Gcm => "AesGcmKey",
                        _ => "AesGcmSivKey",
                    };
                    tink(name, AesGcmKey { version, key_value }.encode_to_vec())
                }
                mode => own(mode.name(), key_value),
            },
            Of::Tokens(_) => own(FF1, key_value),
        };
        KeyData {
            type_url,
            value,
            key_material_type: Material::Symmetric.into(),
        }
    }

    /// The key, or what is wrong with it.
    pub(crate) fn open(&self) -> Result<(KeyType, Zeroizing<Vec<u8>>), String> {
        let bytes = &self.value[..];
        let broken = |error: prost::DecodeError| format!("{}: {error}", self.type_url);
        let (version, of, key_value) = match self.type_url.strip_prefix(TINK) {
            Some(name @ ("AesGcmKey" | "AesGcmSivKey")) => {
                let mut key = AesGcmKey::decode(bytes).map_err(broken)?;
                let mode = match name {
                    "AesGcmKey" => Mode::Gcm,
                    _ => Mode::GcmSiv,
                };
                let of = KeyType::of(mode, key.key_value.len());
                (key.version, of, take(&mut key.key_value))
            }
            Some("AesSivKey") => {
                let mut key = AesSivKey::decode(bytes).map_err(broken)?;
                let of = KeyType::of(Mode::Siv, key.key_value.len());
                (key.version, of, take(&mut key.key_value))
            }
            Some("AesCmacPrfKey") => {
                let mut key = AesCmacPrfKey::decode(bytes).map_err(broken)?;
                (
                    key.version,
                    Some(KeyType::DERIVATION),
                    take(&mut key.key_value),
                )
            }
            None if self.type_url == OWN => {
                let mut key = AesKey::decode(bytes).map_err(broken)?;
                let bytes = key.key_value.len();
                let of = match &*key.mode {
                    FF1 => KeyType::of_tokens(bytes),
                    mode => {
                        let mode = mode.parse().map_err(|error| format!("{OWN}: {error}"))?;
                        KeyType::of(mode, bytes)
                    }
                };
                (key.version, of, take(&mut key.key_value))
            }
            _ => {
                return Err(format!(
                    "a key of type {:?}; allowed: AesGcmKey, AesGcmSivKey, AesSivKey and \
                     AesCmacPrfKey of Tink, and {OWN}",
                    self.type_url
                ));
            }
        };
        let secret = Zeroizing::new(key_value);
        if version != 0 {
            return Err(format!(
                "{} of version {version}; allowed: 0",
                self.type_url
            ));
        }
        match of {
            Some(of) => Ok((of, secret)),
            None => Err(format!("{} with {} bytes", self.type_url, secret.len())),
        }
    }
}

/// A keyset that is wrapped, and what may be known of it.
pub(crate) struct EncryptedKeyset {
    wrapped: Vec<u8>,
    info: Value,
}

fn wrong(what: impl ToString) -> Error {
    Error::key(None, what)
}

impl EncryptedKeyset {
    pub(crate) fn new(wrapped: Vec<u8>, keyset: &Keyset) -> EncryptedKeyset {
        let key = |key: &Key| {
            json!({
                "typeUrl": key.key_data.as_ref().map(|data| &data.type_url),
                "status": status_name(key.status()),
                "keyId": key.key_id,
                "outputPrefixType": prefix_name(key.output_prefix_type()),
            })
        };
        let keys: Vec<Value> = keyset.key.iter().map(key).collect();
        EncryptedKeyset {
            wrapped,
            info: json!({ "primaryKeyId": keyset.primary_key_id, "keyInfo": keys }),
        }
    }

    pub(crate) fn to_json(&self) -> Result<String, Error> {
        let json = json!({
            "encryptedKeyset": BASE64_STANDARD.encode(&self.wrapped),
            "keysetInfo": self.info,
        });
        serde_json::to_string_pretty(&json).map_err(wrong)
    }

    /// Whether there is one in JSON, damaged or not.
    pub(crate) fn is_there(json: &str) -> bool {
        let Ok(mut json) = serde_json::from_str(json) else {
            return false;
        };
        let there = field(&json, "encryptedKeyset", "encrypted_keyset").is_some();
        wipe(&mut json);
        there
    }

    /// The wrapped keyset in such JSON.
    pub(crate) fn wrapped(json: &str) -> Result<Vec<u8>, Error> {
        let json: Value = serde_json::from_str(json).map_err(wrong)?;
        let text = field(&json, "encryptedKeyset", "encrypted_keyset").and_then(Value::as_str);
        let text = text.ok_or_else(|| wrong("no wrapped keyset: no field encryptedKeyset"))?;
        BASE64_STANDARD.decode(text).map_err(wrong)
    }
}

const STATUS: [(Status, &str); 4] = [
    (Status::Unknown, "UNKNOWN_STATUS"),
    (Status::Enabled, "ENABLED"),
    (Status::Disabled, "DISABLED"),
    (Status::Destroyed, "DESTROYED"),
];
const PREFIX: [(OutputPrefix, &str); 5] = [
    (OutputPrefix::Unknown, "UNKNOWN_PREFIX"),
    (OutputPrefix::Tink, "TINK"),
    (OutputPrefix::Legacy, "LEGACY"),
    (OutputPrefix::Raw, "RAW"),
    (OutputPrefix::Crunchy, "CRUNCHY"),
];

fn status_name(status: Status) -> &'static str {
    STATUS[status as usize].1
}

fn prefix_name(prefix: OutputPrefix) -> &'static str {
    PREFIX[prefix as usize].1
}

/// The field of either name: protocol buffers take both in JSON.
fn field<'a>(json: &'a Value, name: &str, other: &str) -> Option<&'a Value> {
    json.get(name).or_else(|| json.get(other))
}

/// The number of a name of an enumeration, which may be that number.
fn number<T: Copy + Into<i32>>(json: Option<&Value>, names: &[(T, &str)]) -> i32 {
    let given = match json {
        Some(Value::String(name)) => names.iter().find(|(_, known)| known == name),
        Some(value) => {
            let number = value.as_i64();
            names
                .iter()
                .find(|(known, _)| Some(i64::from((*known).into())) == number)
        }
        None => None,
    };
    given.map_or(0, |(known, _)| (*known).into())
}

pub(crate) fn decode(bytes: &[u8]) -> Result<Keyset, Error> {
    Keyset::decode(bytes).map_err(|error| wrong(format_args!("what was wrapped: {error}")))
}

/// In JSON, as Tink writes it. Texts with keys are moved, so that no copy of them stays.
pub(crate) fn to_json(keyset: &Keyset) -> Result<Zeroizing<String>, Error> {
    let mut json = json!({ "primaryKeyId": keyset.primary_key_id, "key": [] });
    // Space for the whole, as what grows leaves copies.
    let mut capacity = 128;
    for key in &keyset.key {
        let mut one = json!({
            "keyData": { "keyMaterialType": "SYMMETRIC" },
            "status": status_name(key.status()),
            "keyId": key.key_id,
            "outputPrefixType": prefix_name(key.output_prefix_type()),
        });
        if let Some(data) = &key.key_data {
            capacity += 512 + data.type_url.len() + 2 * data.value.len();
            one["keyData"]["typeUrl"] = Value::String(data.type_url.clone());
            one["keyData"]["value"] = Value::String(BASE64_STANDARD.encode(&data.value));
        }
        if let Value::Array(keys) = &mut json["key"] {
            keys.push(one);
        }
    }
    let mut text = Zeroizing::new(Vec::with_capacity(capacity));
    let written = serde_json::to_writer_pretty(&mut *text, &json);
    wipe(&mut json);
    written.map_err(wrong)?;
    let text = String::from_utf8(take(&mut *text)).map_err(wrong)?;
    Ok(text.into())
}

/// Overwrites the texts.
fn wipe(json: &mut Value) {
    match json {
        Value::String(text) => text.zeroize(),
        Value::Array(items) => items.iter_mut().for_each(wipe),
        Value::Object(fields) => fields.values_mut().for_each(wipe),
        _ => {}
    }
}

pub(crate) fn from_json(text: &str) -> Result<Keyset, Error> {
    let mut json: Value = serde_json::from_str(text).map_err(wrong)?;
    let keyset = read(&json);
    wipe(&mut json);
    keyset
}

fn read(json: &Value) -> Result<Keyset, Error> {
    let id = |json: Option<&Value>| {
        let id = json.and_then(Value::as_u64);
        id.and_then(|id| u32::try_from(id).ok())
    };
    let Some(keys) = json.get("key").and_then(Value::as_array) else {
        let what = match field(json, "encryptedKeyset", "encrypted_keyset").is_some() {
            true => "it is wrapped: what wraps it must be given",
            false => "no field key with a list of keys",
        };
        return Err(wrong(what));
    };
    let primary = id(field(json, "primaryKeyId", "primary_key_id"));
    let mut keyset = Keyset {
        primary_key_id: primary.ok_or_else(|| wrong("no field primaryKeyId"))?,
        key: Vec::new(),
    };
    for key in keys {
        let key_id = id(field(key, "keyId", "key_id"));
        let key_id = key_id.ok_or_else(|| wrong("a key without keyId"))?;
        let missing = |what: &str| Error::key(key_id, format_args!("no field {what}"));
        let data = field(key, "keyData", "key_data").ok_or_else(|| missing("keyData"))?;
        let url = field(data, "typeUrl", "type_url").and_then(Value::as_str);
        let value = data.get("value").and_then(Value::as_str);
        let value = value.ok_or_else(|| missing("keyData.value"))?;
        let url = url.ok_or_else(|| missing("keyData.typeUrl"))?;
        let mut bytes = Zeroizing::new(Vec::with_capacity(value.len()));
        let decoded = BASE64_STANDARD.decode_vec(value, &mut bytes);
        // Its error would show the place and a character of the key.
        decoded.map_err(|_| Error::key(key_id, "keyData.value is no base64"))?;
        keyset.key.push(Key {
            key_data: Some(KeyData {
                type_url: url.to_owned(),
                value: take(&mut *bytes),
                key_material_type: Material::Symmetric.into(),
            }),
            status: number(key.get("status"), &STATUS),
            key_id,
            output_prefix_type: number(
                field(key, "outputPrefixType", "output_prefix_type"),
                &PREFIX,
            ),
        });
    }
    Ok(keyset)
}
