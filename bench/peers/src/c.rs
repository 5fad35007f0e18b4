//! Peers that are C and C++ libraries: see `peers.h` and the file of each.

#![allow(unsafe_code)]

use crate::batch::{Batch, Competitor, Problem};
use crate::case::Case;
use aescomb::Mode;
use std::ffi::{CStr, CString, c_char, c_int};

/// `struct message` of `peers.h`.
#[repr(C)]
struct Message {
    from: *const u8,
    to: *mut u8,
    len: usize,
    nonce: *const u8,
    tag: *mut u8,
}

/// `struct task` of `peers.h`.
#[repr(C)]
struct Task {
    mode: *const c_char,
    backward: c_int,
    key: *const u8,
    key_len: usize,
    nonce_len: usize,
    data: *const u8,
    data_len: usize,
    messages: usize,
}

/// A `struct peer` of one of the files.
#[repr(C)]
struct Peer {
    opaque: [u8; 0],
}

type New = unsafe extern "C" fn(*const Task) -> *mut Peer;
type Free = unsafe extern "C" fn(*mut Peer);
type Version = unsafe extern "C" fn() -> *const c_char;
type Run = unsafe extern "C" fn(*mut Peer, *const Message, usize) -> c_int;

unsafe extern "C" {
    fn imb_new(task: *const Task) -> *mut Peer;
    fn imb_free(peer: *mut Peer);
    fn imb_version() -> *const c_char;
    fn imb_jobs(peer: *mut Peer, messages: *const Message, n: usize) -> c_int;
    fn imb_bursts(peer: *mut Peer, messages: *const Message, n: usize) -> c_int;
    fn imb_cipher_bursts(peer: *mut Peer, messages: *const Message, n: usize) -> c_int;
    fn imb_gcm(peer: *mut Peer, messages: *const Message, n: usize) -> c_int;
    fn imb_gmac(peer: *mut Peer, messages: *const Message, n: usize) -> c_int;

    fn ossl_new(task: *const Task) -> *mut Peer;
    fn ossl_free(peer: *mut Peer);
    fn ossl_version() -> *const c_char;
    fn ossl_ciphers(peer: *mut Peer, messages: *const Message, n: usize) -> c_int;
    fn ossl_macs(peer: *mut Peer, messages: *const Message, n: usize) -> c_int;
    fn ossl_aeads(peer: *mut Peer, messages: *const Message, n: usize) -> c_int;

    fn libgcrypt_new(task: *const Task) -> *mut Peer;
    fn libgcrypt_free(peer: *mut Peer);
    fn libgcrypt_version() -> *const c_char;
    fn libgcrypt_ciphers(peer: *mut Peer, messages: *const Message, n: usize) -> c_int;
    fn libgcrypt_macs(peer: *mut Peer, messages: *const Message, n: usize) -> c_int;
    fn libgcrypt_aeads(peer: *mut Peer, messages: *const Message, n: usize) -> c_int;

    fn botan_new(task: *const Task) -> *mut Peer;
    fn botan_free(peer: *mut Peer);
    fn botan_version() -> *const c_char;
    fn botan_run(peer: *mut Peer, messages: *const Message, n: usize) -> c_int;
}

pub struct Library {
    pub name: &'static str,
    new: New,
    free: Free,
    version: Version,
}

impl Library {
    pub fn version(&self) -> String {
        // SAFETY: all of them give a string that is never freed.
        let version = unsafe { CStr::from_ptr((self.version)()) };
        version.to_string_lossy().into_owned()
    }
}

const IPSEC_MB: &Library = &Library {
    name: "ipsec-mb",
    new: imb_new,
    free: imb_free,
    version: imb_version,
};
const OPENSSL: &Library = &Library {
    name: "OpenSSL",
    new: ossl_new,
    free: ossl_free,
    version: ossl_version,
};
const LIBGCRYPT: &Library = &Library {
    name: "libgcrypt",
    new: libgcrypt_new,
    free: libgcrypt_free,
    version: libgcrypt_version,
};
const BOTAN: &Library = &Library {
    name: "Botan",
    new: botan_new,
    free: botan_free,
    version: botan_version,
};

/// One interface of a library.
#[derive(Clone, Copy)]
pub struct Way {
    pub library: &'static Library,
    pub interface: &'static str,
    run: Run,
    modes: &'static [Mode],
}

const fn way(
    library: &'static Library,
    interface: &'static str,
    run: Run,
    modes: &'static [Mode],
) -> Way {
    Way {
        library,
        interface,
        run,
        modes,
    }
}

