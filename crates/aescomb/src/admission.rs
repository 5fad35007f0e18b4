//! Admission: what messages a call takes, and the check of a whole batch before any of its
//! messages is touched.
//!
//! A good message is found to be good without a branch for each rule; what is wrong with a
//! bad one is worked out afterwards (`refusal`).

use crate::about::{Limits, UNLIMITED};
use crate::error::{Allowed, Error, Field, Given};
use crate::expanded::Expanded;
#[cfg(target_arch = "x86_64")]
use crate::isa::{Isa, Vaes512};
use crate::job::{ATTACHED, Alike, Job, RECEIVED, Rest, disjoint};
use crate::key_set::KeySet;
use crate::mode::{Info, Lengths, Mode, Op};
use crate::status::Status;

mod batch;
mod registers;

/// The instruction set with whose vectors batches are checked.
#[cfg(target_arch = "x86_64")]
type Vectors = Vaes512;
#[cfg(not(target_arch = "x86_64"))]
type Vectors = core::convert::Infallible;

/// Its token, if this CPU is known to have it.
#[inline(always)]
fn vectors() -> Option<Vectors> {
    #[cfg(target_arch = "x86_64")]
    return Vaes512::known();
    #[cfg(not(target_arch = "x86_64"))]
    None
}

/// What `f` makes, compiled for the vectors with which batches are checked; `None` if this CPU has
/// none.
#[inline(always)]
pub(crate) fn in_vectors<R>(f: impl FnOnce() -> R) -> Option<R> {
    #[cfg(target_arch = "x86_64")]
    return vectors().map(|s| s.enter(f));
    #[cfg(not(target_arch = "x86_64"))]
    {
        let _ = f;
        None
    }
}

/// What messages of a mode and an operation may be: small numbers that depend on nothing
/// else.
#[derive(Debug)]
pub(crate) struct Rules {
    op: Op,
    lengths: Lengths,
    /// Shortest nonce, and how much longer it may be.
    nonce: (u32, u32),
    /// Bit n is set where tags of n bytes are allowed.
    tag: u32,
    /// The most components of associated data.
    components: usize,
    /// A nonce that may be left out is one of them.
    nonce_is_data: bool,
    /// Bits of a length that are clear, and the least it may be.
    clear: usize,
    least: usize,
    /// A result has `(length + grow) & keep` bytes, `least_result` or more.
    grow: usize,
    keep: usize,
    least_result: usize,
    /// See [`Rules::pointers`].
    pointers: usize,
    optional: usize,
    /// Every message gets a verdict of its own.
    pub judges: bool,
    /// There is something to do after the message itself.
    pub frames: bool,
    /// Messages are moved to the ends of their destinations first.
    pub moves: bool,
    /// Whoever opens a message must say how long it is.
    untold: bool,
    /// An attached tag stands before the text.
    pub tag_first: bool,
    /// Results are chained: see [`Backend::preferred`](crate::Backend::preferred).
    pub chained: bool,
    /// What `refusal` says is allowed.
    info: &'static Info,
    limits: LimitsOf,
    /// See [`Rules::text_alone`].
    rest: Rest,
}

/// See [`Registered::limits`](crate::about::Registered::limits).
type LimitsOf = fn(usize) -> Limits;

/// Bits of long lengths, of [`UNLIMITED`] bytes and more. Modes limit them, which `refusal`
/// looks at.
const NOT_SHORT: usize = !(UNLIMITED - 1);
/// Set in lengths that no memory has.
pub(crate) const SIGN: usize = !(usize::MAX >> 1);

/// Whether a text or associated data is not long.
#[inline(always)]
pub(crate) fn is_short(len: usize) -> bool {
    len & NOT_SHORT == 0
}

impl Rules {
    /// Whether results are as long as texts.
    const fn keep_lengths(&self) -> bool {
        self.grow == 0 && self.keep == !0 && self.least_result == 0
    }

    /// Those of every operation, in the order of [`Op::ALL`], whether the mode has it or not.
    pub(crate) const fn all(info: &'static Info, limits: LimitsOf) -> [Rules; 6] {
        let [a, b, c, d, e, f] = Op::ALL;
        [
            Rules::of(info, limits, a),
            Rules::of(info, limits, b),
            Rules::of(info, limits, c),
            Rules::of(info, limits, d),
            Rules::of(info, limits, e),
            Rules::of(info, limits, f),
        ]
    }

