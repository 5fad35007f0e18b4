//! What callers give: lists of bytes-like objects, arrays of bytes, Arrow columns.

use crate::arrow::{self, Arrow};
use crate::errors;
use crate::memory::{Rows, Source};
use aescomb::Offset;
use aescomb_columns::values::number_type;
use aescomb_columns::values::{self, Chosen, Flat, Present};
use arrow_array::OffsetSizeTrait;
use arrow_schema::DataType;
use pyo3::buffer::{PyBuffer, PyUntypedBuffer};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyMapping, PyString, PyTuple};

type Bytes<'py> = Bound<'py, PyBytes>;

/// A bytes-like object, of which a copy is taken if it may change.
pub(crate) fn bytes<'py>(object: &Bound<'py, PyAny>, name: &str) -> PyResult<Bytes<'py>> {
    bytes_like(object, || name.to_owned())
}

fn bytes_like<'py>(object: &Bound<'py, PyAny>, name: impl Fn() -> String) -> PyResult<Bytes<'py>> {
    if let Ok(bytes) = object.cast::<PyBytes>() {
        return Ok(bytes.clone());
    }
    let py = object.py();
    match PyBuffer::<u8>::get(object) {
        Ok(buffer) if buffer.dimensions() == 1 => {
            PyBytes::new_with(py, buffer.len_bytes(), |copy| {
                buffer.copy_to_slice(py, copy)
            })
        }
        _ => Err(expected(&name(), "a bytes-like object", object)),
    }
}

pub(crate) fn expected(name: &str, what: &str, object: &Bound<'_, PyAny>) -> PyErr {
    let given = object.get_type();
    let given = given.name();
    let given = given
        .as_ref()
        .map_or("?".into(), |name| name.to_string_lossy());
    PyTypeError::new_err(format!("{name}: expected {what}, not {given}"))
}

/// The items of a list or of anything else to go through.
pub(crate) fn items<'py, T>(
    object: &Bound<'py, PyAny>,
    name: &str,
    what: &str,
    convert: impl Fn(usize, Bound<'py, PyAny>) -> PyResult<T>,
) -> PyResult<Vec<T>> {
    let single = object.is_instance_of::<PyString>() || object.is_instance_of::<PyMapping>();
    let iterator = match object.try_iter() {
        Ok(iterator) if !single => iterator,
        _ => return Err(expected(name, what, object)),
    };
    // No more than a promise, so not too much on it.
    let mut items = Vec::with_capacity(object.len().unwrap_or(0).min(1 << 20));
    for (i, item) in iterator.enumerate() {
        items.push(convert(i, item?)?);
    }
    Ok(items)
}

fn byte_strings<'py>(
    object: &Bound<'py, PyAny>,
    name: &str,
    what: &str,
) -> PyResult<Vec<Option<Bytes<'py>>>> {
    items(object, name, what, |i, item| match item.is_none() {
        true => Ok(None),
        false => bytes_like(&item, || format!("{name}[{i}]")).map(Some),
    })
}

/// The places of those that are not `None`.
fn present(items: &[Option<Bytes<'_>>]) -> Present {
    match items.iter().all(Option::is_some) {
        true => Present::all(items.len()),
        false => {
            let rows = (0..items.len()).filter(|i| items[*i].is_some());
            Present::these(rows, items.len())
        }
    }
}

/// The bytes of these rows, of which none may be `None`.
fn chosen<'a, T: From<&'a [u8]>>(
    items: &'a [Option<Bytes<'_>>],
    name: &str,
    rows: Chosen<'_>,
) -> PyResult<Vec<T>> {
    let mut chosen = Vec::with_capacity(rows.count());
    for i in rows.rows() {
        match &items[i] {
            Some(item) => chosen.push(item.as_bytes().into()),
            None => return Err(errors::null(i, name)),
        }
    }
    Ok(chosen)
}

/// An object by what it is, before its contents are looked at.
enum Form<'py> {
    Arrow(Arrow),
    /// Two dimensions.
    Table(PyBuffer<u8>),
    /// One dimension.
    Bytes(Bytes<'py>),
    Items,
}

