//! Where messages lie in the buffers of a packed batch.

use crate::admission::{SIGN, in_vectors};
use crate::error::{Allowed, Error, Field, Given};
use crate::job::Job;
use core::ops::Range;

mod sealed {
    pub trait Sealed {}
}

/// A type of offsets into a packed buffer: `u32`, `i32`, `u64`, `i64`, `usize`.
pub trait Offset: Copy + Send + Sync + sealed::Sealed {
    #[doc(hidden)]
    fn get(self) -> Option<usize>;
}

macro_rules! offset {
    ($($t:ty)*) => {$(
        impl sealed::Sealed for $t {}
        impl Offset for $t {
            #[inline(always)]
            fn get(self) -> Option<usize> {
                usize::try_from(self).ok()
            }
        }
    )*};
}
offset!(u32 i32 u64 i64 usize);

/// Where messages lie in a buffer.
#[derive(Clone, Copy, Debug)]
pub enum Layout<'a, O> {
    /// One after the other: message `i` is from `offsets[i]` to
    /// `offsets[i + 1]`, as in an Arrow binary column.
    Offsets(&'a [O]),
    /// Message `i` begins at `starts[i]` and has `lengths[i]` bytes; they are in
    /// ascending order and do not overlap.
    Slots {
        /// First byte of every message.
        starts: &'a [O],
        /// Bytes of every message.
        lengths: &'a [O],
    },
    /// Message `i` begins at `i * stride` and has `lengths[i]` bytes, as in a
    /// ring of packets.
    Ring {
        /// Bytes from one message's beginning to the next one's.
        stride: usize,
        /// Bytes of every message, at most `stride` each.
        lengths: &'a [O],
    },
}

/// See [`Layout::place`].
type Place = (usize, usize, usize, usize);

/// `$body` with `$layout` of a kind that is known: it is asked for once for all messages.
macro_rules! by_layout {
    ($of:expr, $layout:ident => $body:expr) => {
        match $of {
            $layout @ Layout::Offsets(_) => $body,
            $layout @ Layout::Slots { .. } => $body,
            $layout @ Layout::Ring { .. } => $body,
        }
    };
}

pub(crate) use by_layout;

impl<'a, O: Offset> Layout<'a, O> {
    pub(crate) fn len(&self) -> usize {
        match self {
            Layout::Offsets(offsets) => offsets.len().saturating_sub(1),
            Layout::Slots { lengths, .. } | Layout::Ring { lengths, .. } => lengths.len(),
        }
    }

    /// The layout of some of the messages, and how many bytes of the buffer lie before it.
    pub(crate) fn part(&self, range: &Range<usize>) -> (Layout<'a, O>, usize) {
        match *self {
            Layout::Offsets(offsets) => (Layout::Offsets(&offsets[range.start..=range.end]), 0),
            Layout::Slots { starts, lengths } => {
                let (starts, lengths) = (&starts[range.clone()], &lengths[range.clone()]);
                (Layout::Slots { starts, lengths }, 0)
            }
            Layout::Ring { stride, lengths } => {
                let lengths = &lengths[range.clone()];
                let start = range.start.saturating_mul(stride);
                (Layout::Ring { stride, lengths }, start)
            }
        }
    }

    /// Start, length and room of message `i` in a buffer that ends at `end`; the last result
    /// has [`SIGN`] set where [`Layout::check`] refuses it, and is made without a branch for
    /// each rule. No buffer has so many bytes: lengths that have it are wrong, and so are
    /// differences that fall below zero.
    #[inline(always)]
    pub(crate) fn place(&self, i: usize, end: usize) -> Place {
        let mut place = (0, 0, 0, 0);
        let of_all = self.walk(i..i + 1, end, core::iter::once(()), |(), of_i| place = of_i);
        (place.0, place.1, place.2, place.3 | of_all)
    }

