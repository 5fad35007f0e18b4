//! What the book shows of the command is what it prints. With `AESCOMB_BLESS=1` in the
//! environment the pages are written.

use std::fs;
use std::path::Path;
use std::process::Command;

const BEGIN: &str = "```console\n";
const END: &str = "```\n";

/// What `$ aescomb ...` prints.
fn run(line: &str) -> String {
    let command = line
        .strip_prefix("$ aescomb ")
        .expect("a line of the command");
    let output = Command::new(env!("CARGO_BIN_EXE_aescomb"))
        .args(command.split_whitespace())
        .output()
        .expect("the command");
    assert!(
        output.status.success(),
        "{line}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// The page with what its commands print, and how many there are.
fn filled(page: &str) -> (String, usize) {
    let (mut out, mut rest, mut count) = (String::new(), page, 0);
    while let Some((before, block)) = rest.split_once(BEGIN) {
        let (shown, after) = block.split_once(END).expect("the end of a block");
        let (line, _) = shown.split_once('\n').expect("a line of the command");
        out += &format!("{before}{BEGIN}{line}\n{}{END}", run(line));
        (rest, count) = (after, count + 1);
    }
    (out + rest, count)
}

#[test]
fn commands_print_what_the_book_shows() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../book/src");
    let mut commands = 0;
    for entry in fs::read_dir(folder).expect("the folder of the pages") {
        let path = entry.expect("an entry").path();
        if path.extension().is_none_or(|end| end != "md") {
            continue;
        }
        let page = fs::read_to_string(&path).expect("a page");
        let (new, count) = filled(&page);
        commands += count;
        if std::env::var_os("AESCOMB_BLESS").is_some() {
            fs::write(&path, &new).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        }
        assert!(
            page == new,
            "{} is not what the command prints; AESCOMB_BLESS=1 cargo test -p aescomb-cli --test \
             book writes it",
            path.display()
        );
    }
    assert!(commands > 0, "no page shows the command");
}
