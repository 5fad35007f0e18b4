//! Any CPU: the bitsliced, constant-time software AES of the `aes` crate, four
//! blocks to a call.
//!
//! The bitsliced code works on several blocks at the price of one, but under one
//! key: a row whose lanes have different keys is done lane by lane.
//!
//! What is more than an operator is out of line: calls cost little beside bitsliced AES, and
//! inlined it was a quarter of the library's code.
//!
//! `unsafe` here rests on the contract of the pointer methods of [`Isa`].
#![allow(unsafe_code)]

use super::{Isa, Product, RoundKeys, Starts, Sums, Wide, is_tweaked};
use crate::block::Block;
use crate::expanded::{Expanded, RawKey};
use crate::gf128;
#[cfg(feature = "research")]
use crate::isa::PART;
use crate::lane_keys::LaneKeys;
use crate::schedule::{Uses, Way, WhichKey};
use crate::soft::Soft;
use core::ops::{BitAnd, BitXor};
use zeroize::Zeroize;

/// The portable form of a key.
pub(crate) struct SoftKey {
    /// Round keys of the cipher, its inverse and the second cipher.
    rows: [[Block; 15]; 3],
    first: Soft,
    second: Option<Soft>,
}

/// The token of the portable code, which every CPU can run.
#[derive(Clone, Copy)]
pub(crate) struct Portable<const LANES: usize>;

/// Blocks in memory order.
#[derive(Clone, Copy)]
pub(crate) struct Blocks<const N: usize>([u128; N]);

/// SubBytes on the four bytes of a word, by the bitsliced round of the `aes`
/// crate: equal columns make ShiftRows the identity, and MixColumns is undone.
fn sub_word(word: u32) -> u32 {
    let w = word.to_le_bytes();
    let mut block = aes::Block::from([w; 4].concat_16());
    aes::hazmat::cipher_round(&mut block, &Default::default());
    aes::hazmat::inv_mix_columns(&mut block);
    u32::from_le_bytes([block[0], block[1], block[2], block[3]])
}

trait Concat16 {
    fn concat_16(self) -> Block;
}

impl Concat16 for [[u8; 4]; 4] {
    fn concat_16(self) -> Block {
        let mut out = [0; 16];
        for (to, from) in out.chunks_exact_mut(4).zip(self) {
            to.copy_from_slice(&from);
        }
        out
    }
}

/// FIPS 197 section 5.2 (KeyExpansion).
fn schedule(raw: &[u8]) -> [Block; 15] {
    let words = raw.len() / 4;
    let rounds = words + 6;
    let mut w = [0u32; 60];
    for (w, bytes) in w.iter_mut().zip(raw.chunks_exact(4)) {
        *w = u32::from_le_bytes(bytes.try_into().expect("chunks of 4"));
    }
    let mut rcon = 1u8;
    for i in words..4 * (rounds + 1) {
        let mut t = w[i - 1];
        if i % words == 0 {
            t = sub_word(t.rotate_right(8)) ^ u32::from(rcon);
            rcon = rcon << 1 ^ ((rcon >> 7) * 0x1b);
        } else if words > 6 && i % words == 4 {
            t = sub_word(t);
        }
        w[i] = w[i - words] ^ t;
    }
    core::array::from_fn(|r| {
        let w: [u32; 4] = w[4 * r..4 * r + 4].try_into().expect("four words");
        w.map(u32::to_le_bytes).concat_16()
    })
}

/// Round keys of the equivalent inverse cipher, FIPS 197 section 5.3.5.
fn inverse(key: &Expanded) -> [Block; 15] {
    let rounds = key.rounds();
    let mut dec = [[0; 16]; 15];
    for (r, to) in dec.iter_mut().enumerate().take(rounds + 1) {
        let mut block = aes::Block::from(key.enc[rounds - r]);
        if r != 0 && r != rounds {
            aes::hazmat::inv_mix_columns(&mut block);
        }
        *to = block.into();
    }
    dec
}

