//! What the tests share: messages with their results from the oracle, memory
//! that notices stray writes, and the one runner that takes a batch through
//! every form of call.
#![allow(dead_code, unused_imports)] // every test uses a part of it

mod memory;
mod runner;

pub use memory::{CANARY, Heap, Memory};
pub use runner::{Call, Form, Outcome, call, check, run};

use aescomb::{Backend, Comb, Key, Kind, Lengths, Mode, Op};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, Once, OnceLock};

/// Lengths around every boundary: blocks, registers, the largest kernel.
pub const LENGTHS: [usize; 31] = [
    0, 1, 15, 16, 17, 31, 32, 33, 47, 48, 49, 63, 64, 65, 127, 128, 129, 255, 256, 257, 511, 512,
    513, 1023, 1024, 1025, 2047, 2048, 4095, 4096, 4097,
];

/// Batch sizes around every parallelism degree.
pub const BATCHES: [usize; 16] = [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 64, 100];

/// Parallelism degrees worth a test, those of them that the backend has.
pub fn degrees(backend: Backend) -> Vec<usize> {
    let mut all = vec![1, 2, 3, 4, 5, 7, 8, 12, 16, 24, 31, 32, backend.max_lanes()];
    all.retain(|p| *p <= backend.max_lanes());
    all.sort();
    all.dedup();
    all
}

/// The backends of this CPU; says once which it lacks.
pub fn backends() -> impl Iterator<Item = Backend> {
    static SAY: Once = Once::new();
    SAY.call_once(|| {
        for b in Backend::ALL.iter().filter(|b| !b.is_available()) {
            // Not captured, as `println!` would be.
            let line = format!("SKIPPED: this CPU lacks backend {b}, {}\n", b.description());
            let _ = std::io::Write::write_all(&mut std::io::stderr(), line.as_bytes());
        }
    });
    Backend::available()
}

/// The operations of a mode.
pub fn ops(mode: Mode) -> [Op; 2] {
    match mode.info().kind {
        Kind::Mac => [Op::Mac, Op::Verify],
        _ => [Op::Encrypt, Op::Decrypt],
    }
}

/// Every mode with every backend and operation.
pub fn for_all(mut f: impl FnMut(Mode, Backend, Op)) {
    for backend in backends() {
        for mode in Mode::ALL {
            for op in ops(*mode) {
                f(*mode, backend, op);
            }
        }
    }
}

/// A scheduler with this backend and parallelism degree.
pub fn comb(backend: Backend, degree: usize) -> Comb {
    let mut comb = Comb::with_backend(backend).expect("an available backend");
    comb.set_lanes(degree).expect("an allowed degree");
    comb
}

/// Numbers that look random and are the same in every run.
pub struct Draw(u64);

impl Draw {
    pub fn new(seed: u64) -> Self {
        Draw(seed)
    }

    pub fn next(&mut self) -> u64 {
        // SplitMix64.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }
}

/// Bytes with a period that is prime, so that misplaced blocks show.
pub fn paint(len: usize, seed: usize) -> Vec<u8> {
    (0..len).map(|i| ((i + seed * 7) % 251) as u8).collect()
}

/// Nonce number `variant`: painted, or a counter that soon overflows its last
/// 32, 64 or 128 bits.
pub fn nonce(mode: Mode, variant: usize) -> Vec<u8> {
    let len = mode.info().nonce_bytes;
    let mut nonce = paint(len, 100 + variant);
    let (ones, back) = match variant % 16 {
        1 => (4, 0),
        2 => (8, 0),
        3 => (16, 0),
        4 => (4, 1),
        5 => (8, 6),
        6 => (16, 3),
        7 => (4, 17),
        8 => (16, 33),
        _ => return nonce,
    };
    if len >= ones {
        nonce[len - ones..].fill(0xff);
        nonce[len - 1] -= back;
    }
    nonce
}

/// How many keys [`raw_key`] makes tables of: of each size a third.
pub const KEYS: usize = 33;

/// Key number `i`, of 16, 24 or 32 bytes in turn.
pub fn raw_key(i: usize) -> Vec<u8> {
    paint(16 + i % 3 * 8, 200 + i)
        .iter()
        .map(|b| b.wrapping_mul(0x1d).wrapping_add(i as u8))
        .collect()
}

/// A table of the first [`KEYS`] keys for a mode, made once.
pub fn table(mode: Mode) -> &'static [Key] {
    static TABLES: OnceLock<Vec<Vec<Key>>> = OnceLock::new();
    let tables = TABLES.get_or_init(|| {
        let raw: Vec<_> = (0..KEYS).map(raw_key).collect();
        let expand = |mode: &Mode| {
            let mut table = Vec::new();
            Key::expand_many(*mode, &raw, &mut table).expect("keys of good lengths");
            table
        };
        Mode::ALL.iter().map(expand).collect()
    });
    &tables[place(mode)]
}

