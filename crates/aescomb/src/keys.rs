//! Keys of bytes, and the [`Keys`] of a call.
//!
//! `unsafe` here rests on one fact: a [`Key`] is an [`Expanded`] key, and nothing else.
#![allow(unsafe_code)]

use crate::admission::no_key;
use crate::backend::Backend;
use crate::error::{Allowed, Error, Field, available};
use crate::expand;
use crate::expanded::Expanded;
use crate::key::{AnyKey, AnyMode, Key};
use crate::key_set::{KeyRefs, KeySet};
use crate::mode::Mode;
use crate::modes::{Kernels, TypedMode};
use alloc::vec::Vec;
use core::fmt;
use core::marker::PhantomData;

impl<M: TypedMode> Key<M> {
    /// Expands a key: of 16, 24 or 32 bytes, or of twice as many for modes with two keys, one
    /// after the other ([`Info::key_bytes`](crate::Info::key_bytes)).
    ///
    /// # Errors
    /// [`Field::KeyLength`] for any other length; [`Field::KeyHalves`] for two equal keys
    /// in a mode that forbids them (XTS).
    pub fn new(raw: &[u8]) -> Result<Key<M>, Error> {
        expand::one(M::MODE, raw).map(Key::of)
    }

    /// Expands many keys into `table`, several at once. `table` is given the
    /// length of `raw`; keys already in it are overwritten in place, so that a
    /// table used again costs no allocation. Nothing of the old keys is left in it.
    ///
    /// ```
    /// use aescomb::Key;
    /// use aescomb::modes::Ctr;
    ///
    /// let raw: Vec<[u8; 16]> = (0..100).map(|i| [i; 16]).collect();
    /// let mut table = Vec::new();
    /// Key::<Ctr>::expand_many(&raw, &mut table)?;
    /// assert_eq!(table.len(), 100);
    /// # Ok::<(), aescomb::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Key::new`], with the index of the first key that is refused; `table` is
    /// unchanged then (and empty if `as_ref` gave other bytes when it was asked again).
    pub fn expand_many<K: AsRef<[u8]>>(raw: &[K], table: &mut Vec<Key<M>>) -> Result<(), Error> {
        expand_many(Backend::preferred(false), M::MODE, raw, table)
    }

    /// A key whose mode was known at run time.
    ///
    /// ```
    /// use aescomb::{AnyKey, Key, Mode};
    /// use aescomb::modes::{Cbc, Gcm};
    ///
    /// let any = AnyKey::for_mode(Mode::Gcm, &[0; 16])?;
    /// let key: &Key<Gcm> = Key::from_any(&any)?;
    /// assert!(Key::<Cbc>::from_any(&any).is_err());
    /// # Ok::<(), aescomb::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Field::KeyMode`] for a key of another mode.
    pub fn from_any(key: &AnyKey) -> Result<&Key<M>, Error> {
        match key.mode() {
            // SAFETY: both are an expanded key, and its mode is M.
            mode if mode == M::MODE => Ok(unsafe { &*core::ptr::from_ref(key).cast() }),
            mode => Err(Error::new(Field::KeyMode, mode, Allowed::Mode(M::MODE))),
        }
    }
}

impl AnyKey {
    /// As [`Key::new`], for a mode that is known at run time.
    ///
    /// # Errors
    /// Those of [`Key::new`].
    pub fn for_mode(mode: Mode, raw: &[u8]) -> Result<AnyKey, Error> {
        expand::one(mode, raw).map(Key::of)
    }

    /// As [`Key::expand_many`], for a mode that is known at run time.
    ///
    /// # Errors
    /// Those of [`Key::expand_many`].
    pub fn expand_many_for<K: AsRef<[u8]>>(
        mode: Mode,
        raw: &[K],
        table: &mut Vec<AnyKey>,
    ) -> Result<(), Error> {
        expand_many(Backend::preferred(false), mode, raw, table)
    }

    /// As [`AnyKey::expand_many_for`] with a backend of the caller's choice.
    ///
    /// # Errors
    /// Those of [`Key::expand_many`], and [`Field::Backend`] where the CPU lacks
    /// the backend.
    pub fn expand_many_with<K: AsRef<[u8]>>(
        backend: Backend,
        mode: Mode,
        raw: &[K],
        table: &mut Vec<AnyKey>,
    ) -> Result<(), Error> {
        available(backend)?;
        expand_many(backend, mode, raw, table)
    }
}

