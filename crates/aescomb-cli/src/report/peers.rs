//! What the race against other libraries printed (`bench/peers/run.sh --json`).

use crate::failure::Failure;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// As much of the document as is shown here.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Peers {
    /// When it was, UTC.
    pub(crate) date: String,
    pub(crate) machine: PeersMachine,
    pub(crate) rows: Vec<Race>,
    pub(crate) lines: Vec<PeerLine>,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct PeersMachine {
    pub(crate) cpu: String,
}

/// A mode on a workload, and everybody who was in it.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Race {
    /// `gcm seal`.
    pub(crate) case: String,
    pub(crate) forged: bool,
    pub(crate) mix: String,
    pub(crate) messages: usize,
    /// Only there for a line over lengths.
    pub(crate) of_line: bool,
    pub(crate) competitors: Vec<Competitor>,
    pub(crate) best_peer: Option<Best>,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Competitor {
    pub(crate) library: String,
    pub(crate) version: String,
    pub(crate) interface: String,
    pub(crate) cycles_per_byte: Spread,
    pub(crate) cycles_per_message: f64,
    /// Over the best interface of aescomb.
    pub(crate) ratio: f64,
    /// Forged messages over good ones.
    pub(crate) forged_to_good: Option<f64>,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Spread {
    pub(crate) median: f64,
}

/// The fastest peer.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Best {
    pub(crate) library: String,
    pub(crate) interface: String,
    pub(crate) ratio: f64,
    /// What the ratio ought to be at least.
    pub(crate) target: Option<f64>,
    pub(crate) met: Option<bool>,
}

/// A competitor over lengths.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct PeerLine {
    pub(crate) case: String,
    pub(crate) messages: usize,
    pub(crate) library: String,
    pub(crate) interface: String,
    pub(crate) cycles_per_byte: f64,
    pub(crate) cycles_per_message: f64,
}

/// Lengths of single messages that are told.
const ALONE: [&str; 2] = ["fixed:64", "fixed:1024"];

impl Race {
    /// Whether it is of interest by itself, and not only as a point of a line.
    pub(crate) fn is_told(&self) -> bool {
        !self.of_line || self.messages == 1 && ALONE.contains(&&*self.mix)
    }
}

impl Peers {
    pub(crate) fn read(path: &Path) -> Result<Peers, Failure> {
        let bad = |what: String| Failure::Misuse(format!("{}: {what}", path.display()));
        let text = std::fs::read_to_string(path).map_err(|error| bad(error.to_string()))?;
        serde_json::from_str(&text).map_err(|error| {
            bad(format!(
                "not what bench/peers/run.sh --json prints: {error}"
            ))
        })
    }
}
