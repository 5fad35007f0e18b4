//! Numbers of one word and of many, and their numerals.
//!
//! Radices, numbers of numerals and moduli are public. All else may be secret: no branch and
//! no index depends on it, loops run as often as lengths say, and what depends on a comparison
//! is chosen by a mask.
#![forbid(unsafe_code)]

use super::values::Numeral;
use alloc::vec;
use alloc::vec::Vec;
use core::hint::black_box;

/// All ones or all zeros. Behind a barrier: compilers make branches of masks that they know to
/// come from a comparison.
#[inline(always)]
fn mask(bit: bool) -> u64 {
    black_box(u64::from(bit)).wrapping_neg()
}

/// `yes` where `mask` has ones, `no` where it has zeros.
#[inline(always)]
fn select(mask: u64, yes: u64, no: u64) -> u64 {
    no ^ ((no ^ yes) & mask)
}

#[inline(always)]
fn words(x: u128) -> (u64, u64) {
    ((x >> 64) as u64, x as u64)
}

/// Division by a word that is known: algorithm 4 of Möller and Granlund, "Improved division by
/// invariant integers", IEEE Transactions on Computers 60 (2), 2011.
#[derive(Clone, Copy)]
pub(super) struct Divisor {
    /// The divisor, shifted until its top bit is set.
    normal: u64,
    shift: u32,
    /// `(2^128 - 1) / normal - 2^64`
    reciprocal: u64,
}

impl Divisor {
    /// `by` is not 0.
    pub(super) fn new(by: u64) -> Self {
        let shift = by.leading_zeros();
        let normal = by << shift;
        let reciprocal = (u128::MAX / u128::from(normal)) as u64;
        Divisor {
            normal,
            shift,
            reciprocal,
        }
    }

    /// Quotient and remainder of `high * 2^64 + low` by the shifted divisor, which is above
    /// `high`.
    #[inline(always)]
    fn divide(&self, high: u64, low: u64) -> (u64, u64) {
        let product = u128::from(self.reciprocal) * u128::from(high);
        let (q, fraction) = words(product.wrapping_add(u128::from(high) << 64 | u128::from(low)));
        let q = q.wrapping_add(1);
        let r = low.wrapping_sub(q.wrapping_mul(self.normal));
        let above = mask(r > fraction);
        let (q, r) = (q.wrapping_add(above), r.wrapping_add(self.normal & above));
        let (less, below) = r.overflowing_sub(self.normal);
        let again = !mask(below);
        (q.wrapping_sub(again), select(again, less, r))
    }

    /// Quotient and remainder of a word.
    #[inline(always)]
    fn divide_word(&self, x: u64) -> (u64, u64) {
        let (high, low) = words(u128::from(x) << self.shift);
        let (q, r) = self.divide(high, low);
        (q, r >> self.shift)
    }

    /// Replaces a number, lowest word first, by its quotient, and returns the remainder.
    #[inline(always)]
    fn divide_number(&self, x: &mut [u64]) -> u64 {
        // The bits of each word that the shift moves into the next.
        let over = |x: u64| x >> 1 >> (63 - self.shift);
        let mut rest = x.last().map_or(0, |top| over(*top));
        for i in (0..x.len()).rev() {
            let below = if i == 0 { 0 } else { over(x[i - 1]) };
            (x[i], rest) = self.divide(rest, x[i] << self.shift | below);
        }
        rest >> self.shift
    }
}

/// From numerals to words and back.
#[derive(Clone)]
pub(super) struct Numerals {
    radix: u64,
    /// For quotients of numbers below 2^31 by the radix: `x * factor >> shift`.
    factor: u64,
    shift: u32,
    /// As many numerals as a number below 2^31 has, and the power of the radix.
    group: usize,
    by_group: Divisor,
    /// As many as a word has, a multiple of the group, and the power.
    word: usize,
    power: u64,
    by_word: Divisor,
}

impl Numerals {
    /// `radix` is from 2 to 65,536.
    pub(super) fn new(radix: u32) -> Self {
        let radix = u64::from(radix);
        let most = |limit: u64| {
            let (mut count, mut power) = (1, radix);
            while let Some(next) = power.checked_mul(radix).filter(|next| *next <= limit) {
                (count, power) = (count + 1, next);
            }
            (count, power)
        };
        let (group, group_power) = most(1 << 31);
        let (word, _) = most(u64::MAX);
        let word = word / group * group;
        let power = (0..word).fold(1, |power, _| power * radix);
        let shift = 31 + radix.next_power_of_two().ilog2();
        Numerals {
            radix,
            // Rounded up by at most the radix, it is wrong by less than 2^shift for all
            // numbers below 2^31: the quotient is exact.
            factor: (1 << shift) / radix + 1,
            shift,
            group,
            by_group: Divisor::new(group_power),
            word,
            power,
            by_word: Divisor::new(power),
        }
    }

