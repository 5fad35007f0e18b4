//! Runs the binary as users do.

use aescomb::{Backend, Info, Kind, Lengths, Mode};
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// What a run of the binary left.
struct Ran {
    code: i32,
    stdout: Vec<u8>,
    stderr: String,
}

impl Ran {
    fn text(&self) -> &str {
        std::str::from_utf8(&self.stdout).unwrap()
    }
}

fn command(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_aescomb"));
    command.args(args);
    command
}

fn feed(mut command: Command, stdin: &[u8]) -> Ran {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut pipe = child.stdin.take().unwrap();
    let stdin = stdin.to_vec();
    let writer = std::thread::spawn(move || {
        // A run that ends in misuse does not read it.
        let _ = pipe.write_all(&stdin);
    });
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    Ran {
        code: output.status.code().unwrap(),
        stdout: output.stdout,
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

fn run(args: &[&str]) -> Ran {
    feed(command(args), &[])
}

/// Arguments in one line.
fn line(line: &str) -> Ran {
    run(&line.split_whitespace().collect::<Vec<_>>())
}

fn vectors(file: &str) -> String {
    format!("{}/../../vectors/nist/{file}", env!("CARGO_MANIFEST_DIR"))
}

fn temporary(name: &str, contents: impl AsRef<[u8]>) -> String {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, contents).unwrap();
    path.to_str().unwrap().to_owned()
}

/// A mode that does not say how long the message is that it opens, for `--length`.
fn is_untold(info: &Info) -> bool {
    info.lengths == Lengths::Untold
}

const KEY: &str = "2b7e151628aed2a6abf7158809cf4f3c";
const NONCE: &str = "000102030405060708090a0b0c0d0e0f";

mod plan {
    use super::*;

    #[test]
    fn figure_1() {
        let ran = line("plan --lengths 94,5,5,5,85,94,94 -P 7");
        assert_eq!(ran.code, 0);
        assert!(
            ran.text()
                .contains("group 1 of 1: windows (7, 5) (4, 80) (3, 9)\n")
        );
        let full = ran
            .text()
            .lines()
            .find(|line| line.contains("1-5 "))
            .unwrap();
        assert_eq!(full.matches('#').count(), 7);
        assert!(full.ends_with("(7, 5)"));
        // The braces of the drawing, one for each window.
        for window in ["(7, 5)", "(4, 80)", "(3, 9)"] {
            assert_eq!(ran.text().matches(window).count(), 2, "{window}");
        }
    }

    #[test]
    fn lengths_in_bytes() {
        let ran = line("plan --bytes --lengths 17,0,16 --parallel 2");
        assert!(ran.text().contains("group 1 of 2: windows (2, 1) (1, 1)\n"));
        assert!(ran.text().contains("group 2 of 2: windows none\n"));
    }

    #[test]
    fn stays_readable() {
        let lengths: Vec<String> = (0..2000_u64).map(|i| (i * i * i + 1).to_string()).collect();
        let ran = run(&["plan", "-P", "32", "--lengths", &lengths.join(",")]);
        assert_eq!(ran.code, 0);
        assert!(ran.text().contains("group 63 of 63: windows "));
        assert!(ran.text().lines().count() < 1000);
    }
}

#[path = "../../aescomb-vectors/tests/made/mod.rs"]
mod made;

mod kat {
    use super::*;

    fn last(ran: &Ran) -> &str {
        ran.text().lines().last().unwrap()
    }

    #[test]
    fn published_vectors_pass() {
        let files = [
            "ECB/ECBMMT128.rsp",
            "CBC/CBCMMT192.rsp",
            "CBC/CBCMMT256.rsp",
            "CFB128/CFB128MMT256.rsp",
            "OFB/OFBMMT128.rsp",
            "CTR/aes-128-ctr.txt",
            "CMAC/nist-800-38b-aes192.txt",
        ]
        .map(vectors);
        let mut args = vec!["kat", "--backend", "portable"];
        args.extend(files.iter().map(String::as_str));
        let ran = run(&args);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        // Two directions, alone and in the file's batch; CBC in a common batch too.
        let expected = 4 * (4 * 20 + 20 + 3 + 4) + 2 * 40;
        assert_eq!(last(&ran), format!("{expected} passed, 0 failed"));
        assert!(
            ran.text()
                .contains("all cbc files: cbc, 40 vectors: 80 passed, 0 failed\n")
        );

        let all = run(&["kat", &files[0]]);
        assert_eq!(all.code, 0, "{}", all.stderr);
        assert!(last(&all).ends_with(" passed, 0 failed"));
    }

    #[test]
    fn a_changed_byte_fails() {
        for (file, field) in [
            ("CFB128/CFB128MMT128.rsp", "CIPHERTEXT = "),
            ("CMAC/nist-800-38b-aes128.txt", "OUTPUT = "),
        ] {
            let text = std::fs::read_to_string(vectors(file)).unwrap();
            let at = text.find(field).unwrap() + field.len();
            let digit = if &text[at..at + 1] == "0" { "1" } else { "0" };
            let wrong = format!("{}{digit}{}", &text[..at], &text[at + 1..]);
            let path = temporary(&format!("changed/{file}"), wrong);
            let ran = run(&["kat", &path, "--backend", "portable", "--seed", "77"]);
            assert_eq!(ran.code, 1);
            assert!(last(&ran).ends_with(" passed, 4 failed"), "{}", ran.text());
            assert!(ran.stderr.contains(&path) && ran.stderr.contains("shuffle seed 77"));
            assert!(ran.stderr.contains("backend portable"));
        }
    }

    /// Sealed, opened, and refused with a bit changed.
    #[test]
    fn authenticated_modes() {
        for (file, vectors_in_it, refused) in [
            ("CCM/VADT128.rsp", 330, 0),
            ("CCM/VTT256.rsp", 70, 0),
            ("GCM/gcmDecrypt192.rsp", 1575, 758),
            ("GCM-SIV/openssl.txt", 46, 0),
            ("OCB/rfc7253.txt", 16, 0),
            ("SIV/openssl.txt", 4, 0),
        ] {
            let ran = run(&["kat", &vectors(file), "--backend", "portable"]);
            assert_eq!(ran.code, 0, "{file}: {}", ran.stderr);
            // Two directions, alone and in a batch; what has to be refused can only
            // be opened.
            let passed = 4 * vectors_in_it - 2 * refused;
            assert_eq!(last(&ran), format!("{passed} passed, 0 failed"), "{file}");
        }
    }

    #[test]
    fn a_wrong_refusal_fails() {
        // A good message said to be refused, and a refused one said to be good.
        let good = "Count = 0\nKey = cf063a34d4a9a76c2c86787d3f96db71\nIV = 113b9785971864c83b01c787\nCT =\n\
            AAD =\nTag = 72ac8493e3a5228b5d130a69d2510e42\n";
        for (end, counts, says) in [
            ("PT =\n", "4 passed, 0 failed", ""),
            ("FAIL\n", "0 passed, 2 failed", "a wrong tag is accepted"),
        ] {
            let path = temporary("refusal/GCM.rsp", good.to_owned() + end);
            let ran = run(&["kat", &path, "--backend", "portable"]);
            assert_eq!(last(&ran), counts);
            assert!(ran.stderr.contains(says), "{}", ran.stderr);
        }
        let wrong = good.replace("0e42", "0e43") + "PT =\n";
        let ran = run(&[
            "kat",
            &temporary("refusal/GCM.rsp", wrong),
            "--backend",
            "portable",
        ]);
        assert_eq!((ran.code, last(&ran)), (1, "0 passed, 4 failed"));
        assert!(ran.stderr.contains("the right tag is refused"));
    }

    #[test]
    fn messages_that_are_not_whole_bytes() {
        let ran = run(&[
            "kat",
            &vectors("XTS/XTSGenAES256.rsp"),
            "--backend",
            "portable",
        ]);
        assert_eq!((ran.code, last(&ran)), (0, "2400 passed, 0 failed"));
        assert!(
            ran.text()
                .contains("400 vectors left out: their messages are not whole bytes\n")
        );
    }

    #[test]
    fn json() {
        let good = r#"{"mode": "aes-128-cmac", "key_bits": 128, "nonce_bytes": 0, "tag_bytes": 16, "tests": [
            {"id": 1, "key": "2b7e151628aed2a6abf7158809cf4f3c", "nonce": "", "ad": "", "msg": "", "ct": "",
             "tag": "bb1d6929e95937287fa37d129b756746"}]}"#;
        let path = temporary("good.json", good);
        assert_eq!(run(&["kat", &path]).code, 0);
        let path = temporary("wrong.json", good.replace("bb1d", "bb1e"));
        let ran = run(&["kat", &path, "--backend", "portable"]);
        assert_eq!((ran.code, last(&ran)), (1, "0 passed, 4 failed"));
        // Several components of associated data: RFC 5297, A.2.
        let siv = r#"{"mode": "siv", "key_bits": 128, "nonce_bytes": 0, "tag_bytes": 16, "tests": [
            {"id": "A.2", "key": "7f7e7d7c7b7a79787776757473727170404142434445464748494a4b4c4d4e4f",
             "ad": ["00112233445566778899aabbccddeeffdeaddadadeaddadaffeeddccbbaa99887766554433221100",
                    "102030405060708090a0", "09f911029d74e35bd84156c5635688c0"],
             "msg": "7468697320697320736f6d6520706c61696e7465787420746f20656e6372797074207573696e67205349562d414553",
             "ct": "cb900f2fddbe404326601965c889bf17dba77ceb094fa663b7a3f748ba8af829ea64ad544a272e9c485b62a3fd5c0d",
             "tag": "7bdb6e3b432667eb06f4d14bff2fbd0f"}]}"#;
        let path = temporary("siv.json", siv);
        let ran = run(&["kat", &path, "--backend", "portable"]);
        assert_eq!(
            (ran.code, last(&ran)),
            (0, "4 passed, 0 failed"),
            "{}",
            ran.stderr
        );
    }

    /// All files of every mode that has research said of it.
    #[test]
    fn modes_for_research() {
        let folder = PathBuf::from(vectors("../research"));
        let files_of = |name: &str| -> Vec<String> {
            let files = std::fs::read_dir(folder.join(name)).unwrap();
            let path = |file: std::io::Result<std::fs::DirEntry>| file.unwrap().path();
            files
                .map(|file| path(file).to_str().unwrap().to_owned())
                .filter(|path| path.ends_with(".json"))
                .collect()
        };
        let research = |mode: &&Mode| mode.info().research.is_some();
        assert!(Mode::ALL.iter().any(|mode| research(&mode)));
        for mode in Mode::ALL.iter().filter(research) {
            let files = files_of(mode.name());
            let mut args = vec!["kat"];
            args.extend(files.iter().map(String::as_str));
            let ran = run(&args);
            assert_eq!(ran.code, 0, "{mode}: {}", ran.stderr);
            assert!(last(&ran).ends_with(" passed, 0 failed"));
            let lines = ran.text().lines();
            let vectors: usize = lines
                .filter(|line| files.iter().any(|file| line.starts_with(&**file)))
                .map(|line| {
                    let words = line.split_once(&format!(": {mode}, ")).unwrap().1;
                    words.split(' ').next().unwrap().parse::<usize>().unwrap()
                })
                .sum();
            assert!(vectors >= 79 * files.len(), "{mode}: {vectors}");
        }
    }

    /// What was made of a mode is not the mode.
    #[test]
    fn variants_are_left_out() {
        let path = vectors("../research/julius-as-coded/julius-as-coded.json");
        let ran = run(&["kat", &path]);
        // With nothing else to run, that is no success.
        assert_eq!((ran.code, last(&ran)), (2, "0 passed, 0 failed"));
        assert!(ran.stderr.contains("nothing was run"), "{}", ran.stderr);
        assert!(
            ran.text().starts_with(&format!(
                "{path}: left out: its answers are of aes-128-julius (as coded), \
                v1 (as the reference code multiplies); not of julius\n"
            )),
            "{}",
            ran.text()
        );
        let ran = run(&["kat", &path, &vectors("CTR/aes-128-ctr.txt")]);
        assert_eq!(ran.code, 0);
    }

    /// Files in the forms of NIST's programs: CCM's five kinds, CMAC and GCM both ways, XTS,
    /// Monte Carlo tests, and ACVP's JSON for every mode that it has.
    #[test]
    fn forms_of_nist() {
        let files = made::files();
        let paths: Vec<String> = files
            .iter()
            .map(|made| {
                let name = format!("made/{}", made.name);
                if let Some(expected) = &made.expected {
                    temporary(&name.replace("prompt", "expectedResults"), expected);
                }
                temporary(&name, &made.text)
            })
            .collect();
        let mut args = vec!["kat"];
        args.extend(paths.iter().map(String::as_str));
        let ran = run(&args);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        assert!(last(&ran).ends_with(" passed, 0 failed"));
        let backends = Backend::available().count();
        for (made, path) in files.iter().zip(&paths) {
            // Two directions, alone and in a batch; what has to be refused can only be opened,
            // and a chain has one direction.
            let passed = backends * (4 * made.vectors - 2 * made.refused - 2 * made.chains);
            let mut says = format!(
                "{path}: {}, {} vectors: {passed} passed, 0 failed\n",
                made.mode, made.vectors
            );
            if made.left_out > 0 {
                says += &format!("{path}: ");
            }
            assert!(ran.text().contains(&says), "{says} not in\n{}", ran.text());
        }
    }

    #[test]
    fn broken_chains_fail() {
        let files = made::files();
        let made = files.iter().find(|made| made.name == "CBCMCT192.rsp");
        let text = &made.unwrap().text;
        // A digit of the second result; one of the second key; the second result left out.
        let nth = |field: &str| text.match_indices(field).nth(1).unwrap().0 + field.len();
        let changed = |at: usize| {
            let digit = if &text[at..at + 1] == "0" { "1" } else { "0" };
            format!("{}{digit}{}", &text[..at], &text[at + 1..])
        };
        let second = text.match_indices("COUNT = ").nth(1).unwrap().0;
        let third = text.match_indices("COUNT = ").nth(2).unwrap().0;
        let without = text[..second].to_owned() + &text[third..];
        for (text, failed, says) in [
            // Its own result, and the IV of the one that follows.
            (changed(nth("CIPHERTEXT = ")), 2, "from byte 0 on expected"),
            (
                changed(nth("KEY = ")),
                4,
                "the key that it ends with, from byte 0 on",
            ),
            (without, 2, "the key that it ends with"),
        ] {
            let path = temporary("chains/CBCMCT192.rsp", text);
            let ran = run(&["kat", &path, "--backend", "portable"]);
            assert_eq!(ran.code, 1);
            assert!(
                last(&ran).ends_with(&format!(" passed, {failed} failed")),
                "{says}: {}\n{}",
                ran.text(),
                ran.stderr
            );
            assert!(ran.stderr.contains(says), "{}", ran.stderr);
            assert!(ran.stderr.contains("a chain alone"), "{}", ran.stderr);
        }
    }

    /// Tests that the library has nothing for are counted, with the reason; a file of nothing
    /// else cannot be used.
    #[test]
    fn what_is_left_out() {
        const HEAD: &str = r#"{"vsId": 1, "algorithm": "CMAC-AES", "testGroups": [{"tgId": 1,
            "testType": "AFT", "direction": "gen", "keyLen": 128, "tests": ["#;
        let test = |id: usize, tag: &str| {
            format!(
                r#"{{"tcId": {id}, "key": "2b7e151628aed2a6abf7158809cf4f3c", "message": "", "mac": "{tag}"}}"#
            )
        };
        let (good, short) = (test(1, "bb1d6929"), test(2, "bb1d"));
        let says = "1 vectors left out: tag of 2 bytes; cmac has 4-16";
        let path = temporary("left/acvp.json", format!("{HEAD}{good}, {short}]}}]}}"));
        let ran = run(&["kat", &path, "--backend", "portable"]);
        assert_eq!((ran.code, last(&ran)), (0, "4 passed, 0 failed"));
        assert!(
            ran.text().contains(&format!("{path}: {says}\n")),
            "{}",
            ran.text()
        );
        let path = temporary("left/acvp.json", format!("{HEAD}{short}]}}]}}"));
        let ran = run(&["kat", &path, "--backend", "portable"]);
        assert_eq!((ran.code, last(&ran)), (2, "0 passed, 0 failed"));
        let says = format!(
            "{path}: nothing in it can be run: 1 tests left out: tag of 2 bytes; cmac has 4-16"
        );
        assert!(ran.stderr.contains(&says), "{}", ran.stderr);
    }

    /// RFC 8452 and others are in Wycheproof's JSON; padding is refused when decrypted.
    #[test]
    fn wycheproof() {
        let block = "00".repeat(16);
        let ct = hex::encode(aescomb_ref::encrypt("cbc", &[7; 16], &[0; 16], &[0x11; 16]).unwrap());
        let good =
            hex::encode(aescomb_ref::encrypt("cbc-pkcs7", &[7; 16], &[0; 16], b"abc").unwrap());
        let key = "07".repeat(16);
        let text = format!(
            r#"{{"algorithm": "AES-CBC-PKCS5", "numberOfTests": 3, "testGroups": [
            {{"type": "IndCpaTest", "keySize": 128, "ivSize": 128, "tests": [
            {{"tcId": 1, "key": "{key}", "iv": "{block}", "msg": "616263", "ct": "{good}", "result": "valid"}},
            {{"tcId": 2, "key": "{key}", "iv": "{block}", "msg": "", "ct": "{ct}", "result": "invalid"}},
            {{"tcId": 3, "key": "{key}", "iv": "{block}", "msg": "", "ct": "", "result": "invalid"}}]}}]}}"#
        );
        let path = temporary("wycheproof.json", &text);
        let ran = run(&["kat", &path, "--backend", "portable"]);
        assert_eq!(
            (ran.code, last(&ran)),
            (0, "6 passed, 0 failed"),
            "{}",
            ran.stderr
        );
        assert!(
            ran.text()
                .contains("1 vectors left out: ciphertext of 0 bytes")
        );
        let wrong = text.replace(r#""616263""#, r#""""#);
        let wrong = wrong.replace(r#""valid""#, r#""invalid""#);
        let ran = run(&[
            "kat",
            &temporary("wycheproof.json", wrong),
            "--backend",
            "portable",
        ]);
        assert_eq!(
            (ran.code, last(&ran)),
            (1, "2 passed, 2 failed"),
            "{}",
            ran.stderr
        );
    }

    #[test]
    fn files_that_cannot_be_used() {
        let good = vectors("CBC/CBCMMT128.rsp");
        let text = std::fs::read_to_string(&good).unwrap();
        let json = r#"{"mode": "aes-128-kw", "key_bits": 128, "tests": []}"#;
        for (name, contents, says) in [
            (
                "cut/CBC.rsp",
                text[..text.len() - 3].to_owned(),
                "damaged: ",
            ),
            (
                "odd/CBC.rsp",
                text.replacen("IV = ", "IV = 0", 1),
                "damaged: line ",
            ),
            ("lacks/CBC.rsp", text.replacen("IV = ", "# ", 1), "no IV"),
            (
                "word/CBC.rsp",
                text.replacen("IV = ", "IW = ", 1),
                "unknown field IW",
            ),
            ("empty.rsp", String::new(), "unknown format: "),
            (
                "cfb8.rsp",
                text.replace("for CBC", "for CFB8"),
                "mode not supported: cfb8",
            ),
            ("kw.json", json.to_owned(), "mode not supported: aes-128-kw"),
            ("cut.json", json[..40].to_owned(), "damaged: "),
        ] {
            let path = temporary(&format!("unusable/{name}"), contents);
            let ran = run(&["kat", &path, &good, "--backend", "portable"]);
            assert_eq!(ran.code, 2, "{name}");
            assert!(ran.stderr.contains(&path), "{}", ran.stderr);
            assert!(ran.stderr.contains(says), "{}", ran.stderr);
            // The others are run all the same.
            assert_eq!(last(&ran), "80 passed, 0 failed");
        }
        let ran = run(&["kat", "/no/such/file"]);
        assert_eq!((ran.code, last(&ran)), (2, "0 passed, 0 failed"));
        assert!(ran.stderr.contains("/no/such/file: cannot be read"));
    }
}

