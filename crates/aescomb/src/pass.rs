//! The contract of modes: how one message goes ([`Pass`]), once, for all widths, instruction
//! sets and key forms. What a pass says of itself is in `shape.rs`, what a mode does in
//! `about.rs`.
//!
//! # How the items go together
//!
//! A pass says in its [`Shape`] what it has, beginning with `Shape::CIPHER`, `Shape::MAC` or
//! `Shape::AEAD`, and writes the functions for it. What a mode does not need keeps its default.
//! The names in small letters below are members of `Shape` and functions of `Pass`.
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
//! - **Nonces.** One of a whole block needs no header function: with `nonce`, `begin` finds it
//!   in `h[0]`. Others are in the header, up to 16 bytes of them by `Facts::nonce`. Longer ones
//!   are for `block`, which makes one block of `Fact::nonce` and `Fact::key` by a function of
//!   the mode that is out of line (`hashed` in `gcm.rs`, `last_of_nonce` in `eax.rs`, which
//!   calls AES by `encrypt_block`: all backends make the same of a key). Lanes without a
//!   message have nonces of no bytes, and a mode may take them for what it likes (`initial` in
//!   `gcm.rs`): messages have 1 byte or more. Fewest 0 bytes are for a `vector` alone, which
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
//!   | `Double` | the last whole block and what follows it; all of a shorter message | SIV |
//!   | `Stolen` | the same, 17 to 31 bytes; no finish if all blocks are whole | XTS |
//!
//!   Pieces come with zeros after them and with their numbers of bytes. Results beyond
//!   those are not written, but what a mode adds to its tag it must cut itself.
//! - **Rows that are no block** (`row`). With `pair` a row is two blocks of the message, and
//!   `Pass::pair` takes the place of `step`; then twice as much may be left, in two pieces (OTR,
//!   COBRA). `stride` is the bytes from row to row, of the text (`row`) or of associated data
//!   (`data`), if not as many as a row has: CPFB goes by 12 and JAMBU by 8. Rows then overlap, and a step gives back the bytes
//!   that are not its own as they were.
//! - **Halves.** Where a call of the cipher waits for another one (COPA, OTR), a mode has `early` and
//!   `late` in place of `step` or `pair`: a row of neighbouring blocks then begins before the one before it
//!   ends. What `late` adds to a sum goes through `within`.
//! - **Texts that change their length.** A mode says so in `ABOUT.lengths`, and the scheduler
//!   does before and after the passes what its sealed form wants (`framed` in `comb.rs`,
//!   `Rules::after` in `admission.rs`): padding taken off, COPA's flag written after the tag or
//!   read, Julius's message moved behind its zeros and back, whose length the header then finds in
//!   `opened_len`. A call for one message moves it where a pass says `moved`.
//! - **Associated data.** `DATA` is `None` where a pass takes none. Of a message without any,
//!   neither `absorb` nor `absorb_last` is called, whatever `DATA` says: what a mode makes of
//!   an empty string, it tells from another by the header (`has_data` in `eax.rs`).
//!   `begins` leaves out bytes that are in the header already (CCM puts the length
//!   before them). With `along`, neighbouring blocks of long data are absorbed side by side; what
//!   "Neighbouring blocks" below says of `step` then holds for `absorb`. Data that is hashed before
//!   the text, by the same `hash`, does without. With `vector` it is a vector of components, and the
//!   nonce, if there is one, is its last; every component then gets its `absorb_last`, an empty one
//!   too.
//! - **Passes.** An operation is a pass or [`Two`], such as those of SIV and GCM-SIV, whose tag
//!   comes before the ciphertext. The first pass's tag is in the last header row of the second;
//!   an opening has the given one there from the start. With `again` the second reads what the
//!   first has written. `header`, `derive`, `nonce` and `uses` of the first pass are for both.
//! - **Keys.** `uses` names the schedules and how many of the key's constants lanes are
//!   given. Declaring too few shows up only in tests that use one key per message. A mode with a key for every
//!   message (`own`) makes constants and one or two AES keys in `derive`; the engine
//!   expands those of a group at once. With `Mixed` the round keys are made of the key's
//!   and of the derived key's (Silver). A mode that uses a key made of the user's key
//!   expands that in `constants` (POET, McOE-G).
//! - **`Feed`** says whether the blocks of one message can be done side by side:
//!
//!   | | state of a block comes from | how messages go |
//!   |---|---|---|
//!   | `Serial` | the result of the block before | in groups |
//!   | `InOrder` | what it `Holds` | one by one (`solo.rs`), in the caller's order |
//!   | `Blocks` | what its `Along` says | by themselves (`solo.rs`, `few.rs`) or, where the key's tables do not pay, in groups; with keys that are derived for messages, in groups, of which long messages end as neighbouring blocks |
//!
//!   `InOrder` is for modes without associated data and tags, whose blocks depend on their places or
//!   on the input. `Serial` is right for any mode.
//!
//! # Neighbouring blocks
//!
//! `step` is the same function. It must move its state by these operations of the
//! `Cipher`, which for messages side by side are the plain ones:
//!
//! | | messages side by side | neighbouring blocks, n to a row |
//! |---|---|---|
//! | `stride` | 1 | n |
//! | `doubled` | doubled once | doubled n times, or nothing where rows get it from elsewhere |
//! | `multiples` | of the mask | of the mask, or made before |
//! | `hash` | (hash ^ x) H | the sum of products with powers of H, reduced once for up to 64 blocks |
//! | `within` | all of a result | what of it belongs to the message |
//! | `with_offset` | one step in the Gray code | n steps |
//! | `stride_of` | a constant | what it grows by in n blocks |
//! | `scaled`; `scales` | multiplied once by a constant; as it is | n times; in lane l, l times |
//! | `added` | one more summand of a sum over all blocks | the same, in one register where a row is of several small ones |
//! | `and_add` | the cipher, and something added to its result | the same, added with the last round key where `text_again` loads |
//! | `before`, `text_before` | what the row before left | what the lane before leaves; of texts, loaded once more where `text_again` is |
//! | `running`, `horner` | one more summand | a sum for each lane, of all lanes up to it |
//! | `text_again` | the text | the same, loaded once more in rows of several registers |
//!
//! `Along::blocks` says what each block of state holds, and so how it comes into lanes and
//! back:
//!
//! - `Position`: depends on the block's place alone. All lanes get the message's, and
//!   `spread` moves lane l by l blocks.
//! - `Double`: the same, `doubled` from block to block, and `spread` moves nothing else: rows may get it
//!   from elsewhere.
//! - `Mask`: the same, and `begin` and `text` make it of the key alone, whatever the message: for many
//!   messages, masks are made once, and their `multiples` where steps take these alone.
//! - `Power`: as `Position`, moved by products, which take long: what full rows leave is one row.
//! - `Once`: lane 0 gets it, the others zeros; after the first block nothing is left of it.
//! - `Sum`: lane 0 gets it, the others zeros; all lanes are summed up in the end.
//! - `Hash`: in lane 0, the result of `hash`; with `alone`, of the text alone.
//! - `Counter`: as `Position`, a counter for `encrypt_counter`; `last_byte` says where it is public.
//! - `Previous`: what `before`, `running` and `horner` take; in the end, that of the last lane.
//! - `Input`: the same, and it is the block of input before, for which no call of the cipher waits.
//!
//! A row that is not full is loaded with a mask; only its blocks count. With `ends_alike` a
//! message that is done by itself has its last bytes there too, in place of a finish.

