//! Rows of neighbouring blocks of one message: for messages of a group that are long
//! and of a mode that is parallel inside a message.
//!
//! The mode's steps are the same as for rows of many messages. What differs is in
//! [`Neighbours`]: counters move on by a row, a hash is the sum of products with
//! powers of the key, reduced once a row, and so on.
//!
//! `unsafe` here rests on the facts stated for [`Job`](crate::lanes::Job) in
//! `lanes.rs`: rows lie inside the text.
#![allow(unsafe_code)]

use crate::isa::{Block, Cipher, Isa, Uniform, Wide};
use crate::lanes::MAX_LANES;
use crate::modes::{Holds, SECOND, State, Sweep, Tables, both};
use core::ops::Range;

/// A row of neighbouring blocks under one key: all of it, or where `PART` the first
/// `blocks` blocks.
#[derive(Clone, Copy)]
struct Neighbours<'k, 't, S: Isa, const PART: bool> {
    c: Uniform<'k, S>,
    tables: &'t Tables,
    blocks: usize,
    /// Ones in these blocks.
    mask: S::W,
}

impl<S: Isa, const PART: bool> Cipher for Neighbours<'_, '_, S, PART> {
    type W = S::W;

    #[inline(always)]
    fn encrypt(&self, x: S::W) -> S::W {
        self.c.encrypt(x)
    }

    #[inline(always)]
    fn decrypt(&self, x: S::W) -> S::W {
        self.c.decrypt(x)
    }

    #[inline(always)]
    fn encrypt_second(&self, x: S::W) -> S::W {
        self.c.encrypt_second(x)
    }

    #[inline(always)]
    fn subkey(&self, i: usize) -> S::W {
        self.c.subkey(i)
    }

    #[inline(always)]
    fn splat(&self, block: &Block) -> S::W {
        self.c.splat(block)
    }

    #[inline(always)]
    fn stride(&self) -> S::W {
        self.splat(&(S::LANES as u128).to_le_bytes())
    }

    #[inline(always)]
    fn doubled(&self, x: S::W) -> S::W {
        match S::LANES % 8 {
            0 => x.times_byte_power(self.splat(&[S::LANES as u8 / 8; 16])),
            _ => x.times_power(self.splat(&both(S::LANES))),
        }
    }

    /// With the powers H^n ... H^1 of the first row for n blocks:
    /// `(hash ^ x_1) H^n ^ x_2 H^(n-1) ^ ... ^ x_n H`.
    #[inline(always)]
    fn hash(&self, hash: S::W, x: S::W) -> S::W {
        let s = self.c.s;
        let x = if PART { x & self.mask } else { x };
        let first = if PART { S::LANES - self.blocks } else { 0 };
        // What lies beyond H^1 is multiplied by zeros.
        // SAFETY: there is a row from any of the first lanes on.
        let powers = unsafe { s.load(self.tables[first..].as_ptr().cast()) };
        s.dot(hash ^ x, powers)
    }

    /// Lane l holds the offset of block r n + l, for row r of n blocks. What block
    /// r n + l + 1 adds is in the second row, but for the last lane, whose block is
    /// the first that depends on r. From row to row all lanes go from a place in the
    /// Gray code to that n further on: two bits of it change.
    #[inline(always)]
    fn offset(&self, offset: S::W, row: usize, l: impl Fn(u32) -> S::W) -> (S::W, S::W) {
        let s = self.c.s;
        let bits = S::LANES.ilog2();
        let up = l(bits + (row + 1).trailing_zeros());
        let used = offset ^ table_row(s, self.tables, SECOND) ^ (up & one_lane(s, S::LANES - 1));
        let next = match bits {
            0 => offset ^ up,
            _ => offset ^ up ^ l(bits - 1),
        };
        (used, next)
    }
}

