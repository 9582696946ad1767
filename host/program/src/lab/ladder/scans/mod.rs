//! The ladder of scans (seed row R19): every rung of [`gridsync_lab_kernels::ladder::scans`] on one
//! input, held against the reference word for word, timed, and counted.
//!
//! A rung is measured as a whole: all of its launches, and setting its words to 0 where it needs that.
//! Its rate is that of n words read and n written, whatever it moves, and is told beside the best that
//! a copy reaches in the same run ([`Roof`](super::Roof)). What a block does in shared memory and by
//! shuffles, and its bank conflicts, the emulator counts in one block alone ([`Counted`]).

mod chart;
mod climb;
mod count;
mod measure;
mod rung;

pub use chart::{operations_chart, rates_chart};
pub use climb::Climb;
pub use count::Counted;
pub use measure::{Climbed, Report, ScansError, measure};
pub use rung::{Rung, rungs};
