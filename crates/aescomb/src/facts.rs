//! What modes may know of messages before these begin.
//!
//! `unsafe` here rests on the facts stated for a [`Job`] that was admitted, in `job.rs`.
#![allow(unsafe_code)]

use crate::block::{Block, MAX_LANES, both};
use crate::bytes;
use crate::expanded::Expanded;
use crate::isa::{Isa, Starts, Wide};
use crate::job::Job;
use crate::key_set::KeySet;
use crate::parts::{InJobs, gather_of, nowhere, tag};

/// How many bytes the parts of a message have, but its text.
#[derive(Clone, Copy)]
pub(crate) struct Sizes {
    pub nonce: usize,
    /// Associated data, which has one component at most.
    pub data: usize,
    /// The tag, at most 16.
    pub tag: usize,
}

impl Sizes {
    #[inline(always)]
    fn of(job: &Job) -> Sizes {
        Sizes {
            nonce: job.nonce_len as usize,
            data: job.data_len,
            tag: job.tag_len.min(16) as usize,
        }
    }
}

/// What a mode may know of messages, in rows: for each lane's message what is said here of
/// one. The cost of a header is paid for every message: what comes of sizes alone is
/// worked out once where they are alike, and bytes are loaded into their lanes.
pub(crate) trait Facts {
    type W: Wide;

    /// The same block in every lane.
    fn splat(&self, block: &Block) -> Self::W;

    /// A number that `f` makes of the sizes, as a little-endian integer. Lanes without a
    /// message have sizes of 0.
    fn number(&self, f: impl Fn(Sizes) -> usize + Copy) -> Self::W;

    /// Whether `f` holds for all.
    fn all(&self, f: impl Fn(Sizes) -> bool + Copy) -> bool;

    /// How many bytes the text has, as a little-endian integer: the ciphertext where that
    /// is given.
    fn text(&self) -> Self::W;

    /// The first bytes of the nonce, at most 16, and zeros.
    fn nonce(&self) -> Self::W;

    /// The first bytes of the associated data, at most `n` of them and at most 16, and
    /// zeros.
    fn data(&self, n: usize) -> Self::W;

    /// The tag that was given, for modes whose tags have 16 bytes; zeros where the tag is
    /// to be made.
    fn given_tag(&self) -> Self::W;

    /// A block that `f` makes of all that is known of a message, as a little-endian
    /// integer. Message by message: slower than the others.
    fn block(&self, f: impl Fn(Fact<'_>) -> u128 + Copy) -> Self::W;

    /// How many bits the text has, as a little-endian integer.
    #[inline(always)]
    fn text_bits(&self) -> Self::W {
        self.text().shift_left(self.splat(&both(3)))
    }

    /// The same of the associated data.
    #[inline(always)]
    fn data_bits(&self) -> Self::W {
        self.number(
            #[inline(always)]
            |m| m.data * 8,
        )
    }

    /// `number` in every byte of the block, for numbers below 256.
    #[inline(always)]
    fn in_all_bytes(&self, f: impl Fn(Sizes) -> usize + Copy) -> Self::W {
        self.number(f).shuffle(self.splat(&[0; 16]))
    }

    /// Ones where `f` holds, zeros elsewhere.
    #[inline(always)]
    fn ones(&self, f: impl Fn(Sizes) -> bool + Copy) -> Self::W {
        self.in_all_bytes(
            #[inline(always)]
            |m| usize::from(f(m)),
        )
        .any()
    }
}

/// A block moved up by `n` bytes, with zeros before it.
#[inline(always)]
pub(crate) fn up<F: Facts + ?Sized>(m: &F, n: usize, x: F::W) -> F::W {
    let mut index = [0x80; 16];
    let mut i = n;
    while i < 16 {
        index[i] = (i - n) as u8;
        i += 1;
    }
    x.shuffle(m.splat(&index))
}

/// All that a mode may know of one message.
#[derive(Clone, Copy)]
pub(crate) struct Fact<'j> {
    job: &'j Job,
    pub key: &'j Expanded,
    /// Whether the tag was given with the message.
    given: bool,
}

impl<'j> Fact<'j> {
    #[inline(always)]
    pub(crate) fn new(job: &'j Job, key: &'j Expanded, given: bool) -> Self {
        Fact { job, key, given }
    }

