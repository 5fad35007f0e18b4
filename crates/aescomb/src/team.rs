//! [`Team`]: large batches on several threads.

use crate::admission::Call;
use crate::batch::Batch;
use crate::comb::{Comb, Run, STRETCH, any, do_batch, is_far, is_parallel, judged, weigh};
use crate::error::{Error, OpenError};
use crate::job::Alike;
use crate::key::AnyMode;
use crate::keys::Keys;
use crate::mode::Op;
use crate::modes::{AeadMode, CipherMode, Kernels, MacMode};
use alloc::sync::Arc;
use alloc::vec::{IntoIter, Vec};
use core::iter::Enumerate;
use rayon::{Scope, ThreadPool};
use std::sync::{Mutex, OnceLock};

/// Runs large batches on several threads: a [`Comb`] for each, and whichever is free
/// takes the next some hundred messages. Needs feature `rayon`, whose thread pool it uses, or
/// one of the caller's ([`Team::on`]).
///
/// Waking another thread takes as long as some thousand packets: a batch takes a thread
/// for every 2.5 MiB, or 1.25 MiB in serial modes and those with tags.
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
#[derive(Debug)]
pub struct Team {
    combs: Vec<Comb>,
    pool: Option<Arc<ThreadPool>>,
}

impl Default for Team {
    /// As many schedulers as rayon's thread pool has threads.
    fn default() -> Self {
        Team::new((0..rayon::current_num_threads()).map(|_| Comb::new()))
    }
}

impl Team {
    /// A team of these schedulers; of one, if there are none.
    pub fn new(combs: impl IntoIterator<Item = Comb>) -> Self {
        let mut combs: Vec<Comb> = combs.into_iter().collect();
        if combs.is_empty() {
            combs.push(Comb::new());
        }
        Team { combs, pool: None }
    }

