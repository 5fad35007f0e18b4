//! Files of JSON: what form one has, tests as objects, and this project's own form:
//! `{"mode", "key_bits", "nonce_bytes", "tag_bytes", "tests":
//! [{"id", "key", "nonce", "ad", "msg", "ct", "tag"}]}`, bytes in hexadecimal.
//! "key_bits" is the size of an AES key, "ad" a component of associated data or a
//! list of them. "out" in the place of "ct" and "tag" is all that a mode puts out, as
//! it is published; what is the tag there decides the mode, and not "tag_bytes".
//!
//! A mode is called `aes-128-cbc`, `cbc` or `cbc-128`. `aes-128-cbc (as somebody did it)`
//! is not that mode.

use crate::mode::{Kind, Mode};
use crate::{Contents, Fault, Format, Problem, Vector, acvp, wycheproof};
use serde_json::{Map, Value};
use std::path::Path;

pub(crate) type Object = Map<String, Value>;

pub(crate) fn value(text: &str) -> Result<Value, Fault> {
    serde_json::from_str(text).map_err(|error: serde_json::Error| {
        let what = error.to_string();
        let what = what
            .rsplit_once(" at line ")
            .map_or(&*what, |(what, _)| what);
        Fault::damaged(what).line(Some(error.line()))
    })
}

pub(crate) fn parse(text: &str, path: &Path) -> Result<(Format, Contents), Fault> {
    // ACVP's files may be lists that begin with the protocol's version.
    let document = match value(text)? {
        Value::Array(mut list) => list.pop().unwrap_or_default(),
        document => document,
    };
    let unknown = |what: &str| Fault::from(Problem::Format(what.into()));
    let Value::Object(mut document) = document else {
        return Err(unknown("JSON that is no object"));
    };
    if let Some(Value::Array(groups)) = document.get("testGroups") {
        // Only ACVP numbers groups.
        return match groups.iter().any(|group| group.get("tgId").is_some()) {
            true => Ok((Format::Acvp, acvp::parse(&mut document, text, path)?)),
            false => Ok((Format::Wycheproof, wycheproof::parse(&document, text)?)),
        };
    }
    match document.get("mode") {
        Some(Value::String(_)) => Ok((Format::Json, own(&document, text)?)),
        _ => Err(unknown("JSON without a \"mode\" or \"testGroups\"")),
    }
}

/// An object of a list, a test or a group of tests, with what errors say of it.
#[derive(Clone, Copy)]
pub(crate) struct Entry<'a> {
    pub(crate) fields: &'a Object,
    /// The member that numbers it.
    number: &'static str,
    line: Option<usize>,
}

/// The list of this name in an object; its entries are numbered by the member `number`.
pub(crate) fn entries<'a>(
    of: &'a Object,
    name: &str,
    number: &'static str,
) -> Result<Vec<Entry<'a>>, Fault> {
    let list = of.get(name).and_then(Value::as_array);
    let list = list.ok_or_else(|| Fault::damaged("no list").field(name))?;
    let entry = |value: &'a Value| {
        let fields = value.as_object();
        let fields = fields.ok_or_else(|| Fault::damaged("not of objects").field(name))?;
        Ok(Entry {
            fields,
            number,
            line: None,
        })
    };
    list.iter().map(entry).collect()
}

/// The lines of a text that have a member of this name.
pub(crate) struct Lines(Vec<usize>);

impl Lines {
    pub(crate) fn of(text: &str, member: &str) -> Lines {
        let member = format!("\"{member}\"");
        let mut lines = Vec::new();
        for (i, line) in text.lines().enumerate() {
            for (at, _) in line.match_indices(&member) {
                let rest = line[at + member.len()..].trim_start();
                if rest.is_empty() || rest.starts_with(':') {
                    lines.push(i + 1);
                }
            }
        }
        Lines(lines)
    }

    /// The line of the test that is number `n` of `count`.
    pub(crate) fn nth(&self, n: usize, count: usize) -> Option<usize> {
        // Others have it, too: nothing is known.
        (self.0.len() == count).then(|| self.0[n])
    }
}

