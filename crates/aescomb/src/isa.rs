//! The seam between modes and instruction sets: one cipher call on a wide value.
//!
//! An [`Isa`] is a token: a value of it exists only where the CPU has the
//! instructions, so everything that takes one may use them. A [`Wide`] value
//! holds [`Isa::LANES`] blocks, one of each message of a group (a *row*) or
//! consecutive blocks of one message.
//!
//! Everything generic between [`Isa::enter`] and the instructions is
//! `#[inline(always)]`: see "Inlining" in HACKING.md for what one missing
//! attribute costs.

use crate::block::{Block, LINE, MAX_UNIT};
use crate::expanded::Expanded;
use crate::lane_keys::LaneKeys;
use crate::schedule::{Uses, Way, WhichKey};
use core::ops::{BitAnd, BitXor};

mod portable;
pub(crate) use portable::Portable;
mod dispatch;
pub(crate) use dispatch::dispatch;

#[cfg(target_arch = "x86_64")]
mod ni;
#[cfg(target_arch = "x86_64")]
mod vaes256;
#[cfg(target_arch = "x86_64")]
mod vaes256vl;
#[cfg(target_arch = "x86_64")]
mod vaes512;
#[cfg(target_arch = "x86_64")]
mod x86;

#[cfg(all(target_arch = "x86_64", feature = "measure"))]
mod top_bit;
#[cfg(target_arch = "x86_64")]
#[cfg_attr(test, allow(unused_imports))] // see `dispatch`
pub(crate) use {
    ni::Ni,
    vaes256::Vaes256,
    vaes256vl::Vaes256Vl,
    vaes512::{Vaes512, Vaes512x8},
};
#[cfg(all(target_arch = "x86_64", feature = "measure"))]
pub(crate) use {ni::NiOne, x86::CarryLess};

/// Whether `tweaked` tweaks round key `r`.
#[inline(always)]
pub(crate) const fn is_tweaked(r: usize) -> bool {
    r % 4 == 1
}

/// Sums of products that are not yet reduced.
pub(crate) type Sums<S> = [<<S as Isa>::Unit as Isa>::W; 3];

/// The round keys of AES-128.
pub(crate) type RoundKeys<W> = [W; 11];

/// [`Isa::LANES`] blocks that are worked on together.
pub(crate) trait Wide: Copy + BitXor<Output = Self> + BitAnd<Output = Self> {
    /// Every block with its bytes in reverse order.
    fn swap_bytes(self) -> Self;
    /// Every block plus its fellow in `steps`, both little-endian 128-bit
    /// integers; a step must be below 2^63.
    fn count(self, steps: Self) -> Self;
    /// As `count` where no sum has a carry into the upper eight bytes.
    fn count64(self, steps: Self) -> Self;
    /// As `count` in the four low bytes of each block alone.
    fn count32(self, steps: Self) -> Self;
    /// Every block times x, a little-endian polynomial modulo x^128 + x^7 + x^2 +
    /// x + 1 (the doubling of IEEE 1619).
    fn double(self) -> Self;
    /// The same for blocks in the order of a big-endian integer (the doubling of SP
    /// 800-38B section 5.3).
    #[inline(always)]
    fn double_block(self) -> Self {
        self.swap_bytes().double().swap_bytes()
    }
    /// Every block times x^n in the field of `double`, for n from 0 to 63, given in
    /// both halves.
    fn times_power(self, n: Self) -> Self;
    /// The same for n = 8 m, with m, at most 7, in every byte of `m`: faster. `by_sums`: without
    /// a product, where additions are faster.
    fn times_byte_power(self, m: Self, by_sums: bool) -> Self;
    /// For `window`, of which [`Isa::WINDOWS`] says whether it is there.
    #[inline(always)]
    fn beyond(self) -> Self {
        unreachable!("there are no windows")
    }
    /// Every block times x^(8 n), for n from 0 to 8, with what is `beyond` it.
    #[inline(always)]
    fn window(self, _beyond: Self, _n: usize) -> Self {
        unreachable!("there are no windows")
    }
    /// The product in a field.
    fn mul<F: Product>(self, b: Self) -> Self;
    /// Adds the products of the blocks of `x` and of `y`, which has its `sum_halves` with it, to sums
    /// of such, zeros at first. Where [`Isa::ROUNDS`], as `reduced`.
    #[inline(always)]
    fn add_product(_sums: [Self; 3], _x: Self, _y: (Self, Self)) -> [Self; 3] {
        unreachable!("products are not added")
    }
    /// What they are, reduced.
    #[inline(always)]
    fn reduced<F: Product>(_sums: [Self; 3]) -> Self {
        unreachable!("products are not added")
    }
    /// Both halves of every block, little-endian integers, plus those of `b` modulo
    /// 2^64.
    fn add_halves(self, b: Self) -> Self;
    /// The xor of both halves of every block, in both.
    fn sum_halves(self) -> Self;
    /// Both halves of every block, little-endian integers, shifted by the numbers
    /// in that half of `n`, which are the same in both; 64 shifts everything out.
    fn shift_left(self, n: Self) -> Self;
    fn shift_right(self, n: Self) -> Self;
    /// Byte `i` of every block is its byte `index[i]`, or 0 where that has its top
    /// bit set.
    fn shuffle(self, index: Self) -> Self;

