//! Reduces the lines of an array that is read in parts.

use super::on_device::{OnDevice, Plan};
use crate::cli::choice::Place;
use crate::cli::computed::Check;
use crate::cli::job::{Job, Verdict};
use crate::data::{self, Along, Incoming, moved_to_the_end};
use bytemuck::Pod;
use gridsync::memory;
use gridsync::primitives::reduce_rows::reduce_rows_on_cpu;
use gridsync::primitives::{Checked, PartReducer, PartReducible};
use gridsync::reference::{self, ColumnReduction, reduce_columns};
use gridsync_lab::display::rounded;
use std::time::Instant;

/// The results so far, in the order of the lines.
pub(super) struct Reduced<O: PartReducible> {
    op: O,
    plan: Plan<O>,
    along: Along,
    pub(super) results: Vec<O::Output>,
    /// Time of the kernels, or of the CPU, in µs.
    pub(super) us: f64,
    pub(super) checks: Option<LineChecks>,
    /// The plan of the device, and its number of lines.
    planned: Option<(usize, OnDevice<O>)>,
}

/// The outcome of checking lines.
#[derive(Clone, Copy, Default)]
pub(in crate::cli) struct LineChecks {
    wrong: usize,
    first_wrong: usize,
    /// The largest error of a line.
    abs_err: f64,
}

