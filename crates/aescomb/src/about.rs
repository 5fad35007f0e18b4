//! What a mode says of itself, and its entry in the list of modes ([`Registered`]).

use crate::backend::Backend;
use crate::expanded::Expanded;
use crate::mode::{Costs, Info, KEY_BYTES, Kind, Lengths};
use crate::pass::{Pass, Program, has_chain};
use crate::shape::{Feed, Link, Shape};

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
        parallel_encrypt: !has_chain::<R::Forward>(),
        parallel_decrypt: !has_chain::<R::Backward>(),
        inverse: <R::Backward as Program>::First::SHAPE.uses.inverse,
        tag_first: about.tag_first,
        nonce_reuse: about.nonce_reuse,
        research: about.research,
        chained: [is_chained::<R::Forward>(), is_chained::<R::Backward>()],
    }
}

/// Whether a pass over many messages writes results of which one comes of the one before, by steps
/// that are no [`Link`].
const fn is_chained<G: Program>() -> bool {
    let [first, second] = match G::APART {
        true => [G::Before::SHAPE, G::After::SHAPE],
        false => [G::First::SHAPE, G::Second::SHAPE],
    };
    chains(first) || chains(second)
}

const fn chains(shape: Shape) -> bool {
    matches!(shape.feed, Feed::Serial(Link::None)) && shape.output
}

/// A mode in the registry.
pub(crate) trait Registered {
    const ABOUT: About;
    /// Encryption, sealing, or the computation of a tag: a [`Pass`] or [`Two`].
    type Forward: Program;
    /// Decryption, opening; for a MAC the same as `Forward`.
    type Backward: Program;
    /// Whether the two keys of a mode with two must not be equal.
    const KEYS_DIFFER: bool = false;

    /// Puts the mode's constants of a key into `key.sub`, where `key.sub[0]` is
    /// CIPH_K(0^128); `encrypt_block` makes CIPH_K of others. `Shape::uses` says how many there are.
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
