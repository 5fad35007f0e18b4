//! AES-GCM and AES-CCM for [rustls], by [aescomb].
//!
//! [`provider`] is a [`CryptoProvider`] whose AES suites are aescomb's, with CCM, which
//! rustls' own providers lack. Everything else is AWS-LC's: key exchange, signatures, hashes,
//! ChaCha20-Poly1305, random numbers.
//!
//! | suite | TLS | key, tag (bytes) | in [`provider`] |
//! |---|---|---|---|
//! | [`TLS13_AES_256_GCM_SHA384`] | 1.3 | 32, 16 | yes |
//! | [`TLS13_AES_128_GCM_SHA256`] | 1.3 | 16, 16 | yes |
//! | [`TLS13_AES_128_CCM_SHA256`] | 1.3 | 16, 16 | yes |
//! | [`TLS13_AES_128_CCM_8_SHA256`] | 1.3 | 16, 8 | no |
//! | [`TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384`] | 1.2 | 32, 16 | yes |
//! | [`TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256`] | 1.2 | 16, 16 | yes |
//! | [`TLS_ECDHE_ECDSA_WITH_AES_256_CCM`] | 1.2 | 32, 16 | yes |
//! | [`TLS_ECDHE_ECDSA_WITH_AES_128_CCM`] | 1.2 | 16, 16 | yes |
//! | [`TLS_ECDHE_ECDSA_WITH_AES_256_CCM_8`] | 1.2 | 32, 8 | no |
//! | [`TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8`] | 1.2 | 16, 8 | no |
//!
//! Sources: RFC 8446, 5246, 5288, 6655 and 7251. The suites with tags of 8 bytes are for
//! small devices, whose profiles demand them (RFC 7925, IEEE 2030.5); whoever wants them
//! names them:
//!
//! ```
//! use rustls::crypto::CryptoProvider;
//! use std::sync::Arc;
//!
//! let provider = CryptoProvider {
//!     cipher_suites: vec![
//!         aescomb_rustls::TLS13_AES_128_CCM_8_SHA256,
//!         aescomb_rustls::TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8,
//!     ],
//!     ..aescomb_rustls::provider()
//! };
//! let config = rustls::ClientConfig::builder_with_provider(Arc::new(provider))
//!     .with_safe_default_protocol_versions()?
//!     .with_root_certificates(rustls::RootCertStore::empty())
//!     .with_no_client_auth();
//! # Ok::<(), rustls::Error>(())
//! ```
//!
//! # What it costs
//!
//! rustls hands over one record at a time. CCM is serial inside a record, so it takes the
//! latency of AES; batches of records are what aescomb is for. A server that has several
//! records in hand takes the keys out of rustls after the handshake ([`kernel`]) and does
//! records by itself ([`record`]), as `examples/tls-server` of aescomb's repository does.
//!
//! # Limits
//!
//! - No QUIC: the AES suites have no packet protection for it.
//! - Not FIPS: [`CryptoProvider::fips`] is false.
//! - Keys of CCM cannot be taken out of rustls, which has no name for them, but by the
//!   suites in [`kernel`].
#![forbid(unsafe_code)]

use aescomb::Mode;
use rustls::crypto::CryptoProvider;
use rustls::crypto::aws_lc_rs::cipher_suite as aws_lc;
use rustls::crypto::cipher::UnsupportedOperationError;
use rustls::{
    CipherSuite, CipherSuiteCommon, ConnectionTrafficSecrets, SupportedCipherSuite,
    Tls12CipherSuite, Tls13CipherSuite,
};

pub mod record;
mod tls12;
mod tls13;

/// What a suite does to records.
#[derive(Clone, Copy, Debug)]
struct Aead {
    mode: Mode,
    key_bytes: usize,
    tag_bytes: usize,
    /// Whether keys may be taken out of a connection also where rustls has no name for them.
    extracts: bool,
}

impl Aead {
    const AES_128_GCM: Aead = Aead::new(Mode::Gcm, 16, 16);
    const AES_256_GCM: Aead = Aead::new(Mode::Gcm, 32, 16);
    const AES_128_CCM: Aead = Aead::new(Mode::Ccm, 16, 16);
    const AES_256_CCM: Aead = Aead::new(Mode::Ccm, 32, 16);
    const AES_128_CCM_8: Aead = Aead::new(Mode::Ccm, 16, 8);
    const AES_256_CCM_8: Aead = Aead::new(Mode::Ccm, 32, 8);

