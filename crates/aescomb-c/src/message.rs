//! Calls with arrays of message structs.
//!
//! The structs are the engine's own jobs, read where they are: to make messages of them
//! would take a tenth of the time of a packet. What is refused that way is looked at once
//! more as messages: those may have what jobs may not (several components of associated
//! data, own keys beside a shared one), and what else is wrong is said better.
//!
//! `unsafe` here rests on what the header says: `comb` and `key` are NULL or handles that
//! are not freed yet, `messages` has `count` messages, their pointers are NULL or have
//! memory of the lengths beside them, which nobody else uses during the call, and `error`
//! is NULL or writable.
#![allow(unsafe_code, non_camel_case_types)]

use crate::comb::{Parts, Scratch, aescomb_comb, with};
use crate::error::{Fault, aescomb_code, aescomb_error, guarded};
use crate::key::aescomb_key;
use aescomb::ffi::{Job, Jobs};
use aescomb::{Allowed, AnyKey, Comb, Keys, Message, Op, OpenError, Status, Text};
use std::ffi::{CStr, c_void};
use std::mem::{MaybeUninit, offset_of};

/// What became of a message.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum aescomb_status {
    /// No call has finished it.
    AESCOMB_PENDING = 0,
    /// Done; for a tag that was checked: it is right.
    AESCOMB_DONE = 1,
    /// Invalid padding; the output was wiped.
    AESCOMB_BAD_PADDING = 2,
    /// The tag does not belong to the message; what was opened was wiped.
    AESCOMB_BAD_TAG = 3,
}

impl aescomb_status {
    #[inline(always)]
    pub(crate) fn of(status: Status) -> aescomb_status {
        match status {
            Status::Done => aescomb_status::AESCOMB_DONE,
            Status::BadPadding => aescomb_status::AESCOMB_BAD_PADDING,
            Status::BadTag => aescomb_status::AESCOMB_BAD_TAG,
            _ => aescomb_status::AESCOMB_PENDING,
        }
    }
}

/// Bytes somewhere: `bytes` may be NULL if `len` is 0.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct aescomb_slice {
    /// First byte.
    pub bytes: *const u8,
    /// How many there are.
    pub len: usize,
}

/// One message of a batch. All lengths are in bytes. Set all of it to zero, then what the
/// message has: a pointer may be NULL where its length is 0. The library keeps no pointer
/// after the call, and a struct may be used again.
#[repr(C)]
pub struct aescomb_message {
    /// Where the text is read.
    pub src: *const u8,
    /// Its length; with an attached tag that is opened, with the tag.
    pub src_len: usize,
    /// Where the result goes: the same place as `src`, or one that has no byte in common
    /// with it. NULL for tags only.
    pub dst: *mut u8,
    /// Its room. At least as much as `aescomb_mode_encrypted_len` says of the plaintext,
    /// also for opening; with an attached tag that is sealed, and the tag.
    pub dst_len: usize,
    /// Nonce: initialisation vector, initial counter block or tweak.
    pub nonce: *const u8,
    /// Associated data: bytes, or, if `component_count` is not 0, so many `aescomb_slice`.
    /// NULL: none, which for "siv" is not the same as an empty component.
    pub data: *const c_void,
    /// Bytes of associated data that is one component.
    pub data_len: usize,
    /// Where the tag goes, or where it is if it is to be checked, and then it is only
    /// read. If it is attached, the library may write here where it was found or put.
    pub tag: *mut u8,
    /// Bytes of the nonce.
    pub nonce_len: u32,
    /// Bytes of the tag.
    pub tag_len: u32,
    /// 1: ciphertext and tag are in one piece, of which `tag_len` bytes are the tag: the last,
    /// or the first where `tag_first` of `aescomb_info` says so ("siv"). For sealing and
    /// opening. Otherwise 0.
    pub tag_attached: u32,
    /// Components of associated data, for modes that take several ("siv"); 0 for one, or
    /// none.
    pub component_count: u32,
    /// For modes of which `aescomb_info` says `AESCOMB_UNTOLD`: how many bytes the message
    /// has when it is opened. Others do not look at it.
    pub opened_len: usize,
    /// The message's own key; NULL for the one of the call.
    pub key: *const aescomb_key,
    /// Written by the library: bytes of result, an attached tag included. 0 if the message
    /// failed, and for tags only.
    pub written: MaybeUninit<usize>,
    /// Written by the library: what became of the message.
    pub status: MaybeUninit<aescomb_status>,
    /// The library's own.
    pub internal: aescomb_internal,
}

