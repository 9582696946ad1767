//! X→P→X in one launch ("single kernel launch"), with each grid barrier that is worth comparing.

use super::transform;
use crate::barrier::{
    FlipBarrier, GenerationBarrier, GrowingBarrier, LockFreeBarrier, Ptx, TreeBarrier, Volatile,
};
use cuda_std::prelude::*;
use gridsync_kernels::grid::barrier::{Barrier, GridBarrier};

macro_rules! kernels {
    ($($design:ty: $kernel:ident;)*) => {$(
        #[doc = concat!("X→P→X, `rounds` times in one launch with a [`", stringify!($design), "`].")]
        ///
        /// # Safety
        ///
        /// `x` and `p` do not overlap and have the same length, at least 1; `barrier` has the words
        /// of the design ([`Barrier::words`]); all blocks are co-resident.
        #[kernel(cooperative)]
        pub unsafe fn $kernel(x: Global<f32>, p: Global<f32>, barrier: Global<u32>, rounds: u32) {
            transform(x, p, <$design>::attach(barrier), rounds);
        }

        // SAFETY: the kernel crosses the barrier, and accesses only the barrier's words, `x` and
        // `p`.
        #[cfg(not(target_arch = "nvptx64"))]
        unsafe impl Transforms for $design {
            type Xpx = $kernel;
        }
    )*};
}
kernels! {
    GridBarrier: xpx_grid_barrier_alone;
    FlipBarrier: xpx_flip_barrier;
    GrowingBarrier<Volatile>: xpx_growing_volatile_barrier;
    GrowingBarrier<Ptx>: xpx_growing_ptx_barrier;
    GenerationBarrier: xpx_generation_barrier;
    LockFreeBarrier: xpx_lock_free_barrier;
    TreeBarrier: xpx_tree_barrier;
}

/// A barrier with a kernel that transforms X→P→X with it. Host only.
///
/// # Safety
///
/// A safe function launches the kernel. The kernel accesses only the memory of its arguments, and
/// only the [`words`](Barrier::words) of the barrier's memory.
#[cfg(not(target_arch = "nvptx64"))]
pub unsafe trait Transforms: Barrier {
    /// The kernel: `(x, p, barrier, rounds)`.
    type Xpx: cuda_std::launch::Kernel<Args = (Global<f32>, Global<f32>, Global<u32>, u32)>;
}
