//! How many schedules a second a check runs. Run it alone:
//! `cargo test -p gridsync-ptx-run --test verdicts -- --ignored --nocapture`

use std::io::Write as _;

use crate::check;
use crate::compiler;
use crate::problem::Verdict::Right;
use crate::problem::{Argument, Problem, ZERO, ZEROS, line};
use crate::source::Source;

/// Problems for 128 threads.
const BARRIER: Problem =
    Problem::new((4, 32), &[ZERO, ZEROS, Argument::Words(&[0; 128])], &[128 * 127 / 2], &[]);
const HISTOGRAM: Problem =
    Problem::new((2, 64), &[ZEROS, Argument::Words(&line::<64>(0, 1))], &[32; 4], &[]);

/// How often all schedules run.
const REPETITIONS: u64 = 25;

/// Seconds that this thread has run, which other processes do not change.
fn processor_time() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").expect("a Linux with it");
    let nanoseconds = text.split(' ').next().expect("three numbers");
    nanoseconds.parse::<f64>().expect("a number") / 1e9
}

#[test]
#[ignore = "a measurement"]
fn checks_of_128_threads() {
    let cases = [("barriers.cu", "grid_barrier", BARRIER), ("tiles.cu", "histogram", HISTOGRAM)];
    for (file, name, problem) in cases {
        for options in compiler::MODES {
            let source = Source::read(file);
            let Some(module) = compiler::compile(&source.path, "sm_80", options) else { return };
            let start = processor_time();
            for _ in 0..REPETITIONS {
                let expected = source.expected(name, Right);
                check::check(&module, &problem, (name, Right), &expected).expect("right");
            }
            let rate = (REPETITIONS * check::SEEDS) as f64 / (processor_time() - start);
            writeln!(std::io::stderr(), "{name} {}: {rate:.0} schedules a second", options[0])
                .expect("stderr is open");
        }
    }
}
