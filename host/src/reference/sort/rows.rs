//! Sorts of the rows of a matrix.

use super::buckets::zeroed;
use super::{Index, Key, NumbersOf, Order, argsort, numbers_of};
use crate::parallel::{self, CHUNK};
use crate::reference::top_k;
use bytemuck::Pod;
use std::ops::Range;

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
        each_row(&numbers, size_of::<K>() <= 4, columns, range, &mut |row, indices| {
            let output = &mut output[(row - first) * kept..][..kept];
            output.iter_mut().zip(indices).for_each(|(to, &i)| *to = of(row, i as usize));
        });
    });
    output
}

/// Calls `each` with these rows and the indices of their elements in order. Numbers that are
/// `short` have up to 32 bits.
fn each_row(
    numbers: &NumbersOf<'_>,
    are_short: bool,
    columns: usize,
    rows: Range<usize>,
    each: &mut dyn FnMut(usize, &[u32]),
) {
    let (mut of_row, mut indices) = (vec![0; columns], vec![0; columns]);
    // A number and, below it, its index.
    let (mut short, mut long): (Vec<u64>, Vec<u128>) = (Vec::new(), Vec::new());
    for row in rows {
        numbers(row * columns, &mut of_row);
        let with_indices = of_row.iter().zip(0u32..);
        if are_short {
            short.clear();
            short.extend(with_indices.map(|(&number, i)| number << 32 | u64::from(i)));
            short.sort_unstable();
            indices.iter_mut().zip(&short).for_each(|(to, &both)| *to = both as u32);
        } else {
            long.clear();
            long.extend(with_indices.map(|(&number, i)| u128::from(number) << 32 | u128::from(i)));
            long.sort_unstable();
            indices.iter_mut().zip(&long).for_each(|(to, &both)| *to = both as u32);
        }
        each(row, &indices);
    }
}
