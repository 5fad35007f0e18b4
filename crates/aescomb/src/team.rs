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
use core::ops::Range;
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
    plan: Plan,
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
            plan: Plan::default(),
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
                        let threads = (&mut self.first, self.others.started());
                        self.plan.make(call, batch.count(), weight, count + 1);
                        together(call, run, threads, &mut self.plan, batch)
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
const STRETCH_WORTH: usize = 1 << 15;

/// How many threads beside the caller's a batch pays for that must have so much to do each.
fn others_for(weight: usize, each: usize, most: usize) -> usize {
    (weight / each).clamp(1, most + 1) - 1
}

/// How many times as long a byte takes as in those modes.
fn weight(call: &Call<'_>) -> usize {
    let plain = is_parallel(call.mode, call.op) && call.mode.info().tag_bytes.is_empty();
    if plain { 1 } else { 2 }
}

/// Where the stretches of a batch begin, and whose they are. Its memory is kept from batch to batch: memory
/// that is allocated anew may be in the cache of another thread, which wrote there last.
#[derive(Default)]
struct Plan {
    /// The first message of each stretch.
    starts: Vec<usize>,
    /// A share for each thread: of a batch in memory that was there before, it has the same part again,
    /// which its cache may still hold.
    shares: Vec<Share>,
}

struct Share {
    to_check: Turns,
    to_do: Turns,
}

/// The stretches of a share that are to be checked, or to be done. In lines of the cache of its own.
#[repr(align(128))]
struct Turns {
    next: AtomicUsize,
    end: usize,
    /// The share's thread has begun.
    begun: AtomicBool,
    /// How many of its last stretches other threads leave to it, once it has begun: a thread that takes one
    /// moves the messages to its own cache.
    own: usize,
    /// How many stretches, of any share, its thread has finished, once it leaves.
    finished: AtomicUsize,
}

impl Plan {
    /// For `count` messages, which weigh so much.
    fn make(&mut self, call: &Call<'_>, count: usize, weight: usize, threads: usize) {
        let worth = count.saturating_mul(STRETCH_WORTH).div_ceil(weight.max(1));
        let least = match is_parallel(call.mode, call.op) {
            true => worth.clamp(1, STRETCH),
            // Groups are better made of more messages.
            false => STRETCH,
        };
        self.split(count, threads, least);
    }

    /// A share's stretches get shorter, so that threads end together, down to `least` messages.
    fn split(&mut self, count: usize, threads: usize, least: usize) {
        self.starts.clear();
        self.shares.clear();
        for i in 0..threads {
            let (mut start, end) = (count * i / threads, count * (i + 1) / threads);
            let first = self.starts.len();
            while start < end {
                self.starts.push(start);
                start += stretch_len(end - start, least);
            }
            let range = first..self.starts.len();
            self.shares.push(Share {
                // To check a message takes less time than to move it to another cache.
                to_check: Turns::new(range.clone(), range.len()),
                to_do: Turns::new(range, 1),
            });
        }
    }
}

/// How many messages the next of a share's stretches has. The first is long, as each begins with atomic
/// exchanges, which wait for all stores before them.
fn stretch_len(left: usize, least: usize) -> usize {
    match left < 2 * least {
        true => left.min(STRETCH),
        false => (left * 3 / 4).min(STRETCH),
    }
}

/// The next turn of thread `number`: of its own share, then of others.
fn next_turn(shares: &[Share], number: usize, of: fn(&Share) -> &Turns) -> Option<usize> {
    let others = shares[number + 1..].iter().chain(&shares[..number]);
    let own = of(&shares[number]).take();
    own.or_else(|| others.filter_map(|share| of(share).help()).next())
}

impl Turns {
    fn new(range: Range<usize>, own: usize) -> Turns {
        Turns {
            next: AtomicUsize::new(range.start),
            end: range.end,
            begun: AtomicBool::new(false),
            own,
            finished: AtomicUsize::new(0),
        }
    }

