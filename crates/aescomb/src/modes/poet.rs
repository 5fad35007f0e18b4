//! POET: Abed, Fluhrer, Foley, Forler, List, Lucks, McGrew and Wenzel, "Pipelineable
//! On-Line Encryption" (FSE 2014), as in the CAESAR submission v2.0 of 2015, with
//! AES-128, whole AES-128 as its hash function, and no intermediate tags.
//!
//! ```text
//! K, L, KF = CIPH_SK(0), CIPH_SK(1), CIPH_SK(2);  E = CIPH_K;  F = CIPH_KF
//! H = A || N;  the last block of it, of 0 to 15 bytes, with 10* after it
//! tau = E(E(L) ^ the sum of E(H_i ^ 2^i L))    products as in GCM
//! X_0 = tau;  Y_0 = tau ^ 1;  S = E(bits of P in 8 bytes, little-endian, || 0*)
//! step(B):  X_i = F(X_{i-1}) ^ B;  Y_i = E(X_i);  the result: Y_i ^ F(Y_{i-1})
//! C_i = step(P_i)
//! last, of r bytes:  Z = step(S ^ (P_m || the first 16 - r bytes of tau)) ^ S
//!                    W = step(tau) ^ tau
//!                    C_m || T = Z || the first r bytes of W
//! ```
//!
//! For research and comparison. The bits are those of the submission's reference code.
//! Of the three calls for a block none waits for another, as F is computed of X and Y as
//! soon as they are there. Limits: keys, nonces and tags of 16 bytes; texts below 2^61
//! bytes. A message's decryption needs its tag if its last block is not whole. A
//! repeated nonce (with the same associated data) tells how many first blocks of
//! messages are equal, and no more.
#![forbid(unsafe_code)]

use super::Poet;
use crate::about::{About, Limits, Registered};
use crate::backend::Backend;
use crate::block::{Block, both};
use crate::cipher::{self, Cipher, encrypt_block};
use crate::expanded::Expanded;
use crate::facts::Facts;
use crate::isa::Wide;
use crate::mode::Costs;
use crate::pass::{Header, Last, Pass, Piece};
use crate::schedule::{Uses, WhichKey};
use crate::shape::{DataShape, Shape, Tail};
use core::slice;
use zeroize::Zeroize;

pub(crate) struct Crypt<const SEAL: bool>;

impl Registered for Poet {
    const ABOUT: About = About {
        title: "pipelineable on-line encryption",
        source: "FSE 2014; POET v2.0, CAESAR 2015",
        key_bytes: &[16],
        nonce_bytes: (16, 16),
        tag_bytes: &[16],
        data_components: 1,
        // An empty text costs as much as a block. Associated data that is not of whole
        // blocks costs a call less.
        costs: Costs {
            aes_per_block: 3,
            aes_per_data_block: 1,
            aes_per_message: 7,
            ..Costs::NONE
        },
        nonce_reuse: "equal message beginnings show",
        research: Some("CAESAR, second round"),
        ..About::MODE
    };
    type Forward = Crypt<true>;
    type Backward = Crypt<false>;

    /// 2 L in reverse byte order, and E(L); the key is K, the second key is KF.
    fn constants(backend: Backend, key: &mut Expanded) {
        let number = |n: u128| encrypt_block(backend, key, n.to_be_bytes());
        let mut k = key.sub[0];
        let (l, mut kf) = (number(1), number(2));
        let keys = slice::from_mut(key);
        cipher::expand(backend, &[&kf], keys, WhichKey::Second);
        cipher::expand(backend, &[&k], keys, WhichKey::First);
        key.sub[0] = double(l).to_le_bytes();
        key.sub[1] = encrypt_block(backend, key, l);
        k.zeroize();
        kf.zeroize();
    }

    /// S has the text's bits in 8 bytes.
    fn limits(_: usize) -> Limits {
        Limits {
            text: (1 << 61) - 1,
            ..Limits::NONE
        }
    }
}

/// 2 L as an integer that is L's bytes in reverse order: GCM's product by x.
fn double(l: Block) -> u128 {
    const P: u128 = 0xe1 << 120;
    let l = u128::from_be_bytes(l);
    l >> 1 ^ (P & (l & 1).wrapping_neg())
}

/// The same of all blocks.
#[inline(always)]
fn doubled<C: Cipher>(c: &C, l: C::W) -> C::W {
    const NONE: u8 = 0x80;
    // The bits that leave the halves, at their tops: the upper half's goes on in the
    // lower one.
    let last = c.splat(&both(63));
    let down = l.shuffle(c.splat(&[
        8, 9, 10, 11, 12, 13, 14, 15, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE,
    ]));
    let up = l.shuffle(c.splat(&[
        NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, 0, 1, 2, 3, 4, 5, 6, 7,
    ]));
    let (down, up) = (down.shift_left(last), up.shift_left(last));
    let one = c.splat(&both(1));
    // The lower half's: 1 + x + x^2 + x^7, from the top bit down.
    let up = up
        ^ up.shift_right(one)
        ^ up.shift_right(c.splat(&both(2)))
        ^ up.shift_right(c.splat(&both(7)));
    l.shift_right(one) ^ down ^ up
}

