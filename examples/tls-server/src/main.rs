//! A TLS server for files and generated objects that seals the records of all connections
//! together. See README.md.

mod calls;
mod connection;
mod http;
mod object;
mod records;
mod server;
mod tls;

use clap::{Parser, ValueEnum};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

/// Serves files and generated objects (/bytes/N) over HTTP/1.1 and TLS.
#[derive(Debug, Parser)]
#[command(version)]
struct Options {
    /// Address to listen at; port 0 for any that is free
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8443")]
    listen: SocketAddr,

    /// Certificate chain, PEM
    #[arg(long, value_name = "FILE")]
    cert: PathBuf,

    /// Its private key, PEM
    #[arg(long, value_name = "FILE")]
    key: PathBuf,

    /// Folder whose files are served
    #[arg(long, value_name = "FOLDER")]
    root: Option<PathBuf>,

    /// Who makes and opens records
    #[arg(long, value_enum, default_value_t = Layer::Batch)]
    layer: Layer,

    /// Cipher suites by their registered names, separated by commas [default: all of
    /// the layer but those of CCM_8]
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    suites: Vec<String>,

    /// The most connections at a time
    #[arg(long, value_name = "N", default_value = "1024", value_parser = count)]
    connections: usize,

    /// How long to wait for more connections when one has something, in microseconds
    #[arg(long, value_name = "MICROSECONDS", default_value = "0", value_parser = microseconds)]
    gather: Duration,

    /// Seconds without a request, or without a byte of an answer taken, until a connection is
    /// closed
    #[arg(long, value_name = "SECONDS", default_value = "60", value_parser = seconds)]
    idle: Duration,

    /// Seconds in which answers are finished after SIGTERM or SIGINT
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = seconds)]
    grace: Duration,

    /// Records after which a key is changed, if that is before its suite's limit
    #[arg(long, value_name = "RECORDS", default_value_t = u64::MAX, hide_default_value = true,
        value_parser = clap::value_parser!(u64).range(16..))]
    rekey: u64,
}

/// Who makes and opens records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Layer {
    /// This server, those of all connections together
    Batch,
    /// This server, one after the other
    Single,
    /// rustls, with the suites of aescomb-rustls
    Rustls,
    /// rustls, with the suites of AWS-LC
    AwsLc,
    /// rustls, with the suites of rustls-ccm and AWS-LC
    RustlsCcm,
}

fn seconds(text: &str) -> Result<Duration, String> {
    match text.parse() {
        Ok(n @ 1..=86400) => Ok(Duration::from_secs(n)),
        _ => Err("allowed: 1 to 86400".into()),
    }
}

fn count(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(n @ 1..=1_000_000) => Ok(n),
        _ => Err("allowed: 1 to 1000000".into()),
    }
}

fn microseconds(text: &str) -> Result<Duration, String> {
    match text.parse() {
        Ok(n @ 0..=100_000) => Ok(Duration::from_micros(n)),
        _ => Err("allowed: 0 to 100000".into()),
    }
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("tls-server: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), String> {
    let options = Options::parse();
    let tls = tls::config(options.layer, &options.suites, &options.cert, &options.key)?;
    let objects = object::Objects::new(options.root.as_deref());
    let root = options.root.clone().unwrap_or_default();
    let objects = objects.map_err(|e| format!("{}: {e}", root.display()))?;
    let listen = options.listen;
    let server = server::Server::new(options, tls, objects);
    let (server, address) = server.map_err(|e| format!("{listen}: {e}"))?;
    println!("listening on {address}");
    let done = server.run().map_err(|e| e.to_string())?;
    println!(
        "{} connections; records sealed: {} in {} calls; opened: {} in {} calls",
        done.connections,
        done.sealed.records,
        done.sealed.calls,
        done.opened.records,
        done.opened.calls
    );
    Ok(())
}
