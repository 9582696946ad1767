//! What the 32 lanes of a warp do together.

mod reduce;
mod scan;
mod shuffle;

pub use reduce::{reduce, reduce_groups};
pub use scan::{before, scan, scan_each, total};
pub use shuffle::{of_lane, swap};
