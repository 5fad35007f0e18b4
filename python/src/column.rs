//! [`Column`].

use crate::c_data::{self, ARRAY, SCHEMA};
use crate::errors;
use aescomb_columns::values::{self, fits};
use arrow_array::cast::AsArray;
use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema};
use arrow_array::{Array, ArrayRef};
use arrow_data::ArrayData;
use arrow_data::transform::MutableArrayData;
use arrow_schema::{ArrowError, DataType};
use pyo3::exceptions::{PyIndexError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule, PyString};

pub(crate) fn refused(error: ArrowError) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// Sets how many bytes of memory are kept at most for later results, 1 GiB unless this is called:
/// what it was before. ``keep_memory(0)`` frees all.
///
/// Memory of large Arrow columns, but not of decrypted ones, is kept when they are dropped, as new
/// memory, which the operating system clears, takes about as long as to encrypt. It counts as
/// the process's, but the system takes it where it is short of memory (``MADV_FREE``, on
/// Linux; elsewhere nothing is kept).
///
/// >>> import aescomb
/// >>> before = aescomb.keep_memory(64 << 20)
/// >>> aescomb.keep_memory(before) == 64 << 20
/// True
#[pyfunction]
pub(crate) fn keep_memory(py: Python<'_>, most: usize) -> usize {
    py.detach(|| values::keep(most))
}

/// A column of results, in the form of Arrow.
///
/// Libraries that know the Arrow PyCapsule interface take it over without a copy:
/// ``pyarrow.array(column)``, ``polars.Series(column)``. Results of a column in several parts
/// have as many: ``pyarrow.chunked_array(column)`` keeps them, and ``pyarrow.array(column)``
/// makes them one. It is a sequence of ``bytes``, or of ``str`` if it is text, with ``None``
/// where there is no result.
///
/// >>> import aescomb, pyarrow
/// >>> key = aescomb.Key("ctr", bytes(16))
/// >>> messages = pyarrow.array([b"one", None, b"two"], pyarrow.binary())
/// >>> column = key.encrypt_many(bytes(3 * 16), messages)
/// >>> column
/// <aescomb.Column of 3, Binary>
/// >>> pyarrow.array(column).type
/// DataType(binary)
/// >>> key.decrypt_many(bytes(3 * 16), column)[2], column[1]
/// (b'two', None)
#[pyclass(frozen, module = "aescomb")]
pub(crate) struct Column {
    parts: Vec<ArrayRef>,
    of: DataType,
}

impl Column {
    /// Of parts of this type.
    pub(crate) fn new(parts: Vec<ArrayRef>, of: DataType) -> Self {
        Column { parts, of }
    }

    fn len(&self) -> usize {
        self.parts.iter().map(|part| part.len()).sum()
    }

    /// All parts in one.
    fn whole(&self) -> PyResult<ArrayData> {
        let parts: Vec<ArrayData> = self.parts.iter().map(|part| part.to_data()).collect();
        match &parts[..] {
            [] => Ok(ArrayData::new_empty(&self.of)),
            [part] => Ok(part.clone()),
            _ => {
                let values: usize = self.parts.iter().map(bytes_of).sum();
                fits(values, &self.of).map_err(errors::unfit)?;
                let mut whole =
                    MutableArrayData::try_new(parts.iter().collect(), false, self.len())
                        .map_err(refused)?;
                for (i, part) in parts.iter().enumerate() {
                    whole.try_extend(i, 0, part.len()).map_err(refused)?;
                }
                Ok(whole.freeze())
            }
        }
    }
}

/// Bytes that the values of an array with offsets of 32 bits have.
fn bytes_of(array: &ArrayRef) -> usize {
    let len = |offsets: &[i32]| offsets[offsets.len() - 1].abs_diff(offsets[0]) as usize;
    match array.data_type() {
        DataType::Binary => len(array.as_binary::<i32>().value_offsets()),
        DataType::Utf8 => len(array.as_string::<i32>().value_offsets()),
        _ => 0,
    }
}

/// The element of an array that is not null.
fn element<'py>(py: Python<'py>, array: &ArrayRef, i: usize) -> PyResult<Bound<'py, PyAny>> {
    let bytes = |value: &[u8]| Ok(PyBytes::new(py, value).into_any());
    let text = |value: &str| Ok(PyString::new(py, value).into_any());
    match array.data_type() {
        DataType::Binary => bytes(array.as_binary::<i32>().value(i)),
        DataType::LargeBinary => bytes(array.as_binary::<i64>().value(i)),
        DataType::BinaryView => bytes(array.as_binary_view().value(i)),
        DataType::FixedSizeBinary(_) => bytes(array.as_fixed_size_binary().value(i)),
        DataType::Utf8 => text(array.as_string::<i32>().value(i)),
        DataType::LargeUtf8 => text(array.as_string::<i64>().value(i)),
        DataType::Utf8View => text(array.as_string_view().value(i)),
        DataType::Dictionary(..) => {
            let dictionary = array.as_any_dictionary();
            let values = dictionary.values();
            let key = array.slice(i, 1).as_any_dictionary().normalized_keys()[0];
            match values.is_null(key) {
                true => Ok(py.None().into_bound(py)),
                false => element(py, values, key),
            }
        }
        other => {
            let text = format!("elements of {other} are had by pyarrow.array(column)");
            Err(PyTypeError::new_err(text))
        }
    }
}

#[pymethods]
impl Column {
    fn __len__(&self) -> usize {
        self.len()
    }

    fn __getitem__<'py>(
        &self,
        py: Python<'py>,
        index: isize,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let mut i = match usize::try_from(index) {
            Ok(i) => i,
            Err(_) => self.len().wrapping_sub(index.unsigned_abs()),
        };
        for part in &self.parts {
            if i < part.len() {
                return match part.is_null(i) {
                    true => Ok(None),
                    false => element(py, part, i).map(Some),
                };
            }
            i -= part.len();
        }
        Err(PyIndexError::new_err("no such element"))
    }

    fn __repr__(&self) -> String {
        format!("<aescomb.Column of {}, {}>", self.len(), self.of)
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(&self.of).map_err(refused)?;
        PyCapsule::new_with_value(py, schema, SCHEMA)
    }

    /// The column as two capsules of the Arrow C data interface, of its own type whatever
    /// type is requested.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<(Bound<'py, PyCapsule>, Bound<'py, PyCapsule>)> {
        // The interface leaves it to the exporter whether to heed it.
        let _ = requested_schema;
        let array = FFI_ArrowArray::new(&self.whole()?);
        let array = PyCapsule::new_with_value(py, array, ARRAY)?;
        Ok((self.__arrow_c_schema__(py)?, array))
    }

    /// The column as a capsule of the Arrow C stream interface, in its own parts and of its
    /// own type whatever type is requested.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        let parts = self.parts.iter().map(|part| part.to_data()).collect();
        c_data::stream(py, self.of.clone(), parts)
    }
}
