//! A call of a key, for one message: its checks are constants of the mode and the operation.

use crate::admission::Rules;
use crate::error::{Failed, OpenError};
use crate::expanded::Expanded;
use crate::job::{Job, RunOne};
use crate::mode::Op;
use alloc::vec::Vec;

/// Operations as constants.
pub(crate) const ENCRYPT: u8 = Op::Encrypt as u8;
pub(crate) const DECRYPT: u8 = Op::Decrypt as u8;
pub(crate) const MAC: u8 = Op::Mac as u8;
pub(crate) const VERIFY: u8 = Op::Verify as u8;
pub(crate) const SEAL: u8 = Op::Seal as u8;
pub(crate) const OPEN: u8 = Op::Open as u8;

/// Checks one message and does it by `run`: the bytes of its result. The check is compiled where
/// the call is: much of it is known there.
#[inline(always)]
pub(crate) fn single<const OP: u8>(
    rules: &'static Rules,
    key: &Expanded,
    job: &Job,
    run: RunOne,
) -> Result<usize, OpenError> {
    match rules.take_one(job) {
        true => checked::<OP>(rules, key, job, run),
        // A copy: if the job's own address were passed on, all of it would be stored.
        false => with_care::<OP>(rules, key, &{ *job }, run),
    }
}

/// One that is long, or wrong. Out of line, so that others save no registers for it.
#[cold]
#[inline(never)]
fn with_care<const OP: u8>(
    rules: &'static Rules,
    key: &Expanded,
    job: &Job,
    run: RunOne,
) -> Result<usize, OpenError> {
    match rules.refusal_of_one(key, job) {
        Some(refusal) => Err(refusal.into()),
        None => checked::<OP>(rules, key, job, run),
    }
}

/// Does a message that was checked.
#[inline(always)]
fn checked<const OP: u8>(
    rules: &Rules,
    key: &Expanded,
    job: &Job,
    run: RunOne,
) -> Result<usize, OpenError> {
    let right = match rules.text_alone() {
        Some(rest) => job.run_with(run, key, rest),
        None => job.run_one(run, key),
    };
    // Other operations compare no tags, so that the caller need not keep the job for a failure.
    let good = right || const { OP != VERIFY && OP != OPEN };
    match good.then(|| rules.after(job)).flatten() {
        Some(len) => Ok(len),
        // A copy, as above.
        None => Err(failed::<OP>(&{ *job })),
    }
}

#[cold]
#[inline(never)]
fn failed<const OP: u8>(job: &Job) -> OpenError {
    if OP == OPEN {
        job.wipe();
    }
    OpenError::Failed(Failed::of(Op::ALL[OP as usize], Vec::new()))
}
