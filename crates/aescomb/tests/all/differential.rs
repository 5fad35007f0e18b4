//! Every mode, backend and operation against the textbook oracle, over lengths,
//! batch sizes, parallelism degrees, forms of a batch, key forms and alignments.

use crate::common::{
    BATCHES, Call, CallKeys, Draw, Form, Heap, KEYS, Memory, Sample, Shape, Shapes, alone,
    backends, check, comb, comb_apart, data, degrees, fit, for_all, is_as_on_another_cpu, lengths,
    lengths_apart, nonce, nonce_of, ops, paint, raw_key, refs, run, sample, table, works_with,
};
use aescomb::{AnyKey, Backend, Comb, Kind, Message, Mode, Op, Status, Text};
use std::sync::Arc;

/// Which keys a batch uses.
#[derive(Clone, Copy, Debug)]
enum KeyUse {
    /// One for all, of the first, second or third size.
    Shared(u32),
    /// A table; neighbours have keys of different sizes.
    Mixed,
    /// The same through references.
    Refs,
    /// Each message has its own, of different sizes.
    Own,
    /// A table; all keys have one size.
    OneSize(u32),
    /// A table; all messages use one key of it.
    Same(u32),
}

const KEY_USES: [KeyUse; 10] = [
    KeyUse::Shared(0),
    KeyUse::Shared(1),
    KeyUse::Shared(2),
    KeyUse::Mixed,
    KeyUse::Refs,
    KeyUse::Own,
    KeyUse::OneSize(0),
    KeyUse::OneSize(1),
    KeyUse::OneSize(2),
    KeyUse::Same(5),
];

/// A batch of messages of these lengths, and its keys.
fn batch(
    mode: Mode,
    uses: KeyUse,
    shapes: Shapes,
    lens: &[usize],
) -> (CallKeys<'static>, Vec<Arc<Sample>>) {
    let table = table(mode);
    let keys = match uses {
        KeyUse::Shared(k) => CallKeys::from(&table[k as usize]),
        KeyUse::Refs => refs(mode).into(),
        KeyUse::Own => CallKeys::Own(table),
        _ => CallKeys::from(table),
    };
    let make = |(i, len): (usize, &usize)| {
        // Long messages share what the oracle made.
        let i = if *len > 1025 { i % 6 } else { i };
        let key = match uses {
            KeyUse::Shared(k) | KeyUse::Same(k) => k,
            KeyUse::Mixed | KeyUse::Refs | KeyUse::Own => (i % KEYS) as u32,
            KeyUse::OneSize(size) => size + (i % (KEYS / 3)) as u32 * 3,
        };
        // Nonces of any length do for texts of any length only in some modes.
        let shape = match *len > 0xffff {
            true => Shape::usual(mode),
            false => shapes.get(mode, i),
        };
        // Associated data has a length for each variant but those that are 16 apart.
        let variant = match shapes {
            Shapes::Alike(n) => (n + lens.len()) % 16 + i % 8 * 16,
            Shapes::Mixed => i % 16,
        };
        sample(mode, key, variant, shape, *len)
    };
    (keys, lens.iter().enumerate().map(make).collect())
}

/// What the tests below leave to chance.
fn any_call<'k>(draw: &mut Draw, op: Op, keys: CallKeys<'k>, samples: &[Arc<Sample>]) -> Call<'k> {
    Call {
        spare: draw.pick(&[0, 1, 7, 16, 40]),
        attached: draw.below(2) == 0,
        ..Call::new(op, keys, draw.pick(works_with(samples)))
    }
}

/// A batch with keys and shapes of any kind, through a call of any kind.
fn check_any(comb: &mut Comb, heap: &Heap, draw: &mut Draw, mode: Mode, op: Op, lens: &[usize]) {
    let uses = draw.pick(&KEY_USES);
    check_keys(comb, heap, draw, (mode, op), uses, lens);
}

/// The same with these keys.
fn check_keys(
    comb: &mut Comb,
    heap: &Heap,
    draw: &mut Draw,
    (mode, op): (Mode, Op),
    uses: KeyUse,
    lens: &[usize],
) {
    let (keys, samples) = batch(mode, uses, Shapes::any(draw), lens);
    check(comb, heap, &any_call(draw, op, keys, &samples), &samples);
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
                let lens = vec![len; count];
                check_any(&mut comb, &heap, &mut draw, mode, op, &lens);
            }
        }
    });
}

