//! The contract of modes: what one says of itself ([`Registered`]) and of how one message
//! goes ([`Pass`]), once, for all widths, instruction sets and key forms.
//!
//! # How the items go together
//!
//! Anything that a mode does not need keeps its default.
//!
//! - **Rows run on all lanes**, also on those without a message or with a shorter one.
//!   Idle lanes read and write scratch memory; their results are discarded. A step must not
//!   fail on any value.
//! - **State** is `[W; N]`, at most three blocks (`MAX_STATE`). It is in registers inside
//!   a window and in memory between two.
//! - **Header.** Up to four rows (`HEADER`) that a mode makes of lengths, nonce and the
//!   given tag (`Facts` in `facts.rs`): of one message or of a group's, by the same function.
//!   What comes of lengths other than the text's is worked out once for a group where they
//!   are alike; `block` is the slow way, message by message, for what rows cannot say. With
//!   two passes the last row is for the tag. What `begin` and `text` write into `h` is there
//!   for `finish` and `tag`. `header` cannot call the cipher: what needs AES is for `begin`.
//! - **Nonces.** One of a whole block needs no header function: with `NONCE`, `begin` finds it
//!   in `h[0]`. Others are in the header, up to 16 bytes of them by `Facts::nonce`. Longer ones
//!   are for `block`, which makes one block of `Fact::nonce` and `Fact::key` by a function of
//!   the mode that is out of line (`hashed` in `gcm.rs`, `last_of_nonce` in `eax.rs`, which
//!   calls AES by `encrypt_block`: all backends make the same of a key). Lanes without a
//!   message have nonces of no bytes, and a mode may take them for what it likes (`initial` in
//!   `gcm.rs`): messages have 1 byte or more. Fewest 0 bytes are for `VECTOR` alone, which
//!   leaves an empty nonce out.
//! - **`Tail`** says what rows leave for `finish`, and `DATA` likewise for `absorb_last`:
//!
//!   | | leaves | for example |
//!   |---|---|---|
//!   | `None` | nothing: whole blocks | ECB, CBC |
//!   | `Part` | 1 to 15 bytes; no finish without them | CTR, GCM |
//!   | `Padded` | 0 to 15 bytes, of which a whole block of result is made | PKCS#7 |
//!   | `Short` | 0 to 15 bytes; always a finish | JAMBU |
//!   | `Last` | the last 1 to 16 bytes, none only of an empty message | CMAC, PMAC |
//!   | `Filled` | the same, of which a whole block of result is made | COPA |
//!   | `Double` | the last whole block and what follows it; all of a shorter message | XTS, SIV |
//!
//!   Pieces come with zeros after them and with their numbers of bytes. Results beyond
//!   those are not written, but what a mode adds to its tag it must cut itself.
//! - **Rows that are no block** (`ROW`). With `pair` a row is two blocks of the message, and
//!   `Pass::pair` takes the place of `step`; then twice as much may be left, in two pieces (OTR,
//!   COBRA). `stride` and `data_stride` are the bytes from row to row, if not as many as a row
//!   has: CPFB goes by 12 and JAMBU by 8. Rows then overlap, and a step gives back the bytes
//!   that are not its own as they were.
//! - **Texts that change their length.** A mode says so in `ABOUT.lengths`, and the scheduler
//!   does before and after the passes what its sealed form wants (`Rules::before` and `after`
//!   in `admission.rs`): padding taken off, COPA's flag written after the tag or read, Julius's
//!   message moved behind its zeros and back. With `moved` a pass finds it there.
//! - **Associated data.** `DATA` is `None` where a pass takes none. Of a message without any,
//!   neither `absorb` nor `absorb_last` is called, whatever `DATA` says: what a mode makes of
//!   an empty string, it tells from another by the header (`has_data` in `eax.rs`).
//!   `DATA_BEGINS` leaves out bytes that are in the header already (CCM puts the length
//!   before them). With `VECTOR` associated data is a vector of components, and the nonce,
//!   if there is one, is its last; every component then gets its `absorb_last`, an empty one
//!   too.
//! - **Passes.** `MORE` says that `Then` follows: for SIV and GCM-SIV, whose tag comes
//!   before the ciphertext. The first pass's tag is in the last header row of the second;
//!   an opening has the given one there from the start. `AGAIN` reads what the pass
//!   before has written. `header`, `derive`, `NONCE` and `USES` of the first pass are for
//!   both.
//! - **Keys.** `USES` names the schedules and how many of the key's constants lanes are
//!   given. Declaring too few shows up only in tests that use one key per message. A mode with a key for every
//!   message (`OWN`) makes constants and one or two AES keys in `derive`; the engine
//!   expands those of a group at once. With `Mixed` the round keys are made of the key's
//!   and of the derived key's (Silver). A mode that uses a key made of the user's key
//!   expands that in `constants` (POET, McOE-G).
//! - **`Feed`** says whether the blocks of one message can be done side by side:
//!
//!   | | state of a block comes from | how messages go |
//!   |---|---|---|
//!   | `Serial` | the result of the block before | in groups, like all others |
//!   | `None` | nothing | one by one (`span.rs`), in the caller's order |
//!   | `Input` | the input block before | likewise |
//!   | `Counter` | its place, by `advance` | likewise |
//!   | `Blocks` | what `ALONG` says | in groups that change over to neighbouring blocks |
//!
//!   `None`, `Input` and `Counter` are for modes without headers, associated data and
//!   tags. `Serial` is right for any mode.
//!
//! # Neighbouring blocks
//!
//! `step` is the same function. It must move its state by these operations of the
//! `Cipher`, which for messages side by side are the plain ones:
//!
//! | | messages side by side | neighbouring blocks, n to a row |
//! |---|---|---|
//! | `stride` | 1 | n |
//! | `doubled` | doubled once | doubled n times |
//! | `hash` | (hash ^ x) H | the sum of products with powers of H, reduced once for up to 64 blocks |
//! | `within` | all of a result | what of it belongs to the message |
//! | `offset` | one step in the Gray code | n steps |
//! | `stride_of` | a constant | what it grows by in n blocks |
//! | `scaled` | multiplied once by a constant | n times |
//! | `before` | what the row before left | what the lane before leaves |
//! | `running`, `horner` | one more summand | a sum for each lane, of all lanes up to it |
//!
//! `ALONG.blocks` says what each block of state holds, and so how it comes into lanes and
//! back:
//!
//! - `Position`: depends on the block's place alone. All lanes get the message's, and
//!   `spread` moves lane l by l blocks.
//! - `Sum`: lane 0 gets it, the others zeros; all lanes are summed up in the end.
//! - `Hash`: in lane 0, the result of `hash`.
//! - `Previous`: what `before`, `running` and `horner` take; in the end, that of the last lane.
//!
//! A row that is not full is loaded with a mask; only its blocks count. With `ends_alike` a
//! message that is done by itself has its last bytes there too, in place of a finish.

