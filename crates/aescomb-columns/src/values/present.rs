//! Which rows of a batch have a message.

use arrow_buffer::bit_iterator::BitIndexIterator;
use arrow_buffer::{BooleanBuffer, BooleanBufferBuilder, NullBuffer};
use std::ops::Range;

/// Of every so many rows it is known how many before them have a message.
const RUN: usize = 512;

/// The rows that have a message; the others are null.
///
/// It is a bit for each row, as Arrow has them: a list of rows would not stay in the caches, and
/// every step would fetch it again.
pub struct Present {
    /// `None` if it is all of them.
    some: Option<Rows>,
    /// Rows, null or not.
    of: usize,
}

/// Some of the rows of a batch.
struct Rows {
    /// A bit for each row.
    bits: BooleanBuffer,
    /// How many rows have a message before the first of each run.
    before: Vec<usize>,
}

impl Rows {
    /// How many rows before this one have a message.
    fn before(&self, row: usize) -> usize {
        let run = row / RUN;
        self.before[run] + self.bits.slice(run * RUN, row % RUN).count_set_bits()
    }

    /// The row of message `i` of all.
    fn row(&self, i: usize) -> usize {
        let run = self.before.partition_point(|before| *before <= i) - 1;
        let (mut left, mut start) = (i - self.before[run], run * RUN);
        let own = self.bits.slice(start, RUN.min(self.bits.len() - start));
        for mut bits in own.bit_chunks().iter_padded() {
            let count = bits.count_ones() as usize;
            if left < count {
                (0..left).for_each(|_| bits &= bits - 1);
                return start + bits.trailing_zeros() as usize;
            }
            (left, start) = (left - count, start + 64);
        }
        unreachable!("message {i} has a row")
    }
}

impl Present {
    /// All of so many rows.
    pub fn all(of: usize) -> Self {
        Present { some: None, of }
    }

    /// These of so many rows.
    pub fn these(rows: impl IntoIterator<Item = usize>, of: usize) -> Self {
        let mut bits = BooleanBufferBuilder::new(of);
        bits.append_n(of, false);
        rows.into_iter().for_each(|row| bits.set_bit(row, true));
        Present::bits(bits.finish())
    }

    /// Those whose bit is set.
    pub fn bits(bits: BooleanBuffer) -> Self {
        let (of, mut count) = (bits.len(), 0);
        // One more, so that the end of all rows has a run.
        let before: Vec<usize> = (0..=of / RUN)
            .map(|run| {
                let (start, before) = (run * RUN, count);
                count += bits.slice(start, RUN.min(of - start)).count_set_bits();
                before
            })
            .collect();
        let some = (count < of).then_some(Rows { bits, before });
        Present { some, of }
    }

    /// Those that are none of `others`.
    pub fn without(&self, others: Chosen<'_>) -> Vec<usize> {
        let mut others = others.rows().peekable();
        let other = |row: &usize| {
            while others.next_if(|other| other < row).is_some() {}
            others.peek() != Some(row)
        };
        self.whole().rows().filter(other).collect()
    }

    /// Those of the whole batch.
    pub fn whole(&self) -> Chosen<'_> {
        let whole = Chosen {
            some: self.some.as_ref(),
            start: 0,
            end: self.of,
            before: 0,
            count: 0,
        };
        whole.within(0..self.of)
    }
}

/// The rows of a stretch of a batch that have a message.
#[derive(Clone, Copy)]
pub struct Chosen<'a> {
    some: Option<&'a Rows>,
    start: usize,
    end: usize,
    /// How many rows of the batch before the stretch have a message.
    before: usize,
    count: usize,
}

impl<'a> Chosen<'a> {
    /// Those of a shorter stretch.
    pub fn within(self, stretch: Range<usize>) -> Chosen<'a> {
        let Range { start, end } = stretch;
        let before = |row| self.some.map_or(row, |some| some.before(row));
        let first = before(start);
        Chosen {
            some: self.some,
            start,
            end,
            before: first,
            count: before(end) - first,
        }
    }

    /// How many before this row have a message.
    pub fn before(self, row: usize) -> usize {
        self.within(self.start..row).count
    }

    /// All rows of the stretch, null or not.
    pub fn range(self) -> Range<usize> {
        self.start..self.end
    }

    /// How many have a message.
    pub fn count(self) -> usize {
        self.count
    }

    /// Whether all rows of the stretch have one.
    pub fn are_all(self) -> bool {
        self.count == self.end - self.start
    }

    /// The row of message `i` of the stretch.
    pub fn row(self, i: usize) -> usize {
        match self.some {
            Some(some) => some.row(self.before + i),
            None => self.start + i,
        }
    }

    /// The rows that have a message.
    pub fn rows(self) -> impl Iterator<Item = usize> + 'a {
        self.places().map(move |place| self.start + place)
    }

    /// The rows, counted from the beginning of the stretch.
    pub fn places(self) -> impl Iterator<Item = usize> + 'a {
        let len = self.end - self.start;
        let (some, all) = match self.some {
            Some(Rows { bits, .. }) if !self.are_all() => {
                let bits = BitIndexIterator::new(bits.values(), bits.offset() + self.start, len);
                (Some(bits), 0..0)
            }
            _ => (None, 0..len),
        };
        some.into_iter().flatten().chain(all)
    }

    /// For each row of the stretch, whether it has one.
    pub fn nulls(self) -> Option<NullBuffer> {
        let some = self.some.filter(|_| !self.are_all())?;
        let bits = some.bits.slice(self.start, self.end - self.start);
        Some(NullBuffer::new(bits))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_rows() {
        for of in [0, 1, 63, 64, 65, 511, 512, 513, 1024, 5000] {
            for step in [1, 2, 3, 7, 100, 600, 10_000] {
                // Not at the beginning of a byte.
                let rows: Vec<usize> = (0..of).filter(|row| row % step != 1).collect();
                let bits = BooleanBuffer::collect_bool(of + 3, |i| i >= 3 && (i - 3) % step != 1);
                for present in [
                    Present::these(rows.iter().copied(), of),
                    Present::bits(bits.slice(3, of)),
                ] {
                    let whole = present.whole();
                    assert_eq!(whole.are_all(), rows.len() == of);
                    for stretch in [0..of, 0..of / 2, of / 3..of, of / 2..of / 2] {
                        let own = whole.within(stretch.clone());
                        let here = |row: &&usize| stretch.contains(row);
                        let expected: Vec<usize> = rows.iter().filter(here).copied().collect();
                        assert_eq!(own.range(), stretch);
                        assert_eq!(own.rows().collect::<Vec<_>>(), expected);
                        assert_eq!(own.count(), expected.len());
                        assert!(own.rows().eq((0..own.count()).map(|i| own.row(i))));
                        assert!(own.rows().eq(own.places().map(|i| stretch.start + i)));
                        for (i, row) in expected.iter().enumerate() {
                            assert_eq!(own.before(*row), i);
                        }
                        let nulls = own.nulls().map_or(0, |nulls| nulls.null_count());
                        assert_eq!(nulls, stretch.len() - expected.len());
                    }
                }
            }
        }
    }
}
