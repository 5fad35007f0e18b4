//! The MAC of SP 800-38B.

use super::{Block, double, one_zero_padded, xor, zero_padded};
use crate::aes::Aes;

/// SP 800-38B, 6.2: CMAC, the full tag. The last block M_n* is masked with K1 when it is complete,
/// and with K2 after 10..0 is appended when it is not (as it is for the empty text).
pub fn cmac(aes: &Aes, text: &[u8]) -> Block {
    let (k1, k2) = cmac_subkeys(aes);
    let mut blocks: Vec<&[u8]> = text.chunks(16).collect();
    let last = blocks.pop().unwrap_or(&[]);
    let m_n = if last.len() == 16 {
        xor(&zero_padded(last), &k1)
    } else {
        xor(&one_zero_padded(last), &k2)
    };
    let mut c = [0; 16];
    for m in blocks {
        let m: &Block = m.try_into().expect("every block but the last is complete");
        c = aes.encrypt_block(&xor(&c, m));
    }
    aes.encrypt_block(&xor(&c, &m_n))
}

/// SP 800-38B, 6.1: the subkeys K1 and K2, L = CIPH(0^128) doubled once and twice.
fn cmac_subkeys(aes: &Aes) -> (Block, Block) {
    let l = aes.encrypt_block(&[0; 16]);
    let k1 = double(&l);
    let k2 = double(&k1);
    (k1, k2)
}
