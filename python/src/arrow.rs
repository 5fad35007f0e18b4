//! Arrow columns of bytes, by the Arrow PyCapsule interface.

use crate::columns::{Flat, Values};
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
    /// The values as they lie, if they are one part without nulls, with such offsets, which
    /// ascend. Nobody has checked those.
    pub(crate) fn values<O: OffsetSizeTrait>(&self) -> Option<Values<'_, O>> {
        let [part] = &self.parts[..] else { return None };
        let array = part.as_binary_opt::<O>()?;
        let (bytes, offsets) = (array.value_data(), array.value_offsets());
        let ends = offsets.first()?.to_usize().zip(offsets.last()?.to_usize());
        let inside = ends.is_some_and(|(_, last)| last <= bytes.len());
        // Without an end before the end, which would take longer.
        let ascend = |all, pair: &[O]| all & (pair[0] <= pair[1]);
        let good = inside && offsets.windows(2).fold(true, ascend);
        (good && array.logical_null_count() == 0 && !array.is_empty())
            .then_some(Values { bytes, offsets })
    }

    /// The values as they lie, if they are one part without nulls, of one length, and so
    /// many.
    pub(crate) fn flat(&self, count: usize) -> Option<Flat<'_>> {
        let [part] = &self.parts[..] else { return None };
        let array = part.as_fixed_size_binary_opt()?;
        let width = usize::try_from(array.value_length()).ok()?;
        let bytes = array.value_data().get(..count.checked_mul(width)?)?;
        (array.logical_null_count() == 0 && array.len() == count).then_some(Flat { bytes, width })
    }

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
    /// Values one after the other by these offsets, which ascend from 0 to the number of
    /// bytes; those of `failed` are null.
    pub(crate) fn new<O: OffsetSizeTrait>(
        values: Vec<u8>,
        offsets: Vec<O>,
        failed: &[usize],
    ) -> PyResult<Column> {
        let nulls = nulls(offsets.len() - 1, failed);
        let offsets = OffsetBuffer::new(offsets.into());
        made(GenericBinaryArray::try_new(
            offsets,
            Buffer::from_vec(values),
            nulls,
        ))
    }

    /// So many values of so many bytes, one after the other; those of `failed` are null.
    pub(crate) fn fixed(
        values: Vec<u8>,
        count: usize,
        width: usize,
        failed: &[usize],
    ) -> PyResult<Column> {
        let nulls = nulls(count, failed);
        let made_of = |width| {
            FixedSizeBinaryArray::try_new_with_len(width, Buffer::from_vec(values), nulls, count)
        };
        let width = i32::try_from(width)
            .map_err(|error| ArrowError::InvalidArgumentError(error.to_string()));
        made(width.and_then(made_of))
    }
}

fn made(array: Result<impl Array + 'static, ArrowError>) -> PyResult<Column> {
    array
        .map(|array| Column(Arc::new(array)))
        .map_err(|error| PyValueError::new_err(error.to_string()))
}

fn nulls(count: usize, failed: &[usize]) -> Option<NullBuffer> {
    (!failed.is_empty()).then(|| {
        let mut valid = vec![true; count];
        failed.iter().for_each(|i| valid[*i] = false);
        NullBuffer::from(valid)
    })
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
