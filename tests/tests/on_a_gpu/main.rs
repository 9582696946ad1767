//! The CUDA backend on a real GPU: what no stand-in for the driver can show. Without a GPU every test
//! says SKIPPED, and counts as ignored.
//!
//! `driver` has launches, clusters, graphs and refusals; `streams` has streams, events, and devices on
//! cust's context and memory.

use gridsync_tests::trials::Trials;
use std::process::ExitCode;

mod driver;
mod streams;

fn main() -> ExitCode {
    Trials::of(module_path!()).with([driver::trials(), streams::trials()]).run()
}
