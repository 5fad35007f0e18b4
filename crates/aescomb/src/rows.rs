//! Rows: of blocks of many messages, and, of modes that are parallel inside a message, of neighbouring
//! blocks of one.
//!
//! The mode's steps are the same for both. What differs is in [`Neighbours`]: counters move on by a
//! row, a hash is the sum of products with powers of the key, reduced when they are used up, and so on.
//!
//! `unsafe` here rests on the facts stated for [`Job`](crate::job::Job) in
//! `job.rs`: rows lie inside the text.
#![allow(unsafe_code)]

use crate::backend::{is_ice_lake, is_zen4, is_zen5};
use crate::block::{Aligned, Block, LINE, MAX_LANES, MAX_UNIT, NO_TABLES, Rows, both};
use crate::cipher::{Cipher, Uniform, as_before, go, three_and_two};
use crate::crowding::{CROWDED_LINES_FROM, place_of, share_sets};
use crate::expanded::{Expanded, FirstRounds};
use crate::fetch::Beside;
use crate::hashing::{Hashing, Powers, hash_of};
use crate::isa::{Isa, Plain, Polyval, Product, Starts, Wide};
use crate::parts::places_from_memory;
use crate::pass::{
    HALF, HEADER, MAX_STATE, Pass, State, doubles, is_by_blocks, is_linked, link_of, uniform,
};
use crate::places::{Places, first_rounds};
use crate::schedule::Way;
use crate::shape::{Holds, Link};
use core::cell::Cell;
use core::marker::PhantomData;
use core::mem::MaybeUninit;
use core::ops::Range;

/// A register of `S`.
type UnitOf<S> = <<S as Isa>::Unit as Isa>::W;

/// One row of `M`: lane `l` from `offset` bytes after `src[l]` and to there after
/// `dst[l]`.
///
/// # Safety
/// Both are valid for the row, of which the pointers have one for each lane of `S`.
#[inline(always)]
pub(crate) unsafe fn take_row<S: Isa, M: Pass>(
    s: S,
    c: &impl Cipher<W = S::W>,
    state: &mut M::State<S::W>,
    row: usize,
    (src, dst): (impl Starts, impl Starts),
    offset: usize,
) {
    // SAFETY: the caller's.
    unsafe {
        let x = s.gather(src, offset);
        #[cfg(feature = "research")]
        if const { M::SHAPE.row.pair } {
            let x = [x, s.gather(src, offset + 16)];
            let y = M::pair(c, state, x, row);
            if const { M::SHAPE.output } {
                s.scatter(y[0], dst, offset);
                s.scatter(y[1], dst, offset + 16);
            }
            return;
        }
        let y = M::step(c, state, x, row);
        if const { M::SHAPE.output } {
            s.scatter(y, dst, offset);
        }
    }
}

/// Rows of `M`, as [`take_row`].
///
/// # Safety
/// The places are valid for all of them, as there for one.
#[inline(always)]
pub(crate) unsafe fn take_rows<S: Isa, M: Pass, C: Cipher<W = S::W>>(
    s: S,
    c: &C,
    state: &mut M::State<S::W>,
    rows: Range<usize>,
    text: (impl Starts, impl Starts),
    beside: &mut impl Beside,
) {
    // SAFETY: the caller's.
    unsafe {
        if const { C::HOLDS && S::SPARE && has_lines::<M>() } {
            take_lines::<S, M, C>(s, c, state, rows, text, beside);
        } else if const { C::HOLDS && holds_keys::<S, M>() } {
            let c = &c.held();
            match const { is_linked::<M>() } {
                true => linked_rows::<S, M, true, false>(s, c, state, rows, text, beside),
                false => row_by_row::<S, M>(s, c, state, rows, text, beside),
            }
        } else if const { S::SPARE && link_of::<M>().is_some() } {
            let writes = const { M::SHAPE.output };
            if writes && is_zen4() && rows.len() > 1 {
                return linked_rows::<S, M, true, true>(s, c, state, rows, text, beside);
            }
            let place = |l| place_of::<M>(text.0.of(l), text.1.of(l));
            let crowded = rows.len() >= LINE && !is_zen4() && share_sets(place);
            let between = (is_zen5() || is_ice_lake())
                && match crowded {
                    true => rows.len() >= CROWDED_LINES_FROM,
                    false => writes && rows.len() >= LINES_FROM,
                };
            if writes && crowded && !between {
                return take_lines::<S, M, C>(s, c, state, rows, text, beside);
            }
            let mut left = rows.start;
            if between {
                left += rows.len() / LINE * LINE;
                // Shorter ones take 1.05 to 1.12 of the time with it: their places are read from jobs.
                let fetches = crowded && rows.len() > LINES_FROM;
                linked_lines::<S, M>(s, c, state, rows.start..left, text, (fetches, beside));
            }
            match writes {
                true => {
                    linked_rows::<S, M, false, false>(s, c, state, left..rows.end, text, beside)
                }
                false => row_by_row::<S, M>(s, c, state, left..rows.end, text, beside),
            }
        } else {
            row_by_row::<S, M>(s, c, state, rows, text, beside);
        }
    }
}

/// The same with as many whole lines as there are, each read and written once. Where `SPARE`.
///
/// # Safety
/// As of [`take_rows`].
#[inline(always)]
unsafe fn take_lines<S: Isa, M: Pass, C: Cipher<W = S::W>>(
    s: S,
    c: &C,
    state: &mut M::State<S::W>,
    rows: Range<usize>,
    text: (impl Starts, impl Starts),
    beside: &mut impl Beside,
) {
    let lines = rows.start..rows.start + rows.len() / LINE * LINE;
    let left = lines.end..rows.end;
    // SAFETY: the caller's.
    unsafe {
        match const { C::HOLDS && holds_keys::<S, M>() } {
            true => line_by_line::<S, M>(s, &c.held(), state, lines, text, beside),
            false => line_by_line::<S, M>(s, c, state, lines, text, beside),
        }
        row_by_row::<S, M>(s, c, state, left, text, beside);
    }
}

/// One after the other.
///
/// # Safety
/// As of [`take_rows`].
#[inline(always)]
unsafe fn row_by_row<S: Isa, M: Pass>(
    s: S,
    c: &impl Cipher<W = S::W>,
    state: &mut M::State<S::W>,
    rows: Range<usize>,
    text: (impl Starts, impl Starts),
    beside: &mut impl Beside,
) {
    let Range { mut start, end } = rows;
    while start < end {
        beside.rows(s, 1);
        places_from_memory();
        // SAFETY: the caller's.
        unsafe { take_row::<S, M>(s, c, state, start, text, start * M::SHAPE.row.stride) };
        start += 1;
    }
}

/// Whether rows of `M` leave registers for keys of lanes: steps wait for each other, so that none is
/// done ahead, take the forward cipher alone, and have one block of state or little else.
const fn holds_keys<S: Isa, M: Pass>() -> bool {
    let uses = M::SHAPE.uses;
    let forward = uses.forward && !uses.inverse && !uses.second;
    let small = size_of::<M::State<S::W>>() == size_of::<S::W>() || link_of::<M>().is_some();
    M::SHAPE.is_serial() && forward && small
}

/// Rows of steps that are linked, which gather texts between the rounds of the cipher: their own,
/// or where it begins with that, the next row's. After a row's rounds, loads and stores would not
/// begin before most of these are done. If `IN_ORDER`, right there. If `LATE`, results go to memory as they are, and from there to
/// their places between the next row's rounds: taking registers apart costs the CPU time for AES.
///
/// # Safety
/// As of [`take_rows`].
#[inline(always)]
unsafe fn linked_rows<S: Isa, M: Pass, const IN_ORDER: bool, const LATE: bool>(
    s: S,
    c: &impl Cipher<W = S::W>,
    state: &mut M::State<S::W>,
    rows: Range<usize>,
    (src, dst): (impl Starts, impl Starts),
    beside: &mut impl Beside,
) {
    let Range { mut start, end } = rows;
    if start == end {
        return;
    }
    let registers = const { S::LANES / <S::Unit as Isa>::LANES };
    let before = const { matches!(link_of::<M>(), Some(Link::Before)) };
    let mut link = state.blocks()[0];
    let mut x = c.zero();
    if before {
        // SAFETY: the caller's, of the first row.
        x = unsafe { s.gather(src, start * 16) };
    }
    let mut memory = c.zero();
    // Anywhere, for the compiler, which would otherwise take registers apart again.
    let results = core::hint::black_box(&raw mut memory);
    // Instead of a row before the first one there are zeros, to where its own results will go.
    let mut last = start;
    while start < end {
        beside.rows(s, 1);
        let mut at = start;
        if before {
            link = link ^ x;
            // Of the last row once more, of which nothing is used.
            at = (start + 1).min(end - 1);
        }
        link = c.encrypt_while::<IN_ORDER>(
            link,
            #[inline(always)]
            |i| {
                if i <= registers {
                    // SAFETY: the caller's, of rows there are. A lane's own text is read before
                    // anything is written there.
                    unsafe {
                        s.gather_register::<IN_ORDER>(&mut x, i - 1, src, at * 16);
                        if LATE {
                            s.scatter_register(results, i - 1, dst, last * 16);
                        }
                    }
                }
            },
        );
        if before {
            // Otherwise the compiler may put halves together in the next row, and keep these in memory.
            x = s.hold(x);
        }
        let y = linked::<M, _>(&mut link, x);
        // SAFETY: as above; `results` is `memory`.
        unsafe {
            match LATE {
                true => {
                    results.write(y);
                    // Copies read it from there.
                    core::hint::black_box(());
                }
                false => s.scatter(y, dst, start * 16),
            }
        }
        last = start;
        start += 1;
    }
    let mut u = 0;
    while LATE && u < registers {
        // SAFETY: as above.
        unsafe { s.scatter_register(results, u, dst, last * 16) };
        u += 1;
    }
    *state = with_first::<S, M>(link, *state);
}

