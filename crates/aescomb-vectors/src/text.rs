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
//! - The tag is a field, or part of the ciphertext.
//! - `FAIL`, or `Result = Fail` or `F` and what was changed, says that opening or verifying
//!   has to fail. `Result = Pass` or `P` says that it must not.
//! - Messages of XTS need not be whole bytes; such tests are left out.
//! - In Monte Carlo tests (MCT) a test begins where the one before has ended.

use crate::mode::{Kind, Mode, Nonce, in_words};
use crate::monte_carlo;
use crate::{Contents, Direction, Fault, MonteCarlo, NOT_BYTES, Problem, Vector};
use std::path::Path;

fn is_field(line: &str) -> bool {
    let line = line.trim();
    line.contains('=') && !line.starts_with(['#', '['])
}

/// Whether a file that begins with a bracket may be of this form.
pub(crate) fn is_text(text: &str) -> bool {
    !text.trim_start().starts_with('{') && text.lines().any(is_field)
}

pub(crate) fn parse(text: &str, path: &Path) -> Result<Contents, Fault> {
    let unknown = |what: &str| Fault::from(Problem::Format(what.into()));
    if !text.lines().any(is_field) {
        return Err(unknown("neither JSON nor lines of NAME = VALUE"));
    }
    let name = mode_name(text, path)
        .ok_or_else(|| unknown("neither comments nor name say which mode it is for"))?;
    let mode = Mode::named(name).ok_or_else(|| Problem::Mode(name.into()))?;
    let is_monte_carlo = stem(path).to_uppercase().contains("MCT")
        || comments(text).any(|line| line.contains("MCT test data"));
    if is_monte_carlo {
        monte_carlo::known(mode)?;
    }
    tests(text, mode, is_monte_carlo)
}

/// The comments before the first test.
fn comments(text: &str) -> impl Iterator<Item = &str> {
    text.lines()
        .map(str::trim)
        .take_while(|line| line.is_empty() || line.starts_with('#'))
}

fn stem(path: &Path) -> std::borrow::Cow<'_, str> {
    path.file_stem().unwrap_or_default().to_string_lossy()
}

/// The mode's name: from the comment in which NIST's program states it, from the
/// file's name, from its folder's, or from anything else in the comments before
/// the first test.
fn mode_name(text: &str, path: &Path) -> Option<&'static str> {
    let stated = comments(text).find_map(|line| Some(line.split_once(" test data for ")?.1));
    let folder = path.parent().and_then(Path::file_name).unwrap_or_default();
    let folder = folder.to_string_lossy();
    let equal = |word: &str, known: &str| word == known;
    None.or_else(|| in_words(stated?, equal))
        // As in CBCMMT128, gcmDecrypt128, aes-128-ctr.
        .or_else(|| in_words(&stem(path), |word, known| word.starts_with(known)))
        .or_else(|| in_words(&folder, equal))
        .or_else(|| in_words(&comments(text).collect::<Vec<_>>().join("\n"), equal))
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
        "KLEN" => (Length::Key, 8),
        "IVLEN" => (Length::Nonce, 1),
        "NLEN" => (Length::Nonce, 8),
        "AADLEN" => (Length::Data, 1),
        "ALEN" => (Length::Data, 8),
        "PTLEN" | "DATAUNITLEN" => (Length::Message, 1),
        "PLEN" | "MLEN" => (Length::Message, 8),
        "TAGLEN" => (Length::Tag, 1),
        "TLEN" => (Length::Tag, 8),
        _ => return None,
    })
}

/// The lengths that hold, in bits.
#[derive(Clone, Default)]
struct Lengths(Vec<(Length, usize)>);

impl Lengths {
    fn set(&mut self, (what, unit): (Length, usize), value: &str) -> Result<(), Fault> {
        let n: usize = value
            .parse()
            .map_err(|_| Fault::damaged(format!("{value} is not a length")))?;
        self.0.retain(|(other, _)| *other != what);
        self.0.push((what, n.saturating_mul(unit)));
        Ok(())
    }

    fn bits(&self, what: Length) -> Option<usize> {
        let stated = self.0.iter().find(|(other, _)| *other == what);
        stated.map(|(_, bits)| *bits)
    }

