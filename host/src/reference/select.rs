//! Selections.

use crate::parallel;
use gridsync_entries::select::Selectable;

/// Elements that a core processes at once.
const CHUNK: usize = 1 << 12;

/// The elements of `input` that `by` keeps, in order.
pub fn select<S: Selectable>(by: S, input: &[S::Element]) -> Vec<S::Element> {
    let chunks = parallel::map_chunks(input.len(), CHUNK, &move |chunk| -> Vec<_> {
        let kept = chunk.filter(|&index| by.is_kept(input, index));
        kept.map(|index| input[index]).collect()
    });
    chunks.concat()
}

/// The elements that `by` keeps, and all others, both in order.
pub fn partition<S: Selectable>(by: S, input: &[S::Element]) -> (Vec<S::Element>, Vec<S::Element>) {
    let chunks = parallel::map_chunks(input.len(), CHUNK, &move |chunk| {
        let (mut kept, mut rest) = (Vec::new(), Vec::new());
        for index in chunk {
            if by.is_kept(input, index) { kept.push(input[index]) } else { rest.push(input[index]) }
        }
        (kept, rest)
    });
    let (kept, rest): (Vec<_>, Vec<_>) = chunks.into_iter().unzip();
    (kept.concat(), rest.concat())
}

/// The indices of the elements that `by` keeps.
pub fn positions<S: Selectable>(by: S, input: &[S::Element]) -> Vec<u64> {
    let chunks = parallel::map_chunks(input.len(), CHUNK, &move |chunk| -> Vec<_> {
        let kept = chunk.filter(|&index| by.is_kept(input, index));
        kept.map(|index| index as u64).collect()
    });
    chunks.concat()
}

/// The lengths of the runs that start at `starts`, in an array of `len` elements.
///
/// # Panics
/// If a run starts before the previous one, or after the end.
#[must_use]
pub fn run_lengths(starts: &[u64], len: usize) -> Vec<u64> {
    let ends = starts.iter().skip(1).copied().chain([len as u64]);
    let length = |(&start, end): (&u64, u64)| {
        assert!(start <= end, "a run from {start} to {end} of {len} elements");
        end - start
    };
    starts.iter().zip(ends).map(length).collect()
}
