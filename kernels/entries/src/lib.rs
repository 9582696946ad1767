//! The kernels that gridsync launches: entry points that do little but call [`gridsync_kernels`].
//!
//! On the host each is a type that implements `cuda_std::launch::Kernel`. A crate with kernels of its own
//! does not need this one: it calls `gridsync_kernels`.

#![cfg_attr(
    target_arch = "nvptx64",
    no_std,
    feature(abi_ptx, asm_experimental_arch)
)]

pub mod kendall;
pub mod merge_sort;
pub mod range_sum;
pub mod reduce;
pub mod reduce_rows;
pub mod scan;
pub mod select;
