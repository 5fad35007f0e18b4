//! The runner: the same samples through every form of a call, with a look at
//! every byte that the call may not change.

use super::memory::untouched;
use super::{CANARY, Memory, Sample};
use aescomb::{
    AnyKey, Batch, Comb, Error, Failed, Keys, Kind, Layout, Lengths, Message, MessageResult, Mode,
    Offset, Op, OpenError, Packed, Status, Text,
};
use std::borrow::Cow;
use std::fmt::Debug;
use std::mem::MaybeUninit;
use std::sync::Arc;

/// How a batch is handed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Messages, in place.
    InPlace,
    /// Messages, from one buffer to another.
    Copy,
    /// Messages, to memory that was never written.
    CopyUninit,
    /// Packed, one after the other, `u32`; in place unless messages grow.
    Offsets,
    /// Packed, one after the other, `i64`; to the same places of another buffer,
    /// or to slots where messages grow.
    OffsetsCopy,
    /// Packed with gaps, `usize`; in place unless messages grow.
    Slots,
    /// Packed in a ring, `i32`, in place with room for padding.
    Ring,
    /// Packed in a ring, `u64`, with results in slots of another buffer.
    RingToSlots,
}

impl Form {
    pub const ALL: [Form; 8] = [
        Form::InPlace,
        Form::Copy,
        Form::CopyUninit,
        Form::Offsets,
        Form::OffsetsCopy,
        Form::Slots,
        Form::Ring,
        Form::RingToSlots,
    ];

    /// Those that are not packed.
    pub const MESSAGES: [Form; 3] = [Form::InPlace, Form::Copy, Form::CopyUninit];

    /// Those whose messages lie as far apart as [`Call::apart`] says: in place twice, and from
    /// one buffer to another.
    pub const APART: [Form; 3] = [Form::Slots, Form::Ring, Form::RingToSlots];

    /// Whether nonces and tags lie in columns, each of one length, and associated
    /// data in one buffer.
    pub fn is_packed(self) -> bool {
        !Form::MESSAGES.contains(&self)
    }
}

/// The forms that a batch of these samples can have.
pub fn works_with(samples: &[Arc<Sample>]) -> &'static [Form] {
    let alike = samples.windows(2).all(|s| s[0].shape() == s[1].shape());
    match alike && samples.iter().all(|s| s.data.len() <= 1) {
        true => &Form::ALL,
        false => &Form::MESSAGES,
    }
}

/// The keys of a call.
#[derive(Clone, Copy, Debug)]
pub enum CallKeys<'k> {
    Shared(&'k AnyKey),
    Table(&'k [AnyKey]),
    Refs(&'k [&'k AnyKey]),
    /// Each message has its own of these.
    Own(&'k [AnyKey]),
}

impl<'k> CallKeys<'k> {
    pub fn keys(self) -> Keys<'k> {
        match self {
            CallKeys::Shared(key) => key.into(),
            CallKeys::Table(table) => table.into(),
            CallKeys::Refs(refs) => refs.into(),
            CallKeys::Own(_) => Keys::of_messages(),
        }
    }
}

impl<'k> From<&'k AnyKey> for CallKeys<'k> {
    fn from(key: &'k AnyKey) -> Self {
        CallKeys::Shared(key)
    }
}

impl<'k> From<&'k [AnyKey]> for CallKeys<'k> {
    fn from(table: &'k [AnyKey]) -> Self {
        CallKeys::Table(table)
    }
}

impl<'k> From<&'k Vec<AnyKey>> for CallKeys<'k> {
    fn from(table: &'k Vec<AnyKey>) -> Self {
        CallKeys::Table(table)
    }
}

impl<'k> From<&'k [&'k AnyKey]> for CallKeys<'k> {
    fn from(refs: &'k [&'k AnyKey]) -> Self {
        CallKeys::Refs(refs)
    }
}

/// A call, but for its messages.
#[derive(Clone, Copy, Debug)]
pub struct Call<'k> {
    pub op: Op,
    pub keys: CallKeys<'k>,
    pub form: Form,
    /// Bytes that nobody needs, in gaps, strides and at the ends of destinations;
    /// with 0, every buffer ends where it is last needed.
    pub spare: usize,
    /// Whether sealed texts end in their tags.
    pub attached: bool,
    /// Bytes from one message's beginning to the next one's in rings and slots, instead of
    /// as many as they take.
    pub apart: Option<usize>,
}

