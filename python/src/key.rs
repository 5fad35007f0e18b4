//! [`Key`] and its methods.

use crate::call::{Call, GivenTags, OnFailure};
use crate::errors;
use crate::input::{self, Column, Data, Messages, Nonces, To};
use crate::keys::Rows;
use crate::mode::Mode;
use aescomb::{Algorithm, Op};
use aescomb_columns::values::{Chosen, Keyed};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyString;
use std::num::NonZeroUsize;

type Object<'a, 'py> = &'a Bound<'py, PyAny>;

/// A key for one mode.
///
/// ``mode`` is a name such as ``"gcm"`` or ``"aes-128-gcm"``; ``modes()`` lists them. ``key``
/// has 16, 24 or 32 bytes, or twice as many for modes with two keys.
///
/// Batches. ``messages`` are a list of bytes-like objects, a two-dimensional NumPy array of
/// ``uint8`` (a message a row), or an Arrow column: any object with ``__arrow_c_array__`` or
/// ``__arrow_c_stream__``. Results have the same form: a list of ``bytes``, a new array, an
/// Arrow ``Column``. ``nonces``, ``associated_data`` and ``tags``
/// have any of these forms too, whatever that of the messages; nonces and tags also may be
/// one bytes-like object, one after the other in it. ``associated_data`` may be one
/// bytes-like object for all messages. Where a mode takes several components, a tuple has
/// the place of the bytes-like object.
///
/// Arrow columns are of bytes, of text (its UTF-8), or of booleans, numbers, decimals, dates or
/// times (the bytes of the value in Arrow, the lowest first; 0 or 1 for a boolean). Results are
/// bytes; ``to`` names the type of decrypted and opened ones.
///
/// With ``"inline"`` in the place of nonces, every message is sealed or encrypted under a new
/// random nonce, which is put in front of the result, and opened or decrypted with the nonce
/// that is in front of it. A nonce has as many bytes as is usual in the mode, 12 or 16.
///
/// Nulls, which are ``None`` in a list, stay null: nothing is read of them, and what belongs
/// to their rows in ``nonces`` and ``associated_data`` is not looked at. There, a null that
/// belongs to a message is a mistake.
///
/// ``bytes`` and Arrow columns are read where they are; so are the messages of an array,
/// which must not be written to while a call runs. Of everything else a copy is taken. The
/// interpreter lock is released for batches of two kilobytes or more: one key may be
/// used by many threads at a time.
///
/// ``threads`` is the most threads that work on a batch: one for every two megabytes of it, with
/// 128 bytes for each message beside its own.
///
/// Mistakes raise ``InputError`` before any message is touched, and damaged Arrow columns
/// ``ValueError``; objects of a wrong type raise ``TypeError``. Messages that fail raise
/// ``OpenError`` with their indices; with ``on_failure="return"`` results come with a list of
/// those indices instead, and are ``None`` (null in a column, zero in an array) at these places.
///
/// >>> import aescomb
/// >>> key = aescomb.Key("aes-128-ccm", bytes(16))
/// >>> key, key.key_bits
/// (<aescomb.Key aes-128-ccm>, 128)
// In a box, as it is aligned to more than Python's allocator promises.
#[pyclass(frozen, module = "aescomb")]
pub(crate) struct Key(pub(crate) Held);

pub(crate) enum Held {
    One(Box<aescomb::AnyKey>),
    /// A key for each row, all for one mode.
    Rows(Rows),
}

impl Key {
    /// The key, or one of them.
    pub(crate) fn any(&self) -> &aescomb::AnyKey {
        match &self.0 {
            Held::One(key) => key,
            Held::Rows(rows) => rows.first().any(),
        }
    }

