//! OCB3, offset codebook: RFC 7253.
//!
//! ```text
//! L_* = CIPH_K(0^128);  L_$ = 2 L_*;  L_0 = 2 L_$;  L_i = 2 L_{i-1}
//! Nonce = tag bits mod 128 in 7 bits || 0* 1 || N;  bottom = its last 6 bits
//! Ktop = CIPH_K(Nonce, bottom cleared);  Stretch = Ktop || (Ktop ^ Ktop << 8)[1..64]
//! Offset_0 = Stretch[1 + bottom .. 128 + bottom];  Offset_i = Offset_{i-1} ^ L_{ntz(i)}
//! C_i = Offset_i ^ CIPH_K(P_i ^ Offset_i);  Checksum = P_1 ^ P_2 ^ ...
//! last, shorter:  Offset_* = Offset ^ L_*;  C_* = P_* ^ CIPH_K(Offset_*);
//!                 Checksum ^= P_* || 10*
//! HASH(A) = the sum of CIPH_K(A_i ^ Offset_i) with offsets from 0, the last,
//!           shorter block A_* || 10* with L_*
//! T = the first bytes of CIPH_K(Checksum ^ Offset ^ L_$) ^ HASH(A)
//! ```
//!
//! Limits: nonces of 1 to 15 bytes; tags of 8, 12 or 16. At most 2^48 blocks under
//! a key (RFC 7253 section 5). A nonce must not repeat under a key.
#![forbid(unsafe_code)]

use super::Ocb;
use crate::about::{About, Registered};
use crate::backend::Backend;
use crate::block::{Block, both};
use crate::cipher::Cipher;
use crate::expanded::Expanded;
use crate::facts::{Facts, up};
use crate::gf128::double_block;
use crate::isa::{Isa, Wide};
use crate::mode::Costs;
use crate::pass::{Header, Last, Pass, Piece};
use crate::schedule::{CONSTANTS, Uses, Way};
use crate::shape::{Along, DataShape, Feed, Holds, Shape, Tail};

pub(crate) struct Crypt<const SEAL: bool>;

impl Registered for Ocb {
    const ABOUT: About = About {
        title: "offset codebook (OCB3)",
        source: "RFC 7253, 4",
        nonce_bytes: (1, 15),
        tag_bytes: &[8, 12, 16],
        data_components: 1,
        costs: Costs {
            aes_per_block: 1,
            aes_per_data_block: 1,
            aes_per_message: 2,
            ..Costs::NONE
        },
        nonce_reuse: "equal blocks at equal places show, forgeries",
        ..About::MODE
    };
    type Forward = Crypt<true>;
    type Backward = Crypt<false>;

    /// L_*, L_$, L_0, L_1, ...
    fn constants(_: Backend, key: &mut Expanded) {
        for i in 1..CONSTANTS {
            key.sub[i] = double_block(key.sub[i - 1]);
        }
    }
}

/// L_i.
#[inline(always)]
fn l<C: Cipher>(c: &C, i: u32) -> C::W {
    let place = i as usize + 2;
    if place < CONSTANTS {
        return c.subkey(place);
    }
    let more = c.splat(&both(place - (CONSTANTS - 1)));
    let last = c.subkey(CONSTANTS - 1).swap_bytes();
    last.times_power(more).swap_bytes()
}

/// The tag's length in bits modulo 128 in 7 bits || 0* 1 || N.
#[inline(always)]
pub(super) fn nonce<F: Facts>(m: &F) -> F::W {
    // N has at most 15 bytes.
    let before = m.in_all_bytes(
        #[inline(always)]
        |m| 15 - m.nonce,
    );
    let bit = m.splat(&1u128.to_le_bytes()).shuffle(before.up());
    let tag = m.number(
        #[inline(always)]
        |m| (m.tag * 8 % 128) << 1,
    );
    up(m, 1, m.nonce().shuffle(before.up())) ^ bit ^ tag
}

/// In the header: the nonce; later HASH(A). In the state: the offset, the sum.
impl<const SEAL: bool> Pass for Crypt<SEAL> {
    type State<W: Wide> = [W; 2];
    const SHAPE: Shape = Shape {
        feed: Feed::Blocks(Along {
            blocks: &[Holds::Offset, Holds::Sum],
            tables: 2,
            lanes_below: 512,
            ..Along::NO
        }),
        header: 2,
        data: Some(DataShape {
            along: &[Holds::Offset, Holds::Sum],
            ..DataShape::ending(Tail::Part)
        }),
        uses: Uses {
            forward: true,
            inverse: !SEAL,
            second: false,
            constants: CONSTANTS,
        },
        ..Shape::AEAD
    };

    #[inline(always)]
    fn header<F: Facts>(m: &F) -> Header<F::W> {
        let zero = m.splat(&[0; 16]);
        [nonce(m), zero, zero, zero]
    }

