//! [`Key`] and its methods.

use crate::arrow::{Arrow, Layout};
use crate::batch::{Batch, Outcome, Tags};
use crate::column::{self, Results};
use crate::errors;
use crate::input::{self, Column, Data, Messages, To};
use crate::memory;
use crate::mode::Mode;
use crate::output::{Lengths, Output};
use crate::packed::{Columns, Flat, Target};
use crate::present::{Chosen, Present};
use aescomb::{Algorithm, Allowed, Info, Offset, Op};
use arrow_array::{ArrayRef, OffsetSizeTrait};
use arrow_buffer::Buffer;
use arrow_schema::DataType;
use pyo3::IntoPyObjectExt;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

type Object<'a, 'py> = &'a Bound<'py, PyAny>;

/// Bytes of messages from which on the interpreter lock is released.
const RELEASE: usize = 2048;

/// A key for one mode.
///
/// ``mode`` is a name such as ``"gcm"`` or ``"aes-128-gcm"``; ``modes()`` lists them. ``key``
/// has 16, 24 or 32 bytes, or twice as many for modes with two keys.
///
/// Batches. ``messages`` are a list of bytes-like objects, a two-dimensional NumPy array of
/// ``uint8`` (a message a row), or an Arrow column: any object with ``__arrow_c_array__`` or
/// ``__arrow_c_stream__``. Results have the same form: a list of ``bytes``, a new array, an
/// Arrow ``Column``. ``nonces``, ``associated_data`` and ``tags``
/// have any of these forms too, whatever that of the messages; nonces and tags also may be
/// one bytes-like object, one after the other in it. ``associated_data`` may be one
/// bytes-like object for all messages. Where a mode takes several components, a tuple has
/// the place of the bytes-like object.
///
/// Arrow columns are of bytes, of text (its UTF-8), or of booleans, numbers, decimals, dates or
/// times (the bytes of the value in Arrow, the lowest first; 0 or 1 for a boolean). Results are
/// bytes; ``to`` names the type of decrypted and opened ones.
///
/// Nulls, which are ``None`` in a list, stay null: nothing is read of them, and what belongs
/// to their rows in ``nonces`` and ``associated_data`` is not looked at. There, a null that
/// belongs to a message is a mistake.
///
/// ``bytes`` and Arrow columns are read where they are; so are the messages of an array,
/// which must not be written to while a call runs. Of everything else a copy is taken. The
/// interpreter lock is released for batches of two kilobytes or more: one key may be
/// used by many threads at a time.
///
/// Mistakes raise ``InputError`` before any message is touched, and damaged Arrow columns
/// ``ValueError``; objects of a wrong type raise ``TypeError``. Messages that fail raise
/// ``OpenError`` with their indices; with ``on_failure="return"`` results come with a list of
/// those indices instead, and are ``None`` (null in a column, zero in an array) at these places.
///
/// >>> import aescomb
/// >>> key = aescomb.Key("aes-128-ccm", bytes(16))
/// >>> key, key.key_bits
/// (<aescomb.Key aes-128-ccm>, 128)
// In a box, as it is aligned to more than Python's allocator promises.
#[pyclass(frozen, module = "aescomb")]
pub(crate) struct Key(Box<aescomb::Key>);

/// What a call is given.
struct Call<'a, 'py> {
    messages: Messages<'py>,
    nonces: Option<Column<'py>>,
    data: Data<'py>,
    tags: GivenTags<'py>,
    opened: Option<Vec<usize>>,
    to: Option<To>,
    out: Option<Object<'a, 'py>>,
}

enum GivenTags<'py> {
    Bytes(usize),
    Column(Column<'py>),
}

impl<'py> Call<'_, 'py> {
    fn new(messages: Messages<'py>, nonces: Option<Column<'py>>) -> Self {
        Call {
            messages,
            nonces,
            data: Data::Same(Vec::new()),
            tags: GivenTags::Bytes(0),
            opened: None,
            to: None,
            out: None,
        }
    }

    /// Of tags that are made or at the ends of texts.
    fn tag_bytes(&self) -> usize {
        match self.tags {
            GivenTags::Bytes(bytes) => bytes,
            GivenTags::Column(_) => 0,
        }
    }
}

