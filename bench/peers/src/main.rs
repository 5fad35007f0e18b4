//! aescomb beside other libraries: the same messages under the same key, in one run whose
//! samples alternate between all of them. What each makes of the messages is compared with
//! a textbook implementation before it is timed.

#![deny(unsafe_code)]

mod batch;
mod c;
mod case;
mod competitors;
mod machine;
mod ours;
mod report;
mod rust;

use aescomb::{Comb, Mode};
use aescomb_measure::{Mix, Options, Sampler, Workload, fresh_seed, pin};
use batch::{Competitor, Problem};
use case::Case;
use clap::Parser;
use competitors::offers;
use indicatif::{ProgressBar, ProgressStyle};
use machine::Machine;
use report::{Figure, Report, Row, Run, Targets};
use std::process::ExitCode;
use std::time::{Duration, SystemTime};

/// Race aescomb against other libraries
///
/// Without options: the mix internet, then 8 lengths from 16 to 2048 bytes with the line through
/// them, each in batches of 256 messages and of one; all modes and every library that has them.
///
/// Costs are core cycles, medians. A ratio is what somebody takes over what the best interface of
/// aescomb takes. The ratio of the best peer is what targets are for.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    /// Message lengths: internet, ipi, imix, fixed:N, pcap:FILE, lengths:FILE
    #[arg(long, value_delimiter = ',', default_value = "internet")]
    mix: Vec<Mix>,
    /// Messages in the batch [default: 256,1, or 256 with --quick]
    ///
    /// Of a mix of lengths one message says nothing: alone, messages have the lengths of the lines
    /// only, or a fixed one.
    #[arg(short = 'n', long, value_delimiter = ',', value_name = "N",
          value_parser = clap::value_parser!(u32).range(1..=1 << 20))]
    messages: Vec<u32>,
    /// Modes [default: all]
    #[arg(short, long, value_delimiter = ',')]
    mode: Vec<Mode>,
    /// Bytes of associated data of every message, in modes that take any
    // ipsec-mb takes no more in CCM, and does not look.
    #[arg(long, default_value_t = 12, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=46))]
    data_bytes: u32,
    /// Greatest time for sampling [default: 480, or 120 with --quick]
    #[arg(long, value_name = "S", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    seconds: Option<u64>,
    /// Samples of every figure, if there is time for them
    #[arg(long, default_value_t = 91, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    samples: u32,
    /// The mixes in batches only, no lines
    #[arg(long)]
    quick: bool,
    /// See whether everybody is right, on small batches, and measure nothing
    #[arg(long, conflicts_with_all = ["mix", "messages", "data_bytes", "quick", "json"])]
    check: bool,
    /// Seed of lengths, contents and offsets [default: a fresh one]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Print JSON; the tables then go to standard error
    #[arg(long)]
    json: bool,
}

/// Lengths of the lines, in bytes.
const LENGTHS: [usize; 8] = [16, 64, 128, 256, 512, 1024, 1536, 2048];
/// What targets are for, beside single messages.
const USUAL: (Mix, usize, usize) = (Mix::Internet, 256, 12);

/// A size of batch and a mix.
#[derive(Clone, Debug, PartialEq)]
struct Course {
    mix: Mix,
    messages: usize,
    of_line: bool,
}

impl Arguments {
    fn sizes(&self) -> Vec<usize> {
        match (self.messages.is_empty(), self.quick) {
            (true, false) => vec![256, 1],
            (true, true) => vec![256],
            _ => self.messages.iter().map(|n| *n as usize).collect(),
        }
    }

    /// What is raced on, in this order.
    fn courses(&self) -> Vec<Course> {
        let mut courses = Vec::new();
        for messages in self.sizes() {
            let fixed = |mix: &&Mix| matches!(mix, Mix::Fixed(_));
            let mixes = self.mix.iter().filter(|mix| messages > 1 || fixed(mix));
            courses.extend(mixes.cloned().map(|mix| Course {
                mix,
                messages,
                of_line: false,
            }));
            if !self.quick {
                courses.extend(LENGTHS.map(|length| Course {
                    mix: Mix::Fixed(length),
                    messages,
                    of_line: true,
                }));
            }
        }
        courses
    }

