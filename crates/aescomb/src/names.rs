//! Names of modes, algorithms and backends, which are read.

use crate::backend::Backend;
use crate::mode::{Algorithm, Mode};
use core::fmt;
use core::str::FromStr;

/// A name that is in no list of this library.
///
/// ```
/// let error = "aes-gcm".parse::<aescomb::Mode>().unwrap_err();
/// assert!(error.to_string().contains("gcm"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownName {
    what: &'static str,
}

impl UnknownName {
    fn of(what: &'static str) -> Self {
        UnknownName { what }
    }
}

impl fmt::Display for UnknownName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unknown {}; known: ", self.what)?;
        let mut sep = "";
        let mut item = |f: &mut fmt::Formatter<'_>, name: &str| {
            let r = write!(f, "{sep}{name}");
            sep = ", ";
            r
        };
        match self.what {
            "backend" => Backend::ALL.iter().try_for_each(|b| item(f, b.name())),
            "algorithm" => {
                item(f, "aes-BITS-MODE with BITS 128, 192 or 256 and MODE ")?;
                sep = "";
                let mut item = |f: &mut fmt::Formatter<'_>, name: &str| {
                    let r = write!(f, "{sep}{name}");
                    sep = ", ";
                    r
                };
                Mode::ALL.iter().try_for_each(|m| item(f, m.name()))
            }
            _ => Mode::ALL.iter().try_for_each(|m| item(f, m.name())),
        }
    }
}

impl core::error::Error for UnknownName {}

impl FromStr for Algorithm {
    type Err = UnknownName;

    fn from_str(s: &str) -> Result<Self, UnknownName> {
        let unknown = UnknownName::of("algorithm");
        let (bits, mode) = s
            .strip_prefix("aes-")
            .and_then(|s| s.split_once('-'))
            .ok_or(unknown)?;
        let key_bits = match bits {
            "128" => 128,
            "192" => 192,
            "256" => 256,
            _ => return Err(unknown),
        };
        let mode = mode.parse().map_err(|_| unknown)?;
        Ok(Algorithm { mode, key_bits })
    }
}

impl FromStr for Mode {
    type Err = UnknownName;

    fn from_str(s: &str) -> Result<Self, UnknownName> {
        Mode::ALL
            .iter()
            .copied()
            .find(|m| m.name() == s)
            .ok_or(UnknownName::of("mode"))
    }
}

impl FromStr for Backend {
    type Err = UnknownName;

    fn from_str(s: &str) -> Result<Self, UnknownName> {
        Backend::ALL
            .into_iter()
            .find(|b| b.name() == s)
            .ok_or(UnknownName::of("backend"))
    }
}