use crate::block::Block;
use crate::cipher::{Cipher, PerLane, Uniform};
use crate::expanded::Expanded;
use crate::facts::Facts;
use crate::isa::{Isa, Wide};
use crate::lane_keys::LaneKeys;
use crate::schedule::{DERIVED, Uses};
use crate::shape::{Along, Feed, Link, Shape, Tail};
use core::marker::PhantomData;

/// What the first half of a row leaves for the second: [`Pass::early`].
pub(crate) const HALF: usize = 4;

/// Rows that a mode makes of a message's facts, one block of each message. In the
/// last one the engine puts the tag, for the pass after the one that makes it.
pub(crate) const HEADER: usize = 4;
pub(crate) type Header<W> = [W; HEADER];
/// Where in the header the tag is.
pub(crate) const TAG: usize = HEADER - 1;

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
    /// For [`Tail::Double`] and [`Tail::Stolen`]: the bytes after the first 16.
    pub second: Piece<W>,
    /// Whether any message has some.
    pub more: bool,
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
/// ```
///
/// Defaults are for what a mode does not have.
pub(crate) trait Pass {
    /// `[W; N]`, N blocks of state.
    type State<W: Wide>: State<W>;
    /// What it says of itself.
    const SHAPE: Shape;

    /// The header rows.
    #[inline(always)]
    fn header<F: Facts>(m: &F) -> Header<F::W> {
        [m.splat(&[0; 16]); HEADER]
    }

