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

/// What foreign jobs point to.
#[derive(Clone, Copy)]
pub(super) struct Pointers {
    /// Those that all jobs have, and those that any has: a bit at the place of each.
    pub all: usize,
    pub any: usize,
    /// Bits that any of these lengths has.
    pub dst_len: usize,
    pub data_len: usize,
}

impl Pointers {
    #[inline(always)]
    fn look(&mut self, job: &Job) {
        let there = usize::from(!job.src.is_null()) << SRC
            | usize::from(!job.dst.is_null()) << DST
            | usize::from(!job.nonce.is_null()) << NONCE
            | usize::from(!job.data.is_null()) << DATA
            | usize::from(!job.tag.is_null()) << TAG;
        self.all &= there;
        self.any |= there;
        self.dst_len |= job.dst_len;
        self.data_len |= job.data_len;
    }

    /// Not 0 unless every pointer that is used is there, and associated data in all jobs or in
    /// none.
    pub(super) fn bad(self, rules: &Rules, attached: Attached) -> usize {
        let Pointers {
            all,
            any,
            dst_len,
            data_len,
        } = self;
        let apart = attached == Attached::APART;
        let used = 1 << SRC
            | usize::from(rules.writes()) << DST
            | usize::from(rules.nonce.0 > 0) << NONCE
            | usize::from(rules.tag != 1 && apart) << TAG;
        // Without a pointer no bytes, of a destination that is not used, too, and a nonce that
        // may be left out likewise.
        used & !all
            | (all ^ any) & 1 << DATA
            | (usize::from(all & 1 << DST == 0) * dst_len)
            | (usize::from(any & 1 << DATA == 0) * data_len)
            | usize::from(rules.nonce.0 == 0) & usize::from((all ^ any) & 1 << NONCE != 0)
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
    let mut pointers = Pointers {
        all: usize::MAX,
        any: 0,
        dst_len: 0,
        data_len: 0,
    };
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
