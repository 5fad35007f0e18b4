//! The command `aescomb columns`.

use crate::algorithm::KeyType;
use crate::cipher::OnFailure;
use crate::error::{Error, Failure};
use crate::files::{self, Done, FileReport, Job, Options, Watch};
use crate::keyset::{Keyset, Prefix, Status};
use crate::spec::Spec;
use clap::{Args, Subcommand, ValueEnum};
use indicatif::{ProgressBar, ProgressStyle};
use std::io::Write;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use zeroize::Zeroizing;

/// What is done with files and keysets.
#[derive(Debug, Subcommand)]
pub enum ColumnsCommand {
    /// Encrypt the columns that a spec names
    Encrypt(EncryptArgs),
    /// Decrypt what is encrypted
    Decrypt(DecryptArgs),
    /// Decrypt, and encrypt again under the primary keys
    Rotate(DecryptArgs),
    /// Look whether everything can be decrypted; of tokens, which are not authenticated, only
    /// whether they have the form of tokens
    ///
    /// Prints what cannot, as lines of JSON. Exit status 1 if there is anything.
    Verify(VerifyArgs),
    /// Print what files say of themselves; keys are not needed
    Inspect(InspectArgs),
    /// Make and change keysets
    #[command(subcommand)]
    Keys(KeysCommand),
}

/// Which keys.
#[derive(Debug, Args)]
struct KeyFiles {
    /// File with a keyset, or folder with such files; may be given several times
    #[arg(long, value_name = "FILE", required = true)]
    keys: Vec<PathBuf>,
    /// File with the plain keyset that wraps the others, which then must all be wrapped
    #[arg(long, value_name = "FILE")]
    wrapped_by: Option<PathBuf>,
}

/// How many threads.
#[derive(Debug, Args)]
struct Work {
    /// The most threads that work on a column [default: one for each core]
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,
}

/// What `encrypt` takes.
#[derive(Debug, Args)]
pub struct EncryptArgs {
    /// File or folder
    #[arg(value_name = "IN")]
    from: PathBuf,
    /// File or folder
    #[arg(value_name = "OUT")]
    to: PathBuf,
    /// File with the spec
    #[arg(long, value_name = "FILE")]
    spec: PathBuf,
    #[command(flatten)]
    keys: KeyFiles,
    /// Make keysets in the folder of --keys for columns that have no key there
    #[arg(long)]
    create_keys: bool,
    #[command(flatten)]
    work: Work,
    /// Write files anew that are there
    #[arg(long)]
    overwrite: bool,
}

/// What `decrypt` and `rotate` take.
#[derive(Debug, Args)]
pub struct DecryptArgs {
    /// File or folder
    #[arg(value_name = "IN")]
    from: PathBuf,
    /// File or folder
    #[arg(value_name = "OUT")]
    to: PathBuf,
    /// File with the spec: what a file says of itself must agree with it, as nothing
    /// authenticates that; to rotate, it says how, for the same columns
    #[arg(long, value_name = "FILE")]
    spec: Option<PathBuf>,
    #[command(flatten)]
    keys: KeyFiles,
    #[command(flatten)]
    work: Work,
    /// What becomes of values that cannot be decrypted
    #[arg(long, value_enum, default_value = "stop")]
    on_failure: FailureArg,
    /// Write files anew that are there
    #[arg(long)]
    overwrite: bool,
}

/// What `verify` takes.
#[derive(Debug, Args)]
pub struct VerifyArgs {
    /// File or folder
    #[arg(value_name = "IN")]
    from: PathBuf,
    /// File with the spec: what a file says of itself must agree with it; without one,
    /// a column that the file says is not encrypted is not looked at
    #[arg(long, value_name = "FILE")]
    spec: Option<PathBuf>,
    #[command(flatten)]
    keys: KeyFiles,
    #[command(flatten)]
    work: Work,
}

