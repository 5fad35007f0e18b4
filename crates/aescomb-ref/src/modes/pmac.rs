//! PMAC1 of P. Rogaway, "Efficient Instantiations of Tweakable Blockciphers and Refinements to
//! Modes OCB and PMAC", Asiacrypt 2004.
//!
//! Products are those of the field of x^128 + x^7 + x^2 + x + 1, blocks being big-endian: 2 is x
//! and 3 is x + 1.

use super::{Block, double, one_zero_padded, triple, xor, zero_padded};
use crate::aes::Aes;

/// PMAC1, the full tag of the text M_1 ... M_m, with L = E(0):
/// the sum of E(M_i ^ 2^i L) over i = 1, ..., m - 1 is added to the last block, and the tag is E of
/// that ^ 2^m 3 L where the last block is complete, and of that ^ 2^m 3^2 L after 10* is appended
/// where it is not. The empty text is one empty block.
pub fn pmac(aes: &Aes, text: &[u8]) -> Block {
    let mut blocks: Vec<&[u8]> = text.chunks(16).collect();
    let last = blocks.pop().unwrap_or(&[]);
    let l = aes.encrypt_block(&[0; 16]);
    let mut sum = [0; 16];
    let mut mask = double(&l);
    for m_i in blocks {
        sum = xor(&sum, &aes.encrypt_block(&xor(&zero_padded(m_i), &mask)));
        mask = double(&mask);
    }
    // The mask is 2^m L here.
    if last.len() == 16 {
        sum = xor(&sum, &zero_padded(last));
        mask = triple(&mask);
    } else {
        sum = xor(&sum, &one_zero_padded(last));
        mask = triple(&triple(&mask));
    }
    aes.encrypt_block(&xor(&sum, &mask))
}
