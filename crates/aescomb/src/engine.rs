//! The engine: does a stretch of a batch, in the caller's order or sorted into groups, in
//! lanes or one message at a time, and runs the kernels. One instance per mode, direction
//! and instruction set.

use crate::backend::{Backend, is_ice_lake, is_zen4, is_zen5};
use crate::block::{
    Block, FEW_POWERS, FEW_SUFFICE, FewRows, LINE, MAX_LANES, MAX_UNIT, NO_FEW_ROWS, NO_TABLES,
    Rows, Tables,
};
use crate::bytes::is_zero;
use crate::cipher::{Cipher, OutOfLine};
use crate::crowding::{
    HALF_SET, ROOM, SMALL_ROOM, STAGED_FROM, displace, displace_along, goes_by_lines, has_phases,
    has_stages, is_crowded, is_staged, phases_of, places_differ, room,
};
use crate::derived;
use crate::expanded::{Expanded, FewTables, FirstRounds};
use crate::fetch::{AHEAD, Beside, Coming, fetch, fetch_own};
use crate::few::{
    self, are_even, are_even_along, are_short, few, has_even, has_even_along, has_few, has_short,
    not_few, short,
};
use crate::group::{Group, Lanes};
use crate::hashing::{Powers, has_halves, has_summed_rows, hash_of, hashes_data};
use crate::isa::{Isa, Wide, dispatch};
use crate::job::{Alike, Job, Rest, not_by_vectors};
use crate::key_set::KeySet;
use crate::lane_keys::{DerivedKeys, LaneKeys};
use crate::pass::{After, Pass, Program, is_linked, link_of, per_lane, rows, uniform};
use crate::plan::{Queue, Windows};
use crate::rows::{
    Ciphers, LINES_FROM, counter_of, counters, has_registers, in_units, is_made, waits,
};
use crate::shape::{Holds, Link};
use crate::solo::{SHORT_DATA, alone, for_once, has_solos, is_chain, solo};
use crate::stage::Stage;
use alloc::boxed::Box;
use core::ops::Range;

/// Memory of the kernels, made once per scheduler.
pub(crate) struct Memory {
    queue: Queue,
    lanes: Box<Lanes>,
    keys: Box<LaneKeys<MAX_LANES>>,
    stage: Box<Stage>,
    /// Keys that a mode derives for each message.
    derived: Box<DerivedKeys>,
    /// For a few messages under keys of their own.
    few_keys: Box<LaneKeys<MAX_UNIT>>,
    few_powers: Box<[FewTables; MAX_UNIT]>,
    few_tables: Box<[Rows; MAX_UNIT]>,
}

impl Drop for Memory {
    fn drop(&mut self) {
        *self.few_tables = [NO_TABLES.rows; MAX_UNIT];
        zeroize::optimization_barrier(&*self.few_tables);
    }
}

impl Memory {
    pub(crate) fn new() -> Self {
        Memory {
            queue: Queue::default(),
            lanes: Box::new(Lanes::new()),
            keys: Box::new(LaneKeys::new()),
            stage: Box::new(Stage::new()),
            derived: Box::new(DerivedKeys::new()),
            few_keys: Box::new(LaneKeys::new()),
            few_powers: Box::new([const { FewTables(NO_FEW_ROWS) }; MAX_UNIT]),
            few_tables: Box::new([NO_TABLES.rows; MAX_UNIT]),
        }
    }
}

impl Memory {
    /// Wipes what it holds of texts, some of which may be of messages that failed.
    pub(crate) fn wipe_texts(&mut self) {
        self.stage.wipe();
    }
}

/// What there is to do. Functions take it by reference: a copy would wait for the stores that
/// made it.
pub(crate) struct Work<'a> {
    pub jobs: &'a [Job],
    pub alike: Alike,
    /// Whether the batch is too large for the caches.
    pub far: bool,
    pub keys: KeySet<'a>,
    pub memory: &'a mut Memory,
    /// The parallelism degree P.
    pub degree: usize,
    /// For each message the difference between its tag and the one that came with
    /// it, where tags are compared.
    pub verdicts: Option<&'a mut [Block]>,
}

impl Work<'_> {
    /// Whether texts are fetched before messages in lanes are done: on Zen 4 and Zen 5 that took about 0.8 of the
    /// time, on Zen 3 1.03 to 1.07, on Emerald Rapids 1.25 to 1.3 in serial modes and 1.15 in GCM-SIV.
    #[inline(always)]
    fn is_fetched(&self) -> bool {
        self.far && (is_zen4() || is_zen5())
    }

    /// The first `count` messages.
    #[inline(always)]
    fn first(&mut self, count: usize) -> Work<'_> {
        Work {
            jobs: &self.jobs[..count],
            memory: &mut *self.memory,
            verdicts: self.verdicts.as_deref_mut().map(|all| &mut all[..count]),
            ..*self
        }
    }

    /// The first `done` messages are done.
    #[inline(always)]
    fn skip(&mut self, done: usize) {
        self.jobs = &self.jobs[done..];
        self.verdicts = self.verdicts.take().map(|all| &mut all[done..]);
    }
}

/// A tag's difference from the one that came with the message, before it is known.
pub(crate) const FAILED: Block = [0xff; 16];

/// Runs `G` on all jobs.
pub(crate) fn batch<G: Program>(backend: Backend, work: &mut Work<'_>) {
    // Without a verdict, the tag of a message is written, and not compared.
    let verdicts = work.verdicts.as_ref();
    assert!(verdicts.is_none_or(|all| all.len() == work.jobs.len()));
    let backend = match backend {
        Backend::Vaes512
            if const { is_linked::<G::First>() }
                && is_zen4()
                && are_for_256_bits::<G::First>(work) =>
        {
            Backend::Vaes256Vl
        }
        backend => backend,
    };
    // Zen 4 holds keys of fewer lanes rather than load those of more. Of texts at one place of a page, half of
    // twice as many lanes would be idle.
    let holds = || is_zen4() || places_differ::<G::First>(work.jobs) == Some(0);
    let degree = work.degree;
    if degree == 16 && is_ice_lake() && are_for_32_lanes::<G::First>(work) {
        work.degree = 32;
    }
    let twice = work.degree > 16 && work.jobs.len() > 16 && (is_shared(work) || !holds());
    dispatch!(
        backend,
        const { crate::pass::has_chain::<G>() } && twice,
        s => stretch::<_, G>(s, work)
    );
    work.degree = degree;
}

#[inline(always)]
fn is_shared(work: &Work<'_>) -> bool {
    matches!(work.keys, KeySet::Shared(_))
}

/// Whether Ice Lake does a batch of `M` faster in 32 lanes than in 16: in linked modes, many texts under one key,
/// of one length or long in the mean, that go by whole lines between the rounds and do not displace each other's
/// lines.
fn are_for_32_lanes<M: Pass>(work: &Work<'_>) -> bool {
    let jobs = work.jobs;
    let are_long = || match work.alike.texts() {
        true => jobs.len() >= 64 && rows::<M>(jobs[0].len) >= LINES_FROM,
        false => MIXED.contains(&jobs.len()) && MIXED_BYTES.contains(&mean_length(jobs)),
    };
    is_shared(work)
        && const { is_linked::<M>() }
        && are_long()
        && !places_differ::<M>(jobs).is_some_and(is_crowded::<M>)
}

