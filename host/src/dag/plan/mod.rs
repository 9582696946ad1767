//! All nodes of a graph in one kernel: which block runs what, in which order, and what it waits
//! for.

mod encode;
mod place;
mod validate;

#[cfg(test)]
mod tests;

pub use encode::Tasks;

use super::{Checked, NodeId, PlanError};

/// For each block of a grid the list of what it runs, in order.
///
/// A plan is plain data: it can be made by hand, or changed. Only [`validate`](Self::validate)
/// makes of it what a kernel can run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// The list of each block.
    pub blocks: Vec<Vec<Item>>,
}

/// One thing that a block does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Item {
    /// Runs one part of a node.
    Part {
        /// The node.
        node: NodeId,
        /// The part, below the node's number of parts.
        part: u32,
        /// What it waits for, at most [`INPUTS`](gridsync_kernels::grid::tasks::INPUTS).
        inputs: Vec<Input>,
        /// What it says when it has ended.
        signal: Signal,
    },
    /// Waits, and says that all has come: for nodes with more inputs than a task has room for.
    /// Joins are numbered from 0.
    Join {
        /// Its number.
        join: usize,
        /// What it waits for.
        inputs: Vec<Input>,
    },
    /// Meets all other blocks at a barrier of the grid.
    Barrier,
}

/// What a task waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Input {
    /// The value of a node that this block ran shortly before. There is nothing to wait for.
    Kept(NodeId),
    /// The value of a node of one part, and nothing else that it wrote.
    Value(NodeId),
    /// The end of all parts of a node, and what they wrote; its value too if it has one part.
    Ended(NodeId),
    /// The end of a join, and what all wrote that it waited for.
    Joined(usize),
}

/// What a part says when it has ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Signal {
    /// Nothing: only its own block depends on it.
    #[default]
    None,
    /// Its value.
    Value,
    /// That it has ended, with all that it wrote visible, and its value.
    Ended,
}

impl Item {
    /// What it waits for.
    fn inputs(&self) -> &[Input] {
        match self {
            Self::Part { inputs, .. } | Self::Join { inputs, .. } => inputs,
            Self::Barrier => &[],
        }
    }
}

impl Plan {
    /// How many joins there are.
    #[must_use]
    pub fn joins(&self) -> usize {
        let is_join = |item: &&Item| matches!(item, Item::Join { .. });
        self.blocks.iter().flatten().filter(is_join).count()
    }

    /// Proves that a kernel can run the plan of `dag`, if `resident` blocks of it can be resident
    /// at once:
    ///
    /// * every part of every node runs once;
    /// * whatever a task waits for is said in the way in which it waits, and no tasks wait for each
    ///   other in a circle, through their inputs, the order within their blocks, or barriers;
    /// * each node starts after those that it depends on, sees what they wrote if it uses that
    ///   memory, and gets the values that it takes.
    ///
    /// A plan that has a proof of another form is refused: only paths of whole nodes are looked at.
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
    /// For each node the place of its first part in the list of its block.
    places: Vec<usize>,
}
