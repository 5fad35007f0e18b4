//! Records of batches, opened and made by rustls.

mod common;

use aescomb::{AnyKey, Comb, OpenError};
use aescomb_rustls::kernel::ALL_CIPHER_SUITES;
use aescomb_rustls::record::{Frame, KeyError, MAX_DATA, RecordKey};
use common::{Identity, connected, ours};
use rustls::crypto::cipher::AeadKey;
use rustls::{
    AlertDescription, ConnectionTrafficSecrets, ContentType, ServerConnection, SupportedCipherSuite,
};
use std::io::Read;

/// A connection whose client's keys were taken out.
struct Taken {
    server: ServerConnection,
    tx: (u64, RecordKey),
    rx: (u64, RecordKey),
}

fn taken(suite: SupportedCipherSuite) -> Taken {
    let identity = Identity::new();
    let (client, server) = connected(identity.client(ours(suite)), identity.server(ours(suite)));
    let secrets = client.dangerous_extract_secrets().expect("keys");
    let key = |secrets| RecordKey::extracted(suite, secrets).expect("a key");
    Taken {
        server,
        tx: (secrets.tx.0, key(secrets.tx.1)),
        rx: (secrets.rx.0, key(secrets.rx.1)),
    }
}

const LENGTHS: [usize; 8] = [0, 1, 15, 16, 17, 1000, MAX_DATA - 1, MAX_DATA];

/// Records of several connections and of several lengths in one call, each under its
/// connection's key: rustls opens them. By themselves they are the same.
#[test]
fn rustls_opens_what_a_batch_seals() {
    for suite in ALL_CIPHER_SUITES {
        let mut connections: Vec<_> = (0..3).map(|_| taken(*suite)).collect();
        let mut records: Vec<Vec<u8>> = Vec::new();
        let mut frames: Vec<(usize, Frame)> = Vec::new();
        for (i, len) in LENGTHS.into_iter().enumerate() {
            for (j, connection) in connections.iter().enumerate() {
                let (first, key) = &connection.tx;
                let mut record = vec![0; key.record_len(len)];
                record[key.prefix()..][..len].fill(j as u8);
                let content = ContentType::ApplicationData;
                frames.push((j, key.frame(first + i as u64, content, &mut record)));
                records.push(record);
            }
        }
        let mut alone = records.clone();
        for ((j, frame), record) in frames.iter().zip(&mut alone) {
            frame
                .seal(connections[*j].tx.1.key(), record)
                .expect("a good record");
        }
        let keys: Vec<&AnyKey> = connections.iter().map(|c| c.tx.1.key()).collect();
        let mut batch: Vec<_> = frames
            .iter()
            .zip(&mut records)
            .map(|((j, frame), record)| frame.to_seal(record).key_index(*j as u32))
            .collect();
        Comb::new().seal(&keys, &mut batch).expect("good records");
        drop(batch);
        assert!(records == alone, "{suite:?}");

        let mut got = [0; 3];
        for ((j, _), record) in frames.iter().zip(&records) {
            let server = &mut connections[*j].server;
            let mut record = &record[..];
            while !record.is_empty() {
                server.read_tls(&mut record).expect("memory");
                server
                    .process_new_packets()
                    .unwrap_or_else(|e| panic!("{suite:?}: {e}"));
            }
            let mut room = vec![0xff; MAX_DATA];
            while let Ok(len @ 1..) = server.reader().read(&mut room) {
                assert!(room[..len].iter().all(|byte| *byte == *j as u8));
                got[*j] += len;
            }
        }
        assert_eq!(got, [LENGTHS.iter().sum::<usize>(); 3]);
    }
}