use crate::backend::Backend;
use crate::block::Tables;
use crate::cipher::{Cipher, PerLane, Uniform};
use crate::expanded::Expanded;
use crate::facts::Facts;
use crate::isa::{Isa, RoundKeys, Wide};
use crate::lane_keys::LaneKeys;
use crate::mode::{Costs, Info, KEY_BYTES, Kind, Lengths};
use crate::schedule::{DERIVED, FORWARD, Uses};

/// The most bytes of a message's parts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    pub text: u64,
    pub data: u64,
}

impl Limits {
    /// As much as fits in memory.
    pub(crate) const NONE: Limits = Limits {
        text: u64::MAX,
        data: u64::MAX,
    };
}

/// What a mode says of itself: see the members of [`Info`], of which the others are known by its
/// line in the list of modes, by its keys and by its passes.
#[derive(Clone, Copy)]
pub(crate) struct About {
    pub title: &'static str,
    pub source: &'static str,
    pub key_bytes: &'static [usize],
    pub nonce_bytes: (usize, usize),
    pub tag_bytes: &'static [usize],
    pub data_components: usize,
    pub lengths: Lengths,
    pub costs: Costs,
    pub tag_first: bool,
    pub nonce_reuse: &'static str,
    pub research: Option<&'static str>,
}

