//! Arrays of the Arrow C data interface whose structs are as their layouts demand.

use crate::c_data::{self, Array, MOST, Read, wrong};
use aescomb_columns::values::{Chosen, Flat, Places, Values};
use arrow_array::OffsetSizeTrait;
use arrow_buffer::bit_chunk_iterator::UnalignedBitChunk;
use arrow_buffer::bit_util::get_bit;
use arrow_schema::DataType;
use std::borrow::Cow;
use std::ops::Range;

/// How the values of an array lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Layout {
    /// By offsets of 32 bits.
    Binary,
    /// By offsets of 64 bits.
    LargeBinary,
    /// By views: [`VIEW`] bytes for each value, with a short one in them, or the place of a
    /// long one in one of several buffers.
    View,
    /// So many bytes each.
    FixedSize(usize),
    /// A bit each, of which a byte is made.
    Bits,
}

/// Bytes of a view.
const VIEW: usize = 16;
/// Bytes of the values that are in their views.
const SHORT: usize = 12;

/// What an array says of itself.
#[derive(Clone, Copy)]
pub(crate) struct Shape {
    pub(crate) layout: Layout,
    /// Values.
    pub(crate) len: usize,
    /// Values in the buffers before the first.
    pub(crate) offset: usize,
    /// Values that are null.
    pub(crate) nulls: usize,
}

/// An array and what it says of itself.
#[derive(Clone, Copy)]
pub(crate) struct Held<'a> {
    pub(crate) array: &'a Array,
    /// Row of its first value in the column; 0 for a dictionary.
    pub(crate) start: usize,
    pub(crate) shape: Shape,
    /// The values, if they are bits.
    pub(crate) unpacked: &'a [u8],
}

/// A number of which there may be none, or as many as memory has bytes.
fn number(field: &str, given: i64) -> Read<usize> {
    match usize::try_from(given) {
        Ok(number) if number <= MOST => Ok(number),
        _ => wrong(format_args!("{field} {given}"), format_args!("0 to {MOST}")),
    }
}

/// No array of values has any.
pub(crate) fn no_children(n_children: i64) -> Read<()> {
    match n_children {
        0 => Ok(()),
        _ => wrong(format_args!("n_children {n_children}"), 0),
    }
}

impl Layout {
    /// How the values of a type lie.
    pub(crate) fn new(of: &DataType) -> Layout {
        match of {
            DataType::Binary | DataType::Utf8 => Layout::Binary,
            DataType::LargeBinary | DataType::LargeUtf8 => Layout::LargeBinary,
            DataType::BinaryView | DataType::Utf8View => Layout::View,
            DataType::Boolean => Layout::Bits,
            DataType::FixedSizeBinary(width) => {
                Layout::FixedSize(usize::try_from(*width).unwrap_or(0))
            }
            other => Layout::FixedSize(other.primitive_width().unwrap_or(0)),
        }
    }

    /// Bytes that the second buffer has for each value, and how many more of these there are
    /// than values.
    pub(crate) fn element(self) -> (usize, usize) {
        match self {
            Layout::Binary => (size_of::<i32>(), 1),
            Layout::LargeBinary => (size_of::<i64>(), 1),
            Layout::View => (VIEW, 0),
            Layout::FixedSize(width) => (width, 0),
            Layout::Bits => (1, 0),
        }
    }
}

impl Shape {
    pub(crate) fn new(array: &Array, layout: Layout) -> Read<Shape> {
        no_children(array.n_children)?;
        let (least, most) = match layout {
            Layout::Binary | Layout::LargeBinary => (3, 3),
            Layout::FixedSize(_) | Layout::Bits => (2, 2),
            // Views have 31 bits to count those of values.
            Layout::View => (3, 3 + i32::MAX as usize),
        };
        let buffers = array.buffers()?;
        if !(least..=most).contains(&buffers) {
            let allowed = match layout {
                Layout::View => format!("{least} to {most}"),
                _ => least.to_string(),
            };
            return wrong(format_args!("n_buffers {buffers}"), allowed);
        }
        let mut shape = Shape {
            layout,
            len: number("length", array.length)?,
            offset: number("offset", array.offset)?,
            nulls: 0,
        };
        let held = Held {
            array,
            start: 0,
            shape,
            unpacked: &[],
        };
        // Before anybody makes room for so many values.
        match layout {
            Layout::Bits => held.packed().map(|_| ())?,
            _ => held.elements().map(|_| ())?,
        }
        shape.nulls = held.count_nulls()?;
        Ok(shape)
    }
}

