//! XTS, XEX-based tweaked codebook with ciphertext stealing: IEEE 1619-2018, SP
//! 800-38E.
//!
//! ```text
//! K = Key1 || Key2
//! T_0 = CIPH_Key2(i);  T_j = x T_{j-1}         i: the data unit's tweak, 16 bytes
//! C_j = CIPH_Key1(P_j ^ T_j) ^ T_j
//! a last block P_m of fewer than 16 bytes takes its end from the block before:
//!     CC = CIPH_Key1(P_{m-1} ^ T_{m-1}) ^ T_{m-1}
//!     C_m = the first bytes of CC;  C_{m-1} = CIPH_Key1((P_m || rest of CC) ^ T_m) ^ T_m
//! ```
//!
//! A message is a data unit (a sector); its nonce is the tweak, a sector number in
//! 16 bytes, little-endian. Limits: data units of 16 bytes to 2^20 blocks; the two keys
//! must differ (FIPS 140-3 implementation guidance C.I), which the standard's own first
//! example breaks. Nothing is authenticated.
#![forbid(unsafe_code)]

use super::Xts;
use crate::about::{About, Limits, Registered};
use crate::cipher::Cipher;
use crate::isa::Wide;
use crate::mode::{Costs, Lengths};
use crate::pass::{Header, Last, Pass, doubles};
use crate::schedule::Uses;
use crate::shape::{Along, Feed, Holds, Shape, Tail};

pub(crate) struct Crypt<const ENCRYPT: bool>;

impl Registered for Xts {
    const ABOUT: About = About {
        title: "tweaked codebook with ciphertext stealing",
        source: "IEEE 1619-2018, 5; SP 800-38E",
        key_bytes: &[32, 64],
        nonce_bytes: (16, 16),
        lengths: Lengths::FromOneBlock,
        costs: Costs {
            aes_per_block: 1,
            aes_per_message: 1,
            ..Costs::NONE
        },
        nonce_reuse: "equal blocks at equal places show",
        ..About::MODE
    };
    type Forward = Crypt<true>;
    type Backward = Crypt<false>;
    const KEYS_DIFFER: bool = true;

    fn limits(_: usize) -> Limits {
        Limits {
            text: 16 << 20,
            data: 0,
        }
    }
}

/// In the state: T_j.
impl<const ENCRYPT: bool> Pass for Crypt<ENCRYPT> {
    type State<W: Wide> = [W; 1];
    const SHAPE: Shape = Shape {
        tail: Tail::Stolen,
        feed: Feed::Blocks(Along {
            blocks: &[Holds::Double],
            lanes_below: 576,
            ..Along::NO
        }),
        nonce: true,
        uses: Uses {
            forward: ENCRYPT,
            inverse: !ENCRYPT,
            second: true,
            constants: 0,
        },
        ..Shape::CIPHER
    };

    #[inline(always)]
    fn begin<C: Cipher>(c: &C, h: &mut Header<C::W>) -> [C::W; 1] {
        [c.encrypt_second(h[0])]
    }

    #[inline(always)]
    fn step<C: Cipher>(c: &C, [t]: &mut [C::W; 1], x: C::W, _: usize) -> C::W {
        let y = crypt::<C, ENCRYPT>(c, x, *t);
        *t = c.doubled(*t);
        y
    }

    #[inline(always)]
    fn spread<C: Cipher>([t]: &mut [C::W; 1], c: &C, places: C::W, _: C::W) {
        *t = doubles(c, *t, places);
    }

    /// The last whole block, and what comes after it.
    #[inline(always)]
    fn finish<C: Cipher>(c: &C, _: &Header<C::W>, [t]: &mut [C::W; 1], last: &mut Last<C::W>) {
        let Last { first, second, .. } = last;
        let next = t.double();
        // A decryption undoes the steps in the opposite order.
        let (early, late) = if ENCRYPT { (*t, next) } else { (next, *t) };
        let whole = crypt::<C, ENCRYPT>(c, first.block, early);
        let stolen = C::W::select(second.count.first_bytes(), second.block, whole);
        first.block = crypt::<C, ENCRYPT>(c, stolen, late);
        second.block = whole;
    }
}

#[inline(always)]
fn crypt<C: Cipher, const ENCRYPT: bool>(c: &C, x: C::W, t: C::W) -> C::W {
    t ^ if ENCRYPT {
        c.encrypt(x ^ t)
    } else {
        c.decrypt(x ^ t)
    }
}
