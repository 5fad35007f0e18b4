//! Counter mode: SP 800-38A section 6.5.

use super::{Aes, AtOnce, Block, bytes, crypt, expanded};
use crate::key::Key;
use crate::modes::{Ctr, Ctr32};
use crate::single::ENCRYPT;
use cipher::array::Array;
use cipher::consts::U16;
use cipher::{
    BlockSizeUser, InOutBuf, IvSizeUser, IvState, KeyIvInit, KeySizeUser, ParBlocksSizeUser,
    SetIvState, StreamCipherBackend, StreamCipherClosure, StreamCipherCore,
    StreamCipherCoreWrapper, StreamCipherCounter, StreamCipherSeekCore,
};
use core::fmt;
use core::marker::PhantomData;
use zeroize::ZeroizeOnDrop;

/// CTR with a 128-bit big-endian counter: `KeyIvInit`, `StreamCipher`,
/// `StreamCipherSeek`.
///
/// Keys of 16, 24 or 32 bytes as `A` says; initial counter blocks of 16 bytes; any
/// number of bytes. No counter block may repeat under a key, over all messages. Does
/// not authenticate. Blocks are worked on side by side.
///
/// ```
/// use aescomb::rustcrypto::cipher::{KeyIvInit, StreamCipher, StreamCipherSeek};
/// use aescomb::rustcrypto::{Aes128, ctr::Ctr128BE};
///
/// let mut cipher = Ctr128BE::<Aes128>::new(&[7; 16].into(), &[1; 16].into());
/// let mut text = *b"any number of bytes";
/// cipher.apply_keystream(&mut text);
/// cipher.seek(4u32);
/// cipher.apply_keystream(&mut text[4..]);
/// assert_eq!(&text[4..], b"number of bytes");
/// ```
pub type Ctr128BE<A> = StreamCipherCoreWrapper<CtrCore<A, flavors::Ctr128BE>>;

/// CTR with a 32-bit big-endian counter, that of GCM: the last four bytes of the
/// initial counter block, which wrap. At most 2^32 blocks; `StreamCipherError` beyond
/// that. Otherwise as [`Ctr128BE`].
///
/// ```
/// use aescomb::rustcrypto::cipher::{KeyIvInit, StreamCipher};
/// use aescomb::rustcrypto::{Aes128, ctr::Ctr32BE};
///
/// let (key, iv) = ([7; 16].into(), [1; 16].into());
/// let mut text = *b"any number of bytes";
/// Ctr32BE::<Aes128>::new(&key, &iv).apply_keystream(&mut text);
/// Ctr32BE::<Aes128>::new(&key, &iv).apply_keystream(&mut text);
/// assert_eq!(&text, b"any number of bytes");
/// ```
pub type Ctr32BE<A> = StreamCipherCoreWrapper<CtrCore<A, flavors::Ctr32BE>>;

/// The counters.
pub mod flavors {
    /// A 128-bit big-endian counter.
    ///
    /// ```
    /// use aescomb::rustcrypto::Aes128;
    /// use aescomb::rustcrypto::cipher::{KeyIvInit, StreamCipherCore};
    /// use aescomb::rustcrypto::ctr::{CtrCore, flavors};
    ///
    /// let mut core = CtrCore::<Aes128, flavors::Ctr128BE>::new(&[7; 16].into(), &[1; 16].into());
    /// let mut keystream = [[0; 16].into(); 2];
    /// core.write_keystream_blocks(&mut keystream);
    /// assert_ne!(keystream[0], keystream[1]);
    /// ```
    #[derive(Clone, Copy, Debug)]
    pub enum Ctr128BE {}
    /// A 32-bit big-endian counter.
    ///
    /// ```
    /// use aescomb::rustcrypto::Aes128;
    /// use aescomb::rustcrypto::cipher::{KeyIvInit, StreamCipherCore};
    /// use aescomb::rustcrypto::ctr::{CtrCore, flavors};
    ///
    /// let mut core = CtrCore::<Aes128, flavors::Ctr32BE>::new(&[7; 16].into(), &[1; 16].into());
    /// let mut keystream = [[0; 16].into(); 2];
    /// core.write_keystream_blocks(&mut keystream);
    /// assert_ne!(keystream[0], keystream[1]);
    /// ```
    #[derive(Clone, Copy, Debug)]
    pub enum Ctr32BE {}
}

mod sealed {
    use crate::modes::{CipherMode, TypedMode};

    pub trait Sealed<Counter> {
        type Mode: CipherMode + TypedMode;
        /// The counter block `position` blocks after `iv`.
        fn block(iv: [u8; 16], position: Counter) -> [u8; 16];
        /// `position` and `blocks` more, wrapping.
        fn after(position: Counter, blocks: usize) -> Counter;
        /// Blocks from `position` to the last, that one not counted, if they can be.
        fn remaining(position: Counter) -> Option<usize>;
    }
}

/// A counter of [`flavors`]. Sealed.
///
/// ```
/// use aescomb::rustcrypto::ctr::{CtrFlavor, flavors};
///
/// fn bytes<F: CtrFlavor>() -> usize {
///     size_of::<F::Counter>()
/// }
/// assert_eq!(bytes::<flavors::Ctr128BE>(), 16);
/// assert_eq!(bytes::<flavors::Ctr32BE>(), 4);
/// ```
pub trait CtrFlavor: sealed::Sealed<Self::Counter> {
    /// Positions, in blocks.
    type Counter: StreamCipherCounter + Default;
}

