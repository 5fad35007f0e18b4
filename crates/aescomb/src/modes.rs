//! The registry of modes: a mode is one file here and one line in [`register!`].

use crate::admission::Rules;
use crate::backend::Backend;
use crate::engine::{Work, batch};
use crate::error::Error;
use crate::job::Job;
use crate::key::Key;
use crate::mode::{Info, Op};
use crate::pass::{Limits, Pass, Registered};
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
pub(crate) use pkcs7::padding_len;

macro_rules! register {
    ($($(#[doc = $doc:literal])* $(#[cfg($cfg:meta)])? $name:ident = $type:ty;)*) => {
        /// The modes of operation.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Mode {
            $($(#[doc = $doc])* $(#[cfg($cfg)])? $name,)*
        }

        $($(#[cfg($cfg)])? const _: () = {
            let sizes = <$type as Registered>::INFO.key_bytes;
            let small = sizes.len() == 1 && sizes[0] == 16;
            assert!(<<$type as Registered>::Forward as Pass>::AES_128 == small);
            assert!(<<$type as Registered>::Backward as Pass>::AES_128 == small);
        };)*

        impl Mode {
            /// All modes: the registry.
            pub const ALL: &'static [Mode] = &[$($(#[cfg($cfg)])? Mode::$name),*];

            /// What is known of the mode.
            pub fn info(self) -> &'static Info {
                match self {
                    $($(#[cfg($cfg)])? Mode::$name => const { &<$type as Registered>::INFO },)*
                }
            }

            /// What its messages may be.
            pub(crate) fn rules(self, op: Op) -> &'static Rules {
                let all: &'static [Rules; 6] = match self {
                    $($(#[cfg($cfg)])? Mode::$name => {
                        const { &Rules::all(&<$type as Registered>::INFO) }
                    })*
                };
                &all[op as usize]
            }

            /// Computes the mode's constants of an expanded key.
            pub(crate) fn constants(self, backend: Backend, key: &mut Key) {
                match self {
                    $($(#[cfg($cfg)])? Mode::$name => <$type as Registered>::constants(backend, key),)*
                }
            }

            /// Whether the two keys of a mode with two must not be equal.
            pub(crate) fn keys_differ(self) -> bool {
                match self {
                    $($(#[cfg($cfg)])? Mode::$name => <$type as Registered>::KEYS_DIFFER,)*
                }
            }

            /// The most bytes of text and of associated data of a message.
            pub(crate) fn limits(self, job: &Job) -> Limits {
                match self {
                    $($(#[cfg($cfg)])? Mode::$name => <$type as Registered>::limits(job.nonce_len as usize),)*
                }
            }

            /// Runs a batch.
            pub(crate) fn run(self, op: Op, backend: Backend, work: Work<'_>) {
                match self {
                    $($(#[cfg($cfg)])? Mode::$name => match op {
                        Op::Decrypt | Op::Open => {
                            batch::<<$type as Registered>::Backward>(backend, work)
                        }
                        _ => batch::<<$type as Registered>::Forward>(backend, work),
                    },)*
                }
            }

            /// Checks one message and does it.
            #[inline(always)]
            pub(crate) fn run_alone<const OP: u8>(
                self,
                key: &Key,
                job: &mut Job,
            ) -> Result<usize, Error> {
                match self {
                    $($(#[cfg($cfg)])? Mode::$name => single::<$type, OP>(key, job),)*
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
    /// XEX-based tweaked codebook with ciphertext stealing.
    Xts = xts::Xts;
    /// Cipher-based message authentication code.
    Cmac = cmac::Cmac;
    /// Parallelizable message authentication code (PMAC1).
    Pmac = pmac::Pmac;
    /// Galois message authentication code.
    Gmac = gcm::Gmac;
    /// Counter with CBC-MAC.
    Ccm = ccm::Ccm;
    /// Galois/counter mode.
    Gcm = gcm::Gcm;
    /// Offset codebook (OCB3).
    Ocb = ocb::Ocb;
    /// Synthetic initialisation vector, deterministic.
    Siv = siv::Siv;
    /// Nonce misuse-resistant GCM.
    GcmSiv = gcm_siv::GcmSiv;
    /// CLOC v3 with a nonce of 12 bytes and a tag of 8, for research.
    #[cfg(feature = "research")]
    Cloc = cloc::Cloc;
    /// SILC v3 with a nonce of 12 bytes and a tag of 8, for research.
    #[cfg(feature = "research")]
    Silc = silc::Silc;
    /// AES-JAMBU v2, for research.
    #[cfg(feature = "research")]
    Jambu = jambu::Jambu;
    /// POET v2 with AES-128 as its hash function, for research.
    #[cfg(feature = "research")]
    Poet = poet::Poet;
    /// McOE-G, completed where its paper could not be had, for research.
    #[cfg(feature = "research")]
    McoeG = mcoe_g::McoeG;
    /// AES-OTR v3 with parallel associated data. For research.
    #[cfg(feature = "research")]
    Otr = otr::Otr;
    /// AES-COPA v2. For research.
    #[cfg(feature = "research")]
    Copa = copa::Copa;
    /// PMAC+CTR, completed by us. For research.
    #[cfg(feature = "research")]
    PmacCtr = pmac_ctr::PmacCtr;
    /// COBRA, completed by us. For research.
    #[cfg(feature = "research")]
    Cobra = cobra::Cobra;
    /// Regular Julius-ECB. For research.
    #[cfg(feature = "research")]
    Julius = julius::Julius;
    /// AES-CPFB v1: counter and plaintext feedback, for research.
    #[cfg(feature = "research")]
    Cpfb = cpfb::Cpfb;
    /// Silver v1, for research.
    #[cfg(feature = "research")]
    Silver = silver::Silver;
}
