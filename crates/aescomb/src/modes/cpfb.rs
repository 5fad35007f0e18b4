//! AES-CPFB v1, counter and plaintext feedback: M. Montes and D. Penazzi, CAESAR
//! submission of March 2014.
//!
//! ```text
//! kappa_j = CIPH_K(N || 8j + 4)               of 256-bit keys also CIPH_K of that
//! E_j = AES under kappa_j;  w = first block of kappa_0
//! A, M in parts of 12 bytes, the last with zeros after it
//! X = E_0(length of M || length of A || 0^32)
//! X ^= E_0(A_i || i)                          for each part i = 1, 2, ...
//! S_0 = E_1(w)
//! C_i = M_i ^ first 12 bytes of S_{i-1};  S_i = E_1((M_i || i) ^ w);  X ^= S_i
//! T = first bytes of E_0(X)
//! ```
//!
//! Sealing is parallel, opening is serial, at 12 bytes a call of AES. Limits: nonces of
//! 12 bytes (of 8 to 15 that the design allows); tags of 1 to 16 bytes; associated data
//! below 2^32 bytes; texts of at most 12 (2^32 - 1), as the key change that longer ones
//! ask for is in no test vector. A repeated nonce gives away the sum of the first 12
//! bytes of the messages, and of more where they begin alike.
//!
//! **For research and comparison, not for new protocols**: the submission did not get
//! beyond the first round.
#![forbid(unsafe_code)]

use super::Cpfb;
use crate::about::{About, Limits, Registered};
use crate::cipher::Cipher;
use crate::facts::{Facts, up};
use crate::isa::{PART, Wide};
use crate::mode::Costs;
use crate::pass::{Header, Last, Own, Pass, Piece};
use crate::schedule::{FORWARD, Uses};
use crate::shape::{Along, DataShape, Feed, Holds, OwnKeys, RowShape, Shape, Tail};

pub(crate) struct Crypt<const SEAL: bool>;

impl Registered for Cpfb {
    const ABOUT: About = About {
        title: "counter and plaintext feedback",
        source: "AES-CPFB v1 (CAESAR, 2014)",
        key_bytes: &[16, 32],
        nonce_bytes: (12, 12),
        tag_bytes: &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16],
        data_components: 1,
        costs: Costs {
            aes_per_block: 1,
            aes_per_data_block: 1,
            aes_per_message: 5, // with keys of 16 bytes and a text
            block_bytes: PART,
            ..Costs::NONE
        },
        nonce_reuse: "the xor of the messages' beginnings leaks",
        research: Some("CAESAR, first round"),
        ..About::MODE
    };
    type Forward = Crypt<true>;
    type Backward = Crypt<false>;

    fn limits(_: usize) -> Limits {
        Limits {
            text: PART as u64 * u64::from(u32::MAX),
            data: u64::from(u32::MAX),
        }
    }
}

/// Ones in the first 12 bytes.
#[inline(always)]
fn part<C: Cipher>(c: &C) -> C::W {
    c.splat(&(u128::MAX >> 32).to_le_bytes())
}

/// A counter, little-endian, as four big-endian bytes after a part.
#[inline(always)]
fn after<C: Cipher>(c: &C, counter: C::W) -> C::W {
    const N: u8 = 0x80;
    counter.shuffle(c.splat(&[N, N, N, N, N, N, N, N, N, N, N, N, 3, 2, 1, 0]))
}

/// The bytes after the first 12 to the beginning of a block.
#[inline(always)]
fn beyond<C: Cipher>(c: &C, x: C::W) -> C::W {
    const N: u8 = 0x80;
    x.shuffle(c.splat(&[12, 13, 14, 15, N, N, N, N, N, N, N, N, N, N, N, N]))
}

/// And back.
#[inline(always)]
fn to_beyond<C: Cipher>(c: &C, x: C::W) -> C::W {
    const N: u8 = 0x80;
    x.shuffle(c.splat(&[N, N, N, N, N, N, N, N, N, N, N, N, 0, 1, 2, 3]))
}

/// Ones where a piece has more than 12 bytes.
#[inline(always)]
fn more<C: Cipher>(c: &C, piece: &Piece<C::W>) -> C::W {
    piece
        .count
        .first_bytes()
        .shuffle(c.splat(&[PART as u8; 16]))
}

/// S_i.
#[inline(always)]
fn feed<C: Cipher>(c: &C, plain: C::W, counter: C::W) -> C::W {
    c.encrypt_second(plain ^ after(c, counter) ^ c.subkey(0))
}

