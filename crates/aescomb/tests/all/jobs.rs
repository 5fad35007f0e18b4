//! Batches of jobs do what slices of messages do, and say what they lack.
//!
//! `unsafe` here rests on one fact: what a job points to are vectors that stay where they
//! are, and that nobody else uses, while a call is at work with it.
#![allow(unsafe_code)]

use crate::common::{self, Sample, Shapes, ops, refs, sample, table};
use aescomb::ffi::{Job, Jobs};
use aescomb::modes::Cmac;
use aescomb::{Comb, Error, Field, Keys, Kind, Lengths, Mode, Op, Status};
use std::sync::Arc;

/// Under whose key jobs are done.
#[derive(Clone, Copy, Debug)]
enum KeyUse {
    Shared,
    Table,
    Own,
}

/// The job of a sample, in place in a text with this room.
fn job(sample: &Sample, text: &mut [u8], len: usize, tag: &mut [u8]) -> Job {
    let data = sample.data.first();
    Job {
        src: text.as_ptr(),
        src_len: len,
        dst: text.as_mut_ptr(),
        dst_len: text.len(),
        nonce: sample.nonce.as_ptr(),
        nonce_len: sample.nonce.len() as u32,
        data: data.map_or(std::ptr::null(), |data| data.as_ptr()),
        data_len: data.map_or(0, |data| data.len()),
        tag: tag.as_mut_ptr(),
        tag_len: tag.len() as u32,
        opened_len: sample.plain.len(),
        ..Job::default()
    }
}

fn outcome(job: &Job) -> (Status, usize) {
    // SAFETY: made by `Job::default`.
    unsafe { (job.status.assume_init(), job.written.assume_init()) }
}

#[test]
fn every_mode() {
    for mode in Mode::ALL {
        for op in ops(*mode) {
            for keys in [KeyUse::Shared, KeyUse::Table, KeyUse::Own] {
                for attached in [false, true] {
                    if attached && !matches!(op, Op::Seal | Op::Open) {
                        continue;
                    }
                    run(*mode, op, keys, attached, 33);
                }
            }
        }
    }
}

/// Keys of their own in batches of several stretches, where jobs are done as copies: behind tags that stand before
/// them, or where texts move.
#[test]
fn own_keys_of_many() {
    for mode in Mode::ALL {
        let info = mode.info();
        if info.kind == Kind::Aead && (info.tag_first || info.lengths != Lengths::AnyLength) {
            run(*mode, Op::Seal, KeyUse::Own, info.tag_first, 600);
            run(*mode, Op::Open, KeyUse::Own, info.tag_first, 600);
        }
    }
}

