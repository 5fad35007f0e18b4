//! Runs a batch, piece by piece.

use crate::input::Slices;
use crate::memory::{Place, Source};
use crate::output::Lengths;
use aescomb::{Comb, Error, Message, Op, OpenError};
use aescomb_columns::values::{Keyed, PIECE, shares, together, with_comb, worth};
use std::num::NonZeroUsize;
use std::ops::Range;
use std::vec::IntoIter;

/// Messages and what belongs to them.
pub(crate) struct Batch<'a> {
    pub(crate) sources: Vec<Source<'a>>,
    /// Empty for a mode without nonces.
    pub(crate) nonces: Vec<&'a [u8]>,
    pub(crate) data: Slices<'a>,
    pub(crate) tags: Tags<'a>,
    /// Lengths when opened, where the mode does not tell.
    pub(crate) opened: Option<Vec<usize>>,
    /// Where results go; none to verify.
    pub(crate) places: Vec<Place<'a>>,
    pub(crate) lengths: Lengths,
}

pub(crate) enum Tags<'a> {
    /// None, or so many bytes after the ciphertext.
    Appended(usize),
    /// What is made.
    Made,
    /// What is verified.
    Given(Vec<&'a mut [u8]>),
}

/// What became of a batch.
pub(crate) struct Outcome {
    /// Messages that failed.
    pub(crate) failed: Vec<usize>,
    /// Lengths of the results, if some are shorter than their places.
    pub(crate) lens: Option<Vec<usize>>,
}

impl<'a> Batch<'a> {
    pub(crate) fn bytes(&self) -> usize {
        self.sources.iter().map(|source| source.len()).sum()
    }

    /// Does it all on so many threads at most; an error comes with the place of the first
    /// message of the piece that was refused.
    pub(crate) fn run(
        mut self,
        threads: NonZeroUsize,
        keys: &Keyed<'_>,
        op: Op,
    ) -> Result<Outcome, (Error, usize)> {
        let n = self.sources.len();
        let threads = worth(threads, n, self.bytes());
        let mut places = std::mem::take(&mut self.places).into_iter();
        let mut given = match &mut self.tags {
            Tags::Given(tags) => std::mem::take(tags).into_iter(),
            _ => Vec::new().into_iter(),
        };
        if threads == 1 {
            return with_comb(|comb| self.run_share(comb, keys, op, 0..n, (places, given)));
        }
        let share = |share: Range<usize>| {
            let places: Vec<_> = places.by_ref().take(share.len()).collect();
            let given: Vec<_> = given.by_ref().take(share.len()).collect();
            (share, (places.into_iter(), given.into_iter()))
        };
        let shares = shares(threads, n, PIECE).into_iter().map(share);
        let outcomes = together(threads, shares.collect(), |(share, memory)| {
            with_comb(|comb| self.run_share(comb, keys, op, share, memory))
        });
        let mut all = self.nothing(n);
        for outcome in outcomes {
            let Outcome { failed, lens } = outcome?;
            all.failed.extend(failed);
            if let (Some(all), Some(lens)) = (&mut all.lens, lens) {
                all.extend(lens);
            }
        }
        Ok(all)
    }

    /// An outcome with room for so many messages.
    fn nothing(&self, messages: usize) -> Outcome {
        Outcome {
            failed: Vec::new(),
            lens: (self.lengths == Lengths::Shorter).then(|| Vec::with_capacity(messages)),
        }
    }

    /// Does these messages, with their places and given tags.
    fn run_share(
        &self,
        comb: &mut Comb,
        keys: &Keyed<'_>,
        op: Op,
        share: Range<usize>,
        (mut places, mut given): (IntoIter<Place<'_>>, IntoIter<&mut [u8]>),
    ) -> Result<Outcome, (Error, usize)> {
        let n = share.len();
        let mut outcome = self.nothing(n);
        let mut messages = Vec::with_capacity(n.min(PIECE));
        for start in share.clone().step_by(PIECE) {
            let piece = start..share.end.min(start + PIECE);
            messages.clear();
            for i in piece {
                let source = self.sources[i];
                let message = match (&self.tags, places.next(), given.next()) {
                    (Tags::Appended(bytes), Some(place), _) => {
                        Message::new(source.to(place)).tag_attached(*bytes)
                    }
                    (Tags::Made, Some(place), _) => {
                        Message::new(source.read_only()).tag(place.zeroed())
                    }
                    (_, _, tag) => Message::new(source.read_only()).tag(tag.unwrap_or_default()),
                };
                let nonce = self.nonces.get(i).copied().unwrap_or_default();
                let opened = self
                    .opened
                    .as_ref()
                    .map_or(usize::MAX, |lengths| lengths[i]);
                let mut message = message.nonce(nonce).opened_len(opened);
                if let Some(&[place]) = keys.places(i..i + 1) {
                    message = message.key_index(place);
                }
                messages.push(message.associated_data_vector(self.data.of(i)));
            }
            match comb.run(op, keys.keys(), &mut messages) {
                Ok(()) => {}
                Err(OpenError::Refused(error)) => return Err((error, start)),
                Err(OpenError::Failed(failed)) => {
                    outcome.failed.extend(failed.messages().map(|i| start + i));
                }
            }
            if let Some(lens) = &mut outcome.lens {
                lens.extend(messages.iter().map(|message| message.output().len()));
            }
        }
        Ok(outcome)
    }
}
