//! Reductions of the rows of a matrix: two kernels per operation and element type, one for short rows
//! and one for long ones.

use cuda_std::prelude::*;
use cuda_std::{bf16, f16};
use gridsync_kernels::grid::reduce::{Batch, Workspace, reduce_long_rows, reduce_short_rows};
use gridsync_kernels::op::{Max, Min, Sum};
#[cfg(not(target_arch = "nvptx64"))]
use gridsync_kernels::op::{Mean, Operation, Total};

/// What every kernel for short rows takes: `(input, result, columns, log_packs)` as in
/// [`reduce_short_rows`]. On the host only.
#[cfg(not(target_arch = "nvptx64"))]
pub type ShortArguments<T> = (Global<T>, Global<u32>, u32, u32);

/// What every kernel for long rows takes: `(input, words, state, result, columns, runs)` as in
/// [`reduce_long_rows`]. On the host only.
#[cfg(not(target_arch = "nvptx64"))]
pub type LongArguments<T> = (Global<T>, Global<u64>, Global<u32>, Global<u32>, u64, u32);

/// The operations that have kernels for the rows of a matrix, and which those are. On the host only.
///
/// # Safety
///
/// Safe methods of the host library launch the kernels. For the arguments that [`short_arguments`] and
/// [`long_arguments`] make of `common`, all that the kernels do is what [`reduce_short_rows`] and
/// [`reduce_long_rows`] do with the operation and `common`. The usual kernel is that one call.
///
/// [`short_arguments`]: Self::short_arguments
/// [`long_arguments`]: Self::long_arguments
///
/// ```compile_fail,E0200
/// struct Mine;
/// impl gridsync_entries::reduce_rows::RowReducible for Mine {} // It takes `unsafe impl`.
/// ```
#[cfg(not(target_arch = "nvptx64"))]
pub unsafe trait RowReducible: Operation {
    /// The kernel for short rows.
    type Short: cuda_std::launch::Kernel;
    /// The kernel for long rows.
    type Long: cuda_std::launch::Kernel;

    /// What the kernel for short rows is launched with: what every one takes, and the operation behind
    /// that if it has a parameter.
    fn short_arguments(
        self,
        common: ShortArguments<Self::Element>,
    ) -> <Self::Short as cuda_std::launch::Kernel>::Args;

    /// The same of the kernel for long rows.
    fn long_arguments(
        self,
        common: LongArguments<Self::Element>,
    ) -> <Self::Long as cuda_std::launch::Kernel>::Args;
}

// SAFETY: the kernels reduce by the sum, and the mean has its accumulators.
#[cfg(not(target_arch = "nvptx64"))]
unsafe impl<O: RowReducible + Operation<Output: Total>> RowReducible for Mean<O> {
    type Short = O::Short;
    type Long = O::Long;

    fn short_arguments(
        self,
        common: ShortArguments<O::Element>,
    ) -> <O::Short as cuda_std::launch::Kernel>::Args {
        self.sum().short_arguments(common)
    }

    fn long_arguments(
        self,
        common: LongArguments<O::Element>,
    ) -> <O::Long as cuda_std::launch::Kernel>::Args {
        self.sum().long_arguments(common)
    }
}

