//! What the x86 instruction sets share: a wide value as `U` vector registers,
//! AES rounds interleaved over them, and key expansion of several keys at once.
//!
//! `unsafe` here rests on one fact: a [`Vector`] method may run where the CPU has
//! its instructions, and a [`Words`] or token of a vector type exists only there
//! (tokens come from detection, values from tokens).
#![allow(unsafe_code)]

use super::ni::NiOne;
use super::{Isa, Product, RoundKeys, Sums, Wide, is_tweaked};
use crate::block::{Block, LINE, MAX_UNIT};
use crate::bytes;
use crate::expanded::Expanded;
use crate::lane_keys::LaneKeys;
use crate::schedule::{Uses, Way, WhichKey};
use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
use core::marker::PhantomData;
use core::mem::{MaybeUninit, offset_of};
use core::ops::{BitAnd, BitXor};
use core::ptr;

/// The operations of one register type: all that an instruction set's file has
/// to give.
///
/// # Safety
/// Every method may be called only where the CPU has the instructions; pointers
/// must be valid for what the method reads or writes.
pub(crate) trait Vector: Copy + 'static {
    /// Blocks in a register.
    const BLOCKS: usize;

    unsafe fn splat(block: &Block) -> Self;
    unsafe fn load(from: *const u8) -> Self;
    unsafe fn store(self, to: *mut u8);
    /// Fewer bytes than a register holds, zeros after them.
    unsafe fn load_part(from: *const u8, len: usize) -> Self;
    unsafe fn store_part(self, to: *mut u8, len: usize);
    /// At most 16 bytes in every block.
    #[inline(always)]
    unsafe fn load_everywhere(from: *const u8, len: usize) -> Self {
        unsafe { Self::splat(&bytes::load(from, len)) }
    }
    /// The same in the first block, zeros in the others.
    unsafe fn load_first(from: *const u8, len: usize) -> Self;
    unsafe fn store_first(self, to: *mut u8, len: usize);
    unsafe fn gather(at: *const *const u8, offset: usize) -> Self;
    unsafe fn scatter(self, to: *const *mut u8, offset: usize);
    /// Whether a register has as many blocks as a line.
    const IS_LINE: bool = Self::BLOCKS == LINE;
    /// From lines, one of each lane, to rows, and back. Where `IS_LINE`.
    unsafe fn transpose(_lines: [Self; LINE]) -> [Self; LINE] {
        unreachable!("a register does not hold a line")
    }
    /// The first, third, fifth, ... of the blocks of `a` and then `b`, and the others.
    unsafe fn unzip(a: Self, b: Self) -> (Self, Self);
    /// Undoes it.
    unsafe fn zip(firsts: Self, seconds: Self) -> (Self, Self);
    /// Each number as a little-endian integer.
    unsafe fn numbers(numbers: *const usize) -> Self;
    /// [`Isa::gather_part`] of `U` registers.
    unsafe fn gather_part<const U: usize>(
        of: impl Fn(usize) -> (*const u8, usize) + Copy,
    ) -> [Self; U];
    unsafe fn scatter_part<const U: usize>(
        x: [Self; U],
        of: impl Fn(usize) -> (*mut u8, usize) + Copy,
    );

    unsafe fn aesenc(self, key: Self) -> Self;
    unsafe fn aesenclast(self, key: Self) -> Self;
    unsafe fn aesdec(self, key: Self) -> Self;
    unsafe fn aesdeclast(self, key: Self) -> Self;
    /// InvMixColumns of each block.
    unsafe fn aesimc(self) -> Self;

    unsafe fn xor(self, b: Self) -> Self;
    unsafe fn and(self, b: Self) -> Self;
    /// `!self & b`
    unsafe fn and_not(self, b: Self) -> Self;
    unsafe fn add64(self, b: Self) -> Self;
    unsafe fn add32(self, b: Self) -> Self;
    /// Bit 63 of each half of a block, moved to bit 0.
    unsafe fn top_bits(self) -> Self;
    /// Bytes: all ones where that of `self` is greater, as signed numbers.
    unsafe fn greater8(self, b: Self) -> Self;
    unsafe fn sub8(self, b: Self) -> Self;
    /// Every bit of each 32-bit word its top bit.
    unsafe fn signs(self) -> Self;
    /// Each half of a block shifted by the number in that half of `n`, which is
    /// the same in both.
    unsafe fn shift_left(self, n: Self) -> Self;
    unsafe fn shift_right(self, n: Self) -> Self;
    /// The halves of each block exchanged.
    unsafe fn swap_halves(self) -> Self;
    /// Carry-less product of one half of each block with one of `b`: bit 0 of
    /// `I` chooses the upper half of `self`, bit 4 that of `b`.
    unsafe fn clmul<const I: i32>(self, b: Self) -> Self;
    /// Bytes of each block chosen by `index` (`pshufb`).
    unsafe fn shuffle(self, index: Self) -> Self;
    /// The sum of all blocks in the first, zeros in the others.
    unsafe fn fold(self) -> Self;
    /// The blocks one place up; the last of `before` comes first.
    unsafe fn shift_in(before: Self, x: Self) -> Self;
    unsafe fn last(self) -> Block;
    /// The first byte.
    unsafe fn low_byte(self) -> u8;
    /// The last block in the place of every block.
    unsafe fn last_everywhere(self) -> Self;

    // Of several registers: see `several`.

    /// `key` added to each.
    unsafe fn xor_all<const U: usize>(x: &mut [Self; U], key: &Self);
    unsafe fn aesenc_all<const U: usize>(x: &mut [Self; U], key: &Self);
    unsafe fn aesenclast_all<const U: usize>(x: &mut [Self; U], key: &Self);
    unsafe fn aesdec_all<const U: usize>(x: &mut [Self; U], key: &Self);
    unsafe fn aesdeclast_all<const U: usize>(x: &mut [Self; U], key: &Self);
    /// A key for each register.
    unsafe fn xor_each<const U: usize>(x: &mut [Self; U], keys: &[Self; U]);
    unsafe fn aesenc_each<const U: usize>(x: &mut [Self; U], keys: &[Self; U]);
    unsafe fn aesenclast_each<const U: usize>(x: &mut [Self; U], keys: &[Self; U]);
    unsafe fn aesdec_each<const U: usize>(x: &mut [Self; U], keys: &[Self; U]);
    unsafe fn aesdeclast_each<const U: usize>(x: &mut [Self; U], keys: &[Self; U]);
    unsafe fn and_each<const U: usize>(x: &mut [Self; U], y: &[Self; U]);
    /// The same block everywhere.
    unsafe fn splat_all<const U: usize>(block: &Block) -> [Self; U];
    /// Registers side by side in memory.
    unsafe fn load_all<const U: usize>(from: *const u8) -> [Self; U];
    unsafe fn store_all<const U: usize>(x: &[Self; U], to: *mut u8);
    unsafe fn gather_all<const U: usize>(at: *const *const u8, offset: usize) -> [Self; U];
    unsafe fn scatter_all<const U: usize>(x: &[Self; U], to: *const *mut u8, offset: usize);
    /// The first round keys of a schedule that was written.
    unsafe fn first_keys(keys: &[MaybeUninit<Self>; 15]) -> [Self; 11];
    /// The products of the blocks.
    unsafe fn multiply<F: Product>(self, y: Self) -> Self;
    /// Adds them to sums that are not reduced: low, middle and high parts.
    unsafe fn add_product(sums: &mut [Self; 3], x: Self, y: Self);
    unsafe fn reduced<F: Product>(sums: &[Self; 3]) -> Self;
}

/// What of a [`Vector`] is compiled for the features: operations that are one intrinsic
/// function of two registers, and those of `several`.
macro_rules! operations {
    ($features:literal: $($name:ident = $intrinsic:ident;)*) => {
        $(
            #[target_feature(enable = $features)]
            #[inline]
            unsafe fn $name(self, b: Self) -> Self {
                $intrinsic(self, b)
            }
        )*

        $crate::isa::x86::several!($features);
    };
}
pub(crate) use operations;

