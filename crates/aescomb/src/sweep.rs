//! The engine: takes sorted messages from the queue, gives them to lanes or does
//! them one by one, and runs the kernels. One instance per mode, direction and
//! instruction set.

use crate::backend::{Backend, dispatch};
use crate::comb::{Queue, Windows};
use crate::isa::{Cipher, Isa, PerLane, Uniform};
use crate::key::{Key, Keys};
use crate::lanes::{Job, LaneKeys, Lanes, MAX_LANES};
use crate::modes::{Feed, Sweep};
use crate::span::{chain, span};
use alloc::boxed::Box;

/// Memory of the kernels, made once per scheduler.
pub(crate) struct Memory {
    lanes: Box<Lanes>,
    /// Made when keys are first given per message.
    keys: Option<Box<LaneKeys>>,
}

impl Memory {
    pub(crate) fn new() -> Self {
        Memory {
            lanes: Box::new(Lanes::new()),
            keys: None,
        }
    }
}

/// What there is to do.
pub(crate) struct Work<'a> {
    pub jobs: &'a [Job],
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
            Feed::Serial => one::<S, M>(s, key, job),
            _ => {
                let keys = s.keys(key);
                span::<S, M>(
                    &Uniform {
                        s,
                        keys: &keys,
                        key,
                    },
                    job,
                );
            }
        },
    )
}

/// One message of a serial mode.
#[inline(always)]
fn one<S: Isa, M: Sweep>(s: S, key: &Key, job: &Job) {
    let s = s.narrow();
    let keys = s.keys(key);
    chain::<S::Narrow, M>(
        &Uniform {
            s,
            keys: &keys,
            key,
        },
        job,
    );
}

#[inline(never)]
fn kernel<S: Isa, M: Sweep>(s: S, mut work: Work<'_>) {
    s.enter(
        #[inline(always)]
        || match work.keys {
            Keys::Shared(key) => {
                let keys = s.keys(key);
                let c = Uniform {
                    s,
                    keys: &keys,
                    key,
                };
                drive::<S, M>(s, &mut work, Some(&c))
            }
            Keys::Table(_) => drive::<S, M>(s, &mut work, None),
        },
    )
}

/// Algorithm 1: groups of P, longest messages first. Modes that are parallel
/// inside a message do long messages one by one instead, and group only those
/// that would leave most of a register empty.
#[inline(always)]
fn drive<S: Isa, M: Sweep>(s: S, work: &mut Work<'_>, shared: Option<&Uniform<'_, S>>) {
    let degree = work.degree.min(S::LANES);
    let jobs = work.jobs;
    let rows = |i: u32| M::LENGTHS.rows(jobs[i as usize].len);
    let mut taken = [0; MAX_LANES];
    loop {
        let n = work.queue.take(&mut taken[..degree], rows);
        let mut group = &taken[..n];
        if group.is_empty() {
            return;
        }
        if !matches!(M::FEED, Feed::Serial) {
            let short = <S::Unit as Isa>::LANES * 8;
            while let [first, others @ ..] = group {
                let job = &jobs[*first as usize];
                // A group must be worth its overhead.
                if job.len <= short && group.len() * 2 >= S::LANES && S::LANES > 1 {
                    break;
                }
                match shared {
                    Some(c) => span::<S, M>(c, job),
                    None => {
                        let key = work.keys.get(job.key);
                        let keys = s.keys(key);
                        span::<S, M>(
                            &Uniform {
                                s,
                                keys: &keys,
                                key,
                            },
                            job,
                        );
                    }
                }
                group = others;
            }
            if group.is_empty() {
                continue;
            }
        }
        if let [only] = group {
            let job = &jobs[*only as usize];
            one::<S, M>(s, work.keys.get(job.key), job);
            continue;
        }
        let lanes = &mut *work.memory.lanes;
        lanes.clear();
        for i in group {
            lanes.add(M::LENGTHS, &jobs[*i as usize]);
        }
        let first = work.keys.get(jobs[group[0] as usize].key);
        if let Some(c) = shared {
            let half = Uniform {
                s: s.half(),
                keys: c.keys,
                key: c.key,
            };
            run::<S, M>(s, lanes, first, c, &half);
        } else {
            let keys = work
                .memory
                .keys
                .get_or_insert_with(|| Box::new(LaneKeys::new()));
            for (l, i) in group.iter().enumerate() {
                s.lane_key(keys, l, work.keys.get(jobs[*i as usize].key), M::INVERSE);
            }
            run::<S, M>(
                s,
                lanes,
                first,
                &PerLane { s, keys },
                &PerLane { s: s.half(), keys },
            );
        }
    }
}

/// One group: begin, window by window, finish. A window is run by the narrowest
/// kernel that holds its lanes.
#[inline(always)]
fn run<S: Isa, M: Sweep>(
    s: S,
    lanes: &mut Lanes,
    first: &Key,
    c: &impl Cipher<W = S::W>,
    half: &impl Cipher<W = <S::Half as Isa>::W>,
) {
    lanes.begin::<S, M>(s, c);
    let mut windows = Windows::new(lanes.rows().len());
    while let Some(window) = windows.next(lanes.rows()) {
        if window.lanes == 1 && S::LANES > 1 {
            let s = s.narrow();
            let keys = s.keys(first);
            let c = Uniform {
                s,
                keys: &keys,
                key: first,
            };
            lanes.window::<S::Narrow, M>(s, &c, window);
        } else if window.lanes <= S::Half::LANES && S::Half::LANES < S::LANES {
            lanes.window::<S::Half, M>(s.half(), half, window);
        } else {
            lanes.window::<S, M>(s, c, window);
        }
    }
    lanes.finish::<S, M>(s, c);
}
