//! Counts what warps do in shared memory, and how often bank conflicts make them wait.
//!
//! Lanes of a warp that make the same call from the same place in one warp step are one instruction
//! of the warp. This needs lanes in step, so while a launch counts, accesses are scheduling points
//! under every policy.

use core::cell::RefCell;
use std::collections::{HashMap, HashSet};

use crate::access::AccessKind;
use crate::dim::{Dim3, Place, WARP_LANES};

/// Banks of shared memory, each a word wide (CUDA C++ Programming Guide, "Shared Memory").
const BANKS: usize = 32;
/// Bytes of a word.
const WORD: usize = 4;

/// What the warps of a launch did. Each instruction of a warp counts once, however many lanes took
/// part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Loads from shared memory.
    pub shared_loads: u64,
    /// Stores to shared memory, and atomics.
    pub shared_stores: u64,
    /// Stores that update a word: a lane has loaded the word since the block's last barrier, and no
    /// thread has stored to it in between. An addition in shared memory ends in an update; a plain
    /// copy of a value into shared memory is none. Atomics count too.
    pub shared_updates: u64,
    /// Passes through the banks beyond the first. There are 32 banks, one word wide, and each
    /// serves one word in a pass: n different words in one bank take n passes. All lanes that want
    /// the same word get it in one pass. Accesses of 8 bytes go by half warps, of 16 bytes by
    /// quarter warps.
    pub bank_conflicts: u64,
    /// Warp collectives that move values from lane to lane: shuffles and reductions, but not votes,
    /// matches or warp barriers.
    pub exchanges: u64,
}

/// One access to shared memory by one lane.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SharedAccess {
    pub(crate) block: Dim3,
    /// Number of its thread in the block.
    pub(crate) thread: u32,
    pub(crate) lane: u32,
    pub(crate) place: Place,
    pub(crate) kind: AccessKind,
    pub(crate) address: usize,
    pub(crate) bytes: usize,
}

/// The counts so far, and what the lanes of the current warp have done in this step.
#[derive(Debug, Default)]
pub(crate) struct Counter {
    counts: RefCell<Counts>,
    step: RefCell<Vec<SharedAccess>>,
    /// For each block and address, the threads that have loaded from it since the last store there
    /// and since the block's last barrier.
    loaded: RefCell<HashMap<Dim3, HashMap<usize, HashSet<u32>>>>,
}

impl Counter {
    pub(crate) fn counts(&self) -> Counts {
        *self.counts.borrow()
    }

    pub(crate) fn access(&self, access: SharedAccess) {
        self.step.borrow_mut().push(access);
    }

    /// Lanes of a warp have met at a collective; `kind` is the name of its instruction.
    pub(crate) fn collective(&self, kind: &str) {
        let moves = kind.starts_with("shfl.") || kind.starts_with("redux.");
        self.counts.borrow_mut().exchanges += u64::from(moves);
    }

    /// The threads of a block have met at its barrier. The warp that came last is still in its
    /// step, but does nothing more in it.
    pub(crate) fn barrier(&self, block: Dim3) {
        self.end_step();
        self.loaded.borrow_mut().remove(&block);
    }

    /// A warp step has ended: turns its accesses into instructions.
    pub(crate) fn end_step(&self) {
        let (mut step, mut counts) = (self.step.borrow_mut(), self.counts.borrow_mut());
        let mut loaded = self.loaded.borrow_mut();
        while let Some(&first) = step.first() {
            let same = |other: &SharedAccess| {
                (other.place, other.kind, other.bytes) == (first.place, first.kind, first.bytes)
            };
            let loaded = loaded.entry(first.block).or_default();
            let instruction: Vec<_> = step.extract_if(.., |other| same(other)).collect();
            if first.kind == AccessKind::Read {
                counts.shared_loads += 1;
                for access in &instruction {
                    let threads = loaded.entry(access.address).or_default();
                    threads.insert(access.thread);
                }
            } else {
                counts.shared_stores += 1;
                let updates = |access: &SharedAccess| {
                    let threads = loaded.get(&access.address);
                    threads.is_some_and(|threads| threads.contains(&access.thread))
                };
                let any = first.kind == AccessKind::Atomic || instruction.iter().any(updates);
                counts.shared_updates += u64::from(any);
                for access in &instruction {
                    loaded.remove(&access.address);
                }
            }
            counts.bank_conflicts += conflicts(&instruction, first.bytes);
        }
    }
}

/// Passes beyond the first, for an instruction whose lanes access `bytes` bytes each.
fn conflicts(instruction: &[SharedAccess], bytes: usize) -> u64 {
    let lanes_at_once = WARP_LANES as usize / bytes.div_ceil(WORD);
    instruction
        .chunk_by(|a, b| a.lane as usize / lanes_at_once == b.lane as usize / lanes_at_once)
        .map(|together| {
            let mut words: Vec<usize> = together
                .iter()
                .flat_map(|access| access.address / WORD..(access.address + bytes).div_ceil(WORD))
                .collect();
            words.sort_unstable();
            words.dedup();
            let mut passes = [0u64; BANKS];
            words.iter().for_each(|word| passes[word % BANKS] += 1);
            passes.into_iter().max().unwrap_or(0).saturating_sub(1)
        })
        .sum()
}
