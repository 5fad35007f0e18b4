//! Files that are read.

use super::{Kind, wrong};
use crate::error::Error;
use crate::spec::{Spec, parse_type};
use arrow_array::RecordBatch;
use arrow_csv::ReaderBuilder;
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder,
};
use parquet::file::metadata::ParquetMetaData;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// About so many bytes of values are read at a time.
const BATCH: u64 = 8 << 20;
/// The most rows that are read at a time.
const ROWS: u64 = 1 << 16;

/// A file that is read.
pub(super) struct Input {
    path: PathBuf,
    file: File,
    schema: SchemaRef,
    /// Of a Parquet file.
    metadata: Option<ArrowReaderMetadata>,
}

type Batches = Box<dyn Iterator<Item = Result<RecordBatch, Error>>>;

impl Input {
    /// `types`: a spec that has types of CSV columns.
    pub(super) fn open(path: &Path, types: Option<&Spec>) -> Result<Input, Error> {
        let kind = Kind::known(path)?;
        let file = File::open(path).map_err(|error| wrong(path, error))?;
        let (schema, metadata) = match kind {
            Kind::Csv => (csv_schema(path, &file, types)?, None),
            Kind::Parquet => {
                let metadata = ArrowReaderMetadata::load(&file, ArrowReaderOptions::new());
                let metadata = metadata.map_err(|error| wrong(path, error))?;
                (metadata.schema().clone(), Some(metadata))
            }
        };
        Ok(Input {
            path: path.to_owned(),
            file,
            schema,
            metadata,
        })
    }

    pub(super) fn kind(&self) -> Kind {
        match self.metadata {
            Some(_) => Kind::Parquet,
            None => Kind::Csv,
        }
    }

    pub(super) fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// That of a Parquet file.
    pub(super) fn metadata(&self) -> Option<&ParquetMetaData> {
        self.metadata
            .as_ref()
            .map(|metadata| &**metadata.metadata())
    }

    /// Rows, if the file says it; else 0.
    pub(super) fn rows(&self) -> u64 {
        let rows = self.metadata().map(|data| data.file_metadata().num_rows());
        rows.and_then(|rows| u64::try_from(rows).ok()).unwrap_or(0)
    }

    /// Row groups; all rows of a CSV file are one.
    pub(super) fn groups(&self) -> usize {
        self.metadata().map_or(1, ParquetMetaData::num_row_groups)
    }

    /// The batches of a row group.
    pub(super) fn group(&self, group: usize) -> Result<Batches, Error> {
        let path = self.path.clone();
        let file = self.file.try_clone().map_err(|error| wrong(&path, error))?;
        let Some(metadata) = &self.metadata else {
            // Its place was moved when the names of columns were read.
            let file = File::open(&self.path).map_err(|error| wrong(&path, error))?;
            let reader = ReaderBuilder::new(self.schema.clone())
                .with_header(true)
                .with_batch_size(ROWS as usize / 8)
                .build(file)
                .map_err(|error| wrong(&path, error))?;
            return Ok(Box::new(
                reader.map(move |batch| batch.map_err(|error| wrong(&path, error))),
            ));
        };
        let about = metadata.metadata().row_group(group);
        let rows = u64::try_from(about.num_rows()).unwrap_or(0).max(1);
        let bytes = u64::try_from(about.total_byte_size()).unwrap_or(0);
        let batch = (BATCH / (bytes / rows).max(1)).clamp(16, ROWS);
        let reader = ParquetRecordBatchReaderBuilder::new_with_metadata(file, metadata.clone())
            .with_row_groups(vec![group])
            .with_batch_size(batch as usize)
            .build()
            .map_err(|error| wrong(&path, error))?;
        Ok(Box::new(reader.map(move |batch| {
            batch.map_err(|error| wrong(&path, error))
        })))
    }
}

/// Columns of text, but those that a spec has types of.
fn csv_schema(path: &Path, file: &File, types: Option<&Spec>) -> Result<SchemaRef, Error> {
    let format = arrow_csv::reader::Format::default().with_header(true);
    let found = format.infer_schema(file, Some(0));
    let (found, _) = found.map_err(|error| wrong(path, error))?;
    let fields = found.fields().iter().map(|field| {
        let name = field.name();
        let column = types.and_then(|spec| spec.columns.get(name));
        let of = match column.and_then(|column| column.of.as_deref()) {
            Some(of) => parse_type(&format!("columns.{name}.type"), of)?,
            None => DataType::Utf8,
        };
        Ok(Field::new(name, of, true))
    });
    let fields = fields.collect::<Result<Vec<Field>, Error>>()?;
    Ok(Arc::new(Schema::new(fields)))
}
