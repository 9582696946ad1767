//! Reductions of an array: one kernel per line of [`operations!`](crate::operations) with `reduce`.

use crate::ElementOf;
use cuda_std::launch::KernelArg;
use cuda_std::prelude::*;
use cuda_std::{bf16, f16};
use gridsync_kernels::grid::{self, Workspace};
use gridsync_kernels::op::{
    And, ArgMax, ArgMin, CompensatedSum, Compose, Count, Max, Min, Operation, Or, Product,
    ProductModulo, Sum, WideSum, Xor,
};
#[cfg(not(target_arch = "nvptx64"))]
use gridsync_kernels::op::{Mean, Total};

/// The common arguments, as in [`grid::reduce()`]. An operation with a parameter comes after them.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Arguments<T> {
    /// The array.
    pub input: Global<T>,
    /// The words of the workspace.
    pub words: Global<u64>,
    /// The state of the workspace.
    pub state: Global<u32>,
    /// The words of one accumulator.
    pub result: Global<u32>,
    /// The number of runs per strip.
    pub runs: u32,
}

// SAFETY: `repr(C)`; views and a number are the same on host and device.
unsafe impl<T: Scalar> KernelArg for Arguments<T> {}

impl<T: Scalar> Arguments<T> {
    /// The same memory with elements of another type of the same size.
    #[must_use]
    pub fn cast<U: Scalar>(self) -> Arguments<U> {
        let Self { input, words, state, result, runs } = self;
        Arguments { input: input.cast(), words, state, result, runs }
    }

    /// Reduces with `op`: [`grid::reduce()`].
    #[device]
    pub fn reduce(self, op: impl Operation<Element = T>) {
        let workspace = Workspace { words: self.words, state: self.state };
        grid::reduce(op, self.input, workspace, self.result, self.runs);
    }
}

/// An operation that has a reduction kernel. On the host only.
///
/// # Safety
///
/// Safe methods of the host library launch the kernel. With the arguments that [`arguments`] builds
/// from `common`, it does only what [`grid::reduce()`] does with the operation and `common`. The
/// usual kernel is only that call.
///
/// [`arguments`]: Self::arguments
///
/// ```compile_fail,E0200
/// struct Mine;
/// impl gridsync_entries::reduce::Reducible for Mine {} // It needs `unsafe impl`.
/// ```
#[cfg(not(target_arch = "nvptx64"))]
pub unsafe trait Reducible: Operation {
    /// The kernel.
    type Kernel: cuda_std::launch::Kernel;

    /// The arguments of the launch: `common`, and the operation if it has a parameter.
    fn arguments(
        self,
        common: Arguments<Self::Element>,
    ) -> <Self::Kernel as cuda_std::launch::Kernel>::Args;
}

// SAFETY: the kernel reduces with the sum, and a mean has the same accumulators as its sum.
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

macro_rules! kernel {
    (reduce $blocks:literal ($name:ident: $op:literal $ty:ty, $inputs:ident)) => {
        kernel! { @ (min_blocks = $blocks) $name $ty }
    };
    (reduce $blocks:literal ($name:ident: $op:literal $ty:ty { $example:expr }, $inputs:ident)) => {
        kernel! { @ (min_blocks = $blocks) $name $ty, op }
    };
    (reduce [registers $most:literal] ($name:ident: $op:literal $ty:ty, $inputs:ident)) => {
        kernel! { @ (max_registers = $most) $name $ty }
    };
    (reduce shared ($name:ident: $op:literal $ty:ty as $twin:ty, $inputs:ident)) => {
        // SAFETY: the twin does the same with the same bits.
        #[cfg(not(target_arch = "nvptx64"))]
        unsafe impl Reducible for $ty {
            type Kernel = <$twin as Reducible>::Kernel;

            fn arguments(
                self,
                common: Arguments<ElementOf<$ty>>,
            ) -> <Self::Kernel as cuda_std::launch::Kernel>::Args {
                <$twin>::new().arguments(common.cast())
            }
        }
    };
    (@ ($limit:ident = $number:literal) $name:ident $ty:ty $(, $op:ident)?) => {
        #[doc = concat!("Reduces by [`", stringify!($ty), "`]: see [`grid::reduce()`].")]
        ///
        /// # Safety
        ///
        /// The arguments and the grid are valid for [`grid::reduce()`], and no other launch uses
        /// the workspace until this one has ended.
        #[kernel(prefix = "reduce_", max_threads = 512, $limit = $number)]
        pub unsafe fn $name(common: Arguments<ElementOf<$ty>>, $($op: $ty)?) {
            common.reduce(operation!($ty $(, $op)?));
        }

        // SAFETY: the kernel only calls `grid::reduce` with its arguments.
        #[cfg(not(target_arch = "nvptx64"))]
        unsafe impl Reducible for $ty {
            type Kernel = $name;

            fn arguments(
                self,
                common: Arguments<ElementOf<$ty>>,
            ) -> <$name as cuda_std::launch::Kernel>::Args {
                $(let $op = self;)?
                (common, $($op)?)
            }
        }
    };
    ($primitive:ident $value:tt $row:tt) => {};
}
operations!(kernel);
