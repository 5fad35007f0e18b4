//! Calls of a key: one message at a time.
//!
//! They are always compiled into the caller. A call to such a call would store the message and its
//! result, and save registers: 30 instructions, of some 50 beside AES.

use crate::error::{Error, OpenError};
use crate::key::Key;
use crate::message::Message;
use crate::modes::{AeadMode, CipherMode, Kernels, MacMode};
use crate::single::{DECRYPT, ENCRYPT, MAC, OPEN, SEAL, VERIFY};
use crate::text::Text;

/// One message at a time, under this key, with the backend that this CPU prefers.
/// For more than a few messages, [`Comb`](crate::Comb) is many times as fast in the modes that
/// are serial.
impl<M: CipherMode> Key<M> {
    /// Encrypts a text to where it says, and returns how many bytes of result there are.
    ///
    /// ```
    /// use aescomb::modes::CbcPkcs7;
    /// use aescomb::{Key, Text};
    ///
    /// let key = Key::<CbcPkcs7>::new(&[0; 16])?;
    /// let (mut sealed, mut opened) = ([0; 48], [0; 48]);
    /// let len = key.encrypt(&[1; 16], Text::copy(b"any number of bytes", &mut sealed))?;
    /// assert_eq!(len, 32);
    /// let len = key.decrypt(&[1; 16], Text::copy(&sealed[..len], &mut opened))?;
    /// assert_eq!(&opened[..len], b"any number of bytes");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`Comb::encrypt`](crate::Comb::encrypt).
    #[inline(always)]
    pub fn encrypt(&self, nonce: &[u8], text: Text<'_>) -> Result<usize, Error> {
        made(self.single::<ENCRYPT>(Message::new(text).nonce(nonce)))
    }

    /// Decrypts a text to where it says, and returns how many bytes of plaintext there are.
    ///
    /// # Errors
    /// As [`Comb::decrypt`](crate::Comb::decrypt); with invalid padding, the result is wiped.
    #[inline(always)]
    pub fn decrypt(&self, nonce: &[u8], text: Text<'_>) -> Result<usize, OpenError> {
        self.single::<DECRYPT>(Message::new(text).nonce(nonce))
    }

    /// Encrypts `data` in place.
    ///
    /// ```
    /// use aescomb::Key;
    /// use aescomb::modes::Ctr;
    ///
    /// let key = Key::<Ctr>::new(&[0; 16])?;
    /// let mut data = *b"any number of bytes";
    /// key.encrypt_in_place(&[1; 16], &mut data)?;
    /// key.decrypt_in_place(&[1; 16], &mut data)?;
    /// assert_eq!(&data, b"any number of bytes");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`Comb::encrypt`](crate::Comb::encrypt); a padded mode needs room that a slice does not say
    /// it has, and takes a [`Text`].
    #[inline(always)]
    pub fn encrypt_in_place(&self, nonce: &[u8], data: &mut [u8]) -> Result<(), Error> {
        self.encrypt(nonce, Text::in_place(data)).map(|_| ())
    }

    /// Decrypts `data` in place and returns how many bytes of it are plaintext.
    ///
    /// # Errors
    /// As [`Comb::decrypt`](crate::Comb::decrypt); with invalid padding, the data is wiped.
    #[inline(always)]
    pub fn decrypt_in_place(&self, nonce: &[u8], data: &mut [u8]) -> Result<usize, OpenError> {
        self.decrypt(nonce, Text::in_place(data))
    }
}

/// One message at a time, as above.
impl<M: MacMode> Key<M> {
    /// Computes the tag of `data`, in a mode without a nonce.
    ///
    /// ```
    /// use aescomb::Key;
    /// use aescomb::modes::Cmac;
    ///
    /// let key = Key::<Cmac>::new(&[0; 16])?;
    /// let mut tag = [0; 16];
    /// key.mac(b"a message", &mut tag)?;
    /// key.verify(b"a message", &tag)?;
    /// assert!(key.verify(b"another", &tag).is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// `tag` has as many bytes as the tag is to have, which are some of
    /// [`Info::tag_bytes`](crate::Info::tag_bytes).
    ///
    /// # Errors
    /// As [`Comb::mac`](crate::Comb::mac).
    #[inline(always)]
    pub fn mac(&self, data: &[u8], tag: &mut [u8]) -> Result<(), Error> {
        self.mac_with_nonce(&[], data, tag)
    }

    /// Computes the tag of `data` with a nonce.
    ///
    /// # Errors
    /// As [`Comb::mac`](crate::Comb::mac).
    #[inline(always)]
    pub fn mac_with_nonce(&self, nonce: &[u8], data: &[u8], tag: &mut [u8]) -> Result<(), Error> {
        let text = Text::read_only(data);
        made(self.single::<MAC>(Message::new(text).nonce(nonce).tag(tag))).map(|_| ())
    }

    /// Checks the tag of `data`, in constant time, in a mode without a nonce.
    ///
    /// # Errors
    /// As [`Comb::verify`](crate::Comb::verify).
    #[inline(always)]
    pub fn verify(&self, data: &[u8], tag: &[u8]) -> Result<(), OpenError> {
        self.verify_with_nonce(&[], data, tag)
    }

