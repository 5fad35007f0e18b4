//! [`Crew`]: threads that help with a call, and look out for the next one before they sleep.
//!
//! A thread that sleeps takes tens of microseconds to wake, in which a thousand short packets are
//! done. Thread pools put their threads to sleep between two calls; these stay awake for
//! [`LOOKOUT`], and a call does not wait for one that comes too late.
//!
//! `unsafe` here rests on two facts: a task is written by the only owner of the crew, while its thread has
//! none; and the call that lends a task takes it back before it returns, or panics.
#![allow(unsafe_code)]

use crate::comb::Comb;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::cell::UnsafeCell;
use core::hint::spin_loop;
use core::sync::atomic::{AtomicU8, Ordering};
use core::time::Duration;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread::{Builder, JoinHandle, Thread, park, yield_now};
use std::time::Instant;

/// What a thread does with its scheduler; it is told which thread it is, from 1 on.
pub(crate) type Task<'t> = dyn Fn(usize, &mut Comb) + Sync + 't;

/// How long a thread looks out for work before it sleeps: somewhat longer than it takes to wake it.
pub(crate) const LOOKOUT: Duration = Duration::from_micros(100);

/// The thread looks out for work.
const AWAKE: u8 = 0;
/// It sleeps, or is about to.
const ASLEEP: u8 = 1;
/// There is a task for it.
const GIVEN: u8 = 2;
/// It has taken the task.
const TAKEN: u8 = 3;
/// It looks out for work again, and the task that it had panicked.
const PANICKED: u8 = 4;
/// It is to end.
const END: u8 = 5;

/// Between one thread and the owner of the crew. In lines of the cache of its own.
#[repr(align(128))]
struct Desk {
    state: AtomicU8,
    task: UnsafeCell<*const Task<'static>>,
}

// SAFETY: the task is written while the state is `AWAKE` or `ASLEEP`, by the owner of the crew, and
// read while it is `TAKEN`, by the thread. It may be run by any thread, as it is `Sync`.
unsafe impl Send for Desk {}
// SAFETY: as above.
unsafe impl Sync for Desk {}

struct Member {
    desk: Arc<Desk>,
    handle: Option<JoinHandle<()>>,
    thread: Thread,
}

/// Threads with a scheduler each. They end when it is dropped.
pub(crate) struct Crew {
    members: Vec<Member>,
}

impl Crew {
    /// A thread for each of these schedulers; fewer, if the system refuses to start them.
    pub(crate) fn new(combs: impl IntoIterator<Item = Comb>) -> Crew {
        let members = (1..).zip(combs).map_while(|(number, mut comb)| {
            let desk = Arc::new(Desk {
                state: AtomicU8::new(AWAKE),
                task: UnsafeCell::new(&|_: usize, _: &mut Comb| {}),
            });
            let own = Arc::clone(&desk);
            let builder = Builder::new().name("aescomb".into());
            let handle = builder.spawn(move || own.serve(number, &mut comb)).ok()?;
            let thread = handle.thread().clone();
            Some(Member {
                desk,
                handle: Some(handle),
                thread,
            })
        });
        Crew {
            members: members.collect(),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.members.len()
    }

    /// How many of the first `count` threads are awake.
    pub(crate) fn awake(&self, count: usize) -> usize {
        let is_awake = |m: &&Member| m.desk.state.load(Ordering::Relaxed) == AWAKE;
        self.members.iter().take(count).filter(is_awake).count()
    }

    /// Runs `own` here while the first `count` threads run `task`, those of them that are in time
    /// for it.
    ///
    /// # Panics
    /// If `task` does on a thread.
    pub(crate) fn with<R>(&mut self, count: usize, task: &Task<'_>, own: impl FnOnce() -> R) -> R {
        let lent = Lent(&self.members[..count.min(self.members.len())]);
        let task: *const Task<'_> = task;
        // SAFETY: the two types differ in a lifetime; `lent` takes the task back before it ends.
        let task: *const Task<'static> = unsafe { core::mem::transmute(task) };
        for member in lent.0 {
            // SAFETY: the thread has no task, as the last call took it back.
            unsafe { *member.desk.task.get() = task };
            if member.desk.state.swap(GIVEN, Ordering::AcqRel) == ASLEEP {
                member.thread.unpark();
            }
        }
        let result = own();
        let panicked = lent.take_back();
        core::mem::forget(lent);
        assert!(!panicked, "a thread panicked");
        result
    }
}

impl Drop for Crew {
    fn drop(&mut self) {
        for member in &self.members {
            member.desk.state.store(END, Ordering::Release);
            member.thread.unpark();
        }
        for handle in self.members.iter_mut().filter_map(|m| m.handle.take()) {
            // Panics are reported where their task was lent.
            let _ = handle.join();
        }
    }
}

/// Threads that may have a task: dropped, it takes it back, and waits for those that have begun.
struct Lent<'c>(&'c [Member]);

