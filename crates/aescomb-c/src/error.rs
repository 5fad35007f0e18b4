//! Errors: a code for every kind of mistake, what was given, what is allowed, and text.
//!
//! `unsafe` here rests on what the header says of `error`: NULL, or writable.
#![allow(unsafe_code, non_camel_case_types)]

use aescomb::{Allowed, Backend, Error, Field, Given, Mode, Op};
use std::ffi::{CStr, c_char};
use std::fmt::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// What a call returns: whether it did its work, and if not, what is wrong. A number
/// never gets another meaning; new ones may come.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum aescomb_code {
    /// All is well; every message is done.
    AESCOMB_OK = 0,
    /// The call was carried out, and one message or more failed: their tags or paddings
    /// are wrong. Each says so in its status, and its output was wiped; the others are done.
    /// `given` is how many failed, `message` the first of them.
    AESCOMB_MESSAGES_FAILED = 1,
    /// A pointer is NULL and must not be, or is not aligned for its type; `field` is its
    /// name.
    AESCOMB_POINTER = 2,
    /// No mode has this name.
    AESCOMB_UNKNOWN_MODE = 3,
    /// No backend has this name.
    AESCOMB_UNKNOWN_BACKEND = 4,
    /// Another thread is in a call with this scheduler.
    AESCOMB_BUSY = 5,
    /// Key of a length that the mode does not take; in bytes.
    AESCOMB_KEY_LENGTH = 6,
    /// A message has no key, and the call has none for all.
    AESCOMB_KEY_MISSING = 7,
    /// Key for another mode than that of the call's first; `given` and `low` are places of
    /// modes, for `aescomb_mode_name`.
    AESCOMB_KEY_MODE = 8,
    /// The key's mode has no such operation.
    AESCOMB_OPERATION = 9,
    /// Nonce of a length that the mode does not take; in bytes.
    AESCOMB_NONCE_LENGTH = 10,
    /// Tag of a length that the mode does not take; or, if `field` is "tag_attached", a tag of a
    /// MAC that is attached to its text; in bytes.
    AESCOMB_TAG_LENGTH = 11,
    /// Text of a length that the mode does not take; in bytes.
    AESCOMB_TEXT_LENGTH = 12,
    /// `opened_len` contradicts the length of the sealed text; in bytes.
    AESCOMB_OPENED_LENGTH = 13,
    /// Associated data of more bytes than the mode takes.
    AESCOMB_DATA_LENGTH = 14,
    /// Associated data of more components than the mode takes.
    AESCOMB_DATA_COUNT = 15,
    /// The destination is too short for the result; in bytes.
    AESCOMB_OUTPUT_LENGTH = 16,
    /// Source and destination overlap and are not the same place; `given` is the distance
    /// between their first bytes.
    AESCOMB_OVERLAP = 17,
    /// An offset, start or length of a packed batch is beyond the buffer, or not in
    /// ascending order.
    AESCOMB_OFFSET = 18,
    /// More messages than a call takes (4,294,967,294), or a column of another length.
    AESCOMB_COUNT = 19,
    /// No parallelism degree that the backend has.
    AESCOMB_LANES = 20,
    /// This CPU lacks what the backend needs.
    AESCOMB_BACKEND = 21,
    /// No kind of layout; `given` is the number.
    AESCOMB_LAYOUT = 22,
    /// Offsets of another width than 4 or 8 bytes.
    AESCOMB_OFFSET_BYTES = 23,
    /// A mistake in the library itself, caught before it could cross into C. Please
    /// report it.
    AESCOMB_INTERNAL = 24,
    /// The two halves of a key are equal, in a mode that needs two different keys; `given`
    /// is the length of each in bytes.
    AESCOMB_KEY_HALVES = 25,
    /// No radix that FF1 has.
    AESCOMB_RADIX = 26,
    /// A character that an alphabet cannot have, its code in `given`, at `position`; or text
    /// without an alphabet.
    AESCOMB_ALPHABET = 27,
    /// Value of too few or too many numerals.
    AESCOMB_VALUE_LENGTH = 28,
    /// A numeral that is not below the radix, at `position` of its value.
    AESCOMB_NUMERAL = 29,
    /// A character that is not in the alphabet, its code in `given`, at `position` of its
    /// value.
    AESCOMB_CHARACTER = 30,
    /// Tweak of a length that is not allowed; in bytes.
    AESCOMB_TWEAK_LENGTH = 31,
    /// Number of a key that there is not.
    AESCOMB_KEY_INDEX = 32,
    /// Numerals of another width than 1 or 2 bytes.
    AESCOMB_NUMERAL_BYTES = 33,
}

