//! `aescomb bench`: every mode, one message after the other and combed.

use crate::bench::bound::Rates;
use crate::bench::case::{Form, KeyForm, Setup};
use crate::bench::report::{Line, Report, Row, Run, Schedule};
use crate::bench::{ff1, field};
use crate::export::{Csv, Exporter, Json, Table};
use crate::failure::Failure;
use crate::machine::{Machine, pinned};
use crate::names::ModeName;
use crate::output::{Output, say};
use crate::sizes;
use aescomb::{Algorithm, Backend, Mode};
use aescomb_measure::stats::least_squares;
use aescomb_measure::{Mix, Options, Sampler, Workload, fresh_seed};
use clap::builder::TypedValueParser;
use indicatif::{ProgressBar, ProgressStyle};
use std::process::ExitCode;
use std::time::Duration;

/// Measure every mode, one message after the other and combed
///
/// Prints core cycles per byte of both, the speed-up, the bound and the efficiency, which is the
/// bound over the combed figure.
///
/// How it is measured: the thread stays on one core. Messages lie in one buffer as in a network
/// ring, each at a multiple of 64 bytes, and are worked on in place. The batch is built once; the
/// calls with it are timed. The two competitors of a mode take turns, sample by sample; a sample
/// during which the core changed its frequency is thrown away. Costs are core cycles, not ticks of
/// the clock counter, and medians.
///
/// Nonces have 12 bytes where a mode takes that many, tags are the longest. Costs are per byte of
/// text. Messages are opened from one place to another, since opening in place destroys what it
/// opens.
///
/// The bound is AES calls x rounds / rate, the rate being that of this core's AES instructions, as
/// wide as the backend's registers, measured at the start. For modes that multiply in GF(2^128), 3
/// products a multiplication / rate of carry-less products are added; a core that does both side by
/// side can then be more than 100 % efficient. It counts no key expansion. The portable backend has none.
#[derive(Debug, clap::Args)]
pub(crate) struct BenchArgs {
    /// Modes, separated by commas: cbc, or aes-256-cbc [default: all]
    #[arg(long, short, value_name = "MODE", value_delimiter = ',')]
    mode: Vec<ModeName>,
    /// Message lengths: internet, ipi, imix, fixed:N, pcap:FILE, lengths:FILE
    ///
    /// internet: 44 % of the messages have 40 to 100 bytes, 37 % 1400 to 1500, the rest 101 to 1399.
    /// ipi: 44, 552, 576 and 1500 bytes, 5 : 15 : 20 : 60. imix: 64, 594 and 1518 bytes, 7 : 4 : 1.
    /// pcap: the packets of a capture (pcap or pcapng), from the IP header on. lengths: a length per
    /// line.
    #[arg(long, value_name = "MIX", default_value = "internet")]
    mix: Mix,
    /// Messages in the batch [default: 256, or all of a file's]
    #[arg(long, short = 'n', value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1 << 24))]
    messages: Option<u64>,
    /// Length of an AES key for modes without one in their name
    #[arg(
        long,
        value_name = "BITS",
        default_value = "128",
        value_parser = clap::builder::PossibleValuesParser::new(["128", "192", "256"])
            .try_map(|bits| bits.parse::<usize>())
    )]
    key_bits: usize,
    /// Messages in flight when combed [default: what suits this CPU]
    #[arg(long, short = 'P', value_name = "P", value_parser = clap::value_parser!(u64).range(1..=1024))]
    parallel: Option<u64>,
    /// Backend: vaes512, vaes256vl, vaes256, aesni, portable [default: what suits this CPU]
    #[arg(long, value_name = "NAME")]
    backend: Option<Backend>,
    /// Keys: one, or one per message, expanded before or inside the timing
    #[arg(long, value_enum, default_value_t = KeyForm::Shared)]
    keys: KeyForm,
    /// Direction: encrypt also stands for seal and mac, decrypt for open and verify
    #[arg(long, value_enum, default_value_t = Direction::Encrypt)]
    op: Direction,
    /// Bytes of associated data of every message, in modes that take any
    #[arg(long, value_name = "N", default_value_t = 12, value_parser = clap::value_parser!(u64).range(0..=1 << 24))]
    data_bytes: u64,
    /// Form of the batch
    #[arg(long, value_enum, default_value_t = Form::Messages)]
    form: Form,
    /// Measure fixed lengths too and fit cycles per byte and per message
    ///
    /// For each of 8 lengths from 16 to 2048 bytes a batch of messages of that length is measured.
    /// The slope of the line through them is the cost of a byte, its intercept the cost of a
    /// message.
    #[arg(long)]
    lines: bool,
    /// Measure ways to multiply and to double in GF(2^128) instead of modes
    ///
    /// Serial: each result is the next operand. Parallel: a row of such chains. Neighbours: a row
    /// of blocks of one message, doubled as one. GCM: counter mode and its hash over one long text,
    /// reduced block by block or so many at once. Chain: a multiplication and an encryption that
    /// wait for each other, as in McOE-G. "classical" and "haswell" are those of sections 6.3 and
    /// 6.4, (i) to (iv) those of section 6.5 of the paper "Comb to Pipeline". What branches on
    /// operands, or looks them up in a table, the library never uses.
    #[arg(long, conflicts_with_all = [
        "mode", "mix", "messages", "key_bits", "parallel", "backend", "keys", "op", "data_bytes",
        "form", "lines", "seed", "csv",
    ])]
    field: bool,
    /// Measure format-preserving encryption (FF1) instead of modes, on all backends
    #[arg(long, conflicts_with_all = [
        "mode", "mix", "messages", "key_bits", "parallel", "backend", "keys", "op", "data_bytes",
        "form", "lines", "seed", "csv", "field",
    ])]
    ff1: bool,
    /// Samples per figure [default: 91, or fewer when --seconds are over]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    samples: Option<u64>,
    /// About how long sampling may take [default: 25; no limit with --samples]
    #[arg(long, value_name = "S", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    seconds: Option<u64>,
    /// Seed of lengths, contents, keys and offsets [default: a fresh one]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Core to measure on [default: the last one available]
    #[arg(long, value_name = "N")]
    core: Option<usize>,
    /// Print one JSON document
    #[arg(long, conflicts_with = "csv")]
    json: bool,
    /// Print the rows as comma-separated values
    #[arg(long)]
    csv: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Direction {
    #[value(alias = "seal", alias = "mac")]
    Encrypt,
    #[value(alias = "open", alias = "verify")]
    Decrypt,
}

