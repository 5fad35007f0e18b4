//! What a call is given, and how it is done.

use crate::array::Layout;
use crate::arrow::Arrow;
use crate::batch::{Batch, Outcome, Tags};
use crate::column;
use crate::errors;
use crate::input::{Column, Data, Messages, Nonces, To};
use crate::key::{Held, Key};
use crate::output::{Lengths, Output};
use aescomb::{Allowed, Info, Offset, Op};
use aescomb_columns::values::{
    self, Chosen, Columns, Flat, Keep, Keyed, Made, Present, Results, Soon, Stopped, Values,
};
use arrow_array::{ArrayRef, OffsetSizeTrait};
use arrow_buffer::{Buffer, ScalarBuffer};
use arrow_schema::DataType;
use pyo3::IntoPyObjectExt;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use std::mem::MaybeUninit;
use std::num::NonZeroUsize;
use std::ops::Range;

type Object<'a, 'py> = &'a Bound<'py, PyAny>;

/// Bytes of messages from which on the interpreter lock is released.
pub(crate) const RELEASE: usize = 2048;

/// What a call is given.
pub(crate) struct Call<'a, 'py> {
    pub(crate) messages: Messages<'py>,
    pub(crate) nonces: Nonces<'py>,
    pub(crate) data: Data<'py>,
    pub(crate) tags: GivenTags<'py>,
    pub(crate) opened: Option<Vec<usize>>,
    pub(crate) to: Option<To>,
    pub(crate) out: Option<Object<'a, 'py>>,
    /// The most that work on it.
    pub(crate) threads: NonZeroUsize,
}

pub(crate) enum GivenTags<'py> {
    Bytes(usize),
    Column(Column<'py>),
}

impl<'py> Call<'_, 'py> {
    pub(crate) fn new(messages: Messages<'py>, nonces: Nonces<'py>) -> Self {
        Call {
            messages,
            nonces,
            data: Data::Same(Vec::new()),
            tags: GivenTags::Bytes(0),
            opened: None,
            to: None,
            out: None,
            threads: NonZeroUsize::MIN,
        }
    }

    /// Bytes of the nonce in front of what is sealed or encrypted.
    fn inline(&self) -> usize {
        match self.nonces {
            Nonces::Inline(width) => width,
            _ => 0,
        }
    }

    /// Of tags that are made or at the ends of texts.
    pub(crate) fn tag_bytes(&self) -> usize {
        match self.tags {
            GivenTags::Bytes(bytes) => bytes,
            GivenTags::Column(_) => 0,
        }
    }
}

/// A part of a column of messages that lie one after the other.
struct Packable<'a, O: Clone> {
    /// Its rows that have a message.
    rows: Chosen<'a>,
    /// Of all rows.
    texts: Values<'a, O>,
    /// Of messages.
    nonces: Option<Flat<'a>>,
    /// Of messages.
    data: Option<values::Data<'a, O>>,
    /// Bytes of nonces that are made.
    random: usize,
    /// Bytes of nonces in front of messages, and of the least message.
    behind: Option<(usize, usize)>,
}

impl<'a, O: Offset + OffsetSizeTrait> Packable<'a, O> {
    /// Bytes of messages.
    fn bytes(&self) -> usize {
        self.texts.bytes_of(0..self.rows.range().len())
    }

    /// Whether all messages have a nonce in front of them and a tag, if they should.
    fn can_open(&self) -> bool {
        let least = self.behind.map_or(0, |(_, least)| least);
        least == 0 || self.rows.places().all(|i| self.texts.len_of(i) >= least)
    }

