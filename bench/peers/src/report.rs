//! Results: as JSON they are complete, as tables they are for people.

use crate::case::Case;
use crate::competitors::AESCOMB;
use crate::machine::Machine;
use aescomb_measure::Measurement;
use aescomb_measure::stats::least_squares;
use comfy_table::{CellAlignment, Table, presets};
use serde::Serialize;
use std::fmt::Write;

/// Everything, as `--json` prints it.
#[derive(Debug, Serialize)]
pub struct Report {
    pub program: &'static str,
    /// UTC, at the start.
    pub date: String,
    pub machine: Machine,
    pub run: Run,
    /// One for every case and workload.
    pub rows: Vec<Row>,
    /// One for every case, size of batch and competitor.
    pub lines: Vec<Line>,
    pub targets: Targets,
}

/// What is the same in all rows.
#[derive(Debug, Serialize)]
pub struct Run {
    pub key_bits: usize,
    pub keys: &'static str,
    pub tag_bytes: usize,
    pub data_bytes: usize,
    pub mixes: Vec<String>,
    pub messages: Vec<usize>,
    pub seed: u64,
    /// Asked for, of every figure.
    pub samples: usize,
    /// Limit for all of the sampling.
    pub seconds: u64,
    pub unit: &'static str,
}

/// A case with a workload, and everybody who was in it.
#[derive(Debug, Serialize)]
pub struct Row {
    pub case: String,
    pub mode: &'static str,
    pub op: &'static str,
    pub forged: bool,
    pub mix: String,
    /// In the batch.
    pub messages: usize,
    /// Of all messages, as rounded for the mode; associated data not counted.
    pub bytes: usize,
    pub rounded_up: bool,
    pub in_place: bool,
    pub nonce_bytes: usize,
    pub data_bytes: usize,
    /// Whether the row is there for a line over lengths.
    pub of_line: bool,
    /// Of aescomb.
    pub backend: &'static str,
    pub lanes: usize,
    pub competitors: Vec<Figure>,
    pub best_peer: Option<Best>,
}

/// What a competitor takes.
#[derive(Debug, Serialize)]
pub struct Figure {
    pub library: &'static str,
    pub version: String,
    pub interface: &'static str,
    pub cycles_per_byte: Spread,
    /// Median.
    pub cycles_per_message: f64,
    /// Over the best interface of aescomb: above 1, aescomb is so many times as fast.
    pub ratio: f64,
    /// For forged messages, over what this competitor takes for good ones.
    pub forged_to_good: Option<f64>,
    pub samples: usize,
    pub discarded: usize,
    /// Whether it had better be measured again.
    pub noisy: bool,
    /// Why.
    #[serde(skip)]
    pub warning: Option<String>,
}

#[derive(Debug, Serialize)]
pub struct Spread {
    pub median: f64,
    pub min: f64,
    pub lower_quartile: f64,
    pub upper_quartile: f64,
}

/// The fastest peer, and what aescomb should make of it.
#[derive(Debug, Serialize)]
pub struct Best {
    pub library: &'static str,
    pub interface: &'static str,
    pub ratio: f64,
    pub target: Option<f64>,
    pub met: Option<bool>,
}

/// Costs of a competitor over lengths.
#[derive(Debug, Serialize)]
pub struct Line {
    pub case: String,
    pub messages: usize,
    pub library: &'static str,
    pub interface: &'static str,
    /// Slope.
    pub cycles_per_byte: f64,
    /// Intercept.
    pub cycles_per_message: f64,
    /// Bytes of a message, core cycles for it.
    pub points: Vec<(usize, f64)>,
}

#[derive(Debug, Serialize)]
pub struct Targets {
    pub met: usize,
    pub missed: usize,
}

impl Figure {
    pub fn new(
        (library, version, interface): (&'static str, String, &'static str),
        measurement: &Measurement,
        (bytes, messages): (usize, usize),
    ) -> Figure {
        let per_byte = |cycles: f64| short(cycles / bytes as f64);
        Figure {
            library,
            version,
            interface,
            cycles_per_byte: Spread {
                median: per_byte(measurement.median),
                min: per_byte(measurement.min),
                lower_quartile: per_byte(measurement.lower_quartile),
                upper_quartile: per_byte(measurement.upper_quartile),
            },
            cycles_per_message: short(measurement.per(messages as f64)),
            ratio: f64::NAN,
            forged_to_good: None,
            samples: measurement.kept,
            discarded: measurement.discarded,
            noisy: measurement.noise().is_noisy(),
            warning: measurement.noise().warning(),
        }
    }

