//! Softmax of rows.

use crate::device::{Stream, on_device, runs_kernels};
use crate::dlpack::Array;
use crate::element::with_type;
use crate::lend::{input, output};
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
    stream: Stream,
) -> PyResult<()> {
    let (rows, columns) = x.rows();
    with_type!(floats, "softmax", x.dtype, T => {
        if runs_kernels(&x) {
            let key = (x.gpu, stream);
            let arrays = (input::<T, T>(key, &x)?, output::<T, T>(key, &mut out)?);
            return on_device(py, key, arrays, |plans, (x, out)| {
                let make = |device: &_| RowSoftmax::<T>::new(device, rows, columns);
                Ok(plans.plan([rows, columns, 0], make)?.launch(x, out)?)
            });
        }
        let (from, to) = (x.elements::<T>()?, out.elements_mut::<T>()?);
        on_all_cores(py, || softmax_rows(from, columns, to))
    })
}
