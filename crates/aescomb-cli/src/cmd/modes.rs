//! `aescomb modes`: the registry as a table.

use crate::failure::Failure;
use crate::output::Output;
use crate::table::{table, text};
use aescomb::{Info, KEY_BYTES, Lengths, Mode};
use std::io::Write;
use std::process::ExitCode;

/// Print the modes and what to know about them
///
/// Columns, after table 1 of the paper "Comb to Pipeline": E and M are AES calls and GF(2^128)
/// multiplications per block of message. "parallel" says in which direction the blocks of one
/// message can be worked on side by side; the others are serial and gain most from combing.
/// "inverse" says whether decryption needs the inverse of AES. "lengths" says which messages the
/// mode takes.
#[derive(Debug, clap::Args)]
pub(crate) struct ModesArgs {}

impl ModesArgs {
    pub(crate) fn run(self, out: &mut Output) -> Result<ExitCode, Failure> {
        let mut modes = table(
            &[
                "mode",
                "key",
                "nonce",
                "tag",
                "E",
                "M",
                "parallel",
                "inverse",
                "lengths",
                "when a nonce repeats",
                "description",
                "source",
            ],
            &[0, 1, 6, 7, 8, 9, 10, 11],
        );
        let keys: Vec<String> = KEY_BYTES.iter().map(|n| (8 * n).to_string()).collect();
        let keys = keys.join("/");
        for info in Mode::ALL.iter().map(|mode| mode.info()) {
            modes.add_row([
                info.name.to_owned(),
                keys.clone(),
                match info.nonce_bytes {
                    0 => "-".into(),
                    n => n.to_string(),
                },
                match info.tag_bytes {
                    (_, 0) => "-".into(),
                    (least, most) if least == most => most.to_string(),
                    (least, most) => format!("{least}-{most}"),
                },
                info.aes_per_block.to_string(),
                match info.mul_per_block {
                    0 => "-".into(),
                    n => n.to_string(),
                },
                parallel(info).into(),
                if info.inverse { "yes" } else { "-" }.into(),
                lengths(info).into(),
                info.nonce_reuse.into(),
                info.title.into(),
                info.source.into(),
            ]);
        }
        write!(out, "{}", text(&modes))?;
        writeln!(
            out,
            "\nkey in bits, nonce and tag in bytes; E, M: AES calls and GF(2^128) multiplications per block"
        )?;
        Ok(ExitCode::SUCCESS)
    }
}

fn parallel(info: &Info) -> &'static str {
    match (info.parallel_encrypt, info.parallel_decrypt) {
        (true, true) => "yes",
        (false, true) => "decrypt",
        (true, false) => "encrypt",
        (false, false) => "-",
    }
}

fn lengths(info: &Info) -> &'static str {
    match info.lengths {
        Lengths::WholeBlocks => "blocks",
        Lengths::Padded => "any, padded",
        _ => "any",
    }
}
