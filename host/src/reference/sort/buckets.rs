//! Sorts long arrays: moves the items into buckets by their highest digit, and each bucket that does
//! not fit into the cache of a core into smaller ones. The last ones are sorted as [`cells`].

use super::cells::{self, Cell, CellOf, VALUES, WIDTH, bits, digit};
use crate::{memory, parallel};
use bytemuck::Pod;
use std::slice::IterMut;
use std::{array, mem};

/// Writes the number of each item.
pub(super) type Numbers<'a, T> = &'a (dyn Fn(&[T], &mut [u64]) + Sync);

/// Writes the numbers of the items that start at an index.
pub(super) type NumbersFrom<'a> = &'a (dyn Fn(usize, &mut [u64]) + Sync);

/// The indices of `len` items in the order of their numbers of up to 32 bits.
pub(super) fn argsort_short(numbers: NumbersFrom, len: usize) -> Vec<u64> {
    let mut cells = sorted_cells::<u64>(numbers, len, &|number, index| number << 32 | index);
    parallel::for_each(cells.chunks_mut(parallel::CHUNK), &|_, cells: &mut [u64]| {
        cells.iter_mut().for_each(|cell| *cell &= u64::from(u32::MAX));
    });
    cells
}

/// The indices of `len` items in the order of their numbers.
pub(super) fn argsort_long(numbers: NumbersFrom, len: usize) -> Vec<u64> {
    let cells = sorted_cells::<[u64; 2]>(numbers, len, &|number, index| [number, index]);
    let mut indices = zeroed(len);
    let chunks = cells.chunks(parallel::CHUNK).zip(indices.chunks_mut(parallel::CHUNK));
    parallel::for_each(chunks, &|_, (cells, indices): (&[[u64; 2]], &mut [u64])| {
        indices.iter_mut().zip(cells).for_each(|(index, cell)| *index = cell[1]);
    });
    indices
}

/// The cells of `len` items, sorted: `cell` makes one of a number and an index.
fn sorted_cells<C: Cell + Sync>(
    numbers: NumbersFrom,
    len: usize,
    cell: &(impl Fn(u64, u64) -> C + Sync),
) -> Vec<C> {
    let mut cells = zeroed::<C>(len);
    parallel::for_each(cells.chunks_mut(parallel::CHUNK), &|chunk, cells: &mut [C]| {
        let mut batch = [0; BATCH];
        let mut start = chunk * parallel::CHUNK;
        for cells in cells.chunks_mut(BATCH) {
            let batch = &mut batch[..cells.len()];
            numbers(start, batch);
            for (index, (to, &number)) in (start as u64..).zip(cells.iter_mut().zip(&*batch)) {
                *to = cell(number, index);
            }
            start += batch.len();
        }
    });
    let numbers = |cells: &[C], to: &mut [u64]| {
        to.iter_mut().zip(cells).for_each(|(to, cell)| *to = cell.number());
    };
    sort_range(&numbers, &mut cells, &mut zeroed(len), false, &mut Cells::<C>::default());
    cells
}

/// Zeros.
pub(super) fn zeroed<T: Pod>(len: usize) -> Vec<T> {
    let mut zeros = bytemuck::allocation::zeroed_vec(len);
    memory::ask_for_huge_pages(bytemuck::cast_slice_mut::<T, u8>(&mut zeros));
    zeros
}

/// Numbers that are computed at once: they are still in the first-level cache when they are used.
const BATCH: usize = 512;

/// Up to this many items are sorted as cells.
const CACHED: usize = 1 << 16;

/// Buckets are sorted together until they have this many items, with the same memory for cells.
const TOGETHER: usize = 2 * CACHED;

/// Groups of consecutive buckets with at least [`TOGETHER`] items, except the last one.
fn groups<B>(buckets: impl IntoIterator<Item = B>, len: impl Fn(&B) -> usize) -> Vec<Vec<B>> {
    let (mut groups, mut group, mut together) = (Vec::new(), Vec::new(), 0);
    for bucket in buckets {
        together += len(&bucket);
        group.push(bucket);
        if together >= TOGETHER {
            groups.push(mem::take(&mut group));
            together = 0;
        }
    }
    groups.push(group);
    groups
}

/// Sorts the items in `items`, or in `spare` if they have been moved there, into `items`.
fn sort_range<T: Pod + Send + Sync, C: CellOf<T>>(
    numbers: Numbers<T>,
    items: &mut [T],
    spare: &mut [T],
    is_moved: bool,
    cells: &mut Cells<C>,
) {
    let (from, to) = if is_moved { (&mut *spare, &mut *items) } else { (&mut *items, &mut *spare) };
    if from.len() <= CACHED {
        return cells.fill(numbers, from).write(items);
    }
    // Shorter digits for shorter buckets: about 512 items for each value.
    let width = (from.len().ilog2() - 9).min(WIDTH);
    if let Some(lens) = partition(numbers, from, to, width) {
        sort_buckets::<T, C>(numbers, &lens, items, spare, !is_moved);
    } else if is_moved {
        items.copy_from_slice(spare);
    }
}

/// Sorts buckets of these lengths, as [`sort_range`] does, on all cores.
fn sort_buckets<T: Pod + Send + Sync, C: CellOf<T>>(
    numbers: Numbers<T>,
    lens: &[usize],
    mut items: &mut [T],
    mut spare: &mut [T],
    is_moved: bool,
) {
    let buckets = lens.iter().map(|&len| (cut(&mut items, len), cut(&mut spare, len)));
    let groups = groups(buckets, |(items, _)| items.len());
    parallel::for_each(groups, &|_, group: Vec<(&mut [T], &mut [T])>| {
        let mut cells = Cells::<C>::default();
        for (items, spare) in group {
            sort_range(numbers, items, spare, is_moved, &mut cells);
        }
    });
}

