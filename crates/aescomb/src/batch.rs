//! Batches: what a call works on, in forms that feed one engine.

use crate::admission::{Bounds, Call, SIGN, in_vectors, is_short};
use crate::block::Aligned;
use crate::error::{Allowed, Error, Field, Given};
use crate::expanded::Expanded;
use crate::job::{ATTACHED, Alike, Job, RECEIVED, SHORT_STRETCH, disjoint, not_by_vectors};
use crate::key_set::KeySet;
use crate::layout::{Column, FEW, Layout, Offset, TOGETHER, by_layout};
use crate::message::{Message, jobs, jobs_mut, length};
use crate::status::Status;
use crate::text::Text;
use alloc::vec::Vec;
use core::ops::Range;

/// Nonces or tags of a packed batch: column bytes and the distance between two
/// entries.
#[derive(Clone, Copy, Debug)]
struct Stride {
    bytes: usize,
    stride: usize,
}

/// A batch of messages that lie in one buffer, with their nonces, tags and key
/// indices in columns: the form of packet rings, Arrow columns and C callers.
/// Nothing is copied.
///
/// ```
/// use aescomb::modes::Ctr;
/// use aescomb::{Comb, Key, Layout, Packed, Text};
///
/// let key = Key::<Ctr>::new(&[0; 32])?;
/// let mut data = *b"one, two and three";
/// let offsets = [0u32, 5, 9, 18];
/// let nonces = [7u8; 3 * 16];
/// let mut batch =
///     Packed::new(Text::in_place(&mut data), Layout::Offsets(&offsets)).nonces(&nonces, 16, 16);
/// Comb::new().encrypt(&key, &mut batch)?;
/// # Ok::<(), aescomb::Error>(())
/// ```
#[derive(Debug)]
pub struct Packed<'a, O> {
    text: Text<'a>,
    layout: Layout<'a, O>,
    /// Where the results go, when not to the messages' own places.
    output: Option<Layout<'a, O>>,
    nonces: &'a [u8],
    nonce: Stride,
    /// In place, or only read.
    tags: Text<'a>,
    tag: Stride,
    /// Tags that may not be written.
    received: bool,
    /// Bytes of a tag in one piece with every sealed text.
    attached: usize,
    data: &'a [u8],
    data_layout: Option<Layout<'a, O>>,
    keys: Option<&'a [u32]>,
    opened_lens: Option<&'a [O]>,
    results: Option<&'a mut [MessageResult]>,
}

/// What became of a message of a packed batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessageResult {
    /// What became of it.
    pub status: Status,
    /// Bytes of output.
    pub len: usize,
}

impl Default for MessageResult {
    fn default() -> Self {
        MessageResult {
            status: Status::Pending,
            len: 0,
        }
    }
}

impl<'a, O: Offset> Packed<'a, O> {
    /// Messages that lie in `text` as `layout` says. Their results go to the same
    /// places of its destination.
    pub fn new(text: Text<'a>, layout: Layout<'a, O>) -> Self {
        let none = Stride {
            bytes: 0,
            stride: 0,
        };
        Packed {
            text,
            layout,
            output: None,
            nonces: &[],
            nonce: none,
            tags: Text::read_only(&[]),
            tag: none,
            received: false,
            attached: 0,
            data: &[],
            data_layout: None,
            keys: None,
            opened_lens: None,
            results: None,
        }
    }

    /// Puts the results at places of their own, for padding, which makes messages
    /// longer; not in place. A place may be larger than its result.
    pub fn output(self, layout: Layout<'a, O>) -> Self {
        Packed {
            output: Some(layout),
            ..self
        }
    }

    /// Nonce `i` is the `bytes` bytes from `i * stride` on. The stride is at least `bytes`, so that no two
    /// messages have one nonce.
    pub fn nonces(self, nonces: &'a [u8], bytes: usize, stride: usize) -> Self {
        Packed {
            nonces,
            nonce: Stride { bytes, stride },
            ..self
        }
    }

