//! The traits of the RustCrypto crates `aead`, `cipher` and `digest`, so that
//! existing code uses this library by changing a type (feature `rustcrypto`).
//!
//! | instead of | write |
//! |---|---|
//! | `aes::{Aes128, Aes192, Aes256}` | [`rustcrypto::{Aes128, Aes192, Aes256}`](Aes128) |
//! | `aes_gcm::{Aes128Gcm, Aes256Gcm, AesGcm}` | [`rustcrypto::{Aes128Gcm, Aes256Gcm, AesGcm}`](AesGcm) |
//! | `aes_gcm_siv::{Aes128GcmSiv, Aes256GcmSiv, AesGcmSiv}` | [`rustcrypto::{Aes128GcmSiv, Aes256GcmSiv, AesGcmSiv}`](AesGcmSiv) |
//! | `aes_siv::{Aes128SivAead, Aes256SivAead, CmacSivAead}` | [`rustcrypto::{Aes128SivAead, Aes256SivAead, CmacSivAead}`](CmacSivAead) |
//! | `ccm::Ccm<aes::Aes128, M, N>` | [`rustcrypto::Ccm<Aes128, M, N>`](Ccm) |
//! | `ocb3::Ocb3<aes::Aes128, N, T>` | [`rustcrypto::Ocb3<Aes128, N, T>`](Ocb3) |
//! | `eax::Eax<aes::Aes128, T>` | [`rustcrypto::Eax<Aes128, T>`](Eax) |
//! | `cmac::Cmac<aes::Aes128>` | [`rustcrypto::Cmac<Aes128>`](Cmac) |
//! | `cbc::{Encryptor, Decryptor}` | [`rustcrypto::cbc::{Encryptor, Decryptor}`](cbc) |
//! | `cfb_mode::{Encryptor, Decryptor}` | [`rustcrypto::cfb_mode::{Encryptor, Decryptor}`](cfb_mode) |
//! | `ctr::{Ctr128BE, Ctr32BE}` | [`rustcrypto::ctr::{Ctr128BE, Ctr32BE}`](ctr) |
//! | `ofb::Ofb` | [`rustcrypto::ofb::Ofb`](ofb) |
//!
//! A function that is generic over the traits needs no change but at its call:
//!
//! ```
//! use aescomb::rustcrypto::{Aead, Aes128Gcm, KeyInit, Nonce, aead};
//!
//! fn sealed<A: Aead + KeyInit>(nonce: &aead::Nonce<A>) -> Vec<u8> {
//!     let cipher = A::new_from_slice(&[7; 16]).expect("a key of 16 bytes");
//!     cipher.encrypt(nonce, b"any text".as_ref()).expect("a short text")
//! }
//! assert_eq!(sealed::<Aes128Gcm>(&Nonce::from([1; 12])).len(), 8 + 16);
//! ```
//!
//! The traits give one message at a time, so nothing here is interleaved: a mode
//! that is serial takes the latency of AES. For more than a few messages, every type
//! lends its [`Key`](crate::Key), by `key()`, to a batch:
//!
//! ```
//! use aescomb::rustcrypto::{Aes128Gcm, KeyInit};
//! use aescomb::{Comb, Message, Text};
//!
//! let cipher = Aes128Gcm::new(&[7; 16].into());
//! let (mut a, mut b) = (*b"one..............tag", *b"three............tag");
//! let mut batch = [
//!     Message::new(Text::in_place_with_room(&mut a, 4)).nonce(&[1; 12]).tag_attached(16),
//!     Message::new(Text::in_place_with_room(&mut b, 4)).nonce(&[2; 12]).tag_attached(16),
//! ];
//! Comb::new().seal(cipher.key(), &mut batch)?;
//! # Ok::<(), aescomb::Error>(())
//! ```
//!
//! All types are `Clone`, `Send` and `Sync`, wiped on drop, and show nothing of keys
//! and states in `Debug`. What differs from the crates they stand in for:
//!
//! - A type is made from a key, not from a cipher: modes implement `KeyIvInit`, not
//!   `InnerIvInit`, and only AEADs can be made `From` one of [`Aes`].
//! - A message whose tag is wrong leaves zeros in the destination; one that is refused before, as it is too long,
//!   leaves it as it was.
//! - An object holds an expanded key of 704 bytes.
//! - Only what this library computes: big-endian counters of 128 and 32 bits, tags
//!   of 8, 12 and 16 bytes for OCB, and no buffered form of CFB.