/// The result of a row of linked steps, of which the cipher made `link` and `x` is the text; `link`
/// becomes what the next row takes.
#[inline(always)]
fn linked<M: Pass, W: Wide>(link: &mut W, x: W) -> W {
    let y = match const { link_of::<M>() } {
        Some(Link::Before) => *link,
        _ => *link ^ x,
    };
    if const { matches!(link_of::<M>(), Some(Link::After)) } {
        *link = y;
    }
    y
}

/// Whether rows of `M` may be done a line at a time.
pub(crate) const fn has_lines<M: Pass>() -> bool {
    M::SHAPE.is_serial() && is_by_blocks::<M>()
}

/// One line of each text after the other, of which memory keeps the rows: where keys of lanes come from
/// memory, too, each load costs time.
///
/// # Safety
/// As of [`take_rows`], of whole lines.
#[inline(always)]
unsafe fn line_by_line<S: Isa, M: Pass>(
    s: S,
    c: &impl Cipher<W = S::W>,
    state: &mut M::State<S::W>,
    rows: Range<usize>,
    (src, dst): (impl Starts, impl Starts),
    beside: &mut impl Beside,
) {
    let registers = const { S::LANES / <S::Unit as Isa>::LANES };
    let mut memory = MaybeUninit::<[S::W; LINE]>::uninit();
    // Anywhere, for the compiler, as registers do not suffice.
    let lines = core::hint::black_box(memory.as_mut_ptr());
    let Range { mut start, end } = rows;
    while start < end {
        places_from_memory();
        let mut u = 0;
        while u < registers {
            // SAFETY: the caller's.
            unsafe { s.gather_line(lines, u, src, start * 16) };
            u += 1;
        }
        let mut i = 0;
        while i < LINE {
            beside.rows(s, 1);
            places_from_memory();
            // SAFETY: all registers were gathered.
            unsafe {
                let row = lines.cast::<S::W>().add(i);
                let y = M::step(c, state, row.read(), start + i);
                if const { M::SHAPE.output } {
                    row.write(y);
                }
            }
            i += 1;
        }
        // The last lane first: its line was loaded last, and is the least likely to have been displaced
        // since by those of other lanes.
        let mut u = registers;
        while const { M::SHAPE.output } && u > 0 {
            u -= 1;
            // SAFETY: the caller's.
            unsafe { s.scatter_line(lines, u, dst, start * 16) };
        }
        start += LINE;
    }
}

/// Fetches what [`Isa::scatter_line`] writes next. Stores go to the cache in order, and would wait for each
/// of the lines that other lanes have displaced since they were read.
///
/// # Safety
/// There are so many lanes.
#[inline(always)]
unsafe fn fetch_line<S: Isa>(s: S, u: usize, to: impl Starts, offset: usize) {
    let lanes = const { <S::Unit as Isa>::LANES };
    let mut l = u * lanes;
    while l < (u + 1) * lanes {
        // SAFETY: the caller's.
        s.fetch(unsafe { to.of(l) }.wrapping_add(offset));
        l += 1;
    }
}

/// Rows from so many on go by whole lines: fewer do not make up for the first line and the last one,
/// beside which nothing is encrypted.
pub(crate) const LINES_FROM: usize = 8 * LINE;

/// Whole lines of rows whose steps are linked. Between the rounds of each row, two registers of the next
/// line are gathered, and two of the line before are scattered: a line is two thirds of the shuffles of its
/// rows, which take turns with AES. (Not where keys come from memory, too, of which loads are the limit.)
/// If lanes displace each other's lines, it `fetches` them again before it writes them.
///
/// # Safety
/// As of [`take_rows`], of whole lines.
#[inline(always)]
unsafe fn linked_lines<S: Isa, M: Pass>(
    s: S,
    c: &impl Cipher<W = S::W>,
    state: &mut M::State<S::W>,
    rows: Range<usize>,
    (src, dst): (impl Starts, impl Starts),
    (fetches, beside): (bool, &mut impl Beside),
) {
    let Range { mut start, end } = rows;
    if start == end {
        return;
    }
    // In each row there is time for two.
    const { assert!(!S::SPARE || S::LANES == 2 * LINE * <S::Unit as Isa>::LANES) };
    let registers = const { S::LANES / <S::Unit as Isa>::LANES };
    let before = const { matches!(link_of::<M>(), Some(Link::Before)) };
    let writes = const { M::SHAPE.output };
    let mut memory = MaybeUninit::<[[S::W; LINE]; 3]>::uninit();
    // Anywhere, for the compiler, as registers do not suffice.
    let lines = core::hint::black_box(memory.as_mut_ptr().cast::<[S::W; LINE]>());
    // SAFETY: there are three.
    let (mut last, mut now, mut next) = unsafe { (lines, lines.add(1), lines.add(2)) };
    let mut u = 0;
    while u < registers {
        // SAFETY: the caller's.
        unsafe { s.gather_line(now, u, src, start * 16) };
        u += 1;
    }
    let mut link = state.blocks()[0];
    let first = start;
    while start < end {
        let (begins, ends) = (start == first, end - start == LINE);
        let mut i = 0;
        while i < LINE {
            beside.rows(s, 1);
            // SAFETY: it was gathered.
            let x = unsafe { now.cast::<S::W>().add(i).read() };
            if before {
                link = link ^ x;
            }
            link = c.encrypt_while::<true>(
                link,
                #[inline(always)]
                |round| {
                    let u = 2 * i + usize::from(round > 4);
                    // SAFETY: the caller's, of lines there are.
                    unsafe {
                        match round {
                            1 | 5 if !ends => s.gather_line(next, u, src, (start + LINE) * 16),
                            3 | 7 if writes && !begins => {
                                if fetches {
                                    fetch_line(s, u, dst, (start - LINE) * 16);
                                }
                                s.scatter_line(last, u, dst, (start - LINE) * 16);
                            }
                            _ => {}
                        }
                    }
                },
            );
            let y = linked::<M, _>(&mut link, x);
            if writes {
                // SAFETY: it is a row of the line.
                unsafe { now.cast::<S::W>().add(i).write(y) };
            }
            i += 1;
        }
        (last, now, next) = (now, next, last);
        start += LINE;
    }
    let mut u = 0;
    while writes && u < registers {
        // SAFETY: the caller's.
        unsafe {
            if fetches {
                fetch_line(s, u, dst, (end - LINE) * 16);
            }
            s.scatter_line(last, u, dst, (end - LINE) * 16);
        }
        u += 1;
    }
    *state = with_first::<S, M>(link, *state);
}

/// The state with `x` for its first block.
#[inline(always)]
pub(crate) fn with_first<S: Isa, M: Pass>(x: S::W, state: M::State<S::W>) -> M::State<S::W> {
    M::State::from_fn(
        #[inline(always)]
        |i| match state.blocks().get(i) {
            Some(block) if i > 0 => *block,
            _ => x,
        },
    )
}

/// A row of neighbouring blocks under one key: all of it, or `PART` of it, its first
/// bytes.
#[derive(Clone, Copy)]
struct Neighbours<'k, 't, S: Isa, const PART: bool> {
    c: Uniform<'k, S>,
    hashing: &'t Hashing<'t, S::Unit>,
    /// The counters, where the mode's are not stepped.
    places: Option<&'t Places<'t, S::Unit>>,
    /// The row before, where that is hashed while this one is encrypted; whether there is
    /// none yet.
    late: Option<&'t Late<S>>,
    first: bool,
    /// Bytes of a row that is not full.
    bytes: usize,
    /// Where the row's text is, until its results are written.
    text: Option<*const u8>,
    /// The masks and their multiples, if these were made.
    multiples: Option<&'t [Rows; MAX_UNIT]>,
    /// On Zen 4, asked where something is doubled: the compiler would ask in any case.
    by_sums: bool,
    /// Whether steps make the masks of the next row, and not [`Masks`].
    moves_masks: bool,
}

/// Blocks times x to the power of the lanes of `S`: from masks of a row to those of the next.
#[inline(always)]
fn past_row<S: Isa, C: Cipher>(c: &C, x: C::W, by_sums: bool) -> C::W {
    match S::LANES % 8 {
        0 => x.times_byte_power(c.splat(&[S::LANES as u8 / 8; 16]), by_sums),
        _ => x.times_power(c.splat(&both(S::LANES))),
    }
}

/// Whether a row is several registers. Otherwise, as without vectors, a register would waste lanes where a
/// row does.
pub(crate) const fn has_registers<S: Isa>() -> bool {
    <S::Unit as Isa>::LANES < S::LANES
}

/// Whether text is loaded again after the cipher, in rows of several registers. Of 16 there are too few for one row
/// that is encrypted and another beside it; of 32 not, but it is never slower there (Ice Lake).
const fn loads_again<S: Isa>() -> bool {
    S::ROUNDS && has_registers::<S>()
}

/// Blocks as [`Isa::load_from`]; where [`loads_again`], also if they were loaded before.
#[inline(always)]
fn load_again<S: Isa>(s: S, row: &[Block]) -> S::W {
    assert!(row.len() >= S::LANES);
    match const { loads_again::<S>() } {
        // SAFETY: the row has so many blocks.
        true => unsafe { s.load(s.afresh(row.as_ptr().cast())) },
        false => s.load_from(row),
    }
}

