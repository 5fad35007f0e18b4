//! Silver v1: D. Penazzi and M. Montes, CAESAR submission of March 2014.
//!
//! ```text
//! kappa = CIPH_K(N);  U = round keys of K;  W = those of kappa
//! R_0 = U_0 ^ W_1;  R_1 = U_1;  R_9 = U_9;  R_j = U_j ^ W_j for the others
//! F_t = AES with round keys R, of which t is added to R_1, R_5 and R_9
//! G = W_9 with the lowest bits of its halves set;  G_L = first half of G || 0^64
//! S = F_{kappa + i G_L}(A_i) ^ ...            + on both 64-bit halves, little-endian
//!     a last, shorter A_*:  ^ F_kappa(A_* || 0x01 || 0*)
//! t_i = kappa + i G;  C_i = F_{t_i}(M_i);  S ^= M_i ^ (C_i + t_i)
//! last, shorter, r bytes after b blocks:  Z = F_{t_{b+1}}(length of M, twice)
//!     C_* = M_* ^ Z;  S ^= F_{t_{b+2}}(M_* || rest of Z but for its last byte || r)
//! V = kappa + (length of A || length of M)
//! T = first bytes of AES with round keys R_2 R_9^V R_3 R_4 R_6 R_1^V R_7 R_8 R_10
//!     R_5^V R_0 of S
//! ```
//!
//! Every nonce has round keys of its own, which are expanded for all messages of a
//! group at once; round keys change from block to block. Limits: nonces of 16 bytes;
//! tags of 1 to 16 bytes, and one length only under a key. A nonce must not repeat.
//!
//! **For research and comparison, not for new protocols**: the submission did not get
//! beyond the first round.
#![forbid(unsafe_code)]

use super::Silver;
use crate::about::{About, Registered};
use crate::block::{Block, both};
use crate::cipher::Cipher;
use crate::expanded::Expanded;
use crate::facts::{Facts, up};
use crate::isa::{Isa, RoundKeys, Wide};
use crate::mode::Costs;
use crate::pass::{Header, Last, Own, Pass, Piece};
use crate::schedule::{DERIVED, FORWARD, Uses, Way};
use crate::shape::{Along, Feed, Holds, OwnKeys, Shape};

pub(crate) struct Crypt<const SEAL: bool>;

impl Registered for Silver {
    const ABOUT: About = About {
        title: "tweaked codebook with changing round keys",
        source: "Silver v1 (CAESAR, 2014)",
        key_bytes: &[16],
        nonce_bytes: (16, 16),
        tag_bytes: &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16],
        data_components: 1,
        costs: Costs {
            aes_per_block: 1,
            aes_per_data_block: 1,
            aes_per_message: 3,
            ..Costs::NONE
        },
        nonce_reuse: "equal blocks at equal places show, forgeries",
        research: Some("CAESAR, first round"),
        ..About::MODE
    };
    type Forward = Crypt<true>;
    type Backward = Crypt<false>;
}

/// Where a message's constants are: kappa, G.
const KAPPA: usize = 0;
const G: usize = 1;

/// In the header: N; the lengths; the length of M twice. In the state: S, the tweak of
/// the next block.
impl<const SEAL: bool> Pass for Crypt<SEAL> {
    type State<W: Wide> = [W; 2];
    const SHAPE: Shape = Shape {
        aes_128: true,
        feed: Feed::Blocks(Along {
            blocks: &[Holds::Sum, Holds::Position],
            tables: 2,
            ..Along::NO
        }),
        header: 3,
        own: Some(OwnKeys::Mixed {
            second: [2, 9, 3, 4, 6, 1, 7, 8, 10, 5, 0],
        }),
        uses: Uses {
            inverse: !SEAL,
            second: true,
            ..FORWARD
        },
        ..Shape::AEAD
    };

    #[inline(always)]
    fn header<F: Facts>(m: &F) -> Header<F::W> {
        let data = m.number(
            #[inline(always)]
            |m| m.data,
        );
        let text = up(m, 8, m.text());
        [m.nonce(), text ^ data, text ^ m.text(), m.splat(&[0; 16])]
    }

    #[inline(always)]
    fn derive<C: Cipher>(c: &C, h: &Header<C::W>, _: usize) -> Own<C::W> {
        let kappa = c.encrypt(h[0]);
        let zero = c.zero();
        Own {
            constants: [kappa, zero],
            first: [kappa, zero],
            second: [zero; 2],
        }
    }

