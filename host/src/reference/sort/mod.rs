//! Sorts, by digits of the numbers of the keys.
//!
//! Only the numbers depend on the type of the keys. They are computed for many keys at once, through
//! a `dyn` function, so that all else is compiled once for each size of keys, in this crate.

mod buckets;
mod cells;
mod key;
mod keys;
mod rows;
#[cfg(test)]
mod tests;

use crate::parallel;
use buckets::zeroed;
use bytemuck::Pod;
pub(super) use cells::{VALUES, WIDTH, digit};
use gridsync_kernels::grid::sort::Order as _;

pub use key::{Index, Key, Moved, Order};
pub use rows::{argsort_rows, argsort_segments, sort_rows, sort_segments, top_k_rows};

/// Sorts `input` on all cores. Equal elements keep their order.
pub fn sort<K: Key>(order: Order, input: &[K]) -> Vec<K> {
    let mut keys = zeroed(input.len());
    let chunks = input.chunks(parallel::CHUNK).zip(keys.chunks_mut(parallel::CHUNK));
    parallel::for_each(chunks, &|_, (from, to): (&[K], &mut [K])| to.copy_from_slice(from));
    sort_in_place(order, &mut keys);
    keys
}

/// Sorts `keys` on all cores. Equal elements keep their order.
pub fn sort_in_place<K: Key>(order: Order, keys: &mut [K]) {
    // In constants, so that only one of them is compiled.
    if const { size_of::<K>() == 1 } {
        keys::sort::<K, u8>(order, keys);
    } else if const { size_of::<K>() == 2 } {
        keys::sort::<K, u16>(order, keys);
    } else if const { size_of::<K>() == 4 } {
        keys::sort::<K, u32>(order, keys);
    } else {
        keys::sort::<K, u64>(order, keys);
    }
}

/// The indices of `input` in the order of its elements; equal ones by index.
pub fn argsort<K: Key, I: Index>(order: Order, input: &[K]) -> Vec<I> {
    if const { size_of::<K>() == 1 } {
        argsort_as::<K, I, u8>(order, input)
    } else if const { size_of::<K>() == 2 } {
        argsort_as::<K, I, u16>(order, input)
    } else if const { size_of::<K>() == 4 } {
        argsort_as::<K, I, u32>(order, input)
    } else {
        argsort_as::<K, I, u64>(order, input)
    }
}

fn argsort_as<K: Key, I: Index, W: Pod + Sync + Into<u64>>(order: Order, input: &[K]) -> Vec<I> {
    let numbers = numbers_as::<K, W>(order, input);
    let indices = if size_of::<W>() <= 4 && u32::try_from(input.len()).is_ok() {
        buckets::argsort_short(&numbers, input.len())
    } else {
        buckets::argsort_long(&numbers, input.len())
    };
    let mut output = zeroed(indices.len());
    let chunks = indices.chunks(parallel::CHUNK).zip(output.chunks_mut(parallel::CHUNK));
    parallel::for_each(chunks, &|_, (indices, output): (&[u64], &mut [I])| {
        output.iter_mut().zip(indices).for_each(|(to, &index)| *to = I::of(index as usize));
    });
    output
}

/// Writes the element of `from` at each of `indices` to `to`, on all cores.
///
/// # Panics
/// If an index is not below the length of `from`.
pub(crate) fn gather<T: Pod + Send + Sync>(from: &[T], indices: &[u64], to: &mut [T]) {
    let chunks = indices.chunks(parallel::CHUNK).zip(to.chunks_mut(parallel::CHUNK));
    parallel::for_each(chunks, &|_, (indices, to): (&[u64], &mut [T])| {
        to.iter_mut().zip(indices).for_each(|(to, &index)| *to = from[index as usize]);
    });
}

/// The number by which `key` is sorted. Equal keys have the same.
pub(crate) fn number_of<K: Key>(order: Order, key: K) -> u64 {
    let number = K::order(order).number(bytemuck::cast::<K, K::Word>(key));
    let mut bytes = [0; size_of::<u64>()];
    bytes[..size_of::<K>()].copy_from_slice(bytemuck::bytes_of(&number));
    u64::from_le_bytes(bytes)
}

/// A function that writes the numbers of the elements of an array that start at an index.
pub(super) type NumbersOf<'a> = Box<dyn Fn(usize, &mut [u64]) + Sync + 'a>;

/// The numbers of the elements of `input`.
pub(super) fn numbers_of<K: Key>(order: Order, input: &[K]) -> NumbersOf<'_> {
    if const { size_of::<K>() == 1 } {
        numbers_as::<K, u8>(order, input)
    } else if const { size_of::<K>() == 2 } {
        numbers_as::<K, u16>(order, input)
    } else if const { size_of::<K>() == 4 } {
        numbers_as::<K, u32>(order, input)
    } else {
        numbers_as::<K, u64>(order, input)
    }
}

fn numbers_as<K: Key, W: Pod + Sync + Into<u64>>(order: Order, input: &[K]) -> NumbersOf<'_> {
    let words: &[W] = bytemuck::cast_slice(input);
    Box::new(move |start, to| numbers::<K, W>(order, &words[start..start + to.len()], to))
}

/// Writes the numbers by which these words are sorted.
fn numbers<K: Key, W: Pod + Sync + Into<u64>>(order: Order, words: &[W], to: &mut [u64]) {
    let order = K::order(order);
    for (to, &word) in to.iter_mut().zip(words) {
        *to = bytemuck::cast::<K::Word, W>(order.number(bytemuck::cast(word))).into();
    }
}
