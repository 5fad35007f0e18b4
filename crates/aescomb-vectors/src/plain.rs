//! All vectors of the repository, and the plain form in which they are checked in for readers in
//! other languages: a file for each mode, a vector on a line.
//!
//! ```text
//! # nist/GCM: 6 files, 9450 vectors, 2360 of them to be refused, 0 tests left out
//! KEY NONCE DATA MESSAGE CIPHERTEXT TAG ok
//! KEY NONCE DATA - CIPHERTEXT TAG refused
//! ```
//!
//! Fields are hexadecimal digits, or `-` for no bytes. A comma ends every component of the
//! associated data, so that none is `-` and an empty one is `,`. The comments say how many
//! vectors there are of each source: they are part of what is compared, so that none is lost
//! unnoticed.

use crate::{Error, File, Kind, MODES, Mode, Problem, Vector};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Where vectors are from: folders of [`folders`].
const GROUPS: &[&str] = &["nist", "supercop", "derived", "research"];

/// The folder of the plain form.
pub const PLAIN: &str = "plain";

/// A folder of files for one mode, which has its name.
#[derive(Debug)]
pub struct Folder {
    /// With the folder that it is in, as `nist/GCM`.
    pub name: String,
    /// The mode.
    pub mode: &'static Mode,
    /// Its files, by name.
    pub files: Vec<File>,
}

impl Folder {
    /// The vectors of all its files.
    pub fn vectors(&self) -> impl Iterator<Item = &Vector> {
        self.files.iter().flat_map(|file| &file.vectors)
    }
}

fn error(file: &Path, problem: Problem) -> Error {
    Error {
        file: file.to_owned(),
        line: None,
        test: None,
        field: None,
        problem,
    }
}

/// What is in a folder, by name.
fn listed(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let unreadable = |e| error(folder, Problem::Unreadable(e));
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(unreadable)? {
        paths.push(entry.map_err(unreadable)?.path());
    }
    paths.sort();
    Ok(paths)
}

/// Reads all files of the folder `vectors` of the repository. A file that is for no mode, but
/// for something made of one, is passed over.
pub fn folders(vectors: &Path) -> Result<Vec<Folder>, Error> {
    let mut folders = Vec::new();
    for group in GROUPS {
        let inside = listed(&vectors.join(group))?;
        for path in inside.iter().filter(|path| path.is_dir()) {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let mut files = Vec::new();
            for file in listed(path)? {
                match File::read(&file) {
                    Ok(file) => files.push(file),
                    Err(Error {
                        problem: Problem::Variant(_),
                        ..
                    }) => {}
                    Err(error) => return Err(error),
                }
            }
            let Some(mode) = files.first().map(|file| file.mode) else {
                continue;
            };
            if let Some(other) = files.iter().find(|f| f.mode.name != name.to_lowercase()) {
                let what = format!("it is for {}, in a folder for {name}", other.mode.name);
                return Err(error(&other.path, Problem::Damaged(what)));
            }
            folders.push(Folder {
                name: format!("{group}/{name}"),
                mode,
                files,
            });
        }
    }
    Ok(folders)
}

/// The plain form of all vectors: names of files, and their text.
pub fn written(folders: &[Folder]) -> BTreeMap<String, String> {
    let mut texts = BTreeMap::new();
    for mode in MODES {
        let mut text = format!(
            "# Known answers of {}, written by `cargo xtask vectors`. ../README.md says what the\n\
             # fields are.\n",
            mode.name
        );
        for folder in folders.iter().filter(|folder| folder.mode == mode) {
            let refused = folder.vectors().filter(|vector| vector.refused).count();
            let left_out = folder.files.iter().flat_map(|file| file.left_out.values());
            // Writing to a string does not fail.
            let _ = writeln!(
                text,
                "# {}: {} files, {} vectors, {refused} of them to be refused, {} tests left out",
                folder.name,
                folder.files.len(),
                folder.vectors().count(),
                left_out.sum::<usize>()
            );
            for vector in folder.vectors() {
                text += &line(vector);
                text.push('\n');
            }
        }
        texts.insert(format!("{}.txt", mode.name), text);
    }
    texts
}

/// A vector's line.
pub fn line(vector: &Vector) -> String {
    let field = |bytes: &Vec<u8>| match bytes.is_empty() {
        true => "-".to_owned(),
        false => hex::encode(bytes),
    };
    let data = match vector.data.is_empty() {
        true => "-".to_owned(),
        false => vector
            .data
            .iter()
            .map(|part| hex::encode(part) + ",")
            .collect(),
    };
    [
        field(&vector.key),
        field(&vector.nonce),
        data,
        field(&vector.msg),
        field(&vector.ct),
        field(&vector.tag),
        if vector.refused { "refused" } else { "ok" }.to_owned(),
    ]
    .join(" ")
}

