//! The provider within rustls, and against rustls' own and RustCrypto's suites.

mod common;

use aescomb_rustls::ALL_CIPHER_SUITES;
use common::{Identity, connected, only, ours, to_client, to_server};
use rustls::crypto::CryptoProvider;
use rustls::crypto::cipher::UnsupportedOperationError;
use rustls::{CipherSuite, Error, SupportedCipherSuite};
use std::io::{Read, Write};

/// Whoever else has this suite: AWS-LC for GCM, `rustls-ccm` for CCM.
fn other(suite: CipherSuite) -> (CryptoProvider, SupportedCipherSuite) {
    let providers = [
        rustls::crypto::aws_lc_rs::default_provider(),
        rustls_ccm::crypto_provider(),
    ];
    providers
        .into_iter()
        .find_map(|provider| {
            let found = provider
                .cipher_suites
                .iter()
                .find(|one| one.suite() == suite)
                .copied();
            found.map(|found| (provider, found))
        })
        .unwrap_or_else(|| panic!("nobody else has {suite:?}"))
}

/// Lengths around blocks and around the most that a record has.
const LENGTHS: [usize; 12] = [
    1, 15, 16, 17, 31, 255, 1024, 16383, 16384, 16385, 40000, 100_003,
];

fn text(len: usize) -> Vec<u8> {
    (0..len).map(|i| (i * 7 + (i >> 8)) as u8).collect()
}

/// Data both ways, with new keys between where the version has that.
fn exchange(client: CryptoProvider, server: CryptoProvider, suite: SupportedCipherSuite) {
    let identity = Identity::new();
    let (mut client, mut server) = connected(identity.client(client), identity.server(server));
    assert_eq!(
        client.negotiated_cipher_suite().map(|s| s.suite()),
        Some(suite.suite())
    );
    for turn in 0..3 {
        for len in LENGTHS {
            let text = text(len);
            let mut got = vec![0; len];
            let mut read = 0;
            for part in text.chunks(30_000) {
                client.writer().write_all(part).expect("room");
                to_server(&mut client, &mut server).expect("good records");
                read += server.reader().read(&mut got[read..]).expect("data");
                while read < got.len()
                    && let Ok(n) = server.reader().read(&mut got[read..])
                {
                    read += n;
                }
            }
            assert!(got == text, "{suite:?}, {len} bytes to the server");
            got.fill(0);
            let mut read = 0;
            for part in text.chunks(30_000) {
                server.writer().write_all(part).expect("room");
                to_client(&mut server, &mut client).expect("good records");
                while read < got.len()
                    && let Ok(n) = client.reader().read(&mut got[read..])
                {
                    read += n;
                }
            }
            assert!(got == text, "{suite:?}, {len} bytes to the client");
        }
        if suite.tls13().is_some() {
            match turn {
                0 => client.refresh_traffic_keys().expect("new keys"),
                _ => server.refresh_traffic_keys().expect("new keys"),
            }
        }
    }
}

#[test]
fn every_suite_with_itself() {
    for suite in ALL_CIPHER_SUITES {
        exchange(ours(*suite), ours(*suite), *suite);
    }
}

#[test]
fn every_suite_with_another_implementation() {
    for suite in ALL_CIPHER_SUITES {
        let (provider, theirs) = other(suite.suite());
        exchange(ours(*suite), only(provider.clone(), theirs), *suite);
        exchange(only(provider, theirs), ours(*suite), *suite);
    }
}

/// Every byte of a record matters, and a damaged one ends the connection.
#[test]
fn damaged_records_are_refused() {
    for suite in ALL_CIPHER_SUITES {
        let identity = Identity::new();
        let (client, server) = (identity.client(ours(*suite)), identity.server(ours(*suite)));
        let len = {
            let (mut client, _) = connected(client.clone(), server.clone());
            client.writer().write_all(b"hello").expect("room");
            let mut record = Vec::new();
            client.write_tls(&mut record).expect("memory")
        };
        // All but the header, which has tests in rustls.
        for at in 5..len {
            let (mut client, mut server) = connected(client.clone(), server.clone());
            client.writer().write_all(b"hello").expect("room");
            let mut record = Vec::new();
            client.write_tls(&mut record).expect("memory");
            record[at] ^= 1;
            server.read_tls(&mut &record[..]).expect("memory");
            assert_eq!(
                server.process_new_packets().unwrap_err(),
                Error::DecryptError,
                "{suite:?}, byte {at}"
            );
            // It says so.
            let alert = to_client(&mut server, &mut client).unwrap_err();
            assert_eq!(
                alert,
                Error::AlertReceived(rustls::AlertDescription::BadRecordMac),
                "{suite:?}"
            );
        }
    }
}

/// Records too short for a tag.
#[test]
fn short_records_are_refused() {
    for suite in ALL_CIPHER_SUITES {
        let identity = Identity::new();
        let (client, server) = (identity.client(ours(*suite)), identity.server(ours(*suite)));
        for len in [0, 1, 7, 8, 15, 16, 17, 23, 24] {
            let (_, mut server) = connected(client.clone(), server.clone());
            let mut record = vec![23, 3, 3, 0, len as u8];
            record.resize(5 + len, 0);
            server.read_tls(&mut &record[..]).expect("memory");
            assert!(
                server.process_new_packets().is_err(),
                "{suite:?}, {len} bytes"
            );
        }
    }
}

fn has(suite: SupportedCipherSuite, part: &str) -> bool {
    let name = aescomb_rustls::name(suite.suite());
    name.expect("a suite of the crate").contains(part)
}

/// rustls cannot name CCM, and the suites of `kernel` say GCM instead: the others must not.
#[test]
fn keys_of_ccm_stay_inside() {
    for suite in ALL_CIPHER_SUITES {
        let identity = Identity::new();
        let (client, _) = connected(identity.client(ours(*suite)), identity.server(ours(*suite)));
        let secrets = client.dangerous_extract_secrets();
        let ccm = has(*suite, "CCM");
        assert_eq!(secrets.is_err(), ccm, "{suite:?}");
        if let Err(error) = secrets {
            assert_eq!(error, UnsupportedOperationError.into());
        }
    }
}

#[test]
fn what_the_provider_has() {
    let provider = aescomb_rustls::provider();
    assert!(!provider.fips());
    let names: Vec<_> = provider.cipher_suites.iter().map(|s| s.suite()).collect();
    assert!(names.contains(&CipherSuite::TLS13_AES_128_CCM_SHA256));
    // Whatever AWS-LC's provider has.
    for suite in rustls::crypto::aws_lc_rs::DEFAULT_CIPHER_SUITES {
        assert!(names.contains(&suite.suite()), "{suite:?}");
    }
    for (suite, kernel) in ALL_CIPHER_SUITES
        .iter()
        .zip(aescomb_rustls::kernel::ALL_CIPHER_SUITES)
    {
        assert_eq!(suite.suite(), kernel.suite());
        let eight = has(*suite, "CCM_8");
        assert_eq!(names.contains(&suite.suite()), !eight, "{suite:?}");
    }
}
