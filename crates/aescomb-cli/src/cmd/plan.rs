//! `aescomb plan`: the comb scheduler's groups and windows, drawn.

use crate::failure::Failure;
use crate::output::Output;
use aescomb::Backend;
use aescomb::plan::{Group, comb_scheduler};
use std::fmt::Write as _;
use std::io::Write;
use std::process::ExitCode;

/// Print and draw how the comb scheduler works on messages of given lengths
///
/// Messages are sorted by decreasing length and taken in groups of up to P. Inside a group, windows
/// (lanes, rows) follow each other: the first `lanes` messages are done `rows` blocks further, side
/// by side. The drawing is figure 1 of the paper "Comb to Pipeline": a column for every message, m1
/// being the first of --lengths, and time running down. A line of a drawing stands for several
/// blocks where a group is long.
#[derive(Debug, clap::Args)]
pub(crate) struct PlanArgs {
    /// Lengths of the messages in blocks of 16 bytes, separated by commas
    #[arg(
        long,
        short,
        value_name = "LIST",
        value_delimiter = ',',
        required = true,
        value_parser = clap::value_parser!(u64).range(0..=MOST)
    )]
    lengths: Vec<u64>,
    /// Messages in flight [default: what suits this CPU]
    #[arg(short = 'P', long, value_name = "P", value_parser = clap::value_parser!(u64).range(1..=256))]
    parallel: Option<u64>,
    /// The lengths are in bytes; a block that is not full counts as one
    #[arg(long)]
    bytes: bool,
    /// Draw this many groups; of the others only print the windows
    #[arg(long, value_name = "N", default_value_t = 8)]
    draw: usize,
}

/// Longest message, so that sums of rows stay small numbers.
const MOST: u64 = 1 << 40;
/// Most lines of one drawing; every window has at least one.
const LINES: usize = 16;
/// Widest row of columns with a heading each.
const WIDTH: usize = 100;

