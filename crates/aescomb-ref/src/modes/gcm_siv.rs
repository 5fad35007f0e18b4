//! AES-GCM-SIV of RFC 8452.

use super::{Block, xor, xor_first, zero_padded};
use crate::{Sealed, aes::Aes};

/// RFC 8452, 4: encryption. `None` unless the key-generating key has 16, 24 or 32 bytes and the
/// lengths are within those of 6: at most 2^36 bytes of plaintext and of additional data each.
///
/// The RFC has no keys of 24 bytes; they follow the same rules, as they do in OpenSSL.
pub fn gcm_siv_encrypt(key: &[u8], nonce: &[u8; 12], ad: &[u8], text: &[u8]) -> Option<Sealed> {
    if !lengths_allowed(ad, text) {
        return None;
    }
    let (message_authentication_key, enc) = derive_keys(key, nonce)?;
    let tag = tag(&message_authentication_key, &enc, nonce, ad, text);
    Some(Sealed {
        text: aes_ctr(&enc, &initial_counter(&tag), text),
        tag: tag.to_vec(),
    })
}

/// RFC 8452, 5: decryption. `None` for lengths that are not allowed and for a wrong tag.
pub fn gcm_siv_decrypt(
    key: &[u8],
    nonce: &[u8; 12],
    ad: &[u8],
    text: &[u8],
    tag: &Block,
) -> Option<Vec<u8>> {
    if !lengths_allowed(ad, text) {
        return None;
    }
    let (message_authentication_key, enc) = derive_keys(key, nonce)?;
    let plaintext = aes_ctr(&enc, &initial_counter(tag), text);
    let expected = self::tag(&message_authentication_key, &enc, nonce, ad, &plaintext);
    (*tag == expected).then_some(plaintext)
}

/// RFC 8452, 4 and 6: the limits of text and additional data.
fn lengths_allowed(ad: &[u8], text: &[u8]) -> bool {
    ad.len() as u64 <= 1 << 36 && text.len() as u64 <= 1 << 36
}

/// RFC 8452, 4: derive_keys, the message-authentication key and AES under the message-encryption
/// key. Every counter gives 8 bytes: 0 and 1 those of the former key, and those from 2 on the
/// latter, which is as long as `key`, so the last counter is 3, 4 or 5.
fn derive_keys(key: &[u8], nonce: &[u8; 12]) -> Option<(Block, Aes)> {
    let aes = Aes::new(key)?;
    let mut derived = Vec::new();
    for counter in 0..2 + key.len() as u32 / 8 {
        let mut input = [0; 16];
        input[..4].copy_from_slice(&counter.to_le_bytes());
        input[4..].copy_from_slice(nonce);
        derived.extend(&aes.encrypt_block(&input)[..8]);
    }
    let (message_authentication_key, message_encryption_key) = derived.split_at(16);
    Some((
        zero_padded(message_authentication_key),
        Aes::new(message_encryption_key)?,
    ))
}

/// RFC 8452, 4: POLYVAL of additional data and plaintext, each filled up with zeros, and of their
/// lengths in bits; the nonce is added, the most significant bit of the last byte cleared, and the
/// result encrypted.
fn tag(h: &Block, enc: &Aes, nonce: &[u8; 12], ad: &[u8], plaintext: &[u8]) -> Block {
    let mut blocks: Vec<Block> = ad.chunks(16).map(zero_padded).collect();
    blocks.extend(plaintext.chunks(16).map(zero_padded));
    let length_block = (8 * plaintext.len() as u128) << 64 | (8 * ad.len() as u128);
    blocks.push(length_block.to_le_bytes());
    let mut s_s = xor(&polyval(h, &blocks), &zero_padded(nonce));
    s_s[15] &= 0b0111_1111;
    enc.encrypt_block(&s_s)
}

/// RFC 8452, 4: the tag with the most significant bit of its last byte set.
fn initial_counter(tag: &Block) -> Block {
    let mut counter_block = *tag;
    counter_block[15] |= 0b1000_0000;
    counter_block
}

/// RFC 8452, 4: AES_CTR. The first 32 bits of the counter block are a little-endian number, modulo
/// 2^32, the rest stays.
fn aes_ctr(enc: &Aes, initial_counter_block: &Block, text: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut block = *initial_counter_block;
    for part in text.chunks(16) {
        out.extend(xor_first(part, &enc.encrypt_block(&block)));
        let count = u32::from_le_bytes([block[0], block[1], block[2], block[3]]);
        block[..4].copy_from_slice(&count.wrapping_add(1).to_le_bytes());
    }
    out
}

/// RFC 8452, 3: POLYVAL, S_j = dot(S_(j-1) + X_j, H) with S_0 = 0.
pub fn polyval(h: &Block, blocks: &[Block]) -> Block {
    let h = u128::from_le_bytes(*h);
    let mut s = 0;
    for x in blocks {
        s = dot(s ^ u128::from_le_bytes(*x), h);
    }
    s.to_le_bytes()
}

/// RFC 8452, 3: dot(a, b) = a * b * x^-128, where x^-128 = x^127 + x^124 + x^121 + x^114 + 1.
fn dot(a: u128, b: u128) -> u128 {
    const X_TO_MINUS_128: u128 = 1 << 127 | 1 << 124 | 1 << 121 | 1 << 114 | 1;
    multiply(multiply(a, b), X_TO_MINUS_128)
}

/// RFC 8452, 3: the product in the field of x^128 + x^127 + x^126 + x^121 + 1, the sum of `a` times
/// x^i over the set bits i of `b`. Bit 0 is the least significant bit of the first byte.
fn multiply(a: u128, b: u128) -> u128 {
    const X_TO_128: u128 = 1 << 127 | 1 << 126 | 1 << 121 | 1;
    let mut product = 0;
    let mut power = a;
    for i in 0..128 {
        if b >> i & 1 == 1 {
            product ^= power;
        }
        let msb = power >> 127;
        power <<= 1;
        if msb == 1 {
            power ^= X_TO_128;
        }
    }
    product
}