    const fn new(mode: Mode, key_bytes: usize, tag_bytes: usize) -> Aead {
        Aead {
            mode,
            key_bytes,
            tag_bytes,
            extracts: matches!(mode, Mode::Gcm),
        }
    }

    /// With keys that may be taken out.
    const fn extracting(self) -> Aead {
        Aead {
            extracts: true,
            ..self
        }
    }

    /// That of a suite, if it is one of these.
    fn of(suite: CipherSuite) -> Option<Aead> {
        Some(match suite {
            CipherSuite::TLS13_AES_128_GCM_SHA256
            | CipherSuite::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256
            | CipherSuite::TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256 => Aead::AES_128_GCM,
            CipherSuite::TLS13_AES_256_GCM_SHA384
            | CipherSuite::TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384
            | CipherSuite::TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384 => Aead::AES_256_GCM,
            CipherSuite::TLS13_AES_128_CCM_SHA256
            | CipherSuite::TLS_ECDHE_ECDSA_WITH_AES_128_CCM => Aead::AES_128_CCM,
            CipherSuite::TLS13_AES_128_CCM_8_SHA256
            | CipherSuite::TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8 => Aead::AES_128_CCM_8,
            CipherSuite::TLS_ECDHE_ECDSA_WITH_AES_256_CCM => Aead::AES_256_CCM,
            CipherSuite::TLS_ECDHE_ECDSA_WITH_AES_256_CCM_8 => Aead::AES_256_CCM_8,
            _ => return None,
        })
    }

    /// Records that may be sealed under one key. The bounds of draft-irtf-cfrg-aead-limits
    /// for an advantage of 2^-60 and records of 2^10 blocks: 2^24 for GCM, as rustls has it,
    /// and half of that for CCM, which calls AES twice for a block.
    const fn confidentiality_limit(self) -> u64 {
        match self.mode {
            Mode::Gcm => 1 << 24,
            _ => 1 << 23,
        }
    }

    /// Keys of GCM by their names. Those of CCM by the name of GCM's of the same size, where
    /// they may be taken out at all.
    fn secrets(
        self,
        key: rustls::crypto::cipher::AeadKey,
        iv: rustls::crypto::cipher::Iv,
    ) -> Result<ConnectionTrafficSecrets, UnsupportedOperationError> {
        match (self.extracts, self.key_bytes) {
            (true, 16) => Ok(ConnectionTrafficSecrets::Aes128Gcm { key, iv }),
            (true, 32) => Ok(ConnectionTrafficSecrets::Aes256Gcm { key, iv }),
            _ => Err(UnsupportedOperationError),
        }
    }
}

// AWS-LC's suites, of which ours take hashes, key derivation and signature schemes.
static SHA256_TLS13: &Tls13CipherSuite = tls13_suite(aws_lc::TLS13_AES_128_GCM_SHA256);
static SHA384_TLS13: &Tls13CipherSuite = tls13_suite(aws_lc::TLS13_AES_256_GCM_SHA384);
static SHA256_TLS12: &Tls12CipherSuite =
    tls12_suite(aws_lc::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256);
static SHA384_TLS12: &Tls12CipherSuite =
    tls12_suite(aws_lc::TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384);

const fn tls13_suite(suite: SupportedCipherSuite) -> &'static Tls13CipherSuite {
    match suite {
        SupportedCipherSuite::Tls13(suite) => suite,
        SupportedCipherSuite::Tls12(_) => panic!("a suite of TLS 1.3"),
    }
}

const fn tls12_suite(suite: SupportedCipherSuite) -> &'static Tls12CipherSuite {
    match suite {
        SupportedCipherSuite::Tls12(suite) => suite,
        SupportedCipherSuite::Tls13(_) => panic!("a suite of TLS 1.2"),
    }
}

macro_rules! tls13 {
    ($($name:ident: $aead:expr, like $like:ident, $doc:literal;)*) => {$(
        #[doc = $doc]
        pub static $name: SupportedCipherSuite = SupportedCipherSuite::Tls13(&Tls13CipherSuite {
            common: CipherSuiteCommon {
                suite: CipherSuite::$name,
                hash_provider: $crate::$like.common.hash_provider,
                confidentiality_limit: $aead.confidentiality_limit(),
            },
            hkdf_provider: $crate::$like.hkdf_provider,
            aead_alg: &$crate::tls13::Records($aead),
            quic: None,
        });
    )*};
}

