//! `aescomb columns`: the columns of Parquet and CSV files.

use crate::failure::{Failure, NEGATIVE};
use crate::output::Output;
use aescomb_columns::command::ColumnsCommand;
use std::process::ExitCode;

/// What `--help` says; as a doc comment, the spec would be tested as Rust.
const ABOUT: &str = r#"Encrypt columns of Parquet and CSV files, and decrypt them

A spec says what is to be encrypted how, in TOML:

    dataset = "people"

    [columns.name]
    encryption = "deterministic"   # equal values stay equal; or "randomized"
    format = "tink"                # or "plain", "spark", "clickhouse"

Keys are in keysets of Tink, in JSON. Files end in .parquet or .csv. Of a folder, all such
files are done, and a run that was interrupted goes on where it was. A file is complete or
absent."#;

/// Encrypt columns of Parquet and CSV files, and decrypt them
#[derive(Debug, clap::Args)]
#[command(long_about = ABOUT)]
pub(crate) struct ColumnsArgs {
    #[command(subcommand)]
    command: ColumnsCommand,
}

impl ColumnsArgs {
    pub(crate) fn run(self, out: &mut Output) -> Result<ExitCode, Failure> {
        Ok(match self.command.run(out).map_err(Failure::misuse)? {
            true => ExitCode::SUCCESS,
            false => NEGATIVE.into(),
        })
    }
}
