//! What the 32 lanes of a warp do together.

mod reduce;
mod scan;
mod swap;

pub use reduce::reduce;
pub use scan::{before, scan, scan_each, total};
pub use swap::swap;
