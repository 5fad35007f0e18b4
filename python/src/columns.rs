//! Batches whose parts are columns of bytes one after the other, as Arrow has them: the
//! library goes by their offsets, and nothing is made of a message but the offset of its
//! result.

use crate::batch::{PIECE, with_comb};
use crate::errors;
use aescomb::{Error, Key, Layout, MessageResult, Offset, Op, Packed, Status, Text};
use arrow_array::OffsetSizeTrait;
use pyo3::PyResult;
use std::mem::MaybeUninit;

/// Values one after the other: `i` is from `offsets[i]` to `offsets[i + 1]`. The offsets
/// ascend; there is one at least.
#[derive(Clone, Copy)]
pub(crate) struct Values<'a, O> {
    pub(crate) bytes: &'a [u8],
    pub(crate) offsets: &'a [O],
}

impl<O: OffsetSizeTrait> Values<'_, O> {
    pub(crate) fn count(&self) -> usize {
        self.offsets.len() - 1
    }
}

/// Values of one length, one after the other.
#[derive(Clone, Copy)]
pub(crate) struct Flat<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) width: usize,
}

/// A batch.
pub(crate) struct Columns<'a, O> {
    pub(crate) texts: Values<'a, O>,
    pub(crate) nonces: Option<Flat<'a>>,
    pub(crate) data: Option<Values<'a, O>>,
}

/// Where results go.
pub(crate) enum To<'a, O> {
    /// By these offsets to the memory, with tags of so many bytes at their ends.
    Texts(&'a [O], &'a mut [MaybeUninit<u8>], usize),
    /// Tags of so many bytes, one after the other, that are made or given.
    Tags(&'a mut [u8], usize),
}

/// Indices of messages that failed; or an error, with the place of the first message of
/// the piece that was refused.
pub(crate) type Outcome = Result<Vec<usize>, (Error, usize)>;

impl<O: Offset + OffsetSizeTrait> Columns<'_, O> {
    /// Bytes of messages.
    pub(crate) fn bytes(&self) -> usize {
        let offsets = self.texts.offsets;
        offsets[self.texts.count()].as_usize() - offsets[0].as_usize()
    }

    /// Where results end that have `len` of the messages' bytes, from 0 on, and how many
    /// bytes they have together.
    pub(crate) fn results(&self, len: impl Fn(usize) -> usize) -> PyResult<(Vec<O>, usize)> {
        let mut offsets = errors::room(self.texts.offsets.len())?;
        let mut end = 0;
        offsets.push(O::usize_as(0));
        for pair in self.texts.offsets.windows(2) {
            let (from, to) = (pair[0].as_usize(), pair[1].as_usize());
            end += len(to - from);
            offsets.push(O::usize_as(end));
        }
        Ok((offsets, end))
    }

    /// Does it, piece by piece.
    pub(crate) fn run(&self, key: &Key, op: Op, mut to: To<'_, O>) -> Outcome {
        let n = self.texts.count();
        let judged = matches!(op, Op::Open | Op::Verify);
        let mut results = vec![MessageResult::default(); if judged { n.min(PIECE) } else { 0 }];
        let mut failed = Vec::new();
        for start in (0..n).step_by(PIECE) {
            let end = n.min(start + PIECE);
            let texts = Layout::Offsets(&self.texts.offsets[start..=end]);
            let mut batch = match &mut to {
                To::Texts(offsets, memory, tag_bytes) => {
                    let text = Text::copy_uninit(self.texts.bytes, memory);
                    let output = Layout::Offsets(&offsets[start..=end]);
                    Packed::new(text, texts)
                        .output(output)
                        .tags_appended(*tag_bytes)
                }
                To::Tags(bytes, width) => {
                    let text = Text::read_only(self.texts.bytes);
                    let tags = &mut bytes[start * *width..end * *width];
                    Packed::new(text, texts).tags(tags, *width, *width)
                }
            };
            if let Some(Flat { bytes, width }) = self.nonces {
                let nonces = &bytes[start * width..end * width];
                batch = batch.nonces(nonces, width, width);
            }
            if let Some(data) = &self.data {
                let offsets = Layout::Offsets(&data.offsets[start..=end]);
                batch = batch.associated_data(data.bytes, offsets);
            }
            let results = &mut results[..if judged { end - start } else { 0 }];
            if judged {
                batch = batch.results(results);
            }
            let verdict = with_comb(|comb| comb.run(op, key, &mut batch));
            if !verdict.map_err(|error| (error, start))?.all_good() {
                let bad = |result: &MessageResult| result.status != Status::Done;
                let numbered = results.iter().enumerate();
                failed.extend(numbered.filter(|(_, r)| bad(r)).map(|(i, _)| start + i));
            }
        }
        Ok(failed)
    }
}
