//! VAES on 512-bit registers with AVX-512: four blocks in a register, sixteen or
//! thirty-two in flight.
//!
//! `unsafe` here rests on the contract of [`Vector`]: the CPU has VAES, VPCLMULQDQ, BMI2,
//! GFNI and AVX-512 F, BW, VL and VBMI.
#![allow(unsafe_code)]

use super::Starts;
use super::x86::vector::{Vector, operations};
use super::x86::{InstructionSet, X86, runs};
use crate::block::{Aligned, Block, LINE};
use crate::detect;
use crate::isa::Isa;
#[cfg(feature = "research")]
use crate::isa::PART;
use core::arch::{asm, x86_64::*};

pub(crate) type Vaes512 = X86<Avx512, 4>;
#[cfg_attr(test, allow(dead_code))] // see `dispatch`
pub(crate) type Vaes512x8 = X86<Avx512, 8, 4>;

#[derive(Clone, Copy)]
pub(crate) struct Avx512;

// SAFETY: detection asks for what `run` enables, which is what the registers need and
// includes what AES-NI's need.
unsafe impl InstructionSet for Avx512 {
    type V = __m512i;
    type One = Self;
    type Along = Self;
    type Quad = X86<Avx512, 1>;
    type Slim = super::vaes256vl::Avx512Vl;

    #[inline(always)]
    fn known() -> bool {
        detect::vaes512()
    }

    #[inline(always)]
    fn quad(unit: X86<Self, 1>) -> Self::Quad {
        unit.registers()
    }

    runs! {
        "aes,pclmulqdq,avx2,bmi2,vaes,vpclmulqdq,gfni,avx512f,avx512bw,avx512vl,avx512vbmi",
        __m512i
    }
}

/// The first `len` bytes of a block.
#[inline(always)]
unsafe fn mask(len: usize) -> u16 {
    // SAFETY: the caller's, that the CPU has BMI2.
    unsafe { _bzhi_u32(u32::MAX, len as u32) as u16 }
}

/// The bytes of a block that there are.
#[inline(always)]
unsafe fn piece((at, len): (*const u8, usize)) -> __m128i {
    // SAFETY: the caller's.
    unsafe { _mm_maskz_loadu_epi8(mask(len), at.cast()) }
}

/// Writes them.
#[inline(always)]
unsafe fn store_piece(x: __m128i, (to, len): (*mut u8, usize)) {
    // SAFETY: the caller's.
    unsafe { _mm_mask_storeu_epi8(to.cast(), mask(len), x) }
}

/// [`Vector::gather_part`] of a register, whose first block is that of lane `first`.
#[inline(always)]
unsafe fn gather_pieces(of: impl Fn(usize) -> (*const u8, usize), first: usize) -> __m512i {
    // SAFETY: the caller's.
    unsafe {
        let x = _mm512_castsi128_si512(piece(of(first)));
        let x = _mm512_inserti32x4::<1>(x, piece(of(first + 1)));
        let x = _mm512_inserti32x4::<2>(x, piece(of(first + 2)));
        _mm512_inserti32x4::<3>(x, piece(of(first + 3)))
    }
}

/// The counterpart of [`gather_pieces`].
#[inline(always)]
unsafe fn scatter_pieces(x: __m512i, of: impl Fn(usize) -> (*mut u8, usize), first: usize) {
    // SAFETY: the caller's.
    unsafe {
        store_piece(_mm512_castsi512_si128(x), of(first));
        store_piece(_mm512_extracti32x4_epi32::<1>(x), of(first + 1));
        store_piece(_mm512_extracti32x4_epi32::<2>(x), of(first + 2));
        store_piece(_mm512_extracti32x4_epi32::<3>(x), of(first + 3));
    }
}

/// See [`Vector::hold_all`].
#[inline]
#[target_feature(enable = "avx512f")]
unsafe fn hold(x: &mut __m512i) {
    // SAFETY: no instruction at all.
    unsafe {
        asm!(
            "/* {x} */",
            x = inout(zmm_reg) * x,
            options(nostack, preserves_flags)
        )
    };
}

