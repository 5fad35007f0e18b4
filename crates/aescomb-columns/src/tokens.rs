//! Tokens: text that keeps its length and the characters of its alphabet, by FF1.

use crate::arrays;
use crate::cipher::Done;
use crate::decryption::{Part, slots};
use crate::error::{Error, Reason};
use crate::treatment::{Treatment, no_ids};
use crate::values::{Keep, Made, Making, Results};
use aescomb::ff1::{Ff1, MAX_LEN, MAX_TWEAK, Numeral, Values};
use aescomb::{Layout, Op};
use arrow_array::{Array, ArrayRef};
use std::num::NonZeroUsize;
use std::ops::Range;

/// What alphabets may be.
pub(crate) const ALPHABET: &str = "digits, or 2 to 65536 characters, each once";

/// The most characters of an alphabet.
const MOST: usize = 1 << 16;

/// The characters of an alphabet with their numerals, in ascending order.
pub(crate) fn numerals(field: &str, alphabet: &str) -> Result<Vec<(char, u16)>, Error> {
    let count = alphabet.chars().count();
    if !(2..=MOST).contains(&count) {
        let what = format!("{count} characters");
        return Err(Error::spec(field, what, ALPHABET));
    }
    let mut numerals: Vec<(char, u16)> = alphabet.chars().zip(0..=u16::MAX).collect();
    numerals.sort_unstable();
    match numerals.windows(2).find(|pair| pair[0].0 == pair[1].0) {
        Some(pair) => {
            let (twice, at) = pair[1];
            let what = format!("{twice:?} again, at position {at}");
            Err(Error::spec(field, what, ALPHABET))
        }
        None => Ok(numerals),
    }
}

/// What makes tokens.
pub(crate) struct Tokens {
    /// With the alphabet if that is of ASCII: it looks up no character in a table.
    ff1: Ff1,
    is_ascii: bool,
    characters: Vec<char>,
    /// In ascending order of characters.
    numerals: Vec<(char, u16)>,
    /// The most bytes of a character.
    widest: usize,
    tweak: Vec<u8>,
}

/// Results one after the other, where each ends, and which failed.
struct Run {
    bytes: Vec<u8>,
    ends: Vec<usize>,
    failed: Vec<(usize, Reason)>,
}

impl Tokens {
    /// Alphabet and tweak with the fields that say them; keys of lengths that have been checked.
    pub(crate) fn new(
        (alphabet_field, alphabet): (&str, &str),
        (tweak_field, tweak): (&str, Vec<u8>),
        keys: &[&[u8]],
    ) -> Result<Tokens, Error> {
        let numerals = numerals(alphabet_field, alphabet)?;
        if tweak.len() > MAX_TWEAK {
            let what = format!("{} bytes", tweak.len());
            let allowed = format!("at most {MAX_TWEAK} bytes, or dataset and column of as many");
            return Err(Error::spec(tweak_field, what, allowed));
        }
        let characters: Vec<char> = alphabet.chars().collect();
        let Some((first, others)) = keys.split_first() else {
            return Err(Error::key(None, "no key for tokens"));
        };
        let failed = |error| Error::key(None, error);
        let mut ff1 = match alphabet.is_ascii() {
            true => Ff1::with_alphabet(alphabet, first),
            // At most 65,536.
            false => Ff1::new(characters.len() as u32, first),
        }
        .map_err(failed)?;
        for key in others {
            ff1.add_key(key).map_err(failed)?;
        }
        let widths = characters.iter().map(|c| c.len_utf8());
        Ok(Tokens {
            ff1,
            is_ascii: alphabet.is_ascii(),
            widest: widths.max().unwrap_or(1),
            characters,
            numerals,
            tweak,
        })
    }

    fn numeral(&self, character: char) -> Option<u16> {
        let found = self.numerals.binary_search_by_key(&character, |(c, _)| *c);
        found.ok().map(|place| self.numerals[place].1)
    }

    /// What is wrong with a value, if anything.
    fn mistake(&self, text: &str) -> Option<Reason> {
        let position = text.chars().position(|c| self.numeral(c).is_none());
        if let Some(position) = position {
            return Some(Reason::Character(position));
        }
        let (given, least) = (text.chars().count(), self.ff1.min_len());
        let wrong = !(least..=MAX_LEN).contains(&given);
        wrong.then_some(Reason::Length {
            given,
            least,
            most: MAX_LEN,
        })
    }

    /// Does values, by the places of their keys.
    fn run(&self, op: Op, values: &[&str], keys: &[u32]) -> Result<Run, Error> {
        match self.attempt(op, values, keys, Vec::new()) {
            Ok(run) => Ok(run),
            Err(_) => {
                let mistake = |(i, text): (usize, &&str)| Some((i, self.mistake(text)?));
                let failed = values.iter().enumerate().filter_map(mistake);
                let done = self.attempt(op, values, keys, failed.collect());
                done.map_err(|what| Error::key(None, what))
            }
        }
    }

