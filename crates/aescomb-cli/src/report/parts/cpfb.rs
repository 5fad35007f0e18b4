//! Tables of "Benchmarking y optimización", and the index it takes its lengths from.

use super::*;
use crate::report::published::{self as paper, CPFB_LENGTHS, WEIGHTS};

const MODES: [Mode; 2] = [Mode::Cpfb, Mode::Silver];

fn of_length(mode: Mode, back: bool, portable: bool, bytes: usize) -> Cost {
    Cost {
        back,
        // As many bytes as fit into a second-level cache; software is slow.
        messages: match (portable, bytes > 4096) {
            (_, true) => 8,
            (true, _) => 32,
            _ => 256,
        },
        backend: portable.then(|| "portable".to_owned()),
        ..Cost::of(mode, format!("fixed:{bytes}"))
    }
}

/// The mean of the first four lengths with their weights.
fn mean(cost: impl Fn(usize) -> Option<f64>) -> Option<f64> {
    WEIGHTS
        .iter()
        .zip(CPFB_LENGTHS)
        .map(|(weight, bytes)| Some(weight * cost(bytes)?))
        .sum()
}

pub(super) const TABLES: Part = Part {
    id: "cpfb-silver",
    title: "CPFB and Silver (Benchmarking y optimización, tables 4, 5, 7 and 8)",
    asks: |_| {
        let mut costs = Vec::new();
        for mode in MODES {
            for back in [false, true] {
                for portable in [false, true] {
                    costs.extend(CPFB_LENGTHS.map(|n| of_length(mode, back, portable, n)));
                }
            }
        }
        asks(costs)
    },
    show: |view| {
        let head = ["", "44", "552", "576", "1500", "65536", "mean"];
        let rows = |mode: Mode, portable: bool| {
            let mut rows = Vec::new();
            for (back, op) in [(false, "seal"), (true, "open")] {
                for (schedule, how) in [
                    (Schedule::Sequential, "one by one"),
                    (Schedule::Comb, "combed"),
                ] {
                    let cost = |bytes| {
                        view.results
                            .cpb(&of_length(mode, back, portable, bytes), schedule)
                    };
                    let mut cells = vec![cell(format!("{op}, {how}"))];
                    cells.extend(CPFB_LENGTHS.map(|bytes| figure(cost(bytes))));
                    cells.push(figure(mean(cost)));
                    rows.push(cells);
                }
                let known = paper::CPFB_TABLES
                    .iter()
                    .find(|row| (row.0, row.1, row.2) == (mode.name(), !portable, back));
                let mut cells = vec![html! { span class="paper" { "paper, " (op) } }];
                cells.extend((0..6).map(|i| published(known.map(|row| row.3[i]))));
                rows.push(cells);
            }
            rows
        };
        let gain = |mode: Mode| {
            let of = |portable| mean(|n| view.comb(&of_length(mode, false, portable, n)));
            ratio(of(true), of(false))
        };
        let opening = |schedule| {
            let of = |back| {
                mean(|n| {
                    view.results
                        .cpb(&of_length(Mode::Cpfb, back, false, n), schedule)
                })
            };
            ratio(of(true), of(false))
        };
        html! {
            p { "Cycles per byte of messages of 44, 552, 576, 1,500 and 65,536 bytes, and the mean of the first four with the weights of the Internet Performance Index (0.05, 0.15, 0.20, 0.60). Both modes expand keys of their own for every message, which is part of the cost. Without AES instructions the library’s portable code is bitsliced and takes constant time; the paper’s looks secrets up in tables." }
            @for (mode, without, with) in [(Mode::Cpfb, 4, 7), (Mode::Silver, 5, 8)] {
                h3 { (name(mode)) " without AES instructions (table " (without) ")" }
                (table(&head, rows(mode, true)))
                h3 { (name(mode)) " with AES instructions (table " (with) ")" }
                (table(&head, rows(mode, false)))
            }
            @if let (Some(cpfb), Some(silver), Some(one), Some(many)) = (gain(Mode::Cpfb), gain(Mode::Silver), opening(Schedule::Sequential), opening(Schedule::Comb)) {
                (seen(format!("AES instructions, combed, make sealing {} (CPFB) and {} (Silver) times as fast as portable code on the mean; the paper’s gained 9.4 and 7.5. Opening CPFB, which is serial inside a message, costs {} times what sealing does one by one, and {} times combed.", number(cpfb), number(silver), number(one), number(many))))
            }
        }
    },
};

/// Modes for the index.
fn indexed(mode: Mode, bytes: usize) -> Cost {
    match MODES.contains(&mode) {
        true => of_length(mode, false, false, bytes),
        false => Cost::of(mode, format!("fixed:{bytes}")),
    }
}

pub(super) const INDEX: Part = Part {
    id: "internet-performance-index",
    title: "Internet Performance Index",
    asks: |_| {
        let lengths = &CPFB_LENGTHS[..4];
        asks(
            authenticated()
                .into_iter()
                .flat_map(|mode| lengths.iter().map(move |bytes| indexed(mode, *bytes))),
        )
    },
    show: |view| {
        let index = |mode, schedule| {
            mean(|bytes| view.results.cpb(&indexed(mode, bytes), schedule)).map(|cpb| 8.0 / cpb)
        };
        let mut modes = authenticated();
        let combed = |mode: &Mode| index(*mode, Schedule::Comb).unwrap_or(0.0);
        modes.sort_by(|a, b| combed(b).total_cmp(&combed(a)));
        let rows = modes.iter().map(|mode| {
            vec![
                cell(name(*mode)),
                figure(index(*mode, Schedule::Sequential)),
                figure(index(*mode, Schedule::Comb)),
            ]
        });
        let first: Vec<String> = modes.iter().take(3).map(|mode| name(*mode)).collect();
        html! {
            p { "Bits sealed in a cycle, for messages of 44, 552, 576 and 1,500 bytes with weights 0.05, 0.15, 0.20 and 0.60: eight over the weighted mean of cycles per byte. More is better." }
            (table(&["mode", "one by one", "combed"], rows))
            (seen(format!("{} are first.", list(&first))))
        }
    },
};