#[test]
fn mixed_lengths_at_every_degree() {
    mixed_lengths_at(degrees);
}

pub(crate) fn mixed_lengths_at(degrees: impl Fn(Backend) -> Vec<usize>) {
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
                check_keys(&mut comb, &heap, &mut draw, (mode, op), uses, &lens);
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
                check_any(&mut comb, &heap, &mut draw, mode, op, &lens);
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
                let mut comb = comb(backend, degree);
                check_any(&mut comb, &heap, &mut draw, mode, op, &lens);
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
        let (keys, samples) = batch(mode, uses, Shapes::Alike(0), &lens);
        let mut comb = comb(backend, backend.max_lanes());
        let call = Call::new(op, keys, Form::InPlace);
        check(&mut comb, &heap, &call, &samples);
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
                let shapes = Shapes::of(form, offset);
                let (keys, samples) = batch(mode, draw.pick(&KEY_USES), shapes, &lens);
                let call = Call {
                    spare: draw.pick(&[0, 1, 13]),
                    attached: offset.is_multiple_of(2),
                    ..Call::new(op, keys, form)
                };
                check(&mut any_comb(&mut draw, backend), &heap, &call, &samples);
            }
        }
    });
}

/// Modes of a standard with a pass in which a block waits for the one before it.
const SERIAL: [Mode; 7] = [
    Mode::Cbc,
    Mode::CbcPkcs7,
    Mode::Cfb128,
    Mode::Ofb,
    Mode::Cmac,
    Mode::Ccm,
    Mode::Siv,
];

/// Full groups of many messages, whose texts end anywhere, through windows of all widths; and many
/// of one or two blocks and of one length.
#[test]
pub(crate) fn large_batches_of_serial_modes() {
    let mut draw = Draw::new(16);
    for_all(|mode, backend, op| {
        if !SERIAL.contains(&mode) {
            return;
        }
        for form in Form::ALL {
            let short = draw.pick(&[0, 1, 15, 16, 17, 31, 32]);
            for (least, below) in [
                (0, 700),
                (0, 80),
                (320, 321),
                (512, 513),
                (1031, 1032),
                (short, short + 1),
            ] {
                let count = match below <= 33 {
                    true => 131,
                    false => draw.pick(&[64, 100, 131]),
                };
                let lens: Vec<_> = (0..count)
                    .map(|_| fit(mode, least + draw.below(below - least)))
                    .collect();
                let uses = draw.pick(&[KeyUse::Shared(0), KeyUse::Shared(1), KeyUse::Shared(2)]);
                let (keys, samples) = batch(mode, uses, Shapes::of(form, 1), &lens);
                let call = Call {
                    spare: draw.pick(&[0, 1, 13]),
                    attached: draw.below(2) == 0,
                    ..Call::new(op, keys, form)
                };
                let lanes = draw.pick(&[backend.default_lanes(), backend.max_lanes()]);
                let mut comb = comb(backend, lanes);
                check(&mut comb, &Heap::new(Some(draw.below(64))), &call, &samples);
            }
        }
    });
}

/// Modes whose rows are linked when they encrypt: a row takes what the one before it made.
const LINKED: [Mode; 4] = [Mode::Cbc, Mode::CbcPkcs7, Mode::Cfb128, Mode::Ofb];

/// Many long texts of mixed lengths, which modes that are linked may do in more lanes than are asked for.
#[test]
pub(crate) fn many_long_texts() {
    let mut draw = Draw::new(22);
    for_all(|mode, backend, op| {
        if !LINKED.contains(&mode) {
            return;
        }
        let form = draw.pick(&Form::ALL);
        // With what a stretch of 512 leaves over.
        let count = draw.pick(&[256, 300, 511, 800]);
        let lens: Vec<_> = (0..count)
            .map(|_| fit(mode, 400 + draw.below(1200)))
            .collect();
        let (keys, samples) = batch(mode, KeyUse::Shared(0), Shapes::of(form, 1), &lens);
        let call = Call {
            spare: draw.pick(&[0, 1, 13]),
            ..Call::new(op, keys, form)
        };
        let mut comb = comb(backend, backend.default_lanes());
        check(&mut comb, &Heap::new(Some(draw.below(64))), &call, &samples);
    });
}

