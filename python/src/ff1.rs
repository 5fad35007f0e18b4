//! [`Ff1`] and its methods.

use crate::arrow::{self, Arrow, Dictionary};
use crate::call::RELEASE;
use crate::column::Column;
use crate::errors;
use crate::input::{self, Tweaks};
use crate::key::threads_of;
use crate::keys::{Id, NULL, Places};
use aescomb::ff1::{Numeral, Values};
use aescomb::{Layout, Offset, Op};
use aescomb_columns::values::{self, Chosen, PIECE, Present, Results};
use arrow_array::{ArrayRef, OffsetSizeTrait};
use arrow_buffer::Buffer;
use arrow_schema::DataType;
use pyo3::IntoPyObjectExt;
use pyo3::buffer::{PyBuffer, PyUntypedBuffer};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyString, PyTuple};
use std::num::NonZeroUsize;

type Object<'a, 'py> = &'a Bound<'py, PyAny>;

/// Format-preserving encryption: FF1 of SP 800-38G revision 1.
///
/// Values of n characters become others of n characters of the same ``alphabet``: card numbers
/// card numbers, names of twelve letters others. With ``radix`` in its place, values are of
/// numerals, integers from 0 to ``radix - 1``.
///
/// ``key`` has 16, 24 or 32 bytes, or is a dictionary of such keys by their identifiers (``str``,
/// ``int`` or ``bytes``), of which each row of a batch names one: ``ids``, a list or an Arrow
/// column. An alphabet has from 2 to 128 characters of ASCII, each once; a
/// radix is from 2 to 65,536. A value has as many characters as it takes for a million different
/// values (6 digits, 5 letters), two at least and 65,536 at most; no others than those of the
/// alphabet.
///
/// A tweak is public, has up to 65,536 bytes, and makes equal values become different ones: the
/// name of a column, or the number of a row. Under the same key and tweak, equal values have equal
/// results.
///
/// Nothing is authenticated: with a wrong key or tweak, another value comes out.
///
/// Batches. With an alphabet, ``values`` are a list or any iterable of ``str``, an array of such,
/// or an Arrow column of text or bytes; with a radix, a list of sequences of integers, or an array
/// of ``uint16`` of two dimensions, with a value in each row. Results have the same form: a list,
/// a new array, or a ``Column`` of the same type, with as many parts. Nulls, which are ``None`` in
/// a list, stay null. The values of a dictionary are done once, if all have the same tweak.
///
/// ``tweaks`` are bytes for all values, or a list, an array of ``uint8`` or an Arrow column with one
/// for each. ``threads`` is the most threads that work on a batch.
///
/// Mistakes raise ``InputError``, with the row in ``message`` and with the ``position`` of a
/// character or numeral; nothing is computed then.
///
/// >>> import aescomb
/// >>> ff1 = aescomb.Ff1(bytes(16), "0123456789")
/// >>> tokens = ff1.encrypt_many(["4111111111111111", "378282246310005"], b"cards")
/// >>> tokens
/// ['1828054887969796', '502633965481227']
/// >>> ff1.decrypt_many(tokens, b"cards")
/// ['4111111111111111', '378282246310005']
#[pyclass(frozen, module = "aescomb")]
pub(crate) struct Ff1 {
    // In a box, as keys are aligned to more than Python's allocator promises.
    ff1: Box<aescomb::ff1::Ff1>,
    alphabet: Option<String>,
    /// Which key has which identifier, if there are such.
    ids: Option<Places>,
}

/// A call.
struct Call<'a, 'py> {
    ff1: &'a aescomb::ff1::Ff1,
    py: Python<'py>,
    op: Op,
    threads: NonZeroUsize,
}

/// What belongs to the values of a batch, by row.
struct Given<'py> {
    tweaks: Tweaks<'py>,
    /// Places of keys.
    keys: Option<Vec<u32>>,
}

/// What belongs to those that are not null.
struct Packed<'a> {
    tweaks: PackedTweaks<'a>,
    keys: Option<Vec<u32>>,
}

enum PackedTweaks<'a> {
    Same(&'a [u8]),
    /// One after the other, with where they begin and end.
    Each(Vec<u8>, Vec<i64>),
}

