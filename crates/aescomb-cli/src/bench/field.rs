//! `bench --field`: ways to multiply and to double in GF(2^128), against each other.

use crate::failure::Failure;
use crate::machine::Machine;
use crate::table::{figure, table, text};
use aescomb::Backend;
use aescomb::field::{Case, Usage, Variant, Work, cases};
use aescomb_measure::{Measurement, Sampler};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::io::Write;

/// Rows of 32 blocks that one call goes through: 16 KiB where there is a text.
const ROWS: usize = 32;
/// Differences below this are not told.
const CLEAR: f64 = 1.05;

/// Everything.
#[derive(Debug, Serialize)]
pub(crate) struct Report {
    machine: Machine,
    rows: Vec<Row>,
}

/// One variant in one use on one backend.
#[derive(Debug, Serialize)]
struct Row {
    #[serde(flatten)]
    figures: Figures,
    #[serde(skip)]
    case: Kind,
}

/// What is told of it. Costs are core cycles.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Figures {
    pub(crate) operation: Cow<'static, str>,
    pub(crate) usage: Cow<'static, str>,
    pub(crate) variant: Cow<'static, str>,
    pub(crate) description: Cow<'static, str>,
    pub(crate) backend: Cow<'static, str>,
    /// Blocks worked on side by side.
    pub(crate) lanes: usize,
    /// The library does it so.
    pub(crate) default: bool,
    pub(crate) constant_time: bool,
    /// Median, per product or doubling and what the use adds.
    pub(crate) cycles_per_block: f64,
    /// Median, per byte, of uses that encrypt.
    pub(crate) cpb: Option<f64>,
    pub(crate) samples: usize,
    pub(crate) discarded: usize,
    /// Why the figures had better be taken again.
    pub(crate) warning: Option<String>,
}

/// What a row is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Kind {
    variant: Variant,
    usage: Usage,
    backend: Backend,
}

/// How many figures there are to take.
pub(crate) fn figures() -> usize {
    cases().len()
}

/// Measures all cases of this CPU, those of one use taking turns.
pub(crate) fn measure(sampler: &Sampler, core: Option<usize>) -> Report {
    let machine = Machine::look(sampler.clock(), core);
    let mut rows = Vec::new();
    let mut left = cases();
    while let Some(first) = left.first().copied() {
        let together = |case: &Case| {
            case.usage == first.usage && case.variant.doubles() == first.variant.doubles()
        };
        let group: Vec<Case> = left.iter().copied().filter(|case| together(case)).collect();
        left.retain(|case| !together(case));
        let mut calls: Vec<_> = group
            .iter()
            .map(|case| {
                let mut work = Work::new(ROWS);
                move || case.run(&mut work)
            })
            .collect();
        let mut competitors: Vec<&mut dyn FnMut()> = calls
            .iter_mut()
            .map(|call| call as &mut dyn FnMut())
            .collect();
        let results = sampler.run(&mut competitors);
        rows.extend(group.iter().zip(&results).map(|(case, m)| row(case, m)));
    }
    Report { machine, rows }
}

fn row(case: &Case, measured: &Measurement) -> Row {
    let cycles = measured.per((ROWS * 16) as f64);
    Row {
        figures: Figures {
            operation: match case.variant.doubles() {
                true => "doubling",
                false => "multiplication",
            }
            .into(),
            usage: case.usage.name().into(),
            variant: case.variant.name().into(),
            description: case.variant.description().into(),
            backend: case.backend.name().into(),
            lanes: case.lanes(),
            default: case.is_default(),
            constant_time: case.variant.leak().is_none(),
            cycles_per_block: cycles,
            cpb: case.usage.encrypts().then_some(cycles / 16.0),
            samples: measured.kept,
            discarded: measured.discarded,
            warning: measured.noise().warning(),
        },
        case: Kind {
            variant: case.variant,
            usage: case.usage,
            backend: case.backend,
        },
    }
}

impl Report {
    /// What is told of every row.
    pub(crate) fn figures(self) -> Vec<Figures> {
        self.rows.into_iter().map(|row| row.figures).collect()
    }

    /// Rows whose figures had better be taken again.
    pub(crate) fn noisy(&self) -> usize {
        self.rows
            .iter()
            .filter(|row| row.figures.warning.is_some())
            .count()
    }

    /// One JSON document.
    pub(crate) fn json(&self, out: &mut dyn Write) -> Result<(), Failure> {
        serde_json::to_writer_pretty(&mut *out, self).map_err(std::io::Error::from)?;
        Ok(writeln!(out)?)
    }

