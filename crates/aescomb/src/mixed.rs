//! Keys of messages whose round keys are mixed with those of the user's key, such as Silver's.

use crate::cipher::OutOfLine;
use crate::group::Group;
use crate::isa::Isa;
use crate::lane_keys::LaneKeys;
use crate::pass::Pass;
use crate::schedule::Way;

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
    let [first, second] = M::mix(c, &s.schedule_row(own.first[0]), &mut own.constants);
    keys.set_rounds(10);
    let mut r = 0;
    while r < first.len() {
        s.store_row(first[r], keys.round_key_mut(Way::Encrypt, r));
        s.store_row(second[r], keys.round_key_mut(Way::EncryptSecond, r));
        if const { M::SHAPE.uses.inverse } {
            let row = match r {
                0 | 10 => first[10 - r],
                _ => s.inverse_mix(first[10 - r]),
            };
            s.store_row(row, keys.round_key_mut(Way::Decrypt, r));
        }
        r += 1;
    }
    for (i, row) in own.constants.into_iter().enumerate() {
        s.store_row(row, keys.subkey_mut(i));
    }
}
