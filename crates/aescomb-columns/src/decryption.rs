//! The decryption of a column's values.

use crate::arrays;
use crate::cipher::{Beside, OnFailure};
use crate::error::{Error, Reason};
use crate::spec::Format;
use crate::treatment::{Candidate, Nonces, Treatment, no_ids};
use crate::values::{
    Columns, Data, Flat, Keep, Keyed, Made, Making, Places, Present, Results, Values, fits,
};
use aescomb::{Lengths, Offset, Op};
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, OffsetSizeTrait};
use arrow_buffer::Buffer;
use arrow_schema::DataType;
use std::borrow::Cow;
use std::num::NonZeroUsize;
use std::ops::Range;

/// Bytes that an array without any value may have, however little is decrypted.
const MOST_EMPTY: usize = 64 << 20;

/// Of a stretch, the rows of its results, and what failed, by rows.
pub(crate) type Part = (Vec<usize>, Vec<(usize, Reason)>);

impl Treatment {
    /// Decrypts values: an array, and what failed, by rows. What failed is an error if
    /// `on_failure` says so.
    pub(crate) fn decrypt(
        &self,
        array: &ArrayRef,
        beside: Beside<'_>,
        threads: NonZeroUsize,
        on_failure: OnFailure,
    ) -> Result<(ArrayRef, Vec<(usize, Reason)>), Error> {
        match arrays::is_large(array.data_type()) {
            true => self.decrypt_by::<i64>(array, beside, threads, on_failure),
            false => self.decrypt_by::<i32>(array, beside, threads, on_failure),
        }
    }

