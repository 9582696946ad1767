//! The position of a thread (PTX ISA, "Special Registers"), and the barrier of its block.

use crate::dim::Dim3;
use core::arch::nvptx;

macro_rules! special_registers {
    ($($name:ident: $x:ident $y:ident $z:ident;)*) => {$(
        #[inline(always)]
        pub(crate) fn $name() -> Dim3 {
            // SAFETY: reads special registers.
            unsafe { Dim3::new(nvptx::$x() as u32, nvptx::$y() as u32, nvptx::$z() as u32) }
        }
    )*};
}
special_registers! {
    thread_idx: _thread_idx_x _thread_idx_y _thread_idx_z;
    block_idx: _block_idx_x _block_idx_y _block_idx_z;
    block_dim: _block_dim_x _block_dim_y _block_dim_z;
    grid_dim: _grid_dim_x _grid_dim_y _grid_dim_z;
}

unsafe extern "C" {
    #[link_name = "llvm.nvvm.barrier.cta.sync.aligned.all"]
    fn barrier_sync(id: u32);
    #[link_name = "llvm.nvvm.barrier.cta.red.popc.aligned.all"]
    fn barrier_red_popc(id: u32, predicate: bool) -> u32;
    #[link_name = "llvm.nvvm.barrier.cta.red.and.aligned.all"]
    fn barrier_red_and(id: u32, predicate: bool) -> bool;
    #[link_name = "llvm.nvvm.barrier.cta.red.or.aligned.all"]
    fn barrier_red_or(id: u32, predicate: bool) -> bool;
}

#[inline(always)]
pub(crate) fn branch(condition: bool) -> bool {
    condition
}

#[inline(always)]
pub(crate) fn barrier() {
    // SAFETY: a convergent intrinsic without operands in memory.
    unsafe { barrier_sync(0) }
}

#[inline(always)]
pub(crate) fn barrier_count(predicate: bool) -> u32 {
    // SAFETY: a convergent intrinsic without operands in memory.
    unsafe { barrier_red_popc(0, predicate) }
}

#[inline(always)]
pub(crate) fn barrier_and(predicate: bool) -> bool {
    // SAFETY: a convergent intrinsic without operands in memory.
    unsafe { barrier_red_and(0, predicate) }
}

#[inline(always)]
pub(crate) fn barrier_or(predicate: bool) -> bool {
    // SAFETY: a convergent intrinsic without operands in memory.
    unsafe { barrier_red_or(0, predicate) }
}

#[inline(always)]
pub(crate) fn trap(_message: &str) -> ! {
    // SAFETY: ends the grid with an error.
    unsafe { nvptx::trap() }
}

/// Always true: on the device, the hardware schedules the other threads.
#[inline(always)]
pub(crate) fn spin() -> bool {
    true
}
