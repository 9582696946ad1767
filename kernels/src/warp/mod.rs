//! What the 32 lanes of a warp do together.

mod reduce;
mod rows;
mod scan;
mod shuffle;

pub use reduce::{reduce, reduce_groups};
pub use rows::{ROWS, reduce_rows, scan_rows};
pub use scan::{before, scan, scan_each, total};
pub use shuffle::{of_lane, swap};