/// A row that is not yet hashed, and the place of its powers.
type Late<S> = Cell<(<S as Isa>::W, usize)>;

/// Blocks of messages that have not as many, side by side, of which so many bytes count.
#[derive(Clone, Copy)]
pub(crate) struct Mixed<C: Cipher> {
    c: C,
    count: C::W,
}

impl<C: Cipher> Mixed<C> {
    /// `count` has how many in all bytes of a block.
    #[inline(always)]
    pub(crate) fn new(c: C, count: C::W) -> Self {
        Mixed { c, count }
    }
}

impl<C: Cipher> Cipher for Mixed<C> {
    type W = C::W;

    as_before!();

    #[inline(always)]
    fn within(&self, y: C::W) -> C::W {
        y & self.count.first_bytes()
    }
}

impl<S: Isa, const PART: bool> Cipher for Neighbours<'_, '_, S, PART> {
    type W = S::W;

    as_before!();

    #[inline(always)]
    fn encrypt_counter(&self, counter: S::W) -> S::W {
        match self.places {
            Some(places) => places.encrypt(&self.c),
            None => self.encrypt(counter.swap_bytes()),
        }
    }

    /// With its multiples in the tables.
    #[inline(always)]
    fn stride_of(&self, _: usize) -> S::W {
        self.splat(&self.hashing.powers.rows[S::LANES])
    }

    #[inline(always)]
    fn stride(&self) -> S::W {
        self.splat(&(S::LANES as u128).to_le_bytes())
    }

    /// On Zen 4 a product takes twice the time of a round of AES. On Emerald Rapids and Zen 5 it takes none
    /// from it: with products, long texts in XTS take 0.75 and 0.94 of the time.
    #[inline(always)]
    fn doubled(&self, x: S::W) -> S::W {
        match self.moves_masks {
            true => past_row::<S, _>(self, x, self.by_sums),
            false => x,
        }
    }

    #[inline(always)]
    fn multiples(&self, mask: S::W, row: usize) -> [S::W; 2] {
        match self.multiples {
            Some(made) => {
                let of = |table: &Rows| self.c.s.load_from(&table[row * S::LANES..]);
                [of(&made[1]), of(&made[2])]
            }
            None => three_and_two(mask),
        }
    }

    /// With the n-th power of the constant for n lanes, of those for `hash`.
    #[inline(always)]
    fn scaled<F: Product>(&self, x: S::W) -> S::W {
        x.mul::<F>(self.splat(self.hashing.power(S::LANES)))
    }

    /// With the first powers.
    #[cfg(feature = "research")]
    #[inline(always)]
    fn scales<F: Product>(&self, x: S::W) -> S::W {
        let (s, powers) = (self.c.s, self.hashing.powers);
        s.shift_in(x, x.mul::<F>(s.load_reversed(powers.last(S::LANES))))
    }

    #[inline(always)]
    fn text_again(&self, x: S::W) -> S::W {
        match self.text {
            // SAFETY: a row of text is there, as nothing was written yet.
            Some(text) if const { !PART && loads_again::<S>() } => unsafe {
                self.c.s.load(self.c.s.afresh(text))
            },
            _ => x,
        }
    }

    #[inline(always)]
    fn text_before(&self, last: S::W, x: S::W) -> S::W {
        match self.text {
            // SAFETY: as above.
            Some(text) if const { !PART && loads_again::<S>() } => unsafe {
                self.c.s.load_before(last, self.c.s.afresh(text))
            },
            _ => self.before(last, x),
        }
    }

    /// It is added to the last round key, and made when the cipher has come so far: there are registers for it only
    /// as blocks leave.
    #[inline(always)]
    fn and_add(&self, way: Way, x: S::W, add: impl Fn() -> S::W) -> S::W {
        let s = self.c.s;
        if const { PART || !loads_again::<S>() } {
            return go(&self.c, x, way) ^ add();
        }
        self.c.between(
            way,
            x,
            #[inline(always)]
            |key| s.repeat(key),
            #[inline(always)]
            |key| add() ^ s.repeat(key),
        )
    }

    /// In the first register, where there are 16: all would take as many as the row is in.
    #[inline(always)]
    fn added(&self, sum: S::W, x: S::W) -> S::W {
        let (s, all) = (self.c.s, sum ^ x);
        match const { PART || <S::Unit as Isa>::LANES == LINE } {
            true => all,
            false => s.widen(s.sum(all)),
        }
    }

    #[inline(always)]
    fn before(&self, last: S::W, x: S::W) -> S::W {
        self.c.s.shift_in(last, x)
    }

    #[inline(always)]
    fn running(&self, last: S::W, x: S::W) -> S::W {
        self.c.s.running(last, x)
    }

    /// With the powers of the constant from the first on, in the table.
    #[inline(always)]
    fn horner<F: Product>(&self, last: S::W, x: S::W, _: usize) -> S::W {
        self.c.s.horner::<F>(last, x, self.hashing.powers.rows)
    }

    #[inline(always)]
    fn within(&self, y: S::W) -> S::W {
        match PART {
            true => y & first_bytes(self.c.s, self.bytes),
            false => y,
        }
    }

    #[inline(always)]
    fn hash<F: Product>(&self, hash: S::W, x: S::W) -> S::W {
        let s = self.c.s;
        let Some(late) = self.late else {
            let blocks = match PART {
                true => self.bytes.div_ceil(16),
                false => S::LANES,
            };
            return self.hashing.hash::<S, F>(s, hash, x, blocks);
        };
        // What waits for a row's encryption would keep the CPU from the next row.
        let x = match self.first {
            true => hash ^ x,
            false => match self.settle::<F>() {
                Some(hash) => hash ^ x,
                None => x,
            },
        };
        let (at, _) = self.hashing.advance(S::LANES);
        late.set((x, at));
        self.zero()
    }

    /// For row r of n blocks all lanes hold the offset of block r n. What the next blocks add to it
    /// is in the table, and the same for all r but in the last lane, where it is as if r were even.
    /// The first and the last round key are added to that offset: once, and not to all registers.
    #[inline(always)]
    fn with_offset<const AFTER: bool>(
        &self,
        way: Way,
        x: S::W,
        (offset, row): (S::W, usize),
        l: impl Fn(u32) -> S::W + Copy,
    ) -> (S::W, S::W) {
        let (s, u) = (self.c.s, self.c.s.unit());
        let (offset, bits) = (s.first(offset), S::LANES.ilog2());
        let up = s.first(l(bits + (row + 1).trailing_zeros())) ^ s.first(l(bits));
        let up_last = s.at_end(up & lane_mask(u, <S::Unit as Isa>::LANES - 1));
        let adds = &self.hashing.powers.rows[..S::LANES];
        let y = if const { S::ROUNDS && has_registers::<S>() } {
            self.c.between(
                way,
                x,
                #[inline(always)]
                |key| s.repeat(offset ^ key) ^ s.load_from(adds) ^ up_last,
                #[inline(always)]
                |key| match AFTER {
                    true => s.repeat(offset ^ key) ^ load_again(s, adds) ^ up_last,
                    false => s.repeat(key),
                },
            )
        } else {
            let offsets = s.repeat(offset) ^ s.load_from(adds) ^ up_last;
            let y = go(&self.c, x ^ offsets, way);
            if AFTER { y ^ offsets } else { y }
        };
        (y, s.widen(offset ^ u.splat(&adds[S::LANES - 1]) ^ up))
    }
}

impl<'k, 't, S: Isa, const PART: bool> Neighbours<'k, 't, S, PART> {
    /// A row of which there are `bytes` bytes.
    #[inline(always)]
    fn part(self, bytes: usize) -> Neighbours<'k, 't, S, true> {
        Neighbours {
            c: self.c,
            hashing: self.hashing,
            places: self.places,
            late: None,
            first: false,
            bytes,
            text: None,
            multiples: self.multiples,
            by_sums: self.by_sums,
            moves_masks: self.moves_masks,
        }
    }

    /// Hashes the row before this one; the hash, if a run ends with it.
    #[inline(always)]
    fn settle<F: Product>(&self) -> Option<S::W> {
        let s = self.c.s;
        let (x, at) = self.late?.get();
        self.hashing.add(s, x, at, S::LANES);
        self.hashing.ends(at + S::LANES).then(
            #[inline(always)]
            || self.hashing.end::<S, F>(s),
        )
    }
}

/// Ones in one lane.
#[inline(always)]
pub(crate) fn lane_mask<S: Isa>(s: S, lane: usize) -> S::W {
    const ONE: [Block; 2 * MAX_LANES] = {
        let mut out = [[0; 16]; 2 * MAX_LANES];
        out[MAX_LANES] = [0xff; 16];
        out
    };
    // SAFETY: a row from any of the first lanes on is in the table.
    unsafe { s.load(ONE[MAX_LANES - lane..].as_ptr().cast()) }
}

/// Ones in the first `n` bytes.
#[inline(always)]
fn first_bytes<S: Isa>(s: S, n: usize) -> S::W {
    const FIRST: [[Block; MAX_LANES]; 2] = [[[0xff; 16]; MAX_LANES], [[0; 16]; MAX_LANES]];
    assert!(n <= MAX_LANES * 16);
    // SAFETY: a row from any byte of the first half on is inside.
    unsafe {
        let from = FIRST.as_ptr().cast::<u8>();
        s.load(from.add(MAX_LANES * 16 - n))
    }
}

