//! Known answers: every vector under `vectors/`, on every backend, alone and
//! among decoys.

mod common;

use aescomb::{Backend, Comb, Field, Key, Keys, Kind, Mode, Op, Status};
use common::{
    Call, Draw, Heap, Sample, Shape, alone, backends, check, comb, degrees, hex, ops, raw_key,
    works_with,
};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A folder's numbers of things, so that one that is skipped is noticed.
#[derive(Debug, PartialEq, Eq)]
struct Counts {
    files: usize,
    vectors: usize,
    /// Of these, messages that must be refused.
    forged: usize,
    /// Records beside these, whose texts are no whole bytes.
    not_bytes: usize,
}

const fn counts(files: usize, vectors: usize) -> Counts {
    Counts {
        files,
        vectors,
        forged: 0,
        not_bytes: 0,
    }
}

const FOLDERS: &[(&str, Counts)] = &[
    ("nist/ECB", counts(15, 2138)),
    ("nist/CBC", counts(15, 2138)),
    ("nist/CFB128", counts(15, 2138)),
    ("nist/OFB", counts(15, 2138)),
    ("nist/CTR", counts(3, 9)),
    (
        "nist/XTS",
        Counts {
            not_bytes: 600,
            ..counts(2, 1400)
        },
    ),
    ("nist/CMAC", counts(3, 12)),
    ("nist/CCM", counts(12, 2160)),
    (
        "nist/GCM",
        Counts {
            forged: 2360,
            ..counts(6, 9450)
        },
    ),
    ("nist/OCB", counts(5, 71)),
    ("nist/SIV", counts(1, 4)),
    ("nist/GCM-SIV", counts(2, 92)),
    ("supercop/OCB", counts(3, 240)),
    ("derived/ecb-pkcs7", counts(3, 36)),
    ("derived/cbc-pkcs7", counts(3, 36)),
    ("derived/ctr32", counts(6, 72)),
    ("derived/gmac", counts(3, 945)),
    ("derived/pmac", counts(3, 36)),
    ("research/cloc", counts(1, 80)),
    ("research/silc", counts(1, 80)),
    ("research/jambu", counts(1, 81)),
    ("research/otr", counts(2, 160)),
    ("research/copa", counts(1, 81)),
    ("research/poet", counts(1, 81)),
    ("research/julius", counts(1, 81)),
    ("research/mcoe-g", counts(1, 79)),
    ("research/cobra", counts(1, 79)),
    ("research/cpfb", counts(2, 158)),
    ("research/silver", counts(1, 79)),
    ("research/pmac-ctr", counts(1, 79)),
];

/// Vectors of a constant that no key has: a test beside the mode's code has them.
const ELSEWHERE: &str = "julius-as-coded";

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

