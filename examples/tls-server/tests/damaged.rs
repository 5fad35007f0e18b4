//! Clients that send what no client should: each gets the alert that is due, and its end;
//! others do not notice.

mod common;

use aescomb_rustls::record::{Frame, HEADER, MAX_DATA, RecordKey};
use common::{Client, Server, only};
use rustls::pki_types::ServerName;
use rustls::{AlertDescription, ClientConnection, ContentType, SupportedCipherSuite};
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use AlertDescription::{
    BadRecordMac, DecodeError, IllegalParameter, NoRenegotiation, RecordOverflow, UnexpectedMessage,
};
use ContentType::{Alert, ApplicationData, Handshake};

const KEY_UPDATE: [u8; 5] = [24, 0, 0, 1, 0];
const REQUEST: &[u8] = b"GET /bytes/10 HTTP/1.1\r\nHost: localhost\r\n\r\n";

/// A client whose keys were taken out after the handshake, so that it can send anything.
struct Raw {
    socket: TcpStream,
    key: RecordKey,
    seq: u64,
    theirs: RecordKey,
    their_seq: u64,
    received: Vec<u8>,
}

impl Raw {
    fn connect(server: &Server, suite: SupportedCipherSuite) -> Raw {
        let name = ServerName::try_from("localhost").expect("a name");
        let config = server.client(only(suite));
        let mut client = ClientConnection::new(config, name).expect("a client");
        let mut socket = server.socket();
        while client.is_handshaking() || client.wants_write() {
            client.complete_io(&mut socket).expect("a handshake");
        }
        Raw::taken(socket, client, suite)
    }

    /// A client of TLS 1.3 that has still to send the rest of its handshake, and that rest.
    fn before_finished(server: &Server, suite: SupportedCipherSuite) -> (Raw, Vec<u8>) {
        let name = ServerName::try_from("localhost").expect("a name");
        let config = server.client(only(suite));
        let mut client = ClientConnection::new(config, name).expect("a client");
        let mut socket = server.socket();
        client.write_tls(&mut socket).expect("sent");
        while client.is_handshaking() {
            client.read_tls(&mut socket).expect("received");
            client.process_new_packets().expect("a handshake");
        }
        let mut rest = Vec::new();
        while client.wants_write() {
            client.write_tls(&mut rest).expect("memory");
        }
        (Raw::taken(socket, client, suite), rest)
    }

    fn taken(socket: TcpStream, client: ClientConnection, suite: SupportedCipherSuite) -> Raw {
        // Tickets that have come already were counted; others are skipped.
        let secrets = client.dangerous_extract_secrets().expect("keys");
        let key = |secrets| RecordKey::extracted(suite, secrets).expect("a key");
        Raw {
            socket,
            key: key(secrets.tx.1),
            seq: secrets.tx.0,
            theirs: key(secrets.rx.1),
            their_seq: secrets.rx.0,
            received: Vec::new(),
        }
    }

    /// A record with this number under this key; not longer than records may be.
    fn record_by(key: &RecordKey, seq: u64, content: ContentType, data: &[u8]) -> Vec<u8> {
        let mut record = vec![0; key.record_len(data.len())];
        record[key.prefix()..][..data.len()].copy_from_slice(data);
        let frame = key.frame(seq, content, &mut record);
        frame.seal(key.key(), &mut record).expect("a good record");
        record
    }

    fn record(&mut self, content: ContentType, data: &[u8]) -> Vec<u8> {
        let record = Raw::record_by(&self.key, self.seq, content, data);
        self.seq += 1;
        record
    }

    /// A good record, damaged.
    fn damaged(&mut self, damage: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
        let mut record = self.record(ApplicationData, REQUEST);
        damage(&mut record);
        record
    }

    /// A record of TLS 1.3 whose text is this, type and padding included, of any length.
    fn with_text(&mut self, text: &[u8]) -> Vec<u8> {
        let tag = self.key.tag_bytes();
        let mut record = vec![23, 3, 3];
        record.extend_from_slice(&((text.len() + tag) as u16).to_be_bytes());
        record.extend_from_slice(text);
        record.resize(HEADER + text.len() + tag, 0);
        let frame: Frame = self.key.inbound(self.seq, &record).expect("a header");
        frame.seal(self.key.key(), &mut record).expect("a text");
        self.seq += 1;
        record
    }

