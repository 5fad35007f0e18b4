//! CTR, counter mode: SP 800-38A section 6.5.
//!
//! ```text
//! T_1 = the initial counter block;  T_{j+1} = inc(T_j)
//! C_j = P_j ^ CIPH_K(T_j)
//! ```
//!
//! Decryption is the same. `inc` adds 1 to the whole block as a 128-bit
//! big-endian integer (SP 800-38A appendix B.1 with m = 128), or to its last
//! four bytes alone (inc32 of SP 800-38D section 6.2, the counter of GCM); both
//! wrap. No counter block may ever repeat under a key: with the 32-bit counter a
//! message has at most 2^32 blocks. Counter blocks are public: the last byte of one is
//! the index of a table (`places.rs`).
#![forbid(unsafe_code)]

use super::{Ctr, Ctr32};
use crate::cipher::Cipher;
use crate::isa::Wide;

use crate::about::{About, Registered};
use crate::pass::{Header, Pass};
use crate::shape::{Feed, Holds, Shape};

/// The counter is the last `BITS` bits of the block.
pub(crate) struct Crypt<const BITS: u32>;

impl Registered for Ctr {
    const ABOUT: About = About {
        title: "counter, 128-bit big-endian",
        source: "SP 800-38A, 6.5",
        nonce_bytes: (16, 16),
        nonce_reuse: "the xor of the messages leaks",
        ..About::MODE
    };
    type Forward = Crypt<128>;
    type Backward = Crypt<128>;
}

impl Registered for Ctr32 {
    const ABOUT: About = About {
        title: "counter of GCM, 32-bit big-endian",
        source: "SP 800-38D, 6.5",
        ..Ctr::ABOUT
    };
    type Forward = Crypt<32>;
    type Backward = Crypt<32>;
}

impl<const BITS: u32> Pass for Crypt<BITS> {
    /// The counter, little-endian.
    type State<W: Wide> = [W; 1];
    const SHAPE: Shape = Shape {
        feed: Feed::InOrder(&[Holds::Counter { bits: BITS }]),
        nonce: true,
        ..Shape::CIPHER
    };

    #[inline(always)]
    fn begin<C: Cipher>(_: &C, h: &mut Header<C::W>) -> [C::W; 1] {
        [h[0].swap_bytes()]
    }

    #[inline(always)]
    fn step<C: Cipher>(c: &C, [counter]: &mut [C::W; 1], x: C::W, _: usize) -> C::W {
        let y = c.encrypt_counter(*counter) ^ c.text_again(x);
        *counter = count::<_, BITS>(*counter, c.stride());
        y
    }

    #[inline(always)]
    fn spread<C: Cipher>([counter]: &mut [C::W; 1], _: &C, places: C::W, _: C::W) {
        *counter = count::<_, BITS>(*counter, places);
    }

    #[inline(always)]
    fn last_byte(nonce: &[u8]) -> Option<u8> {
        nonce.last().copied()
    }
}

/// inc, so many `steps` at once.
#[inline(always)]
fn count<W: Wide, const BITS: u32>(counter: W, steps: W) -> W {
    match BITS {
        32 => counter.count32(steps),
        _ => counter.count(steps),
    }
}
