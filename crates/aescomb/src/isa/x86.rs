//! What the x86 instruction sets share: a token for `U` registers in flight, and what it does
//! with them.
//!
//! `unsafe` here rests on one fact: a token exists only where the CPU has the instructions,
//! as detection alone makes one, or another token.
#![allow(unsafe_code)]

use super::ni::NiOne;
use super::{HELD_KEYS, Isa, Product, RoundKeys, Starts, Sums};
use crate::block::{Block, LINE, MAX_UNIT};
use crate::expanded::Expanded;
use crate::lane_keys::LaneKeys;
use crate::schedule::{Uses, Way, WhichKey};
use core::arch::asm;
use core::arch::x86_64::{_MM_HINT_T0, _MM_HINT_T1, _mm_prefetch};
use core::marker::PhantomData;
use core::mem::MaybeUninit;
use expansion::{expand, expand_one, expand_row, lane_keys, schedule_row};
use rounds::{
    Broadcast, Loaded, broadcast, decrypt_each, encrypt_each, encrypt_held, encrypt_second_each,
    inverse_mix, inverse_schedule, tweaked_each,
};
use vector::Vector;
use words::{add_products, fold_each, horner, reduce_sums, running};

mod expansion;
mod rounds;
pub(super) mod vector;
mod words;
#[cfg(feature = "measure")]
pub(crate) use words::CarryLess;
pub(crate) use words::Words;

/// An instruction set: its registers, and the features of the CPU that kernels are compiled
/// for.
///
/// # Safety
/// Where `known` says so, the CPU has the features that `run` enables. They include what
/// the methods of `V` need, and the features of `One` and of [`NiOne`].
pub(crate) unsafe trait InstructionSet: Copy + 'static {
    /// A register.
    type V: Vector;
    /// What single registers are compiled for.
    type One: InstructionSet<V = Self::V, One = Self::One>;
    /// What neighbouring blocks of one message are compiled for, with the same features.
    type Along: InstructionSet;
    /// See [`Isa::Quad`].
    type Quad: Isa<Keys = Broadcast<Self::V>, Unit = X86<Self::One, 1>>;
    /// With registers of half the width, if the CPU has what this one needs.
    type Slim: InstructionSet;

    fn known() -> bool;

    fn quad(unit: X86<Self::One, 1>) -> Self::Quad;

    /// Runs `f` compiled for the features, with the stack aligned.
    ///
    /// # Safety
    /// The CPU has them.
    unsafe fn run<R>(f: impl FnOnce() -> R) -> R;

    /// The same with arguments, and the stack as it is.
    ///
    /// # Safety
    /// As above.
    unsafe fn run_with<A, B, C, D, E, R>(
        a: A,
        b: B,
        c: C,
        d: D,
        e: E,
        f: impl FnOnce(A, B, C, D, E) -> R,
    ) -> R;

    /// See [`Isa::align_stack`].
    fn align_stack();
}

/// Has the compiler align the stack of the function that it is inlined in, for registers of type `V`
/// that are kept there. It does so only where it knows before it assigns registers; otherwise they lie
/// across lines of the cache, and a load waits until what was stored has left the CPU. One instruction.
#[inline(always)]
pub(crate) fn align_stack<V>() {
    let slot = MaybeUninit::<V>::uninit();
    // SAFETY: nothing is done with the address.
    unsafe {
        asm!(
            "/* {slot} */",
            slot = in(reg) slot.as_ptr().addr(),
            options(nomem, nostack, preserves_flags)
        )
    };
}

