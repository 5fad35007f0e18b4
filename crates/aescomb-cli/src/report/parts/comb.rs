//! Tables of "Comb to Pipeline".

use super::*;
use crate::report::chart::{self, Axes, Series};
use crate::report::published::{self as paper, of};

/// The modes of the paper's tables, in their order.
const ENCRYPTION: [Mode; 6] = [
    Mode::Ecb,
    Mode::Ctr,
    Mode::Cbc,
    Mode::Ofb,
    Mode::Cfb128,
    Mode::Cmac,
];

pub(super) const MODES: Part = Part {
    id: "table-1",
    title: "Modes and what they cost (Comb to Pipeline, table 1)",
    asks: |_| Vec::new(),
    show: |_| {
        let rows = modes().map(|mode| {
            let info = mode.info();
            let yes = |yes: bool| cell(if yes { "yes" } else { "–" });
            vec![
                cell(name(mode)),
                yes(info.parallel_encrypt),
                yes(info.parallel_decrypt),
                yes(info.inverse),
                cell(info.costs.aes_per_block.to_string()),
                cell(info.costs.mul_per_block.to_string()),
                cell(info.costs.aes_per_message.to_string()),
                left(info.title),
            ]
        });
        html! {
            p { "Which modes can work on several blocks of one message at the same time when encrypting (“‖”) and when decrypting (“‖ back”), which need the inverse of AES to decrypt (IF), and how often they call AES (E) and multiply in GF(2¹²⁸) (M) for a block; calls for each message come on top. The paper lists its AE modes; here are all modes of the library." }
            (table(&["mode", "‖", "‖ back", "IF", "E", "M", "E / message", "what it is"], rows))
        }
    },
};

pub(super) const INSTRUCTIONS: Part = Part {
    id: "table-7",
    title: "Instructions (Comb to Pipeline, table 7)",
    asks: |_| Vec::new(),
    show: |view| {
        let rows = view.instructions.iter().map(|row| {
            let known = of(&paper::TABLE_7, row.name);
            vec![
                cell(row.name),
                cell(row.bits.to_string()),
                figure(Some(row.latency)),
                figure(Some(row.inverse_throughput)),
                figure(Some(f64::from(row.bits / 128) / row.inverse_throughput)),
                published(known.map(|k| k[0])),
                published(known.map(|k| k[1])),
            ]
        });
        let lanes: Vec<String> = instructions::suggested_lanes(view.instructions)
            .iter()
            .map(|lanes| format!("{} with {} bits", lanes.blocks, lanes.bits))
            .collect();
        html! {
            p { "Latency L is what an instruction costs when the next one waits for its result, inverse throughput T⁻¹ what it costs when none does; in core cycles. In italics: " (paper::COMB.cpu) "." }
            (table(&["instruction", "bits", "L", "T⁻¹", "blocks per cycle", "paper: L", "T⁻¹"], rows))
            @if !lanes.is_empty() {
                (seen(format!("so many blocks in flight hide the latency of an AES round (P = L × T): {}. Loads and stores want some more.", list(&lanes))))
            }
        }
    },
};

const LATENCY_MIXES: [(&str, &str); 2] =
    [("fixed:2048", "2,048 bytes"), ("internet", "realistic mix")];

fn cbc(degree: usize, mix: &str) -> Cost {
    Cost {
        lanes: Some(degree),
        schedules: vec![Schedule::Comb],
        ..Cost::of(Mode::Cbc, mix)
    }
}

fn waiting(degree: usize, mix: &str) -> Ask {
    Ask::Latency {
        in_hand: degree,
        messages: 256,
        mix: mix.into(),
    }
}

fn degrees(scale: &Scale) -> Vec<usize> {
    let mut degrees = vec![1];
    degrees.extend(scale.degrees());
    degrees
}

