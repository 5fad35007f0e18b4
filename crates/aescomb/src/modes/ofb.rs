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

use crate::about::{About, Registered};
use crate::pass::Pass;
use crate::shape::{Feed, Link, Shape};

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
    const SHAPE: Shape = Shape {
        feed: Feed::Serial(Link::Beside),
        nonce: true,
        ..Shape::CIPHER
    };

    #[inline(always)]
    fn step<C: Cipher>(c: &C, [output]: &mut [C::W; 1], x: C::W, _: usize) -> C::W {
        *output = c.encrypt(*output);
        *output ^ x
    }
}
