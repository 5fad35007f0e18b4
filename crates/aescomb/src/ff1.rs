//! FF1, format-preserving encryption of many values: SP 800-38G revision 1 (a draft), section
//! 5.1.
//!
//! A value of n numerals of a radix becomes another value of n numerals of that radix: a card
//! number a card number, a name of 12 lower-case letters another such. It is a Feistel network
//! of ten rounds. Each waits for the AES of the one before, so that a value by itself takes ten
//! times the latency of AES. A call takes a batch, and does each round for hundreds of values
//! at once.
//!
//! ```text
//! u = floor(n / 2), v = n - u;  A = X[1..u], B = X[u+1..n]
//! b = bytes of radix^v - 1;     d = 4 ceil(b / 4) + 4
//! P = [1] [2] [1] [radix]^3 [10] [u mod 256] [n]^4 [t]^4
//! for i = 0..9:
//!     Q = T || 0^((-t-b-1) mod 16) || [i] || [NUM(B)]^b
//!     R = CBC-MAC(P || Q)
//!     S = the first d bytes of R || CIPH(R ^ [1]^16) || CIPH(R ^ [2]^16) ...
//!     C = (NUM(A) + NUM(S)) mod radix^m, with m = u if i is even, else v
//!     A = B, B = C
//! ```
//!
//! Halves are numbers from the first round to the last. CIPH(P), and what the tweak adds to the
//! CBC-MAC before the block of i, are computed once for all ten rounds, and where values have
//! one tweak once for all of them.
//!
//! # Limits
//!
//! - A radix from 2 to 65,536.
//! - Values of at least two numerals, of which there are at least a million:
//!   radix^n >= 1,000,000, as the standard demands. At most [`MAX_LEN`] numerals.
//! - Tweaks of 0 to [`MAX_TWEAK`] bytes.
//!
//! # Security
//!
//! Equal values have equal results under the same key and tweak. Nothing is authenticated:
//! every value of the right form decrypts to something. The fewer values there are, the weaker
//! it is: give each place that a value is stored at a tweak of its own where that can be had.
//!
//! Radix, alphabet, lengths and tweaks may show in the time that a call takes. Numerals,
//! characters and what is computed of them are not meant to: divisions are products with
//! reciprocals of what is public, characters are compared with all of the alphabet's, and no
//! table is looked up. That a value is refused, and at which position, is no secret.
#![forbid(unsafe_code)]

mod alphabet;
mod arithmetic;
mod narrow;
mod values;
mod wide;

pub use values::{Numeral, Values};

use crate::backend::Backend;
use crate::block::Block;
use crate::comb::Comb;
use crate::error::{Allowed, Error, Field, available};
use crate::key::Key;
use crate::layout::{Layout, Offset};
use crate::message::Message;
use crate::modes::Ecb;
use crate::text::Text;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use alphabet::Alphabet;
use arithmetic::Numerals;
use core::fmt;
use zeroize::Zeroize;

/// The most numerals that a value may have.
pub const MAX_LEN: usize = 65_536;

/// The most bytes that a tweak may have.
pub const MAX_TWEAK: usize = 65_536;

const ROUNDS: usize = 10;

/// Values that are sorted by length and so on before they are done.
const STRETCH: usize = 2048;

/// FF1 with one radix, under one key or several.
///
/// Immutable but for [`Ff1::add_key`], `Send` and `Sync`. Keys are wiped on drop. A call
/// allocates memory for up to some hundred values, and wipes it.
///
/// ```
/// use aescomb::ff1::Ff1;
///
/// let ff1 = Ff1::with_alphabet("0123456789", &[0x2b; 16])?;
/// let token = ff1.encrypt_text(b"customers", "4111111111111111")?;
/// assert!(token.len() == 16 && token.bytes().all(|c| c.is_ascii_digit()));
/// assert_eq!(ff1.decrypt_text(b"customers", &token)?, "4111111111111111");
/// assert_eq!(
///     ff1.encrypt_text(b"", "4111-1111").unwrap_err().to_string(),
///     "message 0: character '-' at position 4; allowed: '0' to '9'"
/// );
/// # Ok::<(), aescomb::Error>(())
/// ```
#[derive(Clone)]
pub struct Ff1 {
    keys: Vec<Key<Ecb>>,
    radix: u32,
    /// The least number of numerals.
    least: usize,
    numerals: Numerals,
    alphabet: Option<Alphabet>,
    /// Of the caller's choice.
    backend: Option<Backend>,
}