    fn cases(&self) -> Vec<Case> {
        let asked = |case: &&Case| self.mode.is_empty() || self.mode.contains(&case.mode);
        Case::ALL.iter().filter(asked).copied().collect()
    }
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let done = match arguments.check {
        true => check(&arguments),
        false => race(&arguments),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("peers: {message}");
            ExitCode::FAILURE
        }
    }
}

/// `--check`: everybody who can do a case does a few batches.
fn check(arguments: &Arguments) -> Result<(), String> {
    let seed = arguments.seed.unwrap_or_else(fresh_seed);
    let mixed: Vec<usize> = (1..=67).chain([255, 256, 257, 1500, 2048]).collect();
    let batches = [vec![16], vec![1500], vec![40; 33], mixed];
    let (mut right, mut wrong) = (0, Vec::new());
    for lengths in batches {
        for case in arguments.cases() {
            for data_bytes in [0, 12, 46] {
                let mut workload = Workload {
                    lengths: lengths.clone(),
                    contents: None,
                };
                case.fit(&mut workload);
                let problem = Problem::new(case, &workload, data_bytes, seed)
                    .map_err(|error| error.to_string())?;
                for offer in offers(case, lengths.len(), data_bytes) {
                    match offer.start(&problem) {
                        Ok(_) => right += 1,
                        Err(message) => wrong.push(message),
                    }
                }
            }
        }
    }
    println!("{right} batches right, {} wrong", wrong.len());
    match wrong.is_empty() {
        true => Ok(()),
        false => Err(wrong.join("\npeers: ")),
    }
}

fn race(arguments: &Arguments) -> Result<(), String> {
    let (cases, courses) = (arguments.cases(), arguments.courses());
    if cases.is_empty() || courses.is_empty() {
        return Err("nothing to race on; --help says what there is".into());
    }
    let data_bytes = arguments.data_bytes as usize;
    let core = pin::pin_any()
        .inspect_err(|error| eprintln!("peers: warning: {error}"))
        .ok();
    let seed = arguments.seed.unwrap_or_else(fresh_seed);
    let usual_seconds = if arguments.quick { 120 } else { 480 };
    let seconds = arguments.seconds.unwrap_or(usual_seconds);
    let figures: usize = courses
        .iter()
        .flat_map(|course| {
            cases
                .iter()
                .map(|case| offers(*case, course.messages, data_bytes).len())
        })
        .sum();
    let sampler = Sampler::new(Options {
        samples: arguments.samples as usize,
        budget: Some(Duration::from_secs(seconds) / figures as u32),
        ..Options::default()
    });
    let date = humantime::format_rfc3339_seconds(SystemTime::now()).to_string();
    let machine = Machine::look(sampler.clock(), core);

    // Redrawn between measurements only: nothing else runs during one.
    let progress = ProgressBar::new(figures as u64);
    let style = ProgressStyle::with_template("{pos}/{len} {wide_bar} {eta} left, {msg}");
    progress.set_style(style.map_err(|error| error.to_string())?);
    let mut rows = Vec::new();
    for course in &courses {
        let source = course.mix.open().map_err(|error| error.to_string())?;
        let drawn = source.draw(Some(course.messages), seed);
        // Good and forged messages of a mode race together.
        for cases in cases.chunk_by(|a, b| (a.mode, a.op) == (b.mode, b.op)) {
            progress.set_message(format!("{} {}", cases[0].name(), course.mix));
            progress.tick();
            let measured = measure(&sampler, course, cases, &drawn, data_bytes, seed)?;
            progress.inc(
                measured
                    .iter()
                    .map(|row| row.competitors.len() as u64)
                    .sum(),
            );
            rows.extend(measured);
        }
    }
    progress.finish_and_clear();

    let report = Report {
        program: env!("CARGO_PKG_NAME"),
        date,
        machine,
        run: Run {
            key_bits: 128,
            keys: "one for all messages, expanded before",
            tag_bytes: 16,
            data_bytes,
            mixes: arguments.mix.iter().map(Mix::to_string).collect(),
            messages: arguments.sizes(),
            seed,
            samples: sampler.options().samples,
            seconds,
            unit: "core cycles",
        },
        lines: report::lines(&rows, &cases, &arguments.sizes()),
        targets: Targets::count(&rows),
        rows,
    };
    if arguments.json {
        eprint!("{}", report.tables());
        println!(
            "{}",
            serde_json::to_string_pretty(&report).map_err(|error| error.to_string())?
        );
    } else {
        print!("{}", report.tables());
    }
    Ok(())
}

