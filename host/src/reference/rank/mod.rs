//! Selections by rank: a digit at a time, from the highest. A pass over the array counts the values
//! of a digit among the elements that are left, which gives the value of the element looked for.

mod quantile;
#[cfg(test)]
mod tests;

use super::sort::{Key, NumbersOf, Order, VALUES, WIDTH, argsort, digit, numbers_of};
use crate::parallel;
use std::ops::Range;

pub use quantile::{QuantileMethod, Virtual};

/// Elements whose numbers are computed at once: they are still in the first-level cache when they
/// are used.
const BATCH: usize = 512;

/// Up to this many elements are no longer counted by digits.
const FEW: usize = 1 << 14;

/// The index of the element of rank `rank`, from 0, in `input` sorted stably: of equal elements, the
/// one with the smaller index comes first.
///
/// # Panics
/// If the array has not so many elements.
pub fn kth<K: Key>(order: Order, input: &[K], rank: usize) -> usize {
    Array::of(order, input).at(&[rank])[0].1 as usize
}

/// The indices of the elements of these ranks, in any order.
///
/// # Panics
/// If the array has not so many elements.
pub fn kths<K: Key>(order: Order, input: &[K], ranks: &[usize]) -> Vec<usize> {
    // A sort takes about as long as a few ranks.
    if ranks.len() > 8 {
        let sorted = argsort::<K, u64>(order, input);
        return ranks.iter().map(|&rank| sorted[rank] as usize).collect();
    }
    let mut in_order = ranks.to_vec();
    in_order.sort_unstable();
    let found = Array::of(order, input).at(&in_order);
    let of = |rank: &usize| found[in_order.partition_point(|other| other < rank)].1 as usize;
    ranks.iter().map(of).collect()
}

/// The indices of the first `k` elements of `input` sorted stably, in the order of the array.
///
/// # Panics
/// If there are fewer.
pub fn top_k_by_index<K: Key>(order: Order, input: &[K], k: usize) -> Vec<u64> {
    let Some(last) = k.checked_sub(1) else { return Vec::new() };
    let array = Array::of(order, input);
    let last = array.at(&[last])[0];
    let kept = array.chunks(&|array, chunk| {
        let mut kept = Vec::new();
        array.each(chunk, &mut |index, number| {
            if number <= last.0 && (number, index) <= last {
                kept.push(index);
            }
        });
        kept
    });
    kept.concat()
}

/// The indices of the elements of `input` with numbers below `limit`, in the order of the array.
pub(crate) fn below<K: Key>(order: Order, input: &[K], limit: u64) -> Vec<u64> {
    let kept = Array::of(order, input).chunks(&|array, chunk| {
        let mut kept = Vec::new();
        array.each(chunk, &mut |index, number| {
            if number < limit {
                kept.push(index);
            }
        });
        kept
    });
    kept.concat()
}

/// The indices of the first `k` elements of `input` sorted stably, in this order.
///
/// # Panics
/// If there are fewer.
pub fn top_k<K: Key>(order: Order, input: &[K], k: usize) -> Vec<u64> {
    let indices = top_k_by_index(order, input, k);
    let keys: Vec<K> = indices.iter().map(|&index| input[index as usize]).collect();
    argsort::<K, u64>(order, &keys).iter().map(|&at| indices[at as usize]).collect()
}

/// An array whose elements are known by their numbers.
struct Array<'a> {
    len: usize,
    /// Bits of a number.
    bits: u32,
    numbers: NumbersOf<'a>,
}

impl<'a> Array<'a> {
    fn of<K: Key>(order: Order, input: &'a [K]) -> Self {
        let bits = 8 * size_of::<K>() as u32;
        Self { len: input.len(), bits, numbers: numbers_of(order, input) }
    }

    /// The numbers and the indices of the elements of these ranks, which are in order.
    fn at(&self, ranks: &[usize]) -> Vec<(u64, u64)> {
        if let Some(last) = ranks.last() {
            assert!(*last < self.len, "there is no rank {last} in {} elements", self.len);
        }
        find(self, Bucket { upper: 0, lower: self.bits }, self.len, ranks)
    }

