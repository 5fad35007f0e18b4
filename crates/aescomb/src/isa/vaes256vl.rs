//! VAES on 256-bit registers with AVX-512VL, which has 32 of them where AVX2 has 16: the
//! round keys of one key stay in registers beside eight registers in flight. For serial
//! modes, which store block by block: blocks come out of narrower registers faster.
//!
//! `unsafe` here rests on the contract of [`Vector`]: the CPU has what
//! [`Vaes512`](super::Vaes512) needs.
#![allow(unsafe_code)]

use super::ni::NiOne;
use super::vaes256::Vaes256One;
use super::x86::{Vector, token};
use crate::detect;
use core::arch::x86_64::*;

token!(Vaes256Vl: __m256i, 8, half Vaes256Vl, unit Vaes256One, narrow NiOne, needs vaes512);

#[target_feature(enable = "aes,pclmulqdq,avx2,bmi2,vaes,vpclmulqdq,avx512f,avx512bw,avx512vl")]
unsafe fn run<R>(f: impl FnOnce() -> R) -> R {
    f()
}
