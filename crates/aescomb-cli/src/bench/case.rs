//! One mode on one workload: sequentially and combed.

use super::bound::Rates;
use super::report::{Row, Schedule};
use crate::failure::Failure;
use crate::sizes;
use aescomb::{
    Algorithm, AnyKey, Backend, Comb, Info, Keys, Kind, Layout, Lengths, Message, MessageResult,
    Op, OpenError, Packed, Text,
};
use aescomb_measure::{Measurement, Ring, Workload};
use serde::{Deserialize, Serialize};
use std::cell::{Cell, RefCell};

/// Whose keys the messages have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum KeyForm {
    /// One key for all messages
    Shared,
    /// A key for every message, expanded before
    Distinct,
    /// The same, of so many that the next call finds none of its own in a cache
    Cold,
    /// A key for every message, expanded inside the timing
    Fresh,
    /// The same, one key after the other
    FreshSerial,
}

/// Bytes of expanded keys that [`KeyForm::Cold`] goes through: more than second-level
/// caches have.
const COLD_BYTES: usize = 64 << 20;

impl KeyForm {
    pub(crate) fn name(self) -> &'static str {
        match self {
            KeyForm::Shared => "shared",
            KeyForm::Distinct => "distinct",
            KeyForm::Cold => "cold",
            KeyForm::Fresh => "fresh",
            KeyForm::FreshSerial => "fresh-serial",
        }
    }
}

/// In which form the batch is handed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Form {
    /// A slice of messages that borrow their parts
    Messages,
    /// One buffer, and columns of offsets, lengths, nonces and tags
    Packed,
}

impl Form {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Form::Messages => "messages",
            Form::Packed => "packed",
        }
    }
}

/// What is the same for all modes.
#[derive(Clone, Debug)]
pub(crate) struct Setup {
    pub(crate) backend: Option<Backend>,
    pub(crate) lanes: Option<usize>,
    pub(crate) keys: KeyForm,
    pub(crate) form: Form,
    /// The way back: decrypting, verifying, opening.
    pub(crate) back: bool,
    /// Bytes of associated data of a message, in modes that take any.
    pub(crate) data_bytes: usize,
    pub(crate) seed: u64,
    /// Every tag that is opened is wrong.
    pub(crate) forged: bool,
}

/// Measures competitors, which take turns.
pub(crate) type Measure<'a> = &'a dyn Fn(&mut [&mut dyn FnMut()]) -> Vec<Measurement>;

impl Setup {
    /// A competitor: the same library with one message at a time, or with as many as
    /// were asked for.
    pub(crate) fn comb(&self, schedule: Schedule) -> Result<Comb, aescomb::Error> {
        let mut comb = match self.backend {
            Some(backend) => Comb::with_backend(backend)?,
            None => Comb::new(),
        };
        let lanes = match schedule {
            Schedule::Sequential => Some(1),
            Schedule::Comb => self.lanes,
        };
        if let Some(lanes) = lanes {
            comb.set_lanes(lanes)?;
        }
        Ok(comb)
    }

