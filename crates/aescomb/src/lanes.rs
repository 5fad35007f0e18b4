//! Messages as the kernels see them: jobs, the lanes they are given, and a
//! group's memory between two windows.
//!
//! `unsafe` here rests on two facts. A [`Job`] is made by `batch.rs` alone, from
//! borrowed slices that outlive the call, with `src` readable for `len` bytes,
//! `dst` writable for what the mode makes of them, `nonce` readable for the
//! mode's nonce and `tag` writable for `tag_len` bytes. And [`Lanes`] never goes
//! beyond the rows of a lane's job: `window` checks it, once per window; lanes
//! without a message work on memory of their own.
#![allow(unsafe_code)]

use crate::comb::Window;
use crate::isa::{Block, Cipher, Isa, Soft};
use crate::key::Key;
use crate::mode::Lengths;
use crate::modes::{State, Sweep, padding_len};
use core::marker::PhantomData;
use subtle::ConstantTimeEq;

/// The most messages in flight, over all backends.
pub(crate) const MAX_LANES: usize = 32;
/// The most blocks of state that a mode keeps per message.
const MAX_STATE: usize = 1;
/// Idle lanes work on memory of their own, which has this many rows.
const IDLE_ROWS: usize = 256;

/// One message.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct Job {
    pub src: *const u8,
    pub dst: *mut u8,
    pub nonce: *const u8,
    pub tag: *mut u8,
    /// Bytes at `src`.
    pub len: usize,
    pub nonce_len: u32,
    pub tag_len: u32,
    /// Place in the key table.
    pub key: u32,
}

// SAFETY: the pointers are used during a call only, while the slices behind them
// are borrowed by it; between calls they are stale and never read.
unsafe impl Send for Job {}
// SAFETY: as above.
unsafe impl Sync for Job {}

/// The jobs of a call, which may lie inside larger structs.
#[derive(Clone, Copy)]
pub(crate) struct Jobs<'a> {
    first: *const Job,
    /// Bytes from one to the next.
    stride: usize,
    len: usize,
    borrow: PhantomData<&'a Job>,
}

impl<'a> Jobs<'a> {
    /// The job of each of `items`, of which `job` gives the first's.
    pub(crate) fn of<T>(items: &'a [T], job: impl Fn(&T) -> &Job) -> Self {
        Jobs {
            first: items
                .first()
                .map_or(core::ptr::null(), |item| &raw const *job(item)),
            stride: size_of::<T>(),
            len: items.len(),
            borrow: PhantomData,
        }
    }

    #[inline(always)]
    pub(crate) fn get(self, i: u32) -> &'a Job {
        assert!((i as usize) < self.len);
        // SAFETY: a job lies at the same place of each of the `len` items, which
        // are borrowed for `'a`.
        unsafe { &*self.first.byte_add(i as usize * self.stride) }
    }
}

impl Job {
    pub(crate) const NONE: Job = Job {
        src: core::ptr::null(),
        dst: core::ptr::null_mut(),
        nonce: core::ptr::null(),
        tag: core::ptr::null_mut(),
        len: 0,
        nonce_len: 0,
        tag_len: 0,
        key: 0,
    };

    /// Takes PKCS#7 padding off the result, which has whole blocks and at least
    /// one: the length without it, or `None`, and the result is wiped, where
    /// there is none.
    pub(crate) fn unpad(&self) -> Option<usize> {
        // SAFETY: the destination has `len` bytes, 16 or more, and has been
        // written.
        let result = unsafe { core::slice::from_raw_parts_mut(self.dst, self.len) };
        let last = result.last_chunk()?;
        match padding_len(last) {
            Some(padding) => Some(self.len - padding),
            None => {
                result.fill(0);
                None
            }
        }
    }

    /// Whether its tag, which was computed, is the one at `given`; in time that
    /// depends on the length alone.
    pub(crate) fn has_tag(&self, given: *const u8) -> bool {
        let len = self.tag_len as usize;
        // SAFETY: both are readable for `tag_len` bytes.
        let (a, b) = unsafe {
            (
                core::slice::from_raw_parts(self.tag, len),
                core::slice::from_raw_parts(given, len),
            )
        };
        a.ct_eq(b).into()
    }
}

/// The end of a message, in all lanes at once: what its rows leave over.
pub(crate) struct Last<W> {
    /// The bytes after the rows, padded as the mode asks.
    pub block: W,
    /// All ones where these were fewer than 16.
    pub partial: W,
}