    pub(crate) const fn of(info: &'static Info, limits: LimitsOf, op: Op) -> Rules {
        let shrinks = matches!(
            (op, info.lengths),
            (Op::Decrypt, Lengths::Padded) | (Op::Open, Lengths::Filled | Lengths::Untold)
        );
        let input = match shrinks {
            true => Lengths::WholeBlocks,
            false => info.lengths,
        };
        let filled = matches!(input, Lengths::Filled);
        let untold = matches!(info.lengths, Lengths::Untold);
        let mut tag = if info.tag_bytes.is_empty() { 1 } else { 0 };
        let mut i = 0;
        while i < info.tag_bytes.len() {
            tag |= 1 << info.tag_bytes[i];
            i += 1;
        }
        let (shortest, longest) = info.nonce_bytes;
        let writes = !matches!(input, Lengths::TagOnly);
        let (pointers, optional) = Rules::pointers(writes, shortest, !info.tag_bytes.is_empty());
        Rules {
            op,
            lengths: info.lengths,
            nonce: (shortest as u32, (longest - shortest) as u32),
            tag,
            components: info.data_components,
            nonce_is_data: shortest == 0 && longest > 0,
            clear: match input {
                Lengths::WholeBlocks => 15,
                _ => 0,
            },
            least: match input {
                Lengths::WholeBlocks if shrinks && !untold => 16,
                Lengths::FromOneBlock => 16,
                _ => 0,
            },
            grow: match input {
                Lengths::Padded => 16,
                Lengths::Filled | Lengths::Untold => 15,
                _ => 0,
            },
            keep: match input {
                Lengths::Padded | Lengths::Filled | Lengths::Untold => !15,
                Lengths::TagOnly => 0,
                _ => !0,
            },
            least_result: if filled { 16 } else { 0 },
            pointers,
            optional,
            judges: matches!(op, Op::Decrypt) && shrinks || matches!(op, Op::Verify | Op::Open),
            frames: shrinks || filled,
            moves: untold && matches!(op, Op::Seal),
            untold: untold && matches!(op, Op::Open),
            tag_first: info.tag_first,
            chained: info.chained[matches!(op, Op::Decrypt | Op::Open) as usize],
            info,
            limits,
            rest: Rest::of_nonce(shortest as u32),
        }
    }

    /// Bytes of result that `len` bytes of message make.
    #[inline(always)]
    pub(crate) fn written(&self, len: usize) -> usize {
        (len.wrapping_add(self.grow) & self.keep).max(self.least_result)
    }

    /// Whether the result goes to a destination.
    fn writes(&self) -> bool {
        self.keep != 0
    }

    /// Bytes by which an attached tag makes a text longer than what is opened, and a result
    /// longer than what comes of the text.
    #[inline(always)]
    fn attached(&self, tag: usize) -> Attached {
        let (shorter, longer) = match self.op {
            Op::Open => (tag, 0),
            Op::Seal => (0, tag),
            _ => (0, 0),
        };
        Attached { shorter, longer }
    }

    /// Whether a message may have `len` bytes, and a place of `room` bytes holds its result,
    /// which is `longer` by an attached tag.
    #[inline(always)]
    fn fits(&self, len: usize, room: usize, longer: usize) -> bool {
        (len & self.clear == 0)
            & (len >= self.least)
            & (room >= self.written(len).wrapping_add(longer))
    }

    /// Whether a message of `opened` bytes may have been sealed to `len`, in a mode that does
    /// not tell.
    fn tells(&self, len: usize, opened: usize) -> bool {
        len.wrapping_sub(opened) < 16
    }

    #[inline(always)]
    fn makes_tags(&self) -> bool {
        matches!(self.op, Op::Mac | Op::Seal)
    }

    /// What there is to do after a message, if its tag is right: the length of the result, or
    /// `None` for what nobody could have sealed.
    #[inline(always)]
    pub(crate) fn after(&self, job: &Job) -> Option<usize> {
        match (self.op, self.lengths) {
            (Op::Decrypt, Lengths::Padded) => job.unpad(),
            (Op::Open, Lengths::Filled) => job.unfill(),
            (Op::Open, Lengths::Untold) => job.move_to_start(),
            (Op::Seal, Lengths::Filled) => {
                job.put_flag();
                Some(self.written(job.len))
            }
            _ => Some(self.written(job.len)),
        }
    }

    /// Whether a message of `len` bytes, none of them many, has room for its result, which is
    /// `longer` by an attached tag, and nothing in common with it.
    #[inline(always)]
    fn take(&self, job: &Job, len: usize, longer: usize) -> bool {
        // A room of more than all memory goes with no length that is not long.
        let short = is_short(len | job.data_len) & (job.dst_len & SIGN == 0);
        let sized = self.fits(len, job.dst_len, longer) & short;
        let same = job.src == job.dst.cast_const();
        sized && (same || disjoint(job.src, len, job.dst, self.written(len)))
    }

