//! Where results go: `bytes` objects, rows of an array, an Arrow column.

use crate::column::Column;
use crate::errors;
use crate::input::{self, Messages};
use crate::memory::{self, Blank, Place, Rows};
use aescomb_columns::values::{Chosen, Results, fits};
use arrow_buffer::Buffer;
use arrow_schema::DataType;
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
    /// Of this type.
    Column(Vec<u8>, DataType),
}

impl<'py> Output<'py> {
    /// For results of these rows in places of these lengths; in `out` if it is given. `of`:
    /// the type of a column of results.
    pub(crate) fn new(
        py: Python<'py>,
        messages: &Messages<'py>,
        rows: Chosen<'_>,
        (lens, lengths): (&[usize], Lengths),
        of: Option<DataType>,
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
            (Messages::Arrow(column), None) => {
                let of = of.unwrap_or(DataType::LargeBinary);
                let mut done = 0;
                for part in column.ranges() {
                    let count = rows.within(part).count();
                    fits(lens[done..done + count].iter().sum(), &of).map_err(errors::unfit)?;
                    done += count;
                }
                Ok(Output::Column(errors::room(lens.iter().sum())?, of))
            }
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
        messages: &Messages<'py>,
        rows: Chosen<'_>,
        lens: Vec<usize>,
        shorter: Option<Vec<usize>>,
        failed: &[usize],
    ) -> PyResult<Bound<'py, PyAny>> {
        match self {
            Output::Items(items) => {
                let lens = shorter.unwrap_or(lens);
                let mut results = Vec::with_capacity(rows.range().len());
                for ((item, len), row) in items.into_iter().zip(lens).zip(rows.rows()) {
                    results.resize_with(row, || None);
                    results.push(Some(item.finish(len)));
                }
                results.resize_with(rows.range().len(), || None);
                failed.iter().for_each(|i| results[rows.row(*i)] = None);
                PyList::new(py, results).map(Bound::into_any)
            }
            Output::Rows(array, _) => Ok(array),
            Output::Column(values, of) => {
                let mut values = memory::written(values, lens.iter().sum());
                let lens = match shorter {
                    None => lens,
                    Some(shorter) => {
                        close_up(&mut values, &lens, &shorter);
                        shorter
                    }
                };
                let values = Buffer::from_vec(values);
                let ranges: Vec<_> = match messages {
                    Messages::Arrow(column) => column.ranges().collect(),
                    _ => vec![rows.range()],
                };
                let (mut done, mut start) = (0, 0);
                let mut parts = Vec::with_capacity(ranges.len());
                for range in ranges {
                    let rows = rows.within(range);
                    let messages = done..done + rows.count();
                    let ends = ends(&lens[messages.clone()]);
                    let total = ends[rows.count()] as usize;
                    let place = |limit| failed.partition_point(|i| *i < limit);
                    let failed = &failed[place(messages.start)..place(messages.end)];
                    let failed: Vec<usize> = failed.iter().map(|i| i - done).collect();
                    let results = Results {
                        bytes: values.slice_with_length(start, total),
                        ends: ends.into(),
                        rows,
                        failed: &failed,
                        row: &|i| rows.row(i),
                    };
                    parts.push(results.array(&of).map_err(errors::unfit)?);
                    (done, start) = (messages.end, start + total);
                }
                Column::new(parts, of).into_bound_py_any(py)
            }
        }
    }
}

/// Where values of these lengths, one after the other, begin and end.
pub(crate) fn ends(lens: &[usize]) -> Vec<i64> {
    let mut end = 0;
    let ends = lens.iter().map(|len| {
        end += len;
        end as i64
    });
    [0].into_iter().chain(ends).collect()
}

/// Moves results together that are shorter than their places.
pub(crate) fn close_up(values: &mut Vec<u8>, places: &[usize], lens: &[usize]) {
    let (mut from, mut to) = (0, 0);
    for (place, len) in places.iter().zip(lens) {
        values.copy_within(from..from + len, to);
        from += place;
        to += len;
    }
    values.truncate(to);
}
