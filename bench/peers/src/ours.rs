//! aescomb itself.

use crate::batch::{Batch, Run};
use crate::case::Case;
use aescomb::{Comb, Key, Layout, MessageResult, Op, Packed, Text};

/// One call of `Comb` for the packed form of a batch.
pub fn packed(case: Case) -> Run {
    let key = Key::new(case.mode, case.key()).expect("a good key");
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

    fn run(&mut self, case: Case, comb: &mut Comb, key: &Key, batch: &mut Batch) -> usize {
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
        let verdict = comb.run(case.op, key, &mut packed);
        verdict.expect("a good batch").failed
    }
}

/// The methods of `Key`, which are for one message, and in place.
pub fn alone(case: Case) -> Run {
    let key = Key::new(case.mode, case.key()).expect("a good key");
    Box::new(move |batch| {
        batch.each(|item| match case.op {
            Op::Encrypt => key
                .encrypt_in_place(item.nonce, item.text.in_place())
                .is_ok(),
            Op::Decrypt => key
                .decrypt_in_place(item.nonce, item.text.in_place())
                .is_ok(),
            Op::Mac | Op::Verify => key
                .mac_with_nonce(item.nonce, item.text.read(), item.tag)
                .is_ok(),
            Op::Seal => key
                .seal_in_place(item.nonce, item.data, item.text.in_place(), item.tag)
                .is_ok(),
            Op::Open => key
                .open_in_place(item.nonce, item.data, item.text.in_place(), item.tag)
                .is_ok(),
        })
    })
}
