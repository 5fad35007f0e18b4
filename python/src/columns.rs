//! Keysets, and what `aescomb.columns` does with columns.

use crate::arrow;
use crate::column::{Column, refused};
use crate::errors;
use crate::input;
use aescomb_columns::command::ColumnsCommand;
use aescomb_columns::{
    Beside, Cipher as Columns, Error, Header, KeyService, OnFailure, Prefix, Spec, Status,
};
use arrow_array::{Array, ArrayRef};
use arrow_schema::{DataType, Field, Schema};
use clap::Parser;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::num::NonZeroUsize;
use std::sync::RwLock;
use zeroize::Zeroizing;

/// Keys with identifiers, of which one is the primary: new values are encrypted under that one,
/// and old ones decrypted under the one that they name.
///
/// ``Keyset(type)`` has one new random key of a type such as ``"aes-256-gcm"`` or
/// ``"aes-256-siv"``. In files a keyset is JSON that Tink reads and writes, plain or wrapped. What
/// wraps it is another keyset, with a key for AES-GCM, or an object with methods ``wrap(plaintext,
/// associated_data)`` and ``unwrap(wrapped, associated_data)``, such as a key service's client.
///
/// >>> from aescomb.columns import Keyset
/// >>> keys = Keyset("aes-256-siv")
/// >>> old = keys.primary
/// >>> keys.add("aes-256-siv") in keys.ids
/// True
/// >>> wrapping = Keyset("aes-256-gcm")
/// >>> json = keys.to_json(wrapped_by=wrapping)
/// >>> Keyset.from_json(json, wrapped_by=wrapping).primary == old
/// True
#[pyclass(frozen, module = "aescomb.columns")]
pub(crate) struct Keyset(RwLock<aescomb_columns::Keyset>);

/// An object of Python as a key service.
struct Service<'py>(Bound<'py, PyAny>);

impl Service<'_> {
    fn call(&self, method: &str, given: &[u8], data: &[u8]) -> Result<Vec<u8>, Error> {
        let py = self.0.py();
        let arguments = (PyBytes::new(py, given), PyBytes::new(py, data));
        let result = self.0.call_method1(method, arguments);
        let bytes = result.and_then(|bytes| Ok(bytes.cast::<PyBytes>()?.as_bytes().to_vec()));
        bytes.map_err(|error| Error::Key {
            id: None,
            what: format!("{method}: {error}"),
        })
    }
}

impl KeyService for Service<'_> {
    fn wrap(&self, plaintext: &[u8], associated_data: &[u8]) -> Result<Vec<u8>, Error> {
        self.call("wrap", plaintext, associated_data)
    }

    fn unwrap(&self, wrapped: &[u8], associated_data: &[u8]) -> Result<Zeroizing<Vec<u8>>, Error> {
        self.call("unwrap", wrapped, associated_data)
            .map(Zeroizing::new)
    }
}

/// `with`, with what wraps keysets as a key service.
fn by_service<T>(
    object: &Bound<'_, PyAny>,
    with: impl FnOnce(&dyn KeyService) -> Result<T, Error>,
) -> PyResult<T> {
    let done = match object.cast::<Keyset>() {
        Ok(keyset) => with(&keyset.get().get()),
        Err(_) => with(&Service(object.clone())),
    };
    done.map_err(errors::columns)
}

impl Keyset {
    fn new_of(keyset: aescomb_columns::Keyset) -> Keyset {
        Keyset(RwLock::new(keyset))
    }

    fn get(&self) -> aescomb_columns::Keyset {
        let keyset = self.0.read();
        keyset
            .unwrap_or_else(|poisoned| poisoned.into_inner())
            .clone()
    }

    fn change<T>(
        &self,
        change: impl FnOnce(&mut aescomb_columns::Keyset) -> Result<T, Error>,
    ) -> PyResult<T> {
        let keyset = self.0.write();
        let mut keyset = keyset.unwrap_or_else(|poisoned| poisoned.into_inner());
        change(&mut keyset).map_err(errors::columns)
    }
}

