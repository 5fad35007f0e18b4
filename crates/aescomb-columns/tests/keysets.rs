//! Keysets: as JSON, wrapped, and what is wrong with them.

use aescomb_columns::{Error, KeyService, Keyset, Prefix, Status};
use zeroize::Zeroizing;

const TYPES: [&str; 12] = [
    "aes-128-gcm",
    "aes-192-gcm",
    "aes-256-gcm",
    "aes-128-gcm-siv",
    "aes-256-gcm-siv",
    "aes-256-siv",
    "aes-256-cmac-prf",
    "aes-128-cbc-pkcs7",
    "aes-192-ecb-pkcs7",
    "aes-256-ctr",
    "aes-192-ff1",
    "aes-256-ofb",
];

/// In the form in which Tink writes it; the tests of the Python package ask Tink itself.
const TINKS: &str = r#"{
  "primaryKeyId": 1931667682,
  "key": [{
    "keyData": {
      "typeUrl": "type.googleapis.com/google.crypto.tink.AesGcmKey",
      "value": "GhAHBwcHBwcHBwcHBwcHBwcH",
      "keyMaterialType": "SYMMETRIC"
    },
    "status": "ENABLED",
    "keyId": 1931667682,
    "outputPrefixType": "TINK"
  }]
}"#;

fn all() -> Keyset {
    let mut keys = Keyset::new();
    for of in TYPES {
        keys.generate(of.parse().unwrap()).unwrap();
    }
    let last = keys.keys()[TYPES.len() - 1].id();
    keys.set_status(last, Status::Disabled).unwrap();
    keys
}

/// What of a keyset may be seen.
fn shown(keys: &Keyset) -> Vec<String> {
    keys.keys()
        .iter()
        .map(|key| format!("{key:?} {:?}", key.prefix()))
        .collect()
}

#[test]
fn json_there_and_back() {
    let keys = all();
    let json = keys.to_json().unwrap();
    let back = Keyset::from_json(&json).unwrap();
    assert_eq!(shown(&back), shown(&keys));
    assert_eq!(*back.to_json().unwrap(), *json);
    assert!(!Keyset::is_wrapped(&json));
}

#[test]
fn tinks_json() {
    let keys = Keyset::from_json(TINKS).unwrap();
    let key = keys.primary().unwrap();
    assert_eq!(
        (key.id(), key.key_type().name()),
        (1931667682, "aes-128-gcm".into())
    );
    let (ours, tinks): (serde_json::Value, serde_json::Value) = (
        serde_json::from_str(&keys.to_json().unwrap()).unwrap(),
        serde_json::from_str(TINKS).unwrap(),
    );
    assert_eq!(ours, tinks);
}

#[test]
fn wrapped_there_and_back() {
    let keys = all();
    for of in ["aes-128-gcm", "aes-256-gcm"] {
        let mut service = Keyset::new();
        service.generate(of.parse().unwrap()).unwrap();
        let json = keys.to_wrapped_json(&service, b"whose").unwrap();
        assert!(Keyset::is_wrapped(&json));
        assert!(json.contains(&keys.primary().unwrap().id().to_string()));
        let back = Keyset::from_wrapped_json(&json, &service, b"whose").unwrap();
        assert_eq!(*back.to_json().unwrap(), *keys.to_json().unwrap());
        assert!(Keyset::from_wrapped_json(&json, &service, b"other").is_err());
        service.remove(0).unwrap_err();
        let mut other = Keyset::new();
        other.generate(of.parse().unwrap()).unwrap();
        assert!(Keyset::from_wrapped_json(&json, &other, b"whose").is_err());
        // Plain JSON does not take it, and says why.
        let text = Keyset::from_json(&json).unwrap_err().to_string();
        assert!(text.contains("wrapped"), "{text}");
    }
    let mut siv = Keyset::new();
    siv.generate("aes-256-siv".parse().unwrap()).unwrap();
    let text = keys.to_wrapped_json(&siv, b"").unwrap_err().to_string();
    assert!(text.contains("wraps no keyset"), "{text}");
}

/// A service elsewhere.
struct Elsewhere;

impl KeyService for Elsewhere {
    fn wrap(&self, plaintext: &[u8], associated_data: &[u8]) -> Result<Vec<u8>, Error> {
        Ok([associated_data, plaintext].concat())
    }

