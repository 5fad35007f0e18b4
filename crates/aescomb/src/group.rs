//! Messages as the kernels see them: the lanes that jobs are given, and a group's
//! memory between two windows.
//!
//! `unsafe` here rests on two facts: those stated for a [`Job`] that was admitted, in
//! `job.rs`, which [`Shape::nonce`] makes 16 bytes of nonce. And [`Lanes`] never goes
//! beyond the rows of a lane's job: `windows` checks it, once per window; lanes without a
//! message work on memory of their own, and `NOWHERE` is never written.
#![allow(unsafe_code)]

use crate::backend::is_zen4;
use crate::block::{Aligned, Block, LINE, MAX_LANES};
use crate::cipher::{Cipher, OutOfLine};
use crate::crowding::{SET, STAGED_BELOW, differ, may_be_staged, phases_of, place_of};
use crate::expanded::Expanded;
use crate::facts::InLanes;
use crate::fetch::{Beside, Coming};
use crate::hashing::{
    LanePowers, Powers, SUMMED_ROWS, has_summed_rows, hash_of, lane_powers, sum_rows,
};
use crate::isa::{Isa, Starts, Wide};
use crate::job::{Job, not_by_vectors};
use crate::key_set::KeySet;
use crate::parts::{
    EMPTY, gather_of, nowhere, places_from_memory, scatter_tags, some, some_mut, tag,
};
use crate::pass::{
    HEADER, Header, Last, MAX_STATE, Own, Pass, Piece, Program, State, TAG, is_by_blocks, rows,
    second_has_tag, select, two_pieces, uniform, whole_end,
};
use crate::plan::{Drain, Window, Windows};
use crate::rows::{has_lines, neighbours, take_row, take_rows};
use crate::shape::Tail;
use crate::stage::Stage;
use core::ops::Range;

/// Idle lanes of a group work on memory of their own, which has this many blocks: two
/// for each row that is done at a time.
const IDLE_BLOCKS: usize = 512;

/// What a component of associated data has, over all messages.
#[derive(Clone, Copy, Default)]
struct Component {
    /// The most rows.
    rows: usize,
    /// Not 0 where rows leave something over.
    left: usize,
    /// Whether there is one at all.
    any: bool,
}

/// What is seen of messages while they are read one after the other.
#[derive(Default)]
struct Seen {
    /// Not 0 where there is associated data, and where messages differ.
    data: usize,
    differs: usize,
}

impl Seen {
    #[inline(always)]
    fn add(&mut self, job: &Job, first: &Job) {
        self.data |= job.data_len;
        self.differs |= (job.nonce_len ^ first.nonce_len) as usize
            | (job.tag_len ^ first.tag_len) as usize
            | job.data_len ^ first.data_len;
    }
}

/// Memory for a group of messages, one to a lane, longest first.
#[repr(C, align(64))]
pub(crate) struct Lanes {
    state: [[Block; MAX_LANES]; MAX_STATE],
    /// The state of messages that have ended.
    kept: [[Block; MAX_LANES]; MAX_STATE],
    header: [[Block; MAX_LANES]; HEADER],
    /// Of the first constants of keys, if messages are long enough.
    powers: LanePowers,
    has_powers: bool,
    job: [*const Job; MAX_LANES],
    /// Places of their keys, where each has its own.
    key: [u32; MAX_LANES],
    src: [*const u8; MAX_LANES],
    dst: [*mut u8; MAX_LANES],
    rows: [usize; MAX_LANES],
    len: [usize; MAX_LANES],
    /// What the rows leave over, of which a second piece is what goes beyond 16 bytes; where
    /// its results go; whether anything is left at all.
    rest: [*const u8; MAX_LANES],
    left: [usize; MAX_LANES],
    left_second: [usize; MAX_LANES],
    end: [*mut u8; MAX_LANES],
    leaves: bool,
    /// Whether nonces, associated data and tags are of the same lengths in all.
    alike: bool,
    /// How many messages begin at the place of a page where the first one does.
    same: usize,
    /// Associated data, or a component of it: its rows, and what they leave over;
    /// not 0 where that wants an end.
    component: Component,
    data: [*const u8; MAX_LANES],
    data_rows: [usize; MAX_LANES],
    data_rest: [*const u8; MAX_LANES],
    data_left: [usize; MAX_LANES],
    has: [usize; MAX_LANES],
    /// Which lanes take part in some of the rows, and from where.
    takes: [usize; MAX_LANES],
    from: [*const u8; MAX_LANES],
    idle: [Block; IDLE_BLOCKS],
}

// SAFETY: as for `Job`.
unsafe impl Send for Lanes {}
// SAFETY: as above.
unsafe impl Sync for Lanes {}

impl Drop for Lanes {
    fn drop(&mut self) {
        self.state = [[[0; 16]; MAX_LANES]; MAX_STATE];
        self.kept = [[[0; 16]; MAX_LANES]; MAX_STATE];
        self.header = [[[0; 16]; MAX_LANES]; HEADER];
        self.powers = [[[[0; 16]; MAX_LANES]; 2]; SUMMED_ROWS];
        self.idle = [[0; 16]; IDLE_BLOCKS];
        zeroize::optimization_barrier(self);
    }
}

impl Lanes {
    pub(crate) fn new() -> Self {
        Lanes {
            state: [[[0; 16]; MAX_LANES]; MAX_STATE],
            kept: [[[0; 16]; MAX_LANES]; MAX_STATE],
            header: [[[0; 16]; MAX_LANES]; HEADER],
            powers: [[[[0; 16]; MAX_LANES]; 2]; SUMMED_ROWS],
            has_powers: false,
            job: [&EMPTY; MAX_LANES],
            key: [0; MAX_LANES],
            src: [core::ptr::null(); MAX_LANES],
            dst: [core::ptr::null_mut(); MAX_LANES],
            rows: [0; MAX_LANES],
            len: [0; MAX_LANES],
            rest: [core::ptr::null(); MAX_LANES],
            left: [0; MAX_LANES],
            left_second: [0; MAX_LANES],
            end: [core::ptr::null_mut(); MAX_LANES],
            leaves: false,
            alike: false,
            same: 0,
            component: Component::default(),
            data: [core::ptr::null(); MAX_LANES],
            data_rows: [0; MAX_LANES],
            data_rest: [core::ptr::null(); MAX_LANES],
            data_left: [0; MAX_LANES],
            has: [0; MAX_LANES],
            takes: [0; MAX_LANES],
            from: [core::ptr::null(); MAX_LANES],
            idle: [[0; 16]; IDLE_BLOCKS],
        }
    }

