//! CSV has no bytes: they are text in base64 there.

use crate::arrays::is_binary;
use crate::cipher::OnFailure;
use crate::error::{Error, Failure, Reason};
use crate::spec::{Format, Spec};
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BinaryArray, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, FieldRef, Schema, SchemaRef};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use std::sync::Arc;

/// Columns of base64 in a file that was encrypted by a spec.
pub(super) fn encoded(spec: Option<&Spec>) -> Vec<String> {
    let columns = spec.iter().flat_map(|spec| &spec.columns);
    // Tokens are text.
    let columns = columns.filter(|(_, column)| column.format != Format::Ff1);
    let names = columns.flat_map(|(name, column)| [Some(name), column.nonces.as_ref()]);
    names.flatten().cloned().collect()
}

/// The schema with bytes in these columns.
pub(super) fn decoded_schema(schema: &SchemaRef, encoded: &[String]) -> SchemaRef {
    let bytes = |field: &FieldRef| match encoded.contains(field.name()) {
        true => Arc::new(Field::new(field.name(), DataType::Binary, true)),
        false => field.clone(),
    };
    with_fields(schema, bytes)
}

/// The schema with text in the place of bytes.
pub(super) fn encoded_schema(schema: &SchemaRef) -> SchemaRef {
    let text = |field: &FieldRef| match is_binary(field.data_type()) {
        true => Arc::new(Field::new(field.name(), DataType::Utf8, true)),
        false => field.clone(),
    };
    with_fields(schema, text)
}

fn with_fields(schema: &SchemaRef, change: impl Fn(&FieldRef) -> FieldRef) -> SchemaRef {
    let fields: Vec<FieldRef> = schema.fields().iter().map(change).collect();
    Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone()))
}

/// The bytes in these columns of a batch.
pub(super) fn decode(
    batch: RecordBatch,
    encoded: &[String],
    on_failure: OnFailure,
) -> Result<(RecordBatch, Vec<Failure>), Error> {
    let mut failures = Vec::new();
    if encoded.is_empty() {
        return Ok((batch, failures));
    }
    let schema = decoded_schema(&batch.schema(), encoded);
    let fields = schema.fields().iter().zip(batch.columns());
    let mut arrays: Vec<ArrayRef> = Vec::new();
    for (field, array) in fields {
        if !encoded.contains(field.name()) {
            arrays.push(array.clone());
            continue;
        }
        let mut values = Vec::with_capacity(array.len());
        for (row, text) in array.as_string::<i32>().iter().enumerate() {
            let Some(Err(_)) = text.map(|text| BASE64_STANDARD.decode(text)) else {
                values.push(text.and_then(|text| BASE64_STANDARD.decode(text).ok()));
                continue;
            };
            let failure = Failure {
                column: field.name().clone(),
                row: row as u64,
                reason: Reason::Type("it is no base64".to_owned()),
            };
            match on_failure {
                OnFailure::Stop => return Err(Error::Value(failure)),
                OnFailure::Null => failures.push(failure),
            }
            values.push(None);
        }
        arrays.push(Arc::new(BinaryArray::from_iter(values)));
    }
    Ok((batch_of(schema, arrays)?, failures))
}

/// A batch with text in the place of bytes.
pub(super) fn encode(batch: &RecordBatch) -> Result<RecordBatch, Error> {
    let schema = encoded_schema(&batch.schema());
    let text = |array: &ArrayRef| -> Result<ArrayRef, Error> {
        if !is_binary(array.data_type()) {
            return Ok(array.clone());
        }
        let bytes = arrow_cast::cast(array, &DataType::LargeBinary);
        let bytes = bytes.map_err(|error| Error::spec("batch", error, "what Arrow takes"))?;
        let texts = bytes.as_binary::<i64>().iter();
        let texts = texts.map(|value| value.map(|value| BASE64_STANDARD.encode(value)));
        Ok(Arc::new(StringArray::from_iter(texts)))
    };
    let arrays = batch.columns().iter().map(text);
    batch_of(schema, arrays.collect::<Result<_, _>>()?)
}

fn batch_of(schema: SchemaRef, arrays: Vec<ArrayRef>) -> Result<RecordBatch, Error> {
    let batch = RecordBatch::try_new(schema, arrays);
    batch.map_err(|error| Error::spec("batch", error, "one that Arrow takes"))
}
