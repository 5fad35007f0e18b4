//! Calls allocate nothing, once their scheduler has grown to the batch.
//!
//! `unsafe` here rests on one fact: all pointers are to vectors that live longer than the
//! calls with them.
#![allow(unsafe_code)]

use aescomb_c::*;
use std::ffi::{CStr, c_void};
use std::ptr::{null, null_mut};

const COUNT: usize = 70;
static NONCE: [u8; 12] = [7; 12];

fn new_key(mode: &CStr, byte: u8) -> *mut aescomb_key {
    let mut key = null_mut();
    // SAFETY: see above.
    let code =
        unsafe { aescomb_key_new(mode.as_ptr(), [byte; 32].as_ptr(), 32, &mut key, null_mut()) };
    assert_eq!(code, aescomb_code::AESCOMB_OK);
    key
}

/// Runs a call twice with a new scheduler, and once more without allocations.
fn none(call: impl Fn(*mut aescomb_comb) -> aescomb_code) {
    let mut comb = null_mut();
    // SAFETY: see above.
    let code = unsafe { aescomb_comb_new(null(), &mut comb, null_mut()) };
    assert_eq!(code, aescomb_code::AESCOMB_OK);
    for _ in 0..2 {
        assert_eq!(call(comb), aescomb_code::AESCOMB_OK);
    }
    let info = allocation_counter::measure(|| {
        assert_eq!(call(comb), aescomb_code::AESCOMB_OK);
    });
    assert_eq!(info.count_total, 0);
    // SAFETY: nobody uses it any more.
    unsafe { aescomb_comb_free(comb) };
}

/// Messages in place, with everything that AEADs take.
fn messages(texts: &mut [Vec<u8>], tags: &mut [[u8; 16]]) -> Vec<aescomb_message> {
    let message = |(text, tag): (&mut Vec<u8>, &mut [u8; 16])| {
        // SAFETY: zero is a value of every member.
        let mut m: aescomb_message = unsafe { std::mem::zeroed() };
        (m.src, m.src_len) = (text.as_ptr(), text.len());
        (m.dst, m.dst_len) = (text.as_mut_ptr(), text.len());
        (m.nonce, m.nonce_len) = (NONCE.as_ptr(), 12);
        (m.data, m.data_len) = (b"header".as_ptr().cast(), 6);
        (m.tag, m.tag_len) = (tag.as_mut_ptr(), 16);
        m
    };
    texts.iter_mut().zip(tags).map(message).collect()
}

fn texts() -> (Vec<Vec<u8>>, Vec<[u8; 16]>) {
    let texts = (0..COUNT).map(|i| vec![1; i * 13]).collect();
    (texts, vec![[0; 16]; COUNT])
}

#[test]
fn the_counter_counts() {
    let make = || drop(std::hint::black_box(vec![1; COUNT]));
    assert!(allocation_counter::measure(make).count_total > 0);
}

#[test]
fn arrays_of_messages() {
    let keys = [new_key(c"gcm", 1), new_key(c"gcm", 2)];
    // All under the shared key, all under their own, and some of both.
    for (shared, own) in [(true, 0), (false, COUNT), (true, COUNT / 2)] {
        let (mut texts, mut tags) = texts();
        let mut messages = messages(&mut texts, &mut tags);
        for (i, m) in messages[..own].iter_mut().enumerate() {
            m.key = keys[i % 2];
        }
        let first = messages.as_mut_ptr();
        let key = if shared { keys[0].cast_const() } else { null() };
        // SAFETY: see above.
        none(|comb| unsafe { aescomb_seal(comb, key, first, COUNT, null_mut()) });
    }
    for key in keys {
        // SAFETY: nobody uses it any more.
        unsafe { aescomb_key_free(key) };
    }
}

#[test]
fn components_of_associated_data() {
    let key = new_key(c"siv", 3);
    let (mut texts, mut tags) = texts();
    let mut messages = messages(&mut texts, &mut tags);
    let parts = [b"from", b"date"].map(|part| aescomb_slice {
        bytes: part.as_ptr(),
        len: part.len(),
    });
    for m in &mut messages {
        (m.data, m.component_count) = (parts.as_ptr().cast::<c_void>(), 2);
    }
    let first = messages.as_mut_ptr();
    // SAFETY: see above.
    none(|comb| unsafe { aescomb_seal(comb, key, first, COUNT, null_mut()) });
    // SAFETY: nobody uses it any more.
    unsafe { aescomb_key_free(key) };
}

#[test]
fn packed_batches() {
    let keys: Vec<*const aescomb_key> = (0..COUNT)
        .map(|i| new_key(c"cmac", i as u8).cast_const())
        .collect();
    let text = vec![5; COUNT * 100];
    let mut tags = vec![0; COUNT * 16];
    let lengths: Vec<u32> = (0..COUNT as u32).collect();
    let result = aescomb_result {
        written: 0,
        status: aescomb_status::AESCOMB_PENDING,
    };
    let mut results = vec![result; COUNT];
    // SAFETY: zero is a value of every member.
    let mut batch: aescomb_packed = unsafe { std::mem::zeroed() };
    (batch.count, batch.offset_bytes) = (COUNT, 4);
    (batch.src, batch.src_len) = (text.as_ptr(), text.len());
    batch.src_layout.kind = aescomb_layout_kind::AESCOMB_LAYOUT_RING as u32;
    batch.src_layout.lengths = lengths.as_ptr().cast();
    batch.src_layout.stride = 100;
    (batch.tags, batch.tag_len, batch.tag_stride) = (tags.as_mut_ptr(), 16, 16);
    batch.keys = keys.as_ptr();
    batch.results = results.as_mut_ptr();
    // SAFETY: see above.
    none(|comb| unsafe { aescomb_mac_packed(comb, null(), &batch, null_mut()) });
    none(|comb| unsafe { aescomb_verify_packed(comb, null(), &batch, null_mut()) });
    for key in keys {
        // SAFETY: nobody uses it any more.
        unsafe { aescomb_key_free(key.cast_mut()) };
    }
}
