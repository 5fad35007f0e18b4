//! The C library of aescomb: `include/aescomb.h` says what there is, `README.md` how to
//! install and use it. The functions here are for C; from Rust, use the crate `aescomb`.

mod caesar;
mod comb;
mod error;
mod ff1;
mod key;
mod message;
mod mode;
mod packed;

pub use caesar::*;
pub use comb::*;
pub use error::*;
pub use ff1::*;
pub use key::*;
pub use message::*;
pub use mode::*;
pub use packed::*;
