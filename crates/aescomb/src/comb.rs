//! [`Comb`]: the scheduler object that calls go through.

use crate::admission::Call;
use crate::backend::Backend;
use crate::batch::{Batch, Made};
use crate::block::{Aligned, Block};
use crate::bytes::is_zero;
use crate::engine::{FAILED, Memory, Work};
use crate::error::{Allowed, Error, Failed, Field, OpenError, available};
use crate::job::{Alike, Job, SHORT_STRETCH};
use crate::key::AnyMode;
use crate::key_set::KeySet;
use crate::keys::Keys;
use crate::mode::{Mode, Op};
use crate::modes::{AeadMode, CipherMode, Kernels, MacMode, no_operation};
use crate::status::Status;
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::ops::Range;

/// Runs batches: holds the backend, the parallelism degree and the memory that
/// scheduling needs, so that calls allocate nothing, but a list of messages that fail, once it has done some
/// hundred messages (a [`Key`](crate::Key) allocates once for its tables, for its first long message or its
/// second by itself, and once to decrypt by the inverse cipher, for the second call).
///
/// A call is synchronous: when it returns, every message of the batch is done.
/// Messages of a batch may differ in length, nonce and key. Batches of 16 and
/// more messages fill the pipeline of today's CPUs; with one message there is
/// nothing to interleave, and a serial mode takes the latency of AES.
///
/// Dropping it wipes what it holds of keys, states and texts.
///
/// ```
/// use aescomb::modes::Cmac;
/// use aescomb::{Comb, Key, Message, Text};
///
/// let key = Key::<Cmac>::new(&[0x2b; 16])?;
/// let packets = [&b"first"[..], b"second", b""];
/// let mut tags = [[0u8; 16]; 3];
/// let mut batch: Vec<Message> = packets
///     .iter()
///     .zip(&mut tags)
///     .map(|(p, tag)| Message::new(Text::read_only(p)).tag(tag))
///     .collect();
/// let mut comb = Comb::new();
/// comb.mac(&key, &mut batch)?;
/// comb.verify(&key, &mut batch)?;
/// # Ok::<(), aescomb::OpenError>(())
/// ```
pub struct Comb {
    /// Backend and parallelism degree for results that are not chained, and for those that are.
    ways: [(Backend, usize); 2],
    memory: Memory,
    /// Those of a packed batch, for a stretch of it.
    jobs: Made,
    /// Of a mode whose attached tag stands before the text: as the kernels do them, and the tags
    /// in whose places texts are put.
    behind: Vec<Aligned<Job>>,
    first_tags: Vec<Block>,
    /// What tags differ by from those that were given.
    verdicts: Box<[Block; STRETCH]>,
}

impl Default for Comb {
    fn default() -> Self {
        Comb::new()
    }
}

impl core::fmt::Debug for Comb {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Comb")
            .field("ways", &self.ways)
            .finish_non_exhaustive()
    }
}

impl Comb {
    /// A scheduler with the backend and the parallelism degree that measure best
    /// on this CPU.
    pub fn new() -> Comb {
        Comb {
            ways: [false, true].map(Backend::preferred).map(way),
            memory: Memory::new(),
            jobs: Made::new(),
            behind: Vec::new(),
            first_tags: Vec::new(),
            verdicts: Box::new([FAILED; STRETCH]),
        }
    }

    /// A scheduler with a backend of the caller's choice.
    ///
    /// # Errors
    /// [`Field::Backend`] where the CPU lacks it.
    pub fn with_backend(backend: Backend) -> Result<Comb, Error> {
        available(backend)?;
        Ok(Comb {
            ways: [way(backend); 2],
            ..Comb::new()
        })
    }

    /// Sets the parallelism degree P: how many messages are in flight. Fewer mean
    /// less latency for a message, more mean more throughput, up to what the CPU
    /// can overlap. 1 turns interleaving off.
    ///
    /// # Errors
    /// [`Field::Lanes`] for 0 and for more than the backend has
    /// ([`Backend::max_lanes`]).
    pub fn set_lanes(&mut self, lanes: usize) -> Result<(), Error> {
        let [most, chained] = self.ways.map(|(backend, _)| backend.max_lanes());
        let most = most.min(chained);
        if lanes == 0 || lanes > most {
            return Err(Error::new(Field::Lanes, lanes, Allowed::Between(1, most)));
        }
        self.ways = self.ways.map(|(backend, _)| (backend, lanes));
        Ok(())
    }

