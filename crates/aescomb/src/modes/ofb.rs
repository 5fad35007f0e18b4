//! OFB, output feedback: SP 800-38A section 6.4.
//!
//! ```text
//! O_0 = IV;  O_j = CIPH_K(O_{j-1});  C_j = P_j ^ O_j
//! ```
//!
//! Decryption is the same. A last block of fewer than 16 bytes is cut off. The
//! IV must be a nonce.
#![forbid(unsafe_code)]

use super::Ofb;
use crate::cipher::Cipher;
use crate::isa::Wide;

use crate::pass::{About, Feed, HEADER, Link, Pass, Registered, Tail};

pub(crate) struct Crypt;

impl Registered for Ofb {
    const ABOUT: About = About {
        title: "output feedback",
        source: "SP 800-38A, 6.4",
        nonce_bytes: (16, 16),
        nonce_reuse: "the xor of the messages leaks",
        ..About::MODE
    };
    type Forward = Crypt;
    type Backward = Crypt;
}

impl Pass for Crypt {
    type State<W: Wide> = [W; 1];
    type Then = Self;
    const TAIL: Tail = Tail::Part;
    const FEED: Feed = Feed::Serial;
    const LINK: Link = Link::Beside;
    const NONCE: bool = true;

    #[inline(always)]
    fn begin<C: Cipher>(_: &C, h: &mut [C::W; HEADER]) -> [C::W; 1] {
        [h[0]]
    }

    #[inline(always)]
    fn step<C: Cipher>(c: &C, [output]: &mut [C::W; 1], x: C::W, _: usize) -> C::W {
        *output = c.encrypt(*output);
        *output ^ x
    }
}
