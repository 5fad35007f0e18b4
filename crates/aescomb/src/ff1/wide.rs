//! Values whose halves are numbers of several words.
#![forbid(unsafe_code)]

use super::arithmetic::Big;
use super::values::{Numeral, Values};
use super::{Memory, Run, Way, room};
use crate::block::Block;
use crate::layout::Offset;
use alloc::vec::Vec;

/// Memory that values which are done together take, in bytes, and the most of them.
const MEMORY: usize = 1 << 15;
const MOST: usize = 256;

impl Run<'_> {
    /// `top`: the radix to the power of the length of the second half, lowest word first.
    pub(super) fn wide<T: Numeral, O: Offset>(
        &mut self,
        top: Vec<u64>,
        values: &mut Values<'_, T, O>,
        memory: &mut Memory<T>,
    ) {
        let of = &self.ff1.numerals;
        let form = self.form(&top);
        // The number that is reduced, in bytes, and the blocks that it is in.
        let sum = form.bytes.div_ceil(4) * 4 + 4;
        let sums = sum.div_ceil(16);
        let bottom = match 2 * self.first < self.len {
            true => of.big_power(self.first),
            false => top.clone(),
        };
        let moduli = [Big::new(bottom), Big::new(top)];
        let words = [moduli[0].words(), moduli[1].words()];
        // The last block of the CBC-MAC is the first of the sum.
        let rows = form.rest + sums - 1;
        let each = self.len * size_of::<T>() + 8 * (words[0] + words[1]) + 16 * (rows + 1);
        for order in self.order.chunks((MEMORY / each).clamp(1, MOST)) {
            let count = order.len();
            let numerals = room(&mut memory.numerals, T::ZERO, count * self.len);
            let mut halves = [
                room(&mut memory.first, 0, count * words[0]),
                room(&mut memory.second, 0, count * words[1]),
            ];
            let bases = room(&mut memory.bases, [0; 16], count);
            let blocks = room(&mut memory.blocks, [0; 16], count * rows);
            let number = room(&mut memory.sum, 0, sum.div_ceil(8) + 1);
            values.read(order, self.len, numerals);
            T::decode(self.ff1, numerals);
            self.bases(form, values, order, bases);
            for (k, value) in numerals.chunks_exact(self.len).enumerate() {
                let (a, b) = value.split_at(self.first);
                for ((half, numerals), words) in halves.iter_mut().zip([a, b]).zip(words) {
                    of.big_number(numerals, &mut half[k * words..][..words]);
                }
            }
            for i in self.way.rounds() {
                let [first, second] = &mut halves;
                let (from, to, side) = match i % 2 {
                    0 => (&**second, &mut **first, 0),
                    _ => (&**first, &mut **second, 1),
                };
                for (k, x) in from.chunks_exact(words[1 - side]).enumerate() {
                    (0..form.rest).for_each(|row| blocks[row * count + k] = [0; 16]);
                    // Places in bytes, from the end of the blocks on.
                    let mut put = |bytes: &[u8], end: usize| {
                        let at = 16 * form.rest - end;
                        let block: &mut Block = &mut blocks[at / 16 * count + k];
                        block[at % 16..][..bytes.len()].copy_from_slice(bytes);
                    };
                    for (word, x) in x.iter().enumerate() {
                        put(&x.to_be_bytes(), 8 * (word + 1));
                    }
                    put(&[i as u8], form.bytes + 1);
                    add(&mut blocks[k], &bases[k]);
                }
                for row in 0..form.rest {
                    let (before, blocks) = blocks.split_at_mut(row * count);
                    let blocks = &mut blocks[..count];
                    if row > 0 {
                        let before = &before[(row - 1) * count..];
                        blocks.iter_mut().zip(before).for_each(|(x, y)| add(x, y));
                    }
                    self.encrypt(blocks);
                }
                let result = &mut blocks[(form.rest - 1) * count..];
                let (first, others) = result.split_at_mut(count);
                for (j, blocks) in others.chunks_exact_mut(count).enumerate() {
                    let j = (j as u128 + 1).to_be_bytes();
                    for (block, first) in blocks.iter_mut().zip(&*first) {
                        *block = *first;
                        add(block, &j);
                    }
                }
                self.encrypt(others);
                for (k, x) in to.chunks_exact_mut(words[side]).enumerate() {
                    number.fill(0);
                    for place in 0..sum / 4 {
                        // From the end of the sum on.
                        let at = sum - 4 * (place + 1);
                        let block = &result[at / 16 * count + k];
                        let mut part = [0; 4];
                        part.copy_from_slice(&block[at % 16..][..4]);
                        let part = u64::from(u32::from_be_bytes(part));
                        number[place / 2] |= part << (32 * (place % 2));
                    }
                    let modulus = &moduli[side];
                    modulus.reduce(number);
                    let y = &number[..words[side]];
                    match self.way {
                        Way::Encrypt => modulus.add(x, y),
                        Way::Decrypt => modulus.subtract(x, y),
                    }
                }
            }
            for (k, value) in numerals.chunks_exact_mut(self.len).enumerate() {
                let (a, b) = value.split_at_mut(self.first);
                for ((half, numerals), words) in halves.iter_mut().zip([a, b]).zip(words) {
                    of.split_big(&mut half[k * words..][..words], numerals);
                }
            }
            T::encode(self.ff1, numerals);
            values.write(order, self.len, numerals);
        }
    }
}

fn add(to: &mut Block, block: &Block) {
    to.iter_mut().zip(block).for_each(|(to, x)| *to ^= x);
}
