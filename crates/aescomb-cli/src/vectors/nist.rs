//! The text form of NIST's validation program (.rsp) and its likes (.txt):
//!
//! ```text
//! # AESVS MMT test data for CBC
//! [ENCRYPT]
//!
//! COUNT = 0
//! KEY = 1f8e4973953f3fb0bd6b16662e9a3c17
//! IV = 2fe2b333ceda8f98f4a99b40d2cd34a8
//! PLAINTEXT = 45cf12964fc824ab76616ae2f4bf0822
//! CIPHERTEXT = 0f61c4d44c5147c03c195ad7e2cc12b2
//! ```
//!
//! The mode is in the comments at the beginning, or in the name of the file or
//! of its folder.

use super::{Unusable, Vector};
use aescomb::{Kind, Mode};
use std::path::Path;

/// Words that stand for a mode, beside the names of the registry, and the mode's
/// name.
const ALIASES: &[(&str, &str)] = &[
    ("CCM", "ccm"),
    ("CFB1", "cfb1"),
    ("CFB8", "cfb8"),
    ("COUNTER", "ctr"),
    ("GCM", "gcm"),
    ("GCM-SIV", "gcm-siv"),
    ("OCB", "ocb"),
    ("OCB3", "ocb"),
    ("SIV", "siv"),
    ("XTS", "xts"),
];

pub(super) fn parse(text: &str, path: &Path) -> Result<(Mode, Vec<Vector>), Unusable> {
    let fields = |line: &str| line.contains('=') && !line.starts_with(['#', '[']);
    if !text.lines().any(|line| fields(line.trim())) {
        return Err(Unusable::Format(
            "neither JSON nor lines of NAME = VALUE".into(),
        ));
    }
    let name = mode_name(text, path).ok_or_else(|| {
        Unusable::Format("neither comments nor name say which mode it is for".into())
    })?;
    let mode: Mode = name.parse().map_err(|_| Unusable::Mode(name.into()))?;
    Ok((mode, tests(text, mode).map_err(Unusable::Damaged)?))
}

/// The mode's name: from the comment in which NIST's program states it, from the
/// file's name, from its folder's, or from anything else in the comments before
/// the first test.
fn mode_name(text: &str, path: &Path) -> Option<&'static str> {
    let comments: Vec<&str> = text
        .lines()
        .map(str::trim)
        .take_while(|line| line.is_empty() || line.starts_with('#'))
        .collect();
    let stated = comments
        .iter()
        .find_map(|line| Some(line.split_once(" test data for ")?.1));
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let folder = path.parent().and_then(Path::file_name).unwrap_or_default();
    let folder = folder.to_string_lossy();
    let equal = |word: &str, known: &str| word == known;
    None.or_else(|| in_words(stated?, equal))
        // As in CBCMMT128, gcmDecrypt128, aes-128-ctr.
        .or_else(|| in_words(&stem, |word, known| word.starts_with(known)))
        .or_else(|| in_words(&folder, equal))
        .or_else(|| in_words(&comments.join("\n"), equal))
}

/// The longest known word that fits one in the text.
fn in_words(text: &str, fits: impl Fn(&str, &str) -> bool) -> Option<&'static str> {
    let text = text.to_uppercase();
    let words: Vec<&str> = text
        .split(|c: char| !c.is_ascii_alphanumeric() && c != '-')
        // A name with hyphens is one word and several.
        .flat_map(|word| std::iter::once(word).chain(word.split('-')))
        .collect();
    let fits = |known: &str| {
        words
            .iter()
            .any(|word| fits(word, known) || known.contains('-') && word.ends_with(known))
    };
    let registry = Mode::ALL
        .iter()
        .map(|mode| (mode.name().to_uppercase(), mode.name()));
    ALIASES
        .iter()
        .map(|(word, name)| ((*word).to_owned(), *name))
        .chain(registry)
        .filter(|(known, _)| fits(known))
        .max_by_key(|(known, _)| known.len())
        .map(|(_, name)| name)
}

