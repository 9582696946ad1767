//! Counts for warps: their instructions, the branches on which their lanes diverge, the sectors
//! that they transfer, and their bank conflicts.
//!
//! Lanes of a warp that make the same call from the same source location in one warp step are one
//! instruction of the warp. This needs lanes in lockstep, so in a launch with counting, accesses
//! and marked branches are scheduling points under every policy.

use core::cell::RefCell;
use std::collections::{HashMap, HashSet};

use crate::access::{AccessKind, Space};
use crate::dim::WARP_LANES;
use crate::place::Place;

/// Banks of shared memory, each one word wide (CUDA C++ Programming Guide, "Shared Memory").
const BANKS: usize = 32;
/// Bytes of a word.
const WORD: usize = 4;
/// Bytes of a sector, the smallest unit of device memory that is transferred (CUDA C++ Programming
/// Guide, "Device Memory Accesses").
const SECTOR: usize = 32;

/// Counts for the warps of a launch. Each instruction of a warp counts once, however many lanes
/// took part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Instructions visible to the emulator: accesses to shared and device memory, collectives and
    /// marked branches. Accesses to the shared memory of other blocks of a cluster count here only.
    pub instructions: u64,
    /// Branches marked by [`branch`](crate::branch).
    pub branches: u64,
    /// Branches that some lanes took and others did not.
    pub diverged_branches: u64,
    /// Loads, stores and atomics in device memory.
    pub global_accesses: u64,
    /// Sectors of 32 bytes touched by those accesses, counted separately for each instruction.
    pub sectors: u64,
    /// The sectors that the same bytes would need if they were contiguous.
    pub least_sectors: u64,
    /// Loads from shared memory.
    pub shared_loads: u64,
    /// Stores to shared memory, and atomics.
    pub shared_stores: u64,
    /// Stores that update a word: a lane has loaded the word since the block's last barrier, and no
    /// thread has stored to it in between. An addition in shared memory ends in an update; a plain
    /// copy of a value into shared memory does not. Atomics count too.
    pub shared_updates: u64,
    /// Passes through the banks beyond the first. There are 32 banks, one word wide, and each
    /// serves one word per pass: n different words in one bank need n passes. All lanes that access
    /// the same word get it in one pass. Accesses of 8 bytes are served per half warp, accesses of
    /// 16 bytes per quarter warp.
    pub bank_conflicts: u64,
    /// Warp collectives that move values from lane to lane: shuffles and reductions, but not votes,
    /// matches or warp barriers.
    pub exchanges: u64,
}

/// An action of one lane in a step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Act {
    /// The number of its block.
    pub(crate) block: u64,
    /// Number of its thread in the block.
    pub(crate) thread: u32,
    pub(crate) lane: u32,
    /// The call and, in a library, the line that calls the library.
    pub(crate) place: (Place, Option<Place>),
    pub(crate) what: What,
}

/// See [`Act`].
#[derive(Clone, Copy, Debug)]
pub(crate) enum What {
    /// An access to shared or device memory.
    Access { space: Space, kind: AccessKind, address: usize, bytes: usize },
    /// A marked branch, and whether the lane takes it.
    Branch(bool),
}

/// What lanes at one source location must have in common to act together: the space and kind of an
/// access, and its bytes. `None` for a branch.
type Together = Option<(Space, AccessKind, usize)>;

impl What {
    fn together(self) -> Together {
        match self {
            Self::Access { space, kind, bytes, .. } => Some((space, kind, bytes)),
            Self::Branch(_) => None,
        }
    }

    /// The address of an access.
    fn address(self) -> usize {
        match self {
            Self::Access { address, .. } => address,
            Self::Branch(_) => unreachable!("a branch has no address"),
        }
    }
}

/// The counts so far, and what the lanes of the current warp have done in this step.
#[derive(Debug, Default)]
pub(crate) struct Counter {
    counts: RefCell<Counts>,
    step: RefCell<Vec<Act>>,
    /// For each block and address, the threads that have loaded from it since the last store there
    /// and since the block's last barrier.
    loaded: RefCell<HashMap<u64, HashMap<usize, HashSet<u32>>>>,
}

impl Counter {
    pub(crate) fn counts(&self) -> Counts {
        *self.counts.borrow()
    }