/// What a field may be; `low`, `high` and `list` of an `aescomb_error` say the rest.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum aescomb_allowed {
    /// Nothing: the field does not apply here.
    AESCOMB_ALLOWED_NOTHING = 0,
    /// `low`, and nothing else.
    AESCOMB_ALLOWED_EXACTLY = 1,
    /// One of the `list_len` numbers at `list`.
    AESCOMB_ALLOWED_ONE_OF = 2,
    /// From `low` to `high`, both included.
    AESCOMB_ALLOWED_BETWEEN = 3,
    /// Any multiple of `low`, zero included.
    AESCOMB_ALLOWED_MULTIPLE_OF = 4,
    /// `low` or more.
    AESCOMB_ALLOWED_AT_LEAST = 5,
    /// `high` or less.
    AESCOMB_ALLOWED_AT_MOST = 6,
    /// A character of those in `text`; `low` and `high` are the least and greatest code.
    AESCOMB_ALLOWED_CHARACTERS = 7,
}
use aescomb_allowed::*;
use aescomb_code::*;

/// Bytes of the text of an error, with its NUL.
pub const AESCOMB_TEXT_BYTES: usize = 320;

/// The `message` of an error that belongs to no message; `cbindgen.toml` has it for C.
pub const AESCOMB_NO_MESSAGE: usize = usize::MAX;

/// What is wrong with a call. Wherever a function takes one it may be NULL. Functions
/// write it whenever they return: with `AESCOMB_OK`, only `code` and an empty `text`.
/// Nothing in it needs to be freed.
#[repr(C)]
pub struct aescomb_error {
    /// What the function returned.
    pub code: aescomb_code,
    /// What kind of limit was broken.
    pub allowed: aescomb_allowed,
    /// Place of the message in its batch, from 0, or `AESCOMB_NO_MESSAGE`.
    pub message: usize,
    /// Name of the parameter or member that is wrong, such as "nonce_len" or
    /// "src_layout.starts". Static.
    pub field: *const c_char,
    /// What was given, in the unit of the code.
    pub given: usize,
    /// Least value that is allowed, or the only one, or the one whose multiples are.
    pub low: usize,
    /// Greatest value that is allowed.
    pub high: usize,
    /// The values that are allowed, for `AESCOMB_ALLOWED_ONE_OF`; otherwise NULL. Static.
    pub list: *const usize,
    /// How many they are.
    pub list_len: usize,
    /// Place of a numeral or character in its value, or of a character in an alphabet, from
    /// 0; for other codes 0.
    pub position: usize,
    /// All of this for people, in English, one line without a newline.
    pub text: [c_char; AESCOMB_TEXT_BYTES],
}