    /// Whether tags may have so many bytes. Most have 16, of which no shift need be asked.
    #[inline(always)]
    fn takes_tag(&self, bytes: u32) -> bool {
        bytes == 16 && self.tag >> 16 & 1 == 1 || self.tag >> bytes.min(31) & 1 == 1
    }

    /// Whether a message has parts of lengths that the mode takes.
    #[inline(always)]
    fn take_profile(&self, job: &Job, len: usize) -> bool {
        (job.nonce_len.wrapping_sub(self.nonce.0) <= self.nonce.1)
            & self.takes_tag(job.tag_len)
            & (self.components_of(job) <= self.components)
            & (!self.untold || self.tells(len, job.opened_len))
            & (!self.makes_tags() || job.tag_attached != RECEIVED)
    }

    /// Whether a message that comes by itself, whose tag is not attached, is short and good.
    #[inline(always)]
    pub(crate) fn take_one(&self, job: &Job) -> bool {
        debug_assert!(job.tag_attached != ATTACHED);
        self.take(job, job.src_len, 0) && self.take_profile(job, job.src_len)
    }

    /// What is wrong with one that is not, if anything is.
    pub(crate) fn refusal_of_one(&'static self, key: &Expanded, job: &Job) -> Option<Error> {
        let call = Call {
            mode: key.mode(),
            op: self.op,
            rules: self,
            keys: KeySet::Shared(key),
        };
        call.refusal(job, job.src_len)
    }

    /// What a [`RunOne`](crate::job::RunOne) takes beside text and nonce, where it is the same for all
    /// messages: there is neither associated data nor a tag, and nonces have one length.
    #[inline(always)]
    pub(crate) fn text_alone(&self) -> Option<&Rest> {
        let alone = self.components == 0 && self.tag == 1 && self.nonce.1 == 0;
        alone.then_some(&self.rest)
    }

    /// Components of associated data, with a nonce that is one.
    #[inline(always)]
    fn components_of(&self, job: &Job) -> usize {
        job.components() + usize::from(self.nonce_is_data & (job.nonce_len > 0))
    }
}

/// Whether all keys are of one size; `None` where one is missing or not for `mode`. No branch asks for
/// one's mode or size.
#[inline(never)]
fn alike<'a>(mode: Mode, keys: impl Iterator<Item = Option<&'a Expanded>>) -> Option<bool> {
    let (mut modes, mut any, mut all) = (0, 0, usize::MAX);
    for key in keys {
        let key = key?;
        modes |= key.mode() as u8 ^ mode as u8;
        any |= key.rounds();
        all &= key.rounds();
    }
    (modes == 0).then_some(any == all)
}

/// What a call is to do, and with which keys.
#[derive(Clone, Copy)]
pub(crate) struct Call<'k> {
    pub mode: Mode,
    pub op: Op,
    pub rules: &'static Rules,
    pub keys: KeySet<'k>,
}

impl<'k> Call<'k> {
    #[inline(always)]
    pub(crate) fn new(mode: Mode, op: Op, keys: KeySet<'k>) -> Self {
        Call {
            mode,
            op,
            rules: mode.rules(op),
            keys,
        }
    }
}

/// Bytes that an attached tag has: of a text that is opened, and of a result.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Attached {
    shorter: usize,
    longer: usize,
}

impl Attached {
    const APART: Attached = Attached {
        shorter: 0,
        longer: 0,
    };
}

/// What texts of a batch may be whose messages differ in nothing else.
pub(crate) struct Bounds {
    rules: &'static Rules,
    attached: Attached,
}

impl Bounds {
    /// Whether a length is good by its bits where the result has room and it is not below the
    /// [`least`](Bounds::least): if results are as long as texts and have as much room, or are not
    /// written.
    pub(crate) fn are_plain(&self, roomy: bool) -> bool {
        let alike = self.rules.keep_lengths() && roomy || !self.rules.writes();
        self.attached == Attached::APART && alike
    }

    /// The fewest bytes of a text, if tags are apart.
    pub(crate) fn least(&self) -> usize {
        self.rules.least
    }

    /// Whether a text may have `len` bytes with `room` for its result, and the bytes of the
    /// result.
    #[inline(always)]
    pub(crate) fn fit(&self, len: usize, room: usize) -> (bool, usize) {
        let Attached { shorter, longer } = self.attached;
        let text = len.wrapping_sub(shorter);
        let fits = (len >= shorter) & self.rules.fits(text, room, longer);
        (fits, self.rules.written(text).wrapping_add(longer))
    }
}

/// Bytes of nonce and tag, where that is, components of associated data.
type Profile = (u64, u64);

#[inline(always)]
fn profile(job: &Job) -> Profile {
    let lengths = u64::from(job.tag_len) << 32 | u64::from(job.nonce_len);
    (
        lengths,
        u64::from(job.tag_attached) << 32 | u64::from(job.components),
    )
}

