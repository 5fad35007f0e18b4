//! The subcommands: one file each.

mod bench;
#[cfg(feature = "columns")]
mod columns;
mod cpu;
mod crypt;
mod kat;
mod mac;
mod message;
mod modes;
mod plan;
mod report;
mod seal;

use crate::failure::Failure;
use crate::output::Output;
use clap::{Args, FromArgMatches};
use std::process::ExitCode;

#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    Bench(bench::BenchArgs),
    Report(report::ReportArgs),
    Cpu(cpu::CpuArgs),
    Modes(modes::ModesArgs),
    Plan(plan::PlanArgs),
    Kat(kat::KatArgs),
    Encrypt(crypt::EncryptArgs),
    Decrypt(crypt::DecryptArgs),
    Seal(seal::SealArgs),
    Open(seal::OpenArgs),
    Mac(mac::MacArgs),
    #[cfg(feature = "columns")]
    Columns(columns::ColumnsArgs),
}

impl Command {
    /// What the bare command does.
    pub(crate) fn default_bench() -> Command {
        let matches =
            bench::BenchArgs::augment_args(clap::Command::new("bench")).get_matches_from(["bench"]);
        match bench::BenchArgs::from_arg_matches(&matches) {
            Ok(args) => Command::Bench(args),
            Err(error) => error.exit(),
        }
    }

    pub(crate) fn run(self, out: &mut Output) -> Result<ExitCode, Failure> {
        match self {
            Command::Bench(args) => args.run(out),
            Command::Report(args) => args.run(out),
            Command::Cpu(args) => args.run(out),
            Command::Modes(args) => args.run(out),
            Command::Plan(args) => args.run(out),
            Command::Kat(args) => args.run(out),
            Command::Encrypt(args) => args.run(out),
            Command::Decrypt(args) => args.run(out),
            Command::Seal(args) => args.run(out),
            Command::Open(args) => args.run(out),
            Command::Mac(args) => args.run(out),
            #[cfg(feature = "columns")]
            Command::Columns(args) => args.run(out),
        }
    }
}
