//! What the threads of a whole grid do together.

pub mod barrier;
pub mod reduce;
pub mod scan;
mod stamped;

pub use reduce::reduce;
pub use scan::scan;
