//! GF(2^128) as the modes use it, one element at a time.

use crate::block::Block;

/// Multiplication by x of a little-endian polynomial modulo x^128 + x^7 + x^2 +
/// x + 1 (IEEE 1619 section 5.2). Takes the same time for every value.
pub(crate) fn double(a: u128) -> u128 {
    a << 1 ^ (0x87 & (a >> 127).wrapping_neg())
}

/// The same for a block with its bits in the order of a big-endian integer: the
/// doubling of SP 800-38B section 5.3.
pub(crate) fn double_block(block: Block) -> Block {
    double(u128::from_be_bytes(block)).to_be_bytes()
}

/// 3 a and 7 a in the field of [`double`].
pub(crate) fn triple(a: u128) -> u128 {
    double(a) ^ a
}

pub(crate) fn sevenfold(a: u128) -> u128 {
    double(triple(a)) ^ a
}

/// mulX_POLYVAL of RFC 8452 appendix A: multiplication by x modulo x^128 + x^127
/// + x^126 + x^121 + 1.
pub(crate) fn double_polyval(a: u128) -> u128 {
    const P: u128 = 1 << 127 | 1 << 126 | 1 << 121 | 1;
    a << 1 ^ (P & (a >> 127).wrapping_neg())
}

/// The product of POLYVAL, a b x^-128 (RFC 8452 section 3), in software: takes the
/// same time for all values on CPUs whose multiplication does.
pub(crate) fn mul_polyval(a: u128, b: u128) -> u128 {
    reduce_polyval(products(a, b))
}

/// The product of POLYVAL, of what [`products`] makes or of sums of it.
pub(crate) fn reduce_polyval((low, middle, high): (u128, u128, u128)) -> u128 {
    // 1 = x^64 (x^64 + x^63 + x^62 + x^57): the lower half of a sum goes up by 64
    // bits at the price of a product.
    const POLYVAL: u64 = 0xc2 << 56;
    let middle = middle ^ low.rotate_left(64) ^ clmul(low as u64, POLYVAL);
    high ^ middle.rotate_left(64) ^ clmul(middle as u64, POLYVAL)
}

/// The product in the field of [`double`], likewise.
pub(crate) fn mul(a: u128, b: u128) -> u128 {
    reduce(products(a, b))
}

/// The same in the field of [`double`].
pub(crate) fn reduce((low, middle, high): (u128, u128, u128)) -> u128 {
    // x^128 = x^7 + x^2 + x + 1: the upper half goes down by 64 bits.
    let middle = middle ^ high.rotate_left(64) ^ clmul((high >> 64) as u64, 0x86);
    low ^ middle.rotate_left(64) ^ clmul((middle >> 64) as u64, 0x86)
}

/// The product of polynomials: the sum of these times 1, x^64 and x^128.
#[inline(never)]
pub(crate) fn products(a: u128, b: u128) -> (u128, u128, u128) {
    let halves = |v: u128| (v as u64, (v >> 64) as u64);
    let ((a0, a1), (b0, b1)) = (halves(a), halves(b));
    let (low, high) = (clmul(a0, b0), clmul(a1, b1));
    (low, clmul(a0 ^ a1, b0 ^ b1) ^ low ^ high, high)
}

/// The carry-less product: integer products of numbers with three zero bits after
/// each bit, whose carries die out in the zeros (as in BearSSL's `ctmul64`).
pub(crate) fn clmul(a: u64, b: u64) -> u128 {
    const EVERY_FOURTH: u64 = 0x1111_1111_1111_1111;
    let part = |v: u64, i: usize| u128::from(v & EVERY_FOURTH << i);
    let mut product = 0;
    for i in 0..4 {
        let mut sum = 0;
        for j in 0..4 {
            // Sixteen bits of one may meet sixteen of the other: a count of 16
            // overflows its four bits unless one factor is cut.
            let (a, b) = (part(a, j), part(b, (i + 4 - j) % 4));
            sum ^= a.wrapping_mul(b & u128::from(u32::MAX));
            sum ^= a.wrapping_mul(b >> 32 << 32);
        }
        let mask = u128::from(EVERY_FOURTH);
        product ^= sum & (mask << 64 | mask) << i;
    }
    product
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slow(a: u64, b: u64) -> u128 {
        (0..64).fold(0, |sum, i| match b >> i & 1 {
            1 => sum ^ u128::from(a) << i,
            _ => sum,
        })
    }

    #[test]
    fn carry_less_products() {
        let mut x = 1u64;
        let mut values = alloc::vec![0, 1, u64::MAX, 1 << 63, 0x1111_1111_1111_1111];
        for _ in 0..100 {
            x = x
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            values.push(x ^ x >> 29);
        }
        for a in &values {
            for b in &values {
                assert_eq!(clmul(*a, *b), slow(*a, *b), "{a:x} {b:x}");
            }
        }
    }

    /// RFC 8452 appendix A: dot of its example.
    #[test]
    fn polyval_product() {
        let block = |digits: u128| u128::from_le_bytes(digits.to_be_bytes());
        assert_eq!(
            mul_polyval(
                block(0x66e94bd4ef8a2c3b884cfa59ca342b2e),
                block(0xff000000000000000000000000000000)
            ),
            block(0xebe563401e7e91ea3ad6426b8140c394)
        );
    }

    /// Multiplication by x^127 is doubling 127 times.
    #[test]
    fn products_are_repeated_doublings() {
        let mut x = 0x0123_4567_89ab_cdef_1f2e_3d4c_5b6a_7988u128;
        for n in 0..128u32 {
            let mut doubled = x;
            (0..n).for_each(|_| doubled = double(doubled));
            assert_eq!(mul(x, 1 << n), doubled, "x^{n}");
            assert_eq!(mul(1 << n, x), doubled, "x^{n}");
            x = x.rotate_left(29) ^ u128::from(n);
        }
    }
}
