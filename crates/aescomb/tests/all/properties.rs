//! Properties of random batches.

use crate::common::{
    self, Call, CallKeys, Form, Heap, Sample, Shape, Shapes, alone, check, comb, fit, ops, raw_key,
    run, table, works_with,
};
use aescomb::{AnyKey, Backend, Comb, Kind, Lengths, Mode, Op, Status};
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
    /// Of the forms that the batch can have.
    form: Index,
    spare: usize,
    attached: bool,
}

impl Way {
    fn comb(&self) -> Comb {
        comb(
            self.backend,
            1 + self.degree.index(self.backend.max_lanes()),
        )
    }

    fn call<'k>(&self, op: Op, keys: CallKeys<'k>, samples: &[Arc<Sample>]) -> Call<'k> {
        Call {
            spare: self.spare,
            attached: self.attached,
            ..Call::new(op, keys, *self.form.get(works_with(samples)))
        }
    }
}

fn way() -> impl Strategy<Value = Way> {
    let backends: Vec<_> = common::backends().collect();
    (
        select(backends),
        any::<Index>(),
        any::<Index>(),
        prop_oneof![Just(0), 0..50usize],
        any::<bool>(),
    )
        .prop_map(|(backend, degree, form, spare, attached)| Way {
            backend,
            degree,
            form,
            spare,
            attached,
        })
}

/// Messages with random contents and keys of a table; a third of the batches
/// under one key, half of them with nonces and tags of one length.
#[derive(Clone, Debug)]
struct Messages {
    mode: Mode,
    shared: Option<u32>,
    shapes: Shapes,
    parts: Vec<Parts>,
}

#[derive(Clone, Debug)]
struct Parts {
    key: u32,
    /// What nonce and associated data are made from.
    seed: u64,
    text: Vec<u8>,
}

impl Messages {
    fn keys(&self) -> CallKeys<'static> {
        match self.shared {
            Some(i) => CallKeys::from(&table(self.mode)[i as usize]),
            None => CallKeys::from(table(self.mode)),
        }
    }

    /// Sealed by the oracle.
    fn samples(&self) -> Vec<Arc<Sample>> {
        let seal = |(i, Parts { key, seed, text }): (usize, &Parts)| {
            let shape = self.shapes.get(self.mode, i);
            let mut draw = common::Draw::new(*seed);
            let mut bytes = |n| (0..n).map(|_| draw.next() as u8).collect::<Vec<_>>();
            let nonce = bytes(shape.nonce);
            let data = (0..shape.components)
                .map(|i| match (*seed as usize + i) % 8 {
                    0 => bytes(0),
                    1 => bytes(16),
                    2 if i == 0 => bytes(*seed as usize % 2000),
                    n => bytes(*seed as usize % (20 * n)),
                })
                .collect();
            let sample = Sample::new(*key, nonce, data, text.clone(), shape.tag);
            Arc::new(sample.seal(self.mode, &raw_key(self.mode, *key as usize)))
        };
        self.parts.iter().enumerate().map(seal).collect()
    }
}

fn text(mode: Mode) -> impl Strategy<Value = Vec<u8>> {
    let len = prop_oneof![6 => 0..100usize, 2 => 0..700usize, 1 => Just(4200usize)];
    (len, any::<u64>()).prop_map(move |(len, seed)| {
        let mut draw = common::Draw::new(seed);
        let len = fit(mode, len);
        (0..len).map(|_| draw.next() as u8).collect()
    })
}

