//! Batches of 64-byte messages, and of the internet mix, in all standard modes but those with padding, for
//! `cargo xtask instructions`, which counts what calls execute. It reads how many messages a
//! batch is to have, and writes a line before each call to be counted, and an empty one after.

use aescomb::{
    AnyKey, Backend, Comb, Cpu, Info, Kind, Layout, Lengths, Message, Mode, Op, Packed, Text,
};
use aescomb_measure::workload::Mix;
use std::error::Error;
use std::io;

/// Bytes of each message, and of its associated data.
const LEN: usize = 64;
const DATA: usize = 12;
/// Where messages take turns, every fifth has fewer bytes of associated data.
const TURNS: usize = 5;
const LESS_DATA: usize = 4;

fn main() -> Result<(), Box<dyn Error>> {
    let mut line = String::new();
    io::stdin().read_line(&mut line)?;
    let count = line.trim().parse()?;
    let is_available = |backend: &Backend| backend.is_available();
    let widest = [Backend::Vaes512, Backend::Vaes256, Backend::Aesni];
    // CPUs without AVX-512 check messages, and look at columns, by other code.
    let scalar = widest.into_iter().skip(1).find(is_available);
    for widest in widest.into_iter().filter(is_available) {
        // Not as on this CPU: counts are to be the same on all.
        Cpu::Other.pretend(widest);
        let forms = match widest {
            Backend::Vaes512 => Some(Forms {
                messages: "messages",
                packed: "packed",
                turns: "turns",
                mix: Some("mix"),
            }),
            _ if Some(widest) == scalar => Some(Forms {
                messages: "messages-scalar",
                packed: "packed-scalar",
                turns: "turns-scalar",
                mix: None,
            }),
            _ => None,
        };
        for backend in Backend::available().filter(|b| *b != Backend::Portable) {
            for mode in Mode::ALL {
                let info = mode.info();
                if info.research.is_none() && info.lengths != Lengths::Padded {
                    measure(backend, *mode, count, forms)?;
                }
            }
        }
    }
    Ok(())
}

/// The batches of each backend, by their names.
#[derive(Clone, Copy)]
struct Forms {
    messages: &'static str,
    packed: &'static str,
    turns: &'static str,
    mix: Option<&'static str>,
}

/// Bytes that messages share or have as their own.
struct Bytes<'a> {
    nonces: &'a [u8],
    data: &'a [u8],
    texts: &'a mut [u8],
    tags: &'a mut [u8],
}

/// A batch of texts of these `lengths`, in which every fifth message has fewer bytes of associated data where
/// messages take turns.
fn messages<'a>(
    info: &Info,
    bytes: &'a mut Bytes<'_>,
    lengths: &[usize],
    turns: bool,
) -> Vec<Message<'a>> {
    let count = lengths.len();
    let [nonce, data] = [bytes.nonces, bytes.data].map(|all| all.len() / count);
    let tag = bytes.tags.len() / count;
    let mut tags = &mut *bytes.tags;
    let mut texts = &mut *bytes.texts;
    let message = |(i, len): (usize, &usize)| {
        let text = texts.split_off_mut(..*len).unwrap_or_default();
        let text = match info.kind {
            Kind::Mac => Text::read_only(text),
            _ => Text::in_place(text),
        };
        let message = Message::new(text)
            .nonce(&bytes.nonces[i * nonce..][..nonce])
            .tag(tags.split_off_mut(..tag).unwrap_or_default());
        let used = match turns && i % TURNS == 0 {
            true => LESS_DATA,
            false => data,
        };
        match data {
            0 => message,
            _ => message.associated_data(&bytes.data[i * data..][..used]),
        }
    };
    lengths.iter().enumerate().map(message).collect()
}

/// The batches that have names in `forms`; and calls of a key, on the widest backend.
fn measure(
    backend: Backend,
    mode: Mode,
    count: usize,
    forms: Option<Forms>,
) -> Result<(), Box<dyn Error>> {
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
    let mut calls = |form: &str, run: &mut dyn FnMut(&mut Comb, Op) -> bool| {
        // What a first call prepares is there in the second.
        for counted in [false, true] {
            for op in info.kind.ops() {
                if counted {
                    println!("{backend} {form} {mode} {}", op.name());
                }
                let good = run(&mut comb, op);
                if counted {
                    println!();
                }
                assert!(good, "{backend} {form} {mode} {}", op.name());
            }
        }
    };

    if let Some(forms) = forms {
        let equal = vec![LEN; count];
        let mut mix = Mix::Internet.lengths(count, 1)?;
        if info.lengths == Lengths::WholeBlocks {
            mix.iter_mut()
                .for_each(|len| *len = len.next_multiple_of(16));
        }
        let mut all_texts = vec![4; mix.iter().sum()];
        let in_turns = Some(forms.turns).filter(|_| data > 0);
        for (form, lengths, turns) in [
            (Some(forms.messages), &equal, false),
            (in_turns, &equal, true),
            (forms.mix, &mix, false),
        ] {
            let Some(form) = form else { continue };
            let bytes = &mut Bytes {
                nonces: &nonces,
                data: &all_data,
                texts: &mut all_texts,
                tags: &mut tags,
            };
            let mut batch = messages(info, bytes, lengths, turns);
            calls(form, &mut |comb, op| {
                comb.run(op, &key, &mut batch[..]).is_ok()
            });
        }
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
        calls(forms.packed, &mut |comb, op| {
            comb.run(op, &key, &mut packed).is_ok()
        });
    }

    // What a key does by itself, on the widest registers.
    if backend != Backend::preferred(false) {
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
