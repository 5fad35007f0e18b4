//! McOE-G of E. Fleischmann, C. Forler and S. Lucks, "McOE: A Family of Almost Foolproof On-Line
//! Authenticated Encryption Schemes", FSE 2012, with AES-128.
//!
//! The generic scheme is that of C. Forler's Ada-Crypto-Library. No code of McOE-G itself is known,
//! and these parts are a completion of what is published of it, so that other implementations may
//! give other outputs: one key of 16 bytes, from which K1 and K2 are derived; the bit order of
//! GHASH in the products; a nonce of 12 bytes, with which the number of bytes of associated data
//! makes the first block of the header; and zeros that fill the header up. That E~ adds U * K2 on
//! both sides of the block cipher is recalled.

use super::gcm::multiply;
use super::{Block, xor, zero_padded};
use crate::{Sealed, aes::Aes};

/// McOE-G. `None` unless the key has 16 bytes and there are less than 2^32 bytes of associated
/// data.
///
/// With r bytes left after the last whole block, these and the first bytes of tau make a block to
/// encrypt, and its last 16 - r bytes and the first r of E~(U, tau) are the tag.
pub fn mcoe_g_encrypt(key: &[u8], n: &[u8; 12], a: &[u8], m: &[u8]) -> Option<Sealed> {
    let cipher = Tweakable::new(key)?;
    let (tau, mut u) = cipher.header(n, a)?;
    let mut c = Vec::new();
    let (blocks, rest) = m.as_chunks();
    for m_i in blocks {
        let c_i = cipher.encrypt(&u, m_i);
        u = xor(m_i, &c_i);
        c.extend(c_i);
    }
    let r = rest.len();
    if r > 0 {
        let filled = zero_padded(&[rest, &tau[..16 - r]].concat());
        let x = xor(&filled, &cipher.length_mask(r));
        let y = cipher.encrypt(&u, &x);
        u = xor(&x, &y);
        c.extend(y);
    }
    let last = cipher.encrypt(&u, &tau);
    c.extend(&last[..if r > 0 { r } else { 16 }]);
    let tag = c.split_off(m.len());
    Some(Sealed { text: c, tag })
}

/// Undoes [`mcoe_g_encrypt()`]. `None` where that gives it and for a wrong tag.
pub fn mcoe_g_decrypt(key: &[u8], n: &[u8; 12], a: &[u8], c: &[u8], t: &Block) -> Option<Vec<u8>> {
    let cipher = Tweakable::new(key)?;
    let (tau, mut u) = cipher.header(n, a)?;
    let mut m = Vec::new();
    let (blocks, rest) = c.as_chunks();
    for c_i in blocks {
        let m_i = cipher.decrypt(&u, c_i);
        u = xor(&m_i, c_i);
        m.extend(m_i);
    }
    let r = rest.len();
    if r == 0 {
        return (*t == cipher.encrypt(&u, &tau)).then_some(m);
    }
    let (alpha, beta) = t.split_at(16 - r);
    let y = zero_padded(&[rest, alpha].concat());
    let x = cipher.decrypt(&u, &y);
    u = xor(&x, &y);
    let filled = xor(&x, &cipher.length_mask(r));
    m.extend(&filled[..r]);
    let last = cipher.encrypt(&u, &tau);
    (filled[r..] == tau[..16 - r] && *beta == last[..r]).then_some(m)
}

/// E~, a block cipher with a tweak U: E~(U, X) = E(X ^ h) ^ h with h = U * K2, E being AES under
/// K1.
struct Tweakable {
    k1: Aes,
    k2: Block,
}

impl Tweakable {
    /// K1 and K2 are encryptions of 1 and 2 under the key.
    fn new(key: &[u8]) -> Option<Self> {
        if key.len() != 16 {
            return None;
        }
        let aes = Aes::new(key)?;
        let derived = |i: u128| aes.encrypt_block(&i.to_be_bytes());
        Some(Self {
            k1: Aes::new(&derived(1))?,
            k2: derived(2),
        })
    }

    fn encrypt(&self, u: &Block, x: &Block) -> Block {
        let h = multiply(u, &self.k2);
        xor(&self.k1.encrypt_block(&xor(x, &h)), &h)
    }

    fn decrypt(&self, u: &Block, y: &Block) -> Block {
        let h = multiply(u, &self.k2);
        xor(&self.k1.decrypt_block(&xor(y, &h)), &h)
    }

    /// F_r, the mask of a last block of which `r` bytes are of the message: E~ of r, the tweak
    /// being all ones.
    fn length_mask(&self, r: usize) -> Block {
        self.encrypt(&[0xff; 16], &(r as u128).to_be_bytes())
    }

    /// tau and U after the header H_1 ... H_n: tau = E~(U, H_i) and U = tau ^ H_i, beginning with
    /// U = 0.
    fn header(&self, n: &[u8; 12], a: &[u8]) -> Option<(Block, Block)> {
        let length = u32::try_from(a.len()).ok()?;
        let header = [n, &length.to_be_bytes()[..], a].concat();
        let (mut tau, mut u) = ([0; 16], [0; 16]);
        for h_i in header.chunks(16).map(zero_padded) {
            tau = self.encrypt(&u, &h_i);
            u = xor(&tau, &h_i);
        }
        Some((tau, u))
    }
}
