//! `aescomb mac`: the tag of one message, from standard input.

use super::message::{MessageArgs, Opened, read_input, tag_bytes, unhex};
use crate::failure::Failure;
use crate::output::Output;
use aescomb::{Kind, Message, Text};
use std::io::Write;
use std::process::ExitCode;

/// Compute the tag of one message from standard input, or check it
///
/// Prints the tag in hexadecimal.
#[derive(Debug, clap::Args)]
pub(crate) struct MacArgs {
    #[command(flatten)]
    message: MessageArgs,
    /// Length of the tag in bytes [default: the longest]
    #[arg(long, value_name = "N", conflicts_with = "verify")]
    tag_bytes: Option<usize>,
    /// Print the tag's bytes instead of hexadecimal digits
    #[arg(long, conflicts_with = "verify")]
    raw: bool,
    /// Check the message against this tag: print nothing, exit status 1 if it does not match
    #[arg(long, value_name = "HEX")]
    verify: Option<String>,
}

impl MacArgs {
    pub(crate) fn run(self, out: &mut Output) -> Result<ExitCode, Failure> {
        let info = self.message.of_kind(Kind::Mac)?;
        let given = match &self.verify {
            Some(text) => Some(unhex(text, "--verify")?),
            None => None,
        };
        let bytes = tag_bytes(info, given.as_ref().map(Vec::len).or(self.tag_bytes))?;
        let Opened {
            mut comb,
            key,
            nonce,
        } = self.message.open()?;
        let data = read_input()?;
        let verify = given.is_some();
        let mut tag = given.unwrap_or_else(|| vec![0; bytes]);
        let mut batch = [Message::new(Text::read_only(&data))
            .nonce(&nonce)
            .tag(&mut tag)];
        if verify {
            comb.verify(&key, &mut batch)?;
            return Ok(ExitCode::SUCCESS);
        }
        comb.mac(&key, &mut batch)?;
        match self.raw {
            true => out.write_all(&tag)?,
            false => writeln!(out, "{}", hex::encode(&tag))?,
        }
        Ok(ExitCode::SUCCESS)
    }
}
