//! Work that several threads share.

use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};
use std::thread;

/// What a message costs beside its bytes, in bytes.
const PER_MESSAGE: usize = 128;
/// What a thread must have to do, in bytes, so that starting it is worth it.
const WORTH: usize = 2 << 20;
/// Shares for each thread: who is done early takes another.
const SHARES: usize = 4;

/// Threads, as many as a batch of so many messages and bytes pays for.
pub fn worth(threads: NonZeroUsize, messages: usize, bytes: usize) -> usize {
    let cost = bytes.saturating_add(messages.saturating_mul(PER_MESSAGE));
    threads.get().min(cost / WORTH).max(1)
}

/// Stretches of so many messages, each of whole pieces but the last.
pub fn shares(threads: usize, messages: usize, piece: usize) -> Vec<Range<usize>> {
    let pieces = messages.div_ceil(piece).div_ceil(threads * SHARES);
    let step = (pieces * piece).max(1);
    let starts = (0..messages).step_by(step);
    starts
        .map(|start| start..messages.min(start + step))
        .collect()
}

/// Runs all shares on so many threads, of which the caller's is one: results in the order of
/// the shares. The others end with the call, so that nothing of them is missing in a process
/// that is forked later.
pub fn together<S: Send, R: Send>(
    threads: usize,
    shares: Vec<S>,
    run: impl Fn(S) -> R + Sync,
) -> Vec<R> {
    let done = Mutex::new(Vec::with_capacity(shares.len()));
    let left = Mutex::new(shares.into_iter().enumerate());
    let work = || {
        let next = || left.lock().unwrap_or_else(PoisonError::into_inner).next();
        while let Some((i, share)) = next() {
            let result = run(share);
            let mut done = done.lock().unwrap_or_else(PoisonError::into_inner);
            done.push((i, result));
        }
    };
    thread::scope(|scope| {
        for _ in 1..threads {
            // With fewer threads it only takes longer.
            if thread::Builder::new().spawn_scoped(scope, work).is_err() {
                break;
            }
        }
        work();
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|(i, _)| *i);
    done.into_iter().map(|(_, result)| result).collect()
}
