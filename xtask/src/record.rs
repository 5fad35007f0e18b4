//! `cargo xtask record`: the tables of the newest record in `bench/record`, in the pages
//! that have a place for them.
//!
//! A place is what stands between `<!-- record: NAME -->` and `<!-- end of record -->`.

use serde::Deserialize;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{fs, io};

/// Pages with places.
const PAGES: [&str; 2] = ["README.md", "book/src/measured.md"];
const BEGIN: &str = "<!-- record: ";
const END: &str = "<!-- end of record -->";

/// As much of a record as is shown.
#[derive(Deserialize)]
struct Record {
    about: About,
    machine: Machine,
    modes: Vec<Mode>,
    races: Vec<Race>,
}

#[derive(Deserialize)]
struct About {
    date: String,
    /// Older records have none.
    #[serde(default)]
    time: String,
    version: String,
    figures: usize,
    noisy: usize,
}

#[derive(Deserialize)]
struct Machine {
    cpu: String,
}

#[derive(Deserialize)]
struct Mode {
    mode: String,
    research: bool,
    sequential: Option<f64>,
    comb: Option<f64>,
    bound: Option<f64>,
    efficiency: Option<f64>,
    back: Option<f64>,
    back_efficiency: Option<f64>,
    message_of_64: Option<f64>,
}

#[derive(Deserialize)]
struct Race {
    case: String,
    forged: bool,
    mix: String,
    messages: usize,
    library: String,
    interface: String,
    ratio: f64,
    target: Option<f64>,
    met: Option<bool>,
}

/// Writes the pages anew, or only says whether they are as they should be.
pub fn run(root: &Path, check: bool) -> Result<bool, String> {
    let directory = root.join("bench/record");
    let (newest, record) = newest(records(&directory)?)
        .ok_or_else(|| format!("{}: no record", directory.display()))?;
    let mut good = true;
    for page in PAGES {
        let path = root.join(page);
        let old = read(&path)?;
        let new = filled(&old, &record).map_err(|e| format!("{page}: {e}"))?;
        if old == new {
            continue;
        }
        if check {
            eprintln!(
                "{page} does not show {}; run: cargo xtask record",
                newest.display()
            );
            good = false;
        } else {
            fs::write(&path, new).map_err(|e| format!("{page}: {e}"))?;
            println!("{page}: {}", newest.display());
        }
    }
    Ok(good)
}

fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))
}

/// The records.
fn records(directory: &Path) -> Result<Vec<(PathBuf, Record)>, String> {
    let in_directory = |e: io::Error| format!("{}: {e}", directory.display());
    let mut records = Vec::new();
    for entry in fs::read_dir(directory).map_err(in_directory)? {
        let path = entry.map_err(in_directory)?.path();
        if path.extension().is_some_and(|end| end == "json") {
            let record = serde_json::from_str(&read(&path)?)
                .map_err(|e| format!("{}: {e}", path.display()))?;
            records.push((path, record));
        }
    }
    Ok(records)
}

/// The one that was made last.
fn newest(records: Vec<(PathBuf, Record)>) -> Option<(PathBuf, Record)> {
    let made = |about: &About| (about.date.clone(), about.time.clone());
    records
        .into_iter()
        .max_by_key(|(_, record)| made(&record.about))
}

/// The page with all its places filled.
fn filled(page: &str, record: &Record) -> Result<String, String> {
    let mut out = String::new();
    let mut rest = page;
    while let Some(at) = rest.find(BEGIN) {
        let (before, place) = rest.split_at(at);
        let line = place.find('\n').ok_or("a place without an end")?;
        let name = place[BEGIN.len()..line].trim_end_matches("-->").trim();
        let end = place.find(END).ok_or("a place without an end")?;
        out += before;
        out += &place[..=line];
        out += &table(name, record)?;
        rest = &place[end..];
        let end = rest.find('\n').map_or(rest.len(), |end| end + 1);
        out += &rest[..end];
        rest = &rest[end..];
    }
    out += rest;
    Ok(out)
}

fn table(name: &str, record: &Record) -> Result<String, String> {
    let out = match name {
        "machine" => format!(
            "{}; aescomb {}, {}; {} of {} figures of the run were noisy.\n",
            record.machine.cpu,
            record.about.version,
            record.about.date,
            record.about.noisy,
            record.about.figures,
        ),
        "standard modes" => modes(record, |mode| !mode.research),
        "research modes" => modes(record, |mode| mode.research),
        "peers" => races(record, |race| {
            race.messages > 1 && race.mix == "internet" && !race.forged
        }),
        "single messages" => races(record, |race| race.messages == 1),
        "forged messages" => races(record, |race| race.forged),
        other => return Err(format!("there is no table {other}")),
    };
    Ok(out)
}