macro_rules! kernels {
    ($blocks:literal on a multiprocessor;
     $($short:ident, $long:ident: $op:ty, $element:ty;)*) => {$(
        #[doc = concat!("Reduces short rows by [`", stringify!($op), "`]: see [`reduce_short_rows`].")]
        ///
        /// # Safety
        ///
        /// The arguments and the grid are as [`reduce_short_rows`] wants them.
        #[kernel(max_threads = 256, min_blocks = 3)]
        pub unsafe fn $short(
            input: Global<$element>,
            result: Global<u32>,
            columns: u32,
            log_packs: u32,
        ) {
            reduce_short_rows(<$op>::new(), input, result, columns, Batch { log_packs });
        }

        #[doc = concat!("Reduces long rows by [`", stringify!($op), "`]: see [`reduce_long_rows`].")]
        ///
        /// # Safety
        ///
        /// The arguments and the grid are as [`reduce_long_rows`] wants them, and no other launch
        /// uses `words` or `state` until this one has ended.
        #[kernel(max_threads = 512, min_blocks = $blocks)]
        pub unsafe fn $long(
            input: Global<$element>,
            words: Global<u64>,
            state: Global<u32>,
            result: Global<u32>,
            columns: u64,
            runs: u32,
        ) {
            let workspace = Workspace { words, state };
            let op = <$op>::new();
            reduce_long_rows(op, input, workspace, result, columns as usize, runs);
        }

        // SAFETY: the kernels pass their arguments on in the same order.
        #[cfg(not(target_arch = "nvptx64"))]
        unsafe impl RowReducible for $op {
            type Short = $short;
            type Long = $long;

            fn short_arguments(
                self,
                common: ShortArguments<$element>,
            ) -> <$short as cuda_std::launch::Kernel>::Args {
                common
            }

            fn long_arguments(
                self,
                common: LongArguments<$element>,
            ) -> <$long as cuda_std::launch::Kernel>::Args {
                common
            }
        }
    )*};
}
// For long rows as many blocks on a multiprocessor as for one array, which leaves a thread 64
// registers. Short ones take a few more, for eight loads in flight and where each belongs: three
// blocks of 256 threads.
kernels! {
    2 on a multiprocessor;
    reduce_short_rows_sum_f32, reduce_long_rows_sum_f32: Sum<f32>, f32;
    reduce_short_rows_sum_f64, reduce_long_rows_sum_f64: Sum<f64>, f64;
    reduce_short_rows_sum_i64, reduce_long_rows_sum_i64: Sum<i64>, i64;
    reduce_short_rows_sum_u64, reduce_long_rows_sum_u64: Sum<u64>, u64;
    reduce_short_rows_sum_f16_in_f32, reduce_long_rows_sum_f16_in_f32: Sum<f16, f32>, f16;
    reduce_short_rows_sum_bf16_in_f32, reduce_long_rows_sum_bf16_in_f32: Sum<bf16, f32>, bf16;
    reduce_short_rows_min_f32, reduce_long_rows_min_f32: Min<f32>, f32;
    reduce_short_rows_min_f64, reduce_long_rows_min_f64: Min<f64>, f64;
    reduce_short_rows_min_i32, reduce_long_rows_min_i32: Min<i32>, i32;
    reduce_short_rows_min_u32, reduce_long_rows_min_u32: Min<u32>, u32;
    reduce_short_rows_min_i64, reduce_long_rows_min_i64: Min<i64>, i64;
    reduce_short_rows_min_u64, reduce_long_rows_min_u64: Min<u64>, u64;
    reduce_short_rows_max_f32, reduce_long_rows_max_f32: Max<f32>, f32;
    reduce_short_rows_max_f64, reduce_long_rows_max_f64: Max<f64>, f64;
    reduce_short_rows_max_i32, reduce_long_rows_max_i32: Max<i32>, i32;
    reduce_short_rows_max_u32, reduce_long_rows_max_u32: Max<u32>, u32;
    reduce_short_rows_max_i64, reduce_long_rows_max_i64: Max<i64>, i64;
    reduce_short_rows_max_u64, reduce_long_rows_max_u64: Max<u64>, u64;
}
// Four accumulators of 64 bits beside packs that are made of two need a few registers more than 64.
kernels! {
    1 on a multiprocessor;
    reduce_short_rows_sum_i32_in_i64, reduce_long_rows_sum_i32_in_i64: Sum<i32, i64>, i32;
    reduce_short_rows_sum_u32_in_u64, reduce_long_rows_sum_u32_in_u64: Sum<u32, u64>, u32;
}
