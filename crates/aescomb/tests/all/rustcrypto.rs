//! The types of the feature `rustcrypto`: the traits' own tests, on vectors made by
//! the crates whose place the types take, and code that works with both.
#![cfg(feature = "rustcrypto")]

use crate::common::Draw;
use aead::dev::{fail_test, pass_test};
use aead::inout::InOutBuf;
use aead::{Aead, AeadInOut, KeyInit, Nonce, Payload, TagPosition};
use aescomb::rustcrypto as ours;
use aescomb::{Comb, Message, Mode, Text};
use cipher::block_padding::Pkcs7;
use cipher::consts::{U1, U4, U6, U7, U8, U10, U12, U13, U15, U16, U24};
use cipher::{
    Block, BlockCipherDecrypt, BlockCipherEncrypt, BlockModeDecrypt, BlockModeEncrypt,
    BlockSizeUser, IvState, KeyIvInit, SetIvState, StreamCipher, StreamCipherSeek,
    StreamCipherSeekCore,
};
use digest::{FixedOutputReset, Mac};
use zeroize::ZeroizeOnDrop;

/// Around every number of blocks that something is done at once with.
const LENGTHS: &[usize] = &[
    0, 1, 15, 16, 17, 31, 32, 33, 47, 48, 63, 64, 65, 127, 128, 129, 255, 256, 257, 496, 511, 512,
    513, 528, 1023, 1024, 1025, 4095, 4096,
];

/// Vectors of the traits' tests live for ever.
fn bytes(draw: &mut Draw, len: usize) -> &'static [u8] {
    (0..len)
        .map(|_| draw.next() as u8)
        .collect::<Vec<_>>()
        .leak()
}

/// What `theirs` makes, `ours` must make, open, and refuse when it is forged.
fn same_aead<Theirs, Ours>()
where
    Theirs: AeadInOut + KeyInit,
    Ours: AeadInOut<NonceSize = Theirs::NonceSize, TagSize = Theirs::TagSize> + KeyInit,
{
    let mut draw = Draw::new(1);
    let key = bytes(&mut draw, Theirs::key_size());
    let theirs = Theirs::new_from_slice(key).unwrap();
    let ours = Ours::new_from_slice(key).unwrap();
    for (i, &len) in LENGTHS.iter().enumerate() {
        let nonce = Nonce::<Theirs>::from_fn(|_| draw.next() as u8);
        let nonce: &'static Nonce<Theirs> = Box::leak(Box::new(nonce));
        let aad = bytes(&mut draw, LENGTHS[(7 * i) % LENGTHS.len()]);
        let plaintext = bytes(&mut draw, len);
        let sealed = theirs.encrypt(
            nonce,
            Payload {
                aad,
                msg: plaintext,
            },
        );
        let mut vector = aead::dev::TestVector {
            key,
            nonce,
            aad,
            plaintext,
            ciphertext: sealed.unwrap().leak(),
        };
        pass_test::<Ours>(&vector).unwrap();

        let mut forged = vector.ciphertext.to_vec();
        let place = draw.next() as usize % forged.len();
        forged[place] ^= 1 << (draw.next() % 8);
        vector.ciphertext = forged.leak();
        fail_test::<Ours>(&vector).unwrap();
        vector.ciphertext = &vector.ciphertext[..vector.ciphertext.len().min(3)];
        fail_test::<Ours>(&vector).unwrap();

        // What was not opened is wiped.
        let mut data = plaintext.to_vec();
        let tag = Default::default();
        let buf = InOutBuf::from(&mut data[..]);
        assert!(ours.decrypt_inout_detached(nonce, aad, buf, &tag).is_err());
        assert!(data.iter().all(|b| *b == 0));
    }
}

macro_rules! aeads {
    ($($name:ident: $theirs:ty, $ours:ty;)*) => {$(
        #[test]
        fn $name() {
            same_aead::<$theirs, $ours>();
        }
    )*};
}

