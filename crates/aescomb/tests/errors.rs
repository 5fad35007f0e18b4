//! Everything that a call refuses: which message, which field, what was given,
//! what is allowed, how it reads, and that nothing was touched.
#![allow(unsafe_code)] // `Text::from_raw`, the only way to texts that overlap

mod common;

use aescomb::{
    Algorithm, Allowed, Backend, Comb, Error, Field, KEY_BYTES, Key, Keys, Kind, Layout, Lengths,
    Message, MessageResult, Mode, Offset, Op, Packed, Status, Text,
};
use common::{CANARY, KEYS, call, nonce, ops, paint, raw_key, table};

/// A message in parts that can be spoilt.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Parts {
    src: Vec<u8>,
    /// In place if there is none.
    dst: Option<Vec<u8>>,
    nonce: Vec<u8>,
    tag: Vec<u8>,
    key: u32,
}

impl Parts {
    fn good(mode: Mode, op: Op, copy: bool) -> Parts {
        let info = mode.info();
        // Room enough for any padding.
        let src = paint(48, 3);
        let room = match op {
            Op::Encrypt => info.encrypted_len(src.len()),
            _ => src.len(),
        };
        let grows = room > src.len();
        Parts {
            dst: (copy || grows).then(|| vec![CANARY; room]),
            src,
            nonce: nonce(mode, 0),
            tag: vec![CANARY; info.tag_bytes.1],
            key: 0,
        }
    }

    fn message(&mut self) -> Message<'_> {
        let text = match &mut self.dst {
            Some(dst) => Text::copy(&self.src, dst),
            None => Text::in_place(&mut self.src),
        };
        Message::new(text)
            .nonce(&self.nonce)
            .tag(&mut self.tag)
            .key(self.key)
    }
}

/// An error reads as expected and contradicts itself nowhere.
fn expect(error: Error, message: Option<usize>, field: Field, given: usize, allowed: Allowed) {
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
        let mut batch: Vec<_> = parts.iter_mut().map(Parts::message).collect();
        for mut comb in [Comb::new(), common::comb(Backend::Portable, 2)] {
            let error = call(&mut comb, op, keys, &mut batch).expect_err("a bad message");
            errors.push(error);
        }
        for message in &batch {
            assert_eq!(message.status(), Status::Pending);
            assert!(message.output().is_empty());
        }
        drop(batch);
        assert!(parts == before, "a refused call changed a byte");
    }
    errors
}

fn expect_all(errors: Vec<Error>, field: Field, given: usize, allowed: Allowed) {
    for error in errors {
        expect(error, Some(BAD), field, given, allowed);
    }
}

/// Every mode and operation with its good keys: shared, and a table.
fn for_all(f: impl Fn(Mode, Op, Keys<'static>)) {
    for mode in Mode::ALL {
        for op in ops(*mode) {
            f(*mode, op, Keys::Shared(&table(*mode)[0]));
            f(*mode, op, Keys::Table(table(*mode)));
        }
    }
}

#[test]
fn key_length() {
    for mode in Mode::ALL {
        for len in (0..70).filter(|len| !KEY_BYTES.contains(len)) {
            let error = Key::new(*mode, &vec![1; len]).expect_err("a bad key");
            expect(
                error,
                None,
                Field::KeyLength,
                len,
                Allowed::OneOf(KEY_BYTES),
            );
        }
    }
    let error = Key::new(Mode::Cbc, &[1; 17]).expect_err("a bad key");
    assert_eq!(error.to_string(), "key of 17 bytes; allowed: 16, 24 or 32");
}

#[test]
fn key_length_in_a_table() {
    let raw: Vec<_> = (0..20).map(raw_key).collect();
    let mut made = Vec::new();
    Key::expand_many(Mode::Ctr, &raw[..5], &mut made).expect("good keys");
    let before = format!("{made:?}");
    let mut bad = raw.clone();
    bad[17].push(0);
    bad[18].clear();
    let len = bad[17].len();
    for backend in Backend::available() {
        let error = Key::expand_many_with(backend, Mode::Cbc, &bad, &mut made);
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
                let errors = refuse(*mode, op, table(*mode), |m| m.key = index);
                expect_all(
                    errors,
                    Field::KeyIndex,
                    index as usize,
                    Allowed::AtMost(KEYS - 1),
                );
            }
            // A shared key asks for no index.
            let mut parts = Parts::good(*mode, op, true);
            parts.key = 77;
            let mut comb = Comb::new();
            let _ = call(&mut comb, op, &table(*mode)[1], &mut [parts.message()])
                .expect("a shared key");
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
        let other = (at + 1) % Mode::ALL.len();
        let mixed = [
            Key::new(*mode, &[1; 16]).expect("a good key"),
            Key::new(Mode::ALL[other], &[1; 16]).expect("a good key"),
        ];
        for op in ops(*mode) {
            let errors = refuse(*mode, op, &mixed[..], |m| m.key = 1);
            expect_all(errors, Field::KeyMode, other, Allowed::Exactly(at));
            // A key that no message uses may be anything.
            let mut parts = Parts::good(*mode, op, true);
            let mut comb = Comb::new();
            let _ = call(&mut comb, op, &mixed[..], &mut [parts.message()]).expect("a good key");
        }
    }
    let mixed = [Mode::Cbc, Mode::Ctr].map(|mode| Key::new(mode, &[1; 16]).expect("a good key"));
    let errors = refuse(Mode::Cbc, Op::Encrypt, &mixed[..], |m| m.key = 1);
    assert_eq!(
        errors[0].to_string(),
        "message 3: key for mode ctr; allowed: cbc, as the call's first key"
    );
}

