//! Key expansion of several keys at once, one in each block of the registers.
//!
//! `unsafe` here rests on the caller's word that the CPU has the instructions of the vector
//! type, or on a value of it, which exists only there.
#![allow(unsafe_code)]

use super::rounds::inverse_mix;
use super::vector::{Vector, W0, W1, W2, W3, ZERO, bytes_from};
use super::words::Words;
use crate::block::{Block, LINE};
use crate::expanded::Expanded;
use crate::isa::RoundKeys;
use crate::lane_keys::LaneKeys;
use crate::schedule::{self, Uses, WhichKey};
use core::mem::offset_of;
use core::ptr;

/// RotWord of word 1 or word 3, SubWord's input, in all four columns: equal
/// columns make ShiftRows the identity, so AESENCLAST is SubBytes and a key.
const ROT1: Block = bytes_from([5, 6, 7, 4], [5, 6, 7, 4], [5, 6, 7, 4], [5, 6, 7, 4]);
const ROT3: Block = bytes_from(
    [13, 14, 15, 12],
    [13, 14, 15, 12],
    [13, 14, 15, 12],
    [13, 14, 15, 12],
);
const ALL3: Block = bytes_from(W3, W3, W3, W3);
const UP1: Block = bytes_from(ZERO, W0, W1, W2);
const UP2: Block = bytes_from(ZERO, ZERO, W0, W1);
const LOW_OF: Block = bytes_from(W0, W1, ZERO, ZERO);
const LOW_TO_HIGH: Block = bytes_from(ZERO, ZERO, W0, W1);
const HIGH_TO_LOW: Block = bytes_from(W2, W3, ZERO, ZERO);

/// The round constants, in all columns.
const CONSTANTS: [Block; 10] = {
    let mut all = [[0; 16]; 10];
    let mut value = 1u8;
    let mut i = 0;
    while i < 10 {
        let word = [value, 0, 0, 0];
        all[i] = bytes_from(word, word, word, word);
        value = value << 1 ^ ((value >> 7) * 0x1b);
        i += 1;
    }
    all
};

/// Each word the sum of itself and all before it, and `t`.
#[inline(always)]
unsafe fn spread<V: Vector>(w: V, t: V) -> V {
    // SAFETY: a value of the vector type exists.
    unsafe {
        let w = w.xor(w.shuffle(V::splat(&UP1)));
        w.xor(w.shuffle(V::splat(&UP2))).xor(t)
    }
}

/// The next six words of a 192-bit key's schedule: four in the first, two in the
/// low half of the second.
#[inline(always)]
unsafe fn six_words<V: Vector>(a: V, b: V, constant: &Block) -> (V, V) {
    // SAFETY: a value of the vector type exists.
    unsafe {
        let t = b.shuffle(V::splat(&ROT1)).aesenclast(V::splat(constant));
        let a = spread(a, t);
        let low = b.xor(b.shuffle(V::splat(&UP1)));
        let b = low.xor(a.shuffle(V::splat(&ALL3)));
        (a, b.shuffle(V::splat(&LOW_OF)))
    }
}

