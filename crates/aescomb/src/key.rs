//! Keys: raw bytes expanded once into all that depends on the key alone.

use crate::backend::Backend;
use crate::counting::FirstRounds;
use crate::error::{Allowed, Error, Field};
use crate::isa::{self, Block, Part};
use crate::job::KeyRefs;
use crate::lanes::MAX_LANES;
use crate::modes::Mode;
use crate::pass::Tables;
use alloc::vec::Vec;
use core::fmt;
use core::sync::atomic::{AtomicBool, Ordering};
use once_cell::race::OnceBox;
use zeroize::{Zeroize, ZeroizeOnDrop};

/// How many constants a mode may have for a key.
pub(crate) const CONSTANTS: usize = 10;

/// A key for one mode: the AES key schedules and the mode's constants.
///
/// Immutable, `Send` and `Sync`, usable with every backend, wiped on drop. It has 704 bytes
/// whatever the key size, of which messages side by side touch little: mostly the first 64,
/// and the mode's constants. A key allocates 256 bytes for the second call that takes the
/// inverse cipher (decryption in ECB, CBC, XTS and OCB), 1 KiB once long messages of a
/// mode like GCM or OCB come, or a second message by itself, and in CTR 4 KiB for the first
/// batch of 8 KiB or the second message of 1 KiB by itself.
/// `Debug` shows the mode and the key size only.
///
/// ```
/// use aescomb::{Key, Mode};
/// let key = Key::new(Mode::Cbc, &[0x2b; 16])?;
/// assert_eq!(key.algorithm().to_string(), "aes-128-cbc");
/// assert!(Key::new(Mode::Cbc, &[0x2b; 17]).is_err());
/// # Ok::<(), aescomb::Error>(())
/// ```
#[repr(C, align(64))]
pub struct Key {
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
const _: () = assert!(size_of::<Key>() == 11 * 64 && core::mem::offset_of!(Key, enc) == 16);

/// Keys that are expanded together.
const STEP: usize = 16;

impl Key {
    /// Expands a key for `mode`: of 16, 24 or 32 bytes, or of twice as many for
    /// modes with two keys, one after the other ([`Info::key_bytes`]).
    ///
    /// [`Info::key_bytes`]: crate::Info::key_bytes
    ///
    /// # Errors
    /// [`Field::KeyLength`] for any other length; [`Field::KeyHalves`] for two equal keys
    /// in a mode that forbids them (XTS).
    pub fn new(mode: Mode, raw: &[u8]) -> Result<Key, Error> {
        mode.check_key(raw)?;
        let mut key = [Key::blank(mode)];
        expand(Backend::preferred(false), &[raw], &mut key);
        let [key] = key;
        Ok(key)
    }

    /// Expands many keys into `table`, several at once. `table` is given the
    /// length of `raw`; keys already in it are overwritten in place, so that a
    /// table used again costs no allocation. Nothing of the old keys is left in it.
    ///
    /// ```
    /// use aescomb::{Key, Mode};
    /// let raw: Vec<[u8; 16]> = (0..100).map(|i| [i; 16]).collect();
    /// let mut table = Vec::new();
    /// Key::expand_many(Mode::Ctr, &raw, &mut table)?;
    /// assert_eq!(table.len(), 100);
    /// # Ok::<(), aescomb::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Key::new`], with the index of the first key that is refused; `table` is
    /// unchanged then.
    pub fn expand_many<K: AsRef<[u8]>>(
        mode: Mode,
        raw: &[K],
        table: &mut Vec<Key>,
    ) -> Result<(), Error> {
        Self::expand_many_with(Backend::preferred(false), mode, raw, table)
    }