macro_rules! tls12 {
    ($($name:ident: $aead:expr, like $like:ident, $doc:literal;)*) => {$(
        #[doc = $doc]
        pub static $name: SupportedCipherSuite = SupportedCipherSuite::Tls12(&Tls12CipherSuite {
            common: CipherSuiteCommon {
                suite: CipherSuite::$name,
                hash_provider: $crate::$like.common.hash_provider,
                confidentiality_limit: $aead.confidentiality_limit(),
            },
            prf_provider: $crate::$like.prf_provider,
            kx: $crate::$like.kx,
            sign: $crate::$like.sign,
            aead_alg: &$crate::tls12::Records($aead),
        });
    )*};
}

tls13! {
    TLS13_AES_256_GCM_SHA384: Aead::AES_256_GCM, like SHA384_TLS13,
        "`TLS_AES_256_GCM_SHA384` of TLS 1.3 (RFC 8446).";
    TLS13_AES_128_GCM_SHA256: Aead::AES_128_GCM, like SHA256_TLS13,
        "`TLS_AES_128_GCM_SHA256` of TLS 1.3 (RFC 8446).";
    TLS13_AES_128_CCM_SHA256: Aead::AES_128_CCM, like SHA256_TLS13,
        "`TLS_AES_128_CCM_SHA256` of TLS 1.3 (RFC 8446).";
    TLS13_AES_128_CCM_8_SHA256: Aead::AES_128_CCM_8, like SHA256_TLS13,
        "`TLS_AES_128_CCM_8_SHA256` of TLS 1.3 (RFC 8446): tags of 8 bytes.";
}

tls12! {
    TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384: Aead::AES_256_GCM, like SHA384_TLS12,
        "`TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384` of TLS 1.2 (RFC 5289).";
    TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256: Aead::AES_128_GCM, like SHA256_TLS12,
        "`TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256` of TLS 1.2 (RFC 5289).";
    TLS_ECDHE_ECDSA_WITH_AES_256_CCM: Aead::AES_256_CCM, like SHA256_TLS12,
        "`TLS_ECDHE_ECDSA_WITH_AES_256_CCM` of TLS 1.2 (RFC 7251).";
    TLS_ECDHE_ECDSA_WITH_AES_128_CCM: Aead::AES_128_CCM, like SHA256_TLS12,
        "`TLS_ECDHE_ECDSA_WITH_AES_128_CCM` of TLS 1.2 (RFC 7251).";
    TLS_ECDHE_ECDSA_WITH_AES_256_CCM_8: Aead::AES_256_CCM_8, like SHA256_TLS12,
        "`TLS_ECDHE_ECDSA_WITH_AES_256_CCM_8` of TLS 1.2 (RFC 7251): tags of 8 bytes.";
    TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8: Aead::AES_128_CCM_8, like SHA256_TLS12,
        "`TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8` of TLS 1.2 (RFC 7251): tags of 8 bytes.";
}

/// All suites of this crate.
pub static ALL_CIPHER_SUITES: &[SupportedCipherSuite] = &[
    TLS13_AES_256_GCM_SHA384,
    TLS13_AES_128_GCM_SHA256,
    TLS13_AES_128_CCM_SHA256,
    TLS13_AES_128_CCM_8_SHA256,
    TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384,
    TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256,
    TLS_ECDHE_ECDSA_WITH_AES_256_CCM,
    TLS_ECDHE_ECDSA_WITH_AES_128_CCM,
    TLS_ECDHE_ECDSA_WITH_AES_256_CCM_8,
    TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8,
];

/// What [`provider`] has: the suites with whole tags, and AWS-LC's where this crate has none.
pub static DEFAULT_CIPHER_SUITES: &[SupportedCipherSuite] = &[
    TLS13_AES_256_GCM_SHA384,
    TLS13_AES_128_GCM_SHA256,
    aws_lc::TLS13_CHACHA20_POLY1305_SHA256,
    TLS13_AES_128_CCM_SHA256,
    TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384,
    TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256,
    aws_lc::TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256,
    aws_lc::TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
    aws_lc::TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
    aws_lc::TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
    TLS_ECDHE_ECDSA_WITH_AES_256_CCM,
    TLS_ECDHE_ECDSA_WITH_AES_128_CCM,
];

