//! The engine: takes sorted messages from the queue, gives them to lanes or does
//! them one by one, and runs the kernels. One instance per mode, direction and
//! instruction set.

use crate::backend::{Backend, dispatch};
use crate::comb::{Queue, Windows};
use crate::isa::{Cipher, Isa, PerLane, Uniform};
use crate::key::{Key, Keys};
use crate::lanes::{Group, Job, Jobs, LaneKeys, Lanes};
use crate::modes::{Feed, Sweep};
use crate::span::{chain, span};
use alloc::boxed::Box;

/// Memory of the kernels, made once per scheduler.
pub(crate) struct Memory {
    lanes: Box<Lanes>,
    keys: Box<LaneKeys>,
}

impl Memory {
    pub(crate) fn new() -> Self {
        Memory {
            lanes: Box::new(Lanes::new()),
            keys: Box::new(LaneKeys::new()),
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
}

/// Runs `M` on everything in the queue.
pub(crate) fn sweep<M: Sweep>(backend: Backend, work: Work<'_>) {
    dispatch!(backend, work.degree, s => kernel::<_, M>(s, work))
}

/// Runs `M` on one message.
pub(crate) fn alone<M: Sweep>(backend: Backend, key: &Key, job: &Job) {
    dispatch!(backend, 1, s => kernel_alone::<_, M>(s, key, job))
}

#[inline(never)]
fn kernel_alone<S: Isa, M: Sweep>(s: S, key: &Key, job: &Job) {
    s.enter(
        #[inline(always)]
        || match M::FEED {
            Feed::Serial => chain::<S::Narrow, M>(s.narrow(), key, job),
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
        jobs, keys, memory, ..
    } = work;
    let degree = work.degree.min(S::LANES);
    let lanes = &mut *memory.lanes;
    let short = <S::Unit as Isa>::LANES * 8;
    let mut queue = work.queue.drain();
    while let Some(i) = queue.peek() {
        let job = jobs.get(i);
        let key = keys.get(job.key);
        // A group must be worth its overhead.
        if !matches!(M::FEED, Feed::Serial)
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
            #[inline(always)]
            || {
                let i = queue.peek()?;
                let job = jobs.get(i);
                // Key sizes never mix.
                if shared.is_none() && keys.get(job.key).rounds() != key.rounds() {
                    return None;
                }
                queue.pop(i);
                Some(job)
            },
        );
        let longest = keys.get(group.keys()[0]);
        if group.keys().len() == 1 {
            chain::<S::Narrow, M>(s.narrow(), key, job);
        } else if let Some(shared) = shared {
            let c = Uniform::new(s, shared, key);
            let half = Uniform::new(s.half(), shared, key);
            run::<S, M>(s, group, longest, c, half);
        } else {
            for (l, key) in group.keys().iter().enumerate() {
                s.lane_key(&mut memory.keys, l, keys.get(*key), M::INVERSE);
            }
            let keys = &*memory.keys;
            let half = PerLane { s: s.half(), keys };
            run::<S, M>(s, group, longest, PerLane { s, keys }, half);
        }
    }
}

/// One group: begin, window by window, finish. A window is run by the narrowest
/// kernel that holds its lanes; one lane is left to `longest`, the first
/// message's key.
#[inline(always)]
fn run<S: Isa, M: Sweep>(
    s: S,
    mut group: Group<'_, '_>,
    longest: &Key,
    c: impl Cipher<W = S::W> + Copy,
    half: impl Cipher<W = <S::Half as Isa>::W> + Copy,
) {
    group.begin::<S, M>(s, c);
    let mut windows = Windows::new(group.rows().len());
    while let Some(window) = windows.next(group.rows()) {
        if window.lanes == 1 && S::LANES > 1 {
            let s = s.narrow();
            let keys = s.keys(longest);
            group.window::<S::Narrow, M>(s, Uniform::new(s, &keys, longest), window);
        } else if window.lanes <= S::Half::LANES && S::Half::LANES < S::LANES {
            group.window::<S::Half, M>(s.half(), half, window);
        } else {
            group.window::<S, M>(s, c, window);
        }
    }
    group.finish::<S, M>(s, c);
}
