//! PMAC+CTR of K. Aoki, T. Iwata and K. Yasuda, "How Fast Can a Two-Pass Mode Go? A Parallel
//! Deterministic Authenticated Encryption Mode for AES-NI", a talk at DIAC 2012, with AES-128.
//!
//! No code of it is known, and of the talk only the words, not the figures. These parts are a
//! completion, so that other implementations may give other outputs: the masks, but that they are
//! doubled; the place of nonce and associated data; padding; and how the tag starts the counter.
//! The number of block ciphers and doublings is the published one.
//!
//! Products are those of [`double`], and L = E(0).

use super::{Block, double, ozp, sevenfold, triple, xor, xor_first, zero_padded};
use crate::{Sealed, aes::Aes};

/// PMAC+CTR. Its keys have 16 bytes. A nonce that is used again tells which messages are equal and
/// no more.
pub fn pmac_ctr_encrypt(aes: &Aes, n: &Block, a: &[u8], m: &[u8]) -> Sealed {
    let tag = tag(aes, n, a, m);
    Sealed {
        text: ctr(aes, &tag, m),
        tag: tag.to_vec(),
    }
}

/// Undoes [`pmac_ctr_encrypt()`]; `None` for a wrong tag.
pub fn pmac_ctr_decrypt(aes: &Aes, n: &Block, a: &[u8], c: &[u8], t: &Block) -> Option<Vec<u8>> {
    let m = ctr(aes, t, c);
    (*t == tag(aes, n, a, &m)).then_some(m)
}

/// The sum of these is added to the last block of the message: E(H_i ^ 2^(i-1) 7 L), H_1 being the
/// nonce and the others the associated data, and 3 times that mask after 10* is appended; and
/// E(M_j ^ 2^j L) over the blocks before. The tag is E of that ^ 2^m 3 L where the last block, the
/// m-th, is complete, and of that ^ 2^m 3^2 L after 10* is appended where it is not. The empty
/// message is one empty block.
fn tag(aes: &Aes, n: &Block, a: &[u8], m: &[u8]) -> Block {
    let l = aes.encrypt_block(&[0; 16]);
    let mut sum = [0; 16];
    let mut mask = sevenfold(&l);
    for h_i in [&n[..]].into_iter().chain(a.chunks(16)) {
        let own = match h_i.len() {
            16 => mask,
            _ => triple(&mask),
        };
        sum = xor(&sum, &aes.encrypt_block(&xor(&ozp(h_i), &own)));
        mask = double(&mask);
    }
    let mut blocks: Vec<&[u8]> = m.chunks(16).collect();
    let last = blocks.pop().unwrap_or(&[]);
    let mut mask = double(&l);
    for m_j in blocks {
        sum = xor(&sum, &aes.encrypt_block(&xor(&zero_padded(m_j), &mask)));
        mask = double(&mask);
    }
    mask = match last.len() {
        16 => triple(&mask),
        _ => triple(&triple(&mask)),
    };
    aes.encrypt_block(&xor(&xor(&sum, &ozp(last)), &mask))
}

/// The sum of a text and of E(T ^ 7^2 L ^ j) for j = 1, 2, ...
fn ctr(aes: &Aes, tag: &Block, text: &[u8]) -> Vec<u8> {
    let l = aes.encrypt_block(&[0; 16]);
    let start = xor(tag, &sevenfold(&sevenfold(&l)));
    let mut out = Vec::new();
    for (j, part) in (1_u128..).zip(text.chunks(16)) {
        let stream = aes.encrypt_block(&xor(&start, &j.to_be_bytes()));
        out.extend(xor_first(part, &stream));
    }
    out
}
