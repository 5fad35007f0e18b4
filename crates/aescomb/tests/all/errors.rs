//! Everything that a call refuses: which message, which field, what was given,
//! what is allowed, how it reads, and that nothing was touched.
//!
//! Most of it are tables. A refusal of a message is a row of [`rows`], a limit of a standard one
//! of [`TEXT_LIMITS`] or [`DATA_LIMITS`], a refusal of a column of a packed batch one of
//! [`COLUMNS`] or, for places in a buffer, of [`PLACES`]. How a refusal of a message reads is
//! said in [`TEXTS`].
//!
//! `unsafe` here are texts and jobs of vectors that stay where they are while a call is at
//! work, and memory that is named and never touched, for texts of gigabytes.
#![allow(unsafe_code)]

use crate::common::{
    self, CANARY, CallKeys, KEYS, Shape, call, data, failed, nonce, ops, paint, raw_key, refs,
    table,
};
use aescomb::ffi::{Job, Jobs};
use aescomb::{
    Algorithm, Allowed, AnyKey, Backend, Batch, Comb, Error, Field, Given, KEY_BYTES, Keys, Kind,
    Layout, Lengths, Message, MessageResult, Mode, Offset, Op, OpenError, Packed, Status, Text,
};
use std::collections::HashSet;

/// A message in parts that can be spoilt.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Parts {
    src: Vec<u8>,
    /// In place if there is none.
    dst: Option<Vec<u8>>,
    /// Places and lengths of source and destination if both are in `src`.
    within: Option<[usize; 4]>,
    /// Bytes of text or of associated data that are named and never touched, if any.
    vast_text: usize,
    vast_data: usize,
    nonce: Vec<u8>,
    /// Components of associated data.
    data: Vec<Vec<u8>>,
    tag: Vec<u8>,
    /// The tag may only be read.
    received: bool,
    /// Bytes of tag at the end of the text, instead of `tag`.
    attached: Option<usize>,
    /// What is said of the length of what is opened, if it is not the text's; `UNSAID` for
    /// nothing.
    opened: Option<usize>,
    key: u32,
    /// The mode of its own key.
    own: Option<Mode>,
}

const UNSAID: usize = usize::MAX;

impl Parts {
    fn good(mode: Mode, op: Op, copy: bool, keys: CallKeys<'_>) -> Parts {
        let info = mode.info();
        let src = paint(48, 3);
        let room = match op == ops(mode)[0] && info.kind != Kind::Mac {
            true => info.encrypted_len(src.len()),
            false => src.len(),
        };
        Parts {
            // Room enough for any padding.
            dst: (copy || room > src.len()).then(|| vec![CANARY; room]),
            src,
            within: None,
            vast_text: 0,
            vast_data: 0,
            nonce: nonce(mode, 0),
            data: data(Shape::usual(mode).components, 0),
            tag: vec![CANARY; info.longest_tag()],
            received: false,
            attached: None,
            opened: None,
            key: 0,
            own: matches!(keys, CallKeys::Own(_)).then_some(mode),
        }
    }

    /// A text with a tag of `tag` bytes in one piece.
    fn append(&mut self, tag: usize, src: usize, dst: usize) {
        (self.attached, self.src) = (Some(tag), paint(src, 3));
        self.dst = Some(vec![CANARY; dst]);
    }

    /// A text whose source and destination are in one buffer.
    fn within(&mut self, from: usize, len: usize, to: usize, room: usize) {
        (self.src, self.dst) = (paint(128, 3), None);
        self.within = Some([from, len, to, room]);
    }

    /// The source and its length, the destination and its room.
    fn places(&mut self) -> (*const u8, usize, *mut u8, usize) {
        let (src, len) = (self.src.as_mut_ptr(), self.src.len());
        match (self.vast_text, self.within, &mut self.dst) {
            (0, Some([from, len, to, room]), _) => {
                (src.wrapping_add(from), len, src.wrapping_add(to), room)
            }
            (0, None, Some(dst)) => (src, len, dst.as_mut_ptr(), dst.len()),
            (0, None, None) => (src, len, src, len),
            (len, ..) => (vast().as_ptr(), len, vast().as_ptr().cast_mut(), len),
        }
    }

    fn opened(&self, len: usize) -> usize {
        let whole = len - self.attached.unwrap_or(0).min(len);
        self.opened.unwrap_or(whole)
    }

    fn own_key(&self) -> Option<&'static AnyKey> {
        self.own.map(|mode| &table(mode)[0])
    }

    /// Makes a message of it, which needs a place for the list of components.
    fn message<'a>(&'a mut self, components: &'a mut Vec<&'a [u8]>) -> Message<'a> {
        let (src, len, dst, room) = self.places();
        // SAFETY: vectors that nobody else uses, or what is not touched.
        let text = unsafe { Text::from_raw(src, len, dst, room) };
        *components = components_of(&self.data, self.vast_data);
        let mut message = Message::new(text).nonce(&self.nonce);
        message = message.associated_data_vector(components);
        if self.opened != Some(UNSAID) {
            message = message.opened_len(self.opened(len));
        }
        if let Some(key) = self.own_key() {
            message = message.key(key);
        }
        message = message.key_index(self.key);
        match (self.attached, self.received) {
            (Some(bytes), _) => message.tag_attached(bytes),
            (None, true) => message.received_tag(&self.tag),
            (None, false) => message.tag(&mut self.tag),
        }
    }

    /// The same as a job, for what a job can say.
    fn job(&mut self) -> Option<Job> {
        let (src, src_len, dst, dst_len) = self.places();
        let data = match components_of(&self.data, self.vast_data)[..] {
            [] => (std::ptr::null(), 0),
            [data] => (data.as_ptr(), data.len()),
            _ => return None,
        };
        let tag_len = self.attached.unwrap_or(self.tag.len());
        (self.key == 0 && !self.received).then(|| Job {
            src,
            src_len,
            dst,
            dst_len,
            nonce: self.nonce.as_ptr(),
            nonce_len: self.nonce.len() as u32,
            data: data.0,
            data_len: data.1,
            tag: self.tag.as_mut_ptr(),
            tag_len: u32::try_from(tag_len).unwrap_or(u32::MAX),
            tag_attached: u32::from(self.attached > Some(0)),
            opened_len: self.opened(src_len),
            key: self.own_key().map_or(std::ptr::null(), |key| key),
            ..Job::default()
        })
    }

    /// The same through a call of a key, for what that can say.
    fn alone(&mut self, key: &AnyKey, op: Op) -> Option<Result<Vec<usize>, Error>> {
        let info = key.mode().info();
        let is_of_mode = info.kind.ops().contains(&op);
        let reads = matches!(op, Op::Mac | Op::Verify);
        let checks = matches!(op, Op::Verify | Op::Open);
        let untold = op == Op::Open && info.lengths == Lengths::Untold;
        let says = self.is_plain()
            && (self.attached, self.own) == (None, None)
            && (reads || self.dst.is_none())
            && (checks || !self.received)
            && (!untold || self.opened == Some(UNSAID))
            && (!is_of_mode || self.data.len() == info.data_components.min(1))
            && (info.kind != Kind::Cipher || self.tag.is_empty());
        let (nonce, text, tag) = (&self.nonce[..], &mut self.src[..], &mut self.tag[..]);
        let data = self.data.first().map_or(&[][..], |data| data);
        says.then(|| match op {
            Op::Encrypt => key.encrypt_in_place(nonce, text).map(|()| Vec::new()),
            Op::Decrypt => failed(op, key.decrypt_in_place(nonce, text).map(|_| ())),
            Op::Mac => key.mac_with_nonce(nonce, text, tag).map(|()| Vec::new()),
            Op::Verify => failed(op, key.verify_with_nonce(nonce, text, tag)),
            Op::Seal => key
                .seal_in_place(nonce, data, text, tag)
                .map(|()| Vec::new()),
            Op::Open => failed(op, key.open_in_place(nonce, data, text, tag).map(|_| ())),
        })
    }

    /// Whether it has buffers of its own, and associated data in one piece.
    fn is_plain(&self) -> bool {
        (self.vast_text, self.vast_data, self.within) == (0, 0, None) && self.data.len() <= 1
    }

    /// What messages of a packed batch have in common.
    fn columns(&self) -> impl PartialEq + use<> {
        (
            (self.nonce.len(), self.tag.len(), self.data.len()),
            (self.attached, self.received, self.dst.is_some()),
            self.opened == Some(UNSAID),
        )
    }
}

