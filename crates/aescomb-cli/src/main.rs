//! The command: see the library beside it.
#![forbid(unsafe_code)]

fn main() -> std::process::ExitCode {
    aescomb_cli::main()
}
