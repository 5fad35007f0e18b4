//! Admission with AVX-512: a job is two registers, and a good batch is found to be good
//! by what all its jobs have in common.
//!
//! `unsafe` here rests on the caller's word that there are so many jobs; on the token,
//! inside whose `enter` everything runs; and on the layout of [`Job`], which is asserted.
#![allow(unsafe_code)]

use super::scalar::{DATA, DATA_LEN, DST, DST_LEN, NONCE, Pointers, SRC, TAG};
use super::{Attached, LONG, Rules, SIGN};
use crate::isa::{Isa, Vaes512};
use crate::job::Job;
use crate::status::Status;
use core::arch::x86_64::*;
use core::mem::offset_of;

/// The place of a member in the first register, which has eight.
const SRC_LEN: usize = offset_of!(Job, src_len) / 8;
const _: () = {
    let places = [SRC, SRC_LEN, DST, DST_LEN, NONCE, DATA, DATA_LEN, TAG];
    let mut i = 0;
    while i < places.len() {
        assert!(places[i] == i);
        i += 1;
    }
    // The second has four: two of lengths and numbers, the opened length, the key.
    assert!(offset_of!(Job, nonce_len) == 64 && offset_of!(Job, component_count) == 76);
    assert!(offset_of!(Job, opened_len) == 80 && offset_of!(Job, key) == 88);
    // What a check writes comes after them, in one register.
    assert!(offset_of!(Job, written) == 96 && offset_of!(Job, status) == 104);
    assert!(offset_of!(Job, len) == 112 && offset_of!(Job, key_index) == 120);
    assert!(offset_of!(Job, components) == 124 && size_of::<Job>() == 128);
};

/// See [`Call::all_good`].
///
/// # Safety
/// As there.
#[inline(always)]
pub(super) unsafe fn all_good<const FOREIGN: bool>(
    s: Vaes512,
    (rules, one_key): (&Rules, bool),
    jobs: (*mut Job, usize),
    key_index: u32,
    attached: Attached,
) -> Option<(bool, bool)> {
    let first = jobs.0;
    let call = (rules, one_key);
    let apart = attached == Attached::APART;
    // SAFETY: the caller's.
    unsafe {
        if !rules.writes() {
            return look::<FOREIGN, READ_ONLY>(s, call, jobs, key_index, attached);
        }
        if (rules.grow, rules.keep, rules.least_result) != (0, !0, 0) || !apart {
            return look::<FOREIGN, GENERAL>(s, call, jobs, key_index, attached);
        }
        if (*first).src == (*first).dst.cast_const()
            && rules.least == 0
            && let Some(good) = look::<FOREIGN, IN_PLACE>(s, call, jobs, key_index, attached)
        {
            return Some(good);
        }
        look::<FOREIGN, PLAIN>(s, call, jobs, key_index, attached)
    }
}

/// Results of any lengths: texts are opened without their last `shorter` bytes, and results
/// are `longer`.
const GENERAL: u8 = 0;
/// No results but tags.
const READ_ONLY: u8 = 1;
/// Results have the lengths of their texts, and no tags are attached.
const PLAIN: u8 = 2;
/// The same, and results go to where their texts are.
const IN_PLACE: u8 = 3;

