//! The position of a thread in its grid, the barrier of its block, and fences.
//!
//! | function | called by | what it orders |
//! |---|---|---|
//! | `*_idx`, `*_dim`, `index`, … | anyone | nothing |
//! | [`sync_threads`] and its votes | every thread of the block | all memory accesses, within the block |
//! | [`block_fence`], [`device_fence`], [`system_fence`], [`fence`] | anyone | the caller's accesses, as far as the scope reaches |

use crate::backend;
use crate::dim::Dim3;
use crate::memory::{Ordering, Scope};
use cuda_std_macros::instruction;

macro_rules! positions {
    ($($what:literal $name:ident $x:ident $y:ident $z:ident;)*) => {$(
        positions!(@ $what, "", Dim3, $name, backend::thread::$name());
        positions!(@ $what, ", along x", u32, $x, backend::thread::$name().x);
        positions!(@ $what, ", along y", u32, $y, backend::thread::$name().y);
        positions!(@ $what, ", along z", u32, $z, backend::thread::$name().z);
    )*};
    (@ $what:literal, $along:literal, $ty:ty, $name:ident, $value:expr) => {
        #[doc = concat!($what, $along, ".")]
        #[instruction]
        pub fn $name() -> $ty {
            $value
        }
    };
}
positions! {
    "The position of the thread in its block" thread_idx thread_idx_x thread_idx_y thread_idx_z;
    "The position of the block in the grid" block_idx block_idx_x block_idx_y block_idx_z;
    "The shape of a block, in threads" block_dim block_dim_x block_dim_y block_dim_z;
    "The shape of the grid, in blocks" grid_dim grid_dim_x grid_dim_y grid_dim_z;
}

/// The linear index of the thread in its block, x fastest.
#[instruction]
pub fn index_in_block() -> usize {
    in_32_bits::index_in_block() as usize
}

/// The linear index of the block in the grid, x fastest.
#[instruction]
pub fn block_index() -> usize {
    grid_dim().linear(block_idx()) as usize
}

/// The linear index of the thread in the grid: blocks in linear order, and threads in linear order
/// within each block.
#[instruction]
pub fn index() -> usize {
    block_index() * in_32_bits::threads_per_block() as usize + in_32_bits::index_in_block() as usize
}

/// The number of threads in a block.
#[instruction]
pub fn threads_per_block() -> usize {
    in_32_bits::threads_per_block() as usize
}

/// The number of blocks in the grid.
#[instruction]
pub fn block_count() -> usize {
    grid_dim().volume() as usize
}

/// The number of threads in the grid.
#[instruction]
pub fn thread_count() -> usize {
    block_count() * in_32_bits::threads_per_block() as usize
}

/// Whether this is the first thread of its block.
#[instruction]
pub fn is_first_in_block() -> bool {
    in_32_bits::index_in_block() == 0
}

/// Whether this is the first thread of the grid.
#[instruction]
pub fn first() -> bool {
    index() == 0
}

/// Marks `condition` as that of a branch, and returns it: `if branch(x > 0) { … }`.
///
/// Does nothing on the device. With counting enabled, the emulator records at which of these
/// branches the lanes of a warp diverge. It cannot see unmarked branches.
#[instruction]
#[must_use]
pub fn branch(condition: bool) -> bool {
    backend::thread::branch(condition)
}

/// The block barrier: waits for all threads of the block, and makes each thread's earlier memory
/// accesses visible to all of them: `bar.sync 0` (`__syncthreads`).
///
/// Every thread of the block must call it, the same number of times. If some threads skip it in a
/// branch, it hangs on the device; the emulator reports it.
#[instruction]
pub fn sync_threads() {
    backend::thread::barrier();
}

/// [`sync_threads`] that also counts the threads whose `predicate` holds: `bar.red.popc`.
#[instruction]
pub fn sync_threads_count(predicate: bool) -> u32 {
    backend::thread::barrier_count(predicate)
}

/// [`sync_threads`] that also returns whether `predicate` held for all threads: `bar.red.and`.
#[instruction]
pub fn sync_threads_and(predicate: bool) -> bool {
    backend::thread::barrier_and(predicate)
}

/// [`sync_threads`] that also returns whether `predicate` held for any thread: `bar.red.or`.
#[instruction]
pub fn sync_threads_or(predicate: bool) -> bool {
    backend::thread::barrier_or(predicate)
}

/// Orders the caller's memory accesses before it against those after it, for the threads in
/// `scope`: `fence.acq_rel`, or `fence.sc` for `SeqCst`. `Relaxed` orders nothing and is free.
///
/// A fence does not wait for other threads. After a block barrier it also releases the writes of
/// the other threads of the block (cumulativity, PTX ISA, "Memory Consistency Model").
#[instruction]
pub fn fence(order: Ordering, scope: Scope) {
    backend::fence::fence(order, scope);
}

/// `fence.sc.cta`: CUDA's `__threadfence_block`.
#[instruction]
pub fn block_fence() {
    fence(Ordering::SeqCst, Scope::Block);
}

/// `fence.sc.gpu`: CUDA's `__threadfence`. If acquire and release are enough, [`fence`] with
/// `AcqRel` is cheaper.
#[instruction]
pub fn device_fence() {
    fence(Ordering::SeqCst, Scope::Device);
}

/// `fence.sc.sys`: CUDA's `__threadfence_system`.
#[instruction]
pub fn system_fence() {
    fence(Ordering::SeqCst, Scope::System);
}

/// 32-bit indices within a block, for gridsync's own kernels: 64-bit arithmetic needs more
/// registers.
#[doc(hidden)]
pub mod in_32_bits {
    use super::{block_dim, thread_idx};
    use cuda_std_macros::instruction;

    /// [`index_in_block`](super::index_in_block).
    #[instruction]
    pub fn index_in_block() -> u32 {
        block_dim().linear(thread_idx()) as u32
    }

    /// [`threads_per_block`](super::threads_per_block).
    #[instruction]
    pub fn threads_per_block() -> u32 {
        block_dim().volume() as u32
    }
}
