//! Hashes that are polynomials in a constant of the key, as sums of products with its powers: reduced
//! once for many blocks. Of one message ([`Hashing`]), of messages that have as many blocks, in
//! lanes ([`EqualHashing`]), and of a few rows of any messages in lanes ([`sum_rows`]).
//!
//! `unsafe` here rests on two facts: powers that are read are in the table, and behind them is room
//! for a register; and where the sums of their halves are read, the mode has tables, with which they were made.
#![allow(unsafe_code)]

use crate::block::{Block, FEW_POWERS, FewRows, MAX_LANES, MAX_UNIT, POWERS, Rows, Tables};
use crate::cipher::{Cipher, Uniform, as_before};
use crate::isa::{Isa, Plain, Polyval, Product, Sums, Wide};
use crate::pass::{Pass, State};
use crate::schedule::Way;
use crate::shape::Holds;
use core::cell::Cell;
use core::mem::MaybeUninit;

/// What a message's rows take of its key's tables: powers, in modes that hash.
#[derive(Clone, Copy)]
pub(crate) struct Powers<'t> {
    /// From the last to the first, and room for a register.
    pub rows: &'t [Block],
    /// How many there are.
    count: usize,
    /// In the same places the sums of their halves.
    halves: Option<&'t MaybeUninit<Rows>>,
    /// Whether four products are made of two blocks, or three, with the sums of their halves.
    four: bool,
}

impl<'t> Powers<'t> {
    /// Those that a key keeps.
    #[inline(always)]
    pub(crate) fn of<M: Pass>(tables: &'t Tables) -> Self {
        const { assert!(hash_of::<M>().is_none() || M::SHAPE.along().tables > 0) };
        Powers {
            rows: &tables.rows,
            count: POWERS,
            halves: match const { has_halves::<M>() } {
                true => Some(&tables.halves),
                false => None,
            },
            four: false,
        }
    }

    /// Tables without the sums of halves: all powers, made for one message, or those of a mode that does not hash.
    #[inline(always)]
    pub(crate) fn without_halves(rows: &'t Rows) -> Self {
        Powers {
            rows,
            count: POWERS,
            halves: None,
            four: false,
        }
    }

    /// From the n-th power to the first.
    #[cfg(feature = "research")]
    #[inline(always)]
    pub(crate) fn last(&self, n: usize) -> &'t [Block] {
        &self.rows[self.count - n..self.count]
    }

    /// The few of a key that is one of many.
    #[inline(always)]
    pub(crate) fn few(rows: &'t FewRows) -> Self {
        Powers {
            rows,
            count: FEW_POWERS,
            halves: None,
            four: false,
        }
    }

    /// The same, for four products of two blocks. Where the sums of halves are not kept, to make them takes
    /// longer than a fourth product, but on CPUs on which a product of 512 bits takes two cycles, as on Zen 5.
    #[inline(always)]
    pub(crate) fn for_four(self) -> Self {
        Powers {
            halves: None,
            four: true,
            ..self
        }
    }
}

/// The hash of one message, whose products are summed up before they are reduced: of a
/// run of n blocks `(hash ^ x_1) H^n ^ x_2 H^(n-1) ^ ... ^ x_n H`.
pub(crate) struct Hashing<'t, U: Isa> {
    u: U,
    /// The powers of H, from the last to the first.
    pub powers: Powers<'t>,
    /// How many lanes rows have.
    lanes: usize,
    /// The place of the next block's power.
    next: Cell<usize>,
    /// Blocks that come after this run.
    left: Cell<usize>,
    sums: Cell<Sums<U>>,
}

