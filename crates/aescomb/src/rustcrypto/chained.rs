//! CBC and CFB: modes whose state is the last block of ciphertext.

use super::{AtOnce, Block, bytes, crypt};
use crate::key::Key;
use crate::modes::CipherMode;
use crate::single::{DECRYPT, ENCRYPT};
use cipher::array::Array;
use cipher::consts::U16;
use cipher::{
    BlockModeDecBackend, BlockModeEncBackend, BlockSizeUser, InOut, InOutBuf, ParBlocksSizeUser,
};

/// A message under way, in one direction.
pub(super) struct Chained<M> {
    pub key: Key<M>,
    pub iv: Block,
}

impl<M> Clone for Chained<M> {
    fn clone(&self) -> Self {
        Chained {
            key: self.key.clone(),
            iv: self.iv,
        }
    }
}

impl<M: CipherMode> Chained<M> {
    /// The next bytes of the message: whole blocks, or in CFB any number if they are
    /// the last.
    pub(super) fn next<const OP: u8>(&mut self, mut buf: InOutBuf<'_, '_, u8>) {
        // Decryption in place writes over it.
        let before = buf.get_in().last_chunk().copied();
        crypt::<OP, _>(&self.key, &self.iv, buf.reborrow());
        let last = match OP {
            DECRYPT => before,
            _ => buf.get_out().last_chunk().copied(),
        };
        if let Some(last) = last {
            self.iv = Array(last);
        }
    }
}

impl<M> BlockSizeUser for Chained<M> {
    type BlockSize = U16;
}

impl<M> ParBlocksSizeUser for Chained<M> {
    type ParBlocksSize = AtOnce;
}

impl<M: CipherMode> BlockModeEncBackend for Chained<M> {
    fn encrypt_block(&mut self, block: InOut<'_, '_, Block>) {
        self.next::<ENCRYPT>(block.into_buf());
    }

    fn encrypt_par_blocks(&mut self, blocks: InOut<'_, '_, Array<Block, AtOnce>>) {
        self.next::<ENCRYPT>(bytes(blocks.into_buf()));
    }

    fn encrypt_tail_blocks(&mut self, blocks: InOutBuf<'_, '_, Block>) {
        self.next::<ENCRYPT>(bytes(blocks));
    }
}

impl<M: CipherMode> BlockModeDecBackend for Chained<M> {
    fn decrypt_block(&mut self, block: InOut<'_, '_, Block>) {
        self.next::<DECRYPT>(block.into_buf());
    }

    fn decrypt_par_blocks(&mut self, blocks: InOut<'_, '_, Array<Block, AtOnce>>) {
        self.next::<DECRYPT>(bytes(blocks.into_buf()));
    }

    fn decrypt_tail_blocks(&mut self, blocks: InOutBuf<'_, '_, Block>) {
        self.next::<DECRYPT>(bytes(blocks));
    }
}

/// A direction of a mode, as a type that implements `BlockModeEncrypt` or
/// `BlockModeDecrypt`.
macro_rules! direction {
    (
        $(#[$doc:meta])*
        $name:ident, $mode:ident, $op:ident,
        $trait:ident, $closure:ident, $with_backend:ident, $inout:ident, $in_place:ident, $b2b:ident
    ) => {
        $(#[$doc])*
        pub struct $name<A> {
            chained: Chained<$mode>,
            aes: PhantomData<A>,
        }

        impl<A> $name<A> {
            /// The expanded key, for batches.
            ///
            /// ```
            /// use aescomb::rustcrypto::Aes128;
            /// use aescomb::rustcrypto::cbc::Encryptor;
            /// use aescomb::rustcrypto::cipher::KeyIvInit;
            ///
            /// let encryptor = Encryptor::<Aes128>::new(&[7; 16].into(), &[1; 16].into());
            /// assert_eq!(encryptor.key().mode(), aescomb::Mode::Cbc);
            /// ```
            pub fn key(&self) -> &Key<$mode> {
                &self.chained.key
            }
        }

        impl<A> Clone for $name<A> {
            fn clone(&self) -> Self {
                $name {
                    chained: self.chained.clone(),
                    aes: PhantomData,
                }
            }
        }

        impl<A> fmt::Debug for $name<A> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($name)).finish_non_exhaustive()
            }
        }

        impl<A> ZeroizeOnDrop for $name<A> {}

        impl<A: Aes> KeySizeUser for $name<A> {
            type KeySize = A::KeySize;
        }

        impl<A> IvSizeUser for $name<A> {
            type IvSize = U16;
        }

        impl<A> BlockSizeUser for $name<A> {
            type BlockSize = U16;
        }

        impl<A: Aes> KeyIvInit for $name<A> {
            fn new(key: &cipher::Key<Self>, iv: &Block) -> Self {
                $name {
                    chained: Chained {
                        key: expanded(key),
                        iv: *iv,
                    },
                    aes: PhantomData,
                }
            }
        }

        impl<A> IvState for $name<A> {
            fn iv_state(&self) -> Block {
                self.chained.iv
            }
        }

        impl<A> SetIvState for $name<A> {
            fn set_iv(&mut self, iv: &Block) {
                self.chained.iv = *iv;
            }
        }

        impl<A> $trait for $name<A> {
            fn $with_backend(&mut self, f: impl $closure<BlockSize = U16>) {
                f.call(&mut self.chained);
            }

            fn $inout(&mut self, blocks: InOutBuf<'_, '_, Block>) {
                self.chained.next::<$op>(bytes(blocks));
            }

            fn $in_place(&mut self, blocks: &mut [Block]) {
                self.$inout(blocks.into());
            }

            fn $b2b(&mut self, from: &[Block], to: &mut [Block]) -> Result<(), NotEqualError> {
                InOutBuf::new(from, to).map(|blocks| self.$inout(blocks))
            }
        }
    };
}
pub(super) use direction;

/// What [`direction`] names.
pub(super) mod prelude {
    pub(in super::super) use super::{Chained, direction};
    pub(in super::super) use crate::key::Key;
    pub(in super::super) use crate::modes::{Cbc, Cfb128};
    pub(in super::super) use crate::rustcrypto::{Aes, Block, bytes, expanded};
    pub(in super::super) use crate::single::{DECRYPT, ENCRYPT};
    pub(in super::super) use cipher::consts::U16;
    pub(in super::super) use cipher::inout::NotEqualError;
    pub(in super::super) use cipher::{
        BlockModeDecClosure, BlockModeDecrypt, BlockModeEncClosure, BlockModeEncrypt,
        BlockSizeUser, InOutBuf, IvSizeUser, IvState, KeyIvInit, KeySizeUser, SetIvState,
    };
    pub(in super::super) use core::fmt;
    pub(in super::super) use core::marker::PhantomData;
    pub(in super::super) use zeroize::ZeroizeOnDrop;
}
