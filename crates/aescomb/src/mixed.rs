//! Keys of messages whose round keys are mixed with those of the user's key, such as Silver's.

use crate::cipher::OutOfLine;
use crate::group::Group;
use crate::isa::Isa;
use crate::lane_keys::LaneKeys;
use crate::pass::Pass;
use crate::schedule::Way;
use crate::shape::OwnKeys;

/// Makes the keys of a group's messages.
#[inline(always)]
pub(crate) fn derive<S: Isa, M: Pass, const L: usize, const IDLE: usize>(
    s: S,
    group: &Group<'_, '_, L, IDLE>,
    c: &OutOfLine<'_, S, L>,
    bytes: usize,
    keys: &mut LaneKeys<L>,
) {
    let mut own = group.derive::<S, M>(s, c, bytes);
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