fn components_of(data: &[Vec<u8>], vast_data: usize) -> Vec<&[u8]> {
    match vast_data {
        0 => data.iter().map(|part| &part[..]).collect(),
        len => vec![&vast()[..len]],
    }
}

/// Memory that may be named and is never touched: so much of it that limits can be
/// reached. None where there are no such addresses.
fn vast() -> &'static [u8] {
    #[cfg(all(target_os = "linux", target_pointer_width = "64"))]
    {
        use std::sync::OnceLock;
        const LEN: usize = (1 << 36) + 64;
        static VAST: OnceLock<&[u8]> = OnceLock::new();
        VAST.get_or_init(|| {
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
            let null = std::ptr::null_mut();
            // SAFETY: a new mapping at a place of the kernel's choice.
            let base = unsafe { libc::mmap(null, LEN, libc::PROT_READ, flags, -1, 0) };
            let error = std::io::Error::last_os_error();
            assert_ne!(base, libc::MAP_FAILED, "mmap of {LEN} bytes: {error}");
            // SAFETY: that many readable bytes, which nobody writes or unmaps.
            unsafe { std::slice::from_raw_parts(base.cast(), LEN) }
        })
    }
    #[cfg(not(all(target_os = "linux", target_pointer_width = "64")))]
    &[]
}

type Spoil = Box<dyn Fn(&mut Parts, usize)>;

/// A refusal: what is tried, and of that, all that is not allowed is refused, and the rest
/// taken.
struct Row {
    mode: Mode,
    op: Op,
    field: Field,
    allowed: Allowed,
    /// Numbers for `spoil`.
    tried: Vec<usize>,
    spoil: Spoil,
    /// What is said to be given, of what is always refused, if it is not what was tried.
    given: Option<Given>,
    /// The forms of keys that it is for.
    keys: Vec<CallKeys<'static>>,
    /// Not for the first message of a batch.
    later: bool,
}

/// Adds rows to `$rows`, for a mode and an operation: when there is such a refusal, the field, what
/// is tried, what of that is allowed, how a message is spoilt with it; and members of [`Row`] that
/// are not as usual.
macro_rules! refusals {
    ($rows:ident, $mode:ident, $op:ident: $($when:expr, $field:ident, $tried:expr, $allowed:expr,
        $spoil:expr $(, $member:ident = $value:expr)*;)*) => {$(
        if $when {
            let usual = Row {
                mode: $mode,
                op: $op,
                field: Field::$field,
                allowed: $allowed,
                tried: $tried.into_iter().collect(),
                spoil: Box::new($spoil),
                given: None,
                keys: every_key($mode).into(),
                later: false,
            };
            $rows.push(Row { $($member: $value,)* ..usual });
        }
    )*};
}

fn every_key(mode: Mode) -> [CallKeys<'static>; 4] {
    let (keys, key_refs) = (table(mode), refs(mode));
    let (shared, own) = (CallKeys::Shared(&keys[0]), CallKeys::Own(keys));
    [shared, CallKeys::Table(keys), CallKeys::Refs(key_refs), own]
}

/// The refusals of messages in a mode and an operation.
fn rows(mode: Mode, op: Op) -> Vec<Row> {
    use Allowed::{AtLeast, AtMost, Between, Exactly, MultipleOf, Nothing, OneOf};
    let mut rows = Vec::new();
    let (info, its_ops) = (mode.info(), Allowed::Ops(ops(mode)));
    if !ops(mode).contains(&op) {
        refusals! { rows, mode, op: true, Operation, [0], its_ops, |_, _| (), given = Some(op.into()); }
        return rows;
    }
    let [cipher, mac, aead] = [Kind::Cipher, Kind::Mac, Kind::Aead].map(|kind| info.kind == kind);
    let (opens, seals, makes) = (op == Op::Open, op == Op::Seal, op == ops(mode)[0]);

    let [shared, keys, key_refs, own] = every_key(mode);
    let tables = [keys, key_refs];
    let other = Mode::ALL[(mode as usize + 1) % Mode::ALL.len()];
    let mixed = &*vec![table(mode)[0].clone(), table(other)[0].clone()].leak();
    let mixed_refs = mixed.iter().collect::<Vec<_>>().leak();
    let mixed = [CallKeys::Table(mixed), CallKeys::Refs(mixed_refs)];
    let far = u32::MAX as usize;
    refusals! { rows, mode, op:
        true, KeyIndex, [1, 32, 33, 34, 1000, far], AtMost(KEYS - 1), |m, n| m.key = n as u32, keys = tables.into();
        true, KeyMode, [1], Allowed::Mode(mode), |m, _| m.key = 1, given = Some(other.into()), keys = mixed.into();
        // The first message's key is the call's.
        true, KeyMode, [1], Allowed::Mode(mode), move |m, _| m.own = Some(other), given = Some(other.into()), keys = [own].into(), later = true;
        true, Key, [0], AtLeast(1), |m, _| m.own = None, given = Some(Given::Nothing), keys = [own].into();
        // A key beside others would not be used.
        true, Key, [1], Nothing, move |m, _| m.own = Some(mode), keys = [shared, keys, key_refs].into();
        // A shared key asks for no index, and a key that no message uses may be anything.
        true, KeyIndex, [77], Exactly(77), |m, n| m.key = n as u32, keys = [shared].into();
        true, KeyMode, [0], Exactly(0), |m, n| m.key = n as u32, keys = mixed.into();
    }

    let nonces = match info.nonce_bytes {
        (0, 0) => Nothing,
        (least, most) if least == most => Exactly(most),
        (least, most) => Between(least, most),
    };
    let tags = info.tag_bytes;
    let a_tag = if cipher { Nothing } else { OneOf(tags) };
    let components = |n| if n == 0 { Nothing } else { AtMost(n) };
    let (most, optional) = (info.data_components, info.nonce_bytes.0 == 0);
    let counts = [0, 1, 2, 3, 125, 126, 127, 128, 1000];
    // A nonce that may be left out is a component.
    let beside = most - usize::from(optional && info.nonce_bytes.1 > 0);
    refusals! { rows, mode, op:
        true, NonceLength, 0..20, nonces, |m, n| m.nonce = vec![1; n];
        info.nonce_bytes.1 > 1000, NonceLength, [100_000], nonces, |m, n| m.nonce = vec![1; n];
        true, TagLength, 0..40, a_tag, |m, n| m.tag = vec![1; n];
        true, TagLength, [1 << 20], a_tag, |m, n| m.tag = vec![1; n], keys = [shared].into();
        makes && !cipher, Tag, [1], Nothing, |m, _| m.received = true, given = Some(Given::Nothing);
        !makes, Tag, [1], Exactly(1), |m, _| m.received = true;
        true, DataCount, counts, components(beside), |m, n| m.data = data(n, 1);
        optional, DataCount, counts, components(most), |m, n| (m.nonce, m.data) = (Vec::new(), data(n, 1));
    }
    for (_, field, nonce, most) in LIMITS.iter().filter(|(of, ..)| *of == mode) {
        let Ok(most) = usize::try_from(*most) else {
            continue;
        };
        let text = *field == Field::TextLength;
        refusals! { rows, mode, op:
            text, TextLength, [most + 1, most + 17], AtMost(most), |m, n| (m.nonce, m.vast_text) = (vec![1; *nonce], n);
            !text, DataLength, [most + 1, most + 64], AtMost(most), |m, n| m.vast_data = n;
        }
    }

    let untold = opens && info.lengths == Lengths::Untold;
    let unpads = !makes && matches!(info.lengths, Lengths::Padded | Lengths::Filled);
    let blocks = info.lengths == Lengths::WholeBlocks || untold || unpads;
    let room = if makes { info.encrypted_len(48) } else { 48 };
    refusals! { rows, mode, op:
        blocks, TextLength, [1, 8, 15, 16, 17, 31, 33, 47], MultipleOf(16), |m, n| m.src.truncate(n);
        unpads, TextLength, [0, 16], AtLeast(16), |m, n| m.src.truncate(n);
        info.lengths == Lengths::FromOneBlock, TextLength, 0..18, AtLeast(16), |m, n| m.src.truncate(n);
        untold, OpenedLength, [0, 32, 33, 48, 49, 64], Between(33, 48), |m, n| m.opened = Some(n);
        untold, OpenedLength, [0], Between(33, 48), |m, _| m.opened = Some(UNSAID), given = Some(Given::Nothing);
        untold, OpenedLength, [0, 1], Exactly(0), |m, n| (m.src, m.opened) = (Vec::new(), Some(n));
        !mac, OutputLength, [0, 1, room - 16, room - 1, room], AtLeast(room), |m, n| m.dst = Some(vec![CANARY; n]);
        // In place without room for padding.
        !mac, OutputLength, [48], AtLeast(room), |m, _| m.dst = None;
        !mac, Overlap, [1, 8, 15, 16, 31], Nothing, |m, n| m.within(0, 32, n, 64);
        !mac, Overlap, [1, 8, 15, 16, 31], Nothing, |m, n| m.within(n, 32, 0, 64);
        // Neighbours do not overlap; the destination's unused end does not count.
        !mac, Overlap, [64], Exactly(64), |m, n| m.within(48, 32, 0, n);
    }

    // Tags at the ends of texts, to which they belong.
    refusals! { rows, mode, op:
        cipher, TagLength, [4, 16], Nothing, |m, n| m.append(n, 48, 80);
        mac, Tag, [4, 16], Nothing, |m, n| m.append(n, 48, 80);
        mac, TagLength, [0], OneOf(tags), |m, n| m.append(n, 48, 80);
        seals, TagLength, 0..18, OneOf(tags), |m, n| m.append(n, 48, 80);
        opens, TagLength, 0..18, OneOf(tags), |m, n| m.append(n, 48 + n, 80);
        // Whatever room there is.
        seals, TagLength, [18, 33], OneOf(tags), |m, n| m.append(n, 48, 48);
        opens, TagLength, [18, 33], OneOf(tags), |m, n| m.append(n, 17, 80);
        // So many are said as the most that are told apart.
        seals, TagLength, [far], OneOf(tags), |m, _| m.append(usize::MAX, 48, 80);
    }
    let least = info.encrypted_len(0);
    for tag in tags.iter().copied().filter(|_| aead) {
        refusals! { rows, mode, op:
            seals, OutputLength, [0, 47, 48, 47 + tag, 48 + tag], AtLeast(48 + tag), move |m, n| m.append(tag, 48, n);
            opens, OutputLength, [47, 48], AtLeast(48), move |m, n| m.append(tag, 48 + tag, n);
            opens, OutputLength, [least], AtLeast(least), move |m, n| m.append(tag, least + tag, n);
            opens, TextLength, [0, tag - 1], AtLeast(tag), move |m, n| m.append(tag, n, 48);
            seals, Overlap, [32], Nothing, move |m, _| { m.within(48, 32, 16, 32 + tag); m.attached = Some(tag) };
            opens, Overlap, [32], Nothing, move |m, _| { m.within(16, 32 + tag, 48, 32); m.attached = Some(tag) };
            seals, OutputLength, [48], AtLeast(48 + tag), move |m, _| (m.dst, m.attached) = (None, Some(tag));
        }
    }
    rows
}

