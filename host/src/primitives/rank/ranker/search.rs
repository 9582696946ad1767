//! Where the elements at some ranks are: a filter or two, and a sort of what is left.

use super::super::bracket::{Plan, Ranks};
use super::Ranker;
use crate::device::{Device, DeviceError, Geometry};
use crate::primitives::scratch::Scratch;
use crate::primitives::sort::{Key, Order};
use bytemuck::Pod;
use cuda_std::memory::{Global, Scalar};
use gridsync_entries::rank::{Collecting, Filtering, Sampling};
use gridsync_entries::{Entry, KernelOf};
use gridsync_kernels::grid::rank::{
    Bracket, Candidates, Chunks, FOUND, Places, THREADS, WARPS, row_len, rows_together,
};

/// The owner of working memory, for messages.
pub(super) const WHAT: &str = "a selection by rank";

/// The most filters in a row.
pub(super) const LEVELS: usize = 2;

/// Blocks of a filter on each multiprocessor: as many as fit.
const BLOCKS: usize = 4;

/// Keys without gaps, and their indices in the array that was filtered.
pub(super) struct Level<K: Key> {
    keys: Scratch<K::Word>,
    positions: Scratch<u64>,
}

impl<K: Key> Level<K> {
    pub(super) fn new(device: &Device) -> Result<Self, DeviceError> {
        Ok(Self { keys: scratch(device)?, positions: scratch(device)? })
    }

    /// Room for `len` keys after the first `first`.
    fn candidates(&mut self, first: usize, len: usize) -> Result<Candidates<K::Word>, DeviceError> {
        self.keys.fit(len)?;
        self.positions.fit(len)?;
        Ok(Candidates {
            first: first as u64,
            keys: self.keys.view().part(0, len),
            positions: self.positions.view().part(0, len),
        })
    }
}

/// Working memory of a filter: how many keys each chunk has, the keys, and their indices in it.
pub(super) struct InChunks<K: Key> {
    counts: Scratch<u32>,
    keys: Scratch<K::Word>,
    offsets: Scratch<u32>,
}

impl<K: Key> InChunks<K> {
    pub(super) fn new(device: &Device) -> Result<Self, DeviceError> {
        Ok(Self { counts: scratch(device)?, keys: scratch(device)?, offsets: scratch(device)? })
    }

    /// The chunks of an array of which about `inside` keys will be found, and the grid for them: as
    /// many blocks as a device with this many multiprocessors runs at once, if it has rows for them.
    fn of(
        &mut self,
        input: Global<K::Word>,
        inside: usize,
        multiprocessors: usize,
    ) -> Result<(Chunks<K::Word>, Geometry), DeviceError> {
        let (together, warps) = (rows_together::<K::Word>(), WARPS as usize);
        let all = input.len().div_ceil(row_len::<K::Word>());
        let rows = all.div_ceil(multiprocessors * BLOCKS * warps).next_multiple_of(together);
        let blocks = all.div_ceil(rows * warps);
        let chunks = blocks * warps;
        // Six deviations more than in a chunk of an array without order.
        let each = inside as f64 / chunks as f64;
        let room = ((each + 6.0 * each.sqrt() + 8.0) as usize).min(rows * row_len::<K::Word>());
        self.counts.fit(chunks)?;
        self.keys.fit(chunks * room)?;
        self.offsets.fit(chunks * room)?;
        let chunks = Chunks {
            input,
            rows: rows as u32,
            room: room as u32,
            counts: self.counts.view().part(0, chunks),
            keys: self.keys.view().part(0, chunks * room),
            offsets: self.offsets.view().part(0, chunks * room),
        };
        Ok((chunks, Geometry::new(blocks as u32, THREADS)))
    }
}

/// The arguments of a filter.
struct Search<K: Key> {
    order: Order,
    chunks: Chunks<K::Word>,
    /// A warp for each chunk.
    grid: Geometry,
    /// Sorted.
    sample: Global<K::Word>,
    bracket: Bracket,
}

/// The numbers that a filter has found.
struct Filtered {
    before: usize,
    inside: usize,
    /// All inside have one number.
    is_one: bool,
    has_last: bool,
}

/// The elements at some ranks.
pub(in crate::primitives::rank) struct Found {
    pub(in crate::primitives::rank) places: Places,
    /// Whether some element has the last number of the order, if a filter has looked.
    pub(super) has_last: Option<bool>,
}

impl<K: Key> Ranker<K> {
    /// The places of the elements of an array that is sorted already.
    pub(in crate::primitives::rank) fn as_they_are(&self) -> Places {
        let none = self.found.view().part(0, 0);
        Places { sorted: none, positions: [none; 2], first: 0 }
    }