/// A test that is being read.
#[derive(Default)]
struct Open {
    id: String,
    key: Option<Vec<u8>>,
    nonce: Option<Vec<u8>>,
    msg: Option<Vec<u8>>,
    ct: Option<Vec<u8>>,
    tag: Option<Vec<u8>>,
}

impl Open {
    fn field(&mut self, name: &str) -> Option<&mut Option<Vec<u8>>> {
        Some(match name {
            "KEY" => &mut self.key,
            "IV" | "NONCE" => &mut self.nonce,
            "PLAINTEXT" | "PT" | "MESSAGE" | "MSG" => &mut self.msg,
            "CIPHERTEXT" | "CT" => &mut self.ct,
            "OUTPUT" | "MAC" | "TAG" => &mut self.tag,
            _ => return None,
        })
    }

    fn close(self, mode: Mode) -> Result<Vector, String> {
        let id = self.id;
        let need = |field: Option<Vec<u8>>, needed: bool, name: &str| match (field, needed) {
            (Some(bytes), true) => Ok(bytes),
            (None, false) => Ok(Vec::new()),
            (None, true) => Err(format!("test {id}: no {name}")),
            (Some(_), false) => Err(format!("test {id}: {name}, which {mode} does not have")),
        };
        let mac = mode.info().kind == Kind::Mac;
        Ok(Vector {
            key: need(self.key, true, "KEY")?,
            nonce: need(self.nonce, mode.info().nonce_bytes > 0, "IV")?,
            msg: need(self.msg, true, if mac { "MESSAGE" } else { "PLAINTEXT" })?,
            ct: need(self.ct, !mac, "CIPHERTEXT")?,
            tag: need(self.tag, mac, "OUTPUT")?,
            id: id.clone(),
        })
    }
}

fn tests(text: &str, mode: Mode) -> Result<Vec<Vector>, String> {
    let mut vectors = Vec::new();
    let mut section = String::new();
    let mut open: Option<Open> = None;
    for (i, line) in text.lines().enumerate() {
        let (number, line) = (i + 1, line.trim());
        if line.starts_with('#') {
            continue;
        }
        let section_name = line
            .strip_prefix('[')
            .and_then(|rest| rest.strip_suffix(']'));
        let begins = line.split_once('=').is_some_and(|(name, _)| is_count(name));
        let ends = line.is_empty() || section_name.is_some() || begins;
        if let Some(test) = open.take_if(|_| ends) {
            vectors.push(test.close(mode)?);
        }
        if line.is_empty() {
            continue;
        }
        if let Some(name) = section_name {
            match name.trim() {
                "ENCRYPT" | "DECRYPT" => section = name.trim().to_lowercase() + " ",
                name => return Err(format!("line {number}: unknown section [{name}]")),
            }
            continue;
        }
        let (name, value) = line
            .split_once('=')
            .map(|(name, value)| (name.trim(), value.trim()))
            .ok_or_else(|| format!("line {number}: not NAME = VALUE"))?;
        if begins {
            open = Some(Open {
                id: format!("{section}{value} (line {number})"),
                ..Open::default()
            });
            continue;
        }
        let test = open.get_or_insert_with(|| Open {
            id: format!("{section}in line {number}"),
            ..Open::default()
        });
        let field = test
            .field(&name.to_uppercase())
            .ok_or_else(|| format!("line {number}: unknown field {name}"))?;
        if field.is_some() {
            return Err(format!("line {number}: {name} again in one test"));
        }
        let bytes =
            hex::decode(value).map_err(|error| format!("line {number}: {name}: {error}"))?;
        *field = Some(bytes);
    }
    if let Some(test) = open {
        vectors.push(test.close(mode)?);
    }
    Ok(vectors)
}

