//! Primitives for all threads of a grid together.

pub mod barrier;
mod guarded;
pub mod histogram;
pub mod kendall;
pub mod lock;
pub mod merge_sort;
mod overlap;
mod peers;
pub mod range_sum;
pub mod rank;
pub mod reduce;
pub mod scan;
pub mod search;
pub mod segments;
pub mod select;
pub mod softmax;
pub mod sort;
mod stamped;
pub mod tasks;
mod tiles;
mod workspace;

pub use reduce::reduce;
pub use scan::scan;
pub use segments::reduce_segments;
pub use select::{select, unique};
pub use workspace::Workspace;