    fn take(&self) -> Option<usize> {
        // It counts on beyond the end.
        let i = self.next.fetch_add(1, Ordering::Relaxed);
        (i < self.end).then_some(i)
    }

    /// For another thread.
    fn help(&self) -> Option<usize> {
        let begun = self.begun.load(Ordering::Relaxed);
        let left = if begun { self.own } else { 0 };
        match self.next.load(Ordering::Relaxed) + left < self.end {
            true => self.take(),
            false => None,
        }
    }
}

/// A batch in stretches, which all threads check and then do.
struct Stretches<'s, P> {
    all: Vec<Mutex<Stretch<P>>>,
    shares: &'s [Share],
    /// How many are to be checked: all or none.
    to_check: usize,
    /// They are too large for the caches.
    far: bool,
    /// One was refused, or its check panicked: nothing is done.
    stopped: AtomicBool,
    failed: Mutex<Vec<u32>>,
}

struct Stretch<P> {
    /// Its first message.
    start: usize,
    part: P,
    /// What is known of its messages, once they are checked.
    alike: Option<Alike>,
}

/// The mutex's value; what a thread left that panicked does no harm.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|e| e.into_inner())
}

/// The stretches that a thread has checked, or was checking when it panicked: they are counted when it is dropped.
struct Checked<'s, P> {
    of: &'s Stretches<'s, P>,
    number: usize,
    count: usize,
    /// None is left that it did not check to its end.
    finished: bool,
}

impl<P> Drop for Checked<'_, P> {
    fn drop(&mut self) {
        if !self.finished {
            self.of.stopped.store(true, Ordering::Relaxed);
        }
        let own = &self.of.shares[self.number].to_check;
        own.finished.store(self.count, Ordering::Release);
    }
}

impl<P: Batch> Stretches<'_, P> {
    /// Checks stretches until none is left, and does stretches until none is left, if all are good:
    /// what thread `number` does.
    fn work(&self, call: &Call<'_>, run: Run, number: usize, comb: &mut Comb) {
        let own = &self.shares[number];
        let next = |of| next_turn(self.shares, number, of).map(|i| locked(&self.all[i]));
        if self.to_check > 0 {
            own.to_check.begun.store(true, Ordering::Relaxed);
            let mut checked = Checked {
                of: self,
                number,
                count: 0,
                finished: false,
            };
            while let Some(mut stretch) = next(|share| &share.to_check) {
                checked.count += 1;
                match stretch.part.check(call, None) {
                    Ok(alike) => stretch.alike = Some(alike),
                    Err(_) => self.stopped.store(true, Ordering::Relaxed),
                }
            }
            checked.finished = true;
            drop(checked);
            // A thread that panicked does not check what is left of its share.
            wait_until(|| self.all_checked() || self.is_stopped());
            if self.is_stopped() {
                return;
            }
        }
        own.to_do.begun.store(true, Ordering::Relaxed);
        let mut failed = Vec::new();
        while let Some(mut stretch) = next(|share| &share.to_do) {
            let Stretch { start, part, alike } = &mut *stretch;
            let Some(alike) = *alike else {
                unreachable!("all are checked");
            };
            let before = failed.len();
            comb.execute(call, run, (alike, self.far), part, &mut failed);
            for message in &mut failed[before..] {
                *message += *start as u32;
            }
        }
        if !failed.is_empty() {
            locked(&self.failed).append(&mut failed);
        }
    }

    fn all_checked(&self) -> bool {
        let checked = |share: &Share| share.to_check.finished.load(Ordering::Acquire);
        self.shares.iter().map(checked).sum::<usize>() >= self.to_check
    }

    fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }
}

