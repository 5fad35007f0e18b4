//! AES with its rounds interleaved over registers: round keys in registers, and those of lanes.
//!
//! `unsafe` here rests on one fact: values of a vector type exist only where the CPU has its
//! instructions; where there are none yet, the caller says so.
#![allow(unsafe_code)]

use super::vector::Vector;
use super::words::Words;
use crate::block::Block;
use crate::expanded::Expanded;
use crate::isa::{HELD_KEYS, is_tweaked};
use crate::lane_keys::LaneKeys;
use crate::schedule::{Uses, Way};
use core::mem::MaybeUninit;

/// A key broadcast to registers: the schedules that a mode uses.
pub(crate) struct Broadcast<V> {
    enc: Schedule<V>,
    dec: Schedule<V>,
    second: Schedule<V>,
    rounds: usize,
}

/// The round keys of a schedule in use, as many as its key size has. Of others nothing is written.
struct Schedule<V> {
    keys: [MaybeUninit<V>; 15],
    used: bool,
}

impl<V: Vector> Schedule<V> {
    /// # Safety
    /// The CPU has the instructions of `V`.
    #[inline(always)]
    unsafe fn broadcast(keys: &[Block; 15], rounds: usize, used: bool) -> Self {
        let mut out = [const { MaybeUninit::uninit() }; 15];
        // Those of longer keys are in a line of their own, which need not be in the cache. They come first:
        // behind the others, their branch would lie between the others' loads and what spreads them over
        // registers, for which one instruction suffices otherwise.
        let mut r = 11;
        while used && rounds > 10 && r < 15 {
            // SAFETY: the caller's.
            out[r].write(unsafe { V::splat(&keys[r]) });
            r += 1;
        }
        r = 0;
        while used && r < 11 {
            // SAFETY: the caller's.
            out[r].write(unsafe { V::splat(&keys[r]) });
            r += 1;
        }
        Schedule { keys: out, used }
    }

    /// The first round keys, if they are `wanted`.
    #[inline(always)]
    fn first(&self, wanted: bool) -> [V; 11] {
        if !wanted {
            // SAFETY: a key of the vector type exists, so the CPU has its instructions.
            return [unsafe { V::splat(&[0; 16]) }; 11];
        }
        assert!(self.used);
        // SAFETY: these are written of all schedules in use.
        unsafe { V::first_keys(&self.keys) }
    }

    /// Round key `r`.
    ///
    /// # Safety
    /// The schedule is in use, and its key size has one of that number.
    #[inline(always)]
    unsafe fn get(&self, r: usize) -> V {
        // SAFETY: it was written.
        unsafe { self.keys[r].assume_init() }
    }
}

/// # Safety
/// The CPU has the instructions of `V`.
#[inline(always)]
pub(crate) unsafe fn broadcast<V: Vector>(
    key: &Expanded,
    dec: &[Block; 15],
    uses: Uses,
) -> Broadcast<V> {
    // SAFETY: the caller's.
    let rounds = key.rounds();
    unsafe {
        Broadcast {
            enc: Schedule::broadcast(&key.enc, rounds, uses.forward),
            dec: Schedule::broadcast(dec, rounds, uses.inverse),
            second: Schedule::broadcast(&key.second, rounds, uses.second),
            rounds,
        }
    }
}

/// Round keys of the equivalent inverse cipher, FIPS 197 section 5.3.5.
///
/// # Safety
/// The CPU has the instructions of `V`.
#[inline(always)]
pub(crate) unsafe fn inverse_schedule<V: Vector>(enc: &[Block; 15], rounds: usize) -> [Block; 15] {
    let (mut mixed, mut dec) = ([[0; 16]; 15], [[0; 16]; 15]);
    let mut r = 1;
    while r < rounds {
        // SAFETY: the caller's; a register has no more blocks than follow in both arrays.
        unsafe {
            let from = r.min(15 - V::BLOCKS);
            let x = V::load(enc[from..].as_ptr().cast());
            x.aesimc().store(mixed[from..].as_mut_ptr().cast());
        }
        r += V::BLOCKS;
    }
    dec[0] = enc[rounds];
    dec[rounds] = enc[0];
    let mut r = 1;
    while r < rounds {
        dec[r] = mixed[rounds - r];
        r += 1;
    }
    dec
}

