//! Batches by raw pointers, for foreign interfaces and for rings that describe their packets
//! once.

pub use crate::job::{Job, Jobs};
