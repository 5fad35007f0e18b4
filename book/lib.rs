//! The examples in Rust of the book, run as documentation tests, and a test that no page is
//! forgotten.

macro_rules! pages {
    ($($page:ident: $file:literal;)*) => {
        $(
            #[cfg(doctest)]
            #[doc = include_str!(concat!("src/", $file))]
            struct $page;
        )*

        #[cfg(test)]
        const TESTED: &[&str] = &[$($file),*];
    };
}

pages! {
    Backends: "backends.md";
    Batches: "batches.md";
    Errors: "errors.md";
    FromRustCrypto: "from-rustcrypto.md";
    How: "how.md";
    Introduction: "introduction.md";
    Keys: "keys.md";
    Modes: "modes.md";
    Nonces: "nonces.md";
}

#[cfg(test)]
mod tests {
    use super::TESTED;
    use aescomb::Mode;
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::Path;

    fn pages() -> Vec<(String, String)> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        let mut pages = Vec::new();
        for entry in fs::read_dir(folder).expect("the folder of the pages") {
            let path = entry.expect("an entry").path();
            let name = path
                .file_name()
                .expect("a name")
                .to_string_lossy()
                .into_owned();
            if name.ends_with(".md") {
                pages.push((name, fs::read_to_string(&path).expect("a page")));
            }
        }
        pages
    }

    /// Blocks of code, with what stands behind the fence.
    fn blocks(page: &str) -> Vec<(&str, &str)> {
        page.split("\n```")
            .skip(1)
            .step_by(2)
            .map(|block| block.split_once('\n').expect("a block of lines"))
            .collect()
    }

    #[test]
    fn pages_with_rust_are_tested() {
        let rust = |page: &str| {
            blocks(page)
                .iter()
                .any(|(info, _)| info.starts_with("rust"))
        };
        let with_rust: BTreeSet<String> = pages()
            .into_iter()
            .filter(|(_, page)| rust(page))
            .map(|(name, _)| name)
            .collect();
        assert_eq!(
            with_rust,
            TESTED.iter().map(|name| name.to_string()).collect()
        );
    }

    /// Each block is one that some test compiles or runs: C comes from files that are compiled,
    /// `console` is run, `sh` is what readers do to their system.
    #[test]
    fn blocks_are_of_kinds_that_are_tested() {
        for (name, page) in pages() {
            for (info, block) in blocks(&page) {
                let good = match info {
                    "rust" | "rust,compile_fail" | "python" | "console" | "sh" => true,
                    "c" => {
                        block
                            .lines()
                            .all(|line| line.starts_with("{{#include ../c/"))
                            && !block.is_empty()
                    }
                    _ => false,
                };
                assert!(good, "{name}: a block {info:?} that no test has:\n{block}");
            }
        }
    }

    /// `4, 8, 12 to 16` as numbers; none for a dash.
    fn numbers(cell: &str) -> Vec<usize> {
        let number = |text: &str| text.trim().parse::<usize>().expect("a number");
        let (list, _) = cell.split_once(':').unwrap_or((cell, ""));
        if list.trim() == "–" {
            return Vec::new();
        }
        list.split(',')
            .flat_map(|part| match part.split_once(" to ") {
                Some((from, to)) => number(from)..=number(to),
                None => number(part)..=number(part),
            })
            .collect()
    }

    #[test]
    fn the_table_of_modes_is_what_the_registry_says() {
        let pages = pages();
        let (_, page) = pages
            .iter()
            .find(|(name, _)| name == "modes.md")
            .expect("the page");
        let (_, table) = page.split_once("## What they take").expect("the table");
        let mut found = BTreeSet::new();
        for row in table.lines().filter(|line| line.starts_with("| `")) {
            let cells: Vec<&str> = row.split('|').map(str::trim).collect();
            for name in cells[1].split(", ") {
                let mode: Mode = name.trim_matches('`').parse().expect("a mode");
                let info = mode.info();
                assert_eq!(numbers(cells[2]), info.key_bytes, "keys of {mode}");
                assert_eq!(numbers(cells[4]), info.tag_bytes, "tags of {mode}");
                let data = match info.data_components {
                    0 => "–".to_owned(),
                    1 => "one string".to_owned(),
                    n => format!("up to {n} strings"),
                };
                assert_eq!(cells[5], data, "associated data of {mode}");
                assert_eq!(cells[6] == "no", info.parallel_encrypt, "{mode}");
                found.insert(info.name);
            }
        }
        let standard = Mode::ALL.iter().map(|mode| mode.info());
        let standard = standard.filter(|info| info.research.is_none());
        assert_eq!(found, standard.map(|info| info.name).collect());
    }

    #[test]
    fn every_page_is_in_the_summary() {
        let pages = pages();
        let (_, summary) = pages
            .iter()
            .find(|(name, _)| name == "SUMMARY.md")
            .expect("a summary");
        for (name, _) in &pages {
            let there = name == "SUMMARY.md" || summary.contains(&format!("({name})"));
            assert!(there, "{name} is not in the summary");
        }
    }
}