    /// Tag `i` is the `bytes` bytes from `i * stride` on, and the stride at least `bytes`. Not together with
    /// [`tags_attached`](Packed::tags_attached): a call refuses both.
    pub fn tags(self, tags: &'a mut [u8], bytes: usize, stride: usize) -> Self {
        Packed {
            tags: Text::in_place(tags),
            tag: Stride { bytes, stride },
            received: false,
            ..self
        }
    }

    /// The same for tags that came with the messages, for opening and verification: they are
    /// only read.
    pub fn received_tags(self, tags: &'a [u8], bytes: usize, stride: usize) -> Self {
        Packed {
            tags: Text::read_only(tags),
            tag: Stride { bytes, stride },
            received: true,
            ..self
        }
    }

    /// Sealed texts are ciphertext and a tag of `bytes` bytes in one piece, as
    /// [`Message::tag_attached`] says: the results of sealing are that much longer
    /// and want an [`output`](Packed::output), or a ring with room.
    pub fn tags_attached(self, bytes: usize) -> Self {
        Packed {
            attached: bytes,
            ..self
        }
    }

    /// The associated data of message `i` lies in `data` as `layout` says.
    pub fn associated_data(self, data: &'a [u8], layout: Layout<'a, O>) -> Self {
        Packed {
            data,
            data_layout: Some(layout),
            ..self
        }
    }

    /// Message `i` has `lengths[i]` bytes when it is opened, for a mode that does not
    /// tell ([`Lengths::Untold`](crate::Lengths::Untold)); others do not look at it.
    pub fn opened_lens(self, lengths: &'a [O]) -> Self {
        Packed {
            opened_lens: Some(lengths),
            ..self
        }
    }

    /// Message `i` uses key `keys[i]` of the table.
    pub fn key_indices(self, keys: &'a [u32]) -> Self {
        Packed {
            keys: Some(keys),
            ..self
        }
    }

    /// Where statuses and output lengths go, one per message. Needed to take off padding, to
    /// verify and to open.
    pub fn results(self, results: &'a mut [MessageResult]) -> Self {
        Packed {
            results: Some(results),
            ..self
        }
    }
}

pub(crate) mod sealed {
    use super::{Alike, Call, Error, Expanded, Job, Made, Range, Status};

    /// What the engine asks of a batch. `pub` in a private module: nobody else
    /// can implement or call it.
    #[allow(private_interfaces)]
    pub trait Parts {
        /// Some of its messages, one after the other, as a batch.
        type Part<'p>: super::Batch + Send
        where
            Self: 'p;
        /// Whether its jobs are made during a call, and not there before.
        const MAKES_JOBS: bool = false;

