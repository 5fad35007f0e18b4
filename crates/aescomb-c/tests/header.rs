//! The headers in `include/` are those that the sources make. With `AESCOMB_BLESS=1` in
//! the environment they are written.

use aescomb::{Kind, Lengths, Mode};
use aescomb_c::{CAESAR, Sizes};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;

fn check(name: &str, made: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("include")
        .join(name);
    if std::env::var_os("AESCOMB_BLESS").is_some() {
        std::fs::write(&path, made).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    }
    let there = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        there == made,
        "{} is not what the sources make; AESCOMB_BLESS=1 cargo test -p aescomb-c --test \
         header writes it",
        path.display()
    );
}

/// Rust's section on safety says what the header says as a whole.
fn without_safety(header: &str) -> String {
    let mut lines: Vec<&str> = Vec::new();
    let mut skipping = false;
    for line in header.lines() {
        let text = line.trim().trim_start_matches('*').trim();
        if text == "# Safety" {
            // And the empty line before it.
            lines.pop();
            skipping = true;
        }
        skipping &= line.trim() != "*/";
        if !skipping {
            lines.push(line);
        }
    }
    lines.join("\n") + "\n"
}

#[test]
fn aescomb_h() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let config = cbindgen::Config::from_file(root.join("cbindgen.toml")).expect("cbindgen.toml");
    let bindings = cbindgen::Builder::new()
        .with_config(config)
        .with_src(root.join("src/lib.rs"))
        .generate()
        .expect("a header");
    let mut header = Vec::new();
    bindings.write(&mut header);
    let header = String::from_utf8(header).expect("UTF-8");
    check("aescomb.h", &without_safety(&header));
}

#[test]
fn caesar_has_every_mode_that_tells_its_lengths() {
    let listed: BTreeSet<String> = CAESAR.iter().map(|c| c.name.to_string()).collect();
    let mut expected = BTreeSet::new();
    for mode in Mode::ALL {
        let info = mode.info();
        if info.kind == Kind::Aead && info.lengths != Lengths::Untold {
            for bytes in info.key_bytes {
                let bits = (bytes >> u32::from(info.two_keys)) * 8;
                expected.insert(format!("{}_{bits}", info.name.replace('-', "_")));
            }
        }
    }
    assert_eq!(listed, expected);
    for c in CAESAR {
        assert_eq!(
            c.name,
            format!("{}_{}", c.mode.name().replace('-', "_"), c.bits)
        );
    }
}

#[test]
fn aescomb_caesar_h() {
    let mut header = String::from(CAESAR_HEAD);
    for c in CAESAR {
        let Sizes {
            key, nonce, longer, ..
        } = Sizes::of(c.mode, c.bits);
        let name = c.name;
        writeln!(
            header,
            "\n#define AESCOMB_CAESAR_KEYBYTES_{name} {key}\n\
             #define AESCOMB_CAESAR_NPUBBYTES_{name} {nonce}\n\
             #define AESCOMB_CAESAR_ABYTES_{name} {longer}\n\
             AESCOMB_CAESAR_DECLARE({name})"
        )
        .expect("a string");
    }
    header += CAESAR_TAIL;
    check("aescomb_caesar.h", &header);
}

const CAESAR_HEAD: &str = r#"/* The interface of the CAESAR competition, as SUPERCOP has it, to the authenticated modes
 * of aescomb: one message a call, with the key expanded in it. For many messages at a time
 * there is aescomb.h.
 *
 * MODE is a mode with the bits of its key: gcm_128, siv_256, otr_192, ... (the list is
 * below). Each has the functions aescomb_caesar_MODE_encrypt and aescomb_caesar_MODE_decrypt,
 * and sizes in bytes. Tags have the greatest length that the mode has, nonces the usual
 * one.
 *
 * A harness that wants the names of the interface says which mode it means before it
 * includes this file:
 *
 *     #define AESCOMB_CAESAR_MODE gcm_128
 *     #include <aescomb_caesar.h>
 *
 * That defines CRYPTO_KEYBYTES, CRYPTO_NSECBYTES, CRYPTO_NPUBBYTES and CRYPTO_ABYTES. In one
 * file of the program, with
 *
 *     #define AESCOMB_CAESAR_DEFINE
 *
 * before it, too, it defines the functions crypto_aead_encrypt and crypto_aead_decrypt (or
 * what these names are defined as by then).
 *
 * encrypt writes the ciphertext, its tag at the end, to c, and its length to clen: c needs
 * room for mlen + CRYPTO_ABYTES bytes. decrypt writes the message to m and its length to
 * mlen: m needs room for clen bytes less the tag, of modes whose ciphertext can be longer
 * than the message (mcoe_g, copa, cobra, ...) only for the message. c and m may be the
 * same place; otherwise they must not overlap. nsec is not looked at. They return 0, or -1
 * for a wrong tag, for which what was written to m is wiped, and for what makes no sense
 * (NULL, lengths that the mode does not take).
 *
 * Any thread may call them at any time. "julius" is not here: its ciphertext does not tell
 * how long the message was, and the interface has no way to say it.
 *
 * Made from the list of modes in the sources in Rust. */

