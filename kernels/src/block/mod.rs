//! Operations of all threads of one block.

mod position;
mod reduce;
mod scan;
mod slots;

pub(crate) use position::ThreadPosition;
pub use reduce::reduce;
pub use scan::{Prefix, scan, scan_exclusive};
pub use slots::Slots;
