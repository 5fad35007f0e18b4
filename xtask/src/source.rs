//! What the machine code must contain, read from the sources: the instruction sets and their
//! registers (`type V` of their files) and the directions of the modes (the lines of `modes!`,
//! and `type Forward` and `type Backward` of their files).

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// One direction of a mode.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Direction {
    /// The file in `modes/` that defines it, or what it wraps.
    pub module: String,
    /// The type without paths: `Encrypt`, `Padded<Encrypt>`, `Crypt<32>`.
    pub name: String,
}

#[derive(Debug)]
pub struct Expected {
    /// Instruction sets, by their files in `isa/` and so their modules, with the first letter
    /// of their registers' names: `x`, `y` or `z`.
    pub sets: BTreeMap<String, char>,
    pub directions: BTreeSet<Direction>,
}

/// Reads the sources below `src` of the core crate.
pub fn read(src: &Path) -> Result<Expected, String> {
    let open = |path: &Path| {
        fs::read_to_string(path).map_err(|e| format!("cannot read {}: {e}", path.display()))
    };
    let mut sets = BTreeMap::new();
    let folder = src.join("isa");
    let entries = fs::read_dir(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    for entry in entries.flatten() {
        let path = entry.path();
        if path.extension().is_some_and(|e| e == "rs") {
            let isa = path.file_stem().unwrap_or_default().to_string_lossy();
            if let Some(register) = read_register(&isa, &open(&path)?)? {
                sets.insert(isa.into_owned(), register);
            }
        }
    }
    let folder = src.join("modes");
    let entries = fs::read_dir(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let mut files = Vec::new();
    for entry in entries.flatten() {
        let path = entry.path();
        let file = path.file_stem().unwrap_or_default().to_string_lossy();
        files.push((file.into_owned(), open(&path)?));
    }
    let mut directions = BTreeSet::new();
    for name in read_modes(&open(&src.join("mode.rs"))?)? {
        let head = format!("impl Registered for {name} {{");
        let (file, text) = files
            .iter()
            .find(|(_, text)| text.contains(&head))
            .ok_or(format!("no file in modes/ has impl Registered for {name}"))?;
        directions.extend(read_directions(file, &name, text)?);
    }
    if sets.is_empty() || directions.is_empty() {
        return Err("the sources have no instruction sets or no modes".into());
    }
    Ok(Expected { sets, directions })
}

/// `type V = __m512i;`, where a file has an instruction set.
fn read_register(isa: &str, text: &str) -> Result<Option<char>, String> {
    let mut lines = text.lines();
    match lines.find_map(|line| line.trim().strip_prefix("type V = ")) {
        None => Ok(None),
        Some("__m128i;") => Ok(Some('x')),
        Some("__m256i;") => Ok(Some('y')),
        Some("__m512i;") => Ok(Some('z')),
        Some(strange) => Err(format!("isa/{isa}.rs: cannot read: type V = {strange}")),
    }
}

/// `Name "name": Kind;` lines: the types.
fn read_modes(text: &str) -> Result<Vec<String>, String> {
    let body = text
        .split_once("\n        $then! {")
        .and_then(|(_, rest)| rest.split_once("\n        }"))
        .ok_or("mode.rs has no list of modes, $then! { ... }")?
        .0;
    body.lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with(['/', '#']))
        .map(|line| {
            let name = line.strip_suffix(';').and_then(|line| {
                let (name, rest) = line.split_once(" \"")?;
                rest.contains("\": ").then_some(name)
            });
            let name = name.ok_or(format!("mode.rs: cannot read: {line}"))?;
            Ok(name.to_owned())
        })
        .collect()
}

/// The two directions in `impl Registered for NAME`.
fn read_directions(file: &str, name: &str, text: &str) -> Result<Vec<Direction>, String> {
    let body = text
        .split_once(&format!("impl Registered for {name} {{"))
        .and_then(|(_, rest)| rest.split_once("\n}"))
        .ok_or(format!("modes/{file}.rs has no impl Registered for {name}"))?
        .0;
    ["Forward", "Backward"]
        .into_iter()
        .map(|which| {
            let direction = body
                .split_once(&format!("type {which} = "))
                .and_then(|(_, rest)| rest.split_once(';'))
                .ok_or(format!("modes/{file}.rs: {name} has no type {which}"))?
                .0;
            Ok(Direction {
                module: module_of(direction, text).unwrap_or(file).to_owned(),
                name: without_paths(direction),
            })
        })
        .collect()
}

/// The module that a direction's type is imported from, where it is: by a path
/// (`cbc::Encrypt`) or by a `use` line.
fn module_of<'a>(direction: &'a str, text: &'a str) -> Option<&'a str> {
    let wrapped = direction.rsplit('<').next()?.trim_end_matches('>');
    let innermost = match wrapped.starts_with(|c: char| c.is_ascii_digit()) {
        true => direction.split('<').next()?,
        false => wrapped,
    };
    if let Some((path, _)) = innermost.rsplit_once("::") {
        return path.rsplit("::").next();
    }
    text.lines().find_map(|line| {
        let (module, names) = line.strip_prefix("use super::")?.split_once("::")?;
        let mut names = names.split(|c: char| !c.is_alphanumeric());
        names.any(|name| name == innermost).then_some(module)
    })
}

/// `a::b::Padded<c::Encrypt>` without what stands before the last `::`s.
pub fn without_paths(name: &str) -> String {
    let mut out = String::new();
    for part in name.split_inclusive(|c: char| "<>, ".contains(c)) {
        out.push_str(part.rsplit("::").next().unwrap_or(part));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn registers() {
        let text = "use x;\n\nunsafe impl InstructionSet for Wide {\n    type V = __m512i;\n}\n";
        assert_eq!(read_register("wide", text), Ok(Some('z')));
        assert_eq!(read_register("wide", "type V: Vector;\n"), Ok(None));
        assert!(read_register("wide", "type V = Other;\n").is_err());
    }

    #[test]
    fn modes_and_directions() {
        let text = "x\n        $then! {\n            /// Doc.\n            A \"a\": Mac;\n            \
                    Bb \"b-b\": Aead;\n        }\n";
        assert_eq!(read_modes(text), Ok(vec!["A".into(), "Bb".into()]));
        assert!(read_modes(&text.replace(": Mac", "")).is_err());
        assert!(read_modes("x").is_err());
        let text = "impl Registered for Aa {\n    type Forward = pad::Padded<Encrypt>;\n    \
                    type Backward = Decrypt;\n}\n";
        let directions = read_directions("a", "Aa", text).unwrap();
        let found: Vec<_> = directions.iter().map(|d| (&*d.module, &*d.name)).collect();
        assert_eq!(found, [("a", "Padded<Encrypt>"), ("a", "Decrypt")]);
        assert!(read_directions("a", "Bb", text).is_err());
    }

    #[test]
    fn modules_of_directions() {
        let text = "use super::ctr::{Crypt, Other};\n";
        assert_eq!(module_of("Crypt<32>", text), Some("ctr"));
        assert_eq!(module_of("pad::Padded<cbc::Encrypt>", text), Some("cbc"));
        assert_eq!(module_of("Encrypt", text), None);
        assert_eq!(module_of("Two<Encrypt, Mac>", text), None);
    }

    #[test]
    fn paths_are_taken_off() {
        assert_eq!(
            without_paths("k::m::pkcs7::Padded<k::m::cbc::Encrypt>"),
            "Padded<Encrypt>"
        );
        assert_eq!(without_paths("k::m::ctr::Crypt<32>"), "Crypt<32>");
    }

    /// The files that `text` imports, of those in `files`; what tests import aside.
    fn imports(text: &str, files: &[String]) -> BTreeSet<String> {
        let (text, _) = text
            .split_once("#[cfg(test)]\nmod tests")
            .unwrap_or((text, ""));
        let code = text
            .lines()
            .map(|line| line.split("//").next().unwrap_or(line));
        let paths = code.flat_map(|line| line.split("crate::").skip(1));
        let names = paths.map(|path| {
            path.split(|c: char| c != '_' && !c.is_alphanumeric())
                .next()
        });
        let known = names
            .flatten()
            .filter(|name| files.iter().any(|f| f == name));
        known.map(str::to_owned).collect()
    }

    /// The table of HACKING.md has all files of the library, and each imports from rows above
    /// its own or from its own, where none is imported by what it imports.
    #[test]
    fn files_import_from_above() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let guide = fs::read_to_string(root.join("HACKING.md")).unwrap();
        let (_, table) = guide
            .split_once("| place | what goes there |\n|---|---|\n")
            .unwrap();
        let (table, _) = table.split_once("\n\n").unwrap();
        let mut rows = BTreeMap::new();
        for (row, line) in table.lines().enumerate() {
            let places = line
                .split('|')
                .nth(1)
                .unwrap()
                .split('`')
                .skip(1)
                .step_by(2);
            for name in
                places.filter_map(|place| place.strip_suffix(".rs").or(place.strip_suffix('/')))
            {
                rows.entry(name.to_owned()).or_insert(row);
            }
        }
        // Seen from its own folder, the registry is below the modes.
        let registry = table
            .lines()
            .position(|line| line.starts_with("| `modes.rs`"));
        rows.insert("modes".into(), registry.unwrap());
        let src = root.join("crates/aescomb/src");
        let mut graph: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        let mut folders = vec![src.clone()];
        let mut texts = Vec::new();
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap().flatten() {
                let path = entry.path();
                if path.is_dir() {
                    folders.push(path);
                    continue;
                }
                let inside = path.strip_prefix(&src).unwrap().with_extension("");
                let name = inside.iter().next().unwrap().to_string_lossy().into_owned();
                if name != "lib" {
                    texts.push((name, fs::read_to_string(&path).unwrap()));
                }
            }
        }
        let files = Vec::from_iter(texts.iter().map(|(name, _)| name.clone()));
        for (name, text) in &texts {
            let mut found = imports(text, &files);
            found.remove(name);
            graph.entry(name.clone()).or_default().extend(found);
        }
        assert!(
            graph.len() > 30 && graph["comb"].contains("engine"),
            "{graph:?}"
        );
        for (name, imported) in &graph {
            let row = rows
                .get(name)
                .unwrap_or_else(|| panic!("{name} is not in the table"));
            for other in imported {
                assert!(
                    rows[other] <= *row,
                    "{name} imports {other}, which is below it"
                );
            }
        }
        // Files that import nothing are taken away until none is left.
        while !graph.is_empty() {
            let done: Vec<String> = graph
                .iter()
                .filter(|(_, imported)| imported.is_empty())
                .map(|(name, _)| name.clone())
                .collect();
            assert!(!done.is_empty(), "a circle: {graph:?}");
            for name in done {
                graph.remove(&name);
                graph.values_mut().for_each(|imported| {
                    imported.remove(&name);
                });
            }
        }
    }
}
