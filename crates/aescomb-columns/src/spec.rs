//! Specs: what is to be encrypted how.

use crate::algorithm::{FF1, KeyType, Of};
use crate::error::Error;
use crate::values::number_type;
use aescomb::{Algorithm, Mode};
use arrow_schema::DataType;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// Whether equal values of a column are seen to be equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Encryption {
    /// They are: for what is joined, grouped or looked up.
    Deterministic,
    /// They are not.
    Randomized,
}

/// The bytes of an encrypted value.
///
/// | format | values | keys |
/// |---|---|---|
/// | `tink` | prefix of the key, nonce (12), ciphertext, tag (16), or for SIV prefix, tag (16), ciphertext | `gcm`, `gcm-siv`, `siv` |
/// | `spark` | nonce (12), ciphertext, tag (16), or for CBC nonce (16), ciphertext | `gcm`, `cbc-pkcs7` |
/// | `clickhouse` | ciphertext, and tag (16) for GCM; nonces are in a column of their own | `gcm`, `cbc-pkcs7`, `ctr`, `ofb` |
/// | `plain` | nonce (12), ciphertext, tag (16), or for SIV tag (16), ciphertext | `aes-256-cmac-prf`, `gcm-siv`, `siv` |
/// | `ff1` | text of the same characters, as many as before: a token | `ff1` |
///
/// `spark` and `clickhouse` also decrypt what `ecb-pkcs7` has encrypted. `ff1` authenticates nothing:
/// under another key, any token decrypts to another text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// That of Tink.
    Tink,
    /// That of Spark's `aes_encrypt`.
    Spark,
    /// That of ClickHouse's `encrypt`.
    Clickhouse,
    /// This library's own.
    Plain,
    /// Text that keeps its length and the characters of its alphabet, by FF1.
    Ff1,
}

impl fmt::Display for Encryption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Encryption::Deterministic => "deterministic",
            Encryption::Randomized => "randomized",
        })
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Format::Tink => "tink",
            Format::Spark => "spark",
            Format::Clickhouse => "clickhouse",
            Format::Plain => "plain",
            Format::Ff1 => FF1,
        })
    }
}

impl Format {
    /// The name of values' mode in this format.
    pub(crate) fn mode_name(self, mode: Mode) -> &'static str {
        match self {
            Format::Ff1 => FF1,
            _ => mode.name(),
        }
    }

    /// The mode of this name, as [`Format::mode`] has it; else what is allowed.
    pub(crate) fn mode_of(self, name: &str) -> Result<Mode, String> {
        match self {
            Format::Ff1 if name == FF1 => Ok(Mode::Ecb),
            Format::Ff1 => Err(FF1.to_owned()),
            _ => name.parse().map_err(|error| format!("{error}")),
        }
    }

    /// The mode that values have in this format under keys of this type, which for FF1 is that of
    /// its blocks, and whether equal values then are equal; if they may have such keys.
    pub(crate) fn mode(self, of: KeyType) -> Option<(Mode, Encryption)> {
        use Encryption::{Deterministic, Randomized};
        let Algorithm { mode, key_bits } = match of.0 {
            Of::Values(algorithm) => algorithm,
            Of::Tokens(_) => return (self == Format::Ff1).then_some((of.mode(), Deterministic)),
            Of::Derivation => {
                return (self == Format::Plain).then_some((Mode::Gcm, Randomized));
            }
        };
        let encryption = match (self, mode) {
            (Format::Tink | Format::Plain, Mode::GcmSiv) => Randomized,
            (Format::Tink | Format::Plain, Mode::Siv) => Deterministic,
            (Format::Tink, Mode::Gcm) if key_bits != 192 => Randomized,
            (Format::Spark | Format::Clickhouse, Mode::Gcm | Mode::CbcPkcs7) => Randomized,
            (Format::Clickhouse, Mode::Ctr | Mode::Ofb) => Randomized,
            (Format::Spark | Format::Clickhouse, Mode::EcbPkcs7) => Deterministic,
            _ => return None,
        };
        Some((mode, encryption))
    }
}

/// The most values that a key may encrypt under random nonces of 12 bytes (SP 800-38D, 8.3).
pub const MOST_VALUES: u64 = 1 << 32;

/// What is to be encrypted how: from TOML or JSON.
///
/// ```
/// let spec: aescomb_columns::Spec = serde_json::from_str(r#"{
///     "dataset": "people",
///     "columns": {
///         "name": { "encryption": "deterministic", "format": "tink" },
///         "born": { "encryption": "randomized", "format": "plain" }
///     }
/// }"#).unwrap();
/// assert_eq!(spec.columns["name"].format, aescomb_columns::Format::Tink);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    /// What the values belong to. Those of one dataset open in no other.
    pub dataset: String,
    /// Columns, by their names.
    pub columns: BTreeMap<String, ColumnSpec>,
}

