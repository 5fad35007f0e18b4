//! One message from its beginning to its end, its blocks side by side for modes that are
//! parallel inside a message.
//!
//! What is done once a message is done in one register, of which the first lane counts. A
//! message of a serial mode that has no others beside it goes the same way, block after
//! block in one lane.
//!
//! `unsafe` here rests on the facts stated for [`Job`] in `job.rs`.
#![allow(unsafe_code)]

use crate::block::{Aligned, Block, MAX_UNIT, Tables};
use crate::cipher::{Cipher, Uniform};
use crate::expanded::Expanded;
use crate::facts::Few;
use crate::isa::{Isa, Wide};
use crate::job::Job;
use crate::parts::{some, some_mut};
use crate::pass::{
    HEADER, Last, Pass, Piece, Program, State, rows, two_pieces, uniform, whole_end,
};
use crate::places::Places;
use crate::rows::{Hashing, Single, all_rows, ciphers, counter_of, folded, in_units, lane};
use crate::shape::{Feed, Link, Tail};

/// Associated data is short up to this many bytes: it is done block by block.
pub(crate) const SHORT_DATA: usize = 64;

/// Whether a message of `G` is one pass over one text, after one component of associated data.
const fn is_plain<G: Program>() -> bool {
    let shape = G::First::SHAPE;
    let plain = !shape.row.pair && !shape.row.moved && !shape.strings().vector;
    plain && shape.own.is_none() && !G::TWO
}

/// Whether `G` has messages that are done by themselves.
pub(crate) const fn has_solos<S: Isa, G: Program>() -> bool {
    let along = G::First::SHAPE.along();
    let whole = G::First::SHAPE.is_along() && is_plain::<G>() && in_units::<G::First>();
    // A mode that wants tables says from where on.
    let pays = along.tables == 0 || along.solo_from < usize::MAX;
    // Where registers are rows, as without vectors, it would only waste lanes.
    whole && pays && <S::Unit as Isa>::LANES < S::LANES
}

/// Does the whole message. Where its tag is compared, `verdict` receives what it differs
/// by from the one that was given.
#[inline(always)]
pub(crate) fn solo<S: Isa, M: Pass>(
    s: S,
    (keys, key): (&S::Keys, &Expanded),
    tables: &Tables,
    job: &Job,
    verdict: Option<&mut Block>,
) {
    let keys = (keys, key);
    match rows::<M>(job.len) >= S::LANES {
        true => message::<S, M, true>(s, keys, tables, job, verdict),
        false => message::<S, M, false>(s, keys, tables, job, verdict),
    }
}

/// A `LONG` message has rows of full width.
#[inline(always)]
fn message<S: Isa, M: Pass, const LONG: bool>(
    s: S,
    (keys, key): (&S::Keys, &Expanded),
    tables: &Tables,
    job: &Job,
    verdict: Option<&mut Block>,
) {
    let u = s.unit();
    let (len, rows) = (job.len, 0..rows::<M>(job.len));
    let data = job.data_len.div_ceil(16);
    let blocks = match const { M::SHAPE.along().ends_alike } {
        true => (len + 15) >> 4,
        false => rows.end,
    };
    let hashing = &Hashing::new(u, (tables, S::LANES), data, data + blocks + 1);
    let few = &Few::new(u, core::array::from_ref(job), key, verdict.is_some());
    // Before the keys are loaded: it may call, and they would be saved around the call.
    let h = M::header(few);
    let c = &Single {
        c: uniform::<_, M>(u, keys, key),
        hashing,
    };
    let text = (job.src, job.dst);
    let ciphers = ciphers::<S, M>(s, (keys, key));
    whole::<S::Unit, M, 1>(
        few,
        c,
        h,
        verdict.map(core::array::from_mut),
        #[inline(always)]
        |state| {
            let mut start = Aligned([[0; 16]; MAX_UNIT]);
            // Short messages would only wait for them.
            let counter = const { counter_of::<S, M>() }.filter(|_| LONG);
            let places = counter.map(|(i, nonce)| {
                u.store_row(state.blocks()[i], &mut start.0);
                let base = Places::base(&ciphers.1, state.blocks()[i]);
                Places::new(&start.0[0], base, job.nonce_len as usize == nonce)
            });
            let places = places.as_ref();
            // SAFETY: they are inside the text.
            let state = unsafe {
                match const { M::SHAPE.along().ends_alike } {
                    true => all_rows::<S, M, LONG, true>(
                        ciphers, hashing, places, text, rows, len, state,
                    ),
                    false => all_rows::<S, M, LONG, false>(
                        ciphers, hashing, places, text, rows, len, state,
                    ),
                }
            };
            folded::<S::Unit, M>(u, state)
        },
    );
}

/// Whether `G` has messages that are done as chains.
pub(crate) const fn is_chain<G: Program>() -> bool {
    G::First::SHAPE.is_serial() && is_plain::<G>()
}

