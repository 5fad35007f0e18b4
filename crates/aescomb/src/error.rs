//! Typed errors: which message, which field, what was given, what is allowed.

use core::fmt;

/// A mistake in what the caller gave. It is found before any work starts: when a call
/// returns it, no message of the batch has been touched. Two fields are not mistakes of the
/// caller, and come from calls for one message: [`Field::Tag`] (authentication failed) and
/// [`Field::Padding`] (invalid padding). What such a call has written is wiped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Error {
    /// Index of the message in its batch, or `None` when the mistake belongs to
    /// no single message.
    pub message: Option<usize>,
    /// The field that is wrong.
    pub field: Field,
    /// What was given, in the unit of the field.
    pub given: usize,
    /// What the field may be.
    pub allowed: Allowed,
}

/// The field an [`Error`] is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Field {
    /// Length of a key in bytes.
    KeyLength,
    /// The two halves of a key are equal, in a mode that needs two different keys; given
    /// is the length of each in bytes.
    KeyHalves,
    /// Index of a message's key in the key table.
    KeyIndex,
    /// A key made for another mode than the first key of the call; given and
    /// allowed are places in [`Mode::ALL`](crate::Mode::ALL).
    KeyMode,
    /// An operation the key's mode does not have; given is the place in
    /// [`Op::ALL`](crate::Op::ALL).
    Operation,
    /// Length of a nonce (initialisation vector, initial counter block) in bytes.
    NonceLength,
    /// Length of a tag in bytes.
    TagLength,
    /// Length of a message in bytes.
    TextLength,
    /// Length that a message is said to have when it is opened, in bytes.
    OpenedLength,
    /// Length of a message's associated data in bytes.
    DataLength,
    /// Number of components of a message's associated data.
    DataCount,
    /// Length of a message's destination in bytes.
    OutputLength,
    /// Source and destination share bytes without being the same; given is the
    /// distance between their first bytes.
    Overlap,
    /// The tag of a message that was opened or verified alone: it does not belong to
    /// the message; given is the length of the message.
    Tag,
    /// The padding of a message that was decrypted alone; given is the length of
    /// the ciphertext.
    Padding,
    /// An offset, start or length of a packed batch; given is `usize::MAX` for a
    /// negative one.
    Offset,
    /// Number of entries of a packed batch's column (nonces, tags, key indices,
    /// lengths), or of messages in a batch.
    Count,
    /// Parallelism degree (messages in flight).
    Lanes,
    /// A backend this CPU does not have; given is the place in
    /// [`Backend::ALL`](crate::Backend::ALL).
    Backend,
    /// Radix of numerals.
    Radix,
    /// A character that an alphabet cannot have, at this position of it, counted from 0 in
    /// characters; given is its code point. Without a position: text for a key that has no
    /// alphabet.
    Alphabet {
        /// Where.
        position: Option<usize>,
    },
    /// Number of numerals or characters of a value.
    ValueLength,
    /// A numeral that is not below the radix, at this position of its value, counted from 0.
    Numeral {
        /// Where.
        position: usize,
    },
    /// A character that is not in the alphabet, at this position of its value, counted from 0
    /// in bytes; given is its code, that of the byte.
    Character {
        /// Where.
        position: usize,
    },
    /// Length of a value's tweak in bytes.
    TweakLength,
}

/// What a [`Field`] may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Allowed {
    /// This value only.
    Exactly(usize),
    /// One of these values.
    OneOf(&'static [usize]),
    /// From the first to the second, both included.
    Between(usize, usize),
    /// Any multiple of this, zero included.
    MultipleOf(usize),
    /// This or more.
    AtLeast(usize),
    /// This or less.
    AtMost(usize),
    /// Nothing at all: the field does not apply here.
    Nothing,
    /// An ASCII character whose bit is set in this number, bit `c` for the character of code
    /// `c`.
    Characters(u128),
}

impl Error {
    pub(crate) fn new(field: Field, given: usize, allowed: Allowed) -> Self {
        Error {
            message: None,
            field,
            given,
            allowed,
        }
    }

