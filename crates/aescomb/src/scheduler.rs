//! [`Comb`]: the scheduler object that calls go through.

use crate::backend::Backend;
use crate::batch::sealed::Parts;
use crate::batch::{Batch, Message, Part, Status, disjoint};
use crate::comb::Queue;
use crate::error::{Allowed, Error, Field};
use crate::isa::Block;
use crate::key::{Key, Keys};
use crate::lanes::Job;
use crate::mode::{Kind, Lengths, Op};
use crate::modes::Mode;
use crate::sweep::{Memory, Work};
use crate::text::Text;
use alloc::vec::Vec;

/// Runs batches: holds the backend, the parallelism degree and the memory that
/// scheduling needs, so that calls allocate nothing once it has grown to the
/// largest batch.
///
/// A call is synchronous: when it returns, every message of the batch is done.
/// Messages of a batch may differ in length, nonce and key. Batches of 16 and
/// more messages fill the pipeline of today's CPUs; with one message a call is
/// as fast as a good single-message library, not faster.
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
    jobs: Vec<Job>,
    queue: Queue,
    /// Tags computed by a verification.
    tags: Vec<Block>,
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
            queue: Queue::default(),
            tags: Vec::new(),
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
        self.run(Op::Encrypt, keys.into(), batch).map(|_| ())
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
        self.run(Op::Decrypt, keys.into(), batch)
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
        self.run(Op::Mac, keys.into(), batch).map(|_| ())
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
        self.run(Op::Verify, keys.into(), batch)
    }

    fn run<B: Batch + ?Sized>(
        &mut self,
        op: Op,
        keys: Keys<'_>,
        batch: &mut B,
    ) -> Result<Verdict, Error> {
        let n = batch.count();
        if n == 0 {
            return Ok(Verdict { failed: 0 });
        }
        let mode = keys.mode()?;
        let unpad = op == Op::Decrypt && mode.info().lengths == Lengths::Padded;
        batch.check(unpad || op == Op::Verify)?;
        let task = Task::new(mode, op)?;
        if n >= u32::MAX as usize {
            return Err(Error::new(
                Field::Count,
                n,
                Allowed::AtMost(u32::MAX as usize - 1),
            ));
        }
        if self.jobs.len() < n {
            self.jobs.resize(n, Job::NONE);
        }
        self.queue.clear(n);
        if op == Op::Verify {
            self.tags.resize(n.max(self.tags.len()), [0; 16]);
        }
        for i in 0..n {
            let mut job = batch
                .part(i)
                .and_then(|part| task.admit(keys, part))
                .map_err(|e| e.at(i))?;
            if op == Op::Verify {
                job.tag = self.tags[i].as_mut_ptr();
            }
            let class = match keys {
                Keys::Shared(_) => 0,
                Keys::Table(_) => keys.get(job.key).rounds() / 2 - 5,
            };
            self.jobs[i] = job;
            self.queue.push(i as u32, class, task.input.rows(job.len));
        }
        let backend = self.backend(mode, op);
        let degree = self.lanes(mode, op);
        mode.run(
            op,
            backend,
            Work {
                jobs: &self.jobs[..n],
                queue: &mut self.queue,
                keys,
                memory: &mut self.memory,
                degree,
            },
        );
        let mut failed = 0;
        for i in 0..n {
            let job = &self.jobs[i];
            let (status, written) = match op {
                Op::Encrypt => (Status::Done, mode.info().encrypted_len(job.len)),
                Op::Decrypt if unpad => match job.unpad() {
                    Some(len) => (Status::Done, len),
                    None => (Status::BadPadding, 0),
                },
                Op::Decrypt => (Status::Done, job.len),
                Op::Mac => (Status::Done, 0),
                Op::Verify => {
                    let part = batch.part(i).map_err(|e| e.at(i))?;
                    match job.same_tag(part.tag) {
                        true => (Status::Done, 0),
                        false => (Status::BadTag, 0),
                    }
                }
            };
            failed += usize::from(status != Status::Done);
            batch.report(i, status, written);
        }
        Ok(Verdict { failed })
    }
}

