//! [`Comb`]: the scheduler object that calls go through.

use crate::admission::{Alike, Call};
use crate::backend::Backend;
use crate::batch::{Batch, Message, Status};
use crate::bytes::is_zero;
use crate::error::{Allowed, Error, Field};
use crate::isa::Block;
use crate::job::{Aligned, Job};
use crate::key::{Key, Keys};
use crate::mode::Op;
use crate::modes::Mode;
use crate::sweep::{Memory, Work};
use crate::text::Text;
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::ops::Range;

/// Runs batches: holds the backend, the parallelism degree and the memory that
/// scheduling needs, so that calls allocate nothing once it has done some hundred
/// messages (a [`Key`] allocates once for its tables, for its first long message or its
/// second by itself, and once to decrypt by the inverse cipher, for the second call).
///
/// A call is synchronous: when it returns, every message of the batch is done.
/// Messages of a batch may differ in length, nonce and key. Batches of 16 and
/// more messages fill the pipeline of today's CPUs; with one message there is
/// nothing to interleave, and a serial mode takes the latency of AES.
///
/// Dropping it wipes what it holds of keys and states.
///
/// ```
/// use aescomb::{Comb, Key, Message, Mode, Text};
///
/// let key = Key::new(Mode::Cmac, &[0x2b; 16])?;
/// let packets = [&b"first"[..], b"second", b""];
/// let mut tags = [[0u8; 16]; 3];
/// let mut batch: Vec<Message> = packets
///     .iter()
///     .zip(&mut tags)
///     .map(|(p, tag)| Message::new(Text::read_only(p)).tag(tag))
///     .collect();
/// let mut comb = Comb::new();
/// comb.mac(&key, &mut batch)?;
/// assert!(comb.verify(&key, &mut batch)?.all_good());
/// # Ok::<(), aescomb::Error>(())
/// ```
pub struct Comb {
    backend: Option<Backend>,
    lanes: Option<usize>,
    memory: Memory,
    /// Those of a packed batch, for a stretch of it.
    jobs: Vec<Aligned>,
    /// What tags differ by from those that were given.
    verdicts: Box<[Block; STRETCH]>,
}

/// What became of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "messages may have failed"]
pub struct Verdict {
    /// Messages that failed; each says so in its status.
    pub failed: usize,
}

impl Verdict {
    /// Whether no message failed.
    pub fn all_good(self) -> bool {
        self.failed == 0
    }
}

impl Default for Comb {
    fn default() -> Self {
        Comb::new()
    }
}

impl core::fmt::Debug for Comb {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Comb")
            .field("backend", &self.backend)
            .field("lanes", &self.lanes)
            .finish_non_exhaustive()
    }
}

impl Comb {
    /// A scheduler with the backend and the parallelism degree that measure best
    /// on this CPU.
    pub fn new() -> Comb {
        Comb {
            backend: None,
            lanes: None,
            memory: Memory::new(),
            jobs: Vec::new(),
            verdicts: Box::new([FAILED; STRETCH]),
        }
    }

    /// A scheduler with a backend of the caller's choice.
    ///
    /// # Errors
    /// [`Field::Backend`] where the CPU lacks it.
    pub fn with_backend(backend: Backend) -> Result<Comb, Error> {
        backend.check()?;
        Ok(Comb {
            backend: Some(backend),
            ..Comb::new()
        })
    }

    /// Sets the parallelism degree P: how many messages are in flight. Fewer mean
    /// less latency for a message, more mean more throughput, up to what the CPU
    /// can overlap. 1 does messages one after the other.
    ///
    /// # Errors
    /// [`Field::Lanes`] for 0 and for more than the backend has
    /// ([`Backend::max_lanes`]).
    pub fn set_lanes(&mut self, lanes: usize) -> Result<(), Error> {
        let most = match self.backend {
            Some(backend) => backend.max_lanes(),
            None => Backend::preferred(true)
                .max_lanes()
                .min(Backend::preferred(false).max_lanes()),
        };
        if lanes == 0 || lanes > most {
            return Err(Error::new(Field::Lanes, lanes, Allowed::Between(1, most)));
        }
        self.lanes = Some(lanes);
        Ok(())
    }

    /// The backend that a call will use.
    pub fn backend(&self, mode: Mode, op: Op) -> Backend {
        self.backend.unwrap_or_else(|| preferred(mode, op))
    }

    /// The parallelism degree that a call will use.
    pub fn lanes(&self, mode: Mode, op: Op) -> usize {
        self.lanes
            .unwrap_or_else(|| self.backend(mode, op).default_lanes())
    }

