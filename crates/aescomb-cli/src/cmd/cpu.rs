//! `aescomb cpu`: this CPU, its AES instructions and what follows from them.

use crate::failure::Failure;
use crate::machine::{Machine, pinned};
use crate::output::Output;
use crate::table::{table, text};
use aescomb::Backend;
use aescomb_measure::{Options, Sampler};
use std::io::Write;
use std::process::ExitCode;

/// Print CPU features, backends, frequency and the cost of AES instructions
///
/// The table of instructions is table 7 of the paper "Comb to Pipeline", measured here: latency is
/// what one instruction costs when the next needs its result, inverse throughput what it costs when
/// none does. Their quotient says how many blocks have to be in flight (P). It is the least that
/// hides the latency; loads and stores want more.
///
/// Cycles are core cycles: the core's frequency is measured in the same run, as the clock counter
/// does not run at it.
#[derive(Debug, clap::Args)]
pub(crate) struct CpuArgs {
    /// Core to measure on [default: the last one available]
    #[arg(long, value_name = "N")]
    core: Option<usize>,
}

impl CpuArgs {
    pub(crate) fn run(self, out: &mut Output) -> Result<ExitCode, Failure> {
        let core = pinned(self.core)?;
        let sampler = Sampler::new(Options::default());
        let machine = Machine::look(sampler.clock(), core);
        writeln!(out, "CPU        {}", machine.cpu)?;
        writeln!(out, "cores      {}", machine.cores)?;
        writeln!(out, "features   {}", machine.features.join(" "))?;
        writeln!(out, "frequency  {}\n", machine.frequency_line())?;
        write!(out, "{}", backends())?;
        instructions(out, &sampler)?;
        Ok(ExitCode::SUCCESS)
    }
}

fn backends() -> String {
    let mut backends = table(
        &[
            "backend",
            "here",
            "lanes",
            "most",
            "preferred for",
            "what it is",
        ],
        &[0, 1, 4, 5],
    );
    for backend in Backend::ALL {
        let preferred = [(true, "chained"), (false, "other")]
            .into_iter()
            .filter_map(|(chained, name)| (Backend::preferred(chained) == backend).then_some(name));
        let preferred: Vec<&str> = preferred.collect();
        backends.add_row([
            backend.name().to_owned(),
            if backend.is_available() { "yes" } else { "no" }.into(),
            backend.default_lanes().to_string(),
            backend.max_lanes().to_string(),
            match preferred.is_empty() {
                true => "-".into(),
                false => format!("{} modes", preferred.join(", ")),
            },
            backend.description().into(),
        ]);
    }
    text(&backends)
}

#[cfg(target_arch = "x86_64")]
fn instructions(out: &mut Output, sampler: &Sampler) -> std::io::Result<()> {
    use aescomb_measure::instructions::{measure, suggested_lanes};

    let rows = measure(sampler);
    if rows.is_empty() {
        return writeln!(out, "\nThis CPU has no AES instructions.");
    }
    let mut costs = table(
        &[
            "instruction",
            "bits",
            "latency",
            "inverse throughput",
            "blocks per cycle",
        ],
        &[0],
    );
    for row in &rows {
        costs.add_row([
            row.name.to_owned(),
            row.bits.to_string(),
            format!("{:.2}", row.latency),
            format!("{:.2}", row.inverse_throughput),
            format!("{:.2}", f64::from(row.bits / 128) / row.inverse_throughput),
        ]);
    }
    write!(out, "\n{}\n", text(&costs))?;
    for lanes in suggested_lanes(&rows) {
        writeln!(
            out,
            "P = {} blocks in flight at least, with {}-bit registers",
            lanes.blocks, lanes.bits
        )?;
    }
    Ok(())
}

#[cfg(not(target_arch = "x86_64"))]
fn instructions(out: &mut Output, _: &Sampler) -> std::io::Result<()> {
    writeln!(out, "\nInstructions are timed on x86-64 only.")
}