/// The check of one message after the other.
pub(crate) struct Admission<'c, 'k> {
    call: &'c Call<'k>,
    /// The profile of a message that had a good one: mostly, all have the same.
    profile: Profile,
}

/// Of a message without a tag that has two components, which none has.
const NO_PROFILE: Profile = (0, 2);

impl<'k> Call<'k> {
    pub(crate) fn admission(&self) -> Admission<'_, 'k> {
        Admission {
            call: self,
            profile: NO_PROFILE,
        }
    }

    /// Checks jobs of messages, and reports them as done; what is wrong with the first that
    /// is bad.
    #[inline(always)]
    #[allow(unsafe_code)]
    pub(crate) fn check(&self, jobs: &mut [Job]) -> Result<Alike, Error> {
        // SAFETY: there are so many jobs, and they are borrowed.
        if let Some((texts, data)) =
            unsafe { self.all_good::<false>(jobs.as_mut_ptr(), jobs.len(), 0) }
            && let Some(keys) = self.have_keys(jobs.iter())
        {
            let apart = jobs.first().is_none_or(|job| job.tag_attached != ATTACHED);
            return Ok(Alike::new(texts, data, keys).apart(apart));
        }
        // A copy: if this call's own address were passed on, the compiler would read its members again.
        let call = *self;
        call.check_each(jobs)
    }

    #[inline(never)]
    fn check_each(&self, jobs: &mut [Job]) -> Result<Alike, Error> {
        let mut admission = self.admission();
        let (mut first, mut equal, mut apart) = (None, true, true);
        for (i, job) in jobs.iter_mut().enumerate() {
            let written = admission.admit(job).map_err(|e| e.at(i))?;
            job.report(Status::Done, written);
            let len = self.prepared(job).1;
            equal &= *first.get_or_insert(len) == len;
            apart &= job.tag_attached != ATTACHED;
        }
        Ok(Alike::new(equal, false, self.has_shared_key()).apart(apart))
    }

    pub(crate) fn has_shared_key(&self) -> bool {
        matches!(self.keys, KeySet::Shared(_))
    }

    /// Whether each message has its own key.
    pub(crate) fn has_own_keys(&self) -> bool {
        matches!(self.keys, KeySet::Own)
    }