impl fmt::Debug for Ff1 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ff1")
            .field("radix", &self.radix)
            .field("keys", &self.keys.len())
            .finish_non_exhaustive()
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Encrypt,
    Decrypt,
}

impl Way {
    fn rounds(self) -> impl Iterator<Item = usize> {
        (0..ROUNDS).map(move |i| match self {
            Way::Encrypt => i,
            Way::Decrypt => ROUNDS - 1 - i,
        })
    }
}

impl Ff1 {
    /// For values of numerals below `radix`, with a key of 16, 24 or 32 bytes.
    ///
    /// ```
    /// use aescomb::ff1::Ff1;
    ///
    /// assert_eq!(Ff1::new(10, &[1; 16])?.radix(), 10);
    /// assert!(Ff1::new(1, &[1; 16]).is_err());
    /// # Ok::<(), aescomb::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Field::Radix`] if it is not from 2 to 65,536; [`Field::KeyLength`].
    pub fn new(radix: u32, key: &[u8]) -> Result<Ff1, Error> {
        if !(2..=1 << 16).contains(&radix) {
            let allowed = Allowed::Between(2, 1 << 16);
            return Err(Error::new(Field::Radix, radix as usize, allowed));
        }
        let mut least = 2;
        while u64::from(radix).pow(least) < 1_000_000 {
            least += 1;
        }
        Ok(Ff1 {
            keys: vec![Key::new(key)?],
            radix,
            least: least as usize,
            numerals: Numerals::new(radix),
            alphabet: None,
            backend: None,
        })
    }

    /// For text over an alphabet: characters of ASCII, each once, which stand for the numerals
    /// 0, 1, 2 and so on. How many they are is the radix.
    ///
    /// Time grows with the number of runs in which codes of characters ascend by one:
    /// `"0123456789"` is one, and letters in the order of a keyboard many.
    ///
    /// ```
    /// use aescomb::ff1::Ff1;
    ///
    /// let ff1 = Ff1::with_alphabet("0123456789abcdef", &[1; 16])?;
    /// let sealed = ff1.encrypt_text(b"tweak", "deadbeef")?;
    /// assert_eq!(sealed.len(), 8);
    /// assert!(ff1.encrypt_text(b"tweak", "DEADBEEF").is_err());
    /// # Ok::<(), aescomb::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Field::Alphabet`] for a character that is not of ASCII or not the first of its kind;
    /// otherwise as [`Ff1::new`].
    pub fn with_alphabet(alphabet: &str, key: &[u8]) -> Result<Ff1, Error> {
        let alphabet = Alphabet::new(alphabet)?;
        let ff1 = Ff1::new(alphabet.len(), key)?;
        Ok(Ff1 {
            alphabet: Some(alphabet),
            ..ff1
        })
    }

    /// Adds a key of 16, 24 or 32 bytes, and returns its number for [`Values::keys`].
    ///
    /// ```
    /// use aescomb::Layout;
    /// use aescomb::ff1::{Ff1, Values};
    ///
    /// let mut ff1 = Ff1::new(1000, &[1; 16])?;
    /// let second = ff1.add_key(&[2; 32])?;
    /// let mut values = [7u16, 900, 7, 900];
    /// let layout = Layout::Offsets(&[0u32, 2, 4]);
    /// ff1.encrypt(Values::in_place(&mut values, layout).keys(&[0, second]))?;
    /// assert_ne!(values[..2], values[2..]);
    /// # Ok::<(), aescomb::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Field::KeyLength`]; [`Field::Count`] after 2^32 - 1 keys.
    pub fn add_key(&mut self, key: &[u8]) -> Result<u32, Error> {
        let count = self.keys.len();
        let Some(place) = u32::try_from(count).ok().filter(|place| *place < u32::MAX) else {
            let most = Allowed::AtMost(u32::MAX as usize);
            return Err(Error::new(Field::Count, count, most));
        };
        let key = Key::new(key)?;
        if count == self.keys.capacity() {
            // Keys that are moved to more memory would leave their bytes behind; these are wiped.
            let mut more = Vec::with_capacity(2 * count + 1);
            more.extend(self.keys.iter().cloned());
            self.keys = more;
        }
        self.keys.push(key);
        Ok(place)
    }

