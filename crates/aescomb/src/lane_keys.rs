//! Keys of messages side by side, one in each lane.

use crate::block::{Block, MAX_LANES, NO_FEW_ROWS};
use crate::expanded::{Expanded, FewTables};
use crate::schedule::{CONSTANTS, DERIVED, Uses, Way};
use crate::soft::Soft;

/// Round keys of one key per lane, in the order in which kernels load them.
#[repr(C, align(64))]
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))] // `soft` alone is used
pub(crate) struct LaneKeys<const L: usize> {
    enc: [[Block; L]; 15],
    dec: [[Block; L]; 15],
    second: [[Block; L]; 15],
    sub: [[Block; L]; CONSTANTS],
    rounds: usize,
    /// The portable backend's own form.
    soft: [[Option<Soft>; 4]; 2],
}

#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]
impl<const L: usize> LaneKeys<L> {
    pub(crate) fn new() -> Self {
        LaneKeys {
            enc: [[[0; 16]; L]; 15],
            dec: [[[0; 16]; L]; 15],
            second: [[[0; 16]; L]; 15],
            sub: [[[0; 16]; L]; CONSTANTS],
            rounds: 10,
            // Not a constant, of which all bytes would be copied.
            soft: core::array::from_fn(|_| core::array::from_fn(|_| None)),
        }
    }

    /// Gives lane `l` the key `key`, whose portable form is `soft`.
    pub(crate) fn set_soft(
        &mut self,
        l: usize,
        key: &Expanded,
        soft: [Option<Soft>; 2],
        uses: Uses,
    ) {
        let [first, second] = soft;
        self.soft[0][l] = first;
        self.soft[1][l] = second;
        for (row, block) in self.enc.iter_mut().zip(&key.enc) {
            row[l] = *block;
        }
        for (i, row) in self.sub.iter_mut().enumerate().take(uses.constants) {
            row[l] = *key.subkey(i);
        }
    }

    /// Gives lane `l` a first or second key (`which` 0 or 1) without constants, whose
    /// bytes are those of `raw`.
    pub(crate) fn derive_soft(&mut self, which: usize, l: usize, soft: Soft, raw: [u128; 2]) {
        self.soft[which][l] = Some(soft);
        let rows = match which {
            0 => &mut self.enc,
            _ => &mut self.second,
        };
        rows[0][l] = raw[0].to_ne_bytes();
        rows[1][l] = raw[1].to_ne_bytes();
    }

    /// Copies to `key` what was derived for lane `l`; of a second key only if `uses` says so.
    pub(crate) fn copy(&self, l: usize, key: &mut Expanded, uses: Uses) {
        key.renew(self.rounds);
        key.has_second = self.soft[1].get(l).is_some_and(Option::is_some);
        let schedules = [
            (true, &mut key.enc, &self.enc),
            (uses.second, &mut key.second, &self.second),
        ];
        for (used, schedule, rows) in schedules {
            if used {
                for (block, row) in schedule.iter_mut().zip(rows).take(self.rounds + 1) {
                    *block = row[l];
                }
            }
        }
        for (block, row) in key.sub.iter_mut().zip(&self.sub).take(DERIVED) {
            *block = row[l];
        }
    }

    /// Round key `r` of one of the ciphers, to be given to all lanes.
    #[inline(always)]
    pub(crate) fn round_key_mut(&mut self, way: Way, r: usize) -> &mut [Block; L] {
        match way {
            Way::Encrypt => &mut self.enc[r],
            Way::Decrypt => &mut self.dec[r],
            Way::EncryptSecond => &mut self.second[r],
        }
    }

    /// Round key `r` of the cipher.
    #[inline(always)]
    pub(crate) fn round_key(&self, r: usize) -> &[Block; L] {
        &self.enc[r]
    }

    /// Round key `r` of lane `l`.
    pub(crate) fn round_key_of(&self, way: Way, r: usize, l: usize) -> &Block {
        match way {
            Way::Encrypt => &self.enc[r][l],
            Way::Decrypt => &self.dec[r][l],
            Way::EncryptSecond => &self.second[r][l],
        }
    }

    #[inline(always)]
    pub(crate) fn set_rounds(&mut self, rounds: usize) {
        self.rounds = rounds;
    }

    #[inline(always)]
    pub(crate) fn rounds(&self) -> usize {
        self.rounds
    }

    /// Round key `r` of all lanes.
    #[inline(always)]
    pub(crate) fn enc(&self, r: usize) -> *const u8 {
        self.enc[r].as_ptr().cast()
    }

    #[inline(always)]
    pub(crate) fn enc_mut(&mut self, r: usize, l: usize) -> *mut u8 {
        self.enc[r].as_mut_ptr().wrapping_add(l).cast()
    }

    #[inline(always)]
    pub(crate) fn second_mut(&mut self, r: usize, l: usize) -> *mut u8 {
        self.second[r].as_mut_ptr().wrapping_add(l).cast()
    }

    /// As `enc`, of the inverse cipher.
    #[inline(always)]
    pub(crate) fn dec(&self, r: usize) -> *const u8 {
        self.dec[r].as_ptr().cast()
    }

    #[inline(always)]
    pub(crate) fn dec_mut(&mut self, r: usize) -> *mut u8 {
        self.dec[r].as_mut_ptr().cast()
    }

    /// As `enc`, of the second key.
    #[inline(always)]
    pub(crate) fn second(&self, r: usize) -> *const u8 {
        self.second[r].as_ptr().cast()
    }

    /// The portable form of lane `l`'s first key (`which` 0) or second key;
    /// `None` for a lane never used.
    pub(crate) fn soft(&self, which: usize, l: usize) -> Option<&Soft> {
        self.soft[which][l].as_ref()
    }

    /// The mode's `i`-th constant.
    #[inline(always)]
    pub(crate) fn subkey(&self, i: usize) -> &[Block; L] {
        &self.sub[i]
    }

    #[inline(always)]
    pub(crate) fn subkey_mut(&mut self, i: usize) -> &mut [Block; L] {
        &mut self.sub[i]
    }
}

impl<const L: usize> Drop for LaneKeys<L> {
    fn drop(&mut self) {
        self.enc = [[[0; 16]; L]; 15];
        self.dec = [[[0; 16]; L]; 15];
        self.second = [[[0; 16]; L]; 15];
        self.sub = [[[0; 16]; L]; CONSTANTS];
        zeroize::optimization_barrier(self);
    }
}

/// Keys that a mode derives for the messages of a group.
pub(crate) struct DerivedKeys {
    pub lanes: LaneKeys<MAX_LANES>,
    /// Memory for that of one lane, for rows of one message, and for a few powers of it.
    pub one: Expanded,
    pub few: FewTables,
}

impl DerivedKeys {
    pub(crate) fn new() -> Self {
        DerivedKeys {
            lanes: LaneKeys::new(),
            one: Expanded::of_rounds(10),
            few: FewTables(NO_FEW_ROWS),
        }
    }
}
