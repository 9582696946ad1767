//! Arrays whose length was computed by an earlier launch: a kernel for each line of
//! [`operations!`](crate::operations) with `counted_reduce` or `counted_scan`, and two for each
//! line of [`selected_elements!`](crate::selected_elements).
//!
//! They use the first elements of an array. The count is a number in memory, limited to the length
//! of the array. So the host does not need to read how many elements a selection has kept.
//! Everything else is planned for the whole array. They are separate kernels because even a branch
//! that is not taken would make the others slower: a reduction of 2^16 f32 by 3 % on an H200,
//! November 2026.

use cuda_std::prelude::*;

/// The first elements of `array`, as many as the number in `count`, and at most all.
#[device]
fn up_to<T: Scalar>(array: Global<T>, count: Global<u64>) -> Global<T> {
    array.part(0, array.len().min(count.read(0) as usize))
}

pub mod reduce {
    //! Reductions, in the order of the whole array, as if the identity followed the elements.

    use super::up_to;
    use crate::ElementOf;
    use crate::reduce::Arguments;
    #[cfg(not(target_arch = "nvptx64"))]
    use crate::reduce::Reducible;
    use cuda_std::prelude::*;
    use gridsync_kernels::op::{Max, Min, Sum};

    /// An operation whose reduction can read its length from memory. On the host only.
    ///
    /// # Safety
    ///
    /// As for [`Reducible`]: with the arguments from [`counted_arguments`], the kernel does only
    /// what [`grid::reduce()`](gridsync_kernels::grid::reduce()) does with the operation, `common`,
    /// and the first `count` elements of the input.
    ///
    /// [`counted_arguments`]: Self::counted_arguments
    #[cfg(not(target_arch = "nvptx64"))]
    pub unsafe trait CountedReducible: Reducible {
        /// The kernel.
        type Counted: cuda_std::launch::Kernel;

        /// The arguments of the launch.
        fn counted_arguments(
            self,
            common: Arguments<Self::Element>,
            count: Global<u64>,
        ) -> <Self::Counted as cuda_std::launch::Kernel>::Args;
    }

    macro_rules! kernel {
        (counted_reduce shared ($name:ident: $op:literal $ty:ty as $twin:ty, $inputs:ident)) => {
            // SAFETY: the twin does the same with the same bits.
            #[cfg(not(target_arch = "nvptx64"))]
            unsafe impl CountedReducible for $ty {
                type Counted = <$twin as CountedReducible>::Counted;

                fn counted_arguments(
                    self,
                    common: Arguments<ElementOf<$ty>>,
                    count: Global<u64>,
                ) -> <Self::Counted as cuda_std::launch::Kernel>::Args {
                    <$twin>::new().counted_arguments(common.cast(), count)
                }
            }
        };
        (counted_reduce $blocks:literal ($name:ident: $op:literal $ty:ty, $inputs:ident)) => {
            kernel! { @ (min_blocks = $blocks) $name $ty }
        };
        (counted_reduce [registers $most:literal] ($name:ident: $op:literal $ty:ty, $inputs:ident)) => {
            kernel! { @ (max_registers = $most) $name $ty }
        };
        (@ ($limit:ident = $number:literal) $name:ident $ty:ty) => {
            #[doc = concat!("Reduces what is counted by [`", stringify!($ty), "`].")]
            ///
            /// # Safety
            ///
            /// As for the kernel that reduces the whole array. `count` is one number, which nothing
            /// writes during the launch.
            #[kernel(prefix = "counted_reduce_", max_threads = 512, $limit = $number)]
            pub unsafe fn $name(common: Arguments<ElementOf<$ty>>, count: Global<u64>) {
                let input = up_to(common.input, count);
                Arguments { input, ..common }.reduce(<$ty>::new());
            }

            // SAFETY: the kernel only calls `grid::reduce` with its arguments.
            #[cfg(not(target_arch = "nvptx64"))]
            unsafe impl CountedReducible for $ty {
                type Counted = $name;

                fn counted_arguments(
                    self,
                    common: Arguments<ElementOf<$ty>>,
                    count: Global<u64>,
                ) -> <$name as cuda_std::launch::Kernel>::Args {
                    (common, count)
                }
            }
        };
        ($primitive:ident $value:tt $row:tt) => {};
    }
    operations!(kernel);
}

pub mod scan {
    //! Scans: the first results of a scan of the whole array.

    use super::up_to;
    use crate::scan::Arguments;
    #[cfg(not(target_arch = "nvptx64"))]
    use crate::scan::Scannable;
    use crate::{ElementOf, OutputOf};
    use cuda_std::prelude::*;
    use gridsync_kernels::op::Sum;

    /// An operation whose scan can read its length from memory. On the host only.
    ///
    /// # Safety
    ///
    /// As for [`Scannable`]: with the arguments from [`counted_arguments`], the kernel does only
    /// what [`grid::scan()`](gridsync_kernels::grid::scan()) does with the operation, `common`, and
    /// the first `count` elements of the input and of the output.
    ///
    /// [`counted_arguments`]: Self::counted_arguments
    #[cfg(not(target_arch = "nvptx64"))]
    pub unsafe trait CountedScannable: Scannable {
        /// The kernel.
        type Counted: cuda_std::launch::Kernel;

        /// The arguments of the launch.
        fn counted_arguments(
            self,
            common: Arguments<Self::Element, Self::Output>,
            count: Global<u64>,
        ) -> <Self::Counted as cuda_std::launch::Kernel>::Args;
    }

