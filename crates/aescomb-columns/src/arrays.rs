//! The values of arrays, as bytes.

use crate::values::{Chosen, Places, Present, Values};
use arrow_array::cast::AsArray;
use arrow_array::types::ByteViewType;
use arrow_array::{Array, ArrayRef, GenericByteViewArray, OffsetSizeTrait};
use arrow_data::ArrayData;
use arrow_schema::DataType;
use std::borrow::Cow;
use std::ops::Range;

/// What columns may be of.
pub(crate) const TAKEN: &str = "binary, large_binary, binary_view, fixed_size_binary, string, \
     large_string, string_view, bool, numbers, decimals, dates, times or a dictionary of these, but not of bool, \
     durations or intervals";

/// What columns of tokens may be of.
pub(crate) const TEXT: &str = "string, large_string, string_view or a dictionary of these";

/// Bytes of all values of a type; `None` where they differ.
pub(crate) fn width(of: &DataType) -> Option<usize> {
    match of {
        DataType::Boolean => Some(1),
        DataType::FixedSizeBinary(width) => usize::try_from(*width).ok(),
        other => other.primitive_width(),
    }
}

/// Whether values of a type are bytes or are taken as such.
pub(crate) fn is_taken(of: &DataType) -> bool {
    match of {
        DataType::Dictionary(_, values) => match **values {
            DataType::Dictionary(..) => false,
            // Arrow makes no dictionaries of decrypted values of these.
            DataType::Boolean | DataType::Duration(_) | DataType::Interval(_) => false,
            _ => is_taken(values),
        },
        DataType::Binary
        | DataType::LargeBinary
        | DataType::BinaryView
        | DataType::Utf8
        | DataType::LargeUtf8
        | DataType::Utf8View => true,
        // Their encoding has the lowest byte first, and is what lies in memory.
        other => width(other).is_some_and(|width| {
            let bytes = matches!(other, DataType::Boolean | DataType::FixedSizeBinary(_));
            bytes || width == 1 || cfg!(target_endian = "little")
        }),
    }
}

/// Whether values of a type are text.
pub(crate) fn is_text(of: &DataType) -> bool {
    match of {
        DataType::Dictionary(_, values) => is_text(values),
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => true,
        _ => false,
    }
}

/// Whether values of a type are bytes.
pub(crate) fn is_binary(of: &DataType) -> bool {
    match of {
        DataType::Dictionary(_, values) => is_binary(values),
        DataType::Binary
        | DataType::LargeBinary
        | DataType::BinaryView
        | DataType::FixedSizeBinary(_) => true,
        _ => false,
    }
}

/// The type that values of a type have when they are encrypted; `len`: bytes that are made of
/// so many.
pub(crate) fn encrypted_type(of: &DataType, len: impl Fn(usize) -> usize) -> DataType {
    match of {
        DataType::Binary | DataType::Utf8 => DataType::Binary,
        DataType::LargeBinary | DataType::LargeUtf8 => DataType::LargeBinary,
        DataType::BinaryView | DataType::Utf8View => DataType::BinaryView,
        other => match i32::try_from(len(width(other).unwrap_or(0))) {
            Ok(width) => DataType::FixedSizeBinary(width),
            Err(_) => DataType::LargeBinary,
        },
    }
}

/// The rows that are not null.
pub(crate) fn present(array: &ArrayRef) -> Present {
    match array.logical_nulls() {
        Some(nulls) => Present::bits(nulls.into_inner()),
        None => Present::all(array.len()),
    }
}