impl<'t, U: Isa<Unit = U>> Hashing<'t, U> {
    /// Of `blocks` blocks, the first `single` of which, fewer than rows have, are hashed one by one.
    #[inline(always)]
    pub(crate) fn new(
        u: U,
        (powers, lanes): (Powers<'t>, usize),
        single: usize,
        blocks: usize,
    ) -> Self {
        let hashing = Hashing {
            u,
            powers,
            lanes,
            next: Cell::new(0),
            left: Cell::new(blocks),
            sums: Cell::new([u.splat(&[0; 16]); 3]),
        };
        hashing.begin(single);
        hashing
    }

    /// The sums of the last run, spread over all lanes.
    #[inline(always)]
    pub(crate) fn sums(&self) -> Sums<U> {
        let [low, middle, high] = self.sums.get();
        match self.powers.four {
            true => [low, low ^ middle ^ high, high],
            false => [low, middle, high],
        }
    }

    /// Begins a run, of all blocks if there are as many powers; otherwise it ends where a row does.
    #[inline(always)]
    fn begin(&self, single: usize) {
        let (left, count) = (self.left.get(), self.powers.count);
        let run = match left > count {
            true => single + (count - single) / self.lanes * self.lanes,
            false => left,
        };
        self.next.set(count - run);
        self.left.set(left - run);
    }

    /// The place of the first of the next `blocks` blocks' powers, and whether the run
    /// ends with them.
    #[inline(always)]
    pub(crate) fn advance(&self, blocks: usize) -> (usize, bool) {
        let at = self.next.get();
        let next = at + blocks;
        // `add` rests on it.
        assert!(next <= self.powers.count);
        self.next.set(next);
        (at, self.ends(next))
    }

    /// Whether all blocks are one run.
    #[inline(always)]
    pub(crate) fn is_one_run(&self) -> bool {
        self.left.get() == 0
    }

    /// Calls `f`, which hashes what comes `blocks` blocks later.
    #[inline(always)]
    pub(crate) fn ahead(&self, blocks: usize, f: impl FnOnce()) {
        let at = self.next.get();
        self.skip(blocks);
        f();
        self.next.set(at);
    }

    /// The next `blocks` blocks have been hashed.
    #[inline(always)]
    pub(crate) fn skip(&self, blocks: usize) {
        self.next.set(self.next.get() + blocks);
    }

    /// Whether a run ends here, and its sums are to be reduced.
    #[inline(always)]
    pub(crate) fn ends(&self, next: usize) -> bool {
        next == self.powers.count
    }

    /// Hashes the first `blocks` blocks of `hash ^ x`. Until a run ends, the hash is
    /// zero, as all is in the sums.
    #[inline(always)]
    pub(crate) fn hash<S: Isa<Unit = U>, F: Product>(
        &self,
        s: S,
        hash: S::W,
        x: S::W,
        blocks: usize,
    ) -> S::W {
        let (at, ends) = self.advance(blocks);
        self.add(s, hash ^ x, at, blocks);
        match ends {
            true => self.end::<S, F>(s),
            false => s.splat(&[0; 16]),
        }
    }

    #[inline(always)]
    pub(crate) fn end<S: Isa<Unit = U>, F: Product>(&self, s: S) -> S::W {
        self.begin(0);
        let sums = self.sums();
        self.sums.set([s.unit().splat(&[0; 16]); 3]);
        s.reduce::<F>(sums)
    }

    /// Adds the products of the first blocks of `x` with the powers from place `at` on,
    /// which `advance` has given.
    #[inline(always)]
    pub(crate) fn add<S: Isa<Unit = U>>(&self, s: S, x: S::W, at: usize, blocks: usize) {
        let Powers { rows, halves, .. } = self.powers;
        // SAFETY: there are `blocks` powers there, and room for a register.
        let powers = unsafe { row_of(s, rows.as_ptr().add(at), blocks) };
        let halves = match halves {
            // SAFETY: as above; they were written with the powers.
            Some(halves) => unsafe {
                Some(row_of(s, halves.as_ptr().cast::<Block>().add(at), blocks))
            },
            None if self.powers.four => None,
            None => Some(powers.sum_halves()),
        };
        let powers = (powers, halves);
        self.sums.set(s.add_products(self.sums.get(), x, powers));
    }

    /// The n-th power.
    #[inline(always)]
    pub(crate) fn power(&self, n: usize) -> &Block {
        &self.powers.rows[self.powers.count - n]
    }
}

/// The first `blocks` blocks of a row.
///
/// # Safety
/// They are there, and behind them memory up to a multiple of a register.
#[inline(always)]
unsafe fn row_of<S: Isa>(s: S, from: *const Block, blocks: usize) -> S::W {
    // SAFETY: the caller's.
    unsafe {
        // What lies beyond is multiplied by zeros.
        match blocks + <S::Unit as Isa>::LANES <= S::LANES {
            true => s.load_part(from.cast(), blocks * 16),
            false => s.load(from.cast()),
        }
    }
}

/// A block of the message by itself, in the first lane, or a register of associated data.
#[derive(Clone, Copy)]
pub(crate) struct Single<'k, 't, U: Isa> {
    pub c: Uniform<'k, U>,
    pub hashing: &'t Hashing<'t, U>,
    /// So many blocks are hashed: one, whatever is in the other lanes, or more, after which there are zeros.
    pub blocks: usize,
}

impl<U: Isa<Unit = U>> Cipher for Single<'_, '_, U> {
    type W = U::W;

