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
use crate::mode::{Costs, Info, KEY_BYTES, Kind, Lengths};
use crate::pass::{Feed, HEADER, Link, Pass, Registered, Tail};

pub(crate) struct Crypt;

impl Registered for Ofb {
    const INFO: Info = Info {
        name: "ofb",
        title: "output feedback",
        source: "SP 800-38A, 6.4",
        kind: Kind::Cipher,
        key_bytes: KEY_BYTES,
        two_keys: false,
        nonce_bytes: (16, 16),
        tag_bytes: &[],
        data_components: 0,
        lengths: Lengths::AnyLength,
        costs: Costs {
            aes_per_block: 1,
            ..Costs::NONE
        },
        parallel_encrypt: false,
        parallel_decrypt: false,
        inverse: false,
        tag_first: false,
        nonce_reuse: "the xor of the messages leaks",
        research: None,
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
