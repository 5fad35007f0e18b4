//! AES-CLOC of T. Iwata, K. Minematsu, J. Guo, S. Morioka and E. Kobayashi, "CLOC and SILC v3",
//! CAESAR submission, September 2016: CFB, and a MAC over its ciphertext.
//!
//! Of the parameter sets, it is the one of AES-128 with a nonce of 12 bytes and a tag of 8. What
//! the bits are is that of the submission's reference code.

use super::{Block, ozp, xor, xor_first, zero_padded};
use crate::{Sealed, aes::Aes};

/// The byte that names the parameter set.
const PARAM: u8 = 0xc0;

/// CLOC: V = HASH(N, A), C = ENC(V, M), T = PRF(V, C). The submission's keys have 16 bytes.
pub fn cloc_encrypt(aes: &Aes, n: &[u8; 12], a: &[u8], m: &[u8]) -> Sealed {
    let v = hash(aes, n, a);
    let c = forced_cfb_encrypt(aes, &v, m);
    let tag = prf(aes, &v, &c).to_vec();
    Sealed { text: c, tag }
}

/// Undoes [`cloc_encrypt()`]; `None` for a wrong tag.
pub fn cloc_decrypt(aes: &Aes, n: &[u8; 12], a: &[u8], c: &[u8], t: &[u8; 8]) -> Option<Vec<u8>> {
    let v = hash(aes, n, a);
    (*t == prf(aes, &v, c)).then(|| forced_cfb_decrypt(aes, &v, c))
}

/// HASH, from nonce and associated data to V.
fn hash(aes: &Aes, n: &[u8; 12], a: &[u8]) -> Block {
    // There is a first block even of no associated data.
    let (a_1, others) = a.split_at(a.len().min(16));
    let b = ozp(a_1);
    let mut s = aes.encrypt_block(&fix0(&b));
    if b[0] >> 7 == 1 {
        s = h(&s);
    }
    for a_i in others.chunks(16) {
        s = aes.encrypt_block(&xor(&s, &ozp(a_i)));
    }
    let p = ozp(&[&[PARAM], &n[..]].concat());
    let whole = !a.is_empty() && a.len().is_multiple_of(16);
    let sum = xor(&s, &p);
    if whole { f1(&sum) } else { f2(&sum) }
}

/// ENC of CLOC and SILC: C_i = M_i ^ K_i with K_1 = E(V) and K_(i+1) = E(fix1(C_i)).
pub(super) fn forced_cfb_encrypt(aes: &Aes, v: &Block, m: &[u8]) -> Vec<u8> {
    let mut c = Vec::new();
    let mut input = *v;
    for m_i in m.chunks(16) {
        let c_i = xor_first(m_i, &aes.encrypt_block(&input));
        input = fix1(&zero_padded(&c_i));
        c.extend(c_i);
    }
    c
}

/// Undoes ENC.
pub(super) fn forced_cfb_decrypt(aes: &Aes, v: &Block, c: &[u8]) -> Vec<u8> {
    let mut m = Vec::new();
    let mut input = *v;
    for c_i in c.chunks(16) {
        m.extend(xor_first(c_i, &aes.encrypt_block(&input)));
        input = fix1(&zero_padded(c_i));
    }
    m
}

/// PRF, from V and the ciphertext to the tag.
fn prf(aes: &Aes, v: &Block, c: &[u8]) -> [u8; 8] {
    let mut blocks: Vec<&[u8]> = c.chunks(16).collect();
    let u = match blocks.pop() {
        None => aes.encrypt_block(&g1(v)),
        Some(last) => {
            let mut u = aes.encrypt_block(&g2(v));
            for c_i in blocks {
                u = aes.encrypt_block(&xor(&u, &zero_padded(c_i)));
            }
            let sum = xor(&u, &ozp(last));
            let whole = last.len() == 16;
            aes.encrypt_block(&if whole { f1(&sum) } else { f2(&sum) })
        }
    };
    std::array::from_fn(|i| u[i])
}

/// The first bit becomes 0.
fn fix0(x: &Block) -> Block {
    let mut fixed = *x;
    fixed[0] &= 0b0111_1111;
    fixed
}

/// The first bit becomes 1.
fn fix1(x: &Block) -> Block {
    let mut fixed = *x;
    fixed[0] |= 0b1000_0000;
    fixed
}

fn f1(x: &Block) -> Block {
    let [w1, w2, w3, w4] = words(x);
    block([w1 ^ w3, w2 ^ w4, w1 ^ w2 ^ w3, w2 ^ w3 ^ w4])
}

fn f2(x: &Block) -> Block {
    let [w1, w2, w3, w4] = words(x);
    block([w2, w3, w4, w1 ^ w2])
}

fn g1(x: &Block) -> Block {
    let [w1, w2, w3, w4] = words(x);
    block([w3, w4, w1 ^ w2, w2 ^ w3])
}

fn g2(x: &Block) -> Block {
    let [w1, w2, w3, w4] = words(x);
    block([w2, w3, w4, w1 ^ w2])
}

fn h(x: &Block) -> Block {
    let [w1, w2, w3, w4] = words(x);
    block([w1 ^ w2, w2 ^ w3, w3 ^ w4, w1 ^ w2 ^ w4])
}

/// A block's words of 4 bytes.
fn words(x: &Block) -> [u32; 4] {
    std::array::from_fn(|i| u32::from_be_bytes(std::array::from_fn(|j| x[4 * i + j])))
}

/// The block of these words.
fn block(words: [u32; 4]) -> Block {
    zero_padded(words.map(u32::to_be_bytes).as_flattened())
}