/// FIPS 197 section 5.2 for keys of `key_bytes` bytes, one in each block of the
/// registers: the bytes of `first` and then those of `second`. `out` is given each round
/// key: its number, that of the register, and the register.
///
/// # Safety
/// The CPU has the instructions of `V`.
#[inline(always)]
unsafe fn schedule<V: Vector, const U: usize>(
    first: [V; U],
    second: [V; U],
    key_bytes: usize,
    mut out: impl FnMut(usize, usize, V),
) {
    let (mut a, mut b) = (first, second);
    // Step by step in all registers, none of which would keep the CPU busy by itself.
    macro_rules! all {
        ($u:ident => $f:expr) => {{
            let mut $u = 0;
            while $u < U {
                $f;
                $u += 1;
            }
        }};
    }
    // SAFETY: the caller's, that the CPU has the instructions.
    unsafe {
        all!(u => out(0, u, a[u]));
        match key_bytes {
            16 => {
                let mut r = 1;
                while r < 11 {
                    all!(u => {
                        let t = a[u].shuffle(V::splat(&ROT3));
                        a[u] = spread(a[u], t.aesenclast(V::splat(&CONSTANTS[r - 1])));
                        out(r, u, a[u]);
                    });
                    r += 1;
                }
            }
            24 => {
                // Six words a step, four in `a` and two in the low half of `b`; two steps
                // make three round keys.
                let mut r = 0;
                while r < 12 {
                    let i = r / 3 * 2;
                    all!(u => {
                        let low = b[u].shuffle(V::splat(&LOW_OF));
                        (a[u], b[u]) = six_words(a[u], b[u], &CONSTANTS[i]);
                        out(r + 1, u, low.xor(a[u].shuffle(V::splat(&LOW_TO_HIGH))));
                        let low = b[u].shuffle(V::splat(&LOW_TO_HIGH));
                        out(r + 2, u, a[u].shuffle(V::splat(&HIGH_TO_LOW)).xor(low));
                        (a[u], b[u]) = six_words(a[u], b[u], &CONSTANTS[i + 1]);
                        out(r + 3, u, a[u]);
                    });
                    r += 3;
                }
            }
            _ => {
                all!(u => out(1, u, b[u]));
                let mut r = 2;
                while r < 15 {
                    all!(u => {
                        let t = b[u].shuffle(V::splat(&ROT3));
                        a[u] = spread(a[u], t.aesenclast(V::splat(&CONSTANTS[r / 2 - 1])));
                        out(r, u, a[u]);
                    });
                    if r < 14 {
                        all!(u => {
                            let t = a[u].shuffle(V::splat(&ALL3));
                            b[u] = spread(b[u], t.aesenclast(V::splat(&[0; 16])));
                            out(r + 1, u, b[u]);
                        });
                    }
                    r += 2;
                }
            }
        }
    }
}

/// The schedules of keys that lie in registers, one in each block.
#[inline(always)]
pub(crate) fn expand_row<V: Vector, const U: usize, const L: usize>(
    keys: &mut LaneKeys<L>,
    raw: [Words<V, U>; 2],
    bytes: usize,
    which: WhichKey,
) {
    keys.set_rounds(bytes / 4 + 6);
    // SAFETY: values of the vector type exist, and a row of lane keys has `U * V::BLOCKS`
    // blocks.
    unsafe {
        schedule(
            raw[0].0,
            raw[1].0,
            bytes,
            #[inline(always)]
            |r, u, k| {
                k.store(match which {
                    WhichKey::First => keys.enc_mut(r, u * V::BLOCKS),
                    WhichKey::Second => keys.second_mut(r, u * V::BLOCKS),
                });
            },
        );
    }
}

/// The schedule of a key that lies in registers of one block.
#[inline(always)]
pub(crate) fn expand_one<V: Vector, const U: usize>(
    key: &mut Expanded,
    raw: [Words<V, U>; 2],
    bytes: usize,
) {
    const { assert!(U * V::BLOCKS == 1) };
    // SAFETY: values of the vector type exist, and a register has one block.
    unsafe {
        schedule(
            raw[0].0,
            raw[1].0,
            bytes,
            #[inline(always)]
            |r, _, k| k.store(key.enc[r].as_mut_ptr()),
        );
    }
}

/// The round keys of 128-bit keys that lie in registers.
#[inline(always)]
pub(crate) fn schedule_row<V: Vector, const U: usize>(raw: Words<V, U>) -> RoundKeys<Words<V, U>> {
    let mut out = [raw; 11];
    // SAFETY: values of the vector type exist.
    unsafe {
        schedule(
            raw.0,
            raw.0,
            16,
            #[inline(always)]
            |r, u, k| out[r].0[u] = k,
        );
    }
    out
}

