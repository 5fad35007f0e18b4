//! What a file says of itself.

use super::input::Input;
use crate::error::Error;
use crate::header::{ColumnHeader, Header};
use serde::Serialize;
use std::path::Path;

/// What a file says of itself.
#[derive(Clone, Debug, Serialize)]
pub struct FileReport {
    /// The file.
    pub file: String,
    /// Rows; `None` where the file does not say it.
    pub rows: Option<u64>,
    /// Row groups.
    pub row_groups: usize,
    /// The dataset that encrypted values belong to.
    pub dataset: Option<String>,
    /// Its columns.
    pub columns: Vec<ColumnReport>,
}

/// What a file says of a column.
#[derive(Clone, Debug, Serialize)]
pub struct ColumnReport {
    /// Its name.
    pub name: String,
    /// Its type in the file.
    #[serde(rename = "type")]
    pub of: String,
    /// What was done with it, if it is encrypted.
    pub encrypted: Option<ColumnHeader>,
    /// Whether there are statistics, page indexes or Bloom filters of its values.
    pub statistics: bool,
}

/// What a Parquet or CSV file says of itself. Keys are not needed.
///
/// # Errors
///
/// What is no such file.
pub fn inspect(path: &Path) -> Result<FileReport, Error> {
    let input = Input::open(path, None)?;
    let header = Header::of_schema(input.schema())?;
    let groups = input.metadata().map(|metadata| metadata.row_groups());
    let columns = input.schema().fields().iter().map(|field| {
        let name = field.name();
        let chunks = groups
            .into_iter()
            .flatten()
            .flat_map(|group| group.columns());
        let mut own = chunks.filter(|chunk| chunk.column_path().parts().first() == Some(name));
        ColumnReport {
            name: name.clone(),
            of: field.data_type().to_string(),
            encrypted: header
                .as_ref()
                .and_then(|header| header.columns.get(name))
                .cloned(),
            statistics: own.any(|chunk| {
                chunk.statistics().is_some()
                    || chunk.bloom_filter_offset().is_some()
                    || chunk.column_index_offset().is_some()
            }),
        }
    });
    Ok(FileReport {
        file: path.display().to_string(),
        rows: input.metadata().map(|_| input.rows()),
        row_groups: input.groups(),
        columns: columns.collect(),
        dataset: header.map(|header| header.dataset),
    })
}
