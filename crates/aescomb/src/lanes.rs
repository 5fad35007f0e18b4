//! Messages as the kernels see them: the lanes that jobs are given, and a group's
//! memory between two windows.
//!
//! `unsafe` here rests on two facts: those stated for a [`Job`] that was admitted, in
//! `job.rs`, which [`Sweep::NONCE`] makes 16 bytes of nonce. And [`Lanes`] never goes
//! beyond the rows of a lane's job: `window` checks it, once per window; lanes without a
//! message work on memory of their own, and `NOWHERE` is never written.
#![allow(unsafe_code)]

use crate::bytes;
use crate::comb::Window;
use crate::isa::{Block, Cipher, Isa, LINE, Once, Uniform, Wide};
use crate::job::Job;
use crate::key::{Key, Keys};
use crate::modes::{Feed, HEADER, Own, State, Sweep, TAG, Tables, Tail, rows};
use crate::neighbours::neighbours;
use core::cell::UnsafeCell;
use core::marker::PhantomData;
use core::ops::Range;

/// The most messages in flight, over all backends.
pub(crate) const MAX_LANES: usize = 32;
/// The most blocks of state that a mode keeps per message.
const MAX_STATE: usize = 3;
/// Idle lanes of a group work on memory of their own, which has this many blocks: two
/// for each row that is done at a time.
pub(crate) const IDLE_BLOCKS: usize = 512;

/// A block of zeros for lanes that have nothing to read or to write, and for pieces of no
/// bytes. A pointer into [`Lanes`] would become invalid with the next exclusive
/// reference to it. The cell puts it into writable memory: a masked store of no bytes to
/// other memory takes hundreds of cycles.
struct Nowhere(UnsafeCell<Block>);
static NOWHERE: Nowhere = Nowhere(UnsafeCell::new([0; 16]));

// SAFETY: only no bytes are ever written to it.
unsafe impl Sync for Nowhere {}

#[inline(always)]
fn nowhere() -> *mut u8 {
    NOWHERE.0.get().cast()
}

/// What a mode may know of a message before it begins.
#[derive(Clone, Copy)]
pub(crate) struct Facts<'j> {
    job: &'j Job,
    /// Whether the tag was given with the message.
    given: bool,
}

impl<'j> Facts<'j> {
    #[inline(always)]
    pub(crate) fn new(job: &'j Job, given: bool) -> Self {
        Facts { job, given }
    }

    /// The first bytes of the nonce, at most 16, and zeros, as a little-endian
    /// integer.
    #[inline(always)]
    pub(crate) fn nonce_block(&self) -> u128 {
        let len = (self.job.nonce_len as usize).min(16);
        // SAFETY: the nonce has that many bytes.
        u128::from_le_bytes(unsafe { bytes::load(self.job.nonce, len) })
    }

    pub(crate) fn nonce(&self) -> &'j [u8] {
        match self.job.nonce_len {
            0 => &[],
            // SAFETY: the nonce has that many bytes.
            len => unsafe { core::slice::from_raw_parts(self.job.nonce, len as usize) },
        }
    }

    #[inline(always)]
    pub(crate) fn nonce_len(&self) -> usize {
        self.job.nonce_len as usize
    }

    /// Bytes of text: of ciphertext where that is given.
    #[inline(always)]
    pub(crate) fn len(&self) -> usize {
        self.job.len
    }

    /// Bytes of the message that is opened, as its receiver has said.
    #[inline(always)]
    pub(crate) fn opened_len(&self) -> usize {
        self.job.opened_len
    }

    /// Whether the message's last block is filled up; with the ciphertext, the byte
    /// after its tag tells.
    #[inline(always)]
    pub(crate) fn is_filled(&self) -> bool {
        match self.given {
            // SAFETY: the tag has 17 bytes and is readable.
            true => unsafe { self.job.flag().read() == 1 },
            false => self.job.is_filled(),
        }
    }

    /// Bytes of associated data, which has one component at most.
    #[inline(always)]
    pub(crate) fn data_len(&self) -> usize {
        self.job.data_len
    }

    /// The first bytes of the associated data, at most `n` of them and at most 16,
    /// and zeros, as a little-endian integer.
    #[inline(always)]
    pub(crate) fn data_block(&self, n: usize) -> u128 {
        let len = self.job.data_len.min(n).min(16);
        // SAFETY: the only component has that many bytes.
        u128::from_le_bytes(unsafe { bytes::load(self.job.data, len) })
    }

    /// The associated data from byte `at` on, at most 16 bytes, and zeros, as a
    /// little-endian integer.
    #[inline(always)]
    pub(crate) fn data_from(&self, at: usize) -> u128 {
        let len = self.job.data_len.saturating_sub(at).min(16);
        // SAFETY: the only component has that many bytes there.
        u128::from_le_bytes(unsafe { bytes::load(self.job.data.wrapping_add(at), len) })
    }

    #[inline(always)]
    pub(crate) fn tag_len(&self) -> usize {
        self.job.tag_len as usize
    }

    /// The tag that was given, for modes whose tags have 16 bytes; zeros where the
    /// tag is to be made. A little-endian integer.
    #[inline(always)]
    pub(crate) fn given_tag(&self) -> u128 {
        let len = if self.given {
            self.tag_len().min(16)
        } else {
            0
        };
        // SAFETY: the tag has that many bytes.
        u128::from_le_bytes(unsafe { bytes::load(self.job.tag, len) })
    }
}

