//! What must hold of the modes whatever the key and the text.

mod common;

use aescomb_ref::{Aes, Sealed, decrypt, encrypt, mac, open, seal};
use common::{AUTHENTICATING, KEYS, MODES, hex};

fn text(length: usize) -> Vec<u8> {
    (0..length).map(|i| (i * 151 + 17) as u8).collect()
}

#[test]
fn decryption_undoes_encryption() {
    for key in KEYS.map(hex) {
        for (mode, nonce_length) in MODES {
            let nonce = vec![0xa5; nonce_length];
            for length in 0..=70 {
                let plain = text(length);
                let sealed = encrypt(mode, &key, &nonce, &plain);
                if matches!(mode, "ecb" | "cbc") && length % 16 != 0 {
                    assert_eq!(sealed, None, "{mode}, {length} bytes");
                    assert_eq!(decrypt(mode, &key, &nonce, &plain), None);
                    continue;
                }
                let sealed = sealed.unwrap();
                let expected = if mode.ends_with("-pkcs7") {
                    (length / 16 + 1) * 16
                } else {
                    length
                };
                assert_eq!(sealed.len(), expected, "{mode}, {length} bytes");
                let opened = decrypt(mode, &key, &nonce, &sealed);
                assert_eq!(opened, Some(plain), "{mode}, {length} bytes");
            }
        }
    }
}

/// The keystream of a counter mode over the given counter blocks.
fn keystream(key: &[u8], counters: &[&str]) -> Vec<u8> {
    let aes = Aes::new(key).unwrap();
    counters
        .iter()
        .flat_map(|counter| aes.encrypt_block(&hex(counter).try_into().unwrap()))
        .collect()
}

#[test]
fn the_ctr_counter_is_the_whole_block_and_wraps() {
    let chains = [
        [
            "fffffffffffffffffffffffffffffffe",
            "ffffffffffffffffffffffffffffffff",
            "00000000000000000000000000000000",
            "00000000000000000000000000000001",
        ],
        [
            "0123456789abcdef01234567ffffffff",
            "0123456789abcdef0123456800000000",
            "0123456789abcdef0123456800000001",
            "0123456789abcdef0123456800000002",
        ],
        [
            "0123456789abcdefffffffffffffffff",
            "0123456789abcdf00000000000000000",
            "0123456789abcdf00000000000000001",
            "0123456789abcdf00000000000000002",
        ],
    ];
    for key in KEYS.map(hex) {
        for chain in chains {
            let stream = encrypt("ctr", &key, &hex(chain[0]), &[0; 64]);
            assert_eq!(stream, Some(keystream(&key, &chain)));
        }
    }
}

#[test]
fn the_ctr32_counter_is_the_last_32_bits_and_wraps() {
    let chains = [
        [
            "fffffffffffffffffffffffffffffffe",
            "ffffffffffffffffffffffffffffffff",
            "ffffffffffffffffffffffff00000000",
            "ffffffffffffffffffffffff00000001",
        ],
        [
            "0123456789abcdef0123456700ffffff",
            "0123456789abcdef0123456701000000",
            "0123456789abcdef0123456701000001",
            "0123456789abcdef0123456701000002",
        ],
    ];
    for key in KEYS.map(hex) {
        for chain in chains {
            let stream = encrypt("ctr32", &key, &hex(chain[0]), &[0; 64]);
            assert_eq!(stream, Some(keystream(&key, &chain)));
        }
    }
}

#[test]
fn bad_padding_is_refused() {
    let key = hex(KEYS[0]);
    let zeros = [0; 16];
    // The last block as it is before encryption, and the length of the text it stands for.
    let cases: [(&str, Option<usize>); 8] = [
        ("00000000000000000000000000000001", Some(15)),
        ("00000000000000000000000000000202", Some(14)),
        ("10101010101010101010101010101010", Some(0)),
        ("00000000000000000000000000000000", None),
        ("00000000000000000000000000000102", None),
        ("00000000000000000000000003020303", None),
        ("11111111111111111111111111111111", None),
        ("ffffffffffffffffffffffffffffffff", None),
    ];
    for (last, length) in cases {
        for blocks_before in 0..3 {
            let mut padded = vec![0x11; 16 * blocks_before];
            padded.extend(hex(last));
            for (bare, mode, nonce) in [
                ("ecb", "ecb-pkcs7", &zeros[..0]),
                ("cbc", "cbc-pkcs7", &zeros[..]),
            ] {
                let sealed = encrypt(bare, &key, nonce, &padded).unwrap();
                let opened = decrypt(mode, &key, nonce, &sealed);
                let expected = length.map(|length| &padded[..16 * blocks_before + length]);
                assert_eq!(opened.as_deref(), expected, "{mode}, {last}");
                // Cut short, or with nothing in it, there is no padding to take off.
                assert_eq!(decrypt(mode, &key, nonce, &sealed[1..]), None);
                assert_eq!(decrypt(mode, &key, nonce, &[]), None);
            }
        }
    }
}

