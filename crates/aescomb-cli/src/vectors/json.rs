//! The JSON form: `{"mode", "key_bits", "nonce_bytes", "tag_bytes", "tests":
//! [{"id", "key", "nonce", "ad", "msg", "ct", "tag"}]}`, bytes in hexadecimal.
//! "key_bits" is the size of an AES key, "ad" a component of associated data or a
//! list of them. "out" in the place of "ct" and "tag" is all that a mode puts out, as
//! it is published; what is the tag there decides [`split`], and not "tag_bytes".
//!
//! A mode is called `aes-128-cbc`, `cbc` or `cbc-128`. `aes-128-cbc (as somebody did it)`
//! is not that mode.

use super::{Contents, Unusable, Vector};
use crate::sizes;
use aescomb::{Algorithm, Mode};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

#[derive(Deserialize)]
struct Document {
    key_bits: usize,
    nonce_bytes: usize,
    tag_bytes: usize,
    tests: Vec<Test>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Test {
    id: Value,
    key: Hex,
    #[serde(default)]
    nonce: Hex,
    #[serde(default)]
    ad: Data,
    msg: Hex,
    #[serde(default)]
    ct: Hex,
    #[serde(default)]
    tag: Hex,
    out: Option<Hex>,
}

/// Associated data.
#[derive(Deserialize)]
#[serde(untagged)]
enum Data {
    One(Hex),
    Several(Vec<Hex>),
}

impl Default for Data {
    fn default() -> Data {
        Data::Several(Vec::new())
    }
}

#[derive(Default)]
struct Hex(Vec<u8>);

impl<'de> Deserialize<'de> for Hex {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Hex, D::Error> {
        let text = String::deserialize(deserializer)?;
        hex::decode(&text)
            .map(Hex)
            .map_err(|error| serde::de::Error::custom(format!("\"{text}\": {error}")))
    }
}

pub(super) fn parse(text: &str) -> Result<Contents, Unusable> {
    let damaged = |error: serde_json::Error| Unusable::Damaged(error.to_string());
    // The mode first: what is in the tests of others is not known.
    let document: Value = serde_json::from_str(text).map_err(damaged)?;
    let name = document
        .get("mode")
        .and_then(Value::as_str)
        .ok_or_else(|| Unusable::Format("JSON without a \"mode\"".into()))?;
    let Some((mode, bits)) = known(name) else {
        let original = name.split_once(" (").and_then(|(name, _)| known(name));
        let Some((mode, _)) = original else {
            return Err(Unusable::Mode(name.to_owned()));
        };
        let version = document.get("version").and_then(Value::as_str);
        let version = version.map_or(String::new(), |version| format!(", {version}"));
        return Err(Unusable::Variant(format!("{name}{version}; not of {mode}")));
    };
    // Again from the text: its errors have lines and columns.
    let document: Document = serde_json::from_str(text).map_err(damaged)?;
    if bits.is_some_and(|bits| bits != document.key_bits) {
        return Err(Unusable::Damaged(format!(
            "mode {name} with \"key_bits\" {}",
            document.key_bits
        )));
    }
    let info = mode.info();
    let vector = |test: Test| {
        let id = match test.id {
            Value::String(id) => id,
            id => id.to_string(),
        };
        let damaged = |what: String| Err(Unusable::Damaged(format!("test {id}: {what}")));
        let (ct, tag, tag_bytes) = match test.out {
            None => (test.ct.0, test.tag.0, document.tag_bytes),
            Some(_) if !(test.ct.0.is_empty() && test.tag.0.is_empty()) => {
                return damaged("\"out\" beside \"ct\" or \"tag\"".into());
            }
            Some(Hex(out)) => {
                let len = out.len();
                let Some((ct, tag)) = split(mode, out) else {
                    return damaged(format!("\"out\" of {len} bytes is too short"));
                };
                let bytes = tag.len();
                (ct, tag, bytes)
            }
        };
        for (what, given, stated) in [
            (
                "key",
                test.key.0.len(),
                sizes::key_bytes(info, document.key_bits),
            ),
            ("nonce", test.nonce.0.len(), document.nonce_bytes),
            ("tag", tag.len(), tag_bytes),
        ] {
            if given != stated {
                return damaged(format!("{what} of {given} bytes; the file states {stated}"));
            }
        }
        let data = match test.ad {
            // Many files have the field whether the mode takes any or not.
            Data::One(Hex(data)) if data.is_empty() && info.data_components == 0 => Vec::new(),
            Data::One(data) => vec![data.0],
            Data::Several(list) => list.into_iter().map(|data| data.0).collect(),
        };
        Ok(Vector {
            id,
            key: test.key.0,
            nonce: test.nonce.0,
            data,
            msg: test.msg.0,
            ct,
            tag,
            refused: false,
        })
    };
    let vectors = document
        .tests
        .into_iter()
        .map(vector)
        .collect::<Result<_, _>>()?;
    Ok(Contents {
        mode,
        vectors,
        not_bytes: 0,
    })
}

/// The mode of this name, and the bits of key that are in it.
fn known(name: &str) -> Option<(Mode, Option<usize>)> {
    let algorithm = |name: &str| {
        let Algorithm { mode, key_bits } = name.parse().ok()?;
        Some((mode, Some(key_bits)))
    };
    None.or_else(|| algorithm(name))
        .or_else(|| Some((name.parse().ok()?, None)))
        .or_else(|| {
            let (mode, bits) = name.rsplit_once('-')?;
            algorithm(&format!("aes-{bits}-{mode}"))
        })
}

/// Ciphertext and tag of what a mode puts out: the tag is the end of it, or its first
/// block.
fn split(mode: Mode, mut out: Vec<u8>) -> Option<(Vec<u8>, Vec<u8>)> {
    let tag_first = mode == Mode::Julius;
    let tag = mode.info().longest_tag();
    let text = out.len().checked_sub(tag)?;
    let end = out.split_off(if tag_first { tag } else { text });
    Some(match tag_first {
        true => (end, out),
        false => (out, end),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = r#"{"mode": "aes-128-ctr", "source": "?", "key_bits": 128, "nonce_bytes": 16, "tag_bytes": 0, "tests": [
        {"id": 7, "key": "00000000000000000000000000000000", "nonce": "0F000000000000000000000000000000", "ad": "", "msg": "0102", "ct": "0304", "tag": ""}]}"#;

    #[test]
    fn reads_what_it_should() {
        let Contents { mode, vectors, .. } = parse(GOOD).unwrap();
        assert_eq!(mode, Mode::Ctr);
        assert_eq!(vectors[0].id, "7");
        assert_eq!(vectors[0].nonce[0], 15);
        assert_eq!(
            (&vectors[0].msg[..], &vectors[0].ct[..]),
            (&[1, 2][..], &[3, 4][..])
        );
    }

    #[test]
    fn says_what_is_wrong() {
        for (from, to, says) in [
            (
                "aes-128-ctr",
                "aes-128-eax",
                "mode not supported: aes-128-eax",
            ),
            (
                "aes-128-ctr",
                "aes-128-eax (as coded)",
                "mode not supported: aes-128-eax (as coded)",
            ),
            (
                "aes-128-ctr",
                "aes-128-ctr (as coded)",
                "left out: its answers are of aes-128-ctr (as coded); not of ctr",
            ),
            (
                "aes-128-ctr",
                "aes-256-ctr",
                "damaged: mode aes-256-ctr with \"key_bits\" 128",
            ),
            (
                "\"mode\"",
                "\"mood\"",
                "unknown format: JSON without a \"mode\"",
            ),
            (
                "\"0102\"",
                "\"010\"",
                "damaged: \"010\": Odd number of digits at line 2",
            ),
            ("\"0102\"", "\"01g2\"", "Invalid character 'g'"),
            ("\"ad\": \"\"", "\"ad\": 0", "damaged: data did not match"),
            (
                "\"tag\": \"\"",
                "\"tag\": \"00\"",
                "test 7: tag of 1 bytes; the file states 0",
            ),
            ("\"tag\": \"\"", "\"day\": \"\"", "unknown field `day`"),
            (
                "\"tag\": \"\"",
                "\"out\": \"\"",
                "test 7: \"out\" beside \"ct\" or \"tag\"",
            ),
            ("}]}", "}", "damaged: EOF"),
        ] {
            let text = GOOD.replace(from, to);
            assert_ne!(text, GOOD);
            let error = parse(&text).map(|_| ()).unwrap_err().to_string();
            assert!(error.contains(says), "{error}");
        }
    }

    #[test]
    fn names() {
        for (name, expected) in [
            ("aes-192-gcm-siv", Some((Mode::GcmSiv, Some(192)))),
            ("gcm-siv", Some((Mode::GcmSiv, None))),
            ("gcm-siv-192", Some((Mode::GcmSiv, Some(192)))),
            ("gcm-siv-193", None),
            ("aes-gcm-siv", None),
            ("", None),
        ] {
            assert_eq!(known(name), expected, "{name}");
        }
    }

    #[test]
    fn whole_outputs() {
        let out: Vec<u8> = (0..40).collect();
        for (mode, ct, tag) in [
            (Mode::Copa, 0..23, 23..40),
            (Mode::Poet, 0..24, 24..40),
            (Mode::Julius, 16..40, 0..16),
        ] {
            let expected = (out[ct].to_vec(), out[tag].to_vec());
            assert_eq!(split(mode, out.clone()), Some(expected), "{mode}");
            assert_eq!(split(mode, vec![0; 15]), None);
        }
        let text = GOOD
            .replace("-ctr", "-poet")
            .replace(r#""ct": "0304", "tag": """#, r#""out": "03""#);
        let error = parse(&text).map(|_| ()).unwrap_err().to_string();
        assert!(
            error.contains("test 7: \"out\" of 1 bytes is too short"),
            "{error}"
        );
        let text = text.replace(
            r#""out": "03""#,
            r#""out": "030405060708090a0b0c0d0e0f1011121314""#,
        );
        // "tag_bytes" is not looked at.
        let Contents { vectors, .. } = parse(&text).unwrap();
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
            assert_eq!(parse(&text).unwrap().vectors[0].data, data, "{ad}");
        }
        // The length of one of the two keys.
        let short = SIV.replace("KEY", &"5a".repeat(16)).replace("AD", "");
        let error = parse(&short).map(|_| ()).unwrap_err().to_string();
        assert!(
            error.contains("key of 16 bytes; the file states 32"),
            "{error}"
        );
        // A mode without associated data may have the field, empty.
        assert!(parse(GOOD).unwrap().vectors[0].data.is_empty());
    }
}
