//! What the threads of one block do together.

mod reduce;
mod slots;

pub use reduce::reduce;
pub use slots::Slots;
