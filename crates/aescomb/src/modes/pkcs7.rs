//! PKCS#7 padding (RFC 5652 section 6.3) around a mode that takes whole blocks:
//! n bytes of value n, 1 <= n <= 16, make a message whole blocks.
//!
//! Encryption adds them in the last step of the comb. Decryption is that of the
//! mode itself; the padding is checked and taken off afterwards, in time that
//! depends on the length of the ciphertext alone.
#![forbid(unsafe_code)]

use crate::isa::{Block, Cipher, Wide};
use crate::lane_keys::Uses;
use crate::lanes::Last;
use crate::pass::{Feed, HEADER, Pass, Tail};
use core::marker::PhantomData;

/// The encryption of `M`, padded.
pub(crate) struct Padded<M>(PhantomData<M>);

impl<M: Pass> Pass for Padded<M> {
    type State<W: Wide> = M::State<W>;
    type Then = Self;
    const TAIL: Tail = Tail::Padded;
    const FEED: Feed = M::FEED;
    const NONCE: bool = M::NONCE;
    const USES: Uses = M::USES;

    #[inline(always)]
    fn begin<C: Cipher>(c: &C, h: &mut [C::W; HEADER]) -> M::State<C::W> {
        M::begin(c, h)
    }

    #[inline(always)]
    fn step<C: Cipher>(c: &C, state: &mut M::State<C::W>, x: C::W, row: usize) -> C::W {
        M::step(c, state, x, row)
    }

    #[inline(always)]
    fn finish<C: Cipher>(
        c: &C,
        _: &[C::W; HEADER],
        state: &mut M::State<C::W>,
        last: &mut Last<C::W>,
    ) {
        last.first.block = M::step(c, state, last.first.block ^ last.first.count.pkcs7(), 0);
    }
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
