//! What the scheduler shares with the steps of blocks.

use crate::quiet::Quiet;
use crate::stack::Pool;
use crate::world::World;

/// The parts of the launch that a step uses, and the counters that it updates.
pub(crate) struct Machine<'a> {
    pub(crate) world: &'a World<'a>,
    pub(crate) quiet: Quiet,
    pub(crate) switches: u64,
    pub(crate) barriers: u64,
    pub(crate) cluster_barriers: u64,
    pub(crate) collectives: u64,
    /// A stack overflowed: no fiber may run any more, not even to unwind.
    pub(crate) damaged: bool,
    pub(crate) pool: Pool,
}

/// Outcome of a warp's step.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Step {
    /// A lane spun or slept, so another warp should run next.
    pub(crate) hand_over: bool,
    /// The block barrier opened: other warps can run.
    pub(crate) released: bool,
    /// The cluster barrier opened: the threads that wait at it must be released.
    pub(crate) cluster_opened: bool,
    /// A lane reached a barrier or exited.
    pub(crate) met: bool,
    /// A lane let dependent grids start, and its block had not.
    pub(crate) triggered: bool,
}
