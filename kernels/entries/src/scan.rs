//! Scans: a kernel for each line of [`operations!`](crate::operations) with `scan`, one with bulk
//! copies if the line has `bulk`, and one within segments if it has `segments`.

use crate::{ElementOf, OutputOf};
use cuda_std::launch::KernelArg;
use cuda_std::prelude::*;
use cuda_std::{bf16, f16};
use gridsync_kernels::grid;
use gridsync_kernels::grid::Workspace;
#[cfg(any(compute_ge_90, not(target_arch = "nvptx64")))]
use gridsync_kernels::grid::scan::BulkOperation;
use gridsync_kernels::grid::scan::{Mode, ScanOperation};
use gridsync_kernels::op::{
    And, CompensatedSum, Count, Max, Min, Or, Product, ProductModulo, Recurrence, Sum, Xor,
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
    /// The same memory with elements and results of other types of the same sizes.
    #[must_use]
    pub fn cast<U: Scalar, B: Scalar>(self) -> Arguments<U, B> {
        Arguments {
            input: self.input.cast(),
            output: self.output.cast(),
            words: self.words,
            state: self.state,
            rows: self.rows,
            group: self.group,
            mode: self.mode,
        }
    }

    /// Scans with `op`: [`grid::scan()`].
    #[device]
    pub fn scan(self, op: impl ScanOperation<Element = T, Output = A>) {
        let workspace = Workspace { words: self.words, state: self.state };
        let (rows, group, mode) = (self.rows, self.group, Mode::of(self.mode));
        grid::scan(op, self.input, self.output, workspace, rows, group, mode);
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

impl<T: Scalar, A: Scalar> BulkArguments<T, A> {
    /// The same memory with elements and results of other types of the same sizes.
    #[must_use]
    pub fn cast<U: Scalar, B: Scalar>(self) -> BulkArguments<U, B> {
        BulkArguments {
            input: self.input.cast(),
            output: self.output.cast(),
            words: self.words,
            state: self.state,
            tiles: self.tiles,
            mode: self.mode,
        }
    }
}

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

/// An operation that has a scan kernel. On the host only.
///
/// # Safety
///
/// Safe methods of the host library launch the kernels. With the arguments that [`arguments`]
/// builds from `common`, [`Kernel`] does only what [`grid::scan()`] does with the operation and
/// `common`. With the arguments that [`bulk_arguments`] builds, a kernel with bulk copies does only
/// what [`grid::scan::scan_by_bulk`] does. The usual kernel is only that call.
///
/// [`arguments`]: Self::arguments
/// [`bulk_arguments`]: Self::bulk_arguments
/// [`Kernel`]: Self::Kernel
///
/// ```compile_fail,E0200
/// struct Mine;
/// impl gridsync_entries::scan::Scannable for Mine {} // It needs `unsafe impl`.
/// ```
#[cfg(not(target_arch = "nvptx64"))]
pub unsafe trait Scannable: ScanOperation {
    /// The kernel.
    type Kernel: cuda_std::launch::Kernel;

    /// The kernel with bulk copies, or [`NoBulk`] if there is none.
    type Bulk: cuda_std::launch::Kernel;

    /// The arguments of the kernel: `common`, and the operation if it has a parameter.
    fn arguments(
        self,
        common: Arguments<Self::Element, Self::Output>,
    ) -> <Self::Kernel as cuda_std::launch::Kernel>::Args;

    /// The arguments of the kernel with bulk copies, `()` if there is none.
    fn bulk_arguments(
        self,
        common: BulkArguments<Self::Element, Self::Output>,
    ) -> <Self::Bulk as cuda_std::launch::Kernel>::Args;

    /// Whether there is a kernel with bulk copies.
    const HAS_BULK: bool;
}

/// A placeholder for a missing kernel with bulk copies, never launched. On the host only.
#[cfg(not(target_arch = "nvptx64"))]
pub struct NoBulk;

#[cfg(not(target_arch = "nvptx64"))]
impl cuda_std::launch::Kernel for NoBulk {
    const NAME: &'static str = "no scan by bulk copies";
    const COOPERATIVE: bool = false;
    type Args = ();

    unsafe fn run((): ()) {
        unreachable!("{}", Self::NAME)
    }
}

macro_rules! kernel {
    (scan $value:tt ($name:ident: $op:literal $ty:ty, $inputs:ident)) => {
        kernel! { @ "scan_" $value $name $ty }
    };
    (scan $blocks:literal ($name:ident: $op:literal $ty:ty { $example:expr }, $inputs:ident)) => {
        kernel! { @ "scan_" $blocks $name $ty, op }
    };
    (scan $shared:tt ($name:ident: $op:literal $ty:ty as $twin:ty, $inputs:ident)) => {
        // SAFETY: the twin does the same with the same bits.
        #[cfg(not(target_arch = "nvptx64"))]
        unsafe impl Scannable for $ty {
            type Kernel = <$twin as Scannable>::Kernel;
            type Bulk = <$twin as Scannable>::Bulk;
            const HAS_BULK: bool = <$twin as Scannable>::HAS_BULK;

            fn arguments(
                self,
                common: Arguments<ElementOf<$ty>, OutputOf<$ty>>,
            ) -> <Self::Kernel as cuda_std::launch::Kernel>::Args {
                <$twin>::new().arguments(common.cast())
            }

            fn bulk_arguments(
                self,
                common: BulkArguments<ElementOf<$ty>, OutputOf<$ty>>,
            ) -> <Self::Bulk as cuda_std::launch::Kernel>::Args {
                <$twin>::new().bulk_arguments(common.cast())
            }
        }
    };
    (@ $prefix:literal [$blocks:literal bulk] $name:ident $ty:ty) => {
        kernel! { @ kernel $prefix $blocks $name $ty }
        kernel! { @ dispatch $name $ty, { type Bulk = bulk::$name; }, true, |common: BulkArguments<_, _>| (common,) }
    };
    (@ $prefix:literal $blocks:literal $name:ident $ty:ty $(, $op:ident)?) => {
        kernel! { @ kernel $prefix $blocks $name $ty $(, $op)? }
        kernel! { @ dispatch $name $ty $(, $op)?, { type Bulk = NoBulk; }, false, |_: BulkArguments<_, _>| () }
    };
    (@ kernel $prefix:literal $blocks:literal $name:ident $ty:ty $(, $op:ident)?) => {
        #[doc = concat!("Scans by [`", stringify!($ty), "`]: see [`grid::scan()`].")]
        ///
        /// # Safety
        ///
        /// The arguments and the grid are valid for [`grid::scan()`], and no other launch uses the
        /// workspace until this one has ended.
        #[kernel(prefix = $prefix, max_threads = 256, min_blocks = $blocks)]
        pub unsafe fn $name(common: Arguments<ElementOf<$ty>, OutputOf<$ty>>, $($op: $ty)?) {
            common.scan(operation!($ty $(, $op)?));
        }
    };
    (@ dispatch $name:ident $ty:ty $(, $op:ident)?, { $bulk:item }, $has_bulk:literal, $arguments:expr) => {
        // SAFETY: the kernels only call the library with their arguments.
        #[cfg(not(target_arch = "nvptx64"))]
        unsafe impl Scannable for $ty {
            type Kernel = $name;
            $bulk
            const HAS_BULK: bool = $has_bulk;

            fn arguments(
                self,
                common: Arguments<ElementOf<$ty>, OutputOf<$ty>>,
            ) -> <$name as cuda_std::launch::Kernel>::Args {
                $(let $op = self;)?
                (common, $($op)?)
            }

            fn bulk_arguments(
                self,
                common: BulkArguments<ElementOf<$ty>, OutputOf<$ty>>,
            ) -> <Self::Bulk as cuda_std::launch::Kernel>::Args {
                ($arguments)(common)
            }
        }
    };
    ($primitive:ident $value:tt $row:tt) => {};
}
operations!(kernel);

/// The kernels with bulk copies.
#[cfg(any(compute_ge_90, not(target_arch = "nvptx64")))]
pub mod bulk {
    use super::BulkArguments;
    use crate::ElementOf;
    use cuda_std::prelude::*;
    use gridsync_kernels::op::Sum;

    macro_rules! kernel {
        (scan [$blocks:literal bulk] ($name:ident: $op:literal $ty:ty, $inputs:ident)) => {
            #[doc = concat!("Scans by [`", stringify!($ty), "`], by bulk copies.")]
            ///
            /// # Safety
            ///
            /// The arguments and the grid are valid for
            /// [`scan_by_bulk`](gridsync_kernels::grid::scan::scan_by_bulk), and no other launch
            /// uses the workspace until this one has ended.
            #[kernel(prefix = "scan_bulk_", max_threads = 576, min_blocks = 1)]
            pub unsafe fn $name(common: BulkArguments<ElementOf<$ty>, ElementOf<$ty>>) {
                common.scan(<$ty>::new());
            }
        };
        ($primitive:ident $value:tt $row:tt) => {};
    }
    operations!(kernel);
}

/// The scans of segments.
pub mod segments {
    use super::*;
    use gridsync_kernels::op::InSegments;

    macro_rules! segmented {
        (segments $blocks:literal ($name:ident: $op:literal $ty:ty, $inputs:ident)) => {
            kernel! { @ "scan_segments_" $blocks $name InSegments<$ty>, op }
        };
        (segments shared ($name:ident: $op:literal $ty:ty as $twin:ty, $inputs:ident)) => {
            // SAFETY: the twin does the same with the same bits.
            #[cfg(not(target_arch = "nvptx64"))]
            unsafe impl Scannable for InSegments<$ty> {
                type Kernel = <InSegments<$twin> as Scannable>::Kernel;
                type Bulk = NoBulk;
                const HAS_BULK: bool = false;

                fn arguments(
                    self,
                    common: Arguments<ElementOf<$ty>, OutputOf<$ty>>,
                ) -> <Self::Kernel as cuda_std::launch::Kernel>::Args {
                    InSegments::<$twin>::new(self.segments()).arguments(common.cast())
                }

                fn bulk_arguments(self, _: BulkArguments<ElementOf<$ty>, OutputOf<$ty>>) {}
            }
        };
        ($primitive:ident $value:tt $row:tt) => {};
    }
    operations!(segmented);
}
