//! Everything that a call refuses: which message, which field, what was given,
//! what is allowed, how it reads, and that nothing was touched.
//!
//! `unsafe` here is [`Text::from_raw`], the only way to texts that overlap, and memory
//! that is named and never touched, for texts of gigabytes.
#![allow(unsafe_code)]

mod common;

use aescomb::{
    Algorithm, Allowed, AnyKey, Backend, Comb, Error, Field, Given, KEY_BYTES, Keys, Kind, Layout,
    Lengths, Message, MessageResult, Mode, Offset, Op, OpenError, Packed, Status, Text,
};
use common::{CANARY, KEYS, Shape, call, data, nonce, ops, paint, raw_key, refs, table};

/// A message in parts that can be spoilt.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Parts {
    src: Vec<u8>,
    /// In place if there is none.
    dst: Option<Vec<u8>>,
    nonce: Vec<u8>,
    /// Components of associated data.
    data: Vec<Vec<u8>>,
    tag: Vec<u8>,
    /// Bytes of tag at the end of the text, instead of `tag`.
    attached: Option<usize>,
    key: u32,
}

impl Parts {
    fn good(mode: Mode, op: Op, copy: bool) -> Parts {
        let info = mode.info();
        // Room enough for any padding.
        let src = paint(48, 3);
        let room = match op {
            Op::Encrypt | Op::Seal => info.encrypted_len(src.len()),
            _ => src.len(),
        };
        let grows = room > src.len();
        Parts {
            dst: (copy || grows).then(|| vec![CANARY; room]),
            src,
            nonce: nonce(mode, 0),
            data: data(Shape::usual(mode).components, 0),
            tag: vec![CANARY; info.longest_tag()],
            attached: None,
            key: 0,
        }
    }

    /// Makes a message of it, which needs a place for the list of components.
    fn message<'a>(&'a mut self, components: &'a mut Vec<&'a [u8]>) -> Message<'a> {
        components.extend(self.data.iter().map(|part| &part[..]));
        let opened = self.src.len() - self.attached.unwrap_or(0).min(self.src.len());
        let text = match &mut self.dst {
            Some(dst) => Text::copy(&self.src, dst),
            None => Text::in_place(&mut self.src),
        };
        let message = Message::new(text)
            .nonce(&self.nonce)
            .associated_data_vector(components)
            .opened_len(opened)
            .key_index(self.key);
        match self.attached {
            Some(bytes) => message.tag_attached(bytes),
            None => message.tag(&mut self.tag),
        }
    }
}

/// A batch of one that must be taken.
fn accept<'k>(mode: Mode, op: Op, keys: impl Into<Keys<'k>>, edit: impl Fn(&mut Parts)) {
    let mut parts = Parts::good(mode, op, true);
    edit(&mut parts);
    let mut components = Vec::new();
    let mut batch = [parts.message(&mut components)];
    // Whether the tag is right is another question.
    let _ = call(&mut Comb::new(), op, keys, &mut batch).expect("a good message");
    assert_ne!(batch[0].status(), Status::Pending);
}

/// An error reads as expected and contradicts itself nowhere.
fn expect(
    error: Error,
    message: Option<usize>,
    field: Field,
    given: impl Into<Given>,
    allowed: Allowed,
) {
    let given = given.into();
    let expected = (message, field, given, allowed);
    assert_eq!(
        (error.message, error.field, error.given, error.allowed),
        expected,
        "{error}"
    );
    let text = error.to_string();
    if let Some(i) = message {
        assert!(text.starts_with(&format!("message {i}: ")), "{text}");
    }
    let Given::Number(given) = given else {
        return;
    };
    let refuses = match allowed {
        Allowed::Exactly(n) => given != n,
        Allowed::OneOf(list) => !list.contains(&given),
        Allowed::Between(a, b) => given < a || given > b,
        Allowed::MultipleOf(n) => !given.is_multiple_of(n),
        Allowed::AtLeast(n) => given < n,
        Allowed::AtMost(n) => given > n,
        _ => true,
    };
    assert!(refuses, "what was given is allowed: {text}");
}

/// The mistake for which a call was refused.
fn refusal(error: OpenError) -> Error {
    match error {
        OpenError::Refused(error) => error,
        failed => panic!("{failed}"),
    }
}

/// The place of the spoilt message in its batch.
const BAD: usize = 3;

/// Spoils one message of a batch, in every form that the mode has, and returns
/// the error, having seen that nothing changed.
fn refuse<'k>(
    mode: Mode,
    op: Op,
    keys: impl Into<Keys<'k>>,
    spoil: impl Fn(&mut Parts),
) -> Vec<Error> {
    let keys = keys.into();
    let mut errors = Vec::new();
    for copy in [false, true] {
        let mut parts = vec![Parts::good(mode, op, copy); 6];
        spoil(&mut parts[BAD]);
        // One that is also bad, later: the first one counts.
        spoil(&mut parts[BAD + 1]);
        let before = parts.clone();
        let mut components = vec![Vec::new(); parts.len()];
        let mut batch: Vec<_> = parts
            .iter_mut()
            .zip(&mut components)
            .map(|(parts, components)| parts.message(components))
            .collect();
        for mut comb in [Comb::new(), common::comb(Backend::Portable, 2)] {
            let error = call(&mut comb, op, keys, &mut batch).expect_err("a bad message");
            errors.push(error);
        }
        assert_eq!(Comb::check(op, keys, &mut batch), Err(errors[0]));
        for message in &batch {
            assert_eq!(message.status(), Status::Pending);
            assert!(message.output().is_empty());
        }
        if errors[0].message.is_some() {
            // Those before it are good.
            assert_eq!(Comb::check(op, keys, &mut batch[..BAD]), Ok(()));
            assert_eq!(batch[0].status(), Status::Pending);
        }
        drop(batch);
        assert!(parts == before, "a refused call changed a byte");
    }
    errors
}

fn expect_all(errors: Vec<Error>, field: Field, given: impl Into<Given>, allowed: Allowed) {
    let given = given.into();
    for error in errors {
        expect(error, Some(BAD), field, given, allowed);
    }
}

