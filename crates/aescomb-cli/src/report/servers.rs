//! What the comparison of TLS servers printed (`examples/tls-server/compare.sh --json`).

use crate::failure::Failure;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// As much of the document as is shown here.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Servers {
    pub(crate) date: String,
    pub(crate) cpu: String,
    pub(crate) versions: Vec<String>,
    pub(crate) rows: Vec<Serving>,
    pub(crate) ratios: Vec<Ratio>,
}

/// A server with one suite, in one case.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Serving {
    /// `10 MB`.
    pub(crate) case: String,
    pub(crate) suite: String,
    pub(crate) server: String,
    /// Bytes of a session or an answer.
    pub(crate) bytes: u64,
    /// CPU time of the server for each, in seconds.
    pub(crate) user: f64,
    pub(crate) system: f64,
    pub(crate) each_second: f64,
}

/// What this library's server takes over what another takes.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Ratio {
    pub(crate) case: String,
    pub(crate) suite: String,
    pub(crate) other: String,
    /// User time.
    pub(crate) user: f64,
    /// User and system time together.
    pub(crate) both: f64,
    /// What the ratio of user times ought to be at most.
    pub(crate) target: Option<f64>,
}

impl Servers {
    pub(crate) fn read(path: &Path) -> Result<Servers, Failure> {
        let bad = |what: String| Failure::Misuse(format!("{}: {what}", path.display()));
        let text = std::fs::read_to_string(path).map_err(|error| bad(error.to_string()))?;
        serde_json::from_str(&text).map_err(|error| {
            bad(format!(
                "not what examples/tls-server/compare.sh --json writes: {error}"
            ))
        })
    }
}
