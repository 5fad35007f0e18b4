//! Ways to multiply and to double in GF(2^128), to be measured against each other:
//! those of the papers beside those of the library. For the command's
//! `bench --field`; no mode uses anything of this file, and it promises nothing.
//!
//! Products are those of POLYVAL, a b x^-128 modulo x^128 + x^127 + x^126 + x^121 +
//! 1, in which the library computes GHASH too: a reduction of the papers has the same
//! steps here but for the shift by one bit that the reflected blocks of GHASH need.
//!
//! Only the x86 backends have carry-less multiplication, and so something to choose
//! from. The portable backend has one product, in software.

use crate::backend::{Backend, is_zen4};
use crate::block::Block;
use crate::expand;
use crate::expanded::Expanded;
use crate::gf128;
use crate::mode::Mode;
use alloc::vec;
use alloc::vec::Vec;

use crate::cipher::{Cipher, Uniform};
#[cfg(target_arch = "x86_64")]
use crate::isa::{CarryLess, Isa, Ni, NiOne, Polyval, Vaes256, Vaes512, Wide};
#[cfg(target_arch = "x86_64")]
use crate::schedule::FORWARD;

/// A way to multiply or to double.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variant {
    /// Three products (Karatsuba), reduced by shifts.
    Classical,
    /// Three products, reduced by two more.
    KaratsubaProducts,
    /// Four products, reduced by shifts.
    SchoolbookShifts,
    /// Four products, reduced by two more: what the library does.
    Haswell,
    /// As `Haswell`, four blocks to a reduction.
    Aggregated4,
    /// As `Haswell`, eight blocks to a reduction.
    Aggregated8,
    /// As `Haswell`, sixteen blocks to a reduction.
    Aggregated16,
    /// As `Haswell`, thirty-two blocks to a reduction.
    Aggregated32,
    /// As `KaratsubaProducts`, sixteen blocks to a reduction.
    AggregatedKaratsuba16,
    /// Integer multiplications.
    Software,
    /// Branches on the last byte.
    Extraction,
    /// Branches on a test of the whole block.
    Test,
    /// Branches on the top bits of all bytes.
    Mask,
    /// Branches on a byte of a comparison.
    Comparison,
    /// The same as the paper prints it, which takes the branch always.
    AsPrinted,
    /// Adds an entry of a table of four.
    Table,
    /// Adds an entry of a table of multiples: the next in the Gray code, not the
    /// double.
    Gray,
    /// Arithmetic: what the library does.
    Arithmetic,
    /// x^8 or x^16 times a row: moves bytes and multiplies what goes out.
    Bytes,
    /// The same with shifts by bits.
    Bits,
    /// Integer shifts.
    Integers,
}

impl Variant {
    /// A short name.
    pub fn name(self) -> &'static str {
        match self {
            Variant::Classical => "classical",
            Variant::KaratsubaProducts => "karatsuba-products",
            Variant::SchoolbookShifts => "schoolbook-shifts",
            Variant::Haswell => "haswell",
            Variant::Aggregated4 => "aggregated-4",
            Variant::Aggregated8 => "aggregated-8",
            Variant::Aggregated16 => "aggregated-16",
            Variant::Aggregated32 => "aggregated-32",
            Variant::AggregatedKaratsuba16 => "aggregated-16-karatsuba",
            Variant::Software => "software",
            Variant::Extraction => "extraction",
            Variant::Test => "test",
            Variant::Mask => "mask",
            Variant::Comparison => "comparison",
            Variant::AsPrinted => "comparison-as-printed",
            Variant::Table => "table",
            Variant::Gray => "gray-code",
            Variant::Arithmetic => "arithmetic",
            Variant::Bytes => "bytes",
            Variant::Bits => "bits",
            Variant::Integers => "integers",
        }
    }

    /// One line for people.
    pub fn description(self) -> &'static str {
        match self {
            Variant::Classical => "3 carry-less products (Karatsuba), reduction by shifts",
            Variant::KaratsubaProducts => "3 carry-less products, reduction by 2 more",
            Variant::SchoolbookShifts => "4 carry-less products, reduction by shifts",
            Variant::Haswell => "4 carry-less products, reduction by 2 more (Gueron)",
            Variant::Aggregated4 => "haswell, one reduction for 4 blocks",
            Variant::Aggregated8 => "haswell, one reduction for 8 blocks",
            Variant::Aggregated16 => "haswell, one reduction for 16 blocks",
            Variant::Aggregated32 => "haswell, one reduction for 32 blocks",
            Variant::AggregatedKaratsuba16 => "3 carry-less products, one reduction for 16 blocks",
            Variant::Software => "integer multiplications, any CPU",
            Variant::Extraction => "(i) pextrb, branch",
            Variant::Test => "(ii) ptest, branch",
            Variant::Mask => "(iii) pmovmskb, branch",
            Variant::Comparison => "(iv) pcmpgtb, pextrb, branch",
            Variant::AsPrinted => "(iv) with the operands as printed: branches always, wrong",
            Variant::Table => "movmskpd, xor of an entry of a table of 4 (PMAC+CTR)",
            Variant::Gray => "xor of a table's entry by the trailing zeros of a counter",
            Variant::Arithmetic => "signs moved to where they carry, no branch",
            Variant::Bytes => {
                "a whole row by x^8 or x^16: shuffles, one product; on 512 bits additions, one shift"
            }
            Variant::Bits => "the same: shifts, one product",
            Variant::Integers => "shifts of two 64-bit words",
        }
    }

    /// Whether it doubles; otherwise it multiplies.
    pub fn doubles(self) -> bool {
        self as u8 >= Variant::Extraction as u8
    }

    /// Why its time may tell something about its operands.
    pub fn leak(self) -> Option<&'static str> {
        match self {
            Variant::Extraction
            | Variant::Test
            | Variant::Mask
            | Variant::Comparison
            | Variant::AsPrinted => Some("branch"),
            Variant::Table => Some("table"),
            _ => None,
        }
    }
}

