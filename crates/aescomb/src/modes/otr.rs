//! AES-OTR, offset two-round, of which the variant with parallel associated data of
//! version 3: Minematsu, "Parallelizable Rate-1 Authenticated Encryption from
//! Pseudorandom Functions" (Eurocrypt 2014); AES-OTR v3, submission to CAESAR (2016).
//!
//! ```text
//! Q = CIPH_K(0^128)
//! S = the sum of CIPH_K(A_i ^ 2^(i-1) Q) for 1 <= i < a
//! A_a whole:   TA = CIPH_K(S ^ A_a ^ 2^(a-1) 5 Q)
//! otherwise:   TA = CIPH_K(S ^ (A_a || 10*) ^ 2^(a-1) 3 Q);  without A: TA = 0
//! Format = tag bits mod 128 in 7 bits || 0* 1 || N;  L = CIPH_K(Format)
//! 32 bytes X || Y, not the last, number j from 0 on:
//!     C1 = CIPH_K(X ^ 2^j L) ^ Y;  C2 = CIPH_K(C1 ^ 2^j 3 L) ^ X;  Sum ^= Y
//! last, up to 16 bytes P:   D = 2^j L;  C = P ^ CIPH_K(D);  Sum ^= P || 10*
//! last, up to 32, X || Y:   D = 2^j 3 L;  Z = CIPH_K(X ^ 2^j L);  C2 = Y ^ Z
//!     C1 = CIPH_K((C2 || 10*) ^ D) ^ X;  Sum ^= Z ^ (C2 || 10*)
//! T = the first bytes of TA ^ CIPH_K(Sum ^ 7 D), or 5 D if the last block is shorter
//! ```
//!
//! Whole blocks are not filled up. Products are those of SP 800-38B section 5.3. The
//! bits are those of the submission's reference code. For research and comparison, not
//! for new protocols.
//!
//! Limits: nonces of 1 to 15 bytes, tags of 4 to 16; far fewer than 2^64 blocks under a
//! key. A nonce must not repeat under a key: messages with the same one show where
//! their blocks are equal, and can be forged.
#![forbid(unsafe_code)]

use super::Otr;
use super::ocb;
use super::pmac::{add, sevenfold, triple};
use crate::about::{About, Registered};
use crate::backend::Backend;
use crate::cipher::Cipher;
use crate::expanded::Expanded;
use crate::facts::Facts;
use crate::isa::Wide;
use crate::mode::{Costs, TAGS_FROM_4};
use crate::pass::{HALF, Header, Last, Pass, Piece, doubles};
use crate::schedule::FORWARD;
use crate::shape::{Along, DataShape, Feed, Holds, RowShape, Shape, Tail};

pub(crate) struct Crypt<const SEAL: bool>;

impl Registered for Otr {
    const ABOUT: About = About {
        title: "offset two-round (AES-OTR v3, parallel associated data)",
        source: "AES-OTR v3, 2016",
        nonce_bytes: (1, 15),
        tag_bytes: TAGS_FROM_4,
        data_components: 1,
        costs: Costs {
            aes_per_block: 1,
            aes_per_data_block: 1,
            aes_per_message: 2,
            ..Costs::NONE
        },
        nonce_reuse: "equal blocks at equal places show, forgeries",
        research: Some("CAESAR, third round"),
        ..About::MODE
    };
    type Forward = Crypt<true>;
    type Backward = Crypt<false>;

    /// Q in reverse byte order.
    fn constants(_: Backend, key: &mut Expanded) {
        key.sub[0].reverse();
    }
}

/// In the header: the nonce; TA. In the state: the next mask, in reverse byte order; the
/// sum.
impl<const SEAL: bool> Pass for Crypt<SEAL> {
    type State<W: Wide> = [W; 2];
    const SHAPE: Shape = Shape {
        tail: Tail::Last,
        feed: Feed::Blocks(Along {
            blocks: &[Holds::Double, Holds::Sum],
            lanes_below: 576,
            ..Along::NO
        }),
        row: RowShape::PAIR,
        header: 2,
        data: Some(DataShape {
            along: &[Holds::Double, Holds::Sum],
            ..DataShape::ending(Tail::Last)
        }),
        uses: FORWARD.constants(1),
        ..Shape::AEAD
    };

