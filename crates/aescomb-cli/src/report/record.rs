//! The record: the few figures of a run that are kept with the project.

use super::found::Results;
use super::parts::{fixed_work, modes, work};
use super::peers::{Best, Peers};
use super::{About, Scale};
use crate::bench::report::Schedule;
use crate::machine::Machine;
use aescomb::Mode;
use serde::Serialize;

/// What goes into `bench/record`.
#[derive(Serialize)]
pub(crate) struct Record<'a> {
    format: u32,
    quick: bool,
    about: &'a About,
    machine: &'a Machine,
    /// The default workload: 256 messages of the realistic mix, AES-128, one key, 12
    /// bytes of associated data. Core cycles per byte, medians.
    modes: Vec<Line>,
    /// The best other library in every race.
    races: Vec<Winner<'a>>,
}

#[derive(Serialize)]
struct Line {
    mode: &'static str,
    title: &'static str,
    research: bool,
    sequential: Option<f64>,
    comb: Option<f64>,
    bound: Option<f64>,
    efficiency: Option<f64>,
    /// Decrypting, verifying, opening.
    back: Option<f64>,
    back_efficiency: Option<f64>,
    /// Cycles of a message of 64 bytes.
    message_of_64: Option<f64>,
}

#[derive(Serialize)]
struct Winner<'a> {
    case: &'a str,
    forged: bool,
    mix: &'a str,
    messages: usize,
    #[serde(flatten)]
    best: &'a Best,
}

impl<'a> Record<'a> {
    pub(crate) fn of(
        scale: Scale,
        about: &'a About,
        machine: &'a Machine,
        results: &Results,
        peers: Option<&'a Peers>,
    ) -> Record<'a> {
        let line = |mode: Mode| {
            let info = mode.info();
            let row = |back, schedule| results.row(&work(mode, back), schedule);
            let there = row(false, Schedule::Comb);
            let back = row(true, Schedule::Comb);
            Line {
                mode: info.name,
                title: info.title,
                research: info.research.is_some(),
                sequential: row(false, Schedule::Sequential).and_then(|row| row.cpb),
                comb: there.and_then(|row| row.cpb),
                bound: there.and_then(|row| row.bound_cpb),
                efficiency: there.and_then(|row| row.efficiency),
                back: back.and_then(|row| row.cpb),
                back_efficiency: back.and_then(|row| row.efficiency),
                message_of_64: results.per_message(&fixed_work(mode, 64), Schedule::Comb),
            }
        };
        let races = peers.into_iter().flat_map(|peers| &peers.rows);
        Record {
            format: 1,
            quick: scale.quick,
            about,
            machine,
            modes: modes().map(line).collect(),
            races: races
                .filter(|race| race.is_told())
                .filter_map(|race| {
                    Some(Winner {
                        case: &race.case,
                        forged: race.forged,
                        mix: &race.mix,
                        messages: race.messages,
                        best: race.best_peer.as_ref()?,
                    })
                })
                .collect(),
        }
    }

    /// `<cpu>-<date>.json`.
    pub(crate) fn file_name(&self) -> String {
        let cpu = self.machine.cpu.replace("(R)", "").replace("(TM)", "");
        let words: Vec<String> = cpu
            .to_lowercase()
            .split(|c: char| !c.is_ascii_alphanumeric())
            .filter(|word| !word.is_empty())
            .map(str::to_owned)
            .collect();
        format!("{}-{}.json", words.join("-"), self.about.date)
    }
}
