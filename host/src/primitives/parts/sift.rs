//! A selection from a part of an array on the CPU. It counts first, so that it allocates memory
//! once.

use crate::memory::{self, NoRoom};
use crate::parallel::{self, CHUNK};
use crate::primitives::{Sifted, Wanted};
use bytemuck::Pod;
use gridsync_entries::select::Selectable;
use std::mem::take;
use std::ops::Range;

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
    let is_kept = |index: &usize| match index {
        0 => first_is_kept,
        index => by.is_kept(elements, *index),
    };
    let chunks: Vec<Range<usize>> = (0..elements.len())
        .step_by(CHUNK)
        .map(|start| start..elements.len().min(start + CHUNK))
        .collect();
    let count = |chunk: Range<usize>| chunk.filter(is_kept).count();
    let kept = parallel::map_chunks(elements.len(), CHUNK, &count);
    let others: Vec<usize> =
        chunks.iter().zip(&kept).map(|(chunk, kept)| chunk.len() - kept).collect();

    let those_kept = |number: usize| chunks[number].clone().filter(is_kept);
    let all_others = |number: usize| chunks[number].clone().filter(|index| !is_kept(index));
    let element = |index| elements[index];
    Ok(Sifted {
        kept: gathered(&kept, |chunk| those_kept(chunk).map(element))?,
        rest: wanted
            .rest
            .then(|| gathered(&others, |chunk| all_others(chunk).map(element)))
            .transpose()?,
        positions: wanted
            .positions
            .then(|| gathered(&kept, |chunk| those_kept(chunk).map(|index| index as u64)))
            .transpose()?,
    })
}

/// The values of all chunks, one after the other; `counts` has the number of values of each chunk.
fn gathered<T: Pod + Send, I: Iterator<Item = T>>(
    counts: &[usize],
    of_chunk: impl Fn(usize) -> I + Sync,
) -> Result<Vec<T>, NoRoom> {
    let mut all = memory::zeroed::<T>(counts.iter().sum())?;
    let mut behind = &mut all[..];
    let places = counts.iter().map(|&count| {
        let (places, rest) = take(&mut behind).split_at_mut(count);
        behind = rest;
        places
    });
    parallel::for_each(places, &|number, places| {
        for (place, value) in places.iter_mut().zip(of_chunk(number)) {
            *place = value;
        }
    });
    Ok(all)
}