    /// A record of TLS 1.2 with more data than records may have.
    fn too_long(&mut self) -> Vec<u8> {
        let len = MAX_DATA + 1;
        let mut record = vec![0; self.key.record_len(len)];
        record[..3].copy_from_slice(&[23, 3, 3]);
        let rest = (record.len() - HEADER) as u16;
        record[3..HEADER].copy_from_slice(&rest.to_be_bytes());
        let frame = self.key.inbound(self.seq, &record).expect("a header");
        frame.seal(self.key.key(), &mut record).expect("a text");
        record
    }

    fn send(&mut self, bytes: &[u8]) {
        self.socket.write_all(bytes).expect("sent");
    }

    /// The next record, or `None` at the end of the connection.
    fn receive(&mut self) -> Option<(ContentType, Vec<u8>)> {
        loop {
            if let Some(head) = self.received.get(..HEADER) {
                let len = HEADER + usize::from(u16::from_be_bytes([head[3], head[4]]));
                if self.received.len() >= len {
                    let mut record: Vec<u8> = self.received.drain(..len).collect();
                    let frame = self
                        .theirs
                        .inbound(self.their_seq, &record)
                        .expect("a record");
                    frame
                        .open(self.theirs.key(), &mut record)
                        .expect("a good record");
                    self.their_seq += 1;
                    let (content, range) = frame.contents(&record).expect("a good record");
                    return Some((content, record[range].to_vec()));
                }
            }
            let mut room = [0; 4096];
            match self.socket.read(&mut room) {
                Ok(0) => return None,
                Ok(n) => self.received.extend_from_slice(&room[..n]),
                Err(error) => panic!("{error}"),
            }
        }
    }

    /// What the connection ends with: an alert, and then nothing.
    fn end(&mut self) -> AlertDescription {
        let mut alert = None;
        while let Some((content, bytes)) = self.receive() {
            assert_eq!(alert, None, "something after an alert");
            match content {
                Alert => alert = Some(AlertDescription::from(bytes[1])),
                // Tickets, answers and new keys that were asked for before.
                ContentType::Handshake | ContentType::ApplicationData => {}
                other => panic!("{other:?}"),
            }
        }
        alert.expect("an alert before the end")
    }

    /// Asks once more and gets an answer: nothing was wrong.
    fn is_fine(&mut self) {
        let record = self.record(ApplicationData, REQUEST);
        self.send(&record);
        loop {
            match self.receive().expect("an answer") {
                (ContentType::ApplicationData, data) => {
                    return assert!(data.starts_with(b"HTTP/1.1 200 OK"));
                }
                (ContentType::Handshake, _) => {}
                other => panic!("{other:?}"),
            }
        }
    }
}

/// What is wrong, and what is sent; `None` if nothing is wrong with it.
type Kind = (
    &'static str,
    fn(&mut Raw) -> Vec<u8>,
    Option<AlertDescription>,
);

