//! Four messages under one key, or under a key each, from their beginnings to their ends: what is
//! done once a message is done for all of them, in a lane for each. Short ones have
//! their blocks in these lanes, too; the rows of others are done one message after the other.
//!
//! `unsafe` here rests on the facts stated for [`Job`] in `job.rs`.
#![allow(unsafe_code)]

use crate::backend::{has_slow_products, is_ice_lake, is_zen1_to_4};
use crate::block::{
    Aligned, Block, FEW_POWERS, FewRows, LINE, MAX_LANES, MAX_UNIT, POWERS, Rows, Tables,
};
use crate::cipher::{Cipher, Uniform};
use crate::crowding::has_stages;
use crate::expanded::{Expanded, FirstRounds};
use crate::facts::Few;
use crate::fetch::fetch_own;
use crate::hashing::{EqualHashing, Hashing, Powers, PowersOfLanes, hash_of, hashed_after};
use crate::isa::{Isa, Starts, Sums, Wide};
use crate::job::{Alike, Job};
use crate::key_set::KeySet;
use crate::lane_keys::LaneKeys;
use crate::parts::{nowhere, some, some_mut};
use crate::pass::{
    Header, MAX_STATE, Pass, Program, State, has_chain, per_lane, rows, second_has_tag, select,
};
use crate::places::{self, LAST_BYTES, Places, Start};
use crate::rows::{
    Begin, Ciphers, MaskWindows, Mixed, all_rows, counter_of, has_registers, has_windows,
    hashes_results, is_stepped, lane_mask, last_row, mask_of, take_row, take_rows, waits,
};
use crate::shape::{Holds, Shape};
use crate::solo::{SHORT_DATA, absorb, has_solos, header, is_chain, whole};
use crate::stage::Stage;

/// A register of `S`.
type UnitOf<S> = <<S as Isa>::Unit as Isa>::W;
/// A block of each message.
type QuadOf<S> = <<S as Isa>::Quad as Isa>::W;

/// The state of the first pass of `G`, in a register.
type StateOf<S, G> = <<G as Program>::First as Pass>::State<UnitOf<S>>;
/// The same of each message.
type QuadState<S, G> = <<G as Program>::First as Pass>::State<QuadOf<S>>;

/// Whether `M` has messages that are done a few at a time: of its state, one block at most is a sum,
/// and two are something else. (Where a register has one block, GCM of 256 bytes would take 1.5 of the time.)
pub(crate) const fn has_few<S: Isa, M: Pass>() -> bool {
    let fits = block_of::<M>(true, 1).is_none() && block_of::<M>(false, 2).is_none();
    has_registers::<S>() && has_solos::<S, M>() && fits && <S::Unit as Isa>::LANES > 1
}

/// Whether short messages of `G` are done a few at a time, by [`short`]. Where it is serial, the CPU
/// overlaps them with the next few by itself. Where blocks depend on no state, one message alone
/// would leave most of a register empty.
pub(crate) const fn has_short<S: Isa, G: Program>() -> bool {
    let (first, second) = (G::First::SHAPE, G::Second::SHAPE);
    let lanes = <S::Unit as Isa>::LANES;
    let plain = (first.is_serial() || first.is_in_order())
        && (second.is_serial() || second.is_in_order())
        && first.own.is_none();
    let blocks = first.row.stride == 16 && second.row.stride == 16;
    plain && blocks && lanes > 1 && lanes <= MAX_UNIT && has_registers::<S>()
}

/// Whether [`short`] does the messages of a batch, and then whether they are of one length. `alike`
/// says which of their lengths are known to be the same.
#[inline(always)]
pub(crate) fn are_short<S: Isa, G: Program>(jobs: &[Job], alike: Alike) -> Option<bool> {
    let chains = const { has_chain::<G>() };
    // Longer ones of a serial mode would wait for themselves; others fill registers.
    let most = <S::Unit as Isa>::LANES * if chains { 24 } else { 12 };
    let even = are_of_one_length(jobs, alike, most);
    let short = even || chains && jobs.iter().all(|job| job.len <= MIXED);
    (short && are_like::<G>(jobs, alike)).then_some(even)
}

/// Whether messages of `G` that are of one length go side by side in all registers, from beginning
/// to end without lanes that are filled.
pub(crate) const fn has_even<S: Isa, G: Program>() -> bool {
    let blocks = G::First::SHAPE.row.stride == 16;
    is_chain::<G>() && blocks && has_registers::<S>()
}

