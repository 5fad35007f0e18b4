//! SILC: Iwata, Minematsu, Guo, Morioka and Kobayashi, "CLOC and SILC v3" (CAESAR
//! submission, 2016), with AES-128, nonces of 12 bytes and tags of 8.
//!
//! ```text
//! zap(X) = X || 0*, a whole block;  len(X): the number of its bytes, big-endian
//! g(X): bytes 1 to 15 of X, then the sum of bytes 0 and 1
//! fix1: the first bit becomes 1
//! S = CIPH_K(000000c0 || N);  S = CIPH_K(S ^ zap(A_i));  V = g(S ^ len(A))
//! C_1 = P_1 ^ CIPH_K(V);  C_i = P_i ^ CIPH_K(fix1(C_{i-1}))
//! U = CIPH_K(g(V));  U = CIPH_K(U ^ zap(C_i))
//! T = the first 8 bytes of CIPH_K(g(U ^ len(C)))
//! ```
//!
//! For research and comparison. The bits are those of the submission's reference code.
//! The two calls for a block, of the text and of the tag, do not wait for each other.
//! Limits: keys of 16 bytes; texts and associated data below 2^64 bytes, and far fewer
//! than 2^64 calls of AES under a key. A nonce must not repeat under a key: the first
//! blocks in which messages with the same one differ leak their xor, and nothing is
//! claimed of their tags.
#![forbid(unsafe_code)]

use super::Silc;
use super::cloc::{PARAM, crypt, crypt_last};
use crate::about::{About, Registered};
use crate::cipher::Cipher;
use crate::facts::{Facts, up};
use crate::isa::Wide;
use crate::mode::Costs;
use crate::pass::{Header, Last, Pass, Piece};
use crate::shape::{Shape, Tail};

pub(crate) struct Crypt<const SEAL: bool>;

impl Registered for Silc {
    const ABOUT: About = About {
        title: "simple lightweight CFB",
        source: "CLOC and SILC v3, CAESAR 2016",
        key_bytes: &[16],
        nonce_bytes: (12, 12),
        tag_bytes: &[8],
        data_components: 1,
        costs: Costs {
            aes_per_block: 2,
            aes_per_data_block: 1,
            aes_per_message: 3,
            ..Costs::NONE
        },
        nonce_reuse: "first differing blocks leak their xor",
        research: Some("CAESAR, third round (a pair with CLOC)"),
        ..About::MODE
    };
    type Forward = Crypt<true>;
    type Backward = Crypt<false>;
}

/// In the header: the nonce's block; the lengths of data and text. In the state: S,
/// later what is xored to the next block; U.
impl<const SEAL: bool> Pass for Crypt<SEAL> {
    type State<W: Wide> = [W; 2];
    const SHAPE: Shape = Shape {
        aes_128: true,
        tail: Tail::Last,
        header: 3,
        ..Shape::AEAD
    };

    #[inline(always)]
    fn header<F: Facts>(m: &F) -> Header<F::W> {
        let data = m.number(
            #[inline(always)]
            |m| m.data,
        );
        [
            up(m, 4, m.nonce()) ^ m.splat(&(PARAM << 24).to_le_bytes()),
            data.swap_bytes(),
            m.text().swap_bytes(),
            m.splat(&[0; 16]),
        ]
    }

    #[inline(always)]
    fn begin<C: Cipher>(c: &C, h: &mut Header<C::W>) -> [C::W; 2] {
        [c.encrypt(h[0]), c.zero()]
    }

    #[inline(always)]
    fn absorb<C: Cipher>(c: &C, [s, _]: &mut [C::W; 2], x: C::W, _: usize) {
        *s = c.encrypt(x ^ *s);
    }

    #[inline(always)]
    fn absorb_last<C: Cipher>(c: &C, state: &mut [C::W; 2], last: Piece<C::W>) {
        Self::absorb(c, state, last.block, 0);
    }

    #[inline(always)]
    fn text<C: Cipher>(c: &C, h: &mut Header<C::W>, [s, _]: [C::W; 2]) -> [C::W; 2] {
        let v = mix(c, s ^ h[1]);
        [c.encrypt(v), c.encrypt(mix(c, v))]
    }

    #[inline(always)]
    fn step<C: Cipher>(c: &C, state: &mut [C::W; 2], x: C::W, _: usize) -> C::W {
        crypt::<C, SEAL>(c, state, x)
    }

    #[inline(always)]
    fn finish<C: Cipher>(
        c: &C,
        _: &Header<C::W>,
        [stream, u]: &mut [C::W; 2],
        last: &mut Last<C::W>,
    ) {
        let cipher = crypt_last::<_, SEAL>(*stream, &mut last.first);
        *u = C::W::select(last.first.count.any(), c.encrypt(cipher ^ *u), *u);
    }

    #[inline(always)]
    fn tag<C: Cipher>(c: &C, h: &Header<C::W>, [_, u]: [C::W; 2]) -> C::W {
        c.encrypt(mix(c, u ^ h[2]))
    }
}

/// g.
#[inline(always)]
fn mix<C: Cipher>(c: &C, x: C::W) -> C::W {
    const NONE: u8 = 0x80;
    let turned = x.shuffle(c.splat(&[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0]));
    let second = x.shuffle(c.splat(&[
        NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, 1,
    ]));
    turned ^ second
}
