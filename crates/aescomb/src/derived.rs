//! Keys that a mode derives for messages.

use crate::cipher::Cipher;
use crate::isa::Isa;
use crate::lane_keys::LaneKeys;
use crate::pass::{Own, Pass};
use crate::schedule::WhichKey;
#[cfg(feature = "research")]
use crate::{schedule::Way, shape::OwnKeys};

/// Gives lanes the keys that are made of `own`, of so many `bytes`; `c` is the key that this comes from.
#[cfg_attr(not(feature = "research"), allow(unused_variables))]
#[inline(always)]
pub(crate) fn expand<S: Isa, M: Pass, const L: usize>(
    s: S,
    c: &impl Cipher<W = S::W>,
    own: Own<S::W>,
    bytes: usize,
    keys: &mut LaneKeys<L>,
) {
    #[cfg(feature = "research")]
    if const { M::SHAPE.is_mixed() } {
        return mix::<S, M, L>(s, c, own, keys);
    }
    s.expand_row(keys, own.first, bytes, WhichKey::First);
    #[cfg(feature = "research")]
    if const { M::SHAPE.has_two_own() } {
        s.expand_row(keys, own.second, bytes, WhichKey::Second);
    }
    for (i, row) in own.constants.into_iter().enumerate() {
        s.store_row(row, keys.subkey_mut(i));
    }
}

/// The same of keys whose round keys are mixed with those of the user's key, such as Silver's.
#[cfg(feature = "research")]
#[inline(always)]
fn mix<S: Isa, M: Pass, const L: usize>(
    s: S,
    c: &impl Cipher<W = S::W>,
    mut own: Own<S::W>,
    keys: &mut LaneKeys<L>,
) {
    let round_keys = s.schedule_row(own.first[0]);
    M::mixed_constants(c, &round_keys, &mut own.constants);
    keys.set_rounds(10);
    let Some(OwnKeys::Mixed { second }) = M::SHAPE.own else {
        unreachable!("the mode's keys are mixed")
    };
    for (r, at) in second.into_iter().enumerate() {
        let round_key = M::mix(c, &round_keys, r);
        s.store_row(round_key, keys.round_key_mut(Way::Encrypt, r));
        if const { M::SHAPE.uses.inverse } {
            let inverse = match r {
                0 | 10 => round_key,
                _ => s.inverse_mix(round_key),
            };
            s.store_row(inverse, keys.round_key_mut(Way::Decrypt, 10 - r));
        }
        s.store_row(
            M::mix(c, &round_keys, at),
            keys.round_key_mut(Way::EncryptSecond, r),
        );
    }
    for (i, row) in own.constants.into_iter().enumerate() {
        s.store_row(row, keys.subkey_mut(i));
    }
}