mod crypt {
    use super::*;

    /// SP 800-38A, F.2.1, first block.
    const BLOCK: &str = "6bc1bee22e409f96e93d7e117393172a";

    fn message(args: &str, stdin: &[u8]) -> Ran {
        feed(command(&args.split_whitespace().collect::<Vec<_>>()), stdin)
    }

    #[test]
    fn known_answers() {
        let block = hex::decode(BLOCK).unwrap();
        let ran = message(
            &format!("encrypt --mode cbc --key {KEY} --nonce {NONCE}"),
            &block,
        );
        assert_eq!(hex::encode(&ran.stdout), "7649abac8119b246cee98e9b12e9197d");
        // SP 800-38B, D.1, example 2.
        let tag = "070a16b46b4d4144f79bdd9dd04a287c";
        let ran = message(&format!("mac --mode aes-128-cmac --key {KEY}"), &block);
        assert_eq!(ran.text(), format!("{tag}\n"));
        let ran = message(
            &format!("mac --mode cmac --key {KEY} --raw --tag-bytes 5"),
            &block,
        );
        assert_eq!(hex::encode(&ran.stdout), tag[..10]);
        for (verify, code) in [
            (tag, 0),
            (&tag[..8], 0),
            ("00000000", 1),
            ("070a", 2),
            ("x", 2),
        ] {
            let ran = message(
                &format!("mac --mode cmac --key {KEY} --verify {verify}"),
                &block,
            );
            assert_eq!(
                (ran.code, ran.text()),
                (code, ""),
                "{verify}: {}",
                ran.stderr
            );
        }
    }

