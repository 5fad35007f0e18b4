//! VAES on 256-bit registers with AVX-512VL, which has 32 of them where AVX2 has 16: the
//! round keys of one key stay in registers beside eight registers in flight. For serial
//! modes, which store block by block: blocks come out of narrower registers faster.
//!
//! `unsafe` here rests on the contract of [`InstructionSet`]: the CPU has what
//! [`Vaes512`](super::Vaes512) needs.
#![allow(unsafe_code)]

use super::vaes256::Avx2;
use super::x86::{InstructionSet, X86, runs};
use crate::detect;
use crate::isa::Isa;
use core::arch::x86_64::__m256i;

#[cfg_attr(test, allow(dead_code))] // see `dispatch`
pub(crate) type Vaes256Vl = X86<Avx512Vl, 8, 8, 4>;

#[derive(Clone, Copy)]
pub(crate) struct Avx512Vl;

// SAFETY: detection asks for what `run` enables, which includes what the registers, `Avx2` and
// AES-NI's registers need.
unsafe impl InstructionSet for Avx512Vl {
    type V = __m256i;
    type One = Avx2;
    type Along = super::vaes512::Avx512;
    type Quad = X86<Avx2, 2>;
    type Slim = Self;

    #[inline(always)]
    fn known() -> bool {
        detect::vaes512()
    }

    #[inline(always)]
    fn quad(unit: X86<Avx2, 1>) -> Self::Quad {
        unit.registers()
    }

    runs! { "aes,pclmulqdq,avx2,bmi2,vaes,vpclmulqdq,avx512f,avx512bw,avx512vl", __m256i }
}
