//! [`Values`]: what a call works on.
#![forbid(unsafe_code)]

use super::{Ff1, MAX_LEN, MAX_TWEAK};
use crate::admission::SIGN;
use crate::comb::check_count;
use crate::error::{Allowed, Error, Field};
use crate::layout::{Layout, Offset};
use core::mem::MaybeUninit;

/// Numerals: `u16` for any radix, `u8` for characters of an alphabet.
pub trait Numeral: Copy + sealed::Sealed {
    #[doc(hidden)]
    const ZERO: Self;
    #[doc(hidden)]
    fn value(self) -> u64;
    #[doc(hidden)]
    fn of(value: u64) -> Self;
    /// Whether values may be of this type.
    #[doc(hidden)]
    fn suits(ff1: &Ff1) -> Result<(), Error>;
    /// Whether all are allowed.
    #[doc(hidden)]
    fn all_good(ff1: &Ff1, values: &[Self]) -> bool;
    /// What is wrong with the first that is not.
    #[doc(hidden)]
    fn check(ff1: &Ff1, values: &[Self]) -> Result<(), Error>;
    /// From what callers give to numerals, and back.
    #[doc(hidden)]
    fn decode(ff1: &Ff1, values: &mut [Self]);
    #[doc(hidden)]
    fn encode(ff1: &Ff1, values: &mut [Self]);
}

mod sealed {
    pub trait Sealed: zeroize::DefaultIsZeroes {}
    impl Sealed for u8 {}
    impl Sealed for u16 {}
}

impl Numeral for u16 {
    const ZERO: Self = 0;

    #[inline(always)]
    fn value(self) -> u64 {
        self.into()
    }

    #[inline(always)]
    fn of(value: u64) -> Self {
        value as u16
    }

    fn suits(_: &Ff1) -> Result<(), Error> {
        Ok(())
    }

    fn all_good(ff1: &Ff1, values: &[Self]) -> bool {
        // By signs of differences: a comparison may become a branch.
        let most = ff1.radix - 1;
        let differ = |all, x: &u16| all | most.wrapping_sub(u32::from(*x));
        values.iter().fold(0, differ) >> 31 == 0
    }

    fn check(ff1: &Ff1, values: &[Self]) -> Result<(), Error> {
        match values.iter().position(|x| u32::from(*x) >= ff1.radix) {
            Some(position) => Err(Error::new(
                Field::Numeral { position },
                usize::from(values[position]),
                Allowed::AtMost(ff1.radix as usize - 1),
            )),
            None => Ok(()),
        }
    }

    fn decode(_: &Ff1, _: &mut [Self]) {}

    fn encode(_: &Ff1, _: &mut [Self]) {}
}

impl Numeral for u8 {
    const ZERO: Self = 0;

    #[inline(always)]
    fn value(self) -> u64 {
        self.into()
    }

    #[inline(always)]
    fn of(value: u64) -> Self {
        value as u8
    }

    fn suits(ff1: &Ff1) -> Result<(), Error> {
        match ff1.alphabet {
            Some(_) => Ok(()),
            None => Err(Error::new(
                Field::Alphabet { position: None },
                0,
                Allowed::Nothing,
            )),
        }
    }

    fn all_good(ff1: &Ff1, values: &[Self]) -> bool {
        ff1.alphabet.as_ref().is_some_and(|of| of.has(values))
    }

    fn check(ff1: &Ff1, values: &[Self]) -> Result<(), Error> {
        if let Some(alphabet) = &ff1.alphabet
            && let Some(position) = alphabet.find_bad(values)
        {
            return Err(Error::new(
                Field::Character { position },
                usize::from(values[position]),
                alphabet.allowed(),
            ));
        }
        Ok(())
    }

    fn decode(ff1: &Ff1, values: &mut [Self]) {
        if let Some(alphabet) = &ff1.alphabet {
            alphabet.decode(values);
        }
    }

    fn encode(ff1: &Ff1, values: &mut [Self]) {
        if let Some(alphabet) = &ff1.alphabet {
            alphabet.encode(values);
        }
    }
}

/// Values in one buffer, with their tweaks and the places of their keys: of numerals (`u16`) or
/// of characters (`u8`). Lengths, offsets and strides count these, not bytes.
///
/// ```
/// use aescomb::Layout;
/// use aescomb::ff1::{Ff1, Values};
///
/// let ff1 = Ff1::with_alphabet("0123456789", &[0x2b; 16])?;
/// let mut cards = *b"4111111111111111378282246310005";
/// let offsets = [0u32, 16, 31];
/// let values = Values::in_place(&mut cards, Layout::Offsets(&offsets)).tweak(b"cards");
/// ff1.encrypt(values)?;
/// assert!(cards.iter().all(u8::is_ascii_digit) && !cards.starts_with(b"4111111"));
/// # Ok::<(), aescomb::Error>(())
/// ```
#[derive(Debug)]
pub struct Values<'a, T, O> {
    texts: Texts<'a, T>,
    layout: Layout<'a, O>,
    tweaks: Tweaks<'a, O>,
    keys: Option<&'a [u32]>,
}

