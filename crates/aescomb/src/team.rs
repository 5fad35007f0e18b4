//! [`Team`]: large batches on several threads.

use crate::admission::Call;
use crate::batch::Batch;
use crate::comb::{Comb, Run, STRETCH, any, do_batch, is_far, is_parallel, judged, weigh};
use crate::crew::{Crew, LOOKOUT, wait_until};
use crate::error::{Error, OpenError};
use crate::job::Alike;
use crate::key::AnyMode;
use crate::keys::Keys;
use crate::mode::Op;
use crate::modes::{AeadMode, CipherMode, Kernels, MacMode};
use alloc::vec::Vec;
use core::fmt;
use core::num::NonZeroUsize;
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::thread::available_parallelism;
use std::time::Instant;

/// Runs batches on several threads, with a [`Comb`] for each. Every thread has its share of a
/// batch, and helps with others when that is done. Needs feature `threads`.
///
/// The caller's thread is one of them. The others are started by the first batch that pays for
/// them. After a batch they wait for the next one for 100 microseconds, in a loop that keeps their
/// cores busy, and then sleep.
///
/// To wake a thread takes tens of microseconds. A batch wakes one for every 2.5 MiB that it has
/// beside the caller's own, or 1.25 MiB in serial modes and those with tags. Where the threads are
/// awake, or another batch ended less than 100 microseconds ago, it takes one for every 128 KiB, or
/// 64 KiB. Each message counts 48 bytes more than it has. No batch waits for a thread that has not
/// begun.
///
/// ```
/// use aescomb::modes::Ctr;
/// use aescomb::{Key, Message, Team, Text};
///
/// let key = Key::<Ctr>::new(&[0; 16])?;
/// let mut packets = vec![[0u8; 1500]; 10_000];
/// let mut batch: Vec<Message> = packets
///     .iter_mut()
///     .map(|packet| Message::new(Text::in_place(packet)).nonce(&[7; 16]))
///     .collect();
/// let mut team = Team::new((0..4).map(|_| aescomb::Comb::new()));
/// team.encrypt(&key, &mut batch)?;
/// # Ok::<(), aescomb::Error>(())
/// ```
pub struct Team {
    first: Comb,
    others: Others,
    /// When the last batch ended that was worth several threads.
    last: Option<Instant>,
}

/// The schedulers of the other threads.
enum Others {
    NotStarted(Vec<Comb>),
    Started(Crew),
}

impl Others {
    fn len(&self) -> usize {
        match self {
            Others::NotStarted(combs) => combs.len(),
            Others::Started(crew) => crew.len(),
        }
    }

    fn awake(&self, count: usize) -> usize {
        match self {
            Others::NotStarted(_) => 0,
            Others::Started(crew) => crew.awake(count),
        }
    }

    fn started(&mut self) -> &mut Crew {
        if let Others::NotStarted(combs) = self {
            *self = Others::Started(Crew::new(core::mem::take(combs)));
        }
        match self {
            Others::Started(crew) => crew,
            Others::NotStarted(_) => unreachable!("they were started"),
        }
    }
}

impl Default for Team {
    /// As many schedulers as the system says that this process can use at once.
    fn default() -> Self {
        let threads = available_parallelism().map_or(1, NonZeroUsize::get);
        Team::new((0..threads).map(|_| Comb::new()))
    }
}

impl fmt::Debug for Team {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Team")
            .field("first", &self.first)
            .field("others", &self.others.len())
            .finish()
    }
}

impl Team {
    /// A team of these schedulers; of one, if there are none.
    pub fn new(combs: impl IntoIterator<Item = Comb>) -> Self {
        let mut combs = combs.into_iter();
        Team {
            first: combs.next().unwrap_or_default(),
            others: Others::NotStarted(combs.collect()),
            last: None,
        }
    }

