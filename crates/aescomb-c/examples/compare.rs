//! What a call through the C interface costs beside the same call from Rust: the internet
//! mix, 256 messages, in place, AES-128, samples in turn.
//!
//! A batch is described for each burst, in Rust as in C: `all` is the costs with that, with
//! the structs filled anew before each call; `call` is those of the call alone, with structs
//! that were filled once. In core cycles per byte: medians, and the ratio of the medians.
//! `cargo run --release -p aescomb-c --example compare`
//!
//! `unsafe` here rests on one fact: all pointers are to buffers that live as long as the
//! measurement, and one call at a time uses them.
#![allow(unsafe_code)]

use aescomb::{AnyKey, Comb, Info, Keys, Kind, Message, Mode, Text};
use aescomb_c::*;
use aescomb_measure::{Mix, Options, Sampler};
use std::ffi::CString;
use std::ptr::{null, null_mut};

const COUNT: usize = 256;
const DATA: usize = 12;

/// Where the parts of a message are.
struct Parts {
    text: *mut u8,
    len: usize,
    nonce: *const u8,
    data: *const u8,
    tag: *mut u8,
}

/// The message of Rust at place `i`.
fn message<'a>(info: &Info, i: usize, p: &Parts) -> Message<'a> {
    let (nonce_len, tag_len) = (info.usual_nonce(), info.longest_tag());
    // SAFETY: see above.
    unsafe {
        let text = match info.kind {
            Kind::Mac => Text::from_raw(p.text, p.len, null_mut(), 0),
            _ => Text::from_raw(p.text, p.len, p.text, p.len),
        };
        let message = Message::new(text)
            .nonce(std::slice::from_raw_parts(p.nonce, nonce_len))
            .tag(std::slice::from_raw_parts_mut(p.tag, tag_len))
            .key_index(i as u32);
        match info.kind {
            Kind::Aead => message.associated_data(std::slice::from_raw_parts(p.data, DATA)),
            _ => message,
        }
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let options = Options {
        samples: 201,
        max_overhead: 0.01,
        ..Options::default()
    };
    let sampler = Sampler::new(options);
    println!("mode   keys       all: Rust      C  ratio    call: Rust      C  ratio");
    for mode in [Mode::Ctr, Mode::Cbc, Mode::Gcm, Mode::Ccm, Mode::Cmac] {
        for own in [false, true] {
            measure(&sampler, mode, own)?;
        }
    }
    Ok(())
}

fn measure(sampler: &Sampler, mode: Mode, own: bool) -> Result<(), Box<dyn std::error::Error>> {
    let info = mode.info();
    let (nonce_len, tag_len) = (info.usual_nonce(), info.longest_tag());
    let mix: Mix = "internet".parse()?;
    let mut drawn = mix.open()?.draw(Some(COUNT), 1);
    if mode == Mode::Cbc {
        drawn.round_up(16);
    }
    let mut ring = drawn.ring(2)?;
    let bytes = ring.total_bytes() as f64;
    let nonces = vec![7; COUNT * 16];
    let data = vec![1; COUNT * DATA];
    let mut tags = vec![0; COUNT * 16];
    let parts: Vec<Parts> = ring
        .split_mut()
        .into_iter()
        .zip(tags.chunks_mut(16))
        .enumerate()
        .map(|(i, (text, tag))| Parts {
            text: text.as_mut_ptr(),
            len: text.len(),
            nonce: nonces[i * 16..].as_ptr(),
            data: data[i * DATA..].as_ptr(),
            tag: tag.as_mut_ptr(),
        })
        .collect();

    let raw: Vec<[u8; 16]> = (0..COUNT).map(|i| [i as u8; 16]).collect();
    let mut table = Vec::new();
    AnyKey::expand_many_for(mode, &raw, &mut table)?;
    let refs: Vec<&AnyKey> = table.iter().collect();
    let keys = if own {
        Keys::from(&refs)
    } else {
        Keys::from(&table[0])
    };
    let describe = |batch: &mut Vec<Message>| {
        batch.clear();
        let message = |(i, p)| message(info, i, p);
        batch.extend(parts.iter().enumerate().map(message));
    };
    let run = |comb: &mut Comb, batch: &mut Vec<Message>| match info.kind {
        Kind::Mac => comb.mac(keys, batch),
        Kind::Aead => comb.seal(keys, batch),
        _ => comb.encrypt(keys, batch),
    };

    let name = CString::new(mode.name())?;
    let new_key = |raw: &[u8; 16]| {
        let mut key = null_mut();
        // SAFETY: the pointers are to what they should be.
        let code =
            unsafe { aescomb_key_new(name.as_ptr(), raw.as_ptr(), 16, &mut key, null_mut()) };
        assert_eq!(code, aescomb_code::AESCOMB_OK);
        key
    };
    let c_keys: Vec<*mut aescomb_key> = raw.iter().map(new_key).collect();
    let mut c_comb = null_mut();
    // SAFETY: as above.
    let code = unsafe { aescomb_comb_new(null(), &mut c_comb, null_mut()) };
    assert_eq!(code, aescomb_code::AESCOMB_OK);
    let c_describe = |structs: &mut [aescomb_message]| {
        for (i, (m, p)) in structs.iter_mut().zip(&parts).enumerate() {
            // SAFETY: zero is a value of every member.
            *m = unsafe { std::mem::zeroed() };
            (m.src, m.src_len) = (p.text, p.len);
            if info.kind != Kind::Mac {
                (m.dst, m.dst_len) = (p.text, p.len);
            }
            (m.nonce, m.nonce_len) = (p.nonce, nonce_len as u32);
            (m.tag, m.tag_len) = (p.tag, tag_len as u32);
            if info.kind == Kind::Aead {
                (m.data, m.data_len) = (p.data.cast(), DATA);
            }
            if own {
                m.key = c_keys[i];
            }
        }
    };
    let call = match info.kind {
        Kind::Mac => aescomb_mac,
        Kind::Aead => aescomb_seal,
        _ => aescomb_encrypt,
    };
    let shared = if own { null() } else { c_keys[0].cast_const() };
    let c_run = |structs: &mut [aescomb_message]| {
        // SAFETY: as above.
        let code = unsafe { call(c_comb, shared, structs.as_mut_ptr(), COUNT, null_mut()) };
        assert_eq!(code, aescomb_code::AESCOMB_OK);
    };

    let (mut comb, mut comb_2) = (Comb::new(), Comb::new());
    let (mut batch, mut batch_2) = (Vec::new(), Vec::new());
    describe(&mut batch_2);
    // SAFETY: zero is a value of every member.
    let structs = || (0..COUNT).map(|_| unsafe { std::mem::zeroed() }).collect();
    let (mut c_structs, mut c_structs_2): (Vec<aescomb_message>, Vec<_>) = (structs(), structs());
    c_describe(&mut c_structs_2);
    let measured = sampler.run(&mut [
        &mut || {
            describe(&mut batch);
            run(&mut comb, &mut batch).expect("a good batch");
        },
        &mut || {
            c_describe(&mut c_structs);
            c_run(&mut c_structs);
        },
        &mut || run(&mut comb_2, &mut batch_2).expect("a good batch"),
        &mut || c_run(&mut c_structs_2),
    ]);
    let costs: Vec<f64> = measured.iter().map(|m| m.per(bytes)).collect();
    println!(
        "{:<6} {:<8} {:>11.3} {:>6.3} {:>6.3} {:>13.3} {:>6.3} {:>6.3}",
        mode.name(),
        if own { "own" } else { "shared" },
        costs[0],
        costs[1],
        costs[1] / costs[0],
        costs[2],
        costs[3],
        costs[3] / costs[2],
    );
    // SAFETY: nobody uses them any more.
    unsafe {
        aescomb_comb_free(c_comb);
        c_keys.into_iter().for_each(|key| aescomb_key_free(key));
    }
    Ok(())
}
