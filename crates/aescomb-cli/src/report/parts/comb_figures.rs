//! Figures of "Comb to Pipeline".

use super::*;
use crate::report::chart::{self, Axes, Series};
use crate::report::published::{self as paper, of};

/// The modes of figures 2 and 3, and the one that most people have.
const SERIAL: [Mode; 7] = [
    Mode::Ccm,
    Mode::Cloc,
    Mode::Jambu,
    Mode::Silc,
    Mode::McoeG,
    Mode::Poet,
    Mode::Cbc,
];

fn lengths(scale: &Scale) -> &'static [usize] {
    scale.choose(
        &[32, 64, 128, 256, 384, 512, 768, 1024, 1536, 2048],
        &[32, 128, 512, 2048],
    )
}

fn with_degree(mode: Mode, bytes: usize, degree: usize) -> Cost {
    Cost {
        lanes: Some(degree),
        schedules: vec![Schedule::Comb],
        messages: 128,
        ..Cost::of(mode, format!("fixed:{bytes}"))
    }
}

pub(super) const DEGREES: Part = Part {
    id: "figures-2-3",
    title: "Serial modes by length and messages in flight (Comb to Pipeline, figures 2 and 3)",
    asks: |scale| {
        let mut costs = Vec::new();
        for mode in SERIAL {
            for bytes in lengths(scale) {
                let degrees = scale.degrees();
                costs.extend(degrees.into_iter().map(|p| with_degree(mode, *bytes, p)));
            }
        }
        asks(costs)
    },
    show: |view| {
        let degrees = view.scale.degrees();
        let lengths = lengths(&view.scale);
        let texts = |numbers: &[usize]| numbers.iter().map(usize::to_string).collect::<Vec<_>>();
        let cost = |mode, bytes, degree| view.comb(&with_degree(mode, bytes, degree));
        let best = SERIAL.iter().filter_map(|mode| {
            let costs = degrees
                .iter()
                .filter_map(|p| Some((*p, cost(*mode, 2048, *p)?)));
            let best = costs.min_by(|a, b| a.1.total_cmp(&b.1))?;
            Some(format!("{} {}", name(*mode), best.0))
        });
        let best: Vec<String> = best.collect();
        html! {
            p { "Cycles per byte of 128 combed messages of one length, by length (down) and messages in flight (across): the darker, the dearer, in steps of equal ratio. Messages whose beginnings lie 2,048 bytes apart share places in the first-level cache, so that more of them in flight can be slower." }
            (charts(SERIAL.map(|mode| (
                name(mode),
                chart::heat(
                    "messages in flight (P)",
                    "bytes",
                    &texts(&degrees),
                    &texts(lengths),
                    |row, column| cost(mode, lengths[row], degrees[column]),
                ),
            ))))
            (seen(format!("the best P for 2,048 bytes: {}. The paper’s CPU was best at about 7.", list(&best))))
        }
    },
};

/// Modes of figure 4, and messages in hand.
const MULTIPLYING: [Mode; 2] = [Mode::McoeG, Mode::Cobra];

fn multiplying(mode: Mode, bytes: usize, messages: usize) -> Cost {
    Cost {
        messages,
        schedules: vec![Schedule::Comb],
        ..Cost::of(mode, format!("fixed:{bytes}"))
    }
}

pub(super) const FIELD: Part = Part {
    id: "figure-4",
    title: "Multiplying and doubling in GF(2¹²⁸) (Comb to Pipeline, figure 4 and table 5a)",
    asks: |scale| {
        let mut all = vec![Ask::Field];
        for mode in MULTIPLYING {
            for bytes in lengths(scale) {
                all.extend(asks([1, 8].map(|n| multiplying(mode, *bytes, n))));
            }
        }
        all
    },
    show: field,
};