/// Whether messages of a batch go this way.
#[inline(always)]
pub(crate) fn are_even<S: Isa, G: Program>(jobs: &[Job], alike: Alike) -> bool {
    jobs.len() >= S::LANES && are_of_one_length(jobs, alike, EVEN_TO) && are_like::<G>(jobs, alike)
}

/// Whether those of a mode along messages do, under a key with tables. Of more than four registers, the
/// sums of hashes would not stay in registers.
pub(crate) const fn has_even_along<S: Isa, G: Program>() -> bool {
    let few = S::LANES <= 4 * <S::Unit as Isa>::LANES;
    has_registers::<S>() && has_solos::<S, G>() && (few || hash_of::<G::First>().is_none())
}

/// Whether messages of a batch go this way, in a mode along messages.
#[inline(always)]
pub(crate) fn are_even_along<S: Isa, G: Program>(jobs: &[Job], alike: Alike) -> bool {
    let below = const { lanes_below::<S, G::First>() };
    are_even::<S, G>(jobs, alike) && jobs[0].len < below
}

/// Longer messages have little of what filling lanes costs, and may displace each other's lines.
const EVEN_TO: usize = 512;

/// How many of the messages of one length are better done side by side in all registers than a few
/// at a time: those of one or two blocks are overlapped by the CPU. Zen 1 to Zen 4 look less far ahead: there
/// chains of two whole blocks are better off, too, and of many messages those of one; on Ice Lake, of many
/// messages that only make tags, those of one and two.
#[inline(always)]
pub(crate) fn not_few<S: Isa, G: Program>(jobs: &[Job]) -> usize {
    let (len, count) = (jobs[0].len, jobs.len());
    let tags_only = const { !G::First::SHAPE.output };
    let short = const { is_chain::<G>() }
        && match is_zen1_to_4() {
            true => (len > 16 || count >= MANY) && (tags_only || len.is_multiple_of(16)),
            false => tags_only && count >= MANY && is_ice_lake(),
        };
    match const { has_chain::<G>() } && (len > 32 || short) {
        true => count - count % S::LANES,
        false => 0,
    }
}

/// So many messages of one block, or two, are better done side by side there.
const MANY: usize = 96;

#[inline(always)]
fn are_of_one_length(jobs: &[Job], alike: Alike, most: usize) -> bool {
    jobs.first().is_some_and(|first| {
        first.len <= most && (alike.texts() || jobs.iter().all(|job| job.len == first.len))
    })
}

/// Whether all parts but the texts are of the same lengths, and short.
#[inline(always)]
fn are_like<G: Program>(jobs: &[Job], alike: Alike) -> bool {
    let vector = const { G::First::SHAPE.strings().vector || G::Second::SHAPE.strings().vector };
    let one = |job: &Job| job.components == jobs[0].components && job.components <= 1;
    // Without such parts, all lengths but the text's are fixed by the mode.
    let parts = const { has_parts(G::First::SHAPE) || has_parts(G::Second::SHAPE) };
    (!parts || alike.data() && jobs[0].data_len <= SHORT_DATA) && (!vector || jobs.iter().all(one))
}

/// Whether there are headers, associated data or tags.
const fn has_parts(shape: Shape) -> bool {
    shape.header > 0 || shape.data.is_some() || shape.tag
}

