//! Several threads: the same results, statuses and errors as one.
#![cfg(feature = "threads")]

use crate::common::{
    self, Call, CallKeys, Draw, Form, Heap, KEYS, Sample, Scheduler, Shape, Shapes, check, failed,
    ops, run, table, works_with,
};
use aescomb::{
    AnyKey, Batch, Comb, Error, Field, Keys, Kind, Layout, Message, MessageResult, Mode, Offset,
    Op, OpenError, Packed, Team, Text,
};
use std::sync::Arc;

fn call<'k, B: Batch + ?Sized>(
    team: &mut Team,
    op: Op,
    keys: impl Into<Keys<'k>>,
    batch: &mut B,
) -> Result<Vec<usize>, Error> {
    match op {
        Op::Encrypt => team.encrypt(keys, batch).map(|()| Vec::new()),
        Op::Decrypt => failed(op, team.decrypt(keys, batch)),
        Op::Mac => team.mac(keys, batch).map(|()| Vec::new()),
        Op::Verify => failed(op, team.verify(keys, batch)),
        Op::Seal => team.seal(keys, batch).map(|()| Vec::new()),
        Op::Open => failed(op, team.open(keys, batch)),
    }
}

impl Scheduler for Team {
    fn messages(
        &mut self,
        op: Op,
        keys: Keys<'_>,
        batch: &mut [Message<'_>],
    ) -> Result<Vec<usize>, Error> {
        call(self, op, keys, batch)
    }

    fn packed<O: Offset>(
        &mut self,
        op: Op,
        keys: Keys<'_>,
        batch: &mut Packed<'_, O>,
    ) -> Result<Vec<usize>, Error> {
        call(self, op, keys, batch)
    }

    fn about(&self, _: Mode, _: Op) -> String {
        format!("{self:?}")
    }
}

fn team(threads: usize) -> Team {
    Team::new((0..threads).map(|_| Comb::new()))
}

/// Messages of `samples` that pay for two threads in all modes.
const MANY: usize = 1800;
/// What two threads are woken for, as `Team` says.
const BYTES_OF_TWO: usize = 2 * (5 << 19);

/// Messages under the first key, or under all of a table.
fn samples(mode: Mode, n: usize, keys: usize) -> Vec<Arc<Sample>> {
    let make = |i: usize| {
        // Every second batch of messages of one shape, as packed ones have.
        let shape = match n % 2 {
            0 if keys > 1 => Shapes::Mixed.get(mode, i % 12),
            _ => Shape::usual(mode),
        };
        common::sample(mode, (i % keys) as u32, i % 4, shape, i % 60 * 101)
    };
    let samples: Vec<_> = (0..n).map(make).collect();
    let bytes: usize = samples.iter().map(|sample| sample.plain.len() + 48).sum();
    assert_eq!(bytes >= BYTES_OF_TWO, n >= MANY, "{mode}: {bytes} bytes");
    samples
}

/// Every mode and operation with its good keys, shared and in a table.
fn for_all(mut f: impl FnMut(Mode, Op, CallKeys<'static>, usize)) {
    for mode in Mode::ALL {
        for op in ops(*mode) {
            f(*mode, op, CallKeys::Shared(&table(*mode)[0]), 1);
            f(*mode, op, CallKeys::Table(table(*mode)), 5);
            f(*mode, op, CallKeys::Own(table(*mode)), 5);
        }
    }
}

#[test]
fn a_team_does_what_one_does() {
    let heap = Heap::new(None);
    let mut draw = Draw::new(16);
    let mut teams = [1, 2, 3, 7].map(team);
    for_all(|mode, op, keys, count| {
        for team in &mut teams {
            for n in [0, 1, 2, 5, 100, MANY, MANY + 1] {
                let samples = samples(mode, n, count);
                let call = Call {
                    attached: draw.below(2) == 0,
                    spare: draw.pick(&[0, 1, 16]),
                    ..Call::new(op, keys, draw.pick(works_with(&samples)))
                };
                check(team, &heap, &call, &samples);
            }
        }
    });
}

/// Messages that fail do so whichever thread has them.
#[test]
fn failures_are_found_where_they_are() {
    let heap = Heap::new(None);
    let mut draw = Draw::new(17);
    let mut team = team(3);
    for_all(|mode, op, keys, count| {
        if mode.info().kind == Kind::Cipher || op == ops(mode)[0] {
            return;
        }
        let mut samples = samples(mode, MANY, count);
        for i in [0, 7, 99, 100, 101, 250, 511, 512, MANY / 2, MANY - 1] {
            samples[i] = samples[i].forged(&mut draw);
        }
        for form in works_with(&samples) {
            check(&mut team, &heap, &Call::new(op, keys, *form), &samples);
        }
    });
}

/// A message that is refused stops all threads before they start; `run` sees that
/// nothing was touched.
#[test]
fn mistakes_are_found_where_they_are() {
    let heap = Heap::new(None);
    let mut team = team(3);
    for_all(|mode, op, _, count| {
        for bad in [0, MANY / 2, MANY - 1] {
            let mut samples = samples(mode, MANY, count);
            Arc::make_mut(&mut samples[bad]).key = KEYS as u32;
            let call = Call::new(op, table(mode), Form::Copy);
            let error = run(&mut team, &heap, &call, &samples).expect_err("no such key");
            assert_eq!(error.message, Some(bad));
        }
    });
    // So does a key of another mode in the table.
    let raw = [[1; 16]; 2];
    let mixed = [(Mode::Cbc, &raw[0]), (Mode::Ctr, &raw[1])];
    let mixed = mixed.map(|(mode, raw)| AnyKey::for_mode(mode, raw).expect("a good key"));
    let mut samples = samples(Mode::Cbc, MANY, 1);
    Arc::make_mut(&mut samples[MANY - 50]).key = 1;
    let call = Call::new(Op::Encrypt, &mixed[..], Form::InPlace);
    let error = run(&mut team, &heap, &call, &samples).expect_err("a key of another mode");
    assert_eq!(error.message, Some(MANY - 50));
}

/// What `Comb` refuses of a packed batch as a whole, before a team looks at its messages.
#[test]
fn columns_of_other_lengths() {
    let key = &table(Mode::Gcm)[0];
    let mut team = team(3);
    let (mut text, nonces, mut tags) = (vec![0; 64], [0; 48], [0; 64]);
    let offsets = [0u32, 16, 32, 48, 64];
    let mut batch = Packed::new(Text::in_place(&mut text), Layout::Offsets(&offsets))
        .nonces(&nonces, 12, 12)
        .tags(&mut tags, 16, 16)
        .associated_data(b"abcd", Layout::Offsets(&[0u32, 2]));
    let error = team
        .seal(key, &mut batch)
        .expect_err("a column that is too short");
    assert_eq!(error.field, Field::Count);
    let layout = Layout::Slots {
        starts: &[],
        lengths: &[1u64, 2],
    };
    let mut batch = Packed::new(Text::in_place(&mut text), layout);
    let error = team.run(Op::Seal, key, &mut batch).expect_err("no starts");
    assert!(matches!(error, OpenError::Refused(e) if e.field == Field::Count));
}

/// Threads check stretches of a packed batch, and say what is wrong as one scheduler does: in the
/// midst of a stretch, and between two.
#[test]
fn places_are_refused_where_they_are() {
    const COUNT: usize = 100_000;
    const LEN: usize = 16;
    let key = &table(Mode::Ctr)[0];
    let mut team = team(3);
    let nonces = vec![3; COUNT * 16];
    let mut text = vec![7; COUNT * LEN];
    let mut ask = |layout: Layout<'_, u64>, bytes: usize, bad: usize| {
        let mut refuse = |scheduler: &mut dyn FnMut(&mut Packed<'_, u64>) -> Result<(), Error>| {
            let text_of_all = Text::in_place(&mut text[..bytes]);
            let mut batch = Packed::new(text_of_all, layout).nonces(&nonces, 16, 16);
            let error = scheduler(&mut batch).expect_err("a place that is refused");
            assert!(text.iter().all(|byte| *byte == 7), "{error}");
            error
        };
        let one = refuse(&mut |batch| Comb::new().encrypt(key, batch));
        let all = refuse(&mut |batch| team.encrypt(key, batch));
        assert_eq!(one.message, Some(bad));
        assert_eq!(format!("{one:?}"), format!("{all:?}"));
    };
    let starts: Vec<u64> = (0..=COUNT as u64).map(|i| i * LEN as u64).collect();
    let lengths = vec![LEN as u64; COUNT];
    let places = (0..8).map(|i| 1 << i).chain((200..COUNT).step_by(3037));
    for bad in places.chain([512, 1024, 512 * 39, COUNT - 1]) {
        let mut offsets = starts.clone();
        offsets[bad + 1] = offsets[bad] - 1;
        ask(Layout::Offsets(&offsets), COUNT * LEN, bad);
        let mut starts = starts[..COUNT].to_vec();
        starts[bad] -= 1;
        let (starts, lengths) = (&starts, &lengths);
        ask(Layout::Slots { starts, lengths }, COUNT * LEN, bad);
        let mut lengths = lengths.clone();
        lengths[bad] += 1;
        let (stride, lengths) = (LEN, &lengths);
        ask(Layout::Ring { stride, lengths }, COUNT * LEN, bad);
    }
    // The last stretch has one message, of no bytes, which begins behind the end.
    let count = 512 * 195 + 1;
    let mut lengths = vec![LEN as u64; count];
    lengths[count - 2..].fill(0);
    let (stride, lengths) = (LEN, &lengths);
    let ring = Layout::Ring { stride, lengths };
    ask(ring, (count - 2) * LEN, count - 1);
}

/// Columns that are so long that threads check them: the results of one scheduler, and its failures.
#[test]
fn long_columns() {
    const COUNT: usize = 60_000;
    let key = &table(Mode::Gcm)[0];
    let mut team = team(3);
    let lengths: Vec<u64> = (0..COUNT as u64).map(|i| i * 7 % 41).collect();
    let sums = |lengths: &mut dyn Iterator<Item = u64>, gap: u64| -> Vec<u64> {
        let mut at = 0;
        let all = lengths.map(|len| {
            at += len + gap;
            at
        });
        [0].into_iter().chain(all).collect()
    };
    let offsets = sums(&mut lengths.iter().copied(), 0);
    let starts = sums(&mut lengths.iter().copied(), 1);
    let data_offsets = sums(&mut (0..COUNT as u64).map(|i| i % 3), 0);
    let data = vec![5; data_offsets[COUNT] as usize];
    let nonces: Vec<u8> = (0..COUNT * 12).map(|i| (i * i % 251) as u8).collect();
    for layout in [
        Layout::Offsets(&offsets),
        Layout::Slots {
            starts: &starts[..COUNT],
            lengths: &lengths,
        },
        Layout::Ring {
            stride: 48,
            lengths: &lengths,
        },
    ] {
        let mut texts = [vec![1; COUNT * 48], vec![1; COUNT * 48]];
        let mut tags = [vec![0; COUNT * 16], vec![0; COUNT * 16]];
        let mut results = [(); 2].map(|()| vec![MessageResult::default(); COUNT]);
        let mut failures = [Vec::new(), Vec::new()];
        for open in [false, true] {
            for (which, text) in texts.iter_mut().enumerate() {
                if open {
                    for i in [0, 511, 512, 8191, 30_000, COUNT - 1] {
                        tags[which][i * 16 + 3] ^= 4;
                    }
                }
                let mut batch = Packed::new(Text::in_place(text), layout)
                    .nonces(&nonces, 12, 12)
                    .associated_data(&data, Layout::Offsets(&data_offsets))
                    .tags(&mut tags[which], 16, 16)
                    .results(&mut results[which]);
                let op = if open { Op::Open } else { Op::Seal };
                let result = match which {
                    0 => Comb::new().run(op, key, &mut batch),
                    _ => team.run(op, key, &mut batch),
                };
                failures[which] = failed(op, result).expect("a good batch");
            }
            assert_eq!(failures[0], failures[1]);
            assert_eq!(failures[0].len(), if open { 6 } else { 0 });
            assert!(texts[0] == texts[1] && tags[0] == tags[1] && results[0] == results[1]);
        }
    }
}

/// Places of results are refused as by one scheduler.
#[test]
fn places_of_results() {
    const COUNT: usize = 102_401;
    let key = &table(Mode::Ecb)[0];
    let mut team = team(2);
    let mut ask = |n: usize, bytes: usize, layout: Layout<'_, u64>, output: Layout<'_, u64>| {
        let source = vec![1; bytes];
        let mut errors = Vec::new();
        for which in 0..2 {
            let mut to = vec![2; bytes * 2];
            let mut batch = Packed::new(Text::copy(&source, &mut to), layout).output(output);
            let result = match which {
                0 => Comb::new().encrypt(key, &mut batch),
                _ => team.encrypt(key, &mut batch),
            };
            errors.push(format!(
                "{:?}",
                result.expect_err("a place that is refused")
            ));
            assert!(to.iter().all(|byte| *byte == 2), "{n} messages: {errors:?}");
        }
        assert_eq!(errors[0], errors[1], "{n} messages");
        errors.remove(0)
    };
    for n in [1, 3, 200, COUNT] {
        let offsets: Vec<u64> = (0..=n as u64).map(|i| i * 32).collect();
        let mut lengths = vec![32; n];
        lengths[n - 1] = 16;
        let (stride, lengths) = (64, &lengths);
        let ring = Layout::Ring { stride, lengths };
        let error = ask(n, n * 32, Layout::Offsets(&offsets), ring);
        assert!(error.contains("OutputLength"), "{n} messages: {error}");
    }
}
