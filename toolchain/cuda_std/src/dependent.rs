//! A grid and the one that is launched after it: programmatic dependent launch (CUDA programming
//! guide; PTX ISA, "griddepcontrol"; compute capability 9.0).
//!
//! Grids of one stream run one after the other. A grid that was launched to overlap may start
//! earlier, while the grid before it still runs: what does not depend on that grid, such as finding
//! its place and loading its own constants, is then off the critical path. It keeps the order where
//! the order matters by [`wait_for_previous`].
//!
//! In the emulator grids run one after the other in any case, and both functions do nothing.

use crate::backend::dependent as backend;
use cuda_std_macros::device;

/// Waits until the grid launched before this one has ended, and makes what it did in memory visible
/// to this grid: `griddepcontrol.wait`. In a grid that was not launched to overlap it does nothing.
///
/// Every thread that reads what the grid before wrote, or writes what that grid uses, must call it
/// first. At least one thread must call it in any case: a grid that ends without it may end before
/// the grid before it, and then the grid *after* it waits for nothing but this one.
#[device]
pub fn wait_for_previous() {
    backend::wait();
}

/// Lets the next grid of the stream start, if it was launched to overlap, as soon as every block of
/// this one has called this or ended: `griddepcontrol.launch_dependents`. Without this call the next
/// grid starts when all blocks of this one have ended.
///
/// It says nothing about memory: the next grid sees what this one wrote after its own
/// [`wait_for_previous`]. One thread of a block is enough; more have no further effect. By then every
/// block of this grid has started, so that the next grid takes no room that this one still needs.
#[device]
pub fn let_next_start() {
    backend::launch_dependents();
}
