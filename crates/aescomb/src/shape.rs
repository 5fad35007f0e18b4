//! What a pass says of itself: its [`Shape`].

use crate::schedule::{FORWARD, Uses};

/// What a pass says of itself.
#[derive(Clone, Copy)]
pub(crate) struct Shape {
    /// What is left of a message for `finish`.
    pub tail: Tail,
    /// Where the state of a block comes from. `SERIAL` is right for any mode.
    pub feed: Feed,
    /// Whether all keys have 128 bits. It is known anyway, but not to the compiler, which
    /// would make code for all sizes.
    pub aes_128: bool,
    /// What a row has of a message.
    pub row: RowShape,
    /// Whether the nonce is a block of 16 bytes, which `begin` finds in `h[0]`.
    pub nonce: bool,
    /// How many rows of header the mode makes.
    pub header: usize,
    /// Whether `step` has a result.
    pub output: bool,
    /// Whether the second of two passes reads what the first has written.
    pub again: bool,
    /// Whether messages are moved first, as [`crate::job::Job::move_to_end`] does.
    pub moved: bool,
    /// Whether there is a tag. Of two passes that make one, the second's is the message's.
    pub tag: bool,
    /// Keys that messages have of their own, made by `derive`.
    pub own: Option<OwnKeys>,
    /// How associated data is absorbed; `None` where the pass takes none.
    pub data: Option<DataShape>,
    /// What all passes together take of a key, and of those that are derived of it.
    pub uses: Uses,
}

impl Shape {
    /// A text becomes another. Serial, whole blocks and then a part of one, without a nonce of
    /// a block.
    pub(crate) const CIPHER: Shape = Shape {
        tail: Tail::Part,
        feed: Feed::SERIAL,
        aes_128: false,
        row: RowShape::BLOCK,
        nonce: false,
        header: 0,
        output: true,
        again: false,
        moved: false,
        tag: false,
        own: None,
        data: None,
        uses: FORWARD,
    };
    /// A text becomes a tag.
    pub(crate) const MAC: Shape = Shape {
        output: false,
        tag: true,
        ..Shape::CIPHER
    };
    /// Associated data and a text become another text and a tag.
    pub(crate) const AEAD: Shape = Shape {
        tag: true,
        data: Some(DataShape::ending(Tail::Part)),
        ..Shape::CIPHER
    };

    #[inline(always)]
    pub(crate) const fn is_serial(&self) -> bool {
        matches!(self.feed, Feed::Serial(_))
    }

    #[inline(always)]
    pub(crate) const fn is_along(&self) -> bool {
        matches!(self.feed, Feed::Blocks(_))
    }

    /// Whether messages go one by one, in the caller's order.
    #[inline(always)]
    pub(crate) const fn is_in_order(&self) -> bool {
        matches!(self.feed, Feed::InOrder(_))
    }

    /// How blocks of one message go side by side.
    #[inline(always)]
    pub(crate) const fn along(&self) -> Along {
        match self.feed {
            Feed::Blocks(along) => along,
            Feed::InOrder(blocks) => Along {
                blocks,
                ends_alike: !matches!(self.tail, Tail::Padded),
                ..Along::NO
            },
            Feed::Serial(_) => Along::NO,
        }
    }

    #[cfg(feature = "research")]
    pub(crate) const fn has_two_own(&self) -> bool {
        matches!(self.own, Some(OwnKeys::Two))
    }

    #[cfg(feature = "research")]
    pub(crate) const fn is_mixed(&self) -> bool {
        matches!(self.own, Some(OwnKeys::Mixed { .. }))
    }

    /// How associated data would be absorbed, also where there is none.
    #[inline(always)]
    pub(crate) const fn strings(&self) -> DataShape {
        match self.data {
            Some(data) => data,
            None => DataShape::ending(Tail::None),
        }
    }
}

/// Where the state of a block comes from.
#[derive(Clone, Copy)]
pub(crate) enum Feed {
    /// From the result of the block before: blocks of one message are not done side by side.
    Serial(Link),
    /// From its place or the input before, as these say; there are no tags, and messages go one by one, in the
    /// caller's order.
    InOrder(&'static [Holds]),
    /// As [`Along::blocks`] says: rows of neighbouring blocks of one message take the place of rows of
    /// blocks of many messages.
    Blocks(Along),
}

impl Feed {
    pub(crate) const SERIAL: Feed = Feed::Serial(Link::None);
}

/// A step that changes the first block of the state alone, `s`, of which the next call of the
/// cipher begins.
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
    /// The same, and it is doubled from block to block ([`Cipher::doubled`]).
    Double,
    /// The same, of all messages under a key; whether steps take its [`Cipher::multiples`] and not itself.
    Mask { multiples: bool },
    /// What depends on the place, and `spread` and steps move it by products ([`Cipher::scaled`]).
    Power,
    /// What depends on the place, which is an offset of [`Cipher::offset`]. In rows of one message it is that of the
    /// block before the row, in all lanes.
    Offset,
    /// What depends on the place, too, and is a counter of 32, 64 or 128 `bits` in reverse byte order, for
    /// [`Cipher::encrypt_counter`]. [`Pass::last_byte`] says where it is public.
    Counter { bits: u32 },
    /// The sum of something of all blocks so far ([`Cipher::added`]).
    Sum,
    /// What the first block alone takes, and nothing after it.
    Once,
    /// A hash by [`Cipher::hash`], in this field; whether of the `results` of steps, for which it
    /// waits; whether of blocks of the text `alone`, and not of associated data before it and of one
    /// block after it.
    Hash {
        polyval: bool,
        results: bool,
        alone: bool,
    },
    /// What the block before has left: see [`Cipher::before`] and [`Cipher::running`].
    Previous,
    /// The same, which is the input.
    Input,
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
    /// 17 to 31 bytes, of which the last take what they lack from the block before; no finish if
    /// blocks are whole. Of messages of at least 16 bytes.
    Stolen,
}

