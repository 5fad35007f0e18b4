//! Every mode against the machine's own bound.

use super::*;
use crate::report::chart;
use aescomb::Op;

pub(super) const PART: Part = Part {
    id: "efficiency",
    title: "Every mode against the bound of this machine",
    asks: |_| asks(modes().flat_map(|mode| [work(mode, false), work(mode, true)])),
    show,
};

/// The default workload: the realistic mix, 12 bytes of associated data.
pub(in crate::report) fn work(mode: Mode, back: bool) -> Cost {
    Cost {
        back,
        data_bytes: 12,
        ..Cost::of(mode, "internet")
    }
}

fn show(view: &View<'_>) -> Markup {
    let rows = modes().map(|mode| {
        let (there, back) = (work(mode, false), work(mode, true));
        let row = view.results.row(&there, Schedule::Comb);
        let op: Op = mode.info().kind.ops()[1];
        vec![
            cell(name(mode)),
            figure(view.sequential(&there)),
            figure(view.comb(&there)),
            times(ratio(view.sequential(&there), view.comb(&there))),
            figure(row.and_then(|row| row.bound_cpb)),
            percent(row.and_then(|row| row.efficiency)),
            cell(op.name()),
            figure(view.comb(&back)),
            percent(
                view.results
                    .row(&back, Schedule::Comb)
                    .and_then(|row| row.efficiency),
            ),
        ]
    });
    let efficiency = |mode: Mode| {
        let row = view.results.row(&work(mode, false), Schedule::Comb)?;
        row.efficiency.map(|share| 100.0 * share)
    };
    let groups: Vec<(String, Vec<Option<f64>>)> = modes()
        .map(|mode| (name(mode), vec![efficiency(mode)]))
        .collect();
    let good: Vec<String> = modes()
        .filter(|mode| efficiency(*mode).is_some_and(|share| share >= 65.0))
        .map(name)
        .collect();
    html! {
        p { "The default workload: 256 messages of the realistic mix of lengths (44 % of 40 to 100 bytes, 37 % of 1,400 to 1,500, the rest between), AES-128, one key, 12 bytes of associated data in modes that take any. Cycles per byte of message. The bound counts every AES call and every product in GF(2¹²⁸), at the rates that this core's instructions were measured to have; efficiency is the bound over the combed figure. What is done once for a message and is no AES call weighs most on short ones." }
        (table(&["mode", "one by one", "combed", "speed-up", "bound", "efficiency", "back", "combed", "efficiency"], rows))
        (charts([("Efficiency of encryption, percent of the bound, which counts AES and field multiplications but no loads, stores or bookkeeping.".to_owned(), chart::bars(&["efficiency"], &groups))]))
        (seen(format!("{} reach 65 % of the bound or more.", list(&good))))
    }
}