/// Does a whole message of a serial mode, block after block: `n` has one lane.
#[inline(always)]
pub(crate) fn chain<N: Isa, M: Pass>(
    n: N,
    (keys, key): (&N::Keys, &Expanded),
    job: &Job,
    verdict: Option<&mut Block>,
) {
    let few = &Few::new(n, core::array::from_ref(job), key, verdict.is_some());
    let h = M::header(few);
    let c = &uniform::<_, M>(n, keys, key);
    let rows = rows::<M>(job.len);
    whole::<N, M, 1>(
        few,
        c,
        h,
        verdict.map(core::array::from_mut),
        #[inline(always)]
        |mut state| {
            if const { !matches!(M::SHAPE.feed, Feed::Serial(Link::None)) && N::ROUNDS } {
                // SAFETY: rows are inside the text.
                return unsafe { linked::<N, M>(c, (job.src, job.dst), rows, state) };
            }
            let mut row = 0;
            while row < rows {
                let at = row * M::SHAPE.row.stride;
                // SAFETY: rows are inside the text.
                unsafe {
                    let y = M::step(c, &mut state, n.load(job.src.add(at)), row);
                    if const { M::SHAPE.output } {
                        n.store(y, job.dst.add(at));
                    }
                }
                row += 1;
            }
            state
        },
    );
}

/// Steps of a chain, the cipher of one of which begins with the end of the one before: what
/// is between them, and the first round key, is added to the last one's, before it is
/// needed. An addition between two rounds would take three cycles.
///
/// # Safety
/// The text has so many rows.
#[inline(always)]
unsafe fn linked<N: Isa, M: Pass>(
    c: &Uniform<'_, N>,
    (src, dst): (*const u8, *mut u8),
    rows: usize,
    state: M::State<N::W>,
) -> M::State<N::W> {
    let (n, key) = (c.s, c.round_key(0));
    // SAFETY: the caller's, of a row there is.
    let load = |row: usize| unsafe { n.load(src.add(row * 16)) };
    let store = |y: N::W, row: usize| {
        if const { M::SHAPE.output } {
            // SAFETY: as above.
            unsafe { n.store(y, dst.add(row * 16)) };
        }
    };
    if rows == 0 {
        return state;
    }
    let mut s = state.blocks()[0] ^ key;
    let mut row = 0;
    if const { matches!(M::SHAPE.feed, Feed::Serial(Link::Before)) } {
        s = s ^ load(0);
        while row + 1 < rows {
            let add = key ^ load(row + 1);
            s = c.encrypt_linked(s, add);
            store(s ^ add, row);
            row += 1;
        }
        s = c.encrypt_linked(s, c.zero());
        store(s, row);
        return M::State::from_fn(
            #[inline(always)]
            |_| s,
        );
    }
    while row < rows {
        let x = load(row);
        if const { matches!(M::SHAPE.feed, Feed::Serial(Link::After)) } {
            s = c.encrypt_linked(s, key ^ x);
            store(s ^ key, row);
        } else {
            s = c.encrypt_linked(s, key);
            store(s ^ key ^ x, row);
        }
        row += 1;
    }
    M::State::from_fn(
        #[inline(always)]
        |_| s ^ key,
    )
}

/// Messages from their headers to their tags, with `all` their rows. Where tags are compared,
/// `verdicts` receive what they differ by from those that were given.
#[inline(always)]
pub(crate) fn whole<U: Isa, M: Pass, const N: usize>(
    few: &Few<'_, U, N>,
    c: &impl Cipher<W = U::W>,
    mut h: [U::W; HEADER],
    verdicts: Option<&mut [Block; N]>,
    all: impl FnOnce(M::State<U::W>) -> M::State<U::W>,
) {
    let (u, job) = (few.s, &few.jobs[0]);
    if const { M::SHAPE.nonce } {
        // SAFETY: nonces have 16 bytes.
        h[0] = unsafe {
            few.load(
                #[inline(always)]
                |job| job.nonce,
                16,
            )
        };
    }
    let mut state = M::begin(c, &mut h);
    absorb::<U, M, N>(few, c, &mut state);
    let state = M::text(c, &mut h, state);
    let mut state = all(state);
    if !const { M::SHAPE.along().ends_alike } {
        finish::<U, M, N>(few, c, &h, &mut state);
    }
    if !M::SHAPE.tag {
        return;
    }
    let tag = M::tag(c, &h, state);
    let len = job.tag_len.min(16) as usize;
    // SAFETY: tags have that many bytes, and are readable or writable.
    unsafe {
        let Some(verdicts) = verdicts else {
            return few.store(
                tag,
                #[inline(always)]
                |job| job.tag,
                len,
            );
        };
        let given = few.load(
            #[inline(always)]
            |job| job.tag,
            len,
        );
        let bytes = u.splat(&[len as u8; 16]).first_bytes();
        let differs = (tag ^ given) & bytes;
        if N == 1 {
            verdicts[0] = lane(u, differs, 0);
        } else {
            u.store(differs, verdicts.as_mut_ptr().cast());
        }
    }
}

