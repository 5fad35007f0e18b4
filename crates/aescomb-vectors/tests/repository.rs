//! The vectors of the repository: all are read, and their plain form is what is checked in.

mod oracle;

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

/// The oracle agrees with every vector.
#[test]
fn the_oracle_gives_the_answers() {
    for folder in plain::folders(&vectors()).expect("readable files") {
        for file in &folder.files {
            for vector in &file.vectors {
                let agrees = oracle::agrees(vector);
                assert!(agrees, "{}: {}", file.path.display(), vector.id);
            }
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
