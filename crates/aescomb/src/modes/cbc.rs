//! CBC, cipher block chaining: SP 800-38A section 6.2.
//!
//! ```text
//! encrypt:  C_0 = IV;  C_j = CIPH_K(P_j ^ C_{j-1})
//! decrypt:  C_0 = IV;  P_j = CIPH_K^-1(C_j) ^ C_{j-1}
//! ```
//!
//! Limits: whole blocks, unless padded with PKCS#7 (RFC 5652 section 6.3). The
//! IV must be unpredictable. Nothing is authenticated: a decryption error that
//! an attacker can see is a padding oracle.
#![forbid(unsafe_code)]

use super::pkcs7::Padded;
use super::{Cbc, CbcPkcs7};
use crate::about::{About, Registered};
use crate::cipher::Cipher;
use crate::isa::Wide;
use crate::mode::Lengths;
use crate::pass::Pass;
use crate::schedule::{INVERSE, Way};
use crate::shape::{Feed, Holds, Link, Shape, Tail};

pub(crate) struct Encrypt;
pub(crate) struct Decrypt;

impl Registered for Cbc {
    const ABOUT: About = About {
        title: "cipher block chaining",
        source: "SP 800-38A, 6.2",
        nonce_bytes: (16, 16),
        lengths: Lengths::WholeBlocks,
        nonce_reuse: "equal message beginnings show",
        ..About::MODE
    };
    type Forward = Encrypt;
    type Backward = Decrypt;
}

impl Registered for CbcPkcs7 {
    const ABOUT: About = About {
        title: "cipher block chaining with PKCS#7 padding",
        source: "SP 800-38A, 6.2; RFC 5652, 6.3",
        lengths: Lengths::Padded,
        ..Cbc::ABOUT
    };
    type Forward = Padded<Encrypt>;
    type Backward = Decrypt;
}

impl Pass for Encrypt {
    type State<W: Wide> = [W; 1];
    const SHAPE: Shape = Shape {
        tail: Tail::None,
        feed: Feed::Serial(Link::Before),
        nonce: true,
        ..Shape::CIPHER
    };

    #[inline(always)]
    fn step<C: Cipher>(c: &C, [chain]: &mut [C::W; 1], x: C::W, _: usize) -> C::W {
        *chain = c.encrypt(x ^ *chain);
        *chain
    }
}

impl Pass for Decrypt {
    type State<W: Wide> = [W; 1];
    const SHAPE: Shape = Shape {
        tail: Tail::None,
        feed: Feed::InOrder(&[Holds::Input]),
        nonce: true,
        uses: INVERSE,
        ..Shape::CIPHER
    };

    #[inline(always)]
    fn step<C: Cipher>(c: &C, [chain]: &mut [C::W; 1], x: C::W, _: usize) -> C::W {
        let y = c.and_add(
            Way::Decrypt,
            x,
            #[inline(always)]
            || c.text_before(*chain, x),
        );
        *chain = c.text_again(x);
        y
    }
}
