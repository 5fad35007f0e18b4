//! Keys of bytes: checked, and expanded, several at once.

use crate::backend::Backend;
use crate::cipher;
use crate::error::{Allowed, Error, Field};
use crate::expanded::Expanded;
use crate::mode::Mode;
use crate::schedule::WhichKey;
use subtle::ConstantTimeEq;

/// Keys that are expanded together.
const STEP: usize = 16;

/// A key for `mode`, which takes `raw`.
pub(crate) fn one(mode: Mode, raw: &[u8]) -> Result<Expanded, Error> {
    check_key(mode, raw)?;
    let mut key = [Expanded::blank(mode)];
    expand(Backend::preferred(false), &[raw], &mut key);
    let [key] = key;
    Ok(key)
}

/// Checks keys that are to be expanded: what is wrong with the first that is refused.
pub(crate) fn check<K: AsRef<[u8]>>(mode: Mode, raw: &[K]) -> Result<(), Error> {
    let check = |(i, raw): (usize, &K)| check_key(mode, raw.as_ref()).map_err(|e| e.at(i));
    raw.iter().enumerate().try_for_each(check)
}

/// Expands keys that were checked into as many places, several at once. Nothing of what
/// was there is left.
pub(crate) fn many<K: AsRef<[u8]>>(
    backend: Backend,
    mode: Mode,
    raw: &[K],
    table: &mut [Expanded],
) -> Result<(), Error> {
    let steps = raw.chunks(STEP).zip(table.chunks_mut(STEP));
    for (step, (raw, out)) in steps.enumerate() {
        let mut refs: [&[u8]; STEP] = [&[]; STEP];
        for (i, (r, raw)) in refs.iter_mut().zip(raw).enumerate() {
            *r = raw.as_ref();
            // Once more, as it need not be what it was.
            check_key(mode, r).map_err(|e| e.at(step * STEP + i))?;
        }
        // Runs of one length are expanded together.
        let mut start = 0;
        while start < raw.len() {
            let len = refs[start].len();
            let run = refs[start..raw.len()]
                .iter()
                .take_while(|r| r.len() == len)
                .count();
            let (refs, out) = (&refs[start..start + run], &mut out[start..start + run]);
            // Another mode or size may have used more of a key, which is wiped then.
            for key in &mut *out {
                if key.mode() != mode || key.rounds() > rounds(mode, len) {
                    *key = Expanded::blank(mode);
                }
            }
            expand(backend, refs, out);
            start += run;
        }
    }
    Ok(())
}

/// Whether a mode takes a key.
fn check_key(mode: Mode, raw: &[u8]) -> Result<(), Error> {
    let (bytes, allowed) = (raw.len(), mode.info().key_bytes);
    if !allowed.contains(&bytes) {
        return Err(Error::new(Field::KeyLength, bytes, Allowed::OneOf(allowed)));
    }
    let (first, second) = raw.split_at(bytes / 2);
    if mode.keys_differ() && bool::from(first.ct_eq(second)) {
        return Err(Error::new(Field::KeyHalves, bytes / 2, Allowed::Nothing));
    }
    Ok(())
}

/// Rounds of AES under a key of `len` bytes, a half of which is each of two keys.
fn rounds(mode: Mode, len: usize) -> usize {
    (len >> u32::from(mode.info().two_keys)) / 4 + 6
}

/// Expands keys of one length, at most [`STEP`].
fn expand(backend: Backend, raw: &[&[u8]], out: &mut [Expanded]) {
    let mode = out[0].mode();
    let info = mode.info();
    // A half of each key where the mode has two.
    let each = raw[0].len() >> u32::from(info.two_keys);
    for key in out.iter_mut() {
        key.renew(rounds(mode, raw[0].len()));
    }
    let mut halves = [&[][..]; STEP];
    if info.two_keys {
        for (half, raw) in halves.iter_mut().zip(raw) {
            *half = &raw[each..];
        }
        cipher::expand(backend, &halves[..raw.len()], out, WhichKey::Second);
    }
    for (half, raw) in halves.iter_mut().zip(raw) {
        *half = &raw[..each];
    }
    cipher::expand(backend, &halves[..raw.len()], out, WhichKey::First);
    for key in out {
        mode.constants(backend, key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::AnyKey;
    use crate::mode::{Kind, Lengths};
    use alloc::vec::Vec;

    /// A place in a table that is used again holds what a new key holds, whatever was
    /// there before.
    #[test]
    fn reused_tables_keep_nothing() {
        let raw: Vec<u8> = (1..=64).collect();
        let parts = |key: &AnyKey| {
            let key = key.expanded();
            (key.enc, key.second, key.sub, key.has_second)
        };
        for before in Mode::ALL {
            for mode in Mode::ALL {
                let longest = |mode: &Mode| *mode.info().key_bytes.iter().max().unwrap();
                let shortest = mode.info().key_bytes.iter().min().unwrap();
                let mut table = Vec::new();
                AnyKey::expand_many_for(*before, &[&raw[..longest(before)]; 3], &mut table)
                    .unwrap();
                AnyKey::expand_many_for(*mode, &[&raw[..*shortest]; 3], &mut table).unwrap();
                let new = AnyKey::for_mode(*mode, &raw[..*shortest]).unwrap();
                for key in &table {
                    assert!(parts(key) == parts(&new), "{before}, then {mode}");
                    assert_eq!(key.algorithm(), new.algorithm());
                }
            }
        }
    }

    /// The inverse cipher's round keys are those of the key, whether they are made for a call
    /// or kept, after the key's place was used again, and in a clone.
    #[test]
    fn inverse_keys_are_made_when_they_are_wanted() {
        let ciphers = Mode::ALL.iter().filter(|mode| {
            let info = mode.info();
            info.kind == Kind::Cipher && info.inverse && info.lengths != Lengths::Padded
        });
        for (mode, len) in
            ciphers.flat_map(|mode| mode.info().key_bytes.iter().map(move |n| (mode, n)))
        {
            let nonce = &[3; 16][..mode.info().nonce_bytes.1];
            let mut table = Vec::new();
            for first in [1, 100] {
                let raw: Vec<u8> = (first..).take(*len).collect();
                let new = AnyKey::for_mode(*mode, &raw).unwrap();
                AnyKey::expand_many_for(*mode, &[&raw], &mut table).unwrap();
                assert!(table[0].expanded().inverse().is_none(), "{mode}");
                for call in 0..3 {
                    let clone = table[0].clone();
                    assert!(clone.expanded().inverse().is_none(), "{mode}");
                    for key in [&table[0], &clone] {
                        let mut data = [call; 48];
                        new.encrypt_in_place(nonce, &mut data).unwrap();
                        key.decrypt_in_place(nonce, &mut data).unwrap();
                        assert_eq!(data, [call; 48], "{mode}");
                    }
                    // One call allocates nothing.
                    assert!(
                        call > 0 || table[0].expanded().inverse().is_none(),
                        "{mode}"
                    );
                }
            }
        }
    }
}
