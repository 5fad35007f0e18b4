//! [`Team`]: large batches on several threads.

use crate::batch::Message;
use crate::error::Error;
use crate::key::Keys;
use crate::mode::Op;
use crate::scheduler::{Comb, Pending, Task, Verdict};
use alloc::vec::Vec;
use rayon::prelude::*;

/// Runs large batches on several threads: a [`Comb`] for each, and each takes
/// neighbouring messages of about the same number of bytes together. Needs
/// feature `rayon`, whose thread pool it uses.
///
/// Worth it from some hundred kilobytes on: handing work to another thread costs
/// as much as encrypting several packets. Takes slices of [`Message`]; whoever
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
        let task = Task::new(keys, op)?;
        let mut parts = shares(batch, self.combs.len());
        // All are admitted before any is touched.
        let admitted: Vec<_> = self
            .combs
            .par_iter_mut()
            .zip(&mut parts)
            .map(|(comb, (first, part))| {
                comb.admit(&mut task.clone(), &mut *part.batch)
                    .map_err(|e| Error {
                        message: e.message.map(|i| i + *first),
                        ..e
                    })
            })
            .collect();
        admitted.into_iter().collect::<Result<(), Error>>()?;
        let failed = self
            .combs
            .par_iter_mut()
            .zip(&mut parts)
            .map(|(comb, (_, part))| {
                let failed = comb.execute(&task, &mut *part.batch).failed;
                part.done = true;
                failed
            })
            .sum();
        Ok(Verdict { failed })
    }
}

/// Cuts a batch into `n` parts of about the same cost, with the index of the
/// first message of each.
fn shares<'b, 'm>(
    mut batch: &'b mut [Message<'m>],
    n: usize,
) -> Vec<(usize, Pending<'b, [Message<'m>]>)> {
    // What a message costs beside its bytes, in bytes.
    let cost = |m: &Message| m.job().len + m.job().data_len + 128;
    let mut left: usize = batch.iter().map(cost).sum();
    let mut first = 0;
    let mut parts = Vec::with_capacity(n);
    for others in (0..n).rev() {
        let share = left / (others + 1);
        let (mut len, mut sum) = (0, 0);
        while len < batch.len() && (others == 0 || sum + cost(&batch[len]) / 2 < share) {
            sum += cost(&batch[len]);
            len += 1;
        }
        left -= sum;
        let (part, rest) = batch.split_at_mut(len);
        parts.push((first, Pending::new(part)));
        first += len;
        batch = rest;
    }
    parts
}
