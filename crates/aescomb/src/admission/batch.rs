//! The check of a whole batch: a good one is found to be good by how its jobs differ from the first, without
//! a branch for any message.
//!
//! ```text
//! differ = OR of (job XOR first)
//! bits that any of the jobs has: first OR differ; bits that all have: first AND NOT differ
//! a member is the same in all jobs if it has no bit in differ
//! a pointer is there in all if they have a bit in common, and mostly only then
//! a text and a result are apart if their distance, less their lengths, is not below zero
//! ```
//!
//! `unsafe` here rests on the caller's word that there are so many jobs; on the token of AVX-512,
//! inside whose `enter` its registers are used; and on the layout of [`Job`], which is asserted.
#![allow(unsafe_code)]

#[cfg(target_arch = "x86_64")]
use super::registers::Line;
use super::registers::{Ends, Members, Narrow, Numbers, Pair};
use super::{Attached, NOT_SHORT, Rules, SIGN, Vectors};
#[cfg(target_arch = "x86_64")]
use crate::isa::Isa;
use crate::job::Job;
use core::mem::offset_of;

/// A job begins with eight pointers and lengths: places among them.
const WORD: usize = size_of::<usize>();
const SRC: usize = offset_of!(Job, src) / WORD;
const SRC_LEN: usize = offset_of!(Job, src_len) / WORD;
const DST: usize = offset_of!(Job, dst) / WORD;
const DST_LEN: usize = offset_of!(Job, dst_len) / WORD;
const NONCE: usize = offset_of!(Job, nonce) / WORD;
const DATA: usize = offset_of!(Job, data) / WORD;
const DATA_LEN: usize = offset_of!(Job, data_len) / WORD;
const TAG: usize = offset_of!(Job, tag) / WORD;
const _: () = {
    let places = [SRC, SRC_LEN, DST, DST_LEN, NONCE, DATA, DATA_LEN, TAG];
    let mut i = 0;
    while i < places.len() {
        assert!(places[i] == i);
        i += 1;
    }
    // Then come four numbers of 4 bytes, an opened length and the key.
    assert!(offset_of!(Job, nonce_len) == 8 * WORD);
    assert!(offset_of!(Job, component_count) == 8 * WORD + 12);
    assert!(offset_of!(Job, opened_len) == 8 * WORD + 16);
    assert!(offset_of!(Job, key) == 9 * WORD + 16);
    // What is written ends a job. Two of these members are written as one.
    let written = [
        offset_of!(Job, status),
        offset_of!(Job, len),
        offset_of!(Job, key_index),
    ];
    let mut i = 0;
    while i < written.len() {
        assert!(WORD < 8 || written[i] == offset_of!(Job, written) + 8 * (i + 1));
        i += 1;
    }
    assert!(offset_of!(Job, components) == offset_of!(Job, key_index) + 4);
    assert!(offset_of!(Job, components) + 4 == size_of::<Job>());
};

/// No results but tags.
const READ_ONLY: u8 = 0;
/// Results go to where their texts are, which is all the room they have, and no tags are attached.
const IN_PLACE: u8 = 1;
/// The same, in a mode in which texts have a least length.
const IN_PLACE_FROM: u8 = 2;
/// Results have the lengths of their texts, and no tags are attached.
const PLAIN: u8 = 3;
/// Results of any lengths: texts are opened without their last `shorter` bytes, and results
/// are `longer`.
const GENERAL: u8 = 4;

/// See [`Call::look`](super::Call::look).
///
/// # Safety
/// As there.
#[inline(always)]
pub(super) unsafe fn all_good<const FOREIGN: bool>(
    vectors: Option<Vectors>,
    (rules, one_key): (&Rules, bool),
    jobs: (*mut Job, usize),
    key_index: u32,
    attached: Attached,
) -> Option<(bool, bool)> {
    let call = (rules, one_key);
    // SAFETY: the caller's; there is a job.
    unsafe {
        let first = &*jobs.0;
        if !rules.writes() {
            return kind::<FOREIGN, READ_ONLY>(vectors, call, jobs, key_index, attached);
        }
        if !rules.keep_lengths() || attached != Attached::APART {
            return kind::<FOREIGN, GENERAL>(vectors, call, jobs, key_index, attached);
        }
        // Pointer and length are a pair.
        let (text, result) = (first.src, first.dst.cast_const());
        if WORD == 8 && (text, first.src_len) == (result, first.dst_len) {
            let good = match rules.least {
                0 => kind::<FOREIGN, IN_PLACE>(vectors, call, jobs, key_index, attached),
                _ => kind::<FOREIGN, IN_PLACE_FROM>(vectors, call, jobs, key_index, attached),
            };
            if good.is_some() {
                return good;
            }
        }
        kind::<FOREIGN, PLAIN>(vectors, call, jobs, key_index, attached)
    }
}

/// [`look`], with vectors if there are any.
///
/// # Safety
/// As [`all_good`].
#[inline(never)]
unsafe fn kind<const FOREIGN: bool, const KIND: u8>(
    #[cfg_attr(not(target_arch = "x86_64"), allow(unused_variables))] vectors: Option<Vectors>,
    call: (&Rules, bool),
    jobs: (*mut Job, usize),
    key_index: u32,
    attached: Attached,
) -> Option<(bool, bool)> {
    #[cfg(target_arch = "x86_64")]
    if let Some(s) = vectors {
        return s.enter_with(
            (call, jobs, key_index, attached, ()),
            #[inline(always)]
            // SAFETY: the token, and the caller's.
            |call, jobs, key_index, attached, ()| unsafe {
                s.align_stack();
                look::<Line, FOREIGN, KIND>(call, jobs, key_index, attached)
            },
        );
    }
    // SAFETY: the caller's.
    unsafe { look::<Narrow, FOREIGN, KIND>(call, jobs, key_index, attached) }
}