    /// Times one mode on one workload, whose `mix` the rows will state: a row for each
    /// schedule. They use the same buffers.
    pub(crate) fn measure<const N: usize>(
        &self,
        measure: Measure<'_>,
        rates: &Rates,
        algorithm: Algorithm,
        mix: &str,
        drawn: &Workload,
        schedules: [Schedule; N],
    ) -> Result<[Row; N], Failure> {
        let Algorithm { mode, key_bits } = algorithm;
        let info = mode.info();
        let [there, back] = info.kind.ops();
        let op = if self.back { back } else { there };
        let mut workload = drawn.clone();
        lengthen(&mut workload, info.lengths);
        let messages = workload.lengths.len();
        let longer = longer(info, &workload.lengths);
        // What is taken back in place is destroyed, be it padding or a text that
        // belongs to a tag: the next call would fail.
        let destroys = op == Op::Open || op == Op::Decrypt && longer > 0;
        let has_room = longer == 0 || self.form == Form::Messages;
        let in_place = has_room && !destroys;

        let mut random = fastrand::Rng::with_seed(self.seed ^ 0x9e37_79b9_7f4a_7c15);
        let mut bytes = |len: usize| {
            let mut bytes = vec![0; len];
            random.fill(&mut bytes);
            bytes
        };
        // Keys of a call, and how many calls pass before they come again.
        let count = if self.keys == KeyForm::Shared {
            1
        } else {
            messages
        };
        let turns = match self.keys {
            KeyForm::Cold => COLD_BYTES.div_ceil(count * size_of::<AnyKey>()),
            _ => 1,
        };
        let key_bytes = sizes::key_bytes(info, key_bits);
        let raw: Vec<Vec<u8>> = (0..count).map(|_| bytes(key_bytes)).collect();
        // The same keys every turn, elsewhere: what was sealed has to open.
        let raw = vec![raw; turns].concat();
        let nonce_bytes = info.usual_nonce();
        let data_bytes = match info.data_components {
            0 => 0,
            _ => self.data_bytes,
        };
        let columns = Columns {
            nonces: bytes(messages * nonce_bytes),
            nonce_bytes,
            data: bytes(messages * data_bytes),
            data_bytes,
            keys: count,
        };
        // Every key is set by the expansion that the call is timed with.
        let expand = |raw: &[Vec<u8>], table: &mut Vec<AnyKey>| match self.backend {
            Some(backend) => AnyKey::expand_many_with(backend, mode, raw, table),
            None => AnyKey::expand_many_for(mode, raw, table),
        };
        let mut table = Vec::new();
        expand(&raw, &mut table)?;
        let mut own = self.comb(Schedule::Comb)?;

        // Where the messages are, and where the results go if not there.
        let room = if in_place { longer } else { 0 };
        let mut source = workload.ring_with_room(room, self.seed)?;
        let encrypted: Vec<usize> = workload
            .lengths
            .iter()
            .map(|len| info.encrypted_len(*len))
            .collect();
        let mut target = match in_place {
            true => None,
            false => Some(Ring::new(&encrypted, self.seed.wrapping_add(1))?),
        };
        let tag_bytes = info.longest_tag();
        let mut tags = vec![0; messages * tag_bytes];
        if destroys {
            let mut ciphertext = Ring::new(&encrypted, self.seed.wrapping_add(2))?;
            let mut batch: Vec<Message> = source
                .split()
                .into_iter()
                .zip(ciphertext.split_mut())
                .zip(each(&mut tags, tag_bytes))
                .enumerate()
                .map(|(i, ((from, to), tag))| {
                    columns.dress(i, Message::new(Text::copy(from, to)).tag(tag))
                })
                .collect();
            own.run(there, self.keys_of(&table, count, 0), &mut batch)?;
            drop(batch);
            source = ciphertext;
            if self.forged {
                tags.iter_mut()
                    .step_by(tag_bytes)
                    .for_each(|byte| *byte ^= 1);
            }
        }

        let places_in = |ring: &Ring| -> (Vec<usize>, Vec<usize>) {
            ring.slots()
                .iter()
                .map(|slot| (slot.offset, slot.len))
                .unzip()
        };
        let (starts, lengths) = places_in(&source);
        let (target_starts, target_lengths) = target.as_ref().map(places_in).unwrap_or_default();
        let places: Vec<u32> = (0..messages as u32).collect();
        let data_lengths = vec![data_bytes; messages];
        let mut results = vec![MessageResult::default(); messages];

        // The batch is built once; only calls with it are timed.
        let mut batch = match self.form {
            Form::Messages => {
                let texts: Vec<Text> = match &mut target {
                    _ if info.kind == Kind::Mac => {
                        source.split().into_iter().map(Text::read_only).collect()
                    }
                    None => source
                        .split_room_mut()
                        .into_iter()
                        .zip(&lengths)
                        .map(|(buffer, len)| Text::in_place_with_room(buffer, *len))
                        .collect(),
                    Some(target) => source
                        .split()
                        .into_iter()
                        .zip(target.split_mut())
                        .map(|(from, to)| Text::copy(from, to))
                        .collect(),
                };
                let parts = texts.into_iter().zip(each(&mut tags, tag_bytes));
                let message = |(i, (text, tag))| {
                    let message = Message::new(text).tag(tag);
                    columns.dress(i, message.opened_len(workload.lengths[i]))
                };
                Batch::Messages(parts.enumerate().map(message).collect())
            }
            Form::Packed => {
                let text = match &mut target {
                    _ if info.kind == Kind::Mac => Text::read_only(source.bytes()),
                    None => Text::in_place(source.bytes_mut()),
                    Some(target) => Text::copy(source.bytes(), target.bytes_mut()),
                };
                let layout = Layout::Slots {
                    starts: &starts,
                    lengths: &lengths,
                };
                let mut packed = Packed::new(text, layout)
                    .nonces(&columns.nonces, nonce_bytes, nonce_bytes)
                    .tags(&mut tags, tag_bytes, tag_bytes)
                    .opened_lens(&workload.lengths)
                    .results(&mut results);
                if self.keys != KeyForm::Shared {
                    packed = packed.key_indices(&places);
                }
                if data_bytes > 0 {
                    let layout = Layout::Ring {
                        stride: data_bytes,
                        lengths: &data_lengths,
                    };
                    packed = packed.associated_data(&columns.data, layout);
                }
                if !in_place {
                    packed = packed.output(Layout::Slots {
                        starts: &target_starts,
                        lengths: &target_lengths,
                    });
                }
                Batch::Packed(Box::new(packed))
            }
        };
        if op == Op::Verify {
            batch.run(&mut own, Op::Mac, self.keys_of(&table, count, 0))?;
        }

        let shared = RefCell::new((batch, table));
        let turn = Cell::new(0);
        let one = RefCell::new(Vec::new());
        let call = |comb: &mut Comb| -> Result<usize, aescomb::Error> {
            let (batch, table) = &mut *shared.borrow_mut();
            match self.keys {
                KeyForm::Fresh => expand(&raw, table)?,
                KeyForm::FreshSerial => {
                    for (key, raw) in table.iter_mut().zip(raw.chunks(1)) {
                        let one = &mut *one.borrow_mut();
                        expand(raw, one)?;
                        std::mem::swap(key, &mut one[0]);
                    }
                }
                _ => {}
            }
            let failed = batch.run(comb, op, self.keys_of(table, count, turn.get()))?;
            turn.set((turn.get() + 1) % turns);
            Ok(failed)
        };
        // One call each before anything is timed, to see that all is well.
        let mut combs = Vec::with_capacity(N);
        for schedule in schedules {
            let mut comb = self.comb(schedule)?;
            let failed = call(&mut comb)?;
            if failed != if self.forged { messages } else { 0 } {
                return Err(Failure::Negative(format!(
                    "{algorithm}: {failed} of {messages} messages failed to {}",
                    op.name()
                )));
            }
            combs.push(comb);
        }
        let mut calls: Vec<_> = combs
            .iter_mut()
            .map(|comb| {
                || {
                    let _ = call(comb);
                }
            })
            .collect();
        let mut competitors: Vec<&mut dyn FnMut()> = calls
            .iter_mut()
            .map(|call| call as &mut dyn FnMut())
            .collect();
        let measured = measure(&mut competitors);

        let total = workload.total_bytes();
        let row = |i: usize| {
            let comb = &combs[i];
            let measurement: &Measurement = &measured[i];
            let backend = comb.backend(mode, op);
            let bound = rates.cycles(algorithm, op, backend, &workload, data_bytes);
            let per_byte = |cycles: f64| finite(cycles / total as f64);
            Row {
                mode: algorithm.to_string(),
                op: op.name().into(),
                mix: mix.to_owned(),
                messages,
                bytes: total,
                nonce_bytes,
                data_bytes,
                tag_bytes,
                schedule: schedules[i],
                lanes: comb.lanes(mode, op),
                backend: backend.name().into(),
                keys: self.keys.name().into(),
                cpb: per_byte(measurement.median),
                cpb_min: per_byte(measurement.min),
                cpb_lower_quartile: per_byte(measurement.lower_quartile),
                cpb_upper_quartile: per_byte(measurement.upper_quartile),
                bound_cpb: bound.and_then(per_byte),
                efficiency: bound.and_then(|bound| finite(bound / measurement.median)),
                cycles_per_message: measurement.per(messages as f64),
                samples: measurement.kept,
                discarded: measurement.discarded,
                rounded_up: workload.lengths != drawn.lengths,
                in_place: in_place && info.kind != Kind::Mac,
                warning: measurement.noise().warning(),
            }
        };
        Ok(std::array::from_fn(row))
    }

