//! COBRA: Andreeva, Luykx, Mennink and Yasuda, "COBRA: A Parallelizable Authenticated
//! Online Cipher Without Block Cipher Inverse" (FSE 2014).
//!
//! ```text
//! L = CIPH_K(0^128);  J = CIPH_K(0^127 1)
//! A not empty, A_a whole or filled up with 10*:
//!     H = J^a ^ A_1 J^(a-1) ^ ... ^ A_a;  U = CIPH_K(H ^ 3^4 L), filled up: 3^5 L
//! otherwise:  U = 0
//! V_0 = CIPH_K(N ^ U ^ 7 L)
//! 32 bytes P1 || P2, number i from 1 on:
//!     V_i = (V_{i-1} J ^ P1) J ^ P2;  R = CIPH_K(V_i ^ 2^(i-1) 3 L);  C1 = P1 ^ R
//!     S = CIPH_K(C1 ^ 2^i L);  C2 = V_i ^ S;  Sum ^= R ^ S
//! after l of them, fewer, but some:  P1 || P2 = what is left || 10*
//!     V = (V_l J ^ P1) J ^ P2;  Sum ^= CIPH_K(V ^ 2^l 3^2 L)
//!     T = CIPH_K(CIPH_K(Sum ^ 2^l 3^2 7 L) ^ V_0 ^ 7^2 L)
//!     C = what is left ^ (CIPH_K(T ^ 2 7^2 L) || CIPH_K(T ^ 4 7^2 L))
//! none:  T = CIPH_K(CIPH_K(Sum ^ 2^l 3 7 L) ^ V_0 ^ 7^2 L)
//! ```
//!
//! Products are those of SP 800-38B section 5.3.
//!
//! Neither the paper's full text nor code of it could be had. How whole pairs of blocks
//! are done, and so what a message costs, is that of what is published about it. The keys
//! L and J, the masks, all that is done with nonce and data, the tag, and messages that
//! are no pairs of blocks are a completion of ours, so that other implementations may
//! give other bits. For research and comparison, not for new protocols.
//!
//! Limits: keys and nonces of 16 bytes, tags of 16; far fewer than 2^64 blocks under a
//! key. A nonce must not repeat under a key: messages with the same one show how long
//! their beginnings are equal, and some hundred of them give forgeries.
#![forbid(unsafe_code)]

use super::Cobra;
use super::pmac::{sevenfold, triple};
use crate::about::{About, Registered};
use crate::backend::Backend;
use crate::block::{Block, MAX_UNIT};
use crate::cipher::{Cipher, encrypt_block};
use crate::expanded::Expanded;
use crate::facts::Facts;
use crate::gf128;
use crate::isa::{Isa, Plain, Wide};
use crate::mode::Costs;
use crate::pass::{HALF, Header, Last, Pass, Piece, doubles};
use crate::schedule::FORWARD;
use crate::shape::{Along, DataShape, Feed, Holds, RowShape, Shape, Tail};

pub(crate) struct Crypt<const SEAL: bool>;

impl Registered for Cobra {
    const ABOUT: About = About {
        title: "authenticated online cipher without inverse",
        source: "Andreeva et al., FSE 2014",
        key_bytes: &[16],
        nonce_bytes: (16, 16),
        tag_bytes: &[16],
        data_components: 1,
        // And one more of AES for associated data, one for what is no pair of blocks.
        costs: Costs {
            aes_per_block: 1,
            aes_per_message: 3,
            mul_per_block: 1,
            ..Costs::NONE
        },
        nonce_reuse: "equal beginnings show, forgeries",
        research: Some(
            "withdrawn from CAESAR: forgeries when nonces repeat; \
             completed by us where the paper could not be had",
        ),
        ..About::MODE
    };
    type Forward = Crypt<true>;
    type Backward = Crypt<false>;

    /// J, J^2, L, 7 L, 7^2 L, 3^4 L, all in reverse byte order.
    fn constants(backend: Backend, key: &mut Expanded) {
        let l = u128::from_be_bytes(key.sub[0]);
        let j = u128::from_be_bytes(encrypt_block(backend, key, 1u128.to_be_bytes()));
        let seven = gf128::sevenfold(l);
        let mut threes = l;
        for _ in 0..4 {
            threes = gf128::triple(threes);
        }
        let all = [
            j,
            gf128::mul(j, j),
            l,
            seven,
            gf128::sevenfold(seven),
            threes,
        ];
        for (sub, constant) in key.sub.iter_mut().zip(all) {
            *sub = constant.to_le_bytes();
        }
    }
}

/// In the header: the nonce, later V_0; the tag that was given. In the state: the mask of
/// the next pair, divided by 3; V, both in reverse byte order; the sum. For associated
/// data: the hash, likewise; U.
impl<const SEAL: bool> Pass for Crypt<SEAL> {
    type State<W: Wide> = [W; 3];
    const SHAPE: Shape = Shape {
        aes_128: true,
        tail: Tail::Short,
        feed: Feed::Blocks(Along {
            blocks: &[Holds::Mask { multiples: true }, Holds::Previous, Holds::Sum],
            lanes_below: 576,
            tables: if SEAL { 2 } else { 0 },
            ..Along::NO
        }),
        row: RowShape::PAIR,
        header: if SEAL { 1 } else { 2 },
        data: Some(DataShape::ending(Tail::Last)),
        uses: FORWARD.constants(6),
        ..Shape::AEAD
    };

    #[inline(always)]
    fn header<F: Facts>(m: &F) -> Header<F::W> {
        let zero = m.splat(&[0; 16]);
        [m.nonce(), m.given_tag(), zero, zero]
    }

