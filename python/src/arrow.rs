//! Arrow columns, by the Arrow PyCapsule interface.

use crate::array::{Held, Layout, Shape, no_children};
use crate::c_data::{Array, MOST, Read, Schema, Stream, wrong};
use crate::errors;
use crate::types;
use aescomb_columns::values::{Chosen, Flat, Present, Results, Values};
use arrow_array::types::{
    BinaryType, BinaryViewType, ByteArrayType, ByteViewType, LargeBinaryType, LargeUtf8Type,
    StringViewType, Utf8Type,
};
use arrow_array::{
    ArrayRef, GenericByteArray, GenericByteViewArray, OffsetSizeTrait, make_array, new_empty_array,
};
use arrow_buffer::bit_util::get_bit;
use arrow_buffer::{
    BooleanBuffer, BooleanBufferBuilder, Buffer, NullBuffer, OffsetBuffer, ScalarBuffer,
};
use arrow_data::ArrayData;
use arrow_schema::DataType;
use pyo3::exceptions::{PyException, PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use std::ops::Range;
use std::sync::Arc;

/// The type of a column.
struct Type {
    /// Of the values, also if there are indices to them.
    values: DataType,
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
    array: Arc<Array>,
    /// Row of its first value in the column.
    start: usize,
    shape: Shape,
    /// That of the values that indices lead to.
    dictionary: Option<Shape>,
    /// The values, if they are bits.
    unpacked: Vec<u8>,
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
            let part = Part::new(array, &of, rows).map_err(broken)?;
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
    let parts = vec![Part::new(array, &of, 0).map_err(broken)?];
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

/// The type that an object exports as a schema, which may be a dictionary's.
pub(crate) fn data_type(object: &Bound<'_, PyAny>, name: &str) -> PyResult<DataType> {
    let method = object.getattr(intern!(object.py(), "__arrow_c_schema__"))?;
    let of = Schema::look(method.call0()?.cast()?, Type::new)?;
    let of = of.map_err(|text| malformed(name, &text))?;
    Ok(of.map_err(|given| unsupported(name, &given))?.whole())
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

impl Type {
    /// The type of a column, or what it is called if its values are not taken.
    fn new(schema: &Schema) -> Read<Result<Type, String>> {
        let format = schema.format()?;
        let Some(dictionary) = schema.dictionary()? else {
            return Type::of_values(schema);
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
        let indices = Some(Indices { width, signed });
        let of = Type::of_values(dictionary)?;
        Ok(of
            .map(|of| Type { indices, ..of })
            .map_err(|given| format!("a dictionary of {given}")))
    }

    /// With indices, if there are such.
    fn whole(&self) -> DataType {
        let values = self.values.clone();
        match self.index_type() {
            Some(keys) => DataType::Dictionary(Box::new(keys), Box::new(values)),
            None => values,
        }
    }

    fn index_type(&self) -> Option<DataType> {
        let Indices { width, signed } = self.indices?;
        Some(match (width, signed) {
            (1, true) => DataType::Int8,
            (1, false) => DataType::UInt8,
            (2, true) => DataType::Int16,
            (2, false) => DataType::UInt16,
            (4, true) => DataType::Int32,
            (4, false) => DataType::UInt32,
            (_, true) => DataType::Int64,
            (_, false) => DataType::UInt64,
        })
    }

    /// The type of a column without indices.
    fn of_values(schema: &Schema) -> Read<Result<Type, String>> {
        let values = match types::parse(schema.format()?)? {
            Ok(values) => values,
            Err(given) => return Ok(Err(given)),
        };
        no_children(schema.n_children)?;
        Ok(Ok(Type {
            layout: Layout::new(&values),
            values,
            indices: None,
        }))
    }
}

impl Part {
    /// `start`: the row of its first value in the column.
    fn new(array: Array, of: &Type, start: usize) -> Read<Part> {
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
            array: Arc::new(array),
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
        self.shape.nulls > 0 || self.has_null_values()
    }

    /// Whether there are nulls in the dictionary.
    fn has_null_values(&self) -> bool {
        self.dictionary.is_some_and(|values| values.nulls > 0)
    }

    /// The indices, of which none was looked at.
    fn keys(&self, indices: Indices) -> Read<Keys> {
        let mut given = room(self.shape.len)?;
        let bytes = self.own().elements()?;
        match (indices.width, indices.signed) {
            (1, true) => widen(bytes, |b| i8::from_ne_bytes(b).into(), &mut given),
            (1, false) => widen(bytes, |b| u8::from_ne_bytes(b).into(), &mut given),
            (2, true) => widen(bytes, |b| i16::from_ne_bytes(b).into(), &mut given),
            (2, false) => widen(bytes, |b| u16::from_ne_bytes(b).into(), &mut given),
            (4, true) => widen(bytes, |b| i32::from_ne_bytes(b).into(), &mut given),
            (4, false) => widen(bytes, |b| u32::from_ne_bytes(b).into(), &mut given),
            // Unsigned ones from 2^63 on become negative, and are as wrong.
            _ => widen(bytes, i64::from_ne_bytes, &mut given),
        }
        Ok(Keys {
            given,
            start: self.start,
            values: self.dictionary.map_or(0, |values| values.len),
        })
    }

    /// The place of the first of these rows that is null.
    fn first_null(&self, rows: Chosen<'_>, indices: Option<Indices>) -> Read<Option<usize>> {
        let mut places = rows.rows().map(|row| row - self.start);
        if let (Some(indices), true) = (indices, self.has_null_values()) {
            let (own, values, keys) = (self.own(), self.values()?, self.keys(indices)?);
            for i in places {
                if own.is_null(i)? || values.is_null(keys.at(i)?)? {
                    return Ok(Some(i));
                }
            }
            return Ok(None);
        }
        let Shape { offset, nulls, .. } = self.shape;
        let bits = self.own().bits()?.filter(|_| nulls > 0);
        Ok(bits.and_then(|bits| places.find(|i| !get_bit(bits, offset + i))))
    }

    /// Appends for each row whether it is not null.
    fn present(&self, indices: Option<Indices>, rows: &mut BooleanBufferBuilder) -> Read<()> {
        let Shape { len, offset, .. } = self.shape;
        if let (Some(indices), true) = (indices, self.has_null_values()) {
            let (own, values, keys) = (self.own(), self.values()?, self.keys(indices)?);
            for i in 0..len {
                rows.append(!own.is_null(i)? && !values.is_null(keys.at(i)?)?);
            }
            return Ok(());
        }
        match self.own().bits()? {
            Some(bits) => rows.append_packed_range(offset..offset + len, bits),
            None => rows.append_n(len, true),
        }
        Ok(())
    }

    /// Appends the values that indices lead to; none of the rows is null.
    fn by_indices<'a>(
        &'a self,
        indices: Indices,
        rows: Chosen<'_>,
        slices: &mut Vec<&'a [u8]>,
    ) -> Read<()> {
        let (values, keys) = (self.dictionary_slices()?, self.keys(indices)?);
        for i in rows.places() {
            slices.push(values[keys.at(i)?].unwrap_or_default());
        }
        Ok(())
    }

    /// The part, which has no indices, where it lies; `None` if anything is wrong with it, or its
    /// values lie in another way.
    fn shared(&self, of: &DataType) -> Option<ArrayRef> {
        let Shape {
            layout,
            len,
            offset,
            nulls,
        } = self.shape;
        if len == 0 {
            return Some(new_empty_array(of));
        }
        let nulls = match nulls {
            0 => None,
            _ => {
                let bits = self.array.shared(0, (offset + len).div_ceil(8)).ok()?;
                Some(NullBuffer::new(BooleanBuffer::new(bits, offset, len)))
            }
        };
        let (width, more) = layout.element();
        let elements = (offset + len + more).checked_mul(width)?;
        let elements = self.array.shared(1, elements).ok()?;
        match of {
            DataType::Binary => self.by_offsets::<BinaryType>(elements, nulls),
            DataType::LargeBinary => self.by_offsets::<LargeBinaryType>(elements, nulls),
            DataType::Utf8 => self.by_offsets::<Utf8Type>(elements, nulls),
            DataType::LargeUtf8 => self.by_offsets::<LargeUtf8Type>(elements, nulls),
            DataType::BinaryView => self.by_views::<BinaryViewType>(elements, nulls),
            DataType::Utf8View => self.by_views::<StringViewType>(elements, nulls),
            DataType::Boolean => None,
            _ => {
                let data = ArrayData::builder(of.clone()).len(len).offset(offset);
                let data = data.add_buffer(elements).nulls(nulls);
                data.align_buffers(true).build().ok().map(make_array)
            }
        }
    }

    /// With these offsets, if they are aligned and ascend.
    fn by_offsets<T: ByteArrayType>(
        &self,
        offsets: Buffer,
        nulls: Option<NullBuffer>,
    ) -> Option<ArrayRef> {
        let values = self.own().packed_values::<T::Offset>(self.range())?;
        let values = self.array.shared(2, values.bytes.len()).ok()?;
        let Shape { len, offset, .. } = self.shape;
        let offsets = OffsetBuffer::new(ScalarBuffer::new(offsets, offset, len + 1));
        let array = GenericByteArray::<T>::try_new(offsets, values, nulls).ok()?;
        Some(Arc::new(array))
    }

    /// With these views, if they are aligned and good.
    fn by_views<T: ByteViewType + ?Sized>(
        &self,
        views: Buffer,
        nulls: Option<NullBuffer>,
    ) -> Option<ArrayRef> {
        let Shape { len, offset, .. } = self.shape;
        if !views.as_ptr().cast::<u128>().is_aligned() {
            return None;
        }
        let values = self.own().view_buffers().ok()?;
        let shared = |(i, values): (usize, &[u8])| self.array.shared(2 + i, values.len()).ok();
        let values = values.into_iter().enumerate().map(shared);
        let values = values.collect::<Option<Vec<_>>>()?;
        let views = ScalarBuffer::new(views, offset, len);
        let array = GenericByteViewArray::<T>::try_new(views, values, nulls).ok()?;
        Some(Arc::new(array))
    }

    fn dictionary(&self, indices: Option<Indices>) -> Read<Dictionary<'_>> {
        let Some(indices) = indices else {
            return wrong("no dictionary", "one");
        };
        let (own, given) = (self.own(), self.keys(indices)?);
        let mut keys = room(self.shape.len)?;
        for i in 0..self.shape.len {
            keys.push(match own.is_null(i)? {
                true => None,
                false => Some(given.at(i)?),
            });
        }
        Ok(Dictionary {
            values: self.dictionary_slices()?,
            keys,
            start: self.start,
        })
    }

    /// The values of the dictionary, `None` where they are null.
    fn dictionary_slices(&self) -> Read<Vec<Option<&[u8]>>> {
        let held = self.values()?;
        let len = held.shape.len;
        let (mut places, mut found, mut values) = (room(len)?, room(len)?, room(len)?);
        for i in 0..len {
            if !held.is_null(i)? {
                places.push(i);
            }
        }
        let read = held.slices(places.iter().copied(), &mut found);
        read.map_err(|text| format!("dictionary: {text}"))?;
        values.resize(len, None);
        for (i, value) in places.into_iter().zip(found) {
            values[i] = Some(value);
        }
        Ok(values)
    }
}

/// What a part has whose values are indices to others.
pub(crate) struct Dictionary<'a> {
    /// `None` where they are null.
    pub(crate) values: Vec<Option<&'a [u8]>>,
    /// The place of each row's value; `None` where the row is null.
    pub(crate) keys: Vec<Option<usize>>,
    /// Row of the first.
    pub(crate) start: usize,
}

/// The indices of a part.
struct Keys {
    given: Vec<i64>,
    /// Row of the first.
    start: usize,
    /// So many values there are.
    values: usize,
}

impl Keys {
    fn at(&self, i: usize) -> Read<usize> {
        let given = self.given[i];
        match usize::try_from(given) {
            Ok(index) if index < self.values => Ok(index),
            _ => wrong(
                format_args!("element {}: index {given}", self.start + i),
                format_args!("less than {}", self.values),
            ),
        }
    }
}

/// Appends numbers of so many bytes.
fn widen<const N: usize>(bytes: &[u8], number: impl Fn([u8; N]) -> i64, numbers: &mut Vec<i64>) {
    let (given, _) = bytes.as_chunks();
    numbers.extend(given.iter().map(|bytes| number(*bytes)));
}

/// A vector with room for so many items, of which damaged columns claim any number.
fn room<T>(len: usize) -> Read<Vec<T>> {
    let mut items = Vec::new();
    let room = items.try_reserve_exact(len);
    room.map(|()| items).map_err(|error| error.to_string())
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

    /// The type of the values: those of the dictionary if there is one.
    pub(crate) fn values_type(&self) -> &DataType {
        &self.of.values
    }

    /// The type of the indices, if there are such.
    pub(crate) fn index_type(&self) -> Option<DataType> {
        self.of.index_type()
    }

    /// The type of the column.
    pub(crate) fn whole_type(&self) -> DataType {
        self.of.whole()
    }

    /// Its parts as arrays, of which every value was looked at, where they lie; those of bits, of
    /// indices and what is not aligned are copied.
    pub(crate) fn arrays(&self) -> PyResult<Vec<ArrayRef>> {
        let of = self.values_type();
        if let Some(keys) = self.index_type() {
            let arrays = self.dictionaries().map(|dictionary| {
                let dictionary = dictionary?;
                let given = &dictionary.values;
                let places: Vec<usize> = (0..given.len()).filter(|i| given[*i].is_some()).collect();
                let present = Present::these(places, given.len());
                let slices: Vec<&[u8]> = given.iter().flatten().copied().collect();
                let values = gathered(&slices, present.whole(), of)?;
                dictionary.lead_to(values, &keys)
            });
            return arrays.collect();
        }
        let shared: Option<Vec<ArrayRef>> = self.parts.iter().map(|part| part.shared(of)).collect();
        if let Some(arrays) = shared {
            return Ok(arrays);
        }
        let present = self.present()?;
        let slices = self.slices(present.whole())?;
        let mut left = &slices[..];
        let arrays = self.ranges().map(|range| {
            let rows = present.whole().within(range);
            let (own, rest) = left.split_at(rows.count());
            left = rest;
            gathered(own, rows, of)
        });
        arrays.collect()
    }

    /// What each part has, if it has indices.
    pub(crate) fn dictionaries(&self) -> impl Iterator<Item = PyResult<Dictionary<'_>>> {
        let parts = self.parts.iter();
        parts.map(|part| {
            part.dictionary(self.of.indices)
                .map_err(|text| self.broken(text))
        })
    }

    fn broken(&self, text: String) -> PyErr {
        malformed(self.name, &text)
    }

    /// The rows that are not null.
    pub(crate) fn present(&self) -> PyResult<Present> {
        if !self.parts.iter().any(Part::has_nulls) {
            return Ok(Present::all(self.len()));
        }
        // As long as a damaged column says, which may be too long.
        let room: Vec<u8> = errors::room(self.len().div_ceil(8))?;
        let mut rows = BooleanBufferBuilder::new_from_buffer(room.into(), 0);
        for part in &self.parts {
            let read = part.present(self.of.indices, &mut rows);
            read.map_err(|text| self.broken(text))?;
        }
        Ok(Present::bits(rows.finish()))
    }

    /// The part that has these rows, if one has all of them.
    fn part_with(&self, rows: Range<usize>) -> Option<&Part> {
        let i = self
            .parts
            .partition_point(|part| part.range().end < rows.end);
        self.parts.get(i).filter(|part| part.start <= rows.start)
    }

    /// The values of these rows, null or not, as they lie, if one part has them, by such
    /// offsets, which ascend.
    pub(crate) fn packed_values<O: OffsetSizeTrait>(
        &self,
        rows: Range<usize>,
    ) -> Option<Values<'_, O>> {
        if rows.is_empty() {
            return Some(Values::none());
        }
        let part = self.part_with(rows.clone())?;
        match part.dictionary {
            None => part.own().packed_values(rows),
            Some(_) => None,
        }
    }

    /// As [`Arrow::packed_values`], of these rows alone, none of which may be null.
    pub(crate) fn chosen_values<O: OffsetSizeTrait>(
        &self,
        rows: Chosen<'_>,
    ) -> Option<Values<'_, O>> {
        if rows.range().is_empty() {
            return Some(Values::none());
        }
        let part = self.part_with(rows.range())?;
        if part.dictionary.is_some() || part.first_null(rows, None).ok()?.is_some() {
            return None;
        }
        let all = part.own().packed_values(rows.range())?;
        Some(all.chosen(rows))
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

/// An array of these values of the rows that are not null.
fn gathered(slices: &[&[u8]], rows: Chosen<'_>, of: &DataType) -> PyResult<ArrayRef> {
    let total = slices.iter().map(|slice| slice.len()).sum();
    let mut bytes = errors::room(total)?;
    let mut ends: Vec<i64> = errors::room(slices.len() + 1)?;
    ends.push(0);
    for slice in slices {
        bytes.extend_from_slice(slice);
        ends.push(bytes.len() as i64);
    }
    let results = Results {
        bytes: Buffer::from_vec(bytes),
        ends: ends.into(),
        rows,
        failed: &[],
        row: &|i| rows.row(i),
    };
    results.array(of).map_err(errors::unfit)
}
