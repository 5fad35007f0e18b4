//! Batches whose parts are columns of bytes one after the other, as Arrow has them: the
//! library goes by their offsets, and nothing is made of a message but the offset of its
//! result.
//!
//! `unsafe` rests on what the library promises: of a call that is not refused, the places of
//! all results are written from end to end, wiped where a message failed.
#![allow(unsafe_code)]

use super::{Chosen, Refused, team};
use aescomb::{
    AnyKey, Comb, Error, Keys, Layout, Lengths, MessageResult, Offset, Op, OpenError, Packed, Text,
};
use arrow_array::OffsetSizeTrait;
use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::TryReserveError;
use std::mem::MaybeUninit;
use std::num::NonZeroUsize;
use std::ops::Range;

/// Messages of one call of the library. More bring no more speed, and of fewer the texts
/// and what scheduling needs stay in the second-level cache.
pub const PIECE: usize = 1024;

thread_local! {
    /// A scheduler for each thread: it has grown after a few calls. It is wiped when the
    /// thread ends.
    static COMB: RefCell<Comb> = RefCell::new(Comb::new());
}

/// Calls with the thread's scheduler.
pub fn with_comb<R>(call: impl FnOnce(&mut Comb) -> R) -> R {
    COMB.with_borrow_mut(call)
}

/// The keys of a batch.
pub enum Keyed<'a> {
    /// One for all messages.
    One(&'a AnyKey),
    /// A table, and the place of each message's.
    Places(Vec<&'a AnyKey>, Vec<u32>),
}

impl Keyed<'_> {
    /// The key or the table.
    pub fn keys(&self) -> Keys<'_> {
        match self {
            Keyed::One(key) => (*key).into(),
            Keyed::Places(keys, _) => keys.into(),
        }
    }

    /// Places of these messages' keys; nothing if they all have one.
    pub fn places(&self, messages: Range<usize>) -> Option<&[u32]> {
        match self {
            Keyed::One(_) => None,
            Keyed::Places(_, places) => Some(&places[messages]),
        }
    }
}

/// Values in one stretch of memory.
pub struct Values<'a, O: Clone> {
    /// That memory.
    pub bytes: Cow<'a, [u8]>,
    /// Where they lie in it.
    pub places: Places<'a, O>,
}

impl<'a, O: OffsetSizeTrait> Values<'a, O> {
    /// The values without so many bytes at the beginning, and these; if all have `least`
    /// bytes, or more.
    pub fn behind(self, width: usize, least: usize) -> Option<(Values<'a, O>, Flat<'a>)> {
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
    pub fn none() -> Self {
        let places = Places::Offsets(Cow::Owned(vec![O::usize_as(0)]));
        let bytes = Cow::Borrowed(&[][..]);
        Values { bytes, places }
    }
}

/// Where values lie, in ascending order.
pub enum Places<'a, O: Clone> {
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
pub struct Flat<'a> {
    /// The values.
    pub bytes: Cow<'a, [u8]>,
    /// Bytes of each.
    pub width: usize,
}

impl<'a> Flat<'a> {
    /// Of the values of a stretch, those of the rows that have a message.
    pub fn chosen(bytes: &'a [u8], width: usize, rows: Chosen<'_>) -> Self {
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
pub struct Columns<'a, O: Clone> {
    /// Messages.
    pub texts: Values<'a, O>,
    /// How many.
    pub count: usize,
    /// Theirs, if the mode has any.
    pub nonces: Option<Flat<'a>>,
    /// Theirs, if there is any.
    pub data: Option<Data<'a, O>>,
    /// What results begin with.
    pub prefixes: Option<Flat<'a>>,
    /// Whether nonces stand in front of results.
    pub inline: bool,
    /// Tags that texts are opened with, if these are not at their ends.
    pub tags: Option<Cow<'a, [u8]>>,
}

/// Associated data of a batch.
pub enum Data<'a, O: Clone> {
    /// That of each message.
    Each(Values<'a, O>),
    /// The same for all messages, as often as a piece may have messages.
    Same(Values<'a, O>),
}

impl<O: Offset + OffsetSizeTrait> Data<'_, O> {
    /// For so many messages.
    pub fn same(data: &[u8], count: usize) -> Self {
        let count = count.min(PIECE);
        let offsets: Vec<O> = (0..=count).map(|i| O::usize_as(i * data.len())).collect();
        Data::Same(Values {
            bytes: data.repeat(count).into(),
            places: Places::Offsets(offsets.into()),
        })
    }
}

/// Where results go.
pub enum Target<'a, O: Clone> {
    /// To these places in the memory.
    Texts(Places<'a, O>, &'a mut [MaybeUninit<u8>], TagsOf<'a>),
    /// Tags of so many bytes, one after the other, that are made or given.
    Tags(&'a mut [u8], usize),
}

/// The tags of texts.
pub enum TagsOf<'a> {
    /// Of so many bytes, at the ends of texts.
    Behind(usize),
    /// Of so many bytes, one after the other.
    Apart(&'a mut [u8], usize),
}

/// Where the tags of values are, of so many bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TagPlace {
    /// At their ends.
    Behind(usize),
    /// In front of the ciphertext, where texts that are opened do not begin.
    Front(usize),
}

impl TagPlace {
    /// Bytes of tags.
    pub fn bytes(self) -> usize {
        match self {
            TagPlace::Behind(bytes) | TagPlace::Front(bytes) => bytes,
        }
    }
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
            Target::Texts(places, mut memory, mut tags) => {
                let mut start = 0;
                let part = |share: Range<usize>| {
                    let (places, end) = places.part(share.clone(), start);
                    let (texts, rest) = std::mem::take(&mut memory).split_at_mut(end - start);
                    (memory, start) = (rest, end);
                    let tags = match &mut tags {
                        TagsOf::Behind(bytes) => TagsOf::Behind(*bytes),
                        TagsOf::Apart(all, width) => {
                            let width = *width;
                            let (own, rest) = std::mem::take(all).split_at_mut(share.len() * width);
                            *all = rest;
                            TagsOf::Apart(own, width)
                        }
                    };
                    (share, Target::Texts(places, texts, tags))
                };
                shares.into_iter().map(part).collect()
            }
        }
    }
}

