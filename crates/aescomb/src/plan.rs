//! The comb scheduler of Bogdanov, Lauridsen and Tischhauser, "Comb to Pipeline:
//! Fast Software Encryption Revisited" (FSE 2015): Algorithm 1
//! ([`comb_scheduler`]) and Algorithm 2 ([`precompute_windows`]).
//!
//! A group of up to P messages of similar length is worked on side by side, one
//! block of each in turn. The only decisions are made between *windows*: runs of
//! rows in which the same messages take part.
//!
//! ```text
//! sort the messages by decreasing length
//! for each group of P:
//!     begin all messages of the group
//!     for each window (lanes, rows):
//!         do the next `rows` blocks of the first `lanes` messages, row by row
//!     finish all messages of the group
//! ```
//!
//! Departures from the paper, each measured (docs/experiments.md, "The scheduler"):
//! - a batch is done in stretches of some hundred messages, which fit the caches;
//! - sorting is one pass that hangs every message in the bucket of its length,
//!   and taking from the longest bucket on; nothing is counted or moved, and nothing
//!   is sorted where all messages are equal;
//! - windows are computed one by one while the group runs;
//! - where texts of a full group lie at one place of a page, the first window is done in
//!   phases, the lanes of each a line of the cache behind those of the one before it, or
//!   rows are done in memory where lanes do not displace each other's lines;
//! - blocks that are left over (partial blocks, padding, the last block of a
//!   MAC) are done for the whole group together when it is finished, so that
//!   short messages are interleaved to their last byte.

use alloc::vec::Vec;

/// A run of rows: the same messages, the same number of blocks of each.
///
/// ```
/// let windows: Vec<_> = aescomb::plan::precompute_windows(&[5, 2]).collect();
/// assert_eq!((windows[0].lanes, windows[0].rows), (2, 2));
/// assert_eq!((windows[1].lanes, windows[1].rows), (1, 3));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// How many messages take part: the first ones, which are the longest.
    pub lanes: usize,
    /// How many blocks of each of them are done.
    pub rows: usize,
}

/// Algorithm 2, PRECOMPUTEWINDOWS: parallelism levels and window lengths for
/// messages of `lengths` blocks, given in decreasing order.
///
/// The paper's Figure 1:
/// ```
/// use aescomb::plan::{Window, precompute_windows};
/// let sorted = [94, 94, 94, 85, 5, 5, 5];
/// let windows: Vec<_> = precompute_windows(&sorted).collect();
/// assert_eq!(
///     windows,
///     [
///         Window { lanes: 7, rows: 5 },
///         Window { lanes: 4, rows: 80 },
///         Window { lanes: 3, rows: 9 },
///     ]
/// );
/// ```
///
/// # Panics
/// If `lengths` are not in decreasing order.
pub fn precompute_windows(lengths: &[usize]) -> impl Iterator<Item = Window> {
    assert!(
        lengths.is_sorted_by(|a, b| a >= b),
        "lengths must be in decreasing order"
    );
    let mut windows = Windows::new(lengths.len());
    core::iter::from_fn(move || windows.next(lengths))
}

/// Algorithm 2 as the engine runs it, one window at a time.
pub(crate) struct Windows {
    lanes: usize,
    done: usize,
}

impl Windows {
    #[inline(always)]
    pub(crate) fn new(lanes: usize) -> Self {
        Windows::after(lanes, 0)
    }

    /// Those after the first `done` rows, which all have.
    #[inline(always)]
    pub(crate) fn after(lanes: usize, done: usize) -> Self {
        Windows { lanes, done }
    }

    /// The next window; `lengths` in decreasing order, the same at every call.
    #[inline]
    pub(crate) fn next(&mut self, lengths: &[usize]) -> Option<Window> {
        if lengths.first().is_none_or(|most| *most == self.done) {
            return None;
        }
        while lengths[self.lanes - 1] == self.done {
            self.lanes -= 1;
        }
        let rows = lengths[self.lanes - 1] - self.done;
        self.done += rows;
        Some(Window {
            lanes: self.lanes,
            rows,
        })
    }
}

/// A group of messages that are worked on side by side.
///
/// ```
/// let groups = aescomb::plan::comb_scheduler(&[1, 7, 7, 1], 2);
/// assert_eq!(groups[0].messages.len(), 2);
/// assert_eq!(groups[0].windows[0].rows, 7);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// Places of its messages in the caller's list, longest first.
    pub messages: Vec<usize>,
    /// Its windows.
    pub windows: Vec<Window>,
}