    /// The keys of these rows.
    pub(crate) fn keyed(&self, rows: Chosen<'_>) -> PyResult<Keyed<'_>> {
        match &self.0 {
            Held::One(key) => Ok(Keyed::One(key)),
            Held::Rows(keys) => keys.chosen(rows),
        }
    }

    pub(crate) fn shown(&self) -> String {
        match &self.0 {
            Held::One(key) => key.algorithm().to_string(),
            Held::Rows(rows) => {
                let (mode, keys) = (self.any().mode(), rows.all().count());
                format!("{mode}, {keys} keys for {} rows", rows.count())
            }
        }
    }

    fn nonces<'py>(&self, nonces: Option<Object<'_, 'py>>) -> PyResult<Nonces<'py>> {
        let Some(object) = nonces else {
            return Ok(Nonces::None);
        };
        match self.inline(object)? {
            Some(nonces) => Ok(nonces),
            None => {
                let usual = self.info().usual_nonce();
                Column::new(object, "nonces", usual).map(Nonces::Each)
            }
        }
    }

    fn nonce<'py>(&self, nonce: Option<Object<'_, 'py>>) -> PyResult<Nonces<'py>> {
        let Some(object) = nonce else {
            return Ok(Nonces::None);
        };
        match self.inline(object)? {
            Some(nonces) => Ok(nonces),
            None => {
                let nonce = input::bytes(object, "nonce")?;
                Ok(Nonces::Each(Column::Items(vec![Some(nonce)])))
            }
        }
    }

    /// Nonces in front of messages, if they are asked for.
    fn inline<'py>(&self, object: Object<'_, 'py>) -> PyResult<Option<Nonces<'py>>> {
        /// Bytes of the shortest nonce that may be random: of shorter ones, two are soon equal.
        const LEAST: usize = 12;
        match object.cast::<PyString>() {
            Ok(name) if name == "inline" => {}
            _ => return Ok(None),
        }
        let usual = self.info().usual_nonce();
        if usual >= LEAST {
            return Ok(Some(Nonces::Inline(usual)));
        }
        let what = format!(
            "nonces: 'inline' in {}, with {usual} bytes",
            self.any().mode()
        );
        let allowed = format!("modes with {LEAST} bytes or more");
        Err(errors::input(None, "nonce_length", &what, usual, allowed))
    }

    fn message<'py>(message: Object<'_, 'py>) -> PyResult<Messages<'py>> {
        Ok(Messages::Items(vec![Some(input::bytes(
            message, "message",
        )?)]))
    }
}

/// One if it is not said how many.
pub(crate) fn threads_of(given: Option<usize>) -> PyResult<NonZeroUsize> {
    NonZeroUsize::new(given.unwrap_or(1))
        .ok_or_else(|| PyValueError::new_err("threads: expected one or more, not 0"))
}

#[pymethods]
impl Key {
    #[new]
    fn new(mode: &str, key: Object<'_, '_>) -> PyResult<Self> {
        let unknown = |error: aescomb::UnknownName| PyValueError::new_err(error.to_string());
        let key = input::bytes(key, "key")?;
        let given = mode.parse::<Algorithm>();
        let mode = match given {
            Ok(algorithm) => algorithm.mode,
            Err(_) => mode.parse().map_err(unknown)?,
        };
        let key = aescomb::AnyKey::for_mode(mode, key.as_bytes())
            .map_err(|error| errors::refused(error, |i| i))?;
        match given {
            Ok(algorithm) if algorithm != key.algorithm() => {
                let (given, bits) = (key.algorithm().key_bits, algorithm.key_bits);
                let what = format!("key of {given} bits for {algorithm}");
                Err(errors::input(None, "key_length", &what, given, bits))
            }
            _ => Ok(Key(Held::One(Box::new(key)))),
        }
    }

    /// The mode it was made for.
    #[getter]
    fn mode(&self) -> Mode {
        Mode(self.any().mode())
    }

    /// Bits of an AES key: 128, 192 or 256. A mode with two keys takes twice as many. Of keys
    /// for rows, the fewest.
    #[getter]
    fn key_bits(&self) -> usize {
        let bits = |key: &aescomb::AnyKey| key.algorithm().key_bits;
        match &self.0 {
            Held::One(key) => bits(key),
            Held::Rows(rows) => rows.all().map(|key| bits(key.any())).min().unwrap_or(0),
        }
    }

    fn __repr__(&self) -> String {
        format!("<aescomb.Key {}>", self.shown())
    }

