//! Batches by raw pointers, for foreign interfaces and for rings that describe their packets
//! once.
//!
//! `unsafe` here rests on what whoever makes [`Jobs`] promises.
#![allow(unsafe_code)]

pub use crate::job::Job;

use crate::admission::Call;
use crate::batch::{Batch, Made, ranges, sealed};
use crate::error::{Allowed, Error, Field};
use crate::expanded::Expanded;
use crate::job::{ATTACHED, Alike, not_by_vectors};
use crate::key_set::KeySet;
use crate::status::Status;
use core::marker::PhantomData;
use core::mem::MaybeUninit;
use core::ops::Range;

/// A [`Batch`] of [`Job`]s. In a call with a table of keys, each job has the key at its own place:
/// the third job the third key.
///
/// ```
/// use aescomb::ffi::{Job, Jobs};
/// use aescomb::modes::Ecb;
/// use aescomb::{Comb, Key};
///
/// let key = Key::<Ecb>::new(&[0; 16])?;
/// let mut text = [1; 32];
/// let mut job = Job {
///     src: text.as_ptr(),
///     src_len: text.len(),
///     dst: text.as_mut_ptr(),
///     dst_len: text.len(),
///     ..Job::default()
/// };
/// // SAFETY: there is one job, and the text is there and nobody else's until the call ends.
/// let mut jobs = unsafe { Jobs::new(&mut job, 1) };
/// Comb::new().encrypt(&key, &mut jobs)?;
/// assert_ne!(text, [1; 32]);
/// # Ok::<(), aescomb::Error>(())
/// ```
#[derive(Debug)]
pub struct Jobs<'a> {
    first: *mut Job,
    count: usize,
    /// The first job's place in a table of keys.
    key_index: u32,
    borrow: PhantomData<&'a mut [Job]>,
}

// SAFETY: it borrows jobs, which may be sent and shared.
unsafe impl Send for Jobs<'_> {}
// SAFETY: as above; nothing is written through `&Jobs`.
unsafe impl Sync for Jobs<'_> {}

impl<'a> Jobs<'a> {
    /// The `count` jobs from `first` on. Nothing is read before a call.
    ///
    /// ```
    /// use aescomb::ffi::{Job, Jobs};
    /// use aescomb::modes::Ecb;
    /// use aescomb::{Comb, Key};
    ///
    /// let key = Key::<Ecb>::new(&[0; 16])?;
    /// let mut text = [1; 32];
    /// let mut job = Job {
    ///     src: text.as_ptr(),
    ///     src_len: text.len(),
    ///     dst: text.as_mut_ptr(),
    ///     dst_len: text.len(),
    ///     ..Job::default()
    /// };
    /// // SAFETY: there is one job, and the text is there and nobody else's until the call ends.
    /// let mut jobs = unsafe { Jobs::new(&mut job, 1) };
    /// Comb::new().encrypt(&key, &mut jobs)?;
    /// assert_ne!(text, [1; 32]);
    /// # Ok::<(), aescomb::Error>(())
    /// ```
    ///
    /// # Safety
    /// For `'a`, there must be `count` jobs at `first`, which nobody else uses; members
    /// that a call writes need not be initialised. When a call begins, and until it
    /// returns, `src`, `nonce`, `data` and `tag` must be null or readable for their
    /// lengths, `dst` null or writable, and `tag` writable where the operation makes tags;
    /// nobody else may write to these or touch destinations, which overlap neither each
    /// other nor any nonce, data or tag. Where keys come from the jobs, `key` must be null or lead to a key.
    pub unsafe fn new(first: *mut Job, count: usize) -> Self {
        Jobs {
            first,
            count,
            key_index: 0,
            borrow: PhantomData,
        }
    }