    #[inline(always)]
    fn absorb<C: Cipher>(c: &C, [offset, sum]: &mut [C::W; 2], x: C::W, row: usize) {
        let y;
        (y, *offset) = c.with_offset::<false>(
            Way::Encrypt,
            x,
            (*offset, row),
            #[inline(always)]
            |i| l(c, i),
        );
        *sum = *sum ^ y;
    }

    #[inline(always)]
    fn absorb_last<C: Cipher>(c: &C, [offset, sum]: &mut [C::W; 2], last: Piece<C::W>) {
        *sum = *sum ^ c.encrypt(last.block ^ last.count.one_zero() ^ *offset ^ c.subkey(0));
    }

    #[inline(always)]
    fn text<C: Cipher>(c: &C, h: &mut Header<C::W>, [_, sum]: [C::W; 2]) -> [C::W; 2] {
        let bottom = c.splat(&[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 63]);
        let top = c.splat(&[
            !0, !0, !0, !0, !0, !0, !0, !0, !0, !0, !0, !0, !0, !0, !0, !63,
        ]);
        let offset = stretch(c, c.encrypt(h[0] & top), h[0] & bottom);
        h[1] = sum;
        [offset, c.zero()]
    }

    #[inline(always)]
    fn step<C: Cipher>(c: &C, [offset, sum]: &mut [C::W; 2], x: C::W, row: usize) -> C::W {
        let y;
        (y, *offset) = c.with_offset::<true>(
            if SEAL { Way::Encrypt } else { Way::Decrypt },
            x,
            (*offset, row),
            #[inline(always)]
            |i| l(c, i),
        );
        *sum = c.added(*sum, if SEAL { c.text_again(x) } else { y });
        y
    }

    /// L_{ntz(1)} ^ ... ^ L_{ntz(i)} for i = 1, 2, ..., which is Offset_i ^ Offset_0.
    #[inline(always)]
    fn tables<S: Isa>(s: S, key: &Expanded, blocks: usize, tables: &mut [Block]) {
        let n = s.narrow();
        let mut sum = n.splat(&[0; 16]);
        let mut i = 0;
        while i < S::LANES {
            sum = sum ^ n.splat(key.subkey(2 + (i + 1).trailing_zeros() as usize));
            n.store_to(sum, &mut tables[i..]);
            i += 1;
            // Rows are of one register, of four blocks, of four registers, or of all.
            let (unit, quad) = (<S::Unit as Isa>::LANES, <S::Quad as Isa>::LANES);
            let four = <S::Registers<4> as Isa>::LANES.min(S::LANES);
            if i == unit && blocks < if quad > unit { quad } else { four }
                || i == quad && blocks < four
                || i == four && blocks < S::LANES
            {
                return;
            }
        }
    }

    #[inline(always)]
    fn finish<C: Cipher>(
        c: &C,
        _: &Header<C::W>,
        [offset, sum]: &mut [C::W; 2],
        last: &mut Last<C::W>,
    ) {
        *offset = *offset ^ c.subkey(0);
        let x = last.first.block;
        let y = x ^ c.encrypt(*offset);
        let plain = if SEAL {
            x
        } else {
            y & last.first.count.first_bytes()
        };
        *sum = *sum ^ plain ^ last.first.count.one_zero();
        last.first.block = y;
    }

    #[inline(always)]
    fn tag<C: Cipher>(c: &C, h: &Header<C::W>, [offset, sum]: [C::W; 2]) -> C::W {
        c.encrypt(sum ^ offset ^ c.subkey(1)) ^ h[1]
    }
}

/// Offset_0: 128 bits of Stretch from `bottom` on, which is the last byte of its
/// block.
#[inline(always)]
fn stretch<C: Cipher>(c: &C, ktop: C::W, bottom: C::W) -> C::W {
    const NONE: u8 = 0x80;
    // In both halves; and 63 - bottom, as shifting by that and by 1 is shifting by 64
    // - bottom.
    let bottom = bottom.shuffle(c.splat(&[
        15, NONE, NONE, NONE, NONE, NONE, NONE, NONE, 15, NONE, NONE, NONE, NONE, NONE, NONE, NONE,
    ]));
    let rest = bottom ^ c.splat(&both(63));
    // Ktop as big-endian halves (first, second), and (second, third), where the
    // third is the first ^ the first << 8 with the second's first byte.
    let halves = ktop.shuffle(c.splat(&[7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8]));
    let second = ktop.shuffle(c.splat(&[
        15, 14, 13, 12, 11, 10, 9, 8, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE,
    ]));
    let after = second
        ^ ktop.shuffle(c.splat(&[
            NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, 7, 6, 5, 4, 3, 2, 1, 0,
        ]))
        ^ ktop.shuffle(c.splat(&[
            NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, 8, 7, 6, 5, 4, 3, 2, 1,
        ]));
    let after = after.shift_right(rest).shift_right(c.splat(&both(1)));
    let bits = halves.shift_left(bottom) ^ after;
    bits.shuffle(c.splat(&[7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8]))
}