macro_rules! flavor {
    ($name:ident, $mode:ident, $counter:ty, $bytes:literal) => {
        impl CtrFlavor for flavors::$name {
            type Counter = $counter;
        }

        impl sealed::Sealed<$counter> for flavors::$name {
            type Mode = $mode;

            fn block(mut iv: [u8; 16], position: $counter) -> [u8; 16] {
                if let Some(counter) = iv.last_chunk_mut::<$bytes>() {
                    let count = <$counter>::from_be_bytes(*counter).wrapping_add(position);
                    *counter = count.to_be_bytes();
                }
                iv
            }

            fn after(position: $counter, blocks: usize) -> $counter {
                // Cut off, as the counter itself is.
                position.wrapping_add(blocks as $counter)
            }

            fn remaining(position: $counter) -> Option<usize> {
                (<$counter>::MAX - position).try_into().ok()
            }
        }
    };
}

flavor!(Ctr128BE, Ctr, u128, 16);
flavor!(Ctr32BE, Ctr32, u32, 4);

/// The keystream of [`Ctr128BE`] and [`Ctr32BE`] in whole blocks.
///
/// ```
/// use aescomb::rustcrypto::Aes128;
/// use aescomb::rustcrypto::cipher::{KeyIvInit, StreamCipherCore};
/// use aescomb::rustcrypto::ctr::{CtrCore, flavors};
///
/// let mut core = CtrCore::<Aes128, flavors::Ctr128BE>::new(&[7; 16].into(), &[1; 16].into());
/// let mut keystream = [[0; 16].into(); 2];
/// core.write_keystream_blocks(&mut keystream);
/// assert_ne!(keystream[0], keystream[1]);
/// ```
pub struct CtrCore<A, F: CtrFlavor> {
    key: Key<F::Mode>,
    iv: Block,
    position: F::Counter,
    aes: PhantomData<A>,
}

impl<A, F: CtrFlavor> CtrCore<A, F> {
    /// The expanded key, for batches.
    ///
    /// ```
    /// use aescomb::rustcrypto::Aes128;
    /// use aescomb::rustcrypto::cipher::KeyIvInit;
    /// use aescomb::rustcrypto::ctr::{CtrCore, flavors};
    ///
    /// let core = CtrCore::<Aes128, flavors::Ctr128BE>::new(&[7; 16].into(), &[1; 16].into());
    /// assert_eq!(core.key().mode(), aescomb::Mode::Ctr);
    /// ```
    pub fn key(&self) -> &Key<F::Mode> {
        &self.key
    }
}

impl<A, F: CtrFlavor> Clone for CtrCore<A, F> {
    fn clone(&self) -> Self {
        CtrCore {
            key: self.key.clone(),
            ..*self
        }
    }
}

impl<A, F: CtrFlavor> fmt::Debug for CtrCore<A, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CtrCore").finish_non_exhaustive()
    }
}

impl<A, F: CtrFlavor> ZeroizeOnDrop for CtrCore<A, F> {}

impl<A: Aes, F: CtrFlavor> KeySizeUser for CtrCore<A, F> {
    type KeySize = A::KeySize;
}

impl<A, F: CtrFlavor> IvSizeUser for CtrCore<A, F> {
    type IvSize = U16;
}

impl<A, F: CtrFlavor> BlockSizeUser for CtrCore<A, F> {
    type BlockSize = U16;
}

impl<A, F: CtrFlavor> ParBlocksSizeUser for CtrCore<A, F> {
    type ParBlocksSize = AtOnce;
}

impl<A: Aes, F: CtrFlavor> KeyIvInit for CtrCore<A, F> {
    fn new(key: &cipher::Key<Self>, iv: &Block) -> Self {
        CtrCore {
            key: expanded(key),
            iv: *iv,
            position: F::Counter::default(),
            aes: PhantomData,
        }
    }
}

impl<A, F: CtrFlavor> IvState for CtrCore<A, F> {
    fn iv_state(&self) -> Block {
        Array(F::block(self.iv.0, self.position))
    }
}

impl<A, F: CtrFlavor> SetIvState for CtrCore<A, F> {
    fn set_iv(&mut self, iv: &Block) {
        self.iv = *iv;
        self.position = F::Counter::default();
    }
}

impl<A, F: CtrFlavor> StreamCipherSeekCore for CtrCore<A, F> {
    type Counter = F::Counter;

    fn get_block_pos(&self) -> F::Counter {
        self.position
    }

    fn set_block_pos(&mut self, position: F::Counter) {
        self.position = position;
    }
}

impl<A, F: CtrFlavor> StreamCipherCore for CtrCore<A, F> {
    fn remaining_blocks(&self) -> Option<usize> {
        F::remaining(self.position)
    }

    fn process_with_backend(&mut self, f: impl StreamCipherClosure<BlockSize = U16>) {
        f.call(self);
    }

    fn write_keystream_blocks(&mut self, blocks: &mut [Block]) {
        blocks.fill(Block::default());
        self.apply_keystream_blocks(blocks);
    }

    fn apply_keystream_blocks(&mut self, blocks: &mut [Block]) {
        self.apply_keystream_blocks_inout(blocks.into());
    }

    fn apply_keystream_blocks_inout(&mut self, blocks: InOutBuf<'_, '_, Block>) {
        let counter = self.iv_state();
        self.position = F::after(self.position, blocks.len());
        crypt::<ENCRYPT, _>(&self.key, &counter, bytes(blocks));
    }
}

impl<A, F: CtrFlavor> StreamCipherBackend for CtrCore<A, F> {
    fn gen_ks_block(&mut self, block: &mut Block) {
        self.write_keystream_blocks(core::slice::from_mut(block));
    }

    fn gen_par_ks_blocks(&mut self, blocks: &mut Array<Block, AtOnce>) {
        self.write_keystream_blocks(blocks);
    }

    fn gen_tail_blocks(&mut self, blocks: &mut [Block]) {
        self.write_keystream_blocks(blocks);
    }
}