    /// Whether all keys of the jobs are of one size; `None` where one is missing or of
    /// another mode.
    #[inline(always)]
    pub(crate) fn have_keys<'j>(&self, jobs: impl Iterator<Item = &'j Job>) -> Option<bool> {
        match self.keys {
            KeySet::Shared(_) => Some(true),
            KeySet::Own => alike(self.mode, jobs.map(|job| KeySet::Own.of(job))),
            _ => self.have_places(jobs.map(|job| job.key_index)),
        }
    }

    /// The same of keys at places.
    #[inline(always)]
    pub(crate) fn have_places(&self, places: impl Iterator<Item = u32>) -> Option<bool> {
        match self.keys {
            KeySet::Shared(_) => Some(true),
            KeySet::Table(table) => alike(self.mode, places.map(|place| table.get(place as usize))),
            keys => alike(self.mode, places.map(|place| keys.find(place))),
        }
    }

    /// Whether a job has a key for the call's mode, and none of its own beside others.
    #[inline(always)]
    fn has_key(&self, job: &Job) -> bool {
        let good = |key: &Expanded| key.mode() == self.mode;
        match self.keys {
            KeySet::Own => self.keys.of(job).is_some_and(good),
            _ if !job.key.is_null() => false,
            KeySet::Shared(_) => true,
            keys => keys.find(job.key_index).is_some_and(good),
        }
    }

    /// Whether all of `count` jobs from `first` on are good, as most batches are: of one
    /// profile, none of them long. Then they are reported as done, and the result says whether
    /// their texts have one length. `None`: they are to be looked at one by one. `FOREIGN`
    /// jobs have associated data where they have a pointer to it; their other members that are
    /// the engine's own are written, with places in a table of keys from `key_index` on.
    ///
    /// # Safety
    /// There are that many, of which nobody else uses any.
    #[inline(always)]
    #[allow(unsafe_code)]
    pub(crate) unsafe fn all_good<const FOREIGN: bool>(
        &self,
        first: *mut Job,
        count: usize,
        key_index: u32,
    ) -> Option<(bool, bool)> {
        // Fewer are as fast one by one.
        if count < 4 {
            return None;
        }
        // SAFETY: the caller's.
        unsafe { self.look::<FOREIGN>((first, count), key_index, vectors()) }
    }

    /// The same of several jobs, with vectors, if the CPU has them.
    ///
    /// # Safety
    /// As there.
    #[inline(always)]
    #[allow(unsafe_code)]
    unsafe fn look<const FOREIGN: bool>(
        &self,
        jobs: (*mut Job, usize),
        key_index: u32,
        vectors: Option<Vectors>,
    ) -> Option<(bool, bool)> {
        // SAFETY: there is a job.
        let first = unsafe { &*jobs.0 };
        // All others have what this one has.
        let attached = match first.tag_attached {
            ATTACHED if !self.may_attach() => return None,
            ATTACHED => self.rules.attached(first.tag_len as usize),
            _ => Attached::APART,
        };
        let own = !FOREIGN || (first.component_count == 0) & (first.tag_attached <= ATTACHED);
        let len = first.src_len.wrapping_sub(attached.shorter);
        let good = own
            & self.rules.take_profile(first, len)
            & (first.components != Job::SEVERAL)
            & (self.has_own_keys() | first.key.is_null());
        // SAFETY: the caller's.
        if !good || self.rules.untold && !unsafe { self.all_tell(jobs, attached) } {
            return None;
        }
        // The call's own address is not passed on: see `check`.
        let rules = (self.rules, !self.has_own_keys());
        // SAFETY: the caller's.
        unsafe { batch::all_good::<FOREIGN>(vectors, rules, jobs, key_index, attached) }
    }

    /// Whether all jobs say how long messages are that may have been sealed to theirs, if tags are
    /// `attached` as the first one's is.
    ///
    /// # Safety
    /// As there.
    #[allow(unsafe_code)]
    unsafe fn all_tell(&self, (first, count): (*mut Job, usize), attached: Attached) -> bool {
        // SAFETY: the caller's.
        let jobs = unsafe { core::slice::from_raw_parts(first, count) };
        let len = |job: &Job| job.src_len.wrapping_sub(attached.shorter);
        jobs.iter()
            .all(|job| self.rules.tells(len(job), job.opened_len))
    }

    /// What is wrong with a message, if anything: long ones are looked at here, too.
    #[cold]
    fn refusal(&self, job: &Job, len: usize) -> Option<Error> {
        let rules = self.rules;
        let needed = rules.written(len);
        let dst_len = job.dst_len;
        let info = rules.info;
        fn wrong(field: Field, given: impl Into<Given>, allowed: Allowed) -> Option<Error> {
            Some(Error::new(field, given, allowed))
        }
        let (least, most) = info.nonce_bytes;
        if !(least..=most).contains(&(job.nonce_len as usize)) {
            let allowed = match (least, most) {
                (0, 0) => Allowed::Nothing,
                (least, most) if least == most => Allowed::Exactly(most),
                _ => Allowed::Between(least, most),
            };
            return wrong(Field::NonceLength, job.nonce_len as usize, allowed);
        }
        if let Some(refusal) = self.tag_refusal(job) {
            return Some(refusal);
        }
        if rules.makes_tags() && job.tag_attached == RECEIVED {
            return wrong(Field::Tag, Given::Nothing, Allowed::Nothing);
        }
        if rules.components_of(job) > rules.components {
            // Those beside the nonce.
            let given = job.components();
            let most = rules.components - (rules.components_of(job) - given).min(rules.components);
            let allowed = match most {
                0 => Allowed::Nothing,
                n => Allowed::AtMost(n),
            };
            return wrong(Field::DataCount, given, allowed);
        }
        let limits = (rules.limits)(job.nonce_len as usize);
        // What no memory has, foreign jobs may claim.
        let memory = isize::MAX as usize;
        let most = |n: u64| Allowed::AtMost(usize::try_from(n).map_or(memory, |n| n.min(memory)));
        if len as u64 > limits.text || len > memory {
            return wrong(Field::TextLength, len, most(limits.text));
        }
        if job.components == 1 && (job.data_len as u64 > limits.data || job.data_len > memory) {
            return wrong(Field::DataLength, job.data_len, most(limits.data));
        }
        if len & rules.clear != 0 {
            return wrong(Field::TextLength, len, Allowed::MultipleOf(16));
        }
        if len < rules.least {
            return wrong(Field::TextLength, len, Allowed::AtLeast(rules.least));
        }
        if rules.untold && !rules.tells(len, job.opened_len) {
            let allowed = match len {
                0 => Allowed::Exactly(0),
                len => Allowed::Between(len - 15, len),
            };
            let given = match job.opened_len {
                usize::MAX => Given::Nothing,
                len => len.into(),
            };
            return wrong(Field::OpenedLength, given, allowed);
        }
        if dst_len < needed {
            return wrong(Field::OutputLength, dst_len, Allowed::AtLeast(needed));
        }
        if dst_len > memory {
            return wrong(Field::OutputLength, dst_len, Allowed::AtMost(memory));
        }
        if let Err(overlap) = apart(job, len, needed) {
            return Some(overlap);
        }
        match (self.keys, self.keys.of(job)) {
            (KeySet::Own, None) => Some(no_key()),
            (KeySet::Shared(_) | KeySet::Table(_) | KeySet::Refs(_), _) if !job.key.is_null() => {
                wrong(Field::Key, 1, Allowed::Nothing)
            }
            (keys, None) => wrong(
                Field::KeyIndex,
                job.key_index as usize,
                Allowed::AtMost(keys.len().saturating_sub(1)),
            ),
            (_, Some(key)) if key.mode() != self.mode => {
                wrong(Field::KeyMode, key.mode(), Allowed::Mode(self.mode))
            }
            (_, Some(_)) => None,
        }
    }

    /// What is wrong with the length of a message's tag, if anything.
    fn tag_refusal(&self, job: &Job) -> Option<Error> {
        let allowed = match self.rules.info.tag_bytes {
            _ if self.rules.takes_tag(job.tag_len) => return None,
            [] => Allowed::Nothing,
            list => Allowed::OneOf(list),
        };
        Some(Error::new(Field::TagLength, job.tag_len as usize, allowed))
    }

    /// The length of a job without its tag, which is part of its text, and how many bytes
    /// longer its result is for it.
    fn without_tag(&self, job: &Job) -> Result<(usize, usize), Error> {
        let Job {
            src_len, dst_len, ..
        } = *job;
        let bytes = job.tag_len as usize;
        let wrong = |field, given, least| Err(Error::new(field, given, Allowed::AtLeast(least)));
        if let Some(refusal) = self.tag_refusal(job) {
            return Err(refusal);
        }
        match self.op {
            Op::Seal => {
                let needed = self.rules.written(src_len).saturating_add(bytes);
                if dst_len < needed {
                    return wrong(Field::OutputLength, dst_len, needed);
                }
                apart(job, src_len, needed)?;
            }
            Op::Open => {
                if src_len < bytes {
                    return wrong(Field::TextLength, src_len, bytes);
                }
                apart(job, src_len, src_len - bytes)?;
            }
            // A tag that is the text's neighbour makes no sense for a MAC.
            _ => return Err(Error::new(Field::Tag, bytes, Allowed::Nothing)),
        }
        let Attached { shorter, longer } = self.rules.attached(bytes);
        Ok((src_len - shorter, longer))
    }

    /// Whether the operation makes tags that may be attached, or takes them off.
    pub(crate) fn may_attach(&self) -> bool {
        matches!(self.op, Op::Seal | Op::Open)
    }

    /// Whether messages are good that have what `same` has, a good key, and texts and associated
    /// data of good lengths.
    pub(crate) fn takes_all_like(&self, same: &Job) -> bool {
        let attaches = same.tag_attached != ATTACHED || self.may_attach();
        attaches && !self.rules.untold && self.rules.take_profile(same, 0)
    }

    /// The bounds of texts, for batches whose tags are attached if they have `attached` bytes.
    pub(crate) fn bounds(&self, attached: usize) -> Bounds {
        Bounds {
            rules: self.rules,
            attached: self.rules.attached(attached),
        }
    }

    /// Where the tag of an admitted job is, attached or not, and the job's length without it.
    #[inline(always)]
    pub(crate) fn prepared(&self, job: &Job) -> (*mut u8, usize) {
        if job.tag_attached != ATTACHED {
            return (job.tag, job.src_len);
        }
        let len = job.src_len - self.rules.attached(job.tag_len as usize).shorter;
        let tag = match self.op {
            Op::Open if self.rules.tag_first => job.src.cast_mut(),
            Op::Open => job.src.wrapping_add(len).cast_mut(),
            _ if self.rules.tag_first => job.dst,
            _ => job.dst.wrapping_add(self.rules.written(len)),
        };
        (tag, len)
    }
}

