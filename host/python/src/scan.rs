//! Scans.

use crate::device::{Failed, Plans, Stream, expect_rows, on_device, runs_kernels};
use crate::dlpack::Array;
use crate::element::{Element, with_type};
use crate::lend::{input, output};
use crate::no_room;
use crate::reduce::Reduced;
use crate::threads::on_all_cores;
use gridsync::device::{Buffer, Device};
use gridsync::op::{InSegments, Max, Min, Operation, Product, Segments, Sum};
use gridsync::primitives::scan::{Form, RowScannable, RowScanner, Scannable, Scanner};
use gridsync::reference::{RowScan, scan_columns, scan_each_column, scan_each_row};
use gridsync_kernels::grid::scan::ScanOperation;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Scans `x` along an axis by the operation named `op`. Results have the type in which it combines elements.
#[pyfunction]
pub(crate) fn scan(
    py: Python<'_>,
    op: &str,
    x: Array<'_>,
    axis: usize,
    mut out: Array<'_>,
    stream: Stream,
) -> PyResult<()> {
    if x.len() == 0 {
        return Ok(());
    }
    let (x, out) = (From { array: &x, matrices: x.matrices(axis)?, stream }, &mut out);
    match op {
        "sum" => with_type!(full, op, x.array.dtype, T => {
            by_row::<Sum<T, <T as Reduced>::Total>>(py, x, out)
        }),
        "prod" => with_type!(full, op, x.array.dtype, T => {
            by_row::<Product<T, <T as Reduced>::Total>>(py, x, out)
        }),
        "max" => with_type!(full, op, x.array.dtype, T => in_segments::<Max<T>>(py, x, out)),
        "min" => with_type!(full, op, x.array.dtype, T => in_segments::<Min<T>>(py, x, out)),
        other => Err(PyValueError::new_err(format!("{other} is not a scan"))),
    }
}

/// Where elements come from.
#[derive(Clone, Copy)]
struct From<'a, 'py> {
    array: &'a Array<'py>,
    /// How many matrices there are, the elements of each along the axis, and its columns.
    matrices: (usize, usize, usize),
    stream: Stream,
}

/// Scans each row on the cores of the CPU, with the bits of the row alone.
fn on_cpu<O>(py: Python<'_>, x: From<'_, '_>, out: &mut Array<'_>) -> PyResult<()>
where
    O: ScanOperation<Element: Element, Output: Element> + Default,
{
    let ((rows, len, columns), form) = (x.matrices, Form::Inclusive);
    let from = x.array.elements::<O::Element>()?;
    let to = out.elements_mut::<O::Output>()?;
    let done = on_all_cores(py, || {
        if columns > 1 && O::EXACT {
            scan_columns::<O>(from, (len, columns), form, to)
        } else if columns > 1 {
            scan_each_column(O::default(), from, (len, columns), form, to)
        } else if rows > 1 && O::EXACT {
            RowScan::<O>::new(from.len(), len, form).map(|mut scan| scan.next(from, to))
        } else {
            scan_each_row(O::default(), from, len, form, to)
        }
    })?;
    done.map_err(no_room)
}

/// Scans by an operation that has kernels for rows.
fn by_row<O>(py: Python<'_>, x: From<'_, '_>, out: &mut Array<'_>) -> PyResult<()>
where
    O: Scannable<Element: Element, Output: Element> + RowScannable + Default,
{
    if !runs_kernels(x.array) {
        return on_cpu::<O>(py, x, out);
    }
    let (rows, len, _) = x.matrices;
    if rows == 1 {
        return launch(py, x, out, [0; 3], O::default());
    }
    on_arrays::<O>(py, x, out, |plans, x, out| {
        let new = |device: &Device| RowScanner::new(O::default(), device, rows, len);
        Ok(plans.plan([rows, len, 0], new)?.launch(x, out, Form::Inclusive)?)
    })
}

/// Scans by an operation whose kernels scan rows as segments. It is exact, so the bits are those of
/// each row alone.
fn in_segments<O>(py: Python<'_>, x: From<'_, '_>, out: &mut Array<'_>) -> PyResult<()>
where
    O: Scannable<Element: Element, Output: Element> + Default,
    InSegments<O>: Scannable + Operation<Element = O::Element, Output = O::Output>,
{
    const { assert!(O::EXACT, "the bits of a row depend on the row alone") };
    if !runs_kernels(x.array) {
        return on_cpu::<O>(py, x, out);
    }
    let (rows, len, _) = x.matrices;
    if rows == 1 {
        return launch(py, x, out, [0; 3], O::default());
    }
    launch(py, x, out, [len, 0, 0], InSegments::<O>::new(Segments::rows(len as u64)))
}

/// Scans by one launch, with the plan for these sizes.
fn launch<O: Scannable<Element: Element, Output: Element>>(
    py: Python<'_>,
    x: From<'_, '_>,
    out: &mut Array<'_>,
    sizes: [usize; 3],
    op: O,
) -> PyResult<()> {
    on_arrays::<O>(py, x, out, |plans, x, out| {
        let scanner = plans.plan(sizes, |device| Scanner::new(op, device, 0))?;
        Ok(scanner.launch(x, out, Form::Inclusive)?)
    })
}

/// Runs `work` on the device of the array, with buffers over the elements and the results.
fn on_arrays<O: ScanOperation<Element: Element, Output: Element>>(
    py: Python<'_>,
    x: From<'_, '_>,
    out: &mut Array<'_>,
    work: impl FnOnce(&mut Plans, &Buffer<O::Element>, &mut Buffer<O::Output>) -> Result<(), Failed>
    + Send,
) -> PyResult<()> {
    expect_rows(x.matrices.2)?;
    let key = (x.array.gpu, x.stream);
    let from = input::<O::Element, O::Element>(key, x.array)?;
    let arrays = (from, output::<O::Output, O::Output>(key, out)?);
    on_device(py, key, arrays, |plans, (x, out)| work(plans, x, out))
}
