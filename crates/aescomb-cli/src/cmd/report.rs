//! `aescomb report`: the papers' tables and figures, measured here, as one page.

use crate::bench::bound::Rates;
use crate::failure::Failure;
use crate::machine::{Machine, pinned};
use crate::output::{Output, say};
use crate::report::{
    About, Ask, Found, Header, Journal, Measurer, PARTS, Peers, Record, Scale, Servers, View, page,
};
use aescomb_measure::{Options, Sampler, fresh_seed, instructions};
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

/// Measure the tables and figures of five papers here, and write a page about them
///
/// The page stands alone: HTML with inline SVG, for screens of any size, light, dark and print. It
/// has every table and figure of "Comb to Pipeline", "Breakthrough AES Performance",
/// "Benchmarking y optimizacion", "How Fast Can a Two-Pass Mode Go?" and the talk on AES-GCM for
/// CAESAR, measured on this machine, with the published figures beside them; and batch sizes, the
/// cost of a message and of a byte, forms of keys, forged messages, and every mode against the bound
/// of the machine.
///
/// The whole takes about five minutes on two cores. What was measured is kept in FILE.partial
/// until the page is written: the same command goes on where an earlier run was stopped.
#[derive(Debug, clap::Args)]
pub(crate) struct ReportArgs {
    /// Where the page goes
    #[arg(long, short, value_name = "FILE", default_value = "report.html")]
    out: PathBuf,
    /// Also write everything that was measured to FILE, as one JSON document
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Fewer points and samples: a minute
    #[arg(long)]
    quick: bool,
    /// What `bench/peers/run.sh --json` printed: other libraries beside this one
    #[arg(long, value_name = "FILE")]
    peers: Option<PathBuf>,
    /// What `examples/tls-server/compare.sh --json` wrote: TLS servers by cipher suite
    #[arg(long, value_name = "FILE")]
    servers: Option<PathBuf>,
    /// Also write the record of the run, which is a few of its figures, to DIR/<cpu>-<date>.json
    #[arg(long, value_name = "DIR")]
    record: Option<PathBuf>,
    /// Core to measure on [default: the last one available]
    #[arg(long, value_name = "N")]
    core: Option<usize>,
    /// Parts to measure and show, by their anchors, separated by commas [default: all]
    #[arg(long, value_name = "PART", value_delimiter = ',')]
    only: Vec<String>,
}

/// Everything that was measured.
#[derive(Serialize)]
struct Document<'a> {
    format: u32,
    about: &'a About,
    machine: &'a Machine,
    instructions: Vec<Instruction>,
    results: Vec<Measured<'a>>,
    peers: Option<&'a Peers>,
    servers: Option<&'a Servers>,
}

#[derive(Serialize)]
struct Instruction {
    name: &'static str,
    bits: u32,
    latency: f64,
    inverse_throughput: f64,
}

#[derive(Serialize)]
struct Measured<'a> {
    ask: &'a Ask,
    found: Option<&'a Found>,
}

/// Samples of a figure, and the most time it may take.
fn options(quick: bool) -> Options {
    let (samples, budget) = match quick {
        true => (25, 30),
        false => (91, 150),
    };
    Options {
        samples,
        budget: Some(Duration::from_millis(budget)),
        ..Options::default()
    }
}

