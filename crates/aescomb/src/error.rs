//! Typed errors: which message, which field, what was given, what is allowed.

use crate::backend::Backend;
use crate::mode::{Mode, Op};
use crate::status::Status;
use alloc::vec::Vec;
use core::fmt;

/// A mistake in what the caller gave. It is found before any work starts: when a call
/// returns it, no message of the batch has been touched.
///
/// ```
/// use aescomb::modes::Cbc;
/// use aescomb::{Allowed, Comb, Field, Given, Key, Message, Text};
///
/// let key = Key::<Cbc>::new(&[0; 16])?;
/// let mut text = [1; 40];
/// let mut batch = [Message::new(Text::in_place(&mut text)).nonce(&[3; 16])];
/// let error = Comb::new().encrypt(&key, &mut batch).unwrap_err();
/// assert_eq!((error.message, error.field), (Some(0), Field::TextLength));
/// assert_eq!((error.given, error.allowed), (Given::Number(40), Allowed::MultipleOf(16)));
/// assert_eq!(error.to_string(), "message 0: text of 40 bytes; allowed: a multiple of 16");
/// # Ok::<(), aescomb::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Error {
    /// Index of the message in its batch, or `None` when the mistake belongs to
    /// no single message.
    pub message: Option<usize>,
    /// The field that is wrong.
    pub field: Field,
    /// What was given, in the unit of the field.
    pub given: Given,
    /// What the field may be.
    pub allowed: Allowed,
}

/// Why [`Comb::open`](crate::Comb::open), [`Comb::verify`](crate::Comb::verify) or
/// [`Comb::decrypt`](crate::Comb::decrypt) did not succeed.
///
/// ```
/// use aescomb::modes::Gcm;
/// use aescomb::{Comb, Key, Message, OpenError, Text};
///
/// let key = Key::<Gcm>::new(&[0; 16])?;
/// let mut packets = [[7; 30], [8; 30]];
/// let mut tags = [[0; 16]; 2];
/// let mut batch: Vec<_> = packets
///     .iter_mut()
///     .zip(&mut tags)
///     .map(|(packet, tag)| Message::new(Text::in_place(packet)).nonce(&[1; 12]).tag(tag))
///     .collect();
/// Comb::new().seal(&key, &mut batch)?;
///
/// packets[1][0] ^= 1; // forged
/// let mut batch: Vec<_> = packets
///     .iter_mut()
///     .zip(&tags)
///     .map(|(packet, tag)| Message::new(Text::in_place(packet)).nonce(&[1; 12]).received_tag(tag))
///     .collect();
/// match Comb::new().open(&key, &mut batch) {
///     Err(OpenError::Failed(failed)) => assert!(failed.messages().eq([1])),
///     other => panic!("{other:?}"),
/// }
/// assert_eq!(batch[0].output(), [7; 30]); // the others are opened
/// assert_eq!(batch[1].output(), []); // its plaintext was wiped
/// # Ok::<(), aescomb::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OpenError {
    /// The call was refused for a mistake of the caller: no message was touched.
    Refused(Error),
    /// These messages failed, and what was written of them was wiped. All others are done.
    Failed(Failed),
}

impl From<Error> for OpenError {
    fn from(error: Error) -> Self {
        OpenError::Refused(error)
    }
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OpenError::Refused(error) => error.fmt(f),
            OpenError::Failed(failed) => failed.fmt(f),
        }
    }
}

impl core::error::Error for OpenError {}

/// Messages whose tag or padding is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failed {
    status: Status,
    /// In ascending order; none for the only message of a call by a key.
    messages: Vec<u32>,
}

impl Failed {
    /// Of a call that checks tags, or one that takes padding off.
    pub(crate) fn of(op: Op, messages: Vec<u32>) -> Failed {
        let status = Failed::status_of(op);
        Failed { status, messages }
    }

    pub(crate) fn status_of(op: Op) -> Status {
        match op {
            Op::Decrypt => Status::BadPadding,
            _ => Status::BadTag,
        }
    }

    /// What became of them, each: [`Status::BadTag`] or [`Status::BadPadding`].
    pub fn status(&self) -> Status {
        self.status
    }

    /// Their indices in the batch, in ascending order; 0 for the message of a call by a key.
    pub fn messages(&self) -> impl ExactSizeIterator<Item = usize> {
        let messages: &[u32] = match &*self.messages {
            [] => &[0],
            list => list,
        };
        messages.iter().map(|i| *i as usize)
    }
}

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.status {
            Status::BadPadding => "invalid padding",
            _ => "authentication failed: wrong tag",
        })?;
        match &*self.messages {
            [] => Ok(()),
            [one] => write!(f, " (message {one})"),
            [first, ..] => write!(f, " ({} messages, first {first})", self.messages.len()),
        }
    }
}

