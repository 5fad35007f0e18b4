//! What goes wrong, and where.

use std::fmt;
use std::path::PathBuf;

/// Why nothing was encrypted or decrypted.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// Something in a spec, or in what a file says of itself.
    Spec {
        /// Where: `columns.name.format`.
        field: String,
        /// What is wrong with it.
        what: String,
        /// What it may be.
        allowed: String,
    },
    /// A keyset, or a key of it.
    Key {
        /// The key, if it is one.
        id: Option<u32>,
        /// What is wrong with it.
        what: String,
    },
    /// A column of a batch.
    Column {
        /// Its name.
        column: String,
        /// What is wrong with it.
        what: String,
        /// What it may be.
        allowed: String,
    },
    /// A value of a column.
    Value(Failure),
    /// A key has encrypted as many values as it may under random nonces.
    Limit {
        /// The column.
        column: String,
        /// The key.
        id: u32,
        /// The most values.
        limit: u64,
    },
    /// A file or a folder.
    File {
        /// It.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// The operating system: memory, random numbers.
    System(std::io::Error),
}

/// A value that cannot be encrypted or decrypted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Its column.
    pub column: String,
    /// Its row, from 0 on: in the batch, or in the file.
    pub row: u64,
    /// Why.
    pub reason: Reason,
}

/// What is wrong with a value.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// It has fewer bytes than its format.
    Truncated {
        /// Bytes that it has.
        given: usize,
        /// The fewest.
        least: usize,
    },
    /// It does not begin as its format does.
    Prefix,
    /// There is no key of this identifier.
    UnknownKey(u32),
    /// The key of this identifier may not be used.
    DisabledKey(u32),
    /// The row names no key.
    NullKey,
    /// The row has no nonce.
    NullNonce,
    /// The nonce has another length, in bytes.
    NonceLength(usize),
    /// The key is another, or the value was changed, or it belongs elsewhere.
    Authentication,
    /// The padding is none: the key is another, or the value was changed.
    Padding,
    /// The mode does not take texts of this length, in bytes.
    TextLength(usize),
    /// The character at this position, from 0 on, is not of the alphabet.
    Character(usize),
    /// A token, or what is to become one, has another number of characters.
    Length {
        /// Characters that it has.
        given: usize,
        /// The fewest.
        least: usize,
        /// The most.
        most: usize,
    },
    /// It does not decrypt to a value of the column's type.
    Type(String),
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::Truncated { given, least } => {
                write!(f, "value of {given} bytes; allowed: at least {least}")
            }
            Reason::Prefix => f.write_str("no key identifier at the beginning"),
            Reason::UnknownKey(id) => write!(f, "unknown key {id}"),
            Reason::DisabledKey(id) => write!(f, "key {id} is not enabled"),
            Reason::NullKey => f.write_str("the key identifier is null"),
            Reason::NullNonce => f.write_str("the nonce is null"),
            Reason::NonceLength(given) => write!(f, "nonce of {given} bytes"),
            Reason::Authentication => f.write_str("authentication failed"),
            Reason::Padding => f.write_str("invalid padding"),
            Reason::TextLength(given) => write!(f, "ciphertext of {given} bytes"),
            Reason::Character(position) => write!(
                f,
                "character at position {position}; allowed: those of the alphabet"
            ),
            Reason::Length { given, least, most } => {
                write!(f, "value of {given} characters; allowed: {least} to {most}")
            }
            Reason::Type(what) => f.write_str(what),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "column {:?}, row {}: {}",
            self.column, self.row, self.reason
        )
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Spec {
                field,
                what,
                allowed,
            } => write!(f, "{field}: {what}; allowed: {allowed}"),
            Error::Key { id: Some(id), what } => write!(f, "key {id}: {what}"),
            Error::Key { id: None, what } => write!(f, "keyset: {what}"),
            Error::Column {
                column,
                what,
                allowed,
            } => write!(f, "column {column:?}: {what}; allowed: {allowed}"),
            Error::Value(failure) => failure.fmt(f),
            Error::Limit { column, id, limit } => write!(
                f,
                "column {column:?}: key {id} has encrypted {limit} values under random nonces; \
                 allowed: no more"
            ),
            Error::File { path, what } => write!(f, "{}: {what}", path.display()),
            Error::System(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for Error {}

impl Error {
    pub(crate) fn spec(field: impl ToString, what: impl ToString, allowed: impl ToString) -> Error {
        Error::Spec {
            field: field.to_string(),
            what: what.to_string(),
            allowed: allowed.to_string(),
        }
    }

    pub(crate) fn key(id: impl Into<Option<u32>>, what: impl ToString) -> Error {
        Error::Key {
            id: id.into(),
            what: what.to_string(),
        }
    }

    pub(crate) fn column(column: &str, what: impl ToString, allowed: impl ToString) -> Error {
        Error::Column {
            column: column.to_owned(),
            what: what.to_string(),
            allowed: allowed.to_string(),
        }
    }

    pub(crate) fn value(column: &str, row: usize, reason: Reason) -> Error {
        Error::Value(Failure {
            column: column.to_owned(),
            row: row as u64,
            reason,
        })
    }
}

impl From<std::io::Error> for Error {
    fn from(error: std::io::Error) -> Error {
        Error::System(error)
    }
}

impl From<std::collections::TryReserveError> for Error {
    fn from(error: std::collections::TryReserveError) -> Error {
        Error::System(error.into())
    }
}
