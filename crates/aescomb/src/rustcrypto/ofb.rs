//! Output feedback: SP 800-38A section 6.4.

use super::{Aes, AtOnce, Block, bytes, crypt, expanded};
use crate::key::Key;
use crate::modes;
use crate::single::ENCRYPT;
use cipher::array::Array;
use cipher::consts::U16;
use cipher::{
    BlockSizeUser, InOutBuf, IvSizeUser, IvState, KeyIvInit, KeySizeUser, ParBlocksSizeUser,
    SetIvState, StreamCipherBackend, StreamCipherClosure, StreamCipherCore,
    StreamCipherCoreWrapper,
};
use core::fmt;
use core::marker::PhantomData;
use zeroize::{Zeroize, ZeroizeOnDrop};

/// OFB: `KeyIvInit`, `StreamCipher`.
///
/// Keys of 16, 24 or 32 bytes as `A` says; initialisation vectors of 16 bytes, which
/// must never repeat under a key; any number of bytes. Does not authenticate. Blocks
/// of one message wait for each other: for many messages see
/// [`Comb::encrypt`](crate::Comb::encrypt).
///
/// ```
/// use aescomb::rustcrypto::cipher::{KeyIvInit, StreamCipher};
/// use aescomb::rustcrypto::{Aes192, ofb::Ofb};
///
/// let (key, iv) = ([7; 24].into(), [1; 16].into());
/// let mut text = *b"any number of bytes";
/// Ofb::<Aes192>::new(&key, &iv).apply_keystream(&mut text);
/// Ofb::<Aes192>::new(&key, &iv).apply_keystream(&mut text);
/// assert_eq!(&text, b"any number of bytes");
/// ```
pub type Ofb<A> = StreamCipherCoreWrapper<OfbCore<A>>;

/// The keystream of [`Ofb`] in whole blocks.
///
/// ```
/// use aescomb::rustcrypto::Aes128;
/// use aescomb::rustcrypto::cipher::{KeyIvInit, StreamCipherCore};
/// use aescomb::rustcrypto::ofb::OfbCore;
///
/// let mut core = OfbCore::<Aes128>::new(&[7; 16].into(), &[1; 16].into());
/// let mut keystream = [[0; 16].into(); 2];
/// core.write_keystream_blocks(&mut keystream);
/// assert_ne!(keystream[0], keystream[1]);
/// ```
pub struct OfbCore<A> {
    key: Key<modes::Ofb>,
    /// The last block of keystream.
    iv: Block,
    aes: PhantomData<A>,
}

impl<A> OfbCore<A> {
    /// The expanded key, for batches.
    ///
    /// ```
    /// use aescomb::rustcrypto::Aes128;
    /// use aescomb::rustcrypto::cipher::KeyIvInit;
    /// use aescomb::rustcrypto::ofb::OfbCore;
    ///
    /// let core = OfbCore::<Aes128>::new(&[7; 16].into(), &[1; 16].into());
    /// assert_eq!(core.key().mode(), aescomb::Mode::Ofb);
    /// ```
    pub fn key(&self) -> &Key<modes::Ofb> {
        &self.key
    }
}

impl<A> Clone for OfbCore<A> {
    fn clone(&self) -> Self {
        OfbCore {
            key: self.key.clone(),
            iv: self.iv,
            aes: PhantomData,
        }
    }
}

impl<A> fmt::Debug for OfbCore<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OfbCore").finish_non_exhaustive()
    }
}

impl<A> Drop for OfbCore<A> {
    fn drop(&mut self) {
        self.iv.0.zeroize();
    }
}

impl<A> ZeroizeOnDrop for OfbCore<A> {}

impl<A: Aes> KeySizeUser for OfbCore<A> {
    type KeySize = A::KeySize;
}

impl<A> IvSizeUser for OfbCore<A> {
    type IvSize = U16;
}

impl<A> BlockSizeUser for OfbCore<A> {
    type BlockSize = U16;
}

impl<A> ParBlocksSizeUser for OfbCore<A> {
    type ParBlocksSize = AtOnce;
}

impl<A: Aes> KeyIvInit for OfbCore<A> {
    fn new(key: &cipher::Key<Self>, iv: &Block) -> Self {
        OfbCore {
            key: expanded(key),
            iv: *iv,
            aes: PhantomData,
        }
    }
}

impl<A> IvState for OfbCore<A> {
    fn iv_state(&self) -> Block {
        self.iv
    }
}

impl<A> SetIvState for OfbCore<A> {
    fn set_iv(&mut self, iv: &Block) {
        self.iv = *iv;
    }
}

impl<A> StreamCipherCore for OfbCore<A> {
    fn remaining_blocks(&self) -> Option<usize> {
        None
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

    fn apply_keystream_blocks_inout(&mut self, mut blocks: InOutBuf<'_, '_, Block>) {
        // The keystream is what the last block changes by; in place, it writes over it.
        let before = blocks.get_in().last().copied();
        crypt::<ENCRYPT, _>(&self.key, &self.iv, bytes(blocks.reborrow()));
        if let (Some(before), Some(after)) = (before, blocks.get_out().last()) {
            self.iv = Array::from_fn(|i| before[i] ^ after[i]);
        }
    }
}

impl<A> StreamCipherBackend for OfbCore<A> {
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
