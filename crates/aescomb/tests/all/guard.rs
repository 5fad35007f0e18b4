//! No byte beyond a text, nonce, tag or associated data is read or written: each of them ends
//! at a page that cannot be touched, or begins after one. A touch is a crash.
//!
//! `unsafe` here rests on one fact: a [`Fence`] is a private mapping of its own
//! of which all pages but the first and the last may be read and written, and
//! one [`FenceBuf`] at a time has it.
#![cfg(unix)]
#![allow(unsafe_code)]

use crate::common::{
    self, Call, CallKeys, Draw, Form, Memory, Sample, Shape, Shapes, check, comb, comb_apart,
    degrees, fit, for_all, lengths_apart, sample, table,
};
use crate::differential;
use aescomb::Mode;
use std::cell::RefCell;
use std::ops::{Deref, DerefMut};
use std::ptr::null_mut;
use std::rc::Rc;
use std::sync::Arc;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Edge {
    /// Buffers end at an inaccessible page.
    After,
    /// Buffers begin after an inaccessible page.
    Before,
}

/// Pages between two inaccessible ones.
struct Fence {
    /// First byte of the first page, which is inaccessible.
    base: *mut u8,
    page: usize,
}

impl Fence {
    /// Accessible pages.
    const PAGES: usize = 32;

    fn new() -> Fence {
        // SAFETY: no pointers are involved.
        let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
        let page = usize::try_from(page).expect("a page size");
        let len = (Fence::PAGES + 2) * page;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANON;
        // SAFETY: a new mapping at a place of the kernel's choice.
        let base = unsafe { libc::mmap(null_mut(), len, libc::PROT_NONE, flags, -1, 0) };
        assert_ne!(
            base,
            libc::MAP_FAILED,
            "mmap: {}",
            std::io::Error::last_os_error()
        );
        // SAFETY: the pages are inside the mapping made above.
        let result = unsafe {
            let first = base.byte_add(page);
            libc::mprotect(
                first,
                Fence::PAGES * page,
                libc::PROT_READ | libc::PROT_WRITE,
            )
        };
        assert_eq!(result, 0, "mprotect: {}", std::io::Error::last_os_error());
        Fence {
            base: base.cast(),
            page,
        }
    }

    /// The first of `len` accessible bytes that touch the edge.
    fn place(&self, edge: Edge, len: usize) -> *mut u8 {
        let room = Fence::PAGES * self.page;
        assert!(len <= room, "{len} bytes are too many for a fence");
        let skip = match edge {
            Edge::After => room - len,
            Edge::Before => 0,
        };
        self.base.wrapping_add(self.page + skip)
    }
}

impl Drop for Fence {
    fn drop(&mut self) {
        // SAFETY: the mapping made in `new`, which nobody uses any more.
        unsafe { libc::munmap(self.base.cast(), (Fence::PAGES + 2) * self.page) };
    }
}

/// Memory of which every buffer has a fence of its own.
struct Fences {
    edge: Edge,
    free: Rc<RefCell<Vec<Fence>>>,
}

impl Fences {
    fn new(edge: Edge) -> Fences {
        let free = Rc::default();
        Fences { edge, free }
    }
}

struct FenceBuf {
    at: *mut u8,
    len: usize,
    fence: Option<Fence>,
    free: Rc<RefCell<Vec<Fence>>>,
}

impl Memory for Fences {
    type Buf = FenceBuf;

    fn take(&self, len: usize) -> FenceBuf {
        let fence = self.free.borrow_mut().pop().unwrap_or_else(Fence::new);
        FenceBuf {
            at: fence.place(self.edge, len),
            len,
            fence: Some(fence),
            free: self.free.clone(),
        }
    }
}

impl Deref for FenceBuf {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: `len` accessible bytes, initialised by the kernel or a former
        // owner, which this buffer alone has.
        unsafe { std::slice::from_raw_parts(self.at, self.len) }
    }
}

impl DerefMut for FenceBuf {
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: as in `deref`.
        unsafe { std::slice::from_raw_parts_mut(self.at, self.len) }
    }
}

