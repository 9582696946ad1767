//! The decisions of a run, and how to reduce them.

use std::collections::BTreeMap;

use crate::picker::Party;

/// The decisions of a run: which warp steps when, which of its lanes, and which values are returned
/// by reads of weak memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Script {
    /// In launch order.
    pub(super) grids: Vec<Grid>,
}

/// The decisions of one grid.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Grid {
    /// Warps, each with its number of consecutive steps.
    pub(super) turns: Vec<(usize, u32)>,
    /// The lanes of a warp's n-th step, in order, unless they are all that can run.
    pub(super) parties: BTreeMap<(usize, u32), Party>,
    /// A thread's n-th choice of a value or a position, unless it is the last one.
    pub(super) choices: BTreeMap<(u32, u32), usize>,
}

impl Script {
    /// Number of switches to another warp.
    #[must_use]
    pub fn switches(&self) -> usize {
        self.grids.iter().map(|grid| grid.turns.len()).sum()
    }

    /// Number of reads that return an old value, and of writes placed before others.
    #[must_use]
    pub fn old_values(&self) -> usize {
        self.grids.iter().map(|grid| grid.choices.len()).sum()
    }

    /// Number of warp steps.
    #[must_use]
    pub fn steps(&self) -> u64 {
        let turns = self.grids.iter().flat_map(|grid| &grid.turns);
        turns.map(|&(_, steps)| u64::from(steps)).sum()
    }

    /// The measure that [`shrink`] reduces.
    fn cost(&self) -> (usize, usize, u64) {
        let parties: usize = self.grids.iter().map(|grid| grid.parties.len()).sum();
        (self.switches() + self.old_values(), parties, self.steps())
    }
}

/// Maximum number of runs of [`shrink`], and of warp steps in all of them.
const MOST_RUNS: u32 = 400;
const MOST_STEPS: u64 = 1 << 20;

/// A script with fewer switches and fewer old values. `fails` runs a script, and returns the actual
/// decisions if that run failed in the same way.
///
/// Removes parts of the script, from large ones to single turns, as long as the run still fails.
/// Stops after 400 runs or 2^20 warp steps.
pub fn shrink(script: Script, mut fails: impl FnMut(&Script) -> Option<Script>) -> Script {
    let mut best = script;
    let (mut runs, mut steps) = (0, 0);
    let mut attempt = |best: &mut Script, candidate: &Script| {
        if runs == MOST_RUNS || steps >= MOST_STEPS {
            return false;
        }
        runs += 1;
        steps += best.steps();
        let better = fails(candidate).filter(|script| script.cost() < best.cost());
        better.map(|script| *best = script).is_some()
    };
    loop {
        let before = best.cost();
        for number in 0..best.grids.len() {
            leave_out(&mut best, number, |grid| grid.parties.len(), drop_parties, &mut attempt);
            leave_out(&mut best, number, |grid| grid.choices.len(), drop_choices, &mut attempt);
            leave_out(&mut best, number, |grid| grid.turns.len(), drop_turns, &mut attempt);
        }
        if best.cost() >= before {
            return best;
        }
    }
}

/// Removes as many decisions of one kind as possible from a grid.
fn leave_out(
    best: &mut Script,
    number: usize,
    count: impl Fn(&Grid) -> usize,
    without: impl Fn(&mut Grid, usize, usize),
    attempt: &mut impl FnMut(&mut Script, &Script) -> bool,
) {
    let count = |script: &Script| script.grids.get(number).map_or(0, &count);
    let mut size = count(best);
    while size > 0 {
        let mut from = 0;
        while from < count(best) {
            let mut candidate = best.clone();
            without(&mut candidate.grids[number], from, size);
            if !attempt(best, &candidate) {
                from += size;
            }
        }
        size /= 2;
    }
}

fn drop_turns(grid: &mut Grid, from: usize, size: usize) {
    let end = (from + size).min(grid.turns.len());
    grid.turns.drain(from..end);
}

fn drop_choices(grid: &mut Grid, from: usize, size: usize) {
    let keys: Vec<_> = grid.choices.keys().skip(from).take(size).copied().collect();
    for key in keys {
        grid.choices.remove(&key);
    }
}

fn drop_parties(grid: &mut Grid, from: usize, size: usize) {
    let keys: Vec<_> = grid.parties.keys().skip(from).take(size).copied().collect();
    for key in keys {
        grid.parties.remove(&key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shrink_removes_irrelevant_decisions() {
        let turns = (0..40).map(|n| (n % 4, 1 + n as u32 % 3)).collect();
        let choices = (0..10).map(|n| ((n, 0), 1)).collect();
        let script = Script { grids: vec![Grid { turns, choices, ..Grid::default() }] };
        // Fails if warp 3 steps before warp 2, and thread 7 reads an old value.
        let shrunk = shrink(script, |script| {
            let grid = &script.grids[0];
            let first = |warp| grid.turns.iter().position(|turn| turn.0 == warp);
            let (two, three) = (first(2), first(3));
            let is_order = three.is_some_and(|three| two.is_none_or(|two| three < two));
            (is_order && grid.choices.contains_key(&(7, 0))).then(|| script.clone())
        });
        assert_eq!((shrunk.switches(), shrunk.old_values()), (1, 1));
    }
}