/// Batches larger than the caches: texts are prefetched, and GCM seals them in another order.
#[test]
pub(crate) fn batches_larger_than_the_caches() {
    let mut draw = Draw::new(16);
    let heap = Heap::new(None);
    for_all(|mode, backend, op| {
        let uses = [
            draw.pick(&[KeyUse::Shared(0), KeyUse::OneSize(0)]),
            KeyUse::Own,
        ];
        // Portable code fetches nothing, and takes most of the time.
        let uses = match backend == Backend::Portable || is_as_on_another_cpu() {
            true => &uses[draw.below(2)..][..1],
            false => &uses[..],
        };
        for uses in uses {
            let some = draw.pick(&[[40, 2048, 2100, 2303], [1472; 4]]);
            let lens: Vec<_> = (0..4800).map(|_| fit(mode, draw.pick(&some))).collect();
            let shapes = Shapes::Alike(draw.below(Shape::COUNT));
            let (keys, samples) = batch(mode, *uses, shapes, &lens);
            let mut comb = comb(backend, backend.max_lanes());
            let call = any_call(&mut draw, op, keys, &samples);
            check(&mut comb, &heap, &call, &samples);
        }
    });
}

/// Texts that lie a page or half of one apart share lines of the first-level cache, and the
/// engine has a way of its own for such groups.
#[test]
fn texts_at_the_same_place_of_a_page() {
    texts_at_the_same_place(1);
}

/// At every offset from a line that is a multiple of `step`.
pub(crate) fn texts_at_the_same_place(step: usize) {
    let mut draw = Draw::new(14);
    for_all(|mode, backend, op| {
        for offset in (0..64).step_by(step) {
            let mut comb = comb_apart(&mut draw, backend);
            let lens = lengths_apart(&mut draw, mode);
            let shapes = Shapes::Alike(draw.below(Shape::COUNT));
            let (keys, samples) = batch(mode, draw.pick(&KEY_USES), shapes, &lens);
            let call = Call {
                attached: draw.below(2) == 0,
                apart: Some(draw.pick(&[2048, 4096])),
                ..Call::new(op, keys, draw.pick(&Form::APART))
            };
            check(&mut comb, &Heap::new(Some(offset)), &call, &samples);
        }
    });
}

/// Full groups of texts that lie a page or half of one apart, whose lanes go in phases, by whole lines or staged, and
/// short texts of one length, which go by whole lines: from how many rows on depends on the CPU.
#[test]
pub(crate) fn full_groups_at_the_same_place_of_a_page() {
    let mut draw = Draw::new(15);
    for_all(|mode, backend, op| {
        if !SERIAL.contains(&mode) {
            return;
        }
        for apart in [2048, 4096] {
            for form in Form::APART {
                // The last group has lanes that are staged, or fewer.
                let last = draw.pick(&[3, 14]);
                for count in [backend.max_lanes(), 2 * backend.max_lanes() + last] {
                    let long = draw.pick(&[[657, 800, 927, 1279], [1537, 1600, 1799, 1920]]);
                    let one_length = [draw.pick(&[64, 77, 128, 255, 256, 511, 512]); 4];
                    let mut all = vec![long, [191, 200, 333, 499], one_length];
                    if apart == 4096 {
                        // Some in phases first.
                        all.push([2063, 2500, 3333, 3840]);
                    }
                    for some in all {
                        let lens: Vec<_> =
                            (0..count).map(|_| fit(mode, draw.pick(&some))).collect();
                        let shapes = Shapes::Alike(draw.below(Shape::COUNT));
                        let size = draw.below(3) as u32;
                        let uses = draw.pick(&[KeyUse::Shared(size), KeyUse::OneSize(size)]);
                        let (keys, samples) = batch(mode, uses, shapes, &lens);
                        let call = Call {
                            attached: draw.below(2) == 0,
                            apart: Some(apart),
                            ..Call::new(op, keys, form)
                        };
                        let mut comb = comb(backend, backend.max_lanes());
                        check(&mut comb, &Heap::new(Some(draw.below(64))), &call, &samples);
                    }
                }
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
                    let shape = Shape::nth(mode, variant);
                    let samples = vec![sample(mode, key, variant, shape, len); count];
                    let keys = match draw.below(2) {
                        0 => CallKeys::from(&table(mode)[key as usize]),
                        _ => CallKeys::from(table(mode)),
                    };
                    let call = any_call(&mut draw, op, keys, &samples);
                    check(&mut comb, &heap, &call, &samples);
                }
            }
        }
    });
}

