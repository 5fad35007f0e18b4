//! POET of F. Abed, S. Fluhrer, J. Foley, C. Forler, E. List, S. Lucks, D. McGrew and J. Wenzel,
//! CAESAR submission, v2.0 of August 2015: the member of the family whose hash function is the
//! whole AES-128, without intermediate tags. What the bits are is that of the submission's
//! reference code.

use super::{Block, one_zero_padded, xor, zero_padded};
use crate::{Sealed, aes::Aes};

/// POET. The bytes of the tag are those that follow the ciphertext: what is left of the last block,
/// which tau fills up, and then those of the block after it. `None` unless the key has 16 bytes.
pub fn poet_encrypt(key: &[u8], n: &Block, a: &[u8], m: &[u8]) -> Option<Sealed> {
    let keys = Keys::new(key)?;
    let tau = keys.header(n, a);
    let mut chain = Chain::new(&keys, &tau);
    let (blocks, last) = split(m);
    let mut out: Vec<u8> = blocks.iter().flat_map(|m_i| chain.forward(m_i)).collect();
    let s = keys.length(m.len());
    let b = last_block(last, &tau);
    out.extend(xor(&chain.forward(&xor(&b, &s)), &s));
    let w = xor(&chain.forward(&tau), &tau);
    out.extend(&w[..last.len()]);
    let tag = out.split_off(m.len());
    Some(Sealed { text: out, tag })
}

/// Undoes [`poet_encrypt()`]. `None` for a wrong tag, and unless the key has 16 bytes.
pub fn poet_decrypt(key: &[u8], n: &Block, a: &[u8], c: &[u8], t: &Block) -> Option<Vec<u8>> {
    let keys = Keys::new(key)?;
    let tau = keys.header(n, a);
    let mut chain = Chain::new(&keys, &tau);
    let (blocks, last) = split(c);
    let mut m: Vec<u8> = blocks.iter().flat_map(|c_i| chain.backward(c_i)).collect();
    let s = keys.length(c.len());
    let z = last_block(last, t);
    let b = xor(&chain.backward(&xor(&z, &s)), &s);
    m.extend(&b[..last.len()]);
    let w = xor(&chain.forward(&tau), &tau);
    let beyond = 16 - last.len();
    (b[last.len()..] == tau[..beyond] && t[beyond..] == w[..last.len()]).then_some(m)
}

/// The blocks of a text but the last one, and the last one, of 0 to 16 bytes: it is only empty if
/// the text is.
fn split(text: &[u8]) -> (&[Block], &[u8]) {
    let before = text.len().saturating_sub(1) / 16 * 16;
    let (before, last) = text.split_at(before);
    (before.as_chunks().0, last)
}

/// The last block, filled up with the first bytes of another.
fn last_block(last: &[u8], other: &Block) -> Block {
    zero_padded(&[last, &other[..16 - last.len()]].concat())
}

/// What depends on nothing but the key: the block cipher E, the hash function F and the mask L.
struct Keys {
    e: Aes,
    f: Aes,
    l: Block,
}

impl Keys {
    /// All keys are encryptions of a number under the secret key.
    fn new(key: &[u8]) -> Option<Self> {
        if key.len() != 16 {
            return None;
        }
        let sk = Aes::new(key)?;
        let derived = |i: u128| sk.encrypt_block(&i.to_be_bytes());
        Some(Self {
            e: Aes::new(&derived(0))?,
            l: derived(1),
            f: Aes::new(&derived(2))?,
        })
    }

    /// tau, E of the sum of E(H_i ^ 2^i L): H_0 is the parameter block, of zeros where there are no
    /// intermediate tags, and the others are the associated data and the nonce, with 10* always
    /// appended.
    fn header(&self, n: &Block, a: &[u8]) -> Block {
        let header = [a, n].concat();
        let (blocks, rest) = header.as_chunks();
        let mut mask = self.l;
        let mut sum = self.e.encrypt_block(&mask);
        for h_i in blocks.iter().chain([&one_zero_padded(rest)]) {
            mask = double(&mask);
            sum = xor(&sum, &self.e.encrypt_block(&xor(h_i, &mask)));
        }
        self.e.encrypt_block(&sum)
    }

    /// S, of the message's length in bits.
    fn length(&self, bytes: usize) -> Block {
        let bits = 8 * bytes as u128;
        self.e.encrypt_block(&bits.to_le_bytes())
    }
}

/// The chaining values: X, before the block cipher, and Y, after it.
struct Chain<'a> {
    keys: &'a Keys,
    x: Block,
    y: Block,
}

impl<'a> Chain<'a> {
    /// X_0 = tau, and Y_0 is that with the last bit inverted.
    fn new(keys: &'a Keys, tau: &Block) -> Self {
        let mut y = *tau;
        y[15] ^= 1;
        Self { keys, x: *tau, y }
    }

    /// X_i = F(X_(i-1)) ^ M_i, Y_i = E(X_i), C_i = Y_i ^ F(Y_(i-1)).
    fn forward(&mut self, m_i: &Block) -> Block {
        let x = xor(&self.keys.f.encrypt_block(&self.x), m_i);
        let y = self.keys.e.encrypt_block(&x);
        let c_i = xor(&y, &self.keys.f.encrypt_block(&self.y));
        (self.x, self.y) = (x, y);
        c_i
    }

    /// The same from C_i to M_i.
    fn backward(&mut self, c_i: &Block) -> Block {
        let y = xor(&self.keys.f.encrypt_block(&self.y), c_i);
        let x = self.keys.e.decrypt_block(&y);
        let m_i = xor(&x, &self.keys.f.encrypt_block(&self.x));
        (self.x, self.y) = (x, y);
        m_i
    }
}

/// The product with 2 in the field of GCM, whose leftmost bit is the coefficient of 1.
fn double(x: &Block) -> Block {
    const R: u128 = 0b1110_0001 << 120;
    let x = u128::from_be_bytes(*x);
    let doubled = if x & 1 == 0 { x >> 1 } else { (x >> 1) ^ R };
    doubled.to_be_bytes()
}
