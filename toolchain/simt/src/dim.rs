//! Positions of a thread: in its block, in the grid, in the source.

use core::fmt;

use crate::place::Place;

/// Lanes of a warp on every CUDA device so far (PTX ISA, special register `WARP_SZ`).
pub const WARP_LANES: u32 = 32;

/// Source location of an in-thread call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spot {
    /// The location that faults name: the call itself or, in a library, the line that calls the
    /// library.
    pub(crate) place: Place,
    /// The call itself.
    pub(crate) call: Place,
}

impl PartialEq for Spot {
    fn eq(&self, other: &Self) -> bool {
        // One call nearly always has one address, which is compared faster than the file's name.
        let same = |a: Place, b: Place| a.is(b) || a == b;
        same(self.place, other.place) && same(self.call, other.call)
    }
}

impl Spot {
    /// A call outside of libraries.
    pub(crate) fn at(place: Place) -> Self {
        Self { place, call: place }
    }

    /// The call itself, if faults name another location.
    pub(crate) fn inside(self) -> Option<Place> {
        (self.call != self.place).then_some(self.call)
    }
}

/// Extents of a block or grid, or an index into one; `x` varies fastest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Dim3 {
    /// Fastest dimension.
    pub x: u32,
    /// Middle dimension.
    pub y: u32,
    /// Slowest dimension.
    pub z: u32,
}

impl Dim3 {
    /// Three extents or indices.
    pub const fn new(x: u32, y: u32, z: u32) -> Self {
        Self { x, y, z }
    }

    /// Elements in a box of these extents, or `None` beyond 2^64.
    pub(crate) fn checked_count(self) -> Option<u64> {
        (u64::from(self.x) * u64::from(self.y)).checked_mul(u64::from(self.z))
    }

    /// Elements in a box of these extents. CUDA's limits on grids and blocks keep it below 2^63.
    pub const fn count(self) -> u64 {
        self.x as u64 * self.y as u64 * self.z as u64
    }

    /// The index at position `linear` in a box of these extents.
    pub(crate) fn index_of(self, linear: u64) -> Self {
        let (x, y) = (u64::from(self.x), u64::from(self.y));
        // Each remainder is below a u32 extent; so is the last quotient for a `linear` in the box.
        Self::new((linear % x) as u32, (linear / x % y) as u32, (linear / (x * y)) as u32)
    }

    /// Inverse of [`Dim3::index_of`]: the position of `index` in a box of these extents.
    pub(crate) fn linear(self, index: Self) -> u64 {
        u64::from(index.x)
            + u64::from(self.x) * (u64::from(index.y) + u64::from(self.y) * u64::from(index.z))
    }
}

impl fmt::Display for Dim3 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({}, {}, {})", self.x, self.y, self.z)
    }
}

impl From<u32> for Dim3 {
    fn from(x: u32) -> Self {
        Self::new(x, 1, 1)
    }
}

impl From<(u32, u32)> for Dim3 {
    fn from((x, y): (u32, u32)) -> Self {
        Self::new(x, y, 1)
    }
}

impl From<(u32, u32, u32)> for Dim3 {
    fn from((x, y, z): (u32, u32, u32)) -> Self {
        Self::new(x, y, z)
    }
}

impl From<[u32; 3]> for Dim3 {
    fn from([x, y, z]: [u32; 3]) -> Self {
        Self::new(x, y, z)
    }
}

/// The special registers `%tid`, `%ctaid`, `%ntid`, `%nctaid`, `%cluster_nctarank` of one thread
/// (PTX ISA, "Special Registers").
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Position {
    /// `%tid`: the thread in its block.
    pub thread_idx: Dim3,
    /// `%ctaid`: the block in the grid.
    pub block_idx: Dim3,
    /// `%ntid`: extents of the block.
    pub block_dim: Dim3,
    /// `%nctaid`: extents of the grid.
    pub grid_dim: Dim3,
    /// `%cluster_nctarank`: blocks of a cluster, consecutive in x; 1 without clusters.
    pub cluster_blocks: u32,
    /// The GPU of the block, in a launch on several. There is no register for it.
    pub gpu: u32,
    /// The GPUs of the launch.
    pub gpus: u32,
    /// The number of its grid in the launch, and that of the grid's first block.
    pub(crate) grid: u32,
    pub(crate) first_block: u64,
}

impl Position {
    /// Number of the thread in its block, `x` fastest: the order in which warps are cut.
    pub fn linear_thread(&self) -> u32 {
        // A launch admits at most 1024 threads a block.
        self.block_dim.linear(self.thread_idx) as u32
    }

    /// Number of the block in the grid, `x` fastest.
    pub fn linear_block(&self) -> u64 {
        self.grid_dim.linear(self.block_idx)
    }

    /// Number of the block among those of all grids of the launch, grid after grid.
    pub(crate) fn block_number(&self) -> u64 {
        self.first_block + self.linear_block()
    }

    /// The number of its GPU for messages; `None` if the launch has only one.
    pub(crate) fn named_gpu(&self) -> Option<u32> {
        (self.gpus > 1).then_some(self.gpu)
    }

    /// `%cluster_ctarank`: the block in its cluster.
    pub fn cluster_rank(&self) -> u32 {
        self.block_idx.x % self.cluster_blocks
    }

    /// Number of the cluster in the grid (`%clusterid`), `x` fastest.
    pub fn linear_cluster(&self) -> u64 {
        // A launch admits only grids whose rows are whole clusters.
        self.linear_block() / u64::from(self.cluster_blocks)
    }

    /// Clusters of the grid (`%nclusterid`).
    pub fn clusters(&self) -> u64 {
        self.grid_dim.count() / u64::from(self.cluster_blocks)
    }

    /// `%laneid`: the thread in its warp.
    pub fn lane(&self) -> u32 {
        self.linear_thread() % WARP_LANES
    }

    /// The warp in its block.
    pub fn warp(&self) -> u32 {
        self.linear_thread() / WARP_LANES
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn x_varies_fastest_and_linear_inverts_index_of() {
        let extents = Dim3::new(5, 3, 2);
        assert_eq!(extents.index_of(0), Dim3::new(0, 0, 0));
        assert_eq!(extents.index_of(7), Dim3::new(2, 1, 0));
        for linear in 0..extents.count() {
            assert_eq!(extents.linear(extents.index_of(linear)), linear);
        }
    }
}