    /// As [`Comb::encrypt`].
    ///
    /// # Errors
    /// Those of [`Comb::encrypt`].
    pub fn encrypt<'k, M: CipherMode, B: Batch + ?Sized>(
        &mut self,
        keys: impl Into<Keys<'k, M>>,
        batch: &mut B,
    ) -> Result<(), Error> {
        self.call(Op::Encrypt, M::forward, keys.into(), batch)
            .map(|_| ())
    }

    /// As [`Comb::decrypt`].
    ///
    /// # Errors
    /// Those of [`Comb::decrypt`].
    pub fn decrypt<'k, M: CipherMode, B: Batch + ?Sized>(
        &mut self,
        keys: impl Into<Keys<'k, M>>,
        batch: &mut B,
    ) -> Result<(), OpenError> {
        let failed = self.call(Op::Decrypt, M::backward, keys.into(), batch)?;
        judged(Op::Decrypt, failed)
    }

    /// As [`Comb::mac`].
    ///
    /// # Errors
    /// Those of [`Comb::mac`].
    pub fn mac<'k, M: MacMode, B: Batch + ?Sized>(
        &mut self,
        keys: impl Into<Keys<'k, M>>,
        batch: &mut B,
    ) -> Result<(), Error> {
        self.call(Op::Mac, M::forward, keys.into(), batch)
            .map(|_| ())
    }

    /// As [`Comb::verify`].
    ///
    /// # Errors
    /// Those of [`Comb::verify`].
    pub fn verify<'k, M: MacMode, B: Batch + ?Sized>(
        &mut self,
        keys: impl Into<Keys<'k, M>>,
        batch: &mut B,
    ) -> Result<(), OpenError> {
        let failed = self.call(Op::Verify, M::forward, keys.into(), batch)?;
        judged(Op::Verify, failed)
    }

    /// As [`Comb::seal`].
    ///
    /// # Errors
    /// Those of [`Comb::seal`].
    pub fn seal<'k, M: AeadMode, B: Batch + ?Sized>(
        &mut self,
        keys: impl Into<Keys<'k, M>>,
        batch: &mut B,
    ) -> Result<(), Error> {
        self.call(Op::Seal, M::forward, keys.into(), batch)
            .map(|_| ())
    }

    /// As [`Comb::open`].
    ///
    /// # Errors
    /// Those of [`Comb::open`].
    pub fn open<'k, M: AeadMode, B: Batch + ?Sized>(
        &mut self,
        keys: impl Into<Keys<'k, M>>,
        batch: &mut B,
    ) -> Result<(), OpenError> {
        let failed = self.call(Op::Open, M::backward, keys.into(), batch)?;
        judged(Op::Open, failed)
    }

    /// As [`Comb::run`].
    ///
    /// # Errors
    /// Those of [`Comb::run`].
    pub fn run<'k, B: Batch + ?Sized>(
        &mut self,
        op: Op,
        keys: impl Into<Keys<'k, AnyMode>>,
        batch: &mut B,
    ) -> Result<(), OpenError> {
        judged(op, self.call(op, any(op), keys.into(), batch)?)
    }

    /// Does a batch: the messages that failed.
    fn call<'k, M: Kernels, B: Batch + ?Sized>(
        &mut self,
        op: Op,
        run: Run,
        keys: Keys<'k, M>,
        batch: &mut B,
    ) -> Result<Vec<u32>, Error> {
        do_batch(
            keys,
            op,
            batch,
            #[inline(always)]
            |call, batch| {
                batch.check_columns(call)?;
                let weight = weigh(batch, PER_MESSAGE, SAMPLE).saturating_mul(weight(call));
                let useful = others_for(weight, LITTLE, self.others.len());
                let result = match self.count(weight, useful) {
                    0 => {
                        let mut failed = Vec::new();
                        let about = (self.first.checked(call, batch)?, is_far(batch));
                        self.first.execute(call, run, about, batch, &mut failed);
                        Ok(failed)
                    }
                    count => {
                        let crew = (self.others.started(), count);
                        together(call, run, &mut self.first, crew, (batch, weight))
                    }
                };
                // The time is asked for where it may matter: it takes as long as a message.
                if useful > 0 {
                    self.last = Some(Instant::now());
                }
                result
            },
        )
    }

    /// How many other threads take part in a batch of this weight, to which so many are of use if they
    /// are awake.
    fn count(&self, weight: usize, useful: usize) -> usize {
        if useful == 0 {
            return 0;
        }
        // They would look out for the next batch while this one is done, if it comes as soon.
        if self.last.is_some_and(|last| last.elapsed() < LOOKOUT) {
            return useful;
        }
        let worth = others_for(weight, WORTH, self.others.len());
        worth.max(self.others.awake(useful))
    }
}

/// What a message costs beside its bytes, in bytes. (Emerald Rapids, packed batches: of 16 bytes, ECB takes 9
/// cycles a message, CTR 12 and GCM 20, of 64 bytes 16, 19 and 34; of 2,048 bytes 330, 300 and 354.)
const PER_MESSAGE: usize = 48;
/// Columns of so many messages are checked by all threads: for fewer, to wait for each other takes longer.
const LONG_COLUMNS: usize = 1 << 13;
/// What a thread must have to do, in bytes of modes that are parallel inside a message and make no
/// tags, so that waking it is worth it. (Zen 5, a virtual machine: two threads did batches
/// of 70 µs at 0.9 to 1.1 times the speed of one, of 150 µs at 0.9 to 1.3, of 500 µs at 1.5 to 2.3.)
const WORTH: usize = 5 << 19;
/// The same where it is awake. (Emerald Rapids, a virtual machine: two threads did batches of 10 µs
/// at 1.0 to 1.1 times the speed of one, of 14 µs at 1.1 to 1.4, of 20 µs at 1.4.)
const LITTLE: usize = 1 << 17;