    /// The same with a backend of the caller's choice.
    ///
    /// ```
    /// use aescomb::Backend;
    /// use aescomb::ff1::Ff1;
    ///
    /// let text = "0123456789";
    /// let ff1 = Ff1::with_alphabet(text, &[1; 16])?;
    /// let portable = ff1.clone().with_backend(Backend::Portable)?;
    /// assert_eq!(portable.encrypt_text(&[], text)?, ff1.encrypt_text(&[], text)?);
    /// # Ok::<(), aescomb::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Field::Backend`] where the CPU lacks it.
    pub fn with_backend(self, backend: Backend) -> Result<Ff1, Error> {
        available(backend)?;
        Ok(Ff1 {
            backend: Some(backend),
            ..self
        })
    }

    /// The radix.
    ///
    /// ```
    /// use aescomb::ff1::Ff1;
    ///
    /// assert_eq!(Ff1::with_alphabet("01", &[1; 16])?.radix(), 2);
    /// # Ok::<(), aescomb::Error>(())
    /// ```
    pub fn radix(&self) -> u32 {
        self.radix
    }

    /// The least number of numerals that a value may have: the least n of at least 2 for which
    /// radix^n is at least a million.
    ///
    /// ```
    /// use aescomb::ff1::Ff1;
    ///
    /// assert_eq!(Ff1::new(10, &[1; 16])?.min_len(), 6);
    /// assert_eq!(Ff1::new(65_536, &[1; 16])?.min_len(), 2);
    /// # Ok::<(), aescomb::Error>(())
    /// ```
    pub fn min_len(&self) -> usize {
        self.least
    }

    /// Encrypts every value.
    ///
    /// ```
    /// use aescomb::Layout;
    /// use aescomb::ff1::{Ff1, Values};
    ///
    /// let ff1 = Ff1::new(65_536, &[0x2b; 32])?;
    /// let before = [1u16, 2, 3, 60_000, 50_000];
    /// let mut values = before;
    /// let layout = Layout::Offsets(&[0u64, 3, 5]);
    /// ff1.encrypt(Values::in_place(&mut values, layout))?;
    /// ff1.decrypt(Values::in_place(&mut values, layout))?;
    /// assert_eq!(values, before);
    /// # Ok::<(), aescomb::Error>(())
    /// ```
    ///
    /// # Errors
    /// The first thing that is wrong, found before anything is written: of the values in
    /// [`Field::Offset`], [`Field::ValueLength`], [`Field::Numeral`] and [`Field::Character`],
    /// of what belongs to them in [`Field::TweakLength`], [`Field::KeyIndex`] and
    /// [`Field::Count`]; [`Field::OutputLength`]; [`Field::Alphabet`] for text where there is no
    /// alphabet.
    pub fn encrypt<T: Numeral, O: Offset>(&self, values: Values<'_, T, O>) -> Result<(), Error> {
        self.run(Way::Encrypt, values)
    }

    /// Decrypts every value.
    ///
    /// ```
    /// use aescomb::Layout;
    /// use aescomb::ff1::{Ff1, Values};
    ///
    /// let ff1 = Ff1::new(10, &[0x2b; 16])?;
    /// let before = [4u16, 1, 1, 1, 1, 1];
    /// let mut values = before;
    /// let layout = Layout::Offsets(&[0u32, 6]);
    /// ff1.encrypt(Values::in_place(&mut values, layout))?;
    /// ff1.decrypt(Values::in_place(&mut values, layout))?;
    /// assert_eq!(values, before);
    /// # Ok::<(), aescomb::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Ff1::encrypt`].
    pub fn decrypt<T: Numeral, O: Offset>(&self, values: Values<'_, T, O>) -> Result<(), Error> {
        self.run(Way::Decrypt, values)
    }

    /// Encrypts one value of text under the first key.
    ///
    /// ```
    /// use aescomb::ff1::Ff1;
    ///
    /// // Sample 1 of NIST's for FF1.
    /// let key = 0x2b7e_1516_28ae_d2a6_abf7_1588_09cf_4f3c_u128.to_be_bytes();
    /// let ff1 = Ff1::with_alphabet("0123456789", &key)?;
    /// assert_eq!(ff1.encrypt_text(&[], "0123456789")?, "2433477484");
    /// # Ok::<(), aescomb::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Ff1::encrypt`].
    pub fn encrypt_text(&self, tweak: &[u8], text: &str) -> Result<String, Error> {
        self.one_text(Way::Encrypt, tweak, text)
    }