    /// Encrypts every message of the batch.
    ///
    /// # Errors
    /// The first thing that is wrong with the batch, found before any message is
    /// touched: see [`Field`].
    pub fn encrypt<'k, B: Batch + ?Sized>(
        &mut self,
        keys: impl Into<Keys<'k>>,
        batch: &mut B,
    ) -> Result<(), Error> {
        self.run(Op::Encrypt, keys, batch).map(|_| ())
    }

    /// Decrypts every message of the batch. Where padding is taken off, a message
    /// whose padding is none fails: its output is wiped, the others are
    /// unharmed. Other modes cannot fail.
    ///
    /// # Errors
    /// As [`Comb::encrypt`].
    pub fn decrypt<'k, B: Batch + ?Sized>(
        &mut self,
        keys: impl Into<Keys<'k>>,
        batch: &mut B,
    ) -> Result<Verdict, Error> {
        self.run(Op::Decrypt, keys, batch)
    }

    /// Computes the tag of every message of the batch.
    ///
    /// # Errors
    /// As [`Comb::encrypt`].
    pub fn mac<'k, B: Batch + ?Sized>(
        &mut self,
        keys: impl Into<Keys<'k>>,
        batch: &mut B,
    ) -> Result<(), Error> {
        self.run(Op::Mac, keys, batch).map(|_| ())
    }

    /// Checks the tag of every message of the batch, in constant time.
    ///
    /// # Errors
    /// As [`Comb::encrypt`]; a tag that is wrong is no error but a status of its
    /// message.
    pub fn verify<'k, B: Batch + ?Sized>(
        &mut self,
        keys: impl Into<Keys<'k>>,
        batch: &mut B,
    ) -> Result<Verdict, Error> {
        self.run(Op::Verify, keys, batch)
    }

    /// Encrypts every message of the batch and makes its tag.
    ///
    /// ```
    /// use aescomb::{Comb, Key, Message, Mode, Text};
    ///
    /// let key = Key::new(Mode::Ccm, &[0x2b; 16])?;
    /// let mut packets = vec![vec![7u8; 64]; 100];
    /// let mut tags = vec![[0u8; 8]; 100];
    /// let nonces: Vec<[u8; 12]> = (0..100u128)
    ///     .map(|n| n.to_be_bytes()[4..].try_into().unwrap())
    ///     .collect();
    ///
    /// let mut comb = Comb::new();
    /// let mut batch: Vec<Message> = packets
    ///     .iter_mut()
    ///     .zip(&nonces)
    ///     .zip(&mut tags)
    ///     .map(|((packet, nonce), tag)| {
    ///         Message::new(Text::in_place(packet))
    ///             .nonce(nonce)
    ///             .associated_data(b"header")
    ///             .tag(tag)
    ///     })
    ///     .collect();
    /// comb.seal(&key, &mut batch)?;
    /// assert!(comb.open(&key, &mut batch)?.all_good());
    /// # Ok::<(), aescomb::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Comb::encrypt`].
    pub fn seal<'k, B: Batch + ?Sized>(
        &mut self,
        keys: impl Into<Keys<'k>>,
        batch: &mut B,
    ) -> Result<(), Error> {
        self.run(Op::Seal, keys, batch).map(|_| ())
    }

    /// Decrypts every message of the batch and checks its tag, in constant time. A
    /// message whose tag is wrong fails: what was written of it is wiped, the others
    /// are unharmed. Nothing of a plaintext may be used before the call returns.
    ///
    /// # Errors
    /// As [`Comb::encrypt`]; a tag that is wrong is no error but a status of its
    /// message.
    pub fn open<'k, B: Batch + ?Sized>(
        &mut self,
        keys: impl Into<Keys<'k>>,
        batch: &mut B,
    ) -> Result<Verdict, Error> {
        self.run(Op::Open, keys, batch)
    }

    /// Does what `op` says with every message of the batch: one of the six calls above,
    /// of which those that cannot fail give a verdict without failures. A batch without
    /// messages is refused as one with messages is, if the keys do not have the operation;
    /// without messages and keys there is nothing to refuse.
    ///
    /// # Errors
    /// As [`Comb::encrypt`]; [`Field::Operation`] where the mode of the keys has no such
    /// operation.
    pub fn run<'k, B: Batch + ?Sized>(
        &mut self,
        op: Op,
        keys: impl Into<Keys<'k>>,
        batch: &mut B,
    ) -> Result<Verdict, Error> {
        let keys = keys.into();
        if batch.count() == 0 && keys.len() == 0 {
            return Ok(Verdict { failed: 0 });
        }
        let call = Call::new(keys, op)?;
        check_count(batch.count())?;
        let mut pending = Pending::new(batch);
        let alike = pending.batch.check(&call)?;
        let failed = self.execute(&call, alike, pending.batch);
        pending.done = true;
        Ok(Verdict { failed })
    }

    /// Does the messages of a batch that was checked: how many failed.
    pub(crate) fn execute<B: Batch + ?Sized>(
        &mut self,
        call: &Call<'_>,
        alike: Alike,
        batch: &mut B,
    ) -> usize {
        let n = batch.count();
        let mut failed = 0;
        let mut start = 0;
        while start < n {
            let end = n.min(start + STRETCH);
            failed += self.stretch(call, alike, batch, start..end);
            start = end;
        }
        failed
    }

    fn stretch<B: Batch + ?Sized>(
        &mut self,
        call: &Call<'_>,
        alike: Alike,
        batch: &mut B,
        range: Range<usize>,
    ) -> usize {
        let Call {
            mode, op, rules, ..
        } = *call;
        let (backend, degree) = (self.backend(mode, op), self.lanes(mode, op));
        let (first, n) = (range.start, range.len());
        batch.prepare(call, range.clone(), &mut self.jobs);
        let jobs = batch.jobs(range.clone(), &self.jobs);
        if rules.frames {
            jobs.iter().for_each(|job| rules.before(job));
        }
        let compares = matches!(op, Op::Verify | Op::Open);
        let verdicts = &mut self.verdicts[..n];
        if compares {
            // Every message has failed until its tag is found to be right.
            verdicts.fill(FAILED);
        }
        mode.run(
            op,
            backend,
            Work {
                jobs,
                alike,
                keys: call.keys,
                memory: &mut self.memory,
                degree,
                verdicts: compares.then_some(verdicts),
            },
        );
        let mut failed = 0;
        if !compares && !rules.frames {
            return failed;
        }
        for i in 0..n {
            let good = !compares || is_zero(&self.verdicts[i]);
            if good && !rules.frames {
                continue;
            }
            let job = &batch.jobs(range.clone(), &self.jobs)[i];
            match good.then(|| rules.after(job)).flatten() {
                Some(len) if op != Op::Seal => batch.report(first + i, Status::Done, len),
                Some(_) => {}
                None => {
                    if compares {
                        // It would tell what the right tag is.
                        self.verdicts[i] = FAILED;
                    }
                    if op == Op::Open {
                        job.wipe();
                    }
                    failed += 1;
                    let status = match op {
                        Op::Decrypt => Status::BadPadding,
                        _ => Status::BadTag,
                    };
                    batch.report(first + i, status, 0);
                }
            }
        }
        failed
    }
}