/// So many messages of mixed lengths, and of so many bytes in the mean, which the second-level cache holds: where it
/// does not, 32 lanes wait for more lines at a time, in no order that the CPU fetches by itself. Batches of more
/// messages come in stretches of 512, and stay in 16 lanes but for what is left.
const MIXED: Range<usize> = 256..512;
const MIXED_BYTES: Range<usize> = 640..2048;

/// How many bytes messages have in the mean, as every eighth tells.
fn mean_length(jobs: &[Job]) -> usize {
    let some = jobs.iter().step_by(8);
    let count = some.len().max(1);
    some.fold(0, |bytes: usize, job| bytes.saturating_add(job.len)) / count
}

/// Whether Zen 4 does a batch of the linked mode `M` under one key faster with twice as many registers
/// of half the width: few messages, or short ones of one length; in CBC, more than the caches hold; and
/// texts half a page apart, of which 32 lanes would displace each other's lines. Those at one place of a page
/// are staged.
fn are_for_256_bits<M: Pass>(work: &Work<'_>) -> bool {
    let jobs = work.jobs;
    // Four such messages at a time take as long as two.
    let fours = matches!(jobs.len(), 4 | 8 | 12) && work.degree >= MAX_UNIT;
    if !is_shared(work) || fours && work.alike.texts() && (49..=96).contains(&jobs[0].len) {
        return false;
    }
    let cbc = const { matches!(link_of::<M>(), Some(Link::Before)) };
    if work.degree <= ROOM {
        return true;
    }
    let differ = places_differ::<M>(jobs);
    if is_staged(differ) {
        return false;
    }
    if jobs.len() < 64 || (cbc && work.far) {
        return true;
    }
    let first = rows::<M>(jobs[0].len);
    // CBC took 1.10 of the time on 512 bits where texts are a quarter of a page apart.
    let (short, places) = match cbc {
        true => (32, HALF_SET >> 1 & HALF_SET),
        false => (15, HALF_SET),
    };
    work.alike.texts() && first <= short || differ.is_some_and(|differ| differ & places == 0)
}

/// Runs `G` on one message, with the widest registers there are: a [`RunOne`](crate::job::RunOne), of a
/// message whose tag it `COMPARES`, or makes.
#[inline(always)]
pub(crate) fn one<G: Program, const COMPARES: bool>(
    key: &Expanded,
    text: (*const u8, *mut u8),
    len: usize,
    nonce: *const u8,
    rest: &Rest,
) -> bool {
    dispatch!(widest, s => kernel_one::<_, G, COMPARES>(s, key, text, len, nonce, rest))
}

#[inline(always)]
fn kernel_one<S: Isa, G: Program, const COMPARES: bool>(
    s: S,
    key: &Expanded,
    text: (*const u8, *mut u8),
    len: usize,
    nonce: *const u8,
    rest: &Rest,
) -> bool {
    s.enter_with(
        (key, text, len, nonce, rest),
        #[inline(always)]
        move |key, text, len, nonce, rest| {
            if const { S::ROUNDS && is_text_alone::<G>() } {
                if !is_block_by_block::<S, G::First>(len) {
                    return other_text::<S, G>(s, key, text, len, nonce, rest);
                }
                block_by_block::<S, G>(s, key, &Job::of(text, len, nonce, rest));
                return true;
            }
            // Not for one chain, nor for a first pass that is never in lanes: registers suffice.
            if const { !is_chain::<G>() && !G::First::SHAPE.is_in_order() } {
                s.align_stack();
            }
            let mut job = Job::of(text, len, nonce, rest);
            if const { G::First::SHAPE.moved } {
                { job }.move_to_end(&mut job);
            }
            let job = &job;
            if !COMPARES {
                by_itself::<S, G>(s, key, job, None);
                return true;
            }
            let mut verdict = FAILED;
            by_itself::<S, G>(s, key, job, Some(&mut verdict));
            let good = is_zero(&verdict);
            if !good {
                // It would tell what the right tag is.
                verdict = FAILED;
                zeroize::optimization_barrier(&verdict);
            }
            good
        },
    )
}

/// A text that is not done block by block, alone. Out of line: beside it, one that is would save all the registers
/// that this one wants.
#[inline(never)]
fn other_text<S: Isa, G: Program>(
    s: S,
    key: &Expanded,
    text: (*const u8, *mut u8),
    len: usize,
    nonce: *const u8,
    rest: &Rest,
) -> bool {
    s.enter_with(
        (key, text, len, nonce, rest),
        #[inline(always)]
        move |key, text, len, nonce, rest| {
            // Of 32 registers none goes there.
            if const { <S::Unit as Isa>::LANES != LINE } {
                s.align_stack();
            }
            in_registers::<S, G>(s, key, &Job::of(text, len, nonce, rest), true);
            true
        },
    )
}

/// The message of a call for one. Without vectors, by code that batches have, too.
#[inline(always)]
fn by_itself<S: Isa, G: Program>(s: S, key: &Expanded, job: &Job, verdict: Option<&mut Block>) {
    if const { S::ROUNDS } {
        one_message::<S, G>(s, key, job, verdict, true);
    } else {
        left_over::<S, G>(s, key, job, verdict, true);
    }
}

/// What the tables cost that a key keeps for one message of `G`.
const fn keeps_tables<G: Program>() -> usize {
    match G::First::SHAPE.own.is_none() {
        true => G::First::SHAPE.along().tables,
        false => 0,
    }
}

/// Up to how many bytes, all of whole blocks, a message by itself is done block by block.
const fn one_by_one_to<S: Isa, M: Pass>() -> usize {
    match M::SHAPE.along().blocks {
        // Without instructions for rounds, several blocks take as long as one.
        _ if !S::ROUNDS => 16,
        // The cipher waits until a register is put together of the blocks before.
        [Holds::Input] if !M::SHAPE.uses.inverse => 128,
        [Holds::Input] | [] => 64,
        _ => 16,
    }
}

/// Whether messages are done one by one in the caller's order: the CPU overlaps them by
/// itself. Where registers are rows, as without vectors, short ones would only waste lanes.
///
/// Asked as `if const { ... }`, as is all that a mode's constants decide: of other
/// conditions, the compiler makes code for both sides before it leaves one out.
const fn in_order<S: Isa, M: Pass>() -> bool {
    M::SHAPE.is_in_order() && has_registers::<S>()
}

/// Does one message, in code compiled for `s`. If it came `by_itself`, it is counted: the second
/// under a key makes its tables.
#[inline(always)]
fn one_message<S: Isa, G: Program>(
    s: S,
    key: &Expanded,
    job: &Job,
    verdict: Option<&mut Block>,
    by_itself: bool,
) {
    if const { is_text_alone::<G>() } {
        return match is_block_by_block::<S, G::First>(job.len) {
            true => block_by_block::<S, G>(s, key, job),
            false => in_registers::<S, G>(s, key, job, by_itself),
        };
    }
    if const { is_text_along::<S, G>() } && job.len == 16 {
        return alone::<S::Narrow, G>(s.narrow(), key, &NO_TABLES, job, verdict);
    }
    if const { keeps_tables::<G>() == 0 } {
        return alone::<S, G>(s, key, &NO_TABLES, job, verdict);
    }
    match tables_alone::<S, G>(s, key, by_itself) {
        Some(tables) => alone::<S, G>(s, key, tables, job, verdict),
        // A copy: if the job's own address were passed on, all of it would be stored.
        None => for_once::<S, G>(s, key, &{ *job }, verdict),
    }
}