/// A part of a column of messages whose parts all lie one after the other.
struct Packable<'a, O: Clone> {
    rows: Chosen<'a>,
    columns: Columns<'a, O>,
}

/// Results and the messages that failed.
struct Done<'py> {
    results: Option<Bound<'py, PyAny>>,
    failed: Vec<usize>,
    messages: usize,
}

impl<'py> Done<'py> {
    /// Results, if no message failed.
    fn good(self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        match &self.failed[..] {
            [] => Ok(self.results.unwrap_or_else(|| py.None().into_bound(py))),
            failed => Err(errors::failed(failed, self.messages)),
        }
    }

    /// The one result.
    fn one(self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.good(py)?.get_item(0)
    }

    fn reported(self, py: Python<'py>, told: OnFailure) -> PyResult<Bound<'py, PyAny>> {
        match (told, self.results) {
            (OnFailure::Return, Some(results)) => (results, self.failed)
                .into_pyobject(py)
                .map(Bound::into_any),
            (OnFailure::Return, None) => self.failed.into_pyobject(py),
            (OnFailure::Raise, results) => Done { results, ..self }.good(py),
        }
    }
}

#[derive(Clone, Copy)]
enum OnFailure {
    Raise,
    Return,
}

impl OnFailure {
    fn new(name: &str) -> PyResult<Self> {
        match name {
            "raise" => Ok(OnFailure::Raise),
            "return" => Ok(OnFailure::Return),
            other => Err(PyValueError::new_err(format!(
                "on_failure: expected 'raise' or 'return', not '{other}'"
            ))),
        }
    }
}

impl Key {
    fn info(&self) -> &'static Info {
        self.0.mode().info()
    }

    fn nonces<'py>(&self, nonces: Option<Object<'_, 'py>>) -> PyResult<Option<Column<'py>>> {
        let usual = self.info().usual_nonce();
        nonces
            .map(|object| Column::new(object, "nonces", usual))
            .transpose()
    }

    fn nonce<'py>(nonce: Option<Object<'_, 'py>>) -> PyResult<Option<Column<'py>>> {
        let column = |object| Ok(Column::Items(vec![Some(input::bytes(object, "nonce")?)]));
        nonce.map(column).transpose()
    }

    fn message<'py>(message: Object<'_, 'py>) -> PyResult<Messages<'py>> {
        Ok(Messages::Items(vec![Some(input::bytes(
            message, "message",
        )?)]))
    }

    fn check_op(&self, op: Op) -> PyResult<()> {
        let mode = self.0.mode();
        let has = mode.info().kind.ops();
        if has.contains(&op) {
            return Ok(());
        }
        let given = Op::ALL.iter().position(|known| *known == op);
        let what = format!("{mode} cannot {}", op.name());
        let allowed = format!("{} and {}", has[0].name(), has[1].name());
        Err(errors::input(
            None,
            "operation",
            &what,
            given.unwrap_or(0),
            allowed,
        ))
    }

