//! Grid-wide synchronisation and reductions for NVIDIA GPUs, with every kernel in Rust.
//!
//! * [`device`]: a GPU, or the emulator that runs the same kernels on the CPU and checks every
//!   access; buffers, typed launches, streams and events, graphs, device time. Works on the
//!   program's own context, streams and memory, if it has them.
//! * [`launch`]: geometry, and whether all blocks of a grid can be resident at once: a grid that
//!   would hang is refused, or runs in stages. Also the words of a grid barrier.
//! * [`check`]: runs any kernel under many schedules in the emulator, or in every possible
//!   execution, and explains failures.
//! * [`dag`]: graphs of kernels as data, run by launches or inside one kernel.
//! * [`primitives`]: reductions, scans, selections, also by rank, sorts, searches, histograms, range
//!   sums and rank correlation, ready to call, and checks of their results.
//! * [`op`]: the operations, re-exported from `gridsync_kernels`.
//! * [`mod@reference`]: the correct results, computed on the CPU with rayon.
//! * [`memory`]: arrays in host memory that return an error if they do not fit.
//! * [`prelude`]: the names that most programs need.
//!
//! Kernels are written with `cuda_std` and `gridsync_kernels`, whose barriers are in
//! [`grid::barrier`](gridsync_kernels::grid::barrier); see the example `own_kernel`.
//!
//! ```
//! use gridsync::device::{Emulator, EmulatorConfig};
//! use gridsync::prelude::*;
//!
//! // On a GPU: Device::cuda(0, &KERNELS)?
//! // On the emulator under a few schedules, with a check for data races:
//! for seed in 0..4 {
//!     let device = Device::new(Emulator::new(EmulatorConfig::checking(seed)));
//!     let input = device.upload(&[1.5f32, 2.5, 3.0])?;
//!     let mut sum = Reducer::new(Sum::<f32>::new(), &device)?;
//!     assert_eq!(sum.reduce(&input)?, 7.0);
//! }
//! # Ok::<(), gridsync::device::DeviceError>(())
//! ```

pub mod check;
pub mod dag;
pub mod device;
pub mod launch;
pub mod memory;
pub mod parallel;
pub mod prelude;
pub mod primitives;
pub mod reference;

pub use device::ptx;

pub use gridsync_kernels::op;
