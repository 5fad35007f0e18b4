//! What the commands on one message have in common.

use crate::failure::Failure;
use crate::names::ModeName;
use crate::secret::KeyArgs;
use crate::sizes;
use aescomb::{AnyKey, Backend, Comb, Info, Kind};
use std::io::Read;

/// Mode, key and nonce.
#[derive(Debug, clap::Args)]
pub(super) struct MessageArgs {
    /// Mode: cbc, or aes-256-cbc to insist on a key length
    ///
    /// For modes with two keys, xts and siv, the length is that of one of them: aes-256-siv takes 64
    /// bytes, one key after the other.
    #[arg(long, short, value_name = "MODE")]
    mode: ModeName,
    #[command(flatten)]
    key: KeyArgs,
    /// Nonce (initialisation vector, initial counter block, tweak) in hexadecimal
    ///
    /// A nonce must not be used for two messages under one key; for CBC and CFB it must not be
    /// predictable either. `aescomb modes` says how long it is for every mode.
    #[arg(long, value_name = "HEX")]
    nonce: Option<String>,
    /// Backend [default: the one that suits this CPU]
    #[arg(long, value_name = "NAME")]
    backend: Option<Backend>,
}

/// What they come to.
pub(super) struct Opened {
    pub(super) comb: Comb,
    pub(super) key: AnyKey,
    pub(super) nonce: Vec<u8>,
}

impl MessageArgs {
    /// The mode, if it is of this kind.
    pub(super) fn of_kind(&self, kind: Kind) -> Result<&'static Info, Failure> {
        let info = self.mode.mode.info();
        match info.kind == kind {
            true => Ok(info),
            false => Err(Failure::Misuse(format!(
                "{} is a mode for `aescomb {}`",
                info.name,
                info.kind.ops()[0].name()
            ))),
        }
    }

    /// The nonce, the key, expanded, and what to run it with.
    pub(super) fn open(self) -> Result<Opened, Failure> {
        let ModeName { mode, key_bits } = self.mode;
        let info = mode.info();
        let nonce = match &self.nonce {
            Some(text) => unhex(text, "--nonce")?,
            None => Vec::new(),
        };
        let (least, most) = info.nonce_bytes;
        if !(least..=most).contains(&nonce.len()) {
            return Err(Failure::Misuse(match most {
                0 => format!("{mode} takes no nonce"),
                _ => format!(
                    "{mode} needs a --nonce of {} bytes, two hexadecimal digits each; given: {}",
                    sizes::nonces(info),
                    nonce.len()
                ),
            }));
        }
        let comb = match self.backend {
            Some(backend) => Comb::with_backend(backend)?,
            None => Comb::new(),
        };
        let raw = self.key.read()?;
        if let Some(bits) = key_bits
            && raw.len() != sizes::key_bytes(info, bits)
        {
            return Err(Failure::Misuse(format!(
                "key of {} bits; aes-{bits}-{mode} takes {}",
                8 * raw.len(),
                8 * sizes::key_bytes(info, bits)
            )));
        }
        let key = AnyKey::for_mode(mode, &raw)?;
        Ok(Opened { comb, key, nonce })
    }
}

/// The length of a tag, if the mode has such tags; the longest if none is asked
/// for.
pub(super) fn tag_bytes(info: &Info, asked: Option<usize>) -> Result<usize, Failure> {
    let bytes = asked.unwrap_or(info.longest_tag());
    match info.tag_bytes.contains(&bytes) {
        true => Ok(bytes),
        false => Err(Failure::Misuse(format!(
            "{} has tags of {} bytes; given: {bytes}",
            info.name,
            sizes::tags(info)
        ))),
    }
}

pub(super) fn unhex(text: &str, option: &str) -> Result<Vec<u8>, Failure> {
    hex::decode(text)
        .map_err(|error| Failure::Misuse(format!("{option} is not hexadecimal: {error}")))
}

pub(super) fn read_input() -> Result<Vec<u8>, Failure> {
    let mut data = Vec::new();
    std::io::stdin()
        .lock()
        .read_to_end(&mut data)
        .map_err(|error| Failure::Misuse(format!("cannot read standard input: {error}")))?;
    Ok(data)
}
