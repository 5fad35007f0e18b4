//! CCM, counter with CBC-MAC: SP 800-38C, RFC 3610.
//!
//! ```text
//! q = 15 - length of N;  t = length of the tag
//! B_0 = flags(data?, t, q) || N || length of P in q bytes
//! B_1 ... = length of A || A, then P, each padded with zeros to whole blocks
//! Y_0 = CIPH_K(B_0);  Y_i = CIPH_K(B_i ^ Y_{i-1})
//! Ctr_j = (q - 1) || N || j in q bytes
//! C = P ^ CIPH_K(Ctr_1) || CIPH_K(Ctr_2) || ...
//! T = the first t bytes of Y_r ^ CIPH_K(Ctr_0)
//! ```
//!
//! The two calls for a block, of the chain and of the counter, do not wait for each other: one
//! message alone makes them together. Of many messages the chains take all of AES, and counters
//! by themselves are faster. Limits: nonces of 7 to 13 bytes; tags of 4 to 16 bytes, even;
//! texts of fewer than 2^(8q) bytes. A nonce must not repeat under a key.
#![forbid(unsafe_code)]

use super::Ccm;
use crate::about::{About, Limits, Registered};
use crate::cipher::Cipher;
use crate::facts::{Facts, up};
use crate::isa::Wide;
use crate::mode::Costs;
use crate::pass::{Apart, HEADER, Header, Last, Pass, Piece};
use crate::shape::{DataShape, Feed, Holds, Link, Shape, Tail};

/// All of it.
pub(crate) struct Crypt<const SEAL: bool>;
/// T of P, which was decrypted before if there was a ciphertext.
pub(crate) struct Mac<const DECRYPTED: bool>;
/// P to C, and back.
pub(crate) struct Stream;

impl Registered for Ccm {
    const ABOUT: About = About {
        title: "counter with CBC-MAC",
        source: "SP 800-38C, 6; RFC 3610",
        nonce_bytes: (7, 13),
        tag_bytes: &[4, 6, 8, 10, 12, 14, 16],
        data_components: 1,
        costs: Costs {
            aes_per_block: 2,
            aes_per_data_block: 1,
            aes_per_message: 2,
            data_prefix: 2,
            ..Costs::NONE
        },
        nonce_reuse: "the xor of the messages leaks, forgeries",
        ..About::MODE
    };
    type Forward = Apart<Crypt<true>, Mac<false>, Stream>;
    type Backward = Apart<Crypt<false>, Stream, Mac<true>>;

    /// SP 800-38C section A.1: the text's length has q bytes.
    fn limits(nonce: usize) -> Limits {
        let bits = 8 * (15 - nonce.min(15)) as u32;
        Limits {
            text: 1u64.checked_shl(bits).map_or(u64::MAX, |n| n - 1),
            ..Limits::NONE
        }
    }
}

/// How many bytes the associated data's length takes before it (SP 800-38C section
/// A.2.2).
#[inline(always)]
fn prefix_len(len: usize) -> usize {
    match len {
        0..0xff00 => 2,
        0xff00..=0xffff_ffff => 6,
        _ => 10,
    }
}

/// B_1: the associated data's length, and as much of it as has room.
#[inline(always)]
fn first_of_data<F: Facts>(m: &F) -> F::W {
    let short = m.all(
        #[inline(always)]
        |m| prefix_len(m.data) == 2,
    );
    if short {
        let len = m.number(
            #[inline(always)]
            |m| usize::from((m.data as u16).swap_bytes()),
        );
        return len ^ up(m, 2, m.data(14));
    }
    m.block(
        #[inline(always)]
        |m| {
            let len = m.sizes().data;
            let data = m.data_from(0, 16 - prefix_len(len));
            match prefix_len(len) {
                2 => u128::from((len as u16).swap_bytes()) | data << 16,
                6 => 0xfeff | u128::from((len as u32).swap_bytes()) << 16 | data << 48,
                _ => 0xffff | u128::from((len as u64).swap_bytes()) << 16 | data << 80,
            }
        },
    )
}

/// Ctr_0. Byte 0 is q - 1, then comes the nonce.
#[inline(always)]
fn counter<F: Facts>(m: &F) -> F::W {
    let nonce = up(m, 1, m.nonce());
    nonce
        ^ m.number(
            #[inline(always)]
            |m| 14 - m.nonce,
        )
}

/// B_0; B_1; ones if there is a B_1; Ctr_0.
#[inline(always)]
fn first_blocks<F: Facts>(m: &F) -> Header<F::W> {
    let ctr0 = counter(m);
    let flags = m.number(
        #[inline(always)]
        |m| usize::from(m.data > 0) << 6 | (m.tag.saturating_sub(2) / 2) << 3,
    );
    let has_data = m.ones(
        #[inline(always)]
        |m| m.data > 0,
    );
    [
        ctr0 ^ flags ^ m.text().swap_bytes(),
        first_of_data(m),
        has_data,
        ctr0,
    ]
}

/// The chain after the first blocks, and CIPH_K(Ctr_0).
#[inline(always)]
fn begun<C: Cipher>(c: &C, [b0, b1, data, ctr0]: Header<C::W>) -> [C::W; 2] {
    let chain = c.encrypt(b0);
    let mask = c.encrypt(ctr0);
    [C::W::select(data, c.encrypt(b1 ^ chain), chain), mask]
}

/// Ctr_1, little-endian.
#[inline(always)]
fn first_counter<C: Cipher>(c: &C, ctr0: C::W) -> C::W {
    ctr0.swap_bytes().count64(c.one())
}