/// Neither has a message a key of its own, nor its call another.
#[cold]
pub(crate) fn no_key() -> Error {
    Error::new(Field::Key, Given::Nothing, Allowed::AtLeast(1))
}

/// Refuses a source of `src_len` bytes and a result of `needed` that overlap and are not
/// the same place.
fn apart(job: &Job, src_len: usize, needed: usize) -> Result<(), Error> {
    if job.src == job.dst.cast_const() || disjoint(job.src, src_len, job.dst, needed) {
        return Ok(());
    }
    let apart = job.src.addr().abs_diff(job.dst.addr());
    Err(Error::new(Field::Overlap, apart, Allowed::Nothing))
}

impl Admission<'_, '_> {
    /// Checks a message: the bytes of its result.
    #[inline(always)]
    pub(crate) fn admit(&mut self, job: &Job) -> Result<usize, Error> {
        let call = self.call;
        call.admit(
            job,
            #[inline(always)]
            |len| profile(job) == self.profile || self.takes_profile(job, len),
        )
    }

    #[inline(never)]
    fn takes_profile(&mut self, job: &Job, len: usize) -> bool {
        let good = self.call.rules.take_profile(job, len);
        // The profile does not say how many several components are, or all of an opened
        // length.
        if good && job.components != Job::SEVERAL && !self.call.rules.untold {
            self.profile = profile(job);
        }
        good
    }
}

