//! `aescomb kat`: known-answer tests.

use crate::failure::{Failure, MISUSE, NEGATIVE};
use crate::output::{Output, say};
use crate::vectors::{File, Vector};
use aescomb::{Backend, Comb, Key, Keys, Kind, Message, Mode, Op, Status, Text};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Run files of known answers
///
/// Takes JSON files ({"mode", "key_bits", "nonce_bytes", "tag_bytes", "tests": [{"id", "key",
/// "nonce", "ad", "msg", "ct", "tag"}]}) and the text files of NIST (.rsp, .txt). Ciphers are tested
/// in both directions; tags are computed, accepted, and with a bit changed refused.
///
/// Every vector counts once for every backend, direction and way: alone, in a shuffled batch of all
/// vectors of its file, and, where several files are for one mode, in a shuffled batch of all
/// vectors of that mode. In a batch every message has a key of its own; key lengths are mixed as
/// they come.
///
/// The last line is "N passed, N failed". Exit status: 1 if a vector failed, 2 if a file cannot be
/// used (the others are run all the same).
#[derive(Debug, clap::Args)]
pub(crate) struct KatArgs {
    /// Files of known answers
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Run this backend only [default: all that this CPU has]
    #[arg(long, value_name = "NAME")]
    backend: Option<Backend>,
    /// Seed of the shuffling
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
}

/// Failures of a file that are printed one by one.
const SHOWN: usize = 10;

impl KatArgs {
    pub(crate) fn run(self, out: &mut Output) -> Result<ExitCode, Failure> {
        let backends: Vec<Backend> = match self.backend {
            Some(backend) => {
                Comb::with_backend(backend)?;
                vec![backend]
            }
            None => Backend::available().collect(),
        };
        let mut unusable = false;
        let mut files = Vec::new();
        for path in &self.files {
            match File::read(path) {
                Ok(file) => files.push(file),
                Err(error) => {
                    unusable = true;
                    say(format_args!("aescomb: {}: {error}", path.display()));
                }
            }
        }

        let mut total = Tally::default();
        for file in &files {
            let vectors: Vec<Case> = cases(file).collect();
            let mut tally = Tally::default();
            for backend in &backends {
                let mut runner = Runner::new(file.mode, *backend, &mut tally)?;
                runner.alone(&vectors)?;
                runner.shuffled(&vectors, self.seed)?;
            }
            report(
                out,
                &file.path.display().to_string(),
                file.mode,
                vectors.len(),
                tally,
                &mut total,
            )?;
        }
        for (mode, vectors) in by_mode(&files) {
            let mut tally = Tally::default();
            for backend in &backends {
                Runner::new(mode, *backend, &mut tally)?.shuffled(&vectors, self.seed)?;
            }
            report(
                out,
                &format!("all {mode} files"),
                mode,
                vectors.len(),
                tally,
                &mut total,
            )?;
        }
        writeln!(out, "{} passed, {} failed", total.passed, total.failed)?;
        Ok(match (total.failed, unusable) {
            (0, false) => ExitCode::SUCCESS,
            (0, true) => MISUSE.into(),
            _ => NEGATIVE.into(),
        })
    }
}

/// A vector and the file it is from.
#[derive(Clone, Copy)]
struct Case<'a> {
    file: &'a Path,
    vector: &'a Vector,
}

fn cases(file: &File) -> impl Iterator<Item = Case<'_>> {
    file.vectors.iter().map(|vector| Case {
        file: &file.path,
        vector,
    })
}

/// Vectors of modes that several files are for.
fn by_mode(files: &[File]) -> Vec<(Mode, Vec<Case<'_>>)> {
    let mut modes: BTreeMap<&str, Vec<&File>> = BTreeMap::new();
    for file in files {
        modes.entry(file.mode.name()).or_default().push(file);
    }
    modes
        .into_values()
        .filter(|files| files.len() > 1)
        .map(|files| {
            (
                files[0].mode,
                files.iter().copied().flat_map(cases).collect(),
            )
        })
        .collect()
}

