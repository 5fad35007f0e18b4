//! curl, openssl and rustls fetch objects with every suite.

mod common;

use common::{Client, OBJECT, Server, hash, suites};
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Command, Stdio};
use std::thread;

/// The layers that are ours.
const LAYERS: [&str; 2] = ["batch", "single"];

fn is_tls13(suite: &str) -> bool {
    !suite.contains("_WITH_")
}

/// The suite's name in OpenSSL, for TLS 1.2.
fn openssl_name(suite: &str) -> String {
    let name = suite
        .trim_start_matches("TLS_")
        .replace("_WITH_AES_", "_AES");
    let name = name.replace('_', "-").replace("CCM-8", "CCM8");
    // New releases keep tags of 8 bytes behind this.
    format!("{name}:@SECLEVEL=0")
}

#[test]
fn curl_gets_the_object() {
    for layer in LAYERS {
        let server = Server::start(&["--layer", layer]);
        for (suite, _) in suites() {
            let mut curl = Command::new("curl");
            match is_tls13(suite) {
                true => curl.args(["--tlsv1.3", "--tls13-ciphers", suite]),
                false => curl.args(["--tls-max", "1.2", "--ciphers", &openssl_name(suite)]),
            };
            let port = server.address.port();
            // Twice on one connection.
            let url = format!("https://localhost:{port}/object");
            let output = curl
                .args([
                    "-sS",
                    "--max-time",
                    "60",
                    "--cacert",
                    "cert.pem",
                    &url,
                    &url,
                ])
                .args(["-w", "%{stderr}%{num_connects} "])
                .current_dir(&server.folder)
                .output()
                .expect("curl, which these tests need");
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{layer}, {suite}: {said}");
            assert_eq!(said, "1 0 ", "{suite}");
            assert_eq!(output.stdout.len(), 2 * OBJECT, "{suite}");
            let (first, second) = output.stdout.split_at(OBJECT);
            assert_eq!(
                (hash(first), hash(second)),
                (server.hash.clone(), server.hash.clone())
            );
        }
    }
}

#[test]
fn openssl_gets_the_object() {
    for layer in LAYERS {
        let server = Server::start(&["--layer", layer]);
        for (suite, _) in suites() {
            let mut command = Command::new("openssl");
            command.args([
                "s_client",
                "-connect",
                &server.address.to_string(),
                "-quiet",
            ]);
            match is_tls13(suite) {
                true => command.args(["-tls1_3", "-ciphersuites", suite]),
                false => command.args(["-tls1_2", "-cipher", &openssl_name(suite)]),
            };
            let mut child = command
                .args(["-CAfile", "cert.pem", "-verify_return_error"])
                .current_dir(&server.folder)
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .stderr(Stdio::null())
                .spawn()
                .expect("openssl, which these tests need");
            let mut input = child.stdin.take().expect("a pipe");
            let request = "GET /object HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
            input.write_all(request.as_bytes()).expect("sent");
            let mut output = Vec::new();
            child
                .stdout
                .take()
                .expect("a pipe")
                .read_to_end(&mut output)
                .expect("output");
            assert!(child.wait().expect("a child").success(), "{layer}, {suite}");
            assert!(output.len() > OBJECT, "{layer}, {suite}: {}", output.len());
            let (head, body) = output.split_at(output.len() - OBJECT);
            assert!(head.starts_with(b"HTTP/1.1 200 OK\r\n") && head.ends_with(b"\r\n\r\n"));
            assert_eq!(hash(body), server.hash, "{layer}, {suite}");
        }
    }
}

