//! Scans of arrays that are spread over several GPUs: a kernel for each line of
//! [`operations!`](crate::operations) with `scan`, and one with bulk copies if the line has `bulk`.

#[cfg(not(target_arch = "nvptx64"))]
use crate::scan::{NoBulk, Scannable};
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
    And, CompensatedSum, Count, Max, Min, Or, Product, ProductModulo, Recurrence, Sum, Xor,
};

/// The common arguments, as in [`grid::scan::scan_spread`]. An operation with a parameter comes
/// after them.
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
    /// The same memory with elements and results of other types of the same sizes.
    #[must_use]
    pub fn cast<U: Scalar, B: Scalar>(self) -> Arguments<U, B> {
        let Self { input, output, words, state, rows, group, tiles, stripe, stamp, form } = self;
        let (input, output) = (input.cast(), output.cast());
        Arguments { input, output, words, state, rows, group, tiles, stripe, stamp, form }
    }

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

#[cfg(any(compute_ge_90, not(target_arch = "nvptx64")))]
impl<T: gridsync_kernels::op::Carried + Scalar> Arguments<T, T> {
    /// Scans with `op`: [`grid::scan::scan_spread_by_bulk`].
    #[device]
    pub fn scan_by_bulk(self, op: impl BulkOperation<T>) {
        let (workspace, stripes, form) = (self.workspace(), self.stripes(), Form::of(self.form));
        grid::scan::scan_spread_by_bulk(op, self.input, self.output, workspace, stripes, form);
    }
}

/// An operation whose scan can be spread over several GPUs. On the host only.
///
/// # Safety
///
/// As for [`Scannable`]: with the arguments that [`arguments`] builds from `common`, [`Kernel`]
/// does only what [`grid::scan::scan_spread`] does with the operation and `common`. With the
/// arguments that [`bulk_arguments`] builds, a kernel with bulk copies does only what
/// [`grid::scan::scan_spread_by_bulk`] does. The operation does not use the index of an element.
///
/// [`arguments`]: Self::arguments
/// [`bulk_arguments`]: Self::bulk_arguments
/// [`Kernel`]: Self::Kernel
#[cfg(not(target_arch = "nvptx64"))]
pub unsafe trait SpreadScannable: Scannable {
    /// The kernel.
    type Kernel: cuda_std::launch::Kernel;

    /// The kernel with bulk copies, or [`NoBulk`] if there is none, as for the scan on one GPU.
    type Bulk: cuda_std::launch::Kernel;

    /// The arguments of the kernel: `common`, and the operation if it has a parameter.
    fn arguments(
        self,
        common: Arguments<Self::Element, Self::Output>,
    ) -> <<Self as SpreadScannable>::Kernel as cuda_std::launch::Kernel>::Args;

    /// The arguments of the kernel with bulk copies, `()` if there is none.
    fn bulk_arguments(
        self,
        common: Arguments<Self::Element, Self::Output>,
    ) -> <<Self as SpreadScannable>::Bulk as cuda_std::launch::Kernel>::Args;
}

