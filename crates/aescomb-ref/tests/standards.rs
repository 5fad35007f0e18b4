//! The examples that the standards print, but for those in `authenticated.rs`.

mod common;

use aescomb_ref::{Aes, decrypt, encrypt, mac};
use common::{KEYS, TEXT, hex};

/// FIPS 197, appendix B.
#[test]
fn fips_197_cipher_example() {
    let aes = Aes::new(&hex("2b7e151628aed2a6abf7158809cf4f3c")).unwrap();
    let plain: [u8; 16] = hex("3243f6a8885a308d313198a2e0370734").try_into().unwrap();
    let sealed: [u8; 16] = hex("3925841d02dc09fbdc118597196a0b32").try_into().unwrap();
    assert_eq!(aes.encrypt_block(&plain), sealed);
    assert_eq!(aes.decrypt_block(&sealed), plain);
}

/// FIPS 197 (2001), appendices C.1 to C.3.
#[test]
fn fips_197_example_vectors() {
    let plain: [u8; 16] = hex("00112233445566778899aabbccddeeff").try_into().unwrap();
    for (key_length, sealed) in [
        (16, "69c4e0d86a7b0430d8cdb78070b4c55a"),
        (24, "dda97ca4864cdfe06eaf70a0ec0d7191"),
        (32, "8ea2b7ca516745bfeafc49904b496089"),
    ] {
        let key: Vec<u8> = (0..key_length).collect();
        let aes = Aes::new(&key).unwrap();
        let sealed: [u8; 16] = hex(sealed).try_into().unwrap();
        assert_eq!(aes.encrypt_block(&plain), sealed);
        assert_eq!(aes.decrypt_block(&sealed), plain);
    }
}

/// One example of SP 800-38A, appendix F, at each key size, in both directions. A mode that takes
/// partial blocks must also give the same bytes for a text cut short.
fn check_mode(mode: &str, nonce: &str, sealed: [&str; 3], cut: bool) {
    let (text, nonce) = (hex(TEXT), hex(nonce));
    for (key, sealed) in KEYS.iter().zip(sealed) {
        let (key, sealed) = (hex(key), hex(sealed));
        let lengths = if cut { 0..=64 } else { 64..=64 };
        for length in lengths {
            let (text, sealed) = (&text[..length], &sealed[..length]);
            assert_eq!(encrypt(mode, &key, &nonce, text).unwrap(), sealed);
            assert_eq!(decrypt(mode, &key, &nonce, sealed).unwrap(), text);
        }
    }
}

/// The IV of F.2 to F.4.
const IV: &str = "000102030405060708090a0b0c0d0e0f";

/// SP 800-38A, F.1.
#[test]
fn sp_800_38a_ecb() {
    let sealed = [
        "3ad77bb40d7a3660a89ecaf32466ef97 f5d3d58503b9699de785895a96fdbaaf
         43b1cd7f598ece23881b00e3ed030688 7b0c785e27e8ad3f8223207104725dd4",
        "bd334f1d6e45f25ff712a214571fa5cc 974104846d0ad3ad7734ecb3ecee4eef
         ef7afd2270e2e60adce0ba2face6444e 9a4b41ba738d6c72fb16691603c18e0e",
        "f3eed1bdb5d2a03c064b5a7e3db181f8 591ccb10d410ed26dc5ba74a31362870
         b6ed21b99ca6f4f9f153e7b1beafed1d 23304b7a39f9f3ff067d8d8f9e24ecc7",
    ];
    check_mode("ecb", "", sealed, false);
}

/// SP 800-38A, F.2.
#[test]
fn sp_800_38a_cbc() {
    let sealed = [
        "7649abac8119b246cee98e9b12e9197d 5086cb9b507219ee95db113a917678b2
         73bed6b8e3c1743b7116e69e22229516 3ff1caa1681fac09120eca307586e1a7",
        "4f021db243bc633d7178183a9fa071e8 b4d9ada9ad7dedf4e5e738763f69145a
         571b242012fb7ae07fa9baac3df102e0 08b0e27988598881d920a9e64f5615cd",
        "f58c4c04d6e5f1ba779eabfb5f7bfbd6 9cfc4e967edb808d679f777bc6702c7d
         39f23369a9d9bacfa530e26304231461 b2eb05e2c39be9fcda6c19078c6a9d1b",
    ];
    check_mode("cbc", IV, sealed, false);
}

/// SP 800-38A, F.3.13 to F.3.18.
#[test]
fn sp_800_38a_cfb128() {
    let sealed = [
        "3b3fd92eb72dad20333449f8e83cfb4a c8a64537a0b3a93fcde3cdad9f1ce58b
         26751f67a3cbb140b1808cf187a4f4df c04b05357c5d1c0eeac4c66f9ff7f2e6",
        "cdc80d6fddf18cab34c25909c99a4174 67ce7f7f81173621961a2b70171d3d7a
         2e1e8a1dd59b88b1c8e60fed1efac4c9 c05f9f9ca9834fa042ae8fba584b09ff",
        "dc7e84bfda79164b7ecd8486985d3860 39ffed143b28b1c832113c6331e5407b
         df10132415e54b92a13ed0a8267ae2f9 75a385741ab9cef82031623d55b1e471",
    ];
    check_mode("cfb128", IV, sealed, true);
}

