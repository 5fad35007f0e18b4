//! AES under the keys of a row: what modes call.
//!
//! A mode's [`Cipher`] is one key for all lanes ([`Uniform`]), one for each ([`PerLane`]), or,
//! out of line, whichever of the two it is ([`OutOfLine`]). Neighbouring blocks of one message
//! are a `Cipher` of their own (`rows.rs`).

use crate::backend::Backend;
use crate::block::{Block, MAX_LANES};
use crate::expanded::Expanded;
use crate::isa::{HELD_KEYS, Isa, Product, Wide, dispatch};
use crate::lane_keys::LaneKeys;
use crate::schedule::{FORWARD, Uses, Way, WhichKey};

/// AES under the keys of a row: one for all lanes, or one per lane.
pub(crate) trait Cipher: Copy {
    type W: Wide;
    /// The same for a loop, which holds some of the keys in registers.
    type Held: Cipher<W = Self::W>;
    /// Whether that is of use.
    const HOLDS: bool = false;
    fn held(&self) -> Self::Held;
    /// The forward cipher, CIPH_K.
    fn encrypt(&self, x: Self::W) -> Self::W;
    /// The same; `between` is called after the first eight rounds with the number of each, and what it
    /// does is done meanwhile: where the compiler puts it, or right there if `IN_ORDER`.
    #[inline(always)]
    fn encrypt_while<const IN_ORDER: bool>(
        &self,
        x: Self::W,
        mut between: impl FnMut(usize),
    ) -> Self::W {
        let mut i = 1;
        while i < 9 {
            between(i);
            i += 1;
        }
        self.encrypt(x)
    }
    /// The inverse cipher.
    fn decrypt(&self, x: Self::W) -> Self::W;
    /// The forward cipher under the second key.
    fn encrypt_second(&self, x: Self::W) -> Self::W;
    /// The cipher with `tweak` added to round keys 1, 5 and 9, of ten rounds.
    fn tweaked(&self, way: Way, x: Self::W, tweak: Self::W) -> Self::W;
    /// Round key `r` of the cipher.
    fn round_key(&self, r: usize) -> Self::W;
    /// The mode's `i`-th constant of the key.
    fn subkey(&self, i: usize) -> Self::W;
    /// The same block in every lane.
    fn splat(&self, block: &Block) -> Self::W;

    /// The integer 1 in every block, little-endian.
    #[inline(always)]
    fn one(&self) -> Self::W {
        self.splat(&1u128.to_le_bytes())
    }

    // What differs where lanes are not messages but neighbouring blocks of one:

    /// CIPH_K of counter blocks, which are `counter` in reverse byte order: those of the
    /// lanes' next blocks.
    #[inline(always)]
    fn encrypt_counter(&self, counter: Self::W) -> Self::W {
        self.encrypt(counter.swap_bytes())
    }

    /// How many blocks of its message a lane's next block is further on, as a
    /// little-endian integer.
    #[inline(always)]
    fn stride(&self) -> Self::W {
        self.one()
    }

    /// What something grows by to the lanes' next blocks that grows by the `i`-th
    /// constant of the key from block to block.
    #[inline(always)]
    fn stride_of(&self, i: usize) -> Self::W {
        self.subkey(i)
    }

    /// `x`, which is doubled from block to block, for the lanes' next blocks; `x` itself where these get it
    /// from elsewhere.
    #[inline(always)]
    fn doubled(&self, x: Self::W) -> Self::W {
        x.double()
    }

    /// Three times and twice a mask in reverse byte order, as blocks; of row `row`.
    #[inline(always)]
    fn multiples(&self, mask: Self::W, _row: usize) -> [Self::W; 2] {
        three_and_two(mask)
    }

    /// `x`, which is multiplied by the first constant of the key from block to block,
    /// for the lanes' next blocks.
    #[inline(always)]
    fn scaled<F: Product>(&self, x: Self::W) -> Self::W {
        x.mul::<F>(self.subkey(0))
    }

    /// From the same such `x` in all lanes to those of neighbouring blocks.
    #[inline(always)]
    fn scales<F: Product>(&self, x: Self::W) -> Self::W {
        x
    }

    /// Of a block of result, what belongs to the message.
    #[inline(always)]
    fn within(&self, y: Self::W) -> Self::W {
        y
    }

