//! Alphabets: characters in the place of numerals.
#![forbid(unsafe_code)]

use crate::error::{Allowed, Error, Field};
use alloc::vec::Vec;

/// Characters of ASCII, which stand for the numerals from 0 on.
#[derive(Clone)]
pub(super) struct Alphabet {
    /// Where codes of characters follow each other as their numerals do.
    runs: Vec<Run>,
    len: u32,
    /// Bit c for the character of code c.
    set: u128,
}

#[derive(Clone, Copy)]
struct Run {
    character: u8,
    numeral: u8,
    len: u8,
}

impl Alphabet {
    pub(super) fn new(characters: &str) -> Result<Self, Error> {
        let (mut runs, mut set, mut len) = (Vec::<Run>::new(), 0u128, 0);
        for (position, c) in characters.chars().enumerate() {
            let code = match u8::try_from(c) {
                Ok(code) if c.is_ascii() && set >> code & 1 == 0 => code,
                _ => {
                    let position = Some(position);
                    // Of those that are not there yet.
                    let allowed = Allowed::Characters(!set);
                    return Err(Error::new(
                        Field::Alphabet { position },
                        c as usize,
                        allowed,
                    ));
                }
            };
            set |= 1 << code;
            match runs.last_mut() {
                Some(run) if run.character + run.len == code => run.len += 1,
                _ => runs.push(Run {
                    character: code,
                    numeral: len,
                    len: 1,
                }),
            }
            len += 1;
        }
        let len = u32::from(len);
        Ok(Alphabet { runs, len, set })
    }

    pub(super) fn len(&self) -> u32 {
        self.len
    }

    pub(super) fn allowed(&self) -> Allowed {
        Allowed::Characters(self.set)
    }

    /// Whether it has all of `characters`. No branch and no index depends on them.
    pub(super) fn has(&self, characters: &[u8]) -> bool {
        /// Characters that are looked at together.
        const STEP: usize = 64;
        let mut all = [0xff; STEP];
        for characters in characters.chunks(STEP) {
            let mut found = [0; STEP];
            for run in &self.runs {
                for (found, c) in found.iter_mut().zip(characters) {
                    *found |= below(c.wrapping_sub(run.character), run.len);
                }
            }
            for (all, found) in all.iter_mut().zip(&found[..characters.len()]) {
                *all &= found;
            }
        }
        all.iter().fold(0xff, |all, found| all & found) == 0xff
    }

    /// The first that it has not.
    pub(super) fn find_bad(&self, characters: &[u8]) -> Option<usize> {
        characters
            .iter()
            .position(|c| !c.is_ascii() || self.set >> c & 1 == 0)
    }

    /// Numerals in the place of characters, all of which are in the alphabet.
    pub(super) fn decode(&self, characters: &mut [u8]) {
        self.replace(characters, |run| (run.character, run.numeral));
    }

    /// Characters in the place of numerals.
    pub(super) fn encode(&self, numerals: &mut [u8]) {
        self.replace(numerals, |run| (run.numeral, run.character));
    }

    #[inline(always)]
    fn replace(&self, values: &mut [u8], of: impl Fn(&Run) -> (u8, u8)) {
        // Every value is in one run; with one, nothing has to be looked for.
        if let [run] = &self.runs[..] {
            let (from, to) = of(run);
            let step = to.wrapping_sub(from);
            values.iter_mut().for_each(|x| *x = x.wrapping_add(step));
            return;
        }
        for value in values.chunks_mut(64) {
            let mut found = [0; 64];
            for run in &self.runs {
                let (from, to) = of(run);
                for (found, x) in found.iter_mut().zip(&*value) {
                    let place = x.wrapping_sub(from);
                    *found |= place.wrapping_add(to) & below(place, run.len);
                }
            }
            value.copy_from_slice(&found[..value.len()]);
        }
    }
}

/// All ones where `place` is below `len`, at most 128; otherwise zeros. By the sign of the
/// difference: a comparison may become a branch.
#[inline(always)]
fn below(place: u8, len: u8) -> u8 {
    (u16::from(place).wrapping_sub(u16::from(len)) >> 8) as u8
}