#[inline(always)]
pub(crate) fn lane<S: Isa>(s: S, x: S::W, lane: usize) -> Block {
    assert!(lane < S::LANES && S::LANES <= MAX_LANES);
    let mut row = MaybeUninit::<Aligned<[Block; MAX_LANES]>>::uninit();
    // SAFETY: there is room for a row, and what is read was written.
    unsafe {
        s.store(x, row.as_mut_ptr().cast());
        row.as_ptr().cast::<Block>().add(lane).read()
    }
}

/// Takes `state` through rows `rows` of a text, with results if the mode has any: what is one row of a
/// group of messages is one lane here. In modes with offsets they begin at a multiple of [`Isa::LANES`].
///
/// # Safety
/// The rows are inside what the text's two places are valid for.
#[inline(never)]
pub(crate) unsafe fn neighbours<S: Isa, M: Pass>(
    s: S,
    key: &Expanded,
    powers: Powers<'_>,
    text: (*const u8, *mut u8),
    rows: Range<usize>,
    state: &mut [Block; MAX_STATE],
) {
    s.enter(
        #[inline(always)]
        || {
            let (u, keys) = (s.unit(), &s.keys(key, M::SHAPE.uses));
            let ciphers = &Ciphers::new::<M>(s, (keys, key));
            let w = M::State::from_fn(
                #[inline(always)]
                |i| u.splat(&state[i]),
            );
            let hashing = &Hashing::new(u, (powers, S::LANES), 0, rows.len());
            // SAFETY: the caller's.
            let w = unsafe {
                all_rows::<S, M, true, false>(ciphers, hashing, None, text, rows, 0, (w, None))
            };
            for (state, w) in state.iter_mut().zip(folded::<S::Unit, M>(u, w).blocks()) {
                *state = lane(u, *w, 0);
            }
        },
    );
}

/// The same in the caller's code. The state is in all
/// lanes, and what comes of it as [`first`] says. After the rows there may be more bytes. Where a
/// message `ENDS` with them, all `len` bytes of it, they are done as it goes on, and nobody wants
/// to know what place it comes to.
///
/// # Safety
/// The same.
#[inline(always)]
pub(crate) unsafe fn all_rows<S: Isa, M: Pass, const LONG: bool, const ENDS: bool>(
    ciphers: &Ciphers<'_, S>,
    hashing: &Hashing<'_, S::Unit>,
    places: Option<&Places<'_, S::Unit>>,
    (src, dst): (*const u8, *mut u8),
    rows: Range<usize>,
    len: usize,
    (state, ahead): Begin<S, M>,
) -> M::State<UnitOf<S>> {
    if const { waits::<M>() || has_masks::<M>() } {
        let made = match const { is_made::<M>() } {
            true => ciphers
                .masks
                .filter(|_| rows.start == 0 && rows.end < MASKS),
            false => None,
        };
        let u = ciphers.unit.s;
        // SAFETY: the caller's.
        unsafe {
            if let Some(made) = made {
                let masks = Masks::<_, true>::new(u, made, None);
                return with_masks::<S, M, LONG, true>(
                    ciphers,
                    hashing,
                    (src, dst),
                    rows,
                    (&state, masks),
                );
            }
            let windows = match (const { has_windows::<S, M>() }, const { mask_of::<M>() }) {
                (true, Some(i)) => ahead.or(Some(MaskWindows::new(u, state.blocks()[i]))),
                _ => None,
            };
            let masks = Masks::<_, false>::new(u, &NO_MASKS, windows);
            // What is beyond so few blocks is not asked for.
            if const { !waits::<M>() && has_windows::<S, M>() }
                && ahead.is_none()
                && rows.len() <= const { <S::Unit as Isa>::LANES }
            {
                let offset = rows.start * 16;
                let text = (src.wrapping_add(offset), dst.wrapping_add(offset));
                let (c, rows) = (ciphers.unit, 0..rows.len());
                let w = spread::<S::Unit, M>(row::<_, M>(c, hashing, None, None), &state);
                return windows_row::<S::Unit, M>(c, hashing, &masks.windows, text, rows, w);
            }
            return with_masks::<S, M, LONG, false>(
                ciphers,
                hashing,
                (src, dst),
                rows,
                (&state, masks),
            );
        }
    }
    let (c, unit) = (ciphers.row, ciphers.unit);
    let (s, u) = (c.s, unit.s);
    let mut at = rows.start;
    let mut text = Text::<S::Unit, M>::new((src, dst), at);
    let mut w;
    // Where registers do not hold a line, bytes that are left are loaded by way of memory: one register of them.
    let at_once = const { !M::SHAPE.is_in_order() || <S::Unit as Isa>::LANES == LINE };
    if ENDS && !LONG && at_once {
        // SAFETY: the caller's.
        return unsafe { last_row::<S, M>(ciphers, hashing, places, (src, dst, 0, len), state) };
    }
    if LONG && (!const { in_units::<M>() } || rows.end - at >= S::LANES) {
        let late = Cell::new((s.splat(&[0; 16]), 0));
        let late = const { late_hash::<M>().is_some() }.then_some(&late);
        let c = row::<_, M>(c, hashing, places, late);
        let mut v = spread::<S, M>(c, &state);
        let mut full = text.of::<S>();
        if const { late_hash::<M>().is_some() } {
            let c = Neighbours { first: true, ..c };
            // SAFETY: so many rows are left from `at` on, here and below.
            unsafe { full.step(c, &mut v, at) };
            at += S::LANES;
        }
        while rows.end - at >= S::LANES {
            // SAFETY: as above.
            unsafe { full.step(c, &mut v, at) };
            at += S::LANES;
        }
        if let Some((block, polyval)) = const { late_hash::<M>() } {
            let hash = match polyval {
                true => c.settle::<Polyval>(),
                false => c.settle::<Plain>(),
            };
            v = M::State::from_fn(
                #[inline(always)]
                |i| match (v.blocks().get(i), hash) {
                    (Some(_), Some(hash)) if i == block => hash,
                    (Some(x), _) => *x,
                    _ => s.splat(&[0; 16]),
                },
            );
        }
        if const { !in_units::<M>() } {
            let before = v;
            let left = rows.end - at;
            if left > 0 {
                // SAFETY: as above.
                unsafe { full.step(c.part(left * 16), &mut v, at) };
            }
            return first::<S, M, ENDS>(s, hashing.powers.rows, &v, &before, left);
        }
        text = full.of();
        w = narrowed::<_, M>(s, &v);
        // The last row begins with the same in all lanes: of counters, the row's own are not that.
        if ENDS && const { counter_of::<S, M>().is_some() && !is_stepped::<S, M>() } {
            assert!(places.is_some());
        }
    } else {
        w = spread::<S::Unit, M>(row::<_, M>(unit, hashing, places, None), &state);
    }
    if ENDS && const { !is_stepped::<S, M>() } {
        let text = (src, dst, at, len % (S::LANES * 16));
        // SAFETY: as above.
        return unsafe { last_row::<S, M>(ciphers, hashing, places, text, w) };
    }
    // SAFETY: as above.
    unsafe {
        if const { has_row::<S, S::Registers<4>>() && fits_any_row::<M>() } {
            at = row_of_left(
                ciphers.four,
                hashing,
                places,
                &mut text,
                &mut w,
                (at, rows.end),
            );
        }
        if const { has_quad::<S>() && fits_any_row::<M>() && has_places::<M>() } {
            at = row_of_left(
                ciphers.quad,
                hashing,
                places,
                &mut text,
                &mut w,
                (at, rows.end),
            );
        }
    }
    let c = row::<_, M>(unit, hashing, places, None);
    while rows.end - at >= <S::Unit as Isa>::LANES {
        // SAFETY: as above.
        unsafe { text.step(c, &mut w, at) };
        at += <S::Unit as Isa>::LANES;
    }
    let before = w;
    let left = rows.end - at;
    let bytes = match ENDS {
        // As the compiler shall know that this is less than a register.
        true => len % (<S::Unit as Isa>::LANES * 16),
        false => left * 16,
    };
    if bytes > 0 {
        // SAFETY: as above.
        unsafe { text.step(c.part(bytes), &mut w, at) };
    }
    first::<S::Unit, M, ENDS>(u, hashing.powers.rows, &w, &before, left)
}

/// Whether one call of the cipher in a step waits for another, or for a product: what is left after full
/// rows is then done in one row, as it would wait again in each register, by the same code for long
/// messages and for short ones, of which there is much.
pub(crate) const fn waits<M: Pass>() -> bool {
    let mut i = 0;
    while i < M::SHAPE.along().blocks.len() {
        if matches!(M::SHAPE.along().blocks[i], Holds::Previous | Holds::Power) {
            return in_units::<M>();
        }
        i += 1;
    }
    M::SHAPE.row.pair
}

