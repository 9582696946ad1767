//! Selections: two kernels for each element type.

use cuda_std::prelude::*;
use gridsync_kernels::grid;
use gridsync_kernels::grid::scan::Workspace;
use gridsync_kernels::grid::select::{Outputs, Within};

/// What every kernel takes that selects: `(input, outputs, words, state, rows, group)` as in
/// [`grid::select()`]. On the host only.
#[cfg(not(target_arch = "nvptx64"))]
pub type Arguments<T> = (Global<T>, Outputs<T>, Global<u64>, Global<u32>, u32, u32);

/// What elements are selected by, and which kernel does it. On the host only.
///
/// # Safety
///
/// Safe methods of the host library launch the kernel. For the arguments that [`arguments`] makes of
/// `common`, all that the kernel does is what [`grid::select()`] or [`grid::unique()`] does with the
/// predicate and `common`. The usual kernel is that one call.
///
/// [`arguments`]: Self::arguments
///
/// ```compile_fail,E0200
/// struct Mine;
/// impl gridsync_entries::select::Selectable for Mine {} // It takes `unsafe impl`.
/// ```
#[cfg(not(target_arch = "nvptx64"))]
pub unsafe trait Selectable: Copy + Send + Sync + 'static {
    /// What the array holds.
    type Element: Scalar;

    /// The kernel.
    type Kernel: cuda_std::launch::Kernel;

    /// What it is launched with: what every kernel takes, and the predicate behind that if it is a
    /// parameter.
    fn arguments(
        self,
        common: Arguments<Self::Element>,
    ) -> <Self::Kernel as cuda_std::launch::Kernel>::Args;

    /// Whether the kernel keeps element number `index` of `input`.
    ///
    /// # Panics
    /// If there is no such element.
    fn is_kept(self, input: &[Self::Element], index: usize) -> bool;
}

/// Selects the first of each run of equal elements: see [`grid::unique()`]. On the host only.
#[cfg(not(target_arch = "nvptx64"))]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FirstOfRun<T>(core::marker::PhantomData<fn(T)>);

#[cfg(not(target_arch = "nvptx64"))]
impl<T> FirstOfRun<T> {
    /// That of elements of `T`.
    #[must_use]
    pub const fn new() -> Self {
        Self(core::marker::PhantomData)
    }
}

macro_rules! kernels {
    ($blocks:literal on a multiprocessor; $($element:ident: $select:ident $unique:ident;)*) => {$(
        #[doc = concat!("Selects elements of ", stringify!($element), ": see [`grid::select()`].")]
        ///
        /// # Safety
        ///
        /// The arguments and the grid are as [`grid::select()`] wants them, and no other launch uses
        /// `words` or `state` until this one has ended.
        #[kernel(max_threads = 256, min_blocks = $blocks)]
        pub unsafe fn $select(
            input: Global<$element>,
            outputs: Outputs<$element>,
            words: Global<u64>,
            state: Global<u32>,
            rows: u32,
            group: u32,
            predicate: Within<$element>,
        ) {
            grid::select(predicate, input, outputs, Workspace { words, state }, rows, group);
        }

        #[doc = concat!("Selects the first of each run of ", stringify!($element), ": see [`grid::unique()`].")]
        ///
        /// # Safety
        ///
        /// The arguments and the grid are as [`grid::unique()`] wants them, and no other launch uses
        /// `words` or `state` until this one has ended.
        #[kernel(max_threads = 256, min_blocks = $blocks)]
        pub unsafe fn $unique(
            input: Global<$element>,
            outputs: Outputs<$element>,
            words: Global<u64>,
            state: Global<u32>,
            rows: u32,
            group: u32,
        ) {
            grid::unique(input, outputs, Workspace { words, state }, rows, group);
        }

        // SAFETY: the kernel passes its arguments on to `grid::select` in the same order.
        #[cfg(not(target_arch = "nvptx64"))]
        unsafe impl Selectable for Within<$element> {
            type Element = $element;
            type Kernel = $select;

            fn arguments(
                self,
                (input, outputs, words, state, rows, group): Arguments<$element>,
            ) -> <$select as cuda_std::launch::Kernel>::Args {
                (input, outputs, words, state, rows, group, self)
            }

            fn is_kept(self, input: &[$element], index: usize) -> bool {
                grid::select::Predicate::keeps(self, input[index], index as u64)
            }
        }

        // SAFETY: the kernel passes its arguments on to `grid::unique` in the same order.
        #[cfg(not(target_arch = "nvptx64"))]
        unsafe impl Selectable for FirstOfRun<$element> {
            type Element = $element;
            type Kernel = $unique;

            fn arguments(
                self,
                common: Arguments<$element>,
            ) -> <$unique as cuda_std::launch::Kernel>::Args {
                common
            }

            fn is_kept(self, input: &[$element], index: usize) -> bool {
                index == 0 || input[index] != input[index - 1]
            }
        }
    )*};
}
// Four blocks of 8 warps on a multiprocessor leave a thread 64 registers, of which a tile takes 32;
// together they have 128 KiB of tiles in flight.
kernels! {
    4 on a multiprocessor;
    f32: select_f32 unique_f32;
    i32: select_i32 unique_i32;
    u32: select_u32 unique_u32;
}
// Elements of 8 bytes take some more.
kernels! {
    3 on a multiprocessor;
    f64: select_f64 unique_f64;
    i64: select_i64 unique_i64;
    u64: select_u64 unique_u64;
}
