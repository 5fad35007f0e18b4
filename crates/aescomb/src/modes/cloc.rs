//! CLOC: Iwata, Minematsu, Guo, Morioka and Kobayashi, "CLOC and SILC v3" (CAESAR
//! submission, 2016), with AES-128, nonces of 12 bytes and tags of 8.
//!
//! ```text
//! ozp(X) = X, or X || 10* if X is shorter than a block, an empty one too
//! fix0, fix1: the first bit becomes 0, 1;  P = ozp(c0 || N)
//! S = CIPH_K(fix0(ozp(A_1)));  if the first bit of ozp(A_1) is 1: S = h(S)
//! S = CIPH_K(S ^ ozp(A_i)) for i >= 2
//! A not empty, of whole blocks:   V = f1(S ^ P)
//! otherwise:                      V = f2(S ^ P)
//! C_1 = P_1 ^ CIPH_K(V);  C_i = P_i ^ CIPH_K(fix1(C_{i-1}))
//! U = CIPH_K(g2(V));  U = CIPH_K(U ^ C_i) for i < m
//! C_m whole:   T = CIPH_K(f1(U ^ C_m))
//! shorter:     T = CIPH_K(f2(U ^ ozp(C_m)))
//! none:        T = CIPH_K(g1(V))                 T is cut to 8 bytes
//! with the words 1 2 3 4 of a block, 12 the sum of 1 and 2:
//! f1: 13 24 123 234   f2 and g2: 2 3 4 12   g1: 3 4 12 23   h: 12 23 34 124
//! ```
//!
//! For research and comparison. The bits are those of the submission's reference code.
//! The two calls for a block, of the text and of the tag, do not wait for each other.
//! Limits: keys of 16 bytes; none of lengths, but far fewer than 2^64 calls of AES under
//! a key. A nonce must not repeat under a key: the first blocks in which messages with the
//! same one differ leak their xor, and nothing is claimed of their tags.
#![forbid(unsafe_code)]

use super::Cloc;
use crate::about::{About, Registered};
use crate::block::{Block, both};
use crate::cipher::Cipher;
use crate::facts::{Facts, up};
use crate::isa::Wide;
use crate::mode::Costs;
use crate::pass::{Header, Last, Pass, Piece};
use crate::shape::{DataShape, Shape, Tail};

pub(crate) struct Crypt<const SEAL: bool>;

impl Registered for Cloc {
    const ABOUT: About = About {
        title: "compact low-overhead CFB",
        source: "CLOC and SILC v3, CAESAR 2016",
        key_bytes: &[16],
        nonce_bytes: (12, 12),
        tag_bytes: &[8],
        data_components: 1,
        // Without associated data there is one call more.
        costs: Costs {
            aes_per_block: 2,
            aes_per_data_block: 1,
            aes_per_message: 1,
            ..Costs::NONE
        },
        nonce_reuse: "first differing blocks leak their xor",
        research: Some("CAESAR, third round (a pair with SILC)"),
        ..About::MODE
    };
    type Forward = Crypt<true>;
    type Backward = Crypt<false>;
}

/// The byte that names this choice of cipher, nonce and tag.
pub(super) const PARAM: u128 = 0xc0;

/// In the header: A_1, padded, its first bit 0, later V; P; ones if A has whole blocks;
/// ones if that first bit was 1. In the state: S, later what is xored to the next block;
/// U.
impl<const SEAL: bool> Pass for Crypt<SEAL> {
    type State<W: Wide> = [W; 2];
    const SHAPE: Shape = Shape {
        aes_128: true,
        tail: Tail::Last,
        header: 4,
        data: Some(DataShape {
            begins: |len| len.min(16),
            ..DataShape::ending(Tail::Part)
        }),
        ..Shape::AEAD
    };

    #[inline(always)]
    fn header<F: Facts>(m: &F) -> Header<F::W> {
        let count = m.in_all_bytes(
            #[inline(always)]
            |m| m.data.min(16),
        );
        let whole = m.ones(
            #[inline(always)]
            |m| m.data > 0 && m.data.is_multiple_of(16),
        );
        let first = m.data(16) ^ count.one_zero();
        let bit = m.splat(&0x80u128.to_le_bytes());
        let rest = m.splat(&(!0x80u128).to_le_bytes());
        [
            first & rest,
            up(m, 1, m.nonce()) ^ m.splat(&(PARAM | 0x80 << 104).to_le_bytes()),
            whole,
            // In all bytes, of which `any` wants numbers.
            (first & bit)
                .shift_right(m.splat(&both(7)))
                .shuffle(m.splat(&[0; 16]))
                .any(),
        ]
    }

