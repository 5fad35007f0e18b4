//! Keys as callers have them: [`Key`] of a mode that is a type, [`AnyKey`].
//!
//! `unsafe` here rests on one fact: a [`Key`] is an [`Expanded`] key, and nothing else.
#![allow(unsafe_code)]

use crate::expanded::Expanded;
use crate::mode::{Algorithm, Mode};
use core::fmt;
use core::marker::PhantomData;
use zeroize::ZeroizeOnDrop;

/// A key for one mode: the AES key schedules and the mode's constants.
///
/// `M` is the mode, a type of [`modes`](crate::modes): operations that it does not have do not
/// compile, and a program links the modes that it names, not all of them. Where the mode is
/// known at run time only, [`AnyKey`] is the same without a mode's type.
///
/// Immutable, `Send` and `Sync`, usable with every backend, wiped on drop. It has 704 bytes
/// whatever the key size, of which messages side by side touch little: mostly the first 64,
/// and the mode's constants. A key allocates 256 bytes for the second call that takes the
/// inverse cipher (decryption in ECB, CBC, XTS and OCB), 8 KiB in GCM and 4 KiB in modes like
/// OCB once long messages come, or a second message by itself (640 bytes in GCM and GMAC, and none in
/// OCB, where messages have keys of their own), and in CTR and CCM 4 KiB for the
/// first batch of 8 KiB, in CTR also for the second message of 1 KiB by itself.
/// `Debug` shows the mode and the key size only.
///
/// ```
/// use aescomb::Key;
/// use aescomb::modes::Gcm;
///
/// let key = Key::<Gcm>::new(&[0x2b; 16])?;
/// let (mut data, mut tag) = (*b"a message", [0; 16]);
/// key.seal_in_place(&[1; 12], b"header", &mut data, &mut tag)?;
/// assert!(Key::<Gcm>::new(&[0x2b; 17]).is_err());
/// # Ok::<(), aescomb::Error>(())
/// ```
///
/// ```compile_fail,E0277
/// # use aescomb::Key;
/// # use aescomb::modes::Gcm;
/// // GCM seals and opens; there is no encryption without a tag.
/// Key::<Gcm>::new(&[0x2b; 16])?.encrypt_in_place(&[1; 12], &mut [0; 9])?;
/// # Ok::<(), aescomb::Error>(())
/// ```
#[repr(transparent)]
pub struct Key<M> {
    expanded: Expanded,
    mode: PhantomData<fn() -> M>,
}

/// A key for a mode that is known at run time: it has all operations, and those that its mode
/// lacks are refused with [`Field::Operation`](crate::Field::Operation).
///
/// ```
/// use aescomb::{AnyKey, Mode};
///
/// let mode: Mode = "cbc".parse()?;
/// let key = AnyKey::for_mode(mode, &[0x2b; 16])?;
/// assert_eq!(key.algorithm().to_string(), "aes-128-cbc");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub type AnyKey = Key<AnyMode>;

/// The mode of an [`AnyKey`]: any, known at run time.
#[derive(Clone, Copy, Debug)]
pub struct AnyMode;

impl<M> Key<M> {
    pub(crate) fn of(expanded: Expanded) -> Self {
        Key {
            expanded,
            mode: PhantomData,
        }
    }

    /// The same key with a mode that is known at run time.
    pub fn into_any(self) -> AnyKey {
        Key::of(self.expanded)
    }

    pub(crate) fn expanded(&self) -> &Expanded {
        &self.expanded
    }

    /// The mode it was made for.
    pub fn mode(&self) -> Mode {
        self.expanded.mode()
    }

    /// The mode with the key size.
    pub fn algorithm(&self) -> Algorithm {
        self.expanded.algorithm()
    }

    /// The same key as one whose mode is known at run time.
    pub fn as_any(&self) -> &AnyKey {
        // SAFETY: both are an expanded key.
        unsafe { &*core::ptr::from_ref(self).cast() }
    }
}

impl<M> Clone for Key<M> {
    fn clone(&self) -> Self {
        Key::of(self.expanded.clone())
    }
}

impl<M> ZeroizeOnDrop for Key<M> {}

impl<M> fmt::Debug for Key<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.expanded.fmt(f)
    }
}
