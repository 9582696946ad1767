//! Runs a plan item by item, as blocks would, and tracks what each knows about the others.

use super::{Checked, INPUTS, Input, Item, KEPT, NodeId, Plan, Signal};
use std::collections::BTreeSet;

/// Parts of nodes: those that must have ended, and those whose writes are visible.
#[derive(Clone, Default)]
struct Known {
    ended: BTreeSet<(NodeId, u32)>,
    visible: BTreeSet<(NodeId, u32)>,
}

impl Known {
    fn learn(&mut self, other: &Self) {
        self.ended.extend(&other.ended);
        self.visible.extend(&other.visible);
    }
}

/// The progress of a block.
#[derive(Clone, Default)]
struct Block {
    next: usize,
    known: Known,
    kept: [Option<NodeId>; KEPT],
}

/// The signals sent so far.
struct Said {
    /// For each node, the parts that have signalled, with the signal and the knowledge they had.
    parts: Vec<Vec<Option<(Signal, Known)>>>,
    joins: Vec<Option<Known>>,
}

/// Runs all blocks until they have ended or none can continue.
pub(super) fn run(plan: &Plan, dag: &Checked) -> Result<(), String> {
    let nodes = dag.nodes();
    let mut blocks = vec![Block::default(); plan.blocks.len()];
    let mut said = Said {
        parts: nodes.iter().map(|node| vec![None; node.parts() as usize]).collect(),
        joins: vec![None; plan.joins()],
    };
    let mut runs = 0;
    loop {
        let mut went_on = false;
        for (block, list) in blocks.iter_mut().zip(&plan.blocks) {
            while let Some(item) = list.get(block.next) {
                if !step(block, item, &mut said, dag)? {
                    break;
                }
                runs += usize::from(matches!(item, Item::Part { .. }));
                went_on = true;
            }
        }
        let is_at_barrier = |(block, list): (&Block, &Vec<Item>)| {
            matches!(list.get(block.next), Some(Item::Barrier))
        };
        if blocks.iter().zip(&plan.blocks).all(is_at_barrier) {
            let mut all = Known::default();
            blocks.iter().for_each(|block| all.learn(&block.known));
            for block in &mut blocks {
                block.known.learn(&all);
                block.kept[block.next % KEPT] = None;
                block.next += 1;
            }
            went_on = true;
        }
        if !went_on {
            break;
        }
    }
    let all: u32 = nodes.iter().map(|node| node.parts()).sum();
    match blocks.iter().zip(&plan.blocks).position(|(block, list)| block.next < list.len()) {
        Some(stuck) => Err(format!("block {stuck} waits for ever at {}", blocks[stuck].next)),
        None if runs != all as usize => Err(format!("{runs} parts ran of {all}")),
        None => Ok(()),
    }
}

/// Runs the next item of a block, unless it has to wait.
fn step(block: &mut Block, item: &Item, said: &mut Said, dag: &Checked) -> Result<bool, String> {
    let (Item::Part { inputs, .. } | Item::Join { inputs, .. }) = item else { return Ok(false) };
    if inputs.len() > INPUTS {
        return Err("too many inputs".into());
    }
    if let Item::Part { node, .. } = *item {
        let node = &dag.nodes()[node];
        let mut senders = node.predecessors().iter().filter(|_| node.takes_words);
        if !senders.all(|&it| said.parts[it].iter().all(Option::is_some)) {
            return Ok(false);
        }
    }
    let (mut known, mut values) = (block.known.clone(), Vec::new());
    for input in inputs {
        let is_acquired = matches!(input, Input::Ended(_) | Input::Joined(_));
        let heard: Vec<&Known> = match *input {
            Input::Kept(node) => {
                values.push(block.kept.contains(&Some(node)).then_some(node));
                continue;
            }
            Input::Joined(join) => {
                let Some(Some(known)) = said.joins.get(join) else { return Ok(false) };
                values.push(None);
                vec![known]
            }
            Input::Value(node) | Input::Ended(node) => {
                let least = if is_acquired { Signal::Ended } else { Signal::Value };
                let parts = said.parts.get(node).ok_or("it waits for no node")?;
                let mut heard = Vec::new();
                for part in parts {
                    match part {
                        Some((signal, known)) if *signal >= least => heard.push(known),
                        _ => return Ok(false),
                    }
                }
                values.push((parts.len() == 1).then_some(node));
                heard
            }
        };
        for other in heard {
            known.ended.extend(&other.ended);
            if is_acquired {
                known.visible.extend(&other.visible);
            }
        }
    }
    block.known = known;
    let place = block.next % KEPT;
    block.next += 1;
    block.kept[place] = None;
    match *item {
        Item::Join { join, .. } => said.joins[join] = Some(block.known.clone()),
        Item::Part { node, part, signal, .. } => {
            check(&block.known, node, &values, dag)?;
            block.known.ended.insert((node, part));
            block.known.visible.insert((node, part));
            block.kept[place] = Some(node);
            let parts = said.parts.get_mut(node).ok_or("no such node")?;
            let own = parts.get_mut(part as usize).ok_or("no such part")?;
            if own.replace((signal, block.known.clone())).is_some() {
                return Err(format!("part {part} of {node} ran twice"));
            }
        }
        Item::Barrier => {}
    }
    Ok(true)
}

/// Checks that a node that starts knows of all its dependencies and has the values that it uses.
fn check(
    known: &Known,
    id: NodeId,
    values: &[Option<NodeId>],
    dag: &Checked,
) -> Result<(), String> {
    let node = &dag.nodes()[id];
    let parts = |of: NodeId| (0..dag.nodes()[of].parts()).map(move |part| (of, part));
    for &before in node.predecessors().iter().filter(|_| !node.takes_words) {
        if !parts(before).all(|part| known.ended.contains(&part)) {
            return Err(format!("{id} may start before {before} has ended"));
        }
    }
    for &(first, _) in dag.conflicts.iter().filter(|&&(_, second)| second == id) {
        if !parts(first).all(|part| known.visible.contains(&part)) {
            return Err(format!("{id} may not see what {first} wrote"));
        }
    }
    let taken = node.predecessors().iter().filter(|_| node.takes_values);
    for (at, &before) in taken.enumerate() {
        if values.get(at) != Some(&Some(before)) {
            return Err(format!("{id} does not get the value of {before}"));
        }
    }
    Ok(())
}
