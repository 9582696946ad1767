//! Merges of sorted runs, and the elements that a merge would put at some ranks.

use super::PartError;
use super::sort::PartSorter;
use crate::memory;
use crate::primitives::sort::{Key, Order};
use crate::reference::number_of;
use std::ops::Range;

/// Sorted runs: the sorted parts of an array, wherever they are kept.
pub trait Runs<K> {
    /// Why a run could not be read, or was not sorted.
    type Error: From<PartError>;

    /// The number of keys in each run, in the order of the parts.
    fn lens(&self) -> Vec<usize>;

    /// Copies the keys of a run from the one at `start` on.
    ///
    /// # Errors
    /// If they cannot be read.
    fn read_keys(&mut self, run: usize, start: usize, to: &mut [K]) -> Result<(), Self::Error>;

    /// Copies what was sorted with these keys. Called only if `has_indices`.
    ///
    /// # Errors
    /// If they cannot be read.
    fn read_indices(&mut self, run: usize, start: usize, to: &mut [u64])
    -> Result<(), Self::Error>;

    /// Whether an index was sorted with each key.
    fn has_indices(&self) -> bool;
}

/// Runs in memory.
#[derive(Clone, Debug)]
pub struct Held<K> {
    runs: Vec<(Vec<K>, Vec<u64>)>,
}

impl<K> Default for Held<K> {
    fn default() -> Self {
        Self { runs: Vec::new() }
    }
}

impl<K> Held<K> {
    /// Appends a run: sorted keys, and their indices or none.
    ///
    /// # Panics
    /// If only some keys have an index.
    pub fn push(&mut self, keys: Vec<K>, indices: Vec<u64>) {
        assert!(indices.is_empty() || indices.len() == keys.len(), "an index for each key or none");
        self.runs.push((keys, indices));
    }
}

impl<K: Copy> Runs<K> for Held<K> {
    type Error = PartError;

    fn lens(&self) -> Vec<usize> {
        self.runs.iter().map(|(keys, _)| keys.len()).collect()
    }

    fn read_keys(&mut self, run: usize, start: usize, to: &mut [K]) -> Result<(), PartError> {
        to.copy_from_slice(&self.runs[run].0[start..start + to.len()]);
        Ok(())
    }

    fn read_indices(&mut self, run: usize, start: usize, to: &mut [u64]) -> Result<(), PartError> {
        to.copy_from_slice(&self.runs[run].1[start..start + to.len()]);
        Ok(())
    }

    fn has_indices(&self) -> bool {
        self.runs.iter().any(|(_, indices)| !indices.is_empty())
    }
}

/// Merges sorted runs, with about as many elements in memory as a part has.
///
/// Holds a window of each run. No key that is still to be read comes before the last one of its
/// run's window, so all keys up to the first of these last ones come next. They are sorted in the order
/// of the runs, which keeps equal keys in the order of the array, because the sort is stable.
pub struct Merge<K> {
    windows: Vec<Window<K>>,
    /// Elements of a window.
    each: usize,
    keys: Vec<K>,
    indices: Vec<u64>,
}

/// Keys in order, and their indices if the runs have any.
pub type Merged<'a, K> = (&'a [K], &'a [u64]);

/// Some elements of a run.
struct Window<K> {
    keys: Vec<K>,
    indices: Vec<u64>,
    /// Elements of the run after those.
    unread: Range<usize>,
}

impl<K: Key> Merge<K> {
    /// A merge of runs of these lengths, about `part` elements at a time.
    #[must_use]
    pub fn new(lens: &[usize], part: usize) -> Self {
        let window = |&len| Window { keys: Vec::new(), indices: Vec::new(), unread: 0..len };
        Self {
            windows: lens.iter().map(window).collect(),
            each: (part / lens.len().max(1)).max(1),
            keys: Vec::new(),
            indices: Vec::new(),
        }
    }

