//! The paths through the code of one thread.

mod live;
mod value;
mod walk;

pub(crate) use live::written;
pub(crate) use value::{Constraint, Value};
pub(crate) use walk::paths;

use std::collections::BTreeMap;

use crate::instruction::{Access, FenceOrder, Location, Register, Scope};

/// One path through the code of a thread.
#[derive(Clone, Debug)]
pub(crate) struct Path {
    /// Its operations on memory, in program order.
    pub(crate) steps: Vec<Step>,
    /// The conditions under which it is taken.
    pub(crate) constraints: Vec<Constraint>,
    /// The registers at its end.
    pub(crate) registers: BTreeMap<Register, Value>,
    /// How it ends.
    pub(crate) end: End,
}

/// How a path ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// The thread ends.
    Finished,
    /// The thread spins forever. The last steps are two iterations of the spin.
    Spinning,
    /// The thread waits forever at the barrier in the last step.
    Blocked,
}

/// An operation of a thread other than on its registers.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    pub(crate) action: Action,
    /// 1 and 2 in the two iterations that represent an endless spin, otherwise 0.
    pub(crate) round: u8,
    /// In the second iteration, the step of the first one that this one repeats.
    pub(crate) repeats: Option<usize>,
}

/// Operation of a step.
#[derive(Clone, Debug)]
pub(crate) enum Action {
    Read {
        from: Location,
        access: Access,
        /// The read of a `red`, whose value is discarded.
        reduction: bool,
    },
    Write {
        to: Location,
        value: Value,
        access: Access,
        /// Whether the step before it is the read of the same atomic.
        atomic: bool,
    },
    Fence {
        order: FenceOrder,
        scope: Scope,
    },
    Barrier {
        wait: bool,
        id: Value,
        count: Option<Value>,
    },
}
