//! Batches whose parts are columns of bytes one after the other, as Arrow has them: the
//! library goes by their offsets, and nothing is made of a message but the offset of its
//! result.
//!
//! `unsafe` rests on what the library promises: of a call that is not refused, the places of
//! all results are written from end to end, wiped where a message failed.
#![allow(unsafe_code)]

use super::{Chosen, Keep, Refused, Room, Soon, room, team};
use aescomb::{
    AnyKey, Comb, Error, Info, Keys, Layout, Lengths, MessageResult, Offset, Op, OpenError, Packed,
    Text,
};
use arrow_array::OffsetSizeTrait;
use arrow_buffer::{Buffer, ScalarBuffer};
use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::TryReserveError;
use std::io;
use std::mem::MaybeUninit;
use std::num::NonZeroUsize;
use std::ops::Range;

/// Messages of one call of the library. More bring no more speed, and of fewer the texts
/// and what scheduling needs stay in the second-level cache.
pub const PIECE: usize = 1024;

/// Rows that are done at a time, at most: what is made of them beside their results stays in the
/// second-level cache, and is in memory that was used before.
pub const STRETCH: usize = 4 * PIECE;

/// The most bytes of associated data that is the same for all messages and is repeated for those of a
/// piece; one copy there is always.
const REPEATED: usize = 1 << 20;

/// Rows of long values that are done at a time, at least.
const LEAST: usize = PIECE / 4;

/// Bytes of the results of rows that are done at a time: so many, and their messages, are in the
/// second-level cache when they are needed.
const NEAR: usize = 1 << 17;

