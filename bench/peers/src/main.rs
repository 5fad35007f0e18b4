//! aescomb beside other libraries: the same messages under the same key, worked on in
//! place, in one run whose samples alternate between all of them. What each makes of the
//! messages is compared with a textbook implementation before it is timed.

mod c;
mod rust;

use aescomb::{Comb, Key, Layout, Lengths, Mode, Packed, Text};
use aescomb_measure::{Mix, Options, Ring, Sampler, Workload, fresh_seed, pin};
use clap::Parser;
use serde_json::json;
use std::process::ExitCode;
use std::time::Duration;

/// Of all messages.
const KEY: [u8; 16] = *b"one key for all!";

/// Race aescomb against other libraries
#[derive(Parser)]
struct Arguments {
    /// Message lengths: internet, ipi, imix, fixed:N, pcap:FILE, lengths:FILE
    #[arg(long, default_value = "internet")]
    mix: Mix,
    /// Messages in the batch
    #[arg(short = 'n', long, default_value_t = 256, value_name = "N")]
    messages: usize,
    /// Bytes of associated data of every message, in modes that take any
    #[arg(long, default_value_t = 12, value_name = "N")]
    data_bytes: usize,
    /// Print JSON instead of a table
    #[arg(long)]
    json: bool,
}

/// What is raced, with AES-128. The numbers are those of `peers.h`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Case {
    Cbc,
    CbcDecrypt,
    Cfb,
    Ctr,
    Cmac,
    Ccm,
    Gcm,
    Ocb,
}

impl Case {
    const ALL: [Case; 8] = [
        Case::Cbc,
        Case::CbcDecrypt,
        Case::Cfb,
        Case::Ctr,
        Case::Cmac,
        Case::Ccm,
        Case::Gcm,
        Case::Ocb,
    ];

    fn mode(self) -> Mode {
        match self {
            Case::Cbc | Case::CbcDecrypt => Mode::Cbc,
            Case::Cfb => Mode::Cfb128,
            Case::Ctr => Mode::Ctr,
            Case::Cmac => Mode::Cmac,
            Case::Ccm => Mode::Ccm,
            Case::Gcm => Mode::Gcm,
            Case::Ocb => Mode::Ocb,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Case::Cbc => "cbc encrypt",
            Case::CbcDecrypt => "cbc decrypt",
            Case::Cfb => "cfb128 encrypt",
            Case::Ctr => "ctr encrypt",
            Case::Cmac => "cmac mac",
            Case::Ccm => "ccm seal",
            Case::Gcm => "gcm seal",
            Case::Ocb => "ocb seal",
        }
    }

    fn is_aead(self) -> bool {
        matches!(self, Case::Ccm | Case::Gcm | Case::Ocb)
    }
}

/// One competitor's messages.
pub struct Batch {
    ring: Ring,
    /// Of 12 bytes, or as long as the mode has them.
    nonces: Vec<[u8; 16]>,
    tags: Vec<[u8; 16]>,
    /// Of every message.
    data: Vec<u8>,
}

impl Batch {
    fn new(case: Case, workload: &Workload, data_bytes: usize, seed: u64) -> Batch {
        let ring = workload.ring(seed).expect("memory for the messages");
        let nonces = (0..ring.len() as u128).map(|i| (i * 0x0123_4567_89ab_cdef + 7).to_le_bytes());
        Batch {
            nonces: nonces.collect(),
            tags: vec![[0; 16]; ring.len()],
            data: match case.is_aead() {
                true => vec![0xda; data_bytes],
                false => Vec::new(),
            },
            ring,
        }
    }

    /// What must become of message `i`: text and tag.
    fn expected(&self, case: Case, i: usize) -> (Vec<u8>, Option<Vec<u8>>) {
        let (text, nonce) = (self.ring.message(i), &self.nonces[i]);
        let name = case.mode().info().name;
        let done = match case {
            Case::CbcDecrypt => aescomb_ref::decrypt(name, &KEY, nonce, text).map(|t| (t, None)),
            Case::Cmac => {
                aescomb_ref::mac(name, &KEY, &[], text).map(|tag| (text.to_vec(), Some(tag)))
            }
            _ if case.is_aead() => {
                aescomb_ref::seal(name, &KEY, &nonce[..12], &[&self.data], text, 16)
                    .map(|sealed| (sealed.text, Some(sealed.tag)))
            }
            _ => aescomb_ref::encrypt(name, &KEY, nonce, text).map(|t| (t, None)),
        };
        done.expect("a good message")
    }
}

/// Somebody who can do a case.
pub trait Competitor {
    /// Does all messages of the batch in place.
    fn run(&mut self);
    fn batch(&mut self) -> &mut Batch;
}

/// One that is a function.
pub struct By<F> {
    batch: Batch,
    run: F,
}

impl<F: FnMut(&mut Batch)> Competitor for By<F> {
    fn run(&mut self) {
        (self.run)(&mut self.batch);
    }

    fn batch(&mut self) -> &mut Batch {
        &mut self.batch
    }
}

pub fn by(batch: Batch, run: impl FnMut(&mut Batch) + 'static) -> Box<dyn Competitor> {
    Box::new(By { batch, run })
}

