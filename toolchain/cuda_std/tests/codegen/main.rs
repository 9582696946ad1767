//! What the functions of `cuda_std` compile to: instruction, ordering, scope, space, width, and how
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

/// Prints on stderr what was not tested, past the test harness, which would hide it.
fn skipped(why: &str) {
    // Without stderr there is nobody to tell.
    let _told = writeln!(std::io::stderr(), "SKIPPED: {why}");
}
