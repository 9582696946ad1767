//! The claims on a GPU. Without one, all are SKIPPED and count as ignored.

mod claims;

use claims::SHARED;
use gridsync::device::cuda::probe;
use libtest_mimic::{Arguments, Completion, Trial};
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut arguments = Arguments::from_args();
    // A graph cannot be recorded while another thread uses the default stream.
    arguments.test_threads = Some(1);
    let missing = probe().err();
    if let Some(reason) = &missing {
        eprintln!("SKIPPED: no CUDA device: {reason}");
    }
    let trials = SHARED.iter().map(|&(name, claim)| {
        let skipped = missing.is_some();
        Trial::ignorable_test(name, move || match skipped {
            true => Ok(Completion::ignored_with("SKIPPED")),
            false => {
                claim();
                Ok(Completion::Completed)
            }
        })
    });
    libtest_mimic::run(&arguments, trials.collect()).exit_code()
}
