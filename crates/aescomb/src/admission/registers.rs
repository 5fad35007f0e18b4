//! Registers of what batches are checked by: the first eight members of a job, and what comes after them.
//!
//! `unsafe` here rests on the callers of loads, and on the token of AVX-512, inside whose `enter`
//! [`Line`] is used.
#![allow(unsafe_code)]

use crate::job::Job;
use crate::status::Status;

/// The first eight members of a job: pointers and lengths.
pub(super) trait Members: Copy {
    /// What comes after them.
    type Numbers: Numbers;
    /// What goes to the last four members.
    type Ends: Ends;
    fn of(members: [usize; 8]) -> Self;
    /// # Safety
    /// They are readable, and this is entered.
    unsafe fn load(from: *const usize) -> Self;
    fn and(self, other: Self) -> Self;
    fn or(self, other: Self) -> Self;
    fn xor(self, other: Self) -> Self;
    /// The first two, if they are 16 bytes.
    fn text(self) -> Pair;
    /// A bit at the place of each that is not 0.
    fn there(self) -> usize;
}

/// What a job has after its first eight members, up to its key.
pub(super) trait Numbers: Copy {
    const NONE: Self;
    /// # Safety
    /// There is a job, and the token of the members is entered.
    unsafe fn load(job: *const Job) -> Self;
    /// These differences from the `first`, and those of another.
    fn and_of(self, other: Self, first: Self) -> Self;
    /// Whether there is one in the four numbers or, if `keys` are looked at, in the key: then the first job
    /// has no key, and any key is a difference.
    fn any(self, keys: bool) -> bool;
}

/// Numbers and key without AVX-512.
#[derive(Clone, Copy)]
pub(super) struct NarrowNumbers {
    numbers: Pair,
    key: usize,
}

impl Numbers for NarrowNumbers {
    const NONE: Self = NarrowNumbers {
        numbers: Pair::NONE,
        key: 0,
    };

    #[inline(always)]
    unsafe fn load(job: *const Job) -> Self {
        // SAFETY: the caller's.
        unsafe {
            NarrowNumbers {
                numbers: Pair::load((&raw const (*job).nonce_len).cast()),
                key: (*job).key.addr(),
            }
        }
    }

    #[inline(always)]
    fn and_of(self, other: Self, first: Self) -> Self {
        NarrowNumbers {
            numbers: self.numbers.or(other.numbers.xor(first.numbers)),
            // Where keys are looked at, the first job has none.
            key: self.key | other.key,
        }
    }

    #[inline(always)]
    fn any(self, keys: bool) -> bool {
        self.numbers.any() | (keys & (self.key != 0))
    }
}

/// What a call writes to the last four members of jobs, one after the other.
pub(super) trait Ends: Copy {
    /// `own`: the number that key index and components of the first job are, `step`: what is added to it
    /// for each job after that.
    fn new(own: u64, step: u64) -> Self;
    /// Writes that the next job is done, with `written` bytes of result, or 0 where there are no results; of
    /// a `FOREIGN` one also the members that are the engine's own.
    ///
    /// # Safety
    /// It is there and nobody else's, and the token of the members is entered.
    unsafe fn put<const FOREIGN: bool>(
        &mut self,
        job: *mut Job,
        written: Option<usize>,
        len: usize,
    );
}

/// Ends without AVX-512: a store for each member.
#[derive(Clone, Copy)]
pub(super) struct NarrowEnds {
    own: u64,
    step: u64,
}

impl Ends for NarrowEnds {
    #[inline(always)]
    fn new(own: u64, step: u64) -> Self {
        NarrowEnds { own, step }
    }

    #[inline(always)]
    unsafe fn put<const FOREIGN: bool>(
        &mut self,
        job: *mut Job,
        written: Option<usize>,
        len: usize,
    ) {
        // SAFETY: the caller's; key index and components are one number of 8 bytes.
        unsafe {
            (*job).written.write(written.unwrap_or(0));
            (*job).status.write(Status::Done);
            if FOREIGN {
                (*job).len = len;
                let place = (&raw mut (*job).key_index).cast::<u64>();
                place.write_unaligned(self.own);
            }
        }
        self.own = self.own.wrapping_add(self.step);
    }
}

/// An operation on each of some registers.
#[inline(always)]
fn each<T: Copy, const N: usize>(a: [T; N], b: [T; N], of: impl Fn(T, T) -> T) -> [T; N] {
    core::array::from_fn(
        #[inline(always)]
        |i| of(a[i], b[i]),
    )
}

/// See [`Members::there`].
#[inline(always)]
fn there(members: &[usize; 8]) -> usize {
    let places = members.iter().enumerate();
    places.fold(0, |there, (place, bits)| {
        there | usize::from(*bits != 0) << place
    })
}

#[cfg(target_arch = "x86_64")]
pub(super) use x86::{Line, Pair};