    /// The same of messages `range`, in their order, each with one of `them`; all are inside the
    /// buffer only if the result has no [`SIGN`], either.
    #[inline(always)]
    pub(crate) fn walk<T>(
        &self,
        range: Range<usize>,
        end: usize,
        them: impl Iterator<Item = T>,
        mut f: impl FnMut(T, Place),
    ) -> usize {
        let get = |offset: O| offset.get().unwrap_or(usize::MAX);
        match *self {
            Layout::Offsets(offsets) => {
                let first = get(offsets[range.start]);
                let mut from = first;
                for (to, it) in offsets[range.start + 1..=range.end].iter().zip(them) {
                    let to = get(*to);
                    let len = to.wrapping_sub(from);
                    f(it, (from, len, len, to | len));
                    from = to;
                }
                // Without SIGN in any `to` and length, offsets ascend, and the last bounds all.
                first | end.wrapping_sub(from)
            }
            Layout::Slots { starts, lengths } => {
                // It was found good before.
                let mut before = match range.start {
                    0 => 0,
                    i => get(starts[i - 1]).wrapping_add(get(lengths[i - 1])),
                };
                let of_starts = starts[range.clone()].iter();
                for ((start, len), it) in of_starts.zip(&lengths[range]).zip(them) {
                    let (start, len) = (get(*start), get(*len));
                    let left = end.wrapping_sub(start);
                    let wrong = start | len | left | left.wrapping_sub(len);
                    f(it, (start, len, len, wrong | start.wrapping_sub(before)));
                    before = start.wrapping_add(len);
                }
                0
            }
            Layout::Ring { stride, lengths } => {
                let mut start = range.start.saturating_mul(stride);
                let most = stride.min(SIGN - 1);
                let ends = range.end.saturating_sub(1).checked_mul(stride).is_some();
                for (len, it) in lengths[range].iter().zip(them) {
                    let len = get(*len);
                    let left = end.wrapping_sub(start);
                    let wrong = start | len | left | left.wrapping_sub(len);
                    f(
                        it,
                        (start, len, most.min(left), wrong | most.wrapping_sub(len)),
                    );
                    start = start.wrapping_add(stride);
                }
                // A start that overflows is wrong, but may not look so.
                if ends { 0 } else { SIGN }
            }
        }
    }

    /// Walks over messages `range`, whose starts and lengths are `put` into `jobs`, if there are any.
    /// `least`: the fewest bytes of one. A function of its own for each column: few values are in use
    /// at a time.
    #[inline(never)]
    pub(crate) fn column(
        &self,
        range: Range<usize>,
        end: usize,
        least: usize,
        jobs: &mut [Job],
        mut put: impl FnMut(&mut Job, usize, usize),
    ) -> Column {
        let about = (end, self.place(range.start, end).1, least);
        if range.len() >= FEW {
            let (range, put) = (range.clone(), &mut put);
            let column = in_vectors(
                #[inline(always)]
                || self.look_then_put(range, about, jobs, put),
            );
            if let Some(column) = column {
                return column;
            }
        }
        match jobs.is_empty() {
            true => self.look(range, about, core::iter::repeat(()), |(), _| ()),
            false => self.look(
                range,
                about,
                jobs.iter_mut(),
                #[inline(always)]
                |job, (start, len, _)| put(job, start, len),
            ),
        }
    }

    /// The same for many messages: some are looked at together, and then put into their jobs.
    #[inline(always)]
    fn look_then_put(
        &self,
        range: Range<usize>,
        about: (usize, usize, usize),
        jobs: &mut [Job],
        put: &mut impl FnMut(&mut Job, usize, usize),
    ) -> Column {
        if jobs.is_empty() {
            return self.look(range, about, core::iter::repeat(()), |(), _| ());
        }
        let (mut starts, mut lengths) = ([0; TOGETHER], [0; TOGETHER]);
        let mut column = Column::default();
        for (first, jobs) in range.step_by(TOGETHER).zip(jobs.chunks_mut(TOGETHER)) {
            let n = jobs.len();
            let (starts, lengths) = (&mut starts[..n], &mut lengths[..n]);
            let them = starts.iter_mut().zip(&mut *lengths);
            let more = self.look(
                first..first + n,
                about,
                them,
                #[inline(always)]
                |(to_start, to_len), (start, len, _)| (*to_start, *to_len) = (start, len),
            );
            column.add(more);
            for ((job, start), len) in jobs.iter_mut().zip(starts).zip(lengths) {
                put(job, *start, *len);
            }
        }
        column
    }

    /// The same, with one of `them` for each message: start, length and room are `put` there. `about` has
    /// the buffer's end, the first length of all and the least.
    #[inline(always)]
    pub(crate) fn look<T>(
        &self,
        range: Range<usize>,
        (end, first, least): (usize, usize, usize),
        them: impl Iterator<Item = T>,
        mut put: impl FnMut(T, (usize, usize, usize)),
    ) -> Column {
        by_layout!(self, layout => {
            let mut column = Column::default();
            let of_all = layout.walk(range, end, them, |it, (start, len, room, bad)| {
                column.wrong |= bad | len.wrapping_sub(least);
                column.lengths |= len;
                column.differences |= len ^ first;
                put(it, (start, len, room));
            });
            column.wrong |= of_all;
            column
        })
    }