/// Does `N` messages for which [`are_short`] holds, or [`are_even`], and whose texts are of one
/// length if they are `EVEN`. In modes that hash, the key has these `powers`. Where tags are compared, `verdicts` receive what they differ by from
/// those that were given.
#[inline(always)]
pub(crate) fn short<S: Isa, G: Program, const N: usize, const EVEN: bool>(
    c: Uniform<'_, S>,
    (key, powers): (&Expanded, Powers<'_>),
    jobs: &[Job; N],
    verdicts: Option<&mut [Block; N]>,
    mut stage: Option<&mut Stage>,
) {
    let given = G::HAS_TAGS || verdicts.is_some();
    let few = Few::new(c.s, jobs, key, given).even(EVEN);
    let few = &few.again(G::AGAIN);
    let h = header::<_, G, N>(few, None);
    let (first, second) = match const { second_has_tag::<G>() } {
        true => (None, verdicts),
        false => (verdicts, None),
    };
    let tag = short_pass::<S, G::First, N, EVEN>(few, (c, powers), h, first, stage.as_deref_mut());
    if const { G::TWO } {
        let h = header::<_, G, N>(few, Some(tag));
        let few = Few::new(c.s, jobs, key, second.is_some()).even(EVEN);
        let few = &few.again(G::Second::SHAPE.again);
        short_pass::<S, G::Second, N, EVEN>(few, (c, powers), h, second, stage);
    }
}

#[inline(always)]
fn short_pass<S: Isa, M: Pass, const N: usize, const EVEN: bool>(
    few: &Few<'_, S, N>,
    (c, powers): (Uniform<'_, S>, Powers<'_>),
    h: Header<S::W>,
    verdicts: Option<&mut [Block; N]>,
    stage: Option<&mut Stage>,
) -> S::W {
    if const { hash_of::<M>().is_none() } {
        return whole::<S, M, N, true>(
            few,
            &c,
            h,
            verdicts,
            #[inline(always)]
            |state| absorb::<S, M, N>(few, &c, state),
            #[inline(always)]
            |state| match const { EVEN } {
                true => even_rows::<S, M, N>(few, &c, state, stage),
                false => mixed::<S, M, N>(few, c, state),
            },
        );
    }
    let hashing = &EqualHashing::new(c.s, powers);
    let all = &hashing.cipher(c);
    whole::<S, M, N, true>(
        few,
        all,
        h,
        verdicts,
        #[inline(always)]
        |state| absorb::<S, M, N>(few, all, state),
        #[inline(always)]
        |state| {
            let blocks = in_rows::<M>(few.jobs[0].len).div_ceil(16);
            hashing.begin(blocks + const { hashed_after::<M>() });
            let c = hashing.rows(c, const { hashes_results::<M>() });
            hashing.end::<M>(even_rows::<S, M, N>(few, &c, state, None))
        },
    )
}

/// Whole blocks of messages of one length, at most `EVEN_TO` bytes if there is a `stage`.
#[inline(always)]
fn even_rows<S: Isa, M: Pass, const N: usize>(
    few: &Few<'_, S, N>,
    c: &impl Cipher<W = S::W>,
    mut state: M::State<S::W>,
    stage: Option<&mut Stage>,
) -> M::State<S::W> {
    let (src, dst) = few.starts();
    let rows = 0..rows::<M>(few.jobs[0].len);
    // SAFETY: there are so many jobs, which have so many whole blocks.
    unsafe {
        if const { has_stages::<S, M>() }
            && let Some(stage) = stage
            // One line of each is read once.
            && (const { M::SHAPE.output } || rows.end > 1)
        {
            let (u, len) = (few.s.unit(), rows.end);
            let texts = (0..N).map(|l| (src.of(l).cast_const(), len));
            let end = stage.cleared().fill(u, texts, 0);
            assert!(len <= end);
            let staged = stage.starts();
            take_rows::<S, M, _>(few.s, c, &mut state, rows, (staged, staged), &mut ());
            if const { M::SHAPE.output } {
                stage.empty(u, (0..N).map(|l| (dst.of(l), len)), len);
            }
            return state;
        }
        if const { N <= MAX_UNIT } {
            // In registers.
            let (mut from, mut to) = ([nowhere().cast_const(); N], [nowhere(); N]);
            for l in 0..N {
                (from[l], to[l]) = (src.of(l), dst.of(l));
            }
            let text = (from.as_ptr(), to.as_ptr());
            take_rows::<S, M, _>(few.s, c, &mut state, rows, text, &mut ());
        } else {
            take_rows::<S, M, _>(few.s, c, &mut state, rows, (src, dst), &mut ());
        }
    }
    state
}

/// Whether a message's last bytes are done as a row. (Modes in the caller's order get here by [`short`], which
/// always does a `finish`.)
const fn ends_in_rows<M: Pass>() -> bool {
    M::SHAPE.is_along() && M::SHAPE.along().ends_alike
}

/// How many bytes of a message are done as rows; `finish` does what is left.
#[inline(always)]
fn in_rows<M: Pass>(len: usize) -> usize {
    match const { ends_in_rows::<M>() } {
        true => len,
        false => rows::<M>(len) * M::SHAPE.row.stride,
    }
}

/// The keys of a few messages.
pub(crate) trait FewKeys<'k, S: Isa, M: Pass> {
    /// How many powers rows of one message have.
    const POWERS: usize;
    /// Messages of fewer bytes have their blocks in their lanes, if all have as many blocks.
    const LANES_BELOW: usize = lanes_below::<S, M>();

    /// Messages of at most so many bytes have them in any case.
    const MIXED: usize = mixed_along::<S, M>();
    /// Whether the table of `counting` is the key's.
    const KEYED: bool = true;

    fn unit(&self) -> S::Unit;
    fn quad(&self) -> S::Quad;
    fn set(&self) -> KeySet<'k>;
    /// Of lanes.
    fn lanes(&self) -> impl Cipher<W = QuadOf<S>> + 'k;
    /// For blocks in lanes.
    fn powers(&self) -> impl PowersOfLanes<S::Quad> + 'k;
    /// The table for counters of messages one by one, if there is one, and what [`Places`] of
    /// messages with these `counters` begin with.
    fn counting(&self, counters: QuadOf<S>) -> Option<(&'k FirstRounds, QuadOf<S>)>;
    /// Makes what `under` wants for `jobs`.
    fn prepare(&mut self, jobs: &[Job; MAX_UNIT]);
    /// Fetches what a message wants that comes some time after message `l`.
    #[inline(always)]
    fn fetch(&self, _l: usize, _far: bool) {}
    /// Calls `f` with the key of message `l`.
    fn under<R>(&self, l: usize, f: impl FnOnce(&Ciphers<'_, S>, Powers<'_>) -> R) -> R;
}

/// One key for all.
pub(crate) struct OneKey<'k, S: Isa> {
    pub ciphers: &'k Ciphers<'k, S>,
    pub key: &'k Expanded,
    pub tables: (&'k Tables, Option<&'k FirstRounds>),
}