/// Up to 16 bytes of every message: what rows leave over.
#[derive(Clone, Copy)]
pub(crate) struct Piece<W> {
    /// The bytes, and zeros.
    pub block: W,
    /// How many there are, in every byte: [`Wide::first_bytes`] and those after it.
    pub count: W,
}

impl<W: Wide> Piece<W> {
    #[inline(always)]
    pub(crate) fn none<S: Isa<W = W>>(s: S) -> Self {
        let zero = s.splat(&[0; 16]);
        Piece {
            block: zero,
            count: zero,
        }
    }
}

/// The end of a message, in all lanes at once.
pub(crate) struct Last<W> {
    pub first: Piece<W>,
    /// For [`Tail::Double`]: the bytes after the first 16.
    pub second: Piece<W>,
    /// Whether any message has some.
    pub more: bool,
}

/// Up to 16 bytes of each message: where they are, and how many. Of no bytes, the place
/// is [`NOWHERE`]: a masked load that loads nothing takes hundreds of cycles where
/// nothing can be read.
struct Pieces<const L: usize> {
    at: [*const u8; L],
    len: [usize; L],
}

impl<const L: usize> Pieces<L> {
    const NONE: Self = Pieces {
        at: [core::ptr::null(); L],
        len: [0; L],
    };

    #[inline(always)]
    fn set(&mut self, l: usize, at: *const u8, len: usize) {
        self.at[l] = if len == 0 { nowhere() } else { at };
        self.len[l] = len;
    }

    /// Whether any of the first `S::LANES` lanes has some.
    #[inline(always)]
    fn any<S: Isa>(&self) -> bool {
        let mut any = 0;
        for l in 0..S::LANES {
            any |= self.len[l];
        }
        any > 0
    }

    /// # Safety
    /// The first `S::LANES` lanes are set, to readable bytes, at most 16.
    #[inline(always)]
    unsafe fn load<S: Isa>(&self, s: S) -> Piece<S::W> {
        let mut block = s.splat(&[0; 16]);
        // SAFETY: the caller's.
        unsafe { gather_part(s, self.at.as_ptr(), self.len.as_ptr(), &mut block) };
        Piece {
            block,
            count: s.in_all_bytes(&self.len),
        }
    }
}

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

/// [`Isa::gather_part`] out of line, as it is long and done once a message.
#[inline(never)]
unsafe fn gather_part<S: Isa>(s: S, at: *const *const u8, len: *const usize, x: &mut S::W) {
    s.enter(
        #[inline(always)]
        // SAFETY: the caller's.
        || *x = unsafe { s.gather_part(at, len) },
    );
}

/// [`Isa::scatter_part`] likewise.
#[inline(never)]
unsafe fn scatter_part<S: Isa>(s: S, x: &S::W, to: *const *mut u8, len: *const usize) {
    s.enter(
        #[inline(always)]
        // SAFETY: the caller's.
        || unsafe { s.scatter_part(*x, to, len) },
    );
}

/// Memory for a group of messages, one to a lane, longest first.
#[repr(C, align(64))]
pub(crate) struct Lanes<const L: usize, const IDLE: usize> {
    state: [[Block; L]; MAX_STATE],
    /// The state of messages that have ended.
    kept: [[Block; L]; MAX_STATE],
    header: [[Block; L]; HEADER],
    job: [*const Job; L],
    src: [*const u8; L],
    dst: [*mut u8; L],
    nonce: [*const u8; L],
    rows: [usize; L],
    /// What the rows leave over, and where their results go.
    rest: Pieces<L>,
    second: Pieces<L>,
    end: [*mut u8; L],
    second_end: [*mut u8; L],
    /// Where the tag is or goes; its length.
    tag: [*mut u8; L],
    tag_len: [usize; L],
    /// What it differs by from the one that was given, and of which message.
    difference: [Block; L],
    message: [u32; L],
    /// Associated data, or a component of it: its rows, and what they leave over;
    /// not 0 where that wants an end.
    component: Component,
    data: [*const u8; L],
    data_rows: [usize; L],
    data_rest: Pieces<L>,
    has: [usize; L],
    /// Which lanes take part in some of the rows, and from where.
    takes: [usize; L],
    from: [*const u8; L],
    key: [u32; L],
    /// How many messages begin at the place of a page where the first one does.
    same: usize,
    idle: [Block; IDLE],
}

