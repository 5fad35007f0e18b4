//! The confidentiality modes of SP 800-38A, with the padding of RFC 5652, and the GCTR of SP
//! 800-38D.

use super::{Block, inc32, xor, xor_first};
use crate::aes::Aes;

/// SP 800-38A, 6.1: ECB encryption, C_j = CIPH(P_j). `None` unless the text is whole blocks.
pub fn ecb_encrypt(aes: &Aes, text: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    for p in whole_blocks(text)? {
        out.extend(aes.encrypt_block(p));
    }
    Some(out)
}

/// SP 800-38A, 6.1: ECB decryption, P_j = CIPH^-1(C_j). `None` unless the text is whole blocks.
pub fn ecb_decrypt(aes: &Aes, text: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    for c in whole_blocks(text)? {
        out.extend(aes.decrypt_block(c));
    }
    Some(out)
}

/// SP 800-38A, 6.1 over the padding of RFC 5652, 6.3: ECB encryption of the padded text.
pub fn ecb_pkcs7_encrypt(aes: &Aes, text: &[u8]) -> Vec<u8> {
    ecb_encrypt(aes, &pad(text)).expect("padded text is whole blocks")
}

/// SP 800-38A, 6.1 under the padding of RFC 5652, 6.3: ECB decryption, then the padding taken off.
/// `None` unless the text is whole blocks that end in good padding.
pub fn ecb_pkcs7_decrypt(aes: &Aes, text: &[u8]) -> Option<Vec<u8>> {
    unpad(ecb_decrypt(aes, text)?)
}

/// SP 800-38A, 6.2: CBC encryption, C_j = CIPH(P_j ^ C_(j-1)) with C_0 = IV. `None` unless the
/// text is whole blocks.
pub fn cbc_encrypt(aes: &Aes, iv: &Block, text: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    let mut previous = *iv;
    for p in whole_blocks(text)? {
        let c = aes.encrypt_block(&xor(p, &previous));
        out.extend(c);
        previous = c;
    }
    Some(out)
}

/// SP 800-38A, 6.2: CBC decryption, P_j = CIPH^-1(C_j) ^ C_(j-1) with C_0 = IV. `None` unless the
/// text is whole blocks.
pub fn cbc_decrypt(aes: &Aes, iv: &Block, text: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    let mut previous = *iv;
    for c in whole_blocks(text)? {
        out.extend(xor(&aes.decrypt_block(c), &previous));
        previous = *c;
    }
    Some(out)
}

/// SP 800-38A, 6.2 over the padding of RFC 5652, 6.3: CBC encryption of the padded text.
pub fn cbc_pkcs7_encrypt(aes: &Aes, iv: &Block, text: &[u8]) -> Vec<u8> {
    cbc_encrypt(aes, iv, &pad(text)).expect("padded text is whole blocks")
}

/// SP 800-38A, 6.2 under the padding of RFC 5652, 6.3: CBC decryption, then the padding taken off.
/// `None` unless the text is whole blocks that end in good padding.
pub fn cbc_pkcs7_decrypt(aes: &Aes, iv: &Block, text: &[u8]) -> Option<Vec<u8>> {
    unpad(cbc_decrypt(aes, iv, text)?)
}

/// SP 800-38A, 6.3 with s = 128: CFB encryption, O_j = CIPH(I_j), C_j = P_j ^ O_j, where I_1 = IV
/// and I_j = C_(j-1). A last segment of u bytes takes the first u bytes of its O_j.
pub fn cfb128_encrypt(aes: &Aes, iv: &Block, text: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut input = *iv;
    for p in text.chunks(16) {
        let o = aes.encrypt_block(&input);
        let c = xor_first(p, &o);
        if c.len() == 16 {
            input.copy_from_slice(&c);
        }
        out.extend(c);
    }
    out
}