/// Of both versions.
const RECORDS: &[Kind] = &[
    (
        "first byte of the text",
        |r| r.damaged(|b| b[13] ^= 1),
        Some(BadRecordMac),
    ),
    (
        "a byte in the middle",
        |r| r.damaged(|b| b[30] ^= 0x80),
        Some(BadRecordMac),
    ),
    (
        "last byte of the text",
        |r| {
            let n = r.key.tag_bytes() + 1;
            r.damaged(|b| {
                let at = b.len() - n;
                b[at] ^= 4
            })
        },
        Some(BadRecordMac),
    ),
    (
        "first byte of the tag",
        |r| {
            let n = r.key.tag_bytes();
            r.damaged(|b| {
                let at = b.len() - n;
                b[at] ^= 1
            })
        },
        Some(BadRecordMac),
    ),
    (
        "last byte of the tag",
        |r| r.damaged(|b| *b.last_mut().unwrap() ^= 0x80),
        Some(BadRecordMac),
    ),
    (
        "tag of zeros",
        |r| {
            let n = r.key.tag_bytes();
            r.damaged(|b| {
                let at = b.len() - n;
                b[at..].fill(0)
            })
        },
        Some(BadRecordMac),
    ),
    (
        "text and tag of zeros",
        |r| r.damaged(|b| b[5..].fill(0)),
        Some(BadRecordMac),
    ),
    (
        "older version in the header",
        |r| r.damaged(|b| b[2] = 1),
        Some(BadRecordMac),
    ),
    (
        "newer version in the header",
        |r| r.damaged(|b| b[2] = 4),
        Some(BadRecordMac),
    ),
    (
        "one byte longer",
        |r| {
            r.damaged(|b| {
                b.push(0);
                b[4] += 1
            })
        },
        Some(BadRecordMac),
    ),
    (
        "one byte shorter",
        |r| {
            r.damaged(|b| {
                b.pop();
                b[4] -= 1
            })
        },
        Some(BadRecordMac),
    ),
    (
        "length of one byte less",
        |r| r.damaged(|b| b[4] -= 1),
        Some(BadRecordMac),
    ),
    (
        "without a tag",
        |r| {
            let n = r.key.tag_bytes();
            r.damaged(|b| {
                b.truncate(b.len() - n);
                b[4] -= n as u8
            })
        },
        Some(BadRecordMac),
    ),
    (
        "nothing but a header",
        |r| {
            r.damaged(|b| {
                b.truncate(5);
                b[3..].fill(0)
            })
        },
        Some(BadRecordMac),
    ),
    (
        "one byte",
        |r| {
            r.damaged(|b| {
                b.truncate(6);
                b[3] = 0;
                b[4] = 1
            })
        },
        Some(BadRecordMac),
    ),
    (
        "one byte too short for a tag",
        |r| {
            let n = r.key.record_len(0) - 6;
            r.damaged(|b| {
                b.truncate(5 + n);
                b[3] = 0;
                b[4] = n as u8
            })
        },
        Some(BadRecordMac),
    ),
    (
        "type 0",
        |r| r.damaged(|b| b[0] = 0),
        Some(UnexpectedMessage),
    ),
    (
        "type 24, heartbeat",
        |r| r.damaged(|b| b[0] = 24),
        Some(UnexpectedMessage),
    ),
    (
        "type 255",
        |r| r.damaged(|b| b[0] = 255),
        Some(UnexpectedMessage),
    ),
    (
        "change of cipher",
        |_| vec![20, 3, 3, 0, 1, 1],
        Some(UnexpectedMessage),
    ),
    (
        "change of cipher, other content",
        |_| vec![20, 3, 3, 0, 2, 1, 1],
        Some(UnexpectedMessage),
    ),
    (
        "an older protocol's hello",
        |_| vec![0x80, 0x2e, 1, 3, 1, 0, 0x15, 0, 0, 0, 0x10],
        Some(UnexpectedMessage),
    ),
    (
        "HTTP without TLS",
        |_| b"GET / HTTP/1.1\r\n\r\n".to_vec(),
        Some(UnexpectedMessage),
    ),
    (
        "the most that a length can say",
        |_| vec![23, 3, 3, 0xff, 0xff],
        Some(RecordOverflow),
    ),
    (
        "number skipped",
        |r| {
            r.seq += 1;
            r.damaged(|_| ())
        },
        Some(BadRecordMac),
    ),
    (
        "the same record twice",
        |r| r.damaged(|b| b.extend_from_within(..)),
        Some(BadRecordMac),
    ),
    (
        "records in another order",
        |r| {
            let first = r.damaged(|_| ());
            let mut second = r.damaged(|_| ());
            second.extend(first);
            second
        },
        Some(BadRecordMac),
    ),
    (
        "number far ahead",
        |r| {
            r.seq = 1 << 40;
            r.damaged(|_| ())
        },
        Some(BadRecordMac),
    ),
    (
        "sealed with the server's key",
        |r| Raw::record_by(&r.theirs, r.seq, ApplicationData, REQUEST),
        Some(BadRecordMac),
    ),
    (
        "the server's last record sent back",
        |r| Raw::record_by(&r.theirs, r.their_seq, ApplicationData, b"HTTP/1.1"),
        Some(BadRecordMac),
    ),
    (
        "not sealed",
        |_| {
            let mut b = vec![23, 3, 3, 0, REQUEST.len() as u8];
            b.extend_from_slice(REQUEST);
            b
        },
        Some(BadRecordMac),
    ),
    (
        "a good record, then a bad one",
        |r| {
            let mut b = r.damaged(|_| ());
            b.extend(r.damaged(|b| b[20] ^= 1));
            b
        },
        Some(BadRecordMac),
    ),
    (
        "alert of one byte",
        |r| r.record(Alert, &[1]),
        Some(DecodeError),
    ),
    (
        "alert of three bytes",
        |r| r.record(Alert, &[1, 0, 0]),
        Some(DecodeError),
    ),
    (
        "two alerts in a record",
        |r| r.record(Alert, &[1, 90, 1, 90]),
        Some(DecodeError),
    ),
    (
        "handshake without content",
        |r| r.record(Handshake, &[]),
        Some(UnexpectedMessage),
    ),
    (
        "finished, once more",
        |r| {
            r.record(
                Handshake,
                &[20, 0, 0, 12, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12],
            )
        },
        Some(UnexpectedMessage),
    ),
    (
        "certificate that nobody asked for",
        |r| r.record(Handshake, &[11, 0, 0, 4, 0, 0, 0, 0]),
        Some(UnexpectedMessage),
    ),
    (
        "key exchange",
        |r| r.record(Handshake, &[16, 0, 0, 1, 0]),
        Some(UnexpectedMessage),
    ),
    (
        "a ticket from the client",
        |r| r.record(Handshake, &[4, 0, 0, 1, 0]),
        Some(UnexpectedMessage),
    ),
    (
        "a message with no known type",
        |r| r.record(Handshake, &[99, 0, 0, 1, 0]),
        Some(UnexpectedMessage),
    ),
    (
        "33 records without data",
        |r| {
            (0..33)
                .flat_map(|_| r.record(ApplicationData, &[]))
                .collect()
        },
        Some(UnexpectedMessage),
    ),
    (
        "32 records without data",
        |r| {
            (0..32)
                .flat_map(|_| r.record(ApplicationData, &[]))
                .collect()
        },
        None,
    ),
    (
        "notice that the user canceled",
        |r| r.record(Alert, &[1, 90]),
        None,
    ),
    ("no data", |r| r.record(ApplicationData, &[]), None),
];