/// A key's schedule; for the first one also CIPH_K(0^128).
fn expand(raw: &[u8], key: &mut Expanded, which: WhichKey) {
    let schedule = schedule(raw);
    if which == WhichKey::Second {
        key.second = schedule;
        return;
    }
    key.enc = schedule;
    let mut zero = [aes::Block::default()];
    Soft::new(raw).encrypt(&mut zero);
    key.sub[0] = zero[0].into();
}

impl<const N: usize> BitXor for Blocks<N> {
    type Output = Self;

    fn bitxor(self, rhs: Self) -> Self {
        Blocks(core::array::from_fn(|l| self.0[l] ^ rhs.0[l]))
    }
}

impl<const N: usize> BitAnd for Blocks<N> {
    type Output = Self;

    fn bitand(self, rhs: Self) -> Self {
        Blocks(core::array::from_fn(|l| self.0[l] & rhs.0[l]))
    }
}

fn product<F: Product>(a: u128, b: u128) -> u128 {
    let mul = match F::POLYVAL {
        true => gf128::mul_polyval,
        false => gf128::mul,
    };
    mul(u128::from_le(a), u128::from_le(b)).to_le()
}

impl<const N: usize> Wide for Blocks<N> {
    fn swap_bytes(self) -> Self {
        Blocks(self.0.map(u128::swap_bytes))
    }

    #[inline(never)]
    fn count(self, steps: Self) -> Self {
        Blocks(core::array::from_fn(|l| {
            let sum = u128::from_le(self.0[l]).wrapping_add(u128::from_le(steps.0[l]));
            sum.to_le()
        }))
    }

    #[inline(never)]
    fn count64(self, steps: Self) -> Self {
        self.count(steps)
    }

    #[inline(never)]
    fn count32(self, steps: Self) -> Self {
        Blocks(core::array::from_fn(|l| {
            let (a, n) = (u128::from_le(self.0[l]), u128::from_le(steps.0[l]));
            let low = (a as u32).wrapping_add(n as u32);
            (a >> 32 << 32 | u128::from(low)).to_le()
        }))
    }

    #[inline(never)]
    fn double(self) -> Self {
        Blocks(self.0.map(|a| gf128::double(u128::from_le(a)).to_le()))
    }

    #[inline(never)]
    fn mul<F: Product>(self, b: Self) -> Self {
        Blocks(core::array::from_fn(|l| product::<F>(self.0[l], b.0[l])))
    }

    #[inline(never)]
    fn add_halves(self, b: Self) -> Self {
        Blocks(core::array::from_fn(|l| {
            let (a, b) = (u128::from_le(self.0[l]), u128::from_le(b.0[l]));
            let high = (a >> 64).wrapping_add(b >> 64) << 64;
            (high | u128::from((a as u64).wrapping_add(b as u64))).to_le()
        }))
    }

    /// Products are made without it.
    #[inline(always)]
    fn sum_halves(self) -> Self {
        self
    }

    #[inline(never)]
    fn times_power(self, n: Self) -> Self {
        Blocks(core::array::from_fn(|l| {
            let a = u128::from_le(self.0[l]);
            let n = u128::from_le(n.0[l]) as u32 & 63;
            let out = a.checked_shr(128 - n).unwrap_or(0) as u64;
            (a << n ^ gf128::clmul(out, 0x87)).to_le()
        }))
    }

    #[inline(never)]
    fn times_byte_power(self, m: Self, _: bool) -> Self {
        self.times_power(Blocks(
            m.0.map(|m| (u128::from_le(m) & 15) << 3).map(u128::to_le),
        ))
    }

    #[inline(never)]
    fn shift_left(self, n: Self) -> Self {
        self.halves(n, |a, n| a.checked_shl(n as u32).unwrap_or(0))
    }

    #[inline(never)]
    fn shift_right(self, n: Self) -> Self {
        self.halves(n, |a, n| a.checked_shr(n as u32).unwrap_or(0))
    }

