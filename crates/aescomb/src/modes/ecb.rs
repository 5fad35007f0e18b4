//! ECB, electronic codebook: SP 800-38A section 6.1.
//!
//! ```text
//! encrypt:  C_j = CIPH_K(P_j)
//! decrypt:  P_j = CIPH_K^-1(C_j)
//! ```
//!
//! Limits: whole blocks, unless padded. Equal blocks encrypt equally: a building
//! block, not a way to keep secrets.
#![forbid(unsafe_code)]

use super::pkcs7::Padded;
use super::{Ecb, EcbPkcs7};
use crate::about::{About, Registered};
use crate::cipher::Cipher;
use crate::isa::Wide;
use crate::mode::Lengths;
use crate::pass::Pass;
use crate::schedule::INVERSE;
use crate::shape::{Feed, Shape, Tail};

pub(crate) struct Encrypt;
pub(crate) struct Decrypt;

impl Registered for Ecb {
    const ABOUT: About = About {
        title: "electronic codebook",
        source: "SP 800-38A, 6.1",
        lengths: Lengths::WholeBlocks,
        nonce_reuse: "no nonce: equal blocks show",
        ..About::MODE
    };
    type Forward = Encrypt;
    type Backward = Decrypt;
}

impl Registered for EcbPkcs7 {
    const ABOUT: About = About {
        title: "electronic codebook with PKCS#7 padding",
        source: "SP 800-38A, 6.1; RFC 5652, 6.3",
        lengths: Lengths::Padded,
        ..Ecb::ABOUT
    };
    type Forward = Padded<Encrypt>;
    type Backward = Decrypt;
}

impl Pass for Encrypt {
    type State<W: Wide> = [W; 0];
    const SHAPE: Shape = Shape {
        tail: Tail::None,
        feed: Feed::InOrder(&[]),
        ..Shape::CIPHER
    };

    #[inline(always)]
    fn step<C: Cipher>(c: &C, _: &mut [C::W; 0], x: C::W, _: usize) -> C::W {
        c.encrypt(x)
    }
}

impl Pass for Decrypt {
    type State<W: Wide> = [W; 0];
    const SHAPE: Shape = Shape {
        tail: Tail::None,
        feed: Feed::InOrder(&[]),
        uses: INVERSE,
        ..Shape::CIPHER
    };

    #[inline(always)]
    fn step<C: Cipher>(c: &C, _: &mut [C::W; 0], x: C::W, _: usize) -> C::W {
        c.decrypt(x)
    }
}
