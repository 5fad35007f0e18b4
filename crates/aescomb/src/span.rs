//! One message at a time: its blocks side by side where the mode is parallel
//! inside a message, one after the other where it is not.
//!
//! `unsafe` here rests on the facts stated for [`Job`] in `lanes.rs`: `src` and
//! `dst` are valid for the message's length, and for padded modes `dst` for what
//! padding makes of it.
#![allow(unsafe_code)]

use crate::isa::{Block, Isa, Uniform};
use crate::key::Key;
use crate::lanes::{Job, Last};
use crate::mode::Lengths;
use crate::modes::{Feed, State, Sweep};

/// Does the whole message.
///
/// ```text
/// while a whole wide value is left:   one step on it
/// while a whole register is left:     one step on it
/// if bytes are left:                  one step on them, padded
/// ```
#[inline(always)]
pub(crate) fn span<S: Isa, M: Sweep>(s: S, keys: &S::Keys, key: &Key, job: &Job) {
    let c = Uniform::new(s, keys, key);
    let unit = Uniform::new(s.unit(), keys, key);
    let mut feed = [0; 16];
    if M::NONCE {
        // SAFETY: the mode's nonce has 16 bytes.
        feed = unsafe { job.nonce.cast::<Block>().read() };
    }
    let at = run::<S, M>(&c, job, 0, &mut feed);
    let at = run::<S::Unit, M>(&unit, job, at, &mut feed);
    rest::<S::Unit, M>(&unit, job, at, &feed);
}

/// The state of `LANES` blocks from byte `at` on; `feed` is the nonce, or for
/// modes fed by their input the block before `at`.
#[inline(always)]
fn state<S: Isa, M: Sweep>(c: &Uniform<'_, S>, feed: &Block, at: usize, x: S::W) -> M::State<S::W> {
    let s = c.s;
    match M::FEED {
        Feed::Serial | Feed::Alone => M::begin(c, s.splat(feed)),
        Feed::Input => M::State::from_fn(
            #[inline(always)]
            |_| s.shift_in(s.splat(feed), x),
        ),
        Feed::Counter => {
            let mut state = M::begin(c, s.splat(feed));
            M::advance(&mut state, s.splat(&(at as u128 / 16).to_le_bytes()));
            M::advance(&mut state, s.iota());
            state
        }
    }
}

/// Steps on whole wide values from byte `at` on; returns where it stopped.
#[inline(always)]
fn run<S: Isa, M: Sweep>(c: &Uniform<'_, S>, job: &Job, mut at: usize, feed: &mut Block) -> usize {
    let s = c.s;
    let width = S::LANES * 16;
    if job.len - at < width {
        return at;
    }
    let stride = s.splat(&(S::LANES as u128).to_le_bytes());
    let zero = s.splat(&[0; 16]);
    let mut next = state::<S, M>(c, feed, at, zero);
    let mut before = s.splat(feed);
    while job.len - at >= width {
        // SAFETY: `width` bytes are left from `at` on.
        unsafe {
            let x = s.load(job.src.add(at));
            if matches!(M::FEED, Feed::Input) {
                let shifted = s.shift_in(before, x);
                next = M::State::from_fn(
                    #[inline(always)]
                    |_| shifted,
                );
                before = x;
            }
            let mut now = next;
            let y = M::step(c, &mut now, x);
            s.store(y, job.dst.add(at));
        }
        if matches!(M::FEED, Feed::Counter) {
            M::advance(&mut next, stride);
        }
        at += width;
    }
    if matches!(M::FEED, Feed::Input) {
        *feed = s.last(before);
    }
    at
}

/// The last bytes, fewer than a wide value has.
#[inline(always)]
fn rest<S: Isa, M: Sweep>(c: &Uniform<'_, S>, job: &Job, at: usize, feed: &Block) {
    let s = c.s;
    let len = job.len - at;
    let pads = matches!(M::LENGTHS, Lengths::Padded);
    if len == 0 && !pads {
        return;
    }
    // SAFETY: `len` bytes are left from `at` on; a padded message's destination
    // has room for whole blocks.
    unsafe {
        let from = job.src.wrapping_add(at);
        let to = job.dst.wrapping_add(at);
        if pads {
            let mut blocks = [[0; 16]; 4];
            let whole = len / 16;
            for (i, block) in blocks.iter_mut().enumerate().take(whole) {
                *block = from.add(i * 16).cast::<Block>().read();
            }
            let left = s.load_bytes(from.wrapping_add(whole * 16), len % 16);
            blocks[whole] = padded::<M>(left, len % 16);
            let x = s.load(blocks.as_ptr().cast());
            let mut now = state::<S, M>(c, feed, at, x);
            let y = M::step(c, &mut now, x);
            s.store(y, blocks.as_mut_ptr().cast());
            for (i, block) in blocks.iter().enumerate().take(whole + 1) {
                to.add(i * 16).cast::<Block>().write(*block);
            }
        } else {
            let x = s.load_part(from, len);
            let mut now = state::<S, M>(c, feed, at, x);
            let y = M::step(c, &mut now, x);
            s.store_part(y, to, len);
        }
    }
}

/// The last `len` bytes of a message as the finish wants them.
#[inline(always)]
fn padded<M: Sweep>(block: Block, len: usize) -> Block {
    match M::LENGTHS.padding() {
        Some(padding) => {
            (u128::from_ne_bytes(block) ^ u128::from_ne_bytes(padding[len])).to_ne_bytes()
        }
        None => block,
    }
}

/// Does the whole message block after block. `S` has one lane.
///
/// ```text
/// state = begin(nonce)
/// for each block x:      output step(state, x)
/// if bytes are left:     output finish(state, last)
/// ```
#[inline(always)]
pub(crate) fn chain<S: Isa, M: Sweep>(s: S, key: &Key, job: &Job) {
    let keys = &s.keys(key);
    let c = &Uniform::new(s, keys, key);
    let mut nonce = s.splat(&[0; 16]);
    if M::NONCE {
        // SAFETY: the mode's nonce has 16 bytes.
        nonce = s.splat(&unsafe { job.nonce.cast::<Block>().read() });
    }
    let mut state = M::begin(c, nonce);
    let end = M::LENGTHS.rows(job.len) * 16;
    let tag_only = matches!(M::LENGTHS, Lengths::TagOnly);
    let mut at = 0;
    while at < end {
        // SAFETY: a block is left from `at` on.
        unsafe {
            let y = M::step(c, &mut state, s.load(job.src.add(at)));
            if !tag_only {
                s.store(y, job.dst.add(at));
            }
        }
        at += 16;
    }
    let len = job.len - end;
    if matches!(M::LENGTHS, Lengths::WholeBlocks)
        || matches!(M::LENGTHS, Lengths::AnyLength) && len == 0
    {
        return;
    }
    // SAFETY: `len` bytes are left; a padded message's destination has room for
    // whole blocks, and a tag has `tag_len` bytes.
    unsafe {
        let left = s.load_bytes(job.src.wrapping_add(end), len);
        let last = Last {
            block: s.splat(&padded::<M>(left, len)),
            partial: s.splat(&[if len < 16 { 0xff } else { 0 }; 16]),
        };
        let y = s.last(M::finish(c, state, last));
        match M::LENGTHS {
            Lengths::TagOnly => s.store_bytes(&y, job.tag, job.tag_len as usize),
            Lengths::Padded => s.store_bytes(&y, job.dst.wrapping_add(end), 16),
            _ => s.store_bytes(&y, job.dst.wrapping_add(end), len),
        }
    }
}
