//! `aescomb seal` and `open`: authenticated encryption of one message, from
//! standard input.

use super::message::{MessageArgs, Opened, read_input, tag_bytes, unhex};
use crate::failure::Failure;
use crate::output::Output;
use aescomb::{Info, Kind, Lengths, Message, Op, Text};
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

/// What both take.
#[derive(Debug, clap::Args)]
struct Common {
    #[command(flatten)]
    message: MessageArgs,
    /// Associated data in hexadecimal: authenticated, and no part of the output
    ///
    /// Modes that take several components are given them by several --data, in their order. For siv,
    /// --data '' is a component, an empty one, and not the same as none.
    #[arg(long, value_name = "HEX", conflicts_with = "data_file")]
    data: Vec<String>,
    /// File that holds the associated data, byte for byte; several files are several components
    #[arg(long, value_name = "FILE")]
    data_file: Vec<PathBuf>,
    /// Length of the tag in bytes [default: the longest]
    #[arg(long, value_name = "N")]
    tag_bytes: Option<usize>,
}

/// Encrypt and authenticate one message, from standard input to standard output
///
/// The output is the ciphertext and, right after it, the tag; of siv the tag and then the
/// ciphertext, as in RFC 5297. (Julius has its first block as the tag, which is last here.) Neither
/// nonce nor associated data are in the output.
///
/// Some modes make whole blocks of the ciphertext; `aescomb modes` says which, and which are for
/// research and not for new protocols.
#[derive(Debug, clap::Args)]
pub(crate) struct SealArgs {
    #[command(flatten)]
    common: Common,
}

/// Check and decrypt one message, from standard input to standard output
///
/// Takes what `aescomb seal` makes, ciphertext and tag. Exit status 1, and nothing on standard
/// output, if the tag is wrong: then key, nonce, associated data or message are not those that were
/// sealed.
#[derive(Debug, clap::Args)]
pub(crate) struct OpenArgs {
    #[command(flatten)]
    common: Common,
    /// Length of the message in bytes, for modes that do not tell it when they open one
    #[arg(long, value_name = "BYTES")]
    length: Option<usize>,
}

impl SealArgs {
    pub(crate) fn run(self, out: &mut Output) -> Result<ExitCode, Failure> {
        self.common.run(Op::Seal, None, out)
    }
}

impl OpenArgs {
    pub(crate) fn run(self, out: &mut Output) -> Result<ExitCode, Failure> {
        self.common.run(Op::Open, self.length, out)
    }
}

impl Common {
    /// `length`: that of the message to open, where it has been said.
    fn run(self, op: Op, length: Option<usize>, out: &mut Output) -> Result<ExitCode, Failure> {
        let info = self.message.of_kind(Kind::Aead)?;
        if op == Op::Open {
            check_length(info, length)?;
        }
        let tag = tag_bytes(info, self.tag_bytes)?;
        let data = components(&self.data, &self.data_file)?;
        let data: Vec<&[u8]> = data.iter().map(Vec::as_slice).collect();
        let Opened {
            mut comb,
            key,
            nonce,
        } = self.message.open()?;
        let mut text = read_input()?;
        let len = text.len();
        let mut opened = 0;
        if op == Op::Seal {
            text.resize(info.encrypted_len(len) + tag, 0);
        } else {
            opened = opened_len(info, len, tag, length)?;
        }
        let mut batch = [Message::new(Text::in_place_with_room(&mut text, len))
            .nonce(&nonce)
            .associated_data_vector(&data)
            .tag_attached(tag)
            .opened_len(opened)];
        if op == Op::Seal {
            comb.seal(&key, &mut batch)?;
        } else {
            comb.open(&key, &mut batch)?;
        }
        out.write_all(batch[0].output())?;
        Ok(ExitCode::SUCCESS)
    }
}

/// Whether the length of the message to open is given where it is needed, and only there.
fn check_length(info: &Info, length: Option<usize>) -> Result<(), Failure> {
    match (info.lengths == Lengths::Untold, length) {
        (true, None) => Err(Failure::Misuse(format!(
            "{} does not tell how long a message was: --length BYTES has to",
            info.name
        ))),
        (false, Some(_)) => Err(Failure::Misuse(format!(
            "{} tells how long a message was: --length is for modes that do not",
            info.name
        ))),
        _ => Ok(()),
    }
}

/// The length of the message that is in `len` bytes with a tag of `tag`, or the most that
/// it can be. What is cut off, whether by accident or not, is no message that was sealed.
fn opened_len(
    info: &Info,
    len: usize,
    tag: usize,
    length: Option<usize>,
) -> Result<usize, Failure> {
    let Some(sealed) = len.checked_sub(tag) else {
        return Err(Failure::Negative(format!(
            "the message of {len} bytes is shorter than its tag of {tag}"
        )));
    };
    let opened = length.unwrap_or(sealed);
    if opened <= sealed && info.encrypted_len(opened) == sealed {
        return Ok(opened);
    }
    let of = length.map_or(String::new(), |length| format!(" of {length} bytes"));
    Err(Failure::Negative(format!(
        "{len} bytes, {tag} of them the tag, are not what {} makes of a message{of}",
        info.name
    )))
}

/// The components of associated data; at most one of the lists has any.
fn components(texts: &[String], files: &[PathBuf]) -> Result<Vec<Vec<u8>>, Failure> {
    let texts = texts.iter().map(|text| unhex(text, "--data"));
    let files = files.iter().map(|path| {
        std::fs::read(path)
            .map_err(|error| Failure::Misuse(format!("data file {}: {error}", path.display())))
    });
    texts.chain(files).collect()
}
