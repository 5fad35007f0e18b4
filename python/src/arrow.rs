//! Arrow columns of bytes, by the Arrow PyCapsule interface.

use crate::c_data::{self, ARRAY, Array, MOST, Read, SCHEMA, Schema, Stream, wrong};
use crate::columns::{Flat, Values};
use crate::errors;
use arrow_array::cast::AsArray;
use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema};
use arrow_array::{ArrayRef, FixedSizeBinaryArray, GenericBinaryArray, OffsetSizeTrait};
use arrow_buffer::bit_chunk_iterator::UnalignedBitChunk;
use arrow_buffer::bit_util::get_bit;
use arrow_buffer::{Buffer, NullBuffer, OffsetBuffer};
use arrow_schema::{ArrowError, DataType};
use pyo3::exceptions::{PyException, PyIndexError, PyTypeError, PyValueError};
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

/// How the values of a column lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Layout {
    /// By offsets of 32 bits.
    Binary,
    /// By offsets of 64 bits.
    LargeBinary,
    /// By views: [`VIEW`] bytes for each value, with a short one in them, or the place of a
    /// long one in one of several buffers.
    View,
    /// So many bytes each.
    FixedSize(usize),
}

/// Bytes of a view.
const VIEW: usize = 16;
/// Bytes of the values that are in their views.
const SHORT: usize = 12;

/// A column of bytes, in one part or several.
///
/// Others made it, maybe of what strangers sent: no number in it is trusted. What a struct
/// says of itself is checked when it is taken over ([`Part::new`]); offsets and views are
/// checked where they become slices, one by one or, where the library goes by them, all at
/// once. Nothing can check that buffers are as long as the struct implies.
pub(crate) struct Arrow {
    parts: Vec<Part>,
    /// What the caller calls it.
    name: &'static str,
    pub(crate) results: Type,
}

/// An array whose struct is as its layout demands.
struct Part {
    array: Array,
    layout: Layout,
    /// Values.
    len: usize,
    /// Values in the buffers before the first.
    offset: usize,
    /// Values that are null.
    nulls: usize,
}

fn malformed(name: &str, text: &str) -> PyErr {
    PyValueError::new_err(format!("{name}: {text}"))
}

/// The column that an object exports, if it exports any.
pub(crate) fn import(object: &Bound<'_, PyAny>, name: &'static str) -> PyResult<Option<Arrow>> {
    let py = object.py();
    let broken = |text: String| malformed(name, &text);
    let taken = |layout: Read<Result<Layout, String>>| {
        let layout = layout.map_err(broken)?;
        layout.map_err(|given| unsupported(name, &given))
    };
    if let Some(method) = object.getattr_opt(intern!(py, "__arrow_c_array__"))? {
        ask_pyarrow(object, name)?;
        let (schema, array): (Bound<'_, PyCapsule>, Bound<'_, PyCapsule>) =
            method.call0()?.extract()?;
        let layout = taken(Schema::look(&schema, Layout::new)?)?;
        let array = Array::take(&array)?.map_err(broken)?;
        let part = Part::new(array, layout).map_err(broken)?;
        let results = match layout {
            Layout::Binary => Type::Binary,
            Layout::FixedSize(_) => Type::FixedSize,
            Layout::LargeBinary | Layout::View => Type::LargeBinary,
        };
        let parts = vec![part];
        return Ok(Some(Arrow {
            parts,
            name,
            results,
        }));
    }
    let Some(method) = object.getattr_opt(intern!(py, "__arrow_c_stream__"))? else {
        return Ok(None);
    };
    ask_pyarrow(object, name)?;
    let mut stream = Stream::take(method.call0()?.cast()?)?.map_err(broken)?;
    let layout = taken(stream.schema().and_then(|schema| Layout::new(&schema)))?;
    let mut parts = Vec::new();
    while let Some(array) = stream.next().map_err(broken)? {
        parts.push(Part::new(array, layout).map_err(broken)?);
    }
    let results = match layout {
        Layout::FixedSize(_) => Type::FixedSize,
        _ => Type::LargeBinary,
    };
    Ok(Some(Arrow {
        parts,
        name,
        results,
    }))
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
        "{name}: expected an Arrow column of binary, large_binary, binary_view or \
         fixed_size_binary, not {given}"
    ))
}

/// What a type that is not taken is called.
fn type_name(format: &str) -> String {
    /// Those that columns have most.
    const NAMES: [(&str, &str); 19] = [
        ("n", "null"),
        ("b", "bool"),
        ("c", "int8"),
        ("C", "uint8"),
        ("s", "int16"),
        ("S", "uint16"),
        ("i", "int32"),
        ("I", "uint32"),
        ("l", "int64"),
        ("L", "uint64"),
        ("e", "float16"),
        ("f", "float32"),
        ("g", "float64"),
        ("u", "string"),
        ("U", "large_string"),
        ("vu", "string_view"),
        ("+l", "list"),
        ("+L", "large_list"),
        ("+s", "struct"),
    ];
    match NAMES.iter().find(|(known, _)| *known == format) {
        Some((_, name)) => (*name).to_owned(),
        None => format!("one of format {format:?}"),
    }
}