impl<'k> Call<'k> {
    pub fn new(op: Op, keys: impl Into<CallKeys<'k>>, form: Form) -> Self {
        Call {
            op,
            keys: keys.into(),
            form,
            spare: 0,
            attached: false,
            apart: None,
        }
    }

    pub fn mode(&self) -> Mode {
        match self.keys {
            CallKeys::Shared(key) => key.mode(),
            CallKeys::Table(table) | CallKeys::Own(table) => table[0].mode(),
            CallKeys::Refs(refs) => refs[0].mode(),
        }
    }

    /// Whether tags are at the ends of texts.
    fn attaches(&self) -> bool {
        self.attached && matches!(self.op, Op::Seal | Op::Open)
    }

    /// Whether tags are only read.
    fn receives(&self) -> bool {
        matches!(self.op, Op::Verify | Op::Open) && self.spare.is_multiple_of(2)
    }

    /// Bytes of tag at the end of a sealed text.
    fn attached(&self, sample: &Sample) -> usize {
        match self.attaches() {
            true => sample.tag.len(),
            false => 0,
        }
    }

    /// What goes in.
    fn input<'s>(&self, sample: &'s Sample) -> Cow<'s, [u8]> {
        match self.op {
            Op::Open if self.attached && self.mode().info().tag_first => {
                [&sample.tag[..], &sample.sealed].concat().into()
            }
            Op::Open if self.attached => [&sample.sealed[..], &sample.tag].concat().into(),
            Op::Decrypt | Op::Open => (&sample.sealed[..]).into(),
            _ => (&sample.plain[..]).into(),
        }
    }

    /// What comes out, tags aside.
    fn output<'s>(&self, sample: &'s Sample) -> &'s [u8] {
        match self.op {
            Op::Encrypt | Op::Seal => &sample.sealed,
            Op::Decrypt | Op::Open if sample.verdict == Status::Done => &sample.plain,
            _ => &[],
        }
    }

    /// What becomes of a message.
    fn verdict(&self, sample: &Sample) -> Status {
        match self.op {
            Op::Decrypt | Op::Verify | Op::Open => sample.verdict,
            _ => Status::Done,
        }
    }

    /// The room that a message's result takes while it is made.
    fn needed(&self, sample: &Sample) -> usize {
        match self.op {
            Op::Encrypt | Op::Decrypt | Op::Open => sample.sealed.len(),
            // Not what the oracle made: there may be none if the call is refused.
            Op::Seal => {
                self.mode().info().encrypted_len(sample.plain.len()) + self.attached(sample)
            }
            _ => 0,
        }
    }
}

/// What became of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    pub status: Status,
    pub output: Vec<u8>,
    pub tag: Vec<u8>,
}

/// Runs one operation on any batch: the messages that failed.
pub fn call<'k, B: Batch + ?Sized>(
    comb: &mut Comb,
    op: Op,
    keys: impl Into<Keys<'k>>,
    batch: &mut B,
) -> Result<Vec<usize>, Error> {
    match op {
        Op::Encrypt => comb.encrypt(keys, batch).map(|()| Vec::new()),
        Op::Decrypt => failed(op, comb.decrypt(keys, batch)),
        Op::Mac => comb.mac(keys, batch).map(|()| Vec::new()),
        Op::Verify => failed(op, comb.verify(keys, batch)),
        Op::Seal => comb.seal(keys, batch).map(|()| Vec::new()),
        Op::Open => failed(op, comb.open(keys, batch)),
    }
}

/// The messages that failed in a call that was not refused.
pub fn failed(op: Op, result: Result<(), OpenError>) -> Result<Vec<usize>, Error> {
    match result {
        Ok(()) => Ok(Vec::new()),
        Err(OpenError::Refused(error)) => Err(error),
        Err(OpenError::Failed(list)) => {
            let status = match op {
                Op::Decrypt => Status::BadPadding,
                _ => Status::BadTag,
            };
            assert_eq!(list.status(), status);
            Ok(list.messages().collect())
        }
    }
}

