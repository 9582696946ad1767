//! Builds a kernels crate to PTX with rustc's own NVPTX backend, without nvcc or LLVM.
//!
//! The names and the API follow Rust-CUDA's `cuda_builder`, but the compiler differs. Rust-CUDA
//! uses a codegen backend for libNVVM. This crate uses plain rustc, with `-Zbuild-std=core` for
//! `nvptx64-nvidia-cuda`. So any rustc with the sources of its `core` can build kernels.
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
//! The crate stays a plain library, so that the host can depend on it too: `crate-type` is set on
//! the command line. Kernels are its `extern "ptx-kernel"` functions with unmangled names. The
//! crate is built with `cfg(compute_ge_80)` and `cfg(compute_ge_90)` if the architecture has at
//! least that capability. A panic is a `trap`, without a message or a call ([`CudaBuilder::build`]
//! explains why).
//!
//! A stable rustc is enough. Only for the kernels, the build sets `RUSTC_BOOTSTRAP=1`, with which a
//! stable rustc accepts unstable features. The Linux kernel compiles its Rust code in the same way.
//! It is the same compiler as without the variable, so the code that it generates is tested equally
//! well. But an unstable feature may change in any release. If kernels do not compile with a newer
//! rustc, use the older one for a while (`rust-toolchain.toml`). The features are `-Zbuild-std`, to
//! compile `core` for the GPU, functions with the ABI `ptx-kernel`, and `asm!` for this target.
//!
//! The same compiler and sources produce the same bytes, in any checkout. The PTX begins with a
//! [`Header`]: the target, the compiler and, if requested, the [`fingerprint`] of the sources.

mod arch;
mod builder;
mod compiler;
mod error;
mod made_from;
mod ptx;
mod script;
mod sources;

pub use arch::Arch;
pub use builder::{Built, CudaBuilder};
pub use compiler::Compiler;
pub use error::BuildError;
pub use ptx::{Header, Sources, kernels};
pub use sources::fingerprint;