/// [`all_rows`] of a mode that [`waits`], whose messages do not end with their rows. While a row's second half waits,
/// the first half of the next one is done: of four registers, as many chains as AES wants are under way.
///
/// # Safety
/// The same.
#[inline(always)]
unsafe fn all_at_once<S: Isa, M: Pass, const MADE: bool>(
    ciphers: &Ciphers<'_, S>,
    hashing: &Hashing<'_, S::Unit>,
    (src, dst): (*const u8, *mut u8),
    rows: Range<usize>,
    (state, mut masks): (&M::State<UnitOf<S>>, Masks<'_, S::Unit, MADE>),
) -> M::State<UnitOf<S>> {
    let c = masks.with_multiples::<_, M>(row::<_, M>(ciphers.four, hashing, None, None));
    let register = const { <S::Unit as Isa>::LANES };
    let lanes = const { <S::Registers<4> as Isa>::LANES };
    let count = rows.end - rows.start;
    if count == 0 {
        return M::State::from_fn(
            #[inline(always)]
            |i| match (state.blocks().get(i), M::SHAPE.along().blocks.get(i)) {
                (Some(x), Some(Holds::Sum | Holds::Hash { .. })) => {
                    *x & lane_mask(ciphers.unit.s, 0)
                }
                (Some(x), _) => *x,
                (None, _) => ciphers.unit.zero(),
            },
        );
    }
    if count < lanes {
        let (all, text) = ((hashing, masks), (src, dst, rows.start, count));
        // Comparisons, as a table of jumps would be part of the loop. SAFETY: the caller's.
        return unsafe {
            if count <= register {
                one_row::<S::Unit, M, MADE>(ciphers.unit, all, text, state)
            } else if count <= 2 * register {
                one_row::<S::Registers<2>, M, MADE>(ciphers.two, all, text, state)
            } else {
                one_row::<S::Registers<4>, M, MADE>(ciphers.four, all, text, state)
            }
        };
    }
    let s = c.c.s;
    let mut v = masks.row::<_, M>(s, spread::<_, M>(c, state), 0);
    let mut text = Text::<S::Registers<4>, M>::new((src, dst), rows.start);
    let mut at = rows.start + lanes;
    // SAFETY: so many rows are left from `at` on, here and below.
    unsafe {
        let mut half = text.early(c, &mut v, rows.start);
        while rows.end - at >= lanes {
            v = masks.row::<_, M>(s, v, at - rows.start);
            let next = text.early(c, &mut v, at);
            text.late(c, &mut v, half);
            half = next;
            at += lanes;
        }
        let left = rows.end - at;
        v = masks.row::<_, M>(s, v, at - rows.start);
        if left == 0 {
            text.late(c, &mut v, half);
            return first::<_, M, false>(s, hashing.powers.rows, &v, &v, 0);
        }
        let (before, part) = (v, c.part(left * 16));
        let next = text.early(part, &mut v, at);
        text.late(c, &mut v, half);
        text.late(part, &mut v, next);
        // Places as they were, and sums as they are: these have nothing of blocks that are not there.
        let before = M::State::from_fn(
            #[inline(always)]
            |i| match (before.blocks().get(i), M::SHAPE.along().blocks.get(i)) {
                (Some(_), Some(Holds::Sum)) => v.blocks()[i],
                (Some(place), _) => *place,
                (None, _) => c.zero(),
            },
        );
        first::<_, M, false>(s, hashing.powers.rows, &v, &before, left)
    }
}

/// All of it in one row of `count` blocks or pairs.
///
/// # Safety
/// The text has them.
#[inline(always)]
unsafe fn one_row<S: Isa, M: Pass, const MADE: bool>(
    c: Uniform<'_, S>,
    (hashing, mut masks): (&Hashing<'_, S::Unit>, Masks<'_, S::Unit, MADE>),
    (src, dst, at, count): (*const u8, *mut u8, usize, usize),
    state: &M::State<UnitOf<S>>,
) -> M::State<UnitOf<S>> {
    let s = c.s;
    let c = masks.with_multiples::<S, M>(row::<_, M>(c, hashing, None, None));
    let mut v = masks.row::<_, M>(s, spread::<S, M>(c, state), 0);
    let before = v;
    let mut text = Text::<S, M>::new((src, dst), at);
    // SAFETY: the caller's.
    unsafe {
        let half = text.early(c.part(count * 16), &mut v, at);
        text.late(c.part(count * 16), &mut v, half);
    }
    match count == S::LANES {
        true => {
            let next = masks.after::<S, M>(s, v, 0);
            first::<S, M, false>(s, hashing.powers.rows, &v, &next, 0)
        }
        false => first::<S, M, false>(s, hashing.powers.rows, &v, &before, count),
    }
}

/// Whether rows of `T`, of fewer registers, may come between full rows and single registers.
const fn has_row<S: Isa, T: Isa>() -> bool {
    S::ROUNDS && S::LANES > T::LANES
}

/// The same of a row of four blocks, where these are two registers.
const fn has_quad<S: Isa>() -> bool {
    has_registers::<S::Quad>() && has_row::<S::Registers<4>, S::Quad>()
}

/// One row of `S` from block `at` on, if as much is left before the `end` of a mode's blocks, any of whose rows may
/// follow any other; which block comes then.
///
/// # Safety
/// The text has these blocks.
#[inline(always)]
unsafe fn row_of_left<S: Isa, M: Pass>(
    c: Uniform<'_, S>,
    hashing: &Hashing<'_, S::Unit>,
    places: Option<&Places<'_, S::Unit>>,
    text: &mut Text<S::Unit, M>,
    w: &mut M::State<UnitOf<S>>,
    (at, end): (usize, usize),
) -> usize {
    if end - at < S::LANES || const { counter_of::<S, M>().is_some() } && places.is_none() {
        return at;
    }
    let (s, c) = (c.s, row::<_, M>(c, hashing, places, None));
    let mut v = M::State::from_fn(
        #[inline(always)]
        |i| match (w.blocks().get(i), M::SHAPE.along().blocks.get(i)) {
            (Some(x), Some(Holds::Sum)) => s.widen(*x),
            (Some(x), _) => s.repeat(*x),
            _ => c.zero(),
        },
    );
    let mut row = text.of::<S>();
    // SAFETY: the caller's.
    unsafe { row.step(c, &mut v, at) };
    *text = row.of();
    *w = narrowed::<_, M>(s, &v);
    at + S::LANES
}

/// Whether a row of any width may follow a row of any other as it is: no lane has a state of its own.
/// (Counters are [`Places`]; for masks see [`masked_rows`].)
const fn fits_any_row<M: Pass>() -> bool {
    let mut i = 0;
    while i < M::SHAPE.along().blocks.len() {
        match M::SHAPE.along().blocks[i] {
            Holds::Offset | Holds::Input | Holds::Sum | Holds::Counter { .. } => i += 1,
            _ => return false,
        }
    }
    in_units::<M>()
}

/// Whether blocks depend on their places, so that a row makes something of its own, once: one of two registers
/// takes less than two of one. (In CTR and OCB. ECB of 128 bytes takes 1.12 with it.)
const fn has_places<M: Pass>() -> bool {
    let mut i = 0;
    while i < M::SHAPE.along().blocks.len() {
        match M::SHAPE.along().blocks[i] {
            Holds::Offset | Holds::Counter { .. } => return true,
            _ => i += 1,
        }
    }
    false
}

/// From the state after a row to that of a register.
#[inline(always)]
fn narrowed<S: Isa, M: Pass>(s: S, state: &M::State<S::W>) -> M::State<UnitOf<S>> {
    let u = s.unit();
    M::State::from_fn(
        #[inline(always)]
        |i| match (state.blocks().get(i), M::SHAPE.along().blocks.get(i)) {
            (Some(x), Some(Holds::Sum)) => s.sum(*x),
            (Some(x), Some(Holds::Input)) => u.splat(&s.last(*x)),
            (Some(x), _) => s.first(*x),
            _ => u.splat(&[0; 16]),
        },
    )
}

/// Whether the state of `M` is stepped from row to row: not hashes, which are sums, and counters
/// of [`Places`]. (Without a hash, all that full rows leave gains nothing by being one row: [`row_of_left`].)
pub(crate) const fn is_stepped<S: Isa, M: Pass>() -> bool {
    if hash_of::<M>().is_none() {
        return true;
    }
    let mut i = 0;
    while i < M::SHAPE.along().blocks.len() {
        match M::SHAPE.along().blocks[i] {
            Holds::Hash { .. } => {}
            Holds::Counter { .. } if S::ROUNDS => {}
            _ => return true,
        }
        i += 1;
    }
    false
}

/// Whether a hash is of the results of steps, and waits for them.
pub(crate) const fn hashes_results<M: Pass>() -> bool {
    match hash_of::<M>() {
        Some((i, _)) => matches!(
            M::SHAPE.along().blocks[i],
            Holds::Hash { results: true, .. }
        ),
        None => false,
    }
}

/// What is left of a message, fewer bytes than a row has: four registers and the rest, each in as
/// many registers as it wants.
///
/// # Safety
/// The text has its blocks.
#[inline(always)]
pub(crate) unsafe fn last_row<S: Isa, M: Pass>(
    c: &Ciphers<'_, S>,
    hashing: &Hashing<'_, S::Unit>,
    places: Option<&Places<'_, S::Unit>>,
    (src, dst, mut at, mut bytes): (*const u8, *mut u8, usize, usize),
    mut state: M::State<UnitOf<S>>,
) -> M::State<UnitOf<S>> {
    let register = const { <S::Unit as Isa>::LANES * 16 };
    let wide = const { S::LANES > 4 * <S::Unit as Isa>::LANES && !is_stepped::<S, M>() };
    let known = const { counter_of::<S, M>().is_none() } || places.is_some();
    // SAFETY: the caller's.
    unsafe {
        if wide && known && bytes > 4 * register {
            let text = (src, dst, at, 4 * register);
            state = part::<S::Registers<4>, M>(c.four, hashing, places, text, state);
            at += 4 * register / 16;
            bytes -= 4 * register;
        }
        let text = (src, dst, at, bytes);
        if bytes == 0 {
            spread::<S::Unit, M>(row::<_, M>(c.unit, hashing, places, None), &state)
        } else if bytes <= register {
            part::<S::Unit, M>(c.unit, hashing, places, text, state)
        } else if bytes <= 2 * register {
            part::<S::Registers<2>, M>(c.two, hashing, places, text, state)
        } else if bytes <= 3 * register {
            part::<S::Registers<3>, M>(c.three, hashing, places, text, state)
        } else if bytes <= 4 * register {
            part::<S::Registers<4>, M>(c.four, hashing, places, text, state)
        } else {
            part::<S, M>(c.row, hashing, places, text, state)
        }
    }
}

/// A row that has `bytes` bytes from block `at` on.
///
/// # Safety
/// The text has its blocks.
#[inline(always)]
unsafe fn part<S: Isa, M: Pass>(
    c: Uniform<'_, S>,
    hashing: &Hashing<'_, S::Unit>,
    places: Option<&Places<'_, S::Unit>>,
    (src, dst, at, bytes): (*const u8, *mut u8, usize, usize),
    state: M::State<UnitOf<S>>,
) -> M::State<UnitOf<S>> {
    let s = c.s;
    let c = row::<_, M>(c, hashing, places, None);
    let mut v = spread::<S, M>(c, &state);
    let before = v;
    // SAFETY: the caller's.
    unsafe { Text::<S, M>::new((src, dst), at).step(c.part(bytes), &mut v, at) };
    first::<S, M, true>(s, hashing.powers.rows, &v, &before, bytes.div_ceil(16))
}

/// One key for full rows and for rows of so many registers.
#[derive(Clone, Copy)]
pub(crate) struct Ciphers<'k, S: Isa> {
    row: Uniform<'k, S>,
    four: Uniform<'k, S::Registers<4>>,
    three: Uniform<'k, S::Registers<3>>,
    two: Uniform<'k, S::Registers<2>>,
    pub unit: Uniform<'k, S::Unit>,
    pub quad: Uniform<'k, S::Quad>,
    /// Masks of the key, if they were made: [`Holds::Mask`].
    masks: Option<&'k [Rows; MAX_UNIT]>,
}

