//! The JSON of NIST's protocol for validation (ACVP): `internalProjection.json`, which has
//! questions and answers, or `prompt.json`, whose answers are in `expectedResults.json` beside
//! it. Groups of tests say what their tests have in common, sizes in bits:
//!
//! ```json
//! {"algorithm": "ACVP-AES-GCM", "revision": "1.0", "testGroups": [
//!   {"tgId": 1, "testType": "AFT", "direction": "decrypt", "keyLen": 128, "ivLen": 96,
//!    "payloadLen": 8, "aadLen": 0, "tagLen": 32, "tests": [
//!      {"tcId": 1, "key": "...", "iv": "...", "aad": "", "ct": "...", "tag": "...",
//!       "testPassed": false}]}]}
//! ```
//!
//! - CCM and GCM-SIV have the tag at the end of the ciphertext.
//! - GMAC's message is called associated data.
//! - The tweak of XTS is `tweakValue`, or the number of a sector, `sequenceNumber`. If a payload
//!   is of several data units, each is a vector.
//! - Monte Carlo tests (MCT) have the hundred results of a chain.
//! - What an implementation is to choose itself, nonces and counters, cannot be compared: such
//!   tests are left out.

use crate::json::{Entry, Lines, Object, entries, value};
use crate::mode::{Kind, Mode};
use crate::{Contents, Direction, Fault, MonteCarlo, NOT_BYTES, Problem, Vector, monte_carlo};
use serde_json::Value;
use std::path::Path;

const OWN_NONCE: &str = "the implementation is to choose the nonce";
const OWN_COUNTER: &str = "they are of a counter that the implementation keeps";

pub(crate) fn parse(document: &mut Object, text: &str, path: &Path) -> Result<Contents, Fault> {
    let name = document.get("algorithm").and_then(Value::as_str);
    let name = name.unwrap_or_default().to_owned();
    let known = mode(&name);
    if !name.is_empty() && known.is_none() {
        return Err(Problem::Mode(name).into());
    }
    answers(document, path)?;
    let mode = known.ok_or_else(|| Problem::Format("ACVP without an \"algorithm\"".into()))?;
    let mut contents = Contents::new(mode);
    let groups = entries(document, "testGroups", "tgId")?;
    let mut tests = Vec::new();
    for group in &groups {
        for test in entries(group.fields, "tests", "tcId")? {
            tests.push((*group, test));
        }
    }
    let lines = Lines::of(text, "tcId");
    for (i, (group, test)) in tests.iter().enumerate() {
        let test = test.at(lines.nth(i, tests.len()));
        Test {
            group: *group,
            test,
        }
        .read(&mut contents)?;
    }
    Ok(contents)
}

/// The mode of an algorithm.
fn mode(algorithm: &str) -> Option<&'static Mode> {
    let name = match algorithm {
        "CMAC-AES" => "cmac".into(),
        name => name.strip_prefix("ACVP-AES-")?.to_lowercase(),
    };
    Mode::named(&name)
}

/// The objects of a list, to change.
fn list<'a>(of: &'a mut Object, name: &str) -> impl Iterator<Item = &'a mut Object> {
    let list = of.get_mut(name).and_then(Value::as_array_mut);
    list.into_iter().flatten().filter_map(Value::as_object_mut)
}

/// Whether any test has a key, or all have chains of them: it is not the file of answers.
fn has_questions(document: &mut Object) -> bool {
    let mut chains = true;
    for group in list(document, "testGroups") {
        for test in list(group, "tests") {
            if test.contains_key("key") {
                return true;
            }
            chains &= test.contains_key("resultsArray");
        }
    }
    chains
}

