//! A running server, and clients for it.
#![allow(dead_code)] // each test program uses some of it

use rustls::crypto::CryptoProvider;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned, SupportedCipherSuite};
use sha2::{Digest, Sha256};
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// The size of the file `/object`.
pub const OBJECT: usize = 10 << 20;

/// A server with a folder of its own; both are gone when it is dropped.
pub struct Server {
    child: Child,
    output: BufReader<ChildStdout>,
    pub address: SocketAddr,
    pub folder: PathBuf,
    certificate: rcgen::Certificate,
    /// Of `/object`.
    pub hash: String,
}

impl Server {
    pub fn start(arguments: &[&str]) -> Server {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
            .join(format!("{}-{number}", std::process::id()));
        std::fs::create_dir_all(folder.join("root")).expect("a folder");
        let identity = rcgen::generate_simple_self_signed(["localhost".to_owned()]);
        let rcgen::CertifiedKey { cert, signing_key } = identity.expect("a certificate");
        std::fs::write(folder.join("cert.pem"), cert.pem()).expect("a file");
        std::fs::write(folder.join("key.pem"), signing_key.serialize_pem()).expect("a file");
        // Not from the server's own generator, and no two records of it are the same.
        let mut state = 1u32;
        let object: Vec<u8> = (0..OBJECT)
            .map(|_| {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                (state >> 24) as u8
            })
            .collect();
        std::fs::write(folder.join("root/object"), &object).expect("a file");
        let mut child = Command::new(env!("CARGO_BIN_EXE_tls-server"))
            .args([
                "--listen",
                "127.0.0.1:0",
                "--cert",
                "cert.pem",
                "--key",
                "key.pem",
            ])
            .args(["--root", "root"])
            // The layers that have those of the crate, which offer some by name only.
            .args(
                match arguments.contains(&"--layer") && !OURS.iter().any(|l| arguments.contains(l))
                {
                    true => Vec::new(),
                    false => vec!["--suites".to_owned(), names().join(",")],
                },
            )
            .args(arguments)
            .current_dir(&folder)
            .stdout(Stdio::piped())
            .spawn()
            .expect("the server");
        let mut output = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut line = String::new();
        output.read_line(&mut line).expect("text");
        let address = line
            .trim()
            .strip_prefix("listening on ")
            .expect("an address");
        Server {
            address: address.parse().expect("an address"),
            child,
            output,
            folder,
            certificate: cert,
            hash: hash(&object),
        }
    }

    /// The configuration of a client with these suites.
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

    pub fn socket(&self) -> TcpStream {
        let socket = TcpStream::connect(self.address).expect("a connection");
        let wait = Some(Duration::from_secs(60));
        socket.set_read_timeout(wait).expect("a socket");
        socket.set_write_timeout(wait).expect("a socket");
        socket
    }

    pub fn connect(&self, config: &Arc<ClientConfig>) -> Client {
        let name = ServerName::try_from("localhost").expect("a name");
        let connection = ClientConnection::new(config.clone(), name).expect("a client");
        Client(StreamOwned::new(connection, self.socket()))
    }

    /// Asks it to stop, and waits until it has: what it says at the end.
    pub fn stop(mut self) -> String {
        self.signal();
        self.wait()
    }

    /// Waits until it has stopped.
    pub fn wait(&mut self) -> String {
        let mut rest = String::new();
        self.output.read_to_string(&mut rest).expect("text");
        assert!(self.child.wait().expect("a child").success());
        rest
    }

    pub fn signal(&self) {
        let status = Command::new("kill")
            .arg(self.child.id().to_string())
            .status();
        assert!(status.expect("kill").success());
    }

    /// How many files and sockets it has open.
    pub fn descriptors(&self) -> usize {
        let folder = format!("/proc/{}/fd", self.child.id());
        std::fs::read_dir(folder).expect("a running server").count()
    }

