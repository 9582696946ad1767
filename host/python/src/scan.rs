//! Scans.

use crate::device::{expect_rows, on_device, runs_kernels};
use crate::dlpack::Array;
use crate::element::{Element, unsupported, with_type};
use crate::lend::{input, output};
use crate::no_room;
use crate::reduce::Reduced;
use crate::threads::on_all_cores;
use gridsync::op::{InSegments, Max, Min, Operation, Product, Segments, Sum};
use gridsync::primitives::scan::{Form, Scannable, Scanner};
use gridsync::reference::{RowScan, Scan, scan_columns};
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
    stream: usize,
) -> PyResult<()> {
    let (x, out) = (&x, &mut out);
    if x.len() == 0 {
        return Ok(());
    }
    let matrices = x.matrices(axis)?;
    if runs_kernels(x) {
        expect_rows(matrices.2)?;
        let from = (x, stream);
        return match op {
            "sum" => with_type!(full, "cumulative_sum on a GPU", x.dtype, T => {
                launch::<Sum<T, <T as Reduced>::Total>>(py, from, out)
            }),
            "max" => with_type!(full, "cumulative_max on a GPU", x.dtype, T => {
                launch::<Max<T>>(py, from, out)
            }),
            "min" => with_type!(full, "cumulative_min on a GPU", x.dtype, T => {
                launch::<Min<T>>(py, from, out)
            }),
            other => Err(unsupported(&format!("cumulative_{other} on a GPU"), x.dtype)),
        };
    }
    match op {
        "sum" => with_type!(wide, op, x.dtype, T => {
            on_cpu::<Sum<T, <T as Reduced>::Total>>(py, x, matrices, out)
        }),
        "prod" => with_type!(wide, op, x.dtype, T => {
            on_cpu::<Product<T, <T as Reduced>::Total>>(py, x, matrices, out)
        }),
        "max" => with_type!(wide, op, x.dtype, T => {
            on_cpu::<Max<T, <T as Reduced>::Wide>>(py, x, matrices, out)
        }),
        "min" => with_type!(wide, op, x.dtype, T => {
            on_cpu::<Min<T, <T as Reduced>::Wide>>(py, x, matrices, out)
        }),
        other => Err(PyValueError::new_err(format!("{other} is not a scan"))),
    }
}

/// One row is an array, and several are segments of one.
fn on_cpu<O>(
    py: Python<'_>,
    x: &Array<'_>,
    (rows, len, columns): (usize, usize, usize),
    out: &mut Array<'_>,
) -> PyResult<()>
where
    O: ScanOperation<Element: Element, Output: Element> + Default,
{
    let (from, form) = (x.elements::<O::Element>()?, Form::Inclusive);
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

fn launch<O>(py: Python<'_>, (x, stream): (&Array<'_>, usize), out: &mut Array<'_>) -> PyResult<()>
where
    O: Scannable<Element: Element, Output: Element> + Default,
    InSegments<O>: Scannable<Element: bytemuck::Pod, Output: bytemuck::Pod>
        + Operation<Element = O::Element, Output = O::Output>,
{
    let (rows, columns) = x.rows();
    let key = (x.gpu, stream);
    let arrays = (input::<O::Element>(key, x)?, output::<O::Output, O::Output>(key, out)?);
    on_device(py, key, arrays, |plans, (x, out)| {
        if rows == 1 {
            let make = |device: &_| Scanner::new(O::default(), device, 0);
            return Ok(plans.plan([0; 2], make)?.launch(x, out, Form::Inclusive)?);
        }
        let segments = InSegments::<O>::new(Segments::rows(columns as u64));
        let make = |device: &_| Scanner::new(segments, device, 0);
        Ok(plans.plan([columns, 0], make)?.launch(x, out, Form::Inclusive)?)
    })
}