    /// The number of numerals, the highest first, which is below 2^64.
    #[inline(always)]
    pub(super) fn number<T: Numeral>(&self, numerals: &[T]) -> u64 {
        numerals
            .iter()
            .fold(0, |x, numeral| x * self.radix + numeral.value())
    }

    /// The numerals of a number, of which there are enough.
    #[inline(always)]
    pub(super) fn split<T: Numeral>(&self, mut x: u64, mut numerals: &mut [T]) {
        while numerals.len() > self.group {
            let (high, low) = numerals.split_at_mut(numerals.len() - self.group);
            let rest;
            (x, rest) = self.by_group.divide_word(x);
            self.split_group(rest, low);
            numerals = high;
        }
        self.split_group(x, numerals);
    }

    #[inline(always)]
    fn split_group<T: Numeral>(&self, mut x: u64, numerals: &mut [T]) {
        for numeral in numerals.iter_mut().rev() {
            let quotient = (x * self.factor) >> self.shift;
            *numeral = T::of(x - quotient * self.radix);
            x = quotient;
        }
    }

    /// As [`Numerals::number`] of any size, lowest word first, for which there is room.
    pub(super) fn big_number<T: Numeral>(&self, numerals: &[T], x: &mut [u64]) {
        x.fill(0);
        let first = (numerals.len() - 1) % self.word + 1;
        let (first, others) = numerals.split_at(first);
        x[0] = self.number(first);
        for (done, numerals) in others.chunks_exact(self.word).enumerate() {
            let room = x.len().min(done + 2);
            multiply_add(&mut x[..room], self.power, self.number(numerals));
        }
    }

    /// As [`Numerals::split`] of such a number, of which nothing is left.
    pub(super) fn split_big<T: Numeral>(&self, x: &mut [u64], numerals: &mut [T]) {
        let bits = self.radix.next_power_of_two().ilog2() as usize;
        let mut left = numerals;
        while left.len() > self.word {
            // What has so many numerals has no more words.
            let words = x.len().min((left.len() * bits).div_ceil(64));
            let rest = self.by_word.divide_number(&mut x[..words]);
            let (high, low) = left.split_at_mut(left.len() - self.word);
            self.split(rest, low);
            left = high;
        }
        self.split(x[0], left);
    }

    /// The radix to the power of `exponent`, lowest word first, without zeros at its end.
    pub(super) fn big_power(&self, exponent: usize) -> Vec<u64> {
        let mut x = vec![1];
        let step = |x: &mut Vec<u64>, by| {
            x.push(0);
            multiply_add(x, by, 0);
            if x.last() == Some(&0) {
                x.pop();
            }
        };
        (0..exponent / self.word).for_each(|_| step(&mut x, self.power));
        (0..exponent % self.word).for_each(|_| step(&mut x, self.radix));
        x
    }
}

fn multiply_add(x: &mut [u64], by: u64, mut carry: u64) {
    for word in x {
        let product = u128::from(*word) * u128::from(by) + u128::from(carry);
        (carry, *word) = words(product);
    }
}

/// Arithmetic modulo a number below 2^64.
pub(super) trait Modulus {
    /// What is left of the number that a block begins with.
    fn reduce(&self, block: &[u8; 16]) -> u64;
    fn value(&self) -> u64;

    /// The sum of two numbers below the modulus.
    #[inline(always)]
    fn add(&self, x: u64, y: u64) -> u64 {
        let (sum, over) = x.overflowing_add(y);
        let (less, below) = sum.overflowing_sub(self.value());
        select(mask(below) & !mask(over), sum, less)
    }

    /// Their difference.
    #[inline(always)]
    fn subtract(&self, x: u64, y: u64) -> u64 {
        let (less, below) = x.overflowing_sub(y);
        less.wrapping_add(self.value() & mask(below))
    }
}

/// A modulus of at most 2^32; the numbers have 8 bytes.
pub(super) struct Small {
    modulus: u64,
    /// `2^64 / modulus`
    factor: u64,
}

impl Small {
    /// `modulus` is at least 2.
    pub(super) fn new(modulus: u64) -> Self {
        Small {
            modulus,
            factor: ((1u128 << 64) / u128::from(modulus)) as u64,
        }
    }
}

impl Modulus for Small {
    #[inline(always)]
    fn reduce(&self, block: &[u8; 16]) -> u64 {
        let (x, _) = words(u128::from_be_bytes(*block));
        // The quotient, or one less.
        let (quotient, _) = words(u128::from(x) * u128::from(self.factor));
        let rest = x.wrapping_sub(quotient.wrapping_mul(self.modulus));
        let (less, below) = rest.overflowing_sub(self.modulus);
        select(mask(below), rest, less)
    }

    #[inline(always)]
    fn value(&self) -> u64 {
        self.modulus
    }
}

/// A modulus of one word; the numbers have 12 bytes.
pub(super) struct Word {
    modulus: u64,
    by: Divisor,
}

impl Word {
    pub(super) fn new(modulus: u64) -> Self {
        Word {
            modulus,
            by: Divisor::new(modulus),
        }
    }
}

