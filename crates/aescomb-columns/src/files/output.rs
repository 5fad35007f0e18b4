//! Files that are written: complete or absent.

use super::input::Input;
use super::{Kind, csv, wrong};
use crate::error::Error;
use crate::header::{Header, METADATA_KEY};
use crate::spec::Encryption;
use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use parquet::arrow::ARROW_SCHEMA_META_KEY;
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::schema::types::ColumnPath;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

/// The most bytes of a row group that is being written.
const GROUP: usize = 256 << 20;

/// Permissions of files with keys.
#[cfg(unix)]
const SECRET: u32 = 0o600;

/// A file that is written under another name until it is complete.
struct Partial {
    place: PathBuf,
    path: PathBuf,
    file: File,
    complete: bool,
}

impl Partial {
    /// For nobody else to read if it is `secret`.
    fn create(place: &Path, secret: bool) -> Result<Partial, Error> {
        let at = |path: &Path| {
            let path = path.to_owned();
            move |error: std::io::Error| wrong(&path, error)
        };
        let folder = folder_of(place);
        std::fs::create_dir_all(folder).map_err(at(folder))?;
        let Some(name) = place.file_name() else {
            return Err(wrong(place, "no name of a file"));
        };
        let mut hidden = std::ffi::OsString::from(".");
        hidden.push(name);
        hidden.push(".partial");
        let path = folder.join(hidden);
        let mut options = OpenOptions::new();
        // What a run that was killed has left is cut off, once nobody else writes to it.
        options.write(true).create(true).truncate(false);
        #[cfg(unix)]
        {
            use std::os::unix::fs::OpenOptionsExt;
            // A link there would have another file written.
            options.custom_flags(libc::O_NOFOLLOW);
            if secret {
                options.mode(SECRET);
            }
        }
        let file = loop {
            let file = options.open(&path).map_err(at(&path))?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => {
                    return Err(wrong(place, "another run is writing it"));
                }
                Err(TryLockError::Error(error)) => return Err(wrong(&path, error)),
            }
            // Before the lock, another run may have given the file its name, or removed it.
            if is_at(&file, &path).map_err(at(&path))? {
                break file;
            }
        };
        #[cfg(unix)]
        if secret {
            use std::os::unix::fs::PermissionsExt;
            // What was left may be for everybody to read.
            let mode = std::fs::Permissions::from_mode(SECRET);
            file.set_permissions(mode).map_err(at(&path))?;
        }
        #[cfg(not(unix))]
        let _ = secret;
        file.set_len(0).map_err(at(&path))?;
        Ok(Partial {
            place: place.to_owned(),
            path,
            file,
            complete: false,
        })
    }

    /// Gives it its name, when it is on disk.
    fn finish(mut self) -> Result<(), Error> {
        let place = self.place.clone();
        let failed = |error| wrong(&place, error);
        self.file.sync_all().map_err(failed)?;
        std::fs::rename(&self.path, &self.place).map_err(failed)?;
        self.complete = true;
        // The name is on disk when the folder is; not all systems let folders be opened.
        match File::open(folder_of(&self.place)) {
            Ok(folder) => folder.sync_all().map_err(failed),
            Err(_) => Ok(()),
        }
    }
}

