//! Overlapping a grid with the previous one: programmatic dependent launch (CUDA programming guide;
//! PTX ISA, "griddepcontrol"; compute capability 9.0).
//!
//! Grids of one stream run in order. A grid that was launched to overlap may start while the
//! previous grid still runs. Work that does not depend on that grid, such as computing indices and
//! loading constants, is then off the critical path. [`wait_for_previous`] keeps the order where it
//! matters.
//!
//! In the emulator grids overlap if it is concurrent (`EmulatorConfig::concurrent` of `gridsync`, which
//! a `Check` sets). Otherwise both functions do nothing.

use crate::backend::dependent as backend;
use cuda_std_macros::instruction;

/// Waits until the previous grid has ended, and makes its memory accesses visible to this grid:
/// `griddepcontrol.wait`. Does nothing in a grid that was not launched to overlap.
///
/// Every thread must call it before it reads what the previous grid wrote, or writes memory that
/// the previous grid uses. At least one thread must call it in any case. Otherwise this grid may
/// end before the previous one, and the grid *after* it then waits only for this one.
#[instruction]
pub fn wait_for_previous() {
    backend::wait();
}

/// Lets the next grid of the stream start, if it was launched to overlap, as soon as every block of
/// this one has called this or ended: `griddepcontrol.launch_dependents`. Without this call the
/// next grid starts when all blocks of this one have ended.
///
/// This does not order memory: the next grid sees the writes of this one after its own
/// [`wait_for_previous`]. One thread per block is enough; more have no further effect. By then
/// every block of this grid has started, so the next grid does not use resources that this one
/// needs.
#[instruction]
pub fn let_next_start() {
    backend::launch_dependents();
}