/// What a [`Vector`] does with several registers or in several steps, compiled for
/// `$features`. Such functions are compiled once and simplified before they are put into
/// the kernels. Code that is always inlined is simplified only there, and of single
/// instructions that was a quarter of the time to compile.
macro_rules! several {
    ($features:literal) => {
        $crate::isa::x86::several!($features, all(xor_all, xor) all(aesenc_all, aesenc)
            all(aesenclast_all, aesenclast) all(aesdec_all, aesdec)
            all(aesdeclast_all, aesdeclast) each(xor_each, xor) each(aesenc_each, aesenc)
            each(aesenclast_each, aesenclast) each(aesdec_each, aesdec)
            each(aesdeclast_each, aesdeclast) each(and_each, and));

        #[target_feature(enable = $features)]
        #[inline]
        unsafe fn splat_all<const U: usize>(block: &$crate::block::Block) -> [Self; U] {
            // SAFETY: the caller's, here and below.
            unsafe { [Self::splat(block); U] }
        }

        #[target_feature(enable = $features)]
        #[inline]
        unsafe fn load_all<const U: usize>(from: *const u8) -> [Self; U] {
            unsafe {
                let mut x = [Self::load(from); U];
                let mut u = 1;
                while u < U {
                    x[u] = Self::load(from.add(u * Self::BLOCKS * 16));
                    u += 1;
                }
                x
            }
        }

        #[target_feature(enable = $features)]
        #[inline]
        unsafe fn store_all<const U: usize>(x: &[Self; U], to: *mut u8) {
            let mut u = 0;
            while u < U {
                unsafe { x[u].store(to.add(u * Self::BLOCKS * 16)) };
                u += 1;
            }
        }

        #[target_feature(enable = $features)]
        #[inline]
        unsafe fn gather_all<const U: usize>(at: *const *const u8, offset: usize) -> [Self; U] {
            unsafe {
                let mut x = [Self::gather(at, offset); U];
                let mut u = 1;
                while u < U {
                    x[u] = Self::gather(at.add(u * Self::BLOCKS), offset);
                    u += 1;
                }
                x
            }
        }

        #[target_feature(enable = $features)]
        #[inline]
        unsafe fn scatter_all<const U: usize>(x: &[Self; U], to: *const *mut u8, offset: usize) {
            let mut u = 0;
            while u < U {
                unsafe { x[u].scatter(to.add(u * Self::BLOCKS), offset) };
                u += 1;
            }
        }

        #[target_feature(enable = $features)]
        #[inline]
        unsafe fn first_keys(keys: &[core::mem::MaybeUninit<Self>; 15]) -> [Self; 11] {
            unsafe {
                let mut first = [keys[0].assume_init(); 11];
                let mut r = 1;
                while r < 11 {
                    first[r] = keys[r].assume_init();
                    r += 1;
                }
                first
            }
        }

        #[target_feature(enable = $features)]
        #[inline]
        unsafe fn multiply<F: $crate::isa::Product>(self, y: Self) -> Self {
            unsafe { $crate::isa::x86::product::<F, _>(self, y) }
        }

        #[target_feature(enable = $features)]
        #[inline]
        unsafe fn add_product(sums: &mut [Self; 3], x: Self, y: Self) {
            unsafe {
                let (low, middle, high) = $crate::isa::x86::products(x, y);
                sums[0] = sums[0].xor(low);
                sums[1] = sums[1].xor(middle);
                sums[2] = sums[2].xor(high);
            }
        }

        #[target_feature(enable = $features)]
        #[inline]
        unsafe fn reduced<F: $crate::isa::Product>(sums: &[Self; 3]) -> Self {
            unsafe { $crate::isa::x86::reduce::<F, _>(sums[0], sums[1], sums[2]) }
        }
    };
    ($features:literal, $($kind:ident($name:ident, $one:ident))*) => {
        $($crate::isa::x86::several!(@$kind $features, $name, $one);)*
    };
    (@all $features:literal, $name:ident, $one:ident) => {
        #[target_feature(enable = $features)]
        #[inline]
        unsafe fn $name<const U: usize>(x: &mut [Self; U], key: &Self) {
            let mut u = 0;
            while u < U {
                // SAFETY: the caller's.
                x[u] = unsafe { x[u].$one(*key) };
                u += 1;
            }
        }
    };
    (@each $features:literal, $name:ident, $one:ident) => {
        #[target_feature(enable = $features)]
        #[inline]
        unsafe fn $name<const U: usize>(x: &mut [Self; U], keys: &[Self; U]) {
            let mut u = 0;
            while u < U {
                // SAFETY: the caller's.
                x[u] = unsafe { x[u].$one(keys[u]) };
                u += 1;
            }
        }
    };
}
pub(crate) use several;

/// [`Vector::gather_part`] without masked loads: makes blocks of the pieces, in memory. `N` is
/// `V::BLOCKS`.
///
/// # Safety
/// As there.
#[inline(always)]
pub(crate) unsafe fn gather_in_memory<V: Vector, const N: usize, const U: usize>(
    of: impl Fn(usize) -> (*const u8, usize) + Copy,
) -> [V; U] {
    const { assert!(N == V::BLOCKS) };
    let mut parts = [[(ptr::null(), 0); N]; U];
    let mut l = 0;
    while l < N * U {
        parts.as_flattened_mut()[l] = of(l);
        l += 1;
    }
    let mut blocks = [[[0; 16]; N]; U];
    // SAFETY: the caller's.
    unsafe { bytes::gather(parts.as_flattened(), blocks.as_flattened_mut()) };
    // Block by block, as they were written: a wider load would wait.
    let mut at = [[ptr::null(); N]; U];
    let mut l = 0;
    while l < N * U {
        at.as_flattened_mut()[l] = blocks.as_flattened()[l].as_ptr();
        l += 1;
    }
    // SAFETY: the caller's, and there are the blocks.
    unsafe { V::gather_all(at.as_flattened().as_ptr(), 0) }
}

/// The counterpart of [`gather_in_memory`].
///
/// # Safety
/// As of [`Vector::scatter_part`].
#[inline(always)]
pub(crate) unsafe fn scatter_in_memory<V: Vector, const N: usize, const U: usize>(
    x: [V; U],
    of: impl Fn(usize) -> (*mut u8, usize) + Copy,
) {
    const { assert!(N == V::BLOCKS) };
    let mut blocks = [[[0; 16]; N]; U];
    // SAFETY: the caller's; the registers have so many blocks.
    unsafe { V::store_all(&x, blocks.as_mut_ptr().cast()) };
    let mut parts = [[(ptr::null_mut(), 0); N]; U];
    let mut l = 0;
    while l < N * U {
        parts.as_flattened_mut()[l] = of(l);
        l += 1;
    }
    // SAFETY: the caller's.
    unsafe { bytes::scatter(blocks.as_flattened(), parts.as_flattened()) };
}

/// `U` registers of blocks.
#[derive(Clone, Copy)]
pub(crate) struct Words<V, const U: usize>(pub [V; U]);

/// Every register of `x` by `f`.
macro_rules! each {
    ($x:expr, $v:ident => $f:expr) => {{
        let mut out = $x;
        let mut u = 0;
        while u < U {
            let $v = out[u];
            // SAFETY: a value of this vector type exists, so the CPU has its
            // instructions.
            out[u] = unsafe { $f };
            u += 1;
        }
        out
    }};
    ($x:expr, $y:expr, $v:ident, $w:ident => $f:expr) => {{
        let y = $y;
        let mut out = $x;
        let mut u = 0;
        while u < U {
            let ($v, $w) = (out[u], y[u]);
            // SAFETY: as above.
            out[u] = unsafe { $f };
            u += 1;
        }
        out
    }};
}

impl<V: Vector, const U: usize> BitXor for Words<V, U> {
    type Output = Self;

    #[inline(always)]
    fn bitxor(mut self, rhs: Self) -> Self {
        // SAFETY: values of the vector type exist.
        unsafe { V::xor_each(&mut self.0, &rhs.0) };
        self
    }
}

impl<V: Vector, const U: usize> BitAnd for Words<V, U> {
    type Output = Self;

    #[inline(always)]
    fn bitand(mut self, rhs: Self) -> Self {
        // SAFETY: values of the vector type exist.
        unsafe { V::and_each(&mut self.0, &rhs.0) };
        self
    }
}

const REVERSE: Block = [15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0];
/// Byte 0 to byte 8, zeros elsewhere: a carry into the upper half.
const CARRY_UP: Block = [
    255, 255, 255, 255, 255, 255, 255, 255, 0, 255, 255, 255, 255, 255, 255, 255,
];

impl<V: Vector, const U: usize> Wide for Words<V, U> {
    #[inline(always)]
    fn swap_bytes(self) -> Self {
        Words(each!(self.0, a => a.shuffle(V::splat(&REVERSE))))
    }

    #[inline(always)]
    fn count(self, steps: Self) -> Self {
        // With steps below 2^63 the low half overflows exactly when its top bit
        // falls from 1 to 0.
        Words(each!(self.0, steps.0, a, n => {
            let sum = a.add64(n);
            let carry = sum.and_not(a).top_bits().shuffle(V::splat(&CARRY_UP));
            sum.add64(carry)
        }))
    }

    #[inline(always)]
    fn count64(self, steps: Self) -> Self {
        Words(each!(self.0, steps.0, a, n => a.add64(n)))
    }

    #[inline(always)]
    fn count32(self, steps: Self) -> Self {
        Words(each!(self.0, steps.0, a, n => a.add32(n)))
    }

    #[inline(always)]
    fn double(self) -> Self {
        Words(each!(self.0, a => {
            let carry = a.signs().shuffle(V::splat(&CARRY_OUT)).and(V::splat(&FOLD));
            a.add64(a).xor(carry)
        }))
    }

    #[inline(always)]
    fn times_power(self, n: Self) -> Self {
        Words(each!(self.0, n.0, a, n => {
            let rest = V::splat(&BOTH_64).sub8(n);
            let out = a.shift_right(rest).swap_halves();
            let carry = out.and(V::splat(&UPPER_HALF));
            a.shift_left(n).xor(carry).xor(out.clmul::<0x00>(V::splat(&FOLD)))
        }))
    }

    #[inline(always)]
    fn times_byte_power(self, m: Self) -> Self {
        Words(each!(self.0, m.up().0, a, up => a.shuffle(up)))
            ^ Words(each!(self.0, m.down().0, a, down => {
                a.shuffle(down).clmul::<0x00>(V::splat(&FOLD))
            }))
    }

