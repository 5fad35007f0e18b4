//! CMAC: SP 800-38B (the OMAC1 of Iwata and Kurosawa; RFC 4493 for AES-128).
//!
//! ```text
//! L = CIPH_K(0^128);  K1 = 2 L;  K2 = 4 L       doubling in GF(2^128)
//! M_n whole:    M_n = M_n ^ K1
//! otherwise:    M_n = (M_n || 10*) ^ K2          so too for an empty message
//! C_0 = 0;  C_j = CIPH_K(C_{j-1} ^ M_j);  T = the first bytes of C_n
//! ```
//!
//! Limits: tags of 4 to 16 bytes; shorter than 8 only where an attacker's tries
//! are limited (SP 800-38B section A.2).
#![forbid(unsafe_code)]

use super::Cmac;
use crate::about::{About, Registered};
use crate::backend::Backend;
use crate::block::Block;
use crate::cipher::Cipher;
use crate::expanded::Expanded;
use crate::gf128::double_block;
use crate::isa::Wide;
use crate::mode::{Lengths, TAGS_FROM_4};
use crate::pass::{Header, Last, Pass, Piece};
use crate::schedule::FORWARD;
use crate::shape::{Feed, Link, Shape, Tail};

pub(crate) struct Mac;

impl Registered for Cmac {
    const ABOUT: About = About {
        title: "cipher-based message authentication code",
        source: "SP 800-38B, 6.2",
        tag_bytes: TAGS_FROM_4,
        lengths: Lengths::TagOnly,
        ..About::MODE
    };
    type Forward = Mac;
    type Backward = Mac;

    fn constants(_: Backend, key: &mut Expanded) {
        let [k1, k2] = subkeys(key.sub[0]);
        key.sub[0] = k1;
        key.sub[1] = k2;
    }
}

/// K1 and K2 from L = CIPH_K(0^128).
pub(super) fn subkeys(l: Block) -> [Block; 2] {
    let k1 = double_block(l);
    [k1, double_block(k1)]
}

impl Pass for Mac {
    type State<W: Wide> = [W; 1];
    const SHAPE: Shape = Shape {
        tail: Tail::Last,
        feed: Feed::Serial(Link::Before),
        uses: FORWARD.constants(2),
        ..Shape::MAC
    };

    #[inline(always)]
    fn step<C: Cipher>(c: &C, [chain]: &mut [C::W; 1], x: C::W, _: usize) -> C::W {
        *chain = c.encrypt(x ^ *chain);
        *chain
    }

    #[inline(always)]
    fn finish<C: Cipher>(c: &C, _: &Header<C::W>, state: &mut [C::W; 1], last: &mut Last<C::W>) {
        Self::step(c, state, masked(c, last.first), 0);
    }
}

/// M_n, padded if need be, with K1 or K2.
#[inline(always)]
pub(super) fn masked<C: Cipher>(c: &C, last: Piece<C::W>) -> C::W {
    let (k1, k2) = (c.subkey(0), c.subkey(1));
    last.block ^ last.count.one_zero() ^ C::W::select(last.count.partial(), k2, k1)
}