/// What the library notes in a message. Its content means nothing to others.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct aescomb_internal {
    /// Bytes of text without those of a tag.
    pub len: usize,
    /// The place of its key in the table.
    pub key_index: u32,
    /// What associated data there is.
    pub components: u32,
}

macro_rules! same_places {
    ($($member:ident)*) => {
        // A message is a `Job`.
        const _: () = {
            $(assert!(offset_of!(aescomb_message, $member) == offset_of!(Job, $member));)*
            assert!(offset_of!(aescomb_message, internal) == offset_of!(Job, len));
            assert!(size_of::<aescomb_message>() == size_of::<Job>());
            assert!(aescomb_status::AESCOMB_PENDING as u32 == Status::Pending as u32);
            assert!(aescomb_status::AESCOMB_DONE as u32 == Status::Done as u32);
            assert!(aescomb_status::AESCOMB_BAD_PADDING as u32 == Status::BadPadding as u32);
            assert!(aescomb_status::AESCOMB_BAD_TAG as u32 == Status::BadTag as u32);
        };
    };
}
same_places!(src src_len dst dst_len nonce data data_len tag nonce_len tag_len tag_attached
    component_count opened_len key written status);

/// Message structs of the caller.
struct Structs {
    first: *mut aescomb_message,
    count: usize,
}

/// # Safety
/// `p` must be NULL, if `len` is 0, or readable for `len` bytes, of which there are not
/// more than memory has.
#[inline(always)]
pub(crate) unsafe fn bytes<'a>(p: *const u8, len: usize) -> &'a [u8] {
    let p = if p.is_null() { [].as_ptr() } else { p };
    // SAFETY: the caller says so.
    unsafe { std::slice::from_raw_parts(p, len) }
}

impl Structs {
    fn get(&self, i: usize) -> &aescomb_message {
        assert!(i < self.count);
        // SAFETY: there are `count` messages.
        unsafe { &*self.first.add(i) }
    }

    /// Message `i`, which has key `i` of a table, and several of these components or one
    /// of its own.
    ///
    /// # Safety
    /// Its pointers must be there, and it must be gone before the call ends.
    unsafe fn message(
        &self,
        i: usize,
        op: Op,
        components: &'static [&'static [u8]],
    ) -> Message<'static> {
        let m = self.get(i);
        // SAFETY: the header says what memory there is, and the caller that there is any.
        let message = unsafe {
            let text = Text::from_raw(m.src, m.src_len, m.dst, m.dst_len);
            Message::new(text).nonce(bytes(m.nonce, m.nonce_len as usize))
        };
        let len = m.tag_len as usize;
        let message = message.key_index(i as u32).opened_len(m.opened_len);
        let message = match (m.tag_attached, len) {
            (0, 0) => message,
            // SAFETY: as above.
            (0, _) if matches!(op, Op::Verify | Op::Open) => {
                message.received_tag(unsafe { bytes(m.tag, len) })
            }
            // SAFETY: as above.
            (0, _) => message.tag(unsafe { std::slice::from_raw_parts_mut(m.tag, len) }),
            _ => message.tag_attached(len),
        };
        match m.component_count {
            0 if m.data.is_null() => message,
            // SAFETY: as above.
            0 => message.associated_data(unsafe { bytes(m.data.cast(), m.data_len) }),
            _ => message.associated_data_vector(components),
        }
    }

    fn report(&mut self, i: usize, status: Status, written: usize) {
        assert!(i < self.count);
        // SAFETY: there are `count` messages.
        unsafe {
            let m = self.first.add(i);
            (&raw mut (*m).written).write(MaybeUninit::new(written));
            (&raw mut (*m).status).write(MaybeUninit::new(aescomb_status::of(status)));
        }
    }
}

