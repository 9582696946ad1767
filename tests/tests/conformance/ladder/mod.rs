//! The ladders: every rung at every edge.

use gridsync_tests::trials::Trials;

pub(crate) mod scans;
pub(crate) mod sorts;
pub(crate) mod sums;

pub(crate) fn trials() -> Trials {
    Trials::of(module_path!()).with([scans::trials(), sorts::trials(), sums::trials()])
}
