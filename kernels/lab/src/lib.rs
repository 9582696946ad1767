//! The kernels of the experiments. Only gridsync's program and its tests launch them.
//!
//! * [`threads`]: how threads are numbered. [`divergence`]: branches on which a warp diverges.
//! * [`ladder`]: one sum in seventeen steps, one scan in eleven and one sort in seven, written for readers.
//! * [`barrier`]: checks and measures every grid barrier. Includes barriers that are wrong on
//!   purpose.
//! * [`xpx`]: what goes wrong without a grid barrier. [`spin`]: how spin loops are compiled.
//! * [`atomics`]: cost of an atomic addition. [`banks`]: bank conflicts in shared memory.
//! * [`memory`]: latency and bandwidth of each kind of memory.
//! * [`dag`]: graphs of kernels, by every method.
//! * [`device_launch`]: kernels that launch kernels.
//! * [`fences`]: cost of orderings and fences. [`scan_stress`]: scans with delayed blocks.
//!
//! ```
//! use cuda_std::launch::Kernel;
//! use gridsync_lab_kernels::barrier::barrier_only;
//!
//! // A grid of this kernel must be resident as a whole.
//! assert!(barrier_only::COOPERATIVE);
//! ```

#![cfg_attr(target_arch = "nvptx64", no_std, feature(abi_ptx, asm_experimental_arch))]

pub mod atomics;
pub mod banks;
pub mod barrier;
pub mod dag;
pub mod device_launch;
pub mod divergence;
pub mod fences;
pub mod ladder;
pub mod limits;
pub mod locks;
pub mod memory;
pub mod scan_stress;
pub mod spin;
pub mod threads;
pub mod xpx;
