//! Range sums, part by part.

use super::{PartError, PartScanner};
use crate::device::Devices;
use crate::memory::{self, NoRoom};
use crate::parallel;
use crate::primitives::RangeSummable;
use crate::primitives::range_sum::{BadRange, RangeSumError, settle_empty};
use crate::primitives::scan::Form;
use crate::reference;
use bytemuck::Pod;
use gridsync_kernels::grid::range_sum::range_sum;

/// The sums of ranges of an array that is passed part by part. A [`PartScanner`] scans it, on a
/// device or on the CPU. The host keeps only the results at the ends of ranges, and computes their
/// differences. The bits are the same as with [`RangeSums`](crate::primitives::RangeSums).
pub struct PartRangeSums<'a, O: RangeSummable> {
    scanner: PartScanner<O>,
    queries: &'a [[u64; 2]],
    /// The results of a part.
    results: Vec<O::Output>,
    /// Elements in the previous parts.
    taken: usize,
    /// The indices at which queries need results, in order, each with its index in `prefixes`.
    places: Vec<(usize, usize)>,
    /// How many of them were in the previous parts.
    passed: usize,
    /// Two results per query: before its first element, and at its last one.
    prefixes: Vec<O::Output>,
}

impl<'a, O: RangeSummable<Element: Pod, Output: Pod>> PartRangeSums<'a, O> {
    /// Plans for the ranges `queries`, each `[from, to]` for the elements from..to, of an array of
    /// `len` elements, with about `part` of them on `devices` at a time.
    ///
    /// # Errors
    /// [`RangeSumError::BadRange`] for the first query that is not a range of the array,
    /// [`RangeSumError::Memory`], and if a device fails.
    pub fn new(
        op: O,
        devices: impl Into<Devices>,
        len: usize,
        queries: &'a [[u64; 2]],
        part: usize,
    ) -> Result<Self, RangeSumError> {
        expect_ranges(queries, len)?;
        let scanner = PartScanner::new(op, devices, len, Form::Inclusive, part)?;
        Self::of(scanner, queries)
    }

    /// The same plan on all cores of the CPU.
    ///
    /// # Errors
    /// As for [`new`](Self::new), except errors of a device.
    pub fn on_cpu(
        op: O,
        len: usize,
        queries: &'a [[u64; 2]],
        part: usize,
    ) -> Result<Self, RangeSumError> {
        expect_ranges(queries, len)?;
        Self::of(PartScanner::on_cpu(op, len, Form::Inclusive, part)?, queries)
    }

    fn of(scanner: PartScanner<O>, queries: &'a [[u64; 2]]) -> Result<Self, RangeSumError> {
        let ends = queries.as_flattened();
        let mut places = Vec::new();
        memory::reserve(&mut places, ends.len())?;
        // The host holds the array or a file of it, so its indices fit in a usize.
        let before = |(number, &end): (usize, &u64)| Some(((end as usize).checked_sub(1)?, number));
        places.extend(ends.iter().enumerate().filter_map(before));
        parallel::sort(&mut places);
        Ok(Self {
            prefixes: memory::zeroed(ends.len())?,
            results: memory::zeroed(scanner.part())?,
            scanner,
            queries,
            taken: 0,
            places,
            passed: 0,
        })
    }

    /// Length of every part except the last one, which has the rest.
    #[must_use]
    pub fn part(&self) -> usize {
        self.scanner.part()
    }

    /// µs that the kernels or the CPU have used so far.
    #[must_use]
    pub fn us(&self) -> f64 {
        self.scanner.us()
    }

    /// Adds the next part.
    ///
    /// # Errors
    /// If the device fails.
    ///
    /// # Panics
    /// If it is longer than a [`part`](Self::part).
    pub fn next(&mut self, elements: &[O::Element]) -> Result<(), PartError> {
        let results = &mut self.results[..elements.len()];
        self.scanner.next(elements, results)?;
        let end = self.taken + elements.len();
        let places = self.places[self.passed..].iter();
        for &(place, number) in places.take_while(|(place, _)| *place < end) {
            self.prefixes[number] = results[place - self.taken];
            self.passed += 1;
        }
        self.taken = end;
        Ok(())
    }

    /// The sums. All parts must have been added.
    ///
    /// # Errors
    /// [`NoRoom`] for the sums.
    ///
    /// # Panics
    /// If parts are missing.
    pub fn sums(&self) -> Result<Vec<O::Output>, NoRoom> {
        assert_eq!(self.passed, self.places.len(), "all parts have to be taken before");
        let mut sums = Vec::new();
        memory::reserve(&mut sums, self.queries.len())?;
        let ranges = self.queries.iter().zip(self.prefixes.as_chunks().0);
        sums.extend(ranges.map(|(&[from, to], &[before, up_to])| {
            range_sum(from, to, |place| if place as u64 + 1 == to { up_to } else { before })
        }));
        settle_empty(self.queries, &mut sums);
        Ok(sums)
    }
}

/// Refuses queries that are not ranges of `len` elements.
fn expect_ranges(queries: &[[u64; 2]], len: usize) -> Result<(), BadRange> {
    let bad = reference::first_bad(queries, len);
    bad.map_or(Ok(()), |query| Err(BadRange::of(query, queries[query], len)))
}

/// The sums of the ranges `queries`, each `[from, to]` for the elements from..to, of `input`, which
/// passes through the memory of `devices` part by part, as with [`PartRangeSums`]. Calls `done`
/// with the number of elements scanned so far.
///
/// # Errors
/// As for [`PartRangeSums`].
pub fn range_sums_in_parts<O>(
    op: O,
    devices: impl Into<Devices>,
    input: &[O::Element],
    queries: &[[u64; 2]],
    part: usize,
    mut done: impl FnMut(usize),
) -> Result<Vec<O::Output>, RangeSumError>
where
    O: RangeSummable<Element: Pod, Output: Pod>,
{
    let mut sums = PartRangeSums::new(op, devices, input.len(), queries, part)?;
    let part = sums.part().max(1);
    let mut taken = 0;
    for chunk in input.chunks(part) {
        sums.next(chunk)?;
        taken += chunk.len();
        done(taken);
    }
    Ok(sums.sums()?)
}