/// What a variant is used in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Usage {
    /// One chain: each result is the next operand.
    Serial,
    /// A row of such chains, one for each of many messages.
    Parallel,
    /// A chain of rows of neighbouring blocks of one message (doubling).
    Neighbours,
    /// Counter mode and a hash of what it puts out, as in GCM: one long message.
    Gcm,
    /// Multiplication and encryption in one chain, as in McOE-G: one message.
    ChainOne,
    /// The same for a row of messages.
    ChainMany,
}

impl Usage {
    /// A short name.
    pub fn name(self) -> &'static str {
        match self {
            Usage::Serial => "serial",
            Usage::Parallel => "parallel",
            Usage::Neighbours => "neighbours",
            Usage::Gcm => "gcm",
            Usage::ChainOne => "chain-one",
            Usage::ChainMany => "chain-many",
        }
    }

    /// Whether it encrypts too, and costs are to be given per byte.
    pub fn encrypts(self) -> bool {
        matches!(self, Usage::Gcm | Usage::ChainOne | Usage::ChainMany)
    }
}

/// A variant in a use on a backend of this CPU.
#[derive(Clone, Copy)]
pub struct Case {
    /// The variant.
    pub variant: Variant,
    /// The use.
    pub usage: Usage,
    /// The backend.
    pub backend: Backend,
    run: Run,
}

type Run = fn(&mut Work);

impl Case {
    /// Goes through [`Work::blocks`] blocks of `work`.
    pub fn run(&self, work: &mut Work) {
        (self.run)(work);
    }

    /// How many blocks it works on side by side.
    pub fn lanes(&self) -> usize {
        match (self.usage, self.backend) {
            (Usage::Serial | Usage::ChainOne, _) => 1,
            (_, Backend::Aesni) => 8,
            _ => 16,
        }
    }

    /// Whether the library does it so.
    pub fn is_default(&self) -> bool {
        match (self.usage, self.lanes()) {
            (Usage::Gcm, 8) => self.variant == Variant::Aggregated16,
            (Usage::Gcm, _) => self.variant == Variant::Aggregated32,
            _ => matches!(
                self.variant,
                Variant::Haswell | Variant::Arithmetic | Variant::Bytes
            ),
        }
    }
}

/// Operands: a key, a text, and the values that chains go on from.
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))] // software needs few of them
pub struct Work {
    key: Expanded,
    /// H^32 to H.
    powers: [Block; ROW],
    /// Multiples of a block by powers of x.
    multiples: [Block; 32],
    row: [Block; ROW],
    text: Vec<[Block; ROW]>,
}

/// Blocks in a row of text: as many as any variant takes at once.
const ROW: usize = 32;