    fn tag_bytes(&self, op: Op, given: Option<usize>) -> PyResult<GivenTags<'static>> {
        self.check_op(op)?;
        let info = self.info();
        let given = given.unwrap_or(info.longest_tag());
        if info.tag_bytes.contains(&given) {
            return Ok(GivenTags::Bytes(given));
        }
        let what = format!("tag of {given} bytes");
        let allowed = Allowed::OneOf(info.tag_bytes);
        Err(errors::input(None, "tag_length", &what, given, allowed))
    }

    /// Checks what may be right with one message and wrong with another: large batches go
    /// to the library in pieces, and mistakes are to be found before the first.
    fn check(&self, batch: &Batch<'_>, rows: Chosen<'_>) -> PyResult<()> {
        let info = self.info();
        let (least, most) = info.nonce_bytes;
        for i in 0..batch.sources.len() {
            let nonce = batch.nonces.get(i).map_or(0, |nonce| nonce.len());
            if !(least..=most).contains(&nonce) {
                let what = format!("nonce of {nonce} bytes");
                let allowed = match most {
                    0 => Allowed::Nothing,
                    _ if least == most => Allowed::Exactly(most),
                    _ => Allowed::Between(least, most),
                };
                return Err(errors::input(
                    Some(rows.row(i)),
                    "nonce_length",
                    &what,
                    nonce,
                    allowed,
                ));
            }
            let components = batch.data.of(i).len();
            if components > info.data_components {
                let what = format!("associated data of {components} components");
                let allowed = match info.data_components {
                    0 => Allowed::Nothing,
                    most => Allowed::AtMost(most),
                };
                return Err(errors::input(
                    Some(rows.row(i)),
                    "data_count",
                    &what,
                    components,
                    allowed,
                ));
            }
        }
        Ok(())
    }

    /// Bytes that the result of a message has, or has at most.
    fn result(&self, op: Op, len: usize, tag_bytes: usize) -> usize {
        match op {
            Op::Encrypt => self.info().encrypted_len(len),
            Op::Seal => self.info().encrypted_len(len) + tag_bytes,
            Op::Decrypt => len,
            // One that is too short is refused.
            Op::Open => len.saturating_sub(tag_bytes),
            Op::Mac => tag_bytes,
            Op::Verify => 0,
        }
    }

    /// The type of a column of results.
    fn results_type(
        &self,
        op: Op,
        lengths: Lengths,
        messages: Layout,
        call: &Call<'_, '_>,
    ) -> PyResult<DataType> {
        let tag_bytes = call.tag_bytes();
        let fixed = |width: usize| match i32::try_from(width) {
            Ok(width) => Ok(DataType::FixedSizeBinary(width)),
            Err(_) => {
                let what = format!("results of {width} bytes each");
                Err(errors::input(None, "output_length", &what, width, i32::MAX))
            }
        };
        if op == Op::Mac {
            return fixed(tag_bytes);
        }
        Ok(match (&call.to, messages) {
            (Some(To::Type(of)), _) => of.clone(),
            (Some(To::Text), Layout::Binary | Layout::FixedSize(_) | Layout::Bits) => {
                DataType::Utf8
            }
            (Some(To::Text), Layout::LargeBinary) => DataType::LargeUtf8,
            (Some(To::Text), Layout::View) => DataType::Utf8View,
            (_, Layout::Binary) => DataType::Binary,
            (_, Layout::LargeBinary) => DataType::LargeBinary,
            (_, Layout::View) => DataType::BinaryView,
            (_, Layout::FixedSize(_) | Layout::Bits) if lengths == Lengths::Shorter => {
                DataType::LargeBinary
            }
            (_, Layout::FixedSize(width)) => fixed(self.result(op, width, tag_bytes))?,
            (_, Layout::Bits) => fixed(self.result(op, 1, tag_bytes))?,
        })
    }

    /// Does a call of which all parts are columns with such offsets, or with values of one
    /// length; others are left.
    fn run_columns<'py, O: Offset + OffsetSizeTrait>(
        &self,
        py: Python<'py>,
        op: Op,
        call: &Call<'_, 'py>,
        (messages, present): (&Arrow, &Present),
        of: &DataType,
    ) -> PyResult<Option<Done<'py>>> {
        let rows = present.whole();
        let n = rows.range().len();
        let packable = |part| {
            let rows = rows.within(part);
            let nonces = match &call.nonces {
                Some(column) => Some(column.flat(rows, n)?),
                None => None,
            };
            let columns = Columns {
                texts: messages.packed_values::<O>(rows)?,
                count: rows.count(),
                nonces,
                data: call.data.packed_values(rows, n)?,
            };
            Some(Packable { rows, columns })
        };
        let parts = messages.ranges().map(packable).collect::<Option<Vec<_>>>();
        let Some(parts) = parts else {
            return Ok(None);
        };
        let (mut arrays, mut failed) = (Vec::new(), Vec::new());
        for Packable { rows, columns } in &parts {
            let run = |into| {
                let key = &*self.0;
                let done = match columns.bytes() < RELEASE {
                    true => columns.run(key, op, into),
                    false => py.detach(|| columns.run(key, op, into)),
                };
                let refused = |(error, start)| errors::refused(error, |i| rows.row(start + i));
                done.map_err(refused)
            };
            let bad = match (op, &call.tags) {
                (Op::Verify, GivenTags::Column(tags)) => {
                    let Some(Flat { bytes, width }) = tags.flat(*rows, n) else {
                        return Ok(None);
                    };
                    run(Target::Tags(&mut bytes.into_owned(), width))?
                }
                (Op::Mac, _) => {
                    let width = call.tag_bytes();
                    let mut tags = errors::room(columns.count * width)?;
                    tags.resize(columns.count * width, 0);
                    let failed = run(Target::Tags(&mut tags, width))?;
                    let ends = (0..=columns.count).map(|i| O::usize_as(i * width));
                    arrays.push(made(tags, ends.collect(), *rows, &failed, of)?);
                    failed
                }
                _ => {
                    let tag_bytes = call.tag_bytes();
                    let (ends, total) = columns.results(|len| self.result(op, len, tag_bytes))?;
                    column::fits(total, of)?;
                    let mut memory = errors::room(total)?;
                    let into = Target::Texts(&ends, memory.spare_capacity_mut(), tag_bytes);
                    let failed = run(into)?;
                    let written = memory::written(memory, total);
                    arrays.push(made(written, ends, *rows, &failed, of)?);
                    failed
                }
            };
            failed.extend(bad.into_iter().map(|i| rows.row(i)));
        }
        let results = match op {
            Op::Verify => None,
            _ => Some(column::Column::new(arrays, of.clone()).into_bound_py_any(py)?),
        };
        Ok(Some(Done {
            results,
            failed,
            messages: n,
        }))
    }

    fn run<'py>(&self, py: Python<'py>, op: Op, call: Call<'_, 'py>) -> PyResult<Done<'py>> {
        self.check_op(op)?;
        let lengths = match (op, self.info().lengths) {
            (Op::Mac, _) => Lengths::OfTags,
            (Op::Decrypt, aescomb::Lengths::Padded)
            | (Op::Open, aescomb::Lengths::Filled | aescomb::Lengths::Untold) => Lengths::Shorter,
            _ => Lengths::Known,
        };
        let present = call.messages.present()?;
        let of = match &call.messages {
            Messages::Arrow(column) => {
                Some(self.results_type(op, lengths, column.layout(), &call)?)
            }
            _ if call.to.is_some() => {
                let text = "to: only results of an Arrow column have a type";
                return Err(PyTypeError::new_err(text));
            }
            _ => None,
        };
        let rows = present.whole();
        let n = rows.range().len();
        if let (Messages::Arrow(column), Some(of), None) = (&call.messages, &of, call.out)
            && call.opened.is_none()
            && lengths != Lengths::Shorter
            // A null may have a tag, which is wrong.
            && (op != Op::Verify || rows.are_all())
        {
            let messages = (column, &present);
            if let Some(done) = self.run_columns::<i32>(py, op, &call, messages, of)? {
                return Ok(done);
            }
            if let Some(done) = self.run_columns::<i64>(py, op, &call, messages, of)? {
                return Ok(done);
            }
        }
        let sources = call.messages.sources(rows)?;
        let nonces = match &call.nonces {
            Some(column) => column.slices("nonces", rows)?,
            None => Vec::new(),
        };
        if let Some(lengths) = &call.opened {
            errors::count("opened_lengths", lengths.len(), n)?;
        }
        let tag_bytes = call.tag_bytes();
        let lens: Vec<usize> = sources
            .iter()
            .map(|source| self.result(op, source.len(), tag_bytes))
            .collect();
        let mut tags: Vec<Vec<u8>> = Vec::new();
        let mut alone = Vec::new();
        if let GivenTags::Column(column) = &call.tags {
            let slices = column.slices("tags", rows)?;
            tags = slices.into_iter().map(<[u8]>::to_vec).collect();
            if !rows.are_all() {
                let tagged = column.present()?;
                alone = tagged.without(rows);
            }
        }
        let mut batch = Batch {
            sources,
            nonces,
            data: call.data.slices(rows)?,
            tags: match op {
                Op::Mac => Tags::Made,
                Op::Verify => Tags::Given(tags.iter_mut().map(|tag| &mut tag[..]).collect()),
                _ => Tags::Appended(tag_bytes),
            },
            opened: call
                .opened
                .map(|lengths| rows.rows().map(|i| lengths[i]).collect()),
            places: Vec::new(),
            lengths,
        };
        self.check(&batch, rows)?;
        let mut output = match op {
            Op::Verify => None,
            _ => {
                let lens = (&lens[..], lengths);
                Some(Output::new(py, &call.messages, rows, lens, of, call.out)?)
            }
        };
        if let Some(output) = &mut output {
            batch.places = output.places(&lens);
        }
        let key = &*self.0;
        let outcome = match batch.bytes() < RELEASE {
            true => batch.run(key, op),
            false => py.detach(|| batch.run(key, op)),
        };
        let Outcome {
            failed,
            lens: shorter,
        } = outcome.map_err(|(error, start)| errors::refused(error, |i| rows.row(start + i)))?;
        let results = match output {
            Some(output) => {
                Some(output.finish(py, &call.messages, rows, lens, shorter, &failed)?)
            }
            None => None,
        };
        let mut failed: Vec<usize> = failed.into_iter().map(|i| rows.row(i)).collect();
        failed.append(&mut alone);
        failed.sort_unstable();
        Ok(Done {
            results,
            failed,
            messages: n,
        })
    }
}