/// How many messages are done before the next ones are begun: enough for groups of similar
/// lengths, and so few that they, and what is written for them, stay in the caches.
pub(crate) const STRETCH: usize = 512;

/// Places of messages have 32 bits.
pub(crate) fn check_count(n: usize) -> Result<(), Error> {
    let most = u32::MAX as usize - 1;
    match n > most {
        true => Err(Error::new(Field::Count, n, Allowed::AtMost(most))),
        false => Ok(()),
    }
}

/// A batch on which a call is at work: if the call does not come to its end, no
/// message is done.
pub(crate) struct Pending<'b, B: Batch + ?Sized> {
    pub batch: &'b mut B,
    pub done: bool,
}

impl<'b, B: Batch + ?Sized> Pending<'b, B> {
    pub(crate) fn new(batch: &'b mut B) -> Self {
        Pending { batch, done: false }
    }
}

impl<B: Batch + ?Sized> Drop for Pending<'_, B> {
    fn drop(&mut self) {
        if !self.done {
            for i in 0..self.batch.count() {
                self.batch.report(i, Status::Pending, 0);
            }
        }
    }
}

/// A tag's difference from the one that came with the message, before it is known.
const FAILED: Block = [0xff; 16];

fn preferred(mode: Mode, op: Op) -> Backend {
    let info = mode.info();
    Backend::preferred(match op {
        Op::Decrypt | Op::Open => !info.parallel_decrypt,
        _ => !info.parallel_encrypt,
    })
}

/// One message at a time, under this key, with the backend that this CPU prefers.
/// For more than a few messages, [`Comb`] is many times as fast in the modes that
/// are serial.
impl Key {
    /// Encrypts `data` in place.
    ///
    /// ```
    /// use aescomb::{Key, Mode};
    /// let key = Key::new(Mode::Ctr, &[0; 16])?;
    /// let mut data = *b"any number of bytes";
    /// key.encrypt_in_place(&[1; 16], &mut data)?;
    /// key.decrypt_in_place(&[1; 16], &mut data)?;
    /// assert_eq!(&data, b"any number of bytes");
    /// # Ok::<(), aescomb::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Comb::encrypt`]; a padded mode needs room that a slice does not say
    /// it has, and takes a batch of one.
    pub fn encrypt_in_place(&self, nonce: &[u8], data: &mut [u8]) -> Result<(), Error> {
        self.alone(Op::Encrypt, Message::new(Text::in_place(data)).nonce(nonce))
            .map(|_| ())
    }