/// Every mode and operation with its good keys: shared, and a table.
fn for_all(f: impl Fn(Mode, Op, Keys<'static>)) {
    for mode in Mode::ALL {
        for op in ops(*mode) {
            f(*mode, op, Keys::from(&table(*mode)[0]));
            f(*mode, op, Keys::from(table(*mode)));
            f(*mode, op, refs(*mode).into());
        }
    }
}

#[test]
fn key_length() {
    for mode in Mode::ALL {
        let good = mode.info().key_bytes;
        for len in (0..140).filter(|len| !good.contains(len)) {
            let error = AnyKey::for_mode(*mode, &vec![1; len]).expect_err("a bad key");
            expect(error, None, Field::KeyLength, len, Allowed::OneOf(good));
        }
    }
    let refused = |mode, len: usize| {
        let error = AnyKey::for_mode(mode, &vec![1; len]).expect_err("a bad key");
        error.to_string()
    };
    let text = "key of 17 bytes; allowed: 16, 24 or 32";
    assert_eq!(refused(Mode::Cbc, 17), text);
    // Two keys, one after the other.
    let text = "key of 16 bytes; allowed: 32 or 64";
    assert_eq!(refused(Mode::Xts, 16), text);
    let text = "key of 24 bytes; allowed: 32, 48 or 64";
    assert_eq!(refused(Mode::Siv, 24), text);
}

/// FIPS 140-3 implementation guidance C.I.
#[test]
fn equal_halves_of_an_xts_key() {
    let halves_of = |error, message, len| {
        expect(error, message, Field::KeyHalves, len, Allowed::Nothing);
    };
    for len in [16, 32] {
        let raw = [paint(len, 3), paint(len, 3)].concat();
        let error = AnyKey::for_mode(Mode::Xts, &raw).expect_err("equal halves");
        halves_of(error, None, len);
        let text = format!("key with two equal halves of {len} bytes; allowed: halves that differ");
        assert_eq!(error.to_string(), text);
        let good = [paint(len, 3), paint(len, 4)].concat();
        let mut table = Vec::new();
        let error = AnyKey::expand_many_for(Mode::Xts, &[&good, &raw], &mut table);
        halves_of(error.expect_err("equal halves"), Some(1), len);
        assert!(table.is_empty());
        // RFC 5297 has no such rule.
        assert!(AnyKey::for_mode(Mode::Siv, &raw).is_ok());
    }
}

/// A batch without messages is refused as one with messages is.
#[test]
fn empty_batches() {
    for mode in Mode::ALL {
        for op in Op::ALL {
            let good = ops(*mode).contains(&op);
            for keys in [Keys::from(&table(*mode)[0]), refs(*mode).into()] {
                let mut comb = Comb::new();
                let none = &mut [][..];
                let text = || Text::read_only(&[]);
                let mut no_offsets = Packed::new(text(), Layout::Offsets(&[0u32; 0]));
                let mut packed = Packed::new(text(), Layout::Offsets(&[0u32])).results(&mut []);
                for result in [
                    comb.run(op, keys, none),
                    comb.run(op, keys, &mut no_offsets),
                    comb.run(op, keys, &mut packed),
                ] {
                    match result {
                        Ok(()) => assert!(good),
                        Err(error) => {
                            assert!(!good, "{mode} {op:?}: {error}");
                            let allowed = Allowed::Ops(mode.info().kind.ops());
                            expect(refusal(error), None, Field::Operation, op, allowed);
                        }
                    }
                }
            }
        }
    }
    // Without messages and keys there is nothing to refuse.
    let none = &mut [][..];
    assert!(
        Comb::new()
            .run(Op::Seal, &Vec::<AnyKey>::new(), none)
            .is_ok()
    );
}

/// A destination that ends before the place of a message, also far from the first.
#[test]
fn short_destinations_with_gaps() {
    let key = &table(Mode::Ecb)[0];
    let src = paint(40 * 1000, 1);
    for n in [2, 5, 600, 1000] {
        let starts: Vec<u32> = (0..n).map(|i| i * 40).collect();
        let lengths = vec![16; n as usize];
        let (starts, lengths) = (&starts[..], &lengths[..]);
        for layout in [
            Layout::Slots { starts, lengths },
            Layout::Ring {
                stride: 40,
                lengths,
            },
        ] {
            // Room for all but the last.
            let mut dst = vec![CANARY; (n as usize - 1) * 40 - 10];
            let mut batch = Packed::new(Text::copy(&src[..n as usize * 40], &mut dst), layout);
            let error = Comb::new().encrypt(key, &mut batch).expect_err("no room");
            let last = n as usize - 1;
            expect(
                error,
                Some(last),
                Field::OutputLength,
                0,
                Allowed::AtLeast(16),
            );
            assert!(dst.iter().all(|byte| *byte == CANARY));
        }
    }
}

/// An empty vector takes associated data back that was there before.
#[test]
fn associated_data_taken_back() {
    let key = &table(Mode::Gcm)[0];
    let seal = |edit: &dyn for<'a> Fn(Message<'a>) -> Message<'a>| {
        let (mut text, mut tag) = (paint(20, 1), [0; 16]);
        let message = Message::new(Text::in_place(&mut text))
            .nonce(&[5; 12])
            .tag(&mut tag);
        let done = Comb::new().seal(key, &mut [edit(message)]);
        done.expect("a good message");
        tag
    };
    let none = seal(&|message| message);
    assert_eq!(
        seal(&|message| message.associated_data(b"x").associated_data_vector(&[])),
        none
    );
    assert_ne!(seal(&|message| message.associated_data(b"x")), none);
}

/// Tags beside the texts and after them.
#[test]
fn two_places_for_tags() {
    let src = paint(32, 1);
    let (mut dst, mut tags) = ([CANARY; 64], [CANARY; 16]);
    let mut batch = Packed::new(Text::copy(&src, &mut dst), Layout::Offsets(&[0u32, 32]))
        .output(Layout::Offsets(&[0, 64]))
        .nonces(&[5; 12], 12, 12)
        .tags(&mut tags, 16, 16)
        .tags_attached(12);
    let error = Comb::new().seal(&table(Mode::Gcm)[0], &mut batch);
    let error = error.expect_err("two places for a tag");
    expect(error, None, Field::TagLength, 16, Allowed::Nothing);
    assert_eq!((dst, tags), ([CANARY; 64], [CANARY; 16]));
}

#[test]
fn key_length_in_a_table() {
    let raw: Vec<_> = (0..20).map(|i| raw_key(Mode::Cbc, i)).collect();
    let mut made = Vec::new();
    AnyKey::expand_many_for(Mode::Ctr, &raw[..5], &mut made).expect("good keys");
    let before = format!("{made:?}");
    let mut bad = raw.clone();
    bad[17].push(0);
    bad[18].clear();
    let len = bad[17].len();
    for backend in Backend::available() {
        let error = AnyKey::expand_many_with(backend, Mode::Cbc, &bad, &mut made);
        let error = error.expect_err("a bad key");
        expect(
            error,
            Some(17),
            Field::KeyLength,
            len,
            Allowed::OneOf(KEY_BYTES),
        );
        assert_eq!(format!("{made:?}"), before, "the table changed");
    }
    // Its keys are as good as before.
    let mut data = paint(40, 1);
    made[1]
        .encrypt_in_place(&[7; 16], &mut data)
        .expect("a good message");
    let want = aescomb_ref::encrypt("ctr", &raw[1], &[7; 16], &paint(40, 1));
    assert_eq!(Some(data), want);
}

#[test]
fn key_index() {
    for mode in Mode::ALL {
        for op in ops(*mode) {
            for index in [KEYS as u32, 34, 1000, u32::MAX] {
                let spoil = |m: &mut Parts| m.key = index;
                let mut errors = refuse(*mode, op, table(*mode), spoil);
                errors.extend(refuse(*mode, op, refs(*mode), spoil));
                expect_all(
                    errors,
                    Field::KeyIndex,
                    index as usize,
                    Allowed::AtMost(KEYS - 1),
                );
            }
            // A shared key asks for no index.
            accept(*mode, op, &table(*mode)[1], |m| m.key = 77);
        }
    }
    let errors = refuse(Mode::Ofb, Op::Encrypt, table(Mode::Ofb), |m| m.key = 33);
    assert_eq!(
        errors[0].to_string(),
        "message 3: key index 33; allowed: at most 32"
    );
}

#[test]
fn key_of_another_mode() {
    for (at, mode) in Mode::ALL.iter().enumerate() {
        let other = Mode::ALL[(at + 1) % Mode::ALL.len()];
        let mixed = [table(*mode)[0].clone(), table(other)[0].clone()];
        for op in ops(*mode) {
            let mut errors = refuse(*mode, op, &mixed[..], |m| m.key = 1);
            errors.extend(refuse(*mode, op, &mixed.each_ref()[..], |m| m.key = 1));
            expect_all(errors, Field::KeyMode, other, Allowed::Mode(*mode));
            // A key that no message uses may be anything.
            accept(*mode, op, &mixed[..], |_| ());
        }
    }
    let mixed =
        [Mode::Cbc, Mode::Ctr].map(|mode| AnyKey::for_mode(mode, &[1; 16]).expect("a good key"));
    let errors = refuse(Mode::Cbc, Op::Encrypt, &mixed[..], |m| m.key = 1);
    assert_eq!(
        errors[0].to_string(),
        "message 3: key for mode ctr; allowed: cbc"
    );
}

#[test]
fn operation_that_the_mode_lacks() {
    for mode in Mode::ALL {
        for op in Op::ALL {
            if ops(*mode).contains(&op) {
                continue;
            }
            for error in refuse(*mode, op, &table(*mode)[0], |_| ()) {
                let [there, back] = ops(*mode);
                expect(
                    error,
                    None,
                    Field::Operation,
                    op,
                    Allowed::Ops([there, back]),
                );
                let (op, there, back) = (op.name(), there.name(), back.name());
                let text = format!("operation {op}; the mode has {there} and {back}");
                assert_eq!(error.to_string(), text);
            }
            let key = &table(*mode)[0];
            let nonce = nonce(*mode, 0);
            let mut data = paint(32, 1);
            let error = match op {
                Op::Encrypt => key.encrypt_in_place(&nonce, &mut data),
                Op::Decrypt => key
                    .decrypt_in_place(&nonce, &mut data)
                    .map(|_| ())
                    .map_err(refusal),
                Op::Mac => key.mac_with_nonce(&nonce, &paint(32, 1), &mut data[..16]),
                Op::Seal => key.seal_in_place(&nonce, b"data", &mut data, &mut [1; 16]),
                Op::Open => key
                    .open_in_place(&nonce, b"data", &mut data, &[1; 16])
                    .map(|_| ())
                    .map_err(refusal),
                Op::Verify => key
                    .verify_with_nonce(&nonce, &data, &[1; 16])
                    .map_err(refusal),
            };
            expect(
                error.expect_err("no such operation"),
                None,
                Field::Operation,
                op,
                Allowed::Ops(ops(*mode)),
            );
            assert_eq!(data, paint(32, 1));
        }
    }
}

