//! Grid-wide synchronisation and reductions for NVIDIA GPUs, with every kernel in Rust.
//!
//! * [`device`]: a GPU, or the emulator that runs the same kernels on the CPU and checks every
//!   access; buffers, typed launches, device time.
//! * [`launch`]: geometry, and whether all blocks of a grid can be resident at once: what would
//!   hang is refused.
//! * [`primitives`]: reductions as a user calls them, and checks of their results.
//! * [`mod@reference`]: what is right, on the CPU with rayon.
//! * [`lab`]: the experiments that show what goes wrong without a grid barrier.
//! * [`verify`]: the cases that prove the kernels right.
//! * [`mod@bench`]: measurements, beside a peer's.
//! * [`data`]: `.npy` and raw files. [`report`]: tables.
//!
//! Kernels are written with `cuda_std` and `gridsync_kernels`; see the example `own_kernel`.
//!
//! ```
//! use gridsync::device::{Device, Emulator, EmulatorConfig};
//! use gridsync::primitives::Reducer;
//! use gridsync_kernels::op::Sum;
//!
//! // On a GPU: Device::cuda(0, &gridsync::device::KERNELS)?
//! let device = Device::new(Emulator::new(EmulatorConfig::default()));
//! let input = device.upload(&[1.5f32, 2.5, 3.0])?;
//! let mut sum = Reducer::<Sum<f32>>::new(&device)?;
//! assert_eq!(sum.reduce(&input)?, 7.0);
//! # Ok::<(), gridsync::device::DeviceError>(())
//! ```

pub mod bench;
pub mod data;
pub mod device;
pub mod lab;
pub mod launch;
pub mod primitives;
pub mod reference;
pub mod report;
pub mod verify;
