//! Every mode, backend and operation against the textbook oracle, over lengths,
//! batch sizes, parallelism degrees, forms of a batch, key forms and alignments.

mod common;

use aescomb::{Backend, Comb, Key, Keys, Kind, Lengths, Mode, Op};
use common::{
    BATCHES, Call, Draw, Form, Heap, KEYS, Sample, backends, check, comb, degrees, fit, for_all,
    lengths, nonce, ops, paint, raw_key, run, sample, table,
};
use std::sync::Arc;

/// Which keys a batch uses.
#[derive(Clone, Copy, Debug)]
enum KeyUse {
    /// One for all, of the first, second or third size.
    Shared(u32),
    /// A table; neighbours have keys of different sizes.
    Mixed,
    /// A table; all keys have one size.
    OneSize(u32),
    /// A table; all messages use one key of it.
    Same(u32),
}

const KEY_USES: [KeyUse; 8] = [
    KeyUse::Shared(0),
    KeyUse::Shared(1),
    KeyUse::Shared(2),
    KeyUse::Mixed,
    KeyUse::OneSize(0),
    KeyUse::OneSize(1),
    KeyUse::OneSize(2),
    KeyUse::Same(5),
];

/// A batch of messages of these lengths, and its keys.
fn batch(mode: Mode, uses: KeyUse, lens: &[usize]) -> (Keys<'static>, Vec<Arc<Sample>>) {
    let table = table(mode);
    let keys = match uses {
        KeyUse::Shared(k) => Keys::Shared(&table[k as usize]),
        _ => Keys::Table(table),
    };
    let make = |(i, len): (usize, &usize)| {
        // Long messages share what the oracle made.
        let i = if *len > 1025 { i % 6 } else { i };
        let key = match uses {
            KeyUse::Shared(k) | KeyUse::Same(k) => k,
            KeyUse::Mixed => (i % KEYS) as u32,
            KeyUse::OneSize(size) => size + (i % (KEYS / 3)) as u32 * 3,
        };
        sample(mode, key, i % 16, *len)
    };
    (keys, lens.iter().enumerate().map(make).collect())
}

/// What the tests below leave to chance.
fn any_call<'k>(draw: &mut Draw, op: Op, keys: Keys<'k>) -> Call<'k> {
    Call {
        spare: draw.pick(&[0, 1, 7, 16, 40]),
        tag: draw.below(13),
        ..Call::new(op, keys, draw.pick(&Form::ALL))
    }
}

fn any_comb(draw: &mut Draw, backend: Backend) -> Comb {
    comb(backend, draw.pick(&degrees(backend)))
}

#[test]
fn equal_lengths_in_every_batch_size() {
    let heap = Heap::new(None);
    let mut draw = Draw::new(1);
    for_all(|mode, backend, op| {
        for count in BATCHES {
            let mut comb = any_comb(&mut draw, backend);
            for len in lengths(mode) {
                if len > 1025 && count > 9 {
                    continue;
                }
                let (keys, samples) = batch(mode, draw.pick(&KEY_USES), &vec![len; count]);
                check(&mut comb, &heap, &any_call(&mut draw, op, keys), &samples);
            }
        }
    });
}

#[test]
fn mixed_lengths_at_every_degree() {
    let heap = Heap::new(None);
    let mut draw = Draw::new(2);
    for_all(|mode, backend, op| {
        let lengths = lengths(mode);
        let short: Vec<_> = lengths.iter().copied().filter(|len| *len <= 257).collect();
        for degree in degrees(backend) {
            let mut comb = comb(backend, degree);
            for uses in KEY_USES {
                let count = draw.pick(&BATCHES);
                let lens: Vec<_> = (0..count)
                    .map(|_| match draw.below(8) {
                        0 => draw.pick(&lengths),
                        _ => draw.pick(&short),
                    })
                    .collect();
                let (keys, samples) = batch(mode, uses, &lens);
                check(&mut comb, &heap, &any_call(&mut draw, op, keys), &samples);
            }
        }
    });
}

