//! What the 32 lanes of a warp do together.

mod reduce;

pub use reduce::reduce;
