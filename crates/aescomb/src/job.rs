//! Jobs: messages by raw pointers, as the kernels take them and as foreign callers have
//! them.
//!
//! `unsafe` here rests on what a [`Job`] says of its pointers, once it was admitted: `src`
//! is readable for `len` bytes, `dst` writable for what the mode makes of them, `nonce`
//! readable for `nonce_len` bytes, the components of associated data are readable, and
//! `tag` is readable, or writable where the operation makes tags, for `tag_len` bytes.
//! `message.rs` and `batch.rs` make jobs of borrowed slices that outlive the call; whoever makes
//! [`Jobs`](crate::ffi::Jobs) of others promises the same.
#![allow(unsafe_code)]

use crate::block::{Aligned, Block};
use crate::bytes::{self, padding_len};
use crate::expanded::Expanded;
use crate::key::AnyKey;
use crate::mode::Op;
use crate::status::Status;
use core::mem::MaybeUninit;

/// A [`Message`](crate::Message) by raw pointers, for foreign interfaces and for packet rings that
/// describe their packets once: a batch of them is [`Jobs`](crate::ffi::Jobs). All lengths are in bytes. A
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
    /// read. With an attached tag, a call may write here where that was found or put.
    pub tag: *mut u8,
    /// Bytes of the nonce.
    pub nonce_len: u32,
    /// Bytes of the tag.
    pub tag_len: u32,
    /// 1: tag and ciphertext are in one piece, the tag where the mode has it
    /// ([`Info::tag_first`](crate::Info::tag_first)), for sealing and opening. Otherwise 0.
    pub tag_attached: u32,
    /// For the caller, who may describe several components of associated data; a call
    /// refuses jobs in which it is not 0. ([`Message`](crate::Message) takes several.)
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
    /// The engine's own: the place of its key in the table.
    #[doc(hidden)]
    pub key_index: u32,
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
pub(crate) fn not_by_vectors() {
    core::hint::black_box(());
}

const _: () = assert!(size_of::<Aligned<Job>>() == size_of::<Job>());

/// Jobs of so many messages have 16 KiB, and stay in the first cache.
pub(crate) const SHORT_STRETCH: usize = 128;

/// A function that does one message, which was checked, and returns whether its tag is right, if it
/// compares one. It takes the key, where the text is and where the result goes, the length of the
/// text, and the nonce. They are arguments and not members of a job because arguments stay in
/// registers: to store a job and load it again takes longer than a short message.
pub(crate) type RunOne = fn(&Expanded, (*const u8, *mut u8), usize, *const u8, &Rest) -> bool;

/// What else a [`RunOne`] takes.
#[derive(Debug)]
pub(crate) struct Rest {
    data: *const u8,
    data_len: usize,
    tag: *mut u8,
    nonce_len: u32,
    tag_len: u32,
}

// SAFETY: as of jobs.
unsafe impl Sync for Rest {}

impl Rest {
    /// No associated data and no tag, and a nonce of so many bytes.
    pub(crate) const fn of_nonce(bytes: u32) -> Self {
        Rest {
            data: core::ptr::null(),
            data_len: 0,
            tag: core::ptr::null_mut(),
            nonce_len: bytes,
            tag_len: 0,
        }
    }
}

impl Aligned<Job> {
    #[inline(always)]
    pub(crate) fn jobs(memory: &[Aligned<Job>]) -> &[Job] {
        // SAFETY: they are jobs, one after the other.
        unsafe { core::slice::from_raw_parts(memory.as_ptr().cast(), memory.len()) }
    }

    #[inline(always)]
    pub(crate) fn jobs_mut(memory: &mut [Aligned<Job>]) -> &mut [Job] {
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
        key_index: 0,
        components: 0,
    };

    /// The job that a [`RunOne`] is for.
    #[inline(always)]
    pub(crate) fn of(
        (src, dst): (*const u8, *mut u8),
        len: usize,
        nonce: *const u8,
        rest: &Rest,
    ) -> Job {
        Job {
            src,
            dst,
            len,
            nonce,
            data: rest.data,
            data_len: rest.data_len,
            tag: rest.tag,
            nonce_len: rest.nonce_len,
            tag_len: rest.tag_len,
            components: u32::from(!rest.data.is_null()),
            ..Job::NONE
        }
    }

    /// Does it by `run`.
    #[inline(always)]
    pub(crate) fn run_one(&self, run: RunOne, key: &Expanded) -> bool {
        debug_assert!(self.components == u32::from(!self.data.is_null()));
        let rest = &Rest {
            data: self.data,
            data_len: self.data_len,
            tag: self.tag,
            nonce_len: self.nonce_len,
            tag_len: self.tag_len,
        };
        self.run_with(run, key, rest)
    }

    /// The same with a `rest` that is kept elsewhere.
    #[inline(always)]
    pub(crate) fn run_with(&self, run: RunOne, key: &Expanded, rest: &Rest) -> bool {
        run(key, (self.src, self.dst), self.len, self.nonce, rest)
    }

    /// This job, reading what was written.
    #[inline(always)]
    pub(crate) fn again(&self) -> Job {
        Job {
            src: self.dst,
            ..*self
        }
    }

    /// Several components of associated data.
    pub(crate) const SEVERAL: u32 = u32::MAX;