#[test]
fn operation_that_the_mode_lacks() {
    for mode in Mode::ALL {
        for (at, op) in Op::ALL.into_iter().enumerate() {
            if ops(*mode).contains(&op) {
                continue;
            }
            for error in refuse(*mode, op, &table(*mode)[0], |_| ()) {
                expect(error, None, Field::Operation, at, Allowed::Nothing);
                let text = format!("the key's mode has no operation \"{}\"", op.name());
                assert_eq!(error.to_string(), text);
            }
            let key = &table(*mode)[0];
            let nonce = nonce(*mode, 0);
            let mut data = paint(32, 1);
            let error = match op {
                Op::Encrypt => key.encrypt_in_place(&nonce, &mut data),
                Op::Decrypt => key.decrypt_in_place(&nonce, &mut data).map(|_| ()),
                Op::Mac => key.mac(&paint(32, 1), &mut data[..16]),
                Op::Verify => continue,
            };
            expect(
                error.expect_err("no such operation"),
                None,
                Field::Operation,
                at,
                Allowed::Nothing,
            );
            assert_eq!(data, paint(32, 1));
        }
    }
}

#[test]
fn nonce_length() {
    for_all(|mode, op, keys| {
        let good = mode.info().nonce_bytes;
        for len in (0..20).filter(|len| *len != good) {
            let errors = refuse(mode, op, keys, |m| m.nonce = vec![1; len]);
            expect_all(errors, Field::NonceLength, len, Allowed::Exactly(good));
        }
    });
    let errors = refuse(Mode::Cbc, Op::Decrypt, &table(Mode::Cbc)[0], |m| {
        m.nonce.truncate(12)
    });
    assert_eq!(
        errors[0].to_string(),
        "message 3: nonce of 12 bytes; allowed: 16"
    );
}

#[test]
fn tag_length() {
    for_all(|mode, op, keys| {
        let (least, most) = mode.info().tag_bytes;
        let allowed = match most {
            0 => Allowed::Nothing,
            _ => Allowed::Between(least, most),
        };
        for len in (0..20).filter(|len| *len < least || *len > most) {
            let errors = refuse(mode, op, keys, |m| m.tag = vec![1; len]);
            expect_all(errors, Field::TagLength, len, allowed);
        }
    });
    let key = &table(Mode::Cmac)[0];
    let errors = refuse(Mode::Cmac, Op::Verify, key, |m| m.tag.truncate(3));
    assert_eq!(
        errors[0].to_string(),
        "message 3: tag of 3 bytes; allowed: 4 to 16"
    );
    let error = key.mac(b"text", &mut [0; 17]).expect_err("a bad tag");
    expect(error, None, Field::TagLength, 17, Allowed::Between(4, 16));
    let errors = refuse(Mode::Ctr, Op::Encrypt, &table(Mode::Ctr)[0], |m| {
        m.tag = vec![0; 16]
    });
    assert_eq!(
        errors[0].to_string(),
        "message 3: tag of 16 bytes; allowed: none"
    );
}