aeads! {
    gcm_128: aes_gcm::Aes128Gcm, ours::Aes128Gcm;
    gcm_192: aes_gcm::AesGcm<aes::Aes192, U12>, ours::Aes192Gcm;
    gcm_256: aes_gcm::Aes256Gcm, ours::Aes256Gcm;
    gcm_nonce_1: aes_gcm::AesGcm<aes::Aes128, U1>, ours::AesGcm<ours::Aes128, U1>;
    gcm_nonce_24_tag_13: aes_gcm::AesGcm<aes::Aes256, U24, U13>,
        ours::AesGcm<ours::Aes256, U24, U13>;
    ccm_128_4_7: ccm::Ccm<aes::Aes128, U4, U7>, ours::Ccm<ours::Aes128, U4, U7>;
    ccm_128_16_13: ccm::Ccm<aes::Aes128, U16, U13>, ours::Ccm<ours::Aes128, U16, U13>;
    ccm_192_10_12: ccm::Ccm<aes::Aes192, U10, U12>, ours::Ccm<ours::Aes192, U10, U12>;
    ccm_256_8_13: ccm::Ccm<aes::Aes256, U8, U13>, ours::Ccm<ours::Aes256, U8, U13>;
    ocb_128: ocb3::Ocb3<aes::Aes128>, ours::Ocb3<ours::Aes128>;
    ocb_192_15_8: ocb3::Ocb3<aes::Aes192, U15, U8>, ours::Ocb3<ours::Aes192, U15, U8>;
    ocb_256_6_12: ocb3::Ocb3<aes::Aes256, U6, U12>, ours::Ocb3<ours::Aes256, U6, U12>;
    eax_128: eax::Eax<aes::Aes128>, ours::Eax<ours::Aes128>;
    eax_192_4: eax::Eax<aes::Aes192, U4>, ours::Eax<ours::Aes192, U4>;
    eax_256_15: eax::Eax<aes::Aes256, U15>, ours::Eax<ours::Aes256, U15>;
    gcm_siv_128: aes_gcm_siv::Aes128GcmSiv, ours::Aes128GcmSiv;
    gcm_siv_256: aes_gcm_siv::Aes256GcmSiv, ours::Aes256GcmSiv;
    siv_128: aes_siv::Aes128SivAead, ours::Aes128SivAead;
    siv_256: aes_siv::Aes256SivAead, ours::Aes256SivAead;
    siv_128_nonce_1: aes_siv::SivAead<aes::Aes128, cmac::Cmac<aes::Aes128>, U1>,
        ours::CmacSivAead<ours::Aes128, U1>;
}

/// SIV for AES-192 has no counterpart there.
#[test]
fn siv_192() {
    let key = [5; 48];
    let siv = ours::CmacSivAead::<ours::Aes192>::new(&key.into());
    let payload = Payload {
        aad: b"header",
        msg: b"text",
    };
    let sealed = siv.encrypt(&[1; 16].into(), payload).unwrap();
    let expected = aescomb_ref::seal("siv", &key, &[1; 16], &[b"header"], b"text", 16).unwrap();
    assert_eq!(sealed, [expected.tag, expected.text].concat());
    assert_eq!(
        <ours::CmacSivAead<ours::Aes192> as aead::AeadCore>::TAG_POSITION,
        TagPosition::Prefix
    );
}

/// Texts that are too long for CCM's nonces of 13 bytes.
#[test]
fn ccm_limit() {
    let ccm = ours::Ccm::<ours::Aes128, U8, U13>::new(&[5; 16].into());
    let nonce = [1; 13].into();
    assert!(ccm.encrypt(&nonce, &vec![0; 65_535][..]).is_ok());
    assert!(ccm.encrypt(&nonce, &vec![0; 65_536][..]).is_err());
}