/// What `inspect` takes.
#[derive(Debug, Args)]
pub struct InspectArgs {
    /// Files
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// As lines of JSON
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum FailureArg {
    /// The first one ends the run, and of its file nothing is left
    Stop,
    /// They become null, and are printed as lines of JSON
    Null,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum PrefixArg {
    /// 0x01 and the identifier
    Tink,
    /// 0x00 and the identifier
    Crunchy,
    /// Nothing
    Raw,
}

/// What is done with keysets.
#[derive(Debug, Subcommand)]
pub enum KeysCommand {
    /// Write a keyset with a new key, or add one to it
    Add(AddArgs),
    /// Wrap a plain keyset: read it, write it wrapped
    ///
    /// The plain file is replaced, unless OUT is given; what the disk may still have of it is not
    /// wiped.
    Wrap(WrapArgs),
    /// Print identifiers, types and statuses
    List(KeysetArgs),
    /// Make a key the primary: new values are encrypted under it
    Primary(KeyArgs),
    /// Let a key be used again
    Enable(KeyArgs),
    /// Let a key be used no more
    Disable(KeyArgs),
    /// Remove a key for ever
    Remove(KeyArgs),
}

/// Which keyset.
#[derive(Debug, Args)]
pub struct KeysetArgs {
    /// File with the keyset
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// File with the plain keyset that wraps it; a plain one is refused then
    #[arg(long, value_name = "FILE")]
    wrapped_by: Option<PathBuf>,
}

/// Which key.
#[derive(Debug, Args)]
pub struct KeyArgs {
    #[command(flatten)]
    keyset: KeysetArgs,
    /// Identifier of the key
    #[arg(value_name = "ID")]
    id: u32,
}

/// What `keys add` takes.
#[derive(Debug, Args)]
pub struct AddArgs {
    #[command(flatten)]
    keyset: KeysetArgs,
    /// What the key is for, such as aes-256-siv or aes-128-gcm
    #[arg(long = "type", value_name = "TYPE")]
    of: String,
    /// File with the key, its bytes as they are, instead of a new random one
    #[arg(long, value_name = "FILE")]
    secret: Option<PathBuf>,
    /// Fold the bytes of --secret into a key, as MySQL does
    #[arg(long, requires = "secret")]
    mysql: bool,
    /// What its values begin with in the format tink [default: as Tink's templates have it]
    #[arg(long, value_enum)]
    prefix: Option<PrefixArg>,
}

/// What `keys wrap` takes.
#[derive(Debug, Args)]
pub struct WrapArgs {
    /// File with the plain keyset
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// File that is not there yet, for the wrapped keyset [default: FILE]
    #[arg(value_name = "OUT")]
    to: Option<PathBuf>,
    /// File with the plain keyset that wraps it, by a key for AES-GCM
    #[arg(long, value_name = "FILE")]
    wrapped_by: PathBuf,
}

fn failed(path: &Path, what: impl ToString) -> Error {
    Error::File {
        path: path.to_owned(),
        what: what.to_string(),
    }
}

/// A file that is a secret, or may be.
fn read(path: &Path) -> Result<Zeroizing<Vec<u8>>, Error> {
    let bytes = std::fs::read(path).map_err(|error| failed(path, error))?;
    Ok(bytes.into())
}

fn read_text(path: &Path) -> Result<Zeroizing<String>, Error> {
    let bytes = read(path)?;
    let text = str::from_utf8(&bytes).map_err(|error| failed(path, error))?;
    Ok(text.to_owned().into())
}

fn read_spec(path: &Path) -> Result<Spec, Error> {
    let text = read_text(path)?;
    let spec = match path
        .extension()
        .is_some_and(|extension| extension == "json")
    {
        true => Spec::from_json(&text),
        false => Spec::from_toml(&text),
    };
    spec.map_err(|error| failed(path, error))
}

fn read_keyset(path: &Path, wrapped_by: Option<&Path>) -> Result<Keyset, Error> {
    let text = read_text(path)?;
    let keyset = match wrapped_by {
        // A plain one would be one that anybody may have put there.
        Some(service) => Keyset::from_wrapped_json(&text, &read_keyset(service, None)?, b""),
        None => Keyset::from_json(&text),
    };
    keyset.map_err(|error| failed(path, error))
}

fn write_keyset(path: &Path, wrapped_by: Option<&Path>, keyset: &Keyset) -> Result<(), Error> {
    let text = match wrapped_by {
        Some(service) => keyset
            .to_wrapped_json(&read_keyset(service, None)?, b"")?
            .into(),
        None => keyset.to_json()?,
    };
    files::write_whole(path, text.as_bytes(), true)
}

impl KeyFiles {
    fn read(&self) -> Result<Vec<Keyset>, Error> {
        let mut files = Vec::new();
        for path in &self.keys {
            if !path.is_dir() {
                files.push(path.clone());
                continue;
            }
            let entries = std::fs::read_dir(path).map_err(|error| failed(path, error))?;
            let mut own = Vec::new();
            for entry in entries {
                let file = entry.map_err(|error| failed(path, error))?.path();
                own.extend(Some(file).filter(|file| file.extension() == Some("json".as_ref())));
            }
            own.sort();
            if own.is_empty() {
                return Err(failed(path, "no file in it whose name ends in .json"));
            }
            files.extend(own);
        }
        let read = |path: &PathBuf| read_keyset(path, self.wrapped_by.as_deref());
        files.iter().map(read).collect()
    }

    /// As [`KeyFiles::read`], after making keysets in the folder for columns that have no key.
    fn create(&self, spec: &Spec) -> Result<Vec<Keyset>, Error> {
        let [folder] = &self.keys[..] else {
            let what = format!("with {} times --keys", self.keys.len());
            return Err(Error::spec("--create-keys", what, "once"));
        };
        if folder.exists() && !folder.is_dir() {
            return Err(failed(folder, "--create-keys wants a folder"));
        }
        let mut keysets = match folder.exists() {
            true => self.read()?,
            false => Vec::new(),
        };
        for column in spec.columns.values().filter(|column| column.key.is_none()) {
            if column.fits(&keysets) {
                continue;
            }
            let Some(of) = column.usual_key() else {
                continue;
            };
            let mut keyset = Keyset::new();
            keyset.generate(of)?;
            let path = folder.join(format!("{of}.json"));
            if path.exists() {
                return Err(failed(
                    &path,
                    "it is there, and its primary key is for something else",
                ));
            }
            write_keyset(&path, self.wrapped_by.as_deref(), &keyset)?;
            keysets.push(keyset);
        }
        Ok(keysets)
    }
}

impl Work {
    fn threads(&self) -> NonZeroUsize {
        let every = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
        self.threads.unwrap_or(every)
    }
}

/// Shows a bar on a terminal, and prints failures.
struct Shown<'a> {
    out: &'a mut dyn Write,
    bar: ProgressBar,
}

impl Watch for Shown<'_> {
    fn total(&mut self, rows: Option<u64>) {
        let style = match rows {
            Some(rows) => {
                self.bar.set_length(rows);
                "{bar:30} {human_pos} of {human_len} rows, {per_sec} rows, {eta} left"
            }
            None => "{spinner} {human_pos} rows, {per_sec} rows",
        };
        if let Ok(style) = ProgressStyle::with_template(style) {
            self.bar.set_style(style);
        }
    }

