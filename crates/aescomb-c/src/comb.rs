//! Schedulers.
//!
//! `unsafe` here rests on what the header says: a handle is NULL or from
//! `aescomb_comb_new` and not freed yet, `backend` is NULL or ends in NUL, and other
//! pointers are NULL or writable.
#![allow(unsafe_code, non_camel_case_types)]

use crate::error::{Fault, aescomb_code, aescomb_error, guarded};
use crate::mode::name_of;
use aescomb::{AnyKey, Backend, Comb, Message, MessageResult};
use std::cell::UnsafeCell;
use std::ffi::c_char;
use std::sync::atomic::{AtomicBool, Ordering};

/// A scheduler: it holds the backend, the number of messages in flight and the memory
/// that scheduling needs, so that calls allocate nothing once it has grown to the largest
/// batch. It is for one call at a time: give every thread its own. A call while another
/// one is at work is refused with `AESCOMB_BUSY`.
pub struct aescomb_comb {
    busy: AtomicBool,
    parts: UnsafeCell<Parts>,
}

/// What a call has to itself.
pub(crate) struct Parts {
    pub comb: Comb,
    pub scratch: Scratch,
}

/// Memory of calls, empty between them, that keeps what it has grown to. What it refers
/// to is the caller's, for the time of a call.
#[derive(Default)]
pub(crate) struct Scratch {
    /// Keys of the messages.
    pub keys: Vec<&'static AnyKey>,
    /// Components of associated data of all messages, one after the other.
    pub components: Vec<&'static [u8]>,
    pub messages: Vec<Message<'static>>,
    /// 0, 1, 2, ...: message `i` has key `i`.
    pub places: Vec<u32>,
    pub results: Vec<MessageResult>,
}

impl Scratch {
    fn clear(&mut self) {
        self.keys.clear();
        self.components.clear();
        self.messages.clear();
    }
}

/// Runs `body` with a scheduler, if no other call is.
///
/// # Safety
/// `comb` must be NULL or a handle.
#[inline(always)]
pub(crate) unsafe fn with(
    comb: *const aescomb_comb,
    body: impl FnOnce(&mut Parts) -> Result<(), Fault>,
) -> Result<(), Fault> {
    // SAFETY: the caller says so.
    let Some(comb) = (unsafe { comb.as_ref() }) else {
        return Err(Fault::pointer(c"comb"));
    };
    if comb.busy.swap(true, Ordering::Acquire) {
        return Err(Fault::new(
            aescomb_code::AESCOMB_BUSY,
            c"comb",
            "another thread is in a call with this scheduler; give each thread its own".into(),
        ));
    }
    /// Ends the call, also if it panics.
    struct Call<'c>(&'c aescomb_comb);
    impl Drop for Call<'_> {
        fn drop(&mut self) {
            // SAFETY: no other call is at work, and the body's borrow has ended.
            unsafe { (*self.0.parts.get()).scratch.clear() };
            self.0.busy.store(false, Ordering::Release);
        }
    }
    let call = Call(comb);
    // SAFETY: no other call is at work.
    body(unsafe { &mut *call.0.parts.get() })
}

/// Makes a scheduler.
///
/// `backend` is the name of an implementation of AES (see `aescomb_backend_name`), or NULL
/// for what measures best on this CPU. The handle at `comb` is the caller's, who gives it
/// to `aescomb_comb_free`; it is NULL if there is an error.
///
/// Errors: `AESCOMB_UNKNOWN_BACKEND`; `AESCOMB_BACKEND` where this CPU lacks what it needs;
/// `AESCOMB_POINTER` if `comb` is NULL.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aescomb_comb_new(
    backend: *const c_char,
    comb: *mut *mut aescomb_comb,
    error: *mut aescomb_error,
) -> aescomb_code {
    let body = || {
        if comb.is_null() {
            return Err(Fault::pointer(c"comb"));
        }
        // SAFETY: the caller says that it can be written.
        unsafe { comb.write(std::ptr::null_mut()) };
        let made = if backend.is_null() {
            Comb::new()
        } else {
            // SAFETY: the caller says that it ends in NUL.
            let backend: Backend =
                unsafe { name_of(backend, c"backend", aescomb_code::AESCOMB_UNKNOWN_BACKEND)? };
            Comb::with_backend(backend)?
        };
        let made = Box::new(aescomb_comb {
            busy: AtomicBool::new(false),
            parts: UnsafeCell::new(Parts {
                comb: made,
                scratch: Scratch::default(),
            }),
        });
        // SAFETY: as above.
        unsafe { comb.write(Box::into_raw(made)) };
        Ok(())
    };
    // SAFETY: the caller says so of `error`.
    unsafe { guarded(error, body) }
}

/// Sets how many messages are in flight: fewer mean less latency for a message, more mean
/// more throughput, up to what the CPU can overlap. 1 turns interleaving off.
/// What a new scheduler has measures best.
///
/// Errors: `AESCOMB_LANES` for 0 and for more than the backend has (32 for vaes512, 16 for
/// vaes256 and vaes256vl, 8 for aesni, 4 for portable); `AESCOMB_POINTER`, `AESCOMB_BUSY`.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aescomb_comb_set_lanes(
    comb: *mut aescomb_comb,
    lanes: usize,
    error: *mut aescomb_error,
) -> aescomb_code {
    // SAFETY: the caller says so of both.
    unsafe {
        guarded(error, || {
            with(comb, |parts| Ok(parts.comb.set_lanes(lanes)?))
        })
    }
}

/// Frees a scheduler, having wiped what it holds of keys and states. NULL is allowed. No
/// call may be at work with it.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aescomb_comb_free(comb: *mut aescomb_comb) {
    if !comb.is_null() {
        // SAFETY: `aescomb_comb_new` made it, and the caller gives it back.
        let comb = unsafe { Box::from_raw(comb) };
        // SAFETY: NULL is allowed.
        unsafe {
            guarded(std::ptr::null_mut(), || {
                drop(comb);
                Ok(())
            })
        };
    }
}
