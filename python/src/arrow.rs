//! Arrow columns, by the Arrow PyCapsule interface.

use crate::c_data::{self, Array, MOST, Read, Schema, Stream, wrong};
use crate::errors;
use crate::packed::{Flat, Places, Values};
use crate::present::{Chosen, Present};
use crate::types;
use arrow_array::OffsetSizeTrait;
use arrow_buffer::bit_chunk_iterator::UnalignedBitChunk;
use arrow_buffer::bit_iterator::BitIndexIterator;
use arrow_buffer::bit_util::get_bit;
use arrow_schema::DataType;
use pyo3::exceptions::{PyException, PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
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

/// The type of a column.
#[derive(Clone, Copy)]
struct Type {
    /// Of the values, also if there are indices to them.
    layout: Layout,
    indices: Option<Indices>,
}

/// Indices of so many bytes.
#[derive(Clone, Copy)]
struct Indices {
    width: usize,
    signed: bool,
}

/// A column of bytes, or of values that are taken as their bytes, in one part or several.
///
/// Others made it, maybe of what strangers sent: no number in it is trusted. What a struct
/// says of itself is checked when it is taken over ([`Part::new`]); offsets, views and
/// indices are checked where they become slices, one by one or, where the library goes by
/// them, all at once. Nothing can check that buffers are as long as the struct implies.
pub(crate) struct Arrow {
    parts: Vec<Part>,
    /// What the caller calls it.
    name: &'static str,
    of: Type,
}

/// An array whose struct is as its layout demands.
struct Part {
    array: Array,
    /// Row of its first value in the column.
    start: usize,
    shape: Shape,
    /// That of the values that indices lead to.
    dictionary: Option<Shape>,
    /// The values, if they are bits.
    unpacked: Vec<u8>,
}

/// What an array says of itself.
#[derive(Clone, Copy)]
struct Shape {
    layout: Layout,
    /// Values.
    len: usize,
    /// Values in the buffers before the first.
    offset: usize,
    /// Values that are null.
    nulls: usize,
}

/// An array and what it says of itself.
#[derive(Clone, Copy)]
struct Held<'a> {
    array: &'a Array,
    /// As in [`Part`]; 0 for a dictionary.
    start: usize,
    shape: Shape,
    /// As in [`Part`].
    unpacked: &'a [u8],
}

fn malformed(name: &str, text: &str) -> PyErr {
    PyValueError::new_err(format!("{name}: {text}"))
}

/// The column that an object exports, if it exports any.
pub(crate) fn import(object: &Bound<'_, PyAny>, name: &'static str) -> PyResult<Option<Arrow>> {
    let py = object.py();
    let broken = |text: String| malformed(name, &text);
    let taken = |of: Read<Result<Type, String>>| {
        let of = of.map_err(broken)?;
        of.map_err(|given| unsupported(name, &given))
    };
    if let Some(method) = object.getattr_opt(intern!(py, "__arrow_c_stream__"))? {
        ask_pyarrow(object, name)?;
        let mut stream = Stream::take(method.call0()?.cast()?)?.map_err(broken)?;
        let of = taken(stream.schema().and_then(|schema| Type::new(&schema)))?;
        let (mut parts, mut rows) = (Vec::new(), 0);
        while let Some(array) = stream.next().map_err(broken)? {
            let part = Part::new(array, of, rows).map_err(broken)?;
            rows = part.range().end;
            parts.push(part);
        }
        return Ok(Some(Arrow { parts, name, of }));
    }
    let Some(method) = object.getattr_opt(intern!(py, "__arrow_c_array__"))? else {
        return Ok(None);
    };
    ask_pyarrow(object, name)?;
    let (schema, array): (Bound<'_, PyCapsule>, Bound<'_, PyCapsule>) =
        method.call0()?.extract()?;
    let of = taken(Schema::look(&schema, Type::new)?)?;
    let array = Array::take(&array)?.map_err(broken)?;
    let parts = vec![Part::new(array, of, 0).map_err(broken)?];
    Ok(Some(Arrow { parts, name, of }))
}

