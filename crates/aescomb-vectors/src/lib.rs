//! Known answers of AES modes: one reader for the forms in which they are published.
//!
//! | form | read from |
//! |---|---|
//! | NIST's response files (CAVP), and those in their form | `.rsp`, `.txt`: [`Format::Text`] |
//! | NIST's JSON (ACVP): `internalProjection.json`, or `prompt.json` beside `expectedResults.json` | [`Format::Acvp`] |
//! | Project Wycheproof's JSON | [`Format::Wycheproof`] |
//! | this project's JSON, a vector on a line | [`Format::Json`] |
//!
//! [`File::read`] takes any of them. Each gives [`Vector`]s of one mode, and says how many tests
//! it has left out and why. Nothing here computes: it does not know the library that is tested,
//! so that tools and tests of any kind can use it.
//!
//! [`plain`] writes vectors one to a line, for readers in other languages.

#![forbid(unsafe_code)]

mod acvp;
mod json;
mod mode;
pub mod monte_carlo;
pub mod plain;
mod text;
mod wycheproof;

pub use mode::{Kind, MODES, Mode, Nonce};

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

/// A known answer: a message and what the mode makes of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Vector {
    /// What the file calls it.
    pub id: String,
    /// Where it begins in the file, if that is known; the first line is 1.
    pub line: Option<usize>,
    /// The mode.
    pub mode: &'static Mode,
    /// The key, both AES keys of a mode that has two.
    pub key: Vec<u8>,
    /// The nonce, IV or tweak.
    pub nonce: Vec<u8>,
    /// Components of the associated data.
    pub data: Vec<Vec<u8>>,
    /// The message; that of a refused ciphertext is unknown, and empty.
    pub msg: Vec<u8>,
    /// The ciphertext; empty for a MAC.
    pub ct: Vec<u8>,
    /// The tag; empty for a cipher that does not authenticate.
    pub tag: Vec<u8>,
    /// It has to be refused, for its tag or its padding: it can only be opened, verified or
    /// decrypted.
    pub refused: bool,
    /// It is the result of a thousand steps, not of one.
    pub monte_carlo: Option<MonteCarlo>,
}

/// How a vector is one of a Monte Carlo test: see [`monte_carlo`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MonteCarlo {
    /// What is done a thousand times.
    pub direction: Direction,
    /// It begins where the vector before it in the file has ended.
    pub follows: bool,
}

/// What is done in a Monte Carlo test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From messages to ciphertexts.
    Encrypt,
    /// From ciphertexts to messages.
    Decrypt,
}

/// The form of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// `NAME = VALUE` lines, as NIST's CAVP writes them.
    Text,
    /// This project's JSON.
    Json,
    /// JSON of NIST's ACVP.
    Acvp,
    /// JSON of Project Wycheproof.
    Wycheproof,
}

/// A file of known answers for one mode.
#[derive(Clone, Debug)]
pub struct File {
    /// Where it is.
    pub path: PathBuf,
    /// Its form.
    pub format: Format,
    /// The mode that it is for.
    pub mode: &'static Mode,
    /// Its vectors, in their order.
    pub vectors: Vec<Vector>,
    /// How many tests are left out, for each reason.
    pub left_out: LeftOut,
}

/// Reasons, and how many tests are left out for each of them.
pub type LeftOut = BTreeMap<String, usize>;

/// A message that is no whole number of bytes.
pub(crate) const NOT_BYTES: &str = "their messages are not whole bytes";

/// Why a file cannot be used, and where that was found.
#[derive(Debug)]
pub struct Error {
    /// The file.
    pub file: PathBuf,
    /// The first line is 1.
    pub line: Option<usize>,
    /// What the file calls the test.
    pub test: Option<String>,
    /// What the file calls the field.
    pub field: Option<String>,
    /// What is wrong.
    pub problem: Problem,
}