    /// With such offsets.
    fn decrypt_by<O: Offset + OffsetSizeTrait>(
        &self,
        array: &ArrayRef,
        beside: Beside<'_>,
        threads: NonZeroUsize,
        on_failure: OnFailure,
    ) -> Result<(ArrayRef, Vec<(usize, Reason)>), Error> {
        let of = match &self.of {
            DataType::Dictionary(_, values) => values,
            other => other,
        };
        let ids = match (&self.key_column, beside.keys, self.format) {
            (Some(_), Some(ids), _) => Some(self.ids(ids)?),
            (Some(name), None, Format::Spark | Format::Clickhouse | Format::Plain) => {
                return Err(no_ids(name));
            }
            _ => None,
        };
        let nonces = match (&self.nonces, beside.nonces) {
            (Nonces::Column(..), Some(nonces)) => Some(self.nonces_of(nonces)?),
            (Nonces::Column(name, _), None) => {
                return Err(Error::column(name, "missing", "a column of nonces"));
            }
            _ => None,
        };
        let data = self.data::<O>(array.len());
        let threads = Treatment::worth(array, threads);
        let most = |rows: Range<usize>| (arrays::bytes(array, rows.clone()), rows.len());
        let (keep, all) = (Keep::No, array.len());
        let (made, parts) = Made::by_stretches(threads, keep, all, most, |rows, making| {
            let stretch = array.slice(rows.start, rows.len());
            let given = (ids.as_ref(), nonces.as_deref(), data.as_ref());
            self.decrypt_stretch(&stretch, rows.start, given, making)
        })?;
        let (good, mut failures) = self.gathered(&made, parts, array.len(), of)?;
        let rows = good.whole();
        let mut results = Results {
            bytes: made.bytes,
            ends: made.ends,
            rows,
            failed: &made.failed,
            row: &|i| rows.row(i),
        };
        let mut failed = made.failed.clone();
        // Before anything is made for all rows: the width of values is not authenticated.
        let stop = |results: &Results<'_, O>, failures: &[(usize, Reason)]| {
            if on_failure == OnFailure::Null {
                return Ok(());
            }
            let misfits = results.misfits(of).into_iter();
            let misfits = misfits.map(|(i, what)| (rows.row(i), Reason::Type(what)));
            let first = failures
                .iter()
                .cloned()
                .chain(misfits)
                .min_by_key(|(row, _)| *row);
            first.map_or(Ok(()), |(row, reason)| Err(self.failed(row, reason)))
        };
        if !failures.is_empty() {
            stop(&results, &failures)?;
        }
        if let Err(refused) = self.refuse_width(array, of, &results) {
            stop(&results, &failures)?;
            return Err(refused);
        }
        let array = match results.array(of) {
            Ok(array) => array,
            Err(_) => {
                let mut bytes = results.bytes.to_vec();
                for (i, what) in results.misfits(of) {
                    let (start, end) = (results.ends[i].as_usize(), results.ends[i + 1].as_usize());
                    // What is null is text, too.
                    bytes[start..end].fill(0);
                    failures.push((rows.row(i), Reason::Type(what)));
                    failed.push(i);
                }
                stop(&results, &failures)?;
                failed.sort_unstable();
                results.bytes = Buffer::from_vec(bytes);
                results.failed = &failed;
                results.array(of).map_err(|refused| self.unfit(&refused))?
            }
        };
        failures.sort_by_key(|(row, _)| *row);
        Ok((array, failures))
    }

    /// The rows of all parts' results, and what failed, where the results fit the type `of`.
    pub(crate) fn gathered<O: OffsetSizeTrait>(
        &self,
        made: &Made<O>,
        parts: Vec<Part>,
        rows: usize,
        of: &DataType,
    ) -> Result<(Present, Vec<(usize, Reason)>), Error> {
        fits(made.bytes.len(), of).map_err(|refused| self.unfit(&refused))?;
        let (mut good, mut failures) = (Vec::new(), Vec::new());
        for (rows, failed) in parts {
            good.push(rows);
            failures.extend(failed);
        }
        let good = Present::these(good.into_iter().flatten(), rows);
        Ok((good, failures))
    }

    /// Decrypts a stretch of values, of which the first is in this row.
    #[allow(clippy::type_complexity)]
    fn decrypt_stretch<O: Offset + OffsetSizeTrait>(
        &self,
        array: &ArrayRef,
        start: usize,
        (ids, nonces, data): (
            Option<&ArrayRef>,
            Option<&[Option<&[u8]>]>,
            Option<&Data<'_, O>>,
        ),
        making: &mut Making<'_, O>,
    ) -> Result<Part, Error> {
        let present = arrays::present(array);
        let all = present.whole();
        let given = array.to_data();
        let (bytes, starts, lens) = slots(arrays::values::<O>(array, &given, all));
        let mut values = Batch {
            treatment: self,
            data,
            bytes: &bytes,
            rows: Vec::with_capacity(starts.len()),
            starts: Vec::with_capacity(starts.len()),
            lens: Vec::with_capacity(starts.len()),
            nonces: Vec::with_capacity(starts.len() * self.nonces.width()),
            keys: Vec::with_capacity(starts.len()),
        };
        let mut failures = Vec::new();
        let raw = self.raw().next();
        for (i, row) in all.rows().enumerate() {
            let value = &bytes[starts[i].as_usize()..][..lens[i].as_usize()];
            let row = start + row;
            let nonce = match nonces {
                None => Ok(&[][..]),
                Some(nonces) => nonces[row].ok_or(Reason::NullNonce),
            };
            let key = match ids {
                Some(ids) => self.key(ids, row),
                None => self.key_of(value, raw),
            };
            let place =
                nonce.and_then(|nonce| Ok((self.admit(value, nonce, key.clone()?)?, nonce)));
            match place {
                Ok((place, nonce)) => values.push(row, starts[i], value, nonce, place),
                Err(reason) => failures.push((row, reason)),
            }
        }
        let first = making.count();
        values.run(making)?;
        let mut failed = making.failed_from(first);
        if !failed.is_empty() && raw.is_some() && values.try_raw(&failed)? {
            making.take_back(first);
            values.run(making)?;
            failed = making.failed_from(first);
        }
        let reason = match self.tags {
            0 => Reason::Padding,
            _ => Reason::Authentication,
        };
        let failed = failed.iter();
        failures.extend(failed.map(|i| (values.rows[*i], reason.clone())));
        Ok((values.rows, failures))
    }

    /// Refuses a width of values that none of the results has, if values of it for all rows would
    /// take much more memory than what is decrypted.
    fn refuse_width<O: OffsetSizeTrait>(
        &self,
        array: &ArrayRef,
        of: &DataType,
        results: &Results<'_, O>,
    ) -> Result<(), Error> {
        // Others have at most 32 bytes.
        let DataType::FixedSizeBinary(width) = of else {
            return Ok(());
        };
        let width = usize::try_from(*width).unwrap_or(0);
        let most = MOST_EMPTY.max(array.get_buffer_memory_size());
        let needed = array.len().saturating_mul(width);
        if needed <= most || results.any_of(width) {
            return Ok(());
        }
        let what = format!(
            "{of}, which no value has: {needed} bytes for {} rows",
            array.len()
        );
        Err(Error::column(&self.name, what, format!("{most} bytes")))
    }

    /// The nonces of all rows.
    fn nonces_of<'a>(&self, array: &'a ArrayRef) -> Result<Vec<Option<&'a [u8]>>, Error> {
        Ok(match array.data_type() {
            DataType::FixedSizeBinary(_) => array.as_fixed_size_binary().iter().collect(),
            DataType::Binary => array.as_binary::<i32>().iter().collect(),
            DataType::LargeBinary => array.as_binary::<i64>().iter().collect(),
            DataType::BinaryView => array.as_binary_view().iter().collect(),
            other => return Err(Error::column(&self.name, other, "binary nonces")),
        })
    }

    /// Keys whose values begin with nothing.
    fn raw(&self) -> impl Iterator<Item = usize> {
        let keys = self.keys.iter().enumerate();
        let raw = keys.filter(|(_, key)| key.enabled && key.prefix.is_empty());
        raw.map(|(i, _)| i).filter(|_| self.format == Format::Tink)
    }

    /// The key that a value says it has, or the first that says nothing.
    fn key_of(&self, value: &[u8], raw: Option<usize>) -> Result<usize, Reason> {
        if self.format != Format::Tink {
            return self.own.ok_or(Reason::Prefix);
        }
        let begins = |key: &Candidate| !key.prefix.is_empty() && value.starts_with(&key.prefix);
        match (self.keys.iter().position(begins), raw, value) {
            (Some(place), _, _) if self.keys[place].enabled => Ok(place),
            (_, Some(raw), _) => Ok(raw),
            (Some(place), ..) => Err(Reason::DisabledKey(self.keys[place].id)),
            (None, None, [0 | 1, a, b, c, d, ..]) => {
                Err(Reason::UnknownKey(u32::from_be_bytes([*a, *b, *c, *d])))
            }
            (None, None, [] | [0 | 1, ..]) => Err(Reason::Truncated {
                given: value.len(),
                least: 5 + self.nonces.inline() + self.tags,
            }),
            _ => Err(Reason::Prefix),
        }
    }

    /// The key, if the value has the bytes that its format and mode ask for.
    fn admit(&self, value: &[u8], nonce: &[u8], key: usize) -> Result<usize, Reason> {
        let front = self.keys[key].prefix.len() + self.nonces.inline();
        let padded = self.mode.info().lengths == Lengths::Padded;
        let least = front + self.tags + if padded { 16 } else { 0 };
        if value.len() < least {
            let given = value.len();
            return Err(Reason::Truncated { given, least });
        }
        let len = value.len() - front;
        if padded && !len.is_multiple_of(16) {
            return Err(Reason::TextLength(len));
        }
        match &self.nonces {
            Nonces::Column(_, width) if nonce.len() != *width => {
                Err(Reason::NonceLength(nonce.len()))
            }
            _ => Ok(key),
        }
    }
}

