//! Breadth-first search: the distance, in edges, of each vertex of a graph from the first one.
//!
//! [`bfs_search`] processes all levels in one launch. The vertices of a level are contiguous in a
//! queue. Each thread counts the vertices that it finds, and a scan over all threads of the grid
//! gives the index in the queue where it appends them.

use core::ops::Range;
use cuda_std::launch::KernelArg;
use cuda_std::prelude::*;
use cuda_std::warp::{WARP_SIZE, lane_id};
use gridsync_kernels::grid::barrier::{Barrier, Exchange, GridBarrier};
use gridsync_kernels::op::Sum;
use gridsync_kernels::warp;

/// The parent of a vertex that has not been found yet.
pub const NOBODY: u32 = u32::MAX;

/// A graph, and the state of the search.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Search {
    /// The index of each vertex's first edge, then the total number of edges.
    pub starts: Global<u32>,
    /// The target of each edge. No vertex has two edges to the same target, or an edge to itself.
    pub targets: Global<u32>,
    /// For each vertex, the vertex from which it was found. Initially [`NOBODY`], except for the
    /// vertex at the head of the queue, which is its own parent.
    pub parents: Global<u32>,
    /// The distance of each vertex, in edges. The search writes those of the vertices that it
    /// finds.
    pub levels: Global<u32>,
    /// The vertices in the order of their levels: initially only the start vertex. It has room for
    /// all vertices.
    pub queue: Global<u32>,
}

// SAFETY: `repr(C)` of five views.
unsafe impl KernelArg for Search {}

impl Search {
    /// Calls `visit` with each vertex in this thread's share of the range `level` of the queue, and
    /// each target of its edges.
    #[device]
    fn each_edge(self, level: &Range<usize>, mut visit: impl FnMut(u32, usize)) {
        for place in (level.start + thread::index()..level.end).step_by(thread::thread_count()) {
            let vertex = self.queue.read(place);
            let start = self.starts.read(vertex as usize);
            let end = self.starts.read(vertex as usize + 1);
            for edge in start..end {
                visit(vertex, self.targets.read(edge as usize) as usize);
            }
        }
    }

    /// The parent of a vertex, which other threads may be changing.
    #[device]
    fn parent(self, vertex: usize) -> u32 {
        self.parents.load(vertex, Ordering::Relaxed, Scope::Device)
    }

    /// Claims the vertices, not found yet, to which the share has edges. Returns how many.
    #[device]
    fn claim(self, level: &Range<usize>) -> u32 {
        let mut claimed = 0;
        self.each_edge(level, |vertex, target| {
            let (order, scope) = (Ordering::Relaxed, Scope::Device);
            let is_free = self.parent(target) == NOBODY;
            if is_free
                && self.parents.compare_exchange(target, NOBODY, vertex, order, scope) == NOBODY
            {
                claimed += 1;
            }
        });
        claimed
    }

    /// Appends the vertices that this thread has claimed to the queue, starting at index `place`.
    #[device]
    fn append(self, level: &Range<usize>, away: u32, mut place: usize) {
        self.each_edge(level, |vertex, target| {
            if self.parent(target) == vertex {
                self.levels.write(target, away);
                self.queue.write(place, target as u32);
                place += 1;
            }
        });
    }
}

/// Searches the whole graph.
///
/// # Safety
///
/// `search` is as its fields require. `barrier` and `words` have the words of a [`GridBarrier`] and
/// an [`Exchange`]. Blocks have a multiple of 32 threads and are all co-resident.
#[kernel(cooperative)]
pub unsafe fn bfs_search(search: Search, barrier: Global<u32>, words: Global<u64>) {
    let mut barrier = GridBarrier::attach(barrier);
    let mut exchange = Exchange::attach(words);
    let (mut level, mut away) = (0..1, 0);
    while !level.is_empty() {
        away += 1;
        let claimed = search.claim(&level);
        let places = exchange.scan_threads(Sum::<u32>::new(), claimed);
        search.append(&level, away, level.end + places.before as usize);
        level = level.end..level.end + places.all as usize;
        // The other blocks read the vertices that this one has appended.
        barrier.sync();
    }
}

/// Searches one level: the vertices at the indices `start..end` of the queue. `found[0]`, which was
/// `before`, grows by the number of vertices found.
///
/// # Safety
///
/// `search` is as its fields require, `start..end` is the last level, `found` has one element.
/// Blocks have a multiple of 32 threads.
#[kernel]
pub unsafe fn bfs_level(
    search: Search,
    start: u32,
    end: u32,
    away: u32,
    found: Global<u32>,
    before: u32,
) {
    let level = start as usize..end as usize;
    let claimed = search.claim(&level);
    let scanned = warp::scan(Sum::<u32>::new(), claimed);
    // The last lane reserves the indices of its warp.
    let mut first = end;
    if lane_id() == WARP_SIZE - 1 && scanned > 0 {
        first += found.fetch_add(0, scanned, Ordering::Relaxed, Scope::Device).wrapping_sub(before);
    }
    let place = warp::total(first) + scanned - claimed;
    search.append(&level, away, place as usize);
}