/// Round keys of one key per lane, in the order in which kernels load them.
#[repr(C, align(64))]
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))] // `soft` alone is used
pub(crate) struct LaneKeys {
    rk: [[Block; MAX_LANES]; 15],
    sub: [[Block; MAX_LANES]; 2],
    rounds: usize,
    /// The portable backend's own form.
    soft: [Option<Soft>; 4],
}

#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]
impl LaneKeys {
    pub(crate) fn new() -> Self {
        LaneKeys {
            rk: [[[0; 16]; MAX_LANES]; 15],
            sub: [[[0; 16]; MAX_LANES]; 2],
            rounds: 10,
            soft: [const { None }; 4],
        }
    }

    /// Gives lane `l` the round keys `schedule` of `key`.
    #[inline(always)]
    pub(crate) fn set(&mut self, l: usize, key: &Key, schedule: &[Block; 15]) {
        self.rounds = key.rounds();
        for (row, block) in self.rk.iter_mut().zip(schedule).take(key.rounds() + 1) {
            row[l] = *block;
        }
        self.set_constants(l, key);
    }

    pub(crate) fn set_soft(&mut self, l: usize, key: &Key, soft: Soft) {
        self.soft[l] = Some(soft);
        self.set_constants(l, key);
    }

    #[inline(always)]
    fn set_constants(&mut self, l: usize, key: &Key) {
        for (i, row) in self.sub.iter_mut().enumerate() {
            row[l] = *key.subkey(i);
        }
    }

    #[inline(always)]
    pub(crate) fn rounds(&self) -> usize {
        self.rounds
    }

    /// Round key `r` of lane `l` and the lanes after it.
    #[inline(always)]
    pub(crate) fn at(&self, r: usize, l: usize) -> *const u8 {
        self.rk[r][l..].as_ptr().cast()
    }

    /// The portable form of lane `l`'s key; `None` for a lane never used.
    pub(crate) fn soft(&self, l: usize) -> Option<&Soft> {
        self.soft[l].as_ref()
    }

    #[inline(always)]
    pub(crate) fn subkey<S: Isa>(&self, s: S, i: usize) -> S::W {
        // SAFETY: a row holds `MAX_LANES` blocks.
        unsafe { s.load(self.sub[i].as_ptr().cast()) }
    }
}

impl Drop for LaneKeys {
    fn drop(&mut self) {
        self.rk = [[[0; 16]; MAX_LANES]; 15];
        self.sub = [[[0; 16]; MAX_LANES]; 2];
        zeroize::optimization_barrier(self);
    }
}

/// Memory for a group of messages, one to a lane, longest first.
#[repr(C, align(64))]
pub(crate) struct Lanes {
    state: [[Block; MAX_LANES]; MAX_STATE],
    /// The state of messages that have ended.
    kept: [[Block; MAX_LANES]; MAX_STATE],
    src: [*const u8; MAX_LANES],
    dst: [*mut u8; MAX_LANES],
    nonce: [*const u8; MAX_LANES],
    rows: [usize; MAX_LANES],
    /// What the rows leave over, and where the result of the finish goes.
    rest: [*const u8; MAX_LANES],
    rest_len: [usize; MAX_LANES],
    last: [*mut u8; MAX_LANES],
    last_len: [usize; MAX_LANES],
    key: [u32; MAX_LANES],
    idle: [Block; IDLE_ROWS],
}

// SAFETY: as for `Job`.
unsafe impl Send for Lanes {}
// SAFETY: as above.
unsafe impl Sync for Lanes {}

impl Drop for Lanes {
    fn drop(&mut self) {
        self.state = [[[0; 16]; MAX_LANES]; MAX_STATE];
        self.kept = self.state;
        self.idle = [[0; 16]; IDLE_ROWS];
        zeroize::optimization_barrier(self);
    }
}

impl Lanes {
    pub(crate) fn new() -> Self {
        Lanes {
            state: [[[0; 16]; MAX_LANES]; MAX_STATE],
            kept: [[[0; 16]; MAX_LANES]; MAX_STATE],
            src: [core::ptr::null(); MAX_LANES],
            dst: [core::ptr::null_mut(); MAX_LANES],
            nonce: [core::ptr::null(); MAX_LANES],
            rows: [0; MAX_LANES],
            rest: [core::ptr::null(); MAX_LANES],
            rest_len: [0; MAX_LANES],
            last: [core::ptr::null_mut(); MAX_LANES],
            last_len: [0; MAX_LANES],
            key: [0; MAX_LANES],
            idle: [[0; 16]; IDLE_ROWS],
        }
    }

