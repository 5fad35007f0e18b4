//! Batches in structs of the caller's own do what slices of messages do.
//!
//! `unsafe` here rests on one fact: the parts of a [`Frame`] are vectors of its own, which
//! stay where they are while it is described.
#![allow(unsafe_code)]

mod common;

use aescomb::{Comb, Described, Error, Field, Foreign, Keys, Lengths, Message, Op, Status, Text};
use common::{Sample, Shapes, call, ops, refs, sample, table};
use std::sync::Arc;

/// A message in a struct of our own.
struct Frame {
    sample: Arc<Sample>,
    text: *mut u8,
    len: usize,
    room: usize,
    tag: *mut u8,
    outcome: (Status, usize),
}

struct Frames<'f>(&'f mut [Frame]);

/// Bytes of tag at the end of every sealed text; none for a tag beside it.
struct Appended<'f>(Frames<'f>);

// SAFETY: texts and tags lie in vectors that live longer; reports change nothing of them.
unsafe impl Foreign for Frames<'_> {
    fn count(&self) -> usize {
        self.0.len()
    }

    fn message(&self, i: usize) -> Message<'_> {
        let frame = &self.0[i];
        let sample = &*frame.sample;
        // SAFETY: they are places in vectors that nobody else uses meanwhile.
        let (text, tag) = unsafe {
            (
                Text::from_raw(frame.text, frame.len, frame.text, frame.room),
                std::slice::from_raw_parts_mut(frame.tag, sample.tag.len()),
            )
        };
        let message = Message::new(text)
            .nonce(&sample.nonce)
            .opened_len(sample.plain.len())
            .key(sample.key)
            .tag(tag);
        match &sample.data[..] {
            [] => message,
            [one, ..] => message.associated_data(one),
        }
    }

    fn report(&mut self, i: usize, status: Status, written: usize) {
        self.0[i].outcome = (status, written);
    }
}

// SAFETY: as above.
unsafe impl Foreign for Appended<'_> {
    fn count(&self) -> usize {
        self.0.count()
    }

    fn message(&self, i: usize) -> Message<'_> {
        let tag = self.0.0[i].sample.tag.len();
        self.0.message(i).tag_appended(tag)
    }

    fn report(&mut self, i: usize, status: Status, written: usize) {
        self.0.report(i, status, written);
    }
}

#[test]
fn every_mode() {
    for mode in aescomb::Mode::ALL {
        for op in ops(*mode) {
            for keys in [
                Keys::Shared(&table(*mode)[0]),
                Keys::Table(table(*mode)),
                Keys::Refs(refs(*mode)),
            ] {
                for appended in [false, true] {
                    if appended && !matches!(op, Op::Seal | Op::Open) {
                        continue;
                    }
                    run(*mode, op, keys, appended);
                }
            }
        }
    }
}

fn run(mode: aescomb::Mode, op: Op, keys: Keys<'_>, appended: bool) {
    let about = format!("{mode} {} {keys:?} appended={appended}", op.name());
    let shared = matches!(keys, Keys::Shared(_));
    let back = matches!(op, Op::Decrypt | Op::Open);
    let mut samples: Vec<Arc<Sample>> = (0..40)
        .map(|i| {
            let key = if shared { 0 } else { i as u32 % 33 };
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
            if appended && back {
                text.extend(&s.tag);
            }
            text
        })
        .collect();
    let lens: Vec<usize> = texts.iter().map(Vec::len).collect();
    for (text, s) in texts.iter_mut().zip(&samples) {
        let room = s.sealed.len() + if appended { s.tag.len() } else { 0 };
        text.resize(room.max(text.len()), 0);
    }
    let mut tags: Vec<Vec<u8>> = samples.iter().map(|s| s.tag.clone()).collect();
    if matches!(op, Op::Seal | Op::Mac) {
        tags.iter_mut().for_each(|tag| tag.fill(0));
    }
    let mut frames: Vec<Frame> = (0..samples.len())
        .map(|i| Frame {
            sample: samples[i].clone(),
            text: texts[i].as_mut_ptr(),
            len: lens[i],
            room: texts[i].len(),
            tag: tags[i].as_mut_ptr(),
            outcome: (Status::Pending, 0),
        })
        .collect();
    let mut comb = Comb::new();
    let verdict = match appended {
        true => call(
            &mut comb,
            op,
            keys,
            &mut Described(Appended(Frames(&mut frames))),
        ),
        false => call(&mut comb, op, keys, &mut Described(Frames(&mut frames))),
    };
    let failed = samples.iter().filter(|s| s.verdict != Status::Done).count();
    assert_eq!(verdict.expect(&about).failed, failed, "{about}");
    for (i, s) in samples.iter().enumerate() {
        let (status, written) = frames[i].outcome;
        let want = match op {
            Op::Mac | Op::Verify => Vec::new(),
            _ if back && s.verdict != Status::Done => Vec::new(),
            _ if back => s.plain.clone(),
            _ if appended => [&s.sealed[..], &s.tag].concat(),
            _ => s.sealed.clone(),
        };
        let verdict = match op {
            Op::Open | Op::Verify => s.verdict,
            _ => Status::Done,
        };
        assert_eq!(status, verdict, "{about}, message {i}");
        assert_eq!(texts[i][..written], want, "{about}, message {i}");
        if !appended {
            assert_eq!(tags[i], s.tag, "{about}, message {i}");
        }
    }
}

#[test]
fn a_refused_batch_is_pending() {
    let mode = aescomb::Mode::Gcm;
    assert_eq!(mode.info().lengths, Lengths::AnyLength);
    let shape = common::Shape::usual(mode);
    let good = sample(mode, 0, 0, shape, 40);
    let mut bad = (*good).clone();
    bad.nonce.clear();
    let samples = [good.clone(), Arc::new(bad)];
    let mut texts = vec![good.plain.clone(); 2];
    let mut tags = vec![good.tag.clone(); 2];
    let parts = samples.iter().zip(&mut texts).zip(&mut tags);
    let mut frames: Vec<Frame> = parts
        .map(|((sample, text), tag)| Frame {
            sample: sample.clone(),
            text: text.as_mut_ptr(),
            len: text.len(),
            room: text.len(),
            tag: tag.as_mut_ptr(),
            outcome: (Status::Done, 1),
        })
        .collect();
    let key = &table(mode)[0];
    let refused = Comb::new().seal(key, &mut Described(Frames(&mut frames)));
    let Error { message, field, .. } = refused.expect_err("no nonce");
    assert_eq!((message, field), (Some(1), Field::NonceLength));
    for frame in &frames {
        assert_eq!(frame.outcome, (Status::Pending, 0));
    }
    assert!(
        texts.iter().all(|text| *text == good.plain),
        "a text changed"
    );
}
