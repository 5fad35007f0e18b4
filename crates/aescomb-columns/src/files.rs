//! Parquet and CSV files.
//!
//! Files are read, encrypted and written batch by batch: what is in memory is a row group that is
//! being written, at most 256 MiB of it, and a few megabytes. Results are written to a hidden file
//! beside their place, and get their name when they are complete and on disk.
//!
//! Of encrypted columns no statistics, page indexes and Bloom filters are written. What else is in
//! the metadata of a Parquet file is copied.

mod csv;
mod input;
mod inspect;
mod output;

pub use inspect::{ColumnReport, FileReport, inspect};

use crate::cipher::{Cipher, OnFailure};
use crate::error::{Error, Failure};
use crate::header::{ColumnHeader, Header};
use crate::keyset::Keyset;
use crate::spec::{ColumnSpec, Spec};
use arrow_array::RecordBatch;
use arrow_schema::{Schema, SchemaRef};
use input::Input;
use output::Output;
pub(crate) use output::write_whole;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

/// What is to be done with files.
#[derive(Clone, Debug)]
pub enum Job {
    /// Encrypt columns.
    Encrypt(Spec),
    /// Decrypt what is encrypted. A spec is needed for files that do not say what that is; others
    /// must agree with it.
    Decrypt(Option<Spec>),
    /// Decrypt, and encrypt again under the primary keys; as a spec says, if there is one, which
    /// must be about the same columns.
    Rotate(Option<Spec>),
    /// Decrypt, and keep nothing. What a file says of itself must agree with a spec.
    Verify(Option<Spec>),
}

/// How it is done.
#[derive(Clone, Debug)]
pub struct Options {
    /// The keys.
    pub keysets: Vec<Keyset>,
    /// The most threads that work on a column.
    pub threads: NonZeroUsize,
    /// What is done with values that cannot be decrypted.
    pub on_failure: OnFailure,
    /// Whether files that are there are written anew.
    pub overwrite: bool,
}

/// Who is told how it goes.
pub trait Watch {
    /// So many rows there are in all, if that is known.
    fn total(&mut self, rows: Option<u64>) {
        let _ = rows;
    }

    /// So many more rows are done.
    fn rows(&mut self, rows: u64) {
        let _ = rows;
    }

    /// A value could not be decrypted.
    ///
    /// # Errors
    ///
    /// What keeps the run from going on.
    fn failure(&mut self, path: &Path, failure: &Failure) -> Result<(), Error> {
        let _ = (path, failure);
        Ok(())
    }

    /// A file was complete before.
    fn skipped(&mut self, path: &Path) {
        let _ = path;
    }
}

/// Nobody.
impl Watch for () {}

/// What was done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Done {
    /// Files that were written, or verified.
    pub files: u64,
    /// Files that were complete before.
    pub skipped: u64,
    /// Rows of the former.
    pub rows: u64,
    /// Values that could not be decrypted.
    pub failures: u64,
}

/// What a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Parquet,
    Csv,
}

impl Kind {
    fn of(path: &Path) -> Option<Kind> {
        let extension = path.extension()?.to_str()?.to_ascii_lowercase();
        match &*extension {
            "parquet" | "parq" => Some(Kind::Parquet),
            "csv" => Some(Kind::Csv),
            _ => None,
        }
    }

    fn known(path: &Path) -> Result<Kind, Error> {
        let what = "expected a name that ends in .parquet or .csv";
        Kind::of(path).ok_or_else(|| wrong(path, what))
    }
}

fn wrong(path: &Path, what: impl ToString) -> Error {
    Error::File {
        path: path.to_owned(),
        what: what.to_string(),
    }
}

/// Does a job with a file, or with all Parquet and CSV files of a folder and the folders in it,
/// whose results get the same names in the folder `to`. Hidden files and those whose names begin
/// with `_` are left out. Files whose results are complete are skipped, so that a run that
/// was interrupted goes on where it was.
///
/// # Errors
///
/// The first mistake. Files that were done before stay; of the one that it happened in
/// nothing is left.
pub fn run(
    job: &Job,
    from: &Path,
    to: Option<&Path>,
    options: &Options,
    watch: &mut dyn Watch,
) -> Result<Done, Error> {
    let mut files = Vec::new();
    if let Some(to) = to.filter(|to| from.is_dir() && to.starts_with(from)) {
        return Err(wrong(to, "it is in the folder that is read"));
    }
    match from.is_dir() {
        true => folder(from, to, &mut files)?,
        false => files.push((from.to_owned(), to.map(Path::to_owned))),
    }
    if files.is_empty() {
        return Err(wrong(
            from,
            "no file in it whose name ends in .parquet or .csv",
        ));
    }
    let rows = files.iter().map(|(path, _)| match Kind::of(path) {
        Some(Kind::Parquet) => Input::open(path, None).ok().map(|input| input.rows()),
        _ => None,
    });
    let total: Option<Vec<u64>> = rows.collect();
    watch.total(total.map(|rows| rows.iter().sum()));
    let mut done = Done::default();
    for (from, to) in files {
        one(job, &from, to.as_deref(), options, watch, &mut done)?;
    }
    Ok(done)
}