impl<'a> Held<'a> {
    /// What the second buffer has for the values: offsets, views or bytes.
    pub(crate) fn elements(self) -> Read<&'a [u8]> {
        let Shape {
            layout,
            len,
            offset,
            ..
        } = self.shape;
        // Without values there may be no buffers.
        if len == 0 {
            return Ok(&[]);
        }
        if layout == Layout::Bits {
            return Ok(self.unpacked);
        }
        let (width, more) = layout.element();
        let count = offset + len + more;
        let Some(len) = count.checked_mul(width) else {
            return wrong(
                format_args!("{count} values of {width} bytes"),
                format_args!("{MOST} bytes"),
            );
        };
        Ok(&self.array.bytes(1, len)?[offset * width..])
    }

    /// The values that are bits, and those before the first.
    fn packed(self) -> Read<&'a [u8]> {
        match self.shape.len {
            0 => Ok(&[]),
            len => self.array.bytes(1, (self.shape.offset + len).div_ceil(8)),
        }
    }

    /// A byte for each bit, without a branch for each, as they may be secret.
    pub(crate) fn unpack(self) -> Read<Vec<u8>> {
        let bits = self.packed()?;
        let mut bytes = Vec::new();
        let room = bytes.try_reserve_exact(self.shape.len);
        room.map_err(|error| error.to_string())?;
        let places = self.shape.offset..self.shape.offset + self.shape.len;
        bytes.extend(places.map(|i| bits[i / 8] >> (i % 8) & 1));
        Ok(bytes)
    }

    /// A bit for each value and those before the first, which is not set if it is null; if
    /// there are any.
    pub(crate) fn bits(self) -> Read<Option<&'a [u8]>> {
        let len = (self.shape.offset + self.shape.len).div_ceil(8);
        Ok(match self.array.has_buffer(0)? {
            true => Some(self.array.bytes(0, len)?),
            false => None,
        })
    }

    pub(crate) fn is_null(self, i: usize) -> Read<bool> {
        let bits = self.bits()?;
        Ok(bits.is_some_and(|bits| !get_bit(bits, self.shape.offset + i)))
    }

    fn count_nulls(self) -> Read<usize> {
        let Shape { len, offset, .. } = self.shape;
        let nulls = match self.bits()? {
            Some(bits) => len - UnalignedBitChunk::new(bits, offset, len).count_ones(),
            None => 0,
        };
        let given = self.array.null_count;
        // The exporter may leave the counting to us.
        if given == -1 || usize::try_from(given) == Ok(nulls) {
            return Ok(nulls);
        }
        wrong(
            format_args!("null_count {given}"),
            format_args!("{nulls}, as the bitmap has it, or -1"),
        )
    }

    /// The offsets, and the bytes that lie before the last of them.
    pub(crate) fn by_offsets(self) -> Read<(&'a [u8], &'a [u8])> {
        let offsets = self.elements()?;
        let last = match self.shape.layout {
            Layout::Binary => offsets.last_chunk().map(|n| i32::from_ne_bytes(*n).into()),
            _ => offsets.last_chunk().map(|n| i64::from_ne_bytes(*n)),
        };
        let last = number("last value offset", last.unwrap_or(0))?;
        Ok((offsets, self.array.bytes(2, last)?))
    }

    /// Appends the values at these places, where they lie.
    pub(crate) fn slices(
        self,
        places: impl Iterator<Item = usize>,
        slices: &mut Vec<&'a [u8]>,
    ) -> Read<()> {
        match self.shape.layout {
            // Without values there are no offsets, and may be no buffers of long values.
            _ if self.shape.len == 0 => Ok(()),
            Layout::Binary => {
                let offset = |bytes| i32::from_ne_bytes(bytes).into();
                self.offset_slices(offset, places, slices)
            }
            Layout::LargeBinary => self.offset_slices(i64::from_ne_bytes, places, slices),
            Layout::View => self.view_slices(places, slices),
            Layout::FixedSize(_) | Layout::Bits => {
                let (width, _) = self.shape.layout.element();
                let bytes = self.elements()?;
                slices.extend(places.map(|i| &bytes[i * width..][..width]));
                Ok(())
            }
        }
    }

    /// By offsets, aligned or not, each of which is looked at.
    fn offset_slices<const N: usize>(
        self,
        offset: impl Fn([u8; N]) -> i64,
        places: impl Iterator<Item = usize>,
        slices: &mut Vec<&'a [u8]>,
    ) -> Read<()> {
        let (offsets, bytes) = self.by_offsets()?;
        let (offsets, _) = offsets.as_chunks::<N>();
        for i in places {
            let (from, to) = (offset(offsets[i]), offset(offsets[i + 1]));
            let range = usize::try_from(from).ok().zip(usize::try_from(to).ok());
            let Some(value) = range.and_then(|(from, to)| bytes.get(from..to)) else {
                return wrong(
                    format_args!("element {}: value offsets {from} and {to}", self.start + i),
                    format_args!("ascending ones from 0 to {}", bytes.len()),
                );
            };
            slices.push(value);
        }
        Ok(())
    }

    /// By views, each of which is looked at.
    fn view_slices(
        self,
        places: impl Iterator<Item = usize>,
        slices: &mut Vec<&'a [u8]>,
    ) -> Read<()> {
        let buffers = self.view_buffers()?;
        let (views, _) = self.elements()?.as_chunks();
        for i in places {
            let Some(value) = viewed(&views[i], &buffers) else {
                let (what, allowed) = said(&views[i], &buffers);
                return wrong(format_args!("element {}: {what}", self.start + i), allowed);
            };
            slices.push(value);
        }
        Ok(())
    }

    /// The buffers of long values: all but the bitmap, the views and, at the end, their own
    /// lengths.
    pub(crate) fn view_buffers(self) -> Read<Vec<&'a [u8]>> {
        let last = self.array.buffers()? - 1;
        let lens = self.array.bytes(last, (last - 2) * size_of::<i64>())?;
        let (lens, _) = lens.as_chunks();
        (2..last)
            .zip(lens)
            .map(|(i, len)| {
                let len = number("length of a data buffer", i64::from_ne_bytes(*len))?;
                self.array.bytes(i, len)
            })
            .collect()
    }

    /// The values of these rows, null or not, as they lie, by such offsets, if they can be had
    /// so.
    pub(crate) fn packed_values<O: OffsetSizeTrait>(
        self,
        range: Range<usize>,
    ) -> Option<Values<'a, O>> {
        let places = range.start - self.start..=range.end - self.start;
        let (offsets, bytes) = match self.shape.layout {
            Layout::FixedSize(_) | Layout::Bits if O::IS_LARGE => {
                let (width, _) = self.shape.layout.element();
                let mut offsets = Vec::new();
                // Values without bytes may be more than memory has room for.
                offsets.try_reserve_exact(range.len() + 1).ok()?;
                offsets.extend(places.map(|i| O::usize_as(i * width)));
                (Cow::Owned(offsets), self.elements().ok()?)
            }
            Layout::Binary if O::IS_LARGE => {
                let (offsets, bytes) = self.by_offsets().ok()?;
                let offsets = &c_data::offsets::<i32>(offsets)?[places];
                let wide = offsets
                    .iter()
                    .map(|n| Some(O::usize_as((*n).try_into().ok()?)));
                (Cow::Owned(wide.collect::<Option<_>>()?), bytes)
            }
            Layout::Binary | Layout::LargeBinary
                if O::IS_LARGE == (self.shape.layout == Layout::LargeBinary) =>
            {
                let (offsets, bytes) = self.by_offsets().ok()?;
                (
                    Cow::Borrowed(&c_data::offsets::<O>(offsets)?[places]),
                    bytes,
                )
            }
            _ => return None,
        };
        // Without an end before the end, which would take longer.
        let ascend = |all, pair: &[O]| all & (pair[0] <= pair[1]);
        let (first, last) = (*offsets.first()?, *offsets.last()?);
        let inside = first >= O::usize_as(0) && last.as_usize() <= bytes.len();
        if !inside || !offsets.windows(2).fold(true, ascend) {
            return None;
        }
        let places = Places::Offsets(offsets);
        let bytes = Cow::Borrowed(bytes);
        Some(Values { bytes, places })
    }

    /// The values of these rows, one after the other, if they have one length.
    pub(crate) fn flat(self, rows: Chosen<'_>) -> Option<Flat<'a>> {
        let (bytes, width) = match self.shape.layout {
            Layout::Binary => self.even::<i32>()?,
            Layout::LargeBinary => self.even::<i64>()?,
            Layout::FixedSize(width) => (self.elements().ok()?, width),
            Layout::Bits => (self.elements().ok()?, 1),
            Layout::View => return None,
        };
        let range = rows.range();
        let places = range.start - self.start..range.end - self.start;
        let bytes = bytes.get(places.start * width..places.end * width)?;
        Some(Flat::chosen(bytes, width, rows))
    }

    /// The values of offsets that say that all have one length.
    fn even<O: OffsetSizeTrait>(self) -> Option<(&'a [u8], usize)> {
        let (offsets, bytes) = self.by_offsets().ok()?;
        let offsets = c_data::offsets::<O>(offsets)?;
        let (first, last) = (*offsets.first()?, *offsets.last()?);
        let (start, end) = (first.to_usize()?, last.to_usize()?);
        let width = end.checked_sub(start)? / (offsets.len() - 1);
        let step = O::usize_as(width);
        let alike = |all, pair: &[O]| all & (pair[0] <= pair[1] && pair[1] - pair[0] == step);
        let alike = first >= O::usize_as(0) && offsets.windows(2).fold(true, alike);
        alike.then(|| (&bytes[start..], width))
    }
}

