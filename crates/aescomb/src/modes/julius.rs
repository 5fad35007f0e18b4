//! Julius, in the form regular Julius-ECB: Bahack, "Julius: Secure Mode of Operation for
//! Authenticated Encryption Based on ECB and Finite Field Multiplications", submission
//! to CAESAR (v1.0, 2014).
//!
//! ```text
//! D = CIPH_K(0^128)
//! R_0 = 0^128;  R_1 ... R_n = 0* || P, whole blocks
//! B_1 ... B_m = 0^127 1, N, the lengths of A and P in bytes, A || 0*, R_0 ... R_n
//! M = CIPH_K(B_1 D^(m-1) ^ B_2 D^(m-2) ^ ... ^ B_m)
//! n odd:   K_i = M D^i
//! n even:  K_0 = M;  K_1 = M D ^ M;  K_i = M D^(i-1) from 2 on
//! T = CIPH_K(R_0 ^ K_0);  C_i = CIPH_K(R_i ^ K_i)
//! ```
//!
//! Products are those of the field of SP 800-38B section 5.3. Lengths are big-endian, of
//! 64 bits. If there is a text, hashing the masked R_i gives M as hashing R_i does. So,
//! as M is also what T decrypts to, a message is opened in one pass.
//!
//! What the submission calls the output is T || C. Nothing in it tells how long the
//! message is. Its reference code never undoes the masks, and it does not multiply by D
//! but by what it makes of it by mistake; here products are those of the field. For
//! research and comparison, not for new protocols.
//!
//! Limits: keys and nonces of 16 bytes, tags of 16. With a repeated nonce equal messages
//! with equal data show, and nothing else.
#![forbid(unsafe_code)]

use super::Julius;
use super::gcm::{POWERS_COST, powers};
use crate::about::{About, Registered};
use crate::backend::Backend;
use crate::block::Block;
use crate::cipher::Cipher;
use crate::expanded::Expanded;
use crate::facts::Facts;
use crate::isa::{Isa, Plain, Wide};
use crate::mode::{Costs, Lengths};
use crate::pass::{Apart, Header, Last, Pass, Piece, TAG, Two};
use crate::schedule::{FORWARD, Uses};
use crate::shape::{Along, DataShape, Feed, Holds, Shape, Tail};

/// M from the text.
pub(crate) struct Hash;
/// The text and the tag by M.
pub(crate) struct Seal;
/// Both at once, M being given.
pub(crate) struct Open;

impl Registered for Julius {
    const ABOUT: About = About {
        title: "Julius-ECB, regular",
        source: "Bahack, CAESAR, 2014",
        key_bytes: &[16],
        nonce_bytes: (16, 16),
        tag_bytes: &[16],
        data_components: 1,
        lengths: Lengths::Untold,
        // But of associated data one multiplication per block.
        costs: Costs {
            aes_per_block: 1,
            aes_per_message: 2,
            mul_per_block: 2,
            mul_per_message: 2,
            ..Costs::NONE
        },
        nonce_reuse: "equal messages show",
        research: Some("CAESAR, first round; its reference code never opened what it sealed"),
        ..About::MODE
    };
    type Forward = Apart<Two<Hash, Seal>, Hash, Seal>;
    type Backward = Open;

    /// D in reverse byte order.
    fn constants(_: Backend, key: &mut Expanded) {
        key.sub[0].reverse();
    }
}

/// In the header: the nonce; the lengths, both in reverse byte order; ones where n is
/// odd; the tag.
#[inline(always)]
fn header<F: Facts>(m: &F) -> Header<F::W> {
    let lengths = m.block(
        #[inline(always)]
        |m| (m.sizes().data as u128) << 64 | m.opened_len() as u128,
    );
    let odd = m.block(
        #[inline(always)]
        |m| ((m.text() / 16 % 2) as u128).wrapping_neg(),
    );
    [m.nonce().swap_bytes(), lengths, odd, m.given_tag()]
}

/// The hash of what comes before associated data.
#[inline(always)]
fn begin<C: Cipher>(c: &C, h: &Header<C::W>) -> C::W {
    let hash = add(c, c.subkey(0), h[0]);
    add(c, hash, h[1])
}

/// The hash with a block before the text.
#[inline(always)]
fn add<C: Cipher>(c: &C, hash: C::W, x: C::W) -> C::W {
    (hash ^ x).mul::<Plain>(c.subkey(0))
}