#[pymethods]
impl Keyset {
    #[new]
    #[pyo3(signature = (r#type=None))]
    fn new(r#type: Option<&str>) -> PyResult<Self> {
        let keyset = Keyset::new_of(aescomb_columns::Keyset::new());
        if let Some(of) = r#type {
            keyset.add(of, None, None)?;
        }
        Ok(keyset)
    }

    /// From JSON; ``wrapped_by`` and ``associated_data`` are those that it was wrapped with.
    #[staticmethod]
    #[pyo3(signature = (json, wrapped_by=None, associated_data=None))]
    fn from_json(
        json: &str,
        wrapped_by: Option<&Bound<'_, PyAny>>,
        associated_data: Option<&[u8]>,
    ) -> PyResult<Self> {
        let data = associated_data.unwrap_or_default();
        let keyset = match wrapped_by {
            None => aescomb_columns::Keyset::from_json(json).map_err(errors::columns)?,
            Some(object) => by_service(object, |service| {
                aescomb_columns::Keyset::from_wrapped_json(json, service, data)
            })?,
        };
        Ok(Keyset::new_of(keyset))
    }

    /// As JSON: plain, which whoever has it can decrypt with, or wrapped.
    #[pyo3(signature = (wrapped_by=None, associated_data=None))]
    fn to_json(
        &self,
        wrapped_by: Option<&Bound<'_, PyAny>>,
        associated_data: Option<&[u8]>,
    ) -> PyResult<String> {
        let data = associated_data.unwrap_or_default();
        match wrapped_by {
            None => {
                let json = self.get().to_json().map_err(errors::columns)?;
                Ok(json.to_string())
            }
            Some(object) => by_service(object, |service| self.get().to_wrapped_json(service, data)),
        }
    }

    /// Adds a key: a new random one, or the bytes of ``secret``. The result is its identifier.
    ///
    /// ``prefix`` is what its values begin with in the format ``tink``: ``"tink"``,
    /// ``"crunchy"`` or ``"raw"``, or else what Tink's templates have.
    #[pyo3(signature = (r#type, secret=None, prefix=None))]
    fn add(&self, r#type: &str, secret: Option<&[u8]>, prefix: Option<&str>) -> PyResult<u32> {
        let of = r#type.parse().map_err(errors::columns)?;
        let prefix = match prefix {
            None => None,
            Some("tink") => Some(Prefix::Tink),
            Some("crunchy") => Some(Prefix::Crunchy),
            Some("raw") => Some(Prefix::Raw),
            Some(other) => {
                return Err(PyValueError::new_err(format!(
                    "prefix: expected 'tink', 'crunchy' or 'raw', not '{other}'"
                )));
            }
        };
        self.change(|keyset| keyset.put(of, secret, prefix))
    }

    /// The identifiers of all keys.
    #[getter]
    fn ids(&self) -> Vec<u32> {
        self.get().keys().iter().map(|key| key.id()).collect()
    }

    /// The identifier of the primary key.
    #[getter]
    fn get_primary(&self) -> PyResult<u32> {
        let keyset = self.get();
        keyset
            .primary()
            .map(|key| key.id())
            .map_err(errors::columns)
    }

    #[setter]
    fn set_primary(&self, id: u32) -> PyResult<()> {
        self.change(|keyset| keyset.set_primary(id))
    }

    /// Lets a key be used again.
    fn enable(&self, id: u32) -> PyResult<()> {
        self.change(|keyset| keyset.set_status(id, Status::Enabled))
    }

    /// Lets a key be used no more, until it is enabled.
    fn disable(&self, id: u32) -> PyResult<()> {
        self.change(|keyset| keyset.set_status(id, Status::Disabled))
    }

    /// Removes a key for ever.
    fn remove(&self, id: u32) -> PyResult<()> {
        self.change(|keyset| keyset.remove(id))
    }

    fn __repr__(&self) -> String {
        let keyset = self.get();
        let primary = keyset.primary().map(|key| key.id()).ok();
        let shown = |key: &aescomb_columns::Entry| {
            let status = match key.status() {
                _ if Some(key.id()) == primary => ", primary",
                Status::Enabled => "",
                Status::Disabled => ", disabled",
            };
            format!("{} {}{status}", key.id(), key.key_type())
        };
        let keys: Vec<String> = keyset.keys().iter().map(shown).collect();
        format!("<aescomb.columns.Keyset {}>", keys.join("; "))
    }
}

/// What `aescomb.columns.Cipher` has of Rust: columns by their names.
#[pyclass(frozen, module = "aescomb._aescomb")]
pub(crate) struct ColumnCipher(Columns);

/// The arrays of a column that others made, and their type.
fn arrays(object: &Bound<'_, PyAny>, what: &'static str) -> PyResult<(Vec<ArrayRef>, DataType)> {
    let Some(column) = arrow::import(object, what)? else {
        return Err(input::expected(what, "an Arrow column", object));
    };
    Ok((column.arrays()?, column.whole_type()))
}