/// SP 800-38A, 6.3 with s = 128: CFB decryption, O_j = CIPH(I_j), P_j = C_j ^ O_j, where I_1 = IV
/// and I_j = C_(j-1). A last segment of u bytes takes the first u bytes of its O_j.
pub fn cfb128_decrypt(aes: &Aes, iv: &Block, text: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut input = *iv;
    for c in text.chunks(16) {
        let o = aes.encrypt_block(&input);
        out.extend(xor_first(c, &o));
        if c.len() == 16 {
            input.copy_from_slice(c);
        }
    }
    out
}

/// SP 800-38A, 6.4: OFB encryption, O_j = CIPH(O_(j-1)) with O_0 = IV, C_j = P_j ^ O_j. A last
/// block of u bytes takes the first u bytes of its O_j.
pub fn ofb_encrypt(aes: &Aes, iv: &Block, text: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut o = *iv;
    for p in text.chunks(16) {
        o = aes.encrypt_block(&o);
        out.extend(xor_first(p, &o));
    }
    out
}

/// SP 800-38A, 6.4: OFB decryption, P_j = C_j ^ O_j, the same function as encryption.
pub fn ofb_decrypt(aes: &Aes, iv: &Block, text: &[u8]) -> Vec<u8> {
    ofb_encrypt(aes, iv, text)
}

/// SP 800-38A, 6.5: CTR encryption, C_j = P_j ^ CIPH(T_j) with T_1 = IV. The counter blocks step by
/// the standard incrementing function of B.1 with m = 128: the whole block is one big-endian
/// number, modulo 2^128. A last block of u bytes takes the first u bytes of its O_j.
pub fn ctr_encrypt(aes: &Aes, iv: &Block, text: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut counter = *iv;
    for p in text.chunks(16) {
        let o = aes.encrypt_block(&counter);
        out.extend(xor_first(p, &o));
        counter = inc128(&counter);
    }
    out
}

/// SP 800-38A, 6.5: CTR decryption, P_j = C_j ^ CIPH(T_j), the same function as encryption.
pub fn ctr_decrypt(aes: &Aes, iv: &Block, text: &[u8]) -> Vec<u8> {
    ctr_encrypt(aes, iv, text)
}

/// SP 800-38D, 6.5: GCTR with ICB = IV, Y_j = X_j ^ CIPH(CB_j). The counter blocks step by the
/// inc_32 of 6.2: the last 32 bits are a big-endian number, modulo 2^32, the rest stays. A last
/// block of u bytes takes the first u bytes of its keystream block.
pub fn ctr32_encrypt(aes: &Aes, iv: &Block, text: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut counter = *iv;
    for p in text.chunks(16) {
        let o = aes.encrypt_block(&counter);
        out.extend(xor_first(p, &o));
        counter = inc32(&counter);
    }
    out
}

/// SP 800-38D, 6.5: GCTR again, the same function as encryption.
pub fn ctr32_decrypt(aes: &Aes, iv: &Block, text: &[u8]) -> Vec<u8> {
    ctr32_encrypt(aes, iv, text)
}

/// SP 800-38A, B.1 with m = 128.
fn inc128(block: &Block) -> Block {
    u128::from_be_bytes(*block).wrapping_add(1).to_be_bytes()
}

/// RFC 5652, 6.3: n bytes of value n, from 1 to 16, that fill the text up to whole blocks.
fn pad(text: &[u8]) -> Vec<u8> {
    let n = 16 - text.len() % 16;
    let mut padded = text.to_vec();
    padded.extend(vec![n as u8; n]);
    padded
}

/// RFC 5652, 6.3: the text without its padding; `None` unless it ends in n bytes of value n, n from
/// 1 to 16.
fn unpad(mut padded: Vec<u8>) -> Option<Vec<u8>> {
    let n = *padded.last()?;
    let length = padded.len().checked_sub(usize::from(n))?;
    let good = (1..=16).contains(&n) && padded[length..].iter().all(|&byte| byte == n);
    padded.truncate(length);
    good.then_some(padded)
}

/// The text as blocks; `None` if the last one is not complete.
fn whole_blocks(text: &[u8]) -> Option<&[Block]> {
    let (blocks, rest) = text.as_chunks();
    rest.is_empty().then_some(blocks)
}
