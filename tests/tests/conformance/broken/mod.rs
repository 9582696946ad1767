//! Kernels that are wrong by design: what the other tests call right is worth something only if
//! the same harness calls these wrong.

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