/// An array of these results.
fn made<O: OffsetSizeTrait>(
    bytes: Vec<u8>,
    ends: Vec<O>,
    rows: Chosen<'_>,
    failed: &[usize],
    of: &DataType,
) -> PyResult<ArrayRef> {
    let bytes = Buffer::from_vec(bytes);
    let results = Results {
        bytes,
        ends,
        rows,
        failed,
    };
    results.array(of)
}

#[pymethods]
impl Key {
    #[new]
    fn new(mode: &str, key: Object<'_, '_>) -> PyResult<Self> {
        let unknown = |error: aescomb::UnknownName| PyValueError::new_err(error.to_string());
        let key = input::bytes(key, "key")?;
        let given = mode.parse::<Algorithm>();
        let mode = match given {
            Ok(algorithm) => algorithm.mode,
            Err(_) => mode.parse().map_err(unknown)?,
        };
        let key = aescomb::Key::new(mode, key.as_bytes())
            .map_err(|error| errors::refused(error, |i| i))?;
        match given {
            Ok(algorithm) if algorithm != key.algorithm() => {
                let (given, bits) = (key.algorithm().key_bits, algorithm.key_bits);
                let what = format!("key of {given} bits for {algorithm}");
                Err(errors::input(None, "key_length", &what, given, bits))
            }
            _ => Ok(Key(Box::new(key))),
        }
    }

