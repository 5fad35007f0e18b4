//! One message from its beginning to its end, its blocks side by side for modes that are
//! parallel inside a message.
//!
//! What is done once a message is done in one register, of which the first lane counts. A
//! message of a serial mode that has no others beside it goes the same way, block after
//! block in one lane.
//!
//! `unsafe` here rests on the facts stated for [`Job`] in `job.rs`.
#![allow(unsafe_code)]

use crate::block::{
    Aligned, Block, FEW_SUFFICE, MAX_LANES, MAX_UNIT, NO_FEW_ROWS, NO_TABLES, Tables,
};
use crate::cipher::{Cipher, Uniform};
use crate::expanded::{Expanded, FirstRounds};
use crate::facts::Few;
use crate::hashing::{Hashing, Powers, Single, hash_of, hashed_after, hashes_data};
use crate::isa::{Isa, Wide};
use crate::job::{Job, not_by_vectors};
use crate::parts::{some, some_mut};
use crate::pass::{
    Data, HEADER, Header, Last, MAX_STATE, Pass, Piece, Program, State, TAG, rows, second_has_tag,
    select, two_pieces, uniform, whole_end,
};
use crate::places::{self, LAST_BYTES, Places, Start};
use crate::rows::{
    Ciphers, all_rows, counter_of, counters, folded, has_registers, in_units, lane, neighbours,
    waits, with_first,
};
use crate::schedule::Uses;
use crate::shape::{Feed, Link, Tail};
#[cfg(feature = "research")]
use crate::{derived, lane_keys::LaneKeys, shape::OwnKeys};
use core::mem::MaybeUninit;

/// Associated data is short up to this many bytes: messages that have as many are done a few at a time.
pub(crate) const SHORT_DATA: usize = 64;
/// More is absorbed as neighbouring blocks, where the mode can.
const LONG_DATA: usize = 192;

/// Up to so many rows of a chain whose cipher takes text, steps are not linked: results are there a
/// few cycles sooner, which is more than links save.
const SHORT_CHAIN: usize = 4;

/// Whether `G` has messages that are done by themselves in a batch.
pub(crate) const fn has_solos<S: Isa, G: Program>() -> bool {
    let shape = G::First::SHAPE;
    S::LANES > 1 && shape.is_along() && shape.own.is_none() && !G::TWO
}

/// Whether all of `G` is one chain.
pub(crate) const fn is_chain<G: Program>() -> bool {
    let shape = G::First::SHAPE;
    shape.is_serial() && shape.own.is_none() && !G::TWO
}

/// Does the whole message, pass after pass. Where its tag is compared, `verdict` receives what it differs
/// by from the one that was given. `tables` are those of `key`; in modes that derive a key for each
/// message, tables are made for the derived key instead.
#[inline(always)]
pub(crate) fn alone<S: Isa, G: Program>(
    s: S,
    key: &Expanded,
    tables: &Tables,
    job: &Job,
    verdict: Option<&mut Block>,
) {
    if const { G::First::SHAPE.own.is_some() } {
        let own = &mut Expanded::of_rounds(key.rounds());
        derive::<S, G::First>(s, key, job, verdict.is_some(), own);
        with_own_tables::<S, G>(s, own, job, verdict);
    } else {
        let powers = Powers::of::<G::First>(tables);
        passes::<S, G>(s, (key, powers), job, verdict);
    }
}

/// The same under a key that keeps no tables. Out of line, as these take thousands of bytes of stack.
#[cold]
#[inline(never)]
pub(crate) fn for_once<S: Isa, G: Program>(
    s: S,
    key: &Expanded,
    job: &Job,
    verdict: Option<&mut Block>,
) {
    s.enter(
        #[inline(always)]
        || with_own_tables::<S, G>(s, key, job, verdict),
    );
}

/// All passes, with tables that are made for this message.
#[inline(always)]
fn with_own_tables<S: Isa, G: Program>(
    s: S,
    key: &Expanded,
    job: &Job,
    verdict: Option<&mut Block>,
) {
    let blocks = job.data_len.div_ceil(16) + job.len.div_ceil(16) + 1;
    let (mut few, mut all);
    // Zeros for all of them would take a third of a short message's time.
    let few_suffice = const { has_powers::<G::First>() && has_powers::<G::Second>() };
    let powers = if few_suffice && blocks <= FEW_SUFFICE {
        few = NO_FEW_ROWS;
        own_tables::<S, G>(s, key, blocks, &mut few);
        Powers::few(&few)
    } else {
        all = NO_TABLES;
        own_tables::<S, G>(s, key, blocks, &mut all.rows);
        Powers::without_halves(&all.rows)
    };
    passes::<S, G>(s, (key, powers), job, verdict);
}

