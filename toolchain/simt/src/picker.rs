//! Chooses which lanes of which warp step next.

use crate::dim::WARP_LANES;
use crate::favours::{Ranks, Stalled};
use crate::ready::ReadySet;
use crate::schedule::{Lanes, Policy, Schedule, SplitMix};
use crate::search::Guide;
use crate::warp::lanes;
use std::rc::Rc;

/// The runnable warps, picked one by one according to the schedule.
#[derive(Debug)]
pub(crate) struct Picker {
    policy: Policy,
    lanes: Lanes,
    random: SplitMix,
    order: Order,
    /// By position in the order.
    ready: ReadySet,
    current: Option<usize>,
    /// Steps left in a random turn.
    left: u64,
    /// Priorities, if the policy has any.
    favours: Favours,
    /// With lanes apart: the lanes whose turn it is. Redrawn when none of them can run.
    group: u32,
}

/// Which warps go first.
#[derive(Debug)]
enum Favours {
    None,
    Ranks(Ranks),
    Stalled(Stalled),
}

impl Favours {
    fn next(&mut self, ready: &ReadySet, current: Option<usize>, hand_over: bool) -> Option<usize> {
        match self {
            Self::None => ready.after(current),
            Self::Ranks(ranks) => ranks.first(ready, current, hand_over),
            Self::Stalled(stalled) => stalled.next(ready, current, hand_over),
        }
    }
}

/// The lanes that step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Party {
    pub(crate) mask: u32,
    /// The lane that goes first, and whether the lanes below it go next.
    first: u32,
    down: bool,
}

impl Picker {
    /// All warps are runnable: `blocks` blocks of `warps` warps. With `in_step`, lanes always move
    /// together, whatever the schedule.
    pub(crate) fn new(schedule: Schedule, blocks: usize, warps: usize, in_step: bool) -> Self {
        let mut random = SplitMix(schedule.seed);
        let favours = match schedule.policy {
            Policy::Preempt { changes } => {
                Favours::Ranks(Ranks::drawn(&mut random, blocks * warps, changes))
            }
            Policy::Stall => Favours::Stalled(Stalled::drawn(&mut random, blocks, warps)),
            _ => Favours::None,
        };
        Self {
            favours,
            policy: schedule.policy,
            lanes: if in_step { Lanes::Together } else { schedule.lanes },
            order: match schedule.seed {
                0 => Order::default(),
                _ => Order::drawn(&mut random, blocks, warps),
            },
            random,
            ready: ReadySet::full(blocks * warps),
            current: None,
            left: 0,
            group: 0,
        }
    }

    /// Adds a runnable warp.
    pub(crate) fn insert(&mut self, warp: usize) {
        let place = self.order.place_of(warp);
        self.ready.insert(place);
        if let Favours::Ranks(ranks) = &mut self.favours {
            ranks.insert(place);
        }
    }

    /// Removes a warp that is no longer runnable.
    pub(crate) fn remove(&mut self, warp: usize) {
        self.ready.remove(self.order.place_of(warp));
    }

    /// The warp to step next, or `None` if none is runnable. `hand_over`: the last step spun or
    /// slept.
    pub(crate) fn pick(&mut self, hand_over: bool) -> Option<usize> {
        let ready = &self.ready;
        let stay = self.current.filter(|&warp| !hand_over && ready.contains(warp));
        let next = match self.policy {
            Policy::Preempt { .. } | Policy::Stall => {
                self.favours.next(ready, self.current, hand_over)
            }
            Policy::RoundRobin | Policy::Coarse => ready.after(self.current),
            Policy::RunAhead => stay.or_else(|| ready.after(self.current)),
            Policy::Reverse => stay.or_else(|| ready.before(self.current)),
            Policy::Random { quantum } => {
                let stay = stay.filter(|_| self.left > 0);
                if stay.is_some() {
                    self.left -= 1;
                    stay
                } else {
                    self.left = self.random.below(u64::from(quantum.max(1)));
                    let from = self.random.below(ready.len() as u64) as usize;
                    ready.after(Some(from))
                }
            }
        };
        if hand_over || next != self.current {
            self.group = 0;
        }
        self.current = next;
        next.map(|place| self.order.warp_at(place))
    }

    /// Whether a warp can run.
    pub(crate) fn is_ready(&self, warp: usize) -> bool {
        self.ready.contains(self.order.place_of(warp))
    }

    /// Makes this warp step next, whatever the policy.
    pub(crate) fn go_to(&mut self, warp: usize) {
        self.current = Some(self.order.place_of(warp));
    }

