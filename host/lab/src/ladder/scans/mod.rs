//! The ladder of scans: the rungs of [`gridsync_lab_kernels::ladder::scans`], and the library's two
//! scans.

mod climb;
mod count;
mod rung;

pub use climb::Climb;
pub use rung::{Moves, Rung, rungs};