    fn unwrap(&self, wrapped: &[u8], associated_data: &[u8]) -> Result<Zeroizing<Vec<u8>>, Error> {
        let plain = wrapped
            .strip_prefix(associated_data)
            .ok_or_else(|| Error::Key {
                id: None,
                what: "the service says no".to_owned(),
            })?;
        Ok(plain.to_vec().into())
    }
}

#[test]
fn services_of_others() {
    let keys = all();
    let json = keys.to_wrapped_json(&Elsewhere, b"context").unwrap();
    let back = Keyset::from_wrapped_json(&json, &Elsewhere, b"context").unwrap();
    assert_eq!(*back.to_json().unwrap(), *keys.to_json().unwrap());
    let text = Keyset::from_wrapped_json(&json, &Elsewhere, b"?")
        .unwrap_err()
        .to_string();
    assert_eq!(text, "keyset: the service says no");
}

#[test]
fn debugging_shows_no_key() {
    let mut keys = Keyset::new();
    keys.import("aes-128-gcm".parse().unwrap(), &[0xa5; 16], Prefix::Raw)
        .unwrap();
    let text = format!("{keys:?}");
    // Two bytes side by side: one alone may stand in a key's random number.
    assert!(
        !text.contains("165, 165") && !text.contains("a5a5"),
        "{text}"
    );
}

#[test]
fn primaries() {
    let mut keys = Keyset::new();
    assert!(keys.primary().is_err() && keys.to_json().is_err());
    let of = "aes-256-siv".parse().unwrap();
    let (a, b) = (keys.generate(of).unwrap(), keys.generate(of).unwrap());
    assert_eq!(keys.primary().unwrap().id(), a);
    assert!(keys.set_status(a, Status::Disabled).is_err());
    assert!(keys.remove(a).is_err());
    keys.set_status(b, Status::Disabled).unwrap();
    assert!(keys.set_primary(b).is_err());
    keys.set_status(b, Status::Enabled).unwrap();
    keys.set_primary(b).unwrap();
    keys.remove(a).unwrap();
    assert!(keys.get(a).is_none());
    assert!(
        keys.set_primary(a)
            .unwrap_err()
            .to_string()
            .contains("no such key")
    );
}

#[test]
fn keys_that_are_refused() {
    let mut keys = Keyset::new();
    let mut import = |of: &str, secret: &[u8]| {
        keys.import(of.parse().unwrap(), secret, Prefix::Raw)
            .unwrap_err()
            .to_string()
    };
    assert!(import("aes-128-gcm", &[0; 15]).contains("15 bytes; allowed: 16"));
    assert!(import("aes-256-siv", &[0; 32]).contains("32 bytes; allowed: 64"));
    for wrong in ["aes-128-siv", "aes-192-gcm-siv", "gcm", "aes-256-xts", ""] {
        assert!(
            wrong.parse::<aescomb_columns::KeyType>().is_err(),
            "{wrong}"
        );
    }
}

#[test]
fn json_that_is_refused() {
    let changed = |from: &str, to: &str| {
        assert!(TINKS.contains(from));
        Keyset::from_json(&TINKS.replace(from, to))
            .unwrap_err()
            .to_string()
    };
    for (from, to, words) in [
        (
            "\"primaryKeyId\": 1931667682",
            "\"primaryKeyId\": 5",
            "no such key",
        ),
        ("\"primaryKeyId\": 1931667682,", "", "primaryKeyId"),
        ("AesGcmKey", "ChaCha20Poly1305Key", "allowed: AesGcmKey"),
        ("GhAHBwcH", "GhAHBw!H", "no base64"),
        ("GhAHBwcHBwcHBwcHBwcHBwcH", "GgMHBwc=", "with 3 bytes"),
        (
            "GhAHBwcHBwcHBwcHBwcHBwcH",
            "CAEaEAcHBwcHBwcHBwcHBwcHBwc=",
            "of version 1",
        ),
        ("ENABLED", "DISABLED", "cannot be the primary"),
        ("ENABLED", "SOMETIMES", "unknown status"),
        ("TINK\"", "OTHER\"", "unknown output prefix type"),
        ("\"keyId\": 1931667682,", "", "without keyId"),
        ("\"key\"", "\"keys\"", "no field key"),
    ] {
        let text = changed(from, to);
        assert!(text.contains(words), "{to}: {text}");
        assert!(!text.contains("BwcHBwc"), "{text}");
    }
    assert!(Keyset::from_json("").is_err());
    assert!(Keyset::from_json("[]").is_err());
}