#[test]
fn nonce_length() {
    for_all(|mode, op, keys| {
        let (least, most) = mode.info().nonce_bytes;
        let allowed = match (least, most) {
            (0, 0) => Allowed::Nothing,
            (least, most) if least == most => Allowed::Exactly(most),
            (least, most) => Allowed::Between(least, most),
        };
        for len in 0..20 {
            let edit = |m: &mut Parts| m.nonce = vec![1; len];
            if (least..=most).contains(&len) {
                accept(mode, op, keys, edit);
            } else {
                let errors = refuse(mode, op, keys, edit);
                expect_all(errors, Field::NonceLength, len, allowed);
            }
        }
        if most > 1000 {
            accept(mode, op, keys, |m| m.nonce = vec![1; 100_000]);
        }
    });
    for (mode, op, len, text) in [
        (Mode::Cbc, Op::Decrypt, 12, "nonce of 12 bytes; allowed: 16"),
        (Mode::Cmac, Op::Mac, 12, "nonce of 12 bytes; allowed: none"),
        (Mode::Ccm, Op::Seal, 6, "nonce of 6 bytes; allowed: 7 to 13"),
        (
            Mode::Ccm,
            Op::Open,
            14,
            "nonce of 14 bytes; allowed: 7 to 13",
        ),
        (Mode::Ocb, Op::Seal, 0, "nonce of 0 bytes; allowed: 1 to 15"),
        (
            Mode::Ocb,
            Op::Open,
            16,
            "nonce of 16 bytes; allowed: 1 to 15",
        ),
        (
            Mode::Gcm,
            Op::Open,
            0,
            "nonce of 0 bytes; allowed: 1 to 4294967294",
        ),
        (Mode::GcmSiv, Op::Seal, 8, "nonce of 8 bytes; allowed: 12"),
        (Mode::Xts, Op::Encrypt, 8, "nonce of 8 bytes; allowed: 16"),
    ] {
        let errors = refuse(mode, op, &table(mode)[0], |m| m.nonce = vec![1; len]);
        assert_eq!(errors[0].to_string(), format!("message 3: {text}"));
    }
}

#[test]
fn tag_length() {
    for_all(|mode, op, keys| {
        let good = mode.info().tag_bytes;
        let allowed = match good {
            [] => Allowed::Nothing,
            _ => Allowed::OneOf(good),
        };
        for len in (0..40).chain([1 << 20]) {
            let edit = |m: &mut Parts| m.tag = vec![1; len];
            if good.contains(&len) || good.is_empty() && len == 0 {
                accept(mode, op, keys, edit);
            } else {
                let errors = refuse(mode, op, keys, edit);
                expect_all(errors, Field::TagLength, len, allowed);
            }
        }
    });
    let key = &table(Mode::Cmac)[0];
    let error = key.mac(b"text", &mut [0; 17]).expect_err("a bad tag");
    let good = Mode::Cmac.info().tag_bytes;
    expect(error, None, Field::TagLength, 17, Allowed::OneOf(good));
    let error = table(Mode::Gcm)[0].open_in_place(&[0; 12], &[], &mut [], &[0; 5]);
    let good = Mode::Gcm.info().tag_bytes;
    let error = refusal(error.expect_err("a bad tag"));
    expect(error, None, Field::TagLength, 5, Allowed::OneOf(good));
    for (mode, op, len, text) in [
        (
            Mode::Cmac,
            Op::Verify,
            3,
            "tag of 3 bytes; allowed: 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 or 16",
        ),
        (Mode::Ctr, Op::Encrypt, 16, "tag of 16 bytes; allowed: none"),
        (
            Mode::Ccm,
            Op::Seal,
            5,
            "tag of 5 bytes; allowed: 4, 6, 8, 10, 12, 14 or 16",
        ),
        (
            Mode::Gcm,
            Op::Open,
            9,
            "tag of 9 bytes; allowed: 4, 8, 12, 13, 14, 15 or 16",
        ),
        (
            Mode::Ocb,
            Op::Seal,
            10,
            "tag of 10 bytes; allowed: 8, 12 or 16",
        ),
        (Mode::Siv, Op::Open, 12, "tag of 12 bytes; allowed: 16"),
    ] {
        let errors = refuse(mode, op, &table(mode)[0], |m| m.tag = vec![1; len]);
        assert_eq!(errors[0].to_string(), format!("message 3: {text}"));
    }
}

/// Tags at the ends of texts.
#[test]
fn tag_attached() {
    for_all(|mode, op, keys| {
        let good = mode.info().tag_bytes;
        let append = |bytes, src, dst| {
            move |m: &mut Parts| {
                m.attached = Some(bytes);
                m.src = paint(src, 3);
                m.dst = Some(vec![CANARY; dst]);
            }
        };
        match op {
            Op::Seal => {
                for len in 1..=17 {
                    if good.contains(&len) {
                        accept(mode, op, keys, append(len, 48, 48 + len));
                        // All but one byte of room.
                        for room in [0, 47, 48, 47 + len] {
                            let errors = refuse(mode, op, keys, append(len, 48, room));
                            let allowed = Allowed::AtLeast(48 + len);
                            expect_all(errors, Field::OutputLength, room, allowed);
                        }
                    } else {
                        let errors = refuse(mode, op, keys, append(len, 48, 80));
                        expect_all(errors, Field::TagLength, len, Allowed::OneOf(good));
                    }
                }
                let errors = refuse(mode, op, keys, |m| {
                    m.attached = Some(16);
                    m.dst = None;
                });
                expect_all(errors, Field::OutputLength, 48, Allowed::AtLeast(64));
                let errors = refuse(mode, op, keys, append(usize::MAX, 48, 80));
                // So many are said as the most that are told apart.
                let needed = mode.info().encrypted_len(48) + u32::MAX as usize;
                expect_all(errors, Field::OutputLength, 80, Allowed::AtLeast(needed));
            }
            Op::Open => {
                for len in 1..=17 {
                    if good.contains(&len) {
                        accept(mode, op, keys, append(len, 48 + len, 48));
                        let least = mode.info().encrypted_len(0);
                        accept(mode, op, keys, append(len, least + len, least));
                        for src in [0, len - 1] {
                            let errors = refuse(mode, op, keys, append(len, src, 48));
                            expect_all(errors, Field::TextLength, src, Allowed::AtLeast(len));
                        }
                        let errors = refuse(mode, op, keys, append(len, 48 + len, 47));
                        expect_all(errors, Field::OutputLength, 47, Allowed::AtLeast(48));
                    } else {
                        let errors = refuse(mode, op, keys, append(len, 48, 80));
                        expect_all(errors, Field::TagLength, len, Allowed::OneOf(good));
                    }
                }
            }
            _ => {
                for len in [4, 16] {
                    let errors = refuse(mode, op, keys, append(len, 48, 80));
                    expect_all(errors, Field::TagLength, len, Allowed::Nothing);
                }
            }
        }
        // None at all.
        if !good.is_empty() {
            let errors = refuse(mode, op, keys, append(0, 48, 80));
            expect_all(errors, Field::TagLength, 0, Allowed::OneOf(good));
        }
    });
    for (mode, op, src, text) in [
        (
            Mode::Gcm,
            Op::Seal,
            48,
            "destination of 50 bytes; allowed: at least 64",
        ),
        (
            Mode::Gcm,
            Op::Open,
            15,
            "text of 15 bytes; allowed: at least 16",
        ),
        (Mode::Cmac, Op::Mac, 48, "tag of 16 bytes; allowed: none"),
    ] {
        let errors = refuse(mode, op, &table(mode)[0], |m| {
            m.attached = Some(16);
            m.src = paint(src, 3);
            m.dst = Some(vec![CANARY; 50]);
        });
        assert_eq!(errors[0].to_string(), format!("message 3: {text}"));
    }
}

