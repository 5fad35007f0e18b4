//! What is known of modes.

use aescomb::{Info, Kind};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

/// A mode of AES and what it demands.
///
/// >>> import aescomb
/// >>> gcm = aescomb.Key("gcm", bytes(16)).mode
/// >>> gcm.name, gcm.kind, gcm.nonce_bytes, gcm.tag_bytes[-1]
/// ('gcm', 'aead', (1, 4294967294), 16)
#[pyclass(frozen, eq, hash, module = "aescomb")]
#[derive(PartialEq, Eq, Hash)]
pub(crate) struct Mode(pub(crate) aescomb::Mode);

impl Mode {
    fn info(&self) -> &'static Info {
        self.0.info()
    }
}

#[pymethods]
impl Mode {
    /// Short name, for example ``gcm``.
    #[getter]
    fn name(&self) -> &'static str {
        self.info().name
    }

    /// One line of description.
    #[getter]
    fn title(&self) -> &'static str {
        self.info().title
    }

    /// Standard and section.
    #[getter]
    fn source(&self) -> &'static str {
        self.info().source
    }

    /// ``cipher`` for modes that encrypt and decrypt, ``mac`` for those that make and
    /// verify tags, ``aead`` for those that seal and open.
    #[getter]
    fn kind(&self) -> &'static str {
        match self.info().kind {
            Kind::Cipher => "cipher",
            Kind::Mac => "mac",
            _ => "aead",
        }
    }

    /// Lengths of key that it takes.
    #[getter]
    fn key_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.info().key_bytes)
    }

    /// Bytes of nonce (initialisation vector, initial counter block, tweak): fewest and
    /// most.
    #[getter]
    fn nonce_bytes(&self) -> (usize, usize) {
        self.info().nonce_bytes
    }

    /// Lengths of tag that it takes; none for modes without tags.
    #[getter]
    fn tag_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.info().tag_bytes)
    }

    /// The most components of associated data.
    #[getter]
    fn data_components(&self) -> usize {
        self.info().data_components
    }

    /// What happens when a nonce repeats under one key.
    #[getter]
    fn nonce_reuse(&self) -> &'static str {
        self.info().nonce_reuse
    }

    /// ``None`` for modes of a standard. For the others, what became of the mode: they are
    /// here for research and comparison, and not for new protocols.
    #[getter]
    fn research(&self) -> Option<&'static str> {
        self.info().research
    }

    fn __repr__(&self) -> String {
        format!("<aescomb.Mode {}>", self.0)
    }
}

/// All modes.
///
/// >>> import aescomb
/// >>> [mode.name for mode in aescomb.modes() if mode.kind == "mac"]
/// ['cmac', 'pmac', 'gmac']
#[pyfunction]
pub(crate) fn modes() -> Vec<Mode> {
    aescomb::Mode::ALL.iter().map(|mode| Mode(*mode)).collect()
}
