//! CCM of SP 800-38C: counter mode and CBC-MAC under one key.
//!
//! `n`, `a`, `p` and `c` are nonce, associated data, payload and ciphertext, `t` is the tag's
//! length and `q` that of the field for the payload's length, both in bytes.

use super::{Block, xor, xor_first, zero_padded};
use crate::{Sealed, aes::Aes};

/// SP 800-38C, 6.1: the generation-encryption process. `None` unless the lengths obey A.1: a nonce
/// of 7 to 13 bytes, a tag of 4, 6, 8, 10, 12, 14 or 16 bytes, a payload of less than 2^8q bytes.
pub fn ccm_encrypt(aes: &Aes, n: &[u8], a: &[u8], p: &[u8], t: usize) -> Option<Sealed> {
    let q = length_field(n, p, t)?;
    let tag = cbc_mac(aes, &format(n, a, p, t, q));
    let s_0 = aes.encrypt_block(&counter(n, q, 0));
    Some(Sealed {
        text: ctr(aes, n, q, p),
        tag: xor_first(&tag[..t], &s_0),
    })
}

/// SP 800-38C, 6.2: the decryption-verification process. `None` for lengths that A.1 does not allow
/// and for a wrong tag.
pub fn ccm_decrypt(aes: &Aes, n: &[u8], a: &[u8], c: &[u8], tag: &[u8]) -> Option<Vec<u8>> {
    let q = length_field(n, c, tag.len())?;
    let p = ctr(aes, n, q, c);
    let s_0 = aes.encrypt_block(&counter(n, q, 0));
    let expected = cbc_mac(aes, &format(n, a, &p, tag.len(), q));
    (xor_first(tag, &s_0) == expected[..tag.len()]).then_some(p)
}

/// SP 800-38C, A.1: the q of a nonce, n + q = 15; `None` for lengths outside the requirements.
fn length_field(n: &[u8], p: &[u8], t: usize) -> Option<usize> {
    if !(7..=13).contains(&n.len()) || !matches!(t, 4 | 6 | 8 | 10 | 12 | 14 | 16) {
        return None;
    }
    let q = 15 - n.len();
    let fits = q == 8 || p.len() as u64 >> (8 * q) == 0;
    fits.then_some(q)
}

/// SP 800-38C, A.2: the blocks B_0 to B_r, from nonce, associated data and payload.
fn format(n: &[u8], a: &[u8], p: &[u8], t: usize, q: usize) -> Vec<Block> {
    // A.2.1: the first byte of B_0 says whether there is associated data, (t - 2) / 2 and q - 1;
    // then come the nonce and Q, the payload's length in q bytes.
    let adata = u8::from(!a.is_empty());
    let mut b_0 = vec![64 * adata + 8 * ((t - 2) / 2) as u8 + (q - 1) as u8];
    b_0.extend(n);
    b_0.extend(field(p.len() as u64, q));
    let mut blocks = vec![zero_padded(&b_0)];
    // A.2.2: associated data behind its length, filled up with zeros; nothing where there is none.
    if !a.is_empty() {
        let mut encoded = ccm_ad_length(a.len() as u64);
        encoded.extend(a);
        blocks.extend(encoded.chunks(16).map(zero_padded));
    }
    // A.2.3: the payload, filled up with zeros.
    blocks.extend(p.chunks(16).map(zero_padded));
    blocks
}

/// SP 800-38C, A.2.2: the encoding of the associated data's length `a`, in 2, 6 or 10 bytes.
pub fn ccm_ad_length(a: u64) -> Vec<u8> {
    if a < (1 << 16) - (1 << 8) {
        field(a, 2)
    } else if a < 1 << 32 {
        [vec![0xff, 0xfe], field(a, 4)].concat()
    } else {
        [vec![0xff, 0xff], field(a, 8)].concat()
    }
}

/// SP 800-38C, 6.1, steps 2 to 4: Y_0 = CIPH(B_0), Y_i = CIPH(B_i ^ Y_(i-1)); the result is Y_r.
fn cbc_mac(aes: &Aes, blocks: &[Block]) -> Block {
    let mut y = [0; 16];
    for b in blocks {
        y = aes.encrypt_block(&xor(b, &y));
    }
    y
}

/// SP 800-38C, 6.1, steps 5 to 8: the sum of the payload and S_1, S_2, ..., S_j = CIPH(Ctr_j).
fn ctr(aes: &Aes, n: &[u8], q: usize, p: &[u8]) -> Vec<u8> {
    let mut c = Vec::new();
    for (j, p) in (1..).zip(p.chunks(16)) {
        let s = aes.encrypt_block(&counter(n, q, j));
        c.extend(xor_first(p, &s));
    }
    c
}

/// SP 800-38C, A.3: the counter block Ctr_i: a byte of value q - 1, the nonce, and i in q bytes.
fn counter(n: &[u8], q: usize, i: u64) -> Block {
    let mut ctr = vec![(q - 1) as u8];
    ctr.extend(n);
    ctr.extend(field(i, q));
    zero_padded(&ctr)
}

/// SP 800-38C, 4: [x]_8s, the number x as s bytes, the first one the most significant.
fn field(x: u64, s: usize) -> Vec<u8> {
    x.to_be_bytes()[8 - s..].to_vec()
}