    /// What a message has of its own, with keys of `bytes` bytes.
    #[inline(always)]
    fn derive<C: Cipher>(_c: &C, _h: &Header<C::W>, _bytes: usize) -> Own<C::W> {
        unreachable!("the mode derives no keys")
    }

    /// Round key `r` of the cipher, of that of the key, which `c` has, and of `own`, those of the
    /// derived key. Those of the second cipher are the same in another order ([`OwnKeys::Mixed`]).
    ///
    /// [`OwnKeys::Mixed`]: crate::shape::OwnKeys::Mixed
    #[cfg(feature = "research")]
    #[inline(always)]
    fn mix<C: Cipher>(_c: &C, _own: &crate::isa::RoundKeys<C::W>, _r: usize) -> C::W {
        unreachable!("the mode has the round keys of a key")
    }

    /// The constants that come of the derived key's round keys.
    #[cfg(feature = "research")]
    #[inline(always)]
    fn mixed_constants<C: Cipher>(
        _c: &C,
        _own: &crate::isa::RoundKeys<C::W>,
        _constants: &mut [C::W; DERIVED],
    ) {
    }

    /// If not told otherwise, all of the state is the nonce, if that is a block, or zeros.
    #[inline(always)]
    fn begin<C: Cipher>(c: &C, h: &mut Header<C::W>) -> Self::State<C::W> {
        let first = match const { Self::SHAPE.nonce } {
            true => h[0],
            false => c.zero(),
        };
        Self::State::from_fn(
            #[inline(always)]
            |_| first,
        )
    }

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
        _h: &mut Header<C::W>,
        state: Self::State<C::W>,
    ) -> Self::State<C::W> {
        state
    }

    /// Row number `row` of the message. A pass has this or `pair`, or else both `early` and `late`, of which
    /// these are made otherwise.
    #[inline(always)]
    fn step<C: Cipher>(c: &C, state: &mut Self::State<C::W>, x: C::W, row: usize) -> C::W {
        let half = Self::early(c, state, [x, c.zero()], row);
        Self::late(c, state, half)[0]
    }

    /// The same of two blocks.
    #[cfg(feature = "research")]
    #[inline(always)]
    fn pair<C: Cipher>(
        c: &C,
        state: &mut Self::State<C::W>,
        x: [C::W; 2],
        row: usize,
    ) -> [C::W; 2] {
        let half = Self::early(c, state, x, row);
        Self::late(c, state, half)
    }

    /// The first half of a row, a block or two, where a call of the cipher waits for another: such a mode
    /// has halves in place of `step` or `pair`. What it returns is for `late`; of the state it must not
    /// take what that changes, as neighbouring blocks have the next row's first half done before.
    #[inline(always)]
    fn early<C: Cipher>(
        c: &C,
        state: &mut Self::State<C::W>,
        x: [C::W; 2],
        row: usize,
    ) -> [C::W; HALF] {
        let zero = c.zero();
        #[cfg(feature = "research")]
        if const { Self::SHAPE.row.pair } {
            let [y0, y1] = Self::pair(c, state, x, row);
            return [y0, y1, zero, zero];
        }
        [Self::step(c, state, x[0], row), zero, zero, zero]
    }

    /// The second half: the result.
    #[inline(always)]
    fn late<C: Cipher>(
        _c: &C,
        _state: &mut Self::State<C::W>,
        [y0, y1, ..]: [C::W; HALF],
    ) -> [C::W; 2] {
        [y0, y1]
    }

    /// Puts the result into `last`.
    #[inline(always)]
    fn finish<C: Cipher>(
        c: &C,
        _h: &Header<C::W>,
        state: &mut Self::State<C::W>,
        last: &mut Last<C::W>,
    ) {
        last.first.block = Self::step(c, state, last.first.block, 0);
    }

    /// If not told otherwise, the first block of the state.
    #[inline(always)]
    fn tag<C: Cipher>(_c: &C, _h: &Header<C::W>, state: Self::State<C::W>) -> C::W {
        state.blocks()[0]
    }

    /// For [`Feed::Blocks`]: what of a key `spread` and the steps of neighbouring blocks
    /// need, for messages of at most `blocks` blocks: rows of all lanes, and of four registers, are only
    /// of as many.
    #[inline(always)]
    fn tables<S: Isa>(_s: S, _key: &Expanded, _blocks: usize, _tables: &mut [Block]) {}

    /// For [`Feed::Blocks`]: from the same state in all lanes to that of neighbouring
    /// blocks, the blocks that hold places; `places` are 0, 1, 2 ..., in both halves.
    #[inline(always)]
    fn spread<C: Cipher>(_state: &mut Self::State<C::W>, _c: &C, _places: C::W, _table: C::W) {}

    /// For [`Holds::Counter`](crate::shape::Holds): the last byte of a message's first counter, where it is public.
    #[inline(always)]
    fn last_byte(_nonce: &[u8]) -> Option<u8> {
        None
    }
}