/// Algorithm 1, COMBSCHEDULER, as a plan: what the engine does with messages of
/// `lengths` blocks and a parallelism degree of `degree`.
///
/// ```
/// let groups = aescomb::plan::comb_scheduler(&[3, 9, 3], 2);
/// assert_eq!(groups.len(), 2);
/// assert_eq!(groups[0].messages, [1, 0]);
/// ```
///
/// # Panics
/// If `degree` is 0 or there are 2^32 messages or more.
pub fn comb_scheduler(lengths: &[usize], degree: usize) -> Vec<Group> {
    assert!(degree > 0, "a group needs room for a message");
    let mut queue = Queue::default();
    let mut queue = queue.fill(lengths, false, |blocks| Some((0, *blocks)));
    let mut groups = Vec::new();
    while queue.len() > 0 {
        let mut messages = Vec::new();
        queue.take(degree, |_, i| messages.push(i as usize));
        // Buckets of long messages are only nearly in order.
        messages.sort_by_key(|i| core::cmp::Reverse(lengths[*i]));
        let sorted: Vec<usize> = messages.iter().map(|i| lengths[*i]).collect();
        groups.push(Group {
            windows: precompute_windows(&sorted).collect(),
            messages,
        });
    }
    groups
}

/// Lengths below this have a bucket each; above, eight buckets share an octave.
const EXACT: usize = 256;
const EXACT_LOG: usize = EXACT.ilog2() as usize;
/// Buckets for all lengths that fit in memory.
const BUCKETS: usize = EXACT + (usize::BITS as usize - EXACT_LOG) * 8;
/// Messages of different classes (key sizes) never share a group.
const CLASSES: usize = 3;
const NONE: u32 = u32::MAX;

/// Messages hung in buckets by length: pushing and taking cost a few
/// instructions each, and nothing is allocated once it has grown.
pub(crate) struct Queue {
    /// First message of every bucket.
    head: Vec<u32>,
    /// The message after each message in its bucket.
    next: Vec<u32>,
    len: usize,
}

impl Default for Queue {
    fn default() -> Self {
        Queue {
            head: alloc::vec![NONE; CLASSES * BUCKETS],
            next: Vec::new(),
            len: 0,
        }
    }
}

#[inline(always)]
fn bucket(rows: usize) -> usize {
    if rows < EXACT {
        rows
    } else {
        let log = rows.ilog2() as usize;
        EXACT + (log - EXACT_LOG) * 8 + (rows >> (log - 3) & 7)
    }
}

impl Queue {
    /// Takes those of `messages` of which `of` gives class and blocks, to give them back longest
    /// first; all, and in their order, where they are `equal`.
    #[inline(always)]
    pub(crate) fn fill<T>(
        &mut self,
        messages: &[T],
        equal: bool,
        of: impl Fn(&T) -> Option<(usize, usize)>,
    ) -> Drain<'_> {
        let n = messages.len();
        if self.len != 0 {
            // An earlier call was left in the middle.
            self.head.fill(NONE);
        }
        if self.next.len() < n {
            self.next.resize(n, NONE);
        }
        // Not in memory: the next message would wait for it there.
        let mut top = 0;
        let mut len = n;
        if !equal {
            let head = &mut self.head[..CLASSES * BUCKETS];
            // The last first, so that a bucket's messages come out in the caller's order.
            for ((i, message), next) in messages.iter().enumerate().zip(&mut self.next[..n]).rev() {
                let Some((class, rows)) = of(message) else {
                    len -= 1;
                    continue;
                };
                let b = class * BUCKETS + bucket(rows);
                *next = head[b];
                head[b] = i as u32;
                top = top.max(b);
            }
        }
        self.len = len;
        Drain {
            equal: equal.then_some(0),
            first: NONE,
            top: top + 1,
            queue: self,
        }
    }
}

/// The messages of a [`Queue`], longest first.
pub(crate) struct Drain<'a> {
    queue: &'a mut Queue,
    /// Where all messages are equal, and no bucket has any: the next one.
    equal: Option<u32>,
    /// The bucket that is being emptied, and its first message.
    top: usize,
    first: u32,
}

