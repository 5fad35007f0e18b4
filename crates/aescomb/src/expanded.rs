//! An expanded key: all that depends on the key alone, made once of its bytes.

use crate::backend::Backend;
use crate::counting::FirstRounds;
use crate::error::Error;
use crate::isa::{self, Block, Part};
use crate::lanes::MAX_LANES;
use crate::modes::Mode;
use crate::pass::Tables;
use core::fmt;
use core::sync::atomic::{AtomicBool, Ordering};
use once_cell::race::OnceBox;
use zeroize::{Zeroize, ZeroizeOnDrop};

/// How many constants a mode may have for a key.
pub(crate) const CONSTANTS: usize = 10;

/// A key for one mode: the AES key schedules, the mode's constants, and what is made of them
/// when it pays. Wiped on drop.
#[repr(C, align(64))]
pub(crate) struct Expanded {
    // With the key itself in one line of the cache, of which lanes take no more.
    mode: Mode,
    rounds: u8,
    pub(crate) has_second: bool,
    /// Whether a long message has come in a call with many keys, or one by itself.
    long: AtomicBool,
    /// Whether a call has wanted the inverse cipher.
    inverts: AtomicBool,
    /// Round keys of the equivalent inverse cipher, for the second call that wants them.
    inverse: OnceBox<Inverse>,
    /// Round keys of the cipher, FIPS 197 section 5.2.
    pub(crate) enc: [Block; 15],
    /// What long messages need beside it, made when they come. In one line with the first
    /// constants, from which it is made.
    tables: OnceBox<KeyTables>,
    /// The mode's constants; on the way there, CIPH_K(0^128).
    pub(crate) sub: [Block; CONSTANTS],
    /// Round keys of the second key, for modes that have two.
    pub(crate) second: [Block; 15],
    /// For many counter blocks, made when they come.
    first_rounds: OnceBox<FirstRounds>,
}

// An odd number of lines: first lines of a table's keys lie in all sets of the cache.
const _: () =
    assert!(size_of::<Expanded>() == 11 * 64 && core::mem::offset_of!(Expanded, enc) == 16);

/// Keys that are expanded together.
const STEP: usize = 16;

impl Expanded {
    /// A key for `mode`, which takes `raw`.
    pub(crate) fn new(mode: Mode, raw: &[u8]) -> Result<Expanded, Error> {
        mode.check_key(raw)?;
        let mut key = [Expanded::blank(mode)];
        expand(Backend::preferred(false), &[raw], &mut key);
        let [key] = key;
        Ok(key)
    }

    /// Checks keys that are to be expanded: what is wrong with the first that is refused.
    pub(crate) fn check_many<K: AsRef<[u8]>>(mode: Mode, raw: &[K]) -> Result<(), Error> {
        let check = |(i, raw): (usize, &K)| mode.check_key(raw.as_ref()).map_err(|e| e.at(i));
        raw.iter().enumerate().try_for_each(check)
    }

    /// Expands keys that were checked into as many places, several at once. Nothing of what
    /// was there is left.
    pub(crate) fn expand_many<K: AsRef<[u8]>>(
        backend: Backend,
        mode: Mode,
        raw: &[K],
        table: &mut [Expanded],
    ) {
        for (raw, out) in raw.chunks(STEP).zip(table.chunks_mut(STEP)) {
            let mut refs: [&[u8]; STEP] = [&[]; STEP];
            for (r, raw) in refs.iter_mut().zip(raw) {
                *r = raw.as_ref();
            }
            // Runs of one length are expanded together.
            let mut start = 0;
            while start < raw.len() {
                let len = refs[start].len();
                let run = refs[start..raw.len()]
                    .iter()
                    .take_while(|r| r.len() == len)
                    .count();
                let (refs, out) = (&refs[start..start + run], &mut out[start..start + run]);
                // Another mode or size may have used more of a key, which is wiped then.
                for key in &mut *out {
                    if key.mode != mode || key.rounds() > rounds(mode, len) {
                        *key = Expanded::blank(mode);
                    }
                }
                expand(backend, refs, out);
                start += run;
            }
        }
    }

    pub(crate) fn blank(mode: Mode) -> Expanded {
        Expanded {
            mode,
            rounds: 0,
            has_second: false,
            long: AtomicBool::new(false),
            inverts: AtomicBool::new(false),
            inverse: OnceBox::new(),
            tables: OnceBox::new(),
            enc: [[0; 16]; 15],
            first_rounds: OnceBox::new(),
            second: [[0; 16]; 15],
            sub: [[0; 16]; CONSTANTS],
        }
    }

    /// A key of a mode without constants, to be filled.
    pub(crate) fn of_rounds(rounds: usize) -> Expanded {
        let mut key = Expanded::blank(Mode::Ctr);
        key.rounds = rounds as u8;
        key
    }