    pub(crate) fn act(&self, act: Act) {
        self.step.borrow_mut().push(act);
    }

    /// Lanes of a warp have met at a collective; `kind` is the name of its instruction.
    pub(crate) fn collective(&self, kind: &str) {
        let moves = kind.starts_with("shfl.") || kind.starts_with("redux.");
        let mut counts = self.counts.borrow_mut();
        counts.instructions += 1;
        counts.exchanges += u64::from(moves);
    }

    /// The threads of a block have met at its barrier. The warp that arrived last is still in its
    /// step, but does nothing more in it.
    pub(crate) fn barrier(&self, block: u64) {
        self.end_step();
        self.loaded.borrow_mut().remove(&block);
    }

    /// A warp step has ended: converts its lanes' actions into instructions.
    pub(crate) fn end_step(&self) {
        let (mut step, mut counts) = (self.step.borrow_mut(), self.counts.borrow_mut());
        let mut loaded = self.loaded.borrow_mut();
        while let Some(&first) = step.first() {
            let together = first.what.together();
            let same =
                |other: &Act| other.place == first.place && other.what.together() == together;
            let instruction: Vec<_> = step.extract_if(.., |other| same(other)).collect();
            counts.instructions += 1;
            match together {
                None => counts.branch(&instruction),
                Some((Space::Shared, kind, bytes)) => {
                    let loaded = loaded.entry(first.block).or_default();
                    counts.shared(kind, &instruction, loaded);
                    counts.bank_conflicts += conflicts(&instruction, bytes);
                }
                // How these accesses use the banks of the other block is undocumented.
                Some((Space::Cluster, ..)) => {}
                Some((_, _, bytes)) => counts.global(&instruction, bytes),
            }
        }
    }
}

impl Counts {
    fn branch(&mut self, instruction: &[Act]) {
        let takes = |act: &Act| matches!(act.what, What::Branch(true));
        let taken = instruction.iter().filter(|act| takes(act)).count();
        self.branches += 1;
        self.diverged_branches += u64::from(taken > 0 && taken < instruction.len());
    }

    fn global(&mut self, instruction: &[Act], bytes: usize) {
        let distinct = |unit: usize| {
            let units = instruction.iter().flat_map(|act| {
                let address = act.what.address();
                address / unit..(address + bytes).div_ceil(unit)
            });
            units.collect::<HashSet<_>>().len()
        };
        self.global_accesses += 1;
        self.sectors += distinct(SECTOR) as u64;
        self.least_sectors += distinct(1).div_ceil(SECTOR) as u64;
    }

    /// `loaded` has the threads that have loaded from each address of the block.
    fn shared(
        &mut self,
        kind: AccessKind,
        instruction: &[Act],
        loaded: &mut HashMap<usize, HashSet<u32>>,
    ) {
        if kind == AccessKind::Read {
            self.shared_loads += 1;
            for act in instruction {
                loaded.entry(act.what.address()).or_default().insert(act.thread);
            }
            return;
        }
        self.shared_stores += 1;
        let updates = |act: &Act| {
            let threads = loaded.get(&act.what.address());
            threads.is_some_and(|threads| threads.contains(&act.thread))
        };
        let any = kind == AccessKind::Atomic || instruction.iter().any(updates);
        self.shared_updates += u64::from(any);
        for act in instruction {
            loaded.remove(&act.what.address());
        }
    }
}

/// Passes beyond the first, for an instruction whose lanes access `bytes` bytes each.
fn conflicts(instruction: &[Act], bytes: usize) -> u64 {
    let lanes_at_once = WARP_LANES as usize / bytes.div_ceil(WORD);
    instruction
        .chunk_by(|a, b| a.lane as usize / lanes_at_once == b.lane as usize / lanes_at_once)
        .map(|together| {
            let mut words: Vec<usize> = together
                .iter()
                .flat_map(|act| {
                    let address = act.what.address();
                    address / WORD..(address + bytes).div_ceil(WORD)
                })
                .collect();
            words.sort_unstable();
            words.dedup();
            let mut passes = [0u64; BANKS];
            words.iter().for_each(|word| passes[word % BANKS] += 1);
            passes.into_iter().max().unwrap_or(0).saturating_sub(1)
        })
        .sum()
}