/// Whether messages of `G` are done in one pass in the caller's order: texts without associated data and tags.
const fn is_text_alone<G: Program>() -> bool {
    !G::TWO && G::First::SHAPE.is_in_order()
}

/// Whether a text of `len` bytes, alone, is done by [`block_by_block`]. Parts of a register are slow to read what
/// was just written whole, or whole what was written in parts.
#[inline(always)]
fn is_block_by_block<S: Isa, M: Pass>(len: usize) -> bool {
    len <= const { one_by_one_to::<S, M>() } && len.is_multiple_of(16)
}

/// Does a text of few whole blocks, each in one lane.
#[inline(always)]
fn block_by_block<S: Isa, G: Program>(s: S, key: &Expanded, job: &Job) {
    let n = s.narrow();
    let keys = n.keys(key, G::First::SHAPE.uses);
    one_text::<S::Narrow, G>(n, (&keys, key), None, job);
}

/// Does any other text by registers. See [`one_message`] for `by_itself`.
#[inline(always)]
fn in_registers<S: Isa, G: Program>(s: S, key: &Expanded, job: &Job, by_itself: bool) {
    let pays = || job.len >= MANY_ALONE && by_itself && key.long_again();
    let first = first_rounds::<S, G::First>(s, key, pays);
    let keys = s.keys(key, G::First::SHAPE.uses);
    one_text::<S, G>(s, (&keys, key), first, job);
}

/// Does a message that has neither tables nor a tag, with the key's table for counters, if there is one.
#[inline(always)]
fn one_text<S: Isa, G: Program>(
    s: S,
    keys: (&S::Keys, &Expanded),
    first: Option<&FirstRounds>,
    job: &Job,
) {
    solo::<S, G>(
        s,
        keys,
        (Powers::without_halves(&NO_TABLES.rows), first),
        job,
        None,
    );
}

/// Whether blocks of a text are side by side, and a message has nothing else. One block alone is done
/// in one lane: as a part of a register, it would wait until one before it at the same place is in the cache.
const fn is_text_along<S: Isa, G: Program>() -> bool {
    let shape = G::First::SHAPE;
    has_registers::<S>() && shape.is_along() && shape.along().tables == 0 && !shape.tag && !G::TWO
}

/// The tables for one message of `G`, if the key keeps them for kernels of this width, or it is
/// time to make them.
#[inline(always)]
fn tables_alone<S: Isa, G: Program>(s: S, key: &Expanded, by_itself: bool) -> Option<&Tables> {
    if let Some(kept) = key.kept_tables() {
        return kept.of(S::LANES);
    }
    if !(by_itself && key.long_again()) {
        return None;
    }
    key.tables(S::LANES, || tables::<S, G::First>(s, key, usize::MAX))
}

/// A message of a batch that has none beside it; without vectors, also one that came `by_itself`.
#[inline(never)]
fn left_over<S: Isa, G: Program>(
    s: S,
    key: &Expanded,
    job: &Job,
    verdict: Option<&mut Block>,
    by_itself: bool,
) {
    let again;
    let job = match const { G::AGAIN } {
        true => {
            again = job.again();
            &again
        }
        false => job,
    };
    s.enter(
        #[inline(always)]
        || one_message::<S, G>(s, key, job, verdict, by_itself),
    );
}

/// Short messages first, then the others.
#[inline(always)]
fn stretch<S: Isa, G: Program>(s: S, work: &mut Work<'_>) {
    if const { has_short::<S, G>() }
        && let KeySet::Shared(key) = work.keys
        && work.degree >= <S::Unit as Isa>::LANES
        && let Some(even) = are_short::<S, G>(work.jobs, work.alike)
    {
        if even && work.degree >= S::LANES {
            let count = not_few::<S, G>(work.jobs);
            if count > 0 {
                side_by_side::<S, G>(s, &mut work.first(count));
                work.skip(count);
            }
        }
        let verdicts = work.verdicts.as_deref_mut();
        let (u, jobs) = (s.unit(), work.jobs);
        let key = (key, &NO_TABLES);
        let done = match (<S::Unit as Isa>::LANES, even) {
            (2, true) => n_at_a_time::<S, _, G, 2, true>(s, u, key, jobs, verdicts, None),
            (2, false) => n_at_a_time::<S, _, G, 2, false>(s, u, key, jobs, verdicts, None),
            (_, true) => n_at_a_time::<S, _, G, 4, true>(s, u, key, jobs, verdicts, None),
            (_, false) => n_at_a_time::<S, _, G, 4, false>(s, u, key, jobs, verdicts, None),
        };
        work.skip(done);
    }
    side_by_side::<S, G>(s, work);
}

/// All messages, in both passes of those that are apart.
#[inline(always)]
fn side_by_side<S: Isa, G: Program>(s: S, work: &mut Work<'_>) {
    if work.jobs.is_empty() {
        return;
    }
    if const { !G::APART } {
        return over_all::<S, G>(s, work);
    }
    if let [job] = work.jobs {
        let verdict = work.verdicts.as_mut().and_then(|all| all.first_mut());
        let key = work.keys.get(job.key_index);
        return left_over::<S, G>(s, key, job, verdict, false);
    }
    // The one of two passes that has the tag makes it or compares it.
    let verdicts = work.verdicts.take();
    let (before, after) = match const { G::After::SHAPE.tag } {
        true => (None, verdicts),
        false => (verdicts, None),
    };
    let first = &mut Work {
        verdicts: before,
        ..work.first(work.jobs.len())
    };
    match const { G::Before::SHAPE.is_serial() } {
        true => over_all::<S, G::Before>(s, first),
        false => over_all::<S::Along, G::Before>(s.along(), first),
    }
    let second = &mut Work {
        verdicts: after,
        ..work.first(work.jobs.len())
    };
    match const { G::After::SHAPE.is_serial() } {
        true => over_all::<S, After<G::After>>(s, second),
        false => over_all::<S::Along, After<G::After>>(s.along(), second),
    }
}

/// All messages: those of one length side by side, as many as there are lanes, then the others.
#[inline(always)]
fn over_all<S: Isa, G: Program>(s: S, work: &mut Work<'_>) {
    if const { has_even::<S, G>() }
        && let KeySet::Shared(key) = work.keys
        && work.degree >= S::LANES
        && !work.is_fetched()
        && are_even::<S, G>(work.jobs, work.alike)
        && !displace::<G::First>(work.jobs)
    {
        even_ones::<S, G>(s, (key, &NO_TABLES), work);
        if work.jobs.is_empty() {
            return;
        }
    }
    kernel::<S, G>(s, work);
}

/// Messages of one length, as many at a time as there are lanes.
#[inline(always)]
fn even_ones<S: Isa, G: Program>(s: S, key: (&Expanded, &Tables), work: &mut Work<'_>) {
    let verdicts = work.verdicts.as_deref_mut();
    let jobs = work.jobs;
    let stage = (const { has_stages::<S, G::First>() }
        && is_staged(places_differ::<G::First>(jobs)))
    .then_some(&mut *work.memory.stage);
    let done = match S::LANES {
        8 => n_at_a_time::<S, S, G, 8, true>(s, s, key, jobs, verdicts, stage),
        16 => n_at_a_time::<S, S, G, 16, true>(s, s, key, jobs, verdicts, stage),
        _ => n_at_a_time::<S, S, G, 32, true>(s, s, key, jobs, verdicts, stage),
    };
    work.skip(done);
}