const TLS13: &[Kind] = &[
    (
        "alert without content",
        |r| r.record(Alert, &[]),
        Some(UnexpectedMessage),
    ),
    (
        "type alert outside",
        |r| r.damaged(|b| b[0] = 21),
        Some(UnexpectedMessage),
    ),
    (
        "type handshake outside",
        |r| r.damaged(|b| b[0] = 22),
        Some(UnexpectedMessage),
    ),
    (
        "alert, not sealed",
        |_| vec![21, 3, 3, 0, 2, 1, 0],
        Some(UnexpectedMessage),
    ),
    (
        "hello, not sealed",
        |_| vec![22, 3, 1, 0, 4, 1, 0, 0, 0],
        Some(UnexpectedMessage),
    ),
    (
        "one byte too long",
        |_| vec![23, 3, 3, 0x41, 0x01],
        Some(RecordOverflow),
    ),
    (
        "the longest record, of zeros",
        |_| {
            let mut b = vec![23, 3, 3, 0x41, 0];
            b.resize(5 + MAX_DATA + 256, 0);
            b
        },
        Some(BadRecordMac),
    ),
    (
        "one byte of data too much",
        |r| {
            let mut t = vec![1; MAX_DATA + 1];
            t.push(23);
            r.with_text(&t)
        },
        Some(RecordOverflow),
    ),
    (
        "one byte of padding too much",
        |r| {
            let mut t = vec![23];
            t.resize(MAX_DATA + 2, 0);
            r.with_text(&t)
        },
        Some(RecordOverflow),
    ),
    (
        "nothing but padding",
        |r| r.with_text(&[0; 100]),
        Some(UnexpectedMessage),
    ),
    (
        "no text at all",
        |r| r.with_text(&[]),
        Some(UnexpectedMessage),
    ),
    (
        "type 20 inside",
        |r| r.with_text(&[1, 20]),
        Some(UnexpectedMessage),
    ),
    (
        "type 24 inside",
        |r| r.with_text(&[1, 24]),
        Some(UnexpectedMessage),
    ),
    (
        "type 99 inside",
        |r| r.with_text(&[1, 99]),
        Some(UnexpectedMessage),
    ),
    (
        "new key, request 2",
        |r| r.record(Handshake, &[24, 0, 0, 1, 2]),
        Some(IllegalParameter),
    ),
    (
        "new key, request 255",
        |r| r.record(Handshake, &[24, 0, 0, 1, 255]),
        Some(IllegalParameter),
    ),
    (
        "new key without a request",
        |r| r.record(Handshake, &[24, 0, 0, 0, 0]),
        Some(DecodeError),
    ),
    (
        "new key, two bytes long",
        |r| r.record(Handshake, &[24, 0, 0, 2, 0, 0]),
        Some(DecodeError),
    ),
    (
        "new key, endless",
        |r| r.record(Handshake, &[24, 255, 255, 255, 0]),
        Some(DecodeError),
    ),
    (
        "new key, and a byte after it",
        |r| r.record(Handshake, &[24, 0, 0, 1, 0, 0]),
        Some(UnexpectedMessage),
    ),
    (
        "new key twice in a record",
        |r| r.record(Handshake, &[KEY_UPDATE, KEY_UPDATE].concat()),
        Some(UnexpectedMessage),
    ),
    (
        "data within a message",
        |r| {
            let mut b = r.record(Handshake, &KEY_UPDATE[..2]);
            b.extend(r.record(ApplicationData, REQUEST));
            b
        },
        Some(UnexpectedMessage),
    ),
    (
        "alert within a message",
        |r| {
            let mut b = r.record(Handshake, &KEY_UPDATE[..4]);
            b.extend(r.record(Alert, &[1, 0]));
            b
        },
        Some(UnexpectedMessage),
    ),
    (
        "new key, then the old one",
        |r| {
            let mut b = r.record(Handshake, &KEY_UPDATE);
            b.extend(r.record(ApplicationData, REQUEST));
            b
        },
        Some(BadRecordMac),
    ),
    (
        "hello, once more",
        |r| r.record(Handshake, &[1, 0, 0, 2, 3, 3]),
        Some(UnexpectedMessage),
    ),
    (
        "end of early data",
        |r| r.record(Handshake, &[5, 0, 0, 0]),
        Some(UnexpectedMessage),
    ),
    (
        "padded data",
        |r| {
            let mut t = REQUEST.to_vec();
            t.push(23);
            t.resize(1000, 0);
            r.with_text(&t)
        },
        None,
    ),
    (
        "as much padding as there can be",
        |r| {
            let mut t = vec![23];
            t.resize(MAX_DATA + 1, 0);
            r.with_text(&t)
        },
        None,
    ),
];

