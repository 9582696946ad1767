//! Faults to inject into a valid plan.

use super::{Checked, Input, Item, Plan, Random, Signal};

/// Injects a fault, and returns whether the plan had a place for it.
type PutIn = fn(&mut Plan, &Checked, &mut Random) -> bool;

/// All faults, by name.
pub(super) const ALL: [(&str, PutIn); 12] = [
    ("a lost item", |plan, _, random| {
        let Some((block, place)) = any(plan, random) else { return false };
        plan.blocks[block].remove(place);
        true
    }),
    ("an item twice", |plan, _, random| {
        let Some((block, place)) = any(plan, random) else { return false };
        let twin = plan.blocks[block][place].clone();
        let (block, place) = anywhere(plan, random);
        plan.blocks[block].insert(place, twin);
        true
    }),
    ("a lost input", |plan, _, random| {
        change_inputs(plan, random, |inputs, at, _| {
            inputs.remove(at);
        })
    }),
    ("an input that does not acquire", |plan, _, random| {
        change_inputs(plan, random, |inputs, at, _| {
            if let Input::Ended(node) = inputs[at] {
                inputs[at] = Input::Value(node);
            }
        })
    }),
    ("a value of another block", |plan, _, random| {
        change_inputs(plan, random, |inputs, at, _| {
            if let Input::Ended(node) | Input::Value(node) = inputs[at] {
                inputs[at] = Input::Kept(node);
            }
        })
    }),
    ("another node's input", |plan, dag, random| {
        let other = random.below(dag.nodes().len());
        change_inputs(plan, random, |inputs, at, _| {
            inputs[at] = Input::Ended(other);
        })
    }),
    ("two inputs in the wrong order", |plan, _, random| {
        change_inputs(plan, random, |inputs, at, random| {
            let other = random.below(inputs.len());
            inputs.swap(at, other);
        })
    }),
    ("a wait for a later node", |plan, dag, random| {
        let later = random.below(dag.nodes().len());
        let Some((block, place)) = any(plan, random) else { return false };
        match &mut plan.blocks[block][place] {
            Item::Part { inputs, .. } | Item::Join { inputs, .. } => {
                inputs.push(Input::Ended(later))
            }
            Item::Barrier => return false,
        }
        plan.signal_what_is_waited_for(dag);
        true
    }),
    ("a signal that says less", |plan, _, random| {
        let Some((block, place)) = any(plan, random) else { return false };
        let Item::Part { signal, .. } = &mut plan.blocks[block][place] else { return false };
        let less = if random.one_in(2) { Signal::None } else { Signal::Value };
        *signal = less.min(*signal);
        true
    }),
    ("two items in the wrong order", |plan, _, random| {
        let Some((block, place)) = any(plan, random) else { return false };
        let other = random.below(plan.blocks[block].len());
        plan.blocks[block].swap(place, other);
        true
    }),
    ("an item in another block", |plan, _, random| {
        let Some((block, place)) = any(plan, random) else { return false };
        let item = plan.blocks[block].remove(place);
        let (block, place) = anywhere(plan, random);
        plan.blocks[block].insert(place, item);
        true
    }),
    ("a barrier too few or too many", |plan, _, random| {
        let (block, place) = anywhere(plan, random);
        let list = &mut plan.blocks[block];
        match list.iter().position(|item| *item == Item::Barrier) {
            Some(barrier) if random.one_in(2) => drop(list.remove(barrier)),
            _ => list.insert(place, Item::Barrier),
        }
        // With a single block every barrier is met.
        true
    }),
];

/// Any item.
fn any(plan: &Plan, random: &mut Random) -> Option<(usize, usize)> {
    let block = random.below(plan.blocks.len());
    let count = plan.blocks[block].len();
    (count > 0).then(|| (block, random.below(count)))
}

/// Any position before, between or after items.
fn anywhere(plan: &Plan, random: &mut Random) -> (usize, usize) {
    let block = random.below(plan.blocks.len());
    (block, random.below(plan.blocks[block].len() + 1))
}

/// Changes one input of an item that has some.
fn change_inputs(
    plan: &mut Plan,
    random: &mut Random,
    change: impl Fn(&mut Vec<Input>, usize, &mut Random),
) -> bool {
    let Some((block, place)) = any(plan, random) else { return false };
    let (Item::Part { inputs, .. } | Item::Join { inputs, .. }) = &mut plan.blocks[block][place]
    else {
        return false;
    };
    if inputs.is_empty() {
        return false;
    }
    let at = random.below(inputs.len());
    change(inputs, at, random);
    true
}
