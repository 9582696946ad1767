//! Selections: two kernels for each line of [`selected_elements!`](crate::selected_elements).

#[cfg(not(target_arch = "nvptx64"))]
use crate::Entry;
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
    pub fn unique(self, _by: FirstOfRun<T>)
    where
        T: PartialEq,
    {
        grid::unique(self.input, self.outputs, self.workspace(), self.rows, self.group);
    }
}

/// Which elements a selection keeps, on the CPU: every [`Predicate`] says so.
pub trait Selection: Copy + Send + Sync + 'static {
    /// The type of the elements.
    type Element: Scalar;

    /// Whether the kernel keeps element `index` of `input`.
    ///
    /// # Panics
    /// If `input` has no element `index`.
    fn is_kept(self, input: &[Self::Element], index: usize) -> bool;
}

impl<P: Predicate> Selection for P {
    type Element = P::Element;

    fn is_kept(self, input: &[P::Element], index: usize) -> bool {
        self.keeps(input[index], index as u64)
    }
}

/// A selection that has a kernel: a short name for bounds. On the host only.
#[cfg(not(target_arch = "nvptx64"))]
pub trait Selectable: Selection + Entry<Arguments<<Self as Selection>::Element>> {}

#[cfg(not(target_arch = "nvptx64"))]
impl<S: Selection + Entry<Arguments<S::Element>>> Selectable for S {}

/// Selects the first of each run of equal elements: see [`grid::unique()`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FirstOfRun<T>(core::marker::PhantomData<fn(T)>);

impl<T> FirstOfRun<T> {
    /// Selects from elements of `T`.
    #[inline(always)]
    #[must_use]
    pub const fn new() -> Self {
        Self(core::marker::PhantomData)
    }
}

impl<T: Scalar + PartialEq> Selection for FirstOfRun<T> {
    type Element = T;

    fn is_kept(self, input: &[T], index: usize) -> bool {
        index == 0 || input[index] != input[index - 1]
    }
}

macro_rules! kernels {
    ($ty:ident, $select:ident $blocks:literal, $unique:ident $($of_unique:tt)+) => {
        entry! { @ $select Within<$ty> [predicate] Arguments<$ty>, select (max_threads = 256, min_blocks = $blocks) "Selects by", "grid::select()" }
        kernels! { @ $ty $unique $($of_unique)+ }
    };
    (@ $ty:ident $unique:ident $blocks:literal) => {
        entry! { @ $unique FirstOfRun<$ty> [] Arguments<$ty>, unique (max_threads = 256, min_blocks = $blocks) "Selects by", "grid::unique()" }
    };
    // Equal integers have equal bits, signed or unsigned.
    (@ $ty:ident $unique:ident as $twin:ident) => {
        entry! { @ FirstOfRun<$ty> as FirstOfRun<$twin>, Arguments<$ty> as Arguments<$twin> }
    };
}
selected_elements!(kernels);