#[test]
fn what_a_mode_does_not_take_is_refused() {
    let text = text(32);
    for (mode, nonce_length) in MODES {
        let takes = |key: usize, nonce: usize| {
            let (key, nonce) = (vec![1; key], vec![2; nonce]);
            let sealed = encrypt(mode, &key, &nonce, &text);
            let opened = decrypt(mode, &key, &nonce, sealed.as_ref().unwrap_or(&text));
            assert_eq!(sealed.is_some(), opened.is_some(), "{mode}");
            sealed.is_some()
        };
        for key in 0..=40 {
            assert_eq!(takes(key, nonce_length), matches!(key, 16 | 24 | 32));
        }
        for nonce in 0..=20 {
            assert_eq!(takes(16, nonce), nonce == nonce_length, "{mode}");
        }
        assert_eq!(mac(mode, &[1; 16], &vec![2; nonce_length], &text), None);
        assert_eq!(
            seal(mode, &[1; 16], &vec![2; nonce_length], &[], &text, 16),
            None
        );
    }
    for mode in ["", "cmac", "CBC", "gcm", "siv", "gmac"] {
        assert_eq!(encrypt(mode, &[1; 16], &[2; 16], &text), None);
        assert_eq!(encrypt(mode, &[1; 16], &[], &text), None);
        assert_eq!(decrypt(mode, &[1; 16], &[2; 16], &text), None);
        assert_eq!(decrypt(mode, &[1; 16], &[], &text), None);
    }
}

#[test]
fn what_a_mac_does_not_take_is_refused() {
    let text = text(32);
    for (mode, nonces) in [("cmac", 0..=0), ("pmac", 0..=0), ("gmac", 1..=usize::MAX)] {
        let length = |key: usize, nonce: usize| {
            let tag = mac(mode, &vec![1; key], &vec![2; nonce], &text);
            tag.map(|tag| tag.len())
        };
        for key in 0..=40 {
            let expected = matches!(key, 16 | 24 | 32).then_some(16);
            assert_eq!(length(key, *nonces.start()), expected, "{mode}");
        }
        for nonce in 0..=20 {
            let expected = nonces.contains(&nonce).then_some(16);
            assert_eq!(length(16, nonce), expected, "{mode}");
        }
        assert_eq!(encrypt(mode, &[1; 16], &[2; 16], &text), None);
        assert_eq!(seal(mode, &[1; 16], &[2; 16], &[], &text, 16), None);
    }
    assert_eq!(mac("", &[1; 16], &[], &text), None);
    assert_eq!(mac("gcm", &[1; 16], &[2; 12], &text), None);
}

#[test]
fn gmac_is_gcm_of_no_text() {
    for key in KEYS.map(hex) {
        for length in 0..=70 {
            let ad = text(length);
            for nonce in [1, 8, 12, 16, 60] {
                let nonce = text(nonce);
                let tag = mac("gmac", &key, &nonce, &ad).unwrap();
                let sealed = seal("gcm", &key, &nonce, &[&ad], &[], 16);
                assert_eq!(sealed, Some(Sealed { text: vec![], tag }));
            }
        }
    }
}