    /// Gives the first lanes messages, at most `room`, and the others nothing; how many have one.
    /// `alike`: nonces, associated data and tags are of the same lengths in all.
    #[inline(always)]
    pub(crate) fn take<S: Isa, G: Program>(
        &mut self,
        s: S,
        room: usize,
        messages: &mut Drain<'_>,
        jobs: &[Job],
        (own_keys, alike): (bool, bool),
    ) -> usize {
        let used = self.fill::<G>(room, messages, jobs, own_keys, alike);
        if used < S::LANES {
            self.job[used..S::LANES].fill(&EMPTY);
            self.len[used..S::LANES].fill(0);
            // So that `same` counts no places of earlier messages.
            self.dst[used..S::LANES].fill(nowhere());
        }
        if !self.lay_out::<S, G::First, G::Second>(s, used) {
            self.sort::<G>(used, own_keys);
            self.lay_out::<S, G::First, G::Second>(s, used);
        }
        used
    }

    /// Gives lanes their messages. Out of line: scalar code that needs all registers, and the same for
    /// all instruction sets. All else is read where its job is, or worked out for all lanes at once.
    #[inline(never)]
    fn fill<G: Program>(
        &mut self,
        room: usize,
        messages: &mut Drain<'_>,
        jobs: &[Job],
        own_keys: bool,
        alike: bool,
    ) -> usize {
        assert!(room <= MAX_LANES);
        let mut seen = Seen::default();
        let used = messages.take(
            room,
            #[inline(always)]
            |l, i| {
                let job = &jobs[i as usize];
                self.job[l] = job;
                self.read_job::<G::First>(l, job, G::AGAIN);
                if const { uses_header::<G::First>() || uses_header::<G::Second>() } && !alike {
                    // SAFETY: the first lane has a job, borrowed meanwhile.
                    seen.add(job, unsafe { &*self.job[0] });
                }
            },
        );
        assert!(used > 0);
        // SAFETY: as above.
        let data = seen.data | unsafe { (*self.job[0]).data_len };
        self.alike = seen.differs == 0;
        self.component.any = data > 0;
        if own_keys {
            self.read_keys(used);
        }
        used
    }

    /// How many rows the longest message has.
    #[inline(always)]
    pub(crate) fn longest(&self) -> usize {
        self.rows[0]
    }

    /// Which of `jobs` is in lane `l`.
    #[inline(always)]
    pub(crate) fn place(&self, l: usize, jobs: &[Job]) -> usize {
        (self.job[l].addr() - jobs.as_ptr().addr()) / size_of::<Job>()
    }