/// What an operation of a mode is: a [`Pass`], [`Two`], or one of them [`Apart`].
pub(crate) trait Program {
    type First: Pass;
    /// The same one where there is one.
    type Second: Pass;
    /// The passes that do the same for many messages, where it is [`Apart`].
    type Before: Pass;
    type After: Pass;
    const TWO: bool = false;
    const APART: bool = false;
    /// Whether its first pass reads what another before it has written.
    const AGAIN: bool = false;
    /// Whether messages have their tags before it begins, also where none is compared.
    const HAS_TAGS: bool = Self::First::SHAPE.is_in_order();
}

/// Whether the second of two passes makes the tag, or compares it: then that of the first is for the second alone.
pub(crate) const fn second_has_tag<G: Program>() -> bool {
    G::TWO && G::Second::SHAPE.tag
}

impl<M: Pass> Program for M {
    type First = M;
    type Second = M;
    type Before = M;
    type After = M;
}

/// A pass and then another, which finds the tag of the first in `h[TAG]`, and which must have
/// rows for as many bytes. Where the first has no tag, it is the one that was given.
/// `header`, `derive`, `nonce` and `uses` of the first are for both.
pub(crate) struct Two<M, N>(PhantomData<(M, N)>);

impl<M: Pass, N: Pass> Program for Two<M, N> {
    type First = M;
    type Second = N;
    type Before = M;
    type After = N;
    const TWO: bool = true;
}

/// `G` for one message or a few. Of many, `M` goes over all and then `N`, each in the way that is
/// its own: a serial pass by groups, the other message by message. All that `N` has of `M` is the
/// text, if it says `again`, and the tag.
pub(crate) struct Apart<G, M, N>(PhantomData<(G, M, N)>);

impl<G: Program, M: Pass, N: Pass> Program for Apart<G, M, N> {
    type First = G::First;
    type Second = G::Second;
    type Before = M;
    type After = N;
    const TWO: bool = G::TWO;
    const APART: bool = true;
}

/// The second of two passes that are [`Apart`], as a program.
pub(crate) struct After<M>(PhantomData<M>);

impl<M: Pass> Program for After<M> {
    type First = M;
    type Second = M;
    type Before = M;
    type After = M;
    const AGAIN: bool = M::SHAPE.again;
    const HAS_TAGS: bool = true;
}

/// The associated data of `M`, as a text of blocks that are absorbed side by side.
pub(crate) struct Data<M>(PhantomData<M>);