impl Tail {
    /// How many rows a text of `len` bytes has, of `width` bytes each, one every
    /// `stride` bytes.
    #[inline(always)]
    pub(crate) const fn rows(self, len: usize, stride: usize, width: usize) -> usize {
        let len = match self {
            Tail::Last | Tail::Filled => len.saturating_sub(1),
            Tail::Double => len.saturating_sub(16),
            Tail::Stolen if !len.is_multiple_of(16) => len.saturating_sub(16),
            _ => len,
        };
        match stride >= width {
            true => (len + (stride - width)) / stride,
            false => (len + stride).saturating_sub(width) / stride,
        }
    }
}

/// What a row has of a message.
#[derive(Clone, Copy)]
pub(crate) struct RowShape {
    /// Whether it is two blocks, for [`Pass::pair`] instead of [`Pass::step`].
    pub pair: bool,
    /// Bytes from one row to the next. With fewer than a row has, a step must return those
    /// beyond as they are.
    pub stride: usize,
}

impl RowShape {
    /// A block.
    pub(crate) const BLOCK: RowShape = RowShape {
        pair: false,
        stride: 16,
    };
    /// Two.
    pub(crate) const PAIR: RowShape = RowShape {
        pair: true,
        stride: 32,
    };

    /// How many bytes it has.
    #[inline(always)]
    pub(crate) const fn bytes(&self) -> usize {
        if self.pair { 32 } else { 16 }
    }
}

/// How a pass absorbs associated data, one component or several.
#[derive(Clone, Copy)]
pub(crate) struct DataShape {
    /// What rows leave of a component for `absorb_last`.
    pub tail: Tail,
    /// Bytes from one row to the next.
    pub stride: usize,
    /// Where in a component of a length `absorb` begins: what lies before is in the header.
    pub begins: fn(usize) -> usize,
    /// Whether there is a vector of components, of which the nonce, if there is one, is the
    /// last.
    pub vector: bool,
    /// What each block of state is meanwhile, where `absorb` and `spread` do with neighbouring blocks of a
    /// component what steps do with those of the text. Empty where they do not.
    pub along: &'static [Holds],
}

impl DataShape {
    /// How a component of `len` bytes is absorbed: from which byte on, in how many rows, and how many bytes they
    /// leave, where that has an end.
    #[inline(always)]
    pub(crate) fn split(&self, len: usize) -> (usize, usize, usize) {
        let begin = (self.begins)(len).min(len);
        let rows = self.tail.rows(len - begin, self.stride, 16);
        let left = match self.tail {
            Tail::None => 0,
            _ => len - begin - rows * self.stride,
        };
        (begin, rows, left)
    }

    /// One component, by blocks from its beginning, which leave `tail`.
    pub(crate) const fn ending(tail: Tail) -> DataShape {
        DataShape {
            tail,
            stride: 16,
            begins: |_| 0,
            vector: false,
            along: &[],
        }
    }
}

/// How blocks of one message go side by side, for [`Feed::Blocks`].
#[derive(Clone, Copy)]
pub(crate) struct Along {
    /// What each block of state is.
    pub blocks: &'static [Holds],
    /// About how many rows' time [`Pass::tables`] takes.
    pub tables: usize,
    /// Below how many bytes messages of one length have their blocks in lanes, under one key.
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
        lanes_below: 0,
        ends_alike: false,
    };
}

/// Keys that each message has of its own.
#[derive(Clone, Copy)]
pub(crate) enum OwnKeys {
    /// One.
    One,
    /// Two.
    #[cfg(feature = "research")]
    Two,
    /// One, whose round keys are made of the key's and of the derived key's by [`Pass::mix`], and a
    /// second one, of which round key r is round key `second[r]` of the first; 128-bit keys alone.
    #[cfg(feature = "research")]
    Mixed { second: [usize; 11] },
}