impl<O> Reduced<O>
where
    O: PartReducible + Checked,
    O::Element: Pod + data::Scalar,
    O::Output: Send,
{
    pub(super) fn new(
        op: O,
        plan: Plan<O>,
        along: Along,
        is_checked: bool,
    ) -> Result<Self, memory::NoRoom> {
        let mut results = Vec::new();
        memory::reserve(&mut results, along.lines())?;
        let checks = is_checked.then(LineChecks::default);
        Ok(Self { op, plan, along, results, us: 0.0, checks, planned: None })
    }

    /// Reduces all lines of `input`, about `part` elements at a time. Returns the elements of a part.
    pub(super) fn take(
        &mut self,
        job: &Job<'_>,
        input: Incoming,
        part: usize,
    ) -> anyhow::Result<usize> {
        let (along, len) = (self.along, input.len());
        // Lines that do not interleave are read separately.
        let block = if along.is_in_place() { along.len() } else { along.block() };
        let is_on_cpu = matches!(job.place(), Place::Cpu);
        if along.is_empty() {
            self.results.resize(along.lines(), reference::reduce(self.op, &[]));
            job.each_part(input, 1, |_: &[O::Element]| Ok(()))?;
            return Ok(len);
        }
        if block > part && along.is_in_place() {
            return self.take_long(job, input, part);
        }
        // If a mean overflows, it is recomputed from all elements of its line.
        let needs_line = self.checks.is_some() || O::OVERFLOW.is_some();
        if block > part && is_on_cpu && !needs_line {
            return self.take_tall(job, input, part);
        }
        let part = (part / block.max(1)).max(1).saturating_mul(block).min(len);
        job.each_part(input, part, |elements| self.whole(job, elements))?;
        Ok(part)
    }

    /// Reduces the lines along several dimensions, which are moved to the end: the array is in memory
    /// twice.
    pub(super) fn take_moved(
        &mut self,
        job: &Job<'_>,
        input: Incoming,
        axes: &[usize],
        part: usize,
    ) -> anyhow::Result<usize> {
        let shape = input.shape().to_vec();
        let array = input.all()?;
        let moved = moved_to_the_end(array.as_slice::<O::Element>()?, &shape, axes)?;
        let columns = self.along.len();
        let part = (part / columns).max(1).saturating_mul(columns).min(moved.len());
        for (number, elements) in moved.chunks(part).enumerate() {
            self.whole(job, elements)?;
            job.step((number * part + elements.len()).min(moved.len()), moved.len());
        }
        Ok(part)
    }

    /// Reduces all lines of some elements.
    fn whole(&mut self, job: &Job<'_>, elements: &[O::Element]) -> anyhow::Result<()> {
        let (op, along, columns) = (self.op, self.along, self.along.len());
        let start = Instant::now();
        let device = job.place().device("a reduction of rows")?;
        let mut results = match device {
            None if along.is_in_place() => {
                reduce_rows_on_cpu(op, elements, elements.len() / columns, columns)
            }
            None => reduce_columns(op, elements, columns, along.block() / columns),
            Some(device) => {
                let gathered = along.gathered(elements)?;
                let rows = gathered.len() / columns;
                let planned = match self.planned.take() {
                    Some(planned) if planned.0 == rows => planned,
                    _ => (rows, (self.plan)(op, device, rows, columns)?),
                };
                let (_, reduce) = self.planned.insert(planned);
                let (results, us) = reduce(&gathered)?;
                self.us += us;
                results
            }
        };
        if device.is_none() {
            self.us += start.elapsed().as_secs_f64() * 1e6;
        }
        if let Some(overflow) = &O::OVERFLOW
            && results.iter().any(|&result| !overflow.is_finite(result))
        {
            let gathered = along.gathered(elements)?;
            for (line, result) in gathered.chunks(columns).zip(&mut results) {
                *result = overflow.again(op, line, *result);
            }
        }
        if let Some(checks) = &mut self.checks {
            let depth = reference::reduce_depth::<O>(columns);
            let gathered = along.gathered(elements)?;
            for (at, (line, &result)) in gathered.chunks(columns).zip(&results).enumerate() {
                checks.take(self.results.len() + at, op.check(line, result, depth));
            }
        }
        self.results.extend(results);
        Ok(())
    }

    /// Reduces rows that are longer than a part.
    fn take_long(&mut self, job: &Job<'_>, input: Incoming, part: usize) -> anyhow::Result<usize> {
        let (op, columns) = (self.op, self.along.len());
        let begin = || match job.place() {
            Place::Cpu => Ok(PartReducer::on_cpu(op, columns, part)),
            Place::Devices(devices) => PartReducer::new(op, devices, columns, part),
        };
        let mut reducer = begin()?;
        let part = reducer.part();
        let mut checking = self.checks.map(|_| op.checking(columns));
        let mut taken = 0;
        job.each_part_within(input, part, columns, |elements| {
            reducer.next(elements)?;
            if let Some(checking) = &mut checking {
                checking.next(elements);
            }
            taken += elements.len();
            if taken == columns {
                let ended = std::mem::replace(&mut reducer, begin()?);
                self.us += ended.us();
                let result = ended.finish();
                if let (Some(checks), Some(ended)) = (&mut self.checks, checking.take()) {
                    let depth = reference::reduce_depth::<O>(columns);
                    checks.take(self.results.len(), ended.check(result, depth));
                    checking = Some(op.checking(columns));
                }
                self.results.push(result);
                taken = 0;
            }
            Ok(())
        })?;
        Ok(part)
    }

    /// Reduces the columns of matrices that are larger than a part, on the CPU, some rows at a time.
    fn take_tall(&mut self, job: &Job<'_>, input: Incoming, part: usize) -> anyhow::Result<usize> {
        let (op, len, block) = (self.op, self.along.len(), self.along.block());
        let columns = block / len;
        let begin = || ColumnReduction::new(op, len, columns);
        let mut reduction = begin();
        let unit = reduction.unit() * columns;
        let part = (part / unit).max(1).saturating_mul(unit).min(block);
        let mut taken = 0;
        job.each_part_within(input, part, block, |elements| {
            let start = Instant::now();
            reduction.next(elements);
            taken += elements.len();
            if taken == block {
                self.results.extend(std::mem::replace(&mut reduction, begin()).finish());
                taken = 0;
            }
            self.us += start.elapsed().as_secs_f64() * 1e6;
            Ok(())
        })?;
        Ok(part)
    }
}

impl LineChecks {
    /// Adds the check of line `line`.
    pub(in crate::cli) fn take<A>(&mut self, line: usize, check: gridsync::primitives::Check<A>) {
        self.abs_err = self.abs_err.max(check.abs_err);
        if !check.ok {
            if self.wrong == 0 {
                self.first_wrong = line;
            }
            self.wrong += 1;
        }
    }

    /// The verdict on `count` lines, which are called `lines`: rows or segments.
    pub(in crate::cli) fn verdict(self, lines: &str, count: usize) -> Verdict {
        let Self { wrong, first_wrong, abs_err } = self;
        Verdict {
            json: Check::Rows { wrong_rows: wrong, abs_err: abs_err.into(), ok: wrong == 0 },
            line: match wrong {
                0 => format!("all {lines} right, off by {} at most", rounded(abs_err)),
                wrong => format!("{wrong} {lines} WRONG, off by {} at most", rounded(abs_err)),
            },
            wrong: (wrong > 0).then(|| {
                format!(
                    "{wrong} of {count} {lines} are wrong, the first of them number {first_wrong}"
                )
            }),
        }
    }
}