    /// The mode it was made for.
    pub(crate) fn mode(&self) -> Mode {
        self.mode
    }

    /// The mode with the key size.
    pub(crate) fn algorithm(&self) -> crate::Algorithm {
        crate::Algorithm {
            mode: self.mode,
            key_bits: (self.rounds() - 6) * 32,
        }
    }

    #[inline(always)]
    pub(crate) fn rounds(&self) -> usize {
        usize::from(self.rounds)
    }

    /// The mode's tables for kernels of `lanes` lanes, which `make` makes where there
    /// are none yet; `None` where those there are are for others.
    #[inline(always)]
    pub(crate) fn tables(&self, lanes: usize, make: impl FnOnce() -> Tables) -> Option<&Tables> {
        let made = self.tables.get_or_init(|| {
            let rows = make();
            alloc::boxed::Box::new(KeyTables { lanes, rows })
        });
        (made.lanes == lanes).then_some(&made.rows)
    }

    /// Whether this is not the first long message in a call with many keys: of keys that
    /// are used once, tables would cost more than they save.
    #[inline(always)]
    pub(crate) fn long_again(&self) -> bool {
        let before = self.long.load(Ordering::Relaxed);
        if !before {
            self.long.store(true, Ordering::Relaxed);
        }
        before
    }

    /// The inverse cipher's round keys, if they are kept.
    #[inline(always)]
    pub(crate) fn inverse(&self) -> Option<&[Block; 15]> {
        self.inverse.get().map(|kept| &kept.0)
    }

    /// Keeps them for the next call, if this is not the first that has made them: a key that
    /// is used once allocates nothing.
    #[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))] // portable keys have their own form
    pub(crate) fn keep_inverse(&self, made: &[Block; 15]) {
        if self.inverts.swap(true, Ordering::Relaxed) {
            self.inverse
                .get_or_init(|| alloc::boxed::Box::new(Inverse(*made)));
        }
    }

    /// The table for counters, which `make` makes where there is none yet.
    #[inline(always)]
    pub(crate) fn first_rounds(&self, make: impl FnOnce() -> FirstRounds) -> &FirstRounds {
        let boxed = || alloc::boxed::Box::new(make());
        self.first_rounds.get_or_init(boxed)
    }

    /// The same, if there is one.
    #[inline(always)]
    pub(crate) fn kept_first_rounds(&self) -> Option<&FirstRounds> {
        self.first_rounds.get()
    }

    #[inline(always)]
    pub(crate) fn has_tables(&self) -> bool {
        self.tables.get().is_some()
    }

    #[inline(always)]
    pub(crate) fn subkey(&self, i: usize) -> &Block {
        &self.sub[i]
    }

    /// The keys themselves: the schedules begin with them.
    pub(crate) fn raw(&self) -> (RawKey, Option<RawKey>) {
        let raw = |schedule: &[Block; 15]| {
            let mut raw = RawKey {
                bytes: [0; 32],
                len: (self.rounds() - 6) * 4,
            };
            raw.bytes[..16].copy_from_slice(&schedule[0]);
            raw.bytes[16..].copy_from_slice(&schedule[1]);
            raw
        };
        let second = self.has_second.then(|| raw(&self.second));
        (raw(&self.enc), second)
    }
}

/// [`Tables`] for kernels of so many lanes, wiped on drop.
#[repr(C, align(64))]
struct KeyTables {
    rows: Tables,
    lanes: usize,
}

impl Drop for KeyTables {
    fn drop(&mut self) {
        self.rows = [[0; 16]; 2 * MAX_LANES];
        zeroize::optimization_barrier(self);
    }
}

/// The round keys of an inverse cipher, wiped on drop.
#[repr(C, align(64))]
struct Inverse([Block; 15]);

impl Drop for Inverse {
    fn drop(&mut self) {
        self.0 = [[0; 16]; 15];
        zeroize::optimization_barrier(self);
    }
}

impl Clone for Expanded {
    fn clone(&self) -> Self {
        Expanded {
            enc: self.enc,
            mode: self.mode,
            rounds: self.rounds,
            has_second: self.has_second,
            long: AtomicBool::new(false),
            inverts: AtomicBool::new(false),
            inverse: OnceBox::new(),
            tables: OnceBox::new(),
            first_rounds: OnceBox::new(),
            second: self.second,
            sub: self.sub,
        }
    }
}

/// A key's own bytes, wiped on drop.
pub(crate) struct RawKey {
    bytes: [u8; 32],
    len: usize,
}