        fn count(&self) -> usize;
        /// The first message's own key.
        fn own_key(&self) -> Option<&Expanded>;
        /// Checks what there is to check of the batch but its messages.
        fn check_columns(&self, _: &Call<'_>) -> Result<(), Error> {
            Ok(())
        }
        /// About how many bytes message `i` has, of text and associated data, in a batch of which
        /// that was checked.
        fn bytes(&self, i: usize) -> usize;
        /// Whether nothing is wrong between parts that begin with these messages, so that each may be checked
        /// by itself.
        fn borders_are_good(&self, _starts: &[usize]) -> bool {
            true
        }
        /// All messages of a batch whose columns were checked, in parts that begin with these messages, of
        /// which the first is 0.
        fn parts(&mut self, starts: &[usize]) -> impl Iterator<Item = Self::Part<'_>>;
        /// Checks the batch as a whole and all its messages, and reports these as done:
        /// a walk of its own over the results would cost as much as this one. Of what the
        /// caller gave nothing else is written. With `memory`, a batch that is then done as a whole
        /// may have its jobs made there.
        fn check(&mut self, call: &Call<'_>, memory: Option<&mut Made>) -> Result<Alike, Error>;
        /// Makes the jobs of a range of messages that were checked and are `alike`, in `memory` if
        /// need be and the check has not.
        fn prepare(
            &mut self,
            call: &Call<'_>,
            alike: Alike,
            range: Range<usize>,
            memory: &mut Made,
        );
        /// The jobs that were prepared last, for that range.
        fn jobs<'a>(&'a self, range: Range<usize>, memory: &'a Made) -> &'a [Job];
        fn report(&mut self, i: usize, status: Status, written: usize);
    }
}

/// Parts of `count` messages that begin with these.
pub(crate) fn ranges(starts: &[usize], count: usize) -> impl Iterator<Item = Range<usize>> {
    let ends = starts.iter().skip(1).copied().chain([count]);
    starts.iter().zip(ends).map(|(&start, end)| start..end)
}

/// A batch of messages: a slice, an array or a vector of [`Message`], a [`Packed`]
/// batch, or [`Jobs`](crate::ffi::Jobs).
pub trait Batch: sealed::Parts {}

/// Where the tags of jobs that were checked are, and their lengths without them.
#[inline(never)]
fn set_tags(call: &Call<'_>, jobs: &mut [Job]) {
    for job in jobs {
        not_by_vectors();
        (job.tag, job.len) = call.prepared(job);
    }
}

#[allow(private_interfaces)]
impl<'a> sealed::Parts for [Message<'a>] {
    type Part<'p>
        = &'p mut [Message<'a>]
    where
        Self: 'p;

    #[inline(always)]
    fn count(&self) -> usize {
        self.len()
    }

    fn own_key(&self) -> Option<&Expanded> {
        jobs(self).first().and_then(|job| KeySet::Own.of(job))
    }

    fn bytes(&self, i: usize) -> usize {
        self[i].job.src_len + self[i].job.data_len
    }

    fn parts(&mut self, starts: &[usize]) -> impl Iterator<Item = &mut [Message<'a>]> {
        let ranges = ranges(starts, self.len());
        let mut left = self;
        ranges.filter_map(move |range| left.split_off_mut(..range.len()))
    }

    #[inline(always)]
    fn check(&mut self, call: &Call<'_>, _: Option<&mut Made>) -> Result<Alike, Error> {
        call.check(jobs_mut(self))
    }

    #[inline(always)]
    fn prepare(&mut self, call: &Call<'_>, alike: Alike, range: Range<usize>, _: &mut Made) {
        if call.may_attach() && !alike.are_apart() {
            let call = *call;
            set_tags(&call, jobs_mut(&mut self[range.clone()]));
        }
        if call.has_own_keys() {
            for (place, job) in (0..).zip(jobs_mut(&mut self[range])) {
                job.key_index = place;
            }
        }
    }

    #[inline(always)]
    fn jobs<'j>(&'j self, range: Range<usize>, _: &'j Made) -> &'j [Job] {
        jobs(&self[range])
    }

    #[inline(always)]
    fn report(&mut self, i: usize, status: Status, written: usize) {
        self[i].job.report(status, written);
    }
}

impl Batch for [Message<'_>] {}

macro_rules! as_slice {
    ($([$($generic:tt)*] $t:ty;)*) => {$(
        #[allow(private_interfaces)]
        impl<$($generic)*> sealed::Parts for $t {
            type Part<'p>
                = &'p mut [Message<'a>]
            where
                Self: 'p;

            #[inline(always)]
            fn count(&self) -> usize {
                self.len()
            }

            fn own_key(&self) -> Option<&Expanded> {
                self[..].own_key()
            }

            fn bytes(&self, i: usize) -> usize {
                self[..].bytes(i)
            }

            fn parts(&mut self, starts: &[usize]) -> impl Iterator<Item = &mut [Message<'a>]> {
                self[..].parts(starts)
            }

            #[inline(always)]
            fn check(
                &mut self,
                call: &Call<'_>,
                memory: Option<&mut Made>,
            ) -> Result<Alike, Error> {
                self[..].check(call, memory)
            }

            #[inline(always)]
            fn prepare(
                &mut self,
                call: &Call<'_>,
                alike: Alike,
                range: Range<usize>,
                memory: &mut Made,
            ) {
                self[..].prepare(call, alike, range, memory)
            }

            #[inline(always)]
            fn jobs<'j>(&'j self, range: Range<usize>, memory: &'j Made) -> &'j [Job] {
                self[..].jobs(range, memory)
            }

            #[inline(always)]
            fn report(&mut self, i: usize, status: Status, written: usize) {
                self[..].report(i, status, written)
            }
        }

        impl<$($generic)*> Batch for $t {}
    )*};
}
as_slice! {
    ['a, const N: usize] [Message<'a>; N];
    ['a] Vec<Message<'a>>;
    ['b, 'a] &'b mut [Message<'a>];
}