impl<M: Pass> Pass for Data<M> {
    type State<W: Wide> = M::State<W>;
    const SHAPE: Shape = Shape {
        feed: Feed::Blocks(Along {
            blocks: M::SHAPE.strings().along,
            ..Along::NO
        }),
        aes_128: M::SHAPE.aes_128,
        uses: Uses {
            inverse: false,
            ..M::SHAPE.uses
        },
        ..Shape::MAC
    };

    #[inline(always)]
    fn step<C: Cipher>(c: &C, state: &mut Self::State<C::W>, x: C::W, row: usize) -> C::W {
        M::absorb(c, state, x, row);
        x
    }

    #[inline(always)]
    fn spread<C: Cipher>(state: &mut Self::State<C::W>, c: &C, places: C::W, table: C::W) {
        M::spread(state, c, places, table);
    }
}

/// Whether blocks of a message wait for each other, in a pass at least.
pub(crate) const fn has_chain<G: Program>() -> bool {
    G::First::SHAPE.is_serial() || G::Second::SHAPE.is_serial()
}

/// Whether it is made for keys of 128 bits alone.
pub(crate) const fn is_aes_128<G: Program>() -> bool {
    G::First::SHAPE.aes_128 && G::Second::SHAPE.aes_128
}

/// How many rows a text of `len` bytes has.
#[inline(always)]
pub(crate) const fn rows<M: Pass>(len: usize) -> usize {
    let row = M::SHAPE.row;
    M::SHAPE.tail.rows(len, row.stride, row.bytes())
}

/// Whether rows leave more than 16 bytes.
pub(crate) const fn two_pieces<M: Pass>() -> bool {
    M::SHAPE.row.pair || matches!(M::SHAPE.tail, Tail::Double | Tail::Stolen)
}

/// Whether a row is a block of each text.
pub(crate) const fn is_by_blocks<M: Pass>() -> bool {
    !M::SHAPE.row.pair && M::SHAPE.row.stride == 16
}

/// How a step of `M` is linked to the next one.
pub(crate) const fn link_of<M: Pass>() -> Option<Link> {
    match M::SHAPE.feed {
        Feed::Serial(Link::None) => None,
        Feed::Serial(link) => {
            assert!(is_by_blocks::<M>());
            Some(link)
        }
        _ => None,
    }
}

/// The state `yes` where `mask` has ones, elsewhere `no`.
#[inline(always)]
pub(crate) fn select<M: Pass, W: Wide>(
    mask: W,
    yes: &M::State<W>,
    no: &M::State<W>,
) -> M::State<W> {
    M::State::from_fn(
        #[inline(always)]
        |i| match (yes.blocks().get(i), no.blocks().get(i)) {
            (Some(yes), Some(no)) => W::select(mask, *yes, *no),
            _ => mask,
        },
    )
}

/// Whether rows are written whose steps are linked.
pub(crate) const fn is_linked<M: Pass>() -> bool {
    M::SHAPE.output && link_of::<M>().is_some()
}

/// Whether the result of a message's end is a whole block.
pub(crate) const fn whole_end<M: Pass>() -> bool {
    matches!(M::SHAPE.tail, Tail::Padded | Tail::Filled)
}

/// One key for the loops of `M`.
#[inline(always)]
pub(crate) fn uniform<'k, S: Isa, M: Pass>(
    s: S,
    keys: &'k S::Keys,
    key: &'k Expanded,
) -> Uniform<'k, S> {
    Uniform::new(s, keys, key, M::SHAPE.uses, M::SHAPE.aes_128)
}

/// A key for each lane, for the loops of `M`.
#[inline(always)]
pub(crate) fn per_lane<S: Isa, M: Pass, const L: usize>(
    s: S,
    keys: &LaneKeys<L>,
) -> PerLane<'_, S, L> {
    PerLane::new(s, keys, M::SHAPE.aes_128)
}

/// From the same `x` in all lanes to what it is after it was doubled as often as
/// `places`, below 64, says.
#[inline(always)]
pub(crate) fn doubles<C: Cipher>(c: &C, x: C::W, places: C::W) -> C::W {
    // In both halves of a block.
    let both = c.splat(&[0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7]);
    x.times_power(places.shuffle(both))
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