impl Modulus for Word {
    #[inline(always)]
    fn reduce(&self, block: &[u8; 16]) -> u64 {
        let x = u128::from_be_bytes(*block) >> 32;
        let shift = self.by.shift;
        if shift < 32 {
            // The modulus times 2^64 has more bits than the number.
            let (high, low) = words(x << shift);
            let (_, rest) = self.by.divide(high, low);
            return rest >> shift;
        }
        let (high, low) = words(x);
        // Its bits in three words, shifted as the divisor is.
        let (top, high) = words(u128::from(high) << shift);
        let over = low >> 1 >> (63 - shift);
        let (_, rest) = self.by.divide(top, high | over);
        let (_, rest) = self.by.divide(rest, low << shift);
        rest >> shift
    }

    #[inline(always)]
    fn value(&self) -> u64 {
        self.modulus
    }
}

/// Arithmetic modulo a number of any size, lowest word first.
pub(super) struct Big {
    modulus: Vec<u64>,
    /// Shifted until its top bit is set.
    normal: Vec<u64>,
    shift: u32,
    /// The top word of that.
    by: Divisor,
}

impl Big {
    /// `modulus` has no zeros at its end, and is not 0.
    pub(super) fn new(modulus: Vec<u64>) -> Self {
        let top = modulus.len() - 1;
        let shift = modulus[top].leading_zeros();
        let mut normal = modulus.clone();
        shift_up(&mut normal, shift);
        Big {
            by: Divisor::new(normal[top]),
            modulus,
            normal,
            shift,
        }
    }

    pub(super) fn words(&self) -> usize {
        self.modulus.len()
    }

    /// Reduces `x`, which has at least one word more than the modulus, of which the top one is
    /// 0. The result is in its first words.
    pub(super) fn reduce(&self, x: &mut [u64]) {
        let n = self.words();
        shift_up(x, self.shift);
        for from in (0..x.len() - n).rev() {
            let x = &mut x[from..=from + n];
            // The quotient or at most two more, as the top word of the divisor has its top bit
            // set. With equal top words it would have more than a word.
            let (high, low) = (x[n], x[n - 1]);
            let (estimate, _) = self.by.divide(high, low);
            let quotient = estimate | mask(high >= self.by.normal);
            let (mut product, mut below) = (0, false);
            for (word, divisor) in x.iter_mut().zip(&self.normal) {
                let sum = u128::from(quotient) * u128::from(*divisor) + u128::from(product);
                let low;
                (product, low) = words(sum);
                let (less, first) = word.overflowing_sub(low);
                let (less, second) = less.overflowing_sub(u64::from(below));
                (*word, below) = (less, first | second);
            }
            let (top, first) = x[n].overflowing_sub(product);
            let (mut top, second) = top.overflowing_sub(u64::from(below));
            let mut negative = mask(first | second);
            for _ in 0..2 {
                let over = add_masked(&mut x[..n], &self.normal, negative);
                let carry;
                (top, carry) = top.overflowing_add(u64::from(over));
                negative &= !mask(carry);
            }
            x[n] = top;
        }
        shift_down(&mut x[..n], self.shift);
    }

    /// Adds `y` to `x`, which both are below the modulus.
    pub(super) fn add(&self, x: &mut [u64], y: &[u64]) {
        let over = add_masked(x, y, !0);
        let below = subtract(x, &self.modulus);
        add_masked(x, &self.modulus, mask(below) & !mask(over));
    }

    /// Subtracts it.
    pub(super) fn subtract(&self, x: &mut [u64], y: &[u64]) {
        let below = subtract(x, y);
        add_masked(x, &self.modulus, mask(below));
    }
}

/// Adds `y` where `mask` has ones; whether it overflows.
fn add_masked(x: &mut [u64], y: &[u64], mask: u64) -> bool {
    x.iter_mut().zip(y).fold(false, |over, (x, y)| {
        let (sum, first) = x.overflowing_add(y & mask);
        let (sum, second) = sum.overflowing_add(u64::from(over));
        *x = sum;
        first | second
    })
}

/// Subtracts `y`; whether the result is below 0.
fn subtract(x: &mut [u64], y: &[u64]) -> bool {
    x.iter_mut().zip(y).fold(false, |below, (x, y)| {
        let (less, first) = x.overflowing_sub(*y);
        let (less, second) = less.overflowing_sub(u64::from(below));
        *x = less;
        first | second
    })
}

/// What goes out at the top is 0.
fn shift_up(x: &mut [u64], by: u32) {
    let mut over = 0;
    for word in x {
        let next = *word >> 1 >> (63 - by);
        *word = *word << by | over;
        over = next;
    }
}

/// What goes out at the bottom is 0.
fn shift_down(x: &mut [u64], by: u32) {
    let mut over = 0;
    for word in x.iter_mut().rev() {
        let next = *word << 1 << (63 - by);
        *word = *word >> by | over;
        over = next;
    }
}

#[cfg(test)]
mod tests;