impl Lent<'_> {
    /// Whether it panicked on any of them.
    fn take_back(&self) -> bool {
        let mut panicked = false;
        for Member { desk, .. } in self.0 {
            // Asked first: an exchange would take the line from a thread that is about to write it.
            let is = |state| desk.state.load(Ordering::Acquire) == state;
            if !(is(GIVEN) && desk.changes(GIVEN, AWAKE)) {
                wait_until(|| !is(TAKEN));
                panicked |= is(PANICKED) && desk.changes(PANICKED, AWAKE);
            }
        }
        panicked
    }
}

impl Drop for Lent<'_> {
    fn drop(&mut self) {
        self.take_back();
    }
}

impl Desk {
    /// From one state to the other, if it is that one.
    fn changes(&self, from: u8, to: u8) -> bool {
        let (good, bad) = (Ordering::AcqRel, Ordering::Relaxed);
        self.state.compare_exchange(from, to, good, bad).is_ok()
    }

    /// What a thread does.
    fn serve(&self, number: usize, comb: &mut Comb) {
        let mut idle = Idle::new();
        loop {
            match self.state.load(Ordering::Relaxed) {
                END => return,
                GIVEN if self.changes(GIVEN, TAKEN) => {
                    // SAFETY: the call that lent it waits for it.
                    let task = unsafe { &**self.task.get() };
                    let result = catch_unwind(AssertUnwindSafe(|| task(number, comb)));
                    let next = if result.is_ok() { AWAKE } else { PANICKED };
                    self.state.store(next, Ordering::Release);
                    idle = Idle::new();
                }
                AWAKE if idle.is_long() && self.changes(AWAKE, ASLEEP) => {
                    while self.state.load(Ordering::Relaxed) == ASLEEP {
                        park();
                    }
                    idle = Idle::new();
                }
                _ => {}
            }
        }
    }
}

/// Turns of a thread that looks out for work.
struct Idle {
    since: Instant,
    turns: u32,
}

impl Idle {
    fn new() -> Idle {
        Idle {
            since: Instant::now(),
            turns: 0,
        }
    }

    /// Waits a little; whether that was long enough.
    fn is_long(&mut self) -> bool {
        spin_loop();
        self.turns += 1;
        // Asking for the time takes as long as some turns.
        self.turns.is_multiple_of(16) && self.since.elapsed() > LOOKOUT
    }
}

/// Waits for another thread, which is about to do what `done` asks for unless the system has stopped it.
pub(crate) fn wait_until(done: impl Fn() -> bool) {
    let mut turns = 0;
    while !done() {
        turns += 1;
        match turns < 1 << 12 {
            true => spin_loop(),
            false => yield_now(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::sync::atomic::{AtomicBool, AtomicUsize};

    /// All threads take part if the call gives them the time, awake or asleep.
    #[test]
    fn threads_run_what_they_are_lent() {
        let mut crew = Crew::new((0..3).map(|_| Comb::new()));
        for round in 0..20 {
            let ran = AtomicUsize::new(0);
            let task = |_: usize, _: &mut Comb| {
                ran.fetch_add(1, Ordering::Relaxed);
            };
            let own = crew.with(round % 4, &task, || {
                wait_until(|| ran.load(Ordering::Relaxed) == round % 4);
                round
            });
            assert_eq!((own, ran.into_inner()), (round, round % 4));
            if round % 5 == 4 {
                wait_until(|| crew.awake(3) == 0);
            }
        }
    }

    /// A call does not wait for threads that come too late.
    #[test]
    fn tasks_are_taken_back() {
        let mut crew = Crew::new([Comb::new()]);
        for _ in 0..1000 {
            let ran = AtomicUsize::new(0);
            let task = |_: usize, _: &mut Comb| {
                ran.fetch_add(1, Ordering::Relaxed);
            };
            crew.with(1, &task, || {});
            let after = ran.load(Ordering::Relaxed);
            spin_loop();
            assert_eq!(ran.load(Ordering::Relaxed), after);
        }
    }

    #[test]
    fn a_panic_is_passed_on_once() {
        let mut crew = Crew::new([Comb::new()]);
        let begun = AtomicBool::new(false);
        let task = |_: usize, _: &mut Comb| {
            begun.store(true, Ordering::Relaxed);
            panic!("of a task");
        };
        let call = AssertUnwindSafe(|| {
            crew.with(1, &task, || wait_until(|| begun.load(Ordering::Relaxed)));
        });
        assert!(catch_unwind(call).is_err());
        crew.with(1, &|_: usize, _: &mut Comb| {}, || {});
        // As does one of the caller's own part, which waits for the threads.
        let call =
            AssertUnwindSafe(|| crew.with(1, &|_: usize, _: &mut Comb| {}, || panic!("own")));
        assert!(catch_unwind(call).is_err());
        crew.with(1, &|_: usize, _: &mut Comb| {}, || {});
    }
}