    #[inline(always)]
    fn shift_left(self, n: Self) -> Self {
        Words(each!(self.0, n.0, a, n => a.shift_left(n)))
    }

    #[inline(always)]
    fn shift_right(self, n: Self) -> Self {
        Words(each!(self.0, n.0, a, n => a.shift_right(n)))
    }

    #[inline(always)]
    fn shuffle(self, index: Self) -> Self {
        Words(each!(self.0, index.0, a, i => a.shuffle(i)))
    }

    #[inline(always)]
    fn first_bytes(self) -> Self {
        Words(each!(self.0, n => n.greater8(V::splat(&PLACES))))
    }

    #[inline(always)]
    fn any(self) -> Self {
        Words(each!(self.0, n => n.greater8(V::splat(&[0; 16]))))
    }

    #[inline(always)]
    fn partial(self) -> Self {
        Words(each!(self.0, n => V::splat(&[16; 16]).greater8(n)))
    }

    #[inline(always)]
    fn one_zero(self) -> Self {
        Words(each!(self.0, n => {
            let places = V::splat(&PLACES);
            let further = n.sub8(V::splat(&[0xff; 16])).greater8(places);
            n.greater8(places).and_not(further).and(V::splat(&[0x80; 16]))
        }))
    }

    #[inline(always)]
    fn pkcs7(self) -> Self {
        Words(each!(self.0, n => {
            n.greater8(V::splat(&PLACES)).and_not(V::splat(&[16; 16]).sub8(n))
        }))
    }

    #[inline(always)]
    fn up(self) -> Self {
        Words(each!(self.0, n => V::splat(&PLACES).sub8(n)))
    }

    #[inline(always)]
    fn down(self) -> Self {
        // Places beyond the n-th get their top bit set.
        Words(each!(self.0, n => {
            let beyond = n.greater8(V::splat(&PLACES)).and_not(V::splat(&[0x80; 16]));
            V::splat(&PLACES).sub8(n).sub8(V::splat(&[-16i8 as u8; 16])).xor(beyond)
        }))
    }

    #[inline(always)]
    fn mul<F: Product>(self, b: Self) -> Self {
        Words(each!(self.0, b.0, a, b => a.multiply::<F>(b)))
    }

    #[inline(always)]
    fn add_halves(self, b: Self) -> Self {
        Words(each!(self.0, b.0, a, b => a.add64(b)))
    }
}

/// The pieces of a multiplication, which [`field`](crate::field) puts together in
/// other ways than [`Wide::mul`].
#[cfg(feature = "measure")]
pub(crate) trait CarryLess: Wide {
    /// The product of one half of every block with one of `b`: bit 0 of `I` chooses
    /// the upper half of `self`, bit 4 that of `b`.
    fn clmul<const I: i32>(self, b: Self) -> Self;
    /// The halves of every block exchanged.
    fn swap_halves(self) -> Self;
}

#[cfg(feature = "measure")]
impl<V: Vector, const U: usize> CarryLess for Words<V, U> {
    #[inline(always)]
    fn clmul<const I: i32>(self, b: Self) -> Self {
        Words(each!(self.0, b.0, a, b => a.clmul::<I>(b)))
    }

    #[inline(always)]
    fn swap_halves(self) -> Self {
        Words(each!(self.0, a => a.swap_halves()))
    }
}

/// 64 in both halves.
const BOTH_64: Block = [64, 0, 0, 0, 0, 0, 0, 0, 64, 0, 0, 0, 0, 0, 0, 0];
const UPPER_HALF: Block = [
    0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 255, 255, 255, 255, 255, 255,
];
const PLACES: Block = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];
/// Words 1 and 3 of signs to where their carries go: into word 2, and around
/// into word 0.
const CARRY_OUT: Block = bytes_from(W3, ZERO, W1, ZERO);
/// x^128 = x^7 + x^2 + x + 1, and the carry of the lower half.
const FOLD: Block = bytes_from([0x87, 0, 0, 0], [0; 4], [1, 0, 0, 0], [0; 4]);
/// x^127 + x^126 + x^121 + 1 without the 1, divided by x^64, in the upper half.
const POLYVAL: Block = bytes_from([0; 4], [0; 4], [0; 4], [0, 0, 0, 0xc2]);

/// x^7 + x^2 + x + 1 without the 1, in the lower half.
const PLAIN: Block = bytes_from([0x86, 0, 0, 0], [0; 4], [0; 4], [0; 4]);

/// In the field of POLYVAL `(low + middle x^64 + high x^128) / x^128`: two steps of
/// Gueron's reduction. There 1 is x^64 (x^64 + x^63 + x^62 + x^57), so the lower half
/// of a sum goes up by 64 bits at the price of a product. In the plain field x^128 is
/// x^7 + x^2 + x + 1, and the upper half of the sum itself goes down in the same way.
#[inline(always)]
pub(crate) unsafe fn reduce<F: Product, V: Vector>(low: V, middle: V, high: V) -> V {
    // SAFETY: a value of the vector type exists.
    unsafe {
        if F::POLYVAL {
            let poly = V::splat(&POLYVAL);
            let middle = middle.xor(low.swap_halves()).xor(low.clmul::<0x10>(poly));
            high.xor(middle.swap_halves())
                .xor(middle.clmul::<0x10>(poly))
        } else {
            let poly = V::splat(&PLAIN);
            let middle = middle.xor(high.swap_halves()).xor(high.clmul::<0x01>(poly));
            low.xor(middle.swap_halves())
                .xor(middle.clmul::<0x01>(poly))
        }
    }
}

/// A key broadcast to registers: the schedules that a mode uses.
pub(crate) struct Broadcast<V> {
    enc: Schedule<V>,
    dec: Schedule<V>,
    second: Schedule<V>,
    rounds: usize,
}

/// All round keys of a schedule in use. Of others nothing is written.
struct Schedule<V> {
    keys: [MaybeUninit<V>; 15],
    used: bool,
}

impl<V: Vector> Schedule<V> {
    /// # Safety
    /// The CPU has the instructions of `V`.
    #[inline(always)]
    unsafe fn broadcast(keys: &[Block; 15], used: bool) -> Self {
        let mut out = [const { MaybeUninit::uninit() }; 15];
        let mut r = 0;
        while used && r < 15 {
            // SAFETY: the caller's.
            out[r].write(unsafe { V::splat(&keys[r]) });
            r += 1;
        }
        Schedule { keys: out, used }
    }

    /// The first round keys, if they are `wanted`.
    #[inline(always)]
    fn first(&self, wanted: bool) -> [V; 11] {
        if !wanted {
            // SAFETY: a key of the vector type exists, so the CPU has its instructions.
            return [unsafe { V::splat(&[0; 16]) }; 11];
        }
        assert!(self.used);
        // SAFETY: those of a schedule in use were written.
        unsafe { V::first_keys(&self.keys) }
    }

    /// Round key `r`, below 15.
    ///
    /// # Safety
    /// The schedule is in use.
    #[inline(always)]
    unsafe fn get(&self, r: usize) -> V {
        // SAFETY: it was written.
        unsafe { self.keys[r].assume_init() }
    }
}

/// # Safety
/// The CPU has the instructions of `V`.
#[inline(always)]
pub(crate) unsafe fn broadcast<V: Vector>(
    key: &Expanded,
    dec: &[Block; 15],
    uses: Uses,
) -> Broadcast<V> {
    // SAFETY: the caller's.
    unsafe {
        Broadcast {
            enc: Schedule::broadcast(&key.enc, uses.forward),
            dec: Schedule::broadcast(dec, uses.inverse),
            second: Schedule::broadcast(&key.second, uses.second),
            rounds: key.rounds(),
        }
    }
}

/// Round keys of the equivalent inverse cipher, FIPS 197 section 5.3.5.
///
/// # Safety
/// The CPU has the instructions of `V`.
#[inline(always)]
pub(crate) unsafe fn inverse_schedule<V: Vector>(enc: &[Block; 15], rounds: usize) -> [Block; 15] {
    let (mut mixed, mut dec) = ([[0; 16]; 15], [[0; 16]; 15]);
    let mut r = 1;
    while r < rounds {
        // SAFETY: the caller's; a register has no more blocks than follow in both arrays.
        unsafe {
            let from = r.min(15 - V::BLOCKS);
            let x = V::load(enc[from..].as_ptr().cast());
            x.aesimc().store(mixed[from..].as_mut_ptr().cast());
        }
        r += V::BLOCKS;
    }
    dec[0] = enc[rounds];
    dec[rounds] = enc[0];
    let mut r = 1;
    while r < rounds {
        dec[r] = mixed[rounds - r];
        r += 1;
    }
    dec
}

/// The whole cipher on the registers `$x`, with `$key` round key `$r`, and `$longer` the
/// same of those that only longer keys have. Nine rounds, two more for 192-bit keys, two
/// more for 256-bit keys, and the last: the key size is no type parameter.
macro_rules! rounds {
    (
        $x:expr, $rounds:expr, ($xor:ident, $mid:ident, $last:ident),
        |$r:ident| $key:expr, $longer:expr
    ) => {{
        let x = first_round!($x, ($xor, $mid), |$r| $key);
        rest!(x, $rounds, ($mid, $last), |$r| $key, $longer, |last| last)
    }};
}

