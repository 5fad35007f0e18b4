//! What is fetched into the caches some time before it is used.

use crate::backend::is_zen;
use crate::block::{LINE, MAX_LANES};
use crate::expanded::Expanded;
use crate::hashing::hash_of;
use crate::isa::Isa;
use crate::job::Job;
use crate::key_set::KeySet;
use crate::pass::Pass;
use core::ops::Range;

/// So many messages before its own a key is fetched.
pub(crate) const AHEAD: usize = 16;

/// Fetches the round keys that a message wants of a key, but those in its first line.
#[inline(always)]
pub(crate) fn fetch<S: Isa, M: Pass>(s: S, key: &Expanded) {
    if const { M::SHAPE.uses.inverse }
        && let Some(inverse) = key.inverse()
    {
        s.fetch(inverse[0].as_ptr());
        s.fetch(inverse[4].as_ptr());
        s.fetch(inverse[8].as_ptr());
    } else {
        s.fetch(key.enc[3].as_ptr());
        s.fetch(key.enc[7].as_ptr());
    }
    if const { M::SHAPE.uses.second } && is_zen() {
        s.fetch(key.second[0].as_ptr());
        s.fetch(key.second[4].as_ptr());
        s.fetch(key.second[8].as_ptr());
    }
}

/// Messages that come next, whose texts are brought into the second cache while others are done: a few lines
/// with each row. (Memory brings only so many lines at a time: if all texts of a stretch are fetched at once,
/// nothing else is done until they are there. On Zen 4 a loop that fetched into the first cache, or 32 lines at
/// a time, took 1.3 times as long.)
pub(crate) struct Coming<'a> {
    jobs: &'a [Job],
    /// Whether results go to places of their own, which are fetched, too.
    written: bool,
    /// The messages, by their places in `jobs`, and how many they are.
    messages: [u32; MAX_LANES],
    count: usize,
    /// The message whose text is fetched, and how many bytes of it were.
    message: usize,
    at: usize,
}

/// Bytes of a line.
const LINE_BYTES: usize = LINE * 16;

impl<'a> Coming<'a> {
    /// Of these jobs, the first of `messages`.
    #[inline(always)]
    pub(crate) fn new<S: Isa>(
        s: S,
        jobs: &'a [Job],
        messages: impl Iterator<Item = u32>,
        written: bool,
    ) -> Self {
        let mut coming = Coming {
            jobs,
            written,
            messages: [0; MAX_LANES],
            count: 0,
            message: 0,
            at: 0,
        };
        coming.go_on(s, messages);
        coming
    }

    /// Goes on to the first of `messages`, once all texts of those before are fetched ([`Coming::rest`]).
    #[inline(never)]
    pub(crate) fn go_on<S: Isa>(&mut self, s: S, messages: impl Iterator<Item = u32>) {
        (self.count, self.message, self.at) = (0, 0, 0);
        for (to, message) in self.messages.iter_mut().zip(messages.take(S::LANES)) {
            *to = message;
            self.count += 1;
            let job = &raw const self.jobs[message as usize];
            s.fetch(job.cast());
            s.fetch(job.wrapping_byte_add(size_of::<Job>() / 2).cast());
            // One of the next stretch, if it follows this one.
            let job = job.wrapping_add(self.jobs.len());
            s.fetch_far(job.cast());
            s.fetch_far(job.wrapping_byte_add(size_of::<Job>() / 2).cast());
        }
    }

    /// Fetches what is left.
    #[inline(never)]
    pub(crate) fn rest<S: Isa>(&mut self, s: S) {
        self.fetch(s, usize::MAX);
    }

    /// Fetches the next `bytes` of the texts, in whole lines.
    #[inline(always)]
    fn fetch<S: Isa>(&mut self, s: S, mut bytes: usize) {
        while bytes > 0 && self.message < self.count {
            let job = &self.jobs[self.messages[self.message] as usize];
            if self.at == 0 {
                s.fetch_far(job.nonce);
                s.fetch_far(job.data);
                s.fetch_far(job.tag);
            }
            let end = job.len.min(self.at.saturating_add(bytes));
            fetch_text(s, job, self.at..end, self.written);
            bytes = bytes.saturating_sub((end - self.at).next_multiple_of(LINE_BYTES));
            self.at = end;
            if end == job.len {
                self.message += 1;
                self.at = 0;
            }
        }
    }
}

/// What is done beside rows.
pub(crate) trait Beside {
    /// What goes with so many rows of all lanes of `s`.
    fn rows<S: Isa>(&mut self, s: S, rows: usize);
}

/// Nothing.
impl Beside for () {
    #[inline(always)]
    fn rows<S: Isa>(&mut self, _: S, _: usize) {}
}

/// A quarter more lines than rows take are fetched.
impl Beside for Coming<'_> {
    #[inline(always)]
    fn rows<S: Isa>(&mut self, s: S, rows: usize) {
        let lines = const { (S::LANES * 5 / 4).div_ceil(LINE) };
        self.fetch(s, rows * lines * LINE_BYTES);
    }
}

#[inline(always)]
fn fetch_text<S: Isa>(s: S, job: &Job, bytes: Range<usize>, written: bool) {
    let apart = written && !core::ptr::eq(job.src, job.dst);
    for at in bytes.step_by(LINE_BYTES) {
        s.fetch_far(job.src.wrapping_add(at));
        if apart {
            s.fetch_far(job.dst.wrapping_add(at));
        }
    }
}

/// So many messages before its own a text is fetched.
const TEXTS_AHEAD: usize = 4;

/// Fetches the key of a message that comes some time after the first of `jobs`, and, in batches
/// larger than the caches (`far`), the text of one. (A burst for several messages waits for room: called
/// once a message, 10,000 with a key each take 0.9 of the time. Long texts under 256 keys take 0.54
/// with texts fetched on Zen 5; on Emerald Rapids there was nothing to gain.)
#[inline(always)]
pub(crate) fn fetch_own<S: Isa, M: Pass>(s: S, set: KeySet<'_>, jobs: &[Job], far: bool) {
    if far
        && let Some(job) = jobs.get(TEXTS_AHEAD)
        && is_zen()
    {
        fetch_text(s, job, 0..job.len, const { M::SHAPE.output });
    }
    if let Some(job) = jobs.get(AHEAD) {
        let key = set.key_of(job);
        s.fetch(key.enc[0].as_ptr());
        fetch::<S, M>(s, key);
        s.fetch(key.subkey(0).as_ptr());
    }
    if const { hash_of::<M>().is_some() }
        && let Some(job) = jobs.get(AHEAD / 2)
        && let Some(rows) = set.key_of(job).few_tables()
    {
        for line in rows.chunks(LINE) {
            s.fetch(line[0].as_ptr());
        }
    }
}