#[test]
fn one_message_unlike_the_others_at_every_position() {
    let heap = Heap::new(None);
    let mut draw = Draw::new(3);
    for_all(|mode, backend, op| {
        for count in [2, 4, 5, 9, 17, 33] {
            let mut comb = any_comb(&mut draw, backend);
            for position in 0..count {
                let (others, one) = draw.pick(&[(48, 0), (0, 49), (16, 100), (65, 63), (128, 640)]);
                let mut lens = vec![others; count];
                lens[position] = one;
                let (keys, samples) = batch(mode, draw.pick(&KEY_USES), &lens);
                check(&mut comb, &heap, &any_call(&mut draw, op, keys), &samples);
            }
        }
    });
}

/// Lanes without a message run over memory of their own, which is short: long
/// messages that outlast their group make them go round.
#[test]
fn long_messages_among_short_ones() {
    let heap = Heap::new(None);
    let mut draw = Draw::new(4);
    for_all(|mode, backend, op| {
        let most = backend.max_lanes();
        for long in [1, 2, 3, most / 2, most / 2 + 1, most - 1] {
            for degree in [most, backend.default_lanes()] {
                let mut lens = vec![draw.pick(&[0, 17, 48, 300]); most + 3];
                for len in &mut lens[..long] {
                    *len = draw.pick(&[5000, 5008, 4113, 9000]);
                }
                if long < 4 {
                    lens[0] = 20_000;
                }
                // Not only at the beginning.
                lens.rotate_right(draw.below(most));
                let (keys, samples) = batch(mode, draw.pick(&KEY_USES), &lens);
                let mut comb = comb(backend, degree);
                check(&mut comb, &heap, &any_call(&mut draw, op, keys), &samples);
            }
        }
    });
}

#[test]
fn a_message_of_many_idle_rounds() {
    let heap = Heap::new(None);
    for_all(|mode, backend, op| {
        let lens = [66_001, 40, 5000, 40, 66_001, 1, 0, 17, 4100];
        let uses = if backend == Backend::Vaes256 {
            KeyUse::Shared(1)
        } else {
            KeyUse::Mixed
        };
        let (keys, samples) = batch(mode, uses, &lens);
        let mut comb = comb(backend, backend.max_lanes());
        check(
            &mut comb,
            &heap,
            &Call::new(op, keys, Form::InPlace),
            &samples,
        );
    });
}

#[test]
fn every_form_at_every_alignment() {
    let mut draw = Draw::new(5);
    let lens = [0, 1, 16, 33, 48, 64, 65, 100, 128, 256, 15, 0, 31];
    for_all(|mode, backend, op| {
        for form in Form::ALL {
            for offset in 0..16 {
                let heap = Heap::new(Some(offset));
                let (keys, samples) = batch(mode, draw.pick(&KEY_USES), &lens);
                let call = Call {
                    spare: draw.pick(&[0, 1, 13]),
                    tag: offset,
                    ..Call::new(op, keys, form)
                };
                check(&mut any_comb(&mut draw, backend), &heap, &call, &samples);
            }
        }
    });
}

/// Counters that overflow 32, 64 and 128 bits; for other modes just nonces.
#[test]
fn nonces_of_all_ones() {
    let heap = Heap::new(None);
    let mut draw = Draw::new(6);
    for_all(|mode, backend, op| {
        for degree in [1, backend.max_lanes()] {
            let mut comb = comb(backend, degree);
            for variant in 0..16 {
                // Alone, where blocks of one message go side by side, and in a
                // batch, where blocks of many do.
                for (count, len) in [(1, 17), (1, 97), (1, 640), (1, 1025), (40, 32), (20, 700)] {
                    let key = variant as u32 % 3;
                    let one = sample(mode, key, variant, len);
                    let samples = vec![one; count];
                    let keys = match draw.below(2) {
                        0 => Keys::Shared(&table(mode)[key as usize]),
                        _ => Keys::Table(table(mode)),
                    };
                    check(&mut comb, &heap, &any_call(&mut draw, op, keys), &samples);
                }
            }
        }
    });
}