    /// Does the values that have not failed, or says why it cannot.
    fn attempt(
        &self,
        op: Op,
        values: &[&str],
        keys: &[u32],
        failed: Vec<(usize, Reason)>,
    ) -> Result<Run, String> {
        let mut left_out = failed.iter().map(|(i, _)| *i).peekable();
        let is_good = |i: &usize| left_out.next_if_eq(i).is_none();
        let good: Vec<usize> = (0..values.len()).filter(is_good).collect();
        let keys: Vec<u32> = good.iter().map(|i| keys[*i]).collect();
        let texts = good.iter().map(|i| values[*i]);
        let (mut bytes, mut offsets) = (Vec::new(), vec![0]);
        if self.is_ascii {
            for text in texts {
                bytes.extend_from_slice(text.as_bytes());
                offsets.push(bytes.len());
            }
            self.call(op, &mut bytes, &offsets, &keys)?;
        } else {
            let mut given = Vec::new();
            for text in texts {
                for character in text.chars() {
                    let numeral = self.numeral(character);
                    given.push(numeral.ok_or("a character that is not of the alphabet")?);
                }
                offsets.push(given.len());
            }
            self.call(op, &mut given, &offsets, &keys)?;
            let mut text = String::with_capacity(given.len() * self.widest);
            let mut start = 0;
            for end in &mut offsets[1..] {
                let numerals = &given[start..*end];
                text.extend(numerals.iter().map(|n| self.characters[usize::from(*n)]));
                (start, *end) = (*end, text.len());
            }
            bytes = text.into_bytes();
        }
        // What has failed is empty.
        let mut ends = vec![0; values.len()];
        for (i, end) in good.iter().zip(&offsets[1..]) {
            ends[*i] = *end;
        }
        for (i, _) in &failed {
            ends[*i] = i.checked_sub(1).map_or(0, |before| ends[before]);
        }
        Ok(Run {
            bytes,
            ends,
            failed,
        })
    }

    fn call<T: Numeral>(
        &self,
        op: Op,
        values: &mut [T],
        offsets: &[usize],
        keys: &[u32],
    ) -> Result<(), String> {
        let values = Values::in_place(values, Layout::Offsets(offsets));
        let values = values.tweak(&self.tweak).keys(keys);
        let done = match op {
            Op::Decrypt => self.ff1.decrypt(values),
            _ => self.ff1.encrypt(values),
        };
        done.map_err(|error| error.to_string())
    }
}

impl Treatment {
    /// Makes tokens of texts, or texts of tokens: an array of the same type, and what failed.
    pub(crate) fn tokens(
        &self,
        tokens: &Tokens,
        op: Op,
        array: &ArrayRef,
        ids: Option<&ArrayRef>,
        threads: NonZeroUsize,
    ) -> Done {
        let ids = match &self.key_column {
            Some(name) => Some(self.ids(ids.ok_or_else(|| no_ids(name))?)?),
            None => None,
        };
        let most = |rows: Range<usize>| {
            let bytes = arrays::bytes(array, rows.clone());
            (bytes.saturating_mul(tokens.widest), rows.len())
        };
        let threads = Treatment::worth(array, threads);
        let stretch = |rows: Range<usize>, making: &mut Making<'_, i64>| {
            let stretch = array.slice(rows.start, rows.len());
            self.token_stretch(tokens, op, (&stretch, rows.start), ids.as_ref(), making)
        };
        let keep = match op {
            Op::Decrypt => Keep::No,
            _ => Keep::Yes,
        };
        let (made, parts) = Made::by_stretches(threads, keep, array.len(), most, stretch)?;
        let (good, mut failures) = self.gathered(&made, parts, array.len(), array.data_type())?;
        let rows = good.whole();
        let results = Results {
            bytes: made.bytes,
            ends: made.ends,
            rows,
            failed: &made.failed,
            row: &|i| rows.row(i),
        };
        let array = results.array(array.data_type());
        let array = array.map_err(|refused| self.unfit(&refused))?;
        failures.sort_by_key(|(row, _)| *row);
        Ok((array, failures))
    }

    /// Does a stretch, of which the first is in this row: the rows of results, and what failed.
    fn token_stretch(
        &self,
        tokens: &Tokens,
        op: Op,
        (array, start): (&ArrayRef, usize),
        ids: Option<&ArrayRef>,
        making: &mut Making<'_, i64>,
    ) -> Result<Part, Error> {
        let present = arrays::present(array);
        let all = present.whole();
        let given = array.to_data();
        let (bytes, starts, lens) = slots(arrays::values::<i64>(array, &given, all));
        let (mut rows, mut values, mut keys) = (Vec::new(), Vec::new(), Vec::new());
        let mut failures = Vec::new();
        for (i, row) in all.rows().enumerate() {
            let row = start + row;
            let key = match ids {
                Some(ids) => self.key(ids, row),
                None => Ok(self.own.unwrap_or(0)),
            };
            match key {
                Ok(key) => {
                    let value = &bytes[starts[i] as usize..][..lens[i] as usize];
                    let value = str::from_utf8(value);
                    values.push(value.map_err(|error| {
                        self.failed(row, Reason::Type(format!("it is no text: {error}")))
                    })?);
                    rows.push(row);
                    keys.push(key as u32);
                }
                Err(reason) => failures.push((row, reason)),
            }
        }
        let run = tokens.run(op, &values, &keys)?;
        making.append(&run.bytes, run.ends, run.failed.iter().map(|(i, _)| *i));
        let failed = run.failed.into_iter();
        failures.extend(failed.map(|(i, reason)| (rows[i], reason)));
        Ok((rows, failures))
    }
}