/// The whole cipher on the registers `$x`, with `$key` round key `$r`, and `$longer` the
/// same of those that only longer keys have. Nine rounds, two more for 192-bit keys, two
/// more for 256-bit keys, and the last: the key size is no type parameter.
macro_rules! rounds {
    (
        $x:expr, $rounds:expr, ($xor:ident, $mid:ident, $last:ident),
        |$r:ident| $key:expr, $longer:expr
    ) => {{
        let x = first_round!($x, ($xor, $mid), |$r| $key);
        rest!(x, $rounds, ($mid, $last), |$r| $key, $longer, |last| last)
    }};
}

/// The beginning of [`rounds`]: the first key and the first round.
macro_rules! first_round {
    ($x:expr, ($xor:ident, $mid:ident), |$r:ident| $key:expr) => {{
        let mut x = $x;
        let $r = 0;
        // SAFETY: values of the vector type exist.
        unsafe { V::$xor(&mut x, &$key) };
        let $r = 1;
        // SAFETY: as above.
        unsafe { V::$mid(&mut x, &$key) };
        x
    }};
}

/// What follows it; of the last round key `$k` it takes `$end`. `$between` is done before each of the
/// eight rounds that keys of all sizes have.
macro_rules! rest {
    (
        $x:expr, $rounds:expr, ($mid:ident, $last:ident), |$r:ident| $key:expr, $longer:expr,
        |$k:ident| $end:expr $(, |$y:ident| $between:expr)?
    ) => {{
        let mut x = $x;
        macro_rules! round {
            ($at:literal) => {{
                let $r = $at;
                $(
                    let $y = &mut x;
                    $between;
                )?
                // SAFETY: values of the vector type exist.
                unsafe { V::$mid(&mut x, &$key) };
            }};
        }
        macro_rules! longer {
            (10) => {{
                let $r = 10;
                // SAFETY: as above.
                unsafe { V::$mid(&mut x, &$key) };
            }};
            ($at:literal) => {{
                let $r = $at;
                // SAFETY: as above.
                unsafe { V::$mid(&mut x, &$longer) };
            }};
        }
        macro_rules! last {
            (10) => {{
                let $r = 10;
                // SAFETY: as above.
                unsafe {
                    let $k = &$key;
                    V::$last(&mut x, $end)
                };
            }};
            ($at:literal) => {{
                let $r = $at;
                // SAFETY: as above.
                unsafe {
                    let $k = &$longer;
                    V::$last(&mut x, $end)
                };
            }};
        }
        // No loop: constant indices are what lets the compiler keep the keys in
        // registers from early on.
        round!(2);
        round!(3);
        round!(4);
        round!(5);
        round!(6);
        round!(7);
        round!(8);
        round!(9);
        if $rounds > 10 {
            longer!(10);
            longer!(11);
            if $rounds > 12 {
                longer!(12);
                longer!(13);
                last!(14);
            } else {
                last!(12);
            }
        } else {
            last!(10);
        }
        x
    }};
}

impl<V: Vector> Broadcast<V> {
    /// What a loop holds of the schedules that `uses` says, all of which are in use.
    #[inline(always)]
    pub(crate) fn load(&self, rounds: usize, uses: Uses) -> Loaded<'_, V> {
        Loaded {
            enc: self.enc.first(uses.forward),
            dec: self.dec.first(uses.inverse),
            second: self.second.first(uses.second),
            all: self,
            rounds,
        }
    }

    #[inline(always)]
    pub(crate) fn rounds(&self) -> usize {
        self.rounds
    }
}

/// What a loop holds of a key: the round keys of AES-128. Those that longer keys have
/// beside them it takes from memory.
#[derive(Clone, Copy)]
pub(crate) struct Loaded<'k, V> {
    enc: [V; 11],
    dec: [V; 11],
    second: [V; 11],
    all: &'k Broadcast<V>,
    rounds: usize,
}

