//! Schedules that give warps different priorities.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

use crate::ready::ReadySet;
use crate::schedule::SplitMix;

/// Preemptions are drawn from the first steps, up to this order of magnitude.
const MAGNITUDES: u64 = 16;

/// Warp slots with ranks: the lowest rank runs ([`Policy::Preempt`](crate::Policy::Preempt)).
#[derive(Debug)]
pub(crate) struct Ranks {
    rank: Vec<u64>,
    /// The next rank after all others.
    next: u64,
    /// All slots that can run, and stale entries: slots that cannot run or have another rank by
    /// now.
    queue: BinaryHeap<Reverse<(u64, usize)>>,
    /// The steps at which the running slot moves to the end, in descending order.
    changes: Vec<u64>,
    steps: u64,
}

impl Ranks {
    /// `places` slots in random order, all of which can run, and `changes` preemptions.
    pub(crate) fn drawn(random: &mut SplitMix, places: usize, changes: u32) -> Self {
        let rank: Vec<u64> = random.shuffled(places).into_iter().map(u64::from).collect();
        let step = |_| {
            let least = 1 << random.below(MAGNITUDES);
            least + random.below(least)
        };
        let mut changes: Vec<u64> = (0..changes).map(step).collect();
        changes.sort_unstable_by_key(|&step| Reverse(step));
        let queue = rank.iter().enumerate().map(|(place, &rank)| Reverse((rank, place))).collect();
        Self { next: places as u64, rank, queue, changes, steps: 0 }
    }

    /// Adds a slot that can run.
    pub(crate) fn insert(&mut self, place: usize) {
        self.queue.push(Reverse((self.rank[place], place)));
    }

    /// The slot to step next, out of `ready`. `current` has stepped last; `hand_over`: it spun or
    /// slept.
    pub(crate) fn first(
        &mut self,
        ready: &ReadySet,
        current: Option<usize>,
        hand_over: bool,
    ) -> Option<usize> {
        self.steps += 1;
        let is_change = self.changes.pop_if(|step| *step <= self.steps).is_some();
        if let Some(place) = current.filter(|_| hand_over || is_change) {
            self.rank[place] = self.next;
            self.next += 1;
            self.insert(place);
        }
        while let Some(&Reverse((rank, place))) = self.queue.peek() {
            if rank == self.rank[place] && ready.contains(place) {
                return Some(place);
            }
            self.queue.pop();
        }
        None
    }
}

/// Slots that are held back while others make progress ([`Policy::Stall`](crate::Policy::Stall)).
#[derive(Debug)]
pub(crate) struct Stalled {
    places: Range<usize>,
    /// How often others have spun or slept since one of the held slots stepped.
    spins: usize,
    /// Steps left in the turn of the held slots.
    left: u32,
}

/// Steps in a turn of the held slots.
const TURN: u32 = 16;

impl Stalled {
    /// Holds back one warp, or the warps of one block.
    pub(crate) fn drawn(random: &mut SplitMix, blocks: usize, warps: usize) -> Self {
        let (of, len) = if random.below(2) == 0 { (blocks * warps, 1) } else { (blocks, warps) };
        let first = random.below(of as u64) as usize * len;
        Self { places: first..first + len, spins: 0, left: 0 }
    }

    /// The slot to step next: see [`Ranks::first`].
    pub(crate) fn next(
        &mut self,
        ready: &ReadySet,
        current: Option<usize>,
        hand_over: bool,
    ) -> Option<usize> {
        let is_held = |place: &usize| self.places.contains(place);
        let (held, others): (Option<usize>, _) = match current.filter(is_held) {
            Some(held) => (Some(held), self.places.end.checked_sub(1)),
            None => (self.places.start.checked_sub(1), current),
        };
        let held = ready.after(held).filter(is_held).or_else(|| self.first_held(ready));
        let beyond = || ready.after(self.places.end.checked_sub(1));
        let other = ready.after(others).filter(|place| !is_held(place)).or_else(beyond);
        let other = other.filter(|place| !is_held(place));
        if hand_over {
            self.spins += 1;
            self.left = 0;
        }
        // Each of the others has spun, or none of them can run.
        if self.spins >= ready.len() || other.is_none() {
            (self.spins, self.left) = (0, TURN);
        }
        self.left = self.left.saturating_sub(1);
        if self.left > 0 { held.or(other) } else { other.or(held) }
    }

    fn first_held(&self, ready: &ReadySet) -> Option<usize> {
        ready.after(self.places.start.checked_sub(1)).filter(|place| self.places.contains(place))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lowest_rank_runs_until_it_spins_blocks_or_is_preempted() {
        let mut ready = ReadySet::full(4);
        let mut ranks = Ranks::drawn(&mut SplitMix(1), 4, 0);
        let first = ranks.first(&ready, None, false).expect("all can run");
        assert_eq!(ranks.first(&ready, Some(first), false), Some(first));
        let second = ranks.first(&ready, Some(first), true).expect("all can run");
        assert_ne!(first, second);
        ready.remove(second);
        let third = ranks.first(&ready, Some(second), false).expect("three can run");
        assert!(![first, second].contains(&third));
        // It returns with the same rank.
        ready.insert(second);
        ranks.insert(second);
        assert_eq!(ranks.first(&ready, Some(third), false), Some(second));
    }

    #[test]
    fn the_requested_number_of_preemptions_happens() {
        let ready = ReadySet::full(50);
        for (seed, changes) in [(1, 0), (2, 1), (3, 5)] {
            let mut ranks = Ranks::drawn(&mut SplitMix(seed), 50, changes);
            let (mut current, mut seen) = (None, 0);
            for _ in 0..1 << (MAGNITUDES + 1) {
                let next = ranks.first(&ready, current, false);
                seen += u32::from(current.is_some() && next != current);
                current = next;
            }
            assert_eq!(seen, changes);
        }
    }

    #[test]
    fn a_stalled_block_runs_only_when_all_others_spin_or_cannot_run() {
        let (blocks, warps) = (3, 2);
        for seed in 0..40 {
            let mut stalled = Stalled::drawn(&mut SplitMix(seed), blocks, warps);
            let mut ready = ReadySet::full(blocks * warps);
            let places = stalled.places.clone();
            let mut current = None;
            for _ in 0..100 {
                current = stalled.next(&ready, current, false);
                assert!(current.is_some_and(|place| !places.contains(&place)));
            }
            let spins = (0..).take_while(|_| {
                current = stalled.next(&ready, current, true);
                current.is_some_and(|place| !places.contains(&place))
            });
            assert_eq!(spins.count(), blocks * warps - 1);
            // It has a turn, and then the others continue.
            for _ in 0..TURN {
                current = stalled.next(&ready, current, false);
            }
            assert!(current.is_some_and(|place| !places.contains(&place)));
            (0..blocks * warps).filter(|it| !places.contains(it)).for_each(|it| ready.remove(it));
            for _ in 0..10 {
                current = stalled.next(&ready, current, false);
                assert!(current.is_some_and(|place| places.contains(&place)));
            }
        }
    }
}
