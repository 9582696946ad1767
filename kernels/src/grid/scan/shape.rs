//! The order of a scan: how an array is divided into tiles and groups, and what is combined with
//! what.
//!
//! It depends only on the length of the array and the sizes of its elements and accumulators. So a
//! floating-point scan has the same bits on every GPU, in the emulator and on a CPU. Below, a ⊕ b
//! combines a, of earlier elements, with b. Operands are never swapped, so the operation need not
//! commute. The identity ⊕ a and a ⊕ the identity are a.
//!
//! **Within a tile.** A **pack** is 16 bytes of the array. A **row** is 32 adjacent packs, one per
//! lane of a warp. A warp has `rows` consecutive rows, and a tile has `warps` warps.
//!
//! * `packed(x)`: the elements of the pack up to x, sequentially: ((x₀ ⊕ x₁) ⊕ x₂) ⊕ x.
//! * `lanes(x)`: the packs of the row before the pack of x. Their totals go through
//!   [`warp::scan`](crate::warp::scan).
//! * `rows(x)`: the rows of the warp before the row of x, sequentially. The total of a row is that
//!   scan's value in lane 31.
//! * `warps(x)`: the warps of the tile before the warp of x, by the same scan over the totals of
//!   the warps: the rows of each, sequentially. The result of this scan for all warps is the
//!   **aggregate** of the tile.
//!
//! **Across tiles.** A group is `group` adjacent tiles. `tree(…)` is the balanced binary tree over
//! `group` leaves, neighbours first. Missing leaves are the identity.
//!
//! * `base(0)` = the identity, `base(g + 1)` = `base(g)` ⊕ `tree(`all aggregates of group g`)`
//! * `prefix(t)` = `base(g)` ⊕ `tree(`the aggregates of group g before tile t`)`, where t is in g
//!
//! **The result** for x, inclusive, is `prefix(t)` ⊕ ((`warps(x)` ⊕ (`rows(x)` ⊕ `lanes(x)`)) ⊕
//! `packed(x)`). For the exclusive scan `packed(x)` ends before x, so it is the identity at the
//! first position of a pack. So in floating point the exclusive scan is not always the inclusive
//! one shifted by one position, to the last bit.
//!
//! Positions past the end of the array count as the identity. For
//! [exact](crate::op::Operation::EXACT) operations the scan by bulk copies chooses its own
//! bracketing within a warp.

use crate::grid::tiles::{MOST_GROUP, MOST_WARPS};
use cuda_std::memory::Scalar;
use cuda_std::warp::WARP_SIZE;

/// A class of array sizes, and its tiles.
struct Size {
    /// The most bytes of the array.
    up_to: usize,
    warps: u32,
    /// Bytes of accumulators that a lane keeps in its rows, unless one row needs more.
    held: usize,
}

/// The tiles for each size of array. Small arrays get many blocks with little work.
const SIZES: [Size; 2] = [
    Size { up_to: 1 << 20, warps: 8, held: 16 },
    Size { up_to: usize::MAX, warps: MOST_WARPS, held: 128 },
];

/// The tiles of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Warps of a block, which has one tile: a power of two, at most 8.
    pub warps: u32,
    /// Rows of a warp, 1 to [`most_rows`] of the types.
    pub rows: u32,
    /// Tiles of a group: a power of two, at least 2 and at most four per thread of a block.
    pub group: u32,
    /// Tiles of the array; 1 if it is empty.
    pub tiles: u32,
}

impl Shape {
    /// The tiles of an array of `len` elements of `T`, scanned in `A`.
    ///
    /// # Panics
    /// If the array has 2^31 tiles or more: 16 TiB or more.
    #[must_use]
    pub fn of<T: Scalar, A>(len: usize) -> Self {
        let bytes = len.saturating_mul(size_of::<T>());
        let [.., last] = &SIZES;
        let size = SIZES.iter().find(|size| bytes <= size.up_to);
        let size = size.unwrap_or(last);
        Self::with::<T>(len, size.warps, rows::<T, A>(size.held), MOST_GROUP)
    }

    /// The tiles of `len` elements that are a part of a large array, even if `len` is small.
    ///
    /// # Panics
    /// Same as for [`of`](Self::of).
    #[must_use]
    pub fn of_part<T: Scalar, A>(len: usize) -> Self {
        Self::with::<T>(len, MOST_WARPS, most_rows::<T, A>(), MOST_GROUP)
    }

    /// The length of a group of `T`, scanned in `A`. Each part of a large array but the last must
    /// be a multiple of this, to give the bits of the whole.
    #[inline]
    #[must_use]
    pub const fn part<T: Scalar, A>() -> usize {
        let row = Self::row::<T>();
        (MOST_GROUP * MOST_WARPS * most_rows::<T, A>()) as usize * row
    }

    /// The tiles of an array of `len` elements of `T`, from the other numbers.
    ///
    /// # Panics
    /// Same as for [`of`](Self::of).
    #[must_use]
    pub fn with<T: Scalar>(len: usize, warps: u32, rows: u32, group: u32) -> Self {
        let mut shape = Self { warps, rows, group, tiles: 1 };
        let tiles = len.div_ceil(shape.tile::<T>()).max(1);
        assert!(tiles < 1 << 31, "{len} elements are too many to scan");
        shape.tiles = tiles as u32;
        shape
    }