fn run(mode: Mode, op: Op, keys: KeyUse, attached: bool, count: usize) {
    let about = format!("{mode} {} {keys:?} attached={attached}", op.name());
    let back = matches!(op, Op::Decrypt | Op::Open);
    let mut samples: Vec<Arc<Sample>> = (0..count)
        .map(|i| {
            let key = match keys {
                KeyUse::Shared => 0,
                // A job's key is at its own place.
                KeyUse::Table => i as u32,
                KeyUse::Own => i as u32 % 33,
            };
            let shape = common::Shape {
                components: Shapes::Mixed.get(mode, i).components.min(1),
                ..Shapes::Mixed.get(mode, i)
            };
            sample(mode, key, i % 4, shape, i * 37 % 500)
        })
        .collect();
    if matches!(op, Op::Open | Op::Verify) {
        samples[7] = samples[7].forged(&mut common::Draw::new(3));
    }
    let mut texts: Vec<Vec<u8>> = samples
        .iter()
        .map(|s| {
            let mut text = if back { &s.sealed } else { &s.plain }.clone();
            if attached && back {
                let at = if mode.info().tag_first { 0 } else { text.len() };
                text.splice(at..at, s.tag.iter().copied());
            }
            text
        })
        .collect();
    let lens: Vec<usize> = texts.iter().map(Vec::len).collect();
    for (text, s) in texts.iter_mut().zip(&samples) {
        let room = s.sealed.len() + if attached { s.tag.len() } else { 0 };
        text.resize(room.max(text.len()), 0);
    }
    let mut tags: Vec<Vec<u8>> = samples.iter().map(|s| s.tag.clone()).collect();
    if matches!(op, Op::Seal | Op::Mac) {
        tags.iter_mut().for_each(|tag| tag.fill(0));
    }
    let mut jobs: Vec<Job> = samples
        .iter()
        .zip(&mut texts)
        .zip(&mut tags)
        .zip(&lens)
        .map(|(((sample, text), tag), len)| {
            let job = job(sample, text, *len, tag);
            let key = match keys {
                KeyUse::Own => &raw const table(mode)[sample.key as usize],
                _ => std::ptr::null(),
            };
            let tag_attached = attached.into();
            Job {
                key,
                tag_attached,
                ..job
            }
        })
        .collect();
    // SAFETY: see above.
    let mut batch = unsafe { Jobs::new(jobs.as_mut_ptr(), jobs.len()) };
    let keys = match keys {
        KeyUse::Shared => Keys::from(&table(mode)[0]),
        KeyUse::Table => Keys::from(refs(mode)),
        KeyUse::Own => Keys::of_messages(),
    };
    let verdict = Comb::new().run(op, keys, &mut batch);
    let failed = (0..samples.len()).filter(|i| samples[*i].verdict != Status::Done);
    let verdict = common::failed(op, verdict).expect(&about);
    assert!(failed.eq(verdict), "{about}");
    for (i, s) in samples.iter().enumerate() {
        let (status, written) = outcome(&jobs[i]);
        let want = match op {
            Op::Mac | Op::Verify => Vec::new(),
            _ if back && s.verdict != Status::Done => Vec::new(),
            _ if back => s.plain.clone(),
            _ if attached && mode.info().tag_first => [&s.tag[..], &s.sealed].concat(),
            _ if attached => [&s.sealed[..], &s.tag].concat(),
            _ => s.sealed.clone(),
        };
        let verdict = match op {
            Op::Open | Op::Verify => s.verdict,
            _ => Status::Done,
        };
        assert_eq!(status, verdict, "{about}, message {i}");
        assert_eq!(texts[i][..written], want, "{about}, message {i}");
        if !attached {
            assert_eq!(tags[i], s.tag, "{about}, message {i}");
        }
    }
}

/// Two good messages of GCM, and what `spoil` makes of the second one: what is refused.
fn refused(spoil: impl Fn(&mut Job)) -> Error {
    let mode = Mode::Gcm;
    assert_eq!(mode.info().lengths, Lengths::AnyLength);
    let good = sample(mode, 0, 0, common::Shape::usual(mode), 40);
    let mut texts = vec![good.plain.clone(); 2];
    let mut tags = vec![good.tag.clone(); 2];
    let parts = texts.iter_mut().zip(&mut tags);
    let mut jobs: Vec<Job> = parts.map(|(text, tag)| job(&good, text, 40, tag)).collect();
    spoil(&mut jobs[1]);
    // SAFETY: see above.
    let mut batch = unsafe { Jobs::new(jobs.as_mut_ptr(), 2) };
    let error = Comb::new()
        .seal(&table(mode)[0], &mut batch)
        .expect_err("a spoilt job");
    for job in &jobs {
        assert_eq!(outcome(job), (Status::Pending, 0), "{error}");
    }
    for (text, tag) in texts.iter().zip(&tags) {
        assert_eq!((text, tag), (&good.plain, &good.tag), "{error}");
    }
    error
}

#[test]
fn what_a_job_lacks() {
    type Spoil = fn(&mut Job);
    let cases: [(Spoil, Field); 13] = [
        (|job| job.src = std::ptr::null(), Field::TextLength),
        (|job| job.dst = std::ptr::null_mut(), Field::OutputLength),
        (|job| job.nonce = std::ptr::null(), Field::NonceLength),
        (|job| job.data = std::ptr::null(), Field::DataLength),
        (|job| job.tag = std::ptr::null_mut(), Field::TagLength),
        (|job| job.src_len = usize::MAX, Field::TextLength),
        (|job| job.data_len = usize::MAX, Field::DataLength),
        (|job| job.nonce_len = 0, Field::NonceLength),
        (|job| job.tag_len = 17, Field::TagLength),
        (|job| job.tag_attached = 1, Field::OutputLength),
        (|job| job.component_count = 1, Field::DataCount),
        (|job| job.tag_attached = 2, Field::Tag),
        (|job| job.key = &raw const table(Mode::Gcm)[0], Field::Key),
    ];
    for (spoil, field) in cases {
        let error = refused(spoil);
        assert_eq!((error.message, error.field), (Some(1), field), "{error}");
    }
}

