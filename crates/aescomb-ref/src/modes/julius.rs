//! Julius of L. Bahack, "Julius: Secure Mode of Operation for Authenticated Encryption Based on ECB
//! and Finite Field Multiplications", CAESAR submission, v1.0 of March 2014: its regular Julius-ECB
//! with AES-128. What the bits are is that of the submission's reference code, but for three faults
//! of that code: it keeps words of the key schedule in a C type that may have more than 32 bits, it
//! does not undo the masking when it decrypts, and it does not multiply by delta. What it multiplies
//! by instead is [`julius_delta_as_coded()`].
//!
//! Products are those of [`product`].

use super::{Block, product, xor, zero_padded};
use crate::{Sealed, aes::Aes};

/// Julius with the constant `delta`, which is [`julius_delta()`]. The output is one block more than
/// those of the message, which need not fill its own; here, the first block is the tag, and the
/// others are the ciphertext. It does not tell how long the message was. The submission's keys have
/// 16 bytes.
pub fn julius_encrypt(aes: &Aes, delta: &Block, n: &Block, a: &[u8], m: &[u8]) -> Sealed {
    // The register: a block of zeros, then the message, which zeros before it fill up to blocks.
    let mut register = vec![0; 16 + m.len().next_multiple_of(16) - m.len()];
    register.extend(m);
    let register = register.as_chunks().0;
    let masked = mask(aes, delta, &front(n, a, m.len()), register);
    let mut out = masked.iter().flat_map(|w_i| aes.encrypt_block(w_i));
    Sealed {
        tag: out.by_ref().take(16).collect(),
        text: out.collect(),
    }
}

/// Undoes [`julius_encrypt()`] for a message of `len` bytes. `None` unless ciphertext and tag are
/// those of such a message.
pub fn julius_decrypt(
    aes: &Aes,
    delta: &Block,
    n: &Block,
    a: &[u8],
    c: &[u8],
    t: &Block,
    len: usize,
) -> Option<Vec<u8>> {
    if c.len() != len.checked_next_multiple_of(16)? {
        return None;
    }
    if len == 0 {
        // The mask of a single block is not its own inverse.
        let expected = julius_encrypt(aes, delta, n, a, &[]);
        return (expected.tag == t).then(Vec::new);
    }
    let masked: Vec<Block> = [t]
        .into_iter()
        .chain(c.as_chunks().0)
        .map(|o_i| aes.decrypt_block(o_i))
        .collect();
    let register = mask(aes, delta, &front(n, a, len), &masked);
    let mut zeros = register.as_flattened().to_vec();
    let m = zeros.split_off(zeros.len() - len);
    zeros.iter().all(|byte| *byte == 0).then_some(m)
}

/// What is hashed before the register: 1, the nonce, the lengths in bytes of associated data and
/// message, and the associated data, filled up with zeros.
fn front(n: &Block, a: &[u8], len: usize) -> Vec<Block> {
    let lengths = (a.len() as u128) << 64 | len as u128;
    let mut front = vec![1_u128.to_be_bytes(), *n, lengths.to_be_bytes()];
    front.extend(a.chunks(16).map(zero_padded));
    front
}

/// The masked register. The masks are multiples of mu, which is E of the hash of front and
/// register, such that with two blocks or more the hash of the masked register is the same: so this
/// is its own inverse.
fn mask(aes: &Aes, delta: &Block, front: &[Block], register: &[Block]) -> Vec<Block> {
    let mut seed = [0; 16];
    for b_j in front.iter().chain(register) {
        seed = xor(&product(&seed, delta), b_j);
    }
    let mu = aes.encrypt_block(&seed);
    let r = register.len();
    // r even: mu delta^i. r odd: mu, mu delta ^ mu, mu delta, mu delta^2, ...
    let mut masks = vec![mu];
    let mut power = mu;
    if r % 2 == 1 {
        power = product(&mu, delta);
        masks.extend([xor(&power, &mu), power]);
    }
    while masks.len() < r {
        power = product(&power, delta);
        masks.push(power);
    }
    register
        .iter()
        .zip(&masks)
        .map(|(w, k)| xor(w, k))
        .collect()
}

/// The constant delta, E(0).
pub fn julius_delta(aes: &Aes) -> Block {
    aes.encrypt_block(&[0; 16])
}

/// What the reference code multiplies by in the place of delta, as it takes a bit of a byte for set
/// if the byte is at least as large as the bit: in every byte of delta, all bits below the first one
/// that is set are set too.
pub fn julius_delta_as_coded(aes: &Aes) -> Block {
    julius_delta(aes).map(|byte| {
        let bits = u8::BITS - byte.leading_zeros();
        ((1_u32 << bits) - 1) as u8
    })
}