/// Components of associated data.
#[test]
fn data_count() {
    for_all(|mode, op, keys| {
        let most = mode.info().data_components;
        let allowed = match most {
            0 => Allowed::Nothing,
            most => Allowed::AtMost(most),
        };
        // Without a nonce, which may be a component itself.
        let nonce = match mode.info().nonce_bytes.0 {
            0 => Vec::new(),
            _ => nonce(mode, 0),
        };
        for count in [0, 1, 2, 3, 126, 127, 128, 1000] {
            let edit = |m: &mut Parts| {
                m.nonce = nonce.clone();
                m.data = data(count, 1);
            };
            if count <= most {
                accept(mode, op, keys, edit);
            } else {
                let errors = refuse(mode, op, keys, edit);
                expect_all(errors, Field::DataCount, count, allowed);
            }
        }
    });
    // RFC 5297, 3: the nonce is the last component.
    let siv = &table(Mode::Siv)[0];
    for op in ops(Mode::Siv) {
        accept(Mode::Siv, op, siv, |m| m.data = data(125, 1));
        let mut parts = Parts::good(Mode::Siv, op, true);
        parts.nonce = vec![1; 12];
        parts.data = data(126, 1);
        let mut components = Vec::new();
        let mut batch = [parts.message(&mut components)];
        let error = call(&mut Comb::new(), op, siv, &mut batch).expect_err("127 components");
        assert_eq!(error.given, Given::Number(126));
        assert_eq!(error.allowed, Allowed::AtMost(125));
    }
    for (mode, op, count, text) in [
        (
            Mode::Siv,
            Op::Seal,
            127,
            "associated data of 127 components; allowed: at most 125",
        ),
        (
            Mode::Ocb,
            Op::Open,
            2,
            "associated data of 2 components; allowed: at most 1",
        ),
        (
            Mode::Gmac,
            Op::Mac,
            1,
            "associated data of 1 components; allowed: none",
        ),
    ] {
        let errors = refuse(mode, op, &table(mode)[0], |m| m.data = data(count, 1));
        assert_eq!(errors[0].to_string(), format!("message 3: {text}"));
    }
}

/// Memory that may be named and is never touched: so much of it that limits can be
/// reached.
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
struct Vast {
    base: *mut u8,
    len: usize,
}

#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
impl Vast {
    fn new(len: usize) -> Vast {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        // SAFETY: a new mapping at a place of the kernel's choice.
        let base = unsafe { libc::mmap(std::ptr::null_mut(), len, libc::PROT_READ, flags, -1, 0) };
        let error = std::io::Error::last_os_error();
        assert_ne!(base, libc::MAP_FAILED, "mmap of {len} bytes: {error}");
        let base = base.cast();
        Vast { base, len }
    }

    fn bytes(&self) -> &[u8] {
        // SAFETY: that many readable bytes, which nobody writes.
        unsafe { std::slice::from_raw_parts(self.base, self.len) }
    }

    /// The first `len` bytes, to be read and not written.
    fn text(&self, len: usize) -> Text<'_> {
        // SAFETY: readable; the calls here are refused and write nothing.
        unsafe { Text::from_raw(self.base, len, self.base, self.len) }
    }
}

#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
impl Drop for Vast {
    fn drop(&mut self) {
        // SAFETY: the mapping made in `new`, which nobody uses any more.
        unsafe { libc::munmap(self.base.cast(), self.len) };
    }
}

/// The standards' limits to texts and associated data. Only what is too long by a
/// byte is tried where that is gigabytes.
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
#[test]
fn texts_and_data_that_are_too_long() {
    let vast = Vast::new((1 << 36) + 64);
    let refused = |mode: Mode, nonce: usize, len: usize, data: usize| {
        let mut errors = Vec::new();
        for op in ops(mode) {
            let (nonce, mut tag) = (vec![1; nonce], vec![CANARY; mode.info().longest_tag()]);
            let mut message = Message::new(vast.text(len)).nonce(&nonce).tag(&mut tag);
            if data > 0 {
                message = message.associated_data(&vast.bytes()[..data]);
            }
            let mut batch = [message];
            let error = call(&mut Comb::new(), op, &table(mode)[0], &mut batch);
            errors.push(error.expect_err("a message that is too long"));
            assert_eq!(batch[0].status(), Status::Pending);
            assert!(tag.iter().all(|b| *b == CANARY));
        }
        assert_eq!(errors[0], errors[1]);
        errors[0]
    };
    let gcm = (1 << 36) - 32;
    let long = [
        (Mode::Ccm, 13, 0xffff),
        (Mode::Ccm, 12, 0xff_ffff),
        (Mode::Ccm, 11, 0xffff_ffff),
        (Mode::Gcm, 12, gcm),
        (Mode::Gcm, 60, gcm),
        (Mode::GcmSiv, 12, 1 << 36),
        (Mode::Xts, 16, 1 << 24),
        (Mode::Cpfb, 12, 12 * u32::MAX as usize),
    ];
    for (mode, nonce, most) in long {
        for len in [most + 1, most + 17] {
            let error = refused(mode, nonce, len, 0);
            expect(
                error,
                Some(0),
                Field::TextLength,
                len,
                Allowed::AtMost(most),
            );
        }
    }
    for (mode, nonce, most) in [
        (Mode::GcmSiv, 12, 1 << 36),
        (Mode::Cpfb, 12, u32::MAX as usize),
        (Mode::McoeG, 12, u32::MAX as usize),
    ] {
        for len in [most + 1, most + 64] {
            let error = refused(mode, nonce, 16, len);
            let allowed = Allowed::AtMost(most);
            expect(error, Some(0), Field::DataLength, len, allowed);
        }
    }
    assert_eq!(
        refused(Mode::GcmSiv, 12, 0, (1 << 36) + 1).to_string(),
        "message 0: associated data of 68719476737 bytes; allowed: at most 68719476736"
    );
    assert_eq!(
        refused(Mode::Ccm, 13, 65_536, 0).to_string(),
        "message 0: text of 65536 bytes; allowed: at most 65535"
    );
}

/// The longest texts that are short enough to try.
#[test]
fn texts_at_the_limit() {
    for (mode, nonce, most) in [
        (Mode::Ccm, 13, 0xffff),
        (Mode::Ccm, 12, 0x1_0000),
        (Mode::Xts, 16, 1 << 24),
    ] {
        let [there, back] = ops(mode);
        let text = paint(most, 1);
        let (mut data, nonce) = (text.clone(), vec![1; nonce]);
        let mut tag = vec![0; mode.info().longest_tag()];
        for op in [there, back] {
            let message = Message::new(Text::in_place(&mut data)).nonce(&nonce);
            let mut batch = [message.tag(&mut tag)];
            let verdict = call(&mut Comb::new(), op, &table(mode)[0], &mut batch);
            assert!(verdict.expect("a text at the limit").is_empty());
        }
        assert!(data == text, "{mode}");
    }
}

#[test]
fn text_length() {
    for_all(|mode, op, keys| {
        let lengths = mode.info().lengths;
        let unpads = (lengths, op) == (Lengths::Padded, Op::Decrypt)
            || (lengths, op) == (Lengths::Filled, Op::Open);
        let untold = (lengths, op) == (Lengths::Untold, Op::Open);
        if lengths == Lengths::WholeBlocks || unpads || untold {
            for len in [1, 8, 15, 17, 31, 33, 47] {
                let errors = refuse(mode, op, keys, |m| m.src.truncate(len));
                expect_all(errors, Field::TextLength, len, Allowed::MultipleOf(16));
            }
        }
        if unpads {
            let errors = refuse(mode, op, keys, |m| m.src.clear());
            expect_all(errors, Field::TextLength, 0, Allowed::AtLeast(16));
        }
        if lengths == Lengths::FromOneBlock {
            for len in 0..16 {
                let errors = refuse(mode, op, keys, |m| m.src.truncate(len));
                expect_all(errors, Field::TextLength, len, Allowed::AtLeast(16));
            }
        }
    });
    let errors = refuse(Mode::Ecb, Op::Encrypt, &table(Mode::Ecb)[0], |m| {
        m.src.truncate(33)
    });
    assert_eq!(
        errors[0].to_string(),
        "message 3: text of 33 bytes; allowed: a multiple of 16"
    );
}