/// Lengths of `--lines`, in bytes.
const LENGTHS: [usize; 8] = [16, 64, 128, 256, 512, 1024, 1536, 2048];
/// Seconds of sampling, unless told otherwise.
const SECONDS: u64 = 25;
/// The same with `--field`, and with `--ff1`.
const FIELD_SECONDS: u64 = 12;
const FF1_SECONDS: u64 = 8;
/// Noisy rows that are warned about one by one.
const WARNINGS: usize = 3;

/// What the arguments come to.
struct Plan {
    algorithms: Vec<Algorithm>,
    mix: String,
    setup: Setup,
    /// Name and messages of every workload; the first is that of the mix.
    workloads: Vec<(String, Workload)>,
    options: Options,
    core: Option<usize>,
    exporter: Box<dyn Exporter>,
}

impl BenchArgs {
    pub(crate) fn run(self, out: &mut Output) -> Result<ExitCode, Failure> {
        if self.field {
            return self.compare(out);
        }
        if self.ff1 {
            return self.values(out);
        }
        let plan = self.plan()?;
        let report = plan.measure()?;
        warn(&report);
        plan.exporter.export(&report, out)?;
        Ok(ExitCode::SUCCESS)
    }

    /// `--field`.
    fn compare(self, out: &mut Output) -> Result<ExitCode, Failure> {
        let core = pinned(self.core)?;
        let options = options(self.samples, self.seconds, FIELD_SECONDS, field::figures());
        let report = field::measure(&Sampler::new(options), core);
        warn_noisy(report.noisy());
        match self.json {
            true => report.json(out)?,
            false => report.tables(out)?,
        }
        Ok(ExitCode::SUCCESS)
    }

