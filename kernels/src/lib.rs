//! The device library of gridsync: barriers, reductions, scans and selections over a whole grid, to
//! call from your own kernels.
//!
//! The folders follow the thread hierarchy: [`warp`], [`block`], [`grid`]. [`op`] has the
//! operations. This crate has no kernels, so your image contains only what you call.
//!
//! The crate depends only on `cuda_std`. Compiled for nvptx64 it is PTX; compiled for the host it
//! runs in the emulator.
//!
//! ```
//! use gridsync_kernels::prelude::*;
//!
//! /// Adds up `numbers`: a part in each block, and all parts after a grid barrier.
//! ///
//! /// # Safety
//! /// `parts` has an element for each block and `total` one; the words of the barrier are 0.
//! #[kernel(cooperative)]
//! pub unsafe fn add_up(
//!     numbers: Global<f32>,
//!     parts: Global<f32>,
//!     total: Global<f32>,
//!     barrier: Global<u32>,
//! ) {
//!     let mut barrier = GridBarrier::attach(barrier);
//!     let own = (thread::index()..numbers.len()).step_by(thread::thread_count());
//!     let part = block::reduce(Sum::<f32>::new(), own.map(|i| numbers.read(i)).sum());
//!     if thread::is_first_in_block() {
//!         parts.write(thread::block_index(), part);
//!     }
//!     barrier.sync();
//!     if thread::first() {
//!         total.write(0, (0..parts.len()).map(|i| parts.read(i)).sum());
//!     }
//! }
//! ```

#![cfg_attr(target_arch = "nvptx64", no_std, feature(asm_experimental_arch))]

pub mod block;
pub mod grid;
pub mod op;
pub mod warp;

/// The items that most kernels need: the prelude of `cuda_std`, the operations of a block's
/// threads, the barrier and the exchange of the whole grid, and the usual operations.
///
/// `warp` is that of `cuda_std`, with the instructions. The reductions and scans of a warp are in
/// [`crate::warp`].
pub mod prelude {
    pub use crate::block;
    pub use crate::grid::barrier::{Barrier, Exchange, GridBarrier};
    pub use crate::op::{Max, Min, Operation, Product, Sum};
    pub use cuda_std::prelude::*;
}
