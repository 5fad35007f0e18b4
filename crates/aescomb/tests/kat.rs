//! Known answers: every vector under `vectors/`, on every backend, alone and
//! among decoys.

mod common;

use aescomb::{Backend, Comb, Key, Keys, Kind, Lengths, Mode, Op};
use common::{Call, Draw, Form, Heap, Sample, backends, check, comb, degrees, hex, ops, raw_key};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Folders with their numbers of files and vectors, so that one that is skipped
/// is noticed.
const FOLDERS: &[(&str, usize, usize)] = &[
    ("nist/ECB", 15, 2138),
    ("nist/CBC", 15, 2138),
    ("nist/CFB128", 15, 2138),
    ("nist/OFB", 15, 2138),
    ("nist/CTR", 3, 9),
    ("nist/CMAC", 3, 12),
    ("derived/ecb-pkcs7", 3, 36),
    ("derived/cbc-pkcs7", 3, 36),
    ("derived/ctr32", 6, 72),
];

struct Vector {
    raw: Vec<u8>,
    /// Its key is the first of a table.
    sample: Arc<Sample>,
    /// File and line.
    place: String,
}

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../vectors")
        .join(name)
}

/// A folder's mode: its name in lower case.
fn mode(folder: &str) -> Mode {
    let name = folder.rsplit('/').next().unwrap_or(folder).to_lowercase();
    name.parse().unwrap_or_else(|e| panic!("{folder}: {e}"))
}

fn files(name: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder(name)).unwrap_or_else(|e| panic!("{name}: {e}"));
    let mut files: Vec<_> = entries
        .map(|entry| entry.expect("a folder").path())
        .collect();
    files.sort();
    files
}

