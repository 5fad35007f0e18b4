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
//! of its folder. What varies from file to file:
//!
//! - Lengths are lines of their own, bare or in brackets, and hold until the next:
//!   `Plen = 24`, `[Taglen = 128]`. What has no bytes may be written `00`.
//! - A key, or a key and a nonce, that stand alone belong to all tests of their
//!   section.
//! - The tag is a field, or the end of the ciphertext.
//! - In place of the message, `FAIL` says that opening has to fail.
//! - Messages of XTS need not be whole bytes; such tests are left out.

use super::{Contents, Unusable, Vector};
use aescomb::{Kind, Mode};
use std::path::Path;

/// Words that stand for a mode, beside the names of the registry, and the mode's
/// name.
const ALIASES: &[(&str, &str)] = &[
    ("CFB1", "cfb1"),
    ("CFB8", "cfb8"),
    ("COUNTER", "ctr"),
    ("OCB3", "ocb"),
];

pub(super) fn parse(text: &str, path: &Path) -> Result<Contents, Unusable> {
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
    tests(text, mode).map_err(Unusable::Damaged)
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

/// A length that a line may state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Length {
    Key,
    Nonce,
    Data,
    Message,
    Tag,
}

/// The length of this name, and its unit in bits.
fn length(name: &str) -> Option<(Length, usize)> {
    Some(match name.to_uppercase().as_str() {
        "KEYLEN" => (Length::Key, 1),
        "IVLEN" => (Length::Nonce, 1),
        "NLEN" => (Length::Nonce, 8),
        "AADLEN" => (Length::Data, 1),
        "ALEN" => (Length::Data, 8),
        "PTLEN" | "DATAUNITLEN" => (Length::Message, 1),
        "PLEN" => (Length::Message, 8),
        "TAGLEN" => (Length::Tag, 1),
        "TLEN" => (Length::Tag, 8),
        _ => return None,
    })
}

/// The lengths that hold, in bits.
#[derive(Clone, Default)]
struct Lengths(Vec<(Length, usize)>);

impl Lengths {
    fn set(&mut self, (what, unit): (Length, usize), value: &str) -> Result<(), String> {
        let n: usize = value
            .parse()
            .map_err(|_| format!("{value} is not a length"))?;
        self.0.retain(|(other, _)| *other != what);
        self.0.push((what, n.saturating_mul(unit)));
        Ok(())
    }

    fn bits(&self, what: Length) -> Option<usize> {
        let stated = self.0.iter().find(|(other, _)| *other == what);
        stated.map(|(_, bits)| *bits)
    }

    /// A part that is as long as was stated, if anything was.
    fn apply(&self, what: Length, mut bytes: Vec<u8>, name: &str) -> Result<Vec<u8>, String> {
        match self.bits(what) {
            Some(0) if bytes == [0] => bytes.clear(),
            Some(bits) if bits != 8 * bytes.len() => {
                return Err(format!(
                    "{name} of {} bytes; {bits} bits are stated",
                    bytes.len()
                ));
            }
            _ => {}
        }
        Ok(bytes)
    }
}

/// A test that is being read.
#[derive(Default)]
struct Open {
    id: String,
    /// It began with its number.
    counted: bool,
    key: Option<Vec<u8>>,
    nonce: Option<Vec<u8>>,
    data: Vec<Option<Vec<u8>>>,
    msg: Option<Vec<u8>>,
    ct: Option<Vec<u8>>,
    tag: Option<Vec<u8>>,
    refused: bool,
}

impl Open {
    fn field(&mut self, name: &str) -> Option<&mut Option<Vec<u8>>> {
        Some(match name {
            "KEY" => &mut self.key,
            "IV" | "NONCE" | "I" => &mut self.nonce,
            "PLAINTEXT" | "PT" | "PAYLOAD" | "MESSAGE" | "MSG" => &mut self.msg,
            "CIPHERTEXT" | "CT" => &mut self.ct,
            "OUTPUT" | "MAC" | "TAG" => &mut self.tag,
            _ => {
                // AAD, AAD2, AAD3: components in their order.
                let number = name.strip_prefix("AAD").or(name.strip_prefix("ADATA"))?;
                let place = match number {
                    "" => 0,
                    number => number.parse::<usize>().ok()?.checked_sub(1)?,
                };
                if place > self.data.len() {
                    return None;
                }
                if place == self.data.len() {
                    self.data.push(None);
                }
                &mut self.data[place]
            }
        })
    }

