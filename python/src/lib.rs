//! The Python package `aescomb`.
//!
//! `key` has the methods, and `call` does what they are asked, with the keys of `keys`; `input`
//! takes what they are given, `output` holds results, `batch` runs the library on messages, `memory`
//! is between Python's memory and the library's, `c_data` reads the structs of Arrow, `array` and
//! `arrow` check them, `dictionary` is for columns of indices, `types` names them, `column` makes
//! others, `columns` is `aescomb.columns`, and `ff1` format-preserving encryption. Columns as they
//! are, which rows are not null, threads, random nonces and columns of results are those of the
//! crate `aescomb-columns`.

mod array;
mod arrow;
mod batch;
mod c_data;
mod call;
mod column;
mod columns;
mod dictionary;
mod errors;
mod ff1;
mod input;
mod key;
mod keys;
mod memory;
mod mode;
mod output;
mod types;

/// AES for many independent messages at once.
#[pyo3::pymodule]
mod _aescomb {
    #[pymodule_export]
    use crate::column::{Column, keep_memory};
    #[pymodule_export]
    use crate::columns::{ColumnCipher, Keyset, columns_command, mysql_key};
    #[pymodule_export]
    use crate::ff1::Ff1;
    #[pymodule_export]
    use crate::key::Key;
    #[pymodule_export]
    use crate::keys::Keys;
    #[pymodule_export]
    use crate::mode::{Mode, modes};

    #[pymodule_export]
    #[allow(non_upper_case_globals)]
    const __version__: &str = env!("CARGO_PKG_VERSION");
}