    #[inline(always)]
    pub(crate) fn sizes(&self) -> Sizes {
        Sizes::of(self.job)
    }

    /// The first bytes of the nonce, at most 16, and zeros, as a little-endian integer.
    #[inline(always)]
    pub(crate) fn nonce_block(&self) -> u128 {
        let len = (self.job.nonce_len as usize).min(16);
        // SAFETY: the nonce has that many bytes.
        u128::from_le_bytes(unsafe { bytes::load(self.job.nonce, len) })
    }

    #[inline(always)]
    pub(crate) fn nonce(&self) -> &'j [u8] {
        self.job.nonce()
    }

    /// Bytes of the text.
    #[inline(always)]
    pub(crate) fn text(&self) -> usize {
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

    /// The associated data from byte `at` on, at most `n` bytes and at most 16, and zeros,
    /// as a little-endian integer.
    #[inline(always)]
    pub(crate) fn data_from(&self, at: usize, n: usize) -> u128 {
        let len = self.job.data_len.saturating_sub(at).min(n).min(16);
        // SAFETY: the only component has that many bytes there.
        u128::from_le_bytes(unsafe { bytes::load(self.job.data.wrapping_add(at), len) })
    }
}

/// Of one message, in all lanes; or of as many as there are lanes, one a lane, whose
/// nonces, associated data and tags are of the same lengths.
pub(crate) struct Few<'j, S, const N: usize> {
    pub s: S,
    pub jobs: &'j [Job; N],
    keys: KeySet<'j>,
    /// Whether tags are given.
    given: bool,
    /// Whether texts are known to be of one length.
    pub even: bool,
    /// Whether they are where a pass before has written them.
    again: bool,
}

impl<'j, S: Isa, const N: usize> Few<'j, S, N> {
    #[inline(always)]
    pub(crate) fn new(s: S, jobs: &'j [Job; N], keys: impl Into<KeySet<'j>>, given: bool) -> Self {
        Few {
            s,
            jobs,
            keys: keys.into(),
            given,
            even: N == 1,
            again: false,
        }
    }

    /// The same, of texts of one length if they are `even`.
    #[inline(always)]
    pub(crate) fn even(self, even: bool) -> Self {
        Few {
            even: even || self.even,
            ..self
        }
    }

    /// The same, of texts that a pass before has written if so `again`.
    #[inline(always)]
    pub(crate) fn again(self, again: bool) -> Self {
        Few { again, ..self }
    }

    /// Where text `l` is read.
    #[inline(always)]
    pub(crate) fn source(&self, l: usize) -> *const u8 {
        match self.again {
            true => self.jobs[l].dst,
            false => self.jobs[l].src,
        }
    }

    /// Where all texts are read, and where results go.
    #[inline(always)]
    pub(crate) fn starts(&self) -> (impl Starts, impl Starts) {
        let again = self.again;
        let src = InJobs::new(
            self.jobs,
            #[inline(always)]
            move |job| if again { job.dst } else { job.src },
        );
        let dst = InJobs::new(
            self.jobs,
            #[inline(always)]
            |job| job.dst,
        );
        (src, dst)
    }