    /// Decrypts one value of text under the first key.
    ///
    /// ```
    /// use aescomb::ff1::Ff1;
    ///
    /// let ff1 = Ff1::with_alphabet("0123456789", &[1; 32])?;
    /// let sealed = ff1.encrypt_text(b"column", "4111111111111111")?;
    /// assert_eq!(ff1.decrypt_text(b"column", &sealed)?, "4111111111111111");
    /// # Ok::<(), aescomb::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Ff1::encrypt`].
    pub fn decrypt_text(&self, tweak: &[u8], text: &str) -> Result<String, Error> {
        self.one_text(Way::Decrypt, tweak, text)
    }

    fn one_text(&self, way: Way, tweak: &[u8], text: &str) -> Result<String, Error> {
        let mut value = Vec::from(text);
        let offsets = [0, value.len()];
        let values = Values::in_place(&mut value, Layout::Offsets(&offsets)).tweak(tweak);
        if let Err(error) = self.run(way, values) {
            value.zeroize();
            return Err(error);
        }
        // In the same memory: another copy would have to be wiped.
        Ok(String::from_utf8(value).expect("an alphabet is of ASCII"))
    }

    fn run<T: Numeral, O: Offset>(
        &self,
        way: Way,
        mut values: Values<'_, T, O>,
    ) -> Result<(), Error> {
        values.check(self)?;
        let n = values.count();
        let mut comb = self.backend.map(Comb::with_backend).transpose()?;
        let mut memory = Memory::new();
        let mut order = Vec::with_capacity(n.min(STRETCH));
        let mut start = 0;
        while start < n {
            let end = n.min(start + STRETCH);
            let alike = (&mut order, &mut comb);
            self.stretch(way, &mut values, start..end, alike, &mut memory);
            start = end;
        }
        Ok(())
    }

    /// Does a stretch of values, those together that have all that is public in common.
    fn stretch<T: Numeral, O: Offset>(
        &self,
        way: Way,
        values: &mut Values<'_, T, O>,
        range: core::ops::Range<usize>,
        (order, comb): (&mut Vec<u32>, &mut Option<Comb>),
        memory: &mut Memory<T>,
    ) {
        order.clear();
        // There are at most 2^32 - 2 values.
        order.extend(range.start as u32..range.end as u32);
        if !order.is_sorted_by_key(|i| alike(values, *i)) {
            order.sort_unstable_by_key(|i| (alike(values, *i), *i));
        }
        let mut left = &order[..];
        while let Some(first) = left.first() {
            let kind = alike(values, *first);
            let count = left.partition_point(|i| alike(values, *i) <= kind);
            let (run, others) = left.split_at(count);
            left = others;
            let (key, len, tweak_len) = kind;
            let mut run = Run {
                ff1: self,
                way,
                key: &self.keys[key as usize],
                comb,
                order: run,
                len,
                first: len / 2,
                tweak_len,
            };
            let power = self.numerals.big_power(len - len / 2);
            match power[..] {
                [power] => run.narrow(power, values, memory),
                _ => run.wide(power, values, memory),
            }
        }
    }
}

/// What is public of a value: key, length, length of the tweak.
#[inline(always)]
fn alike<T: Numeral, O: Offset>(values: &Values<'_, T, O>, i: u32) -> (u32, usize, usize) {
    let i = i as usize;
    (values.key(i), values.len(i), values.tweak_of(i).len())
}

/// Values that have all of this in common.
struct Run<'a> {
    ff1: &'a Ff1,
    way: Way,
    key: &'a Key<Ecb>,
    /// For a backend of the caller's choice.
    comb: &'a mut Option<Comb>,
    /// Their places, in ascending order.
    order: &'a [u32],
    /// Numerals of a value.
    len: usize,
    /// Numerals of the first half.
    first: usize,
    tweak_len: usize,
}

/// Where the number of a half is in the input of the CBC-MAC.
#[derive(Clone, Copy)]
struct Form {
    /// Bytes of the number.
    bytes: usize,
    /// Blocks of tweak and zeros alone.
    fixed: usize,
    /// Blocks after them.
    rest: usize,
}

