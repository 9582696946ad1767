//! The program `gridsync`, which cargo builds with the tests and from the same parts. Built by its own package it
//! would have parts with fewer features, and all of them would be compiled twice.

use std::process::ExitCode;

fn main() -> ExitCode {
    gridsync_program::cli::main()
}