fn preferred(mode: Mode, op: Op) -> Backend {
    let info = mode.info();
    Backend::preferred(match op {
        Op::Decrypt => !info.parallel_decrypt,
        _ => !info.parallel_encrypt,
    })
}

/// What a call does, and so what its messages may be.
struct Task {
    mode: Mode,
    nonce: usize,
    tag: (usize, usize),
    /// Lengths of what goes in.
    input: Lengths,
    /// Fewest bytes that go in.
    least: usize,
    output: bool,
}

impl Task {
    fn new(mode: Mode, op: Op) -> Result<Task, Error> {
        let info = mode.info();
        if !info.kind.has(op) {
            let place = Op::ALL.iter().position(|o| *o == op);
            return Err(Error::new(
                Field::Operation,
                place.unwrap_or_default(),
                Allowed::Nothing,
            ));
        }
        let unpad = op == Op::Decrypt && info.lengths == Lengths::Padded;
        Ok(Task {
            mode,
            nonce: info.nonce_bytes,
            tag: info.tag_bytes,
            input: match unpad {
                true => Lengths::WholeBlocks,
                false => info.lengths,
            },
            least: if unpad { 16 } else { 0 },
            output: info.kind == Kind::Cipher,
        })
    }

    /// Checks a message; every message is checked before any is touched.
    #[inline(always)]
    fn admit(&self, keys: Keys<'_>, part: Part) -> Result<Job, Error> {
        let wrong = |field, given, allowed| Err(Error::new(field, given, allowed));
        if part.nonce_len != self.nonce {
            return wrong(
                Field::NonceLength,
                part.nonce_len,
                Allowed::Exactly(self.nonce),
            );
        }
        if part.tag_len < self.tag.0 || part.tag_len > self.tag.1 {
            let allowed = match self.tag {
                (_, 0) => Allowed::Nothing,
                (least, most) => Allowed::Between(least, most),
            };
            return wrong(Field::TagLength, part.tag_len, allowed);
        }
        let len = part.src_len;
        if self.input == Lengths::WholeBlocks && len % 16 != 0 {
            return wrong(Field::TextLength, len, Allowed::MultipleOf(16));
        }
        if len < self.least {
            return wrong(Field::TextLength, len, Allowed::AtLeast(self.least));
        }
        if self.output {
            let needed = match self.input {
                Lengths::Padded => (len / 16 + 1) * 16,
                _ => len,
            };
            if part.dst_len < needed {
                return wrong(Field::OutputLength, part.dst_len, Allowed::AtLeast(needed));
            }
            if part.dst.cast_const() != part.src {
                disjoint(part.src, len, part.dst, needed)?;
            }
        }
        if let Keys::Table(table) = keys {
            match table.get(part.key as usize) {
                None => {
                    return wrong(
                        Field::KeyIndex,
                        part.key as usize,
                        Allowed::AtMost(table.len() - 1),
                    );
                }
                Some(key) if key.mode() != self.mode => {
                    let place = |mode| Mode::ALL.iter().position(|m| *m == mode).unwrap_or(0);
                    return wrong(
                        Field::KeyMode,
                        place(key.mode()),
                        Allowed::Exactly(place(self.mode)),
                    );
                }
                Some(_) => {}
            }
        }
        Ok(Job {
            src: part.src,
            dst: part.dst,
            nonce: part.nonce,
            tag: part.tag,
            len,
            tag_len: part.tag_len as u32,
            key: part.key,
        })
    }
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

    /// Computes the tag of `data`.
    ///
    /// # Errors
    /// As [`Comb::mac`].
    pub fn mac(&self, data: &[u8], tag: &mut [u8]) -> Result<(), Error> {
        self.alone(Op::Mac, Message::new(Text::read_only(data)).tag(tag))
            .map(|_| ())
    }

    fn alone(&self, op: Op, message: Message<'_>) -> Result<usize, Error> {
        let task = Task::new(self.mode(), op)?;
        let job = task.admit(self.into(), [message].part(0)?)?;
        self.mode()
            .run_alone(op, preferred(self.mode(), op), self, &job);
        if task.least == 0 {
            return Ok(job.len);
        }
        let bad = Error::new(Field::Padding, job.len, Allowed::Nothing);
        job.unpad().ok_or(bad)
    }
}