fn form<'py>(object: &Bound<'py, PyAny>, name: &'static str) -> PyResult<Form<'py>> {
    if object.is_instance_of::<PyList>() || object.is_instance_of::<PyTuple>() {
        return Ok(Form::Items);
    }
    if let Ok(bytes) = object.cast::<PyBytes>() {
        return Ok(Form::Bytes(bytes.clone()));
    }
    if let Some(arrow) = arrow::import(object, name)? {
        return Ok(Form::Arrow(arrow));
    }
    let Ok(buffer) = PyUntypedBuffer::get(object) else {
        return Ok(Form::Items);
    };
    match buffer.dimensions() {
        // Of something else than bytes: NumPy's arrays of objects.
        1 if buffer.as_typed::<u8>().is_err() => Ok(Form::Items),
        1 => bytes(object, name).map(Form::Bytes),
        2 => match buffer.into_typed() {
            Ok(buffer) => Ok(Form::Table(buffer)),
            Err(_) => Err(expected(name, "an array of dtype uint8", object)),
        },
        n => {
            let text = format!("{name}: expected an array of two dimensions, not {n}");
            Err(PyTypeError::new_err(text))
        }
    }
}

const MESSAGES: &str =
    "a list of bytes-like objects, an array of two dimensions or an Arrow column";

/// Messages, where they lie.
pub(crate) enum Messages<'py> {
    Items(Vec<Option<Bytes<'py>>>),
    Rows(Rows),
    Arrow(Arrow),
}

impl<'py> Messages<'py> {
    pub(crate) fn new(object: &Bound<'py, PyAny>) -> PyResult<Self> {
        match form(object, "messages")? {
            Form::Arrow(arrow) => Ok(Messages::Arrow(arrow)),
            Form::Table(buffer) => rows(buffer, "messages").map(Messages::Rows),
            Form::Bytes(_) => Err(expected("messages", MESSAGES, object)),
            Form::Items => byte_strings(object, "messages", MESSAGES).map(Messages::Items),
        }
    }

    pub(crate) fn present(&self) -> PyResult<Present> {
        match self {
            Messages::Items(items) => Ok(present(items)),
            Messages::Rows(rows) => Ok(Present::all(rows.count)),
            Messages::Arrow(arrow) => arrow.present(),
        }
    }

    /// Those of all rows that have one.
    pub(crate) fn sources(&self, rows: Chosen<'_>) -> PyResult<Vec<Source<'_>>> {
        Ok(match self {
            Messages::Items(items) => chosen(items, "messages", rows)?,
            Messages::Rows(array) => array.sources()?,
            Messages::Arrow(arrow) => {
                let slices = arrow.slices(rows)?;
                slices.into_iter().map(Source::from).collect()
            }
        })
    }
}

/// Rows of an array that is read or written in place.
pub(crate) fn rows(buffer: PyBuffer<u8>, name: &str) -> PyResult<Rows> {
    Rows::new(buffer).ok_or_else(|| {
        let text = format!(
            "{name}: the bytes of a row must lie one after the other, and the rows in \
             ascending order; numpy.ascontiguousarray makes such an array"
        );
        PyTypeError::new_err(text)
    })
}

/// An array for results.
pub(crate) fn results(object: &Bound<'_, PyAny>) -> PyResult<Rows> {
    let rows = match form(object, "out")? {
        Form::Table(buffer) => rows(buffer, "out")?,
        _ => return Err(expected("out", "an array of two dimensions", object)),
    };
    match rows.readonly() {
        false => Ok(rows),
        true => Err(PyTypeError::new_err("out: the array is read-only")),
    }
}

/// A value for each message, such as a nonce; arrays are copied.
pub(crate) enum Column<'py> {
    Items(Vec<Option<Bytes<'py>>>),
    /// So many values of so many bytes, one after the other.
    Table(Vec<u8>, usize, usize),
    Arrow(Arrow),
}

impl<'py> Column<'py> {
    /// `usual`: bytes of a value if they are given as one string.
    pub(crate) fn new(
        object: &Bound<'py, PyAny>,
        name: &'static str,
        usual: usize,
    ) -> PyResult<Self> {
        Ok(match form(object, name)? {
            Form::Arrow(arrow) => Column::Arrow(arrow),
            Form::Table(buffer) => Column::table(&buffer, object.py())?,
            Form::Bytes(bytes) => {
                let bytes = bytes.as_bytes();
                if usual == 0 || !bytes.len().is_multiple_of(usual) {
                    let what = format!("{name}: one string of {} bytes", bytes.len());
                    let allowed = format!("{usual} for each message");
                    return Err(errors::input(None, "count", &what, bytes.len(), allowed));
                }
                Column::Table(bytes.to_vec(), bytes.len() / usual, usual)
            }
            Form::Items => Column::Items(byte_strings(object, name, MESSAGES)?),
        })
    }

    fn table(buffer: &PyBuffer<u8>, py: Python<'_>) -> PyResult<Self> {
        let (count, width) = (buffer.shape()[0], buffer.shape()[1]);
        Ok(Column::Table(buffer.to_vec(py)?, count, width))
    }