/// SP 800-38A, F.4.
#[test]
fn sp_800_38a_ofb() {
    let sealed = [
        "3b3fd92eb72dad20333449f8e83cfb4a 7789508d16918f03f53c52dac54ed825
         9740051e9c5fecf64344f7a82260edcc 304c6528f659c77866a510d9c1d6ae5e",
        "cdc80d6fddf18cab34c25909c99a4174 fcc28b8d4c63837c09e81700c1100401
         8d9a9aeac0f6596f559c6d4daf59a5f2 6d9f200857ca6c3e9cac524bd9acc92a",
        "dc7e84bfda79164b7ecd8486985d3860 4febdc6740d20b3ac88f6ad82a4fb08d
         71ab47a086e86eedf39d1c5bba97c408 0126141d67f37be8538f5a8be740e484",
    ];
    check_mode("ofb", IV, sealed, true);
}

/// SP 800-38A, F.5; its counter blocks carry within the last 32 bits only, so CTR32 agrees.
#[test]
fn sp_800_38a_ctr() {
    let first = "f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff";
    let sealed = [
        "874d6191b620e3261bef6864990db6ce 9806f66b7970fdff8617187bb9fffdff
         5ae4df3edbd5d35e5b4f09020db03eab 1e031dda2fbe03d1792170a0f3009cee",
        "1abc932417521ca24f2b0459fe7e6e0b 090339ec0aa6faefd5ccc2c6f4ce8e94
         1e36b26bd1ebc670d1bd1d665620abf7 4f78a7f6d29809585a97daec58c6b050",
        "601ec313775789a5b7a7f504bbf3d228 f443e3ca4d62b59aca84e990cacaf5c5
         2b0930daa23de94ce87017ba2d84988d dfc9c58db67aada613c2dd08457941a6",
    ];
    check_mode("ctr", first, sealed, true);
    check_mode("ctr32", first, sealed, true);
}

/// SP 800-38B, appendix D as first published (texts of 0, 16, 40 and 64 bytes) and as revised
/// (20 bytes instead of 40).
#[test]
fn sp_800_38b_cmac() {
    let text = hex(TEXT);
    let lengths = [0, 16, 20, 40, 64];
    let tags = [
        [
            "bb1d6929e95937287fa37d129b756746",
            "070a16b46b4d4144f79bdd9dd04a287c",
            "7d85449ea6ea19c823a7bf78837dfade",
            "dfa66747de9ae63030ca32611497c827",
            "51f0bebf7e3b9d92fc49741779363cfe",
        ],
        [
            "d17ddf46adaacde531cac483de7a9367",
            "9e99a7bf31e710900662f65e617c5184",
            "3d75c194ed96070444a9fa7ec740ecf8",
            "8a1de5be2eb31aad089a82e6ee908b0e",
            "a1d5df0eed790f794d77589659f39a11",
        ],
        [
            "028962f61b7bf89efc6b551f4667d983",
            "28a7023f452e8f82bd4bf28d8c37c35c",
            "156727dc0878944a023c1fe03bad6d93",
            "aaf3d8f1de5640c232f5b169b9c911e6",
            "e1992190549f6ed5696a2c056c315410",
        ],
    ];
    for (key, tags) in KEYS.iter().zip(tags) {
        for (length, tag) in lengths.into_iter().zip(tags) {
            let computed = mac("cmac", &hex(key), &[], &text[..length]).unwrap();
            assert_eq!(computed, hex(tag), "{length} bytes");
        }
    }
}

/// IEEE 1619, annex B: vectors 1 to 3, two blocks.
#[test]
fn ieee_1619_xts_two_blocks() {
    for (key, number, text, sealed) in [
        (
            [0x00, 0x00],
            0,
            0x00,
            "917cf69ebd68b2ec9b9fe9a3eadda692cd43d2f59598ed858c02c2652fbf922e",
        ),
        (
            [0x11, 0x22],
            0x33_3333_3333,
            0x44,
            "c454185e6a16936e39334038acef838bfb186fff7480adc4289382ecd6d394f0",
        ),
    ] {
        let key = [[key[0]; 16], [key[1]; 16]].concat();
        check_xts(&key, number, &[text; 32], &hex(sealed));
    }
    let key = hex("fffefdfcfbfaf9f8f7f6f5f4f3f2f1f022222222222222222222222222222222");
    let sealed = hex("af85336b597afc1a900b2eb21ec949d292df4c047e0b21532186a5971a227a89");
    check_xts(&key, 0x33_3333_3333, &[0x44; 32], &sealed);
}