/// K_1, and what the rule for those after it lacks there; both in reverse byte order.
#[inline(always)]
fn masks<C: Cipher>(c: &C, h: &Header<C::W>, m: C::W) -> [C::W; 2] {
    let m = m.swap_bytes();
    let product = m.mul::<Plain>(c.subkey(0));
    [
        C::W::select(h[2], product, m),
        C::W::select(h[2], c.zero(), product),
    ]
}

/// A block's mask, in reverse byte order.
#[inline(always)]
fn mask<C: Cipher>(c: &C, k: &mut C::W, first: &mut C::W) -> C::W {
    let mask = *k ^ *first;
    *k = c.scaled::<Plain>(*k);
    *first = c.zero();
    mask
}

const USES: Uses = FORWARD.constants(1);

/// In the header, from the text on: in place of the nonce, the hash of what comes before
/// R_0. In the state: the hash, in reverse byte order, later M.
impl Pass for Hash {
    type State<W: Wide> = [W; 1];
    const SHAPE: Shape = Shape {
        aes_128: true,
        tail: Tail::Last,
        feed: Feed::Blocks(Along {
            blocks: &[Holds::Hash {
                polyval: false,
                results: false,
                alone: true,
            }],
            tables: POWERS_COST,
            lanes_below: 304,
            ..Along::NO
        }),
        moved: true,
        header: 3,
        data: Some(DataShape::ending(Tail::Part)),
        uses: USES,
        ..Shape::MAC
    };

    #[inline(always)]
    fn header<F: Facts>(m: &F) -> Header<F::W> {
        header(m)
    }

    #[inline(always)]
    fn begin<C: Cipher>(c: &C, h: &mut Header<C::W>) -> [C::W; 1] {
        [begin(c, h)]
    }

    #[inline(always)]
    fn absorb<C: Cipher>(c: &C, [hash]: &mut [C::W; 1], x: C::W, _: usize) {
        *hash = add(c, *hash, x.swap_bytes());
    }

    #[inline(always)]
    fn absorb_last<C: Cipher>(c: &C, state: &mut [C::W; 1], last: Piece<C::W>) {
        Self::absorb(c, state, last.block, 0);
    }

    #[inline(always)]
    fn text<C: Cipher>(c: &C, h: &mut Header<C::W>, [hash]: [C::W; 1]) -> [C::W; 1] {
        h[0] = hash;
        [add(c, hash, c.zero())]
    }

    #[inline(always)]
    fn step<C: Cipher>(c: &C, [hash]: &mut [C::W; 1], x: C::W, _: usize) -> C::W {
        *hash = c.hash::<Plain>(*hash, x.swap_bytes());
        x
    }

    /// The last block, which may be R_0.
    #[inline(always)]
    fn finish<C: Cipher>(c: &C, h: &Header<C::W>, [hash]: &mut [C::W; 1], last: &mut Last<C::W>) {
        let last = &last.first;
        let hash_of_all = *hash ^ last.block.swap_bytes();
        *hash = c.encrypt(C::W::select(last.count.any(), hash_of_all, h[0]).swap_bytes());
    }

    #[inline(always)]
    fn tables<S: Isa>(s: S, key: &Expanded, blocks: usize, tables: &mut [Block]) {
        powers::<Plain, _>(s, key, blocks, tables);
    }
}

/// In the header: in place of the tag, M. In the state: the next block's mask; what the
/// first has more; both in reverse byte order.
impl Pass for Seal {
    type State<W: Wide> = [W; 2];
    const SHAPE: Shape = Shape {
        aes_128: true,
        tail: Tail::None,
        feed: Feed::Blocks(Along {
            blocks: &[Holds::Power, Holds::Once],
            tables: POWERS_COST,
            lanes_below: 304,
            ..Along::NO
        }),
        header: TAG + 1,
        tag: true,
        again: true,
        uses: USES,
        ..Shape::CIPHER
    };

    #[inline(always)]
    fn header<F: Facts>(m: &F) -> Header<F::W> {
        header(m)
    }

    #[inline(always)]
    fn begin<C: Cipher>(c: &C, h: &mut Header<C::W>) -> [C::W; 2] {
        masks(c, h, h[TAG])
    }

