//! Development tasks that cargo does not have: `cargo xtask TASK`.

mod asm;
mod check;
mod instructions;
mod record;
mod source;
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod trace;
mod vectors;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::{env, fs};

const USAGE: &str = "\
usage: cargo xtask asm-check [--verbose] [--built | --asm FILE]
       cargo xtask instructions [--update]
       cargo xtask with-asm COMMAND...
       cargo xtask record [--check]
       cargo xtask vectors [--check]

  asm-check   compiles the core crate to assembly and checks the kernels' loops:
              no calls, no more spills than the budget, all kernels there
  --verbose   prints a line for every loop
  --built     checks what with-asm has compiled last
  --asm FILE  checks this assembly instead of compiling
  instructions
              counts the instructions that a 64-byte message takes, which must not be more
              than bench/instructions.md says; the library is compiled as by with-asm
  --update    writes that page instead
  with-asm    runs a command that compiles the library for release, in a folder of its
              own, with assembly: once for all commands that ask for the same features
  record      puts the tables of the newest record of bench/record into README.md
              and book/src/measured.md
  vectors     writes the known answers in the plain form that C and Python read,
              vectors/plain
  --check     only says whether it is there";

/// Failures that are printed; one cause makes hundreds.
const SHOWN: usize = 60;

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    if let Some((program, rest)) = arguments.split_first()
        && let Some(name) = Path::new(program).file_stem().and_then(OsStr::to_str)
        && ["rustc", "clippy-driver"].contains(&name)
    {
        return rustc(program, rest);
    }
    let result = match arguments.split_first() {
        Some((task, rest)) if task == "asm-check" => match asm_arguments(rest) {
            Ok((verbose, from)) => asm_check(verbose, from),
            Err(message) => return misuse(&message),
        },
        Some((task, rest)) if task == "with-asm" => match rest.split_first() {
            Some((program, arguments)) => with_asm(program, arguments),
            None => return misuse("with-asm needs a command"),
        },
        Some((task, rest)) if task == "instructions" => match rest {
            [] => count(false),
            [update] if update == "--update" => count(true),
            _ => return misuse("instructions has one option, --update"),
        },
        Some((task, rest)) if task == "record" => match rest {
            [] => record::run(root(), false),
            [check] if check == "--check" => record::run(root(), true),
            _ => return misuse("record has one option, --check"),
        },
        Some((task, rest)) if task == "vectors" => match rest {
            [] => vectors::run(root(), false),
            [check] if check == "--check" => vectors::run(root(), true),
            _ => return misuse("vectors has one option, --check"),
        },
        _ => return misuse("no such task"),
    };
    match result {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(message) => {
            eprintln!("xtask: {message}");
            ExitCode::FAILURE
        }
    }
}

/// The workspace's folder.
fn root() -> &'static Path {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here)
}

/// Where assembly comes from.
enum From {
    Compiling,
    Built,
    File(PathBuf),
}

/// `--verbose`, `--built` and `--asm FILE`.
fn asm_arguments(arguments: &[String]) -> Result<(bool, From), String> {
    let mut verbose = false;
    let mut from = From::Compiling;
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        match (argument.as_str(), &from) {
            ("--verbose", _) => verbose = true,
            ("--built", From::Compiling) => from = From::Built,
            ("--asm", From::Compiling) => {
                from = From::File(PathBuf::from(rest.next().ok_or("--asm needs a file")?));
            }
            (other, _) => return Err(format!("unknown argument: {other}")),
        }
    }
    Ok((verbose, from))
}

fn misuse(message: &str) -> ExitCode {
    eprintln!("{message}\n{USAGE}");
    ExitCode::from(2)
}

/// Whether all is well.
fn asm_check(verbose: bool, from: From) -> Result<bool, String> {
    if !cfg!(target_arch = "x86_64") && !matches!(from, From::File(_)) {
        println!("asm-check: nothing done, it knows x86-64 kernels only");
        return Ok(true);
    }
    let root = root();
    let expected = source::read(&root.join("crates/aescomb/src"))?;
    let files = match from {
        From::File(file) => vec![file],
        From::Built => built()?,
        From::Compiling => compile()?,
    };
    let mut text = String::new();
    for file in files {
        text += &fs::read_to_string(&file).map_err(|e| format!("{}: {e}", file.display()))?;
    }
    let report = check::check(&asm::parse(&text), &expected);
    if verbose {
        print!("{}", check::table(&report.rows));
    }
    for failure in report.failures.iter().take(SHOWN) {
        println!("FAILED: {failure}");
    }
    if report.failures.len() > SHOWN {
        println!("and {} more", report.failures.len() - SHOWN);
    }
    println!(
        "asm-check: {} kernels, {} loops, {} failures",
        report.kernels,
        report.rows.len(),
        report.failures.len()
    );
    Ok(report.failures.is_empty())
}

/// Counts what batches execute; `update` writes the figures down. All of the workspace is
/// asked for, so that its tests are linked with the same library.
fn count(update: bool) -> Result<bool, String> {
    if !cfg!(all(target_arch = "x86_64", target_os = "linux")) {
        println!("instructions: nothing done, they are counted on x86-64 Linux only");
        return Ok(true);
    }
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let arguments = "build --quiet --release --workspace --all-features --example counted";
    let arguments: Vec<String> = arguments.split(' ').map(str::to_owned).collect();
    if !with_asm(cargo, &arguments)? {
        return Err(format!("cargo {} failed", arguments.join(" ")));
    }
    let program = asm_folder().join(host()?).join("release/examples/counted");
    instructions::run(root(), &program, update)
}