    fn rows(&mut self, rows: u64) {
        self.bar.inc(rows);
    }

    fn failure(&mut self, path: &Path, failure: &Failure) -> Result<(), Error> {
        let line = serde_json::json!({
            "file": path.display().to_string(),
            "column": failure.column,
            "row": failure.row,
            "reason": failure.reason.to_string(),
        });
        writeln!(self.out, "{line}").map_err(Error::System)
    }

    fn skipped(&mut self, path: &Path) {
        self.bar
            .println(format!("{}: complete already", path.display()));
    }
}

impl ColumnsCommand {
    /// Runs it: whether everything could be decrypted. Data goes to `out`, progress and
    /// a summary to standard error.
    ///
    /// # Errors
    ///
    /// What keeps it from its result.
    pub fn run(self, out: &mut dyn Write) -> Result<bool, Error> {
        match self {
            ColumnsCommand::Encrypt(args) => {
                let spec = read_spec(&args.spec)?;
                let keysets = match args.create_keys {
                    true => args.keys.create(&spec)?,
                    false => args.keys.read()?,
                };
                let options = Options {
                    keysets,
                    threads: args.work.threads(),
                    on_failure: OnFailure::Stop,
                    overwrite: args.overwrite,
                };
                work(
                    &Job::Encrypt(spec),
                    &args.from,
                    Some(&args.to),
                    &options,
                    out,
                )
            }
            ColumnsCommand::Decrypt(args) => args.run(Job::Decrypt, out),
            ColumnsCommand::Rotate(args) => args.run(Job::Rotate, out),
            ColumnsCommand::Verify(args) => {
                let spec = args.spec.as_deref().map(read_spec).transpose()?;
                let options = Options {
                    keysets: args.keys.read()?,
                    threads: args.work.threads(),
                    on_failure: OnFailure::Null,
                    overwrite: false,
                };
                work(&Job::Verify(spec), &args.from, None, &options, out)
            }
            ColumnsCommand::Inspect(args) => {
                for file in &args.files {
                    let report = files::inspect(file)?;
                    let shown = match args.json {
                        true => writeln!(out, "{}", serde_json::json!(report)),
                        false => show(&report, out),
                    };
                    shown.map_err(Error::System)?;
                }
                Ok(true)
            }
            ColumnsCommand::Keys(command) => command.run(out).map(|()| true),
        }
    }
}

