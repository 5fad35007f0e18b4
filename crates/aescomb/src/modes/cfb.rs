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

use super::{Feed, Registered, Sweep};
use crate::isa::{Cipher, Wide};
use crate::mode::{Info, Kind, Lengths};

pub(crate) struct Cfb128;
pub(crate) struct Encrypt;
pub(crate) struct Decrypt;

impl Registered for Cfb128 {
    const INFO: Info = Info {
        name: "cfb128",
        title: "cipher feedback, 128-bit segments",
        source: "SP 800-38A, 6.3",
        kind: Kind::Cipher,
        nonce_bytes: 16,
        tag_bytes: (0, 0),
        lengths: Lengths::AnyLength,
        aes_per_block: 1,
        mul_per_block: 0,
        parallel_encrypt: false,
        parallel_decrypt: true,
        inverse: false,
        nonce_reuse: "first differing blocks leak their xor",
    };
    type Forward = Encrypt;
    type Backward = Decrypt;
}

impl Sweep for Encrypt {
    type State<W: Wide> = [W; 1];
    const LENGTHS: Lengths = Lengths::AnyLength;
    const FEED: Feed = Feed::Serial;

    #[inline(always)]
    fn begin<C: Cipher>(_: &C, iv: C::W) -> [C::W; 1] {
        [iv]
    }

    #[inline(always)]
    fn step<C: Cipher>(c: &C, [feedback]: &mut [C::W; 1], x: C::W) -> C::W {
        *feedback = c.encrypt(*feedback) ^ x;
        *feedback
    }
}

impl Sweep for Decrypt {
    type State<W: Wide> = [W; 1];
    const LENGTHS: Lengths = Lengths::AnyLength;
    const FEED: Feed = Feed::Input;

    #[inline(always)]
    fn begin<C: Cipher>(_: &C, iv: C::W) -> [C::W; 1] {
        [iv]
    }

    #[inline(always)]
    fn step<C: Cipher>(c: &C, [feedback]: &mut [C::W; 1], x: C::W) -> C::W {
        let y = c.encrypt(*feedback) ^ x;
        *feedback = x;
        y
    }
}
