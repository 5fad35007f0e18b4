//! Forms of files of which the repository has no samples.

mod made;
mod oracle;

use aescomb_vectors::{Error, File, Vector};
use made::Made;
use oracle::agrees;
use std::path::PathBuf;

/// Writes a file where tests may.
fn path(folder: &str, name: &str, text: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
        .join(folder)
        .join(name);
    std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    std::fs::write(&path, text).expect("a file");
    path
}

fn read(folder: &str, made: &Made) -> Result<File, Error> {
    if let Some(expected) = &made.expected {
        path(
            folder,
            &made.name.replace("prompt", "expectedResults"),
            expected,
        );
    }
    File::read(&path(folder, &made.name, &made.text))
}

#[test]
fn all_are_read() {
    for made in made::files() {
        let name = &made.name;
        let file = read("good", &made).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(file.mode.name, made.mode, "{name}");
        let count = |is: fn(&&Vector) -> bool| file.vectors.iter().filter(is).count();
        let left_out: usize = file.left_out.values().sum();
        assert_eq!(
            (
                file.vectors.len(),
                count(|v| v.refused),
                count(|v| v.monte_carlo.is_some()),
                left_out
            ),
            (made.vectors, made.refused, made.chains, made.left_out),
            "{name}: {:?}",
            file.left_out
        );
        for vector in &file.vectors {
            assert!(agrees(vector), "{name}: {}", vector.id);
            assert!(
                vector.line.is_some() || vector.monte_carlo.is_some(),
                "{name}: {}",
                vector.id
            );
        }
        // A chain goes on where it has ended.
        for pair in file.vectors.windows(2) {
            if pair[1].monte_carlo.is_some_and(|chain| chain.follows) {
                assert_ne!(pair[0].key, pair[1].key);
                assert_eq!(
                    pair[0].output(),
                    if made.mode == "ecb" {
                        pair[1].input()
                    } else {
                        &pair[1].nonce
                    }
                );
            }
        }
    }
}

/// A file that is damaged anywhere is refused, or gives answers that are wrong; it never gives
/// fewer vectors silently.
#[test]
fn damage_is_found() {
    let mut refused = 0;
    for made in made::files() {
        let lines: Vec<&str> = made.text.lines().collect();
        let data: Vec<usize> = (0..lines.len())
            .filter(|i| !lines[*i].starts_with(['#', '[']) && lines[*i].contains(['=', '"']))
            .collect();
        for at in data.iter().step_by(data.len().div_ceil(12)) {
            // Without the line, and without its last digit.
            let mut without = lines.clone();
            let line = without.remove(*at);
            let mut cut = lines.clone();
            let digits = line.trim_end_matches(['"', ',', '}', ']']);
            let shorter = line.replacen(digits, &digits[..digits.len() - 1], 1);
            cut[*at] = &shorter;
            for text in [without, cut] {
                let damaged = Made {
                    text: text.join("\n"),
                    name: made.name.clone(),
                    expected: made.expected.clone(),
                    ..made
                };
                match read("damaged", &damaged) {
                    Err(_) => refused += 1,
                    // What is left says the same, or is wrong: nothing is lost.
                    Ok(file) => {
                        let right = file.vectors.iter().all(agrees);
                        let found = file.vectors.len() + file.left_out.values().sum::<usize>();
                        assert!(
                            !right || found == made.vectors + made.left_out,
                            "{}: {line}",
                            made.name
                        );
                    }
                }
            }
        }
    }
    assert!(refused > 500, "{refused}");
}

fn told(name: &str, text: &str) -> String {
    let path = path("told", name, text);
    let error = File::read(&path).map(|file| file.left_out).unwrap_err();
    let error = error.to_string();
    error
        .strip_prefix(&format!("{}: ", path.display()))
        .expect("the file's name")
        .to_owned()
}

