//! AES itself, block by block: FIPS 197.

use super::sealed::Sealed;
use super::{AtOnce, Block, bytes, crypt, expanded};
use crate::backend::Backend;
use crate::cipher::encrypt_block;
use crate::key::Key;
use crate::modes::Ecb;
use crate::single::{DECRYPT, ENCRYPT};
use cipher::array::Array;
use cipher::consts::{U16, U24, U32, U48, U64};
use cipher::inout::NotEqualError;
use cipher::{
    AlgorithmName, BlockCipherDecBackend, BlockCipherDecClosure, BlockCipherDecrypt,
    BlockCipherEncBackend, BlockCipherEncClosure, BlockCipherEncrypt, BlockSizeUser, InOut,
    InOutBuf, KeyInit, KeySizeUser, ParBlocksSizeUser,
};
use core::fmt;
use zeroize::ZeroizeOnDrop;

/// AES with one of its key sizes: [`Aes128`], [`Aes192`] and [`Aes256`], which the
/// modes of this module are generic over. Sealed.
pub trait Aes:
    KeyInit
    + BlockCipherEncrypt
    + BlockCipherDecrypt
    + BlockSizeUser<BlockSize = U16>
    + Clone
    + fmt::Debug
    + Sealed
{
}

macro_rules! aes {
    ($name:ident, $text:literal, $bytes:literal, $size:ty, $two:ty) => {
        #[doc = concat!($text, " (FIPS 197): keys of ", $bytes, " bytes, blocks of 16.")]
        ///
        /// A building block: blocks are encrypted one by one, as in mode ECB (SP
        /// 800-38A section 6.1), and equal blocks encrypt equally. Many blocks cost one
        /// call and are worked on side by side.
        ///
        /// ```
        #[doc = concat!("use aescomb::rustcrypto::", stringify!($name), ";")]
        /// use aescomb::rustcrypto::cipher::{BlockCipherDecrypt, BlockCipherEncrypt, KeyInit};
        ///
        #[doc = concat!("let aes = ", stringify!($name), "::new(&[7; ", $bytes, "].into());")]
        /// let mut blocks = [[0; 16].into(), [1; 16].into()];
        /// aes.encrypt_blocks(&mut blocks);
        /// aes.decrypt_blocks(&mut blocks);
        /// assert_eq!(blocks[1], [1; 16]);
        /// ```
        #[derive(Clone)]
        pub struct $name(Key<Ecb>);

        impl $name {
            /// The expanded key, for batches.
            pub fn key(&self) -> &Key<Ecb> {
                &self.0
            }
        }

        impl Aes for $name {}

        impl Sealed for $name {
            type Two = $two;

            fn codebook(&self) -> &Key<Ecb> {
                &self.0
            }
        }

        impl KeySizeUser for $name {
            type KeySize = $size;
        }

        impl BlockSizeUser for $name {
            type BlockSize = U16;
        }

        impl KeyInit for $name {
            fn new(key: &cipher::Key<Self>) -> Self {
                $name(expanded(key))
            }
        }

        impl BlockCipherEncrypt for $name {
            fn encrypt_with_backend(&self, f: impl BlockCipherEncClosure<BlockSize = U16>) {
                f.call(&Codebook(&self.0));
            }

            fn encrypt_blocks_inout(&self, blocks: InOutBuf<'_, '_, Block>) {
                crypt::<ENCRYPT, _>(&self.0, &[], bytes(blocks));
            }

            fn encrypt_blocks(&self, blocks: &mut [Block]) {
                self.encrypt_blocks_inout(blocks.into());
            }

            fn encrypt_blocks_b2b(
                &self,
                from: &[Block],
                to: &mut [Block],
            ) -> Result<(), NotEqualError> {
                InOutBuf::new(from, to).map(|blocks| self.encrypt_blocks_inout(blocks))
            }
        }

        impl BlockCipherDecrypt for $name {
            fn decrypt_with_backend(&self, f: impl BlockCipherDecClosure<BlockSize = U16>) {
                f.call(&Codebook(&self.0));
            }

            fn decrypt_blocks_inout(&self, blocks: InOutBuf<'_, '_, Block>) {
                crypt::<DECRYPT, _>(&self.0, &[], bytes(blocks));
            }

            fn decrypt_blocks(&self, blocks: &mut [Block]) {
                self.decrypt_blocks_inout(blocks.into());
            }

            fn decrypt_blocks_b2b(
                &self,
                from: &[Block],
                to: &mut [Block],
            ) -> Result<(), NotEqualError> {
                InOutBuf::new(from, to).map(|blocks| self.decrypt_blocks_inout(blocks))
            }
        }

        impl AlgorithmName for $name {
            fn write_alg_name(f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(stringify!($name))
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($name)).finish_non_exhaustive()
            }
        }

        impl ZeroizeOnDrop for $name {}
    };
}

aes!(Aes128, "AES-128", "16", U16, U32);
aes!(Aes192, "AES-192", "24", U24, U48);
aes!(Aes256, "AES-256", "32", U32, U64);

/// What closures work with.
struct Codebook<'k>(&'k Key<Ecb>);

impl BlockSizeUser for Codebook<'_> {
    type BlockSize = U16;
}

impl ParBlocksSizeUser for Codebook<'_> {
    type ParBlocksSize = AtOnce;
}

impl BlockCipherEncBackend for Codebook<'_> {
    fn encrypt_block(&self, mut block: InOut<'_, '_, Block>) {
        let x = block.clone_in().0;
        *block.get_out() = Array(encrypt_block(
            Backend::preferred(false),
            self.0.expanded(),
            x,
        ));
    }

    fn encrypt_par_blocks(&self, blocks: InOut<'_, '_, Array<Block, AtOnce>>) {
        self.encrypt_tail_blocks(blocks.into_buf());
    }

    fn encrypt_tail_blocks(&self, blocks: InOutBuf<'_, '_, Block>) {
        crypt::<ENCRYPT, _>(self.0, &[], bytes(blocks));
    }
}

impl BlockCipherDecBackend for Codebook<'_> {
    fn decrypt_block(&self, block: InOut<'_, '_, Block>) {
        crypt::<DECRYPT, _>(self.0, &[], block.into_buf());
    }

    fn decrypt_par_blocks(&self, blocks: InOut<'_, '_, Array<Block, AtOnce>>) {
        self.decrypt_tail_blocks(blocks.into_buf());
    }

    fn decrypt_tail_blocks(&self, blocks: InOutBuf<'_, '_, Block>) {
        crypt::<DECRYPT, _>(self.0, &[], bytes(blocks));
    }
}
