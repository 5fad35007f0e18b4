//! Arrays of results.

use super::{Chosen, Keep, room};
use arrow_array::types::{
    BinaryType, BinaryViewType, ByteArrayType, ByteViewType, LargeBinaryType, LargeUtf8Type,
    StringViewType, Utf8Type,
};
use arrow_array::{
    Array, ArrayRef, BooleanArray, FixedSizeBinaryArray, GenericByteArray, GenericByteViewArray,
    OffsetSizeTrait, make_array,
};
use arrow_buffer::{
    BooleanBuffer, BooleanBufferBuilder, Buffer, NullBuffer, OffsetBuffer, ScalarBuffer,
};
use arrow_data::{ArrayData, ByteView, MAX_INLINE_VIEW_LEN};
use arrow_schema::{ArrowError, DataType};
use std::collections::TryReserveError;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// Bytes that offsets of 32 bits tell.
const MOST: usize = i32::MAX as usize;

/// Results that a column of the wanted type cannot have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// The row of the result, if it is one.
    pub row: Option<usize>,
    /// What is wrong: `output_length`, `utf8`, `boolean`, `memory` or `arrow`.
    pub field: &'static str,
    /// The same in words.
    pub what: String,
    /// What there is, in the unit of the field; 0 for `boolean`, as results are secret.
    pub given: usize,
    /// What there may be.
    pub allowed: String,
}

impl Refused {
    fn new(
        row: Option<usize>,
        field: &'static str,
        what: String,
        given: usize,
        allowed: impl ToString,
    ) -> Refused {
        Refused {
            row,
            field,
            what,
            given,
            allowed: allowed.to_string(),
        }
    }
}

impl Refused {
    fn memory(error: &TryReserveError, given: usize) -> Refused {
        Refused::new(None, "memory", error.to_string(), given, "less")
    }

    /// Results that offsets of 32 bits do not tell.
    pub(super) fn too_long(total: usize) -> Refused {
        let what = format!("results of {total} bytes in a column with offsets of 32 bits");
        let allowed = format!("at most {MOST}; large_binary and large_string take more");
        Refused::new(None, "output_length", what, total, allowed)
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; allowed: {}", self.what, self.allowed)
    }
}

impl std::error::Error for Refused {}

/// Results of a stretch of rows, one after the other: only those of rows that have a message.
pub struct Results<'a, O: OffsetSizeTrait> {
    /// Their bytes.
    pub bytes: Buffer,
    /// Where they begin and end, from 0 on.
    pub ends: ScalarBuffer<O>,
    /// The rows that they are of.
    pub rows: Chosen<'a>,
    /// Which of them failed, in ascending order.
    pub failed: &'a [usize],
    /// The row that one of them is of.
    pub row: &'a dyn Fn(usize) -> usize,
}

/// Refuses results of more bytes than offsets of 32 bits tell, in a column that has such.
///
/// # Errors
///
/// That.
pub fn fits(total: usize, of: &DataType) -> Result<(), Refused> {
    match total > MOST && matches!(of, DataType::Binary | DataType::Utf8) {
        true => Err(Refused::too_long(total)),
        false => Ok(()),
    }
}

