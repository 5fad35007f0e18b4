//! Keys given on the command line, wiped after use.

use crate::failure::Failure;
use std::io::Read;
use std::path::PathBuf;
use zeroize::Zeroizing;

/// Where the key comes from: exactly one of these.
#[derive(Debug, clap::Args)]
#[group(required = true, multiple = false)]
pub(crate) struct KeyArgs {
    /// Key in hexadecimal
    ///
    /// Others on this machine can read it in the list of processes, and shells keep it in their
    /// history: for anything but tests use --key-file or --key-env.
    #[arg(long, value_name = "HEX")]
    key: Option<String>,
    /// File that holds the key in hexadecimal
    ///
    /// White space around the digits, such as a line end, is ignored.
    #[arg(long, value_name = "FILE")]
    key_file: Option<PathBuf>,
    /// Environment variable that holds the key in hexadecimal
    #[arg(long, value_name = "NAME")]
    key_env: Option<String>,
}

/// More than any key in hexadecimal has.
const MOST_CHARACTERS: u64 = 4096;

impl KeyArgs {
    /// The key's bytes. What went into them is wiped, and no error shows them.
    pub(crate) fn read(self) -> Result<Zeroizing<Vec<u8>>, Failure> {
        if let Some(text) = self.key {
            return decode(&Zeroizing::new(text), "--key");
        }
        if let Some(path) = self.key_file {
            let name = path.display().to_string();
            // Read into memory that does not move while it grows: moving would
            // leave copies.
            let mut text = Zeroizing::new(String::with_capacity(2 * MOST_CHARACTERS as usize));
            std::fs::File::open(&path)
                .and_then(|file| file.take(MOST_CHARACTERS).read_to_string(&mut text))
                .map_err(|error| Failure::Misuse(format!("key file {name}: {error}")))?;
            return decode(&text, &format!("key file {name}"));
        }
        let name = self.key_env.unwrap_or_default();
        match std::env::var(&name) {
            Ok(text) => decode(
                &Zeroizing::new(text),
                &format!("environment variable {name}"),
            ),
            Err(std::env::VarError::NotPresent) => Err(Failure::Misuse(format!(
                "environment variable {name} is not set"
            ))),
            // Its error would show the contents.
            Err(std::env::VarError::NotUnicode(_)) => {
                Err(not_hexadecimal(&format!("environment variable {name}")))
            }
        }
    }
}

fn decode(text: &str, place: &str) -> Result<Zeroizing<Vec<u8>>, Failure> {
    let text = text.trim();
    let mut key = Zeroizing::new(vec![0; text.len() / 2]);
    hex::decode_to_slice(text, &mut key).map_err(|_| not_hexadecimal(place))?;
    Ok(key)
}

fn not_hexadecimal(place: &str) -> Failure {
    Failure::Misuse(format!(
        "{place}: the key is not an even number of hexadecimal digits"
    ))
}
