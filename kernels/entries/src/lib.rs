//! The kernels that gridsync launches: entry points that only call [`gridsync_kernels`].
//!
//! On the host each is a type that implements `cuda_std::launch::Kernel`. A crate with its own
//! kernels does not need this crate: it calls `gridsync_kernels`.
//!
//! ```
//! use cuda_std::launch::Kernel;
//! use gridsync_entries::{reduce, scan};
//!
//! assert_eq!(reduce::sum_f32::NAME, "reduce_sum_f32");
//! assert_eq!(scan::max_i64::NAME, "scan_max_i64");
//! ```

#![cfg_attr(target_arch = "nvptx64", no_std, feature(abi_ptx, asm_experimental_arch))]

#[macro_use]
mod catalogue;

/// The operation of a kernel: its parameter, if it has one.
macro_rules! operation {
    ($ty:ty) => {
        <$ty>::new()
    };
    ($ty:ty, $op:ident) => {
        $op
    };
}

pub mod counted;
pub mod kendall;
pub mod merge_sort;
pub mod range_sum;
pub mod reduce;
pub mod reduce_rows;
pub mod scan;
pub mod select;
pub mod spread;

use gridsync_kernels::op::Operation;

/// The elements that `O` combines.
pub type ElementOf<O> = <O as Operation>::Element;

/// The results of `O`.
pub type OutputOf<O> = <O as Operation>::Output;