    /// Whether it has nothing but what several tests may share.
    fn is_shared(&self) -> bool {
        !self.counted
            && self.key.is_some()
            && self.data.is_empty()
            && !self.refused
            && [&self.msg, &self.ct, &self.tag]
                .iter()
                .all(|field| field.is_none())
    }

    fn close(self, mode: Mode, shared: &Shared, lengths: &Lengths) -> Result<Vector, String> {
        let id = self.id;
        let wrong = |what: String| format!("test {id}: {what}");
        let need = |field: Option<Vec<u8>>, needed: bool, name: &str| match (field, needed) {
            (Some(bytes), true) => Ok(bytes),
            (None, false) => Ok(Vec::new()),
            (None, true) => Err(wrong(format!("no {name}"))),
            (Some(_), false) => Err(wrong(format!("{name}, which {mode} does not have"))),
        };
        let info = mode.info();
        let mac = info.kind == Kind::Mac;
        let key = self.key.or(shared.key.clone());
        let nonce = self.nonce.or(shared.nonce.clone());
        // A mode that can do without a nonce has one if the file gives it.
        let has_nonce = info.nonce_bytes.0 > 0 || info.nonce_bytes.1 > 0 && nonce.is_some();
        let apply = |what, bytes, name: &str| lengths.apply(what, bytes, name).map_err(wrong);
        let key = apply(Length::Key, need(key, true, "KEY")?, "KEY")?;
        let nonce = apply(Length::Nonce, need(nonce, has_nonce, "IV")?, "IV")?;
        let msg_name = if mac { "MESSAGE" } else { "PLAINTEXT" };
        let msg = match self.refused {
            true => Vec::new(),
            false => {
                let msg = need(self.msg, true, msg_name)?;
                apply(Length::Message, msg, msg_name)?
            }
        };
        let mut ct = need(self.ct, !mac, "CIPHERTEXT")?;
        let tag = match self.tag {
            None if info.kind == Kind::Aead => {
                // At the end of the ciphertext.
                let bytes = lengths.bits(Length::Tag).map(|bits| bits / 8);
                let begin = match bytes {
                    Some(bytes) => ct.len().checked_sub(bytes),
                    None if self.refused => None,
                    None => Some(msg.len()).filter(|len| *len < ct.len()),
                };
                let begin = begin.ok_or_else(|| wrong("no TAG".into()))?;
                ct.split_off(begin)
            }
            tag => {
                let tag = need(tag, info.kind != Kind::Cipher, "OUTPUT")?;
                apply(Length::Tag, tag, "TAG")?
            }
        };
        let mut data = Vec::new();
        for component in self.data.into_iter().flatten() {
            data.push(apply(Length::Data, component, "AAD")?);
        }
        Ok(Vector {
            key,
            nonce,
            data,
            msg,
            ct,
            tag,
            refused: self.refused,
            id: id.clone(),
        })
    }
}

/// What tests of a section share.
#[derive(Default)]
struct Shared {
    key: Option<Vec<u8>>,
    nonce: Option<Vec<u8>>,
}

/// A file that is being read.
struct Reader {
    mode: Mode,
    vectors: Vec<Vector>,
    not_bytes: usize,
    /// In front of the numbers of tests.
    section: String,
    lengths: Lengths,
    shared: Shared,
    open: Option<Open>,
}

fn tests(text: &str, mode: Mode) -> Result<Contents, String> {
    let mut reader = Reader {
        mode,
        vectors: Vec::new(),
        not_bytes: 0,
        section: String::new(),
        lengths: Lengths::default(),
        shared: Shared::default(),
        open: None,
    };
    for (i, line) in text.lines().enumerate() {
        reader.line(i + 1, line.trim())?;
    }
    reader.close()?;
    Ok(Contents {
        mode,
        vectors: reader.vectors,
        not_bytes: reader.not_bytes,
    })
}

