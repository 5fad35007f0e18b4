//! Batches of 64-byte messages in all standard modes but those with padding, for
//! `cargo xtask instructions`, which counts what calls execute. It reads how many messages a
//! batch is to have, and writes a line before each call to be counted, and an empty one after.

use aescomb::{AnyKey, Backend, Comb, Kind, Layout, Lengths, Message, Mode, Op, Packed, Text};
use std::error::Error;
use std::io;

/// Bytes of each message, and of its associated data.
const LEN: usize = 64;
const DATA: usize = 12;

fn main() -> Result<(), Box<dyn Error>> {
    let mut line = String::new();
    io::stdin().read_line(&mut line)?;
    let count = line.trim().parse()?;
    for backend in Backend::available().filter(|b| *b != Backend::Portable) {
        for mode in Mode::ALL {
            let info = mode.info();
            if info.research.is_none() && info.lengths != Lengths::Padded {
                measure(backend, *mode, count)?;
            }
        }
    }
    Ok(())
}

fn measure(backend: Backend, mode: Mode, count: usize) -> Result<(), Box<dyn Error>> {
    let info = mode.info();
    let raw: Vec<u8> = (0..).take(info.key_bytes[0]).collect();
    let key = AnyKey::for_mode(mode, &raw)?;
    let (nonce, tag) = (info.usual_nonce(), info.longest_tag());
    let data = DATA * info.data_components.min(1);
    let data_lengths = vec![data; count];
    let (nonces, all_data) = (vec![2; count * nonce], vec![3; count * data]);
    let (mut texts, mut tags) = (vec![4; count * LEN], vec![0; count * tag]);
    let offsets: Vec<usize> = (0..=count).map(|i| i * LEN).collect();
    let mut results = vec![Default::default(); count];

    let mut comb = Comb::with_backend(backend)?;
    // Not what the CPU suggests: counts are to be the same on all.
    comb.set_lanes(match backend {
        Backend::Aesni => 8,
        _ => 16,
    })?;
    // Short messages of linked modes are done on narrower registers where the CPU is faster with these: then
    // nothing is called, and there is nothing between the two lines.
    let [chained, others] = [true, false].map(Backend::preferred);
    let is_elsewhere = |op| {
        let linked = matches!(
            (mode, op),
            (Mode::Cbc | Mode::Cfb128, Op::Encrypt) | (Mode::Ofb, _)
        );
        linked && backend == others && chained != others
    };
    let mut calls = |form: &str, run: &mut dyn FnMut(&mut Comb, Op) -> bool| {
        // What a first call prepares is there in the second.
        for counted in [false, true] {
            for op in info.kind.ops() {
                if counted {
                    println!("{backend} {form} {mode} {}", op.name());
                }
                let good = is_elsewhere(op) || run(&mut comb, op);
                if counted {
                    println!();
                }
                assert!(good, "{backend} {form} {mode} {}", op.name());
            }
        }
    };

    let mut rest = &mut tags[..];
    let messages = texts.chunks_exact_mut(LEN).enumerate().map(|(i, text)| {
        let text = match info.kind {
            Kind::Mac => Text::read_only(text),
            _ => Text::in_place(text),
        };
        let message = Message::new(text)
            .nonce(&nonces[i * nonce..][..nonce])
            .tag(rest.split_off_mut(..tag).unwrap_or_default());
        match data {
            0 => message,
            _ => message.associated_data(&all_data[i * data..][..data]),
        }
    });
    let mut messages: Vec<_> = messages.collect();
    // CPUs without AVX-512 check messages, and look at columns, by other code.
    let forms = match Backend::available().any(|b| b == Backend::Vaes512) {
        true => ["messages", "packed"],
        false => ["messages-scalar", "packed-scalar"],
    };
    calls(forms[0], &mut |comb, op| {
        comb.run(op, &key, &mut messages[..]).is_ok()
    });

    let text = match info.kind {
        Kind::Mac => Text::read_only(&texts),
        _ => Text::in_place(&mut texts),
    };
    let mut packed = Packed::new(text, Layout::Offsets(&offsets))
        .nonces(&nonces, nonce, nonce)
        .tags(&mut tags, tag, tag)
        .results(&mut results);
    if data > 0 {
        let layout = Layout::Ring {
            stride: data,
            lengths: &data_lengths,
        };
        packed = packed.associated_data(&all_data, layout);
    }
    calls(forms[1], &mut |comb, op| {
        comb.run(op, &key, &mut packed).is_ok()
    });

    // What a key does by itself, on the widest registers.
    if backend != others {
        return Ok(());
    }
    for counted in [false, true] {
        for op in info.kind.ops() {
            // A key checks the tags of messages that it opens only.
            if op == Op::Verify {
                continue;
            }
            if counted {
                println!("{backend} one {mode} {}", op.name());
            }
            for i in 0..count {
                let text = &mut texts[i * LEN..][..LEN];
                let nonce = &nonces[i * nonce..][..nonce];
                let data = &all_data[i * data..][..data];
                let tag = &mut tags[i * tag..][..tag];
                match op {
                    Op::Encrypt => key.encrypt_in_place(nonce, text)?,
                    Op::Decrypt => key.decrypt_in_place(nonce, text).map(|_| ())?,
                    Op::Mac => key.mac_with_nonce(nonce, text, tag)?,
                    Op::Seal => key.seal_in_place(nonce, data, text, tag)?,
                    _ => key.open_in_place(nonce, data, text, tag).map(|_| ())?,
                }
            }
            if counted {
                println!();
            }
        }
    }
    Ok(())
}