/// The same stretches of another column as of these parts.
fn stretches(
    object: &Bound<'_, PyAny>,
    what: &'static str,
    parts: &[ArrayRef],
) -> PyResult<Vec<ArrayRef>> {
    let (of, _) = arrays(object, what)?;
    let count = |parts: &[ArrayRef]| parts.iter().map(|part| part.len()).sum::<usize>();
    errors::count(what, count(&of), count(parts))?;
    let all: Vec<&dyn Array> = of.iter().map(|part| &**part).collect();
    let whole = match &of[..] {
        [] => return Ok(Vec::new()),
        [only] => only.clone(),
        _ => arrow_select::concat::concat(&all).map_err(refused)?,
    };
    let mut start = 0;
    let stretch = |part: &ArrayRef| {
        start += part.len();
        whole.slice(start - part.len(), part.len())
    };
    Ok(parts.iter().map(stretch).collect())
}

#[pymethods]
impl ColumnCipher {
    /// For encryption: columns of these names, exported as Arrow schemas.
    #[staticmethod]
    fn encrypting(
        spec: &str,
        keysets: Vec<PyRef<'_, Keyset>>,
        columns: Vec<(String, Bound<'_, PyAny>)>,
        threads: NonZeroUsize,
    ) -> PyResult<Self> {
        let spec = Spec::from_json(spec).map_err(errors::columns)?;
        let mut fields = Vec::new();
        for (name, object) in columns {
            // Columns that are not encrypted may be of any type.
            let of = match spec.is_about(&name) {
                true => arrow::data_type(&object, "columns")?,
                false => DataType::Null,
            };
            fields.push(Field::new(name, of, true));
        }
        let cipher = Columns::new(&spec, &own(&keysets), &Schema::new(fields));
        ColumnCipher::made(cipher, threads)
    }

    /// For what was encrypted as a header says.
    #[staticmethod]
    fn with_header(
        header: &str,
        spec: Option<&str>,
        keysets: Vec<PyRef<'_, Keyset>>,
        threads: NonZeroUsize,
    ) -> PyResult<Self> {
        let header = Header::from_json(header).map_err(errors::columns)?;
        let spec = spec
            .map(Spec::from_json)
            .transpose()
            .map_err(errors::columns)?;
        let cipher = Columns::with_header(header, spec.as_ref(), &own(&keysets));
        ColumnCipher::made(cipher, threads)
    }

    /// For what others have encrypted as a spec says.
    #[staticmethod]
    fn with_spec(
        spec: &str,
        keysets: Vec<PyRef<'_, Keyset>>,
        threads: NonZeroUsize,
    ) -> PyResult<Self> {
        let spec = Spec::from_json(spec).map_err(errors::columns)?;
        let names = spec.columns.keys();
        let fields: Vec<Field> = names
            .map(|name| Field::new(name, DataType::Null, true))
            .collect();
        let cipher = Columns::of_schema(&Schema::new(fields), Some(&spec), &own(&keysets));
        ColumnCipher::made(cipher, threads)
    }

    /// What is done, as JSON.
    #[getter]
    fn header(&self) -> PyResult<String> {
        self.0.header().to_json().map_err(errors::columns)
    }

    /// The columns that are encrypted, with those of their keys and nonces.
    #[getter]
    fn columns(&self) -> Vec<(String, Option<String>, Option<String>)> {
        let names = self.0.header().columns.keys();
        let beside = |name: &String| {
            let keys = self.0.key_column(name).map(str::to_owned);
            let nonces = self.0.nonce_column(name).map(str::to_owned);
            (name.clone(), keys, nonces)
        };
        names.map(beside).collect()
    }

    /// An encrypted column, and that of its nonces if it has one.
    #[pyo3(signature = (name, column, keys=None))]
    fn encrypt(
        &self,
        py: Python<'_>,
        name: &str,
        column: &Bound<'_, PyAny>,
        keys: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<(Column, Option<Column>)> {
        let (parts, of) = named(name, arrays(column, "column"))?;
        let keys = keys.map(|keys| named(name, stretches(keys, "keys", &parts)));
        let keys = keys.transpose()?;
        let (mut values, mut nonces) = (Vec::new(), Vec::new());
        let mut row = 0;
        for (i, part) in parts.iter().enumerate() {
            let keys = keys.as_ref().map(|keys| &keys[i]);
            let beside = Beside { keys, nonces: None };
            let done = py.detach(|| self.0.encrypt_column(name, part, beside));
            let encrypted = done.map_err(|error| errors::columns(moved(error, row)))?;
            row += part.len() as u64;
            values.push(encrypted.values);
            nonces.extend(encrypted.nonces.map(|(_, array)| array));
        }
        let field = Schema::new(vec![Field::new(name, of, true)]);
        let schema = self.0.encrypted_schema(&field).map_err(errors::columns)?;
        let of = |i: usize| schema.field(i).data_type().clone();
        let beside = schema.fields().len() > 1;
        Ok((
            Column::new(values, of(0)),
            beside.then(|| Column::new(nonces, of(1))),
        ))
    }

    /// A decrypted column, and what failed, by row and reason, if that raises nothing.
    #[pyo3(signature = (name, column, keys=None, nonces=None, stop=true))]
    fn decrypt(
        &self,
        py: Python<'_>,
        name: &str,
        column: &Bound<'_, PyAny>,
        keys: Option<&Bound<'_, PyAny>>,
        nonces: Option<&Bound<'_, PyAny>>,
        stop: bool,
    ) -> PyResult<(Column, Vec<(u64, String)>)> {
        let (parts, _) = named(name, arrays(column, "column"))?;
        let beside = |given: Option<&Bound<'_, PyAny>>, what| {
            let parts = given.map(|given| named(name, stretches(given, what, &parts)));
            parts.transpose()
        };
        let (keys, nonces) = (beside(keys, "keys")?, beside(nonces, "nonces")?);
        let on_failure = match stop {
            true => OnFailure::Stop,
            false => OnFailure::Null,
        };
        let (mut values, mut failures, mut row) = (Vec::new(), Vec::new(), 0);
        for (i, part) in parts.iter().enumerate() {
            let beside = Beside {
                keys: keys.as_ref().map(|keys| &keys[i]),
                nonces: nonces.as_ref().map(|nonces| &nonces[i]),
            };
            let done = py.detach(|| self.0.decrypt_column(name, part, beside, on_failure));
            let (array, failed) = done.map_err(|error| errors::columns(moved(error, row)))?;
            let failed = failed.into_iter();
            failures.extend(failed.map(|failure| (failure.row + row, failure.reason.to_string())));
            row += part.len() as u64;
            values.push(array);
        }
        let field = Schema::new(vec![Field::new(name, DataType::Binary, true)]);
        let schema = self.0.decrypted_schema(&field);
        Ok((
            Column::new(values, schema.field(0).data_type().clone()),
            failures,
        ))
    }
}

/// An error about values of a part, with their rows in the column.
fn moved(error: Error, rows: u64) -> Error {
    match error {
        Error::Value(mut failure) => {
            failure.row += rows;
            Error::Value(failure)
        }
        other => other,
    }
}

/// With the name of the column that it is about.
fn named<T>(name: &str, result: PyResult<T>) -> PyResult<T> {
    result.inspect_err(|error| {
        Python::attach(|py| {
            let _ = error
                .value(py)
                .call_method1("add_note", (format!("column '{name}'"),));
        });
    })
}

fn own(keysets: &[PyRef<'_, Keyset>]) -> Vec<aescomb_columns::Keyset> {
    keysets.iter().map(|keyset| keyset.get()).collect()
}

impl ColumnCipher {
    fn made(cipher: Result<Columns, Error>, threads: NonZeroUsize) -> PyResult<Self> {
        let mut cipher = cipher.map_err(errors::columns)?;
        cipher.set_threads(threads);
        Ok(ColumnCipher(cipher))
    }
}

/// Encrypt columns of Parquet and CSV files, and decrypt them
#[derive(Parser)]
#[command(name = "python -m aescomb.columns", version)]
struct Command {
    #[command(subcommand)]
    command: ColumnsCommand,
}

/// Runs the command with these arguments: its exit status.
#[pyfunction]
pub(crate) fn columns_command(py: Python<'_>, arguments: Vec<String>) -> u8 {
    const NAME: &str = "aescomb.columns";
    py.detach(|| {
        let command = match Command::try_parse_from([NAME.to_owned()].into_iter().chain(arguments))
        {
            Ok(Command { command }) => command,
            Err(error) => {
                let _ = error.print();
                return u8::try_from(error.exit_code()).unwrap_or(2);
            }
        };
        match command.run(&mut std::io::stdout().lock()) {
            Ok(true) => 0,
            Ok(false) => 1,
            Err(error) => {
                eprintln!("{NAME}: {error}");
                2
            }
        }
    })
}

/// The bytes of a key as MySQL and ClickHouse's ``aes_encrypt_mysql`` make them of others.
#[pyfunction]
pub(crate) fn mysql_key<'py>(
    py: Python<'py>,
    bits: usize,
    given: &[u8],
) -> PyResult<Bound<'py, PyBytes>> {
    let key = aescomb_columns::mysql_key(bits, given);
    let key = key.map_err(|error| PyValueError::new_err(error.to_string()))?;
    Ok(PyBytes::new(py, &key))
}
