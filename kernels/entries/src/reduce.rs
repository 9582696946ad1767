//! Reductions of an array: one kernel per line of [`operations!`](crate::operations) with `reduce`.

use crate::ElementOf;
#[cfg(not(target_arch = "nvptx64"))]
use crate::Entry;
use cuda_std::launch::KernelArg;
use cuda_std::prelude::*;
use cuda_std::{bf16, f16};
use gridsync_kernels::grid::{self, Workspace};
use gridsync_kernels::op::{
    And, ArgMax, ArgMin, CompensatedSum, Compose, Count, Describe, LogSumExp, Max, Min, Operation,
    Or, PeakToPeak, Product, ProductModulo, SkipNan, Sum, SumOfMagnitudes, SumOfSquares, Variance,
    WideSum, Xor,
};

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
    /// Reduces with `op`: [`grid::reduce()`].
    #[device]
    pub fn reduce(self, op: impl Operation<Element = T>) {
        let workspace = Workspace { words: self.words, state: self.state };
        grid::reduce(op, self.input, workspace, self.result, self.runs);
    }
}

/// The common arguments of a reduction by `O`.
pub type Common<O> = Arguments<ElementOf<O>>;

/// An operation that has a reduction kernel: a short name for bounds. On the host only.
#[cfg(not(target_arch = "nvptx64"))]
pub trait Reducible: Operation + Entry<Common<Self>> {}

#[cfg(not(target_arch = "nvptx64"))]
impl<O: Operation + Entry<Common<O>>> Reducible for O {}

macro_rules! kernel {
    (reduce shared $row:tt) => {
        entry! { $row Common }
    };
    (reduce [registers $most:literal] $row:tt) => {
        kernel! { @ (max_registers = $most) $row }
    };
    (reduce $blocks:literal $row:tt) => {
        kernel! { @ (min_blocks = $blocks) $row }
    };
    (@ ($limit:ident = $number:literal) $row:tt) => {
        entry! { $row Common, reduce (prefix = "reduce_", max_threads = 512, $limit = $number) "Reduces by", "grid::reduce()" }
    };
    ($primitive:ident $value:tt $row:tt) => {};
}
operations!(kernel);
