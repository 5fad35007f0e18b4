//! Arrow columns of bytes, by the Arrow PyCapsule interface.

use crate::errors;
use crate::memory::{self, ARRAY, SCHEMA};
use arrow_array::cast::AsArray;
use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema};
use arrow_array::{
    Array, ArrayReader, ArrayRef, FixedSizeBinaryArray, GenericBinaryArray, OffsetSizeTrait,
};
use arrow_buffer::{Buffer, NullBuffer, OffsetBuffer};
use arrow_schema::{ArrowError, DataType};
use pyo3::exceptions::{PyIndexError, PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule};
use std::sync::Arc;

/// The type of a column of results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Type {
    /// Offsets of 32 bits.
    Binary,
    /// Offsets of 64 bits.
    LargeBinary,
    /// Values of one length.
    FixedSize,
}

/// A column of bytes, in one part or several.
pub(crate) struct Arrow {
    parts: Vec<ArrayRef>,
    pub(crate) results: Type,
}

fn check(data_type: &DataType, name: &str) -> PyResult<()> {
    match data_type {
        DataType::Binary
        | DataType::LargeBinary
        | DataType::BinaryView
        | DataType::FixedSizeBinary(_) => Ok(()),
        other => Err(PyTypeError::new_err(format!(
            "{name}: expected an Arrow column of binary, large_binary, binary_view or \
             fixed_size_binary, not {other}"
        ))),
    }
}

fn broken(name: &str, error: &ArrowError) -> PyErr {
    PyValueError::new_err(format!("{name}: {error}"))
}

/// The column that an object exports, if it exports any.
pub(crate) fn import(object: &Bound<'_, PyAny>, name: &str) -> PyResult<Option<Arrow>> {
    let py = object.py();
    if let Some(method) = object.getattr_opt(intern!(py, "__arrow_c_array__"))? {
        let (schema, array): (Bound<'_, PyCapsule>, Bound<'_, PyCapsule>) =
            method.call0()?.extract()?;
        let array = memory::import_array(&schema, &array, |data_type| check(data_type, name))?;
        let array = array.map_err(|error| broken(name, &error))?;
        let results = match array.data_type() {
            DataType::Binary => Type::Binary,
            DataType::FixedSizeBinary(_) => Type::FixedSize,
            _ => Type::LargeBinary,
        };
        let parts = vec![array];
        return Ok(Some(Arrow { parts, results }));
    }
    let Some(method) = object.getattr_opt(intern!(py, "__arrow_c_stream__"))? else {
        return Ok(None);
    };
    let stream = method.call0()?;
    let broken = |error| broken(name, &error);
    let stream = memory::import_stream(stream.cast()?)?.map_err(broken)?;
    let data_type = stream.field().data_type().clone();
    check(&data_type, name)?;
    let parts = stream.collect::<Result<_, _>>().map_err(broken)?;
    let results = match data_type {
        DataType::FixedSizeBinary(_) => Type::FixedSize,
        _ => Type::LargeBinary,
    };
    Ok(Some(Arrow { parts, results }))
}

impl Arrow {
    /// The values, where they lie.
    pub(crate) fn slices(&self) -> PyResult<Vec<&[u8]>> {
        let mut slices = errors::room(self.parts.iter().map(|part| part.len()).sum())?;
        for part in &self.parts {
            if let Some(nulls) = part.logical_nulls()
                && let Some(i) = nulls.iter().position(|valid| !valid)
            {
                let i = slices.len() + i;
                let what = format!("element {i} is null");
                return Err(errors::input(Some(i), "null", &what, 0, "bytes"));
            }
            match part.data_type() {
                DataType::Binary => values(part.as_binary::<i32>(), &mut slices)?,
                DataType::LargeBinary => values(part.as_binary::<i64>(), &mut slices)?,
                DataType::BinaryView => slices.extend(part.as_binary_view().iter().flatten()),
                _ => slices.extend(part.as_fixed_size_binary().iter().flatten()),
            }
        }
        Ok(slices)
    }
}