/// AEADs made from ciphers, and keys lent to a batch.
#[test]
fn keys() {
    fn from<A: ours::Aes>(len: usize) {
        let raw = &[3; 32][..len];
        let aes = A::new_from_slice(raw).unwrap();
        let gcm = ours::AesGcm::<A, U12>::from(aes.clone());
        let direct = ours::AesGcm::<A, U12>::new_from_slice(raw).unwrap();
        let nonce = [1; 12].into();
        let sealed = gcm.encrypt(&nonce, b"text".as_ref()).unwrap();
        assert_eq!(sealed, direct.encrypt(&nonce, b"text".as_ref()).unwrap());
        let ccm = ours::Ccm::<A, U8, U13>::from(aes.clone());
        let ocb = ours::Ocb3::<A>::from(aes.clone());
        let eax = ours::Eax::<A>::from(aes.clone());
        let siv = ours::AesGcmSiv::<A>::from(aes);
        assert_eq!(ccm.key().algorithm().key_bits, 8 * len);
        assert_eq!(ocb.key().algorithm().key_bits, 8 * len);
        assert_eq!(eax.key().algorithm().key_bits, 8 * len);
        assert_eq!(siv.key().algorithm().key_bits, 8 * len);

        let mut packet = *b"text................";
        let text = Text::in_place_with_room(&mut packet, 4);
        let mut batch = [Message::new(text).nonce(&nonce).tag_attached(16)];
        Comb::new().seal(gcm.key(), &mut batch).unwrap();
        assert_eq!(packet, sealed[..]);
    }
    from::<ours::Aes128>(16);
    from::<ours::Aes192>(24);
    from::<ours::Aes256>(32);

    let mac = ours::Cmac::<ours::Aes128>::new(&[3; 16].into());
    let mut tag = [0; 16];
    mac.key().mac(b"text", &mut tag).unwrap();
    mac.chain_update(b"text").verify_slice(&tag).unwrap();
    let cbc = ours::cbc::Encryptor::<ours::Aes128>::new(&[3; 16].into(), &[1; 16].into());
    assert_eq!(cbc.key().mode(), Mode::Cbc);
}

/// The traits' test of a block cipher.
fn same_block_cipher<Theirs, Ours>()
where
    Theirs: BlockCipherEncrypt + BlockSizeUser<BlockSize = U16> + KeyInit,
    Ours: BlockCipherEncrypt + BlockCipherDecrypt + BlockSizeUser<BlockSize = U16> + KeyInit,
{
    let mut draw = Draw::new(2);
    for _ in 0..8 {
        let key = bytes(&mut draw, Theirs::key_size());
        let plaintext = bytes(&mut draw, 16);
        let theirs = Theirs::new_from_slice(key).unwrap();
        let mut block = Block::<Theirs>::try_from(plaintext).unwrap();
        theirs.encrypt_block(&mut block);
        cipher::dev::block_cipher::encrypt_decrypt_test::<Ours>(
            &cipher::dev::block_cipher::TestVector {
                key,
                plaintext,
                ciphertext: block.to_vec().leak(),
            },
        )
        .unwrap();

        // From one buffer to another, and by closures of other modes.
        let ours = Ours::new_from_slice(key).unwrap();
        for blocks in [0, 1, 5, 31, 32, 33, 100] {
            let from: Vec<Block<Ours>> = bytes(&mut draw, 16 * blocks)
                .chunks(16)
                .map(|b| b.try_into().unwrap())
                .collect();
            let mut one_by_one = from.clone();
            for block in &mut one_by_one {
                theirs.encrypt_block(block);
            }
            let mut to = vec![Block::<Ours>::default(); blocks];
            ours.encrypt_blocks_b2b(&from, &mut to).unwrap();
            assert_eq!(to, one_by_one);
            let mut back = vec![Block::<Ours>::default(); blocks];
            ours.decrypt_blocks_b2b(&to, &mut back).unwrap();
            assert_eq!(back, from);
            let mut block = [Default::default(); 1];
            if blocks > 0 {
                ours.encrypt_block_b2b(&from[0], &mut block[0]);
                assert_eq!(block[0], to[0]);
                ours.decrypt_block_b2b(&to[0], &mut block[0]);
                assert_eq!(block[0], from[0]);
            } else {
                assert!(ours.encrypt_blocks_b2b(&from, &mut block).is_err());
                assert!(ours.decrypt_blocks_b2b(&from, &mut block).is_err());
            }
        }
    }
}

#[test]
fn block_ciphers() {
    same_block_cipher::<aes::Aes128, ours::Aes128>();
    same_block_cipher::<aes::Aes192, ours::Aes192>();
    same_block_cipher::<aes::Aes256, ours::Aes256>();
}

