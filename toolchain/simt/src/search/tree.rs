//! The tree of decisions, searched depth first with partial-order reduction.
//!
//! Two executions that differ only in the order of independent steps are the same. This is the
//! algorithm of source sets with sleep sets (Abdulla, Aronis, Jonsson and Sagonas, "Optimal Dynamic
//! Partial Order Reduction", POPL 2014, Algorithm 1), which improves on Flanagan and Godefroid
//! (POPL 2005). Alternatives of a step, such as the values that a read may return, are all
//! explored.

use super::footprint::Footprint;

/// Maximum number of warps that can take turns: each is a bit.
pub(crate) const MOST_WARPS: usize = 64;

/// The decisions of the current execution, and the ones left to explore.
#[derive(Debug, Default)]
pub(super) struct Tree {
    nodes: Vec<Node>,
    /// Number of nodes that this execution has passed.
    at: usize,
    /// The steps of this execution, and those of the last one that it will repeat.
    events: Vec<Event>,
    /// Number of steps that this execution has made.
    steps: usize,
    /// Steps with a smaller index come before all later ones: another launch has begun.
    first: usize,
    /// The node of the current step.
    turn: usize,
}

#[derive(Debug)]
enum Node {
    /// Which warp steps next.
    Turn(Turn),
    /// Which of `count` alternatives a step chooses.
    Choice { chosen: usize, count: usize },
}

#[derive(Debug)]
struct Turn {
    chosen: usize,
    /// The footprint of the chosen warp's step, whatever it chooses.
    footprint: Footprint,
    /// Bits of the warps that can step, and of those that must be explored.
    enabled: u64,
    wanted: u64,
    /// Warps whose step was explored here, or earlier with the same effect, and its footprint.
    asleep: Vec<(usize, Footprint)>,
}

/// One step of the execution.
#[derive(Debug)]
struct Event {
    warp: usize,
    node: usize,
    footprint: Footprint,
    /// For each warp, how many of its steps happened before, including this one. Steps that depend
    /// on each other are ordered.
    clock: Vec<u32>,
}

impl Event {
    /// The number of this step among those of its warp, starting at 1.
    fn number(&self) -> u32 {
        self.clock[self.warp]
    }

    fn follows(&self, warp: usize, number: u32) -> bool {
        self.clock.get(warp).is_some_and(|&known| known >= number)
    }
}

impl Tree {
    /// Begins an execution, which repeats the last one up to the decision that has changed.
    pub(super) fn restart(&mut self) {
        (self.at, self.steps, self.first) = (0, 0, 0);
    }

    /// Orders all later steps after all steps so far.
    pub(super) fn separate(&mut self) {
        self.first = self.steps;
    }

    /// The warp to step next, out of `enabled`, which has at least one bit. `order` has the enabled
    /// warps, the preferred one first. `None` if every execution from here was explored elsewhere.
    pub(super) fn pick(&mut self, enabled: u64, order: &[usize]) -> Option<usize> {
        self.turn = self.at;
        if let Some(node) = self.nodes.get(self.at) {
            let Node::Turn(turn) = node else { panic!("{NOT_REPEATED}") };
            assert_eq!(turn.enabled, enabled, "{NOT_REPEATED}");
            self.at += 1;
            return Some(turn.chosen);
        }
        let asleep = self.asleep();
        let is_awake = |warp: &&usize| asleep.iter().all(|(sleeper, _)| sleeper != *warp);
        let chosen = *order.iter().find(is_awake)?;
        let footprint = Footprint::default();
        let wanted = 1 << chosen;
        self.nodes.push(Node::Turn(Turn { chosen, footprint, enabled, wanted, asleep }));
        self.at += 1;
        Some(chosen)
    }

    /// Chooses one of `count` alternatives.
    pub(super) fn choose(&mut self, count: usize) -> usize {
        let node = self.at;
        self.at += 1;
        match self.nodes.get(node) {
            Some(&Node::Choice { chosen, count: before }) if count == before => chosen,
            Some(_) => panic!("{NOT_REPEATED}"),
            None => {
                self.nodes.push(Node::Choice { chosen: 0, count });
                0
            }
        }
    }