#[test]
fn text_length() {
    for_all(|mode, op, keys| {
        let lengths = mode.info().lengths;
        let unpads = lengths == Lengths::Padded && op == Op::Decrypt;
        if lengths == Lengths::WholeBlocks || unpads {
            for len in [1, 8, 15, 17, 31, 33, 47] {
                let errors = refuse(mode, op, keys, |m| m.src.truncate(len));
                expect_all(errors, Field::TextLength, len, Allowed::MultipleOf(16));
            }
        }
        if unpads {
            let errors = refuse(mode, op, keys, |m| m.src.clear());
            expect_all(errors, Field::TextLength, 0, Allowed::AtLeast(16));
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
                let mut batch = [good, text].map(|text| Message::new(text).nonce(&nonce));
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
            let mut batch = [Message::new(text).nonce(&nonce)];
            let _ = call(&mut Comb::new(), op, keys, &mut batch).expect("no overlap");
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
        "message 0: source and destination overlap, 8 bytes apart; allowed: the same place or none in common"
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
            let want = aescomb_ref::decrypt(mode.name(), &raw_key(0), &nonce, &data);
            let result = table(*mode)[0].decrypt_in_place(&nonce, &mut data);
            match want {
                Some(want) => assert_eq!(data[..result.expect("good padding")], want),
                None => {
                    let error = result.expect_err("bad padding");
                    expect(error, None, Field::Padding, 48, Allowed::Nothing);
                    assert_eq!(
                        error.to_string(),
                        "the padding is none (ciphertext of 48 bytes)"
                    );
                    assert_eq!(data, [0; 48], "not wiped");
                    found += 1;
                }
            }
        }
        assert!(found > 0);
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
    for (at, backend) in Backend::ALL.into_iter().enumerate() {
        let made = Comb::with_backend(backend);
        let mut table = Vec::new();
        let expanded = Key::expand_many_with(backend, Mode::Cbc, &[[1; 16]], &mut table);
        if backend.is_available() {
            made.expect("an available backend");
            expanded.expect("an available backend");
        } else {
            for error in [
                made.expect_err("no backend"),
                expanded.expect_err("no backend"),
            ] {
                expect(error, None, Field::Backend, at, Allowed::Nothing);
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
            expect(error, Some(i), Field::Offset, usize::MAX, error.allowed);
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
        "message 1: a negative offset or length; allowed: at most 64"
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
        refuse(edit, Op::Encrypt, Keys::Shared(key))
    };
    count(encrypt(&|p| p.nonces(&[5; 47], 16, 16)), 2, 3);
    count(encrypt(&|p| p.nonces(&[], 16, 16)), 0, 3);
    count(encrypt(&|p| p.nonces(&[5; 79], 16, 32)), 2, 3);
    let error = encrypt(&|p| p.nonces(&[5; 64], 16, 15));
    expect(error, None, Field::NonceLength, 16, Allowed::AtMost(15));
    let error = encrypt(&|p| p.nonces(&[5; 48], 12, 16));
    expect(error, Some(0), Field::NonceLength, 12, Allowed::Exactly(16));
    for keys in [&[0u32; 2][..], &[0; 4], &[]] {
        let table = Keys::Table(table(Mode::Cbc));
        let error = refuse(&|p| p.keys(keys), Op::Encrypt, table);
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
    let padded = Keys::Shared(&table(Mode::CbcPkcs7)[0]);
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
    expect(error, Some(0), Field::TagLength, 3, Allowed::Between(4, 16));

    let mut one = [Message::new(Text::read_only(&src))];
    let error = Comb::new()
        .encrypt(&Vec::new(), &mut one)
        .expect_err("an empty table");
    expect(error, None, Field::Count, 0, Allowed::AtLeast(1));
    assert_eq!(error.to_string(), "0 entries; allowed: at least 1");
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
            aescomb_ref::encrypt("cbc", &raw_key(0), &[5; 16], &paint(16, 1))
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
        aescomb_ref::encrypt("ctr", &raw_key(0), &[9; 16], &paint(40, 2)).as_deref()
    );
    let verdict = comb.decrypt(key, &mut batch).expect("a good batch");
    assert!(verdict.all_good());
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
fn empty_batches() {
    for mode in Mode::ALL {
        for op in ops(*mode) {
            let key = &table(*mode)[0];
            let mut comb = Comb::new();
            let messages: &mut [Message<'_>] = &mut [];
            assert!(
                call(&mut comb, op, key, messages)
                    .expect("nothing to do")
                    .all_good()
            );
            for offsets in [&[][..], &[0u32]] {
                let mut batch = Packed::new(Text::read_only(&[]), Layout::Offsets(offsets));
                assert!(
                    call(&mut comb, op, key, &mut batch)
                        .expect("nothing to do")
                        .all_good()
                );
            }
        }
    }
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
