//! What the tests share: messages with their results from the oracle, memory
//! that notices stray writes, and the one runner that takes a batch through
//! every form of call.
#![allow(dead_code, unused_imports)] // every test uses a part of it

mod memory;
mod runner;

pub use memory::{CANARY, Heap, Memory};
pub use runner::{
    Call, CallKeys, Form, Outcome, Scheduler, alone, call, check, failed, run, works_with,
};

use aescomb::{AnyKey, Backend, Comb, Kind, Lengths, Mode, Op, Status};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, Once, OnceLock, PoisonError};

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

/// The environment variable of a process that takes this CPU for another one: the other's place in
/// the list of `cpus.rs`.
pub const TEST_CPU: &str = "AESCOMB_TEST_CPU";

/// Whether this process does so.
pub fn is_as_on_another_cpu() -> bool {
    std::env::var_os(TEST_CPU).is_some()
}

/// The backends of this CPU; says once which it lacks. In a process that takes this CPU for another
/// one, the widest of that CPU's, with `Vaes256Vl` beside `Vaes512`.
pub fn backends() -> impl Iterator<Item = Backend> {
    static SAY: Once = Once::new();
    SAY.call_once(|| {
        for b in Backend::ALL.iter().filter(|b| !b.is_available()) {
            // Not captured, as `println!` would be.
            let line = format!("SKIPPED: this CPU lacks backend {b}, {}\n", b.description());
            let _ = std::io::Write::write_all(&mut std::io::stderr(), line.as_bytes());
        }
    });
    let widest = match Backend::Vaes512.is_available() {
        true => 2,
        false => 1,
    };
    Backend::available().take(match is_as_on_another_cpu() {
        true => widest,
        false => Backend::ALL.len(),
    })
}

/// The operations of a mode.
pub fn ops(mode: Mode) -> [Op; 2] {
    mode.info().kind.ops()
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

/// Nonce number `variant` of `len` bytes: painted, or a counter that soon overflows
/// its last 32, 64 or 128 bits.
pub fn nonce_of(len: usize, variant: usize) -> Vec<u8> {
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

/// The same of the length that the mode's nonces mostly have.
pub fn nonce(mode: Mode, variant: usize) -> Vec<u8> {
    nonce_of(mode.info().usual_nonce(), variant)
}

/// How many keys [`raw_key`] makes tables of.
pub const KEYS: usize = 33;

/// AnyKey number `i`, of a mode's key lengths in turn: numbers that are 3 apart have
/// the same.
pub fn raw_key(mode: Mode, i: usize) -> Vec<u8> {
    let lengths = mode.info().key_bytes;
    paint(lengths[i % 3 % lengths.len()], 200 + i)
        .iter()
        .map(|b| b.wrapping_mul(0x1d).wrapping_add(i as u8))
        .collect()
}

/// What a message has beside key and text: which of the lengths that its mode takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Shape {
    pub nonce: usize,
    pub tag: usize,
    /// Components of associated data.
    pub components: usize,
}

impl Shape {
    /// How many there are of [`Shape::nth`] until all lengths have been.
    pub const COUNT: usize = 16;

    /// The nonce and tag that are used most, and one component.
    pub fn usual(mode: Mode) -> Shape {
        let info = mode.info();
        Shape {
            nonce: info.usual_nonce(),
            tag: info.longest_tag(),
            components: info.data_components.min(1),
        }
    }

    /// Shape number `n`: all lengths of tag, all lengths of nonce that matter, all
    /// numbers of components.
    pub fn nth(mode: Mode, n: usize) -> Shape {
        let info = mode.info();
        if n.is_multiple_of(Shape::COUNT) {
            return Shape::usual(mode);
        }
        let (least, most) = info.nonce_bytes;
        // 16 and 17 are around a block, 60 is longer than three.
        let nonces: Vec<_> = match most - least {
            0..=15 => (least..=most).collect(),
            _ => [least, 12, 16, 8, 12, 17, 60, 1, 12, 15, 31].into(),
        };
        let nonce = nonces[n % nonces.len()];
        let tag = match info.tag_bytes {
            [] => 0,
            tags => tags[n * 5 % tags.len()],
        };
        // Where a nonce counts as a component there is one fewer.
        let most = info.data_components - usize::from(nonce > 0 && info.data_components > 1);
        let components = [1, 0, 2, 1, 3, 1, most, 1, 5, 0][n % 10].min(most);
        Shape {
            nonce,
            tag,
            components,
        }
    }

    /// The same for packed batches, which have one component at most.
    pub fn packed(mode: Mode, n: usize) -> Shape {
        let shape = Shape::nth(mode, n);
        Shape {
            components: shape.components.min(1),
            ..shape
        }
    }

    /// The same for one-message calls, which always give one component if any.
    pub fn alone(mode: Mode, n: usize) -> Shape {
        Shape {
            components: mode.info().data_components.min(1),
            ..Shape::nth(mode, n)
        }
    }
}

/// How the shapes of a batch's messages go together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shapes {
    /// They all are this one.
    Alike(usize),
    /// They differ from message to message.
    Mixed,
}

