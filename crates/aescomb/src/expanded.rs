//! An expanded key: all that depends on the key alone, made once of its bytes.

use crate::block::{Block, FewRows, NO_FEW_ROWS, NO_TABLES, Tables};
use crate::mode::{Algorithm, Mode};
use crate::schedule::CONSTANTS;
use core::fmt;
use core::sync::atomic::{AtomicBool, Ordering};
use once_cell::race::OnceBox;
use zeroize::{Zeroize, ZeroizeOnDrop};

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
    /// The same for messages of calls with many keys.
    few: OnceBox<FewTables>,
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

impl Expanded {
    /// A key of no bytes, to be filled.
    pub(crate) fn blank(mode: Mode) -> Expanded {
        Expanded {
            mode,
            rounds: 0,
            has_second: false,
            long: AtomicBool::new(false),
            inverts: AtomicBool::new(false),
            inverse: OnceBox::new(),
            tables: OnceBox::new(),
            few: OnceBox::new(),
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

    /// Says how many rounds it has, and that nothing was made of it yet: it may be a place that
    /// is used again.
    pub(crate) fn renew(&mut self, rounds: usize) {
        self.rounds = rounds as u8;
        self.long = AtomicBool::new(false);
        self.inverts = AtomicBool::new(false);
        self.inverse = OnceBox::new();
        self.tables = OnceBox::new();
        self.few = OnceBox::new();
        self.first_rounds = OnceBox::new();
    }

    /// The mode it was made for.
    pub(crate) fn mode(&self) -> Mode {
        self.mode
    }

    /// The mode with the key size.
    pub(crate) fn algorithm(&self) -> Algorithm {
        Algorithm {
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
        let made = match self.tables.get() {
            Some(made) => made,
            None => self.keep_tables(lanes, make),
        };
        made.of(lanes)
    }

    /// Out of line, so that callers have no room for them on their stacks.
    #[cold]
    #[inline(never)]
    fn keep_tables(&self, lanes: usize, make: impl FnOnce() -> Tables) -> &KeyTables {
        self.tables.get_or_init(|| {
            let tables = make();
            alloc::boxed::Box::new(KeyTables { lanes, tables })
        })
    }

    /// The first of the mode's tables, if they are kept.
    #[inline(always)]
    pub(crate) fn few_tables(&self) -> Option<&FewRows> {
        self.few.get().map(|kept| &kept.0)
    }

    /// The same; if they are not, made by `make` and kept.
    pub(crate) fn keep_few_tables(&self, make: impl FnOnce() -> FewRows) -> &FewRows {
        let boxed = || alloc::boxed::Box::new(FewTables(make()));
        &self.few.get_or_init(boxed).0
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
        match self.first_rounds.get() {
            Some(made) => made,
            None => self.keep_first_rounds(make),
        }
    }

    /// Out of line, as above.
    #[cold]
    #[inline(never)]
    fn keep_first_rounds(&self, make: impl FnOnce() -> FirstRounds) -> &FirstRounds {
        let boxed = || alloc::boxed::Box::new(make());
        self.first_rounds.get_or_init(boxed)
    }

    /// The same, if there is one.
    #[inline(always)]
    pub(crate) fn kept_first_rounds(&self) -> Option<&FirstRounds> {
        self.first_rounds.get()
    }

    /// The mode's tables, if they are kept, for whatever kernels.
    #[inline(always)]
    pub(crate) fn kept_tables(&self) -> Option<&KeyTables> {
        self.tables.get()
    }

    #[inline(always)]
    pub(crate) fn subkey(&self, i: usize) -> &Block {
        &self.sub[i]
    }

    /// The keys themselves: the schedules begin with them.
    pub(crate) fn raw(&self) -> (RawKey, Option<RawKey>) {
        let raw = |schedule: &[Block; 15]| {
            RawKey::of([schedule[0], schedule[1]], (self.rounds() - 6) * 4)
        };
        let second = self.has_second.then(|| raw(&self.second));
        (raw(&self.enc), second)
    }
}

/// Values of a byte.
pub(crate) const VALUES: usize = 256;

/// What the last byte of a counter adds to the state after the first round (`places.rs`), for
/// each of its values, after two blocks that nobody reads: those of GCM's first row, whose counters
/// begin with 2, are a line of the cache. Wiped on drop: 4 KiB.
#[repr(C, align(64))]
pub(crate) struct FirstRounds(pub [Block; 2 + VALUES]);

impl Drop for FirstRounds {
    fn drop(&mut self) {
        self.0 = [[0; 16]; 2 + VALUES];
        zeroize::optimization_barrier(self);
    }
}

/// [`Tables`] for kernels of so many lanes, wiped on drop.
#[repr(C, align(64))]
pub(crate) struct KeyTables {
    tables: Tables,
    lanes: usize,
}

impl KeyTables {
    /// The tables, if they are for so many lanes.
    #[inline(always)]
    pub(crate) fn of(&self, lanes: usize) -> Option<&Tables> {
        (self.lanes == lanes).then_some(&self.tables)
    }
}

impl Drop for KeyTables {
    fn drop(&mut self) {
        self.tables.rows = NO_TABLES.rows;
        self.tables.halves.write(NO_TABLES.rows);
        zeroize::optimization_barrier(self);
    }
}

/// A few of the rows of [`Tables`], wiped on drop.
#[repr(C, align(64))]
pub(crate) struct FewTables(pub FewRows);

impl Drop for FewTables {
    fn drop(&mut self) {
        self.0 = NO_FEW_ROWS;
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
            few: OnceBox::new(),
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

impl RawKey {
    /// The first `len` bytes of two blocks.
    #[inline(always)]
    pub(crate) fn of([first, second]: [Block; 2], len: usize) -> RawKey {
        let mut bytes = [0; 32];
        bytes[..16].copy_from_slice(&first);
        bytes[16..].copy_from_slice(&second);
        RawKey { bytes, len }
    }
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
