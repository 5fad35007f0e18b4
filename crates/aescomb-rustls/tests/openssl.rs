//! Every suite against the command `openssl`, as server and as client.

mod common;

use aescomb_rustls::ALL_CIPHER_SUITES;
use common::{Identity, name, ours};
use rustls::{ClientConnection, ServerConnection, Stream, SupportedCipherSuite};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

/// The suite's name in OpenSSL, and the options that allow it alone.
fn options(suite: SupportedCipherSuite) -> Vec<String> {
    let name = aescomb_rustls::name(suite.suite()).expect("a suite of the crate");
    match suite.tls13() {
        Some(_) => vec!["-tls1_3".into(), "-ciphersuites".into(), name.into()],
        None => {
            let name = name
                .trim_start_matches("TLS_")
                .replace("_WITH_AES_", "_AES")
                .replace('_', "-")
                .replace("CCM-8", "CCM8");
            // New releases keep tags of 8 bytes behind this.
            vec![
                "-tls1_2".into(),
                "-cipher".into(),
                format!("{name}:@SECLEVEL=0"),
            ]
        }
    }
}

/// Files of an identity, in a folder that is removed.
struct Files {
    folder: PathBuf,
    identity: Identity,
}

impl Files {
    fn new(name: &str) -> Files {
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
        std::fs::create_dir_all(&folder).expect("a folder");
        let identity = Identity::new();
        std::fs::write(folder.join("cert.pem"), identity.certificate.pem()).expect("a file");
        std::fs::write(folder.join("key.pem"), identity.key.serialize_pem()).expect("a file");
        Files { folder, identity }
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// A program that ends with the test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Lines that come back reversed, the longest of more than one record.
fn lines() -> Vec<String> {
    [1, 15, 16, 17, 100, 1000, 12_000]
        .iter()
        .map(|len| {
            (0..*len)
                .map(|i| char::from(b'a' + (i % 25) as u8))
                .collect()
        })
        .collect()
}

#[test]
fn openssl_serves() {
    let files = Files::new("openssl-serves");
    for suite in ALL_CIPHER_SUITES {
        let mut command = Command::new("openssl");
        command
            .args([
                "s_server",
                "-accept",
                "127.0.0.1:0",
                "-rev",
                "-naccept",
                "1",
            ])
            .args(["-cert", "cert.pem", "-key", "key.pem"])
            .args(options(*suite))
            .current_dir(&files.folder)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit());
        let mut child = Running(command.spawn().expect("openssl, which these tests need"));
        let mut output = BufReader::new(child.0.stdout.take().expect("a pipe"));
        // "ACCEPT 127.0.0.1:PORT"
        let port = loop {
            let mut line = String::new();
            assert_ne!(output.read_line(&mut line).expect("text"), 0, "{suite:?}");
            if let Some((_, port)) = line
                .trim()
                .strip_prefix("ACCEPT")
                .and_then(|l| l.rsplit_once(':'))
            {
                break port.parse::<u16>().expect("a port");
            }
        };
        let mut socket = TcpStream::connect(("127.0.0.1", port)).expect("a connection");
        let config = files.identity.client(ours(*suite));
        let mut client = ClientConnection::new(config, name()).expect("a client");
        let mut stream = BufReader::new(Stream::new(&mut client, &mut socket));
        for line in lines() {
            writeln!(stream.get_mut(), "{line}").expect("sent");
            let mut got = String::new();
            stream.read_line(&mut got).expect("an answer");
            let expected: String = line.chars().rev().collect();
            assert!(
                got.trim_end() == expected,
                "{suite:?}, {} bytes",
                line.len()
            );
        }
        let negotiated = client.negotiated_cipher_suite().map(|s| s.suite());
        assert_eq!(negotiated, Some(suite.suite()));
    }
}

#[test]
fn openssl_asks() {
    let files = Files::new("openssl-asks");
    for suite in ALL_CIPHER_SUITES {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address").to_string();
        let mut command = Command::new("openssl");
        command
            .args([
                "s_client",
                "-connect",
                &address,
                "-quiet",
                "-verify_return_error",
            ])
            .args(["-CAfile", "cert.pem", "-servername", "localhost"])
            .args(options(*suite))
            .current_dir(&files.folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut child = Running(command.spawn().expect("openssl, which these tests need"));
        listener.set_nonblocking(true).expect("a socket");
        let mut socket = loop {
            match listener.accept() {
                Ok((socket, _)) => break socket,
                Err(_) => std::thread::sleep(std::time::Duration::from_millis(10)),
            }
            assert_eq!(child.0.try_wait().expect("a child"), None, "{suite:?}");
        };
        socket.set_nonblocking(false).expect("a socket");
        let config = files.identity.server(ours(*suite));
        let mut server = ServerConnection::new(config).expect("a server");
        let mut stream = BufReader::new(Stream::new(&mut server, &mut socket));
        let mut input = child.0.stdin.take().expect("a pipe");
        let mut output = BufReader::new(child.0.stdout.take().expect("a pipe"));
        for line in lines() {
            writeln!(input, "{line}").expect("sent");
            let mut got = String::new();
            stream
                .read_line(&mut got)
                .unwrap_or_else(|e| panic!("{suite:?}: {e}"));
            assert!(got.trim_end() == line, "{suite:?}, {} bytes", line.len());
            stream.get_mut().write_all(got.as_bytes()).expect("sent");
            let mut back = String::new();
            output.read_line(&mut back).expect("text");
            assert!(back == got, "{suite:?}, {} bytes", line.len());
        }
        server.send_close_notify();
        server.write_tls(&mut socket).expect("sent");
        drop(socket);
        let mut rest = String::new();
        output.read_to_string(&mut rest).expect("text");
        assert_eq!(rest, "");
    }
}
