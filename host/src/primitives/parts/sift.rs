//! A selection from a part of an array on the CPU. Each core processes a chunk at a time and writes
//! without a branch, so random data is as fast as sorted data. The results of the chunks are then
//! concatenated.

use crate::memory::{self, NoRoom};
use crate::parallel;
use crate::primitives::{Sifted, Wanted};
use bytemuck::Pod;
use gridsync_entries::select::Selectable;
use std::mem::take;
use std::ops::Range;

/// Elements that a core processes at a time: the chunk and its selected elements fit in its cache.
const CHUNK: usize = 1 << 14;

/// Bytes that the results must leave free: for small arrays whose allocation cannot report an error.
const LEFT: usize = 4 << 20;

/// Writes the elements with these indices.
pub(super) type Read<'a, T> = dyn Fn(Range<usize>, &mut [T]) + Sync + 'a;

/// Selects from `elements`; `last` is the element before them, if there is one. Positions count
/// from the start of the part.
///
/// # Errors
/// [`NoRoom`] for the selected elements.
pub(super) fn sift<S: Selectable<Element: Pod>>(
    by: S,
    last: Option<S::Element>,
    elements: &[S::Element],
    wanted: Wanted,
) -> Result<Sifted<S::Element>, NoRoom> {
    let first_is_kept = match (last, elements) {
        (_, []) => false,
        (Some(last), [first, ..]) => by.is_kept(&[last, *first], 1),
        (None, _) => by.is_kept(elements, 0),
    };
    sift_chunks(elements.len(), wanted, &|chunk| {
        let is_kept = |index| match index {
            0 => first_is_kept,
            index => by.is_kept(elements, index),
        };
        sift_chunk(elements, chunk, wanted, is_kept)
    })
}

/// Like [`sift`], from `len` elements that `read` writes, for one range of indices at a time.
pub(super) fn sift_by<S: Selectable<Element: Pod>>(
    by: S,
    last: Option<S::Element>,
    len: usize,
    read: &Read<'_, S::Element>,
    wanted: Wanted,
) -> Result<Sifted<S::Element>, NoRoom> {
    sift_chunks(len, wanted, &|chunk| {
        // The element before the chunk is read with it.
        let before = usize::from(chunk.start > 0 || last.is_some());
        let mut elements = memory::zeroed(before + chunk.len())?;
        match last {
            Some(last) if chunk.start == 0 => {
                elements[0] = last;
                read(chunk.clone(), &mut elements[1..]);
            }
            _ => read(chunk.start - before..chunk.end, &mut elements),
        }
        let is_kept = |index| by.is_kept(&elements, index);
        let mut found = sift_chunk(&elements, before..elements.len(), wanted, is_kept)?;
        for at in found.positions.iter_mut().flatten() {
            *at = *at - before as u64 + chunk.start as u64;
        }
        Ok(found)
    })
}

/// Concatenates the results of `sift` for each chunk of `len` elements.
///
/// # Errors
/// [`NoRoom`] before anything is allocated, and before the results are concatenated.
fn sift_chunks<T: Pod + Send + Sync>(
    len: usize,
    wanted: Wanted,
    sift: &(dyn Fn(Range<usize>) -> Result<Sifted<T>, NoRoom> + Sync),
) -> Result<Sifted<T>, NoRoom> {
    // The results of a chunk are allocated for all its elements, and so small that anything else could
    // run out of memory before them.
    memory::probe(len.saturating_mul(wanted.bytes_of_results::<T>()).saturating_add(LEFT))?;
    let found = parallel::map_chunks(len, CHUNK, sift);
    let found = found.into_iter().collect::<Result<Vec<_>, NoRoom>>()?;
    memory::probe(found.iter().map(Sifted::bytes).sum::<usize>() + LEFT)?;
    Ok(Sifted {
        kept: joined(found.iter().map(|found| &found.kept[..]))?,
        rest: wanted
            .rest
            .then(|| joined(found.iter().filter_map(|found| found.rest.as_deref())))
            .transpose()?,
        positions: wanted
            .positions
            .then(|| joined(found.iter().filter_map(|found| found.positions.as_deref())))
            .transpose()?,
    })
}