    fn len(&self) -> usize {
        match self {
            Column::Items(items) => items.len(),
            Column::Table(_, count, _) => *count,
            Column::Arrow(arrow) => arrow.len(),
        }
    }

    /// The values of these of so many rows, one after the other, if they have one length and
    /// lie so.
    pub(crate) fn flat(&self, rows: Chosen<'_>, of: usize) -> Option<Flat<'_>> {
        match self {
            _ if self.len() != of => None,
            Column::Table(bytes, _, width) => {
                let range = rows.range();
                let bytes = &bytes[range.start * width..range.end * width];
                Some(Flat::chosen(bytes, *width, rows))
            }
            Column::Arrow(arrow) => arrow.flat(rows),
            Column::Items(_) => None,
        }
    }

    /// The values of the rows that have a message, of as many rows as there are.
    pub(crate) fn slices(&self, name: &str, rows: Chosen<'_>) -> PyResult<Vec<&[u8]>> {
        errors::count(name, self.len(), rows.range().len())?;
        Ok(match self {
            Column::Items(items) => chosen(items, name, rows)?,
            Column::Table(bytes, _, width) => {
                let value = |i| &bytes[i * width..(i + 1) * width];
                rows.rows().map(value).collect()
            }
            Column::Arrow(arrow) => arrow.slices(rows)?,
        })
    }

    /// The rows that have a value.
    pub(crate) fn present(&self) -> PyResult<Present> {
        match self {
            Column::Items(items) => Ok(present(items)),
            Column::Arrow(arrow) => arrow.present(),
            _ => Ok(Present::all(self.len())),
        }
    }
}

/// Nonces of a batch.
pub(crate) enum Nonces<'py> {
    None,
    Each(Column<'py>),
    /// Random ones of so many bytes, in front of what is encrypted or sealed.
    Inline(usize),
}

const DATA: &str = "associated_data";

/// Associated data.
pub(crate) enum Data<'py> {
    /// The components of every message's.
    Same(Vec<Bytes<'py>>),
    /// One component for each message.
    Each(Column<'py>),
    /// Several for each.
    Vectors(Vec<Vec<Bytes<'py>>>),
}

impl<'py> Data<'py> {
    /// For a batch: one string or one tuple for all messages, or one of them for each.
    pub(crate) fn of_batch(object: Option<&Bound<'py, PyAny>>) -> PyResult<Self> {
        let Some(object) = object else {
            return Ok(Data::Same(Vec::new()));
        };
        if let Ok(components) = object.cast::<PyTuple>() {
            return Data::components(components, DATA).map(Data::Same);
        }
        Ok(match form(object, DATA)? {
            Form::Arrow(arrow) => Data::Each(Column::Arrow(arrow)),
            Form::Table(buffer) => Data::Each(Column::table(&buffer, object.py())?),
            Form::Bytes(bytes) => Data::Same(vec![bytes]),
            Form::Items => Data::items(object)?,
        })
    }

    /// For one message: a string, or several in a tuple.
    pub(crate) fn of_one(object: Option<&Bound<'py, PyAny>>) -> PyResult<Self> {
        Ok(Data::Same(match object {
            None => Vec::new(),
            Some(object) => Data::message(object, || DATA.to_owned())?,
        }))
    }

    fn items(object: &Bound<'py, PyAny>) -> PyResult<Self> {
        let what = "bytes, a tuple, a list, an array of two dimensions or an Arrow column";
        let objects = items(object, DATA, what, |_, item| Ok(item))?;
        let several = |item: &Bound<'py, PyAny>| item.is_none() || item.is_instance_of::<PyTuple>();
        let name = |i: usize| format!("{DATA}[{i}]");
        let numbered = objects.iter().enumerate();
        Ok(match objects.iter().any(several) {
            true => Data::Vectors(
                numbered
                    .map(|(i, item)| Data::message(item, || name(i)))
                    .collect::<PyResult<_>>()?,
            ),
            false => Data::Each(Column::Items(
                numbered
                    .map(|(i, item)| bytes_like(item, || name(i)).map(Some))
                    .collect::<PyResult<_>>()?,
            )),
        })
    }

    /// The components of one message's.
    fn message(object: &Bound<'py, PyAny>, name: impl Fn() -> String) -> PyResult<Vec<Bytes<'py>>> {
        if object.is_none() {
            return Ok(Vec::new());
        }
        match object.cast::<PyTuple>() {
            Ok(components) => Data::components(components, &name()),
            Err(_) => Ok(vec![bytes_like(object, name)?]),
        }
    }

    fn components(tuple: &Bound<'py, PyTuple>, name: &str) -> PyResult<Vec<Bytes<'py>>> {
        let component = |(i, item)| bytes_like(&item, || format!("{name}[{i}]"));
        tuple.iter().enumerate().map(component).collect()
    }

    /// What these of so many rows have, one after the other by such offsets: `Some(None)` if
    /// it is nothing, `None` if it cannot be had so.
    pub(crate) fn packed<O: Offset + OffsetSizeTrait>(
        &self,
        rows: Chosen<'_>,
        of: usize,
    ) -> Option<Option<values::Data<'_, O>>> {
        /// Bytes that are rather copied for each message of a piece than given by address.
        const FEW: usize = 64;
        match self {
            Data::Same(components) => match &components[..] {
                [] => Some(None),
                [data] if data.as_bytes().len() <= FEW => {
                    Some(Some(values::Data::same(data.as_bytes(), rows.count())))
                }
                _ => None,
            },
            Data::Each(Column::Arrow(arrow)) if arrow.len() == of => {
                arrow.chosen_values(rows).map(values::Data::Each).map(Some)
            }
            _ => None,
        }
    }

    pub(crate) fn slices(&self, rows: Chosen<'_>) -> PyResult<Slices<'_>> {
        fn list<'a>(components: &'a [Bytes<'_>]) -> Vec<&'a [u8]> {
            components.iter().map(|item| item.as_bytes()).collect()
        }
        Ok(match self {
            Data::Same(components) => Slices::Same(list(components)),
            Data::Each(column) => Slices::Each(column.slices(DATA, rows)?),
            Data::Vectors(vectors) => {
                errors::count(DATA, vectors.len(), rows.range().len())?;
                Slices::Vectors(rows.rows().map(|i| list(&vectors[i])).collect())
            }
        })
    }
}

/// The bytes of [`Data`].
pub(crate) enum Slices<'a> {
    Same(Vec<&'a [u8]>),
    Each(Vec<&'a [u8]>),
    Vectors(Vec<Vec<&'a [u8]>>),
}

impl<'a> Slices<'a> {
    /// The components of message `i`'s.
    pub(crate) fn of(&self, i: usize) -> &[&'a [u8]] {
        match self {
            Slices::Same(components) => components,
            Slices::Each(slices) => std::slice::from_ref(&slices[i]),
            Slices::Vectors(vectors) => &vectors[i],
        }
    }
}

/// Tweaks of values.
pub(crate) enum Tweaks<'py> {
    Same(Bytes<'py>),
    Each(Column<'py>),
}

impl<'py> Tweaks<'py> {
    pub(crate) fn new(py: Python<'py>, object: Option<&Bound<'py, PyAny>>) -> PyResult<Self> {
        const NAME: &str = "tweaks";
        const WHAT: &str = "bytes, a list of bytes-like objects, an array of two dimensions or \
             an Arrow column";
        let Some(object) = object else {
            return Ok(Tweaks::Same(PyBytes::new(py, &[])));
        };
        Ok(match form(object, NAME)? {
            Form::Arrow(arrow) => Tweaks::Each(Column::Arrow(arrow)),
            Form::Table(buffer) => Tweaks::Each(Column::table(&buffer, py)?),
            Form::Bytes(bytes) => Tweaks::Same(bytes),
            Form::Items => Tweaks::Each(Column::Items(byte_strings(object, NAME, WHAT)?)),
        })
    }
}

/// Lengths of messages when they are opened.
pub(crate) fn lengths(object: &Bound<'_, PyAny>) -> PyResult<Vec<usize>> {
    items(object, "opened_lengths", "a list of numbers", |_, item| {
        item.extract()
    })
}

/// The type that a column of results is asked to have.
pub(crate) enum To {
    /// Bytes, as the column of messages has them.
    Bytes,
    /// Text, likewise.
    Text,
    Type(DataType),
}

impl To {
    pub(crate) fn new(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        const WHAT: &str = "'binary', 'string', 'bool', 'int8' to 'uint64', 'float16' to \
             'float64' or an object with __arrow_c_schema__, such as a type of pyarrow";
        if let Ok(name) = object.extract::<std::borrow::Cow<'_, str>>() {
            return match &*name {
                "binary" => Ok(To::Bytes),
                "string" => Ok(To::Text),
                other => number_type(other).map(To::Type).ok_or_else(|| {
                    let text = format!("to: expected {WHAT}, not '{other}'");
                    PyValueError::new_err(text)
                }),
            };
        }
        let Some(method) = object.getattr_opt(intern!(object.py(), "__arrow_c_schema__"))? else {
            return Err(expected("to", WHAT, object));
        };
        arrow::type_in(method.call0()?.cast()?, "to").map(To::Type)
    }
}