impl Work {
    /// So many rows of 32 blocks.
    ///
    /// # Panics
    /// Never.
    pub fn new(rows: usize) -> Work {
        let key = expand::one(Mode::Gcm, &[0x42; 16]).expect("a key of 16 bytes");
        let h = u128::from_le_bytes(*key.subkey(0));
        let (mut power, mut multiple) = (h, h);
        let mut powers = [*key.subkey(0); ROW];
        for p in powers.iter_mut().rev().skip(1) {
            power = gf128::mul_polyval(power, h);
            *p = power.to_le_bytes();
        }
        let mut multiples = [*key.subkey(0); 32];
        for m in multiples.iter_mut().skip(1) {
            multiple = gf128::double(multiple);
            *m = multiple.to_le_bytes();
        }
        let mut next = h;
        let mut block = || {
            next = next.wrapping_mul(0x2360_ed05_1fc6_5da4_4385_df64_9fcc_f645) | 1;
            (next ^ next >> 61).to_le_bytes()
        };
        let mut text = vec![[[0; 16]; ROW]; rows + 1];
        text.iter_mut().flatten().for_each(|b| *b = block());
        Work {
            key,
            powers,
            multiples,
            row: text.pop().unwrap_or_default(),
            text,
        }
    }

    /// How many blocks a run goes through.
    pub fn blocks(&self) -> usize {
        self.text.len() * ROW
    }
}

/// All cases that this CPU can run.
pub fn cases() -> Vec<Case> {
    let mut out = Vec::new();
    let mut add = |variant, usage, backend: Backend, run: Run| {
        if backend.is_available() {
            out.push(Case {
                variant,
                usage,
                backend,
                run,
            });
        }
    };
    #[cfg(target_arch = "x86_64")]
    x86(&mut add);
    add(Variant::Integers, Usage::Serial, Backend::Portable, |w| {
        integers(w, gf128::double)
    });
    add(Variant::Software, Usage::Serial, Backend::Portable, |w| {
        let h = u128::from_le_bytes(*w.key.subkey(0));
        integers(w, |x| gf128::mul_polyval(x, h));
    });
    out
}