/// One line in English for a code. Static; never NULL.
#[unsafe(no_mangle)]
pub extern "C" fn aescomb_code_text(code: u32) -> *const c_char {
    let text = match code {
        c if c == AESCOMB_OK as u32 => c"all is well",
        c if c == AESCOMB_MESSAGES_FAILED as u32 => c"messages failed: wrong tags or paddings",
        c if c == AESCOMB_POINTER as u32 => c"a pointer is NULL or not aligned",
        c if c == AESCOMB_UNKNOWN_MODE as u32 => c"unknown mode",
        c if c == AESCOMB_UNKNOWN_BACKEND as u32 => c"unknown backend",
        c if c == AESCOMB_BUSY as u32 => c"another thread is in a call with this scheduler",
        c if c == AESCOMB_KEY_LENGTH as u32 => c"key of a wrong length",
        c if c == AESCOMB_KEY_MISSING as u32 => c"a message without a key",
        c if c == AESCOMB_KEY_MODE as u32 => c"key for another mode",
        c if c == AESCOMB_OPERATION as u32 => c"the key's mode has no such operation",
        c if c == AESCOMB_NONCE_LENGTH as u32 => c"nonce of a wrong length",
        c if c == AESCOMB_TAG_LENGTH as u32 => c"tag of a wrong length",
        c if c == AESCOMB_TEXT_LENGTH as u32 => c"text of a wrong length",
        c if c == AESCOMB_OPENED_LENGTH as u32 => c"wrong length of the opened message",
        c if c == AESCOMB_DATA_LENGTH as u32 => c"associated data of a wrong length",
        c if c == AESCOMB_DATA_COUNT as u32 => c"too many components of associated data",
        c if c == AESCOMB_OUTPUT_LENGTH as u32 => c"the destination is too short",
        c if c == AESCOMB_OVERLAP as u32 => c"source and destination overlap",
        c if c == AESCOMB_OFFSET as u32 => c"wrong offset, start or length",
        c if c == AESCOMB_COUNT as u32 => c"wrong number of entries",
        c if c == AESCOMB_LANES as u32 => c"wrong number of messages in flight",
        c if c == AESCOMB_BACKEND as u32 => c"this CPU lacks what the backend needs",
        c if c == AESCOMB_LAYOUT as u32 => c"unknown kind of layout",
        c if c == AESCOMB_OFFSET_BYTES as u32 => c"offsets of a wrong width",
        c if c == AESCOMB_KEY_HALVES as u32 => c"key with two equal halves",
        c if c == AESCOMB_RADIX as u32 => c"wrong radix",
        c if c == AESCOMB_ALPHABET as u32 => c"wrong alphabet, or text without one",
        c if c == AESCOMB_VALUE_LENGTH as u32 => c"value of a wrong length",
        c if c == AESCOMB_NUMERAL as u32 => c"a numeral that is not below the radix",
        c if c == AESCOMB_CHARACTER as u32 => c"a character that is not in the alphabet",
        c if c == AESCOMB_TWEAK_LENGTH as u32 => c"tweak of a wrong length",
        c if c == AESCOMB_KEY_INDEX as u32 => c"no key of this number",
        c if c == AESCOMB_NUMERAL_BYTES as u32 => c"numerals of a wrong width",
        c if c == AESCOMB_INTERNAL as u32 => c"a mistake in the library",
        _ => c"unknown code",
    };
    text.as_ptr()
}

/// What went wrong, before it is written where C can read it.
#[derive(Debug)]
pub(crate) struct Fault {
    pub code: aescomb_code,
    pub field: &'static CStr,
    pub message: Option<usize>,
    pub given: usize,
    pub allowed: Allowed,
    /// In a value or alphabet.
    pub position: usize,
    /// Without the message's place.
    pub text: String,
}

impl Fault {
    /// A pointer called `name` that is NULL or not aligned.
    #[cold]
    pub(crate) fn pointer(name: &'static CStr) -> Fault {
        Fault {
            code: AESCOMB_POINTER,
            field: name,
            message: None,
            given: 0,
            allowed: Allowed::Nothing,
            position: 0,
            text: format!("{} is NULL or not aligned", name.to_string_lossy()),
        }
    }

    /// A number that is not allowed; `what` with its unit.
    #[cold]
    pub(crate) fn number(
        code: aescomb_code,
        field: &'static CStr,
        given: usize,
        what: &str,
        allowed: Allowed,
    ) -> Fault {
        Fault {
            code,
            field,
            message: None,
            given,
            text: format!("{given} {what}; allowed: {allowed}"),
            allowed,
            position: 0,
        }
    }

    /// Something that `text` says all of.
    #[cold]
    pub(crate) fn new(code: aescomb_code, field: &'static CStr, text: String) -> Fault {
        Fault {
            code,
            field,
            message: None,
            given: 0,
            allowed: Allowed::Nothing,
            position: 0,
            text,
        }
    }

    pub(crate) fn at(self, message: usize) -> Fault {
        Fault {
            message: Some(message),
            ..self
        }
    }

    fn internal() -> Fault {
        let text = aescomb_code_text(AESCOMB_INTERNAL as u32);
        // SAFETY: it is a static string.
        let text = unsafe { CStr::from_ptr(text) };
        Fault::new(AESCOMB_INTERNAL, c"", text.to_string_lossy().into_owned())
    }

