//! Batches whose parts are columns of bytes one after the other, as Arrow has them: the
//! library goes by their offsets, and nothing is made of a message but the offset of its
//! result.

use crate::batch::{PIECE, with_comb};
use crate::errors;
use crate::keys::Keyed;
use crate::present::Chosen;
use crate::team;
use aescomb::{Error, Keys, Layout, MessageResult, Offset, Op, Packed, Status, Text};
use arrow_array::OffsetSizeTrait;
use pyo3::PyResult;
use std::borrow::Cow;
use std::mem::MaybeUninit;
use std::num::NonZeroUsize;
use std::ops::Range;

/// Values in one stretch of memory.
pub(crate) struct Values<'a, O: Clone> {
    pub(crate) bytes: Cow<'a, [u8]>,
    pub(crate) places: Places<'a, O>,
}

impl<'a, O: OffsetSizeTrait> Values<'a, O> {
    /// The values without so many bytes at the beginning, and these; if all have `least`
    /// bytes, or more.
    pub(crate) fn behind(self, width: usize, least: usize) -> Option<(Values<'a, O>, Flat<'a>)> {
        let step = O::usize_as(width);
        let (mut starts, mut lengths) = match self.places {
            Places::Slots(starts, lengths) => (starts, lengths),
            Places::Offsets(offsets) => {
                let lengths = offsets.windows(2).map(|pair| pair[1] - pair[0]).collect();
                (offsets[..offsets.len() - 1].to_vec(), lengths)
            }
        };
        if lengths.iter().any(|len: &O| len.as_usize() < least) {
            return None;
        }
        let mut front = Vec::with_capacity(starts.len() * width);
        for (start, len) in starts.iter_mut().zip(&mut lengths) {
            front.extend_from_slice(&self.bytes[start.as_usize()..][..width]);
            *start += step;
            *len = *len - step;
        }
        let rest = Values {
            bytes: self.bytes,
            places: Places::Slots(starts, lengths),
        };
        let bytes = Cow::Owned(front);
        Some((rest, Flat { bytes, width }))
    }

    /// No values.
    pub(crate) fn none() -> Self {
        let places = Places::Offsets(Cow::Owned(vec![O::usize_as(0)]));
        let bytes = Cow::Borrowed(&[][..]);
        Values { bytes, places }
    }
}

/// Where values lie, in ascending order.
pub(crate) enum Places<'a, O: Clone> {
    /// One after the other: `i` is from `offsets[i]` to `offsets[i + 1]`.
    Offsets(Cow<'a, [O]>),
    /// Where they begin, and how long they are.
    Slots(Vec<O>, Vec<O>),
}

impl<O: Offset + OffsetSizeTrait> Places<'_, O> {
    fn piece(&self, range: Range<usize>) -> Layout<'_, O> {
        match self {
            Places::Offsets(offsets) => Layout::Offsets(&offsets[range.start..=range.end]),
            Places::Slots(starts, lengths) => Layout::Slots {
                starts: &starts[range.clone()],
                lengths: &lengths[range],
            },
        }
    }
}

impl<O: OffsetSizeTrait> Places<'_, O> {
    /// Those of these values, counted from `start` on, and where the last ends.
    fn part(&self, values: Range<usize>, start: usize) -> (Places<'static, O>, usize) {
        let from = O::usize_as(start);
        let moved = |places: &[O]| places.iter().map(|place| *place - from).collect();
        match self {
            Places::Offsets(offsets) => {
                let end = offsets[values.end].as_usize();
                let offsets: Vec<O> = moved(&offsets[values.start..=values.end]);
                (Places::Offsets(offsets.into()), end)
            }
            Places::Slots(starts, lengths) => {
                let last = values.end - 1;
                let end = starts[last].as_usize() + lengths[last].as_usize();
                let starts = moved(&starts[values.clone()]);
                (Places::Slots(starts, lengths[values].to_vec()), end)
            }
        }
    }
}

/// Values of one length, one after the other.
pub(crate) struct Flat<'a> {
    pub(crate) bytes: Cow<'a, [u8]>,
    pub(crate) width: usize,
}

