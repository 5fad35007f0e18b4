//! [`Comb`]: the scheduler object that calls go through.

use crate::backend::Backend;
use crate::batch::sealed::Parts;
use crate::batch::{Admitted, Batch, Message, Status, disjoint};
use crate::bytes::is_zero;
use crate::comb::Queue;
use crate::error::{Allowed, Error, Field};
use crate::isa::Block;
use crate::job::Job;
use crate::key::{Key, Keys};
use crate::mode::{Lengths, Op};
use crate::modes::{Mode, UNLIMITED};
use crate::sweep::{Memory, Work};
use crate::text::Text;
use alloc::vec::Vec;

/// Runs batches: holds the backend, the parallelism degree and the memory that
/// scheduling needs, so that calls allocate nothing once it has grown to the
/// largest batch (a [`Key`] allocates once, when long messages come).
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
    jobs: Vec<Job>,
    queue: Queue,
    /// What tags differ by from those that were given.
    verdicts: Vec<Block>,
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
            verdicts: Vec::new(),
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
        let mut task = Task::new(keys, op)?;
        batch.check(task.judges)?;
        let mut pending = Pending::new(batch);
        self.admit(&mut task, pending.batch)?;
        let verdict = self.execute(&task, pending.batch);
        pending.done = true;
        Ok(verdict)
    }

    /// Checks the messages of a batch, which as a whole is right, and puts them in
    /// the queue.
    pub(crate) fn admit<B: Batch + ?Sized>(
        &mut self,
        task: &mut Task<'_>,
        batch: &mut B,
    ) -> Result<(), Error> {
        let n = batch.count();
        if n >= u32::MAX as usize {
            let most = u32::MAX as usize - 1;
            return Err(Error::new(Field::Count, n, Allowed::AtMost(most)));
        }
        if self.jobs.len() < n {
            self.jobs.resize(n, Job::default());
        }
        let memory = &mut self.jobs[..n];
        self.queue.fill(
            n,
            #[inline(always)]
            |i| match batch.admit(task, memory, i) {
                Ok(Admitted { len, key, written }) => {
                    // Done as soon as admitted: a second walk over the messages
                    // would cost as much as this one. `Pending` takes it back.
                    batch.report(i, Status::Done, written);
                    let class = match task.keys {
                        Keys::Shared(_) => 0,
                        _ => task.keys.get(key).rounds() / 2 - 5,
                    };
                    Ok((class, task.rows(len)))
                }
                Err(e) => Err(e.at(i)),
            },
        )
    }

    /// Does the messages of a batch that was admitted.
    pub(crate) fn execute<B: Batch + ?Sized>(&mut self, task: &Task<'_>, batch: &mut B) -> Verdict {
        let Task { mode, op, .. } = *task;
        let n = batch.count();
        let backend = self.backend(mode, op);
        let degree = self.lanes(mode, op);
        let jobs = batch.jobs(&self.jobs[..n]);
        let compares = matches!(op, Op::Verify | Op::Open);
        if task.frames {
            (0..n).for_each(|i| task.before(&jobs[i]));
        }
        if compares {
            // Every message has failed until its tag is found to be right.
            self.verdicts.clear();
            self.verdicts.resize(n, FAILED);
        }
        mode.run(
            op,
            backend,
            Work {
                jobs,
                queue: &mut self.queue,
                keys: task.keys,
                memory: &mut self.memory,
                degree,
                verdicts: compares.then_some(&mut self.verdicts[..]),
            },
        );
        let mut failed = 0;
        if !compares && !task.frames {
            return Verdict { failed };
        }
        for i in 0..n {
            let good = !compares || is_zero(&self.verdicts[i]);
            if good && !task.frames {
                continue;
            }
            let job = &batch.jobs(&self.jobs[..n])[i];
            match good.then(|| task.after(job)).flatten() {
                Some(len) if op != Op::Seal => batch.report(i, Status::Done, len),
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
                    batch.report(i, status, 0);
                }
            }
        }
        Verdict { failed }
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

/// What a call does, and so what its messages may be: small numbers, so that a
/// good message is admitted without a branch.
#[derive(Clone)]
pub(crate) struct Task<'k> {
    mode: Mode,
    op: Op,
    lengths: Lengths,
    keys: Keys<'k>,
    /// Shortest nonce, and how much longer it may be.
    nonce: (u32, u32),
    /// Bit n is set where tags of n bytes are allowed.
    tag: u32,
    /// The most components of associated data.
    components: usize,
    /// A nonce that may be left out is one of them.
    nonce_is_data: bool,
    /// Bits of a length that are clear, unless it is long, and the least it may be.
    clear: usize,
    least: usize,
    /// A result has `(length + grow) & keep` bytes, `least_result` or more.
    grow: usize,
    keep: usize,
    least_result: usize,
    /// Bytes of a message that are always left for the finish.
    left: usize,
    /// Every message gets a verdict of its own.
    judges: bool,
    /// There is something to do before or after the message itself.
    frames: bool,
    /// Whoever opens a message must say how long it is.
    untold: bool,
    pointers: Pointers,
    /// The shape of a message that had a good one: mostly, all have the same.
    shape: Shape,
}