    /// Makes a group of the `used` messages of `jobs` that are in the lanes. Where tags are compared,
    /// `verdicts` receives what each differs by from the one that was given.
    #[inline(always)]
    pub(crate) fn group<'g, 'j, S: Isa, G: Program>(
        &'g mut self,
        s: S,
        used: usize,
        jobs: &'j [Job],
        keys: KeySet<'_>,
        verdicts: Option<&'g mut [Block]>,
        (stage, coming): (Option<&'g mut Stage>, Option<&'g mut Coming<'j>>),
    ) -> Group<'g, 'j> {
        const { assert!(S::LANES <= MAX_LANES) };
        assert!(used > 0 && used <= S::LANES);
        if const { G::First::SHAPE.header > 0 || G::TWO } {
            // A tag that another pass has made is there, too.
            let given = G::HAS_TAGS || verdicts.is_some();
            self.make_header::<S, G>(s, used, keys, given);
        }
        Group {
            crowded: used > 8 && self.same > used / 2,
            lanes: self,
            stage: stage.map(Stage::cleared),
            coming,
            used,
            done: 0,
            jobs,
            verdicts,
        }
    }

    /// Reads the places and lengths of the texts of lanes in use.
    #[inline(always)]
    fn read<M: Pass>(&mut self, used: usize, again: bool) {
        for l in 0..used {
            // SAFETY: lanes have a job, borrowed meanwhile.
            self.read_job::<M>(l, unsafe { &*self.job[l] }, again);
        }
    }

    #[inline(always)]
    fn read_keys(&mut self, used: usize) {
        for (key, job) in self.key.iter_mut().zip(&self.job[..used]) {
            // SAFETY: lanes have a job.
            *key = unsafe { (**job).key_index };
        }
    }

    /// Each store here is a cost of every message.
    #[inline(always)]
    fn read_job<M: Pass>(&mut self, l: usize, job: &Job, again: bool) {
        not_by_vectors();
        self.len[l] = job.len;
        (self.src[l], self.dst[l]) = (source::<M>(job, again), job.dst);
    }

    /// Works out how many rows each lane has and what they leave, for all lanes at once. Returns whether no
    /// lane has more rows than the one before it, in this pass and in the one `After` it. Out of line: it is
    /// the same for all forms of keys.
    #[inline(never)]
    fn lay_out<S: Isa, M: Pass, After: Pass>(&mut self, s: S, used: usize) -> bool {
        s.enter(
            #[inline(always)]
            || self.lay_out_all::<S, M, After>(used),
        )
    }

    #[inline(always)]
    fn lay_out_all<S: Isa, M: Pass, After: Pass>(&mut self, used: usize) -> bool {
        const { assert!(S::LANES <= MAX_LANES) };
        // The compiler makes vectors of a loop only if it does not know how often that runs.
        let lanes = core::hint::black_box(S::LANES).min(MAX_LANES);
        let first = self.dst[0].addr();
        // The highest bit is set where a lane has more rows than the one before it.
        let (mut rises, mut before, mut before_after) = (0, usize::MAX >> 1, usize::MAX >> 1);
        let (mut same, mut leaves) = (0, 0);
        for l in 0..lanes {
            let (len, dst) = (self.len[l], self.dst[l]);
            let (rows, after) = (rows::<M>(len), rows::<After>(len));
            self.rows[l] = rows;
            rises |= before.wrapping_sub(rows) | before_after.wrapping_sub(after);
            (before, before_after) = (rows, after);
            if in_lines::<M>() {
                same += usize::from((dst.addr() ^ first) & SET == 0);
            }
            if const { matches!(M::SHAPE.tail, Tail::None) } {
                continue;
            }
            let at = rows * M::SHAPE.row.stride;
            let mut left = len - at;
            if two_pieces::<M>() {
                self.left_second[l] = left.saturating_sub(16);
                left = left.min(16);
            }
            (self.rest[l], self.left[l]) = some(self.src[l].wrapping_add(at), left);
            if const { M::SHAPE.output } {
                // A whole block may come of nothing, but not where there is no message.
                let none = left == 0 && !(whole_end::<M>() && l < used);
                self.end[l] = if none {
                    nowhere()
                } else {
                    dst.wrapping_add(at)
                };
            }
            leaves |= left;
        }
        (self.same, self.leaves) = (same, leaves > 0);
        rises <= usize::MAX >> 1
    }

    /// Makes the header rows.
    #[inline(never)]
    fn make_header<S: Isa, G: Program>(
        &mut self,
        s: S,
        used: usize,
        keys: KeySet<'_>,
        given: bool,
    ) {
        s.enter(
            #[inline(always)]
            || {
                let header = G::First::header(&InLanes {
                    s,
                    jobs: &self.job,
                    len: &self.len,
                    used,
                    alike: self.alike,
                    keys,
                    given,
                });
                let mut i = 0;
                while i < HEADER {
                    if const { G::TWO } && i == TAG || i < const { G::First::SHAPE.header } {
                        s.store_row(header[i], &mut self.header[i]);
                    }
                    i += 1;
                }
            },
        );
    }

    /// Sorts messages that are so long that the queue gives them only nearly in order.
    #[cold]
    #[inline(never)]
    fn sort<G: Program>(&mut self, used: usize, own_keys: bool) {
        // SAFETY: as in `read`.
        let len = |job: *const Job| unsafe { (*job).len };
        for l in 1..used {
            let own = len(self.job[l]);
            let at = self.job[..l].partition_point(|job| len(*job) >= own);
            self.job[at..=l].rotate_right(1);
        }
        self.read::<G::First>(used, G::AGAIN);
        if own_keys {
            self.read_keys(used);
        }
    }

    /// Keeps the states, of so many `blocks`, of those of the first `lanes` lanes whose messages end
    /// after `end` rows: later windows run over them.
    #[inline(always)]
    fn keep_ended(&mut self, lanes: usize, end: usize, blocks: usize) {
        let mut l = lanes;
        while l > 0 && self.rows[l - 1] == end {
            l -= 1;
            for (kept, state) in self.kept.iter_mut().zip(&self.state).take(blocks) {
                kept[l] = state[l];
            }
        }
    }

    /// What rows leave: the first 16 bytes, or those after them.
    #[inline(always)]
    fn end<S: Isa>(&self, s: S, second: bool) -> Piece<S::W> {
        let len = if second {
            &self.left_second
        } else {
            &self.left
        };
        // SAFETY: what is left is readable, at most 16 bytes of each piece.
        let block = unsafe {
            s.gather_part(
                #[inline(always)]
                |l| match second {
                    true => some(self.rest[l].wrapping_add(16), len[l]),
                    false => (self.rest[l], len[l]),
                },
            )
        };
        let count = s.in_all_bytes(len);
        Piece { block, count }
    }

    /// Writes what comes of it.
    #[inline(always)]
    fn store_end<S: Isa, M: Pass>(&self, s: S, x: S::W, second: bool) {
        // SAFETY: there is room for as many bytes as were left, or for whole blocks.
        unsafe {
            s.scatter_part(
                x,
                #[inline(always)]
                |l| match second {
                    true => some_mut(self.end[l].wrapping_add(16), self.left_second[l]),
                    false if whole_end::<M>() && self.end[l] != nowhere() => (self.end[l], 16),
                    false => (self.end[l], self.left[l]),
                },
            )
        };
    }

    /// Gives lane `l` a component of associated data, if it `has` one.
    #[inline(always)]
    fn place_data<M: Pass>(
        &mut self,
        l: usize,
        (mut at, len): (*const u8, usize),
        has: bool,
        component: &mut Component,
    ) {
        let Some(shape) = (const { M::SHAPE.data }) else {
            return;
        };
        let (begin, rows, left) = shape.split(len);
        at = at.wrapping_add(begin);
        self.data[l] = at;
        self.data_rows[l] = rows;
        let done = rows * shape.stride;
        (self.data_rest[l], self.data_left[l]) = some(at.wrapping_add(done), left.min(16));
        self.has[l] = match shape.tail {
            Tail::Last => usize::from(has),
            _ => left,
        };
        component.rows = component.rows.max(rows);
        component.left |= self.has[l];
        component.any |= has;
    }
}

#[inline(always)]
fn data_of(job: &Job) -> *const u8 {
    job.data
}

#[inline(always)]
fn nonce_of(job: &Job) -> *const u8 {
    job.nonce
}

/// Where a pass finds a text, the first one or one after it.
#[inline(always)]
fn source<M: Pass>(job: &Job, again: bool) -> *const u8 {
    match M::SHAPE.again && again {
        true => job.dst,
        false => job.src,
    }
}

/// Whether rows may be done a line at a time: those that are written, whose stores would
/// wait for lines that the other lanes have displaced. Of modes along messages, those that have most
/// of their rows in lanes, as each message would want tables of its own.
const fn in_lines<M: Pass>() -> bool {
    let blocks = is_by_blocks::<M>();
    let tables = M::SHAPE.own.is_some() && M::SHAPE.along().tables > 0;
    M::SHAPE.output && (has_lines::<M>() || tables && blocks && hash_of::<M>().is_none())
}

/// Whether more than the text of a message counts.
const fn uses_header<M: Pass>() -> bool {
    M::SHAPE.header > 0 || M::SHAPE.data.is_some() || M::SHAPE.tag
}

/// Whether anything is done at the ends of messages.
const fn has_ends<M: Pass>() -> bool {
    !matches!(M::SHAPE.tail, Tail::None) || M::SHAPE.tag
}

/// The headers and the states of messages that have ended, for their tags.
type Ended<S, M> = (Header<<S as Isa>::W>, <M as Pass>::State<<S as Isa>::W>);

/// A group of messages in their lanes, longest first.
pub(crate) struct Group<'l, 'j> {
    lanes: &'l mut Lanes,
    /// Lanes that have a message.
    used: usize,
    /// Rows that are done.
    done: usize,
    /// Whether most texts begin at the same place of a page, as in page-aligned buffers: their
    /// rows share one set of the first-level cache, which has room for 8 to 12 lines.
    crowded: bool,
    /// Where rows are done, if not where texts are.
    stage: Option<&'l mut Stage>,
    /// Messages that come next, in a batch larger than the caches.
    pub coming: Option<&'l mut Coming<'j>>,
    /// Where tags are compared, not made.
    verdicts: Option<&'l mut [Block]>,
    /// Of which the messages are some.
    jobs: &'j [Job],
}

impl Group<'_, '_> {
    /// Blocks of each message.
    #[inline(always)]
    pub(crate) fn rows(&self) -> &[usize] {
        &self.lanes.rows[..self.used]
    }

