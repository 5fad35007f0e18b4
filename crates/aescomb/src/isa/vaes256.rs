//! VAES on 256-bit registers with AVX2: two blocks in a register, sixteen in
//! flight, of few messages eight. CPUs with VAES and no AVX-512, and those whose
//! 512-bit registers do not pay.
//!
//! `unsafe` here rests on the contract of [`Vector`]: the CPU has VAES, VPCLMULQDQ
//! and AVX2.
#![allow(unsafe_code)]

use super::Starts;
use super::x86::vector::{Vector, gather_in_memory, operations, scatter_in_memory};
use super::x86::{InstructionSet, X86, runs};
use crate::block::{Block, MAX_UNIT};
use crate::detect;
use crate::isa::Isa;
use core::arch::x86_64::*;

pub(crate) type Vaes256 = X86<Avx2, 8, 4, 8>;

#[derive(Clone, Copy)]
pub(crate) struct Avx2;

// SAFETY: detection asks for what `run` enables, which is what the registers need and
// includes what AES-NI's need.
unsafe impl InstructionSet for Avx2 {
    type V = __m256i;
    type One = Self;
    type Along = Self;
    type Quad = X86<Avx2, 2>;
    type Slim = Self;

    #[inline(always)]
    fn known() -> bool {
        detect::vaes256()
    }

    #[inline(always)]
    fn quad(unit: X86<Self, 1>) -> Self::Quad {
        unit.registers()
    }

    runs! { "aes,pclmulqdq,avx2,vaes,vpclmulqdq", __m256i }
}

impl Vector for __m256i {
    const BLOCKS: usize = 2;

    operations! {
        "aes,pclmulqdq,avx2,vaes,vpclmulqdq":
        aesenc = _mm256_aesenc_epi128;
        aesenclast = _mm256_aesenclast_epi128;
        aesdec = _mm256_aesdec_epi128;
        aesdeclast = _mm256_aesdeclast_epi128;
        xor = _mm256_xor_si256;
        and = _mm256_and_si256;
        and_not = _mm256_andnot_si256;
        add64 = _mm256_add_epi64;
        add32 = _mm256_add_epi32;
        greater8 = _mm256_cmpgt_epi8;
        sub8 = _mm256_sub_epi8;
        shift_left = _mm256_sllv_epi64;
        shift_right = _mm256_srlv_epi64;
        shuffle = _mm256_shuffle_epi8;
    }

    #[inline(always)]
    unsafe fn splat(block: &Block) -> Self {
        unsafe { _mm256_broadcastsi128_si256(_mm_loadu_si128(block.as_ptr().cast())) }
    }

    #[inline(always)]
    unsafe fn load(from: *const u8) -> Self {
        unsafe { _mm256_loadu_si256(from.cast()) }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut u8) {
        unsafe { _mm256_storeu_si256(to.cast(), self) }
    }

    #[inline(always)]
    unsafe fn load_part(from: *const u8, len: usize) -> Self {
        unsafe {
            let low = crate::bytes::load(from, len.min(16));
            let high = match len {
                17.. => crate::bytes::load(from.add(16), len - 16),
                _ => [0; 16],
            };
            _mm256_inserti128_si256::<1>(
                _mm256_castsi128_si256(_mm_loadu_si128(low.as_ptr().cast())),
                _mm_loadu_si128(high.as_ptr().cast()),
            )
        }
    }

    #[inline(always)]
    unsafe fn store_part(self, to: *mut u8, len: usize) {
        unsafe {
            let mut blocks = [[0; 16]; 2];
            self.store(blocks.as_mut_ptr().cast());
            crate::bytes::store(&blocks[0], to, len.min(16));
            if len > 16 {
                crate::bytes::store(&blocks[1], to.add(16), len - 16);
            }
        }
    }

    #[inline(always)]
    unsafe fn load_first(from: *const u8, len: usize) -> Self {
        unsafe {
            let block = crate::bytes::load(from, len);
            _mm256_zextsi128_si256(_mm_loadu_si128(block.as_ptr().cast()))
        }
    }

    #[inline(always)]
    unsafe fn store_first(self, to: *mut u8, len: usize) {
        let mut block = [0; 16];
        unsafe {
            _mm_storeu_si128(block.as_mut_ptr().cast(), _mm256_castsi256_si128(self));
            crate::bytes::store(&block, to, len);
        }
    }