impl<'a> Packed<'a> {
    fn new(given: &'a Given<'_>, rows: Chosen<'_>) -> PyResult<Self> {
        let tweaks = match &given.tweaks {
            Tweaks::Same(tweak) => PackedTweaks::Same(tweak.as_bytes()),
            Tweaks::Each(column) => {
                let (bytes, ends) = together::<i64>(&column.slices("tweaks", rows)?)?;
                PackedTweaks::Each(bytes, ends)
            }
        };
        let keys = match &given.keys {
            None => None,
            Some(places) => {
                errors::count("ids of keys", places.len(), rows.range().len())?;
                let mut keys = errors::room(rows.count())?;
                for row in rows.rows() {
                    match places[row] {
                        NULL => return Err(errors::null(row, "ids")),
                        place => keys.push(place),
                    }
                }
                Some(keys)
            }
        };
        Ok(Packed { tweaks, keys })
    }

    fn same(tweak: &'a [u8]) -> Self {
        Packed {
            tweaks: PackedTweaks::Same(tweak),
            keys: None,
        }
    }
}

/// Values one after the other, and where they begin and end.
fn together<O: OffsetSizeTrait>(values: &[&[u8]]) -> PyResult<(Vec<u8>, Vec<O>)> {
    let total = values.iter().map(|value| value.len()).sum();
    let (mut bytes, mut ends) = (errors::room(total)?, errors::room(values.len() + 1)?);
    ends.push(O::usize_as(0));
    for value in values {
        bytes.extend_from_slice(value);
        ends.push(O::usize_as(bytes.len()));
    }
    Ok((bytes, ends))
}

