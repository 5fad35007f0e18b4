//! XTS-AES of IEEE 1619-2018, approved by SP 800-38E.

use super::{Block, xor, zero_padded};
use crate::aes::Aes;

/// IEEE 1619, 5.3: encryption of a data unit, whose number `i` is the tweak, as 16 little-endian
/// bytes. `None` unless the key has 32 or 64 bytes and the data unit 16 bytes to 2^20 blocks.
pub fn xts_encrypt(key: &[u8], i: &Block, p: &[u8]) -> Option<Vec<u8>> {
    let (key1, mut t) = start(key, i, p)?;
    let block = |p: &Block, t: &Block| xor(&key1.encrypt_block(&xor(p, t)), t);
    let mut c = Vec::new();
    let (blocks, rest) = p.as_chunks();
    for p_j in blocks {
        c.extend(block(p_j, &t));
        t = times_alpha(&t);
    }
    // 5.3.2: the incomplete block P_m takes the first bytes of CC, the last block's ciphertext so
    // far, as its ciphertext; the rest of CC fills it up for the block before.
    if !rest.is_empty() {
        let cc = c.split_off(c.len() - 16);
        let (c_m, cp) = cc.split_at(rest.len());
        let pp = zero_padded(&[rest, cp].concat());
        c.extend(block(&pp, &t));
        c.extend(c_m);
    }
    Some(c)
}

/// IEEE 1619, 5.4: decryption of a data unit. `None` where [`xts_encrypt()`] gives it.
pub fn xts_decrypt(key: &[u8], i: &Block, c: &[u8]) -> Option<Vec<u8>> {
    let (key1, mut t) = start(key, i, c)?;
    let block = |c: &Block, t: &Block| xor(&key1.decrypt_block(&xor(c, t)), t);
    let mut p = Vec::new();
    let (blocks, rest) = c.as_chunks();
    // 5.4.2: the complete block before an incomplete one is left for the end.
    let stolen = usize::from(!rest.is_empty());
    let (blocks, c_before) = blocks.split_at(blocks.len() - stolen);
    for c_j in blocks {
        p.extend(block(c_j, &t));
        t = times_alpha(&t);
    }
    // 5.4.2: that block was encrypted last, so the two change their powers of alpha.
    if let [c_before] = c_before {
        let pp = block(c_before, &times_alpha(&t));
        let (p_m, cp) = pp.split_at(rest.len());
        let cc = zero_padded(&[rest, cp].concat());
        p.extend(block(&cc, &t));
        p.extend(p_m);
    }
    Some(p)
}

/// IEEE 1619, 5.1 and 5.3.1: AES under Key1, the first half of the key, and T of block 0, the tweak
/// encrypted under Key2, the second half. `None` for lengths that are not allowed; the limit of
/// 2^20 blocks is that of SP 800-38E, 4.
fn start(key: &[u8], i: &Block, text: &[u8]) -> Option<(Aes, Block)> {
    if !matches!(key.len(), 32 | 64) || !(16..=16 << 20).contains(&text.len()) {
        return None;
    }
    let (key1, key2) = key.split_at(key.len() / 2);
    let t = Aes::new(key2)?.encrypt_block(i);
    Some((Aes::new(key1)?, t))
}

/// IEEE 1619, 5.2: the product with alpha: the block is a little-endian number, shifted left, and
/// 135 is added to byte 0 if the bit that fell off was 1.
fn times_alpha(block: &Block) -> Block {
    let a = u128::from_le_bytes(*block);
    let carry = a >> 127;
    let product = if carry == 0 { a << 1 } else { (a << 1) ^ 135 };
    product.to_le_bytes()
}