/// Gives each lane what `uses` says of its key in `of`.
///
/// # Safety
/// The CPU has the instructions of `V`.
#[inline(always)]
pub(crate) unsafe fn lane_keys<V: Vector, const U: usize, const L: usize>(
    keys: &mut LaneKeys<L>,
    of: &[&Expanded; L],
    uses: Uses,
) {
    const { assert!(U * V::BLOCKS <= L) };
    let rounds = of[0].rounds();
    // SAFETY: the caller's; there is a key for each lane.
    unsafe {
        if uses.forward || uses.inverse {
            lane_schedules::<V, U, L>(keys, of, WhichKey::First);
        }
        if uses.inverse {
            let mut r = 0;
            while r <= rounds {
                let row: [V; U] = V::load_all(keys.enc(rounds - r));
                let row = if r == 0 || r == rounds {
                    row
                } else {
                    inverse_mix(row)
                };
                V::store_all(&row, keys.dec_mut(r));
                r += 1;
            }
        }
        if uses.second {
            lane_schedules::<V, U, L>(keys, of, WhichKey::Second);
        }
        let mut i = 0;
        if const { V::IS_LINE } && uses.constants > 2 {
            const SUB: usize = offset_of!(Expanded, sub);
            gather_blocks::<V, U, L, SUB, { schedule::CONSTANTS }>(of, |i| {
                keys.subkey_mut(i).as_mut_ptr().cast()
            });
            i = uses.constants;
        }
        while i < uses.constants {
            let row: [V; U] = gather_keys(of, offset_of!(Expanded, sub) + i * 16);
            V::store_all(&row, keys.subkey_mut(i).as_mut_ptr().cast());
            i += 1;
        }
    }
}

/// Makes the schedules of lanes of the keys themselves, where a register holds several:
/// to collect so many round keys costs more, and there are more lines of the cache to wait
/// for. One after the other, expanding costs more.
///
/// # Safety
/// The CPU has the instructions of `V`; there is a key for each lane.
#[inline(always)]
unsafe fn lane_schedules<V: Vector, const U: usize, const L: usize>(
    keys: &mut LaneKeys<L>,
    of: &[&Expanded; L],
    which: WhichKey,
) {
    let rounds = of[0].rounds();
    let offset = match which {
        WhichKey::First => offset_of!(Expanded, enc),
        WhichKey::Second => offset_of!(Expanded, second),
    };
    // SAFETY: the caller's.
    unsafe {
        if const { V::BLOCKS > 1 && U > 1 } {
            let raw = [gather_keys(of, offset), gather_keys(of, offset + 16)];
            expand_row(keys, raw.map(Words::<V, U>), (rounds - 6) * 4, which);
            return;
        }
        keys.set_rounds(rounds);
        if const { V::IS_LINE } {
            match (which, rounds) {
                (WhichKey::First, 10) => {
                    gather_blocks::<V, U, L, FIRST, 11>(of, |r| keys.enc_mut(r, 0))
                }
                (WhichKey::First, _) => {
                    gather_blocks::<V, U, L, FIRST, 15>(of, |r| keys.enc_mut(r, 0))
                }
                (WhichKey::Second, 10) => {
                    gather_blocks::<V, U, L, SECOND, 11>(of, |r| keys.second_mut(r, 0))
                }
                (WhichKey::Second, _) => {
                    gather_blocks::<V, U, L, SECOND, 15>(of, |r| keys.second_mut(r, 0))
                }
            }
            return;
        }
        // A copy stays in registers: for all the compiler knows, keys are stored over `of`.
        let copy = *of;
        let of = match const { U == 1 } {
            true => &copy,
            false => of,
        };
        for r in 0..=rounds.min(14) {
            let row: [V; U] = gather_keys(of, offset + r * 16);
            V::store_all(
                &row,
                match which {
                    WhichKey::First => keys.enc_mut(r, 0),
                    WhichKey::Second => keys.second_mut(r, 0),
                },
            );
        }
    }
}

const FIRST: usize = offset_of!(Expanded, enc);
const SECOND: usize = offset_of!(Expanded, second);

/// Writes to `to(i)` block `i` of the `N` blocks from `OFFSET` on of keys, one for each lane: by lines of the
/// cache, of which other blocks are not read.
///
/// # Safety
/// The CPU has the instructions of `V`; there is a key for each lane, blocks there, and room for a row.
#[inline(always)]
unsafe fn gather_blocks<
    V: Vector,
    const U: usize,
    const L: usize,
    const OFFSET: usize,
    const N: usize,
