//! The grids of a sort.

use super::Key;
use crate::device::{Device, Geometry};
use cuda_std::warp::WARP_SIZE;
use gridsync_kernels::grid::sort::{
    COUNT_THREADS, MOST_ROWS, Payload, Portions, Shape, THREADS, count_shared_bytes,
    one_block_most_threads, one_block_threads,
};

/// Words of the rows of a tile: one for each digit, twice.
pub(super) const ROW: usize = 2 * 256;

/// The most elements of a row whose digits one block counts.
const MOST_COLUMNS: usize = 1 << 20;

/// The grids of a sort by a count and passes.
pub(super) struct Plan {
    /// Whether its tiles are small.
    pub(super) is_small: bool,
    pub(super) tiles: usize,
    /// The most tiles of an array that is not longer.
    pub(super) most_tiles: usize,
    pub(super) portions: Portions,
    pub(super) counts: Geometry,
    pub(super) moves: Geometry,
}

impl Plan {
    /// Whether all rows of so many elements can be sorted by the same launches.
    pub(super) fn has_rows_of(columns: usize) -> bool {
        columns <= MOST_COLUMNS
    }

    /// For rows of keys with a payload of `P`. A single row is an array of any length.
    pub(super) fn of<K: Key, P: Payload>(device: &Device, rows: usize, columns: usize) -> Self {
        let properties = device.properties();
        let multiprocessors = properties.multiprocessors as usize;
        let is_90 = properties.compute >= 90;
        let payload = if P::IS_HELD { size_of::<P::Word>() } else { 0 };
        let word = size_of::<K>();
        let [large, small] = [false, true].map(|is_small| Shape { word, payload, is_small, is_90 });
        // A large tile for each multiprocessor, or small ones.
        let short = multiprocessors * large.tile();
        let tiles_of = |shape: Shape| rows * columns.div_ceil(shape.tile());
        let is_small = rows * columns <= short
            // More of the last tile of each row is used.
            || 4 * tiles_of(small) * small.tile() < 3 * tiles_of(large) * large.tile();
        let shape = if is_small { small } else { large };
        let tiles = tiles_of(shape);
        let portions = if rows > 1 {
            let tiles = columns.div_ceil(shape.tile()) as u32;
            Portions { count: rows as u32, tiles, len: columns as u64, flags: 2 }
        } else {
            let each = shape.most_tiles();
            let len = u64::from(each) * shape.tile() as u64;
            let count = tiles.div_ceil(each as usize).max(1) as u32;
            Portions { count, tiles: each, len, flags: 0 }
        };
        // Two packs of 16 bytes for each thread, or a block for each row, and at most one for each
        // multiprocessor.
        let packs = (columns * word).div_ceil(16);
        let blocks = if rows > 1 { rows } else { packs.div_ceil(2 * COUNT_THREADS as usize) };
        let blocks = blocks.clamp(1, multiprocessors) as u32;
        Self {
            is_small,
            tiles,
            most_tiles: tiles.max((rows * columns).min(short).div_ceil(small.tile())),
            portions,
            counts: Geometry::new(blocks, COUNT_THREADS)
                .with_dynamic_shared(count_shared_bytes(word, is_90)),
            moves: Geometry::new(tiles as u32, THREADS).with_dynamic_shared(shape.shared_bytes()),
        }
    }
}

/// How rows are sorted that need only one warp or one block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::primitives) enum InBlocks {
    /// Rows of up to 32 keys: several in each warp.
    OfWarps,
    /// Rows in blocks of so many threads, `each` of them together.
    OfBlock { threads: u32, each: u32 },
}

impl InBlocks {
    /// For rows of keys of `word` bytes. `None` if they are too long.
    pub(super) fn of(device: &Device, word: usize, rows: usize, columns: usize) -> Option<Self> {
        let properties = device.properties();
        let is_90 = properties.compute >= 90;
        let threads_of = |each: usize| one_block_threads(each * columns, word, is_90);
        let alone = threads_of(1)?;
        if rows <= 1 || columns == 0 {
            return Some(Self::OfBlock { threads: alone, each: 1 });
        }
        if columns <= WARP_SIZE as usize {
            return Some(Self::OfWarps);
        }
        // About as many threads as a multiprocessor has registers for.
        let resident = one_block_most_threads(word, is_90);
        // So that every multiprocessor has rows.
        let most = rows.div_ceil(properties.multiprocessors as usize).min(MOST_ROWS as usize);
        let keys = |(each, threads): (usize, u32)| (resident / threads) as usize * each * columns;
        let fits = (1..=most).map_while(|each| Some((each, threads_of(each)?)));
        // Of equal ones the first, which has the smallest blocks.
        let best = fits.reduce(|best, next| if keys(next) > keys(best) { next } else { best });
        best.map(|(each, threads)| Self::OfBlock { threads, each: each as u32 })
    }
}
