//! GF(2^128) as the modes use it, one element at a time.

use crate::isa::Block;

/// Doubling: multiplication by x in the field of SP 800-38B section 5.3, bits in
/// the order of a big-endian integer, modulo x^128 + x^7 + x^2 + x + 1. Takes the
/// same time for every value.
pub(crate) fn double(block: Block) -> Block {
    let a = u128::from_be_bytes(block);
    (a << 1 ^ (0x87 & (a >> 127).wrapping_neg())).to_be_bytes()
}