/// Results of a file.
#[derive(Default)]
struct Tally {
    passed: usize,
    failed: usize,
    /// The first failures, in words.
    failures: Vec<String>,
}

fn report(
    out: &mut Output,
    name: &str,
    mode: Mode,
    vectors: usize,
    tally: Tally,
    total: &mut Tally,
) -> Result<(), Failure> {
    for failure in &tally.failures {
        say(format_args!("aescomb: {failure}"));
    }
    let hidden = tally.failed - tally.failures.len();
    if hidden > 0 {
        say(format_args!("aescomb: {name}: {hidden} more failed"));
    }
    writeln!(
        out,
        "{name}: {mode}, {vectors} vectors: {} passed, {} failed",
        tally.passed, tally.failed
    )?;
    total.passed += tally.passed;
    total.failed += tally.failed;
    Ok(())
}

/// Runs vectors of one mode on one backend.
struct Runner<'a> {
    mode: Mode,
    backend: Backend,
    comb: Comb,
    tally: &'a mut Tally,
}

/// What is wrong with a vector's result, if anything.
type Finding = Option<String>;

impl<'a> Runner<'a> {
    fn new(mode: Mode, backend: Backend, tally: &'a mut Tally) -> Result<Self, Failure> {
        Ok(Runner {
            mode,
            backend,
            comb: Comb::with_backend(backend)?,
            tally,
        })
    }

    fn directions(&self) -> [Op; 2] {
        match self.mode.info().kind {
            Kind::Mac => [Op::Mac, Op::Verify],
            _ => [Op::Encrypt, Op::Decrypt],
        }
    }