const TLS12: &[Kind] = &[
    (
        "alert without content",
        |r| r.record(Alert, &[]),
        Some(DecodeError),
    ),
    (
        "type alert instead of data",
        |r| r.damaged(|b| b[0] = 21),
        Some(BadRecordMac),
    ),
    (
        "type handshake instead of data",
        |r| r.damaged(|b| b[0] = 22),
        Some(BadRecordMac),
    ),
    (
        "another nonce",
        |r| r.damaged(|b| b[5] ^= 1),
        Some(BadRecordMac),
    ),
    (
        "end of the nonce",
        |r| r.damaged(|b| b[12] ^= 1),
        Some(BadRecordMac),
    ),
    (
        "alert, not sealed",
        |_| vec![21, 3, 3, 0, 2, 1, 0],
        Some(BadRecordMac),
    ),
    (
        "one byte too long",
        |_| vec![23, 3, 3, 0x48, 0x01],
        Some(RecordOverflow),
    ),
    (
        "one byte of data too much",
        Raw::too_long,
        Some(RecordOverflow),
    ),
    (
        "new key",
        |r| r.record(Handshake, &KEY_UPDATE),
        Some(UnexpectedMessage),
    ),
    (
        "hello that is cut off",
        |r| r.record(Handshake, &[1, 0, 0, 9, 3, 3]),
        Some(UnexpectedMessage),
    ),
    (
        "two more hellos",
        |r| {
            let mut b = r.record(Handshake, &[1, 0, 0, 2, 3, 3]);
            b.extend(r.record(Handshake, &[1, 0, 0, 2, 3, 3]));
            b
        },
        Some(UnexpectedMessage),
    ),
    (
        "33 warnings",
        |r| (0..33).flat_map(|_| r.record(Alert, &[1, 41])).collect(),
        Some(UnexpectedMessage),
    ),
    ("a warning", |r| r.record(Alert, &[1, 41]), None),
];