    /// Key of each message: its place in the table.
    #[inline(always)]
    pub(crate) fn keys(&self) -> &[u32] {
        &self.lanes.key[..self.used]
    }

    /// Whether rows go by way of a stage.
    #[inline(always)]
    pub(crate) fn is_staged(&self) -> bool {
        self.stage.is_some()
    }

    /// Goes back to the beginnings, for a pass after the first.
    #[inline(never)]
    pub(crate) fn again<S: Isa, M: Pass>(&mut self, s: S) {
        self.done = 0;
        self.stage = self.stage.take().map(Stage::cleared);
        // Windows rest on it.
        self.lanes.read::<M>(self.used, true);
        assert!(
            self.lanes.lay_out::<S, M, M>(s, self.used),
            "lanes must stay in order"
        );
    }

    /// Those `lanes` have no message: the rows from `row` on are in `idle`.
    #[inline(always)]
    fn idle<M: Pass>(&mut self, lanes: Range<usize>, row: usize) {
        let idle = self.lanes.idle.as_mut_ptr().cast::<u8>();
        let base = idle.wrapping_sub(row * M::SHAPE.row.stride);
        for l in lanes {
            self.lanes.src[l] = base;
            self.lanes.dst[l] = base;
        }
    }

    #[inline(always)]
    fn load_header<S: Isa, M: Pass>(&self, s: S) -> Header<S::W> {
        let mut header = [s.splat(&[0; 16]); HEADER];
        let mut i = 0;
        while i < HEADER {
            // Of a pass before this one there may be a tag.
            if i < M::SHAPE.header || i == TAG {
                header[i] = s.load_row(&self.lanes.header[i]);
            }
            i += 1;
        }
        header
    }

    /// The messages' own keys.
    #[inline(always)]
    pub(crate) fn derive<S: Isa, M: Pass>(
        &self,
        s: S,
        c: &impl Cipher<W = S::W>,
        bytes: usize,
    ) -> Own<S::W> {
        M::derive(c, &self.load_header::<S, M>(s), bytes)
    }

    /// Begins all messages: up to their texts. Out of line, as it is the same for all
    /// forms of keys; so are other things that are done once a message.
    #[inline(never)]
    pub(crate) fn begin<S: Isa, M: Pass>(&mut self, s: S, c: &OutOfLine<'_, S>) {
        s.enter(
            #[inline(always)]
            || self.begin_all::<S, M>(s, c),
        );
    }

    #[inline(always)]
    fn begin_all<S: Isa, M: Pass>(&mut self, s: S, c: &impl Cipher<W = S::W>) {
        let mut h = self.load_header::<S, M>(s);
        if const { M::SHAPE.nonce } {
            let mut nonces = [nowhere().cast_const(); MAX_LANES];
            let mut l = 0;
            while l < S::LANES {
                // SAFETY: lanes have a job.
                nonces[l] = unsafe { (*self.lanes.job[l]).nonce };
                l += 1;
            }
            // SAFETY: the nonces of messages have 16 bytes, and so has what others have.
            h[0] = unsafe { s.gather(nonces.as_ptr(), 0) };
        }
        let mut state = M::begin(c, &mut h);
        if const { M::SHAPE.data.is_some() } {
            if const { M::SHAPE.strings().vector } {
                self.absorb_vector::<S, M>(s, c, &mut state);
            } else if self.lanes.component.any {
                self.absorb_all::<S, M>(s, c, &mut state);
            }
        }
        let state = M::text(c, &mut h, state);
        let lanes = &mut *self.lanes;
        if const { M::SHAPE.tag } {
            let mut i = 0;
            while i < M::SHAPE.header {
                s.store_row(h[i], &mut lanes.header[i]);
                i += 1;
            }
        }
        store_state::<S, M>(s, &state, &mut lanes.state);
        if const { has_summed_rows::<S, M>() } {
            lanes.has_powers = lanes.rows[0] >= 3 * SUMMED_ROWS;
            if lanes.has_powers {
                lane_powers::<S, M>(s, c.subkey(0), &mut lanes.powers);
            }
        }
        let ends = lanes.rows[self.used - 1] == 0;
        if const { has_ends::<M>() } && ends {
            // A message without rows ends where it begins.
            store_state::<S, M>(s, &state, &mut lanes.kept);
        }
    }