    #[inline(always)]
    fn step<C: Cipher>(c: &C, [k, first]: &mut [C::W; 2], x: C::W, _: usize) -> C::W {
        c.encrypt(x ^ mask(c, k, first).swap_bytes())
    }

    #[inline(always)]
    fn tables<S: Isa>(s: S, key: &Expanded, blocks: usize, tables: &mut [Block]) {
        powers::<Plain, _>(s, key, blocks.max(S::LANES), tables);
    }

    #[inline(always)]
    fn spread<C: Cipher>([k, _]: &mut [C::W; 2], c: &C, _: C::W, _: C::W) {
        *k = c.scales::<Plain>(*k);
    }

    #[inline(always)]
    fn tag<C: Cipher>(c: &C, h: &Header<C::W>, _: [C::W; 2]) -> C::W {
        c.encrypt(h[TAG])
    }
}

/// In the header and the state: those of `Hash` and `Seal`, and where the hash of the
/// masked text gives M, so does that of the text.
impl Pass for Open {
    type State<W: Wide> = [W; 3];
    const SHAPE: Shape = Shape {
        aes_128: true,
        tail: Tail::Last,
        feed: Feed::Blocks(Along {
            blocks: &[
                Holds::Hash {
                    polyval: false,
                    results: true,
                    alone: true,
                },
                Holds::Power,
                Holds::Once,
            ],
            tables: POWERS_COST,
            lanes_below: 256,
            ..Along::NO
        }),
        header: 4,
        uses: Uses {
            inverse: true,
            ..USES
        },
        ..Shape::AEAD
    };

    #[inline(always)]
    fn header<F: Facts>(m: &F) -> Header<F::W> {
        header(m)
    }

    #[inline(always)]
    fn begin<C: Cipher>(c: &C, h: &mut Header<C::W>) -> [C::W; 3] {
        [begin(c, h), c.zero(), c.zero()]
    }

    #[inline(always)]
    fn absorb<C: Cipher>(c: &C, [hash, _, _]: &mut [C::W; 3], x: C::W, _: usize) {
        *hash = add(c, *hash, x.swap_bytes());
    }

    #[inline(always)]
    fn absorb_last<C: Cipher>(c: &C, state: &mut [C::W; 3], last: Piece<C::W>) {
        Self::absorb(c, state, last.block, 0);
    }

    #[inline(always)]
    fn text<C: Cipher>(c: &C, h: &mut Header<C::W>, [hash, _, _]: [C::W; 3]) -> [C::W; 3] {
        h[0] = hash;
        // R_0 masked: M, if the tag is right.
        let m = c.decrypt(h[TAG]);
        let [k, first] = masks(c, h, m);
        [add(c, hash, m.swap_bytes()), k, first]
    }

    #[inline(always)]
    fn step<C: Cipher>(c: &C, [hash, k, first]: &mut [C::W; 3], x: C::W, _: usize) -> C::W {
        let masked = c.decrypt(x).swap_bytes();
        *hash = c.hash::<Plain>(*hash, masked);
        (masked ^ mask(c, k, first)).swap_bytes()
    }

    /// The last block, which may be R_0; that is hashed unmasked then, as one block does
    /// not give the same hash in both ways.
    #[inline(always)]
    fn finish<C: Cipher>(
        c: &C,
        h: &Header<C::W>,
        [hash, k, first]: &mut [C::W; 3],
        last: &mut Last<C::W>,
    ) {
        let last = &mut last.first;
        let masked = c.decrypt(last.block).swap_bytes();
        *hash = C::W::select(last.count.any(), *hash ^ masked, h[0]);
        last.block = (masked ^ mask(c, k, first)).swap_bytes();
    }

    #[inline(always)]
    fn tables<S: Isa>(s: S, key: &Expanded, blocks: usize, tables: &mut [Block]) {
        powers::<Plain, _>(s, key, blocks.max(S::LANES), tables);
    }

    #[inline(always)]
    fn spread<C: Cipher>([_, k, _]: &mut [C::W; 3], c: &C, _: C::W, _: C::W) {
        *k = c.scales::<Plain>(*k);
    }

