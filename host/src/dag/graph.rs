//! Nodes and edges, and their requirements.

use super::DagError;
use super::closure::{Closure, order};
use gridsync_kernels::grid::tasks::INPUTS;
use std::ops::Range;

/// The most parts of a node: the largest count of a task's link.
pub(super) const MOST_PARTS: u32 = (1 << 28) - 1;

/// The number of a node: its index in the order in which nodes were added.
pub type NodeId = usize;

/// A node: the memory that it accesses, and its predecessors.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    pub(super) name: String,
    pub(super) parts: u32,
    pub(super) cost: f64,
    pub(super) takes_values: bool,
    pub(super) takes_words: bool,
    pub(super) after: Vec<NodeId>,
    pub(super) reads: Vec<Range<u64>>,
    pub(super) writes: Vec<Range<u64>>,
}

impl Node {
    /// A node of one part that depends on nothing and accesses no memory. `name` is for messages.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            parts: 1,
            cost: 0.0,
            takes_values: false,
            takes_words: false,
            after: Vec::new(),
            reads: Vec::new(),
            writes: Vec::new(),
        }
    }

    /// Adds predecessors: the node starts when they have ended, and sees their writes.
    #[must_use]
    pub fn after(mut self, nodes: &[NodeId]) -> Self {
        self.after.extend_from_slice(nodes);
        self
    }

    /// Declares that the node reads these byte addresses.
    #[must_use]
    pub fn reads(mut self, bytes: Range<u64>) -> Self {
        self.reads.push(bytes);
        self
    }

    /// Declares that the node writes these byte addresses, and may read them.
    #[must_use]
    pub fn writes(mut self, bytes: Range<u64>) -> Self {
        self.writes.push(bytes);
        self
    }

    /// Splits the node into `parts` parts. In one kernel, blocks share the parts.
    #[must_use]
    pub fn in_parts(mut self, parts: u32) -> Self {
        self.parts = parts;
        self
    }

    /// Sets the estimated cost in microseconds. Only the placement in a [`Plan`](super::Plan) uses
    /// it.
    #[must_use]
    pub fn costs(mut self, microseconds: f64) -> Self {
        self.cost = microseconds;
        self
    }

    /// In one kernel, makes the node receive a 32-bit value from each node that it comes
    /// [after](Self::after), in that order. Each of those nodes has one part.
    #[must_use]
    pub fn takes_values(mut self) -> Self {
        self.takes_values = true;
        self
    }

    /// In one kernel, makes the node depend only on words that the bodies of its
    /// [predecessors](Self::after) send, for which its own body waits
    /// ([`Task::receive`](gridsync_kernels::grid::tasks::Task::receive)). It may start before they
    /// have ended. This does not apply to memory that it [reads](Self::reads): earlier writes to
    /// that memory are visible.
    #[must_use]
    pub fn takes_words(mut self) -> Self {
        self.takes_words = true;
        self
    }

    /// The name for messages.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The number of blocks that share its work.
    #[must_use]
    pub fn parts(&self) -> u32 {
        self.parts
    }

    /// The predecessors of the node.
    #[must_use]
    pub fn predecessors(&self) -> &[NodeId] {
        &self.after
    }
}

/// A directed graph of nodes, not yet checked.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Dag {
    nodes: Vec<Node>,
}

impl Dag {
    /// An empty graph.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a node, and returns its number.
    pub fn add(&mut self, node: Node) -> NodeId {
        self.nodes.push(node);
        self.nodes.len() - 1
    }

    /// Makes `node` come after `before` too.
    ///
    /// # Panics
    /// If `node` does not exist.
    pub fn edge(&mut self, before: NodeId, node: NodeId) {
        self.nodes[node].after.push(before);
    }

    /// Proves that the graph can be run: it has no cycle, and any two nodes that access the same
    /// memory, at least one of them to write, are ordered. Uses n² / 8 bytes for n nodes.
    ///
    /// # Errors
    /// [`DagError`] with the cycle, or the nodes and the memory.
    pub fn check(self) -> Result<Checked, DagError> {
        let Self { nodes } = self;
        let name = |id: NodeId| nodes[id].name.clone();
        for node in &nodes {
            let count = nodes.len();
            if let Some(&missing) = node.after.iter().find(|&&id| id >= count) {
                return Err(DagError::NoSuchNode { node: node.name.clone(), missing, count });
            }
            if node.parts == 0 || node.parts > MOST_PARTS {
                return Err(DagError::Parts { node: node.name.clone(), parts: node.parts });
            }
            node.check_values(&nodes)?;
        }
        let before: Vec<_> = nodes.iter().map(|node| node.after.clone()).collect();
        let order = order(&before)
            .map_err(|cycle| DagError::Cycle(cycle.into_iter().map(name).collect()))?;
        let closure = Closure::new(&order, &before);
        let mut conflicts = Vec::new();
        for (one, other, bytes, writer) in overlaps(&nodes) {
            if closure.leads(one, other) {
                conflicts.push((one, other));
            } else if closure.leads(other, one) {
                conflicts.push((other, one));
            } else {
                let [one, other, writer] = [one, other, writer].map(name);
                return Err(DagError::Unordered { one, other, writer, bytes });
            }
        }
        conflicts.sort_unstable();
        conflicts.dedup();
        Ok(Checked { nodes, order, conflicts })
    }
}