/// The beginning of [`rounds`]: the first key and the first round.
macro_rules! first_round {
    ($x:expr, ($xor:ident, $mid:ident), |$r:ident| $key:expr) => {{
        let mut x = $x;
        let $r = 0;
        // SAFETY: values of the vector type exist.
        unsafe { V::$xor(&mut x, &$key) };
        let $r = 1;
        // SAFETY: as above.
        unsafe { V::$mid(&mut x, &$key) };
        x
    }};
}

/// What follows it; of the last round key `$k` it takes `$end`.
macro_rules! rest {
    (
        $x:expr, $rounds:expr, ($mid:ident, $last:ident), |$r:ident| $key:expr, $longer:expr,
        |$k:ident| $end:expr
    ) => {{
        let mut x = $x;
        macro_rules! round {
            ($at:literal) => {{
                let $r = $at;
                // SAFETY: values of the vector type exist.
                unsafe { V::$mid(&mut x, &$key) };
            }};
        }
        macro_rules! longer {
            ($at:literal) => {{
                let $r = $at;
                // SAFETY: as above.
                unsafe { V::$mid(&mut x, &$longer) };
            }};
        }
        macro_rules! last {
            (10) => {{
                let $r = 10;
                // SAFETY: as above.
                unsafe {
                    let $k = &$key;
                    V::$last(&mut x, $end)
                };
            }};
            ($at:literal) => {{
                let $r = $at;
                // SAFETY: as above.
                unsafe {
                    let $k = &$longer;
                    V::$last(&mut x, $end)
                };
            }};
        }
        // No loop: constant indices are what lets the compiler keep the keys in
        // registers from early on.
        round!(2);
        round!(3);
        round!(4);
        round!(5);
        round!(6);
        round!(7);
        round!(8);
        round!(9);
        if $rounds > 10 {
            round!(10);
            longer!(11);
            if $rounds > 12 {
                longer!(12);
                longer!(13);
                last!(14);
            } else {
                last!(12);
            }
        } else {
            last!(10);
        }
        x
    }};
}

impl<V: Vector> Broadcast<V> {
    /// What a loop holds of the schedules that `uses` says, all of which are in use.
    #[inline(always)]
    pub(crate) fn load(&self, rounds: usize, uses: Uses) -> Loaded<'_, V> {
        Loaded {
            enc: self.enc.first(uses.forward),
            dec: self.dec.first(uses.inverse),
            second: self.second.first(uses.second),
            all: self,
            rounds,
        }
    }

    #[inline(always)]
    pub(crate) fn rounds(&self) -> usize {
        self.rounds
    }
}

/// What a loop holds of a key: the round keys of AES-128. Those that longer keys have
/// beside them it takes from memory.
#[derive(Clone, Copy)]
pub(crate) struct Loaded<'k, V> {
    enc: [V; 11],
    dec: [V; 11],
    second: [V; 11],
    all: &'k Broadcast<V>,
    rounds: usize,
}

impl<V: Vector> Loaded<'_, V> {
    #[inline(always)]
    pub(crate) fn encrypt<const U: usize>(&self, x: [V; U]) -> [V; U] {
        rounds!(
            x,
            self.rounds,
            (xor_all, aesenc_all, aesenclast_all),
            |r| self.enc[r],
            self.all.enc.get(r)
        )
    }

    /// See [`Isa::first_round`](crate::isa::Isa::first_round).
    #[inline(always)]
    pub(crate) fn first_round<const U: usize>(&self, x: [V; U]) -> [V; U] {
        first_round!(x, (xor_all, aesenc_all), |r| self.enc[r])
    }

    #[inline(always)]
    pub(crate) fn encrypt_rest<const U: usize>(&self, x: [V; U]) -> [V; U] {
        rest!(
            x,
            self.rounds,
            (aesenc_all, aesenclast_all),
            |r| self.enc[r],
            self.all.enc.get(r),
            |last| last
        )
    }

    #[inline(always)]
    pub(crate) fn encrypt_linked<const U: usize>(&self, x: [V; U], add: [V; U]) -> [V; U] {
        let mut x = x;
        // SAFETY: values of the vector type exist.
        unsafe { V::aesenc_all(&mut x, &self.enc[1]) };
        rest!(
            x,
            self.rounds,
            (aesenc_all, aesenclast_each),
            |r| self.enc[r],
            self.all.enc.get(r),
            |last| &{
                let mut sums = add;
                V::xor_all(&mut sums, last);
                sums
            }
        )
    }

    #[inline(always)]
    pub(crate) fn decrypt<const U: usize>(&self, x: [V; U]) -> [V; U] {
        rounds!(
            x,
            self.rounds,
            (xor_all, aesdec_all, aesdeclast_all),
            |r| self.dec[r],
            self.all.dec.get(r)
        )
    }

    #[inline(always)]
    pub(crate) fn encrypt_second<const U: usize>(&self, x: [V; U]) -> [V; U] {
        rounds!(
            x,
            self.rounds,
            (xor_all, aesenc_all, aesenclast_all),
            |r| self.second[r],
            self.all.second.get(r)
        )
    }

    #[inline(always)]
    pub(crate) fn tweaked<const U: usize>(&self, way: Way, x: [V; U], tweak: [V; U]) -> [V; U] {
        match way {
            Way::Encrypt => rounds!(
                x,
                10,
                (xor_each, aesenc_each, aesenclast_each),
                |r| tweaked_key([self.enc[r]; U], r, &tweak),
                tweaked_key([self.all.enc.get(r); U], r, &tweak)
            ),
            Way::Decrypt => {
                let tweak = inverse_mix(tweak);
                rounds!(
                    x,
                    10,
                    (xor_each, aesdec_each, aesdeclast_each),
                    |r| tweaked_key([self.dec[r]; U], r, &tweak),
                    tweaked_key([self.all.dec.get(r); U], r, &tweak)
                )
            }
            Way::EncryptSecond => rounds!(
                x,
                10,
                (xor_each, aesenc_each, aesenclast_each),
                |r| tweaked_key([self.second[r]; U], r, &tweak),
                tweaked_key([self.all.second.get(r); U], r, &tweak)
            ),
        }
    }
}

/// The registers of round key `r` with the tweak, if it is one that is tweaked.
#[inline(always)]
unsafe fn tweaked_key<V: Vector, const U: usize>(
    mut key: [V; U],
    r: usize,
    tweak: &[V; U],
) -> [V; U] {
    if is_tweaked(r) {
        // SAFETY: values of the vector type exist.
        unsafe { V::xor_each(&mut key, tweak) };
    }
    key
}

#[inline(always)]
pub(crate) fn inverse_mix<V: Vector, const U: usize>(x: [V; U]) -> [V; U] {
    each!(x, a => a.aesimc())
}

// A row of lane keys has a block for each lane, at least `U * V::BLOCKS`.

#[inline(always)]
pub(crate) fn encrypt_each<V: Vector, const U: usize, const L: usize>(
    keys: &LaneKeys<L>,
    rounds: usize,
    x: [V; U],
) -> [V; U] {
    rounds!(
        x,
        rounds,
        (xor_each, aesenc_each, aesenclast_each),
        |r| V::load_all(keys.enc(r)),
        V::load_all(keys.enc(r))
    )
}

#[inline(always)]
pub(crate) fn decrypt_each<V: Vector, const U: usize, const L: usize>(
    keys: &LaneKeys<L>,
    rounds: usize,
    x: [V; U],
) -> [V; U] {
    rounds!(
        x,
        rounds,
        (xor_each, aesdec_each, aesdeclast_each),
        |r| V::load_all(keys.dec(r)),
        V::load_all(keys.dec(r))
    )
}

#[inline(always)]
pub(crate) fn encrypt_second_each<V: Vector, const U: usize, const L: usize>(
    keys: &LaneKeys<L>,
    rounds: usize,
    x: [V; U],
) -> [V; U] {
    rounds!(
        x,
        rounds,
        (xor_each, aesenc_each, aesenclast_each),
        |r| V::load_all(keys.second(r)),
        V::load_all(keys.second(r))
    )
}

#[inline(always)]
pub(crate) fn tweaked_each<V: Vector, const U: usize, const L: usize>(
    keys: &LaneKeys<L>,
    way: Way,
    x: [V; U],
    tweak: [V; U],
) -> [V; U] {
    match way {
        Way::Encrypt => rounds!(
            x,
            10,
            (xor_each, aesenc_each, aesenclast_each),
            |r| tweaked_key(V::load_all(keys.enc(r)), r, &tweak),
            tweaked_key(V::load_all(keys.enc(r)), r, &tweak)
        ),
        Way::Decrypt => {
            let tweak = inverse_mix(tweak);
            rounds!(
                x,
                10,
                (xor_each, aesdec_each, aesdeclast_each),
                |r| tweaked_key(V::load_all(keys.dec(r)), r, &tweak),
                tweaked_key(V::load_all(keys.dec(r)), r, &tweak)
            )
        }
        Way::EncryptSecond => rounds!(
            x,
            10,
            (xor_each, aesenc_each, aesenclast_each),
            |r| tweaked_key(V::load_all(keys.second(r)), r, &tweak),
            tweaked_key(V::load_all(keys.second(r)), r, &tweak)
        ),
    }
}