/// Looks for jobs of a `KIND`.
///
/// # Safety
/// As [`all_good`]; `M` is entered.
#[inline(always)]
unsafe fn look<M: Members, const FOREIGN: bool, const KIND: u8>(
    (rules, one_key): (&Rules, bool),
    (first, count): (*mut Job, usize),
    key_index: u32,
    attached: Attached,
) -> Option<(bool, bool)> {
    let (shorter, longer) = match KIND {
        GENERAL => (attached.shorter, attached.longer),
        _ => (0, 0),
    };
    let least = rules.least.wrapping_add(shorter);
    // SAFETY: the caller's; there is a job.
    let (members, numbers) = unsafe { (M::load(first.cast()), M::Numbers::load(first)) };
    // Differences from the first.
    let (mut differ, mut other_numbers) = (M::of([0; 8]), M::Numbers::NONE);
    let mut other_components = 0;
    // Bits of lengths without tags, and differences below zero.
    let (mut lengths, mut below, mut overlaps) = (0, 0, 0);
    let mut moved = Pair::NONE;
    // SAFETY: the caller's.
    unsafe {
        let components = (*first).components;
        // The place of the key and components, as one number: good jobs all have data or none.
        let (place, number) = match cfg!(target_endian = "little") {
            true => (0, 32),
            false => (32, 0),
        };
        let has_data = u64::from(!(*first).data.is_null());
        let own = u64::from(key_index) << place | has_data << number;
        let mut ends = M::Ends::new(own, 1 << place);
        let end = first.add(count);
        let mut job = first;
        while job < end {
            let of_job = M::load(job.cast());
            differ = differ.or(of_job.xor(members));
            // From memory: LLVM would take it out of a register, by two instructions that wait for the
            // same ports as those of vectors.
            let src_len = match KIND {
                READ_ONLY if !FOREIGN => 0,
                _ => (&raw const (*job).src_len).read_volatile(),
            };
            let len = src_len.wrapping_sub(shorter);
            // Not used where there are no results.
            let written = match KIND {
                GENERAL => rules.written(len).wrapping_add(longer),
                _ => src_len,
            };
            if KIND == IN_PLACE || KIND == IN_PLACE_FROM {
                let result = Pair::load((&raw const (*job).dst).cast());
                moved = moved.or(of_job.text().xor(result));
            }
            if KIND == IN_PLACE_FROM {
                below |= src_len.wrapping_sub(least);
            }
            if KIND == PLAIN || KIND == GENERAL {
                below |= src_len.wrapping_sub(least) | (*job).dst_len.wrapping_sub(written);
                // Nearer to each other than their lengths, but not the same place.
                let apart = (*job).dst.addr().wrapping_sub((*job).src.addr());
                let back = apart.wrapping_neg();
                let near = apart.wrapping_sub(src_len) & back.wrapping_sub(written);
                overlaps |= near & (apart | back);
            }
            if KIND == GENERAL {
                lengths |= len;
            }
            other_numbers = other_numbers.and_of(M::Numbers::load(job), numbers);
            if !FOREIGN {
                other_components |= (*job).components ^ components;
            }
            ends.put::<FOREIGN>(job, (KIND != READ_ONLY).then_some(written), len);
            job = job.add(1);
        }
    }
    let mut of_members = [0; 8];
    of_members[DATA_LEN] = NOT_SHORT;
    of_members[DST_LEN] = SIGN;
    if KIND != GENERAL {
        of_members[SRC_LEN] = NOT_SHORT | rules.clear;
    }
    let mut bad = lengths & (NOT_SHORT | rules.clear) | (below | overlaps) & SIGN;
    let any = members.or(differ);
    bad |= any.and(M::of(of_members)).there();
    // The first has no key of its own where there are others.
    bad |= usize::from(other_numbers.any(one_key) | moved.any()) | other_components as usize;
    if FOREIGN {
        // Those of which all have a bit, and mostly all that all have.
        let pointers = Pointers {
            all: any.xor(differ).there(),
            any: any.there(),
        };
        if pointers.bad(rules, attached) != 0 {
            // SAFETY: the caller's.
            bad |= usize::from(unsafe { Pointers::are_bad((first, count), rules, attached) });
        }
    }
    let other = differ.there();
    let alike = |place: usize| other >> place & 1 == 0;
    (bad == 0).then_some((alike(SRC_LEN), alike(DATA_LEN)))
}

/// Which pointers and lengths of foreign jobs are not null: a bit at the place of each.
#[derive(Clone, Copy)]
struct Pointers {
    /// In all jobs.
    all: usize,
    /// In any.
    any: usize,
}

impl Pointers {
    /// Whether the pointers of all jobs are [`bad`](Self::bad), which those that have a bit in common are
    /// not enough to say.
    ///
    /// # Safety
    /// There are so many jobs.
    #[cold]
    #[inline(never)]
    unsafe fn are_bad(
        (first, count): (*const Job, usize),
        rules: &Rules,
        attached: Attached,
    ) -> bool {
        let (mut all, mut any) = (usize::MAX, 0);
        for i in 0..count {
            // SAFETY: the caller's; a job begins with them.
            let there = unsafe { Narrow::load(first.add(i).cast()) }.there();
            (all, any) = (all & there, any | there);
        }
        Pointers { all, any }.bad(rules, attached) != 0
    }

    /// Not 0 unless every pointer that is used is there, and associated data in all jobs or in
    /// none.
    #[inline(always)]
    fn bad(self, rules: &Rules, attached: Attached) -> usize {
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
