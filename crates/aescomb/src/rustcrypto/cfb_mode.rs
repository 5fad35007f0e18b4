//! Cipher feedback with 128-bit segments: SP 800-38A section 6.3.

use super::chained::prelude::*;

direction! {
    /// CFB encryption: [`KeyIvInit`], [`BlockModeEncrypt`], [`IvState`], and of a whole
    /// message by [`encrypt`](Encryptor::encrypt).
    ///
    /// Keys of 16, 24 or 32 bytes as `A` says; initialisation vectors of 16 bytes,
    /// which an attacker must not be able to predict; any number of bytes. Does not
    /// authenticate. Blocks of one message wait for each other: for many messages see
    /// [`Comb::encrypt`](crate::Comb::encrypt).
    ///
    /// ```
    /// use aescomb::rustcrypto::cipher::KeyIvInit;
    /// use aescomb::rustcrypto::{Aes256, cfb_mode};
    ///
    /// let (key, iv) = ([7; 32].into(), [9; 16].into());
    /// let mut text = *b"any number of bytes";
    /// cfb_mode::Encryptor::<Aes256>::new(&key, &iv).encrypt(&mut text);
    /// cfb_mode::Decryptor::<Aes256>::new(&key, &iv).decrypt(&mut text);
    /// assert_eq!(&text, b"any number of bytes");
    /// ```
    Encryptor, Cfb128, ENCRYPT,
    BlockModeEncrypt, BlockModeEncClosure, encrypt_with_backend, encrypt_blocks_inout,
    encrypt_blocks, encrypt_blocks_b2b
}

direction! {
    /// CFB decryption: [`KeyIvInit`], [`BlockModeDecrypt`], [`IvState`], and of a whole
    /// message by [`decrypt`](Decryptor::decrypt).
    ///
    /// Sizes as for [`Encryptor`]. Blocks given together are
    /// decrypted side by side.
    ///
    /// ```
    /// use aescomb::rustcrypto::cipher::{BlockModeDecrypt, BlockModeEncrypt, KeyIvInit};
    /// use aescomb::rustcrypto::{Aes128, cfb_mode};
    ///
    /// let (key, iv) = ([7; 16].into(), [9; 16].into());
    /// let mut blocks = [[3; 16].into(); 2];
    /// cfb_mode::Encryptor::<Aes128>::new(&key, &iv).encrypt_blocks(&mut blocks);
    /// cfb_mode::Decryptor::<Aes128>::new(&key, &iv).decrypt_blocks(&mut blocks);
    /// assert_eq!(blocks[1], [3; 16]);
    /// ```
    Decryptor, Cfb128, DECRYPT,
    BlockModeDecrypt, BlockModeDecClosure, decrypt_with_backend, decrypt_blocks_inout,
    decrypt_blocks, decrypt_blocks_b2b
}

impl<A> Encryptor<A> {
    /// Encrypts the rest of the message, any number of bytes.
    ///
    /// ```
    /// use aescomb::rustcrypto::cipher::KeyIvInit;
    /// use aescomb::rustcrypto::{Aes128, cfb_mode};
    ///
    /// let (key, iv) = ([7; 16].into(), [9; 16].into());
    /// let mut text = *b"a message";
    /// cfb_mode::Encryptor::<Aes128>::new(&key, &iv).encrypt_inout(text.as_mut_slice().into());
    /// cfb_mode::Decryptor::<Aes128>::new(&key, &iv).decrypt_inout(text.as_mut_slice().into());
    /// assert_eq!(&text, b"a message");
    /// ```
    pub fn encrypt_inout(mut self, data: InOutBuf<'_, '_, u8>) {
        self.chained.next::<ENCRYPT>(data);
    }

    /// Encrypts the rest of the message in place.
    ///
    /// ```
    /// use aescomb::rustcrypto::cipher::KeyIvInit;
    /// use aescomb::rustcrypto::{Aes128, cfb_mode};
    ///
    /// let (key, iv) = ([7; 16].into(), [9; 16].into());
    /// let mut text = *b"a message";
    /// cfb_mode::Encryptor::<Aes128>::new(&key, &iv).encrypt(&mut text);
    /// assert_ne!(&text, b"a message");
    /// ```
    pub fn encrypt(self, data: &mut [u8]) {
        self.encrypt_inout(data.into());
    }

