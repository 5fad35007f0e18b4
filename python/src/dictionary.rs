//! Columns of indices to values of a dictionary, in calls that give equal messages equal
//! results: then the dictionary is done once, and the indices stay.

use crate::arrow::{Arrow, Dictionary};
use crate::batch::{Batch, Outcome, Tags};
use crate::call::{Call, Done, GivenTags, RELEASE};
use crate::column::{self, Column};
use crate::errors;
use crate::input::{Data, Nonces};
use crate::key::Key;
use crate::memory::{self, Place, Source};
use crate::output::{Lengths, close_up, ends};
use aescomb::Op;
use aescomb_columns::values::{Keyed, Present, Results, fits};
use arrow_array::types::{
    ArrowDictionaryKeyType, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type,
    UInt32Type, UInt64Type,
};
use arrow_array::{ArrayRef, DictionaryArray, PrimitiveArray};
use arrow_buffer::{ArrowNativeType, Buffer};
use arrow_schema::DataType;
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use std::sync::Arc;

impl Call<'_, '_> {
    /// Whether equal messages have equal results.
    pub(crate) fn is_alike(&self) -> bool {
        matches!(self.nonces, Nonces::None)
            && self.opened.is_none()
            && self.out.is_none()
            && matches!(self.data, Data::Same(_))
            && matches!(self.tags, GivenTags::Bytes(_))
    }
}

/// What became of a dictionary.
struct Values<'a> {
    given: Vec<Option<&'a [u8]>>,
    results: ArrayRef,
    /// Places that failed, in ascending order.
    failed: Vec<usize>,
}

impl Values<'_> {
    /// Whether these were given, in the same places.
    fn are_of(&self, others: &[Option<&[u8]>]) -> bool {
        let same = |(a, b): (&Option<&[u8]>, &Option<&[u8]>)| match (a, b) {
            (Some(a), Some(b)) => std::ptr::eq(*a, *b),
            (None, None) => true,
            _ => false,
        };
        self.given.len() == others.len() && self.given.iter().zip(others).all(same)
    }
}

impl Dictionary<'_> {
    /// The places of values that are not null.
    pub(crate) fn places(&self) -> Vec<usize> {
        let values = self.values.iter().enumerate();
        values.filter_map(|(i, value)| value.map(|_| i)).collect()
    }

    /// Those that a row has.
    pub(crate) fn used(&self) -> Vec<usize> {
        let mut used = vec![false; self.values.len()];
        self.keys.iter().flatten().for_each(|key| used[*key] = true);
        self.places().into_iter().filter(|i| used[*i]).collect()
    }

    /// The indices, of this type, to other values.
    pub(crate) fn lead_to(&self, values: ArrayRef, keys: &DataType) -> PyResult<ArrayRef> {
        match keys {
            DataType::Int8 => indexed::<Int8Type>(self, values),
            DataType::Int16 => indexed::<Int16Type>(self, values),
            DataType::Int32 => indexed::<Int32Type>(self, values),
            DataType::Int64 => indexed::<Int64Type>(self, values),
            DataType::UInt8 => indexed::<UInt8Type>(self, values),
            DataType::UInt16 => indexed::<UInt16Type>(self, values),
            DataType::UInt32 => indexed::<UInt32Type>(self, values),
            _ => indexed::<UInt64Type>(self, values),
        }
    }
}

