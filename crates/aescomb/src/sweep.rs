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
}

impl Memory {
    pub(crate) fn new() -> Self {
        Memory {
            lanes: Box::new(Lanes::new()),
            keys: Box::new(LaneKeys::new()),
            derived: Box::new(LaneKeys::new()),
        }
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
                let verdicts = verdict.map(core::slice::from_mut);
                let jobs = Jobs::of(core::slice::from_ref(job), |job| job);
                let group = lanes.group::<_, M>(n, &[0], jobs, key.into(), verdicts);
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
                let mut beside = OneKey { s, key, keys: None };
                let ciphers = Ciphers {
                    all: c,
                    half,
                    narrow,
                    once: &once,
                };
                let derived = derived.as_mut();
                run::<_, M, 1, 0>(n, group, |_| key, ciphers, &mut beside, derived);
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
    } = &mut **memory;

    let jobs = *jobs;
    let keys = *keys;
    let degree = (*degree).min(S::LANES);
    let short = <S::Unit as Isa>::LANES * 8;
    let n = s.narrow();
    let narrow_keys;
    let once;
    let one = match (shared, keys) {
        (Some(shared), Keys::Shared(key)) => {
            narrow_keys = n.keys(key);
            once = UniformOnce {
                s,
                keys: shared,
                key,
            };
            Some(Ciphers {
                all: Uniform::new(s, shared, key),
                half: Uniform::new(s.half(), shared, key),
                narrow: Uniform::new(n, &narrow_keys, key),
                once: &once,
            })
        }
        _ => None,
    };
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
        // Nothing to put beside it.
        if queue.len() == 1 || degree == 1 {
            queue.pop(i);
            let verdict = verdicts.as_mut().map(|all| &mut all[i as usize]);
            kernel_alone::<S, M>(s, key, job, verdict);
            continue;
        }
        let mut messages = [0; MAX_LANES];
        let count = queue.take(&mut messages[..degree]);
        let group = lanes.group::<_, M>(s, &messages[..count], jobs, keys, verdicts.as_deref_mut());
        let all = |i| keys.get(i);
        if let (Some(shared), Some(ciphers)) = (shared, &one) {
            let mut beside = OneKey {
                s,
                key,
                keys: Some(shared),
            };
            let derived = Some(&mut **derived);
            run::<S, M, MAX_LANES, IDLE_ROWS>(s, group, all, *ciphers, &mut beside, derived);
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
            let ciphers = Ciphers {
                all: c,
                half,
                narrow,
                once: &PerLaneOnce(c),
            };
            let derived = Some(&mut **derived);
            let beside = &mut ManyKeys {
                s,
                key: all,
                again: None,
            };
            run::<S, M, MAX_LANES, IDLE_ROWS>(s, group, all, ciphers, beside, derived);
        }
    }
}

/// The keys of a group's messages: for rows of all lanes, of half of them, of the
/// first, and for what is done once a message.
struct Ciphers<'o, A, H, N, O> {
    all: A,
    half: H,
    narrow: N,
    once: &'o O,
}

impl<A: Copy, H: Copy, N: Copy, O> Clone for Ciphers<'_, A, H, N, O> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<A: Copy, H: Copy, N: Copy, O> Copy for Ciphers<'_, A, H, N, O> {}

/// [`Ciphers`] of an instruction set.
trait Of<S: Isa>: Copy {
    type All: Cipher<W = S::W> + Copy;
    type Half: Cipher<W = <S::Half as Isa>::W> + Copy;
    type Narrow: Cipher<W = <S::Narrow as Isa>::W> + Copy;
    type Once: Cipher<W = S::W>;
    fn get(&self) -> Ciphers<'_, Self::All, Self::Half, Self::Narrow, Self::Once>;
}

impl<S, A, H, N, O> Of<S> for Ciphers<'_, A, H, N, O>
where
    S: Isa,
    A: Cipher<W = S::W> + Copy,
    H: Cipher<W = <S::Half as Isa>::W> + Copy,
    N: Cipher<W = <S::Narrow as Isa>::W> + Copy,
    O: Cipher<W = S::W>,
{
    type All = A;
    type Half = H;
    type Narrow = N;
    type Once = O;

    #[inline(always)]
    fn get(&self) -> Ciphers<'_, A, H, N, O> {
        *self
    }
}

