//! Kernels that are wrong on purpose. The test harness must reject them. Otherwise it proves
//! nothing when it accepts the right ones.

use gridsync_tests::trials::Trials;

mod barriers;
mod kernels;
mod ladder;
mod reductions;
mod scan_ladder;
mod scans;
mod selects;

pub(crate) fn trials() -> Trials {
    Trials::of(module_path!()).with([
        barriers::trials(),
        ladder::trials(),
        reductions::trials(),
        scan_ladder::trials(),
        scans::trials(),
        selects::trials(),
    ])
}