    #[test]
    fn there_and_back() {
        let data: Vec<u8> = (0..100_000_u32).map(|i| (i * 31 / 8) as u8).collect();
        // Two different keys, of so many times 128 bits each.
        let two_keys_of = |n| KEY.repeat(n) + &NONCE.repeat(n);
        for (mode, nonce) in [
            ("ecb-pkcs7", ""),
            ("cbc-pkcs7", NONCE),
            ("cfb128", NONCE),
            ("ofb", NONCE),
            ("ctr", NONCE),
            ("ctr32", NONCE),
            ("xts", NONCE),
        ] {
            let two_keys = mode == "xts";
            let keys = match two_keys {
                true => vec![two_keys_of(1), two_keys_of(2)],
                false => vec![KEY.to_owned(), KEY[..16].repeat(3), KEY.repeat(2)],
            };
            for key in keys {
                for len in [0, 1, 16, 99_999] {
                    if len < 16 && two_keys {
                        continue;
                    }
                    let args = format!("--mode {mode} --key {key} --nonce={nonce}");
                    let there = message(&format!("encrypt {args}"), &data[..len]);
                    assert_eq!(there.code, 0, "{}", there.stderr);
                    let back = message(&format!("decrypt {args}"), &there.stdout);
                    assert!(back.code == 0 && back.stdout == data[..len], "{mode} {len}");
                    assert!(len == 0 || there.stdout != data[..len]);
                }
            }
        }
    }