/// One scheduler for calls of all kinds, some of them refused: nothing of one
/// call shows in another.
#[test]
fn a_scheduler_used_for_everything() {
    let heap = Heap::new(None);
    let mut draw = Draw::new(7);
    let combs = backends().map(|b| Comb::with_backend(b).expect("an available backend"));
    for mut comb in combs.chain([Comb::new()]) {
        for _ in 0..600 {
            let mode = draw.pick(Mode::ALL);
            let op = draw.pick(&ops(mode));
            let most = degrees(comb.backend(mode, op));
            if comb.set_lanes(draw.pick(&most)).is_err() {
                // Another mode may have another backend, with fewer lanes.
                continue;
            }
            let count = draw.below(70);
            let lens: Vec<_> = (0..count)
                .map(|_| match draw.below(10) {
                    0 => draw.pick(&lengths(mode)),
                    _ => fit(mode, draw.below(150)),
                })
                .collect();
            let (keys, samples) = batch(mode, draw.pick(&KEY_USES), &lens);
            let call = any_call(&mut draw, op, keys);
            if count > 0 && draw.below(4) == 0 {
                let mut bad: Vec<_> = samples.clone();
                let at = draw.below(count);
                let mut sample = (*bad[at]).clone();
                sample.key = u32::MAX;
                bad[at] = Arc::new(sample);
                let refused = Call {
                    keys: Keys::Table(table(mode)),
                    ..call
                };
                let error = run(&mut comb, &heap, &refused, &bad).expect_err("no such key");
                assert_eq!(error.message, Some(at));
            }
            check(&mut comb, &heap, &call, &samples);
        }
    }
}

#[test]
fn the_library_s_own_choice() {
    let heap = Heap::new(None);
    let mut draw = Draw::new(8);
    let mut comb = Comb::new();
    for mode in Mode::ALL {
        for op in ops(*mode) {
            for count in BATCHES {
                let (keys, samples) = batch(*mode, draw.pick(&KEY_USES), &vec![129; count]);
                check(&mut comb, &heap, &any_call(&mut draw, op, keys), &samples);
            }
        }
    }
}

#[test]
fn one_message_calls() {
    for mode in Mode::ALL {
        for size in 0..3 {
            let key = &table(*mode)[size];
            for (variant, len) in lengths(*mode).into_iter().enumerate() {
                let sample = sample(*mode, size as u32, variant % 16, len);
                alone(key, &sample);
            }
        }
    }
}

/// A message through the one-message calls of a key.
fn alone(key: &Key, sample: &Sample) {
    let info = key.mode().info();
    if info.kind == Kind::Mac {
        for len in info.tag_bytes.0..=info.tag_bytes.1 {
            let mut tag = vec![0; len];
            key.mac(&sample.plain, &mut tag).expect("a good message");
            assert_eq!(tag, sample.sealed[..len]);
        }
        return;
    }
    let mut data = sample.plain.clone();
    if info.lengths == Lengths::Padded {
        data = sample.sealed.clone();
    } else {
        key.encrypt_in_place(&sample.nonce, &mut data)
            .expect("a good message");
        assert_eq!(
            data,
            sample.sealed,
            "{} {}",
            key.algorithm(),
            sample.plain.len()
        );
    }
    let len = key
        .decrypt_in_place(&sample.nonce, &mut data)
        .expect("a good message");
    assert_eq!(
        data[..len],
        sample.plain,
        "{} {}",
        key.algorithm(),
        sample.plain.len()
    );
}

/// Tables of every size, also used again, with all key sizes and from every
/// backend, hold the same keys as those made one by one.
#[test]
fn keys_expanded_many_at_once() {
    let mut draw = Draw::new(9);
    let mut table = Vec::new();
    for backend in backends() {
        for count in [0, 1, 2, 3, 4, 5, 8, 15, 16, 17, 33, 7, 16, 64] {
            for sizes in 0..4 {
                let mode = draw.pick(Mode::ALL);
                let raw: Vec<_> = (0..count)
                    .map(|i| {
                        raw_key(if sizes < 3 {
                            i * 3 + sizes
                        } else {
                            draw.below(99)
                        })
                    })
                    .collect();
                Key::expand_many_with(backend, mode, &raw, &mut table).expect("good keys");
                assert_eq!(table.len(), count);
                for (key, raw) in table.iter().zip(&raw) {
                    assert_eq!(key.mode(), mode);
                    assert_eq!(key.algorithm().key_bits, raw.len() * 8);
                    let text = paint(fit(mode, 41), count);
                    let sample = Sample::seal(mode, 0, raw, nonce(mode, 0), text);
                    alone(key, &sample);
                    alone(&Key::new(mode, raw).expect("a good key"), &sample);
                }
            }
        }
    }
}