/// Refuses a backend that this CPU lacks.
pub(crate) fn available(backend: Backend) -> Result<(), Error> {
    match backend.is_available() {
        true => Ok(()),
        false => Err(Error::new(Field::Backend, backend, Allowed::Nothing)),
    }
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
    /// A key of the message's own: missing in a call without another key, or given in a call
    /// that has keys.
    Key,
    /// Mode of a key: another than that of the call, which is that of its first key.
    KeyMode,
    /// An operation that the key's mode does not have.
    Operation,
    /// Length of a nonce (initialisation vector, initial counter block) in bytes.
    NonceLength,
    /// A received tag, which is only read, where the operation writes one; a tag of so many bytes
    /// that is attached in a mode without ciphertext; or a number of
    /// [`Job::tag_attached`](crate::ffi::Job::tag_attached) that says nothing.
    Tag,
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
    /// An offset, start or length of a packed batch.
    Offset,
    /// Number of entries of a packed batch's column (nonces, tags, key indices,
    /// lengths), or of messages in a batch.
    Count,
    /// Parallelism degree (messages in flight).
    Lanes,
    /// A backend that this CPU does not have.
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

/// What was given for a [`Field`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Given {
    /// Nothing.
    Nothing,
    /// A number, in the unit of the field.
    Number(usize),
    /// A number below zero.
    Negative,
    /// A mode.
    Mode(Mode),
    /// An operation.
    Op(Op),
    /// A backend.
    Backend(Backend),
}

macro_rules! given {
    ($($variant:ident($type:ty);)*) => {$(
        impl From<$type> for Given {
            fn from(given: $type) -> Self {
                Given::$variant(given)
            }
        }
    )*};
}
given! {
    Number(usize);
    Mode(Mode);
    Op(Op);
    Backend(Backend);
}

impl fmt::Display for Given {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Given::Nothing => f.write_str("none"),
            Given::Number(n) => n.fmt(f),
            Given::Negative => f.write_str("below 0"),
            Given::Mode(mode) => f.write_str(mode.name()),
            Given::Op(op) => f.write_str(op.name()),
            Given::Backend(backend) => f.write_str(backend.name()),
        }
    }
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
    /// This mode.
    Mode(Mode),
    /// One of these operations.
    Ops([Op; 2]),
}

impl Error {
    pub(crate) fn new(field: Field, given: impl Into<Given>, allowed: Allowed) -> Self {
        Error {
            message: None,
            field,
            given: given.into(),
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
            Field::Key if *given == Given::Nothing => f.write_str("no key; each message needs one"),
            Field::Key => f.write_str("a key of its own, in a call that has keys; allowed: none"),
            Field::KeyMode => write!(f, "key for mode {given}; allowed: {allowed}"),
            Field::Operation => write!(f, "operation {given}; the mode has {allowed}"),
            Field::NonceLength => write!(f, "nonce of {given} bytes; allowed: {allowed}"),
            Field::Tag if *given == Given::Nothing => {
                f.write_str("a received tag, which is only read; the operation writes one")
            }
            Field::Tag if *allowed == Allowed::Nothing => {
                write!(f, "attached tag of {given} bytes; allowed: {allowed}")
            }
            Field::Tag => write!(f, "tag_attached {given}; allowed: {allowed}"),
            Field::TagLength => write!(f, "tag of {given} bytes; allowed: {allowed}"),
            Field::TextLength => write!(f, "text of {given} bytes; allowed: {allowed}"),
            Field::OpenedLength if *given == Given::Nothing => {
                write!(
                    f,
                    "length of the opened message not given; allowed: {allowed}"
                )
            }
            Field::OpenedLength if *given == Given::Negative => {
                write!(
                    f,
                    "length of the opened message below 0; allowed: {allowed}"
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
            Field::OutputLength => write!(f, "destination of {given} bytes; allowed: {allowed}"),
            Field::Overlap => write!(
                f,
                "source and destination overlap, {given} bytes apart; they must be identical or must not overlap"
            ),
            Field::Offset => write!(f, "offset or length {given}; allowed: {allowed}"),
            Field::Count => write!(f, "{given} entries; allowed: {allowed}"),
            Field::Lanes => write!(f, "{given} messages in flight; allowed: {allowed}"),
            Field::Backend => write!(f, "this CPU lacks what backend {given} needs"),
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
            Allowed::Mode(mode) => f.write_str(mode.name()),
            Allowed::Ops([a, b]) => write!(f, "{} and {}", a.name(), b.name()),
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
                    write!(f, "{sep}{}", Shown((c as usize).into()))?;
                    match last - c {
                        0 => {}
                        1 => write!(f, ", {}", Shown((last as usize).into()))?,
                        _ => write!(f, " to {}", Shown((last as usize).into()))?,
                    }
                    (first, c) = (false, last + 1);
                }
                Ok(())
            }
        }
    }
}

/// The character of a code point or byte, and its number where it is not of ASCII.
struct Shown(Given);

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Given::Number(c) => match u8::try_from(c) {
                Ok(c) if c.is_ascii() => write!(f, "{:?}", char::from(c)),
                _ => write!(f, "{c:#x}"),
            },
            other => other.fmt(f),
        }
    }
}

impl core::error::Error for Error {}