    /// What is wrong with the place of message `i` in a buffer that ends at `end`, if
    /// anything.
    pub(crate) fn check(&self, i: usize, end: usize) -> Result<(), Error> {
        let bad = |given: Option<usize>, allowed| {
            let given = given.map_or(Given::Negative, Given::Number);
            Err(Error::new(Field::Offset, given, allowed))
        };
        let (start, len) = match self {
            Layout::Offsets(offsets) => match (offsets[i].get(), offsets[i + 1].get()) {
                (Some(from), Some(to)) if from <= to => (from, to - from),
                (Some(from), Some(to)) => return bad(Some(to), Allowed::AtLeast(from)),
                _ => return bad(None, Allowed::AtMost(end)),
            },
            Layout::Slots { starts, lengths } => {
                let (Some(start), Some(len)) = (starts[i].get(), lengths[i].get()) else {
                    return bad(None, Allowed::AtMost(end));
                };
                if i > 0 {
                    // Its predecessor was found good before it.
                    let before =
                        starts[i - 1].get().unwrap_or(0) + lengths[i - 1].get().unwrap_or(0);
                    if start < before {
                        return bad(Some(start), Allowed::AtLeast(before));
                    }
                }
                (start, len)
            }
            Layout::Ring { stride, lengths } => {
                let Some(len) = lengths[i].get() else {
                    return bad(None, Allowed::AtMost(*stride));
                };
                if len > *stride {
                    return bad(Some(len), Allowed::AtMost(*stride));
                }
                (i.saturating_mul(*stride), len)
            }
        };
        if start > end || len > end - start {
            return bad(Some(start.saturating_add(len)), Allowed::AtMost(end));
        }
        Ok(())
    }
}

/// So many messages are checked together, by vectors, and copied first: columns are memory that another
/// program part may change, and jobs must get the values that were checked.
pub(crate) const TOGETHER: usize = 64;
/// Of fewer messages, each is checked and written to its job at once: the copy would take longer.
pub(crate) const FEW: usize = 32;

/// What was seen of texts or of associated data.
#[derive(Clone, Copy, Default)]
pub(crate) struct Column {
    /// Has [`SIGN`] set if one lies outside the buffer or is too short.
    pub wrong: usize,
    /// Bits of lengths.
    pub lengths: usize,
    /// Bits in which lengths differ.
    pub differences: usize,
}

impl Column {
    #[inline(always)]
    pub(crate) fn add(&mut self, more: Column) {
        self.wrong |= more.wrong;
        self.lengths |= more.lengths;
        self.differences |= more.differences;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;
    use alloc::vec::Vec;

    const MOST: u64 = i64::MAX as u64;
    /// Offsets and lengths about the ends of buffers and of types.
    const NUMBERS: [u64; 12] = [
        0,
        1,
        15,
        16,
        17,
        99,
        100,
        101,
        MOST - 1,
        MOST,
        MOST + 1,
        u64::MAX,
    ];

    /// Sums and differences of lengths overflow in `place`; what it says must be what `check`
    /// says, wherever the message before is good.
    #[test]
    fn places_are_wrong_where_they_are_refused() {
        let agree = |layout: Layout<'_, u64>, i: usize, end: usize| {
            let (start, len, room, wrong) = layout.place(i, end);
            let refused = layout.check(i, end).is_err();
            assert_eq!(wrong & SIGN != 0, refused, "{layout:?} {i} {end}");
            assert!(refused || start + len <= end && len <= room && start + room <= end);
        };
        for end in [0, 16, 100, isize::MAX as usize] {
            for a in NUMBERS {
                for b in NUMBERS {
                    agree(Layout::Offsets(&[a, b]), 0, end);
                    let (starts, lengths) = ([a, 16], [b, 16]);
                    let slots = Layout::Slots {
                        starts: &starts,
                        lengths: &lengths,
                    };
                    agree(slots, 0, end);
                    if slots.check(0, end).is_ok() {
                        agree(slots, 1, end);
                    }
                    for i in [0, 1] {
                        let stride = a as usize;
                        let lengths = &[b, b];
                        agree(Layout::Ring { stride, lengths }, i, end);
                    }
                }
            }
        }
    }