/// `AESCOMB_MESSAGES_FAILED`, if any did.
pub(crate) fn judged(result: Result<(), OpenError>, count: usize) -> Result<(), Fault> {
    let failed = match result {
        Ok(()) => return Ok(()),
        Err(OpenError::Refused(error)) => return Err(error.into()),
        Err(OpenError::Failed(failed)) => failed,
    };
    let given = failed.messages().len();
    let text = format!("{given} of {count} messages failed: wrong tag or padding");
    Err(Fault {
        message: failed.messages().next(),
        given,
        allowed: Allowed::Exactly(0),
        ..Fault::new(aescomb_code::AESCOMB_MESSAGES_FAILED, c"status", text)
    })
}

/// Refuses more messages than a call takes, before anything is made of their number.
pub(crate) fn check_count(count: usize) -> Result<(), Fault> {
    let most = u32::MAX as usize - 1;
    match count <= most {
        true => Ok(()),
        false => Err(Fault::number(
            aescomb_code::AESCOMB_COUNT,
            c"count",
            count,
            "messages",
            Allowed::AtMost(most),
        )),
    }
}

/// A message without a key in a call without one for all.
#[cold]
pub(crate) fn no_key(i: usize) -> Fault {
    let text = "no key, and the call has none for all".into();
    Fault::new(aescomb_code::AESCOMB_KEY_MISSING, c"key", text).at(i)
}

fn array(
    parts: &mut Parts,
    op: Op,
    shared: Option<&AnyKey>,
    first: *mut aescomb_message,
    count: usize,
) -> Result<(), Fault> {
    if count == 0 {
        return Ok(());
    }
    if first.is_null() || !first.is_aligned() {
        return Err(Fault::pointer(c"messages"));
    }
    check_count(count)?;
    let Parts { comb, scratch } = parts;
    // SAFETY: a message is a job; the caller says that they are as these must be.
    let mut jobs = unsafe { Jobs::new(first.cast(), count) };
    let keys = shared.map_or_else(Keys::of_messages, Keys::from);
    let structs = &mut Structs { first, count };
    let result = match comb.run(op, keys, &mut jobs) {
        Err(OpenError::Refused(_)) => described(comb, scratch, op, shared, structs)?,
        result => result,
    };
    judged(result, count)
}

/// Runs an operation on messages, made of structs that are no good jobs.
#[cold]
fn described(
    comb: &mut Comb,
    scratch: &mut Scratch,
    op: Op,
    shared: Option<&AnyKey>,
    structs: &mut Structs,
) -> Result<Result<(), OpenError>, Fault> {
    let Scratch {
        keys,
        components,
        messages,
        ..
    } = scratch;
    for i in 0..structs.count {
        structs.report(i, Status::Pending, 0);
    }
    // SAFETY: it is cleared before the call ends, for which the caller has the key.
    let shared = shared.map(|key| unsafe { &*std::ptr::from_ref(key) });
    for i in 0..structs.count {
        // SAFETY: as above, or NULL.
        let own = unsafe { structs.get(i).key.as_ref() };
        keys.push(own.map(|key| &key.0).or(shared).ok_or_else(|| no_key(i))?);
    }
    let most = keys[0].mode().info().data_components;
    examine(structs, most, components)?;
    let mut rest = &components[..];
    for i in 0..structs.count {
        let own;
        (own, rest) = rest.split_at(structs.get(i).component_count as usize);
        // SAFETY: all pointers were looked at. Messages and components are cleared before
        // the call ends.
        messages.push(unsafe { structs.message(i, op, &*std::ptr::from_ref(own)) });
    }
    let keys = Keys::from(&*keys);
    let result = comb.run(op, keys, messages);
    for (i, message) in messages.iter().enumerate() {
        structs.report(i, message.status(), message.output().len());
    }
    Ok(result)
}