impl Call<'_, '_> {
    /// Does values that lie one after the other; `ends` are where they begin and end, `first` is
    /// the place of the first one's tweak and key, and `row` the row of each.
    fn run<T: Numeral + Send, O: Offset + OffsetSizeTrait>(
        &self,
        values: &mut [T],
        ends: &[O],
        (given, first): (&Packed<'_>, usize),
        row: &dyn Fn(usize) -> usize,
    ) -> PyResult<()> {
        let (ff1, op, count) = (self.ff1, self.op, ends.len() - 1);
        let share = |start: usize, values: &mut [T], ends: &[O]| {
            let values = Values::in_place(values, Layout::Offsets(ends));
            let own: Vec<O>;
            let values = match &given.tweaks {
                PackedTweaks::Same(tweak) => values.tweak(tweak),
                PackedTweaks::Each(bytes, places) => {
                    let places = &places[first + start..][..ends.len()];
                    let (from, to) = (places[0], places[ends.len() - 1]);
                    let end = |end: &i64| O::usize_as((end - from) as usize);
                    own = places.iter().map(end).collect();
                    let bytes = &bytes[from as usize..to as usize];
                    values.tweaks(bytes, Layout::Offsets(&own))
                }
            };
            let values = match &given.keys {
                None => values,
                Some(keys) => values.keys(&keys[first + start..][..ends.len() - 1]),
            };
            let done = match op {
                Op::Decrypt => ff1.decrypt(values),
                _ => ff1.encrypt(values),
            };
            done.map_err(|error| (error, start))
        };
        let bytes = size_of_val(values);
        let threads = values::worth(self.threads, count, bytes);
        let all = || {
            if threads == 1 {
                return share(0, values, ends);
            }
            let (mut left, mut shares) = (values, Vec::new());
            for range in values::shares(threads, count, PIECE) {
                let ends = &ends[range.start..=range.end];
                let from = ends[0];
                let len = (ends[ends.len() - 1] - from).as_usize();
                let (own, others) = left.split_at_mut(len);
                left = others;
                let ends: Vec<O> = ends.iter().map(|end| *end - from).collect();
                shares.push((range.start, own, ends));
            }
            values::together(threads, shares, |(start, own, ends)| {
                share(start, own, &ends)
            })
            .into_iter()
            .collect()
        };
        let done = match bytes < RELEASE {
            true => all(),
            false => self.py.detach(all),
        };
        done.map_err(|(error, start)| errors::refused(error, |i| row(start + i)))
    }

    fn column(&self, column: &Arrow, given: &Given<'_>) -> PyResult<Column> {
        let of = column.values_type().clone();
        let is_text = matches!(
            of,
            DataType::Utf8
                | DataType::LargeUtf8
                | DataType::Utf8View
                | DataType::Binary
                | DataType::LargeBinary
                | DataType::BinaryView
                | DataType::FixedSizeBinary(_)
        );
        if !is_text {
            let text = format!("values: expected an Arrow column of text or bytes, not {of}");
            return Err(PyTypeError::new_err(text));
        }
        if let (Tweaks::Same(tweak), None) = (&given.tweaks, &given.keys)
            && let Some(keys) = column.index_type()
        {
            return self.dictionaries(column, &Packed::same(tweak.as_bytes()), keys, of);
        }
        let present = column.present()?;
        let rows = present.whole();
        let given = &Packed::new(given, rows)?;
        let (mut arrays, mut done) = (Vec::new(), 0);
        // Of all parts, if one needs them.
        let mut slices = None;
        for part in column.ranges() {
            let rows = rows.within(part);
            let given = (given, done);
            let array = if let Some(values) = column.chosen_values::<i32>(rows) {
                self.array(packed(values)?, rows, given, &of, &|i| rows.row(i))
            } else if let Some(values) = column.chosen_values::<i64>(rows) {
                self.array(packed(values)?, rows, given, &of, &|i| rows.row(i))
            } else {
                let slices = match &slices {
                    Some(slices) => slices,
                    None => slices.insert(column.slices(present.whole())?),
                };
                let values = together::<i64>(&slices[done..done + rows.count()])?;
                self.array(values, rows, given, &of, &|i| rows.row(i))
            };
            arrays.push(array?);
            done += rows.count();
        }
        Ok(Column::new(arrays, of))
    }

    /// An array of these values' results.
    fn array<O: Offset + OffsetSizeTrait>(
        &self,
        (mut bytes, ends): (Vec<u8>, Vec<O>),
        rows: Chosen<'_>,
        given: (&Packed<'_>, usize),
        of: &DataType,
        row: &dyn Fn(usize) -> usize,
    ) -> PyResult<ArrayRef> {
        self.run(&mut bytes, &ends, given, row)?;
        let bytes = Buffer::from_vec(bytes);
        Results {
            bytes,
            ends: ends.into(),
            rows,
            failed: &[],
            row,
        }
        .array(of)
        .map_err(errors::unfit)
    }

    /// A column of indices to values, which are done once.
    fn dictionaries(
        &self,
        column: &Arrow,
        tweak: &Packed<'_>,
        keys: DataType,
        of: DataType,
    ) -> PyResult<Column> {
        let mut arrays = Vec::new();
        for dictionary in column.dictionaries() {
            let dictionary = dictionary?;
            let run = |places| self.dictionary(&dictionary, places, tweak, &of);
            let values = match run(dictionary.places()) {
                Ok(values) => values,
                // What is wrong may be a value that no row has.
                Err(_) => run(dictionary.used())?,
            };
            arrays.push(dictionary.lead_to(values, &keys)?);
        }
        let of = DataType::Dictionary(Box::new(keys), Box::new(of));
        Ok(Column::new(arrays, of))
    }

    /// The results of the values of a dictionary at these places; the others become null.
    fn dictionary(
        &self,
        dictionary: &Dictionary<'_>,
        places: Vec<usize>,
        tweak: &Packed<'_>,
        of: &DataType,
    ) -> PyResult<ArrayRef> {
        let present = Present::these(places, dictionary.values.len());
        let places = present.whole();
        let values: Vec<&[u8]> = places.rows().filter_map(|i| dictionary.values[i]).collect();
        // The first that has the value.
        let row = |i| {
            let key = Some(places.row(i));
            let found = dictionary.keys.iter().position(|other| *other == key);
            dictionary.start + found.unwrap_or(0)
        };
        let values = together::<i64>(&values)?;
        self.array(values, places, (tweak, 0), of, &row)
    }

    /// Values of a list, with `None` for nulls, one after the other: results by `make`.
    fn items<'py, T: Numeral + Send, R: IntoPyObject<'py>>(
        &self,
        py: Python<'py>,
        items: Vec<Option<Vec<T>>>,
        given: &Given<'_>,
        make: impl Fn(&[T]) -> R,
    ) -> PyResult<Bound<'py, PyAny>> {
        let rows: Vec<usize> = (0..items.len()).filter(|i| items[*i].is_some()).collect();
        let present = Present::these(rows, items.len());
        let rows = present.whole();
        let given = Packed::new(given, rows)?;
        let (mut values, mut ends) = (Vec::new(), vec![0i64]);
        for item in items.iter().flatten() {
            values.extend_from_slice(item);
            ends.push(values.len() as i64);
        }
        self.run(&mut values, &ends, (&given, 0), &|i| rows.row(i))?;
        let mut made = ends
            .windows(2)
            .map(|ends| make(&values[ends[0] as usize..ends[1] as usize]));
        let results = items
            .iter()
            .map(|item| item.as_ref().and_then(|_| made.next()));
        let results: Vec<Option<R>> = results.collect();
        PyList::new(py, results).map(Bound::into_any)
    }
}

/// A copy of values, one after the other from 0 on.
fn packed<O: OffsetSizeTrait>(values: values::Values<'_, O>) -> PyResult<(Vec<u8>, Vec<O>)> {
    let bytes = &values.bytes;
    match &values.places {
        values::Places::Offsets(offsets) => {
            let (first, last) = (offsets[0], offsets[offsets.len() - 1]);
            let given = &bytes[first.as_usize()..last.as_usize()];
            let (mut copy, mut ends) = (errors::room(given.len())?, errors::room(offsets.len())?);
            copy.extend_from_slice(given);
            ends.extend(offsets.iter().map(|end| *end - first));
            Ok((copy, ends))
        }
        values::Places::Slots(starts, lengths) => {
            let value = |(start, len): (&O, &O)| &bytes[start.as_usize()..][..len.as_usize()];
            let values: Vec<&[u8]> = starts.iter().zip(lengths).map(value).collect();
            together(&values)
        }
    }
}

const TEXTS: &str = "a list of strings, an array of strings or an Arrow column";
const NUMERALS: &str = "a list of sequences of integers or an array of uint16 of two dimensions";

impl Ff1 {
    fn many<'py>(
        &self,
        py: Python<'py>,
        op: Op,
        values: Object<'_, 'py>,
        tweaks: Option<Object<'_, 'py>>,
        ids: Option<Object<'_, 'py>>,
        threads: Option<usize>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let keys = match (&self.ids, ids) {
            (Some(places), Some(ids)) => Some(places.of(ids)?),
            (None, None) => None,
            (Some(_), None) => return Err(PyTypeError::new_err("ids: expected those of keys")),
            (None, Some(_)) => {
                let text = "ids: expected none, as there is one key, without an id";
                return Err(PyTypeError::new_err(text));
            }
        };
        let tweaks = Tweaks::new(py, tweaks)?;
        let given = &Given { tweaks, keys };
        let call = Call {
            ff1: &self.ff1,
            py,
            op,
            threads: threads_of(threads)?,
        };
        if self.alphabet.is_none() {
            return self.many_numerals(&call, values, given);
        }
        let is_list = values.is_instance_of::<PyList>() || values.is_instance_of::<PyTuple>();
        if !is_list && let Some(column) = arrow::import(values, "values")? {
            return call.column(&column, given)?.into_bound_py_any(py);
        }
        let items = input::items(values, "values", TEXTS, |i, item| match item.is_none() {
            true => Ok(None),
            false => text(&item, || format!("values[{i}]")).map(Some),
        })?;
        call.items(py, items, given, |text| string(py, text))
    }

