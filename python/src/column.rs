//! [`Column`], and how results become one.

use crate::c_data::{self, ARRAY, SCHEMA};
use crate::errors;
use crate::present::Chosen;
use arrow_array::builder::BooleanBufferBuilder;
use arrow_array::cast::AsArray;
use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema};
use arrow_array::types::{
    BinaryType, BinaryViewType, ByteArrayType, ByteViewType, LargeBinaryType, LargeUtf8Type,
    StringViewType, Utf8Type,
};
use arrow_array::{
    Array, ArrayRef, BooleanArray, FixedSizeBinaryArray, GenericByteArray, GenericByteViewArray,
    OffsetSizeTrait, make_array,
};
use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_data::transform::MutableArrayData;
use arrow_data::{ArrayData, ByteView, MAX_INLINE_VIEW_LEN};
use arrow_schema::{ArrowError, DataType};
use pyo3::exceptions::{PyIndexError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule, PyString};
use std::sync::Arc;

/// Results of a stretch of rows, one after the other: only those of rows that have a message.
pub(crate) struct Results<'a, O> {
    pub(crate) bytes: Buffer,
    /// Where they begin and end, from 0 on.
    pub(crate) ends: Vec<O>,
    pub(crate) rows: Chosen<'a>,
    /// Which of them failed, in ascending order.
    pub(crate) failed: &'a [usize],
    /// The row that one of them is of.
    pub(crate) row: &'a dyn Fn(usize) -> usize,
}

/// Refuses results of more bytes than offsets of 32 bits tell, in a column that has such.
pub(crate) fn fits(total: usize, of: &DataType) -> PyResult<()> {
    const MOST: usize = i32::MAX as usize;
    if total <= MOST || !matches!(of, DataType::Binary | DataType::Utf8) {
        return Ok(());
    }
    let what = format!("results of {total} bytes in a column of {of}");
    let allowed = format!("at most {MOST}; large_binary and large_string take more");
    Err(errors::input(None, "output_length", &what, total, allowed))
}