/// The records that rustls makes, opened in a batch, with a forged one among them.
#[test]
fn a_batch_opens_what_rustls_seals() {
    use std::io::Write;
    for suite in ALL_CIPHER_SUITES {
        let mut connections: Vec<_> = (0..4).map(|_| taken(*suite)).collect();
        let mut records = Vec::new();
        for (j, connection) in connections.iter_mut().enumerate() {
            connection
                .server
                .writer()
                .write_all(&vec![j as u8; 1000 + j])
                .expect("room");
            let mut record = Vec::new();
            connection.server.write_tls(&mut record).expect("memory");
            records.push(record);
        }
        let at = records[2].len() - 1;
        records[2][at] ^= 0x80;
        let frames: Vec<Frame> = connections
            .iter()
            .zip(&records)
            .map(|(c, record)| c.rx.1.inbound(c.rx.0, record).expect("a good header"))
            .collect();
        let mut alone = records.clone();
        for (j, (frame, record)) in frames.iter().zip(&mut alone).enumerate() {
            let opened = frame.open(connections[j].rx.1.key(), record);
            assert_eq!(opened.is_ok(), j != 2, "{suite:?}");
        }
        let keys: Vec<&AnyKey> = connections.iter().map(|c| c.rx.1.key()).collect();
        let mut batch: Vec<_> = frames
            .iter()
            .zip(&mut records)
            .enumerate()
            .map(|(j, (frame, record))| frame.to_open(record).key_index(j as u32))
            .collect();
        match Comb::new().open(&keys, &mut batch) {
            Err(OpenError::Failed(failed)) => assert_eq!(failed.messages().len(), 1, "{suite:?}"),
            result => panic!("{suite:?}: {result:?}"),
        }
        drop(batch);
        for (j, (frame, record)) in frames.iter().zip(&records).enumerate() {
            let (content, range) = match frame.contents(record) {
                // Wiped: in TLS 1.3 its type, too.
                result if j == 2 && connections[j].rx.1.is_tls13() => {
                    assert_eq!(result, Err(AlertDescription::UnexpectedMessage));
                    continue;
                }
                result => result.expect("good contents"),
            };
            assert_eq!(content, ContentType::ApplicationData);
            let expected = if j == 2 { 0 } else { j as u8 };
            assert_eq!(record[range], vec![expected; 1000 + j], "{suite:?}");
        }
    }
}

/// What rustls' peer may not send is refused before it is opened.
#[test]
fn records_that_are_none() {
    for suite in ALL_CIPHER_SUITES {
        let Taken { rx: (_, key), .. } = taken(*suite);
        let record = |typ: u8, len: usize| {
            let mut record = vec![typ, 3, 3, (len >> 8) as u8, len as u8];
            record.resize(5 + len, 1);
            record
        };
        let most = if key.is_tls13() { 256 } else { 2048 };
        let inbound = |typ, len| key.inbound(0, &record(typ, len)).err();
        let least = key.prefix() + key.tag_bytes() - 5;
        assert_eq!(inbound(23, least), None);
        assert_eq!(inbound(23, least - 1), Some(AlertDescription::BadRecordMac));
        assert_eq!(inbound(23, 0), Some(AlertDescription::BadRecordMac));
        assert_eq!(inbound(23, MAX_DATA + most), None);
        assert_eq!(
            inbound(23, MAX_DATA + most + 1),
            Some(AlertDescription::RecordOverflow)
        );
        for typ in [0, 20, 24, 255] {
            assert_eq!(inbound(typ, 100), Some(AlertDescription::UnexpectedMessage));
        }
        for typ in [21, 22] {
            let refused = key
                .is_tls13()
                .then_some(AlertDescription::UnexpectedMessage);
            assert_eq!(inbound(typ, 100), refused);
        }
        // Contents: too much, or nothing at all.
        let frame = |len| key.inbound(0, &record(23, len)).expect("a good header");
        let long = key.record_len(MAX_DATA + 1) - 5;
        assert_eq!(
            frame(long).contents(&record(23, long)),
            Err(AlertDescription::RecordOverflow)
        );
        if key.is_tls13() {
            let mut zeros = record(23, 100);
            zeros[5..].fill(0);
            assert_eq!(
                frame(100).contents(&zeros),
                Err(AlertDescription::UnexpectedMessage)
            );
            zeros[5 + 10] = 21;
            let contents = (ContentType::Alert, 5..15);
            assert_eq!(frame(100).contents(&zeros), Ok(contents));
        }
    }
}

#[test]
fn secrets_of_another_suite() {
    let suite = aescomb_rustls::TLS13_AES_256_GCM_SHA384;
    let short = ConnectionTrafficSecrets::Aes128Gcm {
        key: AeadKey::from([1; 32]),
        iv: [2; 12].into(),
    };
    let error = RecordKey::extracted(suite, short).unwrap_err();
    assert_eq!(error, KeyError::Secrets(suite.suite()));
    let chacha = rustls::crypto::aws_lc_rs::cipher_suite::TLS13_CHACHA20_POLY1305_SHA256;
    let secrets = ConnectionTrafficSecrets::Chacha20Poly1305 {
        key: AeadKey::from([1; 32]),
        iv: [2; 12].into(),
    };
    let error = RecordKey::extracted(chacha, secrets).unwrap_err();
    assert_eq!(error, KeyError::Suite(chacha.suite()));
    assert_eq!(
        error.to_string(),
        "suite TLS13_CHACHA20_POLY1305_SHA256; allowed: those of AES-GCM and AES-CCM with ECDHE"
    );
}

#[test]
fn nothing_secret_is_shown() {
    let Taken { tx: (_, key), .. } = taken(ALL_CIPHER_SUITES[2]);
    let shown = format!("{key:?}");
    assert!(
        shown.contains("Key(aes-128-ccm)") && shown.contains("iv: .."),
        "{shown}"
    );
}