/// In the header: N and the first counter; the lengths. In the state: X, S_{i-1}, i.
impl<const SEAL: bool> Pass for Crypt<SEAL> {
    type State<W: Wide> = [W; 3];
    const SHAPE: Shape = Shape {
        feed: match SEAL {
            true => Feed::Blocks(Along {
                blocks: &[Holds::Sum, Holds::Previous, Holds::Position],
                ..Along::NO
            }),
            false => Feed::SERIAL,
        },
        row: RowShape {
            stride: PART,
            ..RowShape::BLOCK
        },
        header: 2,
        own: Some(OwnKeys::Two),
        data: Some(DataShape {
            stride: PART,
            ..DataShape::ending(Tail::Part)
        }),
        uses: Uses {
            second: true,
            ..FORWARD
        },
        ..Shape::AEAD
    };

    #[inline(always)]
    fn header<F: Facts>(m: &F) -> Header<F::W> {
        let text = m.text().shuffle(m.splat(&[
            7, 6, 5, 4, 3, 2, 1, 0, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
        ]));
        let data = m.number(
            #[inline(always)]
            |m| (m.data as u32).swap_bytes() as usize,
        );
        let lengths = text ^ up(m, 8, data);
        let zero = m.splat(&[0; 16]);
        [
            m.nonce() ^ m.splat(&(4u128 << 120).to_le_bytes()),
            lengths,
            zero,
            zero,
        ]
    }

    #[inline(always)]
    fn derive<C: Cipher>(c: &C, h: &Header<C::W>, bytes: usize) -> Own<C::W> {
        let zero = c.zero();
        let first = c.encrypt(h[0]);
        let second = c.encrypt(h[0] ^ c.splat(&(8u128 << 120).to_le_bytes()));
        let (more, second_more) = match bytes {
            16 => (zero, zero),
            _ => (c.encrypt(first), c.encrypt(second)),
        };
        Own {
            constants: [first, zero],
            first: [first, more],
            second: [second, second_more],
        }
    }

    #[inline(always)]
    fn begin<C: Cipher>(c: &C, h: &mut Header<C::W>) -> [C::W; 3] {
        [c.encrypt(h[1]), c.zero(), c.one()]
    }

    #[inline(always)]
    fn absorb<C: Cipher>(c: &C, [sum, _, counter]: &mut [C::W; 3], x: C::W, _: usize) {
        *sum = *sum ^ c.encrypt((x & part(c)) ^ after(c, *counter));
        *counter = counter.count32(c.one());
    }

    #[inline(always)]
    fn absorb_last<C: Cipher>(c: &C, state: &mut [C::W; 3], last: Piece<C::W>) {
        Self::absorb(c, state, last.block, 0);
        let [sum, _, counter] = state;
        let x = c.encrypt(beyond(c, last.block) ^ after(c, *counter));
        *sum = *sum ^ (x & more(c, &last));
    }

    #[inline(always)]
    fn text<C: Cipher>(c: &C, _: &mut Header<C::W>, [sum, ..]: [C::W; 3]) -> [C::W; 3] {
        [sum, c.encrypt_second(c.subkey(0)), c.one()]
    }

    #[inline(always)]
    fn step<C: Cipher>(c: &C, [sum, s, counter]: &mut [C::W; 3], x: C::W, _: usize) -> C::W {
        let (y, next);
        if SEAL {
            next = feed(c, x & part(c), *counter);
            y = x ^ (c.before(*s, next) & part(c));
        } else {
            y = x ^ (*s & part(c));
            next = feed(c, y & part(c), *counter);
        }
        *s = next;
        *sum = c.added(*sum, next);
        *counter = counter.count32(c.stride());
        y
    }

    /// The places of the lanes' blocks.
    #[inline(always)]
    fn spread<C: Cipher>([_, _, counter]: &mut [C::W; 3], _: &C, places: C::W, _: C::W) {
        *counter = counter.count32(places);
    }

    #[inline(always)]
    fn finish<C: Cipher>(
        c: &C,
        _: &Header<C::W>,
        [sum, s, counter]: &mut [C::W; 3],
        last: &mut Last<C::W>,
    ) {
        let piece = last.first;
        let bytes = piece.count.first_bytes();
        let x = piece.block;
        // The first 12 bytes, then the others.
        let mut y = x ^ (*s & part(c));
        let plain = if SEAL { x } else { y } & bytes;
        let next = feed(c, plain & part(c), *counter);
        y = y ^ to_beyond(c, next);
        let plain = if SEAL { x } else { y } & bytes;
        let after_that = feed(c, beyond(c, plain), counter.count32(c.one()));
        *sum = *sum ^ next ^ (after_that & more(c, &piece));
        last.first.block = y;
    }

    #[inline(always)]
    fn tag<C: Cipher>(c: &C, _: &Header<C::W>, [sum, ..]: [C::W; 3]) -> C::W {
        c.encrypt(sum)
    }
}
