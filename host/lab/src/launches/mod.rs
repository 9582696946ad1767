//! Many launches against one: repeated X→P→X, with the end of a launch as the barrier between two
//! stages ("multi-kernel launch", MKL), or with a grid barrier within one launch ("single kernel
//! launch", SKL).
//!
//! | file | contents |
//! |---|---|
//! | `form.rs` | the forms: launches, graphs of them, and one launch with each barrier |
//! | `job.rs` | a form that is ready to run, and checked against the reference |
//! | `compare.rs` | the time of each form at one shape |
//! | `sweep.rs` | the times at many shapes, and their charts, Fig. 5 and Fig. 6 |
//! | `cost.rs` | the predictions of two models |

mod compare;
mod cost;
mod form;
mod job;
mod sweep;

pub use compare::{Absent, Comparison, LaunchesError, Timed, compare};
pub use cost::{Prediction, SERIAL_CROSSING_CYCLES, SERIAL_LAUNCH_US, SERIAL_MHZ, Terms};
pub use form::{Design, Form};
pub use job::Job;
pub use sweep::{BLOCKS, Figure, POINTS, Sweep, THREADS, THREADS_IN_ALL, sweep};