fn field(view: &View<'_>) -> Markup {
    let rows = view.results.field();
    let backends: Vec<&str> = ["aesni", "vaes256", "vaes256vl", "vaes512", "portable"]
        .into_iter()
        .filter(|backend| rows.iter().any(|row| row.backend == *backend))
        .collect();
    let cost = |usage: &str, variant: &str, backend: &str| {
        let found = rows
            .iter()
            .find(|row| row.usage == usage && row.variant == variant && row.backend == backend)?;
        Some(found.cpb.unwrap_or(found.cycles_per_block))
    };
    let variants = |operation: &str, encrypts: bool| {
        let mut seen: Vec<(&str, &str, &str, bool)> = Vec::new();
        for row in rows {
            let one = (
                &*row.usage,
                &*row.variant,
                &*row.description,
                row.constant_time,
            );
            if row.operation == operation && row.cpb.is_some() == encrypts && !seen.contains(&one) {
                seen.push(one);
            }
        }
        seen
    };
    let costs = |operation: &str, encrypts: bool| {
        let mut head = vec!["variant", "use"];
        head.extend(&backends);
        head.extend(["constant time", "how"]);
        if operation == "doubling" {
            head.push("paper");
        }
        let rows = variants(operation, encrypts).into_iter().map(
            |(usage, variant, description, constant)| {
                let mut cells = vec![cell(variant), cell(usage)];
                cells.extend(backends.iter().map(|b| figure(cost(usage, variant, b))));
                cells.push(cell(if constant { "yes" } else { "no" }));
                cells.push(left(description));
                if operation == "doubling" {
                    let known = of(&paper::TABLE_5A, variant).filter(|_| usage == "serial");
                    cells.push(published(known.map(|known| known[0])));
                }
                cells
            },
        );
        table(&head, rows)
    };
    let lengths = lengths(&view.scale);
    let series: Vec<Series> = MULTIPLYING
        .iter()
        .flat_map(|mode| {
            [(1, "one message"), (8, "8 messages")].map(|(n, what)| {
                let points = lengths
                    .iter()
                    .map(|bytes| (*bytes as f64, view.comb(&multiplying(*mode, *bytes, n))));
                Series::new(format!("{}, {what}", name(*mode)), points)
            })
        })
        .collect();
    let axes = Axes {
        x: "bytes",
        y: "cycles per byte",
        doubling: true,
        y_doubling: false,
    };
    let chain = |usage| {
        ratio(
            cost(usage, "classical", "aesni"),
            cost(usage, "haswell", "aesni"),
        )
    };
    let branch = ["extraction", "test", "mask", "comparison"]
        .iter()
        .filter_map(|variant| cost("serial", variant, "aesni"))
        .reduce(f64::min);
    let doubling = ratio(branch, cost("serial", "arithmetic", "aesni"));
    html! {
        p { "Figure 4 sets two ways to multiply against each other: “classical” (three carry-less products, reduction by shifts) and the one for Haswell (four, and two more to reduce), in McOE-G and COBRA, with one message and with eight. The library multiplies in one way; the chart is that way’s, and the tables compare all ways by themselves and in a chain of multiplication and encryption like that of McOE-G." }
        (chart("McOE-G and COBRA with the library’s multiplication: one message, and eight of equal length.", chart::lines(&axes, &series)))
        h3 { "Multiplication, core cycles for each" }
        (costs("multiplication", false))
        h3 { "Multiplication inside a mode, cycles per byte, AES-128 included" }
        (costs("multiplication", true))
        @if let (Some(one), Some(many)) = (chain("chain-one"), chain("chain-many")) {
            (seen(format!("in a chain of one message classical takes {} times the cycles of the way for Haswell, in chains of many messages {} times. In the paper classical was faster for one message, where its latency counts, and slower for eight.", number(one), number(many))))
        }
        h3 { "Doubling, core cycles for each" }
        (costs("doubling", false))
        @if let Some(gain) = doubling {
            (seen(format!("the best of the paper’s branches takes {} times the cycles of arithmetic without a branch. Branches and tables are here for comparison: the library does not use what may leak its operands. Neighbours are a row of blocks doubled as one.", number(gain))))
        }
    }
}