    /// Those of these of its rows, whose results go there.
    fn columns(
        &self,
        rows: Range<usize>,
        results: &[MaybeUninit<u8>],
    ) -> Result<Columns<'_, O>, Stopped> {
        let start = self.rows.range().start;
        let own = self.rows.within(start + rows.start..start + rows.end);
        let messages = self.rows.before(start + rows.start);
        let messages = messages..messages + own.count();
        let soon = Soon {
            read: self.texts.span(rows.clone()),
            written: results,
        };
        let texts = self.texts.part(rows).chosen(own);
        let (texts, nonces) = match (self.behind, self.random) {
            (Some((width, _)), _) => {
                let (texts, nonces) = texts.behind(width);
                (texts, Some(nonces))
            }
            (None, 0) => {
                let nonces = self.nonces.as_ref();
                (texts, nonces.map(|nonces| nonces.part(messages.clone())))
            }
            (None, width) => {
                let bytes = values::nonces_before(&soon, own.count(), width);
                let bytes = bytes.map_err(Stopped::System)?;
                let bytes = bytes.into();
                (texts, Some(Flat { bytes, width }))
            }
        };
        Ok(Columns {
            texts,
            count: own.count(),
            nonces,
            data: self.data.as_ref().map(|data| data.part(messages)),
            prefixes: None,
            inline: self.random > 0,
        })
    }
}

/// Results and the messages that failed.
pub(crate) struct Done<'py> {
    pub(crate) results: Option<Bound<'py, PyAny>>,
    pub(crate) failed: Vec<usize>,
    pub(crate) messages: usize,
}

impl<'py> Done<'py> {
    /// Results, if no message failed.
    pub(crate) fn good(self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        match &self.failed[..] {
            [] => Ok(self.results.unwrap_or_else(|| py.None().into_bound(py))),
            failed => Err(errors::failed(failed, self.messages)),
        }
    }

    /// The one result.
    pub(crate) fn one(self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.good(py)?.get_item(0)
    }