/// RustCrypto's modes over this library's AES, which go through the closures.
#[test]
fn other_modes() {
    fn with<E: BlockModeEncrypt + KeyIvInit>(text: &[u8]) -> Vec<u8> {
        E::new_from_slices(&[7; 16], &[9; 16])
            .unwrap()
            .encrypt_padded_vec::<Pkcs7>(text)
    }
    fn back<D: BlockModeDecrypt + KeyIvInit>(text: &[u8]) -> Vec<u8> {
        D::new_from_slices(&[7; 16], &[9; 16])
            .unwrap()
            .decrypt_padded_vec::<Pkcs7>(text)
            .unwrap()
    }
    let text = bytes(&mut Draw::new(3), 1000);
    let encrypted = with::<cbc::Encryptor<aes::Aes128>>(text);
    assert_eq!(with::<cbc::Encryptor<ours::Aes128>>(text), encrypted);
    assert_eq!(with::<ours::cbc::Encryptor<ours::Aes128>>(text), encrypted);
    assert_eq!(back::<cbc::Decryptor<ours::Aes128>>(&encrypted), text);
    assert_eq!(back::<ours::cbc::Decryptor<ours::Aes128>>(&encrypted), text);
    let mut a = text.to_vec();
    let mut b = text.to_vec();
    let (key, iv) = ([7; 16].into(), [9; 16].into());
    ctr::Ctr64LE::<aes::Aes128>::new(&key, &iv).apply_keystream(&mut a);
    ctr::Ctr64LE::<ours::Aes128>::new(&key, &iv).apply_keystream(&mut b);
    assert_eq!(a, b);
}

/// The traits' test of a block mode, with vectors of up to their most bytes.
fn same_block_mode<Theirs, Enc, Dec>()
where
    Theirs: BlockModeEncrypt + BlockSizeUser<BlockSize = U16> + KeyIvInit,
    Enc: BlockModeEncrypt + BlockSizeUser<BlockSize = U16> + KeyIvInit + IvState,
    Dec: BlockModeDecrypt + BlockSizeUser<BlockSize = U16> + KeyIvInit + IvState + SetIvState,
{
    let mut draw = Draw::new(4);
    let key = bytes(&mut draw, Theirs::key_size());
    let iv = bytes(&mut draw, 16);
    for len in (0..8).map(|n| 16 * n).chain([496, 512, 528, 4096]) {
        let plaintext = bytes(&mut draw, len);
        let mut blocks: Vec<Block<Theirs>> = plaintext
            .chunks(16)
            .map(|block| block.try_into().unwrap())
            .collect();
        let from = blocks.clone();
        Theirs::new_from_slices(key, iv)
            .unwrap()
            .encrypt_blocks(&mut blocks);
        let vector = cipher::dev::block_mode::TestVector {
            key,
            iv,
            plaintext,
            ciphertext: blocks.concat().leak(),
        };
        cipher::dev::block_mode::encrypt::<Enc>(&vector).unwrap();
        cipher::dev::block_mode::decrypt::<Dec>(&vector).unwrap();

        let (mut enc, mut dec) = (
            Enc::new_from_slices(key, iv).unwrap(),
            Dec::new_from_slices(key, iv).unwrap(),
        );
        let mut to = vec![Default::default(); from.len()];
        enc.encrypt_blocks_b2b(&from, &mut to).unwrap();
        assert_eq!(to, blocks);
        // In place, where the state is written over; and once more.
        let start = dec.iv_state();
        dec.decrypt_blocks(&mut to);
        assert_eq!(to, from);
        assert_eq!(dec.iv_state()[..], enc.iv_state()[..]);
        dec.set_iv(&start);
        dec.decrypt_blocks_b2b(&blocks, &mut to).unwrap();
        assert_eq!(to, from);
        if len > 0 {
            assert!(dec.decrypt_blocks_b2b(&blocks, &mut []).is_err());
        }
    }
}

macro_rules! block_modes {
    ($($name:ident: $crate_name:ident, $aes:ident;)*) => {$(
        mod $name {
            use super::*;
            type Enc = ours::$crate_name::Encryptor<ours::$aes>;
            type Dec = ours::$crate_name::Decryptor<ours::$aes>;

            #[test]
            fn vectors() {
                same_block_mode::<::$crate_name::Encryptor<aes::$aes>, Enc, Dec>();
            }

            cipher::iv_state_test!(encryptor_state, Enc, encrypt);
            cipher::iv_state_test!(decryptor_state, Dec, decrypt);
        }
    )*};
}

block_modes! {
    cbc_128: cbc, Aes128;
    cbc_192: cbc, Aes192;
    cbc_256: cbc, Aes256;
    cfb_128: cfb_mode, Aes128;
    cfb_192: cfb_mode, Aes192;
    cfb_256: cfb_mode, Aes256;
}

