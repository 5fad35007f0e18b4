//! What jobs say, in rows: a part of each message in its lane.
//!
//! `unsafe` here rests on the facts stated for a [`Job`] that was admitted, in `job.rs`. Lanes
//! without a message have memory of this file, which is never written.
#![allow(unsafe_code)]

use crate::block::Block;
use crate::isa::{Isa, Starts};
use crate::job::Job;
use core::cell::UnsafeCell;

/// Zeros for lanes that have nothing to read or to write, and for pieces of no bytes: two
/// blocks, as associated data may be read from a place in the first. The cell puts it into
/// writable memory: a masked store of no bytes to other memory takes hundreds of cycles.
struct Nowhere(UnsafeCell<[Block; 2]>);
static NOWHERE: Nowhere = Nowhere(UnsafeCell::new([[0; 16]; 2]));

// SAFETY: only no bytes are ever written to it.
unsafe impl Sync for Nowhere {}

#[inline(always)]
pub(crate) const fn nowhere() -> *mut u8 {
    NOWHERE.0.get().cast()
}

/// What lanes without a message are given.
pub(crate) static EMPTY: Job = Job {
    src: nowhere(),
    dst: nowhere(),
    nonce: nowhere(),
    data: nowhere(),
    tag: nowhere(),
    ..Job::NONE
};

/// Where bytes are, and how many. Of no bytes, the place is [`NOWHERE`]: a masked load that
/// loads nothing takes hundreds of cycles where nothing can be read.
#[inline(always)]
pub(crate) fn some(at: *const u8, len: usize) -> (*const u8, usize) {
    (if len == 0 { nowhere() } else { at }, len)
}

#[inline(always)]
pub(crate) fn some_mut(at: *mut u8, len: usize) -> (*mut u8, usize) {
    (if len == 0 { nowhere() } else { at }, len)
}

/// Where a tag is, and its length.
#[inline(always)]
pub(crate) fn tag(job: &Job) -> (*const u8, usize) {
    (job.tag, job.tag_len as usize)
}

/// In each lane what `of` says of its job, at most 16 bytes: of as many bytes in all lanes as
/// in the first one, where they are `alike`. Out of line, as it is long and done once a
/// message.
///
/// # Safety
/// There are `S::LANES` jobs, and what `of` says is readable.
#[inline(never)]
pub(crate) unsafe fn gather_of<S: Isa>(
    s: S,
    jobs: &[*const Job],
    alike: bool,
    of: impl Fn(&Job) -> (*const u8, usize) + Copy,
    x: &mut S::W,
) {
    s.enter(
        #[inline(always)]
        // SAFETY: the caller's. What lanes without a message have is two blocks long,
        // and `of` begins in the first or behind it.
        || unsafe {
            let jobs = &jobs[..S::LANES];
            let len = of(&*jobs[0]).1.min(16);
            *x = match alike {
                true if len == 0 => s.splat(&[0; 16]),
                true => s.gather_part(
                    #[inline(always)]
                    |l| (of(&*jobs[l]).0, len),
                ),
                false => s.gather_part(
                    #[inline(always)]
                    |l| {
                        let (at, len) = of(&*jobs[l]);
                        some(at, len.min(16))
                    },
                ),
            };
        },
    );
}

/// Writes tags, of 16 bytes at most.
///
/// # Safety
/// There are `S::LANES` jobs, with writable tags.
#[inline(never)]
pub(crate) unsafe fn scatter_tags<S: Isa>(s: S, jobs: &[*const Job], alike: bool, x: &S::W) {
    s.enter(
        #[inline(always)]
        // SAFETY: the caller's. Lanes without a message have a tag of no bytes.
        || unsafe {
            let jobs = &jobs[..S::LANES];
            let len = (*jobs[0]).tag_len.min(16) as usize;
            match alike && (*jobs[S::LANES - 1]).tag_len > 0 {
                true => s.scatter_part(
                    *x,
                    #[inline(always)]
                    |l| ((*jobs[l]).tag, len),
                ),
                false => s.scatter_part(
                    *x,
                    #[inline(always)]
                    |l| {
                        let job = &*jobs[l];
                        some_mut(job.tag, job.tag_len.min(16) as usize)
                    },
                ),
            }
        },
    );
}

impl Starts for *const *const u8 {
    #[inline(always)]
    unsafe fn of(self, l: usize) -> *mut u8 {
        // SAFETY: the caller's, here and below.
        unsafe { (*self.add(l)).cast_mut() }
    }

    #[inline(always)]
    unsafe fn after(self, lanes: usize) -> Self {
        unsafe { self.add(lanes) }
    }
}

impl Starts for *const *mut u8 {
    #[inline(always)]
    unsafe fn of(self, l: usize) -> *mut u8 {
        // SAFETY: the caller's, here and below.
        unsafe { *self.add(l) }
    }

    #[inline(always)]
    unsafe fn after(self, lanes: usize) -> Self {
        unsafe { self.add(lanes) }
    }
}

/// A pointer of each of some jobs.
#[derive(Clone, Copy)]
pub(crate) struct InJobs<F> {
    first: *const Job,
    of: F,
}

impl<F: Fn(&Job) -> *const u8 + Copy> InJobs<F> {
    #[inline(always)]
    pub(crate) fn new(jobs: &[Job], of: F) -> Self {
        InJobs {
            first: jobs.as_ptr(),
            of,
        }
    }
}

impl<F: Fn(&Job) -> *const u8 + Copy> Starts for InJobs<F> {
    #[inline(always)]
    unsafe fn of(self, l: usize) -> *mut u8 {
        // SAFETY: the caller's, here and below.
        (self.of)(unsafe { &*self.first.add(l) }).cast_mut()
    }

    #[inline(always)]
    unsafe fn after(self, lanes: usize) -> Self {
        InJobs {
            first: unsafe { self.first.add(lanes) },
            ..self
        }
    }
}

/// In loops over rows: lanes' places are then read from memory in each. Where rows store nothing,
/// the compiler would otherwise make a pointer of each that it counts on, far more than there are
/// registers: a row of 32 lanes took 168 cycles on Zen 5 in the place of 51.
#[inline(always)]
pub(crate) fn places_from_memory() {
    core::hint::black_box(());
}