    // Of rows in whose blocks every byte is the same number n of bytes, 0 to 16:

    /// Ones in the first n bytes.
    fn first_bytes(self) -> Self;
    /// All ones where n is not 0.
    fn any(self) -> Self;
    /// All ones where n is below 16.
    fn partial(self) -> Self;
    /// 0x80 after n bytes if there is room, zeros elsewhere.
    fn one_zero(self) -> Self;
    /// 16 - n in all bytes after the first n.
    fn pkcs7(self) -> Self;
    /// For `shuffle`: moves a block up by n bytes.
    fn up(self) -> Self;
    /// For `shuffle`: moves a block down by 16 - n bytes.
    fn down(self) -> Self;

    /// `yes` where `mask` has ones, `no` where it has zeros.
    #[inline(always)]
    fn select(mask: Self, yes: Self, no: Self) -> Self {
        no ^ ((no ^ yes) & mask)
    }
}

/// How blocks are elements of GF(2^128).
pub(crate) trait Product {
    const POLYVAL: bool;
}

/// As in RFC 8452 section 3, with the product a b x^-128 modulo x^128 + x^127 + x^126 +
/// x^121 + 1. Blocks of GHASH are such elements with their bytes in reverse order.
pub(crate) struct Polyval;

/// As in [`Wide::double`], with the product a b.
pub(crate) struct Plain;

impl Product for Polyval {
    const POLYVAL: bool = true;
}

impl Product for Plain {
    const POLYVAL: bool = false;
}

/// Of at most how many round keys a loop holds those of all lanes ([`Isa::HOLDS`]).
pub(crate) const HELD_KEYS: usize = 5;

/// Bytes from block to block for [`Isa::load_parts`], as CPFB has them.
#[cfg(feature = "research")]
pub(crate) const PART: usize = 12;

/// Where texts of lanes start: a pointer for each, in an array or elsewhere.
#[allow(unsafe_code)] // declared here, used in the files that may
pub(crate) trait Starts: Copy {
    /// That of lane `l`.
    ///
    /// # Safety
    /// There is one.
    unsafe fn of(self, l: usize) -> *mut u8;
    /// Those after the first so many.
    ///
    /// # Safety
    /// There are so many.
    unsafe fn after(self, lanes: usize) -> Self;
}

