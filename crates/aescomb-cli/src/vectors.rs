//! Files of known answers, as far as the library has what they are for.

use crate::sizes;
use aescomb::{Info, Lengths, Mode};
use aescomb_vectors::monte_carlo::Chain;
use aescomb_vectors::{Error, Format, LeftOut, Problem, Vector};
use std::path::{Path, PathBuf};

/// A file of known answers for one mode.
#[derive(Clone, Debug)]
pub(crate) struct File {
    pub(crate) path: PathBuf,
    pub(crate) mode: Mode,
    pub(crate) vectors: Vec<Vector>,
    /// How many tests are left out, for each reason.
    pub(crate) left_out: LeftOut,
}

impl File {
    /// Reads a file of any known format and checks that its vectors are
    /// possible.
    pub(crate) fn read(path: &Path) -> Result<File, Error> {
        let file = aescomb_vectors::File::read(path)?;
        let error = |problem| Error {
            file: path.to_owned(),
            line: None,
            test: None,
            field: None,
            problem,
        };
        let name = file.mode.name;
        let mode: Mode = name
            .parse()
            .map_err(|_| error(Problem::Mode(name.to_owned())))?;
        let mut left_out = file.left_out;
        let mut vectors = Vec::new();
        for vector in file.vectors {
            match check(mode.info(), &vector, file.format) {
                Ok(()) => vectors.push(vector),
                Err(Fault::Untaken(what)) => *left_out.entry(what).or_default() += 1,
                Err(Fault::Impossible(what)) => {
                    return Err(Error {
                        line: vector.line,
                        test: Some(vector.id),
                        ..error(Problem::Damaged(what))
                    });
                }
            }
        }
        if vectors.is_empty() {
            let reasons: Vec<String> = left_out
                .iter()
                .map(|(reason, count)| format!("{count} tests left out: {reason}"))
                .collect();
            return Err(error(Problem::Nothing(reasons.join("; "))));
        }
        Ok(File {
            path: path.to_owned(),
            mode,
            vectors,
            left_out,
        })
    }
}

/// What is wrong with a vector.
enum Fault {
    /// Its file is broken.
    Impossible(String),
    /// The mode does not take what it has.
    Untaken(String),
}

/// Whether a vector can be one of this mode. ACVP and Wycheproof have tests of what only some
/// implementations take, and a MAC's tag may be cut to any length; other files are broken if
/// they have what no implementation takes.
fn check(info: &Info, vector: &Vector, format: Format) -> Result<(), Fault> {
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
    let mode = info.name;
    let untaken = match format {
        Format::Acvp | Format::Wycheproof => Fault::Untaken,
        Format::Text | Format::Json => Fault::Impossible,
    };
    if !info.key_bytes.contains(&key.len()) {
        let what = format!("key of {} bytes, which {mode} does not take", key.len());
        return Err(untaken(what));
    }
    let (least, most) = info.nonce_bytes;
    if !(least..=most).contains(&nonce.len()) {
        return Err(untaken(format!(
            "nonce of {} bytes; {mode} takes {}",
            nonce.len(),
            sizes::nonces(info)
        )));
    }
    if data.len() > info.data_components {
        return Err(Fault::Impossible(format!(
            "associated data of {} components; {mode} takes {}",
            data.len(),
            info.data_components
        )));
    }
    let text = if *refused { ct } else { msg };
    let possible = match info.lengths {
        Lengths::WholeBlocks => text.len() % 16 == 0,
        Lengths::FromOneBlock => text.len() >= 16,
        Lengths::Padded if *refused => text.len() % 16 == 0 && !text.is_empty(),
        _ => true,
    };
    if !possible {
        let name = if *refused { "ciphertext" } else { "message" };
        return Err(untaken(format!(
            "{name} of {} bytes, which {mode} does not take",
            text.len()
        )));
    }
    if !refused && ct.len() != info.encrypted_len(msg.len()) {
        return Err(Fault::Impossible(format!(
            "ciphertext of {} bytes for a message of {}; {mode} makes {}",
            ct.len(),
            msg.len(),
            info.encrypted_len(msg.len())
        )));
    }
    if vector.monte_carlo.is_some() && Chain::new(vector).is_none() {
        return Err(Fault::Impossible("not one block".into()));
    }
    let wrong_tag = format!(
        "tag of {} bytes; {mode} has {}",
        tag.len(),
        sizes::tags(info)
    );
    match info.tag_bytes {
        [] if tag.is_empty() => Ok(()),
        list if list.contains(&tag.len()) => Ok(()),
        [] => Err(Fault::Impossible(wrong_tag)),
        _ if info.kind == aescomb::Kind::Mac => Err(Fault::Untaken(wrong_tag)),
        _ => Err(untaken(wrong_tag)),
    }
}
