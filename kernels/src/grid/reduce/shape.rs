//! The tree of a reduction: how an array is divided into tiles, strips and lanes.
//!
//! It depends only on the length of the array and the size of its elements. So a floating-point sum
//! has the same bits on every GPU, for every grid, in the emulator and on a CPU.
//!
//! * A **pack** is 16 bytes of the array. A **row** is 32 adjacent packs, one per lane of a warp. A
//!   **run** is eight rows, 4 KiB, which a warp loads together.
//! * A **tile** is `warps × runs` runs. A **strip** is the part of a tile that one warp processes.
//! * If the operation commutes, the runs are dealt to the warps in turn. Each lane processes the
//!   rows of its strip in order, with an accumulator for each position in a pack. At the end of the
//!   strip it combines these accumulators, and then the warp combines the lanes.
//! * If the operation does not commute, a strip is adjacent runs. Each row is combined separately,
//!   first the positions and then the lanes, and then added to the strip, in the order of the rows.
//! * The strips of the tile are combined.
//! * The results of the tiles are the **leaves**. If the array has few strips, the strips are the
//!   leaves, and are not combined within a tile. A block has as many **chains** as threads. Leaf
//!   `l` belongs to chain `l mod chains`, or each chain has adjacent leaves if the operation does
//!   not commute. Each chain is combined in order, and then the chains are combined.
//!
//! Positions, lanes, strips and chains are combined in order and by pairs: first with second, third
//! with fourth, then the results in the same way until one is left.
//!
//! Positions past the end of the array count as the identity.

use cuda_std::memory::Scalar;
use cuda_std::warp::WARP_SIZE;

/// Rows of a run: a lane has this many loads in flight.
pub(in crate::grid) const ROWS: usize = 8;

/// Packs of a run.
pub(super) const RUN: usize = ROWS * WARP_SIZE as usize;

/// The most tiles of any array; workspaces are sized for this.
// Eight for each thread of the block that combines them, which polls eight together. With more it
// would need several iterations, of about 0.7 µs each on an H200.
pub const MOST_TILES: usize = 1 << 12;

/// Warps of a block for a small array.
pub const SMALL: u32 = 8;

/// Warps of a block for a large one.
pub const LARGE: u32 = 16;

/// The most strips that can be leaves.
const FEW_STRIPS: u32 = 1 << 10;

/// A class of array sizes, and its tiles.
struct Size {
    /// The most bytes of the array.
    up_to: usize,
    warps: u32,
}

/// The tiles for each size of array. A strip is one run, or as many as keep the number of tiles
/// within [`MOST_TILES`].
// Small arrays wait for one load and for the last block, large ones for memory. Chosen among blocks
// of 4 to 32 warps, 1 to 4 runs per strip and 2 to 16 loads in flight, for 2^12 to 2^30 f32 on an
// H200, 2026-11-21.
const SIZES: [Size; 2] =
    [Size { up_to: 1 << 22, warps: SMALL }, Size { up_to: usize::MAX, warps: LARGE }];

/// The tiles of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Warps of a block, and strips of a tile: [`SMALL`] or [`LARGE`].
    pub warps: u32,
    /// Runs of a strip, a power of two.
    pub runs: u32,
    /// Tiles of the array, at most [`MOST_TILES`]; 1 if it is empty.
    pub tiles: u32,
}

impl Shape {
    /// The tiles of an array of `len` elements of `T`.
    #[must_use]
    pub fn of<T: Scalar>(len: usize) -> Self {
        let bytes = len.saturating_mul(size_of::<T>());
        let [.., last] = &SIZES;
        let size = SIZES.iter().find(|size| bytes <= size.up_to);
        let warps = size.unwrap_or(last).warps;
        let most = MOST_TILES * warps as usize * Self::run::<T>();
        let runs = len.div_ceil(most).max(1).next_power_of_two() as u32;
        let mut shape = Self { warps, runs, tiles: 1 };
        shape.tiles = len.div_ceil(shape.tile::<T>()).max(1) as u32;
        shape
    }

    /// Elements of a tile.
    #[inline]
    #[must_use]
    pub const fn tile<T: Scalar>(self) -> usize {
        (self.warps * self.runs) as usize * Self::run::<T>()
    }

    /// Elements of a run.
    #[inline]
    #[must_use]
    pub const fn run<T: Scalar>() -> usize {
        RUN * T::PACK
    }

    /// Threads of a block.
    #[inline]
    #[must_use]
    pub const fn threads(self) -> u32 {
        self.warps * WARP_SIZE
    }

    /// Whether the leaves are the strips, not the tiles.
    #[inline]
    #[must_use]
    pub const fn leaves_are_strips(self) -> bool {
        leaves_are_strips(self.tiles, self.warps)
    }

    /// The number of leaves.
    #[inline]
    #[must_use]
    pub const fn leaves(self) -> u32 {
        match self.leaves_are_strips() {
            true => self.tiles * self.warps,
            false => self.tiles,
        }
    }

    /// The most combinations that any element passes through on its way into the result of an array
    /// of `T`: each is a rounding in a floating-point sum.
    #[inline]
    #[must_use]
    pub const fn depth<T: Scalar>(self) -> u32 {
        let strip = self.runs * ROWS as u32 + T::PACK.ilog2() + WARP_SIZE.ilog2();
        let leaf = match self.leaves_are_strips() {
            true => strip,
            false => strip + self.warps.ilog2(),
        };
        leaf + self.leaves().div_ceil(self.threads()) + self.threads().ilog2()
    }
}

/// Whether the leaves are the strips, not the tiles.
pub(super) const fn leaves_are_strips(tiles: u32, warps: u32) -> bool {
    tiles * warps <= FEW_STRIPS
}

#[cfg(all(test, not(target_arch = "nvptx64")))]
mod tests {
    use super::*;

    #[test]
    fn tiles_of_every_length_fit_in_a_workspace() {
        let sizes = (0..46).flat_map(|e| [(1 << e) - 1, 1 << e, (1 << e) + 1, 3 << e]);
        for len in sizes {
            let shape = Shape::of::<f32>(len);
            let tiles = shape.tiles as usize;
            assert!((1..=MOST_TILES).contains(&tiles), "{len}: {shape:?}");
            assert!(tiles * shape.tile::<f32>() >= len, "{len}: {shape:?}");
            assert!((tiles - 1) * shape.tile::<f32>() <= len, "{len}: {shape:?}");
        }
    }

    #[test]
    fn a_million_floats_have_1024_strips_and_a_billion_have_4096_tiles() {
        let small = Shape { warps: 8, runs: 1, tiles: 128 };
        assert_eq!(Shape::of::<f32>(1 << 20), small);
        assert!(small.leaves_are_strips());
        let large = Shape { warps: 16, runs: 16, tiles: 4096 };
        assert_eq!(Shape::of::<f32>(1 << 30), large);
        assert!(!large.leaves_are_strips());
    }
}
