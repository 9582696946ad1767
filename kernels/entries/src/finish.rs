//! Results of rows as elements of an array: a kernel for each kind of accumulator and type of results.

#[cfg(not(target_arch = "nvptx64"))]
use cuda_std::launch::Kernel;
use cuda_std::launch::KernelArg;
use cuda_std::prelude::*;
use cuda_std::{bf16, f16};
use gridsync_kernels::grid::reduce::finish_rows;
#[cfg(not(target_arch = "nvptx64"))]
use gridsync_kernels::op::Carried;
use gridsync_kernels::op::{
    ArgMax, Deviation, LogSumExp, Mean, Operation, Stored, Sum, SumOfSquares, Variance,
};
#[cfg(not(target_arch = "nvptx64"))]
use gridsync_kernels::op::{ArgMin, Max, Min, Product};

#[cfg(not(target_arch = "nvptx64"))]
use crate::NoKernel;

/// The arguments of every kernel, as in [`finish_rows`].
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Arguments<R> {
    /// The words of one accumulator for each row.
    pub words: Global<u32>,
    /// The results.
    pub output: Global<R>,
    /// The number of elements per row.
    pub columns: u64,
    /// The number that a variance subtracts from that of the elements.
    pub ddof: u64,
}

// SAFETY: `repr(C)`; views and numbers are the same on host and device.
unsafe impl<R: Scalar> KernelArg for Arguments<R> {}

impl<R: Scalar> Arguments<R> {
    /// Writes the results of `op`: [`finish_rows`].
    #[device]
    fn finish(self, op: impl Operation<Output: Stored<R>>) {
        finish_rows(op, self.words, self.columns, self.output);
    }
}

/// An operation whose results for rows a kernel leaves in an array of `R`. On the host only.
///
/// # Safety
///
/// A safe method of the host library launches the kernel. It does only what [`finish_rows`] does
/// with an operation of these accumulators and results. If it is [`NoKernel`], the words of a
/// [settled](Operation::settled) accumulator are the bytes of the result.
#[cfg(not(target_arch = "nvptx64"))]
pub unsafe trait Finished<R>: Operation {
    /// The kernel.
    type Kernel: Kernel;

    /// Its arguments for `common`.
    fn arguments(self, common: Arguments<R>) -> <Self::Kernel as Kernel>::Args;
}

/// `finished! { KERNEL, RESULT: OP TYPE, OP TYPE…; }`: a kernel, which is that of the first operation.
/// The others have the same accumulators, and make the same results of them. With `ddof`, the number
/// in the arguments is a parameter of the operation. `finished! { none, RESULT: OP TYPE…; }` is for
/// operations whose accumulators are their results.
macro_rules! finished {
    ($($name:ident, $result:ident $($ddof:ident)?: $op:ty $(, $other:ty)*;)*) => {$(
        finished! { @ $name, $result [$($ddof)?] $op; $($other),* }
    )*};
    (@ none, $result:ident [] $op:ty; $($other:ty),*) => {
        finished! { @ none $result $op $(, $other)* }
    };
    (@ none $result:ident $($op:ty),*) => {$(
        // SAFETY: a settled accumulator is the result, which has the same type.
        #[cfg(not(target_arch = "nvptx64"))]
        unsafe impl Finished<$result> for $op {
            type Kernel = NoKernel;

            fn arguments(self, _: Arguments<$result>) {}
        }
    )*};
    (@ $name:ident, $result:ident [$($ddof:ident)?] $op:ty; $($other:ty),*) => {
        #[doc = concat!("Results of rows of [`", stringify!($op), "`]: see [`finish_rows`].")]
        ///
        /// # Safety
        ///
        /// The arguments and the grid are valid for that function.
        #[kernel(max_threads = 128)]
        pub unsafe fn $name(common: Arguments<$result>) {
            common.finish(finished!(@ $op, common $(, $ddof)?));
        }

        finished! { @ $name $result ($($ddof)?) $op, $op $(, $other)* }
    };
    (@ $name:ident $result:ident $ddof:tt $first:ty $(, $op:ty)*) => {$(
        // SAFETY: the kernel finishes by the first operation, which makes the same results of the
        // same accumulators.
        #[cfg(not(target_arch = "nvptx64"))]
        unsafe impl Finished<$result> for $op {
            type Kernel = $name;

            fn arguments(self, common: Arguments<$result>) -> (Arguments<$result>,) {
                const { assert!(words::<$op>() == words::<$first>()) };
                (finished!(@ common, self $ddof),)
            }
        }
    )*};
    (@ $common:ident, $self:ident ()) => {
        $common
    };
    (@ $common:ident, $self:ident (ddof)) => {
        Arguments { ddof: $self.ddof(), ..$common }
    };
    (@ $op:ty, $common:ident) => {
        <$op>::default()
    };
    (@ $op:ty, $common:ident, ddof) => {
        <$op>::with_ddof($common.ddof)
    };
}

