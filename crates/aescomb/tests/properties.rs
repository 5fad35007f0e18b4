//! Properties of random batches.

mod common;

use aescomb::{Backend, Comb, Key, Keys, Kind, Lengths, Mode, Op, Status};
use common::{Call, Form, Heap, Sample, check, comb, fit, ops, raw_key, run, table};
use proptest::prelude::*;
use proptest::sample::{Index, select};
use proptest::test_runner::FileFailurePersistence;
use std::sync::Arc;

fn config(cases: u32) -> ProptestConfig {
    let file = FileFailurePersistence::Direct("tests/properties.proptest-regressions");
    ProptestConfig {
        failure_persistence: Some(Box::new(file)),
        ..ProptestConfig::with_cases(cases)
    }
}

/// What a call goes through, but for its mode and batch.
#[derive(Clone, Debug)]
struct Way {
    backend: Backend,
    degree: Index,
    form: Form,
    spare: usize,
    tag: usize,
}

impl Way {
    fn comb(&self) -> Comb {
        comb(
            self.backend,
            1 + self.degree.index(self.backend.max_lanes()),
        )
    }

    fn call<'k>(&self, op: Op, keys: Keys<'k>) -> Call<'k> {
        Call {
            op,
            keys,
            form: self.form,
            spare: self.spare,
            tag: self.tag,
        }
    }
}

fn way() -> impl Strategy<Value = Way> {
    let backends: Vec<_> = common::backends().collect();
    (
        select(backends),
        any::<Index>(),
        select(&Form::ALL[..]),
        prop_oneof![Just(0), 0..50usize],
        0..13usize,
    )
        .prop_map(|(backend, degree, form, spare, tag)| Way {
            backend,
            degree,
            form,
            spare,
            tag,
        })
}

/// Messages with random contents and keys of a table; a third of the batches
/// under one key.
#[derive(Clone, Debug)]
struct Messages {
    mode: Mode,
    shared: Option<u32>,
    /// Key, nonce and text of each.
    parts: Vec<(u32, Vec<u8>, Vec<u8>)>,
}

impl Messages {
    fn keys(&self) -> Keys<'static> {
        match self.shared {
            Some(i) => Keys::Shared(&table(self.mode)[i as usize]),
            None => Keys::Table(table(self.mode)),
        }
    }

    /// Sealed by the oracle.
    fn samples(&self) -> Vec<Arc<Sample>> {
        let seal = |(key, nonce, plain): &(u32, Vec<u8>, Vec<u8>)| {
            let raw = raw_key(*key as usize);
            Sample::seal(self.mode, *key, &raw, nonce.clone(), plain.clone())
        };
        self.parts
            .iter()
            .map(|parts| Arc::new(seal(parts)))
            .collect()
    }
}

fn text(mode: Mode) -> impl Strategy<Value = Vec<u8>> {
    let len = prop_oneof![6 => 0..100usize, 2 => 0..700usize, 1 => Just(4200usize)];
    (len, any::<u64>()).prop_map(move |(len, seed)| {
        let mut draw = common::Draw::new(seed);
        (0..fit(mode, len)).map(|_| draw.next() as u8).collect()
    })
}

fn messages_of(modes: Vec<Mode>, least: usize) -> impl Strategy<Value = Messages> {
    let shared = prop_oneof![2 => Just(None), 1 => (0..3u32).prop_map(Some)];
    (select(modes), shared).prop_flat_map(move |(mode, shared)| {
        let key = match shared {
            Some(i) => i..i + 1,
            None => 0..common::KEYS as u32,
        };
        let nonce = prop::collection::vec(any::<u8>(), mode.info().nonce_bytes);
        let parts = prop::collection::vec((key, nonce, text(mode)), least..40);
        parts.prop_map(move |parts| Messages {
            mode,
            shared,
            parts,
        })
    })
}

fn messages(least: usize) -> impl Strategy<Value = Messages> {
    messages_of(Mode::ALL.to_vec(), least)
}

fn modes_with(f: impl Fn(Mode) -> bool) -> Vec<Mode> {
    Mode::ALL.iter().copied().filter(|mode| f(*mode)).collect()
}

