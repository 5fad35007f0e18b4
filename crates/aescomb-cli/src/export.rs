//! Reports for people and for programs: one file per format.

mod csv;
mod json;
mod table;

pub(crate) use csv::Csv;
pub(crate) use json::Json;
pub(crate) use table::Table;

use crate::bench::report::Report;
use std::io::{self, Write};

/// A format.
pub(crate) trait Exporter {
    fn export(&self, report: &Report, out: &mut dyn Write) -> io::Result<()>;
}