    fn is_ours(&self) -> bool {
        self.library == AESCOMB
    }
}

/// Five digits, which is more than is known.
fn short(value: f64) -> f64 {
    format!("{value:.4e}").parse().unwrap_or(value)
}

fn fastest<'a>(figures: impl Iterator<Item = &'a Figure>) -> Option<&'a Figure> {
    figures.min_by(|a, b| f64::total_cmp(&a.cycles_per_message, &b.cycles_per_message))
}

/// Sets every competitor against the best interface of aescomb; the best of the others.
pub fn compare(figures: &mut [Figure], target: Option<f64>) -> Option<Best> {
    let ours = fastest(figures.iter().filter(|figure| figure.is_ours()))?.cycles_per_message;
    for figure in figures.iter_mut() {
        figure.ratio = short(figure.cycles_per_message / ours);
    }
    let best = fastest(figures.iter().filter(|figure| !figure.is_ours()))?;
    Some(Best {
        library: best.library,
        interface: best.interface,
        ratio: best.ratio,
        target,
        met: target.map(|target| best.ratio >= target),
    })
}

/// Sets forged messages against the good ones of the same race.
pub fn compare_forged(good: &[Figure], forged: &mut [Figure]) {
    for (good, forged) in good.iter().zip(forged) {
        forged.forged_to_good = Some(short(forged.cycles_per_message / good.cycles_per_message));
    }
}

/// The lines through the rows of each case and size of batch.
pub fn lines(rows: &[Row], cases: &[Case], messages: &[usize]) -> Vec<Line> {
    let mut lines = Vec::new();
    for messages in messages {
        for case in cases {
            let name = case.name();
            let of_line = |row: &&Row| row.of_line && row.messages == *messages && row.case == name;
            let rows: Vec<&Row> = rows.iter().filter(of_line).collect();
            let competitors = rows.first().map_or(0, |row| row.competitors.len());
            lines.extend((0..competitors).filter_map(|i| line(&rows, i)));
        }
    }
    lines
}

fn line(rows: &[&Row], competitor: usize) -> Option<Line> {
    let point = |row: &&Row| {
        let cycles = row.competitors[competitor].cycles_per_message;
        (row.bytes / row.messages, cycles)
    };
    let points: Vec<(usize, f64)> = rows.iter().map(point).collect();
    let floats: Vec<(f64, f64)> = points.iter().map(|(x, y)| (*x as f64, *y)).collect();
    let fit = least_squares(&floats)?;
    let row = rows.first()?;
    let figure = &row.competitors[competitor];
    Some(Line {
        case: row.case.clone(),
        messages: row.messages,
        library: figure.library,
        interface: figure.interface,
        cycles_per_byte: short(fit.slope),
        cycles_per_message: short(fit.intercept),
        points,
    })
}

impl Targets {
    pub fn count(rows: &[Row]) -> Targets {
        let verdicts = || rows.iter().filter_map(|row| row.best_peer.as_ref()?.met);
        Targets {
            met: verdicts().filter(|met| *met).count(),
            missed: verdicts().filter(|met| !met).count(),
        }
    }
}

impl Best {
    /// `1.8: met`, if there is a target.
    fn verdict(&self) -> String {
        match (self.target, self.met) {
            (Some(target), Some(met)) => {
                format!("{target:?} {}", if met { "met" } else { "missed" })
            }
            _ => String::new(),
        }
    }
}

