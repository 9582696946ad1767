//! Graphs of kernels, run by every method.
//!
//! [`Work`] describes a graph in which the result of each node depends on everything before it. A
//! [`Runner`] holds it on a device and [prepares](Runner::ready) it for a [`Method`]. Every result
//! is compared with [`Work::reference`].

mod launching;
mod method;
mod runner;
mod work;

pub use method::{FromDevice, Method};
pub use runner::{Ready, RunError, Runner, Span};
pub use work::{Step, Work};

pub use gridsync_lab_kernels::dag::Operation;
