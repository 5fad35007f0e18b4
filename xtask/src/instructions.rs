//! `cargo xtask instructions`: the instructions that a message takes, and the figures
//! in [`PAGE`] that they must not exceed.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::{env, fs};

/// Where the figures stand: in the rows of its table.
const PAGE: &str = "bench/instructions.md";
/// Messages of a batch.
const MESSAGES: u32 = 256;
/// How far a count may be from its figure: compilers and C libraries differ a little.
const MARGIN: f64 = 0.02;

/// Backends with forms of a batch, modes with operations: `vaes512 packed`, `cbc encrypt`.
type Place = (String, String);

/// Figures in order: rows and columns as they were counted.
#[derive(Debug, Default, PartialEq)]
struct Table {
    columns: Vec<String>,
    rows: Vec<String>,
    figures: BTreeMap<Place, f64>,
}

/// Counts, and compares with the page or writes it anew; whether all is well.
pub fn run(root: &Path, program: &Path, update: bool) -> Result<bool, String> {
    let mut counted = Table::default();
    for (line, count) in counts(program)? {
        let mut words = line.splitn(3, ' ');
        let mut word = || words.next().unwrap_or_default();
        let column = format!("{} {}", word(), word());
        let row = word().to_owned();
        counted.put(column, row, count as f64 / f64::from(MESSAGES));
    }
    let page = root.join(PAGE);
    let written = match fs::read_to_string(&page) {
        Ok(text) => Table::parse(&text),
        Err(_) if update => Table::default(),
        Err(e) => return Err(format!("{PAGE}: {e}")),
    };
    for column in written
        .columns
        .iter()
        .filter(|c| !counted.columns.contains(c))
    {
        println!("SKIPPED: not counted on this CPU: {column}");
    }
    for column in counted.columns_beyond(&written) {
        println!("SKIPPED: {PAGE} has no figures of {column}, which --update adds");
    }
    if update {
        let text = page_of(&counted.with_others_of(&written))?;
        fs::write(&page, text).map_err(|e| format!("{PAGE}: {e}"))?;
        return Ok(true);
    }
    let (failures, lower) = counted.compare(&written);
    for failure in &failures {
        println!("FAILED: {failure}");
    }
    for lower in &lower {
        println!("lower: {lower}");
    }
    if !lower.is_empty() {
        println!("to keep what was won: cargo xtask instructions --update");
    }
    let compared = counted.figures.keys();
    let compared = compared.filter(|place| written.figures.contains_key(place));
    println!(
        "instructions: {} figures, of which {PAGE} has {}, {} lower, {} failures",
        counted.figures.len(),
        compared.count(),
        lower.len(),
        failures.len()
    );
    Ok(failures.is_empty())
}

#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
fn counts(program: &Path) -> Result<Vec<(String, u64)>, String> {
    crate::trace::counts(&mut Command::new(program), &MESSAGES.to_string())
        .map_err(|e| format!("{}: {e}", program.display()))
}

#[cfg(not(all(target_arch = "x86_64", target_os = "linux")))]
fn counts(_: &Path) -> Result<Vec<(String, u64)>, String> {
    Err("instructions are counted on x86-64 Linux only".to_owned())
}

impl Table {
    fn put(&mut self, column: String, row: String, figure: f64) {
        for (names, name) in [(&mut self.columns, &column), (&mut self.rows, &row)] {
            if !names.contains(name) {
                names.push(name.clone());
            }
        }
        self.figures.insert((column, row), figure);
    }

    /// The first table of a page.
    fn parse(text: &str) -> Table {
        let mut table = Table::default();
        let cells = |line: &str| -> Vec<String> {
            let cells = line.trim_matches('|').split('|');
            cells.map(|cell| cell.trim().to_owned()).collect()
        };
        let mut lines = text.lines().filter(|line| line.starts_with('|')).map(cells);
        let columns = lines.next().unwrap_or_default();
        for line in lines {
            for (column, cell) in columns.iter().zip(&line).skip(1) {
                if let Ok(figure) = cell.parse() {
                    table.put(column.clone(), line[0].clone(), figure);
                }
            }
        }
        table
    }

    /// Columns that the other lacks.
    fn columns_beyond<'t>(&'t self, other: &'t Table) -> impl Iterator<Item = &'t String> {
        let lacks = |column: &&String| !other.columns.contains(column);
        self.columns.iter().filter(lacks)
    }

    /// This one, and of the other what stands in columns that this one lacks.
    fn with_others_of(mut self, other: &Table) -> Table {
        let mine = self.columns.clone();
        for (place, figure) in &other.figures {
            let (column, row) = place;
            if !mine.contains(column) && self.rows.contains(row) {
                self.put(column.clone(), row.clone(), *figure);
            }
        }
        self
    }