/// What became of a batch.
#[derive(Debug, Default)]
pub struct Done {
    /// Messages that failed, in ascending order.
    pub failed: Vec<usize>,
    /// Lengths of all results, where the padding is taken off; those of failed ones are 0.
    pub lens: Option<Vec<usize>>,
}

/// What became of a batch; or an error, with the place of the first message of
/// the piece that was refused.
type Outcome = Result<Done, (Error, usize)>;

impl<O: Offset + OffsetSizeTrait> Columns<'_, O> {
    /// Bytes of messages.
    pub fn bytes(&self) -> usize {
        match &self.texts.places {
            Places::Offsets(offsets) => offsets[self.count].as_usize() - offsets[0].as_usize(),
            Places::Slots(_, lengths) => lengths.iter().map(|len| len.as_usize()).sum(),
        }
    }

    /// Where results end that have `len` of the messages' bytes, from 0 on.
    fn ends(&self, len: impl Fn(usize) -> usize) -> Result<Vec<O>, TryReserveError> {
        let mut ends = Vec::new();
        ends.try_reserve_exact(self.count + 1)?;
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
        Ok(ends)
    }

    /// Where the library writes the results that end there: behind what is in front of them,
    /// which is written here, and so much room.
    fn places<'e>(
        &self,
        ends: &'e [O],
        room: usize,
        memory: &mut [MaybeUninit<u8>],
    ) -> Places<'e, O> {
        let inline = self.nonces.as_ref().filter(|_| self.inline);
        let fronts: Vec<&Flat<'_>> = self.prefixes.iter().chain(inline).collect();
        let front: usize = fronts.iter().map(|front| front.width).sum();
        if front + room == 0 {
            return Places::Offsets(ends.into());
        }
        let mut starts = Vec::with_capacity(self.count);
        for (i, end) in ends[..self.count].iter().enumerate() {
            let mut start = end.as_usize();
            for Flat { bytes, width } in &fronts {
                let places = memory[start..][..*width].iter_mut();
                for (place, byte) in places.zip(&bytes[i * width..]) {
                    place.write(*byte);
                }
                start += width;
            }
            starts.push(O::usize_as(start + room));
        }
        let lengths = starts.iter().zip(&ends[1..]);
        let lengths = lengths.map(|(start, end)| *end - *start).collect();
        Places::Slots(starts, lengths)
    }

    /// Encrypts, decrypts, seals or opens it on so many threads at most. `messages`: which of `keys` the messages have; `fits` is asked about
    /// the bytes of all results before there is memory for them.
    ///
    /// # Errors
    ///
    /// Without memory, what `fits` refuses, and what the library does; then nothing is done.
    pub fn texts(
        &self,
        threads: NonZeroUsize,
        keys: &Keyed<'_>,
        messages: Range<usize>,
        op: Op,
        tags: TagPlace,
        fits: impl FnOnce(usize) -> Result<(), Refused>,
    ) -> Result<Made<O>, Stopped> {
        let info = keys
            .keys()
            .mode()
            .map_err(|error| Stopped::Refused(error, 0))?;
        let (info, width) = (info.info(), |flat: &Option<Flat<'_>>| {
            flat.as_ref().map_or(0, |flat| flat.width)
        });
        let mut front = width(&self.prefixes);
        if self.inline {
            front += width(&self.nonces);
        }
        let (sealing, apart) = (op == Op::Seal, matches!(tags, TagPlace::Front(_)));
        let ends = self.ends(|len| match op {
            Op::Encrypt | Op::Seal => front + info.encrypted_len(len) + tags.bytes(),
            _ if apart => len,
            // One that is too short is refused.
            _ => len.saturating_sub(tags.bytes()),
        });
        let ends = ends.map_err(Stopped::Memory)?;
        let total = ends[self.count].as_usize();
        fits(total).map_err(Stopped::Unfit)?;
        let mut memory = Vec::new();
        memory.try_reserve_exact(total).map_err(Stopped::Memory)?;
        if op == Op::Decrypt {
            // What was padding stays as it is.
            memory.resize(total, 0);
            memory.clear();
        }
        let spare = &mut memory.spare_capacity_mut()[..total];
        let room = if sealing && apart { tags.bytes() } else { 0 };
        let places = self.places(&ends, room, spare);
        let mut given = match &self.tags {
            Some(tags) => tags.to_vec(),
            None => vec![0; room * self.count],
        };
        let to = match tags {
            TagPlace::Behind(bytes) => TagsOf::Behind(bytes),
            TagPlace::Front(bytes) => TagsOf::Apart(&mut given, bytes),
        };
        let done = self.run(
            threads,
            keys,
            messages,
            op,
            Target::Texts(places, spare, to),
        );
        let Done { failed, lens } =
            done.map_err(|(error, start)| Stopped::Refused(error, start))?;
        if room > 0 {
            for (end, tag) in ends.iter().zip(given.chunks_exact(room)) {
                let tags = &mut spare[end.as_usize() + front..][..room];
                for (place, byte) in tags.iter_mut().zip(tag) {
                    place.write(*byte);
                }
            }
        }
        // SAFETY: by the facts above; what is between places is what is in front of results.
        unsafe { memory.set_len(total) };
        let mut made = Made {
            bytes: memory,
            ends,
            failed,
        };
        if let Some(lens) = lens {
            made.close_up(&lens);
        }
        Ok(made)
    }

    /// Does it on so many threads at most. `messages`: which of `keys` the messages have.
    ///
    /// # Errors
    ///
    /// What the library refuses, with the place of the first message of the piece.
    pub fn run(
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
        let mut all = Done::default();
        for outcome in outcomes {
            let Done { failed, lens } = outcome?;
            all.failed.extend(failed);
            if let Some(lens) = lens {
                all.lens.get_or_insert_default().extend(lens);
            }
        }
        Ok(all)
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
        let mode = keys(share.start..share.start).0.mode();
        let mode = mode.map_err(|error| (error, share.start))?;
        let padded = op == Op::Decrypt && mode.info().lengths == Lengths::Padded;
        let judged = padded || matches!(op, Op::Open | Op::Verify);
        let mut results = vec![MessageResult::default(); if judged { n.min(PIECE) } else { 0 }];
        let mut done = Done::default();
        for start in share.clone().step_by(PIECE) {
            let end = share.end.min(start + PIECE);
            // In the share.
            let own = start - share.start..end - share.start;
            let texts = self.texts.places.piece(start..end);
            let mut batch = match &mut into {
                Target::Texts(places, memory, tags) => {
                    let text = Text::copy_uninit(&self.texts.bytes, memory);
                    let batch = Packed::new(text, texts).output(places.piece(own.clone()));
                    match tags {
                        TagsOf::Behind(bytes) => batch.tags_attached(*bytes),
                        TagsOf::Apart(tags, width) => {
                            let tags = &mut tags[own.start * *width..own.end * *width];
                            batch.tags(tags, *width, *width)
                        }
                    }
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
            match with_comb(|comb| comb.run(op, keys, &mut batch)) {
                Ok(()) => {}
                Err(OpenError::Refused(error)) => return Err((error, start)),
                Err(OpenError::Failed(failed)) => {
                    done.failed.extend(failed.messages().map(|i| start + i));
                }
            }
            if padded {
                let lens = results.iter().map(|result| result.len);
                done.lens.get_or_insert_default().extend(lens);
            }
        }
        Ok(done)
    }
}

/// Results, one after the other.
#[derive(Debug)]
pub struct Made<O> {
    /// Their bytes.
    pub bytes: Vec<u8>,
    /// Where they begin and end, from 0 on.
    pub ends: Vec<O>,
    /// Messages that failed, in ascending order; their results are zeros, or empty.
    pub failed: Vec<usize>,
}

impl<O: OffsetSizeTrait> Made<O> {
    /// Moves results together that are shorter than their places.
    fn close_up(&mut self, lens: &[usize]) {
        let mut to = 0;
        for (i, len) in lens.iter().enumerate() {
            let from = self.ends[i].as_usize();
            self.bytes.copy_within(from..from + len, to);
            // The place before has been left.
            self.ends[i] = O::usize_as(to);
            to += len;
        }
        self.ends[lens.len()] = O::usize_as(to);
        self.bytes.truncate(to);
    }
}

/// Why nothing was done.
#[derive(Debug)]
pub enum Stopped {
    /// There is no memory for it.
    Memory(TryReserveError),
    /// The results would not do.
    Unfit(Refused),
    /// The library refuses it: what it says, and the first message of the piece.
    Refused(Error, usize),
}
