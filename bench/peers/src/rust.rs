//! Peers in Rust: RustCrypto, ring, and AWS-LC through `aws-lc-rs`. Message by message,
//! with the key expanded before.

use crate::{Batch, Case, Competitor, KEY, by};
use aes::Aes128;
use aes::cipher::{BlockModeDecrypt, BlockModeEncrypt, InnerIvInit, KeyInit, StreamCipher};
use aes_gcm::aead::AeadInOut;
use cmac::{Cmac, Mac};

/// `$f` of every message's text, nonce, associated data, and place for its tag.
macro_rules! each {
    ($batch:ident, |$text:ident, $nonce:ident, $data:ident, $tag:ident| $f:expr) => {{
        let $data = &$batch.data[..];
        let rest = $batch.nonces.iter().zip(&mut $batch.tags);
        for ($text, ($nonce, $tag)) in $batch.ring.split_mut().into_iter().zip(rest) {
            $f;
        }
    }};
}

type Entry = (&'static str, &'static str, Box<dyn Competitor>);

/// Every Rust peer that has the case.
pub fn all(case: Case, batch: impl Fn() -> Batch) -> Vec<Entry> {
    let mut found = vec![rustcrypto(case, batch())];
    if case == Case::Gcm {
        found.push(ring_gcm(batch()));
        found.push(aws_lc_gcm(batch()));
    }
    found
}

fn aead<A: AeadInOut<NonceSize = aes::cipher::consts::U12> + KeyInit + 'static>(
    batch: Batch,
) -> Box<dyn Competitor> {
    let aead = A::new_from_slice(&KEY).expect("a good key");
    by(batch, move |batch| {
        each!(batch, |text, nonce, data, tag| {
            let nonce = nonce[..12].try_into().expect("12 bytes");
            let made = aead.encrypt_inout_detached(nonce, data, text.into());
            tag.copy_from_slice(&made.expect("a good message"));
        });
    })
}

fn rustcrypto(case: Case, batch: Batch) -> Entry {
    let aes = Aes128::new(&KEY.into());
    let (interface, competitor) = match case {
        Case::Cbc => (
            "cbc 0.2",
            by(batch, move |batch| {
                each!(batch, |text, nonce, _data, _tag| {
                    let mut cbc = cbc::Encryptor::inner_iv_init(&aes, nonce.into());
                    let (blocks, _) = aes::Block::slice_as_chunks_mut(text);
                    cbc.encrypt_blocks(blocks);
                });
            }),
        ),
        Case::CbcDecrypt => (
            "cbc 0.2",
            by(batch, move |batch| {
                each!(batch, |text, nonce, _data, _tag| {
                    let mut cbc = cbc::Decryptor::inner_iv_init(&aes, nonce.into());
                    let (blocks, _) = aes::Block::slice_as_chunks_mut(text);
                    cbc.decrypt_blocks(blocks);
                });
            }),
        ),
        Case::Cfb => (
            "cfb-mode 0.9",
            by(batch, move |batch| {
                each!(batch, |text, nonce, _data, _tag| {
                    cfb_mode::Encryptor::inner_iv_init(&aes, nonce.into()).encrypt(text);
                });
            }),
        ),
        Case::Ctr => (
            "ctr 0.10",
            by(batch, move |batch| {
                each!(batch, |text, nonce, _data, _tag| {
                    let core = ctr::CtrCore::<_, ctr::flavors::Ctr128BE>::inner_iv_init(
                        &aes,
                        nonce.into(),
                    );
                    aes::cipher::StreamCipherCoreWrapper::from_core(core).apply_keystream(text);
                });
            }),
        ),
        Case::Cmac => {
            let mut mac = Cmac::<Aes128>::new(&KEY.into());
            (
                "cmac 0.8, reset",
                by(batch, move |batch| {
                    each!(batch, |text, _nonce, _data, tag| {
                        mac.update(text);
                        tag.copy_from_slice(&mac.finalize_reset().into_bytes());
                    });
                }),
            )
        }
        Case::Ccm => (
            "ccm 0.6",
            aead::<ccm::Ccm<Aes128, ccm::consts::U16, ccm::consts::U12>>(batch),
        ),
        Case::Gcm => ("aes-gcm 0.11", aead::<aes_gcm::Aes128Gcm>(batch)),
        Case::Ocb => (
            "ocb3 0.2",
            aead::<ocb3::Ocb3<Aes128, ocb3::consts::U12>>(batch),
        ),
    };
    ("RustCrypto", interface, competitor)
}

fn ring_gcm(batch: Batch) -> Entry {
    use ring::aead::{AES_128_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
    let key = LessSafeKey::new(UnboundKey::new(&AES_128_GCM, &KEY).expect("a good key"));
    let competitor = by(batch, move |batch| {
        each!(batch, |text, nonce, data, tag| {
            let nonce = Nonce::try_assume_unique_for_key(&nonce[..12]).expect("12 bytes");
            let made = key.seal_in_place_separate_tag(nonce, Aad::from(data), text);
            tag.copy_from_slice(made.expect("a good message").as_ref());
        });
    });
    ("ring", "LessSafeKey", competitor)
}

fn aws_lc_gcm(batch: Batch) -> Entry {
    use aws_lc_rs::aead::{AES_128_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
    let key = LessSafeKey::new(UnboundKey::new(&AES_128_GCM, &KEY).expect("a good key"));
    let competitor = by(batch, move |batch| {
        each!(batch, |text, nonce, data, tag| {
            let nonce = Nonce::try_assume_unique_for_key(&nonce[..12]).expect("12 bytes");
            let made = key.seal_in_place_separate_tag(nonce, Aad::from(data), text);
            tag.copy_from_slice(made.expect("a good message").as_ref());
        });
    });
    ("AWS-LC", "aws-lc-rs, LessSafeKey", competitor)
}