impl<O: OffsetSizeTrait> Results<'_, O> {
    /// An array of this type.
    ///
    /// # Errors
    ///
    /// Results of other lengths than its values have, or that are no text or boolean.
    pub fn array(&self, of: &DataType) -> Result<ArrayRef, Refused> {
        let nulls = self.nulls();
        match of {
            DataType::Binary => self.by_offsets::<BinaryType>(nulls),
            DataType::LargeBinary => self.by_offsets::<LargeBinaryType>(nulls),
            DataType::Utf8 => self.by_offsets::<Utf8Type>(nulls),
            DataType::LargeUtf8 => self.by_offsets::<LargeUtf8Type>(nulls),
            DataType::BinaryView => self.by_views::<BinaryViewType>(nulls),
            DataType::Utf8View => self.by_views::<StringViewType>(nulls),
            DataType::FixedSizeBinary(width) => {
                let count = self.rows.range().len();
                let bytes = self.even(usize::try_from(*width).unwrap_or(0), of)?;
                made(FixedSizeBinaryArray::try_new_with_len(
                    *width, bytes, nulls, count,
                ))
            }
            DataType::Boolean => self.bits(nulls),
            other => {
                let count = self.rows.range().len();
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

    /// Results that are no values of a type, and what is wrong with them.
    pub fn misfits(&self, of: &DataType) -> Vec<(usize, String)> {
        let width = match of {
            DataType::FixedSizeBinary(width) => usize::try_from(*width).ok(),
            DataType::Boolean => Some(1),
            other => other.primitive_width(),
        };
        let text = matches!(
            of,
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View
        );
        if width.is_none() && !text {
            return Vec::new();
        }
        let wrong = |i: usize| match width {
            Some(width) if self.len(i) != width => Some(format!(
                "result of {} bytes for {of}; allowed: {width}",
                self.len(i)
            )),
            // Which byte it is, is nobody's business who reads errors.
            Some(_) if *of == DataType::Boolean && self.value(i)[0] > 1 => {
                Some(format!("result that is neither 0 nor 1 for {of}"))
            }
            None => match str::from_utf8(self.value(i)) {
                Ok(_) => None,
                Err(error) => {
                    let from = error.valid_up_to();
                    Some(format!("result is not UTF-8 from byte {from} on"))
                }
            },
            _ => None,
        };
        let good = (0..self.rows.count()).filter(|i| !self.has_failed(*i));
        good.filter_map(|i| Some((i, wrong(i)?))).collect()
    }

    /// Whether a result that has not failed has so many bytes.
    pub fn any_of(&self, bytes: usize) -> bool {
        let mut all = 0..self.rows.count();
        all.any(|i| self.len(i) == bytes && !self.has_failed(i))
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
        let nulls = self.rows.nulls();
        if self.failed.is_empty() {
            return nulls;
        }
        let Range { start, end } = self.rows.range();
        let mut valid = BooleanBufferBuilder::new(end - start);
        match nulls {
            Some(nulls) => valid.append_buffer(nulls.inner()),
            None => valid.append_n(end - start, true),
        }
        for i in self.failed {
            valid.set_bit(self.rows.row(*i) - start, false);
        }
        Some(NullBuffer::new(valid.finish()))
    }

    /// Where the values of all rows begin and end, of which those of null ones are empty.
    fn offsets<T: OffsetSizeTrait>(&self) -> Result<ScalarBuffer<T>, Refused> {
        if self.rows.are_all() && T::IS_LARGE == O::IS_LARGE {
            // The same type by another name.
            return Ok(self.ends.inner().clone().into());
        }
        let offset = |end: &O| T::usize_as(end.as_usize());
        let count = self.rows.range().len() + 1;
        let offsets = room(count, Keep::Yes);
        let mut offsets = offsets.map_err(|error| Refused::memory(&error, count))?;
        let Some(nulls) = self.rows.nulls() else {
            offsets.extend(self.ends.iter().map(offset));
            return Ok(offsets.into_scalars());
        };
        // A row begins where the values before it end.
        let mut done = 0;
        offsets.push(offset(&self.ends[0]));
        offsets.extend(nulls.iter().map(|valid| {
            done += usize::from(valid);
            offset(&self.ends[done])
        }));
        Ok(offsets.into_scalars())
    }

    fn by_offsets<T: ByteArrayType>(&self, nulls: Option<NullBuffer>) -> Result<ArrayRef, Refused> {
        fits(self.bytes.len(), &T::DATA_TYPE)?;
        let offsets = OffsetBuffer::new(self.offsets::<T::Offset>()?);
        let array = GenericByteArray::<T>::try_new(offsets, self.bytes.clone(), nulls);
        array.map(made_of).map_err(|error| self.why_not(error))
    }

    fn by_views<T: ByteViewType + ?Sized>(
        &self,
        nulls: Option<NullBuffer>,
    ) -> Result<ArrayRef, Refused> {
        // Of a buffer, too: views have 31 bits for its bytes.
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
                    return Err(Refused::new(
                        Some((self.row)(i)),
                        "output_length",
                        what,
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
        let array = GenericByteViewArray::<T>::try_new(views.into(), buffers, nulls);
        array.map(made_of).map_err(|error| self.why_not(error))
    }

    /// The row whose value is no text; or the error, if there is none.
    fn why_not(&self, error: ArrowError) -> Refused {
        for i in 0..self.rows.count() {
            if let Err(wrong) = str::from_utf8(self.value(i)) {
                let from = wrong.valid_up_to();
                let what = format!("result is not UTF-8 from byte {from} on");
                return Refused::new(Some((self.row)(i)), "utf8", what, from, "UTF-8");
            }
        }
        refused(error)
    }

    /// The values of all rows, which have so many bytes each; those of null ones are zero.
    fn even(&self, width: usize, of: &DataType) -> Result<Buffer, Refused> {
        let other = |i: &usize| self.len(*i) != width && !self.has_failed(*i);
        if let Some(i) = (0..self.rows.count()).find(other) {
            let len = self.len(i);
            let what = format!("result of {len} bytes for {of}");
            return Err(Refused::new(
                Some((self.row)(i)),
                "output_length",
                what,
                len,
                width,
            ));
        }
        if self.rows.are_all() && self.failed.is_empty() {
            return Ok(self.bytes.clone());
        }
        let count = self.rows.range().len();
        let mut bytes = Vec::new();
        let reserved = bytes.try_reserve_exact(count * width);
        reserved.map_err(|error| Refused::memory(&error, count * width))?;
        bytes.resize(count * width, 0);
        for (i, place) in self.rows.places().enumerate() {
            if self.len(i) == width {
                bytes[place * width..(place + 1) * width].copy_from_slice(self.value(i));
            }
        }
        Ok(Buffer::from_vec(bytes))
    }

    /// The values of all rows, which are bytes of 0 and 1.
    fn bits(&self, nulls: Option<NullBuffer>) -> Result<ArrayRef, Refused> {
        let bytes = self.even(1, &DataType::Boolean)?;
        if bytes.iter().fold(0, |all, byte| all | byte) > 1
            && let Some(i) = (0..self.rows.count()).find(|i| self.value(*i).iter().any(|b| *b > 1))
        {
            let what = "result that is neither 0 nor 1 for Boolean".to_owned();
            return Err(Refused::new(
                Some((self.row)(i)),
                "boolean",
                what,
                0,
                "0 or 1",
            ));
        }
        // Without a branch for each.
        let mut packed = vec![0; bytes.len().div_ceil(8)];
        for (i, byte) in bytes.iter().enumerate() {
            packed[i / 8] |= byte << (i % 8);
        }
        let values = BooleanBuffer::new(Buffer::from_vec(packed), 0, bytes.len());
        Ok(Arc::new(BooleanArray::new(values, nulls)))
    }
}

fn made_of(array: impl Array + 'static) -> ArrayRef {
    Arc::new(array)
}

fn made(array: Result<impl Array + 'static, ArrowError>) -> Result<ArrayRef, Refused> {
    array.map(made_of).map_err(refused)
}

/// What Arrow itself refuses.
fn refused(error: ArrowError) -> Refused {
    Refused::new(None, "arrow", error.to_string(), 0, "what Arrow takes")
}

/// The type of booleans or numbers that has this name in Arrow's Python library.
pub fn number_type(name: &str) -> Option<DataType> {
    Some(match name {
        "bool" => DataType::Boolean,
        "int8" => DataType::Int8,
        "int16" => DataType::Int16,
        "int32" => DataType::Int32,
        "int64" => DataType::Int64,
        "uint8" => DataType::UInt8,
        "uint16" => DataType::UInt16,
        "uint32" => DataType::UInt32,
        "uint64" => DataType::UInt64,
        "float16" => DataType::Float16,
        "float32" => DataType::Float32,
        "float64" => DataType::Float64,
        _ => return None,
    })
}