#ifndef AESCOMB_CAESAR_H
#define AESCOMB_CAESAR_H

#ifdef __cplusplus
extern "C" {
#endif

#define AESCOMB_CAESAR_DECLARE(MODE)                                                       \
    int aescomb_caesar_##MODE##_encrypt(                                                   \
        unsigned char *c, unsigned long long *clen, const unsigned char *m,                \
        unsigned long long mlen, const unsigned char *ad, unsigned long long adlen,        \
        const unsigned char *nsec, const unsigned char *npub, const unsigned char *k);     \
    int aescomb_caesar_##MODE##_decrypt(                                                   \
        unsigned char *m, unsigned long long *mlen, unsigned char *nsec,                   \
        const unsigned char *c, unsigned long long clen, const unsigned char *ad,          \
        unsigned long long adlen, const unsigned char *npub, const unsigned char *k);
"#;

const CAESAR_TAIL: &str = r#"
#ifdef AESCOMB_CAESAR_MODE
#define AESCOMB_CAESAR_PASTE_(a, mode, b) a##mode##b
#define AESCOMB_CAESAR_PASTE(a, mode, b) AESCOMB_CAESAR_PASTE_(a, mode, b)
#define CRYPTO_KEYBYTES AESCOMB_CAESAR_PASTE(AESCOMB_CAESAR_KEYBYTES_, AESCOMB_CAESAR_MODE, )
#define CRYPTO_NSECBYTES 0
#define CRYPTO_NPUBBYTES AESCOMB_CAESAR_PASTE(AESCOMB_CAESAR_NPUBBYTES_, AESCOMB_CAESAR_MODE, )
#define CRYPTO_ABYTES AESCOMB_CAESAR_PASTE(AESCOMB_CAESAR_ABYTES_, AESCOMB_CAESAR_MODE, )
#define CRYPTO_NOOVERLAP 1

#ifdef AESCOMB_CAESAR_DEFINE
int crypto_aead_encrypt(unsigned char *c, unsigned long long *clen, const unsigned char *m,
                        unsigned long long mlen, const unsigned char *ad,
                        unsigned long long adlen, const unsigned char *nsec,
                        const unsigned char *npub, const unsigned char *k);
int crypto_aead_encrypt(unsigned char *c, unsigned long long *clen, const unsigned char *m,
                        unsigned long long mlen, const unsigned char *ad,
                        unsigned long long adlen, const unsigned char *nsec,
                        const unsigned char *npub, const unsigned char *k) {
    return AESCOMB_CAESAR_PASTE(aescomb_caesar_, AESCOMB_CAESAR_MODE, _encrypt)(
        c, clen, m, mlen, ad, adlen, nsec, npub, k);
}

int crypto_aead_decrypt(unsigned char *m, unsigned long long *mlen, unsigned char *nsec,
                        const unsigned char *c, unsigned long long clen,
                        const unsigned char *ad, unsigned long long adlen,
                        const unsigned char *npub, const unsigned char *k);
int crypto_aead_decrypt(unsigned char *m, unsigned long long *mlen, unsigned char *nsec,
                        const unsigned char *c, unsigned long long clen,
                        const unsigned char *ad, unsigned long long adlen,
                        const unsigned char *npub, const unsigned char *k) {
    return AESCOMB_CAESAR_PASTE(aescomb_caesar_, AESCOMB_CAESAR_MODE, _decrypt)(
        m, mlen, nsec, c, clen, ad, adlen, npub, k);
}
#endif
#endif

#ifdef __cplusplus
}
#endif

#endif
"#;