/// Messages whose places are told between two requests for memory that is needed soon.
const STEP: usize = 16;

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
    /// Bytes of these values.
    pub fn bytes_of(&self, values: Range<usize>) -> usize {
        match &self.places {
            Places::Offsets(offsets) => (offsets[values.end] - offsets[values.start]).as_usize(),
            Places::Slots(_, lengths) => lengths[values].iter().map(|len| len.as_usize()).sum(),
        }
    }

    /// The memory from the first of these values to the last.
    pub fn span(&self, values: Range<usize>) -> &[u8] {
        if values.is_empty() {
            return &[];
        }
        let (start, end) = match &self.places {
            Places::Offsets(offsets) => (offsets[values.start], offsets[values.end]),
            Places::Slots(starts, lengths) => {
                let last = values.end - 1;
                (starts[values.start], starts[last] + lengths[last])
            }
        };
        &self.bytes[start.as_usize()..end.as_usize()]
    }

    /// Bytes of a value.
    pub fn len_of(&self, i: usize) -> usize {
        self.bytes_of(i..i + 1)
    }

    /// These of the values.
    pub fn part(&self, values: Range<usize>) -> Values<'_, O> {
        let places = match &self.places {
            Places::Offsets(offsets) => Places::Offsets(offsets[values.start..=values.end].into()),
            Places::Slots(starts, lengths) => {
                Places::Slots(starts[values.clone()].to_vec(), lengths[values].to_vec())
            }
        };
        Values {
            bytes: Cow::Borrowed(&self.bytes),
            places,
        }
    }

    /// Those of the rows that have a message.
    pub fn chosen(self, rows: Chosen<'_>) -> Values<'a, O> {
        let places = match self.places {
            _ if rows.are_all() => return self,
            Places::Offsets(offsets) => {
                let len = |i: usize| offsets[i + 1] - offsets[i];
                let (mut starts, mut bytes) = (Vec::with_capacity(rows.count() + 1), 0);
                for i in rows.places() {
                    starts.push(offsets[i]);
                    bytes += len(i).as_usize();
                }
                let last = offsets.len() - 1;
                match bytes == (offsets[last] - offsets[0]).as_usize() {
                    // The others have no bytes, so that these lie one after the other.
                    true => {
                        starts.push(offsets[last]);
                        Places::Offsets(starts.into())
                    }
                    false => Places::Slots(starts, rows.places().map(len).collect()),
                }
            }
            Places::Slots(starts, lengths) => {
                let of = |places: Vec<O>| rows.places().map(|i| places[i]).collect();
                Places::Slots(of(starts), of(lengths))
            }
        };
        Values {
            bytes: self.bytes,
            places,
        }
    }

    /// The values without so many bytes at the beginning, and these.
    ///
    /// # Panics
    ///
    /// If one has fewer.
    pub fn behind(self, width: usize) -> (Values<'a, O>, Flat<'a>) {
        let step = O::usize_as(width);
        let (mut starts, mut lengths) = match self.places {
            Places::Slots(starts, lengths) => (starts, lengths),
            Places::Offsets(offsets) => {
                let lengths = offsets.windows(2).map(|pair| pair[1] - pair[0]).collect();
                (offsets[..offsets.len() - 1].to_vec(), lengths)
            }
        };
        let mut front = Vec::with_capacity(starts.len() * width);
        for (start, len) in starts.iter_mut().zip(&mut lengths) {
            let value = &self.bytes[start.as_usize()..][..len.as_usize()];
            front.extend_from_slice(&value[..width]);
            *start += step;
            *len = *len - step;
        }
        let rest = Values {
            bytes: self.bytes,
            places: Places::Slots(starts, lengths),
        };
        let bytes = Cow::Owned(front);
        (rest, Flat { bytes, width })
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

/// Values of one length, one after the other.
pub struct Flat<'a> {
    /// The values.
    pub bytes: Cow<'a, [u8]>,
    /// Bytes of each.
    pub width: usize,
}

impl<'a> Flat<'a> {
    /// These of the values.
    pub fn part(&self, values: Range<usize>) -> Flat<'_> {
        let bytes = self.bytes[values.start * self.width..values.end * self.width].into();
        Flat {
            bytes,
            width: self.width,
        }
    }

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

impl Flat<'_> {
    /// Writes each so far behind where a result begins.
    fn put<const WIDTH: usize, O: OffsetSizeTrait>(
        &self,
        ends: &[O],
        behind: usize,
        memory: &mut [MaybeUninit<u8>],
    ) {
        let (values, _) = self.bytes.as_chunks::<WIDTH>();
        let first = ends[0].as_usize();
        for (end, value) in ends.iter().zip(values) {
            let start = end.as_usize() - first + behind;
            let place = &mut memory[start..start + WIDTH];
            place.copy_from_slice(&value.map(MaybeUninit::new));
        }
    }

    /// As [`Flat::put`], of any width.
    fn put_any<O: OffsetSizeTrait>(
        &self,
        ends: &[O],
        behind: usize,
        memory: &mut [MaybeUninit<u8>],
    ) {
        let first = ends[0].as_usize();
        for (end, value) in ends.iter().zip(self.bytes.chunks_exact(self.width.max(1))) {
            let start = end.as_usize() - first + behind;
            let places = memory[start..start + self.width].iter_mut();
            for (place, byte) in places.zip(value) {
                place.write(*byte);
            }
        }
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
}

/// Associated data of a batch.
pub enum Data<'a, O: Clone> {
    /// That of each message.
    Each(Values<'a, O>),
    /// The same for all messages, repeated so many times: a piece has at most so many messages.
    Same(Values<'a, O>, usize),
}

impl<O: Offset + OffsetSizeTrait> Data<'_, O> {
    /// For so many messages.
    pub fn same(data: &[u8], count: usize) -> Self {
        let most = (REPEATED / data.len().max(1)).clamp(1, PIECE);
        let count = count.min(most);
        let offsets: Vec<O> = (0..=count).map(|i| O::usize_as(i * data.len())).collect();
        let values = Values {
            bytes: data.repeat(count).into(),
            places: Places::Offsets(offsets.into()),
        };
        Data::Same(values, count)
    }
}

impl<O: OffsetSizeTrait> Data<'_, O> {
    /// That of these messages.
    pub fn part(&self, messages: Range<usize>) -> Data<'_, O> {
        match self {
            Data::Each(values) => Data::Each(values.part(messages)),
            Data::Same(values, count) => {
                let count = messages.len().min(*count);
                Data::Same(values.part(0..count), count)
            }
        }
    }

    /// Messages that a piece may have.
    fn piece(&self) -> usize {
        match self {
            Data::Each(_) => PIECE,
            Data::Same(_, count) => (*count).max(1),
        }
    }
}

