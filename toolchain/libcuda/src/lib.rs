//! The CUDA driver, resolved symbol by symbol at the first call.
//!
//! A program that links `libcuda.so` neither builds nor starts on a machine without an NVIDIA
//! driver. This crate defines every `cu…` symbol that [cust](https://docs.rs/cust/0.3.2) and
//! gridsync call, each as a jump through a table. The first call of a symbol opens `libcuda.so.1`,
//! looks the symbol up and puts its address in the table. Later calls cost only that jump. Without
//! a driver every call returns [`CUDA_ERROR_STUB_LIBRARY`] (34). A symbol that is missing from an
//! old driver returns [`CUDA_ERROR_NOT_FOUND`] (500). So the same binary builds and starts
//! everywhere, and reports what is missing.
//!
//! `stub/lib64/libcuda.so` is an empty linker script: cust's build script links with `-lcuda`, and
//! with the feature `stub` the build script of this crate adds its folder to the linker's search
//! path. Without it, a program can link the driver's own `libcuda.so`, as candle does. cust's build script
//! also needs a folder that contains a folder `lib64`, in `CUDA_LIBRARY_PATH`, `/usr/local/cuda` or
//! `/opt/cuda`. In the workspace of gridsync `.cargo/config.toml` sets one.
//!
//! ```
//! if let Err(why) = libcuda::available() {
//!     println!("no GPU here: {why}");
//! }
//! ```
//!
//! Names, types and numbers are those of the CUDA driver API
//! (<https://docs.nvidia.com/cuda/cuda-driver-api/>), with the versioned names that the library
//! exports (`cuMemAlloc_v2`). Typed declarations exist only for functions that cust 0.3.2 lacks, or
//! whose error number it does not report.
#![allow(non_camel_case_types, non_snake_case, reason = "the CUDA driver API's own names")]

mod driver;
mod loader;
mod result;
mod trampoline;
mod types;

pub use driver::*;
pub use loader::{LIBRARY_VARIABLE, Unavailable, available, provides};
pub use result::*;
pub use types::*;