// SAFETY: as for `Job`.
unsafe impl<const L: usize, const IDLE: usize> Send for Lanes<L, IDLE> {}
// SAFETY: as above.
unsafe impl<const L: usize, const IDLE: usize> Sync for Lanes<L, IDLE> {}

impl<const L: usize, const IDLE: usize> Drop for Lanes<L, IDLE> {
    fn drop(&mut self) {
        self.state = [[[0; 16]; L]; MAX_STATE];
        self.kept = [[[0; 16]; L]; MAX_STATE];
        self.header = [[[0; 16]; L]; HEADER];
        self.difference = [[0; 16]; L];
        self.idle = [[0; 16]; IDLE];
        zeroize::optimization_barrier(self);
    }
}

impl<const L: usize, const IDLE: usize> Lanes<L, IDLE> {
    pub(crate) fn new() -> Self {
        Lanes {
            state: [[[0; 16]; L]; MAX_STATE],
            kept: [[[0; 16]; L]; MAX_STATE],
            header: [[[0; 16]; L]; HEADER],
            job: [core::ptr::null(); L],
            src: [core::ptr::null(); L],
            dst: [core::ptr::null_mut(); L],
            nonce: [core::ptr::null(); L],
            rows: [0; L],
            rest: Pieces::NONE,
            second: Pieces::NONE,
            end: [core::ptr::null_mut(); L],
            second_end: [core::ptr::null_mut(); L],
            tag: [core::ptr::null_mut(); L],
            tag_len: [0; L],
            difference: [[0; 16]; L],
            message: [0; L],
            component: Component::default(),
            data: [core::ptr::null(); L],
            data_rows: [0; L],
            data_rest: Pieces::NONE,
            has: [0; L],
            takes: [0; L],
            from: [core::ptr::null(); L],
            key: [0; L],
            same: 0,
            idle: [[0; 16]; IDLE],
        }
    }

    /// Makes a group of messages, longest first or nearly. Where tags are compared,
    /// `verdicts` receives what each differs by from the one that was given.
    #[inline(always)]
    pub(crate) fn group<'g, 'j, S: Isa, M: Sweep>(
        &'g mut self,
        _: S,
        messages: &[u32],
        jobs: &'j [Job],
        keys: Keys<'_>,
        verdicts: Option<&'g mut [Block]>,
    ) -> Group<'g, 'j, L, IDLE> {
        const { assert!(S::LANES <= L) };
        assert!(!messages.is_empty() && messages.len() <= S::LANES);
        self.fill::<M>(S::LANES, messages, jobs, keys, verdicts.is_some());
        Group {
            crowded: messages.len() > 8 && self.same > messages.len() / 2,
            lanes: self,
            used: messages.len(),
            done: 0,
            verdicts,
            borrow: PhantomData,
        }
    }