/// The type in a capsule.
pub(crate) fn type_in(capsule: &Bound<'_, PyCapsule>, name: &str) -> PyResult<DataType> {
    let given = Schema::look(capsule, |schema| match schema.dictionary()? {
        Some(_) => Ok(Err("a dictionary".to_owned())),
        None => types::parse(schema.format()?),
    })?;
    let given = given.map_err(|text| malformed(name, &text))?;
    given.map_err(|given| {
        PyTypeError::new_err(format!(
            "{name}: expected one of {}, not {given}",
            types::TAKEN
        ))
    })
}

/// Lets pyarrow check an object of its own. It takes buffers from files and streams as they
/// come; unlike the struct that it exports, it knows their lengths, and looks at those only
/// if it is asked to.
fn ask_pyarrow(object: &Bound<'_, PyAny>, name: &str) -> PyResult<()> {
    let py = object.py();
    let modules = py.import(intern!(py, "sys"))?.getattr("modules")?;
    // Without it there are no such objects.
    let Ok(pyarrow) = modules.get_item(intern!(py, "pyarrow.lib")) else {
        return Ok(());
    };
    for class in [intern!(py, "Array"), intern!(py, "ChunkedArray")] {
        if !object.is_instance(&pyarrow.getattr(class)?)? {
            continue;
        }
        if let Err(error) = object.call_method0(intern!(py, "validate")) {
            if !error.is_instance_of::<PyException>(py) {
                return Err(error);
            }
            // Its own are of several classes, not all of them a `ValueError`.
            let mine = malformed(name, &error.value(py).to_string());
            mine.set_cause(py, Some(error));
            return Err(mine);
        }
    }
    Ok(())
}

fn unsupported(name: &str, given: &str) -> PyErr {
    PyTypeError::new_err(format!(
        "{name}: expected an Arrow column of {}, not {given}",
        types::TAKEN
    ))
}

/// A number of which there may be none, or as many as memory has bytes.
fn number(field: &str, given: i64) -> Read<usize> {
    match usize::try_from(given) {
        Ok(number) if number <= MOST => Ok(number),
        _ => wrong(format_args!("{field} {given}"), format_args!("0 to {MOST}")),
    }
}

/// No array of values has any.
fn no_children(n_children: i64) -> Read<()> {
    match n_children {
        0 => Ok(()),
        _ => wrong(format_args!("n_children {n_children}"), 0),
    }
}

impl Type {
    /// The type of a column, or what it is called if its values are not taken.
    fn new(schema: &Schema) -> Read<Result<Type, String>> {
        let format = schema.format()?;
        let Some(dictionary) = schema.dictionary()? else {
            let layout = Layout::new(format)?;
            no_children(if layout.is_ok() { schema.n_children } else { 0 })?;
            return Ok(layout.map(|layout| Type {
                layout,
                indices: None,
            }));
        };
        no_children(schema.n_children)?;
        // The format is that of the indices.
        let indices = match format {
            "c" => (1, true),
            "C" => (1, false),
            "s" => (2, true),
            "S" => (2, false),
            "i" => (4, true),
            "I" => (4, false),
            "l" => (8, true),
            "L" => (8, false),
            _ => return wrong(format_args!("indices of format {format:?}"), "integers"),
        };
        let (width, signed) = indices;
        if dictionary.dictionary()?.is_some() {
            return Ok(Err("a dictionary of a dictionary".to_owned()));
        }
        let layout = Layout::new(dictionary.format()?)?;
        no_children(if layout.is_ok() {
            dictionary.n_children
        } else {
            0
        })?;
        Ok(layout
            .map(|layout| Type {
                layout,
                indices: Some(Indices { width, signed }),
            })
            .map_err(|given| format!("a dictionary of {given}")))
    }
}

impl Layout {
    /// The layout of a type, or what that is called if its values are not taken.
    fn new(format: &str) -> Read<Result<Layout, String>> {
        let layout = |of: DataType| match of {
            DataType::Binary | DataType::Utf8 => Layout::Binary,
            DataType::LargeBinary | DataType::LargeUtf8 => Layout::LargeBinary,
            DataType::BinaryView | DataType::Utf8View => Layout::View,
            DataType::Boolean => Layout::Bits,
            DataType::FixedSizeBinary(width) => {
                Layout::FixedSize(usize::try_from(width).unwrap_or(0))
            }
            other => Layout::FixedSize(other.primitive_width().unwrap_or(0)),
        };
        Ok(types::parse(format)?.map(layout))
    }