/// The library itself: one call for the packed form of the batch.
fn ours(case: Case, batch: Batch) -> Box<dyn Competitor> {
    let key = Key::new(case.mode(), &KEY).expect("a good key");
    let mut comb = Comb::new();
    let (starts, lengths): (Vec<u64>, Vec<u64>) = batch
        .ring
        .slots()
        .iter()
        .map(|slot| (slot.offset as u64, slot.len as u64))
        .unzip();
    let data: Vec<u8> = batch.data.repeat(batch.ring.len());
    let ends: Vec<u64> = (0..=batch.ring.len())
        .map(|i| (i * batch.data.len()) as u64)
        .collect();
    by(batch, move |batch| {
        let layout = Layout::Slots {
            starts: &starts,
            lengths: &lengths,
        };
        let text = match case {
            Case::Cmac => Text::read_only(batch.ring.bytes()),
            _ => Text::in_place(batch.ring.bytes_mut()),
        };
        let mut packed = Packed::new(text, layout);
        let nonces = batch.nonces.as_flattened();
        if case != Case::Cmac {
            let len = if case.is_aead() { 12 } else { 16 };
            packed = packed.nonces(nonces, len, 16);
        }
        if case.is_aead() || case == Case::Cmac {
            packed = packed.tags(batch.tags.as_flattened_mut(), 16, 16);
        }
        if case.is_aead() {
            packed = packed.associated_data(&data, Layout::Offsets(&ends));
        }
        match case {
            Case::CbcDecrypt => comb.decrypt(&key, &mut packed).map(|_| ()),
            Case::Cmac => comb.mac(&key, &mut packed),
            _ if case.is_aead() => comb.seal(&key, &mut packed),
            _ => comb.encrypt(&key, &mut packed),
        }
        .expect("a good batch");
    })
}

/// Runs a competitor once and compares what it made with the textbook.
fn verify(case: Case, name: &str, competitor: &mut dyn Competitor) -> Result<(), String> {
    let batch = competitor.batch();
    let expected: Vec<_> = (0..batch.ring.len())
        .map(|i| batch.expected(case, i))
        .collect();
    competitor.run();
    let batch = competitor.batch();
    for (i, (text, tag)) in expected.into_iter().enumerate() {
        let good = batch.ring.message(i) == text && tag.is_none_or(|tag| batch.tags[i][..] == tag);
        if !good {
            return Err(format!("{name}: {}: message {i} is wrong", case.name()));
        }
    }
    Ok(())
}

fn main() -> ExitCode {
    match race(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("peers: {message}");
            ExitCode::FAILURE
        }
    }
}

fn race(arguments: &Arguments) -> Result<(), String> {
    if let Err(error) = pin::pin_any() {
        eprintln!("peers: warning: {error}");
    }
    let source = arguments.mix.open().map_err(|e| e.to_string())?;
    let seed = fresh_seed();
    let sampler = Sampler::new(Options {
        budget: Some(Duration::from_secs(2)),
        ..Options::default()
    });
    if !arguments.json {
        println!(
            "{} messages, {}, AES-128, in place, {} bytes of associated data",
            arguments.messages, arguments.mix, arguments.data_bytes
        );
        println!(
            "{:<16} {:<14} {:<26} {:>8} {:>10} {:>6}",
            "case", "library", "interface", "cpb", "cycles/msg", "ratio"
        );
    }
    let mut results = Vec::new();
    for case in Case::ALL {
        let mut workload = source.draw(Some(arguments.messages), seed);
        if case.mode().info().lengths == Lengths::WholeBlocks {
            workload.round_up(16);
        }
        let batch = || Batch::new(case, &workload, arguments.data_bytes, seed);
        let mut all = vec![("aescomb", "Comb, packed batch", ours(case, batch()))];
        all.extend(c::all(case, batch));
        all.extend(rust::all(case, batch));
        for (name, _, competitor) in &mut all {
            verify(case, name, &mut **competitor)?;
        }
        let mut runs: Vec<Box<dyn FnMut()>> = Vec::new();
        let mut names = Vec::new();
        for (name, interface, mut competitor) in all {
            names.push((name, interface));
            runs.push(Box::new(move || competitor.run()));
        }
        let mut runs: Vec<&mut dyn FnMut()> = runs.iter_mut().map(|run| &mut **run as _).collect();
        let measured = sampler.run(&mut runs);
        let bytes = workload.total_bytes() as f64;
        for ((name, interface), measurement) in names.iter().zip(&measured) {
            let (cpb, each) = (
                measurement.per(bytes),
                measurement.per(arguments.messages as f64),
            );
            let ratio = measurement.median / measured[0].median;
            if !arguments.json {
                println!(
                    "{:<16} {name:<14} {interface:<26} {cpb:>8.3} {each:>10.1} {ratio:>6.2}",
                    case.name()
                );
            }
            results.push(json!({
                "case": case.name(), "library": name, "interface": interface, "cpb": cpb,
                "cycles_per_message": each, "ratio": ratio,
                "relative_iqr": measurement.noise().relative_iqr,
            }));
        }
    }
    if arguments.json {
        let mix = arguments.mix.to_string();
        let run = json!({
            "mix": mix, "messages": arguments.messages, "data_bytes": arguments.data_bytes,
            "key_bits": 128, "results": results,
        });
        println!("{run:#}");
    }
    Ok(())
}
