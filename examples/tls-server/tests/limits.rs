//! Slow clients, clients that vanish, limits, and the end.

mod common;

use common::{Answer, Client, OBJECT, Server, suites};
use rustls::ClientConfig;
use std::io::{Read, Write};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

fn config(server: &Server, suite: &str) -> Arc<ClientConfig> {
    let found = suites().into_iter().find(|(name, _)| *name == suite);
    server.client(found.expect("a suite").1)
}

const CCM: &str = "TLS_AES_128_CCM_SHA256";
const GCM: &str = "TLS_AES_128_GCM_SHA256";

/// Clients that read a byte a second, or nothing at all, or have vanished in the middle of an
/// answer or of their own request: others are served, and memory does not grow with what is
/// not read.
#[test]
fn slow_clients_and_clients_that_vanish() {
    let server = Server::start(&[]);
    let configs = [config(&server, CCM), config(&server, GCM)];
    assert_eq!(server.connect(&configs[0]).get("/object").hash, server.hash);
    let before = server.memory();
    // 10 GB are due to these.
    let slow: Vec<Client> = (0..100)
        .map(|i| {
            let mut client = server.connect(&configs[i % 2]);
            client.ask("/bytes/104857600");
            client
        })
        .collect();
    for i in 0..100 {
        let mut client = server.connect(&configs[i % 2]);
        match i % 4 {
            0 => client.ask("/object"),
            1 => write!(client.0, "GET /object HTT").expect("sent"),
            2 => {
                client.ask("/object");
                let mut some = [0; 1000];
                client.0.read_exact(&mut some).expect("a part");
            }
            _ => {
                // A reset instead of an end.
                client.ask("/object");
                thread::sleep(Duration::from_millis(1));
            }
        }
    }
    // A small answer, read a byte a second.
    let trickle = thread::scope(|scope| {
        let mut client = server.connect(&configs[0]);
        let trickle = scope.spawn(move || {
            client.ask("/bytes/5");
            client.answer_with(|_, _| thread::sleep(Duration::from_secs(1)))
        });
        let fast: Vec<_> = (0..10)
            .map(|i| {
                let mut client = server.connect(&configs[i % 2]);
                scope.spawn(move || (0..3).map(|_| client.get("/object")).collect::<Vec<_>>())
            })
            .collect();
        for thread in fast {
            for answer in thread.join().expect("answers") {
                assert_eq!((answer.len, answer.hash), (OBJECT, server.hash.clone()));
            }
        }
        trickle.join().expect("an answer")
    });
    assert_eq!(trickle.len, 5);
    // A connection keeps 16 records at most, and the slower it is, the fewer.
    let grown = server.memory().saturating_sub(before);
    println!("{grown} KiB more for 100 slow connections");
    assert!(grown < 100 * (16 * 17 + 40), "{grown} KiB");
    // What the slow ones do read is right.
    let mut expected = server.connect(&configs[0]);
    expected.ask("/bytes/104857600");
    let mut slow = slow;
    let (mut a, mut b) = (vec![0; 300_000], vec![0; 300_000]);
    expected.0.read_exact(&mut a).expect("a part");
    for client in slow.iter_mut().step_by(10) {
        client.0.read_exact(&mut b).expect("a part");
        assert!(a == b);
    }
    // They would take for ever: the second signal does not wait.
    server.signal();
    thread::sleep(Duration::from_millis(200));
    server.stop();
}

/// Without a request, or without a byte taken, a connection is closed.
#[test]
fn idle_connections_are_closed() {
    let server = Server::start(&["--idle", "1"]);
    let before = server.descriptors();
    let config = config(&server, GCM);
    let mut idle = server.connect(&config);
    assert_eq!(idle.get("/bytes/1").len, 1);
    let mut stalled = server.connect(&config);
    stalled.ask("/bytes/1000000000");
    assert!(idle.is_closed(), "without close_notify");
    drop(idle);
    while server.descriptors() > before {
        thread::sleep(Duration::from_millis(50));
    }
    // What was in the sockets, and then nothing.
    let mut rest = Vec::new();
    assert!(stalled.0.read_to_end(&mut rest).is_err());
    assert!(rest.len() < 100_000_000);
}

