//! Softmax of the rows of a matrix: three kernels for each line of
//! [`softmax_elements!`](crate::softmax_elements), for short, middle and long rows. For long rows
//! the kernel of [`LogSumExp`] runs before.

#[cfg(not(target_arch = "nvptx64"))]
use crate::Entry;
#[cfg(not(target_arch = "nvptx64"))]
use crate::reduce_rows::RowReducible;
use core::marker::PhantomData;
use cuda_std::launch::KernelArg;
use cuda_std::prelude::*;
use cuda_std::{bf16, f16};
use gridsync_kernels::grid::reduce::Batch;
use gridsync_kernels::grid::softmax::{
    Softmax, softmax_long_rows, softmax_middle_rows, softmax_short_rows,
};
#[cfg(not(target_arch = "nvptx64"))]
use gridsync_kernels::op::LogSumExp;

/// The arguments of the kernels for short rows, as in [`softmax_short_rows`].
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ShortArguments<T> {
    /// The matrix.
    pub input: Global<T>,
    /// The softmax of each row.
    pub output: Global<T>,
    /// The number of rows.
    pub rows: u64,
    /// The number of elements per row.
    pub columns: u32,
    /// The [`Batch`], as its `log_packs`.
    pub log_packs: u32,
}

// SAFETY: `repr(C)`; views and numbers are the same on host and device.
unsafe impl<T: Scalar> KernelArg for ShortArguments<T> {}

/// The arguments of the kernels for middle rows, as in [`softmax_middle_rows`].
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct MiddleArguments<T> {
    /// The matrix.
    pub input: Global<T>,
    /// The softmax of each row.
    pub output: Global<T>,
    /// The number of elements per row.
    pub columns: u32,
}

// SAFETY: as above.
unsafe impl<T: Scalar> KernelArg for MiddleArguments<T> {}

/// The arguments of the kernels for long rows, as in [`softmax_long_rows`].
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct LongArguments<T> {
    /// The matrix.
    pub input: Global<T>,
    /// The softmax of each row.
    pub output: Global<T>,
    /// The words of the accumulator of each row.
    pub sums: Global<u32>,
    /// The number of elements per row.
    pub columns: u64,
}

// SAFETY: as above.
unsafe impl<T: Scalar> KernelArg for LongArguments<T> {}

impl<T: Softmax> ShortArguments<T> {
    /// Writes the softmax of each row: [`softmax_short_rows`].
    #[device]
    pub fn soften(self, _of: Rows<T>) {
        let batch = Batch { log_packs: self.log_packs };
        softmax_short_rows(self.input, self.output, self.rows as usize, self.columns, batch);
    }
}

impl<T: Softmax> MiddleArguments<T> {
    /// Writes the softmax of each row: [`softmax_middle_rows`].
    #[device]
    pub fn soften(self, _of: Rows<T>) {
        softmax_middle_rows(self.input, self.output, self.columns);
    }
}

impl<T: Softmax> LongArguments<T> {
    /// Writes the softmax of each row: [`softmax_long_rows`].
    #[device]
    pub fn soften(self, _of: Rows<T>) {
        softmax_long_rows(self.input, self.output, self.sums, self.columns as usize);
    }
}

/// Rows of elements of type `T`: names their kernels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rows<T>(PhantomData<fn(T)>);

impl<T> Rows<T> {
    /// Of elements of `T`.
    #[inline(always)]
    #[must_use]
    pub const fn new() -> Self {
        Self(PhantomData)
    }
}

/// An element whose rows have kernels for softmax. On the host only.
#[cfg(not(target_arch = "nvptx64"))]
pub trait SoftmaxElement: Softmax {
    /// What names the kernels.
    type Rows: Entry<ShortArguments<Self>>
        + Entry<MiddleArguments<Self>>
        + Entry<LongArguments<Self>>
        + Default;
    /// The reduction of long rows.
    type Sum: RowReducible<Element = Self> + Default;
}

#[cfg(not(target_arch = "nvptx64"))]
impl<T: Softmax> SoftmaxElement for T
where
    Rows<T>: Entry<ShortArguments<T>> + Entry<MiddleArguments<T>> + Entry<LongArguments<T>>,
    LogSumExp<T>: RowReducible<Element = T>,
{
    type Rows = Rows<T>;
    type Sum = LogSumExp<T>;
}

macro_rules! kernels {
    ($ty:ident, $short:ident $of_short:literal, $middle:ident $threads:literal, $long:ident $of_long:literal) => {
        entry! { @ $short Rows<$ty> [] ShortArguments<$ty>, soften (max_threads = 128, min_blocks = $of_short) "Softmax of short rows:", "grid::softmax::softmax_short_rows" }
        entry! { @ $middle Rows<$ty> [] MiddleArguments<$ty>, soften (max_threads = $threads) "Softmax of middle rows:", "grid::softmax::softmax_middle_rows" }
        entry! { @ $long Rows<$ty> [] LongArguments<$ty>, soften (max_threads = 256, min_blocks = $of_long) "Softmax of long rows:", "grid::softmax::softmax_long_rows" }
    };
}
softmax_elements!(kernels);