    /// Gives the first lanes the messages, and those up to `lanes` nothing. Out of line:
    /// scalar code that needs all registers, and the same for all instruction sets.
    /// `given`: tags are given.
    #[inline(never)]
    fn fill<M: Sweep>(
        &mut self,
        lanes: usize,
        messages: &[u32],
        jobs: &[Job],
        keys: Keys<'_>,
        given: bool,
    ) {
        let mut least = usize::MAX;
        for (used, i) in messages.iter().enumerate() {
            let job = &jobs[*i as usize];
            let rows = rows::<M>(text_len::<M>(job));
            let mut l = used;
            if rows > least {
                l = self.make_room(used, rows);
            } else {
                least = rows;
            }
            self.job[l] = job;
            self.message[l] = *i;
            self.rows[l] = rows;
            // Before all else: `begin` loads whole rows of it, and what was written in
            // pieces must be in the cache by then.
            if M::HEADER > 0 {
                let header = M::header(keys.get(job.place), Facts::new(job, given));
                for (i, block) in header.into_iter().enumerate() {
                    if in_header::<M>(i) {
                        self.header[i][l] = block.to_le_bytes();
                    }
                }
            }
        }
        let mut component = Component::default();
        let mut same = 0;
        // SAFETY: it was put there above.
        let first = unsafe { (*self.job[0]).dst };
        for l in 0..messages.len() {
            // SAFETY: as above.
            let job = unsafe { &*self.job[l] };
            same += usize::from((job.dst.addr() ^ first.addr()) & SET == 0);
            self.key[l] = job.place;
            let src = if M::MOVED { job.dst } else { job.src };
            self.place::<M>(l, job, src, &mut component);
            if M::NONCE {
                self.nonce[l] = job.nonce;
            }
            if M::TAG || M::MORE {
                self.tag[l] = job.tag;
                self.tag_len[l] = job.tag_len.min(16) as usize;
            }
        }
        self.component = component;
        self.same = same;
        for l in messages.len()..lanes {
            self.rows[l] = 0;
            for pieces in [&mut self.rest, &mut self.second] {
                pieces.set(l, nowhere(), 0);
            }
            self.data_rest.set(l, nowhere(), 0);
            (self.data_rows[l], self.has[l]) = (0, 0);
            (self.end[l], self.second_end[l]) = (nowhere(), nowhere());
            (self.tag[l], self.tag_len[l]) = (nowhere(), 0);
            self.nonce[l] = nowhere();
        }
    }

    /// Gives lane `l` a text at `src`, and associated data that is no vector.
    #[inline(always)]
    fn place<M: Sweep>(&mut self, l: usize, job: &Job, src: *const u8, component: &mut Component) {
        if M::DATA.is_some() && !M::VECTOR {
            self.place_data::<M>(l, (job.data, job.data_len), job.data_len > 0, component);
        }
        self.src[l] = src;
        self.dst[l] = job.dst;
        if M::TAIL == Tail::None {
            return;
        }
        let at = self.rows[l] * M::STRIDE;
        let mut left = text_len::<M>(job) - at;
        let from = src.wrapping_add(at);
        let to = job.dst.wrapping_add(at);
        if two_pieces::<M>() {
            let more = left.saturating_sub(16);
            left = left.min(16);
            let (from, to) = (from.wrapping_add(16), to.wrapping_add(16));
            self.second.set(l, from, more);
            self.second_end[l] = if more == 0 { nowhere() } else { to };
        }
        self.rest.set(l, from, left);
        if M::OUTPUT {
            // A whole block may come of nothing.
            let none = left == 0 && !whole_end::<M>();
            self.end[l] = if none { nowhere() } else { to };
        }
    }

    /// Gives lane `l` a component of associated data, if it `has` one.
    #[inline(always)]
    fn place_data<M: Sweep>(
        &mut self,
        l: usize,
        (mut at, mut len): (*const u8, usize),
        has: bool,
        component: &mut Component,
    ) {
        let Some(tail) = M::DATA else { return };
        if let Some(begins) = M::DATA_BEGINS {
            let begin = begins(len).min(len);
            (at, len) = (at.wrapping_add(begin), len - begin);
        }
        let rows = tail.rows(len, M::DATA_STRIDE, 16);
        let done = rows * M::DATA_STRIDE;
        let left = len - done;
        self.data[l] = at;
        self.data_rows[l] = rows;
        self.data_rest.set(l, at.wrapping_add(done), left.min(16));
        self.has[l] = match tail {
            Tail::None => 0,
            Tail::Last => usize::from(has),
            _ => left,
        };
        component.rows = component.rows.max(rows);
        component.left |= self.has[l];
        component.any |= has;
    }

    /// Insertion, for messages so long that the queue gives them only nearly in
    /// order: moves those with fewer rows than `rows` up a lane.
    #[cold]
    #[inline(never)]
    fn make_room(&mut self, used: usize, rows: usize) -> usize {
        let l = self.rows[..used].partition_point(|other| *other >= rows);
        macro_rules! up {
            ($($field:ident)*) => { $(self.$field.copy_within(l..used, l + 1);)* };
        }
        up!(job message rows);
        for row in &mut self.header {
            row.copy_within(l..used, l + 1);
        }
        l
    }
}

/// Whether rows may be done a line at a time: those that are written, whose stores would
/// wait for lines that the other lanes have displaced.
const fn has_lines<S: Isa, M: Sweep>() -> bool {
    S::LINES && matches!(M::FEED, Feed::Serial) && M::OUTPUT && !M::PAIR && M::STRIDE == 16
}

/// Bytes of text in the lanes.
#[inline(always)]
fn text_len<M: Sweep>(job: &Job) -> usize {
    match M::MOVED {
        true => job.len.next_multiple_of(16),
        false => job.len,
    }
}