    pub(crate) fn reported(self, py: Python<'py>, told: OnFailure) -> PyResult<Bound<'py, PyAny>> {
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
pub(crate) enum OnFailure {
    Raise,
    Return,
}

impl OnFailure {
    pub(crate) fn new(name: &str) -> PyResult<Self> {
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
    pub(crate) fn info(&self) -> &'static Info {
        self.any().mode().info()
    }

    fn check_op(&self, op: Op) -> PyResult<()> {
        let mode = self.any().mode();
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

    pub(crate) fn tag_bytes(&self, op: Op, given: Option<usize>) -> PyResult<GivenTags<'static>> {
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
    pub(crate) fn check(&self, batch: &Batch<'_>, row: impl Fn(usize) -> usize) -> PyResult<()> {
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
                    Some(row(i)),
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
                    Some(row(i)),
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
    pub(crate) fn result(&self, op: Op, len: usize, tag_bytes: usize) -> usize {
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

    /// As [`Key::result`], with the nonce if there is one.
    fn result_of(&self, op: Op, call: &Call<'_, '_>, len: usize) -> usize {
        let (inline, tag_bytes) = (call.inline(), call.tag_bytes());
        match op {
            Op::Encrypt | Op::Seal => inline + self.result(op, len, tag_bytes),
            _ => self.result(op, len.saturating_sub(inline), tag_bytes),
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
        let fixed = |width: usize| match i32::try_from(width) {
            Ok(width) => Ok(DataType::FixedSizeBinary(width)),
            Err(_) => {
                let what = format!("results of {width} bytes each");
                Err(errors::input(None, "output_length", &what, width, i32::MAX))
            }
        };
        if op == Op::Mac {
            return fixed(call.tag_bytes());
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
            (_, Layout::FixedSize(width)) => fixed(self.result_of(op, call, width))?,
            (_, Layout::Bits) => fixed(self.result_of(op, call, 1))?,
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
        keys: &Keyed<'_>,
        of: &DataType,
    ) -> PyResult<Option<Done<'py>>> {
        let rows = present.whole();
        let n = rows.range().len();
        let inline = if opens(op) { 0 } else { call.inline() };
        let packable = |part| {
            let rows = rows.within(part);
            let nonces = match &call.nonces {
                Nonces::Each(column) => Some(column.flat(rows, n)?),
                _ => None,
            };
            let packable = Packable {
                rows,
                texts: messages.packed_values::<O>(rows.range())?,
                nonces,
                data: call.data.packed(rows, n)?,
                random: inline,
                behind: match call.nonces {
                    Nonces::Inline(width) if opens(op) => Some((width, width + call.tag_bytes())),
                    _ => None,
                },
            };
            packable.can_open().then_some(packable)
        };
        let parts = messages.ranges().map(packable).collect::<Option<Vec<_>>>();
        let Some(parts) = parts else {
            return Ok(None);
        };
        let (mut arrays, mut failed, mut done) = (Vec::new(), Vec::new(), 0);
        for part in &parts {
            let (rows, first) = (part.rows, done);
            let count = rows.count();
            done += count;
            let bytes = part.bytes();
            let stopped = |stopped| match stopped {
                Stopped::Memory(error) => errors::system(error.into()),
                Stopped::System(error) => errors::system(error),
                Stopped::Unfit(why) => errors::unfit(why),
                Stopped::Refused(error, start) => errors::refused(error, |i| rows.row(start + i)),
            };
            let threads = call.threads;
            let tags = |tags: &mut [u8], width| {
                let mut run = || {
                    let columns = part.columns(0..rows.range().len(), &[])?;
                    let tags = columns.tags(threads, keys, first..done, op, (tags, width));
                    tags.map_err(|(error, start)| Stopped::Refused(error, start))
                };
                let done = if bytes >= RELEASE {
                    py.detach(run)
                } else {
                    run()
                };
                done.map_err(stopped)
            };
            let bad = match (op, &call.tags) {
                (Op::Verify, GivenTags::Column(given)) => {
                    let Some(Flat { bytes, width }) = given.flat(rows, n) else {
                        return Ok(None);
                    };
                    tags(&mut bytes.into_owned(), width)?
                }
                (Op::Mac, _) => {
                    let width = call.tag_bytes();
                    let mut made_tags = errors::room(count * width)?;
                    made_tags.resize(count * width, 0);
                    let failed = tags(&mut made_tags, width)?;
                    let ends = (0..=count).map(|i| O::usize_as(i * width));
                    let (bytes, ends) = (Buffer::from_vec(made_tags), ends.collect());
                    arrays.push(made(bytes, ends, rows, &failed, of)?);
                    failed
                }
                _ => {
                    let results = self.texts(py, op, call, part, (keys, first));
                    let results = results.map_err(stopped)?;
                    values::fits(results.bytes.len(), of).map_err(errors::unfit)?;
                    let failed = results.failed;
                    arrays.push(made(results.bytes, results.ends, rows, &failed, of)?);
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

    /// The texts of a part, whose first message is this one of all.
    fn texts<O: Offset + OffsetSizeTrait>(
        &self,
        py: Python<'_>,
        op: Op,
        call: &Call<'_, '_>,
        part: &Packable<'_, O>,
        (keys, first): (&Keyed<'_>, usize),
    ) -> Result<Made<O>, Stopped> {
        let (rows, bytes) = (part.rows, part.bytes());
        let start = rows.range().start;
        let threads = values::worth(call.threads, rows.count(), bytes);
        let tags = call.tag_bytes();
        let more = match opens(op) {
            true => 0,
            false => part.random + values::growth(self.info()) + tags,
        };
        let most = |range: Range<usize>| {
            let count = rows.within(start + range.start..start + range.end).count();
            let bytes = part.texts.bytes_of(range);
            (bytes.saturating_add(count.saturating_mul(more)), count)
        };
        let keep = match opens(op) {
            true => Keep::No,
            false => Keep::Yes,
        };
        let run = || {
            Made::by_stretches(threads, keep, rows.range().len(), most, |range, making| {
                let before = rows.before(start + range.start);
                let (bytes, _) = most(range.clone());
                let columns = part.columns(range, making.next(bytes))?;
                let messages = first + before..first + before + columns.count;
                let made = columns.texts(keys, messages, op, tags, making);
                made.map_err(|stopped| stopped.behind(before))
            })
        };
        let made = if bytes >= RELEASE {
            py.detach(run)
        } else {
            run()
        };
        made.map(|(made, _)| made)
    }

    pub(crate) fn run<'py>(
        &self,
        py: Python<'py>,
        op: Op,
        call: Call<'_, 'py>,
    ) -> PyResult<Done<'py>> {
        self.check_op(op)?;
        if call.inline() > 0 {
            if matches!(op, Op::Mac | Op::Verify) {
                let text = "nonces: a tag has no place for 'inline' ones";
                return Err(PyValueError::new_err(text));
            }
            if call.out.is_some() {
                let text = "out: results with 'inline' nonces go to a new array";
                return Err(PyTypeError::new_err(text));
            }
        }
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
        if let (Messages::Arrow(column), Some(of)) = (&call.messages, &of)
            && call.is_alike()
            && matches!(self.0, Held::One(_))
            && let Some(keys) = column.index_type()
        {
            return self.run_dictionaries(py, op, &call, column, lengths, (keys, of.clone()));
        }
        let rows = present.whole();
        let n = rows.range().len();
        let keys = self.keyed(rows)?;
        if let (Messages::Arrow(column), Some(of), None) = (&call.messages, &of, call.out)
            && call.opened.is_none()
            && lengths != Lengths::Shorter
            // A null may have a tag, which is wrong.
            && (op != Op::Verify || rows.are_all())
        {
            let messages = (column, &present);
            if let Some(done) = self.run_columns::<i32>(py, op, &call, messages, &keys, of)? {
                return Ok(done);
            }
            if let Some(done) = self.run_columns::<i64>(py, op, &call, messages, &keys, of)? {
                return Ok(done);
            }
        }
        let mut sources = call.messages.sources(rows)?;
        let inline = match call.nonces {
            Nonces::Inline(width) if opens(op) => {
                let mut nonces = errors::room(sources.len() * width)?;
                let least = width + call.tag_bytes();
                for (i, source) in sources.iter_mut().enumerate() {
                    let len = source.len();
                    if len < least {
                        let (at, what) = (rows.row(i), format!("text of {len} bytes"));
                        let least = format!("at least {least}");
                        return Err(errors::input(Some(at), "text_length", &what, len, least));
                    }
                    *source = source.behind(width, &mut nonces);
                }
                nonces
            }
            Nonces::Inline(width) => {
                values::nonces(sources.len(), width).map_err(errors::system)?
            }
            _ => Vec::new(),
        };
        let nonces = match &call.nonces {
            Nonces::Each(column) => column.slices("nonces", rows)?,
            Nonces::Inline(width) => inline.chunks_exact(*width).collect(),
            Nonces::None => Vec::new(),
        };
        if let Some(lengths) = &call.opened {
            errors::count("opened_lengths", lengths.len(), n)?;
        }
        let tag_bytes = call.tag_bytes();
        let lens: Vec<usize> = sources
            .iter()
            .map(|source| match opens(op) {
                true => self.result(op, source.len(), tag_bytes),
                false => self.result_of(op, &call, source.len()),
            })
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
        self.check(&batch, |i| rows.row(i))?;
        let mut output = match op {
            Op::Verify => None,
            _ => {
                let lens = (&lens[..], lengths);
                Some(Output::new(py, &call.messages, rows, lens, of, call.out)?)
            }
        };
        if let Some(output) = &mut output {
            batch.places = output.places(&lens);
            if let (Nonces::Inline(_), false) = (&call.nonces, opens(op)) {
                for (place, nonce) in batch.places.iter_mut().zip(&batch.nonces) {
                    place.put(nonce);
                }
            }
        }
        let threads = call.threads;
        let outcome = match batch.bytes() < RELEASE {
            true => batch.run(threads, &keys, op),
            false => py.detach(|| batch.run(threads, &keys, op)),
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

/// Whether texts have what belongs to them with them.
fn opens(op: Op) -> bool {
    matches!(op, Op::Decrypt | Op::Open)
}

/// An array of these results.
fn made<O: OffsetSizeTrait>(
    bytes: Buffer,
    ends: ScalarBuffer<O>,
    rows: Chosen<'_>,
    failed: &[usize],
    of: &DataType,
) -> PyResult<ArrayRef> {
    let results = Results {
        bytes,
        ends,
        rows,
        failed,
        row: &|i| rows.row(i),
    };
    results.array(of).map_err(errors::unfit)
}
