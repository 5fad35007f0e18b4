//! Files of known answers.

mod json;
mod nist;

use aescomb::{KEY_BYTES, Kind, Lengths, Mode};
use std::fmt;
use std::path::{Path, PathBuf};

/// A known answer: a message of a cipher and its encryption, or a message and
/// its tag.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Vector {
    /// What the file calls it.
    pub(crate) id: String,
    pub(crate) key: Vec<u8>,
    pub(crate) nonce: Vec<u8>,
    pub(crate) msg: Vec<u8>,
    /// Empty for a MAC.
    pub(crate) ct: Vec<u8>,
    /// Empty for a cipher.
    pub(crate) tag: Vec<u8>,
}

/// A file of known answers for one mode.
#[derive(Clone, Debug)]
pub(crate) struct File {
    pub(crate) path: PathBuf,
    pub(crate) mode: Mode,
    pub(crate) vectors: Vec<Vector>,
}

/// Why a file cannot be used.
#[derive(Debug)]
pub(crate) enum Unusable {
    /// It cannot be read.
    Unreadable(std::io::Error),
    /// Its format is none of those known.
    Format(String),
    /// It is of a known format and broken.
    Damaged(String),
    /// It is for a mode that is not in the registry.
    Mode(String),
}

impl fmt::Display for Unusable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unusable::Unreadable(error) => write!(f, "cannot be read: {error}"),
            Unusable::Format(what) => write!(f, "unknown format: {what}"),
            Unusable::Damaged(what) => write!(f, "damaged: {what}"),
            Unusable::Mode(name) => write!(f, "mode not supported: {name}"),
        }
    }
}

impl File {
    /// Reads a file of any known format and checks that its vectors are
    /// possible.
    pub(crate) fn read(path: &Path) -> Result<File, Unusable> {
        let bytes = std::fs::read(path).map_err(Unusable::Unreadable)?;
        let text = String::from_utf8(bytes)
            .map_err(|_| Unusable::Format("neither JSON nor text".into()))?;
        let (mode, vectors) = if text.trim_start().starts_with('{') {
            json::parse(&text)?
        } else {
            nist::parse(&text, path)?
        };
        if vectors.is_empty() {
            return Err(Unusable::Damaged("it has no tests".into()));
        }
        for vector in &vectors {
            check(mode, vector)
                .map_err(|what| Unusable::Damaged(format!("test {}: {what}", vector.id)))?;
        }
        Ok(File {
            path: path.to_owned(),
            mode,
            vectors,
        })
    }
}

/// Whether a vector can be one of this mode.
fn check(mode: Mode, vector: &Vector) -> Result<(), String> {
    let info = mode.info();
    let Vector {
        key,
        nonce,
        msg,
        ct,
        tag,
        ..
    } = vector;
    if !KEY_BYTES.contains(&key.len()) {
        return Err(format!("key of {} bytes", key.len()));
    }
    if nonce.len() != info.nonce_bytes {
        return Err(format!(
            "nonce of {} bytes; {mode} takes {}",
            nonce.len(),
            info.nonce_bytes
        ));
    }
    if info.lengths == Lengths::WholeBlocks && msg.len() % 16 != 0 {
        return Err(format!(
            "message of {} bytes; {mode} takes whole blocks",
            msg.len()
        ));
    }
    if ct.len() != info.encrypted_len(msg.len()) {
        return Err(format!(
            "ciphertext of {} bytes for a message of {}; {mode} makes {}",
            ct.len(),
            msg.len(),
            info.encrypted_len(msg.len())
        ));
    }
    let (least, most) = match info.kind {
        Kind::Mac => info.tag_bytes,
        _ => (0, 0),
    };
    if !(least..=most).contains(&tag.len()) {
        return Err(format!(
            "tag of {} bytes; {mode} has {least} to {most}",
            tag.len()
        ));
    }
    Ok(())
}