impl ReportArgs {
    pub(crate) fn run(self, out: &mut Output) -> Result<ExitCode, Failure> {
        let parts: Vec<_> = match self.only[..] {
            [] => PARTS.iter().collect(),
            _ => self
                .only
                .iter()
                .map(|id| {
                    let known = PARTS.iter().find(|part| part.id == id);
                    known.ok_or_else(|| {
                        let ids: Vec<&str> = PARTS.iter().map(|part| part.id).collect();
                        Failure::Misuse(format!("there is no part {id}; parts: {}", ids.join(", ")))
                    })
                })
                .collect::<Result<_, _>>()?,
        };
        let of_json = self.json.as_deref().and_then(Path::parent);
        for directory in [of_json, self.record.as_deref()].into_iter().flatten() {
            is_there(directory)?;
        }
        let peers = self.peers.as_deref().map(Peers::read).transpose()?;
        let servers = self.servers.as_deref().map(Servers::read).transpose()?;
        let core = pinned(self.core)?;
        let sampler = Sampler::new(options(self.quick));
        let machine = Machine::look(sampler.clock(), core);
        let header = Header {
            version: env!("CARGO_PKG_VERSION").into(),
            cpu: machine.cpu.clone(),
            quick: self.quick,
            seed: fresh_seed(),
        };
        let (mut journal, mut results) = Journal::open(&self.out, header)?;
        let seed = journal.header.seed;
        let scale = Scale {
            quick: self.quick,
            cores: machine.cores,
        };
        let mut asks: Vec<Ask> = Vec::new();
        for ask in parts.iter().flat_map(|part| (part.asks)(&scale)) {
            if !asks.contains(&ask) {
                asks.push(ask);
            }
        }
        let left: Vec<&Ask> = asks.iter().filter(|ask| !results.has(ask)).collect();
        if left.len() < asks.len() {
            say(format_args!(
                "aescomb: goes on with {} of {} measurements from {}",
                asks.len() - left.len(),
                asks.len(),
                journal.path().display()
            ));
        }
        let instructions = instructions::measure(&sampler);
        let measurer = Measurer {
            rates: Rates::of(&instructions),
            sampler,
            seed,
            core,
        };
        let progress = ProgressBar::new(left.len() as u64);
        if let Ok(style) = ProgressStyle::with_template("{pos}/{len} {wide_bar} {eta} left") {
            progress.set_style(style);
        }
        for ask in left {
            let found = measurer.measure(ask)?;
            journal.add(ask, &found)?;
            results.insert(ask.clone(), found);
            // Redrawn between measurements only: nothing else runs during one.
            progress.inc(1);
        }
        progress.finish_and_clear();

        let about = About::of(&results, &asks, options(self.quick).samples, seed);
        let view = View {
            scale,
            machine: &machine,
            instructions: &instructions,
            results: &results,
            peers: peers.as_ref(),
            servers: servers.as_ref(),
        };
        write(&self.out, page(&view, &about, &parts).as_bytes())?;
        if let Some(file) = &self.json {
            let document = Document {
                format: 1,
                about: &about,
                machine: &machine,
                instructions: instructions
                    .iter()
                    .map(|row| Instruction {
                        name: row.name,
                        bits: row.bits,
                        latency: row.latency,
                        inverse_throughput: row.inverse_throughput,
                    })
                    .collect(),
                results: asks
                    .iter()
                    .map(|ask| Measured {
                        ask,
                        found: results.get(ask),
                    })
                    .collect(),
                peers: peers.as_ref(),
                servers: servers.as_ref(),
            };
            let json = serde_json::to_vec_pretty(&document).map_err(Failure::misuse)?;
            write(file, &json)?;
        }
        if let Some(directory) = &self.record {
            let record = Record::of(scale, &about, &machine, &results, peers.as_ref());
            let mut json = serde_json::to_vec_pretty(&record).map_err(Failure::misuse)?;
            json.push(b'\n');
            write(&directory.join(record.file_name()), &json)?;
        }
        journal.remove()?;
        if let Some(warning) = about.warning() {
            say(format_args!("aescomb: warning: {warning}"));
        }
        writeln!(out, "{}", self.out.display())?;
        Ok(ExitCode::SUCCESS)
    }
}

/// Found before the measurements, which take minutes.
fn is_there(directory: &Path) -> Result<(), Failure> {
    // The parent of a mere name is empty.
    if directory.as_os_str().is_empty() || directory.is_dir() {
        return Ok(());
    }
    Err(Failure::misuse(format_args!(
        "{}: no such directory",
        directory.display()
    )))
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    std::fs::write(path, bytes)
        .map_err(|error| Failure::misuse(format_args!("{}: {error}", path.display())))
}
