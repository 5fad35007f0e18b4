//! Calls with arrays of message structs.
//!
//! The structs are read where they are while the library checks its messages, as copying
//! them would take a fifth of the time of a packet. That a pointer is missing is found on
//! the way, and so is what is rare and wants tables (several components of associated data,
//! own keys beside a shared one): either makes a message that no mode takes, so that
//! the library refuses the call; what it was is found out then.
//!
//! `unsafe` here rests on what the header says: `comb` and `key` are NULL or handles that
//! are not freed yet, `messages` has `count` messages, their pointers are NULL or have
//! memory of the lengths beside them, which nobody else uses during the call, and `error`
//! is NULL or writable.
#![allow(unsafe_code, non_camel_case_types)]

use crate::comb::{Parts, Scratch, aescomb_comb, with};
use crate::error::{Fault, aescomb_code, aescomb_error, guarded};
use crate::key::aescomb_key;
use aescomb::{
    Allowed, Batch, Comb, Described, Error, Foreign, Key, Keys, Message, Op, Status, Text, Verdict,
};
use std::cell::Cell;
use std::ffi::CStr;
use std::mem::MaybeUninit;

/// What became of a message.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum aescomb_status {
    /// No call has finished it.
    AESCOMB_PENDING = 0,
    /// Done; for a tag that was checked: it is right.
    AESCOMB_DONE = 1,
    /// The padding is none; the output was wiped.
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
/// message has: a pointer may be NULL where its length is 0. The library reads the struct
/// and writes `written` and `status`; it keeps no pointer after the call.
#[repr(C)]
pub struct aescomb_message {
    /// Where the text is read.
    pub src: *const u8,
    /// Its length; with an appended tag that is opened, with the tag.
    pub src_len: usize,
    /// Where the result goes: the same place as `src`, or one that has no byte in common
    /// with it. NULL for tags only.
    pub dst: *mut u8,
    /// Its room. At least as much as `aescomb_mode_encrypted_len` says of the plaintext,
    /// also for opening; with an appended tag that is sealed, and the tag.
    pub dst_len: usize,
    /// Nonce: initialisation vector, initial counter block or tweak.
    pub nonce: *const u8,
    /// Its length.
    pub nonce_len: usize,
    /// Associated data, one component. NULL: none, which for "siv" is not the same as an
    /// empty one.
    pub data: *const u8,
    /// Its length.
    pub data_len: usize,
    /// Where the tag goes, or where it is if it is to be checked, and then it is only
    /// read.
    pub tag: *mut u8,
    /// Its length.
    pub tag_len: usize,
    /// The message's own key; NULL for the one of the call.
    pub key: *const aescomb_key,
    /// Several components of associated data, in place of `data`, for modes that take
    /// them ("siv").
    pub components: *const aescomb_slice,
    /// How many there are; 0 if `data` is to be used.
    pub component_count: usize,
    /// For modes of which `aescomb_info` says `AESCOMB_UNTOLD`: how many bytes the message
    /// has when it is opened. Others do not look at it.
    pub opened_len: usize,
    /// Written by the library: bytes of result, an appended tag included. 0 if the message
    /// failed, and for tags only.
    pub written: MaybeUninit<usize>,
    /// Written by the library: what became of the message.
    pub status: MaybeUninit<aescomb_status>,
    /// Not 0: the tag, of `tag_len` bytes, lies right after the ciphertext; `tag` is not
    /// looked at. For sealing and opening.
    pub tag_appended: u32,
}

/// Message structs of the caller.
struct Structs {
    first: *mut aescomb_message,
    count: usize,
}

/// A batch of them, of messages as they mostly are in modes with a result (`TEXT`), with
/// tags (`TAG`), and with both: what a mode has not is not worked on, only seen to be
/// absent.
struct Usual<'s, const TEXT: bool, const TAG: bool> {
    structs: &'s mut Structs,
    /// Messages may have keys of their own: there is a table of them.
    own_keys: bool,
    /// A message was found that is not as they mostly are.
    odd: Cell<bool>,
}