/// The tables of a key that keeps none.
#[inline(always)]
fn own_tables<S: Isa, G: Program>(s: S, key: &Expanded, blocks: usize, rows: &mut [Block]) {
    if const { G::First::SHAPE.along().tables > 0 } {
        G::First::tables(s, key, blocks, rows);
    } else if const { G::Second::SHAPE.along().tables > 0 } {
        G::Second::tables(s, key, blocks, rows);
    }
}

/// Whether tables are powers, if there are any.
const fn has_powers<M: Pass>() -> bool {
    M::SHAPE.along().tables == 0 || hash_of::<M>().is_some()
}

/// Makes the key that the mode derives for the message.
#[inline(always)]
fn derive<S: Isa, M: Pass>(s: S, key: &Expanded, job: &Job, given: bool, made: &mut Expanded) {
    let n = s.narrow();
    let keys = n.keys(key, M::SHAPE.uses);
    let h = M::header(&Few::new(n, core::array::from_ref(job), key, given));
    let bytes = (key.rounds() - 6) * 4;
    let c = &uniform::<_, M>(n, &keys, key);
    let own = M::derive(c, &h, bytes);
    #[cfg(feature = "research")]
    if const { !matches!(M::SHAPE.own, Some(OwnKeys::One)) } {
        let mut keys = LaneKeys::<1>::new();
        derived::expand::<_, M, _>(n, c, own, bytes, &mut keys);
        return keys.copy(0, made, M::SHAPE.uses);
    }
    n.expand_one(made, own.first, bytes);
    for (constant, x) in made.sub.iter_mut().zip(own.constants) {
        *constant = n.last(x);
    }
}