impl<'a> Flat<'a> {
    /// Of the values of a stretch, those of the rows that have a message.
    pub(crate) fn chosen(bytes: &'a [u8], width: usize, rows: Chosen<'_>) -> Self {
        let bytes = match rows.are_all() {
            true => Cow::Borrowed(bytes),
            false => {
                let mut chosen = Vec::with_capacity(rows.count() * width);
                for i in rows.places() {
                    chosen.extend_from_slice(&bytes[i * width..(i + 1) * width]);
                }
                Cow::Owned(chosen)
            }
        };
        Flat { bytes, width }
    }
}

/// A batch.
pub(crate) struct Columns<'a, O: Clone> {
    pub(crate) texts: Values<'a, O>,
    pub(crate) count: usize,
    pub(crate) nonces: Option<Flat<'a>>,
    pub(crate) data: Option<Data<'a, O>>,
}

/// Associated data of a batch.
pub(crate) enum Data<'a, O: Clone> {
    Each(Values<'a, O>),
    /// The same for all messages, as often as a piece may have messages.
    Same(Values<'a, O>),
}

impl<O: Offset + OffsetSizeTrait> Data<'_, O> {
    /// For so many messages.
    pub(crate) fn same(data: &[u8], count: usize) -> Self {
        let count = count.min(PIECE);
        let offsets: Vec<O> = (0..=count).map(|i| O::usize_as(i * data.len())).collect();
        Data::Same(Values {
            bytes: data.repeat(count).into(),
            places: Places::Offsets(offsets.into()),
        })
    }
}

/// Where results go.
pub(crate) enum Target<'a, O: Clone> {
    /// To these places in the memory, with tags of so many bytes at their ends.
    Texts(Places<'a, O>, &'a mut [MaybeUninit<u8>], usize),
    /// Tags of so many bytes, one after the other, that are made or given.
    Tags(&'a mut [u8], usize),
}

impl<'a, O: OffsetSizeTrait> Target<'a, O> {
    /// Those of shares, which are one after the other from the first message on.
    fn split(self, shares: Vec<Range<usize>>) -> Vec<(Range<usize>, Target<'a, O>)> {
        match self {
            Target::Tags(mut bytes, width) => {
                let part = |share: Range<usize>| {
                    let (tags, rest) = std::mem::take(&mut bytes).split_at_mut(share.len() * width);
                    bytes = rest;
                    (share, Target::Tags(tags, width))
                };
                shares.into_iter().map(part).collect()
            }
            Target::Texts(places, mut memory, tag_bytes) => {
                let mut start = 0;
                let part = |share: Range<usize>| {
                    let (places, end) = places.part(share.clone(), start);
                    let (texts, rest) = std::mem::take(&mut memory).split_at_mut(end - start);
                    (memory, start) = (rest, end);
                    (share, Target::Texts(places, texts, tag_bytes))
                };
                shares.into_iter().map(part).collect()
            }
        }
    }
}

/// Indices of messages that failed; or an error, with the place of the first message of
/// the piece that was refused.
pub(crate) type Outcome = Result<Vec<usize>, (Error, usize)>;