/// CFB of messages that are no whole blocks.
#[test]
fn cfb_bytes() {
    let mut draw = Draw::new(5);
    let (key, iv) = ([7; 24].into(), [9; 16].into());
    let theirs = || cfb_mode::Encryptor::<aes::Aes192>::new(&key, &iv);
    let enc = ours::cfb_mode::Encryptor::<ours::Aes192>::new(&key, &iv);
    let dec = ours::cfb_mode::Decryptor::<ours::Aes192>::new(&key, &iv);
    for &len in LENGTHS {
        let text = bytes(&mut draw, len);
        let mut expected = text.to_vec();
        theirs().encrypt(&mut expected);
        let mut ours = vec![0; len];
        enc.clone().encrypt_b2b(text, &mut ours).unwrap();
        assert_eq!(ours, expected);
        dec.clone().decrypt(&mut ours);
        assert_eq!(ours, text);
        enc.clone().encrypt(&mut ours);
        assert_eq!(ours, expected);
        let mut back = vec![0; len];
        dec.clone().decrypt_b2b(&ours, &mut back).unwrap();
        assert_eq!(back, text);
        assert!(
            enc.clone()
                .encrypt_b2b(text, &mut vec![0; len + 1])
                .is_err()
        );
        assert!(
            dec.clone()
                .decrypt_b2b(text, &mut vec![0; len + 1])
                .is_err()
        );
    }
}

