//! Scans.

use crate::device::{Stream, expect_rows, on_device, runs_kernels};
use crate::dlpack::Array;
use crate::element::{Element, with_type};
use crate::lend::{input, output};
use crate::no_room;
use crate::reduce::Reduced;
use crate::threads::on_all_cores;
use gridsync::op::{InSegments, Max, Min, Operation, Product, Segments, Sum};
use gridsync::primitives::scan::{Form, Scannable, Scanner};
use gridsync::reference::{RowScan, Scan, scan_columns};
use gridsync_kernels::grid::scan::ScanOperation;
use pyo3::exceptions::{PyTypeError, PyValueError};
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
            to::<Sum<T, <T as Reduced>::Total>>(py, x, out)
        }),
        "prod" => with_type!(full, op, x.array.dtype, T => {
            to_by_row::<Product<T, <T as Reduced>::Total>>(py, x, out)
        }),
        "max" => with_type!(full, op, x.array.dtype, T => to::<Max<T>>(py, x, out)),
        "min" => with_type!(full, op, x.array.dtype, T => to::<Min<T>>(py, x, out)),
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

/// One row is an array, and several are segments of one.
fn on_cpu<O>(py: Python<'_>, x: From<'_, '_>, out: &mut Array<'_>) -> PyResult<()>
where
    O: ScanOperation<Element: Element, Output: Element> + Default,
{
    let ((rows, len, columns), form) = (x.matrices, Form::Inclusive);
    let from = x.array.elements::<O::Element>()?;
    let to = out.elements_mut::<O::Output>()?;
    let done = on_all_cores(py, || {
        if columns > 1 {
            return scan_columns::<O>(from, (len, columns), form, to);
        }
        if rows > 1 {
            RowScan::<O>::new(from.len(), len, form)?.next(from, to);
        } else {
            Scan::new(O::default(), len, form)?.next(from, to);
        }
        Ok(())
    })?;
    done.map_err(no_room)
}

/// Scans on the device of the array.
fn to<O>(py: Python<'_>, x: From<'_, '_>, out: &mut Array<'_>) -> PyResult<()>
where
    O: Scannable<Element: Element, Output: Element> + Default,
    InSegments<O>: Scannable + Operation<Element = O::Element, Output = O::Output>,
{
    let (rows, len, _) = x.matrices;
    if rows == 1 || !runs_kernels(x.array) {
        return to_by_row::<O>(py, x, out);
    }
    launch(py, x, out, [len, 0, 0], InSegments::<O>::new(Segments::rows(len as u64)))
}

/// Scans on the device of the array, by an operation whose kernels scan one row.
fn to_by_row<O>(py: Python<'_>, x: From<'_, '_>, out: &mut Array<'_>) -> PyResult<()>
where
    O: Scannable<Element: Element, Output: Element> + Default,
{
    if !runs_kernels(x.array) {
        return on_cpu::<O>(py, x, out);
    }
    if x.matrices.0 > 1 {
        let message = format!(
            "{} rows on a GPU, where this function scans one: \
             pass each row by itself, or an array in host memory",
            x.matrices.0
        );
        return Err(PyTypeError::new_err(message));
    }
    launch(py, x, out, [0; 3], O::default())
}

/// Scans by one launch, with the plan for these sizes.
fn launch<O: Scannable<Element: Element, Output: Element>>(
    py: Python<'_>,
    x: From<'_, '_>,
    out: &mut Array<'_>,
    sizes: [usize; 3],
    op: O,
) -> PyResult<()> {
    expect_rows(x.matrices.2)?;
    let key = (x.array.gpu, x.stream);
    let from = input::<O::Element, O::Element>(key, x.array)?;
    let arrays = (from, output::<O::Output, O::Output>(key, out)?);
    on_device(py, key, arrays, |plans, (x, out)| {
        let scanner = plans.plan(sizes, |device| Scanner::new(op, device, 0))?;
        Ok(scanner.launch(x, out, Form::Inclusive)?)
    })
}
