//! [`Keys`]: a key for each row, by identifiers.

use crate::arrow::{self, Arrow};
use crate::errors;
use crate::input;
use crate::key::{Held, Key};
use aescomb_columns::values::{Chosen, Keyed};
use arrow_schema::DataType;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyInt, PyString};
use std::borrow::Cow;
use std::collections::HashMap;

const WHAT: &str = "strings, bytes or integers";

/// Keys by their identifiers, for batches in which every row names its key.
///
/// ``keys`` is a dictionary of ``Key`` objects for one mode. Identifiers are ``str``, ``int`` or
/// ``bytes``.
///
/// >>> import aescomb, pyarrow
/// >>> keys = aescomb.Keys({f"tenant {i}": aescomb.Key("siv", bytes([i]) * 32) for i in range(3)})
/// >>> len(keys), "tenant 2" in keys, keys["tenant 2"]
/// (3, True, <aescomb.Key aes-128-siv>)
/// >>> tenants = pyarrow.array(["tenant 2", "tenant 0", "tenant 2"])
/// >>> key = keys.of(tenants)
/// >>> key
/// <aescomb.Key siv, 3 keys for 3 rows>
/// >>> sealed = key.seal_many(None, [b"one", b"two", b"three"])
/// >>> keys["tenant 0"].open(None, sealed[1])
/// b'two'
#[pyclass(frozen, module = "aescomb")]
pub(crate) struct Keys {
    keys: Vec<Py<Key>>,
    places: Places,
}

/// Places in the table of keys.
#[derive(Default)]
pub(crate) struct Places {
    numbers: HashMap<i128, u32>,
    texts: HashMap<Vec<u8>, u32>,
    bytes: HashMap<Vec<u8>, u32>,
    /// Keys in the table.
    count: usize,
}

/// An identifier.
pub(crate) enum Id<'a> {
    Number(i128),
    Text(Cow<'a, [u8]>),
    Bytes(&'a [u8]),
}

impl Id<'_> {
    pub(crate) fn new<'a>(
        object: &'a Bound<'_, PyAny>,
        name: impl Fn() -> String,
    ) -> PyResult<Id<'a>> {
        if let Ok(text) = object.cast::<PyString>() {
            return Ok(Id::Text(text.to_str()?.as_bytes().to_vec().into()));
        }
        if let Ok(bytes) = object.cast::<PyBytes>() {
            return Ok(Id::Bytes(bytes.as_bytes()));
        }
        // Numbers of NumPy have `__index__` too.
        if !object.is_instance_of::<PyBool>()
            && (object.is_instance_of::<PyInt>() || object.hasattr("__index__")?)
        {
            return object.extract().map(Id::Number);
        }
        Err(input::expected(
            &name(),
            "a string, bytes or an integer",
            object,
        ))
    }

    fn shown(&self) -> String {
        match self {
            Id::Number(number) => number.to_string(),
            Id::Text(text) => format!("'{}'", String::from_utf8_lossy(text)),
            Id::Bytes(bytes) => format!("b'{}'", bytes.escape_ascii()),
        }
    }
}

impl Places {
    fn find(&self, id: &Id<'_>) -> Option<u32> {
        match id {
            Id::Number(number) => self.numbers.get(number),
            Id::Text(text) => self.texts.get(&**text),
            Id::Bytes(bytes) => self.bytes.get(*bytes),
        }
        .copied()
    }

    /// Of a key with this place, which is one more.
    pub(crate) fn insert(&mut self, id: &Id<'_>, place: u32) {
        self.count += 1;
        match id {
            Id::Number(number) => self.numbers.insert(*number, place),
            Id::Text(text) => self.texts.insert(text.to_vec(), place),
            Id::Bytes(bytes) => self.bytes.insert(bytes.to_vec(), place),
        };
    }
}

/// What the values of a column are as identifiers.
#[derive(Clone, Copy)]
enum Kind {
    Signed,
    Unsigned,
    Text,
    Bytes,
}

impl Kind {
    fn new(column: &Arrow) -> PyResult<Kind> {
        match column.values_type() {
            DataType::Int8 | DataType::Int16 | DataType::Int32 | DataType::Int64 => {
                Ok(Kind::Signed)
            }
            DataType::UInt8 | DataType::UInt16 | DataType::UInt32 | DataType::UInt64 => {
                Ok(Kind::Unsigned)
            }
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => Ok(Kind::Text),
            DataType::Binary
            | DataType::LargeBinary
            | DataType::BinaryView
            | DataType::FixedSizeBinary(_) => Ok(Kind::Bytes),
            other => {
                let text = format!("ids: expected an Arrow column of {WHAT}, not {other}");
                Err(PyTypeError::new_err(text))
            }
        }
    }

    fn id(self, value: &[u8]) -> Id<'_> {
        match self {
            Kind::Text => Id::Text(value.into()),
            Kind::Bytes => Id::Bytes(value),
            Kind::Signed | Kind::Unsigned => {
                let negative = matches!(self, Kind::Signed) && value.last() >= Some(&0x80);
                let mut wide = [if negative { 0xff } else { 0 }; 16];
                wide[..value.len()].copy_from_slice(value);
                Id::Number(i128::from_le_bytes(wide))
            }
        }
    }
}

fn unknown(row: usize, id: &Id<'_>, keys: usize) -> PyErr {
    let what = format!("no key of id {}", id.shown());
    errors::input(
        Some(row),
        "key",
        &what,
        0,
        format!("the ids of {keys} keys"),
    )
}

/// Which key each row has.
pub(crate) struct Rows {
    keys: Vec<Py<Key>>,
    /// Places in the table, or [`NULL`].
    places: Vec<u32>,
}