    /// Makes a group of up to `degree` of the messages that `next` gives.
    #[inline(always)]
    pub(crate) fn group<'j, M: Sweep>(
        &mut self,
        degree: usize,
        mut next: impl FnMut() -> Option<&'j Job>,
    ) -> Group<'_, 'j> {
        // Counts that are not in memory: the next message would wait for them.
        let mut used = 0;
        let mut least = usize::MAX;
        while used < degree.min(MAX_LANES)
            && let Some(job) = next()
        {
            let rows = M::LENGTHS.rows(job.len);
            let mut l = used;
            if rows > least {
                l = self.make_room(used, rows);
            } else {
                least = rows;
            }
            self.src[l] = job.src;
            self.dst[l] = job.dst;
            self.rows[l] = rows;
            self.key[l] = job.key;
            if M::NONCE {
                self.nonce[l] = job.nonce;
            }
            let (at, left) = (rows * 16, job.len - rows * 16);
            if !matches!(M::LENGTHS, Lengths::WholeBlocks) {
                self.rest[l] = job.src.wrapping_add(at);
                self.rest_len[l] = left;
                (self.last[l], self.last_len[l]) = match M::LENGTHS {
                    Lengths::TagOnly => (job.tag, job.tag_len as usize),
                    Lengths::Padded => (job.dst.wrapping_add(at), 16),
                    _ => (job.dst.wrapping_add(at), left),
                };
            }
            used += 1;
        }
        Group {
            lanes: self,
            used,
            done: 0,
            borrow: PhantomData,
        }
    }

    /// Insertion, for messages so long that the queue gives them only nearly in
    /// order: moves those with fewer rows than `rows` up a lane.
    #[cold]
    fn make_room(&mut self, used: usize, rows: usize) -> usize {
        let l = self.rows[..used].partition_point(|other| *other >= rows);
        self.src.copy_within(l..used, l + 1);
        self.dst.copy_within(l..used, l + 1);
        self.nonce.copy_within(l..used, l + 1);
        self.rows.copy_within(l..used, l + 1);
        self.rest.copy_within(l..used, l + 1);
        self.rest_len.copy_within(l..used, l + 1);
        self.last.copy_within(l..used, l + 1);
        self.last_len.copy_within(l..used, l + 1);
        self.key.copy_within(l..used, l + 1);
        l
    }
}

/// A group of messages in their lanes, longest first.
pub(crate) struct Group<'l, 'j> {
    lanes: &'l mut Lanes,
    /// Lanes that have a message.
    used: usize,
    /// Rows that are done.
    done: usize,
    borrow: PhantomData<&'j Job>,
}

impl Group<'_, '_> {
    /// Blocks of each message.
    #[inline(always)]
    pub(crate) fn rows(&self) -> &[usize] {
        &self.lanes.rows[..self.used]
    }

    /// Key of each message: its place in the table.
    #[inline(always)]
    pub(crate) fn keys(&self) -> &[u32] {
        &self.lanes.key[..self.used]
    }

    /// Lanes `from..to` have no message: the rows from `done` on are in `idle`.
    #[inline(always)]
    fn idle(&mut self, from: usize, to: usize) {
        let idle = self.lanes.idle.as_mut_ptr().cast::<u8>();
        let base = idle.wrapping_sub(self.done * 16);
        for l in from..to {
            self.lanes.src[l] = base;
            self.lanes.dst[l] = base;
        }
    }

    /// Begins all messages.
    #[inline(always)]
    pub(crate) fn begin<S: Isa, M: Sweep>(&mut self, s: S, c: impl Cipher<W = S::W>) {
        let lanes = &mut *self.lanes;
        let mut nonce = s.splat(&[0; 16]);
        if M::NONCE {
            for l in self.used..S::LANES {
                lanes.nonce[l] = lanes.idle.as_ptr().cast();
            }
            // SAFETY: the nonces of messages have 16 bytes, and so has `idle`.
            nonce = unsafe { s.gather(lanes.nonce.as_ptr(), 0) };
        }
        let state = M::begin(&c, nonce);
        store_state::<S, M>(s, &state, &mut lanes.state);
        if !matches!(M::LENGTHS, Lengths::WholeBlocks) {
            // A message without rows ends where it begins.
            store_state::<S, M>(s, &state, &mut lanes.kept);
        }
    }