    /// Bytes that the second buffer has for each value, and how many more of these there are
    /// than values.
    fn element(self) -> (usize, usize) {
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
    fn new(array: &Array, layout: Layout) -> Read<Shape> {
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

impl Part {
    /// `start`: the row of its first value in the column.
    fn new(array: Array, of: Type, start: usize) -> Read<Part> {
        let (shape, dictionary) = match (of.indices, array.dictionary()?) {
            (None, None) => (Shape::new(&array, of.layout)?, None),
            (Some(indices), Some(values)) => {
                let shape = Shape::new(&array, Layout::FixedSize(indices.width))?;
                if values.dictionary()?.is_some() {
                    return wrong("a dictionary of a dictionary", "none");
                }
                (shape, Some(Shape::new(values, of.layout)?))
            }
            (None, Some(_)) => return wrong("a dictionary", "none of this type"),
            (Some(_), None) => return wrong("no dictionary", "that of the type"),
        };
        // Parts without buffers may claim any number of rows each.
        if start + shape.len > MOST {
            return wrong(format_args!("{} rows", start + shape.len), MOST);
        }
        let mut part = Part {
            array,
            start,
            shape,
            dictionary,
            unpacked: Vec::new(),
        };
        if of.layout == Layout::Bits {
            part.unpacked = part.values()?.unpack()?;
        }
        Ok(part)
    }

    /// The array's own values, which may be indices.
    fn own(&self) -> Held<'_> {
        Held {
            array: &self.array,
            start: self.start,
            shape: self.shape,
            unpacked: &self.unpacked,
        }
    }

    /// The values: those of the dictionary if there is one.
    fn values(&self) -> Read<Held<'_>> {
        match (self.dictionary, self.array.dictionary()?) {
            (Some(shape), Some(array)) => Ok(Held {
                array,
                start: 0,
                shape,
                unpacked: &self.unpacked,
            }),
            _ => Ok(self.own()),
        }
    }

    /// Its rows in the column.
    fn range(&self) -> Range<usize> {
        self.start..self.start + self.shape.len
    }

    fn has_nulls(&self) -> bool {
        self.shape.nulls > 0 || self.dictionary.is_some_and(|values| values.nulls > 0)
    }

    /// The index at place `i`, which is not null.
    fn index(&self, i: usize, indices: Indices, values: usize) -> Read<usize> {
        let bytes = &self.own().elements()?[i * indices.width..][..indices.width];
        // The sign in all higher bytes.
        let negative = indices.signed && top(bytes) >= 0x80;
        let mut wide = [if negative { 0xff } else { 0 }; 8];
        match cfg!(target_endian = "little") {
            true => wide[..indices.width].copy_from_slice(bytes),
            false => wide[8 - indices.width..].copy_from_slice(bytes),
        }
        let given = i64::from_ne_bytes(wide);
        match usize::try_from(given) {
            // Unsigned ones from 2^63 on are negative here, and as wrong.
            Ok(index) if index < values => Ok(index),
            _ => wrong(
                format_args!("element {}: index {given}", self.start + i),
                format_args!("less than {values}"),
            ),
        }
    }

    /// Whether the value at place `i` is null.
    fn is_null(&self, i: usize, indices: Option<Indices>) -> Read<bool> {
        if self.own().is_null(i)? {
            return Ok(true);
        }
        match (indices, self.dictionary) {
            (Some(indices), Some(shape)) if shape.nulls > 0 => {
                self.values()?.is_null(self.index(i, indices, shape.len)?)
            }
            _ => Ok(false),
        }
    }
}

impl Part {
    /// The place of the first of these rows that is null.
    fn first_null(&self, rows: Chosen<'_>, indices: Option<Indices>) -> Read<Option<usize>> {
        let mut places = rows.rows().map(|row| row - self.start);
        if self.dictionary.is_some_and(|values| values.nulls > 0) {
            for i in places {
                if self.is_null(i, indices)? {
                    return Ok(Some(i));
                }
            }
            return Ok(None);
        }
        let Shape { offset, nulls, .. } = self.shape;
        let bits = self.own().bits()?.filter(|_| nulls > 0);
        Ok(bits.and_then(|bits| places.find(|i| !get_bit(bits, offset + i))))
    }

