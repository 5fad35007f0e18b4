//! Wide values of registers, and what a token does with them.
//!
//! `unsafe` here rests on one fact: a [`Words`] exists only where the CPU has the instructions
//! of its vector type; where there is none yet, the caller says so.
#![allow(unsafe_code)]

use super::vector::{Vector, W1, W3, ZERO, bytes_from, reduce};
use crate::block::{Block, LINE, MAX_UNIT};
#[cfg(feature = "research")]
use crate::isa::PART;
use crate::isa::{Product, Starts, Wide};
use core::ops::{BitAnd, BitXor};

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
    fn times_byte_power(self, m: Self, by_sums: bool) -> Self {
        Words(each!(self.0, m.up().0, a, up => a.shuffle(up)))
            ^ Words(each!(self.0, m.down().0, a, down => {
                let over = a.shuffle(down);
                // Times 0x87. The additions want more than sixteen registers.
                if const { V::BLOCKS < 4 } || !by_sums {
                    over.clmul::<0x00>(V::splat(&FOLD))
                } else {
                    let twice = over.add64(over);
                    let fourfold = twice.add64(twice);
                    over.xor(twice).xor(fourfold).xor(over.shift_left(V::splat(&BOTH_7)))
                }
            }))
    }

    #[inline(always)]
    fn beyond(self) -> Self {
        Words(each!(self.0, a => a.beyond()))
    }

    #[inline(always)]
    fn window(self, beyond: Self, n: usize) -> Self {
        Words(each!(self.0, beyond.0, a, b => a.window(b, n)))
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
        // By a look-up: of a comparison and a constant the compiler makes a load under a mask, which
        // took 110 cycles where the mask is empty and nothing else reads the constant's page.
        const FIRST: Block = [0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        // 0x70 at byte n, 0x71 to 0x7f at others, more than 0x7f if n is 16.
        Words(each!(self.0, n => {
            let at = n.xor(V::splat(&PLACES)).sub8(V::splat(&[0x90; 16]));
            V::splat(&FIRST).shuffle(at)
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
    fn add_product(sums: [Self; 3], x: Self, (y, halves): (Self, Self)) -> [Self; 3] {
        let mut sums = sums;
        let mut u = 0;
        while u < U {
            let mut one = [sums[0].0[u], sums[1].0[u], sums[2].0[u]];
            // SAFETY: values of the vector type exist.
            unsafe { V::add_product(&mut one, x.0[u], (y.0[u], halves.0[u])) };
            [sums[0].0[u], sums[1].0[u], sums[2].0[u]] = one;
            u += 1;
        }
        sums
    }

    #[inline(always)]
    fn reduced<F: Product>([low, middle, high]: [Self; 3]) -> Self {
        let mut out = low;
        let mut u = 0;
        while u < U {
            let sums = [low.0[u], middle.0[u], high.0[u]];
            // SAFETY: values of the vector type exist.
            out.0[u] = unsafe { V::reduced::<F>(&sums) };
            u += 1;
        }
        out
    }

    #[inline(always)]
    fn sum_halves(self) -> Self {
        Words(each!(self.0, a => a.xor(a.swap_halves())))
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

/// 7 in both halves.
const BOTH_7: Block = [7, 0, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0];
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

/// Adds the products of the blocks in each place: the low and high parts, and the sum of all three,
/// as Karatsuba's product of the sums of the halves is. That is one product less for each block: GMAC
/// takes a fifth less time where a product of 512 bits takes two cycles, as on Zen 5.
#[inline(always)]
pub(crate) fn add_products<V: Vector, const U: usize>(
    sums: [Words<V, 1>; 3],
    x: Words<V, U>,
    (y, halves): (Words<V, U>, Option<Words<V, U>>),
) -> [Words<V, 1>; 3] {
    let [Words([low]), Words([middle]), Words([high])] = sums;
    let mut sums = [low, middle, high];
    let mut u = 0;
    while u < U {
        // SAFETY: values of the vector type exist.
        unsafe {
            match &halves {
                Some(halves) => V::add_product(&mut sums, x.0[u], (y.0[u], halves.0[u])),
                None => V::add_four_products(&mut sums, x.0[u], y.0[u]),
            }
        }
        u += 1;
    }
    let [low, middle, high] = sums;
    [Words([low]), Words([middle]), Words([high])]
}

/// Reduces the sums and adds up all blocks, in the first.
#[inline(always)]
pub(crate) fn reduce_sums<F: Product, V: Vector>(sums: [Words<V, 1>; 3]) -> V {
    let Words([x]) = Words::reduced::<F>(sums);
    // SAFETY: values of the vector type exist.
    unsafe { x.fold() }
}

/// Adds up the blocks of each register, in the place that has its number.
#[inline(always)]
pub(crate) fn fold_each<V: Vector, const U: usize>(x: &[Words<V, 1>; MAX_UNIT]) -> Words<V, U> {
    let mut all = [x[0].0[0]; U];
    let mut u = 0;
    while u < U {
        let of = |l: usize| x[(u * V::BLOCKS + l) % MAX_UNIT].0[0];
        // SAFETY: values of the vector type exist.
        unsafe {
            let sum = |a: V, b: V| {
                let (a, b) = V::unzip(a, b);
                a.xor(b)
            };
            all[u] = match V::BLOCKS {
                1 => of(0),
                2 => sum(of(0), of(1)),
                _ => sum(sum(of(0), of(1)), sum(of(2), of(3))),
            };
        }
        u += 1;
    }
    Words(all)
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

/// Each register: a product for every distance between its blocks, and one for the block before it; their
/// sum is reduced once. Registers follow one after the other. (By doubling distances, three reduced products
/// would wait for each other in a register of four blocks.)
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
        let zero = V::splat(&[0; 16]);
        let each = V::load(powers.as_ptr().cast());
        let mut last = before.0[U - 1].last_everywhere();
        let mut u = 0;
        while u < U {
            let mut sums = [zero; 3];
            let mut up = x.0[u];
            let mut n = 1;
            while n < V::BLOCKS {
                up = V::shift_in(zero, up);
                V::add_four_products(&mut sums, up, V::splat(&powers[n - 1]));
                n += 1;
            }
            V::add_four_products(&mut sums, last, each);
            let [low, middle, high] = sums;
            out[u] = out[u].xor(reduce::<F, _>(low, middle, high));
            last = out[u].last_everywhere();
            u += 1;
        }
    }
    Words(out)
}

/// What an [`Isa`](crate::isa::Isa) does with registers.
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
    pub(crate) unsafe fn load_part(from: *const u8, len: usize) -> Self {
        let width = V::BLOCKS * 16;
        // SAFETY: the caller's; each register reads its share of `len`.
        unsafe {
            let mut x = [V::splat(&[0; 16]); U];
            let mut u = 0;
            while u < U {
                x[u] = load_share(from, u * width, len);
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
            // SAFETY: the caller's; each register writes its share of `len`.
            unsafe { store_share(x.0[u], to, u * width, len) };
            u += 1;
        }
    }

    #[cfg(feature = "research")]
    #[inline(always)]
    pub(crate) unsafe fn load_reversed(from: *const u8) -> Self {
        let width = V::BLOCKS * 16;
        // SAFETY: the caller's.
        unsafe {
            let mut x = [V::splat(&[0; 16]); U];
            let mut u = 0;
            while u < U {
                x[u] = V::load(from.add((U - 1 - u) * width)).reversed();
                u += 1;
            }
            Words(x)
        }
    }

    #[cfg(feature = "research")]
    #[inline(always)]
    pub(crate) unsafe fn load_parts(from: *const u8, n: usize) -> Self {
        // SAFETY: the caller's; each register reads its share of `n` blocks.
        unsafe {
            let mut x = [V::splat(&[0; 16]); U];
            let mut u = 0;
            while u < U {
                let at = u * V::BLOCKS;
                if n > at {
                    x[u] = V::load_parts(from.add(at * PART), (n - at).min(V::BLOCKS));
                }
                u += 1;
            }
            Words(x)
        }
    }

    #[cfg(feature = "research")]
    #[inline(always)]
    pub(crate) unsafe fn store_parts(x: Self, to: *mut u8, n: usize) {
        let mut u = 0;
        while u < U {
            let at = u * V::BLOCKS;
            if n > at {
                // SAFETY: the caller's; each register writes its share of `n` blocks.
                unsafe { x.0[u].store_parts(to.add(at * PART), (n - at).min(V::BLOCKS)) };
            }
            u += 1;
        }
    }

    #[inline(always)]
    pub(crate) unsafe fn load_pairs(from: *const u8, len: usize) -> [Self; 2] {
        let width = V::BLOCKS * 16;
        // SAFETY: the caller's; each register reads its share of `len`.
        unsafe {
            let zero = V::splat(&[0; 16]);
            let (mut firsts, mut seconds) = ([zero; U], [zero; U]);
            let mut u = 0;
            while u < U {
                let a = load_share(from, 2 * u * width, len);
                let b = load_share(from, (2 * u + 1) * width, len);
                (firsts[u], seconds[u]) = V::unzip(a, b);
                u += 1;
            }
            [Words(firsts), Words(seconds)]
        }
    }

    #[inline(always)]
    pub(crate) unsafe fn store_pairs([firsts, seconds]: [Self; 2], to: *mut u8, len: usize) {
        let width = V::BLOCKS * 16;
        let mut u = 0;
        while u < U {
            // SAFETY: the caller's; each register writes its share of `len`.
            unsafe {
                let (a, b) = V::zip(firsts.0[u], seconds.0[u]);
                store_share(a, to, 2 * u * width, len);
                store_share(b, to, (2 * u + 1) * width, len);
            }
            u += 1;
        }
    }

    #[inline(always)]
    pub(crate) unsafe fn gather(at: impl Starts, offset: usize) -> Self {
        // SAFETY: the caller's.
        unsafe { Words(V::gather_all(at, offset)) }
    }

    #[inline(always)]
    pub(crate) unsafe fn gather_register<const IN_ORDER: bool>(
        &mut self,
        u: usize,
        at: impl Starts,
        offset: usize,
    ) {
        // SAFETY: the caller's.
        unsafe {
            let mut x = [V::gather(at.after(u * V::BLOCKS), offset)];
            if IN_ORDER {
                V::hold_all(&mut x);
            }
            self.0[u] = x[0];
        }
    }

    #[inline(always)]
    pub(crate) unsafe fn scatter(x: Self, to: impl Starts, offset: usize) {
        // SAFETY: the caller's.
        unsafe { V::scatter_all(&x.0, to, offset) }
    }

    #[inline(always)]
    pub(crate) unsafe fn gather_line(
        rows: *mut [Self; LINE],
        u: usize,
        at: impl Starts,
        offset: usize,
    ) {
        // SAFETY: the caller's, with `LANES` pointers.
        unsafe {
            let at = at.after(u * V::BLOCKS);
            let line = |l: usize| V::load(at.of(l).wrapping_add(offset));
            let [a, b, c, d] = V::transpose([line(0), line(1), line(2), line(3)]);
            (*rows)[0].0[u] = a;
            (*rows)[1].0[u] = b;
            (*rows)[2].0[u] = c;
            (*rows)[3].0[u] = d;
        }
    }

    #[inline(always)]
    pub(crate) unsafe fn scatter_line(
        rows: *const [Self; LINE],
        u: usize,
        to: impl Starts,
        offset: usize,
    ) {
        // SAFETY: the caller's, with `LANES` pointers.
        unsafe {
            let to = to.after(u * V::BLOCKS);
            let to = |l: usize| to.of(l).wrapping_add(offset);
            let rows = &*rows;
            let [a, b, c, d] =
                V::transpose([rows[0].0[u], rows[1].0[u], rows[2].0[u], rows[3].0[u]]);
            d.store(to(3));
            c.store(to(2));
            b.store(to(1));
            a.store(to(0));
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

    /// The first register has the last block of `before`; the others are loaded from one block before their own.
    #[inline(always)]
    pub(crate) unsafe fn load_before(before: Self, from: *const u8) -> Self {
        let mut out = before.0;
        // SAFETY: the caller's.
        unsafe {
            out[0] = V::shift_in(before.0[U - 1], V::load(from));
            let mut u = 1;
            while u < U {
                out[u] = V::load(from.add((u * V::BLOCKS - 1) * 16));
                u += 1;
            }
        }
        Words(out)
    }
}

/// A register from byte `at` of `len` bytes on, and zeros.
///
/// # Safety
/// `from` has so many bytes.
#[inline(always)]
unsafe fn load_share<V: Vector>(from: *const u8, at: usize, len: usize) -> V {
    let width = V::BLOCKS * 16;
    // SAFETY: the caller's.
    unsafe {
        if len >= at + width {
            V::load(from.add(at))
        } else if len > at {
            V::load_part(from.add(at), len - at)
        } else {
            V::splat(&[0; 16])
        }
    }
}

/// Writes what of `len` bytes is from byte `at` on, at most a register.
///
/// # Safety
/// `to` has so many bytes.
#[inline(always)]
unsafe fn store_share<V: Vector>(x: V, to: *mut u8, at: usize, len: usize) {
    let width = V::BLOCKS * 16;
    // SAFETY: the caller's.
    unsafe {
        if len >= at + width {
            x.store(to.add(at));
        } else if len > at {
            x.store_part(to.add(at), len - at);
        }
    }
}
