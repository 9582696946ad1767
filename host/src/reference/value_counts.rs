//! The distinct values of an array, by a sort of the indices.

use super::select::run_lengths;
use super::sort::{Key, Order, argsort};
use crate::parallel;
use gridsync_kernels::grid::sort::Order as _;

/// The distinct values of an array, in an order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ValueCounts<K> {
    /// The first element with each value.
    pub elements: Vec<K>,
    /// The number of elements with each value, at least 1.
    pub counts: Vec<u64>,
    /// The index of each of `elements` in the array.
    pub indices: Vec<u64>,
}

impl<K> ValueCounts<K> {
    /// Number of distinct values.
    #[must_use]
    pub fn len(&self) -> usize {
        self.elements.len()
    }

    /// Whether the array was empty, and so has no values.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.elements.is_empty()
    }
}

/// The distinct values of `input`, computed on all cores.
pub fn value_counts<K: Key>(order: Order, input: &[K]) -> ValueCounts<K> {
    let sorted: Vec<u64> = argsort(order, input);
    let starts = changes(sorted.len(), &|place| number(order, input[sorted[place] as usize]));
    let counts = run_lengths(&starts, input.len());
    let indices: Vec<u64> = starts.into_iter().map(|start| sorted[start as usize]).collect();
    let elements = indices.iter().map(|&index| input[index as usize]).collect();
    ValueCounts { elements, counts, indices }
}

/// The index of the first of each run of elements that are equal in `order`.
pub(crate) fn run_starts<K: Key>(order: Order, elements: &[K]) -> Vec<u64> {
    changes(elements.len(), &|index| number(order, elements[index]))
}

/// Elements are equal if they have the same number.
fn number<K: Key>(order: Order, element: K) -> K::Word {
    K::order(order).number(bytemuck::cast(element))
}

/// The indices below `len` at which the number differs from the one before, and 0.
fn changes<N: PartialEq>(len: usize, number: &(impl Fn(usize) -> N + Sync)) -> Vec<u64> {
    let chunks = parallel::map_chunks(len, parallel::CHUNK, &|chunk| -> Vec<u64> {
        let mut before = chunk.start.checked_sub(1).map(number);
        let differs = |&index: &usize| {
            let number = Some(number(index));
            let is_other = number != before;
            before = number;
            is_other
        };
        chunk.filter(differs).map(|index| index as u64).collect()
    });
    chunks.concat()
}
