//! McOE-G: Fleischmann, Forler and Lucks, "McOE: A Family of Almost Foolproof On-Line
//! Authenticated Encryption Schemes" (FSE 2012), with AES-128.
//!
//! ```text
//! K1, K2 = CIPH_K(1), CIPH_K(2);  E = CIPH_K1;  products as in GCM
//! Enc(U, X) = E(X ^ h) ^ h, where h = U K2
//! H_1 = N || bytes of A in 4 bytes;  H_2 ... = A || 0*
//! U = 0;  for all H_i:  tau = Enc(U, H_i);  U = tau ^ H_i
//! C_i = Enc(U, P_i);  U = P_i ^ C_i
//! without a rest:    T = Enc(U, tau)
//! a rest P_* of r bytes:
//!     X = (P_* || the first bytes of tau) ^ Enc(ff ... ff, r as a block)
//!     Y = Enc(U, X);  C_* = the first r bytes of Y;  U = X ^ Y
//!     T = the other bytes of Y || the first r of Enc(U, tau)
//! ```
//!
//! For research and comparison, and not all of it is the authors': the paper could not
//! be had. The generic scheme with its tags is that of an author's implementation. That
//! Enc has h on both sides is recalled. Completed by us, so that other implementations
//! may differ: one key, from which K1 and K2 come; the order of bits in products; nonces
//! of 12 bytes, with the length of A in the same block; zeros at the end of A.
//!
//! Limits: keys and tags of 16 bytes; associated data below 2^32 bytes, texts below
//! 2^40. A message's decryption needs its tag if its last block is not whole. A
//! repeated nonce (with the same associated data) tells how many first blocks of
//! messages are equal, and no more.
#![forbid(unsafe_code)]

use super::McoeG;
use crate::about::{About, Limits, Registered};
use crate::backend::Backend;
use crate::cipher::{self, Cipher, encrypt_block};
use crate::expanded::Expanded;
use crate::facts::{Facts, up};
use crate::gf128::{double_polyval, mul_polyval};
use crate::isa::{Polyval, Wide};
use crate::mode::Costs;
use crate::pass::{Header, Last, Pass, Piece};
use crate::schedule::{Uses, WhichKey};
use crate::shape::Shape;
use core::slice;
use zeroize::Zeroize;

pub(crate) struct Crypt<const SEAL: bool>;

impl Registered for McoeG {
    const ABOUT: About = About {
        title: "on-line encryption with GCM's products (McOE-G)",
        source: "McOE, FSE 2012, completed",
        key_bytes: &[16],
        nonce_bytes: (12, 12),
        tag_bytes: &[16],
        data_components: 1,
        // A last block that is not whole costs a call more.
        costs: Costs {
            aes_per_block: 1,
            aes_per_data_block: 1,
            aes_per_message: 2,
            mul_per_block: 1,
            mul_per_message: 1,
            ..Costs::NONE
        },
        nonce_reuse: "equal message beginnings show",
        research: Some("FSE 2012; completed by us where the paper could not be had"),
        ..About::MODE
    };
    type Forward = Crypt<true>;
    type Backward = Crypt<false>;

    /// x K2 in reverse byte order, as GCM has it; (ff ... ff) K2. The key is K1.
    fn constants(backend: Backend, key: &mut Expanded) {
        let number = |n: u128| encrypt_block(backend, key, n.to_be_bytes());
        let (mut k1, k2) = (number(1), number(2));
        let keys = slice::from_mut(key);
        cipher::expand(backend, &[&k1], keys, WhichKey::First);
        let k2 = double_polyval(u128::from_be_bytes(k2));
        key.sub[0] = k2.to_le_bytes();
        key.sub[1] = mul_polyval(u128::MAX, k2).to_be_bytes();
        k1.zeroize();
    }

    fn limits(_: usize) -> Limits {
        Limits {
            text: (1 << 40) - 1,
            data: (1 << 32) - 1,
        }
    }
}