impl<'k, S: Isa, M: Pass> FewKeys<'k, S, M> for OneKey<'k, S> {
    const POWERS: usize = POWERS;

    #[inline(always)]
    fn unit(&self) -> S::Unit {
        self.ciphers.unit.s
    }

    #[inline(always)]
    fn quad(&self) -> S::Quad {
        self.ciphers.quad.s
    }

    #[inline(always)]
    fn set(&self) -> KeySet<'k> {
        self.key.into()
    }

    #[inline(always)]
    fn lanes(&self) -> impl Cipher<W = QuadOf<S>> + 'k {
        self.ciphers.quad
    }

    #[inline(always)]
    fn powers(&self) -> impl PowersOfLanes<S::Quad> + 'k {
        Powers::of::<M>(self.tables.0)
    }

    #[inline(always)]
    fn counting(&self, counters: QuadOf<S>) -> Option<(&'k FirstRounds, QuadOf<S>)> {
        let base = places::base(&self.ciphers.quad, counters);
        self.tables.1.map(|table| (table, base))
    }

    #[inline(always)]
    fn prepare(&mut self, _: &[Job; MAX_UNIT]) {}

    #[inline(always)]
    fn under<R>(&self, _: usize, f: impl FnOnce(&Ciphers<'_, S>, Powers<'_>) -> R) -> R {
        f(self.ciphers, Powers::of::<M>(self.tables.0))
    }
}

/// A key for each.
pub(crate) struct KeyEach<'k, 'm, S: Isa> {
    pub s: S,
    pub set: KeySet<'k>,
    pub of: [&'k Expanded; MAX_UNIT],
    /// The keys in lanes.
    pub lanes: &'k LaneKeys<MAX_UNIT>,
    /// Powers, in modes that hash.
    pub powers: [&'k FewRows; MAX_UNIT],
    /// Memory for tables, in others.
    pub tables: &'m mut [Rows; MAX_UNIT],
    /// The messages, and those after them.
    pub jobs: &'k [Job],
}

impl<'k, S: Isa, M: Pass> FewKeys<'k, S, M> for KeyEach<'k, '_, S> {
    const POWERS: usize = FEW_POWERS;
    // A row of one message begins with its keys; a step of a hash waits for the one before.
    const MIXED: usize = match hash_of::<M>().is_some() {
        true => mixed_along::<S, M>(),
        false => 4 * MIXED,
    };
    const KEYED: bool = false;
    // Rows of one message take one key, lanes four.
    const LANES_BELOW: usize = match (hash_of::<M>().is_some(), M::SHAPE.output) {
        (true, true) => 128,
        (true, false) => 192,
        (false, true) if <S::Unit as Isa>::LANES == LINE => 224,
        (false, _) => lanes_below::<S, M>(),
    };

    #[inline(always)]
    fn unit(&self) -> S::Unit {
        self.s.unit()
    }

    #[inline(always)]
    fn quad(&self) -> S::Quad {
        self.s.quad()
    }

    #[inline(always)]
    fn set(&self) -> KeySet<'k> {
        self.set
    }

    #[inline(always)]
    fn lanes(&self) -> impl Cipher<W = QuadOf<S>> + 'k {
        per_lane::<_, M, _>(self.s.quad(), self.lanes)
    }