/// Goes by the offsets itself, as nobody has checked them.
fn values<'a, O: OffsetSizeTrait>(
    array: &'a GenericBinaryArray<O>,
    slices: &mut Vec<&'a [u8]>,
) -> PyResult<()> {
    let bytes = array.value_data();
    for pair in array.value_offsets().windows(2) {
        let (from, to) = (pair[0].to_usize(), pair[1].to_usize());
        let value = from.zip(to).and_then(|(from, to)| bytes.get(from..to));
        slices.push(value.ok_or_else(|| {
            PyValueError::new_err("the offsets of the Arrow column are not in ascending order")
        })?);
    }
    Ok(())
}

/// A column of results, in the form of Arrow.
///
/// Libraries that know the Arrow PyCapsule interface take it over without a copy:
/// ``pyarrow.array(column)``, ``polars.Series(column)``. It is a sequence of ``bytes``, with
/// ``None`` where there is no result.
///
/// >>> import aescomb, pyarrow
/// >>> key = aescomb.Key("ctr", bytes(16))
/// >>> messages = pyarrow.array([b"one", b"two"], pyarrow.binary())
/// >>> column = key.encrypt_many(bytes(2 * 16), messages)
/// >>> column
/// <aescomb.Column of 2, Binary>
/// >>> pyarrow.array(column).type
/// DataType(binary)
/// >>> key.decrypt_many(bytes(2 * 16), column)[1]
/// b'two'
#[pyclass(frozen, module = "aescomb")]
pub(crate) struct Column(ArrayRef);

impl Column {
    /// Values of these lengths, of which those of `failed` are null.
    pub(crate) fn new(
        values: Vec<u8>,
        lens: &[usize],
        failed: &[usize],
        form: Type,
    ) -> PyResult<Column> {
        let nulls = (!failed.is_empty()).then(|| {
            let mut valid = vec![true; lens.len()];
            failed.iter().for_each(|i| valid[*i] = false);
            NullBuffer::from(valid)
        });
        let values = Buffer::from_vec(values);
        let array = match form {
            Type::Binary => variable::<i32>(values, lens, nulls),
            Type::LargeBinary => variable::<i64>(values, lens, nulls),
            Type::FixedSize => {
                let width = lens.first().copied().unwrap_or(0);
                i32::try_from(width)
                    .map_err(|error| ArrowError::InvalidArgumentError(error.to_string()))
                    .and_then(|width| {
                        FixedSizeBinaryArray::try_new_with_len(width, values, nulls, lens.len())
                    })
                    .map(|array| Arc::new(array) as ArrayRef)
            }
        };
        array
            .map(Column)
            .map_err(|error| PyValueError::new_err(error.to_string()))
    }
}

fn variable<O: OffsetSizeTrait>(
    values: Buffer,
    lens: &[usize],
    nulls: Option<NullBuffer>,
) -> Result<ArrayRef, ArrowError> {
    let offsets = OffsetBuffer::<O>::from_lengths(lens.iter().copied());
    GenericBinaryArray::try_new(offsets, values, nulls).map(|array| Arc::new(array) as ArrayRef)
}

#[pymethods]
impl Column {
    fn __len__(&self) -> usize {
        self.0.len()
    }

    fn __getitem__<'py>(
        &self,
        py: Python<'py>,
        index: isize,
    ) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let len = self.0.len();
        let i = match usize::try_from(index) {
            Ok(i) => Some(i).filter(|i| *i < len),
            Err(_) => len.checked_sub(index.unsigned_abs()),
        };
        let i = i.ok_or_else(|| PyIndexError::new_err("no such element"))?;
        if self.0.is_null(i) {
            return Ok(None);
        }
        let value = match self.0.data_type() {
            DataType::Binary => self.0.as_binary::<i32>().value(i),
            DataType::LargeBinary => self.0.as_binary::<i64>().value(i),
            _ => self.0.as_fixed_size_binary().value(i),
        };
        Ok(Some(PyBytes::new(py, value)))
    }

    fn __repr__(&self) -> String {
        format!(
            "<aescomb.Column of {}, {}>",
            self.0.len(),
            self.0.data_type()
        )
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(self.0.data_type())
            .map_err(|error| PyValueError::new_err(error.to_string()))?;
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
        let array = FFI_ArrowArray::new(&self.0.to_data());
        let array = PyCapsule::new_with_value(py, array, ARRAY)?;
        Ok((self.__arrow_c_schema__(py)?, array))
    }
}
