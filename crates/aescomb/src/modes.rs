//! The modes: the contract they meet, and the registry.
//!
//! A mode is one file here and one line in [`register!`]. It says what it is
//! ([`Registered::INFO`]) and how one message goes ([`Sweep`]), once, for all
//! widths, instruction sets and key forms.

use crate::backend::Backend;
use crate::isa::{Block, Cipher, Wide};
use crate::key::Key;
use crate::lanes::{Job, Last};
use crate::mode::{Info, Lengths, Op};
use crate::sweep::{Work, alone, sweep};

mod cbc;
mod cfb;
mod cmac;
mod ctr;
mod ecb;
mod ofb;
mod pkcs7;

pub(crate) use pkcs7::padding_len;

macro_rules! register {
    ($($(#[$doc:meta])* $name:ident = $type:ty;)*) => {
        /// The modes of operation.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Mode {
            $($(#[$doc])* $name,)*
        }

        impl Mode {
            /// All modes: the registry.
            pub const ALL: &'static [Mode] = &[$(Mode::$name),*];

            /// What is known of the mode.
            pub fn info(self) -> &'static Info {
                match self {
                    $(Mode::$name => const { &<$type as Registered>::INFO },)*
                }
            }

            pub(crate) fn subkeys(self, sub: &mut [Block; 2]) {
                match self {
                    $(Mode::$name => <$type as Registered>::subkeys(sub),)*
                }
            }

            /// Runs a batch.
            pub(crate) fn run(self, op: Op, backend: Backend, work: Work<'_>) {
                match self {
                    $(Mode::$name => match op {
                        Op::Decrypt => {
                            sweep::<<$type as Registered>::Backward>(backend, work)
                        }
                        _ => sweep::<<$type as Registered>::Forward>(backend, work),
                    },)*
                }
            }

            /// Runs one message.
            pub(crate) fn run_alone(self, op: Op, backend: Backend, key: &Key, job: &Job) {
                match self {
                    $(Mode::$name => match op {
                        Op::Decrypt => {
                            alone::<<$type as Registered>::Backward>(backend, key, job)
                        }
                        _ => alone::<<$type as Registered>::Forward>(backend, key, job),
                    },)*
                }
            }
        }
    };
}

register! {
    /// Electronic codebook.
    Ecb = ecb::Ecb;
    /// Electronic codebook with PKCS#7 padding.
    EcbPkcs7 = ecb::EcbPkcs7;
    /// Cipher block chaining.
    Cbc = cbc::Cbc;
    /// Cipher block chaining with PKCS#7 padding.
    CbcPkcs7 = cbc::CbcPkcs7;
    /// Cipher feedback with 128-bit segments.
    Cfb128 = cfb::Cfb128;
    /// Output feedback.
    Ofb = ofb::Ofb;
    /// Counter mode with a 128-bit big-endian counter.
    Ctr = ctr::Ctr;
    /// Counter mode with the 32-bit big-endian counter of GCM.
    Ctr32 = ctr::Ctr32;
    /// Cipher-based message authentication code.
    Cmac = cmac::Cmac;
}

/// A mode in the registry.
pub(crate) trait Registered {
    const INFO: Info;
    /// Encryption, or the computation of a tag.
    type Forward: Sweep;
    /// Decryption; for a MAC the same as `Forward`.
    type Backward: Sweep;

    /// The mode's constants of a key, from CIPH_K(0^128) in `sub[0]`.
    fn subkeys(sub: &mut [Block; 2]) {
        *sub = [[0; 16]; 2];
    }
}

/// Where the state of a block comes from, for modes whose blocks can be done
/// side by side.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Feed {
    /// From the result of the block before: not side by side.
    Serial,
    /// There is none.
    Alone,
    /// It is the input block before.
    Input,
    /// From the block's place in the message, by `advance`.
    Counter,
}

/// One direction of a mode: what happens to a message, written for one message
/// and run on [`Wide`] values of many.
///
/// ```text
/// state = begin(nonce)
/// for each row x of the message:  output step(state, x)
/// if anything is left:            output finish(state, last)
/// ```
pub(crate) trait Sweep {
    /// `[W; N]`, N blocks of state.
    type State<W: Wide>: State<W>;
    /// Message lengths that this direction takes, and what is left for `finish`.
    const LENGTHS: Lengths;
    const FEED: Feed;
    /// Whether there is a nonce (of 16 bytes).
    const NONCE: bool = true;
    /// Whether `step` uses the inverse cipher, and only that.
    const INVERSE: bool = false;

    fn begin<C: Cipher>(c: &C, nonce: C::W) -> Self::State<C::W>;

    fn step<C: Cipher>(c: &C, state: &mut Self::State<C::W>, x: C::W) -> C::W;

    #[inline(always)]
    fn finish<C: Cipher>(c: &C, mut state: Self::State<C::W>, last: Last<C::W>) -> C::W {
        Self::step(c, &mut state, last.block)
    }

    /// For [`Feed::Counter`]: the state `steps` blocks further on. Without
    /// `CARRY` the low eight bytes of the counter do not overflow.
    #[inline(always)]
    fn advance<W: Wide, const CARRY: bool>(_: &mut Self::State<W>, _: W) {}
}

/// A mode's state: `[W; N]`.
pub(crate) trait State<W>: Copy {
    /// Block `i` is `f(i)`; `f(0)` is called even where there is none.
    fn from_fn(f: impl FnMut(usize) -> W) -> Self;
    fn blocks(&self) -> &[W];
}

impl<W: Copy, const N: usize> State<W> for [W; N] {
    #[inline(always)]
    fn from_fn(mut f: impl FnMut(usize) -> W) -> Self {
        // Not `array::from_fn`, which does not always inline.
        let mut blocks = [f(0); N];
        let mut i = 1;
        while i < N {
            blocks[i] = f(i);
            i += 1;
        }
        blocks
    }

    #[inline(always)]
    fn blocks(&self) -> &[W] {
        self
    }
}

impl Lengths {
    /// How many blocks of a message of `len` bytes are rows; the rest is left
    /// for the finish.
    #[inline(always)]
    pub(crate) fn rows(self, len: usize) -> usize {
        match self {
            Lengths::TagOnly => len.saturating_sub(1) / 16,
            _ => len / 16,
        }
    }

    /// What the finish wants added to a last block of 0 to 16 bytes: PKCS#7 (RFC
    /// 5652 section 6.3), 10* (SP 800-38B section 6.2), or nothing.
    #[inline(always)]
    pub(crate) fn padding(self) -> Option<&'static [Block; 17]> {
        const PKCS7: [Block; 17] = padding(false);
        const ONE_ZERO: [Block; 17] = padding(true);
        match self {
            Lengths::Padded => Some(&PKCS7),
            Lengths::TagOnly => Some(&ONE_ZERO),
            _ => None,
        }
    }
}

/// What is added to a block of which `i` bytes are taken, at place `i`.
const fn padding(one_zero: bool) -> [Block; 17] {
    let mut out = [[0; 16]; 17];
    let mut len = 0;
    while len < 16 {
        let mut i = len;
        while i < 16 {
            out[len][i] = match one_zero {
                true if i == len => 0x80,
                true => 0,
                false => (16 - len) as u8,
            };
            i += 1;
        }
        len += 1;
    }
    out
}