    fn many_numerals<'py>(
        &self,
        call: &Call<'_, 'py>,
        values: Object<'_, 'py>,
        given: &Given<'_>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = call.py;
        if let Ok(buffer) = PyUntypedBuffer::get(values)
            && buffer.dimensions() == 2
        {
            let Ok(buffer) = buffer.into_typed::<u16>() else {
                let what = "an array of dtype uint16";
                return Err(input::expected("values", what, values));
            };
            let (count, width) = (buffer.shape()[0], buffer.shape()[1]);
            let mut numerals = buffer.to_vec(py)?;
            let rows = Present::all(count);
            let given = Packed::new(given, rows.whole())?;
            let ends: Vec<i64> = (0..=count).map(|i| (i * width) as i64).collect();
            call.run(&mut numerals, &ends, (&given, 0), &|i| i)?;
            let numpy = py.import("numpy")?;
            let array = numpy.call_method1("empty", ((count, width), "uint16"))?;
            PyBuffer::<u16>::get(&array)?.copy_from_slice(py, &numerals)?;
            return Ok(array);
        }
        let items = input::items(values, "values", NUMERALS, |i, item| match item.is_none() {
            true => Ok(None),
            false => self
                .numerals(&item, Some(i), &format!("values[{i}]"))
                .map(Some),
        })?;
        call.items(py, items, given, <[u16]>::to_vec)
    }

    /// Numerals of a value, of which the library looks whether they are below the radix.
    fn numerals(
        &self,
        value: &Bound<'_, PyAny>,
        row: Option<usize>,
        name: &str,
    ) -> PyResult<Vec<u16>> {
        input::items(
            value,
            name,
            "a sequence of integers",
            |position, numeral| {
                let given: i128 = numeral.extract()?;
                u16::try_from(given)
                    .map_err(|_| errors::numeral(row, position, given, self.ff1.radix() - 1))
            },
        )
    }

    fn one<'py>(
        &self,
        py: Python<'py>,
        op: Op,
        value: Object<'_, 'py>,
        tweak: Option<Object<'_, 'py>>,
        id: Option<Object<'_, 'py>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        if self.ids.is_some() || id.is_some() {
            let values = PyList::new(py, [value])?;
            let tweaks = tweak.map(|tweak| PyList::new(py, [tweak])).transpose()?;
            let ids = id.map(|id| PyList::new(py, [id])).transpose()?;
            let (tweaks, ids) = (tweaks.as_deref(), ids.as_deref());
            return self.many(py, op, &values, tweaks, ids, None)?.get_item(0);
        }
        let tweak = match tweak {
            Some(tweak) => input::bytes(tweak, "tweak")?,
            None => PyBytes::new(py, &[]),
        };
        let tweaks = &Packed::same(tweak.as_bytes());
        let call = Call {
            ff1: &self.ff1,
            py,
            op,
            threads: NonZeroUsize::MIN,
        };
        if self.alphabet.is_none() {
            let mut value = self.numerals(value, None, "value")?;
            let ends = [0, value.len() as i64];
            call.run(&mut value, &ends, (tweaks, 0), &|i| i)?;
            return value.into_bound_py_any(py);
        }
        let mut value = text(value, || "value".to_owned())?;
        let ends = [0, value.len() as i64];
        call.run(&mut value, &ends, (tweaks, 0), &|i| i)?;
        Ok(string(py, &value).into_any())
    }
}

