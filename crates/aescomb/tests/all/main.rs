//! All tests but those that count allocations, in one program: each program is linked with
//! all kernels, and compiles `common` by itself, which took twice as long in all.

#[path = "../common/mod.rs"]
mod common;

mod cpus;
mod differential;
mod errors;
mod ff1;
mod guard;
mod jobs;
mod kat;
mod properties;
mod rustcrypto;
mod team;
mod types;
mod wycheproof;