impl Reader {
    fn line(&mut self, number: usize, line: &str) -> Result<(), String> {
        if line.starts_with('#') {
            return Ok(());
        }
        let section = line
            .strip_prefix('[')
            .and_then(|rest| rest.strip_suffix(']'));
        if line.is_empty() {
            return self.close();
        }
        if let Some(section) = section {
            self.close()?;
            return self
                .section(section.trim())
                .map_err(|what| format!("line {number}: {what}"));
        }
        if line == "FAIL" {
            let test = self.open.as_mut();
            let test = test.ok_or_else(|| format!("line {number}: FAIL outside of a test"))?;
            test.refused = true;
            return Ok(());
        }
        let (name, value) =
            assignment(line).ok_or_else(|| format!("line {number}: not NAME = VALUE"))?;
        if name.eq_ignore_ascii_case("COUNT") {
            self.close()?;
            self.begin(true, format!("{value} (line {number})"));
            return Ok(());
        }
        if let Some(length) = length(name) {
            return self
                .lengths
                .set(length, value)
                .map_err(|what| format!("line {number}: {name}: {what}"));
        }
        if self.open.is_none() {
            self.begin(false, format!("in line {number}"));
        }
        let field = self
            .open
            .as_mut()
            .and_then(|test| test.field(&name.to_uppercase()))
            .ok_or_else(|| format!("line {number}: unknown field {name}"))?;
        if field.is_some() {
            return Err(format!("line {number}: {name} again in one test"));
        }
        let bytes =
            hex::decode(value).map_err(|error| format!("line {number}: {name}: {error}"))?;
        *field = Some(bytes);
        Ok(())
    }

    fn section(&mut self, text: &str) -> Result<(), String> {
        if text == "ENCRYPT" || text == "DECRYPT" {
            self.section = text.to_lowercase() + " ";
            return Ok(());
        }
        for part in text.split(',') {
            let unknown = || format!("unknown section [{text}]");
            let (name, value) = assignment(part).ok_or_else(unknown)?;
            self.lengths
                .set(length(name).ok_or_else(unknown)?, value)
                .map_err(|what| format!("{name}: {what}"))?;
        }
        self.shared = Shared::default();
        Ok(())
    }

    fn begin(&mut self, counted: bool, id: String) {
        self.open = Some(Open {
            counted,
            id: self.section.clone() + &id,
            ..Open::default()
        });
    }

    /// Ends what is being read, if anything.
    fn close(&mut self) -> Result<(), String> {
        let Some(test) = self.open.take() else {
            return Ok(());
        };
        if test.is_shared() {
            self.shared = Shared {
                key: test.key,
                nonce: test.nonce,
            };
            return Ok(());
        }
        if self
            .lengths
            .bits(Length::Message)
            .is_some_and(|bits| bits % 8 != 0)
        {
            self.not_bytes += 1;
            return Ok(());
        }
        let vector = test.close(self.mode, &self.shared, &self.lengths)?;
        self.vectors.push(vector);
        Ok(())
    }
}