/// Where values lie.
pub(crate) fn slots<O: OffsetSizeTrait>(values: Values<'_, O>) -> (Cow<'_, [u8]>, Vec<O>, Vec<O>) {
    match values.places {
        Places::Slots(starts, lens) => (values.bytes, starts, lens),
        Places::Offsets(offsets) => {
            let lens = offsets.windows(2).map(|pair| pair[1] - pair[0]).collect();
            let starts = offsets[..offsets.len() - 1].to_vec();
            (values.bytes, starts, lens)
        }
    }
}

/// Values that are decrypted together.
struct Batch<'a, O: Clone> {
    treatment: &'a Treatment,
    /// The associated data of all.
    data: Option<&'a Data<'a, O>>,
    bytes: &'a [u8],
    rows: Vec<usize>,
    /// Where they begin, prefixes and nonces included.
    starts: Vec<O>,
    lens: Vec<O>,
    /// Those from a column.
    nonces: Vec<u8>,
    keys: Vec<u32>,
}

impl<O: Offset + OffsetSizeTrait> Batch<'_, O> {
    fn push(&mut self, row: usize, start: O, value: &[u8], nonce: &[u8], key: usize) {
        self.rows.push(row);
        self.starts.push(start);
        self.lens.push(O::usize_as(value.len()));
        self.nonces.extend_from_slice(nonce);
        self.keys.push(key as u32);
    }

    fn run(&self, making: &mut Making<'_, O>) -> Result<(), Error> {
        let treatment = self.treatment;
        let count = self.rows.len();
        let Some(first) = treatment.keys.first() else {
            // None of the values had a key.
            return Ok(());
        };
        let width = treatment.nonces.width();
        let inline = treatment.nonces.inline();
        let mut nonces = Vec::with_capacity(count * inline);
        let (mut starts, mut lens) = (self.starts.clone(), self.lens.clone());
        for (i, key) in self.keys.iter().enumerate() {
            let prefix = treatment.keys[*key as usize].prefix.len();
            let start = starts[i].as_usize() + prefix;
            nonces.extend_from_slice(&self.bytes[start..][..inline]);
            let before = O::usize_as(prefix + inline);
            starts[i] += before;
            lens[i] = lens[i] - before;
        }
        let columns = Columns {
            texts: Values {
                bytes: self.bytes.into(),
                places: Places::Slots(starts, lens),
            },
            count,
            nonces: (width > 0).then(|| Flat {
                bytes: match inline {
                    0 => (&self.nonces[..]).into(),
                    _ => nonces.into(),
                },
                width,
            }),
            data: self.data.map(|data| data.part(0..count)),
            prefixes: None,
            inline: false,
        };
        let keyed = match count {
            0 => Keyed::One(&first.key),
            _ => treatment.keyed(self.keys.clone()),
        };
        let op = match treatment.tags {
            0 => Op::Decrypt,
            _ => Op::Open,
        };
        let made = columns.texts(&keyed, 0..count, op, treatment.tags, making);
        made.map_err(|stopped| treatment.stopped(stopped, |i| self.rows[i]))
    }

    /// Tries the keys that values do not name with those that failed, and keeps those that open
    /// them: whether one did.
    fn try_raw(&mut self, failed: &[usize]) -> Result<bool, Error> {
        let (mut left, mut found) = (failed.to_vec(), false);
        let raw: Vec<usize> = self.treatment.raw().collect();
        for key in raw {
            let able = |i: &usize| {
                let value = &self.bytes[self.starts[*i].as_usize()..][..self.lens[*i].as_usize()];
                // Its nonce is in front of it, in this format.
                self.keys[*i] != key as u32 && self.treatment.admit(value, &[], key).is_ok()
            };
            let tried: Vec<usize> = left.iter().copied().filter(able).collect();
            let pick = |from: &[O]| tried.iter().map(|i| from[*i]).collect();
            let trial = Batch {
                treatment: self.treatment,
                data: self.data,
                bytes: self.bytes,
                rows: tried.iter().map(|i| self.rows[*i]).collect(),
                starts: pick(&self.starts),
                lens: pick(&self.lens),
                nonces: Vec::new(),
                keys: vec![key as u32; tried.len()],
            };
            let most = trial.lens.iter().map(|len| len.as_usize()).sum();
            let bad = Made::new(Keep::No, (most, tried.len()), |making| trial.run(making))?.failed;
            for (place, i) in tried.iter().enumerate() {
                if bad.binary_search(&place).is_err() {
                    self.keys[*i] = key as u32;
                    left.retain(|other| other != i);
                    found = true;
                }
            }
        }
        Ok(found)
    }
}