impl<'k, S: Isa> Ciphers<'k, S> {
    #[inline(always)]
    pub(crate) fn new<M: Pass>(s: S, (keys, key): (&'k S::Keys, &'k Expanded)) -> Self {
        Ciphers {
            row: uniform::<_, M>(s, keys, key),
            four: uniform::<_, M>(s.registers(), keys, key),
            three: uniform::<_, M>(s.registers(), keys, key),
            two: uniform::<_, M>(s.registers(), keys, key),
            unit: uniform::<_, M>(s.unit(), keys, key),
            quad: uniform::<_, M>(s.quad(), keys, key),
            masks: None,
        }
    }

    /// Makes the masks of all messages under this key, in this memory.
    #[inline(always)]
    pub(crate) fn make_masks<M: Pass>(&mut self, masks: &'k mut [Rows; MAX_UNIT]) {
        let Some(i) = (const { mask_of::<M>() }) else {
            return;
        };
        let (s, unit) = (self.row.s, self.unit);
        // Of any message: they begin with the same mask.
        let mut h = [unit.zero(); HEADER];
        let state = M::begin(&unit, &mut h);
        let state = M::text(&unit, &mut h, state);
        let powers = (Powers::without_halves(&NO_TABLES.rows), S::LANES);
        let hashing = &Hashing::new(unit.s, powers, 0, 0);
        let c = row::<_, M>(self.row, hashing, None, None);
        let mut x = spread::<S, M>(c, &state).blocks()[i];
        for at in (0..MASKS).step_by(S::LANES) {
            s.store_to(x, &mut masks[0][at..]);
            if const { takes_multiples::<M>() } {
                let [three, two] = c.multiples(x, 0);
                s.store_to(three, &mut masks[1][at..]);
                s.store_to(two, &mut masks[2][at..]);
            }
            x = past_row::<S, _>(&c, x, c.by_sums);
        }
        self.masks = Some(masks);
    }
}

const NO_MASKS: [Rows; MAX_UNIT] = [NO_TABLES.rows; MAX_UNIT];

/// So many are made: a packet has fewer blocks.
const MASKS: usize = 4 * MAX_LANES;

/// Which block of state is doubled from block to block.
pub(crate) const fn mask_of<M: Pass>() -> Option<usize> {
    let mut i = 0;
    while i < M::SHAPE.along().blocks.len() {
        if matches!(
            M::SHAPE.along().blocks[i],
            Holds::Mask { .. } | Holds::Double
        ) {
            return Some(i);
        }
        i += 1;
    }
    None
}

/// Whether that depends on the key alone.
pub(crate) const fn is_made<M: Pass>() -> bool {
    match mask_of::<M>() {
        Some(i) => matches!(M::SHAPE.along().blocks[i], Holds::Mask { .. }),
        None => false,
    }
}

/// Whether steps take multiples of it.
const fn takes_multiples<M: Pass>() -> bool {
    match mask_of::<M>() {
        Some(i) => matches!(M::SHAPE.along().blocks[i], Holds::Mask { multiples: true }),
        None => false,
    }
}

/// Whether [`Masks`] makes it of each message, by windows.
pub(crate) const fn has_windows<S: Isa, M: Pass>() -> bool {
    S::WINDOWS && mask_of::<M>().is_some() && !is_made::<M>()
}

/// Whether there is no state but masks and sums: nothing goes from register to register.
pub(crate) const fn has_masks<M: Pass>() -> bool {
    let mut i = 0;
    while i < M::SHAPE.along().blocks.len() {
        if !matches!(
            M::SHAPE.along().blocks[i],
            Holds::Mask { .. } | Holds::Double | Holds::Sum
        ) {
            return false;
        }
        i += 1;
    }
    mask_of::<M>().is_some()
}