    /// Gives the lanes component `i` of vectors of associated data, or the only one.
    #[inline(never)]
    fn component<M: Pass>(&mut self, lanes: usize, i: usize) {
        let mut component = Component::default();
        for l in 0..lanes {
            // SAFETY: lanes have a job.
            let job = unsafe { &*self.lanes.job[l] };
            let own = job.components();
            let (has, data) = match i {
                _ if const { !M::SHAPE.strings().vector } => {
                    (job.data_len > 0, (job.data, job.data_len))
                }
                i if i < own => (true, job.component(i)),
                i if i == own && job.nonce_len > 0 => (true, (job.nonce, job.nonce_len as usize)),
                _ => (false, (core::ptr::null(), 0)),
            };
            self.lanes.place_data::<M>(l, data, has, &mut component);
        }
        self.lanes.component = component;
    }

    /// Absorbs a vector of associated data, the nonce after it.
    #[inline(always)]
    fn absorb_vector<S: Isa, M: Pass>(
        &mut self,
        s: S,
        c: &impl Cipher<W = S::W>,
        state: &mut M::State<S::W>,
    ) {
        // SAFETY: lanes have a job.
        let job = |l: usize| unsafe { &*self.lanes.job[l] };
        let first = job(0);
        let nonce_len = first.nonce_len as usize;
        let has_rows = |len| const { M::SHAPE.strings() }.split(len).1 > 0;
        let alike = self.lanes.alike
            && first.components <= 1
            && (1..self.used).all(|l| job(l).components == first.components);
        if alike && !has_rows(first.data_len) && !has_rows(nonce_len) {
            if first.components == 1 {
                M::open_data(c, state);
                // SAFETY: all have one component of this length.
                unsafe { self.absorb_end::<S, M>(s, c, state, first.data_len, data_of) };
            }
            if nonce_len > 0 {
                M::open_data(c, state);
                // SAFETY: all have a nonce of this length.
                unsafe { self.absorb_end::<S, M>(s, c, state, nonce_len, nonce_of) };
            }
            return;
        }
        let mut i = 0;
        self.component::<M>(S::LANES, i);
        while self.lanes.component.any {
            M::open_data(c, state);
            self.absorb::<S, M>(s, c, state);
            i += 1;
            self.component::<M>(S::LANES, i);
        }
    }

    /// Absorbs associated data that is no vector.
    #[inline(always)]
    fn absorb_all<S: Isa, M: Pass>(
        &mut self,
        s: S,
        c: &impl Cipher<W = S::W>,
        state: &mut M::State<S::W>,
    ) {
        if self.lanes.alike
            // SAFETY: the first lane has a job.
            && let len = unsafe { (*self.lanes.job[0]).data_len }
            && let (_, 0, left) = const { M::SHAPE.strings() }.split(len)
        {
            // Nothing, or one end in all lanes.
            if left > 0 {
                // SAFETY: all have data of this length.
                unsafe { self.absorb_end::<S, M>(s, c, state, len, data_of) };
            }
            return;
        }
        self.component::<M>(S::LANES, 0);
        self.absorb::<S, M>(s, c, state);
    }

    /// Absorbs strings of `len` bytes, which have no rows: the data or the nonces of jobs.
    ///
    /// # Safety
    /// All messages in lanes have so many bytes there. (Lanes without a message have two blocks.)
    #[inline(always)]
    unsafe fn absorb_end<S: Isa, M: Pass>(
        &self,
        s: S,
        c: &impl Cipher<W = S::W>,
        state: &mut M::State<S::W>,
        len: usize,
        at: impl Fn(&Job) -> *const u8 + Copy,
    ) {
        let (begin, _, left) = const { M::SHAPE.strings() }.split(len);
        let mut block = s.splat(&[0; 16]);
        // SAFETY: the caller's; what has no rows leaves 16 bytes at most.
        unsafe {
            gather_of(
                s,
                &self.lanes.job,
                true,
                #[inline(always)]
                |job| (at(job).wrapping_add(begin), left),
                &mut block,
            )
        };
        let count = s.splat(&[left as u8; 16]);
        M::absorb_last(c, state, Piece { block, count });
    }

    /// Absorbs the component that is in the lanes.
    #[inline(always)]
    fn absorb<S: Isa, M: Pass>(
        &mut self,
        s: S,
        c: &impl Cipher<W = S::W>,
        state: &mut M::State<S::W>,
    ) {
        let Component { rows, left, .. } = self.lanes.component;
        if rows > 0 {
            self.data_rows::<S, M>(s, c, rows, state);
        }
        if left > 0 {
            let lanes = &*self.lanes;
            // SAFETY: the rests have fewer than 16 bytes, or 16 at most.
            let block = unsafe {
                s.gather_part(
                    #[inline(always)]
                    |l| (lanes.data_rest[l], lanes.data_left[l]),
                )
            };
            let count = s.in_all_bytes(&lanes.data_left);
            let last = Piece { block, count };
            let ends = s.in_all_bytes(&self.lanes.has).any();
            let mut new = *state;
            M::absorb_last(c, &mut new, last);
            *state = select::<M, _>(ends, &new, state);
        }
    }

    /// The rows of a component, of which the longest has `most`. Lanes that have no
    /// more of it go on with idle memory, and what comes of that is not kept.
    #[inline(always)]
    fn data_rows<S: Isa, M: Pass>(
        &mut self,
        s: S,
        c: &impl Cipher<W = S::W>,
        most: usize,
        state: &mut M::State<S::W>,
    ) {
        let mut row = 0;
        while row < most {
            let lanes = &mut *self.lanes;
            let stride = const { M::SHAPE.strings().stride };
            let idle = lanes.idle.as_ptr().cast::<u8>().wrapping_sub(row * stride);
            // Up to where nothing changes.
            let mut stop = most;
            stop = stop.min(row + IDLE_BLOCKS / 2);
            for l in 0..S::LANES {
                let takes = lanes.data_rows[l] > row;
                lanes.takes[l] = usize::from(takes);
                lanes.from[l] = if takes { lanes.data[l] } else { idle };
                stop = stop.min(if takes { lanes.data_rows[l] } else { stop });
            }
            let takes = s.in_all_bytes(&lanes.takes).any();
            while row < stop {
                places_from_memory();
                // SAFETY: `row` is inside the data of lanes that take part, and
                // inside `idle` for the others.
                let x = unsafe { s.gather(lanes.from.as_ptr(), row * stride) };
                let mut new = *state;
                M::absorb(c, &mut new, x, row);
                *state = select::<M, _>(takes, &new, state);
                row += 1;
            }
        }
    }