fn companion(server: &Server) -> Client {
    let provider = rustls::crypto::aws_lc_rs::default_provider();
    server.connect(&server.client(provider))
}

#[test]
fn damaged_records() {
    let mut count = 0;
    for layer in ["batch", "single"] {
        let server = Server::start(&["--layer", layer]);
        let mut companion = companion(&server);
        let mut held = Vec::new();
        for suite in aescomb_rustls::kernel::ALL_CIPHER_SUITES {
            let own = if suite.tls13().is_some() {
                TLS13
            } else {
                TLS12
            };
            for (what, make, alert) in RECORDS.iter().chain(own) {
                let what = format!("{layer}, {suite:?}: {what}");
                let mut raw = Raw::connect(&server, *suite);
                let bytes = make(&mut raw);
                raw.send(&bytes);
                match alert {
                    Some(alert) => assert_eq!(raw.end(), *alert, "{what}"),
                    None => {
                        raw.is_fine();
                        held.push(raw);
                    }
                }
                count += 1;
                if count % 20 == 0 {
                    assert_eq!(companion.get("/bytes/1000").len, 1000, "{what}");
                }
            }
        }
        // Those that did nothing wrong are still served.
        held.iter_mut().for_each(Raw::is_fine);
        assert_eq!(companion.get("/object").hash, server.hash);
    }
    let kinds = RECORDS.len() + TLS13.len() + TLS12.len();
    println!("{kinds} kinds, {count} connections");
    assert!(kinds >= 50);
}

/// Good records one byte at a time, and new keys in pieces.
#[test]
fn records_in_pieces() {
    let server = Server::start(&[]);
    for suite in aescomb_rustls::kernel::ALL_CIPHER_SUITES {
        let mut raw = Raw::connect(&server, *suite);
        raw.socket.set_nodelay(true).expect("a socket");
        for byte in raw.record(ApplicationData, REQUEST) {
            raw.send(&[byte]);
        }
        raw.is_fine();
        let answer = raw.receive();
        assert!(matches!(answer, Some((ContentType::ApplicationData, _))));
        if suite.tls13().is_some() {
            // Data is due again after so many of them.
            for byte in &KEY_UPDATE[..4] {
                let record = raw.record(Handshake, &[*byte]);
                raw.send(&record);
            }
            let record = raw.record(Handshake, &KEY_UPDATE[4..]);
            raw.send(&record);
            // Now under a key that this client does not have.
            let record = raw.record(ApplicationData, REQUEST);
            raw.send(&record);
            assert_eq!(raw.end(), BadRecordMac);
        } else {
            let record = raw.record(Handshake, &[1, 0, 0, 2, 3, 3]);
            raw.send(&record);
            let refused = (Alert, vec![1, NoRenegotiation.into()]);
            assert_eq!(raw.receive(), Some(refused));
            raw.is_fine();
        }
    }
}

/// A fatal alert, and the end of the client's side: the server answers the latter in kind.
#[test]
fn ends() {
    let server = Server::start(&[]);
    for suite in aescomb_rustls::kernel::ALL_CIPHER_SUITES {
        let mut raw = Raw::connect(&server, *suite);
        let record = raw.record(Alert, &[2, 40]);
        raw.send(&record);
        // Nothing is said to who has given up.
        while let Some((content, _)) = raw.receive() {
            assert_eq!(content, ContentType::Handshake);
        }
        let mut raw = Raw::connect(&server, *suite);
        let mut records = raw.record(ApplicationData, REQUEST);
        records.extend(raw.record(Alert, &[1, 0]));
        // After its end a client may say anything.
        records.extend(raw.record(ApplicationData, REQUEST));
        raw.send(&records);
        let mut answers = 0;
        loop {
            match raw.receive().expect("an end that is said") {
                (ContentType::ApplicationData, _) => answers += 1,
                (ContentType::Handshake, _) => {}
                (content, bytes) => {
                    assert_eq!((content, bytes), (Alert, vec![1, 0]));
                    break;
                }
            }
        }
        assert_eq!(answers, 1, "{suite:?}");
        assert_eq!(raw.receive(), None);
    }
}