#[allow(private_interfaces)]
impl<O: Offset> sealed::Parts for Packed<'_, O> {
    type Part<'p>
        = Packed<'p, O>
    where
        Self: 'p;
    const MAKES_JOBS: bool = true;

    fn count(&self) -> usize {
        self.layout.len()
    }

    fn own_key(&self) -> Option<&Expanded> {
        None
    }

    fn check_columns(&self, call: &Call<'_>) -> Result<(), Error> {
        self.check_whole(call.rules.judges)
    }

    fn bytes(&self, i: usize) -> usize {
        let len = |layout: &Layout<'_, O>, end| layout.place(i, end).1;
        let data = self.data_layout.as_ref();
        len(&self.layout, self.text.src_len)
            .saturating_add(data.map_or(0, |layout| len(layout, self.data.len())))
    }

    fn borders_are_good(&self, starts: &[usize]) -> bool {
        // A part knows neither the slot before it nor that it begins behind the end.
        let good = |layout: &Layout<'_, O>, end| {
            let mut borders = starts.iter().skip(1);
            borders.all(|&i| layout.place(i, end).3 & SIGN == 0)
        };
        good(&self.layout, self.text.src_len)
            && self
                .output
                .is_none_or(|layout| good(&layout, self.text.dst_len))
            && self
                .data_layout
                .is_none_or(|layout| good(&layout, self.data.len()))
    }

    fn parts(&mut self, starts: &[usize]) -> impl Iterator<Item = Packed<'_, O>> {
        let ranges = ranges(starts, self.count());
        let Packed {
            ref text,
            layout,
            output,
            nonces,
            nonce,
            ref tags,
            tag,
            received,
            attached,
            data,
            data_layout,
            keys,
            opened_lens,
            ref mut results,
        } = *self;
        let mut results = results.as_deref_mut();
        ranges.map(move |range| {
            let (layout, read) = layout.part(&range);
            let (output, written) = match output {
                Some(output) => {
                    let (output, written) = output.part(&range);
                    (Some(output), written)
                }
                None => (None, read),
            };
            let (data_layout, data_start) = match data_layout {
                Some(layout) => {
                    let (layout, start) = layout.part(&range);
                    (Some(layout), start)
                }
                None => (None, 0),
            };
            let nonces_start = range.start.saturating_mul(nonce.stride);
            let tags_start = range.start.saturating_mul(tag.stride);
            Packed {
                text: text.after(read, written),
                layout,
                output,
                nonces: &nonces[nonces_start.min(nonces.len())..],
                nonce,
                tags: tags.after(tags_start, tags_start),
                tag,
                received,
                attached,
                data: &data[data_start.min(data.len())..],
                data_layout,
                keys: keys.map(|keys| &keys[range.clone()]),
                opened_lens: opened_lens.map(|lengths| &lengths[range.clone()]),
                results: match &mut results {
                    Some(left) => left.split_off_mut(..range.len()),
                    None => None,
                },
            }
        })
    }

    fn check(&mut self, call: &Call<'_>, memory: Option<&mut Made>) -> Result<Alike, Error> {
        self.check_whole(call.rules.judges)?;
        let n = self.count();
        if n == 0 {
            return Ok(Alike::ALL);
        }
        if let Some(alike) = self.all_good(call, memory) {
            return Ok(alike);
        }
        let mut admission = call.admission();
        for i in 0..n {
            let written = self
                .describe(call, i)
                .and_then(|job| admission.admit(&job))
                .map_err(|e| self.as_given(i, e).at(i))?;
            self.report(i, Status::Done, written);
        }
        Ok(Alike::new(false, false, call.has_shared_key()))
    }

    fn prepare(&mut self, call: &Call<'_>, alike: Alike, range: Range<usize>, memory: &mut Made) {
        if alike.are_made() {
            return;
        }
        // Looked at again, for memory that another program part changes against all
        // rules: nothing beyond the buffers may be touched.
        let jobs = memory.like(&self.in_all_jobs(), range.len());
        let seen = self.walk_all::<true>(call, range, jobs);
        let alike = (seen.texts || !alike.texts()) && (seen.data || !alike.data());
        assert!(
            seen.good && alike,
            "the layout of a batch changed during a call"
        );
    }

    fn jobs<'a>(&'a self, range: Range<usize>, memory: &'a Made) -> &'a [Job] {
        Aligned::jobs(&memory.jobs[..range.len()])
    }

    #[inline(always)]
    fn report(&mut self, i: usize, status: Status, len: usize) {
        // A batch that is refused may have too few.
        if let Some(result) = self.results.as_mut().and_then(|all| all.get_mut(i)) {
            *result = MessageResult { status, len };
        }
    }
}

