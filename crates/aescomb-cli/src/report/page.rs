//! The page: one HTML document that needs nothing beside it.

use super::ask::Ask;
use super::found::{Found, Results};
use super::parts::{Part, View};
use super::published::PAPERS;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use serde::Serialize;
use std::time::SystemTime;

/// What is said about the run.
#[derive(Debug, Serialize)]
pub(crate) struct About {
    version: &'static str,
    /// Of the end, in UTC, as `2026-01-31`.
    pub(crate) date: String,
    /// The same, as `23:59:59`.
    time: String,
    /// Most samples of a figure.
    samples: usize,
    seed: u64,
    kept: usize,
    /// Samples that were thrown away as the core changed its frequency.
    discarded: usize,
    figures: usize,
    /// Figures that had better be taken again.
    noisy: usize,
}

/// Share of noisy figures above which the report warns.
const NOISY: f64 = 0.2;

/// The date and the time of UTC, as `2026-01-31` and `23:59:59`.
fn now() -> (String, String) {
    let now = humantime::format_rfc3339_seconds(SystemTime::now()).to_string();
    let (date, time) = now.split_once('T').unwrap_or_default();
    (date.to_string(), time.trim_end_matches('Z').to_string())
}

impl About {
    pub(crate) fn of(results: &Results, asks: &[Ask], samples: usize, seed: u64) -> About {
        let (date, time) = now();
        let mut about = About {
            version: env!("CARGO_PKG_VERSION"),
            date,
            time,
            samples,
            seed,
            kept: 0,
            discarded: 0,
            figures: 0,
            noisy: 0,
        };
        let mut count = |kept, discarded, warning: &Option<String>| {
            about.kept += kept;
            about.discarded += discarded;
            about.figures += 1;
            about.noisy += usize::from(warning.is_some());
        };
        for found in asks.iter().filter_map(|ask| results.get(ask)) {
            match found {
                Found::Rows(rows) => rows
                    .iter()
                    .for_each(|row| count(row.samples, row.discarded, &row.warning)),
                Found::Field(rows) => rows
                    .iter()
                    .for_each(|row| count(row.samples, row.discarded, &row.warning)),
                Found::Latency(_) => {}
            }
        }
        about
    }

    /// What to do, when too many figures are noisy.
    pub(crate) fn warning(&self) -> Option<String> {
        (self.noisy as f64 > NOISY * self.figures as f64).then(|| {
            format!(
                "{} of {} figures are noisy (quartiles far apart, or many samples thrown away). Close other programs, fix the frequency of the cores (performance governor, no turbo) or use a machine of your own, and measure again.",
                self.noisy, self.figures
            )
        })
    }
}

/// The report.
pub(crate) fn page(view: &View<'_>, about: &About, parts: &[&Part]) -> String {
    let title = format!("AES modes on {}", view.machine.cpu);
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (title) }
                // An empty icon, so that no browser asks for one.
                link rel="icon" href="data:,";
                style { (PreEscaped(STYLE)) }
            }
            body {
                header {
                    h1 { (title) }
                    p { "Tables and figures of five papers on fast AES, measured on this machine by aescomb " (about.version) ", with what the papers print beside them " span class="paper" { "in italics" } ". " (about.date) "." }
                }
                nav { ol {
                    li { a href="#method" { "Machine and method" } }
                    @for part in parts { li { a href={ "#" (part.id) } { (part.title) } } }
                    li { a href="#papers" { "Papers" } }
                } }
                (method(view, about))
                @for part in parts {
                    section id=(part.id) {
                        h2 { (part.title) }
                        ((part.show)(view))
                    }
                }
                section id="papers" {
                    h2 { "Papers" }
                    ul { @for paper in PAPERS {
                        li { em { (paper.short) } ": " (paper.long) ". Measured on: " (paper.cpu) "." }
                    } }
                }
            }
        }
    };
    page.into_string()
}