#[test]
fn xts_takes_two_keys_and_a_block_at_least() {
    let tweak = [0xa5; 16];
    for key in 0..=70 {
        let key = text(key);
        for length in 0..=70 {
            let plain = text(length);
            let sealed = encrypt("xts", &key, &tweak, &plain);
            let taken = matches!(key.len(), 32 | 64) && length >= 16;
            assert_eq!(sealed.is_some(), taken, "{length} bytes");
            let Some(sealed) = sealed else {
                assert_eq!(decrypt("xts", &key, &tweak, &plain), None);
                continue;
            };
            assert_eq!(sealed.len(), length);
            assert_eq!(decrypt("xts", &key, &tweak, &sealed), Some(plain));
        }
    }
    for nonce in 0..=20 {
        let sealed = encrypt("xts", &[1; 32], &vec![2; nonce], &text(32));
        assert_eq!(sealed.is_some(), nonce == 16);
    }
    let long = vec![0; (16 << 20) + 1];
    assert_eq!(encrypt("xts", &[1; 32], &tweak, &long), None);
    assert_eq!(decrypt("xts", &[1; 32], &tweak, &long), None);
}

#[test]
fn opening_undoes_sealing() {
    for (mode, key_lengths, nonce_lengths, tag_lengths) in AUTHENTICATING {
        for key in key_lengths.iter().map(|length| text(*length)) {
            for length in 0..=70 {
                let plain = text(length);
                for ad in [0, 1, 16, 33].map(text) {
                    // Every allowed length comes up.
                    let nonce = text(nonce_lengths[length % nonce_lengths.len()]);
                    let tag = tag_lengths[length % tag_lengths.len()];
                    let sealed = seal(mode, &key, &nonce, &[&ad], &plain, tag).unwrap();
                    let expected = match mode {
                        "copa" => length.next_multiple_of(16).max(16),
                        _ => length,
                    };
                    assert_eq!(sealed.text.len(), expected, "{mode}");
                    assert_eq!(sealed.tag.len(), tag, "{mode}");
                    let opened = open(mode, &key, &nonce, &[&ad], &sealed.text, &sealed.tag);
                    assert_eq!(opened.as_ref(), Some(&plain), "{mode}, {length} bytes");
                }
            }
        }
    }
}

#[test]
fn what_was_changed_is_not_opened() {
    /// All strings that differ from the given one by a bit, or by a zero byte more or less.
    fn changed(string: &[u8]) -> Vec<Vec<u8>> {
        let mut all = vec![[string, &[0]].concat()];
        if let Some((_, before)) = string.split_last() {
            all.push(before.to_vec());
        }
        for bit in 0..8 * string.len() {
            let mut string = string.to_vec();
            string[bit / 8] ^= 1 << (bit % 8);
            all.push(string);
        }
        all
    }

    for (mode, key_lengths, nonce_lengths, tag_lengths) in AUTHENTICATING {
        let key = text(key_lengths[0]);
        let nonce = text(nonce_lengths[0]);
        let ad = text(19);
        // A tag of a few bytes is found by chance.
        for &tag_length in tag_lengths.iter().filter(|tag| **tag >= 4) {
            for length in [0, 16, 21] {
                let sealed = seal(mode, &key, &nonce, &[&ad], &text(length), tag_length);
                let Sealed { text, tag } = sealed.unwrap();
                assert!(open(mode, &key, &nonce, &[&ad], &text, &tag).is_some());
                // In SIV, half of the key has nothing to do where there is no text.
                let keys = if mode == "siv" && length == 0 {
                    vec![]
                } else {
                    changed(&key)
                };
                for key in keys {
                    assert_eq!(open(mode, &key, &nonce, &[&ad], &text, &tag), None);
                }
                for nonce in changed(&nonce) {
                    assert_eq!(open(mode, &key, &nonce, &[&ad], &text, &tag), None);
                }
                for ad in changed(&ad) {
                    assert_eq!(open(mode, &key, &nonce, &[&ad], &text, &tag), None);
                }
                for text in changed(&text) {
                    assert_eq!(open(mode, &key, &nonce, &[&ad], &text, &tag), None);
                }
                // In GCM, CPFB and Silver, a tag's first bytes may be a tag.
                for tag in changed(&tag).iter().filter(|tag| tag.len() == tag_length) {
                    assert_eq!(open(mode, &key, &nonce, &[&ad], &text, tag), None);
                }
            }
        }
    }
}