/// How many messages say what a batch weighs.
const SAMPLE: usize = 16;
/// What a stretch has at least.
const STRETCH_WORTH: usize = 1 << 14;
/// How many messages a stretch of a serial mode has at least, if there are so many: as many as lanes.
const SIDE_BY_SIDE: usize = 32;

/// How many of `count` messages, which weigh so much, a stretch has: some for each of the threads.
fn stretch_len(call: &Call<'_>, count: usize, weight: usize, threads: usize) -> usize {
    let worth = count.saturating_mul(STRETCH_WORTH).div_ceil(weight.max(1));
    // Groups of serial modes are better made of more messages.
    let (least, each) = match is_parallel(call.mode, call.op) {
        true => (worth, 8),
        false => (worth.max(SIDE_BY_SIDE), 2),
    };
    let least = least.clamp(1, STRETCH);
    count.div_ceil(threads * each).clamp(least, STRETCH)
}

/// How many threads beside the caller's a batch pays for that must have so much to do each.
fn others_for(weight: usize, each: usize, most: usize) -> usize {
    (weight / each).clamp(1, most + 1) - 1
}

/// How many times as long a byte takes as in those modes.
fn weight(call: &Call<'_>) -> usize {
    let plain = is_parallel(call.mode, call.op) && call.mode.info().tag_bytes.is_empty();
    if plain { 1 } else { 2 }
}

/// A batch in stretches, which all threads check and then do.
struct Stretches<P> {
    all: Vec<Mutex<(P, Option<Alike>)>>,
    /// Messages in each.
    len: usize,
    /// They are too large for the caches.
    far: bool,
    to_check: Shares,
    to_do: Shares,
    /// How many were checked.
    checked: Apart<AtomicUsize>,
    /// One was refused, or its check panicked: nothing is done.
    stopped: AtomicBool,
    failed: Mutex<Vec<u32>>,
}

/// In lines of the cache of its own.
#[repr(align(128))]
struct Apart<T>(T);

/// What there is to do, a share for each thread: of a batch in memory that was there before, a thread has
/// the same part again, which its cache may still hold.
struct Shares(Vec<Apart<Share>>);

struct Share {
    next: AtomicUsize,
    end: usize,
    /// Its thread has begun, and so will do what is left of it.
    begun: AtomicBool,
}

impl Shares {
    /// Of `count` for so many threads.
    fn new(count: usize, threads: usize) -> Shares {
        let at = |i| count * i / threads;
        let share = |i| Share {
            next: AtomicUsize::new(at(i)),
            end: at(i + 1),
            begun: AtomicBool::new(false),
        };
        Shares((0..threads).map(share).map(Apart).collect())
    }

    fn begin(&self, number: usize) {
        self.0[number].0.begun.store(true, Ordering::Relaxed);
    }

    /// The next one for thread `number`: of its own share, then of others.
    fn next(&self, number: usize) -> Option<usize> {
        let others = self.0[number + 1..].iter().chain(&self.0[..number]);
        let own = self.0[number].0.take();
        own.or_else(|| others.filter_map(|share| share.0.help()).next())
    }
}

impl Share {
    fn take(&self) -> Option<usize> {
        // It counts on beyond the end.
        let i = self.next.fetch_add(1, Ordering::Relaxed);
        (i < self.end).then_some(i)
    }

    /// For another thread. The last one is its own thread's, which has it done sooner than it would
    /// take to move it to another cache, if it is there at all.
    fn help(&self) -> Option<usize> {
        let keeps = usize::from(self.begun.load(Ordering::Relaxed));
        match self.next.load(Ordering::Relaxed) + keeps < self.end {
            true => self.take(),
            false => None,
        }
    }
}

/// The mutex's value; what a thread left that panicked does no harm.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|e| e.into_inner())
}

/// The stretches that a thread has checked, or was checking when it panicked: they are counted when it is dropped.
struct Checked<'s, P> {
    of: &'s Stretches<P>,
    count: usize,
    /// None is left that it did not check to its end.
    finished: bool,
}