impl<O: Offset + OffsetSizeTrait> Columns<'_, O> {
    /// Bytes of messages.
    pub(crate) fn bytes(&self) -> usize {
        match &self.texts.places {
            Places::Offsets(offsets) => offsets[self.count].as_usize() - offsets[0].as_usize(),
            Places::Slots(_, lengths) => lengths.iter().map(|len| len.as_usize()).sum(),
        }
    }

    /// Where results end that have `len` of the messages' bytes, from 0 on, and how many
    /// bytes they have together.
    pub(crate) fn results(&self, len: impl Fn(usize) -> usize) -> PyResult<(Vec<O>, usize)> {
        let mut ends = errors::room(self.count + 1)?;
        let mut end = 0;
        ends.push(O::usize_as(0));
        let mut push = |given: O| {
            end += len(given.as_usize());
            ends.push(O::usize_as(end));
        };
        match &self.texts.places {
            Places::Offsets(offsets) => offsets.windows(2).for_each(|pair| push(pair[1] - pair[0])),
            Places::Slots(_, lengths) => lengths.iter().for_each(|len| push(*len)),
        }
        Ok((ends, end))
    }

    /// Where the library writes the results that end there: behind their nonces, which are
    /// written here if they are `inline`.
    pub(crate) fn places<'e>(
        &self,
        inline: bool,
        ends: &'e [O],
        memory: &mut [MaybeUninit<u8>],
    ) -> Places<'e, O> {
        let (true, Some(Flat { bytes, width })) = (inline, &self.nonces) else {
            return Places::Offsets(ends.into());
        };
        let (mut starts, step) = (Vec::with_capacity(self.count), O::usize_as(*width));
        for (end, nonce) in ends.iter().zip(bytes.chunks_exact(*width)) {
            let front = &mut memory[end.as_usize()..][..*width];
            for (place, byte) in front.iter_mut().zip(nonce) {
                place.write(*byte);
            }
            starts.push(*end + step);
        }
        let lengths = starts.iter().zip(&ends[1..]);
        let lengths = lengths.map(|(start, end)| *end - *start).collect();
        Places::Slots(starts, lengths)
    }

    /// Does it on so many threads at most. `messages`: which of `keys` the messages have.
    pub(crate) fn run(
        &self,
        threads: NonZeroUsize,
        keys: &Keyed<'_>,
        messages: Range<usize>,
        op: Op,
        into: Target<'_, O>,
    ) -> Outcome {
        let first = messages.start;
        let keys = |range: Range<usize>| {
            let range = first + range.start..first + range.end;
            (keys.keys(), keys.places(range))
        };
        let threads = team::worth(threads, self.count, self.bytes());
        if threads == 1 {
            return self.run_share(&keys, op, 0..self.count, into);
        }
        let shares = into.split(team::shares(threads, self.count, PIECE));
        let outcomes = team::together(threads, shares, |(range, into)| {
            self.run_share(&keys, op, range, into)
        });
        let mut failed = Vec::new();
        for outcome in outcomes {
            failed.extend(outcome?);
        }
        Ok(failed)
    }

    /// Does these messages, piece by piece. `keys`: those of messages, and their places.
    fn run_share<'k>(
        &self,
        keys: &impl Fn(Range<usize>) -> (Keys<'k>, Option<&'k [u32]>),
        op: Op,
        share: Range<usize>,
        mut into: Target<'_, O>,
    ) -> Outcome {
        let n = share.len();
        let judged = matches!(op, Op::Open | Op::Verify);
        let mut results = vec![MessageResult::default(); if judged { n.min(PIECE) } else { 0 }];
        let mut failed = Vec::new();
        for start in share.clone().step_by(PIECE) {
            let end = share.end.min(start + PIECE);
            // In the share.
            let own = start - share.start..end - share.start;
            let texts = self.texts.places.piece(start..end);
            let mut batch = match &mut into {
                Target::Texts(places, memory, tag_bytes) => {
                    let text = Text::copy_uninit(&self.texts.bytes, memory);
                    Packed::new(text, texts)
                        .output(places.piece(own.clone()))
                        .tags_appended(*tag_bytes)
                }
                Target::Tags(bytes, width) => {
                    let text = Text::read_only(&self.texts.bytes);
                    let tags = &mut bytes[own.start * *width..own.end * *width];
                    Packed::new(text, texts).tags(tags, *width, *width)
                }
            };
            if let Some(Flat { bytes, width }) = &self.nonces {
                let width = *width;
                let nonces = &bytes[start * width..end * width];
                batch = batch.nonces(nonces, width, width);
            }
            match &self.data {
                None => {}
                Some(Data::Each(data)) => {
                    batch = batch.associated_data(&data.bytes, data.places.piece(start..end));
                }
                Some(Data::Same(data)) => {
                    batch = batch.associated_data(&data.bytes, data.places.piece(0..end - start));
                }
            }
            let (keys, places) = keys(start..end);
            if let Some(places) = places {
                batch = batch.keys(places);
            }
            let results = &mut results[..if judged { end - start } else { 0 }];
            if judged {
                batch = batch.results(results);
            }
            let verdict = with_comb(|comb| comb.run(op, keys, &mut batch));
            if !verdict.map_err(|error| (error, start))?.all_good() {
                let bad = |result: &MessageResult| result.status != Status::Done;
                let numbered = results.iter().enumerate();
                failed.extend(numbered.filter(|(_, r)| bad(r)).map(|(i, _)| start + i));
            }
        }
        Ok(failed)
    }
}
