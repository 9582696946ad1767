//! Valid plans are accepted, and plans with one fault are refused. An executor that is independent
//! of the proofs decides which are which.

mod executor;
mod faults;

use super::{Input, Item, Plan, Signal};
use crate::dag::{Checked, Dag, Node, NodeId};
use executor::run;
use gridsync_kernels::grid::tasks::{INPUTS, KEPT};

/// Number of plans of each kind.
const PLANS: u64 = 10_000;

/// Random numbers: SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number
/// generators", 2014).
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ z >> 31) % bound as u64) as usize
    }

    fn one_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }
}

/// A graph of up to 40 nodes: some take values or words, some have several parts, and some share
/// memory.
fn graph(random: &mut Random) -> Checked {
    let most = if random.one_in(8) { 40 } else { 12 };
    let count = 1 + random.below(most);
    let touches = !random.one_in(4);
    let near = 1 + random.below(count);
    let mut dag = Dag::new();
    let mut parts: Vec<u32> = Vec::new();
    for id in 0..count {
        let after: Vec<NodeId> =
            (id.saturating_sub(near)..id).filter(|_| random.one_in(3)).collect();
        let takes_values =
            after.len() <= INPUTS && after.iter().all(|&id| parts[id] == 1) && random.one_in(2);
        parts.push(if random.one_in(4) { 1 + random.below(4) as u32 } else { 1 });
        let mut node = Node::new(format!("n{id}")).after(&after).in_parts(parts[id]);
        if touches {
            node = node.writes(id as u64 * 8..id as u64 * 8 + 8);
            for &before in after.iter().filter(|_| !takes_values || random.one_in(4)) {
                node = node.reads(before as u64 * 8..before as u64 * 8 + 8);
            }
        }
        dag.add(match takes_values {
            true => node.takes_values(),
            false if random.one_in(3) => node.takes_words(),
            false => node,
        });
    }
    dag.check().expect("its nodes touch only what they come after")
}

fn plan(dag: &Checked, random: &mut Random) -> Plan {
    let blocks = 1 + random.below(5);
    match random.below(4) {
        0 => Plan::by_levels(dag, blocks),
        1 => Plan::in_turns(dag, blocks),
        _ => Plan::by_edges(dag, blocks),
    }
}

#[test]
fn every_valid_plan_is_accepted_and_runs() {
    for seed in 0..PLANS {
        let mut random = Random(seed);
        let dag = graph(&mut random);
        let plan = plan(&dag, &mut random);
        assert_eq!(run(&plan, &dag), Ok(()), "seed {seed}");
        let blocks = plan.blocks.len() as u64;
        if let Err(error) = plan.validate(&dag, blocks) {
            panic!("seed {seed}: {error}");
        }
    }
}

#[test]
fn no_plan_with_a_fault_is_accepted() {
    let (mut refused, mut seed) = (0, 0);
    let mut by_fault = [0; faults::ALL.len()];
    while refused < PLANS {
        seed += 1;
        let mut random = Random(seed);
        let dag = graph(&mut random);
        let mut plan = plan(&dag, &mut random);
        let which = random.below(faults::ALL.len());
        let (name, put_in) = faults::ALL[which];
        if !put_in(&mut plan, &dag, &mut random) {
            continue;
        }
        let blocks = plan.blocks.len() as u64;
        match run(&plan, &dag) {
            // The fault does not matter for this graph.
            Ok(()) => {}
            Err(why) => {
                let accepted = plan.validate(&dag, blocks).is_ok();
                assert!(!accepted, "seed {seed}, {name}: {why}: accepted {plan:#?}");
                refused += 1;
                by_fault[which] += 1;
            }
        }
    }
    for (count, (name, _)) in by_fault.iter().zip(faults::ALL) {
        assert!(*count > 50, "{name}: only {count} plans of {PLANS}");
    }
}

/// A → C ← B in two blocks, with edges through memory.
fn diamond() -> Checked {
    let mut dag = Dag::new();
    let a = dag.add(Node::new("A").writes(0..8));
    let b = dag.add(Node::new("B").writes(8..16));
    dag.add(Node::new("C").after(&[a, b]).reads(0..16).writes(16..24));
    dag.check().expect("a graph")
}

fn refused(plan: &Plan, dag: &Checked) -> String {
    plan.validate(dag, 2).expect_err("it has a fault").to_string()
}

