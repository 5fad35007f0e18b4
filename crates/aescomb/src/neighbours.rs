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

use crate::isa::{Block, Cipher, Field, Isa, Uniform, Way, Wide};
use crate::key::Key;
use crate::lanes::{MAX_LANES, take_row};
use crate::modes::{Holds, MAX_UNIT, SECOND, State, Sweep, Tables, both};
use core::marker::PhantomData;
use core::ops::Range;

/// Which row of neighbouring blocks it is: one by itself, of which there are all blocks
/// or only the first, or one of two whose hashes are reduced together.
type Which = u8;
const WHOLE: Which = 0;
const PART: Which = 1;
const FIRST: Which = 2;
const LAST: Which = 3;

/// A row of neighbouring blocks under one key: all of it, or of a `PART` the first
/// `blocks` blocks.
#[derive(Clone, Copy)]
struct Neighbours<'k, 't, S: Isa, const ROW: Which> {
    c: Uniform<'k, S>,
    tables: &'t Tables,
    blocks: usize,
    /// Ones in these blocks.
    mask: S::W,
}

impl<S: Isa, const ROW: Which> Cipher for Neighbours<'_, '_, S, ROW> {
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
    fn tweaked(&self, way: Way, x: S::W, tweak: S::W) -> S::W {
        self.c.tweaked(way, x, tweak)
    }

    #[inline(always)]
    fn round_key(&self, r: usize) -> S::W {
        self.c.round_key(r)
    }

    #[inline(always)]
    fn subkey(&self, i: usize) -> S::W {
        self.c.subkey(i)
    }

