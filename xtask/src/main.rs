//! Developer tasks of gridsync: `cargo xtask build-kernels`, `show-ptx`, `audit`, `validate`,
//! `readme`, `book`, `doc`, `bundle`, `gpu`.

mod arrows;
mod audit;
mod book;
mod bundle;
mod doc;
mod gpu;
mod kernels;
mod outcome;
mod package;
mod readme;
mod sets;
mod show_ptx;
mod sizes;
mod thorough;
mod tools;
mod validate;
mod words;
mod workspace;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::outcome::Outcome;

#[derive(Parser)]
#[command(name = "cargo xtask", about = "Developer tasks of gridsync")]
struct Cli {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Compile kernels/ to host/ptx, a packed image for each target
    BuildKernels(kernels::Args),
    /// Print the PTX that the driver would get of a kernel, or its machine code
    ShowPtx(show_ptx::Args),
    /// Look into the committed PTX: registers, stack, spills, barriers, unresolved functions
    Audit(audit::Args),
    /// Everything that must hold before a change goes in; the same as CI
    Validate(validate::Args),
    /// Write the table of README.md again, from the records in bench/runs
    Readme,
    /// Write the listings, outputs and transcripts of the book and of README.md again
    Book,
    /// Write the reference of all packages to target/doc, with links between them
    Doc(doc::Args),
    /// Make a folder with program, tests and PTX, for a GPU machine that has no Rust
    Bundle(bundle::Args),
    /// Record what `gpu.sh` of a bundle found on a GPU, or compare the record with the sources
    Gpu(gpu::Args),
}

fn main() -> ExitCode {
    let say = |line: &str| println!("{line}");
    let done = match Cli::parse().task {
        Task::BuildKernels(args) => kernels::run(&args, &say),
        Task::ShowPtx(args) => show_ptx::run(&args),
        Task::Audit(args) => audit::run(&args, &say),
        Task::Validate(args) => validate::run(&args),
        Task::Readme => readme::run(),
        Task::Book => book::run(),
        Task::Doc(args) => doc::run(&args),
        Task::Bundle(args) => bundle::run(&args),
        Task::Gpu(args) => gpu::run(&args),
    };
    match done {
        Ok(Outcome::Passed) => ExitCode::SUCCESS,
        Ok(Outcome::PassedAs(what)) => {
            println!("{what}");
            ExitCode::SUCCESS
        }
        Ok(Outcome::Skipped(why)) => {
            eprintln!("SKIPPED: {why}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
