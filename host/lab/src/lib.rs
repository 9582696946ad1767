//! Experiments, benchmarks, and how their results are shown.
//!
//! * [`threads`]: how the threads of a block are numbered and split into warps.
//! * [`divergence`]: divergent branches within a warp, and their cost.
//! * [`limits`]: the limits of a block, how many blocks fit, and what happens one past each limit.
//! * [`locks`]: locks under contention.
//! * [`xpx`]: what goes wrong without a grid barrier, and how often.
//! * [`spin`]: what the compiler makes of a spin loop, read from the PTX ([`ptx`]).
//! * [`litmus`]: what PTX's memory model allows, and what the emulator's weak memory shows.
//! * [`fences`]: cost of a fence. [`atomics`]: cost of an atomic addition, by target.
//! * [`banks`]: bank conflicts in shared memory. [`counting`]: an emulator that counts.
//! * [`count`]: counts on the command line.
//! * [`accuracy`]: errors of sums, and their bounds.
//! * [`memory`]: the latencies and bandwidths of a device.
//! * [`launches`]: one launch with a barrier compared with many launches without.
//! * [`ladder`]: a sum in seventeen steps, a scan in eleven and a sort in seven.
//! * [`dag`]: graphs of kernels, run by every method.
//! * [`stress`]: correct and broken grid barriers in many settings.
//! * [`protocols`]: the kernels of gridsync and of the experiments, small enough to explore.
//! * [`mod@bench`]: the rules of measuring, and the suites, each compared with a peer.
//! * [`display`]: tables and times as text, charts as SVG. [`images`]: the kernels as built PTX.
//! * [`count`]: counts on the command line.

pub mod accuracy;
pub mod atomics;
pub mod banks;
pub mod bench;
pub mod count;
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
mod number;
pub mod protocols;
pub mod ptx;
mod sampled;
pub mod spin;
pub mod stress;
pub mod threads;
pub mod xpx;

pub use experiment::{Chart, Experiment, ExperimentError, Report, RunsOn};
pub use sampled::{Cycles, Samples, ranged};