    /// The keys of a call: `count` of the table, other ones each turn.
    fn keys_of<'k>(&self, table: &'k [AnyKey], count: usize, turn: usize) -> Keys<'k> {
        match (self.keys, table) {
            (KeyForm::Shared, [key]) => Keys::from(key),
            _ => Keys::from(&table[turn * count..][..count]),
        }
    }
}

/// The most bytes that a mode makes these messages longer, tags not counted.
fn longer(info: &Info, lengths: &[usize]) -> usize {
    let grows = |len: &usize| info.encrypted_len(*len).saturating_sub(*len);
    lengths.iter().map(grows).max().unwrap_or(0)
}

/// Makes messages long enough for a mode.
fn lengthen(workload: &mut Workload, lengths: Lengths) {
    match lengths {
        Lengths::WholeBlocks => workload.round_up(16),
        Lengths::FromOneBlock => {
            for length in &mut workload.lengths {
                *length = (*length).max(16);
            }
            for content in workload.contents.iter_mut().flatten() {
                content.resize(content.len().max(16), 0);
            }
        }
        _ => {}
    }
}

/// What messages have beside text and tag, one after the other.
struct Columns {
    nonces: Vec<u8>,
    nonce_bytes: usize,
    data: Vec<u8>,
    data_bytes: usize,
    /// Places in the table of keys: one for each message, or one for all.
    keys: usize,
}