fn place(mode: Mode) -> usize {
    Mode::ALL
        .iter()
        .position(|m| *m == mode)
        .expect("a registered mode")
}

/// The length that the mode takes and that is nearest below `len`.
pub fn fit(mode: Mode, len: usize) -> usize {
    match mode.info().lengths {
        Lengths::WholeBlocks => len / 16 * 16,
        _ => len,
    }
}

/// [`LENGTHS`] as the mode takes them.
pub fn lengths(mode: Mode) -> Vec<usize> {
    let mut all: Vec<_> = LENGTHS.iter().map(|len| fit(mode, *len)).collect();
    all.dedup();
    all
}

/// A message and what becomes of it.
#[derive(Clone, Debug)]
pub struct Sample {
    /// Place of its key in the table.
    pub key: u32,
    pub nonce: Vec<u8>,
    pub plain: Vec<u8>,
    /// Ciphertext, or tag in full length.
    pub sealed: Vec<u8>,
}

impl Sample {
    /// A message sealed by the oracle.
    pub fn seal(mode: Mode, key: u32, raw: &[u8], nonce: Vec<u8>, plain: Vec<u8>) -> Sample {
        let sealed = match mode.info().kind {
            Kind::Mac => aescomb_ref::mac(mode.name(), raw, &plain),
            _ => aescomb_ref::encrypt(mode.name(), raw, &nonce, &plain),
        };
        Sample {
            key,
            sealed: sealed.unwrap_or_else(|| panic!("the oracle lacks {mode}")),
            nonce,
            plain,
        }
    }

    /// What goes into an operation.
    pub fn input(&self, op: Op) -> &[u8] {
        match op {
            Op::Decrypt => &self.sealed,
            _ => &self.plain,
        }
    }

    /// What an operation puts out, tags aside.
    pub fn output(&self, op: Op) -> &[u8] {
        match op {
            Op::Encrypt => &self.sealed,
            Op::Decrypt => &self.plain,
            _ => &[],
        }
    }
}

/// What identifies a sample: place of the key, variant, length.
type Name = (u32, usize, usize);
type Cache = Mutex<HashMap<Name, Arc<Sample>>>;

/// A painted message of `len` bytes under key number `key`; asked for again, the
/// oracle need not work again.
pub fn sample(mode: Mode, key: u32, variant: usize, len: usize) -> Arc<Sample> {
    static CACHES: OnceLock<Vec<Cache>> = OnceLock::new();
    let caches = CACHES.get_or_init(|| Mode::ALL.iter().map(|_| Mutex::default()).collect());
    let len = fit(mode, len);
    let mut cache = caches[place(mode)]
        .lock()
        .unwrap_or_else(|e| e.into_inner());
    let make = || {
        let plain = paint(len, variant + 1);
        let raw = raw_key(key as usize);
        Arc::new(Sample::seal(mode, key, &raw, nonce(mode, variant), plain))
    };
    cache
        .entry((key, variant, len))
        .or_insert_with(make)
        .clone()
}

/// The bytes that hexadecimal digits stand for.
pub fn hex(digits: &str) -> Vec<u8> {
    assert!(digits.len().is_multiple_of(2), "half a byte in {digits}");
    (0..digits.len() / 2)
        .map(|i| u8::from_str_radix(&digits[i * 2..i * 2 + 2], 16).expect("hexadecimal digits"))
        .collect()
}
