//! The CUDA backend on a real GPU: properties that no fake driver can show. Without a GPU every
//! test prints SKIPPED and counts as ignored.
//!
//! `driver` tests launches, clusters, graphs and refusals; `streams` tests streams, events, and
//! devices on cust's context and memory.

use gridsync_tests::trials::Trials;
use std::process::ExitCode;

mod driver;
mod streams;

fn main() -> ExitCode {
    // All tests share one context: a cust copy in the default stream fails while another test
    // records, and so does the recording.
    let trials = Trials::of(module_path!()).with([driver::trials(), streams::trials()]);
    trials.one_at_a_time().run()
}