impl<'a> Entry<'a> {
    pub(crate) fn at(mut self, line: Option<usize>) -> Entry<'a> {
        self.line = line;
        self
    }

    pub(crate) fn id(&self) -> String {
        match self.fields.get(self.number) {
            Some(Value::String(id)) => id.clone(),
            Some(id) => id.to_string(),
            None => "without a number".into(),
        }
    }

    pub(crate) fn damaged(&self, what: impl Into<String>) -> Fault {
        Fault::damaged(what).test(self.id()).line(self.line)
    }

    fn bytes_of(&self, name: &str, value: &Value) -> Result<Vec<u8>, Fault> {
        let wrong = |what: String| self.damaged(what).field(name);
        let digits = value
            .as_str()
            .ok_or_else(|| wrong("not a string of hexadecimal digits".into()))?;
        hex::decode(digits).map_err(|error| wrong(error.to_string()))
    }

    /// Bytes, if there is a member of this name.
    pub(crate) fn hex(&self, name: &str) -> Result<Option<Vec<u8>>, Fault> {
        match self.fields.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => self.bytes_of(name, value).map(Some),
        }
    }

    /// Bytes that must be there.
    pub(crate) fn need(&self, name: &str) -> Result<Vec<u8>, Fault> {
        self.hex(name)?
            .ok_or_else(|| self.damaged(format!("no {name}")))
    }

    /// Text, if there is a member of this name.
    pub(crate) fn text(&self, name: &str) -> Option<&'a str> {
        self.fields.get(name)?.as_str()
    }

    /// A number, if there is a member of this name.
    pub(crate) fn number(&self, name: &str) -> Result<Option<usize>, Fault> {
        match self.fields.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => {
                let number = value.as_u64().and_then(|n| usize::try_from(n).ok());
                let number = number.ok_or_else(|| self.damaged("not a number").field(name))?;
                Ok(Some(number))
            }
        }
    }

    pub(crate) fn flag(&self, name: &str) -> Option<bool> {
        self.fields.get(name)?.as_bool()
    }

    /// Whether a part is as long as was stated, if anything was.
    pub(crate) fn has_bits(
        &self,
        name: &str,
        bytes: &[u8],
        bits: Option<usize>,
    ) -> Result<(), Fault> {
        match bits {
            Some(bits) if bits != 8 * bytes.len() => {
                let what = format!("{} bytes; {bits} bits are stated", bytes.len());
                Err(self.damaged(what).field(name))
            }
            _ => Ok(()),
        }
    }

    /// A vector of this mode that has nothing yet but its key.
    pub(crate) fn vector(&self, mode: &'static Mode) -> Result<Vector, Fault> {
        Ok(Vector {
            id: self.id(),
            line: self.line,
            mode,
            key: self.need("key")?,
            nonce: Vec::new(),
            data: Vec::new(),
            msg: Vec::new(),
            ct: Vec::new(),
            tag: Vec::new(),
            refused: false,
            monte_carlo: None,
        })
    }
}

const MEMBERS: &[&str] = &["id", "key", "nonce", "ad", "msg", "ct", "tag", "out"];

