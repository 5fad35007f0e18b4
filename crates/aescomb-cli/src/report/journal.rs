//! The journal: a file of lines, one for each measurement, so that a run that was
//! interrupted can go on.

use super::ask::Ask;
use super::found::{Found, Results};
use crate::failure::Failure;
use serde::{Deserialize, Serialize};
use std::fs::{self, File, OpenOptions};
use std::io::{BufRead, BufReader, ErrorKind, Write};
use std::path::{Path, PathBuf};

/// What has to be the same for measurements to belong together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Header {
    pub(crate) version: String,
    pub(crate) cpu: String,
    pub(crate) quick: bool,
    /// Not compared: a run that goes on keeps the first one's.
    pub(crate) seed: u64,
}

impl Header {
    fn fits(&self, other: &Header) -> bool {
        let seed = self.seed;
        *self
            == Header {
                seed,
                ..other.clone()
            }
    }
}

#[derive(Serialize, Deserialize)]
struct Line {
    ask: Ask,
    found: Found,
}

/// A journal that is open for more.
pub(crate) struct Journal {
    path: PathBuf,
    file: File,
    pub(crate) header: Header,
}

impl Journal {
    /// Opens the journal of a report, and reads what an earlier run left there. A
    /// journal of other circumstances is begun anew.
    pub(crate) fn open(report: &Path, header: Header) -> Result<(Journal, Results), Failure> {
        let mut path = report.as_os_str().to_owned();
        path.push(".partial");
        let path = PathBuf::from(path);
        let cannot = |error| Failure::misuse(format_args!("{}: {error}", path.display()));
        let mut results = Results::default();
        let mut kept = None;
        match File::open(&path) {
            Ok(file) => {
                let mut lines = BufReader::new(file).lines().map_while(Result::ok);
                let first = lines.next();
                kept = first
                    .and_then(|line| serde_json::from_str::<Header>(&line).ok())
                    .filter(|old| old.fits(&header));
                if kept.is_some() {
                    // The last line may have been cut short.
                    for line in lines.filter_map(|line| serde_json::from_str::<Line>(&line).ok()) {
                        results.insert(line.ask, line.found);
                    }
                }
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(cannot(error)),
        }
        let resumed = kept.is_some();
        let header = kept.unwrap_or(header);
        let mut options = OpenOptions::new();
        options.create(true).append(resumed);
        if !resumed {
            options.write(true).truncate(true);
        }
        let file = options.open(&path).map_err(cannot)?;
        let mut journal = Journal { path, file, header };
        let first = match resumed {
            // Ends a line that was cut short.
            true => String::new(),
            false => serde_json::to_string(&journal.header).map_err(Failure::misuse)?,
        };
        journal.write(&first)?;
        Ok((journal, results))
    }

    /// Adds a measurement.
    pub(crate) fn add(&mut self, ask: &Ask, found: &Found) -> Result<(), Failure> {
        let line = Line {
            ask: ask.clone(),
            found: found.clone(),
        };
        self.write(&serde_json::to_string(&line).map_err(Failure::misuse)?)
    }

    fn write(&mut self, line: &str) -> Result<(), Failure> {
        writeln!(self.file, "{line}")
            .map_err(|error| Failure::misuse(format_args!("{}: {error}", self.path.display())))
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The report is there: the journal is no longer needed.
    pub(crate) fn remove(self) -> Result<(), Failure> {
        fs::remove_file(&self.path)
            .map_err(|error| Failure::misuse(format_args!("{}: {error}", self.path.display())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(quick: bool, seed: u64) -> Header {
        Header {
            version: "1".into(),
            cpu: "a CPU".into(),
            quick,
            seed,
        }
    }

    #[test]
    fn goes_on_where_it_was_cut() {
        let report = std::env::temp_dir().join(format!("aescomb-journal-{}", std::process::id()));
        let open = |quick, seed| Journal::open(&report, header(quick, seed)).unwrap();
        let (mut journal, results) = open(true, 1);
        assert!(!results.has(&Ask::Field));
        journal.add(&Ask::Field, &Found::Field(Vec::new())).unwrap();
        // A line without its end.
        write!(journal.file, "{{\"ask\":\"fie").unwrap();
        let (mut journal, results) = open(true, 2);
        assert!(results.has(&Ask::Field));
        assert_eq!(journal.header.seed, 1);
        let latency = Ask::Latency {
            in_hand: 1,
            messages: 2,
            mix: "ipi".into(),
        };
        journal.add(&latency, &Found::Rows(Vec::new())).unwrap();
        let (_, results) = open(true, 3);
        assert!(results.has(&latency) && results.has(&Ask::Field));
        // Other circumstances: from the beginning.
        let (journal, results) = open(false, 4);
        assert!(!results.has(&latency));
        assert_eq!(journal.header.seed, 4);
        let path = journal.path().to_owned();
        journal.remove().unwrap();
        assert!(!path.exists());
    }
}
