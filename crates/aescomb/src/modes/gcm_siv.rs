//! AES-GCM-SIV: RFC 8452.
//!
//! ```text
//! hash key = the first halves of CIPH_K(0 || N), CIPH_K(1 || N)
//! K' = those of CIPH_K(2 || N), CIPH_K(3 || N) ...  as many as a key of K's size has
//! S = POLYVAL(A || 0* || P || 0* || lengths of A and P) ^ N;  its top bit cleared
//! T = CIPH_K'(S)
//! C = P ^ CIPH_K'(T with its top bit set, + 0, + 1, ...)
//! ```
//!
//! Every nonce has keys of its own, which are expanded for all messages of a group
//! at once. Counters count in the first 32 bits, little-endian.
//!
//! Limits: nonces of 12 bytes, tags of 16; texts and associated data of at most
//! 2^36 bytes. RFC 8452 has keys of 16 and 32 bytes; 24 is what OpenSSL makes of it.
//! A repeated nonce tells only whether messages are equal.
#![forbid(unsafe_code)]

use super::GcmSiv;
use super::gcm::{POWERS_COST, powers};
use crate::about::{About, Limits, Registered};
use crate::block::Block;
use crate::cipher::Cipher;
use crate::expanded::Expanded;
use crate::facts::{Facts, up};
use crate::isa::{Isa, Polyval, Wide};
use crate::mode::Costs;
use crate::pass::{Header, Own, Pass, Piece, TAG, Two};
use crate::schedule::{FORWARD, Uses};
use crate::shape::{Along, DataShape, Feed, Holds, OwnKeys, Shape, Tail};

/// The tag from the text.
pub(crate) struct Authenticate;
/// The text by the tag.
pub(crate) struct Crypt;

impl Registered for GcmSiv {
    const ABOUT: About = About {
        title: "nonce misuse-resistant GCM",
        source: "RFC 8452, 4",
        nonce_bytes: (12, 12),
        tag_bytes: &[16],
        data_components: 1,
        costs: Costs {
            aes_per_block: 1,
            aes_per_message: 5,
            mul_per_block: 1,
            mul_per_message: 1,
            ..Costs::NONE
        },
        nonce_reuse: "equal messages show",
        ..About::MODE
    };
    type Forward = Two<Authenticate, Crypt>;
    type Backward = Two<Crypt, Authenticate>;

    /// RFC 8452 section 6.
    fn limits(_: usize) -> Limits {
        Limits {
            text: 1 << 36,
            data: 1 << 36,
        }
    }
}

/// In the header: N, later N without the hash key's block; the lengths; the tag.
#[inline(always)]
fn header<F: Facts>(m: &F) -> Header<F::W> {
    let lengths = m.data_bits() ^ up(m, 8, m.text_bits());
    [m.nonce(), lengths, m.splat(&[0; 16]), m.given_tag()]
}

/// RFC 8452 section 4: the hash key, and the key of `bytes` bytes.
#[inline(always)]
fn derive<C: Cipher>(c: &C, nonce: C::W, bytes: usize) -> Own<C::W> {
    // The counter goes before the nonce.
    let nonce =
        nonce.shuffle(c.splat(&[0x80, 0x80, 0x80, 0x80, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]));
    let hash = block(c, nonce, 0);
    let first = block(c, nonce, 2);
    let second = match bytes {
        16 => c.zero(),
        24 => half(c, nonce, 4),
        _ => block(c, nonce, 4),
    };
    Own {
        constants: [hash, c.zero()],
        first: [first, second],
        second: [c.zero(); 2],
    }
}

/// The first half of CIPH_K(i || N), and zeros.
#[inline(always)]
fn half<C: Cipher>(c: &C, nonce: C::W, i: u128) -> C::W {
    let low = u128::from(u64::MAX).to_le_bytes();
    c.encrypt(nonce ^ c.splat(&i.to_le_bytes())) & c.splat(&low)
}

