//! EAX: Bellare, Rogaway and Wagner, "The EAX Mode of Operation" (FSE 2004).
//!
//! ```text
//! OMAC^t(M) = OMAC_K([t] || M)       [t] is t as a block; OMAC is CMAC
//! N' = OMAC^0(N);  H' = OMAC^1(H)    H is the associated data
//! C = P ^ CIPH_K(N') || CIPH_K(N' + 1) || ...    counting in the whole block
//! C' = OMAC^2(C)
//! T = the first bytes of N' ^ H' ^ C'
//! ```
//!
//! The chain over C is serial, and waits for the counter's call only where a message is sealed.
//! An OMAC begins with [t], so its chain enters the string as CIPH_K([t]). Of an empty string [t]
//! is the last block, to which K1 is xored.
//!
//! Limits: nonces of 1 byte or more; the paper allows an empty one, which this library refuses, as
//! a forgotten nonce would be one. Tags of 4 to 16 bytes. A nonce must not repeat under a key.
#![forbid(unsafe_code)]

use super::Eax;
use super::cmac::{masked, subkeys};
use crate::about::{About, Registered};
use crate::backend::Backend;
use crate::block::Block;
use crate::bytes::filled;
use crate::cipher::{Cipher, encrypt_block};
use crate::expanded::Expanded;
use crate::facts::Facts;
use crate::isa::Wide;
use crate::mode::{Costs, TAGS_FROM_4};
use crate::pass::{Header, Last, Pass, Piece};
use crate::schedule::FORWARD;
use crate::shape::{DataShape, Shape, Tail};

pub(crate) struct Crypt<const SEAL: bool>;

impl Registered for Eax {
    const ABOUT: About = About {
        title: "counter with three OMACs",
        source: "Bellare, Rogaway and Wagner, FSE 2004; ISO/IEC 19772, mechanism 4",
        nonce_bytes: (1, u32::MAX as usize - 1),
        tag_bytes: TAGS_FROM_4,
        data_components: 1,
        costs: Costs {
            aes_per_block: 2,
            aes_per_data_block: 1,
            aes_per_message: 1,
            ..Costs::NONE
        },
        nonce_reuse: "the xor of the messages leaks, forgeries",
        ..About::MODE
    };
    type Forward = Crypt<true>;
    type Backward = Crypt<false>;

    /// CMAC's K1 and K2; CIPH_K([t]) for t = 0, 1 and 2; OMAC^1 of an empty string.
    fn constants(backend: Backend, key: &mut Expanded) {
        let zero = key.sub[0];
        let [k1, k2] = subkeys(zero);
        let one = number(1);
        let empty = u128::from_ne_bytes(one) ^ u128::from_ne_bytes(k1);
        key.sub[5] = encrypt_block(backend, key, empty.to_ne_bytes());
        key.sub[4] = encrypt_block(backend, key, number(2));
        key.sub[3] = encrypt_block(backend, key, one);
        key.sub[2] = zero;
        key.sub[1] = k2;
        key.sub[0] = k1;
    }
}

/// [t].
const fn number(t: u8) -> Block {
    (t as u128).to_be_bytes()
}

/// CIPH_K([t]).
#[inline(always)]
fn opened<C: Cipher>(c: &C, t: u8) -> C::W {
    c.subkey(2 + t as usize)
}

/// How many bytes of a nonce are its last block. Lanes without a message have nonces of none.
#[inline(always)]
fn in_last(nonce: usize) -> usize {
    nonce.wrapping_sub(1) % 16 + 1
}

/// The last block of a nonce of several, with zeros after it, and what the chain before it
/// differs by from CIPH_K([0]). Such nonces are rare: they are done one by one, by the backend that
/// is preferred, whichever the call has.
#[inline(never)]
fn last_of_nonce(key: &Expanded, nonce: &[u8]) -> u128 {
    let (before, last) = nonce.split_at(nonce.len() - in_last(nonce.len()));
    let opened = u128::from_le_bytes(*key.subkey(2));
    let mut chain = opened;
    for block in before.chunks_exact(16) {
        let x = chain ^ u128::from_le_bytes(filled(block));
        chain = u128::from_le_bytes(encrypt_block(
            Backend::preferred(false),
            key,
            x.to_le_bytes(),
        ));
    }
    chain ^ opened ^ u128::from_le_bytes(filled(last))
}