    /// Runs the rows that all lanes of a full group have, in `phases`: the lanes of each are a line
    /// behind those of the one before it.
    #[inline(always)]
    pub(crate) fn in_phases<S: Isa, M: Pass>(
        &mut self,
        s: S,
        c: impl Cipher<W = S::W>,
        phases: usize,
    ) {
        let (lanes, behind) = (&mut *self.lanes, (phases - 1) * LINE);
        // The last lane has the fewest.
        let rows = lanes.rows[S::LANES - 1];
        assert!(self.used == S::LANES && self.done == 0 && rows >= behind);
        let behind_of = |l: usize| l / (S::LANES / phases) * LINE;
        let idle = lanes.idle.as_mut_ptr().cast::<u8>();
        let (mut src, mut dst) = (lanes.src, lanes.dst);
        let mut row = 0;
        while row < rows + behind {
            // Up to where the next phase begins or ends.
            let all = (behind..rows).contains(&row);
            let stop = if all { rows } else { row + LINE };
            let takes = |l: usize| (behind_of(l)..behind_of(l) + rows).contains(&row);
            for l in 0..S::LANES {
                let offset = behind_of(l) * 16;
                (src[l], dst[l]) = match takes(l) {
                    true => (
                        lanes.src[l].wrapping_sub(offset),
                        lanes.dst[l].wrapping_sub(offset),
                    ),
                    false => {
                        let idle = idle.wrapping_sub(row * 16);
                        (idle.cast_const(), idle)
                    }
                };
            }
            let before = lanes.state;
            // The compiler would otherwise step each of these pointers in memory.
            core::hint::black_box((&src, &dst));
            let mut state = load_state::<S, M>(s, &lanes.state);
            // SAFETY: lanes that take part have their own rows up to `stop`, which are inside their
            // messages; the others have `idle`, with room for a line.
            unsafe {
                take_rows::<S, M, _>(
                    s,
                    &c,
                    &mut state,
                    row..stop,
                    (src.as_ptr(), dst.as_ptr()),
                    &mut (),
                )
            };
            store_state::<S, M>(s, &state, &mut lanes.state);
            if !all {
                for l in (0..S::LANES).filter(|l| !takes(*l)) {
                    for (state, before) in lanes.state.iter_mut().zip(&before) {
                        state[l] = before[l];
                    }
                }
            }
            row = stop;
        }
        self.done = rows;
        lanes.keep_ended(S::LANES, rows, lanes.state.len());
    }

    /// See [`phases_of`]: of a full group that has not begun, if it is not better staged.
    #[inline(always)]
    pub(crate) fn phases<S: Isa, M: Pass>(&self) -> Option<usize> {
        let lanes = &*self.lanes;
        let least = lanes.rows[S::LANES - 1];
        if self.used < S::LANES || self.is_staged() && least < STAGED_BELOW {
            return None;
        }
        let differ = differ(
            #[inline(always)]
            |l| place_of::<M>(lanes.src[l], lanes.dst[l]),
        );
        phases_of::<M>(differ, least)
    }

    /// Runs this window, and those after it that have more than `least` lanes, with the state in
    /// registers; by way of the stage if `STAGED`. `S` must have as many lanes as `window`. Returns the window that
    /// comes next.
    #[inline(always)]
    pub(crate) fn windows<S: Isa, M: Pass, const STAGED: bool>(
        &mut self,
        s: S,
        c: impl Cipher<W = S::W>,
        mut window: Window,
        windows: &mut Windows,
        (least, beside): (usize, &mut impl Beside),
    ) -> Option<Window> {
        let mut state = load_state::<S, M>(s, &self.lanes.state);
        // The row that is the first of idle memory.
        let mut idle = self.done;
        if !STAGED {
            self.idle::<M>(window.lanes..S::LANES, idle);
        }
        loop {
            let end = self.done + window.rows;
            // The last of the lanes has the fewest rows.
            assert!(
                window.lanes <= S::LANES
                    && window.lanes <= self.used
                    && self.lanes.rows[window.lanes - 1] >= end
            );
            while self.done < end {
                if STAGED {
                    // SAFETY: the rows are inside messages (checked above).
                    unsafe { self.run_staged::<S, M>(s, &c, &mut state, end) };
                    continue;
                }
                let mut stop = end;
                if window.lanes < S::LANES {
                    if self.done - idle >= IDLE_BLOCKS / 2 {
                        idle = self.done;
                        self.idle::<M>(window.lanes..S::LANES, idle);
                    }
                    stop = end.min(idle + IDLE_BLOCKS / 2);
                }
                // SAFETY: the rows are inside every message (checked above), and inside `idle` for
                // lanes without one.
                unsafe { self.run::<S, M>(s, &c, &mut state, stop, beside) };
            }
            let lanes = &mut *self.lanes;
            let keeps = const { has_ends::<M>() };
            if window.lanes == S::LANES && lanes.rows[0] == end {
                if keeps {
                    store_state::<S, M>(s, &state, &mut lanes.kept);
                }
                return None;
            }
            store_state::<S, M>(s, &state, &mut lanes.state);
            if keeps {
                lanes.keep_ended(window.lanes, end, state.blocks().len());
            }
            let next = windows.next(self.rows())?;
            if next.lanes <= least {
                return Some(next);
            }
            if window.lanes == S::LANES {
                idle = end;
            }
            if !STAGED {
                self.idle::<M>(next.lanes..window.lanes, idle);
            }
            window = next;
        }
    }