    #[test]
    fn keys_from_elsewhere() {
        let args = ["mac", "--mode", "cmac"];
        let expected = message(&format!("mac --mode cmac --key {KEY}"), b"x").stdout;
        let path = temporary("key", format!("  {}\n", KEY.to_uppercase()));
        let mut from_file = command(&args);
        from_file.args(["--key-file", &path]);
        assert_eq!(feed(from_file, b"x").stdout, expected);
        let mut from_environment = command(&args);
        from_environment
            .args(["--key-env", "AESCOMB_KEY"])
            .env("AESCOMB_KEY", KEY);
        assert_eq!(feed(from_environment, b"x").stdout, expected);
    }

    #[test]
    fn misuse() {
        for (args, says) in [
            (format!("encrypt --mode cbc --nonce {NONCE}"), "--key-file"),
            (
                format!("encrypt --mode cbc --key {KEY} --key-env X --nonce {NONCE}"),
                "cannot be used",
            ),
            (
                format!("encrypt --mode cbc --key {KEY}00 --nonce {NONCE}"),
                "key of 17 bytes",
            ),
            (
                format!("encrypt --mode aes-256-cbc --key {KEY} --nonce {NONCE}"),
                "key of 128 bits",
            ),
            (
                format!("encrypt --mode cbc --key {KEY}"),
                "needs a --nonce of 16 bytes",
            ),
            (
                format!("encrypt --mode ecb --key {KEY} --nonce {NONCE}"),
                "takes no nonce",
            ),
            (
                format!("encrypt --mode ctr --key {KEY} --nonce 0x"),
                "--nonce is not hexadecimal",
            ),
            (
                format!("encrypt --mode cbc --key {KEY} --nonce {NONCE}"),
                "text of 5 bytes",
            ),
            (format!("encrypt --mode cmac --key {KEY}"), "`aescomb mac`"),
            (format!("decrypt --mode gcm --key {KEY}"), "`aescomb seal`"),
            (format!("open --mode ctr --key {KEY}"), "`aescomb encrypt`"),
            (
                format!("encrypt --mode xts --key {KEY} --nonce {NONCE}"),
                "key of 16 bytes; allowed: 32 or 64",
            ),
            (
                format!("encrypt --mode xts --key {KEY}{NONCE} --nonce {NONCE}"),
                "text of 5 bytes; allowed: at least 16",
            ),
            (
                format!("seal --mode aes-256-siv --key {KEY}{KEY}"),
                "key of 256 bits; aes-256-siv takes 512",
            ),
            (
                format!("seal --mode ccm --key {KEY} --nonce {NONCE}"),
                "ccm needs a --nonce of 7-13 bytes",
            ),
            (
                format!("seal --mode gcm --key {KEY}"),
                "gcm needs a --nonce of 1 or more bytes",
            ),
            (
                format!("mac --mode gmac --key {KEY}"),
                "gmac needs a --nonce",
            ),
            (
                format!("seal --mode gcm --key {KEY} --nonce 00 --tag-bytes 5"),
                "gcm has tags of 4,8,12-16 bytes; given: 5",
            ),
            (
                format!("seal --mode gcm --key {KEY} --nonce 00 --data 0"),
                "--data is not hexadecimal",
            ),
            (
                format!("seal --mode gcm --key {KEY} --nonce 00 --data 00 --data 01"),
                "associated data of 2 components; allowed: at most 1",
            ),
            (
                format!("seal --mode gcm --key {KEY} --nonce 00 --data 00 --data-file x"),
                "cannot be used",
            ),
            (
                format!("open --mode gcm --key {KEY} --nonce 00 --data-file /no/such/file"),
                "/no/such/file",
            ),
            (
                format!("encrypt --mode nil --key {KEY}"),
                "unknown mode; known: ecb,",
            ),
            (format!("mac --mode ctr --key {KEY}"), "`aescomb encrypt`"),
            (
                format!("mac --mode cmac --key {KEY} --tag-bytes 17"),
                "tags of 4-16 bytes",
            ),
            (
                "mac --mode cmac --key-env AESCOMB_UNSET".into(),
                "AESCOMB_UNSET is not set",
            ),
            (
                "mac --mode cmac --key-file /no/such/file".into(),
                "/no/such/file",
            ),
        ] {
            let ran = message(&args, b"short");
            assert_eq!((ran.code, &ran.stdout[..]), (2, &[][..]), "{args}");
            assert!(ran.stderr.contains(says), "{args}: {}", ran.stderr);
        }
        // No error shows a key.
        let ran = message(&format!("mac --mode cmac --key {}x", &KEY[1..]), b"");
        assert_eq!(ran.code, 2);
        assert!(!ran.stderr.contains(&KEY[1..]), "{}", ran.stderr);
    }

    /// Test case 4 of the specification of GCM, and what RFC 5297 has in A.1.
    #[test]
    fn sealed_known_answers() {
        let text = "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72\
            1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39";
        let sealed = "42831ec2217774244b7221b784d0d49ce3aa212f2c02a4e035c17e2329aca12e\
            21d514b25466931c7d8f6a5aac84aa051ba30b396a0aac973d58e091\
            5bc94fbc3221a5db94fae95ae7121a47";
        let text = hex::decode(text).unwrap();
        let args = "--mode aes-128-gcm --key feffe9928665731c6d6a8f9467308308 --nonce cafebabefacedbaddecaf888";
        let data = "feedfacedeadbeeffeedfacedeadbeefabaddad2";
        let ran = message(&format!("seal {args} --data {data}"), &text);
        assert_eq!(hex::encode(&ran.stdout), sealed, "{}", ran.stderr);
        let path = temporary("data", hex::decode(data).unwrap());
        let ran = message(&format!("open {args} --data-file {path}"), &ran.stdout);
        assert_eq!((ran.code, ran.stdout), (0, text));

        let ran = message(
            "seal --mode aes-128-siv --data 101112131415161718191a1b1c1d1e1f2021222324252627 \
            --key fffefdfcfbfaf9f8f7f6f5f4f3f2f1f0f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff",
            &hex::decode("112233445566778899aabbccddee").unwrap(),
        );
        assert_eq!(
            hex::encode(&ran.stdout),
            "85632d07c6e8f37f950acd320a2ecc9340c02b9690c4dc04daef7f6afe5c"
        );
    }

    #[test]
    fn sealed_and_opened() {
        let data: Vec<u8> = (0..10_000_u32).map(|i| (i * 31 / 8) as u8).collect();
        for (mode, nonce, key, tag) in [
            ("ccm", 13, KEY.to_owned(), 4),
            ("gcm", 1, KEY.repeat(2), 12),
            ("gcm", 12, KEY[..16].repeat(3), 16),
            ("ocb", 12, KEY.to_owned(), 8),
            ("aes-256-siv", 0, KEY.repeat(4), 16),
            ("aes-192-siv", 12, KEY.repeat(3), 16),
            ("gcm-siv", 12, KEY.repeat(2), 16),
        ] {
            let nonce = &NONCE[..2 * nonce];
            let args = format!("--mode {mode} --key {key} --nonce={nonce} --tag-bytes {tag}");
            for len in [0, 1, 16, 9_999] {
                let sealed = message(&format!("seal {args} --data 0102"), &data[..len]);
                assert_eq!(sealed.stdout.len(), len + tag, "{}", sealed.stderr);
                let opened = message(&format!("open {args} --data 0102"), &sealed.stdout);
                assert!(
                    opened.code == 0 && opened.stdout == data[..len],
                    "{args} {len}"
                );
                // Text, tag, associated data, length.
                let mut first = sealed.stdout.clone();
                first[0] ^= 1;
                let mut last = sealed.stdout.clone();
                *last.last_mut().unwrap() ^= 0x80;
                for (data, text) in [
                    ("--data 0102", &first[..]),
                    ("--data 0102", &last),
                    ("--data 0103", &sealed.stdout),
                    ("", &sealed.stdout),
                    ("--data 0102", &sealed.stdout[1..]),
                    ("--data 0102", &sealed.stdout[..3]),
                ] {
                    let refused = message(&format!("open {args} {data}"), text);
                    assert_eq!(
                        (refused.code, &refused.stdout[..]),
                        (1, &[][..]),
                        "{args} {data}"
                    );
                    assert!(refused.stderr.contains("tag"), "{}", refused.stderr);
                }
            }
        }
    }

