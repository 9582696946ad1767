//! The kernels of the experiments. Only gridsync's program and its tests launch them.
//!
//! * [`ladder`]: one sum in seventeen steps and one scan in eleven, written to be read.
//! * [`barrier`]: checks and measures every grid barrier. Has barriers that are wrong on purpose.
//! * [`xpx`]: what goes wrong without a grid barrier. [`spin`]: how loops that wait are compiled.
//! * [`fences`]: what orderings and fences cost. [`scan_stress`]: scans with delayed blocks.

#![cfg_attr(target_arch = "nvptx64", no_std, feature(abi_ptx, asm_experimental_arch))]

pub mod barrier;
pub mod fences;
pub mod ladder;
pub mod scan_stress;
pub mod spin;
pub mod xpx;