/// Whether messages have counters enough to pay for a table of first rounds.
#[inline(always)]
fn are_many(jobs: &[Job], alike: Alike) -> bool {
    if alike.texts() {
        return jobs
            .first()
            .map_or(0, |job| job.len)
            .saturating_mul(jobs.len())
            >= MANY_COUNTERS;
    }
    let mut bytes = 0;
    jobs.iter().any(|job| {
        not_by_vectors();
        bytes += job.len;
        bytes >= MANY_COUNTERS
    })
}

#[inline(never)]
fn kernel<S: Isa, G: Program>(s: S, work: &mut Work<'_>) {
    // In the caller's order: those that are better done by themselves.
    let mut from = usize::MAX;
    if const { has_solos::<S, G>() } {
        let count;
        (count, from) = solos_of::<S, G>(s, work);
        if count == work.jobs.len() {
            return;
        }
    }
    s.enter_with(
        (work, from, (), (), ()),
        #[inline(always)]
        |work, from, (), (), ()| {
            s.align_stack();
            let made;
            let shared = match work.keys {
                KeySet::Shared(key) => {
                    made = s.keys(key, G::First::SHAPE.uses);
                    Some(&made)
                }
                _ => None,
            };
            if const { !in_order::<S, G::First>() } {
                drive::<S, G>(s, work, shared, from);
            } else if let Some(keys) = shared {
                let key = work.keys.get(0);
                let pays = || are_many(work.jobs, work.alike);
                let first = first_rounds::<S, G::First>(s, key, pays);
                for job in work.jobs {
                    one_text::<S, G>(s, (keys, key), first, job);
                }
            } else {
                let (jobs, set) = (work.jobs, work.keys);
                for (i, job) in jobs.iter().enumerate() {
                    if let Some(next) = jobs.get(i + AHEAD) {
                        fetch::<S, G::First>(s, set.key_of(next));
                    }
                    let key = set.key_of(job);
                    let keys = s.keys(key, G::First::SHAPE.uses);
                    one_text::<S, G>(s, (&keys, key), None, job);
                }
            }
        },
    );
}

/// Algorithm 1: groups of P, longest messages first. Of modes that are parallel inside a
/// message, long messages are done one by one instead, and only what is left in groups:
/// without associated data and tags, those that would leave most of a register empty.
///
/// `shared` is the call's one key; without it every message has its own. Messages of [`is_solo`] `from` so
/// many bytes on are done.
#[inline(always)]
fn drive<S: Isa, G: Program>(s: S, work: &mut Work<'_>, shared: Option<&S::Keys>, from: usize) {
    let fetched = work.is_fetched();
    let Work {
        jobs,
        keys,
        memory,
        verdicts,
        degree,
        ..
    } = work;
    let Memory {
        queue,
        lanes,
        keys: lane_keys,
        stage,
        derived,
        ..
    } = &mut **memory;

    let jobs: &[Job] = jobs;
    let alike = work.alike;
    let keys = &*keys;
    let degree = (*degree).min(S::LANES);
    let short = <S::Unit as Isa>::LANES * 8;
    let some_done = const { has_solos::<S, G>() } && from < usize::MAX;
    let mut queue = queue.fill(
        jobs,
        alike.texts() && alike.keys() && !some_done,
        #[inline(always)]
        |job| {
            if some_done && is_solo::<G::First>(job, from) {
                return None;
            }
            let class = match alike.keys() {
                true => 0,
                false => keys.get(job.key_index).rounds() / 2 - 5,
            };
            Some((class, order::<G>(job)))
        },
    );
    let differ = match const { S::LANES > SMALL_ROOM } {
        true => places_differ::<G::First>(jobs),
        false => None,
    };
    let stages = const { has_stages::<S, G::First>() } && is_staged(differ);
    let mut ahead = jobs.iter().skip(2 * MAX_LANES);
    // Lanes are at more places of the memory at once than the prefetchers of some CPUs follow.
    let mut coming = (const { may_fetch::<S>() && !G::First::SHAPE.is_in_order() } && fetched)
        .then(|| {
            let written = const { G::TWO || G::First::SHAPE.output };
            Coming::new(s, jobs, queue.iter(), written)
        });
    while queue.len() > 0 {
        // Longest first: those that are better done by themselves.
        if const { G::First::SHAPE.is_in_order() }
            && let Some(i) = queue.nth(0)
            // A group must be worth its overhead.
            && (jobs[i as usize].len > short || queue.len() * 2 < S::LANES)
        {
            queue.take(1, |_, _| {});
            let job = &jobs[i as usize];
            let key = keys.get(job.key_index);
            let own;
            let keys = match shared {
                Some(keys) => keys,
                None => {
                    own = s.keys(key, G::First::SHAPE.uses);
                    &own
                }
            };
            one_text::<S, G>(s, (keys, key), None, job);
            continue;
        }
        let most = match differ {
            Some(_) if stages => degree,
            Some(differ)
                if const { S::SPARE }
                    && goes_by_lines::<G::First>(differ, shared.is_some(), || {
                        let longest = queue.nth(0);
                        longest.map_or(0, |i| order::<G>(&jobs[i as usize]))
                    }) =>
            {
                degree
            }
            Some(differ) if is_crowded::<G::First>(differ) => {
                // The one with the fewest rows in a group of all lanes, if it may go in phases.
                let last = match const { has_phases::<S, G::First>() } {
                    true if shared.is_some() && degree == S::LANES => queue.nth(S::LANES - 1),
                    _ => None,
                };
                let least = last.map_or(0, |i| order::<G>(&jobs[i as usize]));
                match phases_of::<G::First>(differ, least) {
                    Some(_) => degree,
                    None => degree.min(room::<G::First>(differ)),
                }
            }
            _ => degree,
        };
        let own_keys = shared.is_none();
        if let Some(coming) = &mut coming {
            coming.rest(s);
        }
        let used = lanes.take::<S, G>(s, most, &mut queue, jobs, (own_keys, alike.data()));
        if let Some(coming) = &mut coming {
            coming.go_on(s, queue.iter());
        }
        let few = match const { derives_along::<G>() } {
            true if used <= MAX_ALONE => {
                let mut blocks = [0; MAX_ALONE];
                for l in 0..used {
                    blocks[l] = jobs[lanes.place(l, jobs)].len / 16;
                }
                too_few(&blocks[..used])
            }
            _ => false,
        };
        // Nothing to put beside it, or too little.
        if used == 1 || few {
            for l in 0..used {
                let i = lanes.place(l, jobs);
                let job = &jobs[i];
                let key = keys.get(job.key_index);
                let verdict = verdicts.as_mut().map(|all| &mut all[i]);
                left_over::<S, G>(s, key, job, verdict, false);
            }
            continue;
        }
        let key = keys.get(jobs[lanes.place(0, jobs)].key_index);
        // Texts of a line each, which are read once, gain nothing.
        let lines = const { G::First::SHAPE.output } || lanes.longest() > LINE;
        let stage = (stages && used >= STAGED_FROM && lines).then_some(&mut **stage);
        let beside = coming.as_mut().filter(|_| !own_keys);
        let aside = (stage, beside);
        let group = lanes.group::<_, G>(s, used, jobs, *keys, verdicts.as_deref_mut(), aside);
        let bytes = (key.rounds() - 6) * 4;
        // Made here: of what is borrowed for writing, the compiler does not know that it stays, and would make all
        // code for both forms of keys twice.
        if let (Some(made), KeySet::Shared(key)) = (shared, keys) {
            let one = &mut Shared { s, keys: made, key };
            run::<S, G>(s, group, bytes, one, derived);
        } else {
            if const { G::First::SHAPE.uses.constants > 0 } {
                for job in ahead.by_ref().take(group.keys().len()) {
                    s.fetch(keys.get(job.key_index).subkey(0).as_ptr());
                }
            }
            // Lanes without a message get a key that is there.
            let mut of = [key; MAX_LANES];
            for (of, place) in of.iter_mut().zip(group.keys()) {
                *of = keys.get(*place);
            }
            s.lane_keys(lane_keys, &of, G::First::SHAPE.uses);
            let each = &mut Each {
                s,
                keys: lane_keys,
                first: key,
            };
            run::<S, G>(s, group, bytes, each, derived);
        }
    }
}