/// Cases that are measured together, with everybody who can do them: their rows.
fn measure(
    sampler: &Sampler,
    course: &Course,
    cases: &[Case],
    drawn: &Workload,
    data_bytes: usize,
    seed: u64,
) -> Result<Vec<Row>, String> {
    let mut workload = drawn.clone();
    let rounded_up = cases[0].fit(&mut workload);
    let mut names = Vec::new();
    let mut runs: Vec<Box<dyn FnMut()>> = Vec::new();
    for case in cases {
        let problem =
            Problem::new(*case, &workload, data_bytes, seed).map_err(|error| error.to_string())?;
        for offer in offers(*case, course.messages, data_bytes) {
            names.push((offer.library, offer.version.clone(), offer.interface));
            let mut competitor: Box<dyn Competitor> = offer.start(&problem)?;
            let refused = problem.refused();
            runs.push(Box::new(move || {
                assert_eq!(competitor.run(), Some(refused))
            }));
        }
    }
    let mut runs: Vec<&mut dyn FnMut()> = runs.iter_mut().map(|run| &mut **run as _).collect();
    let measurements = sampler.run(&mut runs);

    let units = (workload.total_bytes(), course.messages);
    let figures = names.into_iter().zip(&measurements);
    let mut figures = figures.map(|(name, measurement)| Figure::new(name, measurement, units));
    let usual = (&course.mix, course.messages, data_bytes) == (&USUAL.0, USUAL.1, USUAL.2);
    let mut rows: Vec<Row> = Vec::new();
    for case in cases {
        let info = case.mode.info();
        let here = offers(*case, course.messages, data_bytes).len();
        let mut competitors: Vec<Figure> = figures.by_ref().take(here).collect();
        let target = case.target(usual && !course.of_line, course.messages);
        let best_peer = report::compare(&mut competitors, target);
        if let (true, Some(good)) = (case.forged, rows.first()) {
            report::compare_forged(&good.competitors, &mut competitors);
        }
        let comb = Comb::new();
        rows.push(Row {
            case: case.name(),
            mode: info.name,
            op: case.op.name(),
            forged: case.forged,
            mix: course.mix.to_string(),
            messages: course.messages,
            bytes: workload.total_bytes(),
            rounded_up,
            in_place: case.in_place(),
            nonce_bytes: case.nonce_bytes(),
            data_bytes: if case.is_aead() { data_bytes } else { 0 },
            of_line: course.of_line,
            backend: comb.backend(case.mode, case.op).name(),
            lanes: comb.lanes(case.mode, case.op),
            competitors,
            best_peer,
        });
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn courses(line: &str) -> Vec<Course> {
        Arguments::parse_from(line.split(' ')).courses()
    }

    #[test]
    fn courses_are_those_asked_for() {
        let all = courses("peers");
        assert_eq!(all.len(), 1 + 8 + 8);
        assert_eq!((&all[0].mix, all[0].messages), (&USUAL.0, USUAL.1));
        assert_eq!(all.iter().filter(|course| course.messages == 1).count(), 8);
        assert_eq!(courses("peers --quick").len(), 1);
        assert_eq!(
            courses("peers --quick --mix imix,ipi --mix fixed:64").len(),
            3
        );
        assert_eq!(courses("peers --quick -n 8,1 --mix imix,fixed:64").len(), 3);
        assert!(courses("peers --quick -n 1").is_empty());
    }

    #[test]
    fn every_case_has_a_peer() {
        for case in Case::ALL {
            let offers = offers(*case, 256, 12);
            assert_eq!(offers[0].library, competitors::AESCOMB);
            assert!(offers.len() > 1, "{}", case.name());
            for offer in offers {
                assert!(!offer.version.is_empty(), "{}", offer.name());
            }
        }
    }

    #[test]
    fn everybody_is_right() {
        check(&Arguments::parse_from(["peers", "--check"])).unwrap();
    }
}