    /// Calls `of` for chunks of the array on all cores.
    fn chunks<R: Send>(&self, of: &(dyn Fn(&Self, Range<usize>) -> R + Sync)) -> Vec<R> {
        let size = self.len.div_ceil(4 * parallel::cores()).max(parallel::CHUNK);
        parallel::map_chunks(self.len, size, &|chunk| of(self, chunk))
    }

    /// Calls `task` with each index of a chunk, and with the element's number.
    #[inline(always)]
    fn each(&self, chunk: Range<usize>, task: &mut impl FnMut(u64, u64)) {
        let mut batch = [0; BATCH];
        for start in chunk.clone().step_by(BATCH) {
            let batch = &mut batch[..BATCH.min(chunk.end - start)];
            (self.numbers)(start, batch);
            for (index, &number) in (start as u64..).zip(&*batch) {
                task(index, number);
            }
        }
    }
}

/// The elements whose numbers have the same upper bits.
#[derive(Clone, Copy)]
struct Bucket {
    upper: u64,
    /// How many lower bits may differ.
    lower: u32,
}

impl Bucket {
    #[inline(always)]
    fn contains(self, number: u64) -> bool {
        number.checked_shr(self.lower).unwrap_or(0) == self.upper
    }
}

/// The numbers and the indices of the elements of these ranks among the `len` elements of a bucket.
fn find(array: &Array, bucket: Bucket, len: usize, mut ranks: &[usize]) -> Vec<(u64, u64)> {
    if bucket.lower == 0 {
        return ranks.iter().map(|&rank| (bucket.upper, nth(array, bucket, rank))).collect();
    }
    if len <= FEW {
        let few = all_of(array, bucket);
        return ranks.iter().map(|&rank| few[rank]).collect();
    }
    let width = WIDTH.min(bucket.lower);
    let lower = bucket.lower - width;
    let (mut found, mut before) = (Vec::new(), 0);
    for (value, count) in count(array, bucket, lower, width).into_iter().enumerate() {
        let inside = ranks.partition_point(|&rank| rank < before + count);
        let (inside, after) = ranks.split_at(inside);
        if !inside.is_empty() {
            let inside: Vec<usize> = inside.iter().map(|rank| rank - before).collect();
            let bucket = Bucket { upper: bucket.upper << width | value as u64, lower };
            found.extend(find(array, bucket, count, &inside));
        }
        (ranks, before) = (after, before + count);
    }
    found
}

/// The numbers and the indices of all elements of a bucket, in their order.
fn all_of(array: &Array, bucket: Bucket) -> Vec<(u64, u64)> {
    let few = array.chunks(&|array, chunk| {
        let mut few = Vec::new();
        array.each(chunk, &mut |index, number| {
            if bucket.contains(number) {
                few.push((number, index));
            }
        });
        few
    });
    let mut few = few.concat();
    few.sort_unstable();
    few
}

/// How many elements of a bucket have each value of a digit.
fn count(array: &Array, bucket: Bucket, shift: u32, width: u32) -> Vec<usize> {
    let chunks = array.chunks(&|array, chunk| {
        let mut counts = vec![0; VALUES];
        array.each(chunk, &mut |_, number| {
            counts[digit(number, shift, width)] += usize::from(bucket.contains(number));
        });
        counts
    });
    let mut all = vec![0; VALUES];
    for counts in chunks {
        all.iter_mut().zip(counts).for_each(|(all, count)| *all += count);
    }
    all
}

/// The index of element number `rank` of a bucket, in the order of the array.
fn nth(array: &Array, bucket: Bucket, mut rank: usize) -> u64 {
    let counts = array.chunks(&|array, chunk| {
        let mut count = 0;
        array.each(chunk.clone(), &mut |_, number| count += usize::from(bucket.contains(number)));
        (chunk, count)
    });
    let mut found = None;
    for (chunk, count) in counts {
        if rank >= count {
            rank -= count;
            continue;
        }
        array.each(chunk, &mut |index, number| {
            if bucket.contains(number) {
                found = if rank == 0 && found.is_none() { Some(index) } else { found };
                rank = rank.wrapping_sub(1);
            }
        });
        break;
    }
    found.expect("the bucket has this many elements")
}