    /// Appends the values that indices lead to; none of the rows is null.
    fn by_indices<'a>(
        &'a self,
        indices: Indices,
        rows: Chosen<'_>,
        slices: &mut Vec<&'a [u8]>,
    ) -> Read<()> {
        let values = self.dictionary_slices()?;
        for i in rows.places() {
            slices.push(values[self.index(i, indices, values.len())?]);
        }
        Ok(())
    }

    /// The values of the dictionary, of which null ones are empty.
    fn dictionary_slices(&self) -> Read<Vec<&[u8]>> {
        let held = self.values()?;
        let mut places = Vec::new();
        for i in 0..held.shape.len {
            if !held.is_null(i)? {
                places.push(i);
            }
        }
        let mut found = Vec::with_capacity(places.len());
        let read = held.slices(places.iter().copied(), &mut found);
        read.map_err(|text| format!("dictionary: {text}"))?;
        let mut values: Vec<&[u8]> = vec![&[]; held.shape.len];
        for (i, value) in places.into_iter().zip(found) {
            values[i] = value;
        }
        Ok(values)
    }
}

/// The byte with the sign.
fn top(bytes: &[u8]) -> u8 {
    match cfg!(target_endian = "little") {
        true => bytes[bytes.len() - 1],
        false => bytes[0],
    }
}

impl<'a> Held<'a> {
    /// What the second buffer has for the values: offsets, views or bytes.
    fn elements(self) -> Read<&'a [u8]> {
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
    fn unpack(self) -> Read<Vec<u8>> {
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
    fn bits(self) -> Read<Option<&'a [u8]>> {
        let len = (self.shape.offset + self.shape.len).div_ceil(8);
        Ok(match self.array.has_buffer(0)? {
            true => Some(self.array.bytes(0, len)?),
            false => None,
        })
    }

    fn is_null(self, i: usize) -> Read<bool> {
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
    fn by_offsets(self) -> Read<(&'a [u8], &'a [u8])> {
        let offsets = self.elements()?;
        let last = match self.shape.layout {
            Layout::Binary => offsets.last_chunk().map(|n| i32::from_ne_bytes(*n).into()),
            _ => offsets.last_chunk().map(|n| i64::from_ne_bytes(*n)),
        };
        let last = number("last value offset", last.unwrap_or(0))?;
        Ok((offsets, self.array.bytes(2, last)?))
    }

    /// Appends the values at these places, where they lie.
    fn slices(self, places: impl Iterator<Item = usize>, slices: &mut Vec<&'a [u8]>) -> Read<()> {
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
            let value = viewed(&views[i], &buffers);
            slices.push(value.or_else(|(what, allowed)| {
                wrong(format_args!("element {}: {what}", self.start + i), allowed)
            })?);
        }
        Ok(())
    }

    /// The buffers of long values: all but the bitmap, the views and, at the end, their own
    /// lengths.
    fn view_buffers(self) -> Read<Vec<&'a [u8]>> {
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

