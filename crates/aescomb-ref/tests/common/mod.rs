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

/// Every mode that encrypts and authenticates, and the lengths of its keys, nonces and tags; but
/// Julius, which [`aescomb_ref::open()`] does not take.
pub const AUTHENTICATING: [(&str, Lengths, Lengths, Lengths); 17] = [
    (
        "ccm",
        &[16, 24, 32],
        &[7, 8, 9, 10, 11, 12, 13],
        &[4, 6, 8, 10, 12, 14, 16],
    ),
    (
        "gcm",
        &[16, 24, 32],
        &[
            1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20,
        ],
        &[4, 8, 12, 13, 14, 15, 16],
    ),
    (
        "ocb",
        &[16, 24, 32],
        &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
        &[8, 12, 16],
    ),
    (
        "eax",
        &[16, 24, 32],
        &[
            0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20,
        ],
        &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16],
    ),
    (
        "siv",
        &[32, 48, 64],
        &[
            0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20,
        ],
        &[16],
    ),
    ("gcm-siv", &[16, 24, 32], &[12], &[16]),
    ("cloc", &[16], &[12], &[8]),
    ("silc", &[16], &[12], &[8]),
    ("jambu", &[16], &[8], &[8]),
    (
        "otr",
        &[16, 24, 32],
        &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
        &[4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16],
    ),
    ("copa", &[16], &[16], &[17]),
    ("poet", &[16], &[16], &[16]),
    ("mcoe-g", &[16], &[12], &[16]),
    ("cobra", &[16], &[16], &[16]),
    (
        "cpfb",
        &[16, 32],
        &[12],
        &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16],
    ),
    (
        "silver",
        &[16],
        &[16],
        &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16],
    ),
    ("pmac-ctr", &[16], &[16], &[16]),
];

/// A vector of the files in `vectors/research`. They are JSON with a vector on each line, all of
/// strings but for the first member.
pub struct Vector {
    pub id: String,
    pub key: Vec<u8>,
    pub nonce: Vec<u8>,
    pub ad: Vec<u8>,
    pub text: Vec<u8>,
    /// Ciphertext and tag, in the order of the mode's output.
    pub out: Vec<u8>,
}

/// The vectors of a file in `vectors/research`, without its ending.
pub fn research(file: &str) -> Vec<Vector> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../vectors/research");
    let text = std::fs::read_to_string(format!("{folder}/{file}.json")).expect("a file");
    let records = text
        .lines()
        .filter_map(|l| l.trim().strip_prefix("{\"id\":"));
    let vectors = records.map(|record| {
        let strings: Vec<&str> = record.split('"').skip(1).step_by(2).collect();
        let value = |name: &str| {
            let pair = strings.chunks_exact(2).find(|pair| pair[0] == name);
            pair.map(|pair| hex(pair[1]))
        };
        Vector {
            id: format!("{file}, {}", record.split(',').next().unwrap_or_default()),
            key: value("key").expect("a key"),
            nonce: value("nonce").expect("a nonce"),
            ad: value("ad").expect("associated data"),
            text: value("msg").expect("a message"),
            out: value("out").unwrap_or_else(|| {
                let parts = [value("ct"), value("tag")];
                parts.map(|part| part.expect("an output")).concat()
            }),
        }
    });
    vectors.collect()
}