/// Counters that begin with every last byte, so that it overflows in every row and at every
/// place of a row, with a carry that stops at once or goes through all bytes; messages of two
/// rows and more, whose counters come from a table.
#[test]
fn counters_from_every_byte_on() {
    let raw = raw_key(Mode::Ctr, 0);
    let mut table = Vec::new();
    for mode in [Mode::Ctr, Mode::Ctr32] {
        // In the second mode, in the place of a key that has made its table.
        AnyKey::expand_many_for(mode, &[&raw], &mut table).expect("a good key");
        let other: Vec<_> = raw.iter().map(|byte| !byte).collect();
        let long = &mut vec![0; 1 << 14];
        AnyKey::expand_many_for(mode, &[&other], &mut table).expect("a good key");
        for _ in 0..3 {
            table[0]
                .encrypt_in_place(&[7; 16], long)
                .expect("a good message");
        }
        AnyKey::expand_many_for(mode, &[&raw], &mut table).expect("a good key");
        let key = &table[0];
        let messages: Vec<_> = (0..=255)
            .map(|last| {
                let rest = [0xff, 0x5a][usize::from(last) % 2];
                let nonce = [[rest; 15].as_slice(), &[last]].concat();
                let text = paint(512 + usize::from(last) * 18, 3);
                let expected = aescomb_ref::encrypt(mode.name(), &raw, &nonce, &text);
                (nonce, text, expected.expect("a mode of the oracle"))
            })
            .collect();
        for backend in backends() {
            let mut texts: Vec<_> = messages.iter().map(|(_, text, _)| text.clone()).collect();
            let mut batch: Vec<_> = texts
                .iter_mut()
                .zip(&messages)
                .map(|(text, (nonce, ..))| Message::new(Text::in_place(text)).nonce(nonce))
                .collect();
            comb(backend, 1)
                .encrypt(key, &mut batch)
                .expect("a good batch");
            for (text, (nonce, _, expected)) in texts.iter().zip(&messages) {
                assert!(text == expected, "{mode} {backend} {nonce:x?}");
            }
        }
        for (nonce, text, expected) in &messages {
            let mut text = text.clone();
            key.encrypt_in_place(nonce, &mut text)
                .expect("a good message");
            assert!(text == *expected, "{mode}, one message, {nonce:x?}");
        }
    }
}

/// The product of GHASH, SP 800-38D section 6.3.
fn ghash_product(x: u128, y: u128) -> u128 {
    let mut power = y;
    let mut product = 0;
    for i in (0..128).rev() {
        if x >> i & 1 == 1 {
            product ^= power;
        }
        power = match power & 1 {
            1 => power >> 1 ^ 0xe1 << 120,
            _ => power >> 1,
        };
    }
    product
}

/// The nonce of 16 bytes that makes GCM begin with block `j0`:
/// `j0 = (nonce H ^ length) H`.
fn nonce_for(raw: &[u8], j0: u128) -> [u8; 16] {
    let h = aescomb_ref::encrypt("ecb", raw, &[], &[0; 16]).expect("a block");
    let h = u128::from_be_bytes(h.try_into().expect("a block"));
    // H^(2^128 - 2), whose bits are all ones but the last.
    let (mut inverse, mut square) = (1 << 127, h);
    for _ in 1..128 {
        square = ghash_product(square, square);
        inverse = ghash_product(inverse, square);
    }
    let length = 128;
    ghash_product(ghash_product(j0, inverse) ^ length, inverse).to_be_bytes()
}