    /// The backend that a call will use.
    pub fn backend(&self, mode: Mode, op: Op) -> Backend {
        self.ways[usize::from(mode.rules(op).chained)].0
    }

    /// The parallelism degree that a call will use.
    pub fn lanes(&self, mode: Mode, op: Op) -> usize {
        self.ways[usize::from(mode.rules(op).chained)].1
    }

    /// Encrypts every message of the batch.
    ///
    /// # Errors
    /// The first thing that is wrong with the batch, found before any message is
    /// touched: see [`Field`].
    pub fn encrypt<'k, M: CipherMode, B: Batch + ?Sized>(
        &mut self,
        keys: impl Into<Keys<'k, M>>,
        batch: &mut B,
    ) -> Result<(), Error> {
        self.call(Op::Encrypt, M::forward, keys.into(), batch)
            .map(|_| ())
    }

    /// Decrypts every message of the batch. Where padding is taken off, a message
    /// with invalid padding fails: its output is wiped, the others are
    /// unharmed. Other modes cannot fail.
    ///
    /// # Errors
    /// [`OpenError::Failed`] if any message failed, with a list of them;
    /// [`OpenError::Refused`] as [`Comb::encrypt`].
    pub fn decrypt<'k, M: CipherMode, B: Batch + ?Sized>(
        &mut self,
        keys: impl Into<Keys<'k, M>>,
        batch: &mut B,
    ) -> Result<(), OpenError> {
        let failed = self.call(Op::Decrypt, M::backward, keys.into(), batch)?;
        judged(Op::Decrypt, failed)
    }

    /// Computes the tag of every message of the batch.
    ///
    /// # Errors
    /// As [`Comb::encrypt`].
    pub fn mac<'k, M: MacMode, B: Batch + ?Sized>(
        &mut self,
        keys: impl Into<Keys<'k, M>>,
        batch: &mut B,
    ) -> Result<(), Error> {
        self.call(Op::Mac, M::forward, keys.into(), batch)
            .map(|_| ())
    }

    /// Checks the tag of every message of the batch, in constant time.
    ///
    /// # Errors
    /// [`OpenError::Failed`] if any tag is wrong, with a list of their messages;
    /// [`OpenError::Refused`] as [`Comb::encrypt`].
    pub fn verify<'k, M: MacMode, B: Batch + ?Sized>(
        &mut self,
        keys: impl Into<Keys<'k, M>>,
        batch: &mut B,
    ) -> Result<(), OpenError> {
        let failed = self.call(Op::Verify, M::forward, keys.into(), batch)?;
        judged(Op::Verify, failed)
    }

    /// Encrypts every message of the batch and makes its tag.
    ///
    /// ```
    /// use aescomb::modes::Ccm;
    /// use aescomb::{Comb, Key, Message, Text};
    ///
    /// let key = Key::<Ccm>::new(&[0x2b; 16])?;
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
    /// comb.open(&key, &mut batch)?;
    /// # Ok::<(), aescomb::OpenError>(())
    /// ```
    ///
    /// # Errors
    /// As [`Comb::encrypt`].
    pub fn seal<'k, M: AeadMode, B: Batch + ?Sized>(
        &mut self,
        keys: impl Into<Keys<'k, M>>,
        batch: &mut B,
    ) -> Result<(), Error> {
        self.call(Op::Seal, M::forward, keys.into(), batch)
            .map(|_| ())
    }

    /// Decrypts every message of the batch and checks its tag, in constant time. A
    /// message whose tag is wrong fails: what was written of it is wiped, the others
    /// are opened. Nothing of a plaintext may be used before the call returns.
    ///
    /// # Errors
    /// [`OpenError::Failed`] if any tag is wrong, with a list of their messages;
    /// [`OpenError::Refused`] as [`Comb::encrypt`].
    pub fn open<'k, M: AeadMode, B: Batch + ?Sized>(
        &mut self,
        keys: impl Into<Keys<'k, M>>,
        batch: &mut B,
    ) -> Result<(), OpenError> {
        let failed = self.call(Op::Open, M::backward, keys.into(), batch)?;
        judged(Op::Open, failed)
    }

    /// Does what `op` says with every message of the batch: one of the six calls above, for
    /// keys whose mode is known at run time.
    ///
    /// # Errors
    /// As those; [`Field::Operation`] where the mode of the keys has no such operation, of a
    /// batch without messages, too. Without messages and keys there is nothing to refuse.
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
        do_batch(
            keys,
            op,
            batch,
            #[inline(always)]
            |call, batch| {
                let mut failed = Vec::new();
                let alike = self.checked(call, batch)?;
                self.execute(call, run, (alike, is_far(batch)), batch, &mut failed);
                Ok(failed)
            },
        )
    }

    /// Checks a batch as [`Comb::run`] does before it begins, and does nothing with it: no
    /// byte of a text is read or written. All messages have [`Status::Pending`] afterwards.
    ///
    /// ```
    /// use aescomb::modes::Cbc;
    /// use aescomb::{Comb, Field, Key, Message, Op, Text};
    ///
    /// let key = Key::<Cbc>::new(&[0; 16])?;
    /// let mut text = [1; 40];
    /// let mut batch = [Message::new(Text::in_place(&mut text)).nonce(&[3; 16])];
    /// let error = Comb::check(Op::Encrypt, &key, &mut batch).unwrap_err();
    /// assert_eq!((error.message, error.field), (Some(0), Field::TextLength));
    /// # Ok::<(), aescomb::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Comb::run`], but for messages that fail.
    pub fn check<'k, M: Kernels, B: Batch + ?Sized>(
        op: Op,
        keys: impl Into<Keys<'k, M>>,
        batch: &mut B,
    ) -> Result<(), Error> {
        let keys = keys.into();
        if batch.count() == 0 && keys.set.len() == 0 {
            return Ok(());
        }
        // Messages are reported as done until it is dropped.
        let pending = Pending::new(batch);
        let mode = mode_of(&keys, pending.batch, op)?;
        let call = Call::new(mode, op, keys.set);
        pending.batch.check(&call, None).map(|_| ())
    }

    /// Checks a batch that is then executed as a whole.
    #[inline(always)]
    pub(crate) fn checked<B: Batch + ?Sized>(
        &mut self,
        call: &Call<'_>,
        batch: &mut B,
    ) -> Result<Alike, Error> {
        batch.check(call, Some(&mut self.jobs))
    }

    /// Does the messages of a batch that was checked, and adds those that failed to `failed`.
    /// `far`: it, or the one that it is a part of, is too large for the caches.
    #[inline(always)]
    pub(crate) fn execute<B: Batch + ?Sized>(
        &mut self,
        call: &Call<'_>,
        run: Run,
        about: (Alike, bool),
        batch: &mut B,
        failed: &mut Vec<u32>,
    ) {
        // Compiled into the caller, where the mode and the form of keys are constants.
        match batch.count() {
            0 => {}
            n if n <= SHORT_STRETCH => self.stretch(call, run, about, batch, 0..n, failed),
            _ => {
                let call = *call;
                self.stretches(&call, run, about, batch, failed);
            }
        }
    }

    #[inline(never)]
    fn stretches<B: Batch + ?Sized>(
        &mut self,
        call: &Call<'_>,
        run: Run,
        (alike, far): (Alike, bool),
        batch: &mut B,
        failed: &mut Vec<u32>,
    ) {
        let n = batch.count();
        // Jobs that are made here are best read while they are in the first cache. Groups of
        // serial modes are better made of more messages: more of them have similar lengths.
        let short = B::MAKES_JOBS && (alike.texts() || is_parallel(call.mode, call.op));
        let len = if short { SHORT_STRETCH } else { STRETCH };
        for start in (0..n).step_by(len) {
            let range = start..n.min(start + len);
            self.stretch(call, run, (alike, far), batch, range, failed);
        }
    }

    /// Does the messages of a range, at most [`STRETCH`].
    #[inline(always)]
    fn stretch<B: Batch + ?Sized>(
        &mut self,
        call: &Call<'_>,
        run: Run,
        (alike, far): (Alike, bool),
        batch: &mut B,
        range: Range<usize>,
        failed: &mut Vec<u32>,
    ) {
        let (backend, degree) = self.ways[usize::from(call.rules.chained)];
        let compares = matches!(call.op, Op::Verify | Op::Open);
        batch.prepare(call, alike, range.clone(), &mut self.jobs);
        let mut jobs = batch.jobs(range.clone(), &self.jobs);
        if call.rules.moves | call.rules.tag_first {
            let call = *call;
            jobs = framed(&call, jobs, &mut self.behind, &mut self.first_tags);
        }
        let verdicts = &mut self.verdicts[..range.len()];
        if compares {
            // Every message has failed until its tag is found to be right.
            verdicts.fill(FAILED);
        }
        let work = &mut Work {
            jobs,
            alike,
            far,
            keys: call.keys.for_jobs(jobs),
            memory: &mut self.memory,
            degree,
            verdicts: compares.then_some(verdicts),
        };
        run(call.mode, backend, work);
        // Mostly none differs, which is found without looking at each.
        let all_good = || {
            let differ = self.verdicts[..range.len()].iter().fold(0, or);
            is_zero(&differ.to_ne_bytes())
        };
        if call.rules.frames || compares && !all_good() {
            let call = *call;
            self.report(&call, batch, range, failed);
        }
    }

    /// Reports what became of each message: its length where the message itself says it, and its
    /// failure.
    #[inline(never)]
    fn report<B: Batch + ?Sized>(
        &mut self,
        call: &Call<'_>,
        batch: &mut B,
        range: Range<usize>,
        failed: &mut Vec<u32>,
    ) {
        let Call { op, rules, .. } = *call;
        let compares = matches!(op, Op::Verify | Op::Open);
        let before = failed.len();
        for i in 0..range.len() {
            let good = !compares || is_zero(&self.verdicts[i]);
            if good && !rules.frames {
                continue;
            }
            let job = &batch.jobs(range.clone(), &self.jobs)[i];
            let message = range.start + i;
            match good.then(|| rules.after(job)).flatten() {
                Some(len) if op != Op::Seal => batch.report(message, Status::Done, len),
                Some(_) => {}
                None => {
                    if compares {
                        // It would tell what the right tag is.
                        self.verdicts[i] = FAILED;
                    }
                    if op == Op::Open {
                        job.wipe();
                    }
                    failed.push(message as u32);
                    batch.report(message, Failed::status_of(op), 0);
                }
            }
        }
        if op == Op::Open && failed.len() > before {
            self.memory.wipe_texts();
        }
    }
}

