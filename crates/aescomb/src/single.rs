//! One message at a time: calls of a key, and the program that they run, whose checks are
//! constants of the mode and the operation.

use crate::admission::{Rules, no_operation};
use crate::batch::Message;
use crate::bytes::is_zero;
use crate::comb::FAILED;
use crate::engine::alone;
use crate::error::{Allowed, Error, Field};
use crate::job::Job;
use crate::key::Key;
use crate::mode::Op;
use crate::pass::Registered;
use crate::text::Text;

/// Operations as constants.
pub(crate) const ENCRYPT: u8 = Op::Encrypt as u8;
pub(crate) const DECRYPT: u8 = Op::Decrypt as u8;
pub(crate) const MAC: u8 = Op::Mac as u8;
pub(crate) const SEAL: u8 = Op::Seal as u8;
pub(crate) const OPEN: u8 = Op::Open as u8;

/// One message at a time, under this key, with the backend that this CPU prefers.
/// For more than a few messages, [`Comb`](crate::Comb) is many times as fast in the modes that
/// are serial.
impl Key {
    /// Encrypts `data` in place.
    ///
    /// ```
    /// use aescomb::{Key, Mode};
    /// let key = Key::new(Mode::Ctr, &[0; 16])?;
    /// let mut data = *b"any number of bytes";
    /// key.encrypt_in_place(&[1; 16], &mut data)?;
    /// key.decrypt_in_place(&[1; 16], &mut data)?;
    /// assert_eq!(&data, b"any number of bytes");
    /// # Ok::<(), aescomb::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Comb::encrypt`](crate::Comb::encrypt); a padded mode needs room that a slice does not say
    /// it has, and takes a batch of one.
    pub fn encrypt_in_place(&self, nonce: &[u8], data: &mut [u8]) -> Result<(), Error> {
        self.alone::<ENCRYPT>(Message::new(Text::in_place(data)).nonce(nonce))
            .map(|_| ())
    }

    /// Decrypts `data` in place and returns how many bytes of it are plaintext.
    ///
    /// # Errors
    /// As [`Comb::decrypt`](crate::Comb::decrypt), and [`Field::Padding`] for invalid padding; the
    /// data is wiped then.
    pub fn decrypt_in_place(&self, nonce: &[u8], data: &mut [u8]) -> Result<usize, Error> {
        self.alone::<DECRYPT>(Message::new(Text::in_place(data)).nonce(nonce))
    }

    /// Computes the tag of `data`, in a mode without a nonce.
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
        self.alone::<MAC>(Message::new(text).nonce(nonce).tag(tag))
            .map(|_| ())
    }

    /// Encrypts `data` in place and makes its tag.
    ///
    /// ```
    /// use aescomb::{Key, Mode};
    /// let key = Key::new(Mode::Gcm, &[0; 16])?;
    /// let (mut data, mut tag) = (*b"any number of bytes", [0; 16]);
    /// key.seal_in_place(&[1; 12], b"header", &mut data, &mut tag)?;
    /// key.open_in_place(&[1; 12], b"header", &mut data, &tag)?;
    /// assert_eq!(&data, b"any number of bytes");
    /// assert!(key.open_in_place(&[1; 12], b"header", &mut data, &tag).is_err());
    /// assert_eq!(data, [0; 19]);
    /// # Ok::<(), aescomb::Error>(())
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
        self.alone::<SEAL>(message).map(|_| ())
    }

    /// Decrypts `data` in place, checks its tag, and returns how many bytes of it are
    /// plaintext.
    ///
    /// # Errors
    /// As [`Comb::open`](crate::Comb::open), and [`Field::Tag`] for a tag that is wrong; the data is
    /// wiped then. A mode that does not tell how long the message is takes a batch of
    /// one.
    pub fn open_in_place(
        &self,
        nonce: &[u8],
        associated_data: &[u8],
        data: &mut [u8],
        tag: &[u8],
    ) -> Result<usize, Error> {
        let message = Message::new(Text::in_place(data))
            .nonce(nonce)
            .associated_data(associated_data)
            .given_tag(tag);
        self.alone::<OPEN>(message)
    }

    /// One message, whose tag is not appended: the bytes of its result.
    #[inline(always)]
    pub(crate) fn alone<const OP: u8>(&self, mut message: Message<'_>) -> Result<usize, Error> {
        self.mode().run_alone::<OP>(self, message.job_mut())
    }
}

/// Checks one message of a mode and does it: the bytes of its result.
///
/// Not in line: the caller has a jump to it for each mode.
#[inline(never)]
pub(crate) fn single<R: Registered, const OP: u8>(
    key: &Key,
    job: &mut Job,
) -> Result<usize, Error> {
    if const { !R::INFO.kind.has(Op::ALL[OP as usize]) } {
        return Err(no_operation(Op::ALL[OP as usize]));
    }
    let rules = const { &Rules::of(&R::INFO, Op::ALL[OP as usize]) };
    if let Some(refusal) = rules.refusal_of(key, job) {
        return Err(refusal);
    }
    rules.before(job);
    let mut verdict = FAILED;
    let compared = match OP {
        OPEN => Some(&mut verdict),
        _ => None,
    };
    if const { matches!(OP, DECRYPT | OPEN) } {
        alone::<R::Backward>(key, job, compared);
    } else {
        alone::<R::Forward>(key, job, compared);
    }
    let good = OP != OPEN || is_zero(&verdict);
    if let Some(len) = good.then(|| rules.after(job)).flatten() {
        return Ok(len);
    }
    if OP != OPEN {
        return Err(Error::new(Field::Padding, job.len, Allowed::Nothing));
    }
    // It would tell what the right tag is.
    verdict = FAILED;
    zeroize::optimization_barrier(&verdict);
    job.wipe();
    Err(Error::new(Field::Tag, job.len, Allowed::Nothing))
}
