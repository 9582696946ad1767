//! The program `gridsync`: the primitives on real files, the experiments, the proofs.

mod cli;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::main()
}