/// The eight higher and the eight lower bits of a byte's product with x^7 + x^2 + x + 1, as matrices of
/// `vgf2p8affineqb`: the last byte has what makes bit 0.
const HIGH_AND_LOW: Block = {
    let mut out = [0; 16];
    let mut i = 0;
    while i < 16 {
        // Bit i of the product has bits i, i - 1, i - 2 and i - 7 of the byte.
        let mut from = 0;
        while from < 8 {
            if from <= i && matches!(i - from, 0 | 1 | 2 | 7) {
                out[15 - i] |= 1 << from;
            }
            from += 1;
        }
        i += 1;
    }
    out
};

/// Where the bytes of window `n` are: in the block, or 64 and more, in what is beyond it.
static PLACES: Aligned<[[u8; 64]; 9]> = {
    let mut out = [[0; 64]; 9];
    let mut n = 0;
    while n < 9 {
        let mut i = 0;
        while i < 64 {
            let (block, byte) = (i / 16 * 16, i % 16);
            out[n][i] = match byte {
                0 if n > 0 => 64 + block + 16 - n,
                _ if byte > n || n == 0 => i - n,
                _ => 64 + block + 7 + byte - n,
            } as u8;
            i += 1;
        }
        n += 1;
    }
    Aligned(out)
};

impl Vector for __m512i {
    const BLOCKS: usize = 4;

    #[inline(always)]
    unsafe fn hold_all<const U: usize>(x: &mut [Self; U]) {
        let mut u = 0;
        while u < U {
            unsafe { hold(&mut x[u]) };
            u += 1;
        }
    }

    operations! {
        "aes,pclmulqdq,avx2,bmi2,vaes,vpclmulqdq,gfni,avx512f,avx512bw,avx512vl,avx512vbmi":
        aesenc = _mm512_aesenc_epi128;
        aesenclast = _mm512_aesenclast_epi128;
        aesdec = _mm512_aesdec_epi128;
        aesdeclast = _mm512_aesdeclast_epi128;
        xor = _mm512_xor_si512;
        and = _mm512_and_si512;
        and_not = _mm512_andnot_si512;
        add64 = _mm512_add_epi64;
        add32 = _mm512_add_epi32;
        sub8 = _mm512_sub_epi8;
        shift_left = _mm512_sllv_epi64;
        shift_right = _mm512_srlv_epi64;
        shuffle = _mm512_shuffle_epi8;
    }

    #[inline(always)]
    unsafe fn splat(block: &Block) -> Self {
        unsafe { _mm512_broadcast_i32x4(_mm_loadu_si128(block.as_ptr().cast())) }
    }

    #[inline(always)]
    unsafe fn load(from: *const u8) -> Self {
        unsafe { _mm512_loadu_si512(from.cast()) }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut u8) {
        unsafe { _mm512_storeu_si512(to.cast(), self) }
    }

    // Masked loads and stores touch no byte whose mask bit is clear.
    #[inline(always)]
    unsafe fn load_part(from: *const u8, len: usize) -> Self {
        unsafe { _mm512_maskz_loadu_epi8((1u64 << len) - 1, from.cast()) }
    }

    #[inline(always)]
    unsafe fn store_part(self, to: *mut u8, len: usize) {
        unsafe { _mm512_mask_storeu_epi8(to.cast(), (1u64 << len) - 1, self) }
    }

    #[inline(always)]
    unsafe fn load_everywhere(from: *const u8, len: usize) -> Self {
        unsafe { _mm512_broadcast_i32x4(_mm_maskz_loadu_epi8(mask(len), from.cast())) }
    }

    #[inline(always)]
    unsafe fn load_first(from: *const u8, len: usize) -> Self {
        unsafe { _mm512_zextsi128_si512(_mm_maskz_loadu_epi8(mask(len), from.cast())) }
    }

    #[inline(always)]
    unsafe fn store_first(self, to: *mut u8, len: usize) {
        unsafe { _mm_mask_storeu_epi8(to.cast(), mask(len), _mm512_castsi512_si128(self)) }
    }

    #[inline(always)]
    unsafe fn transpose([a, b, c, d]: [Self; LINE]) -> [Self; LINE] {
        unsafe {
            // Blocks 0 and 1, and 2 and 3, of two lanes each.
            let (ab, ba) = (
                _mm512_shuffle_i64x2::<0b01_00_01_00>(a, b),
                _mm512_shuffle_i64x2::<0b11_10_11_10>(a, b),
            );
            let (cd, dc) = (
                _mm512_shuffle_i64x2::<0b01_00_01_00>(c, d),
                _mm512_shuffle_i64x2::<0b11_10_11_10>(c, d),
            );
            [
                _mm512_shuffle_i64x2::<0b10_00_10_00>(ab, cd),
                _mm512_shuffle_i64x2::<0b11_01_11_01>(ab, cd),
                _mm512_shuffle_i64x2::<0b10_00_10_00>(ba, dc),
                _mm512_shuffle_i64x2::<0b11_01_11_01>(ba, dc),
            ]
        }
    }