    #[inline(always)]
    fn powers(&self) -> impl PowersOfLanes<S::Quad> + 'k {
        self.powers
    }

    #[inline(always)]
    fn counting(&self, counters: QuadOf<S>) -> Option<(&'k FirstRounds, QuadOf<S>)> {
        Some((
            &LAST_BYTES,
            places::plain_base(
                self.s.quad(),
                counters,
                self.s.quad().load_row(self.lanes.round_key(0)),
            ),
        ))
    }

    #[inline(always)]
    fn fetch(&self, l: usize, far: bool) {
        fetch_own::<S, M>(self.s, self.set, &self.jobs[l..], far);
    }

    #[inline(always)]
    fn prepare(&mut self, jobs: &[Job; MAX_UNIT]) {
        if const { hash_of::<M>().is_none() && M::SHAPE.along().tables > 0 } {
            for ((key, tables), job) in self.of.iter().zip(&mut *self.tables).zip(jobs) {
                M::tables(self.s, key, rows::<M>(job.len), tables);
            }
        }
    }

    #[inline(always)]
    fn under<R>(&self, l: usize, f: impl FnOnce(&Ciphers<'_, S>, Powers<'_>) -> R) -> R {
        let key = self.of[l];
        let keys = self.s.keys(key, M::SHAPE.uses);
        let ciphers = &Ciphers::new::<M>(self.s, (&keys, key));
        if const { hash_of::<M>().is_none() } {
            return f(ciphers, Powers::without_halves(&self.tables[l]));
        }
        let powers = Powers::few(self.powers[l]);
        // Code for each, as a choice at each product would cost what it gains.
        match has_slow_products() {
            true => f(ciphers, powers),
            false => f(ciphers, powers.for_four()),
        }
    }
}

/// Does four messages, of which the nonces, associated data and tags are of the same lengths.
/// Where tags are compared, `verdicts` receive what they differ by from those that were given.
/// `far`: the batch is larger than the caches.
#[inline(always)]
pub(crate) fn few<'k, S: Isa, G: Program, K: FewKeys<'k, S, G::First>>(
    keys: K,
    jobs: &[Job; MAX_UNIT],
    verdicts: Option<&mut [Block; MAX_UNIT]>,
    far: bool,
) {
    const {
        let most = 16 * (K::POWERS - hashed_after::<G::First>());
        assert!(hash_of::<G::First>().is_none() || K::LANES_BELOW <= most);
        assert!(<S::Quad as Isa>::LANES == MAX_UNIT);
    };
    let q = keys.quad();
    let given = G::HAS_TAGS || verdicts.is_some();
    let few = &Few::new(q, jobs, keys.set(), given).again(G::AGAIN);
    let h = G::First::header(few);
    let hashing = &EqualHashing::new(q, keys.powers());
    let c = &hashing.cipher(keys.lanes());
    whole::<S::Quad, G::First, MAX_UNIT, false>(
        few,
        c,
        h,
        verdicts,
        #[inline(always)]
        |state| absorb::<S::Quad, G::First, MAX_UNIT>(few, c, state),
        #[inline(always)]
        |state| {
            let are_equal = jobs[0].len < K::LANES_BELOW && are_equal::<G::First>(jobs);
            if !are_equal && jobs.iter().any(|job| job.len > K::MIXED) {
                return one_by_one::<S, G, K>((keys, far), jobs, hashing, state);
            }
            for l in 0..MAX_UNIT {
                keys.fetch(l, far);
            }
            match are_equal {
                true => equal::<S::Quad, G::First, MAX_UNIT>(few, keys.lanes(), hashing, state),
                false => mixed::<S::Quad, G::First, MAX_UNIT>(few, keys.lanes(), state),
            }
        },
    );
}

/// Messages of more than so many bytes, of which the lengths differ, do not have their blocks in
/// their lanes: masks and places are worked out for each.
const MIXED: usize = 32;

/// The same of modes along messages. Of those that encrypt, a message by itself of up to four blocks
/// leaves most of the time of AES unused; less so where their lanes are more than one register.
const fn mixed_along<S: Isa, M: Pass>() -> usize {
    let most = match M::SHAPE.output {
        true => 2 * MIXED,
        false => MIXED,
    };
    match waits::<M>() {
        true => 4 * MIXED,
        false if <S::Unit as Isa>::LANES < <S::Quad as Isa>::LANES => most / 2,
        false => most,
    }
}

/// Below how many bytes messages of one length have their blocks in their lanes.
const fn lanes_below<S: Isa, M: Pass>() -> usize {
    match has_windows::<S, M>() && !waits::<M>() {
        // One shuffle makes the masks of a row's register, a double takes four instructions.
        true => M::SHAPE.along().lanes_below / 8 * 7,
        false => M::SHAPE.along().lanes_below,
    }
}