impl<P> Drop for Checked<'_, P> {
    fn drop(&mut self) {
        if !self.finished {
            self.of.stopped.store(true, Ordering::Relaxed);
        }
        self.of.checked.0.fetch_add(self.count, Ordering::AcqRel);
    }
}

impl<P: Batch> Stretches<P> {
    /// Checks stretches until none is left, and does stretches until none is left, if all are good:
    /// what thread `number` does.
    fn work(&self, call: &Call<'_>, run: Run, number: usize, comb: &mut Comb) {
        let next = |of: &Shares| of.next(number).map(|i| (i, locked(&self.all[i])));
        self.to_check.begin(number);
        let mut checked = Checked {
            of: self,
            count: 0,
            finished: false,
        };
        while let Some((_, mut stretch)) = next(&self.to_check) {
            checked.count += 1;
            let (part, alike) = &mut *stretch;
            match part.check(call, None) {
                Ok(all) => *alike = Some(all),
                Err(_) => self.stopped.store(true, Ordering::Relaxed),
            }
        }
        checked.finished = true;
        drop(checked);
        // A thread that panicked does not check what is left of its share.
        let stopped = || self.stopped.load(Ordering::Relaxed);
        wait_until(|| self.checked.0.load(Ordering::Acquire) >= self.all.len() || stopped());
        if stopped() {
            return;
        }
        self.to_do.begin(number);
        let mut failed = Vec::new();
        while let Some((i, mut stretch)) = next(&self.to_do) {
            let (part, Some(alike)) = &mut *stretch else {
                unreachable!("all are checked");
            };
            let before = failed.len();
            comb.execute(call, run, (*alike, self.far), part, &mut failed);
            for message in &mut failed[before..] {
                *message += (i * self.len) as u32;
            }
        }
        if !failed.is_empty() {
            locked(&self.failed).append(&mut failed);
        }
    }
}

