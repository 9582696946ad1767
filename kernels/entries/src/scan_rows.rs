//! Scans of the rows of a matrix: three kernels for each line of [`operations!`](crate::operations)
//! with `scan_rows`: for short rows, for middle rows and for long rows.

#[cfg(not(target_arch = "nvptx64"))]
use crate::Entry;
use crate::{ElementOf, OutputOf};
use cuda_std::launch::KernelArg;
use cuda_std::prelude::*;
use gridsync_kernels::grid::Workspace;
use gridsync_kernels::grid::scan::{
    Form, RowLanes, RowStrips, ScanOperation, scan_long_rows, scan_middle_rows, scan_short_rows,
};

/// The arguments of every kernel for short rows, as in [`scan_short_rows`].
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ShortArguments<T, A> {
    /// The matrix.
    pub input: Global<T>,
    /// The results.
    pub output: Global<A>,
    /// The number of elements per row.
    pub columns: u32,
    /// The [`RowLanes`], as their `log`.
    pub log_lanes: u32,
    /// The [`Form`], as a number.
    pub form: u32,
}

// SAFETY: `repr(C)`; views and numbers are the same on host and device.
unsafe impl<T: Scalar, A: Scalar> KernelArg for ShortArguments<T, A> {}

impl<T: Scalar, A: Scalar> ShortArguments<T, A> {
    /// Scans each row with `op`: [`scan_short_rows`].
    #[device]
    pub fn scan(self, op: impl ScanOperation<Element = T, Output = A>) {
        let (lanes, form) = (RowLanes { log: self.log_lanes }, Form::of(self.form));
        scan_short_rows(op, self.input, self.output, self.columns, lanes, form);
    }
}

/// The arguments of every kernel for middle rows, as in [`scan_middle_rows`].
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct MiddleArguments<T, A> {
    /// The matrix.
    pub input: Global<T>,
    /// The results.
    pub output: Global<A>,
    /// The number of elements per row.
    pub columns: u32,
    /// The [`RowStrips`], as their `log`.
    pub log_strips: u32,
    /// The [`Form`], as a number.
    pub form: u32,
}

// SAFETY: `repr(C)`; views and numbers are the same on host and device.
unsafe impl<T: Scalar, A: Scalar> KernelArg for MiddleArguments<T, A> {}

impl<T: Scalar, A: Scalar> MiddleArguments<T, A> {
    /// Scans each row with `op`: [`scan_middle_rows`].
    #[device]
    pub fn scan(self, op: impl ScanOperation<Element = T, Output = A>) {
        let (strips, form) = (RowStrips { log: self.log_strips }, Form::of(self.form));
        scan_middle_rows(op, self.input, self.output, self.columns, strips, form);
    }
}

/// The arguments of every kernel for long rows, as in [`scan_long_rows`].
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct LongArguments<T, A> {
    /// The matrix.
    pub input: Global<T>,
    /// The results.
    pub output: Global<A>,
    /// The words of the workspace.
    pub words: Global<u64>,
    /// The state of the workspace.
    pub state: Global<u32>,
    /// The number of elements per row.
    pub columns: u64,
    /// The number of rows of packs per warp.
    pub rows: u32,
    /// The number of tiles per group.
    pub group: u32,
    /// The [`Form`], as a number.
    pub form: u32,
}

// SAFETY: `repr(C)`; views and numbers are the same on host and device.
unsafe impl<T: Scalar, A: Scalar> KernelArg for LongArguments<T, A> {}

impl<T: Scalar, A: Scalar> LongArguments<T, A> {
    /// Scans each row with `op`: [`scan_long_rows`].
    #[device]
    pub fn scan(self, op: impl ScanOperation<Element = T, Output = A>) {
        let workspace = Workspace { words: self.words, state: self.state };
        let (columns, shape) = (self.columns as usize, (self.rows, self.group));
        let form = Form::of(self.form);
        scan_long_rows(op, self.input, self.output, workspace, columns, shape, form);
    }
}

/// The common arguments of a scan of short rows by `O`.
pub type ShortCommon<O> = ShortArguments<ElementOf<O>, OutputOf<O>>;

/// The common arguments of a scan of middle rows by `O`.
pub type MiddleCommon<O> = MiddleArguments<ElementOf<O>, OutputOf<O>>;

/// The common arguments of a scan of long rows by `O`.
pub type LongCommon<O> = LongArguments<ElementOf<O>, OutputOf<O>>;

/// An operation that has kernels for scans of the rows of a matrix: a short name for bounds. On the
/// host only.
#[cfg(not(target_arch = "nvptx64"))]
pub trait RowScannable:
    ScanOperation + Entry<ShortCommon<Self>> + Entry<MiddleCommon<Self>> + Entry<LongCommon<Self>>
{
}

#[cfg(not(target_arch = "nvptx64"))]
impl<O> RowScannable for O where
    O: ScanOperation + Entry<ShortCommon<O>> + Entry<MiddleCommon<O>> + Entry<LongCommon<O>>
{
}

/// The kernels for short rows.
pub mod short {
    use super::ShortCommon;
    use cuda_std::prelude::*;
    use gridsync_kernels::op::{Product, Sum};

    macro_rules! kernel {
        (scan_rows shared $row:tt) => {
            entry! { $row ShortCommon }
        };
        (scan_rows [$blocks:literal $middle:literal] $row:tt) => {
            entry! { $row ShortCommon, scan (prefix = "scan_short_rows_", max_threads = 256, min_blocks = $blocks) "Scans short rows by", "grid::scan::scan_short_rows" }
        };
        ($primitive:ident $value:tt $row:tt) => {};
    }
    operations!(kernel);
}

/// The kernels for middle rows.
pub mod middle {
    use super::MiddleCommon;
    use cuda_std::prelude::*;
    use gridsync_kernels::op::{Product, Sum};

    macro_rules! kernel {
        (scan_rows shared $row:tt) => {
            entry! { $row MiddleCommon }
        };
        (scan_rows [$short:literal $blocks:literal] $row:tt) => {
            entry! { $row MiddleCommon, scan (prefix = "scan_middle_rows_", max_threads = 256, min_blocks = $blocks) "Scans middle rows by", "grid::scan::scan_middle_rows" }
        };
        ($primitive:ident $value:tt $row:tt) => {};
    }
    operations!(kernel);
}

/// The kernels for long rows.
pub mod long {
    use super::LongCommon;
    use cuda_std::prelude::*;
    use gridsync_kernels::op::{Product, Sum};

    macro_rules! kernel {
        (scan_rows shared $row:tt) => {
            entry! { $row LongCommon }
        };
        (scan_rows [$short:literal $middle:literal] $row:tt) => {
            entry! { $row LongCommon, scan (prefix = "scan_long_rows_", max_threads = 256, min_blocks = 2) "Scans long rows by", "grid::scan::scan_long_rows" }
        };
        ($primitive:ident $value:tt $row:tt) => {};
    }
    operations!(kernel);
}