    as_before!();

    #[inline(always)]
    fn hash<F: Product>(&self, hash: U::W, x: U::W) -> U::W {
        let u = self.hashing.u;
        // SAFETY: a block is readable.
        let first = unsafe { u.load_first([0xff; 16].as_ptr(), 16) };
        let x = match self.blocks {
            1 => x & first,
            _ => x,
        };
        self.hashing.hash::<U, F>(u, hash, x, self.blocks)
    }
}

/// Hashes of messages in lanes, whose texts have as many blocks: from the text on, products are summed
/// up, and reduced after the last block, which is hashed with the first power.
pub(crate) struct EqualHashing<S: Isa, P> {
    s: S,
    powers: P,
    /// How many blocks are left; 0 before the text.
    left: Cell<usize>,
    sums: Cell<[S::W; 3]>,
    /// A row that waits for its turn, if rows are hashed late.
    late: Cell<Option<S::W>>,
}

/// What hashes them; `ROWS` of which none is the last.
#[derive(Clone, Copy)]
pub(crate) struct Equal<'t, S: Isa, C, P, const ROWS: bool> {
    c: C,
    hashing: &'t EqualHashing<S, P>,
    /// How many bytes they have, where they are not whole, in all bytes.
    count: Option<S::W>,
    /// Whether a row is hashed after the next one is encrypted.
    late: bool,
}

/// Powers for messages in lanes.
pub(crate) trait PowersOfLanes<S: Isa>: Copy {
    /// The n-th, and the sums of the halves.
    fn get(&self, s: S, n: usize) -> (S::W, S::W);
}

/// Under one key.
impl<S: Isa> PowersOfLanes<S> for Powers<'_> {
    #[inline(always)]
    fn get(&self, s: S, n: usize) -> (S::W, S::W) {
        let at = self.count - n;
        let power = s.splat(&self.rows[at]);
        match self.halves {
            // SAFETY: they were written with the powers.
            Some(halves) => (power, s.splat(unsafe { &halves.assume_init_ref()[at] })),
            None => (power, power.sum_halves()),
        }
    }
}

/// With a key for each lane.
impl<U: Isa> PowersOfLanes<U> for [&FewRows; MAX_UNIT] {
    #[inline(always)]
    fn get(&self, u: U, n: usize) -> (U::W, U::W) {
        let at = FEW_POWERS - n;
        // SAFETY: each has a block there.
        let power = unsafe { u.gather(self.as_ptr().cast::<*const u8>(), at * 16) };
        (power, power.sum_halves())
    }
}

impl<S: Isa, P: PowersOfLanes<S>> EqualHashing<S, P> {
    #[inline(always)]
    pub(crate) fn new(s: S, powers: P) -> Self {
        EqualHashing {
            s,
            powers,
            left: Cell::new(0),
            sums: Cell::new([s.splat(&[0; 16]); 3]),
            late: Cell::new(None),
        }
    }

    /// The text begins: after it, the last block makes `blocks`, at most as many as there are powers.
    #[inline(always)]
    pub(crate) fn begin(&self, blocks: usize) {
        self.left.set(blocks);
    }

    /// All but the last block are in these sums.
    #[inline(always)]
    pub(crate) fn set(&self, sums: [S::W; 3]) {
        self.sums.set(sums);
        self.left.set(1);
    }

