//! Scans: one kernel per operation and element type.

use cuda_std::prelude::*;
use cuda_std::{bf16, f16};
use gridsync_kernels::grid;
use gridsync_kernels::grid::scan::{Mode, Workspace};
use gridsync_kernels::op::{
    And, CompensatedSum, Count, InSegments, Max, Min, Or, Product, ProductModulo, Recurrence, Sum,
    Xor,
};

/// What every scan kernel takes: `(input, output, words, state, rows, group, mode)` as in
/// [`grid::scan()`], the mode as its number. On the host only.
#[cfg(not(target_arch = "nvptx64"))]
pub type Arguments<T, A> = (
    Global<T>,
    Global<A>,
    Global<u64>,
    Global<u32>,
    u32,
    u32,
    u32,
);

/// The same of a kernel by bulk copies: `(input, output, words, state, tiles, mode)` as in
/// [`grid::scan::scan_by_bulk`]. On the host only.
#[cfg(not(target_arch = "nvptx64"))]
pub type BulkArguments<T, A> = (Global<T>, Global<A>, Global<u64>, Global<u32>, u32, u32);

/// The operations that have a scan kernel, and which kernel that is. On the host only.
///
/// # Safety
///
/// Safe methods of the host library launch the kernels. For the arguments that [`arguments`] makes of
/// `common`, all that [`Kernel`] does is what [`grid::scan()`] does with the operation and `common`. If
/// there is a kernel by bulk copies, all that it does is what [`grid::scan::scan_by_bulk`] does. The
/// usual kernel is that one call.
///
/// [`arguments`]: Self::arguments
/// [`Kernel`]: Self::Kernel
///
/// ```compile_fail,E0200
/// struct Mine;
/// impl gridsync_entries::scan::Scannable for Mine {} // It takes `unsafe impl`.
/// ```
#[cfg(not(target_arch = "nvptx64"))]
pub unsafe trait Scannable: grid::scan::ScanOperation {
    /// The kernel.
    type Kernel: cuda_std::launch::Kernel;

    /// The kernel by bulk copies; [`NoBulk`] if there is none.
    type Bulk: cuda_std::launch::Kernel<Args = BulkArguments<Self::Element, Self::Output>>;

    /// What the kernel is launched with: what every kernel takes, and the operation behind that if it
    /// has a parameter.
    fn arguments(
        self,
        common: Arguments<Self::Element, Self::Output>,
    ) -> <Self::Kernel as cuda_std::launch::Kernel>::Args;

    /// Whether there is a kernel by bulk copies.
    const HAS_BULK: bool;
}

/// The kernel by bulk copies of an operation that has none: nobody launches it. On the host only.
#[cfg(not(target_arch = "nvptx64"))]
pub struct NoBulk<T, A>(core::marker::PhantomData<(T, A)>);

#[cfg(not(target_arch = "nvptx64"))]
impl<T: Scalar, A: Scalar> cuda_std::launch::Kernel for NoBulk<T, A> {
    const NAME: &'static str = "no scan by bulk copies";
    const COOPERATIVE: bool = false;
    type Args = BulkArguments<T, A>;

