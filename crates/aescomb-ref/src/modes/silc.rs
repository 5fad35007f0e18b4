//! AES-SILC of T. Iwata, K. Minematsu, J. Guo, S. Morioka and E. Kobayashi, "CLOC and SILC v3",
//! CAESAR submission, September 2016: CLOC for small hardware.
//!
//! Of the parameter sets, it is the one of AES-128 with a nonce of 12 bytes and a tag of 8. What
//! the bits are is that of the submission's reference code.

use super::cloc::{forced_cfb_decrypt, forced_cfb_encrypt};
use super::{Block, xor, zero_padded};
use crate::{Sealed, aes::Aes};

/// The byte that names the parameter set.
const PARAM: u8 = 0xc0;

/// SILC: V = HASH(N, A), C = ENC(V, M), T = PRF(V, C). The submission's keys have 16 bytes.
pub fn silc_encrypt(aes: &Aes, n: &[u8; 12], a: &[u8], m: &[u8]) -> Sealed {
    let v = hash(aes, n, a);
    let c = forced_cfb_encrypt(aes, &v, m);
    let tag = prf(aes, &v, &c).to_vec();
    Sealed { text: c, tag }
}

/// Undoes [`silc_encrypt()`]; `None` for a wrong tag.
pub fn silc_decrypt(aes: &Aes, n: &[u8; 12], a: &[u8], c: &[u8], t: &[u8; 8]) -> Option<Vec<u8>> {
    let v = hash(aes, n, a);
    (*t == prf(aes, &v, c)).then(|| forced_cfb_decrypt(aes, &v, c))
}

/// HASH, from nonce and associated data to V.
fn hash(aes: &Aes, n: &[u8; 12], a: &[u8]) -> Block {
    let start = [&[0, 0, 0, PARAM], &n[..]].concat();
    let s = absorb(aes, aes.encrypt_block(&zero_padded(&start)), a);
    g(&xor(&s, &length(a)))
}

/// PRF, from V and the ciphertext to the tag.
fn prf(aes: &Aes, v: &Block, c: &[u8]) -> [u8; 8] {
    let u = absorb(aes, aes.encrypt_block(&g(v)), c);
    let u = aes.encrypt_block(&g(&xor(&u, &length(c))));
    std::array::from_fn(|i| u[i])
}

/// S = E(S ^ zap(X_i)) for the blocks X_i of a text, of which zap fills the last one up with zeros.
fn absorb(aes: &Aes, mut s: Block, text: &[u8]) -> Block {
    for x_i in text.chunks(16) {
        s = aes.encrypt_block(&xor(&s, &zero_padded(x_i)));
    }
    s
}

/// len: a text's number of bytes as a block.
fn length(text: &[u8]) -> Block {
    (text.len() as u128).to_be_bytes()
}

/// Every byte moves to the left by one; the last one is the sum of the first two.
fn g(x: &Block) -> Block {
    std::array::from_fn(|i| if i < 15 { x[i + 1] } else { x[0] ^ x[1] })
}