    /// A part that is as long as was stated, if anything was.
    fn apply(&self, what: Length, mut bytes: Vec<u8>, name: &str) -> Result<Vec<u8>, Fault> {
        match self.bits(what) {
            Some(0) if bytes == [0] => bytes.clear(),
            Some(bits) if bits != 8 * bytes.len() => {
                let what = format!("{} bytes; {bits} bits are stated", bytes.len());
                return Err(Fault::damaged(what).field(name));
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
    line: usize,
    /// It began with its number.
    counted: bool,
    key: Option<Vec<u8>>,
    nonce: Option<Vec<u8>>,
    data: Vec<Option<Vec<u8>>>,
    msg: Option<Vec<u8>>,
    ct: Option<Vec<u8>>,
    tag: Option<Vec<u8>>,
    /// Whether it said that it has to be refused, or that it must not.
    refused: Option<bool>,
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
            && self.refused.is_none()
            && [&self.msg, &self.ct, &self.tag]
                .iter()
                .all(|field| field.is_none())
    }

    fn close(
        self,
        mode: &'static Mode,
        shared: &Shared,
        lengths: &Lengths,
    ) -> Result<Vector, Fault> {
        let need = |field: Option<Vec<u8>>, needed: bool, name: &str| match (field, needed) {
            (Some(bytes), true) => Ok(bytes),
            (None, false) => Ok(Vec::new()),
            (None, true) => Err(Fault::damaged(format!("no {name}"))),
            (Some(_), false) => {
                let what = format!("{name}, which {} does not have", mode.name);
                Err(Fault::damaged(what))
            }
        };
        let mac = mode.kind == Kind::Mac;
        let refused = self.refused.unwrap_or(false);
        let key = self.key.or(shared.key.clone());
        let nonce = self.nonce.or(shared.nonce.clone());
        let has_nonce = match mode.nonce {
            Nonce::None => false,
            Nonce::Optional => nonce.is_some(),
            Nonce::Needed => true,
        };
        let apply = |what, bytes, name: &str| lengths.apply(what, bytes, name);
        let key = apply(Length::Key, need(key, true, "KEY")?, "KEY")?;
        let nonce = apply(Length::Nonce, need(nonce, has_nonce, "IV")?, "IV")?;
        let msg_name = if mac { "MESSAGE" } else { "PLAINTEXT" };
        let msg = match refused && !mac {
            true => Vec::new(),
            false => {
                let msg = need(self.msg, true, msg_name)?;
                apply(Length::Message, msg, msg_name)?
            }
        };
        let mut ct = need(self.ct, !mac, "CIPHERTEXT")?;
        let tag = match self.tag {
            None if mode.kind == Kind::Aead => {
                // Part of the ciphertext.
                let bytes = lengths.bits(Length::Tag).map(|bits| bits / 8);
                let text = match bytes {
                    Some(bytes) => ct.len().checked_sub(bytes),
                    None if refused => None,
                    None => Some(msg.len()).filter(|len| *len < ct.len()),
                };
                let text = text.ok_or_else(|| Fault::damaged("no TAG"))?;
                match mode.tag_first {
                    true => {
                        let rest = ct.split_off(ct.len() - text);
                        std::mem::replace(&mut ct, rest)
                    }
                    false => ct.split_off(text),
                }
            }
            tag => {
                let tag = need(tag, mode.kind != Kind::Cipher, "OUTPUT")?;
                apply(Length::Tag, tag, "TAG")?
            }
        };
        if refused && !mac {
            // There is no message to compare its length with.
            ct = apply(Length::Message, ct, "CIPHERTEXT")?;
        }
        let mut data = Vec::new();
        for component in self.data.into_iter().flatten() {
            data.push(apply(Length::Data, component, "AAD")?);
        }
        Ok(Vector {
            id: self.id,
            line: Some(self.line),
            mode,
            key,
            nonce,
            data,
            msg,
            ct,
            tag,
            refused,
            monte_carlo: None,
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
    contents: Contents,
    is_monte_carlo: bool,
    /// The direction that the section's heading says; in front of the numbers of tests.
    section: Option<Direction>,
    /// The next test of a Monte Carlo test is the first of its section.
    begins: bool,
    lengths: Lengths,
    shared: Shared,
    open: Option<Open>,
}

fn tests(text: &str, mode: &'static Mode, is_monte_carlo: bool) -> Result<Contents, Fault> {
    let mut reader = Reader {
        contents: Contents::new(mode),
        is_monte_carlo,
        section: None,
        begins: true,
        lengths: Lengths::default(),
        shared: Shared::default(),
        open: None,
    };
    for (i, line) in text.lines().enumerate() {
        reader
            .line(i + 1, line.trim())
            .map_err(|fault| fault.line(Some(i + 1)))?;
    }
    reader.close()?;
    Ok(reader.contents)
}

impl Reader {
    fn line(&mut self, number: usize, line: &str) -> Result<(), Fault> {
        if line.starts_with('#') {
            return Ok(());
        }
        if line.is_empty() {
            return self.close();
        }
        let section = line
            .strip_prefix('[')
            .and_then(|rest| rest.strip_suffix(']'));
        if let Some(section) = section {
            self.close()?;
            return self.section(section.trim());
        }
        if line == "FAIL" {
            return self.verdict(line, true);
        }
        let (name, value) = assignment(line).ok_or_else(|| Fault::damaged("not NAME = VALUE"))?;
        if name.eq_ignore_ascii_case("COUNT") {
            self.close()?;
            self.begin(true, value, number);
            return Ok(());
        }
        if let Some(length) = length(name) {
            let set = self.lengths.set(length, value);
            return set.map_err(|fault| fault.field(name));
        }
        if name.eq_ignore_ascii_case("RESULT") {
            // In CMAC's files what was changed follows, in parentheses.
            return match value.split(' ').next() {
                Some("P" | "Pass") => self.verdict(name, false),
                Some("F" | "Fail") => self.verdict(name, true),
                _ => Err(Fault::damaged(format!("{value} is no result")).field(name)),
            };
        }
        if self.open.is_none() {
            self.begin(false, "", number);
        }
        let field = self
            .open
            .as_mut()
            .and_then(|test| test.field(&name.to_uppercase()))
            .ok_or_else(|| Fault::damaged(format!("unknown field {name}")))?;
        if field.is_some() {
            return Err(Fault::damaged("again in one test").field(name));
        }
        let bytes = hex::decode(value);
        *field = Some(bytes.map_err(|error| Fault::damaged(error.to_string()).field(name))?);
        Ok(())
    }

    fn verdict(&mut self, name: &str, refused: bool) -> Result<(), Fault> {
        let outside = || Fault::damaged(format!("{name} outside of a test"));
        let test = self.open.as_mut().ok_or_else(outside)?;
        if test.refused.is_some() {
            return Err(Fault::damaged("again in one test").field(name));
        }
        test.refused = Some(refused);
        Ok(())
    }

    fn section(&mut self, text: &str) -> Result<(), Fault> {
        let direction = match text {
            "ENCRYPT" => Some(Direction::Encrypt),
            "DECRYPT" => Some(Direction::Decrypt),
            _ => None,
        };
        if direction.is_some() {
            self.section = direction;
            self.begins = true;
            return Ok(());
        }
        for part in text.split(',') {
            let unknown = || Fault::damaged(format!("unknown section [{text}]"));
            let (name, value) = assignment(part).ok_or_else(unknown)?;
            let length = length(name).ok_or_else(unknown)?;
            let set = self.lengths.set(length, value);
            set.map_err(|fault| fault.field(name))?;
        }
        self.shared = Shared::default();
        Ok(())
    }

    fn begin(&mut self, counted: bool, count: &str, line: usize) {
        let section = match self.section {
            Some(Direction::Encrypt) => "encrypt ",
            Some(Direction::Decrypt) => "decrypt ",
            None => "",
        };
        let id = match counted {
            true => format!("{section}{count} (line {line})"),
            false => format!("{section}in line {line}"),
        };
        self.open = Some(Open {
            counted,
            id,
            line,
            ..Open::default()
        });
    }

    /// Ends what is being read, if anything.
    fn close(&mut self) -> Result<(), Fault> {
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
            self.contents.leave_out(NOT_BYTES);
            return Ok(());
        }
        let (id, line) = (test.id.clone(), test.line);
        let closed = test.close(self.contents.mode, &self.shared, &self.lengths);
        let mut vector = closed.map_err(|fault| fault.test(id).line(Some(line)))?;
        if self.is_monte_carlo {
            vector.monte_carlo = Some(MonteCarlo {
                direction: self.section.unwrap_or(Direction::Encrypt),
                follows: !self.begins,
            });
            self.begins = false;
        }
        self.contents.vectors.push(vector);
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

    fn read(text: &str, mode: &str) -> Result<Contents, String> {
        let mode = Mode::named(mode).unwrap();
        super::tests(text, mode, false).map_err(told)
    }

    /// As it is said of a file, without the file's name.
    fn told(fault: Fault) -> String {
        let error = crate::Error {
            file: "f".into(),
            line: fault.line,
            test: fault.test,
            field: fault.field,
            problem: fault.problem,
        };
        error.to_string().replace("f: damaged: ", "")
    }

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
            ("#  \"CCM-DVPT\" information", "DVPT128.rsp", Some("ccm")),
            ("#  CAVS 11.0", "CMACGenAES128.rsp", Some("cmac")),
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
        let vectors = read(GOOD, "ctr").unwrap().vectors;
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
        assert_eq!((&vectors[2].ct[..], vectors[2].line), (&[9][..], Some(16)));
    }

    #[test]
    fn says_what_is_wrong() {
        for (from, to, says) in [
            ("KEY = 00", "KEY = 0", "line 4: KEY: Odd number of digits"),
            ("KEY = 00", "KEY = 0g", "line 4: KEY: Invalid character 'g'"),
            ("KEY = 00", "KEE = 00", "line 4: unknown field KEE"),
            ("KEY = 00\n", "", "line 3: test encrypt 3 (line 3): no KEY"),
            (
                "CIPHERTEXT = 05\n",
                "",
                "line 8: test encrypt 4 (line 8): no CIPHERTEXT",
            ),
            ("IV = 03", "KEY = 03", "line 10: KEY: again in one test"),
            (
                "IV = 03",
                "OUTPUT = 03",
                "line 8: test encrypt 4 (line 8): no IV",
            ),
            ("IV = 03", "IV 03", "line 10: not NAME = VALUE"),
            (
                "[DECRYPT]",
                "[Length = 3]",
                "line 15: unknown section [Length = 3]",
            ),
        ] {
            let text = GOOD.replacen(from, to, 1);
            assert_ne!(text, GOOD);
            let error = read(&text, "ctr").map(|_| ()).unwrap_err();
            assert!(error.starts_with(says), "{error}");
        }
    }

    #[test]
    fn lengths_and_what_tests_share() {
        const CCM: &str = "Plen = 2\nTlen = 4\n\n[Alen = 0]\n\nKey = 01\nNonce = 02\n\n\
            Count = 0\nAdata = 00\nPayload = 0304\nCT = 050607080910\n\n\
            [Alen = 1, Plen = 0]\n\nKey = 11\n\nCount = 1\nNonce = 12\nAdata = 00\nPayload = 00\nCT = 15161718\n";
        let vectors = read(CCM, "ccm").unwrap().vectors;
        let vector = |id: &str, line, bytes: [&[u8]; 6]| {
            let [key, nonce, data, msg, ct, tag] = bytes.map(<[u8]>::to_vec);
            Vector {
                id: id.into(),
                line: Some(line),
                mode: Mode::named("ccm").unwrap(),
                key,
                nonce,
                data: vec![data],
                msg,
                ct,
                tag,
                refused: false,
                monte_carlo: None,
            }
        };
        assert_eq!(
            vectors,
            [
                vector(
                    "0 (line 9)",
                    9,
                    [&[1], &[2], &[], &[3, 4], &[5, 6], &[7, 8, 9, 16]]
                ),
                vector(
                    "1 (line 18)",
                    18,
                    [&[17], &[18], &[0], &[], &[], &[21, 22, 23, 24]]
                ),
            ]
        );
        for (from, to, says) in [
            (
                "0304",
                "03",
                "line 9: test 0 (line 9): PLAINTEXT: 1 bytes; 16 bits are stated",
            ),
            ("Plen = 2", "Plen = x", "line 1: Plen: x is not a length"),
            ("Tlen = 4", "Tlen = 40", "line 9: test 0 (line 9): no TAG"),
            ("Key = 11", "", "line 18: test 1 (line 18): no KEY"),
            ("Nonce = 12", "", "line 18: test 1 (line 18): no IV"),
            ("Key = 01", "FAIL", "line 6: FAIL outside of a test"),
        ] {
            let text = CCM.replacen(from, to, 1);
            assert_ne!(text, CCM);
            let error = read(&text, "ccm").map(|_| ()).unwrap_err();
            assert!(error.starts_with(says), "{error}");
        }
    }

    #[test]
    fn tags_and_failures() {
        const GCM: &str = "[Taglen = 16]\n\nCount = 0\nKey = 01\nIV = 02\nCT = 03\nAAD =\nTag = 0405\nFAIL\n\n\
            Count = 1\nKey = 01\nIV = 02\nCT = 03\nTag = 0405\nPT = 06";
        let vectors = read(GCM, "gcm").unwrap().vectors;
        let refused: Vec<bool> = vectors.iter().map(|vector| vector.refused).collect();
        assert_eq!(refused, [true, false]);
        assert_eq!((vectors[0].data.len(), vectors[1].data.len()), (1, 0));
        assert_eq!(vectors[0].tag, [4, 5]);
        // The tag is what the ciphertext has more than the message.
        let ocb = "Count = 0\nKey = 01\nNonce = 02\nAAD =\nPlaintext = 03\nCiphertext = 040506";
        let vector = &read(ocb, "ocb").unwrap().vectors[0];
        assert_eq!((&vector.ct[..], &vector.tag[..]), (&[4][..], &[5, 6][..]));
    }

    /// As in CCM's DVPT and CMAC's verification.
    #[test]
    fn results() {
        const DVPT: &str = "[Alen = 0, Plen = 1, Nlen = 1, Tlen = 2]\n\nKey = 01\n\n\
            Count = 0\nNonce = 02\nAdata = 00\nCT = 030405\nResult = Pass\nPayload = 06\n\n\
            Count = 1\nNonce = 02\nAdata = 00\nCT = 030406\nResult = Fail\n";
        let vectors = read(DVPT, "ccm").unwrap().vectors;
        let bytes = |i: usize| [&vectors[i].msg[..], &vectors[i].ct, &vectors[i].tag];
        assert_eq!(bytes(0), [&[6][..], &[3], &[4, 5]]);
        assert_eq!(bytes(1), [&[][..], &[3], &[4, 6]]);
        assert_eq!((vectors[0].refused, vectors[1].refused), (false, true));
        const CMAC: &str = "Count = 0\nKlen = 1\nMlen = 0\nTlen = 2\nKey = 01\nMsg = 00\nMac = 0304\n\
            Result = F (1 - Message changed)\n\nCount = 1\nKlen = 1\nMlen = 2\nTlen = 1\nKey = 01\n\
            Msg = 0203\nMac = 03\nResult = P\n";
        let vectors = read(CMAC, "cmac").unwrap().vectors;
        let found: Vec<_> = vectors
            .iter()
            .map(|v| (v.refused, v.msg.len(), v.tag.len()))
            .collect();
        assert_eq!(found, [(true, 0, 2), (false, 2, 1)]);
        for (from, to, says) in [
            ("Pass", "Maybe", "line 9: Result: Maybe is no result"),
            ("Fail", "Fail\nFAIL", "line 17: FAIL: again in one test"),
            ("Payload = 06", "", "line 5: test 0 (line 5): no PLAINTEXT"),
            (
                "030406",
                "0304",
                "line 12: test 1 (line 12): CIPHERTEXT: 0 bytes; 8 bits are stated",
            ),
        ] {
            let text = DVPT.replacen(from, to, 1);
            assert_ne!(text, DVPT);
            let error = read(&text, "ccm").map(|_| ()).unwrap_err();
            assert!(error.starts_with(says), "{error}");
        }
    }

    #[test]
    fn components() {
        let siv =
            "Count = 0\nKey = 01\nAAD = 02\nAAD2 =\nAAD3 = 04\nTag = 05\nPlaintext =\nCiphertext =";
        let data = |text: &str| Ok::<_, String>(read(text, "siv")?.vectors[0].data.clone());
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
        let contents = read(&(test(16) + &test(13) + &test(16)), "xts").unwrap();
        assert_eq!(contents.vectors.len(), 2);
        assert_eq!(contents.left_out[NOT_BYTES], 1);
    }

    #[test]
    fn monte_carlo_tests() {
        let text = "# AESVS MCT test data for OFB\n\n".to_owned() + GOOD;
        let contents = parse(&text, Path::new("x.rsp")).unwrap();
        let found: Vec<_> = contents.vectors.iter().map(|v| v.monte_carlo).collect();
        let step = |direction, follows| Some(MonteCarlo { direction, follows });
        assert_eq!(
            found,
            [
                step(Direction::Encrypt, false),
                step(Direction::Encrypt, true),
                step(Direction::Decrypt, false)
            ]
        );
        let text = text.replace("for OFB", "for CTR");
        let error = told(parse(&text, Path::new("x.rsp")).unwrap_err());
        assert!(error.contains("no Monte Carlo test of ctr"), "{error}");
    }
}