impl AsRef<[u8]> for RawKey {
    fn as_ref(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

impl Drop for RawKey {
    fn drop(&mut self) {
        self.bytes.zeroize();
    }
}

/// Rounds of AES under a key of `len` bytes, a half of which is each of two keys.
fn rounds(mode: Mode, len: usize) -> usize {
    (len >> u32::from(mode.info().two_keys)) / 4 + 6
}

/// Expands keys of one length, at most [`STEP`].
fn expand(backend: Backend, raw: &[&[u8]], out: &mut [Expanded]) {
    let mode = out[0].mode;
    let info = mode.info();
    // A half of each key where the mode has two.
    let each = raw[0].len() >> u32::from(info.two_keys);
    for key in out.iter_mut() {
        key.rounds = rounds(mode, raw[0].len()) as u8;
        // It may be a place that is used again.
        key.long = AtomicBool::new(false);
        key.inverts = AtomicBool::new(false);
        key.inverse = OnceBox::new();
        key.tables = OnceBox::new();
        key.first_rounds = OnceBox::new();
    }
    let mut halves = [&[][..]; STEP];
    if info.two_keys {
        for (half, raw) in halves.iter_mut().zip(raw) {
            *half = &raw[each..];
        }
        isa::expand(backend, &halves[..raw.len()], out, Part::Second);
    }
    for (half, raw) in halves.iter_mut().zip(raw) {
        *half = &raw[..each];
    }
    isa::expand(backend, &halves[..raw.len()], out, Part::First);
    for key in out {
        mode.constants(backend, key);
    }
}

impl Drop for Expanded {
    fn drop(&mut self) {
        // Whole arrays at once: byte-wise volatile writes would cost more than
        // the expansion.
        self.enc = [[0; 16]; 15];
        self.second = [[0; 16]; 15];
        self.sub = [[0; 16]; CONSTANTS];
        zeroize::optimization_barrier(self);
    }
}

impl ZeroizeOnDrop for Expanded {}

impl fmt::Debug for Expanded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Key({})", self.algorithm())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::AnyKey;
    use crate::mode::{Kind, Lengths};
    use alloc::vec::Vec;

    /// A place in a table that is used again holds what a new key holds, whatever was
    /// there before.
    #[test]
    fn reused_tables_keep_nothing() {
        let raw: Vec<u8> = (1..=64).collect();
        let parts = |key: &AnyKey| {
            let key = key.expanded();
            (key.enc, key.second, key.sub, key.has_second)
        };
        for before in Mode::ALL {
            for mode in Mode::ALL {
                let longest = |mode: &Mode| *mode.info().key_bytes.iter().max().unwrap();
                let shortest = mode.info().key_bytes.iter().min().unwrap();
                let mut table = Vec::new();
                AnyKey::expand_many_for(*before, &[&raw[..longest(before)]; 3], &mut table)
                    .unwrap();
                AnyKey::expand_many_for(*mode, &[&raw[..*shortest]; 3], &mut table).unwrap();
                let new = AnyKey::for_mode(*mode, &raw[..*shortest]).unwrap();
                for key in &table {
                    assert!(parts(key) == parts(&new), "{before}, then {mode}");
                    assert_eq!(key.algorithm(), new.algorithm());
                }
            }
        }
    }

    /// The inverse cipher's round keys are those of the key, whether they are made for a call
    /// or kept, after the key's place was used again, and in a clone.
    #[test]
    fn inverse_keys_are_made_when_they_are_wanted() {
        let ciphers = Mode::ALL.iter().filter(|mode| {
            let info = mode.info();
            info.kind == Kind::Cipher && info.inverse && info.lengths != Lengths::Padded
        });
        for (mode, len) in
            ciphers.flat_map(|mode| mode.info().key_bytes.iter().map(move |n| (mode, n)))
        {
            let nonce = &[3; 16][..mode.info().nonce_bytes.1];
            let mut table = Vec::new();
            for first in [1, 100] {
                let raw: Vec<u8> = (first..).take(*len).collect();
                let new = AnyKey::for_mode(*mode, &raw).unwrap();
                AnyKey::expand_many_for(*mode, &[&raw], &mut table).unwrap();
                assert!(table[0].expanded().inverse().is_none(), "{mode}");
                for call in 0..3 {
                    let clone = table[0].clone();
                    assert!(clone.expanded().inverse().is_none(), "{mode}");
                    for key in [&table[0], &clone] {
                        let mut data = [call; 48];
                        new.encrypt_in_place(nonce, &mut data).unwrap();
                        key.decrypt_in_place(nonce, &mut data).unwrap();
                        assert_eq!(data, [call; 48], "{mode}");
                    }
                    // One call allocates nothing.
                    assert!(
                        call > 0 || table[0].expanded().inverse().is_none(),
                        "{mode}"
                    );
                }
            }
        }
    }
}