/// The most bytes of text, with a nonce of so many, or of associated data that the standards
/// allow. Only what is too long is tried: see [`texts_at_the_limit`].
const LIMITS: &[(Mode, Field, usize, u64)] = &[
    (Mode::Ccm, Field::TextLength, 13, 0xffff),
    (Mode::Ccm, Field::TextLength, 12, 0xff_ffff),
    (Mode::Ccm, Field::TextLength, 11, 0xffff_ffff),
    (Mode::Gcm, Field::TextLength, 12, (1 << 36) - 32),
    (Mode::Gcm, Field::TextLength, 60, (1 << 36) - 32),
    (Mode::GcmSiv, Field::TextLength, 12, 1 << 36),
    (Mode::Xts, Field::TextLength, 16, 1 << 24),
    (Mode::Cpfb, Field::TextLength, 12, 12 * 0xffff_ffff),
    (Mode::GcmSiv, Field::DataLength, 12, 1 << 36),
    (Mode::Cpfb, Field::DataLength, 12, 0xffff_ffff),
    (Mode::McoeG, Field::DataLength, 12, 0xffff_ffff),
];

/// How refusals read, after the number of the message.
#[rustfmt::skip]
const TEXTS: &[(Mode, Op, &str)] = &[
    (Mode::Ofb, Op::Encrypt, "key index 33; allowed: at most 32"),
    (Mode::Cbc, Op::Encrypt, "key for mode cbc-pkcs7; allowed: cbc"),
    (Mode::Ctr, Op::Encrypt, "no key; each message needs one"),
    (Mode::Ctr, Op::Decrypt, "a key of its own, in a call that has keys; allowed: none"),
    (Mode::Cmac, Op::Encrypt, "operation encrypt; the mode has mac and verify"),
    (Mode::Gcm, Op::Decrypt, "operation decrypt; the mode has seal and open"),
    (Mode::Cbc, Op::Mac, "operation mac; the mode has encrypt and decrypt"),
    (Mode::Cbc, Op::Verify, "operation verify; the mode has encrypt and decrypt"),
    (Mode::Cbc, Op::Seal, "operation seal; the mode has encrypt and decrypt"),
    (Mode::Cmac, Op::Open, "operation open; the mode has mac and verify"),
    (Mode::Cbc, Op::Decrypt, "nonce of 12 bytes; allowed: 16"),
    (Mode::Cmac, Op::Mac, "nonce of 12 bytes; allowed: none"),
    (Mode::Ccm, Op::Seal, "nonce of 6 bytes; allowed: 7 to 13"),
    (Mode::Ccm, Op::Open, "nonce of 14 bytes; allowed: 7 to 13"),
    (Mode::Ocb, Op::Seal, "nonce of 0 bytes; allowed: 1 to 15"),
    (Mode::Ocb, Op::Open, "nonce of 16 bytes; allowed: 1 to 15"),
    (Mode::Gcm, Op::Open, "nonce of 0 bytes; allowed: 1 to 4294967294"),
    (Mode::GcmSiv, Op::Seal, "nonce of 8 bytes; allowed: 12"),
    (Mode::Xts, Op::Encrypt, "nonce of 8 bytes; allowed: 16"),
    (Mode::Cmac, Op::Verify, "tag of 3 bytes; allowed: 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 or 16"),
    (Mode::Ctr, Op::Encrypt, "tag of 16 bytes; allowed: none"),
    (Mode::Ccm, Op::Seal, "tag of 5 bytes; allowed: 4, 6, 8, 10, 12, 14 or 16"),
    (Mode::Gcm, Op::Open, "tag of 9 bytes; allowed: 4, 8, 12, 13, 14, 15 or 16"),
    (Mode::Ocb, Op::Seal, "tag of 10 bytes; allowed: 8, 12 or 16"),
    (Mode::Siv, Op::Open, "tag of 12 bytes; allowed: 16"),
    (Mode::Gcm, Op::Seal, "destination of 48 bytes; allowed: at least 64"),
    (Mode::Gcm, Op::Open, "text of 15 bytes; allowed: at least 16"),
    (Mode::Cmac, Op::Mac, "attached tag of 16 bytes; allowed: none"),
    (Mode::Gcm, Op::Seal, "a received tag, which is only read; the operation writes one"),
    (Mode::Siv, Op::Seal, "associated data of 127 components; allowed: at most 125"),
    (Mode::Ocb, Op::Open, "associated data of 2 components; allowed: at most 1"),
    (Mode::Gmac, Op::Mac, "associated data of 1 components; allowed: none"),
    (Mode::Ecb, Op::Encrypt, "text of 33 bytes; allowed: a multiple of 16"),
    (Mode::Julius, Op::Open, "length of the opened message not given; allowed: 33 to 48"),
    (Mode::Julius, Op::Open, "opened message of 32 bytes; allowed: 33 to 48"),
    (Mode::Julius, Op::Open, "opened message of 49 bytes; allowed: 33 to 48"),
    (Mode::Julius, Op::Open, "opened message of 1 bytes; allowed: 0"),
    (Mode::Cfb128, Op::Encrypt, "destination of 47 bytes; allowed: at least 48"),
    (Mode::Ofb, Op::Encrypt, "source and destination overlap, 8 bytes apart; they must be identical or must not overlap"),
    #[cfg(all(target_os = "linux", target_pointer_width = "64"))]
    (Mode::GcmSiv, Op::Seal, "associated data of 68719476737 bytes; allowed: at most 68719476736"),
    #[cfg(all(target_os = "linux", target_pointer_width = "64"))]
    (Mode::Ccm, Op::Seal, "text of 65536 bytes; allowed: at most 65535"),
];

