//! AES-CPFB of M. Montes and D. Penazzi, "AES-CPFB v1", CAESAR submission, March 2014. What the
//! bits are is that of the submission's reference code.
//!
//! Associated data and message are cut into parts of 12 bytes; the counter of each part makes it a
//! block.

use super::{Block, xor, xor_first, zero_padded};
use crate::{Sealed, aes::Aes};

/// CPFB. `None` unless the key has 16 or 32 bytes and the tag, `t` of them, 1 to 16; there must be
/// less than 2^32 bytes of associated data and less than 2^32 parts of the message, after which the
/// submission changes the key.
pub fn cpfb_encrypt(key: &[u8], n: &[u8; 12], a: &[u8], m: &[u8], t: usize) -> Option<Sealed> {
    let message = Message::new(key, n, m, t)?;
    let mut x = message.start(a, m)?;
    let mut c = Vec::new();
    let mut s = message.feed(&[], 0);
    for (i, m_i) in (1..).zip(m.chunks(12)) {
        c.extend(xor_first(m_i, &s));
        s = message.feed(m_i, i);
        x = xor(&x, &s);
    }
    let tag = message.kappa_0.encrypt_block(&x)[..t].to_vec();
    Some(Sealed { text: c, tag })
}

/// Undoes [`cpfb_encrypt()`]. `None` where that gives it and for a wrong tag.
pub fn cpfb_decrypt(key: &[u8], n: &[u8; 12], a: &[u8], c: &[u8], t: &[u8]) -> Option<Vec<u8>> {
    let message = Message::new(key, n, c, t.len())?;
    let mut x = message.start(a, c)?;
    let mut m = Vec::new();
    let mut s = message.feed(&[], 0);
    for (i, c_i) in (1..).zip(c.chunks(12)) {
        let m_i = xor_first(c_i, &s);
        s = message.feed(&m_i, i);
        x = xor(&x, &s);
        m.extend(m_i);
    }
    let expected = message.kappa_0.encrypt_block(&x);
    (*t == expected[..t.len()]).then_some(m)
}

/// The keys of a message: AES under kappa_0 and kappa_1, and the first 16 bytes of kappa_0.
struct Message {
    kappa_0: Aes,
    kappa_1: Aes,
    w: Block,
}

impl Message {
    fn new(key: &[u8], n: &[u8; 12], text: &[u8], t: usize) -> Option<Self> {
        let parts = text.len().div_ceil(12) as u64;
        if !matches!(key.len(), 16 | 32) || !(1..=16).contains(&t) || parts >> 32 != 0 {
            return None;
        }
        let aes = Aes::new(key)?;
        let kappa_0 = kappa(&aes, key.len(), n, 0);
        Some(Self {
            kappa_0: Aes::new(&kappa_0)?,
            kappa_1: Aes::new(&kappa(&aes, key.len(), n, 1))?,
            w: zero_padded(&kappa_0[..16]),
        })
    }

    /// X before the message: the sum of the lengths in bytes and of the parts of the associated
    /// data, encrypted under kappa_0. `None` for too much of those.
    fn start(&self, a: &[u8], text: &[u8]) -> Option<Block> {
        let length = u32::try_from(a.len()).ok()?;
        let lengths = (text.len() as u128) << 64 | u128::from(length) << 32;
        let mut x = self.kappa_0.encrypt_block(&lengths.to_be_bytes());
        for (i, a_i) in (1..).zip(a.chunks(12)) {
            x = xor(&x, &self.kappa_0.encrypt_block(&numbered(a_i, i)));
        }
        Some(x)
    }

    /// S_i, of the i-th part of the message, which is the keystream of the next; S_0 is that of no
    /// part.
    fn feed(&self, m_i: &[u8], i: u32) -> Block {
        self.kappa_1.encrypt_block(&xor(&numbered(m_i, i), &self.w))
    }
}

/// kappa_j, a key as long as the one it is derived from: E of the nonce and 8j + 4, and for 32
/// bytes E of that too.
fn kappa(aes: &Aes, key_bytes: usize, n: &[u8; 12], j: u32) -> Vec<u8> {
    let first = aes.encrypt_block(&numbered(n, 8 * j + 4));
    let second = aes.encrypt_block(&first);
    [first, second].as_flattened()[..key_bytes].to_vec()
}

/// A part, filled up with zeros to 12 bytes, and a number in the last 4.
fn numbered(part: &[u8], i: u32) -> Block {
    let mut block = zero_padded(part);
    block[12..].copy_from_slice(&i.to_be_bytes());
    block
}