impl Drain<'_> {
    /// How many messages are left.
    #[inline(always)]
    pub(crate) fn len(&self) -> usize {
        self.queue.len
    }

    /// The message that comes after `n` others.
    pub(crate) fn nth(&self, n: usize) -> Option<u32> {
        self.iter().nth(n)
    }

    /// The messages that are left.
    #[inline(always)]
    pub(crate) fn iter(&self) -> impl Iterator<Item = u32> {
        let Queue { head, next, len } = &*self.queue;
        let (mut equal, mut top, mut first) = (self.equal, self.top, self.first);
        (0..*len).map(
            #[inline(always)]
            move |_| {
                if let Some(equal) = &mut equal {
                    *equal += 1;
                    return *equal - 1;
                }
                while first == NONE {
                    top -= 1;
                    first = head[top];
                }
                let message = first;
                first = next[message as usize];
                message
            },
        )
    }
}

impl Drain<'_> {
    /// Takes the longest messages, at most `room`, all of the class of the first one, longest first or
    /// nearly, and calls `to` with the number and place of each; how many there were.
    #[inline(always)]
    pub(crate) fn take(&mut self, room: usize, mut to: impl FnMut(usize, u32)) -> usize {
        let Queue { head, next, len } = &mut *self.queue;
        let room = room.min(*len);
        if let Some(equal) = &mut self.equal {
            for n in 0..room {
                to(n, *equal + n as u32);
            }
            *equal += room as u32;
            *len -= room;
            return room;
        }
        if room == 0 {
            return 0;
        }
        let (head, next) = (&mut head[..], &next[..]);
        // Not in memory: the next message would wait for it there.
        let (mut top, mut first) = (self.top, self.first);
        while first == NONE {
            top -= 1;
            first = core::mem::replace(&mut head[top], NONE);
        }
        let floor = top - top % BUCKETS;
        let mut n = 0;
        'room: while n < room {
            while first == NONE {
                if top == floor {
                    break 'room;
                }
                top -= 1;
                first = core::mem::replace(&mut head[top], NONE);
            }
            let message = first;
            first = next[message as usize];
            to(n, message);
            n += 1;
        }
        *len -= n;
        (self.top, self.first) = (top, first);
        n
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figure_1() {
        let groups = comb_scheduler(&[94, 5, 5, 5, 85, 94, 94], 7);
        assert_eq!(groups.len(), 1);
        let windows: Vec<_> = groups[0]
            .windows
            .iter()
            .map(|w| (w.lanes, w.rows))
            .collect();
        assert_eq!(windows, [(7, 5), (4, 80), (3, 9)]);
    }

    /// Every message is planned once, in decreasing order, and its windows add
    /// up to its length.
    #[test]
    fn plans_cover_every_block() {
        let mut seed = 1u64;
        let mut draw = move |n: usize| {
            seed = seed
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            (seed >> 33) as usize % n
        };
        for round in 0..300 {
            let count = draw(70);
            let top = [3, 40, 300, 100_000][round % 4];
            let lengths: Vec<usize> = (0..count).map(|_| draw(top)).collect();
            let degree = 1 + draw(20);
            let mut seen = alloc::vec![0; count];
            let mut previous = usize::MAX;
            for group in comb_scheduler(&lengths, degree) {
                assert!(group.messages.len() <= degree);
                for (place, i) in group.messages.iter().enumerate() {
                    seen[*i] += 1;
                    let done: usize = group
                        .windows
                        .iter()
                        .filter(|w| w.lanes > place)
                        .map(|w| w.rows)
                        .sum();
                    assert_eq!(done, lengths[*i]);
                    if lengths[*i] < EXACT {
                        assert!(lengths[*i] <= previous);
                        previous = lengths[*i];
                    }
                }
            }
            assert!(seen.iter().all(|n| *n == 1));
        }
    }

    #[test]
    fn lengths_that_are_no_windows() {
        assert_eq!(precompute_windows(&[]).count(), 0);
        assert_eq!(precompute_windows(&[0, 0]).count(), 0);
        assert!(comb_scheduler(&[], 4).is_empty());
    }

    #[test]
    fn buckets_are_in_order_and_in_range() {
        let mut last = 0;
        for log in 0..usize::BITS {
            for rows in [1usize << log, (1 << log) + (1 << log) / 2] {
                assert!(bucket(rows) >= last && bucket(rows) < BUCKETS);
                last = bucket(rows);
            }
        }
        assert!(bucket(usize::MAX) < BUCKETS);
    }
}
