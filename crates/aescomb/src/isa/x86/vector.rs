//! What an instruction set's file says of its registers, and products of blocks in registers.
//!
//! `unsafe` here rests on one fact: a [`Vector`] method may run where the CPU has its
//! instructions, and a value of a vector type exists only there.
#![allow(unsafe_code)]

use crate::block::{Block, LINE};
use crate::bytes;
#[cfg(feature = "research")]
use crate::isa::PART;
use crate::isa::Product;
use crate::isa::Starts;
use core::mem::MaybeUninit;
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
    unsafe fn gather(at: impl Starts, offset: usize) -> Self;
    unsafe fn scatter(self, to: impl Starts, offset: usize);
    /// Whether a register has as many blocks as a line.
    const IS_LINE: bool = Self::BLOCKS == LINE;
    /// From lines, one of each lane, to rows, and back. Where `IS_LINE`.
    unsafe fn transpose(_lines: [Self; LINE]) -> [Self; LINE] {
        unreachable!("a register does not hold a line")
    }
    /// A line, of which the blocks before `from` and the bytes from `to` on are not read. Where `IS_LINE`.
    unsafe fn load_blocks(_at: *const u8, _from: usize, _to: usize) -> Self {
        unreachable!("a register does not hold a line")
    }
    /// The first, third, fifth, ... of the blocks of `a` and then `b`, and the others.
    unsafe fn unzip(a: Self, b: Self) -> (Self, Self);
    /// Undoes it.
    unsafe fn zip(firsts: Self, seconds: Self) -> (Self, Self);
    /// The blocks in reverse order.
    #[cfg(feature = "research")]
    unsafe fn reversed(self) -> Self;
    /// [`Isa::load_parts`](crate::isa::Isa::load_parts) of a register, of which `n` is not 0.
    #[cfg(feature = "research")]
    #[inline(always)]
    unsafe fn load_parts(from: *const u8, n: usize) -> Self {
        let mut at = [from; LINE];
        let mut l = 1;
        while l < Self::BLOCKS && l < n {
            at[l] = from.wrapping_add(l * PART);
            l += 1;
        }
        // SAFETY: the caller's, of the first block and as many more as there are.
        unsafe { Self::gather(at.as_ptr(), 0) }
    }
    #[cfg(feature = "research")]
    #[inline(always)]
    unsafe fn store_parts(self, to: *mut u8, n: usize) {
        let mut idle = [0; 16];
        let mut at = [idle.as_mut_ptr(); LINE];
        let mut l = 0;
        while l < Self::BLOCKS && l < n {
            at[l] = to.wrapping_add(l * PART);
            l += 1;
        }
        // SAFETY: the caller's; lanes without a block have room for one.
        unsafe { self.scatter(at.as_ptr(), 0) };
    }
    /// Each number as a little-endian integer.
    unsafe fn numbers(numbers: *const usize) -> Self;
    /// [`Isa::gather_part`](crate::isa::Isa::gather_part) of `U` registers.
    unsafe fn gather_part<const U: usize>(
        of: impl Fn(usize) -> (*const u8, usize) + Copy,
    ) -> [Self; U];
    unsafe fn scatter_part<const U: usize>(
        x: [Self; U],
        of: impl Fn(usize) -> (*mut u8, usize) + Copy,
    );

    /// Keeps the compiler's order: `x` is computed before the loads and stores that follow, and what
    /// is computed from it after those that precede. No instruction; on 512-bit registers alone.
    #[inline(always)]
    unsafe fn hold_all<const U: usize>(_x: &mut [Self; U]) {}

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
    /// The last block in the place of every block.
    unsafe fn last_everywhere(self) -> Self;

    /// Whether there are the next two: [`Wide::beyond`](crate::isa::Wide::beyond) and `window`.
    const WINDOWS: bool = false;
    #[inline(always)]
    unsafe fn beyond(self) -> Self {
        unreachable!("there are no windows")
    }
    #[inline(always)]
    unsafe fn window(self, _beyond: Self, _n: usize) -> Self {
        unreachable!("there are no windows")
    }

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
    unsafe fn gather_all<const U: usize>(at: impl Starts, offset: usize) -> [Self; U];
    unsafe fn scatter_all<const U: usize>(x: &[Self; U], to: impl Starts, offset: usize);
    /// The first round keys of a schedule that was written.
    unsafe fn first_keys(keys: &[MaybeUninit<Self>; 15]) -> [Self; 11];
    /// The products of the blocks.
    unsafe fn multiply<F: Product>(self, y: Self) -> Self;
    /// Adds them to sums that are not reduced: low parts, sums of all three, high parts. `y` has the
    /// sums of its halves with it.
    unsafe fn add_product(sums: &mut [Self; 3], x: Self, y: (Self, Self));
    /// The same without Karatsuba's trick: low parts, what is between them, high parts.
    unsafe fn add_four_products(sums: &mut [Self; 3], x: Self, y: Self);
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

        $crate::isa::x86::vector::several!($features);
    };
}
pub(crate) use operations;

