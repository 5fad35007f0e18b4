//! `aescomb kat`: known-answer tests.

use crate::failure::{Failure, MISUSE, NEGATIVE};
use crate::output::{Output, say};
use crate::vectors::File;
use aescomb::{AnyKey, Backend, Comb, Keys, Kind, Message, Mode, Op, OpenError, Status, Text};
use aescomb_vectors::monte_carlo::{Chain, End, STEPS};
use aescomb_vectors::{Direction, Problem, Vector};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Run files of known answers
///
/// Takes the response files of NIST's CAVP and others in their form (.rsp, .txt), Monte Carlo
/// tests among them; the JSON of NIST's ACVP (internalProjection.json, or prompt.json with
/// expectedResults.json beside it); the JSON of Project Wycheproof; and JSON as {"mode",
/// "key_bits", "nonce_bytes", "tag_bytes", "tests": [{"id", "key", "nonce", "ad", "msg", "ct",
/// "tag"}]}: "key_bits" of one AES key, "ad" a component of associated data or a list of them,
/// "out" in the place of "ct" and "tag" all that is put out. A file whose mode has something in
/// parentheses after its name, as in "aes-128-julius (as coded)", is not for that mode: it is left
/// out, which a line says. Tests that the library has nothing for are left out, too: lines say how
/// many, and why.
///
/// Ciphers are tested in both directions; tags are computed, accepted, and with a bit changed refused.
/// The changed bit is one of tag, text, associated data or nonce, in turn. A message that is refused
/// must have been wiped. Of a Monte Carlo test every chain of 1000 blocks is run, alone and beside
/// the others of its file, and must end where the next one begins.
///
/// Every vector counts once for every backend, direction and way: alone, in a shuffled batch of all
/// vectors of its file, and, where several files are for one mode, in a shuffled batch of all
/// vectors of that mode. In a batch every message has a key of its own; key lengths are mixed as
/// they come.
///
/// The last line is "N passed, N failed". Exit status: 1 if a vector failed, 2 if a file cannot be
/// used, or has nothing that can be run (the others are run all the same).
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
                Err(error) if matches!(error.problem, Problem::Variant(_)) => {
                    writeln!(out, "{error}")?;
                }
                Err(error) => {
                    unusable = true;
                    say(format_args!("aescomb: {error}"));
                }
            }
        }

        let mut total = Tally::default();
        for file in &files {
            let vectors: Vec<Case> = cases(file).collect();
            let chains: Vec<Case> = chains(file).collect();
            let mut tally = Tally::default();
            for backend in &backends {
                let mut runner = Runner::new(file.mode, *backend, &mut tally)?;
                runner.alone(&vectors)?;
                runner.shuffled(&vectors, self.seed)?;
                runner.monte_carlo(&chains)?;
            }
            report(
                out,
                &file.path.display().to_string(),
                file.mode,
                file.vectors.len(),
                tally,
                &mut total,
            )?;
            for (reason, count) in &file.left_out {
                writeln!(
                    out,
                    "{}: {count} vectors left out: {reason}",
                    file.path.display()
                )?;
            }
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
        if files.is_empty() && !unusable {
            unusable = true;
            say(format_args!(
                "aescomb: nothing was run: all files are left out"
            ));
        }
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

impl Case<'_> {
    /// Whether the vector says what the result is: what has to be refused can only
    /// be opened, verified or decrypted.
    fn has(&self, op: Op) -> bool {
        matches!(op, Op::Open | Op::Verify | Op::Decrypt) || !self.vector.refused
    }
}

fn all(file: &File) -> impl Iterator<Item = Case<'_>> {
    file.vectors.iter().map(|vector| Case {
        file: &file.path,
        vector,
    })
}

/// A file's vectors but those of Monte Carlo tests.
fn cases(file: &File) -> impl Iterator<Item = Case<'_>> {
    all(file).filter(|case| case.vector.monte_carlo.is_none())
}

/// A file's vectors of Monte Carlo tests.
fn chains(file: &File) -> impl Iterator<Item = Case<'_>> {
    all(file).filter(|case| case.vector.monte_carlo.is_some())
}

