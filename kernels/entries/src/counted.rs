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

/// The common arguments for the first elements of an array: those for the whole array, and the
/// number of elements.
///
/// A kernel for them does with the first elements of the arrays what the kernel for `C` does with
/// the whole arrays. A reduction is in the order of the whole array, as if the identity followed
/// the elements.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Counted<C> {
    /// The arguments for the whole array.
    pub common: C,
    /// The number of elements, which nothing writes during the launch. At most all are used.
    pub count: Global<u64>,
}

/// The first elements of `array`, as many as the number in `count`, and at most all.
#[device]
fn first<T: Scalar>(array: Global<T>, count: Global<u64>) -> Global<T> {
    array.part(0, array.len().min(count.read(0) as usize))
}

pub mod reduce {
    //! Reductions, in the order of the whole array, as if the identity followed the elements.

    use super::first;
    use crate::reduce::{Arguments, Common};
    use cuda_std::prelude::*;
    use gridsync_kernels::op::{Max, Min, Sum};

    impl<T: Scalar> Arguments<T> {
        #[device]
        fn up_to(self, count: Global<u64>) -> Self {
            Self { input: first(self.input, count), ..self }
        }
    }

    #[cfg(not(target_arch = "nvptx64"))]
    type Counted<O> = super::Counted<Common<O>>;

    macro_rules! kernel {
        (counted_reduce shared $row:tt) => {
            entry! { $row Counted }
        };
        (counted_reduce [registers $most:literal] $row:tt) => {
            kernel! { @ (max_registers = $most) $row }
        };
        (counted_reduce $blocks:literal $row:tt) => {
            kernel! { @ (min_blocks = $blocks) $row }
        };
        (@ ($limit:ident = $number:literal) $row:tt) => {
            entry! { $row Common [count], reduce (prefix = "counted_reduce_", max_threads = 512, $limit = $number) "Reduces what is counted by", "grid::reduce()" }
        };
        ($primitive:ident $value:tt $row:tt) => {};
    }
    operations!(kernel);
}

pub mod scan {
    //! Scans: the first results of a scan of the whole array.

    use super::first;
    use crate::scan::{Arguments, Common};
    use cuda_std::prelude::*;
    use gridsync_kernels::op::Sum;

    impl<T: Scalar, A: Scalar> Arguments<T, A> {
        #[device]
        fn up_to(self, count: Global<u64>) -> Self {
            let input = first(self.input, count);
            Self { input, output: self.output.part(0, input.len()), ..self }
        }
    }

    #[cfg(not(target_arch = "nvptx64"))]
    type Counted<O> = super::Counted<Common<O>>;

    macro_rules! kernel {
        (counted_scan shared $row:tt) => {
            entry! { $row Counted }
        };
        (counted_scan $blocks:literal $row:tt) => {
            entry! { $row Common [count], scan (prefix = "counted_scan_", max_threads = 256, min_blocks = $blocks) "Scans what is counted by", "grid::scan()" }
        };
        ($primitive:ident $value:tt $row:tt) => {};
    }
    operations!(kernel);
}

pub mod select {
    //! Selections.

    #[cfg(not(target_arch = "nvptx64"))]
    use super::Counted;
    use super::first;
    use crate::select::{Arguments, FirstOfRun};
    use cuda_std::prelude::*;
    use cuda_std::{bf16, f16};
    use gridsync_kernels::grid::select::Within;

    impl<T: Scalar> Arguments<T> {
        #[device]
        fn up_to(self, count: Global<u64>) -> Self {
            Self { input: first(self.input, count), ..self }
        }
    }

    macro_rules! kernels {
        ($ty:ident, $select:ident $blocks:literal, $unique:ident $($of_unique:tt)+) => {
            entry! { @ $select Within<$ty> [predicate] Arguments<$ty> [count], select (prefix = "counted_", max_threads = 256, min_blocks = $blocks) "Selects from what is counted by", "grid::select()" }
            kernels! { @ $ty $unique $($of_unique)+ }
        };
        (@ $ty:ident $unique:ident $blocks:literal) => {
            entry! { @ $unique FirstOfRun<$ty> [] Arguments<$ty> [count], unique (prefix = "counted_", max_threads = 256, min_blocks = $blocks) "Selects from what is counted by", "grid::unique()" }
        };
        (@ $ty:ident $unique:ident as $twin:ident) => {
            entry! { @ FirstOfRun<$ty> as FirstOfRun<$twin>, Counted<Arguments<$ty>> as Counted<Arguments<$twin>> }
        };
    }
    selected_elements!(kernels);
}