#[test]
fn nothing_may_be_null() {
    let key = &table(Mode::Gcm)[0];
    let (nonce, mut tags) = ([0; 12], [[0; 16]; 2]);
    let mut jobs = tags.each_mut().map(|tag| Job {
        nonce: nonce.as_ptr(),
        nonce_len: 12,
        tag: tag.as_mut_ptr(),
        tag_len: 16,
        ..Job::default()
    });
    // SAFETY: see above.
    let mut batch = unsafe { Jobs::new(jobs.as_mut_ptr(), 2) };
    Comb::new().seal(key, &mut batch).expect("empty messages");
    let mut tag = [0; 16];
    key.seal_in_place(&nonce, &[], &mut [], &mut tag)
        .expect("one");
    assert_eq!(tags, [tag; 2]);
}

#[test]
fn a_job_without_a_key_of_its_own() {
    let mode = Mode::Cmac;
    let mut tags = [[0; 16]; 3];
    let mut jobs = tags.each_mut().map(|tag| Job {
        tag: tag.as_mut_ptr(),
        tag_len: 16,
        key: &table(mode)[0],
        ..Job::default()
    });
    jobs[2].key = std::ptr::null();
    // SAFETY: see above.
    let mut batch = unsafe { Jobs::new(jobs.as_mut_ptr(), 3) };
    let error = Comb::new()
        .mac(Keys::<Cmac>::of_messages(), &mut batch)
        .expect_err("no key");
    assert_eq!((error.message, error.field), (Some(2), Field::Key));
    assert_eq!(tags, [[0; 16]; 3]);
    // SAFETY: as above, of none.
    let mut none = unsafe { Jobs::new(std::ptr::null_mut(), 0) };
    assert!(
        Comb::new()
            .mac(Keys::<Cmac>::of_messages(), &mut none)
            .is_ok()
    );
}

/// A team does jobs under the keys that one scheduler does them under.
#[cfg(feature = "threads")]
#[test]
fn jobs_of_a_team() {
    const LEN: usize = 24 << 10;
    let keys: Vec<_> = (0..300u32)
        .map(|i| {
            aescomb::AnyKey::for_mode(Mode::Ctr, &[i.to_le_bytes(); 4].concat()).expect("a key")
        })
        .collect();
    let mut sealed = Vec::new();
    for (threads, own) in [(1, false), (3, false), (3, true), (1, true)] {
        let mut texts = vec![vec![7; LEN]; keys.len()];
        let nonce = [5; 16];
        let mut jobs: Vec<Job> = texts
            .iter_mut()
            .zip(&keys)
            .map(|(text, key)| Job {
                src: text.as_ptr(),
                src_len: LEN,
                dst: text.as_mut_ptr(),
                dst_len: LEN,
                nonce: nonce.as_ptr(),
                nonce_len: 16,
                key: if own { key } else { std::ptr::null() },
                ..Job::default()
            })
            .collect();
        // SAFETY: see above.
        let mut batch = unsafe { Jobs::new(jobs.as_mut_ptr(), jobs.len()) };
        let mut team = aescomb::Team::new((0..threads).map(|_| Comb::new()));
        let given = match own {
            true => Keys::of_messages(),
            false => Keys::from(&keys),
        };
        team.encrypt(given, &mut batch).expect("good jobs");
        sealed.push(texts);
    }
    assert!(sealed.iter().all(|texts| *texts == sealed[0]));
    let mut first = vec![7; LEN];
    keys[299]
        .encrypt_in_place(&[5; 16], &mut first)
        .expect("a text");
    assert!(sealed[0][299] == first);
}

#[test]
fn a_call_that_is_refused_says_so_of_all() {
    let mut tags = [[0; 16]; 3];
    let mut jobs = tags.each_mut().map(|tag| Job {
        tag: tag.as_mut_ptr(),
        tag_len: 16,
        ..Job::default()
    });
    // SAFETY: see above.
    let mut batch = unsafe { Jobs::new(jobs.as_mut_ptr(), 3) };
    let keys = &table(Mode::Cmac)[0];
    Comb::new().mac(keys, &mut batch).expect("good jobs");
    let error = Comb::new().run(Op::Seal, keys, &mut batch);
    error.expect_err("no such operation");
    assert!(jobs.iter().all(|job| outcome(job) == (Status::Pending, 0)));
}
