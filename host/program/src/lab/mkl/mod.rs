//! Many launches against one (seed rows R3, R6, R7): X→P→X again and again, with the end of a launch
//! as the barrier between two stages ("multi-kernel launch", MKL), or with a grid barrier within one
//! launch ("single kernel launch", SKL).
//!
//! | file | what |
//! |---|---|
//! | `form.rs` | the forms: launches, graphs of them, and one launch behind each barrier |
//! | `job.rs` | a form made ready to run, and held against the reference |
//! | `compare.rs` | the time of each form at one shape |
//! | `sweep.rs` | the shapes of the seed's Fig. 5 and Fig. 6, and their charts |
//! | `cost.rs` | what a model of the parts foretells, and the seed's |

mod compare;
mod cost;
mod form;
mod job;
mod sweep;

pub use compare::{Absent, Comparison, MklError, Timed, compare};
pub use cost::{Prediction, SEED_CROSSING_CYCLES, SEED_LAUNCH_US, SEED_MHZ, Terms};
pub use form::{Design, Form};
pub use job::Job;
pub use sweep::{BLOCKS, Figure, POINTS, Sweep, THREADS, THREADS_IN_ALL, sweep};
