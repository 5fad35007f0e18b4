//! [`Team`]: large batches on several threads.

use crate::admission::{Alike, Call};
use crate::batch::Message;
use crate::batch::sealed::Parts;
use crate::comb::{Comb, Pending, STRETCH, Verdict, check_count};
use crate::error::Error;
use crate::key::Keys;
use crate::mode::Op;
use alloc::vec::Vec;
use core::slice::ChunksMut;
use core::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};

/// Runs large batches on several threads: a [`Comb`] for each, and whichever is free
/// takes the next some hundred messages. Needs feature `rayon`, whose thread pool it uses.
///
/// Waking another thread takes as long as some hundred packets: a batch takes a thread
/// for every 768 KiB. Takes slices of [`Message`]; split a [`Packed`](crate::Packed) batch by
/// hand, one part for each thread.
///
/// ```
/// use aescomb::{Key, Message, Mode, Team, Text};
///
/// let key = Key::new(Mode::Ctr, &[0; 16])?;
/// let mut packets = vec![[0u8; 1500]; 1000];
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
}

impl Default for Team {
    /// As many schedulers as the thread pool has threads.
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
        Team { combs }
    }

    /// As [`Comb::encrypt`].
    ///
    /// # Errors
    /// Those of [`Comb::encrypt`]; no message has been touched then.
    pub fn encrypt<'k>(
        &mut self,
        keys: impl Into<Keys<'k>>,
        batch: &mut [Message<'_>],
    ) -> Result<(), Error> {
        self.run(Op::Encrypt, keys, batch).map(|_| ())
    }

    /// As [`Comb::decrypt`].
    ///
    /// # Errors
    /// Those of [`Comb::decrypt`]; no message has been touched then.
    pub fn decrypt<'k>(
        &mut self,
        keys: impl Into<Keys<'k>>,
        batch: &mut [Message<'_>],
    ) -> Result<Verdict, Error> {
        self.run(Op::Decrypt, keys, batch)
    }

    /// As [`Comb::mac`].
    ///
    /// # Errors
    /// Those of [`Comb::mac`]; no tag has been written then.
    pub fn mac<'k>(
        &mut self,
        keys: impl Into<Keys<'k>>,
        batch: &mut [Message<'_>],
    ) -> Result<(), Error> {
        self.run(Op::Mac, keys, batch).map(|_| ())
    }

    /// As [`Comb::verify`].
    ///
    /// # Errors
    /// Those of [`Comb::verify`].
    pub fn verify<'k>(
        &mut self,
        keys: impl Into<Keys<'k>>,
        batch: &mut [Message<'_>],
    ) -> Result<Verdict, Error> {
        self.run(Op::Verify, keys, batch)
    }

    /// As [`Comb::seal`].
    ///
    /// # Errors
    /// Those of [`Comb::seal`]; no message has been touched then.
    pub fn seal<'k>(
        &mut self,
        keys: impl Into<Keys<'k>>,
        batch: &mut [Message<'_>],
    ) -> Result<(), Error> {
        self.run(Op::Seal, keys, batch).map(|_| ())
    }

    /// As [`Comb::open`].
    ///
    /// # Errors
    /// Those of [`Comb::open`]; no message has been touched then.
    pub fn open<'k>(
        &mut self,
        keys: impl Into<Keys<'k>>,
        batch: &mut [Message<'_>],
    ) -> Result<Verdict, Error> {
        self.run(Op::Open, keys, batch)
    }

    /// As [`Comb::run`].
    ///
    /// # Errors
    /// Those of [`Comb::run`].
    pub fn run<'k>(
        &mut self,
        op: Op,
        keys: impl Into<Keys<'k>>,
        batch: &mut [Message<'_>],
    ) -> Result<Verdict, Error> {
        let keys = keys.into();
        if batch.is_empty() && keys.len() == 0 {
            return Ok(Verdict { failed: 0 });
        }
        let call = Call::new(keys, op)?;
        check_count(batch.len())?;
        let members = self.members(batch);
        let (first, others) = self.combs[..members].split_at_mut(1);
        let first = &mut first[0];
        let mut pending = Pending::new(batch);
        let failed = if others.is_empty() {
            let alike = pending.batch.check(&call)?;
            first.execute(&call, alike, pending.batch)
        } else {
            together(&call, first, others, pending.batch)?
        };
        pending.done = true;
        Ok(Verdict { failed })
    }

    /// How many schedulers a batch pays for.
    fn members(&self, batch: &[Message<'_>]) -> usize {
        let mut cost = 0;
        for (i, message) in batch.iter().enumerate() {
            if cost >= WORTH * self.combs.len() || i >= WORTH / PER_MESSAGE * self.combs.len() {
                return self.combs.len();
            }
            let job = message.job();
            cost += job.src_len + job.data_len + PER_MESSAGE;
        }
        (cost / WORTH).clamp(1, self.combs.len())
    }
}

/// What a message costs beside its bytes, in bytes.
const PER_MESSAGE: usize = 128;
/// What a thread must have to do, in bytes, so that waking it is worth it.
const WORTH: usize = 768 << 10;

/// What is left of a batch that was checked.
struct Stretches<'b, 'm> {
    left: Mutex<ChunksMut<'b, Message<'m>>>,
    alike: Alike,
}

impl Stretches<'_, '_> {
    /// Does stretches until none is left: how many messages failed.
    fn work(&self, call: &Call<'_>, comb: &mut Comb) -> usize {
        let next = || self.left.lock().unwrap_or_else(|e| e.into_inner()).next();
        core::iter::from_fn(next)
            .map(|stretch| comb.execute(call, self.alike, stretch))
            .sum()
    }
}

/// Checks the batch and does it: how many messages failed. The other threads wake up while
/// this one checks, which takes them about as long.
fn together(
    call: &Call<'_>,
    first: &mut Comb,
    others: &mut [Comb],
    batch: &mut [Message<'_>],
) -> Result<usize, Error> {
    let len = batch.len().div_ceil((others.len() + 1) * 4);
    let failed = AtomicUsize::new(0);
    let work = OnceLock::new();
    rayon::in_place_scope(|scope| {
        let done = |stretches: &Stretches<'_, '_>, comb| {
            failed.fetch_add(stretches.work(call, comb), Ordering::Relaxed);
        };
        let work = &work;
        for comb in others {
            scope.spawn(move |_| {
                if let Some(stretches) = work.wait() {
                    done(stretches, comb);
                }
            });
        }
        let _refusal = Refusal(work);
        let alike = batch.check(call)?;
        let left = Mutex::new(batch.chunks_mut(len.clamp(64, STRETCH)));
        if let Some(stretches) = work.get_or_init(|| Some(Stretches { left, alike })) {
            done(stretches, first);
        }
        Ok(())
    })?;
    Ok(failed.into_inner())
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
    use crate::text::Text;

    #[test]
    fn threads_that_a_batch_pays_for() {
        let team = Team::new((0..3).map(|_| Comb::new()));
        let text = alloc::vec![0; 872];
        for (count, members) in [
            (0, 1),
            (1, 1),
            (300, 1),
            (1572, 1),
            (1573, 2),
            (2359, 2),
            (2360, 3),
            (9999, 3),
        ] {
            let batch: Vec<_> = (0..count)
                .map(|_| Message::new(Text::read_only(&text)))
                .collect();
            assert_eq!(team.members(&batch), members, "{count} messages");
        }
    }
}
