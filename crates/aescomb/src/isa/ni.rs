//! AES-NI: one block in a register, eight in flight, of few messages four. Any x86-64 CPU with
//! AES instructions; no AVX.
//!
//! `unsafe` here rests on the contract of [`Vector`]: the CPU has AES-NI, PCLMULQDQ,
//! SSSE3 and SSE4.1.
#![allow(unsafe_code)]

use super::Starts;
use super::x86::vector::{Vector, gather_in_memory, operations, scatter_in_memory};
use super::x86::{InstructionSet, X86, runs};
use crate::block::Block;
use crate::detect;
use crate::isa::Isa;
use core::arch::x86_64::*;

pub(crate) type Ni = X86<AesNi, 8, 4, 8>;
/// One block: all that a message by itself has use for in a serial mode.
pub(crate) type NiOne = X86<AesNi, 1>;

#[derive(Clone, Copy)]
pub(crate) struct AesNi;

// SAFETY: detection asks for what `run` enables, and that is what the registers need.
unsafe impl InstructionSet for AesNi {
    type V = __m128i;
    type One = Self;
    type Along = Self;
    type Quad = X86<AesNi, 4>;
    type Slim = Self;

    #[inline(always)]
    fn known() -> bool {
        detect::ni()
    }

    #[inline(always)]
    fn quad(unit: X86<Self, 1>) -> Self::Quad {
        unit.registers()
    }

    runs! { "aes,pclmulqdq,sse4.1,ssse3" }
}

impl Vector for __m128i {
    const BLOCKS: usize = 1;

    operations! {
        "aes,pclmulqdq,sse4.1,ssse3":
        aesenc = _mm_aesenc_si128;
        aesenclast = _mm_aesenclast_si128;
        aesdec = _mm_aesdec_si128;
        aesdeclast = _mm_aesdeclast_si128;
        xor = _mm_xor_si128;
        and = _mm_and_si128;
        and_not = _mm_andnot_si128;
        add64 = _mm_add_epi64;
        add32 = _mm_add_epi32;
        greater8 = _mm_cmpgt_epi8;
        sub8 = _mm_sub_epi8;
        shift_left = _mm_sll_epi64;
        shift_right = _mm_srl_epi64;
        shuffle = _mm_shuffle_epi8;
    }

    #[inline(always)]
    unsafe fn splat(block: &Block) -> Self {
        unsafe { _mm_loadu_si128(block.as_ptr().cast()) }
    }

    #[inline(always)]
    unsafe fn load(from: *const u8) -> Self {
        unsafe { _mm_loadu_si128(from.cast()) }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut u8) {
        unsafe { _mm_storeu_si128(to.cast(), self) }
    }

    #[inline(always)]
    unsafe fn load_part(from: *const u8, len: usize) -> Self {
        unsafe { Self::splat(&crate::bytes::load(from, len)) }
    }

    #[inline(always)]
    unsafe fn store_part(self, to: *mut u8, len: usize) {
        unsafe { crate::bytes::store(&self.last(), to, len) }
    }

    #[inline(always)]
    unsafe fn load_first(from: *const u8, len: usize) -> Self {
        unsafe { Self::load_part(from, len) }
    }

    #[inline(always)]
    unsafe fn store_first(self, to: *mut u8, len: usize) {
        unsafe { self.store_part(to, len) }
    }

    #[inline(always)]
    unsafe fn gather(at: impl Starts, offset: usize) -> Self {
        unsafe { _mm_loadu_si128(at.of(0).wrapping_add(offset).cast()) }
    }

    #[inline(always)]
    unsafe fn scatter(self, to: impl Starts, offset: usize) {
        unsafe { _mm_storeu_si128(to.of(0).wrapping_add(offset).cast(), self) }
    }

    #[inline(always)]
    unsafe fn unzip(a: Self, b: Self) -> (Self, Self) {
        (a, b)
    }

    #[inline(always)]
    unsafe fn zip(firsts: Self, seconds: Self) -> (Self, Self) {
        (firsts, seconds)
    }

    #[cfg(feature = "research")]
    #[inline(always)]
    unsafe fn reversed(self) -> Self {
        self
    }

    #[inline(always)]
    unsafe fn numbers(numbers: *const usize) -> Self {
        unsafe { _mm_loadl_epi64(numbers.cast()) }
    }

    #[inline(always)]
    unsafe fn gather_part<const U: usize>(
        of: impl Fn(usize) -> (*const u8, usize) + Copy,
    ) -> [Self; U] {
        unsafe {
            if const { U == 1 } {
                let (at, len) = of(0);
                return [Self::load_part(at, len); U];
            }
            gather_in_memory::<_, 1, U>(of)
        }
    }

    #[inline(always)]
    unsafe fn scatter_part<const U: usize>(
        x: [Self; U],
        of: impl Fn(usize) -> (*mut u8, usize) + Copy,
    ) {
        unsafe { scatter_in_memory::<_, 1, U>(x, of) }
    }

    #[inline(always)]
    unsafe fn aesimc(self) -> Self {
        unsafe { _mm_aesimc_si128(self) }
    }

    #[inline(always)]
    unsafe fn top_bits(self) -> Self {
        unsafe { _mm_srli_epi64::<63>(self) }
    }

    #[inline(always)]
    unsafe fn signs(self) -> Self {
        unsafe { _mm_srai_epi32::<31>(self) }
    }

    #[inline(always)]
    unsafe fn swap_halves(self) -> Self {
        unsafe { _mm_shuffle_epi32::<0b01_00_11_10>(self) }
    }

    #[inline(always)]
    unsafe fn clmul<const I: i32>(self, b: Self) -> Self {
        unsafe { _mm_clmulepi64_si128::<I>(self, b) }
    }

    #[inline(always)]
    unsafe fn fold(self) -> Self {
        self
    }

    #[inline(always)]
    unsafe fn shift_in(before: Self, _: Self) -> Self {
        before
    }

    #[inline(always)]
    unsafe fn last_everywhere(self) -> Self {
        self
    }

    #[inline(always)]
    unsafe fn last(self) -> Block {
        let mut block = [0; 16];
        unsafe { self.store(block.as_mut_ptr()) };
        block
    }
}
