//! Reductions: one kernel per operation and element type.

use cuda_std::prelude::*;
use cuda_std::{bf16, f16};
use gridsync_kernels::grid::{self, reduce::Workspace};
use gridsync_kernels::op::{
    And, ArgMax, ArgMin, CompensatedSum, Compose, Count, Max, Min, Or, Product, ProductModulo, Sum,
    WideSum, Xor,
};
#[cfg(not(target_arch = "nvptx64"))]
use gridsync_kernels::op::{Mean, Operation, Total};

/// What every reduction kernel takes: `(input, words, state, result, runs)` as in
/// [`grid::reduce()`]. On the host only.
#[cfg(not(target_arch = "nvptx64"))]
pub type Arguments<T> = (Global<T>, Global<u64>, Global<u32>, Global<u32>, u32);

/// The operations that have a reduction kernel, and which kernel that is. On the host only.
///
/// # Safety
///
/// Safe methods of the host library launch the kernel. For the arguments that [`arguments`] makes of
/// `common`, all that the kernel does is what [`grid::reduce()`] does with the operation and `common`.
/// The usual kernel is that one call.
///
/// [`arguments`]: Self::arguments
///
/// ```compile_fail,E0200
/// struct Mine;
/// impl gridsync_entries::reduce::Reducible for Mine {} // It takes `unsafe impl`.
/// ```
#[cfg(not(target_arch = "nvptx64"))]
pub unsafe trait Reducible: Operation {
    /// The kernel.
    type Kernel: cuda_std::launch::Kernel;

    /// What it is launched with: what every kernel takes, and the operation behind that if it has a
    /// parameter.
    fn arguments(
        self,
        common: Arguments<Self::Element>,
    ) -> <Self::Kernel as cuda_std::launch::Kernel>::Args;
}

// SAFETY: the kernel reduces by the sum, and the mean has its accumulators.
#[cfg(not(target_arch = "nvptx64"))]
unsafe impl<O: Reducible + Operation<Output: Total>> Reducible for Mean<O> {
    type Kernel = O::Kernel;

    fn arguments(
        self,
        common: Arguments<O::Element>,
    ) -> <O::Kernel as cuda_std::launch::Kernel>::Args {
        self.sum().arguments(common)
    }
}

/// The operation of a kernel: the kernel's parameter, if it has one.
macro_rules! operation {
    ($op:ty) => {
        <$op>::new()
    };
    ($op:ty, $parameter:ident) => {
        $parameter
    };
}

