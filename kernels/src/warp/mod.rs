//! Operations of the 32 lanes of a warp together.

mod reduce;
mod rows;
mod scan;
mod segmented;
mod shuffle;
mod sort;

pub(crate) use reduce::among_lanes;
pub use reduce::{reduce, reduce_groups};
pub use rows::{ROWS, reduce_rows, scan_rows};
pub use scan::{before, scan, scan_each, scan_exclusive, total};
pub(crate) use scan::{before_among, scan_among};
pub(crate) use segmented::Segmented;
pub use shuffle::{of_lane, swap};
pub use sort::{ranks, sort};

use crate::op::Operation;
use cuda_std::prelude::*;
use cuda_std::warp::{FULL_MASK, sync_warp};

/// Keeps the loads before it in flight together, if `O` is [long](Operation::LONG): ptxas would
/// move each down to its use, and so wait for them one at a time. It does not move them across a
/// warp barrier, which costs nothing else where the lanes are together. It does move read-only
/// loads (`.nc`), so the loads must be others. Called by all lanes of a warp.
#[device]
pub(crate) fn keep_loads_together<O: Operation>() {
    if O::LONG {
        sync_warp(FULL_MASK);
    }
}