/// Where results go.
enum Target<'a, O: Clone> {
    /// To these places in the memory, with tags of so many bytes attached.
    Texts(Places<'a, O>, &'a mut [MaybeUninit<u8>], usize),
    /// Tags of so many bytes, one after the other, that are made or given.
    Tags(&'a mut [u8], usize),
}

/// What became of a batch.
#[derive(Debug, Default)]
struct Done {
    /// Messages that failed, in ascending order.
    pub failed: Vec<usize>,
    /// Lengths of all results, where the padding is taken off; those of failed ones are 0.
    pub lens: Option<Vec<usize>>,
}

/// What became of a batch; or an error, with the place of the first message of
/// the piece that was refused.
type Outcome = Result<Done, (Error, usize)>;

impl<O: Offset + OffsetSizeTrait> Columns<'_, O> {
    /// Appends where results end that have `len` of the messages' bytes.
    ///
    /// # Errors
    ///
    /// Where they would end that offsets do not tell.
    fn end(&self, making: &mut Making<'_, O>, len: impl Fn(usize) -> usize) -> Result<(), Stopped> {
        let mut end = making.used;
        let ends = &mut making.ends;
        let mut next = |given: O| {
            end += len(given.as_usize());
            O::usize_as(end)
        };
        match &self.texts.places {
            Places::Offsets(offsets) => {
                let pairs = offsets.windows(2);
                ends.extend(pairs.map(|pair| next(pair[1] - pair[0])));
            }
            Places::Slots(_, lengths) => ends.extend(lengths.iter().map(|len| next(*len))),
        }
        // They ascend, so that the last is the largest.
        match O::from_usize(end) {
            Some(_) => Ok(()),
            None => Err(Stopped::Unfit(Refused::too_long(end))),
        }
    }

    /// Where the library writes results: behind what is in front of them, which is written
    /// here. `fetch`: whether the memory of both is to be fetched meanwhile.
    fn places(
        &self,
        fetch: bool,
        ends: &[O],
        memory: &mut [MaybeUninit<u8>],
    ) -> Places<'static, O> {
        let inline = self.nonces.as_ref().filter(|_| self.inline);
        let fronts = || self.prefixes.iter().chain(inline);
        // A place goes on over what is in front of the next result, which the library leaves as
        // it is: results are shorter. Such places take half as long to look at as slots.
        let (first, front) = (ends[0], fronts().map(|flat| flat.width).sum());
        let before = O::usize_as(front);
        let mut offsets = Vec::with_capacity(ends.len());
        let soon = Soon {
            read: self.texts.span(0..self.count),
            written: memory,
        };
        // With what is in front of another result, the last end may be more than an offset can say.
        let last = ends.len() - 1;
        let steps = last.div_ceil(STEP);
        for (i, ends) in ends[..last].chunks(STEP).enumerate() {
            if fetch {
                soon.fetch(i, steps);
            }
            offsets.extend(ends.iter().map(|end| *end - first + before));
        }
        offsets.push(ends[last] - first);
        let mut front = 0;
        for flat in fronts() {
            // Fixed widths, as each is a few instructions then.
            match flat.width {
                5 => flat.put::<5, O>(ends, front, memory),
                12 => flat.put::<12, O>(ends, front, memory),
                16 => flat.put::<16, O>(ends, front, memory),
                _ => flat.put_any(ends, front, memory),
            }
            front += flat.width;
        }
        Places::Offsets(offsets.into())
    }

    /// Encrypts, decrypts, seals or opens it. `messages`: which of `keys` the messages have.
    ///
    /// # Errors
    ///
    /// Results that offsets do not tell, and what the library refuses; then nothing is done.
    ///
    /// # Panics
    ///
    /// If there is less memory than the results take.
    pub fn texts(
        &self,
        keys: &Keyed<'_>,
        messages: Range<usize>,
        op: Op,
        tags: usize,
        making: &mut Making<'_, O>,
    ) -> Result<(), Stopped> {
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
        let (first, start) = (making.ends.len() - 1, making.used);
        self.end(making, |len| match op {
            Op::Encrypt | Op::Seal => front + info.encrypted_len(len) + tags,
            // One that is too short is refused.
            _ => len.saturating_sub(tags),
        })?;
        let ends = &mut making.ends[first..];
        let end = ends[self.count].as_usize();
        let spare = &mut making.memory[start..end];
        if op == Op::Decrypt {
            // What was padding stays as it is.
            spare.fill(MaybeUninit::new(0));
        }
        // Where nonces are made, it was fetched then; results that are opened go to new memory.
        let fetch = !self.inline && matches!(op, Op::Encrypt | Op::Seal);
        let places = self.places(fetch, ends, spare);
        let keys = |range: Range<usize>| {
            let range = messages.start + range.start..messages.start + range.end;
            (keys.keys(), keys.places(range))
        };
        let done = self.run_share(&keys, op, 0..self.count, Target::Texts(places, spare, tags));
        let Done { failed, lens } =
            done.map_err(|(error, start)| Stopped::Refused(error, start))?;
        making.used = match lens {
            Some(lens) => close_up(spare, ends, &lens),
            None => end,
        };
        making.failed.extend(failed.into_iter().map(|i| first + i));
        Ok(())
    }

    /// Makes or verifies tags of so many bytes, one after the other, on so many threads at
    /// most. `messages`: which of `keys` the messages have. The result: messages that failed,
    /// in ascending order.
    ///
    /// # Errors
    ///
    /// What the library refuses, with the place of the first message of the piece.
    pub fn tags(
        &self,
        threads: NonZeroUsize,
        keys: &Keyed<'_>,
        messages: Range<usize>,
        op: Op,
        (mut tags, width): (&mut [u8], usize),
    ) -> Result<Vec<usize>, (Error, usize)> {
        let first = messages.start;
        let keys = |range: Range<usize>| {
            let range = first + range.start..first + range.end;
            (keys.keys(), keys.places(range))
        };
        let threads = team::worth(threads, self.count, self.texts.bytes_of(0..self.count));
        if threads == 1 {
            let done = self.run_share(&keys, op, 0..self.count, Target::Tags(tags, width));
            return done.map(|done| done.failed);
        }
        let shares = team::shares(threads, self.count, PIECE).into_iter();
        let shares = shares.map(|share| {
            let (own, rest) = std::mem::take(&mut tags).split_at_mut(share.len() * width);
            tags = rest;
            (share, own)
        });
        let outcomes = team::together(threads, shares.collect(), |(range, tags)| {
            self.run_share(&keys, op, range, Target::Tags(tags, width))
        });
        let mut failed = Vec::new();
        for outcome in outcomes {
            failed.extend(outcome?.failed);
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
        let mode = keys(share.start..share.start).0.mode();
        let mode = mode.map_err(|error| (error, share.start))?;
        let padded = op == Op::Decrypt && mode.info().lengths == Lengths::Padded;
        let judged = padded || matches!(op, Op::Open | Op::Verify);
        let mut results = vec![MessageResult::default(); if judged { n.min(PIECE) } else { 0 }];
        let mut done = Done::default();
        let piece = self.data.as_ref().map_or(PIECE, Data::piece);
        for start in share.clone().step_by(piece) {
            let end = share.end.min(start + piece);
            // In the share.
            let own = start - share.start..end - share.start;
            let texts = self.texts.places.piece(start..end);
            let mut batch = match &mut into {
                Target::Texts(places, memory, tags) => {
                    let text = Text::copy_uninit(&self.texts.bytes, memory);
                    let batch = Packed::new(text, texts).output(places.piece(own.clone()));
                    batch.tags_attached(*tags)
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
                Some(Data::Same(data, _)) => {
                    batch = batch.associated_data(&data.bytes, data.places.piece(0..end - start));
                }
            }
            let (keys, places) = keys(start..end);
            if let Some(places) = places {
                batch = batch.key_indices(places);
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

/// Moves results together that are shorter than their places: where the last ends.
fn close_up<O: OffsetSizeTrait>(
    memory: &mut [MaybeUninit<u8>],
    ends: &mut [O],
    lens: &[usize],
) -> usize {
    let start = ends[0].as_usize();
    let mut to = 0;
    for (i, len) in lens.iter().enumerate() {
        let from = ends[i].as_usize() - start;
        memory.copy_within(from..from + len, to);
        // The place before has been left.
        ends[i] = O::usize_as(start + to);
        to += len;
    }
    ends[lens.len()] = O::usize_as(start + to);
    start + to
}

/// Results that are being made, one after the other.
pub struct Making<'m, O> {
    memory: &'m mut [MaybeUninit<u8>],
    /// So many bytes of it are written.
    used: usize,
    /// Where results begin and end, from 0 on.
    ends: Room<O>,
    /// Messages that failed.
    failed: Vec<usize>,
}

/// Results, one after the other.
#[derive(Debug)]
pub struct Made<O: OffsetSizeTrait> {
    /// Their bytes.
    pub bytes: Buffer,
    /// Where they begin and end, from 0 on.
    pub ends: ScalarBuffer<O>,
    /// Messages that failed, in ascending order; their results are zeros, or empty.
    pub failed: Vec<usize>,
}

impl<O: OffsetSizeTrait> Made<O> {
    /// What `make` makes, of at most so many bytes and messages.
    ///
    /// # Errors
    ///
    /// Without memory, and what `make` returns.
    pub fn new<E: From<TryReserveError>>(
        keep: Keep,
        (bytes, messages): (usize, usize),
        make: impl FnOnce(&mut Making<'_, O>) -> Result<(), E>,
    ) -> Result<Made<O>, E> {
        let mut memory = room(bytes, keep)?;
        let mut making = Making::new(memory.spare(), messages)?;
        make(&mut making)?;
        let Making {
            used, ends, failed, ..
        } = making;
        // SAFETY: so many bytes are written.
        unsafe { memory.written(used) };
        Ok(Made {
            bytes: memory.into_buffer(),
            ends: ends.into_scalars(),
            failed,
        })
    }

    /// What `make` makes of the stretches of so many rows, on so many threads at most, and
    /// what it returns of each. `most`: how many bytes, and how many messages, results of a
    /// range have at most. `keep`: of the memory of results.
    ///
    /// # Errors
    ///
    /// Without memory, and the first that `make` returns.
    pub fn by_stretches<T: Send, E: From<TryReserveError> + Send>(
        threads: usize,
        keep: Keep,
        rows: usize,
        most: impl Fn(Range<usize>) -> (usize, usize),
        make: impl Fn(Range<usize>, &mut Making<'_, O>) -> Result<T, E> + Sync,
    ) -> Result<(Made<O>, Vec<T>), E>
    where
        O: Send,
    {
        let all = most(0..rows);
        let step = (NEAR / (all.0 / rows.max(1)).max(1)).clamp(LEAST, STRETCH);
        let stretches = |rows: Range<usize>, making: &mut Making<'_, O>| {
            let starts = rows.clone().step_by(step);
            let made = starts.map(|start| make(start..rows.end.min(start + step), making));
            made.collect::<Result<Vec<T>, E>>()
        };
        if threads == 1 {
            let mut returned = Vec::new();
            let made = Made::new(keep, all, |making| {
                returned = stretches(0..rows, making)?;
                Ok::<(), E>(())
            });
            return Ok((made?, returned));
        }
        let shares = team::shares(threads, rows, STRETCH);
        let sizes: Vec<_> = shares.iter().map(|share| most(share.clone())).collect();
        let total = sizes
            .iter()
            .fold(0, |all: usize, (bytes, _)| all.saturating_add(*bytes));
        let mut memory = room(total, keep)?;
        let mut rest = memory.spare();
        let mut parts = Vec::new();
        for (share, (bytes, messages)) in shares.into_iter().zip(&sizes) {
            let (own, others) = rest.split_at_mut(*bytes);
            rest = others;
            parts.push((share, Making::new(own, *messages)?));
        }
        let outcomes = team::together(threads, parts, |(share, mut making)| {
            let returned = stretches(share, &mut making)?;
            Ok::<_, E>((making.used, making.ends, making.failed, returned))
        });
        let spare = memory.spare();
        let (mut from, mut to) = (0, 0);
        let (mut all_failed, mut all) = (Vec::new(), Vec::new());
        let messages: usize = sizes.iter().map(|(_, messages)| messages).sum();
        let mut all_ends = room(1 + messages, Keep::Yes)?;
        all_ends.push(O::usize_as(0));
        for (outcome, (bytes, _)) in outcomes.into_iter().zip(&sizes) {
            let (used, ends, failed, returned) = outcome?;
            if from != to {
                spare.copy_within(from..from + used, to);
            }
            let first = all_ends.len() - 1;
            all_failed.extend(failed.iter().map(|i| first + i));
            let moved = |end: &O| O::usize_as(to + end.as_usize());
            all_ends.extend(ends[1..].iter().map(moved));
            all.extend(returned);
            (from, to) = (from + bytes, to + used);
        }
        // SAFETY: so many bytes are written, and have been moved together.
        unsafe { memory.written(to) };
        let made = Made {
            bytes: memory.into_buffer(),
            ends: all_ends.into_scalars(),
            failed: all_failed,
        };
        Ok((made, all))
    }
}

impl<'m, O: OffsetSizeTrait> Making<'m, O> {
    fn new(
        memory: &'m mut [MaybeUninit<u8>],
        messages: usize,
    ) -> Result<Making<'m, O>, TryReserveError> {
        let mut ends = room(messages + 1, Keep::Yes)?;
        ends.push(O::usize_as(0));
        Ok(Making {
            memory,
            used: 0,
            ends,
            failed: Vec::new(),
        })
    }

    /// The memory of the next results, of so many bytes.
    pub fn next(&self, bytes: usize) -> &[MaybeUninit<u8>] {
        &self.memory[self.used..][..bytes]
    }

    /// Messages whose results are made.
    pub fn count(&self) -> usize {
        self.ends.len() - 1
    }

    /// Messages from this one on that failed, counted from it.
    pub fn failed_from(&self, message: usize) -> Vec<usize> {
        let first = self.failed.partition_point(|i| *i < message);
        self.failed[first..].iter().map(|i| i - message).collect()
    }

    /// Appends results that lie one after the other, by where each ends; `failed` of them failed, in
    /// ascending order.
    pub fn append(
        &mut self,
        bytes: &[u8],
        ends: impl IntoIterator<Item = usize>,
        failed: impl IntoIterator<Item = usize>,
    ) {
        let (first, start) = (self.count(), self.used);
        for (place, byte) in self.memory[start..][..bytes.len()].iter_mut().zip(bytes) {
            place.write(*byte);
        }
        self.used += bytes.len();
        let ends = ends.into_iter().map(|end| O::usize_as(start + end));
        self.ends.extend(ends);
        self.failed.extend(failed.into_iter().map(|i| first + i));
    }

    /// Takes back the results from this message on.
    pub fn take_back(&mut self, message: usize) {
        self.ends.truncate(message + 1);
        self.used = self.ends[message].as_usize();
        let failed = self.failed.partition_point(|i| *i < message);
        self.failed.truncate(failed);
    }
}

/// Bytes that a text grows by at most, without its tag.
pub fn growth(info: &Info) -> usize {
    // What is made of a block more is a block more.
    let growth = (0..16).map(|len| info.encrypted_len(len).saturating_sub(len));
    growth.max().unwrap_or(0)
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
    /// The operating system gives no random numbers.
    System(io::Error),
}

impl Stopped {
    /// With so many messages before the piece.
    pub fn behind(self, messages: usize) -> Stopped {
        match self {
            Stopped::Refused(error, start) => Stopped::Refused(error, messages + start),
            other => other,
        }
    }
}

impl From<TryReserveError> for Stopped {
    fn from(error: TryReserveError) -> Self {
        Stopped::Memory(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_data_is_not_repeated_for_many_messages() {
        for (len, messages, repeated) in [
            (330_000, 11, 3),
            (REPEATED, 11, 1),
            (REPEATED + 1, 11, 1),
            (12, 11, 11),
            (12, 2 * PIECE, PIECE),
            (0, 11, 11),
            (12, 0, 0),
        ] {
            let data = Data::<i32>::same(&vec![7; len], messages);
            let Data::Same(values, count) = &data else {
                panic!("of each message");
            };
            assert_eq!((*count, values.bytes.len()), (repeated, repeated * len));
            assert_eq!(data.piece(), repeated.max(1));
            assert_eq!(data.part(0..1).piece(), 1);
        }
    }
}