impl<O: Offset> Packed<'_, O> {
    /// What is wrong with the batch as a whole; `verdicts`: the call makes a verdict for
    /// every message.
    fn check_whole(&self, verdicts: bool) -> Result<(), Error> {
        let n = self.layout.len();
        let count = |given: usize, field| match given {
            g if g == n => Ok(()),
            g => Err(Error::new(field, g, Allowed::Exactly(n))),
        };
        if let Layout::Slots { starts, .. } = self.layout {
            count(starts.len(), Field::Count)?;
        }
        let Text {
            src,
            src_len,
            dst,
            dst_len,
            ..
        } = self.text;
        if (src.cast_mut() != dst || self.output.is_some()) && !disjoint(src, src_len, dst, dst_len)
        {
            let apart = src.addr().abs_diff(dst.addr());
            return Err(Error::new(Field::Overlap, apart, Allowed::Nothing));
        }
        if let Some(output) = &self.output {
            count(output.len(), Field::Count)?;
            if let Layout::Slots { starts, .. } = output {
                count(starts.len(), Field::Count)?;
            }
        }
        if let Some(data) = &self.data_layout {
            count(data.len(), Field::Count)?;
            if let Layout::Slots { starts, .. } = data {
                count(starts.len(), Field::Count)?;
            }
        }
        if let Some(keys) = self.keys {
            count(keys.len(), Field::Count)?;
        }
        if let Some(lengths) = self.opened_lens {
            count(lengths.len(), Field::Count)?;
        }
        match &self.results {
            Some(results) => count(results.len(), Field::Count)?,
            None if verdicts => count(0, Field::Count)?,
            None => {}
        }
        if self.attached > 0 && self.tag.bytes > 0 {
            return Err(Error::new(
                Field::TagLength,
                self.tag.bytes,
                Allowed::Nothing,
            ));
        }
        for (column, Stride { bytes, stride }, field) in [
            (self.nonces.len(), self.nonce, Field::NonceLength),
            (self.tags.src_len, self.tag, Field::TagLength),
        ] {
            if n > 0 && bytes > 0 {
                if bytes > stride && n > 1 {
                    return Err(Error::new(field, bytes, Allowed::AtMost(stride)));
                }
                let needed = (n - 1).saturating_mul(stride).saturating_add(bytes);
                if column < needed {
                    let entries = match column.checked_sub(bytes) {
                        Some(others) => 1 + others.checked_div(stride).unwrap_or(0),
                        None => 0,
                    };
                    return Err(Error::new(Field::Count, entries, Allowed::Exactly(n)));
                }
            }
        }
        Ok(())
    }

    /// Whether all messages are good, as most batches are, none of them long. Then results are
    /// reported. Jobs of few messages are made in `memory`; of more, and without memory, columns
    /// are looked at.
    fn all_good(&mut self, call: &Call<'_>, memory: Option<&mut Made>) -> Option<Alike> {
        let same = self.in_all_jobs();
        if !call.takes_all_like(&same) {
            return None;
        }
        let range = 0..self.layout.len();
        let jobs = memory
            .filter(|_| range.len() <= SHORT_STRETCH)
            .map(|memory| memory.like(&same, range.len()));
        let made = jobs.is_some();
        let seen = match jobs {
            Some(jobs) => self.walk_all::<true>(call, range, jobs),
            None => self.walk_all::<false>(call, range, &mut []),
        };
        if !(seen.good && seen.short) {
            return None;
        }
        let keys = match self.keys {
            Some(keys) => call.have_places(keys.iter().copied())?,
            None => call.have_places([0].into_iter())?,
        };
        if let Some(results) = &mut self.results {
            let bounds = call.bounds(self.attached);
            by_layout!(self.layout, layout => {
                layout.walk(0..layout.len(), 0, results.iter_mut(), |result, (_, len, ..)| {
                    *result = MessageResult {
                        status: Status::Done,
                        len: bounds.fit(len, 0).1,
                    };
                })
            });
        }
        Some(Alike::new(seen.texts, seen.data, keys).made(made))
    }

    /// Whether a text of a good length that is inside its buffer has room for its result.
    fn fits_where_it_is(&self, bounds: &Bounds) -> bool {
        self.output.is_none() && bounds.are_plain(self.text.dst_len >= self.text.src_len)
    }

    /// What is the same in all jobs. For a column of keys or of lengths it has a value that no
    /// batch without the column has, so that [`Made`] tells them apart.
    fn in_all_jobs(&self) -> Job {
        Job {
            nonce_len: length(self.nonce.bytes),
            // One of the two is 0.
            tag_len: length(self.tag.bytes + self.attached),
            tag_attached: match (self.attached, self.received) {
                (0, false) => 0,
                (0, true) => RECEIVED,
                _ => ATTACHED,
            },
            components: u32::from(self.data_layout.is_some()),
            key_index: u32::from(self.keys.is_some()),
            opened_len: match self.opened_lens {
                Some(_) => 0,
                None => usize::MAX,
            },
            ..Job::NONE
        }
    }

    /// Looks at messages `range`, and completes their `jobs` if they are to be made (`MAKE`), which
    /// have what is the same in all. Lengths are written only where they are looked at again.
    #[inline(never)]
    fn walk_all<const MAKE: bool>(
        &self,
        call: &Call<'_>,
        range: Range<usize>,
        jobs: &mut [Job],
    ) -> Seen {
        let Text {
            src,
            src_len: src_end,
            dst,
            ..
        } = self.text;
        let bounds = call.bounds(self.attached);
        let mut good = true;
        let fits = self.fits_where_it_is(&bounds);
        let texts = if fits {
            let texts = self.layout.column(
                range.clone(),
                src_end,
                bounds.least(),
                jobs,
                #[inline(always)]
                |job, start, len| {
                    not_by_vectors();
                    (job.src, job.len) = (src.wrapping_add(start), len);
                    job.dst = dst.wrapping_add(start);
                },
            );
            good &= bounds.fit(texts.lengths, usize::MAX).0;
            texts
        } else {
            let (texts, fit) = self.texts_and_results(&bounds, range.clone(), jobs);
            good &= fit;
            texts
        };
        let data = match &self.data_layout {
            Some(layout) => {
                let start_of_all = self.data.as_ptr();
                layout.column(
                    range.clone(),
                    self.data.len(),
                    0,
                    jobs,
                    #[inline(always)]
                    |job, start, len| {
                        not_by_vectors();
                        (job.data, job.data_len) = (start_of_all.wrapping_add(start), len);
                    },
                )
            }
            None => Column::default(),
        };
        let seen = Seen {
            good: good && (texts.wrong | data.wrong) & SIGN == 0,
            short: is_short(texts.lengths | data.lengths),
            texts: texts.differences == 0,
            data: data.differences == 0,
        };
        if MAKE {
            self.complete(range.start, jobs);
            if seen.good && self.attached > 0 {
                for job in jobs {
                    (job.tag, job.len) = call.prepared(job);
                }
            }
        }
        seen
    }

    /// Looks at texts and at places of results; whether each has room there. Both are put into
    /// `jobs`, if there are any.
    #[inline(never)]
    fn texts_and_results(
        &self,
        bounds: &Bounds,
        range: Range<usize>,
        jobs: &mut [Job],
    ) -> (Column, bool) {
        // With places of results there is twice as much to check: vectors pay for half as many messages.
        if range.len() >= FEW / 2 {
            let (range, jobs) = (range.clone(), &mut *jobs);
            let seen = in_vectors(
                #[inline(always)]
                || self.look_at_both(bounds, range, jobs),
            );
            if let Some(seen) = seen {
                return seen;
            }
        }
        let Text { src, src_len, .. } = self.text;
        let mut texts = self.layout.column(
            range.clone(),
            src_len,
            0,
            jobs,
            #[inline(always)]
            |job, start, len| {
                not_by_vectors();
                (job.src, job.src_len, job.len) = (src.wrapping_add(start), len, len);
            },
        );
        let mut good = true;
        for (k, i) in range.enumerate() {
            let (start, room, bad) = self.result(i);
            texts.wrong |= bad;
            let len = match jobs.get_mut(k) {
                Some(job) => {
                    (job.dst, job.dst_len) = (self.text.dst.wrapping_add(start), room);
                    job.len
                }
                None => self.layout.place(i, src_len).1,
            };
            good &= bounds.fit(len, room).0;
        }
        (texts, good)
    }

    /// The same for many messages: some are looked at together, and then put into their jobs.
    #[inline(always)]
    fn look_at_both(
        &self,
        bounds: &Bounds,
        range: Range<usize>,
        jobs: &mut [Job],
    ) -> (Column, bool) {
        let Text {
            src,
            src_len,
            dst,
            dst_len,
            ..
        } = self.text;
        let about = (src_len, self.layout.place(range.start, src_len).1, 0);
        let (mut starts, mut lengths) = ([0; TOGETHER], [0; TOGETHER]);
        let (mut results, mut rooms) = ([0; TOGETHER], [0; TOGETHER]);
        let (mut texts, mut good) = (Column::default(), true);
        for from in range.clone().step_by(TOGETHER) {
            let n = (range.end - from).min(TOGETHER);
            let these = from..from + n;
            let (starts, lengths) = (&mut starts[..n], &mut lengths[..n]);
            let (results, rooms) = (&mut results[..n], &mut rooms[..n]);
            let to = starts.iter_mut().zip(&mut *lengths).zip(&mut *rooms);
            texts.add(self.layout.look(
                these.clone(),
                about,
                to,
                #[inline(always)]
                |((to_start, to_len), to_room), (start, len, room)| {
                    (*to_start, *to_len, *to_room) = (start, len, room);
                },
            ));
            match &self.output {
                Some(output) => {
                    let of_results = output.look(
                        these,
                        (dst_len, 0, 0),
                        results.iter_mut().zip(&mut *rooms),
                        #[inline(always)]
                        |(to_start, to_room), (start, room, _)| {
                            (*to_start, *to_room) = (start, room);
                        },
                    );
                    texts.wrong |= of_results.wrong;
                }
                None => {
                    results.copy_from_slice(starts);
                    for (room, start) in rooms.iter_mut().zip(&*starts) {
                        *room = (*room).min(dst_len.saturating_sub(*start));
                    }
                }
            }
            for (len, room) in lengths.iter().zip(&*rooms) {
                good &= bounds.fit(*len, *room).0;
            }
            if jobs.is_empty() {
                continue;
            }
            let them = starts.iter().zip(lengths).zip(results.iter().zip(rooms));
            let jobs = &mut jobs[from - range.start..][..n];
            for (job, ((start, len), (result, room))) in jobs.iter_mut().zip(them) {
                not_by_vectors();
                (job.src, job.src_len, job.len) = (src.wrapping_add(*start), *len, *len);
                (job.dst, job.dst_len) = (dst.wrapping_add(*result), *room);
            }
        }
        (texts, good)
    }

    /// Start and room of the result of message `i` in the destination; the last number has
    /// [`SIGN`] set where its place is refused.
    #[inline(always)]
    fn result(&self, i: usize) -> (usize, usize, usize) {
        let dst_end = self.text.dst_len;
        match &self.output {
            Some(output) => {
                let (start, room, _, bad) = output.place(i, dst_end);
                (start, room, bad)
            }
            None => {
                let (start, _, room, bad) = self.layout.place(i, self.text.src_len);
                (start, room.min(dst_end.saturating_sub(start)), bad)
            }
        }
    }

    /// What is left to write to jobs of messages from `first` on.
    #[inline(always)]
    fn complete(&self, first: usize, jobs: &mut [Job]) {
        if self.nonce.bytes | self.tag.bytes > 0 {
            // A column that is not there has null for each.
            let (mut nonce, nonces) = match self.nonce.bytes {
                0 => (core::ptr::null(), 0),
                _ => (self.nonces.as_ptr(), self.nonce.stride),
            };
            let (mut tag, tags) = match self.tag.bytes {
                0 => (core::ptr::null_mut(), 0),
                _ => (self.tags.src.cast_mut(), self.tag.stride),
            };
            nonce = nonce.wrapping_add(first.wrapping_mul(nonces));
            tag = tag.wrapping_add(first.wrapping_mul(tags));
            for job in jobs.iter_mut() {
                not_by_vectors();
                (job.nonce, job.tag) = (nonce, tag);
                nonce = nonce.wrapping_add(nonces);
                tag = tag.wrapping_add(tags);
            }
        }
        if let Some(keys) = self.keys {
            for (job, key) in jobs.iter_mut().zip(&keys[first..]) {
                job.key_index = *key;
            }
        }
        if let Some(lengths) = self.opened_lens {
            for (job, len) in jobs.iter_mut().zip(&lengths[first..]) {
                job.opened_len = len.get().unwrap_or(usize::MAX);
            }
        }
    }

    /// An error about message `i`, with the opened length that was given: a job cannot hold one below 0.
    fn as_given(&self, i: usize, error: Error) -> Error {
        match (error.field, self.opened_lens) {
            (Field::OpenedLength, Some(lengths)) => {
                let given = lengths[i].get().map_or(Given::Negative, Given::Number);
                Error { given, ..error }
            }
            _ => error,
        }
    }

    /// The job of message `i`, for admission to judge, or what is wrong with its places.
    fn describe(&self, call: &Call<'_>, i: usize) -> Result<Job, Error> {
        let (src_end, dst_end) = (self.text.src_len, self.text.dst_len);
        self.layout.check(i, src_end)?;
        if let Some(output) = &self.output {
            output.check(i, dst_end)?;
        }
        if let Some(data) = &self.data_layout {
            data.check(i, self.data.len())?;
        }
        let mut job = self.in_all_jobs();
        self.walk_all::<true>(call, i..i + 1, core::slice::from_mut(&mut job));
        job.src_len = self.layout.place(i, src_end).1;
        job.dst_len = self.result(i).1;
        Ok(job)
    }
}

