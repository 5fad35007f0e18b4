//! Tables and figures of "Breakthrough AES Performance".

use super::*;
use crate::bench::case::KeyForm;
use crate::report::chart::{self, Axes, Series};
use crate::report::published as paper;
use aescomb::Algorithm;

const KEY_BITS: [usize; 3] = [128, 192, 256];

/// Large buffers, as many as fit into a second-level cache.
fn large(key_bits: usize, back: bool, threads: usize) -> Cost {
    Cost {
        algorithm: with_key(key_bits),
        back,
        messages: 16,
        threads,
        ..Cost::of(Mode::Cbc, "fixed:32768")
    }
}

fn with_key(key_bits: usize) -> String {
    let mode = Mode::Cbc;
    Algorithm { mode, key_bits }.to_string()
}

pub(super) const THREADS: Part = Part {
    id: "intel-tables",
    title: "CBC on several cores (Breakthrough AES Performance, tables 2 and 3)",
    asks: |scale| {
        let mut costs = Vec::new();
        for threads in scale.threads() {
            for bits in KEY_BITS {
                costs.extend([false, true].map(|back| large(bits, back, threads)));
            }
        }
        asks(costs)
    },
    show: threads,
};

fn threads(view: &View<'_>) -> Markup {
    let ways = [
        ("encryption, one by one", false, Schedule::Sequential),
        ("encryption, combed", false, Schedule::Comb),
        ("decryption", true, Schedule::Comb),
    ];
    let rows = |per: f64| {
        view.scale.threads().into_iter().flat_map(move |threads| {
            ways.map(|(way, back, schedule)| {
                let mut cells = vec![cell(format!("{threads}: {way}"))];
                cells.extend(KEY_BITS.map(|bits| {
                    let cpb = view.results.cpb(&large(bits, back, threads), schedule);
                    figure(cpb.map(|cpb| per * cpb))
                }));
                cells
            })
        })
    };
    let known = |per: f64| {
        paper::INTEL_2
            .into_iter()
            .flat_map(move |(cores, threads, there, back)| {
                [("encryption", there), ("decryption", back)].map(|(way, costs)| {
                    let mut cells = vec![cell(format!("{cores} / {threads}: {way}"))];
                    cells.extend(costs.map(|cpb| published(Some(per * cpb))));
                    cells
                })
            })
    };
    let gain = |schedule| {
        let most = *view.scale.threads().last()?;
        let one = view.results.cpb(&large(128, false, 1), schedule);
        ratio(one, view.results.cpb(&large(128, false, most), schedule))
    };
    let head = ["threads", "128", "192", "256"];
    html! {
        p { "Buffers of 32 KiB, 16 of them for each thread, keys expanded before. A thread on each core, all at work at the same time: core cycles in which all of them together do a byte. The paper encrypts one buffer at a time in a thread. Where two of the cores are two threads of one, combing leaves the second one less to find. Combed buffers exactly 32 KiB apart compete for the same places of the first-level cache." }
        h3 { "Cycles per byte (table 2), by bits of key" }
        (table(&head, rows(1.0)))
        (table(&["paper: cores / threads", "128", "192", "256"], known(1.0)))
        h3 { "Cycles per block (table 3)" }
        (table(&head, rows(16.0)))
        (table(&["paper: cores / threads", "128", "192", "256"], known(16.0)))
        @if let (Some(sequential), Some(combed)) = (gain(Schedule::Sequential), gain(Schedule::Comb)) {
            (seen(format!("{} threads encrypt {} times as fast as one when each does one buffer after the other, and {} times as fast when each combs. The paper’s two threads on one core gained 2 from encrypting one by one, and nothing from decryption.", view.scale.threads().last().copied().unwrap_or(1), number(sequential), number(combed))))
        }
    }
}

fn sizes(scale: &Scale) -> &'static [usize] {
    scale.choose(
        &[
            16, 32, 64, 128, 192, 256, 384, 512, 1024, 2048, 4096, 8192, 16384, 32768,
        ],
        &[16, 64, 256, 1024, 32768],
    )
}

/// How keys come, and what lines are called.
const FORMS: [(KeyForm, &str); 3] = [
    (KeyForm::FreshSerial, "keys expanded one by one"),
    (KeyForm::Fresh, "keys expanded together"),
    (KeyForm::Distinct, "keys expanded before"),
];

fn buffer(bits: usize, back: bool, bytes: usize, keys: KeyForm) -> Cost {
    Cost {
        algorithm: with_key(bits),
        back,
        messages: 32,
        keys,
        ..Cost::of(Mode::Cbc, format!("fixed:{bytes}"))
    }
}