/// Checks the batch and does it as planned: the messages that failed.
fn together<B: Batch + ?Sized>(
    call: &Call<'_>,
    run: Run,
    (first, crew): (&mut Comb, &mut Crew),
    Plan { starts, shares }: &mut Plan,
    batch: &mut B,
) -> Result<Vec<u32>, Error> {
    let far = is_far(batch);
    let in_parts =
        !B::MAKES_JOBS || batch.count() >= LONG_COLUMNS && batch.borders_are_good(starts);
    let alike = match in_parts {
        true => None,
        false => Some(batch.check(call, None)?),
    };
    let stretch = |(part, &start)| Mutex::new(Stretch { start, part, alike });
    let stretches = Stretches {
        all: batch.parts(starts).zip(&*starts).map(stretch).collect(),
        shares,
        to_check: if in_parts { starts.len() } else { 0 },
        far,
        stopped: AtomicBool::new(false),
        failed: Mutex::new(Vec::new()),
    };
    let work = |number: usize, comb: &mut Comb| stretches.work(call, run, number, comb);
    crew.with(shares.len() - 1, &work, || work(0, first));
    let stopped = stretches.is_stopped();
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
    use alloc::vec;
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

    #[test]
    fn stretches_get_shorter() {
        let split = |count, threads, least| {
            let mut plan = Plan::default();
            plan.split(count, threads, least);
            assert!(plan.starts.is_sorted());
            let shares = plan.shares.iter();
            let ends = shares.map(|share| share.to_do.end).collect::<Vec<_>>();
            (plan.starts, ends)
        };
        assert_eq!(split(0, 2, 1), (vec![], vec![0, 0]));
        assert_eq!(split(1, 2, 8), (vec![0], vec![0, 1]));
        assert_eq!(
            split(400, 2, 8),
            (vec![0, 150, 187, 200, 350, 387], vec![3, 6])
        );
        assert_eq!(
            split(3 * 1100, 3, STRETCH),
            (
                vec![0, 512, 1024, 1100, 1612, 2124, 2200, 2712, 3224],
                vec![3, 6, 9]
            )
        );
    }

    /// A thread does what others have not begun, and leaves to those that have what they do last, and
    /// all that they check.
    #[test]
    fn shares_are_taken_once() {
        let begun = |count, begun: &[usize]| {
            let mut plan = Plan::default();
            plan.split(count, 3, 1);
            for &number in begun {
                let Share { to_check, to_do } = &plan.shares[number];
                to_check.begun.store(true, Ordering::Relaxed);
                to_do.begun.store(true, Ordering::Relaxed);
            }
            plan.shares
        };
        let taken = |shares: &[Share], number: usize, of: fn(&Share) -> &Turns| -> Vec<usize> {
            core::iter::from_fn(|| next_turn(shares, number, of)).collect()
        };
        let checked: fn(&Share) -> &Turns = |share| &share.to_check;
        let done: fn(&Share) -> &Turns = |share| &share.to_do;
        // Two stretches each.
        let shares = begun(10, &[1]);
        assert_eq!(taken(&shares, 1, done), [2, 3, 4, 5, 0, 1]);
        assert!(taken(&shares, 0, done).is_empty());
        let shares = begun(10, &[0, 2]);
        assert_eq!(taken(&shares, 0, done), [0, 1, 2, 3, 4]);
        assert_eq!(taken(&shares, 2, done), [5]);
        assert_eq!(taken(&shares, 0, checked), [0, 1, 2, 3]);
        assert_eq!(taken(&shares, 2, checked), [4, 5]);
        let shares = begun(2, &[0]);
        assert_eq!(taken(&shares, 0, done), [0, 1]);
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

        fn parts(&mut self, _: &[usize]) -> impl Iterator<Item = Broken<'_>> {
            core::iter::empty()
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
        let mut plan = Plan::default();
        plan.split(4, 2, 1);
        let part = |_| {
            Mutex::new(Stretch {
                start: 0,
                part: Broken { checked, begun },
                alike: None,
            })
        };
        let stretches = Stretches {
            all: (0..4).map(part).collect(),
            shares: &plan.shares,
            to_check: 4,
            far: false,
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