/// The registered name of a suite of [`ALL_CIPHER_SUITES`]: rustls' `Debug` has none for CCM in
/// TLS 1.2.
///
/// ```
/// let suite = aescomb_rustls::TLS_ECDHE_ECDSA_WITH_AES_128_CCM.suite();
/// assert_eq!(aescomb_rustls::name(suite), Some("TLS_ECDHE_ECDSA_WITH_AES_128_CCM"));
/// ```
pub fn name(suite: CipherSuite) -> Option<&'static str> {
    Some(match suite {
        CipherSuite::TLS13_AES_256_GCM_SHA384 => "TLS_AES_256_GCM_SHA384",
        CipherSuite::TLS13_AES_128_GCM_SHA256 => "TLS_AES_128_GCM_SHA256",
        CipherSuite::TLS13_AES_128_CCM_SHA256 => "TLS_AES_128_CCM_SHA256",
        CipherSuite::TLS13_AES_128_CCM_8_SHA256 => "TLS_AES_128_CCM_8_SHA256",
        CipherSuite::TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384 => {
            "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384"
        }
        CipherSuite::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256 => {
            "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256"
        }
        CipherSuite::TLS_ECDHE_ECDSA_WITH_AES_256_CCM => "TLS_ECDHE_ECDSA_WITH_AES_256_CCM",
        CipherSuite::TLS_ECDHE_ECDSA_WITH_AES_128_CCM => "TLS_ECDHE_ECDSA_WITH_AES_128_CCM",
        CipherSuite::TLS_ECDHE_ECDSA_WITH_AES_256_CCM_8 => "TLS_ECDHE_ECDSA_WITH_AES_256_CCM_8",
        CipherSuite::TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8 => "TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8",
        _ => return None,
    })
}

/// AWS-LC's provider with the AES suites of this crate: [`DEFAULT_CIPHER_SUITES`], CCM last.
///
/// ```
/// use std::sync::Arc;
///
/// let provider = Arc::new(aescomb_rustls::provider());
/// let config = rustls::ClientConfig::builder_with_provider(provider)
///     .with_safe_default_protocol_versions()?
///     .with_root_certificates(rustls::RootCertStore::empty())
///     .with_no_client_auth();
/// # Ok::<(), rustls::Error>(())
/// ```
pub fn provider() -> CryptoProvider {
    CryptoProvider {
        cipher_suites: DEFAULT_CIPHER_SUITES.to_vec(),
        ..rustls::crypto::aws_lc_rs::default_provider()
    }
}

/// The same suites for those who take the keys of CCM out of a connection
/// (`dangerous_into_kernel_connection`) to do records by themselves.
///
/// rustls' [`ConnectionTrafficSecrets`] has no name for CCM. These suites give keys of CCM the
/// name of GCM of the same size. **Do not hand them to what believes the name**, such as the
/// kernel's TLS: use them with [`record::RecordKey::extracted`], which goes by the suite.
pub mod kernel {
    use super::*;

    tls13! {
        TLS13_AES_128_CCM_SHA256: Aead::AES_128_CCM.extracting(), like SHA256_TLS13,
            "[`super::TLS13_AES_128_CCM_SHA256`] with keys that may be taken out.";
        TLS13_AES_128_CCM_8_SHA256: Aead::AES_128_CCM_8.extracting(), like SHA256_TLS13,
            "[`super::TLS13_AES_128_CCM_8_SHA256`] with keys that may be taken out.";
    }

    tls12! {
        TLS_ECDHE_ECDSA_WITH_AES_256_CCM: Aead::AES_256_CCM.extracting(), like SHA256_TLS12,
            "[`super::TLS_ECDHE_ECDSA_WITH_AES_256_CCM`] with keys that may be taken out.";
        TLS_ECDHE_ECDSA_WITH_AES_128_CCM: Aead::AES_128_CCM.extracting(), like SHA256_TLS12,
            "[`super::TLS_ECDHE_ECDSA_WITH_AES_128_CCM`] with keys that may be taken out.";
        TLS_ECDHE_ECDSA_WITH_AES_256_CCM_8: Aead::AES_256_CCM_8.extracting(), like SHA256_TLS12,
            "[`super::TLS_ECDHE_ECDSA_WITH_AES_256_CCM_8`] with keys that may be taken out.";
        TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8: Aead::AES_128_CCM_8.extracting(), like SHA256_TLS12,
            "[`super::TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8`] with keys that may be taken out.";
    }

    /// All AES suites of the crate, with keys that may be taken out.
    pub static ALL_CIPHER_SUITES: &[SupportedCipherSuite] = &[
        super::TLS13_AES_256_GCM_SHA384,
        super::TLS13_AES_128_GCM_SHA256,
        TLS13_AES_128_CCM_SHA256,
        TLS13_AES_128_CCM_8_SHA256,
        super::TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384,
        super::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256,
        TLS_ECDHE_ECDSA_WITH_AES_256_CCM,
        TLS_ECDHE_ECDSA_WITH_AES_128_CCM,
        TLS_ECDHE_ECDSA_WITH_AES_256_CCM_8,
        TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8,
    ];
}

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
