//! What the threads of a whole grid do together.

pub mod barrier;
mod reduce;

pub use reduce::{LOADS_IN_FLIGHT, reduce};
