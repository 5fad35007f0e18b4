//! AES-COPA, version 2: Andreeva, Bogdanov, Luykx, Mennink, Tischhauser and Yasuda,
//! "Parallelizable and Authenticated Online Ciphers" (Asiacrypt 2013); AES-COPA v.2,
//! submission to CAESAR (2015).
//!
//! ```text
//! L = CIPH_K(0^128)
//! H_1 ... H_a = A || N
//! S = the sum of CIPH_K(H_i ^ 2^(i-1) 3^3 L) for 1 <= i < a
//! H_a whole:   V = CIPH_K(S ^ H_a ^ 2^(a-1) 3^4 L)
//! otherwise:   V = CIPH_K(S ^ (H_a || 10*) ^ 2^(a-1) 3^5 L)
//! P_d not whole, or P empty:  P_d = P_d || 10*, and f = 7; otherwise f = 1
//! V_0 = V ^ L;  V_i = CIPH_K(P_i ^ M_i) ^ V_{i-1};  C_i = CIPH_K(V_i) ^ 2^i L
//! M_i = 2^(i-1) 3 L, but M_d = 2^(d-1) 3 f L
//! T = CIPH_K(CIPH_K(P_1 ^ ... ^ P_d ^ 3 M_d) ^ V_d) ^ 2^d 7 L, and a byte: 1 where P was
//!     filled up, 0 where it was not
//! ```
//!
//! Products are those of SP 800-38B section 5.3. The ciphertext has whole blocks, one at
//! least; the byte after T belongs to the tag, of 17 bytes. The bits are those of the
//! submission's reference code. For research and comparison, not for new protocols.
//!
//! Limits: keys and nonces of 16 bytes; far fewer than 2^64 blocks under a key. Messages
//! with the same nonce and data show how long their beginnings are equal.
#![forbid(unsafe_code)]

use super::Copa;
use super::pmac::{add, sevenfold, triple};
use crate::about::{About, Registered};
use crate::backend::Backend;
use crate::cipher::Cipher;
use crate::expanded::Expanded;
use crate::facts::Facts;
use crate::gf128;
use crate::isa::Wide;
use crate::mode::{Costs, Lengths};
use crate::pass::{HALF, Header, Last, Pass, Piece, doubles};
use crate::schedule::Uses;
use crate::shape::{Along, DataShape, Feed, Holds, Shape, Tail};

pub(crate) struct Crypt<const SEAL: bool>;

impl Registered for Copa {
    const ABOUT: About = About {
        title: "parallelizable authenticated online cipher (AES-COPA v2)",
        source: "AES-COPA v.2, 2015",
        key_bytes: &[16],
        nonce_bytes: (16, 16),
        tag_bytes: &[17],
        data_components: 1,
        lengths: Lengths::Filled,
        costs: Costs {
            aes_per_block: 2,
            aes_per_data_block: 1,
            aes_per_message: 3,
            ..Costs::NONE
        },
        nonce_reuse: "equal beginnings show",
        research: Some("CAESAR, second round (as part of AES-COPA)"),
        ..About::MODE
    };
    type Forward = Crypt<true>;
    type Backward = Crypt<false>;

    /// L and 3^3 L in reverse byte order.
    fn constants(_: Backend, key: &mut Expanded) {
        key.sub[0].reverse();
        let mut mask = u128::from_le_bytes(key.sub[0]);
        for _ in 0..3 {
            mask = gf128::triple(mask);
        }
        key.sub[1] = mask.to_le_bytes();
    }
}

/// In the header: H_a, filled up; what of the nonce goes into the block before; ones
/// where H_a is filled up; the same of P_d, of messages that are opened. In the state:
/// the next block's mask before the first layer, divided by 3, in reverse byte order; V;
/// the sum. For associated data: its mask, likewise; the sum; that of the header.
impl<const SEAL: bool> Pass for Crypt<SEAL> {
    type State<W: Wide> = [W; 3];
    const SHAPE: Shape = Shape {
        aes_128: true,
        tail: Tail::Filled,
        feed: Feed::Blocks(Along {
            blocks: &[Holds::Mask { multiples: true }, Holds::Previous, Holds::Sum],
            lanes_below: 576,
            ..Along::NO
        }),
        header: if SEAL { 3 } else { 4 },
        data: Some(DataShape {
            along: &[Holds::Double, Holds::Sum, Holds::Position],
            ..DataShape::ending(Tail::Part)
        }),
        uses: Uses {
            forward: true,
            inverse: !SEAL,
            second: false,
            constants: 2,
        },
        ..Shape::AEAD
    };

