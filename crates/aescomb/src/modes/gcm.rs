//! GCM, Galois/counter mode, and GMAC: SP 800-38D.
//!
//! ```text
//! H = CIPH_K(0^128)
//! J_0 = N || 0^31 1 if N has 12 bytes, otherwise GHASH_H(N || 0* || length of N)
//! C = P ^ CIPH_K(J_0 + 1) || CIPH_K(J_0 + 2) || ...     counting in 32 bits
//! S = GHASH_H(A || 0* || C || 0* || lengths of A and C)
//! T = the first bytes of S ^ CIPH_K(J_0)
//! GHASH_H(X_1 ... X_n):  Y_0 = 0;  Y_i = (Y_{i-1} ^ X_i) H
//! GMAC: the tag of A with an empty P
//! ```
//!
//! GHASH is computed as POLYVAL of the blocks in reverse byte order with the key
//! x H (RFC 8452 appendix A), whose product CPUs do faster.
//!
//! Limits: texts of at most 2^36 - 32 bytes, associated data and nonces below
//! 2^61 bytes; tags of 12 to 16 bytes, or 8 or 4 under the conditions of SP
//! 800-38D appendix C. A nonce must not repeat under a key: two messages with the
//! same one give away H, and so forgeries of any other.
#![forbid(unsafe_code)]

use super::{Gcm, Gmac};
use crate::about::{About, Limits, Registered};
use crate::backend::Backend;
use crate::block::{Block, MAX_LANES, MAX_UNIT};
use crate::bytes::filled;
use crate::cipher::Cipher;
use crate::expanded::Expanded;
use crate::facts::{Facts, up};
use crate::gf128::{double_polyval, mul_polyval};
use crate::isa::{Isa, Polyval, Product, Wide};
use crate::mode::{Costs, Lengths};
use crate::pass::{Header, Last, Pass, Piece};
use crate::schedule::FORWARD;
use crate::shape::{Along, Feed, Holds, Shape};

pub(crate) struct Crypt<const SEAL: bool>;
pub(crate) struct Mac;

impl Registered for Gcm {
    const ABOUT: About = About {
        title: "Galois/counter mode",
        source: "SP 800-38D, 7",
        nonce_bytes: (1, u32::MAX as usize - 1),
        tag_bytes: &[4, 8, 12, 13, 14, 15, 16],
        data_components: 1,
        costs: Costs {
            aes_per_block: 1,
            aes_per_message: 1,
            mul_per_block: 1,
            mul_per_message: 1,
            ..Costs::NONE
        },
        nonce_reuse: "the hash key leaks: forgeries of any message",
        ..About::MODE
    };
    type Forward = Crypt<true>;
    type Backward = Crypt<false>;

    /// x H.
    fn constants(_: Backend, key: &mut Expanded) {
        let h = u128::from_be_bytes(key.sub[0]);
        key.sub[0] = double_polyval(h).to_le_bytes();
    }

    /// SP 800-38D section 5.2.1.1.
    fn limits(_: usize) -> Limits {
        Limits {
            text: (1 << 36) - 32,
            data: (1 << 61) - 1,
        }
    }
}

impl Registered for Gmac {
    const ABOUT: About = About {
        title: "Galois message authentication code",
        source: "SP 800-38D, 7",
        lengths: Lengths::TagOnly,
        costs: Costs {
            aes_per_message: 1,
            mul_per_block: 1,
            mul_per_message: 1,
            ..Costs::NONE
        },
        data_components: 0,
        ..Gcm::ABOUT
    };
    type Forward = Mac;
    type Backward = Mac;

    fn constants(backend: Backend, key: &mut Expanded) {
        Gcm::constants(backend, key);
    }

    fn limits(_: usize) -> Limits {
        Limits {
            text: (1 << 61) - 1,
            data: 0,
        }
    }
}

