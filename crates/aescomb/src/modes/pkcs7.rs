//! PKCS#7 padding (RFC 5652 section 6.3) around a mode that takes whole blocks:
//! n bytes of value n, 1 <= n <= 16, make a message whole blocks.
//!
//! Encryption adds them in the last step of the comb. Decryption is that of the
//! mode itself; the padding is checked and taken off afterwards, in time that
//! depends on the length of the ciphertext alone.
#![forbid(unsafe_code)]

use crate::cipher::Cipher;
use crate::isa::Wide;
use crate::pass::{Header, Last, Pass};
use crate::shape::{Shape, Tail};
use core::marker::PhantomData;

/// The encryption of `M`, padded.
pub(crate) struct Padded<M>(PhantomData<M>);

impl<M: Pass> Pass for Padded<M> {
    type State<W: Wide> = M::State<W>;
    const SHAPE: Shape = Shape {
        tail: Tail::Padded,
        ..M::SHAPE
    };

    #[inline(always)]
    fn begin<C: Cipher>(c: &C, h: &mut Header<C::W>) -> M::State<C::W> {
        M::begin(c, h)
    }

    #[inline(always)]
    fn step<C: Cipher>(c: &C, state: &mut M::State<C::W>, x: C::W, row: usize) -> C::W {
        M::step(c, state, x, row)
    }

    #[inline(always)]
    fn finish<C: Cipher>(
        c: &C,
        _: &Header<C::W>,
        state: &mut M::State<C::W>,
        last: &mut Last<C::W>,
    ) {
        last.first.block = M::step(c, state, last.first.block ^ last.first.count.pkcs7(), 0);
    }
}