    /// Tables for people.
    pub(crate) fn tables(&self, out: &mut dyn Write) -> Result<(), Failure> {
        writeln!(out, "{}", self.machine.cpu)?;
        writeln!(out, "{}", self.machine.frequency_line())?;
        writeln!(
            out,
            "medians; * as the library does it; serial and one message: a block in a 128-bit register"
        )?;
        writeln!(
            out,
            "the portable backend has the software product and no other"
        )?;
        let doubles = |row: &&Row| row.case.variant.doubles();
        let encrypts = |row: &&Row| row.case.usage.encrypts();
        for (title, digits, rows) in [
            (
                "multiplication, core cycles for each",
                2,
                self.rows(|row| !doubles(row) && !encrypts(row)),
            ),
            (
                "multiplication inside a mode, core cycles per byte, AES-128 included",
                3,
                self.rows(|row| encrypts(row)),
            ),
            (
                "doubling, core cycles for each",
                2,
                self.rows(|row| doubles(row)),
            ),
        ] {
            writeln!(out, "\n{title}\n")?;
            write!(out, "{}", costs(&rows, digits))?;
            writeln!(out, "seen: {}", self.seen(&rows))?;
        }
        Ok(())
    }

    fn rows(&self, wanted: impl Fn(&&Row) -> bool) -> Vec<&Row> {
        self.rows.iter().filter(wanted).collect()
    }

    /// What the rows of a table say, in one line.
    fn seen(&self, rows: &[&Row]) -> String {
        let mut faster = Vec::new();
        let mut groups = 0;
        for own in rows.iter().filter(|row| row.figures.default) {
            let others = rows.iter().filter(|row| {
                let (a, b) = (row.case, own.case);
                // The Gray code does something else; what leaks is no choice.
                (a.usage, a.backend) == (b.usage, b.backend)
                    && a != b
                    && row.figures.constant_time
                    && a.variant != Variant::Gray
            });
            let Some(best) = others.min_by(|a, b| {
                a.figures
                    .cycles_per_block
                    .total_cmp(&b.figures.cycles_per_block)
            }) else {
                continue;
            };
            groups += 1;
            let gain = own.figures.cycles_per_block / best.figures.cycles_per_block;
            if gain > CLEAR {
                faster.push(format!(
                    "{} {} {} {gain:.2} times as fast",
                    best.figures.usage, best.figures.backend, best.figures.variant
                ));
            }
        }
        let mut says = Vec::new();
        if groups > 0 {
            let rest = groups - faster.len();
            let mut line = format!(
                "the library's way is the fastest or within 5 % in {rest} of {groups} cases"
            );
            if !faster.is_empty() {
                line += &format!(" (but {})", faster.join(", "));
            }
            says.push(line);
        }
        let cost = |variant, usage| {
            let wanted = Kind {
                variant,
                usage,
                backend: Backend::Aesni,
            };
            let found = rows.iter().find(|row| row.case == wanted);
            found.map(|row| row.figures.cycles_per_block)
        };
        let ratios: Vec<String> = [
            Usage::Serial,
            Usage::Parallel,
            Usage::ChainOne,
            Usage::ChainMany,
        ]
        .into_iter()
        .filter_map(|usage| {
            let ratio = cost(Variant::Classical, usage)? / cost(Variant::Haswell, usage)?;
            Some(format!("{} {ratio:.2}", usage.name()))
        })
        .collect();
        if !ratios.is_empty() {
            says.push(format!(
                "aesni: cycles of classical over those of haswell: {}",
                ratios.join(", ")
            ));
        }
        let branches = [
            Variant::Extraction,
            Variant::Test,
            Variant::Mask,
            Variant::Comparison,
        ];
        let best = branches
            .into_iter()
            .filter_map(|variant| cost(variant, Usage::Serial))
            .reduce(f64::min);
        if let (Some(best), Some(own)) = (best, cost(Variant::Arithmetic, Usage::Serial)) {
            says.push(format!(
                "the best branch takes {:.1} times the cycles of arithmetic",
                best / own
            ));
        }
        says.join("; ")
    }
}

/// Variants down, backends across.
fn costs(rows: &[&Row], digits: usize) -> String {
    let backends: Vec<Backend> = Backend::ALL
        .into_iter()
        .rev()
        .filter(|backend| rows.iter().any(|row| row.case.backend == *backend))
        .collect();
    let mut header = vec!["use", "variant"];
    header.extend(backends.iter().map(|backend| backend.name()));
    header.extend(["constant time", "how"]);
    let mut costs = table(&header, &[0, 1, header.len() - 2, header.len() - 1]);
    let mut done: Vec<(Usage, Variant)> = Vec::new();
    for row in rows {
        let Kind { usage, variant, .. } = row.case;
        if done.contains(&(usage, variant)) {
            continue;
        }
        done.push((usage, variant));
        let mut cells = vec![
            row.figures.usage.to_string(),
            row.figures.variant.to_string(),
        ];
        cells.extend(backends.iter().map(|backend| {
            let wanted = Kind {
                usage,
                variant,
                backend: *backend,
            };
            let found = rows.iter().find(|row| row.case == wanted);
            let value = found.map(|row| row.figures.cpb.unwrap_or(row.figures.cycles_per_block));
            let mark = if found.is_some_and(|row| row.figures.default) {
                "*"
            } else {
                " "
            };
            figure(value, digits) + mark
        }));
        let leak = variant.leak();
        cells.push(leak.map_or("yes".into(), |why| format!("no: {why}")));
        cells.push(variant.description().to_owned());
        costs.add_row(cells);
    }
    text(&costs)
}