fn permits(allowed: Allowed, n: usize) -> bool {
    match allowed {
        Allowed::Exactly(one) => n == one,
        Allowed::OneOf(list) => list.contains(&n),
        Allowed::Between(a, b) => (a..=b).contains(&n),
        Allowed::MultipleOf(of) => n.is_multiple_of(of),
        Allowed::AtLeast(least) => n >= least,
        Allowed::AtMost(most) => n <= most,
        Allowed::Nothing => n == 0,
        _ => false,
    }
}

/// An error reads as expected and contradicts itself nowhere: its text, after the number of the
/// message.
fn expect(
    error: Error,
    message: Option<usize>,
    field: Field,
    given: impl Into<Given>,
    allowed: Allowed,
) -> String {
    let given = given.into();
    assert_eq!(
        (error.message, error.field, error.given, error.allowed),
        (message, field, given, allowed),
        "{error}"
    );
    if let (Given::Number(n), false) = (given, allowed == Allowed::Nothing) {
        assert!(!permits(allowed, n), "what was given is allowed: {error}");
    }
    let text = error.to_string();
    let place = message.map_or(String::new(), |i| format!("message {i}: "));
    let said = text.strip_prefix(&place);
    said.unwrap_or_else(|| panic!("not {place}: {text}")).into()
}

/// Who does batches.
struct Workers {
    combs: [Comb; 2],
    #[cfg(feature = "threads")]
    team: aescomb::Team,
}

impl Workers {
    fn new() -> Workers {
        Workers {
            combs: [Comb::new(), common::comb(Backend::Portable, 2)],
            #[cfg(feature = "threads")]
            team: aescomb::Team::new([Comb::new(), Comb::new()]),
        }
    }

    /// The same batch by all of them; what is taken, only by those that are fast. An odd number of
    /// calls: what is encrypted twice by a key stream looks untouched.
    fn each<B: Batch + ?Sized>(
        &mut self,
        (op, keys, refused): (Op, Keys<'_>, bool),
        batch: &mut B,
        mut look: impl FnMut(Result<Vec<usize>, Error>, &B),
    ) {
        for comb in &mut self.combs[..1 + usize::from(refused)] {
            look(call(comb, op, keys, batch), batch);
        }
        #[cfg(feature = "threads")]
        look(failed(op, self.team.run(op, keys, batch)), batch);
        #[cfg(not(feature = "threads"))]
        look(failed(op, self.combs[0].run(op, keys, batch)), batch);
    }

    /// A packed batch that all must refuse.
    fn refuse<'k, O: Offset>(
        &mut self,
        op: Op,
        keys: impl Into<Keys<'k>>,
        mut batch: Packed<'_, O>,
        look: impl Fn(Error),
    ) {
        let call = (op, keys.into(), true);
        self.each(call, &mut batch, |answer, _| {
            look(answer.expect_err("a bad batch"))
        });
    }
}

/// A row, with one number, under keys of one form.
struct Case<'a> {
    row: &'a Row,
    number: usize,
    keys: CallKeys<'static>,
    copy: bool,
    /// The first of the spoilt messages.
    at: usize,
}

impl Case<'_> {
    /// Messages in a batch.
    const COUNT: usize = 6;

    fn is_refused(&self) -> bool {
        self.row.given.is_some() || !permits(self.row.allowed, self.number)
    }

    /// Two spoilt messages among good ones: the first counts.
    fn batch(&self) -> Vec<Parts> {
        let good = Parts::good(self.row.mode, self.row.op, self.copy, self.keys);
        let mut parts = vec![good; Case::COUNT];
        for parts in &mut parts[self.at..self.at + 2] {
            (self.row.spoil)(parts, self.number);
        }
        parts
    }

    /// Looks at what became of a call of `count` messages: how a refusal reads.
    fn judge(&self, answer: Result<Vec<usize>, Error>, at: Option<usize>, count: usize) -> String {
        match answer {
            Err(error) => {
                assert!(self.is_refused(), "refused: {error}");
                let at = at.filter(|_| self.row.field != Field::Operation);
                let given = self.row.given.unwrap_or(Given::Number(self.number));
                expect(error, at, self.row.field, given, self.row.allowed)
            }
            Ok(failed) => {
                assert!(!self.is_refused(), "taken");
                // No tag is right; whether paddings are is another question.
                if matches!(self.row.op, Op::Verify | Op::Open) {
                    assert!(failed.into_iter().eq(0..count));
                }
                String::new()
            }
        }
    }

    fn look_at(&self, status: Status, written: usize) {
        assert_eq!(status == Status::Pending, self.is_refused());
        assert!(written == 0 || !self.is_refused());
    }

    fn untouched(&self, same: bool) {
        assert!(same || !self.is_refused(), "a refused call changed a byte");
    }

    /// Slices of messages: how a refusal reads.
    fn ask_messages(&self, workers: &mut Workers, parts: &mut [Parts]) -> String {
        let (op, keys) = (self.row.op, self.keys.keys());
        let mut components = vec![Vec::new(); parts.len()];
        let batch = parts.iter_mut().zip(&mut components);
        let mut batch: Vec<_> = batch.map(|(parts, list)| parts.message(list)).collect();
        match Comb::check(op, keys, &mut batch) {
            Ok(()) => assert!(!self.is_refused(), "found good"),
            refused => drop(self.judge(refused.map(|()| Vec::new()), Some(self.at), 0)),
        }
        if self.at > 0 && self.row.field != Field::Operation {
            // Those before it are good.
            assert_eq!(Comb::check(op, keys, &mut batch[..self.at]), Ok(()));
        }
        let pending = |m: &Message<'_>| m.status() == Status::Pending && m.output().is_empty();
        assert!(batch.iter().all(pending));
        let mut said = String::new();
        workers.each(
            (op, keys, self.is_refused()),
            &mut batch[..],
            |answer, batch| {
                said = self.judge(answer, Some(self.at), Case::COUNT);
                for message in batch {
                    self.look_at(message.status(), message.output().len());
                }
            },
        );
        said
    }

    fn ask_jobs(&self, workers: &mut Workers, parts: &mut [Parts]) {
        let jobs: Option<Vec<Job>> = parts.iter_mut().map(Parts::job).collect();
        // A job has the key at its own place.
        let enough = match self.keys {
            CallKeys::Table(table) => table.len() >= Case::COUNT,
            CallKeys::Refs(refs) => refs.len() >= Case::COUNT,
            _ => true,
        };
        let Some(mut jobs) = jobs.filter(|_| enough) else {
            return;
        };
        // SAFETY: what they point to stays where it is, or is not touched.
        let mut batch = unsafe { Jobs::new(jobs.as_mut_ptr(), jobs.len()) };
        let call = (self.row.op, self.keys.keys(), self.is_refused());
        workers.each(call, &mut batch, |answer, _| {
            self.judge(answer, Some(self.at), Case::COUNT);
        });
        for job in &jobs {
            // SAFETY: made by `Job::default`.
            let done = unsafe { (job.status.assume_init(), job.written.assume_init()) };
            self.look_at(done.0, done.1);
        }
    }

    /// A packed batch, where there can be one.
    fn ask_packed(&self, workers: &mut Workers, parts: &[Parts]) {
        let (mut parts, mut at) = (parts.to_vec(), self.at);
        let good = Parts::good(self.row.mode, self.row.op, self.copy, self.keys);
        if parts[at].columns() != good.columns() {
            // All messages have the same then.
            (parts, at) = (vec![parts[at].clone(); Case::COUNT], 0);
        }
        let Parts {
            nonce,
            tag,
            dst,
            data,
            opened,
            ..
        } = parts[at].clone();
        let (attached, received) = (parts[at].attached, parts[at].received);
        if !parts[at].is_plain() || parts.iter().any(|m| m.own.is_some()) {
            return;
        }
        if matches!(self.keys, CallKeys::Own(_)) {
            return;
        }
        let (mut src_bytes, from) = column(&parts, |m| &m.src);
        let (mut dst_bytes, to) = column(&parts, |m| m.dst.as_deref().unwrap_or_default());
        let (nonces, _) = column(&parts, |m| &m.nonce);
        let (mut tags, _) = column(&parts, |m| &m.tag);
        let (all_data, data_places) = column(&parts, |m| m.data.first().map_or(&[], |data| data));
        let keys: Vec<_> = parts.iter().map(|m| m.key).collect();
        let opened_lens: Vec<_> = parts.iter().map(|m| m.opened(m.src.len()) as u32).collect();
        let mut results = [MessageResult::default(); Case::COUNT];
        let before = (src_bytes.clone(), dst_bytes.clone(), tags.clone());

        let (from, to) = (Layout::Offsets(&from[..]), Layout::Offsets(&to[..]));
        let mut batch = match dst {
            Some(_) => Packed::new(Text::copy(&src_bytes, &mut dst_bytes), from).output(to),
            None => Packed::new(Text::in_place(&mut src_bytes), from),
        };
        batch = batch.nonces(&nonces, nonce.len(), nonce.len());
        batch = batch.key_indices(&keys).results(&mut results);
        if !data.is_empty() {
            batch = batch.associated_data(&all_data, Layout::Offsets(&data_places));
        }
        if opened != Some(UNSAID) {
            batch = batch.opened_lens(&opened_lens);
        }
        batch = match (attached, received) {
            (Some(bytes), _) => batch.tags_attached(bytes),
            (None, true) => batch.received_tags(&tags, tag.len(), tag.len()),
            (None, false) => batch.tags(&mut tags, tag.len(), tag.len()),
        };
        let call = (self.row.op, self.keys.keys(), self.is_refused());
        workers.each(call, &mut batch, |answer, _| {
            self.judge(answer, Some(at), Case::COUNT);
        });
        for result in results {
            self.look_at(result.status, result.len);
        }
        self.untouched(before == (src_bytes, dst_bytes, tags));
    }

    /// In every form that the case has: how a refusal reads.
    fn ask(&self, workers: &mut Workers) -> String {
        let mut parts = self.batch();
        let before = parts.clone();
        self.ask_packed(workers, &parts);
        let said = self.ask_messages(workers, &mut parts);
        self.untouched(parts == before);
        self.ask_jobs(workers, &mut parts);
        self.untouched(parts == before);
        if let CallKeys::Shared(key) = self.keys
            && let Some(answer) = parts[self.at].alone(key, self.row.op)
        {
            self.judge(answer, None, 1);
        }
        self.untouched(parts == before);
        said
    }
}