/// A batch of them, of any messages, of which no pointer is missing.
struct Tabled<'s> {
    structs: &'s mut Structs,
    components: &'s [&'static [u8]],
    /// For each message the place of its first component.
    firsts: &'s [usize],
}

/// The sign bit is set if `p` is 0 and `n` is not, or, where pointers may be so high, by
/// chance.
#[inline(always)]
fn doubt<T>(p: *const T, n: usize) -> isize {
    (p.addr() as isize).wrapping_sub(1) & (n as isize).wrapping_neg()
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
    #[inline(always)]
    fn get(&self, i: usize) -> &aescomb_message {
        debug_assert!(i < self.count);
        // SAFETY: there are `count` messages.
        unsafe { &*self.first.add(i) }
    }

    /// A message without several components of associated data, with a result, with a tag,
    /// and with data if with both.
    ///
    /// # Safety
    /// Its pointers must be there.
    #[inline(always)]
    unsafe fn message<const TEXT: bool, const TAG: bool>(&self, i: usize) -> Message<'_> {
        let m = self.get(i);
        let (dst, dst_len) = match TEXT {
            true => (m.dst, m.dst_len),
            false => (std::ptr::null_mut(), 0),
        };
        // SAFETY: the header says what memory there is, and the caller that there is any.
        let message = unsafe {
            let text = Text::from_raw(m.src, m.src_len, dst, dst_len);
            Message::new(text).nonce(bytes(m.nonce, m.nonce_len.min(SHORT)))
        };
        let mut message = message.key(i as u32);
        if TAG {
            message = match m.tag_appended {
                0 => {
                    let place = match m.tag.is_null() {
                        true => [].as_mut_ptr(),
                        false => m.tag,
                    };
                    let len = m.tag_len.min(SHORT);
                    // SAFETY: as above; the library only reads it where the tag is given.
                    message.tag(unsafe { std::slice::from_raw_parts_mut(place, len) })
                }
                _ => message.tag_appended(m.tag_len),
            };
        }
        if TAG && TEXT {
            message = message.opened_len(m.opened_len);
            if !m.data.is_null() {
                // SAFETY: as above.
                message = message.associated_data(unsafe { bytes(m.data, m.data_len) });
            }
        }
        message
    }

    #[inline(always)]
    fn report(&mut self, i: usize, status: Status, written: usize) {
        // SAFETY: there are `count` messages.
        unsafe {
            let m = self.first.add(i);
            (&raw mut (*m).written).write(MaybeUninit::new(written));
            (&raw mut (*m).status).write(MaybeUninit::new(aescomb_status::of(status)));
        }
    }

    fn pending(&mut self) {
        for i in 0..self.count {
            self.report(i, Status::Pending, 0);
        }
    }
}

// SAFETY: messages are structs of the caller, as is their memory; a report writes only
// members that are not read.
unsafe impl<const TEXT: bool, const TAG: bool> Foreign for Usual<'_, TEXT, TAG> {
    #[inline(always)]
    fn count(&self) -> usize {
        self.structs.count
    }

    #[inline(always)]
    fn message(&self, i: usize) -> Message<'_> {
        let m = self.structs.get(i);
        // Lengths have the sign bit if they are more than memory has.
        let mut doubts = doubt(m.src, m.src_len) | doubt(m.nonce, m.nonce_len);
        doubts |= m.src_len as isize;
        let mut unusual = m.component_count;
        if !self.own_keys {
            unusual |= m.key.addr();
        }
        if TEXT {
            doubts |= doubt(m.dst, m.dst_len) | m.dst_len as isize;
        }
        if TAG && TEXT {
            let beside = isize::from(m.tag_appended == 0).wrapping_neg();
            doubts |= doubt(m.data, m.data_len) | m.data_len as isize;
            doubts |= doubt(m.tag, m.tag_len) & beside;
        } else {
            unusual |= m.data.addr() | m.data_len | m.tag_appended as usize;
            match TAG {
                true => doubts |= doubt(m.tag, m.tag_len),
                false => unusual |= m.tag_len,
            }
        }
        if (doubts < 0) | (unusual != 0) {
            self.odd.set(true);
            return Message::new(Text::read_only(&[])).tag_appended(usize::MAX);
        }
        // SAFETY: no pointer is missing.
        unsafe { self.structs.message::<TEXT, TAG>(i) }
    }

    #[inline(always)]
    fn report(&mut self, i: usize, status: Status, written: usize) {
        self.structs.report(i, status, written);
    }
}