    #[inline(always)]
    fn tag<C: Cipher>(c: &C, _: &Header<C::W>, [hash, _, _]: [C::W; 3]) -> C::W {
        c.encrypt(c.encrypt(hash.swap_bytes()))
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::Julius;
    use crate::about::Registered;
    use crate::block::Block;
    use crate::engine::{Memory, Work, batch};
    use crate::expanded::Expanded;
    use crate::job::{Alike, Job};
    use crate::key_set::KeySet;
    use crate::pass::Program;
    use crate::{Backend, Mode};
    use alloc::string::String;
    use alloc::vec::Vec;

    /// What the reference code multiplies by in the place of D: in every byte all bits
    /// below the first one set are set too.
    fn as_coded(byte: u8) -> u8 {
        match byte.checked_ilog2() {
            Some(top) => u8::MAX >> (7 - top),
            None => 0,
        }
    }

    fn hex(digits: &str) -> Vec<u8> {
        let byte = |i: usize| u8::from_str_radix(&digits[i..i + 2], 16).expect("digits");
        (0..digits.len()).step_by(2).map(byte).collect()
    }

    /// Runs jobs of `len` bytes, which have been or are to be moved; without the calls that
    /// know all modes, so that the kernels of the others are not compiled for this test.
    fn run<G: Program>(
        backend: Backend,
        key: &Expanded,
        jobs: &mut [Job],
        len: usize,
        verdicts: Option<&mut [Block]>,
    ) {
        for (i, job) in jobs.iter_mut().enumerate() {
            (job.len, job.key_index) = (len, i as u32);
        }
        batch::<G>(
            backend,
            &mut Work {
                jobs,
                alike: Alike::new(false, false, true),
                far: false,
                keys: KeySet::Shared(key),
                memory: &mut Memory::new(),
                degree: backend.default_lanes(),
                verdicts,
            },
        );
    }

    /// With that constant the bits are those of the reference code.
    #[test]
    fn reference_code() {
        let file = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../vectors/research/julius-as-coded/julius-as-coded.json"
        );
        let text: String = std::fs::read_to_string(file).expect("the vectors");
        let mut count = 0;
        for line in text.lines().filter(|line| line.contains("\"id\":")) {
            let field = |name: &str| {
                let at = line
                    .find(&alloc::format!("\"{name}\":\""))
                    .expect("a field");
                let value = &line[at + name.len() + 4..];
                hex(&value[..value.find('"').expect("its end")])
            };
            let (nonce, data, plain) = (field("nonce"), field("ad"), field("msg"));
            let out = field("out");
            let (tag, sealed) = out.split_at(16);
            let mut key = crate::expand::one(Mode::Julius, &field("key")).expect("a key");
            key.sub[0] = key.sub[0].map(as_coded);
            for backend in Backend::available() {
                // Two at a time, so that there are rows of messages too.
                let mut texts = [plain.clone(), plain.clone()];
                let mut tags = [[0; 16]; 2];
                texts.iter_mut().for_each(|t| t.resize(sealed.len(), 0));
                let mut jobs: Vec<Job> = texts
                    .iter_mut()
                    .zip(&mut tags)
                    .map(|(text, tag)| Job {
                        src: text.as_ptr(),
                        dst: text.as_mut_ptr(),
                        nonce: nonce.as_ptr(),
                        nonce_len: nonce.len() as u32,
                        data: data.as_ptr(),
                        data_len: data.len(),
                        components: 1,
                        tag: tag.as_mut_ptr(),
                        tag_len: 16,
                        len: plain.len(),
                        opened_len: plain.len(),
                        ..Job::default()
                    })
                    .collect();
                for job in &mut jobs {
                    { *job }.move_to_end(job);
                }
                run::<<Julius as Registered>::Forward>(
                    backend,
                    &key,
                    &mut jobs,
                    sealed.len(),
                    None,
                );
                for (text, made) in texts.iter().zip(&tags) {
                    assert_eq!((&made[..], &text[..]), (tag, sealed), "{backend}: {line}");
                }
                let mut verdicts = [[0xff; 16]; 2];
                let verdict = Some(&mut verdicts[..]);
                run::<<Julius as Registered>::Backward>(
                    backend,
                    &key,
                    &mut jobs,
                    sealed.len(),
                    verdict,
                );
                assert_eq!(verdicts, [[0; 16]; 2], "{backend}: {line}");
                let opened = jobs.iter().map(Job::move_to_start);
                assert!(opened.eq([Some(plain.len()); 2]), "{backend}: {line}");
                for text in &texts {
                    assert_eq!(text[..plain.len()], plain, "{backend}: {line}");
                }
            }
            count += 1;
        }
        assert_eq!(count, 81);
    }
}