    /// Writes it to `error`, unless that is NULL.
    ///
    /// # Safety
    /// Then it must be writable.
    #[cold]
    unsafe fn write(&self, error: *mut aescomb_error) {
        if error.is_null() {
            return;
        }
        let (allowed, low, high, list) = match self.allowed {
            Allowed::Exactly(n) => (AESCOMB_ALLOWED_EXACTLY, n, n, &[][..]),
            Allowed::OneOf(list) => {
                let (low, high) = (list.first(), list.last());
                let [low, high] = [low, high].map(|n| n.copied().unwrap_or(0));
                (AESCOMB_ALLOWED_ONE_OF, low, high, list)
            }
            Allowed::Between(low, high) => (AESCOMB_ALLOWED_BETWEEN, low, high, &[][..]),
            Allowed::MultipleOf(n) => (AESCOMB_ALLOWED_MULTIPLE_OF, n, usize::MAX, &[][..]),
            Allowed::AtLeast(low) => (AESCOMB_ALLOWED_AT_LEAST, low, usize::MAX, &[][..]),
            Allowed::AtMost(high) => (AESCOMB_ALLOWED_AT_MOST, 0, high, &[][..]),
            Allowed::Characters(set) => {
                let low = set.trailing_zeros() as usize;
                let high = set.checked_ilog2().map_or(0, |code| code as usize);
                (AESCOMB_ALLOWED_CHARACTERS, low, high, &[][..])
            }
            _ => (AESCOMB_ALLOWED_NOTHING, 0, 0, &[][..]),
        };
        let mut text = Line::new();
        if let Some(i) = self.message {
            let _ = write!(text, "message {i}: ");
        }
        let _ = text.write_str(&self.text);
        let written = aescomb_error {
            code: self.code,
            allowed,
            message: self.message.unwrap_or(AESCOMB_NO_MESSAGE),
            field: self.field.as_ptr(),
            given: self.given,
            low,
            high,
            list: match list {
                [] => std::ptr::null(),
                list => list.as_ptr(),
            },
            list_len: list.len(),
            position: self.position,
            text: text.bytes,
        };
        // SAFETY: the caller says so.
        unsafe { error.write(written) };
    }
}

/// What was given as a number; of what has a name, its place in the list.
fn number(given: Given) -> usize {
    fn place<T: PartialEq>(list: &[T], item: &T) -> usize {
        list.iter().position(|i| i == item).unwrap_or_default()
    }
    match given {
        Given::Number(n) => n,
        Given::Mode(mode) => place(Mode::ALL, &mode),
        Given::Op(op) => place(&Op::ALL, &op),
        Given::Backend(backend) => place(&Backend::ALL, &backend),
        // A length or an offset that is none.
        _ => usize::MAX,
    }
}

impl From<Error> for Fault {
    #[cold]
    fn from(error: Error) -> Fault {
        let (code, field) = match error.field {
            Field::KeyLength => (AESCOMB_KEY_LENGTH, c"len"),
            Field::KeyHalves => (AESCOMB_KEY_HALVES, c"key"),
            Field::KeyMode => (AESCOMB_KEY_MODE, c"key"),
            Field::Operation => (AESCOMB_OPERATION, c"key"),
            Field::NonceLength => (AESCOMB_NONCE_LENGTH, c"nonce_len"),
            Field::TagLength => (AESCOMB_TAG_LENGTH, c"tag_len"),
            Field::TextLength => (AESCOMB_TEXT_LENGTH, c"src_len"),
            Field::OpenedLength => (AESCOMB_OPENED_LENGTH, c"opened_len"),
            Field::DataLength => (AESCOMB_DATA_LENGTH, c"data_len"),
            Field::DataCount => (AESCOMB_DATA_COUNT, c"component_count"),
            Field::OutputLength => (AESCOMB_OUTPUT_LENGTH, c"dst_len"),
            Field::Overlap => (AESCOMB_OVERLAP, c"dst"),
            Field::Offset => (AESCOMB_OFFSET, c"layout"),
            Field::Count => (AESCOMB_COUNT, c"count"),
            Field::Lanes => (AESCOMB_LANES, c"lanes"),
            Field::Backend => (AESCOMB_BACKEND, c"backend"),
            Field::Radix => (AESCOMB_RADIX, c"radix"),
            Field::Alphabet { .. } => (AESCOMB_ALPHABET, c"alphabet"),
            Field::ValueLength => (AESCOMB_VALUE_LENGTH, c"layout"),
            Field::Numeral { .. } => (AESCOMB_NUMERAL, c"src"),
            Field::Character { .. } => (AESCOMB_CHARACTER, c"src"),
            Field::TweakLength => (AESCOMB_TWEAK_LENGTH, c"tweaks"),
            Field::KeyIndex => (AESCOMB_KEY_INDEX, c"keys"),
            Field::Tag => (AESCOMB_TAG_LENGTH, c"tag_attached"),
            // No function of this library leads to the others.
            _ => (AESCOMB_INTERNAL, c""),
        };
        let position = match error.field {
            Field::Numeral { position } | Field::Character { position } => position,
            Field::Alphabet { position } => position.unwrap_or(0),
            _ => 0,
        };
        let alone = {
            let mut error = error;
            error.message = None;
            error.to_string()
        };
        Fault {
            code,
            field,
            message: error.message,
            given: number(error.given),
            allowed: match error.allowed {
                Allowed::Mode(mode) => Allowed::Exactly(number(Given::Mode(mode))),
                Allowed::Ops(_) => Allowed::Nothing,
                allowed => allowed,
            },
            position,
            text: alone,
        }
    }
}