    #[inline(always)]
    fn header<F: Facts>(m: &F) -> Header<F::W> {
        let nonce = m.nonce();
        let past = m.in_all_bytes(
            #[inline(always)]
            |m| m.data % 16,
        );
        let some = past.any();
        let end = nonce.shuffle(past.down()) ^ past.one_zero();
        let filled = match SEAL {
            true => m.splat(&[0; 16]),
            false => m.block(
                #[inline(always)]
                |m| u128::from(m.is_filled()).wrapping_neg(),
            ),
        };
        [
            F::W::select(some, end, nonce),
            nonce.shuffle(past.up()) & some,
            some,
            filled,
        ]
    }

    #[inline(always)]
    fn begin<C: Cipher>(c: &C, h: &mut Header<C::W>) -> [C::W; 3] {
        [c.subkey(1), c.zero(), h[1]]
    }

    #[inline(always)]
    fn absorb<C: Cipher>(c: &C, [mask, sum, _]: &mut [C::W; 3], x: C::W, _: usize) {
        add(c, mask, sum, x);
    }

    #[inline(always)]
    fn absorb_last<C: Cipher>(c: &C, state: &mut [C::W; 3], last: Piece<C::W>) {
        let nonce = state[2];
        Self::absorb(c, state, last.block ^ nonce, 0);
    }

    #[inline(always)]
    fn text<C: Cipher>(c: &C, h: &mut Header<C::W>, [mask, sum, _]: [C::W; 3]) -> [C::W; 3] {
        let three = triple(mask);
        let mask = C::W::select(h[2], triple(three), three);
        let v = c.encrypt(sum ^ h[0] ^ mask.swap_bytes());
        [c.subkey(0), v ^ c.subkey(0).swap_bytes(), c.zero()]
    }

    #[inline(always)]
    fn early<C: Cipher>(
        c: &C,
        state: &mut [C::W; 3],
        [x, _]: [C::W; 2],
        row: usize,
    ) -> [C::W; HALF] {
        let [before, after] = c.multiples(state[0], row);
        state[0] = c.doubled(state[0]);
        first_layer::<C, SEAL>(c, state, x, before, after)
    }

    #[inline(always)]
    fn late<C: Cipher>(c: &C, state: &mut [C::W; 3], half: [C::W; HALF]) -> [C::W; 2] {
        [second_layer::<C, SEAL>(c, state, half), c.zero()]
    }

    #[inline(always)]
    fn spread<C: Cipher>([mask, _, _]: &mut [C::W; 3], c: &C, places: C::W, _: C::W) {
        *mask = doubles(c, *mask, places);
    }

    /// The last block, and the tag.
    #[inline(always)]
    fn finish<C: Cipher>(c: &C, h: &Header<C::W>, state: &mut [C::W; 3], last: &mut Last<C::W>) {
        let last = &mut last.first;
        let (x, filled) = match SEAL {
            true => (last.block ^ last.count.one_zero(), last.count.partial()),
            false => (last.block, h[3]),
        };
        let three = triple(state[0]);
        let before = C::W::select(filled, sevenfold(three), three);
        let after = state[0].double();
        let half = first_layer::<C, SEAL>(c, state, x, before.swap_bytes(), after.swap_bytes());
        last.block = second_layer::<C, SEAL>(c, state, half);
        let [_, v, sum] = state;
        let inner = c.encrypt(*sum ^ triple(before).swap_bytes());
        *sum = c.encrypt(inner ^ *v) ^ sevenfold(after).swap_bytes();
    }

    #[inline(always)]
    fn tag<C: Cipher>(_: &C, _: &Header<C::W>, [_, _, sum]: [C::W; 3]) -> C::W {
        sum
    }
}

/// The first layer of one block, with its masks before and after.
#[inline(always)]
fn first_layer<C: Cipher, const SEAL: bool>(
    c: &C,
    [_, _, sum]: &mut [C::W; 3],
    x: C::W,
    before: C::W,
    after: C::W,
) -> [C::W; HALF] {
    let zero = c.zero();
    if SEAL {
        *sum = c.added(*sum, x);
        [c.encrypt(x ^ before), after, zero, zero]
    } else {
        [c.decrypt(x ^ after), before, zero, zero]
    }
}

/// The second one, with the mask that is left.
#[inline(always)]
fn second_layer<C: Cipher, const SEAL: bool>(
    c: &C,
    [_, v, sum]: &mut [C::W; 3],
    [x, mask, ..]: [C::W; HALF],
) -> C::W {
    if SEAL {
        *v = c.running(*v, x);
        c.encrypt(*v) ^ mask
    } else {
        let y = c.decrypt(x ^ c.before(*v, x)) ^ mask;
        *v = x;
        *sum = c.added(*sum, c.within(y));
        y
    }
}