impl Call<'_> {
    #[inline(always)]
    fn admit(&self, job: &Job, has_lengths: impl FnOnce(usize) -> bool) -> Result<usize, Error> {
        let (len, longer) = match job.tag_attached {
            ATTACHED => self.without_tag(job)?,
            _ => (job.src_len, 0),
        };
        let rules = self.rules;
        if !(rules.take(job, len, longer) && has_lengths(len) && self.has_key(job))
            && let Some(refusal) = self.refusal(job, len)
        {
            return Err(refusal);
        }
        Ok(rules.written(len) + longer)
    }
}

#[cfg(test)]
#[allow(unsafe_code)]
mod tests {
    use super::*;
    use crate::key::AnyKey;
    use crate::mode::Kind;
    use alloc::vec::Vec;

    /// Batches in which one message is changed: where all are found to be good at once, so does
    /// the check of one message after the other, and with the same results; and what differs in
    /// nothing but lengths and places is found to be good.
    #[test]
    fn checks_agree() {
        const LEN: usize = 48;
        let mut memory = alloc::vec![0u8; 1 << 12];
        let at = memory.as_mut_ptr().wrapping_add(1 << 11);
        // What is changed, and whether it has to be found if it is good.
        type Change = (fn(&mut Job), bool);
        let changes: &[Change] = &[
            (|_| {}, true),
            (|job| job.src_len += 16, true),
            (|job| job.src_len -= 16, true),
            (|job| job.src_len += 1, true),
            (|job| job.src_len = 0, true),
            (|job| job.src_len = 1 << 16, false),
            (|job| job.src_len = usize::MAX, false),
            (|job| job.dst_len = 0, true),
            (|job| job.dst_len -= 1, true),
            (|job| job.dst_len += 1, true),
            (|job| job.dst_len = usize::MAX, false),
            (|job| (job.src_len, job.dst_len) = (0, 0), true),
            (|job| (job.src_len, job.dst_len) = (15, 15), true),
            (|job| (job.src_len, job.dst_len) = (16, 16), true),
            (|job| job.dst = job.dst.wrapping_add(1), true),
            (|job| job.dst = job.dst.wrapping_add(LEN - 1), true),
            (|job| job.dst = job.dst.wrapping_add(LEN), true),
            (|job| job.dst = job.dst.wrapping_sub(1), true),
            (|job| job.dst = job.dst.wrapping_sub(LEN - 1), true),
            (|job| job.dst = job.dst.wrapping_sub(LEN), true),
            (|job| job.dst = job.dst.wrapping_sub(2 * LEN), true),
            (|job| job.nonce_len += 1, false),
            (|job| job.nonce_len = 0, false),
            (|job| job.tag_len += 1, false),
            (|job| job.tag_len = 31, false),
            (|job| job.tag_attached ^= 1, false),
            (|job| job.components ^= 1, false),
            (|job| job.components = Job::SEVERAL, false),
            (|job| job.data_len += 5, true),
            (|job| job.data_len = 1 << 16, false),
            (|job| job.opened_len = 1, false),
            (|job| job.opened_len += 1, true),
            (|job| job.opened_len -= 1, true),
            (|job| job.opened_len -= 16, true),
            (|job| job.opened_len = usize::MAX, true),
        ];
        for mode in Mode::ALL {
            let info = mode.info();
            let raw: Vec<u8> = (0..info.key_bytes[0] as u8).collect();
            let key = AnyKey::for_mode(*mode, &raw).unwrap();
            for op in info.kind.ops() {
                let call = Call {
                    mode: *mode,
                    op,
                    rules: mode.rules(op),
                    keys: KeySet::Shared(key.expanded()),
                };
                for (attached, room) in [(0, 2 * LEN), (0, LEN), (1, 2 * LEN)] {
                    if attached > 0 && info.kind != Kind::Aead {
                        continue;
                    }
                    let good = Job {
                        src: at,
                        src_len: LEN,
                        dst: at,
                        dst_len: room,
                        nonce: at,
                        nonce_len: info.nonce_bytes.0 as u32,
                        data: at,
                        data_len: 12,
                        components: info.data_components.min(1) as u32,
                        tag: at,
                        tag_len: info.longest_tag() as u32,
                        tag_attached: attached,
                        opened_len: LEN - 16 * attached as usize,
                        ..Job::default()
                    };
                    for (n, place) in [(9, 0), (9, 4), (9, 8), (4, 3)] {
                        for (i, (change, taken)) in changes.iter().enumerate() {
                            for foreign in [false, true] {
                                let mut jobs = alloc::vec![good; n];
                                change(&mut jobs[place]);
                                if foreign {
                                    if jobs[place].components != good.components {
                                        continue;
                                    }
                                    // Of a foreign job, a pointer to data says that it has some.
                                    for job in jobs.iter_mut().filter(|job| job.components == 0) {
                                        (job.data, job.data_len) = (core::ptr::null(), 0);
                                    }
                                }
                                let other = jobs[(place + 1) % n];
                                let mut admission = call.admission();
                                let scalar: Result<Vec<_>, _> =
                                    jobs.iter().map(|job| admission.admit(job)).collect();
                                let first = &jobs[0];
                                if admission.admit(first).is_err()
                                    || first.components == Job::SEVERAL
                                {
                                    continue;
                                }
                                for vectors in [None, vectors()] {
                                    let all = (jobs.as_mut_ptr(), n);
                                    // SAFETY: there are so many.
                                    let found = unsafe {
                                        match foreign {
                                            true => call.look::<true>(all, 0, vectors),
                                            false => call.look::<false>(all, 0, vectors),
                                        }
                                    };
                                    let how = (foreign, vectors.is_some());
                                    let what = (mode, op, attached, room, place, i, how);
                                    if let Some(alike) = found {
                                        let texts =
                                            jobs.iter().all(|job| job.src_len == good.src_len);
                                        let data =
                                            jobs.iter().all(|job| job.data_len == other.data_len);
                                        assert_eq!(alike, (texts, data), "{what:?}");
                                        let written: Vec<_> = jobs
                                            .iter()
                                            // SAFETY: it was reported.
                                            .map(|job| unsafe { job.written.assume_init() })
                                            .collect();
                                        assert_eq!(scalar.as_ref(), Ok(&written), "{what:?}");
                                    } else if scalar.is_ok() && *taken {
                                        // Where nothing is read or written, it may lie anywhere.
                                        let empty =
                                            jobs[place].src_len == 0 || !call.rules.writes();
                                        assert!(empty, "{what:?}");
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    }

    /// Foreign jobs of which one has other pointers: any are taken, whatever bits they have, but
    /// null is not, for what is used.
    #[test]
    fn pointers_of_foreign_jobs() {
        const HERE: usize = 0b0101 << 20;
        const THERE: usize = 0b1010 << 20;
        type Change = (fn(&mut Job, usize), bool);
        let changes: &[Change] = &[
            (|job, to| (job.src, job.dst) = (to as _, to as _), false),
            (|job, to| job.dst = to as _, false),
            (|job, to| job.nonce = to as _, false),
            (|job, to| job.tag = to as _, false),
            (|job, to| job.data = to as _, false),
            // All have data or none.
            (|job, to| (job.data, job.data_len) = (to as _, 0), false),
            // What the mode does not use, and which is null elsewhere.
            (|job, to| job.key = to as _, true),
        ];
        let key = AnyKey::for_mode(Mode::Gcm, &[7; 16]).unwrap();
        let call = Call {
            mode: Mode::Gcm,
            op: Op::Seal,
            rules: Mode::Gcm.rules(Op::Seal),
            keys: KeySet::Shared(key.expanded()),
        };
        let good = Job {
            src: HERE as _,
            src_len: 48,
            dst: HERE as _,
            dst_len: 48,
            nonce: HERE as _,
            nonce_len: 12,
            data: HERE as _,
            data_len: 12,
            tag: HERE as _,
            tag_len: 16,
            ..Job::default()
        };
        for vectors in [None, vectors()] {
            for (i, (change, null)) in changes.iter().enumerate() {
                for (to, taken) in [(HERE, !null), (THERE, !null), (0, *null)] {
                    for place in [0, 5, 8] {
                        let mut jobs = alloc::vec![good; 9];
                        change(&mut jobs[place], to);
                        // SAFETY: there are so many, and a check touches nothing but them.
                        let found =
                            unsafe { call.look::<true>((jobs.as_mut_ptr(), 9), 3, vectors) };
                        assert_eq!(found.is_some(), taken, "{i} {to:x} {place}");
                        for (n, job) in jobs.iter().enumerate().filter(|_| taken) {
                            assert_eq!((job.len, job.components), (48, 1));
                            assert_eq!(job.key_index as usize, 3 + n);
                            // SAFETY: a good batch's are written.
                            assert_eq!(unsafe { job.written.assume_init() }, 48);
                        }
                    }
                }
            }
        }
    }
}