macro_rules! kernel {
    // Two blocks per multiprocessor would leave it too few registers: unlike the scan on one GPU,
    // it continues with the next tile.
    (scan $value:tt (sum_compensated_f64: $op:literal $ty:ty, $inputs:ident)) => {
        kernel! { @ 1 sum_compensated_f64 $ty }
    };
    (scan $value:tt ($name:ident: $op:literal $ty:ty, $inputs:ident)) => {
        kernel! { @ $value $name $ty }
    };
    (scan $blocks:literal ($name:ident: $op:literal $ty:ty { $example:expr }, $inputs:ident)) => {
        kernel! { @ $blocks $name $ty, op }
    };
    (scan $shared:tt ($name:ident: $op:literal $ty:ty as $twin:ty, $inputs:ident)) => {
        // SAFETY: the twin does the same with the same bits.
        #[cfg(not(target_arch = "nvptx64"))]
        unsafe impl SpreadScannable for $ty {
            type Kernel = <$twin as SpreadScannable>::Kernel;
            type Bulk = <$twin as SpreadScannable>::Bulk;

            fn arguments(
                self,
                common: Arguments<ElementOf<$ty>, OutputOf<$ty>>,
            ) -> <<$twin as SpreadScannable>::Kernel as cuda_std::launch::Kernel>::Args {
                SpreadScannable::arguments(<$twin>::new(), common.cast())
            }

            fn bulk_arguments(
                self,
                common: Arguments<ElementOf<$ty>, OutputOf<$ty>>,
            ) -> <<$twin as SpreadScannable>::Bulk as cuda_std::launch::Kernel>::Args {
                SpreadScannable::bulk_arguments(<$twin>::new(), common.cast())
            }
        }
    };
    (@ [$blocks:literal bulk] $name:ident $ty:ty) => {
        kernel! { @ kernel $blocks $name $ty }
        kernel! { @ dispatch $name $ty, { type Bulk = bulk::$name; }, |common: Arguments<_, _>| (common,) }
    };
    (@ $blocks:literal $name:ident $ty:ty $(, $op:ident)?) => {
        kernel! { @ kernel $blocks $name $ty $(, $op)? }
        kernel! { @ dispatch $name $ty $(, $op)?, { type Bulk = NoBulk; }, |_: Arguments<_, _>| () }
    };
    (@ kernel $blocks:literal $name:ident $ty:ty $(, $op:ident)?) => {
        #[doc = concat!("Scans by [`", stringify!($ty), "`] over several GPUs: see [`grid::scan::scan_spread`].")]
        ///
        /// # Safety
        ///
        /// The arguments and the grids are valid for [`grid::scan::scan_spread`], and no other
        /// launch uses the workspace until this one has ended on all GPUs.
        #[kernel(prefix = "scan_spread_", max_threads = 256, min_blocks = $blocks)]
        pub unsafe fn $name(common: Arguments<ElementOf<$ty>, OutputOf<$ty>>, $($op: $ty)?) {
            common.scan(operation!($ty $(, $op)?));
        }
    };
    (@ dispatch $name:ident $ty:ty $(, $op:ident)?, { $bulk:item }, $arguments:expr) => {
        // SAFETY: the kernels only call the library with their arguments.
        #[cfg(not(target_arch = "nvptx64"))]
        unsafe impl SpreadScannable for $ty {
            type Kernel = $name;
            $bulk

            fn arguments(
                self,
                common: Arguments<ElementOf<$ty>, OutputOf<$ty>>,
            ) -> <$name as cuda_std::launch::Kernel>::Args {
                $(let $op = self;)?
                (common, $($op)?)
            }

            fn bulk_arguments(
                self,
                common: Arguments<ElementOf<$ty>, OutputOf<$ty>>,
            ) -> <<Self as SpreadScannable>::Bulk as cuda_std::launch::Kernel>::Args {
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
    use super::Arguments;
    use crate::ElementOf;
    use cuda_std::prelude::*;
    use gridsync_kernels::op::Sum;

    macro_rules! kernel {
        (scan [$blocks:literal bulk] ($name:ident: $op:literal $ty:ty, $inputs:ident)) => {
            #[doc = concat!("Scans by [`", stringify!($ty), "`] over several GPUs, by bulk copies.")]
            ///
            /// # Safety
            ///
            /// The arguments and the grids are valid for
            /// [`scan_spread_by_bulk`](gridsync_kernels::grid::scan::scan_spread_by_bulk), and no
            /// other launch uses the workspace until this one has ended on all GPUs.
            #[kernel(prefix = "scan_spread_bulk_", max_threads = 576, min_blocks = 1)]
            pub unsafe fn $name(common: Arguments<ElementOf<$ty>, ElementOf<$ty>>) {
                common.scan_by_bulk(<$ty>::new());
            }
        };
        ($primitive:ident $value:tt $row:tt) => {};
    }
    operations!(kernel);
}