    /// The lanes of the picked warp, out of `ready`, that step now.
    pub(crate) fn party(&mut self, ready: u32) -> Party {
        let mask = match self.lanes {
            Lanes::Together => ready,
            Lanes::Apart => {
                if self.group & ready == 0 {
                    self.group = self.draw_group(ready);
                }
                self.group & ready
            }
        };
        if self.order.is_drawn() {
            let drawn = self.random.next();
            let (first, down) = (drawn as u32 % WARP_LANES, drawn >> 63 == 1);
            Party { mask, first, down }
        } else {
            Party::in_order(mask)
        }
    }

    /// Draws about half of the lanes, or a single one. At least one of them is ready.
    fn draw_group(&mut self, ready: u32) -> u32 {
        let drawn = self.random.next();
        let some = drawn as u32;
        if drawn >> 63 == 1 && some & ready != 0 {
            return some;
        }
        let nth = (drawn >> 32) as u32 % ready.count_ones();
        let lane = lanes(ready).nth(nth as usize).expect("counted just now");
        1 << lane
    }
}

impl Party {
    /// These lanes, lowest first.
    pub(crate) fn in_order(mask: u32) -> Self {
        Self { mask, first: 0, down: false }
    }

    /// The subset of its lanes that are `ready`.
    pub(crate) fn among(self, ready: u32) -> Self {
        Self { mask: self.mask & ready, ..self }
    }

    /// A number for the lanes and their order.
    pub(crate) fn number(self) -> u64 {
        let Self { mask, first, down } = self;
        let order = if mask.count_ones() > 1 { u64::from(first) << 1 | u64::from(down) } else { 0 };
        u64::from(mask) | order << 32
    }

    /// The lanes, in the order in which they step.
    pub(crate) fn lanes(self) -> impl Iterator<Item = u32> + Clone {
        let Self { mask, first, down } = self;
        let turned =
            if down { mask.reverse_bits().rotate_right(first) } else { mask.rotate_right(first) };
        lanes(turned).map(move |lane| {
            let lane = (lane + first) % WARP_LANES;
            if down { WARP_LANES - 1 - lane } else { lane }
        })
    }
}

/// The order in which warps take turns: by number, or drawn once for the blocks and once for the
/// warps of each block. Warps of one block stay adjacent, so that a block ends, and frees its
/// stacks, before most others have begun.
#[derive(Debug, Default)]
struct Order {
    warps: Vec<u32>,
    places: Vec<u32>,
}

impl Order {
    fn drawn(random: &mut SplitMix, blocks: usize, warps: usize) -> Self {
        let in_block = random.shuffled(warps);
        let in_grid = random.shuffled(blocks);
        let of_block = |block: &u32| {
            let first = *block * warps as u32;
            in_block.iter().map(move |warp| first + warp)
        };
        let order: Vec<u32> = in_grid.iter().flat_map(of_block).collect();
        let mut places = vec![0; order.len()];
        for (place, &warp) in order.iter().enumerate() {
            places[warp as usize] = place as u32;
        }
        Self { warps: order, places }
    }

    fn is_drawn(&self) -> bool {
        !self.warps.is_empty()
    }

    fn warp_at(&self, place: usize) -> usize {
        self.warps.get(place).map_or(place, |&warp| warp as usize)
    }

    fn place_of(&self, warp: usize) -> usize {
        self.places.get(warp).map_or(warp, |&place| place as usize)
    }
}

/// The order in which the clusters of a grid start, each once.
#[derive(Debug)]
pub(crate) struct Starts {
    clusters: u64,
    started: u64,
    /// The n-th cluster to start is `first + stride · n`, modulo the number of clusters.
    first: u64,
    stride: u64,
    /// The guide that chooses instead, and the clusters that are left.
    guide: Option<(Rc<Guide>, Vec<u64>)>,
}

impl Starts {
    /// In ascending order.
    pub(crate) fn in_order(clusters: u64) -> Self {
        Self { clusters, started: 0, first: 0, stride: 1, guide: None }
    }

    /// In order, backwards or by strides, as drawn from a non-zero seed, or as a guide decides.
    pub(crate) fn new(seed: u64, clusters: u64, guide: Option<Rc<Guide>>) -> Self {
        let mut starts = Self::in_order(clusters);
        if let Some(guide) = guide {
            starts.guide = Some((guide, (0..clusters).collect()));
            return starts;
        }
        if seed == 0 {
            return starts;
        }
        // A different sequence from the one for the turns.
        let mut random = SplitMix(!seed);
        match random.below(4) {
            0 => {}
            1 => (starts.first, starts.stride) = (clusters - 1, clusters - 1),
            _ => {
                starts.first = random.below(clusters);
                starts.stride = 1 + random.below(clusters);
                while gcd(starts.stride, clusters) != 1 {
                    starts.stride += 1;
                }
            }
        }
        starts
    }