/// A block of four words.
const fn bytes_from(first: [u8; 4], second: [u8; 4], third: [u8; 4], fourth: [u8; 4]) -> Block {
    let mut out = [0; 16];
    let words = [first, second, third, fourth];
    let mut i = 0;
    while i < 16 {
        out[i] = words[i / 4][i % 4];
        i += 1;
    }
    out
}
const ZERO: [u8; 4] = [0x80; 4];
const W0: [u8; 4] = [0, 1, 2, 3];
const W1: [u8; 4] = [4, 5, 6, 7];
const W2: [u8; 4] = [8, 9, 10, 11];
const W3: [u8; 4] = [12, 13, 14, 15];
/// RotWord of word 1 or word 3, SubWord's input, in all four columns: equal
/// columns make ShiftRows the identity, so AESENCLAST is SubBytes and a key.
const ROT1: Block = bytes_from([5, 6, 7, 4], [5, 6, 7, 4], [5, 6, 7, 4], [5, 6, 7, 4]);
const ROT3: Block = bytes_from(
    [13, 14, 15, 12],
    [13, 14, 15, 12],
    [13, 14, 15, 12],
    [13, 14, 15, 12],
);
const ALL3: Block = bytes_from(W3, W3, W3, W3);
const UP1: Block = bytes_from(ZERO, W0, W1, W2);
const UP2: Block = bytes_from(ZERO, ZERO, W0, W1);
const LOW_OF: Block = bytes_from(W0, W1, ZERO, ZERO);
const LOW_TO_HIGH: Block = bytes_from(ZERO, ZERO, W0, W1);
const HIGH_TO_LOW: Block = bytes_from(W2, W3, ZERO, ZERO);

/// The round constants, in all columns.
const CONSTANTS: [Block; 10] = {
    let mut all = [[0; 16]; 10];
    let mut value = 1u8;
    let mut i = 0;
    while i < 10 {
        let word = [value, 0, 0, 0];
        all[i] = bytes_from(word, word, word, word);
        value = value << 1 ^ ((value >> 7) * 0x1b);
        i += 1;
    }
    all
};

/// Each word the sum of itself and all before it, and `t`.
#[inline(always)]
unsafe fn spread<V: Vector>(w: V, t: V) -> V {
    // SAFETY: a value of the vector type exists.
    unsafe {
        let w = w.xor(w.shuffle(V::splat(&UP1)));
        w.xor(w.shuffle(V::splat(&UP2))).xor(t)
    }
}

/// The next six words of a 192-bit key's schedule: four in the first, two in the
/// low half of the second.
#[inline(always)]
unsafe fn six_words<V: Vector>(a: V, b: V, constant: &Block) -> (V, V) {
    // SAFETY: a value of the vector type exists.
    unsafe {
        let t = b.shuffle(V::splat(&ROT1)).aesenclast(V::splat(constant));
        let a = spread(a, t);
        let low = b.xor(b.shuffle(V::splat(&UP1)));
        let b = low.xor(a.shuffle(V::splat(&ALL3)));
        (a, b.shuffle(V::splat(&LOW_OF)))
    }
}

/// FIPS 197 section 5.2 for keys of `key_bytes` bytes, one in each block of the
/// registers: the bytes of `first` and then those of `second`. `out` is given each round
/// key: its number, that of the register, and the register.
///
/// # Safety
/// The CPU has the instructions of `V`.
#[inline(always)]
unsafe fn schedule<V: Vector, const U: usize>(
    first: [V; U],
    second: [V; U],
    key_bytes: usize,
    mut out: impl FnMut(usize, usize, V),
) {
    let (mut a, mut b) = (first, second);
    // Step by step in all registers, none of which would keep the CPU busy by itself.
    macro_rules! all {
        ($u:ident => $f:expr) => {{
            let mut $u = 0;
            while $u < U {
                $f;
                $u += 1;
            }
        }};
    }
    // SAFETY: the caller's, that the CPU has the instructions.
    unsafe {
        all!(u => out(0, u, a[u]));
        match key_bytes {
            16 => {
                let mut r = 1;
                while r < 11 {
                    all!(u => {
                        let t = a[u].shuffle(V::splat(&ROT3));
                        a[u] = spread(a[u], t.aesenclast(V::splat(&CONSTANTS[r - 1])));
                        out(r, u, a[u]);
                    });
                    r += 1;
                }
            }
            24 => {
                // Six words a step, four in `a` and two in the low half of `b`; two steps
                // make three round keys.
                let mut r = 0;
                while r < 12 {
                    let i = r / 3 * 2;
                    all!(u => {
                        let low = b[u].shuffle(V::splat(&LOW_OF));
                        (a[u], b[u]) = six_words(a[u], b[u], &CONSTANTS[i]);
                        out(r + 1, u, low.xor(a[u].shuffle(V::splat(&LOW_TO_HIGH))));
                        let low = b[u].shuffle(V::splat(&LOW_TO_HIGH));
                        out(r + 2, u, a[u].shuffle(V::splat(&HIGH_TO_LOW)).xor(low));
                        (a[u], b[u]) = six_words(a[u], b[u], &CONSTANTS[i + 1]);
                        out(r + 3, u, a[u]);
                    });
                    r += 3;
                }
            }
            _ => {
                all!(u => out(1, u, b[u]));
                let mut r = 2;
                while r < 15 {
                    all!(u => {
                        let t = b[u].shuffle(V::splat(&ROT3));
                        a[u] = spread(a[u], t.aesenclast(V::splat(&CONSTANTS[r / 2 - 1])));
                        out(r, u, a[u]);
                    });
                    if r < 14 {
                        all!(u => {
                            let t = a[u].shuffle(V::splat(&ALL3));
                            b[u] = spread(b[u], t.aesenclast(V::splat(&[0; 16])));
                            out(r + 1, u, b[u]);
                        });
                    }
                    r += 2;
                }
            }
        }
    }
}

/// The schedules of keys that lie in registers, one in each block.
#[inline(always)]
pub(crate) fn expand_row<V: Vector, const U: usize, const L: usize>(
    keys: &mut LaneKeys<L>,
    raw: [Words<V, U>; 2],
    bytes: usize,
    which: WhichKey,
) {
    keys.set_rounds(bytes / 4 + 6);
    // SAFETY: values of the vector type exist, and a row of lane keys has `U * V::BLOCKS`
    // blocks.
    unsafe {
        schedule(
            raw[0].0,
            raw[1].0,
            bytes,
            #[inline(always)]
            |r, u, k| {
                k.store(match which {
                    WhichKey::First => keys.enc_mut(r, u * V::BLOCKS),
                    WhichKey::Second => keys.second_mut(r, u * V::BLOCKS),
                });
            },
        );
    }
}

/// The round keys of 128-bit keys that lie in registers.
#[inline(always)]
pub(crate) fn schedule_row<V: Vector, const U: usize>(raw: Words<V, U>) -> RoundKeys<Words<V, U>> {
    let mut out = [raw; 11];
    // SAFETY: values of the vector type exist.
    unsafe {
        schedule(
            raw.0,
            raw.0,
            16,
            #[inline(always)]
            |r, u, k| out[r].0[u] = k,
        );
    }
    out
}

/// Gives each lane what `uses` says of its key in `of`.
///
/// # Safety
/// The CPU has the instructions of `V`.
#[inline(always)]
pub(crate) unsafe fn lane_keys<V: Vector, const U: usize, const L: usize>(
    keys: &mut LaneKeys<L>,
    of: &[&Expanded; L],
    uses: Uses,
) {
    const { assert!(U * V::BLOCKS <= L) };
    let rounds = of[0].rounds();
    // SAFETY: the caller's; there is a key for each lane.
    unsafe {
        if uses.forward || uses.inverse {
            lane_schedules::<V, U, L>(keys, of, WhichKey::First);
        }
        if uses.inverse {
            let mut r = 0;
            while r <= rounds {
                let row: [V; U] = V::load_all(keys.enc(rounds - r));
                let row = if r == 0 || r == rounds {
                    row
                } else {
                    inverse_mix(row)
                };
                V::store_all(&row, keys.dec_mut(r));
                r += 1;
            }
        }
        if uses.second {
            lane_schedules::<V, U, L>(keys, of, WhichKey::Second);
        }
        let mut i = 0;
        while i < uses.constants {
            let row: [V; U] = gather_keys(of, offset_of!(Expanded, sub) + i * 16);
            V::store_all(&row, keys.subkey_mut(i).as_mut_ptr().cast());
            i += 1;
        }
    }
}