/// The UTF-8 of a string.
fn text(object: &Bound<'_, PyAny>, name: impl Fn() -> String) -> PyResult<Vec<u8>> {
    match object.cast::<PyString>() {
        Ok(text) => Ok(text.to_str()?.as_bytes().to_vec()),
        Err(_) => Err(input::expected(&name(), "a string", object)),
    }
}

/// Characters of an alphabet, which are of ASCII.
fn string<'py>(py: Python<'py>, text: &[u8]) -> Bound<'py, PyString> {
    PyString::new(py, &String::from_utf8_lossy(text))
}

#[pymethods]
impl Ff1 {
    #[new]
    #[pyo3(signature = (key, alphabet=None, *, radix=None))]
    fn new(key: Object<'_, '_>, alphabet: Option<&str>, radix: Option<u32>) -> PyResult<Self> {
        let refused = |error| errors::refused(error, |i| i);
        let (first, others, ids) = match key.cast::<PyDict>() {
            Ok(keys) => {
                let (mut raw, mut ids) = (Vec::new(), Places::default());
                for (id, key) in keys {
                    let shown = || id.repr().map_or("?".into(), |text| text.to_string());
                    let name = Id::new(&id, || format!("key: the id {}", shown()))?;
                    ids.insert(&name, u32::try_from(raw.len())?);
                    raw.push(input::bytes(&key, &format!("key[{}]", shown()))?);
                }
                if raw.is_empty() {
                    let text = "key: expected one key or more";
                    return Err(PyValueError::new_err(text));
                }
                (raw.remove(0), raw, Some(ids))
            }
            Err(_) => (input::bytes(key, "key")?, Vec::new(), None),
        };
        let ff1 = match (alphabet, radix) {
            (Some(alphabet), None) => aescomb::ff1::Ff1::with_alphabet(alphabet, first.as_bytes()),
            (None, Some(radix)) => aescomb::ff1::Ff1::new(radix, first.as_bytes()),
            _ => {
                let text = "expected an alphabet or a radix, one of the two";
                return Err(PyTypeError::new_err(text));
            }
        };
        let mut ff1 = ff1.map_err(refused)?;
        for key in others {
            ff1.add_key(key.as_bytes()).map_err(refused)?;
        }
        Ok(Ff1 {
            ff1: Box::new(ff1),
            alphabet: alphabet.map(str::to_owned),
            ids,
        })
    }