pub(super) const LATENCY: Part = Part {
    id: "table-2",
    title: "Latency against throughput of CBC (Comb to Pipeline, table 2)",
    asks: |scale| {
        degrees(scale)
            .into_iter()
            .flat_map(|degree| {
                LATENCY_MIXES
                    .into_iter()
                    .flat_map(move |(mix, _)| [Ask::Cost(cbc(degree, mix)), waiting(degree, mix)])
            })
            .collect()
    },
    show: latency,
};

/// Mean and worst wait of a message: its own time one by one is 1.
fn waits(view: &View<'_>, degree: usize, mix: &str) -> Option<(f64, f64)> {
    let alone = view.results.latency(&waiting(1, mix))?;
    let calls = view.results.latency(&waiting(degree, mix))?;
    let waits: Vec<f64> = alone
        .iter()
        .enumerate()
        .filter_map(|(i, alone)| Some(calls.get(i / degree)? / alone))
        .collect();
    let mean = waits.iter().sum::<f64>() / waits.len() as f64;
    Some((mean, waits.iter().copied().fold(0.0, f64::max)))
}

fn latency(view: &View<'_>) -> Markup {
    let degrees = degrees(&view.scale);
    let speed_up = |degree, mix| ratio(view.comb(&cbc(1, mix)), view.comb(&cbc(degree, mix)));
    let rows = |mix: &'static str, of_paper: fn(&(usize, f64, f64)) -> f64| {
        let known = move |degree| {
            let row = paper::TABLE_2.iter().find(|row| row.0 == degree);
            row.map(of_paper)
        };
        degrees.iter().map(move |degree| {
            let wait = waits(view, *degree, mix);
            vec![
                cell(degree.to_string()),
                figure(view.comb(&cbc(*degree, mix))),
                times(speed_up(*degree, mix)),
                figure(wait.map(|wait| wait.0)),
                figure(wait.map(|wait| wait.1)),
                published(known(*degree)),
                published(known(*degree).map(|cpb| known(1).unwrap_or(cpb) / cpb)),
            ]
        })
    };
    let head = [
        "P",
        "cpb",
        "speed-up",
        "mean wait",
        "worst wait",
        "paper: cpb",
        "speed-up",
    ];
    let mut series: Vec<Series> = LATENCY_MIXES
        .iter()
        .map(|(mix, title)| {
            let points = degrees.iter().map(|p| (*p as f64, speed_up(*p, mix)));
            Series::new(*title, points)
        })
        .collect();
    series.push(Series::new(
        "paper, 2,048 bytes",
        paper::TABLE_2.map(|(p, cpb, _)| (p as f64, Some(4.38 / cpb))),
    ));
    let axes = Axes {
        x: "messages in flight (P)",
        y: "speed-up",
        doubling: false,
        y_doubling: false,
    };
    let best = degrees
        .iter()
        .filter_map(|p| Some((*p, speed_up(*p, "fixed:2048")?)))
        .max_by(|a, b| a.1.total_cmp(&b.1));
    html! {
        p { "AES-128-CBC encryption with P messages in flight out of a batch of 256. Waits are those of another setting, in which every call is given P messages and no more, in the order in which they come: a message waits until its call is done, and 1 is the time that it takes alone. Blocks of several messages have to be gathered into a register and spread again, which a message alone is spared; and messages whose beginnings lie a multiple of 2,048 bytes apart share places in the first-level cache, of which there are only so many." }
        h3 { "Messages of 2,048 bytes" }
        (table(&head, rows("fixed:2048", |row| row.1)))
        h3 { "Realistic mix" }
        (table(&head, rows("internet", |row| row.2)))
        (chart("Speed-up over one message at a time.", chart::lines(&axes, &series)))
        @if let Some((p, gain)) = best {
            (seen(format!(
                "with messages of one length the gain is greatest at P = {p}, ×{}; the paper’s CPU gained ×6.74 at P = 8.",
                number(gain)
            )))
        }
    }
}

