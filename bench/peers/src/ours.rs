//! aescomb itself.
//!
//! `unsafe` here rests on the batch that jobs are made of: its buffers stay where they are,
//! and nobody else uses them during a call.
#![allow(unsafe_code)]

use crate::batch::{Batch, Place, Run};
use crate::case::Case;
use aescomb::ffi::{Job, Jobs};
use aescomb::modes::{
    AeadMode, Cbc, Ccm, Cfb128, CipherMode, Cmac, Ctr, Ecb, Gcm, GcmSiv, Gmac, MacMode, Ocb, Ofb,
    Siv, TypedMode, Xts,
};
use aescomb::{AnyKey, Comb, Key, Layout, MessageResult, Mode, Op, OpenError, Packed, Text};

/// One call of `Comb` for the packed form of a batch.
pub fn packed(case: Case) -> Run {
    let key = AnyKey::for_mode(case.mode, case.key()).expect("a good key");
    let mut comb = Comb::new();
    let mut columns = None;
    Box::new(move |batch| {
        let columns = columns.get_or_insert_with(|| Columns::of(batch));
        columns.run(case, &mut comb, &key, batch)
    })
}

/// What a packed batch has beside its buffers. It is made once, as `Batch` is.
struct Columns {
    starts: Vec<usize>,
    lengths: Vec<usize>,
    /// The associated data of all messages.
    data: Vec<u8>,
    data_lengths: Vec<usize>,
    results: Vec<MessageResult>,
}

impl Columns {
    fn of(batch: &Batch) -> Columns {
        let slots = batch.source.slots();
        let n = slots.len();
        Columns {
            starts: slots.iter().map(|slot| slot.offset).collect(),
            lengths: slots.iter().map(|slot| slot.len).collect(),
            data: batch.data.repeat(n),
            data_lengths: vec![batch.data.len(); n],
            results: vec![MessageResult::default(); n],
        }
    }

    fn run(&mut self, case: Case, comb: &mut Comb, key: &AnyKey, batch: &mut Batch) -> usize {
        let text = match &mut batch.target {
            _ if case.op == Op::Mac => Text::read_only(batch.source.bytes()),
            None => Text::in_place(batch.source.bytes_mut()),
            Some(target) => Text::copy(batch.source.bytes(), target.bytes_mut()),
        };
        // In both buffers.
        let layout = Layout::Slots {
            starts: &self.starts,
            lengths: &self.lengths,
        };
        let mut packed =
            Packed::new(text, layout).nonces(batch.nonces.as_flattened(), case.nonce_bytes(), 16);
        if case.op == Op::Open {
            packed = packed.results(&mut self.results);
        }
        if case.is_aead() || case.op == Op::Mac {
            packed = packed.tags(batch.tags.as_flattened_mut(), 16, 16);
        }
        if !batch.data.is_empty() {
            let layout = Layout::Ring {
                stride: batch.data.len(),
                lengths: &self.data_lengths,
            };
            packed = packed.associated_data(&self.data, layout);
        }
        failed(comb.run(case.op, key, &mut packed))
    }
}

/// How many messages failed.
fn failed(result: Result<(), OpenError>) -> usize {
    match result {
        Err(OpenError::Failed(failed)) => failed.messages().len(),
        result => result.map(|()| 0).expect("a good batch"),
    }
}

/// Calls one of three functions with the type of the case's mode.
macro_rules! by_kind {
    ($case:expr, $ciphers:ident, $macs:ident, $aeads:ident) => {
        match $case.mode {
            Mode::Ecb => $ciphers::<Ecb>($case),
            Mode::Cbc => $ciphers::<Cbc>($case),
            Mode::Cfb128 => $ciphers::<Cfb128>($case),
            Mode::Ofb => $ciphers::<Ofb>($case),
            Mode::Ctr => $ciphers::<Ctr>($case),
            Mode::Xts => $ciphers::<Xts>($case),
            Mode::Cmac => $macs::<Cmac>($case),
            Mode::Gmac => $macs::<Gmac>($case),
            Mode::Ccm => $aeads::<Ccm>($case),
            Mode::Gcm => $aeads::<Gcm>($case),
            Mode::Ocb => $aeads::<Ocb>($case),
            Mode::Siv => $aeads::<Siv>($case),
            Mode::GcmSiv => $aeads::<GcmSiv>($case),
            mode => panic!("{mode} is not raced"),
        }
    };
}