    /// All of them, in parts that begin with these.
    pub(crate) fn parts(&mut self, starts: &[usize]) -> impl Iterator<Item = Jobs<'_>> {
        ranges(starts, self.count).map(|range| Jobs {
            first: self.first.wrapping_add(range.start),
            count: range.len(),
            key_index: self.key_index + range.start as u32,
            borrow: PhantomData,
        })
    }

    pub(crate) fn len(&self) -> usize {
        self.count
    }

    /// As [`Call::check`].
    #[inline(always)]
    pub(crate) fn check(&mut self, call: &Call<'_>) -> Result<Alike, Error> {
        if self.count == 0 {
            return Ok(Alike::ALL);
        }
        let apart = self.begin(0).tag_attached != ATTACHED;
        // SAFETY: there are so many jobs, which nobody else uses.
        if let Some((texts, data)) =
            unsafe { call.all_good::<true>(self.first, self.count, self.key_index) }
            && let Some(keys) = match call.has_own_keys() {
                true => call.have_keys((0..self.count).map(|i| self.get(i))),
                false => call.have_places((0..self.count as u32).map(|i| self.key_index + i)),
            }
        {
            return Ok(Alike::new(texts, data, keys).apart(apart));
        }
        // A copy: if this call's own address were passed on, the compiler would read its members again.
        let call = *call;
        self.check_each(&call)
    }

    #[inline(never)]
    fn check_each(&mut self, call: &Call<'_>) -> Result<Alike, Error> {
        let mut admission = call.admission();
        let mut apart = true;
        for i in 0..self.count {
            let job = self.begin(i);
            apart &= job.tag_attached != ATTACHED;
            let written = lacking(job).and_then(|()| admission.admit(job));
            self.report(i, Status::Done, written.map_err(|e| e.at(i))?);
        }
        Ok(Alike::new(false, false, call.has_shared_key()).apart(apart))
    }

    /// Makes jobs that were checked ready for the kernels.
    #[inline(always)]
    pub(crate) fn prepare(&mut self, call: &Call<'_>, alike: Alike, range: Range<usize>) {
        // Mostly, the check has said all of them that there is to say.
        if !alike.are_apart() {
            let call = *call;
            self.prepare_each(&call, range);
        }
    }

    #[inline(never)]
    fn prepare_each(&mut self, call: &Call<'_>, range: Range<usize>) {
        for i in range {
            not_by_vectors();
            let job = self.at(i);
            // SAFETY: it is there, and was begun when it was checked. No reference to it is left,
            // nor made but for reading.
            unsafe { ((*job).tag, (*job).len) = call.prepared(&*job) };
        }
    }

    /// Writes the engine's own members of job `i`.
    #[inline(always)]
    fn begin(&mut self, i: usize) -> &Job {
        let job = self.at(i);
        // SAFETY: it is there. No reference to it is left, nor made but for reading: its
        // key may be read too.
        unsafe {
            Job::begin(job, self.key_index + i as u32, 0);
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
    #[inline(always)]
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

#[allow(private_interfaces)]
impl sealed::Parts for Jobs<'_> {
    type Part<'p>
        = Jobs<'p>
    where
        Self: 'p;

    #[inline(always)]
    fn count(&self) -> usize {
        self.len()
    }

    fn own_key(&self) -> Option<&Expanded> {
        match self.len() {
            0 => None,
            _ => KeySet::Own.of(self.get(0)),
        }
    }

    fn bytes(&self, i: usize) -> usize {
        let job = self.get(i);
        job.src_len.saturating_add(job.data_len)
    }

    fn parts(&mut self, starts: &[usize]) -> impl Iterator<Item = Jobs<'_>> {
        Jobs::parts(self, starts)
    }

    #[inline(always)]
    fn check(&mut self, call: &Call<'_>, _: Option<&mut Made>) -> Result<Alike, Error> {
        Jobs::check(self, call)
    }

    #[inline(always)]
    fn prepare(&mut self, call: &Call<'_>, alike: Alike, range: Range<usize>, _: &mut Made) {
        Jobs::prepare(self, call, alike, range);
    }

    #[inline(always)]
    fn jobs<'a>(&'a self, range: Range<usize>, _: &'a Made) -> &'a [Job] {
        self.as_slice(range)
    }

    #[inline(always)]
    fn report(&mut self, i: usize, status: Status, written: usize) {
        Jobs::report(self, i, status, written);
    }
}

impl Batch for Jobs<'_> {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::AnyKey;
    use crate::mode::{Mode, Op};
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
                let call = Call {
                    mode: *mode,
                    op,
                    rules: mode.rules(op),
                    keys: KeySet::Shared(key.expanded()),
                };
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