/// Does the messages of which [`is_solo`] says so: how many, and from how many bytes on. In modes with tables
/// under one key, if these pay.
#[inline(always)]
fn solos_of<S: Isa, G: Program>(s: S, work: &mut Work<'_>) -> (usize, usize) {
    const NONE: (usize, usize) = (0, usize::MAX);
    let KeySet::Shared(key) = work.keys else {
        // There would be much code, for modes of research.
        if const { waits::<G::First>() } {
            return NONE;
        }
        let from = solo_from_of_its_own::<S, G::First>(s, work);
        if !work.jobs.iter().any(|job| is_solo::<G::First>(job, from)) {
            return NONE;
        }
        return (under_their_own::<S, G>(s, work, from), from);
    };
    let from = const { solo_from::<S>() };
    if !work.jobs.iter().any(|job| is_solo::<G::First>(job, from)) {
        return NONE;
    }
    if const { keeps_tables::<G>() == 0 } {
        return (with_tables::<S, G>(s, key, &NO_TABLES, work), from);
    }
    if key.kept_tables().is_none() && !pay::<G::First>(work.jobs) && !key.long_again() {
        return NONE;
    }
    let count = match key.tables(S::LANES, || tables::<S, G::First>(s, key, usize::MAX)) {
        Some(kept) => with_tables::<S, G>(s, key, kept, work),
        None => with_other_tables::<S, G>(s, key, work),
    };
    (count, from)
}

/// The same under a key that keeps tables for another width. Out of line, as they take thousands of
/// bytes of stack.
#[cold]
#[inline(never)]
fn with_other_tables<S: Isa, G: Program>(s: S, key: &Expanded, work: &mut Work<'_>) -> usize {
    let tables = tables::<S, G::First>(s, key, usize::MAX);
    with_tables::<S, G>(s, key, &tables, work)
}

#[inline(always)]
fn with_tables<S: Isa, G: Program>(
    s: S,
    key: &Expanded,
    tables: &Tables,
    work: &mut Work<'_>,
) -> usize {
    if const { has_even_along::<S, G>() }
        && work.degree >= S::LANES
        && are_even_along::<S, G>(work.jobs, work.alike)
        && !displace_along::<G::First>(work.jobs)
    {
        even_ones::<S, G>(s, (key, tables), work);
    }
    by_themselves::<S, G>(s, key, tables, work)
}

/// What messages are sorted by: their blocks.
#[inline(always)]
fn order<G: Program>(job: &Job) -> usize {
    // Two passes may differ in what they leave for the finish.
    match const { G::TWO } {
        true => job.len / 16,
        false => rows::<G::First>(job.len),
    }
}

/// Larger groups are always worth it.
const MAX_ALONE: usize = 10;

/// Whether messages have keys that are derived for them, and blocks side by side.
const fn derives_along<G: Program>() -> bool {
    G::First::SHAPE.own.is_some() && G::First::SHAPE.is_along()
}

/// Whether a group that derives a key for each message takes longer than its messages one by one: in
/// rows of the group, it costs 26 and five quarters of the longest message, one of them 7 and a
/// seventh.
#[inline(never)]
fn too_few(blocks: &[usize]) -> bool {
    let longest = blocks.iter().max().unwrap_or(&0);
    let alone = blocks.iter().map(|blocks| 7 + blocks / 7).sum::<usize>();
    alone < 26 + longest * 5 / 4
}

/// Whether so many messages under a key that has no tables pay for them: a row's time is gained
/// with 8 short messages, all of it with one of 512 bytes, of which groups would make some, too.
fn pay<M: Pass>(jobs: &[Job]) -> bool {
    let costs = 8 * M::SHAPE.along().tables;
    let mut gained = 0;
    jobs.iter().any(|job| {
        not_by_vectors();
        gained += if job.len + job.data_len < 512 {
            1
        } else {
            costs
        };
        gained >= costs
    })
}

/// Whether a message is done from beginning to end, `from` so many bytes on. If more of it is long associated
/// data, of which each block waits for the one before, groups are better.
#[inline(always)]
fn is_solo<M: Pass>(job: &Job, from: usize) -> bool {
    let waits = const {
        let alone = M::SHAPE.data.is_some() && !hashes_data::<M>();
        alone && M::SHAPE.strings().along.is_empty()
    };
    job.len >= from && !(waits && job.data_len > job.len.max(SHORT_DATA))
}

/// From how many bytes on under the one key of a call. Where registers are rows, short messages would waste
/// lanes.
const fn solo_from<S: Isa>() -> usize {
    if has_registers::<S>() { 0 } else { 256 }
}

/// The same, each under its own key. Short messages are better off in groups, of which keys are
/// loaded together, where a register has one block; in modes without tables where it does not hold a
/// line, if they nearly fill one; and in modes that hash, if most keys have no powers, which are then made for each
/// message. (Zen 3, 16 and 64 messages: GCM of 1,024 bytes took 1.26 of the time so, of 2,048 0.6 to 0.9; GMAC of
/// 2,048 1.36 to 1.39, of 4,096 0.75.)
fn solo_from_of_its_own<S: Isa, M: Pass>(s: S, work: &Work<'_>) -> usize {
    let few = const {
        has_few::<S, M>() && (M::SHAPE.along().tables > 0 || <S::Unit as Isa>::LANES == LINE)
    };
    let no_group = const { has_few::<S, M>() } && work.jobs.len() <= const { S::LANES * 3 / 4 };
    let from = match few || no_group {
        true => const { solo_from::<S>() },
        false => 512,
    };
    match const { hash_of::<M>().is_some() } {
        true if !most_have_powers::<S, M>(s, work.jobs, work.keys, from) => {
            let most = if const { M::SHAPE.output } {
                2048
            } else {
                4096
            };
            (128 * work.jobs.len()).clamp(512, most)
        }
        _ => from,
    }
}

/// Whether messages pay for masks that are made once for all, as far as some of them tell.
fn pay_for_masks<S: Isa, M: Pass>(jobs: &[Job], alike: Alike) -> bool {
    let is_long = |job: &Job| rows::<M>(job.len) >= S::LANES;
    jobs.len() >= MASKED
        && match alike.texts() {
            true => is_long(&jobs[0]),
            false => jobs.iter().step_by(jobs.len() / MASKED).any(is_long),
        }
}

