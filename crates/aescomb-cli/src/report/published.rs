//! The papers' figures, as they print them.

/// What is measured again, and where it stands.
pub(crate) struct Paper {
    pub(crate) short: &'static str,
    pub(crate) long: &'static str,
    pub(crate) cpu: &'static str,
}

pub(crate) const COMB: Paper = Paper {
    short: "Comb to Pipeline",
    long: "Bogdanov, Lauridsen, Tischhauser: Comb to Pipeline: Fast Software Encryption Revisited (FSE 2015)",
    cpu: "Intel Core i5-4300U (Haswell), AES-NI",
};
pub(crate) const INTEL: Paper = Paper {
    short: "Breakthrough AES Performance",
    long: "Akdemir and others: Breakthrough AES Performance with Intel AES New Instructions (Intel, 2010)",
    cpu: "Intel Core i7-980X (Westmere), AES-NI",
};
pub(crate) const CPFB: Paper = Paper {
    short: "Benchmarking y optimización",
    long: "Montes, Penazzi: Benchmarking y optimización de algoritmos criptográficos (2014)",
    cpu: "Intel Core i7-4771 (Haswell)",
};
pub(crate) const PMAC_CTR: Paper = Paper {
    short: "How Fast Can a Two-Pass Mode Go?",
    long: "Aoki, Iwata, Yasuda: How Fast Can a Two-Pass Mode Go? A Parallel Deterministic Authenticated Encryption Mode for AES-NI (DIAC 2012)",
    cpu: "Intel Sandy Bridge",
};
pub(crate) const GUERON: Paper = Paper {
    short: "AES-GCM for CAESAR",
    long: "Gueron: AES-GCM software performance on current high-end CPUs as a performance baseline for CAESAR (DIAC 2013)",
    cpu: "Intel Haswell, Ivy Bridge and Sandy Bridge",
};

/// The papers, as they are first referred to.
pub(crate) const PAPERS: [&Paper; 5] = [&COMB, &INTEL, &CPFB, &PMAC_CTR, &GUERON];