    #[inline(always)]
    fn begin<C: Cipher>(c: &C, h: &mut Header<C::W>) -> [C::W; 2] {
        let s = c.encrypt(h[0]);
        [C::W::select(h[3], mix_h(c, s), s), c.zero()]
    }

    #[inline(always)]
    fn absorb<C: Cipher>(c: &C, [s, _]: &mut [C::W; 2], x: C::W, _: usize) {
        *s = c.encrypt(x ^ *s);
    }

    #[inline(always)]
    fn absorb_last<C: Cipher>(c: &C, state: &mut [C::W; 2], last: Piece<C::W>) {
        Self::absorb(c, state, last.block ^ last.count.one_zero(), 0);
    }

    #[inline(always)]
    fn text<C: Cipher>(c: &C, h: &mut Header<C::W>, [s, _]: [C::W; 2]) -> [C::W; 2] {
        let sum = s ^ h[1];
        let v = C::W::select(h[2], mix_f1(c, sum), mix_f2(c, sum));
        h[0] = v;
        // g2 is f2.
        [c.encrypt(v), c.encrypt(mix_f2(c, v))]
    }

    #[inline(always)]
    fn step<C: Cipher>(c: &C, state: &mut [C::W; 2], x: C::W, _: usize) -> C::W {
        crypt::<C, SEAL>(c, state, x)
    }

    #[inline(always)]
    fn finish<C: Cipher>(
        c: &C,
        h: &Header<C::W>,
        [stream, u]: &mut [C::W; 2],
        last: &mut Last<C::W>,
    ) {
        let count = last.first.count;
        let cipher = crypt_last::<_, SEAL>(*stream, &mut last.first);
        let sum = *u ^ cipher ^ count.one_zero();
        let sum = C::W::select(count.partial(), mix_f2(c, sum), mix_f1(c, sum));
        *u = c.encrypt(C::W::select(count.any(), sum, mix_g1(c, h[0])));
    }

    #[inline(always)]
    fn tag<C: Cipher>(_: &C, _: &Header<C::W>, [_, u]: [C::W; 2]) -> C::W {
        u
    }
}

/// One block that is not the last, of CLOC and of SILC: what is xored to the next, and
/// U.
#[inline(always)]
pub(super) fn crypt<C: Cipher, const SEAL: bool>(
    c: &C,
    [stream, u]: &mut [C::W; 2],
    x: C::W,
) -> C::W {
    let y = x ^ *stream;
    let cipher = if SEAL { y } else { x };
    // fix1.
    let top = c.splat(&0x80u128.to_le_bytes());
    let others = c.splat(&(!0x80u128).to_le_bytes());
    *stream = c.encrypt((cipher & others) ^ top);
    *u = c.encrypt(cipher ^ *u);
    y
}

/// The last block likewise, which may be shorter: its ciphertext, and zeros.
#[inline(always)]
pub(super) fn crypt_last<W: Wide, const SEAL: bool>(stream: W, last: &mut Piece<W>) -> W {
    let x = last.block;
    last.block = x ^ stream;
    match SEAL {
        true => last.block & last.count.first_bytes(),
        false => x,
    }
}

/// For [`Wide::shuffle`]: these words of a block, of 1 to 4, or zeros for 0.
const fn words(from: [u8; 4]) -> Block {
    let mut index = [0x80; 16];
    let mut i = 0;
    while i < 16 {
        if from[i / 4] > 0 {
            index[i] = (from[i / 4] - 1) * 4 + i as u8 % 4;
        }
        i += 1;
    }
    index
}

#[inline(always)]
fn mix_f1<C: Cipher>(c: &C, x: C::W) -> C::W {
    let swapped = x.shuffle(c.splat(&const { words([3, 4, 1, 2]) }));
    x ^ swapped ^ x.shuffle(c.splat(&const { words([0, 0, 2, 3]) }))
}

#[inline(always)]
fn mix_f2<C: Cipher>(c: &C, x: C::W) -> C::W {
    let turned = x.shuffle(c.splat(&const { words([2, 3, 4, 1]) }));
    turned ^ x.shuffle(c.splat(&const { words([0, 0, 0, 2]) }))
}

#[inline(always)]
fn mix_g1<C: Cipher>(c: &C, x: C::W) -> C::W {
    let swapped = x.shuffle(c.splat(&const { words([3, 4, 1, 2]) }));
    swapped ^ x.shuffle(c.splat(&const { words([0, 0, 2, 3]) }))
}

#[inline(always)]
fn mix_h<C: Cipher>(c: &C, x: C::W) -> C::W {
    x ^ mix_f2(c, x)
}