fn is_count(name: &str) -> bool {
    name.trim().eq_ignore_ascii_case("COUNT")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode_of(comments: &str, path: &str) -> Option<&'static str> {
        mode_name(&format!("{comments}\n\nKEY = 00\n# OFB\n"), Path::new(path))
    }

    #[test]
    fn modes_of_files() {
        for (comments, path, mode) in [
            (
                "# CAVS 11.1\n# AESVS MMT test data for CBC",
                "x.rsp",
                Some("cbc"),
            ),
            (
                "# AESVS GFSbox test data for CFB128",
                "x.rsp",
                Some("cfb128"),
            ),
            (
                "# AES Counter test vectors from RFC 3686",
                "x.txt",
                Some("ctr"),
            ),
            (
                "# AES-192-CMAC Test Vectors\n# NIST SP_800-38B",
                "x.txt",
                Some("cmac"),
            ),
            ("#  \"CCM-VADT\" information", "VADT128.rsp", Some("ccm")),
            ("# GCM Decrypt with keysize 128", "x", Some("gcm")),
            ("#Cipher = aes-128-gcm-siv", "x", Some("gcm-siv")),
            ("", "a/aes-192-gcm-siv.txt", Some("gcm-siv")),
            ("#  XTSGen information", "XTS/XTSGenAES128.rsp", Some("xts")),
            (
                "# Reformatted to fit our NIST loader",
                "OCB3/openssl.txt",
                Some("ocb"),
            ),
            ("", "CFB128MMT256.rsp", Some("cfb128")),
            ("", "CFB1MMT256.rsp", Some("cfb1")),
            ("", "CMAC/vectors.txt", Some("cmac")),
            ("# CBC", "derived/cbc-pkcs7-128.rsp", Some("cbc-pkcs7")),
            (
                "# counter mode; by openssl enc -aes-128-ecb",
                "ctr32/wrap.rsp",
                Some("ctr32"),
            ),
            (
                "# AESVS VarKey test data for OFB",
                "CBC/CBC.rsp",
                Some("ofb"),
            ),
            ("# nothing", "a/b.txt", None),
        ] {
            assert_eq!(mode_of(comments, path), mode, "{comments} {path}");
        }
    }

    const GOOD: &str = "[ENCRYPT]\n\nCOUNT = 3\nKEY = 00\nIV = 01\nPLAINTEXT =\nCIPHERTEXT = 0A\r\nCOUNT = 4\n\
        KEY = 02\nIV = 03\nPLAINTEXT = 04\nCIPHERTEXT = 05\n\n\n[DECRYPT]\nkey = 06\niv = 07\npt = 08\nct = 09";

    #[test]
    fn reads_what_it_should() {
        let vectors = tests(GOOD, Mode::Ctr).unwrap();
        let ids: Vec<&str> = vectors.iter().map(|vector| vector.id.as_str()).collect();
        assert_eq!(
            ids,
            [
                "encrypt 3 (line 3)",
                "encrypt 4 (line 8)",
                "decrypt in line 16"
            ]
        );
        assert!(vectors[0].msg.is_empty());
        assert_eq!(vectors[0].ct, vec![10]);
        assert_eq!(vectors[2].ct, vec![9]);
    }

    #[test]
    fn says_what_is_wrong() {
        for (from, to, says) in [
            ("KEY = 00", "KEY = 0", "line 4: KEY: Odd number of digits"),
            ("KEY = 00", "KEE = 00", "line 4: unknown field KEE"),
            ("KEY = 00\n", "", "test encrypt 3 (line 3): no KEY"),
            (
                "CIPHERTEXT = 05\n",
                "",
                "test encrypt 4 (line 8): no CIPHERTEXT",
            ),
            ("IV = 03", "KEY = 03", "line 10: KEY again"),
            ("IV = 03", "OUTPUT = 03", "test encrypt 4 (line 8): no IV"),
            ("IV = 03", "IV 03", "line 10: not NAME = VALUE"),
            (
                "[DECRYPT]",
                "[Tlen = 3]",
                "line 15: unknown section [Tlen = 3]",
            ),
        ] {
            let text = GOOD.replacen(from, to, 1);
            assert_ne!(text, GOOD);
            let error = tests(&text, Mode::Ctr).unwrap_err();
            assert!(error.starts_with(says), "{error}");
        }
    }
}
