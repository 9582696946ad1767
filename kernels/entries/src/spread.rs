//! Scans of arrays that are spread over several GPUs: a kernel for each line of
//! [`operations!`](crate::operations) with `scan`, and one with bulk copies if the line has `bulk`.

#[cfg(not(target_arch = "nvptx64"))]
use crate::Entry;
#[cfg(not(target_arch = "nvptx64"))]
use crate::scan::Scannable;
use crate::{ElementOf, OutputOf};
use cuda_std::launch::KernelArg;
use cuda_std::prelude::*;
use cuda_std::{bf16, f16};
use gridsync_kernels::grid;
use gridsync_kernels::grid::Workspace;
#[cfg(any(compute_ge_90, not(target_arch = "nvptx64")))]
use gridsync_kernels::grid::scan::BulkOperation;
use gridsync_kernels::grid::scan::{Form, ScanOperation, Shape, Stripes};
use gridsync_kernels::op::{
    And, CompensatedSum, Count, LogSumExp, Max, Min, Or, Product, ProductModulo, Recurrence,
    SkipNan, Sum, Xor,
};

/// The common arguments, as in [`grid::scan::scan_spread`]. An operation with a parameter comes
/// after them. The operation does not use the index of an element.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Arguments<T, A> {
    /// This GPU's stripes of the array.
    pub input: Global<T>,
    /// The results, one per element of `input`.
    pub output: Global<A>,
    /// The words of this GPU, with their head.
    pub words: Global<u64>,
    /// The state of the workspace.
    pub state: Global<u32>,
    /// The number of rows per warp.
    pub rows: u32,
    /// The number of tiles per group.
    pub group: u32,
    /// The number of tiles in the whole array.
    pub tiles: u32,
    /// The number of tiles per stripe.
    pub stripe: u32,
    /// The stamp of the launch.
    pub stamp: u32,
    /// The [`Form`], as a number.
    pub form: u32,
}

// SAFETY: `repr(C)`; views and numbers are the same on host and device.
unsafe impl<T: Scalar, A: Scalar> KernelArg for Arguments<T, A> {}

impl<T: Scalar, A: Scalar> Arguments<T, A> {
    #[inline(always)]
    fn workspace(self) -> Workspace {
        Workspace { words: self.words, state: self.state }
    }

    #[inline(always)]
    fn stripes(self) -> Stripes {
        Stripes { tiles: self.stripe, stamp: self.stamp }
    }

    /// Scans with `op`: [`grid::scan::scan_spread`].
    #[device]
    pub fn scan(self, op: impl ScanOperation<Element = T, Output = A>) {
        let warps = thread::block_dim_x() / cuda_std::warp::WARP_SIZE;
        let Self { rows, group, tiles, .. } = self;
        let shape = Shape { warps, rows, group, tiles };
        let (workspace, stripes, form) = (self.workspace(), self.stripes(), Form::of(self.form));
        grid::scan::scan_spread(op, self.input, self.output, workspace, shape, stripes, form);
    }
}

/// The arguments of every kernel with bulk copies, as in [`grid::scan::scan_spread_by_bulk`].
#[repr(transparent)]
#[derive(Clone, Copy, Debug)]
pub struct BulkArguments<T, A>(pub Arguments<T, A>);

// SAFETY: `repr(transparent)`, and the field is one.
unsafe impl<T: Scalar, A: Scalar> KernelArg for BulkArguments<T, A> {}

#[cfg(any(compute_ge_90, not(target_arch = "nvptx64")))]
impl<T: gridsync_kernels::op::Carried + Scalar> BulkArguments<T, T> {
    /// Scans with `op`: [`grid::scan::scan_spread_by_bulk`].
    #[device]
    pub fn scan(self, op: impl BulkOperation<T>) {
        let Self(common) = self;
        let (workspace, stripes) = (common.workspace(), common.stripes());
        let form = Form::of(common.form);
        grid::scan::scan_spread_by_bulk(op, common.input, common.output, workspace, stripes, form);
    }
}

/// The common arguments of a scan by `O`.
pub type Common<O> = Arguments<ElementOf<O>, OutputOf<O>>;

/// The arguments of a scan by `O` with bulk copies.
pub type BulkCommon<O> = BulkArguments<ElementOf<O>, OutputOf<O>>;

/// An operation whose scan can be spread over several GPUs: a short name for bounds. It has a
/// kernel with bulk copies if the scan on one GPU has. It does not use the index of an element. On
/// the host only.
#[cfg(not(target_arch = "nvptx64"))]
pub trait SpreadScannable: Scannable + Entry<Common<Self>> + Entry<BulkCommon<Self>> {}

#[cfg(not(target_arch = "nvptx64"))]
impl<O: Scannable + Entry<Common<O>> + Entry<BulkCommon<O>>> SpreadScannable for O {}

macro_rules! kernel {
    // Two blocks per multiprocessor would leave it too few registers: unlike the scan on one GPU,
    // it continues with the next tile.
    (scan $blocks:literal (sum_compensated_f64: $($row:tt)*)) => {
        kernel! { @ 1 (sum_compensated_f64: $($row)*) }
        absent! { BulkCommon (sum_compensated_f64: $($row)*) }
    };
    (scan [$value:tt bulk] $row:tt) => {
        kernel! { @ $value $row }
    };
    (scan $value:tt $row:tt) => {
        kernel! { @ $value $row }
        absent! { BulkCommon $row }
    };
    (@ shared $row:tt) => {
        entry! { $row Common }
    };
    (@ $blocks:literal $row:tt) => {
        entry! { $row Common, scan (prefix = "scan_spread_", max_threads = 256, min_blocks = $blocks) "Scans by", "grid::scan::scan_spread" }
    };
    ($primitive:ident $value:tt $row:tt) => {};
}
operations!(kernel);

/// The kernels with bulk copies.
#[cfg(any(compute_ge_90, not(target_arch = "nvptx64")))]
pub mod bulk {
    use super::BulkCommon;
    use cuda_std::prelude::*;
    use gridsync_kernels::op::{Max, Min, Sum};

    macro_rules! kernel {
        (scan [shared bulk] $row:tt) => {
            entry! { $row BulkCommon }
        };
        (scan [$blocks:literal bulk] $row:tt) => {
            entry! { $row BulkCommon, scan (prefix = "scan_spread_bulk_", max_threads = 576, min_blocks = 1) "Scans by", "grid::scan::scan_spread_by_bulk" }
        };
        ($primitive:ident $value:tt $row:tt) => {};
    }
    operations!(kernel);
}
