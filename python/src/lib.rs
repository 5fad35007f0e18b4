//! The Python package `aescomb`.
//!
//! `key` has the methods; `input` takes what they are given, `output` holds results,
//! `batch` runs the library on messages, `columns` on columns as they are, `memory` is
//! between Python's memory and the library's, and `c_data` reads the structs of Arrow that
//! `arrow` checks.

mod arrow;
mod batch;
mod c_data;
mod columns;
mod errors;
mod input;
mod key;
mod memory;
mod mode;
mod output;

/// AES for many independent messages at once.
#[pyo3::pymodule]
mod _aescomb {
    #[pymodule_export]
    use crate::arrow::Column;
    #[pymodule_export]
    use crate::key::Key;
    #[pymodule_export]
    use crate::mode::{Mode, modes};

    #[pymodule_export]
    #[allow(non_upper_case_globals)]
    const __version__: &str = env!("CARGO_PKG_VERSION");
}
