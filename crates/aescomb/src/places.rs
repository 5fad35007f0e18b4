//! Counter blocks that are neighbours: they differ in their last byte, but where it overflows. What
//! that byte adds to the state after the first round of AES is looked up in a table of the key, and
//! what the other bytes make of it is the same for up to 256 blocks: a row starts from their sum, at
//! the second round, without a counter.
//!
//! ```text
//! R(block) = MixColumns(ShiftRows(SubBytes(block ^ K_0))) ^ K_1
//! ```
//!
//! A byte of the block goes through SubBytes by itself, and all after it is linear: with b
//! the last byte, `R(block) = R(block with last byte 0) ^ T[b]`. Under a key without such a table, a
//! row is the same sum before the first round, with its key: nothing is counted or reversed.
//!
//! The index of the table is the last byte of a counter. It is used where that is public
//! ([`Pass::last_byte`](crate::pass::Pass::last_byte)): it comes of the nonce and of the number of the
//! block, but in GCM with a nonce that does not have 12 bytes, whose counter comes of the key.
#![forbid(unsafe_code)]

use crate::block::Block;
use crate::cipher::Uniform;
use crate::expanded::{Expanded, FirstRounds, VALUES};
use crate::isa::{Isa, Wide};
use crate::schedule::FORWARD;
use core::cell::Cell;

/// T of the key's cipher. Out of line, as it is done once a key.
#[inline(never)]
pub(crate) fn first_rounds<S: Isa>(s: S, key: &Expanded) -> FirstRounds {
    let mut table = FirstRounds([[0; 16]; 2 + VALUES]);
    s.enter(
        #[inline(always)]
        || {
            let keys = s.keys(key, FORWARD);
            let keys = s.load_keys(&keys, FORWARD, false);
            let zero = s.first_round(&keys, s.splat(&[0; 16]));
            let lanes = s.splat(&(S::LANES as u128).to_le_bytes());
            let mut places = s.iota();
            for row in table.0[2..].chunks_exact_mut(S::LANES) {
                s.store_to(s.first_round(&keys, places.swap_bytes()) ^ zero, row);
                places = places.count32(lanes);
            }
        },
    );
    table
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

/// The first counter of a message.
#[derive(Clone, Copy)]
pub(crate) struct Start<'t> {
    /// In reverse byte order.
    pub block: &'t Block,
    /// How many bits of it count: 32, 64 or 128.
    pub bits: u32,
    /// Its last byte, where that is public.
    pub last_byte: Option<u8>,
}

/// The counters of a message's rows.
pub(crate) struct Places<'t, U: Isa> {
    /// The key's, if so `keyed`; otherwise [`LAST_BYTES`].
    table: &'t FirstRounds,
    keyed: bool,
    start: Start<'t>,
    /// Blocks before the next row.
    done: Cell<usize>,
    /// The last byte of the next row's first counter, if `base` is known for that row; otherwise more
    /// than all rows have. `SECRET` where it is not public.
    low: Cell<usize>,
    /// The next row's counters with 0 for their last bytes, in all lanes: after the first round if so
    /// `keyed`, otherwise with the first round key added.
    base: Cell<U::W>,
}

/// `counters`, in reverse byte order, as [`Places::new`] takes them with a key's table.
#[inline(always)]
pub(crate) fn base<S: Isa>(c: &Uniform<'_, S>, counters: S::W) -> S::W {
    c.first_round((counters & c.s.splat(&UPPER)).swap_bytes())
}

/// The same without a table, with the first round keys `keys`.
#[inline(always)]
pub(crate) fn plain_base<S: Isa>(s: S, counters: S::W, keys: S::W) -> S::W {
    (counters & s.splat(&UPPER)).swap_bytes() ^ keys
}

impl<'t, U: Isa<Unit = U>> Places<'t, U> {
    /// From `start` on, of which `base` is what `base` made.
    #[inline(always)]
    pub(crate) fn new(
        (table, keyed): (&'t FirstRounds, bool),
        start: Start<'t>,
        base: U::W,
    ) -> Self {
        Places {
            table,
            keyed,
            start,
            done: Cell::new(0),
            low: Cell::new(start.last_byte.map_or(SECRET, usize::from)),
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

    /// CIPH_K of the next row's.
    #[inline(always)]
    pub(crate) fn encrypt<S: Isa<Unit = U>>(&self, c: &Uniform<'_, S>) -> S::W {
        let (s, low, done) = (c.s, self.low.get(), self.done.get());
        self.done.set(done + S::LANES);
        let row = |low: usize| s.load_from(&self.table.0[2 + low..2 + VALUES]);
        let next = low + S::LANES;
        let x = if next <= VALUES {
            self.low.set(next);
            s.repeat(self.base.get()) ^ row(low)
        } else {
            let first = s.splat(self.start.block);
            let places = s.iota().count64(s.splat(&(done as u128).to_le_bytes()));
            let counters = match self.start.bits {
                32 => first.count32(places),
                64 => first.count64(places),
                _ => first.count(places),
            };
            let mut x = counters.swap_bytes();
            if self.keyed {
                x = c.first_round(x);
            } else {
                x = c.first_key(x);
            }
            if let Some(first) = self.start.last_byte {
                let low = (usize::from(first) + done) % VALUES;
                let next = low + S::LANES;
                self.low.set(next);
                // Where the last byte overflows, lanes of one row have other bytes that differ.
                if next <= VALUES {
                    self.base.set(s.first(x ^ row(low)));
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