    /// The values of these rows as they lie, by such offsets, if they can be had so.
    fn packed_values<O: OffsetSizeTrait>(self, rows: Chosen<'_>) -> Option<Values<'a, O>> {
        let range = rows.range();
        let places = range.start - self.start..=range.end - self.start;
        let (offsets, bytes) = match self.shape.layout {
            Layout::FixedSize(_) | Layout::Bits if O::IS_LARGE => {
                let (width, _) = self.shape.layout.element();
                let offsets = places.map(|i| O::usize_as(i * width)).collect();
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
        let places = match rows.are_all() {
            true => Places::Offsets(offsets),
            false => {
                let starts: Vec<O> = rows.places().map(|i| offsets[i]).collect();
                let len = |(i, start): (usize, &O)| offsets[i + 1] - *start;
                let lens = rows.places().zip(&starts).map(len).collect();
                Places::Slots(starts, lens)
            }
        };
        Some(Values { bytes, places })
    }

    /// The values of these rows, one after the other, if they have one length.
    fn flat(self, rows: Chosen<'_>) -> Option<Flat<'a>> {
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

/// The value of a view; or what the view says, and what it may say.
fn viewed<'a>(view: &'a [u8; VIEW], buffers: &[&'a [u8]]) -> Result<&'a [u8], (String, String)> {
    // Length, prefix, which is not looked at, buffer, offset.
    let (fields, _) = view.as_chunks();
    let field = |i: usize| i32::from_ne_bytes(fields[i]);
    let given = field(0);
    let Ok(len) = usize::try_from(given) else {
        return Err((format!("view of {given} bytes"), "0 or more".to_owned()));
    };
    if len <= SHORT {
        return Ok(&view[4..4 + len]);
    }
    let (index, start) = (field(2), field(3));
    let buffer = usize::try_from(index).ok().and_then(|i| buffers.get(i));
    let Some(buffer) = buffer else {
        let what = format!("view into data buffer {index}");
        return Err((what, format!("less than {}", buffers.len())));
    };
    let value = usize::try_from(start)
        .ok()
        .and_then(|start| buffer.get(start..start.checked_add(len)?));
    value.ok_or_else(|| {
        let what = format!("view of {len} bytes at {start} in data buffer {index}");
        (what, format!("inside its {} bytes", buffer.len()))
    })
}

impl Arrow {
    pub(crate) fn len(&self) -> usize {
        self.parts.last().map_or(0, |part| part.range().end)
    }

    /// How the values lie: those of the dictionary if there is one.
    pub(crate) fn layout(&self) -> Layout {
        self.of.layout
    }

    /// The rows of each part.
    pub(crate) fn ranges(&self) -> impl Iterator<Item = Range<usize>> {
        self.parts.iter().map(Part::range)
    }

    fn broken(&self, text: String) -> PyErr {
        malformed(self.name, &text)
    }

    /// The rows that are not null.
    pub(crate) fn present(&self) -> PyResult<Present> {
        if !self.parts.iter().any(Part::has_nulls) {
            return Ok(Present::all(self.len()));
        }
        let mut rows = errors::room(self.len())?;
        for part in &self.parts {
            let Shape { len, offset, .. } = part.shape;
            let bits = part.own().bits().map_err(|text| self.broken(text))?;
            match bits {
                _ if part.dictionary.is_some_and(|values| values.nulls > 0) => {
                    for i in 0..len {
                        let null = part.is_null(i, self.of.indices);
                        if !null.map_err(|text| self.broken(text))? {
                            rows.push(part.start + i);
                        }
                    }
                }
                Some(bits) => {
                    let valid = BitIndexIterator::new(bits, offset, len);
                    rows.extend(valid.map(|i| part.start + i));
                }
                None => rows.extend(part.range()),
            }
        }
        Ok(Present::these(rows, self.len()))
    }

    /// The part that has these rows, if one has all of them.
    fn part_with(&self, rows: Range<usize>) -> Option<&Part> {
        let i = self
            .parts
            .partition_point(|part| part.range().end < rows.end);
        self.parts.get(i).filter(|part| part.start <= rows.start)
    }

    /// The values of these rows as they lie, if one part has them, none of them null, by such
    /// offsets, which ascend.
    pub(crate) fn packed_values<O: OffsetSizeTrait>(
        &self,
        rows: Chosen<'_>,
    ) -> Option<Values<'_, O>> {
        if rows.range().is_empty() {
            return Some(Values::none());
        }
        let part = self.part_with(rows.range())?;
        match part.dictionary {
            None if part.first_null(rows, None).ok()?.is_none() => part.own().packed_values(rows),
            _ => None,
        }
    }

    /// The values of these rows as they lie, if one part has them, none of them null, all of
    /// one length.
    pub(crate) fn flat(&self, rows: Chosen<'_>) -> Option<Flat<'_>> {
        if rows.range().is_empty() {
            return Some(Flat::chosen(&[], 0, rows));
        }
        let part = self.part_with(rows.range())?;
        match part.dictionary {
            None if part.first_null(rows, None).ok()?.is_none() => part.own().flat(rows),
            _ => None,
        }
    }

    /// The values of these rows, where they lie.
    pub(crate) fn slices(&self, rows: Chosen<'_>) -> PyResult<Vec<&[u8]>> {
        let mut slices = errors::room(rows.count())?;
        for part in &self.parts {
            let rows = rows.within(part.range());
            if let Some(i) = part
                .first_null(rows, self.of.indices)
                .map_err(|text| self.broken(text))?
            {
                return Err(errors::null(part.start + i, self.name));
            }
            let read = match self.of.indices {
                None => part.own().slices(rows.places(), &mut slices),
                Some(indices) => part.by_indices(indices, rows, &mut slices),
            };
            read.map_err(|text| self.broken(text))?;
        }
        Ok(slices)
    }
}