impl Drop for FenceBuf {
    fn drop(&mut self) {
        self.free.borrow_mut().extend(self.fence.take());
    }
}

/// Values and tweaks of FF1 of all lengths that are done in other ways.
#[test]
fn ff1() {
    use aescomb::Layout;
    use aescomb::ff1::{Ff1, Values};
    for backend in common::backends() {
        let ff1 = Ff1::with_alphabet("0123456789", &[7; 16]).expect("a good key");
        let ff1 = ff1.with_backend(backend).expect("an available backend");
        for edge in [Edge::After, Edge::Before] {
            let fences = Fences::new(edge);
            for len in (6..70).chain([300]) {
                for (count, tweak_len) in [(1, 0), (2, 11), (17, 16), (40, 37)] {
                    let mut values = fences.take(len * count);
                    let mut tweaks = fences.take(tweak_len * count);
                    values.fill(b'7');
                    tweaks.fill(3);
                    let lengths = vec![len; count];
                    let ring = Layout::Ring {
                        stride: len,
                        lengths: &lengths,
                    };
                    let tweak_lengths = vec![tweak_len; count];
                    let tweak_ring = Layout::Ring {
                        stride: tweak_len,
                        lengths: &tweak_lengths,
                    };
                    let batch = Values::in_place(&mut values[..], ring);
                    let made = ff1.encrypt(batch.tweaks(&tweaks, tweak_ring));
                    assert_eq!(made, Ok(()), "{len} {count}");
                    let sevens = vec![7; len];
                    let sealed =
                        aescomb_ref::ff1_encrypt(&[7; 16], 10, &vec![3; tweak_len], &sevens);
                    let sealed = sealed.expect("a good value").into_iter();
                    let sealed: Vec<u8> = sealed.map(|x| b'0' + x as u8).collect();
                    assert!(
                        values.chunks(len).all(|made| made == sealed),
                        "{len} {count}"
                    );
                }
            }
        }
    }
}

/// All lengths up to more than a register of every backend, and some longer.
fn lengths(mode: Mode) -> Vec<usize> {
    let longer = [
        127, 128, 129, 255, 256, 257, 271, 511, 512, 513, 769, 1025, 4097,
    ];
    let mut all: Vec<_> = (0..=80).chain(longer).map(|len| fit(mode, len)).collect();
    all.dedup();
    all
}

/// Messages of these lengths, under one key or each under one of a table.
fn batch(
    draw: &mut Draw,
    mode: Mode,
    shapes: Shapes,
    lens: &[usize],
) -> (CallKeys<'static>, Vec<Arc<Sample>>) {
    let table = table(mode);
    let shared = draw.below(4) as u32;
    let make = |(i, len): (usize, &usize)| {
        let key = if shared < 3 { shared } else { i as u32 % 5 };
        // Long messages share what the oracle made.
        let i = if *len > 300 { i % 2 } else { i };
        sample(mode, key, i % 4, shapes.get(mode, i), *len)
    };
    let samples = lens.iter().enumerate().map(make).collect();
    match shared {
        0..3 => (CallKeys::from(&table[shared as usize]), samples),
        _ => (CallKeys::from(table), samples),
    }
}

fn alone(edge: Edge) {
    let fences = Fences::new(edge);
    let mut draw = Draw::new(11);
    for_all(|mode, backend, op| {
        let mut comb = comb(backend, backend.max_lanes());
        for len in lengths(mode) {
            for form in Form::ALL {
                let shapes = Shapes::Alike(draw.below(Shape::COUNT));
                let (keys, samples) = batch(&mut draw, mode, shapes, &[len]);
                let call = Call {
                    attached: draw.below(2) == 0,
                    ..Call::new(op, keys, form)
                };
                check(&mut comb, &fences, &call, &samples);
            }
        }
    });
}