impl Shapes {
    /// Any; half the time such that the batch can be packed.
    pub fn any(draw: &mut Draw) -> Shapes {
        match draw.below(4) {
            0 => Shapes::Alike(0),
            1 => Shapes::Alike(1 + draw.below(Shape::COUNT - 1)),
            _ => Shapes::Mixed,
        }
    }

    /// Shapes that a batch of this form can have.
    pub fn of(form: Form, n: usize) -> Shapes {
        match form.is_packed() {
            true => Shapes::Alike(n),
            false => Shapes::Mixed,
        }
    }

    /// The shape of message number `i`.
    pub fn get(self, mode: Mode, i: usize) -> Shape {
        match self {
            Shapes::Alike(n) => Shape::packed(mode, n),
            Shapes::Mixed => Shape::nth(mode, i),
        }
    }
}

/// Lengths of associated data around the boundaries of blocks, and of what CCM puts
/// before it.
const DATA: [usize; 16] = [
    20, 0, 1, 12, 13, 14, 15, 16, 17, 30, 31, 32, 33, 64, 100, 300,
];

/// Associated data number `variant` of so many components.
pub fn data(components: usize, variant: usize) -> Vec<Vec<u8>> {
    (0..components)
        .map(|i| {
            let len = match components {
                0..10 => DATA[(variant + i * 5) % DATA.len()],
                // Many, but short.
                _ => (variant + i) % 19,
            };
            paint(len, 50 + variant + i)
        })
        .collect()
}

/// A table of the first [`KEYS`] keys for a mode, made once.
pub fn table(mode: Mode) -> &'static [AnyKey] {
    static TABLES: OnceLock<Vec<Vec<AnyKey>>> = OnceLock::new();
    let tables = TABLES.get_or_init(|| {
        let expand = |mode: &Mode| {
            let raw: Vec<_> = (0..KEYS).map(|i| raw_key(*mode, i)).collect();
            let mut table = Vec::new();
            AnyKey::expand_many_for(*mode, &raw, &mut table).expect("keys of good lengths");
            table
        };
        Mode::ALL.iter().map(expand).collect()
    });
    &tables[place(mode)]
}

/// References to its keys.
pub fn refs(mode: Mode) -> &'static [&'static AnyKey] {
    static REFS: OnceLock<Vec<Vec<&'static AnyKey>>> = OnceLock::new();
    let all = || Mode::ALL.iter().map(|m| table(*m).iter().collect());
    &REFS.get_or_init(|| all().collect())[place(mode)]
}

fn place(mode: Mode) -> usize {
    Mode::ALL
        .iter()
        .position(|m| *m == mode)
        .expect("a registered mode")
}

/// The length that the mode takes and that is nearest to `len`, if possible below.
pub fn fit(mode: Mode, len: usize) -> usize {
    match mode.info().lengths {
        Lengths::WholeBlocks => len / 16 * 16,
        Lengths::FromOneBlock => len.max(16),
        _ => len,
    }
}

/// [`LENGTHS`] as the mode takes them.
pub fn lengths(mode: Mode) -> Vec<usize> {
    let mut all: Vec<_> = LENGTHS.iter().map(|len| fit(mode, *len)).collect();
    all.dedup();
    all
}

/// A scheduler for [`lengths_apart`], with the backend's own parallelism degree or another.
pub fn comb_apart(draw: &mut Draw, backend: Backend) -> Comb {
    let mut degrees = vec![backend.default_lanes(), 24, 32];
    degrees.retain(|degree| *degree <= backend.max_lanes());
    comb(backend, draw.pick(&degrees))
}

/// Lengths of a batch whose messages lie 2,048 bytes apart or more: enough messages for a
/// group or two of any degree; all of a line of the cache, all longer, mixed, or long and mixed.
pub fn lengths_apart(draw: &mut Draw, mode: Mode) -> Vec<usize> {
    let count = draw.pick(&[9, 9, 11, 16, 17, 25, 33, 35]);
    let all = draw.pick(&[64, 64, 79, 200, 1500, 1800]);
    let kind = draw.below(4);
    let mut len = || match kind {
        0 | 1 => draw.pick(&[0, 33, 64, 64, 65, 127, 128, 200, 333, 1500]),
        2 => draw.pick(&[780, 1500, 1537, 1800, 1984]),
        _ => all,
    };
    (0..count).map(|_| fit(mode, len())).collect()
}