/// The words of an accumulator of `O`.
#[cfg(not(target_arch = "nvptx64"))]
const fn words<O: Operation>() -> usize {
    O::Accumulator::WORDS
}

finished! {
    none, i32: Min<i32>, Max<i32>;
    none, u32: Min<u32>, Max<u32>;
    none, i64: Sum<i64>, Sum<i32, i64>, Product<i64>, Product<i32, i64>, Min<i64>, Max<i64>;
    none, u64: Sum<u64>, Sum<u32, u64>, Product<u64>, Product<u32, u64>, Min<u64>, Max<u64>;
    none, f32: Sum<f32>, Product<f32>, Min<f32>, Max<f32>;
    none, f64: Sum<f64>, Product<f64>, Min<f64>, Max<f64>, SumOfSquares<f64>, SumOfSquares<i32>,
        SumOfSquares<u32>, SumOfSquares<i64>, SumOfSquares<u64>;

    finish_f16, f16: Sum<f16, f32>, Product<f16, f32>, Min<f16, f32>, Max<f16, f32>;
    finish_bf16, bf16: Sum<bf16, f32>, Product<bf16, f32>, Min<bf16, f32>, Max<bf16, f32>;

    finish_squares_f32, f32: SumOfSquares<f32>;
    finish_squares_f16, f16: SumOfSquares<f16>;
    finish_squares_bf16, bf16: SumOfSquares<bf16>;

    finish_mean_f32, f32: Mean<Sum<f32>>;
    finish_mean_f64, f64: Mean<Sum<f64>>;
    finish_mean_f16, f16: Mean<Sum<f16, f32>>;
    finish_mean_bf16, bf16: Mean<Sum<bf16, f32>>;
    finish_mean_i32, f64: Mean<Sum<i32, i64>>;
    finish_mean_u32, f64: Mean<Sum<u32, u64>>;

    finish_log_sum_exp_f32, f32: LogSumExp<f32>;
    finish_log_sum_exp_f64, f64: LogSumExp<f64>;
    finish_log_sum_exp_f16, f16: LogSumExp<f16>;
    finish_log_sum_exp_bf16, bf16: LogSumExp<bf16>;

    finish_variance_f32, f32 ddof: Variance<f32>;
    finish_variance_f64, f64 ddof: Variance<f64>;
    finish_variance_i32, f64 ddof: Variance<i32>, Variance<u32>;
    finish_variance_i64, f64 ddof: Variance<i64>, Variance<u64>;
    finish_deviation_f32, f32 ddof: Deviation<f32>;
    finish_deviation_f64, f64 ddof: Deviation<f64>;
    finish_deviation_i32, f64 ddof: Deviation<i32>, Deviation<u32>;
    finish_deviation_i64, f64 ddof: Deviation<i64>, Deviation<u64>;

    finish_index_32, i64: ArgMax<u32>, ArgMax<f32>, ArgMax<i32>, ArgMax<f16, f32>,
        ArgMax<bf16, f32>, ArgMin<f32>, ArgMin<i32>, ArgMin<u32>, ArgMin<f16, f32>,
        ArgMin<bf16, f32>;
    finish_index_64, i64: ArgMax<u64>, ArgMax<f64>, ArgMax<i64>, ArgMin<f64>, ArgMin<i64>,
        ArgMin<u64>;
}
