//! What the threads of one block do together.

mod position;
mod reduce;
mod slots;

pub(crate) use position::ThreadPosition;
pub use reduce::reduce;
pub use slots::Slots;