/// The vectors of a response file: `NAME = digits` lines, each vector begun by
/// its `COUNT`.
fn read(file: &Path) -> Vec<Vector> {
    let text = std::fs::read_to_string(file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
    let mut vectors = Vec::new();
    let mut fields = HashMap::new();
    for (i, line) in text.lines().enumerate() {
        let place = format!("{}:{}", file.display(), i + 1);
        if let Some((name, value)) = line.split_once('=')
            && !line.starts_with('#')
        {
            if name.trim() == "COUNT" && !fields.is_empty() {
                vectors.push(vector(&mut fields, place.clone()));
            }
            let old = fields.insert(name.trim(), value.trim());
            assert!(old.is_none(), "{place}: {name} again");
        }
    }
    vectors.push(vector(&mut fields, format!("{}, the last", file.display())));
    vectors
}

/// The vector of these fields, which are those before `place`.
fn vector(fields: &mut HashMap<&str, &str>, place: String) -> Vector {
    let mut field = |names: &[&'static str]| {
        let found = names.iter().find_map(|name| fields.remove(name));
        found.map(hex)
    };
    let missing = |what: &str| -> Vec<u8> { panic!("{place}: no {what}") };
    let raw = field(&["KEY"]).unwrap_or_else(|| missing("key"));
    let sample = Sample {
        key: 0,
        nonce: field(&["IV"]).unwrap_or_default(),
        plain: field(&["PLAINTEXT", "MESSAGE"]).unwrap_or_else(|| missing("text")),
        sealed: field(&["CIPHERTEXT", "OUTPUT"]).unwrap_or_else(|| missing("result")),
    };
    fields.remove("COUNT");
    assert!(fields.is_empty(), "{place}: unknown {fields:?}");
    Vector {
        raw,
        sample: Arc::new(sample),
        place,
    }
}

fn vectors(folder: &str) -> Vec<Vector> {
    files(folder).iter().flat_map(|file| read(file)).collect()
}

#[test]
fn every_file_is_read_and_every_mode_has_vectors() {
    for (folder, file_count, vector_count) in FOLDERS {
        assert_eq!(files(folder).len(), *file_count, "files of {folder}");
        assert_eq!(vectors(folder).len(), *vector_count, "vectors of {folder}");
    }
    for mode in Mode::ALL {
        let has = FOLDERS
            .iter()
            .any(|(folder, ..)| self::mode(folder) == *mode);
        assert!(has, "no vectors for {mode}");
    }
    for group in ["nist", "derived"] {
        for folder in files(group) {
            let name = folder.file_name().unwrap_or_default().to_string_lossy();
            let known = FOLDERS
                .iter()
                .any(|(f, ..)| *f == format!("{group}/{name}"));
            assert!(known, "{group}/{name} is not in the list");
        }
    }
}

/// The oracle of the other tests meets them too.
#[test]
fn oracle() {
    for (folder, ..) in FOLDERS {
        for v in vectors(folder) {
            let s = &v.sample;
            let again = Sample::seal(mode(folder), 0, &v.raw, s.nonce.clone(), s.plain.clone());
            assert!(again.sealed.starts_with(&s.sealed), "{}", v.place);
        }
    }
}

#[test]
fn one_message_calls() {
    for (folder, ..) in FOLDERS {
        for v in vectors(folder) {
            let key = Key::new(mode(folder), &v.raw).expect("a good key");
            let info = key.mode().info();
            let s = &v.sample;
            if info.kind == Kind::Mac {
                let mut tag = [0; 16];
                key.mac(&s.plain, &mut tag).expect("a good message");
                assert_eq!(tag, s.sealed[..], "{}", v.place);
                continue;
            }
            let mut data = s.plain.clone();
            if info.lengths == Lengths::Padded {
                data = s.sealed.clone();
            } else {
                key.encrypt_in_place(&s.nonce, &mut data)
                    .expect("a good message");
                assert_eq!(data, s.sealed, "{}", v.place);
            }
            let len = key
                .decrypt_in_place(&s.nonce, &mut data)
                .expect("a good message");
            assert_eq!(data[..len], s.plain, "{}", v.place);
        }
    }
}

/// Messages that keep the other lanes busy, of both sides of a vector's length;
/// the first place of their table is the vector's.
struct Decoys {
    table: Vec<Key>,
    samples: Vec<Arc<Sample>>,
}

impl Decoys {
    fn new(mode: Mode) -> Decoys {
        let raw: Vec<_> = (0..8).map(raw_key).collect();
        let mut table = Vec::new();
        Key::expand_many(mode, &raw, &mut table).expect("good keys");
        let lens = [16, 0, 48, 16, 160, 32, 16, 1, 80, 16, 17, 64];
        let make = |(i, len): (usize, &usize)| common::sample(mode, 1 + i as u32 % 7, i, *len);
        Decoys {
            table,
            samples: lens.iter().enumerate().map(make).collect(),
        }
    }

    /// A batch with the vector at a random place.
    fn around(&self, draw: &mut Draw, sample: &Arc<Sample>) -> Vec<Arc<Sample>> {
        let first = draw.below(self.samples.len());
        let count = 1 + draw.below(20);
        let turn = self.samples.iter().cycle().skip(first);
        let mut batch: Vec<_> = turn.take(count).cloned().collect();
        batch.insert(draw.below(count + 1), sample.clone());
        batch
    }
}

fn batches_on(backend: Backend) {
    let heap = Heap::new(None);
    let mut draw = Draw::new(10);
    let mut combs: Vec<Comb> = degrees(backend).iter().map(|p| comb(backend, *p)).collect();
    for (folder, ..) in FOLDERS {
        let mode = mode(folder);
        let mut decoys = Decoys::new(mode);
        for v in vectors(folder) {
            let key = Key::new(mode, &v.raw).expect("a good key");
            for op in ops(mode) {
                let place = draw.below(combs.len());
                let comb = &mut combs[place];
                // Tags in full.
                let whole = |call| Call { tag: 12, ..call };
                let alone = whole(Call::new(op, &key, draw.pick(&Form::ALL)));
                check(comb, &heap, &alone, std::slice::from_ref(&v.sample));
                decoys.table[0] = key.clone();
                let keys = Keys::from(&decoys.table);
                let among = whole(Call::new(op, keys, draw.pick(&Form::ALL)));
                check(comb, &heap, &among, &decoys.around(&mut draw, &v.sample));
                // One key for all: copies of the vector.
                if op == Op::Encrypt || mode.info().kind == Kind::Mac {
                    let copies = vec![v.sample.clone(); 1 + draw.below(9)];
                    check(comb, &heap, &alone, &copies);
                }
            }
        }
    }
}

#[test]
fn batches_of_one_and_among_decoys() {
    for backend in backends() {
        batches_on(backend);
    }
}
