//! Files of known answers.

mod json;
mod nist;

use crate::sizes;
use aescomb::{Lengths, Mode};
use std::fmt;
use std::path::{Path, PathBuf};

/// A known answer: a message and what the mode makes of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Vector {
    /// What the file calls it.
    pub(crate) id: String,
    pub(crate) key: Vec<u8>,
    pub(crate) nonce: Vec<u8>,
    /// Components of the associated data.
    pub(crate) data: Vec<Vec<u8>>,
    pub(crate) msg: Vec<u8>,
    /// Empty for a MAC.
    pub(crate) ct: Vec<u8>,
    /// Empty for a cipher that does not authenticate.
    pub(crate) tag: Vec<u8>,
    /// The tag is wrong: opening has to fail. There is no message then.
    pub(crate) refused: bool,
}

/// A file of known answers for one mode.
#[derive(Clone, Debug)]
pub(crate) struct File {
    pub(crate) path: PathBuf,
    pub(crate) mode: Mode,
    pub(crate) vectors: Vec<Vector>,
    /// Tests left out because their messages are not whole bytes.
    pub(crate) not_bytes: usize,
}

/// What is in a file.
struct Contents {
    mode: Mode,
    vectors: Vec<Vector>,
    not_bytes: usize,
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
    /// It is for something that was made of a mode in the registry.
    Variant(String),
}

impl fmt::Display for Unusable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unusable::Unreadable(error) => write!(f, "cannot be read: {error}"),
            Unusable::Format(what) => write!(f, "unknown format: {what}"),
            Unusable::Damaged(what) => write!(f, "damaged: {what}"),
            Unusable::Mode(name) => write!(f, "mode not supported: {name}"),
            Unusable::Variant(what) => write!(f, "left out: its answers are of {what}"),
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
        let contents = if text.trim_start().starts_with('{') {
            json::parse(&text)?
        } else {
            nist::parse(&text, path)?
        };
        let Contents {
            mode,
            vectors,
            not_bytes,
        } = contents;
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
            not_bytes,
        })
    }
}

/// Whether a vector can be one of this mode.
fn check(mode: Mode, vector: &Vector) -> Result<(), String> {
    let info = mode.info();
    let Vector {
        key,
        nonce,
        data,
        msg,
        ct,
        tag,
        refused,
        ..
    } = vector;
    if !info.key_bytes.contains(&key.len()) {
        return Err(format!("key of {} bytes", key.len()));
    }
    let (least, most) = info.nonce_bytes;
    if !(least..=most).contains(&nonce.len()) {
        return Err(format!(
            "nonce of {} bytes; {mode} takes {}",
            nonce.len(),
            sizes::nonces(info)
        ));
    }
    if data.len() > info.data_components {
        return Err(format!(
            "associated data of {} components; {mode} takes {}",
            data.len(),
            info.data_components
        ));
    }
    let text = if *refused { ct } else { msg };
    let possible = match info.lengths {
        Lengths::WholeBlocks => text.len() % 16 == 0,
        Lengths::FromOneBlock => text.len() >= 16,
        _ => true,
    };
    if !possible {
        return Err(format!(
            "message of {} bytes, which {mode} does not take",
            text.len()
        ));
    }
    if !refused && ct.len() != info.encrypted_len(msg.len()) {
        return Err(format!(
            "ciphertext of {} bytes for a message of {}; {mode} makes {}",
            ct.len(),
            msg.len(),
            info.encrypted_len(msg.len())
        ));
    }
    let tagged = match info.tag_bytes {
        [] => tag.is_empty(),
        list => list.contains(&tag.len()),
    };
    if !tagged {
        return Err(format!(
            "tag of {} bytes; {mode} has {}",
            tag.len(),
            sizes::tags(info)
        ));
    }
    Ok(())
}