/// Removes the first `len` elements, and returns them.
fn cut<'a, T>(rest: &mut &'a mut [T], len: usize) -> &'a mut [T] {
    rest.split_off_mut(..len).expect("no more than there are")
}

/// Moves the items of `from` to `to`, in the order of the highest digit of `width` bits in which
/// their numbers differ, stably. Returns the length of the bucket of each value, or none if all
/// numbers are equal; then nothing is moved.
fn partition<T: Pod + Send + Sync>(
    numbers: Numbers<T>,
    from: &[T],
    mut to: &mut [T],
    width: u32,
) -> Option<Vec<usize>> {
    // A few items usually differ in the same highest bit as all do. If not, all are counted again.
    let some: Vec<T> = from.iter().step_by(from.len().div_ceil(BATCH)).copied().collect();
    let size = from.len().div_ceil(4 * parallel::cores()).clamp(CACHED, MOST_IN_CHUNK);
    let mut highest = bits(count(numbers, &some, 0, width).differing);
    let (shift, counts) = loop {
        let shift = highest.saturating_sub(width);
        let counts = parallel::map_chunks(from.len(), size, &|chunk| {
            count(numbers, &from[chunk], shift, width)
        });
        let first = counts[0].first;
        let differing = |all, count: &Count| all | count.differing | (count.first ^ first);
        match bits(counts.iter().fold(0, differing)) {
            0 => return None,
            found if found == highest => break (shift, counts),
            found => highest = found,
        }
    };
    let mut lens = vec![0; 1 << width];
    let mut places: Vec<Places<T>> = Vec::new();
    places.resize_with(counts.len(), || Box::new(array::from_fn(|_| IterMut::default())));
    for (value, bucket) in lens.iter_mut().enumerate() {
        for (count, places) in counts.iter().zip(&mut places) {
            let len = count.of_values[value] as usize;
            places[value] = cut(&mut to, len).iter_mut();
            *bucket += len;
        }
    }
    parallel::for_each(from.chunks(size).zip(places), &|_, (from, places)| {
        scatter(numbers, from, shift, width, places);
    });
    Some(lens)
}

/// The most items in a chunk: few enough to count in 32 bits, and to keep all cores busy to the end.
const MOST_IN_CHUNK: usize = 1 << 24;

/// The numbers of a chunk.
struct Count {
    /// How many have each value of a digit.
    of_values: Box<[u32; VALUES]>,
    /// The first number.
    first: u64,
    /// The bits in which some number differs from the first one.
    differing: u64,
}

fn count<T: Copy>(numbers: Numbers<T>, items: &[T], shift: u32, width: u32) -> Count {
    let mut first = [0];
    numbers(&items[..1], &mut first);
    let mut count = Count { of_values: Box::new([0; VALUES]), first: first[0], differing: 0 };
    in_batches(numbers, items, |_, numbers| {
        count.differing |= numbers.iter().fold(0, |all, number| all | (number ^ first[0]));
        for &number in numbers {
            count.of_values[digit(number, shift, width)] += 1;
        }
    });
    count
}

/// Where the items of a chunk are written: the rest of its part of each bucket.
type Places<'a, T> = Box<[IterMut<'a, T>; VALUES]>;

/// Moves each item to the next place for its digit.
fn scatter<T: Copy>(
    numbers: Numbers<T>,
    items: &[T],
    shift: u32,
    width: u32,
    mut places: Places<T>,
) {
    in_batches(numbers, items, |items, numbers| {
        for (&item, &number) in items.iter().zip(numbers) {
            *places[digit(number, shift, width)].next().expect("as many places as counted") = item;
        }
    });
}

/// Calls `task` with a few items at a time, and their numbers.
#[inline(always)]
fn in_batches<T>(numbers: Numbers<T>, items: &[T], mut task: impl FnMut(&[T], &[u64])) {
    let mut batch = [0; BATCH];
    for items in items.chunks(BATCH) {
        let batch = &mut batch[..items.len()];
        numbers(items, batch);
        task(items, batch);
    }
}

/// Memory for the cells of one thread.
struct Cells<C> {
    cells: Vec<C>,
    spare: Vec<C>,
    starts: [u32; VALUES],
}

impl<C> Default for Cells<C> {
    fn default() -> Self {
        Self { cells: Vec::new(), spare: Vec::new(), starts: [0; VALUES] }
    }
}

impl<C: Cell> Cells<C> {
    /// Replaces the cells by those of `items`, and sorts them.
    fn fill<T: Copy>(&mut self, numbers: Numbers<T>, items: &[T]) -> &Self
    where
        C: CellOf<T>,
    {
        let Self { cells, spare, starts } = self;
        cells.clear();
        in_batches(numbers, items, |items, numbers| {
            cells.extend(items.iter().zip(numbers).map(|(&item, &number)| C::new(number, item)));
        });
        if spare.len() < cells.len() {
            spare.resize(cells.len().next_power_of_two(), C::zeroed());
        }
        let len = cells.len();
        cells::sort(cells, &mut spare[..len], starts);
        self
    }

    /// Writes the items to `to`.
    fn write<T>(&self, to: &mut [T])
    where
        C: CellOf<T>,
    {
        to.iter_mut().zip(&self.cells).for_each(|(to, cell)| *to = cell.item());
    }
}
