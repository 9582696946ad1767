//! Range sums: one kernel per type of the sums.

use cuda_std::prelude::*;
use gridsync_kernels::grid::range_sum::range_sums;

/// The numbers that range sums are taken in, and the kernel that answers queries. On the host only.
///
/// # Safety
///
/// Safe methods of the host library launch the kernel. All that it does is what [`range_sums`] does with
/// its arguments.
///
/// ```compile_fail,E0200
/// struct Mine;
/// impl gridsync_entries::range_sum::RangeSumNumber for Mine {} // It takes `unsafe impl`.
/// ```
#[cfg(not(target_arch = "nvptx64"))]
pub unsafe trait RangeSumNumber: gridsync_kernels::grid::range_sum::Subtract {
    /// The kernel: `(prefixes, queries, sums, bad)` as in [`range_sums`].
    type Kernel: cuda_std::launch::Kernel<Args = (Global<Self>, Global<u64>, Global<Self>, Global<u64>)>;
}

macro_rules! kernels {
    ($($name:ident: $ty:ty;)*) => {$(
        #[doc = concat!("Range sums in ", stringify!($ty), ": see [`range_sums`].")]
        ///
        /// # Safety
        ///
        /// The arguments and the grid are as [`range_sums`] wants them.
        #[kernel]
        pub unsafe fn $name(
            prefixes: Global<$ty>,
            queries: Global<u64>,
            sums: Global<$ty>,
            bad: Global<u64>,
        ) {
            range_sums(prefixes, queries, sums, bad);
        }

        // SAFETY: the kernel passes its arguments on to `range_sums` in the same order.
        #[cfg(not(target_arch = "nvptx64"))]
        unsafe impl RangeSumNumber for $ty {
            type Kernel = $name;
        }
    )*};
}
kernels! {
    range_sum_f32: f32;
    range_sum_f64: f64;
    range_sum_i64: i64;
    range_sum_u64: u64;
}