    /// One step of a hash that is a polynomial in the first constant of the key: the
    /// product of that and of the sum of what was hashed and `x`.
    #[inline(always)]
    fn hash<F: Product>(&self, hash: Self::W, x: Self::W) -> Self::W {
        (hash ^ x).mul::<F>(self.subkey(0))
    }

    /// The text of the step once more, which is `x`. In rows of several registers it is loaded again, and not kept
    /// beside a row that is encrypted.
    #[inline(always)]
    fn text_again(&self, x: Self::W) -> Self::W {
        x
    }

    /// As `before`, of the text of the step, which is `x`: loaded again, where `text_again` does that.
    #[inline(always)]
    fn text_before(&self, last: Self::W, x: Self::W) -> Self::W {
        self.before(last, x)
    }

    /// The cipher of `way` on `x`, and what `add` gives added to the result.
    #[inline(always)]
    fn and_add(&self, way: Way, x: Self::W, add: impl Fn() -> Self::W) -> Self::W {
        go(self, x, way) ^ add()
    }

    /// `x` added to a sum that is over all blocks ([`Holds::Sum`](crate::shape::Holds)).
    #[inline(always)]
    fn added(&self, sum: Self::W, x: Self::W) -> Self::W {
        sum ^ x
    }

    /// What the block before left, where `x` is what each block leaves, and `last` the
    /// same of the row before.
    #[inline(always)]
    fn before(&self, last: Self::W, _x: Self::W) -> Self::W {
        last
    }

    /// The sum of `x` of this block and of all before it; `last` is that of the row
    /// before.
    #[inline(always)]
    fn running(&self, last: Self::W, x: Self::W) -> Self::W {
        last ^ x
    }

    /// As `running`, with a sum multiplied by the `i`-th constant of the key before the
    /// next block's is added.
    #[inline(always)]
    fn horner<F: Product>(&self, last: Self::W, x: Self::W, i: usize) -> Self::W {
        last.mul::<F>(self.subkey(i)) ^ x
    }

    /// The cipher of `way` on `x`, row number `row`, with an offset added to each block before it and,
    /// if so `AFTER`, once more after it; and the offset that the next row is given. The offset of block i,
    /// counted from 1, is that of block i - 1 with `l(ntz(i))` added.
    #[inline(always)]
    fn with_offset<const AFTER: bool>(
        &self,
        way: Way,
        x: Self::W,
        (offset, row): (Self::W, usize),
        l: impl Fn(u32) -> Self::W + Copy,
    ) -> (Self::W, Self::W) {
        let offset = offset ^ l((row + 1).trailing_zeros());
        let y = go(self, x ^ offset, way);
        (if AFTER { y ^ offset } else { y }, offset)
    }

    #[inline(always)]
    fn zero(&self) -> Self::W {
        self.splat(&[0; 16])
    }
}

/// What [`Cipher::multiples`] gives where nothing was made before.
#[inline(always)]
pub(crate) fn three_and_two<W: Wide>(mask: W) -> [W; 2] {
    let twice = mask.double();
    [(twice ^ mask).swap_bytes(), twice.swap_bytes()]
}

/// Of a [`Cipher`] whose lanes are not those of its `c`, what is the same.
macro_rules! as_before {
    () => {
        $crate::cipher::held_as_it_is!();

        #[inline(always)]
        fn encrypt(&self, x: Self::W) -> Self::W {
            self.c.encrypt(x)
        }

        $crate::cipher::as_before!(but encryption);
    };
    (but encryption) => {
        #[inline(always)]
        fn decrypt(&self, x: Self::W) -> Self::W {
            self.c.decrypt(x)
        }

        #[inline(always)]
        fn encrypt_second(&self, x: Self::W) -> Self::W {
            self.c.encrypt_second(x)
        }

        #[inline(always)]
        fn tweaked(&self, way: Way, x: Self::W, tweak: Self::W) -> Self::W {
            self.c.tweaked(way, x, tweak)
        }

        #[inline(always)]
        fn round_key(&self, r: usize) -> Self::W {
            self.c.round_key(r)
        }

        #[inline(always)]
        fn subkey(&self, i: usize) -> Self::W {
            self.c.subkey(i)
        }

        #[inline(always)]
        fn splat(&self, block: &Block) -> Self::W {
            self.c.splat(block)
        }
    };
}
pub(crate) use as_before;

