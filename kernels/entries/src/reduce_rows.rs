//! Reductions of the rows of a matrix: two kernels for each line of
//! [`operations!`](crate::operations) with `rows`, one for short rows and one for long rows.

use crate::ElementOf;
#[cfg(not(target_arch = "nvptx64"))]
use crate::Entry;
use cuda_std::launch::KernelArg;
use cuda_std::prelude::*;
use gridsync_kernels::grid::Workspace;
use gridsync_kernels::grid::reduce::{Batch, reduce_long_rows, reduce_short_rows};
use gridsync_kernels::op::Operation;

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
    /// Reduces each row with `op`: [`reduce_long_rows`].
    #[device]
    pub fn reduce(self, op: impl Operation<Element = T>) {
        let workspace = Workspace { words: self.words, state: self.state };
        let columns = self.columns as usize;
        reduce_long_rows(op, self.input, workspace, self.result, columns, self.runs);
    }
}

/// The common arguments of a reduction of short rows by `O`.
pub type ShortCommon<O> = ShortArguments<ElementOf<O>>;

/// The common arguments of a reduction of long rows by `O`.
pub type LongCommon<O> = LongArguments<ElementOf<O>>;

/// An operation that has kernels for the rows of a matrix: a short name for bounds. On the host
/// only.
#[cfg(not(target_arch = "nvptx64"))]
pub trait RowReducible: Operation + Entry<ShortCommon<Self>> + Entry<LongCommon<Self>> {}

#[cfg(not(target_arch = "nvptx64"))]
impl<O: Operation + Entry<ShortCommon<O>> + Entry<LongCommon<O>>> RowReducible for O {}

/// The kernels for short rows.
pub mod short {
    use super::ShortCommon;
    use cuda_std::prelude::*;
    use cuda_std::{bf16, f16};
    use gridsync_kernels::op::{
        ArgMax, ArgMin, LogSumExp, Max, Min, PeakToPeak, Product, SkipNan, Sum, SumOfMagnitudes,
        SumOfSquares, Variance,
    };

    // Three blocks of 256 threads leave a thread 85 registers, for eight loads and their indices.
    macro_rules! kernel {
        (rows shared $row:tt) => {
            entry! { $row ShortCommon }
        };
        (rows $long:literal $row:tt) => {
            kernel! { rows [3 $long] $row }
        };
        (rows [$blocks:literal $long:literal] $row:tt) => {
            entry! { $row ShortCommon, reduce (prefix = "reduce_short_rows_", max_threads = 256, min_blocks = $blocks) "Reduces short rows by", "grid::reduce::reduce_short_rows" }
        };
        ($primitive:ident $value:tt $row:tt) => {};
    }
    operations!(kernel);
}

/// The kernels for long rows.
pub mod long {
    use super::LongCommon;
    use cuda_std::prelude::*;
    use cuda_std::{bf16, f16};
    use gridsync_kernels::op::{
        ArgMax, ArgMin, LogSumExp, Max, Min, PeakToPeak, Product, SkipNan, Sum, SumOfMagnitudes,
        SumOfSquares, Variance,
    };

    macro_rules! kernel {
        (rows shared $row:tt) => {
            entry! { $row LongCommon }
        };
        (rows [$short:literal $long:literal] $row:tt) => {
            kernel! { rows $long $row }
        };
        (rows $blocks:literal $row:tt) => {
            entry! { $row LongCommon, reduce (prefix = "reduce_long_rows_", max_threads = 512, min_blocks = $blocks) "Reduces long rows by", "grid::reduce::reduce_long_rows" }
        };
        ($primitive:ident $value:tt $row:tt) => {};
    }
    operations!(kernel);
}