    /// As [`Key::expand_many`] with a backend of the caller's choice.
    ///
    /// # Errors
    /// Those of [`Key::expand_many`], and [`Field::Backend`] where the CPU lacks
    /// the backend.
    pub fn expand_many_with<K: AsRef<[u8]>>(
        backend: Backend,
        mode: Mode,
        raw: &[K],
        table: &mut Vec<Key>,
    ) -> Result<(), Error> {
        backend.check()?;
        for (i, raw) in raw.iter().enumerate() {
            mode.check_key(raw.as_ref()).map_err(|e| e.at(i))?;
        }
        table.truncate(raw.len());
        table.resize_with(raw.len(), || Key::blank(mode));
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
                        *key = Key::blank(mode);
                    }
                }
                expand(backend, refs, out);
                start += run;
            }
        }
        Ok(())
    }

    fn blank(mode: Mode) -> Key {
        Key {
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
    pub(crate) fn of_rounds(rounds: usize) -> Key {
        let mut key = Key::blank(Mode::Ctr);
        key.rounds = rounds as u8;
        key
    }

    /// The mode it was made for.
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// The mode with the key size.
    pub fn algorithm(&self) -> crate::Algorithm {
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

impl Clone for Key {
    fn clone(&self) -> Self {
        Key {
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
fn expand(backend: Backend, raw: &[&[u8]], out: &mut [Key]) {
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

impl Drop for Key {
    fn drop(&mut self) {
        // Whole arrays at once: byte-wise volatile writes would cost more than
        // the expansion.
        self.enc = [[0; 16]; 15];
        self.second = [[0; 16]; 15];
        self.sub = [[0; 16]; CONSTANTS];
        zeroize::optimization_barrier(self);
    }
}

impl ZeroizeOnDrop for Key {}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Key({})", self.algorithm())
    }
}

/// The key or keys of a call.
#[derive(Clone, Copy, Debug)]
pub enum Keys<'k> {
    /// One for all messages.
    Shared(&'k Key),
    /// A table; every message names its place in it
    /// ([`Message::key`](crate::Message::key), [`Packed::keys`](crate::Packed)).
    /// All keys used in one call must be for one mode; their sizes may differ.
    Table(&'k [Key]),
    /// The same with keys that lie elsewhere, such as those that sessions hold: made from
    /// a slice of references, or by [`Jobs::keys`](crate::Jobs::keys).
    Refs(KeyRefs<'k>),
}

impl<'k> From<&'k Key> for Keys<'k> {
    fn from(key: &'k Key) -> Self {
        Keys::Shared(key)
    }
}

impl<'k> From<&'k [Key]> for Keys<'k> {
    fn from(table: &'k [Key]) -> Self {
        Keys::Table(table)
    }
}

impl<'k> From<&'k Vec<Key>> for Keys<'k> {
    fn from(table: &'k Vec<Key>) -> Self {
        Keys::Table(table)
    }
}

impl<'k> From<&'k [&'k Key]> for Keys<'k> {
    fn from(refs: &'k [&'k Key]) -> Self {
        Keys::Refs(KeyRefs::new(refs))
    }
}

impl<'k> From<&'k Vec<&'k Key>> for Keys<'k> {
    fn from(refs: &'k Vec<&'k Key>) -> Self {
        Keys::Refs(KeyRefs::new(refs))
    }
}

impl<'k> Keys<'k> {
    /// The mode of the first key; a call's keys are all of this mode.
    ///
    /// # Errors
    /// [`Field::Count`] where there is none.
    pub fn mode(self) -> Result<Mode, Error> {
        match self.find(0) {
            Some(first) => Ok(first.mode),
            None => Err(Error::new(Field::Count, 0, Allowed::AtLeast(1))),
        }
    }

    /// How many there are.
    pub(crate) fn len(self) -> usize {
        match self {
            Keys::Shared(_) => 1,
            Keys::Table(table) => table.len(),
            Keys::Refs(refs) => refs.len(),
        }
    }

    /// As [`Keys::get`], of a place that may be none.
    #[inline(always)]
    pub(crate) fn find(self, i: u32) -> Option<&'k Key> {
        match self {
            Keys::Shared(key) => Some(key),
            Keys::Table(table) => table.get(i as usize),
            Keys::Refs(refs) => refs.get(i as usize),
        }
    }

    #[inline]
    pub(crate) fn get(self, i: u32) -> &'k Key {
        match self {
            Keys::Shared(key) => key,
            Keys::Table(table) => &table[i as usize],
            Keys::Refs(refs) => refs
                .get(i as usize)
                .expect("a message that was admitted has a key"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mode::{Kind, Lengths};

    /// A place in a table that is used again holds what a new key holds, whatever was
    /// there before.
    #[test]
    fn reused_tables_keep_nothing() {
        let raw: Vec<u8> = (1..=64).collect();
        let parts = |key: &Key| (key.enc, key.second, key.sub, key.has_second);
        for before in Mode::ALL {
            for mode in Mode::ALL {
                let longest = |mode: &Mode| *mode.info().key_bytes.iter().max().unwrap();
                let shortest = mode.info().key_bytes.iter().min().unwrap();
                let mut table = Vec::new();
                Key::expand_many(*before, &[&raw[..longest(before)]; 3], &mut table).unwrap();
                Key::expand_many(*mode, &[&raw[..*shortest]; 3], &mut table).unwrap();
                let new = Key::new(*mode, &raw[..*shortest]).unwrap();
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
                let new = Key::new(*mode, &raw).unwrap();
                Key::expand_many(*mode, &[&raw], &mut table).unwrap();
                assert!(table[0].inverse().is_none(), "{mode}");
                for call in 0..3 {
                    let clone = table[0].clone();
                    assert!(clone.inverse().is_none(), "{mode}");
                    for key in [&table[0], &clone] {
                        let mut data = [call; 48];
                        new.encrypt_in_place(nonce, &mut data).unwrap();
                        key.decrypt_in_place(nonce, &mut data).unwrap();
                        assert_eq!(data, [call; 48], "{mode}");
                    }
                    // One call allocates nothing.
                    assert!(call > 0 || table[0].inverse().is_none(), "{mode}");
                }
            }
        }
    }
}
