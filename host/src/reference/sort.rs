//! Sorts.

use crate::parallel;
use crate::primitives::sort::{Index, Key, Order};
use gridsync_kernels::grid::sort::Order as _;

/// Sorts `input` on all cores. Equal elements keep their order.
pub fn sort<K: Key>(order: Order, input: &[K]) -> Vec<K> {
    let order = K::order(order);
    let mut words: Vec<K::Word> = input.iter().map(|&key| bytemuck::cast(key)).collect();
    parallel::sort_by_key(&mut words, |&word| order.number(word));
    words.into_iter().map(bytemuck::cast).collect()
}

/// The indices of `input` in the order of its elements; equal ones by index.
pub fn argsort<K: Key, I: Index>(order: Order, input: &[K]) -> Vec<I> {
    let order = K::order(order);
    let mut indices: Vec<usize> = (0..input.len()).collect();
    parallel::sort_by_key(&mut indices, |&index| order.number(bytemuck::cast(input[index])));
    indices.into_iter().map(I::of).collect()
}