/// All passes under one key.
#[inline(always)]
fn passes<S: Isa, G: Program>(
    s: S,
    key: (&Expanded, Powers<'_>),
    job: &Job,
    verdict: Option<&mut Block>,
) {
    let given = G::HAS_TAGS || verdict.is_some();
    let (first, second) = match const { second_has_tag::<G>() } {
        true => (None, verdict),
        false => (verdict, None),
    };
    let tag = pass::<S, G, G::First>(s, key, (job, given), None, first);
    if const { G::TWO } {
        let again;
        let job = match const { G::Second::SHAPE.again } {
            true => {
                again = job.again();
                &again
            }
            false => job,
        };
        pass::<S, G, G::Second>(s, key, (job, given), Some(&tag), second);
    }
}

/// Pass `M` of `G`: the tag that it makes, for the pass after it. `made` is that of the pass
/// before.
#[inline(always)]
fn pass<S: Isa, G: Program, M: Pass>(
    s: S,
    (key, powers): (&Expanded, Powers<'_>),
    job: (&Job, bool),
    made: Option<&Block>,
    verdict: Option<&mut Block>,
) -> Block {
    if const { M::SHAPE.is_serial() } {
        let n = s.narrow();
        let keys = n.keys(key, G::First::SHAPE.uses);
        n.last(chain::<S::Narrow, G, M>(
            n,
            (&keys, key),
            job,
            made,
            verdict,
        ))
    } else {
        let tag = if const { is_long::<S, M>() } {
            along::<S, G, M, true>(s, (None, key), (powers, None), job, made, verdict)
        } else if rows::<M>(job.0.len) >= S::LANES {
            let first = match const { M::SHAPE.is_in_order() } {
                true => None,
                false => counters::<S, M>(s, key),
            };
            along::<S, G, M, true>(s, (None, key), (powers, first), job, made, verdict)
        } else {
            along::<S, G, M, false>(s, (None, key), (powers, None), job, made, verdict)
        };
        lane(s.unit(), tag, 0)
    }
}

/// Does the message by itself, under a key with tables, if the mode has any.
#[inline(always)]
pub(crate) fn solo<S: Isa, G: Program>(
    s: S,
    (keys, key): (&S::Keys, &Expanded),
    tables: (Powers<'_>, Option<&FirstRounds>),
    job: &Job,
    verdict: Option<&mut Block>,
) {
    let job = (job, G::HAS_TAGS || verdict.is_some());
    let keys = (Some(keys), key);
    if const { !is_long::<S, G::First>() } && rows::<G::First>(job.0.len) < S::LANES {
        along::<S, G, G::First, false>(s, keys, tables, job, None, verdict);
    } else {
        along::<S, G, G::First, true>(s, keys, tables, job, None, verdict);
    }
}

/// Whether messages of any length go as long ones.
const fn is_long<S: Isa, M: Pass>() -> bool {
    waits::<M>() || !in_units::<M>() || !has_registers::<S>()
}

/// A pass whose blocks are side by side. Of a `LONG` message there are rows of full width. The key's
/// form for registers is `keys`, if that was made before.
#[inline(always)]
fn along<S: Isa, G: Program, M: Pass, const LONG: bool>(
    s: S,
    (keys, key): (Option<&S::Keys>, &Expanded),
    (powers, first): (Powers<'_>, Option<&FirstRounds>),
    (job, given): (&Job, bool),
    made: Option<&Block>,
    verdict: Option<&mut Block>,
) -> <S::Unit as Isa>::W {
    let u = s.unit();
    let (len, rows) = (job.len, 0..rows::<M>(job.len));
    // First of all, while there is nothing in registers that would be saved around a call, and added to the state
    // without asking again, as what depends on a branch goes to memory.
    let room = &mut MaybeUninit::uninit();
    let is_long_data = const { M::SHAPE.data.is_some() } && job.data_len > SHORT_DATA;
    let absorbed = match (is_long_data, keys) {
        (false, _) => const { &[[0; 16]; MAX_STATE] },
        (true, Some(_)) => room.write(absorbed::<S, G, M>(s, (key, powers), (job, given), made)),
        (true, None) => {
            // A copy of the job: if its own address were passed on, all of it would be stored.
            let job = (&{ *job }, given);
            absorbed_alone::<S, G, M>(s, (key, powers), job, made, room)
        }
    };
    let data = match const { hashes_data::<M>() } && !is_long_data {
        true => job.data_len.div_ceil(16),
        false => 0,
    };
    let blocks = match const { M::SHAPE.along().ends_alike } {
        true => (len + 15) >> 4,
        false => rows.end,
    };
    let hashed = data + blocks + const { hashed_after::<M>() };
    let hashing = &Hashing::new(u, (powers, S::LANES), data, hashed);
    let few = &Few::new(u, core::array::from_ref(job), key, given).again(G::AGAIN);
    // Before the keys are loaded: it may call, and they would be saved around the call.
    let h = match const { M::SHAPE.is_in_order() } {
        // In one lane it takes less, and more messages overlap. The first row waits for it somewhat longer, for
        // which one GCM message after the other would take 1.04 to 1.07 of the time.
        true => {
            let n = s.narrow();
            let few = &Few::new(n, core::array::from_ref(job), key, given);
            let h = header::<_, G, 1>(few, made.map(|tag| n.splat(tag)));
            Header::from_fn(
                #[inline(always)]
                |i| u.splat(&n.last(h[i])),
            )
        }
        false => header::<_, G, 1>(few, made.map(|tag| u.splat(tag))),
    };
    let own;
    let keys = match keys {
        Some(keys) => keys,
        None => {
            own = s.keys(key, G::First::SHAPE.uses);
            &own
        }
    };
    let c = &Single {
        c: uniform::<_, M>(u, keys, key),
        hashing,
        blocks: 1,
    };
    let text = (few.source(0), job.dst);
    let ciphers = &Ciphers::new::<M>(s, (keys, key));
    whole::<S::Unit, M, 1, false>(
        few,
        c,
        h,
        verdict.map(core::array::from_mut),
        #[inline(always)]
        |state| {
            if const { M::SHAPE.data.is_none() } {
                return;
            }
            *state = M::State::from_fn(
                #[inline(always)]
                |i| state.blocks()[i] ^ u.splat(&absorbed[i]),
            );
            if !is_long_data {
                absorb::<S::Unit, M, 1>(few, c, state);
            }
        },
        #[inline(always)]
        |state| {
            let mut start = Aligned([[0; 16]; MAX_UNIT]);
            // Short messages would only wait for them, but counting takes a carry from half to half.
            let places = match const { counter_of::<S, M>() } {
                Some((i, bits)) if S::LANES > 1 && (LONG || bits > 64) => {
                    u.store_row(state.blocks()[i], &mut start.0);
                    let (table, base) = match first {
                        Some(table) => (
                            (table, true),
                            places::base(&ciphers.unit, state.blocks()[i]),
                        ),
                        None => (
                            (&LAST_BYTES, false),
                            places::plain_base(u, state.blocks()[i], u.splat(&key.enc[0])),
                        ),
                    };
                    let start = Start {
                        block: &start.0[0],
                        bits,
                        last_byte: M::last_byte(job.nonce()),
                    };
                    Some(Places::new(table, start, base))
                }
                _ => None,
            };
            let places = places.as_ref();
            let begin = (state, None);
            // SAFETY: they are inside the text.
            let state = unsafe {
                match const { M::SHAPE.along().ends_alike } {
                    true => all_rows::<S, M, LONG, true>(
                        ciphers, hashing, places, text, rows, len, begin,
                    ),
                    false => all_rows::<S, M, LONG, false>(
                        ciphers, hashing, places, text, rows, len, begin,
                    ),
                }
            };
            folded::<S::Unit, M>(u, state)
        },
    )
}

/// What long associated data adds to the state that a message begins with.
#[inline(always)]
fn absorbed<S: Isa, G: Program, M: Pass>(
    s: S,
    (key, powers): (&Expanded, Powers<'_>),
    (job, given): (&Job, bool),
    made: Option<&Block>,
) -> [Block; MAX_STATE] {
    match const { hashes_data::<M>() } {
        true => hash_data::<S, G, M>(s, (key, powers), (job, given), made),
        false => absorb_one::<S, G, M>(s, (key, powers), (job, given), made),
    }
}

/// The same out of line: inlined, messages alone that have none take up to 1.2 of the time. (In batches they do
/// not, and a call would take as long as some blocks.)
#[cold]
#[inline(never)]
fn absorbed_alone<'r, S: Isa, G: Program, M: Pass>(
    s: S,
    key: (&Expanded, Powers<'_>),
    job: (&Job, bool),
    made: Option<&Block>,
    room: &'r mut MaybeUninit<[Block; MAX_STATE]>,
) -> &'r mut [Block; MAX_STATE] {
    room.write(s.enter(
        #[inline(always)]
        || absorbed::<S, G, M>(s, key, job, made),
    ))
}

/// Neighbouring blocks side by side, if there are enough and the mode can; others one after the other in one lane.
#[inline(always)]
fn absorb_one<S: Isa, G: Program, M: Pass>(
    s: S,
    (key, powers): (&Expanded, Powers<'_>),
    (job, given): (&Job, bool),
    made: Option<&Block>,
) -> [Block; MAX_STATE] {
    let n = s.narrow();
    // The inverse cipher absorbs nothing. To make its round keys takes longer than to absorb some blocks.
    let uses = Uses {
        inverse: false,
        ..G::First::SHAPE.uses
    };
    let keys = n.keys(key, uses);
    let c = &Uniform::new(n, &keys, key, uses, M::SHAPE.aes_128);
    let few = &Few::new(n, core::array::from_ref(job), key, given);
    let h = &mut header::<_, G, 1>(few, made.map(|tag| n.splat(tag)));
    let first = begun::<_, M, 1>(few, c, h);
    let mut state = first;
    if const { S::LANES > 1 && !M::SHAPE.strings().along.is_empty() } && job.data_len > LONG_DATA {
        let rows = const { M::SHAPE.strings() }.tail.rows(job.data_len, 16, 16);
        let mut blocks = [[0; 16]; MAX_STATE];
        for (block, x) in blocks.iter_mut().zip(state.blocks()) {
            *block = n.last(*x);
        }
        let text = (job.data, job.dst);
        // SAFETY: the rows are inside the associated data, and nothing is written.
        unsafe { neighbours::<S, Data<M>>(s, key, powers, text, 0..rows, &mut blocks) };
        state = M::State::from_fn(
            #[inline(always)]
            |i| n.splat(&blocks[i]),
        );
        let done = rows * 16;
        if done < job.data_len {
            let len = job.data_len - done;
            // SAFETY: so many bytes are left.
            let block = unsafe {
                few.load(
                    #[inline(always)]
                    |job| job.data.wrapping_add(done),
                    len,
                )
            };
            let count = n.splat(&[len as u8; 16]);
            M::absorb_last(c, &mut state, Piece { block, count });
        }
    } else {
        absorb::<_, M, 1>(few, c, &mut state);
    }
    difference::<_, M>(n, state, first)
}

/// A register at a time.
#[inline(always)]
fn hash_data<S: Isa, G: Program, M: Pass>(
    s: S,
    (key, powers): (&Expanded, Powers<'_>),
    (job, given): (&Job, bool),
    made: Option<&Block>,
) -> [Block; MAX_STATE] {
    let (u, lanes) = (s.unit(), <S::Unit as Isa>::LANES);
    let few = &Few::new(u, core::array::from_ref(job), key, given);
    let hashing = &Hashing::new(u, (powers, lanes), 0, job.data_len.div_ceil(16));
    let keys = s.keys(key, G::First::SHAPE.uses);
    let c = &Single {
        c: uniform::<_, M>(u, &keys, key),
        hashing,
        blocks: 1,
    };
    let h = &mut header::<_, G, 1>(few, made.map(|tag| u.splat(tag)));
    let first = begun::<_, M, 1>(few, c, h);
    let mut state = first;
    let mut done = 0;
    while done < job.data_len {
        let (from, len) = (job.data.wrapping_add(done), job.data_len - done);
        // SAFETY: the associated data has them.
        let (x, len) = unsafe {
            match len >= lanes * 16 {
                true => (u.load(from), lanes * 16),
                false => (u.load_part(from, len), len),
            }
        };
        let blocks = len.div_ceil(16);
        M::absorb(&Single { blocks, ..*c }, &mut state, x, 0);
        done += len;
    }
    difference::<_, M>(u, state, first)
}

/// The difference of two states of one message.
#[inline(always)]
fn difference<U: Isa, M: Pass>(
    u: U,
    state: M::State<U::W>,
    first: M::State<U::W>,
) -> [Block; MAX_STATE] {
    let mut blocks = [[0; 16]; MAX_STATE];
    let both = state.blocks().iter().zip(first.blocks());
    for (block, (x, y)) in blocks.iter_mut().zip(both) {
        *block = lane(u, *x ^ *y, 0);
    }
    blocks
}

/// The header of all passes of `G`, with the tag that the pass before has made.
#[inline(always)]
pub(crate) fn header<S: Isa, G: Program, const N: usize>(
    few: &Few<'_, S, N>,
    made: Option<S::W>,
) -> Header<S::W> {
    let mut h = G::First::header(few);
    if let Some(made) = made
        && const { G::First::SHAPE.tag }
    {
        h[TAG] = made;
    }
    h
}

/// A pass of a serial mode, block after block: `n` has one lane.
#[inline(always)]
fn chain<N: Isa, G: Program, M: Pass>(
    n: N,
    (keys, key): (&N::Keys, &Expanded),
    (job, given): (&Job, bool),
    made: Option<&Block>,
    verdict: Option<&mut Block>,
) -> N::W {
    let few = &Few::new(n, core::array::from_ref(job), key, given);
    let h = header::<_, G, 1>(few, made.map(|tag| few.s.splat(tag)));
    let c = &uniform::<_, M>(n, keys, key);
    let rows = rows::<M>(job.len);
    whole::<N, M, 1, true>(
        few,
        c,
        h,
        verdict.map(core::array::from_mut),
        #[inline(always)]
        |state| absorb::<N, M, 1>(few, c, state),
        #[inline(always)]
        |mut state| {
            let links = const { !matches!(M::SHAPE.feed, Feed::Serial(Link::None)) && N::ROUNDS };
            let chains_text =
                const { M::SHAPE.output && matches!(M::SHAPE.feed, Feed::Serial(Link::Before)) };
            if links && !(chains_text && rows <= SHORT_CHAIN) {
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
                // As in `linked`.
                core::hint::black_box(());
                row += 1;
            }
            state
        },
    )
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
    let load = |at: usize| unsafe { n.load(src.add(at)) };
    let store = |y: N::W, at: usize| {
        if const { M::SHAPE.output } {
            // SAFETY: as above.
            unsafe { n.store(y, dst.add(at)) };
        }
        // Calls overlap: several steps of one loop, which the compiler would make here where it is told
        // of the CPU, take more instructions, and one message of 128 bytes 1.12 of the time (Zen 5).
        core::hint::black_box(());
    };
    if rows == 0 {
        return state;
    }
    let mut s = state.blocks()[0] ^ key;
    let (mut at, last) = (0, (rows - 1) * 16);
    if const { matches!(M::SHAPE.feed, Feed::Serial(Link::Before)) } {
        s = s ^ load(0);
        while at < last {
            let add = key ^ load(at + 16);
            s = c.encrypt_linked(s, add);
            store(s ^ add, at);
            at += 16;
        }
        s = c.encrypt_linked(s, c.zero());
        store(s, at);
        return with_first::<N, M>(s, state);
    }
    while at <= last {
        let x = load(at);
        if const { matches!(M::SHAPE.feed, Feed::Serial(Link::After)) } {
            s = c.encrypt_linked(s, key ^ x);
            store(s ^ key, at);
        } else {
            s = c.encrypt_linked(s, key);
            store(s ^ key ^ x, at);
        }
        at += 16;
    }
    with_first::<N, M>(s ^ key, state)
}

/// Messages from their headers to their tags: `data` absorbs their associated data, `all` does their rows; what
/// these leave is done here where `all` does `ROWS` alone, or where it is not done as rows are. Where tags are
/// compared, `verdicts` receive what they differ by from those that were given.
#[inline(always)]
pub(crate) fn whole<U: Isa, M: Pass, const N: usize, const ROWS: bool>(
    few: &Few<'_, U, N>,
    c: &impl Cipher<W = U::W>,
    mut h: Header<U::W>,
    verdicts: Option<&mut [Block; N]>,
    data: impl FnOnce(&mut M::State<U::W>),
    all: impl FnOnce(M::State<U::W>) -> M::State<U::W>,
) -> U::W {
    let (u, job) = (few.s, &few.jobs[0]);
    let mut state = begun::<U, M, N>(few, c, &mut h);
    data(&mut state);
    let state = M::text(c, &mut h, state);
    let mut state = all(state);
    if const { ROWS || !M::SHAPE.along().ends_alike } {
        finish::<U, M, N>(few, c, &h, &mut state);
    }
    if !const { M::SHAPE.tag } {
        return c.zero();
    }
    let tag = M::tag(c, &h, state);
    let len = job.tag_len.min(16) as usize;
    // SAFETY: tags have that many bytes, and are readable or writable.
    unsafe {
        let Some(verdicts) = verdicts else {
            few.store(
                tag,
                #[inline(always)]
                |job| job.tag,
                len,
            );
            return tag;
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
    tag
}

/// The state that messages begin with.
#[inline(always)]
fn begun<U: Isa, M: Pass, const N: usize>(
    few: &Few<'_, U, N>,
    c: &impl Cipher<W = U::W>,
    h: &mut Header<U::W>,
) -> M::State<U::W> {
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
    M::begin(c, h)
}

/// Absorbs the associated data: one component, or a vector of components and the nonce. Of several
/// messages (`N` above 1), a vector has at most one component.
#[inline(always)]
pub(crate) fn absorb<U: Isa, M: Pass, const N: usize>(
    few: &Few<'_, U, N>,
    c: &impl Cipher<W = U::W>,
    state: &mut M::State<U::W>,
) {
    if const { M::SHAPE.data.is_none() } {
        return;
    }
    let job = &few.jobs[0];
    if !const { M::SHAPE.strings().vector } {
        let len = job.data_len;
        if len > 0 {
            component::<U, M, N>(
                few,
                c,
                state,
                #[inline(always)]
                |job| job.data,
                len,
            );
        }
        return;
    }
    let own = job.components();
    for i in 0..own + usize::from(job.nonce_len > 0) {
        let of = |job: &Job| match i < own {
            true => job.component(i),
            false => (job.nonce, job.nonce_len as usize),
        };
        M::open_data(c, state);
        component::<U, M, N>(
            few,
            c,
            state,
            #[inline(always)]
            |job| of(job).0,
            of(job).1,
        );
    }
}

/// Absorbs a component of `len` bytes, which lies where `of` says.
#[inline(always)]
fn component<U: Isa, M: Pass, const N: usize>(
    few: &Few<'_, U, N>,
    c: &impl Cipher<W = U::W>,
    state: &mut M::State<U::W>,
    of: impl Fn(&Job) -> *const u8 + Copy,
    len: usize,
) {
    let shape = const { M::SHAPE.strings() };
    let (begin, rows, left) = shape.split(len);
    let part = |at: usize, len: usize| Piece {
        // SAFETY: rows and what they leave are inside the associated data.
        block: unsafe {
            few.load(
                #[inline(always)]
                |job| of(job).wrapping_add(begin + at),
                len,
            )
        },
        count: few.s.splat(&[len as u8; 16]),
    };
    for row in 0..rows {
        let x = part(row * shape.stride, 16);
        M::absorb(c, state, x.block, row);
    }
    // In a vector, an empty component counts, too.
    if left > 0 || const { M::SHAPE.strings().vector } {
        M::absorb_last(c, state, part(rows * shape.stride, left));
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
    let ends = &Ends::new::<U, M, N>(few);
    if const { matches!(M::SHAPE.tail, Tail::None) }
        || const { matches!(M::SHAPE.tail, Tail::Part | Tail::Stolen) } && !ends.any(0)
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
    if const { N > 1 && matches!(M::SHAPE.tail, Tail::Part) } && !few.even {
        // Of a message that has ended there is no finish.
        *state = select::<M, _>(some.any(), state, &before);
    }
    if const { M::SHAPE.output } {
        ends.store::<U, M, N>(few, last.first.block, 0);
        if more {
            ends.store::<U, M, N>(few, last.second.block, 1);
        }
    }
}

/// What rows leave of messages: for each where it begins, and the sizes of its two pieces. Of
/// messages of one length, of the first.
struct Ends {
    /// How many.
    count: usize,
    at: [usize; MAX_UNIT],
    sizes: [[usize; MAX_UNIT]; 2],
}

impl Ends {
    #[inline(always)]
    fn new<U: Isa, M: Pass, const N: usize>(few: &Few<'_, U, N>) -> Self {
        let mut ends = Ends {
            count: if few.even { 1 } else { N },
            at: [0; MAX_UNIT],
            sizes: [[0; MAX_UNIT]; 2],
        };
        for (l, job) in few.jobs[..ends.count].iter().enumerate() {
            not_by_vectors();
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
        self.sizes[piece][..self.count]
            .iter()
            .fold(0, |any, size| any | size)
            > 0
    }

    /// Where a piece of message `l` begins, and its size.
    #[inline(always)]
    fn of(&self, l: usize, piece: usize) -> (usize, usize) {
        let l = l.min(self.count - 1);
        (self.at[l] + 16 * piece, self.sizes[piece][l])
    }

    #[inline(always)]
    fn load<U: Isa, const N: usize>(&self, few: &Few<'_, U, N>, piece: usize) -> Piece<U::W> {
        let u = few.s;
        let of = |l: usize| {
            let (at, size) = self.of(l, piece);
            some(few.source(l).wrapping_add(at), size)
        };
        // SAFETY: so many bytes are left.
        let block = unsafe {
            match N {
                1 => u.load_first(of(0).0, of(0).1),
                _ => u.gather_part(of),
            }
        };
        let count = match few.even {
            true => u.splat(&[self.of(0, piece).1 as u8; 16]),
            false => {
                let mut all = [0; MAX_LANES];
                all[..MAX_UNIT].copy_from_slice(&self.sizes[piece]);
                u.in_all_bytes(&all)
            }
        };
        Piece { block, count }
    }

    #[inline(always)]
    fn store<U: Isa, M: Pass, const N: usize>(&self, few: &Few<'_, U, N>, x: U::W, piece: usize) {
        let of = |l: usize| {
            let (at, size) = self.of(l, piece);
            let size = if const { whole_end::<M>() } { 16 } else { size };
            some_mut(few.jobs[l].dst.wrapping_add(at), size)
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