// SAFETY: as above.
unsafe impl Foreign for Tabled<'_> {
    fn count(&self) -> usize {
        self.structs.count
    }

    fn message(&self, i: usize) -> Message<'_> {
        // SAFETY: all pointers were looked at.
        let message = unsafe { self.structs.message::<true, true>(i) };
        match self.structs.get(i).component_count {
            0 => message,
            n => message.associated_data_vector(&self.components[self.firsts[i]..][..n]),
        }
    }

    fn report(&mut self, i: usize, status: Status, written: usize) {
        self.structs.report(i, status, written);
    }
}

/// Nonces and tags of so many bytes are refused, whatever the mode.
const SHORT: usize = match isize::MAX as u64 > u32::MAX as u64 {
    true => u32::MAX as usize,
    false => isize::MAX as usize,
};

/// Runs an operation on any batch.
#[inline(always)]
pub(crate) fn run<B: Batch + ?Sized>(
    comb: &mut Comb,
    op: Op,
    keys: Keys<'_>,
    batch: &mut B,
) -> Result<Verdict, Error> {
    let good = |()| Verdict { failed: 0 };
    match op {
        Op::Encrypt => comb.encrypt(keys, batch).map(good),
        Op::Decrypt => comb.decrypt(keys, batch),
        Op::Mac => comb.mac(keys, batch).map(good),
        Op::Verify => comb.verify(keys, batch),
        Op::Seal => comb.seal(keys, batch).map(good),
        Op::Open => comb.open(keys, batch),
    }
}

