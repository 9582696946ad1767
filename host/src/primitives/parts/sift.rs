//! A selection from a part of an array on the CPU. Each core judges a chunk at a time and writes without a
//! branch, so random data costs no more than sorted. What the chunks gave is then put together.

use crate::memory::{self, NoRoom};
use crate::parallel;
use crate::primitives::{Sifted, Wanted};
use bytemuck::Pod;
use gridsync_entries::select::Selectable;
use std::mem::take;
use std::ops::Range;

/// Elements that a core judges at a time: they and what is kept of them stay in its cache.
const CHUNK: usize = 1 << 14;

/// What `by` selects from `elements`; `last` is the element before them, if there is one. Positions
/// count from the start of the part.
///
/// # Errors
/// [`NoRoom`] for what is selected.
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
    let found = parallel::map_chunks(elements.len(), CHUNK, &|chunk| {
        let is_kept = |index| match index {
            0 => first_is_kept,
            index => by.is_kept(elements, index),
        };
        sift_chunk(elements, chunk, wanted, is_kept)
    });
    let found = found.into_iter().collect::<Result<Vec<_>, NoRoom>>()?;
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

/// What is selected from a chunk of `elements`.
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
    // Every element is written to the next place; the place is taken only if the element is kept.
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

/// All `pieces`, one after another.
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