/// Ones in one lane.
#[inline(always)]
fn one_lane<S: Isa>(s: S, lane: usize) -> S::W {
    const ONE: [Block; 2 * MAX_LANES] = {
        let mut out = [[0; 16]; 2 * MAX_LANES];
        out[MAX_LANES] = [0xff; 16];
        out
    };
    // SAFETY: a row from any of the first lanes on is in the table.
    unsafe { s.load(ONE[MAX_LANES - lane..].as_ptr().cast()) }
}

/// Ones in the first `n` lanes.
#[inline(always)]
fn first_lanes<S: Isa>(s: S, n: usize) -> S::W {
    const FIRST: [Block; 2 * MAX_LANES] = {
        let mut out = [[0; 16]; 2 * MAX_LANES];
        let mut i = 0;
        while i < MAX_LANES {
            out[i] = [0xff; 16];
            i += 1;
        }
        out
    };
    // SAFETY: as above.
    unsafe { s.load(FIRST[MAX_LANES - n..].as_ptr().cast()) }
}

#[inline(always)]
fn lane<S: Isa>(s: S, x: S::W, lane: usize) -> Block {
    let mut row = [[0; 16]; MAX_LANES];
    s.store_row(x, &mut row);
    row[lane]
}

/// Takes `state` through blocks `blocks` of a text at `src`, with results at `dst`
/// if the mode has any. For modes with offsets they begin at a multiple of
/// [`Isa::LANES`].
///
/// # Safety
/// The blocks are inside what `src` and `dst` are valid for.
#[inline(always)]
pub(crate) unsafe fn neighbours<S: Isa, M: Sweep, const N: usize>(
    c: Uniform<'_, S>,
    tables: &Tables,
    src: *const u8,
    dst: *mut u8,
    blocks: Range<usize>,
    state: &mut [Block; N],
) {
    let s = c.s;
    let whole = Neighbours::<S, false> {
        c,
        tables,
        blocks: S::LANES,
        mask: c.zero(),
    };
    let mut w = M::State::from_fn(
        #[inline(always)]
        |i| match M::BLOCKS.get(i) {
            Some(Holds::Place) => s.splat(&state[i]),
            Some(_) => s.splat(&state[i]) & one_lane(s, 0),
            None => c.zero(),
        },
    );
    M::spread(&mut w, &whole, s.iota(), table_row(s, tables, 0));
    let mut at = blocks.start;
    while blocks.end - at >= S::LANES {
        // SAFETY: a row is left from `at` on.
        unsafe {
            let x = s.load(src.add(at * 16));
            let y = M::step(&whole, &mut w, x, at / S::LANES);
            if M::OUTPUT {
                s.store(y, dst.add(at * 16));
            }
        }
        at += S::LANES;
    }
    let left = blocks.end - at;
    let before = w;
    if left > 0 {
        let mask = first_lanes(s, left);
        let part = Neighbours::<S, true> {
            c,
            tables,
            blocks: left,
            mask,
        };
        // SAFETY: so many blocks are left from `at` on.
        unsafe {
            let x = s.load_part(src.add(at * 16), left * 16);
            let y = M::step(&part, &mut w, x, at / S::LANES);
            if M::OUTPUT {
                s.store_part(y, dst.add(at * 16), left * 16);
            }
        }
    }
    for (i, holds) in M::BLOCKS.iter().enumerate() {
        let (now, then) = (w.blocks()[i], before.blocks()[i]);
        state[i] = match holds {
            Holds::Place => lane(s, then, left),
            Holds::Hash => lane(s, now, 0),
            Holds::Sum if left > 0 => {
                let sum = S::W::select(first_lanes(s, left), now, then);
                lane(s, s.fold(sum), 0)
            }
            Holds::Sum => lane(s, s.fold(now), 0),
        };
    }
}

/// A row of tables.
#[inline(always)]
fn table_row<S: Isa>(s: S, tables: &Tables, from: usize) -> S::W {
    // SAFETY: there is room for `MAX_LANES` blocks from 0 and from `SECOND` on.
    unsafe { s.load(tables[from..].as_ptr().cast()) }
}
