//! The ladder of sums: the rungs of [`gridsync_lab_kernels::ladder::sums`].

mod climb;
mod count;
mod rung;

pub use climb::Climb;
pub use rung::{INTEGER_RUNG, NO_INTEGER_RUNG, Rung, Step, rungs};