/// In the header: the two blocks of H in which N is, later tau and S; the text's bits;
/// the tag that was given. In the state: the mask in reverse byte order and the sum;
/// then F(X) and Y when sealing, X and F(Y) when opening; in the end the tag.
impl<const SEAL: bool> Pass for Crypt<SEAL> {
    type State<W: Wide> = [W; 2];
    const SHAPE: Shape = Shape {
        aes_128: true,
        tail: Tail::Last,
        header: 4,
        data: Some(DataShape::ending(Tail::None)),
        uses: Uses {
            forward: true,
            inverse: !SEAL,
            second: true,
            constants: 2,
        },
        ..Shape::AEAD
    };

    #[inline(always)]
    fn header<F: Facts>(m: &F) -> Header<F::W> {
        let rest = m.in_all_bytes(
            #[inline(always)]
            |m| m.data % 16,
        );
        let end = m.block(
            #[inline(always)]
            |m| m.data_from(m.sizes().data / 16 * 16, 16),
        );
        let nonce = m.nonce();
        [
            end ^ nonce.shuffle(rest.up()),
            nonce.shuffle(rest.down()) ^ rest.one_zero(),
            m.text_bits(),
            m.given_tag(),
        ]
    }

    #[inline(always)]
    fn begin<C: Cipher>(c: &C, _: &mut Header<C::W>) -> [C::W; 2] {
        [c.subkey(0), c.subkey(1)]
    }

    #[inline(always)]
    fn absorb<C: Cipher>(c: &C, [mask, sum]: &mut [C::W; 2], x: C::W, _: usize) {
        *sum = *sum ^ c.encrypt(x ^ mask.swap_bytes());
        *mask = doubled(c, *mask);
    }

    #[inline(always)]
    fn text<C: Cipher>(c: &C, h: &mut Header<C::W>, mut state: [C::W; 2]) -> [C::W; 2] {
        h[2] = c.encrypt(h[2]);
        Self::absorb(c, &mut state, h[0], 0);
        Self::absorb(c, &mut state, h[1], 0);
        let [_, sum] = state;
        let tau = c.encrypt(sum);
        h[0] = tau;
        h[1] = h[2];
        let y = tau ^ c.splat(&(1u128 << 120).to_le_bytes());
        if SEAL {
            [c.encrypt_second(tau), y]
        } else {
            [tau, c.encrypt_second(y)]
        }
    }

    #[inline(always)]
    fn step<C: Cipher>(c: &C, state: &mut [C::W; 2], b: C::W, _: usize) -> C::W {
        if SEAL {
            let [hashed_x, y] = state;
            let (x, hashed_y) = (*hashed_x ^ b, c.encrypt_second(*y));
            *y = c.encrypt(x);
            *hashed_x = c.encrypt_second(x);
            *y ^ hashed_y
        } else {
            let [x, hashed_y] = state;
            let (y, hashed_x) = (*hashed_y ^ b, c.encrypt_second(*x));
            *x = c.decrypt(y);
            *hashed_y = c.encrypt_second(y);
            *x ^ hashed_x
        }
    }

    #[inline(always)]
    fn finish<C: Cipher>(c: &C, h: &Header<C::W>, state: &mut [C::W; 2], last: &mut Last<C::W>) {
        let [tau, s, _, given] = *h;
        let Piece { block, count } = last.first;
        // The last block, and 16 less its bytes, which is in the last byte here, or 0.
        let rest = count.pkcs7().shuffle(c.splat(&[15; 16]));
        let end = if SEAL { tau } else { given };
        let b = block ^ end.shuffle(count.up());
        let z = Self::step(c, state, b ^ s, 0) ^ s;
        last.first.block = z;
        // A step that seals, the result's only.
        let (hashed_x, hashed_y) = if SEAL {
            (state[0], c.encrypt_second(state[1]))
        } else {
            (c.encrypt_second(state[0]), state[1])
        };
        let w = c.encrypt(hashed_x ^ tau) ^ hashed_y ^ tau;
        let tag = z.shuffle(rest.down()) ^ w.shuffle(rest.up());
        state[0] = if SEAL {
            tag
        } else {
            // Its first bytes are those of tau if they are right: then the tag's first
            // bytes are those that were given.
            tag ^ ((tau ^ given) & rest.first_bytes())
        };
    }
}
