//! `cargo xtask vectors`: the known answers in the plain form that C and Python read.

use aescomb_vectors::plain;
use std::path::Path;

/// Writes the plain form, or only says whether it is what the sources give.
pub(crate) fn run(root: &Path, check: bool) -> Result<bool, String> {
    let vectors = root.join("vectors");
    if !check {
        plain::write(&vectors).map_err(|error| error.to_string())?;
        return Ok(true);
    }
    let stale = plain::stale(&vectors).map_err(|error| error.to_string())?;
    for name in &stale {
        println!("FAILED: vectors/plain/{name} is not what the sources give");
    }
    println!("vectors: {} stale files", stale.len());
    Ok(stale.is_empty())
}