/// How many rows there are of a message's blocks in its lane.
#[inline(always)]
fn rows_of<M: Pass>(job: &Job) -> usize {
    match const { M::SHAPE.along().ends_alike } {
        // Of fewer instructions than `div_ceil`; no text is as long as to overflow.
        true => (job.len + 15) >> 4,
        false => rows::<M>(job.len),
    }
}

/// Whether they have as many rows in their lanes; of modes that gain little by it, whether they have
/// as many bytes, which is known sooner.
#[inline(always)]
fn are_equal<M: Pass>(jobs: &[Job]) -> bool {
    match const { M::SHAPE.along().ends_alike && M::SHAPE.output } {
        true => {
            let rows = rows_of::<M>(&jobs[0]);
            jobs.iter().all(|job| rows_of::<M>(job) == rows)
        }
        false => jobs.iter().all(|job| job.len == jobs[0].len),
    }
}

/// Blocks of messages that have as many, in their lanes.
#[inline(always)]
fn equal<U: Isa, M: Pass, const N: usize>(
    few: &Few<'_, U, N>,
    c: impl Cipher<W = U::W>,
    hashing: &EqualHashing<U, impl PowersOfLanes<U>>,
    mut state: M::State<U::W>,
) -> M::State<U::W> {
    let (u, jobs) = (few.s, few.jobs);
    let rows = rows_of::<M>(&jobs[0]);
    hashing.begin(rows + const { hashed_after::<M>() });
    let any = match const { M::SHAPE.along().ends_alike } {
        true => jobs.iter().fold(0, |any, job| any | job.len) % 16,
        false => 0,
    };
    let whole = rows - usize::from(any > 0);
    if const { M::SHAPE.row.pair } {
        return even_rows::<U, M, N>(few, &c, state, None);
    }
    for i in 0..whole {
        // SAFETY: they have so many whole blocks.
        unsafe {
            row::<U, M, N>(
                few,
                hashing.rows(c, false),
                &mut state,
                i * 16,
                #[inline(always)]
                |_| 16,
            )
        };
    }
    if whole < rows {
        let mut left = [0; MAX_UNIT];
        for (left, job) in left.iter_mut().zip(jobs) {
            *left = in_rows::<M>(job.len) - whole * 16;
        }
        let c = hashing.part(c, u.in_all_bytes(&left));
        // SAFETY: they have so many bytes left.
        unsafe {
            row::<U, M, N>(
                few,
                c,
                &mut state,
                whole * 16,
                #[inline(always)]
                |l| left[l],
            )
        };
    }
    hashing.end::<M>(state)
}

/// The same of messages whose lengths differ.
#[inline(always)]
fn mixed<U: Isa, M: Pass, const N: usize>(
    few: &Few<'_, U, N>,
    c: impl Cipher<W = U::W>,
    mut state: M::State<U::W>,
) -> M::State<U::W> {
    let (u, jobs) = (few.s, few.jobs);
    let most = jobs
        .iter()
        .fold(0, |most, job| in_rows::<M>(job.len).max(most));
    let bytes = const { M::SHAPE.row.bytes() };
    let mut done = 0;
    while done < most {
        let mut left = [0; MAX_LANES];
        for (left, job) in left.iter_mut().zip(jobs) {
            *left = in_rows::<M>(job.len).saturating_sub(done).min(16);
        }
        let count = u.in_all_bytes(&left);
        let before = state;
        if const { ends_in_rows::<M>() } {
            // SAFETY: they have so many bytes left.
            unsafe {
                row::<U, M, N>(
                    few,
                    Mixed::new(c, count),
                    &mut state,
                    done,
                    #[inline(always)]
                    |l| left[l],
                )
            };
        } else {
            // Whole rows, or none: lanes without one read zeros, and write to memory that is nobody's.
            let mut idle = [[0; 16]; 2];
            let mut src = [nowhere().cast_const(); N];
            let mut dst = [idle.as_mut_ptr().cast::<u8>(); N];
            for (l, job) in jobs.iter().enumerate() {
                if left[l] > 0 {
                    src[l] = few.source(l).wrapping_add(done);
                    dst[l] = job.dst.wrapping_add(done);
                }
            }
            let text = (src.as_ptr(), dst.as_ptr());
            // SAFETY: they have a row left; others have room for one.
            unsafe { take_row::<U, M>(u, &c, &mut state, done / bytes, text, 0) };
        }
        // What has ended keeps its state.
        state = select::<M, _>(count.any(), &state, &before);
        done += bytes;
    }
    state
}