fn messages_of(modes: Vec<Mode>, least: usize) -> impl Strategy<Value = Messages> {
    let shared = prop_oneof![2 => Just(None), 1 => (0..3u32).prop_map(Some)];
    let shapes = prop_oneof![
        Just(Shapes::Mixed),
        (0..Shape::COUNT).prop_map(Shapes::Alike)
    ];
    (select(modes), shared, shapes).prop_flat_map(move |(mode, shared, shapes)| {
        let key = match shared {
            Some(i) => i..i + 1,
            None => 0..common::KEYS as u32,
        };
        let part = (key, any::<u64>(), text(mode));
        let part = part.prop_map(|(key, seed, text)| Parts { key, seed, text });
        prop::collection::vec(part, least..40).prop_map(move |parts| Messages {
            mode,
            shared,
            shapes,
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
    #![proptest_config(config(256))]

    /// A batch gives what its messages give one by one, in batches of one and in the
    /// calls of a key.
    #[test]
    fn batch_is_one_by_one(messages in messages(0), way in way(), single in way(), second: bool) {
        let heap = Heap::new(None);
        let op = ops(messages.mode)[usize::from(second)];
        let samples = messages.samples();
        let call = way.call(op, messages.keys(), &samples);
        let together = check(&mut way.comb(), &heap, &call, &samples);
        let mut comb = single.comb();
        for (sample, together) in samples.iter().zip(together) {
            let one = std::slice::from_ref(sample);
            let call = single.call(op, messages.keys(), one);
            let apart = check(&mut comb, &heap, &call, one);
            prop_assert_eq!(&apart[0], &together);
            // These give one component always.
            if sample.data.len() == messages.mode.info().data_components.min(1) {
                alone(&heap, &table(messages.mode)[sample.key as usize], sample);
            }
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
        let heap = Heap::new(None);
        let samples = messages.samples();
        let shuffled: Vec<_> = order.iter().map(|i| samples[*i].clone()).collect();
        let op = ops(messages.mode)[usize::from(second)];
        let call = way.call(op, messages.keys(), &samples);
        let mut comb = way.comb();
        let before = check(&mut comb, &heap, &call, &samples);
        let after = check(&mut comb, &heap, &call, &shuffled);
        for (place, i) in order.iter().enumerate() {
            prop_assert_eq!(&after[place], &before[*i]);
        }
    }

    /// What was encrypted or sealed comes back, on the same backend and on another.
    #[test]
    fn the_second_operation_undoes_the_first(
        messages in messages_of(modes_with(|m| m.info().kind != Kind::Mac), 0),
        one in way(),
        other in way(),
    ) {
        let heap = Heap::new(None);
        let samples = messages.samples();
        let [there, back] = ops(messages.mode);
        let call = one.call(there, messages.keys(), &samples);
        let sealed = run(&mut one.comb(), &heap, &call, &samples).expect("a good batch");
        // What was made here, not by the oracle.
        let sealed: Vec<_> = samples.iter().zip(sealed).map(|(sample, outcome)| {
            let mut sample = (**sample).clone();
            (sample.sealed, sample.tag) = (outcome.output, outcome.tag);
            Arc::new(sample)
        }).collect();
        let call = other.call(back, messages.keys(), &sealed);
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
        let op = ops(messages.mode)[usize::from(second)];
        let call = way.call(op, messages.keys(), &samples);
        let mut outcomes = Vec::new();
        for backend in common::backends() {
            let mut comb = Way { backend, ..way.clone() }.comb();
            outcomes.push(run(&mut comb, &heap, &call, &samples).expect("a good batch"));
        }
        prop_assert!(outcomes.windows(2).all(|pair| pair[0] == pair[1]));
    }

    /// A good tag of any length is accepted; after any bit of a nonce, of associated
    /// data, of a text or of a tag has flipped, that message fails and no other.
    #[test]
    fn any_flipped_bit_is_found(
        messages in messages_of(modes_with(|m| m.info().kind != Kind::Cipher), 1),
        flips in prop::collection::vec((any::<Index>(), any::<Index>(), any::<Index>()), 0..6),
        way in way(),
    ) {
        let heap = Heap::new(None);
        let mut samples = messages.samples();
        let [_, op] = ops(messages.mode);
        let call = way.call(op, messages.keys(), &samples);
        let mut comb = way.comb();
        check(&mut comb, &heap, &call, &samples);
        for (which, part, bit) in flips {
            let sample = Arc::make_mut(which.get_mut(&mut samples[..]));
            if std::mem::replace(&mut sample.verdict, Status::BadTag) == Status::BadTag {
                continue;
            }
            let text = match op {
                Op::Open => &mut sample.sealed,
                _ => &mut sample.plain,
            };
            let mut parts = vec![&mut sample.nonce, text, &mut sample.tag];
            parts.extend(&mut sample.data);
            parts.retain(|part| !part.is_empty());
            let bytes = part.get_mut(&mut parts[..]);
            let bit = bit.index(bytes.len() * 8);
            bytes[bit / 8] ^= 1 << (bit % 8);
        }
        // The check knows which are spoilt, and looks whether they are wiped.
        check(&mut comb, &heap, &call, &samples);
    }

    /// A batch with a mistake in it is refused before any message is touched;
    /// `run` sees to that.
    #[test]
    fn refused_batches_are_untouched(
        messages in messages(1),
        way in way(),
        second: bool,
        which: Index,
        kind in 0..5,
    ) {
        let heap = Heap::new(None);
        let mode = messages.mode;
        let op = ops(mode)[usize::from(second)];
        let mut samples = messages.samples();
        let i = which.index(samples.len());
        let mut sample = (*samples[i]).clone();
        let mut call = way.call(op, messages.keys(), &samples);
        match kind {
            0 if mode.info().lengths == Lengths::WholeBlocks => {
                sample.plain.push(1);
                sample.sealed.push(1);
            }
            1 if sample.nonce.len() == mode.info().nonce_bytes.1 => {
                sample.nonce.push(1);
                call.form = Form::Copy;
            }
            2 if !mode.info().tag_bytes.is_empty() && !call.attached => {
                sample.tag = vec![1; mode.info().longest_tag() + 1];
                call.form = Form::CopyUninit;
            }
            3 => {
                sample.data = vec![vec![1; 3]; mode.info().data_components + 1];
                call.form = Form::InPlace;
            }
            _ => {
                sample.key = common::KEYS as u32;
                call.keys = CallKeys::from(table(mode));
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
        raw in prop::collection::vec((any::<Index>(), any::<[[u8; 32]; 2]>()), 0..50),
        before in 0..50usize,
        way in way(),
    ) {
        let raw: Vec<_> = raw.iter().map(|(len, raw)| {
            &raw.as_flattened()[..*len.get(mode.info().key_bytes)]
        }).collect();
        let old = vec![[1; 16]; before];
        let mut table = Vec::new();
        AnyKey::expand_many_with(way.backend, Mode::Cbc, &old, &mut table).expect("good keys");
        AnyKey::expand_many_with(way.backend, mode, &raw, &mut table).expect("good keys");
        prop_assert_eq!(table.len(), raw.len());
        let heap = Heap::new(None);
        let samples: Vec<_> = raw.iter().enumerate().map(|(i, raw)| {
            let shape = Shape::usual(mode);
            let (nonce, data) = (common::nonce(mode, i), common::data(shape.components, i));
            let text = common::paint(fit(mode, 40), i);
            Arc::new(Sample::new(i as u32, nonce, data, text, shape.tag).seal(mode, raw))
        }).collect();
        if samples.is_empty() {
            return Ok(());
        }
        for op in ops(mode) {
            let call = way.call(op, CallKeys::from(&table), &samples);
            check(&mut way.comb(), &heap, &call, &samples);
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
    #![proptest_config(config(256))]

    /// A message with invalid padding fails, the others are unharmed; the oracle
    /// says which. `check` sees that it is wiped.
    #[test]
    fn bad_padding_fails_that_message_only(spoilt in spoilt(), way in way()) {
        let mode = spoilt.messages.mode;
        let unpadded = mode.name().strip_suffix("-pkcs7").expect("the name of a padded mode");
        let mut samples = spoilt.messages.samples();
        for (sample, end) in samples.iter_mut().zip(&spoilt.ends) {
            let sample = Arc::make_mut(sample);
            let raw = raw_key(mode, sample.key as usize);
            if let Some(end) = end {
                let whole = sample.plain.len() / 16 * 16;
                let text = [&sample.plain[..whole], end].concat();
                sample.sealed = aescomb_ref::encrypt(unpadded, &raw, &sample.nonce, &text)
                    .expect("a good message");
            }
            match aescomb_ref::decrypt(mode.name(), &raw, &sample.nonce, &sample.sealed) {
                Some(plain) => sample.plain = plain,
                None => sample.verdict = Status::BadPadding,
            }
        }
        let call = way.call(Op::Decrypt, spoilt.messages.keys(), &samples);
        check(&mut way.comb(), &Heap::new(None), &call, &samples);
    }
}
