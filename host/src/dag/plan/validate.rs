//! Proves that a plan can be run, or reports the error.

use super::{Input, Item, Plan, Signal};
use crate::dag::closure::{Closure, order};
use crate::dag::{Checked, NodeId, PlanError};
use gridsync_kernels::grid::tasks::{INPUTS, KEPT};

/// A position in a plan: the block, and the index in its list.
type At = (usize, usize);

/// Proves that `plan` is a plan of `dag`, and returns for each node the index of its first part.
pub(super) fn validate(plan: &Plan, dag: &Checked, resident: u64) -> Result<Vec<usize>, PlanError> {
    let blocks = plan.blocks.len();
    if blocks == 0 || blocks as u64 > resident {
        return Err(PlanError::NotResident { blocks, resident });
    }
    let proof = Proof::new(plan, dag)?;
    for (at, item) in items(plan) {
        proof.check_inputs(at, item)?;
    }
    proof.check_barriers()?;
    proof.check_progress()?;
    proof.check_order()?;
    Ok(proof.parts.iter().map(|parts| parts[0].1).collect())
}

/// All items with their positions.
fn items(plan: &Plan) -> impl Iterator<Item = (At, &Item)> {
    let lists = plan.blocks.iter().enumerate();
    lists.flat_map(|(block, list)| {
        list.iter().enumerate().map(move |(at, item)| ((block, at), item))
    })
}

/// The facts about a plan that is being checked.
struct Proof<'a> {
    plan: &'a Plan,
    dag: &'a Checked,
    /// The positions of the parts of each node, and of each join.
    parts: Vec<Vec<At>>,
    joins: Vec<At>,
}

impl<'a> Proof<'a> {
    /// Finds every part of every node, and every join, exactly once.
    fn new(plan: &'a Plan, dag: &'a Checked) -> Result<Self, PlanError> {
        let nodes = dag.nodes();
        let mut parts: Vec<Vec<Vec<At>>> =
            nodes.iter().map(|node| vec![Vec::new(); node.parts() as usize]).collect();
        let mut joins = vec![Vec::new(); plan.joins()];
        for (at, item) in items(plan) {
            let (found, what) = match *item {
                Item::Part { node, part, .. } => (
                    parts.get_mut(node).and_then(|parts| parts.get_mut(part as usize)),
                    format!("part {part} of node number {node}"),
                ),
                Item::Join { join, .. } => (joins.get_mut(join), format!("join {join}")),
                Item::Barrier => continue,
            };
            let (block, place) = at;
            found.ok_or(PlanError::NoSuchTask { block, place, what })?.push(at);
        }
        let once = |node: &str, part, places: Vec<At>| match places[..] {
            [place] => Ok(place),
            _ => Err(PlanError::NotOnce { node: node.into(), part, times: places.len() }),
        };
        let of_node = |(node, parts): (usize, Vec<Vec<At>>)| {
            let parts = (0..).zip(parts);
            parts.map(|(part, places)| once(nodes[node].name(), part, places)).collect()
        };
        Ok(Self {
            plan,
            dag,
            parts: parts.into_iter().enumerate().map(of_node).collect::<Result<_, _>>()?,
            joins: (0..)
                .zip(joins)
                .map(|(join, places)| once("the joins", join, places))
                .collect::<Result<_, _>>()?,
        })
    }