/// What opening must be told of modes whose sealed messages do not tell it.
#[test]
fn opened_length() {
    let julius = &table(Mode::Julius)[0];
    let refused = |text: usize, opened: Option<usize>, allowed, text_of_it: &str| {
        let (mut data, mut tag, nonce) = (paint(text, 1), [CANARY; 16], [1; 16]);
        let mut message = Message::new(Text::in_place(&mut data))
            .nonce(&nonce)
            .tag(&mut tag);
        if let Some(len) = opened {
            message = message.opened_len(len);
        }
        let error = call(&mut Comb::new(), Op::Open, julius, &mut [message]);
        let error = error.expect_err("a wrong length");
        let given = opened.map_or(Given::Nothing, Given::Number);
        expect(error, Some(0), Field::OpenedLength, given, allowed);
        assert_eq!(error.to_string(), format!("message 0: {text_of_it}"));
        assert_eq!(data, paint(text, 1));
    };
    let allowed = Allowed::Between(33, 48);
    let text = "length of the opened message not given; allowed: 33 to 48";
    refused(48, None, allowed, text);
    let text = "opened message of 32 bytes; allowed: 33 to 48";
    refused(48, Some(32), allowed, text);
    let text = "opened message of 49 bytes; allowed: 33 to 48";
    refused(48, Some(49), allowed, text);
    let text = "opened message of 1 bytes; allowed: 0";
    refused(0, Some(1), Allowed::Exactly(0), text);
    let error = julius.open_in_place(&[1; 16], b"data", &mut paint(48, 1), &[1; 16]);
    let error = refusal(error.expect_err("a call that cannot say it"));
    expect(error, None, Field::OpenedLength, Given::Nothing, allowed);
}

#[test]
fn output_length() {
    for_all(|mode, op, keys| {
        if mode.info().kind == Kind::Mac {
            return;
        }
        let good = Parts::good(mode, op, true).dst.map_or(0, |dst| dst.len());
        for len in [0, 1, good - 16, good - 1] {
            let errors = refuse(mode, op, keys, |m| m.dst = Some(vec![CANARY; len]));
            expect_all(errors, Field::OutputLength, len, Allowed::AtLeast(good));
        }
        if good > 48 {
            // In place without room for padding.
            let errors = refuse(mode, op, keys, |m| m.dst = None);
            expect_all(errors, Field::OutputLength, 48, Allowed::AtLeast(good));
            let mut data = paint(48, 1);
            let key = &table(mode)[0];
            let error = key
                .encrypt_in_place(&nonce(mode, 0), &mut data)
                .expect_err("no room");
            expect(error, None, Field::OutputLength, 48, Allowed::AtLeast(good));
            assert_eq!(data, paint(48, 1));
        }
    });
    let key = &table(Mode::Cfb128)[0];
    let errors = refuse(Mode::Cfb128, Op::Encrypt, key, |m| {
        m.dst = Some(vec![0; 47])
    });
    assert_eq!(
        errors[0].to_string(),
        "message 3: destination of 47 bytes; allowed: at least 48"
    );
}

/// A tag of a length that the mode takes.
fn good_tag(mode: Mode) -> Vec<u8> {
    vec![CANARY; mode.info().longest_tag()]
}

#[test]
fn overlap() {
    for_all(|mode, op, keys| {
        if mode.info().kind == Kind::Mac {
            return;
        }
        for distance in [1, 15, 16, 31] {
            for back in [false, true] {
                let mut buf = paint(128, 5);
                let mut other = vec![CANARY; 48];
                let nonce = nonce(mode, 0);
                let base = buf.as_mut_ptr();
                let (from, to) = if back { (distance, 0) } else { (0, distance) };
                // SAFETY: 96 bytes and less of 128, which nothing else uses
                // while the text lives.
                let text = unsafe {
                    Text::from_raw(base.wrapping_add(from), 32, base.wrapping_add(to), 64)
                };
                let good = Text::copy(&[7; 32], &mut other);
                let (mut tag, mut other_tag) = (good_tag(mode), good_tag(mode));
                let mut batch = [
                    Message::new(good)
                        .nonce(&nonce)
                        .tag(&mut tag)
                        .opened_len(32),
                    Message::new(text)
                        .nonce(&nonce)
                        .tag(&mut other_tag)
                        .opened_len(32),
                ];
                let error = call(&mut Comb::new(), op, keys, &mut batch).expect_err("an overlap");
                expect(error, Some(1), Field::Overlap, distance, Allowed::Nothing);
                assert_eq!(batch[0].status(), Status::Pending);
                assert!(buf == paint(128, 5) && other.iter().all(|b| *b == CANARY));
            }
        }
        // Neighbours do not overlap; the destination's unused end does not count.
        let mut buf = paint(128, 5);
        let base = buf.as_mut_ptr();
        let nonce = nonce(mode, 0);
        let decrypts_padded = op == Op::Decrypt && mode.info().lengths == Lengths::Padded;
        if !decrypts_padded {
            // SAFETY: both ranges lie in `buf`; the call writes the first 48
            // bytes at most.
            let text = unsafe { Text::from_raw(base.wrapping_add(48), 32, base, 64) };
            let mut tag = good_tag(mode);
            let message = Message::new(text).nonce(&nonce).tag(&mut tag);
            let mut batch = [message.opened_len(32)];
            let _ = call(&mut Comb::new(), op, keys, &mut batch).expect("no overlap");
        }
        if mode.info().kind == Kind::Aead {
            // A tag at the end belongs to its text.
            let (from, len, to, room) = match op {
                Op::Seal => (48, 32, 16, 48),
                _ => (16, 48, 48, 32),
            };
            let mut buf = paint(128, 5);
            let base = buf.as_mut_ptr();
            // SAFETY: both ranges lie in `buf`.
            let text = unsafe {
                Text::from_raw(base.wrapping_add(from), len, base.wrapping_add(to), room)
            };
            let mut batch = [Message::new(text).nonce(&nonce).tag_attached(16)];
            let error = call(&mut Comb::new(), op, keys, &mut batch);
            let error = error.expect_err("a tag in the other's bytes");
            expect(error, Some(0), Field::Overlap, 32, Allowed::Nothing);
            assert!(buf == paint(128, 5));
        }
    });
    let mut buf = [0; 40];
    let base = buf.as_mut_ptr();
    // SAFETY: both ranges lie in `buf`.
    let text = unsafe { Text::from_raw(base, 32, base.wrapping_add(8), 32) };
    let error = Comb::new()
        .encrypt(
            &table(Mode::Ofb)[0],
            &mut [Message::new(text).nonce(&[0; 16])],
        )
        .expect_err("an overlap");
    assert_eq!(
        error.to_string(),
        "message 0: source and destination overlap, 8 bytes apart; they must be identical or must not overlap"
    );
}

#[test]
fn overlap_of_packed_buffers() {
    let mut buf = paint(96, 5);
    let base = buf.as_mut_ptr();
    let nonces = [0; 32];
    // SAFETY: both ranges lie in `buf`.
    let text = unsafe { Text::from_raw(base, 64, base.wrapping_add(32), 64) };
    let mut batch = Packed::new(text, Layout::Offsets(&[0u32, 32, 64])).nonces(&nonces, 16, 16);
    let error = Comb::new()
        .encrypt(&table(Mode::Cbc)[0], &mut batch)
        .expect_err("an overlap");
    expect(error, None, Field::Overlap, 32, Allowed::Nothing);
    assert_eq!(buf, paint(96, 5));

    // Places of their own for the results are not for work in place.
    let offsets = [0u32, 32, 64];
    let mut batch = Packed::new(Text::in_place(&mut buf), Layout::Offsets(&offsets))
        .output(Layout::Offsets(&offsets))
        .nonces(&nonces, 16, 16);
    let error = Comb::new()
        .encrypt(&table(Mode::Cbc)[0], &mut batch)
        .expect_err("in place");
    expect(error, None, Field::Overlap, 0, Allowed::Nothing);
    assert_eq!(buf, paint(96, 5));
}

