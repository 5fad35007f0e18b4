//! Tables for people.

use super::Exporter;
use crate::bench::report::{Line, Report, Row};
use crate::table::{figure, table, text};
use std::io::{self, Write};

pub(crate) struct Table;

impl Exporter for Table {
    fn export(&self, report: &Report, out: &mut dyn Write) -> io::Result<()> {
        let Report {
            machine,
            run,
            rows,
            lines,
        } = report;
        writeln!(out, "{}", machine.cpu)?;
        writeln!(out, "{}", machine.frequency_line())?;
        for (what, rates) in [
            ("AES blocks per cycle and round", &run.blocks_per_cycle),
            ("carry-less products per cycle", &run.products_per_cycle),
        ] {
            if !rates.is_empty() {
                let rates: Vec<String> = rates
                    .iter()
                    .map(|(bits, rate)| format!("{rate:.2} with {bits} bits"))
                    .collect();
                writeln!(out, "{what}: {}", rates.join(", "))?;
            }
        }
        let keys = rows.first().map_or("", |row| &row.keys);
        writeln!(
            out,
            "batch of {}, mix {}, {} bytes; keys {keys}; form {}, built before the timing; seed {}",
            run.messages, run.mix, run.bytes, run.form, run.seed
        )?;
        let data = rows.iter().map(|row| row.data_bytes).max().unwrap_or(0);
        if data > 0 {
            writeln!(
                out,
                "{data} bytes of associated data where a mode takes any"
            )?;
        }
        writeln!(out, "core cycles per byte, medians\n")?;

        let pairs: Vec<&[Row]> = rows.chunks_exact(2).collect();
        let of_mix = |pair: &&&[Row]| pair[0].mix == run.mix;
        write!(out, "{}", costs(pairs.iter().filter(of_mix).copied()))?;
        if rows.iter().any(|row| row.rounded_up) {
            writeln!(
                out,
                "* does not take every length: rounded up, costs per rounded byte"
            )?;
        }
        if rows.iter().any(moved) {
            writeln!(
                out,
                "+ not in place: opening and taking off padding destroy their input, longer results have no room"
            )?;
        }
        if !lines.is_empty() {
            writeln!(
                out,
                "\ncore cycles per message of so many bytes, and the line through them\n"
            )?;
            write!(out, "{}", fits(lines))?;
        }
        Ok(())
    }
}

/// Whether results went elsewhere than where the messages were.
fn moved(row: &Row) -> bool {
    !row.in_place && row.op != "mac" && row.op != "verify"
}

/// Sequential and combed, side by side.
fn costs<'a>(pairs: impl Iterator<Item = &'a [Row]>) -> String {
    let mut costs = table(
        &[
            "mode",
            "op",
            "backend",
            "lanes",
            "sequential",
            "comb",
            "speed-up",
            "bound",
            "efficiency",
            "samples",
        ],
        &[0, 1, 2],
    );
    for pair in pairs {
        let [sequential, comb] = pair else { continue };
        let mut mode = comb.mode.clone();
        if comb.rounded_up {
            mode.push('*');
        }
        if moved(comb) {
            mode.push('+');
        }
        let speed_up = sequential.cpb.zip(comb.cpb).map(|(one, many)| one / many);
        costs.add_row([
            mode,
            comb.op.to_string(),
            comb.backend.to_string(),
            comb.lanes.to_string(),
            figure(sequential.cpb, 3),
            figure(comb.cpb, 3),
            figure(speed_up, 2),
            figure(comb.bound_cpb, 3),
            comb.efficiency
                .map_or("-".into(), |share| format!("{:.0} %", 100.0 * share)),
            comb.samples.to_string(),
        ]);
    }
    text(&costs)
}

/// Costs over lengths.
fn fits(lines: &[Line]) -> String {
    let lengths = lines.first().map_or(&[][..], |line| &line.points);
    let lengths: Vec<String> = lengths
        .iter()
        .map(|(length, _)| length.to_string())
        .collect();
    let mut header = vec!["mode", "schedule"];
    header.extend(lengths.iter().map(String::as_str));
    header.extend(["cycles/byte", "cycles/message"]);
    let mut fits = table(&header, &[0, 1]);
    for line in lines {
        let mut row = vec![line.mode.clone(), line.schedule.name().to_owned()];
        row.extend(line.points.iter().map(|(_, cycles)| format!("{cycles:.0}")));
        row.push(format!("{:.3}", line.cycles_per_byte));
        row.push(format!("{:.1}", line.cycles_per_message));
        fits.add_row(row);
    }
    text(&fits)
}
