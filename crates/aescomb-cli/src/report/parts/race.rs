//! Other libraries beside this one.

use super::*;
use crate::report::chart;
use crate::report::peers::{Best, PeerLine, Race};

pub(super) const PART: Part = Part {
    id: "peers",
    title: "Other libraries",
    asks: |_| Vec::new(),
    show,
};

fn show(view: &View<'_>) -> Markup {
    let Some(peers) = view.peers else {
        return html! {
            p { "Not measured in this run: " code { "bench/peers/run.sh --json > peers.json" } " races other libraries, and " code { "--peers peers.json" } " shows here what it found." }
        };
    };
    // Every setting in which messages raced, in the order of the run.
    let mut settings: Vec<(&str, usize)> = Vec::new();
    for race in peers.rows.iter().filter(|race| race.is_told()) {
        let setting = (&*race.mix, race.messages);
        if !settings.contains(&setting) {
            settings.push(setting);
        }
    }
    let mut cases: Vec<(&str, usize)> = Vec::new();
    for line in &peers.lines {
        if !cases.contains(&(&*line.case, line.messages)) {
            cases.push((&*line.case, line.messages));
        }
    }
    let targets: Vec<bool> = peers
        .rows
        .iter()
        .filter_map(|race| race.best_peer.as_ref()?.met)
        .collect();
    let met = targets.iter().filter(|met| **met).count();
    let groups: Vec<(String, Vec<Option<f64>>)> = peers
        .rows
        .iter()
        .filter(|race| {
            Some((&*race.mix, race.messages)) == settings.first().copied() && !race.forged
        })
        .filter_map(|race| {
            let best = race.best_peer.as_ref()?;
            Some((race.case.clone(), vec![Some(best.ratio), best.target]))
        })
        .collect();
    html! {
        p { "Other libraries with the same messages under the same key, in one process whose samples alternate between all of them; what each makes of the messages is checked before it is timed. Measured on " (peers.machine.cpu) ", " (peers.date) ". A ratio is what somebody takes over what aescomb takes: above 1, aescomb is so many times as fast." }
        @for (mix, messages) in &settings {
            @let of_setting = || {
                let wanted = |race: &&Race| (&*race.mix, race.messages) == (*mix, *messages);
                peers.rows.iter().filter(wanted)
            };
            h3 { "Mix " (mix) ", batches of " (messages) ": the best of the others" }
            (winners(of_setting()))
            details {
                summary { "Everybody" }
                (races(of_setting()))
            }
        }
        (chart("What the best other library takes over what aescomb takes, and what it ought to be at least.", chart::bars(&["best peer / aescomb", "target"], &groups)))
        @if !cases.is_empty() {
            h3 { "What a message costs, and what a byte" }
            p { "The line of least squares through the cycles of messages of 16 to 2,048 bytes." }
            details {
                summary { "Everybody" }
            (table(
                &["case", "batch", "library", "cycles / byte", "cycles / message"],
                cases.iter().flat_map(|(case, messages)| {
                    let of = move |line: &&PeerLine| (&*line.case, line.messages) == (case, *messages);
                    peers.lines.iter().filter(of).map(|line| vec![
                        cell(line.case.clone()),
                        cell(line.messages.to_string()),
                        left(format!("{}, {}", line.library, line.interface)),
                        figure(Some(line.cycles_per_byte)),
                        figure(Some(line.cycles_per_message)),
                    ])
                }),
            ))
            }
        }
        (seen(format!("{met} of {} targets against the best other library are met.", targets.len())))
    }
}

/// The fastest peer in each of some races.
fn winners<'a>(races: impl Iterator<Item = &'a Race>) -> Markup {
    let rows = races.filter_map(|race| {
        let best = race.best_peer.as_ref()?;
        Some(vec![
            cell(&*race.case),
            left(format!("{}, {}", best.library, best.interface)),
            times(Some(best.ratio)),
            cell(verdict(best)),
        ])
    });
    table(&["case", "library", "ratio", "target"], rows)
}

/// Whether the target is met, if there is one.
fn verdict(best: &Best) -> String {
    match (best.target, best.met) {
        (Some(target), Some(met)) => {
            format!("{} (×{target})", if met { "met" } else { "missed" })
        }
        _ => String::new(),
    }
}

/// Everybody in some races.
fn races<'a>(races: impl Iterator<Item = &'a Race>) -> Markup {
    let rows = races.flat_map(|race| {
        race.competitors.iter().enumerate().map(|(i, who)| {
            vec![
                cell(if i == 0 { &*race.case } else { "" }),
                left(named(&who.library, &who.version)),
                left(who.interface.clone()),
                figure(Some(who.cycles_per_byte.median)),
                figure(Some(who.cycles_per_message)),
                times(Some(who.ratio)),
                times(who.forged_to_good),
            ]
        })
    });
    table(
        &[
            "case",
            "library",
            "interface",
            "cpb",
            "cycles / message",
            "ratio",
            "forged / good",
        ],
        rows,
    )
}

/// A library with its version, which may have a name of its own.
fn named(library: &str, version: &str) -> String {
    match version.starts_with(library) {
        true => version.to_owned(),
        false => format!("{library} {version}"),
    }
}