#[test]
fn padding_of_a_message_alone() {
    for mode in Mode::ALL
        .iter()
        .filter(|mode| mode.info().lengths == Lengths::Padded)
    {
        let nonce = nonce(*mode, 0);
        // Of 32 blocks at least one does not end in padding.
        let mut found = 0;
        for seed in 0..32 {
            let mut data = paint(48, seed);
            let want = aescomb_ref::decrypt(mode.name(), &raw_key(*mode, 0), &nonce, &data);
            let result = table(*mode)[0].decrypt_in_place(&nonce, &mut data);
            match want {
                Some(want) => assert_eq!(data[..result.expect("good padding")], want),
                None => {
                    let error = result.expect_err("bad padding");
                    assert_eq!(error.to_string(), "invalid padding");
                    assert!(matches!(error, OpenError::Failed(f) if f.messages().eq([0])));
                    assert_eq!(data, [0; 48], "not wiped");
                    found += 1;
                }
            }
        }
        assert!(found > 0);
    }
}

#[test]
fn tag_of_a_message_alone() {
    for mode in Mode::ALL {
        if mode.info().kind != Kind::Aead {
            continue;
        }
        if mode.info().lengths == Lengths::Untold {
            continue;
        }
        let (mut text, tag) = (paint(48, 1), good_tag(*mode));
        let error = table(*mode)[0]
            .open_in_place(&nonce(*mode, 0), b"data", &mut text, &tag)
            .expect_err("a bad tag");
        assert_eq!(error.to_string(), "authentication failed: wrong tag");
        assert!(matches!(error, OpenError::Failed(f) if f.messages().eq([0])));
        assert_eq!(text, [0; 48], "not wiped");
    }
}

#[test]
fn lanes() {
    for backend in Backend::available() {
        let most = backend.max_lanes();
        let mut comb = Comb::with_backend(backend).expect("an available backend");
        for lanes in 1..=most {
            comb.set_lanes(lanes).expect("an allowed degree");
            assert_eq!(comb.lanes(Mode::Cbc, Op::Encrypt), lanes);
        }
        for lanes in [0, most + 1, 1000, usize::MAX] {
            let error = comb.set_lanes(lanes).expect_err("a bad degree");
            expect(error, None, Field::Lanes, lanes, Allowed::Between(1, most));
            // The former one stays.
            assert_eq!(comb.lanes(Mode::Cbc, Op::Encrypt), most);
        }
        assert!(backend.default_lanes() <= most);
    }
    let error = common::comb(Backend::Portable, 1)
        .set_lanes(Backend::Portable.max_lanes() + 1)
        .expect_err("a bad degree");
    let most = Backend::Portable.max_lanes();
    let text = format!("{} messages in flight; allowed: 1 to {most}", most + 1);
    assert_eq!(error.to_string(), text);
    // Whatever backend a mode gets, the allowed degrees are allowed for it.
    let mut comb = Comb::new();
    let error = comb.set_lanes(usize::MAX).expect_err("a bad degree");
    let Allowed::Between(1, most) = error.allowed else {
        panic!("{error}");
    };
    comb.set_lanes(most).expect("an allowed degree");
    for mode in Mode::ALL {
        for op in ops(*mode) {
            assert!(comb.backend(*mode, op).max_lanes() >= most);
        }
    }
}

#[test]
fn backend_that_the_cpu_lacks() {
    for backend in Backend::ALL {
        let made = Comb::with_backend(backend);
        let mut table = Vec::new();
        let expanded = AnyKey::expand_many_with(backend, Mode::Cbc, &[[1; 16]], &mut table);
        if backend.is_available() {
            made.expect("an available backend");
            expanded.expect("an available backend");
        } else {
            for error in [
                made.expect_err("no backend"),
                expanded.expect_err("no backend"),
            ] {
                expect(error, None, Field::Backend, backend, Allowed::Nothing);
                let text = format!("this CPU lacks what backend {backend} needs");
                assert_eq!(error.to_string(), text);
            }
            assert!(table.is_empty());
        }
    }
}

/// A packed batch of three CTR messages of 20 bytes in 64, which is refused.
fn refuse_packed<O: Offset>(layout: Layout<'_, O>) -> Error {
    let mut errors = Vec::new();
    for copy in [false, true] {
        let mut buf = paint(64, 9);
        let src = buf.clone();
        let mut results = [MessageResult::default(); 3];
        let nonces = [5; 48];
        let text = match copy {
            true => Text::copy(&src, &mut buf),
            false => Text::in_place(&mut buf),
        };
        let mut batch = Packed::new(text, layout)
            .nonces(&nonces, 16, 16)
            .results(&mut results);
        let error = Comb::new()
            .encrypt(&table(Mode::Ctr)[0], &mut batch)
            .expect_err("bad places");
        errors.push(error);
        assert_eq!(buf, src, "a refused call changed a byte");
        assert_eq!(results, [MessageResult::default(); 3]);
    }
    assert_eq!(errors[0], errors[1]);
    errors[0]
}

#[test]
fn offsets() {
    let far = usize::MAX;
    let offset = |error, i, given, allowed| expect(error, Some(i), Field::Offset, given, allowed);
    let error = refuse_packed(Layout::Offsets(&[0u32, 20, 40, 65]));
    offset(error, 2, 65, Allowed::AtMost(64));
    assert_eq!(
        error.to_string(),
        "message 2: offset or length 65; allowed: at most 64"
    );
    let error = refuse_packed(Layout::Offsets(&[0u64, 20, 10, 40]));
    offset(error, 1, 10, Allowed::AtLeast(20));
    let error = refuse_packed(Layout::Offsets(&[70usize, 70, 70, 70]));
    offset(error, 0, 70, Allowed::AtMost(64));
    let error = refuse_packed(Layout::Offsets(&[0u64, 20, u64::MAX, u64::MAX]));
    offset(error, 1, far, Allowed::AtMost(64));

    let slots = |starts: &[u32], lengths: &[u32]| refuse_packed(Layout::Slots { starts, lengths });
    offset(
        slots(&[0, 20, 40], &[20, 20, 25]),
        2,
        65,
        Allowed::AtMost(64),
    );
    offset(
        slots(&[0, 19, 40], &[20, 20, 20]),
        1,
        19,
        Allowed::AtLeast(20),
    );
    offset(
        slots(&[40, 20, 0], &[20, 20, 20]),
        1,
        20,
        Allowed::AtLeast(60),
    );
    offset(slots(&[65, 65, 65], &[0, 0, 0]), 0, 65, Allowed::AtMost(64));
    let error = refuse_packed(Layout::Slots {
        starts: &[0, usize::MAX, 0],
        lengths: &[20, usize::MAX, 0],
    });
    offset(error, 1, far, Allowed::AtMost(64));

    let ring = |stride, lengths: &[u32]| refuse_packed(Layout::Ring { stride, lengths });
    offset(ring(20, &[20, 21, 20]), 1, 21, Allowed::AtMost(20));
    offset(ring(30, &[20, 20, 20]), 2, 80, Allowed::AtMost(64));
    offset(ring(33, &[20, 20, 0]), 2, 66, Allowed::AtMost(64));
    offset(ring(usize::MAX, &[20, 0, 0]), 1, far, Allowed::AtMost(64));
}