const SHAPE: Shape = Shape {
    header: 4,
    data: Some(DataShape {
        begins: |len| 16 - prefix_len(len),
        ..DataShape::ending(Tail::Part)
    }),
    ..Shape::AEAD
};

/// In the state: the chain; the counter, little-endian; CIPH_K(Ctr_0).
impl<const SEAL: bool> Pass for Crypt<SEAL> {
    type State<W: Wide> = [W; 3];
    const SHAPE: Shape = SHAPE;

    #[inline(always)]
    fn header<F: Facts>(m: &F) -> Header<F::W> {
        first_blocks(m)
    }

    #[inline(always)]
    fn begin<C: Cipher>(c: &C, h: &mut Header<C::W>) -> [C::W; 3] {
        let [chain, mask] = begun(c, *h);
        [chain, first_counter(c, h[3]), mask]
    }

    #[inline(always)]
    fn absorb<C: Cipher>(c: &C, [chain, ..]: &mut [C::W; 3], x: C::W, _: usize) {
        *chain = c.encrypt(x ^ *chain);
    }

    #[inline(always)]
    fn absorb_last<C: Cipher>(c: &C, [chain, ..]: &mut [C::W; 3], last: Piece<C::W>) {
        *chain = c.encrypt(last.block ^ *chain);
    }

    #[inline(always)]
    fn step<C: Cipher>(c: &C, state: &mut [C::W; 3], x: C::W, _: usize) -> C::W {
        crypt::<C, SEAL>(c, state, x, |plain| plain)
    }

    #[inline(always)]
    fn finish<C: Cipher>(c: &C, _: &Header<C::W>, state: &mut [C::W; 3], last: &mut Last<C::W>) {
        let bytes = last.first.count.first_bytes();
        last.first.block = crypt::<C, SEAL>(
            c,
            state,
            last.first.block,
            #[inline(always)]
            |plain| plain & bytes,
        );
    }

    #[inline(always)]
    fn tag<C: Cipher>(_: &C, _: &Header<C::W>, [chain, _, mask]: [C::W; 3]) -> C::W {
        chain ^ mask
    }
}

/// One block; `cut` cuts the plaintext to its length.
#[inline(always)]
fn crypt<C: Cipher, const SEAL: bool>(
    c: &C,
    [chain, counter, _]: &mut [C::W; 3],
    x: C::W,
    cut: impl FnOnce(C::W) -> C::W,
) -> C::W {
    let y = x ^ c.encrypt(counter.swap_bytes());
    *counter = counter.count64(c.one());
    *chain = c.encrypt(*chain ^ cut(if SEAL { x } else { y }));
    y
}

/// In the state: the chain; CIPH_K(Ctr_0).
impl<const DECRYPTED: bool> Pass for Mac<DECRYPTED> {
    type State<W: Wide> = [W; 2];
    const SHAPE: Shape = Shape {
        feed: Feed::Serial(Link::Before),
        output: false,
        again: DECRYPTED,
        ..SHAPE
    };

    #[inline(always)]
    fn header<F: Facts>(m: &F) -> Header<F::W> {
        first_blocks(m)
    }

    #[inline(always)]
    fn begin<C: Cipher>(c: &C, h: &mut Header<C::W>) -> [C::W; 2] {
        begun(c, *h)
    }

    #[inline(always)]
    fn absorb<C: Cipher>(c: &C, [chain, _]: &mut [C::W; 2], x: C::W, _: usize) {
        *chain = c.encrypt(x ^ *chain);
    }

    #[inline(always)]
    fn absorb_last<C: Cipher>(c: &C, [chain, _]: &mut [C::W; 2], last: Piece<C::W>) {
        *chain = c.encrypt(last.block ^ *chain);
    }

    #[inline(always)]
    fn step<C: Cipher>(c: &C, [chain, _]: &mut [C::W; 2], x: C::W, _: usize) -> C::W {
        *chain = c.encrypt(x ^ *chain);
        *chain
    }

    #[inline(always)]
    fn tag<C: Cipher>(_: &C, _: &Header<C::W>, [chain, mask]: [C::W; 2]) -> C::W {
        chain ^ mask
    }
}

/// In the state: the counter, little-endian. A text's blocks do not fill the q bytes that it counts
/// in.
impl Pass for Stream {
    type State<W: Wide> = [W; 1];
    const SHAPE: Shape = Shape {
        feed: Feed::InOrder(&[Holds::Counter { bits: 64 }]),
        header: 1,
        ..Shape::CIPHER
    };

    #[inline(always)]
    fn header<F: Facts>(m: &F) -> Header<F::W> {
        [counter(m); HEADER]
    }

    #[inline(always)]
    fn begin<C: Cipher>(c: &C, h: &mut Header<C::W>) -> [C::W; 1] {
        [first_counter(c, h[0])]
    }

    #[inline(always)]
    fn step<C: Cipher>(c: &C, [counter]: &mut [C::W; 1], x: C::W, _: usize) -> C::W {
        let y = c.encrypt_counter(*counter) ^ x;
        *counter = counter.count64(c.stride());
        y
    }

    #[inline(always)]
    fn spread<C: Cipher>([counter]: &mut [C::W; 1], _: &C, places: C::W, _: C::W) {
        *counter = counter.count64(places);
    }

    /// The first counter block is for the tag.
    #[inline(always)]
    fn last_byte(_: &[u8]) -> Option<u8> {
        Some(1)
    }
}