    /// Every mode of the registry, with its longest key and tag and its usual nonce.
    #[test]
    fn every_authenticated_mode() {
        let plain: Vec<u8> = (0..1000_u32).map(|i| (i * 31 / 8) as u8).collect();
        let file = |name: &str| PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
        // From file to file, as scripts do.
        let through = |args: &str, from: &str, to: &str, input: &[u8]| -> (i32, Vec<u8>, String) {
            temporary(from, input);
            let output = command(&args.split_whitespace().collect::<Vec<_>>())
                .stdin(std::fs::File::open(file(from)).unwrap())
                .stdout(std::fs::File::create(file(to)).unwrap())
                .output()
                .unwrap();
            let stderr = String::from_utf8(output.stderr).unwrap();
            let result = std::fs::read(file(to)).unwrap();
            (output.status.code().unwrap(), result, stderr)
        };
        let aead = |info: &&Info| info.kind == Kind::Aead;
        for info in Mode::ALL.iter().map(|mode| mode.info()).filter(aead) {
            let mode = info.name;
            let key = &KEY.repeat(4)[..2 * info.key_bytes.last().unwrap()];
            let nonce = &NONCE[..2 * info.usual_nonce()];
            let tag = info.longest_tag();
            let args = format!("--mode {mode} --key {key} --nonce={nonce} --data 0102");
            let wrong_nonce = args.replace("--nonce=00", "--nonce=01");
            let wrong_data = args.replace("--data 0102", "--data 0103");
            for len in [0, 1, 16, 17, 1000] {
                let text = &plain[..len];
                let (code, sealed, stderr) =
                    through(&format!("seal {args}"), "aead/plain", "aead/sealed", text);
                assert_eq!((code, &*stderr), (0, ""), "{mode} {len}");
                assert_eq!(sealed.len(), info.encrypted_len(len) + tag, "{mode} {len}");
                let length = match is_untold(info) {
                    true => format!("--length {len}"),
                    false => String::new(),
                };
                let open = |args: &str, length: &str, sealed: &[u8]| {
                    let args = format!("open {args} {length}");
                    through(&args, "aead/sealed", "aead/opened", sealed)
                };
                let (code, opened, stderr) = open(&args, &length, &sealed);
                assert!(code == 0 && opened == text, "{mode} {len}: {stderr}");

                let flipped = |at: usize| {
                    let mut flipped = sealed.clone();
                    flipped[at] ^= 1;
                    flipped
                };
                let longer = [&sealed[..], &[0]].concat();
                let end = sealed.len();
                let mut refused = vec![
                    (&args, flipped(0)),
                    (&args, flipped(end / 2)),
                    (&args, flipped(end - 1)),
                    (&args, sealed[1..].to_vec()),
                    (&args, sealed[..end - 1].to_vec()),
                    (&args, sealed[..tag - 1].to_vec()),
                    (&args, longer),
                    (&wrong_data, sealed.clone()),
                ];
                if info.nonce_bytes.1 > 0 {
                    refused.push((&wrong_nonce, sealed.clone()));
                }
                for (i, (args, sealed)) in refused.iter().enumerate() {
                    let (code, opened, stderr) = open(args, &length, sealed);
                    assert_eq!((code, &opened[..]), (1, &[][..]), "{mode} {len} {i}");
                    assert!(stderr.contains("tag"), "{mode} {len} {i}: {stderr}");
                }
            }
        }
    }

    /// Only modes that do not tell the length of a message are told it.
    #[test]
    fn lengths_of_opened_messages() {
        let aead = |info: &&Info| info.kind == Kind::Aead;
        for info in Mode::ALL.iter().map(|mode| mode.info()).filter(aead) {
            let mode = info.name;
            let key = &KEY.repeat(4)[..2 * info.key_bytes[0]];
            let nonce = &NONCE[..2 * info.usual_nonce()];
            let args = format!("--mode {mode} --key {key} --nonce={nonce}");
            let sealed = message(&format!("seal {args}"), b"eighteen in length").stdout;
            let with_length = format!("open {args} --length 18");
            if !is_untold(info) {
                let ran = message(&with_length, &sealed);
                assert_eq!((ran.code, &ran.stdout[..]), (2, &[][..]), "{mode}");
                assert!(ran.stderr.contains("--length"), "{mode}: {}", ran.stderr);
                continue;
            }
            let ran = message(&format!("open {args}"), &sealed);
            assert_eq!((ran.code, &ran.stdout[..]), (2, &[][..]), "{mode}");
            assert!(ran.stderr.contains("--length BYTES"), "{}", ran.stderr);
            assert_eq!(message(&with_length, &sealed).stdout, b"eighteen in length");
            // Wrong, with as many blocks and with fewer or more.
            for length in ["17", "19", "32", "0", "16", "33", "18446744073709551615"] {
                let ran = message(&format!("open {args} --length {length}"), &sealed);
                assert_eq!(
                    (ran.code, &ran.stdout[..]),
                    (1, &[][..]),
                    "{mode} {length}: {}",
                    ran.stderr
                );
            }
            for length in ["-1", "x", "18446744073709551616"] {
                let ran = message(&format!("open {args} --length={length}"), &sealed);
                assert_eq!((ran.code, &ran.stdout[..]), (2, &[][..]), "{mode} {length}");
            }
            let ran = message(&format!("seal {args} --length 18"), b"x");
            assert_eq!((ran.code, &ran.stdout[..]), (2, &[][..]), "{mode}");
        }
    }

    #[test]
    fn components_of_associated_data() {
        let seal = |data: &[&str]| {
            let mut args = vec!["seal", "--mode", "siv", "--key"];
            let key = KEY.repeat(2);
            args.push(&key);
            for data in data {
                args.extend(["--data", data]);
            }
            let ran = feed(command(&args), b"text");
            assert_eq!(ran.code, 0, "{}", ran.stderr);
            ran.stdout
        };
        let different = [
            seal(&[]),
            seal(&[""]),
            seal(&["", ""]),
            seal(&["01", "02"]),
            seal(&["02", "01"]),
            seal(&["0102"]),
        ];
        for (i, one) in different.iter().enumerate() {
            assert!(!different[..i].contains(one), "{i}");
        }
    }

    #[test]
    fn a_tag_with_a_nonce() {
        // GCM without a message authenticates its associated data.
        let nonce = &NONCE[..24];
        let sealed = message(
            &format!("seal --mode gcm --key {KEY} --nonce {nonce} --data 616263"),
            b"",
        );
        let tag = hex::encode(&sealed.stdout);
        let args = format!("mac --mode gmac --key {KEY} --nonce {nonce}");
        assert_eq!(message(&args, b"abc").text(), format!("{tag}\n"));
        assert_eq!(message(&format!("{args} --verify {tag}"), b"abc").code, 0);
        assert_eq!(message(&format!("{args} --verify {tag}"), b"abd").code, 1);
    }

