//! One message at a time, its blocks side by side, for modes that are parallel
//! inside a message.
//!
//! `unsafe` here rests on the facts stated for [`Job`] in `job.rs`: `src` and
//! `dst` are valid for the message's length, and for padded modes `dst` for what
//! padding makes of it.
#![allow(unsafe_code)]

use crate::block::Block;
use crate::cipher::Uniform;
use crate::counting::Counting;
use crate::expanded::{Expanded, FirstRounds};
use crate::facts::Few;
use crate::isa::Isa;
use crate::job::Job;
use crate::pass::{HEADER, Pass, State, uniform};
use crate::shape::{Feed, Tail};

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
    let h: [Block; HEADER] = if const { M::SHAPE.header > 0 } {
        let n = s.narrow();
        let rows = M::header(&Few::new(n, core::array::from_ref(job), key, true));
        [
            n.last(rows[0]),
            n.last(rows[1]),
            n.last(rows[2]),
            n.last(rows[3]),
        ]
    } else if const { M::SHAPE.nonce } {
        // SAFETY: the mode's nonce has 16 bytes.
        [unsafe { job.nonce.cast::<Block>().read() }; HEADER]
    } else {
        [[0; 16]; HEADER]
    };
    let nonce = h[0];
    // A nonce is public, and so is whether its counter overflows.
    let low = u64::from_be_bytes([
        nonce[8], nonce[9], nonce[10], nonce[11], nonce[12], nonce[13], nonce[14], nonce[15],
    ]);
    if const { matches!(M::SHAPE.feed, Feed::Counter) } && low > u64::MAX - job.len as u64 {
        blocks::<S, M, true>(s, (keys, key), first, job, &h);
    } else {
        blocks::<S, M, false>(s, (keys, key), first, job, &h);
    }
}

/// Where a message stands: the next byte, and what its next blocks take from
/// the ones before.
struct Cursor<W, State> {
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
    h: &[Block; HEADER],
) {
    let u = s.unit();
    let mut cursor = if job.len >= S::LANES * 16 {
        let c = uniform::<_, M>(s, keys, key);
        let mut cursor = begin::<S, M, CARRY>(&c, h);
        match first {
            // Not for one row.
            Some(table) if job.len >= 2 * S::LANES * 16 => {
                let counting = Counting::new(s, table);
                let c = uniform::<_, M>(s, keys, key).counting(&counting);
                run::<S, M, CARRY>(&c, job, &mut cursor);
            }
            _ => run::<S, M, CARRY>(&c, job, &mut cursor),
        }
        Cursor {
            at: cursor.at,
            before: match const { M::SHAPE.feed } {
                Feed::Input => u.splat(&s.last(cursor.before)),
                _ => u.splat(&h[0]),
            },
            state: M::State::from_fn(
                #[inline(always)]
                |i| match cursor.state.blocks().get(i) {
                    Some(w) => s.first(*w),
                    None => u.splat(&h[0]),
                },
            ),
        }
    } else {
        begin::<S::Unit, M, CARRY>(&uniform::<_, M>(u, keys, key), h)
    };
    let unit = uniform::<_, M>(u, keys, key);
    run::<S::Unit, M, CARRY>(&unit, job, &mut cursor);
    rest::<S::Unit, M>(&unit, job, cursor);
}

#[inline(always)]
fn begin<S: Isa, M: Pass, const CARRY: bool>(
    c: &Uniform<'_, S>,
    h: &[Block; HEADER],
) -> Cursor<S::W, M::State<S::W>> {
    let s = c.s;
    let mut h = [
        s.splat(&h[0]),
        s.splat(&h[1]),
        s.splat(&h[2]),
        s.splat(&h[3]),
    ];
    let before = h[0];
    let mut state = M::begin(c, &mut h);
    M::advance::<_, CARRY>(&mut state, c.s.iota());
    Cursor {
        at: 0,
        before,
        state,
    }
}

/// The state of the blocks `x`.
#[inline(always)]
fn state<S: Isa, M: Pass>(s: S, cursor: &Cursor<S::W, M::State<S::W>>, x: S::W) -> M::State<S::W> {
    match const { M::SHAPE.feed } {
        Feed::Input => M::State::from_fn(
            #[inline(always)]
            |_| s.shift_in(cursor.before, x),
        ),
        _ => cursor.state,
    }
}

/// Steps on whole wide values as long as there are.
#[inline(always)]
fn run<S: Isa, M: Pass, const CARRY: bool>(
    c: &Uniform<'_, S>,
    job: &Job,
    cursor: &mut Cursor<S::W, M::State<S::W>>,
) {
    let s = c.s;
    let width = S::LANES * 16;
    let stride = s.splat(&(S::LANES as u128).to_le_bytes());
    while job.len - cursor.at >= width {
        // SAFETY: `width` bytes are left from `at` on.
        unsafe {
            let x = s.load(job.src.add(cursor.at));
            let y = M::step(c, &mut state::<S, M>(s, cursor, x), x, 0);
            s.store(y, job.dst.add(cursor.at));
            cursor.before = x;
        }
        M::advance::<_, CARRY>(&mut cursor.state, stride);
        cursor.at += width;
    }
}

/// The last bytes, fewer than a wide value has.
#[inline(always)]
fn rest<S: Isa, M: Pass>(c: &Uniform<'_, S>, job: &Job, cursor: Cursor<S::W, M::State<S::W>>) {
    let s = c.s;
    let len = job.len - cursor.at;
    let pads = M::SHAPE.tail == Tail::Padded;
    if len == 0 && !pads {
        return;
    }
    // SAFETY: `len` bytes are left from `at` on; a padded message's destination
    // has room for whole blocks.
    unsafe {
        let from = job.src.wrapping_add(cursor.at);
        let to = job.dst.wrapping_add(cursor.at);
        if pads {
            let mut blocks = [[0; 16]; 4];
            let whole = len / 16;
            for (i, block) in blocks.iter_mut().enumerate().take(whole) {
                *block = from.add(i * 16).cast::<Block>().read();
            }
            blocks[whole] = crate::bytes::load(from.wrapping_add(whole * 16), len % 16);
            blocks[whole][len % 16..].fill((16 - len % 16) as u8);
            let x = s.load(blocks.as_ptr().cast());
            let y = M::step(c, &mut state::<S, M>(s, &cursor, x), x, 0);
            s.store(y, blocks.as_mut_ptr().cast());
            for (i, block) in blocks.iter().enumerate().take(whole + 1) {
                to.add(i * 16).cast::<Block>().write(*block);
            }
        } else {
            let x = s.load_part(from, len);
            let y = M::step(c, &mut state::<S, M>(s, &cursor, x), x, 0);
            s.store_part(y, to, len);
        }
    }
}