impl<O: OffsetSizeTrait> Results<'_, O> {
    /// An array of this type.
    pub(crate) fn array(self, of: &DataType) -> PyResult<ArrayRef> {
        match of {
            DataType::Binary => self.by_offsets::<BinaryType>(),
            DataType::LargeBinary => self.by_offsets::<LargeBinaryType>(),
            DataType::Utf8 => self.by_offsets::<Utf8Type>(),
            DataType::LargeUtf8 => self.by_offsets::<LargeUtf8Type>(),
            DataType::BinaryView => self.by_views::<BinaryViewType>(),
            DataType::Utf8View => self.by_views::<StringViewType>(),
            DataType::FixedSizeBinary(width) => {
                let (nulls, count) = (self.nulls(), self.rows.range().len());
                let bytes = self.even(usize::try_from(*width).unwrap_or(0), of)?;
                made(FixedSizeBinaryArray::try_new_with_len(
                    *width, bytes, nulls, count,
                ))
            }
            DataType::Boolean => self.bits(),
            other => {
                let (nulls, count) = (self.nulls(), self.rows.range().len());
                let bytes = self.even(other.primitive_width().unwrap_or(0), of)?;
                let data = ArrayData::builder(other.clone())
                    .len(count)
                    .add_buffer(bytes)
                    .nulls(nulls)
                    .align_buffers(true)
                    .build();
                Ok(make_array(data.map_err(refused)?))
            }
        }
    }

    fn len(&self, i: usize) -> usize {
        (self.ends[i + 1] - self.ends[i]).as_usize()
    }

    fn value(&self, i: usize) -> &[u8] {
        &self.bytes[self.ends[i].as_usize()..self.ends[i + 1].as_usize()]
    }

    fn has_failed(&self, i: usize) -> bool {
        self.failed.binary_search(&i).is_ok()
    }

    /// Rows without a result.
    fn nulls(&self) -> Option<NullBuffer> {
        let (rows, count) = (self.rows, self.rows.range().len());
        if rows.are_all() && self.failed.is_empty() {
            return None;
        }
        let mut valid = BooleanBufferBuilder::new(count);
        valid.append_n(count, rows.are_all());
        if !rows.are_all() {
            rows.places().for_each(|i| valid.set_bit(i, true));
        }
        let start = rows.range().start;
        for i in self.failed {
            valid.set_bit(rows.row(*i) - start, false);
        }
        Some(NullBuffer::new(valid.finish()))
    }

    /// Where the values of all rows begin and end, of which those of null ones are empty.
    fn offsets<T: OffsetSizeTrait>(&self) -> Vec<T> {
        let mut offsets = Vec::with_capacity(self.rows.range().len() + 1);
        offsets.push(T::usize_as(0));
        for (i, place) in self.rows.places().enumerate() {
            let before = offsets[offsets.len() - 1];
            offsets.resize(place + 1, before);
            offsets.push(T::usize_as(self.ends[i + 1].as_usize()));
        }
        let last = offsets[offsets.len() - 1];
        offsets.resize(self.rows.range().len() + 1, last);
        offsets
    }

    fn by_offsets<T: ByteArrayType>(self) -> PyResult<ArrayRef> {
        fits(self.bytes.len(), &T::DATA_TYPE)?;
        let same = T::Offset::IS_LARGE == O::IS_LARGE && self.rows.are_all();
        let buffer = match same {
            // The same type by another name.
            true => Buffer::from_vec(self.ends.clone()),
            false => Buffer::from_vec(self.offsets::<T::Offset>()),
        };
        let count = self.rows.range().len() + 1;
        let offsets = OffsetBuffer::new(ScalarBuffer::new(buffer, 0, count));
        let array = GenericByteArray::<T>::try_new(offsets, self.bytes.clone(), self.nulls());
        array.map(made_of).map_err(|error| self.why_not(error))
    }

    fn by_views<T: ByteViewType + ?Sized>(self) -> PyResult<ArrayRef> {
        /// Bytes of a buffer, which views have 31 bits for.
        const MOST: usize = i32::MAX as usize;
        let mut views = vec![0u128; self.rows.range().len()];
        // Where the buffers begin: another one does where a value would end behind the last.
        let (mut starts, mut last, mut buffer) = (vec![0], 0, 0);
        for ((i, ends), place) in self.ends.windows(2).enumerate().zip(self.rows.places()) {
            let (start, end) = (ends[0].as_usize(), ends[1].as_usize());
            let value = &self.bytes[start..end];
            let len = match i32::try_from(value.len()) {
                Ok(len) => len.unsigned_abs(),
                Err(_) => {
                    let what = format!("result of {} bytes in a column of views", value.len());
                    return Err(errors::input(
                        Some((self.row)(i)),
                        "output_length",
                        &what,
                        value.len(),
                        MOST,
                    ));
                }
            };
            views[place] = if len <= MAX_INLINE_VIEW_LEN {
                let mut view = [0; 16];
                view[..4].copy_from_slice(&len.to_le_bytes());
                view[4..4 + value.len()].copy_from_slice(value);
                u128::from_le_bytes(view)
            } else {
                if end - last > MOST {
                    starts.push(start);
                    (last, buffer) = (start, buffer + 1);
                }
                // It has 31 bits.
                let offset = (start - last) as u32;
                ByteView::new(len, &value[..4])
                    .with_buffer_index(buffer)
                    .with_offset(offset)
                    .as_u128()
            };
        }
        let ends = starts.iter().skip(1).copied().chain([self.bytes.len()]);
        let buffers: Vec<Buffer> = starts
            .iter()
            .zip(ends)
            .map(|(start, end)| self.bytes.slice_with_length(*start, end - start))
            .collect();
        let array = GenericByteViewArray::<T>::try_new(views.into(), buffers, self.nulls());
        array.map(made_of).map_err(|error| self.why_not(error))
    }

    /// The row whose value is no text; or the error, if there is none.
    fn why_not(&self, error: ArrowError) -> PyErr {
        for i in 0..self.rows.count() {
            if let Err(wrong) = str::from_utf8(self.value(i)) {
                let from = wrong.valid_up_to();
                let what = format!("result is not UTF-8 from byte {from} on");
                return errors::input(Some((self.row)(i)), "utf8", &what, from, "UTF-8");
            }
        }
        refused(error)
    }

    /// The values of all rows, which have so many bytes each; those of null ones are zero.
    fn even(&self, width: usize, of: &DataType) -> PyResult<Buffer> {
        let other = |i: &usize| self.len(*i) != width && !self.has_failed(*i);
        if let Some(i) = (0..self.rows.count()).find(other) {
            let len = self.len(i);
            let what = format!("result of {len} bytes for {of}");
            return Err(errors::input(
                Some((self.row)(i)),
                "output_length",
                &what,
                len,
                width,
            ));
        }
        if self.rows.are_all() && self.failed.is_empty() {
            return Ok(self.bytes.clone());
        }
        let count = self.rows.range().len();
        let mut bytes = errors::room(count * width)?;
        bytes.resize(count * width, 0);
        for (i, place) in self.rows.places().enumerate() {
            if self.len(i) == width {
                bytes[place * width..(place + 1) * width].copy_from_slice(self.value(i));
            }
        }
        Ok(Buffer::from_vec(bytes))
    }

    /// The values of all rows, which are bytes of 0 and 1.
    fn bits(self) -> PyResult<ArrayRef> {
        let bytes = self.even(1, &DataType::Boolean)?;
        if bytes.iter().fold(0, |all, byte| all | byte) > 1
            && let Some(i) = (0..self.rows.count()).find(|i| self.value(*i).iter().any(|b| *b > 1))
        {
            let given = usize::from(self.value(i)[0]);
            let what = format!("result {given} for Boolean");
            return Err(errors::input(
                Some((self.row)(i)),
                "boolean",
                &what,
                given,
                "0 or 1",
            ));
        }
        // Without a branch for each.
        let mut packed = vec![0; bytes.len().div_ceil(8)];
        for (i, byte) in bytes.iter().enumerate() {
            packed[i / 8] |= byte << (i % 8);
        }
        let values = BooleanBuffer::new(Buffer::from_vec(packed), 0, bytes.len());
        Ok(Arc::new(BooleanArray::new(values, self.nulls())))
    }
}

fn made_of(array: impl Array + 'static) -> ArrayRef {
    Arc::new(array)
}

fn made(array: Result<impl Array + 'static, ArrowError>) -> PyResult<ArrayRef> {
    array.map(made_of).map_err(refused)
}

pub(crate) fn refused(error: ArrowError) -> PyErr {
    PyValueError::new_err(error.to_string())
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
                fits(values, &self.of)?;
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