    #[test]
    fn wrong_padding() {
        let args = format!("decrypt --mode cbc-pkcs7 --key {KEY} --nonce {NONCE}");
        let ran = message(&args, &[0; 32]);
        assert_eq!((ran.code, &ran.stdout[..]), (1, &[][..]));
        assert!(ran.stderr.contains("padding"));
    }
}

mod bench {
    use super::*;
    use serde_json::Value;

    const TINY: &str = "bench --messages 8 --samples 3 --seed 5";

    fn json(args: &str) -> Value {
        let ran = line(&format!("{TINY} --json {args}"));
        assert_eq!(ran.code, 0, "{args}: {}", ran.stderr);
        serde_json::from_str(ran.text()).unwrap()
    }

    #[test]
    fn fields_of_the_document() {
        let document = json("--mode cbc");
        for field in ["cpu", "features", "backends", "core_mhz", "cycles_per_tick"] {
            assert!(!document["machine"][field].is_null(), "{field}");
        }
        let rows = document["rows"].as_array().unwrap();
        assert_eq!(rows.len(), 2);
        for (row, schedule) in rows.iter().zip(["sequential", "comb"]) {
            assert_eq!(row["mode"], "aes-128-cbc");
            assert_eq!(row["op"], "encrypt");
            assert_eq!(row["mix"], "internet");
            assert_eq!(row["messages"], 8);
            assert_eq!(row["bytes"].as_u64().unwrap() % 16, 0);
            assert_eq!(row["schedule"], schedule);
            assert_eq!(row["lanes"] == 1, schedule == "sequential");
            assert!(row["backend"].is_string());
            assert_eq!(row["keys"], "shared");
            let (median, least) = (
                row["cpb"].as_f64().unwrap(),
                row["cpb_min"].as_f64().unwrap(),
            );
            assert!(median >= least && least > 0.0);
            assert_eq!(row["bound_cpb"].is_f64(), row["efficiency"].is_f64());
            assert!(row["samples"].as_u64().unwrap() <= 3);
        }
    }

    #[test]
    fn options_are_heeded() {
        let document = json(
            "--mode cbc,aes-256-cmac --key-bits 192 --keys fresh --op decrypt --parallel 2 --backend portable --mix fixed:100",
        );
        let rows = document["rows"].as_array().unwrap();
        let of = |i: usize, field: &str| rows[i][field].clone();
        assert_eq!(rows.len(), 4);
        assert_eq!(of(1, "mode"), "aes-192-cbc");
        assert_eq!(of(3, "mode"), "aes-256-cmac");
        assert_eq!(
            (of(1, "op"), of(3, "op")),
            ("decrypt".into(), "verify".into())
        );
        // Whole blocks only, or not.
        assert_eq!((of(1, "bytes"), of(3, "bytes")), (896.into(), 800.into()));
        for i in [1, 3] {
            assert_eq!(of(i, "keys"), "fresh");
            assert_eq!(of(i, "lanes"), 2);
            assert_eq!(of(i, "backend"), "portable");
            assert_eq!(of(i, "bound_cpb"), Value::Null);
            assert_eq!(of(i, "efficiency"), Value::Null);
        }
    }

    /// Both forms, all kinds of keys and both directions of every mode.
    #[test]
    fn every_way() {
        for form in ["messages", "packed"] {
            for keys in ["shared", "distinct", "fresh"] {
                for op in ["encrypt", "decrypt"] {
                    let args = format!("--form {form} --keys {keys} --op {op} --samples 1 -n 3");
                    let ran = line(&format!("bench {args} --mix fixed:33 --csv"));
                    assert_eq!(ran.code, 0, "{args}: {}", ran.stderr);
                    assert_eq!(ran.text().lines().count(), 1 + 2 * Mode::ALL.len());
                }
            }
        }
    }

    /// Modes that make a message longer, with lengths that they lengthen and not.
    #[test]
    fn longer_results() {
        let grows = |mode: &&Mode| mode.info().encrypted_len(1) > 1;
        let names: Vec<&str> = Mode::ALL
            .iter()
            .filter(grows)
            .map(|mode| mode.name())
            .collect();
        let path = temporary("mixed-lengths", "0\n1\n16\n33\n");
        for form in ["messages", "packed"] {
            for op in ["encrypt", "decrypt"] {
                for mix in [&format!("lengths:{path}"), "fixed:32", "fixed:1"] {
                    let args = format!(
                        "bench --form {form} --op {op} --mix {mix} --samples 1 --json --mode {}",
                        names.join(",")
                    );
                    let ran = line(&args);
                    assert_eq!(ran.code, 0, "{args}: {}", ran.stderr);
                    let document: Value = serde_json::from_str(ran.text()).unwrap();
                    let rows = document["rows"].as_array().unwrap();
                    assert_eq!(rows.len(), 2 * names.len());
                    for row in rows {
                        // Of the messages, not of what they become.
                        assert_eq!(row["bytes"], document["run"]["bytes"]);
                        assert_eq!(row["rounded_up"], false);
                    }
                }
            }
        }
    }

    #[test]
    fn authenticated_modes() {
        for (op, names) in [
            ("seal", ["seal", "seal", "mac"]),
            ("decrypt", ["open", "open", "verify"]),
        ] {
            let document = json(&format!(
                "--mode ccm,aes-256-siv,gmac --op {op} --mix fixed:64"
            ));
            let rows = document["rows"].as_array().unwrap();
            assert_eq!(rows.len(), 6);
            for (i, (row, name)) in rows[1..].iter().step_by(2).zip(names).enumerate() {
                assert_eq!(row["op"], name);
                assert_eq!(row["nonce_bytes"], 12);
                assert_eq!(row["data_bytes"], [12, 12, 0][i]);
                assert_eq!(row["tag_bytes"], 16);
                assert_eq!(row["bytes"], 8 * 64);
                assert_eq!(row["in_place"], name == "seal");
            }
        }
        let more = json("--mode gcm --data-bytes 1000 --mix fixed:64");
        assert_eq!(more["rows"][1]["data_bytes"], 1000);
        if more["rows"][1]["bound_cpb"].is_f64() {
            // Every message: 5 calls of AES, of 10 rounds; 4 + 63 + 1 multiplications of 3
            // products each.
            let run = &more["run"];
            let rate = |name: &str| {
                let rates = run[name].as_object().unwrap();
                rates
                    .values()
                    .map(|rate| rate.as_f64().unwrap())
                    .fold(0.0, f64::max)
            };
            let least = 50.0 / rate("blocks_per_cycle") + 204.0 / rate("products_per_cycle");
            let bound = more["rows"][1]["bound_cpb"].as_f64().unwrap();
            assert!(bound > 0.999 * least / 64.0, "{bound} {least}");
        }
        let none = json("--mode gcm --data-bytes 0 --form packed");
        assert_eq!(none["rows"][1]["data_bytes"], 0);
    }

    /// A message shorter than a block, which XTS does not take.
    #[test]
    fn short_messages() {
        let document = json("--mode xts,ctr --mix fixed:5");
        let rows = document["rows"].as_array().unwrap();
        assert_eq!(
            (&rows[1]["bytes"], &rows[3]["bytes"]),
            (&128.into(), &40.into())
        );
        assert_eq!(
            (&rows[1]["rounded_up"], &rows[3]["rounded_up"]),
            (&true.into(), &false.into())
        );
    }

    #[test]
    fn lines_over_lengths() {
        let document = json("--mode ctr --lines");
        assert_eq!(document["rows"].as_array().unwrap().len(), 2 * 9);
        let lines = document["lines"].as_array().unwrap();
        assert_eq!(lines.len(), 2);
        assert!(lines[1]["cycles_per_byte"].is_f64() && lines[1]["cycles_per_message"].is_f64());
        assert_eq!(lines[1]["points"].as_array().unwrap().len(), 8);
    }