    /// Every vector in a call of its own, with one key.
    fn alone(&mut self, cases: &[Case<'_>]) -> Result<(), Failure> {
        let keys = self.expand(cases)?;
        for op in self.directions() {
            for (case, key) in cases.iter().zip(&keys) {
                let findings = self.batch(op, Keys::Shared(key), &[*case]);
                self.count(op, &[*case], findings, "alone");
            }
        }
        Ok(())
    }

    /// All vectors in one call, with a table of keys.
    fn shuffled(&mut self, cases: &[Case<'_>], seed: u64) -> Result<(), Failure> {
        let mut cases = cases.to_vec();
        fastrand::Rng::with_seed(seed).shuffle(&mut cases);
        let way = format!("in a batch of {} (shuffle seed {seed})", cases.len());
        let keys = self.expand(&cases)?;
        for op in self.directions() {
            let findings = self.batch(op, Keys::Table(&keys), &cases);
            self.count(op, &cases, findings, &way);
        }
        Ok(())
    }

    fn expand(&self, cases: &[Case<'_>]) -> Result<Vec<Key>, aescomb::Error> {
        let raw: Vec<&[u8]> = cases.iter().map(|case| &case.vector.key[..]).collect();
        let mut keys = Vec::new();
        Key::expand_many_with(self.backend, self.mode, &raw, &mut keys)?;
        Ok(keys)
    }

    fn batch(&mut self, op: Op, keys: Keys<'_>, cases: &[Case<'_>]) -> Vec<Finding> {
        let findings = match op {
            Op::Encrypt | Op::Decrypt => self.cipher(op, keys, cases),
            Op::Mac => self.mac(keys, cases),
            Op::Verify => self.verify(keys, cases),
        };
        findings.unwrap_or_else(|error| vec![Some(error.to_string()); cases.len()])
    }

    fn cipher(
        &mut self,
        op: Op,
        keys: Keys<'_>,
        cases: &[Case<'_>],
    ) -> Result<Vec<Finding>, aescomb::Error> {
        let from_to = |vector: &Vector| match op {
            Op::Encrypt => (vector.msg.clone(), vector.ct.clone()),
            _ => (vector.ct.clone(), vector.msg.clone()),
        };
        let (mut buffers, expected): (Vec<_>, Vec<_>) =
            cases.iter().map(|case| from_to(case.vector)).unzip();
        let mut batch: Vec<Message> = buffers
            .iter_mut()
            .zip(&expected)
            .zip(cases)
            .enumerate()
            .map(|(i, ((buffer, expected), case))| {
                let len = buffer.len();
                buffer.resize(len.max(expected.len()), 0);
                Message::new(Text::in_place_with_room(buffer, len))
                    .nonce(&case.vector.nonce)
                    .key(i as u32)
            })
            .collect();
        if op == Op::Encrypt {
            self.comb.encrypt(keys, &mut batch)?;
        } else {
            // Each message's status says what there is to say.
            let _ = self.comb.decrypt(keys, &mut batch)?;
        }
        Ok(batch
            .iter()
            .zip(&expected)
            .map(|(message, expected)| match message.status() {
                Status::Done => differs(message.output(), expected),
                status => Some(format!("{status:?}")),
            })
            .collect())
    }

    fn mac(&mut self, keys: Keys<'_>, cases: &[Case<'_>]) -> Result<Vec<Finding>, aescomb::Error> {
        let mut tags: Vec<Vec<u8>> = cases
            .iter()
            .map(|case| vec![0; case.vector.tag.len()])
            .collect();
        self.comb.mac(keys, &mut messages(cases, &mut tags))?;
        Ok(tags
            .iter()
            .zip(cases)
            .map(|(tag, case)| differs(tag, &case.vector.tag))
            .collect())
    }

    fn verify(
        &mut self,
        keys: Keys<'_>,
        cases: &[Case<'_>],
    ) -> Result<Vec<Finding>, aescomb::Error> {
        let mut tags: Vec<Vec<u8>> = cases.iter().map(|case| case.vector.tag.clone()).collect();
        let mut findings = vec![None; cases.len()];
        for (expected, says) in [
            (Status::Done, "the right tag is refused"),
            (Status::BadTag, "a wrong tag is accepted"),
        ] {
            let mut batch = messages(cases, &mut tags);
            // Each message's status says what there is to say.
            let _ = self.comb.verify(keys, &mut batch)?;
            for (message, finding) in batch.iter().zip(&mut findings) {
                if message.status() != expected {
                    *finding = Some(says.into());
                }
            }
            drop(batch);
            for (i, tag) in tags.iter_mut().enumerate() {
                let bit = i % (8 * tag.len());
                tag[bit / 8] ^= 1 << (bit % 8);
            }
        }
        Ok(findings)
    }

    fn count(&mut self, op: Op, cases: &[Case<'_>], findings: Vec<Finding>, way: &str) {
        for (case, finding) in cases.iter().zip(findings) {
            let Some(what) = finding else {
                self.tally.passed += 1;
                continue;
            };
            self.tally.failed += 1;
            if self.tally.failures.len() < SHOWN {
                self.tally.failures.push(format!(
                    "{}: test {}: {}, backend {}, {way}: {what}",
                    case.file.display(),
                    case.vector.id,
                    op.name(),
                    self.backend
                ));
            }
        }
    }
}

fn messages<'a>(cases: &[Case<'a>], tags: &'a mut [Vec<u8>]) -> Vec<Message<'a>> {
    cases
        .iter()
        .zip(tags)
        .enumerate()
        .map(|(i, (case, tag))| {
            Message::new(Text::read_only(&case.vector.msg))
                .nonce(&case.vector.nonce)
                .tag(tag)
                .key(i as u32)
        })
        .collect()
}

/// Where bytes differ from what they should be.
fn differs(got: &[u8], expected: &[u8]) -> Finding {
    if got == expected {
        return None;
    }
    let at = got
        .iter()
        .zip(expected)
        .position(|(a, b)| a != b)
        .unwrap_or(got.len().min(expected.len()));
    let show = |bytes: &[u8]| hex::encode(&bytes[at..bytes.len().min(at + 16)]);
    Some(format!(
        "from byte {at} on expected {}, got {}",
        show(expected),
        show(got)
    ))
}
