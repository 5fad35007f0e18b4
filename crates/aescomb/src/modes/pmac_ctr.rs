//! PMAC+CTR: Aoki, Iwata and Yasuda, "How Fast Can a Two-Pass Mode Go? A Parallel
//! Deterministic Authenticated Encryption Mode for AES-NI" (talk at DIAC 2012).
//!
//! ```text
//! L = CIPH_K(0^128)
//! H_1 = N;  H_2 ... H_a = A
//! S = the sum of CIPH_K(H_i ^ 2^(i-1) 7 L), the last, shorter block
//!     CIPH_K((H_a || 10*) ^ 2^(a-1) 21 L)
//! S ^= the sum of CIPH_K(P_i ^ 2^i L) for 1 <= i < m
//! P_m whole:   T = CIPH_K(S ^ P_m ^ 2^m 3 L)
//! otherwise:   T = CIPH_K(S ^ (P_m || 10*) ^ 2^m 9 L)    so too for an empty message
//! C_i = P_i ^ CIPH_K(T ^ 49 L ^ i)
//! ```
//!
//! Products are those of SP 800-38B section 5.3, but 9, 21 and 49 are 3 3, 3 7 and 7 7; i
//! is a big-endian integer.
//!
//! Of the talk only the text of the slides can be had, without the figures that define
//! the mode. From there: the two passes under one key, PMAC over data and message, then
//! CTR from the tag, and masks that are doubled. The masks' factors, the nonce's place,
//! the padding, and how the tag begins the counter are a completion of ours, so that
//! other implementations may give other bits. For research and comparison, not for new
//! protocols.
//!
//! Limits: keys and nonces of 16 bytes, tags of 16; far fewer than 2^64 blocks under a
//! key. With a repeated nonce equal messages with equal data show, and nothing else.
#![forbid(unsafe_code)]

use super::PmacCtr;
use super::pmac::{Mac, add, triple};
use crate::about::{About, Registered};
use crate::backend::Backend;
use crate::cipher::Cipher;
use crate::expanded::Expanded;
use crate::facts::Facts;
use crate::gf128::sevenfold;
use crate::isa::Wide;
use crate::mode::Costs;
use crate::pass::{Apart, Header, Last, Pass, Piece, TAG, Two};
use crate::schedule::{FORWARD, Uses};
use crate::shape::{DataShape, Feed, Holds, Shape, Tail};

/// The tag from the text.
pub(crate) struct Authenticate;
/// The text by the tag.
pub(crate) struct Crypt;

impl Registered for PmacCtr {
    const ABOUT: About = About {
        title: "PMAC, then counter mode from its tag",
        source: "Aoki et al., DIAC 2012",
        key_bytes: &[16],
        nonce_bytes: (16, 16),
        tag_bytes: &[16],
        data_components: 1,
        costs: Costs {
            aes_per_block: 2,
            aes_per_data_block: 1,
            aes_per_message: 1,
            ..Costs::NONE
        },
        nonce_reuse: "equal messages show",
        research: Some("talk at DIAC 2012; defined by us where the slides could not be had"),
        ..About::MODE
    };
    type Forward = Apart<Two<Authenticate, Crypt>, Authenticate, Crypt>;
    type Backward = Apart<Two<Crypt, Authenticate>, Crypt, Authenticate>;

    /// L and 7 L in reverse byte order; 49 L.
    fn constants(_: Backend, key: &mut Expanded) {
        key.sub[0].reverse();
        let seven = sevenfold(u128::from_le_bytes(key.sub[0]));
        key.sub[1] = seven.to_le_bytes();
        key.sub[2] = sevenfold(seven).to_be_bytes();
    }
}

const USES: Uses = FORWARD.constants(3);

/// In the header: the nonce; the tag.
#[inline(always)]
fn header<F: Facts>(m: &F) -> Header<F::W> {
    let zero = m.splat(&[0; 16]);
    [m.nonce(), zero, zero, m.given_tag()]
}

/// In the state: the next block's mask, in reverse byte order; the sum.
impl Pass for Authenticate {
    type State<W: Wide> = [W; 2];
    const SHAPE: Shape = Shape {
        aes_128: true,
        tail: Tail::Last,
        feed: <Mac as Pass>::SHAPE.feed,
        header: 1,
        again: true,
        data: Some(DataShape {
            along: &[Holds::Double, Holds::Sum],
            ..DataShape::ending(Tail::Part)
        }),
        uses: USES,
        ..Shape::MAC
    };

    #[inline(always)]
    fn header<F: Facts>(m: &F) -> Header<F::W> {
        header(m)
    }

    #[inline(always)]
    fn begin<C: Cipher>(c: &C, h: &mut Header<C::W>) -> [C::W; 2] {
        let mut state = [c.subkey(1), c.zero()];
        Self::absorb(c, &mut state, h[0], 0);
        state
    }

    #[inline(always)]
    fn absorb<C: Cipher>(c: &C, [mask, sum]: &mut [C::W; 2], x: C::W, _: usize) {
        add(c, mask, sum, x);
    }

    #[inline(always)]
    fn absorb_last<C: Cipher>(c: &C, [mask, sum]: &mut [C::W; 2], last: Piece<C::W>) {
        let x = last.block ^ last.count.one_zero();
        *sum = *sum ^ c.encrypt(x ^ triple(*mask).swap_bytes());
    }

    #[inline(always)]
    fn text<C: Cipher>(c: &C, _: &mut Header<C::W>, [_, sum]: [C::W; 2]) -> [C::W; 2] {
        [c.subkey(0).double(), sum]
    }

    #[inline(always)]
    fn step<C: Cipher>(c: &C, state: &mut [C::W; 2], x: C::W, row: usize) -> C::W {
        Mac::step(c, state, x, row)
    }

    #[inline(always)]
    fn finish<C: Cipher>(c: &C, h: &Header<C::W>, state: &mut [C::W; 2], last: &mut Last<C::W>) {
        Mac::finish(c, h, state, last);
    }

    #[inline(always)]
    fn spread<C: Cipher>(state: &mut [C::W; 2], c: &C, places: C::W, table: C::W) {
        Mac::spread(state, c, places, table);
    }

    #[inline(always)]
    fn tag<C: Cipher>(_: &C, _: &Header<C::W>, [_, sum]: [C::W; 2]) -> C::W {
        sum
    }
}

/// In the state: the counter, little-endian; what it is xored to.
impl Pass for Crypt {
    type State<W: Wide> = [W; 2];
    const SHAPE: Shape = Shape {
        aes_128: true,
        feed: Feed::InOrder(&[Holds::Position, Holds::Position]),
        header: TAG + 1,
        uses: USES,
        ..Shape::CIPHER
    };

    #[inline(always)]
    fn header<F: Facts>(m: &F) -> Header<F::W> {
        header(m)
    }

    #[inline(always)]
    fn begin<C: Cipher>(c: &C, h: &mut Header<C::W>) -> [C::W; 2] {
        [c.one(), h[TAG] ^ c.subkey(2)]
    }

    #[inline(always)]
    fn step<C: Cipher>(c: &C, state: &mut [C::W; 2], x: C::W, _: usize) -> C::W {
        let y = c.encrypt(state[1] ^ state[0].swap_bytes()) ^ x;
        state[0] = state[0].count64(c.stride());
        y
    }

    #[inline(always)]
    fn spread<C: Cipher>([counter, _]: &mut [C::W; 2], _: &C, places: C::W, _: C::W) {
        *counter = counter.count64(places);
    }
}
