//! What sizes a mode takes, in a few characters: for tables and for messages
//! about sizes that it does not take.

use aescomb::Info;

/// Larger than any nonce that makes sense: the most is then no limit worth
/// stating.
const NO_LIMIT: usize = 1 << 16;

/// Bytes of nonce: `16`, `7-13`, `1 or more`, or `-` for a mode without.
pub(crate) fn nonces(info: &Info) -> String {
    match info.nonce_bytes {
        (_, 0) => "-".into(),
        (least, most) if least == most => most.to_string(),
        (least, most) if most >= NO_LIMIT => format!("{least} or more"),
        (least, most) => format!("{least}-{most}"),
    }
}

/// Bytes of tag: `16`, `4-16`, `4,8,12-16`, `4,6..16`, or `-` for a mode without.
pub(crate) fn tags(info: &Info) -> String {
    match info.tag_bytes {
        [] => "-".into(),
        list => series(list),
    }
}

/// A list of ascending numbers; three and more at equal distances are written as
/// their ends.
fn series(list: &[usize]) -> String {
    let mut words = Vec::new();
    let mut rest = list;
    while let [first, more @ ..] = rest {
        let step = more.first().map_or(0, |second| second - first);
        let run = rest
            .iter()
            .enumerate()
            .take_while(|(i, n)| **n == first + i * step)
            .count();
        let (word, taken) = match (step, run) {
            (1, 3..) => (format!("{first}-{}", rest[run - 1]), run),
            // Two steps are as short in full.
            (_, 4..) => (format!("{first},{}..{}", rest[1], rest[run - 1]), run),
            _ => (first.to_string(), 1),
        };
        words.push(word);
        rest = &rest[taken..];
    }
    words.join(",")
}

/// Bits of key: `128/192/256`, and `2x128/2x256` for a mode with two keys.
pub(crate) fn keys(info: &Info) -> String {
    let words: Vec<String> = info
        .key_bytes
        .iter()
        .map(|bytes| match info.two_keys {
            true => format!("2x{}", 4 * bytes),
            false => (8 * bytes).to_string(),
        })
        .collect();
    words.join("/")
}

/// Bytes of a key that is made of AES keys of so many bits.
pub(crate) fn key_bytes(info: &Info, aes_bits: usize) -> usize {
    match info.two_keys {
        true => aes_bits / 4,
        false => aes_bits / 8,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use aescomb::Mode;

    #[test]
    fn of_modes() {
        let all = |mode: Mode| {
            let info = mode.info();
            (nonces(info), tags(info), keys(info))
        };
        let words = |a: &str, b: &str, c: &str| (a.into(), b.into(), c.into());
        assert_eq!(all(Mode::Ecb), words("-", "-", "128/192/256"));
        assert_eq!(all(Mode::Cmac), words("-", "4-16", "128/192/256"));
        assert_eq!(all(Mode::Ccm), words("7-13", "4,6..16", "128/192/256"));
        assert_eq!(
            all(Mode::Gcm),
            words("1 or more", "4,8,12-16", "128/192/256")
        );
        assert_eq!(all(Mode::Ocb), words("1-15", "8,12,16", "128/192/256"));
        assert_eq!(all(Mode::Xts), words("16", "-", "2x128/2x256"));
        assert_eq!(key_bytes(Mode::Siv.info(), 256), 64);
        assert_eq!(key_bytes(Mode::Gcm.info(), 256), 32);
    }

    #[test]
    fn of_lists() {
        for (list, text) in [
            (&[16][..], "16"),
            (&[4, 5], "4,5"),
            (&[4, 5, 6], "4-6"),
            (&[1, 2, 3, 9, 20], "1-3,9,20"),
            (&[2, 4, 6], "2,4,6"),
            (&[2, 4, 6, 8, 9, 10], "2,4..8,9,10"),
        ] {
            assert_eq!(series(list), text);
        }
    }
}