impl Node {
    /// Refuses a node that uses values that its predecessors do not have.
    fn check_values(&self, nodes: &[Self]) -> Result<(), DagError> {
        let refuse = |why| Err(DagError::NoValue { node: self.name.clone(), why });
        if !self.takes_values {
            return Ok(());
        }
        if self.after.len() > INPUTS {
            return refuse(format!("it has {} inputs, at most {INPUTS}", self.after.len()));
        }
        match self.after.iter().map(|&id| &nodes[id]).find(|input| input.parts > 1) {
            Some(Self { name, parts, .. }) => {
                refuse(format!("`{name}` has {parts} parts, so it has no value"))
            }
            None => Ok(()),
        }
    }
}

/// All pairs of nodes that access the same bytes, at least one of them to write, with the bytes and
/// the writer.
fn overlaps(nodes: &[Node]) -> Vec<(NodeId, NodeId, Range<u64>, NodeId)> {
    struct Touch<'a> {
        bytes: &'a Range<u64>,
        node: NodeId,
        writes: bool,
    }
    let mut touches = Vec::new();
    for (node, it) in nodes.iter().enumerate() {
        let touch = |writes| move |bytes| Touch { bytes, node, writes };
        touches.extend(it.reads.iter().map(touch(false)));
        touches.extend(it.writes.iter().map(touch(true)));
    }
    touches.retain(|touch| !touch.bytes.is_empty());
    touches.sort_by_key(|touch| touch.bytes.start);
    let mut found = Vec::new();
    // Accesses that have started and may not have ended.
    let mut open: Vec<Touch<'_>> = Vec::new();
    for touch in touches {
        open.retain(|other| other.bytes.end > touch.bytes.start);
        for other in &open {
            if other.node != touch.node && (other.writes || touch.writes) {
                let both = touch.bytes.start..touch.bytes.end.min(other.bytes.end);
                let writer = if touch.writes { touch.node } else { other.node };
                found.push((other.node, touch.node, both, writer));
            }
        }
        open.push(touch);
    }
    found
}

/// A graph without cycles, whose nodes access memory in a defined order.
#[derive(Clone, Debug, PartialEq)]
pub struct Checked {
    nodes: Vec<Node>,
    order: Vec<NodeId>,
    /// Pairs of nodes where the second uses memory after the first, and at least one of them writes
    /// it.
    pub(super) conflicts: Vec<(NodeId, NodeId)>,
}

impl Checked {
    /// The nodes, indexed by number.
    #[must_use]
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// All nodes in topological order.
    #[must_use]
    pub fn order(&self) -> &[NodeId] {
        &self.order
    }

    /// The nodes by level: each node is in the first level after all of its predecessors.
    #[must_use]
    pub fn levels(&self) -> Vec<Vec<NodeId>> {
        let mut levels: Vec<Vec<NodeId>> = Vec::new();
        let mut of = vec![0; self.nodes.len()];
        for &id in &self.order {
            of[id] = self.nodes[id].after.iter().map(|&before| of[before] + 1).max().unwrap_or(0);
            levels.resize(levels.len().max(of[id] + 1), Vec::new());
            levels[of[id]].push(id);
        }
        levels.iter_mut().for_each(|level| level.sort_unstable());
        levels
    }

    /// The nodes of the path with the largest sum of [costs](Node::costs), and that sum in
    /// microseconds.
    #[must_use]
    pub fn critical_path(&self) -> (Vec<NodeId>, f64) {
        let mut ends = vec![0.0; self.nodes.len()];
        for &id in &self.order {
            let before = self.nodes[id].after.iter().map(|&before| ends[before]);
            ends[id] = before.fold(0.0, f64::max) + self.nodes[id].cost;
        }
        let latest =
            |ids: &[NodeId]| ids.iter().copied().max_by(|&a, &b| ends[a].total_cmp(&ends[b]));
        let mut path = Vec::new();
        let mut next = latest(&self.order);
        while let Some(id) = next {
            path.push(id);
            next = latest(&self.nodes[id].after);
        }
        path.reverse();
        let all = path.last().map_or(0.0, |&last| ends[last]);
        (path, all)
    }
}