    /// The next elements of the whole array in the order of `sorter`, or `None` after the last ones.
    ///
    /// # Errors
    /// As for [`PartSorter::sort`], if a run cannot be read, and [`PartError::Memory`] for the
    /// windows.
    pub fn next<R: Runs<K>>(
        &mut self,
        sorter: &mut PartSorter<K>,
        runs: &mut R,
    ) -> Result<Option<Merged<'_, K>>, R::Error> {
        for (run, window) in self.windows.iter_mut().enumerate() {
            window.fill(run, self.each, runs)?;
        }
        let number = |key: &K| number_of(sorter.order(), *key);
        let lasts = self.windows.iter().enumerate().filter(|(_, window)| !window.unread.is_empty());
        let bound =
            lasts.filter_map(|(run, window)| Some((number(window.keys.last()?), run))).min();
        self.keys.clear();
        self.indices.clear();
        let mut parts = 0;
        for (run, window) in self.windows.iter_mut().enumerate() {
            // Equal keys of later runs come after those of the run that continues.
            let is_next = |key: &K| bound.is_none_or(|bound| (number(key), run) <= bound);
            let count = window.keys.partition_point(is_next);
            parts += usize::from(count > 0);
            memory::reserve(&mut self.keys, count).map_err(PartError::from)?;
            self.keys.extend(window.keys.drain(..count));
            let count = count.min(window.indices.len());
            memory::reserve(&mut self.indices, count).map_err(PartError::from)?;
            self.indices.extend(window.indices.drain(..count));
        }
        if self.keys.is_empty() {
            return Ok(None);
        }
        if parts > 1 && runs.has_indices() {
            sorter.sort_pairs(&mut self.keys, &mut self.indices)?;
        } else if parts > 1 {
            sorter.sort(&mut self.keys)?;
        }
        Ok(Some((&self.keys, &self.indices)))
    }
}

impl<K: Key> Window<K> {
    /// Reads more elements, up to `each` in all.
    fn fill<R: Runs<K>>(&mut self, run: usize, each: usize, runs: &mut R) -> Result<(), R::Error> {
        let (held, start) = (self.keys.len(), self.unread.start);
        let more = self.unread.len().min(each.saturating_sub(held));
        if more == 0 {
            return Ok(());
        }
        memory::reserve(&mut self.keys, more).map_err(PartError::from)?;
        self.keys.resize(held + more, K::zeroed());
        runs.read_keys(run, start, &mut self.keys[held..])?;
        if runs.has_indices() {
            memory::reserve(&mut self.indices, more).map_err(PartError::from)?;
            self.indices.resize(held + more, 0);
            runs.read_indices(run, start, &mut self.indices[held..])?;
        }
        self.unread.start += more;
        Ok(())
    }
}

/// The element of rank `rank`, from 0, of the whole array in the order in which the runs are sorted.
/// `None` if there are not so many elements. Reads a few keys for each bit of a key and each run.
///
/// # Errors
/// If a run cannot be read.
pub fn kth_of_runs<K: Key, R: Runs<K>>(
    order: Order,
    runs: &mut R,
    rank: usize,
) -> Result<Option<K>, R::Error> {
    let lens = runs.lens();
    if rank >= lens.iter().sum() {
        return Ok(None);
    }
    // The keys with numbers below `low` are at most `rank`; of each run these are before `starts`.
    // The keys with numbers up to `high` are more than that, and before `ends`.
    let (mut starts, mut ends) = (vec![0; lens.len()], lens);
    let (mut low, mut high) = (0, u64::MAX);
    while low < high {
        let middle = low + (high - low) / 2;
        let mut bounds = Vec::with_capacity(starts.len());
        for run in 0..starts.len() {
            bounds.push(bound(order, runs, run, starts[run]..ends[run], middle)?);
        }
        if bounds.iter().sum::<usize>() > rank {
            (high, ends) = (middle, bounds);
        } else {
            (low, starts) = (middle + 1, bounds);
        }
    }
    // Equal keys are in the order of the runs.
    let mut before: usize = starts.iter().sum();
    for run in 0..starts.len() {
        let equal = ends[run] - starts[run];
        if rank < before + equal {
            return key_of(runs, run, starts[run] + (rank - before)).map(Some);
        }
        before += equal;
    }
    unreachable!("the keys of this number include the one of this rank")
}

/// The first place in a run whose key has a number above `number`, or the end of `places`.
fn bound<K: Key, R: Runs<K>>(
    order: Order,
    runs: &mut R,
    run: usize,
    places: Range<usize>,
    number: u64,
) -> Result<usize, R::Error> {
    let Range { mut start, mut end } = places;
    while start < end {
        let middle = start + (end - start) / 2;
        if number_of(order, key_of(runs, run, middle)?) <= number {
            start = middle + 1;
        } else {
            end = middle;
        }
    }
    Ok(start)
}

/// The key at this place of a run.
fn key_of<K: Key, R: Runs<K>>(runs: &mut R, run: usize, at: usize) -> Result<K, R::Error> {
    let mut key = [K::zeroed()];
    runs.read_keys(run, at, &mut key)?;
    Ok(key[0])
}

#[cfg(test)]
mod tests;
