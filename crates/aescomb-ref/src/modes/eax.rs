//! EAX: Bellare, Rogaway and Wagner, "The EAX Mode of Operation" (FSE 2004), figure 4.
//!
//! `n`, `h`, `m` and `c` are nonce, header (the associated data), message and ciphertext, each of
//! any length. What the paper writes in a script letter has an `_` after it: `n_` is the OMAC of
//! `n`.

use super::{Block, cmac, ctr_encrypt, xor};
use crate::{Sealed, aes::Aes};

/// EAX.Encrypt. `None` unless the tag has 1 to 16 bytes.
pub fn eax_encrypt(aes: &Aes, n: &[u8], h: &[u8], m: &[u8], tag_bytes: usize) -> Option<Sealed> {
    if !(1..=16).contains(&tag_bytes) {
        return None;
    }
    let n_ = omac(aes, 0, n);
    let c = ctr_encrypt(aes, &n_, m);
    Some(Sealed {
        tag: tag(aes, &n_, h, &c)[..tag_bytes].to_vec(),
        text: c,
    })
}

/// EAX.Decrypt. `None` where [`eax_encrypt()`] gives it and for a wrong tag.
pub fn eax_decrypt(aes: &Aes, n: &[u8], h: &[u8], c: &[u8], t: &[u8]) -> Option<Vec<u8>> {
    if !(1..=16).contains(&t.len()) {
        return None;
    }
    let n_ = omac(aes, 0, n);
    (tag(aes, &n_, h, c)[..t.len()] == *t).then(|| ctr_encrypt(aes, &n_, c))
}

/// The tag before it is cut: the sum of the OMACs of nonce, header and ciphertext.
fn tag(aes: &Aes, n_: &Block, h: &[u8], c: &[u8]) -> Block {
    let h_ = omac(aes, 1, h);
    let c_ = omac(aes, 2, c);
    xor(&xor(n_, &c_), &h_)
}

/// OMAC^t: the OMAC, which is CMAC, of the number t as a block and then the string.
fn omac(aes: &Aes, t: u8, string: &[u8]) -> Block {
    let mut tweaked = vec![0; 15];
    tweaked.push(t);
    tweaked.extend(string);
    cmac(aes, &tweaked)
}
