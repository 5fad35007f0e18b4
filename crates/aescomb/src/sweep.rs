//! The engine: takes sorted messages from the queue, gives them to lanes or does
//! them one by one, and runs the kernels. One instance per mode, direction and
//! instruction set.

use crate::backend::{Backend, dispatch};
use crate::comb::{Queue, Windows};
use crate::isa::{Block, Cipher, Isa, PerLane, PerLaneOnce, Uniform, UniformOnce};
use crate::key::{Key, Keys};
use crate::lane_keys::LaneKeys;
use crate::lanes::{Group, IDLE_ROWS, Job, Jobs, Lanes, MAX_LANES};
use crate::modes::{Feed, Sweep, Tables};
use crate::span::span;
use alloc::boxed::Box;

/// Memory of the kernels, made once per scheduler.
pub(crate) struct Memory {
    lanes: Box<Lanes<MAX_LANES, IDLE_ROWS>>,
    keys: Box<LaneKeys<MAX_LANES>>,
    /// Keys that a mode derives for each message.
    derived: Box<LaneKeys<MAX_LANES>>,
    /// Rows that depend on one key.
    tables: Box<Tables>,
}

impl Memory {
    pub(crate) fn new() -> Self {
        Memory {
            lanes: Box::new(Lanes::new()),
            keys: Box::new(LaneKeys::new()),
            derived: Box::new(LaneKeys::new()),
            tables: Box::new(NO_TABLES),
        }
    }
}

const NO_TABLES: Tables = [[[0; 16]; 2 * MAX_LANES]; 2];

impl Drop for Memory {
    fn drop(&mut self) {
        *self.tables = NO_TABLES;
        zeroize::optimization_barrier(&*self.tables);
    }
}

/// What there is to do.
pub(crate) struct Work<'a> {
    pub jobs: Jobs<'a>,
    pub queue: &'a mut Queue,
    pub keys: Keys<'a>,
    pub memory: &'a mut Memory,
    /// The parallelism degree P.
    pub degree: usize,
    /// For each message the difference between its tag and the one that came with
    /// it, where tags are compared.
    pub verdicts: Option<&'a mut [Block]>,
}

/// Runs `M` on everything in the queue.
pub(crate) fn sweep<M: Sweep>(backend: Backend, work: Work<'_>) {
    dispatch!(backend, work.degree, s => kernel::<_, M>(s, work))
}

/// Runs `M` on one message.
pub(crate) fn alone<M: Sweep>(backend: Backend, key: &Key, job: &Job, verdict: Option<&mut Block>) {
    dispatch!(backend, 1, s => kernel_alone::<_, M>(s, key, job, verdict))
}

#[inline(never)]
fn kernel_alone<S: Isa, M: Sweep>(s: S, key: &Key, job: &Job, verdict: Option<&mut Block>) {
    s.enter(
        #[inline(always)]
        || match M::FEED {
            Feed::Serial | Feed::Place => {
                let n = s.narrow();
                let mut lanes = Lanes::<1, 0>::new();
                let mut verdicts = verdict.map(core::slice::from_mut);
                let mut job = Some((0, job));
                let group = lanes.group::<M>(1, &mut verdicts, || job.take());
                let keys = n.keys(key);
                let c = Uniform::new(n, &keys, key);
                // One lane is all there is, but the types do not say so.
                let half = Uniform::new(n.half(), &keys, key);
                let narrow_keys = n.narrow().keys(key);
                let narrow = Uniform::new(n.narrow(), &narrow_keys, key);
                let mut derived = M::DERIVES.then(LaneKeys::<1>::new);
                let once = UniformOnce {
                    s: n,
                    keys: &keys,
                    key,
                };
                let wide = s.keys(key);
                let mut tables = NO_TABLES;
                let mut beside = OneKey {
                    c: Uniform::new(s, &wide, key),
                    key,
                    tables: &mut tables,
                    made: false,
                };
                run::<_, M, 1, 0>(
                    n,
                    group,
                    |_| key,
                    c,
                    half,
                    narrow,
                    &once,
                    &mut beside,
                    derived.as_mut(),
                );
            }
            _ => span::<S, M>(s, &s.keys(key), key, job),
        },
    )
}

#[inline(never)]
fn kernel<S: Isa, M: Sweep>(s: S, mut work: Work<'_>) {
    s.enter(
        #[inline(always)]
        || match work.keys {
            Keys::Shared(key) => drive::<S, M>(s, &mut work, Some(&s.keys(key))),
            Keys::Table(_) => drive::<S, M>(s, &mut work, None),
        },
    )
}

