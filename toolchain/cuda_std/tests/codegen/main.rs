//! The PTX of the functions of `cuda_std`: instruction, ordering, scope, space, width, and how
//! often.
//!
//! `../probes` has small kernels. They are compiled for each committed architecture. `claims`
//! lists, for each kernel, all instructions with an effect, in order. Without a kernel compiler
//! these tests print SKIPPED and pass.

use std::io::Write;

mod claims;
mod probes;
mod ptx;
mod sass;

/// Prints what was not tested directly to stderr, because the test harness would hide it.
fn skipped(why: &str) {
    // If stderr is closed, the message is lost.
    let _told = writeln!(std::io::stderr(), "SKIPPED: {why}");
}