impl Columns {
    /// Gives message `i` its own.
    fn dress<'a>(&'a self, i: usize, message: Message<'a>) -> Message<'a> {
        let nonce = &self.nonces[i * self.nonce_bytes..][..self.nonce_bytes];
        let message = message.nonce(nonce).key_index(i.min(self.keys - 1) as u32);
        match self.data_bytes {
            // Not an empty component, which may cost something.
            0 => message,
            n => message.associated_data(&self.data[i * n..][..n]),
        }
    }
}

/// Entries of so many bytes, and empty ones for ever where entries are empty.
fn each(column: &mut [u8], bytes: usize) -> impl Iterator<Item = &mut [u8]> {
    let mut entries = column.chunks_exact_mut(bytes.max(1));
    std::iter::repeat_with(move || entries.next().unwrap_or_default())
}

fn finite(value: f64) -> Option<f64> {
    value.is_finite().then_some(value)
}

/// A batch in either form.
enum Batch<'a> {
    Messages(Vec<Message<'a>>),
    Packed(Box<Packed<'a, usize>>),
}

impl Batch<'_> {
    /// A call; how many messages failed.
    fn run(&mut self, comb: &mut Comb, op: Op, keys: Keys<'_>) -> Result<usize, aescomb::Error> {
        let result = match self {
            Batch::Messages(batch) => comb.run(op, keys, batch),
            Batch::Packed(batch) => comb.run(op, keys, &mut **batch),
        };
        match result {
            Ok(()) => Ok(0),
            Err(OpenError::Refused(error)) => Err(error),
            Err(OpenError::Failed(failed)) => Ok(failed.messages().len()),
        }
    }
}