/// Adds the answers that stand in a file of their own.
fn answers(document: &mut Object, path: &Path) -> Result<(), Fault> {
    if !has_questions(document) {
        let what = "it has no keys: it may be the answers to a prompt.json, which has to be named";
        return Err(Problem::Nothing(what.into()).into());
    }
    let file = path.file_name().unwrap_or_default().to_string_lossy();
    if !file.contains("prompt") {
        return Ok(());
    }
    let path = path.with_file_name(file.replace("prompt", "expectedResults"));
    let missing = |what: String| {
        Fault::from(Problem::Nothing(format!(
            "its answers, {}, {what}",
            path.display()
        )))
    };
    let text = std::fs::read_to_string(&path)
        .map_err(|error| missing(format!("cannot be read: {error}")))?;
    let mut expected = match value(&text).map_err(|_| missing("are damaged".into()))? {
        Value::Array(mut list) => list.pop().unwrap_or_default(),
        expected => expected,
    };
    let Some(expected) = expected.as_object_mut() else {
        return Err(missing("are no object".into()));
    };
    let mut by_number = std::collections::HashMap::new();
    for group in list(expected, "testGroups") {
        for test in list(group, "tests") {
            let number = test.get("tcId").and_then(Value::as_u64);
            by_number.insert(number, std::mem::take(test));
        }
    }
    for group in list(document, "testGroups") {
        for test in list(group, "tests") {
            let number = test.get("tcId").and_then(Value::as_u64);
            let Some(answer) = by_number.remove(&number) else {
                let number = number.map_or("?".into(), |number| number.to_string());
                return Err(missing(format!("lack test {number}")));
            };
            for (name, value) in answer {
                test.entry(name).or_insert(value);
            }
        }
    }
    Ok(())
}

/// A test and what its group says of it.
struct Test<'a> {
    group: Entry<'a>,
    test: Entry<'a>,
}