/// A [`Cipher`] that loops take as it is.
macro_rules! held_as_it_is {
    () => {
        type Held = Self;

        #[inline(always)]
        fn held(&self) -> Self {
            *self
        }
    };
}
pub(crate) use held_as_it_is;

/// One key for all lanes. Loops take it by value: only of their own copy of the
/// keys does the compiler know that no store changes it.
#[derive(Clone, Copy)]
pub(crate) struct Uniform<'k, S: Isa> {
    pub s: S,
    keys: S::Loaded<'k>,
    key: &'k Expanded,
}

impl<'k, S: Isa> Uniform<'k, S> {
    #[inline(always)]
    pub(crate) fn new(
        s: S,
        keys: &'k S::Keys,
        key: &'k Expanded,
        uses: Uses,
        aes_128: bool,
    ) -> Self {
        Uniform {
            s,
            keys: s.load_keys(keys, uses, aes_128),
            key,
        }
    }

    #[inline(always)]
    pub(crate) fn first_round(&self, x: S::W) -> S::W {
        self.s.first_round(&self.keys, x)
    }

    /// With the first round key.
    #[inline(always)]
    pub(crate) fn first_key(&self, x: S::W) -> S::W {
        x ^ self.s.splat(&self.key.enc[0])
    }

    #[inline(always)]
    pub(crate) fn encrypt_rest(&self, x: S::W) -> S::W {
        self.s.encrypt_rest(&self.keys, x)
    }

    /// `encrypt` without the first round key, and with `add` added to the result before the
    /// last round key is, and not after.
    #[inline(always)]
    pub(crate) fn encrypt_linked(&self, x: S::W, add: S::W) -> S::W {
        self.between(
            Way::Encrypt,
            x,
            #[inline(always)]
            |_| self.zero(),
            #[inline(always)]
            |key| add ^ self.s.repeat(key),
        )
    }

    /// See [`Isa::between`].
    #[inline(always)]
    pub(crate) fn between(
        &self,
        way: Way,
        x: S::W,
        first: impl FnOnce(<S::Unit as Isa>::W) -> S::W,
        last: impl Fn(<S::Unit as Isa>::W) -> S::W,
    ) -> S::W {
        self.s.between(&self.keys, way, x, first, last)
    }
}

impl<S: Isa> Cipher for Uniform<'_, S> {
    type W = S::W;

    held_as_it_is!();

    #[inline(always)]
    fn encrypt(&self, x: S::W) -> S::W {
        self.s.encrypt(&self.keys, x)
    }

    #[inline(always)]
    fn encrypt_while<const IN_ORDER: bool>(&self, x: S::W, between: impl FnMut(usize)) -> S::W {
        self.s.encrypt_while::<IN_ORDER>(&self.keys, x, between)
    }

    #[inline(always)]
    fn decrypt(&self, x: S::W) -> S::W {
        self.s.decrypt(&self.keys, x)
    }

    #[inline(always)]
    fn encrypt_second(&self, x: S::W) -> S::W {
        self.s.encrypt_second(&self.keys, x)
    }

    #[inline(always)]
    fn tweaked(&self, way: Way, x: S::W, tweak: S::W) -> S::W {
        self.s.tweaked(&self.keys, way, x, tweak)
    }

    #[inline(always)]
    fn round_key(&self, r: usize) -> S::W {
        self.s.splat(&self.key.enc[r])
    }

    #[inline(always)]
    fn subkey(&self, i: usize) -> S::W {
        self.s.splat(self.key.subkey(i))
    }

    #[inline(always)]
    fn splat(&self, block: &Block) -> S::W {
        self.s.splat(block)
    }
}

/// The keys of a row for what is done once a message. Its calls are out of line, and
/// whether there is one key is asked when they are made: inlined everywhere, for both
/// forms of keys, they would be most of the code.
pub(crate) struct OutOfLine<'k, S: Isa> {
    s: S,
    keys: Either<'k, S>,
}

enum Either<'k, S: Isa> {
    Shared(&'k S::Keys, &'k Expanded),
    Each(&'k LaneKeys<MAX_LANES>),
}