    #[inline(never)]
    fn first_bytes(self) -> Self {
        self.places(|i, n| if i < n { 0xff } else { 0 })
    }

    #[inline(never)]
    fn any(self) -> Self {
        self.places(|_, n| if n > 0 { 0xff } else { 0 })
    }

    #[inline(never)]
    fn partial(self) -> Self {
        self.places(|_, n| if n < 16 { 0xff } else { 0 })
    }

    #[inline(never)]
    fn one_zero(self) -> Self {
        self.places(|i, n| if i == n { 0x80 } else { 0 })
    }

    #[inline(never)]
    fn pkcs7(self) -> Self {
        self.places(|i, n| if i < n { 0 } else { 16 - n })
    }

    #[inline(never)]
    fn up(self) -> Self {
        self.places(|i, n| if i < n { 0x80 } else { i - n })
    }

    #[inline(never)]
    fn down(self) -> Self {
        // Lanes without a message may have any number.
        self.places(|i, n| match i < n {
            true => (i + 16).wrapping_sub(n),
            false => 0x80,
        })
    }

    #[inline(never)]
    fn shuffle(self, index: Self) -> Self {
        Blocks(core::array::from_fn(|l| {
            let (from, index) = (self.0[l].to_ne_bytes(), index.0[l].to_ne_bytes());
            u128::from_ne_bytes(index.map(|i| match i {
                0..128 => from[usize::from(i & 15)],
                _ => 0,
            }))
        }))
    }
}

impl<const N: usize> Blocks<N> {
    /// Every byte by its place in the block and its value.
    fn places(self, f: impl Fn(u8, u8) -> u8) -> Self {
        Blocks(self.0.map(|n| {
            let n = n.to_ne_bytes();
            u128::from_ne_bytes(core::array::from_fn(|i| f(i as u8, n[i])))
        }))
    }

    fn halves(self, b: Self, f: impl Fn(u64, u64) -> u64) -> Self {
        Blocks(core::array::from_fn(|l| {
            let (a, b) = (u128::from_le(self.0[l]), u128::from_le(b.0[l]));
            let low = u128::from(f(a as u64, b as u64));
            let high = u128::from(f((a >> 64) as u64, (b >> 64) as u64));
            (high << 64 | low).to_le()
        }))
    }

    fn through(self, f: impl FnOnce(&mut [aes::Block])) -> Self {
        let mut blocks: [aes::Block; N] = core::array::from_fn(|l| self.0[l].to_ne_bytes().into());
        f(&mut blocks);
        Blocks(core::array::from_fn(|l| {
            u128::from_ne_bytes(blocks[l].into())
        }))
    }
}

impl<const N: usize> Blocks<N> {
    /// Lane by lane; a lane that never had a key is left alone.
    fn each(self, f: impl Fn(usize, &mut [aes::Block]) -> Option<()>) -> Self {
        self.through(|blocks| {
            for (l, block) in blocks.iter_mut().enumerate() {
                let _ = f(l, core::slice::from_mut(block));
            }
        })
    }
}

impl<const N: usize> Blocks<N> {
    /// Ten rounds with round keys `key(r, l)` for lane `l`, all lanes at once.
    fn tweaked(self, way: Way, tweak: Self, key: impl Fn(usize, usize) -> Block) -> Self {
        const { assert!(N <= 8) };
        let inverse = matches!(way, Way::Decrypt);
        let tweak = match inverse {
            true => Portable::<N>.inverse_mix(tweak),
            false => tweak,
        };
        let row = |r: usize| {
            Blocks::<N>(core::array::from_fn(|l| {
                let tweak = if is_tweaked(r) { tweak.0[l] } else { 0 };
                u128::from_ne_bytes(key(r, l)) ^ tweak
            }))
        };
        let mut x = self ^ row(0);
        for r in 1..=10 {
            // Of the last round there is no MixColumns, so that is undone.
            let key = if r < 10 { row(r) } else { Blocks([0; N]) };
            let eight = |lanes: [u128; N]| {
                let mut eight = aes::hazmat::Block8::default();
                for (block, lane) in eight.iter_mut().zip(lanes) {
                    *block = lane.to_ne_bytes().into();
                }
                eight
            };
            let (blocks, keys) = (&mut eight(x.0), &eight(key.0));
            match inverse {
                true => aes::hazmat::equiv_inv_cipher_round_par(blocks, keys),
                false => aes::hazmat::cipher_round_par(blocks, keys),
            }
            if r == 10 {
                let undo = match inverse {
                    true => aes::hazmat::mix_columns,
                    false => aes::hazmat::inv_mix_columns,
                };
                blocks.iter_mut().for_each(undo);
            }
            x = Blocks(core::array::from_fn(|l| {
                u128::from_ne_bytes(blocks[l].into())
            }));
        }
        x ^ row(10)
    }
}