/// Algorithm 1: groups of P, longest messages first. Modes that are parallel
/// inside a message do long messages one by one instead, and group only those
/// that would leave most of a register empty.
///
/// `shared` is the call's one key; without it every message has its own.
#[inline(always)]
fn drive<S: Isa, M: Sweep>(s: S, work: &mut Work<'_>, shared: Option<&S::Keys>) {
    let Work {
        jobs,
        keys,
        memory,
        verdicts,
        degree,
        ..
    } = work;
    let Memory {
        lanes,
        keys: lane_keys,
        derived,
        tables,
    } = &mut **memory;
    let mut tables_made = false;
    let jobs = *jobs;
    let keys = *keys;
    let degree = (*degree).min(S::LANES);
    let short = <S::Unit as Isa>::LANES * 8;
    let mut queue = work.queue.drain();
    while let Some(i) = queue.peek() {
        let job = jobs.get(i);
        let key = keys.get(job.key);
        // A group must be worth its overhead.
        if !matches!(M::FEED, Feed::Serial | Feed::Place)
            && (S::LANES == 1 || job.len > short || queue.len() * 2 < S::LANES)
        {
            queue.pop(i);
            match shared {
                Some(shared) => span::<S, M>(s, shared, key, job),
                None => span::<S, M>(s, &s.keys(key), key, job),
            }
            continue;
        }
        let group = lanes.group::<M>(
            degree,
            verdicts,
            #[inline(always)]
            || {
                let i = queue.peek()?;
                let job = jobs.get(i);
                // Key sizes never mix.
                if shared.is_none() && keys.get(job.key).rounds() != key.rounds() {
                    return None;
                }
                queue.pop(i);
                Some((i, job))
            },
        );
        let all = |i| keys.get(i);
        if let Some(shared) = shared {
            let c = Uniform::new(s, shared, key);
            let half = Uniform::new(s.half(), shared, key);
            let n = s.narrow();
            let narrow_keys = n.keys(key);
            let narrow = Uniform::new(n, &narrow_keys, key);
            let once = UniformOnce {
                s,
                keys: shared,
                key,
            };
            let mut beside = OneKey {
                c,
                key,
                tables: &mut **tables,
                made: tables_made,
            };
            run::<S, M, MAX_LANES, IDLE_ROWS>(
                s,
                group,
                all,
                c,
                half,
                narrow,
                &once,
                &mut beside,
                Some(derived),
            );
            tables_made = beside.made;
        } else {
            for (l, key) in group.keys().iter().enumerate() {
                s.lane_key(lane_keys, l, keys.get(*key), M::USES);
            }
            let keys = &**lane_keys;
            let c = PerLane { s, keys };
            let half = PerLane { s: s.half(), keys };
            let narrow = PerLane {
                s: s.narrow(),
                keys,
            };
            run::<S, M, MAX_LANES, IDLE_ROWS>(
                s,
                group,
                all,
                c,
                half,
                narrow,
                &PerLaneOnce(c),
                &mut ManyKeys {
                    s,
                    key: all,
                    tables: &mut **tables,
                },
                Some(derived),
            );
        }
    }
}

/// One group, all passes. `c`, `half` and `narrow` are the messages' keys for all
/// lanes, for half of them and for the first.
#[inline(always)]
fn run<'k, S: Isa, M: Sweep, const L: usize, const IDLE: usize>(
    s: S,
    mut group: Group<'_, '_, L, IDLE>,
    key: impl Fn(u32) -> &'k Key,
    c: impl Cipher<W = S::W> + Copy,
    half: impl Cipher<W = <S::Half as Isa>::W> + Copy,
    narrow: impl Cipher<W = <S::Narrow as Isa>::W> + Copy,
    once: &impl Cipher<W = S::W>,
    beside: &mut impl Beside,
    derived: Option<&mut LaneKeys<L>>,
) {
    group.header::<M>(&key);
    if M::DERIVES
        && let Some(derived) = derived
    {
        let bytes = (key(group.keys()[0]).rounds() - 6) * 4;
        let [hash, first, second] = group.derive::<S, M>(s, once, bytes);
        s.expand_row(derived, [first, second], bytes);
        derived.set_subkey(s, 0, hash);
        let keys = &*derived;
        let half = PerLane { s: s.half(), keys };
        let narrow = PerLane {
            s: s.narrow(),
            keys,
        };
        let c = PerLane { s, keys };
        passes::<S, M, L, IDLE>(s, group, c, half, narrow, &PerLaneOnce(c), &mut Nothing);
    } else {
        passes::<S, M, L, IDLE>(s, group, c, half, narrow, once, beside);
    }
}

#[inline(always)]
fn passes<S: Isa, M: Sweep, const L: usize, const IDLE: usize>(
    s: S,
    mut group: Group<'_, '_, L, IDLE>,
    c: impl Cipher<W = S::W> + Copy,
    half: impl Cipher<W = <S::Half as Isa>::W> + Copy,
    narrow: impl Cipher<W = <S::Narrow as Isa>::W> + Copy,
    once: &impl Cipher<W = S::W>,
    beside: &mut impl Beside,
) {
    pass::<S, M, L, IDLE>(s, &mut group, c, half, narrow, once, beside);
    if M::MORE {
        group.again::<M::Then>();
        pass::<S, M::Then, L, IDLE>(s, &mut group, c, half, narrow, once, beside);
    }
}