/// The place of a row whose identifier is null.
pub(crate) const NULL: u32 = u32::MAX;

impl Rows {
    pub(crate) fn first(&self) -> &Key {
        self.keys[0].get()
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = &Key> {
        self.keys.iter().map(Py::get)
    }

    pub(crate) fn count(&self) -> usize {
        self.places.len()
    }

    /// Those of the rows that have a message.
    pub(crate) fn chosen(&self, rows: Chosen<'_>) -> PyResult<Keyed<'_>> {
        errors::count("ids of keys", self.places.len(), rows.range().len())?;
        let mut places = errors::room(rows.count())?;
        for row in rows.rows() {
            match self.places[row] {
                NULL => return Err(errors::null(row, "ids")),
                place => places.push(place),
            }
        }
        Ok(Keyed::Places(self.all().map(Key::any).collect(), places))
    }
}

#[pymethods]
impl Keys {
    #[new]
    fn new(keys: &Bound<'_, PyDict>) -> PyResult<Self> {
        let mut places = Places::default();
        let mut table: Vec<Py<Key>> = Vec::new();
        for (id, key) in keys {
            let shown = || id.repr().map_or("?".into(), |text| text.to_string());
            let name = || format!("keys: the id {}", shown());
            let id = Id::new(&id, name)?;
            let Ok(key) = key.cast::<Key>() else {
                return Err(input::expected(
                    &format!("keys[{}]", shown()),
                    "a Key",
                    &key,
                ));
            };
            let first = table.first().map_or(key.get(), Py::get);
            let mode = key.get().any().mode();
            if !matches!(key.get().0, Held::One(_)) || mode != first.any().mode() {
                let text = format!(
                    "keys[{}]: expected one key for {}, as all keys are for one mode, not {}",
                    shown(),
                    first.any().mode(),
                    key.get().shown(),
                );
                return Err(PyValueError::new_err(text));
            }
            places.insert(&id, u32::try_from(table.len())?);
            table.push(key.clone().unbind());
        }
        match table.is_empty() {
            true => Err(PyValueError::new_err("keys: expected one key or more")),
            false => Ok(Keys {
                keys: table,
                places,
            }),
        }
    }

    fn __len__(&self) -> usize {
        self.keys.len()
    }

    fn __contains__(&self, id: &Bound<'_, PyAny>) -> PyResult<bool> {
        Ok(self
            .places
            .find(&Id::new(id, || "id".to_owned())?)
            .is_some())
    }

    fn __getitem__(&self, py: Python<'_>, id: &Bound<'_, PyAny>) -> PyResult<Py<Key>> {
        match self.places.find(&Id::new(id, || "id".to_owned())?) {
            Some(place) => Ok(self.keys[place as usize].clone_ref(py)),
            None => Err(pyo3::exceptions::PyKeyError::new_err(id.clone().unbind())),
        }
    }

    fn __repr__(&self) -> String {
        let mode = self.keys[0].get().any().mode();
        format!("<aescomb.Keys of {}, {mode}>", self.keys.len())
    }

    /// A key for batches of as many rows as ``ids`` has, of which each names its key.
    ///
    /// ``ids`` are a list or an Arrow column of strings, integers or bytes. An unknown one
    /// raises ``InputError`` with its row; a null only where the row has a message.
    fn of(&self, py: Python<'_>, ids: &Bound<'_, PyAny>) -> PyResult<Key> {
        let places = self.places.of(ids)?;
        let keys = self.keys.iter().map(|key| key.clone_ref(py)).collect();
        Ok(Key(Held::Rows(Rows { keys, places })))
    }
}

impl Places {
    /// The place of each row's key, or [`NULL`].
    pub(crate) fn of(&self, ids: &Bound<'_, PyAny>) -> PyResult<Vec<u32>> {
        if let Some(column) = arrow::import(ids, "ids")? {
            return self.of_column(&column);
        }
        let place = |i, id: Bound<'_, PyAny>| {
            if id.is_none() {
                return Ok(NULL);
            }
            let id = Id::new(&id, || format!("ids[{i}]"))?;
            let place = self.find(&id);
            place.ok_or_else(|| unknown(i, &id, self.count))
        };
        if ids.is_instance_of::<PyBytes>() {
            return Err(input::expected("ids", WHAT, ids));
        }
        input::items(ids, "ids", "a list or an Arrow column of ids", place)
    }

    fn of_column(&self, column: &Arrow) -> PyResult<Vec<u32>> {
        let kind = Kind::new(column)?;
        let mut places = errors::room(column.len())?;
        if column.index_type().is_some() {
            for dictionary in column.dictionaries() {
                let dictionary = dictionary?;
                let find = |value: &Option<&[u8]>| match value {
                    Some(value) => self.find(&kind.id(value)),
                    None => Some(NULL),
                };
                let found: Vec<Option<u32>> = dictionary.values.iter().map(find).collect();
                for key in dictionary.keys {
                    let place = key.map_or(Some(NULL), |key| found[key]);
                    let value = key.and_then(|key| dictionary.values[key]);
                    let id = || kind.id(value.unwrap_or_default());
                    let row = places.len();
                    places.push(place.ok_or_else(|| unknown(row, &id(), self.count))?);
                }
            }
            return Ok(places);
        }
        let present = column.present()?;
        let rows = present.whole();
        for (row, value) in rows.rows().zip(column.slices(rows)?) {
            places.resize(row, NULL);
            let id = kind.id(value);
            let place = self.find(&id);
            places.push(place.ok_or_else(|| unknown(row, &id, self.count))?);
        }
        places.resize(column.len(), NULL);
        Ok(places)
    }
}
