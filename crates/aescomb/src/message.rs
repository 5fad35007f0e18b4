//! [`Message`]: a message by its borrowed parts.
//!
//! `unsafe` here rests on one fact: a [`Message`] is its [`Job`], and nothing else.
#![allow(unsafe_code)]

use crate::job::{ATTACHED, Job, RECEIVED};
use crate::key::Key;
use crate::status::Status;
use crate::text::Text;
use core::marker::PhantomData;

/// One message of a batch: a struct that borrows its parts.
///
/// ```
/// use aescomb::modes::Cbc;
/// use aescomb::{Comb, Key, Message, Text};
///
/// let key = Key::<Cbc>::new(&[0; 16])?;
/// let (mut a, mut b) = ([1u8; 32], [2u8; 1504]);
/// let mut batch = [
///     Message::new(Text::in_place(&mut a)).nonce(&[3; 16]),
///     Message::new(Text::in_place(&mut b)).nonce(&[4; 16]),
/// ];
/// Comb::new().encrypt(&key, &mut batch)?;
/// # Ok::<(), aescomb::Error>(())
/// ```
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Message<'a> {
    /// The kernels read it where it is.
    pub(crate) job: Job,
    borrow: PhantomData<(Text<'a>, &'a [u8], &'a mut [u8])>,
}

impl<'a> Message<'a> {
    /// A message of this text, with an empty nonce, no tag, and the first key of
    /// a table.
    #[inline]
    pub fn new(text: Text<'a>) -> Self {
        Message {
            job: Job {
                src: text.src,
                src_len: text.src_len,
                dst: text.dst,
                dst_len: text.dst_len,
                len: text.src_len,
                ..Job::default()
            },
            borrow: PhantomData,
        }
    }

    #[inline(always)]
    pub(crate) fn job(&self) -> &Job {
        &self.job
    }

    /// Sets the nonce: initialisation vector or initial counter block.
    #[inline]
    pub fn nonce(mut self, nonce: &'a [u8]) -> Self {
        self.job.nonce = nonce.as_ptr();
        self.job.nonce_len = length(nonce.len());
        self
    }

    /// Sets the associated data: one component, empty or not.
    #[inline]
    pub fn associated_data(mut self, data: &'a [u8]) -> Self {
        self.job.data = data.as_ptr();
        self.job.data_len = data.len();
        self.job.components = 1;
        self
    }

