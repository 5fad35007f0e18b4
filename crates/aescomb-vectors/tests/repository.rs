//! The vectors of the repository: all are read, and their plain form is what is checked in.

use aescomb_vectors::{File, MODES, Problem, plain};
use std::path::{Path, PathBuf};

fn vectors() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors")
}

/// Its comments have the numbers of files and vectors, so that none is skipped unnoticed.
#[test]
fn the_plain_form_is_that_of_the_sources() {
    let stale = plain::stale(&vectors()).expect("readable files");
    assert!(
        stale.is_empty(),
        "{stale:?} of vectors/plain are not what the sources give: run `cargo xtask vectors`"
    );
}

#[test]
fn the_plain_form_is_read_as_it_was_written() {
    let folders = plain::folders(&vectors()).expect("readable files");
    let written = plain::written(&folders);
    for mode in MODES {
        let name = format!("{}.txt", mode.name);
        let read = plain::read(&written[&name], mode, Path::new(&name)).expect("a good file");
        let sources: Vec<_> = folders
            .iter()
            .filter(|folder| folder.mode == mode)
            .flat_map(|folder| folder.vectors())
            .collect();
        assert!(!read.is_empty(), "no vectors for {}", mode.name);
        assert_eq!(read.len(), sources.len(), "{}", mode.name);
        for (read, source) in read.iter().zip(sources) {
            let mut source = source.clone();
            (source.id, source.line) = (String::new(), read.line);
            assert_eq!(*read, source, "{}", mode.name);
        }
    }
}

/// Both directions of the oracle agree with every vector.
#[test]
fn the_oracle_gives_the_answers() {
    for folder in plain::folders(&vectors()).expect("readable files") {
        for file in &folder.files {
            for vector in &file.vectors {
                check(vector, &format!("{}: {}", file.path.display(), vector.id));
            }
        }
    }
}

fn check(vector: &aescomb_vectors::Vector, place: &str) {
    use aescomb_vectors::Kind;
    let aescomb_vectors::Vector {
        mode,
        key,
        nonce,
        data,
        msg,
        ct,
        tag,
        ..
    } = vector;
    let data: Vec<&[u8]> = data.iter().map(Vec::as_slice).collect();
    let name = mode.name;
    match (mode.kind, vector.refused) {
        (Kind::Cipher, true) => assert_eq!(aescomb_ref::decrypt(name, key, nonce, ct), None),
        (Kind::Cipher, false) => {
            let found = aescomb_ref::encrypt(name, key, nonce, msg);
            assert_eq!(found.as_ref(), Some(ct), "{place}");
        }
        (Kind::Mac, refused) => {
            let found = aescomb_ref::mac(name, key, nonce, msg).expect("good lengths");
            assert_eq!(found.starts_with(tag), !refused, "{place}");
        }
        (Kind::Aead, true) => {
            let found = aescomb_ref::open(name, key, nonce, &data, ct, tag);
            assert_eq!(found, None, "{place}");
        }
        (Kind::Aead, false) => {
            let found = aescomb_ref::seal(name, key, nonce, &data, msg, tag.len());
            let found = found.map(|sealed| (sealed.text, sealed.tag));
            assert_eq!(found, Some((ct.clone(), tag.clone())), "{place}");
        }
    }
}

/// What was made of a mode is not the mode.
#[test]
fn variants_are_no_mode() {
    let file = vectors().join("research/julius-as-coded/julius-as-coded.json");
    let error = File::read(&file).map(|_| ()).unwrap_err();
    let Problem::Variant(what) = error.problem else {
        panic!("{error}");
    };
    assert_eq!(
        what,
        "aes-128-julius (as coded), v1 (as the reference code multiplies); not of julius"
    );
}