/// IEEE 1619, annex B: vectors 4 and 10, 512 bytes under a key of either size.
#[test]
fn ieee_1619_xts_512_bytes() {
    let text: Vec<u8> = (0..=255).cycle().take(512).collect();
    let key = hex("2718281828459045235360287471352631415926535897932384626433832795");
    let sealed = hex(
        "27a7479befa1d476489f308cd4cfa6e2a96e4bbe3208ff25287dd3819616e89cc78cf7f5e543445f
         8333d8fa7f56000005279fa5d8b5e4ad40e736ddb4d35412328063fd2aab53e5ea1e0a9f332500a5
         df9487d07a5c92cc512c8866c7e860ce93fdf166a24912b422976146ae20ce846bb7dc9ba94a767a
         aef20c0d61ad02655ea92dc4c4e41a8952c651d33174be51a10c421110e6d81588ede82103a252d8
         a750e8768defffed9122810aaeb99f9172af82b604dc4b8e51bcb08235a6f4341332e4ca60482a4b
         a1a03b3e65008fc5da76b70bf1690db4eae29c5f1badd03c5ccf2a55d705ddcd86d449511ceb7ec3
         0bf12b1fa35b913f9f747a8afd1b130e94bff94effd01a91735ca1726acd0b197c4e5b03393697e1
         26826fb6bbde8ecc1e08298516e2c9ed03ff3c1b7860f6de76d4cecd94c8119855ef5297ca67e9f3
         e7ff72b1e99785ca0a7e7720c5b36dc6d72cac9574c8cbbc2f801e23e56fd344b07f22154beba0f0
         8ce8891e643ed995c94d9a69c9f1b5f499027a78572aeebd74d20cc39881c213ee770b1010e4bea7
         18846977ae119f7a023ab58cca0ad752afe656bb3c17256a9f6e9bf19fdd5a38fc82bbe872c5539e
         db609ef4f79c203ebb140f2e583cb2ad15b4aa5b655016a8449277dbd477ef2c8d6c017db738b18d
         eb4a427d1923ce3ff262735779a418f20a282df920147beabe421ee5319d0568",
    );
    check_xts(&key, 0, &text, &sealed);
    let key = hex(
        "2718281828459045235360287471352662497757247093699959574966967627
         3141592653589793238462643383279502884197169399375105820974944592",
    );
    let sealed = hex(
        "1c3b3a102f770386e4836c99e370cf9bea00803f5e482357a4ae12d414a3e63b5d31e276f8fe4a8d
         66b317f9ac683f44680a86ac35adfc3345befecb4bb188fd5776926c49a3095eb108fd1098baec70
         aaa66999a72a82f27d848b21d4a741b0c5cd4d5fff9dac89aeba122961d03a757123e9870f8acf10
         00020887891429ca2a3e7a7d7df7b10355165c8b9a6d0a7de8b062c4500dc4cd120c0f7418dae3d0
         b5781c34803fa75421c790dfe1de1834f280d7667b327f6c8cd7557e12ac3a0f93ec05c52e0493ef
         31a12d3d9260f79a289d6a379bc70c50841473d1a8cc81ec583e9645e07b8d9670655ba5bbcfecc6
         dc3966380ad8fecb17b6ba02469a020a84e18e8f84252070c13e9f1f289be54fbc481457778f6160
         15e1327a02b140f1505eb309326d68378f8374595c849d84f4c333ec4423885143cb47bd71c5edae
         9be69a2ffeceb1bec9de244fbe15992b11b77c040f12bd8f6a975a44a0f90c29a9abc3d4d8939272
         84c58754cce294529f8614dcd2aba991925fedc4ae74ffac6e333b93eb4aff0479da9a410e4450e0
         dd7ae4c6e2910900575da401fc07059f645e8b7e9bfdef33943054ff84011493c27b3429eaedb4ed
         5376441a77ed43851ad77f16f541dfd269d50d6a5f14fb0aab1cbb4c1550be97f7ab4066193c4caa
         773dad38014bd2092fa755c824bb5e54c4f36ffda9fcea70b9c6e693e148c151",
    );
    check_xts(&key, 0xff, &text, &sealed);
}

/// IEEE 1619, annex B: vectors 15 to 18, the last block incomplete.
#[test]
fn ieee_1619_xts_ciphertext_stealing() {
    let key = hex("fffefdfcfbfaf9f8f7f6f5f4f3f2f1f0bfbebdbcbbbab9b8b7b6b5b4b3b2b1b0");
    for sealed in [
        "6c1625db4671522d3d7599601de7ca09ed",
        "d069444b7a7e0cab09e24447d24deb1fedbf",
        "e5df1351c0544ba1350b3363cd8ef4beedbf9d",
        "9d84c813f719aa2c7be3f66171c7c5c2edbf9dac",
    ] {
        let sealed = hex(sealed);
        let text: Vec<u8> = (0..sealed.len() as u8).collect();
        check_xts(&key, 0x12_3456_789a, &text, &sealed);
    }
}

/// One data unit of the given number, in both directions.
fn check_xts(key: &[u8], number: u128, text: &[u8], sealed: &[u8]) {
    let tweak = number.to_le_bytes();
    assert_eq!(encrypt("xts", key, &tweak, text).unwrap(), sealed);
    assert_eq!(decrypt("xts", key, &tweak, sealed).unwrap(), text);
}
