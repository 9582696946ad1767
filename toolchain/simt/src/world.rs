//! State shared by all threads of a launch.

use core::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;

use crate::bulk::Copies;
use crate::children::Children;
use crate::count::Counter;
use crate::dim::Position;
use crate::early::Waits;
use crate::fault::{Site, Target};
use crate::grid::GridInfo;
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
    pub(crate) memory: &'a Memory,
    /// The grids that run, and the number of GPUs.
    pub(crate) grids: Vec<GridInfo>,
    pub(crate) gpus: u32,
    pub(crate) step_limit: u64,
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

    /// The grid of a thread.
    pub(crate) fn grid_of(&self, at: &Position) -> &GridInfo {
        &self.grids[at.grid as usize]
    }

    /// Whether a grid of several that depend on each other may start. If a kernel has launched
    /// grids, those come first, and the grid runs later.
    pub(crate) fn may_start(&self, grid: usize) -> bool {
        let GridInfo { after, overlaps, .. } = &self.grids[grid];
        if after.is_empty() && overlaps.is_empty() {
            return true;
        }
        self.children.is_empty()
            && self.has_ended(after)
            && overlaps.iter().all(|&other| self.grids[other].lets_start())
    }

    /// A block of this grid may run.
    pub(crate) fn begin(&self, grid: usize) {
        let info = &self.grids[grid];
        if info.begin()
            && let Some(races) = &self.races
        {
            races.begin_grid(grid, &info.after, &info.overlaps);
        }
    }

    /// A grid has ended.
    pub(crate) fn end(&self, grid: &GridInfo) {
        if self.grids.len() > 1 {
            self.memory.forget_stores();
        }
        if grid.is_awaited
            && let Some(races) = &self.races
        {
            races.end_grid(grid.threads());
        }
    }

    /// Whether blocks form clusters.
    pub(crate) fn has_clusters(&self) -> bool {
        self.grids.iter().any(|grid| grid.cluster > 1)
    }

    /// Whether a grid that overlaps this one runs.
    pub(crate) fn is_overlapped_now(&self, grid: usize) -> bool {
        self.grids.iter().any(|other| other.is_running() && other.overlaps.contains(&grid))
    }

    /// Whether all of these grids have ended.
    pub(crate) fn has_ended(&self, grids: &[usize]) -> bool {
        grids.iter().all(|&grid| self.grids[grid].has_ended())
    }

    /// The number of a thread across grids and blocks. Only for race detection, where the number of
    /// threads is limited.
    pub(crate) fn thread_number(&self, at: &Position) -> u32 {
        self.grid_of(at).thread_number(at)
    }

    /// Whether several grids run on one GPU, so that messages name the kernel.
    pub(crate) fn has_many_kernels(&self) -> bool {
        let mut gpus = self.grids.iter().enumerate();
        gpus.any(|(at, grid)| self.grids[..at].iter().any(|other| other.gpu == grid.gpu))
    }

    /// The number of a GPU for messages; `None` if there is only one.
    pub(crate) fn named_gpu(&self, gpu: u32) -> Option<u32> {
        (self.gpus > 1).then_some(gpu)
    }

    /// The race of `later` on `target`, with names instead of numbers.
    pub(crate) fn race(&self, target: Target, later: RacingAccess, found: Found) -> Race {
        let named = |party: Party| {
            let is_its = |grid: &&GridInfo| grid.threads().contains(&party.thread);
            let grid = self.grids.iter().find(is_its).expect("a thread has a grid");
            let threads = grid.block.count();
            let thread = u64::from(party.thread - grid.threads().start);
            RacingAccess {
                site: Site {
                    kernel: Arc::clone(&grid.kernel),
                    gpu: self.named_gpu(grid.gpu),
                    block: grid.grid.index_of(thread / threads),
                    thread: grid.block.index_of(thread % threads),
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
            Why::Grids { overlaps } => MissingOrder::Grids { overlaps },
            Why::Everything { same_block } => MissingOrder::Everything { same_block },
        };
        Race { target, earlier: named(found.earlier), later, missing }
    }
}
