//! Assigns the nodes of a graph to blocks.

use super::{Input, Item, Plan, Signal};
use crate::dag::{Checked, NodeId};
use gridsync_kernels::grid::tasks::{INPUTS, KEPT};

/// Microseconds from the end of a block's task until its next task polls its inputs.
const WALK: f64 = 0.34;
/// Microseconds from the inputs to the end of a task that does no work, for inputs that are not
/// words and for words. Words are in transit for most of that time.
const BODY: f64 = 0.14;
const BODY_OF_WORDS: f64 = 0.35;
/// Microseconds until the end of a task is visible in another block, with its value or with memory.
const VALUE_EDGE: f64 = 0.44;
const MEMORY_EDGE: f64 = 0.87;
// From chains of 1000 nodes in one block and alternating between two, on an H200, 2026-11-23. µs
// for a node of one element: 0.484 and 0.583; with 32 elements in memory 0.557 and 1.076; with
// words 0.690 and 0.349. A block whose input has not arrived has already walked to its next task.

impl Plan {
    /// A plan in which each task waits for the nodes that it depends on.
    ///
    /// Nodes are assigned by the length of the path that follows them, longest first. Each goes to
    /// the block where it can start first (list scheduling; Topcuoglu, Hariri and Wu,
    /// "Performance-effective and low-complexity task scheduling for heterogeneous computing",
    /// 2002).
    ///
    /// # Panics
    /// If `blocks` is 0.
    #[must_use]
    pub fn by_edges(dag: &Checked, blocks: usize) -> Self {
        assert!(blocks > 0, "a plan is for at least one block");
        let mut placing = Placing::new(dag, blocks);
        for node in by_rank(dag) {
            placing.place(node);
        }
        placing.plan.signal_what_is_waited_for(dag);
        placing.plan
    }

    /// A plan by edges that assigns nodes to blocks round-robin, so that each node of a chain is in
    /// another block than its predecessor. It measures the cost of an edge between two blocks.
    ///
    /// # Panics
    /// If `blocks` is 0.
    #[must_use]
    pub fn in_turns(dag: &Checked, blocks: usize) -> Self {
        assert!(blocks > 0, "a plan is for at least one block");
        let mut placing = Placing { turn: Some(0), ..Placing::new(dag, blocks) };
        for &node in dag.order() {
            placing.place(node);
        }
        placing.plan.signal_what_is_waited_for(dag);
        placing.plan
    }

    /// A plan in which all blocks meet at a barrier after each level of the graph.
    ///
    /// # Panics
    /// If `blocks` is 0.
    #[must_use]
    pub fn by_levels(dag: &Checked, blocks: usize) -> Self {
        assert!(blocks > 0, "a plan is for at least one block");
        let mut plan = Self { blocks: vec![Vec::new(); blocks] };
        for (number, level) in dag.levels().into_iter().enumerate() {
            if number > 0 {
                plan.blocks.iter_mut().for_each(|block| block.push(Item::Barrier));
            }
            let parts = level
                .into_iter()
                .flat_map(|node| (0..dag.nodes()[node].parts()).map(move |part| (node, part)));
            for (at, (node, part)) in parts.enumerate() {
                let it = &dag.nodes()[node];
                let values = it.predecessors().iter().filter(|_| it.takes_values);
                let inputs = values.map(|&before| Input::Value(before)).collect();
                let item = Item::Part { node, part, inputs, signal: Signal::None };
                plan.blocks[at % blocks].push(item);
            }
        }
        plan.signal_what_is_waited_for(dag);
        plan
    }

    /// Sets the signal of each part to what other tasks wait for. A plan written by hand needs
    /// this.
    pub fn signal_what_is_waited_for(&mut self, dag: &Checked) {
        let mut signals = vec![Signal::None; dag.nodes().len()];
        for input in self.blocks.iter().flatten().flat_map(Item::inputs) {
            match *input {
                Input::Kept(_) | Input::Joined(_) => {}
                Input::Value(node) => signals[node] = signals[node].max(Signal::Value),
                Input::Ended(node) => signals[node] = Signal::Ended,
            }
        }
        for item in self.blocks.iter_mut().flatten() {
            if let Item::Part { node, signal, .. } = item {
                *signal = signals[*node];
            }
        }
    }
}

/// All nodes, sorted by the length of the path that follows, longest first. This is a topological
/// order, because each node takes some time.
fn by_rank(dag: &Checked) -> Vec<NodeId> {
    let mut rank = vec![0.0_f64; dag.nodes().len()];
    for &node in dag.order().iter().rev() {
        rank[node] += WALK + body(dag, node);
        for &before in dag.nodes()[node].predecessors() {
            rank[before] = rank[before].max(rank[node]);
        }
    }
    let mut order = dag.order().to_vec();
    order.sort_by(|&a, &b| rank[b].total_cmp(&rank[a]));
    order
}

/// Microseconds from a node's inputs to its end.
fn body(dag: &Checked, node: NodeId) -> f64 {
    let it = &dag.nodes()[node];
    it.cost + if it.takes_words { BODY_OF_WORDS } else { BODY }
}

