//! Messages, and what must become of them.
//!
//! `unsafe` here rests on one fact: the buffers of a batch's rings stay where they are.
#![allow(unsafe_code)]

use crate::case::Case;
use aes::cipher::InOutBuf;
use aescomb::Op;
use aescomb_measure::{Error, Ring, Workload};

/// Messages to be done, with what the textbook makes of them.
pub struct Problem {
    pub case: Case,
    seed: u64,
    texts: Vec<Vec<u8>>,
    /// Of 16 bytes, of which the mode takes the first.
    nonces: Vec<[u8; 16]>,
    tags: Vec<[u8; 16]>,
    /// Of every message.
    data: Vec<u8>,
    done: Vec<Vec<u8>>,
    /// Empty where there are none.
    done_tags: Vec<[u8; 16]>,
}

impl Problem {
    pub fn new(
        case: Case,
        workload: &Workload,
        data_bytes: usize,
        seed: u64,
    ) -> Result<Problem, Error> {
        let ring = workload.ring(seed)?;
        let nonces = (0..ring.len() as u128).map(|i| (i * 0x0123_4567_89ab_cdef + 7).to_le_bytes());
        let mut problem = Problem {
            case,
            seed,
            texts: ring.split().into_iter().map(<[u8]>::to_vec).collect(),
            nonces: nonces.collect(),
            tags: vec![[0; 16]; ring.len()],
            data: match case.is_aead() {
                true => vec![0xda; data_bytes],
                false => Vec::new(),
            },
            done: Vec::new(),
            done_tags: Vec::new(),
        };
        problem.solve();
        Ok(problem)
    }

    /// Works out by the textbook what is expected, and what is to be opened.
    fn solve(&mut self) {
        let Case { mode, op, .. } = self.case;
        let (name, key) = (mode.info().name, self.case.key());
        // For SIV no component and one that is empty are different.
        let data = &[&self.data[..]][..usize::from(!self.data.is_empty())];
        for (text, nonce) in self.texts.iter().zip(&self.nonces) {
            let nonce = &nonce[..self.case.nonce_bytes()];
            let done = match op {
                Op::Encrypt => aescomb_ref::encrypt(name, key, nonce, text).map(|t| (t, None)),
                Op::Decrypt => aescomb_ref::decrypt(name, key, nonce, text).map(|t| (t, None)),
                Op::Mac | Op::Verify => {
                    aescomb_ref::mac(name, key, nonce, text).map(|tag| (text.clone(), Some(tag)))
                }
                Op::Seal | Op::Open => aescomb_ref::seal(name, key, nonce, data, text, 16)
                    .map(|sealed| (sealed.text, Some(sealed.tag))),
            };
            let (text, tag) = done.expect("a message that the mode takes");
            self.done.push(text);
            let tag = tag.map(|tag| <[u8; 16]>::try_from(tag).expect("16 bytes"));
            self.done_tags.extend(tag);
        }
        if op == Op::Open {
            std::mem::swap(&mut self.texts, &mut self.done);
            self.tags = self.done_tags.clone();
            if self.case.forged {
                self.tags.iter_mut().for_each(|tag| tag[7] ^= 0x10);
                self.done_tags = self.tags.clone();
            }
        }
    }

    pub fn messages(&self) -> usize {
        self.texts.len()
    }

    /// Messages that have to be refused.
    pub fn refused(&self) -> usize {
        match self.case.forged {
            true => self.messages(),
            false => 0,
        }
    }

    /// The messages, for a competitor of its own.
    pub fn batch(&self) -> Result<Batch, Error> {
        let lengths: Vec<usize> = self.texts.iter().map(Vec::len).collect();
        let mut source = Ring::from_contents(&self.texts, 0, self.seed)?;
        let mut target = match self.case.in_place() {
            true => None,
            // At another offset than the source.
            false => Some(Ring::new(&lengths, self.seed.wrapping_add(1))?),
        };
        let pointers = |ring: &mut Ring| -> Vec<*mut u8> {
            let texts = ring.split_mut();
            texts.into_iter().map(<[u8]>::as_mut_ptr).collect()
        };
        let from = pointers(&mut source);
        let to = target.as_mut().map_or_else(|| from.clone(), pointers);
        let places = from.into_iter().zip(to).zip(lengths);
        Ok(Batch {
            nonce_bytes: self.case.nonce_bytes(),
            source,
            target,
            places: places
                .map(|((from, to), len)| Place { from, to, len })
                .collect(),
            nonces: self.nonces.clone(),
            tags: self.tags.clone(),
            data: self.data.clone(),
        })
    }

    /// What is wrong with a batch that somebody has done and of which he refused so many
    /// messages.
    pub fn judge(&self, batch: &Batch, refused: usize) -> Result<(), String> {
        if refused != self.refused() {
            return Err(format!(
                "{refused} of {} messages refused instead of {}",
                self.messages(),
                self.refused()
            ));
        }
        // What is left of a forged message is everybody's own affair.
        let result = batch.target.as_ref().unwrap_or(&batch.source);
        let wrong = (0..self.messages()).find(|i| {
            let text_is_wrong = !self.case.forged && result.message(*i) != self.done[*i];
            let tag_is_wrong = self
                .done_tags
                .get(*i)
                .is_some_and(|tag| batch.tags[*i] != *tag);
            text_is_wrong || tag_is_wrong
        });
        match wrong {
            None => Ok(()),
            Some(i) => Err(format!(
                "message {i} of {}, {} bytes long, is wrong",
                self.messages(),
                self.done[i].len()
            )),
        }
    }
}