/// One call of `Comb` for jobs that describe the messages once, before all calls, as a packet
/// ring or a table of sessions does.
pub fn jobs(case: Case) -> Run {
    by_kind!(case, cipher_ring, mac_ring, aead_ring)
}

fn cipher_ring<M: CipherMode + TypedMode>(case: Case) -> Run {
    match case.op {
        Op::Decrypt => ring::<M>(case, |comb, key, jobs| comb.decrypt(key, jobs)),
        _ => ring::<M>(case, |comb, key, jobs| Ok(comb.encrypt(key, jobs)?)),
    }
}

fn mac_ring<M: MacMode + TypedMode>(case: Case) -> Run {
    ring::<M>(case, |comb, key, jobs| Ok(comb.mac(key, jobs)?))
}

fn aead_ring<M: AeadMode + TypedMode>(case: Case) -> Run {
    match case.op {
        Op::Open => ring::<M>(case, |comb, key, jobs| comb.open(key, jobs)),
        _ => ring::<M>(case, |comb, key, jobs| Ok(comb.seal(key, jobs)?)),
    }
}

fn ring<M: TypedMode>(
    case: Case,
    call: impl Fn(&mut Comb, &Key<M>, &mut Jobs<'_>) -> Result<(), OpenError> + 'static,
) -> Run {
    let key = Key::<M>::new(case.key()).expect("a good key");
    let mut comb = Comb::new();
    let mut ring: Vec<Aligned> = Vec::new();
    Box::new(move |batch| {
        if ring.is_empty() {
            ring = described(case, batch);
        }
        // SAFETY: the jobs lead to this batch's memory, which stays where it is and is
        // borrowed by this call alone.
        let mut jobs = unsafe { Jobs::new(ring.as_mut_ptr().cast(), ring.len()) };
        failed(call(&mut comb, &key, &mut jobs))
    })
}

/// A job at a multiple of 64 bytes: two lines of the cache.
#[repr(C, align(64))]
struct Aligned(Job);

const _: () = assert!(size_of::<Aligned>() == size_of::<Job>());

fn described(case: Case, batch: &mut Batch) -> Vec<Aligned> {
    let made = case.is_aead() || case.op == Op::Mac;
    let job = |(i, place): (usize, &Place)| Job {
        src: place.from,
        src_len: place.len,
        dst: match case.op {
            Op::Mac => std::ptr::null_mut(),
            _ => place.to,
        },
        dst_len: match case.op {
            Op::Mac => 0,
            _ => place.len,
        },
        nonce: batch.nonces[i].as_ptr(),
        nonce_len: batch.nonce_bytes as u32,
        data: match batch.data.len() {
            0 => std::ptr::null(),
            _ => batch.data.as_ptr(),
        },
        data_len: batch.data.len(),
        tag: match made {
            true => batch.tags[i].as_mut_ptr(),
            false => std::ptr::null_mut(),
        },
        tag_len: if made { 16 } else { 0 },
        ..Job::default()
    };
    let places = batch.places.iter().enumerate();
    places.map(job).map(Aligned).collect()
}

/// The methods of `Key`, which are for one message.
pub fn alone(case: Case) -> Run {
    by_kind!(case, ciphers, macs, aeads)
}

fn ciphers<M: CipherMode + TypedMode>(case: Case) -> Run {
    let key = Key::<M>::new(case.key()).expect("a good key");
    if case.op == Op::Decrypt {
        return Box::new(move |batch| {
            batch.each(|item| key.decrypt(item.nonce, item.text.ours()).is_ok())
        });
    }
    Box::new(move |batch| batch.each(|item| key.encrypt(item.nonce, item.text.ours()).is_ok()))
}

fn macs<M: MacMode + TypedMode>(case: Case) -> Run {
    let key = Key::<M>::new(case.key()).expect("a good key");
    Box::new(move |batch| {
        batch.each(|item| {
            let text = item.text.read();
            key.mac_with_nonce(item.nonce, text, item.tag).is_ok()
        })
    })
}

fn aeads<M: AeadMode + TypedMode>(case: Case) -> Run {
    let key = Key::<M>::new(case.key()).expect("a good key");
    if case.op == Op::Open {
        return Box::new(move |batch| {
            batch.each(|item| {
                let text = item.text.ours();
                key.open(item.nonce, item.data, text, item.tag).is_ok()
            })
        });
    }
    Box::new(move |batch| {
        batch.each(|item| {
            let text = item.text.ours();
            key.seal(item.nonce, item.data, text, item.tag).is_ok()
        })
    })
}