/// What was seen of some messages of a packed batch.
struct Seen {
    /// They lie inside their buffers, and their lengths are good.
    good: bool,
    /// None of them is long.
    short: bool,
    /// All texts have one length.
    texts: bool,
    /// So have associated data.
    data: bool,
}

/// The jobs of a stretch, in memory that is used again for the next one. What is the same in all
/// jobs is written only when it is not what it was before.
pub(crate) struct Made {
    jobs: Vec<Aligned<Job>>,
    /// What is the same in all.
    same: Job,
}

impl Made {
    pub(crate) fn new() -> Self {
        Made {
            jobs: Vec::new(),
            same: Job::NONE,
        }
    }

    /// `n` jobs that have the members of `same` which differ from batch to batch.
    fn like(&mut self, same: &Job, n: usize) -> &mut [Job] {
        let members = |job: &Job| {
            (
                (job.nonce_len, job.tag_len, job.tag_attached),
                (job.components, job.key_index, job.opened_len),
            )
        };
        if members(same) != members(&self.same) {
            self.same = *same;
            self.jobs.clear();
        }
        if self.jobs.len() < n {
            self.jobs.resize(n, Aligned(*same));
        }
        Aligned::jobs_mut(&mut self.jobs[..n])
    }
}

impl<O: Offset> Batch for Packed<'_, O> {}