    unsafe fn run(_: Self::Args) {
        unreachable!("{}", Self::NAME)
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
     $($name:ident$(($parameter:ident))?: $op:ty, $element:ty => $output:ty $(, $bulk:ident)?;)*) => {$(
        #[doc = concat!("Scans by [`", stringify!($op), "`]: see [`grid::scan()`].")]
        ///
        /// # Safety
        ///
        /// The arguments and the grid are as [`grid::scan()`] wants them, and no other launch uses
        /// `words` or `state` until this one has ended.
        #[kernel(max_threads = 256, min_blocks = $blocks)]
        pub unsafe fn $name(
            input: Global<$element>,
            output: Global<$output>,
            words: Global<u64>,
            state: Global<u32>,
            rows: u32,
            group: u32,
            mode: u32,
            $($parameter: $op,)?
        ) {
            let op = operation!($op $(, $parameter)?);
            let workspace = Workspace { words, state };
            grid::scan(op, input, output, workspace, rows, group, Mode::of(mode));
        }

        // SAFETY: the kernels pass their arguments on to `grid::scan` and `scan_by_bulk` in the same order.
        #[cfg(not(target_arch = "nvptx64"))]
        unsafe impl Scannable for $op {
            type Kernel = $name;
            kernels!(@ by_bulk $op, $element, $output $(, $bulk)?);

            fn arguments(
                self,
                (input, output, words, state, rows, group, mode): Arguments<$element, $output>,
            ) -> <$name as cuda_std::launch::Kernel>::Args {
                $(let $parameter = self;)?
                (input, output, words, state, rows, group, mode, $($parameter)?)
            }
        }

        $(kernels!(@ bulk_kernel $op, $element, $bulk);)?
    )*};
    (@ by_bulk $op:ty, $element:ty, $output:ty) => {
        type Bulk = NoBulk<$element, $output>;
        const HAS_BULK: bool = false;
    };
    (@ by_bulk $op:ty, $element:ty, $output:ty, $bulk:ident) => {
        type Bulk = $bulk;
        const HAS_BULK: bool = true;
    };
    (@ bulk_kernel $op:ty, $element:ty, $bulk:ident) => {
        #[doc = concat!("Scans by [`", stringify!($op), "`]: see [`grid::scan::scan_by_bulk`].")]
        ///
        /// # Safety
        ///
        /// The arguments and the grid are as [`grid::scan::scan_by_bulk`] wants them, and no other
        /// launch uses `words` or `state` until this one has ended.
        #[cfg(any(compute_ge_90, not(target_arch = "nvptx64")))]
        #[kernel(max_threads = 576, min_blocks = 1)]
        pub unsafe fn $bulk(
            input: Global<$element>,
            output: Global<$element>,
            words: Global<u64>,
            state: Global<u32>,
            tiles: u32,
            mode: u32,
        ) {
            let workspace = Workspace { words, state };
            grid::scan::scan_by_bulk(<$op>::new(), input, output, workspace, tiles, Mode::of(mode));
        }
    };
}
// Two blocks of 8 warps on a multiprocessor leave a thread 128 registers.
kernels! {
    2 on a multiprocessor;
    scan_sum_f32: Sum<f32>, f32 => f32, scan_bulk_sum_f32;
    scan_sum_f32_in_f64: Sum<f32, f64>, f32 => f64;
    scan_sum_i32_in_i64: Sum<i32, i64>, i32 => i64;
    scan_sum_i32: Sum<i32>, i32 => i32, scan_bulk_sum_i32;
    scan_sum_u32_in_u64: Sum<u32, u64>, u32 => u64;
    scan_sum_u32: Sum<u32>, u32 => u32, scan_bulk_sum_u32;
    scan_sum_f16_in_f32: Sum<f16, f32>, f16 => f32;
    scan_sum_f16_in_f64: Sum<f16, f64>, f16 => f64;
    scan_sum_bf16_in_f32: Sum<bf16, f32>, bf16 => f32;
    scan_sum_bf16_in_f64: Sum<bf16, f64>, bf16 => f64;
    scan_sum_f64: Sum<f64>, f64 => f64, scan_bulk_sum_f64;
    scan_sum_i64: Sum<i64>, i64 => i64, scan_bulk_sum_i64;
    scan_sum_u64: Sum<u64>, u64 => u64, scan_bulk_sum_u64;
    scan_prod_f32: Product<f32>, f32 => f32;
    scan_prod_f32_in_f64: Product<f32, f64>, f32 => f64;
    scan_prod_i32_in_i64: Product<i32, i64>, i32 => i64;
    scan_prod_u32_in_u64: Product<u32, u64>, u32 => u64;
    scan_prod_f64: Product<f64>, f64 => f64;
    scan_prod_i64: Product<i64>, i64 => i64;
    scan_prod_u64: Product<u64>, u64 => u64;
    scan_min_f32: Min<f32>, f32 => f32;
    scan_min_i32: Min<i32>, i32 => i32;
    scan_min_u32: Min<u32>, u32 => u32;
    scan_min_f64: Min<f64>, f64 => f64;
    scan_min_i64: Min<i64>, i64 => i64;
    scan_min_u64: Min<u64>, u64 => u64;
    scan_max_f32: Max<f32>, f32 => f32;
    scan_max_i32: Max<i32>, i32 => i32;
    scan_max_u32: Max<u32>, u32 => u32;
    scan_max_f64: Max<f64>, f64 => f64;
    scan_max_i64: Max<i64>, i64 => i64;
    scan_max_u64: Max<u64>, u64 => u64;
    scan_xor_i32: Xor<i32>, i32 => i32;
    scan_xor_u32: Xor<u32>, u32 => u32;
    scan_and_i32: And<i32>, i32 => i32;
    scan_and_u32: And<u32>, u32 => u32;
    scan_or_i32: Or<i32>, i32 => i32;
    scan_or_u32: Or<u32>, u32 => u32;
    scan_count_f32: Count<f32>, f32 => u64;
    scan_count_i32: Count<i32>, i32 => u64;
    scan_count_u32: Count<u32>, u32 => u64;
    scan_sum_compensated_f32: CompensatedSum<f32>, f32 => f32;
    scan_sum_compensated_f64: CompensatedSum<f64>, f64 => f64;
    scan_prod_mod_i32(op): ProductModulo<i32>, i32 => u32;
    scan_prod_mod_u32(op): ProductModulo<u32>, u32 => u32;
    scan_prod_mod_i64(op): ProductModulo<i64>, i64 => u32;
    scan_prod_mod_u64(op): ProductModulo<u64>, u64 => u32;
    scan_recurrence(op): Recurrence, u64 => u32;
}
// Within segments.
kernels! {
    2 on a multiprocessor;
    scan_segments_sum_f32(op): InSegments<Sum<f32>>, f32 => f32;
    scan_segments_sum_f32_in_f64(op): InSegments<Sum<f32, f64>>, f32 => f64;
    scan_segments_sum_f64(op): InSegments<Sum<f64>>, f64 => f64;
    scan_segments_sum_i32_in_i64(op): InSegments<Sum<i32, i64>>, i32 => i64;
    scan_segments_sum_u32_in_u64(op): InSegments<Sum<u32, u64>>, u32 => u64;
    scan_segments_sum_i64(op): InSegments<Sum<i64>>, i64 => i64;
    scan_segments_sum_u64(op): InSegments<Sum<u64>>, u64 => u64;
    scan_segments_min_f32(op): InSegments<Min<f32>>, f32 => f32;
    scan_segments_min_f64(op): InSegments<Min<f64>>, f64 => f64;
    scan_segments_min_i32(op): InSegments<Min<i32>>, i32 => i32;
    scan_segments_min_u32(op): InSegments<Min<u32>>, u32 => u32;
    scan_segments_min_i64(op): InSegments<Min<i64>>, i64 => i64;
    scan_segments_min_u64(op): InSegments<Min<u64>>, u64 => u64;
    scan_segments_max_f32(op): InSegments<Max<f32>>, f32 => f32;
    scan_segments_max_f64(op): InSegments<Max<f64>>, f64 => f64;
    scan_segments_max_i32(op): InSegments<Max<i32>>, i32 => i32;
    scan_segments_max_u32(op): InSegments<Max<u32>>, u32 => u32;
    scan_segments_max_i64(op): InSegments<Max<i64>>, i64 => i64;
    scan_segments_max_u64(op): InSegments<Max<u64>>, u64 => u64;
}
