//! `aescomb encrypt`, `decrypt` and `mac`: one message, from standard input.

use crate::failure::Failure;
use crate::names::ModeName;
use crate::output::Output;
use crate::secret::KeyArgs;
use aescomb::{Backend, Comb, Key, Kind, Lengths, Message, Op, Text};
use std::io::{Read, Write};
use std::process::ExitCode;

/// What all three have in common.
#[derive(Debug, clap::Args)]
struct Common {
    /// Mode: cbc, or aes-256-cbc to insist on a key length
    #[arg(long, short, value_name = "MODE")]
    mode: ModeName,
    #[command(flatten)]
    key: KeyArgs,
    /// Backend [default: the one that suits this CPU]
    #[arg(long, value_name = "NAME")]
    backend: Option<Backend>,
}

#[derive(Debug, clap::Args)]
struct Nonce {
    /// Nonce (initialisation vector, initial counter block) in hexadecimal
    ///
    /// A nonce must not be used for two messages under one key; for CBC and CFB it must not be
    /// predictable either. `aescomb modes` says how long it is for every mode.
    #[arg(long, value_name = "HEX")]
    nonce: Option<String>,
}

/// Encrypt one message, from standard input to standard output
///
/// For scripts and for comparing with other tools. None of these modes authenticates.
#[derive(Debug, clap::Args)]
pub(crate) struct EncryptArgs {
    #[command(flatten)]
    common: Common,
    #[command(flatten)]
    nonce: Nonce,
}

/// Decrypt one message, from standard input to standard output
///
/// Exit status 1, and nothing on standard output, if padding has to be taken off and is none.
#[derive(Debug, clap::Args)]
pub(crate) struct DecryptArgs {
    #[command(flatten)]
    common: Common,
    #[command(flatten)]
    nonce: Nonce,
}

/// Compute the tag of one message from standard input, or check it
///
/// Prints the tag in hexadecimal.
#[derive(Debug, clap::Args)]
pub(crate) struct MacArgs {
    #[command(flatten)]
    common: Common,
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

impl EncryptArgs {
    pub(crate) fn run(self, out: &mut Output) -> Result<ExitCode, Failure> {
        crypt(Op::Encrypt, self.common, self.nonce, out)
    }
}

impl DecryptArgs {
    pub(crate) fn run(self, out: &mut Output) -> Result<ExitCode, Failure> {
        crypt(Op::Decrypt, self.common, self.nonce, out)
    }
}

fn crypt(op: Op, common: Common, nonce: Nonce, out: &mut Output) -> Result<ExitCode, Failure> {
    let info = common.mode.mode.info();
    if info.kind != Kind::Cipher {
        return Err(Failure::Misuse(format!(
            "{} does not encrypt; see `aescomb mac`",
            info.name
        )));
    }
    let nonce = match &nonce.nonce {
        Some(text) => unhex(text, "--nonce")?,
        None => Vec::new(),
    };
    if nonce.len() != info.nonce_bytes {
        return Err(Failure::Misuse(match info.nonce_bytes {
            0 => format!("{} takes no nonce", info.name),
            bytes => format!(
                "{} needs a --nonce of {bytes} bytes, {} hexadecimal digits; given: {} bytes",
                info.name,
                2 * bytes,
                nonce.len()
            ),
        }));
    }
    let (mut comb, key) = common.open()?;
    let mut data = read_input()?;
    let len = data.len();
    if op == Op::Encrypt && info.lengths == Lengths::Padded {
        data.resize(info.encrypted_len(len), 0);
    }
    let mut batch = [Message::new(Text::in_place_with_room(&mut data, len)).nonce(&nonce)];
    if op == Op::Encrypt {
        comb.encrypt(&key, &mut batch)?;
    } else if !comb.decrypt(&key, &mut batch)?.all_good() {
        return Err(Failure::Negative("the padding is wrong".into()));
    }
    out.write_all(batch[0].output())?;
    Ok(ExitCode::SUCCESS)
}

impl MacArgs {
    pub(crate) fn run(self, out: &mut Output) -> Result<ExitCode, Failure> {
        let info = self.common.mode.mode.info();
        if info.kind != Kind::Mac {
            return Err(Failure::Misuse(format!(
                "{} does not authenticate; see `aescomb encrypt`",
                info.name
            )));
        }
        let given = match &self.verify {
            Some(text) => Some(unhex(text, "--verify")?),
            None => None,
        };
        let (least, most) = info.tag_bytes;
        let bytes = match &given {
            Some(tag) => tag.len(),
            None => self.tag_bytes.unwrap_or(most),
        };
        if !(least..=most).contains(&bytes) {
            return Err(Failure::Misuse(format!(
                "{} has tags of {least} to {most} bytes; given: {bytes}",
                info.name
            )));
        }
        let (mut comb, key) = self.common.open()?;
        let data = read_input()?;
        let verify = given.is_some();
        let mut tag = given.unwrap_or_else(|| vec![0; bytes]);
        let mut batch = [Message::new(Text::read_only(&data)).tag(&mut tag)];
        if verify {
            return match comb.verify(&key, &mut batch)?.all_good() {
                true => Ok(ExitCode::SUCCESS),
                false => Err(Failure::Negative("the tag does not match".into())),
            };
        }
        comb.mac(&key, &mut batch)?;
        match self.raw {
            true => out.write_all(&tag)?,
            false => writeln!(out, "{}", hex::encode(&tag))?,
        }
        Ok(ExitCode::SUCCESS)
    }
}

impl Common {
    /// The key, expanded, and what to run it with.
    fn open(self) -> Result<(Comb, Key), Failure> {
        let comb = match self.backend {
            Some(backend) => Comb::with_backend(backend)?,
            None => Comb::new(),
        };
        let ModeName { mode, key_bits } = self.mode;
        let raw = self.key.read()?;
        match key_bits {
            Some(bits) if 8 * raw.len() != bits => Err(Failure::Misuse(format!(
                "key of {} bits; aes-{bits}-{mode} takes {bits}",
                8 * raw.len()
            ))),
            _ => Ok((comb, Key::new(mode, &raw)?)),
        }
    }
}

fn unhex(text: &str, option: &str) -> Result<Vec<u8>, Failure> {
    hex::decode(text)
        .map_err(|error| Failure::Misuse(format!("{option} is not hexadecimal: {error}")))
}

fn read_input() -> Result<Vec<u8>, Failure> {
    let mut data = Vec::new();
    std::io::stdin()
        .lock()
        .read_to_end(&mut data)
        .map_err(|error| Failure::Misuse(format!("cannot read standard input: {error}")))?;
    Ok(data)
}
