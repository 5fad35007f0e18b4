//! Known answers: every vector under `vectors/`, on every backend, alone and
//! among decoys.

use crate::common::{
    self, Call, CallKeys, Draw, Heap, Sample, Shape, alone, backends, check, comb, degrees, ops,
    raw_key, works_with,
};
use aescomb::{AnyKey, Backend, Comb, Kind, Mode, Op, OpenError, Status};
use aescomb_vectors::plain::{self, Folder};
use aescomb_vectors::{MODES, Nonce};
use std::path::Path;
use std::sync::{Arc, OnceLock};

struct Vector {
    raw: Vec<u8>,
    /// Its key is the first of a table.
    sample: Arc<Sample>,
    /// File and line.
    place: String,
}

/// The vectors of a mode, from all folders that are for it.
struct Set {
    mode: Mode,
    vectors: Vec<Vector>,
}

/// All vectors of the repository. How many there are is asserted where they are read, in
/// `aescomb-vectors`.
fn sets() -> &'static [Set] {
    static SETS: OnceLock<Vec<Set>> = OnceLock::new();
    SETS.get_or_init(|| {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors");
        let folders = plain::folders(&folder).unwrap_or_else(|error| panic!("{error}"));
        folders.iter().map(set).collect()
    })
}

fn set(folder: &Folder) -> Set {
    let name = folder.mode.name;
    let mode = name.parse().unwrap_or_else(|error| panic!("{error}"));
    let vectors = folder.files.iter().flat_map(|file| {
        let path = file.path.display();
        let vectors = file.vectors.iter();
        vectors.map(move |vector| vector_of(vector, format!("{path}: test {}", vector.id)))
    });
    Set {
        mode,
        vectors: vectors.collect(),
    }
}

fn vector_of(vector: &aescomb_vectors::Vector, place: String) -> Vector {
    assert!(vector.monte_carlo.is_none(), "{place}: more than one step");
    let mut plain = vector.msg.clone();
    // Opening a forgery leaves as much, wiped.
    plain.resize(vector.msg_len(), 0);
    Vector {
        raw: vector.key.clone(),
        sample: Arc::new(Sample {
            key: 0,
            nonce: vector.nonce.clone(),
            data: vector.data.clone(),
            plain,
            sealed: vector.ct.clone(),
            tag: vector.tag.clone(),
            verdict: match vector.refused {
                true => Status::BadTag,
                false => Status::Done,
            },
        }),
        place,
    }
}

#[test]
fn every_mode_has_vectors() {
    for mode in Mode::ALL {
        let mut sets = sets().iter().filter(|set| set.mode == *mode);
        let has = sets.any(|set| !set.vectors.is_empty());
        assert!(has, "no vectors for {mode}");
    }
}

/// What the readers know of modes is what the registry says.
#[test]
fn readers_know_the_modes() {
    assert_eq!(MODES.len(), Mode::ALL.len());
    for mode in Mode::ALL {
        let info = mode.info();
        let known = aescomb_vectors::Mode::named(info.name).expect("a known mode");
        let kind = match info.kind {
            Kind::Cipher => aescomb_vectors::Kind::Cipher,
            Kind::Mac => aescomb_vectors::Kind::Mac,
            Kind::Aead => aescomb_vectors::Kind::Aead,
            other => panic!("{other:?}"),
        };
        let nonce = match info.nonce_bytes {
            (_, 0) => Nonce::None,
            (0, _) => Nonce::Optional,
            _ => Nonce::Needed,
        };
        assert_eq!(
            (known.kind, known.nonce, known.two_keys, known.tag_bytes),
            (kind, nonce, info.two_keys, info.longest_tag()),
            "{mode}"
        );
    }
}

/// The oracle of the other tests meets them too.
#[test]
fn oracle() {
    for Set { mode, vectors } in sets() {
        let mode = *mode;
        for v in vectors {
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
    for Set { mode, vectors } in sets() {
        for v in vectors {
            let key = AnyKey::for_mode(*mode, &v.raw).expect("a good key");
            let s = &v.sample;
            if s.verdict != Status::Done {
                let (data, mut text) = (s.data.concat(), s.sealed.clone());
                let error = key.open_in_place(&s.nonce, &data, &mut text, &s.tag);
                let error = error.expect_err(&v.place);
                assert!(matches!(error, OpenError::Failed(_)), "{}", v.place);
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
    table: Vec<AnyKey>,
}

impl Decoys {
    fn new(mode: Mode) -> Decoys {
        let raw: Vec<_> = (0..8).map(|i| raw_key(mode, i)).collect();
        let mut table = Vec::new();
        AnyKey::expand_many_for(mode, &raw, &mut table).expect("good keys");
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
    for Set { mode, vectors } in sets() {
        let mode = *mode;
        let mut decoys = Decoys::new(mode);
        for v in vectors {
            let key = AnyKey::for_mode(mode, &v.raw).expect("a good key");
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
                    attached: draw.below(2) == 0,
                    ..Call::new(op, keys, draw.pick(works_with(samples)))
                };
                let shared = CallKeys::from(&key);
                check(comb, &heap, &call(&mut draw, shared, one), one);
                let keys = CallKeys::from(&decoys.table);
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
        for Set { mode, vectors } in sets() {
            let mode = *mode;
            let op = ops(mode)[1];
            for v in vectors {
                if v.sample.tag.is_empty() || v.sample.verdict != Status::Done {
                    continue;
                }
                let flipped = v.sample.forged(&mut draw);
                let mut batch = vec![v.sample.clone(); 1 + draw.below(5)];
                batch.insert(draw.below(batch.len() + 1), flipped);
                let key = AnyKey::for_mode(mode, &v.raw).expect("a good key");
                let call = Call {
                    attached: draw.below(2) == 0,
                    ..Call::new(op, &key, draw.pick(works_with(&batch)))
                };
                check(&mut comb, &heap, &call, &batch);
            }
        }
    }
}
