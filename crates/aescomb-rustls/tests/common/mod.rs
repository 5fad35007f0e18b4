//! Certificates, configurations and connections for tests.
#![allow(dead_code)] // each test program uses some of it

use rustls::crypto::CryptoProvider;
use rustls::pki_types::{PrivateKeyDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, ServerConfig, ServerConnection};
use rustls::{SupportedCipherSuite, SupportedProtocolVersion};
use std::sync::Arc;

/// A certificate for `localhost` with an ECDSA key that nobody has signed.
pub struct Identity {
    pub certificate: rcgen::Certificate,
    pub key: rcgen::KeyPair,
}

impl Identity {
    pub fn new() -> Identity {
        let rcgen::CertifiedKey { cert, signing_key } =
            rcgen::generate_simple_self_signed(["localhost".to_owned()]).expect("a certificate");
        Identity {
            certificate: cert,
            key: signing_key,
        }
    }

    /// A server's configuration; with keys that may be taken out.
    pub fn server(&self, provider: CryptoProvider) -> Arc<ServerConfig> {
        let key = PrivateKeyDer::try_from(self.key.serialize_der()).expect("a key");
        let mut config = ServerConfig::builder_with_provider(Arc::new(provider))
            .with_safe_default_protocol_versions()
            .expect("versions that have suites")
            .with_no_client_auth()
            .with_single_cert(vec![self.certificate.der().clone()], key)
            .expect("a certificate with its key");
        config.enable_secret_extraction = true;
        Arc::new(config)
    }

    /// A client's configuration; with keys that may be taken out.
    pub fn client(&self, provider: CryptoProvider) -> Arc<ClientConfig> {
        let mut roots = RootCertStore::empty();
        roots
            .add(self.certificate.der().clone())
            .expect("a certificate");
        let mut config = ClientConfig::builder_with_provider(Arc::new(provider))
            .with_safe_default_protocol_versions()
            .expect("versions that have suites")
            .with_root_certificates(roots)
            .with_no_client_auth();
        config.enable_secret_extraction = true;
        Arc::new(config)
    }
}

/// This crate's provider with one suite.
pub fn ours(suite: SupportedCipherSuite) -> CryptoProvider {
    only(aescomb_rustls::provider(), suite)
}

/// A provider with one suite.
pub fn only(provider: CryptoProvider, suite: SupportedCipherSuite) -> CryptoProvider {
    CryptoProvider {
        cipher_suites: vec![suite],
        ..provider
    }
}

pub fn version(suite: SupportedCipherSuite) -> &'static SupportedProtocolVersion {
    suite.version()
}

pub fn name() -> ServerName<'static> {
    ServerName::try_from("localhost").expect("a name")
}

/// Two connections that have shaken hands in memory.
pub fn connected(
    client: Arc<ClientConfig>,
    server: Arc<ServerConfig>,
) -> (ClientConnection, ServerConnection) {
    let mut client = ClientConnection::new(client, name()).expect("a client");
    let mut server = ServerConnection::new(server).expect("a server");
    while client.is_handshaking() || server.is_handshaking() {
        to_server(&mut client, &mut server).expect("a handshake");
        to_client(&mut server, &mut client).expect("a handshake");
    }
    to_client(&mut server, &mut client).expect("tickets");
    (client, server)
}

pub fn to_server(
    client: &mut ClientConnection,
    server: &mut ServerConnection,
) -> Result<(), rustls::Error> {
    while client.wants_write() {
        let mut bytes = Vec::new();
        client.write_tls(&mut bytes).expect("memory");
        let mut bytes = &bytes[..];
        while !bytes.is_empty() {
            server.read_tls(&mut bytes).expect("memory");
            server.process_new_packets()?;
        }
    }
    Ok(())
}

pub fn to_client(
    server: &mut ServerConnection,
    client: &mut ClientConnection,
) -> Result<(), rustls::Error> {
    while server.wants_write() {
        let mut bytes = Vec::new();
        server.write_tls(&mut bytes).expect("memory");
        let mut bytes = &bytes[..];
        while !bytes.is_empty() {
            client.read_tls(&mut bytes).expect("memory");
            client.process_new_packets()?;
        }
    }
    Ok(())
}
