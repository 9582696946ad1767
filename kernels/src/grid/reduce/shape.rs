//! The tree of a reduction: how an array is parted into tiles, strips and lanes.
//!
//! It follows from the length of the array and the size of its elements alone. So a floating-point
//! sum has the same bits on every GPU, for every grid, in the emulator and on a CPU.
//!
//! * An array is read by **packs** of 16 bytes; 32 packs side by side are a **row**, one for each
//!   lane of a warp, and eight rows a **run** of 4 KiB, which a warp loads at once.
//! * A **tile** is `warps × runs` runs, and what one warp takes of them is a **strip**. If the
//!   operation commutes, the runs are dealt to the warps by turns; each lane walks down the rows of
//!   its strip from the first to the last, with an accumulator for each place in a pack, and at the
//!   end of the strip the places of a pack are combined, then the lanes. If it does not, a strip is
//!   runs side by side, and each row is combined by itself, the places and then the lanes, before it
//!   is taken into the strip, the first row first.
//! * The strips of the tile are combined.
//! * The results of the tiles are the **leaves**; while there are few strips, the strips are, and are
//!   not combined within a tile. Leaves are dealt to as many **chains** as a block has threads, leaf
//!   `l` to chain `l mod chains`, or in pieces side by side if the operation does not commute, and
//!   combined there in order; then the chains are combined.
//!
//! Places, lanes, strips and chains are combined in order and by pairs: the first with the second, the
//! third with the fourth, and then what comes of them, until one is left.
//!
//! What lies past the end of the array counts as the identity.

use cuda_std::memory::Scalar;
use cuda_std::warp::WARP_SIZE;

/// Rows of a run: so many loads a lane has in flight.
pub(super) const ROWS: usize = 8;

/// Packs of a run.
pub(super) const RUN: usize = ROWS * WARP_SIZE as usize;

/// Tiles of any array, at most: what a workspace has room for.
// Eight for each thread of the block that combines them, which it looks at together: with more it
// takes several turns, of some 0.7 µs each on an H200.
pub const MOST_TILES: usize = 1 << 12;

/// Warps of a block for a small array.
pub const SMALL: u32 = 8;

/// Warps of a block for a large one.
pub const LARGE: u32 = 16;

/// Leaves that are strips, at most.
const FEW_STRIPS: u32 = 1 << 10;

/// A size of arrays, and the tiles they are parted into.
struct Size {
    /// Bytes of the array, at most.
    up_to: usize,
    warps: u32,
}

/// The tiles by the bytes of the array. A strip is a run, or as many as keep the tiles at
/// [`MOST_TILES`].
// Small arrays wait for one load and for the last block, large ones for memory. Chosen among blocks
// of 4 to 32 warps, 1 to 4 runs of a strip and 2 to 16 loads in flight at 2^12 to 2^30 f32 on an
// H200, 2026-11-21.
const SIZES: [Size; 2] =
    [Size { up_to: 1 << 22, warps: SMALL }, Size { up_to: usize::MAX, warps: LARGE }];

/// The tiles of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Warps of a block, which are strips of a tile: [`SMALL`] or [`LARGE`].
    pub warps: u32,
    /// Runs of a strip, a power of two.
    pub runs: u32,
    /// Tiles of the array, at most [`MOST_TILES`]; 1 of an empty one.
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
    #[must_use]
    pub const fn tile<T: Scalar>(self) -> usize {
        (self.warps * self.runs) as usize * Self::run::<T>()
    }

    /// Elements of a run.
    #[must_use]
    pub const fn run<T: Scalar>() -> usize {
        RUN * T::PACK
    }

    /// Threads of a block.
    #[must_use]
    pub const fn threads(self) -> u32 {
        self.warps * WARP_SIZE
    }

    /// Whether the leaves are the strips of the tiles, not the tiles.
    #[must_use]
    pub const fn leaves_are_strips(self) -> bool {
        leaves_are_strips(self.tiles, self.warps)
    }

    /// How many leaves there are.
    #[must_use]
    pub const fn leaves(self) -> u32 {
        match self.leaves_are_strips() {
            true => self.tiles * self.warps,
            false => self.tiles,
        }
    }

    /// How many times any one element is combined, at most, before it is in the result of an array
    /// of `T`: each is a rounding in a floating-point sum.
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

/// Whether the leaves of so many tiles are their strips.
pub(super) const fn leaves_are_strips(tiles: u32, warps: u32) -> bool {
    tiles * warps <= FEW_STRIPS
}

#[cfg(all(test, not(target_arch = "nvptx64")))]
mod tests {
    use super::*;

    #[test]
    fn every_length_is_parted_into_tiles_that_a_workspace_has_room_for() {
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
    fn a_million_floats_are_1024_strips_and_a_billion_4096_tiles() {
        let small = Shape { warps: 8, runs: 1, tiles: 128 };
        assert_eq!(Shape::of::<f32>(1 << 20), small);
        assert!(small.leaves_are_strips());
        let large = Shape { warps: 16, runs: 16, tiles: 4096 };
        assert_eq!(Shape::of::<f32>(1 << 30), large);
        assert!(!large.leaves_are_strips());
    }
}
