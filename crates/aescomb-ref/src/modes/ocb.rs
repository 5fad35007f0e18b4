//! OCB3 of RFC 7253.
//!
//! `n`, `a`, `p` and `c` are nonce, associated data, plaintext and ciphertext, `taglen` is the
//! tag's length in bytes.

use super::{Block, double, one_zero_padded, xor, xor_first};
use crate::{Sealed, aes::Aes};

/// RFC 7253, 4.2: OCB-ENCRYPT. `None` unless the nonce has 1 to 15 bytes and the tag 8, 12 or 16.
pub fn ocb_encrypt(aes: &Aes, n: &[u8], a: &[u8], p: &[u8], taglen: usize) -> Option<Sealed> {
    if !lengths_allowed(n, taglen) {
        return None;
    }
    let l = KeyDependent::new(aes);
    let mut offset = initial_offset(aes, n, taglen);
    let mut checksum = [0; 16];
    let mut c = Vec::new();
    let (blocks, p_star) = p.as_chunks();
    for (i, p_i) in (1..).zip(blocks) {
        offset = xor(&offset, &l.at(ntz(i)));
        c.extend(xor(&offset, &aes.encrypt_block(&xor(p_i, &offset))));
        checksum = xor(&checksum, p_i);
    }
    if !p_star.is_empty() {
        offset = xor(&offset, &l.star);
        let pad = aes.encrypt_block(&offset);
        c.extend(xor_first(p_star, &pad));
        checksum = xor(&checksum, &one_zero_padded(p_star));
    }
    let tag = full_tag(aes, &l, &checksum, &offset, a)[..taglen].to_vec();
    Some(Sealed { text: c, tag })
}

/// RFC 7253, 4.3: OCB-DECRYPT. `None` for lengths that are not allowed and for a wrong tag.
pub fn ocb_decrypt(aes: &Aes, n: &[u8], a: &[u8], c: &[u8], tag: &[u8]) -> Option<Vec<u8>> {
    if !lengths_allowed(n, tag.len()) {
        return None;
    }
    let l = KeyDependent::new(aes);
    let mut offset = initial_offset(aes, n, tag.len());
    let mut checksum = [0; 16];
    let mut p = Vec::new();
    let (blocks, c_star) = c.as_chunks();
    for (i, c_i) in (1..).zip(blocks) {
        offset = xor(&offset, &l.at(ntz(i)));
        let p_i = xor(&offset, &aes.decrypt_block(&xor(c_i, &offset)));
        checksum = xor(&checksum, &p_i);
        p.extend(p_i);
    }
    if !c_star.is_empty() {
        offset = xor(&offset, &l.star);
        let pad = aes.encrypt_block(&offset);
        let p_star = xor_first(c_star, &pad);
        checksum = xor(&checksum, &one_zero_padded(&p_star));
        p.extend(p_star);
    }
    let expected = full_tag(aes, &l, &checksum, &offset, a);
    (*tag == expected[..tag.len()]).then_some(p)
}

/// RFC 7253, 3.1 and 4.2: TAGLEN of the named parameter sets, and a nonce of at most 120 bits.
fn lengths_allowed(n: &[u8], taglen: usize) -> bool {
    (1..=15).contains(&n.len()) && matches!(taglen, 8 | 12 | 16)
}

/// RFC 7253, 4.1: the key-dependent variables L_* and L_$.
struct KeyDependent {
    star: Block,
    dollar: Block,
}

impl KeyDependent {
    /// RFC 7253, 4.1: L_* = ENCIPHER(zeros), L_$ = double(L_*).
    fn new(aes: &Aes) -> Self {
        let star = aes.encrypt_block(&[0; 16]);
        let dollar = double(&star);
        Self { star, dollar }
    }

    /// RFC 7253, 4.1: L_0 = double(L_$), L_i = double(L_(i-1)).
    fn at(&self, i: u32) -> Block {
        (0..=i).fold(self.dollar, |l, _| double(&l))
    }
}

/// RFC 7253, 2: the number of trailing zero bits of i.
fn ntz(i: u64) -> u32 {
    i.trailing_zeros()
}

/// RFC 7253, 4.2: Offset_0, from the nonce and the tag's length.
fn initial_offset(aes: &Aes, n: &[u8], taglen: usize) -> Block {
    // Nonce = num2str(TAGLEN mod 128, 7) || zeros(120 - bitlen(N)) || 1 || N.
    let mut nonce = [0; 16];
    nonce[0] = ((8 * taglen % 128) << 1) as u8;
    nonce[15 - n.len()] |= 1;
    nonce[16 - n.len()..].copy_from_slice(n);
    // bottom = str2num(Nonce[123..128]), Ktop = ENCIPHER(Nonce[1..122] || zeros(6)).
    let bottom = nonce[15] & 0b0011_1111;
    nonce[15] &= 0b1100_0000;
    let ktop = u128::from_be_bytes(aes.encrypt_block(&nonce));
    // Stretch = Ktop || (Ktop[1..64] xor Ktop[9..72]), Offset_0 = Stretch[1+bottom..128+bottom].
    let beyond = (ktop >> 64) as u64 ^ (ktop >> 56) as u64;
    let mut offset = ktop;
    for i in 0..bottom {
        offset = offset << 1 | u128::from(beyond >> (63 - i) & 1);
    }
    offset.to_be_bytes()
}

/// RFC 7253, 4.2: the tag before it is cut, ENCIPHER(Checksum ^ Offset ^ L_$) ^ HASH(K, A).
fn full_tag(aes: &Aes, l: &KeyDependent, checksum: &Block, offset: &Block, a: &[u8]) -> Block {
    let input = xor(&xor(checksum, offset), &l.dollar);
    xor(&aes.encrypt_block(&input), &hash(aes, l, a))
}

/// RFC 7253, 4.1: HASH(K, A).
fn hash(aes: &Aes, l: &KeyDependent, a: &[u8]) -> Block {
    let mut sum = [0; 16];
    let mut offset = [0; 16];
    let (blocks, a_star) = a.as_chunks();
    for (i, a_i) in (1..).zip(blocks) {
        offset = xor(&offset, &l.at(ntz(i)));
        sum = xor(&sum, &aes.encrypt_block(&xor(a_i, &offset)));
    }
    if !a_star.is_empty() {
        offset = xor(&offset, &l.star);
        let cipher_input = xor(&one_zero_padded(a_star), &offset);
        sum = xor(&sum, &aes.encrypt_block(&cipher_input));
    }
    sum
}
