//! Keys of files: SP 800-108 revision 1, section 4.1, counter mode with CMAC.

use crate::error::Error;
use crate::values::with_comb;
use aescomb::{AnyKey, Message, Mode, Text};
use zeroize::Zeroizing;

/// Bytes of the salt of a file.
pub(crate) const SALT: usize = 16;
/// Bytes of derived keys.
pub(crate) const DERIVED: usize = 32;

const LABEL: &[u8] = b"aescomb columns aes-256-gcm";

/// The key that belongs to this salt and associated data: `CMAC(key, i ‖ label ‖ 0 ‖ salt ‖
/// data ‖ bits)` for i from 1 on, with i and bits of 4 bytes, the highest first.
pub(crate) fn derive(
    key: &[u8],
    salt: &[u8; SALT],
    data: &[u8],
) -> Result<Zeroizing<Vec<u8>>, Error> {
    let mut derived = Zeroizing::new(vec![0; DERIVED]);
    let bits = 8 * DERIVED as u32;
    let text = |i: u32| {
        [
            &i.to_be_bytes(),
            LABEL,
            &[0],
            &salt[..],
            data,
            &bits.to_be_bytes(),
        ]
        .concat()
    };
    let texts: Vec<Vec<u8>> = (1..=2).map(text).collect();
    let tags = derived.chunks_exact_mut(16).zip(&texts);
    let mut batch: Vec<Message<'_>> = tags
        .map(|(tag, text)| Message::new(Text::read_only(text)).tag(tag))
        .collect();
    let wrong = |error| Error::key(None, error);
    let key = AnyKey::for_mode(Mode::Cmac, key).map_err(wrong)?;
    with_comb(|comb| comb.mac(&key, &mut batch)).map_err(wrong)?;
    Ok(derived)
}
