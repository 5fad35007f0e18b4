//! Peers that are C libraries: see `ipsec_mb.c` and `openssl.c`.

use crate::{Batch, Case, Competitor, KEY};
use std::ffi::c_int;

/// As in `peers.h`.
#[repr(C)]
struct CMessage {
    text: *mut u8,
    len: usize,
    nonce: *const u8,
    tag: *mut u8,
}

/// A `struct peer` of one of the C files.
#[repr(C)]
struct Peer {
    opaque: [u8; 0],
}

type New = unsafe extern "C" fn(c_int, *const u8, *const u8, usize) -> *mut Peer;
type Free = unsafe extern "C" fn(*mut Peer);
type Run = unsafe extern "C" fn(*mut Peer, *const CMessage, usize) -> c_int;

unsafe extern "C" {
    fn imb_peer_new(mode: c_int, key: *const u8, data: *const u8, len: usize) -> *mut Peer;
    fn imb_peer_free(peer: *mut Peer);
    fn imb_peer_jobs(peer: *mut Peer, messages: *const CMessage, n: usize) -> c_int;
    fn imb_peer_burst(peer: *mut Peer, messages: *const CMessage, n: usize) -> c_int;
    fn imb_peer_gcm(peer: *mut Peer, messages: *const CMessage, n: usize) -> c_int;
    fn ossl_peer_new(mode: c_int, key: *const u8, data: *const u8, len: usize) -> *mut Peer;
    fn ossl_peer_free(peer: *mut Peer);
    fn ossl_peer_run(peer: *mut Peer, messages: *const CMessage, n: usize) -> c_int;
}

struct Library {
    new: New,
    free: Free,
}

const IPSEC_MB: Library = Library {
    new: imb_peer_new,
    free: imb_peer_free,
};
const OPENSSL: Library = Library {
    new: ossl_peer_new,
    free: ossl_peer_free,
};

/// A peer with its messages, which do not move.
struct Bound {
    peer: *mut Peer,
    free: Free,
    run: Run,
    messages: Vec<CMessage>,
    /// What `messages` and `peer` point into.
    batch: Batch,
}

impl Drop for Bound {
    fn drop(&mut self) {
        // SAFETY: made by the same library's `new`.
        unsafe { (self.free)(self.peer) };
    }
}

impl Competitor for Bound {
    fn run(&mut self) {
        // SAFETY: the messages point into `batch`, which `self` owns and whose buffers
        // never move; the C code stays inside them.
        let failed = unsafe { (self.run)(self.peer, self.messages.as_ptr(), self.messages.len()) };
        assert_eq!(failed, 0, "messages that a peer refused");
    }

    fn batch(&mut self) -> &mut Batch {
        &mut self.batch
    }
}

fn bind(library: &Library, run: Run, case: Case, mut batch: Batch) -> Option<Box<dyn Competitor>> {
    let data = &batch.data;
    // SAFETY: the key has 16 bytes; the peer keeps a pointer to `data`, whose buffer
    // lives and stays where it is as long as the peer.
    let peer = unsafe { (library.new)(case as c_int, KEY.as_ptr(), data.as_ptr(), data.len()) };
    if peer.is_null() {
        return None;
    }
    let nonces = batch.nonces.as_ptr();
    let tags = batch.tags.as_mut_ptr();
    let texts = batch.ring.split_mut();
    let messages = texts.into_iter().enumerate().map(|(i, text)| CMessage {
        text: text.as_mut_ptr(),
        len: text.len(),
        nonce: nonces.wrapping_add(i).cast(),
        tag: tags.wrapping_add(i).cast(),
    });
    Some(Box::new(Bound {
        peer,
        free: library.free,
        run,
        messages: messages.collect(),
        batch,
    }))
}

/// ipsec-mb by each of its interfaces that has the case, and OpenSSL.
pub fn all(
    case: Case,
    batch: impl Fn() -> Batch,
) -> Vec<(&'static str, &'static str, Box<dyn Competitor>)> {
    let mut found = Vec::new();
    let mut add = |name, interface, library: &Library, run: Run| {
        if let Some(peer) = bind(library, run, case, batch()) {
            found.push((name, interface, peer));
        }
    };
    // Version 1.3 has no others.
    if !matches!(case, Case::Cfb | Case::Ocb) {
        add("ipsec-mb", "jobs, unchecked", &IPSEC_MB, imb_peer_jobs);
        add(
            "ipsec-mb",
            "bursts of 32, unchecked",
            &IPSEC_MB,
            imb_peer_burst,
        );
    }
    if case == Case::Gcm {
        add("ipsec-mb", "IMB_AES128_GCM_ENC", &IPSEC_MB, imb_peer_gcm);
    }
    let interface = match case {
        Case::Cmac => "EVP_MAC, context kept",
        _ => "EVP, context kept",
    };
    add("OpenSSL", interface, &OPENSSL, ossl_peer_run);
    found
}