    /// With that for n blocks in the second row.
    #[inline(always)]
    fn stride_of(&self, _: usize) -> S::W {
        table_row(self.c.s, self.tables, SECOND)
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

    /// With the n-th power of the constant for n lanes: the first of those for `hash`.
    #[inline(always)]
    fn scaled<F: Field>(&self, x: S::W) -> S::W {
        x.mul::<F>(self.splat(&self.tables[0]))
    }

    /// With the last of the powers for `hash`.
    #[inline(always)]
    fn scales<F: Field>(&self, x: S::W) -> S::W {
        let mut powers = [[0; 16]; MAX_UNIT];
        let mut i = 0;
        while i < MAX_UNIT && i < S::LANES {
            powers[i] = self.tables[S::LANES - 1 - i];
            i += 1;
        }
        let s = self.c.s;
        s.horner::<F>(self.zero(), x & one_lane(s, 0), &powers)
    }

    #[inline(always)]
    fn before(&self, last: S::W, x: S::W) -> S::W {
        self.c.s.shift_in(last, x)
    }

    #[inline(always)]
    fn running(&self, last: S::W, x: S::W) -> S::W {
        self.c.s.running(last, x)
    }

    /// With the powers of the constant from the first on, in the second row.
    #[inline(always)]
    fn horner<F: Field>(&self, last: S::W, x: S::W, _: usize) -> S::W {
        let mut x = x;
        horner::<S, F>(self.c.s, &last, &mut x, &self.tables[SECOND..]);
        x
    }

    /// With the powers H^n ... H^1 of the first row for n blocks:
    /// `(hash ^ x_1) H^n ^ x_2 H^(n-1) ^ ... ^ x_n H`. Of two rows, the first is added
    /// to the hash only, and multiplied with H^2n ... H^(n+1), the second row, when the
    /// other comes.
    #[inline(always)]
    fn hash<F: Field>(&self, hash: S::W, x: S::W) -> S::W {
        let s = self.c.s;
        match ROW {
            FIRST => hash ^ x,
            LAST => {
                let far = table_row(s, self.tables, SECOND);
                s.dot::<F, _>([hash, x], [far, table_row(s, self.tables, 0)])
            }
            PART => {
                // What lies beyond H^1 is multiplied by zeros.
                let powers = table_row(s, self.tables, S::LANES - self.blocks);
                s.dot::<F, _>([hash ^ x & self.mask], [powers])
            }
            _ => s.dot::<F, _>([hash ^ x], [table_row(s, self.tables, 0)]),
        }
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

/// Takes `state` through rows `rows` of a text at `src`, with results at `dst` if the
/// mode has any: what is one row of a group of messages is one lane here. For modes with
/// offsets they begin at a multiple of [`Isa::LANES`].
///
/// # Safety
/// The rows are inside what `src` and `dst` are valid for.
#[inline(never)]
pub(crate) unsafe fn neighbours<S: Isa, M: Sweep, const N: usize>(
    s: S,
    (keys, key): (&S::Keys, &Key),
    tables: &Tables,
    text: (*const u8, *mut u8),
    rows: Range<usize>,
    state: &mut [Block; N],
) {
    s.enter(
        #[inline(always)]
        || {
            let c = Uniform::of::<M>(s, keys, key);
            // SAFETY: the caller's.
            unsafe { all_rows::<S, M, N>(c, tables, text, rows, state) };
        },
    );
}

/// [`neighbours`], which is out of line, as kernels for all forms of keys would have it
/// again.
///
/// # Safety
/// The same.
#[inline(always)]
unsafe fn all_rows<S: Isa, M: Sweep, const N: usize>(
    c: Uniform<'_, S>,
    tables: &Tables,
    (src, dst): (*const u8, *mut u8),
    rows: Range<usize>,
    state: &mut [Block; N],
) {
    let s = c.s;
    let mut w = M::State::from_fn(
        #[inline(always)]
        |i| match M::BLOCKS.get(i) {
            Some(Holds::Place | Holds::Last) => s.splat(&state[i]),
            Some(_) => s.splat(&state[i]) & one_lane(s, 0),
            None => c.zero(),
        },
    );
    let whole = row::<S, WHOLE>(c, tables, S::LANES);
    M::spread(&mut w, &whole, s.iota(), table_row(s, tables, 0));
    let mut text = Text::<S, M>::new(src, dst);
    let mut at = rows.start;
    // SAFETY: so many rows are left from `at` on, here and below.
    unsafe {
        if const { hashes::<M>() } {
            while rows.end - at >= 2 * S::LANES {
                text.step::<FIRST>(row(c, tables, S::LANES), &mut w, at);
                text.step::<LAST>(row(c, tables, S::LANES), &mut w, at + S::LANES);
                at += 2 * S::LANES;
            }
        }
        while rows.end - at >= S::LANES {
            text.step::<WHOLE>(whole, &mut w, at);
            at += S::LANES;
        }
    }
    let left = rows.end - at;
    let before = w;
    if left > 0 {
        // SAFETY: as above.
        unsafe { text.step::<PART>(row(c, tables, left), &mut w, at) };
    }
    for (i, holds) in M::BLOCKS.iter().enumerate() {
        let (now, then) = (w.blocks()[i], before.blocks()[i]);
        state[i] = match holds {
            Holds::Place => lane(s, then, left),
            Holds::Hash => lane(s, now, 0),
            Holds::Last if left > 0 => lane(s, now, left - 1),
            Holds::Last => lane(s, now, S::LANES - 1),
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

#[inline(always)]
fn row<'k, 't, S: Isa, const ROW: Which>(
    c: Uniform<'k, S>,
    tables: &'t Tables,
    blocks: usize,
) -> Neighbours<'k, 't, S, ROW> {
    Neighbours {
        c,
        tables,
        blocks,
        mask: match ROW {
            PART => first_lanes(c.s, blocks),
            _ => c.zero(),
        },
    }
}

/// A text in the order of lanes. Where rows of a group are not one block after the
/// other, every lane has a place of its own.
struct Text<S, M> {
    src: *const u8,
    dst: *mut u8,
    from: [*const u8; MAX_LANES],
    to: [*mut u8; MAX_LANES],
    /// What lanes beyond the last block read and write.
    idle: [Block; 2],
    mode: PhantomData<(S, M)>,
}

impl<S: Isa, M: Sweep> Text<S, M> {
    const APART: bool = M::STRIDE != 16;

    #[inline(always)]
    fn new(src: *const u8, dst: *mut u8) -> Self {
        let mut text = Text {
            src,
            dst,
            from: [src; MAX_LANES],
            to: [dst; MAX_LANES],
            idle: [[0; 16]; 2],
            mode: PhantomData,
        };
        if Self::APART {
            for l in 0..S::LANES {
                text.from[l] = src.wrapping_add(l * M::STRIDE);
                text.to[l] = dst.wrapping_add(l * M::STRIDE);
            }
        }
        text
    }

    /// One row, from block `at` on.
    ///
    /// # Safety
    /// The text has its blocks.
    #[inline(always)]
    unsafe fn step<const ROW: Which>(
        &mut self,
        c: Neighbours<'_, '_, S, ROW>,
        w: &mut M::State<S::W>,
        at: usize,
    ) {
        let s = c.c.s;
        let (row, offset) = (at / S::LANES, at * M::STRIDE);
        if M::PAIR && ROW != PART {
            // SAFETY: the caller's.
            unsafe {
                let x = s.load_pairs(self.src.add(offset));
                let y = M::pair(&c, w, x, row);
                if M::OUTPUT {
                    s.store_pairs(y, self.dst.add(offset));
                }
            }
            return;
        }
        if Self::APART {
            if ROW == PART {
                let idle = self.idle.as_mut_ptr().cast::<u8>().wrapping_sub(offset);
                self.from[c.blocks..].fill(idle);
                self.to[c.blocks..].fill(idle);
            }
            let places = (self.from.as_ptr(), self.to.as_ptr());
            // SAFETY: the caller's; lanes beyond the last block have `idle`.
            unsafe { take_row::<S, M>(s, &c, w, row, places, offset) };
            return;
        }
        // SAFETY: the caller's.
        unsafe {
            let (src, dst) = (self.src.add(offset), self.dst.add(offset));
            let x = match ROW {
                PART => s.load_part(src, c.blocks * 16),
                _ => s.load(src),
            };
            let y = M::step(&c, w, x, row);
            match ROW {
                _ if !M::OUTPUT => {}
                PART => s.store_part(y, dst, c.blocks * 16),
                _ => s.store(y, dst),
            }
        }
    }
}

/// Whether there is a hash in the state.
const fn hashes<M: Sweep>() -> bool {
    let mut i = 0;
    while i < M::BLOCKS.len() {
        if matches!(M::BLOCKS[i], Holds::Hash) {
            return true;
        }
        i += 1;
    }
    false
}

/// [`Isa::horner`] out of line: a chain of products, long to compile inside other code.
#[inline(never)]
fn horner<S: Isa, F: Field>(s: S, before: &S::W, x: &mut S::W, powers: &[Block]) {
    s.enter(
        #[inline(always)]
        || *x = s.horner::<F>(*before, *x, powers),
    );
}