/// `K` on a line of its own: new keys, and a request for the server's.
#[test]
fn openssl_updates_keys() {
    for layer in LAYERS {
        let server = Server::start(&["--layer", layer]);
        for suite in [
            "TLS_AES_128_GCM_SHA256",
            "TLS_AES_128_CCM_SHA256",
            "TLS_AES_128_CCM_8_SHA256",
        ] {
            let mut child = Command::new("openssl")
                .args([
                    "s_client",
                    "-connect",
                    &server.address.to_string(),
                    "-tls1_3",
                ])
                .args(["-ciphersuites", suite, "-CAfile", "cert.pem", "-crlf"])
                .current_dir(&server.folder)
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .expect("openssl, which these tests need");
            let mut input = child.stdin.take().expect("a pipe");
            let mut output = BufReader::new(child.stdout.take().expect("a pipe"));
            let mut said = BufReader::new(child.stderr.take().expect("a pipe"));
            for turn in 0..5 {
                input
                    .write_all(b"GET /bytes/3 HTTP/1.1\nHost: localhost\n\n")
                    .expect("sent");
                let mut line = Vec::new();
                while !line.ends_with(b"HTTP/1.1 200 OK\r\n") {
                    line.clear();
                    let n = output.read_until(b'\n', &mut line).expect("output");
                    assert_ne!(n, 0, "{layer}, {suite}, turn {turn}");
                }
                // With a request, and without one.
                let command: &[u8] = if turn % 2 == 0 { b"K\n" } else { b"k\n" };
                input.write_all(command).expect("sent");
                // What it has read with the command it would forget.
                let mut line = String::new();
                while line.trim_end() != "KEYUPDATE" {
                    line.clear();
                    assert_ne!(said.read_line(&mut line).expect("text"), 0, "{suite}");
                }
            }
            drop(input);
            child.wait().expect("a child");
        }
    }
}

/// rustls' client, with AWS-LC or RustCrypto: new keys in the middle of an answer, from both.
#[test]
fn rustls_gets_the_object_with_new_keys_in_the_middle() {
    for layer in LAYERS {
        // The server's own every 100 records, of 640 that an object has.
        for server in [
            Server::start(&["--layer", layer]),
            Server::start(&["--layer", layer, "--rekey", "100"]),
        ] {
            for (suite, provider) in suites() {
                if !is_tls13(suite) {
                    continue;
                }
                let mut client = server.connect(&server.client(provider));
                for _ in 0..2 {
                    client.ask("/object");
                    let mut updates = 0;
                    let answer = client.answer_with(|stream, got| {
                        if got > (updates + 1) * (OBJECT / 5) {
                            updates += 1;
                            stream.conn.refresh_traffic_keys().expect("new keys");
                            stream.flush().expect("sent");
                        }
                    });
                    assert_eq!(
                        (answer.len, answer.hash),
                        (OBJECT, server.hash.clone()),
                        "{suite}"
                    );
                    assert_eq!(updates, 4);
                }
            }
        }
    }
}

/// In TLS 1.2 there are no new keys: the connection ends in time.
#[test]
fn worn_keys_of_tls12_end_the_connection() {
    let server = Server::start(&["--rekey", "100"]);
    for (suite, provider) in suites() {
        if is_tls13(suite) {
            continue;
        }
        let mut client = server.connect(&server.client(provider));
        // 98 records but for those of the handshake, and then the alert.
        client.ask("/object");
        let mut got = Vec::new();
        client.0.read_to_end(&mut got).expect("an end that is said");
        assert!(
            (90 << 14..99 << 14).contains(&got.len()),
            "{suite}: {}",
            got.len()
        );
    }
}

/// 200 connections at once, each with the whole object: every layer of records.
#[test]
fn two_hundred_connections() {
    for (layer, suite) in [
        ("batch", "TLS_AES_128_GCM_SHA256"),
        ("batch", "TLS_AES_128_CCM_SHA256"),
        ("batch", "all"),
        ("single", "TLS_AES_128_GCM_SHA256"),
    ] {
        let server = Server::start(&["--layer", layer]);
        let all: Vec<_> = suites()
            .into_iter()
            .filter(|(name, _)| suite == "all" || *name == suite)
            .map(|(_, provider)| server.client(provider))
            .collect();
        let mut clients: Vec<Client> = (0..200)
            .map(|i| server.connect(&all[i % all.len()]))
            .collect();
        // All ask before any reads.
        for client in &mut clients {
            client.ask("/object");
        }
        thread::scope(|scope| {
            let threads: Vec<_> = clients
                .iter_mut()
                .map(|client| scope.spawn(|| client.answer()))
                .collect();
            for thread in threads {
                let answer = thread.join().expect("an answer");
                assert_eq!((answer.len, answer.hash), (OBJECT, server.hash.clone()));
            }
        });
        drop(clients);
        let said = server.stop();
        assert!(said.starts_with("200 connections"), "{said}");
        println!("{layer}, {suite}: {said}");
    }
}
