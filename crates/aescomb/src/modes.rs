//! The modes of operation: [`Mode`], by name, and each as a type, for [`Key`](crate::Key).
//!
//! ```
//! use aescomb::modes::{Gcm, TypedMode};
//! use aescomb::{Key, Mode};
//!
//! assert_eq!(Gcm::MODE, Mode::Gcm);
//! assert_eq!(Key::<Gcm>::new(&[0; 16])?.mode(), Mode::Gcm);
//! # Ok::<(), aescomb::Error>(())
//! ```
// A mode is one file here, its `mod`, and a line in `modes!` of `mode.rs`.

pub use crate::key::AnyMode;
pub use crate::mode::Mode;

use crate::about::{Registered, info};
use crate::admission::Rules;
use crate::backend::Backend;
use crate::engine::{Work, batch, one};
use crate::error::{Allowed, Error, Field, OpenError};
use crate::expanded::Expanded;
use crate::job::{Job, Rest, RunOne};
use crate::mode::{Info, Kind, Op, modes};
use crate::pass::is_aes_128;
use crate::single::single;

mod cbc;
mod ccm;
mod cfb;
#[cfg(feature = "research")]
mod cloc;
mod cmac;
#[cfg(feature = "research")]
mod cobra;
#[cfg(feature = "research")]
mod copa;
#[cfg(feature = "research")]
mod cpfb;
mod ctr;
mod eax;
mod ecb;
mod gcm;
mod gcm_siv;
#[cfg(feature = "research")]
mod jambu;
#[cfg(feature = "research")]
mod julius;
#[cfg(feature = "research")]
mod mcoe_g;
mod ocb;
mod ofb;
#[cfg(feature = "research")]
mod otr;
mod pkcs7;
mod pmac;
#[cfg(feature = "research")]
mod pmac_ctr;
#[cfg(feature = "research")]
mod poet;
#[cfg(feature = "research")]
mod silc;
#[cfg(feature = "research")]
mod silver;
mod siv;
mod xts;

#[cfg(feature = "rustcrypto")]
pub(crate) use cbc::Encrypt as CbcEncrypt;

mod sealed {
    use super::{Backend, Expanded, Job, Mode, OpenError, Work};

    /// What calls need of a mode. `pub` in a private module: nobody else can implement it.
    #[allow(private_interfaces)]
    pub trait Kernels: 'static {
        /// The mode of all keys; `None` for that of a call's first.
        const KNOWN: Option<Mode>;
        /// Runs a batch: encryption, sealing, or the computation of tags.
        fn forward(mode: Mode, backend: Backend, work: &mut Work<'_>);
        /// Runs a batch: decryption, opening.
        fn backward(mode: Mode, backend: Backend, work: &mut Work<'_>);
        /// Checks one message and does it.
        fn single<const OP: u8>(key: &Expanded, job: &Job) -> Result<usize, OpenError>;
    }
}
pub(crate) use sealed::Kernels;

/// A mode that is a type, such as [`Gcm`]. Sealed.
///
/// ```
/// use aescomb::Key;
/// use aescomb::modes::{Cmac, TypedMode};
///
/// fn name<M: TypedMode>(_: &Key<M>) -> String {
///     M::MODE.to_string()
/// }
/// assert_eq!(name(&Key::<Cmac>::new(&[0; 16])?), "cmac");
/// # Ok::<(), aescomb::Error>(())
/// ```
pub trait TypedMode: Kernels {
    /// The same mode as a value.
    const MODE: Mode;
}

/// Modes that encrypt and decrypt without a tag, and [`AnyMode`]. Sealed.
///
/// ```
/// use aescomb::modes::{CipherMode, Ctr};
/// use aescomb::{Error, Key};
///
/// fn twice<M: CipherMode>(key: &Key<M>, text: &mut [u8]) -> Result<(), Error> {
///     key.encrypt_in_place(&[7; 16], text)?;
///     key.encrypt_in_place(&[7; 16], text)
/// }
/// let mut text = *b"the same keystream twice";
/// twice(&Key::<Ctr>::new(&[0; 16])?, &mut text)?;
/// assert_eq!(&text, b"the same keystream twice");
/// # Ok::<(), aescomb::Error>(())
/// ```
pub trait CipherMode: Kernels {}
/// Modes that make and verify tags, and encrypt nothing, and [`AnyMode`]. Sealed.
///
/// ```
/// use aescomb::modes::{Cmac, MacMode};
/// use aescomb::{Error, Key};
///
/// fn tag<M: MacMode>(key: &Key<M>, text: &[u8]) -> Result<[u8; 16], Error> {
///     let mut tag = [0; 16];
///     key.mac(text, &mut tag)?;
///     Ok(tag)
/// }
/// let key = Key::<Cmac>::new(&[0; 16])?;
/// assert_ne!(tag(&key, b"one")?, tag(&key, b"two")?);
/// # Ok::<(), aescomb::Error>(())
/// ```
pub trait MacMode: Kernels {}
/// Modes that seal and open, and [`AnyMode`]. Sealed.
///
/// ```
/// use aescomb::modes::{AeadMode, Gcm};
/// use aescomb::{Error, Key};
///
/// fn seal<M: AeadMode>(key: &Key<M>, text: &mut [u8]) -> Result<[u8; 16], Error> {
///     let mut tag = [0; 16];
///     key.seal_in_place(&[1; 12], b"header", text, &mut tag)?;
///     Ok(tag)
/// }
/// let key = Key::<Gcm>::new(&[0; 16])?;
/// let mut text = *b"a message";
/// let tag = seal(&key, &mut text)?;
/// key.open_in_place(&[1; 12], b"header", &mut text, &tag)?;
/// assert_eq!(&text, b"a message");
/// # Ok::<(), aescomb::OpenError>(())
/// ```
pub trait AeadMode: Kernels {}

#[allow(private_interfaces)]
impl Kernels for AnyMode {
    const KNOWN: Option<Mode> = None;