fn own(document: &Object, text: &str) -> Result<Contents, Fault> {
    let string = |name: &str| document.get(name).and_then(Value::as_str);
    let name = string("mode").unwrap_or_default();
    let Some((mode, bits)) = Mode::sized(name) else {
        let original = name
            .split_once(" (")
            .and_then(|(name, _)| Mode::sized(name));
        let Some((mode, _)) = original else {
            return Err(Problem::Mode(name.to_owned()).into());
        };
        let version = string("version").map_or(String::new(), |version| format!(", {version}"));
        let what = format!("{name}{version}; not of {}", mode.name);
        return Err(Problem::Variant(what).into());
    };
    let file = Entry {
        fields: document,
        number: "mode",
        line: None,
    };
    let number = |name: &str| {
        let missing = || Fault::damaged(format!("no {name}"));
        file.number(name)?.ok_or_else(missing)
    };
    let key_bits = number("key_bits")?;
    if bits.is_some_and(|bits| bits != key_bits) {
        let what = format!("mode {name} with \"key_bits\" {key_bits}");
        return Err(Fault::damaged(what));
    }
    let (nonce_bytes, tag_bytes) = (number("nonce_bytes")?, number("tag_bytes")?);
    let tests = entries(document, "tests", "id")?;
    let lines = Lines::of(text, "id");
    let mut contents = Contents::new(mode);
    for (i, test) in tests.iter().enumerate() {
        let test = test.at(lines.nth(i, tests.len()));
        if let Some(name) = test.fields.keys().find(|name| !MEMBERS.contains(&&***name)) {
            return Err(test.damaged(format!("unknown field {name}")));
        }
        let mut vector = test.vector(mode)?;
        vector.nonce = test.hex("nonce")?.unwrap_or_default();
        vector.msg = test.need("msg")?;
        vector.data = match test.fields.get("ad") {
            None => Vec::new(),
            Some(Value::Array(list)) => {
                let part = |value| test.bytes_of("ad", value);
                list.iter().map(part).collect::<Result<_, _>>()?
            }
            // Many files have the field whether the mode takes any or not.
            Some(Value::String(data)) if data.is_empty() && mode.kind != Kind::Aead => Vec::new(),
            Some(data) => vec![test.bytes_of("ad", data)?],
        };
        let (ct, tag) = (test.hex("ct")?, test.hex("tag")?);
        let nothing = |part: &Option<Vec<u8>>| part.as_ref().is_none_or(Vec::is_empty);
        let mut stated = Some(8 * tag_bytes);
        (vector.ct, vector.tag) = match test.hex("out")? {
            None => (ct.unwrap_or_default(), tag.unwrap_or_default()),
            Some(_) if !(nothing(&ct) && nothing(&tag)) => {
                return Err(test.damaged("beside \"ct\" or \"tag\"").field("out"));
            }
            Some(out) => {
                let len = out.len();
                stated = None;
                let short = || {
                    test.damaged(format!("{len} bytes are too short"))
                        .field("out")
                };
                mode.split(out).ok_or_else(short)?
            }
        };
        test.has_bits("key", &vector.key, Some(8 * mode.key_bytes(key_bits)))?;
        test.has_bits("nonce", &vector.nonce, Some(8 * nonce_bytes))?;
        test.has_bits("tag", &vector.tag, stated)?;
        contents.vectors.push(vector);
    }
    Ok(contents)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = r#"{"mode": "aes-128-ctr", "source": "?", "key_bits": 128, "nonce_bytes": 16, "tag_bytes": 0, "tests": [
        {"id": 7, "key": "00000000000000000000000000000000", "nonce": "0F000000000000000000000000000000", "ad": "", "msg": "0102", "ct": "0304", "tag": ""}]}"#;

    fn read(text: &str) -> Result<Vec<Vector>, String> {
        let read = crate::parse(text, Path::new("f"));
        let contents = read.map(|(_, contents)| contents.vectors);
        contents.map_err(|fault| {
            let error = crate::Error {
                file: "f".into(),
                line: fault.line,
                test: fault.test,
                field: fault.field,
                problem: fault.problem,
            };
            error.to_string()
        })
    }

    #[test]
    fn reads_what_it_should() {
        let vectors = read(GOOD).unwrap();
        assert_eq!(vectors[0].mode.name, "ctr");
        assert_eq!((&*vectors[0].id, vectors[0].line), ("7", Some(2)));
        assert_eq!(vectors[0].nonce[0], 15);
        assert_eq!(
            (&vectors[0].msg[..], &vectors[0].ct[..]),
            (&[1, 2][..], &[3, 4][..])
        );
        // A mode without associated data may have the field, empty.
        assert!(vectors[0].data.is_empty());
    }

    #[test]
    fn says_what_is_wrong() {
        for (from, to, says) in [
            (
                "aes-128-ctr",
                "aes-128-kw",
                "f: mode not supported: aes-128-kw",
            ),
            (
                "aes-128-ctr",
                "aes-128-kw (as coded)",
                "f: mode not supported: aes-128-kw (as coded)",
            ),
            (
                "aes-128-ctr",
                "aes-128-ctr (as coded)",
                "f: left out: its answers are of aes-128-ctr (as coded); not of ctr",
            ),
            (
                "aes-128-ctr",
                "aes-256-ctr",
                "f: damaged: mode aes-256-ctr with \"key_bits\" 128",
            ),
            (
                "\"mode\"",
                "\"mood\"",
                "f: unknown format: JSON without a \"mode\" or \"testGroups\"",
            ),
            (
                "\"0102\"",
                "\"010\"",
                "f: damaged: line 2: test 7: msg: Odd number of digits",
            ),
            (
                "\"0102\"",
                "\"01g2\"",
                "f: damaged: line 2: test 7: msg: Invalid character 'g'",
            ),
            (
                "\"ad\": \"\"",
                "\"ad\": 0",
                "f: damaged: line 2: test 7: ad: not a string of hexadecimal digits",
            ),
            (
                "\"tag\": \"\"",
                "\"tag\": \"00\"",
                "f: damaged: line 2: test 7: tag: 1 bytes; 0 bits are stated",
            ),
            (
                "\"tag\": \"\"",
                "\"day\": \"\"",
                "f: damaged: line 2: test 7: unknown field day",
            ),
            ("\"key\"", "\"id\"", "f: damaged: test \"0000"),
            (
                "\"msg\": \"0102\", ",
                "",
                "f: damaged: line 2: test 7: no msg",
            ),
            (
                "\"tag\": \"\"",
                "\"out\": \"\"",
                "f: damaged: line 2: test 7: out: beside \"ct\" or \"tag\"",
            ),
            ("}]}", "}", "f: damaged: line 2: EOF"),
            ("\"nonce_bytes\": 16, ", "", "f: damaged: no nonce_bytes"),
            (
                "\"nonce_bytes\": 16",
                "\"nonce_bytes\": 12",
                "f: damaged: line 2: test 7: nonce: 16 bytes; 96 bits",
            ),
        ] {
            let text = GOOD.replace(from, to);
            assert_ne!(text, GOOD);
            let error = read(&text).unwrap_err();
            let says = says.replace("test \"0000", "test 0000");
            assert!(
                error.contains(&says) || error.replace("line 2: ", "").contains(&says),
                "{error}"
            );
        }
    }

    #[test]
    fn whole_outputs() {
        let text = GOOD
            .replace("-ctr", "-poet")
            .replace(r#""ct": "0304", "tag": """#, r#""out": "03""#);
        let error = read(&text).unwrap_err();
        assert!(
            error.contains("test 7: out: 1 bytes are too short"),
            "{error}"
        );
        let text = text.replace(
            r#""out": "03""#,
            r#""out": "030405060708090a0b0c0d0e0f1011121314""#,
        );
        // "tag_bytes" is not looked at.
        let vectors = read(&text).unwrap();
        assert_eq!(
            (&vectors[0].ct[..], vectors[0].tag.len()),
            (&[3, 4][..], 16)
        );
    }

    #[test]
    fn associated_data() {
        const SIV: &str = r#"{"mode": "aes-128-siv", "key_bits": 128, "nonce_bytes": 0, "tag_bytes": 16, "tests": [
            {"id": 1, "key": "KEY", AD "msg": "", "tag": "00112233445566778899aabbccddeeff"}]}"#;
        for (ad, data) in [
            ("", vec![]),
            (r#""ad": "","#, vec![vec![]]),
            (r#""ad": "01","#, vec![vec![1]]),
            (r#""ad": [],"#, vec![]),
            (
                r#""ad": ["01", "", "0203"],"#,
                vec![vec![1], vec![], vec![2, 3]],
            ),
        ] {
            let text = SIV.replace("KEY", &"5a".repeat(32)).replace("AD", ad);
            assert_eq!(read(&text).unwrap()[0].data, data, "{ad}");
        }
        // The length of one of the two keys.
        let short = SIV.replace("KEY", &"5a".repeat(16)).replace("AD", "");
        let error = read(&short).unwrap_err();
        assert!(
            error.contains("key: 16 bytes; 256 bits are stated"),
            "{error}"
        );
    }
}