    /// Hashes the row that waits, if there is one.
    #[inline(always)]
    pub(crate) fn settle(&self) {
        if let Some(x) = self.late.take() {
            self.add(x, self.left.get() + 1);
        }
    }

    /// The state after a text, of which the hash is in the sums if no block is hashed after it.
    #[inline(always)]
    pub(crate) fn end<M: Pass>(&self, state: M::State<S::W>) -> M::State<S::W> {
        self.settle();
        if const { hashed_after::<M>() > 0 } {
            return state;
        }
        let sum = reduced::<S, M>(self.sums.get());
        M::State::from_fn(
            #[inline(always)]
            |i| match (state.blocks().get(i), const { hash_of::<M>() }) {
                (Some(x), Some((hash, _))) if i == hash => *x ^ sum,
                (Some(x), _) => *x,
                (None, _) => sum,
            },
        )
    }

    /// Adds the products of `x` with the n-th powers.
    #[inline(always)]
    fn add(&self, x: S::W, n: usize) {
        let power = self.powers.get(self.s, n);
        self.sums.set(S::W::add_product(self.sums.get(), x, power));
    }

    /// The cipher of whole messages.
    #[inline(always)]
    pub(crate) fn cipher<C: Cipher<W = S::W>>(&self, c: C) -> Equal<'_, S, C, P, false> {
        Equal {
            c,
            hashing: self,
            count: None,
            late: false,
        }
    }

    /// The cipher of the next rows, hashed `late` if so: `settle` follows them.
    #[inline(always)]
    pub(crate) fn rows<C: Cipher<W = S::W>>(&self, c: C, late: bool) -> Equal<'_, S, C, P, true> {
        Equal {
            c,
            hashing: self,
            count: None,
            late,
        }
    }

    /// The cipher of a row of whose blocks `count` bytes count.
    #[inline(always)]
    pub(crate) fn part<C: Cipher<W = S::W>>(&self, c: C, count: S::W) -> Equal<'_, S, C, P, true> {
        Equal {
            c,
            hashing: self,
            count: Some(count),
            late: false,
        }
    }
}

impl<S, C, P, const ROWS: bool> Cipher for Equal<'_, S, C, P, ROWS>
where
    S: Isa,
    C: Cipher<W = S::W>,
    P: PowersOfLanes<S>,
{
    type W = S::W;

    as_before!();

    #[inline(always)]
    fn within(&self, y: S::W) -> S::W {
        match self.count {
            Some(count) => y & count.first_bytes(),
            None => y,
        }
    }

    #[inline(always)]
    fn hash<F: Product>(&self, hash: S::W, x: S::W) -> S::W {
        let hashing = self.hashing;
        let n = hashing.left.get();
        if !ROWS && n == 0 {
            return self.c.hash::<F>(hash, x);
        }
        hashing.left.set(n - 1);
        if self.late {
            if let Some(before) = hashing.late.replace(Some(hash ^ x)) {
                hashing.add(before, n + 1);
            }
            return self.c.zero();
        }
        hashing.add(hash ^ x, n);
        match !ROWS && n == 1 {
            true => S::W::reduced::<F>(hashing.sums.get()),
            false => self.c.zero(),
        }
    }
}

/// So many powers there are of the keys of lanes, for as many rows to be summed up.
pub(crate) const SUMMED_ROWS: usize = 4;

/// Of each power, from the last to the first: a row of it, and of the sum of its halves.
pub(crate) type LanePowers = [[[Block; MAX_LANES]; 2]; SUMMED_ROWS];

/// The powers of the first constants of keys.
#[inline(always)]
pub(crate) fn lane_powers<S: Isa, M: Pass>(s: S, first: S::W, powers: &mut LanePowers) {
    let mut power = first;
    for [row, halves] in powers.iter_mut().rev() {
        s.store_row(power, row);
        s.store_row(power.sum_halves(), halves);
        power = match const { hash_of::<M>() } {
            Some((_, true)) => power.mul::<Polyval>(first),
            _ => power.mul::<Plain>(first),
        };
    }
}

