//! Counter blocks that are neighbours, where no table is kept for them as in `counting.rs`: they
//! differ in their last byte, but where it overflows. A row is what is the same in all its blocks,
//! with the first round key, plus a constant: there is no counter to step and to put in order.
//!
//! The index of the table is the last byte of a counter. It is used where that is public: not in
//! GCM with a nonce that does not have 12 bytes, whose counter comes of the key ([`SECRET`]).
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
    /// Blocks before the next row.
    done: Cell<usize>,
    /// The last byte of the next row's first counter; `SECRET` where that is not public.
    low: Cell<usize>,
    /// The next row's counters with 0 for their last bytes, and the first round key added, in all
    /// lanes.
    base: Cell<U::W>,
}

/// All but the last byte of a counter in reverse byte order.
const UPPER: Block = (!0xff_u128).to_le_bytes();

/// For counters that come of the key: they must not be an index, and no branch may depend on them.
/// They are stepped.
const SECRET: usize = 2 * VALUES;

impl<'t, U: Isa<Unit = U>> Places<'t, U> {
    /// From `start` on, of which `base` is what `base` made, if it is `public`.
    #[inline(always)]
    pub(crate) fn new(start: &'t Block, base: U::W, public: bool) -> Self {
        let low = match public {
            true => usize::from(start[0]),
            false => SECRET,
        };
        Places {
            start,
            done: Cell::new(0),
            low: Cell::new(low),
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
        let (s, low, done) = (c.s, self.low.get(), self.done.get());
        self.done.set(done + S::LANES);
        let next = low + S::LANES;
        let x = if next <= VALUES {
            self.low.set(next);
            // SAFETY: a row from there on is in the table.
            let row = unsafe { s.load(LAST_BYTES.0.as_ptr().add(2 + low).cast()) };
            s.repeat(self.base.get()) ^ row
        } else {
            let count = |n: usize| s.splat(&(n as u128).to_le_bytes());
            let row = s.splat(self.start).count32(s.iota().count32(count(done)));
            if low < SECRET {
                // The next row's, in which no last byte overflows: its number is small.
                let next_row = s.first(row.count32(count(S::LANES)));
                let upper = next_row & s.unit().splat(&UPPER);
                self.base.set(upper.swap_bytes() ^ s.first(c.round_key(0)));
                self.low.set(next - VALUES);
            }
            row.swap_bytes() ^ c.round_key(0)
        };
        c.encrypt_linked(x, c.zero())
    }
}