impl DecryptArgs {
    fn run(
        self,
        job: impl FnOnce(Option<Spec>) -> Job,
        out: &mut dyn Write,
    ) -> Result<bool, Error> {
        let spec = self.spec.as_deref().map(read_spec).transpose()?;
        let options = Options {
            keysets: self.keys.read()?,
            threads: self.work.threads(),
            on_failure: match self.on_failure {
                FailureArg::Stop => OnFailure::Stop,
                FailureArg::Null => OnFailure::Null,
            },
            overwrite: self.overwrite,
        };
        work(&job(spec), &self.from, Some(&self.to), &options, out)
    }
}

fn work(
    job: &Job,
    from: &Path,
    to: Option<&Path>,
    options: &Options,
    out: &mut dyn Write,
) -> Result<bool, Error> {
    let bar = ProgressBar::no_length();
    let mut shown = Shown { out, bar };
    let done = files::run(job, from, to, options, &mut shown);
    shown.bar.finish_and_clear();
    let Done {
        files,
        skipped,
        rows,
        failures,
    } = done?;
    let what = match job {
        Job::Encrypt(_) => "encrypted",
        Job::Decrypt(_) => "decrypted",
        Job::Rotate(_) => "rotated",
        Job::Verify(_) => "verified",
    };
    let mut line = format!("{what}: files {files}, rows {rows}");
    if skipped > 0 {
        line += &format!("; complete already: files {skipped}");
    }
    if failures > 0 {
        line += &format!("; failed: values {failures}");
    }
    let _ = writeln!(std::io::stderr(), "{line}");
    Ok(failures == 0)
}

fn show(report: &FileReport, out: &mut dyn Write) -> std::io::Result<()> {
    let rows = report.rows.map_or("?".to_owned(), |rows| rows.to_string());
    let groups = report.row_groups;
    writeln!(out, "{}: rows {rows}, row groups {groups}", report.file)?;
    if let Some(dataset) = &report.dataset {
        writeln!(out, "dataset {dataset:?}")?;
    }
    let width = report
        .columns
        .iter()
        .map(|column| column.name.len())
        .max()
        .unwrap_or(0);
    for column in &report.columns {
        let what = match &column.encrypted {
            None => format!("{}, not encrypted", column.of),
            Some(how) => {
                let alphabet = how.alphabet.as_ref().map(|alphabet| {
                    let count = alphabet.chars().count();
                    format!(", alphabet of {count} characters")
                });
                format!(
                    "{}, was {}: {}, format {}, mode {}, key {}{}",
                    column.of,
                    how.of,
                    how.encryption,
                    how.format,
                    how.mode,
                    how.key,
                    alphabet.unwrap_or_default()
                )
            }
        };
        let statistics = match column.statistics {
            true => "; with statistics",
            false => "",
        };
        writeln!(out, "{:width$}  {what}{statistics}", column.name)?;
    }
    Ok(())
}

