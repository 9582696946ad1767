//! NCCL, opened at the first use.
//!
//! A program that links `libnccl.so` neither builds nor starts on a machine without NCCL. This
//! crate opens `libnccl.so.2`, or the file in [`LIBRARY_VARIABLE`], at the first call of [`nccl`],
//! and looks up the functions of [`Nccl`]. If the library or one of the functions is missing,
//! [`nccl`] returns the reason.
//!
//! ```
//! match libnccl::nccl() {
//!     Ok(nccl) => {
//!         let [major, minor, patch] = libnccl::version_of(nccl.version());
//!         println!("NCCL {major}.{minor}.{patch}");
//!     }
//!     Err(why) => println!("no NCCL: {why}"),
//! }
//! ```
//!
//! Only the functions for an all-gather among processes are declared. Names, types and numbers are
//! those of `nccl.h` (<https://github.com/NVIDIA/nccl>, `src/nccl.h.in`; the functions in
//! <https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/api.html>). Each has the same form in
//! the headers of NCCL 2.14, the oldest supported version, and 2.31.
#![allow(non_camel_case_types, non_snake_case, non_upper_case_globals, reason = "NCCL's own names")]

mod loader;
mod result;
mod types;

pub use loader::{LIBRARY_VARIABLE, Nccl, Unavailable, nccl};
pub use result::*;
pub use types::*;