/// NAME = VALUE.
fn assignment(line: &str) -> Option<(&str, &str)> {
    let (name, value) = line.split_once('=')?;
    Some((name.trim(), value.trim()))
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
        let vectors = tests(GOOD, Mode::Ctr).unwrap().vectors;
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
                "[Length = 3]",
                "line 15: unknown section [Length = 3]",
            ),
        ] {
            let text = GOOD.replacen(from, to, 1);
            assert_ne!(text, GOOD);
            let error = tests(&text, Mode::Ctr).map(|_| ()).unwrap_err();
            assert!(error.starts_with(says), "{error}");
        }
    }

    #[test]
    fn lengths_and_what_tests_share() {
        const CCM: &str = "Plen = 2\nTlen = 4\n\n[Alen = 0]\n\nKey = 01\nNonce = 02\n\n\
            Count = 0\nAdata = 00\nPayload = 0304\nCT = 050607080910\n\n\
            [Alen = 1, Plen = 0]\n\nKey = 11\n\nCount = 1\nNonce = 12\nAdata = 00\nPayload = 00\nCT = 15161718\n";
        let vectors = tests(CCM, Mode::Ccm).unwrap().vectors;
        let vector = |id: &str, bytes: [&[u8]; 6]| {
            let [key, nonce, data, msg, ct, tag] = bytes.map(<[u8]>::to_vec);
            Vector {
                id: id.into(),
                key,
                nonce,
                data: vec![data],
                msg,
                ct,
                tag,
                refused: false,
            }
        };
        assert_eq!(
            vectors,
            [
                vector(
                    "0 (line 9)",
                    [&[1], &[2], &[], &[3, 4], &[5, 6], &[7, 8, 9, 16]]
                ),
                vector(
                    "1 (line 18)",
                    [&[17], &[18], &[0], &[], &[], &[21, 22, 23, 24]]
                ),
            ]
        );
        for (from, to, says) in [
            (
                "0304",
                "03",
                "test 0 (line 9): PLAINTEXT of 1 bytes; 16 bits are stated",
            ),
            ("Plen = 2", "Plen = x", "line 1: Plen: x is not a length"),
            ("Tlen = 4", "Tlen = 40", "test 0 (line 9): no TAG"),
            ("Key = 11", "", "test 1 (line 18): no KEY"),
            ("Nonce = 12", "", "test 1 (line 18): no IV"),
            ("Key = 01", "FAIL", "line 6: FAIL outside of a test"),
        ] {
            let text = CCM.replacen(from, to, 1);
            assert_ne!(text, CCM);
            let error = tests(&text, Mode::Ccm).map(|_| ()).unwrap_err();
            assert!(error.starts_with(says), "{error}");
        }
    }

    #[test]
    fn tags_and_failures() {
        const GCM: &str = "[Taglen = 16]\n\nCount = 0\nKey = 01\nIV = 02\nCT = 03\nAAD =\nTag = 0405\nFAIL\n\n\
            Count = 1\nKey = 01\nIV = 02\nCT = 03\nTag = 0405\nPT = 06";
        let vectors = tests(GCM, Mode::Gcm).unwrap().vectors;
        let refused: Vec<bool> = vectors.iter().map(|vector| vector.refused).collect();
        assert_eq!(refused, [true, false]);
        assert_eq!((vectors[0].data.len(), vectors[1].data.len()), (1, 0));
        assert_eq!(vectors[0].tag, [4, 5]);
        // The tag is what the ciphertext has more than the message.
        let ocb = "Count = 0\nKey = 01\nNonce = 02\nAAD =\nPlaintext = 03\nCiphertext = 040506";
        let vector = &tests(ocb, Mode::Ocb).unwrap().vectors[0];
        assert_eq!((&vector.ct[..], &vector.tag[..]), (&[4][..], &[5, 6][..]));
    }

    #[test]
    fn components() {
        let siv =
            "Count = 0\nKey = 01\nAAD = 02\nAAD2 =\nAAD3 = 04\nTag = 05\nPlaintext =\nCiphertext =";
        let data = |text: &str| Ok::<_, String>(tests(text, Mode::Siv)?.vectors[0].data.clone());
        assert_eq!(data(siv), Ok(vec![vec![2], vec![], vec![4]]));
        assert_eq!(data(&siv.replace("AAD", "# ")), Ok(vec![]));
        let error = data(&siv.replace("AAD2", "AAD4")).unwrap_err();
        assert_eq!(error, "line 4: unknown field AAD4");
    }

    #[test]
    fn messages_that_are_not_whole_bytes() {
        let test = |bits: usize| {
            format!("COUNT = 1\nDataUnitLen = {bits}\nKey = 01\ni = 02\nPT = 0304\nCT = 0506\n\n")
        };
        let contents = tests(&(test(16) + &test(13) + &test(16)), Mode::Xts).unwrap();
        assert_eq!((contents.vectors.len(), contents.not_bytes), (2, 1));
    }
}
