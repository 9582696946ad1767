//! What the threads of a whole grid do together.

pub mod barrier;
mod carried;
pub mod reduce;
mod stamped;

pub use carried::Carried;
pub use reduce::reduce;
