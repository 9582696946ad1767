//! Softmax of rows.

use crate::device::{on_device, runs_kernels};
use crate::dlpack::Array;
use crate::element::with_type;
use crate::threads::on_all_cores;
use gridsync::primitives::RowSoftmax;
use gridsync::reference::softmax_rows;
use pyo3::prelude::*;

/// The softmax of each row of `x`.
#[pyfunction]
pub(crate) fn softmax(
    py: Python<'_>,
    x: Array<'_>,
    mut out: Array<'_>,
    stream: usize,
) -> PyResult<()> {
    let (rows, columns) = x.rows();
    with_type!(floats, "softmax", x.dtype, T => {
        if runs_kernels(&x) {
            return on_device::<T, T, T>(py, (&x, stream), &mut out, |plans, x, out| {
                let make = |device: &_| RowSoftmax::<T>::new(device, rows, columns);
                plans.plan([rows, columns], make)?.launch(x, out)
            });
        }
        let (input, output) = (x.elements::<T>()?, out.elements_mut::<T>()?);
        on_all_cores(py, || softmax_rows(input, columns, output))
    })
}