#[test]
fn negative_offsets() {
    fn negative<O: Offset + TryFrom<i64>>()
    where
        O::Error: std::fmt::Debug,
    {
        let column = |v: &[i64]| -> Vec<O> {
            v.iter()
                .map(|n| O::try_from(*n).expect("a small number"))
                .collect()
        };
        let at = |error: Error, i| {
            assert_eq!((error.message, error.field), (Some(i), Field::Offset));
            expect(
                error,
                Some(i),
                Field::Offset,
                Given::Negative,
                error.allowed,
            );
        };
        at(
            refuse_packed(Layout::Offsets(&column(&[-1, 20, 40, 60]))),
            0,
        );
        at(
            refuse_packed(Layout::Offsets(&column(&[0, 20, -40, 60]))),
            1,
        );
        at(refuse_packed(Layout::Offsets(&column(&[-9, -5, 0, 60]))), 0);
        let good = column(&[0, 20, 40]);
        let lengths = &column(&[20, 20, 20])[..];
        let spoilt = &column(&[0, -20, 40])[..];
        let starts = spoilt;
        at(refuse_packed(Layout::Slots { starts, lengths }), 1);
        let (starts, lengths) = (&good[..], spoilt);
        at(refuse_packed(Layout::Slots { starts, lengths }), 1);
        at(
            refuse_packed(Layout::Ring {
                stride: 20,
                lengths,
            }),
            1,
        );
    }
    negative::<i32>();
    negative::<i64>();
    let error = refuse_packed(Layout::Offsets(&[0i32, 20, -40, 60]));
    assert_eq!(
        error.to_string(),
        "message 1: offset or length below 0; allowed: at most 64"
    );
}

/// Columns of another length than the batch.
#[test]
fn counts() {
    let count = |error, given, n| expect(error, None, Field::Count, given, Allowed::Exactly(n));
    let key = &table(Mode::Cbc)[0];
    let offsets = [0u32, 16, 32, 48];
    let three = Layout::Offsets(&offsets);
    let nonces = [5; 80];
    let src = paint(48, 1);
    let refuse = |edit: &dyn for<'a> Fn(Packed<'a, u32>) -> Packed<'a, u32>, op: Op, keys: Keys| {
        let mut dst = [CANARY; 64];
        let mut batch =
            edit(Packed::new(Text::copy(&src, &mut dst), three).nonces(&nonces, 16, 16));
        let error = call(&mut Comb::new(), op, keys, &mut batch).expect_err("a bad column");
        assert_eq!(dst, [CANARY; 64]);
        error
    };
    let encrypt = |edit: &dyn for<'a> Fn(Packed<'a, u32>) -> Packed<'a, u32>| {
        refuse(edit, Op::Encrypt, Keys::from(key))
    };
    count(encrypt(&|p| p.nonces(&[5; 47], 16, 16)), 2, 3);
    count(encrypt(&|p| p.nonces(&[], 16, 16)), 0, 3);
    count(encrypt(&|p| p.nonces(&[5; 79], 16, 32)), 2, 3);
    let error = encrypt(&|p| p.nonces(&[5; 64], 16, 15));
    expect(error, None, Field::NonceLength, 16, Allowed::AtMost(15));
    let error = encrypt(&|p| p.nonces(&[5; 48], 12, 16));
    expect(error, Some(0), Field::NonceLength, 12, Allowed::Exactly(16));
    for keys in [&[0u32; 2][..], &[0; 4], &[]] {
        let table = Keys::from(table(Mode::Cbc));
        let error = refuse(&|p| p.key_indices(keys), Op::Encrypt, table);
        count(error, keys.len(), 3);
    }
    for len in [0, 2, 4] {
        let mut results = vec![MessageResult::default(); len];
        let mut dst = [CANARY; 64];
        let mut batch = Packed::new(Text::copy(&src, &mut dst), three)
            .nonces(&nonces, 16, 16)
            .results(&mut results);
        let error = Comb::new()
            .encrypt(key, &mut batch)
            .expect_err("a bad column");
        count(error, len, 3);
        assert_eq!(dst, [CANARY; 64]);
        assert!(results.iter().all(|r| *r == MessageResult::default()));
    }
    count(encrypt(&|p| p.output(Layout::Offsets(&[0, 16, 32]))), 2, 3);
    let (starts, lengths) = (&[0, 16, 32, 48][..], &[16, 16, 16][..]);
    count(
        encrypt(&|p| p.output(Layout::Slots { starts, lengths })),
        4,
        3,
    );
    let mut dst = [CANARY; 64];
    let layout = Layout::Slots { starts, lengths };
    let mut batch = Packed::new(Text::copy(&src, &mut dst), layout).nonces(&nonces, 16, 16);
    count(
        Comb::new()
            .encrypt(key, &mut batch)
            .expect_err("a bad column"),
        4,
        3,
    );

    // Where messages can fail there must be a place to say so.
    let padded = Keys::from(&table(Mode::CbcPkcs7)[0]);
    count(refuse(&|p| p, Op::Decrypt, padded), 0, 3);
    let cmac = &table(Mode::Cmac)[0];
    let tags = |tags: &mut [u8], bytes, stride, op| {
        let mut batch = Packed::new(Text::read_only(&src), three).tags(tags, bytes, stride);
        call(&mut Comb::new(), op, cmac, &mut batch).expect_err("a bad column")
    };
    count(tags(&mut [0; 48], 16, 16, Op::Verify), 0, 3);
    count(tags(&mut [0; 47], 16, 16, Op::Mac), 2, 3);
    let error = tags(&mut [0; 64], 16, 8, Op::Mac);
    expect(error, None, Field::TagLength, 16, Allowed::AtMost(8));
    let error = tags(&mut [0; 64], 3, 8, Op::Mac);
    let good = Mode::Cmac.info().tag_bytes;
    expect(error, Some(0), Field::TagLength, 3, Allowed::OneOf(good));

    let mut one = [Message::new(Text::read_only(&src))];
    let error = Comb::new()
        .encrypt(&Vec::<AnyKey>::new(), &mut one)
        .expect_err("an empty table");
    expect(error, None, Field::Count, 0, Allowed::AtLeast(1));
    let error = Comb::new()
        .encrypt(&Vec::<&AnyKey>::new(), &mut one)
        .expect_err("no references");
    expect(error, None, Field::Count, 0, Allowed::AtLeast(1));
    assert_eq!(error.to_string(), "0 entries; allowed: at least 1");
}

/// The same for associated data, which lies in a buffer of its own.
#[test]
fn counts_and_offsets_of_associated_data() {
    let key = &table(Mode::Gcm)[0];
    let src = paint(48, 1);
    let offsets = [0u32, 16, 32, 48];
    let refuse = |op: Op, layout: Layout<'_, u32>| {
        let mut dst = [CANARY; 96];
        let (stride, lengths) = (32, &[32; 3][..]);
        let mut batch = Packed::new(Text::copy(&src, &mut dst), Layout::Offsets(&offsets))
            .output(Layout::Ring { stride, lengths })
            .nonces(&[5; 36], 12, 12)
            .tags_attached(16)
            .associated_data(&[1; 20], layout);
        let error = call(&mut Comb::new(), op, key, &mut batch).expect_err("bad places");
        assert_eq!(dst, [CANARY; 96], "a refused call changed a byte");
        error
    };
    let count = |error, given| expect(error, None, Field::Count, given, Allowed::Exactly(3));
    // No place for verdicts.
    count(refuse(Op::Open, Layout::Offsets(&[0, 5, 10, 20])), 0);
    for offsets in [&[][..], &[0], &[0, 1, 2], &[0, 1, 2, 3, 4]] {
        let given = offsets.len().saturating_sub(1);
        count(refuse(Op::Seal, Layout::Offsets(offsets)), given);
    }
    let (starts, lengths) = (&[0, 5, 10, 15][..], &[5, 5, 5][..]);
    count(refuse(Op::Seal, Layout::Slots { starts, lengths }), 4);
    let lengths = &[5, 5][..];
    count(refuse(Op::Seal, Layout::Ring { stride: 5, lengths }), 2);
    let offset = |error, i, given, allowed| expect(error, Some(i), Field::Offset, given, allowed);
    let error = refuse(Op::Seal, Layout::Offsets(&[0, 5, 10, 21]));
    offset(error, 2, 21, Allowed::AtMost(20));
    let error = refuse(Op::Seal, Layout::Offsets(&[0, 5, 4, 20]));
    offset(error, 1, 4, Allowed::AtLeast(5));
    let lengths = &[5, 7, 5][..];
    let error = refuse(Op::Seal, Layout::Ring { stride: 6, lengths });
    offset(error, 1, 7, Allowed::AtMost(6));
}