impl About {
    /// What most have: keys of all sizes, texts of any length, a call of AES for a block; and
    /// neither nonce nor tag nor associated data.
    pub(crate) const MODE: About = About {
        title: "",
        source: "",
        key_bytes: KEY_BYTES,
        nonce_bytes: (0, 0),
        tag_bytes: &[],
        data_components: 0,
        lengths: Lengths::AnyLength,
        costs: Costs {
            aes_per_block: 1,
            ..Costs::NONE
        },
        tag_first: false,
        nonce_reuse: "no nonce",
        research: None,
    };
}

/// All that is known of a mode of this name and kind.
pub(crate) const fn info<R: Registered>(name: &'static str, kind: Kind) -> Info {
    let about = R::ABOUT;
    let longest = about.key_bytes[about.key_bytes.len() - 1];
    Info {
        name,
        title: about.title,
        source: about.source,
        kind,
        key_bytes: about.key_bytes,
        two_keys: longest > KEY_BYTES[KEY_BYTES.len() - 1],
        nonce_bytes: about.nonce_bytes,
        tag_bytes: about.tag_bytes,
        data_components: about.data_components,
        lengths: about.lengths,
        costs: about.costs,
        parallel_encrypt: is_parallel::<R::Forward>(),
        parallel_decrypt: is_parallel::<R::Backward>(),
        inverse: R::Backward::USES.inverse,
        tag_first: about.tag_first,
        nonce_reuse: about.nonce_reuse,
        research: about.research,
    }
}

/// Whether blocks of one message go side by side, in all passes: there are two at most.
const fn is_parallel<M: Pass>() -> bool {
    let then = !M::MORE || !matches!(<M::Then as Pass>::FEED, Feed::Serial);
    !matches!(M::FEED, Feed::Serial) && then
}

/// A mode in the registry.
pub(crate) trait Registered {
    const ABOUT: About;
    /// Encryption, sealing, or the computation of a tag.
    type Forward: Pass;
    /// Decryption, opening; for a MAC the same as `Forward`.
    type Backward: Pass;
    /// Whether the two keys of a mode with two must not be equal.
    const KEYS_DIFFER: bool = false;

    /// Puts the mode's constants of a key into `key.sub`, where `key.sub[0]` is
    /// CIPH_K(0^128); `encrypt_block` makes CIPH_K of others. `USES` says how many there are.
    fn constants(_backend: Backend, key: &mut Expanded) {
        key.sub[0] = [0; 16];
    }

    /// The limits of a message whose nonce has `nonce` bytes, for those longer than
    /// [`UNLIMITED`].
    fn limits(_nonce: usize) -> Limits {
        Limits::NONE
    }
}

/// No mode limits texts and associated data below this many bytes.
pub(crate) const UNLIMITED: usize = 1 << 16;

/// Where the state of a block comes from, for modes whose blocks can be done
/// side by side.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Feed {
    /// From the result of the block before: not side by side.
    Serial,
    /// There is none.
    None,
    /// It is the input block before.
    Input,
    /// From the block's place in the message, by `advance`.
    Counter,
    /// As [`Along::blocks`] says: in a group, rows of neighbouring blocks of one
    /// message take the place of rows of blocks of many messages, where messages are
    /// long.
    Blocks,
}

/// A step of a mode whose state is one block, `s`, of which the next call of the cipher
/// begins.
#[derive(Clone, Copy)]
pub(crate) enum Link {
    /// Another.
    None,
    /// `s = CIPH_K(s ^ x)`, and the result is `s`.
    Before,
    /// `s = CIPH_K(s) ^ x`, and the result is `s`.
    After,
    /// `s = CIPH_K(s)`, and the result is `s ^ x`.
    Beside,
}

/// What a block of state holds, for [`Feed::Blocks`].
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Holds {
    /// What depends on the block's place in the message alone.
    Position,
    /// The same, which is a counter of 32 bits in reverse byte order, for
    /// [`Cipher::encrypt_counter`]. It is public where the nonce has `nonce` bytes.
    Counter { nonce: usize },
    /// The sum of something of all blocks so far.
    Sum,
    /// A hash by [`Cipher::hash`], in this field.
    Hash { polyval: bool },
    /// What the block before has left: see [`Cipher::before`] and [`Cipher::running`].
    Previous,
}

