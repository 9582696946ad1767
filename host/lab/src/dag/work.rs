//! Computations of the nodes of a graph.

use gridsync::dag::{Checked, Dag, DagError, Node, NodeId};
use gridsync::parallel::try_map;
use gridsync_kernels::grid::tasks::INPUTS;
use gridsync_lab_kernels::dag::Operation;
use gridsync_verify::random;
use std::convert::Infallible;

/// A node: an array, each element of which combines the elements of all inputs with a number.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// Its name.
    pub name: String,
    /// How it combines its inputs.
    pub operation: Operation,
    /// The number that its inputs are combined with.
    pub value: u32,
    /// The nodes that are its inputs, in order.
    pub after: Vec<NodeId>,
    /// Minimum run time in microseconds. In the emulator it takes no time.
    pub microseconds: f64,
    /// Number of blocks.
    pub blocks: u32,
}

impl Step {
    /// A node of one block that takes no time.
    #[must_use]
    pub fn new(
        name: impl Into<String>,
        operation: Operation,
        value: u32,
        after: &[NodeId],
    ) -> Self {
        let (name, after) = (name.into(), after.to_vec());
        Self { name, operation, value, after, microseconds: 0.0, blocks: 1 }
    }
}

/// A graph and the computations of its nodes.
#[derive(Clone, Debug, PartialEq)]
pub struct Work {
    /// The nodes.
    pub steps: Vec<Step>,
    /// The elements of each node's array.
    pub elements: u32,
    /// Threads of each block.
    pub threads: u32,
}

impl Work {
    /// A ∥ B, then C = A · B, in arrays of 5, 7 and 35.
    #[must_use]
    pub fn diamond() -> Self {
        Self::of(vec![
            Step::new("A", Operation::Sum, 5, &[]),
            Step::new("B", Operation::Sum, 7, &[]),
            Step::new("C", Operation::Product, 1, &[0, 1]),
        ])
    }

    /// A chain of nodes, each of which adds 1.
    #[must_use]
    pub fn chain(nodes: usize) -> Self {
        let step = |id: usize| {
            let after: Vec<_> = id.checked_sub(1).into_iter().collect();
            Step::new(format!("n{id}"), Operation::Sum, 1, &after)
        };
        Self::of((0..nodes).map(step).collect())
    }

    /// Nodes with up to four inputs each, mostly among the 64 previous nodes. The results depend on
    /// the order of the inputs.
    #[must_use]
    pub fn random(seed: u64, nodes: usize) -> Self {
        let mut drawn = 0;
        let mut below = |bound: usize| {
            drawn += 1;
            (random(seed, drawn) % bound as u64) as usize
        };
        let step = |id: usize| {
            let mut after = Vec::new();
            for _ in 0..below(5).min(id) {
                let far = if below(8) == 0 { id } else { id.min(64) };
                let before = id - 1 - below(far);
                if !after.contains(&before) {
                    after.push(before);
                }
            }
            Step::new(format!("n{id}"), Operation::Mix, id as u32, &after)
        };
        Self::of((0..nodes).map(step).collect())
    }

    /// These nodes, with one element each, in blocks of one warp.
    #[must_use]
    pub fn of(steps: Vec<Step>) -> Self {
        Self { steps, elements: 1, threads: 32 }
    }

    /// The graph, with the arrays at address `arrays`. In one kernel, nodes of one element receive
    /// the values of their inputs instead of reading them.
    ///
    /// # Errors
    /// [`DagError`] if the graph has a cycle.
    pub fn dag(&self, arrays: u64) -> Result<Checked, DagError> {
        self.dag_of(arrays, false)
    }

    /// The graph, whose nodes receive the elements of their inputs as words.
    ///
    /// # Errors
    /// [`DagError`] if the graph has a cycle.
    pub fn dag_of_words(&self, arrays: u64) -> Result<Checked, DagError> {
        self.dag_of(arrays, true)
    }

    fn dag_of(&self, arrays: u64, takes_words: bool) -> Result<Checked, DagError> {
        let bytes = 4 * u64::from(self.elements);
        let array = |id: NodeId| arrays + bytes * id as u64..arrays + bytes * (id as u64 + 1);
        let mut dag = Dag::new();
        for (id, step) in self.steps.iter().enumerate() {
            let mut node = Node::new(&step.name).after(&step.after).writes(array(id));
            node = node.in_parts(step.blocks).costs(step.microseconds);
            node = match self.takes_values(id) {
                _ if takes_words => node.takes_words(),
                true => node.takes_values(),
                false => step.after.iter().fold(node, |node, &before| node.reads(array(before))),
            };
            dag.add(node);
        }
        dag.check()
    }

    /// Whether a node's inputs can pass their values to it.
    #[must_use]
    pub fn takes_values(&self, id: NodeId) -> bool {
        let after = &self.steps[id].after;
        self.elements == 1
            && self.steps[id].blocks == 1
            && after.len() <= INPUTS
            && after.iter().all(|&before| self.steps.get(before).is_some_and(|it| it.blocks == 1))
    }

    /// The element of each node's array: all elements of an array are equal. Computed with rayon,
    /// level by level.
    #[must_use]
    pub fn reference(&self, dag: &Checked) -> Vec<u32> {
        let mut values = vec![0; self.steps.len()];
        for level in dag.levels() {
            let value = |at: usize| {
                let Step { operation, value, after, .. } = &self.steps[level[at]];
                Ok(after.iter().fold(*value, |all, &input| operation.join(all, values[input])))
            };
            let Ok(computed) = try_map::<_, Infallible>(level.len(), &value);
            for (id, value) in level.into_iter().zip(computed) {
                values[id] = value;
            }
        }
        values
    }
}