    #[test]
    fn tables_say_what_was_done() {
        let ran = line(&format!("{TINY} --mode cbc,ctr"));
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        assert!(ran.text().contains("seed 5"));
        assert!(ran.text().contains("aes-128-cbc*") && ran.text().contains("rounded up"));
        assert!(ran.text().contains("aes-128-ctr "));
    }

    /// Every way to multiply and to double, in every use.
    #[test]
    fn field() {
        let ran = line("bench --field --samples 3 --json");
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        let document: Value = serde_json::from_str(ran.text()).unwrap();
        assert!(document["machine"]["cpu"].is_string());
        let rows = document["rows"].as_array().unwrap();
        let cases = aescomb::field::cases();
        assert_eq!(rows.len(), cases.len());
        for case in &cases {
            let row = rows.iter().find(|row| {
                row["variant"] == case.variant.name()
                    && row["usage"] == case.usage.name()
                    && row["backend"] == case.backend.name()
                    && row["operation"]
                        == match case.variant.doubles() {
                            true => "doubling",
                            false => "multiplication",
                        }
            });
            let row = row.unwrap();
            assert!(row["cycles_per_block"].as_f64().unwrap() > 0.0);
            assert_eq!(row["cpb"].is_f64(), case.usage.encrypts());
            assert_eq!(row["constant_time"], case.variant.leak().is_none());
        }
        let ran = line("bench --field --samples 1");
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        for case in &cases {
            let (usage, variant) = (case.usage.name(), case.variant.name());
            let is_it = |line: &str| line.split_whitespace().take(2).eq([usage, variant]);
            assert!(ran.text().lines().any(is_it), "{usage} {variant}");
        }
    }

    /// Format-preserving encryption on every backend.
    #[test]
    fn ff1() {
        let ran = line("bench --ff1 --samples 3 --json");
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        let document: Value = serde_json::from_str(ran.text()).unwrap();
        assert!(document["machine"]["cpu"].is_string());
        let rows = document["rows"].as_array().unwrap();
        let own = |b: &Backend| *b != Backend::Vaes256Vl;
        for backend in Backend::available().filter(own) {
            let of = |row: &&Value| row["backend"] == backend.name();
            let rows: Vec<_> = rows.iter().filter(of).collect();
            assert!(
                rows.iter()
                    .any(|row| row["length"] == 16 && row["radix"] == 10)
            );
            for row in rows {
                assert!(row["encrypt"].as_f64().unwrap() > 0.0);
                assert!(row["decrypt"].as_f64().unwrap() > 0.0);
            }
        }
        let ran = line("bench --ff1 --samples 1");
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        let is_it = |line: &str| line.starts_with("digits ") && line.contains(" 16 ");
        assert!(ran.text().lines().any(is_it));
    }

    #[test]
    fn lengths_from_a_file() {
        let path = temporary("lengths", "10\n20\n30\n");
        let ran = line(&format!(
            "bench --mode ctr --samples 1 --json --mix lengths:{path}"
        ));
        let document: Value = serde_json::from_str(ran.text()).unwrap();
        assert_eq!(document["rows"][0]["messages"], 3);
        assert_eq!(document["rows"][0]["bytes"], 60);
    }

    #[test]
    fn misuse() {
        for (args, says) in [
            ("--mode cbcd", "unknown mode"),
            ("--mix other", "internet"),
            ("--mix pcap:/no/such/file", "/no/such/file"),
            ("--parallel 999", "999 messages in flight; allowed: 1 to"),
            ("--parallel 0", "--parallel"),
            ("--messages 0", "--messages"),
            ("--backend avx9", "unknown backend"),
            ("--key-bits 129", "128, 192, 256"),
            (
                "--mode aes-192-xts",
                "there is no aes-192-xts; keys of xts: 2x128/2x256",
            ),
            ("--mode xts --key-bits 192", "there is no aes-192-xts"),
            ("--json --csv", "cannot be used"),
            ("--field --mode cbc", "cannot be used"),
            ("--field --csv", "cannot be used"),
            ("--field --ff1", "cannot be used"),
            ("--ff1 --mode cbc", "cannot be used"),
        ] {
            let ran = line(&format!("bench {args}"));
            assert_eq!((ran.code, ran.text()), (2, ""), "{args}");
            assert!(ran.stderr.contains(says), "{args}: {}", ran.stderr);
        }
    }
}

mod report {
    use super::*;
    use serde_json::{Value, json};

    /// A place for a report, with nothing there.
    fn place(name: &str) -> String {
        let path = temporary(name, "");
        std::fs::remove_file(&path).unwrap();
        path
    }

    fn read(path: &str) -> String {
        std::fs::read_to_string(path).unwrap()
    }

    #[test]
    fn page_and_document() {
        let (page, document) = (place("report.html"), place("report.json"));
        let ran = line(&format!(
            "report --quick --only gcm,table-2,keys --out {page} --json {document}"
        ));
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        assert_eq!(ran.text().trim_end(), page);
        let html = read(&page);
        assert!(html.starts_with("<!DOCTYPE html>") && html.ends_with("</html>"));
        for id in ["method", "gcm", "table-2", "keys", "papers"] {
            assert!(html.contains(&format!("<section id=\"{id}\">")), "{id}");
        }
        assert!(!html.contains("<section id=\"table-7\">"));
        assert!(html.contains("<svg") && html.contains("Haswell"));
        // Nothing is fetched from anywhere.
        for outside in ["src=", "@import", "url(", "<script"] {
            assert!(!html.contains(outside), "{outside}");
        }
        let document: Value = serde_json::from_str(&read(&document)).unwrap();
        let results = document["results"].as_array().unwrap();
        for result in results {
            let rows = &result["found"]["rows"];
            let calls = &result["found"]["latency"]["calls"];
            let costs: Vec<f64> = match (rows.as_array(), calls.as_array()) {
                (Some(rows), _) => rows.iter().filter_map(|row| row["cpb"].as_f64()).collect(),
                (_, Some(calls)) => calls.iter().filter_map(Value::as_f64).collect(),
                _ => panic!("{result}"),
            };
            assert!(
                !costs.is_empty() && costs.iter().all(|cost| *cost > 0.0),
                "{result}"
            );
        }
        assert_eq!(document["peers"], Value::Null);
        // Forms of keys are measured as such.
        let keys = |form: &str| results.iter().any(|r| r["ask"]["cost"]["keys"] == form);
        assert!(
            ["shared", "distinct", "cold", "fresh"]
                .into_iter()
                .all(keys)
        );
    }

    /// A run that was interrupted goes on where it was.
    #[test]
    fn goes_on() {
        let page = place("resumed.html");
        let journal = format!("{page}.partial");
        let command = format!("report --quick --only pmac-ctr --out {page}");
        // A folder in the place of the page: the run fails when all is measured.
        std::fs::create_dir(&page).unwrap();
        let ran = line(&command);
        assert_eq!(ran.code, 2);
        let kept = read(&journal);
        std::fs::remove_dir(&page).unwrap();
        let lines: Vec<&str> = kept.lines().collect();
        std::fs::write(&journal, lines[..4].join("\n")).unwrap();
        let ran = line(&command);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        assert!(
            ran.stderr.contains("goes on with 3 of 6 measurements"),
            "{}",
            ran.stderr
        );
        assert!(!std::path::Path::new(&journal).exists());
        assert!(read(&page).contains("PMAC-CTR"));
    }

