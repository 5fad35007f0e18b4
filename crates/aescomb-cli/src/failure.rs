//! How commands fail, and with which exit status.

use std::fmt;
use std::io;
use std::process::ExitCode;

/// Exit status when a tag, a padding or a known answer is wrong.
pub(crate) const NEGATIVE: u8 = 1;
/// Exit status of misuse; clap's own, too.
pub(crate) const MISUSE: u8 = 2;

/// Why a command ends without its result.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The answer is no: a tag or a padding is wrong.
    Negative(String),
    /// The command cannot be carried out as it was given.
    Misuse(String),
}

impl Failure {
    /// Misuse, from anything that says what is wrong.
    pub(crate) fn misuse(what: impl fmt::Display) -> Failure {
        Failure::Misuse(what.to_string())
    }

    /// The exit status that belongs to it.
    pub(crate) fn code(&self) -> ExitCode {
        match self {
            Failure::Negative(_) => NEGATIVE.into(),
            Failure::Misuse(_) => MISUSE.into(),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Negative(what) | Failure::Misuse(what) => f.write_str(what),
        }
    }
}

/// Errors of the library about a single message: its place in the batch says
/// nothing here.
impl From<aescomb::Error> for Failure {
    fn from(mut error: aescomb::Error) -> Failure {
        error.message = None;
        Failure::misuse(error)
    }
}

impl From<aescomb::OpenError> for Failure {
    fn from(error: aescomb::OpenError) -> Failure {
        match error {
            aescomb::OpenError::Refused(error) => error.into(),
            aescomb::OpenError::Failed(failed) => Failure::Negative(match failed.status() {
                aescomb::Status::BadPadding => "invalid padding".into(),
                _ => "authentication failed: wrong tag".into(),
            }),
        }
    }
}

impl From<aescomb_measure::Error> for Failure {
    fn from(error: aescomb_measure::Error) -> Failure {
        Failure::misuse(error)
    }
}

/// Errors of standard output.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        Failure::Misuse(format!("cannot write the output: {error}"))
    }
}