    /// Elements of a tile.
    #[inline]
    #[must_use]
    pub const fn tile<T: Scalar>(self) -> usize {
        self.warps as usize * self.strip::<T>()
    }

    /// Elements of a tile that one warp processes.
    #[inline]
    #[must_use]
    pub const fn strip<T: Scalar>(self) -> usize {
        self.rows as usize * Self::row::<T>()
    }

    /// Elements of a row.
    #[inline]
    #[must_use]
    pub const fn row<T: Scalar>() -> usize {
        WARP_SIZE as usize * T::PACK
    }

    /// Threads of a block.
    #[inline]
    #[must_use]
    pub const fn threads(self) -> u32 {
        self.warps * WARP_SIZE
    }

    /// Groups of the array.
    #[inline]
    #[must_use]
    pub const fn groups(self) -> u32 {
        self.tiles.div_ceil(self.group)
    }

    /// Slots for the values that blocks send to each other: one per tile and one per group.
    #[inline]
    #[must_use]
    pub const fn places(self) -> usize {
        self.tiles as usize + self.groups() as usize
    }

    /// The most [`places`](Self::places) of any array of up to `longest` elements of `T`, scanned
    /// in `A`. A small array has smaller tiles, and may have more of them than a larger array.
    ///
    /// # Panics
    /// Same as for [`of`](Self::of).
    #[must_use]
    pub fn most_places<T: Scalar, A>(longest: usize) -> usize {
        let lens = SIZES.map(|size| longest.min(size.up_to / size_of::<T>()));
        let places = lens.map(|len| Self::of::<T, A>(len).places());
        places.into_iter().max().unwrap_or(0)
    }

    /// The most combinations that any element of `T` passes through on its way into a result: each
    /// is a rounding in a floating-point sum.
    ///
    /// Into the aggregate of its tile: in its pack, over the lanes, the rows and the warps. After
    /// that, either the three ⊕ of its own tile and that of the prefix; or the tree, one ⊕ for each
    /// later base, that of base and tree, and that of the prefix.
    #[inline]
    #[must_use]
    pub const fn depth<T: Scalar>(self) -> u32 {
        let aggregate =
            (T::PACK as u32 - 1) + WARP_SIZE.ilog2() + (self.rows - 1) + self.warps.ilog2();
        let across = match self.tiles {
            1 => 0,
            _ => self.group.ilog2() + self.groups(),
        };
        aggregate + 4 + across
    }
}

/// Rows with at most `held` bytes a lane in accumulators of `A`, for elements of `T`; at least 1.
const fn rows<T: Scalar, A>(held: usize) -> u32 {
    match held / (T::PACK * size_of::<A>()) {
        0 => 1,
        rows => rows as u32,
    }
}

/// Rows of a warp that scans elements of `T` in `A`, in a large array: 1, 2, 4 or 8.
#[must_use]
pub const fn most_rows<T: Scalar, A>() -> u32 {
    let [.., last] = &SIZES;
    rows::<T, A>(last.held)
}

#[cfg(all(test, not(target_arch = "nvptx64")))]
mod tests {
    use super::*;
    use cuda_std::f16;

    #[test]
    fn tiles_of_every_length_hold_it_and_no_more() {
        let sizes = (0..40).flat_map(|e| [(1 << e) - 1, 1 << e, (1 << e) + 1, 3 << e]);
        for len in sizes {
            let shape = Shape::of::<f32, f32>(len);
            let tiles = shape.tiles as usize;
            assert!(tiles * shape.tile::<f32>() >= len, "{len}: {shape:?}");
            assert!((tiles - 1) * shape.tile::<f32>() <= len, "{len}: {shape:?}");
            assert!(shape.group <= 4 * shape.threads(), "{len}: {shape:?}");
        }
    }

    #[test]
    fn a_workspace_for_the_longest_array_fits_all_shorter_ones() {
        for longest in [0, 1, 4096, (1 << 18) - 1, 1 << 18, (1 << 18) + 1, 1 << 20, 1 << 30] {
            let most = Shape::most_places::<f32, f32>(longest);
            for len in (0..31).map(|e| 1 << e).filter(|&len| len <= longest) {
                assert!(Shape::of::<f32, f32>(len).places() <= most, "{len} of {longest}");
            }
        }
    }

    #[test]
    fn wider_accumulators_get_fewer_rows_per_lane() {
        assert_eq!(most_rows::<f32, f32>(), 8);
        assert_eq!(most_rows::<i32, i64>(), 4);
        assert_eq!(most_rows::<f16, f64>(), 2);
        assert_eq!(Shape::of::<f32, f32>(1 << 18).tile::<f32>(), 1024);
        assert_eq!(Shape::of::<f32, f32>(1 << 28).tile::<f32>(), 8192);
        assert_eq!(Shape::of::<f32, f32>(1 << 28).groups(), 32);
    }

    #[test]
    fn a_large_tile_is_32_kib_if_elements_and_results_have_the_same_size() {
        let tile = |len| Shape::of::<f32, f32>(len).tile::<f32>() * size_of::<f32>();
        assert_eq!(tile((1 << 18) + 1), 32 << 10);
        assert_eq!(Shape::of::<u64, u64>(1 << 20).tile::<u64>() * size_of::<u64>(), 32 << 10);
    }
}