/// Looks at every message: for pointers that are missing and lengths that no memory has,
/// for several components, of which it makes tables.
fn examine(
    structs: &Structs,
    most: usize,
    components: &mut Vec<&'static [u8]>,
) -> Result<(), Fault> {
    for i in 0..structs.count {
        let m = structs.get(i);
        let check = |is_null: bool, len: usize, names: (_, &'static CStr, _)| {
            checked(is_null, len, names).map_err(|fault| fault.at(i))
        };
        use aescomb_code::*;
        check(
            m.src.is_null(),
            m.src_len,
            (c"src", c"src_len", AESCOMB_TEXT_LENGTH),
        )?;
        check(
            m.dst.is_null(),
            m.dst_len,
            (c"dst", c"dst_len", AESCOMB_OUTPUT_LENGTH),
        )?;
        check(
            m.nonce.is_null(),
            m.nonce_len as usize,
            (c"nonce", c"nonce_len", AESCOMB_NONCE_LENGTH),
        )?;
        if m.tag_attached > 1 {
            let given = m.tag_attached as usize;
            let what = "for tag_attached";
            let most = Allowed::AtMost(1);
            return Err(
                Fault::number(AESCOMB_TAG_LENGTH, c"tag_attached", given, what, most).at(i),
            );
        }
        let no_tag = m.tag.is_null() && m.tag_attached == 0;
        check(
            no_tag,
            m.tag_len as usize,
            (c"tag", c"tag_len", AESCOMB_TAG_LENGTH),
        )?;
        let n = m.component_count as usize;
        if n == 0 {
            check(
                m.data.is_null(),
                m.data_len,
                (c"data", c"data_len", AESCOMB_DATA_LENGTH),
            )?;
            continue;
        }
        let too_many = |allowed| {
            let what = "components of associated data";
            Fault::number(AESCOMB_DATA_COUNT, c"component_count", n, what, allowed).at(i)
        };
        match most {
            0 => return Err(too_many(Allowed::Nothing)),
            most if n > most => return Err(too_many(Allowed::AtMost(most))),
            _ => {}
        }
        let parts = m.data.cast::<aescomb_slice>();
        if parts.is_null() || !parts.is_aligned() {
            return Err(Fault::pointer(c"data").at(i));
        }
        // SAFETY: the caller says that there are so many, and a mode takes them.
        for part in unsafe { std::slice::from_raw_parts(parts, n) } {
            let names = (c"bytes", c"len", AESCOMB_DATA_LENGTH);
            check(part.bytes.is_null(), part.len, names)?;
            // SAFETY: the caller says so; it is cleared before the call ends.
            components.push(unsafe { bytes(part.bytes, part.len) });
        }
    }
    Ok(())
}

/// Refuses what is NULL and has a length, and lengths that no memory has.
pub(crate) fn checked(
    is_null: bool,
    len: usize,
    (pointer, field, code): (&'static CStr, &'static CStr, aescomb_code),
) -> Result<(), Fault> {
    let most = isize::MAX as usize;
    if len > most {
        return Err(Fault::number(
            code,
            field,
            len,
            "bytes",
            Allowed::AtMost(most),
        ));
    }
    match is_null && len > 0 {
        true => Err(Fault::pointer(pointer)),
        false => Ok(()),
    }
}

