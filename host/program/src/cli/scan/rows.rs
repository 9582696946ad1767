//! `gridsync scan --rows` and `--axis`: scans each row of an array, or each line along another
//! dimension. On the CPU the array is read in parts, unless lines interleave and the operation is
//! not exact.

use super::Scan;
use crate::cli::catalogue::Lines;
use crate::cli::exit::Usage;
use crate::cli::job::{About, Done, Job, Verdict, unless_wrong};
use crate::cli::sink::Sink;
use crate::data::{self, Along, Incoming};
use crate::number::Number;
use bytemuck::Pod;
use gridsync::device::Device;
use gridsync::memory;
use gridsync::primitives::scan::Form;
use gridsync::primitives::{ScanCheck, ScanChecked, Scanner};
use gridsync::reference::{self, ColumnScan, RowScan, scan_columns};
use gridsync_entries::scan::Scannable;
use gridsync_kernels::grid::scan::ScanOperation;
use gridsync_kernels::op::{InSegments, Max, Min, Operation, Segments, Sum};
use std::time::Instant;

/// Scans rows by an operation.
type Run = fn(&Scan, &Job<'_>, Incoming, Along) -> anyhow::Result<Done>;

/// The row scans of all operations.
fn lines() -> Lines<Run> {
    let mut lines: Lines<Run> = Lines::new();
    macro_rules! line {
        (segments [$blocks:literal] $row:tt) => {};
        (segments $value:tt ($name:ident: $op:literal $ty:ty $(as $twin:ty)?, $inputs:ident)) => {
            lines.add::<$ty>($op, |call, job, input, along| {
                call.scan_rows_by::<$ty>(job, input, along)
            });
        };
        ($primitive:ident $value:tt $row:tt) => {};
    }
    gridsync_entries::operations!(line);
    lines
}

impl Scan {
    /// Scans the rows of `input`.
    pub(super) fn scan_rows(&self, job: &Job<'_>, input: Incoming) -> anyhow::Result<Done> {
        let along = self.axis.along(input.shape())?;
        // No kernel scans rows of 16-bit elements.
        let input = input.in_f32()?;
        let (lines, dtype) = (lines(), input.dtype());
        match lines.find(&self.op, dtype, self.acc.map(Into::into)) {
            Some(run) => run(self, job, input, along),
            None if lines.names().contains(&self.op.as_str()) => {
                Err(self.no_such(dtype, &lines).into())
            }
            None => Err(Usage(format!(
                "{} scans by {}, not by {}",
                self.axis.flag(),
                lines.names().join(" "),
                self.op
            ))
            .into()),
        }
    }

    fn scan_rows_by<O>(&self, job: &Job<'_>, input: Incoming, along: Along) -> anyhow::Result<Done>
    where
        O: ScanChecked<Element: Pod + data::Scalar, Output: Pod + data::Scalar + Into<Number>>
            + Default,
        InSegments<O>: Scannable<Element = O::Element, Output = O::Output>,
    {
        let device = job.place().device(&format!("scan {}", self.axis.flag()))?;
        let about = About::of(&input);
        let bytes = size_of::<O::Element>() + size_of::<O::Output>();
        let part = self.parts.of(job, about.len, bytes)?;
        // With --check, all results are checked before anything is written.
        let is_on_cpu = device.is_none() && !self.check && about.len > 0;
        let scanned = if is_on_cpu && along.is_in_place() {
            self.stream_rows::<O>(job, input, along, part)?
        } else if is_on_cpu && O::EXACT {
            self.stream_columns::<O>(job, input, along, part)?
        } else if is_on_cpu {
            self.scan_columns::<O>(job, input, along)?
        } else {
            self.scan_whole::<O>(input, along, device)?
        };
        let Scanned { us, part, check, arrays } = scanned;
        let done = self.done(job, about, &check);
        Ok(Done {
            us,
            bytes: about.len * bytes,
            part: self.parts.taken(job, part, about.len),
            check,
            arrays,
            ..done
        })
    }

    /// Scans rows on the CPU, and writes each part immediately. A part need not end with a row.
    fn stream_rows<O>(
        &self,
        job: &Job<'_>,
        input: Incoming,
        along: Along,
        part: usize,
    ) -> anyhow::Result<Scanned>
    where
        O: ScanChecked<Element: Pod + data::Scalar, Output: Pod + data::Scalar> + Default,
    {
        let len = input.len();
        let tile = RowScan::<O>::tile(len);
        let part = (part / tile).max(1).saturating_mul(tile).min(len);
        let mut scan = RowScan::<O>::new(len, along.len(), self.form())?;
        self.stream::<O>(job, input, (part, len), |elements, results| scan.next(elements, results))
    }

    /// Scans along a dimension other than the last one on the CPU, and writes each part, some rows
    /// of a block, immediately.
    fn stream_columns<O>(
        &self,
        job: &Job<'_>,
        input: Incoming,
        along: Along,
        part: usize,
    ) -> anyhow::Result<Scanned>
    where
        O: ScanChecked<Element: Pod + data::Scalar, Output: Pod + data::Scalar> + Default,
    {
        let block = along.block();
        let columns = block / along.len();
        let part = (part / columns).max(1).saturating_mul(columns).min(block);
        let mut scan = ColumnScan::new(O::default(), columns, self.form())?;
        let mut taken = 0;
        self.stream::<O>(job, input, (part, block), |elements, results| {
            scan.next(elements, results);
            taken += elements.len();
            if taken == block {
                scan.restart();
                taken = 0;
            }
        })
    }

    /// Scans each part by `scan`, and writes its results immediately. No part has elements of two
    /// groups of `group`.
    fn stream<O>(
        &self,
        job: &Job<'_>,
        input: Incoming,
        (part, group): (usize, usize),
        mut scan: impl FnMut(&[O::Element], &mut [O::Output]),
    ) -> anyhow::Result<Scanned>
    where
        O: Operation<Element: Pod, Output: Pod + data::Scalar>,
    {
        let (mut array, mut us) = (self.sink::<O>(input.shape())?, 0.0);
        job.each_part_within(input, part, group, |elements| {
            array.fill(job, elements.len(), |results| {
                let start = Instant::now();
                scan(elements, results);
                us += micros(start);
                Ok(())
            })
        })?;
        Ok(Scanned { us, part, check: None, arrays: vec![array] })
    }

    /// Scans along a dimension other than the last one on the CPU, for operations that depend on
    /// the order: holds all elements and results, and transposes some columns at a time.
    fn scan_columns<O>(
        &self,
        job: &Job<'_>,
        input: Incoming,
        along: Along,
    ) -> anyhow::Result<Scanned>
    where
        O: ScanChecked<Element: Pod + data::Scalar, Output: Pod + data::Scalar> + Default,
    {
        let (form, matrix) = (self.form(), (along.len(), along.block() / along.len()));
        let (mut array, mut us) = (self.sink::<O>(input.shape())?, 0.0);
        let input = input.all()?;
        array.fill(job, input.len(), |results| {
            let start = Instant::now();
            scan_columns::<O>(input.as_slice()?, matrix, form, results)?;
            us = micros(start);
            Ok(())
        })?;
        Ok(Scanned { us, part: input.len(), check: None, arrays: vec![array] })
    }

    /// The array of results, of this shape.
    fn sink<O: Operation<Output: data::Scalar>>(&self, shape: &[u64]) -> anyhow::Result<Sink> {
        Sink::of_shape(&self.output, <O::Output as data::Scalar>::DTYPE, shape)
    }

    /// Scans all lines at once.
    fn scan_whole<O>(
        &self,
        input: Incoming,
        along: Along,
        device: Option<&Device>,
    ) -> anyhow::Result<Scanned>
    where
        O: ScanChecked<Element: Pod + data::Scalar, Output: Pod + data::Scalar + Into<Number>>
            + Default,
        InSegments<O>: Scannable<Element = O::Element, Output = O::Output>,
    {
        let array = input.all()?;
        let gathered = along.gathered(array.as_slice::<O::Element>()?)?;
        let (input, form) = (&gathered[..], self.form());
        // `along.len()` is 0 only for an array without elements, which has no rows to scan.
        let columns = along.len().max(1);
        let op = InSegments::<O>::new(Segments::rows(columns as u64));
        let mut results = memory::zeroed::<O::Output>(input.len())?;
        let us = match device {
            None => on_cpu::<O>(columns, input, &mut results, form)?,
            Some(device) => on_device(op, device, input, &mut results, form)?,
        };
        let found = self.check.then(|| {
            let depth = reference::scan_depth::<InSegments<O>>(input.len());
            let rows = input.chunks(columns).zip(results.chunks(columns));
            let checks = rows.enumerate().filter_map(|(row, (input, results))| {
                let check = O::default().check_scan(input, results, form, depth)?;
                let at = along.place(row * columns + check.at);
                Some(ScanCheck { at, ..check })
            });
            // The first one that failed, or the one with the largest error.
            checks.reduce(|worst, next| match (worst.check.ok, next.check.ok) {
                (false, _) => worst,
                (true, false) => next,
                (true, true) if next.check.abs_err > worst.check.abs_err => next,
                (true, true) => worst,
            })
        });
        let check = found.flatten().map(|found| Verdict::of_many(found, "the result at"));
        let arrays = unless_wrong(&check, || {
            self.sink::<O>(array.shape())?.with(&along.scattered(&results)?)
        })?;
        Ok(Scanned { us, part: array.len(), check, arrays })
    }
}

/// The result of scanning rows.
struct Scanned {
    /// Time of the kernels, or of the CPU, in µs.
    us: f64,
    /// Elements of a part.
    part: usize,
    check: Option<Verdict>,
    arrays: Vec<Sink>,
}

/// µs since `start`.
fn micros(start: Instant) -> f64 {
    start.elapsed().as_secs_f64() * 1e6
}

/// Scans rows of `columns` elements on all cores of the CPU. Returns the time in µs.
fn on_cpu<O: ScanOperation + Default>(
    columns: usize,
    input: &[O::Element],
    results: &mut [O::Output],
    form: Form,
) -> Result<f64, memory::NoRoom> {
    let mut scan = RowScan::<O>::new(input.len(), columns, form)?;
    let start = Instant::now();
    scan.next(input, results);
    Ok(micros(start))
}

/// Scans on a device. Also returns the time of the kernel in µs.
fn on_device<O: Scannable<Element: Pod, Output: Pod>>(
    op: O,
    device: &Device,
    input: &[O::Element],
    results: &mut [O::Output],
    form: Form,
) -> anyhow::Result<f64> {
    let input = device.upload(input)?;
    let mut output = device.alloc(input.len())?;
    let mut scanner = Scanner::new(op, device, input.len())?;
    scanner.compile(input.len())?;
    let us = device.time(|| scanner.launch(&input, &mut output, form))?;
    output.download_to(0, results)?;
    Ok(us)
}
