//! [`Team`]: large batches on several threads.

use crate::admission::{Alike, Call};
use crate::batch::Message;
use crate::batch::sealed::Parts;
use crate::error::Error;
use crate::key::Keys;
use crate::mode::Op;
use crate::scheduler::{Comb, Pending, STRETCH, Verdict, check_count};
use alloc::vec::Vec;
use rayon::prelude::*;
use std::sync::Mutex;

/// Runs large batches on several threads: a [`Comb`] for each, and whichever is free
/// takes the next some hundred messages. Needs feature `rayon`, whose thread pool it uses.
///
/// Handing work to another thread costs as much as encrypting several packets: a batch
/// takes a thread for every 256 KiB. Takes slices of [`Message`]; whoever
/// has a [`Packed`](crate::Packed) batch gives each thread a part of it.
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
        let combs = &mut self.combs[..members];
        let mut pending = Pending::new(batch);
        let failed = match combs {
            [comb] => {
                let alike = pending.batch.check(&call)?;
                comb.execute(&call, alike, pending.batch)
            }
            combs => {
                let alike = check(&call, pending.batch, members)?;
                // Whoever is free takes the next stretch.
                let len = pending.batch.len().div_ceil(members * 4);
                let stretches = Mutex::new(pending.batch.chunks_mut(len.clamp(64, STRETCH)));
                let next = || stretches.lock().unwrap_or_else(|e| e.into_inner()).next();
                combs
                    .par_iter_mut()
                    .with_max_len(1)
                    .map(|comb| {
                        core::iter::from_fn(next)
                            .map(|stretch| comb.execute(&call, alike, stretch))
                            .sum::<usize>()
                    })
                    .sum()
            }
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
const WORTH: usize = 256 << 10;

/// Checks all messages, a part on each of some threads: the first that is bad counts.
fn check(call: &Call<'_>, batch: &mut [Message<'_>], threads: usize) -> Result<Alike, Error> {
    let len = batch.len().div_ceil(threads);
    let found: Vec<_> = batch
        .par_chunks_mut(len)
        .enumerate()
        .map(|(part, messages)| {
            messages.check(call).map_err(|e| Error {
                message: e.message.map(|i| i + part * len),
                ..e
            })
        })
        .collect();
    for part in found {
        part?;
    }
    // Whether parts are alike is not looked at.
    Ok(Alike {
        texts: false,
        keys: call.has_shared_key(),
    })
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
            (524, 1),
            (525, 2),
            (1200, 3),
            (9999, 3),
        ] {
            let batch: Vec<_> = (0..count)
                .map(|_| Message::new(Text::read_only(&text)))
                .collect();
            assert_eq!(team.members(&batch), members, "{count} messages");
        }
    }
}