    /// Rows up to `stop`, or to the last that is on the stage, of all lanes of `S`: those without a message do
    /// what is there.
    ///
    /// # Safety
    /// Messages have these rows.
    #[inline(always)]
    unsafe fn run_staged<S: Isa, M: Pass>(
        &mut self,
        s: S,
        c: &impl Cipher<W = S::W>,
        state: &mut M::State<S::W>,
        stop: usize,
    ) {
        let (lanes, used) = (&*self.lanes, self.used);
        let Some(stage) = &mut self.stage else {
            unreachable!("there is a stage");
        };
        let (len, row) = (&lanes.rows[..used], self.done);
        let texts = lanes.src.iter().copied().zip(len.iter().copied());
        // SAFETY: the caller's.
        unsafe {
            let stop = stage.fill(s.unit(), texts, row).min(stop);
            let staged = stage.starts();
            take_rows::<S, M, _>(s, c, state, row..stop, (staged, staged), &mut ());
            self.done = stop;
            if const { M::SHAPE.output } && (stop == len[0] || !stage.has(stop)) {
                self.empty_stage(s.unit());
            }
        }
    }

    /// Moves the results of rows that are done from the stage, if there is one, to their places.
    #[inline(always)]
    fn empty_stage<U: Isa>(&mut self, u: U) {
        if let Some(stage) = &mut self.stage {
            let (dst, len) = (&self.lanes.dst, &self.lanes.rows[..self.used]);
            let results = dst.iter().copied().zip(len.iter().copied());
            // SAFETY: messages have the rows that were done of them.
            unsafe { stage.empty(u, results, self.done) };
        }
    }

    /// Rows up to `stop`, of all lanes of `S`.
    ///
    /// # Safety
    /// Lanes' places are valid for them.
    #[inline(always)]
    unsafe fn run<S: Isa, M: Pass>(
        &mut self,
        s: S,
        c: &impl Cipher<W = S::W>,
        state: &mut M::State<S::W>,
        stop: usize,
        beside: &mut impl Beside,
    ) {
        let text = (self.lanes.src.as_ptr(), self.lanes.dst.as_ptr());
        let mut row = self.done;
        self.done = stop;
        if const { S::LINES && in_lines::<M>() } && self.crowded {
            while row + LINE <= stop {
                // SAFETY: the caller's.
                unsafe { take_line::<S, M>(s, c, state, row, text) };
                beside.rows(s, LINE);
                row += LINE;
            }
        }
        while row < stop {
            if const { has_summed_rows::<S, M>() } && self.lanes.has_powers {
                let rows = (stop - row).min(SUMMED_ROWS);
                beside.rows(s, rows);
                sum_rows::<S, M, _>(
                    s,
                    c,
                    &self.lanes.powers,
                    state,
                    rows,
                    #[inline(always)]
                    |c, state| {
                        // SAFETY: the caller's, of all these rows.
                        unsafe {
                            if const { S::LINES && !M::SHAPE.output && is_by_blocks::<M>() }
                                && rows == LINE
                                && is_zen4()
                            {
                                take_line::<S, M>(s, c, state, row, text);
                                return;
                            }
                            for row in row..row + rows {
                                if const { !M::SHAPE.output } {
                                    places_from_memory();
                                }
                                let offset = row * M::SHAPE.row.stride;
                                take_row::<S, M>(s, c, state, row, text, offset);
                            }
                        }
                    },
                );
                row += rows;
                continue;
            }
            // SAFETY: the caller's.
            unsafe { take_rows::<S, M, _>(s, c, state, row..stop, text, beside) };
            row = stop;
        }
    }

    /// Rows that are done.
    #[inline(always)]
    pub(crate) fn done(&self) -> usize {
        self.done
    }

    /// How many rows lane `l` has left.
    #[inline(always)]
    pub(crate) fn left(&self, l: usize) -> usize {
        self.lanes.rows[l] - self.done
    }

    /// Runs the rest of lane `l`'s rows as rows of neighbouring blocks under `key`.
    #[inline(always)]
    pub(crate) fn neighbours<S: Isa, M: Pass>(
        &mut self,
        s: S,
        l: usize,
        key: &Expanded,
        powers: Powers<'_>,
    ) {
        assert!(l < self.used);
        let lanes = &mut *self.lanes;
        let mut state = [[0; 16]; MAX_STATE];
        for (block, row) in state.iter_mut().zip(&lanes.state) {
            *block = row[l];
        }
        let rows = self.done..lanes.rows[l];
        // SAFETY: the rows are inside the message.
        unsafe {
            let text = (lanes.src[l], lanes.dst[l]);
            neighbours::<S, M>(s, key, powers, text, rows, &mut state);
        };
        for (block, row) in state.iter().zip(&mut lanes.kept) {
            row[l] = *block;
        }
    }

    /// Runs the rest of the first lane's rows, where no other lane has any.
    #[inline(always)]
    pub(crate) fn last<N: Isa, M: Pass>(&mut self, n: N, key: &Expanded) {
        if const { may_be_staged::<M>() && M::SHAPE.output } {
            self.empty_stage(n.unit());
        }
        let lanes = &mut *self.lanes;
        let mut state = [[0; 16]; MAX_STATE];
        for (block, row) in state.iter_mut().zip(&lanes.state) {
            *block = row[0];
        }
        let rows = self.done..lanes.rows[0];
        // SAFETY: the rows are inside the message.
        unsafe { one_lane::<N, M>(n, key, (lanes.src[0], lanes.dst[0]), rows, &mut state) };
        for (block, row) in state.iter().zip(&mut lanes.kept) {
            row[0] = *block;
        }
    }

    /// Finishes all messages of the first pass of `G`: what their rows leave over, and tags.
    #[inline(never)]
    pub(crate) fn finish<S: Isa, G: Program>(&mut self, s: S, c: &OutOfLine<'_, S>) {
        s.enter(
            #[inline(always)]
            || {
                let ends = self.ends::<S, G::First>(s, c);
                if const { G::First::SHAPE.tag }
                    && let Some((h, state)) = ends
                {
                    self.tag::<S, G>(s, c, &h, state);
                }
            },
        );
    }