/// A number of which there may be none, or as many as memory has bytes.
fn number(field: &str, given: i64) -> Read<usize> {
    match usize::try_from(given) {
        Ok(number) if number <= MOST => Ok(number),
        _ => wrong(format_args!("{field} {given}"), format_args!("0 to {MOST}")),
    }
}

/// No array of bytes has any of these.
fn no_nesting(n_children: i64, has_dictionary: bool) -> Read<()> {
    if n_children != 0 {
        return wrong(format_args!("n_children {n_children}"), 0);
    }
    match has_dictionary {
        true => wrong("a dictionary", "none for bytes"),
        false => Ok(()),
    }
}

impl Layout {
    /// The layout of a column, or what its type is called if it is not of bytes.
    fn new(schema: &Schema) -> Read<Result<Layout, String>> {
        let format = schema.format()?;
        let layout = match (format, format.strip_prefix("w:")) {
            // The format is that of the indices.
            _ if schema.has_dictionary() => return Ok(Err("dictionary".to_owned())),
            ("z", _) => Layout::Binary,
            ("Z", _) => Layout::LargeBinary,
            ("vz", _) => Layout::View,
            (_, Some(width)) => Layout::FixedSize(Layout::width(width)?),
            _ => return Ok(Err(type_name(format))),
        };
        no_nesting(schema.n_children, false)?;
        Ok(Ok(layout))
    }

    fn width(given: &str) -> Read<usize> {
        let digits = given.bytes().all(|digit| digit.is_ascii_digit());
        // As many digits as the largest has.
        match given.parse::<i32>() {
            Ok(width) if digits && given.len() <= 10 => number("width", width.into()),
            _ => {
                let most = i32::MAX;
                wrong(
                    format_args!("format {:?}", format!("w:{given}")),
                    format_args!("w: and 0 to {most}"),
                )
            }
        }
    }

    /// Bytes that the second buffer has for each value, and how many more of these there are
    /// than values.
    fn element(self) -> (usize, usize) {
        match self {
            Layout::Binary => (size_of::<i32>(), 1),
            Layout::LargeBinary => (size_of::<i64>(), 1),
            Layout::View => (VIEW, 0),
            Layout::FixedSize(width) => (width, 0),
        }
    }
}