/// Whether rows leave more than 16 bytes.
pub(crate) const fn two_pieces<M: Sweep>() -> bool {
    M::PAIR || matches!(M::TAIL, Tail::Double)
}

/// Whether the result of a message's end is a whole block.
pub(crate) const fn whole_end<M: Sweep>() -> bool {
    matches!(M::TAIL, Tail::Padded | Tail::Filled)
}

/// Whether the mode makes row `i` of the header. The last may be the tag that was given,
/// which the next pass wants.
const fn in_header<M: Sweep>(i: usize) -> bool {
    i < M::HEADER || i == TAG && M::MORE
}

/// A group of messages in their lanes, longest first.
pub(crate) struct Group<'l, 'j, const L: usize, const IDLE: usize> {
    lanes: &'l mut Lanes<L, IDLE>,
    /// Lanes that have a message.
    used: usize,
    /// Rows that are done.
    done: usize,
    /// Whether most texts begin at the same place of a page, as in page-aligned buffers: their
    /// rows share one set of the first-level cache, which has room for 8 to 12 lines.
    crowded: bool,
    /// Where tags are compared, not made.
    verdicts: Option<&'l mut [Block]>,
    borrow: PhantomData<&'j Job>,
}

/// The bits of an address that say in which set of the first-level cache its line is: sets of
/// 4 KiB in all, on all x86-64 CPUs with AES instructions.
const SET: usize = 0xfc0;

