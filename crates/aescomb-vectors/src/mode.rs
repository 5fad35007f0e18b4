//! What readers have to know of a mode: names, and what a vector of it has.

/// A mode, as far as readers have to know it.
#[derive(Debug, PartialEq, Eq)]
pub struct Mode {
    /// Its name, in lower case.
    pub name: &'static str,
    /// What it does.
    pub kind: Kind,
    /// Whether it takes a nonce.
    pub nonce: Nonce,
    /// Its key is two AES keys.
    pub two_keys: bool,
    /// The longest tag, in bytes: that of a file which states no length.
    pub tag_bytes: usize,
    /// Its tag stands in front of what it puts out, not at the end.
    pub tag_first: bool,
}

/// What a mode does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Encrypts.
    Cipher,
    /// Authenticates.
    Mac,
    /// Encrypts and authenticates.
    Aead,
}

/// Whether a mode takes a nonce.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nonce {
    /// It takes none.
    None,
    /// It takes one, and can do without.
    Optional,
    /// It takes one.
    Needed,
}

const fn cipher(name: &'static str) -> Mode {
    Mode {
        name,
        kind: Kind::Cipher,
        nonce: Nonce::Needed,
        two_keys: false,
        tag_bytes: 0,
        tag_first: false,
    }
}

const fn mac(name: &'static str, nonce: Nonce) -> Mode {
    Mode {
        kind: Kind::Mac,
        nonce,
        tag_bytes: 16,
        ..cipher(name)
    }
}

const fn aead(name: &'static str, tag_bytes: usize) -> Mode {
    Mode {
        kind: Kind::Aead,
        tag_bytes,
        ..cipher(name)
    }
}

/// All modes that files can be for.
pub static MODES: &[Mode] = &[
    Mode {
        nonce: Nonce::None,
        ..cipher("ecb")
    },
    Mode {
        nonce: Nonce::None,
        ..cipher("ecb-pkcs7")
    },
    cipher("cbc"),
    cipher("cbc-pkcs7"),
    cipher("cfb128"),
    cipher("ofb"),
    cipher("ctr"),
    cipher("ctr32"),
    Mode {
        two_keys: true,
        ..cipher("xts")
    },
    mac("cmac", Nonce::None),
    mac("pmac", Nonce::None),
    mac("gmac", Nonce::Needed),
    aead("ccm", 16),
    aead("gcm", 16),
    aead("ocb", 16),
    aead("eax", 16),
    Mode {
        nonce: Nonce::Optional,
        two_keys: true,
        // The synthetic IV.
        tag_first: true,
        ..aead("siv", 16)
    },
    aead("gcm-siv", 16),
    aead("cloc", 8),
    aead("silc", 8),
    aead("jambu", 8),
    aead("otr", 16),
    aead("copa", 17),
    aead("poet", 16),
    Mode {
        tag_first: true,
        ..aead("julius", 16)
    },
    aead("mcoe-g", 16),
    aead("cobra", 16),
    aead("cpfb", 16),
    aead("silver", 16),
    aead("pmac-ctr", 16),
];

/// Words that stand for a mode in files, beside the names themselves, and the mode's name.
/// There may be none of that name, so that a file for it is not taken for another mode's.
const ALIASES: &[(&str, &str)] = &[
    ("CFB1", "cfb1"),
    ("CFB8", "cfb8"),
    ("COUNTER", "ctr"),
    ("OCB3", "ocb"),
];

impl Mode {
    /// The mode of this name, in lower case.
    pub fn named(name: &str) -> Option<&'static Mode> {
        MODES.iter().find(|mode| mode.name == name)
    }

    /// The mode of a name with or without the size of an AES key, and that size in bits:
    /// `aes-128-cbc`, `cbc` and `cbc-128`.
    pub(crate) fn sized(name: &str) -> Option<(&'static Mode, Option<usize>)> {
        let name = name.to_lowercase();
        let bits = |bits: &str| -> Option<usize> {
            bits.parse().ok().filter(|n| [128, 192, 256].contains(n))
        };
        if let Some(mode) = Mode::named(&name) {
            return Some((mode, None));
        }
        let (size, mode) = match name.strip_prefix("aes-") {
            Some(rest) => rest.split_once('-')?,
            None => {
                let (mode, size) = name.rsplit_once('-')?;
                (size, mode)
            }
        };
        Some((Mode::named(mode)?, Some(bits(size)?)))
    }

    /// Bytes of a key that is made of AES keys of so many bits.
    pub fn key_bytes(&self, aes_bits: usize) -> usize {
        match self.two_keys {
            true => aes_bits / 4,
            false => aes_bits / 8,
        }
    }

    /// Ciphertext and tag of all that a mode puts out; `None` if that is shorter than a tag.
    pub(crate) fn split(&self, mut out: Vec<u8>) -> Option<(Vec<u8>, Vec<u8>)> {
        let text = out.len().checked_sub(self.tag_bytes)?;
        let end = out.split_off(if self.tag_first { self.tag_bytes } else { text });
        Some(match self.tag_first {
            true => (end, out),
            false => (out, end),
        })
    }
}

/// The name of the longest known word that fits one in the text; there may be no such mode.
pub(crate) fn in_words(text: &str, fits: impl Fn(&str, &str) -> bool) -> Option<&'static str> {
    let text = text.to_uppercase();
    let words: Vec<&str> = text
        .split(|c: char| !c.is_ascii_alphanumeric() && c != '-')
        // A name with hyphens is one word and several.
        .flat_map(|word| std::iter::once(word).chain(word.split('-')))
        .collect();
    let fits = |known: &str| {
        words
            .iter()
            .any(|word| fits(word, known) || known.contains('-') && word.ends_with(known))
    };
    let names = MODES
        .iter()
        .map(|mode| (mode.name.to_uppercase(), mode.name));
    ALIASES
        .iter()
        .map(|(word, name)| ((*word).to_owned(), *name))
        .chain(names)
        .filter(|(known, _)| fits(known))
        .max_by_key(|(known, _)| known.len())
        .map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        for (name, expected) in [
            ("aes-192-gcm-siv", Some(("gcm-siv", Some(192)))),
            ("gcm-siv", Some(("gcm-siv", None))),
            ("gcm-siv-192", Some(("gcm-siv", Some(192)))),
            ("gcm-siv-193", None),
            ("aes-gcm-siv", None),
            ("", None),
        ] {
            let found = Mode::sized(name).map(|(mode, bits)| (mode.name, bits));
            assert_eq!(found, expected, "{name}");
        }
    }

    #[test]
    fn whole_outputs() {
        let out: Vec<u8> = (0..40).collect();
        for (name, ct, tag) in [
            ("copa", 0..23, 23..40),
            ("poet", 0..24, 24..40),
            ("julius", 16..40, 0..16),
        ] {
            let mode = Mode::named(name).unwrap();
            let expected = (out[ct].to_vec(), out[tag].to_vec());
            assert_eq!(mode.split(out.clone()), Some(expected), "{name}");
            assert_eq!(mode.split(vec![0; 15]), None);
        }
    }
}
