//! AES-OTR of K. Minematsu, CAESAR submission, v3 of April 2016, with associated data processed in
//! parallel (its variant p). What the bits are is that of the submission's reference code.
//!
//! Products are those of [`double`].

use super::{Block, double, ozp, sevenfold, triple, xor, xor_first, zero_padded};
use crate::{Sealed, aes::Aes};

/// OTR. `None` unless the nonce has 1 to 15 bytes and the tag, `t` of them, 4 to 16.
pub fn otr_encrypt(aes: &Aes, n: &[u8], a: &[u8], m: &[u8], t: usize) -> Option<Sealed> {
    if !lengths_allowed(n, t) {
        return None;
    }
    let (mut c, mut sum) = (Vec::new(), [0; 16]);
    let mut l = aes.encrypt_block(&format(n, t));
    let (chunks, last) = chunks(m);
    for [x, y] in chunks {
        let c_1 = xor(&aes.encrypt_block(&xor(x, &l)), y);
        let c_2 = xor(&aes.encrypt_block(&xor(&c_1, &triple(&l))), x);
        c.extend([c_1, c_2].as_flattened());
        sum = xor(&sum, y);
        l = double(&l);
    }
    let mask = if last.len() <= 16 {
        c.extend(xor_first(last, &aes.encrypt_block(&l)));
        sum = xor(&sum, &ozp(last));
        l
    } else {
        let (x, y) = last.split_at(16);
        let x = zero_padded(x);
        let z = aes.encrypt_block(&xor(&x, &l));
        let c_2 = xor_first(y, &z);
        let c_1 = xor(&aes.encrypt_block(&xor(&ozp(&c_2), &triple(&l))), &x);
        c.extend(c_1);
        sum = xor(&xor(&sum, &z), &ozp(&c_2));
        c.extend(c_2);
        triple(&l)
    };
    let tag = full_tag(aes, &sum, &mask, last.len(), a)[..t].to_vec();
    Some(Sealed { text: c, tag })
}

/// Undoes [`otr_encrypt()`]. `None` for lengths that are not allowed and for a wrong tag.
pub fn otr_decrypt(aes: &Aes, n: &[u8], a: &[u8], c: &[u8], t: &[u8]) -> Option<Vec<u8>> {
    if !lengths_allowed(n, t.len()) {
        return None;
    }
    let (mut m, mut sum) = (Vec::new(), [0; 16]);
    let mut l = aes.encrypt_block(&format(n, t.len()));
    let (chunks, last) = chunks(c);
    for [c_1, c_2] in chunks {
        let x = xor(&aes.encrypt_block(&xor(c_1, &triple(&l))), c_2);
        let y = xor(&aes.encrypt_block(&xor(&x, &l)), c_1);
        m.extend([x, y].as_flattened());
        sum = xor(&sum, &y);
        l = double(&l);
    }
    let mask = if last.len() <= 16 {
        let p = xor_first(last, &aes.encrypt_block(&l));
        sum = xor(&sum, &ozp(&p));
        m.extend(p);
        l
    } else {
        let (c_1, c_2) = last.split_at(16);
        let input = xor(&ozp(c_2), &triple(&l));
        let x = xor(&aes.encrypt_block(&input), &zero_padded(c_1));
        let z = aes.encrypt_block(&xor(&x, &l));
        m.extend(x);
        m.extend(xor_first(c_2, &z));
        sum = xor(&xor(&sum, &z), &ozp(c_2));
        triple(&l)
    };
    let expected = full_tag(aes, &sum, &mask, last.len(), a);
    (*t == expected[..t.len()]).then_some(m)
}

fn lengths_allowed(n: &[u8], t: usize) -> bool {
    (1..=15).contains(&n.len()) && (4..=16).contains(&t)
}

/// The chunks of two blocks of a text but the last one, and the last one, of 0 to 32 bytes: it is
/// only empty if the text is.
fn chunks(text: &[u8]) -> (&[[Block; 2]], &[u8]) {
    let before = text.len().saturating_sub(1) / 32 * 32;
    let (before, last) = text.split_at(before);
    (before.as_chunks().0.as_chunks().0, last)
}

/// Format(N): the tag's length in bits, modulo 128, in 7 bits; zeros, a 1 and the nonce.
fn format(n: &[u8], t: usize) -> Block {
    let mut block = [0; 16];
    block[0] = ((8 * t % 128) << 1) as u8;
    block[15 - n.len()] |= 1;
    block[16 - n.len()..].copy_from_slice(n);
    block
}

/// The tag before it is cut, TE ^ TA, where TE = E(Sum ^ 7D) if the last chunk, of `r` bytes, ends
/// with its first or second block, and E(Sum ^ 5D) if it does not. D, `mask`, is the mask of the
/// last block.
fn full_tag(aes: &Aes, sum: &Block, mask: &Block, r: usize, a: &[u8]) -> Block {
    let mask = match r {
        16 | 32 => sevenfold(mask),
        _ => fivefold(mask),
    };
    xor(&aes.encrypt_block(&xor(sum, &mask)), &hash(aes, a))
}

/// TA, of the associated data A_1 ... A_a, with Q = E(0): E of the sum of E(A_i ^ 2^(i-1) Q) over
/// i = 1, ..., a - 1, of ozp(A_a), and of 2^(a-1) 5 Q where that is complete, 2^(a-1) 3 Q where it
/// is not. 0 if there are none.
fn hash(aes: &Aes, a: &[u8]) -> Block {
    let mut blocks: Vec<&[u8]> = a.chunks(16).collect();
    let Some(last) = blocks.pop() else {
        return [0; 16];
    };
    let mut sum = [0; 16];
    let mut mask = aes.encrypt_block(&[0; 16]);
    for a_i in blocks {
        sum = xor(&sum, &aes.encrypt_block(&xor(&zero_padded(a_i), &mask)));
        mask = double(&mask);
    }
    mask = match last.len() {
        16 => fivefold(&mask),
        _ => triple(&mask),
    };
    aes.encrypt_block(&xor(&xor(&sum, &ozp(last)), &mask))
}

/// The product with 5, which is 3^2.
fn fivefold(x: &Block) -> Block {
    triple(&triple(x))
}
