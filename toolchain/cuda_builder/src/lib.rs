//! Builds a kernels crate to PTX with rustc's own NVPTX backend: no nvcc, no LLVM of your own.
//!
//! The names and the shape follow Rust-CUDA's `cuda_builder`; what is underneath does not. There, a codegen
//! backend over libNVVM compiles the crate; here, plain rustc does, with `-Zbuild-std=core` for
//! `nvptx64-nvidia-cuda`. So any rustc that comes with the sources of its own `core` can build kernels.
//!
//! ```no_run
//! use cuda_builder::{Arch, CudaBuilder};
//!
//! let built = CudaBuilder::new("kernels")
//!     .arch(Arch::Compute90)
//!     .copy_to("host/ptx/kernels.ptx")
//!     .build()?;
//! println!("{} kernels by {}", built.kernels.len(), built.compiler);
//! # Ok::<(), cuda_builder::BuildError>(())
//! ```
//!
//! The crate stays a plain library: `crate-type` is given on the command line, so that the host can depend on
//! the same crate. Kernels are its `extern "ptx-kernel"` functions with unmangled names. A crate built here sees
//! `cfg(compute_ge_80)` and `cfg(compute_ge_90)` where the architecture has at least that capability.
//! A panic is `trap`, without a message and without a call ([`CudaBuilder::build`] says why).
//!
//! Same compiler and same sources give the same bytes, wherever the checkout lies. The PTX begins with a
//! [`Header`] that names its target, its compiler and, if asked for, the [`fingerprint`] of its sources.

mod arch;
mod builder;
mod compiler;
mod error;
mod ptx;
mod sources;

pub use arch::Arch;
pub use builder::{Built, CudaBuilder};
pub use compiler::Compiler;
pub use error::BuildError;
pub use ptx::{Header, Sources, kernels};
pub use sources::fingerprint;