impl<const N: usize> Isa for Portable<N> {
    type W = Blocks<N>;
    type Keys = SoftKey;
    type Loaded<'k> = &'k SoftKey;
    type Half = Self;
    type Registers<const R: usize> = Self;
    type Unit = Self;
    type Quad = Self;
    type Narrow = Portable<1>;
    type Along = Self;
    type Slim = Self;

    const LANES: usize = N;

    fn slim(self) -> Self {
        self
    }

    #[inline(always)]
    fn half(self) -> Self {
        self
    }

    fn registers<const R: usize>(self) -> Self {
        self
    }

    #[inline(always)]
    fn unit(self) -> Self {
        self
    }

    #[inline(always)]
    fn quad(self) -> Self {
        self
    }

    fn narrow(self) -> Portable<1> {
        Portable
    }

    #[inline(always)]
    fn along(self) -> Self {
        self
    }

    // Out of line: calls that do without would save registers for it.
    #[inline(never)]
    fn enter<R>(self, f: impl FnOnce() -> R) -> R {
        f()
    }

    #[inline(never)]
    fn enter_with<A, B, C, D, E, R>(
        self,
        (a, b, c, d, e): (A, B, C, D, E),
        f: impl FnOnce(A, B, C, D, E) -> R,
    ) -> R {
        f(a, b, c, d, e)
    }

    #[inline(always)]
    fn align_stack(self) {}

    fn expand(self, raw: &[&[u8]], out: &mut [Expanded], which: WhichKey) {
        for (raw, key) in raw.iter().zip(out) {
            expand(raw, key, which);
        }
    }

    fn expand_row<const L: usize>(
        self,
        keys: &mut LaneKeys<L>,
        raw: [Blocks<N>; 2],
        bytes: usize,
        which: WhichKey,
    ) {
        let which = usize::from(which == WhichKey::Second);
        keys.set_rounds(bytes / 4 + 6);
        for l in 0..N {
            let mut key = [0; 32];
            key[..16].copy_from_slice(&raw[0].0[l].to_ne_bytes());
            key[16..].copy_from_slice(&raw[1].0[l].to_ne_bytes());
            keys.derive_soft(
                which,
                l,
                Soft::new(&key[..bytes]),
                [raw[0].0[l], raw[1].0[l]],
            );
            key.zeroize();
        }
    }

    fn expand_one(self, key: &mut Expanded, raw: [Blocks<N>; 2], bytes: usize) {
        let raw = RawKey::of(
            [raw[0].0[0].to_ne_bytes(), raw[1].0[0].to_ne_bytes()],
            bytes,
        );
        key.enc = schedule(raw.as_ref());
    }

    fn schedule_row(self, raw: Blocks<N>) -> RoundKeys<Blocks<N>> {
        let mut rows = [raw; 11];
        for (l, raw) in raw.0.iter().enumerate() {
            for (row, block) in rows.iter_mut().zip(schedule(&raw.to_ne_bytes())) {
                row.0[l] = u128::from_ne_bytes(block);
            }
        }
        rows
    }