    /// As many schedulers as this thread pool has threads. One of them works on the caller's
    /// thread, the others there.
    ///
    /// ```
    /// use aescomb::Team;
    /// use std::sync::Arc;
    ///
    /// let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build()?;
    /// let team = Team::on(Arc::new(pool));
    /// # Ok::<(), rayon::ThreadPoolBuildError>(())
    /// ```
    pub fn on(pool: Arc<ThreadPool>) -> Self {
        let combs = (0..pool.current_num_threads()).map(|_| Comb::new());
        Team {
            pool: Some(pool),
            ..Team::new(combs)
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
        do_batch(keys, op, batch, |call, batch| {
            batch.check_columns(call)?;
            let members = self.members(batch, weight(call));
            let (first, others) = self.combs[..members].split_at_mut(1);
            let first = &mut first[0];
            if !others.is_empty() {
                return together(call, run, self.pool.as_deref(), first, others, batch);
            }
            let mut failed = Vec::new();
            let alike = batch.check(call)?;
            first.execute(call, run, (alike, is_far(batch)), batch, &mut failed);
            Ok(failed)
        })
    }

    /// How many schedulers a batch pays for, whose bytes have this `weight`.
    fn members<B: Batch + ?Sized>(&self, batch: &B, weight: usize) -> usize {
        let all = weigh(batch, PER_MESSAGE).saturating_mul(weight);
        (all / WORTH).clamp(1, self.combs.len())
    }
}

/// What a message costs beside its bytes, in bytes.
const PER_MESSAGE: usize = 128;
/// What a thread must have to do, in bytes of modes that are parallel inside a message and make no
/// tags, so that waking it is worth it. (Zen 5, a virtual machine: two threads did batches
/// of 70 µs at 0.9 to 1.1 times the speed of one, of 150 µs at 0.9 to 1.3, of 500 µs at 1.5 to 2.3.)
const WORTH: usize = 5 << 19;

/// How many times as long a byte takes as in those modes.
fn weight(call: &Call<'_>) -> usize {
    let plain = is_parallel(call.mode, call.op) && call.mode.info().tag_bytes.is_empty();
    if plain { 1 } else { 2 }
}

/// What is left of a batch that was checked.
struct Stretches<P> {
    left: Mutex<Enumerate<IntoIter<P>>>,
    /// Messages in each.
    len: usize,
    /// What all messages have in common, and whether they are too large for the caches.
    about: (Alike, bool),
}

impl<P: Batch> Stretches<P> {
    /// Does stretches until none is left: the messages that failed.
    fn work(&self, call: &Call<'_>, run: Run, comb: &mut Comb) -> Vec<u32> {
        let next = || self.left.lock().unwrap_or_else(|e| e.into_inner()).next();
        let mut failed = Vec::new();
        while let Some((i, mut stretch)) = next() {
            let before = failed.len();
            comb.execute(call, run, self.about, &mut stretch, &mut failed);
            for message in &mut failed[before..] {
                *message += (i * self.len) as u32;
            }
        }
        failed
    }
}

/// Checks the batch and does it: the messages that failed. The other threads wake up while
/// this one checks, which takes them about as long.
fn together<B: Batch + ?Sized>(
    call: &Call<'_>,
    run: Run,
    pool: Option<&ThreadPool>,
    first: &mut Comb,
    others: &mut [Comb],
    batch: &mut B,
) -> Result<Vec<u32>, Error> {
    let len = batch.count().div_ceil((others.len() + 1) * 4);
    let len = len.clamp(64, STRETCH);
    let failed = Mutex::new(Vec::new());
    let work = OnceLock::new();
    scoped(pool, |scope| {
        let (work, failed) = (&work, &failed);
        let done = move |stretches: &Stretches<_>, comb: &mut Comb| {
            let more = stretches.work(call, run, comb);
            let mut failed = failed.lock().unwrap_or_else(|e| e.into_inner());
            failed.extend(more);
        };
        for comb in others {
            scope.spawn(move |_| {
                if let Some(stretches) = work.wait() {
                    done(stretches, comb);
                }
            });
        }
        let _refusal = Refusal(work);
        let about = (batch.check(call)?, is_far(batch));
        let left = Mutex::new(batch.parts(len).into_iter().enumerate());
        if let Some(stretches) = work.get_or_init(|| Some(Stretches { left, len, about })) {
            done(stretches, first);
        }
        Ok(())
    })?;
    let mut failed = failed.into_inner().unwrap_or_else(|e| e.into_inner());
    failed.sort_unstable();
    Ok(failed)
}

/// Runs `body` in a scope of this thread pool, or of the global one.
fn scoped<'s, R>(pool: Option<&ThreadPool>, body: impl FnOnce(&Scope<'s>) -> R) -> R {
    match pool {
        Some(pool) => pool.in_place_scope(body),
        None => rayon::in_place_scope(body),
    }
}

/// Tells those who wait for work that there is none, unless there was: when a batch is
/// refused, and also if checking it panics.
struct Refusal<'w, T>(&'w OnceLock<Option<T>>);

impl<T> Drop for Refusal<'_, T> {
    fn drop(&mut self) {
        let _ = self.0.set(None);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key_set::KeySet;
    use crate::message::Message;
    use crate::mode::Mode;
    use crate::text::Text;

    #[test]
    fn threads_that_a_batch_pays_for() {
        let team = Team::new((0..3).map(|_| Comb::new()));
        let text = alloc::vec![0; 872];
        for (count, members) in [
            (0, 1),
            (1, 1),
            (2000, 1),
            (5242, 1),
            (5243, 2),
            (7864, 2),
            (7865, 3),
            (19999, 3),
        ] {
            let batch: Vec<_> = (0..count)
                .map(|_| Message::new(Text::read_only(&text)))
                .collect();
            assert_eq!(team.members(&batch, 1), members, "{count} messages");
        }
        let batch: Vec<_> = (0..5243)
            .map(|_| Message::new(Text::read_only(&text)))
            .collect();
        assert_eq!(team.members(&batch[..2622], 2), 2);
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
