//! The parts of the report: a file for each paper, and one for each question of our
//! own.

mod batches;
mod comb;
mod comb_figures;
mod cpfb;
mod efficiency;
mod gcm;
mod intel;
mod keys;
mod race;
mod servers;

use super::ask::{Ask, Cost};
use super::chart::number;
use super::found::Results;
use super::peers::Peers;
use super::servers::Servers;
use crate::bench::report::Schedule;
use crate::machine::Machine;
use aescomb::{Backend, Info, Kind, Mode};
use aescomb_measure::instructions;
use maud::{Markup, html};

/// A section of the report.
pub(crate) struct Part {
    /// Its anchor.
    pub(crate) id: &'static str,
    pub(crate) title: &'static str,
    /// What it needs measured.
    pub(crate) asks: fn(&Scale) -> Vec<Ask>,
    pub(crate) show: fn(&View<'_>) -> Markup,
}

/// All of them, in order.
pub(crate) const PARTS: &[Part] = &[
    efficiency::PART,
    comb::MODES,
    comb::INSTRUCTIONS,
    comb::LATENCY,
    comb::REALISTIC,
    comb::ONE_MESSAGE,
    comb::FIXED_LENGTHS,
    comb_figures::DEGREES,
    comb_figures::FIELD,
    intel::THREADS,
    intel::BUFFERS,
    cpfb::TABLES,
    cpfb::INDEX,
    gcm::BREAKDOWN,
    gcm::TWO_PASS,
    batches::SIZES,
    batches::LINES,
    keys::FORMS,
    keys::FORGED,
    race::PART,
    servers::PART,
];

/// How much is measured.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scale {
    pub(crate) quick: bool,
    /// Cores that this process may use.
    pub(crate) cores: usize,
}

impl Scale {
    /// One list, or a shorter one for the quick report.
    fn choose<'a, T>(&self, full: &'a [T], quick: &'a [T]) -> &'a [T] {
        if self.quick { quick } else { full }
    }

    /// Degrees of parallelism, up to the most that a backend has for serial modes.
    fn degrees(&self) -> Vec<usize> {
        let most = Backend::preferred(true).max_lanes();
        self.choose(
            &[2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24, 28, 32],
            &[2, 4, 8, 16, 32],
        )
        .iter()
        .copied()
        .filter(|degree| *degree <= most)
        .collect()
    }

    /// Numbers of threads: 1, 2, 4 and so on, and all cores.
    fn threads(&self) -> Vec<usize> {
        let mut threads: Vec<usize> = std::iter::successors(Some(1), |n| Some(n * 2))
            .take_while(|n| *n < self.cores)
            .collect();
        threads.push(self.cores.max(1));
        threads
    }
}

/// What parts show.
pub(crate) struct View<'a> {
    pub(crate) scale: Scale,
    pub(crate) machine: &'a Machine,
    pub(crate) instructions: &'a [instructions::Row],
    pub(crate) results: &'a Results,
    pub(crate) peers: Option<&'a Peers>,
    pub(crate) servers: Option<&'a Servers>,
}

impl View<'_> {
    fn sequential(&self, cost: &Cost) -> Option<f64> {
        self.results.cpb(cost, Schedule::Sequential)
    }

    fn comb(&self, cost: &Cost) -> Option<f64> {
        self.results.cpb(cost, Schedule::Comb)
    }
}

/// The asks for costs.
fn asks(costs: impl IntoIterator<Item = Cost>) -> Vec<Ask> {
    costs.into_iter().map(Ask::Cost).collect()
}

/// A table with a heading; cells after the first column are figures.
fn table(head: &[&str], rows: impl IntoIterator<Item = Vec<Markup>>) -> Markup {
    html! {
        div class="scroll" { table {
            thead { tr { @for cell in head { th { (cell) } } } }
            tbody { @for row in rows { tr {
                @for (i, cell) in row.into_iter().enumerate() {
                    @if i == 0 { th scope="row" { (cell) } } @else { td { (cell) } }
                }
            } } }
        } }
    }
}

/// Text of a cell.
fn cell(text: impl Into<String>) -> Markup {
    let text: String = text.into();
    html! { (text) }
}

/// Text of a cell of words.
fn left(text: impl Into<String>) -> Markup {
    let text: String = text.into();
    html! { span class="left" { (text) } }
}

/// A figure of ours, or a dash.
fn figure(value: Option<f64>) -> Markup {
    cell(value.map_or("–".into(), fixed))
}

/// A figure of a paper.
fn published(value: Option<f64>) -> Markup {
    html! { span class="paper" { (value.map_or("–".into(), fixed)) } }
}

/// Three digits, so that columns are in line.
fn fixed(value: f64) -> String {
    match value.abs() {
        a if a >= 99.95 => format!("{value:.0}"),
        a if a >= 9.995 => format!("{value:.1}"),
        a if a >= 0.9995 => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    }
}

fn times(value: Option<f64>) -> Markup {
    cell(value.map_or("–".into(), |value| match value {
        few if few < 9.95 => format!("×{few:.2}"),
        many => format!("×{many:.1}"),
    }))
}

fn percent(value: Option<f64>) -> Markup {
    cell(value.map_or("–".into(), |value| format!("{:.0} %", 100.0 * value)))
}

fn ratio(a: Option<f64>, b: Option<f64>) -> Option<f64> {
    Some(a? / b?).filter(|ratio| ratio.is_finite())
}

/// What is seen: a line under a table or a chart.
fn seen(text: impl Into<String>) -> Markup {
    let text: String = text.into();
    html! { @if !text.is_empty() { p class="seen" { strong { "Seen here: " } (text) } } }
}

/// A chart and what it shows.
fn chart(caption: &str, drawing: Markup) -> Markup {
    html! { figure {
        div class="chart" { (drawing) }
        figcaption { (caption) }
    } }
}

/// A chart of several.
fn charts(each: impl IntoIterator<Item = (String, Markup)>) -> Markup {
    html! { div class="charts" { @for (caption, drawing) in each { (chart(&caption, drawing)) } } }
}

/// The name of a mode, as tables have it.
fn name(mode: Mode) -> String {
    mode.name().to_ascii_uppercase()
}

/// `A, B and C`.
fn list(names: &[String]) -> String {
    match names {
        [] => "none".into(),
        [one] => one.clone(),
        [some @ .., last] => format!("{} and {last}", some.join(", ")),
    }
}

pub(super) use batches::of_length as fixed_work;
pub(super) use efficiency::work;

/// Modes with messages of any length, one of each: not those that differ by padding
/// only.
pub(super) fn modes() -> impl Iterator<Item = Mode> {
    Mode::ALL
        .iter()
        .copied()
        .filter(|mode| !matches!(mode.name(), "ecb-pkcs7" | "cbc-pkcs7" | "ctr32"))
}

fn of_kind(wanted: impl Fn(&Info) -> bool) -> Vec<Mode> {
    modes().filter(|mode| wanted(mode.info())).collect()
}

/// Modes that authenticate what they encrypt.
fn authenticated() -> Vec<Mode> {
    of_kind(|info| info.kind == Kind::Aead)
}

/// Modes that encrypt a message block by block, one after the other.
fn serial(info: &Info) -> bool {
    !info.parallel_encrypt
}
