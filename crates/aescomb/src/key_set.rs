//! The keys of a call, as the engine takes them.
//!
//! `unsafe` here rests on what [`KeyRefs`] is made of: a slice of references, or jobs whose
//! keys are null or lead to keys for as long as the call is at work.
#![allow(unsafe_code)]

use crate::expanded::Expanded;
use crate::job::Job;
use core::marker::PhantomData;
use core::mem::offset_of;

/// The key or keys of a call.
#[derive(Clone, Copy, Debug)]
pub(crate) enum KeySet<'k> {
    /// One for all messages.
    Shared(&'k Expanded),
    /// A table, in which each message has a place.
    Table(&'k [Expanded]),
    /// The same with keys that lie elsewhere.
    Refs(KeyRefs<'k>),
    /// Each message has its own. The engine gets them as `Refs`.
    Own,
}

impl<'k> KeySet<'k> {
    /// How many there are, as far as it is known; 0 for messages' own.
    pub(crate) fn len(self) -> usize {
        match self {
            KeySet::Shared(_) => 1,
            KeySet::Table(table) => table.len(),
            KeySet::Refs(refs) => refs.len,
            KeySet::Own => 0,
        }
    }

    /// As [`KeySet::get`], of a place that may be none.
    #[inline(always)]
    pub(crate) fn find(&self, key_index: u32) -> Option<&'k Expanded> {
        match *self {
            KeySet::Shared(key) => Some(key),
            KeySet::Table(table) => table.get(key_index as usize),
            KeySet::Refs(refs) => refs.get(key_index as usize),
            KeySet::Own => None,
        }
    }

    /// The key of a message that was admitted.
    #[inline]
    pub(crate) fn get(&self, key_index: u32) -> &'k Expanded {
        match *self {
            KeySet::Shared(key) => key,
            KeySet::Table(table) => &table[key_index as usize],
            _ => self
                .find(key_index)
                .expect("a message that was admitted has a key"),
        }
    }

    /// The key of a job, if it has one.
    #[inline(always)]
    pub(crate) fn of<'a>(self, job: &'a Job) -> Option<&'a Expanded>
    where
        'k: 'a,
    {
        match self {
            // SAFETY: it is null or leads to a key, while the job is there.
            KeySet::Own => unsafe { job.key.cast::<Expanded>().as_ref() },
            keys => keys.find(job.key_index),
        }
    }

    /// The same of a job that was admitted: its own is read there, whatever its place.
    #[inline(always)]
    pub(crate) fn key_of(&self, job: &Job) -> &'k Expanded {
        match *self {
            KeySet::Refs(refs) if refs.stride == OWN => {
                // SAFETY: it leads to a key.
                unsafe { &*job.key.cast::<Expanded>() }
            }
            _ => self.get(job.key_index),
        }
    }

    /// The keys for kernels that do these jobs, which have places one after the other, and ask for
    /// no others.
    pub(crate) fn for_jobs<'a>(self, jobs: &'a [Job]) -> KeySet<'a>
    where
        'k: 'a,
    {
        match (self, jobs) {
            (KeySet::Own, [first, ..]) => {
                let before = first.key_index as usize;
                let first = jobs.as_ptr().wrapping_sub(before);
                KeySet::Refs(KeyRefs {
                    first: first.wrapping_byte_add(offset_of!(Job, key)).cast(),
                    stride: OWN,
                    len: before + jobs.len(),
                    borrow: PhantomData,
                })
            }
            (keys, _) => keys,
        }
    }
}

impl<'k> From<&'k Expanded> for KeySet<'k> {
    fn from(key: &'k Expanded) -> Self {
        KeySet::Shared(key)
    }
}

/// From one job's key to the next one's.
const OWN: usize = size_of::<Job>();

/// Keys that references lead to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KeyRefs<'k> {
    /// References or null pointers.
    first: *const *const Expanded,
    /// Bytes from one to the next; `OWN` in jobs alone.
    stride: usize,
    len: usize,
    borrow: PhantomData<&'k Expanded>,
}

// SAFETY: it is references to keys, which may be sent and shared.
unsafe impl Send for KeyRefs<'_> {}
// SAFETY: as above.
unsafe impl Sync for KeyRefs<'_> {}

impl<'k> KeyRefs<'k> {
    pub(crate) fn new(refs: &'k [&'k Expanded]) -> Self {
        KeyRefs {
            first: refs.as_ptr().cast(),
            stride: size_of::<&Expanded>(),
            len: refs.len(),
            borrow: PhantomData,
        }
    }

    #[inline(always)]
    fn get(self, i: usize) -> Option<&'k Expanded> {
        if i >= self.len {
            return None;
        }
        let reference = self.first.wrapping_byte_add(i * self.stride);
        // SAFETY: there are that many, or, of jobs, it is one of theirs (`for_jobs`); they are null or lead to keys
        // for `'k`.
        unsafe { (*reference).as_ref() }
    }
}
