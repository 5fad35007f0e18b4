//! Peers in Rust: RustCrypto, ring, and AWS-LC through `aws-lc-rs`. Message by message,
//! with the key expanded before.

use crate::batch::{Item, Run, Text};
use crate::case::Case;
use aes::Aes128;
use aes::cipher::array::Array;
use aes::cipher::consts::{U12, U16};
use aes::cipher::{
    BlockCipherDecrypt, BlockCipherEncrypt, BlockModeDecrypt, BlockModeEncrypt, InnerIvInit,
    KeyInit, StreamCipher, StreamCipherCoreWrapper,
};
use aes_gcm::Aes128Gcm;
use aes_gcm::aead::AeadInOut;
use aescomb::{Mode, Op};
use cmac::{Cmac, Mac};

/// Message after message by `f`, which says whether the tag is right.
fn each(mut f: impl FnMut(Item<'_>) -> bool + 'static) -> Run {
    Box::new(move |batch| batch.each(&mut f))
}

/// The same by an `f` that cannot refuse.
fn every(mut f: impl FnMut(Item<'_>) + 'static) -> Run {
    each(move |item| {
        f(item);
        true
    })
}

type Block = Array<u8, U16>;

/// The nonce of a mode that wants a block.
fn block(nonce: &[u8]) -> &Block {
    nonce.try_into().expect("16 bytes")
}

/// A RustCrypto mode that works on blocks: its type, and the method that does them.
macro_rules! blocks {
    ($mode:ty, $call:ident) => {{
        let aes = Aes128::new(key().into());
        every(move |item| {
            let mut mode = <$mode>::inner_iv_init(&aes, block(item.nonce));
            mode.$call(item.text.either().into_chunks().0);
        })
    }};
}

/// The first half of all keys.
fn key() -> &'static [u8; 16] {
    crate::case::KEY.first_chunk().expect("two keys")
}

/// RustCrypto: the crate, and how it does the case.
pub fn rustcrypto(case: Case) -> Option<(&'static str, Run)> {
    let aes = Aes128::new(key().into());
    Some(match (case.mode, case.op) {
        (Mode::Ecb, Op::Encrypt) => (
            "aes",
            every(move |item| aes.encrypt_blocks_inout(item.text.either().into_chunks().0)),
        ),
        (Mode::Ecb, Op::Decrypt) => (
            "aes",
            every(move |item| aes.decrypt_blocks_inout(item.text.either().into_chunks().0)),
        ),
        (Mode::Cbc, Op::Encrypt) => (
            "cbc",
            blocks!(cbc::Encryptor<&Aes128>, encrypt_blocks_inout),
        ),
        (Mode::Cbc, Op::Decrypt) => (
            "cbc",
            blocks!(cbc::Decryptor<&Aes128>, decrypt_blocks_inout),
        ),
        (Mode::Cfb128, Op::Encrypt) => (
            "cfb-mode",
            every(move |item| {
                cfb_mode::Encryptor::inner_iv_init(&aes, block(item.nonce))
                    .encrypt_inout(item.text.either());
            }),
        ),
        (Mode::Cfb128, Op::Decrypt) => (
            "cfb-mode",
            every(move |item| {
                cfb_mode::Decryptor::inner_iv_init(&aes, block(item.nonce))
                    .decrypt_inout(item.text.either());
            }),
        ),
        (Mode::Ofb, _) => (
            "ofb",
            every(move |item| {
                let core = ofb::OfbCore::inner_iv_init(&aes, block(item.nonce));
                StreamCipherCoreWrapper::from_core(core).apply_keystream_inout(item.text.either());
            }),
        ),
        (Mode::Ctr, _) => (
            "ctr",
            every(move |item| {
                type Core<'a> = ctr::CtrCore<&'a Aes128, ctr::flavors::Ctr128BE>;
                let core = Core::inner_iv_init(&aes, block(item.nonce));
                StreamCipherCoreWrapper::from_core(core).apply_keystream_inout(item.text.either());
            }),
        ),
        (Mode::Xts, op) => {
            let second = Aes128::new_from_slice(&case.key()[16..]).expect("a good key");
            let xts = xts_mode::Xts128::new(aes, second);
            let run = every(move |item| {
                let (tweak, text) = (*block(item.nonce), item.text.in_place());
                match op {
                    Op::Encrypt => xts.encrypt_sector(text, tweak),
                    _ => xts.decrypt_sector(text, tweak),
                }
            });
            ("xts-mode", run)
        }
        (Mode::Cmac, _) => {
            let mut mac = <Cmac<Aes128> as KeyInit>::new(key().into());
            let run = every(move |item| {
                mac.update(item.text.read());
                *item.tag = mac.finalize_reset().into_bytes().into();
            });
            ("cmac", run)
        }
        (Mode::Gmac, _) => {
            let gcm = Aes128Gcm::new(key().into());
            let run = every(move |item| {
                let nonce = item.nonce.try_into().expect("12 bytes");
                let tag = gcm.encrypt_inout_detached(nonce, item.text.read(), (&mut [][..]).into());
                *item.tag = tag.expect("a good message").into();
            });
            ("aes-gcm", run)
        }
        (Mode::Ccm, op) => ("ccm", aead::<ccm::Ccm<Aes128, U16, U12>>(op)),
        (Mode::Gcm, op) => ("aes-gcm", aead::<Aes128Gcm>(op)),
        (Mode::Ocb, op) => ("ocb3", aead::<ocb3::Ocb3<Aes128, U12>>(op)),
        (Mode::GcmSiv, op) => ("aes-gcm-siv", aead::<aes_gcm_siv::Aes128GcmSiv>(op)),
        (Mode::Siv, op) => ("aes-siv", siv(case, op)),
        _ => return None,
    })
}

fn aead<A>(op: Op) -> Run
where
    A: AeadInOut<NonceSize = U12, TagSize = U16> + KeyInit + 'static,
{
    let aead = A::new_from_slice(key()).expect("a good key");
    each(move |item| {
        let nonce = item.nonce.try_into().expect("12 bytes");
        if op == Op::Open {
            let tag = (&*item.tag).into();
            return aead
                .decrypt_inout_detached(nonce, item.data, item.text.either(), tag)
                .is_ok();
        }
        let tag = aead.encrypt_inout_detached(nonce, item.data, item.text.either());
        *item.tag = tag.expect("a good message").into();
        true
    })
}

/// By `Siv`, which keeps more of the key than `SivAead` does.
fn siv(case: Case, op: Op) -> Run {
    let mut siv = aes_siv::siv::Aes128Siv::new_from_slice(case.key()).expect("a good key");
    each(move |item| {
        let headers = [item.data, item.nonce];
        let headers = &headers[usize::from(item.data.is_empty())..];
        if op == Op::Open {
            let tag = (&*item.tag).into();
            return siv
                .decrypt_inout_detached(headers, item.text.either(), tag)
                .is_ok();
        }
        let tag = siv.encrypt_inout_detached(headers, item.text.either());
        *item.tag = tag.expect("a good message").into();
        true
    })
}

/// A case of `ring` or of `aws_lc_rs`, which have the same interface but for opening to
/// another place.
macro_rules! less_safe {
    ($krate:ident, $algorithm:expr, $op:expr, |$key:ident, $item:ident, $nonce:ident| $open:expr) => {{
        use $krate::aead::{Aad, LessSafeKey, Nonce, UnboundKey};
        let $key = LessSafeKey::new(UnboundKey::new($algorithm, key()).expect("a good key"));
        let op = $op;
        each(move |$item| {
            let $nonce = Nonce::try_assume_unique_for_key($item.nonce).expect("12 bytes");
            let tag = match op {
                Op::Open => return $open,
                Op::Mac => {
                    let data = Aad::from($item.text.read());
                    $key.seal_in_place_separate_tag($nonce, data, &mut [])
                }
                _ => {
                    let text = $item.text.in_place();
                    $key.seal_in_place_separate_tag($nonce, Aad::from($item.data), text)
                }
            };
            $item
                .tag
                .copy_from_slice(tag.expect("a good message").as_ref());
            true
        })
    }};
}

pub fn ring(case: Case) -> Option<(&'static str, Run)> {
    use ring::aead::AES_128_GCM;
    let interface = match (case.mode, case.op) {
        (Mode::Gcm, Op::Open) => "LessSafeKey, copied first",
        (Mode::Gcm, _) => "LessSafeKey",
        (Mode::Gmac, _) => "LessSafeKey, as associated data",
        _ => return None,
    };
    let run = less_safe!(ring, &AES_128_GCM, case.op, |key, item, nonce| {
        let text = item.text.in_place();
        let (data, tag) = (Aad::from(item.data), (*item.tag).into());
        key.open_in_place_separate_tag(nonce, data, tag, text, 0..)
            .is_ok()
    });
    Some((interface, run))
}

pub fn aws_lc(case: Case) -> Option<(&'static str, Run)> {
    use aws_lc_rs::aead::{AES_128_GCM, AES_128_GCM_SIV};
    let (interface, algorithm) = match case.mode {
        Mode::Gcm => ("LessSafeKey", &AES_128_GCM),
        Mode::Gmac => ("LessSafeKey, as associated data", &AES_128_GCM),
        Mode::GcmSiv => ("LessSafeKey", &AES_128_GCM_SIV),
        Mode::Cmac => return Some(("cmac::sign_to_buffer", aws_lc_cmac())),
        _ => return aws_lc_cipher(case),
    };
    let run = less_safe!(aws_lc_rs, algorithm, case.op, |key, item, nonce| {
        let Text::Copy(from, to) = item.text else {
            panic!("messages that are opened in place");
        };
        let data = Aad::from(item.data);
        key.open_separate_gather(nonce, data, from, item.tag, to)
            .is_ok()
    });
    Some((interface, run))
}

fn aws_lc_cmac() -> Run {
    use aws_lc_rs::cmac::{AES_128, Key, sign_to_buffer};
    let key = Key::new(AES_128, key()).expect("a good key");
    every(move |item| {
        sign_to_buffer(&key, item.text.read(), item.tag).expect("a good message");
    })
}

fn aws_lc_cipher(case: Case) -> Option<(&'static str, Run)> {
    use aws_lc_rs::cipher::{
        AES_128, DecryptingKey, DecryptionContext, EncryptingKey, EncryptionContext,
        UnboundCipherKey,
    };
    let raw = UnboundCipherKey::new(&AES_128, key()).expect("a good key");
    if case.op == Op::Decrypt {
        let key = match case.mode {
            Mode::Ecb => DecryptingKey::ecb(raw),
            Mode::Cbc => DecryptingKey::cbc(raw),
            Mode::Cfb128 => DecryptingKey::cfb128(raw),
            _ => return None,
        };
        let key = key.expect("a good key");
        let run = every(move |item| {
            let context = match <[u8; 16]>::try_from(item.nonce) {
                Ok(nonce) => DecryptionContext::Iv128(nonce.into()),
                Err(_) => DecryptionContext::None,
            };
            key.decrypt(item.text.in_place(), context)
                .expect("a good message");
        });
        return Some(("DecryptingKey", run));
    }
    let key = match case.mode {
        Mode::Ecb => EncryptingKey::ecb(raw),
        Mode::Cbc => EncryptingKey::cbc(raw),
        Mode::Cfb128 => EncryptingKey::cfb128(raw),
        Mode::Ofb => EncryptingKey::ofb(raw),
        Mode::Ctr => EncryptingKey::ctr(raw),
        _ => return None,
    };
    let key = key.expect("a good key");
    let run = every(move |item| {
        let context = match <[u8; 16]>::try_from(item.nonce) {
            Ok(nonce) => EncryptionContext::Iv128(nonce.into()),
            Err(_) => EncryptionContext::None,
        };
        key.less_safe_encrypt(item.text.in_place(), context)
            .expect("a good message");
    });
    Some(("EncryptingKey", run))
}
