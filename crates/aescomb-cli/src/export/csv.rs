//! The rows, as comma-separated values with a heading. Lines are not among
//! them; their points are.

use super::Exporter;
use crate::bench::report::Report;
use std::io::{self, Write};

pub(crate) struct Csv;

impl Exporter for Csv {
    fn export(&self, report: &Report, out: &mut dyn Write) -> io::Result<()> {
        let mut writer = csv::Writer::from_writer(out);
        for row in &report.rows {
            writer.serialize(row)?;
        }
        writer.flush()
    }
}