    #[inline(always)]
    fn begin<C: Cipher>(c: &C, _: &mut Header<C::W>) -> [C::W; 3] {
        [c.one(), c.zero(), c.zero()]
    }

    #[inline(always)]
    fn absorb<C: Cipher>(c: &C, [hash, _, _]: &mut [C::W; 3], x: C::W, _: usize) {
        *hash = c.horner::<Plain>(*hash, x.swap_bytes(), 0);
    }

    #[inline(always)]
    fn absorb_last<C: Cipher>(c: &C, state: &mut [C::W; 3], last: Piece<C::W>) {
        Self::absorb(c, state, last.block ^ last.count.one_zero(), 0);
        let mask = c.subkey(5);
        let mask = C::W::select(last.count.partial(), triple(mask), mask);
        state[1] = c.encrypt((state[0] ^ mask).swap_bytes());
    }

    #[inline(always)]
    fn text<C: Cipher>(c: &C, h: &mut Header<C::W>, [_, u, _]: [C::W; 3]) -> [C::W; 3] {
        h[0] = c.encrypt(h[0] ^ u ^ c.subkey(3).swap_bytes());
        [c.subkey(2), h[0].swap_bytes(), c.zero()]
    }

    #[inline(always)]
    fn early<C: Cipher>(
        c: &C,
        [mask, v, _]: &mut [C::W; 3],
        [x0, x1]: [C::W; 2],
        row: usize,
    ) -> [C::W; HALF] {
        let [rho, sigma] = c.multiples(*mask, row);
        *mask = c.doubled(*mask);
        if SEAL {
            *v = c.horner::<Plain>(*v, inner(c, x0) ^ x1.swap_bytes(), 1);
            let v = v.swap_bytes();
            let r = c.encrypt(v ^ rho);
            [x0 ^ r, v, r, sigma]
        } else {
            let s = c.encrypt(x0 ^ sigma);
            [x0, x1 ^ s, s, rho]
        }
    }

    #[inline(always)]
    fn late<C: Cipher>(
        c: &C,
        [_, v, sum]: &mut [C::W; 3],
        [x0, next, first, mask]: [C::W; HALF],
    ) -> [C::W; 2] {
        if SEAL {
            let s = c.encrypt(x0 ^ mask);
            *sum = c.added(*sum, c.within(first ^ s));
            return [x0, next ^ s];
        }
        let r = c.encrypt(next ^ mask);
        let y0 = x0 ^ r;
        *sum = c.added(*sum, c.within(r ^ first));
        let next = next.swap_bytes();
        let before = c.before(*v, next).mul::<Plain>(c.subkey(1));
        *v = next;
        [y0, (next ^ before ^ inner(c, y0)).swap_bytes()]
    }

    /// The powers of J^2 from the first on, as many as a register may have blocks.
    #[inline(always)]
    fn tables<S: Isa>(s: S, key: &Expanded, _: usize, tables: &mut [Block]) {
        let square = s.splat(key.subkey(1));
        let mut power = square;
        for to in &mut tables[..MAX_UNIT] {
            *to = s.last(power);
            power = power.mul::<Plain>(square);
        }
    }

    #[inline(always)]
    fn spread<C: Cipher>([mask, _, _]: &mut [C::W; 3], c: &C, places: C::W, _: C::W) {
        *mask = doubles(c, *mask, places);
    }

    /// What is no pair of blocks, and the tag.
    #[inline(always)]
    fn finish<C: Cipher>(
        c: &C,
        h: &Header<C::W>,
        [mask, v, sum]: &mut [C::W; 3],
        last: &mut Last<C::W>,
    ) {
        let Last {
            first,
            second,
            more,
        } = last;
        if !SEAL {
            crypt(c, h[1], first, second, *more);
        }
        let some = first.count.any();
        let p1 = (first.block & first.count.first_bytes()) ^ first.count.one_zero();
        let p2 = (second.block & second.count.first_bytes())
            ^ C::W::select(first.count.partial(), c.zero(), second.count.one_zero());
        let v = v.mul::<Plain>(c.subkey(1)) ^ inner(c, p1) ^ p2.swap_bytes();
        let three = triple(*mask);
        let nine = triple(three);
        *sum = *sum ^ (c.encrypt((v ^ nine).swap_bytes()) & some);
        let mask = sevenfold(C::W::select(some, nine, three));
        let s = c.encrypt(*sum ^ mask.swap_bytes());
        *sum = c.encrypt(s ^ h[0] ^ c.subkey(4).swap_bytes());
        if SEAL {
            crypt(c, *sum, first, second, *more);
        }
    }

    #[inline(always)]
    fn tag<C: Cipher>(_: &C, _: &Header<C::W>, [_, _, sum]: [C::W; 3]) -> C::W {
        sum
    }
}

/// P1 J, in reverse byte order.
#[inline(always)]
fn inner<C: Cipher>(c: &C, x: C::W) -> C::W {
    x.swap_bytes().mul::<Plain>(c.subkey(0))
}

/// What is no pair of blocks, by the tag.
#[inline(always)]
fn crypt<C: Cipher>(
    c: &C,
    tag: C::W,
    first: &mut Piece<C::W>,
    second: &mut Piece<C::W>,
    more: bool,
) {
    let twice = c.subkey(4).double();
    first.block = first.block ^ c.encrypt(tag ^ twice.swap_bytes());
    if more {
        second.block = second.block ^ c.encrypt(tag ^ twice.double().swap_bytes());
    }
}