/// One competitor's messages.
pub struct Batch {
    pub nonce_bytes: usize,
    pub source: Ring,
    /// `None`: in place.
    pub target: Option<Ring>,
    /// The messages in them.
    pub places: Vec<Place>,
    pub nonces: Vec<[u8; 16]>,
    pub tags: Vec<[u8; 16]>,
    /// Of every message.
    pub data: Vec<u8>,
}

/// Where a message is, and where its result goes, found once, as C libraries have them.
pub struct Place {
    pub from: *const u8,
    pub to: *mut u8,
    pub len: usize,
}

/// The same, borrowed.
pub enum Text<'a> {
    InPlace(&'a mut [u8]),
    Copy(&'a [u8], &'a mut [u8]),
}

impl<'a> Text<'a> {
    pub fn read(&self) -> &[u8] {
        match self {
            Text::InPlace(text) => text,
            Text::Copy(from, _) => from,
        }
    }

    /// For those who take either.
    pub fn either(self) -> InOutBuf<'a, 'a, u8> {
        match self {
            Text::InPlace(text) => text.into(),
            Text::Copy(from, to) => InOutBuf::new(from, to).expect("equal lengths"),
        }
    }

    /// For aescomb.
    pub fn ours(self) -> aescomb::Text<'a> {
        match self {
            Text::InPlace(text) => aescomb::Text::in_place(text),
            Text::Copy(from, to) => aescomb::Text::copy(from, to),
        }
    }

    /// For those who work in place only.
    pub fn in_place(self) -> &'a mut [u8] {
        match self {
            Text::InPlace(text) => text,
            Text::Copy(from, to) => {
                to.copy_from_slice(from);
                to
            }
        }
    }
}

/// One message of a batch.
pub struct Item<'a> {
    pub text: Text<'a>,
    pub nonce: &'a [u8],
    pub data: &'a [u8],
    pub tag: &'a mut [u8; 16],
}

impl Batch {
    /// Does message after message by `f`, which says whether the tag is right; how many
    /// were refused.
    #[inline(always)]
    pub fn each(&mut self, mut f: impl FnMut(Item<'_>) -> bool) -> usize {
        let mut refused = 0;
        let in_place = self.target.is_none();
        let messages = self.places.iter().zip(&self.nonces).zip(&mut self.tags);
        for ((place, nonce), tag) in messages {
            let Place { from, to, len } = *place;
            // SAFETY: so many bytes of the batch's rings, which are borrowed; in place, `from` is not
            // used.
            let text = unsafe {
                let to = std::slice::from_raw_parts_mut(to, len);
                match in_place {
                    true => Text::InPlace(to),
                    false => Text::Copy(std::slice::from_raw_parts(from, len), to),
                }
            };
            let item = Item {
                text,
                nonce: &nonce[..self.nonce_bytes],
                data: &self.data,
                tag,
            };
            refused += usize::from(!f(item));
        }
        refused
    }
}

/// Somebody who can do a case, with a batch of his own.
pub trait Competitor {
    /// Does all messages; how many were refused, or `None` if it cannot do them.
    fn run(&mut self) -> Option<usize>;
    fn batch(&self) -> &Batch;
}

/// Does all messages of a batch; how many were refused.
pub type Run = Box<dyn FnMut(&mut Batch) -> usize>;

/// A competitor that is a function.
pub struct By {
    pub batch: Batch,
    pub run: Run,
}

impl Competitor for By {
    fn run(&mut self) -> Option<usize> {
        Some((self.run)(&mut self.batch))
    }

    fn batch(&self) -> &Batch {
        &self.batch
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn workload() -> Workload {
        Workload {
            lengths: vec![16, 48, 160],
            contents: None,
        }
    }

    #[test]
    fn a_batch_that_was_not_done_is_wrong() {
        for case in Case::ALL {
            let problem = Problem::new(*case, &workload(), 12, 5).unwrap();
            let batch = problem.batch().unwrap();
            let untouched = problem.judge(&batch, problem.refused());
            // Of forged messages there is nothing to see but that they are refused.
            assert_eq!(untouched.is_ok(), case.forged, "{}", case.name());
            assert!(problem.judge(&batch, 1).is_err(), "{}", case.name());
        }
    }

    #[test]
    fn a_batch_that_was_done_is_right() {
        for case in Case::ALL {
            let problem = Problem::new(*case, &workload(), 12, 5).unwrap();
            let mut batch = problem.batch().unwrap();
            assert_eq!(batch.target.is_none(), case.in_place());
            let mut done = problem.done.iter();
            let mut tags = problem.done_tags.iter();
            let refused = batch.each(|item| {
                let text = item.text.in_place();
                text.copy_from_slice(done.next().unwrap());
                if let Some(tag) = tags.next() {
                    *item.tag = *tag;
                }
                !case.forged
            });
            problem.judge(&batch, refused).unwrap();
        }
    }

    #[test]
    fn competitors_get_the_same_messages() {
        for case in Case::ALL {
            let problem = Problem::new(*case, &workload(), 12, 5).unwrap();
            let [a, b] = [problem.batch().unwrap(), problem.batch().unwrap()];
            assert_eq!(a.source.split(), b.source.split());
            assert_eq!(a.source.page_offset(), b.source.page_offset());
            assert_eq!((a.nonces, a.tags, a.data), (b.nonces, b.tags, b.data));
        }
    }
}
