//! One JSON document.

use super::Exporter;
use crate::bench::report::Report;
use std::io::{self, Write};

pub(crate) struct Json;

impl Exporter for Json {
    fn export(&self, report: &Report, out: &mut dyn Write) -> io::Result<()> {
        serde_json::to_writer_pretty(&mut *out, report)?;
        writeln!(out)
    }
}
