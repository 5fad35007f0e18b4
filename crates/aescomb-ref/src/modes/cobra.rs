//! COBRA of E. Andreeva, A. Luykx, B. Mennink and K. Yasuda, "COBRA: A Parallelizable Authenticated
//! Online Cipher Without Block Cipher Inverse", FSE 2014, with AES-128.
//!
//! No code of it is known, and what is published leaves bits open. These parts are a completion, in
//! the style of COPA by the same authors, so that other implementations may give other outputs: the
//! keys L and J, the masks, all that is done with nonce and associated data, the tag, and messages
//! that are not pairs of blocks. How a pair of blocks is encrypted is recalled. The number of block
//! ciphers and products is the published one.
//!
//! Products are those of [`product`]; L = E(0) makes the masks, and J = E(1) is
//! what is multiplied by.

use super::{Block, double, ozp, product, sevenfold, triple, xor, xor_first};
use crate::{Sealed, aes::Aes};

/// COBRA. Its keys have 16 bytes.
///
/// Of the i-th pair of blocks, V_i = (V_(i-1) J ^ M_(2i-1)) J ^ M_(2i), rho_i is E of V_i and the
/// mask 2^(i-1) 3 L, C_(2i-1) = M_(2i-1) ^ rho_i, sigma_i is E of C_(2i-1) and the mask 2^i L, and
/// C_(2i) = V_i ^ sigma_i. The tag is made of the sum of all rho_i and sigma_i.
pub fn cobra_encrypt(aes: &Aes, n: &Block, a: &[u8], m: &[u8]) -> Sealed {
    let keys = Keys::new(aes);
    let v_0 = keys.start(n, a);
    let (mut c, mut sum) = (Vec::new(), [0; 16]);
    let (mut v, mut power) = (v_0, keys.l);
    let (pairs, tail) = m.as_chunks::<32>();
    for pair in pairs {
        let [m_1, m_2] = blocks(pair);
        v = keys.chain(&v, &m_1, &m_2);
        let rho = aes.encrypt_block(&xor(&v, &triple(&power)));
        power = double(&power);
        let c_1 = xor(&m_1, &rho);
        let sigma = aes.encrypt_block(&xor(&c_1, &power));
        c.extend([c_1, xor(&v, &sigma)].as_flattened());
        sum = xor(&xor(&sum, &rho), &sigma);
    }
    let tag = keys.tag(&v_0, &v, &power, &sum, tail);
    c.extend(keys.tail(&tag, tail));
    Sealed {
        text: c,
        tag: tag.to_vec(),
    }
}

/// Undoes [`cobra_encrypt()`]; `None` for a wrong tag.
pub fn cobra_decrypt(aes: &Aes, n: &Block, a: &[u8], c: &[u8], t: &Block) -> Option<Vec<u8>> {
    let keys = Keys::new(aes);
    let v_0 = keys.start(n, a);
    let (mut m, mut sum) = (Vec::new(), [0; 16]);
    let (mut v, mut power) = (v_0, keys.l);
    let (pairs, tail) = c.as_chunks::<32>();
    for pair in pairs {
        let [c_1, c_2] = blocks(pair);
        let rho_mask = triple(&power);
        power = double(&power);
        let sigma = aes.encrypt_block(&xor(&c_1, &power));
        let v_i = xor(&c_2, &sigma);
        let rho = aes.encrypt_block(&xor(&v_i, &rho_mask));
        let m_1 = xor(&c_1, &rho);
        // The chain with M_(2i) = 0 lacks just that of V_i.
        let m_2 = xor(&keys.chain(&v, &m_1, &[0; 16]), &v_i);
        v = v_i;
        m.extend([m_1, m_2].as_flattened());
        sum = xor(&xor(&sum, &rho), &sigma);
    }
    let tail = keys.tail(t, tail);
    let expected = keys.tag(&v_0, &v, &power, &sum, &tail);
    m.extend(tail);
    (*t == expected).then_some(m)
}

/// The two blocks of a pair.
fn blocks(pair: &[u8; 32]) -> [Block; 2] {
    std::array::from_fn(|i| std::array::from_fn(|j| pair[16 * i + j]))
}

/// The block cipher and its keys L and J.
struct Keys<'a> {
    aes: &'a Aes,
    l: Block,
    j: Block,
}

impl<'a> Keys<'a> {
    fn new(aes: &'a Aes) -> Self {
        Self {
            aes,
            l: aes.encrypt_block(&[0; 16]),
            j: aes.encrypt_block(&1_u128.to_be_bytes()),
        }
    }

    /// V_0 = E(N ^ U ^ 7 L). U is 0 if there are no associated data; with the blocks A_1 ... A_a
    /// of them it is E of J^a ^ A_1 J^(a-1) ^ ... ^ A_a and of a mask: 3^4 L if the last block is
    /// complete, 3^5 L if 10* had to be appended.
    fn start(&self, n: &Block, a: &[u8]) -> Block {
        let mut u = [0; 16];
        if !a.is_empty() {
            let mut hash = 1_u128.to_be_bytes();
            for a_i in a.chunks(16).map(ozp) {
                hash = xor(&product(&hash, &self.j), &a_i);
            }
            let mut mask = triple(&triple(&triple(&triple(&self.l))));
            if !a.len().is_multiple_of(16) {
                mask = triple(&mask);
            }
            u = self.aes.encrypt_block(&xor(&hash, &mask));
        }
        let sum = xor(&xor(n, &u), &sevenfold(&self.l));
        self.aes.encrypt_block(&sum)
    }

    /// (V J ^ M_1) J ^ M_2.
    fn chain(&self, v: &Block, m_1: &Block, m_2: &Block) -> Block {
        let half = xor(&product(v, &self.j), m_1);
        xor(&product(&half, &self.j), m_2)
    }

    /// T = E(E(Sum ^ 2^l 3^e 7 L) ^ V_0 ^ 7^2 L) after l pairs, `power` being 2^l L; e = 1, but
    /// with a tail e = 2, and first the sum takes in E of V and the mask 2^l 3^2 L, V being that of
    /// the tail with 10* appended.
    fn tag(&self, v_0: &Block, v: &Block, power: &Block, sum: &Block, tail: &[u8]) -> Block {
        let mut sum = *sum;
        let mut mask = triple(power);
        if !tail.is_empty() {
            let mut padded = [0; 32];
            padded[..tail.len()].copy_from_slice(tail);
            padded[tail.len()] = 0b1000_0000;
            let [p_1, p_2] = blocks(&padded);
            mask = triple(&mask);
            let v = self.chain(v, &p_1, &p_2);
            sum = xor(&sum, &self.aes.encrypt_block(&xor(&v, &mask)));
        }
        let s = self.aes.encrypt_block(&xor(&sum, &sevenfold(&mask)));
        let mask = sevenfold(&sevenfold(&self.l));
        self.aes.encrypt_block(&xor(&xor(&s, v_0), &mask))
    }

    /// The sum of a tail, of 0 to 31 bytes, and of E(T ^ 2 7^2 L), E(T ^ 2^2 7^2 L).
    fn tail(&self, tag: &Block, tail: &[u8]) -> Vec<u8> {
        let mut mask = sevenfold(&sevenfold(&self.l));
        let mut out = Vec::new();
        for part in tail.chunks(16) {
            mask = double(&mask);
            out.extend(xor_first(part, &self.aes.encrypt_block(&xor(tag, &mask))));
        }
        out
    }
}
