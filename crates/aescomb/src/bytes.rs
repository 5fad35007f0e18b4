//! Up to 16 bytes at a time, and none beyond them.
//!
//! `unsafe` here rests on the caller's word that pointers are valid for the lengths
//! given with them.
#![allow(unsafe_code)]

use crate::block::Block;
#[cfg(target_arch = "x86_64")]
use core::arch::x86_64::{_mm_set_epi64x, _mm_storeu_si128};
use subtle::ConstantTimeEq;

/// At most 16 bytes, with zeros after them, where it need not be fast.
pub(crate) fn filled(bytes: &[u8]) -> Block {
    let mut block = [0; 16];
    block[..bytes.len()].copy_from_slice(bytes);
    block
}

/// Copies at most 16 bytes into a block, with zeros after them, without touching a byte beyond them: two overlapping
/// pieces of the largest power of two that fits.
///
/// # Safety
/// `from` must be readable for `len` bytes.
#[inline]
pub(crate) unsafe fn load(from: *const u8, len: usize) -> Block {
    // SAFETY: `from` is readable for `len` bytes, and every access below lies
    // inside them.
    unsafe {
        let piece8 = |i: usize| u64::from_le(from.add(i).cast::<u64>().read_unaligned());
        let piece4 = |i: usize| u64::from(u32::from_le(from.add(i).cast::<u32>().read_unaligned()));
        let (low, high) = match len {
            16.. => (piece8(0), piece8(8)),
            // In two steps, as 8 bytes would be all bits.
            8..16 => (piece8(0), piece8(len - 8) >> (8 * (15 - len)) >> 8),
            4..8 => (piece4(0) | piece4(len - 4) << (8 * (len - 4)), 0),
            0 => (0, 0),
            _ => {
                let byte = |i: usize| u64::from(*from.add(i)) << (8 * i);
                (byte(0) | byte(len / 2) | byte(len - 1), 0)
            }
        };
        let word = u128::from(high) << 64 | u128::from(low);
        word.to_le_bytes()
    }
}

/// The counterpart of [`load`].
///
/// # Safety
/// `to` must be writable for `len` bytes.
#[inline]
pub(crate) unsafe fn store(block: &Block, to: *mut u8, len: usize) {
    let word = u128::from_le_bytes(*block);
    let (low, high) = (word as u64, (word >> 64) as u64);
    // SAFETY: `to` is writable for `len` bytes, and every access below lies
    // inside them.
    unsafe {
        let piece8 = |i: usize, x: u64| to.add(i).cast::<u64>().write_unaligned(x.to_le());
        let piece4 = |i: usize, x: u64| to.add(i).cast::<u32>().write_unaligned((x as u32).to_le());
        match len {
            // As a number, like the others: for a copy of the block LLVM makes longer code.
            16.. => to.cast::<u128>().write_unaligned(word.to_le()),
            8..16 => {
                piece8(0, low);
                piece8(
                    len - 8,
                    low >> (8 * (len - 8)) | high << 8 << (8 * (15 - len)),
                );
            }
            4..8 => {
                piece4(0, low);
                piece4(len - 4, low >> (8 * (len - 4)));
            }
            0 => {}
            _ => {
                let byte = |i: usize| *to.add(i) = block[i];
                byte(0);
                byte(len / 2);
                byte(len - 1);
            }
        }
    }
}

/// Gathers pieces where there are no masked loads. Out of line, as it is long and
/// done once a message.
///
/// # Safety
/// `parts` are readable.
#[cfg(target_arch = "x86_64")]
#[inline(never)]
pub(crate) unsafe fn gather(parts: &[(*const u8, usize)], out: &mut [Block]) {
    for ((at, len), block) in parts.iter().zip(out) {
        // SAFETY: the caller's. In one store, as it is loaded soon.
        unsafe {
            let x = u128::from_le_bytes(load(*at, *len));
            let x = _mm_set_epi64x((x >> 64) as i64, x as i64);
            _mm_storeu_si128(block.as_mut_ptr().cast(), x);
        }
    }
}

/// The counterpart of [`gather`].
///
/// # Safety
/// `parts` are writable.
#[cfg(target_arch = "x86_64")]
#[inline(never)]
pub(crate) unsafe fn scatter(from: &[Block], parts: &[(*mut u8, usize)]) {
    for (block, (to, len)) in from.iter().zip(parts) {
        // SAFETY: the caller's.
        unsafe { store(block, *to, *len) };
    }
}

/// Whether all bytes are 0, in constant time.
#[inline(always)]
pub(crate) fn is_zero(block: &Block) -> bool {
    let bits = u128::from_ne_bytes(*block);
    (bits as u64 | (bits >> 64) as u64).ct_eq(&0).into()
}

/// How many bytes of a last block are padding; `None` if it ends in none. Looks at
/// all bytes in the same way whatever they are; only the verdict is branched on.
pub(crate) fn padding_len(last: &Block) -> Option<usize> {
    let n = last[15];
    let mut wrong = u8::from(n.wrapping_sub(1) > 15);
    for (i, byte) in last.iter().enumerate() {
        // All ones in the last n bytes: those with 15 - i < n.
        let padding = ((15 - i as i16 - i16::from(n)) >> 15) as u8;
        wrong |= padding & (byte ^ n);
    }
    (wrong == 0).then_some(usize::from(n))
}

#[cfg(test)]
mod tests {
    use super::padding_len;

    #[test]
    fn every_last_byte() {
        for n in 0..=255u8 {
            let mut last = [0xee; 16];
            let pad = usize::from(n).min(16);
            last[16 - pad..].fill(n);
            last[15] = n;
            let expected = (1..=16).contains(&n).then_some(usize::from(n));
            assert_eq!(padding_len(&last), expected);
            // A change is noticed in the padding, and nowhere else.
            for i in 0..15 {
                let mut wrong = last;
                wrong[i] ^= 0x80;
                let padded = 16 - i <= pad;
                assert_eq!(padding_len(&wrong), if padded { None } else { expected });
            }
        }
    }
}