/// So many messages do, if some are long.
const MASKED: usize = 8;

/// Does the messages of which `is_solo` says so, in the caller's order: four at a time where as many
/// follow each other, others one by one. Returns how many they are. Out of line, as it wants all
/// registers.
#[inline(never)]
fn by_themselves<S: Isa, G: Program>(
    s: S,
    key: &Expanded,
    tables: &Tables,
    work: &mut Work<'_>,
) -> usize {
    s.enter(
        #[inline(always)]
        || {
            let (jobs, alike) = (work.jobs, work.alike);
            let from = const { solo_from::<S>() };
            let keys = &s.keys(key, G::First::SHAPE.uses);
            let mut c = Ciphers::new::<G::First>(s, (keys, key));
            if const { is_made::<G::First>() } && pay_for_masks::<S, G::First>(jobs, alike) {
                c.make_masks::<G::First>(&mut work.memory.few_tables);
            }
            let c = &c;
            let first = counters::<S, G::First>(s, key);
            let (mut i, mut count) = (0, 0);
            while let Some(job) = jobs.get(i) {
                if const { has_few::<S, G::First>() }
                    && let Some(some) = jobs[i..].first_chunk::<MAX_UNIT>()
                    && some.iter().all(|other| is_solo::<G::First>(other, from))
                    && job.data_len <= SHORT_DATA
                    && (alike.data() || some.iter().all(|other| job.is_like(other)))
                {
                    let given = work.verdicts.as_mut().map(|all| &mut all[i..]);
                    let given = given.and_then(|all| all.first_chunk_mut());
                    let keys = few::OneKey {
                        ciphers: c,
                        key,
                        tables: (tables, first),
                    };
                    few::<S, G, _>(keys, some, given, work.far);
                    (i, count) = (i + MAX_UNIT, count + MAX_UNIT);
                    continue;
                }
                if is_solo::<G::First>(job, from) {
                    let verdict = work.verdicts.as_mut().map(|all| &mut all[i]);
                    let tables = (Powers::of::<G::First>(tables), first);
                    solo::<S, G>(s, (keys, key), tables, job, verdict);
                    count += 1;
                }
                i += 1;
            }
            count
        },
    )
}

/// Does the messages of which `is_solo` says so, each under its own key, in the caller's order: four at a time
/// where as many follow each other. Returns how many they are. Out of line, as it wants all registers.
#[inline(never)]
fn under_their_own<S: Isa, G: Program>(s: S, work: &mut Work<'_>, from: usize) -> usize {
    let hashes = const { hash_of::<G::First>().is_some() };
    const { assert!(S::LANES <= FEW_POWERS) };
    let (jobs, set) = (work.jobs, work.keys);
    s.enter(
        #[inline(always)]
        || {
            let Memory {
                few_keys,
                few_powers: room,
                few_tables,
                ..
            } = &mut *work.memory;
            // What need not be asked of each.
            let alike = work.alike.data() && work.alike.keys();
            let (mut i, mut count) = (0, 0);
            while let Some(job) = jobs.get(i) {
                let key = set.key_of(job);
                if const { has_few::<S, G::First>() }
                    && job.data_len <= SHORT_DATA
                    && let Some(some) = jobs[i..].first_chunk::<MAX_UNIT>()
                    && some.iter().all(|other| {
                        is_solo::<G::First>(other, from)
                            && (alike
                                || job.is_like(other) && set.key_of(other).rounds() == key.rounds())
                    })
                {
                    let mut of = [key; MAX_UNIT];
                    for (of, job) in of.iter_mut().zip(some) {
                        *of = set.key_of(job);
                    }
                    s.quad().lane_keys(few_keys, &of, G::First::SHAPE.uses);
                    let mut powers = [&NO_FEW_ROWS; MAX_UNIT];
                    if hashes {
                        for ((powers, key), rows) in powers.iter_mut().zip(of).zip(&mut **room) {
                            *powers = few_powers::<S, G::First>(s, key, &mut rows.0);
                        }
                    }
                    let given = work.verdicts.as_mut().map(|all| &mut all[i..]);
                    let given = given.and_then(|all| all.first_chunk_mut());
                    let keys = few::KeyEach {
                        s,
                        set,
                        of,
                        lanes: few_keys,
                        powers,
                        tables: few_tables,
                        jobs: &jobs[i..],
                    };
                    few::<S, G, _>(keys, some, given, work.far);
                    (i, count) = (i + MAX_UNIT, count + MAX_UNIT);
                    continue;
                }
                fetch_own::<S, G::First>(s, set, &jobs[i..], work.far);
                if is_solo::<G::First>(job, from) {
                    let powers = if hashes {
                        Powers::few(few_powers::<S, G::First>(s, key, &mut room[0].0))
                    } else {
                        let blocks = rows::<G::First>(job.len).max(job.data_len / 16);
                        G::First::tables(s, key, blocks, &mut few_tables[0]);
                        Powers::without_halves(&few_tables[0])
                    };
                    let verdict = work.verdicts.as_mut().map(|all| &mut all[i]);
                    let keys = &s.keys(key, G::First::SHAPE.uses);
                    solo::<S, G>(s, (keys, key), (powers, None), job, verdict);
                    count += 1;
                }
                i += 1;
            }
            count
        },
    )
}

/// Whether so many of the keys of messages that would go by themselves have few powers that it is worth it
/// to make the others' for this call alone: of the first messages, or else of all.
fn most_have_powers<S: Isa, M: Pass>(s: S, jobs: &[Job], set: KeySet<'_>, from: usize) -> bool {
    let (mut all, mut have) = (0, 0);
    for (i, job) in jobs.iter().enumerate() {
        // The others are asked when their messages are done.
        if i == ASKED && all > 0 && have * 8 >= all * 7 {
            return true;
        }
        if !is_solo::<M>(job, from) {
            continue;
        }
        if let Some(next) = jobs.get(i + AHEAD) {
            s.fetch(set.key_of(next).subkey(0).as_ptr());
        }
        let key = set.key_of(job);
        all += 1;
        have += usize::from(kept_few_powers::<S, M>(s, key).is_some());
    }
    have * 8 >= all * 7
}

/// So many messages say whether most keys have powers.
const ASKED: usize = 32;

/// The few powers that a key keeps: they are made when it is asked for the second time. (That is the second
/// such message, but a key that [`most_have_powers`] asks may be asked again for the same one.)
#[inline(always)]
fn kept_few_powers<S: Isa, M: Pass>(s: S, key: &Expanded) -> Option<&FewRows> {
    let kept = key.few_tables();
    if kept.is_some() || !key.long_again() {
        return kept;
    }
    Some(key.keep_few_tables(|| {
        let mut rows = NO_FEW_ROWS;
        few_rows_of::<S, M>(s, key, &mut rows);
        rows
    }))
}

/// The same, or those that are made in this `room`.
#[inline(always)]
fn few_powers<'r, S: Isa, M: Pass>(s: S, key: &'r Expanded, room: &'r mut FewRows) -> &'r FewRows {
    match kept_few_powers::<S, M>(s, key) {
        Some(kept) => kept,
        None => few_rows_of::<S, M>(s, key, room),
    }
}

