//! Reductions of the rows of a matrix: two kernels for each line of
//! [`operations!`](crate::operations) with `rows`, one for short rows and one for long rows.

use cuda_std::launch::KernelArg;
use cuda_std::prelude::*;
use gridsync_kernels::grid::Workspace;
use gridsync_kernels::grid::reduce::{Batch, reduce_long_rows, reduce_short_rows};
use gridsync_kernels::op::Operation;
#[cfg(not(target_arch = "nvptx64"))]
use gridsync_kernels::op::{Mean, Total};

/// The arguments of every kernel for short rows, as in [`reduce_short_rows`].
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ShortArguments<T> {
    /// The matrix.
    pub input: Global<T>,
    /// The words of one accumulator for each row.
    pub result: Global<u32>,
    /// The number of elements per row.
    pub columns: u32,
    /// The [`Batch`], as its `log_packs`.
    pub log_packs: u32,
}

// SAFETY: `repr(C)`; views and numbers are the same on host and device.
unsafe impl<T: Scalar> KernelArg for ShortArguments<T> {}

impl<T: Scalar> ShortArguments<T> {
    /// The same memory with elements of another type of the same size.
    #[must_use]
    pub fn cast<U: Scalar>(self) -> ShortArguments<U> {
        ShortArguments {
            input: self.input.cast(),
            result: self.result,
            columns: self.columns,
            log_packs: self.log_packs,
        }
    }

    /// Reduces each row with `op`: [`reduce_short_rows`].
    #[device]
    pub fn reduce(self, op: impl Operation<Element = T>) {
        let batch = Batch { log_packs: self.log_packs };
        reduce_short_rows(op, self.input, self.result, self.columns, batch);
    }
}

/// The arguments of every kernel for long rows, as in [`reduce_long_rows`].
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct LongArguments<T> {
    /// The matrix.
    pub input: Global<T>,
    /// The words of the workspace.
    pub words: Global<u64>,
    /// The state of the workspace.
    pub state: Global<u32>,
    /// The words of an accumulator for each row.
    pub result: Global<u32>,
    /// The number of elements per row.
    pub columns: u64,
    /// The number of runs per strip.
    pub runs: u32,
}

// SAFETY: `repr(C)`; views and numbers are the same on host and device.
unsafe impl<T: Scalar> KernelArg for LongArguments<T> {}

impl<T: Scalar> LongArguments<T> {
    /// The same memory with elements of another type of the same size.
    #[must_use]
    pub fn cast<U: Scalar>(self) -> LongArguments<U> {
        LongArguments {
            input: self.input.cast(),
            words: self.words,
            state: self.state,
            result: self.result,
            columns: self.columns,
            runs: self.runs,
        }
    }

    /// Reduces each row with `op`: [`reduce_long_rows`].
    #[device]
    pub fn reduce(self, op: impl Operation<Element = T>) {
        let workspace = Workspace { words: self.words, state: self.state };
        let columns = self.columns as usize;
        reduce_long_rows(op, self.input, workspace, self.result, columns, self.runs);
    }
}

/// An operation that has kernels for the rows of a matrix. On the host only.
///
/// # Safety
///
/// Safe methods of the host library launch the kernels. With the arguments that [`short_arguments`]
/// and [`long_arguments`] build from `common`, the kernels do only what [`reduce_short_rows`] and
/// [`reduce_long_rows`] do with the operation and `common`. The usual kernel is only that call.
///
/// [`short_arguments`]: Self::short_arguments
/// [`long_arguments`]: Self::long_arguments
///
/// ```compile_fail,E0200
/// struct Mine;
/// impl gridsync_entries::reduce_rows::RowReducible for Mine {} // It needs `unsafe impl`.
/// ```
#[cfg(not(target_arch = "nvptx64"))]
pub unsafe trait RowReducible: Operation {
    /// The kernel for short rows.
    type Short: cuda_std::launch::Kernel;
    /// The kernel for long rows.
    type Long: cuda_std::launch::Kernel;

    /// The arguments for short rows: `common`, and the operation if it has a parameter.
    fn short_arguments(
        self,
        common: ShortArguments<Self::Element>,
    ) -> <Self::Short as cuda_std::launch::Kernel>::Args;

    /// The arguments for long rows: `common`, and the operation if it has a parameter.
    fn long_arguments(
        self,
        common: LongArguments<Self::Element>,
    ) -> <Self::Long as cuda_std::launch::Kernel>::Args;
}

// SAFETY: the kernels reduce with the sum, and a mean has the same accumulators as its sum.
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