/// One group, all passes.
#[inline(always)]
fn run<'k, S: Isa, M: Sweep, const L: usize, const IDLE: usize>(
    s: S,
    group: Group<'_, '_, L, IDLE>,
    key: impl Fn(u32) -> &'k Key,
    ciphers: impl Of<S>,
    beside: &mut impl Beside,
    derived: Option<&mut LaneKeys<L>>,
) {
    if M::DERIVES
        && let Some(derived) = derived
    {
        let bytes = (key(group.keys()[0]).rounds() - 6) * 4;
        let [hash, first, second] = group.derive::<S, M>(s, ciphers.get().once, bytes);
        s.expand_row(derived, [first, second], bytes);
        derived.set_subkey(s, 0, hash);
        let keys = &*derived;
        let all = PerLane { s, keys };
        let ciphers = Ciphers {
            all,
            half: PerLane { s: s.half(), keys },
            narrow: PerLane {
                s: s.narrow(),
                keys,
            },
            once: &PerLaneOnce(all),
        };
        let mut beside = beside.derived(keys);
        passes::<S, M, L, IDLE>(s, group, ciphers, &mut beside);
    } else {
        passes::<S, M, L, IDLE>(s, group, ciphers, beside);
    }
}

#[inline(always)]
fn passes<S: Isa, M: Sweep, const L: usize, const IDLE: usize>(
    s: S,
    mut group: Group<'_, '_, L, IDLE>,
    ciphers: impl Of<S>,
    beside: &mut impl Beside,
) {
    pass::<S, M, L, IDLE>(s, &mut group, ciphers, beside);
    if M::MORE {
        group.again::<M::Then>();
        pass::<S, M::Then, L, IDLE>(s, &mut group, ciphers, beside);
    }
}

/// Begin, window by window, finish. A window is run by the narrowest kernel that
/// holds its lanes.
#[inline(always)]
fn pass<S: Isa, M: Sweep, const L: usize, const IDLE: usize>(
    s: S,
    group: &mut Group<'_, '_, L, IDLE>,
    ciphers: impl Of<S>,
    beside: &mut impl Beside,
) {
    let c = ciphers.get();
    group.begin::<S, M>(s, c.once);
    let mut windows = Windows::new(group.rows().len());
    while let Some(mut window) = windows.next(group.rows()) {
        let rest = group.rows()[0] - group.done();
        if M::FEED == Feed::Place && beside.pays::<M>(&group.keys()[..window.lanes], rest) {
            // From a multiple of a row on.
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
            group.window::<S::Narrow, M>(s.narrow(), c.narrow, window);
        } else if window.lanes <= S::Half::LANES && S::Half::LANES < S::LANES {
            group.window::<S::Half, M>(s.half(), c.half, window);
        } else {
            group.window::<S, M>(s, c.all, window);
        }
    }
    group.finish::<S, M>(s, c.once);
}

/// The other way to do rows: messages one by one, blocks of each side by side.
trait Beside {
    type S: Isa;
    fn token(&self) -> Self::S;
    /// Blocks in a row.
    #[inline(always)]
    fn lanes(&self) -> usize {
        Self::S::LANES
    }
    /// The same with keys of the messages' own.
    #[inline(always)]
    fn derived<'d, const K: usize>(&self, keys: &'d LaneKeys<K>) -> Derived<'d, Self::S, K> {
        let s = self.token();
        Derived { s, keys }
    }
    /// Whether it is the better way for messages under `keys` of which the longest has
    /// `rest` blocks left.
    fn pays<M: Sweep>(&mut self, keys: &[u32], rest: usize) -> bool;
    /// Does the rest of lane `l`'s rows.
    fn lane<M: Sweep, const L: usize, const IDLE: usize>(
        &mut self,
        group: &mut Group<'_, '_, L, IDLE>,
        l: usize,
    );
}

/// A row of neighbouring blocks costs two thirds of one of a group, as nothing is
/// gathered, whether it is full or not; a message costs `fixed` rows more.
#[inline(always)]
fn pays<S: Isa>(lanes: usize, rest: usize, fixed: usize) -> bool {
    S::LANES > 1 && lanes * (rest.div_ceil(S::LANES) + fixed) * 2 < rest * 3
}

/// Under one key, which keeps the tables.
struct OneKey<'k, S: Isa> {
    s: S,
    key: &'k Key,
    /// In the instruction set's form, if that was made before.
    keys: Option<&'k S::Keys>,
}