    fn inverse_mix(self, x: Blocks<N>) -> Blocks<N> {
        x.through(|blocks| blocks.iter_mut().for_each(aes::hazmat::inv_mix_columns))
    }

    fn tweaked(self, keys: &&SoftKey, way: Way, x: Blocks<N>, tweak: Blocks<N>) -> Blocks<N> {
        let rows = match way {
            Way::Encrypt => &keys.rows[0],
            Way::Decrypt => &keys.rows[1],
            Way::EncryptSecond => &keys.rows[2],
        };
        x.tweaked(way, tweak, |r, _| rows[r])
    }

    fn tweaked_each<const L: usize>(
        self,
        keys: &LaneKeys<L>,
        way: Way,
        x: Blocks<N>,
        tweak: Blocks<N>,
    ) -> Blocks<N> {
        x.tweaked(way, tweak, |r, l| *keys.round_key_of(way, r, l))
    }

    fn keys(self, key: &Expanded, uses: Uses) -> SoftKey {
        let (first, second) = key.raw();
        SoftKey {
            rows: [
                key.enc,
                match uses.inverse {
                    true => inverse(key),
                    false => [[0; 16]; 15],
                },
                key.second,
            ],
            first: Soft::new(first.as_ref()),
            second: second.map(|raw| Soft::new(raw.as_ref())),
        }
    }

    fn load_keys(self, keys: &SoftKey, _: Uses, _: bool) -> &SoftKey {
        keys
    }

    fn fetch(self, _: *const u8) {}

    fn fetch_far(self, _: *const u8) {}

    fn lane_keys<const L: usize>(self, keys: &mut LaneKeys<L>, of: &[&Expanded; L], uses: Uses) {
        for (l, key) in of.iter().enumerate().take(N) {
            let SoftKey { first, second, .. } = self.keys(key, uses);
            keys.set_soft(l, key, [Some(first), second], uses);
        }
    }

    fn encrypt(self, keys: &&SoftKey, x: Blocks<N>) -> Blocks<N> {
        x.through(|blocks| keys.first.encrypt(blocks))
    }

    fn decrypt(self, keys: &&SoftKey, x: Blocks<N>) -> Blocks<N> {
        x.through(|blocks| keys.first.decrypt(blocks))
    }

    fn encrypt_second(self, keys: &&SoftKey, x: Blocks<N>) -> Blocks<N> {
        x.through(|blocks| {
            if let Some(second) = &keys.second {
                second.encrypt(blocks);
            }
        })
    }

    fn encrypt_each<const L: usize>(self, keys: &LaneKeys<L>, _: usize, x: Blocks<N>) -> Blocks<N> {
        x.each(|l, block| keys.soft(0, l).map(|soft| soft.encrypt(block)))
    }

    fn decrypt_each<const L: usize>(self, keys: &LaneKeys<L>, _: usize, x: Blocks<N>) -> Blocks<N> {
        x.each(|l, block| keys.soft(0, l).map(|soft| soft.decrypt(block)))
    }

    fn encrypt_second_each<const L: usize>(
        self,
        keys: &LaneKeys<L>,
        _: usize,
        x: Blocks<N>,
    ) -> Blocks<N> {
        x.each(|l, block| keys.soft(1, l).map(|soft| soft.encrypt(block)))
    }

    fn splat(self, block: &Block) -> Blocks<N> {
        Blocks([u128::from_ne_bytes(*block); N])
    }

    unsafe fn load(self, from: *const u8) -> Blocks<N> {
        // SAFETY: the caller's `LANES * 16` bytes.
        Blocks(unsafe { from.cast::<[u128; N]>().read_unaligned() })
    }

    unsafe fn store(self, x: Blocks<N>, to: *mut u8) {
        // SAFETY: the caller's `LANES * 16` bytes.
        unsafe { to.cast::<[u128; N]>().write_unaligned(x.0) }
    }

