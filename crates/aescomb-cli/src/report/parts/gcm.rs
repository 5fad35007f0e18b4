//! What GCM is made of, and PMAC+CTR beside it.

use super::*;
use crate::report::chart;
use crate::report::published::{self as paper, of};

/// Long messages, where only the cost of a byte counts; and the realistic mix.
const MIXES: [(&str, &str, usize); 2] = [
    ("fixed:16384", "16 KiB", 16),
    ("internet", "realistic mix", 256),
];

fn on(mode: Mode, mix: &str, messages: usize) -> Cost {
    Cost {
        messages,
        ..Cost::of(mode, mix)
    }
}

pub(super) const BREAKDOWN: Part = Part {
    id: "gcm",
    title: "What GCM is made of (AES-GCM for CAESAR)",
    asks: |_| {
        asks(MIXES.into_iter().flat_map(|(mix, _, n)| {
            [Mode::Ctr, Mode::Gmac, Mode::Gcm].map(|mode| on(mode, mix, n))
        }))
    },
    show: |view| {
        let costs = |mix: &str, n: usize, schedule| {
            let of = |mode| view.results.cpb(&on(mode, mix, n), schedule);
            [of(Mode::Gcm), of(Mode::Gmac), of(Mode::Ctr)]
        };
        let apart = |[_, hash, ctr]: [Option<f64>; 3]| Some(hash? + ctr?);
        let mut rows = Vec::new();
        let mut groups = Vec::new();
        for (mix, title, n) in MIXES {
            for (schedule, how) in [
                (Schedule::Sequential, "one by one"),
                (Schedule::Comb, "combed"),
            ] {
                let costs = costs(mix, n, schedule);
                let gain = ratio(apart(costs), costs[0]);
                let mut cells = vec![cell(format!("{title}, {how}"))];
                cells.extend(costs.map(figure));
                cells.push(figure(apart(costs)));
                cells.push(times(gain));
                rows.push(cells);
                if schedule == Schedule::Comb {
                    groups.push((
                        title.to_owned(),
                        vec![costs[2], costs[1], apart(costs), costs[0]],
                    ));
                }
            }
        }
        for (cpu, [gcm, hash, ctr]) in paper::GCM_PARTS {
            let mut cells = vec![html! { span class="paper" { (cpu) } }];
            cells.extend([gcm, hash, ctr, hash + ctr].map(|cpb| published(Some(cpb))));
            cells.push(html! { span class="paper" { (times(Some((hash + ctr) / gcm))) } });
            rows.push(cells);
        }
        let long = costs("fixed:16384", 16, Schedule::Comb);
        html! {
            p { "Cycles per byte of counter mode alone, of GHASH alone (GMAC of the same bytes) and of GCM, in which the two are interleaved. Italics: the talk’s figures for three generations of Intel CPUs." }
            (table(&["", "GCM", "GHASH", "CTR", "one after the other", "interleaving gains"], rows))
            (chart("Cycles per byte, combed.", chart::bars(&["CTR", "GHASH", "CTR, then GHASH", "GCM"], &groups)))
            @if let (Some(gain), Some(over)) = (ratio(apart(long), long[0]), ratio(long[0], long[2])) {
                (seen(format!("on long messages GCM is {} times as fast as counter mode followed by the hash, each alone (the talk gained 3 % by interleaving), and costs {} times what CTR does; the talk’s goal was 1.", number(gain), number(over))))
            }
        }
    },
};

pub(super) const TWO_PASS: Part = Part {
    id: "pmac-ctr",
    title: "PMAC+CTR, GCM and CTR (How Fast Can a Two-Pass Mode Go?)",
    asks: |_| {
        asks(MIXES.into_iter().flat_map(|(mix, _, n)| {
            [Mode::Ctr, Mode::Gcm, Mode::PmacCtr].map(|mode| on(mode, mix, n))
        }))
    },
    show: |view| {
        let rows = [Mode::Ctr, Mode::Gcm, Mode::PmacCtr].map(|mode| {
            let mut cells = vec![cell(name(mode))];
            for (mix, _, n) in MIXES {
                let cost = on(mode, mix, n);
                cells.extend([view.sequential(&cost), view.comb(&cost)].map(figure));
            }
            cells.push(published(
                of(&paper::TWO_PASS, mode.name()).map(|known| known[0]),
            ));
            cells
        });
        let compare = ratio(
            view.comb(&on(Mode::PmacCtr, "fixed:16384", 16)),
            view.comb(&on(Mode::Gcm, "fixed:16384", 16)),
        );
        html! {
            p { "A mode that needs two AES calls for a block but no multiplication, and that bears repeated nonces, beside GCM and counter mode. Cycles per byte. Italics: the talk’s, on Sandy Bridge." }
            (table(&["mode", "16 KiB: one by one", "combed", "realistic mix: one by one", "combed", "talk"], rows))
            @if let Some(compare) = compare {
                (seen(format!("PMAC+CTR takes {} times the cycles of GCM on long messages (the talk: 0.79).", number(compare))))
            }
        }
    },
};