/// What runs batches: a scheduler, or a team of them.
pub trait Scheduler {
    fn messages(
        &mut self,
        op: Op,
        keys: Keys<'_>,
        batch: &mut [Message<'_>],
    ) -> Result<Vec<usize>, Error>;

    fn packed<O: Offset>(
        &mut self,
        op: Op,
        keys: Keys<'_>,
        batch: &mut Packed<'_, O>,
    ) -> Result<Vec<usize>, Error>;

    /// How it goes about an operation.
    fn about(&self, mode: Mode, op: Op) -> String;
}

impl Scheduler for Comb {
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

    fn about(&self, mode: Mode, op: Op) -> String {
        format!("{} P={}", self.backend(mode, op), self.lanes(mode, op))
    }
}

/// Takes samples through a call and says what became of them. Panics where a
/// byte changed that is none of the call's business.
pub fn run<S: Scheduler, M: Memory>(
    comb: &mut S,
    memory: &M,
    call: &Call<'_>,
    samples: &[Arc<Sample>],
) -> Result<Vec<Outcome>, Error> {
    match call.form {
        Form::InPlace | Form::Copy | Form::CopyUninit => run_messages(comb, memory, call, samples),
        Form::Offsets => run_packed::<u32, _, _>(comb, memory, call, samples),
        Form::OffsetsCopy => run_packed::<i64, _, _>(comb, memory, call, samples),
        Form::Slots => run_packed::<usize, _, _>(comb, memory, call, samples),
        Form::Ring => run_packed::<i32, _, _>(comb, memory, call, samples),
        Form::RingToSlots => run_packed::<u64, _, _>(comb, memory, call, samples),
    }
}

/// [`run`], and every message must turn out as its sample says.
pub fn check<S: Scheduler, M: Memory>(
    comb: &mut S,
    memory: &M,
    call: &Call<'_>,
    samples: &[Arc<Sample>],
) -> Vec<Outcome> {
    let mode = call.mode();
    let text = {
        let lens: Vec<_> = samples.iter().map(|s| s.plain.len()).collect();
        let keys: Vec<_> = samples.iter().map(|s| s.key).collect();
        let keys = match call.keys {
            CallKeys::Shared(key) => format!("shared {}", key.algorithm()),
            CallKeys::Table(_) => format!("table {keys:?}"),
            CallKeys::Refs(_) => format!("references {keys:?}"),
            CallKeys::Own(_) => format!("messages' own {keys:?}"),
        };
        format!(
            "{mode} {} {} {:?} spare={} attached={} apart={:?}, {keys}, lengths {lens:?}",
            call.op.name(),
            comb.about(mode, call.op),
            call.form,
            call.spare,
            call.attached,
            call.apart
        )
    };
    let outcomes = run(comb, memory, call, samples).unwrap_or_else(|e| panic!("{text}: {e}"));
    let about = |i: usize| format!("{text}, message {i}, {:?}", samples[i].shape());
    for (i, (outcome, sample)) in outcomes.iter().zip(samples).enumerate() {
        assert_eq!(outcome.status, call.verdict(sample), "{}", about(i));
        let want = call.output(sample);
        if outcome.output != want {
            let at = outcome.output.iter().zip(want).position(|(a, b)| a != b);
            panic!(
                "{}: output of {} bytes, expected {}, first difference at {at:?}",
                about(i),
                outcome.output.len(),
                want.len()
            );
        }
        assert_eq!(outcome.tag, sample.tag, "{}", about(i));
    }
    outcomes
}

/// Takes a sample through the one-message calls of its key, in place where its length stays,
/// and from one place to another. With the tag there and back; a tag that is not the message's
/// must be found.
pub fn alone<M: Memory>(memory: &M, key: &AnyKey, sample: &Sample) {
    let info = key.mode().info();
    let about = format!(
        "{} {} bytes {:?}",
        key.algorithm(),
        sample.plain.len(),
        sample.shape()
    );
    let take = |bytes: &[u8]| filled(memory, bytes, bytes.len());
    let nonce = take(&sample.nonce);
    let mut text = take(&sample.plain);
    let mut tag = memory.take(sample.tag.len());
    match info.kind {
        Kind::Mac => {
            key.mac_with_nonce(&nonce, &text, &mut tag).expect(&about);
            assert_eq!(tag[..], sample.tag, "{about}");
            key.verify_with_nonce(&nonce, &text, &tag).expect(&about);
            let at = text.len() % tag.len();
            tag[at] ^= 1 << (text.len() % 8);
            let verdict = key.verify_with_nonce(&nonce, &text, &tag);
            assert!(matches!(verdict, Err(OpenError::Failed(_))), "{about}");
            if sample.nonce.is_empty() {
                tag.fill(0);
                key.mac(&text, &mut tag).expect(&about);
                assert_eq!(tag[..], sample.tag, "{about}");
            }
        }
        Kind::Aead => {
            let data = sample.data.first().map_or(&[][..], |data| data);
            let data = take(data);
            if info.lengths == Lengths::Untold {
                // These calls cannot say what it wants to know.
                return;
            }
            if changes_length(key.mode()) {
                text = take(&sample.sealed);
                tag.copy_from_slice(&sample.tag);
            } else {
                key.seal_in_place(&nonce, &data, &mut text, &mut tag)
                    .expect(&about);
            }
            assert_eq!(text[..], sample.sealed, "{about}");
            assert_eq!(tag[..], sample.tag, "{about}");
            let len = key
                .open_in_place(&nonce, &data, &mut text, &tag)
                .expect(&about);
            assert_eq!(text[..len], sample.plain, "{about}");
            let at = sample.plain.len() % tag.len();
            tag[at] ^= 1 << (sample.plain.len() % 8);
            text.copy_from_slice(&sample.sealed);
            let error = key
                .open_in_place(&nonce, &data, &mut text, &tag)
                .expect_err(&about);
            let wrong = |failed: &Failed| failed.status() == Status::BadTag;
            assert!(
                matches!(&error, OpenError::Failed(f) if wrong(f)),
                "{about}: {error}"
            );
            assert!(text.iter().all(|b| *b == 0), "{about}: not wiped");

            // From one place to another.
            let (plain, sealed) = (take(&sample.plain), take(&sample.sealed));
            let mut to = memory.take(sealed.len());
            tag.fill(0);
            let len = key
                .seal(&nonce, &data, Text::copy(&plain, &mut to), &mut tag)
                .expect(&about);
            assert_eq!((len, &to[..]), (sealed.len(), &sealed[..]), "{about}");
            assert_eq!(tag[..], sample.tag, "{about}");
            let len = key
                .open(&nonce, &data, Text::copy(&sealed, &mut to), &tag)
                .expect(&about);
            assert_eq!(to[..len], sample.plain, "{about}");
            tag[at] ^= 1 << (sample.plain.len() % 8);
            let text = Text::copy(&sealed, &mut to);
            let error = key.open(&nonce, &data, text, &tag).expect_err(&about);
            assert!(
                matches!(&error, OpenError::Failed(f) if wrong(f)),
                "{about}"
            );
            assert!(to[..len].iter().all(|b| *b == 0), "{about}: not wiped");
        }
        _ => {
            if info.lengths == Lengths::Padded {
                text = take(&sample.sealed);
            } else {
                key.encrypt_in_place(&nonce, &mut text).expect(&about);
                assert_eq!(text[..], sample.sealed, "{about}");
            }
            let len = key.decrypt_in_place(&nonce, &mut text).expect(&about);
            assert_eq!(text[..len], sample.plain, "{about}");

            let (plain, sealed) = (take(&sample.plain), take(&sample.sealed));
            let mut to = memory.take(sealed.len());
            let text = Text::copy(&plain, &mut to);
            let len = key.encrypt(&nonce, text).expect(&about);
            assert_eq!((len, &to[..]), (sealed.len(), &sealed[..]), "{about}");
            let text = Text::copy(&sealed, &mut to);
            let len = key.decrypt(&nonce, text).expect(&about);
            assert_eq!(to[..len], sample.plain, "{about}");
        }
    }
}

/// Whether sealed texts are longer than their messages.
pub fn changes_length(mode: Mode) -> bool {
    matches!(mode.info().lengths, Lengths::Filled | Lengths::Untold)
}

/// Fills a tag's place as the operation wants it.
fn put_tag(op: Op, sample: &Sample, tag: &mut [u8]) {
    match op {
        Op::Verify | Op::Open => tag.copy_from_slice(&sample.tag),
        _ => tag.fill(CANARY),
    }
}

fn filled<M: Memory>(memory: &M, bytes: &[u8], len: usize) -> M::Buf {
    let mut buf = memory.take(len);
    buf[..bytes.len()].copy_from_slice(bytes);
    buf[bytes.len()..].fill(CANARY);
    buf
}

fn run_messages<S: Scheduler, M: Memory>(
    comb: &mut S,
    memory: &M,
    call: &Call<'_>,
    samples: &[Arc<Sample>],
) -> Result<Vec<Outcome>, Error> {
    let (op, info) = (call.op, call.mode().info());
    let mac = matches!(op, Op::Mac | Op::Verify);
    let room = |i: usize, s: &Sample| call.needed(s) + call.spare * (i % 3);
    let in_place = call.form == Form::InPlace;
    let inputs: Vec<_> = samples.iter().map(|s| call.input(s)).collect();
    let mut src = Vec::new();
    let mut dst = Vec::new();
    let mut uninit: Vec<Vec<MaybeUninit<u8>>> = Vec::new();
    let mut nonces = Vec::new();
    let mut data = Vec::new();
    let mut tags = Vec::new();
    for (i, (s, input)) in samples.iter().zip(&inputs).enumerate() {
        src.push(match in_place {
            true => filled(memory, input, room(i, s).max(input.len())),
            false => filled(memory, input, input.len()),
        });
        match call.form {
            Form::Copy if !mac => dst.push(filled(memory, &[], room(i, s))),
            Form::CopyUninit if !mac => uninit.push(vec![MaybeUninit::uninit(); room(i, s)]),
            _ => {}
        }
        nonces.push(filled(memory, &s.nonce, s.nonce.len()));
        let take = |part: &Vec<u8>| filled(memory, part, part.len());
        data.push(s.data.iter().map(take).collect::<Vec<_>>());
        let mut tag = memory.take(match call.attaches() {
            true => 0,
            false => s.tag.len(),
        });
        if !call.attaches() {
            put_tag(op, s, &mut tag);
        }
        tags.push(tag);
    }
    let components: Vec<Vec<&[u8]>> = data
        .iter()
        .map(|parts| parts.iter().map(|part| &part[..]).collect())
        .collect();
    let mut dst_iter = dst.iter_mut();
    let mut uninit_iter = uninit.iter_mut();
    let mut batch = Vec::new();
    let parts = samples.iter().zip(&mut src).zip(&nonces).zip(&mut tags);
    for (i, (((s, src), nonce), tag)) in parts.enumerate() {
        let len = inputs[i].len();
        let text = match call.form {
            Form::InPlace if src.len() == len && i % 2 == 0 => Text::in_place(src),
            Form::InPlace => Text::in_place_with_room(src, len),
            _ if mac => Text::read_only(src),
            Form::Copy => Text::copy(src, dst_iter.next().expect("a buffer per message")),
            _ => Text::copy_uninit(src, uninit_iter.next().expect("a buffer per message")),
        };
        let mut message = Message::new(text).nonce(nonce);
        message = match call.keys {
            CallKeys::Own(table) => message.key(&table[s.key as usize]),
            _ => message.key_index(s.key),
        };
        if info.lengths == Lengths::Untold {
            message = message.opened_len(s.plain.len());
        }
        message = match components[i][..] {
            [] if i % 2 == 0 => message,
            [one] if i % 2 == 0 => message.associated_data(one),
            _ => message.associated_data_vector(&components[i]),
        };
        batch.push(match call.attaches() {
            true => message.tag_attached(s.tag.len()),
            false if call.receives() => message.received_tag(tag),
            false => message.tag(tag),
        });
    }
    let result = comb.messages(op, call.keys.keys(), &mut batch);
    let mut done: Vec<(Status, Vec<u8>)> = batch
        .into_iter()
        .map(|m| {
            let (status, output) = (m.status(), m.output().to_vec());
            assert_eq!(output, m.into_output(), "output() and into_output()");
            (status, output)
        })
        .collect();
    if result.is_err() {
        let pending = (Status::Pending, Vec::new());
        assert!(
            done.iter().all(|d| *d == pending),
            "a refused call says otherwise"
        );
    }
    for (i, (s, input)) in samples.iter().zip(&inputs).enumerate() {
        let touched = match result {
            Ok(_) => call.needed(s),
            Err(_) => 0,
        };
        let written = if in_place { touched } else { 0 };
        let before = input.get(written..).unwrap_or_default();
        let (same, beyond) = src[i][written..].split_at(before.len());
        assert!(same == before && untouched(beyond), "a source changed");
        if let Some(dst) = dst.get(i) {
            assert!(untouched(&dst[touched..]));
        }
        if matches!(done[i].0, Status::BadPadding | Status::BadTag) {
            let output = dst.get(i).or(in_place.then(|| &src[i]));
            let wiped = |buf: &M::Buf| buf[..touched].iter().all(|b| *b == 0);
            assert!(output.is_none_or(wiped), "not wiped");
        }
        assert!(nonces[i][..] == s.nonce[..], "a nonce changed");
        assert!(components[i].iter().eq(&s.data), "associated data changed");
        if matches!(op, Op::Verify | Op::Open) && !call.attaches() {
            assert!(tags[i][..] == s.tag, "a tag changed");
        } else if result.is_err() {
            assert!(untouched(&tags[i]), "a refused call wrote a tag");
        }
    }
    let failed = result?;
    assert!(
        (0..done.len())
            .filter(|i| done[*i].0 != Status::Done)
            .eq(failed)
    );
    let outcome = |(i, (status, output)): (usize, &mut (Status, Vec<u8>))| {
        let tag = match call.attaches() {
            true => split_tag(call, &samples[i], output),
            false => tags[i].to_vec(),
        };
        Outcome {
            status: *status,
            output: std::mem::take(output),
            tag,
        }
    };
    Ok(done.iter_mut().enumerate().map(outcome).collect())
}

/// Takes the tag off a result that ends in it; of a text to open that ended in it,
/// it is as it was, since a source does not change.
fn split_tag(call: &Call<'_>, sample: &Sample, output: &mut Vec<u8>) -> Vec<u8> {
    match call.op {
        Op::Seal if call.mode().info().tag_first => output.drain(..sample.tag.len()).collect(),
        Op::Seal => {
            let text = output.len().checked_sub(sample.tag.len());
            output.split_off(text.expect("a result with a tag"))
        }
        _ => sample.tag.clone(),
    }
}

/// Places in a packed buffer.
struct Places {
    starts: Vec<usize>,
    /// Bytes of every message, or of its place.
    lens: Vec<usize>,
    end: usize,
    shape: Shape,
}

#[derive(Clone, Copy)]
enum Shape {
    Offsets,
    /// So many bytes from one to the next, or gaps of different lengths.
    Slots(Option<usize>),
    Ring(usize),
}

impl Places {
    fn new(shape: Shape, lens: Vec<usize>, last_room: usize, spare: usize) -> Places {
        let mut at = match shape {
            Shape::Ring(_) => 0,
            _ => spare,
        };
        let mut starts = Vec::new();
        let mut end = at;
        for (i, len) in lens.iter().enumerate() {
            starts.push(at);
            end = at + len;
            at = match shape {
                Shape::Offsets => at + len,
                Shape::Slots(None) => at + len + spare * (i % 3),
                Shape::Slots(Some(stride)) | Shape::Ring(stride) => at + stride,
            };
        }
        if let (Shape::Ring(_), Some(last)) = (shape, starts.last()) {
            end = last + last_room;
        }
        Places {
            starts,
            lens,
            end,
            shape,
        }
    }
}

/// [`Places`] as columns.
struct Columns<O> {
    a: Vec<O>,
    b: Vec<O>,
    shape: Shape,
}

impl<O: Offset + TryFrom<usize>> Columns<O>
where
    O::Error: Debug,
{
    fn new(places: &Places) -> Self {
        let column = |v: &[usize]| -> Vec<O> {
            v.iter()
                .map(|n| O::try_from(*n).expect("a small offset"))
                .collect()
        };
        let mut starts = places.starts.clone();
        if matches!(places.shape, Shape::Offsets) {
            starts.push(places.end);
        }
        Columns {
            a: column(&starts),
            b: column(&places.lens),
            shape: places.shape,
        }
    }

    fn layout(&self) -> Layout<'_, O> {
        match self.shape {
            Shape::Offsets => Layout::Offsets(&self.a),
            Shape::Slots(_) => Layout::Slots {
                starts: &self.a,
                lengths: &self.b,
            },
            Shape::Ring(stride) => Layout::Ring {
                stride,
                lengths: &self.b,
            },
        }
    }
}