    /// Encrypts the rest of the message, from one buffer to another.
    ///
    /// ```
    /// use aescomb::rustcrypto::cipher::KeyIvInit;
    /// use aescomb::rustcrypto::{Aes128, cfb_mode};
    ///
    /// let (key, iv) = ([7; 16].into(), [9; 16].into());
    /// let mut out = [0; 9];
    /// cfb_mode::Encryptor::<Aes128>::new(&key, &iv).encrypt_b2b(b"a message", &mut out)?;
    /// let mut back = [0; 9];
    /// cfb_mode::Decryptor::<Aes128>::new(&key, &iv).decrypt_b2b(&out, &mut back)?;
    /// assert_eq!(&back, b"a message");
    /// # Ok::<(), aescomb::rustcrypto::cipher::inout::NotEqualError>(())
    /// ```
    ///
    /// # Errors
    /// [`NotEqualError`] for buffers of different lengths.
    pub fn encrypt_b2b(self, from: &[u8], to: &mut [u8]) -> Result<(), NotEqualError> {
        InOutBuf::new(from, to).map(|data| self.encrypt_inout(data))
    }
}

impl<A> Decryptor<A> {
    /// Decrypts the rest of the message, any number of bytes.
    ///
    /// ```
    /// use aescomb::rustcrypto::cipher::KeyIvInit;
    /// use aescomb::rustcrypto::{Aes128, cfb_mode};
    ///
    /// let (key, iv) = ([7; 16].into(), [9; 16].into());
    /// let mut text = *b"a message";
    /// cfb_mode::Decryptor::<Aes128>::new(&key, &iv).decrypt_inout(text.as_mut_slice().into());
    /// cfb_mode::Encryptor::<Aes128>::new(&key, &iv).encrypt_inout(text.as_mut_slice().into());
    /// assert_eq!(&text, b"a message");
    /// ```
    pub fn decrypt_inout(mut self, data: InOutBuf<'_, '_, u8>) {
        self.chained.next::<DECRYPT>(data);
    }

    /// Decrypts the rest of the message in place.
    ///
    /// ```
    /// use aescomb::rustcrypto::cipher::KeyIvInit;
    /// use aescomb::rustcrypto::{Aes128, cfb_mode};
    ///
    /// let (key, iv) = ([7; 16].into(), [9; 16].into());
    /// let mut text = *b"a message";
    /// cfb_mode::Decryptor::<Aes128>::new(&key, &iv).decrypt(&mut text);
    /// assert_ne!(&text, b"a message");
    /// ```
    pub fn decrypt(self, data: &mut [u8]) {
        self.decrypt_inout(data.into());
    }

    /// Decrypts the rest of the message, from one buffer to another.
    ///
    /// ```
    /// use aescomb::rustcrypto::cipher::KeyIvInit;
    /// use aescomb::rustcrypto::{Aes128, cfb_mode};
    ///
    /// let (key, iv) = ([7; 16].into(), [9; 16].into());
    /// let mut out = [0; 9];
    /// cfb_mode::Decryptor::<Aes128>::new(&key, &iv).decrypt_b2b(b"a message", &mut out)?;
    /// let mut back = [0; 9];
    /// cfb_mode::Encryptor::<Aes128>::new(&key, &iv).encrypt_b2b(&out, &mut back)?;
    /// assert_eq!(&back, b"a message");
    /// # Ok::<(), aescomb::rustcrypto::cipher::inout::NotEqualError>(())
    /// ```
    ///
    /// # Errors
    /// [`NotEqualError`] for buffers of different lengths.
    pub fn decrypt_b2b(self, from: &[u8], to: &mut [u8]) -> Result<(), NotEqualError> {
        InOutBuf::new(from, to).map(|data| self.decrypt_inout(data))
    }
}