/// Those of i and i + 1.
#[inline(always)]
fn block<C: Cipher>(c: &C, nonce: C::W, i: u128) -> C::W {
    let up = c.splat(&[
        0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0, 1, 2, 3, 4, 5, 6, 7,
    ]);
    half(c, nonce, i) ^ half(c, nonce, i + 1).shuffle(up)
}

const USES: Uses = FORWARD;

/// In the state: the hash.
impl Pass for Authenticate {
    type State<W: Wide> = [W; 1];
    const SHAPE: Shape = Shape {
        feed: Feed::Blocks(Along {
            blocks: &[Holds::Hash {
                polyval: true,
                results: false,
                alone: false,
            }],
            tables: POWERS_COST,
            ends_alike: true,
            ..Along::NO
        }),
        header: 2,
        again: true,
        own: Some(OwnKeys::One),
        data: Some(DataShape::ending(Tail::Part)),
        uses: USES,
        ..Shape::MAC
    };

    #[inline(always)]
    fn header<F: Facts>(m: &F) -> Header<F::W> {
        header(m)
    }

    #[inline(always)]
    fn derive<C: Cipher>(c: &C, h: &Header<C::W>, bytes: usize) -> Own<C::W> {
        derive(c, h[0], bytes)
    }

    #[inline(always)]
    fn absorb<C: Cipher>(c: &C, [hash]: &mut [C::W; 1], x: C::W, _: usize) {
        *hash = c.hash::<Polyval>(*hash, x);
    }

    #[inline(always)]
    fn absorb_last<C: Cipher>(c: &C, state: &mut [C::W; 1], last: Piece<C::W>) {
        Self::absorb(c, state, last.block, 0);
    }

    #[inline(always)]
    fn step<C: Cipher>(c: &C, state: &mut [C::W; 1], x: C::W, row: usize) -> C::W {
        Self::absorb(c, state, x, row);
        x
    }

    #[inline(always)]
    fn tables<S: Isa>(s: S, key: &Expanded, blocks: usize, tables: &mut [Block]) {
        powers::<Polyval, _>(s, key, blocks, tables);
    }

    #[inline(always)]
    fn tag<C: Cipher>(c: &C, h: &Header<C::W>, [hash]: [C::W; 1]) -> C::W {
        let hash = c.hash::<Polyval>(hash, h[1]);
        let cleared = c.splat(&(u128::MAX >> 1).to_le_bytes());
        c.encrypt((hash ^ h[0]) & cleared)
    }
}

/// In the state: the counter.
impl Pass for Crypt {
    type State<W: Wide> = [W; 1];
    const SHAPE: Shape = Shape {
        feed: Feed::Blocks(Along {
            blocks: &[Holds::Position],
            ends_alike: true,
            ..Along::NO
        }),
        header: 2,
        own: Some(OwnKeys::One),
        uses: USES,
        ..Shape::CIPHER
    };

    #[inline(always)]
    fn header<F: Facts>(m: &F) -> Header<F::W> {
        header(m)
    }

    #[inline(always)]
    fn derive<C: Cipher>(c: &C, h: &Header<C::W>, bytes: usize) -> Own<C::W> {
        derive(c, h[0], bytes)
    }

    #[inline(always)]
    fn begin<C: Cipher>(c: &C, h: &mut Header<C::W>) -> [C::W; 1] {
        let cleared = c.splat(&(u128::MAX >> 1).to_le_bytes());
        let top = c.splat(&(1u128 << 127).to_le_bytes());
        [(h[TAG] & cleared) ^ top]
    }

    #[inline(always)]
    fn step<C: Cipher>(c: &C, [counter]: &mut [C::W; 1], x: C::W, _: usize) -> C::W {
        let y = c.encrypt(*counter) ^ c.text_again(x);
        *counter = counter.count32(c.stride());
        y
    }

    #[inline(always)]
    fn spread<C: Cipher>([counter]: &mut [C::W; 1], _: &C, places: C::W, _: C::W) {
        *counter = counter.count32(places);
    }
}
