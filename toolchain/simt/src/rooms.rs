//! Room for blocks: which cluster of which grid starts next, and where.
//!
//! The grids of a GPU share its multiprocessors. A cluster of a grid that has room for n clusters
//! occupies an n-th of the GPU. If clusters of several grids could start next and not all fit, the
//! seed chooses the grid, because hardware guarantees no order; seed 0 chooses the first one.

use std::rc::Rc;

use crate::grid::GridInfo;
use crate::picker::Starts;
use crate::schedule::SplitMix;
use crate::search::Guide;

/// All multiprocessors of a GPU.
const WHOLE: u64 = 1 << 62;

/// The slots of a launch's blocks. Each grid has separate ones; those of a cluster are consecutive
/// and form a room.
#[derive(Debug)]
pub(crate) struct Rooms {
    /// For each room its grid and its first slot.
    rooms: Vec<(usize, usize)>,
    /// The room of each slot.
    of_slot: Vec<u32>,
    queues: Vec<Queue>,
    /// The part of each GPU that is occupied, out of [`WHOLE`].
    used: Vec<u64>,
    /// Whether all grids of each GPU fit at once.
    has_all: Vec<bool>,
    random: Option<SplitMix>,
    guide: Option<Rc<Guide>>,
}

/// The clusters of one grid that have not started, and the empty rooms for them.
#[derive(Debug)]
struct Queue {
    starts: Starts,
    empty: Vec<usize>,
    /// The part of the GPU that a cluster occupies.
    share: u64,
    /// The clusters whose part is reserved: a cooperative grid starts as a whole.
    reserved: u64,
}

/// A cluster that starts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Start {
    pub(crate) room: usize,
    pub(crate) grid: usize,
    /// The number of its first block in the launch.
    pub(crate) block: u64,
}

impl Rooms {
    /// Empty rooms for these grids.
    pub(crate) fn new(grids: &[GridInfo], seed: u64, guide: Option<&Rc<Guide>>) -> Self {
        let gpus = grids.iter().map(|grid| grid.gpu).max().map_or(0, |gpu| gpu as usize + 1);
        // Clusters, and clusters that a GPU has room for.
        let sizes = grids.iter().map(|grid| {
            let (blocks, cluster) = (grid.grid.count(), u64::from(grid.cluster));
            let resident = grid.max_resident_blocks.map(|most| (u64::from(most) / cluster).max(1));
            (blocks / cluster, resident)
        });
        let share = |resident: Option<u64>| resident.map_or(0, |resident| WHOLE / resident);
        let mut needed = vec![0u128; gpus];
        for (grid, (clusters, resident)) in grids.iter().zip(sizes.clone()) {
            needed[grid.gpu as usize] += u128::from(clusters) * u128::from(share(resident));
        }
        let has_all: Vec<bool> = needed.iter().map(|&needed| needed <= WHOLE.into()).collect();
        let (mut rooms, mut of_slot, mut queues) = (Vec::new(), Vec::new(), Vec::new());
        for (number, (grid, (clusters, resident))) in grids.iter().zip(sizes).enumerate() {
            let count = resident.map_or(clusters, |resident| clusters.min(resident));
            let first = rooms.len();
            for room in first..first + count as usize {
                rooms.push((number, of_slot.len()));
                of_slot.extend((0..grid.cluster).map(|_| room as u32));
            }
            let seed = if seed == 0 { 0 } else { seed.wrapping_add(number as u64) };
            // If all fit, the order of their first steps decides the order in which they start.
            let guide = guide.filter(|_| !has_all[grid.gpu as usize]).cloned();
            queues.push(Queue {
                starts: Starts::new(seed, clusters, guide),
                empty: (first..rooms.len()).rev().collect(),
                share: share(resident),
                reserved: 0,
            });
        }
        Self {
            rooms,
            of_slot,
            queues,
            used: vec![0; gpus],
            has_all,
            random: (seed != 0 && grids.len() > 1).then_some(SplitMix(seed ^ 0x6121_D5EE)),
            guide: guide.cloned(),
        }
    }

    /// Number of rooms.
    pub(crate) fn count(&self) -> usize {
        self.rooms.len()
    }

    /// Number of slots.
    pub(crate) fn slots(&self) -> usize {
        self.of_slot.len()
    }

    /// The room that a slot is in.
    pub(crate) fn of_slot(&self, slot: usize) -> usize {
        self.of_slot[slot] as usize
    }

    /// A room's grid, and its first slot.
    pub(crate) fn get(&self, room: usize) -> (usize, usize) {
        self.rooms[room]
    }

    /// Clusters of a grid that have not started.
    pub(crate) fn left(&self, grid: usize) -> u64 {
        self.queues[grid].starts.left()
    }

    /// The cluster that starts next, if one of a grid that `may_start` has room.
    pub(crate) fn start(
        &mut self,
        grids: &[GridInfo],
        may_start: impl Fn(usize) -> bool,
    ) -> Option<Start> {
        let Self { queues, used, has_all, random, guide, .. } = self;
        let fits = |&number: &usize| {
            let (queue, grid) = (&queues[number], &grids[number]);
            !queue.empty.is_empty()
                && queue.starts.left() > 0
                && used[grid.gpu as usize] + queue.needs(grid) <= WHOLE
                && may_start(number)
        };
        let fitting = || (0..grids.len()).filter(fits);
        let mut grid = fitting().next()?;
        let gpu = grids[grid].gpu as usize;
        if !has_all[gpu] {
            let of_gpu = || fitting().filter(|&number| grids[number].gpu as usize == gpu);
            let count = of_gpu().count();
            let chosen = match (guide, random) {
                (Some(guide), _) => guide.choose(count),
                (None, Some(random)) if count > 1 => random.below(count as u64) as usize,
                _ => 0,
            };
            grid = of_gpu().nth(chosen)?;
        }
        let queue = &mut queues[grid];
        used[gpu] += queue.needs(&grids[grid]);
        queue.reserved = match queue.reserved.checked_sub(1) {
            Some(reserved) => reserved,
            None if grids[grid].cooperative => queue.starts.left() - 1,
            None => 0,
        };
        let (room, cluster) = (queue.empty.pop()?, queue.starts.next()?);
        let block = grids[grid].first_block + cluster * u64::from(grids[grid].cluster);
        Some(Start { room, grid, block })
    }

    /// The cluster in a room has ended.
    pub(crate) fn leave(&mut self, room: usize, grids: &[GridInfo]) {
        let (grid, _) = self.rooms[room];
        self.queues[grid].empty.push(room);
        self.used[grids[grid].gpu as usize] -= self.queues[grid].share;
    }
}

impl Queue {
    /// The part of the GPU that must be free before the next cluster starts.
    fn needs(&self, grid: &GridInfo) -> u64 {
        match (self.reserved, grid.cooperative) {
            (0, true) => self.share * self.starts.left(),
            (0, false) => self.share,
            _ => 0,
        }
    }
}