/// Selects from a chunk of `elements`.
fn sift_chunk<T: Pod>(
    elements: &[T],
    chunk: Range<usize>,
    wanted: Wanted,
    is_kept: impl Fn(usize) -> bool,
) -> Result<Sifted<T>, NoRoom> {
    let (start, len) = (chunk.start, chunk.len());
    let mut kept = memory::zeroed::<T>(len)?;
    let mut rest = wanted.rest.then(|| memory::zeroed::<T>(len)).transpose()?;
    let mut positions = wanted.positions.then(|| memory::zeroed::<u64>(len)).transpose()?;
    let mut count = 0;
    // Every element is written to the next index, which advances only if the element is kept.
    for (index, &element) in chunk.clone().zip(&elements[chunk]) {
        kept[count] = element;
        if let Some(rest) = &mut rest {
            rest[index - start - count] = element;
        }
        if let Some(positions) = &mut positions {
            positions[count] = index as u64;
        }
        count += usize::from(is_kept(index));
    }
    kept.truncate(count);
    rest.iter_mut().for_each(|rest| rest.truncate(len - count));
    positions.iter_mut().for_each(|positions| positions.truncate(count));
    Ok(Sifted { kept, rest, positions })
}

/// Concatenates all `pieces`.
fn joined<'a, T: Pod + Send + Sync>(
    pieces: impl Iterator<Item = &'a [T]> + Clone,
) -> Result<Vec<T>, NoRoom> {
    let mut all = memory::zeroed::<T>(pieces.clone().map(<[T]>::len).sum())?;
    let mut places = &mut all[..];
    let pairs = pieces.map(|piece| {
        let (place, others) = take(&mut places).split_at_mut(piece.len());
        places = others;
        (place, piece)
    });
    parallel::for_each(pairs, &|_, (place, piece)| place.copy_from_slice(piece));
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::primitives::select::{FirstOfRun, Within};
    use std::fmt::Debug;

    /// Compares a selection from bytes that are read in chunks with one from all bytes at once.
    fn agrees<S: Selectable<Element = u32> + Debug>(by: S, bytes: &[u8]) {
        let wide: Vec<u32> = bytes.iter().map(|&x| x.into()).collect();
        let read = |some: Range<usize>, into: &mut [u32]| {
            assert_eq!(some.len(), into.len(), "a place for each");
            into.iter_mut().zip(&bytes[some]).for_each(|(into, &x)| *into = x.into());
        };
        for rest in [false, true] {
            let wanted = Wanted { rest, positions: true };
            for last in [None, Some(0), Some(3)] {
                let found = sift_by(by, last, bytes.len(), &read, wanted).expect("there is room");
                let expected = sift(by, last, &wide, wanted).expect("there is room");
                let same = (found.kept, found.rest, found.positions)
                    == (expected.kept, expected.rest, expected.positions);
                assert!(same, "{by:?} of {} elements after {last:?}", bytes.len());
            }
        }
    }

    #[test]
    fn results_that_do_not_fit_are_refused_with_their_bytes() {
        let len = 1 << 58;
        let sift = |_: Range<usize>| -> Result<Sifted<u32>, NoRoom> { unreachable!("no room") };
        for (rest, positions, each) in [(false, false, 4), (true, false, 8), (false, true, 12)] {
            let refused = sift_chunks(len, Wanted { rest, positions }, &sift);
            let bytes = len as u64 * each + LEFT as u64;
            assert_eq!(refused.err().map(|error| error.bytes), Some(bytes), "{each}");
        }
    }

    #[test]
    fn chunked_reads_select_the_same_elements() {
        for len in [0, 1, 31, 32, 33, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK + 5] {
            let drawn = |i: usize| (i as u32 + 1).wrapping_mul(0x9E37_79B1) >> 30;
            let bytes: Vec<u8> = (0..len).map(|i| drawn(i) as u8).collect();
            agrees(Within::greater_than(1u32), &bytes);
            agrees(FirstOfRun::<u32>::new(), &bytes);
            agrees(FirstOfRun::<u32>::new(), &vec![3; len]);
        }
    }
}