    /// Encrypts messages, in a mode that does not authenticate.
    ///
    /// ``nonces`` are initialisation vectors, initial counter blocks or tweaks; ``None`` for
    /// ECB. ``out`` is an array for the results of an array, which may be the messages' own.
    ///
    /// >>> import aescomb
    /// >>> key = aescomb.Key("ctr", bytes(16))
    /// >>> nonces = [bytes([i]) + bytes(15) for i in range(2)]
    /// >>> encrypted = key.encrypt_many(nonces, [b"one", b"two"])
    /// >>> key.decrypt_many(nonces, encrypted)
    /// [b'one', b'two']
    ///
    /// An array in place:
    ///
    /// >>> import numpy
    /// >>> records = numpy.zeros((2, 24), "uint8")
    /// >>> key.encrypt_many(nonces, records, out=records) is records
    /// True
    #[pyo3(signature = (nonces, messages, *, out=None, threads=None))]
    fn encrypt_many<'py>(
        &self,
        py: Python<'py>,
        nonces: Option<Object<'_, 'py>>,
        messages: Object<'_, 'py>,
        out: Option<Object<'_, 'py>>,
        threads: Option<usize>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let call = Call {
            out,
            threads: threads_of(threads)?,
            ..Call::new(Messages::new(messages)?, self.nonces(nonces)?)
        };
        self.run(py, Op::Encrypt, call)?.good(py)
    }

