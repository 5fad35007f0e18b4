//! Random nonces.

use super::Soon;
use rand::rngs::{StdRng, SysRng};
use rand::{Rng, SeedableRng};
use std::io;

/// Bytes that are made between two requests for memory: as many as the generator makes at a
/// time. Of more the requests would wait for each other, and with them all that follows.
const STEP: usize = 256;

/// So many nonces of so many bytes, one after the other. The generator is seeded by the
/// operating system in every call: threads and processes that were forked share no state.
///
/// # Errors
///
/// Without memory for them, or where the operating system gives no random numbers.
pub fn nonces(count: usize, width: usize) -> io::Result<Vec<u8>> {
    nonces_before(&Soon::default(), count, width)
}

/// As [`nonces`]. Meanwhile the memory is fetched that is needed soon: the generator needs none.
///
/// # Errors
///
/// As [`nonces`].
pub fn nonces_before(soon: &Soon<'_>, count: usize, width: usize) -> io::Result<Vec<u8>> {
    let mut nonces = Vec::new();
    nonces.try_reserve_exact(count * width)?;
    nonces.resize(count * width, 0);
    let generator = StdRng::try_from_rng(&mut SysRng);
    let mut generator = generator.map_err(io::Error::other)?;
    let steps = nonces.len().div_ceil(STEP);
    for (i, step) in nonces.chunks_mut(STEP).enumerate() {
        soon.fetch(i, steps);
        generator.fill_bytes(step);
    }
    Ok(nonces)
}