/// GCM's counters from every last byte on, some of which overflow 16 bits and all 32, and from 2 on,
/// where nonces have 12 bytes; messages that follow each other by the number of a register's blocks,
/// of one length and of many.
#[test]
fn counters_of_gcm_from_every_byte_on() {
    for nonce_len in [12, 16] {
        counters_of_gcm(nonce_len);
    }
}

fn counters_of_gcm(nonce_len: usize) {
    let raw = raw_key(Mode::Gcm, 0);
    let key = AnyKey::for_mode(Mode::Gcm, &raw).expect("a good key");
    let data = [9; 12];
    let messages: Vec<_> = (0..=255_u32)
        .map(|last| {
            let counter = [0xffff_ff00, 0x00ff_ff00, 0x1234_5600][last as usize % 3] | last;
            let nonce = nonce_for(&raw, 0x5a << 120 | u128::from(counter));
            let nonce = nonce[..nonce_len].to_vec();
            let len = match last / 8 % 4 {
                0 => 10 + last as usize % 23,
                1 => 100,
                2 => 100 + last as usize % 8 * 30,
                // Among them all numbers of blocks from 254 to 257.
                _ => 600 + last as usize * 16 + last as usize % 16,
            };
            let text = paint(len, 3);
            let sealed = aescomb_ref::seal(Mode::Gcm.name(), &raw, &nonce, &[&data], &text, 16);
            (nonce, text, sealed.expect("a mode of the oracle"))
        })
        .collect();
    for backend in backends() {
        let mut texts: Vec<_> = messages.iter().map(|(_, text, _)| text.clone()).collect();
        let mut tags = vec![[0; 16]; texts.len()];
        let mut batch: Vec<_> = texts
            .iter_mut()
            .zip(&mut tags)
            .zip(&messages)
            .map(|((text, tag), (nonce, ..))| {
                let message = Message::new(Text::in_place(text));
                message.nonce(nonce).associated_data(&data).tag(tag)
            })
            .collect();
        let mut comb = comb(backend, backend.max_lanes());
        comb.seal(&key, &mut batch).expect("a good batch");
        for ((text, tag), (nonce, _, sealed)) in texts.iter().zip(&tags).zip(&messages) {
            let right = *text == sealed.text && tag[..] == sealed.tag;
            assert!(right, "{backend} {nonce:x?}");
        }
    }
    for (nonce, text, sealed) in &messages {
        let (mut text, mut tag) = (text.clone(), [0; 16]);
        key.seal_in_place(nonce, &data, &mut text, &mut tag)
            .expect("a good message");
        let right = text == sealed.text && tag[..] == sealed.tag;
        assert!(right, "one message, {nonce:x?}");
    }
}

/// Messages without a text, with associated data, among short and long ones.
#[test]
fn empty_messages_among_others() {
    let heap = Heap::new(None);
    let mut draw = Draw::new(11);
    let lens = [
        0, 300, 17, 0, 0, 0, 0, 600, 130, 0, 64, 2048, 2064, 0, 2032, 1,
    ];
    for_all(|mode, backend, op| {
        for shapes in [Shapes::Alike(0), Shapes::Alike(2), Shapes::any(&mut draw)] {
            let mut comb = comb(backend, backend.max_lanes());
            for uses in [KeyUse::Shared(0), KeyUse::Own] {
                let lens = lens.map(|len| fit(mode, len));
                let (keys, samples) = batch(mode, uses, shapes, &lens);
                check(
                    &mut comb,
                    &heap,
                    &any_call(&mut draw, op, keys, &samples),
                    &samples,
                );
            }
        }
    });
}