impl<V: Vector> Loaded<'_, V> {
    #[inline(always)]
    pub(crate) fn encrypt<const U: usize>(&self, x: [V; U]) -> [V; U] {
        rounds!(
            x,
            self.rounds,
            (xor_all, aesenc_all, aesenclast_all),
            |r| self.enc[r],
            self.all.enc.get(r)
        )
    }

    /// See [`Isa::encrypt_while`](crate::isa::Isa::encrypt_while).
    #[inline(always)]
    pub(crate) fn encrypt_while<const U: usize, const IN_ORDER: bool>(
        &self,
        x: [V; U],
        mut between: impl FnMut(usize),
    ) -> [V; U] {
        rest!(
            self.first_round(x),
            self.rounds,
            (aesenc_all, aesenclast_all),
            |r| self.enc[r],
            self.all.enc.get(r),
            |last| last,
            |x| {
                if IN_ORDER {
                    // SAFETY: values of the vector type exist.
                    unsafe { V::hold_all(x) };
                }
                between(r - 1)
            }
        )
    }

    /// See [`Isa::first_round`](crate::isa::Isa::first_round).
    #[inline(always)]
    pub(crate) fn first_round<const U: usize>(&self, x: [V; U]) -> [V; U] {
        first_round!(x, (xor_all, aesenc_all), |r| self.enc[r])
    }

    #[inline(always)]
    pub(crate) fn encrypt_rest<const U: usize>(&self, x: [V; U]) -> [V; U] {
        rest!(
            x,
            self.rounds,
            (aesenc_all, aesenclast_all),
            |r| self.enc[r],
            self.all.enc.get(r),
            |last| last
        )
    }

    /// See [`Isa::between`](crate::isa::Isa::between).
    #[inline(always)]
    pub(crate) fn between<const U: usize>(
        &self,
        way: Way,
        x: [V; U],
        first: impl FnOnce(V) -> [V; U],
        last: impl Fn(V) -> [V; U],
    ) -> [V; U] {
        macro_rules! between {
            ($schedule:ident, $mid:ident, $last:ident) => {{
                let mut x = x;
                // SAFETY: values of the vector type exist.
                unsafe {
                    V::xor_each(&mut x, &first(self.$schedule[0]));
                    V::$mid(&mut x, &self.$schedule[1]);
                }
                rest!(
                    x,
                    self.rounds,
                    ($mid, $last),
                    |r| self.$schedule[r],
                    self.all.$schedule.get(r),
                    |key| &last(*key)
                )
            }};
        }
        match way {
            Way::Encrypt => between!(enc, aesenc_all, aesenclast_each),
            Way::Decrypt => between!(dec, aesdec_all, aesdeclast_each),
            Way::EncryptSecond => between!(second, aesenc_all, aesenclast_each),
        }
    }

    #[inline(always)]
    pub(crate) fn decrypt<const U: usize>(&self, x: [V; U]) -> [V; U] {
        rounds!(
            x,
            self.rounds,
            (xor_all, aesdec_all, aesdeclast_all),
            |r| self.dec[r],
            self.all.dec.get(r)
        )
    }

    #[inline(always)]
    pub(crate) fn encrypt_second<const U: usize>(&self, x: [V; U]) -> [V; U] {
        rounds!(
            x,
            self.rounds,
            (xor_all, aesenc_all, aesenclast_all),
            |r| self.second[r],
            self.all.second.get(r)
        )
    }

    #[inline(always)]
    pub(crate) fn tweaked<const U: usize>(&self, way: Way, x: [V; U], tweak: [V; U]) -> [V; U] {
        match way {
            Way::Encrypt => rounds!(
                x,
                10,
                (xor_each, aesenc_each, aesenclast_each),
                |r| tweaked_key([self.enc[r]; U], r, &tweak),
                tweaked_key([self.all.enc.get(r); U], r, &tweak)
            ),
            Way::Decrypt => {
                let tweak = inverse_mix(tweak);
                rounds!(
                    x,
                    10,
                    (xor_each, aesdec_each, aesdeclast_each),
                    |r| tweaked_key([self.dec[r]; U], r, &tweak),
                    tweaked_key([self.all.dec.get(r); U], r, &tweak)
                )
            }
            Way::EncryptSecond => rounds!(
                x,
                10,
                (xor_each, aesenc_each, aesenclast_each),
                |r| tweaked_key([self.second[r]; U], r, &tweak),
                tweaked_key([self.all.second.get(r); U], r, &tweak)
            ),
        }
    }
}