#[test]
fn a_refusal_names_the_path_that_fails() {
    let dag = diamond();
    let good = Plan::by_edges(&dag, 2);
    assert!(good.validate(&dag, 2).is_ok());
    let said = good.validate(&dag, 1).expect_err("too many blocks").to_string();
    assert!(said.contains("for 2 blocks, but only 1 can be resident"), "{said}");

    let mut plan = good.clone();
    let at = plan.blocks.iter().position(|list| list.len() == 2).expect("C's block");
    plan.blocks[at].swap(0, 1);
    // C now comes first in its block, and waits for nothing in that block.
    let said = refused(&plan, &dag);
    assert!(said.contains("`C` depends on") && said.contains("no path of the plan"), "{said}");

    if let Item::Part { inputs, .. } = &mut plan.blocks[at][0] {
        *inputs = vec![Input::Ended(0), Input::Ended(1)];
    }
    plan.signal_what_is_waited_for(&dag);
    let said = refused(&plan, &dag);
    assert!(said.contains("deadlocks") && said.contains("`C` (block"), "{said}");
    assert!(said.contains("waits for the end of"), "{said}");

    let mut plan = good;
    if let Some(Item::Part { inputs, .. }) = plan.blocks[at].last_mut() {
        let Input::Ended(far) = inputs[0] else { panic!("{inputs:?}") };
        *inputs = vec![Input::Value(far)];
    }
    let said = refused(&plan, &dag);
    assert!(
        said.contains("`C` uses memory after") && said.contains("carries only a value"),
        "{said}"
    );
}

#[test]
fn a_node_with_a_thousand_inputs_waits_for_joins() {
    let mut dag = Dag::new();
    let inputs: Vec<_> = (0..1000).map(|id| dag.add(Node::new(format!("n{id}")))).collect();
    dag.add(Node::new("all").after(&inputs));
    let dag = dag.check().expect("a graph");
    let plan = Plan::by_edges(&dag, 132);
    // 1000 inputs need 42 joins, and those need two more.
    assert_eq!(plan.joins(), 44);
    assert!(plan.validate(&dag, 132).is_ok());
    assert_eq!(run(&plan, &dag), Ok(()));
}

#[test]
fn a_chain_stays_in_its_block_without_signals() {
    let mut dag = Dag::new();
    for id in 0..100usize {
        let node = Node::new(format!("n{id}")).writes(0..8);
        dag.add(match id.checked_sub(1) {
            Some(before) => node.after(&[before]),
            None => node,
        });
    }
    let dag = dag.check().expect("a graph");
    let plan = Plan::by_edges(&dag, 8);
    assert_eq!(plan.blocks.iter().filter(|list| !list.is_empty()).count(), 1);
    let silent = |item: &Item| matches!(item, Item::Part { signal: Signal::None, inputs, .. } if inputs.is_empty());
    assert!(plan.blocks.iter().flatten().all(silent));
    assert!(plan.validate(&dag, 8).is_ok());
}

/// A block whose last node uses the value of its first, which ran this many places before.
fn apart(places: usize) -> (Checked, Plan) {
    let mut dag = Dag::new();
    for id in 0..places {
        dag.add(Node::new(format!("n{id}")));
    }
    let last = dag.add(Node::new("last").after(&[0]).takes_values());
    let task = |node| {
        let inputs = if node == last { vec![Input::Kept(0)] } else { Vec::new() };
        Item::Part { node, part: 0, inputs, signal: Signal::None }
    };
    let plan = Plan { blocks: vec![(0..=last).map(task).collect()] };
    (dag.check().expect("a graph"), plan)
}

#[test]
fn a_value_is_kept_until_its_block_overwrites_it() {
    for places in [1, KEPT - 1, KEPT, KEPT + 1, KEPT + 2] {
        let (dag, plan) = apart(places);
        let is_kept = places <= KEPT;
        assert_eq!(run(&plan, &dag).is_ok(), is_kept, "{places}");
        assert_eq!(plan.validate(&dag, 1).is_ok(), is_kept, "{places}");
        let made = Plan::by_edges(&dag, 1);
        let [.., last] = &made.blocks[0][..] else { panic!("{made:?}") };
        let input = if is_kept { Input::Kept(0) } else { Input::Value(0) };
        assert_eq!(last.inputs(), [input], "{places}");
        assert_eq!(run(&made, &dag), Ok(()), "{places}");
        assert!(made.validate(&dag, 1).is_ok(), "{places}");
    }
    let (dag, plan) = apart(KEPT + 1);
    let said = refused(&plan, &dag);
    assert!(said.contains("it ran 33 items earlier; a block keeps 32 values"), "{said}");
}
