//! Names of modes on the command line.

use aescomb::{Algorithm, Mode, UnknownName};
use std::str::FromStr;

/// A mode with or without a key length: `cbc` or `aes-256-cbc`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ModeName {
    pub(crate) mode: Mode,
    pub(crate) key_bits: Option<usize>,
}

impl FromStr for ModeName {
    type Err = UnknownName;

    fn from_str(name: &str) -> Result<ModeName, UnknownName> {
        if name.starts_with("aes-") {
            let Algorithm { mode, key_bits } = name.parse()?;
            return Ok(ModeName {
                mode,
                key_bits: Some(key_bits),
            });
        }
        Ok(ModeName {
            mode: name.parse()?,
            key_bits: None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms() {
        let name: ModeName = "cbc".parse().unwrap();
        assert_eq!((name.mode, name.key_bits), (Mode::Cbc, None));
        let name: ModeName = "aes-256-cbc-pkcs7".parse().unwrap();
        assert_eq!((name.mode, name.key_bits), (Mode::CbcPkcs7, Some(256)));
        for wrong in [
            "",
            "CBC",
            "aes",
            "aes-cbc",
            "aes-100-cbc",
            "aes-128-",
            "cbc-128",
        ] {
            assert!(wrong.parse::<ModeName>().is_err(), "{wrong}");
        }
    }
}