    /// `--ff1`.
    fn values(self, out: &mut Output) -> Result<ExitCode, Failure> {
        let core = pinned(self.core)?;
        let options = options(self.samples, self.seconds, FF1_SECONDS, ff1::figures());
        let report = ff1::measure(&Sampler::new(options), core)?;
        warn_noisy(report.noisy());
        match self.json {
            true => report.json(out)?,
            false => report.tables(out)?,
        }
        Ok(ExitCode::SUCCESS)
    }

    /// Checks everything that can be checked before anything is measured.
    fn plan(self) -> Result<Plan, Failure> {
        let algorithms = algorithms(&self.mode, self.key_bits)?;
        let setup = Setup {
            backend: self.backend,
            lanes: self.parallel.map(|lanes| lanes as usize),
            keys: self.keys,
            form: self.form,
            back: self.op == Direction::Decrypt,
            data_bytes: self.data_bytes as usize,
            seed: self.seed.unwrap_or_else(fresh_seed),
            forged: false,
        };
        setup.comb(Schedule::Comb)?;
        let messages = self.messages.map(|messages| messages as usize);
        let source = self.mix.open()?;
        if source.skipped() > 0 {
            say(format_args!(
                "aescomb: {}: {} packets that are not IP are left out",
                self.mix,
                source.skipped()
            ));
        }
        let mut workloads = vec![(self.mix.to_string(), source.draw(messages, setup.seed))];
        if self.lines {
            for length in LENGTHS {
                let mix = Mix::Fixed(length);
                workloads.push((mix.to_string(), mix.open()?.draw(messages, setup.seed)));
            }
        }
        let figures = 2 * algorithms.len() * workloads.len();
        let options = options(self.samples, self.seconds, SECONDS, figures);
        Ok(Plan {
            algorithms,
            mix: self.mix.to_string(),
            setup,
            workloads,
            options,
            core: self.core,
            exporter: match (self.json, self.csv) {
                (true, _) => Box::new(Json),
                (_, true) => Box::new(Csv),
                _ => Box::new(Table),
            },
        })
    }
}

/// So many samples, in so many seconds for all figures together; `usual` seconds unless
/// told either.
fn options(samples: Option<u64>, seconds: Option<u64>, usual: u64, figures: usize) -> Options {
    let seconds = match (seconds, samples) {
        (None, Some(_)) => None,
        (seconds, _) => Some(seconds.unwrap_or(usual)),
    };
    let mut options = Options {
        budget: seconds.map(|seconds| Duration::from_secs(seconds) / figures as u32),
        ..Options::default()
    };
    if let Some(samples) = samples {
        options.samples = samples as usize;
    }
    options
}

/// What is measured: all modes that take such keys if none is named.
fn algorithms(names: &[ModeName], key_bits: usize) -> Result<Vec<Algorithm>, Failure> {
    let takes = |algorithm: &Algorithm| {
        let info = algorithm.mode.info();
        let bytes = sizes::key_bytes(info, algorithm.key_bits);
        info.key_bytes.contains(&bytes)
    };
    if names.is_empty() {
        let all = Mode::ALL.iter().map(|mode| Algorithm {
            mode: *mode,
            key_bits,
        });
        return Ok(all.filter(takes).collect());
    }
    let named = names.iter().map(|name| Algorithm {
        mode: name.mode,
        key_bits: name.key_bits.unwrap_or(key_bits),
    });
    named
        .map(|algorithm| match takes(&algorithm) {
            true => Ok(algorithm),
            false => Err(Failure::Misuse(format!(
                "there is no {algorithm}; keys of {}: {}",
                algorithm.mode,
                sizes::keys(algorithm.mode.info())
            ))),
        })
        .collect()
}