/// Whether some rows of messages in lanes are summed up before they are reduced. With more state than
/// a hash and a counter, registers do not suffice.
pub(crate) const fn has_summed_rows<S: Isa, M: Pass>() -> bool {
    S::ROUNDS && hash_of::<M>().is_some() && M::SHAPE.along().blocks.len() <= 2
}

/// Rows of messages in lanes, of whose hashes the products are summed up.
pub(crate) struct RowSums<'t, S: Isa, C> {
    s: S,
    c: &'t C,
    powers: &'t LanePowers,
    /// The place of the next row's power, and the sums.
    next: &'t Cell<usize>,
    sums: &'t Cell<[S::W; 3]>,
}

impl<S: Isa, C> Clone for RowSums<'_, S, C> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<S: Isa, C> Copy for RowSums<'_, S, C> {}

impl<S: Isa, C: Cipher<W = S::W>> Cipher for RowSums<'_, S, C> {
    type W = S::W;

    as_before!();

    #[inline(always)]
    fn hash<F: Product>(&self, hash: S::W, x: S::W) -> S::W {
        let at = self.next.get();
        self.next.set(at + 1);
        let [power, halves] = &self.powers[at];
        let power = (self.s.load_row(power), self.s.load_row(halves));
        self.sums
            .set(S::W::add_product(self.sums.get(), hash ^ x, power));
        self.zero()
    }
}

/// Takes `state` through the next `rows` rows, at most [`SUMMED_ROWS`], which are done by `take`.
#[inline(always)]
pub(crate) fn sum_rows<S: Isa, M: Pass, C: Cipher<W = S::W>>(
    s: S,
    c: &C,
    powers: &LanePowers,
    state: &mut M::State<S::W>,
    rows: usize,
    take: impl FnOnce(&RowSums<'_, S, C>, &mut M::State<S::W>),
) {
    let next = &Cell::new(SUMMED_ROWS - rows);
    let sums = &Cell::new([c.zero(); 3]);
    let sums_of_rows = &RowSums {
        s,
        c,
        powers,
        next,
        sums,
    };
    take(sums_of_rows, state);
    let Some((hash, _)) = (const { hash_of::<M>() }) else {
        return;
    };
    let sum = reduced::<S, M>(sums.get());
    *state = M::State::from_fn(
        #[inline(always)]
        |i| match state.blocks().get(i) {
            Some(_) if i == hash => sum,
            Some(x) => *x,
            None => sum,
        },
    );
}

/// What sums of products come to in the field of the hash.
#[inline(always)]
fn reduced<S: Isa, M: Pass>(sums: [S::W; 3]) -> S::W {
    match const { hash_of::<M>() } {
        Some((_, true)) => S::W::reduced::<Polyval>(sums),
        _ => S::W::reduced::<Plain>(sums),
    }
}

/// Which block of state is a hash, and in which field.
pub(crate) const fn hash_of<M: Pass>() -> Option<(usize, bool)> {
    let mut i = 0;
    while i < M::SHAPE.along().blocks.len() {
        if let Holds::Hash { polyval, .. } = M::SHAPE.along().blocks[i] {
            return Some((i, polyval));
        }
        i += 1;
    }
    None
}

/// How many blocks are hashed after a text.
pub(crate) const fn hashed_after<M: Pass>() -> usize {
    !hashes_text_alone::<M>() as usize
}

/// Whether what is hashed is the text alone.
const fn hashes_text_alone<M: Pass>() -> bool {
    match hash_of::<M>() {
        Some((i, _)) => matches!(M::SHAPE.along().blocks[i], Holds::Hash { alone: true, .. }),
        None => false,
    }
}

/// Whether associated data is hashed as blocks before the text: `absorb` does that alone, and `absorb_last`
/// with what rows leave.
pub(crate) const fn hashes_data<M: Pass>() -> bool {
    M::SHAPE.data.is_some() && hash_of::<M>().is_some() && !hashes_text_alone::<M>()
}

/// Whether tables have the halves of powers: those that keys keep have them, whichever pass made them,
/// as another may hash with them. Of keys that are used once, they would cost more than they save.
pub(crate) const fn has_halves<M: Pass>() -> bool {
    M::SHAPE.own.is_none()
}