/// Figures under a name.
pub(crate) type Named<const N: usize> = (&'static str, [f64; N]);

/// The figures of a name.
pub(crate) fn of<const N: usize>(table: &[Named<N>], name: &str) -> Option<[f64; N]> {
    table.iter().find(|row| row.0 == name).map(|row| row.1)
}

/// "Comb to Pipeline", table 2: P, cycles per byte of CBC with messages of 2 KiB and on
/// the realistic mix.
pub(crate) const TABLE_2: [(usize, f64, f64); 8] = [
    (1, 4.38, 4.38),
    (2, 2.19, 2.42),
    (3, 1.47, 1.73),
    (4, 1.11, 1.37),
    (5, 0.91, 1.08),
    (6, 0.76, 0.98),
    (7, 0.66, 0.87),
    (8, 0.65, 0.85),
];

/// Tables 3 and 4: sequential cycles per byte on the realistic mix.
pub(crate) const SEQUENTIAL: [Named<1>; 18] = [
    ("ecb", [0.65]),
    ("ctr", [0.78]),
    ("cbc", [4.47]),
    ("ofb", [4.48]),
    ("cfb128", [4.45]),
    ("cmac", [4.29]),
    ("ccm", [5.22]),
    ("gcm", [1.63]),
    ("ocb", [1.51]),
    ("otr", [1.91]),
    ("cobra", [3.56]),
    ("cloc", [4.47]),
    ("jambu", [9.12]),
    ("silc", [4.53]),
    ("mcoe-g", [7.41]),
    ("copa", [2.68]),
    ("poet", [5.85]),
    ("julius", [3.73]),
];

/// The same, combed.
pub(crate) const COMBED: [Named<1>; 10] = [
    ("cbc", [0.87]),
    ("ofb", [0.88]),
    ("cfb128", [0.89]),
    ("cmac", [0.84]),
    ("ccm", [1.64]),
    ("cloc", [1.45]),
    ("jambu", [2.05]),
    ("silc", [1.49]),
    ("mcoe-g", [1.79]),
    ("poet", [2.14]),
];

/// Lengths of tables 5 and 6, in bytes.
pub(crate) const LENGTHS: [usize; 5] = [128, 256, 512, 1024, 2048];

/// Table 5: one message.
pub(crate) const TABLE_5: [Named<5>; 12] = [
    ("ccm", [5.35, 5.19, 5.14, 5.11, 5.10]),
    ("gcm", [2.09, 1.61, 1.34, 1.20, 1.14]),
    ("ocb", [2.19, 1.43, 1.06, 0.87, 0.81]),
    ("otr", [2.97, 1.34, 1.13, 1.02, 0.96]),
    ("cloc", [4.50, 4.46, 4.44, 4.46, 4.44]),
    ("cobra", [4.41, 3.21, 2.96, 2.83, 2.77]),
    ("jambu", [9.33, 9.09, 8.97, 8.94, 8.88]),
    ("silc", [4.57, 4.54, 4.52, 4.51, 4.50]),
    ("mcoe-g", [7.77, 7.36, 7.17, 7.07, 7.02]),
    ("copa", [3.37, 2.64, 2.27, 2.08, 1.88]),
    ("poet", [6.89, 5.74, 5.17, 4.88, 4.74]),
    ("julius", [4.18, 4.69, 3.24, 3.08, 3.03]),
];

/// Table 6: combed.
pub(crate) const TABLE_6: [Named<5>; 6] = [
    ("ccm", [1.51, 1.44, 1.40, 1.38, 1.37]),
    ("cloc", [1.40, 1.31, 1.26, 1.24, 1.23]),
    ("jambu", [2.14, 1.98, 1.89, 1.85, 1.82]),
    ("silc", [1.43, 1.33, 1.28, 1.25, 1.24]),
    ("mcoe-g", [1.91, 1.76, 1.68, 1.64, 1.62]),
    ("poet", [2.56, 2.23, 2.06, 1.97, 1.93]),
];

/// Table 7: latency and inverse throughput.
pub(crate) const TABLE_7: [Named<2>; 7] = [
    ("aesenc", [7.0, 1.0]),
    ("aesdec", [7.0, 1.0]),
    ("aesenclast", [7.0, 1.0]),
    ("aesdeclast", [7.0, 1.0]),
    ("aesimc", [14.0, 2.0]),
    ("aeskeygenassist", [10.0, 8.0]),
    ("pclmulqdq", [7.0, 2.0]),
];

/// Table 5a: cycles of a doubling.
pub(crate) const TABLE_5A: [Named<1>; 4] = [
    ("extraction", [15.4]),
    ("test", [15.4]),
    ("mask", [16.7]),
    ("comparison", [5.6]),
];

/// Intel's table 2: cores, threads, cycles per byte of CBC encryption with 128, 192 and
/// 256 bits, and of decryption. Table 3 is the same times 16.
pub(crate) const INTEL_2: [(usize, usize, [f64; 3], [f64; 3]); 5] = [
    (1, 1, [4.20, 4.95, 5.70], [1.30, 1.56, 1.80]),
    (2, 2, [2.11, 2.48, 2.86], [0.67, 0.80, 0.91]),
    (4, 4, [1.06, 1.25, 1.44], [0.35, 0.41, 0.47]),
    (6, 6, [0.72, 0.84, 0.97], [0.25, 0.29, 0.33]),
    (6, 12, [0.36, 0.43, 0.49], [0.24, 0.28, 0.32]),
];

/// Intel's text on figures 4 and 5: 64 bytes with AES-128, the expansion of the key
/// included, encryption and decryption.
pub(crate) const INTEL_64_BYTES: [f64; 2] = [5.31, 4.00];

/// Lengths of the CPFB and Silver paper, in bytes; its last column is the mean of the
/// first four with the weights of [`WEIGHTS`].
pub(crate) const CPFB_LENGTHS: [usize; 5] = [44, 552, 576, 1500, 65536];
/// Weights of the first four lengths.
pub(crate) const WEIGHTS: [f64; 4] = [0.05, 0.15, 0.20, 0.60];

/// Its tables 4, 5, 7 and 8: mode, with AES instructions, decryption, cycles per byte.
pub(crate) const CPFB_TABLES: [(&str, bool, bool, [f64; 6]); 8] = [
    (
        "cpfb",
        false,
        false,
        [51.30, 20.14, 20.03, 18.55, 17.64, 20.72],
    ),
    (
        "cpfb",
        false,
        true,
        [51.44, 20.19, 20.11, 18.54, 17.62, 20.75],
    ),
    ("cpfb", true, false, [13.09, 2.01, 1.92, 1.44, 1.11, 2.21]),
    ("cpfb", true, true, [18.07, 7.04, 7.01, 6.47, 6.16, 7.24]),
    (
        "silver",
        false,
        false,
        [34.04, 13.23, 12.56, 11.93, 11.33, 13.35],
    ),
    (
        "silver",
        false,
        true,
        [42.58, 16.47, 15.88, 14.91, 14.10, 16.72],
    ),
    ("silver", true, false, [11.85, 1.64, 1.41, 1.10, 0.76, 1.78]),
    ("silver", true, true, [15.08, 2.07, 1.80, 1.37, 0.95, 2.25]),
];

/// Gueron's talk: CPU, cycles per byte of GCM, GHASH and CTR.
pub(crate) const GCM_PARTS: [Named<3>; 3] = [
    ("Sandy Bridge", [2.53, 1.79, 0.73]),
    ("Ivy Bridge", [2.53, 1.79, 0.73]),
    ("Haswell", [1.03, 0.40, 0.63]),
];

/// PMAC+CTR's talk, Sandy Bridge: cycles per byte, the talk's own CTR and PMAC+CTR and
/// the best GCM it knows.
pub(crate) const TWO_PASS: [Named<1>; 3] =
    [("ctr", [0.787]), ("gcm", [2.59]), ("pmac-ctr", [2.047])];