/// Begin, window by window, finish. A window is run by the narrowest kernel that
/// holds its lanes.
#[inline(always)]
fn pass<S: Isa, M: Sweep, const L: usize, const IDLE: usize>(
    s: S,
    group: &mut Group<'_, '_, L, IDLE>,
    c: impl Cipher<W = S::W> + Copy,
    half: impl Cipher<W = <S::Half as Isa>::W> + Copy,
    narrow: impl Cipher<W = <S::Narrow as Isa>::W> + Copy,
    once: &impl Cipher<W = S::W>,
    beside: &mut impl Beside,
) {
    group.begin::<S, M>(s, once);
    let mut windows = Windows::new(group.rows().len());
    while let Some(mut window) = windows.next(group.rows()) {
        if M::FEED == Feed::Place && beside.pays(window.lanes, group.rows()[0] - group.done()) {
            let past = group.done() % beside.lanes();
            if past == 0 {
                for l in 0..window.lanes {
                    beside.lane::<M, L, IDLE>(group, l);
                }
                break;
            }
            let rows = window.rows.min(beside.lanes() - past);
            windows.give_back(window.rows - rows);
            window.rows = rows;
        }
        if window.lanes == 1 && S::LANES > 1 {
            group.window::<S::Narrow, M>(s.narrow(), narrow, window);
        } else if window.lanes <= S::Half::LANES && S::Half::LANES < S::LANES {
            group.window::<S::Half, M>(s.half(), half, window);
        } else {
            group.window::<S, M>(s, c, window);
        }
    }
    group.finish::<S, M>(s, once);
}

/// The other way to do rows: messages one by one, blocks of each side by side.
trait Beside {
    /// Blocks in a row.
    fn lanes(&self) -> usize;
    /// Whether it is the better way for `lanes` messages of which the longest has
    /// `rest` blocks left.
    fn pays(&self, lanes: usize, rest: usize) -> bool;
    /// Does the rest of lane `l`'s rows.
    fn lane<M: Sweep, const L: usize, const IDLE: usize>(
        &mut self,
        group: &mut Group<'_, '_, L, IDLE>,
        l: usize,
    );
}

/// A row costs about the same either way, but for one message alone two thirds, as
/// nothing is gathered; a message costs `fixed` rows more.
#[inline(always)]
fn pays<S: Isa>(lanes: usize, rest: usize, fixed: usize) -> bool {
    S::LANES > 1 && lanes * (rest + fixed * S::LANES) * 2 < rest * S::LANES * 3
}

/// Under one key.
struct OneKey<'k, 't, S: Isa> {
    c: Uniform<'k, S>,
    key: &'k Key,
    tables: &'t mut Tables,
    made: bool,
}

impl<S: Isa> Beside for OneKey<'_, '_, S> {
    #[inline(always)]
    fn lanes(&self) -> usize {
        S::LANES
    }

    #[inline(always)]
    fn pays(&self, lanes: usize, rest: usize) -> bool {
        pays::<S>(lanes, rest, 1)
    }

    #[inline(always)]
    fn lane<M: Sweep, const L: usize, const IDLE: usize>(
        &mut self,
        group: &mut Group<'_, '_, L, IDLE>,
        l: usize,
    ) {
        if !self.made {
            M::tables(self.c.s, self.key, self.tables);
            self.made = true;
        }
        group.neighbours::<S, M>(l, self.c, self.tables);
    }
}

/// With a key for each message.
struct ManyKeys<'k, S, F> {
    s: S,
    key: F,
    tables: &'k mut Tables,
}

impl<'j, S: Isa, F: Fn(u32) -> &'j Key> Beside for ManyKeys<'_, S, F> {
    #[inline(always)]
    fn lanes(&self) -> usize {
        S::LANES
    }

    #[inline(always)]
    fn pays(&self, lanes: usize, rest: usize) -> bool {
        pays::<S>(lanes, rest, 4)
    }

    #[inline(always)]
    fn lane<M: Sweep, const L: usize, const IDLE: usize>(
        &mut self,
        group: &mut Group<'_, '_, L, IDLE>,
        l: usize,
    ) {
        let key = (self.key)(group.keys()[l]);
        let keys = self.s.keys(key);
        M::tables(self.s, key, self.tables);
        group.neighbours::<S, M>(l, Uniform::new(self.s, &keys, key), self.tables);
    }
}

/// Not at all.
struct Nothing;

impl Beside for Nothing {
    fn lanes(&self) -> usize {
        1
    }

    fn pays(&self, _: usize, _: usize) -> bool {
        false
    }

    fn lane<M: Sweep, const L: usize, const IDLE: usize>(
        &mut self,
        _: &mut Group<'_, '_, L, IDLE>,
        _: usize,
    ) {
        unreachable!("it never pays");
    }
}