/// The files of a folder, in order, and where their results go.
fn folder(
    from: &Path,
    to: Option<&Path>,
    files: &mut Vec<(PathBuf, Option<PathBuf>)>,
) -> Result<(), Error> {
    let entries = std::fs::read_dir(from).map_err(|error| wrong(from, error))?;
    let names = entries.map(|entry| entry.map(|entry| entry.file_name()));
    let mut names: Vec<_> = names
        .collect::<Result<_, _>>()
        .map_err(|error| wrong(from, error))?;
    names.sort();
    for name in names {
        let hidden = name.to_string_lossy().starts_with(['.', '_']);
        let (path, to) = (from.join(&name), to.map(|to| to.join(&name)));
        if hidden {
            continue;
        }
        match path.is_dir() {
            true => folder(&path, to.as_deref(), files)?,
            false if Kind::of(&path).is_some() => files.push((path, to)),
            false => {}
        }
    }
    Ok(())
}

/// What is done with the batches of a file.
struct Steps {
    decrypt: Option<Cipher>,
    encrypt: Option<Cipher>,
    on_failure: OnFailure,
}

impl Steps {
    fn new(job: &Job, schema: &Schema, options: &Options) -> Result<Steps, Error> {
        let keys = &options.keysets;
        let decrypt = |spec: &Option<Spec>| Cipher::of_schema(schema, spec.as_ref(), keys);
        let (mut decrypt, mut encrypt) = match job {
            Job::Encrypt(spec) => (None, Some(Cipher::new(spec, keys, schema)?)),
            Job::Decrypt(spec) | Job::Verify(spec) => (Some(decrypt(spec)?), None),
            Job::Rotate(spec) => {
                let old = Cipher::to_rotate(schema, spec.as_ref(), keys)?;
                let spec = match spec {
                    Some(spec) => spec.clone(),
                    None => old.header().spec()?,
                };
                let new = Cipher::new(&spec, keys, &old.decrypted_schema(schema))?;
                (Some(old), Some(new))
            }
        };
        for cipher in decrypt.iter_mut().chain(&mut encrypt) {
            cipher.set_threads(options.threads);
        }
        let on_failure = match job {
            Job::Verify(_) => OnFailure::Null,
            _ => options.on_failure,
        };
        Ok(Steps {
            decrypt,
            encrypt,
            on_failure,
        })
    }

    /// The schema of results.
    fn schema(&self, schema: &SchemaRef) -> Result<SchemaRef, Error> {
        let mut schema = schema.clone();
        if let Some(cipher) = &self.decrypt {
            schema = cipher.decrypted_schema(&schema);
            if self.on_failure == OnFailure::Null {
                // What is decrypted may become null.
                schema = nullable(&schema, cipher);
            }
        }
        match &self.encrypt {
            Some(cipher) => cipher.encrypted_schema(&schema),
            None => Ok(schema),
        }
    }

    fn batch(&self, batch: RecordBatch) -> Result<(RecordBatch, Vec<Failure>), Error> {
        let (mut batch, mut failures) = (batch, Vec::new());
        if let Some(cipher) = &self.decrypt {
            (batch, failures) = cipher.decrypt(&batch, self.on_failure)?;
        }
        if let Some(cipher) = &self.encrypt {
            batch = cipher.encrypt(&batch)?;
        }
        Ok((batch, failures))
    }
}

fn nullable(schema: &SchemaRef, cipher: &Cipher) -> SchemaRef {
    let fields = schema.fields().iter().map(|field| {
        match cipher.header().columns.contains_key(field.name()) {
            true => field.as_ref().clone().with_nullable(true).into(),
            false => field.clone(),
        }
    });
    let fields: Vec<arrow_schema::FieldRef> = fields.collect();
    Schema::new_with_metadata(fields, schema.metadata().clone()).into()
}

impl Header {
    /// The spec that a file was encrypted by, but for keys and limits.
    fn spec(&self) -> Result<Spec, Error> {
        let column = |(name, header): (&String, &ColumnHeader)| {
            if header.associated_data {
                let field = format!("columns.{name}.associated_data");
                let allowed = "a spec with what was given when it was encrypted";
                return Err(Error::spec(field, "missing", allowed));
            }
            let spec = ColumnSpec {
                encryption: header.encryption,
                format: header.format,
                key: None,
                key_column: header.key_column.clone(),
                nonces: header.nonces.clone(),
                associated_data: None,
                alphabet: header.alphabet.clone(),
                tweak: header.tweak.clone(),
                limit: None,
                of: None,
            };
            Ok((name.clone(), spec))
        };
        Ok(Spec {
            dataset: self.dataset.clone(),
            columns: self.columns.iter().map(column).collect::<Result<_, _>>()?,
        })
    }