/// The few powers of a key, for which there is `room`.
#[inline(never)]
fn few_rows_of<'r, S: Isa, M: Pass>(s: S, key: &Expanded, room: &'r mut FewRows) -> &'r FewRows {
    s.enter(
        #[inline(always)]
        || M::tables(s, key, FEW_POWERS, room),
    );
    room
}

/// Does messages `N` at a time under one key, of which `are_short` says so, or `are_even`. Returns
/// how many it has done: fewer than `N` are left. Out of line, as it wants all registers.
#[inline(never)]
fn n_at_a_time<S: Isa, T: Isa<Keys = S::Keys>, G: Program, const N: usize, const EVEN: bool>(
    s: S,
    t: T,
    (key, tables): (&Expanded, &Tables),
    jobs: &[Job],
    verdicts: Option<&mut [Block]>,
    mut stage: Option<&mut Stage>,
) -> usize {
    // Of others there is no code.
    if const { T::LANES != N } {
        return 0;
    }
    // Not `enter_with`: GCM opening, GMAC, OCB and XTS took two instructions a message more with it.
    s.enter(
        #[inline(always)]
        || {
            // Made here: if the caller's were passed by reference, the caller's loops could not
            // keep them in registers.
            let keys = s.keys(key, G::First::SHAPE.uses);
            let c = uniform::<_, G::First>(t, &keys, key);
            let powers = Powers::of::<G::First>(tables);
            let (all, left) = jobs.as_chunks::<N>();
            let mut verdicts = verdicts.map(|all| all.as_chunks_mut::<N>().0.iter_mut());
            for jobs in all {
                let some = verdicts.as_mut().and_then(Iterator::next);
                short::<T, G, N, EVEN>(c, (key, powers), jobs, some, stage.as_deref_mut());
            }
            jobs.len() - left.len()
        },
    )
}

/// The keys of a group's messages: for rows, and for what is done once a message. Loops take them only
/// when they begin: held over calls, they would be copied to memory and back.
trait GroupKeys<S: Isa> {
    /// Whether it is one key for all.
    const ONE: bool = false;
    /// For rows of `T`, which has as many lanes as `S`, or the first of them.
    fn of<T: Isa<Keys = S::Keys>, M: Pass>(&self, t: T) -> impl Cipher<W = T::W>;
    fn once(&self) -> OutOfLine<'_, S>;
    /// The one key, if there is one.
    #[inline(always)]
    fn one(&self) -> Option<&Expanded> {
        None
    }
    /// That of the message in the first lane.
    fn first<M: Pass>(&mut self) -> &Expanded;
    /// Does the rest of the rows of the first `lanes` lanes, the longest of which has `rest`, so, if that takes
    /// less time: whether it does.
    #[inline(always)]
    fn along<M: Pass>(&mut self, _: &mut Group<'_, '_>, _lanes: usize, _rest: usize) -> bool {
        false
    }
}

/// One key for all.
struct Shared<'k, S: Isa> {
    s: S,
    keys: &'k S::Keys,
    key: &'k Expanded,
}

impl<S: Isa> GroupKeys<S> for Shared<'_, S> {
    const ONE: bool = true;

    #[inline(always)]
    fn of<T: Isa<Keys = S::Keys>, M: Pass>(&self, t: T) -> impl Cipher<W = T::W> {
        uniform::<_, M>(t, self.keys, self.key)
    }

    #[inline(always)]
    fn one(&self) -> Option<&Expanded> {
        Some(self.key)
    }

    #[inline(always)]
    fn once(&self) -> OutOfLine<'_, S> {
        OutOfLine::shared(self.s, self.keys, self.key)
    }

    #[inline(always)]
    fn first<M: Pass>(&mut self) -> &Expanded {
        self.key
    }
}

/// One key for each.
struct Each<'k, S> {
    s: S,
    keys: &'k LaneKeys<MAX_LANES>,
    first: &'k Expanded,
}

impl<S: Isa> GroupKeys<S> for Each<'_, S> {
    #[inline(always)]
    fn of<T: Isa<Keys = S::Keys>, M: Pass>(&self, t: T) -> impl Cipher<W = T::W> {
        per_lane::<_, M, _>(t, self.keys)
    }

    #[inline(always)]
    fn once(&self) -> OutOfLine<'_, S> {
        OutOfLine::each(self.s, self.keys)
    }

    #[inline(always)]
    fn first<M: Pass>(&mut self) -> &Expanded {
        self.first
    }
}

/// Keys that were derived for the messages.
struct Derived<'d, S> {
    s: S,
    keys: &'d mut DerivedKeys,
}

impl<S: Isa> GroupKeys<S> for Derived<'_, S> {
    #[inline(always)]
    fn of<T: Isa<Keys = S::Keys>, M: Pass>(&self, t: T) -> impl Cipher<W = T::W> {
        per_lane::<_, M, _>(t, &self.keys.lanes)
    }

    #[inline(always)]
    fn once(&self) -> OutOfLine<'_, S> {
        OutOfLine::each(self.s, &self.keys.lanes)
    }

    #[inline(always)]
    fn first<M: Pass>(&mut self) -> &Expanded {
        let DerivedKeys { lanes, one, .. } = &mut *self.keys;
        lanes.copy(0, one, M::SHAPE.uses);
        one
    }

    #[inline(always)]
    fn along<M: Pass>(&mut self, group: &mut Group<'_, '_>, lanes: usize, rest: usize) -> bool {
        // A row of neighbouring blocks costs two thirds of one of the group, as nothing is gathered, whether
        // it is full or not; a message costs some rows more. Rows that overlap in a lane wait for what the one
        // before has written, so there it is half. (No such mode has offsets: rows may begin anywhere.)
        let fixed = match const { M::SHAPE.along().tables } {
            0 => 1,
            tables => 6 + tables,
        };
        let (along, across) = match const { in_units::<M>() } {
            true => (2, 3),
            false => (1, 2),
        };
        if lanes * (rest.div_ceil(S::LANES) + fixed) * along >= rest * across {
            return false;
        }
        let DerivedKeys {
            lanes: keys,
            one,
            few,
        } = &mut *self.keys;
        for l in 0..lanes {
            keys.copy(l, one, M::SHAPE.uses);
            let mut made = None;
            let powers = own_powers::<S, M>(self.s, one, group.left(l), &mut few.0, &mut made);
            group.neighbours::<S, M>(self.s, l, one, powers);
        }
        true
    }
}

/// One group, all passes, under keys of so many `bytes`.
#[inline(always)]
fn run<S: Isa, G: Program>(
    s: S,
    mut group: Group<'_, '_>,
    bytes: usize,
    keys: &mut impl GroupKeys<S>,
    derived: &mut DerivedKeys,
) {
    match const { G::First::SHAPE.own.is_some() } {
        true => with_derived::<S, G>(s, &mut group, &keys.once(), bytes, derived),
        false => passes::<S, G>(s, &mut group, keys),
    }
}

/// All passes under keys that are derived for the messages. Out of line, as it is the
/// same for both forms of keys that they are derived from.
#[inline(never)]
fn with_derived<S: Isa, G: Program>(
    s: S,
    group: &mut Group<'_, '_>,
    c: &OutOfLine<'_, S>,
    bytes: usize,
    keys: &mut DerivedKeys,
) {
    s.enter(
        #[inline(always)]
        || {
            let own = group.derive::<S, G::First>(s, c, bytes);
            derived::expand::<S, G::First, _>(s, c, own, bytes, &mut keys.lanes);
            passes::<S, G>(s, group, &mut Derived { s, keys });
        },
    );
}