/// A row of messages, of which each has so many bytes `left` from byte `done` on, at most 16.
///
/// # Safety
/// They have them.
#[inline(always)]
unsafe fn row<U: Isa, M: Pass, const N: usize>(
    few: &Few<'_, U, N>,
    c: impl Cipher<W = U::W>,
    state: &mut M::State<U::W>,
    done: usize,
    left: impl Fn(usize) -> usize + Copy,
) {
    let (u, jobs) = (few.s, few.jobs);
    // SAFETY: the caller's.
    unsafe {
        let x = u.gather_part(
            #[inline(always)]
            |l| some(few.source(l).wrapping_add(done), left(l)),
        );
        let y = M::step(&c, state, x, done / 16);
        if const { M::SHAPE.output } {
            u.scatter_part(
                y,
                #[inline(always)]
                |l| some_mut(jobs[l].dst.wrapping_add(done), left(l)),
            );
        }
    }
}

/// The rows of one message after the other.
#[inline(always)]
fn one_by_one<'k, S: Isa, G: Program, K: FewKeys<'k, S, G::First>>(
    (mut keys, far): (K, bool),
    jobs: &[Job; MAX_UNIT],
    hashing: &EqualHashing<S::Quad, impl PowersOfLanes<S::Quad>>,
    state: QuadState<S, G>,
) -> QuadState<S, G> {
    let (u, q) = (keys.unit(), keys.quad());
    let mut before = Aligned([[[0; 16]; MAX_UNIT]; MAX_STATE]);
    for (blocks, x) in before.0.iter_mut().zip(state.blocks()) {
        q.store_row(*x, blocks);
    }
    keys.prepare(jobs);
    let mut bases = Aligned([[0; 16]; MAX_UNIT]);
    let mut counting = None;
    if let Some((i, bits)) = const { counter_of::<S, G::First>() }
        && let Some((table, base)) = keys.counting(state.blocks()[i])
    {
        q.store_row(base, &mut bases.0);
        counting = Some((i, bits, table));
    }
    // A message ahead: otherwise its rows would wait, and the CPU would not see what comes after them.
    let mut ahead = None;
    let mask = const { mask_of::<G::First>() }.filter(|_| const { has_windows::<S, G::First>() });
    if let Some(i) = mask {
        ahead = Some(MaskWindows::new(u, u.splat(&before.0[i][0])));
    }
    let none = [u.splat(&[0; 16]); MAX_UNIT];
    let mut products = [none; 3];
    let mut sums = none;
    let mut places = [none; 2];
    for (l, job) in jobs.iter().enumerate() {
        keys.fetch(l, far);
        let counters = match counting {
            Some((i, bits, table)) => {
                let start = Start {
                    block: &before.0[i][l],
                    bits,
                    last_byte: G::First::last_byte(job.nonce()),
                };
                let base = u.splat(&bases.0[l]);
                Some(Places::new((table, K::KEYED), start, base))
            }
            None => None,
        };
        let counters = counters.as_ref();
        let state = StateOf::<S, G>::from_fn(
            #[inline(always)]
            |i| match counting {
                Some((counter, ..)) if counter == i => u.splat(&[0; 16]),
                _ => u.splat(&before.0[i.min(MAX_STATE - 1)][l]),
            },
        );
        let begin = (state, ahead);
        if l + 1 < MAX_UNIT
            && let Some(i) = mask
        {
            ahead = Some(MaskWindows::new(u, u.splat(&before.0[i][l + 1])));
        }
        let (after, sums_of_run) = keys.under(
            l,
            #[inline(always)]
            |c, powers| {
                if const { waits::<G::First>() || has_windows::<S, G::First>() } {
                    return all_of::<S, G, true>(c, powers, counters, (job, far), begin);
                }
                match rows::<G::First>(job.len) >= S::LANES {
                    true => all_of::<S, G, true>(c, powers, counters, (job, far), begin),
                    false => all_of::<S, G, false>(c, powers, counters, (job, far), begin),
                }
            },
        );
        if let Some(i) = const { block_of::<G::First>(true, 0) } {
            sums[l] = after.blocks()[i];
            for (all, one) in products.iter_mut().zip(sums_of_run) {
                all[l] = one;
            }
        }
        // Where the last row ends a message, its place is not used any more.
        if !const { G::First::SHAPE.along().ends_alike } {
            if let Some(i) = const { block_of::<G::First>(false, 0) } {
                places[0][l] = after.blocks()[i];
            }
            if let Some(i) = const { block_of::<G::First>(false, 1) } {
                places[1][l] = after.blocks()[i];
            }
        }
    }
    // A hash is in the sums, but where a run of powers or the message has no block after it.
    let is_zero = const { hash_of::<G::First>().is_some() && hashed_after::<G::First>() > 0 }
        && jobs
            .iter()
            .all(|job| (1..K::POWERS).contains(&rows_of::<G::First>(job)));
    let sums = match is_zero {
        true => q.splat(&[0; 16]),
        false => q.fold_each(&sums),
    };
    let [low, middle, high] = &products;
    let products = [q.fold_each(low), q.fold_each(middle), q.fold_each(high)];
    let [first, second] = places;
    let (first, second) = (in_lanes(q, first), in_lanes(q, second));
    let state = QuadState::<S, G>::from_fn(
        #[inline(always)]
        |i| match (
            const { block_of::<G::First>(true, 0) },
            const { block_of::<G::First>(false, 1) },
        ) {
            (Some(sum), _) if sum == i => sums,
            (_, Some(other)) if other == i => second,
            _ => first,
        },
    );
    if const { hash_of::<G::First>().is_some() } {
        hashing.set(products);
    }
    state
}