fn run_packed<O, S: Scheduler, M: Memory>(
    comb: &mut S,
    memory: &M,
    call: &Call<'_>,
    samples: &[Arc<Sample>],
) -> Result<Vec<Outcome>, Error>
where
    O: Offset + TryFrom<usize>,
    O::Error: Debug,
{
    let (op, spare, n) = (call.op, call.spare, samples.len());
    let info = call.mode().info();
    let mac = matches!(op, Op::Mac | Op::Verify);
    let inputs: Vec<_> = samples.iter().map(|s| call.input(s)).collect();
    let lens: Vec<usize> = inputs.iter().map(|input| input.len()).collect();
    let needed: Vec<usize> = samples.iter().map(|s| call.needed(s)).collect();
    let rooms: Vec<usize> = lens.iter().zip(&needed).map(|(a, b)| *a.max(b)).collect();
    let grows = op == Op::Encrypt && info.lengths == Lengths::Padded
        || op == Op::Seal && (call.attaches() || changes_length(call.mode()));
    let last_room = rooms.last().copied().unwrap_or(0);

    let least = rooms.iter().max().unwrap_or(&0) + spare;
    let stride = call.apart.unwrap_or(least);
    let shape = match call.form {
        Form::Offsets | Form::OffsetsCopy => Shape::Offsets,
        Form::Slots => Shape::Slots(call.apart),
        _ => Shape::Ring(stride),
    };
    let from = Places::new(shape, lens, last_room, spare);
    // Places of their own for the results; otherwise the same as in the source.
    let slots = |shape| Some(Places::new(shape, needed.clone(), last_room, spare));
    let to = match call.form {
        _ if mac => None,
        Form::Offsets if grows => slots(Shape::Offsets),
        Form::OffsetsCopy if grows => slots(Shape::Slots(call.apart)),
        Form::Slots if grows => slots(Shape::Ring(stride)),
        Form::RingToSlots => slots(Shape::Slots(call.apart)),
        _ => None,
    };
    let copies = !mac && (to.is_some() || call.form == Form::OffsetsCopy);

    let mut src = memory.take(from.end);
    src.fill(CANARY);
    for (at, input) in from.starts.iter().zip(&inputs) {
        src[*at..at + input.len()].copy_from_slice(input);
    }
    let src_before = src.to_vec();
    let mut dst = memory.take(match copies {
        true => to.as_ref().map_or(from.end, |to| to.end),
        false => 0,
    });
    dst.fill(CANARY);

    let alike = samples.first().map(|s| s.shape());
    let nonce_len = alike.map_or(0, |shape| shape.nonce);
    let nonce_stride = nonce_len + spare;
    let mut nonces = memory.take(column_len(n, nonce_len, nonce_stride));
    nonces.fill(CANARY);
    let tag_len = match call.attaches() {
        true => 0,
        false => alike.map_or(0, |shape| shape.tag),
    };
    let tag_stride = tag_len + spare;
    let mut tags = memory.take(column_len(n, tag_len, tag_stride));
    tags.fill(CANARY);
    for (i, s) in samples.iter().enumerate() {
        nonces[i * nonce_stride..][..nonce_len].copy_from_slice(&s.nonce);
        if !call.attaches() {
            put_tag(op, s, &mut tags[i * tag_stride..][..tag_len]);
        }
    }
    let tags_before = tags.to_vec();

    let with_data = alike.is_some_and(|shape| shape.components == 1);
    let data_lens: Vec<_> = samples
        .iter()
        .map(|s| s.data.iter().map(Vec::len).sum())
        .collect();
    // Not the layout of the texts.
    let data_shape = match call.form {
        Form::Offsets | Form::OffsetsCopy => {
            Shape::Ring(data_lens.iter().max().unwrap_or(&0) + spare)
        }
        Form::Slots => Shape::Offsets,
        _ => Shape::Slots(None),
    };
    let data_room = data_lens.last().copied().unwrap_or(0);
    let data_places = Places::new(data_shape, data_lens, data_room, spare);
    let mut data = memory.take(data_places.end);
    data.fill(CANARY);
    for (at, part) in data_places
        .starts
        .iter()
        .zip(samples.iter().map(|s| s.data.concat()))
    {
        data[*at..at + part.len()].copy_from_slice(&part);
    }
    let data_before = data.to_vec();
    let data_columns = Columns::<O>::new(&data_places);

    let keys: Vec<u32> = samples.iter().map(|s| s.key).collect();
    let opened_lens: Vec<O> = samples
        .iter()
        .map(|s| O::try_from(s.plain.len()).expect("a small length"))
        .collect();
    let mut results = vec![MessageResult::default(); n];
    let source = Columns::<O>::new(&from);
    let target = to.as_ref().map(Columns::<O>::new);
    let text = match call.form {
        _ if copies => Text::copy(&src, &mut dst),
        Form::RingToSlots | Form::OffsetsCopy => Text::read_only(&src),
        _ => Text::in_place(&mut src),
    };
    let mut batch = Packed::new(text, source.layout()).nonces(&nonces, nonce_len, nonce_stride);
    batch = match call.attaches() {
        true => batch.tags_attached(alike.map_or(0, |shape| shape.tag)),
        false if call.receives() => batch.received_tags(&tags, tag_len, tag_stride),
        false => batch.tags(&mut tags, tag_len, tag_stride),
    };
    if with_data {
        batch = batch.associated_data(&data, data_columns.layout());
    }
    if let Some(target) = &target {
        batch = batch.output(target.layout());
    }
    if !matches!(call.keys, CallKeys::Shared(_)) {
        batch = batch.key_indices(&keys);
    }
    if info.lengths == Lengths::Untold {
        batch = batch.opened_lens(&opened_lens);
    }
    let verdicts =
        matches!(op, Op::Verify | Op::Open) || op == Op::Decrypt && info.lengths == Lengths::Padded;
    let with_results = verdicts || spare.is_multiple_of(2);
    if with_results {
        batch = batch.results(&mut results);
    }
    // Packed messages have places in a table.
    let keys_of_batch = match call.keys {
        CallKeys::Own(table) => table.into(),
        keys => keys.keys(),
    };
    let result = comb.packed(op, keys_of_batch, &mut batch);
    let text: &[u8] = if copies { &dst } else { &src };
    let places = to.as_ref().unwrap_or(&from);
    // Everything but the results must be as it was.
    let mut expected = match copies {
        true => vec![CANARY; dst.len()],
        false => src_before.clone(),
    };
    if result.is_ok() {
        for (at, len) in places.starts.iter().zip(&needed) {
            expected[*at..at + len].copy_from_slice(&text[*at..at + len]);
        }
    }
    assert!(expected == text, "a byte between the messages changed");
    assert!(!copies || src_before == src[..], "the source changed");
    assert!(data_before == data[..], "associated data changed");
    let mut expected = tags_before;
    if result.is_ok() && matches!(op, Op::Mac | Op::Seal) {
        for i in 0..n {
            let place = i * tag_stride..i * tag_stride + tag_len;
            expected[place.clone()].copy_from_slice(&tags[place]);
        }
    }
    assert!(expected == tags[..], "a byte between the tags changed");
    if result.is_err() {
        let pending = MessageResult::default();
        assert!(
            results.iter().all(|r| *r == pending),
            "a refused call says otherwise"
        );
    }
    let failed = result?;
    if with_results {
        assert!(
            (0..n)
                .filter(|i| results[*i].status != Status::Done)
                .eq(failed)
        );
    }
    let outcome = |i: usize| {
        let status = match with_results {
            true => results[i].status,
            false => Status::Done,
        };
        let result = &text[places.starts[i]..][..needed[i]];
        if matches!(status, Status::BadPadding | Status::BadTag) {
            assert!(result.iter().all(|b| *b == 0), "not wiped");
        }
        let len = match with_results {
            true => results[i].len,
            false => call.output(&samples[i]).len() + call.attached(&samples[i]),
        };
        let mut output = result[..len].to_vec();
        let tag = match call.attaches() {
            true => split_tag(call, &samples[i], &mut output),
            false => tags[i * tag_stride..][..tag_len].to_vec(),
        };
        Outcome {
            status,
            output,
            tag,
        }
    };
    Ok((0..n).map(outcome).collect())
}

/// Bytes of a column that ends with its last entry.
fn column_len(n: usize, bytes: usize, stride: usize) -> usize {
    match n {
        0 => 0,
        n => (n - 1) * stride + bytes,
    }
}
