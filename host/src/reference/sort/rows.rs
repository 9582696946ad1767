//! Sorts of the rows of a matrix.

use super::buckets::zeroed;
use super::{Index, Key, NumbersOf, Order, argsort, numbers_of};
use crate::parallel::{self, CHUNK};
use crate::reference::top_k;
use bytemuck::Pod;

/// Sorts each row of `input` on all cores. Equal elements keep their order.
pub fn sort_rows<K: Key>(order: Order, input: &[K], rows: usize, columns: usize) -> Vec<K> {
    let of = |row: usize, index: usize| input[row * columns + index];
    by_indices(order, input, [rows, columns, columns], of)
}

/// The indices of the elements of each row in the order of the elements; equal ones by index.
pub fn argsort_rows<K: Key, I: Index>(
    order: Order,
    input: &[K],
    rows: usize,
    columns: usize,
) -> Vec<I> {
    by_indices(order, input, [rows, columns, columns], |_, index| I::of(index))
}

/// The indices of the first `k` elements of each row in the order, which exist.
pub fn top_k_rows<K: Key>(
    order: Order,
    input: &[K],
    rows: usize,
    columns: usize,
    k: usize,
) -> Vec<u64> {
    by_indices(order, input, [rows, columns, k], |_, index| index as u64)
}

/// Sorts each segment of `input` on all cores. Equal elements keep their order.
pub fn sort_segments<K: Key>(order: Order, input: &[K], offsets: &[u64]) -> Vec<K> {
    let indices: Vec<u64> = argsort_segments(order, input, offsets);
    let mut output = zeroed(input.len());
    for_each_part(offsets, &mut output, &|first, segments, output: &mut [K]| {
        for pair in segments.windows(2) {
            for place in pair[0]..pair[1] {
                let from = pair[0] + indices[place as usize];
                output[place as usize - first] = input[from as usize];
            }
        }
    });
    output
}

/// The indices of the elements of each segment in the order of the elements; equal ones by index.
pub fn argsort_segments<K: Key, I: Index>(order: Order, input: &[K], offsets: &[u64]) -> Vec<I> {
    assert_eq!(offsets.last(), Some(&(input.len() as u64)), "the last offset is the length");
    let mut output = zeroed(input.len());
    let numbers = numbers_of(order, input);
    for_each_part(offsets, &mut output, &|first, segments, output: &mut [I]| {
        let mut sorting = Sorting::default();
        for pair in segments.windows(2) {
            let [start, end] = [pair[0], pair[1]].map(|offset| offset as usize);
            let output = &mut output[start - first..end - first];
            if output.len() > CHUNK {
                output.copy_from_slice(&argsort::<K, I>(order, &input[start..end]));
            } else {
                let indices = sorting.indices(&numbers, size_of::<K>() <= 4, start, output.len());
                output.iter_mut().zip(indices).for_each(|(to, &i)| *to = I::of(i as usize));
            }
        }
    });
    output
}

/// What is done with a part of an array: the index of its first element, the offsets of its segments,
/// and the part.
type OfPart<'a, T> = dyn Fn(usize, &[u64], &mut [T]) + Sync + 'a;

/// Calls `task` on all cores with parts of `output`, each of whole segments. A part has one segment,
/// or some of together up to 2^16 elements.
fn for_each_part<T: Send>(offsets: &[u64], output: &mut [T], task: &OfPart<'_, T>) {
    let (mut parts, mut rest, mut segment) = (Vec::new(), output, 0);
    while segment + 1 < offsets.len() {
        let first = offsets[segment];
        let fitting = offsets[segment + 1..].iter().take_while(|&&end| end - first <= CHUNK as u64);
        let count = fitting.take(CHUNK).count().max(1);
        let last = segment + count;
        let (part, after) = rest.split_at_mut((offsets[last] - first) as usize);
        parts.push((first as usize, &offsets[segment..=last], part));
        (rest, segment) = (after, last);
    }
    parallel::for_each(parts, &|_, (first, offsets, part)| task(first, offsets, part));
}

/// What `of` returns for each row and each index of the first `kept` elements in the order.
fn by_indices<K: Key, T: Pod + Send>(
    order: Order,
    input: &[K],
    [rows, columns, kept]: [usize; 3],
    of: impl Fn(usize, usize) -> T + Sync,
) -> Vec<T> {
    assert_eq!(Some(input.len()), rows.checked_mul(columns), "a matrix of {rows} × {columns}");
    let mut output = zeroed(rows * kept);
    if output.is_empty() {
        return output;
    }
    if columns > CHUNK {
        // All cores for each row.
        for (row, output) in output.chunks_mut(kept).enumerate() {
            let elements = &input[row * columns..][..columns];
            let indices: Vec<u64> = if kept < columns {
                top_k(order, elements, kept)
            } else {
                argsort(order, elements)
            };
            let chunks = indices.chunks(CHUNK).zip(output.chunks_mut(CHUNK));
            parallel::for_each(chunks, &|_, (indices, output): (&[u64], &mut [T])| {
                output.iter_mut().zip(indices).for_each(|(to, &i)| *to = of(row, i as usize));
            });
        }
        return output;
    }
    let numbers = numbers_of(order, input);
    let together = (CHUNK / columns).max(1);
    let chunks = output.chunks_mut(together * kept);
    parallel::for_each(chunks, &|chunk, output: &mut [T]| {
        let first = chunk * together;
        let range = first..first + output.len() / kept;
        let mut sorting = Sorting::default();
        for (row, output) in range.zip(output.chunks_mut(kept)) {
            let indices = sorting.indices(&numbers, size_of::<K>() <= 4, row * columns, columns);
            output.iter_mut().zip(indices).for_each(|(to, &i)| *to = of(row, i as usize));
        }
    });
    output
}

/// Sorts the indices of short rows, row by row.
#[derive(Default)]
struct Sorting {
    numbers: Vec<u64>,
    indices: Vec<u32>,
    // A number and, below it, its index.
    short: Vec<u64>,
    long: Vec<u128>,
}

impl Sorting {
    /// The indices of the `len` elements from element `first` on in their order. Numbers that
    /// `are_short` have up to 32 bits.
    fn indices(
        &mut self,
        numbers: &NumbersOf<'_>,
        are_short: bool,
        first: usize,
        len: usize,
    ) -> &[u32] {
        self.numbers.resize(len, 0);
        numbers(first, &mut self.numbers);
        let with_indices = self.numbers.iter().zip(0u32..);
        self.indices.clear();
        if are_short {
            self.short.clear();
            self.short.extend(with_indices.map(|(&number, i)| number << 32 | u64::from(i)));
            self.short.sort_unstable();
            self.indices.extend(self.short.iter().map(|&both| both as u32));
        } else {
            self.long.clear();
            let both = with_indices.map(|(&number, i)| u128::from(number) << 32 | u128::from(i));
            self.long.extend(both);
            self.long.sort_unstable();
            self.indices.extend(self.long.iter().map(|&both| both as u32));
        }
        &self.indices
    }
}