/// [`all_rows`] with masks, or of a mode that [`waits`].
///
/// # Safety
/// The same.
#[inline(always)]
unsafe fn with_masks<S: Isa, M: Pass, const LONG: bool, const MADE: bool>(
    ciphers: &Ciphers<'_, S>,
    hashing: &Hashing<'_, S::Unit>,
    text: (*const u8, *mut u8),
    rows: Range<usize>,
    begin: (&M::State<UnitOf<S>>, Masks<'_, S::Unit, MADE>),
) -> M::State<UnitOf<S>> {
    // SAFETY: the caller's.
    unsafe {
        match const { waits::<M>() } {
            true => all_at_once::<S, M, MADE>(ciphers, hashing, text, rows, begin),
            false => masked_rows::<S, M, LONG, MADE>(ciphers, hashing, text, rows, begin),
        }
    }
}

/// [`all_rows`] with masks, in a mode whose messages do not end with their rows.
///
/// # Safety
/// The same.
#[inline(always)]
unsafe fn masked_rows<S: Isa, M: Pass, const LONG: bool, const MADE: bool>(
    ciphers: &Ciphers<'_, S>,
    hashing: &Hashing<'_, S::Unit>,
    (src, dst): (*const u8, *mut u8),
    rows: Range<usize>,
    (state, mut masks): (&M::State<UnitOf<S>>, Masks<'_, S::Unit, MADE>),
) -> M::State<UnitOf<S>> {
    let (s, u) = (ciphers.row.s, ciphers.unit.s);
    let c = row::<_, M>(ciphers.row, hashing, None, None);
    let unit = row::<_, M>(ciphers.unit, hashing, None, None);
    // The text of the masks.
    let offset = rows.start * 16;
    let (src, dst) = (src.wrapping_add(offset), dst.wrapping_add(offset));
    let (mut at, count) = (0, rows.end - rows.start);
    let mut w = spread::<S::Unit, M>(unit, state);
    if LONG && count >= S::LANES {
        let mut v = masks.row::<S, M>(s, spread::<S, M>(c, state), 0);
        let mut text = Text::<S, M>::new((src, dst), at);
        loop {
            // SAFETY: so many rows are left from `at` on, here and below.
            unsafe { text.step(c, &mut v, at) };
            at += S::LANES;
            if count - at < S::LANES {
                break;
            }
            v = masks.next::<S, M>(&c, s, v, at);
        }
        w = masks.left::<S, M>(&unit, s, &v);
    }
    let mut text = Text::<S::Unit, M>::new((src, dst), at);
    if MADE || const { !has_windows::<S, M>() } {
        let lanes = const { <S::Registers<4> as Isa>::LANES };
        if const { !MADE && has_row::<S, S::Registers<4>>() } && count - at >= lanes {
            let s = ciphers.four.s;
            let c = row::<_, M>(ciphers.four, hashing, None, None);
            let mut v = M::State::from_fn(
                #[inline(always)]
                |i| match w.blocks().get(i) {
                    Some(x) if const { mask_of::<M>() } == Some(i) => {
                        doubles(&c, s.repeat(u.splat(&lane(u, *x, 0))), s.iota())
                    }
                    Some(x) => s.widen(*x),
                    None => c.zero(),
                },
            );
            let mut four = text.of::<S::Registers<4>>();
            // SAFETY: as above.
            unsafe { four.step(c, &mut v, at) };
            text = four.of();
            w = masks.left::<S::Registers<4>, M>(&unit, s, &v);
            at += lanes;
        }
        while count - at >= <S::Unit as Isa>::LANES {
            w = masks.row::<S::Unit, M>(u, w, at);
            // SAFETY: as above.
            unsafe { text.step(unit, &mut w, at) };
            at += <S::Unit as Isa>::LANES;
            w = masks.left::<S::Unit, M>(&unit, u, &w);
        }
        let (before, left) = (w, count - at);
        if left > 0 {
            w = masks.row::<S::Unit, M>(u, w, at);
            // SAFETY: as above.
            unsafe { text.step(unit.part(left * 16), &mut w, at) };
        }
        if !MADE {
            return first::<S::Unit, M, false>(u, &[], &w, &before, left);
        }
        let state = first::<S::Unit, M, true>(u, &[], &w, &before, left);
        return masked::<M, _>(state, u.splat(&masks.made[0][count]));
    }
    let register = const { <S::Unit as Isa>::LANES };
    let (windows, text) = (&mut masks.windows, (src, dst));
    // SAFETY: as above.
    unsafe {
        if S::LANES > 4 * register && count - at > 4 * register {
            let span = at..at + 4 * register;
            w = windows_part::<S::Registers<4>, M>(ciphers.four, hashing, windows, text, span, w);
            at += 4 * register;
        }
        let (h, span) = (hashing, at..count);
        if span.len() <= register {
            windows_part::<S::Unit, M>(ciphers.unit, h, windows, text, span, w)
        } else if span.len() <= 2 * register {
            windows_part::<S::Registers<2>, M>(ciphers.two, h, windows, text, span, w)
        } else if span.len() <= 3 * register {
            windows_part::<S::Registers<3>, M>(ciphers.three, h, windows, text, span, w)
        } else {
            windows_part::<S::Registers<4>, M>(ciphers.four, h, windows, text, span, w)
        }
    }
}

/// What is left of a message, in a row that has room for it, with masks by windows.
///
/// # Safety
/// The text has its blocks.
#[inline(always)]
unsafe fn windows_part<S: Isa, M: Pass>(
    c: Uniform<'_, S>,
    hashing: &Hashing<'_, S::Unit>,
    windows: &mut MaskWindows<S::Unit>,
    text: (*const u8, *mut u8),
    rows: Range<usize>,
    state: M::State<UnitOf<S>>,
) -> M::State<UnitOf<S>> {
    let v = M::State::from_fn(
        #[inline(always)]
        |i| match state.blocks().get(i) {
            Some(x) => c.s.widen(*x),
            None => c.s.splat(&[0; 16]),
        },
    );
    let v = masked::<M, _>(v, windows.row(c.s, rows.start));
    // SAFETY: the caller's.
    unsafe { windows_row::<S, M>(c, hashing, windows, text, rows, v) }
}

/// The same from the state of the row on.
///
/// # Safety
/// The same.
#[inline(always)]
unsafe fn windows_row<S: Isa, M: Pass>(
    c: Uniform<'_, S>,
    hashing: &Hashing<'_, S::Unit>,
    windows: &MaskWindows<S::Unit>,
    (src, dst): (*const u8, *mut u8),
    rows: Range<usize>,
    before: M::State<S::W>,
) -> M::State<UnitOf<S>> {
    let (s, mut v, left) = (c.s, before, rows.len());
    if left > 0 {
        let c = row::<_, M>(c, hashing, None, None).part(left * 16);
        // SAFETY: the caller's.
        unsafe { Text::<S, M>::new((src, dst), rows.start).step(c, &mut v, rows.start) };
    }
    let next = match left == S::LANES {
        true => masked::<M, _>(v, s.widen(windows.after::<S>(rows.start))),
        false => before,
    };
    first::<S, M, false>(s, &[], &v, &next, left % S::LANES)
}

/// Masks of neighbouring blocks: `MADE` before, or by windows, where there are [`Isa::WINDOWS`]. Otherwise
/// each row's are those of the row before times a power of x; where a mode [`waits`], its steps make them so.
#[derive(Clone, Copy)]
struct Masks<'k, U: Isa, const MADE: bool> {
    made: &'k [Rows; MAX_UNIT],
    windows: MaskWindows<U>,
}

impl<'k, U: Isa<Unit = U>, const MADE: bool> Masks<'k, U, MADE> {
    #[inline(always)]
    fn new(u: U, made: &'k [Rows; MAX_UNIT], windows: Option<MaskWindows<U>>) -> Self {
        let none = [u.splat(&[0; 16]); 2];
        let none = MaskWindows {
            now: none,
            beyond: none,
        };
        Masks {
            made,
            windows: windows.unwrap_or(none),
        }
    }

    /// Rows with their multiples, if they were made.
    #[inline(always)]
    fn with_multiples<'c, 't, S: Isa<Unit = U>, M: Pass>(
        &self,
        c: Neighbours<'c, 't, S, false>,
    ) -> Neighbours<'c, 't, S, false>
    where
        'k: 't,
    {
        let multiples = match MADE && const { takes_multiples::<M>() } {
            true => Some(self.made),
            false => None,
        };
        Neighbours { multiples, ..c }
    }

    /// After a row of `S` from block `at` on, a state that has the next block's mask in the first lane.
    #[inline(always)]
    fn after<S: Isa<Unit = U>, M: Pass>(
        &self,
        s: S,
        state: M::State<S::W>,
        at: usize,
    ) -> M::State<S::W> {
        let mask = match MADE {
            true => s.unit().load_from(&self.made[0][at + S::LANES..]),
            false if const { has_windows::<S, M>() } => self.windows.after::<S>(at),
            false => return state,
        };
        masked::<M, _>(state, s.widen(mask))
    }

    /// The state of the row of `S` that begins with block `at`, which comes after the row before.
    #[inline(always)]
    fn row<S: Isa<Unit = U>, M: Pass>(
        &mut self,
        s: S,
        state: M::State<S::W>,
        at: usize,
    ) -> M::State<S::W> {
        let masks = match MADE {
            true => s.load_from(&self.made[0][at..]),
            false if const { has_windows::<S, M>() } => self.windows.row(s, at),
            false => return state,
        };
        masked::<M, _>(state, masks)
    }

    /// The same from the state of the row before, of a mode whose steps do not move its masks on. (Products
    /// are slower than additions on 512-bit registers alone, which have windows.)
    #[inline(always)]
    fn next<S: Isa<Unit = U>, M: Pass>(
        &mut self,
        c: &impl Cipher<W = S::W>,
        s: S,
        state: M::State<S::W>,
        at: usize,
    ) -> M::State<S::W> {
        match (MADE || const { has_windows::<S, M>() }, mask_of::<M>()) {
            (false, Some(i)) => {
                masked::<M, _>(state, past_row::<S, _>(c, state.blocks()[i], false))
            }
            _ => self.row::<S, M>(s, state, at),
        }
    }

    /// The state of the register that follows a row of `S`.
    #[inline(always)]
    fn left<S: Isa<Unit = U>, M: Pass>(
        &self,
        c: &impl Cipher<W = U::W>,
        s: S,
        state: &M::State<S::W>,
    ) -> M::State<U::W> {
        let is_made = MADE || const { has_windows::<S, M>() };
        M::State::from_fn(
            #[inline(always)]
            |i| match state.blocks().get(i) {
                Some(x) if const { mask_of::<M>() } != Some(i) => s.sum(*x),
                Some(x) if !is_made => past_row::<S, _>(c, s.first(*x), false),
                _ => c.zero(),
            },
        )
    }
}

/// The state with these masks, if it has any.
#[inline(always)]
fn masked<M: Pass, W: Wide>(state: M::State<W>, masks: W) -> M::State<W> {
    M::State::from_fn(
        #[inline(always)]
        |i| match state.blocks().get(i) {
            Some(x) if const { mask_of::<M>() } != Some(i) => *x,
            _ => masks,
        },
    )
}

/// The state of a message's first block, in all lanes, and its windows if they were made ahead.
pub(crate) type Begin<S, M> = (
    <M as Pass>::State<UnitOf<S>>,
    Option<MaskWindows<<S as Isa>::Unit>>,
);

/// Neighbouring blocks each of which is twice the one before: any register by one shuffle.
#[derive(Clone, Copy)]
pub(crate) struct MaskWindows<U: Isa> {
    /// Eight blocks, and what is beyond them.
    now: [U::W; 2],
    beyond: [U::W; 2],
}

impl<U: Isa<Unit = U>> MaskWindows<U> {
    /// From the first block, in all lanes.
    #[inline(always)]
    pub(crate) fn new(u: U, first: U::W) -> Self {
        const { assert!(!U::WINDOWS || U::LANES == 4) };
        let halves = u.splat(&[0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7]);
        let places = u.iota().shuffle(halves);
        let next = places.add_halves(u.splat(&both(4)));
        MaskWindows::beginning([first.times_power(places), first.times_power(next)])
    }

    #[inline(always)]
    fn beginning(now: [U::W; 2]) -> Self {
        let beyond = [now[0].beyond(), now[1].beyond()];
        MaskWindows { now, beyond }
    }

    /// After a row of `S` from block `at` on, the next register.
    #[inline(always)]
    fn after<S: Isa<Unit = U>>(&self, at: usize) -> U::W {
        let registers = const { S::LANES / U::LANES };
        let which = registers % 2;
        self.now[which].window(self.beyond[which], (at / U::LANES + registers) / 2 % 8)
    }

    /// A row from block `at` on, which comes after the row before. (Of one or three registers, the last.)
    #[inline(always)]
    fn row<S: Isa<Unit = U>>(&mut self, s: S, at: usize) -> S::W {
        let MaskWindows { now, beyond } = self;
        let row = s.windows(now, beyond, at / U::LANES % 16);
        // Of the next 64 blocks.
        if (at + S::LANES).is_multiple_of(64) {
            let [first, second] = [now[0].window(beyond[0], 8), now[1].window(beyond[1], 8)];
            *self = MaskWindows::beginning([first, second]);
        }
        row
    }
}

#[inline(always)]
fn row<'k, 't, S: Isa, M: Pass>(
    c: Uniform<'k, S>,
    hashing: &'t Hashing<'t, S::Unit>,
    places: Option<&'t Places<'t, S::Unit>>,
    late: Option<&'t Late<S>>,
) -> Neighbours<'k, 't, S, false> {
    Neighbours {
        places,
        c,
        hashing,
        late,
        first: false,
        bytes: 0,
        text: None,
        multiples: None,
        by_sums: const { mask_of::<M>().is_some() } && is_zen4(),
        moves_masks: const { waits::<M>() || !has_masks::<M>() },
    }
}

/// From the state of the first of some neighbouring blocks to theirs.
#[inline(always)]
fn spread<S: Isa, M: Pass>(
    c: Neighbours<'_, '_, S, false>,
    state: &M::State<UnitOf<S>>,
) -> M::State<S::W> {
    let s = c.c.s;
    let mut w = M::State::from_fn(
        #[inline(always)]
        |i| match (state.blocks().get(i), M::SHAPE.along().blocks.get(i)) {
            (Some(x), Some(Holds::Sum | Holds::Hash { .. } | Holds::Once)) => {
                s.widen(*x & lane_mask(s.unit(), 0))
            }
            (Some(x), Some(_)) => s.repeat(*x),
            _ => c.zero(),
        },
    );
    let tables = table_row(s, c.hashing.powers.rows, 0);
    M::spread(&mut w, &c, s.iota(), tables);
    w
}

/// The state of the block after the last row, in the first lane; places in all lanes, sums
/// spread over them. That row has `left` blocks, not 0 where it is not full; `before` is what
/// it began with. Offsets are past that by what is in the key's `tables`.
#[inline(always)]
fn first<S: Isa, M: Pass, const ENDS: bool>(
    s: S,
    tables: &[Block],
    now: &M::State<S::W>,
    before: &M::State<S::W>,
    left: usize,
) -> M::State<UnitOf<S>> {
    let u = s.unit();
    M::State::from_fn(
        #[inline(always)]
        |i| {
            let (Some(now), Some(then), Some(holds)) = (
                now.blocks().get(i),
                before.blocks().get(i),
                M::SHAPE.along().blocks.get(i),
            ) else {
                return u.splat(&[0; 16]);
            };
            match holds {
                Holds::Position
                | Holds::Double
                | Holds::Mask { .. }
                | Holds::Power
                | Holds::Offset
                | Holds::Input
                | Holds::Counter { .. }
                    if ENDS =>
                {
                    u.splat(&[0; 16])
                }
                Holds::Offset if left > 0 => s.first(*then) ^ u.splat(&tables[left - 1]),
                Holds::Offset => s.first(*then),
                Holds::Position
                | Holds::Double
                | Holds::Mask { .. }
                | Holds::Power
                | Holds::Counter { .. } => u.splat(&lane(s, *then, left)),
                Holds::Hash { .. } => s.first(*now),
                // Of a message without rows.
                Holds::Once => u.splat(&lane(s, *now, 0)),
                Holds::Previous | Holds::Input if left > 0 => u.splat(&lane(s, *now, left - 1)),
                Holds::Previous | Holds::Input => u.splat(&lane(s, *now, S::LANES - 1)),
                Holds::Sum if left > 0 => {
                    let mask = first_bytes(s, left * 16);
                    s.sum(S::W::select(mask, *now, *then))
                }
                Holds::Sum => s.sum(*now),
            }
        },
    )
}

/// What comes of a message's rows, with sums in the first lane.
#[inline(always)]
pub(crate) fn folded<U: Isa<Unit = U>, M: Pass>(u: U, state: M::State<U::W>) -> M::State<U::W> {
    M::State::from_fn(
        #[inline(always)]
        |i| match (state.blocks().get(i), M::SHAPE.along().blocks.get(i)) {
            (Some(x), Some(Holds::Sum)) => u.fold(*x),
            (Some(x), _) => *x,
            (None, _) => u.splat(&[0; 16]),
        },
    )
}

/// A row of tables.
#[inline(always)]
fn table_row<S: Isa>(s: S, rows: &[Block], from: usize) -> S::W {
    s.load_from(&rows[from..])
}

/// A text in the order of lanes, from the next row on.
struct Text<S, M> {
    src: *const u8,
    dst: *mut u8,
    mode: PhantomData<(S, M)>,
}

impl<S: Isa, M: Pass> Text<S, M> {
    /// From block `at` on.
    #[inline(always)]
    fn new((src, dst): (*const u8, *mut u8), at: usize) -> Self {
        let offset = at * M::SHAPE.row.stride;
        Text {
            src: src.wrapping_add(offset),
            dst: dst.wrapping_add(offset),
            mode: PhantomData,
        }
    }

    /// The same for rows of `T`.
    #[inline(always)]
    fn of<T: Isa>(&self) -> Text<T, M> {
        Text::new((self.src, self.dst), 0)
    }

    /// Bytes from row to row.
    const BYTES: usize = S::LANES * M::SHAPE.row.stride;

    /// One row, which begins with block `at`.
    ///
    /// # Safety
    /// The text has its blocks.
    #[inline(always)]
    unsafe fn step<const PART: bool>(
        &mut self,
        c: Neighbours<'_, '_, S, PART>,
        w: &mut M::State<S::W>,
        at: usize,
    ) {
        let (s, bytes, row) = (c.c.s, c.bytes, at / S::LANES);
        let (src, dst) = (self.src, self.dst);
        self.src = src.wrapping_add(Self::BYTES);
        self.dst = dst.wrapping_add(Self::BYTES);
        // SAFETY: the caller's.
        unsafe {
            #[cfg(feature = "research")]
            if const { !in_units::<M>() } {
                assert!(M::SHAPE.row.stride == crate::isa::PART);
                let blocks = match PART {
                    true => bytes / 16,
                    false => S::LANES,
                };
                let y = M::step(&c, w, s.load_parts(src, blocks), row);
                if const { M::SHAPE.output } {
                    s.store_parts(y, dst, blocks);
                }
                return;
            }
            let x = match PART {
                true => s.load_part(src, bytes),
                false => s.load(src),
            };
            let text = Some(src);
            let y = M::step(&Neighbours { text, ..c }, w, x, row);
            match PART {
                _ if !M::SHAPE.output => {}
                true => s.store_part(y, dst, bytes),
                false => s.store(y, dst),
            }
        }
    }

    /// The first half of one row, and in [`Text::late`] the second one, of a mode that [`waits`].
    ///
    /// # Safety
    /// The text has its blocks.
    #[inline(always)]
    unsafe fn early<const PART: bool>(
        &mut self,
        c: Neighbours<'_, '_, S, PART>,
        w: &mut M::State<S::W>,
        at: usize,
    ) -> [S::W; HALF] {
        let (s, src) = (c.c.s, self.src);
        self.src = src.wrapping_add(Self::BYTES);
        // SAFETY: the caller's.
        let x = unsafe {
            match PART {
                #[cfg(feature = "research")]
                true if const { M::SHAPE.row.pair } => s.load_pairs(src, 2 * c.bytes),
                #[cfg(feature = "research")]
                false if const { M::SHAPE.row.pair } => s.load_pairs(src, 32 * S::LANES),
                true => [s.load_part(src, c.bytes), c.zero()],
                false => [s.load(src), c.zero()],
            }
        };
        M::early(&c, w, x, at / S::LANES)
    }

    /// # Safety
    /// As of [`Text::early`].
    #[inline(always)]
    unsafe fn late<const PART: bool>(
        &mut self,
        c: Neighbours<'_, '_, S, PART>,
        w: &mut M::State<S::W>,
        half: [S::W; HALF],
    ) {
        let (s, dst) = (c.c.s, self.dst);
        self.dst = dst.wrapping_add(Self::BYTES);
        let y = M::late(&c, w, half);
        if const { !M::SHAPE.output } {
            return;
        }
        // SAFETY: the caller's.
        unsafe {
            match PART {
                #[cfg(feature = "research")]
                true if const { M::SHAPE.row.pair } => s.store_pairs(y, dst, 2 * c.bytes),
                #[cfg(feature = "research")]
                false if const { M::SHAPE.row.pair } => s.store_pairs(y, dst, 32 * S::LANES),
                true => s.store_part(y[0], dst, c.bytes),
                false => s.store(y[0], dst),
            }
        }
    }
}

/// Which block of state is a counter, for [`Places`], and of how many bits.
pub(crate) const fn counter_of<S: Isa, M: Pass>() -> Option<(usize, u32)> {
    let mut i = 0;
    while i < M::SHAPE.along().blocks.len() && S::ROUNDS {
        if let Holds::Counter { bits } = M::SHAPE.along().blocks[i] {
            return Some((i, bits));
        }
        i += 1;
    }
    None
}

/// The key's table for counters of rows that are blocks of one message, if `M` has such.
#[inline(always)]
pub(crate) fn counters<S: Isa, M: Pass>(s: S, key: &Expanded) -> Option<&FirstRounds> {
    if const { counter_of::<S, M>().is_none() } {
        return None;
    }
    Some(key.first_rounds(
        #[inline(always)]
        || first_rounds(s, key),
    ))
}

/// Which block of state is a hash that is computed a row later: none where there is no encryption to wait for.
const fn late_hash<M: Pass>() -> Option<(usize, bool)> {
    match const { M::SHAPE.output } {
        true => hash_of::<M>(),
        false => None,
    }
}

/// Whether rows may be of any width: then the remainder of a message is processed one
/// register at a time.
pub(crate) const fn in_units<M: Pass>() -> bool {
    M::SHAPE.row.stride == M::SHAPE.row.bytes()
}