#[test]
fn errors_of_acvp() {
    let made = made::files();
    let of = |name: &str| {
        made.iter()
            .find(|made| made.name.starts_with(name))
            .expect("a file")
    };
    let gcm = &of("ACVP-AES-GCM-1.0/internal").text;
    let first = |text: &str, from: &str, to: &str| {
        let changed = text.replacen(from, to, 1);
        assert_ne!(changed, text, "{from}");
        told("acvp.json", &changed)
    };
    for (from, to, says) in [
        (
            "ACVP-AES-GCM",
            "ACVP-AES-KW",
            "mode not supported: ACVP-AES-KW",
        ),
        (
            "\"key\": \"",
            "\"key\": \"0",
            "damaged: line 4: test 1: key: Odd number of digits",
        ),
        (
            "\"key\": \"",
            "\"key\": \"00",
            "damaged: line 4: test 1: key: 17 bytes; 128 bits are stated",
        ),
        ("\"key\"", "\"kee\"", "damaged: line 4: test 1: no key"),
        ("\"iv\"", "\"vi\"", "damaged: line 4: test 1: no iv"),
        ("\"pt\"", "\"tp\"", "damaged: line 4: test 1: no pt"),
        (
            "\"tagLen\": 64",
            "\"tagLen\": 72",
            "damaged: line 4: test 1: tagLen: 8 bytes; 72 bits are stated",
        ),
        (
            "\"payloadLen\": 0",
            "\"payloadLen\": \"0\"",
            "damaged: test 1: payloadLen: not a number",
        ),
        (
            "\"encrypt\"",
            "\"seal\"",
            "damaged: line 4: test 1: direction: seal is no direction",
        ),
        ("\"tests\"", "\"test\"", "damaged: tests: no list"),
        ("]}]}]", "]}]", "damaged: line "),
    ] {
        let error = first(gcm, from, to);
        assert!(error.starts_with(says), "{error}");
    }
    let cbc = &of("ACVP-AES-CBC").text;
    let error = first(cbc, "resultsArray", "results");
    assert!(error.contains("resultsArray: no list"), "{error}");
    let error = first(&of("ACVP-AES-CTR").text, "ACVP-AES-CTR", "ACVP-AES-OFB1");
    assert_eq!(error, "mode not supported: ACVP-AES-OFB1");
    // Answers that are not there, and answers alone.
    let prompt = of("ACVP-AES-GCM-1.0/prompt");
    let error = told("alone/prompt.json", &prompt.text);
    assert!(
        error.starts_with("nothing in it can be run: its answers, "),
        "{error}"
    );
    assert!(
        error.contains("expectedResults.json, cannot be read: "),
        "{error}"
    );
    let expected = prompt.expected.as_ref().expect("answers");
    let error = told("answers/expectedResults.json", expected);
    assert!(
        error.starts_with("nothing in it can be run: it has no keys"),
        "{error}"
    );
    path(
        "told",
        "lack/expectedResults.json",
        &expected.replace("\"tcId\": 2", "\"tcId\": 3"),
    );
    let error = told("lack/prompt.json", &prompt.text);
    assert!(
        error.ends_with("expectedResults.json, lack test 2"),
        "{error}"
    );
}

#[test]
fn errors_of_wycheproof() {
    const GOOD: &str = r#"{"algorithm": "AES-CMAC", "numberOfTests": 2, "testGroups": [
        {"type": "MacTest", "keySize": 128, "tagSize": 128, "tests": [
            {"tcId": 1, "key": "2b7e151628aed2a6abf7158809cf4f3c", "msg": "",
             "tag": "bb1d6929e95937287fa37d129b756746", "result": "valid"},
            {"tcId": 2, "key": "2b7e151628aed2a6abf7158809cf4f3c", "msg": "",
             "tag": "bb1d6929e95937287fa37d129b756747", "result": "invalid"}]}]}"#;
    let file = File::read(&path("told", "good.json", GOOD)).expect("a good file");
    assert!(file.vectors.iter().all(agrees));
    for (from, to, says) in [
        ("AES-CMAC", "AEGIS128", "mode not supported: AEGIS128"),
        ("Tests\": 2", "Tests\": 3", "damaged: 2 tests; 3 are stated"),
        (
            "\"2b7e",
            "\"b7e",
            "damaged: line 3: test 1: key: Odd number of digits",
        ),
        (
            "\"2b7e",
            "\"7e",
            "damaged: line 3: test 1: key: 15 bytes; 128 bits are stated",
        ),
        ("\"msg\"", "\"mgs\"", "damaged: line 3: test 1: no msg"),
        (
            "\"valid\"",
            "\"fine\"",
            "damaged: line 3: test 1: result: fine is no result",
        ),
        (
            "746\", \"result\": \"valid\"",
            "\"",
            "damaged: line 3: test 1: result: nothing is no result",
        ),
        ("\"tag\"", "\"tags\"", "damaged: line 3: test 1: no tag"),
    ] {
        let text = GOOD.replacen(from, to, 1);
        assert_ne!(text, GOOD);
        let error = told("wycheproof.json", &text);
        assert!(error.starts_with(says), "{error}");
    }
    let text = GOOD
        .replace("invalid", "acceptable")
        .replace("valid\"", "acceptable\"");
    let text = text.replace("inacceptable", "acceptable");
    let error = told("none.json", &text);
    assert!(
        error.starts_with("nothing in it can be run: 2 tests left out: "),
        "{error}"
    );
}

/// The first vectors of NIST's own file DVPT128.rsp, CAVS 11.0.
#[test]
fn as_published() {
    let text = "#  CAVS 11.0\n#  \"CCM-DVPT\" information\n#  AES Keylen: 128\n\n\
        [Alen = 0, Plen = 0, Nlen = 7, Tlen = 4]\n\nKey = 4ae701103c63deca5b5a3939d7d05992\n\n\
        Count = 0\nNonce = 5a8aa485c316e9\nAdata = 00\nCT = 02209f55\nResult = Pass\nPayload = 00\n\n\
        Count = 1\nNonce = 3796cf51b87266\nAdata = 00\nCT = 9a04c241\nResult = Fail\n";
    let file = File::read(&path("published", "DVPT128.rsp", text)).expect("a good file");
    assert_eq!(file.vectors.len(), 2);
    assert!(file.vectors.iter().all(agrees));
}