impl Key {
    /// Does a call with such a column; `of` is the type of results, and `keys` that of
    /// indices.
    pub(crate) fn run_dictionaries<'py>(
        &self,
        py: Python<'py>,
        op: Op,
        call: &Call<'_, 'py>,
        column: &Arrow,
        lengths: Lengths,
        (keys, of): (DataType, DataType),
    ) -> PyResult<Done<'py>> {
        let (mut arrays, mut failed) = (Vec::new(), Vec::new());
        let mut before: Option<Values<'_>> = None;
        for dictionary in column.dictionaries() {
            let mut dictionary = dictionary?;
            // The parts of a column mostly have one dictionary.
            let values = match before.take() {
                Some(values) if values.are_of(&dictionary.values) => values,
                _ => {
                    let run = |places| {
                        let dictionary = (&dictionary, places);
                        self.run_values(py, op, call, dictionary, lengths, &of)
                    };
                    match run(dictionary.places()) {
                        Ok(values) => values,
                        // What is wrong may be a value that no row has.
                        Err(_) => run(dictionary.used())?,
                    }
                }
            };
            for (i, key) in dictionary.keys.iter_mut().enumerate() {
                if key.is_some_and(|key| values.failed.binary_search(&key).is_ok()) {
                    failed.push(dictionary.start + i);
                    *key = None;
                }
            }
            arrays.push(dictionary.lead_to(values.results.clone(), &keys)?);
            before = Some(values);
        }
        let of = DataType::Dictionary(Box::new(keys), Box::new(of));
        Ok(Done {
            results: Some(Column::new(arrays, of).into_bound_py_any(py)?),
            failed,
            messages: column.len(),
        })
    }

    /// Does the values of a dictionary at these places; the others become null.
    fn run_values<'a>(
        &self,
        py: Python<'_>,
        op: Op,
        call: &Call<'_, '_>,
        (dictionary, places): (&Dictionary<'a>, Vec<usize>),
        lengths: Lengths,
        of: &DataType,
    ) -> PyResult<Values<'a>> {
        let given = &dictionary.values;
        let present = Present::these(places, given.len());
        let places = present.whole();
        // The first that has the value.
        let row = |i| {
            let key = Some(places.row(i));
            let found = dictionary.keys.iter().position(|other| *other == key);
            dictionary.start + found.unwrap_or(0)
        };
        let tag_bytes = call.tag_bytes();
        let sources: Vec<Source<'_>> = places
            .rows()
            .filter_map(|i| Some(given[i]?.into()))
            .collect();
        let lens: Vec<usize> = sources
            .iter()
            .map(|source| self.result(op, source.len(), tag_bytes))
            .collect();
        let total = lens.iter().sum();
        fits(total, of).map_err(errors::unfit)?;
        let mut batch = Batch {
            sources,
            nonces: Vec::new(),
            data: call.data.slices(places)?,
            tags: match op {
                Op::Mac => Tags::Made,
                _ => Tags::Appended(tag_bytes),
            },
            opened: None,
            places: Vec::new(),
            lengths,
        };
        self.check(&batch, row)?;
        let mut memory = errors::room(total)?;
        batch.places = Place::split(memory.spare_capacity_mut(), &lens);
        let (threads, keys) = (call.threads, Keyed::One(self.any()));
        let outcome = match batch.bytes() < RELEASE {
            true => batch.run(threads, &keys, op),
            false => py.detach(|| batch.run(threads, &keys, op)),
        };
        let refused = |(error, start)| errors::refused(error, |i| row(start + i));
        let Outcome {
            failed,
            lens: shorter,
        } = outcome.map_err(refused)?;
        let mut bytes = memory::written(memory, total);
        if let Some(shorter) = &shorter {
            close_up(&mut bytes, &lens, shorter);
        }
        let results = Results {
            bytes: Buffer::from_vec(bytes),
            ends: ends(&shorter.unwrap_or(lens)).into(),
            rows: places,
            failed: &failed,
            row: &row,
        };
        let results = results.array(of).map_err(errors::unfit)?;
        Ok(Values {
            given: given.clone(),
            results,
            failed: failed.into_iter().map(|i| places.row(i)).collect(),
        })
    }
}

/// Indices of this type to these values.
fn indexed<K: ArrowDictionaryKeyType>(
    dictionary: &Dictionary<'_>,
    values: ArrayRef,
) -> PyResult<ArrayRef> {
    let key = |key: &Option<usize>| key.map(K::Native::usize_as);
    let keys: PrimitiveArray<K> = dictionary.keys.iter().map(key).collect();
    let array = DictionaryArray::try_new(keys, values).map_err(column::refused)?;
    Ok(Arc::new(array))
}
