//! GCM and GMAC of SP 800-38D.
//!
//! `iv`, `a`, `p` and `c` are the initialization vector, additional authenticated data, plaintext
//! and ciphertext, `t` is the tag's length in bytes.

use super::{Block, ctr32_encrypt, inc32, xor, zero_padded};
use crate::{Sealed, aes::Aes};

/// SP 800-38D, 7.1: GCM-AE. `None` unless the lengths obey 5.2.1: an IV that is not empty, a tag of
/// 4, 8 or 12 to 16 bytes, at most 2^39 - 256 bits of plaintext.
pub fn gcm_encrypt(aes: &Aes, iv: &[u8], a: &[u8], p: &[u8], t: usize) -> Option<Sealed> {
    if !lengths_allowed(iv, p, t) {
        return None;
    }
    let h = aes.encrypt_block(&[0; 16]);
    let j_0 = pre_counter(&h, iv);
    let c = ctr32_encrypt(aes, &inc32(&j_0), p);
    let tag = full_tag(aes, &h, &j_0, a, &c)[..t].to_vec();
    Some(Sealed { text: c, tag })
}

/// SP 800-38D, 7.2: GCM-AD. `None` for lengths that 5.2.1 does not allow and for a wrong tag.
pub fn gcm_decrypt(aes: &Aes, iv: &[u8], a: &[u8], c: &[u8], tag: &[u8]) -> Option<Vec<u8>> {
    if !lengths_allowed(iv, c, tag.len()) {
        return None;
    }
    let h = aes.encrypt_block(&[0; 16]);
    let j_0 = pre_counter(&h, iv);
    let p = ctr32_encrypt(aes, &inc32(&j_0), c);
    let expected = full_tag(aes, &h, &j_0, a, c);
    (*tag == expected[..tag.len()]).then_some(p)
}

/// SP 800-38D, 3: GMAC, which is GCM with all of the text in the additional authenticated data; the
/// full tag. `None` for an empty IV.
pub fn gmac(aes: &Aes, iv: &[u8], text: &[u8]) -> Option<Block> {
    let tag = gcm_encrypt(aes, iv, text, &[], 16)?.tag;
    Some(zero_padded(&tag))
}

/// SP 800-38D, 5.2.1.1 and 5.2.1.2.
fn lengths_allowed(iv: &[u8], p: &[u8], t: usize) -> bool {
    !iv.is_empty() && matches!(t, 4 | 8 | 12..=16) && p.len() as u64 <= (1 << 36) - 32
}

/// SP 800-38D, 7.1, step 2: the pre-counter block J_0.
fn pre_counter(h: &Block, iv: &[u8]) -> Block {
    if iv.len() == 12 {
        let mut j_0 = zero_padded(iv);
        j_0[15] = 1;
        j_0
    } else {
        let mut blocks: Vec<Block> = iv.chunks(16).map(zero_padded).collect();
        blocks.push(lengths(0, iv.len()));
        ghash(h, &blocks)
    }
}

/// SP 800-38D, 7.1, steps 4 to 6: the tag before it is cut, GCTR with J_0 of the GHASH of `a` and
/// `c`, each filled up with zeros, and their lengths.
fn full_tag(aes: &Aes, h: &Block, j_0: &Block, a: &[u8], c: &[u8]) -> Block {
    let mut blocks: Vec<Block> = a.chunks(16).map(zero_padded).collect();
    blocks.extend(c.chunks(16).map(zero_padded));
    blocks.push(lengths(a.len(), c.len()));
    let s = ghash(h, &blocks);
    xor(&s, &aes.encrypt_block(j_0))
}

/// SP 800-38D, 7.1: [len(A)]_64 || [len(C)]_64, in bits, from lengths in bytes.
fn lengths(a: usize, c: usize) -> Block {
    let (a, c) = (8 * a as u128, 8 * c as u128);
    (a << 64 | c).to_be_bytes()
}

/// SP 800-38D, 6.4: GHASH, Y_i = (Y_(i-1) ^ X_i) * H with Y_0 = 0.
fn ghash(h: &Block, blocks: &[Block]) -> Block {
    let mut y = [0; 16];
    for x in blocks {
        y = multiply(&xor(&y, x), h);
    }
    y
}

/// SP 800-38D, 6.3: the product X * Y. Bit 0 of a block is its leftmost bit, which is the most
/// significant one of the number.
pub(super) fn multiply(x: &Block, y: &Block) -> Block {
    const R: u128 = 0b1110_0001 << 120;
    let x = u128::from_be_bytes(*x);
    let mut z = 0;
    let mut v = u128::from_be_bytes(*y);
    for i in 0..128 {
        let x_i = x >> (127 - i) & 1;
        if x_i == 1 {
            z ^= v;
        }
        let lsb = v & 1;
        v >>= 1;
        if lsb == 1 {
            v ^= R;
        }
    }
    z.to_be_bytes()
}
