//! What the 32 lanes of a warp do together.

mod reduce;
mod swap;

pub use reduce::reduce;
pub use swap::swap;
