//! Python's exceptions for mistakes in what was given and for messages that fail.

use aescomb::{Field, Given};
use aescomb_columns::values::Refused;
use pyo3::exceptions::{PyMemoryError, PyOSError, PyValueError};
use pyo3::prelude::*;
use std::io::{self, ErrorKind};

mod classes {
    pyo3::import_exception!(aescomb._errors, InputError);
    pyo3::import_exception!(aescomb._errors, OpenError);
    pyo3::import_exception!(aescomb._errors, ColumnError);
    pyo3::import_exception!(aescomb._errors, CellError);
}

/// `InputError`, in the words of [`aescomb::Error`].
pub(crate) fn input(
    message: Option<usize>,
    field: &'static str,
    what: &str,
    given: usize,
    allowed: impl ToString,
) -> PyErr {
    let allowed = allowed.to_string();
    let at = message.map_or(String::new(), |i| format!("message {i}: "));
    let text = format!("{at}{what}; allowed: {allowed}");
    classes::InputError::new_err((text, message, field, given, allowed))
}

/// A numeral of FF1 that the library cannot be given.
pub(crate) fn numeral(row: Option<usize>, position: usize, given: i128, most: u32) -> PyErr {
    let allowed = format!("at most {most}");
    let at = row.map_or(String::new(), |i| format!("message {i}: "));
    let text = format!("{at}numeral {given} at position {position}; allowed: {allowed}");
    classes::InputError::new_err((text, row, "numeral", given, allowed, Some(position)))
}

/// A null that belongs to a message.
pub(crate) fn null(row: usize, name: &str) -> PyErr {
    let what = format!("null in {name}");
    input(
        Some(row),
        "null",
        &what,
        0,
        "bytes, as the message is not null",
    )
}

/// Results that a column cannot have.
pub(crate) fn unfit(why: Refused) -> PyErr {
    match why.field {
        "memory" => PyMemoryError::new_err(why.what),
        "arrow" => PyValueError::new_err(why.what),
        field => input(why.row, field, &why.what, why.given, why.allowed),
    }
}

/// What `aescomb.columns` refuses.
pub(crate) fn columns(error: aescomb_columns::Error) -> PyErr {
    use aescomb_columns::Error;
    let text = error.to_string();
    match error {
        Error::System(error) => system(error),
        Error::Value(failure) => {
            let reason = failure.reason.to_string();
            classes::CellError::new_err((text, failure.column, failure.row, reason))
        }
        _ => classes::ColumnError::new_err(text),
    }
}

/// What the operating system does not give.
pub(crate) fn system(error: io::Error) -> PyErr {
    match error.kind() {
        ErrorKind::OutOfMemory => PyMemoryError::new_err(error.to_string()),
        _ => PyOSError::new_err(error.to_string()),
    }
}

/// A batch that the library refuses; `row` tells which row one of its messages is of.
pub(crate) fn refused(error: aescomb::Error, row: impl Fn(usize) -> usize) -> PyErr {
    let mut error = error;
    error.message = error.message.map(row);
    let aescomb::Error {
        message,
        field,
        given,
        allowed,
        ..
    } = error;
    // NonceLength becomes nonce_length, and Numeral with its position numeral.
    let mut name = String::new();
    for letter in format!("{field:?}")
        .chars()
        .take_while(|c| c.is_alphanumeric())
    {
        if letter.is_uppercase() && !name.is_empty() {
            name.push('_');
        }
        name.extend(letter.to_lowercase());
    }
    let position = match field {
        Field::Numeral { position } | Field::Character { position } => Some(position),
        Field::Alphabet { position } => position,
        _ => None,
    };
    let (text, allowed) = (error.to_string(), allowed.to_string());
    let (number, named) = match given {
        Given::Number(n) => (Some(n), None),
        Given::Nothing | Given::Negative => (None, None),
        given => (None, Some(given.to_string())),
    };
    match named {
        Some(given) => {
            classes::InputError::new_err((text, message, name, given, allowed, position))
        }
        None => classes::InputError::new_err((text, message, name, number, allowed, position)),
    }
}

/// As many of something as there are messages.
pub(crate) fn count(what: &str, given: usize, messages: usize) -> PyResult<()> {
    if given == messages {
        return Ok(());
    }
    let what = format!("{given} {what} for {messages} messages");
    Err(input(None, "count", &what, given, messages))
}

/// A vector with room for `len` items, of which there may be more than memory: arrays of
/// empty messages have any number of them.
pub(crate) fn room<T>(len: usize) -> PyResult<Vec<T>> {
    let mut items = Vec::new();
    items
        .try_reserve_exact(len)
        .map_err(|error| PyMemoryError::new_err(error.to_string()))?;
    Ok(items)
}

/// `OpenError` for these of so many messages.
pub(crate) fn failed(indices: &[usize], messages: usize) -> PyErr {
    /// Indices in the text; the attribute has them all.
    const SHOWN: usize = 10;
    let shown: Vec<String> = indices.iter().take(SHOWN).map(usize::to_string).collect();
    let more = if indices.len() > SHOWN { ", ..." } else { "" };
    let text = format!(
        "{} of {messages} messages failed: {}{more}",
        indices.len(),
        shown.join(", ")
    );
    classes::OpenError::new_err((text, indices.to_vec()))
}
