//! Encryption of columns: of Arrow record batches and, with the feature `files`, of Parquet
//! and CSV files.
//!
//! - [`Spec`]: what is to be encrypted how.
//! - [`Keyset`]: the keys, as Tink has them.
//! - [`Cipher`]: a record batch to a record batch.
//! - [`Header`]: what an encrypted file says of itself.
//! - [`values`]: what the Python package's keys share.
#![deny(missing_docs)]

mod algorithm;
mod arrays;
mod choice;
mod cipher;
#[cfg(feature = "files")]
pub mod command;
mod decryption;
mod error;
#[cfg(feature = "files")]
pub mod files;
mod header;
mod kdf;
mod keyset;
mod spec;
mod tink;
mod tokens;
mod treatment;
pub mod values;

pub use algorithm::{KeyType, mysql_key};
pub use cipher::{Beside, Cipher, Encrypted, OnFailure};
pub use error::{Error, Failure, Reason};
pub use header::{ColumnHeader, Header, METADATA_KEY};
pub use keyset::{Entry, KeyService, Keyset, Prefix, Status};
pub use spec::{ColumnSpec, Encryption, Format, MOST_VALUES, Spec};