/// Looks for jobs of a `KIND`.
///
/// # Safety
/// As [`Call::all_good`].
#[inline(never)]
unsafe fn look<const FOREIGN: bool, const KIND: u8>(
    s: Vaes512,
    call: (&Rules, bool),
    jobs: (*mut Job, usize),
    key_index: u32,
    Attached { shorter, longer }: Attached,
) -> Option<(bool, bool)> {
    s.enter_with(
        (call, jobs, key_index, (shorter, longer), ()),
        #[inline(always)]
        // SAFETY: the token, and the caller's.
        |(rules, one_key), (first, count), mut key_index, (shorter, longer), ()| unsafe {
            let in_one = const { FOREIGN && KIND != GENERAL };
            let each = |n: usize| _mm512_set1_epi64(n as i64);
            let (off, more) = (each(shorter), each(longer));
            let (grow, keep) = (each(rules.grow), each(rules.keep));
            let least_result = each(rules.least_result);
            // What the source must have.
            let least = each(rules.least.wrapping_add(shorter));
            let start = _mm512_loadu_si512(first.cast());
            let profile = _mm256_loadu_si256((&raw const (*first).nonce_len).cast());
            let zero = _mm512_setzero_si512();
            // What any has of bits of lengths, of all members, of differences below zero,
            // and of differences from the first.
            let (mut lengths, mut members, mut less, mut other) = (zero, zero, zero, zero);
            let mut profiles = _mm256_setzero_si256();
            let mut numbers = 0;
            let mut overlap = 0;
            let (mut all, mut any) = (0xff, 0);
            // What is written to all jobs: a status, a place that counts, and components, as good ones all
            // have data or none. The length comes to it as that of the text, and mostly of the result.
            let components = u64::from(!(*first).data.is_null());
            let number = (components << 32 | u64::from(key_index)) as i64;
            let mut own = _mm256_set_epi64x(number, 0, Status::Done as i64, 0);
            let next = _mm256_set_epi64x(1, 0, 0, 0);
            let has_len = if KIND == READ_ONLY { 0b0100 } else { 0b0101 };
            let mut job = first;
            let end = first.add(count);
            while job < end {
                let part = _mm512_loadu_si512(job.cast());
                members = _mm512_or_si512(members, part);
                other = _mm512_ternarylogic_epi64::<0xf6>(other, part, start);
                // In the places of the destination and its length, how far it is from the
                // source, and how much longer.
                let apart = _mm512_sub_epi64(part, _mm512_alignr_epi64::<6>(part, part));
                if KIND == IN_PLACE {
                    less = _mm512_or_si512(less, apart);
                }
                if KIND == GENERAL || KIND == PLAIN {
                    let src_len = _mm512_permutexvar_epi64(each(SRC_LEN), part);
                    let mut needed = src_len;
                    if KIND == GENERAL {
                        let len = _mm512_sub_epi64(src_len, off);
                        lengths = _mm512_or_si512(lengths, len);
                        let written = _mm512_and_si512(_mm512_add_epi64(len, grow), keep);
                        let written = _mm512_max_epu64(written, least_result);
                        needed = _mm512_add_epi64(written, more);
                    }
                    let bound = _mm512_mask_mov_epi64(least, 1 << DST_LEN, needed);
                    less = _mm512_or_si512(less, _mm512_sub_epi64(part, bound));
                    let behind = _mm512_cmplt_epu64_mask(apart, src_len);
                    let before = _mm512_cmplt_epu64_mask(_mm512_sub_epi64(zero, apart), needed);
                    overlap |= _mm512_mask_test_epi64_mask(behind | before, apart, apart);
                }
                let numbers_of = _mm256_loadu_si256((&raw const (*job).nonce_len).cast());
                profiles = _mm256_ternarylogic_epi64::<0xf6>(profiles, numbers_of, profile);
                if FOREIGN {
                    let there = _mm512_test_epi64_mask(part, part);
                    all &= there;
                    any |= there;
                } else {
                    numbers |= (*job).components ^ (*first).components;
                }
                if in_one {
                    let part = _mm512_castsi512_si256(part);
                    let len =
                        _mm256_maskz_permutex_epi64::<{ SRC_LEN as i32 * 0x55 }>(has_len, part);
                    let to = (&raw mut (*job).written).cast();
                    _mm256_storeu_si256(to, _mm256_add_epi64(len, own));
                    own = _mm256_add_epi64(own, next);
                } else {
                    if FOREIGN {
                        Job::begin(job, key_index, shorter);
                        key_index = key_index.wrapping_add(1);
                    }
                    let written = match KIND {
                        READ_ONLY => 0,
                        GENERAL => rules
                            .written((*job).src_len.wrapping_sub(shorter))
                            .wrapping_add(longer),
                        _ => (*job).src_len,
                    };
                    (*job).written.write(written);
                    (*job).status.write(Status::Done);
                }
                job = job.add(1);
            }
            // What none may have: bits of members, and of differences.
            let set = |x: __m512i, place: usize, bits: usize| {
                _mm512_mask_set1_epi64(x, 1 << place, bits as i64)
            };
            let of_lengths = set(zero, SRC_LEN, LONG | rules.clear);
            let of_members = set(of_lengths, DATA_LEN, LONG);
            let of_members = set(of_members, DST_LEN, SIGN);
            let of_less = match KIND {
                IN_PLACE => set(zero, DST, usize::MAX),
                _ => set(zero, SRC_LEN, SIGN),
            };
            let of_less = set(of_less, DST_LEN, SIGN);
            let mut bad = match KIND {
                GENERAL => {
                    let others = _mm512_maskz_mov_epi64(!(1 << SRC_LEN), of_members);
                    _mm512_test_epi64_mask(lengths, of_lengths)
                        | _mm512_test_epi64_mask(members, others)
                }
                _ => _mm512_test_epi64_mask(members, of_members),
            };
            if KIND != READ_ONLY {
                bad |= _mm512_test_epi64_mask(less, of_less);
            }
            // The first has no key of its own where there are others.
            let of_profile = 0b11 | u8::from(one_key) << 3;
            bad |= _mm256_mask_test_epi64_mask(of_profile, profiles, profiles);
            let mut bad = u32::from(bad | overlap & 1 << DST) | numbers;
            if FOREIGN {
                let pointers = Pointers {
                    all: usize::from(all),
                    any: usize::from(any),
                };
                let attached = match KIND {
                    GENERAL => Attached { shorter, longer },
                    _ => Attached::APART,
                };
                bad |= u32::from(pointers.bad(rules, attached) != 0);
            }
            let other = _mm512_test_epi64_mask(other, other);
            let alike = |place: usize| other >> place & 1 == 0;
            (bad == 0).then_some((alike(SRC_LEN), alike(DATA_LEN)))
        },
    )
}
