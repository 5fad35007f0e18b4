//! Development tasks that cargo does not have: `cargo xtask TASK`.

mod asm;
mod check;
mod record;
mod source;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::{env, fs};

const USAGE: &str = "\
usage: cargo xtask asm-check [--verbose] [--asm FILE]
       cargo xtask record [--check]

  asm-check   compiles the core crate to assembly and checks the kernels' loops:
              no calls, no more spills than the budget, all kernels there
  --verbose   prints a line for every loop
  --asm FILE  checks this assembly instead of compiling
  record      puts the tables of the newest record of bench/record into README.md
              and docs/measured.md
  --check     only says whether they are there";

/// Failures that are printed; one cause makes hundreds.
const SHOWN: usize = 60;

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let result = match arguments.split_first() {
        Some((task, rest)) if task == "asm-check" => match asm_arguments(rest) {
            Ok((verbose, asm)) => asm_check(verbose, asm),
            Err(message) => return misuse(&message),
        },
        Some((task, rest)) if task == "record" => match rest {
            [] => record::run(root(), false),
            [check] if check == "--check" => record::run(root(), true),
            _ => return misuse("record has one option, --check"),
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

/// `--verbose` and `--asm FILE`.
fn asm_arguments(arguments: &[String]) -> Result<(bool, Option<PathBuf>), String> {
    let mut verbose = false;
    let mut asm = None;
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        match argument.as_str() {
            "--verbose" => verbose = true,
            "--asm" if asm.is_none() => {
                asm = Some(PathBuf::from(rest.next().ok_or("--asm needs a file")?));
            }
            other => return Err(format!("unknown argument: {other}")),
        }
    }
    Ok((verbose, asm))
}

fn misuse(message: &str) -> ExitCode {
    eprintln!("{message}\n{USAGE}");
    ExitCode::from(2)
}

/// Whether all is well.
fn asm_check(verbose: bool, asm: Option<PathBuf>) -> Result<bool, String> {
    if !cfg!(target_arch = "x86_64") && asm.is_none() {
        println!("asm-check: nothing done, it knows x86-64 kernels only");
        return Ok(true);
    }
    let root = root();
    let expected = source::read(&root.join("crates/aescomb/src"))?;
    let files = match asm {
        Some(file) => vec![file],
        None => compile(root)?,
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

/// Compiles the core crate to assembly, in a folder of its own: a file for each of the
/// parts that the compiler makes of it.
fn compile(root: &Path) -> Result<Vec<PathBuf>, String> {
    let target = match env::var_os("CARGO_TARGET_DIR") {
        Some(folder) => root.join(folder),
        None => root.join("target"),
    }
    .join("asm-check");
    let deps = target.join("release/deps");
    let cargo = |arguments: &[&str]| {
        let status = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
            .current_dir(root)
            .env("CARGO_TARGET_DIR", &target)
            .args(arguments)
            .status();
        match status {
            Ok(status) if status.success() => Ok(()),
            Ok(_) => Err(format!("cargo {} failed", arguments.join(" "))),
            Err(e) => Err(format!("cannot run cargo: {e}")),
        }
    };
    // Cargo does not notice if other compilers have left some, or somebody took some
    // away.
    for old in assembly_files(&deps) {
        fs::remove_file(&old).map_err(|e| format!("{}: {e}", old.display()))?;
    }
    cargo(&["clean", "--quiet", "-p", "aescomb", "--release"])?;
    let crate_only = "rustc --quiet -p aescomb --release --lib --";
    // Left to itself, the compiler makes assembly of one part on one core.
    let asm = "--emit asm -C symbol-mangling-version=v0 -C codegen-units=16";
    cargo(&Vec::from_iter(crate_only.split(' ').chain(asm.split(' '))))?;
    match assembly_files(&deps) {
        none if none.is_empty() => Err(format!("no assembly files in {}", deps.display())),
        files => Ok(files),
    }
}

fn assembly_files(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else {
        return Vec::new();
    };
    entries
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.starts_with("aescomb-") && name.ends_with(".s")
        })
        .collect()
}
