//! One message at a time: calls of a key, and the program that they run, whose checks are
//! constants of the mode and the operation.

use crate::admission::Rules;
use crate::batch::Message;
use crate::bytes::is_zero;
use crate::comb::FAILED;
use crate::engine::alone;
use crate::error::{Error, Failed, OpenError};
use crate::expanded::Expanded;
use crate::job::Job;
use crate::key::Key;
use crate::mode::Op;
use crate::modes::{AeadMode, CipherMode, Kernels, MacMode};
use crate::pass::Registered;
use crate::text::Text;
use alloc::vec::Vec;

/// Operations as constants.
pub(crate) const ENCRYPT: u8 = Op::Encrypt as u8;
pub(crate) const DECRYPT: u8 = Op::Decrypt as u8;
pub(crate) const MAC: u8 = Op::Mac as u8;
pub(crate) const VERIFY: u8 = Op::Verify as u8;
pub(crate) const SEAL: u8 = Op::Seal as u8;
pub(crate) const OPEN: u8 = Op::Open as u8;

/// One message at a time, under this key, with the backend that this CPU prefers.
/// For more than a few messages, [`Comb`](crate::Comb) is many times as fast in the modes that
/// are serial.
impl<M: CipherMode> Key<M> {
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
    /// it has, and takes a batch of one.
    pub fn encrypt_in_place(&self, nonce: &[u8], data: &mut [u8]) -> Result<(), Error> {
        let message = Message::new(Text::in_place(data)).nonce(nonce);
        made(self.alone::<ENCRYPT>(message))
    }

    /// Decrypts `data` in place and returns how many bytes of it are plaintext.
    ///
    /// # Errors
    /// As [`Comb::decrypt`](crate::Comb::decrypt); with invalid padding, the data is wiped.
    pub fn decrypt_in_place(&self, nonce: &[u8], data: &mut [u8]) -> Result<usize, OpenError> {
        self.alone::<DECRYPT>(Message::new(Text::in_place(data)).nonce(nonce))
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
    /// # Errors
    /// As [`Comb::mac`](crate::Comb::mac).
    pub fn mac(&self, data: &[u8], tag: &mut [u8]) -> Result<(), Error> {
        self.mac_with_nonce(&[], data, tag)
    }

    /// Computes the tag of `data` with a nonce.
    ///
    /// # Errors
    /// As [`Comb::mac`](crate::Comb::mac).
    pub fn mac_with_nonce(&self, nonce: &[u8], data: &[u8], tag: &mut [u8]) -> Result<(), Error> {
        let text = Text::read_only(data);
        made(self.alone::<MAC>(Message::new(text).nonce(nonce).tag(tag)))
    }

    /// Checks the tag of `data`, in constant time, in a mode without a nonce.
    ///
    /// # Errors
    /// As [`Comb::verify`](crate::Comb::verify).
    pub fn verify(&self, data: &[u8], tag: &[u8]) -> Result<(), OpenError> {
        self.verify_with_nonce(&[], data, tag)
    }

    /// Checks the tag of `data` with a nonce, in constant time.
    ///
    /// # Errors
    /// As [`Comb::verify`](crate::Comb::verify).
    pub fn verify_with_nonce(
        &self,
        nonce: &[u8],
        data: &[u8],
        tag: &[u8],
    ) -> Result<(), OpenError> {
        let message = Message::new(Text::read_only(data)).nonce(nonce);
        self.alone::<VERIFY>(message.received_tag(tag)).map(|_| ())
    }
}

/// One message at a time, as above.
impl<M: AeadMode> Key<M> {
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
    /// does not say it has, and takes a batch of one.
    pub fn seal_in_place(
        &self,
        nonce: &[u8],
        associated_data: &[u8],
        data: &mut [u8],
        tag: &mut [u8],
    ) -> Result<(), Error> {
        let message = Message::new(Text::in_place(data))
            .nonce(nonce)
            .associated_data(associated_data)
            .tag(tag);
        made(self.alone::<SEAL>(message))
    }

    /// Decrypts `data` in place, checks its tag, and returns how many bytes of it are
    /// plaintext.
    ///
    /// # Errors
    /// As [`Comb::open`](crate::Comb::open); with a wrong tag, the data is wiped. A mode that
    /// does not tell how long the message is takes a batch of one.
    pub fn open_in_place(
        &self,
        nonce: &[u8],
        associated_data: &[u8],
        data: &mut [u8],
        tag: &[u8],
    ) -> Result<usize, OpenError> {
        let message = Message::new(Text::in_place(data))
            .nonce(nonce)
            .associated_data(associated_data)
            .received_tag(tag);
        self.alone::<OPEN>(message)
    }
}

impl<M: Kernels> Key<M> {
    /// One message, whose tag is not attached: the bytes of its result.
    #[inline(always)]
    pub(crate) fn alone<const OP: u8>(&self, mut message: Message<'_>) -> Result<usize, OpenError> {
        M::alone::<OP>(self.expanded(), message.job_mut())
    }
}

/// Of an operation that makes results and cannot fail.
#[inline(always)]
fn made(result: Result<usize, OpenError>) -> Result<(), Error> {
    match result {
        Err(OpenError::Refused(error)) => Err(error),
        _ => Ok(()),
    }
}

/// Checks one message of a mode and does it: the bytes of its result. Its function is there
/// once for each mode and operation ([`modes`](crate::modes)).
#[inline(always)]
pub(crate) fn single<R: Registered, const OP: u8>(
    key: &Expanded,
    job: &mut Job,
) -> Result<usize, OpenError> {
    let op = Op::ALL[OP as usize];
    let rules = const { &Rules::of(&R::INFO, Op::ALL[OP as usize]) };
    if let Some(refusal) = rules.refusal_of(key, job) {
        return Err(refusal.into());
    }
    rules.before(job);
    let mut verdict = FAILED;
    let compared = match OP {
        VERIFY | OPEN => Some(&mut verdict),
        _ => None,
    };
    if const { matches!(OP, DECRYPT | OPEN) } {
        alone::<R::Backward>(key, job, compared);
    } else {
        alone::<R::Forward>(key, job, compared);
    }
    let good = !matches!(OP, VERIFY | OPEN) || is_zero(&verdict);
    if let Some(len) = good.then(|| rules.after(job)).flatten() {
        return Ok(len);
    }
    if matches!(OP, VERIFY | OPEN) {
        // It would tell what the right tag is.
        verdict = FAILED;
        zeroize::optimization_barrier(&verdict);
    }
    if OP == OPEN {
        job.wipe();
    }
    Err(OpenError::Failed(Failed::of(op, Vec::new())))
}
