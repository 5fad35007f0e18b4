//! Counter blocks that are neighbours: they differ in their last byte, but where it
//! overflows. What that byte adds to the state after the first round of AES is looked up in
//! a table of the key, and what the other bytes make of it is the same for up to 256
//! blocks: a row starts from their sum, at the second round, without a counter.
//!
//! ```text
//! R(block) = MixColumns(ShiftRows(SubBytes(block ^ K_0))) ^ K_1
//! ```
//!
//! A byte of the block goes through SubBytes by itself, and all after it is linear: with b
//! the last byte, `R(block) = R(block with last byte 0) ^ T[b]`.
//!
//! The index of the table is the last byte of a counter, which is public: a part of the
//! nonce, and the number of the block.
//!
//! `unsafe` here rests on one fact: a row of `LANES` blocks from `low` on is in the table,
//! as `low + LANES <= 256`.
#![allow(unsafe_code)]

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
                let x = s.first_round(&keys, places.swap_bytes()) ^ zero;
                // SAFETY: the row has so many blocks.
                unsafe { s.store(x, row.as_mut_ptr().cast()) };
                places = places.count32(lanes);
            }
        },
    );
    table
}

/// T of `S::LANES` values from `low` on.
#[inline(always)]
pub(crate) fn row<S: Isa>(table: &FirstRounds, s: S, low: usize) -> S::W {
    assert!(low + S::LANES <= VALUES);
    // SAFETY: they are in the table.
    unsafe { s.load(table.0.as_ptr().add(2 + low).cast()) }
}

/// The counters of a message's rows.
pub(crate) struct Counting<'t, S: Isa> {
    table: &'t FirstRounds,
    /// The last byte of the next row's first counter, if `base` is known for that row;
    /// otherwise more than all rows have.
    low: Cell<usize>,
    /// R(counter with last byte 0).
    base: Cell<<S::Unit as Isa>::W>,
}

impl<'t, S: Isa> Counting<'t, S> {
    #[inline(always)]
    pub(crate) fn new(s: S, table: &'t FirstRounds) -> Self {
        Counting {
            table,
            low: Cell::new(VALUES),
            base: Cell::new(s.unit().splat(&[0; 16])),
        }
    }

    /// The cipher of the next row's counters, which are `counter` in reverse byte order.
    #[inline(always)]
    pub(crate) fn encrypt(&self, s: S, keys: &S::Loaded<'_>, counter: S::W) -> S::W {
        let low = self.low.get();
        let x = if low + S::LANES <= VALUES {
            self.low.set(low + S::LANES);
            s.repeat(self.base.get()) ^ row(self.table, s, low)
        } else {
            let x = s.first_round(keys, counter.swap_bytes());
            let low = usize::from(s.low_byte(counter));
            // Where the last byte overflows, lanes of one row have other bytes that differ.
            if low + S::LANES <= VALUES {
                self.low.set(low + S::LANES);
                self.base.set(s.first(x ^ row(self.table, s, low)));
            }
            x
        };
        s.encrypt_rest(keys, x)
    }
}
