//! The order in which threads run, as chosen by the launch, and random numbers from the seed.

/// How warps take turns. A step runs lanes of one warp, each to its next scheduling point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Policy {
    /// Every runnable warp in turn, one step each.
    RoundRobin,
    /// A random warp runs for 1 to `quantum` steps, then another one is drawn.
    Random {
        /// Longest turn, in steps; 0 counts as 1.
        quantum: u32,
    },
    /// A warp runs until it blocks, spins, sleeps or exits, and then the next one. This makes a
    /// missing barrier visible.
    RunAhead,
    /// [`Policy::RunAhead`] from the last warp of the last block backwards.
    Reverse,
    /// The first warp of a random order that can run keeps running, even if another one becomes
    /// runnable. There are this many preemptions, at random steps, which move the running warp to
    /// the end. A warp that spins or sleeps moves there too. An error that needs `d` events in a
    /// certain order is found with `d - 1` changes, more reliably than with many short turns
    /// (Burckhardt et al., "A Randomized Scheduler with Probabilistic Guarantees of Finding Bugs",
    /// ASPLOS 2010).
    Preempt {
        /// The number of preemptions.
        changes: u32,
    },
    /// A random warp, or all warps of a random block, are held back: they get a turn of 16 steps
    /// when the others have spun or slept as often as there are warps, or cannot run. The others
    /// take turns.
    Stall,
    /// Fast: warps take turns, and only synchronisation is a scheduling point, not accesses. A
    /// thread runs as far as it can, which some errors need to show. This policy does not find
    /// errors that depend on how accesses interleave.
    Coarse,
}

/// How the lanes of a warp move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Lanes {
    /// In lockstep: all that can run.
    Together,
    /// Apart, as they may be since Volta: a random subset of the runnable lanes, or a single one,
    /// until they block or others are drawn.
    Apart,
}

/// The order in which threads run: a policy, how lanes move, and the seed of all random choices.
///
/// Seed 0 keeps everything in order: blocks start in ascending order, and warps and lanes take
/// turns by number. Any other seed chooses at random the order of warps, of lanes and of starting
/// blocks, because hardware guarantees none, and the times of bulk copies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Schedule {
    /// Start of the random sequence. The same schedule and kernel give the same run.
    pub seed: u64,
    /// How warps take turns.
    pub policy: Policy,
    /// How the lanes of a warp move.
    pub lanes: Lanes,
}

impl Schedule {
    /// The policy with everything in order, and lanes in lockstep.
    pub const fn new(policy: Policy) -> Self {
        Self::seeded(policy, 0)
    }

    /// The policy with lanes in lockstep, and this seed.
    pub const fn seeded(policy: Policy, seed: u64) -> Self {
        Self { seed, policy, lanes: Lanes::Together }
    }

    /// This schedule with the given movement of lanes.
    #[must_use]
    pub const fn with_lanes(self, lanes: Lanes) -> Self {
        Self { lanes, ..self }
    }

    /// A schedule drawn from the seed: any policy, with lanes together or apart.
    pub fn from_seed(seed: u64) -> Self {
        let mut random = SplitMix(seed);
        let policy = match random.below(12) {
            0 => Policy::RoundRobin,
            1 => Policy::RunAhead,
            2 => Policy::Reverse,
            3 => Policy::Coarse,
            4..7 => Policy::Preempt { changes: random.below(6) as u32 },
            7 => Policy::Stall,
            // Short turns shuffle neighbouring accesses, long ones let a warp overtake a barrier.
            _ => Policy::Random { quantum: 1 << random.below(8) },
        };
        let lanes = match random.below(2) {
            0 => Lanes::Together,
            _ => Lanes::Apart,
        };
        // Never 0, which disables random choices: otherwise two seeds would give the same run.
        let seed = random.next() | 1;
        Self { seed, policy, lanes }
    }
}

impl Default for Schedule {
    fn default() -> Self {
        Self::new(Policy::RoundRobin)
    }
}

/// SplitMix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number generators", 2014).
#[derive(Debug)]
pub(crate) struct SplitMix(pub(crate) u64);

impl SplitMix {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number in `0..bound`. Its bias, at most bound / 2^64, does not matter for a schedule.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    /// The numbers below `len` in random order.
    pub(crate) fn shuffled(&mut self, len: usize) -> Vec<u32> {
        let mut order: Vec<u32> = (0..len as u32).collect();
        for at in (1..len).rev() {
            order.swap(at, self.below(at as u64 + 1) as usize);
        }
        order
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_draw_every_policy_and_both_lane_modes() {
        let drawn: Vec<Schedule> = (0..200).map(Schedule::from_seed).collect();
        let fixed = [
            Policy::RoundRobin,
            Policy::RunAhead,
            Policy::Reverse,
            Policy::Coarse,
            Policy::Preempt { changes: 2 },
            Policy::Stall,
            Policy::Random { quantum: 1 },
        ];
        for policy in fixed {
            for lanes in [Lanes::Together, Lanes::Apart] {
                let is_like = |s: &&Schedule| (s.policy, s.lanes) == (policy, lanes);
                assert!(drawn.iter().any(|s| is_like(&s)), "{policy:?}, {lanes:?}");
            }
        }
    }
}