    fn item(&self, (block, place): At) -> &'a Item {
        &self.plan.blocks[block][place]
    }

    fn name(&self, node: NodeId) -> String {
        self.dag.nodes()[node].name().into()
    }

    /// Describes the item for a message.
    fn describe(&self, at: At) -> String {
        let (block, place) = at;
        match *self.item(at) {
            Item::Part { node, part, .. } => {
                let node = &self.dag.nodes()[node];
                let of = match node.parts() {
                    1 => String::new(),
                    parts => format!("part {part} of {parts} of "),
                };
                format!("{of}`{}` (block {block}, index {place})", node.name())
            }
            Item::Join { join, .. } => format!("join {join} (block {block}, index {place})"),
            Item::Barrier => format!("a barrier (block {block}, index {place})"),
        }
    }

    /// Checks that every input of an item is signalled in the matching way, and that values are
    /// those that its node uses.
    fn check_inputs(&self, at: At, item: &Item) -> Result<(), PlanError> {
        let inputs = item.inputs();
        let task = || self.describe(at);
        if inputs.len() > INPUTS {
            return Err(PlanError::TooManyInputs {
                task: task(),
                count: inputs.len(),
                most: INPUTS,
            });
        }
        for &input in inputs {
            self.check_input(at, input)?;
        }
        let Item::Part { node, .. } = *item else { return Ok(()) };
        let node = &self.dag.nodes()[node];
        let taken = node.predecessors().iter().filter(|_| node.takes_values);
        for (place, &expected) in taken.enumerate() {
            let given = match inputs.get(place) {
                None => "nothing".into(),
                Some(&(Input::Kept(id) | Input::Value(id) | Input::Ended(id)))
                    if id == expected =>
                {
                    continue;
                }
                Some(&(Input::Kept(id) | Input::Value(id) | Input::Ended(id))) => {
                    format!("that of `{}`", self.name(id))
                }
                Some(Input::Joined(join)) => format!("join {join}, which has no value"),
            };
            let expected = self.name(expected);
            return Err(PlanError::WrongInput { task: task(), at: place, expected, given });
        }
        Ok(())
    }

    fn check_input(&self, at: At, input: Input) -> Result<(), PlanError> {
        let never = |how: String, reason: String| {
            Err(PlanError::NoSignal { waiter: self.describe(at), how, reason })
        };
        let (node, how) = match input {
            Input::Joined(join) if join < self.joins.len() => return Ok(()),
            Input::Joined(join) => {
                return never(format!("for join {join}"), "there is no such join".into());
            }
            Input::Kept(node) => (node, "in its block for the value"),
            Input::Value(node) => (node, "for the value"),
            Input::Ended(node) => (node, "for the end"),
        };
        let Some(parts) = self.parts.get(node) else {
            return never(format!("{how} of node number {node}"), "there is no such node".into());
        };
        let name = self.name(node);
        let how = format!("{how} of `{name}`");
        if !matches!(input, Input::Ended(_)) && parts.len() > 1 {
            return never(how, format!("a node of {} parts has no value", parts.len()));
        }
        if let Input::Kept(_) = input {
            return self.check_kept(at, parts[0], name);
        }
        let least = if let Input::Value(_) = input { Signal::Value } else { Signal::Ended };
        let silent = parts.iter().find(|&&part| match self.item(part) {
            Item::Part { signal, .. } => *signal < least,
            _ => true,
        });
        match silent {
            None => Ok(()),
            Some(&part) => never(how, format!("{} does not signal that", self.describe(part))),
        }
    }

    /// Checks that a kept value comes from an earlier item of the same block, and has not been
    /// overwritten.
    fn check_kept(&self, at: At, from: At, of: String) -> Result<(), PlanError> {
        let reason = if from.0 != at.0 {
            format!("it runs in block {}", from.0)
        } else if from.1 >= at.1 {
            format!("it comes later, at index {}", from.1)
        } else if at.1 - from.1 > KEPT {
            format!("it ran {} items earlier; a block keeps {KEPT} values", at.1 - from.1)
        } else {
            return Ok(());
        };
        Err(PlanError::NotKept { waiter: self.describe(at), of, reason })
    }

    fn barriers(list: &[Item]) -> usize {
        list.iter().filter(|item| matches!(item, Item::Barrier)).count()
    }

    fn check_barriers(&self) -> Result<(), PlanError> {
        let mut counts = self.plan.blocks.iter().map(|list| Self::barriers(list));
        let first = counts.next().unwrap_or(0);
        match counts.enumerate().find(|&(_, count)| count != first) {
            Some((at, count)) => Err(PlanError::Barriers { block: at + 1, count, first }),
            None => Ok(()),
        }
    }

    /// The nodes whose words the body of an item waits for.
    fn senders(&self, item: &Item) -> &'a [NodeId] {
        match *item {
            Item::Part { node, .. } if self.dag.nodes()[node].takes_words => {
                self.dag.nodes()[node].predecessors()
            }
            _ => &[],
        }
    }

    /// Checks that items do not wait for each other in a cycle. Each waits for the previous item of
    /// its block, for its inputs and for words, and at a barrier for the items before that barrier
    /// in all blocks.
    fn check_progress(&self) -> Result<(), PlanError> {
        let places: Vec<At> = items(self.plan).map(|(at, _)| at).collect();
        let vertex = |at: At| places.binary_search(&at).expect("an item of the plan");
        // After all items come a vertex for the end of each node, and one for each barrier.
        let ended = |node: NodeId| places.len() + node;
        let met = |barrier: usize| places.len() + self.parts.len() + barrier;
        let barriers = Self::barriers(&self.plan.blocks[0]);
        let mut before = vec![Vec::new(); met(barriers)];
        for (list, block) in self.plan.blocks.iter().zip(0..) {
            let mut passed = 0;
            for (item, place) in list.iter().zip(0..) {
                let own = vertex((block, place));
                let previous = place.checked_sub(1).map(|_| own - 1);
                if let Item::Barrier = item {
                    before[met(passed)].extend(previous);
                    before[own].push(met(passed));
                    passed += 1;
                }
                before[own].extend(previous);
                before[own].extend(item.inputs().iter().map(|&input| match input {
                    Input::Kept(node) | Input::Value(node) | Input::Ended(node) => ended(node),
                    Input::Joined(join) => vertex(self.joins[join]),
                }));
                before[own].extend(self.senders(item).iter().copied().map(ended));
            }
        }
        for (node, parts) in self.parts.iter().enumerate() {
            before[ended(node)].extend(parts.iter().map(|&part| vertex(part)));
        }
        let shown = |vertex: usize| match places.get(vertex) {
            Some(&at) => self.describe(at),
            None if vertex < met(0) => format!("the end of `{}`", self.name(vertex - ended(0))),
            None => format!("all blocks at barrier {}", vertex - met(0)),
        };
        match order(&before) {
            Ok(_) => Ok(()),
            Err(cycle) => Err(PlanError::LocksUp(cycle.into_iter().map(shown).collect())),
        }
    }

    /// Checks that every node starts after its dependencies, and sees their writes.
    fn check_order(&self) -> Result<(), PlanError> {
        let follows = self.closure(true);
        // A body that waits for words waits only for these words, which implies nothing about other
        // nodes.
        let waiting = self.dag.nodes().iter().enumerate().filter(|(_, node)| !node.takes_words);
        for (id, node) in waiting {
            let free = node.predecessors().iter().find(|&&before| !follows.leads(before, id));
            if let Some(&on) = free {
                return Err(PlanError::Unordered { node: self.name(id), on: self.name(on) });
            }
        }
        let sees = self.closure(false);
        match self.dag.conflicts.iter().find(|&&(first, second)| !sees.leads(first, second)) {
            Some(&(first, second)) => {
                Err(PlanError::Invisible { reader: self.name(second), writer: self.name(first) })
            }
            None => Ok(()),
        }
    }

    /// Which whole nodes come before which, in any way if `values`, otherwise with their writes
    /// visible. The vertices are the nodes, the joins, and the barriers.
    fn closure(&self, values: bool) -> Closure {
        let (nodes, joins) = (self.parts.len(), self.joins.len());
        let barriers = Self::barriers(&self.plan.blocks[0]);
        let mut before = vec![Vec::new(); nodes + joins + barriers];
        for (id, parts) in self.parts.iter().enumerate() {
            let linked = parts.iter().flat_map(|&part| self.item(part).inputs());
            let mut candidates: Vec<_> = linked.filter_map(|&input| self.source(input)).collect();
            candidates.extend_from_slice(self.dag.nodes()[id].predecessors());
            candidates.sort_unstable();
            candidates.dedup();
            candidates.retain(|&from| parts.iter().all(|&part| self.waits_for(part, from, values)));
            before[id] = candidates;
        }
        for (join, &at) in self.joins.iter().enumerate() {
            let inputs = self.item(at).inputs().iter();
            let sources = inputs.filter(|&&input| values || !matches!(input, Input::Value(_)));
            before[nodes + join] = sources.filter_map(|&input| self.source(input)).collect();
        }
        self.follow_blocks(&mut before);
        self.follow_barriers(&mut before);
        let order = order(&before).expect("items that wait in a circle were refused before");
        Closure::new(&order, &before)
    }

    /// The vertex that an input waits for.
    fn source(&self, input: Input) -> Option<usize> {
        match input {
            Input::Kept(node) | Input::Value(node) | Input::Ended(node) => Some(node),
            Input::Joined(join) => Some(self.parts.len() + join),
        }
    }

    /// Whether the item at `at` waits for all of `from`: by an input, or because its block has run
    /// all of it.
    fn waits_for(&self, at: At, from: usize, values: bool) -> bool {
        let by_input = self.item(at).inputs().iter().any(|&input| {
            let counts = values || !matches!(input, Input::Value(_));
            counts && self.source(input) == Some(from)
        });
        let is_earlier = |&(block, place): &At| block == at.0 && place < at.1;
        by_input
            || match self.parts.get(from) {
                Some(parts) => parts.iter().all(is_earlier),
                None => is_earlier(&self.joins[from - self.parts.len()]),
            }
    }

    /// Adds the order of items within each block.
    fn follow_blocks(&self, before: &mut [Vec<usize>]) {
        for list in &self.plan.blocks {
            let whole = list.iter().filter_map(|item| match *item {
                Item::Part { node, .. } if self.parts[node].len() == 1 => Some(node),
                Item::Join { join, .. } => Some(self.parts.len() + join),
                _ => None,
            });
            let whole: Vec<_> = whole.collect();
            for pair in whole.windows(2) {
                before[pair[1]].push(pair[0]);
            }
        }
    }

    /// Adds the order across barriers: items before a barrier in any block come before items after
    /// it.
    fn follow_barriers(&self, before: &mut [Vec<usize>]) {
        let first = self.parts.len() + self.joins.len();
        for (barrier, earlier) in before.iter_mut().enumerate().skip(first + 1) {
            earlier.push(barrier - 1);
        }
        // For each item the number of barriers before it.
        let passed = |list: &Vec<Item>| {
            let counts = list.iter().scan(0, |count, item| {
                let before = *count;
                *count += usize::from(matches!(item, Item::Barrier));
                Some(before)
            });
            counts.collect::<Vec<_>>()
        };
        let passed: Vec<_> = self.plan.blocks.iter().map(passed).collect();
        let joins = self.joins.chunks(1);
        for (vertex, places) in self.parts.iter().map(Vec::as_slice).chain(joins).enumerate() {
            let phases = places.iter().map(|&(block, place)| passed[block][place]);
            let (earliest, latest) = phases.fold((usize::MAX, 0), |(e, l), p| (e.min(p), l.max(p)));
            if let Some(barrier) = before.get_mut(first + latest) {
                barrier.push(vertex);
            }
            if let Some(last) = earliest.checked_sub(1) {
                before[vertex].push(first + last);
            }
        }
    }
}
