//! Where results go: `bytes` objects, rows of an array, an Arrow column.

use crate::arrow::{self, Type};
use crate::errors;
use crate::input::{self, Messages};
use crate::memory::{self, Blank, Place, Rows};
use arrow_array::OffsetSizeTrait;
use pyo3::IntoPyObjectExt;
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyList;

/// What is known of the lengths of results.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lengths {
    /// Those of their places.
    Known,
    /// Those of their places, or less.
    Shorter,
    /// Those of their places, all the same.
    OfTags,
}

/// Memory for results, in the form that the messages have.
pub(crate) enum Output<'py> {
    Items(Vec<Blank<'py>>),
    Rows(Bound<'py, PyAny>, Rows),
    Column(Vec<u8>, Type),
}

impl<'py> Output<'py> {
    /// For results in places of these lengths; in `out` if it is given.
    pub(crate) fn new(
        py: Python<'py>,
        messages: &Messages<'py>,
        lens: &[usize],
        lengths: Lengths,
        out: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Self> {
        match (messages, out) {
            (Messages::Items(_), None) => lens
                .iter()
                .map(|len| Blank::new(py, *len))
                .collect::<PyResult<_>>()
                .map(Output::Items),
            (Messages::Rows(rows), out) => {
                if lengths == Lengths::Shorter {
                    let text = "results of this mode differ in length; give a list of messages";
                    return Err(PyTypeError::new_err(text));
                }
                let width = lens.first().copied().unwrap_or(0);
                match out {
                    Some(out) => Output::given(out, rows, width),
                    None => Output::array(py, rows.count, width),
                }
            }
            (Messages::Arrow(column), None) => Output::column(column.results, lens, lengths),
            (_, Some(_)) => {
                let text = "out: only results of an array of messages go to an array";
                Err(PyTypeError::new_err(text))
            }
        }
    }

    fn array(py: Python<'py>, count: usize, width: usize) -> PyResult<Self> {
        let array = py
            .import("numpy")?
            .call_method1("empty", ((count, width), "uint8"))?;
        let rows = input::rows(PyBuffer::get(&array)?, "numpy.empty")?;
        Ok(Output::Rows(array, rows))
    }

    fn given(out: &Bound<'py, PyAny>, messages: &Rows, width: usize) -> PyResult<Self> {
        let rows = input::results(out)?;
        for (what, given, allowed) in [
            ("rows", rows.count, messages.count),
            ("bytes a row", rows.width, width),
        ] {
            if given != allowed {
                let what = format!("out: {given} {what}");
                return Err(errors::input(None, "output_length", &what, given, allowed));
            }
        }
        if !messages.may_go_to(&rows) {
            let what = "out and messages overlap";
            let allowed = "the same rows, or none in common";
            return Err(errors::input(None, "overlap", what, 0, allowed));
        }
        Ok(Output::Rows(out.clone(), rows))
    }

    fn column(form: Type, lens: &[usize], lengths: Lengths) -> PyResult<Self> {
        let form = match (lengths, form) {
            (Lengths::OfTags, _) => Type::FixedSize,
            (Lengths::Shorter, Type::FixedSize) => Type::LargeBinary,
            (_, form) => form,
        };
        let total = lens.iter().sum();
        if form == Type::Binary {
            fits::<i32>(total)?;
        }
        Ok(Output::Column(errors::room(total)?, form))
    }

    /// Places of these lengths, as given to [`Output::new`].
    pub(crate) fn places(&mut self, lens: &[usize]) -> Vec<Place<'_>> {
        match self {
            Output::Items(items) => items.iter_mut().map(Blank::place).collect(),
            Output::Rows(_, rows) => rows.places(),
            Output::Column(values, _) => Place::split(values.spare_capacity_mut(), lens),
        }
    }

    /// The results, after all places were written. `shorter`: their lengths, where they
    /// are not those of the places; `failed`: messages without a result.
    pub(crate) fn finish(
        self,
        py: Python<'py>,
        lens: Vec<usize>,
        shorter: Option<Vec<usize>>,
        failed: &[usize],
    ) -> PyResult<Bound<'py, PyAny>> {
        match self {
            Output::Items(items) => {
                let lens = shorter.unwrap_or(lens);
                let mut results: Vec<_> = items
                    .into_iter()
                    .zip(lens)
                    .map(|(item, len)| Some(item.finish(len)))
                    .collect();
                failed.iter().for_each(|i| results[*i] = None);
                PyList::new(py, results).map(Bound::into_any)
            }
            Output::Rows(array, _) => Ok(array),
            Output::Column(values, form) => {
                let mut values = memory::written(values, lens.iter().sum());
                let lens = match shorter {
                    None => lens,
                    Some(shorter) => {
                        close_up(&mut values, &lens, &shorter);
                        shorter
                    }
                };
                let column = match form {
                    Type::Binary => arrow::Column::new(values, offsets::<i32>(&lens), failed),
                    Type::LargeBinary => arrow::Column::new(values, offsets::<i64>(&lens), failed),
                    Type::FixedSize => {
                        let width = lens.first().copied().unwrap_or(0);
                        arrow::Column::fixed(values, lens.len(), width, failed)
                    }
                };
                column?.into_bound_py_any(py)
            }
        }
    }
}

/// Refuses results of more bytes than such offsets tell.
pub(crate) fn fits<O: OffsetSizeTrait>(total: usize) -> PyResult<()> {
    let most = O::MAX_OFFSET;
    if total <= most {
        return Ok(());
    }
    let what = format!("results of {total} bytes in a binary column");
    let allowed = format!("at most {most}; large_binary takes more");
    Err(errors::input(None, "output_length", &what, total, allowed))
}

/// Where values of these lengths, one after the other, begin and end.
fn offsets<O: OffsetSizeTrait>(lens: &[usize]) -> Vec<O> {
    let mut end = 0;
    let ends = lens.iter().map(|len| {
        end += len;
        O::usize_as(end)
    });
    [O::usize_as(0)].into_iter().chain(ends).collect()
}

/// Moves results together that are shorter than their places.
fn close_up(values: &mut Vec<u8>, places: &[usize], lens: &[usize]) {
    let (mut from, mut to) = (0, 0);
    for (place, len) in places.iter().zip(lens) {
        values.copy_within(from..from + len, to);
        from += place;
        to += len;
    }
    values.truncate(to);
}