// One `unsafe` function, `text`, and one call in `bytes`; both rest on what
// `InOutBuf` promises: its input is readable and its output writable for its length
// and its lifetimes, and they are the same place or have no byte in common.
#![allow(unsafe_code)]

use crate::modes::{CipherMode, Ecb, TypedMode};
use crate::{Message, Text};

mod aeads;
mod block;
pub mod cbc;
pub mod cfb_mode;
mod chained;
mod cmac;
pub mod ctr;
pub mod ofb;

pub use ::{aead, cipher, digest};

pub use aead::{Aead, AeadCore, AeadInOut, Error, Key, KeyInit, KeySizeUser, consts};
pub use aeads::{
    Aes128Gcm, Aes128GcmSiv, Aes128SivAead, Aes192Gcm, Aes256Gcm, Aes256GcmSiv, Aes256SivAead,
    AesGcm, AesGcmSiv, Ccm, CcmNonceSize, CcmTagSize, CmacSivAead, Eax, EaxTagSize, GcmTagSize,
    NonceSize, Ocb3, OcbNonceSize, OcbTagSize,
};
pub use block::{Aes, Aes128, Aes192, Aes256};
pub use cmac::Cmac;
pub use digest::Mac;

use cipher::InOutBuf;
use cipher::array::Array;
use cipher::consts::{U12, U16};

/// A nonce of `N` bytes.
pub type Nonce<N = U12> = Array<u8, N>;
/// A tag of `T` bytes.
pub type Tag<T = U16> = Array<u8, T>;

/// Blocks that modes of other crates, which come through closures, give at once.
type AtOnce = cipher::consts::U32;
type Block = Array<u8, U16>;

mod sealed {
    use cipher::array::ArraySize;

    /// What a key size is to this library.
    pub trait Sealed {
        /// Bytes of two keys, one after the other.
        type Two: ArraySize;
        /// The expanded key, for electronic codebook.
        fn codebook(&self) -> &crate::Key<super::Ecb>;
    }
}

/// Expands a key whose length its type has seen to.
fn expanded<M: TypedMode>(raw: &[u8]) -> crate::Key<M> {
    match crate::Key::new(raw) {
        Ok(key) => key,
        Err(e) => unreachable!("{e}"),
    }
}

/// Encrypts or decrypts `buf`, whose length the caller has seen to, with a nonce of
/// the right length.
fn crypt<const OP: u8, M: CipherMode>(
    key: &crate::Key<M>,
    nonce: &[u8],
    buf: InOutBuf<'_, '_, u8>,
) {
    // Not to be ignored: the text would be left as it was.
    if let Err(e) = key.single::<OP>(Message::new(text(buf)).nonce(nonce)) {
        unreachable!("{e}");
    }
}

/// A buffer as a message's text.
fn text<'a>(buf: InOutBuf<'a, 'a, u8>) -> Text<'a> {
    let len = buf.len();
    let (from, to) = buf.into_raw();
    // SAFETY: the buffer's promise, see the top of the file.
    unsafe { Text::from_raw(from, len, to, len) }
}

/// Blocks as bytes.
fn bytes<'i, 'o>(blocks: InOutBuf<'i, 'o, Block>) -> InOutBuf<'i, 'o, u8> {
    let len = blocks.len() * 16;
    let (from, to) = blocks.into_raw();
    // SAFETY: the same memory, for as long; a block has 16 bytes and no padding.
    unsafe { InOutBuf::from_raw(from.cast(), to.cast(), len) }
}