    fn forward(mode: Mode, backend: Backend, work: &mut Work<'_>) {
        mode.forward(backend, work);
    }

    fn backward(mode: Mode, backend: Backend, work: &mut Work<'_>) {
        mode.backward(backend, work);
    }

    #[inline(always)]
    fn single<const OP: u8>(key: &Expanded, job: &Job) -> Result<usize, OpenError> {
        let (mode, op) = (key.mode(), Op::ALL[OP as usize]);
        if !mode.kind().has(op) {
            return Err(no_operation(mode, op).into());
        }
        single::<OP>(mode.rules(op), key, job, mode.one(op))
    }
}

impl CipherMode for AnyMode {}
impl MacMode for AnyMode {}
impl AeadMode for AnyMode {}

macro_rules! register {
    ($($(#[doc = $doc:literal])* $(#[cfg($cfg:meta)])? $name:ident $text:literal: $kind:ident;)*) => {
        $(
            $(#[doc = $doc])*
            ///
            /// ```
            /// use aescomb::Key;
            #[doc = concat!("use aescomb::modes::{", stringify!($name), ", TypedMode};")]
            ///
            #[doc = concat!("let longest = ", stringify!($name), "::MODE.info().key_bytes.last();")]
            /// let bytes: Vec<u8> = (0..).take(*longest.expect("a length")).collect();
            #[doc = concat!("let key = Key::<", stringify!($name), ">::new(&bytes)?;")]
            #[doc = concat!("assert_eq!(key.mode().to_string(), ", stringify!($text), ");")]
            /// # Ok::<(), aescomb::Error>(())
            /// ```
            $(#[cfg($cfg)])?
            #[derive(Clone, Copy, Debug)]
            pub struct $name;

            $(#[cfg($cfg)])?
            impl $name {
                const INFO: Info = info::<$name>($text, Kind::$kind);
            }

            $(#[cfg($cfg)])?
            const _: () = {
                let sizes = $name::INFO.key_bytes;
                let small = sizes.len() == 1 && sizes[0] == 16;
                assert!(is_aes_128::<<$name as Registered>::Forward>() == small);
                assert!(is_aes_128::<<$name as Registered>::Backward>() == small);
                assert!(!$name::INFO.title.is_empty() && !$name::INFO.source.is_empty());
            };

            #[allow(private_interfaces)]
            $(#[cfg($cfg)])?
            impl Kernels for $name {
                const KNOWN: Option<Mode> = Some(Mode::$name);

                #[inline(never)]
                fn forward(_: Mode, backend: Backend, work: &mut Work<'_>) {
                    batch::<<$name as Registered>::Forward>(backend, work);
                }

                #[inline(never)]
                fn backward(_: Mode, backend: Backend, work: &mut Work<'_>) {
                    batch::<<$name as Registered>::Backward>(backend, work);
                }

                #[inline(always)]
                fn single<const OP: u8>(
                    key: &Expanded,
                    job: &Job,
                ) -> Result<usize, OpenError> {
                    let [forward, backward] = const { Kind::$kind.ops() };
                    let run = if OP == forward as u8 {
                        Self::forward_single
                    } else if OP == backward as u8 {
                        Self::backward_single
                    } else {
                        return Err(no_operation(Mode::$name, Op::ALL[OP as usize]).into());
                    };
                    let rules = const { &Rules::all(&$name::INFO, $name::limits)[OP as usize] };
                    single::<OP>(rules, key, job, run)
                }
            }

            // The two operations on one message, each a `RunOne`: functions of their own, compiled in this
            // crate once.
            $(#[cfg($cfg)])?
            impl $name {
                #[inline(never)]
                fn forward_single(
                    key: &Expanded,
                    text: (*const u8, *mut u8),
                    len: usize,
                    nonce: *const u8,
                    rest: &Rest,
                ) -> bool {
                    one::<<$name as Registered>::Forward, false>(key, text, len, nonce, rest)
                }

                #[inline(never)]
                fn backward_single(
                    key: &Expanded,
                    text: (*const u8, *mut u8),
                    len: usize,
                    nonce: *const u8,
                    rest: &Rest,
                ) -> bool {
                    const COMPARES: bool = Kind::$kind.has(Op::Verify) || Kind::$kind.has(Op::Open);
                    one::<<$name as Registered>::Backward, COMPARES>(key, text, len, nonce, rest)
                }
            }

            $(#[cfg($cfg)])?
            impl TypedMode for $name {
                const MODE: Mode = Mode::$name;
            }

            $(#[cfg($cfg)])?
            impl kind::$kind for $name {}
        )*

        impl Mode {
            /// What is known of the mode.
            pub fn info(self) -> &'static Info {
                match self {
                    $($(#[cfg($cfg)])? Mode::$name => const { &$name::INFO },)*
                }
            }

            /// What its messages may be.
            pub(crate) fn rules(self, op: Op) -> &'static Rules {
                let all: &'static [Rules; 6] = match self {
                    $($(#[cfg($cfg)])? Mode::$name => {
                        const { &Rules::all(&$name::INFO, $name::limits) }
                    },)*
                };
                &all[op as usize]
            }

            /// Computes the mode's constants of an expanded key.
            pub(crate) fn constants(self, backend: Backend, key: &mut Expanded) {
                match self {
                    $($(#[cfg($cfg)])? Mode::$name => $name::constants(backend, key),)*
                }
            }

            /// Whether the two keys of a mode with two must not be equal.
            pub(crate) fn keys_differ(self) -> bool {
                match self {
                    $($(#[cfg($cfg)])? Mode::$name => $name::KEYS_DIFFER,)*
                }
            }

            fn forward(self, backend: Backend, work: &mut Work<'_>) {
                match self {
                    $($(#[cfg($cfg)])? Mode::$name => $name::forward(self, backend, work),)*
                }
            }

            fn backward(self, backend: Backend, work: &mut Work<'_>) {
                match self {
                    $($(#[cfg($cfg)])? Mode::$name => $name::backward(self, backend, work),)*
                }
            }

            /// What does one message.
            fn one(self, op: Op) -> RunOne {
                let back = matches!(op, Op::Decrypt | Op::Verify | Op::Open);
                match self {
                    $($(#[cfg($cfg)])? Mode::$name if back => $name::backward_single,
                    $(#[cfg($cfg)])? Mode::$name => $name::forward_single,)*
                }
            }
        }
    };
}

/// The mode does not have it.
#[cold]
#[inline(never)]
pub(crate) fn no_operation(mode: Mode, op: Op) -> Error {
    let allowed = Allowed::Ops(mode.info().kind.ops());
    Error::new(Field::Operation, op, allowed)
}

/// The traits of types by their kinds.
mod kind {
    pub(super) use super::{AeadMode as Aead, CipherMode as Cipher, MacMode as Mac};
}

modes!(register);