    #[inline(always)]
    fn fact(&self, l: usize) -> Fact<'j> {
        let job = &self.jobs[l];
        Fact::new(job, self.keys.key_of(job), self.given)
    }

    #[inline(always)]
    fn sizes(&self) -> Sizes {
        Sizes::of(&self.jobs[0])
    }

    #[inline(always)]
    fn each(&self, f: impl Fn(&Job) -> usize) -> S::W {
        let mut numbers = [f(&self.jobs[0]); MAX_LANES];
        let mut l = 1;
        while l < N {
            numbers[l] = f(&self.jobs[l]);
            l += 1;
        }
        self.s.numbers(&numbers)
    }

    /// The same number for all.
    #[inline(always)]
    fn same(&self, number: usize) -> S::W {
        self.s.splat(&(number as u128).to_le_bytes())
    }

    /// `len` bytes of each message, at most 16, where `of` says, and zeros.
    ///
    /// # Safety
    /// They are readable.
    #[inline(always)]
    pub(crate) unsafe fn load(&self, of: impl Fn(&Job) -> *const u8 + Copy, len: usize) -> S::W {
        let at = |l: usize| {
            if len == 0 {
                nowhere()
            } else {
                of(&self.jobs[l])
            }
        };
        // SAFETY: the caller's.
        unsafe {
            match N {
                1 => self.s.load_everywhere(at(0), len),
                _ if len == 16 => {
                    let mut places = [nowhere().cast_const(); N];
                    for (l, place) in places.iter_mut().enumerate() {
                        *place = at(l);
                    }
                    self.s.gather(places.as_ptr(), 0)
                }
                _ => self.s.gather_part(
                    #[inline(always)]
                    |l| (at(l), len),
                ),
            }
        }
    }
}

impl<S: Isa, const N: usize> Few<'_, S, N> {
    /// Writes the first `len` bytes of each block, at most 16, to where `of` says.
    ///
    /// # Safety
    /// They are writable.
    #[inline(always)]
    pub(crate) unsafe fn store(&self, x: S::W, of: impl Fn(&Job) -> *mut u8 + Copy, len: usize) {
        // SAFETY: the caller's.
        unsafe {
            match N {
                1 => self.s.store_first(x, of(&self.jobs[0]), len),
                _ => self.s.scatter_part(
                    x,
                    #[inline(always)]
                    |l| (of(&self.jobs[l]), len),
                ),
            }
        }
    }
}

impl<S: Isa, const N: usize> Facts for Few<'_, S, N> {
    type W = S::W;

    #[inline(always)]
    fn splat(&self, block: &Block) -> S::W {
        self.s.splat(block)
    }

    #[inline(always)]
    fn number(&self, f: impl Fn(Sizes) -> usize + Copy) -> S::W {
        self.same(f(self.sizes()))
    }

    #[inline(always)]
    fn all(&self, f: impl Fn(Sizes) -> bool + Copy) -> bool {
        f(self.sizes())
    }

    #[inline(always)]
    fn text(&self) -> S::W {
        if self.even {
            return self.same(self.jobs[0].len);
        }
        self.each(
            #[inline(always)]
            |job| job.len,
        )
    }

    #[inline(always)]
    fn nonce(&self) -> S::W {
        let len = self.sizes().nonce.min(16);
        // SAFETY: nonces have that many bytes.
        unsafe {
            self.load(
                #[inline(always)]
                |job| job.nonce,
                len,
            )
        }
    }

    #[inline(always)]
    fn data(&self, n: usize) -> S::W {
        let len = self.sizes().data.min(n).min(16);
        // SAFETY: the only components have that many bytes.
        unsafe {
            self.load(
                #[inline(always)]
                |job| job.data,
                len,
            )
        }
    }

    #[inline(always)]
    fn given_tag(&self) -> S::W {
        let len = if self.given { self.sizes().tag } else { 0 };
        // SAFETY: tags have that many bytes.
        unsafe {
            self.load(
                #[inline(always)]
                |job| job.tag,
                len,
            )
        }
    }

    #[inline(always)]
    fn block(&self, f: impl Fn(Fact<'_>) -> u128 + Copy) -> S::W {
        if N == 1 {
            return self.s.splat(&f(self.fact(0)).to_le_bytes());
        }
        let mut blocks = [[0; 16]; MAX_LANES];
        let mut l = 0;
        while l < N {
            blocks[l] = f(self.fact(l)).to_le_bytes();
            l += 1;
        }
        self.s.load_row(&blocks)
    }
}

