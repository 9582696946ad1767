//! Errors in a graph or a plan.

use std::ops::Range;
use thiserror::Error;

/// Why a [`Dag`](super::Dag) cannot be run.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum DagError {
    /// Nodes wait for each other in a cycle.
    #[error(
        "the graph has a cycle: {}; remove one of these edges",
        path(.0)
    )]
    Cycle(Vec<String>),
    /// A node comes after one that is not in the graph.
    #[error("`{node}` comes after node number {missing}, but there are {count} nodes")]
    NoSuchNode {
        /// The node.
        node: String,
        /// The missing node's number.
        missing: usize,
        /// Number of nodes.
        count: usize,
    },
    /// Two nodes access the same memory, at least one of them writes it, and no path of edges leads
    /// from one to the other.
    #[error(
        "`{one}` and `{other}` are not ordered, but both access bytes {:#x} to {:#x}, which `{writer}` \
         writes: add an edge between them",
        .bytes.start, .bytes.end
    )]
    Unordered {
        /// One node.
        one: String,
        /// The other node.
        other: String,
        /// The node that writes.
        writer: String,
        /// The bytes that both access.
        bytes: Range<u64>,
    },
    /// A node has no parts, or too many.
    #[error("`{node}` has {parts} parts: a node has 1 to {} parts", super::graph::MOST_PARTS)]
    Parts {
        /// The node.
        node: String,
        /// Number of its parts.
        parts: u32,
    },
    /// A node uses values of its inputs that they do not have, or more than a task has room for.
    #[error("`{node}` uses the values of its inputs, but {why}")]
    NoValue {
        /// The node.
        node: String,
        /// The reason.
        why: String,
    },
}

/// Why a [`Plan`](super::Plan) is refused. Each variant names the path that fails.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PlanError {
    /// Not all blocks can be resident at once.
    #[error(
        "the plan is for {blocks} blocks, but only {resident} can be resident at once: the others would \
         never start; plan for at most {resident}"
    )]
    NotResident {
        /// The blocks of the plan.
        blocks: usize,
        /// The blocks that fit.
        resident: u64,
    },
    /// A part of a node is missing from the plan, or occurs twice.
    #[error("part {part} of `{node}` appears {times} times in the plan; it must appear once")]
    NotOnce {
        /// The node.
        node: String,
        /// Its part.
        part: u32,
        /// Number of occurrences.
        times: usize,
    },
    /// A task refers to a node, a part or a join that does not exist.
    #[error("block {block} has {what} at index {place}, which does not exist")]
    NoSuchTask {
        /// The block.
        block: usize,
        /// The index in its list.
        place: usize,
        /// The task's contents.
        what: String,
    },
    /// A task waits for a signal that is never sent.
    #[error("{waiter} waits {how}, but {reason}: it would wait forever")]
    NoSignal {
        /// The task that waits.
        waiter: String,
        /// The signal it waits for.
        how: String,
        /// Why the signal is never sent.
        reason: String,
    },
    /// A task reads a value that is not in the block's memory.
    #[error("{waiter} reads the value of `{of}` from its block, but {reason}")]
    NotKept {
        /// The task.
        waiter: String,
        /// The node that computes the value.
        of: String,
        /// Why it is not there.
        reason: String,
    },
    /// Tasks wait for each other in a cycle.
    #[error("the plan deadlocks: {}", path(.0))]
    LocksUp(Vec<String>),
    /// The blocks have different numbers of barriers.
    #[error(
        "block {block} has {count} barriers and block 0 has {first}: all blocks must cross every barrier"
    )]
    Barriers {
        /// A block.
        block: usize,
        /// Number of its barriers.
        count: usize,
        /// Number of barriers of block 0.
        first: usize,
    },
    /// A node may start before one of its dependencies has ended.
    #[error("`{node}` depends on `{on}`, but no path of the plan makes it wait for that")]
    Unordered {
        /// The node.
        node: String,
        /// The dependency.
        on: String,
    },
    /// A node may not see the writes of another.
    #[error(
        "`{reader}` uses memory after `{writer}`, but no path of the plan makes it visible: an edge \
         on the way carries only a value"
    )]
    Invisible {
        /// The node that uses the memory later.
        reader: String,
        /// The node that uses it first.
        writer: String,
    },
    /// A task has more inputs than fit in a record.
    #[error("{task} has {count} inputs, but a task has at most {most}: insert joins")]
    TooManyInputs {
        /// The task.
        task: String,
        /// Number of its inputs.
        count: usize,
        /// The limit.
        most: usize,
    },
    /// A node that uses values gets the wrong ones, or in the wrong order.
    #[error("{task} needs the value of `{expected}` as input {at}, but the plan gives it {given}")]
    WrongInput {
        /// The task.
        task: String,
        /// Index of the input.
        at: usize,
        /// The node whose value it needs.
        expected: String,
        /// The input that it would get.
        given: String,
    },
}

/// `a waits for b, b waits for a`.
fn path(cycle: &[String]) -> String {
    let next = cycle.iter().cycle().skip(1);
    let steps: Vec<_> =
        cycle.iter().zip(next).map(|(one, other)| format!("{one} waits for {other}")).collect();
    steps.join(", ")
}
