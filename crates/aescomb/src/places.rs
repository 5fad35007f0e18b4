//! Counter blocks of 32 bits that are neighbours, of messages that are done a few at a time: as in
//! `counting.rs`, a row is what is the same in all its blocks, after the first round, plus what
//! their last bytes add to it. Under a key without a table for that, the same before the first
//! round, with its key: nothing is counted or reversed.
//!
//! The index of the table is the last byte of a counter. It is used where that is public: not in
//! GCM with a nonce that does not have 12 bytes, whose counter comes of the key ([`SECRET`]).
#![forbid(unsafe_code)]

use crate::block::Block;
use crate::cipher::Uniform;
use crate::counting::row;
use crate::expanded::{FirstRounds, VALUES};
use crate::isa::{Isa, Wide};
use core::cell::Cell;

/// The counters of a message's rows: of 32 bits.
pub(crate) struct Places<'t, U: Isa> {
    /// The key's, if so `keyed`; otherwise [`LAST_BYTES`].
    table: &'t FirstRounds,
    keyed: bool,
    /// The first counter, in reverse byte order.
    start: &'t Block,
    /// Blocks before the next row.
    done: Cell<usize>,
    /// The last byte of the next row's first counter, if `base` is known for that row; otherwise more
    /// than all rows have. `SECRET` where it is not public.
    low: Cell<usize>,
    /// The next row's counters with 0 for their last bytes, in all lanes: after the first round if so
    /// `keyed`, otherwise with the first round key added.
    base: Cell<U::W>,
}

/// What the last byte of a counter adds to it: itself.
pub(crate) static LAST_BYTES: FirstRounds = {
    let mut table = [[0; 16]; 2 + VALUES];
    let mut i = 0;
    while i < VALUES {
        table[2 + i][15] = i as u8;
        i += 1;
    }
    FirstRounds(table)
};

/// All but the last byte of a counter in reverse byte order.
const UPPER: Block = (!0xff_u128).to_le_bytes();

/// For counters that come of the key: they must not be an index, and no branch may depend on them.
/// They are stepped.
const SECRET: usize = 2 * VALUES;

impl<'t, U: Isa<Unit = U>> Places<'t, U> {
    /// From `start` on, of which `base` is what `base` made, if it is `public`.
    #[inline(always)]
    pub(crate) fn new(
        (table, keyed): (&'t FirstRounds, bool),
        start: &'t Block,
        base: U::W,
        public: bool,
    ) -> Self {
        let low = match public {
            true => usize::from(start[0]),
            false => SECRET,
        };
        Places {
            table,
            keyed,
            start,
            done: Cell::new(0),
            low: Cell::new(low),
            base: Cell::new(base),
        }
    }

    /// Those `blocks` further on.
    #[inline(always)]
    pub(crate) fn after(&self, blocks: usize) -> Self {
        let done = self.done.get() + blocks;
        let low = match self.low.get() {
            SECRET => SECRET,
            low if low + blocks <= VALUES => low + blocks,
            _ => VALUES + 1,
        };
        Places {
            table: self.table,
            keyed: self.keyed,
            start: self.start,
            done: Cell::new(done),
            low: Cell::new(low),
            base: Cell::new(self.base.get()),
        }
    }

    /// `counters`, in reverse byte order, as `new` takes them with a key's table.
    #[inline(always)]
    pub(crate) fn base(c: &Uniform<'_, U>, counters: U::W) -> U::W {
        c.first_round((counters & c.s.splat(&UPPER)).swap_bytes())
    }

    /// The same without a table, with the first round keys `keys`.
    #[inline(always)]
    pub(crate) fn plain_base(u: U, counters: U::W, keys: U::W) -> U::W {
        (counters & u.splat(&UPPER)).swap_bytes() ^ keys
    }

    /// CIPH_K of the next row's.
    #[inline(always)]
    pub(crate) fn encrypt<S: Isa<Unit = U>>(&self, c: &Uniform<'_, S>) -> S::W {
        let (s, low, done) = (c.s, self.low.get(), self.done.get());
        self.done.set(done + S::LANES);
        let next = low + S::LANES;
        let x = if next <= VALUES {
            self.low.set(next);
            s.repeat(self.base.get()) ^ row(self.table, s, low)
        } else {
            let iota = s.iota().count32(s.splat(&(done as u128).to_le_bytes()));
            let mut x = s.splat(self.start).count32(iota).swap_bytes();
            if self.keyed {
                x = c.first_round(x);
            } else {
                x = c.first_key(x);
            }
            if low != SECRET {
                let low = (usize::from(self.start[0]) + done) % VALUES;
                let next = low + S::LANES;
                self.low.set(next);
                // Where the last byte overflows, lanes of one row have other bytes that differ.
                if next <= VALUES {
                    self.base.set(s.first(x ^ row(self.table, s, low)));
                }
            }
            x
        };
        match self.keyed {
            true => c.encrypt_rest(x),
            false => c.encrypt_linked(x, s.splat(&[0; 16])),
        }
    }
}