    macro_rules! kernel {
        (counted_scan shared ($name:ident: $op:literal $ty:ty as $twin:ty, $inputs:ident)) => {
            // SAFETY: the twin does the same with the same bits.
            #[cfg(not(target_arch = "nvptx64"))]
            unsafe impl CountedScannable for $ty {
                type Counted = <$twin as CountedScannable>::Counted;

                fn counted_arguments(
                    self,
                    common: Arguments<ElementOf<$ty>, OutputOf<$ty>>,
                    count: Global<u64>,
                ) -> <Self::Counted as cuda_std::launch::Kernel>::Args {
                    <$twin>::new().counted_arguments(common.cast(), count)
                }
            }
        };
        (counted_scan $blocks:literal ($name:ident: $op:literal $ty:ty, $inputs:ident)) => {
            #[doc = concat!("Scans what is counted by [`", stringify!($ty), "`].")]
            ///
            /// # Safety
            ///
            /// As for the kernel that scans the whole array. `count` is one number, which nothing
            /// writes during the launch.
            #[kernel(prefix = "counted_scan_", max_threads = 256, min_blocks = $blocks)]
            pub unsafe fn $name(
                common: Arguments<ElementOf<$ty>, OutputOf<$ty>>,
                count: Global<u64>,
            ) {
                let input = up_to(common.input, count);
                let output = common.output.part(0, input.len());
                Arguments { input, output, ..common }.scan(<$ty>::new());
            }

            // SAFETY: the kernel only calls `grid::scan` with its arguments.
            #[cfg(not(target_arch = "nvptx64"))]
            unsafe impl CountedScannable for $ty {
                type Counted = $name;

                fn counted_arguments(
                    self,
                    common: Arguments<ElementOf<$ty>, OutputOf<$ty>>,
                    count: Global<u64>,
                ) -> <$name as cuda_std::launch::Kernel>::Args {
                    (common, count)
                }
            }
        };
        ($primitive:ident $value:tt $row:tt) => {};
    }
    operations!(kernel);
}

pub mod select {
    //! Selections.

    use super::up_to;
    use crate::select::Arguments;
    #[cfg(not(target_arch = "nvptx64"))]
    use crate::select::{FirstOfRun, Selectable};
    use cuda_std::prelude::*;
    use cuda_std::{bf16, f16};
    use gridsync_kernels::grid::select::Within;

    /// A selection that can read its length from memory. On the host only.
    ///
    /// # Safety
    ///
    /// As for [`Selectable`]: with the arguments from [`counted_arguments`], the kernel does only
    /// what [`grid::select()`](gridsync_kernels::grid::select()) or
    /// [`grid::unique()`](gridsync_kernels::grid::unique()) does with the predicate, `common`, and
    /// the first `count` elements of the input.
    ///
    /// [`counted_arguments`]: Self::counted_arguments
    #[cfg(not(target_arch = "nvptx64"))]
    pub unsafe trait CountedSelectable: Selectable {
        /// The kernel.
        type Counted: cuda_std::launch::Kernel;

        /// The arguments of the launch.
        fn counted_arguments(
            self,
            common: Arguments<Self::Element>,
            count: Global<u64>,
        ) -> <Self::Counted as cuda_std::launch::Kernel>::Args;
    }

    macro_rules! kernels {
        ($ty:ident, $select:ident $blocks:literal, $unique:ident $of_unique:literal) => {
            kernels! { @ select $ty $select $blocks }

            #[doc = concat!("Selects the first of each run of ", stringify!($ty), " of what is counted.")]
            ///
            /// # Safety
            ///
            /// As for the kernel that uses the whole array. `count` is one number, which nothing
            /// writes during the launch.
            #[kernel(prefix = "counted_", max_threads = 256, min_blocks = $of_unique)]
            pub unsafe fn $unique(common: Arguments<$ty>, count: Global<u64>) {
                let input = up_to(common.input, count);
                Arguments { input, ..common }.unique();
            }

            kernels! { @ first_of_run $ty $unique, |common: Arguments<$ty>, count| (common, count) }
        };
        ($ty:ident, $select:ident $blocks:literal, $unique:ident as $twin:ident) => {
            kernels! { @ select $ty $select $blocks }
            kernels! { @ first_of_run $ty $unique, |common: Arguments<$ty>, count| (common.cast::<$twin>(), count) }
        };
        (@ select $ty:ident $select:ident $blocks:literal) => {
            #[doc = concat!("Selects elements of ", stringify!($ty), " from what is counted.")]
            ///
            /// # Safety
            ///
            /// As for the kernel that uses the whole array. `count` is one number, which nothing
            /// writes during the launch.
            #[kernel(prefix = "counted_", max_threads = 256, min_blocks = $blocks)]
            pub unsafe fn $select(
                common: Arguments<$ty>,
                predicate: Within<$ty>,
                count: Global<u64>,
            ) {
                let input = up_to(common.input, count);
                Arguments { input, ..common }.select(predicate);
            }

            // SAFETY: the kernel only calls `grid::select` with its arguments.
            #[cfg(not(target_arch = "nvptx64"))]
            unsafe impl CountedSelectable for Within<$ty> {
                type Counted = $select;

                fn counted_arguments(
                    self,
                    common: Arguments<$ty>,
                    count: Global<u64>,
                ) -> <$select as cuda_std::launch::Kernel>::Args {
                    (common, self, count)
                }
            }
        };
        (@ first_of_run $ty:ident $unique:ident, $arguments:expr) => {
            // SAFETY: the kernel only calls `grid::unique` with its arguments; equal integers have
            // equal bits, signed or unsigned.
            #[cfg(not(target_arch = "nvptx64"))]
            unsafe impl CountedSelectable for FirstOfRun<$ty> {
                type Counted = $unique;

                fn counted_arguments(
                    self,
                    common: Arguments<$ty>,
                    count: Global<u64>,
                ) -> <$unique as cuda_std::launch::Kernel>::Args {
                    ($arguments)(common, count)
                }
            }
        };
    }
    selected_elements!(kernels);
}
