//! The program of a call of a key, for one message: its checks are constants of the mode and
//! the operation.

use crate::about::Registered;
use crate::admission::Rules;
use crate::bytes::is_zero;
use crate::engine::{FAILED, one};
use crate::error::{Failed, OpenError};
use crate::expanded::Expanded;
use crate::job::Job;
use crate::mode::Op;
use alloc::vec::Vec;

/// Operations as constants.
pub(crate) const ENCRYPT: u8 = Op::Encrypt as u8;
pub(crate) const DECRYPT: u8 = Op::Decrypt as u8;
pub(crate) const MAC: u8 = Op::Mac as u8;
pub(crate) const VERIFY: u8 = Op::Verify as u8;
pub(crate) const SEAL: u8 = Op::Seal as u8;
pub(crate) const OPEN: u8 = Op::Open as u8;

/// Checks one message of a mode and does it: the bytes of its result. Its function is there
/// once for each mode and operation ([`modes`](crate::modes)).
#[inline(always)]
pub(crate) fn single<R: Registered, const OP: u8>(
    rules: &'static Rules,
    key: &Expanded,
    job: &mut Job,
) -> Result<usize, OpenError> {
    let op = Op::ALL[OP as usize];
    if let Some(refusal) = rules.refusal_of(key, job) {
        return Err(refusal.into());
    }
    rules.before(job);
    let mut verdict = FAILED;
    let compared = match OP {
        VERIFY | OPEN => Some(&mut verdict),
        _ => None,
    };
    if const { matches!(OP, DECRYPT | OPEN) } {
        one::<R::Backward>(key, job, compared);
    } else {
        one::<R::Forward>(key, job, compared);
    }
    let good = !matches!(OP, VERIFY | OPEN) || is_zero(&verdict);
    if let Some(len) = good.then(|| rules.after(job)).flatten() {
        return Ok(len);
    }
    if matches!(OP, VERIFY | OPEN) {
        // It would tell what the right tag is.
        verdict = FAILED;
        zeroize::optimization_barrier(&verdict);
    }
    if OP == OPEN {
        job.wipe();
    }
    Err(OpenError::Failed(Failed::of(op, Vec::new())))
}