/// Members for CPUs without AVX-512.
#[cfg(target_arch = "x86_64")]
pub(super) type Narrow = [Pair; 4];
#[cfg(not(target_arch = "x86_64"))]
pub(super) type Narrow = [usize; 8];

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{Ends, Members, NarrowEnds, NarrowNumbers, Numbers};
    use crate::job::Job;
    use crate::status::Status;
    use core::arch::x86_64::*;
    use core::mem::transmute;

    /// 16 bytes.
    #[derive(Clone, Copy)]
    pub(crate) struct Pair(__m128i);

    impl Pair {
        // SAFETY: any bytes are one.
        pub(crate) const NONE: Pair = Pair(unsafe { transmute::<u128, __m128i>(0) });

        /// # Safety
        /// They are readable.
        #[inline(always)]
        pub(crate) unsafe fn load(from: *const u8) -> Self {
            // SAFETY: the caller's; all of these CPUs have SSE2, here and below.
            Pair(unsafe { _mm_loadu_si128(from.cast()) })
        }

        #[inline(always)]
        pub(crate) fn and(self, other: Self) -> Self {
            // SAFETY: as above.
            Pair(unsafe { _mm_and_si128(self.0, other.0) })
        }

        #[inline(always)]
        pub(crate) fn or(self, other: Self) -> Self {
            // SAFETY: as above.
            Pair(unsafe { _mm_or_si128(self.0, other.0) })
        }

        #[inline(always)]
        pub(crate) fn xor(self, other: Self) -> Self {
            // SAFETY: as above.
            Pair(unsafe { _mm_xor_si128(self.0, other.0) })
        }

        /// Whether any bit is set.
        #[inline(always)]
        pub(crate) fn any(self) -> bool {
            // SAFETY: any bytes are one.
            unsafe { transmute::<__m128i, u128>(self.0) != 0 }
        }
    }

    impl Members for [Pair; 4] {
        type Numbers = NarrowNumbers;
        type Ends = NarrowEnds;

        #[inline(always)]
        fn of(members: [usize; 8]) -> Self {
            // SAFETY: any bytes are four pairs.
            unsafe { transmute::<[usize; 8], Self>(members) }
        }

        #[inline(always)]
        unsafe fn load(from: *const usize) -> Self {
            let from = from.cast::<u8>();
            // SAFETY: the caller's.
            unsafe {
                [
                    Pair::load(from),
                    Pair::load(from.add(16)),
                    Pair::load(from.add(32)),
                    Pair::load(from.add(48)),
                ]
            }
        }

        #[inline(always)]
        fn and(self, other: Self) -> Self {
            super::each(self, other, Pair::and)
        }

        #[inline(always)]
        fn or(self, other: Self) -> Self {
            super::each(self, other, Pair::or)
        }

        #[inline(always)]
        fn xor(self, other: Self) -> Self {
            super::each(self, other, Pair::xor)
        }

        #[inline(always)]
        fn text(self) -> Pair {
            self[0]
        }

        #[inline(always)]
        fn there(self) -> usize {
            // SAFETY: any bytes are eight members.
            super::there(&unsafe { transmute::<Self, [usize; 8]>(self) })
        }
    }

    /// A register of AVX-512.
    #[derive(Clone, Copy)]
    pub(crate) struct Line(__m512i);

    /// The last 32 bytes of a job, but for two members, and what is added for the next: one store.
    #[derive(Clone, Copy)]
    pub(crate) struct LineEnds {
        ends: __m256i,
        step: __m256i,
    }

    impl Ends for LineEnds {
        #[inline(always)]
        fn new(own: u64, step: u64) -> Self {
            let of = |members: [u64; 4]| -> __m256i {
                // SAFETY: any bytes are one.
                unsafe { transmute(members) }
            };
            LineEnds {
                ends: of([0, Status::Done as u64, 0, own]),
                step: of([0, 0, 0, step]),
            }
        }

        #[inline(always)]
        unsafe fn put<const FOREIGN: bool>(
            &mut self,
            job: *mut Job,
            written: Option<usize>,
            len: usize,
        ) {
            // SAFETY: the caller's; that they are four members of 8 bytes is asserted.
            unsafe {
                let place = &raw mut (*job).written;
                let all = match written {
                    Some(written) => _mm256_mask_set1_epi64(self.ends, 1, written as i64),
                    // The first is always 0.
                    None => self.ends,
                };
                if FOREIGN {
                    let all = _mm256_mask_set1_epi64(all, 4, len as i64);
                    _mm256_storeu_si256(place.cast(), all);
                    self.ends = _mm256_add_epi64(self.ends, self.step);
                } else {
                    _mm_storeu_si128(place.cast(), _mm256_castsi256_si128(all));
                }
            }
        }
    }

    /// 32 bytes: four numbers, an opened length and the key.
    #[derive(Clone, Copy)]
    pub(crate) struct LineNumbers(__m256i);

    impl Numbers for LineNumbers {
        // SAFETY: any bytes are one.
        const NONE: Self = LineNumbers(unsafe { transmute::<[u64; 4], __m256i>([0; 4]) });

        #[inline(always)]
        unsafe fn load(job: *const Job) -> Self {
            // SAFETY: the caller's; that they are side by side is asserted.
            LineNumbers(unsafe { _mm256_loadu_si256((&raw const (*job).nonce_len).cast()) })
        }

        #[inline(always)]
        fn and_of(self, other: Self, first: Self) -> Self {
            // SAFETY: the members' token is entered where any is loaded.
            LineNumbers(unsafe { _mm256_or_si256(self.0, _mm256_xor_si256(other.0, first.0)) })
        }

        #[inline(always)]
        fn any(self, keys: bool) -> bool {
            // SAFETY: as above.
            let there = unsafe { _mm256_test_epi64_mask(self.0, self.0) };
            there & (0b0011 | u8::from(keys) << 3) != 0
        }
    }

    impl Members for Line {
        type Numbers = LineNumbers;
        type Ends = LineEnds;

        #[inline(always)]
        fn of(members: [usize; 8]) -> Self {
            // SAFETY: any bytes are one.
            Line(unsafe { transmute::<[usize; 8], __m512i>(members) })
        }

        #[inline(always)]
        unsafe fn load(from: *const usize) -> Self {
            // SAFETY: the caller's.
            Line(unsafe { _mm512_loadu_si512(from.cast()) })
        }

        #[inline(always)]
        fn and(self, other: Self) -> Self {
            // SAFETY: it is entered where any is loaded.
            Line(unsafe { _mm512_and_si512(self.0, other.0) })
        }

        #[inline(always)]
        fn or(self, other: Self) -> Self {
            // SAFETY: as above.
            Line(unsafe { _mm512_or_si512(self.0, other.0) })
        }

        #[inline(always)]
        fn xor(self, other: Self) -> Self {
            // SAFETY: as above.
            Line(unsafe { _mm512_xor_si512(self.0, other.0) })
        }

        #[inline(always)]
        fn text(self) -> Pair {
            // SAFETY: as above.
            Pair(unsafe { _mm512_castsi512_si128(self.0) })
        }

        #[inline(always)]
        fn there(self) -> usize {
            // SAFETY: as above.
            usize::from(unsafe { _mm512_test_epi64_mask(self.0, self.0) })
        }
    }
}