impl<'j, const L: usize, const IDLE: usize> Group<'_, 'j, L, IDLE> {
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

    #[inline(always)]
    fn job(&self, l: usize) -> &'j Job {
        assert!(l < self.used);
        // SAFETY: lanes in use have a job, borrowed for `'j`.
        unsafe { &*self.lanes.job[l] }
    }

    /// Goes back to the beginnings, for a pass after the first.
    #[inline(never)]
    pub(crate) fn again<M: Sweep>(&mut self) {
        self.done = 0;
        let mut least = usize::MAX;
        let mut component = Component::default();
        for l in 0..self.used {
            let job = self.job(l);
            let src = if M::AGAIN { job.dst } else { job.src };
            let rows = rows::<M>(text_len::<M>(job));
            // Windows rest on it.
            assert!(rows <= least, "lanes must stay in order");
            least = rows;
            self.lanes.rows[l] = rows;
            self.lanes.place::<M>(l, job, src, &mut component);
        }
        self.lanes.component = component;
    }

    /// Lanes `from..to` have no message: the rows from `done` on are in `idle`.
    #[inline(always)]
    fn idle<M: Sweep>(&mut self, from: usize, to: usize) {
        let idle = self.lanes.idle.as_mut_ptr().cast::<u8>();
        let base = idle.wrapping_sub(self.done * M::STRIDE);
        for l in from..to {
            self.lanes.src[l] = base;
            self.lanes.dst[l] = base;
        }
    }

    #[inline(always)]
    fn load_header<S: Isa, M: Sweep>(&self, s: S) -> [S::W; HEADER] {
        let mut header = [s.splat(&[0; 16]); HEADER];
        let mut i = 0;
        while i < HEADER {
            // Of a pass before this one there may be a tag.
            if i < M::HEADER || i == TAG {
                header[i] = s.load_row(&self.lanes.header[i]);
            }
            i += 1;
        }
        header
    }

    /// The messages' own keys.
    #[inline(always)]
    pub(crate) fn derive<S: Isa, M: Sweep>(
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
    pub(crate) fn begin<S: Isa, M: Sweep>(&mut self, s: S, c: &Once<'_, S, L>) {
        s.enter(
            #[inline(always)]
            || self.begin_all::<S, M>(s, c),
        );
    }

    #[inline(always)]
    fn begin_all<S: Isa, M: Sweep>(&mut self, s: S, c: &impl Cipher<W = S::W>) {
        let mut h = self.load_header::<S, M>(s);
        if M::NONCE {
            // SAFETY: the nonces of messages have 16 bytes.
            h[0] = unsafe { s.gather(self.lanes.nonce.as_ptr(), 0) };
        }
        let mut state = M::begin(c, &mut h);
        if const { M::DATA.is_some() } {
            let mut i = 0;
            if M::VECTOR {
                self.component::<M>(i);
            }
            while self.lanes.component.any {
                M::open_data(c, &mut state);
                self.absorb::<S, M>(s, c, &mut state);
                if !M::VECTOR {
                    break;
                }
                i += 1;
                self.component::<M>(i);
            }
        }
        let state = M::text(c, &mut h, state);
        let lanes = &mut *self.lanes;
        if M::TAG {
            let mut i = 0;
            while i < M::HEADER {
                s.store_row(h[i], &mut lanes.header[i]);
                i += 1;
            }
        }
        store_state::<S, M, L>(s, &state, &mut lanes.state);
        let ends = lanes.rows[self.used - 1] == 0;
        if ends && (M::TAIL != Tail::None || M::TAG) {
            // A message without rows ends where it begins.
            store_state::<S, M, L>(s, &state, &mut lanes.kept);
        }
    }

    /// Gives the lanes component `i` of vectors of associated data.
    #[inline(never)]
    fn component<M: Sweep>(&mut self, i: usize) {
        let mut component = Component::default();
        for l in 0..self.used {
            let job = self.job(l);
            let own = job.components();
            let (has, data) = match i {
                i if i < own => (true, job.component(i)),
                i if i == own && job.nonce_len > 0 => (true, (job.nonce, job.nonce_len as usize)),
                _ => (false, (core::ptr::null(), 0)),
            };
            self.lanes.place_data::<M>(l, data, has, &mut component);
        }
        self.lanes.component = component;
    }

    /// Absorbs the component that is in the lanes.
    #[inline(always)]
    fn absorb<S: Isa, M: Sweep>(
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
            // SAFETY: the rests have fewer than 16 bytes, or 16 at most.
            let last = unsafe { self.lanes.data_rest.load(s) };
            let ends = s.in_all_bytes(&self.lanes.has).any();
            let mut new = *state;
            M::absorb_last(c, &mut new, last);
            *state = select::<S, M>(ends, &new, state);
        }
    }

    /// The rows of a component, of which the longest has `most`. Lanes that have no
    /// more of it go on with idle memory, and what comes of that is not kept.
    #[inline(always)]
    fn data_rows<S: Isa, M: Sweep>(
        &mut self,
        s: S,
        c: &impl Cipher<W = S::W>,
        most: usize,
        state: &mut M::State<S::W>,
    ) {
        let mut row = 0;
        while row < most {
            let lanes = &mut *self.lanes;
            let stride = M::DATA_STRIDE;
            let idle = lanes.idle.as_ptr().cast::<u8>().wrapping_sub(row * stride);
            // Up to where nothing changes.
            let mut stop = most;
            if S::LANES > 1 {
                stop = stop.min(row + IDLE / 2);
            }
            for l in 0..S::LANES {
                let takes = lanes.data_rows[l] > row;
                lanes.takes[l] = usize::from(takes);
                lanes.from[l] = if takes { lanes.data[l] } else { idle };
                stop = stop.min(if takes { lanes.data_rows[l] } else { stop });
            }
            let takes = s.in_all_bytes(&lanes.takes).any();
            while row < stop {
                // SAFETY: `row` is inside the data of lanes that take part, and
                // inside `idle` for the others.
                let x = unsafe { s.gather(lanes.from.as_ptr(), row * stride) };
                let mut new = *state;
                M::absorb(c, &mut new, x, row);
                *state = select::<S, M>(takes, &new, state);
                row += 1;
            }
        }
    }

    /// Runs a window: the next rows of the first lanes. `S` must have at least
    /// as many lanes.
    #[inline(always)]
    pub(crate) fn window<S: Isa, M: Sweep>(
        &mut self,
        s: S,
        c: impl Cipher<W = S::W>,
        window: Window,
    ) {
        let end = self.done + window.rows;
        // The last of the lanes has the fewest rows.
        assert!(
            window.lanes <= S::LANES
                && window.lanes <= self.used
                && self.lanes.rows[window.lanes - 1] >= end
        );
        let mut state = load_state::<S, M, L>(s, &self.lanes.state);
        while self.done < end {
            let mut stop = end;
            if window.lanes < S::LANES {
                stop = end.min(self.done + IDLE / 2);
                self.idle::<M>(window.lanes, S::LANES);
            }
            let text = (self.lanes.src.as_ptr(), self.lanes.dst.as_ptr());
            let mut row = self.done;
            if const { has_lines::<S, M>() } && self.crowded {
                while row + LINE <= stop {
                    // SAFETY: as below, of every row.
                    unsafe { take_line::<S, M>(s, &c, &mut state, row, text) };
                    row += LINE;
                }
            }
            while row < stop {
                // SAFETY: `row` is inside every message (checked above), and
                // inside `idle` for lanes without one.
                unsafe { take_row::<S, M>(s, &c, &mut state, row, text, row * M::STRIDE) };
                row += 1;
            }
            self.done = stop;
        }
        let lanes = &mut *self.lanes;
        let keeps = M::TAIL != Tail::None || M::TAG;
        if window.lanes == S::LANES && lanes.rows[0] == end {
            if keeps {
                store_state::<S, M, L>(s, &state, &mut lanes.kept);
            }
            return;
        }
        store_state::<S, M, L>(s, &state, &mut lanes.state);
        if keeps {
            // Later windows run over the lanes of messages that end here.
            let blocks = state.blocks().len();
            let mut l = window.lanes;
            while l > 0 && lanes.rows[l - 1] == end {
                l -= 1;
                for (kept, state) in lanes.kept.iter_mut().zip(&lanes.state).take(blocks) {
                    kept[l] = state[l];
                }
            }
        }
    }

    /// Rows that are done.
    #[inline(always)]
    pub(crate) fn done(&self) -> usize {
        self.done
    }

    /// Runs the rest of lane `l`'s rows as rows of neighbouring blocks.
    #[inline(always)]
    pub(crate) fn neighbours<S: Isa, M: Sweep>(
        &mut self,
        s: S,
        l: usize,
        key: (&S::Keys, &Key),
        tables: &Tables,
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
            neighbours::<S, M, _>(s, key, tables, text, rows, &mut state)
        };
        for (block, row) in state.iter().zip(&mut lanes.kept) {
            row[l] = *block;
        }
    }

    /// Runs the rest of the first lane's rows, where no other lane has any.
    #[inline(always)]
    pub(crate) fn last<N: Isa, M: Sweep>(&mut self, n: N, key: &Key) {
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

    /// Finishes all messages: what their rows leave over, and tags.
    #[inline(never)]
    pub(crate) fn finish<S: Isa, M: Sweep>(&mut self, s: S, c: &Once<'_, S, L>) {
        s.enter(
            #[inline(always)]
            || self.finish_all::<S, M>(s, c),
        );
    }

    #[inline(always)]
    fn finish_all<S: Isa, M: Sweep>(&mut self, s: S, c: &impl Cipher<W = S::W>) {
        let used = self.used;
        let finishes = match M::TAIL {
            Tail::None => false,
            Tail::Part => self.lanes.rest.any::<S>(),
            _ => true,
        };
        if !finishes && !M::TAG {
            return;
        }
        let mut state = load_state::<S, M, L>(s, &self.lanes.kept);
        let h = self.load_header::<S, M>(s);
        let lanes = &mut *self.lanes;
        if const { !matches!(M::TAIL, Tail::None) } && finishes {
            // SAFETY: the pieces are valid for their lengths, at most 16, and so
            // are their results' places; a padded message's destination has room
            // for whole blocks.
            unsafe {
                let first = lanes.rest.load(s);
                let more = two_pieces::<M>() && lanes.second.any::<S>();
                let second = match more {
                    true => lanes.second.load(s),
                    false => Piece::none(s),
                };
                let mut last = Last {
                    first,
                    second,
                    more,
                };
                let some = first.count.any();
                let mut new = state;
                M::finish(c, &h, &mut new, &mut last);
                state = match M::TAIL {
                    Tail::Part => select::<S, M>(some, &new, &state),
                    _ => new,
                };
                if M::OUTPUT {
                    if whole_end::<M>() {
                        lanes.rest.len[..used].fill(16);
                    }
                    let len = lanes.rest.len.as_ptr();
                    scatter_part(s, &last.first.block, lanes.end.as_ptr(), len);
                    if more {
                        let len = lanes.second.len.as_ptr();
                        scatter_part(s, &last.second.block, lanes.second_end.as_ptr(), len);
                    }
                }
            }
        }
        if M::TAG {
            self.tag::<S, M>(s, c, &h, state);
        }
    }

    /// Makes the tags, or compares them with those that were given.
    #[inline(always)]
    fn tag<S: Isa, M: Sweep>(
        &mut self,
        s: S,
        c: &impl Cipher<W = S::W>,
        h: &[S::W; HEADER],
        state: M::State<S::W>,
    ) {
        let tag = M::tag(c, h, state);
        let lanes = &mut *self.lanes;
        if M::MORE {
            s.store_row(tag, &mut lanes.header[TAG]);
            if M::Then::TAG {
                // Not the last word.
                return;
            }
        }
        let Some(verdicts) = &mut self.verdicts else {
            // SAFETY: tags have at most 16 bytes and are writable.
            unsafe { scatter_part(s, &tag, lanes.tag.as_ptr(), lanes.tag_len.as_ptr()) };
            return;
        };
        let mut given = tag;
        // SAFETY: tags have at most 16 bytes and are readable.
        unsafe {
            gather_part(
                s,
                lanes.tag.as_ptr().cast(),
                lanes.tag_len.as_ptr(),
                &mut given,
            )
        };
        let bytes = s.in_all_bytes(&lanes.tag_len).first_bytes();
        s.store_row((tag ^ given) & bytes, &mut lanes.difference);
        for (i, difference) in lanes.message[..self.used].iter().zip(&lanes.difference) {
            verdicts[*i as usize] = *difference;
        }
    }
}