/// A message and what becomes of it.
#[derive(Clone, Debug)]
pub struct Sample {
    /// Place of its key in the table.
    pub key: u32,
    pub nonce: Vec<u8>,
    /// Components of associated data.
    pub data: Vec<Vec<u8>>,
    pub plain: Vec<u8>,
    /// Ciphertext; empty for a MAC.
    pub sealed: Vec<u8>,
    pub tag: Vec<u8>,
    /// What becomes of it when it is decrypted, verified or opened. Of one that
    /// fails `plain` is not known and not looked at; it has any bytes for an AEAD,
    /// as many as `sealed`.
    pub verdict: Status,
}

impl Sample {
    /// A message as yet without a result, with room for a tag of `tag` bytes.
    pub fn new(key: u32, nonce: Vec<u8>, data: Vec<Vec<u8>>, plain: Vec<u8>, tag: usize) -> Sample {
        Sample {
            key,
            nonce,
            data,
            plain,
            sealed: Vec::new(),
            tag: vec![0; tag],
            verdict: Status::Done,
        }
    }

    /// The same with the result that the oracle makes of it.
    pub fn seal(self, mode: Mode, raw: &[u8]) -> Sample {
        self.try_seal(mode, raw)
            .unwrap_or_else(|| panic!("the oracle does not take it for {mode}"))
    }

    fn try_seal(mut self, mode: Mode, raw: &[u8]) -> Option<Sample> {
        let (name, nonce, plain) = (mode.name(), &self.nonce, &self.plain);
        match mode.info().kind {
            Kind::Cipher => self.sealed = aescomb_ref::encrypt(name, raw, nonce, plain)?,
            Kind::Mac => {
                let tag = aescomb_ref::mac(name, raw, nonce, plain)?;
                self.tag = tag[..self.tag.len()].to_vec();
            }
            Kind::Aead => {
                let data: Vec<_> = self.data.iter().map(|part| &part[..]).collect();
                let tag = self.tag.len();
                let sealed = aescomb_ref::seal(name, raw, nonce, &data, plain, tag)?;
                (self.sealed, self.tag) = (sealed.text, sealed.tag);
            }
            kind => panic!("the oracle has no {kind:?}"),
        }
        Some(self)
    }

    /// The same with a bit of the tag flipped, which must be found.
    pub fn forged(&self, draw: &mut Draw) -> Arc<Sample> {
        let mut forged = self.clone();
        let bit = draw.below(forged.tag.len() * 8);
        forged.tag[bit / 8] ^= 1 << (bit % 8);
        forged.verdict = Status::BadTag;
        Arc::new(forged)
    }

    pub fn shape(&self) -> Shape {
        Shape {
            nonce: self.nonce.len(),
            tag: self.tag.len(),
            components: self.data.len(),
        }
    }
}

/// What identifies a sample: place of the key, variant, shape, length.
type Name = (u32, usize, Shape, usize);
type Cache = Mutex<HashMap<Name, Arc<Sample>>>;

/// A painted message of `len` bytes under key number `key`; asked for again, the
/// oracle need not work again.
pub fn sample(mode: Mode, key: u32, variant: usize, shape: Shape, len: usize) -> Arc<Sample> {
    static CACHES: OnceLock<Vec<Cache>> = OnceLock::new();
    let caches = CACHES.get_or_init(|| Mode::ALL.iter().map(|_| Mutex::default()).collect());
    let len = fit(mode, len);
    let cache = || {
        let cache = caches[place(mode)].lock();
        cache.unwrap_or_else(PoisonError::into_inner)
    };
    let name = (key, variant, shape, len);
    if let Some(sample) = cache().get(&name) {
        return sample.clone();
    }
    // Other threads need not wait for the oracle.
    let sample = Sample::new(
        key,
        nonce_of(shape.nonce, variant),
        data(shape.components, variant),
        paint(len, variant + 1),
        shape.tag,
    );
    let sample = Arc::new(sample.seal(mode, &raw_key(mode, key as usize)));
    cache().entry(name).or_insert(sample).clone()
}

/// The bytes that hexadecimal digits stand for.
pub fn hex(digits: &str) -> Vec<u8> {
    assert!(digits.len().is_multiple_of(2), "half a byte in {digits}");
    (0..digits.len() / 2)
        .map(|i| u8::from_str_radix(&digits[i * 2..i * 2 + 2], 16).expect("hexadecimal digits"))
        .collect()
}