fn batches(edge: Edge) {
    let fences = Fences::new(edge);
    let mut draw = Draw::new(12);
    for_all(|mode, backend, op| {
        for len in lengths(mode) {
            let mut comb = comb(backend, draw.pick(&degrees(backend)));
            for form in Form::ALL {
                let count = 2 + draw.below(19);
                let mut lens = vec![len; count];
                if draw.below(2) == 0 {
                    for len in &mut lens[1..] {
                        *len = fit(mode, draw.below(100));
                    }
                    let at = draw.below(count);
                    lens.swap(0, at);
                }
                let shapes = Shapes::of(form, draw.below(Shape::COUNT));
                let (keys, samples) = batch(&mut draw, mode, shapes, &lens);
                let call = Call {
                    attached: draw.below(2) == 0,
                    ..Call::new(op, keys, form)
                };
                check(&mut comb, &fences, &call, &samples);
            }
        }
    });
}

/// Texts that lie a page or half of one apart, which the engine does in a way of its own: the
/// last of them ends at a guard, or the first begins after one.
fn apart(edge: Edge) {
    let fences = Fences::new(edge);
    let mut draw = Draw::new(15);
    let mut turn = 0;
    for_all(|mode, backend, op| {
        for _ in 0..16 {
            let mut comb = comb_apart(&mut draw, backend);
            let mut lens = lengths_apart(&mut draw, mode);
            let apart = draw.pick(&[2048, 4096]);
            // As many as there is room for.
            lens.truncate(Fence::PAGES * 4096 / apart);
            // What begins every text at another place of a line, if the last ends at a page.
            turn += 13;
            if let Some(last) = lens.last_mut() {
                *last = fit(mode, 64 + turn % 64);
            }
            let shapes = Shapes::Alike(draw.below(Shape::COUNT));
            let (keys, samples) = batch(&mut draw, mode, shapes, &lens);
            let call = Call {
                attached: draw.below(2) == 0,
                apart: Some(apart),
                ..Call::new(op, keys, draw.pick(&Form::APART))
            };
            check(&mut comb, &fences, &call, &samples);
        }
    });
}

fn one_message_calls(edge: Edge) {
    let fences = Fences::new(edge);
    for mode in Mode::ALL {
        for (i, len) in lengths(*mode).into_iter().enumerate() {
            let shape = Shape::alone(*mode, i);
            let sample = sample(*mode, i as u32 % 3, i % 4, shape, len);
            common::alone(&fences, &table(*mode)[i % 3], &sample);
        }
    }
}

#[test]
fn batches_of_one_end_at_a_guard() {
    alone(Edge::After);
}

#[test]
fn batches_of_one_begin_at_a_guard() {
    alone(Edge::Before);
}

#[test]
fn batches_end_at_a_guard() {
    batches(Edge::After);
}

#[test]
fn batches_begin_at_a_guard() {
    batches(Edge::Before);
}

#[test]
fn vectors_of_data_end_at_a_guard() {
    differential::vectors_in(&Fences::new(Edge::After));
}

#[test]
fn texts_apart_between_guards() {
    apart(Edge::After);
    apart(Edge::Before);
}

#[test]
fn one_message_calls_between_guards() {
    one_message_calls(Edge::After);
    one_message_calls(Edge::Before);
}

/// Without this the other tests could not fail.
#[test]
fn guards_bite() {
    for edge in [Edge::After, Edge::Before] {
        let buf = Fences::new(edge).take(5);
        let beyond = match edge {
            Edge::After => buf.at.wrapping_add(5),
            Edge::Before => buf.at.wrapping_sub(1),
        };
        // SAFETY: the child reads one byte, which is to kill it, and ends.
        let status = unsafe {
            let child = libc::fork();
            assert!(child >= 0, "fork: {}", std::io::Error::last_os_error());
            if child == 0 {
                // Without a core file.
                let none = libc::rlimit {
                    rlim_cur: 0,
                    rlim_max: 0,
                };
                libc::setrlimit(libc::RLIMIT_CORE, &raw const none);
                beyond.read_volatile();
                libc::_exit(0);
            }
            let mut status = 0;
            assert_eq!(libc::waitpid(child, &raw mut status, 0), child);
            status
        };
        assert!(libc::WIFSIGNALED(status), "{edge:?}: the child lived on");
    }
}
