//! The program `gridsync`.

use std::process::ExitCode;

fn main() -> ExitCode {
    gridsync_program::cli::main()
}
