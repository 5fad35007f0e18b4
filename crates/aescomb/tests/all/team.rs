//! Several threads: the same results, statuses and errors as one.
#![cfg(feature = "threads")]

use crate::common::{
    self, Call, CallKeys, Draw, Form, Heap, KEYS, Sample, Scheduler, Shape, Shapes, check, failed,
    ops, run, table, works_with,
};
use aescomb::{
    AnyKey, Batch, Comb, Error, Field, Keys, Kind, Layout, Message, Mode, Offset, Op, OpenError,
    Packed, Team, Text,
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
    let mut ask = |layout: Layout<'_, u64>, bad: usize| {
        let mut refuse = |scheduler: &mut dyn FnMut(&mut Packed<'_, u64>) -> Result<(), Error>| {
            let mut batch = Packed::new(Text::in_place(&mut text), layout).nonces(&nonces, 16, 16);
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
        ask(Layout::Offsets(&offsets), bad);
        let mut starts = starts[..COUNT].to_vec();
        starts[bad] -= 1;
        let (starts, lengths) = (&starts, &lengths);
        ask(Layout::Slots { starts, lengths }, bad);
        let mut lengths = lengths.clone();
        lengths[bad] += 1;
        let (stride, lengths) = (LEN, &lengths);
        ask(Layout::Ring { stride, lengths }, bad);
    }
}
