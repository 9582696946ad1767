//! Operations of all threads of one block.

mod position;
pub(crate) mod ranks;
mod reduce;
mod scan;
mod slots;
mod sort;

pub(crate) use position::ThreadPosition;
pub use ranks::{rank, rank_words};
pub use reduce::reduce;
pub use scan::{Prefix, scan, scan_exclusive};
pub use slots::Slots;
pub use sort::sort;
