//! What was found, by what was asked.

use super::ask::{Ask, Cost};
use crate::bench::field;
use crate::bench::report::{Row, Schedule};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// The answer to an [`Ask`].
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Found {
    /// A row for each schedule.
    Rows(Vec<Row>),
    Latency(Latency),
    Field(Vec<field::Figures>),
}

/// How long calls take.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Latency {
    /// Core cycles of every call, in order.
    pub(crate) calls: Vec<f64>,
}

/// All that was measured.
#[derive(Debug, Default)]
pub(crate) struct Results {
    found: HashMap<Ask, Found>,
}

impl Results {
    pub(crate) fn insert(&mut self, ask: Ask, found: Found) {
        self.found.insert(ask, found);
    }

    pub(crate) fn has(&self, ask: &Ask) -> bool {
        self.found.contains_key(ask)
    }

    pub(crate) fn get(&self, ask: &Ask) -> Option<&Found> {
        self.found.get(ask)
    }

    /// The row of a cost.
    pub(crate) fn row(&self, cost: &Cost, schedule: Schedule) -> Option<&Row> {
        match self.found.get(&Ask::Cost(cost.clone()))? {
            Found::Rows(rows) => rows.iter().find(|row| row.schedule == schedule),
            _ => None,
        }
    }

    /// Median cycles per byte.
    pub(crate) fn cpb(&self, cost: &Cost, schedule: Schedule) -> Option<f64> {
        self.row(cost, schedule)?.cpb
    }

    /// Median cycles per message.
    pub(crate) fn per_message(&self, cost: &Cost, schedule: Schedule) -> Option<f64> {
        Some(self.row(cost, schedule)?.cycles_per_message)
    }

    /// Cycles of every call.
    pub(crate) fn latency(&self, ask: &Ask) -> Option<&[f64]> {
        match self.found.get(ask)? {
            Found::Latency(latency) => Some(&latency.calls),
            _ => None,
        }
    }

    pub(crate) fn field(&self) -> &[field::Figures] {
        match self.found.get(&Ask::Field) {
            Some(Found::Field(rows)) => rows,
            _ => &[],
        }
    }
}
