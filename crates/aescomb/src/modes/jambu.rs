//! AES-JAMBU: Wu and Huang, "The JAMBU Lightweight Authentication Encryption Mode"
//! (CAESAR submission, v2.1 of 2016).
//!
//! ```text
//! LO, HI: the halves of the state, of 8 bytes;  R as long;  so are blocks
//! LO || HI = CIPH_K(N || 0);  LO = LO ^ 5;  R = HI       a number is in the first byte
//! step(k, X):  LO || HI = CIPH_K(LO || HI);  LO = LO ^ R ^ k
//!              HI = HI ^ X;  R = R ^ HI
//! step(1, A_i), the last of 0 to 7 bytes with 10* after it
//! step(0, P_i), likewise, with the output C_i = P_i ^ LO, the last one cut
//! step(3, 0);  LO || HI = CIPH_K(LO || HI);  T = LO ^ HI ^ R
//! ```
//!
//! For research and comparison. The bits are those of the submission's reference code.
//! A call of AES does 8 bytes. Limits: keys of 16 bytes, nonces and tags of 8; texts and
//! associated data below 2^61 bytes, and below that in all under a key. A nonce must not
//! repeat under a key: the first blocks in which messages with the same one differ leak
//! their xor. What the first version claimed for that case was reduced.
#![forbid(unsafe_code)]

use super::Jambu;
use crate::about::{About, Limits, Registered};
use crate::block::Block;
use crate::cipher::Cipher;
use crate::facts::Facts;
use crate::isa::Wide;
use crate::mode::Costs;
use crate::pass::{Header, Last, Pass, Piece};
use crate::shape::{DataShape, RowShape, Shape, Tail};

pub(crate) struct Crypt<const SEAL: bool>;

impl Registered for Jambu {
    const ABOUT: About = About {
        title: "AES-JAMBU",
        source: "JAMBU v2.1, CAESAR 2016",
        key_bytes: &[16],
        nonce_bytes: (8, 8),
        tag_bytes: &[8],
        data_components: 1,
        // One more for a last block that is whole, of text and of data, or for none.
        costs: Costs {
            aes_per_block: 1,
            aes_per_data_block: 1,
            aes_per_message: 3,
            block_bytes: HALF,
            ..Costs::NONE
        },
        nonce_reuse: "first differing blocks leak their xor",
        research: Some("CAESAR, third round; its claims were reduced"),
        ..About::MODE
    };
    type Forward = Crypt<true>;
    type Backward = Crypt<false>;

    fn limits(_: usize) -> Limits {
        Limits {
            text: (1 << 61) - 1,
            data: (1 << 61) - 1,
        }
    }
}

/// Bytes of a block.
const HALF: usize = 8;

/// For [`Wide::shuffle`]: the lower half of a block in the upper one.
const UP: Block = [
    0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0, 1, 2, 3, 4, 5, 6, 7,
];
/// The upper half in the lower one.
const DOWN: Block = [
    8, 9, 10, 11, 12, 13, 14, 15, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
];

/// Bytes of associated data of this length that are absorbed in rows.
#[inline(always)]
fn done(len: usize) -> usize {
    Tail::None.rows(len, HALF, 16) * HALF
}

/// In the header: N; the data that its rows leave; how many bytes of it. In the state:
/// LO and HI; R in the lower half.
impl<const SEAL: bool> Pass for Crypt<SEAL> {
    type State<W: Wide> = [W; 2];
    const SHAPE: Shape = Shape {
        aes_128: true,
        tail: Tail::Short,
        row: RowShape {
            stride: HALF,
            ..RowShape::BLOCK
        },
        header: 3,
        data: Some(DataShape {
            stride: HALF,
            ..DataShape::ending(Tail::None)
        }),
        ..Shape::AEAD
    };

    #[inline(always)]
    fn header<F: Facts>(m: &F) -> Header<F::W> {
        let left = m.in_all_bytes(
            #[inline(always)]
            |m| m.data - done(m.data),
        );
        let last = m.block(
            #[inline(always)]
            |m| m.data_from(done(m.sizes().data), 16),
        );
        [m.nonce(), last, left, m.splat(&[0; 16])]
    }

