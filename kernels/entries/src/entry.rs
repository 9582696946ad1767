//! Which kernel runs for an operation or a selection, and with which arguments. On the host only.

use cuda_std::launch::Kernel;
use gridsync_kernels::op::{Finish, Mean, Operation, Then, Total};

/// An operation or a selection that has a kernel for the common arguments `C`.
///
/// The type of `C` names the primitive: [`reduce::Arguments`](crate::reduce::Arguments) for a
/// reduction, [`scan::Arguments`](crate::scan::Arguments) for a scan, and so on.
///
/// # Safety
///
/// Safe methods of the host library launch the kernel. With the arguments that
/// [`arguments`](Self::arguments) builds from `common`, it does only what the library function
/// named in the documentation of `C` does with `self` and `common`. The usual kernel is only that
/// call.
///
/// ```compile_fail,E0200
/// struct Mine;
/// impl gridsync_entries::Entry<()> for Mine {} // It needs `unsafe impl`.
/// ```
pub unsafe trait Entry<C> {
    /// The kernel.
    type Kernel: Kernel;

    /// The arguments of the launch: `common`, and `self` if the kernel has it as a parameter.
    fn arguments(self, common: C) -> <Self::Kernel as Kernel>::Args;
}

/// The kernel of `O` for the common arguments `C`.
pub type KernelOf<O, C> = <O as Entry<C>>::Kernel;

/// The name of that kernel, unless there is [none](NoKernel).
#[must_use]
pub fn name_of<O: Entry<C>, C>() -> Option<&'static str> {
    let name = O::Kernel::NAME;
    (name != NoKernel::NAME).then_some(name)
}

/// A placeholder for a kernel that an operation need not have, such as the one with bulk copies.
/// It is never launched.
pub struct NoKernel;

impl Kernel for NoKernel {
    const NAME: &'static str = "no kernel";
    const COOPERATIVE: bool = false;
    type Args = ();

    unsafe fn run((): ()) {
        unreachable!("{}", Self::NAME)
    }
}

// SAFETY: the kernel combines as the sum does, and a mean has the same accumulators as its sum.
unsafe impl<C, O: Entry<C> + Operation<Output: Total>> Entry<C> for Mean<O> {
    type Kernel = O::Kernel;

    fn arguments(self, common: C) -> <O::Kernel as Kernel>::Args {
        self.sum().arguments(common)
    }
}

// SAFETY: the kernel combines as `O` does, and both have the same accumulators.
unsafe impl<C, O: Entry<C> + Operation, F: Finish<O>> Entry<C> for Then<O, F> {
    type Kernel = O::Kernel;

    fn arguments(self, common: C) -> <O::Kernel as Kernel>::Args {
        self.op().arguments(common)
    }
}

/// The same bytes, as the type of a twin.
///
/// # Safety
///
/// The types have the same layout: both are `repr(C)` or empty, and differ only in the element type
/// of views and operations, signed or unsigned.
pub(crate) unsafe fn as_twin<A: Copy, B: Copy>(value: A) -> B {
    const { assert!(size_of::<A>() == size_of::<B>()) };
    // SAFETY: the caller vouches for the layout, and every bit pattern of one is valid in the other.
    unsafe { core::mem::transmute_copy(&value) }
}