impl Drop for Partial {
    fn drop(&mut self) {
        if !self.complete {
            // It has no name that anybody would take for a result.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// Whether this file has this name.
#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> std::io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    let file = file.metadata()?;
    match std::fs::symlink_metadata(path) {
        Ok(there) => Ok((there.dev(), there.ino()) == (file.dev(), file.ino())),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// Elsewhere, names stay while files are open.
#[cfg(not(unix))]
fn is_at(_: &File, _: &Path) -> std::io::Result<bool> {
    Ok(true)
}

fn folder_of(path: &Path) -> &Path {
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    folder.unwrap_or(Path::new("."))
}

/// Writes a small file: complete or absent, and for nobody else to read if it is `secret`.
pub(crate) fn write_whole(place: &Path, bytes: &[u8], secret: bool) -> Result<(), Error> {
    let mut partial = Partial::create(place, secret)?;
    let written = partial.file.write_all(bytes);
    written.map_err(|error| wrong(place, error))?;
    partial.finish()
}

enum Writer {
    Parquet(Box<ArrowWriter<BufWriter<File>>>),
    Csv(Box<arrow_csv::Writer<BufWriter<File>>>),
}

/// A file that is written.
pub(super) struct Output {
    partial: Partial,
    writer: Writer,
}

impl Output {
    /// `header`: that of what is written; `before`: that of what is read.
    pub(super) fn create(
        place: &Path,
        kind: Kind,
        schema: &SchemaRef,
        input: &Input,
        header: Option<&Header>,
        before: Option<&Header>,
    ) -> Result<Output, Error> {
        let partial = Partial::create(place, false)?;
        let file = partial.file.try_clone();
        let file = BufWriter::new(file.map_err(|error| wrong(place, error))?);
        let writer = match kind {
            Kind::Csv => {
                let builder = arrow_csv::WriterBuilder::new().with_header(true);
                Writer::Csv(Box::new(builder.build(file)))
            }
            Kind::Parquet => {
                let properties = properties(input, header, before)?;
                let writer = ArrowWriter::try_new(file, schema.clone(), Some(properties));
                Writer::Parquet(Box::new(writer.map_err(|error| wrong(place, error))?))
            }
        };
        let mut output = Output { partial, writer };
        if let Writer::Csv(_) = output.writer {
            // The names of columns, also if no rows follow.
            output.write(&RecordBatch::new_empty(schema.clone()))?;
        }
        Ok(output)
    }

    fn failed(&self, error: impl ToString) -> Error {
        wrong(&self.partial.place, error)
    }

    pub(super) fn write(&mut self, batch: &RecordBatch) -> Result<(), Error> {
        match &mut self.writer {
            Writer::Csv(writer) => {
                let written = writer.write(&csv::encode(batch)?);
                written.map_err(|error| self.failed(error))
            }
            Writer::Parquet(writer) => {
                let written =
                    writer
                        .write(batch)
                        .and_then(|()| match writer.in_progress_size() >= GROUP {
                            true => writer.flush(),
                            false => Ok(()),
                        });
                written.map_err(|error| self.failed(error))
            }
        }
    }

    /// Row groups end where those of the file that is read do.
    pub(super) fn end_group(&mut self) -> Result<(), Error> {
        match &mut self.writer {
            Writer::Csv(_) => Ok(()),
            Writer::Parquet(writer) => {
                let flushed = writer.flush();
                flushed.map_err(|error| self.failed(error))
            }
        }
    }

    pub(super) fn finish(self) -> Result<(), Error> {
        let Output { partial, writer } = self;
        let failed = |error: String| wrong(&partial.place, error);
        let mut file = match writer {
            Writer::Csv(writer) => writer.into_inner(),
            Writer::Parquet(writer) => {
                let file = writer.into_inner();
                file.map_err(|error| failed(error.to_string()))?
            }
        };
        file.flush().map_err(|error| failed(error.to_string()))?;
        partial.finish()
    }
}

/// As the file that is read was written, as far as that is known; nothing of encrypted columns
/// is left that tells of their values.
fn properties(
    input: &Input,
    header: Option<&Header>,
    before: Option<&Header>,
) -> Result<WriterProperties, Error> {
    let encrypted = |name: &str| header.and_then(|header| header.columns.get(name));
    let decrypted = |name: &str| before.is_some_and(|header| header.columns.contains_key(name));
    let mut metadata = Vec::new();
    let mut usual = Compression::SNAPPY;
    let mut builder = WriterProperties::builder()
        .set_max_row_group_row_count(None)
        .set_max_row_group_bytes(None);
    if let Some(given) = input.metadata() {
        let pairs = given
            .file_metadata()
            .key_value_metadata()
            .into_iter()
            .flatten();
        let own = |pair: &&KeyValue| ![ARROW_SCHEMA_META_KEY, METADATA_KEY].contains(&&*pair.key);
        metadata.extend(pairs.filter(own).cloned());
        let columns = given.row_groups().first().map(|group| group.columns());
        let columns = columns.unwrap_or_default();
        let mut used = columns.iter().map(|column| column.compression());
        usual = used
            .find(|codec| *codec != Compression::UNCOMPRESSED)
            .unwrap_or(usual);
        for column in columns {
            let path = column.column_path();
            let name = path.parts().first().map_or("", |name| name);
            if encrypted(name).is_none() && !decrypted(name) {
                let filter = column.bloom_filter_offset().is_some();
                builder = builder
                    .set_column_compression(path.clone(), column.compression())
                    .set_column_bloom_filter_enabled(path.clone(), filter);
            }
        }
    }
    builder = builder.set_compression(usual);
    if let Some(header) = header {
        metadata.push(KeyValue::new(METADATA_KEY.to_owned(), header.to_json()?));
        for (name, column) in &header.columns {
            let repeats = column.encryption == Encryption::Deterministic;
            let mut columns = vec![(name, repeats)];
            columns.extend(column.nonces.iter().map(|name| (name, false)));
            for (name, repeats) in columns {
                let path = ColumnPath::new(vec![name.clone()]);
                builder = builder
                    .set_column_statistics_enabled(path.clone(), EnabledStatistics::None)
                    .set_column_bloom_filter_enabled(path.clone(), false)
                    .set_column_dictionary_enabled(path.clone(), repeats)
                    // Nothing compresses ciphertext.
                    .set_column_compression(path, Compression::UNCOMPRESSED);
            }
        }
    }
    Ok(builder.set_key_value_metadata(Some(metadata)).build())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs that write the same file at the same time: each says so or writes it whole.
    #[test]
    fn one_writes_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("out");
        write_whole(&place, &[7; 1000], false).unwrap();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..200 {
                        if let Err(error) = write_whole(&place, &[7; 1000], false) {
                            let text = error.to_string();
                            assert!(text.contains("another run is writing it"), "{text}");
                        }
                        assert_eq!(std::fs::read(&place).unwrap(), [7; 1000]);
                    }
                });
            }
        });
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn links_are_not_followed_and_secrets_are_for_the_owner() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let (place, other) = (folder.path().join("out"), folder.path().join("other"));
        let hidden = folder.path().join(".out.partial");
        std::fs::write(&other, "of others").unwrap();
        std::os::unix::fs::symlink(&other, &hidden).unwrap();
        write_whole(&place, b"keys", true).unwrap_err();
        assert_eq!(std::fs::read(&other).unwrap(), b"of others");
        std::fs::remove_file(&hidden).unwrap();
        // Left by a run that was killed.
        std::fs::write(&hidden, "left").unwrap();
        write_whole(&place, b"keys", true).unwrap();
        assert_eq!(std::fs::read(&place).unwrap(), b"keys");
        assert_eq!(
            place.metadata().unwrap().permissions().mode() & 0o777,
            0o600
        );
    }
}
