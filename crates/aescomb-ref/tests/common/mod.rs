//! What the tests share.

#![allow(dead_code)]

/// The bytes that a string of hexadecimal digits and spaces stands for.
pub fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u32> = text
        .chars()
        .filter(|c| !c.is_whitespace())
        .map(|c| c.to_digit(16).expect("a hexadecimal digit"))
        .collect();
    assert!(digits.len().is_multiple_of(2));
    digits
        .chunks(2)
        .map(|pair| (pair[0] * 16 + pair[1]) as u8)
        .collect()
}

/// A key of 16, 24 and 32 bytes: those of SP 800-38A, appendix F.
pub const KEYS: [&str; 3] = [
    "2b7e151628aed2a6abf7158809cf4f3c",
    "8e73b0f7da0e6452c810f32b809079e562f8ead2522c6b7b",
    "603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4",
];

/// The text of SP 800-38A, appendix F, and of SP 800-38B, appendix D.
pub const TEXT: &str = "
    6bc1bee22e409f96e93d7e117393172a
    ae2d8a571e03ac9c9eb76fac45af8e51
    30c81c46a35ce411e5fbc1191a0a52ef
    f69f2445df4f9b17ad2b417be66c3710";

/// Every mode that only encrypts and the length of its nonce; but XTS, which takes other keys.
pub const MODES: [(&str, usize); 8] = [
    ("ecb", 0),
    ("ecb-pkcs7", 0),
    ("cbc", 16),
    ("cbc-pkcs7", 16),
    ("cfb128", 16),
    ("ofb", 16),
    ("ctr", 16),
    ("ctr32", 16),
];

/// The lengths of one kind that a mode takes; of nonces, all up to 20 bytes.
type Lengths = &'static [usize];

/// Every mode that encrypts and authenticates, and the lengths of its keys, nonces and tags.
pub const AUTHENTICATING: [(&str, [usize; 3], Lengths, Lengths); 5] = [
    (
        "ccm",
        [16, 24, 32],
        &[7, 8, 9, 10, 11, 12, 13],
        &[4, 6, 8, 10, 12, 14, 16],
    ),
    (
        "gcm",
        [16, 24, 32],
        &[
            1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20,
        ],
        &[4, 8, 12, 13, 14, 15, 16],
    ),
    (
        "ocb",
        [16, 24, 32],
        &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
        &[8, 12, 16],
    ),
    (
        "siv",
        [32, 48, 64],
        &[
            0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20,
        ],
        &[16],
    ),
    ("gcm-siv", [16, 24, 32], &[12], &[16]),
];