/// Vectors of modes that several files are for.
fn by_mode(files: &[File]) -> Vec<(Mode, Vec<Case<'_>>)> {
    let mut modes: BTreeMap<&str, Vec<&File>> = BTreeMap::new();
    for file in files.iter().filter(|file| cases(file).next().is_some()) {
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

    /// Every vector in a call of its own, with one key.
    fn alone(&mut self, cases: &[Case<'_>]) -> Result<(), Failure> {
        let keys = self.expand(cases)?;
        for op in self.mode.info().kind.ops() {
            for (i, (case, key)) in cases.iter().zip(&keys).enumerate() {
                if case.has(op) {
                    let findings = self.batch(op, Keys::from(key), &[*case], i);
                    self.count(op, &[*case], findings, "alone");
                }
            }
        }
        Ok(())
    }

    /// All vectors in one call, with a table of keys.
    fn shuffled(&mut self, cases: &[Case<'_>], seed: u64) -> Result<(), Failure> {
        let mut cases = cases.to_vec();
        fastrand::Rng::with_seed(seed).shuffle(&mut cases);
        for op in self.mode.info().kind.ops() {
            let cases: Vec<Case> = cases.iter().copied().filter(|case| case.has(op)).collect();
            let way = format!("in a batch of {} (shuffle seed {seed})", cases.len());
            let keys = self.expand(&cases)?;
            let findings = self.batch(op, Keys::from(&keys), &cases, 0);
            self.count(op, &cases, findings, &way);
        }
        Ok(())
    }

    /// Chains, each in calls of its own, and those of a direction side by side, as each
    /// says where it begins.
    fn monte_carlo(&mut self, cases: &[Case<'_>]) -> Result<(), Failure> {
        for op in self.mode.info().kind.ops() {
            let direction = match op {
                Op::Encrypt => Direction::Encrypt,
                _ => Direction::Decrypt,
            };
            let of_op = |case: &&Case| {
                let chain = case.vector.monte_carlo;
                chain.is_some_and(|chain| chain.direction == direction)
            };
            let cases: Vec<Case> = cases.iter().filter(of_op).copied().collect();
            let keys = self.expand(&cases)?;
            let begin: Vec<Chain> = cases
                .iter()
                .filter_map(|case| Chain::new(case.vector))
                .collect();

            let mut ends = begin.clone();
            for (chain, key) in ends.iter_mut().zip(&keys) {
                for _ in 0..STEPS {
                    self.step(op, Keys::from(key), std::slice::from_mut(chain))?;
                }
            }
            self.count(op, &cases, broken(&cases, &ends), "a chain alone");

            let mut ends = begin;
            for _ in 0..STEPS {
                self.step(op, Keys::from(&keys), &mut ends)?;
            }
            let way = format!("beside {} other chains", cases.len().saturating_sub(1));
            self.count(op, &cases, broken(&cases, &ends), &way);
        }
        Ok(())
    }

    /// The next block of every chain, in one call.
    fn step(&mut self, op: Op, keys: Keys<'_>, chains: &mut [Chain]) -> Result<(), aescomb::Error> {
        let mut blocks: Vec<[u8; 16]> = chains.iter().map(|chain| *chain.input()).collect();
        let mut batch: Vec<Message> = blocks
            .iter_mut()
            .zip(&*chains)
            .enumerate()
            .map(|(i, (block, chain))| {
                let text = Text::in_place(block);
                Message::new(text).nonce(chain.nonce()).key_index(i as u32)
            })
            .collect();
        // A cipher that does not pad has nothing to refuse.
        done(self.comb.run(op, keys, &mut batch))?;
        drop(batch);
        for (chain, block) in chains.iter_mut().zip(blocks) {
            chain.push(block);
        }
        Ok(())
    }

    fn expand(&self, cases: &[Case<'_>]) -> Result<Vec<AnyKey>, aescomb::Error> {
        let raw: Vec<&[u8]> = cases.iter().map(|case| &case.vector.key[..]).collect();
        let mut keys = Vec::new();
        AnyKey::expand_many_with(self.backend, self.mode, &raw, &mut keys)?;
        Ok(keys)
    }

    /// The vectors in one call, and where tags are checked in another one with a
    /// bit of each vector changed; `turn` decides which one.
    fn batch(&mut self, op: Op, keys: Keys<'_>, cases: &[Case<'_>], turn: usize) -> Vec<Finding> {
        let tag_first = keys.mode().is_ok_and(|mode| mode.info().tag_first);
        let mut trials: Vec<Trial> = cases
            .iter()
            .map(|case| Trial::new(op, case.vector, tag_first))
            .collect();
        let right = self.attempt(op, keys, &trials);
        let findings = match op {
            Op::Verify | Op::Open => right.and_then(|right| {
                for (i, trial) in trials.iter_mut().enumerate() {
                    trial.change(turn + i);
                }
                let changed = self.attempt(op, keys, &trials)?;
                let both = right.into_iter().zip(changed);
                Ok(both.map(|(right, changed)| right.or(changed)).collect())
            }),
            _ => right,
        };
        findings.unwrap_or_else(|error| vec![Some(error.to_string()); cases.len()])
    }

    /// All trials in one call; what is wrong with each.
    fn attempt(
        &mut self,
        op: Op,
        keys: Keys<'_>,
        trials: &[Trial],
    ) -> Result<Vec<Finding>, aescomb::Error> {
        let mac = self.mode.info().kind == Kind::Mac;
        // Results replace the messages, tags the tags.
        let mut texts: Vec<Vec<u8>> = trials
            .iter()
            .map(|trial| {
                let mut text = trial.text.clone();
                if let Expected::Output(output) = &trial.expected {
                    text.resize(text.len().max(output.len()), 0);
                }
                text
            })
            .collect();
        let mut tags: Vec<Vec<u8>> = trials.iter().map(|trial| trial.tag.clone()).collect();
        let data: Vec<Vec<&[u8]>> = trials
            .iter()
            .map(|trial| trial.data.iter().map(Vec::as_slice).collect())
            .collect();
        let mut batch: Vec<Message> = texts
            .iter_mut()
            .zip(&mut tags)
            .zip(trials.iter().zip(&data))
            .enumerate()
            .map(|(i, ((text, tag), (trial, data)))| {
                let message = match mac {
                    true => Message::new(Text::read_only(text)).tag(tag),
                    false => Message::new(Text::in_place_with_room(text, trial.text.len()))
                        .tag_attached(trial.attached)
                        .opened_len(trial.opened),
                };
                message
                    .nonce(&trial.nonce)
                    .associated_data_vector(data)
                    .key_index(i as u32)
            })
            .collect();
        // Each message's status says what there is to say.
        done(self.comb.run(op, keys, &mut batch))?;
        let findings: Vec<Finding> = batch
            .iter()
            .zip(trials)
            .map(
                |(message, trial)| match (message.status(), &trial.expected) {
                    (Status::Done, Expected::Output(output)) => differs(message.output(), output),
                    (Status::Done, Expected::Tag(_)) => None,
                    (Status::Done, Expected::Refused) => Some("a wrong tag is accepted".into()),
                    (Status::BadTag | Status::BadPadding, Expected::Refused)
                        if message.output().is_empty() =>
                    {
                        None
                    }
                    (Status::BadTag, Expected::Output(_)) => {
                        Some("the right tag is refused".into())
                    }
                    (status, _) => Some(format!("{status:?}")),
                },
            )
            .collect();
        drop(batch);
        let left = |i: usize| match &trials[i].expected {
            Expected::Tag(tag) => differs(&tags[i], tag),
            Expected::Refused if op != Op::Verify => {
                let opened = texts[i].len() - trials[i].attached;
                let wiped = texts[i][..opened].iter().all(|byte| *byte == 0);
                (!wiped).then(|| "refused, but not wiped".into())
            }
            _ => None,
        };
        Ok(findings
            .into_iter()
            .enumerate()
            .map(|(i, finding)| finding.or_else(|| left(i)))
            .collect())
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

/// A vector as an operation is given it, and what should come of it.
struct Trial {
    /// With the tag where there is something to open.
    text: Vec<u8>,
    nonce: Vec<u8>,
    data: Vec<Vec<u8>>,
    /// Bytes of tag in one piece with a sealed text, and whether they stand before it.
    attached: usize,
    tag_first: bool,
    /// Bytes of the message in it, for modes that do not tell.
    opened: usize,
    /// The tag of a MAC, or room for it.
    tag: Vec<u8>,
    expected: Expected,
}

enum Expected {
    Output(Vec<u8>),
    Tag(Vec<u8>),
    /// A verdict, and nothing else.
    Refused,
}

impl Trial {
    fn new(op: Op, vector: &Vector, tag_first: bool) -> Trial {
        let Vector { msg, ct, tag, .. } = vector;
        let sealed = || match tag_first {
            true => [&tag[..], ct].concat(),
            false => [&ct[..], tag].concat(),
        };
        let (text, expected) = match op {
            Op::Encrypt => (msg.clone(), Expected::Output(ct.clone())),
            Op::Decrypt if vector.refused => (ct.clone(), Expected::Refused),
            Op::Decrypt => (ct.clone(), Expected::Output(msg.clone())),
            Op::Seal => (msg.clone(), Expected::Output(sealed())),
            Op::Open if vector.refused => (sealed(), Expected::Refused),
            Op::Open => (sealed(), Expected::Output(msg.clone())),
            Op::Mac => (msg.clone(), Expected::Tag(tag.clone())),
            Op::Verify if vector.refused => (msg.clone(), Expected::Refused),
            Op::Verify => (msg.clone(), Expected::Output(Vec::new())),
        };
        Trial {
            text,
            nonce: vector.nonce.clone(),
            data: vector.data.clone(),
            attached: match op {
                Op::Seal | Op::Open => tag.len(),
                _ => 0,
            },
            tag_first,
            opened: vector.msg_len(),
            tag: match op {
                Op::Mac => vec![0; tag.len()],
                Op::Verify => tag.clone(),
                _ => Vec::new(),
            },
            expected,
        }
    }

    /// Changes a bit of tag, text, associated data or nonce, so that it has to be
    /// refused; what has to be anyway is left as it is.
    fn change(&mut self, turn: usize) {
        if matches!(self.expected, Expected::Refused) {
            return;
        }
        self.expected = Expected::Refused;
        let (text, attached) = match self.tag_first {
            true => {
                let (tag, text) = self.text.split_at_mut(self.attached);
                (text, tag)
            }
            false => {
                let end = self.text.len() - self.attached;
                self.text.split_at_mut(end)
            }
        };
        let mut parts = vec![attached, &mut self.tag, text, &mut self.nonce];
        parts.extend(self.data.iter_mut().map(Vec::as_mut_slice));
        parts.retain(|part| !part.is_empty());
        let (count, part) = (parts.len(), turn % parts.len());
        let bit = turn / count % (8 * parts[part].len());
        parts[part][bit / 8] ^= 1 << (bit % 8);
    }
}

/// What is wrong with chains that were run to their ends.
fn broken(cases: &[Case<'_>], chains: &[Chain]) -> Vec<Finding> {
    let ends: Vec<End> = chains.iter().map(Chain::end).collect();
    let finding = |i: usize| {
        let result = differs(&ends[i].output, cases[i].vector.output());
        let next = cases.get(i + 1).map(|case| case.vector);
        let follows = |next: &&Vector| next.monte_carlo.is_some_and(|chain| chain.follows);
        result.or_else(|| {
            let next = next.filter(follows)?;
            let (key, nonce, input) = (&ends[i].key, &ends[i].nonce, &ends[i].input);
            [
                ("key", &key[..], &next.key[..]),
                ("IV", nonce, &next.nonce),
                ("input", input, next.input()),
            ]
            .into_iter()
            .find_map(|(what, ours, theirs)| {
                let finding = differs(ours, theirs)?;
                Some(format!("the {what} that it ends with, {finding}"))
            })
        })
    };
    (0..cases.len()).map(finding).collect()
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

/// Of a call that was not refused: each message's status says whether it failed.
fn done(result: Result<(), OpenError>) -> Result<(), aescomb::Error> {
    match result {
        Err(OpenError::Refused(error)) => Err(error),
        _ => Ok(()),
    }
}
