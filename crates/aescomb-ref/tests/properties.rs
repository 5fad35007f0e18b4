//! What must hold of the modes whatever the key and the text.

mod common;

use aescomb_ref::{Aes, decrypt, encrypt, mac};
use common::{KEYS, MODES, hex};

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
        assert_eq!(mac(mode, &[1; 16], &text), None);
    }
    for mode in ["", "cmac", "CBC", "gcm"] {
        assert_eq!(encrypt(mode, &[1; 16], &[2; 16], &text), None);
        assert_eq!(encrypt(mode, &[1; 16], &[], &text), None);
        assert_eq!(decrypt(mode, &[1; 16], &[2; 16], &text), None);
        assert_eq!(decrypt(mode, &[1; 16], &[], &text), None);
    }
    for key in 0..=40 {
        let tag = mac("cmac", &vec![1; key], &text);
        assert_eq!(
            tag.map(|tag| tag.len()),
            matches!(key, 16 | 24 | 32).then_some(16)
        );
    }
}
