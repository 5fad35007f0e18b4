//! Blocks, and how many of them go together.

use core::mem::MaybeUninit;

/// 16 bytes in the order of the standard: byte 0 first.
pub(crate) type Block = [u8; 16];

/// The most messages in flight, over all backends.
pub(crate) const MAX_LANES: usize = 32;

/// Blocks in a line of the cache.
pub(crate) const LINE: usize = 4;

/// What depends on a key alone, for neighbouring blocks: the powers of a constant, or a row. After the
/// last power there is room for a register that begins with it.
pub(crate) type Rows = [Block; POWERS + MAX_UNIT];

/// Rows that keys keep for all kernels of as many lanes, whatever their registers.
#[repr(C, align(64))]
pub(crate) struct Tables {
    pub rows: Rows,
    /// In the same places the xor of the halves of every power, in both halves: factors of Karatsuba's
    /// products. Where they are not kept ([`has_halves`](crate::hashing::has_halves)) there is nothing.
    pub halves: MaybeUninit<Rows>,
}

/// How many powers there are: those of a message of 2,048 bytes and of its block of lengths, and up to
/// a multiple of a register's blocks.
pub(crate) const POWERS: usize = 4 * MAX_LANES + MAX_UNIT;
/// How many powers a key keeps that is one of many: those of two rows of 16 blocks and of four blocks
/// of associated data, or of a shorter message and of its block of lengths.
pub(crate) const FEW_POWERS: usize = 36;
/// Blocks of a message for which they suffice if the key has no others: to make all takes the time of
/// some 200 blocks, but with few the sums of every two rows are reduced.
pub(crate) const FEW_SUFFICE: usize = 1024;
/// These, and room for a register that begins with the last.
pub(crate) type FewRows = [Block; FEW_POWERS + MAX_UNIT];
/// None.
pub(crate) const NO_FEW_ROWS: FewRows = [[0; 16]; FEW_POWERS + MAX_UNIT];
/// None.
pub(crate) const NO_TABLES: Tables = Tables {
    rows: [[0; 16]; POWERS + MAX_UNIT],
    halves: MaybeUninit::uninit(),
};

/// What begins at a line of the cache. A register that is stored across two lines takes twice as
/// long, and jobs are in as few lines as they can be: the check and the kernels read them whole.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(64))]
pub(crate) struct Aligned<T>(pub T);

/// Blocks in the widest register there is.
pub(crate) const MAX_UNIT: usize = 4;

/// A number in both halves of a block.
#[inline(always)]
pub(crate) fn both(n: usize) -> Block {
    ((n as u128) << 64 | n as u128).to_le_bytes()
}