    /// The alphabet, if there is one.
    #[getter]
    fn alphabet(&self) -> Option<&str> {
        self.alphabet.as_deref()
    }

    /// The radix, which is the length of the alphabet.
    #[getter]
    fn radix(&self) -> u32 {
        self.ff1.radix()
    }

    /// The least number of characters or numerals that a value has.
    #[getter]
    fn min_length(&self) -> usize {
        self.ff1.min_len()
    }

    fn __repr__(&self) -> String {
        match &self.alphabet {
            Some(alphabet) => format!("<aescomb.Ff1 of {alphabet:?}>"),
            None => format!("<aescomb.Ff1 of radix {}>", self.ff1.radix()),
        }
    }

    /// Encrypts values.
    ///
    /// >>> import aescomb, pyarrow
    /// >>> ff1 = aescomb.Ff1(bytes(16), "abcdefghijklmnopqrstuvwxyz")
    /// >>> names = pyarrow.array(["grace", None, "barbara"])
    /// >>> encrypted = ff1.encrypt_many(names, b"name")
    /// >>> encrypted
    /// <aescomb.Column of 3, Utf8>
    /// >>> list(ff1.decrypt_many(encrypted, b"name"))
    /// ['grace', None, 'barbara']
    ///
    /// Numerals, with a tweak for each value:
    ///
    /// >>> dates = aescomb.Ff1(bytes(16), radix=1000)
    /// >>> encrypted = dates.encrypt_many([[1, 2], [1, 2]], [b"row 0", b"row 1"])
    /// >>> encrypted[0] == encrypted[1]
    /// False
    /// >>> dates.decrypt_many(encrypted, [b"row 0", b"row 1"])
    /// [[1, 2], [1, 2]]
    ///
    /// A key for each row:
    ///
    /// >>> tenants = aescomb.Ff1({"acme": bytes(16), "initech": b"i" * 32}, "0123456789")
    /// >>> encrypted = tenants.encrypt_many(["123456"] * 3, ids=["acme", "initech", "acme"])
    /// >>> encrypted[0] == encrypted[2] != encrypted[1]
    /// True
    /// >>> tenants.decrypt(encrypted[1], id="initech")
    /// '123456'
    #[pyo3(signature = (values, tweaks=None, *, ids=None, threads=None))]
    fn encrypt_many<'py>(
        &self,
        py: Python<'py>,
        values: Object<'_, 'py>,
        tweaks: Option<Object<'_, 'py>>,
        ids: Option<Object<'_, 'py>>,
        threads: Option<usize>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.many(py, Op::Encrypt, values, tweaks, ids, threads)
    }

    /// Decrypts values.
    #[pyo3(signature = (values, tweaks=None, *, ids=None, threads=None))]
    fn decrypt_many<'py>(
        &self,
        py: Python<'py>,
        values: Object<'_, 'py>,
        tweaks: Option<Object<'_, 'py>>,
        ids: Option<Object<'_, 'py>>,
        threads: Option<usize>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.many(py, Op::Decrypt, values, tweaks, ids, threads)
    }

    /// Encrypts one value: a string, or a sequence of integers. A batch is many times as fast.
    ///
    /// >>> import aescomb
    /// >>> ff1 = aescomb.Ff1(bytes(16), "0123456789")
    /// >>> ff1.decrypt(ff1.encrypt("0123456789", b"phones"), b"phones")
    /// '0123456789'
    #[pyo3(signature = (value, tweak=None, *, id=None))]
    fn encrypt<'py>(
        &self,
        py: Python<'py>,
        value: Object<'_, 'py>,
        tweak: Option<Object<'_, 'py>>,
        id: Option<Object<'_, 'py>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.one(py, Op::Encrypt, value, tweak, id)
    }

    /// Decrypts one value.
    #[pyo3(signature = (value, tweak=None, *, id=None))]
    fn decrypt<'py>(
        &self,
        py: Python<'py>,
        value: Object<'_, 'py>,
        tweak: Option<Object<'_, 'py>>,
        id: Option<Object<'_, 'py>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.one(py, Op::Decrypt, value, tweak, id)
    }
}
