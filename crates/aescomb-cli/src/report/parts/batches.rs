//! How many messages it takes, and what a message and a byte cost.

use super::*;
use crate::report::chart::{self, Axes, Series};
use aescomb_measure::stats::least_squares;

fn sizes(scale: &Scale) -> &'static [usize] {
    scale.choose(
        &[1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024],
        &[1, 4, 16, 64, 256, 1024],
    )
}

fn batch(mode: Mode, messages: usize) -> Cost {
    Cost {
        messages,
        ..Cost::of(mode, "internet")
    }
}

/// Combing pays from here on: a twentieth less than one by one.
const PAYS: f64 = 0.95;

pub(super) const SIZES: Part = Part {
    id: "batch-sizes",
    title: "How many messages have to be in hand",
    asks: |scale| {
        let sizes = sizes(scale);
        asks(modes().flat_map(|mode| sizes.iter().map(move |n| batch(mode, *n))))
    },
    show: |view| {
        let sizes = sizes(&view.scale);
        let pays = |mode: Mode| {
            sizes.iter().copied().find(|n| {
                let cost = batch(mode, *n);
                ratio(view.comb(&cost), view.sequential(&cost)).is_some_and(|r| r <= PAYS)
            })
        };
        let mut head = vec!["mode".to_owned()];
        head.extend(sizes.iter().map(usize::to_string));
        head.push("one by one".into());
        head.push("pays from".into());
        let head: Vec<&str> = head.iter().map(String::as_str).collect();
        let rows = modes().map(|mode| {
            let mut cells = vec![cell(name(mode))];
            cells.extend(sizes.iter().map(|n| figure(view.comb(&batch(mode, *n)))));
            cells.push(figure(view.sequential(&batch(mode, 256))));
            cells.push(cell(pays(mode).map_or("–".into(), |n| n.to_string())));
            cells
        });
        let axes = Axes {
            x: "messages in the batch",
            y: "cycles per byte",
            doubling: true,
            y_doubling: true,
        };
        let drawing = |caption: &str, modes: Vec<Mode>| {
            let series: Vec<Series> = modes
                .into_iter()
                .map(|mode| {
                    let points = sizes
                        .iter()
                        .map(|n| (*n as f64, view.comb(&batch(mode, *n))));
                    Series::new(name(mode), points)
                })
                .collect();
            (caption.to_owned(), chart::lines(&axes, &series))
        };
        let serial: Vec<usize> = of_kind(super::serial)
            .into_iter()
            .filter_map(pays)
            .collect();
        html! {
            p { "Cycles per byte of combed batches of so many messages of the realistic mix. The last columns: the cost one by one, and the smallest of these batches for which combing costs a twentieth less than doing the same messages one by one." }
            (table(&head, rows))
            (charts([
                drawing("Modes that encrypt or authenticate.", of_kind(|info| info.kind != Kind::Aead)),
                drawing("Authenticated modes of standards.", of_kind(|info| info.kind == Kind::Aead && info.research.is_none())),
                drawing("Authenticated modes of research.", of_kind(|info| info.kind == Kind::Aead && info.research.is_some())),
            ]))
            @if let (Some(least), Some(most)) = (serial.iter().min(), serial.iter().max()) {
                (seen(format!("for serial modes combing pays from {least} to {most} messages on. Batches of different sizes have other messages in them, so that small ones may be dearer or cheaper by their lengths.")))
            }
        }
    },
};

fn lengths(scale: &Scale) -> &'static [usize] {
    scale.choose(
        &[16, 64, 128, 256, 512, 1024, 1536, 2048],
        &[16, 64, 512, 2048],
    )
}

pub(in crate::report) fn of_length(mode: Mode, bytes: usize) -> Cost {
    Cost {
        data_bytes: 12,
        ..Cost::of(mode, format!("fixed:{bytes}"))
    }
}

pub(super) const LINES: Part = Part {
    id: "lines",
    title: "What a message costs, and what a byte",
    asks: |scale| {
        let lengths = lengths(scale);
        asks(modes().flat_map(|mode| lengths.iter().map(move |bytes| of_length(mode, *bytes))))
    },
    show: |view| {
        let lengths = lengths(&view.scale);
        let line = |mode: Mode, schedule| {
            let points: Option<Vec<(f64, f64)>> = lengths
                .iter()
                .map(|bytes| {
                    let cycles = view
                        .results
                        .per_message(&of_length(mode, *bytes), schedule)?;
                    Some((*bytes as f64, cycles))
                })
                .collect();
            least_squares(&points?)
        };
        let cycles = |mode: Mode, bytes: usize| {
            view.results
                .per_message(&of_length(mode, bytes), Schedule::Comb)
        };
        let fixed =
            || modes().filter_map(|mode| Some((mode, line(mode, Schedule::Comb)?.intercept)));
        let least = fixed().min_by(|a, b| a.1.total_cmp(&b.1));
        let most = fixed().max_by(|a, b| a.1.total_cmp(&b.1));
        let rows = modes().map(|mode| {
            let (one, many) = (line(mode, Schedule::Sequential), line(mode, Schedule::Comb));
            vec![
                cell(name(mode)),
                figure(one.map(|line| line.slope)),
                figure(one.map(|line| line.intercept)),
                figure(many.map(|line| line.slope)),
                figure(many.map(|line| line.intercept)),
                figure(cycles(mode, 16)),
                figure(cycles(mode, 64)),
            ]
        });
        html! {
            p { "The line of least squares through the cycles of messages of " (lengths.first().copied().unwrap_or(0)) " to " (lengths.last().copied().unwrap_or(0)) " bytes: its slope is what a byte costs, its intercept what a message costs beside its bytes. 256 messages of one length, 12 bytes of associated data. The last columns are cycles of a whole message; lanes and blocks are filled in steps, so the shortest is no point of the line." }
            (table(&["mode", "one by one: / byte", "/ message", "combed: / byte", "/ message", "16 bytes", "64 bytes"], rows))
            @if let (Some(least), Some(most)) = (least, most) {
                (seen(format!("combed, a message costs {} ({}) to {} ({}) cycles beside its bytes.", number(least.1), name(least.0), number(most.1), name(most.0))))
            }
        }
    },
};