pub(super) const REALISTIC: Part = Part {
    id: "tables-3-4",
    title: "All modes on the realistic mix (Comb to Pipeline, tables 3 and 4)",
    asks: |_| asks(modes().map(|mode| Cost::of(mode, "internet"))),
    show: realistic,
};

fn realistic(view: &View<'_>) -> Markup {
    let known = |table: &[paper::Named<1>], mode: Mode| of(table, mode.name()).map(|k| k[0]);
    let rows = |modes: Vec<Mode>| {
        modes.into_iter().map(move |mode| {
            let cost = Cost::of(mode, "internet");
            let (one, many) = (view.sequential(&cost), view.comb(&cost));
            let sequential = known(&paper::SEQUENTIAL, mode);
            let combed = known(&paper::COMBED, mode);
            vec![
                cell(name(mode)),
                figure(one),
                figure(many),
                times(ratio(one, many)),
                published(sequential),
                published(combed),
                html! { span class="paper" { (times(ratio(sequential, combed))) } },
            ]
        })
    };
    let head = [
        "mode",
        "one by one",
        "combed",
        "speed-up",
        "paper: one by one",
        "combed",
        "speed-up",
    ];
    let encryption: Vec<Mode> = ENCRYPTION
        .into_iter()
        .chain(modes().filter(|mode| mode.info().kind != Kind::Aead && !ENCRYPTION.contains(mode)))
        .collect();
    let (misuse, nonce): (Vec<Mode>, Vec<Mode>) = authenticated().into_iter().partition(resists);
    let groups = |modes: &[Mode]| -> Vec<(String, Vec<Option<f64>>)> {
        let group = |mode: &Mode| {
            let cost = Cost::of(*mode, "internet");
            let paper = known(&paper::COMBED, *mode).or(known(&paper::SEQUENTIAL, *mode));
            (
                name(*mode),
                vec![view.sequential(&cost), view.comb(&cost), paper],
            )
        };
        modes.iter().map(group).collect()
    };
    let names = ["one by one", "combed", "paper’s best"];
    let gains: Vec<(String, f64)> = modes()
        .filter(|mode| serial(mode.info()))
        .filter_map(|mode| {
            let cost = Cost::of(mode, "internet");
            Some((name(mode), ratio(view.sequential(&cost), view.comb(&cost))?))
        })
        .collect();
    let least = gains.iter().min_by(|a, b| a.1.total_cmp(&b.1));
    let most = gains.iter().max_by(|a, b| a.1.total_cmp(&b.1));
    let poet = ratio(
        view.comb(&Cost::of(Mode::Copa, "internet")),
        view.comb(&Cost::of(Mode::Poet, "internet")),
    );
    html! {
        p { "Cycles per byte of encryption with AES-128, without associated data, as in the paper; 256 messages of the realistic mix, one key. “One by one” is what the paper calls sequential processing: of parallel modes it uses neighbouring blocks of one message." }
        h3 { "Encryption and authentication" }
        (table(&head, rows(encryption.clone())))
        h3 { "Authenticated encryption with nonces" }
        (table(&head, rows(nonce.clone())))
        h3 { "Authenticated encryption that resists misuse of nonces" }
        (table(&head, rows(misuse.clone())))
        (charts([
            ("Encryption and authentication, cycles per byte.".to_owned(), chart::bars(&names, &groups(&encryption))),
            ("Authenticated encryption, cycles per byte.".to_owned(), chart::bars(&names, &groups(&[nonce, misuse].concat()))),
        ]))
        @if let (Some(least), Some(most)) = (least, most) {
            (seen(format!(
                "combing makes serial modes {} ({}) to {} ({}) times as fast; the paper saw 2.73 to 5.14 times. POET combed takes {} of the cycles of COPA, which is parallel (paper: 0.80).",
                number(least.1), least.0, number(most.1), most.0,
                poet.map_or("–".into(), |poet| number(1.0 / poet)),
            )))
        }
    }
}

