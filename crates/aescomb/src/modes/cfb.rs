//! CFB128, cipher feedback with 128-bit segments: SP 800-38A section 6.3.
//!
//! ```text
//! encrypt:  C_0 = IV;  C_j = P_j ^ CIPH_K(C_{j-1})
//! decrypt:  C_0 = IV;  P_j = C_j ^ CIPH_K(C_{j-1})
//! ```
//!
//! The standard takes whole segments; a last segment of fewer than 16 bytes is
//! cut off here, as is usual. The IV must be unpredictable.
#![forbid(unsafe_code)]

use super::Cfb128;
use crate::cipher::Cipher;
use crate::isa::Wide;

use crate::about::{About, Registered};
use crate::pass::Pass;
use crate::schedule::Way;
use crate::shape::{Feed, Holds, Link, Shape};

pub(crate) struct Encrypt;
pub(crate) struct Decrypt;

impl Registered for Cfb128 {
    const ABOUT: About = About {
        title: "cipher feedback, 128-bit segments",
        source: "SP 800-38A, 6.3",
        nonce_bytes: (16, 16),
        nonce_reuse: "first differing blocks leak their xor",
        ..About::MODE
    };
    type Forward = Encrypt;
    type Backward = Decrypt;
}

impl Pass for Encrypt {
    type State<W: Wide> = [W; 1];
    const SHAPE: Shape = Shape {
        feed: Feed::Serial(Link::After),
        nonce: true,
        ..Shape::CIPHER
    };

    #[inline(always)]
    fn step<C: Cipher>(c: &C, [feedback]: &mut [C::W; 1], x: C::W, _: usize) -> C::W {
        *feedback = c.encrypt(*feedback) ^ x;
        *feedback
    }
}

impl Pass for Decrypt {
    type State<W: Wide> = [W; 1];
    const SHAPE: Shape = Shape {
        feed: Feed::InOrder(&[Holds::Input]),
        nonce: true,
        ..Shape::CIPHER
    };

    #[inline(always)]
    fn step<C: Cipher>(c: &C, [feedback]: &mut [C::W; 1], x: C::W, _: usize) -> C::W {
        let y = c.and_add(
            Way::Encrypt,
            c.text_before(*feedback, x),
            #[inline(always)]
            || c.text_again(x),
        );
        *feedback = c.text_again(x);
        y
    }
}