/// # Safety
/// As the header says of `aescomb_encrypt`.
#[inline(always)]
unsafe fn call(
    op: Op,
    comb: *mut aescomb_comb,
    key: *const aescomb_key,
    messages: *mut aescomb_message,
    count: usize,
    error: *mut aescomb_error,
) -> aescomb_code {
    // SAFETY: the caller says so of all pointers.
    unsafe {
        guarded(error, || {
            let shared = key.as_ref().map(|key| &key.0);
            with(comb, |parts| array(parts, op, shared, messages, count))
        })
    }
}

/// Encrypts `count` messages.
///
/// `key` is for all messages that have none of their own; it may be NULL if each has one.
/// All keys of a call must be for one mode; their lengths may differ. Destinations must not
/// overlap each other. 0 messages are no error.
///
/// Either every message is done, or, if there is an error, none was touched: everything
/// is checked before, and the status of all messages is `AESCOMB_PENDING`.
///
/// Errors: any of `aescomb_code` but those of names and layouts. This is so for all six
/// operations.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aescomb_encrypt(
    comb: *mut aescomb_comb,
    key: *const aescomb_key,
    messages: *mut aescomb_message,
    count: usize,
    error: *mut aescomb_error,
) -> aescomb_code {
    // SAFETY: the caller says so.
    unsafe { call(Op::Encrypt, comb, key, messages, count, error) }
}

/// Decrypts `count` messages; see `aescomb_encrypt`. Where padding is taken off, a message
/// with invalid padding fails: its output is wiped, and `AESCOMB_MESSAGES_FAILED` is
/// returned. Who learns which messages had wrong padding can decrypt: authenticate before
/// decrypting. Other modes cannot fail.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aescomb_decrypt(
    comb: *mut aescomb_comb,
    key: *const aescomb_key,
    messages: *mut aescomb_message,
    count: usize,
    error: *mut aescomb_error,
) -> aescomb_code {
    // SAFETY: the caller says so.
    unsafe { call(Op::Decrypt, comb, key, messages, count, error) }
}

/// Computes the tags of `count` messages; see `aescomb_encrypt`.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aescomb_mac(
    comb: *mut aescomb_comb,
    key: *const aescomb_key,
    messages: *mut aescomb_message,
    count: usize,
    error: *mut aescomb_error,
) -> aescomb_code {
    // SAFETY: the caller says so.
    unsafe { call(Op::Mac, comb, key, messages, count, error) }
}

/// Checks the tags of `count` messages, in constant time; see `aescomb_encrypt`. If any is
/// wrong, `AESCOMB_MESSAGES_FAILED` is returned, and the status of each message says
/// whether it is one of these.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aescomb_verify(
    comb: *mut aescomb_comb,
    key: *const aescomb_key,
    messages: *mut aescomb_message,
    count: usize,
    error: *mut aescomb_error,
) -> aescomb_code {
    // SAFETY: the caller says so.
    unsafe { call(Op::Verify, comb, key, messages, count, error) }
}

/// Encrypts `count` messages and makes their tags; see `aescomb_encrypt`.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aescomb_seal(
    comb: *mut aescomb_comb,
    key: *const aescomb_key,
    messages: *mut aescomb_message,
    count: usize,
    error: *mut aescomb_error,
) -> aescomb_code {
    // SAFETY: the caller says so.
    unsafe { call(Op::Seal, comb, key, messages, count, error) }
}

/// Decrypts `count` messages and checks their tags, in constant time; see
/// `aescomb_encrypt`. If any tag is wrong, `AESCOMB_MESSAGES_FAILED` is returned, and the
/// status of each message says whether it is one of these: what was written of those is
/// wiped, the others are done. Nothing of a plaintext may be used before the call returns.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aescomb_open(
    comb: *mut aescomb_comb,
    key: *const aescomb_key,
    messages: *mut aescomb_message,
    count: usize,
    error: *mut aescomb_error,
) -> aescomb_code {
    // SAFETY: the caller says so.
    unsafe { call(Op::Open, comb, key, messages, count, error) }
}