    #[inline(always)]
    unsafe fn load_blocks(at: *const u8, from: usize, to: usize) -> Self {
        let words = 0xffu8 >> (8 - to / 8) & 0xffu8 << (from * 2);
        unsafe { _mm512_maskz_loadu_epi64(words, at.cast()) }
    }

    #[inline(always)]
    unsafe fn gather(at: impl Starts, offset: usize) -> Self {
        unsafe {
            let p = |l: usize| _mm_loadu_si128(at.of(l).wrapping_add(offset).cast());
            // Halves first: two of three insertions are of 256 bits, which are cheaper where the
            // hardware has no more.
            let low = _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(p(0)), p(1));
            let high = _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(p(2)), p(3));
            _mm512_inserti64x4::<1>(_mm512_castsi256_si512(low), high)
        }
    }

    #[inline(always)]
    unsafe fn scatter(self, to: impl Starts, offset: usize) {
        unsafe {
            let p = |l: usize| to.of(l).wrapping_add(offset).cast();
            _mm_storeu_si128(p(0), _mm512_castsi512_si128(self));
            _mm_storeu_si128(p(1), _mm512_extracti32x4_epi32::<1>(self));
            _mm_storeu_si128(p(2), _mm512_extracti32x4_epi32::<2>(self));
            _mm_storeu_si128(p(3), _mm512_extracti32x4_epi32::<3>(self));
        }
    }

    #[inline(always)]
    unsafe fn gather_part<const U: usize>(
        of: impl Fn(usize) -> (*const u8, usize) + Copy,
    ) -> [Self; U] {
        unsafe {
            let mut x = [gather_pieces(of, 0); U];
            let mut u = 1;
            while u < U {
                x[u] = gather_pieces(of, u * Self::BLOCKS);
                u += 1;
            }
            x
        }
    }

    #[inline(always)]
    unsafe fn scatter_part<const U: usize>(
        x: [Self; U],
        of: impl Fn(usize) -> (*mut u8, usize) + Copy,
    ) {
        let mut u = 0;
        while u < U {
            unsafe { scatter_pieces(x[u], of, u * Self::BLOCKS) };
            u += 1;
        }
    }

    #[inline(always)]
    unsafe fn unzip(a: Self, b: Self) -> (Self, Self) {
        unsafe {
            (
                _mm512_shuffle_i64x2::<0b10_00_10_00>(a, b),
                _mm512_shuffle_i64x2::<0b11_01_11_01>(a, b),
            )
        }
    }

    #[inline(always)]
    unsafe fn zip(firsts: Self, seconds: Self) -> (Self, Self) {
        unsafe {
            let a = _mm512_set_epi64(11, 10, 3, 2, 9, 8, 1, 0);
            let b = _mm512_set_epi64(15, 14, 7, 6, 13, 12, 5, 4);
            (
                _mm512_permutex2var_epi64(firsts, a, seconds),
                _mm512_permutex2var_epi64(firsts, b, seconds),
            )
        }
    }

    // Two shuffles in the place of three insertions; and no byte is stored twice, which the loads of
    // the next parts would wait for.
    #[cfg(feature = "research")]
    #[inline(always)]
    unsafe fn load_parts(from: *const u8, n: usize) -> Self {
        unsafe {
            let at = _mm512_set_epi32(12, 11, 10, 9, 9, 8, 7, 6, 6, 5, 4, 3, 3, 2, 1, 0);
            _mm512_permutexvar_epi32(at, Self::load_part(from, n * PART + 4))
        }
    }

    #[cfg(feature = "research")]
    #[inline(always)]
    unsafe fn store_parts(self, to: *mut u8, n: usize) {
        unsafe {
            let at = _mm512_set_epi32(15, 15, 15, 15, 14, 13, 12, 10, 9, 8, 6, 5, 4, 2, 1, 0);
            let x = _mm512_permutexvar_epi32(at, self);
            if n < LINE {
                return x.store_part(to, n * PART);
            }
            // After a masked store, loads of what lies behind it would wait.
            _mm256_storeu_si256(to.cast(), _mm512_castsi512_si256(x));
            _mm_storeu_si128(to.add(32).cast(), _mm512_extracti32x4_epi32::<2>(x));
        }
    }

    #[cfg(feature = "research")]
    #[inline(always)]
    unsafe fn reversed(self) -> Self {
        unsafe { _mm512_shuffle_i64x2::<0b00_01_10_11>(self, self) }
    }

    #[inline(always)]
    unsafe fn numbers(numbers: *const usize) -> Self {
        unsafe {
            let four = _mm512_castsi256_si512(_mm256_loadu_si256(numbers.cast()));
            let places = _mm512_setr_epi64(0, 0, 1, 1, 2, 2, 3, 3);
            _mm512_maskz_permutexvar_epi64(0b0101_0101, places, four)
        }
    }

    const WINDOWS: bool = true;

    // Times x^8, a block is one byte up, and its highest byte b comes back as two: the lower eight bits of
    // b (x^7 + x^2 + x + 1), and the others, which go to what was the lowest byte before. So byte 0 of
    // the product is the first of these two, and all others are bytes of one string, on which the block is a
    // window. `beyond` has the string's next eight bytes, and then what is byte 0 in each of eight windows.
    #[inline(always)]
    unsafe fn beyond(self) -> Self {
        unsafe {
            let top = _mm512_shuffle_epi32::<0b11_10_11_10>(self);
            let over = _mm512_gf2p8affine_epi64_epi8::<0>(top, Self::splat(&HIGH_AND_LOW));
            let strings = _mm512_maskz_alignr_epi8::<9>(0x00ff_00ff_00ff_00ff, self, over);
            _mm512_xor_si512(over, strings)
        }
    }

    #[inline(always)]
    unsafe fn window(self, beyond: Self, n: usize) -> Self {
        unsafe { _mm512_permutex2var_epi8(self, Self::load(PLACES.0[n].as_ptr()), beyond) }
    }

    #[inline(always)]
    unsafe fn aesimc(self) -> Self {
        // As on 256-bit registers: SubBytes and ShiftRows undone, InvMixColumns
        // left.
        unsafe {
            let zero = _mm512_setzero_si512();
            _mm512_aesdec_epi128(_mm512_aesenclast_epi128(self, zero), zero)
        }
    }

    #[inline(always)]
    unsafe fn top_bits(self) -> Self {
        unsafe { _mm512_srli_epi64::<63>(self) }
    }

    #[inline(always)]
    unsafe fn signs(self) -> Self {
        unsafe { _mm512_srai_epi32::<31>(self) }
    }

    #[inline(always)]
    unsafe fn swap_halves(self) -> Self {
        unsafe { _mm512_shuffle_epi32::<0b01_00_11_10>(self) }
    }

    #[inline(always)]
    unsafe fn clmul<const I: i32>(self, b: Self) -> Self {
        unsafe { _mm512_clmulepi64_epi128::<I>(self, b) }
    }

    #[inline(always)]
    unsafe fn greater8(self, b: Self) -> Self {
        unsafe { _mm512_movm_epi8(_mm512_cmpgt_epi8_mask(self, b)) }
    }

    #[inline(always)]
    unsafe fn fold(self) -> Self {
        unsafe {
            let low = _mm512_castsi512_si256(self);
            let x = _mm256_xor_si256(low, _mm512_extracti64x4_epi64::<1>(self));
            let low = _mm256_castsi256_si128(x);
            let x = _mm_xor_si128(low, _mm256_extracti128_si256::<1>(x));
            _mm512_zextsi128_si512(x)
        }
    }

    #[inline(always)]
    unsafe fn shift_in(before: Self, x: Self) -> Self {
        unsafe { _mm512_alignr_epi64::<6>(x, before) }
    }

    #[inline(always)]
    unsafe fn last_everywhere(self) -> Self {
        unsafe { _mm512_shuffle_i64x2::<0xff>(self, self) }
    }

    #[inline(always)]
    unsafe fn last(self) -> Block {
        let mut block = [0; 16];
        unsafe {
            _mm_storeu_si128(
                block.as_mut_ptr().cast(),
                _mm512_extracti32x4_epi32::<3>(self),
            )
        };
        block
    }
}