>(
    of: &[&Expanded; L],
    mut to: impl FnMut(usize) -> *mut u8,
) {
    let before = const { OFFSET / 16 % LINE };
    let mut u = 0;
    while u < U {
        let keys: [&Expanded; LINE] = core::array::from_fn(|l| of[u * LINE + l]);
        let mut i = 0;
        while i < before + N {
            let (skipped, bytes) = (before.saturating_sub(i), (before + N - i).min(LINE) * 16);
            // SAFETY: the caller's; bytes of others are masked.
            let line = |key: &Expanded| unsafe {
                let at = ptr::from_ref(key)
                    .cast::<u8>()
                    .add(OFFSET - before * 16 + i * 16);
                V::load_blocks(at, skipped, bytes)
            };
            // SAFETY: as above.
            unsafe {
                let rows = V::transpose(keys.map(line));
                let mut r = skipped;
                while r * 16 < bytes {
                    rows[r].store(to(i + r - before).add(u * V::BLOCKS * 16));
                    r += 1;
                }
            }
            i += LINE;
        }
        u += 1;
    }
}

/// The blocks at `offset` of keys, one for each lane.
///
/// # Safety
/// The CPU has the instructions of `V`; there is a key for each lane, and a block there.
#[inline(always)]
unsafe fn gather_keys<V: Vector, const U: usize, const L: usize>(
    of: &[&Expanded; L],
    offset: usize,
) -> [V; U] {
    // SAFETY: the caller's.
    unsafe { V::gather_all(of.as_ptr().cast::<*const u8>(), offset) }
}

/// FIPS 197 section 5.2 for `V::BLOCKS` keys at once, one in each block of a
/// register.
///
/// All of `raw` have one length; `out[l]` receives what comes of `raw[l]`.
///
/// # Safety
/// The CPU has the instructions of `V`.
#[inline(always)]
pub(crate) unsafe fn expand<V: Vector>(raw: &[&[u8]], out: &mut [Expanded], which: WhichKey) {
    // SAFETY: the caller's, that the CPU has the instructions; loads and stores
    // are of whole arrays.
    unsafe {
        let key_bytes = raw[0].len();
        let rounds = key_bytes / 4 + 6;
        // The caller may have fewer keys than lanes: the last lanes repeat key 0.
        let mut first = [[0u8; 16]; 4];
        let mut second = [[0u8; 16]; 4];
        for l in 0..V::BLOCKS {
            let key = raw[if l < raw.len() { l } else { 0 }];
            first[l].copy_from_slice(&key[..16]);
            second[l][..key_bytes - 16].copy_from_slice(&key[16..]);
        }
        let first = V::load(first.as_ptr().cast());
        let second = V::load(second.as_ptr().cast());
        let mut rk = [first; 15];
        schedule(
            [first],
            [second],
            key_bytes,
            #[inline(always)]
            |r, _, k| rk[r] = k,
        );

        // Lanes without a key of their own did key 0's work and store it again.
        let place = |f: fn(&mut Expanded) -> *mut u8, out: &mut [Expanded]| {
            let mut to = [core::ptr::null_mut(); 4];
            for (to, key) in to.iter_mut().zip(&mut *out) {
                *to = f(key);
            }
            let first = to[0];
            to[out.len().min(4)..].fill(first);
            to
        };
        let to = match which {
            WhichKey::First => place(|key| key.enc.as_mut_ptr().cast(), out),
            WhichKey::Second => place(|key| key.second.as_mut_ptr().cast(), out),
        };
        for (r, k) in rk.iter().enumerate().take(rounds + 1) {
            k.scatter(to.as_ptr(), r * 16);
        }
        if which == WhichKey::Second {
            return;
        }
        let mut x = rk[0];
        for k in &rk[1..rounds] {
            x = x.aesenc(*k);
        }
        x = x.aesenclast(rk[rounds]);
        x.scatter(place(|key| key.sub.as_mut_ptr().cast(), out).as_ptr(), 0);
    }
}