/// What an [`InstructionSet`] runs code by, with these features of the CPU, and the stack aligned
/// for registers of a type.
macro_rules! runs {
    ($features:literal $(, $register:ty)?) => {
        #[target_feature(enable = $features)]
        unsafe fn run<R>(f: impl FnOnce() -> R) -> R {
            Self::align_stack();
            f()
        }

        #[target_feature(enable = $features)]
        unsafe fn run_with<A, B, C, D, E, R>(
            a: A,
            b: B,
            c: C,
            d: D,
            e: E,
            f: impl FnOnce(A, B, C, D, E) -> R,
        ) -> R {
            f(a, b, c, d, e)
        }

        #[inline(always)]
        fn align_stack() {
            $($crate::isa::x86::align_stack::<$register>();)?
        }
    };
}
pub(super) use runs;

/// Proof that the CPU has the instructions of `S`, which [`X86::known`] alone gives: `U`
/// registers in flight, `HALF` for few messages, `ALONG` for neighbouring blocks.
#[derive(Clone, Copy)]
pub(crate) struct X86<S, const U: usize, const HALF: usize = U, const ALONG: usize = HALF>(
    PhantomData<S>,
);

impl<S: InstructionSet, const U: usize, const HALF: usize, const ALONG: usize>
    X86<S, U, HALF, ALONG>
{
    /// The token, where the CPU is known to have the instructions, as it is once there is a key or a
    /// scheduler for them.
    #[inline(always)]
    pub(crate) fn known() -> Option<Self> {
        S::known().then_some(X86(PhantomData))
    }

    /// The inverse cipher's round keys, which the key may keep. Out of line, as it
    /// is done once or twice a key.
    #[inline(never)]
    fn invert(self, key: &Expanded) -> [Block; 15] {
        let made = self.enter(
            #[inline(always)]
            || {
                // SAFETY: the token says the CPU has the features.
                unsafe { inverse_schedule::<S::V>(&key.enc, key.rounds()) }
            },
        );
        key.keep_inverse(&made);
        made
    }
}

