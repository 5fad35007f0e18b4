//! Silver of D. Penazzi and M. Montes, "Silver v1", CAESAR submission, March 2014. What the bits
//! are is that of the submission's reference code.

use super::{Block, xor, xor_first, zero_padded};
use crate::{Sealed, aes::Aes};

/// Silver. `None` unless the key has 16 bytes and the tag, `t` of them, 1 to 16.
pub fn silver_encrypt(key: &[u8], n: &Block, a: &[u8], m: &[u8], t: usize) -> Option<Sealed> {
    if !(1..=16).contains(&t) {
        return None;
    }
    let session = Session::new(key, n)?;
    let mut s = session.associated_data(a);
    let mut tweak = session.kappa;
    let mut c = Vec::new();
    let (blocks, rest) = m.as_chunks();
    for m_i in blocks {
        tweak = add(&tweak, &session.g);
        let c_i = session.tweaked(&tweak).encrypt_block(m_i);
        s = xor(&xor(&s, m_i), &add(&c_i, &tweak));
        c.extend(c_i);
    }
    if !rest.is_empty() {
        tweak = add(&tweak, &session.g);
        let z = session.last_stream(&tweak, m.len());
        c.extend(xor_first(rest, &z));
        s = xor(&s, &session.last_sum(&tweak, &z, rest));
    }
    let tag = session.full_tag(&s, a.len(), m.len())[..t].to_vec();
    Some(Sealed { text: c, tag })
}

/// Undoes [`silver_encrypt()`]. `None` where that gives it and for a wrong tag.
pub fn silver_decrypt(key: &[u8], n: &Block, a: &[u8], c: &[u8], t: &[u8]) -> Option<Vec<u8>> {
    if !(1..=16).contains(&t.len()) {
        return None;
    }
    let session = Session::new(key, n)?;
    let mut s = session.associated_data(a);
    let mut tweak = session.kappa;
    let mut m = Vec::new();
    let (blocks, rest) = c.as_chunks();
    for c_i in blocks {
        tweak = add(&tweak, &session.g);
        let m_i = session.tweaked(&tweak).decrypt_block(c_i);
        s = xor(&xor(&s, &m_i), &add(c_i, &tweak));
        m.extend(m_i);
    }
    if !rest.is_empty() {
        tweak = add(&tweak, &session.g);
        let z = session.last_stream(&tweak, c.len());
        let last = xor_first(rest, &z);
        s = xor(&s, &session.last_sum(&tweak, &z, &last));
        m.extend(last);
    }
    let expected = session.full_tag(&s, a.len(), c.len());
    (*t == expected[..t.len()]).then_some(m)
}

/// What key and nonce make: the round keys R_0 to R_10, the first tweak kappa, and G, by which
/// tweaks grow.
struct Session {
    r: [Block; 11],
    kappa: Block,
    g: Block,
}

impl Session {
    /// kappa = E(N). The round keys are sums of those of the key, U_j, and of kappa, W_j, but the
    /// ones that tweaks are added to: R_1 and R_9 are U_1 and U_9. R_0 has W_1.
    fn new(key: &[u8], n: &Block) -> Option<Self> {
        let aes = Aes::new(key)?;
        let u = aes.round_keys()?;
        let kappa = aes.encrypt_block(n);
        let w = Aes::new(&kappa)?.round_keys()?;
        let r = std::array::from_fn(|j| match j {
            0 => xor(&u[0], &w[1]),
            1 | 9 => u[j],
            _ => xor(&u[j], &w[j]),
        });
        let mut g = w[9];
        g[0] |= 1;
        g[8] |= 1;
        Some(Self { r, kappa, g })
    }

    /// The block cipher with a tweak, which is added to the round keys 1, 5 and 9.
    fn tweaked(&self, tweak: &Block) -> Aes {
        Aes::with_round_keys(&add_tweak(self.r, tweak))
    }

    /// S before the message: the sum of the encrypted blocks of associated data. The tweaks' second
    /// half does not grow, and the tweak of an incomplete block is kappa.
    fn associated_data(&self, a: &[u8]) -> Block {
        let (mut s, mut tweak) = ([0; 16], self.kappa);
        let step = zero_padded(&self.g[..8]);
        let (blocks, rest) = a.as_chunks();
        for a_i in blocks {
            tweak = add(&tweak, &step);
            s = xor(&s, &self.tweaked(&tweak).encrypt_block(a_i));
        }
        if !rest.is_empty() {
            let mut padded = zero_padded(rest);
            padded[rest.len()] = 1;
            s = xor(&s, &self.tweaked(&self.kappa).encrypt_block(&padded));
        }
        s
    }

    /// Z, the keystream of an incomplete last block of the message, which has `len` bytes.
    fn last_stream(&self, tweak: &Block, len: usize) -> Block {
        self.tweaked(tweak).encrypt_block(&lengths(len, len))
    }

    /// What such a block adds to S: the block, with Z after it and the number of its bytes at the
    /// end, encrypted with the tweak after that of Z.
    fn last_sum(&self, tweak: &Block, z: &Block, rest: &[u8]) -> Block {
        let mut q = *z;
        q[..rest.len()].copy_from_slice(rest);
        q[15] = rest.len() as u8;
        self.tweaked(&add(tweak, &self.g)).encrypt_block(&q)
    }

    /// The tag before it is cut: S, encrypted with the round keys in another order.
    fn full_tag(&self, s: &Block, a: usize, m: usize) -> Block {
        let round_keys = [2, 9, 3, 4, 6, 1, 7, 8, 10, 5, 0].map(|j: usize| self.r[j]);
        let v = add(&self.kappa, &lengths(a, m));
        Aes::with_round_keys(&add_tweak(round_keys, &v)).encrypt_block(s)
    }
}

fn add_tweak(mut round_keys: [Block; 11], tweak: &Block) -> [Block; 11] {
    for j in [1, 5, 9] {
        round_keys[j] = xor(&round_keys[j], tweak);
    }
    round_keys
}

/// Two numbers of bytes as a block, little-endian.
fn lengths(first: usize, second: usize) -> Block {
    ((second as u128) << 64 | first as u128).to_le_bytes()
}

/// The sums modulo 2^64 of the halves of two blocks, little-endian.
fn add(x: &Block, y: &Block) -> Block {
    let (x, y) = (u128::from_le_bytes(*x), u128::from_le_bytes(*y));
    let first = (x as u64).wrapping_add(y as u64);
    let second = ((x >> 64) as u64).wrapping_add((y >> 64) as u64);
    (u128::from(second) << 64 | u128::from(first)).to_le_bytes()
}