#[derive(Debug)]
enum Texts<'a, T> {
    InPlace(&'a mut [T]),
    Copy(&'a [T], &'a mut [T]),
    CopyUninit(&'a [T], &'a mut [MaybeUninit<T>]),
}

#[derive(Debug)]
enum Tweaks<'a, O> {
    Same(&'a [u8]),
    Each(&'a [u8], Layout<'a, O>),
}

impl<'a, T: Numeral, O: Offset> Values<'a, T, O> {
    /// Values that lie in `buffer` as `layout` says, with an empty tweak and the first key.
    /// Results go to their places.
    pub fn in_place(buffer: &'a mut [T], layout: Layout<'a, O>) -> Self {
        Values::new(Texts::InPlace(buffer), layout)
    }

    /// The same with results that go to the same places of `to`, which has as much room.
    /// What is between values is left alone.
    pub fn copy(from: &'a [T], to: &'a mut [T], layout: Layout<'a, O>) -> Self {
        Values::new(Texts::Copy(from, to), layout)
    }

    /// As [`Values::copy`] to memory that was never written. A call without an error writes
    /// the places of all values, and nothing between them.
    pub fn copy_uninit(from: &'a [T], to: &'a mut [MaybeUninit<T>], layout: Layout<'a, O>) -> Self {
        Values::new(Texts::CopyUninit(from, to), layout)
    }

    fn new(texts: Texts<'a, T>, layout: Layout<'a, O>) -> Self {
        Values {
            texts,
            layout,
            tweaks: Tweaks::Same(&[]),
            keys: None,
        }
    }

    /// Sets the tweak of all values.
    pub fn tweak(self, tweak: &'a [u8]) -> Self {
        Values {
            tweaks: Tweaks::Same(tweak),
            ..self
        }
    }

    /// Sets a tweak for each value, in one buffer of bytes.
    pub fn tweaks(self, tweaks: &'a [u8], layout: Layout<'a, O>) -> Self {
        Values {
            tweaks: Tweaks::Each(tweaks, layout),
            ..self
        }
    }

    /// Sets the key of each value, by the numbers that [`Ff1::add_key`] gives; 0 is the first.
    pub fn keys(self, keys: &'a [u32]) -> Self {
        Values {
            keys: Some(keys),
            ..self
        }
    }

    pub(super) fn count(&self) -> usize {
        self.layout.len()
    }

    fn source(&self) -> &[T] {
        match &self.texts {
            Texts::InPlace(buffer) => buffer,
            Texts::Copy(from, _) | Texts::CopyUninit(from, _) => from,
        }
    }

    /// Writes results from `start` on.
    fn put(&mut self, start: usize, from: &[T]) {
        let place = start..start + from.len();
        match &mut self.texts {
            Texts::InPlace(to) | Texts::Copy(_, to) => to[place].copy_from_slice(from),
            Texts::CopyUninit(_, to) => {
                for (to, x) in to[place].iter_mut().zip(from) {
                    to.write(*x);
                }
            }
        }
    }

    /// Start and length of a value that was checked.
    #[inline(always)]
    fn place(&self, i: usize) -> (usize, usize) {
        let (start, len, ..) = self.layout.place(i, self.source().len());
        (start, len)
    }

    #[inline(always)]
    pub(super) fn len(&self, i: usize) -> usize {
        self.place(i).1
    }

    #[inline(always)]
    pub(super) fn key(&self, i: usize) -> u32 {
        self.keys.map_or(0, |keys| keys[i])
    }

    #[inline(always)]
    pub(super) fn tweak_of(&self, i: usize) -> &[u8] {
        match &self.tweaks {
            Tweaks::Same(tweak) => tweak,
            Tweaks::Each(bytes, layout) => {
                let (start, len, ..) = layout.place(i, bytes.len());
                &bytes[start..start + len]
            }
        }
    }

    pub(super) fn has_one_tweak(&self) -> bool {
        matches!(self.tweaks, Tweaks::Same(_))
    }

    /// Where these values, of `len` numerals each, lie one after the other, if they do.
    fn together(&self, order: &[u32], len: usize) -> Option<usize> {
        let (first, last) = (*order.first()?, *order.last()?);
        let (start, _) = self.place(first as usize);
        let (end, _) = self.place(last as usize);
        // Places ascend, and so do the values of a run.
        (end - start == (order.len() - 1) * len).then_some(start)
    }