    #[inline(always)]
    fn begin<C: Cipher>(c: &C, h: &mut Header<C::W>) -> [C::W; 2] {
        let block = c.encrypt(h[0]);
        let five = c.splat(&5u128.to_le_bytes());
        [block ^ five, block.shuffle(c.splat(&DOWN))]
    }

    #[inline(always)]
    fn absorb<C: Cipher>(c: &C, state: &mut [C::W; 2], x: C::W, _: usize) {
        next(c, state);
        state[0] = state[0] ^ c.one();
        add(c, state, x);
    }

    #[inline(always)]
    fn text<C: Cipher>(c: &C, h: &mut Header<C::W>, mut state: [C::W; 2]) -> [C::W; 2] {
        let rest = Piece {
            block: h[1],
            count: h[2],
        };
        close::<C, true>(c, &mut state, &rest, c.one());
        state
    }

    /// What is in the upper half is the next row's.
    #[inline(always)]
    fn step<C: Cipher>(c: &C, state: &mut [C::W; 2], x: C::W, _: usize) -> C::W {
        next(c, state);
        let y = x ^ (state[0] & lower(c));
        add(c, state, if SEAL { x } else { y });
        y
    }

    #[inline(always)]
    fn finish<C: Cipher>(c: &C, _: &Header<C::W>, state: &mut [C::W; 2], last: &mut Last<C::W>) {
        last.first.block = close::<C, SEAL>(c, state, &last.first, c.zero());
    }

    #[inline(always)]
    fn tag<C: Cipher>(c: &C, _: &Header<C::W>, mut state: [C::W; 2]) -> C::W {
        next(c, &mut state);
        state[0] = state[0] ^ c.splat(&3u128.to_le_bytes());
        add(c, &mut state, c.zero());
        let block = c.encrypt(state[0]);
        block ^ block.shuffle(c.splat(&DOWN)) ^ state[1]
    }
}

/// Ones in the lower half.
#[inline(always)]
fn lower<C: Cipher>(c: &C) -> C::W {
    c.splat(&u128::from(u64::MAX).to_le_bytes())
}

/// The first half of a step, of the kind 0.
#[inline(always)]
fn next<C: Cipher>(c: &C, [block, r]: &mut [C::W; 2]) {
    *block = c.encrypt(*block) ^ *r;
}

/// The second half of a step: takes in the lower half of `x`.
#[inline(always)]
fn add<C: Cipher>(c: &C, [block, r]: &mut [C::W; 2], x: C::W) {
    *block = *block ^ x.shuffle(c.splat(&UP));
    *r = *r ^ block.shuffle(c.splat(&DOWN));
}

/// The last 0 to 15 bytes: a step of the kind `k` for the first 8 if there are as many,
/// and one for the others, padded. Returns what becomes of a text.
#[inline(always)]
fn close<C: Cipher, const SEAL: bool>(
    c: &C,
    state: &mut [C::W; 2],
    rest: &Piece<C::W>,
    k: C::W,
) -> C::W {
    let Piece { block: x, count } = *rest;
    let up = c.splat(&UP);
    let down = c.splat(&DOWN);
    // Byte 7 has ones where there are 8 bytes.
    let two = count.first_bytes().shuffle(c.splat(&[7; 16]));
    let mut first = *state;
    next(c, &mut first);
    first[0] = first[0] ^ k;
    let stream = first[0] & lower(c);
    add(c, &mut first, if SEAL { x } else { x ^ stream });
    state[0] = C::W::select(two, first[0], state[0]);
    state[1] = C::W::select(two, first[1], state[1]);
    next(c, state);
    state[0] = state[0] ^ k;
    let stream = C::W::select(two, stream ^ state[0].shuffle(up), state[0]);
    let y = x ^ stream;
    let plain = if SEAL { x } else { y & count.first_bytes() };
    let padded = plain ^ count.one_zero();
    add(c, state, C::W::select(two, padded.shuffle(down), padded));
    y
}