/// Takes `state` through rows `rows` of a text at `src` in one lane, with results at `dst`
/// if the mode has any. Out of line, and the same for all instruction sets that have it.
///
/// # Safety
/// The rows are inside what `src` and `dst` are valid for.
#[inline(never)]
unsafe fn one_lane<N: Isa, M: Sweep>(
    n: N,
    key: &Key,
    (src, dst): (*const u8, *mut u8),
    rows: Range<usize>,
    state: &mut [Block; MAX_STATE],
) {
    n.enter(
        #[inline(always)]
        || {
            let keys = n.keys(key, M::USES);
            let c = Uniform::of::<M>(n, &keys, key);
            let mut w = M::State::from_fn(
                #[inline(always)]
                |i| n.splat(&state[i]),
            );
            let mut row = rows.start;
            while row < rows.end {
                // SAFETY: the caller's.
                unsafe { take_row::<N, M>(n, &c, &mut w, row, (&src, &dst), row * M::STRIDE) };
                row += 1;
            }
            for (state, w) in state.iter_mut().zip(w.blocks()) {
                *state = n.last(*w);
            }
        },
    );
}

/// [`take_row`] for as many rows as a line has.
///
/// # Safety
/// As there, for every row.
#[inline(always)]
unsafe fn take_line<S: Isa, M: Sweep>(
    s: S,
    c: &impl Cipher<W = S::W>,
    state: &mut M::State<S::W>,
    row: usize,
    (src, dst): (*const *const u8, *const *mut u8),
) {
    // SAFETY: the caller's.
    unsafe {
        let [x0, x1, x2, x3] = s.gather_line(src, row * 16);
        let y0 = M::step(c, state, x0, row);
        let y1 = M::step(c, state, x1, row + 1);
        let y2 = M::step(c, state, x2, row + 2);
        let y3 = M::step(c, state, x3, row + 3);
        if M::OUTPUT {
            s.scatter_line([y0, y1, y2, y3], dst, row * 16);
        }
    }
}

