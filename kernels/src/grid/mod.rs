//! What the threads of a whole grid do together.

pub mod barrier;
pub mod reduce;
mod stamped;

pub use reduce::reduce;
