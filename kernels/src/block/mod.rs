//! What the threads of one block do together.

mod reduce;

pub use reduce::reduce;