/// Makes the schedules of lanes of the keys themselves, where a register holds several:
/// to collect so many round keys costs more, and there are more lines of the cache to wait
/// for. One after the other, expanding costs more.
///
/// # Safety
/// The CPU has the instructions of `V`; there is a key for each lane.
#[inline(always)]
unsafe fn lane_schedules<V: Vector, const U: usize, const L: usize>(
    keys: &mut LaneKeys<L>,
    of: &[&Expanded; L],
    which: WhichKey,
) {
    let rounds = of[0].rounds();
    let offset = match which {
        WhichKey::First => offset_of!(Expanded, enc),
        WhichKey::Second => offset_of!(Expanded, second),
    };
    // SAFETY: the caller's.
    unsafe {
        if const { V::BLOCKS > 1 } {
            let raw = [gather_keys(of, offset), gather_keys(of, offset + 16)];
            expand_row(keys, raw.map(Words::<V, U>), (rounds - 6) * 4, which);
            return;
        }
        keys.set_rounds(rounds);
        let mut r = 0;
        while r <= rounds {
            let row: [V; U] = gather_keys(of, offset + r * 16);
            V::store_all(
                &row,
                match which {
                    WhichKey::First => keys.enc_mut(r, 0),
                    WhichKey::Second => keys.second_mut(r, 0),
                },
            );
            r += 1;
        }
    }
}

/// The blocks at `offset` of keys, one for each lane.
///
/// # Safety
/// The CPU has the instructions of `V`; there is a key for each lane, and a block there.
#[inline(always)]
unsafe fn gather_keys<V: Vector, const U: usize, const L: usize>(
    of: &[&Expanded; L],
    offset: usize,
) -> [V; U] {
    // SAFETY: the caller's.
    unsafe { V::gather_all(of.as_ptr().cast(), offset) }
}

/// FIPS 197 section 5.2 for `V::BLOCKS` keys at once, one in each block of a
/// register.
///
/// All of `raw` have one length; `out[l]` receives what comes of `raw[l]`.
///
/// # Safety
/// The CPU has the instructions of `V`.
#[inline(always)]
pub(crate) unsafe fn expand<V: Vector>(raw: &[&[u8]], out: &mut [Expanded], which: WhichKey) {
    // SAFETY: the caller's, that the CPU has the instructions; loads and stores
    // are of whole arrays.
    unsafe {
        let key_bytes = raw[0].len();
        let rounds = key_bytes / 4 + 6;
        // The caller may have fewer keys than lanes: the last lanes repeat key 0.
        let mut first = [[0u8; 16]; 4];
        let mut second = [[0u8; 16]; 4];
        for l in 0..V::BLOCKS {
            let key = raw[if l < raw.len() { l } else { 0 }];
            first[l].copy_from_slice(&key[..16]);
            second[l][..key_bytes - 16].copy_from_slice(&key[16..]);
        }
        let first = V::load(first.as_ptr().cast());
        let second = V::load(second.as_ptr().cast());
        let mut rk = [first; 15];
        schedule(
            [first],
            [second],
            key_bytes,
            #[inline(always)]
            |r, _, k| rk[r] = k,
        );

        // Lanes without a key of their own did key 0's work and store it again.
        let place = |f: fn(&mut Expanded) -> *mut u8, out: &mut [Expanded]| {
            let mut to = [f(&mut out[0]); 4];
            for (to, key) in to.iter_mut().zip(out) {
                *to = f(key);
            }
            to
        };
        let to = match which {
            WhichKey::First => place(|key| key.enc.as_mut_ptr().cast(), out),
            WhichKey::Second => place(|key| key.second.as_mut_ptr().cast(), out),
        };
        for (r, k) in rk.iter().enumerate().take(rounds + 1) {
            k.scatter(to.as_ptr(), r * 16);
        }
        if which == WhichKey::Second {
            return;
        }
        let mut x = rk[0];
        for k in &rk[1..rounds] {
            x = x.aesenc(*k);
        }
        x = x.aesenclast(rk[rounds]);
        x.scatter(place(|key| key.sub.as_mut_ptr().cast(), out).as_ptr(), 0);
    }
}

/// The carry-less products of the blocks: of the lower halves, of lower and upper,
/// of the upper halves.
#[inline(always)]
pub(crate) unsafe fn products<V: Vector>(x: V, y: V) -> (V, V, V) {
    // SAFETY: a value of the vector type exists.
    unsafe {
        let middle = x.clmul::<0x01>(y).xor(x.clmul::<0x10>(y));
        (x.clmul::<0x00>(y), middle, x.clmul::<0x11>(y))
    }
}

/// The product of the blocks.
#[inline(always)]
pub(crate) unsafe fn product<F: Product, V: Vector>(x: V, y: V) -> V {
    // SAFETY: a value of the vector type exists.
    unsafe {
        let (low, middle, high) = products(x, y);
        reduce::<F, V>(low, middle, high)
    }
}

/// Adds the products of the blocks in each place: the low, middle and high parts.
#[inline(always)]
pub(crate) fn add_products<V: Vector, const U: usize>(
    sums: [Words<V, 1>; 3],
    x: Words<V, U>,
    y: Words<V, U>,
) -> [Words<V, 1>; 3] {
    let [Words([low]), Words([middle]), Words([high])] = sums;
    let mut sums = [low, middle, high];
    let mut u = 0;
    while u < U {
        // SAFETY: values of the vector type exist.
        unsafe { V::add_product(&mut sums, x.0[u], y.0[u]) };
        u += 1;
    }
    let [low, middle, high] = sums;
    [Words([low]), Words([middle]), Words([high])]
}

/// Reduces the sums.
#[inline(always)]
pub(crate) fn reduce_each<F: Product, V: Vector>(sums: [Words<V, 1>; 3]) -> Words<V, 1> {
    let [Words([low]), Words([middle]), Words([high])] = sums;
    // SAFETY: values of the vector type exist.
    Words([unsafe { V::reduced::<F>(&[low, middle, high]) }])
}

/// Reduces the sums and adds up all blocks, in the first.
#[inline(always)]
pub(crate) fn reduce_sums<F: Product, V: Vector>(sums: [Words<V, 1>; 3]) -> V {
    let Words([x]) = reduce_each::<F, V>(sums);
    // SAFETY: values of the vector type exist.
    unsafe { x.fold() }
}

/// Adds up the blocks of each register, in the place that has its number.
#[inline(always)]
pub(crate) fn fold_each<V: Vector>(x: &[Words<V, 1>; MAX_UNIT]) -> Words<V, 1> {
    // SAFETY: values of the vector type exist.
    unsafe {
        let sum = |a: V, b: V| {
            let (a, b) = V::unzip(a, b);
            a.xor(b)
        };
        let [a, b, c, d] = [x[0].0[0], x[1].0[0], x[2].0[0], x[3].0[0]];
        Words([match V::BLOCKS {
            1 => a,
            2 => sum(a, b),
            _ => sum(sum(a, b), sum(c, d)),
        }])
    }
}

/// The blocks of `x` `n` blocks up, and zeros.
#[inline(always)]
unsafe fn up<V: Vector>(mut x: V, n: usize) -> V {
    // SAFETY: a value of the vector type exists.
    unsafe {
        let zero = V::splat(&[0; 16]);
        let mut i = 0;
        while i < n {
            x = V::shift_in(zero, x);
            i += 1;
        }
        x
    }
}

#[inline(always)]
pub(crate) fn running<V: Vector, const U: usize>(
    before: Words<V, U>,
    x: Words<V, U>,
) -> Words<V, U> {
    let mut out = x.0;
    // SAFETY: values of the vector type exist.
    unsafe {
        let mut last = before.0[U - 1].last_everywhere();
        let mut u = 0;
        while u < U {
            let mut n = 1;
            while n < V::BLOCKS {
                out[u] = out[u].xor(up(out[u], n));
                n *= 2;
            }
            out[u] = out[u].xor(last);
            last = out[u].last_everywhere();
            u += 1;
        }
    }
    Words(out)
}

/// In a register by doubling distances, from register to register one after the other.
#[inline(always)]
pub(crate) fn horner<F: Product, V: Vector, const U: usize>(
    before: Words<V, U>,
    x: Words<V, U>,
    powers: &[Block],
) -> Words<V, U> {
    assert!(powers.len() >= V::BLOCKS);
    let mut out = x.0;
    // SAFETY: values of the vector type exist, and there are so many powers.
    unsafe {
        let each = V::load(powers.as_ptr().cast());
        let mut last = before.0[U - 1].last_everywhere();
        let mut u = 0;
        while u < U {
            let mut n = 1;
            while n < V::BLOCKS {
                let power = V::splat(&powers[n - 1]);
                out[u] = out[u].xor(up(out[u], n).multiply::<F>(power));
                n *= 2;
            }
            out[u] = out[u].xor(last.multiply::<F>(each));
            last = out[u].last_everywhere();
            u += 1;
        }
    }
    Words(out)
}

/// What an [`Isa`](super::Isa) does with registers.
///
/// # Safety
/// Of all: the CPU has the instructions of `V`, and the rest is as there.
impl<V: Vector, const U: usize> Words<V, U> {
    #[inline(always)]
    pub(crate) unsafe fn load(from: *const u8) -> Self {
        // SAFETY: the caller's.
        unsafe { Words(V::load_all(from)) }
    }

    #[inline(always)]
    pub(crate) unsafe fn store(x: Self, to: *mut u8) {
        // SAFETY: the caller's.
        unsafe { V::store_all(&x.0, to) }
    }

    #[inline(always)]
    pub(crate) unsafe fn load_pairs(from: *const u8) -> [Self; 2] {
        let width = V::BLOCKS * 16;
        // SAFETY: the caller's, with `LANES * 32` bytes.
        unsafe {
            let zero = V::splat(&[0; 16]);
            let (mut firsts, mut seconds) = ([zero; U], [zero; U]);
            let mut u = 0;
            while u < U {
                let a = V::load(from.add(2 * u * width));
                let b = V::load(from.add((2 * u + 1) * width));
                (firsts[u], seconds[u]) = V::unzip(a, b);
                u += 1;
            }
            [Words(firsts), Words(seconds)]
        }
    }

