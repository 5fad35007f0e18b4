//! What [`field`](crate::field) measures, of one block.
//!
//! `unsafe` here rests on one fact: a value of a register exists only where the CPU has the
//! instructions.
#![allow(unsafe_code)]

use super::x86::Words;
#[cfg(target_feature = "sse")]
use core::arch::asm;
use core::arch::x86_64::*;

/// Ways to ask for the most significant bit, and what else [`field`](crate::field)
/// needs of one block to measure them. They are for branches on what may be secret:
/// nothing but measurements may use them.
impl Words<__m128i, 1> {
    #[inline(always)]
    pub(crate) fn top_by_extraction(self) -> bool {
        // SAFETY: the value exists, so the CPU has the instructions; below likewise.
        unsafe { _mm_extract_epi8::<15>(self.0[0]) & 0x80 != 0 }
    }

    #[inline(always)]
    pub(crate) fn top_by_test(self) -> bool {
        unsafe { _mm_testz_si128(self.0[0], _mm_set_epi64x(i64::MIN, 0)) == 0 }
    }

    #[inline(always)]
    pub(crate) fn top_by_mask(self) -> bool {
        unsafe { _mm_movemask_epi8(self.0[0]) & 0x8000 != 0 }
    }

    #[inline(always)]
    pub(crate) fn top_by_comparison(self) -> bool {
        unsafe {
            let negative = _mm_cmpgt_epi8(_mm_setzero_si128(), self.0[0]);
            _mm_extract_epi8::<15>(Words([negative]).kept().0[0]) != 0
        }
    }

    /// The test as the paper prints it, `cmpgt(MSB_MASK, v) == 0` in the last byte:
    /// no signed byte is below -128, so it is true for every value.
    #[inline(always)]
    pub(crate) fn top_as_printed(self) -> bool {
        unsafe {
            let below = _mm_cmpgt_epi8(_mm_set_epi64x(i64::MIN, 0), self.0[0]);
            _mm_extract_epi8::<15>(Words([below]).kept().0[0]) == 0
        }
    }

    /// The most significant bit of the lower half, and times two that of the upper.
    #[inline(always)]
    pub(crate) fn signs_of_halves(self) -> usize {
        unsafe { _mm_movemask_pd(_mm_castsi128_pd(self.0[0])) as usize }
    }

    /// The same value, of which the compiler knows nothing: it cannot turn the branch
    /// that this is in into arithmetic, nor two instructions around it into others.
    #[inline(always)]
    pub(crate) fn kept(self) -> Self {
        // Targets without SSE by default have no such registers to name.
        #[cfg(not(target_feature = "sse"))]
        let x = core::hint::black_box(self.0[0]);
        #[cfg(target_feature = "sse")]
        let x = {
            let mut x = self.0[0];
            // SAFETY: no instruction at all.
            unsafe {
                asm!("/* {x} */", x = inout(xmm_reg) x, options(nomem, nostack, preserves_flags))
            };
            x
        };
        Words([x])
    }
}