impl KeysCommand {
    fn run(self, out: &mut dyn Write) -> Result<(), Error> {
        let change = |args: KeyArgs, change: &dyn Fn(&mut Keyset, u32) -> Result<(), Error>| {
            let KeysetArgs { file, wrapped_by } = args.keyset;
            let mut keyset = read_keyset(&file, wrapped_by.as_deref())?;
            change(&mut keyset, args.id)?;
            write_keyset(&file, wrapped_by.as_deref(), &keyset)
        };
        match self {
            KeysCommand::Add(args) => args.run(out),
            KeysCommand::Wrap(args) => args.run(),
            KeysCommand::List(KeysetArgs { file, wrapped_by }) => {
                let keyset = read_keyset(&file, wrapped_by.as_deref())?;
                let primary = keyset.primary()?.id();
                for key in keyset.keys() {
                    let status = match key.status() {
                        Status::Enabled if key.id() == primary => "primary",
                        Status::Enabled => "enabled",
                        Status::Disabled => "disabled",
                    };
                    let written =
                        writeln!(out, "{:10}  {:8}  {}", key.id(), status, key.key_type());
                    written.map_err(Error::System)?;
                }
                Ok(())
            }
            KeysCommand::Primary(args) => change(args, &Keyset::set_primary),
            KeysCommand::Enable(args) => {
                change(args, &|keyset, id| keyset.set_status(id, Status::Enabled))
            }
            KeysCommand::Disable(args) => {
                change(args, &|keyset, id| keyset.set_status(id, Status::Disabled))
            }
            KeysCommand::Remove(args) => change(args, &Keyset::remove),
        }
    }
}

impl AddArgs {
    fn run(self, out: &mut dyn Write) -> Result<(), Error> {
        let KeysetArgs { file, wrapped_by } = self.keyset;
        let of: KeyType = self.of.parse()?;
        let mut keyset = match file.exists() {
            true => read_keyset(&file, wrapped_by.as_deref())?,
            false => Keyset::new(),
        };
        let prefix = self.prefix.map(|prefix| match prefix {
            PrefixArg::Tink => Prefix::Tink,
            PrefixArg::Crunchy => Prefix::Crunchy,
            PrefixArg::Raw => Prefix::Raw,
        });
        let secret = self.secret.as_deref().map(read).transpose()?;
        let secret = secret.map(|secret| match self.mysql {
            true => crate::mysql_key(8 * of.key_bytes(), &secret),
            false => Ok(secret),
        });
        let secret = secret.transpose()?;
        let id = keyset.put(of, secret.as_ref().map(|secret| &secret[..]), prefix)?;
        write_keyset(&file, wrapped_by.as_deref(), &keyset)?;
        writeln!(out, "{id}").map_err(Error::System)
    }
}

impl WrapArgs {
    fn run(self) -> Result<(), Error> {
        let whole = |path: &Path| path.canonicalize().map_err(|error| failed(path, error));
        if whole(&self.file)? == whole(&self.wrapped_by)? {
            return Err(failed(&self.file, "a keyset cannot wrap itself"));
        }
        if let Some(to) = self.to.as_ref().filter(|to| to.exists()) {
            return Err(failed(to, "it is there"));
        }
        let keyset = read_keyset(&self.file, None)?;
        let to = self.to.as_ref().unwrap_or(&self.file);
        write_keyset(to, Some(&self.wrapped_by), &keyset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_keysets_are_refused_where_wrapped_ones_are_wanted() {
        let folder = tempfile::tempdir().unwrap();
        let (path, service) = (folder.path().join("a.json"), folder.path().join("w.json"));
        let mut wrapping = Keyset::new();
        wrapping.generate("aes-256-gcm".parse().unwrap()).unwrap();
        let mut keys = Keyset::new();
        let id = keys.generate("aes-256-siv".parse().unwrap()).unwrap();
        write_keyset(&service, None, &wrapping).unwrap();
        write_keyset(&path, Some(&service), &keys).unwrap();
        assert!(
            read_keyset(&path, Some(&service))
                .unwrap()
                .get(id)
                .is_some()
        );
        let wrapped = std::fs::read_to_string(&path).unwrap();
        assert!(Keyset::is_wrapped(&wrapped));
        let text = read_keyset(&path, None).unwrap_err().to_string();
        assert!(text.contains("it is wrapped"), "{text}");
        // Damaged, it is no plain one.
        let damaged = wrapped.replacen("\"encryptedKeyset\": \"", "\"encryptedKeyset\": \"!", 1);
        assert!(Keyset::is_wrapped(&damaged) && damaged != wrapped);
        std::fs::write(&path, damaged).unwrap();
        read_keyset(&path, Some(&service)).unwrap_err();
        write_keyset(&path, None, &keys).unwrap();
        let text = read_keyset(&path, Some(&service)).unwrap_err().to_string();
        assert!(text.contains("no wrapped keyset"), "{text}");
    }
}