impl Part {
    fn new(array: Array, layout: Layout) -> Read<Part> {
        no_nesting(array.n_children, array.has_dictionary())?;
        let (least, most) = match layout {
            Layout::Binary | Layout::LargeBinary => (3, 3),
            Layout::FixedSize(_) => (2, 2),
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
        let mut part = Part {
            layout,
            len: number("length", array.length)?,
            offset: number("offset", array.offset)?,
            nulls: 0,
            array,
        };
        // Before anybody makes room for so many values.
        part.elements()?;
        part.nulls = part.count_nulls()?;
        Ok(part)
    }

    /// What the second buffer has for the values: offsets, views or bytes.
    fn elements(&self) -> Read<&[u8]> {
        // Without values there may be no buffers.
        if self.len == 0 {
            return Ok(&[]);
        }
        let (width, more) = self.layout.element();
        let count = self.offset + self.len + more;
        let Some(len) = count.checked_mul(width) else {
            return wrong(
                format_args!("{count} values of {width} bytes"),
                format_args!("{MOST} bytes"),
            );
        };
        Ok(&self.array.bytes(1, len)?[self.offset * width..])
    }

    /// A bit for each value and those before the first, which is not set if it is null; if
    /// there are any.
    fn bits(&self) -> Read<Option<&[u8]>> {
        let len = (self.offset + self.len).div_ceil(8);
        Ok(match self.array.has_buffer(0)? {
            true => Some(self.array.bytes(0, len)?),
            false => None,
        })
    }

    fn count_nulls(&self) -> Read<usize> {
        let nulls = match self.bits()? {
            Some(bits) => {
                let bits = UnalignedBitChunk::new(bits, self.offset, self.len);
                self.len - bits.count_ones()
            }
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

    fn first_null(&self) -> Option<usize> {
        let bits = self.bits().ok()??;
        (0..self.len).find(|i| !get_bit(bits, self.offset + i))
    }

    /// The offsets, and the bytes that lie before the last of them.
    fn by_offsets(&self) -> Read<(&[u8], &[u8])> {
        let offsets = self.elements()?;
        let last = match self.layout {
            Layout::Binary => offsets.last_chunk().map(|n| i32::from_ne_bytes(*n).into()),
            _ => offsets.last_chunk().map(|n| i64::from_ne_bytes(*n)),
        };
        let last = number("last value offset", last.unwrap_or(0))?;
        Ok((offsets, self.array.bytes(2, last)?))
    }

    /// The values as they lie, if there are some, none of them null, with such offsets,
    /// which ascend.
    fn values<O: OffsetSizeTrait>(&self) -> Option<Values<'_, O>> {
        let such = match self.layout {
            Layout::Binary => !O::IS_LARGE,
            Layout::LargeBinary => O::IS_LARGE,
            Layout::View | Layout::FixedSize(_) => false,
        };
        if !such || self.nulls > 0 || self.len == 0 {
            return None;
        }
        let (offsets, bytes) = self.by_offsets().ok()?;
        let offsets = c_data::offsets::<O>(offsets)?;
        // Without an end before the end, which would take longer. The last is that of the
        // bytes.
        let ascend = |all, pair: &[O]| all & (pair[0] <= pair[1]);
        let good = *offsets.first()? >= O::usize_as(0) && offsets.windows(2).fold(true, ascend);
        good.then_some(Values { bytes, offsets })
    }

    /// Appends the values, where they lie.
    fn slices<'a>(&'a self, slices: &mut Vec<&'a [u8]>) -> Read<()> {
        match self.layout {
            // Without values there are no offsets, and may be no buffers of long values.
            _ if self.len == 0 => Ok(()),
            Layout::Binary => self.offset_slices(|bytes| i32::from_ne_bytes(bytes).into(), slices),
            Layout::LargeBinary => self.offset_slices(i64::from_ne_bytes, slices),
            Layout::View => self.view_slices(slices),
            Layout::FixedSize(width) => {
                let bytes = self.elements()?;
                slices.extend((0..self.len).map(|i| &bytes[i * width..][..width]));
                Ok(())
            }
        }
    }

    /// By offsets, aligned or not, each of which is looked at.
    fn offset_slices<'a, const N: usize>(
        &'a self,
        offset: impl Fn([u8; N]) -> i64,
        slices: &mut Vec<&'a [u8]>,
    ) -> Read<()> {
        let (offsets, bytes) = self.by_offsets()?;
        let (offsets, _) = offsets.as_chunks::<N>();
        for pair in offsets.windows(2) {
            let (from, to) = (offset(pair[0]), offset(pair[1]));
            let range = usize::try_from(from).ok().zip(usize::try_from(to).ok());
            let Some(value) = range.and_then(|(from, to)| bytes.get(from..to)) else {
                return wrong(
                    format_args!("element {}: value offsets {from} and {to}", slices.len()),
                    format_args!("ascending ones from 0 to {}", bytes.len()),
                );
            };
            slices.push(value);
        }
        Ok(())
    }

    /// By views, each of which is looked at.
    fn view_slices<'a>(&'a self, slices: &mut Vec<&'a [u8]>) -> Read<()> {
        let buffers = self.view_buffers()?;
        let (views, _) = self.elements()?.as_chunks();
        for view in views {
            slices.push(viewed(view, &buffers).or_else(|(what, allowed)| {
                wrong(format_args!("element {}: {what}", slices.len()), allowed)
            })?);
        }
        Ok(())
    }

    /// The buffers of long values: all but the bitmap, the views and, at the end, their own
    /// lengths.
    fn view_buffers(&self) -> Read<Vec<&[u8]>> {
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
    /// The values as they lie, if they are one part without nulls, with such offsets, which
    /// ascend.
    pub(crate) fn values<O: OffsetSizeTrait>(&self) -> Option<Values<'_, O>> {
        let [part] = &self.parts[..] else { return None };
        part.values()
    }

    /// The values as they lie, if they are one part without nulls, of one length, and so
    /// many.
    pub(crate) fn flat(&self, count: usize) -> Option<Flat<'_>> {
        let [part] = &self.parts[..] else { return None };
        let Layout::FixedSize(width) = part.layout else {
            return None;
        };
        if part.nulls > 0 || part.len != count {
            return None;
        }
        let bytes = part.elements().ok()?;
        Some(Flat { bytes, width })
    }

    pub(crate) fn len(&self) -> usize {
        let lens = self.parts.iter().map(|part| part.len);
        lens.fold(0, usize::saturating_add)
    }

    /// The values, where they lie.
    pub(crate) fn slices(&self) -> PyResult<Vec<&[u8]>> {
        let mut slices = errors::room(self.len())?;
        for part in &self.parts {
            if part.nulls > 0
                && let Some(i) = part.first_null()
            {
                let i = slices.len() + i;
                let what = format!("element {i} is null");
                return Err(errors::input(Some(i), "null", &what, 0, "bytes"));
            }
            let read = part.slices(&mut slices);
            read.map_err(|text| malformed(self.name, &text))?;
        }
        Ok(slices)
    }
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

fn made(array: Result<impl arrow_array::Array + 'static, ArrowError>) -> PyResult<Column> {
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
