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
    // All are in one context: a copy of cust in the default stream fails while another test records, and so
    // does the recording.
    let trials = Trials::of(module_path!()).with([driver::trials(), streams::trials()]);
    trials.one_at_a_time().run()
}