impl Run<'_> {
    /// `top` is the greatest power of the radix that a half is below, lowest word first.
    fn form(&self, top: &[u64]) -> Form {
        let words = top.len();
        let high = top[words - 1];
        let is_two = high.is_power_of_two() && top[..words - 1].iter().all(|word| *word == 0);
        let bits = 64 * (words - 1) + high.ilog2() as usize + usize::from(!is_two);
        let bytes = bits.div_ceil(8);
        let rest = (1 + bytes).div_ceil(16);
        let blocks = (self.tweak_len + 1 + bytes).div_ceil(16);
        Form {
            bytes,
            fixed: blocks - rest,
            rest,
        }
    }

    /// CIPH of each block.
    fn encrypt(&mut self, blocks: &mut [Block]) {
        let blocks = blocks.as_flattened_mut();
        match self.comb {
            None => self.key.encrypt_in_place(&[], blocks),
            Some(comb) => comb.encrypt(self.key, &mut [Message::new(Text::in_place(blocks))]),
        }
        .expect("ECB takes whole blocks");
    }

    /// The CBC-MAC up to the block that the round is in, of which what the tweak has of it is
    /// added.
    fn bases<T: Numeral, O: Offset>(
        &mut self,
        form: Form,
        values: &Values<'_, T, O>,
        order: &[u32],
        bases: &mut [Block],
    ) {
        let mut first = [0; 16];
        first[..3].copy_from_slice(&[1, 2, 1]);
        // Lengths have been checked: none is cut.
        first[3..6].copy_from_slice(&self.ff1.radix.to_be_bytes()[1..]);
        first[6..8].copy_from_slice(&[ROUNDS as u8, self.first as u8]);
        first[8..12].copy_from_slice(&(self.len as u32).to_be_bytes());
        first[12..].copy_from_slice(&(self.tweak_len as u32).to_be_bytes());
        self.encrypt(core::slice::from_mut(&mut first));
        if values.has_one_tweak() {
            let tweak = order
                .first()
                .map_or(&[][..], |i| values.tweak_of(*i as usize));
            for block in 0..form.fixed {
                add_tweak(&mut first, tweak, block);
                self.encrypt(core::slice::from_mut(&mut first));
            }
            add_tweak(&mut first, tweak, form.fixed);
            return bases.fill(first);
        }
        bases.fill(first);
        for block in 0..=form.fixed {
            if block > 0 {
                self.encrypt(bases);
            }
            for (i, base) in order.iter().zip(&mut *bases) {
                add_tweak(base, values.tweak_of(*i as usize), block);
            }
        }
    }
}

/// Adds block number `block` of the tweak, with zeros after it.
fn add_tweak(to: &mut Block, tweak: &[u8], block: usize) {
    let part = tweak.get(16 * block..).unwrap_or_default();
    to.iter_mut().zip(part).for_each(|(to, byte)| *to ^= byte);
}

/// What values are worked on in, wiped on drop.
struct Memory<T: Numeral> {
    numerals: Vec<T>,
    /// The halves as numbers.
    first: Vec<u64>,
    second: Vec<u64>,
    /// A number to be reduced.
    sum: Vec<u64>,
    bases: Vec<Block>,
    blocks: Vec<Block>,
}

impl<T: Numeral> Memory<T> {
    fn new() -> Self {
        Memory {
            numerals: Vec::new(),
            first: Vec::new(),
            second: Vec::new(),
            sum: Vec::new(),
            bases: Vec::new(),
            blocks: Vec::new(),
        }
    }
}

impl<T: Numeral> Drop for Memory<T> {
    fn drop(&mut self) {
        self.numerals.zeroize();
        for words in [&mut self.first, &mut self.second, &mut self.sum] {
            words.zeroize();
        }
        for blocks in [&mut self.bases, &mut self.blocks] {
            blocks.zeroize();
        }
    }
}

/// The first `len` of `memory`, which is grown if there are fewer; nothing is copied then.
fn room<X: Copy + Zeroize>(memory: &mut Vec<X>, zero: X, len: usize) -> &mut [X] {
    if memory.len() < len {
        memory.zeroize();
        *memory = vec![zero; len];
    }
    &mut memory[..len]
}
