//! What the benchmark found, for the exporters.

use crate::machine::Machine;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Everything.
#[derive(Debug, Serialize)]
pub(crate) struct Report {
    pub(crate) machine: Machine,
    pub(crate) run: Run,
    pub(crate) rows: Vec<Row>,
    /// With `--lines`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) lines: Vec<Line>,
}

/// What belongs to all rows.
#[derive(Debug, Serialize)]
pub(crate) struct Run {
    pub(crate) version: &'static str,
    /// The mix that was asked for.
    pub(crate) mix: String,
    pub(crate) messages: usize,
    /// Sum of the messages' lengths as drawn.
    pub(crate) bytes: usize,
    /// Decides lengths, contents, keys, nonces and offsets.
    pub(crate) seed: u64,
    /// `messages` or `packed`.
    pub(crate) form: &'static str,
    /// AES blocks per cycle of encryption rounds, by register width in bits.
    pub(crate) blocks_per_cycle: BTreeMap<u32, f64>,
    /// Carry-less products of 64 bits by 64 per cycle, likewise.
    pub(crate) products_per_cycle: BTreeMap<u32, f64>,
}

/// How the messages of a row were gone through.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Schedule {
    /// One after the other.
    Sequential,
    /// Interleaved.
    Comb,
}

impl Schedule {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Schedule::Sequential => "sequential",
            Schedule::Comb => "comb",
        }
    }
}

/// One competitor on one workload. Costs are core cycles.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Row {
    pub(crate) mode: String,
    pub(crate) op: Cow<'static, str>,
    pub(crate) mix: String,
    pub(crate) messages: usize,
    /// Bytes of the messages, rounded up if the mode does not take some lengths.
    /// Costs per byte are per byte of these: associated data and tags are none.
    pub(crate) bytes: usize,
    /// Of every message.
    pub(crate) nonce_bytes: usize,
    pub(crate) data_bytes: usize,
    pub(crate) tag_bytes: usize,
    pub(crate) schedule: Schedule,
    pub(crate) lanes: usize,
    pub(crate) backend: Cow<'static, str>,
    pub(crate) keys: Cow<'static, str>,
    /// Median, per byte. Costs per byte of empty messages are none.
    pub(crate) cpb: Option<f64>,
    pub(crate) cpb_min: Option<f64>,
    pub(crate) cpb_lower_quartile: Option<f64>,
    pub(crate) cpb_upper_quartile: Option<f64>,
    pub(crate) bound_cpb: Option<f64>,
    /// The bound over the median.
    pub(crate) efficiency: Option<f64>,
    /// Median, per message.
    pub(crate) cycles_per_message: f64,
    /// Samples behind these figures.
    pub(crate) samples: usize,
    /// Samples thrown away.
    pub(crate) discarded: usize,
    /// Lengths were rounded up to those that the mode takes.
    pub(crate) rounded_up: bool,
    /// Results replaced the messages.
    pub(crate) in_place: bool,
    /// Why the figures had better be taken again.
    pub(crate) warning: Option<String>,
}

/// Cycles per message as a line over the message's length.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Line {
    pub(crate) mode: String,
    pub(crate) op: Cow<'static, str>,
    pub(crate) schedule: Schedule,
    pub(crate) lanes: usize,
    pub(crate) backend: Cow<'static, str>,
    pub(crate) keys: Cow<'static, str>,
    pub(crate) messages: usize,
    /// Slope.
    pub(crate) cycles_per_byte: f64,
    /// Intercept.
    pub(crate) cycles_per_message: f64,
    /// Length in bytes and median cycles per message, of which the line is the
    /// fit.
    pub(crate) points: Vec<(usize, f64)>,
}
