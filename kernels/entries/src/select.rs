//! Selections: two kernels for each line of [`selected_elements!`](crate::selected_elements).

use cuda_std::launch::KernelArg;
use cuda_std::prelude::*;
use cuda_std::{bf16, f16};
use gridsync_kernels::grid;
use gridsync_kernels::grid::Workspace;
use gridsync_kernels::grid::select::{Outputs, Predicate, Within};

/// The common arguments, as in [`grid::select()`]. A predicate parameter comes after them.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Arguments<T> {
    /// The array.
    pub input: Global<T>,
    /// The destination of the results.
    pub outputs: Outputs<T>,
    /// The words of the workspace.
    pub words: Global<u64>,
    /// The state of the workspace.
    pub state: Global<u32>,
    /// The number of rows per warp.
    pub rows: u32,
    /// The number of tiles per group.
    pub group: u32,
}

// SAFETY: `repr(C)`; views and numbers are the same on host and device.
unsafe impl<T: Scalar> KernelArg for Arguments<T> {}

impl<T: Scalar> Arguments<T> {
    /// The same memory with elements of another type of the same size.
    #[must_use]
    pub fn cast<U: Scalar>(self) -> Arguments<U> {
        Arguments {
            input: self.input.cast(),
            outputs: Outputs {
                kept: self.outputs.kept.cast(),
                rest: self.outputs.rest.cast(),
                positions: self.outputs.positions,
                count: self.outputs.count,
            },
            words: self.words,
            state: self.state,
            rows: self.rows,
            group: self.group,
        }
    }

    #[device]
    fn workspace(self) -> Workspace {
        Workspace { words: self.words, state: self.state }
    }

    /// Selects with `predicate`: [`grid::select()`].
    #[device]
    pub fn select(self, predicate: impl Predicate<Element = T>) {
        let (rows, group) = (self.rows, self.group);
        grid::select(predicate, self.input, self.outputs, self.workspace(), rows, group);
    }

    /// Selects the first of each run of equal elements: [`grid::unique()`].
    #[device]
    pub fn unique(self)
    where
        T: PartialEq,
    {
        grid::unique(self.input, self.outputs, self.workspace(), self.rows, self.group);
    }
}

/// A selection of elements, and the kernel for it. On the host only.
///
/// # Safety
///
/// Safe methods of the host library launch the kernel. With the arguments that [`arguments`] builds
/// from `common`, it does only what [`grid::select()`] or [`grid::unique()`] does with the
/// predicate and `common`. The usual kernel is only that call.
///
/// [`arguments`]: Self::arguments
///
/// ```compile_fail,E0200
/// struct Mine;
/// impl gridsync_entries::select::Selectable for Mine {} // It needs `unsafe impl`.
/// ```
#[cfg(not(target_arch = "nvptx64"))]
pub unsafe trait Selectable: Copy + Send + Sync + 'static {
    /// The type of the elements.
    type Element: Scalar;

    /// The kernel.
    type Kernel: cuda_std::launch::Kernel;

    /// The arguments of the launch: `common`, and the predicate if it is a parameter.
    fn arguments(
        self,
        common: Arguments<Self::Element>,
    ) -> <Self::Kernel as cuda_std::launch::Kernel>::Args;

    /// Whether the kernel keeps element `index` of `input`.
    ///
    /// # Panics
    /// If `input` has no element `index`.
    fn is_kept(self, input: &[Self::Element], index: usize) -> bool;
}

/// Selects the first of each run of equal elements: see [`grid::unique()`]. On the host only.
#[cfg(not(target_arch = "nvptx64"))]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FirstOfRun<T>(core::marker::PhantomData<fn(T)>);

#[cfg(not(target_arch = "nvptx64"))]
impl<T> FirstOfRun<T> {
    /// Selects from elements of `T`.
    #[must_use]
    pub const fn new() -> Self {
        Self(core::marker::PhantomData)
    }
}

macro_rules! kernels {
    ($ty:ident, $select:ident $blocks:literal, $unique:ident $of_unique:literal) => {
        kernels! { @ select $ty $select $blocks }

        #[doc = concat!("Selects the first of each run of ", stringify!($ty), ": see [`grid::unique()`].")]
        ///
        /// # Safety
        ///
        /// The arguments and the grid are valid for [`grid::unique()`], and no other launch uses
        /// the workspace until this one has ended.
        #[kernel(max_threads = 256, min_blocks = $of_unique)]
        pub unsafe fn $unique(common: Arguments<$ty>) {
            common.unique();
        }

        kernels! { @ first_of_run $ty $unique, |common: Arguments<$ty>| (common,) }
    };
    ($ty:ident, $select:ident $blocks:literal, $unique:ident as $twin:ident) => {
        kernels! { @ select $ty $select $blocks }
        kernels! { @ first_of_run $ty $unique, |common: Arguments<$ty>| (common.cast::<$twin>(),) }
    };
    (@ select $ty:ident $select:ident $blocks:literal) => {
        #[doc = concat!("Selects elements of ", stringify!($ty), ": see [`grid::select()`].")]
        ///
        /// # Safety
        ///
        /// The arguments and the grid are valid for [`grid::select()`], and no other launch uses
        /// the workspace until this one has ended.
        #[kernel(max_threads = 256, min_blocks = $blocks)]
        pub unsafe fn $select(common: Arguments<$ty>, predicate: Within<$ty>) {
            common.select(predicate);
        }

        // SAFETY: the kernel only calls `grid::select` with its arguments.
        #[cfg(not(target_arch = "nvptx64"))]
        unsafe impl Selectable for Within<$ty> {
            type Element = $ty;
            type Kernel = $select;

            fn arguments(
                self,
                common: Arguments<$ty>,
            ) -> <$select as cuda_std::launch::Kernel>::Args {
                (common, self)
            }

            fn is_kept(self, input: &[$ty], index: usize) -> bool {
                self.keeps(input[index], index as u64)
            }
        }
    };
    (@ first_of_run $ty:ident $unique:ident, $arguments:expr) => {
        // SAFETY: the kernel only calls `grid::unique` with its arguments; equal integers have
        // equal bits, signed or unsigned.
        #[cfg(not(target_arch = "nvptx64"))]
        unsafe impl Selectable for FirstOfRun<$ty> {
            type Element = $ty;
            type Kernel = $unique;

            fn arguments(
                self,
                common: Arguments<$ty>,
            ) -> <$unique as cuda_std::launch::Kernel>::Args {
                ($arguments)(common)
            }

            fn is_kept(self, input: &[$ty], index: usize) -> bool {
                index == 0 || input[index] != input[index - 1]
            }
        }
    };
}
selected_elements!(kernels);
