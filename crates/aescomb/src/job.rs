//! Jobs: messages by raw pointers, as the kernels take them and as foreign callers have
//! them.
//!
//! `unsafe` here rests on what a [`Job`] says of its pointers, once it was admitted: `src`
//! is readable for `len` bytes, `dst` writable for what the mode makes of them, `nonce`
//! readable for `nonce_len` bytes, the components of associated data are readable, and
//! `tag` is readable, or writable where the operation makes tags, for `tag_len` bytes.
//! `batch.rs` makes jobs of borrowed slices that outlive the call; whoever makes [`Jobs`]
//! of others promises the same.
#![allow(unsafe_code)]

use crate::admission::{Admission, Alike, Call};
use crate::batch::{Message, Status};
use crate::bytes;
use crate::error::{Allowed, Error, Field};
use crate::isa::Block;
use crate::key::AnyKey;
use crate::mode::Op;
use crate::modes::padding_len;
use alloc::vec::Vec;
use core::marker::PhantomData;
use core::mem::MaybeUninit;
use core::ops::Range;

/// A [`Message`] by raw pointers, for foreign interfaces and for packet rings that
/// describe their packets once: a batch of them is [`Jobs`]. All lengths are in bytes. A
/// pointer may be null where its length is 0.
///
/// The layout is that of the C struct with the same members in the same order.
/// Calls are fastest where jobs begin at multiples of 64 bytes.
///
/// ```
/// use aescomb::ffi::{Job, Jobs};
/// use aescomb::modes::Cbc;
/// use aescomb::{Comb, Key, Status};
///
/// let key = Key::<Cbc>::new(&[0; 16])?;
/// let nonce = [3; 16];
/// let mut memory = [[1; 48]; 3];
/// let mut ring: Vec<Job> = memory
///     .iter_mut()
///     .map(|packet| Job {
///         src: packet.as_ptr(),
///         src_len: packet.len(),
///         dst: packet.as_mut_ptr(),
///         dst_len: packet.len(),
///         nonce: nonce.as_ptr(),
///         nonce_len: 16,
///         ..Job::default()
///     })
///     .collect();
/// // SAFETY: the pointers are to arrays of these lengths, which nobody uses meanwhile.
/// let mut jobs = unsafe { Jobs::new(ring.as_mut_ptr(), ring.len()) };
/// Comb::new().encrypt(&key, &mut jobs)?;
/// // SAFETY: a call has written it.
/// assert!(ring.iter().all(|job| unsafe { job.status.assume_init() } == Status::Done));
/// # Ok::<(), aescomb::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Job {
    /// Where the text is read.
    pub src: *const u8,
    /// Its length; with an attached tag that is opened, with the tag.
    pub src_len: usize,
    /// Where the result goes: the same place as `src`, or one that has no byte in common
    /// with it.
    pub dst: *mut u8,
    /// Its room.
    pub dst_len: usize,
    /// Nonce: initialisation vector, initial counter block or tweak.
    pub nonce: *const u8,
    /// Associated data, one component. Null for none, which for SIV is not the same as an
    /// empty one.
    pub data: *const u8,
    /// Its length.
    pub data_len: usize,
    /// Where the tag goes, or where it is if it is to be checked, and then it is only
    /// read. With an attached tag, a call writes here where that is.
    pub tag: *mut u8,
    /// Bytes of the nonce.
    pub nonce_len: u32,
    /// Bytes of the tag.
    pub tag_len: u32,
    /// 1: tag and ciphertext are in one piece, the tag where the mode has it
    /// ([`Info::tag_first`](crate::Info::tag_first)), for sealing and opening. Otherwise 0.
    pub tag_attached: u32,
    /// For the caller, who may describe several components of associated data; a call
    /// refuses jobs in which it is not 0. ([`Message`] takes several.)
    pub component_count: u32,
    /// For a mode that does not tell ([`Lengths::Untold`](crate::Lengths::Untold)): how
    /// many bytes the message has that is opened. Others do not look at it.
    pub opened_len: usize,
    /// The job's own key, for [`Keys::of_messages`](crate::Keys::of_messages); null in other
    /// calls.
    pub key: *const AnyKey,
    /// Written by a call, which does not read it: bytes of result, 0 if the job failed
    /// and for tags only.
    pub written: MaybeUninit<usize>,
    /// Written by a call, which does not read it: what became of the job.
    pub status: MaybeUninit<Status>,
    /// The engine's own: bytes at `src` without those of a tag.
    #[doc(hidden)]
    pub len: usize,
    /// The engine's own: the place in the table of keys.
    #[doc(hidden)]
    pub place: u32,
    /// The engine's own: components of associated data, 0, 1 or `SEVERAL`. Then `data` has
    /// a `&[u8]` for each, and `data_len` is how many there are.
    #[doc(hidden)]
    pub components: u32,
}