    #[inline(always)]
    pub(crate) unsafe fn store_pairs([firsts, seconds]: [Self; 2], to: *mut u8) {
        let width = V::BLOCKS * 16;
        let mut u = 0;
        while u < U {
            // SAFETY: the caller's, with `LANES * 32` bytes.
            unsafe {
                let (a, b) = V::zip(firsts.0[u], seconds.0[u]);
                a.store(to.add(2 * u * width));
                b.store(to.add((2 * u + 1) * width));
            }
            u += 1;
        }
    }

    #[inline(always)]
    pub(crate) unsafe fn load_part(from: *const u8, len: usize) -> Self {
        let width = V::BLOCKS * 16;
        // SAFETY: the caller's; each register reads its share of `len`.
        unsafe {
            let mut x = [V::splat(&[0; 16]); U];
            let mut u = 0;
            while u < U {
                let at = u * width;
                if len >= at + width {
                    x[u] = V::load(from.add(at));
                } else if len > at {
                    x[u] = V::load_part(from.add(at), len - at);
                }
                u += 1;
            }
            Words(x)
        }
    }

    #[inline(always)]
    pub(crate) unsafe fn store_part(x: Self, to: *mut u8, len: usize) {
        let width = V::BLOCKS * 16;
        let mut u = 0;
        while u < U {
            let at = u * width;
            // SAFETY: the caller's; each register writes its share of `len`.
            unsafe {
                if len >= at + width {
                    x.0[u].store(to.add(at));
                } else if len > at {
                    x.0[u].store_part(to.add(at), len - at);
                }
            }
            u += 1;
        }
    }

    #[inline(always)]
    pub(crate) unsafe fn gather(at: *const *const u8, offset: usize) -> Self {
        // SAFETY: the caller's.
        unsafe { Words(V::gather_all(at, offset)) }
    }

    #[inline(always)]
    pub(crate) unsafe fn scatter(x: Self, to: *const *mut u8, offset: usize) {
        // SAFETY: the caller's.
        unsafe { V::scatter_all(&x.0, to, offset) }
    }

    #[inline(always)]
    pub(crate) unsafe fn gather_line(at: *const *const u8, offset: usize) -> [Self; LINE] {
        // SAFETY: the caller's, with `LANES` pointers.
        unsafe {
            let zero = V::splat(&[0; 16]);
            let mut rows = [Words([zero; U]); LINE];
            let mut u = 0;
            while u < U {
                let at = at.add(u * V::BLOCKS);
                let line = |l: usize| V::load((*at.add(l)).wrapping_add(offset));
                let [a, b, c, d] = V::transpose([line(0), line(1), line(2), line(3)]);
                rows[0].0[u] = a;
                rows[1].0[u] = b;
                rows[2].0[u] = c;
                rows[3].0[u] = d;
                u += 1;
            }
            rows
        }
    }

    #[inline(always)]
    pub(crate) unsafe fn scatter_line(rows: [Self; LINE], to: *const *mut u8, offset: usize) {
        // The last lane first: its line was loaded last, and is the least likely
        // to have been displaced since by those of other lanes.
        let mut u = U;
        while u > 0 {
            u -= 1;
            // SAFETY: the caller's, with `LANES` pointers.
            unsafe {
                let to = to.add(u * V::BLOCKS);
                let to = |l: usize| (*to.add(l)).wrapping_add(offset);
                let [a, b, c, d] =
                    V::transpose([rows[0].0[u], rows[1].0[u], rows[2].0[u], rows[3].0[u]]);
                d.store(to(3));
                c.store(to(2));
                b.store(to(1));
                a.store(to(0));
            }
        }
    }

    #[inline(always)]
    pub(crate) unsafe fn numbers<const L: usize>(numbers: &[usize; L]) -> Self {
        const { assert!(U * V::BLOCKS <= L) };
        let numbers = numbers.as_ptr();
        // SAFETY: the caller's, and there are so many numbers.
        unsafe {
            let mut x = [V::numbers(numbers); U];
            let mut u = 1;
            while u < U {
                x[u] = V::numbers(numbers.add(u * V::BLOCKS));
                u += 1;
            }
            Words(x)
        }
    }

    #[inline(always)]
    pub(crate) fn sum(x: Self) -> Words<V, 1> {
        let mut sum = x.0[0];
        let mut u = 1;
        while u < U {
            // SAFETY: values of the vector type exist.
            sum = unsafe { sum.xor(x.0[u]) };
            u += 1;
        }
        Words([sum])
    }

    #[inline(always)]
    pub(crate) unsafe fn shift_in(before: Self, x: Self) -> Self {
        let mut out = x.0;
        // SAFETY: the caller's.
        unsafe {
            out[0] = V::shift_in(before.0[U - 1], x.0[0]);
            let mut u = 1;
            while u < U {
                out[u] = V::shift_in(x.0[u - 1], x.0[u]);
                u += 1;
            }
        }
        Words(out)
    }
}

/// An instruction set: its registers, and the features of the CPU that kernels are compiled
/// for.
///
/// # Safety
/// Where `detected` says so, the CPU has the features that `run` enables. They include what
/// the methods of `V` need, and the features of `One` and of [`NiOne`].
pub(crate) unsafe trait InstructionSet: Copy {
    /// A register.
    type V: Vector;
    /// What single registers are compiled for.
    type One: InstructionSet<V = Self::V, One = Self::One>;

    fn detected() -> bool;

    /// Runs `f` compiled for the features.
    ///
    /// # Safety
    /// The CPU has them.
    unsafe fn run<R>(f: impl FnOnce() -> R) -> R;
}

/// Proof that the CPU has the instructions of `S`, which [`X86::detect`] alone gives: `U`
/// registers in flight, `HALF` for few messages.
#[derive(Clone, Copy)]
pub(crate) struct X86<S, const U: usize, const HALF: usize = U>(PhantomData<S>);

impl<S: InstructionSet, const U: usize, const HALF: usize> X86<S, U, HALF> {
    /// The token, where the CPU has the instructions.
    #[inline(always)]
    pub(crate) fn detect() -> Option<Self> {
        S::detected().then_some(X86(PhantomData))
    }

    /// The inverse cipher's round keys, which the key may keep. Out of line, as it
    /// is done once or twice a key.
    #[inline(never)]
    fn invert(self, key: &Expanded) -> [Block; 15] {
        let made = self.enter(
            #[inline(always)]
            || {
                // SAFETY: the token says the CPU has the features.
                unsafe { inverse_schedule::<S::V>(&key.enc, key.rounds()) }
            },
        );
        key.keep_inverse(&made);
        made
    }
}

impl<S: InstructionSet, const U: usize, const HALF: usize> Isa for X86<S, U, HALF> {
    type W = Words<S::V, U>;
    type Keys = Broadcast<S::V>;
    type Loaded<'k> = Loaded<'k, S::V>;
    type Half = X86<S, HALF>;
    type Unit = X86<S::One, 1>;
    type Narrow = NiOne;

    const LANES: usize = U * S::V::BLOCKS;

    // The CPU has the features of these tokens: they are this one's, or some of them.

    #[inline(always)]
    fn half(self) -> Self::Half {
        X86(PhantomData)
    }

    #[inline(always)]
    fn unit(self) -> Self::Unit {
        X86(PhantomData)
    }

    #[inline(always)]
    fn narrow(self) -> NiOne {
        X86(PhantomData)
    }

    #[inline(always)]
    fn enter<R>(self, f: impl FnOnce() -> R) -> R {
        // SAFETY: the token says the CPU has the features.
        unsafe { S::run(f) }
    }

    fn expand(self, raw: &[&[u8]], out: &mut [Expanded], which: WhichKey) {
        if S::V::BLOCKS > 1 && raw.len() == 1 {
            return self.narrow().expand(raw, out, which);
        }
        self.enter(
            #[inline(always)]
            || {
                let width = S::V::BLOCKS;
                for (raw, out) in raw.chunks(width).zip(out.chunks_mut(width)) {
                    // SAFETY: the token says the CPU has the features.
                    unsafe { expand::<S::V>(raw, out, which) };
                }
            },
        );
    }

    #[inline(always)]
    fn expand_row<const L: usize>(
        self,
        keys: &mut LaneKeys<L>,
        raw: [Self::W; 2],
        bytes: usize,
        which: WhichKey,
    ) {
        expand_row(keys, raw, bytes, which);
    }

    #[inline(always)]
    fn schedule_row(self, raw: Self::W) -> RoundKeys<Self::W> {
        schedule_row(raw)
    }

    #[inline(always)]
    fn inverse_mix(self, x: Self::W) -> Self::W {
        Words(inverse_mix(x.0))
    }

    #[inline(always)]
    fn keys(self, key: &Expanded, uses: Uses) -> Self::Keys {
        let made;
        let dec = match (uses.inverse, key.inverse()) {
            (false, _) => &key.enc,
            (true, Some(kept)) => kept,
            (true, None) => {
                made = self.invert(key);
                &made
            }
        };
        // SAFETY: the token says the CPU has the features.
        unsafe { broadcast(key, dec, uses) }
    }