fn expand_many<M, K: AsRef<[u8]>>(
    backend: Backend,
    mode: Mode,
    raw: &[K],
    table: &mut Vec<Key<M>>,
) -> Result<(), Error> {
    expand::check(mode, raw)?;
    // Not in the caller's table, which would have blank keys if the bytes of a key could not be read again.
    let mut keys = core::mem::take(table);
    // Keys that are moved to more memory would leave their bytes behind.
    if raw.len() > keys.capacity() {
        keys.clear();
    }
    keys.truncate(raw.len());
    keys.resize_with(raw.len(), || Key::of(Expanded::blank(mode)));
    let all: *mut [Key<M>] = keys.as_mut_slice();
    // SAFETY: a key is an expanded key.
    expand::many(backend, mode, raw, unsafe {
        &mut *(all as *mut [Expanded])
    })?;
    *table = keys;
    Ok(())
}

/// The key or keys of a call, all for mode `M`; their sizes may differ. Made of a key, of a
/// table of keys, of a table of references to keys, or by [`Keys::of_messages`].
///
/// ```
/// use aescomb::modes::Ctr;
/// use aescomb::{Comb, Key, Keys, Message, Text};
///
/// let keys: [Key<Ctr>; 2] = [Key::new(&[0; 16])?, Key::new(&[1; 32])?];
/// let mut packets = [[7; 20]; 4];
/// let mut comb = Comb::new();
///
/// // The second key for all messages.
/// let mut batch = packets.each_mut().map(|p| Message::new(Text::in_place(p)).nonce(&[9; 16]));
/// comb.encrypt(&keys[1], &mut batch)?;
///
/// // A table: each message names its place in it.
/// comb.decrypt(&keys, &mut batch.map(|message| message.key_index(1)))?;
/// assert_eq!(packets, [[7; 20]; 4]);
///
/// // Each message has its own.
/// let batch = packets.each_mut().map(|p| Message::new(Text::in_place(p)).nonce(&[9; 16]));
/// let mut batch = batch.map(|message| message.key(&keys[0]));
/// comb.encrypt(Keys::<Ctr>::of_messages(), &mut batch)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Keys<'k, M = AnyMode> {
    pub(crate) set: KeySet<'k>,
    mode: PhantomData<fn() -> M>,
}

impl<M> Clone for Keys<'_, M> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<M> Copy for Keys<'_, M> {}

impl<M> fmt::Debug for Keys<'_, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.set.fmt(f)
    }
}

impl<'k, M> Keys<'k, M> {
    fn of(set: KeySet<'k>) -> Self {
        Keys {
            set,
            mode: PhantomData,
        }
    }

    /// The mode of the keys, which is that of the first.
    ///
    /// # Errors
    /// [`Field::Count`] where there is none, [`Field::Key`] where only messages know.
    pub fn mode(self) -> Result<Mode, Error>
    where
        M: Kernels,
    {
        match (M::KNOWN, self.set, self.set.find(0)) {
            (Some(mode), ..) => Ok(mode),
            (None, _, Some(first)) => Ok(first.mode()),
            (None, KeySet::Own, None) => Err(no_key()),
            (None, _, None) => Err(Error::new(Field::Count, 0, Allowed::AtLeast(1))),
        }
    }

    /// Each message has its own ([`Message::key`](crate::Message::key),
    /// [`Job::key`](crate::ffi::Job::key)); packed batches have none.
    pub fn of_messages() -> Self {
        Keys::of(KeySet::Own)
    }
}

impl<'k, M> From<&'k Key<M>> for Keys<'k, M> {
    fn from(key: &'k Key<M>) -> Self {
        Keys::of(KeySet::Shared(key.expanded()))
    }
}

impl<'k, M> From<&'k [Key<M>]> for Keys<'k, M> {
    fn from(table: &'k [Key<M>]) -> Self {
        let table: *const [Key<M>] = table;
        // SAFETY: a key is an expanded key.
        Keys::of(KeySet::Table(unsafe { &*(table as *const [Expanded]) }))
    }
}

impl<'k, M> From<&'k [&'k Key<M>]> for Keys<'k, M> {
    fn from(refs: &'k [&'k Key<M>]) -> Self {
        let refs: *const [&'k Key<M>] = refs;
        // SAFETY: as above.
        let refs = unsafe { &*(refs as *const [&'k Expanded]) };
        Keys::of(KeySet::Refs(KeyRefs::new(refs)))
    }
}

macro_rules! as_slice {
    ($([$($generic:tt)*] $t:ty;)*) => {$(
        impl<'k, M $($generic)*> From<&'k $t> for Keys<'k, M> {
            fn from(keys: &'k $t) -> Self {
                Keys::from(&keys[..])
            }
        }
    )*};
}
as_slice! {
    [] Vec<Key<M>>;
    [, const N: usize] [Key<M>; N];
    [] Vec<&'k Key<M>>;
    [, const N: usize] [&'k Key<M>; N];
}