    pub(crate) fn at(self, message: usize) -> Self {
        Error {
            message: Some(message),
            ..self
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(i) = self.message {
            write!(f, "message {i}: ")?;
        }
        let Error { given, allowed, .. } = self;
        match self.field {
            Field::KeyLength => write!(f, "key of {given} bytes; allowed: {allowed}"),
            Field::KeyHalves => write!(
                f,
                "key with two equal halves of {given} bytes; allowed: halves that differ"
            ),
            Field::KeyIndex => write!(f, "key index {given}; allowed: {allowed}"),
            Field::KeyMode => {
                let name = |i: usize| crate::Mode::ALL.get(i).map_or("?", |m| m.name());
                let first = match allowed {
                    Allowed::Exactly(i) => name(*i),
                    _ => "?",
                };
                write!(
                    f,
                    "key for mode {}; allowed: {first}, as the call's first key",
                    name(*given)
                )
            }
            Field::Operation => {
                let name = crate::Op::ALL.get(*given).map_or("?", |o| o.name());
                write!(f, "the key's mode has no operation \"{name}\"")
            }
            Field::NonceLength => write!(f, "nonce of {given} bytes; allowed: {allowed}"),
            Field::TagLength => write!(f, "tag of {given} bytes; allowed: {allowed}"),
            Field::TextLength => write!(f, "text of {given} bytes; allowed: {allowed}"),
            Field::OpenedLength if *given == usize::MAX => {
                write!(
                    f,
                    "length of the opened message not given; allowed: {allowed}"
                )
            }
            Field::OpenedLength => {
                write!(f, "opened message of {given} bytes; allowed: {allowed}")
            }
            Field::DataLength => {
                write!(f, "associated data of {given} bytes; allowed: {allowed}")
            }
            Field::DataCount => write!(
                f,
                "associated data of {given} components; allowed: {allowed}"
            ),
            Field::Tag => write!(
                f,
                "authentication failed: wrong tag (message of {given} bytes)"
            ),
            Field::OutputLength => write!(f, "destination of {given} bytes; allowed: {allowed}"),
            Field::Overlap => write!(
                f,
                "source and destination overlap, {given} bytes apart; they must be identical or must not overlap"
            ),
            Field::Padding => write!(f, "invalid padding (ciphertext of {given} bytes)"),
            Field::Offset if *given == usize::MAX => {
                write!(f, "a negative offset or length; allowed: {allowed}")
            }
            Field::Offset => write!(f, "offset or length {given}; allowed: {allowed}"),
            Field::Count => write!(f, "{given} entries; allowed: {allowed}"),
            Field::Lanes => write!(f, "{given} messages in flight; allowed: {allowed}"),
            Field::Backend => {
                let name = crate::Backend::ALL.get(*given).map_or("?", |b| b.name());
                write!(f, "this CPU lacks what backend {name} needs")
            }
            Field::Radix => write!(f, "radix {given}; allowed: {allowed}"),
            Field::Alphabet { position: None } => {
                write!(f, "text, under a radix that has no alphabet")
            }
            Field::Alphabet {
                position: Some(position),
            } => write!(
                f,
                "character {} at position {position} of the alphabet; allowed: {allowed}, each once",
                Shown(*given)
            ),
            Field::ValueLength => {
                write!(f, "value of {given} numerals; allowed: {allowed}")
            }
            Field::Numeral { position } => {
                write!(
                    f,
                    "numeral {given} at position {position}; allowed: {allowed}"
                )
            }
            Field::Character { position } => write!(
                f,
                "character {} at position {position}; allowed: {allowed}",
                Shown(*given)
            ),
            Field::TweakLength => write!(f, "tweak of {given} bytes; allowed: {allowed}"),
        }
    }
}

impl fmt::Display for Allowed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Allowed::Exactly(n) => write!(f, "{n}"),
            Allowed::OneOf(list) => {
                for (i, n) in list.iter().enumerate() {
                    let sep = match i {
                        0 => "",
                        i if i + 1 == list.len() => " or ",
                        _ => ", ",
                    };
                    write!(f, "{sep}{n}")?;
                }
                Ok(())
            }
            Allowed::Between(a, b) => write!(f, "{a} to {b}"),
            Allowed::MultipleOf(n) => write!(f, "a multiple of {n}"),
            Allowed::AtLeast(n) => write!(f, "at least {n}"),
            Allowed::AtMost(n) => write!(f, "at most {n}"),
            Allowed::Nothing => write!(f, "none"),
            Allowed::Characters(set) => {
                let has = |c: u32| c < 128 && set >> c & 1 == 1;
                let mut first = true;
                let mut c = 0;
                while c < 128 {
                    if !has(c) {
                        c += 1;
                        continue;
                    }
                    let mut last = c;
                    while has(last + 1) {
                        last += 1;
                    }
                    let sep = if first { "" } else { ", " };
                    write!(f, "{sep}{}", Shown(c as usize))?;
                    match last - c {
                        0 => {}
                        1 => write!(f, ", {}", Shown(last as usize))?,
                        _ => write!(f, " to {}", Shown(last as usize))?,
                    }
                    (first, c) = (false, last + 1);
                }
                Ok(())
            }
        }
    }
}

/// The character of a code point or byte, and what it is where it is not of ASCII.
struct Shown(usize);

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match u8::try_from(self.0) {
            Ok(c) if c.is_ascii() => write!(f, "{:?}", char::from(c)),
            _ => write!(f, "{:#x}", self.0),
        }
    }
}

impl core::error::Error for Error {}