/// The cases of the x86 backends.
#[cfg(target_arch = "x86_64")]
fn x86(add: &mut impl FnMut(Variant, Usage, Backend, Run)) {
    macro_rules! case {
        ($variant:ident, $usage:ident, $backend:ident, $token:ident, |$s:ident, $w:ident| $run:expr) => {
            add(
                Variant::$variant,
                Usage::$usage,
                Backend::$backend,
                |$w: &mut Work| match $token::known() {
                    Some($s) => $run,
                    None => {}
                },
            );
        };
    }
    // The step of a chain: closures have to be inlined like functions.
    macro_rules! chain {
        ($variant:ident, $usage:ident, $backend:ident, $token:ident, |$s:ident, $x:ident, $h:ident| $step:expr) => {
            case!($variant, $usage, $backend, $token, |$s, w| chain(
                $s,
                w,
                #[inline(always)]
                |$x, $h| $step
            ));
        };
    }
    // A variant, and whether it is Karatsuba's and reduces by shifts.
    macro_rules! multiplier {
        ($variant:ident, $karatsuba:literal, $shifts:literal) => {
            chain!($variant, Serial, Aesni, NiOne, |s, x, h| {
                mul::<_, $karatsuba, $shifts>(s, x, h)
            });
            case!($variant, ChainOne, Aesni, NiOne, |s, w| {
                chained::<_, 1, $karatsuba, $shifts>(s, w)
            });
            multiplier!($variant, $karatsuba, $shifts, Ni, Aesni, 8);
            multiplier!($variant, $karatsuba, $shifts, Vaes256, Vaes256, 16);
            multiplier!($variant, $karatsuba, $shifts, Vaes512, Vaes512, 16);
        };
        ($variant:ident, $karatsuba:literal, $shifts:literal, $token:ident, $backend:ident, $lanes:literal) => {
            chain!($variant, Parallel, $backend, $token, |s, x, h| {
                mul::<_, $karatsuba, $shifts>(s, x, h)
            });
            case!($variant, ChainMany, $backend, $token, |s, w| {
                chained::<_, $lanes, $karatsuba, $shifts>(s, w)
            });
            case!($variant, Gcm, $backend, $token, |s, w| {
                gcm::<_, _, $lanes, 1, 1, $karatsuba, $shifts>(s, s.narrow(), w)
            });
        };
    }
    macro_rules! aggregated {
        ($variant:ident, $blocks:literal, $karatsuba:literal) => {
            aggregated!($variant, $blocks, $karatsuba, Ni, Aesni, 8, 1);
            aggregated!($variant, $blocks, $karatsuba, Vaes256, Vaes256, 16, 2);
            aggregated!($variant, $blocks, $karatsuba, Vaes512, Vaes512, 16, 4);
        };
        ($variant:ident, $blocks:literal, $karatsuba:literal, $token:ident, $backend:ident, $lanes:literal, $register:literal) => {
            case!($variant, Gcm, $backend, $token, |s, w| {
                gcm::<_, _, $lanes, $register, $blocks, $karatsuba, false>(s, s.unit(), w)
            });
        };
    }
    macro_rules! rows {
        ($token:ident, $backend:ident, $lanes:literal) => {
            chain!(Arithmetic, Parallel, $backend, $token, |_s, x, _h| x
                .double());
            chain!(Bytes, Neighbours, $backend, $token, |s, x, _h| {
                x.times_byte_power(s.splat(&[$lanes / 8; 16]), is_zen4())
            });
            chain!(Bits, Neighbours, $backend, $token, |s, x, _h| {
                x.times_power(s.splat(const { &halves($lanes, $lanes) }))
            });
        };
    }
    multiplier!(Classical, true, true);
    multiplier!(KaratsubaProducts, true, false);
    multiplier!(SchoolbookShifts, false, true);
    multiplier!(Haswell, false, false);
    aggregated!(Aggregated4, 4, false);
    aggregated!(Aggregated8, 8, false);
    aggregated!(Aggregated16, 16, false);
    aggregated!(Aggregated32, 32, false);
    aggregated!(AggregatedKaratsuba16, 16, true);
    chain!(Extraction, Serial, Aesni, NiOne, |s, x, _h| {
        branch(s, x, x.top_by_extraction())
    });
    chain!(Test, Serial, Aesni, NiOne, |s, x, _h| {
        branch(s, x, x.top_by_test())
    });
    chain!(Mask, Serial, Aesni, NiOne, |s, x, _h| {
        branch(s, x, x.top_by_mask())
    });
    chain!(Comparison, Serial, Aesni, NiOne, |s, x, _h| {
        branch(s, x, x.top_by_comparison())
    });
    chain!(AsPrinted, Serial, Aesni, NiOne, |s, x, _h| {
        branch(s, x, x.top_as_printed())
    });
    chain!(Table, Serial, Aesni, NiOne, |s, x, _h| {
        x.count64(x) ^ s.splat(&CARRIES.0[x.signs_of_halves() & 3])
    });
    chain!(Arithmetic, Serial, Aesni, NiOne, |_s, x, _h| x.double());
    case!(Gray, Serial, Aesni, NiOne, |s, w| gray(s, w));
    rows!(Ni, Aesni, 8);
    rows!(Vaes256, Vaes256, 16);
    rows!(Vaes512, Vaes512, 16);
}

/// A chain in integer registers.
#[inline(always)]
fn integers(work: &mut Work, step: impl Fn(u128) -> u128) {
    let mut x = u128::from_le_bytes(work.row[0]);
    for _ in 0..work.blocks() {
        x = step(x);
    }
    work.row[0] = x.to_le_bytes();
}

/// A chain for every lane: `step` of the last result and the hash key.
#[cfg(target_arch = "x86_64")]
#[inline(never)]
fn chain<S: Isa>(s: S, work: &mut Work, step: impl Fn(S::W, S::W) -> S::W) {
    let steps = work.blocks() / S::LANES;
    s.enter(
        #[inline(always)]
        || {
            let h = s.splat(work.key.subkey(0));
            let mut x = s.load_row(&work.row);
            let mut i = 0;
            while i < steps {
                x = step(x, h);
                i += 1;
            }
            s.store_row(x, &mut work.row);
        },
    );
}

