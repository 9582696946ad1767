//! Experiments.
//!
//! * [`xpx`]: what goes wrong without a barrier of the grid, and how often.
//! * [`spin`]: what the compiler makes of a loop that waits, read from the PTX ([`ptx`]).
//! * [`fences`]: what a fence costs.
//! * [`launches`]: what one launch with a barrier gains over many launches without.
//! * [`ladder`]: a sum in seventeen steps and a scan in eleven.
//! * [`stress`]: the grid barriers in many settings, the right ones and the wrong ones.

pub mod fences;
pub mod ladder;
pub mod launches;
pub mod ptx;
pub mod spin;
pub mod stress;
pub mod xpx;