/// Says which one failed.
impl Drop for Case<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let Row {
                mode, op, field, ..
            } = self.row;
            eprintln!(
                "{:?}",
                (
                    mode,
                    op,
                    field,
                    self.number,
                    self.keys.keys(),
                    self.copy,
                    self.at
                )
            );
        }
    }
}

/// Parts of messages in one buffer, and where they are in it.
fn column(parts: &[Parts], of: fn(&Parts) -> &[u8]) -> (Vec<u8>, Vec<u32>) {
    let (mut bytes, mut offsets) = (Vec::new(), vec![0]);
    for parts in parts {
        bytes.extend(of(parts));
        offsets.push(bytes.len() as u32);
    }
    (bytes, offsets)
}

/// Every row of the modes of a kind, under every form of keys, in every form of a batch.
fn ask_all(kind: Kind) {
    let mut workers = Workers::new();
    let mut said = HashSet::new();
    for mode in Mode::ALL.iter().filter(|mode| mode.info().kind == kind) {
        for row in Op::ALL.iter().flat_map(|op| rows(*mode, *op)) {
            for (keys, number) in row
                .keys
                .iter()
                .flat_map(|k| row.tried.iter().map(move |n| (*k, *n)))
            {
                for (copy, at) in [(true, 3), (false, 3), (true, 0)] {
                    let case = Case {
                        row: &row,
                        number,
                        keys,
                        copy,
                        at,
                    };
                    // The check of the first message knows nothing of references.
                    let first =
                        case.is_refused() && !row.later && !matches!(keys, CallKeys::Refs(_));
                    if at > 0 || first {
                        said.insert((mode.name(), row.op.name(), case.ask(&mut workers)));
                    }
                }
            }
        }
    }
    for (mode, op, text) in TEXTS.iter().filter(|(mode, ..)| mode.info().kind == kind) {
        let text = (mode.name(), op.name(), text.to_string());
        assert!(said.contains(&text), "{text:?}");
    }
}

#[test]
fn messages_of_ciphers() {
    ask_all(Kind::Cipher);
}

#[test]
fn messages_of_macs() {
    ask_all(Kind::Mac);
}

#[test]
fn messages_of_aeads() {
    ask_all(Kind::Aead);
}

const FAR: usize = usize::MAX;
const FAR_OFF: i128 = FAR as i128;
const BEHIND: Given = Given::Negative;

const fn slots<O>(starts: &'static [O], lengths: &'static [O]) -> Layout<'static, O> {
    Layout::Slots { starts, lengths }
}