/// Why a file cannot be used.
#[derive(Debug)]
pub enum Problem {
    /// It cannot be read.
    Unreadable(std::io::Error),
    /// Its format is none of those known.
    Format(String),
    /// It is of a known format and broken.
    Damaged(String),
    /// It is for a mode that is not known.
    Mode(String),
    /// It is for something that was made of a known mode.
    Variant(String),
    /// It has no test that can be run.
    Nothing(String),
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.problem {
            Problem::Unreadable(error) => Some(error),
            _ => None,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.file.display())?;
        let (begin, what): (_, &dyn fmt::Display) = match &self.problem {
            Problem::Unreadable(error) => ("cannot be read", error),
            Problem::Format(what) => ("unknown format", what),
            Problem::Damaged(what) => ("damaged", what),
            Problem::Mode(name) => ("mode not supported", name),
            Problem::Variant(what) => ("left out: its answers are of", what),
            Problem::Nothing(what) => ("nothing in it can be run", what),
        };
        f.write_str(begin)?;
        if !matches!(self.problem, Problem::Variant(_)) {
            f.write_str(":")?;
        }
        if let Some(line) = self.line {
            write!(f, " line {line}:")?;
        }
        if let Some(test) = &self.test {
            write!(f, " test {test}:")?;
        }
        if let Some(field) = &self.field {
            write!(f, " {field}:")?;
        }
        write!(f, " {what}")
    }
}

/// An error without its file.
#[derive(Debug)]
pub(crate) struct Fault {
    line: Option<usize>,
    test: Option<String>,
    field: Option<String>,
    problem: Problem,
}

impl From<Problem> for Fault {
    fn from(problem: Problem) -> Fault {
        Fault {
            line: None,
            test: None,
            field: None,
            problem,
        }
    }
}

impl Fault {
    pub(crate) fn damaged(what: impl Into<String>) -> Fault {
        Problem::Damaged(what.into()).into()
    }

    pub(crate) fn field(mut self, field: impl Into<String>) -> Fault {
        self.field.get_or_insert(field.into());
        self
    }

    pub(crate) fn test(mut self, test: impl Into<String>) -> Fault {
        self.test.get_or_insert(test.into());
        self
    }

    pub(crate) fn line(mut self, line: Option<usize>) -> Fault {
        self.line = self.line.or(line);
        self
    }
}

/// What is in a file.
#[derive(Debug)]
pub(crate) struct Contents {
    pub(crate) mode: &'static Mode,
    pub(crate) vectors: Vec<Vector>,
    pub(crate) left_out: LeftOut,
}

impl Contents {
    pub(crate) fn new(mode: &'static Mode) -> Contents {
        Contents {
            mode,
            vectors: Vec::new(),
            left_out: LeftOut::new(),
        }
    }

    pub(crate) fn leave_out(&mut self, reason: impl Into<String>) {
        *self.left_out.entry(reason.into()).or_default() += 1;
    }
}

impl File {
    /// Reads a file of any known format.
    pub fn read(path: &Path) -> Result<File, Error> {
        let read = || {
            let bytes = std::fs::read(path).map_err(Problem::Unreadable)?;
            let text = String::from_utf8(bytes)
                .map_err(|_| Problem::Format("neither JSON nor text".into()))?;
            parse(&text, path)
        };
        let (format, contents) = read().map_err(|fault: Fault| Error {
            file: path.to_owned(),
            line: fault.line,
            test: fault.test,
            field: fault.field,
            problem: fault.problem,
        })?;
        Ok(File {
            path: path.to_owned(),
            format,
            mode: contents.mode,
            vectors: contents.vectors,
            left_out: contents.left_out,
        })
    }
}

/// Reads a file's text. The path may say which mode it is for, and where answers are that
/// stand in a file of their own.
fn parse(text: &str, path: &Path) -> Result<(Format, Contents), Fault> {
    let (format, contents) = match text.trim_start().starts_with(['{', '[']) {
        // A section in brackets may begin a text, too.
        true if !text::is_text(text) => json::parse(text, path)?,
        _ => (Format::Text, text::parse(text, path)?),
    };
    if contents.vectors.is_empty() {
        let reasons = contents.left_out.iter();
        let reasons: Vec<String> = reasons
            .map(|(reason, count)| format!("{count} tests left out: {reason}"))
            .collect();
        return Err(match reasons.is_empty() {
            true => Fault::damaged("it has no tests"),
            false => Problem::Nothing(reasons.join("; ")).into(),
        });
    }
    Ok((format, contents))
}
