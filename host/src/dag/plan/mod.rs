//! All nodes of a graph in one kernel: which block runs which nodes, in which order, and what they
//! wait for.

mod encode;
mod place;
mod validate;

#[cfg(test)]
mod tests;

pub use encode::Tasks;

use super::{Checked, NodeId, PlanError};

/// For each block of a grid, the list of its items, in order.
///
/// A plan is plain data: it can be written by hand, or changed. A kernel can run it only after
/// [`validate`](Self::validate).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// The list of each block.
    pub blocks: Vec<Vec<Item>>,
}

/// One step of a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Item {
    /// Runs one part of a node.
    Part {
        /// The node.
        node: NodeId,
        /// The part, below the node's number of parts.
        part: u32,
        /// The inputs that it waits for, at most [`INPUTS`](gridsync_kernels::grid::tasks::INPUTS).
        inputs: Vec<Input>,
        /// The signal that it sends when it has ended.
        signal: Signal,
    },
    /// Waits for all inputs and then signals: for nodes with more inputs than fit in a task. Joins
    /// are numbered from 0.
    Join {
        /// Its number.
        join: usize,
        /// The inputs that it waits for.
        inputs: Vec<Input>,
    },
    /// Waits for all other blocks at a grid barrier.
    Barrier,
}

/// An input that a task waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Input {
    /// The value of a node that this block ran shortly before. It needs no wait.
    Kept(NodeId),
    /// The value of a node of one part, but none of its other writes.
    Value(NodeId),
    /// The end of all parts of a node, and their writes; also its value if it has one part.
    Ended(NodeId),
    /// The end of a join, and the writes of everything that it waited for.
    Joined(usize),
}

/// The signal that a part sends when it has ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Signal {
    /// None: only its own block depends on it.
    #[default]
    None,
    /// Its value.
    Value,
    /// Its end, with all of its writes visible, and its value.
    Ended,
}

impl Item {
    /// The inputs that it waits for.
    fn inputs(&self) -> &[Input] {
        match self {
            Self::Part { inputs, .. } | Self::Join { inputs, .. } => inputs,
            Self::Barrier => &[],
        }
    }
}

impl Plan {
    /// The number of joins.
    #[must_use]
    pub fn joins(&self) -> usize {
        let is_join = |item: &&Item| matches!(item, Item::Join { .. });
        self.blocks.iter().flatten().filter(is_join).count()
    }

    /// Proves that a kernel can run the plan of `dag`, if `resident` blocks of it can be resident
    /// at once:
    ///
    /// * every part of every node runs once;
    /// * every input that a task waits for is signalled in the matching way, and tasks do not wait
    ///   for each other in a cycle, through their inputs, the order within their blocks, or
    ///   barriers;
    /// * each node starts after its dependencies, sees their writes if it uses that memory, and
    ///   gets the values that it uses.
    ///
    /// The proof considers only paths of whole nodes. A plan that would need another proof is
    /// refused.
    ///
    /// # Errors
    /// [`PlanError`] with the path that fails.
    pub fn validate<'a>(&'a self, dag: &'a Checked, resident: u64) -> Result<Valid<'a>, PlanError> {
        let places = validate::validate(self, dag, resident)?;
        Ok(Valid { plan: self, dag, places })
    }
}

/// A plan that a kernel can run.
#[derive(Clone, Debug)]
pub struct Valid<'a> {
    plan: &'a Plan,
    dag: &'a Checked,
    /// For each node, the index of its first part in the list of its block.
    places: Vec<usize>,
}