// SAFETY: the pointers are used during a call only, while what is behind them is borrowed
// by it; between calls they are never read.
unsafe impl Send for Job {}
// SAFETY: as above.
unsafe impl Sync for Job {}

/// In `tag_attached`: tag and text are in one piece.
pub(crate) const ATTACHED: u32 = 1;
/// In `tag_attached`, of messages only: the tag is apart, and nobody may write it.
pub(crate) const RECEIVED: u32 = 2;

/// A job without anything.
impl Default for Job {
    #[inline(always)]
    fn default() -> Self {
        Job::NONE
    }
}

/// Stands in loops over jobs: compiled for a CPU with AVX-512 they would become gathers and
/// scatters of members, which take longer than moving them one by one.
#[inline(always)]
pub(crate) fn one_by_one() {
    core::hint::black_box(());
}

/// A job in as few lines of the cache as it can be in: the check and the kernels read it
/// whole.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(64))]
pub(crate) struct Aligned(pub Job);

const _: () = assert!(size_of::<Aligned>() == size_of::<Job>());
const _: () = assert!(size_of::<Message<'_>>() == size_of::<Job>());

impl Aligned {
    #[inline(always)]
    pub(crate) fn jobs(memory: &[Aligned]) -> &[Job] {
        // SAFETY: they are jobs, one after the other.
        unsafe { core::slice::from_raw_parts(memory.as_ptr().cast(), memory.len()) }
    }

    #[inline(always)]
    pub(crate) fn jobs_mut(memory: &mut [Aligned]) -> &mut [Job] {
        // SAFETY: as above.
        unsafe { core::slice::from_raw_parts_mut(memory.as_mut_ptr().cast(), memory.len()) }
    }
}

impl Job {
    pub(crate) const NONE: Job = Job {
        src: core::ptr::null(),
        src_len: 0,
        dst: core::ptr::null_mut(),
        dst_len: 0,
        nonce: core::ptr::null(),
        data: core::ptr::null(),
        data_len: 0,
        tag: core::ptr::null_mut(),
        nonce_len: 0,
        tag_len: 0,
        tag_attached: 0,
        component_count: 0,
        opened_len: usize::MAX,
        key: core::ptr::null(),
        written: MaybeUninit::new(0),
        status: MaybeUninit::new(Status::Pending),
        len: 0,
        place: 0,
        components: 0,
    };

    /// Several components of associated data.
    pub(crate) const SEVERAL: u32 = u32::MAX;

    /// What the last call made of a message, and the bytes that it wrote.
    #[inline]
    pub(crate) fn outcome(message: &Message<'_>) -> (Status, usize) {
        let [job] = Job::of(core::slice::from_ref(message)) else {
            unreachable!("one message has one job")
        };
        // SAFETY: a message is made with both.
        unsafe { (job.status.assume_init(), job.written.assume_init()) }
    }

    /// The jobs of messages.
    #[inline(always)]
    pub(crate) fn of<'a>(messages: &'a [Message<'_>]) -> &'a [Job] {
        // SAFETY: a message is its job.
        unsafe { core::slice::from_raw_parts(messages.as_ptr().cast(), messages.len()) }
    }

    /// The same, to be checked and prepared.
    #[inline(always)]
    pub(crate) fn of_mut<'a>(messages: &'a mut [Message<'_>]) -> &'a mut [Job] {
        // SAFETY: a message is its job.
        unsafe { core::slice::from_raw_parts_mut(messages.as_mut_ptr().cast(), messages.len()) }
    }

    /// Checks jobs of messages, and reports them as done; what is wrong with the first that
    /// is bad.
    pub(crate) fn check(call: &Call<'_>, jobs: &mut [Job]) -> Result<Alike, Error> {
        let mut admission = call.admission();
        let Some(first) = jobs.first() else {
            return Ok(Alike::ALL);
        };
        admission.admit(first).map_err(|e| e.at(0))?;
        let (_, len) = call.prepared(first);
        // SAFETY: there are so many jobs, and they are borrowed.
        if let Some((texts, data)) =
            unsafe { call.all_good::<false>(jobs.as_mut_ptr(), jobs.len()) }
            && let Some(keys) = call.have_keys(jobs.iter())
        {
            return Ok(Alike { texts, data, keys });
        }
        let mut equal = true;
        for (i, job) in jobs.iter_mut().enumerate() {
            let written = admission.admit(job).map_err(|e| e.at(i))?;
            job.report(Status::Done, written);
            equal &= call.prepared(job).1 == len;
        }
        Ok(Alike {
            texts: equal,
            data: false,
            keys: call.has_shared_key(),
        })
    }

    #[inline(always)]
    pub(crate) fn report(&mut self, status: Status, written: usize) {
        self.status = MaybeUninit::new(status);
        self.written = MaybeUninit::new(written);
    }

    /// How many components of associated data it has.
    #[inline(always)]
    pub(crate) fn components(&self) -> usize {
        match self.components {
            Job::SEVERAL => self.data_len,
            n => n as usize,
        }
    }

    /// Component `i` of the associated data.
    #[inline(always)]
    pub(crate) fn component(&self, i: usize) -> (*const u8, usize) {
        match self.components {
            Job::SEVERAL => {
                // SAFETY: there are `data_len` slices at `data`.
                let all = unsafe {
                    core::slice::from_raw_parts(self.data.cast::<&[u8]>(), self.data_len)
                };
                (all[i].as_ptr(), all[i].len())
            }
            _ => (self.data, self.data_len),
        }
    }

    /// Takes PKCS#7 padding off the result, which has whole blocks and at least
    /// one: the length without it, or `None`, and the result is wiped, where
    /// there is none.
    pub(crate) fn unpad(&self) -> Option<usize> {
        // SAFETY: the destination has `len` bytes, 16 or more, and has been
        // written.
        let result = unsafe { core::slice::from_raw_parts_mut(self.dst, self.len) };
        let last = result.last_chunk()?;
        match padding_len(last) {
            Some(padding) => Some(self.len - padding),
            None => {
                result.fill(0);
                None
            }
        }
    }

    /// Whether a last block is filled up.
    #[inline(always)]
    pub(crate) fn is_filled(&self) -> bool {
        self.len == 0 || !self.len.is_multiple_of(16)
    }

    /// The byte after the tag's 16.
    #[inline(always)]
    pub(crate) fn flag(&self) -> *mut u8 {
        assert!(self.tag_len == 17);
        self.tag.wrapping_add(16)
    }

    /// Puts after the tag of a sealed message whether its last block was filled up.
    pub(crate) fn put_flag(&self) {
        // SAFETY: the tag has 17 bytes and is writable.
        unsafe { self.flag().write(u8::from(self.is_filled())) };
    }

    /// The length of an opened message, whose tag is right, without what filled up its
    /// last block (0x80 and zeros) if the flag after the tag says so. `None` if nothing
    /// did, or if the flag is no flag.
    pub(crate) fn unfill(&self) -> Option<usize> {
        // SAFETY: the tag has 17 bytes; the destination has `len` bytes and has been
        // written.
        let (flag, text) = unsafe {
            let text = core::slice::from_raw_parts(self.dst, self.len);
            (self.flag().read(), text)
        };
        let (_, last) = text.split_last_chunk::<16>()?;
        // As an integer 0x80 is the highest byte that is not 0.
        let last = u128::from_le_bytes(*last);
        let zeros = last.leading_zeros() as usize / 8;
        match flag {
            0 => Some(self.len),
            1 if last != 0 && last >> (120 - zeros * 8) & 0xff == 0x80 => {
                Some(self.len - 1 - zeros)
            }
            _ => None,
        }
    }

    /// Moves a message that is to be sealed to the end of its destination, which has
    /// whole blocks, with zeros before it.
    pub(crate) fn move_to_end(&self) {
        let zeros = self.len.next_multiple_of(16) - self.len;
        // SAFETY: the destination has room for whole blocks; it may be the source.
        unsafe {
            core::ptr::copy(self.src, self.dst.wrapping_add(zeros), self.len);
            core::ptr::write_bytes(self.dst, 0, zeros);
        }
    }

    /// Undoes it after opening; `None` where there are no zeros, in constant time.
    pub(crate) fn move_to_start(&self) -> Option<usize> {
        let zeros = self.len.checked_sub(self.opened_len)?;
        // SAFETY: the destination has `len` bytes, and they have been written.
        unsafe {
            let before = bytes::load(self.dst, zeros);
            core::ptr::copy(self.dst.wrapping_add(zeros), self.dst, self.opened_len);
            bytes::is_zero(&before).then_some(self.opened_len)
        }
    }

    /// The same job as the kernels do it, in a mode whose attached tag stands before the
    /// text: in place, the text is moved to where its result will be, and `tag` keeps the tag that
    /// is to be checked.
    pub(crate) fn behind_tag(&self, op: Op, tag: &mut Block) -> Job {
        let mut job = *self;
        if job.tag_attached != ATTACHED {
            return job;
        }
        let bytes = job.tag_len as usize;
        let in_place = job.src == job.dst.cast_const();
        if op == Op::Seal {
            job.dst = self.dst.wrapping_add(bytes);
            if in_place {
                // SAFETY: the destination has room for the text and the tag.
                unsafe { core::ptr::copy(self.src, job.dst, job.len) };
                job.src = job.dst.cast_const();
            }
        } else if in_place {
            // SAFETY: the source has the tag and then the text; the destination, which begins
            // where it does, has room for the text.
            unsafe {
                *tag = bytes::load(self.src, bytes);
                core::ptr::copy(self.src.add(bytes), self.dst, job.len);
            }
            job.tag = tag.as_mut_ptr();
        } else {
            job.src = self.src.wrapping_add(bytes);
        }
        job
    }

    /// Wipes what an opening has written.
    #[cold]
    pub(crate) fn wipe(&self) {
        if self.len > 0 {
            // SAFETY: the destination has `len` bytes, and they have been written.
            unsafe { core::ptr::write_bytes(self.dst, 0, self.len) };
        }
    }
}

/// A [`Batch`](crate::Batch) of [`Job`]s.
#[derive(Debug)]
pub struct Jobs<'a> {
    first: *mut Job,
    count: usize,
    borrow: PhantomData<&'a mut [Job]>,
}

// SAFETY: it borrows jobs, which may be sent and shared.
unsafe impl Send for Jobs<'_> {}
// SAFETY: as above; nothing is written through `&Jobs`.
unsafe impl Sync for Jobs<'_> {}

impl<'a> Jobs<'a> {
    /// The `count` jobs from `first` on. Nothing is read before a call.
    ///
    /// # Safety
    /// For `'a`, there must be `count` jobs at `first`, which nobody else uses; members
    /// that a call writes need not be initialised. When a call begins, and until it
    /// returns, `src`, `nonce`, `data` and `tag` must be null or readable for their
    /// lengths, `dst` null or writable, and `tag` writable where the operation makes tags;
    /// nobody else may write to these or touch destinations, which do not overlap each
    /// other. Where keys come from the jobs, `key` must be null or lead to a key.
    pub unsafe fn new(first: *mut Job, count: usize) -> Self {
        Jobs {
            first,
            count,
            borrow: PhantomData,
        }
    }

    /// All of them, in parts of `len` jobs.
    pub(crate) fn parts(&mut self, len: usize) -> Vec<Jobs<'_>> {
        (0..self.count)
            .step_by(len)
            .map(|start| Jobs {
                first: self.first.wrapping_add(start),
                count: len.min(self.count - start),
                borrow: PhantomData,
            })
            .collect()
    }

    pub(crate) fn len(&self) -> usize {
        self.count
    }

    /// As [`Job::check`].
    pub(crate) fn check(&mut self, call: &Call<'_>) -> Result<Alike, Error> {
        let mut admission = call.admission();
        if self.count == 0 {
            return Ok(Alike::ALL);
        }
        let admit = |jobs: &mut Self, admission: &mut Admission<'_, '_>, i| {
            let job = jobs.begin(i);
            lacking(job)?;
            admission.admit(job)
        };
        admit(self, &mut admission, 0).map_err(|e| e.at(0))?;
        // SAFETY: there are so many jobs, which nobody else uses.
        if let Some((texts, data)) = unsafe { call.all_good::<true>(self.first, self.count) }
            && let Some(keys) = match call.has_own_keys() {
                true => call.have_keys((0..self.count).map(|i| self.get(i))),
                false => call.have_places(0..self.count as u32),
            }
        {
            return Ok(Alike { texts, data, keys });
        }
        for i in 0..self.count {
            let written = admit(self, &mut admission, i).map_err(|e| e.at(i))?;
            self.report(i, Status::Done, written);
        }
        Ok(Alike {
            texts: false,
            data: false,
            keys: call.has_shared_key(),
        })
    }

    /// Makes jobs that were checked ready for the kernels.
    pub(crate) fn prepare(&mut self, call: &Call<'_>, range: Range<usize>) {
        for (place, i) in range.enumerate() {
            let (tag, len) = {
                let job = self.begin(i);
                call.prepared(job)
            };
            let job = self.at(i);
            // SAFETY: as in `begin`.
            unsafe {
                ((*job).tag, (*job).len) = (tag, len);
                if call.has_own_keys() {
                    (*job).place = place as u32;
                }
            }
        }
    }

    /// Writes the engine's own members of job `i`.
    #[inline(always)]
    fn begin(&mut self, i: usize) -> &Job {
        let job = self.at(i);
        // SAFETY: it is there. No reference to it is left, nor made but for reading: its
        // key may be read too.
        unsafe {
            (*job).place = i as u32;
            (*job).components = u32::from(!(*job).data.is_null());
            (*job).len = (*job).src_len;
            &*job
        }
    }

    /// Job `i`.
    #[inline(always)]
    pub(crate) fn get(&self, i: usize) -> &Job {
        // SAFETY: it is there, and nobody else uses it.
        unsafe { &*self.at(i) }
    }

    #[inline(always)]
    pub(crate) fn report(&mut self, i: usize, status: Status, written: usize) {
        let job = self.at(i);
        // SAFETY: it is there, and no reference to it.
        unsafe {
            (*job).status = MaybeUninit::new(status);
            (*job).written = MaybeUninit::new(written);
        }
    }

    #[inline(always)]
    fn at(&self, i: usize) -> *mut Job {
        assert!(i < self.count);
        // SAFETY: there are that many.
        unsafe { self.first.add(i) }
    }

    /// Those that were prepared.
    pub(crate) fn as_slice(&self, range: Range<usize>) -> &[Job] {
        assert!(range.start < range.end && range.end <= self.count);
        // SAFETY: there are that many.
        unsafe { core::slice::from_raw_parts(self.first.add(range.start), range.len()) }
    }
}

/// What a foreign job lacks, if anything.
#[inline(always)]
fn lacking(job: &Job) -> Result<(), Error> {
    let nulls = job.src.is_null() & (job.src_len > 0)
        | job.dst.is_null() & (job.dst_len > 0)
        | job.nonce.is_null() & (job.nonce_len > 0)
        | job.data.is_null() & (job.data_len > 0)
        | job.tag.is_null() & (job.tag_len > 0) & (job.tag_attached == 0);
    match nulls | (job.component_count != 0) | (job.tag_attached > ATTACHED) {
        true => lack(job),
        false => Ok(()),
    }
}

#[cold]
fn lack(job: &Job) -> Result<(), Error> {
    let parts = [
        (Field::TextLength, job.src, job.src_len),
        (Field::OutputLength, job.dst.cast_const(), job.dst_len),
        (Field::NonceLength, job.nonce, job.nonce_len as usize),
        (Field::DataLength, job.data, job.data_len),
    ];
    let tag = (Field::TagLength, job.tag.cast_const(), job.tag_len as usize);
    let beside = (job.tag_attached == 0).then_some(tag);
    for (field, place, len) in parts.into_iter().chain(beside) {
        if place.is_null() && len > 0 {
            return Err(Error::new(field, len, Allowed::Exactly(0)));
        }
    }
    if job.component_count != 0 {
        let given = job.component_count as usize;
        return Err(Error::new(Field::DataCount, given, Allowed::Nothing));
    }
    Err(Error::new(
        Field::Tag,
        job.tag_attached as usize,
        Allowed::AtMost(ATTACHED as usize),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::Keys;
    use crate::modes::Mode;
    use alloc::vec::Vec;

    /// A foreign job is refused as the only one of its batch and among others, or neither.
    #[test]
    fn a_job_alone_and_among_others() {
        let mut memory = alloc::vec![0u8; 1 << 12];
        let at = memory.as_mut_ptr().wrapping_add(1 << 11);
        let changes: &[fn(&mut Job)] = &[
            |_| {},
            |job| job.src = core::ptr::null(),
            |job| job.dst = core::ptr::null_mut(),
            |job| (job.dst, job.dst_len) = (core::ptr::null_mut(), 0),
            |job| job.nonce = core::ptr::null(),
            |job| (job.nonce, job.nonce_len) = (core::ptr::null(), 0),
            |job| job.data = core::ptr::null(),
            |job| (job.data, job.data_len) = (core::ptr::null(), 0),
            |job| job.tag = core::ptr::null_mut(),
            |job| job.dst_len = 1 << (usize::BITS - 1),
            |job| job.dst_len = usize::MAX,
            |job| job.src_len = usize::MAX,
            |job| job.src_len = usize::MAX - 3,
            |job| job.src_len = 1 << (usize::BITS - 1),
            |job| job.data_len = usize::MAX,
            |job| job.component_count = 1,
            |job| job.key = job.src.cast(),
            |job| job.tag_attached = 1,
            |job| job.dst = job.dst.wrapping_add(1),
        ];
        for mode in Mode::ALL {
            let info = mode.info();
            let raw: Vec<u8> = (0..info.key_bytes[0] as u8).collect();
            let key = AnyKey::for_mode(*mode, &raw).expect("a good key");
            for op in info.kind.ops() {
                let call = Call::new(Keys::from(&key), None, op, |_, _, _| {})
                    .expect("an operation of the mode");
                let has_data = info.data_components > 0;
                let good = Job {
                    src: at,
                    src_len: 48,
                    dst: at,
                    dst_len: if matches!(op, Op::Mac | Op::Verify) {
                        0
                    } else {
                        96
                    },
                    nonce: at,
                    nonce_len: info.nonce_bytes.0 as u32,
                    data: if has_data { at } else { core::ptr::null() },
                    data_len: if has_data { 12 } else { 0 },
                    tag: at,
                    tag_len: info.longest_tag() as u32,
                    opened_len: 48,
                    ..Job::default()
                };
                for (i, change) in changes.iter().enumerate() {
                    let mut job = good;
                    change(&mut job);
                    let mut many = [good; 9];
                    many[5] = job;
                    let check = |jobs: &mut [Job]| {
                        // SAFETY: nothing of them is read but the jobs themselves.
                        let mut jobs = unsafe { Jobs::new(jobs.as_mut_ptr(), jobs.len()) };
                        jobs.check(&call).map(|_| ())
                    };
                    let among = check(&mut many);
                    let alone = check(&mut [job]);
                    assert_eq!(among, alone.map_err(|e| e.at(5)), "{mode} {op:?} {i}");
                }
            }
        }
    }
}
