//! The ways through the code of one thread.

mod live;
mod value;
mod walk;

pub(crate) use live::written;
pub(crate) use value::{Constraint, Value};
pub(crate) use walk::paths;

use std::collections::BTreeMap;

use crate::instruction::{Access, FenceOrder, Location, Register, Scope};

/// One way through the code of a thread.
#[derive(Clone, Debug)]
pub(crate) struct Path {
    /// What it does to memory, in program order.
    pub(crate) steps: Vec<Step>,
    /// What has to hold for it to be taken.
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
    /// The thread spins for ever. The last steps are two rounds of the spin.
    Spinning,
    /// The thread waits for ever at the barrier that is the last step.
    Blocked,
}

/// Something that a thread does, other than with its registers.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    pub(crate) action: Action,
    /// 1 and 2 in the first and second of the two rounds that stand for an endless spin, else 0.
    pub(crate) round: u8,
    /// In the second round, the step of the first round that this one repeats.
    pub(crate) repeats: Option<usize>,
}

/// What a step is.
#[derive(Clone, Debug)]
pub(crate) enum Action {
    Read {
        from: Location,
        access: Access,
        /// The read of a `red`, whose value goes nowhere.
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