#[cfg(not(target_arch = "x86_64"))]
mod plain {
    use super::{Members, NarrowEnds, NarrowNumbers};
    use core::ops::{BitAnd, BitOr, BitXor};

    /// 16 bytes.
    #[derive(Clone, Copy)]
    pub(crate) struct Pair(u128);

    impl Pair {
        pub(crate) const NONE: Pair = Pair(0);

        /// # Safety
        /// They are readable.
        #[inline(always)]
        pub(crate) unsafe fn load(from: *const u8) -> Self {
            // SAFETY: the caller's.
            Pair(unsafe { from.cast::<u128>().read_unaligned() })
        }

        #[inline(always)]
        pub(crate) fn or(self, other: Self) -> Self {
            Pair(self.0 | other.0)
        }

        #[inline(always)]
        pub(crate) fn xor(self, other: Self) -> Self {
            Pair(self.0 ^ other.0)
        }

        /// Whether any bit is set.
        #[inline(always)]
        pub(crate) fn any(self) -> bool {
            self.0 != 0
        }
    }

    impl Members for [usize; 8] {
        type Numbers = NarrowNumbers;
        type Ends = NarrowEnds;

        #[inline(always)]
        fn of(members: [usize; 8]) -> Self {
            members
        }

        #[inline(always)]
        unsafe fn load(from: *const usize) -> Self {
            // SAFETY: the caller's.
            unsafe { from.cast::<Self>().read() }
        }

        #[inline(always)]
        fn and(self, other: Self) -> Self {
            super::each(self, other, BitAnd::bitand)
        }

        #[inline(always)]
        fn or(self, other: Self) -> Self {
            super::each(self, other, BitOr::bitor)
        }

        #[inline(always)]
        fn xor(self, other: Self) -> Self {
            super::each(self, other, BitXor::bitxor)
        }

        #[inline(always)]
        fn text(self) -> Pair {
            let mut bytes = [0; 16];
            for (place, member) in bytes.chunks_exact_mut(8).zip(self) {
                place.copy_from_slice(&(member as u64).to_ne_bytes());
            }
            Pair(u128::from_ne_bytes(bytes))
        }

        #[inline(always)]
        fn there(self) -> usize {
            super::there(&self)
        }
    }
}
#[cfg(not(target_arch = "x86_64"))]
pub(super) use plain::Pair;
