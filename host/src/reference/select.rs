//! Selections.

use gridsync_entries::select::Selectable;
use rayon::prelude::*;

/// The elements of `input` that `by` keeps, in their order.
pub fn select<S: Selectable>(by: S, input: &[S::Element]) -> Vec<S::Element> {
    let indices = (0..input.len()).into_par_iter();
    indices
        .filter(|&index| by.is_kept(input, index))
        .map(|index| input[index])
        .collect()
}

/// The elements that `by` keeps, and all others, both in their order.
pub fn partition<S: Selectable>(by: S, input: &[S::Element]) -> (Vec<S::Element>, Vec<S::Element>) {
    let indices = (0..input.len()).into_par_iter();
    indices.partition_map(|index| match by.is_kept(input, index) {
        true => rayon::iter::Either::Left(input[index]),
        false => rayon::iter::Either::Right(input[index]),
    })
}

/// The indices of the elements that `by` keeps.
pub fn positions<S: Selectable>(by: S, input: &[S::Element]) -> Vec<u64> {
    let indices = (0..input.len()).into_par_iter();
    indices
        .filter(|&index| by.is_kept(input, index))
        .map(|index| index as u64)
        .collect()
}

/// How long runs are that begin at `starts`, in an array of `len` elements.
///
/// # Panics
/// If a run begins before the one in front of it, or behind the end.
#[must_use]
pub fn run_lengths(starts: &[u64], len: usize) -> Vec<u64> {
    let ends = starts.iter().skip(1).copied().chain([len as u64]);
    let length = |(&start, end): (&u64, u64)| {
        assert!(
            start <= end,
            "a run from {start} to {end} of {len} elements"
        );
        end - start
    };
    starts.iter().zip(ends).map(length).collect()
}