/// More connections than are allowed wait until others have ended.
#[test]
fn connections_are_limited() {
    let server = Server::start(&["--connections", "3"]);
    let config = config(&server, GCM);
    let mut clients: Vec<Client> = (0..3).map(|_| server.connect(&config)).collect();
    for client in &mut clients {
        assert_eq!(client.get("/bytes/1").len, 1);
    }
    let mut fourth = server.connect(&config);
    let wait = fourth
        .0
        .sock
        .set_read_timeout(Some(Duration::from_millis(500)));
    wait.expect("a socket");
    let request = b"GET /bytes/7 HTTP/1.1\r\nHost: localhost\r\n\r\n";
    assert!(fourth.0.write_all(request).is_err(), "no handshake yet");
    drop(clients.pop());
    let wait = fourth
        .0
        .sock
        .set_read_timeout(Some(Duration::from_secs(60)));
    wait.expect("a socket");
    fourth.0.flush().expect("a handshake");
    assert_eq!(fourth.get("/bytes/7").len, 7);
}

fn status(server: &Server, config: &Arc<ClientConfig>, request: &[u8]) -> Answer {
    let mut client = server.connect(config);
    client.0.write_all(request).expect("sent");
    let answer = client.answer();
    assert!(client.is_closed());
    answer
}

#[test]
fn requests_are_limited() {
    for layer in ["batch", "single", "rustls", "aws-lc"] {
        let server = Server::start(&["--layer", layer]);
        let config = config(&server, GCM);
        let long = [&b"GET / HTTP/1.1\r\nHost: a\r\nX: "[..], &[b'a'; 20_000]].concat();
        let endless = [b'a'; 100_000];
        for (request, expected) in [
            (&b"POST / HTTP/1.1\r\nHost: a\r\n\r\n"[..], 405),
            (&long, 431),
            (&endless, 431),
            (b"\x01\x02\r\n\r\n", 400),
        ] {
            assert_eq!(
                status(&server, &config, request).status,
                expected,
                "{layer}"
            );
        }
        let mut client = server.connect(&config);
        assert_eq!(client.get("/none").status, 404);
        // Many at once, more than are kept: answered in their order.
        let mut requests = Vec::new();
        for i in 0..2000 {
            write!(
                requests,
                "GET /bytes/{i} HTTP/1.1\r\nHost: localhost\r\n\r\n"
            )
            .expect("memory");
        }
        client.0.write_all(&requests).expect("sent");
        for i in 0..2000 {
            assert_eq!(client.answer().len, i, "{layer}");
        }
    }
}

/// After the signal no connection is accepted, answers are finished, and idle connections are
/// told.
#[test]
fn a_graceful_end() {
    for layer in ["batch", "single", "rustls"] {
        let server = Server::start(&["--layer", layer]);
        let config = config(&server, GCM);
        let mut idle = server.connect(&config);
        assert_eq!(idle.get("/bytes/1").len, 1);
        let mut busy = server.connect(&config);
        busy.ask("/bytes/100000000");
        let mut byte = [0];
        busy.0.read_exact(&mut byte).expect("it has begun");
        assert_eq!(byte, *b"H");
        server.signal();
        assert!(idle.is_closed());
        drop(idle);
        assert!(std::net::TcpStream::connect(server.address).is_err());
        let mut rest = Vec::new();
        busy.0.read_to_end(&mut rest).expect("an end that is said");
        assert!(rest.len() > 100_000_000, "{layer}: {}", rest.len());
        drop(busy);
        let mut server = server;
        let said = server.wait();
        assert!(said.starts_with("2 connections"), "{said}");
    }
}

/// What the command refuses, it refuses before it serves.
#[test]
fn the_command_line() {
    let run = |arguments: &[&str]| {
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_tls-server"))
            .args(arguments)
            .output()
            .expect("the server");
        assert!(!output.status.success(), "{arguments:?}");
        String::from_utf8(output.stderr).expect("text")
    };
    let server = Server::start(&[]);
    let cert = server.folder.join("cert.pem");
    let key = server.folder.join("key.pem");
    let (cert, key) = (cert.to_str().expect("text"), key.to_str().expect("text"));
    let files = ["--cert", cert, "--key", key];
    let with = |more: &[&str]| run(&[&files[..], more].concat());
    assert!(with(&["--suites", "TLS_NULL"]).contains("allowed: TLS_AES_256_GCM_SHA384, "));
    assert!(with(&["--root", "/none"]).contains("/none: No such file"));
    assert!(with(&["--rekey", "15"]).contains("15"));
    assert!(with(&["--connections", "0"]).contains("allowed: 1 to 1000000"));
    assert!(with(&["--listen", &server.address.to_string()]).contains("in use"));
    assert!(run(&["--cert", "/none", "--key", key]).contains("/none"));
    assert!(run(&["--cert", key, "--key", cert]).contains("tls-server: "));
}