    /// Finds the elements of these ranks, which exist.
    ///
    /// # Safety
    /// The input is on this device, and nothing writes it until this returns.
    pub(in crate::primitives::rank) unsafe fn find(
        &mut self,
        order: Order,
        input: Global<K::Word>,
        ranks: Ranks,
        looks_for_last: bool,
    ) -> Result<Found, DeviceError> {
        let (mut part, mut ranks, mut places) = (input, ranks, self.as_they_are());
        let mut has_last = None;
        let Some(mut plan) = Plan::of(&self.tuning, ranks, part.len()) else {
            // SAFETY: as for this function.
            places = unsafe { self.sort(order, part, ranks, places)? };
            return Ok(Found { places, has_last });
        };
        // SAFETY: as for this function.
        let sample = unsafe { self.draw(order, input, plan.sample)? };
        plan.bracket.looks_for_last = looks_for_last.into();
        for level in 0..LEVELS {
            let multiprocessors = self.device.properties().multiprocessors as usize;
            let (chunks, grid) = self.in_chunks.of(part, plan.inside, multiprocessors)?;
            let search = Search { order, chunks, grid, sample, bracket: plan.bracket };
            // SAFETY: the part is the input, or what the level before has written.
            let found = unsafe { self.filter(&search, level)? };
            has_last = has_last.or(Some(found.has_last));
            let Some(inside) = ranks.after(found.before, found.inside) else { break };
            let (first, len) = if found.is_one {
                // Equal elements, in the order of their indices.
                (inside.first, inside.len())
            } else if found.inside <= plan.inside.min(self.tuning.room) {
                (0, found.inside)
            } else {
                break;
            };
            let candidates = self.levels[level].candidates(first, len)?;
            // SAFETY: as above, and the filter was the last work with the chunks.
            unsafe { self.collect(&search, candidates)? };
            places.positions[level] = candidates.positions;
            if found.is_one {
                return Ok(Found { places, has_last });
            }
            (part, ranks) = (candidates.keys, inside);
            let next = plan.again(&self.tuning, ranks, len);
            match next.filter(|_| len > self.tuning.shortest) {
                Some(next) => plan = next,
                None => break,
            }
        }
        // SAFETY: as above.
        Ok(Found { places: unsafe { self.sort(order, part, ranks, places)? }, has_last })
    }

    /// The places of the elements of these ranks in `part`, whose elements are at `positions`.
    ///
    /// # Safety
    /// As for [`find`](Self::find).
    pub(super) unsafe fn sort(
        &mut self,
        order: Order,
        part: Global<K::Word>,
        ranks: Ranks,
        Places { positions, .. }: Places,
    ) -> Result<Places, DeviceError> {
        self.sorted.fit(part.len())?;
        let sorted = self.sorted.view().part(0, part.len());
        // SAFETY: the caller's promise; the indices are as long.
        unsafe { self.sorter.argsort_view(order, part, sorted)? };
        Ok(Places { sorted, positions, first: ranks.first as u64 })
    }

    /// Draws a sample of this size from `input`, and sorts it.
    ///
    /// # Safety
    /// As for [`find`](Self::find).
    unsafe fn draw(
        &mut self,
        order: Order,
        input: Global<K::Word>,
        len: usize,
    ) -> Result<Global<K::Word>, DeviceError> {
        self.sample.fit(2 * len)?;
        let both = self.sample.view();
        let (sample, sorted) = (both.part(0, len), both.part(len, len));
        let stride = (input.len() / len) as u64;
        let sampling = Sampling { input, sample, found: self.found.view(), stride };
        let args = K::Keys::default().arguments(sampling);
        let grid = each(len.max(LEVELS * FOUND));
        // SAFETY: the grid is made for the sample and the numbers; `&mut self` and the order of the
        // stream keep others off the working memory; the kernel starts with the wait for the previous
        // one.
        unsafe {
            self.device.launch_in_a_row::<KernelOf<K::Keys, Sampling<K::Word>>>(&grid, args)?;
            self.sorter.sort_view(order, sample, sorted)?;
        }
        Ok(sorted)
    }

    /// Finds the keys in the bracket. Waits for the numbers, those of this level.
    ///
    /// # Safety
    /// As for [`find`](Self::find), of the array in the chunks.
    unsafe fn filter(&mut self, search: &Search<K>, level: usize) -> Result<Filtered, DeviceError> {
        let &Search { order, chunks, ref grid, sample, bracket } = search;
        let first = level * FOUND;
        let found = self.found.view().part(first, FOUND);
        let filtering = Filtering { chunks, sample, bracket, found };
        let args = Entry::<Filtering<K::Word>>::arguments(K::order(order), filtering);
        // SAFETY: the grid has a warp for each chunk; the numbers were zeroed when the sample was
        // drawn; the rest as for it.
        unsafe {
            self.device.launch_in_a_row::<KernelOf<K::Order, Filtering<K::Word>>>(grid, args)?;
        }
        let mut numbers = [0; FOUND];
        self.found.download_to(first, &mut numbers)?;
        let [before, inside, is_one, has_last] = numbers;
        Ok(Filtered {
            before: before as usize,
            inside: inside as usize,
            is_one: is_one != 0,
            has_last: has_last != 0,
        })
    }

    /// Writes keys that the filter has found to `candidates`.
    ///
    /// # Safety
    /// As for [`filter`](Self::filter), which was the last work with the chunks.
    unsafe fn collect(
        &mut self,
        search: &Search<K>,
        candidates: Candidates<K::Word>,
    ) -> Result<(), DeviceError> {
        let &Search { order, chunks, ref grid, sample, bracket } = search;
        let collecting = Collecting { chunks, sample, bracket, candidates };
        let args = Entry::<Collecting<K::Word>>::arguments(K::order(order), collecting);
        // SAFETY: the caller's promise; the rest as for the filter.
        unsafe {
            self.device.launch_in_a_row::<KernelOf<K::Order, Collecting<K::Word>>>(grid, args)
        }
    }
}

/// The grid of a kernel with a thread for each of `len` elements.
pub(in crate::primitives::rank) fn each(len: usize) -> Geometry {
    Geometry::new(len.div_ceil(THREADS as usize) as u32, THREADS)
}

/// Memory that is allocated when it is first needed.
pub(super) fn scratch<T: Pod + Scalar>(device: &Device) -> Result<Scratch<T>, DeviceError> {
    Scratch::new(WHAT, device, 0, Device::alloc)
}
