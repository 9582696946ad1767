//! The ladder of sums (seed row R18): every rung of [`gridsync_lab_kernels::ladder::sums`] on one input, held
//! against the reference, timed, and counted.
//!
//! A rung is measured as a whole: all of its launches, and setting its sum to 0 where it needs that.
//! Rates are told beside the best that a kernel reaches which only reads, in the same run
//! ([`Roof`](super::Roof)). What the seed counts by hand, the additions of a warp and the bank conflicts, the
//! emulator counts in one block of 256 threads ([`Counted`]).

mod chart;
mod climb;
mod count;
mod measure;
mod rung;

pub use chart::{operations_chart, rates_chart};
pub use climb::Climb;
pub use count::Counted;
pub use measure::{Climbed, LadderError, Report, measure};
pub use rung::{Rung, Step, rungs};