fn method(view: &View<'_>, about: &About) -> Markup {
    let machine = view.machine;
    html! {
        section id="method" {
            h2 { "Machine and method" }
            dl {
                dt { "CPU" } dd { (machine.cpu) }
                dt { "System" } dd { (machine.os) ", " (machine.arch) ", " (machine.cores) " cores for this process" }
                dt { "Features" } dd { (machine.features.join(" ")) }
                dt { "Backends" } dd { (machine.backends.join(", ")) }
                dt { "Frequency" } dd { (machine.frequency_line()) }
                @if let Some(core) = machine.pinned_core { dt { "Measured on" } dd { "core " (core) ", to which the thread was bound" } }
                dt { "Samples" } dd { "up to " (about.samples) " for a figure; " (about.kept) " kept in all, " (about.discarded) " thrown away as the core changed its frequency meanwhile" }
                dt { "Seed" } dd { (about.seed) " of lengths, contents, keys and offsets" }
            }
            @match about.warning() {
                Some(warning) => p class="warning" { (warning) },
                None => p { (about.noisy) " of " (about.figures) " figures are noisy." },
            }
            p { "All costs are core cycles and medians. A sample is as many calls in a row as make the overhead of reading the clock less than 0.1 % of it, and the overhead of an empty call is taken off. The counter does not run at the core’s frequency: that is measured before and after each sample by a chain of instructions of known latency, and a sample during which it moved is thrown away and taken again. What is compared takes turns, sample by sample. Messages lie in one buffer as in a network ring, each at a multiple of 64 bytes, at an offset of the run; they are worked on in place, but opened from one place to another. Batches are built before the timing, and calls with them are timed." }
            p { "The realistic mix is that of “Comb to Pipeline”: 44 % of messages have 40 to 100 bytes, 37 % 1,400 to 1,500, the others lengths between; each length of a part is as likely as another." }
            p { "Modes of research are here for comparison, and not for new protocols: “aescomb modes” says what became of them." }
        }
    }
}

const STYLE: &str = "
:root{--ink:#1c1e21;--soft:#5b616a;--paper:#fff;--raised:#f5f6f8;--grid:#dcdfe4;--accent:#1b62b5;color-scheme:light}
@media (prefers-color-scheme:dark){:root{--ink:#e6e8eb;--soft:#a2a9b3;--paper:#15171a;--raised:#1f2226;--grid:#3a3f46;--accent:#7db4f5;color-scheme:dark}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:74rem;padding:1rem;background:var(--paper);color:var(--ink);font:1rem/1.5 system-ui,sans-serif}
h1{font-size:1.6rem;line-height:1.2;margin:.5rem 0}
h2{font-size:1.25rem;margin:2.5rem 0 .5rem;padding-top:.5rem;border-top:1px solid var(--grid)}
h3{font-size:1rem;margin:1.25rem 0 .25rem}
p,dl,ul{max-width:46rem}
a{color:var(--accent)}
nav ol{columns:22rem;padding-left:1.5rem;font-size:.9rem}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.15rem 1rem;font-size:.9rem}
dt{color:var(--soft)}dd{margin:0;overflow-wrap:anywhere}
.scroll,.chart{overflow-x:auto}
table{border-collapse:collapse;font-size:.85rem;font-variant-numeric:tabular-nums;margin:.5rem 0}
th,td{padding:.2rem .6rem;text-align:right;border-bottom:1px solid var(--grid);white-space:nowrap}
thead th{color:var(--soft);font-weight:600;vertical-align:bottom;background:var(--raised)}
tbody th{font-weight:600;text-align:left;position:sticky;left:0;background:var(--paper)}
thead th:first-child{text-align:left}
tbody tr:hover,tbody tr:hover th{background:var(--raised)}
td:has(.left){text-align:left;white-space:normal;min-width:16rem}
.paper{color:var(--soft);font-style:italic}
.seen{border-left:3px solid var(--accent);padding-left:.75rem}
.warning{border:1px solid #c97a00;border-radius:.3rem;padding:.5rem .75rem}
.charts{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,34rem),1fr));gap:1rem}
summary{cursor:pointer;color:var(--accent)}
figure{margin:1rem 0;min-width:0}
figcaption{color:var(--soft);font-size:.85rem}
svg{display:block;width:100%;max-width:760px;min-width:460px;height:auto}
ul.legend{display:flex;flex-wrap:wrap;gap:.1rem 1rem;list-style:none;margin:.25rem 0;padding:0;font-size:.85rem}
.legend span{display:inline-block;width:1.4rem;height:0;margin-right:.4rem;vertical-align:middle;border-top:.45rem solid var(--series)}
.legend span.thin{border-top-width:1px}
svg text{font-family:system-ui,sans-serif}
svg [fill='#111111']{fill:var(--ink)}
svg [stroke='#DDDDDD']{stroke:var(--grid)}
@media (max-width:30rem){body{padding:.6rem}dl{grid-template-columns:1fr}dd{margin-bottom:.3rem}th,td{padding:.2rem .4rem}}
@media print{body{max-width:none;font-size:9pt}nav{display:none}.scroll,.chart{overflow:visible}figure,table{break-inside:avoid}svg{min-width:0}.charts{grid-template-columns:1fr 1fr}}
";