proptest! {
    #![proptest_config(config(96))]

    /// A batch gives what its messages give one by one.
    #[test]
    fn batch_is_one_by_one(messages in messages(0), way in way(), single in way(), second: bool) {
        let heap = Heap::new(None);
        let op = ops(messages.mode)[usize::from(second)];
        let samples = messages.samples();
        let call = way.call(op, messages.keys());
        let together = check(&mut way.comb(), &heap, &call, &samples);
        let mut comb = single.comb();
        for (sample, together) in samples.iter().zip(together) {
            let call = Call { form: single.form, ..call };
            let alone = check(&mut comb, &heap, &call, std::slice::from_ref(sample));
            prop_assert_eq!(&alone[0].output, &together.output);
        }
    }

    /// The order of the messages makes no difference to any of them.
    #[test]
    fn any_order(
        (messages, order) in messages(1).prop_flat_map(|m| {
            let order: Vec<_> = (0..m.parts.len()).collect();
            (Just(m), Just(order).prop_shuffle())
        }),
        way in way(),
        second: bool,
    ) {
        // Tags of one length.
        let way = Way { form: Form::Slots, ..way };
        let heap = Heap::new(None);
        let samples = messages.samples();
        let shuffled: Vec<_> = order.iter().map(|i| samples[*i].clone()).collect();
        let call = way.call(ops(messages.mode)[usize::from(second)], messages.keys());
        let mut comb = way.comb();
        let before = check(&mut comb, &heap, &call, &samples);
        let after = check(&mut comb, &heap, &call, &shuffled);
        for (place, i) in order.iter().enumerate() {
            prop_assert_eq!(&after[place], &before[*i]);
        }
    }

    /// Decryption undoes encryption, on the same backend and on another.
    #[test]
    fn decrypt_undoes_encrypt(
        messages in messages_of(modes_with(|m| m.info().kind == Kind::Cipher), 0),
        one in way(),
        other in way(),
    ) {
        let heap = Heap::new(None);
        let samples = messages.samples();
        let call = one.call(Op::Encrypt, messages.keys());
        let sealed = run(&mut one.comb(), &heap, &call, &samples).expect("a good batch");
        // What was encrypted here, not by the oracle.
        let sealed: Vec<_> = samples.iter().zip(sealed).map(|(sample, outcome)| {
            let mut sample = (**sample).clone();
            sample.sealed = outcome.output;
            Arc::new(sample)
        }).collect();
        let call = other.call(Op::Decrypt, messages.keys());
        let opened = run(&mut other.comb(), &heap, &call, &sealed).expect("a good batch");
        for (opened, sample) in opened.iter().zip(&samples) {
            prop_assert_eq!(opened.status, Status::Done);
            prop_assert_eq!(&opened.output, &sample.plain);
        }
    }

    /// All backends give the same.
    #[test]
    fn backends_agree(messages in messages(1), way in way(), second: bool) {
        let heap = Heap::new(None);
        let samples = messages.samples();
        let call = way.call(ops(messages.mode)[usize::from(second)], messages.keys());
        let mut outcomes = Vec::new();
        for backend in common::backends() {
            let mut comb = Way { backend, ..way.clone() }.comb();
            outcomes.push(run(&mut comb, &heap, &call, &samples).expect("a good batch"));
        }
        prop_assert!(outcomes.windows(2).all(|pair| pair[0] == pair[1]));
    }

    /// A good tag of any length is accepted; after any bit of a text or tag has
    /// flipped, that message fails and no other.
    #[test]
    fn verify_finds_any_flipped_bit(
        messages in messages_of(modes_with(|m| m.info().kind == Kind::Mac), 1),
        flips in prop::collection::vec((any::<Index>(), any::<Index>(), any::<bool>()), 0..6),
        way in way(),
    ) {
        let heap = Heap::new(None);
        let mut samples = messages.samples();
        let call = way.call(Op::Verify, messages.keys());
        let mut comb = way.comb();
        check(&mut comb, &heap, &call, &samples);
        let packed = !matches!(way.form, Form::InPlace | Form::Copy | Form::CopyUninit);
        let (least, most) = messages.mode.info().tag_bytes;
        let mut bad = vec![false; samples.len()];
        for (which, bit, in_text) in flips {
            let i = which.index(samples.len());
            if std::mem::replace(&mut bad[i], true) {
                continue;
            }
            let mut sample = (*samples[i]).clone();
            // A bit of the tag as far as it is given.
            let tag_len = least + (way.tag + if packed { 0 } else { i * 5 }) % (most - least + 1);
            let bytes = match in_text && !sample.plain.is_empty() {
                true => &mut sample.plain[..],
                false => &mut sample.sealed[..tag_len],
            };
            let bit = bit.index(bytes.len() * 8);
            bytes[bit / 8] ^= 1 << (bit % 8);
            samples[i] = Arc::new(sample);
        }
        let outcomes = run(&mut comb, &heap, &call, &samples).expect("a good batch");
        for (i, outcome) in outcomes.iter().enumerate() {
            let status = if bad[i] { Status::BadTag } else { Status::Done };
            prop_assert_eq!(outcome.status, status, "message {}", i);
        }
    }

    /// A batch with a mistake in it is refused before any message is touched;
    /// `run` sees to that.
    #[test]
    fn refused_batches_are_untouched(
        messages in messages(1),
        way in way(),
        second: bool,
        which: Index,
        kind in 0..3,
    ) {
        let heap = Heap::new(None);
        let mode = messages.mode;
        let op = ops(mode)[usize::from(second)];
        let mut samples = messages.samples();
        let i = which.index(samples.len());
        let mut sample = (*samples[i]).clone();
        let mut call = way.call(op, messages.keys());
        match kind {
            0 if mode.info().lengths == Lengths::WholeBlocks => {
                sample.plain.push(1);
                sample.sealed.push(1);
            }
            1 => {
                sample.nonce.push(1);
                call.form = Form::Copy;
            }
            _ => {
                sample.key = common::KEYS as u32;
                call.keys = Keys::Table(table(mode));
            }
        }
        samples[i] = Arc::new(sample);
        let error = run(&mut way.comb(), &heap, &call, &samples).expect_err("a mistake");
        prop_assert_eq!(error.message, Some(i));
    }

    /// A table made at once holds the keys that are made one by one.
    #[test]
    fn key_tables(
        mode in select(Mode::ALL),
        raw in prop::collection::vec((select(&[16, 24, 32][..]), any::<[u8; 32]>()), 0..50),
        before in 0..50usize,
        way in way(),
    ) {
        let raw: Vec<_> = raw.iter().map(|(len, raw)| &raw[..*len]).collect();
        let old = vec![[1; 16]; before];
        let mut table = Vec::new();
        Key::expand_many_with(way.backend, Mode::Cbc, &old, &mut table).expect("good keys");
        Key::expand_many_with(way.backend, mode, &raw, &mut table).expect("good keys");
        prop_assert_eq!(table.len(), raw.len());
        let heap = Heap::new(None);
        let samples: Vec<_> = raw.iter().enumerate().map(|(i, raw)| {
            let (nonce, text) = (common::nonce(mode, i), common::paint(fit(mode, 40), i));
            Arc::new(Sample::seal(mode, i as u32, raw, nonce, text))
        }).collect();
        if samples.is_empty() {
            return Ok(());
        }
        for op in ops(mode) {
            check(&mut way.comb(), &heap, &way.call(op, Keys::from(&table)), &samples);
        }
    }
}