impl Plan {
    fn measure(&self) -> Result<Report, Failure> {
        let core = pinned(self.core)?;
        // Redrawn between measurements only: nothing else runs during one.
        let progress = ProgressBar::new((self.algorithms.len() * self.workloads.len()) as u64);
        if let Ok(style) = ProgressStyle::with_template("{pos}/{len} {wide_bar} {msg}") {
            progress.set_style(style);
        }
        progress.set_message("AES instructions");
        progress.tick();
        let sampler = Sampler::new(self.options.clone());
        let rates = Rates::measure(&sampler);
        let machine = Machine::look(sampler.clock(), core);

        let mut rows = Vec::new();
        let mut lines = Vec::new();
        for algorithm in &self.algorithms {
            let mut by_length: Vec<(usize, [Row; 2])> = Vec::new();
            for (i, (mix, workload)) in self.workloads.iter().enumerate() {
                progress.set_message(format!("{algorithm} {mix}"));
                let pair = self.setup.measure(
                    &|competitors| sampler.run(competitors),
                    &rates,
                    *algorithm,
                    mix,
                    workload,
                    [Schedule::Sequential, Schedule::Comb],
                )?;
                progress.inc(1);
                rows.extend(pair.clone());
                if i > 0 {
                    by_length.push((workload.lengths[0], pair));
                }
            }
            lines.extend((0..2).filter_map(|i| line(&by_length, i)));
        }
        progress.finish_and_clear();

        let drawn = &self.workloads[0].1;
        Ok(Report {
            machine,
            run: Run {
                version: env!("CARGO_PKG_VERSION"),
                mix: self.mix.clone(),
                messages: drawn.lengths.len(),
                bytes: drawn.total_bytes(),
                seed: self.setup.seed,
                form: self.setup.form.name(),
                blocks_per_cycle: rates.blocks().clone(),
                products_per_cycle: rates.products().clone(),
            },
            rows,
            lines,
        })
    }
}

/// The line through one competitor's costs.
fn line(by_length: &[(usize, [Row; 2])], competitor: usize) -> Option<Line> {
    let points: Vec<(usize, f64)> = by_length
        .iter()
        .map(|(length, pair)| (*length, pair[competitor].cycles_per_message))
        .collect();
    let floats: Vec<(f64, f64)> = points.iter().map(|(x, y)| (*x as f64, *y)).collect();
    let fit = least_squares(&floats)?;
    let row = &by_length.first()?.1[competitor];
    Some(Line {
        mode: row.mode.clone(),
        op: row.op.clone(),
        schedule: row.schedule,
        lanes: row.lanes,
        backend: row.backend.clone(),
        keys: row.keys.clone(),
        messages: row.messages,
        cycles_per_byte: fit.slope,
        cycles_per_message: fit.intercept,
        points,
    })
}

/// Of reports that take all figures at once.
fn warn_noisy(rows: usize) {
    warn_unoptimised();
    if rows > 0 {
        say(format_args!(
            "aescomb: warning: {rows} figures are noisy; --json names them"
        ));
    }
}

fn warn_unoptimised() {
    if cfg!(debug_assertions) {
        say(format_args!(
            "aescomb: warning: not built for speed; use `cargo run --release`"
        ));
    }
}

/// Says what is wrong with the figures, and what to do.
fn warn(report: &Report) {
    warn_unoptimised();
    let noisy = || {
        report
            .rows
            .iter()
            .filter_map(|row| Some((row, row.warning.as_ref()?)))
    };
    for (row, warning) in noisy().take(WARNINGS) {
        say(format_args!(
            "aescomb: warning: {} {} {}: {warning}",
            row.mode,
            row.mix,
            row.schedule.name()
        ));
    }
    let count = noisy().count();
    if count > WARNINGS {
        say(format_args!(
            "aescomb: warning: {count} of {} figures are noisy; --json and --csv name them all",
            report.rows.len()
        ));
    }
}