/// What ipsec-mb 1.3 has; CFB it has for single blocks only.
const JOBS: &[Mode] = {
    use Mode::*;
    &[Ecb, Cbc, Ctr, Cmac, Gmac, Ccm, Gcm]
};
const CIPHERS: &[Mode] = {
    use Mode::*;
    &[Ecb, Cbc, Cfb128, Ofb, Ctr, Xts]
};
const MACS: &[Mode] = &[Mode::Cmac, Mode::Gmac];

#[rustfmt::skip]
const WAYS: &[Way] = {
    use Mode::*;
    &[
        way(IPSEC_MB, "jobs, unchecked", imb_jobs, JOBS),
        way(IPSEC_MB, "bursts of 128, unchecked", imb_bursts, JOBS),
        way(IPSEC_MB, "cipher bursts of 128, unchecked", imb_cipher_bursts, &[Cbc, Ctr]),
        way(IPSEC_MB, "IMB_AES128_GCM_ENC, _DEC", imb_gcm, &[Gcm]),
        way(IPSEC_MB, "IMB_AES128_GMAC_*", imb_gmac, &[Gmac]),
        way(OPENSSL, "EVP_CIPHER_CTX kept", ossl_ciphers, CIPHERS),
        way(OPENSSL, "EVP_MAC_CTX kept", ossl_macs, MACS),
        way(OPENSSL, "EVP_CIPHER_CTX kept", ossl_aeads, &[Ccm, Gcm, Ocb]),
        way(OPENSSL, "EVP_CIPHER_CTX kept, key set anew", ossl_aeads, &[Siv]),
        way(LIBGCRYPT, "gcry_cipher handle kept", libgcrypt_ciphers, CIPHERS),
        way(LIBGCRYPT, "gcry_mac handle kept", libgcrypt_macs, MACS),
        way(LIBGCRYPT, "gcry_cipher handle kept", libgcrypt_aeads, &[Ccm, Gcm, Ocb, Siv, GcmSiv]),
        way(BOTAN, "Cipher_Mode kept, copied in and out", botan_run, &[Xts, Ocb, Siv]),
    ]
};

/// Every interface that has the case.
pub fn ways(case: Case) -> impl Iterator<Item = &'static Way> {
    WAYS.iter()
        .filter(move |way| way.modes.contains(&case.mode))
}

impl Way {
    pub fn start(&self, problem: &Problem) -> Result<Box<dyn Competitor>, String> {
        let case = problem.case;
        let mut batch = problem.batch().map_err(|error| error.to_string())?;
        let mode = CString::new(case.mode.info().name).expect("a name without zeros");
        let task = Box::new(Task {
            mode: mode.as_ptr(),
            backward: c_int::from(case.backward()),
            key: case.key().as_ptr(),
            key_len: case.key().len(),
            nonce_len: batch.nonce_bytes,
            data: batch.data.as_ptr(),
            data_len: batch.data.len(),
            messages: problem.messages(),
        });
        // SAFETY: what the task points to lives and stays where it is as long as the peer:
        // `Bound` keeps all of it, and the key is static.
        let peer = unsafe { (self.library.new)(&*task) };
        if peer.is_null() {
            return Err("refuses the mode".into());
        }
        let tags = batch.tags.as_mut_ptr();
        let messages = batch.places.iter().enumerate().map(|(i, place)| Message {
            from: place.from,
            to: place.to,
            len: place.len,
            nonce: batch.nonces[i].as_ptr(),
            tag: tags.wrapping_add(i).cast(),
        });
        Ok(Box::new(Bound {
            messages: messages.collect(),
            peer,
            way: *self,
            _mode: mode,
            _task: task,
            batch,
        }))
    }
}

/// A peer with its messages, which do not move.
struct Bound {
    peer: *mut Peer,
    way: Way,
    messages: Vec<Message>,
    // What the peer and `messages` point to.
    _mode: CString,
    _task: Box<Task>,
    batch: Batch,
}

impl Drop for Bound {
    fn drop(&mut self) {
        // SAFETY: made by the same library's `new`.
        unsafe { (self.way.library.free)(self.peer) };
    }
}

impl Competitor for Bound {
    fn run(&mut self) -> Option<usize> {
        let (messages, n) = (self.messages.as_ptr(), self.messages.len());
        // SAFETY: the messages point into `batch`, which `self` owns and whose buffers
        // never move; the C code stays inside them.
        let refused = unsafe { (self.way.run)(self.peer, messages, n) };
        usize::try_from(refused).ok()
    }

    fn batch(&self) -> &Batch {
        &self.batch
    }
}