/// The folder of builds with assembly.
fn asm_folder() -> PathBuf {
    let target = env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into());
    root().join(target).join("asm")
}

/// What cargo compiles for: named, as some of those who run cargo do name it and compile
/// for a folder of that name.
fn host() -> Result<String, String> {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc)
        .arg("-vV")
        .output()
        .map_err(|e| format!("cannot run rustc: {e}"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned)
        .ok_or_else(|| format!("rustc -vV says no host: {text}"))
}

/// Runs a command whose cargo leaves assembly of the library, and does not optimise what is long to
/// compile and not ours. Cargo runs this program in place of the compiler (see `rustc`): flags would
/// be for all crates, and make assembly of every dependency and every test program, too.
fn with_asm(program: impl AsRef<OsStr>, arguments: &[String]) -> Result<bool, String> {
    let program = program.as_ref();
    let this = env::current_exe().map_err(|e| format!("no path of this program: {e}"))?;
    let status = Command::new(program)
        .args(arguments)
        .env("CARGO_TARGET_DIR", asm_folder())
        .env("CARGO_BUILD_TARGET", host()?)
        .env("RUSTC_WRAPPER", this)
        .status();
    match status {
        Ok(status) => Ok(status.success()),
        Err(e) => Err(format!("cannot run {}: {e}", program.display())),
    }
}

/// Stands in front of the compiler, or of what checks in its place: it leaves assembly of the library,
/// a file for each of the parts that the compiler makes of a crate.
fn rustc(program: &str, arguments: &[String]) -> ExitCode {
    let after = |name: &str| {
        let place = arguments.iter().position(|argument| argument == name)?;
        arguments.get(place + 1).map(String::as_str)
    };
    let with = |start: &str| arguments.iter().find_map(|a| a.strip_prefix(start));
    // Its tests, the command and what only checks are crates of that name, too.
    let library = after("--crate-name") == Some("aescomb")
        && after("--crate-type") == Some("lib")
        && with("--emit=").is_some_and(|kinds| kinds.split(',').any(|kind| kind == "link"))
        && !arguments.iter().any(|argument| argument == "--test");
    // Formats of files: a fourth of all compiling, and little of what tests execute.
    let formats =
        after("--crate-name").is_some_and(|name| name.starts_with("arrow") || name == "parquet");
    let mut command = Command::new(program);
    command.args(arguments);
    if formats {
        command.arg("-Copt-level=0");
    }
    if library {
        // Parts of an earlier compilation may have other names.
        if let (Some(folder), Some(extra)) = (after("--out-dir"), with("extra-filename=")) {
            for old in assembly_in(Path::new(folder), &format!("aescomb{extra}.")) {
                if let Err(e) = fs::remove_file(&old) {
                    eprintln!("xtask: {}: {e}", old.display());
                    return ExitCode::FAILURE;
                }
            }
        }
        // Left to itself, the compiler makes assembly of one part on one core.
        command.args([
            "--emit=asm",
            "-Csymbol-mangling-version=v0",
            "-Ccodegen-units=16",
        ]);
    }
    match command.status() {
        Ok(status) if status.success() => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(e) => {
            eprintln!("xtask: cannot run {program}: {e}");
            ExitCode::FAILURE
        }
    }
}

/// The assembly of the core crate that was compiled last; other features have other names.
fn built() -> Result<Vec<PathBuf>, String> {
    let name = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.split('.').next().unwrap_or_default().to_owned()
    };
    let changed = |path: &&PathBuf| path.metadata().and_then(|file| file.modified()).ok();
    let mut files = assembly_files()?;
    let newest = files.iter().max_by_key(changed).map(name);
    match &newest {
        None => Err("no assembly of the library".to_owned()),
        Some(newest) => {
            files.retain(|path| name(path) == *newest);
            Ok(files)
        }
    }
}

/// Compiles the core crate to assembly.
fn compile() -> Result<Vec<PathBuf>, String> {
    // Cargo does not notice if other compilers have left some, or somebody took some
    // away.
    for old in assembly_files()? {
        fs::remove_file(&old).map_err(|e| format!("{}: {e}", old.display()))?;
    }
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    for task in ["clean", "build"] {
        let arguments = [task, "--quiet", "-p", "aescomb", "--release"].map(str::to_owned);
        if !with_asm(&cargo, &arguments)? {
            return Err(format!("cargo {} failed", arguments.join(" ")));
        }
    }
    built()
}

fn assembly_files() -> Result<Vec<PathBuf>, String> {
    let deps = asm_folder().join(host()?).join("release/deps");
    Ok(assembly_in(&deps, "aescomb-"))
}

/// The files of assembly in a folder whose names begin like this.
fn assembly_in(folder: &Path, start: &str) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else {
        return Vec::new();
    };
    let paths = entries.flatten().map(|entry| entry.path());
    let wanted = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with(start) && name.ends_with(".s")
    };
    paths.filter(wanted).collect()
}
