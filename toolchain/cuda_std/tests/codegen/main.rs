//! What the functions of `cuda_std` compile to: instruction, ordering, scope, space, width, and how
//! often.
//!
//! `../probes` holds small kernels. They are compiled for each committed architecture; `claims`
//! says, kernel by kernel, which instructions with an effect must come out, all of them and in
//! order. Without a kernel compiler these tests say SKIPPED and pass.

use std::io::Write;

mod claims;
mod probes;
mod ptx;
mod sass;

/// Says on stderr, round the test harness, which would swallow it, that something was not tested.
fn skipped(why: &str) {
    // With no stderr there is nobody to tell.
    let _told = writeln!(std::io::stderr(), "SKIPPED: {why}");
}