/// Both halves of the products of a row's blocks, not yet put together; with
/// Karatsuba's method `middle` still has `low` and `high` in it.
#[cfg(target_arch = "x86_64")]
struct Sum<W> {
    low: W,
    middle: W,
    high: W,
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn product<W: CarryLess, const KARATSUBA: bool>(a: W, b: W) -> Sum<W> {
    let middle = if KARATSUBA {
        (a ^ a.swap_halves()).clmul::<0x00>(b ^ b.swap_halves())
    } else {
        a.clmul::<0x01>(b) ^ a.clmul::<0x10>(b)
    };
    Sum {
        low: a.clmul::<0x00>(b),
        middle,
        high: a.clmul::<0x11>(b),
    }
}

/// For `shuffle`: the lower half to the upper place, zeros below, and the other way.
#[cfg(target_arch = "x86_64")]
const UP: Block = halves(0x8080_8080_8080_8080, 0x0706_0504_0302_0100);
#[cfg(target_arch = "x86_64")]
const DOWN: Block = halves(0x0f0e_0d0c_0b0a_0908, 0x8080_8080_8080_8080);
/// x^127 + x^126 + x^121, divided by x^64, in the upper half.
#[cfg(target_arch = "x86_64")]
const POLYVAL: Block = halves(0, 0xc2 << 56);

/// The lower half first.
#[cfg(target_arch = "x86_64")]
const fn halves(low: u64, high: u64) -> Block {
    ((high as u128) << 64 | low as u128).to_le_bytes()
}

/// Both halves of every block shifted, by a number known to the compiler.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn left<S: Isa, const N: u64>(s: S, x: S::W) -> S::W {
    x.shift_left(s.splat(const { &halves(N, N) }))
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn right<S: Isa, const N: u64>(s: S, x: S::W) -> S::W {
    x.shift_right(s.splat(const { &halves(N, N) }))
}

/// `(low + middle x^64 + high x^128) / x^128`. By shifts as in Intel's white paper on
/// carry-less multiplication, 64 bits at a time; otherwise as the library does it.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn reduce<S: Isa<W: CarryLess>, const KARATSUBA: bool, const SHIFTS: bool>(
    s: S,
    Sum { low, middle, high }: Sum<S::W>,
) -> S::W {
    let middle = match KARATSUBA {
        true => middle ^ low ^ high,
        false => middle,
    };
    if SHIFTS {
        let (up, down) = (s.splat(&UP), s.splat(&DOWN));
        let low = low ^ middle.shuffle(up);
        let high = high ^ middle.shuffle(down);
        let out = left::<S, 63>(s, low) ^ left::<S, 62>(s, low) ^ left::<S, 57>(s, low);
        // What goes out of the lower half adds to the upper before that is shifted;
        // what goes out of the upper half then has no part of it left.
        let low = low ^ out.shuffle(up);
        let shifted = right::<S, 1>(s, low) ^ right::<S, 2>(s, low) ^ right::<S, 7>(s, low);
        high ^ low ^ shifted ^ out.shuffle(down)
    } else {
        let poly = s.splat(&POLYVAL);
        let middle = middle ^ low.swap_halves() ^ low.clmul::<0x10>(poly);
        high ^ middle.swap_halves() ^ middle.clmul::<0x10>(poly)
    }
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn mul<S: Isa<W: CarryLess>, const KARATSUBA: bool, const SHIFTS: bool>(
    s: S,
    a: S::W,
    b: S::W,
) -> S::W {
    match (KARATSUBA, SHIFTS) {
        (false, false) => a.mul::<Polyval>(b),
        _ => reduce::<S, KARATSUBA, SHIFTS>(s, product::<_, KARATSUBA>(a, b)),
    }
}

/// The tweakable cipher of McOE-G, whose tweak is the sum of the block before and of
/// what came of it: `u = t h; c = CIPH_K(m ^ u) ^ u; t = m ^ c`. So neither the
/// multiplication nor the encryption can begin before the other has ended.
#[cfg(target_arch = "x86_64")]
#[inline(never)]
fn chained<S: Isa<W: CarryLess>, const LANES: usize, const KARATSUBA: bool, const SHIFTS: bool>(
    s: S,
    work: &mut Work,
) {
    s.enter(
        #[inline(always)]
        || {
            let keys = s.keys(&work.key, FORWARD);
            let c = Uniform::new(s, &keys, &work.key, FORWARD, false);
            let h = c.subkey(0);
            let mut t = s.load_row(&work.row);
            for row in work.text.as_flattened_mut().as_chunks_mut::<LANES>().0 {
                let m = s.load_row(row);
                let u = mul::<S, KARATSUBA, SHIFTS>(s, t, h);
                let y = c.encrypt(m ^ u) ^ u;
                s.store_row(y, row);
                t = m ^ y;
            }
            s.store_row(t, &mut work.row);
        },
    );
}

/// Counter mode in rows of `LANES` blocks, and of what it puts out the hash, in
/// registers `h` of `REGISTER` blocks, with a reduction for every `BLOCKS` blocks.
#[cfg(target_arch = "x86_64")]
#[inline(never)]
fn gcm<
    S: Isa,
    H: Isa<W: CarryLess, Unit = H>,
    const LANES: usize,
    const REGISTER: usize,
    const BLOCKS: usize,
    const KARATSUBA: bool,
    const SHIFTS: bool,
>(
    s: S,
    h: H,
    work: &mut Work,
) {
    s.enter(
        #[inline(always)]
        || {
            let keys = s.keys(&work.key, FORWARD);
            let c = Uniform::new(s, &keys, &work.key, FORWARD, false);
            let stride = c.splat(&halves(LANES as u64, 0));
            let mut counter = s.iota();
            let mut hash = h.splat(&[0; 16]);
            for text in &mut work.text {
                for row in text.as_chunks_mut::<LANES>().0 {
                    let y = c.encrypt(counter.swap_bytes()) ^ s.load_row(row);
                    counter = counter.count32(stride);
                    s.store_row(y, row);
                }
                hash =
                    absorb::<H, REGISTER, BLOCKS, KARATSUBA, SHIFTS>(h, hash, text, &work.powers);
            }
            h.store_row(hash, &mut work.row);
        },
    );
}

/// `(hash ^ x_1) H^n ^ x_2 H^(n-1) ^ ... ^ x_n H` for every n = `BLOCKS` blocks.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn absorb<
    H: Isa<W: CarryLess, Unit = H>,
    const REGISTER: usize,
    const BLOCKS: usize,
    const KARATSUBA: bool,
    const SHIFTS: bool,
>(
    h: H,
    mut hash: H::W,
    text: &[Block; ROW],
    powers: &[Block; ROW],
) -> H::W {
    let x = text.as_chunks::<REGISTER>().0;
    let powers = powers[ROW - BLOCKS..].as_chunks::<REGISTER>().0;
    let each = BLOCKS / REGISTER;
    let mut at = 0;
    while at < x.len() {
        let first = h.load_row(&x[at]).swap_bytes() ^ hash;
        let mut sum = product::<_, KARATSUBA>(first, h.load_row(&powers[0]));
        let mut i = 1;
        while i < each {
            let x = h.load_row(&x[at + i]).swap_bytes();
            let more = product::<_, KARATSUBA>(x, h.load_row(&powers[i]));
            sum = Sum {
                low: sum.low ^ more.low,
                middle: sum.middle ^ more.middle,
                high: sum.high ^ more.high,
            };
            i += 1;
        }
        hash = h.fold(reduce::<H, KARATSUBA, SHIFTS>(h, sum));
        at += each;
    }
    hash
}

#[cfg(target_arch = "x86_64")]
type One = <NiOne as Isa>::W;

/// x^128 = x^7 + x^2 + x + 1.
#[cfg(target_arch = "x86_64")]
const FOLD: Block = halves(0x87, 0);

/// By the top bits of both halves: the carry into the upper half, and what x^128 is.
#[cfg(target_arch = "x86_64")]
#[repr(align(64))]
struct Carries([Block; 4]);
#[cfg(target_arch = "x86_64")]
static CARRIES: Carries = Carries([halves(0, 0), halves(0, 1), halves(0x87, 0), halves(0x87, 1)]);

/// Doubling as in Listing 1.1 of the comb scheduler's paper.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn branch(s: NiOne, x: One, top: bool) -> One {
    let carry = right::<_, 63>(s, x.shuffle(s.splat(&UP)));
    let shifted = x.count64(x) ^ carry;
    if top {
        (shifted ^ s.splat(&FOLD)).kept()
    } else {
        shifted
    }
}