/// Padded messages of which some end in other bytes than padding.
#[derive(Clone, Debug)]
struct Spoilt {
    messages: Messages,
    /// The last bytes of each plaintext block, instead of padding.
    ends: Vec<Option<[u8; 16]>>,
}

fn spoilt() -> impl Strategy<Value = Spoilt> {
    let padded = modes_with(|m| m.info().lengths == Lengths::Padded);
    let end = any::<[u8; 16]>();
    let pad = (0..=18u8, 0..16usize, any::<u8>()).prop_map(|(n, at, byte)| {
        // Nearly a padding of n bytes.
        let mut end = [byte; 16];
        end[16 - usize::from(n.min(16))..].fill(n);
        end[15] = n;
        end[at] ^= byte & 0x11;
        end
    });
    let end = prop_oneof![4 => Just(None), 1 => end.prop_map(Some), 5 => pad.prop_map(Some)];
    messages_of(padded, 1).prop_flat_map(move |messages| {
        let ends = prop::collection::vec(end.clone(), messages.parts.len());
        (Just(messages), ends).prop_map(|(messages, ends)| Spoilt { messages, ends })
    })
}

proptest! {
    #![proptest_config(config(96))]

    /// A message whose padding is none fails, the others are unharmed; the oracle
    /// says which. `run` sees that it is wiped.
    #[test]
    fn bad_padding_fails_that_message_only(spoilt in spoilt(), way in way()) {
        let mode = spoilt.messages.mode;
        let unpadded = mode.name().strip_suffix("-pkcs7").expect("the name of a padded mode");
        let mut samples = spoilt.messages.samples();
        let mut want = Vec::new();
        for (sample, end) in samples.iter_mut().zip(&spoilt.ends) {
            let sample = Arc::make_mut(sample);
            let raw = raw_key(sample.key as usize);
            if let Some(end) = end {
                let whole = sample.plain.len() / 16 * 16;
                let text = [&sample.plain[..whole], end].concat();
                sample.sealed = aescomb_ref::encrypt(unpadded, &raw, &sample.nonce, &text)
                    .expect("a good message");
            }
            want.push(aescomb_ref::decrypt(mode.name(), &raw, &sample.nonce, &sample.sealed));
        }
        let call = way.call(Op::Decrypt, spoilt.messages.keys());
        let outcomes = run(&mut way.comb(), &Heap::new(None), &call, &samples).expect("a good batch");
        for (outcome, want) in outcomes.iter().zip(want) {
            let status = if want.is_some() { Status::Done } else { Status::BadPadding };
            prop_assert_eq!(outcome.status, status);
            prop_assert_eq!(&outcome.output, &want.unwrap_or_default());
        }
    }
}