#[inline(always)]
fn passes<S: Isa, G: Program>(s: S, group: &mut Group<'_, '_>, keys: &mut impl GroupKeys<S>) {
    pass::<S, G::First, G, _>(s, group, keys);
    if const { G::TWO } {
        group.again::<S, G::Second>(s);
        pass::<S, G::Second, G::Second, _>(s, group, keys);
    }
}

/// The first pass of `G`, which is `M`: begin, window by window, finish. A window is run by the
/// narrowest kernel that holds its lanes.
#[inline(always)]
fn pass<S: Isa, M: Pass, G: Program<First = M>, K: GroupKeys<S>>(
    s: S,
    group: &mut Group<'_, '_>,
    keys: &mut K,
) {
    group.begin::<S, M>(s, &keys.once());
    if const { has_phases::<S, M>() }
        && let Some(phases) = group.phases::<S, M>()
    {
        group.in_phases::<S, M>(s, keys.of::<_, M>(s), phases);
    }
    if const { has_stages::<S, M>() } && group.is_staged() {
        other_windows::<S, M, true>(s, group, keys, &mut ());
    } else if const { may_fetch_beside::<S, M>(K::ONE) }
        && let Some(coming) = group.coming.take()
    {
        other_windows::<S, M, false>(s, group, keys, coming);
        group.coming = Some(coming);
    } else {
        all_windows::<S, M, false>(s, group, keys, &mut ());
    }
    group.finish::<S, G>(s, &keys.once());
}

/// Whether texts may be fetched beside rows of `M`: of chains, and of hashes in lanes. Other modes leave no
/// registers for it, or are seldom in lanes. Beside rows that load a key for each lane, too, nothing is: two loads a
/// cycle is all there is; but it is beside hashes under derived keys, of which a row loads one block for each lane.
const fn may_fetch_beside<S: Isa, M: Pass>(one_key: bool) -> bool {
    let shape = M::SHAPE;
    let chains = shape.is_serial() && one_key;
    let hashes = has_summed_rows::<S, M>() && (one_key || shape.own.is_some());
    may_fetch::<S>() && !shape.uses.inverse && (chains || hashes)
}

/// Whether texts may be fetched before messages are done in lanes: the CPUs that gain by it
/// ([`Work::is_fetched`]) have registers of several blocks.
const fn may_fetch<S: Isa>() -> bool {
    S::ROUNDS && <S::Unit as Isa>::LANES > 1
}

/// The windows of a group that is staged, or beside which something is fetched. Out of line: beside others they
/// would take registers for keys from these.
#[inline(never)]
fn other_windows<S: Isa, M: Pass, const STAGED: bool>(
    s: S,
    group: &mut Group<'_, '_>,
    keys: &mut impl GroupKeys<S>,
    beside: &mut impl Beside,
) {
    s.enter(
        #[inline(always)]
        || all_windows::<S, M, STAGED>(s, group, keys, beside),
    );
}

#[inline(always)]
fn all_windows<S: Isa, M: Pass, const STAGED: bool>(
    s: S,
    group: &mut Group<'_, '_>,
    keys: &mut impl GroupKeys<S>,
    beside: &mut impl Beside,
) {
    let mut windows = Windows::after(group.rows().len(), group.done());
    // One after the other with the state in registers: of chains, as more state would take those of keys.
    // (Of modes along messages it is asked before every window.)
    let until = |lanes| match const { link_of::<M>().is_some() } {
        true => lanes,
        false => usize::MAX,
    };
    let mut next = windows.next(group.rows());
    while let Some(window) = next {
        let rest = group.rows()[0] - group.done();
        if const { M::SHAPE.is_along() } && keys.along::<M>(group, window.lanes, rest) {
            break;
        }
        if window.lanes == 1 && rest >= ALONE_FROM {
            group.last::<S::Narrow, M>(s.narrow(), keys.first::<M>());
            break;
        }
        let windows = &mut windows;
        next = if const { S::SPARE && is_linked::<M>() }
            && window.lanes <= S::Slim::LANES
            && is_zen4()
            && let Some(key) = keys.one()
        {
            let n = s.slim();
            let slim = n.keys(key, M::SHAPE.uses);
            let c = uniform::<_, M>(n, &slim, key);
            group.windows::<S::Slim, M, STAGED>(n, c, window, windows, (until(1), beside))
        } else if const { S::Half::LANES < S::LANES } && window.lanes <= S::Half::LANES {
            let c = keys.of::<_, M>(s.half());
            group.windows::<S::Half, M, STAGED>(s.half(), c, window, windows, (until(1), beside))
        } else {
            let narrower = const {
                match S::Half::LANES < S::LANES {
                    true => S::Half::LANES,
                    false => 1,
                }
            };
            group.windows::<S, M, STAGED>(
                s,
                keys.of::<_, M>(s),
                window,
                windows,
                (until(narrower), beside),
            )
        };
    }
}

/// Blocks for which it is worth it to go on with one message by itself.
const ALONE_FROM: usize = 16;

/// Bytes of a batch from which on a table for counters pays, and of a message by itself that
/// is not the first such.
const MANY_COUNTERS: usize = 1 << 13;
const MANY_ALONE: usize = 1 << 10;

/// The key's table for counters, made if there is none and it `pays`.
#[inline(always)]
fn first_rounds<S: Isa, M: Pass>(
    s: S,
    key: &Expanded,
    pays: impl FnOnce() -> bool,
) -> Option<&FirstRounds> {
    if const { counter_of::<S, M>().is_none() } {
        return None;
    }
    let kept = key.kept_first_rounds();
    match kept.is_some() || !pays() {
        true => kept,
        false => counters::<S, M>(s, key),
    }
}

/// The mode's tables for messages of at most `blocks` blocks, out of line, as they are made
/// once a key.
#[inline(never)]
fn tables<S: Isa, M: Pass>(s: S, key: &Expanded, blocks: usize) -> Tables {
    let mut tables = NO_TABLES;
    s.enter(
        #[inline(always)]
        || {
            M::tables(s, key, blocks, &mut tables.rows);
            if const { has_halves::<M>() } {
                let halves = tables.halves.write(tables.rows);
                for row in halves.chunks_exact_mut(<S::Unit as Isa>::LANES) {
                    s.unit().store_to(s.unit().load_from(row).sum_halves(), row);
                }
            }
        },
    );
    tables
}

/// What `blocks` blocks want of a key that keeps nothing: there is room for a `few` powers, and for
/// what is `made`.
#[inline(always)]
fn own_powers<'t, S: Isa, M: Pass>(
    s: S,
    key: &Expanded,
    blocks: usize,
    few: &'t mut FewRows,
    made: &'t mut Option<Tables>,
) -> Powers<'t> {
    if const { M::SHAPE.along().tables == 0 } {
        Powers::without_halves(&NO_TABLES.rows)
    } else if const { hash_of::<M>().is_some() } && blocks <= FEW_SUFFICE {
        Powers::few(few_rows_of::<S, M>(s, key, few))
    } else {
        Powers::of::<M>(made.insert(tables::<S, M>(s, key, blocks)))
    }
}