/// In the header: the nonce's last block, later N' ^ H'; how many bytes it has; ones if there is
/// associated data. In the state: the chain of an OMAC, first of H, then of C; the counter,
/// little-endian.
impl<const SEAL: bool> Pass for Crypt<SEAL> {
    type State<W: Wide> = [W; 2];
    const SHAPE: Shape = Shape {
        tail: Tail::Last,
        header: 3,
        data: Some(DataShape::ending(Tail::Last)),
        uses: FORWARD.constants(6),
        ..Shape::AEAD
    };

    #[inline(always)]
    fn header<F: Facts>(m: &F) -> Header<F::W> {
        let short = m.all(
            #[inline(always)]
            |m| m.nonce <= 16,
        );
        let last = if short {
            m.nonce()
        } else {
            m.block(
                #[inline(always)]
                |m| match m.sizes().nonce {
                    0..=16 => m.nonce_block(),
                    _ => last_of_nonce(m.key, m.nonce()),
                },
            )
        };
        let count = m.in_all_bytes(
            #[inline(always)]
            |m| in_last(m.nonce),
        );
        let has_data = m.ones(
            #[inline(always)]
            |m| m.data > 0,
        );
        [last, count, has_data, m.splat(&[0; 16])]
    }

    #[inline(always)]
    fn begin<C: Cipher>(c: &C, h: &mut Header<C::W>) -> [C::W; 2] {
        let [block, count, has_data, _] = *h;
        let n = c.encrypt(opened(c, 0) ^ masked(c, Piece { block, count }));
        let chain = C::W::select(has_data, opened(c, 1), c.subkey(5));
        [chain, n.swap_bytes()]
    }

    #[inline(always)]
    fn absorb<C: Cipher>(c: &C, [chain, _]: &mut [C::W; 2], x: C::W, _: usize) {
        *chain = c.encrypt(*chain ^ x);
    }

    /// Only of associated data that there is.
    #[inline(always)]
    fn absorb_last<C: Cipher>(c: &C, [chain, _]: &mut [C::W; 2], last: Piece<C::W>) {
        *chain = c.encrypt(*chain ^ masked(c, last));
    }

    #[inline(always)]
    fn text<C: Cipher>(c: &C, h: &mut Header<C::W>, [chain, counter]: [C::W; 2]) -> [C::W; 2] {
        h[0] = counter.swap_bytes() ^ chain;
        [opened(c, 2), counter]
    }

    #[inline(always)]
    fn step<C: Cipher>(c: &C, [chain, counter]: &mut [C::W; 2], x: C::W, _: usize) -> C::W {
        let y = x ^ c.encrypt(counter.swap_bytes());
        *counter = counter.count(c.one());
        *chain = c.encrypt(*chain ^ if SEAL { y } else { x });
        y
    }

    #[inline(always)]
    fn finish<C: Cipher>(
        c: &C,
        _: &Header<C::W>,
        [chain, counter]: &mut [C::W; 2],
        last: &mut Last<C::W>,
    ) {
        let Piece { block: x, count } = last.first;
        let y = x ^ c.encrypt(counter.swap_bytes());
        let block = if SEAL { y & count.first_bytes() } else { x };
        let of_none = c.subkey(0) ^ c.splat(&number(2));
        let of_some = *chain ^ masked(c, Piece { block, count });
        *chain = c.encrypt(C::W::select(count.any(), of_some, of_none));
        last.first.block = y;
    }

    #[inline(always)]
    fn tag<C: Cipher>(_: &C, h: &Header<C::W>, [chain, _]: [C::W; 2]) -> C::W {
        h[0] ^ chain
    }
}