    /// Before anything is measured: no journal is begun.
    #[test]
    fn directories_that_are_not_there() {
        let page = place("nowhere.html");
        for args in ["--json /no/such/file.json", "--record /no/such"] {
            let ran = line(&format!("report --quick --out {page} {args}"));
            assert_eq!((ran.code, ran.text()), (2, ""), "{args}");
            let says = "/no/such: no such directory";
            assert!(ran.stderr.contains(says), "{args}: {}", ran.stderr);
            assert!(!std::path::Path::new(&format!("{page}.partial")).exists());
        }
    }

    /// The figures of a race are shown, and go into the record.
    #[test]
    fn other_libraries() {
        let race = json!({
            "date": "a day",
            "machine": {"cpu": "their CPU"},
            "rows": [{
                "case": "gcm seal", "forged": false, "mix": "internet", "messages": 256,
                "of_line": false,
                "competitors": [{
                    "library": "their library", "version": "1", "interface": "theirs",
                    "cycles_per_byte": {"median": 1.5}, "cycles_per_message": 900.0,
                    "ratio": 2.5, "forged_to_good": null,
                }],
                "best_peer": {
                    "library": "their library", "interface": "theirs", "ratio": 2.5,
                    "target": 1.3, "met": true,
                },
            }],
            "lines": [],
        });
        let peers = temporary("peers.json", race.to_string());
        let page = place("peers.html");
        let records = format!("{}-records", place("peers"));
        std::fs::create_dir_all(&records).unwrap();
        let ran = line(&format!(
            "report --quick --only peers --out {page} --peers {peers} --record {records}"
        ));
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        let html = read(&page);
        for text in ["their library 1", "×2.50", "met (×1.3)", "their CPU"] {
            assert!(html.contains(text), "{text}");
        }
        let files: Vec<_> = std::fs::read_dir(&records)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect();
        let [record] = &files[..] else {
            panic!("{files:?}")
        };
        let record: Value =
            serde_json::from_str(&std::fs::read_to_string(record).unwrap()).unwrap();
        assert_eq!(record["races"][0]["ratio"], 2.5);
        // Of a part that was not measured there are no figures.
        assert_eq!(record["modes"][0]["comb"], Value::Null);
        std::fs::remove_dir_all(&records).unwrap();
    }

    #[test]
    fn tls_servers() {
        let compared = json!({
            "date": "a day", "cpu": "their CPU", "versions": ["a server/1"],
            "rows": [{
                "case": "10 MB", "suite": "AES_128_CCM", "server": "their server",
                "bytes": 10_000_000, "user": 0.0123, "system": 0.002, "each_second": 56.7,
            }],
            "ratios": [
                {"case": "10 MB", "suite": "AES_128_CCM", "other": "their server",
                 "user": 0.125, "both": 0.25, "target": 0.35},
                {"case": "1 KB", "suite": "AES_128_CCM", "other": "their server",
                 "user": 0.75, "both": 0.5, "target": 0.5},
            ],
        });
        let servers = temporary("servers.json", compared.to_string());
        let page = place("servers.html");
        let ran = line(&format!(
            "report --quick --only servers --out {page} --servers {servers}"
        ));
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        let html = read(&page);
        for text in [
            "their server",
            "a server/1",
            "12.3",
            "1.23",
            ">57<",
            "0.125",
            "met (0.35)",
            "missed (0.5)",
            "1 of 2 targets",
        ] {
            assert!(html.contains(text), "{text}");
        }
    }

    #[test]
    fn misuse() {
        let damaged = temporary("damaged.json", "{");
        for (args, says) in [
            (
                "--only nothing".to_owned(),
                "there is no part nothing; parts: efficiency,",
            ),
            (
                "--out /no/such/folder/report.html".into(),
                "/no/such/folder",
            ),
            (
                format!("--peers {damaged}"),
                "not what bench/peers/run.sh --json prints",
            ),
            ("--peers /no/such/file".into(), "/no/such/file"),
            (
                format!("--servers {damaged}"),
                "not what examples/tls-server/compare.sh --json writes",
            ),
            ("--core 100000".into(), "100000"),
        ] {
            let ran = line(&format!("report --quick {args}"));
            assert_eq!((ran.code, ran.text()), (2, ""), "{args}");
            assert!(ran.stderr.contains(says), "{args}: {}", ran.stderr);
        }
    }
}

#[test]
fn modes_are_all_there() {
    let ran = line("modes");
    assert_eq!(ran.code, 0);
    let words: Vec<&str> = ran.text().split_whitespace().collect();
    let words = words.join(" ");
    for mode in Mode::ALL {
        let info = mode.info();
        let row = |line: &&str| line.starts_with(&format!("{} ", mode.name()));
        let tables = 2 + usize::from(info.nonce_bytes.1 > 0) + usize::from(info.research.is_some());
        assert_eq!(ran.text().lines().filter(row).count(), tables, "{mode}");
        if let Some(fate) = info.research {
            // It may be wrapped.
            assert!(words.contains(&format!("{mode} {fate}")), "{mode}");
        }
    }
    assert!(words.contains("for research and comparison, and not for new protocols"));
    assert!(ran.text().lines().all(|line| line.len() <= 100));
}

#[test]
fn cpu_tells_backends() {
    let ran = line("cpu");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    for backend in aescomb::Backend::ALL {
        let rows = ran
            .text()
            .lines()
            .map(|line| Vec::from_iter(line.split_whitespace()));
        let row = rows.filter(|row| row.first() == Some(&backend.name()));
        let here = row.map(|row| row[1] == "yes").next().expect("a row");
        assert_eq!(here, backend.is_available());
    }
    assert!(ran.text().contains("cycles per tick"));
}

#[test]
fn a_reader_that_leaves_is_no_error() {
    let mut child = command(&["plan", "--draw", "100000", "--lengths"])
        .arg(vec!["9"; 20_000].join(","))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert!(output.stderr.is_empty());
}

#[test]
fn misuse_is_2() {
    for args in ["nothing", "plan", "kat", "plan --lengths x", "--nothing"] {
        assert_eq!(line(args).code, 2, "{args}");
    }
    for args in [
        "--help",
        "-h",
        "--version",
        "bench --help",
        "help kat",
        "seal --help",
        "help open",
    ] {
        assert_eq!(line(args).code, 0, "{args}");
    }
}

#[cfg(feature = "columns")]
#[test]
fn columns_of_csv_there_and_back() {
    let folder = std::env::temp_dir().join(format!("aescomb-columns-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let spec = "dataset = 'd'\n[columns.name]\nencryption = 'deterministic'\nformat = 'tink'\n";
    let text = "id,name\n1,Ada\n2,\n3,Ada\n";
    std::fs::write(file("spec.toml"), spec).unwrap();
    std::fs::write(file("in.csv"), text).unwrap();
    let go = |what: &str, from: &str, to: &str, more: &[&str]| {
        let (from, to, spec, keys) = (file(from), file(to), file("spec.toml"), file("keys"));
        let given = [
            "columns", what, &from, &to, "--spec", &spec, "--keys", &keys,
        ];
        run(&[&given[..], more].concat())
    };
    let ran = go("encrypt", "in.csv", "a.parquet", &["--create-keys"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let ran = go("decrypt", "a.parquet", "b.csv", &[]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert_eq!(std::fs::read_to_string(file("b.csv")).unwrap(), text);
    let ran = run(&["columns", "inspect", &file("a.parquet")]);
    assert!(
        ran.text().contains("deterministic, format tink"),
        "{}",
        ran.text()
    );
    let ran = go("decrypt", "in.csv", "c.csv", &[]);
    assert_eq!(ran.code, 2);
    assert!(
        ran.stderr.contains("row 0") && ran.stderr.contains("base64"),
        "{}",
        ran.stderr
    );
    std::fs::remove_dir_all(folder).unwrap();
}
