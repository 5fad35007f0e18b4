//! Values whose halves are below 2^64: each a number in a register.
#![forbid(unsafe_code)]

use super::arithmetic::{Modulus, Small, Word};
use super::values::{Numeral, Values};
use super::{Form, Memory, Run, Way, room};
use crate::block::Block;
use crate::layout::Offset;

/// Values that are done together: as many as keep AES busy, with what is computed of them in
/// the nearest cache.
const CHUNK: usize = 256;

impl Run<'_> {
    /// `top`: the radix to the power of the length of the second half, which is not the
    /// shorter.
    pub(super) fn narrow<T: Numeral, O: Offset>(
        &mut self,
        top: u64,
        values: &mut Values<'_, T, O>,
        memory: &mut Memory<T>,
    ) {
        let form = self.form(&[top]);
        let bottom = match 2 * self.first < self.len {
            true => top / u64::from(self.ff1.radix),
            false => top,
        };
        for order in self.order.chunks(CHUNK) {
            let count = order.len();
            let chunk = Chunk {
                numerals: room(&mut memory.numerals, T::ZERO, count * self.len),
                first: room(&mut memory.first, 0, count),
                second: room(&mut memory.second, 0, count),
                bases: room(&mut memory.bases, [0; 16], count),
                blocks: room(&mut memory.blocks, [0; 16], count),
            };
            values.read(order, self.len, chunk.numerals);
            T::decode(self.ff1, chunk.numerals);
            self.bases(form, values, order, chunk.bases);
            if form.bytes <= 4 {
                self.rounds(form, (&Small::new(bottom), &Small::new(top)), chunk);
            } else {
                self.rounds(form, (&Word::new(bottom), &Word::new(top)), chunk);
            }
            let numerals = &mut memory.numerals[..count * self.len];
            T::encode(self.ff1, numerals);
            values.write(order, self.len, numerals);
        }
    }

    /// From numerals to numerals.
    fn rounds<T: Numeral, M: Modulus>(
        &mut self,
        form: Form,
        moduli: (&M, &M),
        chunk: Chunk<'_, T>,
    ) {
        let Chunk {
            numerals,
            first,
            second,
            bases,
            blocks,
        } = chunk;
        let of = &self.ff1.numerals;
        let halves = numerals
            .chunks_exact(self.len)
            .map(|x| x.split_at(self.first));
        for (((a, b), x), y) in halves.zip(&mut *first).zip(&mut *second) {
            (*x, *y) = (of.number(a), of.number(b));
        }
        for i in self.way.rounds() {
            let (from, to, modulus) = match i % 2 {
                0 => (&*second, &mut *first, moduli.0),
                _ => (&*first, &mut *second, moduli.1),
            };
            let round = (i as u128) << (8 * form.bytes);
            for ((block, base), x) in blocks.iter_mut().zip(&*bases).zip(from) {
                let input = u128::from_be_bytes(*base) ^ round ^ u128::from(*x);
                *block = input.to_be_bytes();
            }
            self.encrypt(blocks);
            match self.way {
                Way::Encrypt => {
                    for (x, block) in to.iter_mut().zip(&*blocks) {
                        *x = modulus.add(*x, modulus.reduce(block));
                    }
                }
                Way::Decrypt => {
                    for (x, block) in to.iter_mut().zip(&*blocks) {
                        *x = modulus.subtract(*x, modulus.reduce(block));
                    }
                }
            }
        }
        let halves = numerals
            .chunks_exact_mut(self.len)
            .map(|x| x.split_at_mut(self.first));
        for (((a, b), x), y) in halves.zip(first).zip(second) {
            of.split(*x, a);
            of.split(*y, b);
        }
    }
}

/// Memory for some values.
struct Chunk<'a, T> {
    numerals: &'a mut [T],
    first: &'a mut [u64],
    second: &'a mut [u64],
    bases: &'a mut [Block],
    blocks: &'a mut [Block],
}