/// Some of a batch have as many blocks, or pairs of blocks, as a key's tables have, or as are made at once of
/// others, and one more or less.
#[test]
fn messages_as_long_as_tables() {
    let heap = Heap::new(None);
    let mut draw = Draw::new(12);
    let mut lens = Vec::new();
    for row in [16, 32] {
        for rows in [63, 64, 65, 127, 128, 129] {
            lens.extend([0, 1, row - 1].map(|more| row * rows + more));
        }
    }
    for_all(|mode, backend, op| {
        let lens: Vec<_> = lens.iter().map(|len| fit(mode, *len)).collect();
        let mut comb = comb(backend, backend.max_lanes());
        for uses in [KeyUse::Shared(0), KeyUse::Own] {
            let (keys, samples) = batch(mode, uses, Shapes::Alike(0), &lens);
            check(
                &mut comb,
                &heap,
                &any_call(&mut draw, op, keys, &samples),
                &samples,
            );
        }
    });
}

/// What one operation keeps with a key serves the others, in batches of all sizes.
#[test]
fn whichever_operation_comes_first_under_a_key() {
    let heap = Heap::new(None);
    for_all(|mode, backend, first| {
        let key = AnyKey::for_mode(mode, &raw_key(mode, 0)).expect("a good key");
        let shape = Shape::usual(mode);
        let mut comb = comb(backend, backend.max_lanes());
        for op in [first].into_iter().chain(ops(mode)) {
            for count in [9, 1, 2] {
                let samples: Vec<_> = (0..count)
                    .map(|i| sample(mode, 0, i, shape, fit(mode, 600 + 16 * i)))
                    .collect();
                let call = Call::new(op, CallKeys::from(&key), works_with(&samples)[0]);
                check(&mut comb, &heap, &call, &samples);
            }
        }
    });
}

