//! The Python package `aescomb`.
//!
//! `key` has the methods, and `call` does what they are asked, with the keys of `keys` and the nonces of `random`; `input` takes what they are given, `present` tells which rows are
//! not null, `output` holds results, `batch` runs the library on messages, `packed` on columns
//! as they are, `memory` is between Python's memory and the library's, `c_data` reads the
//! structs of Arrow, `array` and `arrow` check them, `dictionary` is for columns of indices, `types` names them, and `column` makes others.
//! `ff1` is format-preserving encryption.

mod array;
mod arrow;
mod batch;
mod c_data;
mod call;
mod column;
mod dictionary;
mod errors;
mod ff1;
mod input;
mod key;
mod keys;
mod memory;
mod mode;
mod output;
mod packed;
mod present;
mod random;
mod team;
mod types;

/// AES for many independent messages at once.
#[pyo3::pymodule]
mod _aescomb {
    #[pymodule_export]
    use crate::column::Column;
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
