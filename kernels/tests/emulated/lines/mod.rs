//! A fault in the device library names a line of the caller, at each step of each function.

use crate::support::{Zeros, launch};
use gridsync_kernels::grid::{Workspace, scan};
use gridsync_kernels::op::Sum;
use simt::{Fault, LaunchConfig, Policy, Schedule};
use std::panic::Location;

/// Walks through cases. Each case is an expression that may use `zeros`.
macro_rules! walk {
    ($($on:expr => |$zeros:ident| $kernel:expr;)*) => {$(
        $crate::lines::walk(stringify!($kernel), $on, |$zeros| {
            let _ = $kernel;
        });
    )*};
}

mod barriers;
mod coverage;
mod histograms;
mod ladders;
mod locks;
mod ranks;
mod reductions;
mod scans;
mod sorts;
mod tasks;
mod warps;

type Add = Sum<u32>;

/// How a case is launched.
#[derive(Clone, Copy)]
struct On {
    grid: u32,
    block: u32,
    dynamic_shared: usize,
}

const fn on(grid: u32, block: u32) -> On {
    On { grid, block, dynamic_shared: 0 }
}

/// The most steps at which `walk` stops a launch.
const STOPS: u64 = 25;

/// Stops a kernel after more and more steps, up to its end, under several schedules. Wherever a
/// thread is at that time, the fault must name a line of the file that calls this.
#[track_caller]
fn walk(name: &str, on: On, kernel: impl Fn(Zeros)) {
    let file = Location::caller().file();
    for seed in 0..2 {
        let policy = Policy::Random { quantum: 1 };
        let mut config = LaunchConfig {
            schedule: Schedule::seeded(policy, seed),
            dynamic_shared: on.dynamic_shared,
            shared_per_block: 228 << 10,
            ..LaunchConfig::new(name, on.grid, on.block)
        };
        let steps = match launch(&config, &kernel) {
            Ok(steps) => steps,
            Err(fault) => panic!("{fault}"),
        };
        let stride = steps.div_ceil(STOPS) as usize;
        for limit in (1..steps).skip(seed as usize % stride).step_by(stride) {
            config.step_limit = limit;
            let fault = launch(&config, &kernel).expect_err("it takes more steps");
            assert!(matches!(fault, Fault::StepLimit { .. }), "{fault}");
            let Some(site) = fault.site() else { continue };
            assert_eq!(site.place.file(), file, "step {limit} of {name}: {fault}");
        }
    }
}

/// The workspace of a scan or a selection.
fn scan_workspace(zeros: Zeros) -> Workspace {
    Workspace { words: zeros.of(1, 4096), state: zeros.of(2, scan::STATE) }
}
