//! Work on all cores of the CPU, with rayon. In gridsync only `check` also calls rayon directly, to
//! find the first schedule that fails.
//!
//! Work is passed as `&dyn Fn`, with one call per chunk. A loop over elements inside it is compiled
//! for each operation, but rayon's own code, which is large, is compiled once.

use rayon::ThreadPoolBuilder;
use rayon::prelude::*;
use std::error::Error;
use std::io;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

pub use rayon::{current_num_threads as cores, join};

/// Starts the worker threads, one per core. Otherwise they start on first use, which panics if the
/// system refuses to create them.
///
/// # Errors
/// If the system refuses to create them.
pub fn start() -> io::Result<()> {
    let Err(error) = ThreadPoolBuilder::new().build_global() else {
        return Ok(());
    };
    match error.source().and_then(|cause| cause.downcast_ref::<io::Error>()) {
        Some(cause) => {
            let code = cause.raw_os_error();
            Err(code.map_or_else(|| cause.kind().into(), io::Error::from_raw_os_error))
        }
        // They have already started.
        None => Ok(()),
    }
}

/// Elements that a core processes at once if loops are short and no tree determines the number.
pub const CHUNK: usize = 1 << 16;

/// Calls `task` with each of `items` and its index. Items may be disjoint chunks to write to, such
/// as those of `chunks_mut`.
pub fn for_each<I: Send>(items: impl IntoIterator<Item = I>, task: &(dyn Fn(usize, I) + Sync)) {
    let items = items.into_iter().map(|item| Mutex::new(Some(item)));
    let items: Vec<_> = items.collect();
    for_each_number(items.len(), &|number| {
        // No other call has this number, so this never blocks.
        let item = &mut *items[number].lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(item) = item.take() {
            task(number, item);
        }
    });
}

/// Calls `task` with each number below `count`.
fn for_each_number(count: usize, task: &(dyn Fn(usize) + Sync)) {
    (0..count).into_par_iter().for_each(task);
}

/// Calls `of` for each chunk of `size` indices below `len`, and returns the results in order.
pub fn map_chunks<R: Send>(
    len: usize,
    size: usize,
    of: &(dyn Fn(Range<usize>) -> R + Sync),
) -> Vec<R> {
    let mut results: Vec<Option<R>> = Vec::new();
    results.resize_with(len.div_ceil(size), || None);
    for_each(&mut results, &|number, result| {
        *result = Some(of(chunk(number, size, len)));
    });
    results.into_iter().flatten().collect()
}

/// The smallest matching index below `len`. `find_in` returns the smallest one of a range.
pub fn find_first(
    len: usize,
    find_in: &(dyn Fn(Range<usize>) -> Option<usize> + Sync),
) -> Option<usize> {
    let chunks = (0..len.div_ceil(CHUNK)).into_par_iter();
    chunks.find_map_first(|number| find_in(chunk(number, CHUNK, len)))
}

/// The indices of chunk `number`.
fn chunk(number: usize, size: usize, len: usize) -> Range<usize> {
    let start = number * size;
    start..len.min(start + size)
}

/// Calls `of` with each number below `count`, and returns the results or one of the errors. After
/// an error no further call starts.
///
/// # Errors
/// If `of` fails.
pub fn try_map<R: Send, E: Send>(
    count: usize,
    of: &(dyn Fn(usize) -> Result<R, E> + Sync),
) -> Result<Vec<R>, E> {
    (0..count).into_par_iter().map(of).collect()
}

/// Sorts; the order of equal values is unspecified.
pub fn sort<T: Ord + Send>(values: &mut [T]) {
    values.par_sort_unstable();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_chunk_is_written_once_with_its_number() {
        let mut array = vec![0; 100_003];
        for_each(array.chunks_mut(10), &|number, chunk| {
            chunk.iter_mut().for_each(|x| *x += number + 1);
        });
        assert!(array.iter().enumerate().all(|(i, &x)| x == i / 10 + 1));
    }

    #[test]
    fn results_are_in_the_order_of_their_chunks() {
        for len in [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 5 * CHUNK + 7] {
            let chunks = map_chunks(len, CHUNK, &|range| range);
            assert_eq!(chunks.len(), len.div_ceil(CHUNK));
            assert!(chunks.into_iter().flatten().eq(0..len), "{len}");
        }
    }

    #[test]
    fn the_first_of_several_is_found() {
        let is_wanted = |i: &usize| [CHUNK + 5, CHUNK + 6, 7 * CHUNK].contains(i);
        let find = |len| find_first(len, &|mut range| range.find(is_wanted));
        assert_eq!(find(9 * CHUNK), Some(CHUNK + 5));
        assert_eq!(find(CHUNK + 5), None);
        assert_eq!(find(0), None);
    }

    #[test]
    fn one_error_is_the_overall_result() {
        let halved = |number: usize| match number {
            77 => Err("odd"),
            number => Ok(number / 2),
        };
        assert_eq!(try_map(100, &halved), Err("odd"));
        assert_eq!(try_map(3, &halved), Ok(vec![0, 0, 1]));
    }
}