/// The kernels for short rows.
pub mod short {
    use super::ShortArguments;
    use crate::ElementOf;
    use cuda_std::prelude::*;
    use cuda_std::{bf16, f16};
    use gridsync_kernels::op::{ArgMax, ArgMin, Max, Min, Sum};

    // Three blocks of 256 threads leave a thread 85 registers, for eight loads and their indices.
    macro_rules! kernel {
        (rows $long:literal $row:tt) => {
            kernel! { rows [3 $long] $row }
        };
        (rows [$blocks:literal $long:literal] ($name:ident: $op:literal $ty:ty, $inputs:ident)) => {
            #[doc = concat!("Reduces short rows by [`", stringify!($ty), "`].")]
            ///
            /// # Safety
            ///
            /// The arguments and the grid are valid for
            /// [`reduce_short_rows`](gridsync_kernels::grid::reduce::reduce_short_rows).
            #[kernel(prefix = "reduce_short_rows_", max_threads = 256, min_blocks = $blocks)]
            pub unsafe fn $name(common: ShortArguments<ElementOf<$ty>>) {
                common.reduce(<$ty>::new());
            }
        };
        ($primitive:ident $value:tt $row:tt) => {};
    }
    operations!(kernel);
}

/// The kernels for long rows.
pub mod long {
    use super::LongArguments;
    use crate::ElementOf;
    use cuda_std::prelude::*;
    use cuda_std::{bf16, f16};
    use gridsync_kernels::op::{ArgMax, ArgMin, Max, Min, Sum};

    macro_rules! kernel {
        (rows [$short:literal $long:literal] $row:tt) => {
            kernel! { rows $long $row }
        };
        (rows $blocks:literal ($name:ident: $op:literal $ty:ty, $inputs:ident)) => {
            #[doc = concat!("Reduces long rows by [`", stringify!($ty), "`].")]
            ///
            /// # Safety
            ///
            /// The arguments and the grid are valid for
            /// [`reduce_long_rows`](gridsync_kernels::grid::reduce::reduce_long_rows), and no other
            /// launch uses the workspace until this one has ended.
            #[kernel(prefix = "reduce_long_rows_", max_threads = 512, min_blocks = $blocks)]
            pub unsafe fn $name(common: LongArguments<ElementOf<$ty>>) {
                common.reduce(<$ty>::new());
            }
        };
        ($primitive:ident $value:tt $row:tt) => {};
    }
    operations!(kernel);
}

/// The kernels of each operation.
#[cfg(not(target_arch = "nvptx64"))]
mod dispatch {
    use super::{LongArguments, RowReducible, ShortArguments, long, short};
    use crate::ElementOf;
    use cuda_std::launch::Kernel;
    use cuda_std::{bf16, f16};
    use gridsync_kernels::op::{ArgMax, ArgMin, Max, Min, Sum};

    macro_rules! kernels {
        (rows [$short:literal $long:literal] $row:tt) => {
            kernels! { rows $long $row }
        };
        (rows $blocks:literal ($name:ident: $op:literal $ty:ty, $inputs:ident)) => {
            // SAFETY: the kernels only call the library with their arguments.
            unsafe impl RowReducible for $ty {
                type Short = short::$name;
                type Long = long::$name;

                fn short_arguments(
                    self,
                    common: ShortArguments<ElementOf<$ty>>,
                ) -> <Self::Short as Kernel>::Args {
                    (common,)
                }

                fn long_arguments(
                    self,
                    common: LongArguments<ElementOf<$ty>>,
                ) -> <Self::Long as Kernel>::Args {
                    (common,)
                }
            }
        };
        (rows shared ($name:ident: $op:literal $ty:ty as $twin:ty, $inputs:ident)) => {
            // SAFETY: the twin does the same with the same bits.
            unsafe impl RowReducible for $ty {
                type Short = <$twin as RowReducible>::Short;
                type Long = <$twin as RowReducible>::Long;

                fn short_arguments(
                    self,
                    common: ShortArguments<ElementOf<$ty>>,
                ) -> <Self::Short as Kernel>::Args {
                    <$twin>::new().short_arguments(common.cast())
                }

                fn long_arguments(
                    self,
                    common: LongArguments<ElementOf<$ty>>,
                ) -> <Self::Long as Kernel>::Args {
                    <$twin>::new().long_arguments(common.cast())
                }
            }
        };
        ($primitive:ident $value:tt $row:tt) => {};
    }
    operations!(kernels);
}
