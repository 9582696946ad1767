//! A grid and the next one: programmatic dependent launch (CUDA programming guide; PTX ISA,
//! "griddepcontrol"; compute capability 9.0).
//!
//! Grids of one stream run one after the other. A grid that was launched to overlap may start while
//! the grid before it still runs. Work that does not depend on that grid, such as finding its place
//! and loading constants, is then off the critical path. [`wait_for_previous`] keeps the order
//! where it matters.
//!
//! In the emulator grids always run one after the other, and both functions do nothing.

use crate::backend::dependent as backend;
use cuda_std_macros::instruction;

/// Waits until the grid launched before this one has ended, and makes its memory accesses visible
/// to this grid: `griddepcontrol.wait`. Does nothing in a grid that was not launched to overlap.
///
/// Every thread must call it before it reads what the grid before wrote, or writes what that grid
/// uses. At least one thread must call it in any case. Otherwise this grid may end before the grid
/// before it, and the grid *after* it then waits only for this one.
#[instruction]
pub fn wait_for_previous() {
    backend::wait();
}

/// Lets the next grid of the stream start, if it was launched to overlap, as soon as every block of
/// this one has called this or ended: `griddepcontrol.launch_dependents`. Without this call the
/// next grid starts when all blocks of this one have ended.
///
/// It says nothing about memory: the next grid sees what this one wrote after its own
/// [`wait_for_previous`]. One thread of a block is enough; more have no further effect. By then
/// every block of this grid has started, so the next grid takes no room that this one needs.
#[instruction]
pub fn let_next_start() {
    backend::launch_dependents();
}