impl<S: Isa> Beside for OneKey<'_, S> {
    type S = S;

    #[inline(always)]
    fn token(&self) -> S {
        self.s
    }

    #[inline(always)]
    fn pays<M: Sweep>(&mut self, keys: &[u32], rest: usize) -> bool {
        // A batch makes them once for all its messages. Alone, they must pay for the
        // memory that they are kept in.
        let free = M::TABLES == 0 || self.keys.is_some() || self.key.has_tables();
        pays::<S>(keys.len(), rest, if free { 1 } else { 4 + M::TABLES })
    }

    #[inline(always)]
    fn lane<M: Sweep, const L: usize, const IDLE: usize>(
        &mut self,
        group: &mut Group<'_, '_, L, IDLE>,
        l: usize,
    ) {
        under::<S, M, L, IDLE>(self.s, self.key, self.keys, true, group, l);
    }
}

/// Of modes that want none.
const NO_TABLES: Tables = [[0; 16]; 2 * MAX_LANES];

/// The mode's tables, out of line, as they are made once a key.
#[inline(never)]
fn tables<S: Isa, M: Sweep>(s: S, key: &Key) -> Tables {
    let mut tables = [[0; 16]; 2 * MAX_LANES];
    s.enter(
        #[inline(always)]
        || M::tables(s, key, &mut tables),
    );
    tables
}

/// With a key for each message.
struct ManyKeys<S, F> {
    s: S,
    key: F,
    /// Whether the group's keys had long messages before, once that is known.
    again: Option<bool>,
}

impl<'j, S: Isa, F: Fn(u32) -> &'j Key> Beside for ManyKeys<S, F> {
    type S = S;

    #[inline(always)]
    fn token(&self) -> S {
        self.s
    }

    #[inline(always)]
    fn pays<M: Sweep>(&mut self, keys: &[u32], rest: usize) -> bool {
        let n = keys.len();
        if !pays::<S>(n, rest, 1) || M::TABLES == 0 {
            return pays::<S>(n, rest, 1);
        }
        // Asked again and again of the same messages.
        let again = *self.again.get_or_insert_with(|| {
            let all = keys.iter().map(|i| (self.key)(*i).long_again());
            all.fold(true, |all, again| all & again)
        });
        again || pays::<S>(n, rest, 1 + M::TABLES)
    }

    #[inline(always)]
    fn lane<M: Sweep, const L: usize, const IDLE: usize>(
        &mut self,
        group: &mut Group<'_, '_, L, IDLE>,
        l: usize,
    ) {
        let key = (self.key)(group.keys()[l]);
        let keeps = self.again == Some(true);
        under::<S, M, L, IDLE>(self.s, key, None, keeps, group, l);
    }
}

/// With keys that were derived for the messages.
struct Derived<'d, S, const K: usize> {
    s: S,
    keys: &'d LaneKeys<K>,
}

impl<S: Isa, const K: usize> Beside for Derived<'_, S, K> {
    type S = S;

    #[inline(always)]
    fn token(&self) -> S {
        self.s
    }

    #[inline(always)]
    fn pays<M: Sweep>(&mut self, keys: &[u32], rest: usize) -> bool {
        pays::<S>(keys.len(), rest, 6 + M::TABLES)
    }

    #[inline(always)]
    fn lane<M: Sweep, const L: usize, const IDLE: usize>(
        &mut self,
        group: &mut Group<'_, '_, L, IDLE>,
        l: usize,
    ) {
        under::<S, M, L, IDLE>(self.s, &self.keys.key(l), None, false, group, l);
    }
}

/// Does the rest of lane `l`'s rows under `key`, whose form `keys` may have been made
/// before, and whose tables it `keeps` or not.
#[inline(always)]
fn under<S: Isa, M: Sweep, const L: usize, const IDLE: usize>(
    s: S,
    key: &Key,
    keys: Option<&S::Keys>,
    keeps: bool,
    group: &mut Group<'_, '_, L, IDLE>,
    l: usize,
) {
    let made;
    let keys = match keys {
        Some(keys) => keys,
        None => {
            made = s.keys(key);
            &made
        }
    };
    let c = Uniform::new(s, keys, key);
    if M::TABLES == 0 {
        return group.neighbours::<S, M>(l, c, &NO_TABLES);
    }
    let kept = match keeps {
        true => key.tables(S::LANES, || tables::<S, M>(s, key)),
        false => None,
    };
    let other;
    let tables = match kept {
        Some(tables) => tables,
        // Those that the key keeps are for another width, or it keeps none.
        None => {
            other = tables::<S, M>(s, key);
            &other
        }
    };
    group.neighbours::<S, M>(l, c, tables);
}
