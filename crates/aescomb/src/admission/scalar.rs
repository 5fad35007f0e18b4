//! Admission without AVX-512: one member after the other, without a branch for any message.
//!
//! `unsafe` here rests on the caller's word that there are so many jobs.
#![allow(unsafe_code)]

use super::{Attached, LONG, Rules, SIGN};
use crate::job::{Job, one_by_one};
use crate::status::Status;
use core::mem::offset_of;

/// Places of members among those of 8 bytes.
pub(super) const SRC: usize = offset_of!(Job, src) / 8;
pub(super) const DST: usize = offset_of!(Job, dst) / 8;
pub(super) const NONCE: usize = offset_of!(Job, nonce) / 8;
pub(super) const DATA: usize = offset_of!(Job, data) / 8;
pub(super) const TAG: usize = offset_of!(Job, tag) / 8;

pub(super) const DST_LEN: usize = offset_of!(Job, dst_len) / 8;
pub(super) const DATA_LEN: usize = offset_of!(Job, data_len) / 8;

/// Which pointers and lengths of foreign jobs are not null: a bit at the place of each.
#[derive(Clone, Copy)]
pub(super) struct Pointers {
    /// In all jobs.
    pub all: usize,
    /// In any.
    pub any: usize,
}

impl Pointers {
    const NONE: Pointers = Pointers {
        all: usize::MAX,
        any: 0,
    };

    #[cfg(target_arch = "x86_64")]
    #[cold]
    pub(super) fn of(jobs: &[Job]) -> Pointers {
        let mut pointers = Pointers::NONE;
        jobs.iter().for_each(|job| pointers.look(job));
        pointers
    }

    #[inline(always)]
    fn look(&mut self, job: &Job) {
        let there = usize::from(!job.src.is_null()) << SRC
            | usize::from(!job.dst.is_null()) << DST
            | usize::from(!job.nonce.is_null()) << NONCE
            | usize::from(!job.data.is_null()) << DATA
            | usize::from(!job.tag.is_null()) << TAG
            | usize::from(job.dst_len != 0) << DST_LEN
            | usize::from(job.data_len != 0) << DATA_LEN;
        self.all &= there;
        self.any |= there;
    }

    /// Not 0 unless every pointer that is used is there, and associated data in all jobs or in
    /// none.
    #[inline(always)]
    pub(super) fn bad(self, rules: &Rules, attached: Attached) -> usize {
        let Pointers { all, any } = self;
        let used = match attached == Attached::APART {
            true => rules.pointers,
            false => rules.pointers & !(1 << TAG),
        };
        // Without a pointer no bytes, of a destination that is not used, too, and a nonce that
        // may be left out likewise.
        used & !all
            | (all ^ any) & (1 << DATA | rules.optional)
            | (!all >> DST & any >> DST_LEN & 1)
            | (!any >> DATA & any >> DATA_LEN & 1)
    }
}

impl Rules {
    /// Pointers that every message has, and those that all have or none.
    pub(super) const fn pointers(writes: bool, least_nonce: usize, tags: bool) -> (usize, usize) {
        let nonce = (least_nonce > 0) as usize;
        let used = 1 << SRC | (writes as usize) << DST | nonce << NONCE | (tags as usize) << TAG;
        (used, (1 - nonce) << NONCE)
    }
}

/// See [`Call::all_good`].
///
/// # Safety
/// As there.
#[inline(never)]
pub(super) unsafe fn all_good<const FOREIGN: bool>(
    (rules, one_key): (&Rules, bool),
    (first, count): (*mut Job, usize),
    mut key_index: u32,
    attached: Attached,
) -> Option<(bool, bool)> {
    let Attached { shorter, longer } = attached;
    let writes = usize::from(rules.writes());
    let least = rules.least.wrapping_add(shorter);
    // SAFETY: there is a job.
    let start = unsafe { *first };
    // What any has of bits that good ones do not have, and of differences from the first.
    let (mut bad, mut texts, mut data) = (0, 0, 0);
    let mut pointers = Pointers::NONE;
    let mut job = first;
    // SAFETY: they are the caller's.
    unsafe {
        let end = first.add(count);
        while job < end {
            one_by_one();
            let (src_len, dst_len) = ((*job).src_len, (*job).dst_len);
            let len = src_len.wrapping_sub(shorter);
            let written = rules.written(len).wrapping_add(longer);
            bad |= (len | (*job).data_len) & LONG | len & rules.clear;
            bad |= (src_len.wrapping_sub(least) | dst_len | dst_len.wrapping_sub(written)) & SIGN;
            // Not the same place, and a byte in common.
            let apart = (*job).dst.addr().wrapping_sub((*job).src.addr());
            let common = (apart < src_len) | (apart.wrapping_neg() < written);
            bad |= usize::from(common & (apart != 0)) & writes;
            let numbers = (*job).nonce_len ^ start.nonce_len
                | (*job).tag_len ^ start.tag_len
                | (*job).tag_attached ^ start.tag_attached
                | (*job).component_count ^ start.component_count;
            bad |= numbers as usize;
            if one_key {
                // The first has none of its own.
                bad |= (*job).key.addr();
            }
            match FOREIGN {
                true => {
                    pointers.look(&*job);
                    Job::begin(job, key_index, shorter);
                    key_index = key_index.wrapping_add(1);
                }
                false => bad |= ((*job).components ^ start.components) as usize,
            }
            texts |= src_len ^ start.src_len;
            data |= (*job).data_len ^ start.data_len;
            (*job).written.write(written);
            (*job).status.write(Status::Done);
            job = job.add(1);
        }
    }
    if FOREIGN {
        bad |= pointers.bad(rules, attached);
    }
    (bad == 0).then_some((texts == 0, data == 0))
}