    /// Runs a window: the next rows of the first lanes. `S` must have at least
    /// as many lanes.
    #[inline(always)]
    pub(crate) fn window<S: Isa, M: Sweep>(
        &mut self,
        s: S,
        c: impl Cipher<W = S::W>,
        window: Window,
    ) {
        let end = self.done + window.rows;
        // The last of the lanes has the fewest rows.
        assert!(
            window.lanes <= S::LANES
                && window.lanes <= self.used
                && self.lanes.rows[window.lanes - 1] >= end
        );
        let mut state = load_state::<S, M>(s, &self.lanes.state);
        while self.done < end {
            let mut stop = end;
            if window.lanes < S::LANES {
                stop = end.min(self.done + IDLE_ROWS);
                self.idle(window.lanes, S::LANES);
            }
            for row in self.done..stop {
                // SAFETY: `row` is inside every message (checked above), and
                // inside `idle` for lanes without one.
                unsafe {
                    let x = s.gather(self.lanes.src.as_ptr(), row * 16);
                    let y = M::step(&c, &mut state, x);
                    if !matches!(M::LENGTHS, Lengths::TagOnly) {
                        s.scatter(y, self.lanes.dst.as_ptr(), row * 16);
                    }
                }
            }
            self.done = stop;
        }
        let lanes = &mut *self.lanes;
        store_state::<S, M>(s, &state, &mut lanes.state);
        if !matches!(M::LENGTHS, Lengths::WholeBlocks) {
            // Later windows run over the lanes of messages that end here.
            let mut l = window.lanes;
            while l > 0 && lanes.rows[l - 1] == end {
                l -= 1;
                for (kept, state) in lanes.kept.iter_mut().zip(&lanes.state) {
                    kept[l] = state[l];
                }
            }
        }
    }

    /// Finishes all messages: what their rows leave over, and tags.
    #[inline(always)]
    pub(crate) fn finish<S: Isa, M: Sweep>(self, s: S, c: impl Cipher<W = S::W>) {
        let lanes = self.lanes;
        match M::LENGTHS {
            Lengths::WholeBlocks => return,
            Lengths::AnyLength if lanes.rest_len[..self.used].iter().all(|n| *n == 0) => return,
            _ => {}
        }
        for l in self.used..S::LANES {
            lanes.rest_len[l] = 0;
            lanes.last_len[l] = 0;
        }
        let state = load_state::<S, M>(s, &lanes.kept);
        // SAFETY: `rest` and `last` are valid for their lengths, at most 16, and
        // `padding` has an entry for each of these.
        unsafe {
            let len = lanes.rest_len.as_ptr();
            let mut block = s.gather_part(lanes.rest.as_ptr(), len);
            if let Some(padding) = M::LENGTHS.padding() {
                block = block ^ s.look_up(padding.as_ptr(), len);
            }
            let partial = s.look_up(PARTIAL.as_ptr(), len);
            let y = M::finish(&c, state, Last { block, partial });
            s.scatter_part(y, lanes.last.as_ptr(), lanes.last_len.as_ptr());
        }
    }
}

/// [`Last::partial`] of a last block with 0 to 16 bytes.
const PARTIAL: [Block; 17] = {
    let mut out = [[0xff; 16]; 17];
    out[16] = [0; 16];
    out
};

#[inline(always)]
fn load_state<S: Isa, M: Sweep>(s: S, from: &[[Block; MAX_LANES]; MAX_STATE]) -> M::State<S::W> {
    // SAFETY: a row holds `MAX_LANES` blocks.
    M::State::from_fn(
        #[inline(always)]
        |i| unsafe { s.load(from[i].as_ptr().cast()) },
    )
}

#[inline(always)]
fn store_state<S: Isa, M: Sweep>(
    s: S,
    state: &M::State<S::W>,
    to: &mut [[Block; MAX_LANES]; MAX_STATE],
) {
    for (i, w) in state.blocks().iter().enumerate() {
        // SAFETY: a row holds `MAX_LANES` blocks.
        unsafe { s.store(*w, to[i].as_mut_ptr().cast()) };
    }
}