    /// A walk over several messages finds wrong what is wrong with any of them.
    #[test]
    fn walks_find_what_is_refused() {
        let seen = |layout: &Layout<'_, u64>, range, end| {
            layout.column(range, end, 0, &mut [], |_, _, _| ()).wrong
        };
        for end in [0, 16, 100, isize::MAX as usize] {
            for a in NUMBERS {
                for b in NUMBERS {
                    for c in NUMBERS {
                        for d in NUMBERS {
                            let offsets = [a, b, c, d];
                            let layout = Layout::Offsets(&offsets);
                            let wrong = seen(&layout, 0..3, end);
                            let refused = (0..3).any(|i| layout.check(i, end).is_err());
                            assert_eq!(wrong & SIGN != 0, refused, "{offsets:?} {end}");
                            let (starts, lengths) = (&[a, b], &[c, d]);
                            let stride = a as usize;
                            for layout in [
                                Layout::Slots { starts, lengths },
                                Layout::Ring { stride, lengths },
                            ] {
                                let wrong = seen(&layout, 0..2, end);
                                let refused = (0..2).any(|i| layout.check(i, end).is_err());
                                assert_eq!(wrong & SIGN != 0, refused, "{layout:?} {end}");
                            }
                        }
                    }
                }
            }
        }
    }

    /// Jobs get the places of all messages, however many are looked at together, and any message that
    /// is wrong or too short is found.
    #[test]
    fn columns_are_put_and_seen() {
        const MOST: usize = 150;
        fn layouts<'a>(
            starts: &'a [u32],
            lengths: &'a [u32],
            offsets: &'a [u32],
        ) -> [Layout<'a, u32>; 3] {
            let stride = 12;
            [
                Layout::Slots { starts, lengths },
                Layout::Ring { stride, lengths },
                Layout::Offsets(offsets),
            ]
        }
        let lengths: Vec<u32> = (0..MOST as u32).map(|i| 4 + i % 7).collect();
        let starts: Vec<u32> = (0..MOST as u32).map(|i| 12 * i + i % 3).collect();
        let offsets: Vec<u32> = (0..=MOST as u32).map(|i| 4 * i + i % 2).collect();
        let end = 12 * MOST;
        let wrong_of = |layout: &Layout<'_, u32>, range: Range<usize>, least| {
            let mut jobs = vec![Job::NONE; range.len()];
            let put = |job: &mut Job, start, len| (job.src_len, job.len) = (start, len);
            let column = layout.column(range.clone(), end, least, &mut jobs, put);
            for (job, i) in jobs.iter().zip(range.clone()) {
                let (start, len, ..) = layout.place(i, end);
                assert_eq!((job.src_len, job.len), (start, len), "{i}");
            }
            let seen = layout.column(range, end, least, &mut [], put);
            assert_eq!(seen.wrong & SIGN, column.wrong & SIGN);
            assert_eq!(seen.lengths, column.lengths);
            assert_eq!(seen.differences, column.differences);
            column.wrong & SIGN != 0
        };
        for range in [0..1, 0..31, 0..32, 0..64, 3..67, 0..65, 0..MOST, 20..MOST] {
            for layout in layouts(&starts, &lengths, &offsets) {
                for i in range.clone() {
                    let (start, len) = match layout {
                        Layout::Slots { .. } => (starts[i], lengths[i]),
                        Layout::Ring { .. } => (12 * i as u32, lengths[i]),
                        Layout::Offsets(_) => (offsets[i], offsets[i + 1] - offsets[i]),
                    };
                    let (to, bytes, ..) = layout.place(i, end);
                    assert_eq!((to, bytes), (start as usize, len as usize), "{i}");
                }
                assert!(!wrong_of(&layout, range.clone(), 3), "{range:?}");
                assert!(wrong_of(&layout, range.clone(), 12), "{range:?}");
            }
            for i in range.clone() {
                let mut lengths = lengths.clone();
                lengths[i] = end as u32 + 1;
                let mut offsets = offsets.clone();
                offsets[i] = end as u32 + 1;
                for layout in layouts(&starts, &lengths, &offsets) {
                    assert!(wrong_of(&layout, range.clone(), 0), "{range:?} {i}");
                }
            }
        }
    }
}
