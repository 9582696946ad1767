//! What is wrong with a graph or a plan.

use std::ops::Range;
use thiserror::Error;

/// Why a [`Dag`](super::Dag) cannot be run.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum DagError {
    /// Nodes wait for each other in a circle.
    #[error(
        "the graph has a cycle: {}; take one of these edges away",
        path(.0)
    )]
    Cycle(Vec<String>),
    /// A node comes after one that is not in the graph.
    #[error("`{node}` comes after node number {missing}, and there are {count} nodes")]
    NoSuchNode {
        /// The node.
        node: String,
        /// The number that it names.
        missing: usize,
        /// How many nodes there are.
        count: usize,
    },
    /// Two nodes touch the same memory, at least one of them writes it, and no path of edges leads
    /// from one to the other.
    #[error(
        "`{one}` and `{other}` are in no order, and both touch bytes {:#x} to {:#x}, which `{writer}` \
         writes: add an edge between them",
        .bytes.start, .bytes.end
    )]
    Unordered {
        /// One of them.
        one: String,
        /// The other.
        other: String,
        /// The one that writes.
        writer: String,
        /// The bytes that both touch.
        bytes: Range<u64>,
    },
    /// A node has no parts, or too many.
    #[error("`{node}` has {parts} parts: a node has 1 to {} parts", super::graph::MOST_PARTS)]
    Parts {
        /// The node.
        node: String,
        /// How many parts it has.
        parts: u32,
    },
    /// A node takes values of its inputs that they do not have, or more than a task has room for.
    #[error("`{node}` takes the values of its inputs, but {why}")]
    NoValue {
        /// The node.
        node: String,
        /// The reason.
        why: String,
    },
}

/// Why a [`Plan`](super::Plan) is refused. Each names the path that fails.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PlanError {
    /// Not all blocks can be resident at once.
    #[error(
        "the plan is for {blocks} blocks, and {resident} can be resident at once: the others would \
         never start; plan for at most {resident}"
    )]
    NotResident {
        /// The blocks of the plan.
        blocks: usize,
        /// The blocks that fit.
        resident: u64,
    },
    /// A part of a node is not in the plan, or twice.
    #[error("part {part} of `{node}` is {times} times in the plan: it has to be there once")]
    NotOnce {
        /// The node.
        node: String,
        /// Its part.
        part: u32,
        /// How often it is there.
        times: usize,
    },
    /// A task is of a node, a part or a join that does not exist.
    #[error("block {block} has {what} at place {place}, and there is no such thing")]
    NoSuchTask {
        /// The block.
        block: usize,
        /// The place in its list.
        place: usize,
        /// What it has.
        what: String,
    },
    /// A task waits for what is never said.
    #[error("{waiter} waits {how}, and {reason}: it would wait for ever")]
    NeverSaid {
        /// The task that waits.
        waiter: String,
        /// For what.
        how: String,
        /// Why that never comes.
        reason: String,
    },
    /// A task reads a value from the block's memory that is not there.
    #[error("{waiter} takes the value of `{of}` from its block, and {reason}")]
    NotKept {
        /// The task.
        waiter: String,
        /// The node of the value.
        of: String,
        /// Why it is not there.
        reason: String,
    },
    /// Tasks wait for each other in a circle.
    #[error("the plan locks up: {}", path(.0))]
    LocksUp(Vec<String>),
    /// The blocks have different numbers of barriers.
    #[error(
        "block {block} has {count} barriers and block 0 has {first}: all blocks have to meet at each"
    )]
    Barriers {
        /// A block.
        block: usize,
        /// How many barriers it has.
        count: usize,
        /// How many block 0 has.
        first: usize,
    },
    /// A node may start before one that it depends on has ended.
    #[error("`{node}` depends on `{on}`, and no path of the plan makes it wait for that")]
    Unordered {
        /// The node.
        node: String,
        /// What it depends on.
        on: String,
    },
    /// A node may not see what another wrote.
    #[error(
        "`{reader}` uses memory after `{writer}`, and no path of the plan makes it visible: an edge \
         on the way carries only a value"
    )]
    Invisible {
        /// The node that uses the memory later.
        reader: String,
        /// The node that uses it first.
        writer: String,
    },
    /// A task has more inputs than a record has room for.
    #[error("{task} has {count} inputs, and a task has at most {most}: put joins between")]
    TooManyInputs {
        /// The task.
        task: String,
        /// Its inputs.
        count: usize,
        /// The limit.
        most: usize,
    },
    /// A node that takes values gets others, or in another order.
    #[error("{task} takes the value of `{expected}` as input {at}, and the plan gives it {given}")]
    WrongInput {
        /// The task.
        task: String,
        /// The input's place.
        at: usize,
        /// The node whose value it takes.
        expected: String,
        /// What it would get.
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
