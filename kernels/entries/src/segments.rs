//! Reductions of segments: a kernel for each line of [`operations!`](crate::operations) with
//! `segments`, and one that scatters the results, except for `[N]`. One for each line of
//! [`keyed_elements!`](crate::keyed_elements), which marks where the segments of equal keys start,
//! and one for segments that offsets delimit.

#[cfg(not(target_arch = "nvptx64"))]
use crate::Entry;
use crate::{ElementOf, OutputOf};
use cuda_std::launch::KernelArg;
use cuda_std::prelude::*;
use cuda_std::{bf16, f16};
use gridsync_kernels::grid::segments::{self, Scattered, mark_runs, mark_starts};
use gridsync_kernels::grid::{Workspace, reduce_segments};
use gridsync_kernels::op::{ArgMax, ArgMin, Carried, Max, Min, Operation, Sum};

/// The arguments, as in [`reduce_segments`]. An operation with a parameter comes after them.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Arguments<T> {
    /// The array.
    pub input: Global<T>,
    /// Where the segments start.
    pub starts: Global<u64>,
    /// The words of one accumulator for each segment.
    pub result: Global<u32>,
    /// The words of the workspace.
    pub words: Global<u64>,
    /// The state of the workspace.
    pub state: Global<u32>,
}

// SAFETY: `repr(C)` of views, which are the same on host and device.
unsafe impl<T: Scalar> KernelArg for Arguments<T> {}

impl<T: Scalar> Arguments<T> {
    /// Reduces each segment by `op`: [`reduce_segments`].
    #[device]
    pub fn reduce(self, op: impl Operation<Element = T>) {
        let workspace = Workspace { words: self.words, state: self.state };
        reduce_segments(op, self.input, self.starts, self.result, workspace);
    }
}

/// The common arguments of a reduction of segments by `O`.
pub type Common<O> = Arguments<ElementOf<O>>;

/// An operation that has a kernel for segments: a short name for bounds. On the host only.
#[cfg(not(target_arch = "nvptx64"))]
pub trait SegmentReducible: Operation + Entry<Common<Self>> {}

#[cfg(not(target_arch = "nvptx64"))]
impl<O: Operation + Entry<Common<O>>> SegmentReducible for O {}

macro_rules! kernel {
    (segments shared $row:tt) => {
        entry! { $row Common }
    };
    (segments [$blocks:literal] $row:tt) => {
        entry! { $row Common, reduce (prefix = "reduce_segments_", max_threads = 256, min_blocks = $blocks) "Reduces segments by", "grid::segments::reduce_segments" }
    };
    (segments $of_scan:literal $row:tt) => {
        kernel! { segments [4] $row }
    };
    (segments [$of_scan:literal reduce $blocks:literal] $row:tt) => {
        kernel! { segments [$blocks] $row }
    };
    ($primitive:ident $value:tt $row:tt) => {};
}
operations!(kernel);

/// The arguments of the kernels that scatter results, as in [`scatter()`](segments::scatter()).
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Scattering<A> {
    /// The words of one accumulator for each segment.
    pub results: Global<u32>,
    /// The index of each segment.
    pub indices: Scattered,
    /// The array with which they are combined.
    pub into: Global<A>,
}

// SAFETY: `repr(C)` of views, which are the same on host and device.
unsafe impl<A: Scalar> KernelArg for Scattering<A> {}

impl<A: Scalar + Carried> Scattering<A> {
    /// Combines by `op`: [`scatter()`](segments::scatter()).
    #[device]
    pub fn scatter(self, op: impl Operation<Accumulator = A, Output = A>) {
        segments::scatter(op, self.results, self.indices, self.into);
    }
}

/// The common arguments of a kernel that scatters the results of `O`.
pub type ScatterCommon<O> = Scattering<OutputOf<O>>;

/// An operation with kernels that reduce segments and scatter the results: a short name for bounds.
/// On the host only.
#[cfg(not(target_arch = "nvptx64"))]
pub trait Scatterable: SegmentReducible + Entry<ScatterCommon<Self>> {}

#[cfg(not(target_arch = "nvptx64"))]
impl<O: SegmentReducible + Entry<ScatterCommon<O>>> Scatterable for O {}

/// The kernels that scatter results.
pub mod scatter {
    use super::ScatterCommon;
    use cuda_std::prelude::*;
    use gridsync_kernels::op::{Max, Min, Sum};

    macro_rules! kernel {
        (segments shared $row:tt) => {
            entry! { $row ScatterCommon }
        };
        // Extremes with an index combine with no element of an array.
        (segments [$blocks:literal] $row:tt) => {};
        (segments $blocks:tt $row:tt) => {
            entry! { $row ScatterCommon, scatter (prefix = "scatter_", max_threads = 256) "Scatters results of", "grid::segments::scatter()" }
        };
        ($primitive:ident $value:tt $row:tt) => {};
    }
    operations!(kernel);
}

/// The arguments of the kernel that marks the starts of segments, as in [`mark_starts`].
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct MarkingStarts {
    /// Where the segments start.
    pub starts: Global<u64>,
    /// A bit for each element.
    pub marks: Global<u32>,
}

// SAFETY: `repr(C)` of views, which are the same on host and device.
unsafe impl KernelArg for MarkingStarts {}

impl MarkingStarts {
    /// Marks the starts: [`mark_starts`].
    #[device]
    pub fn mark(self, _: Starts) {
        mark_starts(self.starts, self.marks);
    }
}

/// The starts of segments: names the kernel that marks them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Starts;

impl Starts {
    /// Of any segments.
    #[inline(always)]
    #[must_use]
    pub const fn new() -> Self {
        Self
    }
}

entry! { @ mark_starts_of_segments Starts [] MarkingStarts, mark (max_threads = 256) "Marks", "grid::segments::mark_starts" }

/// The arguments of the kernels that mark runs, as in [`mark_runs`].
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Marking<T> {
    /// The keys.
    pub keys: Global<T>,
    /// A bit for each key.
    pub marks: Global<u32>,
    /// 1 if adjacent NaNs form one run, 0 if each is its own.
    pub joins_nans: u32,
}

// SAFETY: `repr(C)` of views and a number, which are the same on host and device.
unsafe impl<T: Scalar> KernelArg for Marking<T> {}

impl<T: Scalar + PartialEq> Marking<T> {
    /// Marks the runs: [`mark_runs`].
    #[device]
    pub fn mark(self, _of: Runs<T>) {
        mark_runs(self.keys, self.marks, self.joins_nans != 0);
    }
}

/// Runs of equal keys of type `T`: names their kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Runs<T>(core::marker::PhantomData<fn(T)>);

impl<T> Runs<T> {
    /// Of keys of `T`.
    #[inline(always)]
    #[must_use]
    pub const fn new() -> Self {
        Self(core::marker::PhantomData)
    }
}

macro_rules! marks {
    // Equal integers have equal bits, signed or unsigned.
    ($ty:ident, as $twin:ident) => {
        entry! { @ Runs<$ty> as Runs<$twin>, Marking<$ty> as Marking<$twin> }
    };
    ($ty:ident, $kernel:ident) => {
        entry! { @ $kernel Runs<$ty> [] Marking<$ty>, mark (max_threads = 256) "Marks", "grid::segments::mark_runs" }
    };
}
keyed_elements!(marks);
