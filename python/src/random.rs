//! Random nonces.

use crate::errors;
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use rand::rngs::{StdRng, SysRng};
use rand::{Rng, SeedableRng};

/// So many nonces of so many bytes, one after the other. The generator is seeded by the
/// operating system in every call: threads and processes that were forked share no state.
pub(crate) fn nonces(count: usize, width: usize) -> PyResult<Vec<u8>> {
    let mut nonces = errors::room(count * width)?;
    nonces.resize(count * width, 0);
    let generator = StdRng::try_from_rng(&mut SysRng);
    let mut generator = generator.map_err(|error| PyOSError::new_err(error.to_string()))?;
    generator.fill_bytes(&mut nonces);
    Ok(nonces)
}