/// `AESCOMB_MESSAGES_FAILED`, if any did.
pub(crate) fn judged(
    verdict: Verdict,
    count: usize,
    failed: impl Fn(usize) -> bool,
) -> Result<(), Fault> {
    if verdict.all_good() {
        return Ok(());
    }
    let text = format!(
        "{} of {count} messages failed: wrong tag or padding",
        verdict.failed
    );
    Err(Fault {
        message: (0..count).find(|i| failed(*i)),
        given: verdict.failed,
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
    shared: Option<&Key>,
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
    let structs = &mut Structs { first, count };
    let keys = match shared {
        Some(key) => Keys::Shared(key),
        None => own_keys(structs, None, &mut scratch.keys)?,
    };
    let (result, odd) = match op {
        Op::Encrypt | Op::Decrypt => usual::<true, false>(comb, op, keys, structs),
        Op::Mac | Op::Verify => usual::<false, true>(comb, op, keys, structs),
        Op::Seal | Op::Open => usual::<true, true>(comb, op, keys, structs),
    };
    let verdict = match odd {
        false => result?,
        true => tabled(comb, scratch, op, shared, structs)?,
    };
    judged(verdict, count, |i| {
        // SAFETY: the call has written it.
        unsafe { structs.get(i).status.assume_init() != aescomb_status::AESCOMB_DONE }
    })
}

/// Runs an operation on messages as they mostly are; whether one was not.
fn usual<const TEXT: bool, const TAG: bool>(
    comb: &mut Comb,
    op: Op,
    keys: Keys<'_>,
    structs: &mut Structs,
) -> (Result<Verdict, Error>, bool) {
    let mut batch = Described(Usual::<TEXT, TAG> {
        structs,
        own_keys: !matches!(keys, Keys::Shared(_)),
        odd: Cell::new(false),
    });
    let result = run(comb, op, keys, &mut batch);
    (result, batch.0.odd.get())
}

/// The same for any messages.
#[cold]
fn tabled(
    comb: &mut Comb,
    scratch: &mut Scratch,
    op: Op,
    shared: Option<&Key>,
    structs: &mut Structs,
) -> Result<Verdict, Fault> {
    let Scratch {
        keys,
        components,
        firsts,
        ..
    } = scratch;
    let keys = own_keys(structs, shared, keys)?;
    let most = match keys {
        Keys::Refs([first, ..]) => first.mode().info().data_components,
        _ => 0,
    };
    examine(structs, most, components, firsts)?;
    let tabled = Tabled {
        structs,
        components,
        firsts,
    };
    Ok(run(comb, op, keys, &mut Described(tabled))?)
}

/// Fills the table of the messages' keys: their own, or the shared one.
fn own_keys<'k>(
    structs: &mut Structs,
    shared: Option<&Key>,
    keys: &'k mut Vec<&'static Key>,
) -> Result<Keys<'k>, Fault> {
    // SAFETY: it is cleared before the call ends, for which the caller has the key.
    let shared = shared.map(|key| unsafe { &*std::ptr::from_ref(key) });
    keys.clear();
    keys.reserve(structs.count);
    for i in 0..structs.count {
        // SAFETY: as above, or NULL.
        let own = unsafe { structs.get(i).key.as_ref() };
        let Some(key) = own.map(|key| &key.0).or(shared) else {
            structs.pending();
            return Err(no_key(i));
        };
        keys.push(key);
    }
    Ok(Keys::Refs(keys))
}

/// Looks at every message: for pointers that are missing and lengths that no memory has,
/// for several components, of which it makes tables.
fn examine(
    structs: &Structs,
    most: usize,
    components: &mut Vec<&'static [u8]>,
    firsts: &mut Vec<usize>,
) -> Result<(), Fault> {
    for i in 0..structs.count {
        let m = structs.get(i);
        firsts.push(components.len());
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
            m.nonce_len,
            (c"nonce", c"nonce_len", AESCOMB_NONCE_LENGTH),
        )?;
        check(
            m.data.is_null(),
            m.data_len,
            (c"data", c"data_len", AESCOMB_DATA_LENGTH),
        )?;
        let no_tag = m.tag.is_null() && m.tag_appended == 0;
        check(no_tag, m.tag_len, (c"tag", c"tag_len", AESCOMB_TAG_LENGTH))?;
        let n = m.component_count;
        let too_many = |allowed| {
            let what = "components of associated data";
            Fault::number(AESCOMB_DATA_COUNT, c"component_count", n, what, allowed).at(i)
        };
        match most {
            _ if n == 0 => continue,
            0 => return Err(too_many(Allowed::Nothing)),
            most if n > most => return Err(too_many(Allowed::AtMost(most))),
            _ => {}
        }
        if !m.data.is_null() {
            let text =
                format!("{n} components of associated data and data; allowed: one or the other");
            let fault = Fault::new(AESCOMB_DATA_COUNT, c"component_count", text);
            return Err(Fault { given: n, ..fault }.at(i));
        }
        if m.components.is_null() || !m.components.is_aligned() {
            return Err(Fault::pointer(c"components").at(i));
        }
        // SAFETY: the caller says that there are so many, and a mode takes them.
        for part in unsafe { std::slice::from_raw_parts(m.components, n) } {
            let names = (c"components", c"len", AESCOMB_DATA_LENGTH);
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
/// whose padding is none fails: its output is wiped, and `AESCOMB_MESSAGES_FAILED` is
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
