//! One message at a time, its blocks side by side, for modes that are parallel
//! inside a message.
//!
//! `unsafe` here rests on the facts stated for [`Job`] in `job.rs`: `src` and
//! `dst` are valid for the message's length, and for padded modes `dst` for what
//! padding makes of it.
#![allow(unsafe_code)]

use crate::counting::{Counting, FirstRounds};
use crate::expanded::Expanded;
use crate::isa::{Block, Isa, Uniform};
use crate::job::Job;
use crate::pass::{Feed, HEADER, Pass, State, Tail};

/// Does the whole message, long ones with the key's table for counters, if there is one.
///
/// ```text
/// while a whole wide value is left:   one step on it
/// while a whole register is left:     one step on it
/// if bytes are left:                  one step on them, padded
/// ```
#[inline(always)]
pub(crate) fn span<S: Isa, M: Pass>(
    s: S,
    (keys, key): (&S::Keys, &Expanded),
    first: Option<&FirstRounds>,
    job: &Job,
) {
    let mut nonce = [0; 16];
    if M::NONCE {
        // SAFETY: the mode's nonce has 16 bytes.
        nonce = unsafe { job.nonce.cast::<Block>().read() };
    }
    // A nonce is public, and so is whether its counter overflows.
    let low = u64::from_be_bytes([
        nonce[8], nonce[9], nonce[10], nonce[11], nonce[12], nonce[13], nonce[14], nonce[15],
    ]);
    if const { matches!(M::FEED, Feed::Counter) } && low > u64::MAX - job.len as u64 {
        blocks::<S, M, true>(s, (keys, key), first, job, &nonce);
    } else {
        blocks::<S, M, false>(s, (keys, key), first, job, &nonce);
    }
}

/// Where a message stands: the next byte, and what its next blocks take from
/// the ones before.
struct Place<W, State> {
    at: usize,
    /// For modes fed by their input: the input before, of which only the last
    /// block counts.
    before: W,
    /// For the others: the state of the next blocks.
    state: State,
}

#[inline(always)]
fn blocks<S: Isa, M: Pass, const CARRY: bool>(
    s: S,
    (keys, key): (&S::Keys, &Expanded),
    first: Option<&FirstRounds>,
    job: &Job,
    nonce: &Block,
) {
    let u = s.unit();
    let unit = Uniform::of::<M>(u, keys, key);
    let mut place = if job.len >= S::LANES * 16 {
        let c = Uniform::of::<M>(s, keys, key);
        let mut place = begin::<S, M, CARRY>(&c, nonce);
        match first {
            // Not for one row.
            Some(table) if job.len >= 2 * S::LANES * 16 => {
                let counting = Counting::new(s, table);
                let c = Uniform::of::<M>(s, keys, key).counting(&counting);
                run::<S, M, CARRY>(&c, job, &mut place);
            }
            _ => run::<S, M, CARRY>(&c, job, &mut place),
        }
        Place {
            at: place.at,
            before: match M::FEED {
                Feed::Input => u.splat(&s.last(place.before)),
                _ => u.splat(nonce),
            },
            state: M::State::from_fn(
                #[inline(always)]
                |i| match place.state.blocks().get(i) {
                    Some(w) => s.first(*w),
                    None => u.splat(nonce),
                },
            ),
        }
    } else {
        begin::<S::Unit, M, CARRY>(&unit, nonce)
    };
    run::<S::Unit, M, CARRY>(&unit, job, &mut place);
    rest::<S::Unit, M>(&unit, job, place);
}

#[inline(always)]
fn begin<S: Isa, M: Pass, const CARRY: bool>(
    c: &Uniform<'_, S>,
    nonce: &Block,
) -> Place<S::W, M::State<S::W>> {
    let before = c.s.splat(nonce);
    let mut state = M::begin(c, &mut [before; HEADER]);
    M::advance::<_, CARRY>(&mut state, c.s.iota());
    Place {
        at: 0,
        before,
        state,
    }
}

/// The state of the blocks `x`.
#[inline(always)]
fn state<S: Isa, M: Pass>(s: S, place: &Place<S::W, M::State<S::W>>, x: S::W) -> M::State<S::W> {
    match M::FEED {
        Feed::Input => M::State::from_fn(
            #[inline(always)]
            |_| s.shift_in(place.before, x),
        ),
        _ => place.state,
    }
}

/// Steps on whole wide values as long as there are.
#[inline(always)]
fn run<S: Isa, M: Pass, const CARRY: bool>(
    c: &Uniform<'_, S>,
    job: &Job,
    place: &mut Place<S::W, M::State<S::W>>,
) {
    let s = c.s;
    let width = S::LANES * 16;
    let stride = s.splat(&(S::LANES as u128).to_le_bytes());
    while job.len - place.at >= width {
        // SAFETY: `width` bytes are left from `at` on.
        unsafe {
            let x = s.load(job.src.add(place.at));
            let y = M::step(c, &mut state::<S, M>(s, place, x), x, 0);
            s.store(y, job.dst.add(place.at));
            place.before = x;
        }
        M::advance::<_, CARRY>(&mut place.state, stride);
        place.at += width;
    }
}

/// The last bytes, fewer than a wide value has.
#[inline(always)]
fn rest<S: Isa, M: Pass>(c: &Uniform<'_, S>, job: &Job, place: Place<S::W, M::State<S::W>>) {
    let s = c.s;
    let len = job.len - place.at;
    let pads = M::TAIL == Tail::Padded;
    if len == 0 && !pads {
        return;
    }
    // SAFETY: `len` bytes are left from `at` on; a padded message's destination
    // has room for whole blocks.
    unsafe {
        let from = job.src.wrapping_add(place.at);
        let to = job.dst.wrapping_add(place.at);
        if pads {
            let mut blocks = [[0; 16]; 4];
            let whole = len / 16;
            for (i, block) in blocks.iter_mut().enumerate().take(whole) {
                *block = from.add(i * 16).cast::<Block>().read();
            }
            blocks[whole] = crate::bytes::load(from.wrapping_add(whole * 16), len % 16);
            blocks[whole][len % 16..].fill((16 - len % 16) as u8);
            let x = s.load(blocks.as_ptr().cast());
            let y = M::step(c, &mut state::<S, M>(s, &place, x), x, 0);
            s.store(y, blocks.as_mut_ptr().cast());
            for (i, block) in blocks.iter().enumerate().take(whole + 1) {
                to.add(i * 16).cast::<Block>().write(*block);
            }
        } else {
            let x = s.load_part(from, len);
            let y = M::step(c, &mut state::<S, M>(s, &place, x), x, 0);
            s.store_part(y, to, len);
        }
    }
}
