//! Graphs of kernels, run by every means there is.
//!
//! [`Work`] describes a graph whose nodes compute something that depends on all that comes before. A
//! [`Runner`] has it on a device, and gets it [ready](Runner::ready) to be run by a [`Method`]. Every result is
//! compared with that of [`Work::reference`].

mod launching;
mod method;
mod runner;
mod work;

pub use method::{FromDevice, Method};
pub use runner::{Ready, RunError, Runner, Span};
pub use work::{Step, Work};

pub use gridsync_lab_kernels::dag::Operation;
