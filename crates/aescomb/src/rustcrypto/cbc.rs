//! Cipher block chaining: SP 800-38A section 6.2.

use super::chained::prelude::*;

direction! {
    /// CBC encryption: [`KeyIvInit`], [`BlockModeEncrypt`], [`IvState`].
    ///
    /// Keys of 16, 24 or 32 bytes as `A` says; initialisation vectors of 16 bytes,
    /// which an attacker must not be able to predict; whole blocks, or padding by
    /// `encrypt_padded` (feature `block-padding` of the crate `cipher`). Does not
    /// authenticate. Blocks of one message wait for each other: for many messages see
    /// [`Comb::encrypt`](crate::Comb::encrypt).
    ///
    /// ```
    /// use aescomb::rustcrypto::cipher::{BlockModeDecrypt, BlockModeEncrypt, KeyIvInit};
    /// use aescomb::rustcrypto::{Aes128, cbc};
    ///
    /// let (key, iv) = ([7; 16].into(), [9; 16].into());
    /// let mut blocks = [[0; 16].into(), [1; 16].into()];
    /// cbc::Encryptor::<Aes128>::new(&key, &iv).encrypt_blocks(&mut blocks);
    /// cbc::Decryptor::<Aes128>::new(&key, &iv).decrypt_blocks(&mut blocks);
    /// assert_eq!(blocks[1], [1; 16]);
    /// ```
    Encryptor, Cbc, ENCRYPT,
    BlockModeEncrypt, BlockModeEncClosure, encrypt_with_backend, encrypt_blocks_inout,
    encrypt_blocks, encrypt_blocks_b2b
}

direction! {
    /// CBC decryption: [`KeyIvInit`], [`BlockModeDecrypt`], [`IvState`].
    ///
    /// Sizes as for [`Encryptor`]. Blocks given together are
    /// decrypted side by side. The errors of `decrypt_padded` can tell an attacker
    /// the text: check a MAC of the ciphertext before.
    ///
    /// ```
    /// use aescomb::rustcrypto::cipher::{BlockModeDecrypt, BlockModeEncrypt, KeyIvInit};
    /// use aescomb::rustcrypto::{Aes256, cbc};
    ///
    /// let (key, iv) = ([7; 32].into(), [9; 16].into());
    /// let mut blocks = [[3; 16].into(); 20];
    /// cbc::Encryptor::<Aes256>::new(&key, &iv).encrypt_blocks(&mut blocks);
    /// cbc::Decryptor::<Aes256>::new(&key, &iv).decrypt_blocks(&mut blocks);
    /// assert_eq!(blocks[19], [3; 16]);
    /// ```
    Decryptor, Cbc, DECRYPT,
    BlockModeDecrypt, BlockModeDecClosure, decrypt_with_backend, decrypt_blocks_inout,
    decrypt_blocks, decrypt_blocks_b2b
}