    /// The mode it was made for.
    #[getter]
    fn mode(&self) -> Mode {
        Mode(self.0.mode())
    }

    /// Bits of an AES key: 128, 192 or 256. A mode with two keys takes twice as many.
    #[getter]
    fn key_bits(&self) -> usize {
        self.0.algorithm().key_bits
    }

    fn __repr__(&self) -> String {
        format!("<aescomb.Key {}>", self.0.algorithm())
    }

    /// Encrypts messages, in a mode that does not authenticate.
    ///
    /// ``nonces`` are initialisation vectors, initial counter blocks or tweaks; ``None`` for
    /// ECB. ``out`` is an array for the results of an array, which may be the messages' own.
    ///
    /// >>> import aescomb
    /// >>> key = aescomb.Key("ctr", bytes(16))
    /// >>> nonces = [bytes([i]) + bytes(15) for i in range(2)]
    /// >>> encrypted = key.encrypt_many(nonces, [b"one", b"two"])
    /// >>> key.decrypt_many(nonces, encrypted)
    /// [b'one', b'two']
    ///
    /// An array in place:
    ///
    /// >>> import numpy
    /// >>> records = numpy.zeros((2, 24), "uint8")
    /// >>> key.encrypt_many(nonces, records, out=records) is records
    /// True
    #[pyo3(signature = (nonces, messages, *, out=None))]
    fn encrypt_many<'py>(
        &self,
        py: Python<'py>,
        nonces: Option<Object<'_, 'py>>,
        messages: Object<'_, 'py>,
        out: Option<Object<'_, 'py>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let call = Call {
            out,
            ..Call::new(Messages::new(messages)?, self.nonces(nonces)?)
        };
        self.run(py, Op::Encrypt, call)?.good(py)
    }

    /// Decrypts messages, in a mode that does not authenticate. Messages can fail only where
    /// padding is taken off.
    ///
    /// ``to`` is the type of a column of results: ``"binary"``, ``"string"``, ``"bool"``, the
    /// name of a type of numbers such as ``"int64"``, or an object with ``__arrow_c_schema__``
    /// such as ``pyarrow.timestamp("us")``. ``"binary"`` and ``"string"`` have offsets of as
    /// many bits, or views, as the messages have.
    ///
    /// >>> import aescomb
    /// >>> key = aescomb.Key("cbc-pkcs7", bytes(16))
    /// >>> encrypted = key.encrypt_many(bytes(2 * 16), [b"one", b"two"])
    /// >>> encrypted[1] = bytes(16)
    /// >>> key.decrypt_many(bytes(2 * 16), encrypted, on_failure="return")
    /// ([b'one', None], [1])
    #[pyo3(signature = (nonces, messages, *, to=None, on_failure="raise", out=None))]
    #[allow(clippy::too_many_arguments)]
    fn decrypt_many<'py>(
        &self,
        py: Python<'py>,
        nonces: Option<Object<'_, 'py>>,
        messages: Object<'_, 'py>,
        to: Option<Object<'_, 'py>>,
        on_failure: &str,
        out: Option<Object<'_, 'py>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let told = OnFailure::new(on_failure)?;
        let call = Call {
            to: to.map(To::new).transpose()?,
            out,
            ..Call::new(Messages::new(messages)?, self.nonces(nonces)?)
        };
        self.run(py, Op::Decrypt, call)?.reported(py, told)
    }

    /// Encrypts messages and puts a tag after each.
    ///
    /// ``tag_bytes`` is the length of the tags: by default the longest of the mode.
    ///
    /// >>> import aescomb
    /// >>> key = aescomb.Key("gcm", bytes(16))
    /// >>> nonces = [i.to_bytes(12, "big") for i in range(2)]
    /// >>> sealed = key.seal_many(nonces, [b"one", b"two"], b"for all messages")
    /// >>> [len(message) for message in sealed]
    /// [19, 19]
    /// >>> sealed = key.seal_many(nonces, [b"one", b"two"], [b"for one", b"for two"])
    #[pyo3(signature = (nonces, messages, associated_data=None, *, tag_bytes=None, out=None))]
    fn seal_many<'py>(
        &self,
        py: Python<'py>,
        nonces: Option<Object<'_, 'py>>,
        messages: Object<'_, 'py>,
        associated_data: Option<Object<'_, 'py>>,
        tag_bytes: Option<usize>,
        out: Option<Object<'_, 'py>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let call = Call {
            data: Data::of_batch(associated_data)?,
            tags: self.tag_bytes(Op::Seal, tag_bytes)?,
            out,
            ..Call::new(Messages::new(messages)?, self.nonces(nonces)?)
        };
        self.run(py, Op::Seal, call)?.good(py)
    }

    /// Checks the tags of messages and decrypts them.
    ///
    /// ``opened_lengths`` are the lengths of the opened messages, for Julius, which does not
    /// tell them. ``to`` is the type of a column of results, as in ``decrypt_many``.
    ///
    /// >>> import aescomb
    /// >>> key = aescomb.Key("gcm", bytes(16))
    /// >>> nonces = [i.to_bytes(12, "big") for i in range(2)]
    /// >>> sealed = key.seal_many(nonces, [b"one", b"two"])
    /// >>> key.open_many(nonces, sealed)
    /// [b'one', b'two']
    /// >>> sealed[0] = bytes(19)
    /// >>> key.open_many(nonces, sealed)
    /// Traceback (most recent call last):
    /// aescomb.OpenError: 1 of 2 messages failed: 0
    /// >>> key.open_many(nonces, sealed, on_failure="return")
    /// ([None, b'two'], [0])
    #[pyo3(signature = (
        nonces, messages, associated_data=None, *, tag_bytes=None, opened_lengths=None, to=None,
        on_failure="raise", out=None
    ))]
    #[allow(clippy::too_many_arguments)]
    fn open_many<'py>(
        &self,
        py: Python<'py>,
        nonces: Option<Object<'_, 'py>>,
        messages: Object<'_, 'py>,
        associated_data: Option<Object<'_, 'py>>,
        tag_bytes: Option<usize>,
        opened_lengths: Option<Object<'_, 'py>>,
        to: Option<Object<'_, 'py>>,
        on_failure: &str,
        out: Option<Object<'_, 'py>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let told = OnFailure::new(on_failure)?;
        let call = Call {
            data: Data::of_batch(associated_data)?,
            tags: self.tag_bytes(Op::Open, tag_bytes)?,
            opened: opened_lengths.map(input::lengths).transpose()?,
            to: to.map(To::new).transpose()?,
            out,
            ..Call::new(Messages::new(messages)?, self.nonces(nonces)?)
        };
        self.run(py, Op::Open, call)?.reported(py, told)
    }

    /// Makes the tags of messages. Only GMAC takes nonces.
    ///
    /// >>> import aescomb
    /// >>> key = aescomb.Key("cmac", bytes(16))
    /// >>> [tag.hex() for tag in key.mac_many([b"one", b"two"], tag_bytes=8)]
    /// ['15cf9f78bfb166db', '968940b6c7f4cf30']
    #[pyo3(signature = (messages, nonces=None, *, tag_bytes=None))]
    fn mac_many<'py>(
        &self,
        py: Python<'py>,
        messages: Object<'_, 'py>,
        nonces: Option<Object<'_, 'py>>,
        tag_bytes: Option<usize>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let call = Call {
            tags: self.tag_bytes(Op::Mac, tag_bytes)?,
            ..Call::new(Messages::new(messages)?, self.nonces(nonces)?)
        };
        self.run(py, Op::Mac, call)?.good(py)
    }

    /// Checks the tags of messages; with ``on_failure="return"`` returns the indices of those
    /// whose tags are wrong. A null has no tag: if it is given one, that is wrong.
    ///
    /// >>> import aescomb
    /// >>> key = aescomb.Key("cmac", bytes(16))
    /// >>> tags = key.mac_many([b"one", b"two"])
    /// >>> key.verify_many([b"one", b"two"], tags)
    /// >>> key.verify_many([b"one", b"too"], tags, on_failure="return")
    /// [1]
    #[pyo3(signature = (messages, tags, nonces=None, *, on_failure="raise"))]
    fn verify_many<'py>(
        &self,
        py: Python<'py>,
        messages: Object<'_, 'py>,
        tags: Object<'_, 'py>,
        nonces: Option<Object<'_, 'py>>,
        on_failure: &str,
    ) -> PyResult<Bound<'py, PyAny>> {
        let told = OnFailure::new(on_failure)?;
        let tags = Column::new(tags, "tags", self.info().longest_tag())?;
        let call = Call {
            tags: GivenTags::Column(tags),
            ..Call::new(Messages::new(messages)?, self.nonces(nonces)?)
        };
        self.run(py, Op::Verify, call)?.reported(py, told)
    }

    /// Encrypts one message. Batches are many times as fast in modes that are serial.
    #[pyo3(signature = (nonce, message))]
    fn encrypt<'py>(
        &self,
        py: Python<'py>,
        nonce: Option<Object<'_, 'py>>,
        message: Object<'_, 'py>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let call = Call::new(Key::message(message)?, Key::nonce(nonce)?);
        self.run(py, Op::Encrypt, call)?.one(py)
    }

    /// Decrypts one message.
    #[pyo3(signature = (nonce, message))]
    fn decrypt<'py>(
        &self,
        py: Python<'py>,
        nonce: Option<Object<'_, 'py>>,
        message: Object<'_, 'py>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let call = Call::new(Key::message(message)?, Key::nonce(nonce)?);
        self.run(py, Op::Decrypt, call)?.one(py)
    }

    /// Encrypts one message and puts a tag after it.
    ///
    /// >>> import aescomb
    /// >>> key = aescomb.Key("gcm", bytes(16))
    /// >>> sealed = key.seal(bytes(12), b"a message", b"its header")
    /// >>> key.open(bytes(12), sealed, b"its header")
    /// b'a message'
    #[pyo3(signature = (nonce, message, associated_data=None, *, tag_bytes=None))]
    fn seal<'py>(
        &self,
        py: Python<'py>,
        nonce: Option<Object<'_, 'py>>,
        message: Object<'_, 'py>,
        associated_data: Option<Object<'_, 'py>>,
        tag_bytes: Option<usize>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let call = Call {
            data: Data::of_one(associated_data)?,
            tags: self.tag_bytes(Op::Seal, tag_bytes)?,
            ..Call::new(Key::message(message)?, Key::nonce(nonce)?)
        };
        self.run(py, Op::Seal, call)?.one(py)
    }

    /// Checks the tag of one message and decrypts it.
    #[pyo3(signature = (
        nonce, message, associated_data=None, *, tag_bytes=None, opened_length=None
    ))]
    fn open<'py>(
        &self,
        py: Python<'py>,
        nonce: Option<Object<'_, 'py>>,
        message: Object<'_, 'py>,
        associated_data: Option<Object<'_, 'py>>,
        tag_bytes: Option<usize>,
        opened_length: Option<usize>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let call = Call {
            data: Data::of_one(associated_data)?,
            tags: self.tag_bytes(Op::Open, tag_bytes)?,
            opened: opened_length.map(|len| vec![len]),
            ..Call::new(Key::message(message)?, Key::nonce(nonce)?)
        };
        self.run(py, Op::Open, call)?.one(py)
    }

    /// Makes the tag of one message.
    ///
    /// >>> import aescomb
    /// >>> key = aescomb.Key("cmac", bytes(16))
    /// >>> key.verify(b"a message", key.mac(b"a message"))
    #[pyo3(signature = (message, nonce=None, *, tag_bytes=None))]
    fn mac<'py>(
        &self,
        py: Python<'py>,
        message: Object<'_, 'py>,
        nonce: Option<Object<'_, 'py>>,
        tag_bytes: Option<usize>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let call = Call {
            tags: self.tag_bytes(Op::Mac, tag_bytes)?,
            ..Call::new(Key::message(message)?, Key::nonce(nonce)?)
        };
        self.run(py, Op::Mac, call)?.one(py)
    }

    /// Checks the tag of one message.
    #[pyo3(signature = (message, tag, nonce=None))]
    fn verify<'py>(
        &self,
        py: Python<'py>,
        message: Object<'_, 'py>,
        tag: Object<'_, 'py>,
        nonce: Option<Object<'_, 'py>>,
    ) -> PyResult<()> {
        let tags = Column::Items(vec![Some(input::bytes(tag, "tag")?)]);
        let call = Call {
            tags: GivenTags::Column(tags),
            ..Call::new(Key::message(message)?, Key::nonce(nonce)?)
        };
        self.run(py, Op::Verify, call)?.good(py).map(|_| ())
    }
}
