//! The JSON of Project Wycheproof. Groups state sizes in bits; a test says whether it is valid,
//! and invalid ones have to be refused. For invalid lengths, that is a matter of whoever uses
//! the vectors: they are read like others.
//!
//! - The tweak of XTS may be given without its zeros at the end.
//! - The ciphertext of AES-SIV-CMAC has the synthetic IV in front.

use crate::json::{Lines, Object, entries};
use crate::mode::{Kind, Mode};
use crate::{Contents, Fault, Problem};
use serde_json::Value;

/// The mode of an algorithm.
fn mode(algorithm: &str) -> Option<&'static Mode> {
    let name = match algorithm {
        "AES-CBC-PKCS5" => "cbc-pkcs7",
        "AEAD-AES-SIV-CMAC" | "AES-SIV-CMAC" => "siv",
        "AES-GCM" => "gcm",
        "AES-CCM" => "ccm",
        "AES-EAX" => "eax",
        "AES-GCM-SIV" => "gcm-siv",
        "AES-CMAC" => "cmac",
        "AES-GMAC" => "gmac",
        "AES-XTS" => "xts",
        _ => return None,
    };
    Mode::named(name)
}

pub(crate) fn parse(document: &Object, text: &str) -> Result<Contents, Fault> {
    let name = document.get("algorithm").and_then(Value::as_str);
    let name = name.unwrap_or("?");
    let mode = mode(name).ok_or_else(|| Problem::Mode(name.into()))?;
    let mut contents = Contents::new(mode);
    let mut tests = Vec::new();
    for group in entries(document, "testGroups", "type")? {
        for test in entries(group.fields, "tests", "tcId")? {
            tests.push((group, test));
        }
    }
    let said = document.get("numberOfTests").and_then(Value::as_u64);
    if said.is_some_and(|said| said != tests.len() as u64) {
        let what = format!("{} tests; {} are stated", tests.len(), said.unwrap_or(0));
        return Err(Fault::damaged(what));
    }
    let lines = Lines::of(text, "tcId");
    for (i, (group, test)) in tests.iter().enumerate() {
        let test = test.at(lines.nth(i, tests.len()));
        let mut vector = test.vector(mode)?;
        vector.refused = match test.text("result") {
            Some("valid") => false,
            Some("invalid") => true,
            // Weak, but right: implementations may do as they like.
            Some("acceptable") => {
                contents.leave_out("refusing them is as good as accepting them");
                continue;
            }
            other => {
                let what = format!("{} is no result", other.unwrap_or("nothing"));
                return Err(test.damaged(what).field("result"));
            }
        };
        vector.nonce = test.hex("iv")?.unwrap_or_default();
        // Invalid tests may be it for a length.
        let stated = |name: &str| match vector.refused {
            true => Ok(None),
            false => group.number(name),
        };
        let tag_bits = stated("tagSize")?;
        test.has_bits("iv", &vector.nonce, stated("ivSize")?)?;
        test.has_bits("key", &vector.key, stated("keySize")?)?;
        if mode.name == "xts" {
            vector.nonce.resize(vector.nonce.len().max(16), 0);
        }
        let msg = test.need("msg")?;
        // Of forgeries the message says nothing.
        if mode.kind == Kind::Mac || !vector.refused {
            vector.msg = msg;
        }
        if mode.kind != Kind::Mac {
            vector.ct = test.need("ct")?;
        }
        if mode.kind == Kind::Aead {
            vector.data = vec![test.hex("aad")?.unwrap_or_default()];
        }
        if mode.kind != Kind::Cipher {
            vector.tag = match test.hex("tag")? {
                None if mode.tag_first => {
                    let split = mode.split(std::mem::take(&mut vector.ct));
                    let short = || test.damaged("shorter than a tag").field("ct");
                    let (ct, tag) = split.ok_or_else(short)?;
                    vector.ct = ct;
                    tag
                }
                None => return Err(test.damaged("no tag")),
                Some(tag) => {
                    test.has_bits("tag", &tag, tag_bits)?;
                    tag
                }
            };
        }
        contents.vectors.push(vector);
    }
    Ok(contents)
}
