//! The modes of operation, one file for each family, and what they share.
//!
//! Names follow the standards: in those of SP 800-38A, `p` and `c` are one block of plaintext and
//! of ciphertext, `o` is a block that the cipher puts out, and the IV or the first counter block is
//! `iv`. Other families name what their own standards name.
//!
//! Not all modes are standards: CLOC, SILC, JAMBU, OTR, COPA, POET, Julius, McOE-G, COBRA, CPFB,
//! Silver and PMAC+CTR come from the CAESAR competition and from papers. Nonce, associated data,
//! message, ciphertext and tag are `n`, `a`, `m`, `c` and `t` there, and each file says what its
//! mode was taken from.

mod ccm;
mod cloc;
mod cmac;
mod cobra;
mod confidentiality;
mod copa;
mod cpfb;
mod eax;
mod gcm;
mod gcm_siv;
mod jambu;
mod julius;
mod mcoe_g;
mod ocb;
mod otr;
mod pmac;
mod pmac_ctr;
mod poet;
mod silc;
mod silver;
mod siv;
mod xts;

pub use ccm::*;
pub use cloc::*;
pub use cmac::*;
pub use cobra::*;
pub use confidentiality::*;
pub use copa::*;
pub use cpfb::*;
pub use eax::*;
pub use gcm::*;
pub use gcm_siv::*;
pub use jambu::*;
pub use julius::*;
pub use mcoe_g::*;
pub use ocb::*;
pub use otr::*;
pub use pmac::*;
pub use pmac_ctr::*;
pub use poet::*;
pub use silc::*;
pub use silver::*;
pub use siv::*;
pub use xts::*;

/// One block: 128 bits.
pub type Block = [u8; 16];

/// SP 800-38B, 5.3 and 6.1: X << 1, and R_128 = 0^120 10000111 added if the bit that fell off was
/// 1. The same as dbl() of RFC 5297, 2.3, double() of RFC 7253, 2, and the product with 2 of PMAC1.
fn double(block: &Block) -> Block {
    let x = u128::from_be_bytes(*block);
    let msb = x >> 127;
    let doubled = if msb == 0 {
        x << 1
    } else {
        (x << 1) ^ 0b1000_0111
    };
    doubled.to_be_bytes()
}

/// The product with 3 in the field of [`double()`], in which 2 is x and 3 is x + 1: 3X = 2X ^ X.
fn triple(x: &Block) -> Block {
    xor(&double(x), x)
}

/// The product with 7 in the same field, 7 being x^2 + x + 1: 7X = 2(2X) ^ 2X ^ X.
fn sevenfold(x: &Block) -> Block {
    xor(&double(&double(x)), &triple(x))
}

/// The product of any two blocks in the same field, the sum of 2^i `x` over the set bits i of `y`,
/// bit 0 being the least significant one of the last byte. GCM and POLYVAL count the bits in other
/// orders.
fn product(x: &Block, y: &Block) -> Block {
    let y = u128::from_be_bytes(*y);
    let mut sum = [0; 16];
    let mut power = *x;
    for i in 0..128 {
        if y >> i & 1 == 1 {
            sum = xor(&sum, &power);
        }
        power = double(&power);
    }
    sum
}

/// SP 800-38D, 6.2 with s = 32.
fn inc32(block: &Block) -> Block {
    let mut next = *block;
    let count = u32::from_be_bytes([block[12], block[13], block[14], block[15]]);
    next[12..].copy_from_slice(&count.wrapping_add(1).to_be_bytes());
    next
}

/// The sum of two blocks.
pub(crate) fn xor(a: &Block, b: &Block) -> Block {
    std::array::from_fn(|i| a[i] ^ b[i])
}

/// The sum of a block that may be cut short and the first bytes of a whole one.
fn xor_first(part: &[u8], block: &Block) -> Vec<u8> {
    part.iter().zip(block).map(|(a, b)| a ^ b).collect()
}

/// The first bytes of a block, then zeros: a part of a text filled up to a whole block.
fn zero_padded(part: &[u8]) -> Block {
    let mut block = [0; 16];
    block[..part.len()].copy_from_slice(part);
    block
}

/// A part of a text shorter than a block, a one bit and zeros: the padding 10* of SP 800-38B, RFC
/// 5297, RFC 7253 and PMAC1.
fn one_zero_padded(part: &[u8]) -> Block {
    let mut block = zero_padded(part);
    block[part.len()] = 0b1000_0000;
    block
}

/// ozp of CLOC: a whole block as it is, a shorter part of a text with 10* appended.
fn ozp(part: &[u8]) -> Block {
    if part.len() == 16 {
        zero_padded(part)
    } else {
        one_zero_padded(part)
    }
}