/// The contract of an instruction set.
///
/// The pointer methods are `unsafe`: what they read or write must be valid for
/// the stated number of bytes.
#[allow(unsafe_code)] // declared here, used in the files that may
pub(crate) trait Isa: Copy + 'static {
    type W: Wide;
    /// A key in this instruction set's own form.
    type Keys: 'static;
    /// What a loop holds of it.
    type Loaded<'k>: Copy;
    /// The same registers, fewer of them in flight.
    type Half: Isa<Keys = Self::Keys>;
    /// `N` registers.
    type Registers<const N: usize>: Isa<Keys = Self::Keys, Unit = Self::Unit>;
    /// One register.
    type Unit: Isa<Keys = Self::Keys, Unit = Self::Unit>;
    /// As many registers as [`MAX_UNIT`] blocks take.
    type Quad: Isa<Keys = Self::Keys, Unit = Self::Unit>;
    /// One message alone.
    type Narrow: Isa;
    /// What passes over neighbouring blocks run on, where the chains beside them run on this.
    type Along: Isa;
    /// For half of the lanes, registers of half the width and as many as here; the same where there
    /// are none.
    type Slim: Isa;

    const LANES: usize;

    fn half(self) -> Self::Half;
    fn registers<const N: usize>(self) -> Self::Registers<N>;
    fn unit(self) -> Self::Unit;
    fn quad(self) -> Self::Quad;
    fn narrow(self) -> Self::Narrow;
    fn along(self) -> Self::Along;
    fn slim(self) -> Self::Slim;

    /// Runs `f` compiled for this instruction set: the only crossing.
    fn enter<R>(self, f: impl FnOnce() -> R) -> R;
    /// The same with arguments, which stay in registers: those that a closure catches are stored. The
    /// stack is aligned only by [`align_stack`](Isa::align_stack).
    fn enter_with<A, B, C, D, E, R>(
        self,
        args: (A, B, C, D, E),
        f: impl FnOnce(A, B, C, D, E) -> R,
    ) -> R;
    /// Has the stack of the function that it is inlined in aligned for registers that are kept there.
    fn align_stack(self);

    /// FIPS 197 section 5.2 for keys of one length, several at once.
    fn expand(self, raw: &[&[u8]], out: &mut [Expanded], which: WhichKey);
    /// The same for keys that a row holds, one in each lane: its `bytes` bytes are
    /// those of `raw[0]` and then those of `raw[1]`.
    fn expand_row<const L: usize>(
        self,
        keys: &mut LaneKeys<L>,
        raw: [Self::W; 2],
        bytes: usize,
        which: WhichKey,
    );
    /// Gives `key` the schedule of one that lies in registers of one lane, in the first or in both, of
    /// so many `bytes`.
    fn expand_one(self, key: &mut Expanded, raw: [Self::W; 2], bytes: usize);
    /// The round keys of 128-bit keys that a row holds.
    fn schedule_row(self, raw: Self::W) -> RoundKeys<Self::W>;
    /// InvMixColumns (FIPS 197 section 5.3.3).
    fn inverse_mix(self, x: Self::W) -> Self::W;

    /// Of the schedules that `uses` says.
    fn keys(self, key: &Expanded, uses: Uses) -> Self::Keys;
    /// Brings the line of the cache that has this address into the nearest one.
    fn fetch(self, at: *const u8);
    /// The same, into the second cache alone: for more than the first one holds.
    fn fetch_far(self, at: *const u8);
    /// Gives each lane of `keys` what `uses` says of its key in `of`; all are of one size.
    fn lane_keys<const L: usize>(self, keys: &mut LaneKeys<L>, of: &[&Expanded; L], uses: Uses);
    /// Of the schedules that `uses` says, which `keys` has; of a 128-bit key, if that is known.
    fn load_keys(self, keys: &Self::Keys, uses: Uses, aes_128: bool) -> Self::Loaded<'_>;
    fn encrypt(self, keys: &Self::Loaded<'_>, x: Self::W) -> Self::W;
    /// The first round key and the first round of `encrypt`. Where `ROUNDS`.
    #[inline(always)]
    fn first_round(self, _keys: &Self::Loaded<'_>, _x: Self::W) -> Self::W {
        unreachable!("rounds are not done one by one")
    }
    /// What follows them.
    #[inline(always)]
    fn encrypt_rest(self, _keys: &Self::Loaded<'_>, _x: Self::W) -> Self::W {
        unreachable!("rounds are not done one by one")
    }
    /// `encrypt` or `decrypt` with what `first` and `last` make of the first and the last round key in
    /// the place of these. Where `ROUNDS`.
    #[inline(always)]
    fn between(
        self,
        _keys: &Self::Loaded<'_>,
        _way: Way,
        _x: Self::W,
        _first: impl FnOnce(<Self::Unit as Isa>::W) -> Self::W,
        _last: impl Fn(<Self::Unit as Isa>::W) -> Self::W,
    ) -> Self::W {
        unreachable!("rounds are not done one by one")
    }
    /// `encrypt`; `between` is called after the first eight rounds with the number of each, and
    /// what it does is done meanwhile: where the compiler puts it, or right there if `IN_ORDER`.
    #[inline(always)]
    fn encrypt_while<const IN_ORDER: bool>(
        self,
        _keys: &Self::Loaded<'_>,
        _x: Self::W,
        _between: impl FnMut(usize),
    ) -> Self::W {
        unreachable!("rounds are not done one by one")
    }
    /// Whether these four and [`Wide::add_product`] are there.
    const ROUNDS: bool = false;
    fn decrypt(self, keys: &Self::Loaded<'_>, x: Self::W) -> Self::W;
    fn encrypt_second(self, keys: &Self::Loaded<'_>, x: Self::W) -> Self::W;
    fn encrypt_each<const L: usize>(self, keys: &LaneKeys<L>, rounds: usize, x: Self::W)
    -> Self::W;
    /// For how many of the first round keys of all lanes a loop has registers.
    const HOLDS: usize = 0;
    /// `x`, which the compiler does not take from memory again. Where `HOLDS`.
    #[inline(always)]
    fn hold(self, _x: Self::W) -> Self::W {
        unreachable!("there are no registers for keys of lanes")
    }
    /// `encrypt_each`, with the `first` round keys; `between` as in `encrypt_while`, right there.
    /// Where `HOLDS`.
    #[inline(always)]
    fn encrypt_held<const L: usize>(
        self,
        _keys: &LaneKeys<L>,
        _first: &[Self::W; HELD_KEYS],
        _rounds: usize,
        _x: Self::W,
        _between: impl FnMut(usize),
    ) -> Self::W {
        unreachable!("there are no registers for keys of lanes")
    }
    fn decrypt_each<const L: usize>(self, keys: &LaneKeys<L>, rounds: usize, x: Self::W)
    -> Self::W;
    fn encrypt_second_each<const L: usize>(
        self,
        keys: &LaneKeys<L>,
        rounds: usize,
        x: Self::W,
    ) -> Self::W;
    /// `encrypt`, `decrypt` or `encrypt_second` with `tweak` added to round keys 1, 5 and 9, of
    /// ten rounds.
    fn tweaked(self, keys: &Self::Loaded<'_>, way: Way, x: Self::W, tweak: Self::W) -> Self::W;
    fn tweaked_each<const L: usize>(
        self,
        keys: &LaneKeys<L>,
        way: Way,
        x: Self::W,
        tweak: Self::W,
    ) -> Self::W;

    /// The same block in every lane.
    fn splat(self, block: &Block) -> Self::W;
    /// `LANES * 16` bytes at `from`.
    unsafe fn load(self, from: *const u8) -> Self::W;
    unsafe fn store(self, x: Self::W, to: *mut u8);

    /// Pairs of blocks from the first `len` bytes at `from`, at most `LANES` pairs, and zeros: the first
    /// of each pair, and the second.
    unsafe fn load_pairs(self, from: *const u8, len: usize) -> [Self::W; 2];
    unsafe fn store_pairs(self, x: [Self::W; 2], to: *mut u8, len: usize);

    /// Blocks each of which begins [`PART`] bytes after the one before it: the first `n` from `from`
    /// on, and in other lanes anything.
    #[cfg(feature = "research")]
    unsafe fn load_parts(self, from: *const u8, n: usize) -> Self::W;
    /// Puts them there: where two overlap, the bytes of the second.
    #[cfg(feature = "research")]
    unsafe fn store_parts(self, x: Self::W, to: *mut u8, n: usize);

    /// A block for each lane.
    #[inline(always)]
    fn load_row<const L: usize>(self, row: &[Block; L]) -> Self::W {
        const { assert!(Self::LANES <= L) };
        // SAFETY: the row has `LANES` blocks.
        unsafe { self.load(row.as_ptr().cast()) }
    }

    #[inline(always)]
    fn store_row<const L: usize>(self, x: Self::W, row: &mut [Block; L]) {
        const { assert!(Self::LANES <= L) };
        // SAFETY: the row has `LANES` blocks.
        unsafe { self.store(x, row.as_mut_ptr().cast()) }
    }

    /// The first `LANES` blocks of `row`, which has as many.
    #[inline(always)]
    fn load_from(self, row: &[Block]) -> Self::W {
        assert!(row.len() >= Self::LANES);
        // SAFETY: the row has `LANES` blocks.
        unsafe { self.load(row.as_ptr().cast()) }
    }

    /// `LANES` blocks, the last one first.
    #[cfg(feature = "research")]
    fn load_reversed(self, row: &[Block]) -> Self::W;

    /// To the first `LANES` blocks of `row`, which has as many.
    #[inline(always)]
    fn store_to(self, x: Self::W, row: &mut [Block]) {
        assert!(row.len() >= Self::LANES);
        // SAFETY: the row has `LANES` blocks.
        unsafe { self.store(x, row.as_mut_ptr().cast()) }
    }

    /// Each lane's number as a little-endian integer.
    fn numbers<const L: usize>(self, numbers: &[usize; L]) -> Self::W;
    /// Its low byte in all bytes of the block.
    #[inline(always)]
    fn in_all_bytes<const L: usize>(self, numbers: &[usize; L]) -> Self::W {
        self.numbers(numbers).shuffle(self.splat(&[0; 16]))
    }

    /// The `len` bytes at `from`, at most `LANES * 16`, and zeros after them.
    unsafe fn load_part(self, from: *const u8, len: usize) -> Self::W;
    unsafe fn store_part(self, x: Self::W, to: *mut u8, len: usize);
    /// The `len` bytes at `from`, at most 16, and zeros after them, in every lane.
    unsafe fn load_everywhere(self, from: *const u8, len: usize) -> Self::W;
    /// The same in the first lane, zeros in the others.
    unsafe fn load_first(self, from: *const u8, len: usize) -> Self::W;
    unsafe fn store_first(self, x: Self::W, to: *mut u8, len: usize);
    /// Lane `l` from the 16 bytes that are `offset` after its start.
    unsafe fn gather(self, at: impl Starts, offset: usize) -> Self::W;
    unsafe fn scatter(self, x: Self::W, to: impl Starts, offset: usize);
    /// Whether there are as many registers to spare as a row is in, beside those and a key's.
    const SPARE: bool = false;
    /// Of `gather`, what belongs in register `u`. Where `SPARE` or `HOLDS`.
    #[inline(always)]
    unsafe fn gather_register<const IN_ORDER: bool>(
        self,
        _x: &mut Self::W,
        _u: usize,
        _at: impl Starts,
        _offset: usize,
    ) {
        unreachable!("rows are not taken apart by registers")
    }
    /// Of `scatter`, what belongs to register `u` of a `row` that is in memory. Where `SPARE`.
    #[inline(always)]
    unsafe fn scatter_register(
        self,
        _row: *const Self::W,
        _u: usize,
        _to: impl Starts,
        _offset: usize,
    ) {
        unreachable!("rows are not taken apart by registers")
    }
    /// Whether rows are better gathered and scattered a line at a time: all of what a line
    /// of the cache has, so that it is touched once.
    const LINES: bool = false;
    /// What belongs in register `u` of the rows from `offset` on, as many as a line has. Where `LINES` or
    /// `SPARE`.
    #[inline(always)]
    unsafe fn gather_line(
        self,
        _rows: *mut [Self::W; LINE],
        _u: usize,
        _at: impl Starts,
        _offset: usize,
    ) {
        unreachable!("rows are not gathered by lines")
    }
    #[inline(always)]
    unsafe fn scatter_line(
        self,
        _rows: *const [Self::W; LINE],
        _u: usize,
        _to: impl Starts,
        _offset: usize,
    ) {
        unreachable!("rows are not scattered by lines")
    }
    /// Lane `l` from the place and the number of bytes, at most 16, that `of(l)` says; zeros
    /// after them. Also of no bytes, the place must be readable, or `scatter_part` slow.
    unsafe fn gather_part(self, of: impl Fn(usize) -> (*const u8, usize) + Copy) -> Self::W;
    unsafe fn scatter_part(self, x: Self::W, of: impl Fn(usize) -> (*mut u8, usize) + Copy);

    /// The sum of its registers.
    fn sum(self, x: Self::W) -> <Self::Unit as Isa>::W;
    /// The sum of all blocks of a register in the first lane, zeros in the others.
    fn fold(self, x: <Self::Unit as Isa>::W) -> <Self::Unit as Isa>::W;
    /// Adds the products of all lanes to sums of such, zeros at first. `y` may have its
    /// [`Wide::sum_halves`] with it; without, the second sum lacks the two others.
    fn add_products(
        self,
        sums: Sums<Self>,
        x: Self::W,
        y: (Self::W, Option<Self::W>),
    ) -> Sums<Self>;
    /// In lane `l` the sum of all blocks of `x[l]`. Where messages are done by themselves.
    #[inline(always)]
    fn fold_each(self, _x: &[<Self::Unit as Isa>::W; MAX_UNIT]) -> Self::W {
        unreachable!("registers are not folded")
    }
    /// What they are together, reduced, in the first lane; zeros in the others.
    fn reduce<F: Product>(self, sums: Sums<Self>) -> Self::W;
    /// In every lane the sum of the last block of `before` and of the blocks of `x` up
    /// to there.
    fn running(self, before: Self::W, x: Self::W) -> Self::W;
    /// The same with the sum multiplied from lane to lane: by `powers[0]`, of which
    /// `powers` are the powers from the first on.
    fn horner<F: Product>(self, before: Self::W, x: Self::W, powers: &[Block]) -> Self::W;
    /// Whether there are [`Wide::window`] and `windows`.
    const WINDOWS: bool = false;
    /// Of neighbouring blocks that are doubled from one to the next, registers from number `first` on, which
    /// is even, of 16: the first two are `now`, with what is `beyond` them.
    #[inline(always)]
    fn windows(
        self,
        _now: &[<Self::Unit as Isa>::W; 2],
        _beyond: &[<Self::Unit as Isa>::W; 2],
        _first: usize,
    ) -> Self::W {
        unreachable!("there are no windows")
    }
    /// 0, 1, 2, ... as little-endian integers.
    fn iota(self) -> Self::W;
    /// The blocks of `x` one lane up; the last block of `before` becomes lane 0.
    fn shift_in(self, before: Self::W, x: Self::W) -> Self::W;
    /// The same of an `x` that is in memory.
    ///
    /// # Safety
    /// There are `LANES * 16` bytes at `from`.
    #[inline(always)]
    unsafe fn load_before(self, before: Self::W, from: *const u8) -> Self::W {
        // SAFETY: the caller's.
        unsafe { self.shift_in(before, self.load(from)) }
    }
    /// The same address, of which the compiler knows nothing: what is there is loaded again.
    #[inline(always)]
    fn afresh(self, at: *const u8) -> *const u8 {
        at
    }
    /// The first blocks of `x`, as many as a register has.
    fn first(self, x: Self::W) -> <Self::Unit as Isa>::W;
    /// Zeros after this register.
    fn widen(self, x: <Self::Unit as Isa>::W) -> Self::W;
    /// Zeros before this register.
    fn at_end(self, x: <Self::Unit as Isa>::W) -> Self::W;
    /// The same register everywhere.
    fn repeat(self, x: <Self::Unit as Isa>::W) -> Self::W;
    /// The last block of `x`.
    fn last(self, x: Self::W) -> Block;
}
