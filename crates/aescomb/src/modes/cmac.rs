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

use super::{Feed, Registered, Sweep};
use crate::gf128::double;
use crate::isa::{Block, Cipher, Wide};
use crate::lanes::Last;
use crate::mode::{Info, Kind, Lengths};

pub(crate) struct Cmac;
pub(crate) struct Mac;

impl Registered for Cmac {
    const INFO: Info = Info {
        name: "cmac",
        title: "cipher-based message authentication code",
        source: "SP 800-38B, 6.2",
        kind: Kind::Mac,
        nonce_bytes: 0,
        tag_bytes: (4, 16),
        lengths: Lengths::TagOnly,
        aes_per_block: 1,
        mul_per_block: 0,
        parallel_encrypt: false,
        parallel_decrypt: false,
        inverse: false,
        nonce_reuse: "no nonce",
    };
    type Forward = Mac;
    type Backward = Mac;

    /// K1 and K2.
    fn subkeys(sub: &mut [Block; 2]) {
        let k1 = double(sub[0]);
        *sub = [k1, double(k1)];
    }
}

impl Sweep for Mac {
    type State<W: Wide> = [W; 1];
    const LENGTHS: Lengths = Lengths::TagOnly;
    const FEED: Feed = Feed::Serial;
    const NONCE: bool = false;

    #[inline(always)]
    fn begin<C: Cipher>(_: &C, zero: C::W) -> [C::W; 1] {
        [zero]
    }

    #[inline(always)]
    fn step<C: Cipher>(c: &C, [chain]: &mut [C::W; 1], x: C::W) -> C::W {
        *chain = c.encrypt(x ^ *chain);
        *chain
    }

    #[inline(always)]
    fn finish<C: Cipher>(c: &C, [chain]: [C::W; 1], last: Last<C::W>) -> C::W {
        let (k1, k2) = (c.subkey(0), c.subkey(1));
        let key = k1 ^ ((k1 ^ k2) & last.partial);
        c.encrypt(last.block ^ key ^ chain)
    }
}
