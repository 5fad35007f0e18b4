//! `aescomb`: measures, plans, checks and runs batched AES.
//!
//! A library for the command of the same name alone: it is compiled beside the kernels, where
//! a program would wait for them.
#![forbid(unsafe_code)]

mod bench;
mod cmd;
mod export;
mod failure;
mod machine;
mod names;
mod output;
mod report;
mod secret;
mod sizes;
mod table;
mod vectors;

use clap::Parser;
use cmd::Command;
use output::{Output, say};
use std::io::Write;
use std::process::ExitCode;

/// AES for many independent messages at once.
///
/// Without a command: the benchmark with its default settings.
///
/// Data goes to standard output, everything else to standard error. Exit status: 0 done, 1 a tag, a
/// padding or a known answer is wrong, 2 misuse (arguments, files, what this CPU lacks).
#[derive(Debug, Parser)]
#[command(name = "aescomb", version)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
}

/// The command: its arguments are those of the process.
pub fn main() -> ExitCode {
    let command = Cli::parse().command.unwrap_or_else(Command::default_bench);
    let mut out = Output::stdout();
    let result = command.run(&mut out).and_then(|code| {
        out.flush()?;
        Ok(code)
    });
    result.unwrap_or_else(|failure| {
        say(format_args!("aescomb: {failure}"));
        failure.code()
    })
}