impl<S: Isa> Clone for OutOfLine<'_, S> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<S: Isa> Copy for OutOfLine<'_, S> {}

impl<S: Isa> Clone for Either<'_, S> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<S: Isa> Copy for Either<'_, S> {}

impl<'k, S: Isa> OutOfLine<'k, S> {
    #[inline(always)]
    pub(crate) fn shared(s: S, keys: &'k S::Keys, key: &'k Expanded) -> Self {
        let keys = Either::Shared(keys, key);
        OutOfLine { s, keys }
    }

    #[inline(always)]
    pub(crate) fn each(s: S, keys: &'k LaneKeys<MAX_LANES>) -> Self {
        let keys = Either::Each(keys);
        OutOfLine { s, keys }
    }

    #[inline(never)]
    fn call(&self, x: &mut S::W, way: Way) {
        self.s.enter(
            #[inline(always)]
            || {
                // In each arm the way is a constant, and one schedule is loaded.
                *x = match way {
                    Way::Encrypt => self.go(*x, Way::Encrypt),
                    Way::Decrypt => self.go(*x, Way::Decrypt),
                    Way::EncryptSecond => self.go(*x, Way::EncryptSecond),
                }
            },
        );
    }

    #[inline(always)]
    fn go(&self, x: S::W, way: Way) -> S::W {
        match self.keys {
            Either::Shared(keys, key) => {
                go(&Uniform::new(self.s, keys, key, way.uses(), false), x, way)
            }
            Either::Each(keys) => go(&PerLane::new(self.s, keys, false), x, way),
        }
    }

    #[inline(never)]
    fn call_tweaked(&self, x: &mut S::W, way: Way, tweak: &S::W) {
        self.s.enter(
            #[inline(always)]
            || {
                *x = match way {
                    Way::Encrypt => self.go_tweaked(*x, Way::Encrypt, *tweak),
                    Way::Decrypt => self.go_tweaked(*x, Way::Decrypt, *tweak),
                    Way::EncryptSecond => self.go_tweaked(*x, Way::EncryptSecond, *tweak),
                }
            },
        );
    }

    #[inline(always)]
    fn go_tweaked(&self, x: S::W, way: Way, tweak: S::W) -> S::W {
        match self.keys {
            Either::Shared(keys, key) => {
                Uniform::new(self.s, keys, key, way.uses(), true).tweaked(way, x, tweak)
            }
            Either::Each(keys) => PerLane::new(self.s, keys, false).tweaked(way, x, tweak),
        }
    }
}

#[inline(always)]
pub(crate) fn go<C: Cipher>(c: &C, x: C::W, way: Way) -> C::W {
    match way {
        Way::Encrypt => c.encrypt(x),
        Way::Decrypt => c.decrypt(x),
        Way::EncryptSecond => c.encrypt_second(x),
    }
}

impl<S: Isa> Cipher for OutOfLine<'_, S> {
    type W = S::W;

    held_as_it_is!();

    #[inline(always)]
    fn encrypt(&self, mut x: S::W) -> S::W {
        self.call(&mut x, Way::Encrypt);
        x
    }

    #[inline(always)]
    fn decrypt(&self, mut x: S::W) -> S::W {
        self.call(&mut x, Way::Decrypt);
        x
    }

    #[inline(always)]
    fn encrypt_second(&self, mut x: S::W) -> S::W {
        self.call(&mut x, Way::EncryptSecond);
        x
    }

    #[inline(always)]
    fn tweaked(&self, way: Way, mut x: S::W, tweak: S::W) -> S::W {
        self.call_tweaked(&mut x, way, &tweak);
        x
    }

    #[inline(always)]
    fn round_key(&self, r: usize) -> S::W {
        match self.keys {
            Either::Shared(_, key) => self.s.splat(&key.enc[r]),
            Either::Each(keys) => self.s.load_row(keys.round_key(r)),
        }
    }

    #[inline(always)]
    fn subkey(&self, i: usize) -> S::W {
        match self.keys {
            Either::Shared(_, key) => self.s.splat(key.subkey(i)),
            Either::Each(keys) => self.s.load_row(keys.subkey(i)),
        }
    }

    #[inline(always)]
    fn splat(&self, block: &Block) -> S::W {
        self.s.splat(block)
    }
}