    /// Resident memory in KiB.
    pub fn memory(&self) -> usize {
        let path = format!("/proc/{}/status", self.child.id());
        let status = std::fs::read_to_string(path).expect("a running server");
        let line = status.lines().find(|line| line.starts_with("VmRSS:"));
        let words = line.expect("VmRSS").split_whitespace();
        words
            .rev()
            .nth(1)
            .expect("a number")
            .parse()
            .expect("a number")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

pub fn hash(bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Layers with the suites of the crate.
const OURS: [&str; 3] = ["batch", "single", "rustls"];

/// The names of all suites of the server.
fn names() -> Vec<&'static str> {
    let all = aescomb_rustls::ALL_CIPHER_SUITES.iter();
    all.map(|suite| aescomb_rustls::name(suite.suite()).expect("a name"))
        .collect()
}

/// All suites of the server, with who else has them: AWS-LC, or RustCrypto for CCM.
pub fn suites() -> Vec<(&'static str, CryptoProvider)> {
    let aws_lc = rustls::crypto::aws_lc_rs::default_provider();
    let ccm = rustls_ccm::crypto_provider();
    let all = aescomb_rustls::ALL_CIPHER_SUITES
        .iter()
        .map(|suite| suite.suite());
    all.map(|suite| {
        let mut known = aws_lc.cipher_suites.iter().chain(&ccm.cipher_suites);
        let found = known
            .find(|one| one.suite() == suite)
            .expect("somebody has it");
        (aescomb_rustls::name(suite).expect("a name"), only(*found))
    })
    .collect()
}

/// AWS-LC's provider with one suite.
pub fn only(suite: SupportedCipherSuite) -> CryptoProvider {
    CryptoProvider {
        cipher_suites: vec![suite],
        ..rustls::crypto::aws_lc_rs::default_provider()
    }
}

pub struct Client(pub StreamOwned<ClientConnection, TcpStream>);

/// An answer's status, and its body's length and hash.
#[derive(Debug, PartialEq, Eq)]
pub struct Answer {
    pub status: u16,
    pub len: usize,
    pub hash: String,
    pub head: String,
}

impl Client {
    pub fn ask(&mut self, path: &str) {
        write!(self.0, "GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n").expect("sent");
    }

    pub fn answer(&mut self) -> Answer {
        self.answer_with(|_, _| {})
    }

    /// Reads an answer; `on` is told how many bytes of the body have come.
    pub fn answer_with(
        &mut self,
        mut on: impl FnMut(&mut StreamOwned<ClientConnection, TcpStream>, usize),
    ) -> Answer {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            self.0.read_exact(&mut byte).expect("a head");
            head.push(byte[0]);
        }
        let head = String::from_utf8(head).expect("text");
        let field = head
            .lines()
            .find_map(|line| line.strip_prefix("Content-Length: "));
        let len = field.expect("a length").parse().expect("a length");
        let mut room = vec![0; 64 << 10];
        let mut digest = Sha256::new();
        let mut got = 0;
        while got < len {
            let most = room.len().min(len - got);
            let n = self.0.read(&mut room[..most]).expect("a body");
            assert_ne!(n, 0, "after {got} bytes of {len}");
            digest.update(&room[..n]);
            got += n;
            on(&mut self.0, got);
        }
        Answer {
            status: head[9..12].parse().expect("a status"),
            len,
            hash: digest
                .finalize()
                .iter()
                .map(|b| format!("{b:02x}"))
                .collect(),
            head,
        }
    }

    pub fn get(&mut self, path: &str) -> Answer {
        self.ask(path);
        self.answer()
    }

    /// Whether the server has said that nothing more comes.
    pub fn is_closed(&mut self) -> bool {
        let mut byte = [0];
        match self.0.read(&mut byte) {
            Ok(0) => true,
            Ok(_) => panic!("data after the last answer"),
            Err(error) if error.kind() == ErrorKind::WouldBlock => false,
            Err(error) => panic!("{error}"),
        }
    }
}