    #[inline(always)]
    fn mixed_constants<C: Cipher>(c: &C, w: &RoundKeys<C::W>, constants: &mut [C::W; DERIVED]) {
        let low_bits = c.splat(&(1u128 << 64 | 1).to_le_bytes());
        let high_bits = c.splat(&(!(1u128 << 64 | 1)).to_le_bytes());
        constants[G] = (w[9] & high_bits) ^ low_bits;
    }

    #[inline(always)]
    fn mix<C: Cipher>(c: &C, w: &RoundKeys<C::W>, j: usize) -> C::W {
        match j {
            0 => c.round_key(0) ^ w[1],
            1 | 9 => c.round_key(j),
            _ => c.round_key(j) ^ w[j],
        }
    }

    #[inline(always)]
    fn begin<C: Cipher>(c: &C, _: &mut Header<C::W>) -> [C::W; 2] {
        [c.zero(), c.subkey(KAPPA)]
    }

    #[inline(always)]
    fn absorb<C: Cipher>(c: &C, [sum, tweak]: &mut [C::W; 2], x: C::W, _: usize) {
        let left = c.splat(&u128::from(u64::MAX).to_le_bytes());
        *tweak = tweak.add_halves(c.subkey(G) & left);
        *sum = *sum ^ c.tweaked(Way::Encrypt, x, *tweak);
    }

    #[inline(always)]
    fn absorb_last<C: Cipher>(c: &C, [sum, _]: &mut [C::W; 2], last: Piece<C::W>) {
        // 0x80 where the piece ends.
        let one = last.count.one_zero().shift_right(c.splat(&both(7)));
        *sum = *sum ^ c.tweaked(Way::Encrypt, last.block ^ one, c.subkey(KAPPA));
    }

    #[inline(always)]
    fn text<C: Cipher>(c: &C, _: &mut Header<C::W>, [sum, _]: [C::W; 2]) -> [C::W; 2] {
        [sum, c.subkey(KAPPA).add_halves(c.subkey(G))]
    }

    #[inline(always)]
    fn step<C: Cipher>(c: &C, [sum, tweak]: &mut [C::W; 2], x: C::W, _: usize) -> C::W {
        let way = if SEAL { Way::Encrypt } else { Way::Decrypt };
        let y = c.tweaked(way, x, *tweak);
        let (plain, sealed) = if SEAL { (x, y) } else { (y, x) };
        *sum = c.added(*sum, plain ^ sealed.add_halves(*tweak));
        *tweak = tweak.add_halves(c.stride_of(G));
        y
    }

    /// i G for lane i, and one more.
    #[inline(always)]
    fn tables<S: Isa>(_: S, key: &Expanded, _: usize, tables: &mut [Block]) {
        let g = u128::from_le_bytes(*key.subkey(G));
        let times = |n: usize| {
            let low = (g as u64).wrapping_mul(n as u64);
            let high = ((g >> 64) as u64).wrapping_mul(n as u64);
            (u128::from(high) << 64 | u128::from(low)).to_le_bytes()
        };
        for (i, multiple) in tables[..=S::LANES].iter_mut().enumerate() {
            *multiple = times(i);
        }
    }

    #[inline(always)]
    fn spread<C: Cipher>([_, tweak]: &mut [C::W; 2], _: &C, _: C::W, table: C::W) {
        *tweak = tweak.add_halves(table);
    }

    #[inline(always)]
    fn finish<C: Cipher>(
        c: &C,
        h: &Header<C::W>,
        [sum, tweak]: &mut [C::W; 2],
        last: &mut Last<C::W>,
    ) {
        let bytes = last.first.count.first_bytes();
        let z = c.tweaked(Way::Encrypt, h[2], *tweak);
        let x = last.first.block;
        let y = x ^ z;
        let plain = if SEAL { x } else { y };
        let end = c.splat(&(0xffu128 << 120).to_le_bytes());
        let rest = C::W::select(end, last.first.count, z);
        let q = C::W::select(bytes, plain, rest);
        let next = tweak.add_halves(c.subkey(G));
        *sum = *sum ^ c.tweaked(Way::Encrypt, q, next);
        last.first.block = y;
    }

    #[inline(always)]
    fn tag<C: Cipher>(c: &C, h: &Header<C::W>, [sum, _]: [C::W; 2]) -> C::W {
        let v = c.subkey(KAPPA).add_halves(h[1]);
        c.tweaked(Way::EncryptSecond, sum, v)
    }
}
