//! [`Messages`]: memory for batches.
//!
//! `unsafe` here rests on one fact: what is in the memory is read while the messages that were
//! put there are borrowed, and is only cleared afterwards.
#![allow(unsafe_code)]

use crate::block::Aligned;
use crate::job::Job;
use crate::message::Message;
use alloc::vec::Vec;

/// Memory for batches that are made of iterators. Keep it: a batch that is no larger than the
/// ones before allocates nothing.
///
/// ```
/// use aescomb::modes::Ctr;
/// use aescomb::{Comb, Key, Message, Messages, Text};
///
/// let key = Key::<Ctr>::new(&[0; 16])?;
/// let (mut comb, mut messages) = (Comb::new(), Messages::new());
/// for round in 0..3 {
///     let mut packets = vec![[round; 64]; 100];
///     let packets = packets.iter_mut();
///     let batch = packets.map(|packet| Message::new(Text::in_place(packet)).nonce(&[1; 16]));
///     comb.encrypt(&key, messages.collect(batch))?;
/// }
/// # Ok::<(), aescomb::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct Messages {
    jobs: Vec<Aligned<Job>>,
}

impl Messages {
    /// Memory without anything in it.
    pub const fn new() -> Self {
        Messages { jobs: Vec::new() }
    }

    /// The messages of an iterator as a batch. It can be looked at after the call, for the
    /// status and the output of each.
    pub fn collect<'s, 'a: 's>(
        &'s mut self,
        messages: impl IntoIterator<Item = Message<'a>>,
    ) -> &'s mut [Message<'a>] {
        self.jobs.clear();
        self.jobs
            .extend(messages.into_iter().map(|message| Aligned(message.job)));
        let (first, count) = (self.jobs.as_mut_ptr(), self.jobs.len());
        // SAFETY: they are of messages that borrow for `'a`, and a message is its job.
        unsafe { core::slice::from_raw_parts_mut(first.cast(), count) }
    }
}