const fn ring<O>(stride: usize, lengths: &'static [O]) -> Layout<'static, O> {
    Layout::Ring { stride, lengths }
}

type Place = (
    Layout<'static, i128>,
    Option<usize>,
    Given,
    Allowed,
    &'static str,
);

/// Places that are refused in buffers of 64 bytes that have three messages: as those of the
/// texts, of the results and of associated data; with the number of the message, and how some
/// of it reads.
#[rustfmt::skip]
const PLACES: &[Place] = {
    use Allowed::{AtLeast, AtMost, Exactly};
    use Given::Number;
    use Layout::Offsets;
    &[
        (Offsets(&[0, 20, 40, 65]), Some(2), Number(65), AtMost(64), "offset or length 65; allowed: at most 64"),
        (Offsets(&[0, 20, 10, 40]), Some(1), Number(10), AtLeast(20), ""),
        (Offsets(&[70, 70, 70, 70]), Some(0), Number(70), AtMost(64), ""),
        (Offsets(&[0, 20, FAR_OFF, FAR_OFF]), Some(1), Number(FAR), AtMost(64), ""),
        (Offsets(&[-1, 20, 40, 60]), Some(0), BEHIND, AtMost(64), ""),
        (Offsets(&[0, 20, -40, 60]), Some(1), BEHIND, AtMost(64), "offset or length below 0; allowed: at most 64"),
        (Offsets(&[-9, -5, 0, 60]), Some(0), BEHIND, AtMost(64), ""),
        (slots(&[0, 20, 40], &[20, 20, 25]), Some(2), Number(65), AtMost(64), ""),
        (slots(&[0, 19, 40], &[20, 20, 20]), Some(1), Number(19), AtLeast(20), ""),
        (slots(&[40, 20, 0], &[20, 20, 20]), Some(1), Number(20), AtLeast(60), ""),
        (slots(&[65, 65, 65], &[0, 0, 0]), Some(0), Number(65), AtMost(64), ""),
        (slots(&[0, FAR_OFF, 0], &[20, FAR_OFF, 0]), Some(1), Number(FAR), AtMost(64), ""),
        (slots(&[0, -20, 40], &[20, 20, 20]), Some(1), BEHIND, AtMost(64), ""),
        (slots(&[0, 20, 40], &[0, -20, 40]), Some(1), BEHIND, AtMost(64), ""),
        (ring(20, &[20, 21, 20]), Some(1), Number(21), AtMost(20), ""),
        (ring(30, &[20, 20, 20]), Some(2), Number(80), AtMost(64), ""),
        (ring(33, &[20, 20, 0]), Some(2), Number(66), AtMost(64), ""),
        (ring(FAR, &[20, 0, 0]), Some(1), Number(FAR), AtMost(64), ""),
        (ring(20, &[0, -20, 40]), Some(1), BEHIND, AtMost(20), ""),
        // Of another number of messages.
        (Offsets(&[]), None, Number(0), Exactly(3), ""),
        (Offsets(&[0]), None, Number(0), Exactly(3), "0 entries; allowed: 3"),
        (Offsets(&[0, 1, 2]), None, Number(2), Exactly(3), ""),
        (Offsets(&[0, 1, 2, 3, 4]), None, Number(4), Exactly(3), ""),
        (slots(&[0, 5, 10, 15], &[5, 5, 5]), None, Number(4), Exactly(3), ""),
        (slots(&[0, 5], &[5, 5, 5]), None, Number(2), Exactly(3), ""),
        (slots(&[0, 5, 10], &[5, 5]), None, Number(2), Exactly(3), ""),
        (ring(5, &[5, 5]), None, Number(2), Exactly(3), ""),
    ]
};

/// [`PLACES`] with numbers of a type, as far as it has them.
fn places_of<O: Offset + TryFrom<i128>>(workers: &mut Workers) {
    let column = |numbers: &[i128]| -> Option<Vec<O>> {
        numbers.iter().map(|n| O::try_from(*n).ok()).collect()
    };
    for (layout, message, given, allowed, text) in PLACES {
        let (stride, starts, lengths) = match *layout {
            Layout::Offsets(offsets) => (0, offsets, &offsets[offsets.len().min(1)..]),
            Layout::Slots { starts, lengths } => (0, starts, lengths),
            Layout::Ring { stride, lengths } => (stride, &[][..], lengths),
        };
        let (Some(a), Some(b)) = (column(starts), column(lengths)) else {
            continue;
        };
        let (starts, lengths) = (&a[..], &b[..]);
        let layout = match layout {
            Layout::Offsets(_) => Layout::Offsets(starts),
            Layout::Slots { .. } => Layout::Slots { starts, lengths },
            Layout::Ring { .. } => Layout::Ring { stride, lengths },
        };
        let field = message.map_or(Field::Count, |_| Field::Offset);
        let look = |error| {
            let said = expect(error, *message, field, *given, *allowed);
            assert!(text.is_empty() || said == *text, "{said}");
        };
        let nothing = column(&[0; 4]).expect("small numbers");
        let nothing = Layout::Offsets(&nothing[..]);
        let src = paint(64, 9);
        let (mut dst, mut tags) = (src.clone(), [CANARY; 48]);
        let mut results = [MessageResult::default(); 3];
        let [ctr, gcm] = [Mode::Ctr, Mode::Gcm].map(|mode| &table(mode)[0]);
        if lengths.len() == 3 {
            let batch = Packed::new(Text::in_place(&mut dst), layout).results(&mut results);
            workers.refuse(Op::Encrypt, ctr, batch.nonces(N, 16, 16), look);
            assert_eq!(dst, src);
            let batch = Packed::new(Text::copy(&src, &mut dst), layout).results(&mut results);
            workers.refuse(Op::Encrypt, ctr, batch.nonces(N, 16, 16), look);
            assert_eq!(dst, src);
        }
        let batch = Packed::new(Text::copy(&src, &mut dst), nothing).output(layout);
        let batch = batch.nonces(N, 16, 16).results(&mut results);
        workers.refuse(Op::Encrypt, ctr, batch, look);
        assert_eq!(dst, src);
        let batch = Packed::new(Text::in_place(&mut dst), nothing).associated_data(&src, layout);
        let batch = batch.nonces(N, 12, 12).tags(&mut tags, 16, 16);
        workers.refuse(Op::Seal, gcm, batch.results(&mut results), look);
        let untouched = (src, [CANARY; 48], [MessageResult::default(); 3]);
        assert_eq!((dst, tags, results), untouched);
    }
}

#[test]
fn places() {
    let mut workers = Workers::new();
    places_of::<u32>(&mut workers);
    places_of::<i32>(&mut workers);
    places_of::<u64>(&mut workers);
    places_of::<i64>(&mut workers);
    places_of::<usize>(&mut workers);
}

/// Memory for columns.
struct Room {
    results: [MessageResult; 4],
    tags: [u8; 64],
}

/// Entries of columns.
const N: &[u8] = &[5; 80];
const ZEROS: &[u32] = &[0; 4];

type Edit = for<'a> fn(Packed<'a, u32>, &'a mut Room) -> Packed<'a, u32>;

type Column = (Mode, Op, Edit, Option<usize>, Field, usize, Allowed);

/// Columns that are refused in a batch of three messages of 16 bytes, with the nonces that it
/// takes.
#[rustfmt::skip]
const COLUMNS: &[Column] = {
    use Allowed::{AtMost, Exactly, Nothing, OneOf};
    use Field::{Count, NonceLength, TagLength};
    const TAGS: &[usize] = &[4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16];
    &[
        (Mode::Cbc, Op::Encrypt, |p, _| p.nonces(&N[..47], 16, 16), None, Count, 2, Exactly(3)),
        (Mode::Cbc, Op::Encrypt, |p, _| p.nonces(&[], 16, 16), None, Count, 0, Exactly(3)),
        (Mode::Cbc, Op::Encrypt, |p, _| p.nonces(&N[..79], 16, 32), None, Count, 2, Exactly(3)),
        (Mode::Cbc, Op::Encrypt, |p, _| p.nonces(&N[..64], 16, 15), None, NonceLength, 16, AtMost(15)),
        (Mode::Cbc, Op::Encrypt, |p, _| p.nonces(&N[..48], 12, 16), Some(0), NonceLength, 12, Exactly(16)),
        (Mode::Cbc, Op::Encrypt, |p, _| p.key_indices(&ZEROS[..2]), None, Count, 2, Exactly(3)),
        (Mode::Cbc, Op::Encrypt, |p, _| p.key_indices(ZEROS), None, Count, 4, Exactly(3)),
        (Mode::Cbc, Op::Encrypt, |p, _| p.key_indices(&[]), None, Count, 0, Exactly(3)),
        (Mode::Cbc, Op::Encrypt, |p, room| p.results(&mut room.results[..0]), None, Count, 0, Exactly(3)),
        (Mode::Cbc, Op::Encrypt, |p, room| p.results(&mut room.results[..2]), None, Count, 2, Exactly(3)),
        (Mode::Cbc, Op::Encrypt, |p, room| p.results(&mut room.results), None, Count, 4, Exactly(3)),
        (Mode::Cbc, Op::Encrypt, |p, _| p.opened_lens(&ZEROS[..2]), None, Count, 2, Exactly(3)),
        // Where messages can fail there must be a place to say so.
        (Mode::CbcPkcs7, Op::Decrypt, |p, _| p, None, Count, 0, Exactly(3)),
        (Mode::Cmac, Op::Verify, |p, room| p.tags(&mut room.tags[..48], 16, 16), None, Count, 0, Exactly(3)),
        (Mode::Gcm, Op::Open, |p, _| p.tags_attached(16), None, Count, 0, Exactly(3)),
        (Mode::Cmac, Op::Mac, |p, room| p.tags(&mut room.tags[..47], 16, 16), None, Count, 2, Exactly(3)),
        (Mode::Cmac, Op::Mac, |p, room| p.tags(&mut room.tags, 16, 8), None, TagLength, 16, AtMost(8)),
        (Mode::Cmac, Op::Mac, |p, room| p.tags(&mut room.tags, 3, 8), Some(0), TagLength, 3, OneOf(TAGS)),
        // Tags beside the texts and after them.
        (Mode::Gcm, Op::Seal, |p, room| p.tags(&mut room.tags, 16, 16).tags_attached(12), None, TagLength, 16, Nothing),
    ]
};

#[test]
fn columns() {
    let mut workers = Workers::new();
    for (i, (mode, op, edit, message, field, given, allowed)) in COLUMNS.iter().enumerate() {
        let bytes = mode.info().usual_nonce();
        for keys in [Keys::from(table(*mode)), Keys::from(&table(*mode)[0])] {
            let (src, mut dst) = (paint(48, 1), [CANARY; 64]);
            let text = Text::copy(&src, &mut dst);
            let (results, tags) = ([MessageResult::default(); 4], [CANARY; 64]);
            let mut room = Room { results, tags };
            let batch =
                Packed::new(text, Layout::Offsets(&[0, 16, 32, 48])).nonces(N, bytes, bytes);
            workers.refuse(*op, keys, edit(batch, &mut room), |error| {
                expect(error, *message, *field, *given, *allowed);
            });
            assert_eq!(
                (dst, room.tags, room.results),
                ([CANARY; 64], tags, results),
                "row {i}"
            );
        }
    }
}

/// A column with one entry needs no stride, and must hold the entry.
#[test]
fn columns_of_one() {
    let key = &table(Mode::Cbc)[0];
    for (stride, len) in [0, 8, 16, 100]
        .into_iter()
        .flat_map(|s| [0, 8, 15, 16].map(|n| (s, n)))
    {
        let mut data = paint(16, 1);
        let mut batch = Packed::new(Text::in_place(&mut data), Layout::Offsets(&[0u32, 16]))
            .nonces(&N[..len], 16, stride);
        match Comb::new().encrypt(key, &mut batch) {
            Err(error) => {
                expect(error, None, Field::Count, 0, Allowed::Exactly(1));
                assert!(len < 16 && data == paint(16, 1));
            }
            Ok(()) => {
                let raw = raw_key(Mode::Cbc, 0);
                let want = aescomb_ref::encrypt("cbc", &raw, &[5; 16], &paint(16, 1));
                assert!(len == 16 && Some(data) == want);
            }
        }
    }
}

/// Lengths of opened messages below 0, which are refused where a mode asks for them.
#[test]
fn opened_lengths_below_0() {
    for (mode, refused) in [(Mode::Julius, true), (Mode::Gcm, false)] {
        let key = &table(mode)[0];
        let mut sealed = paint(32, 1);
        let before = sealed.clone();
        let mut results = [MessageResult::default(); 2];
        let offsets = Layout::Offsets(&[0i32, 16, 32]);
        let mut batch = Packed::new(Text::in_place(&mut sealed), offsets)
            .nonces(N, mode.info().usual_nonce(), 16)
            .received_tags(&N[..32], 16, 16)
            .opened_lens(&[16, -5])
            .results(&mut results);
        match Comb::new().open(key, &mut batch) {
            Err(OpenError::Refused(error)) => {
                let allowed = Allowed::Between(1, 16);
                let text = expect(
                    error,
                    Some(1),
                    Field::OpenedLength,
                    Given::Negative,
                    allowed,
                );
                assert_eq!(
                    text,
                    "length of the opened message below 0; allowed: 1 to 16"
                );
                assert!(refused && sealed == before);
            }
            other => assert!(!refused, "{other:?}"),
        }
    }
}

#[test]
fn overlap_of_packed_buffers() {
    let mut buf = paint(96, 5);
    let base = buf.as_mut_ptr();
    let three = Layout::Offsets(&[0u32, 32, 64]);
    // SAFETY: both ranges lie in `buf`.
    let text = unsafe { Text::from_raw(base, 64, base.wrapping_add(32), 64) };
    let apart = Packed::new(text, three).nonces(N, 16, 16);
    // SAFETY: as above; places of their own for the results are not for work in place.
    let text = unsafe { Text::from_raw(base, 96, base, 96) };
    let same = Packed::new(text, three).output(three).nonces(N, 16, 16);
    for (batch, distance) in [(apart, 32), (same, 0)] {
        let cbc = Keys::from(&table(Mode::Cbc)[0]);
        Workers::new().refuse(Op::Encrypt, cbc, batch, |error| {
            expect(error, None, Field::Overlap, distance, Allowed::Nothing);
        });
    }
    assert_eq!(buf, paint(96, 5));
}

/// A destination that ends before the place of a message, also far from the first.
#[test]
fn short_destinations_with_gaps() {
    let src = paint(40 * 1000, 1);
    for n in [2, 5, 600, 1000] {
        let starts: Vec<u32> = (0..n).map(|i| i * 40).collect();
        let (starts, lengths, last) = (&starts[..], &vec![16; n as usize][..], n as usize - 1);
        let stride = 40;
        for layout in [
            Layout::Slots { starts, lengths },
            Layout::Ring { stride, lengths },
        ] {
            // Room for all but the last.
            let mut dst = vec![CANARY; last * 40 - 10];
            let batch = Packed::new(Text::copy(&src[..n as usize * 40], &mut dst), layout);
            let ecb = Keys::from(&table(Mode::Ecb)[0]);
            Workers::new().refuse(Op::Encrypt, ecb, batch, |error| {
                expect(
                    error,
                    Some(last),
                    Field::OutputLength,
                    0,
                    Allowed::AtLeast(16),
                );
            });
            assert!(dst.iter().all(|byte| *byte == CANARY));
        }
    }
}

/// A batch without messages is refused as one with messages is.
#[test]
fn empty_batches() {
    let mut comb = Comb::new();
    for mode in Mode::ALL {
        for op in Op::ALL {
            let good = ops(*mode).contains(&op);
            for keys in [Keys::from(&table(*mode)[0]), refs(*mode).into()] {
                let text = || Text::read_only(&[]);
                let mut no_offsets = Packed::new(text(), Layout::Offsets(&[0u32; 0]));
                let mut packed = Packed::new(text(), Layout::Offsets(&[0u32])).results(&mut []);
                for result in [
                    comb.run(op, keys, &mut [][..]),
                    comb.run(op, keys, &mut no_offsets),
                    comb.run(op, keys, &mut packed),
                ] {
                    assert_eq!(result.is_ok(), good, "{mode} {op:?}");
                    if let Err(error) = failed(op, result) {
                        let allowed = Allowed::Ops(ops(*mode));
                        expect(error, None, Field::Operation, op, allowed);
                    }
                }
            }
        }
    }
    // Without messages and keys there is nothing to refuse.
    let (none, of_keys) = (&mut [][..], Vec::<AnyKey>::new());
    assert!(comb.run(Op::Seal, &of_keys, none).is_ok());
    let mut one = [Message::new(Text::read_only(&[]))];
    for keys in [Keys::from(&of_keys), Keys::from(&Vec::<&AnyKey>::new())] {
        let error = comb.encrypt(keys, &mut one).expect_err("an empty table");
        let said = expect(error, None, Field::Count, 0, Allowed::AtLeast(1));
        assert_eq!(said, "0 entries; allowed: at least 1");
    }
}

#[test]
fn keys() {
    let refused = |mode: Mode, raw: &[u8]| AnyKey::for_mode(mode, raw).expect_err("a bad key");
    for mode in Mode::ALL {
        let good = mode.info().key_bytes;
        for len in (0..140).filter(|len| !good.contains(len)) {
            let error = refused(*mode, &vec![1; len]);
            expect(error, None, Field::KeyLength, len, Allowed::OneOf(good));
        }
    }
    for (mode, len, text) in [
        (Mode::Cbc, 17, "key of 17 bytes; allowed: 16, 24 or 32"),
        // Two keys, one after the other.
        (Mode::Xts, 16, "key of 16 bytes; allowed: 32 or 64"),
        (Mode::Siv, 24, "key of 24 bytes; allowed: 32, 48 or 64"),
    ] {
        assert_eq!(refused(mode, &vec![1; len]).to_string(), text);
    }
    // FIPS 140-3 implementation guidance C.I.
    for len in [16, 32] {
        let raw = [paint(len, 3), paint(len, 3)].concat();
        let halves = |error, at| expect(error, at, Field::KeyHalves, len, Allowed::Nothing);
        let text = format!("key with two equal halves of {len} bytes; allowed: halves that differ");
        assert_eq!(halves(refused(Mode::Xts, &raw), None), text);
        let (good, mut table) = ([paint(len, 3), paint(len, 4)].concat(), Vec::new());
        let error = AnyKey::expand_many_for(Mode::Xts, &[&good, &raw], &mut table);
        halves(error.expect_err("equal halves"), Some(1));
        assert!(table.is_empty());
        // RFC 5297 has no such rule.
        assert!(AnyKey::for_mode(Mode::Siv, &raw).is_ok());
    }
}

#[test]
fn key_length_in_a_table() {
    let raw: Vec<_> = (0..20).map(|i| raw_key(Mode::Cbc, i)).collect();
    let mut made = Vec::new();
    AnyKey::expand_many_for(Mode::Ctr, &raw[..5], &mut made).expect("good keys");
    let before = format!("{made:?}");
    let mut bad = raw.clone();
    bad[17].push(0);
    bad[18].clear();
    let len = bad[17].len();
    for backend in Backend::available() {
        let error = AnyKey::expand_many_with(backend, Mode::Cbc, &bad, &mut made);
        let error = error.expect_err("a bad key");
        expect(
            error,
            Some(17),
            Field::KeyLength,
            len,
            Allowed::OneOf(KEY_BYTES),
        );
        assert_eq!(format!("{made:?}"), before, "the table changed");
    }
    // Its keys are as good as before.
    let mut data = paint(40, 1);
    made[1]
        .encrypt_in_place(&[7; 16], &mut data)
        .expect("a good message");
    let want = aescomb_ref::encrypt("ctr", &raw[1], &[7; 16], &paint(40, 1));
    assert_eq!(Some(data), want);
}

/// The longest texts that are short enough to try.
#[test]
fn texts_at_the_limit() {
    for (mode, nonce, most) in [
        (Mode::Ccm, 13, 0xffff),
        (Mode::Ccm, 12, 0x1_0000),
        (Mode::Xts, 16, 1 << 24),
    ] {
        let (text, nonce) = (paint(most, 1), vec![1; nonce]);
        let (mut data, mut tag) = (text.clone(), vec![0; mode.info().longest_tag()]);
        for op in ops(mode) {
            let message = Message::new(Text::in_place(&mut data)).nonce(&nonce);
            let mut batch = [message.tag(&mut tag)];
            let verdict = call(&mut Comb::new(), op, &table(mode)[0], &mut batch);
            assert!(verdict.expect("a text at the limit").is_empty());
        }
        assert!(data == text, "{mode}");
    }
}

/// An empty vector takes associated data back that was there before.
#[test]
fn associated_data_taken_back() {
    let key = &table(Mode::Gcm)[0];
    let seal = |edit: &dyn for<'a> Fn(Message<'a>) -> Message<'a>| {
        let (mut text, mut tag) = (paint(20, 1), [0; 16]);
        let message = Message::new(Text::in_place(&mut text))
            .nonce(&[5; 12])
            .tag(&mut tag);
        let done = Comb::new().seal(key, &mut [edit(message)]);
        done.expect("a good message");
        tag
    };
    let none = seal(&|message| message);
    let taken_back = seal(&|message| message.associated_data(b"x").associated_data_vector(&[]));
    assert_eq!(taken_back, none);
    assert_ne!(seal(&|message| message.associated_data(b"x")), none);
}

