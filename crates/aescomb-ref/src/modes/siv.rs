//! SIV of RFC 5297.

use super::{Block, cmac, ctr_encrypt, double, one_zero_padded, xor, xor_first};
use crate::{Sealed, aes::Aes};

/// RFC 5297, 2.6: SIV-ENCRYPT; the tag is V, which the RFC puts before the ciphertext. `ad` has the
/// components AD1 to ADn, a nonce being the last of them (RFC 5297, 3). `None` unless the key has
/// 32, 48 or 64 bytes and there are at most 126 components.
pub fn siv_encrypt(key: &[u8], ad: &[&[u8]], p: &[u8]) -> Option<Sealed> {
    let (k1, k2) = halves(key)?;
    let v = s2v(&k1, ad, p)?;
    Some(Sealed {
        text: ctr_encrypt(&k2, &initial_counter(&v), p),
        tag: v.to_vec(),
    })
}

/// RFC 5297, 2.7: SIV-DECRYPT. `None` where [`siv_encrypt()`] gives it and for a wrong V.
pub fn siv_decrypt(key: &[u8], ad: &[&[u8]], c: &[u8], v: &Block) -> Option<Vec<u8>> {
    let (k1, k2) = halves(key)?;
    let p = ctr_encrypt(&k2, &initial_counter(v), c);
    let t = s2v(&k1, ad, &p)?;
    (t == *v).then_some(p)
}

/// RFC 5297, 2.6: K1 is the first half of the key and K2 the second.
fn halves(key: &[u8]) -> Option<(Aes, Aes)> {
    if !key.len().is_multiple_of(2) {
        return None;
    }
    let (k1, k2) = key.split_at(key.len() / 2);
    Some((Aes::new(k1)?, Aes::new(k2)?))
}

/// RFC 5297, 2.4: S2V of the strings S1 to Sn, of which `last` is Sn and `before` the others.
/// `None` for more than 127 strings (RFC 5297, 7).
fn s2v(k1: &Aes, before: &[&[u8]], last: &[u8]) -> Option<Block> {
    if before.len() > 126 {
        return None;
    }
    let mut d = cmac(k1, &[0; 16]);
    for s_i in before {
        d = xor(&double(&d), &cmac(k1, s_i));
    }
    let t = if last.len() >= 16 {
        xorend(last, &d)
    } else {
        xor(&double(&d), &one_zero_padded(last)).to_vec()
    };
    Some(cmac(k1, &t))
}

/// RFC 5297, 2.1: A xorend B, B added to the last bytes of A.
fn xorend(a: &[u8], b: &Block) -> Vec<u8> {
    let (before, end) = a.split_at(a.len() - 16);
    [before.to_vec(), xor_first(end, b)].concat()
}

/// RFC 5297, 2.6: Q, which is V with bits 31 and 63, counted from the right, cleared.
fn initial_counter(v: &Block) -> Block {
    let mut q = *v;
    q[8] &= 0b0111_1111;
    q[12] &= 0b0111_1111;
    q
}
