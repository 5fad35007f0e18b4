//! What rustls is told: certificate, suites, versions.

use crate::Layer;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, SupportedCipherSuite};
use std::path::Path;
use std::sync::Arc;

/// A suite's name in the registry of IANA.
pub fn suite_name(suite: &SupportedCipherSuite) -> String {
    match aescomb_rustls::name(suite.suite()) {
        Some(name) => name.to_owned(),
        None => format!("{:?}", suite.suite()).replace("TLS13_", "TLS_"),
    }
}

fn provider(layer: Layer) -> CryptoProvider {
    let aws_lc = rustls::crypto::aws_lc_rs::default_provider();
    let suites = match layer {
        Layer::Batch | Layer::Single => aescomb_rustls::kernel::ALL_CIPHER_SUITES,
        Layer::Rustls => aescomb_rustls::ALL_CIPHER_SUITES,
        Layer::AwsLc => return aws_lc,
        Layer::RustlsCcm => return rustls_ccm::crypto_provider(),
    };
    CryptoProvider {
        cipher_suites: suites.to_vec(),
        ..aws_lc
    }
}

/// Whether tags have 8 bytes: such suites are for clients that ask for no others, and offered
/// only by name.
fn has_short_tags(suite: &SupportedCipherSuite) -> bool {
    suite_name(suite).contains("_CCM_8")
}

/// A configuration with these suites, in this order; where none is named, with those of the
/// layer whose tags have 16 bytes.
pub fn config(
    layer: Layer,
    suites: &[String],
    certificate: &Path,
    key: &Path,
) -> Result<Arc<ServerConfig>, String> {
    let mut provider = provider(layer);
    if suites.is_empty() {
        provider
            .cipher_suites
            .retain(|suite| !has_short_tags(suite));
    } else {
        let find = |name: &String| {
            let mut all = provider.cipher_suites.iter();
            all.find(|suite| suite_name(suite) == *name)
                .copied()
                .ok_or_else(|| {
                    let names: Vec<_> = provider.cipher_suites.iter().map(suite_name).collect();
                    format!("suite \"{name}\"; allowed: {}", names.join(", "))
                })
        };
        provider.cipher_suites = suites.iter().map(find).collect::<Result<_, _>>()?;
    }
    let chain: Vec<_> = CertificateDer::pem_file_iter(certificate)
        .and_then(Iterator::collect)
        .map_err(|e| format!("{}: {e}", certificate.display()))?;
    let private =
        PrivateKeyDer::from_pem_file(key).map_err(|e| format!("{}: {e}", key.display()))?;
    let mut config = ServerConfig::builder_with_provider(Arc::new(provider))
        .with_safe_default_protocol_versions()
        .map_err(|e| e.to_string())?
        .with_no_client_auth()
        .with_single_cert(chain, private)
        .map_err(|e| format!("{} with {}: {e}", certificate.display(), key.display()))?;
    config.enable_secret_extraction = matches!(layer, Layer::Batch | Layer::Single);
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    config.ticketer = rustls::crypto::aws_lc_rs::Ticketer::new().map_err(|e| e.to_string())?;
    Ok(Arc::new(config))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suites_with_short_tags() {
        let all = aescomb_rustls::ALL_CIPHER_SUITES;
        let short = all.iter().filter(|suite| has_short_tags(suite));
        let names: Vec<_> = short.map(suite_name).collect();
        assert_eq!(
            names,
            [
                "TLS_AES_128_CCM_8_SHA256",
                "TLS_ECDHE_ECDSA_WITH_AES_256_CCM_8",
                "TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8",
            ]
        );
    }
}