impl PlanArgs {
    pub(crate) fn run(self, out: &mut Output) -> Result<ExitCode, Failure> {
        let unit = if self.bytes { 16 } else { 1 };
        let lengths: Vec<usize> = self
            .lengths
            .iter()
            .map(|length| length.div_ceil(unit) as usize)
            .collect();
        let degree = match self.parallel {
            Some(degree) => degree as usize,
            None => Backend::preferred(false).default_lanes(),
        };
        let groups = comb_scheduler(&lengths, degree);
        let blocks: usize = lengths.iter().sum();
        let rows: usize = groups.iter().map(rows).sum();
        writeln!(
            out,
            "P = {degree}: {}, {}, {} in {}{}",
            count(lengths.len(), "message"),
            count(blocks, "block"),
            count(groups.len(), "group"),
            count(rows, "row"),
            filled(blocks, rows, degree)
        )?;
        let total = groups.len();
        for (i, group) in groups.iter().enumerate() {
            let windows: Vec<String> = group
                .windows
                .iter()
                .map(|window| format!("({}, {})", window.lanes, window.rows))
                .collect();
            let windows = match windows.is_empty() {
                true => "none".into(),
                false => windows.join(" "),
            };
            let head = format!("group {} of {total}: windows {windows}", i + 1);
            if i < self.draw {
                write!(out, "\n{head}\n\n{}", draw(group, &lengths))?;
            } else {
                writeln!(out, "{head}")?;
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Rows of a group: the length of its longest message.
fn rows(group: &Group) -> usize {
    group.windows.iter().map(|window| window.rows).sum()
}

fn count(n: usize, what: &str) -> String {
    match n {
        1 => format!("1 {what}"),
        n => format!("{n} {what}s"),
    }
}

fn filled(blocks: usize, rows: usize, degree: usize) -> String {
    if rows == 0 {
        return String::new();
    }
    let share = blocks as f64 / (rows as f64 * degree as f64);
    format!("; {:.1} % of the lanes filled", 100.0 * share)
}

/// Columns of messages, lines of blocks, windows on the right.
fn draw(group: &Group, lengths: &[usize]) -> String {
    let names: Vec<String> = group
        .messages
        .iter()
        .map(|i| format!("m{}", i + 1))
        .collect();
    let sizes: Vec<String> = group
        .messages
        .iter()
        .map(|i| lengths[*i].to_string())
        .collect();
    let lines = lines(group);
    let ranges: Vec<String> = lines.iter().map(|line| line.range()).collect();
    let left = ranges
        .iter()
        .map(String::len)
        .max()
        .unwrap_or(0)
        .max("message".len());
    let widest = names
        .iter()
        .chain(&sizes)
        .map(String::len)
        .max()
        .unwrap_or(0)
        + 2;
    // Narrow columns have no headings; the messages are listed instead.
    let column = if widest * names.len() > WIDTH {
        1
    } else {
        widest
    };
    let mut text = String::new();
    if column == 1 {
        let list: Vec<String> = names
            .iter()
            .zip(&sizes)
            .map(|(name, size)| format!("{name} ({size})"))
            .collect();
        text.push_str("  messages (blocks), left to right:\n");
        for some in list.chunks(8) {
            let _ = writeln!(text, "  {}", some.join("  "));
        }
        text.push('\n');
    } else {
        for (head, cells) in [("message", &names), ("blocks", &sizes)] {
            let _ = write!(text, "  {head:>left$}");
            for cell in cells {
                let _ = write!(text, "{cell:>column$}");
            }
            text.push('\n');
        }
    }
    for (line, range) in lines.iter().zip(&ranges) {
        let _ = write!(text, "  {range:>left$}");
        if column == 1 {
            text.push_str("  ");
        }
        for place in 0..names.len() {
            let mark = if place < line.lanes { "#" } else { "" };
            let _ = write!(text, "{mark:>column$}");
        }
        let _ = writeln!(text, "  {}", line.brace);
    }
    text
}

/// A line of a drawing: some rows of one window.
struct Line {
    lanes: usize,
    /// First and last block, from 1.
    first: usize,
    last: usize,
    /// This line's part of the brace around its window.
    brace: String,
}

impl Line {
    fn range(&self) -> String {
        match self.first == self.last {
            true => self.first.to_string(),
            false => format!("{}-{}", self.first, self.last),
        }
    }
}

/// Every window's lines: in proportion to its rows, at least one, and no more
/// than it has rows.
fn lines(group: &Group) -> Vec<Line> {
    let total = rows(group);
    let mut lines = Vec::new();
    let mut done = 0;
    for window in &group.windows {
        let share = window.rows as f64 / total as f64 * LINES.min(total) as f64;
        let count = (share.round() as usize).clamp(1, window.rows);
        let label = format!("({}, {})", window.lanes, window.rows);
        for i in 0..count {
            let brace = match count {
                1 => format!("}} {label}"),
                _ if i == 0 => "\\".into(),
                _ if i + 1 == count => "/".into(),
                _ => "|".into(),
            };
            let middle = count > 1 && i == (count - 1) / 2;
            lines.push(Line {
                lanes: window.lanes,
                first: done + window.rows * i / count + 1,
                last: done + window.rows * (i + 1) / count,
                brace: if middle {
                    format!("{brace} {label}")
                } else {
                    brace
                },
            });
        }
        done += window.rows;
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_cover_every_row_once() {
        for lengths in [
            vec![94, 5, 5, 5, 85, 94, 94],
            vec![1],
            vec![0, 0],
            vec![1 << 40, 1, 2, 3, 1 << 39],
            (0..300).map(|i| i * 37 % 1000).collect(),
        ] {
            for degree in [1, 2, 7, 32, 256] {
                for group in comb_scheduler(&lengths, degree) {
                    let lines = lines(&group);
                    assert!(lines.len() <= LINES + group.windows.len());
                    let mut next = 1;
                    for line in &lines {
                        assert!(line.first == next && line.last >= line.first);
                        next = line.last + 1;
                    }
                    assert_eq!(next - 1, rows(&group));
                    assert!(draw(&group, &lengths).lines().all(|line| line.len() < 8000));
                }
            }
        }
    }
}