    /// Checks the tag of `data` with a nonce, in constant time.
    ///
    /// # Errors
    /// As [`Comb::verify`](crate::Comb::verify).
    #[inline(always)]
    pub fn verify_with_nonce(
        &self,
        nonce: &[u8],
        data: &[u8],
        tag: &[u8],
    ) -> Result<(), OpenError> {
        let message = Message::new(Text::read_only(data)).nonce(nonce);
        self.single::<VERIFY>(message.received_tag(tag)).map(|_| ())
    }
}

/// One message at a time, as above.
impl<M: AeadMode> Key<M> {
    /// Encrypts a text to where it says, makes its tag, and returns how many bytes of ciphertext
    /// there are.
    ///
    /// `tag` has as many bytes as the tag is to have, which are some of
    /// [`Info::tag_bytes`](crate::Info::tag_bytes). `associated_data` is one component, also if it is empty: SIV
    /// tells it from none, which a [`Message`] may have.
    ///
    /// ```
    /// use aescomb::modes::Gcm;
    /// use aescomb::{Key, Text};
    ///
    /// let key = Key::<Gcm>::new(&[0; 16])?;
    /// let (mut sealed, mut opened, mut tag) = ([0; 19], [0; 19], [0; 16]);
    /// let text = Text::copy(b"any number of bytes", &mut sealed);
    /// key.seal(&[1; 12], b"header", text, &mut tag)?;
    /// key.open(&[1; 12], b"header", Text::copy(&sealed, &mut opened), &tag)?;
    /// assert_eq!(&opened, b"any number of bytes");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`Comb::seal`](crate::Comb::seal).
    #[inline(always)]
    pub fn seal(
        &self,
        nonce: &[u8],
        associated_data: &[u8],
        text: Text<'_>,
        tag: &mut [u8],
    ) -> Result<usize, Error> {
        let message = Message::new(text)
            .nonce(nonce)
            .associated_data(associated_data)
            .tag(tag);
        made(self.single::<SEAL>(message))
    }

    /// Decrypts a text to where it says, checks its tag, and returns how many bytes of
    /// plaintext there are.
    ///
    /// # Errors
    /// As [`Comb::open`](crate::Comb::open); with a wrong tag, the result is wiped. A mode that
    /// does not tell how long the message is takes a batch of one.
    #[inline(always)]
    pub fn open(
        &self,
        nonce: &[u8],
        associated_data: &[u8],
        text: Text<'_>,
        tag: &[u8],
    ) -> Result<usize, OpenError> {
        let message = Message::new(text)
            .nonce(nonce)
            .associated_data(associated_data)
            .received_tag(tag);
        self.single::<OPEN>(message)
    }

    /// Encrypts `data` in place and makes its tag.
    ///
    /// ```
    /// use aescomb::Key;
    /// use aescomb::modes::Gcm;
    ///
    /// let key = Key::<Gcm>::new(&[0; 16])?;
    /// let (mut data, mut tag) = (*b"any number of bytes", [0; 16]);
    /// key.seal_in_place(&[1; 12], b"header", &mut data, &mut tag)?;
    /// key.open_in_place(&[1; 12], b"header", &mut data, &tag)?;
    /// assert_eq!(&data, b"any number of bytes");
    /// assert!(key.open_in_place(&[1; 12], b"header", &mut data, &tag).is_err());
    /// assert_eq!(data, [0; 19]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`Comb::seal`](crate::Comb::seal); a mode whose sealed text is longer needs room that a slice
    /// does not say it has, and takes a [`Text`].
    #[inline(always)]
    pub fn seal_in_place(
        &self,
        nonce: &[u8],
        associated_data: &[u8],
        data: &mut [u8],
        tag: &mut [u8],
    ) -> Result<(), Error> {
        let text = Text::in_place(data);
        self.seal(nonce, associated_data, text, tag).map(|_| ())
    }

    /// Decrypts `data` in place, checks its tag, and returns how many bytes of it are
    /// plaintext.
    ///
    /// # Errors
    /// As [`Comb::open`](crate::Comb::open); with a wrong tag, the data is wiped. A mode that
    /// does not tell how long the message is takes a batch of one.
    #[inline(always)]
    pub fn open_in_place(
        &self,
        nonce: &[u8],
        associated_data: &[u8],
        data: &mut [u8],
        tag: &[u8],
    ) -> Result<usize, OpenError> {
        self.open(nonce, associated_data, Text::in_place(data), tag)
    }
}

impl<M: Kernels> Key<M> {
    /// One message, whose tag is not attached: the bytes of its result.
    #[inline(always)]
    pub(crate) fn single<const OP: u8>(&self, message: Message<'_>) -> Result<usize, OpenError> {
        M::single::<OP>(self.expanded(), message.job())
    }
}

/// Of an operation that makes results and cannot fail.
#[inline(always)]
fn made(result: Result<usize, OpenError>) -> Result<usize, Error> {
    match result {
        Ok(len) => Ok(len),
        Err(OpenError::Refused(error)) => Err(error),
        Err(OpenError::Failed(_)) => unreachable!("nothing is compared"),
    }
}