/// What a task has to do with pointers of foreign jobs: all bits or none, for those that it
/// uses, and for a key of a job's own, that is not to be.
#[derive(Clone, Copy)]
struct Pointers {
    dst: usize,
    nonce: usize,
    tag: usize,
    key: usize,
}

fn all_bits(set: bool) -> usize {
    usize::from(set).wrapping_neg()
}

/// Bytes of nonce and tag; components of associated data.
type Shape = (u64, u32);

#[inline(always)]
fn shape(job: &Job) -> Shape {
    let lengths = u64::from(job.tag_len) << 32 | u64::from(job.nonce_len);
    (lengths, job.components)
}

/// What no message has: two components.
const NO_SHAPE: Shape = (0, 2);

/// Bits of lengths of [`UNLIMITED`] and more.
const LONG: usize = !(UNLIMITED - 1);

impl<'k> Task<'k> {
    pub(crate) fn new(keys: Keys<'k>, op: Op) -> Result<Task<'k>, Error> {
        let mode = keys.mode()?;
        let info = mode.info();
        if !info.kind.ops().contains(&op) {
            let place = Op::ALL.iter().position(|o| *o == op);
            let place = place.unwrap_or_default();
            return Err(Error::new(Field::Operation, place, Allowed::Nothing));
        }
        let shrinks = matches!(
            (op, info.lengths),
            (Op::Decrypt, Lengths::Padded) | (Op::Open, Lengths::Filled | Lengths::Untold)
        );
        let input = match shrinks {
            true => Lengths::WholeBlocks,
            false => info.lengths,
        };
        let filled = input == Lengths::Filled;
        let untold = info.lengths == Lengths::Untold;
        Ok(Task {
            mode,
            op,
            lengths: info.lengths,
            keys,
            nonce: (
                info.nonce_bytes.0 as u32,
                (info.nonce_bytes.1 - info.nonce_bytes.0) as u32,
            ),
            tag: match info.tag_bytes {
                [] => 1,
                list => list.iter().fold(0, |mask, n| mask | 1 << n),
            },
            components: info.data_components,
            nonce_is_data: info.nonce_bytes.0 == 0 && info.nonce_bytes.1 > 0,
            clear: LONG | if input == Lengths::WholeBlocks { 15 } else { 0 },
            least: match input {
                Lengths::WholeBlocks if shrinks && !untold => 16,
                Lengths::FromOneBlock => 16,
                _ => 0,
            },
            grow: match input {
                Lengths::Padded => 16,
                Lengths::Filled | Lengths::Untold => 15,
                _ => 0,
            },
            keep: match input {
                Lengths::Padded | Lengths::Filled | Lengths::Untold => !15,
                Lengths::TagOnly => 0,
                _ => !0,
            },
            left: usize::from(input == Lengths::TagOnly),
            least_result: if filled { 16 } else { 0 },
            judges: op == Op::Decrypt && shrinks || matches!(op, Op::Verify | Op::Open),
            frames: shrinks || filled || untold,
            untold: untold && op == Op::Open,
            pointers: Pointers {
                dst: all_bits(input != Lengths::TagOnly),
                nonce: all_bits(info.nonce_bytes.1 > 0),
                tag: all_bits(!info.tag_bytes.is_empty()),
                key: all_bits(matches!(keys, Keys::Shared(_))),
            },
            shape: NO_SHAPE,
        })
    }

    /// Bytes of result that `len` bytes of message make.
    #[inline(always)]
    fn written(&self, len: usize) -> usize {
        (len.wrapping_add(self.grow) & self.keep).max(self.least_result)
    }

    /// What there is to do before a message is sealed or opened.
    fn before(&self, job: &Job) {
        if (self.op, self.lengths) == (Op::Seal, Lengths::Untold) {
            job.move_to_end();
        }
    }

    /// What there is to do after it, if its tag is right: the length of the result, or
    /// `None` for what nobody could have sealed.
    fn after(&self, job: &Job) -> Option<usize> {
        match (self.op, self.lengths) {
            (Op::Decrypt, Lengths::Padded) => job.unpad(),
            (Op::Open, Lengths::Filled) => job.unfill(),
            (Op::Open, Lengths::Untold) => job.move_to_start(),
            (Op::Seal, Lengths::Filled) => {
                job.put_flag();
                Some(self.written(job.len))
            }
            _ => Some(self.written(job.len)),
        }
    }

    /// Blocks of a message before its finish, by which messages are sorted.
    #[inline(always)]
    fn rows(&self, len: usize) -> usize {
        len.saturating_sub(self.left) / 16
    }

    /// Components of associated data, with a nonce that is one.
    #[inline(always)]
    fn components_of(&self, job: &Job) -> usize {
        job.components() + usize::from(self.nonce_is_data & (job.nonce_len > 0))
    }

    /// Whether a foreign job may lack something: a pointer is null, and the task wants it,
    /// or is, by chance, in the upper half of all memory.
    #[inline(always)]
    pub(crate) fn doubts(&self, job: &Job, appended: bool) -> bool {
        let Pointers {
            dst,
            nonce,
            tag,
            key,
        } = self.pointers;
        let null = |address: usize| address.wrapping_sub(1);
        let beside = job.tag.addr() | usize::from(appended);
        let nulls = null(job.src.addr())
            | null(job.dst.addr()) & dst
            | null(job.nonce.addr()) & nonce
            | null(beside) & tag;
        let strange =
            job.key.addr() & key | job.data_len & (job.components as usize).wrapping_sub(1);
        (nulls & !(usize::MAX >> 1)) | strange != 0
    }

    pub(crate) fn has_shared_key(&self) -> bool {
        matches!(self.keys, Keys::Shared(_))
    }

    /// Checks a message, of which the tag may be appended. Every message is checked before
    /// any is touched.
    #[inline(always)]
    pub(crate) fn take(&mut self, job: &mut Job) -> Result<Admitted, Error> {
        let mut longer = 0;
        if job.tag_appended != 0 {
            (job.tag, job.len, longer) = self.append(job)?;
        }
        self.admit(job, longer)
    }

    /// Checks a message of which the result is `longer` by an appended tag.
    #[inline(always)]
    pub(crate) fn admit(&mut self, job: &Job, longer: usize) -> Result<Admitted, Error> {
        let (len, dst_len) = (job.len, job.dst_len);
        let needed = self.written(len);
        // Zeros, unless something is wrong: bits that are set, differences below zero.
        let bits = len & self.clear | job.data_len & LONG;
        let less = len.wrapping_sub(self.least) | dst_len.wrapping_sub(needed);
        let sized = bits | less & !(usize::MAX >> 1) == 0;
        let shaped = shape(job) == self.shape || self.takes_shape(job);
        let apart = job.src == job.dst.cast_const() || disjoint(job.src, len, job.dst, needed);
        let keyed = match self.keys {
            Keys::Shared(_) => true,
            keys => keys
                .find(job.place)
                .is_some_and(|key| key.mode() == self.mode),
        };
        if !(sized && shaped && apart && keyed)
            && let Some(refusal) = self.refusal(job)
        {
            return Err(refusal);
        }
        Ok(Admitted {
            len,
            key: job.place,
            written: needed + longer,
        })
    }

    /// Whether a message has parts of lengths that the mode takes.
    #[inline(never)]
    fn takes_shape(&mut self, job: &Job) -> bool {
        let good = (job.nonce_len.wrapping_sub(self.nonce.0) <= self.nonce.1)
            & (self.tag >> job.tag_len.min(31) & 1 == 1)
            & (self.components_of(job) <= self.components)
            & (!self.untold || job.len.wrapping_sub(job.opened_len) < 16);
        // The shape does not say how many several components are, or all of an opened
        // length.
        if good && job.components != Job::SEVERAL && !self.untold {
            self.shape = shape(job);
        }
        good
    }

    /// Refuses a source of `src_len` bytes and a result of `needed` that overlap and
    /// are not the same place.
    fn apart(&self, job: &Job, src_len: usize, needed: usize) -> Result<(), Error> {
        if job.src == job.dst.cast_const() || disjoint(job.src, src_len, job.dst, needed) {
            return Ok(());
        }
        let apart = job.src.addr().abs_diff(job.dst.addr());
        Err(Error::new(Field::Overlap, apart, Allowed::Nothing))
    }

    /// Where the tag of a job is that is part of its text, the job's length without it, and
    /// how many bytes longer its result is for it.
    pub(crate) fn append(&self, job: &Job) -> Result<(*mut u8, usize, usize), Error> {
        let Job {
            src_len, dst_len, ..
        } = *job;
        let bytes = job.tag_len as usize;
        let wrong = |field, given, least| Err(Error::new(field, given, Allowed::AtLeast(least)));
        match self.op {
            Op::Seal => {
                let sealed = self.written(src_len);
                let needed = sealed.saturating_add(bytes);
                if dst_len < needed {
                    return wrong(Field::OutputLength, dst_len, needed);
                }
                self.apart(job, src_len, needed)?;
                Ok((job.dst.wrapping_add(sealed), src_len, bytes))
            }
            Op::Open => {
                if src_len < bytes {
                    return wrong(Field::TextLength, src_len, bytes);
                }
                let len = src_len - bytes;
                self.apart(job, src_len, len)?;
                Ok((job.src.wrapping_add(len).cast_mut(), len, 0))
            }
            // A mode without tags refuses it by its length; a tag that is the text's
            // neighbour makes no sense for a MAC.
            _ => Err(Error::new(Field::TagLength, bytes, Allowed::Nothing)),
        }
    }

    /// What is wrong with a message, if anything: long ones are looked at here, too.
    #[cold]
    fn refusal(&self, job: &Job) -> Option<Error> {
        let needed = self.written(job.len);
        let dst_len = job.dst_len;
        let info = self.mode.info();
        let wrong = |field, given, allowed| Some(Error::new(field, given, allowed));
        let (least, most) = info.nonce_bytes;
        if !(least..=most).contains(&(job.nonce_len as usize)) {
            let allowed = match (least, most) {
                (0, 0) => Allowed::Nothing,
                (least, most) if least == most => Allowed::Exactly(most),
                _ => Allowed::Between(least, most),
            };
            return wrong(Field::NonceLength, job.nonce_len as usize, allowed);
        }
        if self.tag >> job.tag_len.min(31) & 1 == 0 {
            let allowed = match info.tag_bytes {
                [] => Allowed::Nothing,
                list => Allowed::OneOf(list),
            };
            return wrong(Field::TagLength, job.tag_len as usize, allowed);
        }
        if self.components_of(job) > self.components {
            // Those beside the nonce.
            let given = job.components();
            let most = self.components - (self.components_of(job) - given).min(self.components);
            let allowed = match most {
                0 => Allowed::Nothing,
                n => Allowed::AtMost(n),
            };
            return wrong(Field::DataCount, given, allowed);
        }
        let limits = self.mode.limits(job);
        // What no memory has, foreign jobs may claim.
        let memory = isize::MAX as usize;
        let most = |n: u64| Allowed::AtMost(usize::try_from(n).map_or(memory, |n| n.min(memory)));
        if job.len as u64 > limits.text || job.len > memory {
            return wrong(Field::TextLength, job.len, most(limits.text));
        }
        if job.components == 1 && (job.data_len as u64 > limits.data || job.data_len > memory) {
            return wrong(Field::DataLength, job.data_len, most(limits.data));
        }
        if job.len & self.clear & !LONG != 0 {
            return wrong(Field::TextLength, job.len, Allowed::MultipleOf(16));
        }
        if job.len < self.least {
            return wrong(Field::TextLength, job.len, Allowed::AtLeast(self.least));
        }
        if self.untold && job.len.wrapping_sub(job.opened_len) >= 16 {
            let allowed = match job.len {
                0 => Allowed::Exactly(0),
                len => Allowed::Between(len - 15, len),
            };
            return wrong(Field::OpenedLength, job.opened_len, allowed);
        }
        if dst_len < needed {
            return wrong(Field::OutputLength, dst_len, Allowed::AtLeast(needed));
        }
        if dst_len > memory {
            return wrong(Field::OutputLength, dst_len, Allowed::AtMost(memory));
        }
        if let Err(overlap) = self.apart(job, job.len, needed) {
            return Some(overlap);
        }
        let place = |mode| Mode::ALL.iter().position(|m| *m == mode).unwrap_or(0);
        match self.keys.find(job.place) {
            None => wrong(
                Field::KeyIndex,
                job.place as usize,
                Allowed::AtMost(self.keys.len() - 1),
            ),
            Some(key) if key.mode() != self.mode => wrong(
                Field::KeyMode,
                place(key.mode()),
                Allowed::Exactly(place(self.mode)),
            ),
            Some(_) => None,
        }
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
        let mut task = Task::new(self.into(), op)?;
        core::slice::from_mut(&mut message).admit(&mut task, &mut [], 0)?;
        let job = message.job();
        let mode = self.mode();
        let backend = preferred(mode, op);
        task.before(job);
        if matches!(op, Op::Open | Op::Verify) {
            let mut verdict = FAILED;
            mode.run_alone(op, backend, self, job, Some(&mut verdict));
            let good = is_zero(&verdict);
            return match good.then(|| task.after(job)).flatten() {
                Some(len) => Ok(len),
                None => {
                    if op == Op::Open {
                        job.wipe();
                    }
                    Err(Error::new(Field::Tag, job.len, Allowed::Nothing))
                }
            };
        }
        mode.run_alone(op, backend, self, job, None);
        let bad = Error::new(Field::Padding, job.len, Allowed::Nothing);
        task.after(job).ok_or(bad)
    }
}