    /// Whether it says the same, but for the salts of files.
    fn is_like(&self, other: &Header) -> bool {
        let unsalted = |header: &Header| {
            let mut header = header.clone();
            for column in header.columns.values_mut() {
                column.salt = column.salt.as_ref().map(|_| String::new());
            }
            header
        };
        unsalted(self) == unsalted(other)
    }
}

fn one(
    job: &Job,
    from: &Path,
    to: Option<&Path>,
    options: &Options,
    watch: &mut dyn Watch,
    done: &mut Done,
) -> Result<(), Error> {
    let spec = match job {
        Job::Encrypt(spec) => Some(spec),
        Job::Decrypt(spec) | Job::Rotate(spec) | Job::Verify(spec) => spec.as_ref(),
    };
    let types = spec.filter(|_| matches!(job, Job::Encrypt(_)));
    let input = Input::open(from, types)?;
    let mut job = job.clone();
    if input.kind() == Kind::Csv
        && let Job::Decrypt(Some(spec)) | Job::Rotate(Some(spec)) | Job::Verify(Some(spec)) =
            &mut job
    {
        // All values of such files are text.
        for column in spec.columns.values_mut() {
            column.of.get_or_insert_with(|| "string".to_owned());
        }
    }
    let place = |error| match error {
        Error::File { .. } => error,
        Error::Value(_) => error,
        other => wrong(from, other),
    };
    let encoded = match (input.kind(), &job) {
        (Kind::Csv, Job::Encrypt(_)) | (Kind::Parquet, _) => Vec::new(),
        (Kind::Csv, _) => csv::encoded(spec),
    };
    let schema = csv::decoded_schema(input.schema(), &encoded);
    let steps = Steps::new(&job, &schema, options).map_err(place)?;
    let results = steps.schema(&schema).map_err(place)?;
    let mut output = None;
    if let Some(to) = to {
        let kind = Kind::known(to)?;
        if let (Kind::Csv, Some(cipher)) = (kind, &steps.encrypt) {
            let columns = &cipher.header().columns;
            if let Some((name, _)) = columns.iter().find(|(_, column)| column.salt.is_some()) {
                let what =
                    format!("column {name:?} has a key of the file, and CSV no place for its salt");
                return Err(wrong(to, what));
            }
        }
        if !options.overwrite && to.exists() {
            let like = steps.encrypt.as_ref().map(Cipher::header);
            if is_done(from, &input, to, kind, like) {
                watch.skipped(to);
                watch.rows(input.rows());
                done.skipped += 1;
                return Ok(());
            }
            let what = "it is there, and not what this run would write; --overwrite replaces it";
            return Err(wrong(to, what));
        }
        let header = steps.encrypt.as_ref().map(Cipher::header);
        let made = steps.decrypt.as_ref().map(Cipher::header);
        output = Some(Output::create(to, kind, &results, &input, header, made)?);
    }
    let mut rows = 0;
    for group in 0..input.groups() {
        for batch in input.group(group)? {
            let stopped = |error| match error {
                Error::Value(mut failure) => {
                    failure.row += rows;
                    wrong(from, failure)
                }
                other => place(other),
            };
            let decoded = csv::decode(batch?, &encoded, steps.on_failure);
            let (batch, mut failures) = decoded.map_err(stopped)?;
            let count = batch.num_rows() as u64;
            let (batch, failed) = steps.batch(batch).map_err(stopped)?;
            failures.extend(failed);
            for failure in &mut failures {
                failure.row += rows;
                watch.failure(from, failure)?;
            }
            done.failures += failures.len() as u64;
            rows += count;
            if let Some(output) = &mut output {
                output.write(&batch)?;
            }
            watch.rows(count);
        }
        if let Some(output) = &mut output {
            output.end_group()?;
        }
    }
    if let Some(output) = output {
        output.finish()?;
    }
    done.files += 1;
    done.rows += rows;
    Ok(())
}

/// Whether a file that is there is what would be written: a complete file is, if it says the same
/// of itself and is not older than what it was made of.
fn is_done(from: &Path, input: &Input, to: &Path, kind: Kind, like: Option<&Header>) -> bool {
    let changed = |path: &Path| path.metadata().and_then(|data| data.modified()).ok();
    if changed(to) < changed(from) {
        return false;
    }
    if kind == Kind::Csv {
        return true;
    }
    let Ok(there) = Input::open(to, None) else {
        return false;
    };
    let header = Header::of_schema(there.schema());
    let same = match (header, like) {
        (Ok(Some(header)), Some(like)) => header.is_like(like),
        (Ok(None), None) => true,
        _ => false,
    };
    same && (input.kind() == Kind::Csv || there.rows() == input.rows())
}