/// Whether a mode is meant to bear repeated nonces.
fn resists(mode: &Mode) -> bool {
    [
        Mode::McoeG,
        Mode::Copa,
        Mode::Poet,
        Mode::Julius,
        Mode::Siv,
        Mode::GcmSiv,
        Mode::PmacCtr,
    ]
    .contains(mode)
}

fn alone(mode: Mode, bytes: usize) -> Cost {
    Cost {
        messages: 1,
        schedules: vec![Schedule::Sequential],
        ..Cost::of(mode, format!("fixed:{bytes}"))
    }
}

pub(super) const ONE_MESSAGE: Part = Part {
    id: "table-5",
    title: "One message (Comb to Pipeline, table 5)",
    asks: |_| asks(modes().flat_map(|mode| paper::LENGTHS.map(|bytes| alone(mode, bytes)))),
    show: |view| {
        let gain = |wanted: fn(&Info) -> bool| {
            let ratios: Vec<f64> = of_kind(wanted)
                .into_iter()
                .filter_map(|mode| {
                    let cost = |bytes| view.sequential(&alone(mode, bytes));
                    ratio(cost(128), cost(2048))
                })
                .collect();
            aescomb_measure::stats::median(&ratios)
        };
        html! {
            p { "A call with one message and nothing else, so there is nothing to comb: cycles per byte by length in bytes. Italics: the paper." }
            (by_length(&modes().collect::<Vec<_>>(), &paper::TABLE_5, |mode, bytes| {
                view.sequential(&alone(mode, bytes))
            }))
            @if let (Some(serial), Some(parallel)) = (gain(serial), gain(|info| info.parallel_encrypt)) {
                (seen(format!(
                    "in the middle over all serial modes a byte of 128 costs {} times one of 2,048, over all parallel ones {} times (the paper’s CCM and GCM: 1.05 and 1.83).",
                    number(serial), number(parallel),
                )))
            }
        }
    },
};

fn fixed_length(mode: Mode, bytes: usize) -> Cost {
    Cost::of(mode, format!("fixed:{bytes}"))
}

pub(super) const FIXED_LENGTHS: Part = Part {
    id: "table-6",
    title: "Combed messages of one length (Comb to Pipeline, table 6)",
    asks: |_| asks(modes().flat_map(|mode| paper::LENGTHS.map(|bytes| fixed_length(mode, bytes)))),
    show: |view| {
        let dearer: Vec<f64> = modes()
            .filter_map(|mode| {
                ratio(
                    view.comb(&Cost::of(mode, "internet")),
                    view.comb(&fixed_length(mode, 1024)),
                )
            })
            .collect();
        let middle = aescomb_measure::stats::median(&dearer);
        html! {
            p { "256 messages of one length, so that no lane of the comb is ever empty: cycles per byte by length in bytes, an upper bound for what combing can give. Italics: the paper." }
            (by_length(&modes().collect::<Vec<_>>(), &paper::TABLE_6, |mode, bytes| {
                view.comb(&fixed_length(mode, bytes))
            }))
            (seen(format!("mixed lengths cost {} times what messages of 1,024 bytes do, in the middle over all modes.", middle.map_or("–".into(), number))))
        }
    },
};

/// Modes down, lengths across, those of the paper beside them.
fn by_length(
    modes: &[Mode],
    known: &[paper::Named<5>],
    cost: impl Fn(Mode, usize) -> Option<f64>,
) -> Markup {
    let rows = modes.iter().map(|mode| {
        let known = of(known, mode.name());
        let mut cells = vec![cell(name(*mode))];
        cells.extend(paper::LENGTHS.map(|bytes| figure(cost(*mode, bytes))));
        cells.extend((0..5).map(|i| published(known.map(|known| known[i]))));
        cells
    });
    table(
        &[
            "mode",
            "128",
            "256",
            "512",
            "1024",
            "2048",
            "paper: 128",
            "256",
            "512",
            "1024",
            "2048",
        ],
        rows,
    )
}