impl<S: InstructionSet, const U: usize, const HALF: usize, const ALONG: usize> Isa
    for X86<S, U, HALF, ALONG>
{
    type W = Words<S::V, U>;
    type Keys = Broadcast<S::V>;
    type Loaded<'k> = Loaded<'k, S::V>;
    type Half = X86<S, HALF>;
    type Registers<const N: usize> = X86<S, N>;
    type Unit = X86<S::One, 1>;
    type Quad = S::Quad;
    type Narrow = NiOne;
    type Along = X86<S::Along, ALONG>;
    type Slim = X86<S::Slim, U, U, ALONG>;

    const LANES: usize = U * S::V::BLOCKS;

    // The CPU has the features of these tokens: they are this one's, or some of them.

    #[inline(always)]
    fn half(self) -> Self::Half {
        X86(PhantomData)
    }

    #[inline(always)]
    fn registers<const N: usize>(self) -> Self::Registers<N> {
        X86(PhantomData)
    }

    #[inline(always)]
    fn unit(self) -> Self::Unit {
        X86(PhantomData)
    }

    #[inline(always)]
    fn quad(self) -> S::Quad {
        S::quad(self.unit())
    }

    #[inline(always)]
    fn narrow(self) -> NiOne {
        X86(PhantomData)
    }

    #[inline(always)]
    fn slim(self) -> Self::Slim {
        X86(PhantomData)
    }

    #[inline(always)]
    fn along(self) -> Self::Along {
        X86(PhantomData)
    }

    #[inline(always)]
    fn enter<R>(self, f: impl FnOnce() -> R) -> R {
        // SAFETY: the token says the CPU has the features.
        unsafe { S::run(f) }
    }

    #[inline(always)]
    fn enter_with<A, B, C, D, E, R>(
        self,
        (a, b, c, d, e): (A, B, C, D, E),
        f: impl FnOnce(A, B, C, D, E) -> R,
    ) -> R {
        // SAFETY: the token says the CPU has the features.
        unsafe { S::run_with(a, b, c, d, e, f) }
    }

    #[inline(always)]
    fn afresh(self, at: *const u8) -> *const u8 {
        let mut at = at;
        // SAFETY: no instruction at all.
        unsafe {
            asm!("/* {at} */", at = inout(reg) at, options(readonly, nostack, preserves_flags));
        }
        at
    }

    #[inline(always)]
    fn align_stack(self) {
        S::align_stack();
    }

    fn expand(self, raw: &[&[u8]], out: &mut [Expanded], which: WhichKey) {
        if S::V::BLOCKS > 1 && raw.len() == 1 {
            return self.narrow().expand(raw, out, which);
        }
        self.enter(
            #[inline(always)]
            || {
                let width = S::V::BLOCKS;
                for (raw, out) in raw.chunks(width).zip(out.chunks_mut(width)) {
                    // SAFETY: the token says the CPU has the features.
                    unsafe { expand::<S::V>(raw, out, which) };
                }
            },
        );
    }

    #[inline(always)]
    fn expand_row<const L: usize>(
        self,
        keys: &mut LaneKeys<L>,
        raw: [Self::W; 2],
        bytes: usize,
        which: WhichKey,
    ) {
        expand_row(keys, raw, bytes, which);
    }

    #[inline(always)]
    fn expand_one(self, key: &mut Expanded, raw: [Self::W; 2], bytes: usize) {
        expand_one(key, raw, bytes);
    }

    #[inline(always)]
    fn schedule_row(self, raw: Self::W) -> RoundKeys<Self::W> {
        schedule_row(raw)
    }

    #[inline(always)]
    fn inverse_mix(self, x: Self::W) -> Self::W {
        Words(inverse_mix(x.0))
    }

    #[inline(always)]
    fn keys(self, key: &Expanded, uses: Uses) -> Self::Keys {
        let made;
        let dec = if !uses.inverse {
            &key.enc
        } else if let Some(kept) = key.inverse() {
            kept
        } else {
            made = self.invert(key);
            &made
        };
        // SAFETY: the token says the CPU has the features.
        unsafe { broadcast(key, dec, uses) }
    }

    #[inline(always)]
    fn fetch(self, at: *const u8) {
        // SAFETY: a prefetch reads nothing.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(at.cast()) };
    }

    #[inline(always)]
    fn fetch_far(self, at: *const u8) {
        // SAFETY: a prefetch reads nothing.
        unsafe { _mm_prefetch::<_MM_HINT_T1>(at.cast()) };
    }

    #[inline(never)]
    fn lane_keys<const L: usize>(self, keys: &mut LaneKeys<L>, of: &[&Expanded; L], uses: Uses) {
        self.enter(
            #[inline(always)]
            || {
                // SAFETY: the token says the CPU has the features.
                unsafe { lane_keys::<S::V, U, L>(keys, of, uses) }
            },
        );
    }

    #[inline(always)]
    fn load_keys(self, keys: &Self::Keys, uses: Uses, aes_128: bool) -> Self::Loaded<'_> {
        keys.load(if aes_128 { 10 } else { keys.rounds() }, uses)
    }

    #[inline(always)]
    fn encrypt(self, keys: &Self::Loaded<'_>, x: Self::W) -> Self::W {
        Words(keys.encrypt(x.0))
    }

    const ROUNDS: bool = true;

    #[inline(always)]
    fn first_round(self, keys: &Self::Loaded<'_>, x: Self::W) -> Self::W {
        Words(keys.first_round(x.0))
    }

    #[inline(always)]
    fn encrypt_rest(self, keys: &Self::Loaded<'_>, x: Self::W) -> Self::W {
        Words(keys.encrypt_rest(x.0))
    }

    #[inline(always)]
    fn between(
        self,
        keys: &Self::Loaded<'_>,
        way: Way,
        x: Self::W,
        first: impl FnOnce(Words<S::V, 1>) -> Self::W,
        last: impl Fn(Words<S::V, 1>) -> Self::W,
    ) -> Self::W {
        Words(keys.between(
            way,
            x.0,
            #[inline(always)]
            |key| first(Words([key])).0,
            #[inline(always)]
            |key| last(Words([key])).0,
        ))
    }

    #[inline(always)]
    fn encrypt_while<const IN_ORDER: bool>(
        self,
        keys: &Self::Loaded<'_>,
        x: Self::W,
        between: impl FnMut(usize),
    ) -> Self::W {
        Words(keys.encrypt_while::<_, IN_ORDER>(x.0, between))
    }

    #[inline(always)]
    fn decrypt(self, keys: &Self::Loaded<'_>, x: Self::W) -> Self::W {
        Words(keys.decrypt(x.0))
    }

    #[inline(always)]
    fn encrypt_second(self, keys: &Self::Loaded<'_>, x: Self::W) -> Self::W {
        Words(keys.encrypt_second(x.0))
    }

    #[inline(always)]
    fn encrypt_each<const L: usize>(
        self,
        keys: &LaneKeys<L>,
        rounds: usize,
        x: Self::W,
    ) -> Self::W {
        Words(encrypt_each(keys, rounds, x.0))
    }

    const HOLDS: usize = match (S::V::IS_LINE, U) {
        (true, 4) => HELD_KEYS,
        (true, 8) => 2,
        _ => 0,
    };

    #[inline(always)]
    fn hold(self, mut x: Self::W) -> Self::W {
        // SAFETY: values of the vector type exist.
        unsafe { S::V::hold_all(&mut x.0) };
        x
    }

    #[inline(always)]
    fn encrypt_held<const L: usize>(
        self,
        keys: &LaneKeys<L>,
        first: &[Self::W; HELD_KEYS],
        rounds: usize,
        x: Self::W,
        between: impl FnMut(usize),
    ) -> Self::W {
        Words(encrypt_held(
            keys,
            (first, Self::HOLDS),
            rounds,
            x.0,
            between,
        ))
    }

    #[inline(always)]
    fn decrypt_each<const L: usize>(
        self,
        keys: &LaneKeys<L>,
        rounds: usize,
        x: Self::W,
    ) -> Self::W {
        Words(decrypt_each(keys, rounds, x.0))
    }

    #[inline(always)]
    fn encrypt_second_each<const L: usize>(
        self,
        keys: &LaneKeys<L>,
        rounds: usize,
        x: Self::W,
    ) -> Self::W {
        Words(encrypt_second_each(keys, rounds, x.0))
    }

    #[inline(always)]
    fn tweaked(self, keys: &Self::Loaded<'_>, way: Way, x: Self::W, tweak: Self::W) -> Self::W {
        Words(keys.tweaked(way, x.0, tweak.0))
    }

    #[inline(always)]
    fn tweaked_each<const L: usize>(
        self,
        keys: &LaneKeys<L>,
        way: Way,
        x: Self::W,
        tweak: Self::W,
    ) -> Self::W {
        Words(tweaked_each(keys, way, x.0, tweak.0))
    }

    // SAFETY of the rest, where no other comment stands: the token says that the CPU has the
    // features; what else is asked for is the caller's.

    #[inline(always)]
    fn splat(self, block: &Block) -> Self::W {
        Words(unsafe { S::V::splat_all(block) })
    }

    #[inline(always)]
    unsafe fn load(self, from: *const u8) -> Self::W {
        unsafe { Words::load(from) }
    }

    #[inline(always)]
    unsafe fn store(self, x: Self::W, to: *mut u8) {
        unsafe { Words::store(x, to) }
    }

    #[inline(always)]
    unsafe fn load_pairs(self, from: *const u8, len: usize) -> [Self::W; 2] {
        unsafe { Words::load_pairs(from, len) }
    }

    #[inline(always)]
    unsafe fn store_pairs(self, x: [Self::W; 2], to: *mut u8, len: usize) {
        unsafe { Words::store_pairs(x, to, len) }
    }

    #[cfg(feature = "research")]
    #[inline(always)]
    fn load_reversed(self, row: &[Block]) -> Self::W {
        assert!(row.len() == Self::LANES);
        // SAFETY: there are as many blocks as registers have.
        unsafe { Words::load_reversed(row.as_ptr().cast()) }
    }

    #[cfg(feature = "research")]
    #[inline(always)]
    unsafe fn load_parts(self, from: *const u8, n: usize) -> Self::W {
        unsafe { Words::load_parts(from, n) }
    }

    #[cfg(feature = "research")]
    #[inline(always)]
    unsafe fn store_parts(self, x: Self::W, to: *mut u8, n: usize) {
        unsafe { Words::store_parts(x, to, n) }
    }

    #[inline(always)]
    unsafe fn load_part(self, from: *const u8, len: usize) -> Self::W {
        unsafe { Words::load_part(from, len) }
    }

    #[inline(always)]
    unsafe fn store_part(self, x: Self::W, to: *mut u8, len: usize) {
        unsafe { Words::store_part(x, to, len) }
    }

    #[inline(always)]
    unsafe fn load_everywhere(self, from: *const u8, len: usize) -> Self::W {
        Words([unsafe { S::V::load_everywhere(from, len) }; U])
    }

    #[inline(always)]
    unsafe fn load_first(self, from: *const u8, len: usize) -> Self::W {
        unsafe {
            let mut x = [S::V::splat(&[0; 16]); U];
            x[0] = S::V::load_first(from, len);
            Words(x)
        }
    }

    #[inline(always)]
    unsafe fn store_first(self, x: Self::W, to: *mut u8, len: usize) {
        unsafe { x.0[0].store_first(to, len) }
    }

    #[inline(always)]
    unsafe fn gather(self, at: impl Starts, offset: usize) -> Self::W {
        unsafe { Words::gather(at, offset) }
    }

    #[inline(always)]
    unsafe fn scatter(self, x: Self::W, to: impl Starts, offset: usize) {
        unsafe { Words::scatter(x, to, offset) }
    }

    // Of 32 there are. Measured on Zen 5: with registers of 256 bits a row takes 1.03 to 1.08 of
    // the time, with four of 512 bits 1.01; with eight 0.80.
    const SPARE: bool = S::V::IS_LINE && U > 4;

    #[inline(always)]
    unsafe fn gather_register<const IN_ORDER: bool>(
        self,
        x: &mut Self::W,
        u: usize,
        at: impl Starts,
        offset: usize,
    ) {
        unsafe { x.gather_register::<IN_ORDER>(u, at, offset) }
    }

    #[inline(always)]
    unsafe fn scatter_register(
        self,
        row: *const Self::W,
        u: usize,
        to: impl Starts,
        offset: usize,
    ) {
        let mut l = u * S::V::BLOCKS;
        while l < (u + 1) * S::V::BLOCKS {
            unsafe {
                let to = to.of(l).wrapping_add(offset).cast::<Block>();
                to.write_unaligned(row.cast::<Block>().add(l).read());
            }
            l += 1;
        }
    }

    const LINES: bool = S::V::IS_LINE && U <= 4;

    #[inline(always)]
    unsafe fn gather_line(
        self,
        rows: *mut [Self::W; LINE],
        u: usize,
        at: impl Starts,
        offset: usize,
    ) {
        unsafe { Words::gather_line(rows, u, at, offset) }
    }

    #[inline(always)]
    unsafe fn scatter_line(
        self,
        rows: *const [Self::W; LINE],
        u: usize,
        to: impl Starts,
        offset: usize,
    ) {
        unsafe { Words::scatter_line(rows, u, to, offset) }
    }

    #[inline(always)]
    unsafe fn gather_part(self, of: impl Fn(usize) -> (*const u8, usize) + Copy) -> Self::W {
        Words(unsafe { S::V::gather_part(of) })
    }

    #[inline(always)]
    unsafe fn scatter_part(self, x: Self::W, of: impl Fn(usize) -> (*mut u8, usize) + Copy) {
        unsafe { S::V::scatter_part(x.0, of) }
    }

    #[inline(always)]
    fn numbers<const L: usize>(self, numbers: &[usize; L]) -> Self::W {
        unsafe { Words::numbers(numbers) }
    }

    const WINDOWS: bool = S::V::WINDOWS;

    #[inline(always)]
    fn windows(
        self,
        now: &[Words<S::V, 1>; 2],
        beyond: &[Words<S::V, 1>; 2],
        first: usize,
    ) -> Self::W {
        let mut out = self.splat(&[0; 16]);
        let mut u = 0;
        while u < U {
            let (now, beyond) = (now[u % 2].0[0], beyond[u % 2].0[0]);
            // SAFETY: values of the vector type exist.
            out.0[u] = unsafe { now.window(beyond, (first + u) / 2 % 8) };
            u += 1;
        }
        out
    }

    #[inline(always)]
    fn iota(self) -> Self::W {
        const { assert!(Self::LANES <= IOTA.len()) };
        // SAFETY: there are so many blocks.
        unsafe { self.load(IOTA.as_ptr().cast()) }
    }

    #[inline(always)]
    fn sum(self, x: Self::W) -> Words<S::V, 1> {
        Words::sum(x)
    }

    #[inline(always)]
    fn fold(self, x: Words<S::V, 1>) -> Words<S::V, 1> {
        Words([unsafe { x.0[0].fold() }])
    }

    #[inline(always)]
    fn fold_each(self, x: &[Words<S::V, 1>; MAX_UNIT]) -> Words<S::V, U> {
        fold_each(x)
    }

    #[inline(always)]
    fn add_products(
        self,
        sums: Sums<Self>,
        x: Self::W,
        y: (Self::W, Option<Self::W>),
    ) -> Sums<Self> {
        add_products(sums, x, y)
    }

    #[inline(always)]
    fn reduce<F: Product>(self, sums: Sums<Self>) -> Self::W {
        let mut out = [self.splat(&[0; 16]).0[0]; U];
        out[0] = reduce_sums::<F, _>(sums);
        Words(out)
    }

    #[inline(always)]
    fn running(self, before: Self::W, x: Self::W) -> Self::W {
        running(before, x)
    }

    #[inline(always)]
    fn horner<F: Product>(self, before: Self::W, x: Self::W, powers: &[Block]) -> Self::W {
        horner::<F, _, _>(before, x, powers)
    }

    #[inline(always)]
    fn shift_in(self, before: Self::W, x: Self::W) -> Self::W {
        unsafe { Words::shift_in(before, x) }
    }

    #[inline(always)]
    unsafe fn load_before(self, before: Self::W, from: *const u8) -> Self::W {
        unsafe { Words::load_before(before, from) }
    }

    #[inline(always)]
    fn first(self, x: Self::W) -> Words<S::V, 1> {
        Words([x.0[0]])
    }

    #[inline(always)]
    fn widen(self, x: Words<S::V, 1>) -> Self::W {
        let mut out = self.splat(&[0; 16]);
        out.0[0] = x.0[0];
        out
    }

    #[inline(always)]
    fn at_end(self, x: Words<S::V, 1>) -> Self::W {
        let mut out = self.splat(&[0; 16]);
        out.0[U - 1] = x.0[0];
        out
    }

    #[inline(always)]
    fn repeat(self, x: Words<S::V, 1>) -> Self::W {
        Words([x.0[0]; U])
    }

    #[inline(always)]
    fn last(self, x: Self::W) -> Block {
        unsafe { x.0[U - 1].last() }
    }
}

/// 0 to 31 as little-endian blocks.
const IOTA: [Block; 32] = {
    let mut out = [[0; 16]; 32];
    let mut i = 0;
    while i < 32 {
        out[i][0] = i as u8;
        i += 1;
    }
    out
};