/// Absorbs the associated data, which is one component.
#[inline(always)]
fn absorb<U: Isa, M: Pass, const N: usize>(
    few: &Few<'_, U, N>,
    c: &impl Cipher<W = U::W>,
    state: &mut M::State<U::W>,
) {
    let Some(shape) = (const { M::SHAPE.data }) else {
        return;
    };
    let mut len = few.jobs[0].data_len;
    if len == 0 {
        return;
    }
    let begin = (shape.begins)(len).min(len);
    len -= begin;
    let part = |at: usize, len: usize| Piece {
        // SAFETY: rows and what they leave are inside the associated data.
        block: unsafe {
            few.load(
                #[inline(always)]
                |job| job.data.wrapping_add(begin + at),
                len,
            )
        },
        count: few.s.splat(&[len as u8; 16]),
    };
    let rows = shape.tail.rows(len, shape.stride, 16);
    for row in 0..rows {
        let x = part(row * shape.stride, 16);
        M::absorb(c, state, x.block, row);
    }
    let done = rows * shape.stride;
    if len > done {
        M::absorb_last(c, state, part(done, len - done));
    }
}

/// Does what rows leave.
#[inline(always)]
fn finish<U: Isa, M: Pass, const N: usize>(
    few: &Few<'_, U, N>,
    c: &impl Cipher<W = U::W>,
    h: &[U::W; HEADER],
    state: &mut M::State<U::W>,
) {
    let ends = &Ends::<N>::new::<M>(few.jobs);
    if const { matches!(M::SHAPE.tail, Tail::None) }
        || const { matches!(M::SHAPE.tail, Tail::Part) } && !ends.any(0)
    {
        return;
    }
    let more = const { two_pieces::<M>() } && ends.any(1);
    let mut last = Last {
        first: ends.load(few, 0),
        second: match more {
            true => ends.load(few, 1),
            false => Piece::none(few.s),
        },
        more,
    };
    let (some, before) = (last.first.count, *state);
    M::finish(c, h, state, &mut last);
    if const { N > 1 && matches!(M::SHAPE.tail, Tail::Part) } {
        // Of a message that has ended there is no finish.
        let some = some.any();
        *state = M::State::from_fn(
            #[inline(always)]
            |i| match (state.blocks().get(i), before.blocks().get(i)) {
                (Some(now), Some(before)) => U::W::select(some, *now, *before),
                _ => c.zero(),
            },
        );
    }
    if const { M::SHAPE.output } {
        ends.store::<U, M>(few, last.first.block, 0);
        if more {
            ends.store::<U, M>(few, last.second.block, 1);
        }
    }
}

/// What rows leave of messages: for each where it begins, and the sizes of its two pieces.
struct Ends<const N: usize> {
    at: [usize; MAX_UNIT],
    sizes: [[usize; MAX_UNIT]; 2],
}

impl<const N: usize> Ends<N> {
    #[inline(always)]
    fn new<M: Pass>(jobs: &[Job; N]) -> Self {
        let mut ends = Ends {
            at: [0; MAX_UNIT],
            sizes: [[0; MAX_UNIT]; 2],
        };
        for (l, job) in jobs.iter().enumerate() {
            ends.at[l] = rows::<M>(job.len) * M::SHAPE.row.stride;
            let left = job.len - ends.at[l];
            ends.sizes[0][l] = if const { two_pieces::<M>() } {
                left.min(16)
            } else {
                left
            };
            ends.sizes[1][l] = left - ends.sizes[0][l];
        }
        ends
    }

    /// Whether any message has such a piece.
    #[inline(always)]
    fn any(&self, piece: usize) -> bool {
        self.sizes[piece].iter().fold(0, |any, size| any | size) > 0
    }

    #[inline(always)]
    fn load<U: Isa>(&self, few: &Few<'_, U, N>, piece: usize) -> Piece<U::W> {
        let (u, sizes) = (few.s, &self.sizes[piece]);
        let of = |l: usize| {
            let from = few.jobs[l].src.wrapping_add(self.at[l] + 16 * piece);
            some(from, sizes[l])
        };
        // SAFETY: so many bytes are left.
        unsafe {
            match N {
                1 => Piece {
                    block: u.load_first(of(0).0, sizes[0]),
                    count: u.splat(&[sizes[0] as u8; 16]),
                },
                _ => Piece {
                    block: u.gather_part(of),
                    count: u.in_all_bytes(sizes),
                },
            }
        }
    }

    #[inline(always)]
    fn store<U: Isa, M: Pass>(&self, few: &Few<'_, U, N>, x: U::W, piece: usize) {
        let of = |l: usize| {
            let size = match const { whole_end::<M>() } {
                true => 16,
                false => self.sizes[piece][l],
            };
            let to = few.jobs[l].dst.wrapping_add(self.at[l] + 16 * piece);
            some_mut(to, size)
        };
        // SAFETY: so many bytes are left; where whole blocks come of them, there is room.
        unsafe {
            match N {
                1 => few.s.store_first(x, of(0).0, of(0).1),
                _ => few.s.scatter_part(x, of),
            }
        }
    }
}