/// J_0.
#[inline(always)]
fn initial<F: Facts>(m: &F) -> F::W {
    // Lanes without a message have no nonce.
    let usual = m.all(
        #[inline(always)]
        |m| m.nonce == 12 || m.nonce == 0,
    );
    if usual {
        return m.nonce() ^ m.splat(&(1u128 << 120).to_le_bytes());
    }
    m.block(
        #[inline(always)]
        |m| match m.sizes().nonce {
            12 => m.nonce_block() | 1 << 120,
            _ => hashed(u128::from_le_bytes(*m.key.subkey(0)), m.nonce()),
        },
    )
}

/// J_0 of a nonce that does not have 12 bytes.
#[inline(never)]
fn hashed(h: u128, nonce: &[u8]) -> u128 {
    let mut sum = 0;
    for bytes in nonce.chunks(16) {
        sum = mul_polyval(sum ^ u128::from_be_bytes(filled(bytes)), h);
    }
    sum = mul_polyval(sum ^ (nonce.len() as u128 * 8), h);
    sum.swap_bytes()
}

/// J_0, and the lengths in bits, in reverse byte order.
#[inline(always)]
fn header<F: Facts>(m: &F, lengths: F::W) -> Header<F::W> {
    let zero = m.splat(&[0; 16]);
    [initial(m), lengths, zero, zero]
}

/// In the header: J_0, later CIPH_K(J_0); the lengths. In the state: the hash in
/// reverse byte order; the counter, likewise.
impl<const SEAL: bool> Pass for Crypt<SEAL> {
    type State<W: Wide> = [W; 2];
    const SHAPE: Shape = Shape {
        feed: Feed::Blocks(Along {
            blocks: &[
                Holds::Hash {
                    polyval: true,
                    results: SEAL,
                    alone: false,
                },
                Holds::Counter { bits: 32 },
            ],
            tables: POWERS_COST,
            lanes_below: if SEAL { 304 } else { 256 },
            ends_alike: true,
        }),
        header: 2,
        uses: FORWARD.constants(1),
        ..Shape::AEAD
    };

    #[inline(always)]
    fn header<F: Facts>(m: &F) -> Header<F::W> {
        header(m, m.text_bits() ^ up(m, 8, m.data_bits()))
    }

    #[inline(always)]
    fn begin<C: Cipher>(c: &C, h: &mut Header<C::W>) -> [C::W; 2] {
        let j0 = h[0];
        h[0] = c.encrypt(j0);
        [c.zero(), j0.swap_bytes().count32(c.one())]
    }

    #[inline(always)]
    fn absorb<C: Cipher>(c: &C, [hash, _]: &mut [C::W; 2], x: C::W, _: usize) {
        *hash = c.hash::<Polyval>(*hash, x.swap_bytes());
    }

    #[inline(always)]
    fn absorb_last<C: Cipher>(c: &C, state: &mut [C::W; 2], last: Piece<C::W>) {
        Self::absorb(c, state, last.block, 0);
    }

    #[inline(always)]
    fn step<C: Cipher>(c: &C, state: &mut [C::W; 2], x: C::W, _: usize) -> C::W {
        // What is opened is there before its plaintext.
        if !SEAL {
            Self::absorb(c, state, x, 0);
        }
        let y = key_stream(c, state) ^ if SEAL { c.text_again(x) } else { x };
        if SEAL {
            Self::absorb(c, state, c.within(y), 0);
        }
        y
    }

    #[inline(always)]
    fn finish<C: Cipher>(c: &C, _: &Header<C::W>, state: &mut [C::W; 2], last: &mut Last<C::W>) {
        let x = last.first.block;
        let y = key_stream(c, state) ^ x;
        last.first.block = y;
        Self::absorb(
            c,
            state,
            if SEAL {
                y & last.first.count.first_bytes()
            } else {
                x
            },
            0,
        );
    }

    #[inline(always)]
    fn tables<S: Isa>(s: S, key: &Expanded, blocks: usize, tables: &mut [Block]) {
        powers::<Polyval, _>(s, key, blocks, tables);
    }

    #[inline(always)]
    fn spread<C: Cipher>([_, counter]: &mut [C::W; 2], _: &C, places: C::W, _: C::W) {
        *counter = counter.count32(places);
    }