/// Lane `l` of `x[l]`.
#[inline(always)]
fn in_lanes<S: Isa>(s: S, [first, others @ ..]: [UnitOf<S>; MAX_UNIT]) -> S::W {
    let mut all = s.repeat(first);
    for (l, other) in others.into_iter().enumerate() {
        all = S::W::select(lane_mask(s, l + 1), s.repeat(other), all);
    }
    all
}

/// Which block of state is number `n` of the sums and hashes, or else of the others.
const fn block_of<M: Pass>(sum: bool, mut n: usize) -> Option<usize> {
    let mut i = 0;
    while i < M::SHAPE.along().blocks.len() {
        if matches!(M::SHAPE.along().blocks[i], Holds::Hash { .. } | Holds::Sum) == sum {
            if n == 0 {
                return Some(i);
            }
            n -= 1;
        }
        i += 1;
    }
    None
}

/// The rows of one message, and what comes of them as `all_rows` says, with hashes spread over
/// all lanes, too.
#[inline(always)]
fn all_of<S: Isa, G: Program, const LONG: bool>(
    c: &Ciphers<'_, S>,
    powers: Powers<'_>,
    places: Option<&Places<'_, S::Unit>>,
    (job, far): (&Job, bool),
    begin: Begin<S, G::First>,
) -> (StateOf<S, G>, Sums<S::Unit>) {
    let (len, rows) = (job.len, 0..rows::<G::First>(job.len));
    let hashing = &Hashing::new(
        c.unit.s,
        (powers, S::LANES),
        0,
        in_rows::<G::First>(len).div_ceil(16) + const { hashed_after::<G::First>() },
    );
    let text = match const { G::AGAIN } {
        true => (job.dst.cast_const(), job.dst),
        false => (job.src, job.dst),
    };
    let left = len % (S::LANES * 16);
    let before = LONG
        && const { ends_first::<S, G::First>() }
        && places.is_some()
        && left > 0
        && !far
        && hashing.is_one_run();
    let (mut rows, mut bytes) = (rows, len);
    if before && let Some(places) = places {
        let full = (len - left) / 16;
        (rows, bytes) = (0..full, len - left);
        // The hash so far is added to the first block of all.
        let zero = StateOf::<S, G>::from_fn(
            #[inline(always)]
            |_| c.unit.s.splat(&[0; 16]),
        );
        hashing.ahead(
            full,
            #[inline(always)]
            || {
                let end = (text.0, text.1, full, left);
                // SAFETY: it is inside the text.
                unsafe {
                    last_row::<S, G::First>(c, hashing, Some(&places.after(full)), end, zero)
                };
            },
        );
    }
    // SAFETY: rows and what they leave are inside the text.
    let state = unsafe {
        match const { G::First::SHAPE.along().ends_alike } {
            true => {
                all_rows::<S, G::First, LONG, true>(c, hashing, places, text, rows, bytes, begin)
            }
            false => {
                all_rows::<S, G::First, LONG, false>(c, hashing, places, text, rows, bytes, begin)
            }
        }
    };
    if before {
        hashing.skip(left.div_ceil(16));
    }
    (state, hashing.sums())
}

/// Whether what rows leave of a message is done before them: where its hash waits for the results, it
/// waits while the first row is encrypted. All state is hashes, which are sums, and counters. (Not in
/// batches larger than the caches: CPUs prefetch what is read and written in order.)
const fn ends_first<S: Isa, M: Pass>() -> bool {
    hashes_results::<M>() && !is_stepped::<S, M>()
}
