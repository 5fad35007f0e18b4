//! PMAC, in the form PMAC1: Rogaway, "Efficient Instantiations of Tweakable
//! Blockciphers and Refinements to Modes OCB and PMAC" (Asiacrypt 2004).
//!
//! ```text
//! L = CIPH_K(0^128)
//! S = the sum of CIPH_K(M_i ^ 2^i L) for 1 <= i < m
//! M_m whole:   T = CIPH_K(S ^ M_m ^ 2^m 3 L)
//! otherwise:   T = CIPH_K(S ^ (M_m || 10*) ^ 2^m 9 L)    so too for an empty message
//! ```
//!
//! Products are those of SP 800-38B section 5.3. PMAC of 2002, which others call by
//! the same name, makes its masks with a Gray code and gives other tags. Limits:
//! tags of 4 to 16 bytes.
#![forbid(unsafe_code)]

use super::Pmac;
use crate::about::{About, Registered};
use crate::backend::Backend;
use crate::cipher::Cipher;
use crate::expanded::Expanded;
use crate::isa::Wide;
use crate::mode::{Lengths, TAGS_FROM_4};
use crate::pass::{Header, Last, Pass, doubles};
use crate::schedule::FORWARD;
use crate::shape::{Along, Feed, Holds, Shape, Tail};

pub(crate) struct Mac;

impl Registered for Pmac {
    const ABOUT: About = About {
        title: "parallelizable message authentication code (PMAC1)",
        source: "Rogaway, Asiacrypt 2004, 5",
        tag_bytes: TAGS_FROM_4,
        lengths: Lengths::TagOnly,
        ..About::MODE
    };
    type Forward = Mac;
    type Backward = Mac;

    /// L in reverse byte order.
    fn constants(_: Backend, key: &mut Expanded) {
        key.sub[0].reverse();
    }
}

/// In the state: the next block's mask, in reverse byte order; the sum.
impl Pass for Mac {
    type State<W: Wide> = [W; 2];
    const SHAPE: Shape = Shape {
        tail: Tail::Last,
        feed: Feed::Blocks(Along {
            blocks: &[Holds::Mask { multiples: false }, Holds::Sum],
            lanes_below: 576,
            ..Along::NO
        }),
        uses: FORWARD.constants(1),
        ..Shape::MAC
    };

    #[inline(always)]
    fn begin<C: Cipher>(c: &C, _: &mut Header<C::W>) -> [C::W; 2] {
        [c.subkey(0).double(), c.zero()]
    }

    #[inline(always)]
    fn step<C: Cipher>(c: &C, [mask, sum]: &mut [C::W; 2], x: C::W, _: usize) -> C::W {
        add(c, mask, sum, x);
        x
    }

    #[inline(always)]
    fn finish<C: Cipher>(
        c: &C,
        _: &Header<C::W>,
        [mask, sum]: &mut [C::W; 2],
        last: &mut Last<C::W>,
    ) {
        let three = triple(*mask);
        let nine = triple(three);
        let last = &last.first;
        let mask = C::W::select(last.count.partial(), nine, three).swap_bytes();
        *sum = c.encrypt(*sum ^ last.block ^ last.count.one_zero() ^ mask);
    }

    #[inline(always)]
    fn spread<C: Cipher>([mask, _]: &mut [C::W; 2], c: &C, places: C::W, _: C::W) {
        *mask = doubles(c, *mask, places);
    }

    #[inline(always)]
    fn tag<C: Cipher>(_: &C, _: &Header<C::W>, [_, sum]: [C::W; 2]) -> C::W {
        sum
    }
}

/// One block into a sum of blocks that are encrypted under masks, each twice the one
/// before.
#[inline(always)]
pub(super) fn add<C: Cipher>(c: &C, mask: &mut C::W, sum: &mut C::W, x: C::W) {
    *sum = c.added(*sum, c.encrypt(x ^ mask.swap_bytes()));
    *mask = c.doubled(*mask);
}

/// 3 x and 7 x in the field of [`Wide::double`].
#[inline(always)]
pub(super) fn triple<W: Wide>(x: W) -> W {
    x.double() ^ x
}

#[inline(always)]
pub(super) fn sevenfold<W: Wide>(x: W) -> W {
    triple(x).double() ^ x
}