impl Report {
    /// The tables.
    pub fn tables(&self) -> String {
        let Report { machine, run, .. } = self;
        let mut text = format!(
            "{}\ncore at {:.0} MHz, counter at {:.0} MHz; {}\nAES-{}, {}; {} bytes of associated data\n",
            machine.cpu,
            machine.core_mhz,
            machine.counter_mhz,
            self.date,
            run.key_bits,
            run.keys,
            run.data_bytes
        );
        for messages in &run.messages {
            for mix in &run.mixes {
                let of_mix =
                    |row: &&Row| row.messages == *messages && row.mix == *mix && !row.of_line;
                let rows: Vec<&Row> = self.rows.iter().filter(of_mix).collect();
                if !rows.is_empty() {
                    let _ = write!(text, "\nmix {mix}, {messages} messages\n\n{}", costs(&rows));
                }
            }
            let lines: Vec<&Line> = self
                .lines
                .iter()
                .filter(|line| line.messages == *messages)
                .collect();
            if !lines.is_empty() {
                let _ = write!(
                    text,
                    "\nbatches of {messages}: core cycles per message of so many bytes, and the line \
                     through them\n\n{}",
                    fits(&lines)
                );
                let of_line = |row: &&Row| row.of_line && row.messages == *messages;
                let rows: Vec<&Row> = self.rows.iter().filter(of_line).collect();
                let _ = write!(
                    text,
                    "\nbatches of {messages}: the best peer's cycles over aescomb's\n\n{}",
                    ratios(&rows)
                );
            }
        }
        let Targets { met, missed } = self.targets;
        let _ = writeln!(text, "\ntargets: {met} met, {missed} missed");
        let figures = || self.rows.iter().flat_map(|row| &row.competitors);
        let noisy = figures().filter(|figure| figure.noisy).count();
        if let Some(why) = figures().find_map(|figure| figure.warning.as_ref()) {
            let _ = writeln!(
                text,
                "{noisy} figures are noisy, the first one for this: {why}"
            );
        }
        text
    }
}

/// All competitors with a mix.
fn costs(rows: &[&Row]) -> String {
    let header = [
        "case",
        "library",
        "interface",
        "cycles/byte",
        "min",
        "cycles/msg",
        "ratio",
        "forged/good",
        "target",
    ];
    let mut table = table(&header, 3);
    for row in rows {
        let mark = if row.rounded_up { "*" } else { "" };
        for (i, figure) in row.competitors.iter().enumerate() {
            let verdict = row.best_peer.as_ref().map(Best::verdict);
            let forged = figure.forged_to_good;
            table.add_row([
                format!("{}{mark}", row.case),
                figure.library.into(),
                figure.interface.into(),
                format!("{:.3}", figure.cycles_per_byte.median),
                format!("{:.3}", figure.cycles_per_byte.min),
                format!("{:.1}", figure.cycles_per_message),
                format!("{:.2}", figure.ratio),
                forged.map_or(String::new(), |ratio| format!("{ratio:.2}")),
                verdict.filter(|_| i == 0).unwrap_or_default(),
            ]);
        }
    }
    let mut text = table.trim_fmt() + "\n";
    if rows.iter().any(|row| row.rounded_up) {
        text += "* lengths rounded up for the mode, costs per rounded byte\n";
    }
    text
}

/// Costs over lengths.
fn fits(lines: &[&Line]) -> String {
    let lengths = lines.iter().flat_map(|line| &line.points);
    let lengths: std::collections::BTreeSet<usize> = lengths.map(|(length, _)| *length).collect();
    let lengths: Vec<String> = lengths.iter().map(usize::to_string).collect();
    let mut header = vec!["case", "library", "interface"];
    header.extend(lengths.iter().map(String::as_str));
    header.extend(["cycles/byte", "cycles/msg"]);
    let mut table = table(&header, 3);
    for line in lines {
        let mut row = vec![
            line.case.clone(),
            line.library.into(),
            line.interface.into(),
        ];
        row.extend(line.points.iter().map(|(_, cycles)| format!("{cycles:.0}")));
        row.push(format!("{:.3}", line.cycles_per_byte));
        row.push(format!("{:.1}", line.cycles_per_message));
        table.add_row(row);
    }
    table.trim_fmt() + "\n"
}

/// The best peer of each case over lengths.
fn ratios(rows: &[&Row]) -> String {
    let Some(first) = rows.first() else {
        return String::new();
    };
    let lengths = rows.iter().filter(|row| row.case == first.case);
    let lengths: Vec<String> = lengths.map(|row| row.mix.replace("fixed:", "")).collect();
    let mut header = vec!["case"];
    header.extend(lengths.iter().map(String::as_str));
    header.push("target");
    let mut table = table(&header, 1);
    let cases = rows.iter().filter(|row| row.mix == first.mix);
    for case in cases.map(|row| &row.case) {
        let best: Vec<&Best> = rows
            .iter()
            .filter(|row| row.case == *case)
            .filter_map(|row| row.best_peer.as_ref())
            .collect();
        let mut row = vec![case.clone()];
        row.extend(best.iter().map(|best| format!("{:.2}", best.ratio)));
        let missed = best.iter().filter(|best| best.met == Some(false)).count();
        row.push(match best.first().and_then(|best| best.target) {
            None => String::new(),
            Some(target) if missed == 0 => format!("{target:?} met"),
            Some(target) => format!("{target:?} missed {missed} times"),
        });
        table.add_row(row);
    }
    table.trim_fmt() + "\n"
}

