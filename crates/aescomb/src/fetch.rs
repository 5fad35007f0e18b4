//! What is fetched into the caches some time before it is used.

use crate::backend::is_zen;
use crate::block::LINE;
use crate::expanded::Expanded;
use crate::hashing::hash_of;
use crate::isa::Isa;
use crate::job::Job;
use crate::key_set::KeySet;
use crate::pass::Pass;

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

/// Brings texts into the second cache, and the places where results are `written`, one after the other.
#[inline(never)]
pub(crate) fn fetch_texts<S: Isa>(s: S, jobs: &[Job], written: bool) {
    for job in jobs {
        fetch_text(s, job, written);
    }
}

#[inline(always)]
fn fetch_text<S: Isa>(s: S, job: &Job, written: bool) {
    let apart = written && !core::ptr::eq(job.src, job.dst);
    for at in (0..job.len).step_by(LINE * 16) {
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
        fetch_text(s, job, const { M::SHAPE.output });
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