/// Checks the batch and does it, with so many of the crew: the messages that failed.
fn together<B: Batch + ?Sized>(
    call: &Call<'_>,
    run: Run,
    first: &mut Comb,
    (crew, count): (&mut Crew, usize),
    (batch, weight): (&mut B, usize),
) -> Result<Vec<u32>, Error> {
    let threads = count + 1;
    let len = stretch_len(call, batch.count(), weight, threads);
    let far = is_far(batch);
    let in_parts = !B::MAKES_JOBS || batch.count() >= LONG_COLUMNS && batch.borders_are_good(len);
    let alike = match in_parts {
        true => None,
        false => Some(batch.check(call, None)?),
    };
    let parts = batch.parts(len).into_iter();
    let all: Vec<_> = parts.map(|part| Mutex::new((part, alike))).collect();
    let count = all.len();
    let checked = if in_parts { 0 } else { count };
    let stretches = Stretches {
        all,
        len,
        far,
        to_check: Shares::new(count - checked, threads),
        checked: Apart(AtomicUsize::new(checked)),
        to_do: Shares::new(count, threads),
        stopped: AtomicBool::new(false),
        failed: Mutex::new(Vec::new()),
    };
    let work = |number: usize, comb: &mut Comb| stretches.work(call, run, number, comb);
    crew.with(threads - 1, &work, || work(0, first));
    let stopped = stretches.stopped.load(Ordering::Relaxed);
    let mut failed = core::mem::take(&mut *locked(&stretches.failed));
    drop(stretches);
    if stopped {
        // What is wrong, and where: a part knows nothing of the others.
        batch.check(call, None)?;
        panic!("a batch changed during a call");
    }
    failed.sort_unstable();
    Ok(failed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::batch::{Made, sealed::Parts};
    use crate::expanded::Expanded;
    use crate::job::Job;
    use crate::key_set::KeySet;
    use crate::message::Message;
    use crate::mode::Mode;
    use crate::status::Status;
    use crate::text::Text;
    use core::ops::Range;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    #[test]
    fn threads_that_a_batch_pays_for() {
        let mut team = Team::new((0..3).map(|_| Comb::new()));
        let count = |team: &Team, messages: usize| {
            let text = alloc::vec![0; 952];
            let batch: Vec<_> = (0..messages)
                .map(|_| Message::new(Text::read_only(&text)))
                .collect();
            let weight = weigh(&batch, PER_MESSAGE, SAMPLE);
            team.count(weight, others_for(weight, LITTLE, 2))
        };
        for (messages, others) in [
            (0, 0),
            (1, 0),
            (2000, 0),
            (5242, 0),
            (5243, 1),
            (7864, 1),
            (7865, 2),
            (19999, 2),
        ] {
            assert_eq!(count(&team, messages), others, "{messages} messages");
        }
        // Soon after another batch.
        team.last = Some(Instant::now() + LOOKOUT * 10_000);
        for (messages, others) in [(0, 0), (262, 0), (263, 1), (393, 1), (394, 2), (19999, 2)] {
            assert_eq!(count(&team, messages), others, "{messages} messages");
        }
    }

    /// A thread does what others have not begun, and leaves to those that have what they do last.
    #[test]
    fn shares_are_taken_once() {
        let taken = |shares: &Shares, number: usize| -> Vec<usize> {
            core::iter::from_fn(|| shares.next(number)).collect()
        };
        let shares = Shares::new(10, 3);
        shares.begin(1);
        assert_eq!(taken(&shares, 1), [3, 4, 5, 6, 7, 8, 9, 0, 1, 2]);
        assert_eq!(taken(&shares, 0), []);
        let shares = Shares::new(10, 3);
        shares.begin(0);
        shares.begin(2);
        assert_eq!(taken(&shares, 0), [0, 1, 2, 3, 4, 5, 6, 7, 8]);
        assert_eq!(taken(&shares, 2), [9]);
        let shares = Shares::new(2, 3);
        shares.begin(0);
        assert_eq!(taken(&shares, 0), [0, 1]);
    }

    /// A batch whose check panics on the caller's thread, once another thread has checked its own.
    struct Broken<'s> {
        checked: &'s AtomicUsize,
        /// The caller's thread has begun: another that is sooner leaves something to it.
        begun: &'s AtomicBool,
    }

    #[allow(private_interfaces)]
    impl Parts for Broken<'_> {
        type Part<'p>
            = Broken<'p>
        where
            Self: 'p;

        fn count(&self) -> usize {
            1
        }

        fn own_key(&self) -> Option<&Expanded> {
            None
        }

        fn bytes(&self, _: usize) -> usize {
            0
        }

        fn parts(&mut self, _: usize) -> Vec<Broken<'_>> {
            Vec::new()
        }

        fn check(&mut self, _: &Call<'_>, _: Option<&mut Made>) -> Result<Alike, Error> {
            if std::thread::current().name() == Some("aescomb") {
                if self.checked.fetch_add(1, Ordering::Relaxed) >= 2 {
                    wait_until(|| self.begun.load(Ordering::Relaxed));
                }
                return Ok(Alike::ALL);
            }
            self.begun.store(true, Ordering::Relaxed);
            wait_until(|| self.checked.load(Ordering::Relaxed) >= 2);
            panic!("of a check");
        }

        fn prepare(&mut self, _: &Call<'_>, _: Alike, _: Range<usize>, _: &mut Made) {}

        fn jobs<'a>(&'a self, _: Range<usize>, _: &'a Made) -> &'a [Job] {
            &[]
        }

        fn report(&mut self, _: usize, _: Status, _: usize) {}
    }

    impl Batch for Broken<'_> {}

    #[test]
    fn nobody_waits_for_a_thread_that_panicked() {
        let (checked, begun) = (&AtomicUsize::new(0), &AtomicBool::new(false));
        let all = (0..4).map(|_| Mutex::new((Broken { checked, begun }, None)));
        let stretches = Stretches {
            all: all.collect(),
            len: 1,
            far: false,
            to_check: Shares::new(4, 2),
            to_do: Shares::new(4, 2),
            checked: Apart(AtomicUsize::new(0)),
            stopped: AtomicBool::new(false),
            failed: Mutex::new(Vec::new()),
        };
        let call = &Call::new(Mode::Ctr, Op::Encrypt, KeySet::Own);
        let work = |number: usize, comb: &mut Comb| {
            stretches.work(call, any(Op::Encrypt), number, comb);
        };
        let mut crew = Crew::new([Comb::new()]);
        let mut comb = Comb::new();
        let call = AssertUnwindSafe(|| crew.with(1, &work, || work(0, &mut comb)));
        assert!(catch_unwind(call).is_err());
    }

    #[test]
    fn modes_that_take_longer_pay_sooner() {
        for (mode, op, expected) in [
            (Mode::Ctr, Op::Encrypt, 1),
            (Mode::Cbc, Op::Encrypt, 2),
            (Mode::Cbc, Op::Decrypt, 1),
            (Mode::Cmac, Op::Mac, 2),
            (Mode::Gcm, Op::Open, 2),
        ] {
            assert_eq!(
                weight(&Call::new(mode, op, KeySet::Own)),
                expected,
                "{mode}"
            );
        }
    }
}
