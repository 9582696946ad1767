//! `gridsync scan --rows` and `--axis`: scans each row of an array, or each line along another dimension, by
//! itself.

use super::Scan;
use crate::cli::catalogue::Lines;
use crate::cli::exit::Usage;
use crate::cli::job::{About, Done, Job, Verdict, unless_wrong};
use crate::cli::number::Number;
use crate::cli::sink::Sink;
use crate::data::{self, Along, Incoming};
use bytemuck::Pod;
use gridsync::device::Device;
use gridsync::primitives::scan::Form;
use gridsync::primitives::{ScanCheck, ScanChecked, Scanner};
use gridsync::{memory, reference};
use gridsync_entries::scan::Scannable;
use gridsync_kernels::op::{InSegments, Max, Min, Segments, Sum};
use std::time::Instant;

/// Scans rows by an operation.
type Run = fn(&Scan, &Job<'_>, Incoming, Along) -> anyhow::Result<Done>;

/// All operations that scan rows.
fn lines() -> Lines<Run> {
    let mut lines: Lines<Run> = Lines::new();
    macro_rules! line {
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
        let about = About::of(&input);
        let array = along.gather(input.all()?)?;
        let (input, form) = (array.as_slice::<O::Element>()?, self.form());
        // Rows have at least one column here. An array without elements has no rows to scan anyway.
        let columns = along.len().max(1);
        let op = InSegments::<O>::new(Segments::rows(columns as u64));
        let mut results = memory::zeroed::<O::Output>(input.len())?;
        let us = match job.place().device(&format!("scan {}", self.axis.flag()))? {
            None => on_cpu(op, input, &mut results, form)?,
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
        let dtype = <O::Output as data::Scalar>::DTYPE;
        Ok(Done {
            us,
            bytes: array.bytes().len() + size_of_val(&results[..]),
            arrays: unless_wrong(&check, || {
                let results = along.scatter(results)?;
                Sink::of_shape(&self.output, dtype, array.shape())?.with(&results)
            })?,
            check,
            ..self.done(job, about)?
        })
    }
}

/// Scans on all cores of the CPU. Also returns the µs that this took.
fn on_cpu<O: Scannable>(
    op: O,
    input: &[O::Element],
    results: &mut [O::Output],
    form: Form,
) -> Result<f64, memory::NoRoom> {
    let mut scan = reference::Scan::new(op, input.len(), form)?;
    let start = Instant::now();
    scan.next(input, results);
    Ok(start.elapsed().as_secs_f64() * 1e6)
}

/// Scans on a device. Also returns the µs that the kernel took.
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