/// What the rows of a message leave for its finish. Of modes that take two blocks at a
/// time, twice as much.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tail {
    /// Nothing: whole blocks.
    None,
    /// Fewer than 16 bytes; no finish if none.
    Part,
    /// Fewer than 16 bytes; always a finish, and a whole block of result.
    Padded,
    /// As `Part`; always a finish.
    Short,
    /// 1 to 16 bytes, or none of an empty message; always a finish.
    Last,
    /// As `Last`, and a whole block of result.
    Filled,
    /// 16 to 31 bytes, or fewer of a shorter message; always a finish.
    Double,
}

impl Tail {
    /// How many rows a text of `len` bytes has, of `width` bytes each, one every
    /// `stride` bytes.
    #[inline(always)]
    pub(crate) const fn rows(self, len: usize, stride: usize, width: usize) -> usize {
        let len = match self {
            Tail::Last | Tail::Filled => len.saturating_sub(1),
            Tail::Double => len.saturating_sub(16),
            _ => len,
        };
        match stride >= width {
            true => (len + (stride - width)) / stride,
            false => (len + stride).saturating_sub(width) / stride,
        }
    }
}

/// From the same `x` in all lanes to what it is after it was doubled as often as
/// `places`, below 64, says.
#[inline(always)]
pub(crate) fn doubles<C: Cipher>(c: &C, x: C::W, places: C::W) -> C::W {
    // In both halves of a block.
    let both = c.splat(&[0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7]);
    x.times_power(places.shuffle(both))
}

/// Rows that a mode makes of a message's facts, one block of each message. In the
/// last one the engine puts the tag, for the pass after the one that makes it.
pub(crate) const HEADER: usize = 4;
/// Where in the header the tag is.
pub(crate) const TAG: usize = HEADER - 1;

/// Keys that each message has of its own.
#[derive(Clone, Copy)]
pub(crate) enum OwnKeys {
    /// One.
    One,
    /// Two.
    Two,
    /// One, whose round keys are made of the key's and of the derived key's by [`Pass::mix`];
    /// 128-bit keys alone.
    Mixed,
}

/// What [`Pass::derive`] makes.
pub(crate) struct Own<W> {
    /// Constants of the message's key.
    pub constants: [W; DERIVED],
    /// Two blocks of a key for AES.
    pub first: [W; 2],
    /// The same of the second key, if there is one.
    pub second: [W; 2],
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

/// What a row has of a message.
#[derive(Clone, Copy)]
pub(crate) struct RowShape {
    /// Whether it is two blocks, for [`Pass::pair`] instead of [`Pass::step`].
    pub pair: bool,
    /// Bytes of text from one row to the next. With fewer than a row has, a step must return
    /// those beyond as they are.
    pub stride: usize,
    /// The same of associated data.
    pub data_stride: usize,
    /// Whether the text lies in its destination, as whole blocks with zeros before it.
    pub moved: bool,
}

impl RowShape {
    /// A block.
    pub(crate) const BLOCK: RowShape = RowShape {
        pair: false,
        stride: 16,
        data_stride: 16,
        moved: false,
    };
    /// Two.
    pub(crate) const PAIR: RowShape = RowShape {
        pair: true,
        stride: 32,
        ..RowShape::BLOCK
    };
}

/// How blocks of one message go side by side, for [`Feed::Blocks`].
#[derive(Clone, Copy)]
pub(crate) struct Along {
    /// What each block of state is.
    pub blocks: &'static [Holds],
    /// About how many rows' time [`Pass::tables`] takes.
    pub tables: usize,
    /// From how many bytes on a message is done from beginning to end under the one key of a call,
    /// by itself (`solo.rs`) or with a few others (`few.rs`).
    pub solo_from: usize,
    /// Below how many bytes a few messages of one length have their blocks in lanes.
    pub lanes_below: usize,
    /// Whether `finish` does with the last bytes what `step` does with a block, but for
    /// [`Cipher::within`]: they are then done in one row with the blocks before them.
    pub ends_alike: bool,
}

impl Along {
    /// For a mode without tables and thresholds.
    pub(crate) const NO: Along = Along {
        blocks: &[],
        tables: 0,
        solo_from: usize::MAX,
        lanes_below: 0,
        ends_alike: false,
    };
}

/// A pass over a message: what happens to it, written for one message and run on
/// [`Wide`] values of many.
///
/// ```text
/// h = header(facts)
/// state = begin(h)
/// for each component of associated data:
///     open_data(state)                            where it is a vector
///     for each row x of it:                       absorb(state, x)
///     if anything is left:                        absorb_last(state, last)
/// state = text(h, state)
/// for each row x of the message:                  output step(state, x)
/// if anything is left:                            output finish(h, state, last)
/// tag(h, state)
/// then the same again with Then, which finds the tag in h
/// ```
///
/// Defaults are for what a mode does not have. Most modes have one pass.
pub(crate) trait Pass {
    /// `[W; N]`, N blocks of state.
    type State<W: Wide>: State<W>;
    /// The pass that follows, where `MORE` says that one does.
    type Then: Pass;
    const MORE: bool = false;
    /// What is left of a message for `finish`.
    const TAIL: Tail;
    const FEED: Feed;
    /// Whether all keys have 128 bits. It is known anyway, but not to the compiler, which
    /// would make code for all sizes.
    const AES_128: bool = false;
    /// What a row has of a message.
    const ROW: RowShape = RowShape::BLOCK;
    /// Whether the nonce is a block of 16 bytes, which `begin` finds in `h[0]`.
    const NONCE: bool = false;
    /// How many rows of header the mode makes.
    const HEADER: usize = 0;
    /// Whether `step` has a result.
    const OUTPUT: bool = true;
    /// Whether it reads what the pass before has written.
    const AGAIN: bool = false;
    /// Whether there is a tag. Of two passes that make one, the second's is the message's.
    const TAG: bool = false;
    /// Keys that messages have of their own, made by `derive`.
    const OWN: Option<OwnKeys> = None;
    /// What is left of a component of associated data for `absorb_last`; `None`
    /// where the pass takes no associated data.
    const DATA: Option<Tail> = None;
    /// What all passes together take of a key, and of those that are derived of it.
    const USES: Uses = FORWARD;

