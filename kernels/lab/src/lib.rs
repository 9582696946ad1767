//! The kernels of the experiments, which only gridsync's program and its tests launch.
//!
//! * [`ladder`]: one sum in seventeen steps and one scan in eleven, to be read.
//! * [`barrier`]: every grid barrier crossed, stressed and timed; barriers that are wrong on purpose.
//! * [`xpx`]: what goes wrong without a grid barrier. [`spin`]: what the compiler makes of a loop that waits.
//! * [`fences`]: what orderings and fences cost. [`scan_stress`]: scans with delayed blocks.

#![cfg_attr(target_arch = "nvptx64", no_std, feature(abi_ptx, asm_experimental_arch))]

pub mod barrier;
pub mod fences;
pub mod ladder;
pub mod scan_stress;
pub mod spin;
pub mod xpx;