/// What a mode may know of the messages in the lanes.
pub(crate) struct InLanes<'l, S> {
    pub s: S,
    /// The messages, and `EMPTY` in lanes without one; the lengths of their texts.
    pub jobs: &'l [*const Job; MAX_LANES],
    pub len: &'l [usize; MAX_LANES],
    pub used: usize,
    /// Whether nonces, associated data and tags are of the same lengths in all.
    pub alike: bool,
    pub keys: KeySet<'l>,
    /// Whether tags are given.
    pub given: bool,
}

impl<S: Isa> InLanes<'_, S> {
    #[inline(always)]
    fn job(&self, l: usize) -> &Job {
        // SAFETY: lanes have a job, borrowed meanwhile.
        unsafe { &*self.jobs[l] }
    }

    #[inline(always)]
    fn sizes(&self, l: usize) -> Sizes {
        Sizes::of(self.job(l))
    }

    /// # Safety
    /// What `of` says is readable.
    #[inline(always)]
    unsafe fn gather(&self, of: impl Fn(&Job) -> (*const u8, usize) + Copy) -> S::W {
        let mut x = self.s.splat(&[0; 16]);
        // SAFETY: the caller's; lanes have jobs.
        unsafe { gather_of(self.s, self.jobs, self.alike, of, &mut x) };
        x
    }
}

impl<S: Isa> Facts for InLanes<'_, S> {
    type W = S::W;

    #[inline(always)]
    fn splat(&self, block: &Block) -> S::W {
        self.s.splat(block)
    }

    #[inline(always)]
    fn number(&self, f: impl Fn(Sizes) -> usize + Copy) -> S::W {
        if self.alike {
            let number = f(self.sizes(0));
            return self.s.splat(&(number as u128).to_le_bytes());
        }
        let mut numbers = [0; MAX_LANES];
        let mut l = 0;
        while l < S::LANES {
            numbers[l] = f(self.sizes(l));
            l += 1;
        }
        self.s.numbers(&numbers)
    }

    #[inline(always)]
    fn all(&self, f: impl Fn(Sizes) -> bool + Copy) -> bool {
        let lanes = if self.alike { 1 } else { S::LANES };
        let mut all = true;
        for l in 0..lanes {
            all &= f(self.sizes(l));
        }
        all
    }

    #[inline(always)]
    fn text(&self) -> S::W {
        self.s.numbers(self.len)
    }

    #[inline(always)]
    fn nonce(&self) -> S::W {
        // SAFETY: nonces have these lengths.
        unsafe {
            self.gather(
                #[inline(always)]
                |job| (job.nonce, job.nonce_len as usize),
            )
        }
    }

    #[inline(always)]
    fn data(&self, n: usize) -> S::W {
        // SAFETY: the only components have these lengths.
        unsafe {
            self.gather(
                #[inline(always)]
                |job| (job.data, job.data_len.min(n)),
            )
        }
    }

    #[inline(always)]
    fn given_tag(&self) -> S::W {
        match self.given {
            // SAFETY: tags have these lengths.
            true => unsafe { self.gather(tag) },
            false => self.s.splat(&[0; 16]),
        }
    }

    #[inline(always)]
    fn block(&self, f: impl Fn(Fact<'_>) -> u128 + Copy) -> S::W {
        let mut blocks = [[0; 16]; MAX_LANES];
        let mut l = 0;
        while l < self.used {
            let job = self.job(l);
            let fact = Fact::new(job, self.keys.get(job.key_index), self.given);
            blocks[l] = f(fact).to_le_bytes();
            l += 1;
        }
        self.s.load_row(&blocks)
    }
}