/// Reads the plain form of a mode's vectors; errors say the line.
pub fn read(text: &str, mode: &'static Mode, file: &Path) -> Result<Vec<Vector>, Error> {
    let mut vectors = Vec::new();
    for (i, line) in text.lines().enumerate() {
        if line.starts_with('#') {
            continue;
        }
        let damaged = |what: String| Error {
            line: Some(i + 1),
            ..error(file, Problem::Damaged(what))
        };
        let bytes = |name: &str, digits: &str| match digits {
            "-" => Ok(Vec::new()),
            digits => hex::decode(digits).map_err(|e| Error {
                field: Some(name.into()),
                ..damaged(e.to_string())
            }),
        };
        let fields: Vec<&str> = line.split(' ').collect();
        let [key, nonce, data, msg, ct, tag, verdict] = fields[..] else {
            return Err(damaged(format!("{} fields, not 7", fields.len())));
        };
        let refused = match verdict {
            "ok" => false,
            "refused" => true,
            other => return Err(damaged(format!("{other} is no verdict"))),
        };
        let data = match data.strip_suffix(',') {
            None if data == "-" => Vec::new(),
            None => return Err(damaged("data without a comma at its end".into())),
            Some(list) => {
                let parts = list.split(',').map(|part| bytes("data", part));
                parts.collect::<Result<_, _>>()?
            }
        };
        vectors.push(Vector {
            id: String::new(),
            line: Some(i + 1),
            mode,
            key: bytes("key", key)?,
            nonce: bytes("nonce", nonce)?,
            data,
            msg: bytes("message", msg)?,
            ct: bytes("ciphertext", ct)?,
            tag: bytes("tag", tag)?,
            refused,
            monte_carlo: None,
        });
    }
    Ok(vectors)
}

/// What is wrong with the plain form that is checked in: names of files that are missing, too
/// many, or not what the sources give.
pub fn stale(vectors: &Path) -> Result<Vec<String>, Error> {
    let written = written(&folders(vectors)?);
    let folder = vectors.join(PLAIN);
    let mut stale = Vec::new();
    for (name, text) in &written {
        // A system may have changed the ends of lines.
        let found = std::fs::read_to_string(folder.join(name)).unwrap_or_default();
        if found.replace('\r', "") != *text {
            stale.push(name.clone());
        }
    }
    for path in listed(&folder)? {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if !written.contains_key(&*name) {
            stale.push(name.into_owned());
        }
    }
    Ok(stale)
}

/// Writes the plain form anew.
pub fn write(vectors: &Path) -> Result<(), Error> {
    let written = written(&folders(vectors)?);
    let folder = vectors.join(PLAIN);
    let failed = |e| error(&folder, Problem::Unreadable(e));
    if folder.exists() {
        std::fs::remove_dir_all(&folder).map_err(failed)?;
    }
    std::fs::create_dir(&folder).map_err(failed)?;
    for (name, text) in written {
        std::fs::write(folder.join(name), text).map_err(failed)?;
    }
    Ok(())
}

impl Vector {
    /// How long the message is: a refused ciphertext's would be as long as that.
    pub fn msg_len(&self) -> usize {
        match self.refused && self.mode.kind != Kind::Mac {
            true => self.ct.len(),
            false => self.msg.len(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines() {
        let mode = Mode::named("siv").unwrap();
        let file = Path::new("siv.txt");
        let text = "# a\n01 - - 02 03 04 ok\n01 05 , - 03 04 refused\n01 - aa,,bbcc, - - 04 ok\n";
        let vectors = read(text, mode, file).unwrap();
        let data: Vec<_> = vectors.iter().map(|v| v.data.clone()).collect();
        let parts = |parts: &[&[u8]]| parts.iter().map(|part| part.to_vec()).collect::<Vec<_>>();
        let three: &[&[u8]] = &[&[0xaa], &[], &[0xbb, 0xcc]];
        assert_eq!(data, [parts(&[]), parts(&[&[]]), parts(three)]);
        let again: Vec<String> = vectors.iter().map(line).collect();
        assert!(text.ends_with(&(again.join("\n") + "\n")));
        for (from, to, says) in [
            ("02 03", "0 03", "line 2: message: Odd number of digits"),
            ("02 03", "0x 03", "line 2: message: Invalid character"),
            ("02 03", "03", "line 2: 6 fields, not 7"),
            ("05 ,", "05 aa", "line 3: data without a comma"),
            ("refused", "maybe", "line 3: maybe is no verdict"),
        ] {
            let error = read(&text.replace(from, to), mode, file).unwrap_err();
            let error = error.to_string();
            assert!(
                error.starts_with(&format!("siv.txt: damaged: {says}")),
                "{error}"
            );
        }
    }
}
