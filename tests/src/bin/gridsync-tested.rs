//! The program `gridsync`, built together with the tests and from the same packages. Built by its
//! own package, it would use packages with fewer features, so cargo would compile all of them
//! twice.

use std::process::ExitCode;

fn main() -> ExitCode {
    gridsync_program::cli::main()
}
