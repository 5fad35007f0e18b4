//! Development tasks that cargo does not have: `cargo xtask TASK`.

mod asm;
mod check;
mod instructions;
mod object;
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
usage: cargo xtask asm-check [--verbose] [--built | --library FILE]
       cargo xtask instructions [--update]
       cargo xtask with-library COMMAND...
       cargo xtask record [--check]
       cargo xtask vectors [--check]

  asm-check   compiles the core crate and checks the machine code of the kernels' loops:
              no calls, no more spills than the budget, all kernels there
  --verbose   prints a line for every loop
  --built     checks what with-library has compiled last
  --library FILE
              checks this .rlib instead of compiling
  instructions
              counts the instructions that a 64-byte message takes, which must not be more
              than bench/instructions.md says; the library is compiled as by with-library
  --update    writes that page instead
  with-library
              runs a command that compiles the library for release, in a folder of its own,
              with names that asm-check understands: once for all commands that ask for the
              same features
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
        Some((task, rest)) if task == "with-library" => match rest.split_first() {
            Some((program, arguments)) => with_library(program, arguments),
            None => return misuse("with-library needs a command"),
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

/// Where the library comes from.
enum From {
    Compiling,
    Built,
    File(PathBuf),
}

/// `--verbose`, `--built` and `--library FILE`.
fn asm_arguments(arguments: &[String]) -> Result<(bool, From), String> {
    let mut verbose = false;
    let mut from = From::Compiling;
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        match (argument.as_str(), &from) {
            ("--verbose", _) => verbose = true,
            ("--built", From::Compiling) => from = From::Built,
            ("--library", From::Compiling) => {
                from = From::File(PathBuf::from(rest.next().ok_or("--library needs a file")?));
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
    if !cfg!(all(target_arch = "x86_64", target_os = "linux")) && !matches!(from, From::File(_)) {
        println!("asm-check: nothing done, it knows x86-64 kernels in ELF objects only");
        return Ok(true);
    }
    let root = root();
    let expected = source::read(&root.join("crates/aescomb/src"))?;
    let library = match from {
        From::File(file) => file,
        From::Built => built()?,
        From::Compiling => compile()?,
    };
    let text = fs::read(&library)
        .map_err(Into::into)
        .and_then(|archive| object::assembly(&archive))
        .map_err(|e| format!("{}: {e}", library.display()))?;
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
    if !with_library(cargo, &arguments)? {
        return Err(format!("cargo {} failed", arguments.join(" ")));
    }
    let program = library_folder()
        .join(host()?)
        .join("release/examples/counted");
    instructions::run(root(), &program, update)
}

/// The folder of what with-library compiles.
fn library_folder() -> PathBuf {
    let target = env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into());
    root().join(target).join("library")
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

/// Runs a command whose cargo compiles the library with names that tell kernels apart, and does not
/// optimise what is long to compile and not ours. Cargo runs this program in place of the compiler
/// (see `rustc`): flags would be for all crates.
fn with_library(program: impl AsRef<OsStr>, arguments: &[String]) -> Result<bool, String> {
    let program = program.as_ref();
    let this = env::current_exe().map_err(|e| format!("no path of this program: {e}"))?;
    let status = Command::new(program)
        .args(arguments)
        .env("CARGO_TARGET_DIR", library_folder())
        .env("CARGO_BUILD_TARGET", host()?)
        .env("RUSTC_WRAPPER", this)
        .status();
    match status {
        Ok(status) => Ok(status.success()),
        Err(e) => Err(format!("cannot run {}: {e}", program.display())),
    }
}

/// Stands in front of the compiler, or of what checks in its place.
fn rustc(program: &str, arguments: &[String]) -> ExitCode {
    let place = arguments.iter().position(|a| a == "--crate-name");
    let name = place.and_then(|place| arguments.get(place + 1));
    let name = name.map_or("", String::as_str);
    let mut command = Command::new(program);
    command.args(arguments);
    // Formats of files: a fourth of all compiling, and little of what tests execute.
    if name.starts_with("arrow") || name == "parquet" {
        command.arg("-Copt-level=0");
    }
    // Names with all parameters.
    if name == "aescomb" {
        command.arg("-Csymbol-mangling-version=v0");
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

/// The library that was compiled last; with other features it has another name.
fn built() -> Result<PathBuf, String> {
    let deps = library_folder().join(host()?).join("release/deps");
    let libraries = fs::read_dir(deps).into_iter().flatten().flatten();
    let libraries = libraries.map(|entry| entry.path()).filter(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with("libaescomb-") && name.ends_with(".rlib")
    });
    let changed = |path: &PathBuf| path.metadata().and_then(|file| file.modified()).ok();
    let newest = libraries.max_by_key(changed);
    newest.ok_or_else(|| "the library is not compiled".to_owned())
}

/// Compiles the core crate.
fn compile() -> Result<PathBuf, String> {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    // What else was compiled may be newer.
    for task in ["clean", "build"] {
        let arguments = [task, "--quiet", "-p", "aescomb", "--release"].map(str::to_owned);
        if !with_library(&cargo, &arguments)? {
            return Err(format!("cargo {} failed", arguments.join(" ")));
        }
    }
    built()
}
