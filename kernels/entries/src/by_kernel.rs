//! Operations of the library by kernels of another crate. On the host only.

use crate::Entry;
use core::marker::PhantomData;
use cuda_std::launch::Kernel;
use gridsync_kernels::op::Operation;

/// The operation `O` by the kernel `K`, whose parameters are the common arguments and then, unless
/// it has the operation as a constant, the operation.
///
/// A crate cannot implement [`Entry`] for a type of the library, such as a pair of operations: it
/// launches its kernel by this type.
pub struct ByKernel<O, K> {
    op: O,
    kernel: PhantomData<fn(K)>,
}

impl<O, K> ByKernel<O, K> {
    /// `op`, by `K`.
    ///
    /// # Safety
    ///
    /// As for an [`Entry`] of `O` whose kernel is `K`: it does only what the library function named
    /// in the documentation of its argument does with `op`.
    #[must_use]
    pub const unsafe fn new(op: O) -> Self {
        Self { op, kernel: PhantomData }
    }
}

impl<O: Copy, K> Clone for ByKernel<O, K> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<O: Copy, K> Copy for ByKernel<O, K> {}

impl<O: Operation, K: Kernel> Operation for ByKernel<O, K> {
    type Element = O::Element;
    type Accumulator = O::Accumulator;
    type Output = O::Output;
    const COMMUTATIVE: bool = O::COMMUTATIVE;
    const EXACT: bool = O::EXACT;
    const LONG: bool = O::LONG;
    const NEEDS_LEN: bool = O::NEEDS_LEN;

    fn identity(self) -> O::Accumulator {
        self.op.identity()
    }

    fn lift(self, element: O::Element, index: u64) -> O::Accumulator {
        self.op.lift(element, index)
    }

    fn combine(self, a: O::Accumulator, b: O::Accumulator) -> O::Accumulator {
        self.op.combine(a, b)
    }

    fn take(self, all: O::Accumulator, element: O::Element, index: u64) -> O::Accumulator {
        self.op.take(all, element, index)
    }

    fn before(self, before: O::Accumulator, index: u64) -> O::Accumulator {
        self.op.before(before, index)
    }

    fn finish(self, all: O::Accumulator) -> O::Output {
        self.op.finish(all)
    }

    fn finish_of(self, all: O::Accumulator, len: u64) -> O::Output {
        self.op.finish_of(all, len)
    }
}

/// The arguments of a kernel for the common arguments `C` and the operation `O`.
pub trait ArgsOf<C, O> {
    /// The arguments.
    fn of(common: C, op: O) -> Self;
}

impl<C, O> ArgsOf<C, O> for (C,) {
    fn of(common: C, _op: O) -> Self {
        (common,)
    }
}

impl<C, O> ArgsOf<C, O> for (C, O) {
    fn of(common: C, op: O) -> Self {
        (common, op)
    }
}

// SAFETY: whoever constructed the operation vouches for its kernel.
unsafe impl<C, O: Operation, K: Kernel<Args: ArgsOf<C, O>>> Entry<C> for ByKernel<O, K> {
    type Kernel = K;

    fn arguments(self, common: C) -> K::Args {
        K::Args::of(common, self.op)
    }
}
