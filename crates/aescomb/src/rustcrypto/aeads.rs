//! Authenticated encryption with associated data.

use super::{Aes, Aes128, Aes192, Aes256, expanded, text};
use crate::key::Key;
use crate::message::Message;
use crate::modes::{self, AeadMode};
use crate::single::{OPEN, SEAL};
use aead::array::ArraySize;
use aead::array::typenum::NonZero;
use aead::consts::{U4, U5, U6, U7, U8, U9, U10, U11, U12, U13, U14, U15, U16};
use aead::inout::InOutBuf;
use aead::{AeadCore, AeadInOut, KeyInit, KeySizeUser, Nonce, Tag, TagPosition};
use core::fmt;
use core::marker::PhantomData;
use zeroize::ZeroizeOnDrop;

mod sealed {
    pub trait Gcm {}
    pub trait CcmTag {}
    pub trait CcmNonce {}
    pub trait OcbTag {}
    pub trait EaxTag {}
    pub trait OcbNonce {}
}

/// Lengths of a nonce of GCM and SIV: 1 byte or more.
pub trait NonceSize: ArraySize + NonZero {}
impl<N: ArraySize + NonZero> NonceSize for N {}

macro_rules! sizes {
    ($(#[$doc:meta])* $name:ident, $sealed:ident: $($size:ty),*) => {
        $(#[$doc])*
        pub trait $name: ArraySize + sealed::$sealed {}
        $(
            impl sealed::$sealed for $size {}
            impl $name for $size {}
        )*
    };
}

sizes! {
    /// Lengths of a tag of GCM: 12 to 16 bytes, or 4 or 8 under the conditions of SP
    /// 800-38D appendix C. Sealed.
    GcmTagSize, Gcm: U4, U8, U12, U13, U14, U15, U16
}
sizes! {
    /// Lengths of a tag of CCM: 4, 6, 8, 10, 12, 14 or 16 bytes. Sealed.
    CcmTagSize, CcmTag: U4, U6, U8, U10, U12, U14, U16
}
sizes! {
    /// Lengths of a nonce of CCM: 7 to 13 bytes. Sealed.
    CcmNonceSize, CcmNonce: U7, U8, U9, U10, U11, U12, U13
}
sizes! {
    /// Lengths of a tag of OCB: 8, 12 or 16 bytes. Sealed.
    OcbTagSize, OcbTag: U8, U12, U16
}
sizes! {
    /// Lengths of a nonce of OCB: 6 to 15 bytes; with shorter ones an attack is known
    /// (Liénardy and Lafitte, IACR ePrint 2023/326). Sealed.
    OcbNonceSize, OcbNonce: U6, U7, U8, U9, U10, U11, U12, U13, U14, U15
}
sizes! {
    /// Lengths of a tag of EAX: 4 to 16 bytes. Sealed.
    EaxTagSize, EaxTag: U4, U5, U6, U7, U8, U9, U10, U11, U12, U13, U14, U15, U16
}

/// Seals `buffer`.
fn seal<M: AeadMode>(
    key: &Key<M>,
    nonce: &[u8],
    data: &[u8],
    buffer: InOutBuf<'_, '_, u8>,
    tag: &mut [u8],
) -> aead::Result<()> {
    let message = Message::new(text(buffer))
        .nonce(nonce)
        .associated_data(data)
        .tag(tag);
    key.single::<SEAL>(message).map_err(|_| aead::Error)?;
    Ok(())
}

/// Opens `buffer`.
fn open<M: AeadMode>(
    key: &Key<M>,
    nonce: &[u8],
    data: &[u8],
    buffer: InOutBuf<'_, '_, u8>,
    tag: &[u8],
) -> aead::Result<()> {
    let message = Message::new(text(buffer))
        .nonce(nonce)
        .associated_data(data)
        .received_tag(tag);
    key.single::<OPEN>(message).map_err(|_| aead::Error)?;
    Ok(())
}

/// A mode as a type: the bytes of its keys as a type of `A`, its nonce and its tag, and
/// where the tag is.
macro_rules! aead {
    (
        $(#[$doc:meta])*
        $name:ident<A $(, $p:ident: $bound:ident $(= $default:ty)?)*>,
        $mode:ident, $key:ty, $nonce:ty, $tag:ty, $position:ident
    ) => {
        $(#[$doc])*
        pub struct $name<A $(, $p $(= $default)?)*> {
            key: Key<modes::$mode>,
            sizes: PhantomData<(A, $($p),*)>,
        }

        impl<A $(, $p)*> $name<A $(, $p)*> {
            /// The expanded key, for batches.
            pub fn key(&self) -> &Key<modes::$mode> {
                &self.key
            }

            fn expand(raw: &[u8]) -> Self {
                $name {
                    key: expanded(raw),
                    sizes: PhantomData,
                }
            }
        }

        impl<A $(, $p)*> Clone for $name<A $(, $p)*> {
            fn clone(&self) -> Self {
                $name {
                    key: self.key.clone(),
                    sizes: PhantomData,
                }
            }
        }

        impl<A $(, $p)*> fmt::Debug for $name<A $(, $p)*> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($name)).finish_non_exhaustive()
            }
        }

        impl<A $(, $p)*> ZeroizeOnDrop for $name<A $(, $p)*> {}

        impl<A: Aes $(, $p)*> KeySizeUser for $name<A $(, $p)*> {
            type KeySize = $key;
        }

        impl<A: Aes $(, $p)*> KeyInit for $name<A $(, $p)*> {
            fn new(key: &aead::Key<Self>) -> Self {
                Self::expand(key)
            }
        }

        impl<A: Aes $(, $p: $bound)*> AeadCore for $name<A $(, $p)*> {
            type NonceSize = $nonce;
            type TagSize = $tag;
            const TAG_POSITION: TagPosition = TagPosition::$position;
        }

        impl<A: Aes $(, $p: $bound)*> AeadInOut for $name<A $(, $p)*> {
            /// # Errors
            /// For a text or associated data beyond the mode's limits.
            fn encrypt_inout_detached(
                &self,
                nonce: &Nonce<Self>,
                associated_data: &[u8],
                buffer: InOutBuf<'_, '_, u8>,
            ) -> aead::Result<Tag<Self>> {
                let mut tag = Tag::<Self>::default();
                seal(&self.key, nonce, associated_data, buffer, &mut tag)?;
                Ok(tag)
            }

            /// # Errors
            /// For a tag that is wrong, and the destination is wiped then; for a text or
            /// associated data beyond the mode's limits.
            fn decrypt_inout_detached(
                &self,
                nonce: &Nonce<Self>,
                associated_data: &[u8],
                buffer: InOutBuf<'_, '_, u8>,
                tag: &Tag<Self>,
            ) -> aead::Result<()> {
                open(&self.key, nonce, associated_data, buffer, tag)
            }
        }
    };
}

/// Modes whose key is one key of AES.
macro_rules! from_aes {
    ($($name:ident<A $(, $p:ident)*>;)*) => {$(
        impl<A: Aes $(, $p)*> From<A> for $name<A $(, $p)*> {
            fn from(aes: A) -> Self {
                let (raw, _) = aes.codebook().expanded().raw();
                Self::expand(raw.as_ref())
            }
        }
    )*};
}

from_aes! {
    AesGcm<A, N, T>;
    Ccm<A, T, N>;
    Ocb3<A, N, T>;
    Eax<A, T>;
    AesGcmSiv<A>;
}

aead! {
    /// GCM, Galois/counter mode: SP 800-38D.
    ///
    /// Keys of 16, 24 or 32 bytes as `A` says; nonces of `N` bytes, usually 12, which
    /// must never repeat under a key; tags of `T` bytes, 16 if not said otherwise.
    /// Texts of at most 2^36 - 32 bytes and associated data below 2^61 bytes;
    /// otherwise [`Error`](super::Error).
    ///
    /// ```
    /// use aescomb::rustcrypto::{Aead, Aes256Gcm, KeyInit, Nonce, aead::Payload};
    ///
    /// let cipher = Aes256Gcm::new(&[7; 32].into());
    /// let nonce = Nonce::from([1; 12]); // never twice under a key
    /// let sealed = cipher.encrypt(&nonce, Payload { msg: b"text", aad: b"header" })?;
    /// assert_eq!(sealed.len(), 4 + 16);
    /// let opened = cipher.decrypt(&nonce, Payload { msg: &sealed, aad: b"header" })?;
    /// assert_eq!(opened, b"text");
    /// assert!(cipher.decrypt(&nonce, &sealed[..]).is_err());
    /// # Ok::<(), aescomb::rustcrypto::Error>(())
    /// ```
    ///
    /// Other sizes: `AesGcm<Aes128, U16, U12>`, with the lengths from
    /// [`consts`](super::consts).
    AesGcm<A, N: NonceSize, T: GcmTagSize = U16>, Gcm, A::KeySize, N, T, Postfix
}

/// GCM with keys of 16 bytes, nonces of 12 and tags of 16; example at [`AesGcm`].
pub type Aes128Gcm = AesGcm<Aes128, U12>;
/// GCM with keys of 24 bytes, nonces of 12 and tags of 16; example at [`AesGcm`].
pub type Aes192Gcm = AesGcm<Aes192, U12>;
/// GCM with keys of 32 bytes, nonces of 12 and tags of 16; example at [`AesGcm`].
pub type Aes256Gcm = AesGcm<Aes256, U12>;

aead! {
    /// CCM, counter with CBC-MAC: SP 800-38C, RFC 3610.
    ///
    /// Keys of 16, 24 or 32 bytes as `A` says; tags of `T` bytes; nonces of `N` bytes,
    /// which must never repeat under a key. Texts of fewer than 2^(8 (15 - `N`))
    /// bytes, 65,536 for nonces of 13 bytes; otherwise [`Error`](super::Error).
    ///
    /// ```
    /// use aescomb::rustcrypto::consts::{U8, U13};
    /// use aescomb::rustcrypto::{Aead, Aes128, Ccm, KeyInit, Nonce};
    ///
    /// let cipher = Ccm::<Aes128, U8, U13>::new(&[7; 16].into());
    /// let nonce = Nonce::from([1; 13]); // never twice under a key
    /// let sealed = cipher.encrypt(&nonce, b"text".as_ref())?;
    /// assert_eq!(sealed.len(), 4 + 8);
    /// assert_eq!(cipher.decrypt(&nonce, &sealed[..])?, b"text");
    /// # Ok::<(), aescomb::rustcrypto::Error>(())
    /// ```
    Ccm<A, T: CcmTagSize, N: CcmNonceSize>, Ccm, A::KeySize, N, T, Postfix
}

aead! {
    /// OCB3, offset codebook: RFC 7253.
    ///
    /// Keys of 16, 24 or 32 bytes as `A` says; nonces of `N` bytes, usually 12, which
    /// must never repeat under a key; tags of `T` bytes, 16 if not said otherwise. Any
    /// length of text and associated data.
    ///
    /// ```
    /// use aescomb::rustcrypto::{Aead, Aes128, KeyInit, Nonce, Ocb3};
    ///
    /// let cipher = Ocb3::<Aes128>::new(&[7; 16].into());
    /// let nonce = Nonce::from([1; 12]); // never twice under a key
    /// let sealed = cipher.encrypt(&nonce, b"text".as_ref())?;
    /// assert_eq!(cipher.decrypt(&nonce, &sealed[..])?, b"text");
    /// # Ok::<(), aescomb::rustcrypto::Error>(())
    /// ```
    Ocb3<A, N: OcbNonceSize = U12, T: OcbTagSize = U16>, Ocb, A::KeySize, N, T, Postfix
}

aead! {
    /// EAX: Bellare, Rogaway and Wagner (FSE 2004).
    ///
    /// Keys of 16, 24 or 32 bytes as `A` says; nonces of 16 bytes, which must never repeat
    /// under a key; tags of `T` bytes, 16 if not said otherwise. Any length of text and
    /// associated data.
    ///
    /// ```
    /// use aescomb::rustcrypto::{Aead, Aes128, Eax, KeyInit, Nonce};
    ///
    /// let cipher = Eax::<Aes128>::new(&[7; 16].into());
    /// let nonce = Nonce::from([1; 16]); // never twice under a key
    /// let sealed = cipher.encrypt(&nonce, b"text".as_ref())?;
    /// assert_eq!(cipher.decrypt(&nonce, &sealed[..])?, b"text");
    /// # Ok::<(), aescomb::rustcrypto::Error>(())
    /// ```
    Eax<A, T: EaxTagSize = U16>, Eax, A::KeySize, U16, T, Postfix
}

aead! {
    /// GCM-SIV, nonce misuse-resistant: RFC 8452.
    ///
    /// Keys of 16 or 32 bytes, or of 24, which the RFC does not have, as `A` says; nonces of 12 bytes, which should not repeat
    /// under a key: if one does, equal messages show, and nothing else. Tags of 16
    /// bytes. Texts and associated data of at most 2^36 bytes; otherwise
    /// [`Error`](super::Error).
    ///
    /// ```
    /// use aescomb::rustcrypto::{Aead, Aes128GcmSiv, KeyInit, Nonce};
    ///
    /// let cipher = Aes128GcmSiv::new(&[7; 16].into());
    /// let nonce = Nonce::from([1; 12]);
    /// let sealed = cipher.encrypt(&nonce, b"text".as_ref())?;
    /// assert_eq!(cipher.decrypt(&nonce, &sealed[..])?, b"text");
    /// # Ok::<(), aescomb::rustcrypto::Error>(())
    /// ```
    AesGcmSiv<A>, GcmSiv, A::KeySize, U12, U16, Postfix
}

/// GCM-SIV with keys of 16 bytes; example at [`AesGcmSiv`].
pub type Aes128GcmSiv = AesGcmSiv<Aes128>;
/// GCM-SIV with keys of 32 bytes; example at [`AesGcmSiv`].
pub type Aes256GcmSiv = AesGcmSiv<Aes256>;

aead! {
    /// SIV with CMAC, as an AEAD with nonces: RFC 5297 sections 2 and 3.
    ///
    /// Keys of twice as many bytes as those of `A`: two keys, one after the other.
    /// Nonces of `N` bytes, 16 if not said otherwise: the last component of the
    /// associated data, after one that is always there, empty or not. If a nonce
    /// repeats under a key, equal messages show, and nothing else. Tags of 16 bytes,
    /// before the ciphertext. Any length of text and associated data.
    ///
    /// ```
    /// use aescomb::rustcrypto::{Aead, Aes128SivAead, KeyInit, Nonce};
    ///
    /// let cipher = Aes128SivAead::new(&[7; 32].into());
    /// let nonce = Nonce::from([1; 16]);
    /// let sealed = cipher.encrypt(&nonce, b"text".as_ref())?;
    /// assert_eq!(cipher.decrypt(&nonce, &sealed[..])?, b"text");
    /// # Ok::<(), aescomb::rustcrypto::Error>(())
    /// ```
    CmacSivAead<A, N: NonceSize = U16>, Siv, A::Two, N, U16, Prefix
}

/// SIV with keys of 32 bytes, two for AES-128; example at [`CmacSivAead`].
pub type Aes128SivAead = CmacSivAead<Aes128>;
/// SIV with keys of 64 bytes, two for AES-256; example at [`CmacSivAead`].
pub type Aes256SivAead = CmacSivAead<Aes256>;
