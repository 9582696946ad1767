//! Breadth-first search in one launch: the distance in edges of each vertex of a graph from the
//! first.
//!
//! The alternative is one launch per level, where the host copies the length of the queue back to
//! see whether there is another level. The kernels are in kernels/examples/src/bfs.rs.
//!
//! `cargo run --release -p gridsync --example bfs`

mod shared;

use gridsync::device::{Device, DeviceError, Geometry};
use gridsync::launch::{Blocks, barrier_words, cooperative};
use gridsync_example_kernels::bfs::{NOBODY, Search, bfs_level, bfs_search};
use gridsync_kernels::grid::barrier::{Exchange, GridBarrier};
use shared::{is_gpu, noise, time};
use std::collections::{BTreeSet, VecDeque};

/// An undirected graph: where the edges of each vertex start, and where each leads.
pub(crate) struct Graph {
    starts: Vec<u32>,
    targets: Vec<u32>,
}

fn main() -> Result<(), DeviceError> {
    shared::run(|device| {
        let large = is_gpu(device);
        let side = if large { 512 } else { 20 };
        let blocks = if large { Blocks::PerMultiprocessor(1) } else { Blocks::Exactly(5) };
        let threads = if large { 512 } else { 64 };
        for graph in [Graph::random(side * side), Graph::grid(side, side)] {
            let levels = graph.search_on_cpu();
            if large {
                let farthest = levels.iter().filter(|&&level| level != NOBODY).max();
                let (vertices, edges) = (levels.len(), graph.targets.len());
                println!("{vertices} vertices, {edges} edges, the last level is {farthest:?}");
            }
            assert_eq!(graph.search(device, blocks, threads)?, levels);
            assert_eq!(graph.search_by_launches(device)?, levels);
        }
        Ok(())
    })
}

impl Graph {
    /// Four edges from each of `vertices` vertices to random ones.
    pub(crate) fn random(vertices: u32) -> Self {
        Self::of(vertices, (0..4 * vertices).map(|i| (i / 4, noise(i) % vertices)))
    }

    /// A grid, in which each vertex has edges to its neighbours in the row and in the column.
    pub(crate) fn grid(rows: u32, columns: u32) -> Self {
        let along_row = (0..rows * columns).map(|at| (at, at + 1));
        let along_row = along_row.filter(|(_, to)| to % columns != 0);
        let along_column = (0..(rows - 1) * columns).map(|at| (at, at + columns));
        Self::of(rows * columns, along_row.chain(along_column))
    }

    /// The graph with these edges, each once in both directions.
    fn of(vertices: u32, edges: impl Iterator<Item = (u32, u32)>) -> Self {
        let edges = edges.filter(|(a, b)| a != b);
        let edges: BTreeSet<_> = edges.flat_map(|(a, b)| [(a, b), (b, a)]).collect();
        let mut starts = vec![0; vertices as usize + 1];
        for &(from, _) in &edges {
            starts[from as usize + 1] += 1;
        }
        for vertex in 0..vertices as usize {
            starts[vertex + 1] += starts[vertex];
        }
        Self { starts, targets: edges.into_iter().map(|(_, to)| to).collect() }
    }

    /// Computes the level of each vertex in one launch.
    pub(crate) fn search(
        &self,
        device: &Device,
        blocks: Blocks,
        threads: u32,
    ) -> Result<Vec<u32>, DeviceError> {
        let geometry = cooperative::<bfs_search>(device, blocks, threads, 0)?;
        let barrier = barrier_words::<GridBarrier>(device, &geometry)?;
        let words = device.zeroed(Exchange::words(geometry.grid.volume() as usize))?;
        self.run(device, "one launch", |search| {
            // SAFETY: a graph with a new search, the words of both, whole warps, and a resident
            // grid. All of it lives until the download.
            unsafe {
                let args = (search, barrier.view(), words.view());
                device.launch::<bfs_search>(&geometry, args)
            }
        })
    }

    /// Computes the level of each vertex with one launch per level.
    pub(crate) fn search_by_launches(&self, device: &Device) -> Result<Vec<u32>, DeviceError> {
        let (found, mut before) = (device.zeroed::<u32>(1)?, 0);
        self.run(device, "a launch for each level", |search| {
            let (mut start, mut end, mut away) = (0u32, 1, 0);
            while start < end {
                away += 1;
                // One thread per vertex of the level.
                let geometry = Geometry::new((end - start).div_ceil(256), 256);
                // SAFETY: a graph, its last level, a number, and whole warps. All of it lives until
                // the download.
                unsafe {
                    let args = (search, start, end, away, found.view(), before);
                    device.launch::<bfs_level>(&geometry, args)?;
                }
                let all = found.download()?[0];
                (start, end) = (end, end + all.wrapping_sub(before));
                before = all;
            }
            Ok(())
        })
    }

    /// Runs and times `run` with a new search.
    fn run(
        &self,
        device: &Device,
        what: &str,
        mut run: impl FnMut(Search) -> Result<(), DeviceError>,
    ) -> Result<Vec<u32>, DeviceError> {
        let vertices = self.starts.len() - 1;
        let (starts, targets) = (device.upload(&self.starts)?, device.upload(&self.targets)?);
        let [mut parents, mut levels] = [device.alloc(vertices)?, device.alloc(vertices)?];
        let queue = device.zeroed(vertices)?;
        let mut first = vec![NOBODY; vertices];
        first[0] = 0;
        let search = Search {
            starts: starts.view(),
            targets: targets.view(),
            parents: parents.view(),
            levels: levels.view(),
            queue: queue.view(),
        };
        let prepare = || {
            parents.copy_from(&first)?;
            levels.copy_from(&first)
        };
        time(device, what, prepare, || run(search))?;
        levels.download()
    }

    /// Computes the level of each vertex on the CPU.
    pub(crate) fn search_on_cpu(&self) -> Vec<u32> {
        let mut levels = vec![NOBODY; self.starts.len() - 1];
        levels[0] = 0;
        let mut queue = VecDeque::from([0]);
        while let Some(vertex) = queue.pop_front() {
            for edge in self.starts[vertex]..self.starts[vertex + 1] {
                let target = self.targets[edge as usize] as usize;
                if levels[target] == NOBODY {
                    levels[target] = levels[vertex] + 1;
                    queue.push_back(target);
                }
            }
        }
        levels
    }
}