/// One row of `M`: lane `l` from `offset` bytes after `src[l]` and to there after
/// `dst[l]`.
///
/// # Safety
/// Both are valid for the row, of which the pointers have one for each lane of `S`.
#[inline(always)]
pub(crate) unsafe fn take_row<S: Isa, M: Sweep>(
    s: S,
    c: &impl Cipher<W = S::W>,
    state: &mut M::State<S::W>,
    row: usize,
    (src, dst): (*const *const u8, *const *mut u8),
    offset: usize,
) {
    // SAFETY: the caller's.
    unsafe {
        let x = s.gather(src, offset);
        if M::PAIR {
            let x = [x, s.gather(src, offset + 16)];
            let y = M::pair(c, state, x, row);
            if M::OUTPUT {
                s.scatter(y[0], dst, offset);
                s.scatter(y[1], dst, offset + 16);
            }
        } else {
            let y = M::step(c, state, x, row);
            if M::OUTPUT {
                s.scatter(y, dst, offset);
            }
        }
    }
}

/// The state `yes` where `mask` has ones.
#[inline(always)]
fn select<S: Isa, M: Sweep>(
    mask: S::W,
    yes: &M::State<S::W>,
    no: &M::State<S::W>,
) -> M::State<S::W> {
    M::State::from_fn(
        #[inline(always)]
        |i| match (yes.blocks().get(i), no.blocks().get(i)) {
            (Some(yes), Some(no)) => S::W::select(mask, *yes, *no),
            _ => mask,
        },
    )
}

#[inline(always)]
fn load_state<S: Isa, M: Sweep, const L: usize>(
    s: S,
    from: &[[Block; L]; MAX_STATE],
) -> M::State<S::W> {
    M::State::from_fn(
        #[inline(always)]
        |i| s.load_row(&from[i]),
    )
}

#[inline(always)]
fn store_state<S: Isa, M: Sweep, const L: usize>(
    s: S,
    state: &M::State<S::W>,
    to: &mut [[Block; L]; MAX_STATE],
) {
    let blocks = state.blocks();
    let mut i = 0;
    while i < blocks.len() {
        s.store_row(blocks[i], &mut to[i]);
        i += 1;
    }
}