/// Does what there is to do before messages themselves: the jobs as the kernels do them, which
/// are `behind` zeros, or tags that stand before their texts.
#[inline(never)]
fn framed<'j>(
    call: &Call<'_>,
    jobs: &'j [Job],
    behind: &'j mut Vec<Aligned<Job>>,
    first_tags: &mut Vec<Block>,
) -> &'j [Job] {
    let Call { op, rules, .. } = *call;
    let follow_tags = rules.tag_first && jobs.iter().any(Job::has_attached_tag);
    if !(rules.moves || follow_tags) {
        return jobs;
    }
    behind.resize(STRETCH, Aligned::default());
    let behind = &mut behind[..jobs.len()];
    let places = Aligned::jobs_mut(behind);
    if rules.moves {
        for (job, place) in jobs.iter().zip(places) {
            job.move_to_end(place);
        }
    } else {
        first_tags.resize(STRETCH, [0; 16]);
        for ((job, place), tag) in jobs.iter().zip(places).zip(first_tags) {
            job.put_behind_tag(op, place, tag);
        }
    }
    Aligned::jobs(behind)
}

fn or(all: u128, block: &Block) -> u128 {
    all | u128::from_ne_bytes(*block)
}

/// A mode's kernels: see [`Kernels::forward`].
pub(crate) type Run = fn(Mode, Backend, &mut Work<'_>);

/// Does a batch by `work`, which also checks it: the messages that failed. Of a batch that is
/// refused, no message is done.
#[inline(always)]
pub(crate) fn do_batch<'k, M: Kernels, B: Batch + ?Sized>(
    keys: Keys<'k, M>,
    op: Op,
    batch: &mut B,
    work: impl FnOnce(&Call<'_>, &mut B) -> Result<Vec<u32>, Error>,
) -> Result<Vec<u32>, Error> {
    if batch.count() == 0 && keys.set.len() == 0 {
        return Ok(Vec::new());
    }
    let mut pending = Pending::new(batch);
    let mode = mode_of(&keys, pending.batch, op)?;
    let call = Call::new(mode, op, keys.set);
    let failed = work(&call, pending.batch)?;
    pending.done = true;
    Ok(failed)
}

/// The mode of these keys, or of those that messages have, if it has the operation.
///
/// Not a [`Call`]: a result of its size is copied, and waits for the stores that made it.
#[inline(always)]
fn mode_of<M: Kernels, B: Batch + ?Sized>(
    keys: &Keys<'_, M>,
    batch: &B,
    op: Op,
) -> Result<Mode, Error> {
    let own = match keys.set {
        // Others need not lead to keys.
        KeySet::Own => batch.own_key(),
        set if set.len() == 0 => return Err(Error::new(Field::Count, 0, Allowed::AtLeast(1))),
        _ => None,
    };
    let mode = match (keys.mode(), own) {
        (Ok(mode), _) => mode,
        (Err(_), Some(own)) => own.mode(),
        (Err(error), None) => return Err(error.at(0)),
    };
    check_count(batch.count())?;
    if !mode.kind().has(op) {
        return Err(no_operation(mode, op));
    }
    Ok(mode)
}

/// The kernels of any mode.
pub(crate) fn any(op: Op) -> Run {
    match op {
        Op::Decrypt | Op::Open => AnyMode::backward,
        _ => AnyMode::forward,
    }
}

/// An error, if messages failed.
pub(crate) fn judged(op: Op, failed: Vec<u32>) -> Result<(), OpenError> {
    match failed.is_empty() {
        true => Ok(()),
        false => Err(OpenError::Failed(Failed::of(op, failed))),
    }
}

/// How many messages are done before the next ones are begun: enough for groups of similar
/// lengths, and so few that they, and what is written for them, stay in the caches.
pub(crate) const STRETCH: usize = 512;

/// Bytes of texts and associated data from which on a batch of many messages is too large for the
/// caches, which are not this program's alone. (Zen 5, 32 MiB that virtual machines share: fetching
/// texts first took 1.12 of the time at 3 MB, 0.83 to 1.08 at 6.5, and 0.8 at 12 MB.)
const FAR: usize = 6 << 20;
/// Fewer messages than this that have so many bytes are long: the CPU fetches their texts by itself.
const MANY: usize = 1 << 12;

/// Whether a batch is too large for the caches.
pub(crate) fn is_far<B: Batch + ?Sized>(batch: &B) -> bool {
    batch.count() >= MANY && weigh(batch, 0, SAMPLE) >= FAR
}

/// About how many bytes the texts and associated data of a batch have, and `more` for each message:
/// as a `sample` of so many says, as reading all of them would take a tenth of their time.
pub(crate) fn weigh<B: Batch + ?Sized>(batch: &B, more: usize, sample: usize) -> usize {
    let count = batch.count();
    let step = count.div_ceil(sample).max(1);
    let (mut bytes, mut seen) = (0_usize, 0);
    for i in (0..count).step_by(step) {
        bytes = bytes.saturating_add(batch.bytes(i)).saturating_add(more);
        seen += 1;
    }
    bytes.saturating_mul(count) / seen.max(1)
}

/// How many of a batch's messages say how long all are, at most.
const SAMPLE: usize = 64;

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
struct Pending<'b, B: Batch + ?Sized> {
    batch: &'b mut B,
    done: bool,
}

impl<'b, B: Batch + ?Sized> Pending<'b, B> {
    fn new(batch: &'b mut B) -> Self {
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

/// A backend with its own degree.
fn way(backend: Backend) -> (Backend, usize) {
    (backend, backend.default_lanes())
}

pub(crate) fn is_parallel(mode: Mode, op: Op) -> bool {
    let info = mode.info();
    match op {
        Op::Decrypt | Op::Open => info.parallel_decrypt,
        _ => info.parallel_encrypt,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::Message;
    use crate::text::Text;

    #[test]
    fn batches_too_large_for_the_caches() {
        let text = alloc::vec![0; FAR / MANY];
        for (count, len, far) in [
            (MANY, text.len(), true),
            (MANY, text.len() - 1, false),
            (MANY - 1, text.len(), false),
            (0, 0, false),
        ] {
            let batch: Vec<_> = (0..count)
                .map(|_| Message::new(Text::read_only(&text[..len])))
                .collect();
            assert_eq!(is_far(&batch), far, "{count} messages of {len} bytes");
        }
    }
}