/// Length, buffer and offset of a view; the prefix is not looked at.
fn fields(view: &[u8; VIEW]) -> (i32, i32, i32) {
    let (fields, _) = view.as_chunks();
    let field = |i: usize| i32::from_ne_bytes(fields[i]);
    (field(0), field(2), field(3))
}

/// The value of a view, if it is good.
#[inline]
fn viewed<'a>(view: &'a [u8; VIEW], buffers: &[&'a [u8]]) -> Option<&'a [u8]> {
    let (len, index, start) = fields(view);
    let len = usize::try_from(len).ok()?;
    if len <= SHORT {
        return Some(&view[4..4 + len]);
    }
    let buffer = buffers.get(usize::try_from(index).ok()?)?;
    let start = usize::try_from(start).ok()?;
    buffer.get(start..start.checked_add(len)?)
}

/// What a view says that is not good, and what it may say.
fn said(view: &[u8; VIEW], buffers: &[&[u8]]) -> (String, String) {
    let (len, index, start) = fields(view);
    if len < 0 {
        return (format!("view of {len} bytes"), "0 or more".to_owned());
    }
    let buffer = usize::try_from(index).ok().and_then(|i| buffers.get(i));
    match buffer {
        None => (
            format!("view into data buffer {index}"),
            format!("less than {}", buffers.len()),
        ),
        Some(buffer) => (
            format!("view of {len} bytes at {start} in data buffer {index}"),
            format!("inside its {} bytes", buffer.len()),
        ),
    }
}