    #[inline(always)]
    fn fetch(self, block: &Block) {
        // SAFETY: a prefetch reads nothing.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(block.as_ptr().cast()) };
    }

    #[inline(never)]
    fn lane_keys<const L: usize>(self, keys: &mut LaneKeys<L>, of: &[&Expanded; L], uses: Uses) {
        self.enter(
            #[inline(always)]
            || {
                // SAFETY: the token says the CPU has the features.
                unsafe { lane_keys::<S::V, U, L>(keys, of, uses) }
            },
        );
    }

    #[inline(always)]
    fn load_keys(self, keys: &Self::Keys, uses: Uses, aes_128: bool) -> Self::Loaded<'_> {
        keys.load(if aes_128 { 10 } else { keys.rounds() }, uses)
    }

    #[inline(always)]
    fn encrypt(self, keys: &Self::Loaded<'_>, x: Self::W) -> Self::W {
        Words(keys.encrypt(x.0))
    }

    const ROUNDS: bool = true;

    #[inline(always)]
    fn first_round(self, keys: &Self::Loaded<'_>, x: Self::W) -> Self::W {
        Words(keys.first_round(x.0))
    }

    #[inline(always)]
    fn encrypt_rest(self, keys: &Self::Loaded<'_>, x: Self::W) -> Self::W {
        Words(keys.encrypt_rest(x.0))
    }

    #[inline(always)]
    fn encrypt_linked(self, keys: &Self::Loaded<'_>, x: Self::W, add: Self::W) -> Self::W {
        Words(keys.encrypt_linked(x.0, add.0))
    }

    #[inline(always)]
    fn decrypt(self, keys: &Self::Loaded<'_>, x: Self::W) -> Self::W {
        Words(keys.decrypt(x.0))
    }

    #[inline(always)]
    fn encrypt_second(self, keys: &Self::Loaded<'_>, x: Self::W) -> Self::W {
        Words(keys.encrypt_second(x.0))
    }

    #[inline(always)]
    fn encrypt_each<const L: usize>(
        self,
        keys: &LaneKeys<L>,
        rounds: usize,
        x: Self::W,
    ) -> Self::W {
        Words(encrypt_each(keys, rounds, x.0))
    }

    #[inline(always)]
    fn decrypt_each<const L: usize>(
        self,
        keys: &LaneKeys<L>,
        rounds: usize,
        x: Self::W,
    ) -> Self::W {
        Words(decrypt_each(keys, rounds, x.0))
    }

    #[inline(always)]
    fn encrypt_second_each<const L: usize>(
        self,
        keys: &LaneKeys<L>,
        rounds: usize,
        x: Self::W,
    ) -> Self::W {
        Words(encrypt_second_each(keys, rounds, x.0))
    }

    #[inline(always)]
    fn tweaked(self, keys: &Self::Loaded<'_>, way: Way, x: Self::W, tweak: Self::W) -> Self::W {
        Words(keys.tweaked(way, x.0, tweak.0))
    }

    #[inline(always)]
    fn tweaked_each<const L: usize>(
        self,
        keys: &LaneKeys<L>,
        way: Way,
        x: Self::W,
        tweak: Self::W,
    ) -> Self::W {
        Words(tweaked_each(keys, way, x.0, tweak.0))
    }

    // SAFETY of the rest, where no other comment stands: the token says that the CPU has the
    // features; what else is asked for is the caller's.

    #[inline(always)]
    fn splat(self, block: &Block) -> Self::W {
        Words(unsafe { S::V::splat_all(block) })
    }

    #[inline(always)]
    unsafe fn load(self, from: *const u8) -> Self::W {
        unsafe { Words::load(from) }
    }

    #[inline(always)]
    unsafe fn store(self, x: Self::W, to: *mut u8) {
        unsafe { Words::store(x, to) }
    }

    #[inline(always)]
    unsafe fn load_pairs(self, from: *const u8) -> [Self::W; 2] {
        unsafe { Words::load_pairs(from) }
    }

    #[inline(always)]
    unsafe fn store_pairs(self, x: [Self::W; 2], to: *mut u8) {
        unsafe { Words::store_pairs(x, to) }
    }

    #[inline(always)]
    unsafe fn load_part(self, from: *const u8, len: usize) -> Self::W {
        unsafe { Words::load_part(from, len) }
    }

    #[inline(always)]
    unsafe fn store_part(self, x: Self::W, to: *mut u8, len: usize) {
        unsafe { Words::store_part(x, to, len) }
    }

    #[inline(always)]
    unsafe fn load_everywhere(self, from: *const u8, len: usize) -> Self::W {
        Words([unsafe { S::V::load_everywhere(from, len) }; U])
    }

    #[inline(always)]
    unsafe fn load_first(self, from: *const u8, len: usize) -> Self::W {
        unsafe {
            let mut x = [S::V::splat(&[0; 16]); U];
            x[0] = S::V::load_first(from, len);
            Words(x)
        }
    }

    #[inline(always)]
    unsafe fn store_first(self, x: Self::W, to: *mut u8, len: usize) {
        unsafe { x.0[0].store_first(to, len) }
    }

    #[inline(always)]
    unsafe fn gather(self, at: *const *const u8, offset: usize) -> Self::W {
        unsafe { Words::gather(at, offset) }
    }

    #[inline(always)]
    unsafe fn scatter(self, x: Self::W, to: *const *mut u8, offset: usize) {
        unsafe { Words::scatter(x, to, offset) }
    }

    const LINES: bool = S::V::IS_LINE && U <= 4;

    #[inline(always)]
    unsafe fn gather_line(self, at: *const *const u8, offset: usize) -> [Self::W; LINE] {
        unsafe { Words::gather_line(at, offset) }
    }

    #[inline(always)]
    unsafe fn scatter_line(self, rows: [Self::W; LINE], to: *const *mut u8, offset: usize) {
        unsafe { Words::scatter_line(rows, to, offset) }
    }

    #[inline(always)]
    unsafe fn gather_part(self, of: impl Fn(usize) -> (*const u8, usize) + Copy) -> Self::W {
        Words(unsafe { S::V::gather_part(of) })
    }

    #[inline(always)]
    unsafe fn scatter_part(self, x: Self::W, of: impl Fn(usize) -> (*mut u8, usize) + Copy) {
        unsafe { S::V::scatter_part(x.0, of) }
    }

    #[inline(always)]
    fn numbers<const L: usize>(self, numbers: &[usize; L]) -> Self::W {
        unsafe { Words::numbers(numbers) }
    }

    #[inline(always)]
    fn iota(self) -> Self::W {
        const { assert!(Self::LANES <= IOTA.len()) };
        // SAFETY: there are so many blocks.
        unsafe { self.load(IOTA.as_ptr().cast()) }
    }

    #[inline(always)]
    fn sum(self, x: Self::W) -> Words<S::V, 1> {
        Words::sum(x)
    }

    #[inline(always)]
    fn fold(self, x: Words<S::V, 1>) -> Words<S::V, 1> {
        Words([unsafe { x.0[0].fold() }])
    }

    #[inline(always)]
    fn fold_each(self, x: &[Words<S::V, 1>; MAX_UNIT]) -> Words<S::V, 1> {
        fold_each(x)
    }

    #[inline(always)]
    fn add_products(self, sums: Sums<Self>, x: Self::W, y: Self::W) -> Sums<Self> {
        add_products(sums, x, y)
    }

    #[inline(always)]
    fn reduce_each<F: Product>(self, sums: Sums<Self>) -> Words<S::V, 1> {
        reduce_each::<F, _>(sums)
    }

    #[inline(always)]
    fn reduce<F: Product>(self, sums: Sums<Self>) -> Self::W {
        let mut out = [self.splat(&[0; 16]).0[0]; U];
        out[0] = reduce_sums::<F, _>(sums);
        Words(out)
    }

    #[inline(always)]
    fn running(self, before: Self::W, x: Self::W) -> Self::W {
        running(before, x)
    }

    #[inline(always)]
    fn horner<F: Product>(self, before: Self::W, x: Self::W, powers: &[Block]) -> Self::W {
        horner::<F, _, _>(before, x, powers)
    }

    #[inline(always)]
    fn shift_in(self, before: Self::W, x: Self::W) -> Self::W {
        unsafe { Words::shift_in(before, x) }
    }

    #[inline(always)]
    fn first(self, x: Self::W) -> Words<S::V, 1> {
        Words([x.0[0]])
    }

    #[inline(always)]
    fn repeat(self, x: Words<S::V, 1>) -> Self::W {
        Words([x.0[0]; U])
    }

    #[inline(always)]
    fn last(self, x: Self::W) -> Block {
        unsafe { x.0[U - 1].last() }
    }

    #[inline(always)]
    fn low_byte(self, x: Self::W) -> u8 {
        unsafe { x.0[0].low_byte() }
    }
}

/// 0 to 31 as little-endian blocks.
const IOTA: [Block; 32] = {
    let mut out = [[0; 16]; 32];
    let mut i = 0;
    while i < 32 {
        out[i][0] = i as u8;
        i += 1;
    }
    out
};