    unsafe fn load_pairs(self, from: *const u8, len: usize) -> [Blocks<N>; 2] {
        let mut pairs = [[0u128; 2]; N];
        // SAFETY: the caller's `len` bytes, at most `LANES * 32`.
        unsafe { from.copy_to_nonoverlapping(pairs.as_mut_ptr().cast(), len) };
        [0, 1].map(|i| Blocks(pairs.map(|pair| pair[i])))
    }

    unsafe fn store_pairs(self, [firsts, seconds]: [Blocks<N>; 2], to: *mut u8, len: usize) {
        let pairs: [[u128; 2]; N] = core::array::from_fn(|l| [firsts.0[l], seconds.0[l]]);
        // SAFETY: the caller's `len` bytes, at most `LANES * 32`.
        unsafe { to.copy_from_nonoverlapping(pairs.as_ptr().cast(), len) }
    }

    #[cfg(feature = "research")]
    fn load_reversed(self, row: &[Block]) -> Blocks<N> {
        Blocks(core::array::from_fn(|l| {
            u128::from_ne_bytes(row[N - 1 - l])
        }))
    }

    #[cfg(feature = "research")]
    unsafe fn load_parts(self, from: *const u8, n: usize) -> Blocks<N> {
        Blocks(core::array::from_fn(|l| match l < n {
            // SAFETY: the caller's `n` blocks.
            true => unsafe { from.add(l * PART).cast::<u128>().read_unaligned() },
            false => 0,
        }))
    }

    #[cfg(feature = "research")]
    unsafe fn store_parts(self, x: Blocks<N>, to: *mut u8, n: usize) {
        for (l, block) in x.0.iter().enumerate().take(n) {
            // SAFETY: as there.
            unsafe { to.add(l * PART).cast::<u128>().write_unaligned(*block) };
        }
    }

    #[inline(never)]
    unsafe fn load_part(self, from: *const u8, len: usize) -> Blocks<N> {
        let mut x = [0u128; N];
        // SAFETY: the caller's `len` bytes, fewer than the array has.
        unsafe { core::ptr::copy_nonoverlapping(from, x.as_mut_ptr().cast(), len) };
        Blocks(x)
    }

    #[inline(never)]
    unsafe fn store_part(self, x: Blocks<N>, to: *mut u8, len: usize) {
        // SAFETY: the caller's `len` bytes, fewer than the array has.
        unsafe { core::ptr::copy_nonoverlapping(x.0.as_ptr().cast(), to, len) }
    }

    unsafe fn load_everywhere(self, from: *const u8, len: usize) -> Blocks<N> {
        // SAFETY: the caller's.
        self.splat(&unsafe { crate::bytes::load(from, len) })
    }

    #[inline(never)]
    unsafe fn load_first(self, from: *const u8, len: usize) -> Blocks<N> {
        // SAFETY: the caller's `len` bytes.
        unsafe { self.load_part(from, len) }
    }

    unsafe fn store_first(self, x: Blocks<N>, to: *mut u8, len: usize) {
        // SAFETY: the caller's `len` bytes.
        unsafe { self.store_part(x, to, len) }
    }

    #[inline(never)]
    unsafe fn gather(self, at: impl Starts, offset: usize) -> Blocks<N> {
        // SAFETY: the caller's `LANES` pointers, 16 bytes at each.
        Blocks(core::array::from_fn(|l| unsafe {
            let from = at.of(l).wrapping_add(offset);
            from.cast::<u128>().read_unaligned()
        }))
    }

    #[inline(never)]
    unsafe fn scatter(self, x: Blocks<N>, to: impl Starts, offset: usize) {
        for (l, block) in x.0.iter().enumerate() {
            // SAFETY: the caller's `LANES` pointers, 16 bytes at each.
            unsafe {
                let to = to.of(l).wrapping_add(offset);
                to.cast::<u128>().write_unaligned(*block);
            }
        }
    }

