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
            && (*first).src_len == (*first).dst_len
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
/// The same, and results go to where their texts are, which is all the room they have.
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
        |(rules, one_key), (first, count), key_index, (shorter, longer), ()| unsafe {
            let each = |n: usize| _mm512_set1_epi64(n as i64);
            let (off, more) = (each(shorter), each(longer));
            let (grow, keep) = (each(rules.grow), each(rules.keep));
            let least_result = each(rules.least_result);
            // What the source must have.
            let least = each(rules.least.wrapping_add(shorter));
            let least_of_two = _mm512_castsi512_si128(least);
            let profile = _mm256_loadu_si256((&raw const (*first).nonce_len).cast());
            let zero = _mm512_setzero_si512();
            let none = _mm_setzero_si128();
            // What any has of bits of lengths, of all members and of differences below zero, and what all
            // have of all members.
            let (mut lengths, mut members, mut less) = (zero, zero, zero);
            let mut common = each(usize::MAX);
            // The same differences between two members and the two before: pointers and lengths.
            let (mut less_of_two, mut overlaps) = (none, none);
            let mut profiles = _mm256_setzero_si256();
            let mut numbers = 0;
            let mut overlap = 0;
            // Components and the place of the key, as one number: good jobs all have data or none.
            let components = u64::from(!(*first).data.is_null());
            let mut number = components << 32 | u64::from(key_index);
            let mut job = first;
            let end = first.add(count);
            while job < end {
                let part = _mm512_loadu_si512(job.cast());
                members = _mm512_or_si512(members, part);
                common = _mm512_and_si512(common, part);
                // From memory: LLVM would take it out of the register by two instructions, which wait
                // for the same ports as the others.
                let src_len = (&raw const (*job).src_len).read_volatile();
                let text = _mm512_castsi512_si128(part);
                let result = _mm_loadu_si128((&raw const (*job).dst).cast());
                if KIND == IN_PLACE {
                    less_of_two = _mm_ternarylogic_epi64::<0xf6>(less_of_two, text, result);
                }
                if KIND == PLAIN {
                    let apart = _mm_sub_epi64(result, text);
                    let beyond = _mm_sub_epi64(text, least_of_two);
                    less_of_two = _mm_ternarylogic_epi64::<0xfe>(less_of_two, apart, beyond);
                    // Below zero if they are less than the length apart, but not the same place.
                    let distance = _mm_abs_epi64(apart);
                    let near = _mm_sub_epi64(distance, _mm_unpackhi_epi64(text, text));
                    let differ = _mm_sub_epi64(none, distance);
                    overlaps = _mm_ternarylogic_epi64::<0xf8>(overlaps, near, differ);
                }
                if KIND == GENERAL {
                    // In the places of the destination and its length, how far it is from the
                    // source, and how much longer.
                    let apart = _mm512_sub_epi64(part, _mm512_alignr_epi64::<6>(part, part));
                    let length = _mm512_permutexvar_epi64(each(SRC_LEN), part);
                    let len = _mm512_sub_epi64(length, off);
                    lengths = _mm512_or_si512(lengths, len);
                    let written = _mm512_and_si512(_mm512_add_epi64(len, grow), keep);
                    let written = _mm512_max_epu64(written, least_result);
                    let needed = _mm512_add_epi64(written, more);
                    let bound = _mm512_mask_mov_epi64(least, 1 << DST_LEN, needed);
                    less = _mm512_or_si512(less, _mm512_sub_epi64(part, bound));
                    let behind = _mm512_cmplt_epu64_mask(apart, length);
                    let before = _mm512_cmplt_epu64_mask(_mm512_sub_epi64(zero, apart), needed);
                    overlap |= _mm512_mask_test_epi64_mask(behind | before, apart, apart);
                }
                let numbers_of = _mm256_loadu_si256((&raw const (*job).nonce_len).cast());
                profiles = _mm256_ternarylogic_epi64::<0xf6>(profiles, numbers_of, profile);
                if FOREIGN {
                    (*job).len = src_len.wrapping_sub(shorter);
                    (&raw mut (*job).key_index).cast::<u64>().write(number);
                    number = number.wrapping_add(1);
                } else {
                    numbers |= (*job).components ^ (*first).components;
                }
                let written = match KIND {
                    READ_ONLY => 0,
                    GENERAL => rules
                        .written(src_len.wrapping_sub(shorter))
                        .wrapping_add(longer),
                    _ => src_len,
                };
                (*job).written.write(written);
                (*job).status.write(Status::Done);
                job = job.add(1);
            }
            // What none may have: bits of members, and of differences.
            let set = |x: __m512i, place: usize, bits: usize| {
                _mm512_mask_set1_epi64(x, 1 << place, bits as i64)
            };
            let of_lengths = set(zero, SRC_LEN, LONG | rules.clear);
            let of_members = set(of_lengths, DATA_LEN, LONG);
            let of_members = set(of_members, DST_LEN, SIGN);
            let mut bad = match KIND {
                GENERAL => {
                    let of_less = set(set(zero, SRC_LEN, SIGN), DST_LEN, SIGN);
                    let others = _mm512_maskz_mov_epi64(!(1 << SRC_LEN), of_members);
                    _mm512_test_epi64_mask(lengths, of_lengths)
                        | _mm512_test_epi64_mask(members, others)
                        | _mm512_test_epi64_mask(less, of_less)
                        | overlap & 1 << DST
                }
                _ => _mm512_test_epi64_mask(members, of_members),
            };
            if KIND == IN_PLACE {
                bad |= _mm_test_epi64_mask(less_of_two, less_of_two);
            }
            if KIND == PLAIN {
                // Of the differences of pointers nothing is asked but that they are no overlap.
                bad |= _mm_movepi64_mask(less_of_two) & 0b10 | _mm_movepi64_mask(overlaps) & 0b01;
            }
            // The first has no key of its own where there are others.
            let of_profile = 0b11 | u8::from(one_key) << 3;
            bad |= _mm256_mask_test_epi64_mask(of_profile, profiles, profiles);
            let mut bad = u32::from(bad) | numbers;
            if FOREIGN {
                let attached = match KIND {
                    GENERAL => Attached { shorter, longer },
                    _ => Attached::APART,
                };
                // All have what they have a bit of in common, and mostly what they have.
                let pointers = Pointers {
                    all: usize::from(_mm512_test_epi64_mask(common, common)),
                    any: usize::from(_mm512_test_epi64_mask(members, members)),
                };
                if pointers.bad(rules, attached) != 0 {
                    let jobs = core::slice::from_raw_parts(first, count);
                    bad |= u32::from(Pointers::of(jobs).bad(rules, attached) != 0);
                }
            }
            let other = _mm512_xor_si512(members, common);
            let other = _mm512_test_epi64_mask(other, other);
            let alike = |place: usize| other >> place & 1 == 0;
            (bad == 0).then_some((alike(SRC_LEN), alike(DATA_LEN)))
        },
    )
}