    /// Where figures of this table are above those of the other, or in only one of them, in
    /// columns that both have; and where they are below.
    fn compare(&self, other: &Table) -> (Vec<String>, Vec<String>) {
        let (mut failures, mut lower) = (Vec::new(), Vec::new());
        for (place, now) in &self.figures {
            let about = format!("{} {}: {now:.1}", place.0, place.1);
            match other.figures.get(place) {
                None if !other.columns.contains(&place.0) => {}
                None => failures.push(format!("{about}, no figure in {PAGE}")),
                Some(was) if *now > was * (1.0 + MARGIN) => {
                    failures.push(format!(
                        "{about} instructions a message, {was:.1} in {PAGE}"
                    ));
                }
                Some(was) if *now < was * (1.0 - MARGIN) => {
                    lower.push(format!("{about}, {was:.1} in {PAGE}"));
                }
                Some(_) => {}
            }
        }
        for place in other.figures.keys() {
            if self.columns.contains(&place.0) && !self.figures.contains_key(place) {
                failures.push(format!("{} {}: in {PAGE}, not counted", place.0, place.1));
            }
        }
        (failures, lower)
    }
}

/// The page with this table.
fn page_of(table: &Table) -> Result<String, String> {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let version = Command::new(rustc)
        .arg("-V")
        .output()
        .map_err(|e| format!("cannot run rustc: {e}"))?;
    let mut page = format!(
        "# Instructions a message\n\n\
         What a call executes, for each message of a batch of {MESSAGES}: 64 bytes in place, 12 bytes of\n\
         associated data where the mode takes any, AES-128, one key, 16 lanes (aesni: 8). `messages`\n\
         is a slice of `Message`, `packed` a `Packed` batch by offsets, `turns` a slice in which every\n\
         fifth message has 4 bytes of associated data, `mix` a slice of the internet mix, 710 bytes in the\n\
         mean (717 in whole blocks), on a CPU with AVX-512; `messages-scalar`, `packed-scalar` and\n\
         `turns-scalar` are the same on one without, where batches are checked and read without its vectors;\n\
         `one` is a call of a key for one message, on the widest backend that a CPU has. Nothing is done as\n\
         on the CPU that counts: what is chosen by CPU is chosen as on one that is not known.\n\n\
         `cargo xtask instructions` counts and compares; with `--update` it writes this page.\n\
         Compiled by {}.\n\n",
        String::from_utf8_lossy(&version.stdout).trim()
    );
    let mut line = |cells: &mut dyn Iterator<Item = String>| {
        page.push('|');
        cells.for_each(|cell| page.extend([" ", &cell, " |"]));
        page.push('\n');
    };
    let width = |names: &[String]| names.iter().map(String::len).max().unwrap_or(0);
    let first = width(&table.rows);
    let names = table.columns.iter().cloned();
    line(&mut [format!("{:first$}", "")].into_iter().chain(names));
    let rules = table
        .columns
        .iter()
        .map(|column| format!("{}:", "-".repeat(column.len() - 1)));
    line(&mut ["-".repeat(first)].into_iter().chain(rules));
    for row in &table.rows {
        let figures = table.columns.iter().map(|column| {
            let width = column.len();
            match table.figures.get(&(column.clone(), row.clone())) {
                Some(figure) => format!("{figure:>width$.1}"),
                None => " ".repeat(width),
            }
        });
        line(&mut [format!("{row:first$}")].into_iter().chain(figures));
    }
    Ok(page)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(figures: &[(&str, &str, f64)]) -> Table {
        let mut table = Table::default();
        for (column, row, figure) in figures {
            table.put((*column).to_owned(), (*row).to_owned(), *figure);
        }
        table
    }

    #[test]
    fn a_page_is_read_as_it_was_written() {
        let written = table(&[
            ("vaes512 packed", "cbc encrypt", 100.0),
            ("vaes512 packed", "cbc decrypt", 50.5),
            ("aesni packed", "cbc decrypt", 200.0),
        ]);
        let page = page_of(&written).expect("a compiler");
        assert_eq!(Table::parse(&page), written, "{page}");
    }

    #[test]
    fn more_instructions_are_a_failure_and_fewer_are_said() {
        let written = table(&[
            ("a", "one", 100.0),
            ("a", "two", 100.0),
            ("a", "three", 100.0),
        ]);
        let now = table(&[
            ("a", "one", 102.1),
            ("a", "two", 97.9),
            ("a", "three", 101.9),
        ]);
        let (failures, lower) = now.compare(&written);
        assert!(failures[0].starts_with("a one: 102.1"), "{failures:?}");
        assert!(lower[0].starts_with("a two: 97.9"), "{lower:?}");
        assert_eq!((failures.len(), lower.len()), (1, 1));
    }

    #[test]
    fn a_row_that_is_missing_is_a_failure_and_a_column_is_said() {
        let written = table(&[("a", "one", 100.0), ("b", "one", 100.0)]);
        let now = table(&[("a", "two", 100.0), ("c", "one", 100.0)]);
        let (failures, lower) = now.compare(&written);
        assert_eq!((failures.len(), lower.len()), (2, 0), "{failures:?}");
        assert_eq!(Vec::from_iter(now.columns_beyond(&written)), ["c"]);
    }

    #[test]
    fn figures_must_be_in_both() {
        let written = table(&[("a", "one", 1.0), ("b", "one", 1.0), ("a", "gone", 1.0)]);
        let now = table(&[("a", "one", 1.0), ("a", "new", 1.0)]);
        let (failures, _) = now.compare(&written);
        assert_eq!(failures.len(), 2, "{failures:?}");
        // What this CPU lacks stays on the page, in rows that there are still.
        let kept = now.with_others_of(&written);
        assert_eq!(kept.columns, ["a", "b"]);
        assert_eq!(kept.rows, ["one", "new"]);
    }
}