    /// J_0 of a nonce of 12 bytes ends with 1; that of others comes of the key.
    #[inline(always)]
    fn last_byte(nonce: &[u8]) -> Option<u8> {
        (nonce.len() == 12).then_some(2)
    }

    #[inline(always)]
    fn tag<C: Cipher>(c: &C, h: &Header<C::W>, [hash, _]: [C::W; 2]) -> C::W {
        c.hash::<Polyval>(hash, h[1]).swap_bytes() ^ h[0]
    }
}

/// About how many rows' time `powers` takes.
pub(super) const POWERS_COST: usize = 8;

/// Of the key's first constant H, as many powers as `blocks` want and there is room for,
/// from the last to the first.
#[inline(always)]
pub(super) fn powers<F: Product, S: Isa>(
    s: S,
    key: &Expanded,
    blocks: usize,
    tables: &mut [Block],
) {
    let u = s.unit();
    let lanes = <S::Unit as Isa>::LANES;
    // Lane l is H times H^(2^i) for every bit i of n - 1 - l.
    let mut square = u.splat(key.subkey(0));
    let mut power = square;
    let mut i = 1;
    while i < lanes {
        let mut bit = [[0; 16]; MAX_LANES];
        for (l, block) in bit.iter_mut().enumerate().take(lanes) {
            if (lanes - 1 - l) & i != 0 {
                *block = [0xff; 16];
            }
        }
        let more = power.mul::<F>(square);
        power = <S::Unit as Isa>::W::select(u.load_row(&bit), more, power);
        square = square.mul::<F>(square);
        i *= 2;
    }
    let room = tables.len() - MAX_UNIT;
    let tables = &mut tables[..room];
    u.store_to(power, &mut tables[room - lanes..]);
    // The first n times H^n are the next n: those of a step do not wait for each other.
    let mut made = lanes;
    let blocks = blocks.min(room);
    while made < blocks {
        let step = u.splat(&tables[room - made]);
        let (next, before) = tables.split_at_mut(room - made);
        let more = made.min((blocks - made).next_multiple_of(lanes));
        let rows = before
            .rchunks_exact(lanes)
            .zip(next.rchunks_exact_mut(lanes));
        for (before, next) in rows.take(more / lanes) {
            u.store_to(u.load_from(before).mul::<F>(step), next);
        }
        made += more;
    }
}

/// What one block of CTR adds to the text.
#[inline(always)]
fn key_stream<C: Cipher>(c: &C, [_, counter]: &mut [C::W; 2]) -> C::W {
    let y = c.encrypt_counter(*counter);
    *counter = counter.count32(c.stride());
    y
}

/// The text is the associated data of a GCM message.
impl Pass for Mac {
    type State<W: Wide> = [W; 1];
    const SHAPE: Shape = Shape {
        feed: Feed::Blocks(Along {
            blocks: &[Holds::Hash {
                polyval: true,
                results: false,
                alone: false,
            }],
            tables: POWERS_COST,
            lanes_below: 304,
            ends_alike: true,
        }),
        header: 2,
        uses: FORWARD.constants(1),
        ..Shape::MAC
    };

    #[inline(always)]
    fn header<F: Facts>(m: &F) -> Header<F::W> {
        header(m, up(m, 8, m.text_bits()))
    }

    #[inline(always)]
    fn begin<C: Cipher>(c: &C, h: &mut Header<C::W>) -> [C::W; 1] {
        h[0] = c.encrypt(h[0]);
        [c.zero()]
    }

    #[inline(always)]
    fn step<C: Cipher>(c: &C, [hash]: &mut [C::W; 1], x: C::W, _: usize) -> C::W {
        *hash = c.hash::<Polyval>(*hash, x.swap_bytes());
        *hash
    }

    #[inline(always)]
    fn tables<S: Isa>(s: S, key: &Expanded, blocks: usize, tables: &mut [Block]) {
        powers::<Polyval, _>(s, key, blocks, tables);
    }

    #[inline(always)]
    fn tag<C: Cipher>(c: &C, h: &Header<C::W>, [hash]: [C::W; 1]) -> C::W {
        c.hash::<Polyval>(hash, h[1]).swap_bytes() ^ h[0]
    }
}
