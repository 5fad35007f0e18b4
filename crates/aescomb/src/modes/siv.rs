//! SIV, synthetic initialisation vector: RFC 5297.
//!
//! ```text
//! K = K1 || K2
//! D = CMAC_K1(0^128)
//! for each component S of the associated data, then the nonce if there is one:
//!     D = 2 D ^ CMAC_K1(S)
//! P of 16 bytes or more:  T = P with D xored into its last 16 bytes
//! otherwise:              T = 2 D ^ (P || 10*)
//! V = CMAC_K1(T)
//! C = P ^ CTR_K2(V with bits 31 and 63 cleared)
//! ```
//!
//! V is the tag, of 16 bytes; the RFC puts it before the ciphertext. Limits: at most
//! 126 components of associated data, the nonce among them. Without a nonce, or
//! with a repeated one, equal messages with equal data show, and nothing else.
#![forbid(unsafe_code)]

use super::Siv;
use super::cmac::{masked, subkeys};
use crate::about::{About, Registered};
use crate::backend::Backend;
use crate::cipher::{Cipher, encrypt_block};
use crate::expanded::Expanded;
use crate::facts::Facts;
use crate::isa::Wide;
use crate::mode::{Costs, TWO_KEYS};
use crate::pass::{Apart, Header, Last, Pass, Piece, TAG, Two};
use crate::schedule::{FORWARD, Uses};
use crate::shape::{DataShape, Feed, Holds, Link, Shape, Tail};

/// V from the text: S2V.
pub(crate) struct Authenticate;
/// The text by V.
pub(crate) struct Crypt;

impl Registered for Siv {
    const ABOUT: About = About {
        title: "synthetic initialisation vector",
        source: "RFC 5297, 2",
        key_bytes: TWO_KEYS,
        nonce_bytes: (0, u32::MAX as usize - 1),
        tag_bytes: &[16],
        data_components: 126,
        costs: Costs {
            aes_per_block: 2,
            aes_per_data_block: 1,
            aes_per_message: 1,
            ..Costs::NONE
        },
        tag_first: true,
        nonce_reuse: "equal messages show",
        ..About::MODE
    };
    type Forward = Apart<Two<Authenticate, Crypt>, Authenticate, Crypt>;
    type Backward = Apart<Two<Crypt, Authenticate>, Crypt, Authenticate>;

    /// CMAC's K1 and K2 of the first key, and CMAC(0^128).
    fn constants(backend: Backend, key: &mut Expanded) {
        let [k1, k2] = subkeys(key.sub[0]);
        // The only block of the message is whole, and K1 is xored to it.
        key.sub[2] = encrypt_block(backend, key, k1);
        key.sub[0] = k1;
        key.sub[1] = k2;
    }
}

const USES: Uses = Uses {
    second: true,
    constants: 3,
    ..FORWARD
};

/// In the state: the chain of a CMAC; D.
impl Pass for Authenticate {
    type State<W: Wide> = [W; 2];
    const SHAPE: Shape = Shape {
        tail: Tail::Double,
        feed: Feed::Serial(Link::Before),
        again: true,
        data: Some(DataShape {
            vector: true,
            ..DataShape::ending(Tail::Last)
        }),
        uses: USES,
        ..Shape::MAC
    };

    #[inline(always)]
    fn begin<C: Cipher>(c: &C, _: &mut Header<C::W>) -> [C::W; 2] {
        [c.zero(), c.subkey(2)]
    }

    #[inline(always)]
    fn open_data<C: Cipher>(c: &C, [chain, _]: &mut [C::W; 2]) {
        *chain = c.zero();
    }

    #[inline(always)]
    fn absorb<C: Cipher>(c: &C, [chain, _]: &mut [C::W; 2], x: C::W, _: usize) {
        *chain = c.encrypt(x ^ *chain);
    }

    #[inline(always)]
    fn absorb_last<C: Cipher>(c: &C, [chain, d]: &mut [C::W; 2], last: Piece<C::W>) {
        *d = d.double_block() ^ c.encrypt(*chain ^ masked(c, last));
    }

    #[inline(always)]
    fn text<C: Cipher>(c: &C, _: &mut Header<C::W>, [_, d]: [C::W; 2]) -> [C::W; 2] {
        [c.zero(), d]
    }

    #[inline(always)]
    fn step<C: Cipher>(c: &C, [chain, _]: &mut [C::W; 2], x: C::W, _: usize) -> C::W {
        *chain = c.encrypt(x ^ *chain);
        *chain
    }

    /// 16 bytes and up to 15 more, or fewer than 16 in all.
    #[inline(always)]
    fn finish<C: Cipher>(
        c: &C,
        _: &Header<C::W>,
        [chain, d]: &mut [C::W; 2],
        last: &mut Last<C::W>,
    ) {
        let Last {
            first,
            second,
            more,
        } = last;
        let (k1, k2) = (c.subkey(0), c.subkey(1));
        let short = d.double_block() ^ first.count.one_zero();
        let end = C::W::select(first.count.partial(), short, *d);
        let mut x = *chain ^ first.block ^ end ^ k1;
        if *more {
            // Where there are more, D is xored to the last 16 of them all.
            let before = c.encrypt(*chain ^ first.block ^ d.shuffle(second.count.up()));
            let down = d.shuffle(second.count.down());
            let late = before ^ second.block ^ down ^ second.count.one_zero() ^ k2;
            x = C::W::select(second.count.any(), late, x);
        }
        *chain = c.encrypt(x);
    }
}

/// In the state: the counter, little-endian.
impl Pass for Crypt {
    type State<W: Wide> = [W; 1];
    const SHAPE: Shape = Shape {
        feed: Feed::InOrder(&[Holds::Position]),
        header: TAG + 1,
        uses: USES,
        ..Shape::CIPHER
    };

    #[inline(always)]
    fn header<F: Facts>(m: &F) -> Header<F::W> {
        let zero = m.splat(&[0; 16]);
        [zero, zero, zero, m.given_tag()]
    }

    #[inline(always)]
    fn begin<C: Cipher>(c: &C, h: &mut Header<C::W>) -> [C::W; 1] {
        let cleared = !(1u128 << 63 | 1 << 31);
        [h[TAG].swap_bytes() & c.splat(&cleared.to_le_bytes())]
    }

    #[inline(always)]
    fn step<C: Cipher>(c: &C, [counter]: &mut [C::W; 1], x: C::W, _: usize) -> C::W {
        let y = c.encrypt_second(counter.swap_bytes()) ^ x;
        // Bit 63 was cleared: the lower half does not overflow.
        *counter = counter.count64(c.stride());
        y
    }

    #[inline(always)]
    fn spread<C: Cipher>([counter]: &mut [C::W; 1], _: &C, places: C::W, _: C::W) {
        *counter = counter.count64(places);
    }
}