    /// Decrypts messages, in a mode that does not authenticate. Messages can fail only where
    /// padding is taken off.
    ///
    /// ``to`` is the type of a column of results: ``"binary"``, ``"string"``, ``"bool"``, the
    /// name of a type of numbers such as ``"int64"``, or an object with ``__arrow_c_schema__``
    /// such as ``pyarrow.timestamp("us")``. ``"binary"`` and ``"string"`` have offsets of as
    /// many bits, or views, as the messages have.
    ///
    /// >>> import aescomb
    /// >>> key = aescomb.Key("cbc-pkcs7", bytes(16))
    /// >>> encrypted = key.encrypt_many(bytes(2 * 16), [b"one", b"two"])
    /// >>> encrypted[1] = bytes(16)
    /// >>> key.decrypt_many(bytes(2 * 16), encrypted, on_failure="return")
    /// ([b'one', None], [1])
    #[pyo3(signature = (
        nonces, messages, *, to=None, on_failure="raise", out=None, threads=None
    ))]
    #[allow(clippy::too_many_arguments)]
    fn decrypt_many<'py>(
        &self,
        py: Python<'py>,
        nonces: Option<Object<'_, 'py>>,
        messages: Object<'_, 'py>,
        to: Option<Object<'_, 'py>>,
        on_failure: &str,
        out: Option<Object<'_, 'py>>,
        threads: Option<usize>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let told = OnFailure::new(on_failure)?;
        let call = Call {
            to: to.map(To::new).transpose()?,
            out,
            threads: threads_of(threads)?,
            ..Call::new(Messages::new(messages)?, self.nonces(nonces)?)
        };
        self.run(py, Op::Decrypt, call)?.reported(py, told)
    }

    /// Encrypts messages and puts a tag after each, in mode ``siv`` before it (RFC 5297).
    ///
    /// ``tag_bytes`` is the length of the tags: by default the longest of the mode.
    ///
    /// >>> import aescomb
    /// >>> key = aescomb.Key("gcm", bytes(16))
    /// >>> nonces = [i.to_bytes(12, "big") for i in range(2)]
    /// >>> sealed = key.seal_many(nonces, [b"one", b"two"], b"for all messages")
    /// >>> [len(message) for message in sealed]
    /// [19, 19]
    /// >>> sealed = key.seal_many(nonces, [b"one", b"two"], [b"for one", b"for two"])
    ///
    /// Nonces made here:
    ///
    /// >>> sealed = key.seal_many("inline", [b"one", b"two"])
    /// >>> [len(message) for message in sealed]
    /// [31, 31]
    /// >>> key.open_many("inline", sealed)
    /// [b'one', b'two']
    #[pyo3(signature = (
        nonces, messages, associated_data=None, *, tag_bytes=None, out=None, threads=None
    ))]
    #[allow(clippy::too_many_arguments)]
    fn seal_many<'py>(
        &self,
        py: Python<'py>,
        nonces: Option<Object<'_, 'py>>,
        messages: Object<'_, 'py>,
        associated_data: Option<Object<'_, 'py>>,
        tag_bytes: Option<usize>,
        out: Option<Object<'_, 'py>>,
        threads: Option<usize>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let call = Call {
            data: Data::of_batch(associated_data)?,
            tags: self.tag_bytes(Op::Seal, tag_bytes)?,
            out,
            threads: threads_of(threads)?,
            ..Call::new(Messages::new(messages)?, self.nonces(nonces)?)
        };
        self.run(py, Op::Seal, call)?.good(py)
    }

    /// Checks the tags of messages and decrypts them.
    ///
    /// ``opened_lengths`` are the lengths of the opened messages, for Julius, which does not
    /// tell them. ``to`` is the type of a column of results, as in ``decrypt_many``.
    ///
    /// >>> import aescomb
    /// >>> key = aescomb.Key("gcm", bytes(16))
    /// >>> nonces = [i.to_bytes(12, "big") for i in range(2)]
    /// >>> sealed = key.seal_many(nonces, [b"one", b"two"])
    /// >>> key.open_many(nonces, sealed)
    /// [b'one', b'two']
    /// >>> sealed[0] = bytes(19)
    /// >>> key.open_many(nonces, sealed)
    /// Traceback (most recent call last):
    /// aescomb.OpenError: 1 of 2 messages failed: 0
    /// >>> key.open_many(nonces, sealed, on_failure="return")
    /// ([None, b'two'], [0])
    #[pyo3(signature = (
        nonces, messages, associated_data=None, *, tag_bytes=None, opened_lengths=None, to=None,
        on_failure="raise", out=None, threads=None
    ))]
    #[allow(clippy::too_many_arguments)]
    fn open_many<'py>(
        &self,
        py: Python<'py>,
        nonces: Option<Object<'_, 'py>>,
        messages: Object<'_, 'py>,
        associated_data: Option<Object<'_, 'py>>,
        tag_bytes: Option<usize>,
        opened_lengths: Option<Object<'_, 'py>>,
        to: Option<Object<'_, 'py>>,
        on_failure: &str,
        out: Option<Object<'_, 'py>>,
        threads: Option<usize>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let told = OnFailure::new(on_failure)?;
        let call = Call {
            data: Data::of_batch(associated_data)?,
            tags: self.tag_bytes(Op::Open, tag_bytes)?,
            opened: opened_lengths.map(input::lengths).transpose()?,
            to: to.map(To::new).transpose()?,
            out,
            threads: threads_of(threads)?,
            ..Call::new(Messages::new(messages)?, self.nonces(nonces)?)
        };
        self.run(py, Op::Open, call)?.reported(py, told)
    }

    /// Makes the tags of messages. Only GMAC takes nonces.
    ///
    /// >>> import aescomb
    /// >>> key = aescomb.Key("cmac", bytes(16))
    /// >>> [tag.hex() for tag in key.mac_many([b"one", b"two"], tag_bytes=8)]
    /// ['15cf9f78bfb166db', '968940b6c7f4cf30']
    #[pyo3(signature = (messages, nonces=None, *, tag_bytes=None, threads=None))]
    fn mac_many<'py>(
        &self,
        py: Python<'py>,
        messages: Object<'_, 'py>,
        nonces: Option<Object<'_, 'py>>,
        tag_bytes: Option<usize>,
        threads: Option<usize>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let call = Call {
            tags: self.tag_bytes(Op::Mac, tag_bytes)?,
            threads: threads_of(threads)?,
            ..Call::new(Messages::new(messages)?, self.nonces(nonces)?)
        };
        self.run(py, Op::Mac, call)?.good(py)
    }

    /// Checks the tags of messages; with ``on_failure="return"`` returns the indices of those
    /// whose tags are wrong. A null has no tag: if it is given one, that is wrong.
    ///
    /// >>> import aescomb
    /// >>> key = aescomb.Key("cmac", bytes(16))
    /// >>> tags = key.mac_many([b"one", b"two"])
    /// >>> key.verify_many([b"one", b"two"], tags)
    /// >>> key.verify_many([b"one", b"too"], tags, on_failure="return")
    /// [1]
    #[pyo3(signature = (messages, tags, nonces=None, *, on_failure="raise", threads=None))]
    fn verify_many<'py>(
        &self,
        py: Python<'py>,
        messages: Object<'_, 'py>,
        tags: Object<'_, 'py>,
        nonces: Option<Object<'_, 'py>>,
        on_failure: &str,
        threads: Option<usize>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let told = OnFailure::new(on_failure)?;
        let tags = Column::new(tags, "tags", self.info().longest_tag())?;
        let call = Call {
            tags: GivenTags::Column(tags),
            threads: threads_of(threads)?,
            ..Call::new(Messages::new(messages)?, self.nonces(nonces)?)
        };
        self.run(py, Op::Verify, call)?.reported(py, told)
    }

    /// Encrypts one message. Batches are many times as fast in modes that are serial.
    #[pyo3(signature = (nonce, message))]
    fn encrypt<'py>(
        &self,
        py: Python<'py>,
        nonce: Option<Object<'_, 'py>>,
        message: Object<'_, 'py>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let call = Call::new(Key::message(message)?, self.nonce(nonce)?);
        self.run(py, Op::Encrypt, call)?.one(py)
    }

    /// Decrypts one message.
    #[pyo3(signature = (nonce, message))]
    fn decrypt<'py>(
        &self,
        py: Python<'py>,
        nonce: Option<Object<'_, 'py>>,
        message: Object<'_, 'py>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let call = Call::new(Key::message(message)?, self.nonce(nonce)?);
        self.run(py, Op::Decrypt, call)?.one(py)
    }

    /// Encrypts one message and puts a tag after it, in mode ``siv`` before it.
    ///
    /// >>> import aescomb
    /// >>> key = aescomb.Key("gcm", bytes(16))
    /// >>> sealed = key.seal(bytes(12), b"a message", b"its header")
    /// >>> key.open(bytes(12), sealed, b"its header")
    /// b'a message'
    #[pyo3(signature = (nonce, message, associated_data=None, *, tag_bytes=None))]
    fn seal<'py>(
        &self,
        py: Python<'py>,
        nonce: Option<Object<'_, 'py>>,
        message: Object<'_, 'py>,
        associated_data: Option<Object<'_, 'py>>,
        tag_bytes: Option<usize>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let call = Call {
            data: Data::of_one(associated_data)?,
            tags: self.tag_bytes(Op::Seal, tag_bytes)?,
            ..Call::new(Key::message(message)?, self.nonce(nonce)?)
        };
        self.run(py, Op::Seal, call)?.one(py)
    }

    /// Checks the tag of one message and decrypts it.
    #[pyo3(signature = (
        nonce, message, associated_data=None, *, tag_bytes=None, opened_length=None
    ))]
    fn open<'py>(
        &self,
        py: Python<'py>,
        nonce: Option<Object<'_, 'py>>,
        message: Object<'_, 'py>,
        associated_data: Option<Object<'_, 'py>>,
        tag_bytes: Option<usize>,
        opened_length: Option<usize>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let call = Call {
            data: Data::of_one(associated_data)?,
            tags: self.tag_bytes(Op::Open, tag_bytes)?,
            opened: opened_length.map(|len| vec![len]),
            ..Call::new(Key::message(message)?, self.nonce(nonce)?)
        };
        self.run(py, Op::Open, call)?.one(py)
    }

    /// Makes the tag of one message.
    ///
    /// >>> import aescomb
    /// >>> key = aescomb.Key("cmac", bytes(16))
    /// >>> key.verify(b"a message", key.mac(b"a message"))
    #[pyo3(signature = (message, nonce=None, *, tag_bytes=None))]
    fn mac<'py>(
        &self,
        py: Python<'py>,
        message: Object<'_, 'py>,
        nonce: Option<Object<'_, 'py>>,
        tag_bytes: Option<usize>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let call = Call {
            tags: self.tag_bytes(Op::Mac, tag_bytes)?,
            ..Call::new(Key::message(message)?, self.nonce(nonce)?)
        };
        self.run(py, Op::Mac, call)?.one(py)
    }

    /// Checks the tag of one message.
    #[pyo3(signature = (message, tag, nonce=None))]
    fn verify<'py>(
        &self,
        py: Python<'py>,
        message: Object<'_, 'py>,
        tag: Object<'_, 'py>,
        nonce: Option<Object<'_, 'py>>,
    ) -> PyResult<()> {
        let tags = Column::Items(vec![Some(input::bytes(tag, "tag")?)]);
        let call = Call {
            tags: GivenTags::Column(tags),
            ..Call::new(Key::message(message)?, self.nonce(nonce)?)
        };
        self.run(py, Op::Verify, call)?.good(py).map(|_| ())
    }
}