/// What a [`Vector`] does with several registers or in several steps, compiled for
/// `$features`. Such functions are compiled once and simplified before they are put into
/// the kernels. Code that is always inlined is simplified only there, and of single
/// instructions that was a quarter of the time to compile.
macro_rules! several {
    ($features:literal) => {
        $crate::isa::x86::vector::several!($features, all(xor_all, xor) all(aesenc_all, aesenc)
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
        unsafe fn gather_all<const U: usize>(at: impl $crate::isa::Starts, offset: usize) -> [Self; U] {
            unsafe {
                let mut x = [Self::gather(at, offset); U];
                let mut u = 1;
                while u < U {
                    x[u] = Self::gather(at.after(u * Self::BLOCKS), offset);
                    u += 1;
                }
                x
            }
        }

        #[target_feature(enable = $features)]
        #[inline]
        unsafe fn scatter_all<const U: usize>(x: &[Self; U], to: impl $crate::isa::Starts, offset: usize) {
            let mut u = 0;
            while u < U {
                unsafe { x[u].scatter(to.after(u * Self::BLOCKS), offset) };
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
            unsafe { $crate::isa::x86::vector::product::<F, _>(self, y) }
        }

        #[target_feature(enable = $features)]
        #[inline]
        unsafe fn add_product(sums: &mut [Self; 3], x: Self, (y, halves): (Self, Self)) {
            unsafe {
                let low = x.clmul::<0x00>(y);
                let high = x.clmul::<0x11>(y);
                let middle = x.xor(x.swap_halves()).clmul::<0x00>(halves);
                sums[0] = sums[0].xor(low);
                sums[1] = sums[1].xor(middle);
                sums[2] = sums[2].xor(high);
            }
        }

        #[target_feature(enable = $features)]
        #[inline]
        unsafe fn add_four_products(sums: &mut [Self; 3], x: Self, y: Self) {
            unsafe {
                let (left, right) = (x.clmul::<0x01>(y), x.clmul::<0x10>(y));
                sums[0] = sums[0].xor(x.clmul::<0x00>(y));
                sums[1] = sums[1].xor(left).xor(right);
                sums[2] = sums[2].xor(x.clmul::<0x11>(y));
            }
        }

        #[target_feature(enable = $features)]
        #[inline]
        unsafe fn reduced<F: $crate::isa::Product>(sums: &[Self; 3]) -> Self {
            unsafe {
                let middle = sums[1].xor(sums[0]).xor(sums[2]);
                $crate::isa::x86::vector::reduce::<F, _>(sums[0], middle, sums[2])
            }
        }
    };
    ($features:literal, $($kind:ident($name:ident, $one:ident))*) => {
        $($crate::isa::x86::vector::several!(@$kind $features, $name, $one);)*
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

/// A block of four words.
pub(super) const fn bytes_from(
    first: [u8; 4],
    second: [u8; 4],
    third: [u8; 4],
    fourth: [u8; 4],
) -> Block {
    let mut out = [0; 16];
    let words = [first, second, third, fourth];
    let mut i = 0;
    while i < 16 {
        out[i] = words[i / 4][i % 4];
        i += 1;
    }
    out
}
pub(super) const ZERO: [u8; 4] = [0x80; 4];
pub(super) const W0: [u8; 4] = [0, 1, 2, 3];
pub(super) const W1: [u8; 4] = [4, 5, 6, 7];
pub(super) const W2: [u8; 4] = [8, 9, 10, 11];
pub(super) const W3: [u8; 4] = [12, 13, 14, 15];