/// Text of one line that ends in NUL, cut off where there is no more room.
struct Line {
    bytes: [c_char; AESCOMB_TEXT_BYTES],
    len: usize,
}

impl Line {
    fn new() -> Line {
        Line {
            bytes: [0; AESCOMB_TEXT_BYTES],
            len: 0,
        }
    }
}

impl Write for Line {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        let room = AESCOMB_TEXT_BYTES - 1 - self.len;
        let mut end = text.len().min(room);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        for (to, from) in self.bytes[self.len..]
            .iter_mut()
            .zip(&text.as_bytes()[..end])
        {
            *to = *from as c_char;
        }
        self.len += end;
        Ok(())
    }
}

/// Runs the body of a function of the library: writes what goes wrong to `error`, and
/// lets no panic cross into C.
///
/// # Safety
/// `error` must be NULL or writable.
#[inline(always)]
pub(crate) unsafe fn guarded(
    error: *mut aescomb_error,
    body: impl FnOnce() -> Result<(), Fault>,
) -> aescomb_code {
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(())) => {
            if !error.is_null() {
                // SAFETY: the caller says so.
                unsafe {
                    (*error).code = AESCOMB_OK;
                    (*error).text[0] = 0;
                }
            }
            AESCOMB_OK
        }
        // SAFETY: the caller says so.
        Ok(Err(fault)) => unsafe { refused(error, &fault) },
        // SAFETY: the caller says so.
        Err(_) => unsafe { refused(error, &Fault::internal()) },
    }
}

/// # Safety
/// `error` must be NULL or writable.
#[cold]
unsafe fn refused(error: *mut aescomb_error, fault: &Fault) -> aescomb_code {
    // SAFETY: the caller says so.
    unsafe { fault.write(error) };
    fault.code
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(error: &aescomb_error) -> String {
        // SAFETY: it ends in NUL.
        let text = unsafe { CStr::from_ptr(error.text.as_ptr()) };
        text.to_str().expect("UTF-8").to_owned()
    }

    fn blank() -> aescomb_error {
        // SAFETY: zero is a value of every member.
        unsafe { std::mem::zeroed() }
    }

    #[test]
    fn a_panic_does_not_cross() {
        let mut error = blank();
        // SAFETY: `error` is writable, and NULL is allowed.
        let codes = unsafe {
            [
                guarded(&mut error, || panic!("this is a test")),
                guarded(std::ptr::null_mut(), || panic!("this is a test")),
            ]
        };
        assert_eq!(codes, [AESCOMB_INTERNAL; 2]);
        assert_eq!(error.code, AESCOMB_INTERNAL);
        assert_eq!(error.message, AESCOMB_NO_MESSAGE);
        assert_eq!(text(&error), "a mistake in the library");
    }

    #[test]
    fn every_code_has_a_text() {
        let known = |code| aescomb_code_text(code) != aescomb_code_text(u32::MAX);
        let count = (0..).take_while(|code| known(*code)).count();
        assert_eq!(count, AESCOMB_NUMERAL_BYTES as usize + 1);
    }

    #[test]
    fn long_texts_are_cut_between_characters() {
        let long = "ä".repeat(AESCOMB_TEXT_BYTES);
        let mut error = blank();
        let fault = Fault::new(AESCOMB_UNKNOWN_MODE, c"mode", long.clone()).at(7);
        // SAFETY: `error` is writable.
        unsafe { fault.write(&mut error) };
        let text = text(&error);
        assert!(text.len() >= AESCOMB_TEXT_BYTES - 2);
        assert!(format!("message 7: {long}").starts_with(&text));
    }
}