/// The same on several cores, keys expanded together inside the timing.
fn on(threads: usize, bits: usize, back: bool, bytes: usize) -> Cost {
    Cost {
        threads,
        ..buffer(bits, back, bytes, KeyForm::Fresh)
    }
}

pub(super) const BUFFERS: Part = Part {
    id: "intel-figures",
    title: "CBC with the expansion of keys (Breakthrough AES Performance, figures 4 and 5)",
    asks: |scale| {
        let mut costs = Vec::new();
        for bytes in sizes(scale) {
            for bits in KEY_BITS {
                for (keys, _) in FORMS {
                    costs.extend([false, true].map(|back| buffer(bits, back, *bytes, keys)));
                }
                for threads in scale.threads() {
                    costs.extend([false, true].map(|back| on(threads, bits, back, *bytes)));
                }
            }
        }
        asks(costs)
    },
    show: buffers,
};

fn buffers(view: &View<'_>) -> Markup {
    let sizes = sizes(&view.scale);
    let axes = Axes {
        x: "bytes",
        y: "cycles per byte",
        doubling: true,
        y_doubling: true,
    };
    let series = |back: bool, schedule: Schedule, wanted: &[(KeyForm, &str)]| -> Vec<Series> {
        KEY_BITS
            .iter()
            .flat_map(|bits| {
                wanted.iter().map(move |(keys, what)| {
                    let points = sizes.iter().map(|bytes| {
                        let cost = buffer(*bits, back, *bytes, *keys);
                        (*bytes as f64, view.results.cpb(&cost, schedule))
                    });
                    Series::new(format!("{bits}: {what}"), points)
                })
            })
            .collect()
    };
    let drawings = [
        (false, Schedule::Sequential, "Encryption one buffer after the other, keys expanded inside the timing, one by one: what figure 4 shows.", 0..1),
        (false, Schedule::Comb, "Encryption, combed.", 0..3),
        (true, Schedule::Comb, "Decryption: what figure 5 shows.", 0..3),
    ]
    .map(|(back, schedule, caption, forms)| {
        let drawing = chart::lines(&axes, &series(back, schedule, &FORMS[forms]));
        (caption.to_owned(), drawing)
    });
    let several = [(false, "Encryption"), (true, "Decryption")].map(|(back, what)| {
        let series: Vec<Series> = KEY_BITS
            .iter()
            .flat_map(|bits| {
                view.scale.threads().into_iter().map(move |threads| {
                    let points = sizes.iter().map(|bytes| {
                        (*bytes as f64, view.comb(&on(threads, *bits, back, *bytes)))
                    });
                    Series::new(format!("{bits}, threads: {threads}"), points)
                })
            })
            .collect();
        let caption = format!("{what}, combed, on several cores: core cycles in which all of them together do a byte. Keys expanded together, inside the timing.");
        (caption, chart::lines(&axes, &series))
    });
    let rows = sizes.iter().map(|bytes| {
        let mut cells = vec![cell(bytes.to_string())];
        for back in [false, true] {
            let cost = |keys| view.comb(&buffer(128, back, *bytes, keys));
            cells.extend(FORMS.map(|(keys, _)| figure(cost(keys))));
            let paper = (*bytes == 64).then_some(paper::INTEL_64_BYTES[usize::from(back)]);
            cells.push(published(paper));
        }
        cells
    });
    let gain = |bytes, back| {
        ratio(
            view.comb(&buffer(128, back, bytes, KeyForm::FreshSerial)),
            view.comb(&buffer(128, back, bytes, KeyForm::Fresh)),
        )
    };
    html! {
        p { "32 buffers, each with a key of its own. Expanding keys one by one is what a call for each buffer would do; expanded together, the keys of several buffers are interleaved, which is the paper’s idea to hide the expansion (its figures 1 and 2) with other keys’ expansions in the place of the buffer’s first blocks. Both are inside the timing." }
        (charts(drawings.into_iter().chain(several)))
        h3 { "AES-128, combed, cycles per byte" }
        (table(&["bytes", "encryption: one by one", "together", "before", "paper", "decryption: one by one", "together", "before", "paper"], rows))
        @if let (Some(there), Some(back), Some(long_there), Some(long_back)) = (gain(16, false), gain(16, true), gain(32768, false), gain(32768, true)) {
            (seen(format!("with 16 bytes, expanding keys together makes the whole {} times as fast for encryption and {} times for decryption, whose keys are also inverted; with 32 KiB {} and {} times.", number(there), number(back), number(long_there), number(long_back))))
        }
    }
}