fn figure(value: Option<f64>) -> String {
    value.map_or("–".into(), |value| format!("{value:.3}"))
}

fn percent(value: Option<f64>) -> String {
    value.map_or("–".into(), |value| format!("{:.0} %", 100.0 * value))
}

fn modes(record: &Record, wanted: impl Fn(&Mode) -> bool) -> String {
    let mut out = String::from(
        "| mode | one by one | combed | speed-up | bound | efficiency | back, combed | efficiency | 64 bytes |\n\
         |---|---|---|---|---|---|---|---|---|\n",
    );
    for mode in record.modes.iter().filter(|mode| wanted(mode)) {
        let gain = mode.sequential.zip(mode.comb).map(|(one, many)| one / many);
        let _ = writeln!(
            out,
            "| {} | {} | {} | {} | {} | {} | {} | {} | {} |",
            mode.mode.to_uppercase(),
            figure(mode.sequential),
            figure(mode.comb),
            gain.map_or("–".into(), |gain| format!("×{gain:.2}")),
            figure(mode.bound),
            percent(mode.efficiency),
            figure(mode.back),
            percent(mode.back_efficiency),
            mode.message_of_64.map_or("–".into(), |n| format!("{n:.0}")),
        );
    }
    out
}

fn races(record: &Record, wanted: impl Fn(&Race) -> bool) -> String {
    let mut out = String::from(
        "| case | mix | best other library | their cycles / ours | target |\n|---|---|---|---|---|\n",
    );
    for race in record.races.iter().filter(|race| wanted(race)) {
        let target = match (race.target, race.met) {
            (Some(target), Some(true)) => format!("{target:?}, met"),
            (Some(target), Some(false)) => format!("{target:?}, missed"),
            _ => "–".into(),
        };
        let _ = writeln!(
            out,
            "| {} | {} | {}, {} | {:.2} | {target} |",
            race.case, race.mix, race.library, race.interface, race.ratio,
        );
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of one day, the later one counts, whatever it is called.
    #[test]
    fn the_newest_record() {
        let made = |name: &str, date: &str, time: &str| {
            let mut record = record();
            record.about.date = date.to_string();
            record.about.time = time.to_string();
            (PathBuf::from(name), record)
        };
        let records = vec![
            made("c", "2000-01-31", ""),
            made("a", "2000-01-31", "13:25:00"),
            made("b", "2000-01-31", "09:30:00"),
            made("d", "1999-12-31", "23:00:00"),
        ];
        let (name, _) = newest(records).expect("a record");
        assert_eq!(name, Path::new("a"));
        assert!(newest(Vec::new()).is_none());
    }

    fn record() -> Record {
        serde_json::from_str(
            r#"{"about": {"date": "2000-01-31", "version": "1", "figures": 9, "noisy": 1},
                "machine": {"cpu": "a CPU"},
                "modes": [{"mode": "cbc", "research": false, "sequential": 2.0, "comb": 0.25,
                           "bound": 0.2, "efficiency": 0.8, "back": null,
                           "back_efficiency": null, "message_of_64": 39.6}],
                "races": [{"case": "cbc encrypt", "forged": false, "mix": "internet",
                           "messages": 256, "library": "a library", "interface": "jobs",
                           "ratio": 1.5, "target": 1.8, "met": false}]}"#,
        )
        .unwrap()
    }

    #[test]
    fn places_are_filled_and_the_rest_is_left() {
        let page = |text: &str| {
            format!(
                "before\n<!-- record: standard modes -->\n{text}<!-- end of record -->\nafter\n"
            )
        };
        let table = "| mode | one by one | combed | speed-up | bound | efficiency | back, combed | efficiency | 64 bytes |\n\
                     |---|---|---|---|---|---|---|---|---|\n\
                     | CBC | 2.000 | 0.250 | ×8.00 | 0.200 | 80 % | – | – | 40 |\n";
        let once = filled(&page("old\n"), &record()).unwrap();
        assert_eq!(once, page(table));
        assert_eq!(filled(&once, &record()).unwrap(), once);
        assert_eq!(filled("no place\n", &record()).unwrap(), "no place\n");
        let peers = "<!-- record: peers -->\n<!-- end of record -->";
        assert!(
            filled(peers, &record())
                .unwrap()
                .contains("| cbc encrypt | internet | a library, jobs | 1.50 | 1.8, missed |\n")
        );
        assert!(
            filled(
                "<!-- record: nothing -->\n<!-- end of record -->",
                &record()
            )
            .is_err()
        );
        assert!(filled("<!-- record: peers -->\n", &record()).is_err());
    }
}
