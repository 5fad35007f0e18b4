//! Batches in structs of the caller's own.
//!
//! `unsafe` here is the word alone, in the contract that implementors sign.
#![allow(unsafe_code)]

use crate::batch::{Message, Status};

/// A batch in structs of the caller's own, such as those of a foreign interface or a
/// packet framework: it says of each what message it is, and is told what became of it.
/// No [`Message`] is kept, and so there is no table of them to build for each call.
///
/// # Safety
/// In a call with [`Described`], `count` must not change. The parts of a message that
/// `message` returned must stay valid, and nobody else may write to them or touch the
/// destination, until the call returns, whatever other messages are asked for and
/// reported.
pub unsafe trait Foreign {
    /// How many messages there are.
    fn count(&self) -> usize;

    /// Message `i`. A call asks once for each.
    fn message(&self, i: usize) -> Message<'_>;

    /// Message `i` has this status now, and that many bytes of output. A call may say so
    /// several times; the last time counts.
    fn report(&mut self, i: usize, status: Status, written: usize);
}

/// A [`Batch`](crate::Batch) of messages that a [`Foreign`] batch describes.
///
/// ```
/// use aescomb::{Comb, Described, Foreign, Key, Message, Mode, Status, Text};
///
/// struct Packet {
///     start: *mut u8,
///     len: usize,
///     encrypted: bool,
/// }
///
/// struct Burst<'p>(&'p mut [Packet]);
///
/// // SAFETY: a packet's memory is its own, and a report does not change where it is.
/// unsafe impl Foreign for Burst<'_> {
///     fn count(&self) -> usize {
///         self.0.len()
///     }
///
///     fn message(&self, i: usize) -> Message<'_> {
///         let Packet { start, len, .. } = self.0[i];
///         // SAFETY: there are `len` bytes, and nobody else has them.
///         let text = unsafe { Text::from_raw(start, len, start, len) };
///         Message::new(text)
///     }
///
///     fn report(&mut self, i: usize, status: Status, _: usize) {
///         self.0[i].encrypted = status == Status::Done;
///     }
/// }
///
/// let mut memory = [[0; 48]; 3];
/// let mut packets: Vec<Packet> = memory
///     .iter_mut()
///     .map(|m| Packet { start: m.as_mut_ptr(), len: m.len(), encrypted: false })
///     .collect();
/// let key = Key::new(Mode::Ecb, &[0; 16])?;
/// Comb::new().encrypt(&key, &mut Described(Burst(&mut packets)))?;
/// assert!(packets.iter().all(|packet| packet.encrypted));
/// # Ok::<(), aescomb::Error>(())
/// ```
#[derive(Debug)]
pub struct Described<B>(pub B);
