//! Rows of texts that displace each other's lines in the first-level cache: some rows of each are moved to
//! memory where they do not, done there, and results moved from there.
//!
//! A row of all lanes takes a line of each text, and these lines share a set of the cache. Lines of one
//! text are in sets of their own, so that moving a few of them takes little more time than if no text
//! displaced another.
//!
//! `unsafe` here rests on what callers promise of places.
#![allow(unsafe_code)]

use crate::block::{Block, LINE, MAX_LANES};
use crate::isa::{Isa, Starts};
use core::ops::Range;

/// So many rows are moved at a time: half of a first-level cache of 32 KiB in all lanes.
const ROWS: usize = 8 * LINE;

/// From one lane's blocks to the next one's: an odd number of lines, so that these use all sets.
const STRIDE: usize = ROWS + LINE;

#[repr(C, align(64))]
pub(crate) struct Stage {
    memory: [[Block; STRIDE]; MAX_LANES],
    /// The rows that are there.
    rows: Range<usize>,
    /// Whether rows were moved there since it was made or wiped.
    is_used: bool,
}

impl Stage {
    pub(crate) fn new() -> Self {
        Stage {
            memory: [[[0; 16]; STRIDE]; MAX_LANES],
            rows: 0..0,
            is_used: false,
        }
    }

    /// Wipes what was moved here, which may be of a message that failed.
    pub(crate) fn wipe(&mut self) {
        if self.is_used {
            self.memory = [[[0; 16]; STRIDE]; MAX_LANES];
            zeroize::optimization_barrier(self);
            (self.rows, self.is_used) = (0..0, false);
        }
    }

    /// With nothing there.
    #[inline(always)]
    pub(crate) fn cleared(&mut self) -> &mut Self {
        self.rows = 0..0;
        self
    }

    /// Whether row `row` is there.
    #[inline(always)]
    pub(crate) fn has(&self, row: usize) -> bool {
        self.rows.contains(&row)
    }

    /// Has row `row` there, of each of the `texts` that has it: where they begin, and how many rows they have. The
    /// end of the rows that are there then.
    ///
    /// # Safety
    /// There are at most [`MAX_LANES`] texts, which have these rows, of 16 bytes.
    #[inline(always)]
    pub(crate) unsafe fn fill<U: Isa>(
        &mut self,
        u: U,
        texts: impl Iterator<Item = (*const u8, usize)>,
        row: usize,
    ) -> usize {
        if !self.has(row) {
            self.rows = row..row + ROWS;
            self.is_used = true;
            // SAFETY: the caller's.
            unsafe { self.fill_all(u, texts) };
        }
        self.rows.end
    }

    /// # Safety
    /// As of [`Stage::fill`].
    #[inline(never)]
    unsafe fn fill_all<U: Isa>(&mut self, u: U, texts: impl Iterator<Item = (*const u8, usize)>) {
        u.enter(
            #[inline(always)]
            || {
                let staged = self.starts();
                for (l, (src, len)) in texts.enumerate() {
                    let rows = self.rows.start..self.rows.end.min(len);
                    // SAFETY: the caller's.
                    unsafe { move_rows(u, src, staged.of(l), rows) };
                }
            },
        );
    }

    /// Moves what there is of rows before `row` to the places of `results`, of texts of so many rows.
    ///
    /// # Safety
    /// As of [`Stage::fill`].
    #[inline(never)]
    pub(crate) unsafe fn empty<U: Isa>(
        &mut self,
        u: U,
        results: impl Iterator<Item = (*mut u8, usize)>,
        row: usize,
    ) {
        u.enter(
            #[inline(always)]
            || {
                let staged = self.starts();
                for (l, (dst, len)) in results.enumerate() {
                    let rows = self.rows.start..self.rows.end.min(len).min(row);
                    // SAFETY: the caller's.
                    unsafe { move_rows(u, staged.of(l), dst, rows) };
                }
                self.rows = 0..0;
            },
        );
    }

    /// Where lanes begin, as if all rows were there.
    #[inline(always)]
    pub(crate) fn starts(&mut self) -> Staged {
        let memory = self.memory.as_mut_ptr().cast::<u8>();
        Staged(memory.wrapping_sub(self.rows.start * 16))
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        self.wipe();
    }
}

/// See [`Stage::starts`].
#[derive(Clone, Copy)]
pub(crate) struct Staged(*mut u8);

impl Starts for Staged {
    #[inline(always)]
    unsafe fn of(self, l: usize) -> *mut u8 {
        self.0.wrapping_add(l * STRIDE * 16)
    }

    #[inline(always)]
    unsafe fn after(self, lanes: usize) -> Self {
        Staged(self.0.wrapping_add(lanes * STRIDE * 16))
    }
}

/// # Safety
/// Both have these rows, of 16 bytes each.
#[inline(always)]
unsafe fn move_rows<U: Isa>(u: U, from: *const u8, to: *mut u8, rows: Range<usize>) {
    let Range { mut start, end } = rows;
    // SAFETY: the caller's.
    unsafe {
        while start + U::LANES <= end {
            u.store(
                u.load(from.wrapping_add(start * 16)),
                to.wrapping_add(start * 16),
            );
            start += U::LANES;
        }
        while start < end {
            let block = from.wrapping_add(start * 16).cast::<Block>();
            let to = to.wrapping_add(start * 16).cast::<Block>();
            to.write_unaligned(block.read_unaligned());
            start += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isa::Portable;

    /// Texts of messages that failed do not stay.
    #[test]
    fn wiped() {
        let text = [[7; 16]; ROWS];
        let mut stage = Stage::new();
        // SAFETY: the text has all rows.
        unsafe { stage.fill(Portable::<4>, [(text.as_ptr().cast(), ROWS)].into_iter(), 0) };
        assert_eq!(stage.memory[0][..ROWS], text);
        stage.wipe();
        assert!(
            stage
                .memory
                .as_flattened()
                .iter()
                .all(|block| *block == [0; 16])
        );
        assert!(!stage.has(0));
    }
}