    /// Sets the associated data to several components, which not all modes take
    /// ([`Info::data_components`](crate::Info::data_components)). For SIV no
    /// component and one that is empty are different.
    ///
    /// ```
    /// use aescomb::modes::Siv;
    /// use aescomb::{Comb, Key, Message, Text};
    ///
    /// let key = Key::<Siv>::new(&[0; 32])?;
    /// let (mut text, mut tag) = (*b"a message", [0; 16]);
    /// let mut batch = [Message::new(Text::in_place(&mut text))
    ///     .associated_data_vector(&[b"from", b"to", b"date"])
    ///     .tag(&mut tag)];
    /// Comb::new().seal(&key, &mut batch)?;
    /// # Ok::<(), aescomb::Error>(())
    /// ```
    #[inline]
    pub fn associated_data_vector(mut self, components: &'a [&'a [u8]]) -> Self {
        match components {
            [] => {
                self.job.data = core::ptr::null();
                self.job.data_len = 0;
                self.job.components = 0;
            }
            [data] => return self.associated_data(data),
            _ => {
                self.job.data = components.as_ptr().cast();
                self.job.data_len = components.len();
                self.job.components = Job::SEVERAL;
            }
        }
        self
    }

    /// Sets where the tag goes, or for opening and verification where it is; its
    /// length is the length of the tag.
    #[inline]
    pub fn tag(mut self, tag: &'a mut [u8]) -> Self {
        self.job.tag = tag.as_mut_ptr();
        self.job.tag_len = length(tag.len());
        self.job.tag_attached = 0;
        self.job.len = self.job.src_len;
        self
    }

    /// Sets the tag that came with the message, for opening and verification; its length is
    /// the length of the tag. It is only read.
    #[inline]
    pub fn received_tag(mut self, tag: &'a [u8]) -> Self {
        self.job.tag = tag.as_ptr().cast_mut();
        self.job.tag_len = length(tag.len());
        self.job.tag_attached = RECEIVED;
        self.job.len = self.job.src_len;
        self
    }

    /// The sealed text is ciphertext and a tag of `bytes` bytes in one piece, the form in which
    /// most standards and libraries exchange it: sealing makes it and needs room for both,
    /// opening takes it. The tag stands after the ciphertext; in SIV before it (RFC 5297
    /// section 2.6, [`Info::tag_first`](crate::Info::tag_first)), and in place the text is moved: the
    /// opened text is at the beginning.
    ///
    /// ```
    /// use aescomb::modes::Gcm;
    /// use aescomb::{Comb, Key, Message, Text};
    ///
    /// let key = Key::<Gcm>::new(&[0; 16])?;
    /// let mut packet = *b"twelve bytes................";
    /// let text = Text::in_place_with_room(&mut packet, 12);
    /// let mut batch = [Message::new(text).nonce(&[1; 12]).tag_attached(16)];
    /// let mut comb = Comb::new();
    /// comb.seal(&key, &mut batch)?;
    ///
    /// let text = Text::in_place(&mut packet);
    /// let mut batch = [Message::new(text).nonce(&[1; 12]).tag_attached(16)];
    /// comb.open(&key, &mut batch)?;
    /// assert_eq!(batch[0].output(), b"twelve bytes");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    pub fn tag_attached(mut self, bytes: usize) -> Self {
        self.job.tag = core::ptr::null_mut();
        self.job.tag_len = length(bytes);
        self.job.tag_attached = if bytes > 0 { ATTACHED } else { 0 };
        self.job.len = self.job.src_len;
        self
    }

    /// Sets the plaintext length in bytes, which is needed to open messages of modes whose
    /// ciphertext does not determine it ([`Lengths::Untold`](crate::Lengths::Untold)). Other
    /// modes ignore it.
    #[inline]
    pub fn opened_len(mut self, bytes: usize) -> Self {
        self.job.opened_len = bytes;
        self
    }

    /// Sets the message's key, in a batch whose messages have their own
    /// ([`Keys::of_messages`](crate::Keys::of_messages)).
    #[inline]
    pub fn key<M>(mut self, key: &'a Key<M>) -> Self {
        self.job.key = key.as_any();
        self
    }

    /// Sets the message's key in a call with a table of keys ([`Keys`](crate::Keys)): its index
    /// there. The first, if nothing is said.
    #[inline]
    pub fn key_index(mut self, index: u32) -> Self {
        self.job.key_index = index;
        self
    }

    /// What the last call made of it.
    pub fn status(&self) -> Status {
        outcome(self).0
    }

    /// The bytes that the last call wrote: empty if there was none, if the
    /// message failed, or for a MAC.
    pub fn output(&self) -> &[u8] {
        self.text().output()
    }

    /// As [`Message::output`], for as long as the destination is borrowed.
    pub fn into_output(self) -> &'a mut [u8] {
        self.text().into_output()
    }

    fn text(&self) -> Text<'a> {
        Text {
            src: self.job.src,
            src_len: self.job.src_len,
            dst: self.job.dst,
            dst_len: self.job.dst_len,
            written: outcome(self).1,
            borrow: PhantomData,
        }
    }
}

/// A length that only matters when it is small.
#[inline]
pub(crate) fn length(len: usize) -> u32 {
    u32::try_from(len).unwrap_or(u32::MAX)
}

const _: () = assert!(size_of::<Message<'_>>() == size_of::<Job>());

/// What the last call made of a message, and the bytes that it wrote.
#[inline]
fn outcome(message: &Message<'_>) -> (Status, usize) {
    let job = &message.job;
    // SAFETY: a message is made with both.
    unsafe { (job.status.assume_init(), job.written.assume_init()) }
}

/// The jobs of messages.
#[inline(always)]
pub(crate) fn jobs<'a>(messages: &'a [Message<'_>]) -> &'a [Job] {
    // SAFETY: a message is its job.
    unsafe { core::slice::from_raw_parts(messages.as_ptr().cast(), messages.len()) }
}

/// The same, to be checked and prepared.
#[inline(always)]
pub(crate) fn jobs_mut<'a>(messages: &'a mut [Message<'_>]) -> &'a mut [Job] {
    // SAFETY: a message is its job.
    unsafe { core::slice::from_raw_parts_mut(messages.as_mut_ptr().cast(), messages.len()) }
}
