//! Counter blocks that are neighbours, where no table is kept for them as in `counting.rs`: they
//! differ in their last byte, but where it overflows. A row is what is the same in all its blocks,
//! with the first round key, plus a constant: there is no counter to step and to put in order.
//!
//! `unsafe` here rests on one fact: a row of `LANES` blocks from `low` on is in the table,
//! as `low + LANES <= 256`.
#![allow(unsafe_code)]

use crate::block::Block;
use crate::cipher::{Cipher, Uniform};
use crate::expanded::VALUES;
use crate::isa::{Isa, Wide};
use core::cell::Cell;

/// Blocks of which only the last byte is not 0, after two that nobody reads: those of GCM's first
/// row, whose counters begin with 2, are a line of the cache.
#[repr(C, align(64))]
struct LastBytes([Block; 2 + VALUES]);

static LAST_BYTES: LastBytes = {
    let mut blocks = [[0; 16]; 2 + VALUES];
    let mut i = 0;
    while i < VALUES {
        blocks[2 + i][15] = i as u8;
        i += 1;
    }
    LastBytes(blocks)
};

/// The counters of a message's rows: of 32 bits.
pub(crate) struct Places<'t, U: Isa> {
    /// The first counter, in reverse byte order.
    start: &'t Block,
    /// How many 256ths the next row's first is further on than that with 0 for its last byte, and
    /// its own last byte.
    upper: Cell<usize>,
    low: Cell<usize>,
    /// The next row's counters with 0 for their last bytes, and the first round key added, in all
    /// lanes.
    base: Cell<U::W>,
}

impl<'t, U: Isa<Unit = U>> Places<'t, U> {
    /// From `start` on, of which `base` is what `base` made.
    #[inline(always)]
    pub(crate) fn new(start: &'t Block, base: U::W) -> Self {
        Places {
            start,
            upper: Cell::new(0),
            low: Cell::new(usize::from(start[0])),
            base: Cell::new(base),
        }
    }

    /// `counters`, in reverse byte order, as `new` takes them.
    #[inline(always)]
    pub(crate) fn base(c: &Uniform<'_, U>, counters: U::W) -> U::W {
        (counters & c.splat(&UPPER)).swap_bytes() ^ c.round_key(0)
    }

    /// CIPH_K of the next row's.
    #[inline(always)]
    pub(crate) fn encrypt<S: Isa<Unit = U>>(&self, c: &Uniform<'_, S>) -> S::W {
        let (s, low) = (c.s, self.low.get());
        let next = low + S::LANES;
        let x = if next <= VALUES {
            self.low.set(next);
            // SAFETY: a row from there on is in the table.
            let row = unsafe { s.load(LAST_BYTES.0.as_ptr().add(2 + low).cast()) };
            s.repeat(self.base.get()) ^ row
        } else {
            let count = |n: usize| s.splat(&(n as u128).to_le_bytes());
            let start = s.splat(self.start) & s.splat(&UPPER);
            let upper = self.upper.get();
            let row = start.count32(s.iota().count32(count(upper * VALUES + low)));
            let base = start.count32(count((upper + 1) * VALUES));
            self.base.set(s.first(base.swap_bytes() ^ c.round_key(0)));
            self.upper.set(upper + 1);
            self.low.set(next - VALUES);
            row.swap_bytes() ^ c.round_key(0)
        };
        c.encrypt_linked(x, c.zero())
    }
}

/// All but the last byte of a counter in reverse byte order.
const UPPER: Block = (!0xff_u128).to_le_bytes();