    #[inline(always)]
    unsafe fn gather(at: impl Starts, offset: usize) -> Self {
        unsafe {
            let p = |l: usize| _mm_loadu_si128(at.of(l).wrapping_add(offset).cast());
            _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(p(0)), p(1))
        }
    }

    #[inline(always)]
    unsafe fn scatter(self, to: impl Starts, offset: usize) {
        unsafe {
            let p = |l: usize| to.of(l).wrapping_add(offset).cast();
            _mm_storeu_si128(p(0), _mm256_castsi256_si128(self));
            _mm_storeu_si128(p(1), _mm256_extracti128_si256::<1>(self));
        }
    }

    #[inline(always)]
    unsafe fn unzip(a: Self, b: Self) -> (Self, Self) {
        unsafe {
            (
                _mm256_permute2x128_si256::<0x20>(a, b),
                _mm256_permute2x128_si256::<0x31>(a, b),
            )
        }
    }

    #[inline(always)]
    unsafe fn zip(firsts: Self, seconds: Self) -> (Self, Self) {
        unsafe { Self::unzip(firsts, seconds) }
    }

    #[cfg(feature = "research")]
    #[inline(always)]
    unsafe fn reversed(self) -> Self {
        unsafe { _mm256_permute2x128_si256::<0x01>(self, self) }
    }

    #[inline(always)]
    unsafe fn numbers(numbers: *const usize) -> Self {
        unsafe {
            let two = _mm256_castsi128_si256(_mm_loadu_si128(numbers.cast()));
            let halves = _mm256_permute4x64_epi64::<0b01_01_00_00>(two);
            _mm256_blend_epi32::<0b1100_1100>(halves, _mm256_setzero_si256())
        }
    }

    #[inline(always)]
    unsafe fn gather_part<const U: usize>(
        of: impl Fn(usize) -> (*const u8, usize) + Copy,
    ) -> [Self; U] {
        unsafe {
            if const { U * Self::BLOCKS <= MAX_UNIT } {
                let part = |l| {
                    let (at, len) = of(l);
                    Self::load_first(at, len)
                };
                let mut all = [Self::splat(&[0; 16]); U];
                let mut u = 0;
                while u < U {
                    all[u] = Self::unzip(part(2 * u), part(2 * u + 1)).0;
                    u += 1;
                }
                return all;
            }
            gather_in_memory::<_, 2, U>(of)
        }
    }

    #[inline(always)]
    unsafe fn scatter_part<const U: usize>(
        x: [Self; U],
        of: impl Fn(usize) -> (*mut u8, usize) + Copy,
    ) {
        unsafe {
            if const { U * Self::BLOCKS <= MAX_UNIT } {
                let part = |l, x: Self| {
                    let (to, len) = of(l);
                    x.store_first(to, len);
                };
                let mut u = 0;
                while u < U {
                    part(2 * u, x[u]);
                    part(2 * u + 1, Self::unzip(x[u], x[u]).1);
                    u += 1;
                }
                return;
            }
            scatter_in_memory::<_, 2, U>(x, of);
        }
    }

    #[inline(always)]
    unsafe fn aesimc(self) -> Self {
        // There is no wide AESIMC. The last round's SubBytes and ShiftRows are
        // undone by the first half of an inverse round; its InvMixColumns stays.
        unsafe {
            let zero = _mm256_setzero_si256();
            _mm256_aesdec_epi128(_mm256_aesenclast_epi128(self, zero), zero)
        }
    }

    #[inline(always)]
    unsafe fn top_bits(self) -> Self {
        unsafe { _mm256_srli_epi64::<63>(self) }
    }

    #[inline(always)]
    unsafe fn signs(self) -> Self {
        unsafe { _mm256_srai_epi32::<31>(self) }
    }

    #[inline(always)]
    unsafe fn swap_halves(self) -> Self {
        unsafe { _mm256_shuffle_epi32::<0b01_00_11_10>(self) }
    }

    #[inline(always)]
    unsafe fn clmul<const I: i32>(self, b: Self) -> Self {
        unsafe { _mm256_clmulepi64_epi128::<I>(self, b) }
    }

    #[inline(always)]
    unsafe fn fold(self) -> Self {
        unsafe {
            let low = _mm256_castsi256_si128(self);
            let high = _mm256_extracti128_si256::<1>(self);
            _mm256_zextsi128_si256(_mm_xor_si128(low, high))
        }
    }

    #[inline(always)]
    unsafe fn shift_in(before: Self, x: Self) -> Self {
        unsafe { _mm256_permute2x128_si256::<0x21>(before, x) }
    }

    #[inline(always)]
    unsafe fn last_everywhere(self) -> Self {
        unsafe { _mm256_permute2x128_si256::<0x11>(self, self) }
    }

    #[inline(always)]
    unsafe fn last(self) -> Block {
        let mut block = [0; 16];
        unsafe {
            _mm_storeu_si128(
                block.as_mut_ptr().cast(),
                _mm256_extracti128_si256::<1>(self),
            )
        };
        block
    }
}