/// One scheduler for calls of all kinds, some of them refused, some of messages that
/// fail: nothing of one call shows in another.
#[test]
fn a_scheduler_used_for_everything() {
    let heap = Heap::new(None);
    let mut draw = Draw::new(7);
    let combs = backends().map(|b| Comb::with_backend(b).expect("an available backend"));
    for mut comb in combs.chain([Comb::new()]) {
        for _ in 0..800 {
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
            let shapes = Shapes::any(&mut draw);
            let (keys, mut samples) = batch(mode, draw.pick(&KEY_USES), shapes, &lens);
            if count > 0 && matches!(op, Op::Verify | Op::Open) {
                for _ in 0..draw.below(4) {
                    let at = draw.below(count);
                    // Not twice, which might undo it.
                    if samples[at].verdict == Status::Done {
                        samples[at] = samples[at].forged(&mut draw);
                    }
                }
            }
            let call = any_call(&mut draw, op, keys, &samples);
            if count > 0 && draw.below(4) == 0 {
                let mut bad: Vec<_> = samples.clone();
                let at = draw.below(count);
                let mut sample = (*bad[at]).clone();
                sample.key = u32::MAX;
                bad[at] = Arc::new(sample);
                let refused = Call {
                    keys: CallKeys::from(table(mode)),
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
pub(crate) fn the_library_s_own_choice() {
    let heap = Heap::new(None);
    let mut draw = Draw::new(8);
    let mut comb = Comb::new();
    for mode in Mode::ALL {
        for op in ops(*mode) {
            for count in BATCHES {
                check_any(&mut comb, &heap, &mut draw, *mode, op, &vec![129; count]);
            }
        }
    }
}

/// Associated data of very different lengths in one batch, up to where CCM counts it
/// in more bytes; the texts are of other lengths.
#[test]
fn associated_data_of_many_lengths() {
    let heap = Heap::new(None);
    let mut draw = Draw::new(13);
    let long = [0xfeff, 0xff00, 0xff01, 0xffff, 0x1_0000, 70_000];
    for_all(|mode, backend, op| {
        if mode.info().kind != Kind::Aead {
            return;
        }
        let mut make = |key: usize, i: usize, data: usize| {
            let (nonce, tag) = (nonce(mode, i), mode.info().longest_tag());
            let plain = paint(draw.pick(&[0, 1, 16, 40, 100, 1000]), i);
            let sample = Sample::new(key as u32, nonce, vec![paint(data, i)], plain, tag);
            Arc::new(sample.seal(mode, &raw_key(mode, key)))
        };
        let mixed = [
            0, 1, 12, 100, 5000, 0, 17, 16, 15, 3000, 33, 1, 0, 12, 64, 5000, 200, 0,
        ];
        let mut batches = vec![mixed.to_vec(), (0..70).collect()];
        batches.extend(long.map(|len| vec![len]));
        batches.push(vec![100, 0, 0xff00, 5000]);
        // Under a key for each message, and under one key, for some of the batches.
        let own = batches.iter().map(|lens| (lens, None));
        let shared = batches[..2].iter().zip([0, 1].map(Some));
        for (n, (lens, one)) in own.chain(shared).enumerate() {
            let samples: Vec<_> = lens
                .iter()
                .enumerate()
                .map(|(i, len)| make(one.unwrap_or(i % KEYS), i, *len))
                .collect();
            let keys = || match one {
                Some(key) => CallKeys::from(&table(mode)[key]),
                None => CallKeys::from(table(mode)),
            };
            for degree in [1, backend.default_lanes(), backend.max_lanes()] {
                if n > 1 && degree == 1 {
                    continue;
                }
                let call = any_call(&mut Draw::new(n as u64), op, keys(), &samples);
                check(&mut comb(backend, degree), &heap, &call, &samples);
            }
        }
    });
}

#[test]
fn one_message_calls() {
    let heap = Heap::new(None);
    for mode in Mode::ALL {
        for size in 0..3 {
            let key = &table(*mode)[size];
            for (i, len) in lengths(*mode).into_iter().enumerate() {
                for n in [i, i + 7] {
                    let shape = Shape::alone(*mode, n);
                    let sample = sample(*mode, size as u32, i % 16, shape, len);
                    alone(&heap, key, &sample);
                }
            }
        }
    }
}

/// Messages that calls of a key take for long ones, from 64 KiB on, and those just below.
#[test]
fn one_message_calls_of_long_messages() {
    let heap = Heap::new(None);
    for mode in Mode::ALL {
        for len in [0xffff, 0x1_0000, 0x1_0010] {
            // With a nonce of usual length, CCM takes more than 64 KiB.
            let sample = sample(*mode, 0, 0, Shape::alone(*mode, 0), len);
            alone(&heap, &table(*mode)[0], &sample);
        }
    }
}

/// Long associated data: in the first call of a key, which keeps nothing yet, and in those after it.
#[test]
fn one_message_calls_with_long_data() {
    let heap = Heap::new(None);
    let aeads = Mode::ALL.iter().copied();
    for mode in aeads.filter(|mode| mode.info().kind == Kind::Aead) {
        for (i, data) in [64, 65, 176, 193, 208, 500, 1000, 5000]
            .into_iter()
            .enumerate()
        {
            for len in [0, 16, 100, 1000] {
                let shape = Shape::alone(mode, 0);
                let (nonce, data) = (nonce(mode, i), vec![paint(data, i)]);
                let sample = Sample::new(i as u32, nonce, data, paint(len, i), shape.tag);
                let sample = sample.seal(mode, &raw_key(mode, i));
                let key = AnyKey::for_mode(mode, &raw_key(mode, i)).expect("a good key");
                for _ in 0..3 {
                    alone(&heap, &key, &sample);
                }
            }
        }
    }
}

/// Tables of every size, also used again, with all key sizes and from every
/// backend, hold the same keys as those made one by one.
#[test]
fn keys_expanded_many_at_once() {
    let heap = Heap::new(None);
    let mut draw = Draw::new(9);
    let mut table = Vec::new();
    for backend in backends() {
        for count in [0, 1, 2, 3, 4, 5, 8, 15, 16, 17, 33, 7, 16, 64] {
            for sizes in 0..4 {
                let mode = draw.pick(Mode::ALL);
                let raw: Vec<_> = (0..count)
                    .map(|i| match sizes {
                        0..3 => raw_key(mode, i * 3 + sizes),
                        _ => raw_key(mode, draw.below(99)),
                    })
                    .collect();
                AnyKey::expand_many_with(backend, mode, &raw, &mut table).expect("good keys");
                assert_eq!(table.len(), count);
                for (key, raw) in table.iter().zip(&raw) {
                    assert_eq!(key.mode(), mode);
                    let keys = 1 + usize::from(mode.info().two_keys);
                    assert_eq!(key.algorithm().key_bits * keys, raw.len() * 8);
                    let Shape {
                        tag, components, ..
                    } = Shape::usual(mode);
                    let text = paint(fit(mode, 41), count);
                    let sample = Sample::new(0, nonce(mode, 0), data(components, 0), text, tag);
                    let sample = sample.seal(mode, raw);
                    alone(&heap, key, &sample);
                    alone(
                        &heap,
                        &AnyKey::for_mode(mode, raw).expect("a good key"),
                        &sample,
                    );
                }
            }
        }
    }
}

/// A key for each message: keys that were used before, which keep what is worth it, and among
/// them a few, many or only keys that are new.
#[test]
pub(crate) fn new_keys_among_those_used_before() {
    const USED: usize = 64;
    let heap = Heap::new(None);
    for_all(|mode, backend, op| {
        // Of all sizes for one message in five only: keys of one size go together.
        let raw: Vec<_> = (0..2 * USED)
            .map(|i| raw_key(mode, if i % 5 == 4 { i } else { 3 * i }))
            .collect();
        let shape = Shape::usual(mode);
        let samples: Vec<_> = (0..raw.len())
            .map(|i| {
                let len = fit(mode, [64, 100, 333, 16, 250][i % 5] + i);
                let data = data(shape.components, i % 2);
                let sample = Sample::new(i as u32, nonce(mode, i), data, paint(len, i), shape.tag);
                Arc::new(sample.seal(mode, &raw[i]))
            })
            .collect();
        for new in [1, 4, 20, USED] {
            let mut table = Vec::new();
            AnyKey::expand_many_with(backend, mode, &raw, &mut table).expect("good keys");
            let mut comb = Comb::with_backend(backend).expect("an available backend");
            let call = Call::new(op, CallKeys::from(&table), Form::InPlace);
            let used = &samples[..USED];
            for _ in 0..3 {
                check(&mut comb, &heap, &call, used);
            }
            let mut mixed = used[new..].to_vec();
            for (i, sample) in samples[USED..USED + new].iter().enumerate() {
                mixed.insert((i * USED / new).min(mixed.len()), sample.clone());
            }
            check(&mut comb, &heap, &call, &mixed);
        }
    });
}

#[test]
fn vectors_side_by_side() {
    vectors_in(&Heap::new(None));
}

/// Vectors of associated data in lanes: strings of one length in all of them, with rows and without; and
/// lanes that have other numbers of strings, though what a job says of its data is the same number.
pub(crate) fn vectors_in(memory: &impl Memory) {
    let mut draw = Draw::new(23);
    let mode = Mode::Siv;
    // What long and short messages have, or messages in turn: components of these lengths.
    let vectors: [[&[usize]; 2]; 10] = [
        [&[], &[]],
        [&[0], &[0]],
        [&[1], &[1]],
        [&[12], &[12]],
        [&[16], &[16]],
        [&[17], &[17]],
        [&[40, 3], &[40, 3]],
        [&[], &[0]],
        [&[2], &[1, 20]],
        [&[12], &[5]],
    ];
    for backend in backends() {
        let mut comb = comb(backend, backend.default_lanes());
        for (vector, nonce) in vectors.iter().flat_map(|v| [0, 12, 16, 17].map(|n| (v, n))) {
            for in_turn in [false, true] {
                let samples: Vec<_> = (0..37)
                    .map(|i| {
                        // Of the long ones there are two groups of 8 lanes, or one of 16.
                        let (which, len) = match in_turn {
                            true => (i % 2, draw.below(200)),
                            false if i < 16 => (0, 100 + draw.below(100)),
                            false => (1, draw.below(100)),
                        };
                        let lengths = vector[which].iter().enumerate();
                        let data = lengths.map(|(n, len)| paint(*len, i + 7 * n)).collect();
                        let sample = Sample::new(0, nonce_of(nonce, i), data, paint(len, i), 16);
                        Arc::new(sample.seal(mode, &raw_key(mode, 0)))
                    })
                    .collect();
                for op in ops(mode) {
                    let call = Call::new(op, CallKeys::from(&table(mode)[0]), Form::InPlace);
                    check(&mut comb, memory, &call, &samples);
                }
            }
        }
    }
}
