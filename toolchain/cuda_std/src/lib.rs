//! The device standard library of gridsync.
//!
//! Kernels use only this crate. Compiled for nvptx64, each function is the PTX instruction it
//! documents. Compiled for the host, it is an operation of the emulator, `simt`. So the same source
//! runs on a GPU and, checked, on a CPU.
//!
//! Names and API follow Rust-CUDA's `cuda_std`. ARCHITECTURE.md explains the differences.
//!
//! * [`thread`]: positions of threads, the block barrier, fences;
//! * `cluster`: the block's position in its cluster, the cluster barrier; since sm_90;
//! * `mbarrier`: barriers in shared memory, for a subset of threads and for bytes; since sm_90;
//! * `bulk`: asynchronous copies between device and shared memory; since sm_90;
//! * [`warp`]: shuffles, votes, matches and reductions of the 32 lanes of a warp;
//! * [`memory`]: views of global and shared memory, atomics with scope and ordering;
//! * [`math`]: functions of real numbers, exact, accurate and approximate;
//! * [`spin`]: waiting for another thread;
//! * [`protocol`]: declarations of a library for the emulator's messages;
//! * [`time`]: clocks and sleep;
//! * [`dependent`]: waiting for the previous grid; since sm_90;
//! * [`launch`]: the host's interface to a kernel;
//! * `device_runtime`: kernels that launch kernels; with the feature `device-runtime`.
//!
//! ```
//! use cuda_std::prelude::*;
//!
//! /// Adds `x` to `y`, with a thread for each element.
//! ///
//! /// # Safety
//! /// Both have the same length, and nothing else writes them during the launch.
//! #[kernel]
//! pub unsafe fn add(x: Global<f32>, y: Global<f32>) {
//!     let i = thread::index();
//!     if i < y.len() {
//!         y.write(i, y.read(i) + x.read(i));
//!     }
//! }
//! ```

#![cfg_attr(target_arch = "nvptx64", no_std)]
#![cfg_attr(
    target_arch = "nvptx64",
    feature(asm_experimental_arch, core_float_math, link_llvm_intrinsics, stdarch_nvptx),
    allow(internal_features)
)]

mod backend;
#[cfg(any(compute_ge_90, not(target_arch = "nvptx64")))]
pub mod bulk;
#[cfg(any(compute_ge_90, not(target_arch = "nvptx64")))]
pub mod cluster;
pub mod convert;
#[cfg(any(compute_ge_90, not(target_arch = "nvptx64")))]
pub mod dependent;
#[cfg(feature = "device-runtime")]
pub mod device_runtime;
mod dim;
pub mod float;
pub mod launch;
pub mod math;
#[cfg(any(compute_ge_90, not(target_arch = "nvptx64")))]
pub mod mbarrier;
pub mod memory;
pub mod protocol;
pub mod spin;
pub mod thread;
pub mod time;
pub mod warp;

#[cfg(not(target_arch = "nvptx64"))]
#[doc(hidden)]
pub use backend::shared::emulated_shared;
pub use cuda_std_macros::{device, kernel};
pub use dim::Dim3;
pub use half::{bf16, f16};
#[cfg(not(target_arch = "nvptx64"))]
#[doc(hidden)]
pub use simt::{library_call, protocol_call};

// The attributes expand to the crate's external name, and this crate uses them too.
extern crate self as cuda_std;

/// The items that most kernels need.
pub mod prelude {
    pub use crate::math::{self, Float};
    pub use crate::memory::{CacheHint, Global, Ordering, Scalar, Scope, Shared};
    pub use crate::{device, kernel, shared_array, spin, thread, warp};
}

/// Ends the whole grid with an error: PTX `trap`. The launch fails and, on CUDA, the context is
/// lost. In the emulator the launch ends in a fault that carries `message`.
#[cuda_std_macros::instruction]
pub fn trap(message: &str) -> ! {
    backend::thread::trap(message)
}

/// A panic in a kernel ends the grid. The device cannot unwind, and formatting the message would
/// cost every kernel registers and stack.
#[cfg(target_arch = "nvptx64")]
#[panic_handler]
fn panic(_info: &core::panic::PanicInfo<'_>) -> ! {
    trap("panic")
}