/// A plan under construction.
struct Placing<'a> {
    dag: &'a Checked,
    plan: Plan,
    joins: usize,
    /// The next block, if blocks are assigned round-robin.
    turn: Option<usize>,
    /// The time at which each block has finished its items so far.
    free: Vec<f64>,
    /// The time at which each node has ended, and the position of its only part in the plan if it
    /// has one part.
    ended: Vec<f64>,
    place: Vec<Option<(usize, usize)>>,
    /// Whether memory that a node or a predecessor accesses is used later; whether a node or a
    /// successor uses memory that was accessed before.
    is_used_later: Vec<bool>,
    uses: Vec<bool>,
}

impl<'a> Placing<'a> {
    fn new(dag: &'a Checked, blocks: usize) -> Self {
        let count = dag.nodes().len();
        let (mut is_used_later, mut uses) = (vec![false; count], vec![false; count]);
        for &(first, second) in &dag.conflicts {
            is_used_later[first] = true;
            uses[second] = true;
        }
        for &node in dag.order() {
            let before = dag.nodes()[node].predecessors();
            is_used_later[node] |= before.iter().any(|&before| is_used_later[before]);
        }
        for &node in dag.order().iter().rev() {
            for &before in dag.nodes()[node].predecessors() {
                uses[before] |= uses[node];
            }
        }
        Self {
            dag,
            plan: Plan { blocks: vec![Vec::new(); blocks] },
            joins: 0,
            turn: None,
            free: vec![0.0; blocks],
            ended: vec![0.0; count],
            place: vec![None; count],
            is_used_later,
            uses,
        }
    }

    /// The block that is free first.
    fn freest(&self) -> usize {
        let blocks = 0..self.free.len();
        blocks.min_by(|&a, &b| self.free[a].total_cmp(&self.free[b])).unwrap_or(0)
    }

    /// The time at which the inputs of `node` could be available in `block`.
    fn start(&self, node: NodeId, block: usize) -> f64 {
        let before = self.dag.nodes()[node].predecessors().iter().map(|&before| {
            let is_here = self.place[before].is_some_and(|(its, _)| its == block);
            let edge = match self.needs_memory(before, node) {
                _ if is_here => 0.0,
                true => MEMORY_EDGE,
                false if self.dag.nodes()[node].takes_words => 0.0,
                false => VALUE_EDGE,
            };
            self.ended[before] + edge
        });
        before.fold(self.free[block] + WALK, f64::max)
    }

    /// Assigns all parts of a node.
    fn place(&mut self, node: NodeId) {
        let it = &self.dag.nodes()[node];
        let joined = self.join(node);
        for part in 0..it.parts() {
            let mut block = self.turn.unwrap_or_else(|| self.freest());
            self.turn = self.turn.map(|turn| (turn + 1) % self.free.len());
            if it.parts() == 1 && self.turn.is_none() {
                let near = it.predecessors().iter().filter_map(|&before| self.place[before]);
                for (candidate, _) in near {
                    if self.start(node, candidate) < self.start(node, block) {
                        block = candidate;
                    }
                }
            }
            let end = self.start(node, block) + body(self.dag, node);
            let inputs = joined.clone().unwrap_or_else(|| self.inputs(node, block));
            if it.parts() == 1 {
                self.place[node] = Some((block, self.plan.blocks[block].len()));
            }
            self.plan.blocks[block].push(Item::Part { node, part, inputs, signal: Signal::None });
            self.free[block] = end;
            self.ended[node] = self.ended[node].max(end);
        }
    }

    /// The inputs that a part of `node` waits for in `block`.
    fn inputs(&self, node: NodeId, block: usize) -> Vec<Input> {
        let it = &self.dag.nodes()[node];
        let next = self.plan.blocks[block].len();
        let input = |&before: &NodeId| {
            let here = self.place[before].filter(|&(its, _)| its == block);
            match here {
                Some(_) if !it.takes_values => None,
                Some((_, place)) if next - place <= KEPT => Some(Input::Kept(before)),
                _ if self.needs_memory(before, node) => Some(Input::Ended(before)),
                _ if it.takes_words => None,
                _ => Some(Input::Value(before)),
            }
        };
        it.predecessors().iter().filter_map(input).collect()
    }

    /// Whether something after this edge may use memory that something before it has accessed.
    /// Nodes of several parts have no value, so others can only wait for their end or their words.
    fn needs_memory(&self, before: NodeId, node: NodeId) -> bool {
        let has_value = self.dag.nodes()[before].parts() == 1;
        let is_carried = has_value || self.dag.nodes()[node].takes_words;
        !is_carried || self.is_used_later[before] && self.uses[node]
    }

    /// Inserts joins before a node with too many inputs, and returns the remaining inputs.
    fn join(&mut self, node: NodeId) -> Option<Vec<Input>> {
        let before = self.dag.nodes()[node].predecessors();
        if before.len() <= INPUTS {
            return None;
        }
        let takes_words = self.dag.nodes()[node].takes_words;
        let waited_for = before.iter().filter(|&&it| !takes_words || self.needs_memory(it, node));
        let mut inputs: Vec<_> = waited_for.map(|&before| Input::Ended(before)).collect();
        while inputs.len() > INPUTS {
            inputs = inputs.chunks(INPUTS).map(|some| self.join_some(some.to_vec())).collect();
        }
        Some(inputs)
    }

    fn join_some(&mut self, inputs: Vec<Input>) -> Input {
        let block = self.freest();
        let join = self.joins;
        self.joins += 1;
        self.plan.blocks[block].push(Item::Join { join, inputs });
        self.free[block] += WALK + BODY;
        Input::Joined(join)
    }
}