/// A table without lines; the first `left` columns are aligned to the left.
fn table(header: &[&str], left: usize) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(header);
    for (i, column) in table.column_iter_mut().enumerate() {
        column.set_padding((0, 2));
        if i >= left {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure(library: &'static str, cycles: f64) -> Figure {
        Figure {
            library,
            version: "1".into(),
            interface: "x",
            cycles_per_byte: Spread {
                median: cycles / 10.0,
                min: cycles / 11.0,
                lower_quartile: cycles / 10.5,
                upper_quartile: cycles / 9.5,
            },
            cycles_per_message: cycles,
            ratio: f64::NAN,
            forged_to_good: None,
            samples: 91,
            discarded: 0,
            noisy: false,
            warning: None,
        }
    }

    fn row(length: usize, cycles: [f64; 2]) -> Row {
        let mut competitors = vec![figure(AESCOMB, cycles[0]), figure("peer", cycles[1])];
        let best_peer = compare(&mut competitors, Some(1.0));
        Row {
            case: Case::ALL[0].name(),
            mode: "ecb",
            op: "encrypt",
            forged: false,
            mix: format!("fixed:{length}"),
            messages: 4,
            bytes: 4 * length,
            rounded_up: false,
            in_place: true,
            nonce_bytes: 0,
            data_bytes: 0,
            of_line: true,
            backend: "portable",
            lanes: 1,
            competitors,
            best_peer,
        }
    }

    #[test]
    fn the_best_on_each_side_counts() {
        let mut figures = vec![
            figure(AESCOMB, 30.0),
            figure(AESCOMB, 20.0),
            figure("slow", 90.0),
            figure("fast", 30.0),
        ];
        let best = compare(&mut figures, Some(1.8)).unwrap();
        assert_eq!(
            (best.library, best.ratio, best.met),
            ("fast", 1.5, Some(false))
        );
        let ratios: Vec<f64> = figures.iter().map(|figure| figure.ratio).collect();
        assert_eq!(ratios, [1.5, 1.0, 4.5, 1.5]);
        assert_eq!(compare(&mut figures, Some(1.5)).unwrap().met, Some(true));
        assert_eq!(compare(&mut figures, None).unwrap().met, None);
        assert!(compare(&mut figures[..2], Some(1.0)).is_none());
    }

    #[test]
    fn figures_are_short() {
        assert_eq!(short(0.123_456_789), 0.12346);
        assert_eq!(short(98_765.4), 98_765.0);
        assert_eq!(short(-1.5), -1.5);
        assert!(short(f64::NAN).is_nan());
    }

    #[test]
    fn forged_beside_good() {
        let good = [figure("peer", 20.0)];
        let mut forged = [figure("peer", 30.0)];
        compare_forged(&good, &mut forged);
        assert_eq!(forged[0].forged_to_good, Some(1.5));
    }

    #[test]
    fn lines_and_tables() {
        let rows = vec![row(16, [26.0, 20.0]), row(64, [74.0, 164.0])];
        let cases = &Case::ALL[..2];
        let lines = lines(&rows, cases, &[4]);
        assert_eq!(lines.len(), 2);
        assert!((lines[0].cycles_per_byte - 1.0).abs() < 1e-9);
        assert!((lines[0].cycles_per_message - 10.0).abs() < 1e-9);
        assert_eq!(lines[1].points, [(16, 20.0), (64, 164.0)]);
        let targets = Targets::count(&rows);
        assert_eq!((targets.met, targets.missed), (1, 1));
        let rows: Vec<&Row> = rows.iter().collect();
        assert!(ratios(&rows).contains("1.0 missed 1 times"));
        assert!(costs(&rows).contains("1.0 met"));
        assert!(fits(&lines.iter().collect::<Vec<_>>()).contains("164"));
    }
}
