//! What the oracle makes of a vector.

use aescomb_vectors::monte_carlo::{Chain, STEPS};
use aescomb_vectors::{Direction, Kind, MonteCarlo, Vector};

/// Whether the oracle agrees with the vector: sealing with good ones, opening with refused
/// ones.
pub fn agrees(vector: &Vector) -> bool {
    let Vector {
        mode,
        key,
        nonce,
        data,
        msg,
        ct,
        tag,
        ..
    } = vector;
    let name = mode.name;
    let data: Vec<&[u8]> = data.iter().map(Vec::as_slice).collect();
    if let Some(MonteCarlo { direction, .. }) = vector.monte_carlo {
        let mut chain = Chain::new(vector).expect("a chain");
        for _ in 0..STEPS {
            let run = match direction {
                Direction::Encrypt => aescomb_ref::encrypt,
                Direction::Decrypt => aescomb_ref::decrypt,
            };
            let output = run(name, key, chain.nonce(), chain.input()).expect("good lengths");
            chain.push(output.try_into().expect("a block"));
        }
        return chain.end().output == *vector.output();
    }
    match (mode.kind, vector.refused) {
        (Kind::Cipher, true) => aescomb_ref::decrypt(name, key, nonce, ct).is_none(),
        (Kind::Cipher, false) => aescomb_ref::encrypt(name, key, nonce, msg).as_ref() == Some(ct),
        (Kind::Mac, refused) => {
            let found = aescomb_ref::mac(name, key, nonce, msg).expect("good lengths");
            found.starts_with(tag) != refused
        }
        (Kind::Aead, true) => aescomb_ref::open(name, key, nonce, &data, ct, tag).is_none(),
        (Kind::Aead, false) => {
            let sealed = aescomb_ref::seal(name, key, nonce, &data, msg, tag.len());
            sealed.is_some_and(|sealed| (&sealed.text, &sealed.tag) == (ct, tag))
        }
    }
}