#[test]
fn what_an_authenticating_mode_does_not_take_is_refused() {
    let plain = text(32);
    for (mode, key_lengths, nonce_lengths, tag_lengths) in AUTHENTICATING {
        let takes = |key: usize, nonce: usize, ad: &[&[u8]], tag: usize| {
            let (key, nonce) = (text(key), text(nonce));
            let sealed = seal(mode, &key, &nonce, ad, &plain, tag);
            match &sealed {
                Some(Sealed { text, tag }) => {
                    let opened = open(mode, &key, &nonce, ad, text, tag);
                    assert_eq!(opened.as_ref(), Some(&plain));
                }
                None => {
                    let opened = open(mode, &key, &nonce, ad, &plain, &text(tag));
                    assert_eq!(opened, None);
                }
            }
            sealed.is_some()
        };
        let (key, nonce, tag) = (key_lengths[0], nonce_lengths[0], tag_lengths[0]);
        for key in 0..=70 {
            let taken = key_lengths.contains(&key);
            assert_eq!(takes(key, nonce, &[], tag), taken, "{mode}, {key} bytes");
        }
        for nonce in 0..=20 {
            let taken = nonce_lengths.contains(&nonce);
            assert_eq!(takes(key, nonce, &[], tag), taken, "{mode}, {nonce} bytes");
        }
        for tag in 0..=20 {
            let taken = tag_lengths.contains(&tag);
            assert_eq!(takes(key, nonce, &[], tag), taken, "{mode}, {tag} bytes");
        }
        assert!(takes(key, nonce, &[&plain], tag));
        assert_eq!(takes(key, nonce, &[&plain, &plain], tag), mode == "siv");

        let (key, nonce) = (text(key), text(nonce));
        let none = seal(mode, &key, &nonce, &[], &plain, tag);
        let empty = seal(mode, &key, &nonce, &[&[]], &plain, tag);
        assert_eq!(none == empty, mode != "siv");
        assert_eq!(encrypt(mode, &key, &nonce, &plain), None);
        assert_eq!(decrypt(mode, &key, &nonce, &plain), None);
        assert_eq!(mac(mode, &key, &nonce, &plain), None);
    }
    assert_eq!(seal("GCM", &[1; 16], &[2; 12], &[], &plain, 16), None);
    assert_eq!(open("GCM", &[1; 16], &[2; 12], &[], &plain, &[3; 16]), None);
}

#[test]
fn ccm_has_as_many_bytes_of_text_as_its_length_field_counts() {
    let longest = vec![0; 0xffff];
    let longer = vec![0; 0x1_0000];
    for (nonce, plain, taken) in [
        (13, &longest, true),
        (13, &longer, false),
        (12, &longer, true),
    ] {
        let nonce = text(nonce);
        let sealed = seal("ccm", &[1; 16], &nonce, &[], plain, 16);
        assert_eq!(sealed.is_some(), taken);
        if let Some(Sealed { text, tag }) = sealed {
            let opened = open("ccm", &[1; 16], &nonce, &[], &text, &tag);
            assert_eq!(opened.as_ref(), Some(plain));
        } else {
            assert_eq!(open("ccm", &[1; 16], &nonce, &[], plain, &[0; 16]), None);
        }
    }
}

#[test]
fn siv_tells_components_apart() {
    let (key, plain) = (text(32), text(20));
    let vectors: [&[&[u8]]; 8] = [
        &[],
        &[b""],
        &[b"", b""],
        &[b"ab"],
        &[b"a", b"b"],
        &[b"b", b"a"],
        &[b"ab", b""],
        &[b"", b"ab"],
    ];
    let tags = vectors.map(|ad| seal("siv", &key, &[], ad, &plain, 16).unwrap().tag);
    for (i, tag) in tags.iter().enumerate() {
        assert!(!tags[..i].contains(tag), "{:?}", vectors[i]);
    }
    // The nonce is the last of them, unless it is empty.
    assert_eq!(
        seal("siv", &key, b"b", &[b"a"], &plain, 16).unwrap().tag,
        tags[4]
    );
    assert_eq!(
        seal("siv", &key, b"ab", &[], &plain, 16).unwrap().tag,
        tags[3]
    );
    // There may be 126.
    let many: Vec<&[u8]> = vec![b"a"; 127];
    assert!(seal("siv", &key, &[], &many[..126], &plain, 16).is_some());
    assert!(seal("siv", &key, b"a", &many[..125], &plain, 16).is_some());
    assert!(seal("siv", &key, &[], &many, &plain, 16).is_none());
    assert!(seal("siv", &key, b"a", &many[..126], &plain, 16).is_none());
    assert!(open("siv", &key, &[], &many, &plain, &[0; 16]).is_none());
}
