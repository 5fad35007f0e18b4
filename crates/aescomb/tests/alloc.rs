//! Calls allocate nothing, once the scheduler has grown to the largest batch.
//!
//! `unsafe` here rests on one fact: the allocator does what the system's does,
//! and counts.
#![allow(unsafe_code)]

mod common;

use aescomb::{
    AnyKey, Batch, Comb, Keys, Kind, Layout, Lengths, Message, MessageResult, Messages, Mode, Op,
    OpenError, Packed, Text,
};
use common::{Sample, Shapes, backends, nonce, ops, paint, raw_key, refs, sample, table};
use std::alloc::{GlobalAlloc, Layout as Size, System};
use std::cell::Cell;

struct Counting;

thread_local! {
    static COUNT: Cell<usize> = const { Cell::new(0) };
}

fn count() {
    COUNT.with(|n| n.set(n.get() + 1));
}

// SAFETY: all calls are passed on to the system's allocator as they are.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, size: Size) -> *mut u8 {
        count();
        // SAFETY: the caller's promises are passed on.
        unsafe { System.alloc(size) }
    }

    unsafe fn dealloc(&self, at: *mut u8, size: Size) {
        count();
        // SAFETY: as above.
        unsafe { System.dealloc(at, size) }
    }

    unsafe fn alloc_zeroed(&self, size: Size) -> *mut u8 {
        count();
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(size) }
    }

    unsafe fn realloc(&self, at: *mut u8, size: Size, new: usize) -> *mut u8 {
        count();
        // SAFETY: as above.
        unsafe { System.realloc(at, size, new) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// How often this thread allocates or frees in `f`.
fn allocations<R>(f: impl FnOnce() -> R) -> (R, usize) {
    let before = COUNT.with(Cell::get);
    let result = f();
    (result, COUNT.with(Cell::get) - before)
}

#[track_caller]
fn none<R>(f: impl FnOnce() -> R) -> R {
    let (result, n) = allocations(f);
    assert_eq!(n, 0, "allocations");
    result
}

#[test]
fn the_allocator_counts() {
    let (boxed, n) = allocations(|| Box::new(paint(10, 1)));
    assert!(n >= 2);
    assert_eq!(boxed.len(), 10);
}

/// Every scheduler that a test should go through.
fn combs() -> impl Iterator<Item = Comb> {
    let of = |backend| Comb::with_backend(backend).expect("an available backend");
    backends().map(of).chain([Comb::new()])
}

const COUNT_OF: usize = 70;

/// Runs a batch, which must allocate nothing if everything was `warm` before, but a list of
/// the messages that failed.
#[track_caller]
fn counted<B: Batch + ?Sized>(
    warm: bool,
    comb: &mut Comb,
    op: Op,
    keys: Keys<'_>,
    batch: &mut B,
) -> Result<(), OpenError> {
    let (result, n) = allocations(|| comb.run(op, keys, batch));
    let list = match &result {
        // It grows by doubling.
        Err(OpenError::Failed(failed)) => failed.messages().len().ilog2() as usize + 1,
        _ => 0,
    };
    assert!(!warm || n <= list, "{n} allocations");
    result
}

/// It was not refused.
fn accepted(result: Result<(), OpenError>) {
    assert!(!matches!(result, Err(OpenError::Refused(_))), "{result:?}");
}

#[test]
fn messages() {
    for mut comb in combs() {
        each_call(|warm, mode, op, keys| {
            let lens = (0..COUNT_OF).map(|i| [0, 16, 100, 300, 5000][i % 5]);
            let samples: Vec<_> = lens
                .enumerate()
                .map(|(i, len)| {
                    let shape = Shapes::Mixed.get(mode, i % 10);
                    sample(mode, (i % 4) as u32, 0, shape, len)
                })
                .collect();
            let input = |s: &Sample| match op {
                Op::Decrypt | Op::Open => s.sealed.clone(),
                _ => s.plain.clone(),
            };
            let mut src: Vec<_> = samples.iter().map(|s| input(s)).collect();
            let room = |s: &Sample| s.sealed.len() + s.tag.len();
            let mut dst: Vec<_> = samples.iter().map(|s| vec![0; room(s)]).collect();
            let mut tags: Vec<_> = samples.iter().map(|s| s.tag.clone()).collect();
            let data: Vec<Vec<&[u8]>> = samples
                .iter()
                .map(|s| s.data.iter().map(|part| &part[..]).collect())
                .collect();
            let mut batch: Vec<Message<'_>> = Vec::new();
            let parts = samples.iter().zip(&mut src).zip(&mut dst).zip(&mut tags);
            for (i, (((s, src), dst), tag)) in parts.enumerate() {
                let message = Message::new(Text::copy(src, dst))
                    .nonce(&s.nonce)
                    .associated_data_vector(&data[i])
                    .opened_len(s.plain.len())
                    .key_index(s.key);
                batch.push(match op {
                    Op::Seal if i % 2 == 0 => message.tag_attached(tag.len()),
                    _ => message.tag(tag),
                });
            }
            accepted(counted(warm, &mut comb, op, keys, &mut batch));
            // A smaller batch after the larger one.
            accepted(counted(warm, &mut comb, op, keys, &mut batch[..9]));
            accepted(counted(warm, &mut comb, op, keys, &mut batch[..1]));
        });
    }
}

/// Every mode, operation and key form: twice to let the scheduler grow and the keys
/// make what they keep for long messages, and once more.
fn each_call(mut f: impl FnMut(bool, Mode, Op, Keys<'static>)) {
    for warm in [false, false, true] {
        for mode in Mode::ALL {
            for op in ops(*mode) {
                f(warm, *mode, op, Keys::from(table(*mode)));
                f(warm, *mode, op, refs(*mode).into());
                f(warm, *mode, op, Keys::from(&table(*mode)[1]));
            }
        }
    }
}

#[test]
fn packed() {
    for mut comb in combs() {
        each_call(|warm, mode, op, keys| {
            let info = mode.info();
            let n = COUNT_OF;
            let (src, mut dst) = (paint(n * 64, 1), vec![0; n * 80]);
            let lengths: Vec<u32> = (0..n).map(|i| [0, 16, 48, 64][i % 4]).collect();
            let lengths = match (info.lengths, op) {
                // A whole block at least.
                (Lengths::Padded, Op::Decrypt)
                | (Lengths::Filled, Op::Open)
                | (Lengths::FromOneBlock, _) => vec![48; n],
                _ => lengths,
            };
            let rooms = vec![80; n];
            let (nonce, tag) = (info.usual_nonce(), info.longest_tag());
            let nonces = paint(n * nonce, 2);
            let mut tags = vec![0; n * tag];
            let (data, ends) = (
                paint(n * 20, 3),
                Vec::from_iter((0..=n as u32).map(|i| i * 20)),
            );
            let indices: Vec<u32> = (0..n as u32).map(|i| i % 7).collect();
            let mut results = vec![MessageResult::default(); n];
            let text = match info.kind {
                Kind::Mac => Text::read_only(&src),
                _ => Text::copy(&src, &mut dst),
            };
            let layout = Layout::Ring {
                stride: 64,
                lengths: &lengths,
            };
            let mut batch = Packed::new(text, layout)
                .nonces(&nonces, nonce, nonce)
                .tags(&mut tags, tag, tag)
                .key_indices(&indices)
                .opened_lens(&lengths)
                .results(&mut results);
            if info.data_components > 0 {
                batch = batch.associated_data(&data, Layout::Offsets(&ends));
            }
            if info.kind != Kind::Mac {
                let (stride, lengths) = (80, &rooms[..]);
                batch = batch.output(Layout::Ring { stride, lengths });
            }
            accepted(counted(warm, &mut comb, op, keys, &mut batch));
        });
    }
}

/// Memory for batches of iterators is allocated once.
#[test]
fn batches_of_iterators() {
    let (mut comb, mut messages) = (Comb::new(), Messages::new());
    let (key, mut texts) = (&table(Mode::Ctr)[0], vec![paint(48, 1); 100]);
    for warm in [false, true] {
        let (_, n) = allocations(|| {
            let message = |text| Message::new(Text::in_place(text)).nonce(&[1; 16]);
            let batch = messages.collect(texts.iter_mut().map(|text| message(text)));
            comb.encrypt(key, batch).expect("a good batch");
            assert!(batch.iter().all(|message| message.output().len() == 48));
        });
        assert!(!warm || n == 0, "{n} allocations");
    }
    assert_eq!(texts, vec![paint(48, 1); 100]);
}

#[test]
fn refused_batches() {
    for mut comb in combs() {
        each_call(|warm, _, op, keys| {
            let mut data = vec![paint(48, 1); 20];
            let mut batch: Vec<_> = data
                .iter_mut()
                .map(|data| {
                    Message::new(Text::in_place(data))
                        .nonce(&[1; 9])
                        .tag_attached(3)
                })
                .collect();
            let error = counted(warm, &mut comb, op, keys, &mut batch).expect_err("a bad tag");
            assert!(matches!(error, OpenError::Refused(_)));
        });
    }
}

#[test]
fn key_tables_used_again() {
    let raw_keys = |mode| -> Vec<_> { (0..50).map(|i| raw_key(mode, i)).collect() };
    for backend in backends() {
        let mut table = Vec::new();
        let raw = raw_keys(Mode::Cbc);
        AnyKey::expand_many_with(backend, Mode::Cbc, &raw, &mut table).expect("good keys");
        for mode in Mode::ALL {
            let raw = raw_keys(*mode);
            for n in [50, 0, 1, 17, 49, 50] {
                let raw = &raw[..n];
                none(|| AnyKey::expand_many_with(backend, *mode, raw, &mut table))
                    .expect("good keys");
            }
        }
    }
    let (mut table, raw) = (Vec::new(), raw_keys(Mode::Cbc));
    AnyKey::expand_many_for(Mode::Cbc, &raw, &mut table).expect("good keys");
    none(|| AnyKey::expand_many_for(Mode::Cmac, &raw, &mut table)).expect("good keys");
}

#[test]
fn one_message_calls() {
    for mode in Mode::ALL {
        let raw = raw_key(*mode, 1);
        let key = none(|| AnyKey::for_mode(*mode, &raw)).expect("a good key");
        let nonce = nonce(*mode, 0);
        let mut data = paint(48, 1);
        let mut tag = vec![0; mode.info().longest_tag()];
        let mut calls = || match mode.info().kind {
            Kind::Aead if mode.info().lengths == Lengths::Untold => {
                let done = key.seal_in_place(&nonce, b"data", &mut data, &mut tag);
                done.expect("a good message");
                let refused = key.open_in_place(&nonce, b"data", &mut data, &tag);
                refused.expect_err("nobody says how long it is");
            }
            Kind::Mac => {
                let done = key.mac_with_nonce(&nonce, &data, &mut tag);
                done.expect("a good message");
            }
            Kind::Aead => {
                let done = key.seal_in_place(&nonce, b"data", &mut data, &mut tag);
                done.expect("a good message");
                let done = key.open_in_place(&nonce, b"data", &mut data, &tag);
                done.expect("a good message");
                // One that fails.
                let failed = key.open_in_place(&nonce, b"data", &mut data, &tag);
                failed.expect_err("a bad tag");
            }
            _ => {
                // Refused, not failed, by modes that pad.
                let _ = key.encrypt_in_place(&nonce, &mut data);
                let _ = key.decrypt_in_place(&nonce, &mut data);
            }
        };
        // The tables and the inverse cipher's round keys of a key that is used again, once.
        let (_, n) = allocations(|| (calls(), calls()));
        assert!(n <= 2, "{mode}: {n} allocations");
        none(calls);
    }
}