/// Bytes that the values of these rows of an array without indices have at most, as null rows
/// may have some.
pub(crate) fn bytes(array: &ArrayRef, rows: Range<usize>) -> usize {
    fn between<O: OffsetSizeTrait>(offsets: &[O], rows: Range<usize>) -> usize {
        (offsets[rows.end] - offsets[rows.start]).as_usize()
    }
    fn sum(views: &[u128]) -> usize {
        // The first 32 bits are the length.
        views.iter().map(|view| *view as u32 as usize).sum()
    }
    match array.data_type() {
        DataType::Binary => between(array.as_binary::<i32>().value_offsets(), rows),
        DataType::LargeBinary => between(array.as_binary::<i64>().value_offsets(), rows),
        DataType::Utf8 => between(array.as_string::<i32>().value_offsets(), rows),
        DataType::LargeUtf8 => between(array.as_string::<i64>().value_offsets(), rows),
        DataType::BinaryView => sum(&array.as_binary_view().views()[rows]),
        DataType::Utf8View => sum(&array.as_string_view().views()[rows]),
        other => rows.len().saturating_mul(width(other).unwrap_or(0)),
    }
}

/// Whether the values of an array of this type may lie further than offsets of 32 bits tell.
pub(crate) fn is_large(of: &DataType) -> bool {
    !matches!(of, DataType::Binary | DataType::Utf8)
}

/// The values of these rows of an array without indices.
pub(crate) fn values<'a, O: OffsetSizeTrait>(
    array: &ArrayRef,
    data: &'a ArrayData,
    rows: Chosen<'_>,
) -> Values<'a, O> {
    let (len, offset) = (data.len(), data.offset());
    if len == 0 {
        return Values::none();
    }
    let (bytes, offsets): (Cow<'a, [u8]>, Cow<'a, [O]>) = match data.data_type() {
        DataType::Binary | DataType::Utf8 => {
            let offsets = widened::<i32, O>(data, len);
            (data.buffers()[1].as_slice().into(), offsets)
        }
        DataType::LargeBinary | DataType::LargeUtf8 => {
            let offsets = widened::<i64, O>(data, len);
            (data.buffers()[1].as_slice().into(), offsets)
        }
        DataType::BinaryView => {
            let (bytes, offsets) = gathered(array.as_binary_view(), rows);
            (bytes.into(), offsets.into())
        }
        DataType::Utf8View => {
            let (bytes, offsets) = gathered(array.as_string_view(), rows);
            (bytes.into(), offsets.into())
        }
        DataType::Boolean => {
            let bits = array.as_boolean().values();
            let bytes: Vec<u8> = bits.iter().map(u8::from).collect();
            let offsets: Vec<O> = (0..=len).map(O::usize_as).collect();
            (bytes.into(), offsets.into())
        }
        other => {
            let width = width(other).unwrap_or(0);
            let bytes = &data.buffers()[0].as_slice()[offset * width..];
            let offsets: Vec<O> = (0..=len).map(|i| O::usize_as(i * width)).collect();
            (bytes.into(), offsets.into())
        }
    };
    let places = Places::Offsets(offsets);
    Values { bytes, places }.chosen(rows)
}

/// The offsets of an array that has such; `O` has no fewer bits.
fn widened<T: OffsetSizeTrait, O: OffsetSizeTrait>(data: &ArrayData, len: usize) -> Cow<'_, [O]> {
    match T::IS_LARGE == O::IS_LARGE {
        // The same type by another name.
        true => data.buffer::<O>(0)[..=len].into(),
        false => {
            let offsets = data.buffer::<T>(0)[..=len].iter();
            let offsets: Vec<O> = offsets.map(|n| O::usize_as(n.as_usize())).collect();
            offsets.into()
        }
    }
}

/// The values of these rows one after the other; the others are empty.
fn gathered<T: ByteViewType + ?Sized, O: OffsetSizeTrait>(
    array: &GenericByteViewArray<T>,
    rows: Chosen<'_>,
) -> (Vec<u8>, Vec<O>) {
    let (mut bytes, mut offsets) = (Vec::new(), vec![O::usize_as(0)]);
    for i in rows.places() {
        offsets.resize(i + 1, O::usize_as(bytes.len()));
        bytes.extend_from_slice(array.value(i).as_ref());
        offsets.push(O::usize_as(bytes.len()));
    }
    offsets.resize(array.len() + 1, O::usize_as(bytes.len()));
    (bytes, offsets)
}
