//! Range sums, part by part.

use super::PartScanner;
use crate::device::{Device, DeviceError};
use crate::primitives::RangeSummable;
use crate::primitives::range_sum::{BadRange, RangeSumError};
use crate::primitives::scan::Form;
use crate::reference;
use bytemuck::{Pod, Zeroable};
use gridsync_kernels::grid::range_sum::range_sum;

/// The sums of ranges of an array that comes part by part and is scanned by a [`PartScanner`]; of its
/// results the host keeps those at the ends of ranges. The differences are taken on the CPU. The bits are
/// those of [`RangeSums`](crate::primitives::RangeSums).
pub struct PartRangeSums<'a, O: RangeSummable> {
    scanner: PartScanner<O>,
    queries: &'a [[u64; 2]],
    /// The results of a part.
    results: Vec<O::Output>,
    /// Elements of the parts before.
    behind: usize,
    /// The places that ranges end at, or before which they begin, in order; and the results there, as far
    /// as the array has come.
    ends: Vec<usize>,
    prefixes: Vec<O::Output>,
}

impl<'a, O: RangeSummable<Element: Pod, Output: Pod>> PartRangeSums<'a, O> {
    /// The ranges `queries`, each `[from, to]` for the elements from..to, of `len` elements, about `part` of
    /// them on `device` at a time.
    ///
    /// # Errors
    /// [`RangeSumError::BadRange`] for the first query that is no range of the array, and those of the
    /// device.
    pub fn new(
        op: O,
        device: &Device,
        len: usize,
        queries: &'a [[u64; 2]],
        part: usize,
    ) -> Result<Self, RangeSumError> {
        if let Some(query) = reference::first_bad(queries, len) {
            return Err(BadRange::new(query, queries[query], len).into());
        }
        let scanner = PartScanner::new(op, device, len, Form::Inclusive, part)?;
        let ends = queries.as_flattened().iter();
        let mut ends: Vec<usize> = ends.filter(|&&end| end > 0).map(before).collect();
        ends.sort_unstable();
        ends.dedup();
        Ok(Self {
            results: vec![O::Output::zeroed(); scanner.part()],
            scanner,
            queries,
            behind: 0,
            prefixes: Vec::with_capacity(ends.len()),
            ends,
        })
    }

    /// Elements of every part but the last one, which has the rest.
    pub fn part(&self) -> usize {
        self.scanner.part()
    }

    /// Takes the next part.
    ///
    /// # Errors
    /// Those of the device.
    ///
    /// # Panics
    /// If it is longer than a [`part`](Self::part).
    pub fn next(&mut self, elements: &[O::Element]) -> Result<(), DeviceError> {
        let results = &mut self.results[..elements.len()];
        self.scanner.next(elements, results)?;
        let here = self.ends[self.prefixes.len()..]
            .iter()
            .map(|end| end - self.behind)
            .take_while(|&end| end < elements.len());
        self.prefixes.extend(here.map(|end| results[end]));
        self.behind += elements.len();
        Ok(())
    }

    /// The sums, when all parts have been taken.
    ///
    /// # Panics
    /// If more are to come.
    #[must_use]
    pub fn sums(&self) -> Vec<O::Output> {
        let prefix = |end| {
            let place = self.ends.binary_search(&end);
            self.prefixes[place.expect("every end of a query is among them")]
        };
        let sums = self.queries.iter();
        sums.map(|&[from, to]| range_sum(from, to, prefix))
            .collect()
    }
}

/// The place before an end, which is not 0.
fn before(end: &u64) -> usize {
    // A place of an array that the host has, or has a file of.
    *end as usize - 1
}

/// The sums of the ranges `queries`, each `[from, to]` for the elements from..to, of `input`, which goes
/// through the memory of `device` as [`PartRangeSums`] say. Calls `done` with the elements that have been
/// scanned.
///
/// # Errors
/// As for [`PartRangeSums`].
pub fn range_sums_in_parts<O>(
    op: O,
    device: &Device,
    input: &[O::Element],
    queries: &[[u64; 2]],
    part: usize,
    mut done: impl FnMut(usize),
) -> Result<Vec<O::Output>, RangeSumError>
where
    O: RangeSummable<Element: Pod, Output: Pod>,
{
    let mut sums = PartRangeSums::new(op, device, input.len(), queries, part)?;
    let part = sums.part().max(1);
    let mut behind = 0;
    for chunk in input.chunks(part) {
        sums.next(chunk)?;
        behind += chunk.len();
        done(behind);
    }
    Ok(sums.sums())
}