/// The registers of round key `r` with the tweak, if it is one that is tweaked.
#[inline(always)]
unsafe fn tweaked_key<V: Vector, const U: usize>(
    mut key: [V; U],
    r: usize,
    tweak: &[V; U],
) -> [V; U] {
    if is_tweaked(r) {
        // SAFETY: values of the vector type exist.
        unsafe { V::xor_each(&mut key, tweak) };
    }
    key
}

#[inline(always)]
pub(crate) fn inverse_mix<V: Vector, const U: usize>(mut x: [V; U]) -> [V; U] {
    let mut u = 0;
    while u < U {
        // SAFETY: values of the vector type exist.
        x[u] = unsafe { x[u].aesimc() };
        u += 1;
    }
    x
}

// A row of lane keys has a block for each lane, at least `U * V::BLOCKS`.

#[inline(always)]
pub(crate) fn encrypt_each<V: Vector, const U: usize, const L: usize>(
    keys: &LaneKeys<L>,
    rounds: usize,
    x: [V; U],
) -> [V; U] {
    rounds!(
        x,
        rounds,
        (xor_each, aesenc_each, aesenclast_each),
        |r| V::load_all(keys.enc(r)),
        V::load_all(keys.enc(r))
    )
}

/// See [`Isa::encrypt_held`](crate::isa::Isa::encrypt_held).
#[inline(always)]
pub(crate) fn encrypt_held<V: Vector, const U: usize, const L: usize>(
    keys: &LaneKeys<L>,
    (first, held): (&[Words<V, U>; HELD_KEYS], usize),
    rounds: usize,
    x: [V; U],
    mut between: impl FnMut(usize),
) -> [V; U] {
    rest!(
        first_round!(x, (xor_each, aesenc_each), |r| first[r].0),
        rounds,
        (aesenc_each, aesenclast_each),
        |r| match first.get(r) {
            Some(key) if r < held => key.0,
            _ => V::load_all(keys.enc(r)),
        },
        V::load_all(keys.enc(r)),
        |last| last,
        |x| {
            // SAFETY: values of the vector type exist.
            unsafe { V::hold_all(x) };
            between(r - 1)
        }
    )
}

#[inline(always)]
pub(crate) fn decrypt_each<V: Vector, const U: usize, const L: usize>(
    keys: &LaneKeys<L>,
    rounds: usize,
    x: [V; U],
) -> [V; U] {
    rounds!(
        x,
        rounds,
        (xor_each, aesdec_each, aesdeclast_each),
        |r| V::load_all(keys.dec(r)),
        V::load_all(keys.dec(r))
    )
}

#[inline(always)]
pub(crate) fn encrypt_second_each<V: Vector, const U: usize, const L: usize>(
    keys: &LaneKeys<L>,
    rounds: usize,
    x: [V; U],
) -> [V; U] {
    rounds!(
        x,
        rounds,
        (xor_each, aesenc_each, aesenclast_each),
        |r| V::load_all(keys.second(r)),
        V::load_all(keys.second(r))
    )
}

#[inline(always)]
pub(crate) fn tweaked_each<V: Vector, const U: usize, const L: usize>(
    keys: &LaneKeys<L>,
    way: Way,
    x: [V; U],
    tweak: [V; U],
) -> [V; U] {
    match way {
        Way::Encrypt => rounds!(
            x,
            10,
            (xor_each, aesenc_each, aesenclast_each),
            |r| tweaked_key(V::load_all(keys.enc(r)), r, &tweak),
            tweaked_key(V::load_all(keys.enc(r)), r, &tweak)
        ),
        Way::Decrypt => {
            let tweak = inverse_mix(tweak);
            rounds!(
                x,
                10,
                (xor_each, aesdec_each, aesdeclast_each),
                |r| tweaked_key(V::load_all(keys.dec(r)), r, &tweak),
                tweaked_key(V::load_all(keys.dec(r)), r, &tweak)
            )
        }
        Way::EncryptSecond => rounds!(
            x,
            10,
            (xor_each, aesenc_each, aesenclast_each),
            |r| tweaked_key(V::load_all(keys.second(r)), r, &tweak),
            tweaked_key(V::load_all(keys.second(r)), r, &tweak)
        ),
    }
}
