//! Experiments, benchmarks, and how their results are shown.
//!
//! * [`threads`]: how the threads of a block are numbered and cut into warps.
//! * [`divergence`]: branches on which the lanes of a warp part, and what they cost.
//! * [`limits`]: what a block may have, how many fit, and what happens one past each limit.
//! * [`locks`]: locks under contention.
//! * [`xpx`]: what goes wrong without a barrier of the grid, and how often.
//! * [`spin`]: what the compiler makes of a loop that waits, read from the PTX ([`ptx`]).
//! * [`litmus`]: what PTX's memory model allows, and what the emulator's weak memory shows.
//! * [`fences`]: what a fence costs. [`atomics`]: what an atomic addition costs, by where it goes.
//! * [`banks`]: bank conflicts in shared memory. [`counting`]: an emulator that counts.
//! * [`accuracy`]: how far sums are from the true ones, and how far they may be.
//! * [`memory`]: the latencies and bandwidths of a device.
//! * [`launches`]: what one launch with a barrier gains over many launches without.
//! * [`ladder`]: a sum in seventeen steps and a scan in eleven.
//! * [`dag`]: graphs of kernels, run by every means.
//! * [`stress`]: the grid barriers in many settings, the right ones and the wrong ones.
//! * [`protocols`]: the kernels of gridsync and of the experiments, small enough to explore.
//! * [`mod@bench`]: the rules of measuring, and the suites, each compared with a peer.
//! * [`display`]: tables and times as text, charts as SVG. [`images`]: the kernels as built PTX.

pub mod accuracy;
pub mod atomics;
pub mod banks;
pub mod bench;
pub mod counting;
pub mod dag;
pub mod display;
pub mod divergence;
mod experiment;
pub mod fences;
pub mod images;
pub mod ladder;
pub mod launches;
pub mod limits;
pub mod litmus;
pub mod locks;
pub mod memory;
pub mod protocols;
pub mod ptx;
mod sampled;
pub mod spin;
pub mod stress;
pub mod threads;
pub mod xpx;

pub use experiment::{Chart, Experiment, ExperimentError, Report, RunsOn};
pub use sampled::{Cycles, ranged};