    /// Sets the engine's own members of a foreign job, of whose text the last `shorter` bytes are
    /// a tag.
    ///
    /// # Safety
    /// It is there, and there is no reference to it.
    #[inline(always)]
    pub(crate) unsafe fn begin(job: *mut Job, key_index: u32, shorter: usize) {
        // SAFETY: the caller's.
        unsafe {
            (*job).key_index = key_index;
            (*job).components = u32::from(!(*job).data.is_null());
            (*job).len = (*job).src_len.wrapping_sub(shorter);
        }
    }

    #[inline(always)]
    pub(crate) fn report(&mut self, status: Status, written: usize) {
        self.status = MaybeUninit::new(status);
        self.written = MaybeUninit::new(written);
    }

    #[inline(always)]
    pub(crate) fn nonce(&self) -> &[u8] {
        match self.nonce_len {
            0 => &[],
            // SAFETY: the nonce has that many bytes.
            len => unsafe { core::slice::from_raw_parts(self.nonce, len as usize) },
        }
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
    /// whole blocks, with zeros before it, and makes the job as the kernels do it.
    #[inline(always)]
    pub(crate) fn move_to_end(&self, job: &mut Job) {
        let len = self.len.next_multiple_of(16);
        let zeros = len - self.len;
        let to = self.dst.wrapping_add(zeros);
        if !core::ptr::eq(self.src, to) {
            // SAFETY: the destination has room for whole blocks; it may be the source.
            unsafe {
                core::ptr::copy(self.src, to, self.len);
                bytes::store(&[0; 16], self.dst, zeros);
            }
        }
        *job = *self;
        (job.src, job.len, job.opened_len) = (self.dst, len, self.len);
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

    /// Whether its nonce, associated data and tag are of the lengths that another's have.
    #[inline(always)]
    pub(crate) fn is_like(&self, job: &Job) -> bool {
        (self.nonce_len, self.tag_len, self.data_len) == (job.nonce_len, job.tag_len, job.data_len)
    }

    /// Whether tag and text are in one piece.
    #[inline(always)]
    pub(crate) fn has_attached_tag(&self) -> bool {
        self.tag_attached == ATTACHED
    }

    /// Makes the job as the kernels do it, in a mode whose attached tag stands before the text:
    /// in place, the text is moved to where its result will be, and `tag` keeps the tag that is to
    /// be checked.
    pub(crate) fn put_behind_tag(&self, op: Op, job: &mut Job, tag: &mut Block) {
        *job = *self;
        if !self.has_attached_tag() {
            return;
        }
        let bytes = self.tag_len as usize;
        let in_place = self.src == self.dst.cast_const();
        if op == Op::Seal {
            job.dst = self.dst.wrapping_add(bytes);
            if in_place {
                // SAFETY: the destination has room for the text and the tag.
                unsafe { core::ptr::copy(self.src, job.dst, self.len) };
                job.src = job.dst.cast_const();
            }
        } else if in_place {
            // SAFETY: the source has the tag and then the text; the destination, which begins
            // where it does, has room for the text.
            unsafe {
                *tag = bytes::load(self.src, bytes);
                core::ptr::copy(self.src.add(bytes), self.dst, self.len);
            }
            job.tag = tag.as_mut_ptr();
        } else {
            job.src = self.src.wrapping_add(bytes);
        }
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

/// What all messages of a batch have in common, as far as it is known. In one byte: what is written
/// as several and read as one number must be in the cache first.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Alike(u8);

impl Alike {
    /// What no messages have.
    pub(crate) const ALL: Alike = Alike::new(true, true, true).apart(true);

    #[inline(always)]
    pub(crate) const fn new(texts: bool, data: bool, keys: bool) -> Alike {
        Alike(texts as u8 | (data as u8) << 1 | (keys as u8) << 2)
    }

    /// The same, where no tag is attached, if they are `apart`.
    #[inline(always)]
    pub(crate) const fn apart(self, apart: bool) -> Alike {
        Alike(self.0 | (apart as u8) << 3)
    }

    /// Whether no tag is attached.
    #[inline(always)]
    pub(crate) fn are_apart(self) -> bool {
        self.0 & 8 != 0
    }

    /// The same, where all jobs of the batch are made, if they are.
    #[inline(always)]
    pub(crate) const fn made(self, made: bool) -> Alike {
        Alike(self.0 | (made as u8) << 4)
    }

    /// Whether they are.
    #[inline(always)]
    pub(crate) fn are_made(self) -> bool {
        self.0 & 16 != 0
    }

    /// The lengths of texts.
    #[inline(always)]
    pub(crate) fn texts(self) -> bool {
        self.0 & 1 != 0
    }

    /// Those of associated data, of nonces and of tags.
    #[inline(always)]
    pub(crate) fn data(self) -> bool {
        self.0 & 2 != 0
    }

    /// The sizes of keys.
    #[inline(always)]
    pub(crate) fn keys(self) -> bool {
        self.0 & 4 != 0
    }
}

/// Whether the two have no byte in common.
#[inline(always)]
pub(crate) fn disjoint(src: *const u8, src_len: usize, dst: *mut u8, dst_len: usize) -> bool {
    let (a, b) = (src.addr(), dst.addr());
    // Most often known where this is compiled.
    if src_len == dst_len {
        return a.abs_diff(b) >= src_len;
    }
    a >= b.wrapping_add(dst_len) || b >= a.wrapping_add(src_len) || src_len == 0 || dst_len == 0
}
