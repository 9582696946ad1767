//! Which warp steps next: the policy, and the seed that makes a run repeatable.

use crate::ready::ReadySet;

/// How warps take turns. A step runs every runnable lane of one warp to its next scheduling point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Policy {
    /// Every runnable warp one step, in block order.
    RoundRobin,
    /// A warp drawn at random runs for 1 to `quantum` steps, then another is drawn.
    Random {
        /// Longest turn, in steps; 0 counts as 1.
        quantum: u32,
    },
    /// A warp runs until it blocks, spins, sleeps or exits before the next in block order is taken: the
    /// schedule that makes a missing barrier visible.
    RunAhead,
    /// [`Policy::RunAhead`] from the last warp of the last block backwards.
    Reverse,
    /// Fast: accesses are no scheduling points, only synchronisation is. Warps in turn. Finds what
    /// does not depend on how accesses interleave.
    Coarse,
}

/// A policy and the seed of its random draws.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Schedule {
    /// Start of the random sequence. Same seed and policy, same run.
    pub seed: u64,
    /// How warps take turns.
    pub policy: Policy,
}

impl Schedule {
    /// The policy with seed 0.
    pub const fn new(policy: Policy) -> Self {
        Self { seed: 0, policy }
    }

    /// A policy drawn, with its parameters, from the seed: any of the interleaving ones, never
    /// [`Policy::Coarse`].
    pub fn from_seed(seed: u64) -> Self {
        let mut random = SplitMix(seed);
        let policy = match random.below(8) {
            0 => Policy::RoundRobin,
            1 => Policy::RunAhead,
            2 => Policy::Reverse,
            // Short turns shuffle neighbouring accesses, long ones let a warp overtake a barrier.
            _ => Policy::Random {
                quantum: 1 << random.below(8),
            },
        };
        Self { seed, policy }
    }
}

impl Default for Schedule {
    fn default() -> Self {
        Self::new(Policy::RoundRobin)
    }
}

/// SplitMix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number generators", 2014).
#[derive(Debug)]
struct SplitMix(u64);

impl SplitMix {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number in `0..bound`; its bias, at most bound / 2^64, is of no matter for a schedule.
    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }
}

/// Draws warps from the set of runnable ones as the schedule says.
#[derive(Debug)]
pub(crate) struct Picker {
    policy: Policy,
    random: SplitMix,
    current: Option<usize>,
    /// Steps left of a random turn.
    left: u64,
}

impl Picker {
    pub(crate) fn new(schedule: Schedule) -> Self {
        Self {
            policy: schedule.policy,
            random: SplitMix(schedule.seed),
            current: None,
            left: 0,
        }
    }

    /// The warp to step next, or `None` when none is runnable. `hand_over`: the last step spun or
    /// slept.
    pub(crate) fn pick(&mut self, ready: &ReadySet, hand_over: bool) -> Option<usize> {
        let stay = self
            .current
            .filter(|&warp| !hand_over && ready.contains(warp));
        let next = match self.policy {
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
        self.current = next;
        next
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn run_ahead_stays_until_the_warp_spins_or_blocks() {
        let mut ready = ReadySet::full(3);
        let mut picker = Picker::new(Schedule::new(Policy::RunAhead));
        assert_eq!(picker.pick(&ready, false), Some(0));
        assert_eq!(picker.pick(&ready, false), Some(0));
        assert_eq!(picker.pick(&ready, true), Some(1));
        ready.remove(1);
        assert_eq!(picker.pick(&ready, false), Some(2));
        assert_eq!(picker.pick(&ready, true), Some(0));
    }

    #[test]
    fn random_reaches_every_warp_and_repeats_with_its_seed() {
        let draw = |seed| {
            let ready = ReadySet::full(70);
            let schedule = Schedule {
                seed,
                policy: Policy::Random { quantum: 4 },
            };
            let mut picker = Picker::new(schedule);
            (0..5000)
                .map(|_| picker.pick(&ready, false))
                .collect::<Vec<_>>()
        };
        let turns = draw(1);
        for warp in 0..70 {
            assert!(turns.contains(&Some(warp)), "warp {warp} never ran");
        }
        assert_eq!(turns, draw(1));
        assert_ne!(turns, draw(2));
    }

    #[test]
    fn seeds_draw_every_interleaving_policy() {
        let drawn: Vec<Policy> = (0..200)
            .map(|seed| Schedule::from_seed(seed).policy)
            .collect();
        for policy in [Policy::RoundRobin, Policy::RunAhead, Policy::Reverse] {
            assert!(drawn.contains(&policy), "{policy:?} never drawn");
        }
        assert!(
            drawn
                .iter()
                .any(|p| matches!(p, Policy::Random { quantum: 1 }))
        );
        assert!(!drawn.contains(&Policy::Coarse));
    }
}
