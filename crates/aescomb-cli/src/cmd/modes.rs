//! `aescomb modes`: the registry as tables.

use crate::failure::Failure;
use crate::output::Output;
use crate::sizes;
use crate::table::{table, text, wrap};
use aescomb::{Info, Lengths, Mode};
use std::io::Write;
use std::process::ExitCode;

/// Print the modes and what to know about them
///
/// Four tables: what the modes are, which of them are for research and what became of those, what
/// they take and cost, and what happens when a nonce repeats under a key.
///
/// Costs are those of table 1 of the paper "Comb to Pipeline": E are AES calls and M GF(2^128)
/// multiplications of a message with m blocks of text and d blocks of associated data. "parallel"
/// says in which direction the blocks of one message can be worked on side by side; the others are
/// serial and gain most from combing. "inverse" says whether the way back needs the inverse of AES.
/// "data" is the number of components of associated data, at most. "lengths" says which messages the
/// mode takes, and whether it makes them whole blocks: by padding, which is taken off again, by
/// filling up, which is found again, or without telling, so that whoever opens a message has to say
/// how long it is.
#[derive(Debug, clap::Args)]
pub(crate) struct ModesArgs {}

impl ModesArgs {
    pub(crate) fn run(self, out: &mut Output) -> Result<ExitCode, Failure> {
        let modes: Vec<&Info> = Mode::ALL.iter().map(|mode| mode.info()).collect();

        let mut what = table(&["mode", "description", "source"], &[0, 1, 2]);
        wrap(&mut what);
        let mut costs = table(
            &[
                "mode", "key", "tag", "data", "lengths", "E", "M", "parallel", "inverse",
            ],
            &[0, 1, 2, 4, 5, 6, 7, 8],
        );
        let mut research = table(&["mode", "for research: what became of it"], &[0, 1]);
        wrap(&mut research);
        let mut nonces = table(&["mode", "nonce", "when a nonce repeats"], &[0, 1, 2]);
        for info in &modes {
            what.add_row([info.name, info.title, info.source]);
            if let Some(fate) = info.research {
                research.add_row([info.name, fate]);
            }
            costs.add_row([
                info.name.to_owned(),
                sizes::keys(info),
                sizes::tags(info),
                match info.data_components {
                    0 => "-".into(),
                    n => n.to_string(),
                },
                lengths(info).into(),
                aes_calls(info),
                multiplications(info),
                parallel(info).into(),
                if info.inverse { "yes" } else { "-" }.into(),
            ]);
            if info.nonce_bytes.1 > 0 {
                nonces.add_row([info.name, &sizes::nonces(info), info.nonce_reuse]);
            }
        }
        writeln!(out, "{}", text(&what))?;
        if research.row_count() > 0 {
            write!(out, "{}", text(&research))?;
            writeln!(
                out,
                "\nThese modes are for research and comparison, and not for new protocols.\n"
            )?;
        }
        writeln!(out, "{}", text(&costs))?;
        writeln!(out, "key in bits, tag and nonce in bytes")?;
        writeln!(
            out,
            "E: AES calls, M: GF(2^128) multiplications; m: blocks of text, d: blocks of associated data"
        )?;
        for info in modes.iter().filter(|info| info.costs.data_prefix > 0) {
            writeln!(
                out,
                "d counts {} bytes more for {}, which puts them before associated data",
                info.costs.data_prefix, info.name
            )?;
        }
        write!(out, "\n{}", text(&nonces))?;
        Ok(ExitCode::SUCCESS)
    }
}

fn aes_calls(info: &Info) -> String {
    let costs = &info.costs;
    sum(
        costs.aes_per_block,
        costs.aes_per_data_block,
        costs.aes_per_message,
    )
}

fn multiplications(info: &Info) -> String {
    let costs = &info.costs;
    let per_data_block = match info.data_components {
        0 => 0,
        _ => costs.mul_per_block,
    };
    sum(costs.mul_per_block, per_data_block, costs.mul_per_message)
}

/// `2m+d+2`, or `-` for nothing.
fn sum(per_block: usize, per_data_block: usize, per_message: usize) -> String {
    let times = |n: usize, what: &str| match n {
        0 => None,
        1 => Some(what.to_owned()),
        n => Some(format!("{n}{what}")),
    };
    let fixed = (per_message > 0).then(|| per_message.to_string());
    let terms: Vec<String> = [times(per_block, "m"), times(per_data_block, "d"), fixed]
        .into_iter()
        .flatten()
        .collect();
    match terms.is_empty() {
        true => "-".into(),
        false => terms.join("+"),
    }
}

fn parallel(info: &Info) -> &'static str {
    let [there, back] = info.kind.ops();
    match (info.parallel_encrypt, info.parallel_decrypt) {
        (true, true) => "yes",
        (false, true) => back.name(),
        (true, false) => there.name(),
        (false, false) => "-",
    }
}

fn lengths(info: &Info) -> &'static str {
    match info.lengths {
        Lengths::WholeBlocks => "blocks",
        Lengths::Padded => "any, padded",
        Lengths::Filled => "any, filled",
        Lengths::Untold => "any, untold",
        Lengths::FromOneBlock => "16 or more",
        _ => "any",
    }
}