    /// The next cluster to start, if one is left.
    pub(crate) fn next(&mut self) -> Option<u64> {
        if self.started == self.clusters {
            return None;
        }
        if let Some((guide, left)) = &mut self.guide {
            self.started += 1;
            return Some(left.remove(guide.choose(left.len())));
        }
        let [first, stride, clusters, n] =
            [self.first, self.stride, self.clusters, self.started].map(u128::from);
        self.started += 1;
        // Less than the number of clusters.
        Some(((first + stride * n) % clusters) as u64)
    }

    /// How many clusters have not started.
    pub(crate) fn left(&self) -> u64 {
        self.clusters - self.started
    }
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picker(schedule: Schedule, warps: usize) -> Picker {
        Picker::new(schedule, warps, 1, false)
    }

    #[test]
    fn run_ahead_stays_until_the_warp_spins_or_blocks() {
        let mut picker = picker(Schedule::new(Policy::RunAhead), 3);
        assert_eq!(picker.pick(false), Some(0));
        assert_eq!(picker.pick(false), Some(0));
        assert_eq!(picker.pick(true), Some(1));
        picker.remove(1);
        assert_eq!(picker.pick(false), Some(2));
        assert_eq!(picker.pick(true), Some(0));
    }

    #[test]
    fn random_reaches_every_warp_and_repeats_with_its_seed() {
        let draw = |seed| {
            let policy = Policy::Random { quantum: 4 };
            let mut picker = picker(Schedule::seeded(policy, seed), 70);
            (0..5000).map(|_| picker.pick(false)).collect::<Vec<_>>()
        };
        let turns = draw(1);
        for warp in 0..70 {
            assert!(turns.contains(&Some(warp)), "warp {warp} never ran");
        }
        assert_eq!(turns, draw(1));
        assert_ne!(turns, draw(2));
    }

    #[test]
    fn a_random_order_has_every_warp_once_and_keeps_blocks_together() {
        let (blocks, warps) = (7, 5);
        let schedule = Schedule::seeded(Policy::RoundRobin, 3);
        let mut picker = Picker::new(schedule, blocks, warps, false);
        let order: Vec<usize> =
            (0..blocks * warps).map(|_| picker.pick(false).expect("all can run")).collect();
        let mut sorted = order.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, (0..blocks * warps).collect::<Vec<_>>());
        assert_ne!(order, sorted);
        for block in order.chunks(warps) {
            assert!(block.iter().all(|warp| warp / warps == block[0] / warps));
        }
        picker.remove(order[1]);
        assert_eq!(picker.pick(false), Some(order[0]));
        assert_eq!(picker.pick(false), Some(order[2]));
    }

    #[test]
    fn a_party_has_each_lane_once_in_either_direction() {
        for mask in [u32::MAX, 1, 0x8000_0001, 0x00F0_0F00] {
            for (first, down) in [(0, false), (5, false), (0, true), (31, true), (9, true)] {
                let party = Party { mask, first, down };
                let order: Vec<u32> = party.lanes().collect();
                let all = order.iter().fold(0, |all, lane| all | 1u32 << lane);
                assert_eq!((all, order.len() as u32), (mask, mask.count_ones()));
            }
        }
        let lanes: Vec<u32> = Party::in_order(0b1101).lanes().collect();
        assert_eq!(lanes, [0, 2, 3]);
    }

    #[test]
    fn with_lanes_apart_every_ready_lane_moves_and_no_other() {
        let schedule = Schedule::new(Policy::RunAhead).with_lanes(Lanes::Apart);
        let mut picker = picker(schedule, 1);
        let (ready, mut moved) = (0xFF00_00FF, 0);
        for _ in 0..2000 {
            picker.pick(true);
            let party = picker.party(ready);
            assert!(party.mask != 0 && party.mask & !ready == 0);
            moved |= party.mask;
        }
        assert_eq!(moved, ready);
    }

    #[test]
    fn every_cluster_starts_once_in_an_order_chosen_by_the_seed() {
        for clusters in [1, 2, 3, 4, 12, 100] {
            let orders: Vec<Vec<u64>> = (0..40)
                .map(|seed| {
                    let mut starts = Starts::new(seed, clusters, None);
                    core::iter::from_fn(|| starts.next()).collect()
                })
                .collect();
            let in_order: Vec<u64> = (0..clusters).collect();
            for order in &orders {
                let mut sorted = order.clone();
                sorted.sort_unstable();
                assert_eq!(sorted, in_order);
            }
            assert_eq!(orders[0], in_order);
            let backwards: Vec<u64> = (0..clusters).rev().collect();
            assert!(orders.contains(&backwards), "{clusters}");
        }
    }
}