    /// Decrypts `data` in place and returns how many bytes of it are plaintext.
    ///
    /// # Errors
    /// As [`Comb::decrypt`], and [`Field::Padding`] for padding that is none; the
    /// data is wiped then.
    pub fn decrypt_in_place(&self, nonce: &[u8], data: &mut [u8]) -> Result<usize, Error> {
        self.alone(Op::Decrypt, Message::new(Text::in_place(data)).nonce(nonce))
    }

    /// Computes the tag of `data`, in a mode without a nonce.
    ///
    /// # Errors
    /// As [`Comb::mac`].
    pub fn mac(&self, data: &[u8], tag: &mut [u8]) -> Result<(), Error> {
        self.mac_with_nonce(&[], data, tag)
    }

    /// Computes the tag of `data` with a nonce.
    ///
    /// # Errors
    /// As [`Comb::mac`].
    pub fn mac_with_nonce(&self, nonce: &[u8], data: &[u8], tag: &mut [u8]) -> Result<(), Error> {
        let text = Text::read_only(data);
        self.alone(Op::Mac, Message::new(text).nonce(nonce).tag(tag))
            .map(|_| ())
    }

    /// Encrypts `data` in place and makes its tag.
    ///
    /// ```
    /// use aescomb::{Key, Mode};
    /// let key = Key::new(Mode::Gcm, &[0; 16])?;
    /// let (mut data, mut tag) = (*b"any number of bytes", [0; 16]);
    /// key.seal_in_place(&[1; 12], b"header", &mut data, &mut tag)?;
    /// key.open_in_place(&[1; 12], b"header", &mut data, &tag)?;
    /// assert_eq!(&data, b"any number of bytes");
    /// assert!(key.open_in_place(&[1; 12], b"header", &mut data, &tag).is_err());
    /// assert_eq!(data, [0; 19]);
    /// # Ok::<(), aescomb::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Comb::seal`]; a mode whose sealed text is longer needs room that a slice
    /// does not say it has, and takes a batch of one.
    pub fn seal_in_place(
        &self,
        nonce: &[u8],
        associated_data: &[u8],
        data: &mut [u8],
        tag: &mut [u8],
    ) -> Result<(), Error> {
        let message = Message::new(Text::in_place(data))
            .nonce(nonce)
            .associated_data(associated_data)
            .tag(tag);
        self.alone(Op::Seal, message).map(|_| ())
    }

    /// Decrypts `data` in place, checks its tag, and returns how many bytes of it are
    /// plaintext.
    ///
    /// # Errors
    /// As [`Comb::open`], and [`Field::Tag`] for a tag that is wrong; the data is
    /// wiped then. A mode that does not tell how long the message is takes a batch of
    /// one.
    pub fn open_in_place(
        &self,
        nonce: &[u8],
        associated_data: &[u8],
        data: &mut [u8],
        tag: &[u8],
    ) -> Result<usize, Error> {
        let message = Message::new(Text::in_place(data))
            .nonce(nonce)
            .associated_data(associated_data)
            .given_tag(tag);
        self.alone(Op::Open, message)
    }

    pub(crate) fn alone(&self, op: Op, mut message: Message<'_>) -> Result<usize, Error> {
        let call = Call::new(self.into(), op)?;
        let [job] = Job::of_mut(core::slice::from_mut(&mut message)) else {
            unreachable!("one message has one job")
        };
        call.admit_alone(job)?;
        (job.tag, job.len) = call.prepared(job);
        let (mode, rules) = (self.mode(), call.rules);
        let backend = preferred(mode, op);
        rules.before(job);
        if matches!(op, Op::Open | Op::Verify) {
            let mut verdict = FAILED;
            mode.run_alone(op, backend, self, job, Some(&mut verdict));
            let good = is_zero(&verdict);
            return match good.then(|| rules.after(job)).flatten() {
                Some(len) => Ok(len),
                None => {
                    // It would tell what the right tag is.
                    verdict = FAILED;
                    zeroize::optimization_barrier(&verdict);
                    if op == Op::Open {
                        job.wipe();
                    }
                    Err(Error::new(Field::Tag, job.len, Allowed::Nothing))
                }
            };
        }
        mode.run_alone(op, backend, self, job, None);
        let bad = Error::new(Field::Padding, job.len, Allowed::Nothing);
        rules.after(job).ok_or(bad)
    }
}
