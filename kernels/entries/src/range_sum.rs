//! Range sums: one kernel per type of sum.

use cuda_std::prelude::*;
use gridsync_kernels::grid::range_sum::range_sums;

/// A number type that has a kernel for range sums. On the host only.
///
/// # Safety
///
/// Safe methods of the host library launch the kernel. With the arguments that [`arguments`] builds
/// from `common`, it does only what [`range_sums`] does with `common`.
///
/// [`arguments`]: Self::arguments
///
/// ```compile_fail,E0200
/// struct Mine;
/// impl gridsync_entries::range_sum::RangeSumNumber for Mine {} // It needs `unsafe impl`.
/// ```
#[cfg(not(target_arch = "nvptx64"))]
pub unsafe trait RangeSumNumber: gridsync_kernels::grid::range_sum::Subtract {
    /// The kernel.
    type Kernel: cuda_std::launch::Kernel;

    /// The arguments of the launch.
    fn arguments(common: Arguments<Self>) -> <Self::Kernel as cuda_std::launch::Kernel>::Args;
}

/// `(prefixes, queries, sums, bad)` as in [`range_sums`]. On the host only.
#[cfg(not(target_arch = "nvptx64"))]
pub type Arguments<T> = (Global<T>, Global<u64>, Global<T>, Global<u64>);

// SAFETY: the difference of two integers has the same bits, signed or unsigned.
#[cfg(not(target_arch = "nvptx64"))]
unsafe impl RangeSumNumber for i64 {
    type Kernel = range_sum_u64;

    fn arguments((prefixes, queries, sums, bad): Arguments<Self>) -> Arguments<u64> {
        (prefixes.cast(), queries, sums.cast(), bad)
    }
}

macro_rules! kernels {
    ($($name:ident: $ty:ty;)*) => {$(
        #[doc = concat!("Range sums in ", stringify!($ty), ": see [`range_sums`].")]
        ///
        /// # Safety
        ///
        /// The arguments and the grid are valid for [`range_sums`].
        #[kernel]
        pub unsafe fn $name(
            prefixes: Global<$ty>,
            queries: Global<u64>,
            sums: Global<$ty>,
            bad: Global<u64>,
        ) {
            range_sums(prefixes, queries, sums, bad);
        }

        // SAFETY: the kernel passes its arguments to `range_sums` in the same order.
        #[cfg(not(target_arch = "nvptx64"))]
        unsafe impl RangeSumNumber for $ty {
            type Kernel = $name;

            fn arguments(common: Arguments<Self>) -> Arguments<Self> {
                common
            }
        }
    )*};
}
kernels! {
    range_sum_f32: f32;
    range_sum_f64: f64;
    range_sum_u64: u64;
}