/// The traits' test of a stream cipher, which takes 255 bytes at once.
fn same_stream<Theirs, Ours>(iv: &'static [u8])
where
    Theirs: StreamCipher + KeyIvInit,
    Ours: StreamCipher + KeyIvInit,
{
    let mut draw = Draw::new(6);
    let key = bytes(&mut draw, Theirs::key_size());
    for &len in LENGTHS {
        let plaintext = bytes(&mut draw, len);
        let mut ciphertext = plaintext.to_vec();
        let new = || Ours::new_from_slices(key, iv).unwrap();
        let mut theirs = Theirs::new_from_slices(key, iv).unwrap();
        theirs.apply_keystream(&mut ciphertext);
        let vector = cipher::dev::stream::TestVector {
            key,
            iv,
            plaintext,
            ciphertext: ciphertext.leak(),
        };
        cipher::dev::stream::stream_cipher_test::<Ours>(&vector).unwrap();

        let mut buf = plaintext.to_vec();
        new().apply_keystream(&mut buf);
        assert_eq!(buf, vector.ciphertext);
        let mut buf = vec![0xaa; len];
        new().apply_keystream_b2b(plaintext, &mut buf);
        assert_eq!(buf, vector.ciphertext);
        // The keystream itself, after some that was taken before.
        let mut buf = vec![0xaa; len];
        let mut cipher = new();
        let (first, rest) = buf.split_at_mut(len / 3);
        cipher.write_keystream(first);
        cipher.write_keystream(rest);
        let xored = buf.iter().zip(plaintext).map(|(a, b)| a ^ b);
        assert!(xored.eq(vector.ciphertext.iter().copied()));
    }
}

/// Counters that overflow in 32, 64 and 128 bits.
const IVS: [&[u8]; 4] = [
    &[9; 16],
    &[3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 0xff, 0xff, 0xff, 0xf0],
    &[
        3, 3, 3, 3, 3, 3, 3, 3, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xfe,
    ],
    &[0xff; 16],
];

macro_rules! streams {
    ($($name:ident: $aes:ident;)*) => {$(
        mod $name {
            use super::*;

            #[test]
            fn vectors() {
                for iv in IVS {
                    same_stream::<ctr::Ctr128BE<aes::$aes>, ours::ctr::Ctr128BE<ours::$aes>>(iv);
                    same_stream::<ctr::Ctr32BE<aes::$aes>, ours::ctr::Ctr32BE<ours::$aes>>(iv);
                    same_stream::<ofb::Ofb<aes::$aes>, ours::ofb::Ofb<ours::$aes>>(iv);
                }
            }

            cipher::stream_cipher_seek_test!(seek_128, ours::ctr::Ctr128BE<ours::$aes>);
            cipher::stream_cipher_seek_test!(seek_32, ours::ctr::Ctr32BE<ours::$aes>);

            type Core128 = ours::ctr::CtrCore<ours::$aes, ours::ctr::flavors::Ctr128BE>;
            type Core32 = ours::ctr::CtrCore<ours::$aes, ours::ctr::flavors::Ctr32BE>;
            cipher::iv_state_test!(state_128, Core128, apply_ks);
            cipher::iv_state_test!(state_32, Core32, apply_ks);
            cipher::iv_state_test!(state_ofb, ours::ofb::OfbCore<ours::$aes>, apply_ks);
        }
    )*};
}

streams! {
    stream_128: Aes128;
    stream_192: Aes192;
    stream_256: Aes256;
}

/// The last block of a counter is refused, as by the crate `ctr`.
#[test]
fn ctr_end() {
    fn end<C: StreamCipher + StreamCipherSeek + KeyIvInit>() -> Vec<Option<Vec<u8>>> {
        let mut results = Vec::new();
        for before in [48u64, 33, 32, 17, 16, 1] {
            for len in [1, 15, 16, 17, 32, 33] {
                let mut c = C::new_from_slices(&[7; 16], &[9; 16]).unwrap();
                c.seek((1u64 << 36) - 16 - before);
                let mut buf = vec![0; len];
                let done = c.try_apply_keystream(&mut buf).is_ok();
                results.push(done.then_some(buf));
            }
        }
        results
    }
    let ours = end::<ours::ctr::Ctr32BE<ours::Aes128>>();
    assert_eq!(ours, end::<ctr::Ctr32BE<aes::Aes128>>());
    assert!(ours.iter().any(Option::is_some) && ours.iter().any(Option::is_none));
    let core: ours::ctr::CtrCore<ours::Aes128, ours::ctr::flavors::Ctr32BE> =
        KeyIvInit::new(&[7; 16].into(), &[9; 16].into());
    assert_eq!(core.get_block_pos(), 0);
    assert_eq!(core.key().mode(), Mode::Ctr32);
}

/// The traits' tests of a MAC.
fn same_mac<Theirs, Ours>()
where
    Theirs: Mac + KeyInit,
    Ours: Mac + KeyInit + FixedOutputReset + Clone,
{
    use digest::dev::{MacTestVector, MacTruncSide, mac_test, reset_mac_test};
    let mut draw = Draw::new(7);
    let key = bytes(&mut draw, Theirs::key_size());
    for &len in LENGTHS {
        let input = bytes(&mut draw, len);
        let mut theirs = <Theirs as KeyInit>::new_from_slice(key).unwrap();
        theirs.update(input);
        let tag: &'static [u8] = theirs.finalize().into_bytes().to_vec().leak();
        for (side, tag) in [
            (MacTruncSide::None, tag),
            (MacTruncSide::Left, &tag[..5]),
            (MacTruncSide::Right, &tag[9..]),
        ] {
            let vector = MacTestVector { key, input, tag };
            mac_test::<Ours>(&vector, side).unwrap();
            reset_mac_test::<Ours>(&vector, side).unwrap();
        }
        // Parts of all lengths, empty ones among them.
        let new = || <Ours as KeyInit>::new_from_slice(key).unwrap();
        let mut mac = new();
        let mut rest = input;
        while !rest.is_empty() {
            let part = draw.next() as usize % (rest.len() + 1).min(600);
            Mac::update(&mut mac, &rest[..part]);
            rest = &rest[part..];
        }
        assert!(mac.clone().verify_slice(tag).is_ok());
        let mut wrong = tag.to_vec();
        wrong[draw.next() as usize % 16] ^= 1;
        assert!(mac.clone().verify_slice(&wrong).is_err());
        assert!(mac.clone().verify_slice(&tag[..15]).is_err());
        // A reset in the middle.
        let mut mac = new();
        Mac::update(&mut mac, &input[..len / 2]);
        Mac::reset(&mut mac);
        Mac::update(&mut mac, input);
        assert!(mac.verify_slice(tag).is_ok());
    }
}

#[test]
fn cmac_of_parts() {
    same_mac::<cmac::Cmac<aes::Aes128>, ours::Cmac<ours::Aes128>>();
    same_mac::<cmac::Cmac<aes::Aes192>, ours::Cmac<ours::Aes192>>();
    same_mac::<cmac::Cmac<aes::Aes256>, ours::Cmac<ours::Aes256>>();
}

/// A caller's code, written for the traits: only the type in the call changes.
#[test]
fn by_changing_a_type() {
    fn gcm<A: Aead + KeyInit>() -> Vec<u8> {
        let cipher = A::new_from_slice(&[7; 16]).unwrap();
        let nonce = Nonce::<A>::try_from(&[1; 12][..]).unwrap();
        let sealed = cipher.encrypt(&nonce, b"a message".as_ref()).unwrap();
        assert_eq!(cipher.decrypt(&nonce, &sealed[..]).unwrap(), b"a message");
        sealed
    }
    fn ctr<C: StreamCipher + StreamCipherSeek + KeyIvInit>() -> Vec<u8> {
        let mut cipher = C::new_from_slices(&[7; 32], &[1; 16]).unwrap();
        let mut text = b"a message".to_vec();
        cipher.seek(100u32);
        cipher.apply_keystream(&mut text);
        text
    }
    fn cbc<E: BlockModeEncrypt + KeyIvInit>() -> Vec<u8> {
        let cipher = E::new_from_slices(&[7; 24], &[1; 16]).unwrap();
        cipher.encrypt_padded_vec::<Pkcs7>(b"a message")
    }
    fn mac<M: Mac + KeyInit>() -> Vec<u8> {
        let mac = <M as KeyInit>::new_from_slice(&[7; 16]).unwrap();
        mac.chain_update(b"a message")
            .finalize()
            .into_bytes()
            .to_vec()
    }
    assert_eq!(gcm::<aes_gcm::Aes128Gcm>(), gcm::<ours::Aes128Gcm>());
    assert_eq!(
        ctr::<::ctr::Ctr128BE<aes::Aes256>>(),
        ctr::<ours::ctr::Ctr128BE<ours::Aes256>>()
    );
    assert_eq!(
        cbc::<::cbc::Encryptor<aes::Aes192>>(),
        cbc::<ours::cbc::Encryptor<ours::Aes192>>()
    );
    assert_eq!(
        mac::<::cmac::Cmac<aes::Aes128>>(),
        mac::<ours::Cmac<ours::Aes128>>()
    );
}

/// The same lines under the crates' names and under this module's.
macro_rules! lines {
    ($name:ident: $($path:tt)*) => {
        fn $name() -> Vec<u8> {
            use $($path)*::{Aes128Gcm, AeadInOut, Key, KeyInit, Nonce, aead::Aead};

            let key = Key::<Aes128Gcm>::from([7; 16]);
            let cipher = Aes128Gcm::new(&key);
            let nonce = Nonce::from([1; 12]);
            let mut buffer = cipher.encrypt(&nonce, b"a message".as_ref()).unwrap();
            cipher.decrypt_in_place(&nonce, b"", &mut buffer).unwrap();
            cipher.encrypt_in_place(&nonce, b"header", &mut buffer).unwrap();
            buffer
        }
    };
}
lines!(under_theirs: aes_gcm);
lines!(under_ours: aescomb::rustcrypto);

#[test]
fn by_changing_an_import() {
    assert_eq!(under_theirs(), under_ours());
}

/// Wiped, shared and shown without secrets.
#[test]
fn types() {
    fn is<T: Clone + Send + Sync + std::fmt::Debug + ZeroizeOnDrop>(value: T) {
        let shown = format!("{value:?} {:?}", value.clone());
        assert!(!shown.contains("77") && shown.contains(".."), "{shown}");
    }
    let (key, iv) = ([77; 16].into(), [77; 16].into());
    is(ours::Aes128::new(&key));
    is(ours::Aes128Gcm::new(&key));
    is(ours::Ccm::<ours::Aes128, U8, U13>::new(&key));
    is(ours::Ocb3::<ours::Aes128>::new(&key));
    is(ours::Eax::<ours::Aes128>::new(&key));
    is(ours::Aes128GcmSiv::new(&key));
    is(ours::Aes128SivAead::new(&[77; 32].into()));
    is(<ours::Cmac<ours::Aes128> as KeyInit>::new(&key));
    is(ours::cbc::Encryptor::<ours::Aes128>::new(&key, &iv));
    is(ours::cbc::Decryptor::<ours::Aes128>::new(&key, &iv));
    is(ours::cfb_mode::Encryptor::<ours::Aes128>::new(&key, &iv));
    is(ours::cfb_mode::Decryptor::<ours::Aes128>::new(&key, &iv));
    is(ours::ctr::Ctr128BE::<ours::Aes128>::new(&key, &iv));
    is(ours::ctr::Ctr32BE::<ours::Aes128>::new(&key, &iv));
    is(ours::ofb::Ofb::<ours::Aes128>::new(&key, &iv));
}