/// The vectors of a file, and how many of its records are no whole bytes.
fn read(mode: Mode, file: &Path) -> (Vec<Vector>, usize) {
    let text = std::fs::read_to_string(file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
    let records = match text.starts_with('{') {
        true => json(&text),
        false => responses(&text),
    };
    let count = records.len();
    let vectors: Vec<_> = records
        .into_iter()
        .filter_map(|(line, fields)| vector(mode, fields, format!("{}:{line}", file.display())))
        .collect();
    let not_bytes = count - vectors.len();
    (vectors, not_bytes)
}

/// Names in lower case with what they stand for.
type Fields<'t> = HashMap<String, &'t str>;

/// The records of a response file: `NAME = value` lines, each record begun by its
/// `COUNT`. What stands before the first `COUNT` of a section is true of all that
/// follows, up to a line that says otherwise; so are the headings of sections, in
/// brackets.
fn responses(text: &str) -> Vec<(usize, Fields<'_>)> {
    let mut records: Vec<(usize, Fields<'_>)> = Vec::new();
    let mut section = Fields::new();
    let mut in_heading = true;
    for (i, line) in text.lines().enumerate() {
        let line = line.trim();
        let heading = line
            .strip_prefix('[')
            .and_then(|line| line.strip_suffix(']'));
        let (name, value) = match heading.unwrap_or(line).split_once('=') {
            _ if line.starts_with('#') => continue,
            Some((name, value)) => (name.trim().to_lowercase(), value.trim()),
            None if line == "FAIL" => ("fail".to_string(), ""),
            None => {
                assert!(
                    line.is_empty() || heading.is_some(),
                    "line {}: {line}",
                    i + 1
                );
                in_heading |= heading.is_some();
                continue;
            }
        };
        in_heading |= heading.is_some();
        if name == "count" {
            in_heading = false;
            records.push((i + 1, section.clone()));
        } else if in_heading {
            section.insert(name, value);
        } else {
            let (_, record) = records.last_mut().expect("a record");
            let old = record.insert(name.clone(), value);
            assert!(old.is_none(), "line {}: {name} again", i + 1);
        }
    }
    records
}

/// The records of a file of JSON that has one on each line, all of strings but for
/// the first member.
fn json(text: &str) -> Vec<(usize, Fields<'_>)> {
    let mut records = Vec::new();
    for (i, line) in text.lines().enumerate() {
        if let Some(record) = line.trim_start().strip_prefix("{\"id\":") {
            let strings: Vec<_> = record.split('"').skip(1).step_by(2).collect();
            let pairs = strings.chunks_exact(2);
            let fields = pairs.map(|pair| (pair[0].to_string(), pair[1]));
            records.push((i + 1, fields.collect()));
        }
    }
    records
}

/// The vector of these fields; `None` if it is not of whole bytes.
fn vector(mode: Mode, mut fields: Fields<'_>, place: String) -> Option<Vector> {
    let kind = mode.info().kind;
    let number = |text: &str| -> usize {
        text.parse()
            .unwrap_or_else(|e| panic!("{place}: {text}: {e}"))
    };
    if fields
        .get("dataunitlen")
        .is_some_and(|bits| number(bits) % 8 > 0)
    {
        return None;
    }
    let mut field = |names: &[&str]| names.iter().find_map(|name| fields.remove(*name));
    let missing = |what: &str| -> &str { panic!("{place}: no {what}") };
    let raw = hex(field(&["key"]).unwrap_or_else(|| missing("key")));
    let nonce = hex(field(&["iv", "nonce", "i"]).unwrap_or_default());
    // An empty string is written as a byte of zeros where its length stands apart.
    let cut = |text: &str, bytes: Option<&str>| {
        let mut text = hex(text);
        text.truncate(bytes.map_or(text.len(), number));
        text
    };
    let first = field(&["adata", "aad", "ad"]);
    let data_bytes = field(&["alen"]);
    let first = first.map(|data| cut(data, data_bytes));
    let more = [field(&["aad2"]), field(&["aad3"])];
    let data: Vec<_> = first
        .into_iter()
        .chain(more.into_iter().flatten().map(hex))
        .collect();
    let forged = field(&["fail"]).is_some();
    let plain = field(&["plaintext", "message", "msg", "payload", "pt"]);
    let plain_bytes = field(&["plen"]);
    let mut plain = plain.map(|plain| cut(plain, plain_bytes));
    let mut sealed = hex(field(&["ciphertext", "output", "ct", "out"]).unwrap_or_default());
    let mut tag = field(&["tag"]).map(hex);
    let tag_bytes = field(&["tlen"]).map_or(mode.info().longest_tag(), number);
    match kind {
        Kind::Aead if tag.is_none() && mode == Mode::Julius => {
            // Its tag is the first block of what it puts out.
            let text = sealed.split_off(tag_bytes);
            tag = Some(std::mem::replace(&mut sealed, text));
        }
        Kind::Mac => tag = tag.or_else(|| Some(std::mem::take(&mut sealed))),
        Kind::Aead if tag.is_none() => {
            let text = sealed.len().checked_sub(tag_bytes);
            tag = Some(sealed.split_off(text.expect("a tag at the end")));
        }
        _ => {}
    }
    if forged {
        assert!(plain.is_none(), "{place}: a plaintext of a forgery");
        plain = Some(vec![0; sealed.len()]);
    }
    let sample = Sample {
        key: 0,
        nonce,
        data,
        plain: plain.unwrap_or_else(|| hex(missing("text"))),
        sealed,
        tag: tag.unwrap_or_default(),
        verdict: match forged {
            true => Status::BadTag,
            false => Status::Done,
        },
    };
    // Lengths in bits or bytes must be those of what they are said of.
    for (name, bytes, unit) in [
        ("keylen", raw.len(), 8),
        ("ivlen", sample.nonce.len(), 8),
        ("ptlen", sample.plain.len(), 8),
        ("aadlen", sample.data.concat().len(), 8),
        ("taglen", sample.tag.len(), 8),
        ("dataunitlen", sample.plain.len(), 8),
        ("nlen", sample.nonce.len(), 1),
    ] {
        if let Some(said) = fields.remove(name) {
            assert_eq!(number(said), bytes * unit, "{place}: {name}");
        }
    }
    assert!(fields.is_empty(), "{place}: unknown {fields:?}");
    Some(Vector {
        raw,
        sample: Arc::new(sample),
        place,
    })
}

fn vectors(folder: &str) -> Vec<Vector> {
    let mode = mode(folder);
    files(folder)
        .iter()
        .flat_map(|file| read(mode, file).0)
        .collect()
}

#[test]
fn every_file_is_read_and_every_mode_has_vectors() {
    for (folder, counts) in FOLDERS {
        let mode = mode(folder);
        let (mut vectors, mut not_bytes) = (Vec::new(), 0);
        for file in files(folder) {
            let (of_file, not) = read(mode, &file);
            vectors.extend(of_file);
            not_bytes += not;
        }
        let forged = |v: &&Vector| v.sample.verdict != Status::Done;
        let found = Counts {
            files: files(folder).len(),
            vectors: vectors.len(),
            forged: vectors.iter().filter(forged).count(),
            not_bytes,
        };
        assert_eq!(found, *counts, "{folder}");
    }
    for mode in Mode::ALL {
        let has = FOLDERS
            .iter()
            .any(|(folder, ..)| self::mode(folder) == *mode);
        assert!(has, "no vectors for {mode}");
    }
    for group in ["nist", "supercop", "derived", "research"] {
        for folder in files(group)
            .iter()
            .filter(|f| f.is_dir() && !f.ends_with(ELSEWHERE))
        {
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
        let mode = mode(folder);
        for v in vectors(folder) {
            let s = &v.sample;
            if s.verdict == Status::Done {
                let again = (**s).clone().seal(mode, &v.raw);
                assert!(
                    again.sealed == s.sealed && again.tag == s.tag,
                    "{}",
                    v.place
                );
            } else {
                let data: Vec<_> = s.data.iter().map(|part| &part[..]).collect();
                let opened =
                    aescomb_ref::open(mode.name(), &v.raw, &s.nonce, &data, &s.sealed, &s.tag);
                assert_eq!(opened, None, "{}", v.place);
            }
        }
    }
}

#[test]
fn one_message_calls() {
    let heap = Heap::new(None);
    for (folder, ..) in FOLDERS {
        for v in vectors(folder) {
            let key = Key::new(mode(folder), &v.raw).expect("a good key");
            let s = &v.sample;
            if s.verdict != Status::Done {
                let (data, mut text) = (s.data.concat(), s.sealed.clone());
                let error = key.open_in_place(&s.nonce, &data, &mut text, &s.tag);
                assert_eq!(error.expect_err(&v.place).field, Field::Tag, "{}", v.place);
                assert_eq!(text, vec![0; text.len()], "{}", v.place);
            } else if s.data.len() <= 1 {
                alone(&heap, &key, s);
            }
        }
    }
}

/// Messages that keep the other lanes busy, of both sides of a vector's length;
/// the first place of their table is the vector's.
struct Decoys {
    mode: Mode,
    table: Vec<Key>,
}

impl Decoys {
    fn new(mode: Mode) -> Decoys {
        let raw: Vec<_> = (0..8).map(|i| raw_key(mode, i)).collect();
        let mut table = Vec::new();
        Key::expand_many(mode, &raw, &mut table).expect("good keys");
        Decoys { mode, table }
    }

    /// A batch with the vector at a random place.
    fn around(&self, draw: &mut Draw, vector: &Arc<Sample>) -> Vec<Arc<Sample>> {
        let lens = [16, 0, 48, 16, 160, 32, 16, 1, 80, 16, 17, 64];
        let first = draw.below(lens.len());
        let count = 1 + draw.below(20);
        // Half the time such that they can be packed together.
        let alike = draw.below(2) == 0;
        let decoy = |i: usize| {
            let i = i % lens.len();
            let shape = match alike {
                true => vector.shape(),
                false => Shape::nth(self.mode, i),
            };
            common::sample(self.mode, 1 + i as u32 % 7, i, shape, lens[i])
        };
        let mut batch: Vec<_> = (first..first + count).map(decoy).collect();
        batch.insert(draw.below(count + 1), vector.clone());
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
            decoys.table[0] = key.clone();
            let one = std::slice::from_ref(&v.sample);
            for op in ops(mode) {
                // Nobody seals a forgery.
                if op == Op::Seal && v.sample.verdict != Status::Done {
                    continue;
                }
                let place = draw.below(combs.len());
                let comb = &mut combs[place];
                let call = |draw: &mut Draw, keys, samples: &[Arc<Sample>]| Call {
                    appended: draw.below(2) == 0,
                    ..Call::new(op, keys, draw.pick(works_with(samples)))
                };
                let shared = Keys::Shared(&key);
                check(comb, &heap, &call(&mut draw, shared, one), one);
                let keys = Keys::Table(&decoys.table);
                let among = decoys.around(&mut draw, &v.sample);
                check(comb, &heap, &call(&mut draw, keys, &among), &among);
                // One key for all: copies of the vector.
                if op != Op::Decrypt {
                    let copies = vec![v.sample.clone(); 1 + draw.below(9)];
                    check(comb, &heap, &call(&mut draw, shared, &copies), &copies);
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

/// Vectors with a bit of the tag flipped, each in a batch with itself as it should
/// be.
#[test]
fn flipped_tags() {
    let heap = Heap::new(None);
    let mut draw = Draw::new(14);
    for backend in backends() {
        let mut comb = comb(backend, backend.default_lanes());
        for (folder, ..) in FOLDERS {
            let mode = mode(folder);
            let op = ops(mode)[1];
            for v in vectors(folder) {
                if v.sample.tag.is_empty() || v.sample.verdict != Status::Done {
                    continue;
                }
                let flipped = v.sample.forged(&mut draw);
                let mut batch = vec![v.sample.clone(); 1 + draw.below(5)];
                batch.insert(draw.below(batch.len() + 1), flipped);
                let key = Key::new(mode, &v.raw).expect("a good key");
                let call = Call {
                    appended: draw.below(2) == 0,
                    ..Call::new(op, &key, draw.pick(works_with(&batch)))
                };
                check(&mut comb, &heap, &call, &batch);
            }
        }
    }
}