/// One key per lane.
pub(crate) struct PerLane<'k, S, const L: usize> {
    s: S,
    keys: &'k LaneKeys<L>,
    rounds: usize,
}

impl<'k, S, const L: usize> PerLane<'k, S, L> {
    /// Of 128-bit keys, if that is known.
    #[inline(always)]
    pub(crate) fn new(s: S, keys: &'k LaneKeys<L>, aes_128: bool) -> Self {
        let rounds = if aes_128 { 10 } else { keys.rounds() };
        PerLane { s, keys, rounds }
    }
}

impl<S: Copy, const L: usize> Clone for PerLane<'_, S, L> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<S: Copy, const L: usize> Copy for PerLane<'_, S, L> {}

impl<'k, S: Isa, const L: usize> Cipher for PerLane<'k, S, L> {
    type W = S::W;
    type Held = HeldLanes<'k, S, L>;

    const HOLDS: bool = S::HOLDS > 0;

    #[inline(always)]
    fn held(&self) -> HeldLanes<'k, S, L> {
        let mut first = [self.zero(); HELD_KEYS];
        let mut r = 0;
        while r < S::HOLDS {
            first[r] = self.s.hold(self.round_key(r));
            r += 1;
        }
        HeldLanes { c: *self, first }
    }

    #[inline(always)]
    fn encrypt(&self, x: S::W) -> S::W {
        self.s.encrypt_each(self.keys, self.rounds, x)
    }

    #[inline(always)]
    fn decrypt(&self, x: S::W) -> S::W {
        self.s.decrypt_each(self.keys, self.rounds, x)
    }

    #[inline(always)]
    fn encrypt_second(&self, x: S::W) -> S::W {
        self.s.encrypt_second_each(self.keys, self.rounds, x)
    }

    #[inline(always)]
    fn tweaked(&self, way: Way, x: S::W, tweak: S::W) -> S::W {
        self.s.tweaked_each(self.keys, way, x, tweak)
    }

    #[inline(always)]
    fn round_key(&self, r: usize) -> S::W {
        self.s.load_row(self.keys.round_key(r))
    }

    #[inline(always)]
    fn subkey(&self, i: usize) -> S::W {
        self.s.load_row(self.keys.subkey(i))
    }

    #[inline(always)]
    fn splat(&self, block: &Block) -> S::W {
        self.s.splat(block)
    }
}

/// One key per lane, whose first round keys are in registers. A row's other keys still come from
/// memory, but loading all of them takes some CPUs longer than AES.
#[derive(Clone, Copy)]
pub(crate) struct HeldLanes<'k, S: Isa, const L: usize> {
    c: PerLane<'k, S, L>,
    first: [S::W; HELD_KEYS],
}

impl<S: Isa, const L: usize> Cipher for HeldLanes<'_, S, L> {
    type W = S::W;

    held_as_it_is!();

    #[inline(always)]
    fn encrypt(&self, x: S::W) -> S::W {
        self.encrypt_while::<true>(
            x,
            #[inline(always)]
            |_| {},
        )
    }

    /// In any case in this order.
    #[inline(always)]
    fn encrypt_while<const IN_ORDER: bool>(&self, x: S::W, between: impl FnMut(usize)) -> S::W {
        let PerLane { s, keys, rounds } = self.c;
        s.encrypt_held(keys, &self.first, rounds, x, between)
    }

    as_before!(but encryption);
}

/// [`Isa::expand`] on a backend.
pub(crate) fn expand(backend: Backend, raw: &[&[u8]], out: &mut [Expanded], which: WhichKey) {
    for key in &mut *out {
        key.has_second |= which == WhichKey::Second;
    }
    dispatch!(backend, s => s.expand(raw, out, which))
}

/// CIPH_K of one block.
pub(crate) fn encrypt_block(backend: Backend, key: &Expanded, block: Block) -> Block {
    #[inline(never)]
    fn run<S: Isa>(s: S, key: &Expanded, block: Block) -> Block {
        s.enter(
            #[inline(always)]
            || {
                let keys = s.keys(key, FORWARD);
                s.last(Uniform::new(s, &keys, key, FORWARD, false).encrypt(s.splat(&block)))
            },
        )
    }
    dispatch!(backend, s => run(s.narrow(), key, block))
}