    #[inline(never)]
    fn numbers<const L: usize>(self, numbers: &[usize; L]) -> Blocks<N> {
        Blocks(core::array::from_fn(|l| {
            u128::from_ne_bytes((numbers[l] as u128).to_le_bytes())
        }))
    }

    #[inline(never)]
    unsafe fn gather_part(self, of: impl Fn(usize) -> (*const u8, usize) + Copy) -> Blocks<N> {
        Blocks(core::array::from_fn(|l| {
            let (at, len) = of(l);
            // SAFETY: the caller's.
            u128::from_ne_bytes(unsafe { crate::bytes::load(at, len) })
        }))
    }

    #[inline(never)]
    unsafe fn scatter_part(self, x: Blocks<N>, of: impl Fn(usize) -> (*mut u8, usize) + Copy) {
        for (l, block) in x.0.iter().enumerate() {
            let (to, len) = of(l);
            // SAFETY: the caller's.
            unsafe { crate::bytes::store(&block.to_ne_bytes(), to, len) };
        }
    }

    #[inline(always)]
    fn sum(self, x: Blocks<N>) -> Blocks<N> {
        x
    }

    #[inline(never)]
    fn fold(self, x: Blocks<N>) -> Blocks<N> {
        let mut out = [0; N];
        out[0] = x.0.iter().fold(0, |sum, block| sum ^ block);
        Blocks(out)
    }

    #[inline(never)]
    fn add_products(
        self,
        sums: Sums<Self>,
        x: Blocks<N>,
        (y, halves): (Blocks<N>, Option<Blocks<N>>),
    ) -> Sums<Self> {
        let [mut low, mut middle, mut high] = sums;
        for l in 0..N {
            let (x, y) = (u128::from_le(x.0[l]), u128::from_le(y.0[l]));
            let product = gf128::products(x, y);
            low.0[l] ^= product.0;
            middle.0[l] ^= match halves {
                Some(_) => product.1,
                None => product.0 ^ product.1 ^ product.2,
            };
            high.0[l] ^= product.2;
        }
        [low, middle, high]
    }

    #[inline(never)]
    fn reduce<F: Product>(self, sums: Sums<Self>) -> Blocks<N> {
        let [low, middle, high] = sums.map(|sum| sum.0.into_iter().fold(0, |a, b| a ^ b));
        let reduce = match F::POLYVAL {
            true => gf128::reduce_polyval,
            false => gf128::reduce,
        };
        let mut out = Blocks([0; N]);
        out.0[0] = reduce((low, middle, high)).to_le();
        out
    }

    #[inline(never)]
    fn running(self, before: Blocks<N>, x: Blocks<N>) -> Blocks<N> {
        let mut last = before.0[N - 1];
        Blocks(x.0.map(|x| {
            last ^= x;
            last
        }))
    }

    #[inline(never)]
    fn horner<F: Product>(self, before: Blocks<N>, x: Blocks<N>, powers: &[Block]) -> Blocks<N> {
        let factor = u128::from_ne_bytes(powers[0]);
        let mut last = before.0[N - 1];
        Blocks(x.0.map(|x| {
            last = product::<F>(last, factor) ^ x;
            last
        }))
    }

    fn iota(self) -> Blocks<N> {
        Blocks(core::array::from_fn(|l| (l as u128).to_le()))
    }

    #[inline(never)]
    fn shift_in(self, before: Blocks<N>, x: Blocks<N>) -> Blocks<N> {
        Blocks(core::array::from_fn(|l| match l {
            0 => before.0[N - 1],
            _ => x.0[l - 1],
        }))
    }

    fn widen(self, x: Blocks<N>) -> Blocks<N> {
        x
    }

    fn at_end(self, x: Blocks<N>) -> Blocks<N> {
        x
    }

    fn repeat(self, x: Blocks<N>) -> Blocks<N> {
        x
    }

    fn first(self, x: Blocks<N>) -> Blocks<N> {
        x
    }

    fn last(self, x: Blocks<N>) -> Block {
        x.0[N - 1].to_ne_bytes()
    }
}