/// In the header: H_1, later tau; how many bytes the last block lacks, in all bytes; the
/// tag that was given. In the state: U; tau, and from the text on what the tag has
/// beside Enc(U, tau).
impl<const SEAL: bool> Pass for Crypt<SEAL> {
    type State<W: Wide> = [W; 2];
    const SHAPE: Shape = Shape {
        aes_128: true,
        header: 3,
        uses: Uses {
            forward: true,
            inverse: !SEAL,
            second: false,
            constants: 2,
        },
        ..Shape::AEAD
    };

    #[inline(always)]
    fn header<F: Facts>(m: &F) -> Header<F::W> {
        let data = m.number(
            #[inline(always)]
            |m| (m.data as u32).swap_bytes() as usize,
        );
        let lacks = m.block(
            #[inline(always)]
            |m| (m.text().wrapping_neg() % 16) as u128,
        );
        let lacks = lacks.shuffle(m.splat(&[0; 16]));
        [
            m.nonce() ^ up(m, 12, data),
            lacks,
            m.given_tag(),
            m.splat(&[0; 16]),
        ]
    }

    #[inline(always)]
    fn begin<C: Cipher>(c: &C, h: &mut Header<C::W>) -> [C::W; 2] {
        let tau = c.encrypt(h[0]);
        [tau ^ h[0], tau]
    }

    #[inline(always)]
    fn absorb<C: Cipher>(c: &C, [u, tau]: &mut [C::W; 2], x: C::W, _: usize) {
        *tau = encrypt(c, *u, x);
        *u = *tau ^ x;
    }

    #[inline(always)]
    fn absorb_last<C: Cipher>(c: &C, state: &mut [C::W; 2], last: Piece<C::W>) {
        Self::absorb(c, state, last.block, 0);
    }

    #[inline(always)]
    fn text<C: Cipher>(c: &C, h: &mut Header<C::W>, [u, tau]: [C::W; 2]) -> [C::W; 2] {
        h[0] = tau;
        [u, c.zero()]
    }

    #[inline(always)]
    fn step<C: Cipher>(c: &C, [u, _]: &mut [C::W; 2], x: C::W, _: usize) -> C::W {
        let y = if SEAL {
            encrypt(c, *u, x)
        } else {
            decrypt(c, *u, x)
        };
        *u = x ^ y;
        y
    }

    #[inline(always)]
    fn finish<C: Cipher>(c: &C, h: &Header<C::W>, [u, end]: &mut [C::W; 2], last: &mut Last<C::W>) {
        let [tau, lacks, given, _] = *h;
        let Piece { block, count } = last.first;
        let length = count & c.splat(&(0xffu128 << 120).to_le_bytes());
        let mask = c.encrypt(length ^ c.subkey(1)) ^ c.subkey(1);
        let after = if SEAL { tau } else { given };
        let filled = block ^ after.shuffle(count.up());
        if SEAL {
            let x = filled ^ mask;
            let y = encrypt(c, *u, x);
            *u = x ^ y;
            *end = y.shuffle(lacks.down());
            last.first.block = y;
        } else {
            let x = decrypt(c, *u, filled);
            *u = x ^ filled;
            let plain = x ^ mask;
            // The block's end is that of tau if it is right: then the tag's first bytes
            // are those that were given.
            *end = plain.shuffle(lacks.down()) ^ ((tau ^ given) & lacks.first_bytes());
            last.first.block = plain;
        }
    }

    #[inline(always)]
    fn tag<C: Cipher>(c: &C, h: &Header<C::W>, [u, end]: [C::W; 2]) -> C::W {
        encrypt(c, u, h[0]).shuffle(h[1].up()) ^ end
    }
}

/// U K2.
#[inline(always)]
fn product<C: Cipher>(c: &C, u: C::W) -> C::W {
    u.swap_bytes().mul::<Polyval>(c.subkey(0)).swap_bytes()
}

/// Enc.
#[inline(always)]
fn encrypt<C: Cipher>(c: &C, u: C::W, x: C::W) -> C::W {
    let h = product(c, u);
    c.encrypt(x ^ h) ^ h
}

/// Its inverse.
#[inline(always)]
fn decrypt<C: Cipher>(c: &C, u: C::W, y: C::W) -> C::W {
    let h = product(c, u);
    c.decrypt(y ^ h) ^ h
}