    #[inline(always)]
    fn header<F: Facts>(m: &F) -> Header<F::W> {
        let zero = m.splat(&[0; 16]);
        [ocb::nonce(m), zero, zero, zero]
    }

    #[inline(always)]
    fn begin<C: Cipher>(c: &C, _: &mut Header<C::W>) -> [C::W; 2] {
        [c.subkey(0), c.zero()]
    }

    #[inline(always)]
    fn absorb<C: Cipher>(c: &C, [mask, sum]: &mut [C::W; 2], x: C::W, _: usize) {
        add(c, mask, sum, x);
    }

    #[inline(always)]
    fn absorb_last<C: Cipher>(c: &C, [mask, sum]: &mut [C::W; 2], last: Piece<C::W>) {
        let three = triple(*mask);
        let mask = C::W::select(last.count.partial(), three, triple(three));
        *sum = c.encrypt(*sum ^ last.block ^ last.count.one_zero() ^ mask.swap_bytes());
    }

    #[inline(always)]
    fn text<C: Cipher>(c: &C, h: &mut Header<C::W>, [_, sum]: [C::W; 2]) -> [C::W; 2] {
        h[1] = sum;
        [c.encrypt(h[0]).swap_bytes(), c.zero()]
    }

    #[inline(always)]
    fn early<C: Cipher>(
        c: &C,
        [mask, sum]: &mut [C::W; 2],
        [x0, x1]: [C::W; 2],
        _: usize,
    ) -> [C::W; HALF] {
        let (first, second) = (mask.swap_bytes(), triple(*mask).swap_bytes());
        *mask = c.doubled(*mask);
        let (early, late) = match SEAL {
            true => (first, second),
            false => (second, first),
        };
        if SEAL {
            *sum = c.added(*sum, x1);
        }
        let y0 = c.encrypt(x0 ^ early) ^ x1;
        [y0, x0, late, c.zero()]
    }

    #[inline(always)]
    fn late<C: Cipher>(
        c: &C,
        [_, sum]: &mut [C::W; 2],
        [y0, x0, late, _]: [C::W; HALF],
    ) -> [C::W; 2] {
        let y1 = c.encrypt(y0 ^ late) ^ x0;
        if !SEAL {
            *sum = c.added(*sum, c.within(y1));
        }
        [y0, y1]
    }

    #[inline(always)]
    fn spread<C: Cipher>([mask, _]: &mut [C::W; 2], c: &C, places: C::W, _: C::W) {
        *mask = doubles(c, *mask, places);
    }

    /// Up to 32 bytes, and the tag but for TA.
    #[inline(always)]
    fn finish<C: Cipher>(
        c: &C,
        _: &Header<C::W>,
        [mask, sum]: &mut [C::W; 2],
        last: &mut Last<C::W>,
    ) {
        let Last {
            first,
            second,
            more,
        } = last;
        let two = second.count.any();
        let three = triple(*mask);
        let (a, b) = (mask.swap_bytes(), three.swap_bytes());
        let padding = second.count.one_zero();
        // With the second half of the ciphertext.
        let late = padding ^ b;
        let mut x = first.block;
        if *more && !SEAL {
            x = x ^ c.encrypt(second.block ^ late);
        }
        // Of a single block, the mask alone makes what is xored to it.
        let z = c.encrypt((x & two) ^ a);
        let short = first.block ^ z;
        let plain = if SEAL { first.block } else { short };
        let plain = plain & first.count.first_bytes() ^ first.count.one_zero();
        let y = (second.block ^ z) & second.count.first_bytes();
        let sealed = if SEAL { y } else { second.block };
        *sum = *sum ^ C::W::select(two, z ^ sealed ^ padding, plain);
        if *more && SEAL {
            x = x ^ c.encrypt(sealed ^ late);
        }
        first.block = C::W::select(two, x, short);
        second.block = y;
        let d = C::W::select(two, three, *mask);
        let shorter = C::W::select(two, second.count, first.count).partial();
        let d = C::W::select(shorter, triple(triple(d)), sevenfold(d));
        *sum = c.encrypt(*sum ^ d.swap_bytes());
    }

    #[inline(always)]
    fn tag<C: Cipher>(_: &C, h: &Header<C::W>, [_, sum]: [C::W; 2]) -> C::W {
        sum ^ h[1]
    }
}
