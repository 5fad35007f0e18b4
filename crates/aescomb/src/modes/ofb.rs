//! OFB, output feedback: SP 800-38A section 6.4.
//!
//! ```text
//! O_0 = IV;  O_j = CIPH_K(O_{j-1});  C_j = P_j ^ O_j
//! ```
//!
//! Decryption is the same. A last block of fewer than 16 bytes is cut off. The
//! IV must be a nonce.
#![forbid(unsafe_code)]

use super::{Feed, Registered, Sweep};
use crate::isa::{Cipher, Wide};
use crate::mode::{Info, Kind, Lengths};

pub(crate) struct Ofb;
pub(crate) struct Crypt;

impl Registered for Ofb {
    const INFO: Info = Info {
        name: "ofb",
        title: "output feedback",
        source: "SP 800-38A, 6.4",
        kind: Kind::Cipher,
        nonce_bytes: 16,
        tag_bytes: (0, 0),
        lengths: Lengths::AnyLength,
        aes_per_block: 1,
        mul_per_block: 0,
        parallel_encrypt: false,
        parallel_decrypt: false,
        inverse: false,
        nonce_reuse: "the xor of the messages leaks",
    };
    type Forward = Crypt;
    type Backward = Crypt;
}

impl Sweep for Crypt {
    type State<W: Wide> = [W; 1];
    const LENGTHS: Lengths = Lengths::AnyLength;
    const FEED: Feed = Feed::Serial;

    #[inline(always)]
    fn begin<C: Cipher>(_: &C, iv: C::W) -> [C::W; 1] {
        [iv]
    }

    #[inline(always)]
    fn step<C: Cipher>(c: &C, [output]: &mut [C::W; 1], x: C::W) -> C::W {
        *output = c.encrypt(*output);
        *output ^ x
    }
}