    /// The header rows.
    #[inline(always)]
    fn header<F: Facts>(m: &F) -> [F::W; HEADER] {
        [m.splat(&[0; 16]); HEADER]
    }

    /// Where in associated data of a length `absorb` begins, if not at 0; what lies
    /// before is in the header.
    const DATA_BEGINS: Option<fn(usize) -> usize> = None;

    /// Whether associated data is a vector of components, of which the nonce, if there
    /// is one, is the last.
    const VECTOR: bool = false;

    /// What a message has of its own, with keys of `bytes` bytes.
    #[inline(always)]
    fn derive<C: Cipher>(_c: &C, _h: &[C::W; HEADER], _bytes: usize) -> Own<C::W> {
        unreachable!("the mode derives no keys")
    }

    /// The round keys of the cipher and of the second cipher, of those of the key,
    /// which `c` has, and `own`, those of the derived key. A constant may come of them.
    #[inline(always)]
    fn mix<C: Cipher>(
        _c: &C,
        _own: &RoundKeys<C::W>,
        _constants: &mut [C::W; DERIVED],
    ) -> [RoundKeys<C::W>; 2] {
        unreachable!("the mode has the round keys of a key")
    }

    fn begin<C: Cipher>(c: &C, h: &mut [C::W; HEADER]) -> Self::State<C::W>;

    #[inline(always)]
    fn open_data<C: Cipher>(_c: &C, _state: &mut Self::State<C::W>) {}

    /// Row number `row` of a component.
    #[inline(always)]
    fn absorb<C: Cipher>(_c: &C, _state: &mut Self::State<C::W>, _x: C::W, _row: usize) {}

    #[inline(always)]
    fn absorb_last<C: Cipher>(_c: &C, _state: &mut Self::State<C::W>, _last: Piece<C::W>) {}

    #[inline(always)]
    fn text<C: Cipher>(
        _c: &C,
        _h: &mut [C::W; HEADER],
        state: Self::State<C::W>,
    ) -> Self::State<C::W> {
        state
    }

    /// Row number `row` of the message.
    #[inline(always)]
    fn step<C: Cipher>(_c: &C, _: &mut Self::State<C::W>, _x: C::W, _row: usize) -> C::W {
        unreachable!("the mode takes pairs of blocks")
    }

