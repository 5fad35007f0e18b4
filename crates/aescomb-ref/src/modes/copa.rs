//! AES-COPA of E. Andreeva, A. Bogdanov, A. Luykx, B. Mennink, E. Tischhauser and K. Yasuda, CAESAR
//! submission, v2 of 2015. What the bits are is that of the submission's reference code.
//!
//! Products are those of [`double`].

use super::{Block, double, one_zero_padded, ozp, sevenfold, triple, xor, zero_padded};
use crate::{Sealed, aes::Aes};

/// COPA. The ciphertext has whole blocks, and at least one, even of no message. The tag has 17
/// bytes: T, of 16, and P, which is 1 if the last block was padded and 0 if not. The submission's
/// keys have 16 bytes.
pub fn copa_encrypt(aes: &Aes, n: &Block, a: &[u8], m: &[u8]) -> Sealed {
    let (blocks, rest) = m.as_chunks();
    let mut blocks = blocks.to_vec();
    let padded = !rest.is_empty() || blocks.is_empty();
    if padded {
        blocks.push(one_zero_padded(rest));
    }
    let l = aes.encrypt_block(&[0; 16]);
    let mut v = xor(&hash(aes, &l, n, a), &l);
    let (mut c, mut sigma) = (Vec::new(), [0; 16]);
    let masks = masks(&l, blocks.len(), padded);
    for (m_i, (before, after)) in blocks.iter().zip(&masks) {
        v = xor(&v, &aes.encrypt_block(&xor(m_i, before)));
        c.extend(xor(&aes.encrypt_block(&v), after));
        sigma = xor(&sigma, m_i);
    }
    let mut tag = tag(aes, &masks, &sigma, &v).to_vec();
    tag.push(u8::from(padded));
    Sealed { text: c, tag }
}

/// Undoes [`copa_encrypt()`]. `None` for a wrong tag, for a ciphertext that is not one block or
/// more, and for bad padding where P says that there is some. Padding may be a block of its own
/// after others, which encryption does not make.
pub fn copa_decrypt(aes: &Aes, n: &Block, a: &[u8], c: &[u8], t: &[u8; 17]) -> Option<Vec<u8>> {
    let (blocks, rest) = c.as_chunks();
    if !rest.is_empty() || blocks.is_empty() || t[16] > 1 {
        return None;
    }
    let padded = t[16] == 1;
    let l = aes.encrypt_block(&[0; 16]);
    let mut v = xor(&hash(aes, &l, n, a), &l);
    let (mut m, mut sigma) = (Vec::new(), [0; 16]);
    let masks = masks(&l, blocks.len(), padded);
    for (c_i, (before, after)) in blocks.iter().zip(&masks) {
        let v_i = aes.decrypt_block(&xor(c_i, after));
        let m_i = xor(&aes.decrypt_block(&xor(&v_i, &v)), before);
        v = v_i;
        sigma = xor(&sigma, &m_i);
        m.extend(m_i);
    }
    if t[..16] != tag(aes, &masks, &sigma, &v) {
        return None;
    }
    if padded {
        let last = m.split_off(m.len() - 16);
        let one = last.iter().rposition(|byte| *byte != 0)?;
        if last[one] != 0b1000_0000 {
            return None;
        }
        m.extend(&last[..one]);
    }
    Some(m)
}

/// The mask of each of `d` blocks before the first layer of block ciphers and that after the
/// second: 2^(i-1) 3 L and 2^i L for i = 1, ..., d. The last one before is 7 times that if the last
/// block is padded.
fn masks(l: &Block, d: usize, padded: bool) -> Vec<(Block, Block)> {
    let mut masks = Vec::new();
    let mut power = *l;
    for i in 1..=d {
        let before = triple(&power);
        power = double(&power);
        let seven = i == d && padded;
        masks.push((if seven { sevenfold(&before) } else { before }, power));
    }
    masks
}

/// T = E(E(Sigma ^ 3 m_d) ^ V_d) ^ 7 o_d, the last block's masks being m_d and o_d.
fn tag(aes: &Aes, masks: &[(Block, Block)], sigma: &Block, v: &Block) -> Block {
    let (before, after) = masks[masks.len() - 1];
    let s = aes.encrypt_block(&xor(sigma, &triple(&before)));
    xor(&aes.encrypt_block(&xor(&s, v)), &sevenfold(&after))
}

/// V, of associated data and nonce A_1 ... A_a: E of the sum of E(A_i ^ 2^(i-1) 3^3 L) over
/// i = 1, ..., a - 1, of ozp(A_a), and of 2^(a-1) 3^4 L where that is complete, 2^(a-1) 3^5 L where
/// it is not.
fn hash(aes: &Aes, l: &Block, n: &Block, a: &[u8]) -> Block {
    let header = [a, n].concat();
    // The nonce makes sure that there is a last block.
    let before = (header.len() - 1) / 16 * 16;
    let (before, last) = header.split_at(before);
    let mut sum = [0; 16];
    let mut mask = triple(&triple(&triple(l)));
    for a_i in before.chunks(16) {
        sum = xor(&sum, &aes.encrypt_block(&xor(&zero_padded(a_i), &mask)));
        mask = double(&mask);
    }
    mask = match last.len() {
        16 => triple(&mask),
        _ => triple(&triple(&mask)),
    };
    aes.encrypt_block(&xor(&xor(&sum, &ozp(last)), &mask))
}