#[test]
fn padding_of_a_message_alone() {
    for mode in Mode::ALL
        .iter()
        .filter(|mode| mode.info().lengths == Lengths::Padded)
    {
        let nonce = nonce(*mode, 0);
        // Of 32 blocks at least one does not end in padding.
        let mut found = 0;
        for seed in 0..32 {
            let mut data = paint(48, seed);
            let want = aescomb_ref::decrypt(mode.name(), &raw_key(*mode, 0), &nonce, &data);
            let result = table(*mode)[0].decrypt_in_place(&nonce, &mut data);
            match want {
                Some(want) => assert_eq!(data[..result.expect("good padding")], want),
                None => {
                    failed_and_wiped(result, "invalid padding", &data);
                    found += 1;
                }
            }
        }
        assert!(found > 0);
    }
}

#[test]
fn tag_of_a_message_alone() {
    for mode in Mode::ALL {
        let info = mode.info();
        if info.kind == Kind::Aead && info.lengths != Lengths::Untold {
            let (mut text, tag) = (paint(48, 1), vec![CANARY; info.longest_tag()]);
            let nonce = nonce(*mode, 0);
            let result = table(*mode)[0].open_in_place(&nonce, b"data", &mut text, &tag);
            failed_and_wiped(result, "authentication failed: wrong tag", &text);
        }
    }
}

