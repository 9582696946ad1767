//! The grids of a sort.

use super::Key;
use crate::device::{Device, Geometry};
use cuda_std::memory::Global;
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
    /// Keys of a tile.
    pub(super) tile: usize,
    /// The number of portions; of each but the last, the tiles and the keys; and whether they are
    /// rows. As in [`Portions`].
    pub(super) count: u32,
    tiles_each: u32,
    len: u64,
    are_rows: bool,
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
        let tiles = |tile: usize| rows * columns.div_ceil(tile);
        let payload = if P::IS_HELD { size_of::<P::Word>() } else { 0 };
        let plan = Self::new::<K>(device, payload, rows * columns, tiles);
        if rows > 1 {
            let tiles_each = columns.div_ceil(plan.tile) as u32;
            plan.counting_rows::<K>(device, rows, tiles_each, columns)
        } else {
            plan
        }
    }

    /// For rows of so many keys each, with a payload of so many bytes, in portions that are listed.
    pub(super) fn of_rows<K: Key>(device: &Device, payload: usize, lens: &[usize]) -> Self {
        let tiles = |tile: usize| lens.iter().map(|len| len.div_ceil(tile)).sum();
        Self::new::<K>(device, payload, lens.iter().sum(), tiles).counting_rows::<K>(
            device,
            lens.len(),
            0,
            0,
        )
    }

    /// For one array of `len` keys, or for rows with so many in all. `tiles_of` is the number of tiles
    /// of so many keys.
    fn new<K: Key>(
        device: &Device,
        payload: usize,
        len: usize,
        tiles_of: impl Fn(usize) -> usize,
    ) -> Self {
        let properties = device.properties();
        let multiprocessors = properties.multiprocessors as usize;
        let is_90 = properties.compute >= 90;
        let word = size_of::<K>();
        let [large, small] = [false, true].map(|is_small| Shape { word, payload, is_small, is_90 });
        // A large tile for each multiprocessor, or small ones.
        let short = multiprocessors * large.tile();
        let used = |shape: Shape| tiles_of(shape.tile()) * shape.tile();
        // Or more of the last tile of each row is used.
        let is_small = len <= short || 4 * used(small) < 3 * used(large);
        let shape = if is_small { small } else { large };
        let tiles = tiles_of(shape.tile());
        let tiles_each = shape.most_tiles();
        // Two packs of 16 bytes for each thread, and at most one block for each multiprocessor.
        let blocks = (len * word).div_ceil(16).div_ceil(2 * COUNT_THREADS as usize);
        Self {
            is_small,
            tiles,
            most_tiles: tiles.max(len.min(short).div_ceil(small.tile())),
            tile: shape.tile(),
            count: tiles.div_ceil(tiles_each as usize).max(1) as u32,
            tiles_each,
            len: u64::from(tiles_each) * shape.tile() as u64,
            are_rows: false,
            counts: Geometry::new(blocks.clamp(1, multiprocessors) as u32, COUNT_THREADS)
                .with_dynamic_shared(count_shared_bytes(word, is_90)),
            moves: Geometry::new(tiles as u32, THREADS).with_dynamic_shared(shape.shared_bytes()),
        }
    }

    /// The same, but the portions are rows, each counted by one block.
    fn counting_rows<K: Key>(
        self,
        device: &Device,
        rows: usize,
        tiles_each: u32,
        columns: usize,
    ) -> Self {
        let properties = device.properties();
        let blocks = rows.clamp(1, properties.multiprocessors as usize) as u32;
        let shared = count_shared_bytes(size_of::<K>(), properties.compute >= 90);
        let counts = Geometry::new(blocks, COUNT_THREADS).with_dynamic_shared(shared);
        let (count, len) = (rows as u32, columns as u64);
        Self { count, tiles_each, len, are_rows: true, counts, ..self }
    }

    /// Whether the portions are rows.
    pub(super) fn are_rows(&self) -> bool {
        self.are_rows
    }

    /// The portions. `table` is empty unless they are listed, and `counted` unless the array is.
    pub(super) fn portions(
        &self,
        are_indices: bool,
        table: Global<u64>,
        counted: Global<u64>,
    ) -> Portions {
        let flags = u32::from(are_indices) | u32::from(self.are_rows) << 1;
        Portions { count: self.count, tiles: self.tiles_each, len: self.len, flags, table, counted }
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