    /// The same of two blocks.
    #[inline(always)]
    fn pair<C: Cipher>(_c: &C, _: &mut Self::State<C::W>, _x: [C::W; 2], _row: usize) -> [C::W; 2] {
        unreachable!("the mode takes single blocks")
    }

    /// Puts the result into `last`.
    #[inline(always)]
    fn finish<C: Cipher>(
        c: &C,
        _h: &[C::W; HEADER],
        state: &mut Self::State<C::W>,
        last: &mut Last<C::W>,
    ) {
        last.first.block = Self::step(c, state, last.first.block, 0);
    }

    #[inline(always)]
    fn tag<C: Cipher>(c: &C, _h: &[C::W; HEADER], _state: Self::State<C::W>) -> C::W {
        c.zero()
    }

    /// For [`Feed::Blocks`]: how blocks of one message go side by side.
    const ALONG: Along = Along::NO;

    /// For [`Feed::Serial`]: what a step does where it is one call of the cipher.
    const LINK: Link = Link::None;

    /// For [`Feed::Blocks`]: what of a key `spread` and the steps of neighbouring blocks
    /// need, for messages of at most `blocks` blocks.
    #[inline(always)]
    fn tables<S: Isa>(_s: S, _key: &Expanded, _blocks: usize, _tables: &mut Tables) {}

    /// For [`Feed::Blocks`]: from the same state in all lanes to that of neighbouring
    /// blocks, the blocks that hold places; `places` are 0, 1, 2 ..., in both halves.
    #[inline(always)]
    fn spread<C: Cipher>(_state: &mut Self::State<C::W>, _c: &C, _places: C::W, _table: C::W) {}

    /// For [`Feed::Counter`], whose steps take [`Cipher::encrypt_counter`]: the state `steps` blocks further on. Without
    /// `CARRY` the low eight bytes of the counter do not overflow.
    #[inline(always)]
    fn advance<W: Wide, const CARRY: bool>(_: &mut Self::State<W>, _: W) {}
}

/// How many rows a text of `len` bytes has.
#[inline(always)]
pub(crate) const fn rows<M: Pass>(len: usize) -> usize {
    M::TAIL.rows(len, M::ROW.stride, if M::ROW.pair { 32 } else { 16 })
}

/// Whether rows leave more than 16 bytes.
pub(crate) const fn two_pieces<M: Pass>() -> bool {
    M::ROW.pair || matches!(M::TAIL, Tail::Double)
}

/// Whether the result of a message's end is a whole block.
pub(crate) const fn whole_end<M: Pass>() -> bool {
    matches!(M::TAIL, Tail::Padded | Tail::Filled)
}

/// One key for the loops of `M`.
#[inline(always)]
pub(crate) fn uniform<'k, S: Isa, M: Pass>(
    s: S,
    keys: &'k S::Keys,
    key: &'k Expanded,
) -> Uniform<'k, S> {
    Uniform::new(s, keys, key, M::USES, M::AES_128)
}

/// A key for each lane, for the loops of `M`.
#[inline(always)]
pub(crate) fn per_lane<S: Isa, M: Pass, const L: usize>(
    s: S,
    keys: &LaneKeys<L>,
) -> PerLane<'_, S, L> {
    PerLane::new(s, keys, M::AES_128)
}

/// The most blocks of state that a mode keeps per message.
pub(crate) const MAX_STATE: usize = 3;

/// A mode's state: `[W; N]`.
pub(crate) trait State<W>: Copy {
    /// Block `i` is `f(i)`; `f(0)` is called even where there is none.
    fn from_fn(f: impl FnMut(usize) -> W) -> Self;
    fn blocks(&self) -> &[W];
}

impl<W: Copy, const N: usize> State<W> for [W; N] {
    #[inline(always)]
    fn from_fn(mut f: impl FnMut(usize) -> W) -> Self {
        // Not `array::from_fn`, which does not always inline.
        let mut blocks = [f(0); N];
        let mut i = 1;
        while i < N {
            blocks[i] = f(i);
            i += 1;
        }
        blocks
    }

    #[inline(always)]
    fn blocks(&self) -> &[W] {
        self
    }
}