/// Hellos with one byte changed, cut off, and what is none: whatever comes of it, the server
/// goes on.
#[test]
fn damaged_hellos() {
    let server = Server::start(&[]);
    let config = server.client(rustls::crypto::aws_lc_rs::default_provider());
    let name = ServerName::try_from("localhost").expect("a name");
    let mut client = ClientConnection::new(config, name).expect("a client");
    let mut hello = Vec::new();
    client.write_tls(&mut hello).expect("memory");
    let mut all: Vec<Vec<u8>> = Vec::new();
    for at in 0..hello.len() {
        for change in [1, 0x80] {
            let mut hello = hello.clone();
            hello[at] ^= change;
            all.push(hello);
        }
    }
    all.extend((0..hello.len()).step_by(7).map(|len| hello[..len].to_vec()));
    all.push(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n".to_vec());
    all.push(vec![0; 40_000]);
    all.push([&[22, 3, 1, 0x40, 0, 1, 0xff, 0xff, 0xff][..], &[0; 40_000]].concat());
    let mut ended = 0;
    for bytes in &all {
        let mut socket = server.socket();
        // It may be closed while this is being sent.
        let _ = socket.write_all(bytes);
        let _ = socket.shutdown(std::net::Shutdown::Write);
        socket
            .set_read_timeout(Some(Duration::from_secs(20)))
            .expect("a socket");
        let mut got = Vec::new();
        match socket.read_to_end(&mut got) {
            Ok(_) => {}
            Err(error) => assert_eq!(error.kind(), ErrorKind::ConnectionReset),
        }
        // An alert or a hello, or nothing for what was cut off.
        if let Some(first) = got.first() {
            assert!([21, 22].contains(first), "{first}");
            ended += 1;
        }
    }
    assert!(ended > hello.len(), "{ended} answers");
    let answer = companion(&server).get("/bytes/5");
    assert_eq!(answer.len, 5);
    println!("{} hellos; {ended} answered", all.len());
}

/// Records in one piece with the client's Finished: a request and the end, new keys that are
/// asked for, and a part of a message.
#[test]
fn records_right_after_finished() {
    let server = Server::start(&[]);
    let suites = aescomb_rustls::kernel::ALL_CIPHER_SUITES;
    for suite in suites.iter().filter(|suite| suite.tls13().is_some()) {
        let (mut raw, mut bytes) = Raw::before_finished(&server, *suite);
        bytes.extend(raw.record(ApplicationData, REQUEST));
        bytes.extend(raw.record(Alert, &[1, 0]));
        raw.send(&bytes);
        let mut data = Vec::new();
        while let Some((content, bytes)) = raw.receive() {
            if content == ApplicationData {
                data.extend(bytes);
            }
        }
        assert!(data.starts_with(b"HTTP/1.1 200 OK"), "{suite:?}");

        // Its answer is still under the old key.
        let (mut raw, mut bytes) = Raw::before_finished(&server, *suite);
        bytes.extend(raw.record(Handshake, &[24, 0, 0, 1, 1]));
        raw.send(&bytes);
        let answer = (Handshake, KEY_UPDATE.to_vec());
        while raw.receive().expect("a new key") != answer {}

        let (mut raw, mut bytes) = Raw::before_finished(&server, *suite);
        bytes.extend(raw.record(Handshake, &KEY_UPDATE[..2]));
        raw.send(&bytes);
        let rest = raw.record(Handshake, &[0, 1, 2]);
        raw.send(&rest);
        assert_eq!(raw.end(), IllegalParameter, "{suite:?}");
    }
}