/// Steps of the Gray code: `x ^= l(ntz(i))`.
#[cfg(target_arch = "x86_64")]
#[inline(never)]
fn gray(s: NiOne, work: &mut Work) {
    let steps = work.blocks();
    s.enter(
        #[inline(always)]
        || {
            let mut x = s.load_row(&work.row);
            let mut i = 1;
            while i <= steps {
                let place = i.trailing_zeros() as usize % work.multiples.len();
                x = x ^ s.splat(&work.multiples[place]);
                i += 1;
            }
            s.store_row(x, &mut work.row);
        },
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cipher::encrypt_block;

    const ROWS: usize = 3;

    fn int(block: Block) -> u128 {
        u128::from_le_bytes(block)
    }

    /// Every lane by `step`, as often as it has a block.
    fn chained(work: &Work, lanes: usize, step: impl Fn(u128) -> u128) -> [Block; ROW] {
        let mut row = work.row;
        for x in &mut row[..lanes] {
            for _ in 0..work.blocks() / lanes {
                *x = step(int(*x)).to_le_bytes();
            }
        }
        row
    }

    /// What a run of the case must make of the row, in its first lane where that is a
    /// hash, and of the text.
    fn expected(case: &Case, work: &Work) -> ([Block; ROW], Vec<Block>) {
        let h = int(*work.key.subkey(0));
        let lanes = case.lanes();
        let mut row = work.row;
        let mut text = work.text.as_flattened().to_vec();
        let cipher = |x: u128| int(encrypt_block(case.backend, &work.key, x.to_le_bytes()));
        match case.usage {
            Usage::Gcm => {
                let mut hash = 0;
                for (i, block) in text.iter_mut().enumerate() {
                    let y = int(*block) ^ cipher((i as u128).swap_bytes());
                    *block = y.to_le_bytes();
                    hash = gf128::mul_polyval(hash ^ y.swap_bytes(), h);
                }
                row[0] = hash.to_le_bytes();
            }
            Usage::ChainOne | Usage::ChainMany => {
                for (i, block) in text.iter_mut().enumerate() {
                    let (m, t) = (int(*block), &mut row[i % lanes]);
                    let u = gf128::mul_polyval(int(*t), h);
                    let y = cipher(m ^ u) ^ u;
                    *block = y.to_le_bytes();
                    *t = (m ^ y).to_le_bytes();
                }
            }
            _ => {
                row = match case.variant {
                    Variant::AsPrinted => chained(work, lanes, |x| x << 1 ^ 0x87),
                    Variant::Gray => {
                        // Block i has the multiples of the ones in i ^ i / 2.
                        let code = work.blocks() ^ work.blocks() >> 1;
                        for (bit, l) in work.multiples.iter().enumerate() {
                            if code >> bit & 1 == 1 {
                                row[0] = (int(row[0]) ^ int(*l)).to_le_bytes();
                            }
                        }
                        row
                    }
                    Variant::Bytes | Variant::Bits => {
                        chained(work, lanes, |x| (0..lanes).fold(x, |x, _| gf128::double(x)))
                    }
                    variant if variant.doubles() => chained(work, lanes, gf128::double),
                    _ => chained(work, lanes, |x| gf128::mul_polyval(x, h)),
                }
            }
        }
        (row, text)
    }

    #[test]
    fn every_case_is_right() {
        for case in cases() {
            let name = (case.variant.name(), case.usage.name(), case.backend.name());
            let mut work = Work::new(ROWS);
            // The second run goes on from what the first left.
            for _ in 0..2 {
                let (row, text) = expected(&case, &work);
                case.run(&mut work);
                let lanes = match case.usage {
                    Usage::Gcm => 1,
                    _ => ROW,
                };
                assert_eq!(work.row[..lanes], row[..lanes], "{name:?}");
                assert_eq!(work.text.as_flattened(), text, "{name:?}");
            }
        }
    }

    /// Operands that random ones do not hit.
    #[test]
    fn extreme_operands() {
        for case in cases() {
            for value in [0, 1, u128::MAX, 1 << 127, 1 << 63, 1 << 64] {
                let mut work = Work::new(1);
                work.row = [value.to_le_bytes(); ROW];
                let (row, _) = expected(&case, &work);
                case.run(&mut work);
                assert_eq!(work.row[0], row[0], "{} {value:x}", case.variant.name());
            }
        }
    }

    #[test]
    fn every_use_has_its_default() {
        let cases = cases();
        for case in &cases {
            let same = |c: &&Case| {
                c.usage == case.usage
                    && c.backend == case.backend
                    && c.variant.doubles() == case.variant.doubles()
            };
            let defaults = cases.iter().filter(same).filter(|c| c.is_default());
            let wanted = usize::from(case.backend != Backend::Portable);
            assert_eq!(defaults.count(), wanted, "{}", case.variant.name());
        }
    }
}