    /// Copies these values, of `len` numerals each, one after the other.
    pub(super) fn read(&self, order: &[u32], len: usize, to: &mut [T]) {
        if let Some(start) = self.together(order, len) {
            return to.copy_from_slice(&self.source()[start..start + to.len()]);
        }
        for (i, to) in order.iter().zip(to.chunks_exact_mut(len)) {
            let (start, _) = self.place(*i as usize);
            to.copy_from_slice(&self.source()[start..start + len]);
        }
    }

    /// Copies them to the results.
    pub(super) fn write(&mut self, order: &[u32], len: usize, from: &[T]) {
        if let Some(start) = self.together(order, len) {
            return self.put(start, from);
        }
        for (i, from) in order.iter().zip(from.chunks_exact(len)) {
            let (start, _) = self.place(*i as usize);
            self.put(start, from);
        }
    }

    /// Checks everything.
    pub(super) fn check(&self, ff1: &Ff1) -> Result<(), Error> {
        T::suits(ff1)?;
        let n = self.count();
        check_count(n)?;
        let (needed, room) = match &self.texts {
            Texts::InPlace(_) => (0, 0),
            Texts::Copy(from, to) => (from.len(), to.len()),
            Texts::CopyUninit(from, to) => (from.len(), to.len()),
        };
        if room < needed {
            let allowed = Allowed::AtLeast(needed);
            return Err(Error::new(Field::OutputLength, room, allowed));
        }
        let starts = |layout: &Layout<'_, O>| match layout {
            Layout::Slots { starts, .. } => starts.len(),
            _ => layout.len(),
        };
        let (tweaks, tweak_starts) = match &self.tweaks {
            Tweaks::Same(_) => (None, None),
            Tweaks::Each(_, layout) => (Some(layout.len()), Some(starts(layout))),
        };
        let counts = [
            Some(starts(&self.layout)),
            self.keys.map(<[u32]>::len),
            tweaks,
            tweak_starts,
        ];
        if let Some(given) = counts.into_iter().flatten().find(|given| *given != n) {
            return Err(Error::new(Field::Count, given, Allowed::Exactly(n)));
        }
        if let Tweaks::Same(tweak) = &self.tweaks {
            check_tweak(tweak.len())?;
        }
        if self.looks_good(ff1) {
            return Ok(());
        }
        (0..n).try_for_each(|i| self.check_one(ff1, i).map_err(|error| error.at(i)))
    }

    /// Whether nothing is wrong, without a branch for each value.
    fn looks_good(&self, ff1: &Ff1) -> bool {
        let n = self.count();
        if n == 0 {
            return true;
        }
        let source = self.source();
        let (mut wrong, mut least, mut most) = (0, usize::MAX, 0);
        for i in 0..n {
            let (_, len, _, bad) = self.layout.place(i, source.len());
            wrong |= bad;
            least = least.min(len);
            most = most.max(len);
        }
        if wrong & SIGN != 0 || least < ff1.least || most > MAX_LEN {
            return false;
        }
        if let Tweaks::Each(bytes, layout) = &self.tweaks {
            let mut most = 0;
            for i in 0..n {
                let (_, len, _, bad) = layout.place(i, bytes.len());
                wrong |= bad;
                most = most.max(len);
            }
            if wrong & SIGN != 0 || most > MAX_TWEAK {
                return false;
            }
        }
        if let Some(keys) = self.keys {
            let most = keys.iter().fold(0, |most, key| most.max(*key));
            if most as usize >= ff1.keys.len() {
                return false;
            }
        }
        match self.layout {
            Layout::Offsets(_) => {
                let ((start, _), (last, len)) = (self.place(0), self.place(n - 1));
                T::all_good(ff1, &source[start..last + len])
            }
            _ => (0..n).all(|i| {
                let (start, len) = self.place(i);
                T::all_good(ff1, &source[start..start + len])
            }),
        }
    }

    fn check_one(&self, ff1: &Ff1, i: usize) -> Result<(), Error> {
        self.layout.check(i, self.source().len())?;
        let (start, len) = self.place(i);
        if len < ff1.least || len > MAX_LEN {
            let allowed = Allowed::Between(ff1.least, MAX_LEN);
            return Err(Error::new(Field::ValueLength, len, allowed));
        }
        if let Tweaks::Each(bytes, layout) = &self.tweaks {
            layout.check(i, bytes.len())?;
            check_tweak(self.tweak_of(i).len())?;
        }
        let (key, keys) = (self.key(i) as usize, ff1.keys.len());
        if key >= keys {
            return Err(Error::new(Field::KeyIndex, key, Allowed::AtMost(keys - 1)));
        }
        T::check(ff1, &self.source()[start..start + len])
    }
}

fn check_tweak(len: usize) -> Result<(), Error> {
    match len > MAX_TWEAK {
        true => Err(Error::new(
            Field::TweakLength,
            len,
            Allowed::AtMost(MAX_TWEAK),
        )),
        false => Ok(()),
    }
}
