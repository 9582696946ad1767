//! Scans: a kernel for each line of [`operations!`](crate::operations) with `scan`, one with bulk
//! copies if the line has `bulk`, and one within segments if it has
//! `segments`, except as `[N]`.

use crate::{ElementOf, OutputOf};
#[cfg(not(target_arch = "nvptx64"))]
use crate::{Entry, NoKernel};
use cuda_std::launch::KernelArg;
use cuda_std::prelude::*;
use cuda_std::{bf16, f16};
use gridsync_kernels::grid;
use gridsync_kernels::grid::Workspace;
#[cfg(any(compute_ge_90, not(target_arch = "nvptx64")))]
use gridsync_kernels::grid::scan::BulkOperation;
use gridsync_kernels::grid::scan::{Mode, ScanOperation, scan_segments};
use gridsync_kernels::op::{
    And, CompensatedSum, Count, InSegments, LogSumExp, Max, Min, Or, Product, ProductModulo,
    Recurrence, SkipNan, Sum, Xor,
};

/// The common arguments, as in [`grid::scan()`]. An operation with a parameter comes after them.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Arguments<T, A> {
    /// The array.
    pub input: Global<T>,
    /// The results.
    pub output: Global<A>,
    /// The words of the workspace.
    pub words: Global<u64>,
    /// The state of the workspace.
    pub state: Global<u32>,
    /// The number of rows per warp.
    pub rows: u32,
    /// The number of tiles per group.
    pub group: u32,
    /// The [`Mode`], as a number.
    pub mode: u32,
}

// SAFETY: `repr(C)`; views and numbers are the same on host and device.
unsafe impl<T: Scalar, A: Scalar> KernelArg for Arguments<T, A> {}

impl<T: Scalar, A: Scalar> Arguments<T, A> {
    /// Scans with `op`: [`grid::scan()`].
    #[device]
    pub fn scan(self, op: impl ScanOperation<Element = T, Output = A>) {
        let workspace = Workspace { words: self.words, state: self.state };
        let (rows, group, mode) = (self.rows, self.group, Mode::of(self.mode));
        grid::scan(op, self.input, self.output, workspace, rows, group, mode);
    }

    /// Scans each segment: [`grid::scan::scan_segments`].
    #[device]
    pub fn scan_segments<O>(self, op: InSegments<O>)
    where
        O: ScanOperation<Element = T, Output = A> + Default,
    {
        let workspace = Workspace { words: self.words, state: self.state };
        let (rows, group, mode) = (self.rows, self.group, Mode::of(self.mode));
        let segments = op.segments();
        scan_segments::<O>(segments, self.input, self.output, workspace, rows, group, mode);
    }
}

/// The arguments of every kernel with bulk copies, as in [`grid::scan::scan_by_bulk`].
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct BulkArguments<T, A> {
    /// The array.
    pub input: Global<T>,
    /// The results.
    pub output: Global<A>,
    /// The words of the workspace.
    pub words: Global<u64>,
    /// The state of the workspace.
    pub state: Global<u32>,
    /// The number of tiles in the array.
    pub tiles: u32,
    /// The [`Mode`], as a number.
    pub mode: u32,
}

// SAFETY: `repr(C)`; views and numbers are the same on host and device.
unsafe impl<T: Scalar, A: Scalar> KernelArg for BulkArguments<T, A> {}

#[cfg(any(compute_ge_90, not(target_arch = "nvptx64")))]
impl<T: gridsync_kernels::op::Carried + Scalar> BulkArguments<T, T> {
    /// Scans with `op`: [`grid::scan::scan_by_bulk`].
    #[device]
    pub fn scan(self, op: impl BulkOperation<T>) {
        let workspace = Workspace { words: self.words, state: self.state };
        let mode = Mode::of(self.mode);
        grid::scan::scan_by_bulk(op, self.input, self.output, workspace, self.tiles, mode);
    }
}

/// The common arguments of a scan by `O`.
pub type Common<O> = Arguments<ElementOf<O>, OutputOf<O>>;

/// The arguments of a scan by `O` with bulk copies.
pub type BulkCommon<O> = BulkArguments<ElementOf<O>, OutputOf<O>>;

/// An operation that has a scan kernel, and one with bulk copies or [`NoKernel`] in its place: a
/// short name for bounds. On the host only.
#[cfg(not(target_arch = "nvptx64"))]
pub trait Scannable: ScanOperation + Entry<Common<Self>> + Entry<BulkCommon<Self>> {}

#[cfg(not(target_arch = "nvptx64"))]
impl<O: ScanOperation + Entry<Common<O>> + Entry<BulkCommon<O>>> Scannable for O {}

macro_rules! kernel {
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
        entry! { $row Common, scan (prefix = "scan_", max_threads = 256, min_blocks = $blocks) "Scans by", "grid::scan()" }
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
            entry! { $row BulkCommon, scan (prefix = "scan_bulk_", max_threads = 576, min_blocks = 1) "Scans by", "grid::scan::scan_by_bulk" }
        };
        ($primitive:ident $value:tt $row:tt) => {};
    }
    operations!(kernel);
}

/// The scans of segments.
pub mod segments {
    use super::*;

    // SAFETY: no kernel is launched.
    #[cfg(not(target_arch = "nvptx64"))]
    unsafe impl<O> Entry<BulkCommon<InSegments<O>>> for InSegments<O>
    where
        InSegments<O>: ScanOperation,
    {
        type Kernel = NoKernel;

        fn arguments(self, _: BulkCommon<Self>) {}
    }

    macro_rules! kernel {
        (segments [$blocks:literal reduce $of_reduction:literal] $row:tt) => {
            kernel! { segments $blocks $row }
        };
        (segments $blocks:literal ($name:ident: $op:literal $ty:ty, $inputs:ident)) => {
            entry! { @ $name InSegments<$ty> [op] Common<InSegments<$ty>>, scan_segments (prefix = "scan_segments_", max_threads = 256, min_blocks = $blocks) "Scans by", "grid::scan::scan_segments" }
        };
        (segments shared ($name:ident: $op:literal $ty:ty as $twin:ty, $inputs:ident)) => {
            entry! { @ InSegments<$ty> as InSegments<$twin>, Common<InSegments<$ty>> as Common<InSegments<$twin>> }
        };
        ($primitive:ident $value:tt $row:tt) => {};
    }
    operations!(kernel);
}