    /// Records the footprint of the step that was picked last.
    pub(super) fn stepped(&mut self, footprint: &Footprint) {
        let index = self.steps;
        self.steps += 1;
        if index < self.events.len() {
            return;
        }
        let Node::Turn(turn) = &mut self.nodes[self.turn] else {
            unreachable!("a step has a turn")
        };
        turn.footprint.add_all(footprint);
        let warp = turn.chosen;
        let earlier = &self.events[self.first..];
        let own = earlier.iter().rev().find(|event| event.warp == warp);
        let mut clock = own.map_or_else(Vec::new, |event| event.clock.clone());
        clock.resize(clock.len().max(warp + 1), 0);
        let mut races = Vec::new();
        for (at, event) in earlier.iter().enumerate().rev() {
            let is_known = clock.get(event.warp).is_some_and(|&known| known >= event.number());
            if is_known || !event.footprint.depends_on(footprint) {
                continue;
            }
            races.push(self.first + at);
            clock.resize(clock.len().max(event.clock.len()), 0);
            clock.iter_mut().zip(&event.clock).for_each(|(mine, its)| *mine = (*mine).max(*its));
        }
        clock[warp] += 1;
        self.events.push(Event { warp, node: self.turn, footprint: footprint.clone(), clock });
        races.into_iter().for_each(|earlier| self.reverse(earlier, index));
    }

    /// Requests an execution in which the step `later` does not come after `earlier`, on which it
    /// depends directly.
    fn reverse(&mut self, earlier: usize, later: usize) {
        let event = &self.events[earlier];
        let (warp, number) = (event.warp, event.number());
        // The steps that need not come after `earlier`, then `later` itself. The first steps among
        // them are those that no other of them must precede.
        let (mut firsts, mut seen) = (0u64, Vec::<(usize, u32)>::new());
        for (at, event) in self.events[..=later].iter().enumerate().skip(earlier + 1) {
            if at != later && event.follows(warp, number) {
                continue;
            }
            if !seen.iter().any(|&(warp, number)| event.follows(warp, number)) {
                firsts |= 1 << event.warp;
            }
            if seen.iter().all(|&(warp, _)| warp != event.warp) {
                seen.push((event.warp, event.number()));
            }
        }
        let Node::Turn(turn) = &mut self.nodes[event.node] else {
            unreachable!("a step has a turn")
        };
        let asleep = turn.asleep.iter().fold(0, |all, (warp, _)| all | 1u64 << warp);
        // A warp that could not step there waited for `earlier`: only one order of the two is
        // possible.
        let possible = firsts & turn.enabled;
        if firsts & (turn.wanted | asleep) != 0 || possible == 0 {
            return;
        }
        let later = 1u64 << self.events[later].warp;
        turn.wanted |=
            if possible & later != 0 { later } else { possible & possible.wrapping_neg() };
    }

    /// The number of the turn that was picked last.
    pub(super) fn turn(&self) -> usize {
        self.turn
    }

    /// Requests that every other warp steps in this turn. The rest of an execution in which a poll
    /// fails is not explored, so it cannot show which other executions are needed.
    pub(super) fn want_all(&mut self, turn: usize) {
        if let Some(Node::Turn(turn)) = self.nodes.get_mut(turn) {
            turn.wanted |= turn.enabled;
        }
    }

    /// The warps that need not step now, because that was explored before the last step.
    fn asleep(&self) -> Vec<(usize, Footprint)> {
        let Some(last) = self.events[self.first..].last() else { return Vec::new() };
        let Node::Turn(turn) = &self.nodes[last.node] else { unreachable!("a step has a turn") };
        let stays = |(warp, footprint): &&(usize, Footprint)| {
            *warp != last.warp && !footprint.depends_on(&last.footprint)
        };
        turn.asleep.iter().filter(stays).cloned().collect()
    }

    /// Advances to the next execution. Returns whether there is one.
    pub(super) fn advance(&mut self) -> bool {
        while let Some(node) = self.nodes.last_mut() {
            match node {
                Node::Choice { chosen, count } if *chosen + 1 < *count => {
                    *chosen += 1;
                    break;
                }
                Node::Choice { .. } => {}
                Node::Turn(turn) => {
                    let done = core::mem::take(&mut turn.footprint);
                    turn.asleep.push((turn.chosen, done));
                    let asleep = turn.asleep.iter().fold(0, |all, (warp, _)| all | 1u64 << warp);
                    let left = turn.wanted & !asleep;
                    if left != 0 {
                        turn.chosen = left.trailing_zeros() as usize;
                        break;
                    }
                }
            }
            self.nodes.pop();
        }
        // A step whose choice has changed is repeated.
        let is_turn = |node: &Node| matches!(node, Node::Turn(_));
        let anew = self.nodes.iter().rposition(is_turn).unwrap_or(0);
        let kept = self.events.partition_point(|event| event.node < anew);
        self.events.truncate(kept);
        !self.nodes.is_empty()
    }
}

/// Decisions must come in the same order with the same alternatives, or the search is meaningless.
const NOT_REPEATED: &str = "the search met other decisions than before: what it runs must do the \
                            same each time, given the same schedule";