fn failed_and_wiped(result: Result<usize, OpenError>, says: &str, data: &[u8]) {
    let error = result.expect_err("a bad message");
    assert_eq!(error.to_string(), says);
    assert!(matches!(error, OpenError::Failed(f) if f.messages().eq([0])));
    assert_eq!(data, [0; 48], "not wiped");
}

#[test]
fn lanes() {
    for backend in Backend::available() {
        let most = backend.max_lanes();
        let mut comb = Comb::with_backend(backend).expect("an available backend");
        for lanes in 1..=most {
            comb.set_lanes(lanes).expect("an allowed degree");
            assert_eq!(comb.lanes(Mode::Cbc, Op::Encrypt), lanes);
        }
        for lanes in [0, most + 1, 1000, usize::MAX] {
            let error = comb.set_lanes(lanes).expect_err("a bad degree");
            let said = expect(error, None, Field::Lanes, lanes, Allowed::Between(1, most));
            assert_eq!(
                said,
                format!("{lanes} messages in flight; allowed: 1 to {most}")
            );
            // The former one stays.
            assert_eq!(comb.lanes(Mode::Cbc, Op::Encrypt), most);
        }
        assert!(backend.default_lanes() <= most);
    }
    // Whatever backend a mode gets, the allowed degrees are allowed for it.
    let mut comb = Comb::new();
    let error = comb.set_lanes(usize::MAX).expect_err("a bad degree");
    let Allowed::Between(1, most) = error.allowed else {
        panic!("{error}");
    };
    comb.set_lanes(most).expect("an allowed degree");
    for mode in Mode::ALL {
        for op in ops(*mode) {
            assert!(comb.backend(*mode, op).max_lanes() >= most);
        }
    }
}

#[test]
fn backend_that_the_cpu_lacks() {
    for backend in Backend::ALL {
        let mut table = Vec::new();
        let made = Comb::with_backend(backend).map(drop);
        let expanded = AnyKey::expand_many_with(backend, Mode::Cbc, &[[1; 16]], &mut table);
        for result in [made, expanded] {
            assert_eq!(result.is_ok(), backend.is_available());
            if let Err(error) = result {
                let said = expect(error, None, Field::Backend, backend, Allowed::Nothing);
                assert_eq!(said, format!("this CPU lacks what backend {backend} needs"));
            }
        }
        assert_eq!(table.is_empty(), !backend.is_available());
    }
}

/// The same batch through several calls, the last of them refused.
#[test]
fn a_batch_used_again() {
    let key = &table(Mode::Ctr)[0];
    let (mut a, mut b) = (paint(20, 1), paint(40, 2));
    let mut comb = Comb::new();
    let mut batch = [&mut a, &mut b].map(|data| Message::new(Text::in_place(data)).nonce(&[9; 16]));
    comb.encrypt(key, &mut batch).expect("a good batch");
    assert!(batch.iter().all(|m| m.status() == Status::Done));
    let want = aescomb_ref::encrypt("ctr", &raw_key(Mode::Ctr, 0), &[9; 16], &paint(40, 2));
    assert_eq!(Some(batch[1].output()), want.as_deref());
    comb.decrypt(key, &mut batch).expect("a good batch");
    assert_eq!(batch[1].output(), paint(40, 2));
    let refused = comb.mac(&table(Mode::Cmac)[0], &mut batch);
    refused.expect_err("a nonce for a MAC");
    let pending = |m: &Message<'_>| m.status() == Status::Pending && m.output().is_empty();
    assert!(batch.iter().all(pending));
    assert_eq!((a, b), (paint(20, 1), paint(40, 2)));
}

#[test]
fn names() {
    for mode in Mode::ALL {
        assert_eq!(mode.name().parse(), Ok(*mode));
        for bits in KEY_BYTES.iter().map(|bytes| bytes * 8) {
            let algorithm: Algorithm = format!("aes-{bits}-{mode}").parse().expect("a known name");
            assert_eq!((algorithm.mode, algorithm.key_bits), (*mode, bits));
            assert_eq!(algorithm.to_string(), format!("aes-{bits}-{mode}"));
        }
    }
    for backend in Backend::ALL {
        assert_eq!(backend.name().parse(), Ok(backend));
        assert_eq!(backend.to_string(), backend.name());
    }
    let modes: Vec<_> = Mode::ALL.iter().map(|mode| mode.name()).collect();
    let backends = Backend::ALL.map(Backend::name).join(", ");
    let unknown = [
        ("CBC".parse::<Mode>().err(), "mode", modes.join(", ")),
        ("avx".parse::<Backend>().err(), "backend", backends),
    ];
    for (error, what, known) in unknown {
        let text = error.expect("an unknown name").to_string();
        assert_eq!(text, format!("unknown {what}; known: {known}"));
    }
    for name in [
        "cbc",
        "aes-129-cbc",
        "aes-128",
        "aes-128-",
        "aes--cbc",
        "aes-128-cbc ",
        "",
    ] {
        let text = name
            .parse::<Algorithm>()
            .expect_err("an unknown name")
            .to_string();
        assert!(
            text.starts_with("unknown algorithm; known: aes-BITS-MODE "),
            "{text}"
        );
    }
}

/// The bytes of a key that are others, or cannot be had, when they are asked for again.
struct Fickle {
    asked: std::cell::Cell<usize>,
    panics: bool,
}

impl AsRef<[u8]> for Fickle {
    fn as_ref(&self) -> &[u8] {
        match self.asked.replace(self.asked.get() + 1) {
            0 => &[7; 16],
            _ if self.panics => panic!("no key"),
            _ => &[7; 20],
        }
    }
}

/// No key is left that was not expanded.
#[test]
fn keys_that_change_while_they_are_read() {
    for panics in [false, true] {
        let raw: Vec<Fickle> = (0..20)
            .map(|_| Fickle {
                asked: std::cell::Cell::new(0),
                panics,
            })
            .collect();
        let mut table = vec![AnyKey::for_mode(Mode::Ctr, &[1; 16]).expect("a key")];
        let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            AnyKey::expand_many_for(Mode::Ctr, &raw, &mut table)
        }));
        match done {
            Ok(refused) => {
                let error = refused.expect_err("other bytes");
                assert_eq!((error.message, error.field), (Some(0), Field::KeyLength));
            }
            Err(_) => assert!(panics),
        }
        assert!(table.is_empty());
    }
}