impl Test<'_> {
    /// A number that test or group state.
    fn number(&self, name: &str) -> Result<Option<usize>, Fault> {
        match self.test.number(name)? {
            None => self.group.number(name),
            number => Ok(number),
        }
    }

    fn read(&self, contents: &mut Contents) -> Result<(), Fault> {
        let mode = contents.mode;
        let kind = self.group.text("testType").unwrap_or("AFT");
        for name in ["payloadLen", "dataUnitLen", "msgLen", "aadLen", "ivLen"] {
            if self.number(name)?.is_some_and(|bits| bits % 8 > 0) {
                contents.leave_out(NOT_BYTES);
                return Ok(());
            }
        }
        match kind {
            "AFT" | "VADT" | "VNT" | "VPT" | "VTT" | "DVPT" => {}
            "MCT" => return self.monte_carlo(contents),
            "CTR" | "counter" => {
                contents.leave_out(OWN_COUNTER);
                return Ok(());
            }
            _ => {
                contents.leave_out(format!("tests of type {kind} are not known"));
                return Ok(());
            }
        }
        let opens = self.opens(mode)?;
        let refused = self.test.flag("testPassed") == Some(false);
        if refused && !opens {
            return Err(self.test.damaged("false").field("testPassed"));
        }
        let mut vector = self.test.vector(mode)?;
        vector.refused = refused;
        match mode.kind {
            Kind::Mac => {
                let (message, tag) = match mode.name {
                    "gmac" => ("aad", "tag"),
                    _ => ("message", "mac"),
                };
                let newer = self.test.fields.contains_key("msg");
                vector.msg = self.test.need(if newer { "msg" } else { message })?;
                vector.tag = self.test.need(tag)?;
            }
            Kind::Aead if !self.test.fields.contains_key("ct") => {
                contents.leave_out(match self.group.text("ivGen") {
                    Some("internal") => OWN_NONCE,
                    _ => "they have no answer",
                });
                return Ok(());
            }
            Kind::Aead => {
                vector.data = vec![self.test.hex("aad")?.unwrap_or_default()];
                vector.ct = self.test.need("ct")?;
                vector.tag = match self.test.hex("tag")? {
                    Some(tag) => tag,
                    // At the end of the ciphertext.
                    None => {
                        let bytes = self.number("tagLen")?.unwrap_or(8 * mode.tag_bytes) / 8;
                        let text = vector.ct.len().checked_sub(bytes);
                        let text = text.ok_or_else(|| self.test.damaged("no tag").field("ct"))?;
                        vector.ct.split_off(text)
                    }
                };
                if !refused {
                    vector.msg = self.test.need("pt")?;
                }
            }
            Kind::Cipher => {
                vector.msg = self.test.need("pt")?;
                vector.ct = self.test.need("ct")?;
            }
        }
        if mode.nonce != crate::Nonce::None {
            vector.nonce = match mode.name {
                "xts" => self.tweak()?,
                _ => match self.test.hex("iv")? {
                    Some(iv) => iv,
                    None if self.group.text("ivGen") == Some("internal") => {
                        contents.leave_out(OWN_NONCE);
                        return Ok(());
                    }
                    None => return Err(self.test.damaged("no iv")),
                },
            };
        }
        self.lengths(&vector)?;
        match self.number("dataUnitLen")?.map(|bits| bits / 8) {
            Some(unit) if mode.name == "xts" && unit > 0 && unit < vector.msg.len() => {
                contents.vectors.extend(units(&vector, unit));
            }
            _ => contents.vectors.push(vector),
        }
        Ok(())
    }

    /// Whether the test is of opening or verifying.
    fn opens(&self, mode: &Mode) -> Result<bool, Fault> {
        match (self.group.text("direction"), mode.kind) {
            (Some("encrypt" | "gen"), _) => Ok(false),
            (Some("decrypt" | "ver"), _) => Ok(true),
            (other, _) => {
                let what = format!("{} is no direction", other.unwrap_or("nothing"));
                Err(self.test.damaged(what).field("direction"))
            }
        }
    }

    /// The tweak of XTS: a block, or the number of a sector, least significant byte first.
    fn tweak(&self) -> Result<Vec<u8>, Fault> {
        for name in ["tweakValue", "i", "iv"] {
            if let Some(tweak) = self.test.hex(name)? {
                return Ok(tweak);
            }
        }
        let number = self.test.number("sequenceNumber")?;
        let number = number.ok_or_else(|| self.test.damaged("no tweakValue"))?;
        Ok((number as u128).to_le_bytes().to_vec())
    }

    /// Whether everything is as long as was stated.
    fn lengths(&self, vector: &Vector) -> Result<(), Fault> {
        let mode = vector.mode;
        let key = self.number("keyLen")?;
        let key = key.map(|bits| 8 * mode.key_bytes(bits));
        self.test.has_bits("key", &vector.key, key)?;
        let text = match vector.refused && mode.kind == Kind::Aead {
            true => &vector.ct,
            false => &vector.msg,
        };
        let data = vector.data.concat();
        for (name, bytes) in [
            ("ivLen", &vector.nonce),
            ("tagLen", &vector.tag),
            ("macLen", &vector.tag),
            ("aadLen", if mode.kind == Kind::Mac { text } else { &data }),
            ("msgLen", text),
            ("payloadLen", text),
        ] {
            // GMAC's payload is nothing.
            if name == "payloadLen" && mode.kind == Kind::Mac {
                continue;
            }
            // ECB has no IV, but a file may state a length.
            if name == "ivLen" && mode.nonce == crate::Nonce::None {
                continue;
            }
            self.test.has_bits(name, bytes, self.number(name)?)?;
        }
        Ok(())
    }

    fn monte_carlo(&self, contents: &mut Contents) -> Result<(), Fault> {
        let mode = contents.mode;
        monte_carlo::known(mode)?;
        let direction = match self.opens(mode)? {
            true => Direction::Decrypt,
            false => Direction::Encrypt,
        };
        let results = entries(self.test.fields, "resultsArray", "tcId")
            .map_err(|fault| fault.test(self.test.id()))?;
        let key = self.number("keyLen")?;
        for (i, result) in results.iter().enumerate() {
            let wrong = |fault: Fault| Fault {
                test: Some(format!("{}, result {i}", self.test.id())),
                ..fault
            };
            let read = || {
                let mut vector = result.vector(mode)?;
                vector.nonce = result.hex("iv")?.unwrap_or_default();
                vector.msg = result.need("pt")?;
                vector.ct = result.need("ct")?;
                result.has_bits("key", &vector.key, key)?;
                Ok(vector)
            };
            let mut vector = read().map_err(wrong)?;
            vector.id = format!("{}, result {i}", self.test.id());
            vector.monte_carlo = Some(MonteCarlo {
                direction,
                follows: i > 0,
            });
            contents.vectors.push(vector);
        }
        Ok(())
    }
}

/// The data units of a payload as vectors; each has the next number for its tweak.
fn units(whole: &Vector, unit: usize) -> Vec<Vector> {
    let mut tweak = [0; 16];
    let len = whole.nonce.len().min(16);
    tweak[..len].copy_from_slice(&whole.nonce[..len]);
    let first = u128::from_le_bytes(tweak);
    let units = whole.msg.chunks(unit).zip(whole.ct.chunks(unit));
    units
        .enumerate()
        .map(|(i, (msg, ct))| Vector {
            id: format!("{}, unit {i}", whole.id),
            nonce: first.wrapping_add(i as u128).to_le_bytes().to_vec(),
            msg: msg.to_vec(),
            ct: ct.to_vec(),
            ..whole.clone()
        })
        .collect()
}