macro_rules! kernels {
    ($blocks:literal on a multiprocessor;
     $($name:ident: $op:ty, $element:ty $(, $parameter:ident)?;)*) => {$(
        #[doc = concat!("Reduces by [`", stringify!($op), "`]: see [`grid::reduce()`].")]
        ///
        /// # Safety
        ///
        /// The arguments and the grid are as [`grid::reduce()`] wants them, and no other launch uses
        /// `words` or `state` until this one has ended.
        #[kernel(max_threads = 512, min_blocks = $blocks)]
        pub unsafe fn $name(
            input: Global<$element>,
            words: Global<u64>,
            state: Global<u32>,
            result: Global<u32>,
            runs: u32,
            $($parameter: $op,)?
        ) {
            let op = operation!($op $(, $parameter)?);
            grid::reduce(op, input, Workspace { words, state }, result, runs);
        }

        // SAFETY: the kernel passes its arguments on to `grid::reduce` in the same order.
        #[cfg(not(target_arch = "nvptx64"))]
        unsafe impl Reducible for $op {
            type Kernel = $name;

            fn arguments(
                self,
                (input, words, state, result, runs): Arguments<$element>,
            ) -> <$name as cuda_std::launch::Kernel>::Args {
                $(let $parameter = self;)?
                (input, words, state, result, runs, $($parameter)?)
            }
        }
    )*};
}
// Two blocks of 16 warps on a multiprocessor leave a thread 64 registers: enough for eight loads in
// flight and the accumulators.
kernels! {
    2 on a multiprocessor;
    reduce_sum_f32: Sum<f32>, f32;
    reduce_sum_f32_in_f64: Sum<f32, f64>, f32;
    reduce_sum_f64: Sum<f64>, f64;
    reduce_sum_i32_in_i64: Sum<i32, i64>, i32;
    reduce_sum_u32_in_u64: Sum<u32, u64>, u32;
    reduce_sum_i64: Sum<i64>, i64;
    reduce_sum_u64: Sum<u64>, u64;
    reduce_sum_i64_in_i128: WideSum<i64>, i64;
    reduce_sum_u64_in_i128: WideSum<u64>, u64;
    reduce_sum_f16_in_f32: Sum<f16, f32>, f16;
    reduce_sum_f16_in_f64: Sum<f16, f64>, f16;
    reduce_sum_bf16_in_f32: Sum<bf16, f32>, bf16;
    reduce_sum_bf16_in_f64: Sum<bf16, f64>, bf16;
    reduce_prod_f32: Product<f32>, f32;
    reduce_prod_f32_in_f64: Product<f32, f64>, f32;
    reduce_prod_f64: Product<f64>, f64;
    reduce_prod_i32_in_i64: Product<i32, i64>, i32;
    reduce_prod_u32_in_u64: Product<u32, u64>, u32;
    reduce_prod_i64: Product<i64>, i64;
    reduce_prod_u64: Product<u64>, u64;
    reduce_prod_f16_in_f32: Product<f16, f32>, f16;
    reduce_prod_f16_in_f64: Product<f16, f64>, f16;
    reduce_prod_bf16_in_f32: Product<bf16, f32>, bf16;
    reduce_prod_bf16_in_f64: Product<bf16, f64>, bf16;
    reduce_min_f32: Min<f32>, f32;
    reduce_min_f64: Min<f64>, f64;
    reduce_min_i32: Min<i32>, i32;
    reduce_min_u32: Min<u32>, u32;
    reduce_min_i64: Min<i64>, i64;
    reduce_min_u64: Min<u64>, u64;
    reduce_min_f16_in_f32: Min<f16, f32>, f16;
    reduce_min_bf16_in_f32: Min<bf16, f32>, bf16;
    reduce_max_f32: Max<f32>, f32;
    reduce_max_f64: Max<f64>, f64;
    reduce_max_i32: Max<i32>, i32;
    reduce_max_u32: Max<u32>, u32;
    reduce_max_i64: Max<i64>, i64;
    reduce_max_u64: Max<u64>, u64;
    reduce_max_f16_in_f32: Max<f16, f32>, f16;
    reduce_max_bf16_in_f32: Max<bf16, f32>, bf16;
    reduce_xor_i32: Xor<i32>, i32;
    reduce_xor_u32: Xor<u32>, u32;
    reduce_xor_i64: Xor<i64>, i64;
    reduce_xor_u64: Xor<u64>, u64;
    reduce_and_i32: And<i32>, i32;
    reduce_and_u32: And<u32>, u32;
    reduce_and_i64: And<i64>, i64;
    reduce_and_u64: And<u64>, u64;
    reduce_or_i32: Or<i32>, i32;
    reduce_or_u32: Or<u32>, u32;
    reduce_or_i64: Or<i64>, i64;
    reduce_or_u64: Or<u64>, u64;
    reduce_count_f32: Count<f32>, f32;
    reduce_count_f64: Count<f64>, f64;
    reduce_count_i32: Count<i32>, i32;
    reduce_count_u32: Count<u32>, u32;
    reduce_count_i64: Count<i64>, i64;
    reduce_count_u64: Count<u64>, u64;
}
kernels! {
    2 on a multiprocessor;
    reduce_sum_compensated_f32: CompensatedSum<f32>, f32;
    reduce_sum_compensated_f64: CompensatedSum<f64>, f64;
    reduce_prod_mod_i32: ProductModulo<i32>, i32, op;
    reduce_prod_mod_u32: ProductModulo<u32>, u32, op;
    reduce_prod_mod_i64: ProductModulo<i64>, i64, op;
    reduce_prod_mod_u64: ProductModulo<u64>, u64, op;
    reduce_argmin_f32: ArgMin<f32>, f32;
    reduce_argmin_f64: ArgMin<f64>, f64;
    reduce_argmin_i32: ArgMin<i32>, i32;
    reduce_argmin_u32: ArgMin<u32>, u32;
    reduce_argmin_i64: ArgMin<i64>, i64;
    reduce_argmin_u64: ArgMin<u64>, u64;
    reduce_argmax_f32: ArgMax<f32>, f32;
    reduce_argmax_f64: ArgMax<f64>, f64;
    reduce_argmax_i32: ArgMax<i32>, i32;
    reduce_argmax_u32: ArgMax<u32>, u32;
    reduce_argmax_i64: ArgMax<i64>, i64;
    reduce_argmax_u64: ArgMax<u64>, u64;
    reduce_compose_u64: Compose, u64;
}
// But for eight accumulators of two halves or three, they are not.
kernels! {
    1 on a multiprocessor;
    reduce_argmin_f16_in_f32: ArgMin<f16, f32>, f16;
    reduce_argmin_bf16_in_f32: ArgMin<bf16, f32>, bf16;
    reduce_argmax_f16_in_f32: ArgMax<f16, f32>, f16;
    reduce_argmax_bf16_in_f32: ArgMax<bf16, f32>, bf16;
    reduce_count_f16: Count<f16>, f16;
    reduce_count_bf16: Count<bf16>, bf16;
}