/// A column with one entry needs no stride, and must hold the entry.
#[test]
fn counts_of_one() {
    let key = &table(Mode::Cbc)[0];
    for stride in [0, 8, 16, 100] {
        for len in [0, 8, 15] {
            let mut data = paint(16, 1);
            let nonces = vec![5; len];
            let mut batch = Packed::new(Text::in_place(&mut data), Layout::Offsets(&[0u32, 16]))
                .nonces(&nonces, 16, stride);
            let error = Comb::new()
                .encrypt(key, &mut batch)
                .expect_err("a short column");
            expect(error, None, Field::Count, 0, Allowed::Exactly(1));
            assert_eq!(data, paint(16, 1));
        }
        let mut data = paint(16, 1);
        let mut batch = Packed::new(Text::in_place(&mut data), Layout::Offsets(&[0u32, 16]))
            .nonces(&[5; 16], 16, stride);
        Comb::new().encrypt(key, &mut batch).expect("one entry");
        assert_eq!(
            Some(data),
            aescomb_ref::encrypt("cbc", &raw_key(Mode::Cbc, 0), &[5; 16], &paint(16, 1))
        );
    }
}

/// The same batch through several calls, the last of them refused.
#[test]
fn a_batch_used_again() {
    let key = &table(Mode::Ctr)[0];
    let (mut a, mut b) = (paint(20, 1), paint(40, 2));
    let mut comb = Comb::new();
    let mut batch = [&mut a, &mut b].map(|data| Message::new(Text::in_place(data)).nonce(&[9; 16]));
    comb.encrypt(key, &mut batch).expect("a good batch");
    assert!(batch.iter().all(|m| m.status() == Status::Done));
    assert_eq!(
        Some(batch[1].output()),
        aescomb_ref::encrypt("ctr", &raw_key(Mode::Ctr, 0), &[9; 16], &paint(40, 2)).as_deref()
    );
    comb.decrypt(key, &mut batch).expect("a good batch");
    assert_eq!(batch[1].output(), paint(40, 2));
    comb.mac(&table(Mode::Cmac)[0], &mut batch)
        .expect_err("a nonce for a MAC");
    assert!(
        batch
            .iter()
            .all(|m| m.status() == Status::Pending && m.output().is_empty())
    );
    assert_eq!((a, b), (paint(20, 1), paint(40, 2)));
}

#[test]
fn names() {
    for mode in Mode::ALL {
        assert_eq!(mode.name().parse(), Ok(*mode));
        for bits in KEY_BYTES.iter().map(|bytes| bytes * 8) {
            let algorithm: Algorithm = format!("aes-{bits}-{mode}").parse().expect("a known name");
            assert_eq!((algorithm.mode, algorithm.key_bits), (*mode, bits));
            assert_eq!(algorithm.to_string(), format!("aes-{bits}-{mode}"));
        }
    }
    for backend in Backend::ALL {
        assert_eq!(backend.name().parse(), Ok(backend));
        assert_eq!(backend.to_string(), backend.name());
    }
    let modes: Vec<_> = Mode::ALL.iter().map(|mode| mode.name()).collect();
    let backends = Backend::ALL.map(Backend::name).join(", ");
    let unknown = [
        ("CBC".parse::<Mode>().err(), "mode", modes.join(", ")),
        ("avx".parse::<Backend>().err(), "backend", backends),
    ];
    for (error, what, known) in unknown {
        let text = error.expect("an unknown name").to_string();
        assert_eq!(text, format!("unknown {what}; known: {known}"));
    }
    for name in [
        "cbc",
        "aes-129-cbc",
        "aes-128",
        "aes-128-",
        "aes--cbc",
        "aes-128-cbc ",
        "",
    ] {
        let text = name
            .parse::<Algorithm>()
            .expect_err("an unknown name")
            .to_string();
        assert!(
            text.starts_with("unknown algorithm; known: aes-BITS-MODE "),
            "{text}"
        );
    }
}

/// Own keys are for calls that ask for them, and there all messages have one.
#[test]
fn keys_of_messages() {
    let keys = table(Mode::Ctr);
    let mut texts = [[1; 20]; 5];
    fn batch<'a>(texts: &'a mut [[u8; 20]; 5], keys: [Option<&'a AnyKey>; 5]) -> [Message<'a>; 5] {
        let mut keys = keys.into_iter();
        texts.each_mut().map(|text| {
            let message = Message::new(Text::in_place(text)).nonce(&[7; 16]);
            match keys.next().flatten() {
                Some(key) => message.key(key),
                None => message,
            }
        })
    }
    let [a, other] = [&keys[0], &table(Mode::Cbc)[0]];
    let mut comb = Comb::new();
    let mut refused = |keys: Keys<'_>, own, at, field, given: Given, allowed| {
        let mut batch = batch(&mut texts, own);
        let error = comb.encrypt(keys, &mut batch).expect_err("a bad key");
        expect(error, Some(at), field, given, allowed);
        assert_eq!(batch[4].status(), Status::Pending);
    };
    let own = Keys::of_messages();
    let (none, least) = (Given::Nothing, Allowed::AtLeast(1));
    refused(own, [None; 5], 0, Field::Key, none, least);
    refused(
        own,
        [Some(a), Some(a), None, Some(a), Some(a)],
        2,
        Field::Key,
        none,
        least,
    );
    let mixed = [Some(a), Some(a), Some(a), Some(other), Some(a)];
    let ctr = Allowed::Mode(Mode::Ctr);
    refused(own, mixed, 3, Field::KeyMode, Mode::Cbc.into(), ctr);
    // A key beside others would not be used.
    let one = [None, None, None, None, Some(a)];
    for keys in [Keys::from(a), Keys::from(keys), Keys::from(refs(Mode::Ctr))] {
        refused(keys, one, 4, Field::Key, 1.into(), Allowed::Nothing);
        refused(
            keys,
            [Some(a); 5],
            0,
            Field::Key,
            1.into(),
            Allowed::Nothing,
        );
    }
    assert_eq!(texts, [[1; 20]; 5]);
    let text = "message 2: no key; each message needs one";
    let mut batch = batch(&mut texts, [Some(a), Some(a), None, None, None]);
    let error = Comb::new().encrypt(own, &mut batch).expect_err("no key");
    assert_eq!(error.to_string(), text);
}

/// A received tag is never written.
#[test]
fn received_tags_are_only_read() {
    let tag = [9; 16];
    for mode in Mode::ALL {
        let [op, back] = ops(*mode);
        if op == Op::Encrypt {
            continue;
        }
        let tag = &tag[..mode.info().longest_tag().min(16)];
        if tag.len() != mode.info().longest_tag() {
            continue;
        }
        let mut texts = vec![[1; 48]; 6];
        let nonce = nonce(*mode, 0);
        for (op, most) in [(op, 1), (op, 6), (back, 1), (back, 6)] {
            let mut batch: Vec<_> = texts[..most]
                .iter_mut()
                .map(|text| {
                    let text = match op {
                        Op::Mac | Op::Verify => Text::read_only(text),
                        _ => Text::in_place(text),
                    };
                    Message::new(text)
                        .nonce(&nonce)
                        .opened_len(48)
                        .received_tag(tag)
                })
                .collect();
            match (call(&mut Comb::new(), op, &table(*mode)[0], &mut batch), op) {
                (Ok(failed), Op::Verify | Op::Open) => assert_eq!(failed.len(), most),
                (Err(error), Op::Mac | Op::Seal) => {
                    expect(error, Some(0), Field::Tag, Given::Nothing, Allowed::Nothing);
                }
                (result, _) => panic!("{mode} {op:?}: {result:?}"),
            }
            if matches!(op, Op::Seal) {
                let tags = [[9; 17]; 6];
                let (mut text, offsets) = ([1; 6 * 48], [0, 48, 96, 144, 192, 240, 288u32]);
                let nonces = nonce.repeat(6);
                let layout = Layout::Offsets(&offsets[..=most]);
                let mut batch = Packed::new(Text::in_place(&mut text), layout)
                    .nonces(&nonces, nonce.len(), nonce.len())
                    .received_tags(tags.as_flattened(), tag.len(), 17);
                let error = Comb::new()
                    .seal(&table(*mode)[0], &mut batch)
                    .expect_err("a tag");
                expect(error, Some(0), Field::Tag, Given::Nothing, Allowed::Nothing);
            }
        }
    }
}
