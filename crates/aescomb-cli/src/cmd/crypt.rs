//! `aescomb encrypt` and `decrypt`: one message, from standard input.

use super::message::{MessageArgs, Opened, read_input};
use crate::failure::Failure;
use crate::output::Output;
use aescomb::{Kind, Lengths, Message, Op, Text};
use std::io::Write;
use std::process::ExitCode;

/// Encrypt one message, from standard input to standard output
///
/// For scripts and for comparing with other tools. None of these modes authenticates; those that do
/// are for `aescomb seal`.
#[derive(Debug, clap::Args)]
pub(crate) struct EncryptArgs {
    #[command(flatten)]
    message: MessageArgs,
}

/// Decrypt one message, from standard input to standard output
///
/// Exit status 1, and nothing on standard output, if padding has to be taken off and is none.
#[derive(Debug, clap::Args)]
pub(crate) struct DecryptArgs {
    #[command(flatten)]
    message: MessageArgs,
}

impl EncryptArgs {
    pub(crate) fn run(self, out: &mut Output) -> Result<ExitCode, Failure> {
        crypt(Op::Encrypt, self.message, out)
    }
}

impl DecryptArgs {
    pub(crate) fn run(self, out: &mut Output) -> Result<ExitCode, Failure> {
        crypt(Op::Decrypt, self.message, out)
    }
}

fn crypt(op: Op, message: MessageArgs, out: &mut Output) -> Result<ExitCode, Failure> {
    let info = message.of_kind(Kind::Cipher)?;
    let Opened {
        mut comb,
        key,
        nonce,
    } = message.open()?;
    let mut data = read_input()?;
    let len = data.len();
    if op == Op::Encrypt && info.lengths == Lengths::Padded {
        data.resize(info.encrypted_len(len), 0);
    }
    let mut batch = [Message::new(Text::in_place_with_room(&mut data, len)).nonce(&nonce)];
    if op == Op::Encrypt {
        comb.encrypt(&key, &mut batch)?;
    } else {
        comb.decrypt(&key, &mut batch)?;
    }
    out.write_all(batch[0].output())?;
    Ok(ExitCode::SUCCESS)
}
