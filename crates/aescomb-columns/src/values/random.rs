//! Random nonces.

use rand::rngs::{StdRng, SysRng};
use rand::{Rng, SeedableRng};
use std::io;

/// So many nonces of so many bytes, one after the other. The generator is seeded by the
/// operating system in every call: threads and processes that were forked share no state.
///
/// # Errors
///
/// Without memory for them, or where the operating system gives no random numbers.
pub fn nonces(count: usize, width: usize) -> io::Result<Vec<u8>> {
    let mut nonces = Vec::new();
    nonces.try_reserve_exact(count * width)?;
    nonces.resize(count * width, 0);
    let generator = StdRng::try_from_rng(&mut SysRng);
    let mut generator = generator.map_err(io::Error::other)?;
    generator.fill_bytes(&mut nonces);
    Ok(nonces)
}
