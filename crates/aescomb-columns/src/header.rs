//! What an encrypted file says of itself.

use crate::error::Error;
use crate::kdf::SALT;
use crate::spec::{Encryption, Format};
use arrow_schema::Schema;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The key of the header in the metadata of schemas, and so of Parquet files.
pub const METADATA_KEY: &str = "aescomb";

const VERSION: u32 = 1;

/// What columns were encrypted how: JSON in the metadata of a schema.
///
/// It holds no secret, and nothing authenticates it: who may change a file may change it, too.
/// Values only open as what they were sealed as, but their types are as it says, and
/// whether a column was encrypted at all.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Header {
    version: u32,
    /// What the values belong to.
    pub dataset: String,
    /// Columns, by their names.
    pub columns: BTreeMap<String, ColumnHeader>,
}

/// What was done with a column.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ColumnHeader {
    /// Whether equal values are seen to be equal.
    pub encryption: Encryption,
    /// The bytes of a value.
    pub format: Format,
    /// The mode of the values.
    pub mode: String,
    /// The key's identifier.
    pub key: u32,
    /// The type that values had.
    #[serde(rename = "type")]
    pub of: String,
    /// In base64: what the key of the file was derived with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub salt: Option<String>,
    /// The column with the identifiers of rows' keys.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_column: Option<String>,
    /// The column with nonces.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nonces: Option<String>,
    /// Whether the spec said what is authenticated with values, and so has to say it again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub associated_data: bool,
}

impl Header {
    pub(crate) fn new(dataset: String) -> Header {
        Header {
            version: VERSION,
            dataset,
            columns: BTreeMap::new(),
        }
    }

    /// From JSON.
    ///
    /// # Errors
    ///
    /// What is no JSON of a header, or of another version.
    pub fn from_json(text: &str) -> Result<Header, Error> {
        let header: Result<Header, _> = serde_json::from_str(text);
        let header =
            header.map_err(|error| Error::spec(METADATA_KEY, error, "JSON of a header"))?;
        match header.version {
            VERSION => Ok(header),
            other => Err(Error::spec("aescomb.version", other, VERSION)),
        }
    }

    /// As JSON.
    ///
    /// # Errors
    ///
    /// None that is known.
    pub fn to_json(&self) -> Result<String, Error> {
        serde_json::to_string(self)
            .map_err(|error| Error::spec(METADATA_KEY, error, "what JSON can say"))
    }

    /// That in the metadata of a schema, if there is one.
    ///
    /// # Errors
    ///
    /// One that is no header, or of another version.
    pub fn of_schema(schema: &Schema) -> Result<Option<Header>, Error> {
        let text = schema.metadata().get(METADATA_KEY);
        text.map(|text| Header::from_json(text)).transpose()
    }
}

impl ColumnHeader {
    pub(crate) fn salt(&self, field: &str) -> Result<Option<[u8; SALT]>, Error> {
        let read = |text: &String| {
            let bytes = BASE64_STANDARD.decode(text).ok();
            let salt = bytes.and_then(|bytes| bytes.try_into().ok());
            salt.ok_or_else(|| {
                let field = format!("{field}.salt");
                Error::spec(field, format!("{text:?}"), "base64 of 16 bytes")
            })
        };
        self.salt.as_ref().map(read).transpose()
    }

    pub(crate) fn salt_text(salt: &[u8]) -> String {
        BASE64_STANDARD.encode(salt)
    }
}
