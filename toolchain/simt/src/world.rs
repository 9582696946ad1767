//! State shared by all threads of a launch.

use core::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;

use crate::bulk::Copies;
use crate::children::Children;
use crate::count::Counter;
use crate::dim::{Dim3, Position};
use crate::early::Waits;
use crate::fault::{Site, Target};
use crate::memory::Memory;
use crate::race::{self, Found, MissingOrder, Party, Race, Races, RacingAccess, Why};
use crate::replay::Recorder;
use crate::search::Guide;
use crate::weaken::Referee;

/// Counts of one launch.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    pub(crate) accesses: Cell<u64>,
    pub(crate) fences: Cell<u64>,
    pub(crate) spins: Cell<u64>,
}

/// Adds one to a counter.
pub(crate) fn bump(counter: &Cell<u64>) {
    counter.set(counter.get() + 1);
}

/// A hash of a sequence, from that of all but the last (the constant of FNV-1a).
pub(crate) fn mix(before: u64, next: u64) -> u64 {
    (before ^ next).wrapping_mul(0x0000_0100_0000_01B3).rotate_left(29)
}

/// State shared by all threads of a launch.
#[derive(Debug)]
pub(crate) struct World<'a> {
    pub(crate) kernel: Arc<str>,
    pub(crate) memory: &'a Memory,
    /// The GPUs that run it, each with this grid.
    pub(crate) gpus: u32,
    pub(crate) grid: Dim3,
    pub(crate) block: Dim3,
    /// Blocks per cluster.
    pub(crate) cluster: u32,
    pub(crate) shared_per_block: usize,
    pub(crate) step_limit: u64,
    pub(crate) multiprocessors: u32,
    /// Whether the launch guarantees that all blocks are resident at once.
    pub(crate) cooperative: bool,
    /// Whether strong accesses are scheduling points, and whether weak ones are.
    pub(crate) splits_strong: bool,
    pub(crate) splits_weak: bool,
    /// Whether bytes that were never written may be read, as zeros.
    pub(crate) zeroed: bool,
    pub(crate) counters: Counters,
    /// Set if this launch counts what its warps do.
    pub(crate) counter: Option<Counter>,
    /// Cycles of this launch.
    pub(crate) clock: Cell<u64>,
    /// Accesses that changed a byte.
    pub(crate) changes: Cell<u64>,
    /// The number of accesses at which to check for progress next, and `changes` at the last check.
    pub(crate) alarm: Cell<u64>,
    pub(crate) changes_at_alarm: Cell<u64>,
    /// Waits between blocks, if a block may wait for one that cannot start.
    pub(crate) waits: Option<Waits>,
    /// The race detector, if it is on.
    pub(crate) races: Option<Races>,
    /// Records sites and weakens one, if the launch requests it.
    pub(crate) referee: Option<Referee<'a>>,
    /// Its bulk copies.
    pub(crate) copies: Copies,
    /// Whether the actions of threads are reported to a search or a recording.
    pub(crate) watched: bool,
    /// Decides instead of the schedule, if present.
    pub(crate) guide: Option<Rc<Guide>>,
    /// Records this launch, if present.
    pub(crate) recorder: Option<Rc<Recorder>>,
    /// A hash of the schedule's decisions.
    pub(crate) decided: Cell<u64>,
    /// The grids that this one launches.
    pub(crate) children: Children,
}

impl World<'_> {
    /// Records a decision of the schedule.
    pub(crate) fn decide(&self, decision: u64) {
        self.decided.set(mix(self.decided.get(), decision));
    }

    /// The number of a thread across GPUs and blocks. Only for race detection, where the number of
    /// threads is limited.
    pub(crate) fn thread_number(&self, at: &Position) -> u32 {
        (at.block_number() * self.block.count()) as u32 + at.linear_thread()
    }

    /// The GPU and the index of the block with this number.
    pub(crate) fn block_of(&self, number: u64) -> (u32, Dim3) {
        let blocks = self.grid.count();
        ((number / blocks) as u32, self.grid.index_of(number % blocks))
    }

    /// The number of a GPU for messages; `None` if there is only one.
    pub(crate) fn named_gpu(&self, gpu: u32) -> Option<u32> {
        (self.gpus > 1).then_some(gpu)
    }

    /// The race of `later` on `target`, with names instead of numbers.
    pub(crate) fn race(&self, target: Target, later: RacingAccess, found: Found) -> Race {
        let named = |party: Party| {
            let (thread, threads) = (u64::from(party.thread), self.block.count());
            let (gpu, block) = self.block_of(thread / threads);
            RacingAccess {
                site: Site {
                    kernel: Arc::clone(&self.kernel),
                    gpu: self.named_gpu(gpu),
                    block,
                    thread: self.block.index_of(thread % threads),
                    place: party.place,
                    inside: None,
                },
                access: party.access,
                bytes: party.bytes,
            }
        };
        let missing = match found.why {
            Why::Scope(scope) => MissingOrder::Scope(scope),
            Why::Overlap => MissingOrder::Overlap,
            Why::Link { write, read, release, acquire, barrier } => {
                MissingOrder::Link(Box::new(race::Link {
                    write: named(write),
                    read: named(read),
                    release,
                    acquire,
                    barrier,
                }))
            }
            Why::Crossing(barrier) => MissingOrder::Crossing(barrier),
            Why::Protocol(name) => MissingOrder::Protocol(name),
            Why::Copy => MissingOrder::Copy,
            Why::Proxy(space) => MissingOrder::Proxy(space),
            Why::ReadOnly => MissingOrder::ReadOnly,
            Why::Everything { same_block } => MissingOrder::Everything { same_block },
        };
        Race { target, earlier: named(found.earlier), later, missing }
    }
}
