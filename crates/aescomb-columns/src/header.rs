//! What an encrypted file says of itself.

use crate::error::Error;
use crate::kdf::SALT;
use crate::spec::{Encryption, Format, Spec};
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
/// It holds no secret, and nothing authenticates it: who may change a file may change it, too. It
/// decides which columns are decrypted, by which key, mode and format, and what type values get.
/// An authenticated value opens only under the key, in the dataset and in the column that it was
/// sealed for; but a column that the header leaves out passes as it is, and of a mode without
/// tags any value may pass. A [`Spec`] that is given with it is compared with it:
/// [`Cipher::with_header`](crate::Cipher::with_header).
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
    /// The characters of tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alphabet: Option<String>,
    /// The tweak of tokens, if the spec said it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tweak: Option<String>,
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

    /// Refuses a spec with columns that were not encrypted.
    pub(crate) fn has_columns_of(&self, spec: &Spec) -> Result<(), Error> {
        let missing = |name: &&String| !self.columns.contains_key(*name);
        match spec.columns.keys().find(missing) {
            None => Ok(()),
            Some(name) => {
                let field = format!("{METADATA_KEY}.columns.{name}");
                let allowed = "every column of the spec, as encrypted";
                Err(Error::spec(field, "missing", allowed))
            }
        }
    }

    /// Refuses a spec whose columns were not encrypted, or otherwise than it says.
    pub(crate) fn agrees(&self, spec: &Spec) -> Result<(), Error> {
        self.has_columns_of(spec)?;
        for (name, header) in &self.columns {
            let Some(column) = spec.columns.get(name) else {
                continue;
            };
            let optional = |name: &Option<String>| match name {
                Some(name) => format!("{name:?}"),
                None => "none".to_owned(),
            };
            for (field, given, allowed) in [
                (
                    "encryption",
                    header.encryption.to_string(),
                    column.encryption.to_string(),
                ),
                (
                    "format",
                    header.format.to_string(),
                    column.format.to_string(),
                ),
                (
                    "key_column",
                    optional(&header.key_column),
                    optional(&column.key_column),
                ),
                ("nonces", optional(&header.nonces), optional(&column.nonces)),
                (
                    "alphabet",
                    optional(&header.alphabet),
                    optional(&column.characters()),
                ),
                ("tweak", optional(&header.tweak), optional(&column.tweak)),
            ] {
                if given != allowed {
                    let field = format!("{METADATA_KEY}.columns.{name}.{field}");
                    let allowed = format!("{allowed}, as in the spec");
                    return Err(Error::spec(field, given, allowed));
                }
            }
        }
        Ok(())
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