    /// What rows leave over; the header and the state, if anything is left or there is a tag.
    #[inline(always)]
    fn ends<S: Isa, M: Pass>(&mut self, s: S, c: &impl Cipher<W = S::W>) -> Option<Ended<S, M>> {
        let finishes = match const { M::SHAPE.tail } {
            Tail::None => false,
            Tail::Part | Tail::Stolen => self.lanes.leaves,
            _ => true,
        };
        if !finishes && const { !M::SHAPE.tag } {
            return None;
        }
        let mut state = load_state::<S, M>(s, &self.lanes.kept);
        let h = self.load_header::<S, M>(s);
        let lanes = &mut *self.lanes;
        if const { !matches!(M::SHAPE.tail, Tail::None) } && finishes {
            let more = two_pieces::<M>() && lanes.left_second[..S::LANES].iter().any(|n| *n > 0);
            let mut last = Last {
                first: lanes.end(s, false),
                second: match more {
                    true => lanes.end(s, true),
                    false => Piece::none(s),
                },
                more,
            };
            let some = last.first.count.any();
            let mut new = state;
            M::finish(c, &h, &mut new, &mut last);
            state = match const { M::SHAPE.tail } {
                Tail::Part => select::<M, _>(some, &new, &state),
                _ => new,
            };
            if const { M::SHAPE.output } {
                lanes.store_end::<S, M>(s, last.first.block, false);
                if more {
                    lanes.store_end::<S, M>(s, last.second.block, true);
                }
            }
        }
        Some((h, state))
    }

    /// Makes the tags, for the messages or for the pass after this one, or compares them with
    /// those that were given.
    #[inline(always)]
    fn tag<S: Isa, G: Program>(
        &mut self,
        s: S,
        c: &impl Cipher<W = S::W>,
        h: &Header<S::W>,
        state: <G::First as Pass>::State<S::W>,
    ) {
        let made = G::First::tag(c, h, state);
        let lanes = &mut *self.lanes;
        if const { G::TWO } {
            s.store_row(made, &mut lanes.header[TAG]);
            if const { second_has_tag::<G>() } {
                return;
            }
        }
        let jobs = &lanes.job;
        let Some(verdicts) = &mut self.verdicts else {
            // SAFETY: tags are writable.
            unsafe { scatter_tags(s, jobs, lanes.alike, &made) };
            return;
        };
        let mut given = made;
        // SAFETY: tags are readable.
        unsafe { gather_of(s, jobs, lanes.alike, tag, &mut given) };
        let mut len = [0; MAX_LANES];
        for l in 0..S::LANES {
            // SAFETY: lanes have a job.
            len[l] = unsafe { (*jobs[l]).tag_len.min(16) as usize };
        }
        let bytes = s.in_all_bytes(&len).first_bytes();
        let mut difference = Aligned([[0; 16]; MAX_LANES]);
        s.store_row((made ^ given) & bytes, &mut difference.0);
        for l in 0..self.used {
            verdicts[lanes.place(l, self.jobs)] = difference.0[l];
        }
    }
}

/// Takes `state` through rows `rows` of a text at `src` in one lane, with results at `dst`
/// if the mode has any. Out of line, and the same for all instruction sets that have it.
///
/// # Safety
/// The rows are inside what `src` and `dst` are valid for.
#[inline(never)]
unsafe fn one_lane<N: Isa, M: Pass>(
    n: N,
    key: &Expanded,
    (src, dst): (*const u8, *mut u8),
    rows: Range<usize>,
    state: &mut [Block; MAX_STATE],
) {
    n.enter(
        #[inline(always)]
        || {
            let keys = n.keys(key, M::SHAPE.uses);
            let c = uniform::<_, M>(n, &keys, key);
            let mut w = M::State::from_fn(
                #[inline(always)]
                |i| n.splat(&state[i]),
            );
            let mut row = rows.start;
            while row < rows.end {
                // SAFETY: the caller's.
                unsafe {
                    take_row::<N, M>(
                        n,
                        &c,
                        &mut w,
                        row,
                        (&raw const src, &raw const dst),
                        row * M::SHAPE.row.stride,
                    )
                };
                row += 1;
            }
            for (state, w) in state.iter_mut().zip(w.blocks()) {
                *state = n.last(*w);
            }
        },
    );
}

/// [`take_row`] for as many rows as a line has, which stay in registers: of more than four, `take_lines`
/// keeps them in memory.
///
/// # Safety
/// As there, for every row.
#[inline(always)]
unsafe fn take_line<S: Isa, M: Pass>(
    s: S,
    c: &impl Cipher<W = S::W>,
    state: &mut M::State<S::W>,
    row: usize,
    (src, dst): (impl Starts, impl Starts),
) {
    // SAFETY: the caller's.
    unsafe {
        let registers = const { S::LANES / <S::Unit as Isa>::LANES };
        let mut rows = [c.zero(); LINE];
        let mut u = 0;
        while u < registers {
            s.gather_line(&mut rows, u, src, row * 16);
            u += 1;
        }
        // No loop: rows stay in registers.
        rows[0] = M::step(c, state, rows[0], row);
        rows[1] = M::step(c, state, rows[1], row + 1);
        rows[2] = M::step(c, state, rows[2], row + 2);
        rows[3] = M::step(c, state, rows[3], row + 3);
        // The last lane first: its line was loaded last, and is the least likely
        // to have been displaced since by those of other lanes.
        let mut u = registers;
        while const { M::SHAPE.output } && u > 0 {
            u -= 1;
            s.scatter_line(&rows, u, dst, row * 16);
        }
    }
}

#[inline(always)]
fn load_state<S: Isa, M: Pass>(s: S, from: &[[Block; MAX_LANES]; MAX_STATE]) -> M::State<S::W> {
    M::State::from_fn(
        #[inline(always)]
        |i| s.load_row(&from[i]),
    )
}

#[inline(always)]
fn store_state<S: Isa, M: Pass>(
    s: S,
    state: &M::State<S::W>,
    to: &mut [[Block; MAX_LANES]; MAX_STATE],
) {
    let blocks = state.blocks();
    let mut i = 0;
    while i < blocks.len() {
        s.store_row(blocks[i], &mut to[i]);
        i += 1;
    }
}