/// What is to be done with a column.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ColumnSpec {
    /// Whether equal values are seen to be equal.
    pub encryption: Encryption,
    /// The bytes of an encrypted value.
    pub format: Format,
    /// The key's identifier; if there is none, the one keyset whose primary key can do it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<u32>,
    /// A column of integers: the identifier of each row's key. These keys are for the mode of
    /// `key`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_column: Option<String>,
    /// A column of nonces, for the format `clickhouse`: made when the column is encrypted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nonces: Option<String>,
    /// What is authenticated with each value. If there is none: the dataset, a zero byte and the
    /// name of the column in the formats `tink` and `plain`, and nothing in the others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub associated_data: Option<String>,
    /// For the format `ff1`: the characters that values are of, from 2 to 65,536, each once, or
    /// `digits`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alphabet: Option<String>,
    /// For the format `ff1`: what makes equal values of several columns become different tokens.
    /// If there is none: the dataset, a zero byte and the name of the column.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tweak: Option<String>,
    /// The most values that a key encrypts under random nonces of 12 bytes, in a run, or for
    /// a key of a file, in the file: at most 2^32.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
    /// The type of decrypted values, where a file does not say it.
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    pub of: Option<String>,
}

impl Spec {
    /// From JSON.
    ///
    /// # Errors
    ///
    /// What is no JSON of a spec.
    pub fn from_json(text: &str) -> Result<Spec, Error> {
        let spec = serde_json::from_str(text);
        spec.map_err(|error| Error::spec("spec", error, "JSON of a spec"))
    }

    /// From TOML.
    ///
    /// # Errors
    ///
    /// What is no TOML of a spec.
    #[cfg(feature = "files")]
    pub fn from_toml(text: &str) -> Result<Spec, Error> {
        let spec = toml::from_str(text);
        spec.map_err(|error| Error::spec("spec", error, "TOML of a spec"))
    }

    /// Whether a column is encrypted, or has the identifiers of keys.
    pub fn is_about(&self, name: &str) -> bool {
        let mut columns = self.columns.values();
        let keys = |column: &ColumnSpec| column.key_column.as_deref() == Some(name);
        self.columns.contains_key(name) || columns.any(keys)
    }

    /// What is authenticated with each value of a column, or is the tweak of its tokens.
    pub(crate) fn associated_data(
        dataset: &str,
        column: &str,
        format: Format,
        given: Option<&str>,
    ) -> Vec<u8> {
        match (given, format) {
            (Some(data), _) => data.as_bytes().to_vec(),
            (None, Format::Tink | Format::Plain | Format::Ff1) => {
                [dataset.as_bytes(), &[0], column.as_bytes()].concat()
            }
            (None, _) => Vec::new(),
        }
    }
}

/// The most bytes of the name of a type.
const LONGEST_TYPE: usize = 256;

/// A type by its name in Arrow's Python library, or as arrow-rs writes it.
pub(crate) fn parse_type(field: &str, name: &str) -> Result<DataType, Error> {
    if let Some(number) = number_type(name) {
        return Ok(number);
    }
    Ok(match name {
        "binary" => DataType::Binary,
        "large_binary" => DataType::LargeBinary,
        "binary_view" => DataType::BinaryView,
        "string" => DataType::Utf8,
        "large_string" => DataType::LargeUtf8,
        "string_view" => DataType::Utf8View,
        "date32" => DataType::Date32,
        "date64" => DataType::Date64,
        // The parser of others calls itself for each type in a type.
        long if long.len() > LONGEST_TYPE => {
            let what = format!("name of {} bytes", long.len());
            let allowed = format!("at most {LONGEST_TYPE} bytes");
            return Err(Error::spec(field, what, allowed));
        }
        other => {
            let what = format!("{other:?}");
            let allowed = "binary, string, int64, Decimal128(10, 2), Timestamp(µs), ...";
            other
                .parse()
                .map_err(|_| Error::spec(field, what, allowed))?
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_types_that_are_too_long() {
        let deep = "Dictionary(Int32, ".repeat(1_000_000);
        let text = parse_type("type", &deep).unwrap_err().to_string();
        assert_eq!(
            text,
            "type: name of 18000000 bytes; allowed: at most 256 bytes"
        );
        let of = parse_type("type", "Dictionary(Int32, Utf8)").unwrap();
        assert_eq!(of.to_string(), "Dictionary(Int32, Utf8)");
    }
}
